"""Numbers with their errors: estimates of samples, of groups of rows, of extremes.

There are two kinds of error: `se`, the standard error of a random sample, and `bound`, a bound on
the error of a computation. Independent standard errors add in squares, and bounds add up. The two
sides of an operation count as independent.

`mean`, `fraction`, `median`, ... estimate one sample. `means`, `fractions`, `ratios`, ... turn a
tidy frame into a tidy frame with one row per group; `rows` and `row` read its rows as estimates.
"""

from privregret.core import public as _public
from privregret.estimates.extremes import largest, largest_step, logs, smallest, spread
from privregret.estimates.frames import columns, row, rows
from privregret.estimates.groups import (
    bands,
    fractions,
    means,
    quantile_limits,
    quantiles,
    ratios,
    slopes,
    survival_curves,
)
from privregret.estimates.number import (
    LEVEL,
    ROUNDING,
    STANDARD_ERRORS,
    Estimate,
    exactly,
    real,
    rounded,
)
from privregret.estimates.sample import fraction, mean, mean_with_controls, median, quantile, slope

__all__ = _public(globals())
