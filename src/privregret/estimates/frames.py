"""Read the rows of a frame as estimates, and write estimates as columns."""

import re
from collections.abc import Iterable

import numpy as np
import pandas as pd

from privregret.core import checks
from privregret.estimates.number import Estimate, complete, estimates_of

FRAME = checks.instance_of(pd.DataFrame)
NAMES = "mean", "regret", "fraction", "ratio", "slope"  # columns with numbers and errors
SAMPLED = re.compile(r"median|quantile|sd|se|least|greatest|top|[pq]\d+")  # random numbers


def named(name: str, column: str, frame: pd.DataFrame) -> str:
    """Check that a frame has a column."""
    if list(frame.columns).count(column) != 1:
        columns = ", ".join(map(str, frame.columns))
        raise ValueError(f"{name} must be one column of the frame ({columns}), got {column!r}")
    return column


def _averaged(frame):
    if "run" in frame:
        raise ValueError(
            "frame must have estimates, got single runs (column 'run'): call means first"
        )


@checks.validate(frame=FRAME, value=checks.text)
def rows(frame: pd.DataFrame, value: str | None = None) -> list[Estimate]:
    """Return the rows of a frame as estimates.

    Parameters
    ----------
    frame : pandas.DataFrame
        For example of `means` or `exact.regret_curves`.
    value : str, optional
        Column of the numbers; the first of mean, regret, fraction, ratio, slope if not given. The
        error of `mean` is `se` (infinite if `runs` is 1, or if `heavy`), the bound of `regret` is
        `error`; those of another column are <value>_se and <value>_error. An error without a column
        is 0, so a frame of single runs (with a column run), and quantiles and deviations of a
        sample, are refused.
    """
    _averaged(frame)
    if value is None:
        value = next((c for c in NAMES if c in frame), NAMES[0])
    named("value", value, frame)
    is_mean = value == "mean"
    bound = "error" if value == "regret" else f"{value}_error"
    names = value, "se" if is_mean else f"{value}_se", bound
    parts = {c: frame[c] if c in frame else pd.Series(0.0, frame.index) for c in names}
    if {"se", "runs"} & {*frame} and not {*names[1:]} & {*frame} and SAMPLED.fullmatch(value):
        raise ValueError(
            f"value must be a column with an error, got {value!r} without {names[1]!r}"
        )
    if is_mean and "runs" in frame:
        parts["se"] = parts["se"].mask(frame.runs < 2, np.inf)
    if is_mean and "heavy" in frame:
        complete("column 'heavy'", frame.heavy)
        parts["se"] = parts["se"].mask(frame.heavy.astype(bool), np.inf)
    for name, column in parts.items():
        complete(f"column {name!r}", column)
    return [Estimate(*row) for row in zip(*parts.values(), strict=True)]


@checks.validate(frame=FRAME, value=checks.text)
def row(frame: pd.DataFrame, value: str | None = None, **where: object) -> Estimate:
    """Return the only row, as of `rows`, in which the named columns have these values."""
    _averaged(frame)
    for column, wanted in where.items():
        frame = frame[frame[named("where", column, frame)] == wanted]
    if len(frame) != 1:
        raise ValueError(f"{where} must match one row of the frame, got {len(frame)}")
    return rows(frame, value)[0]


def columns(numbers: Iterable[Estimate | float], name: str) -> dict[str, list[float]]:
    """Return estimates as columns that `rows` reads: <name>, <name>_se, <name>_error."""
    numbers = estimates_of("numbers", numbers)
    values, errors, bounds = ([getattr(e, a) for e in numbers] for a in ("value", "se", "bound"))
    return {name: values, f"{name}_se": errors, f"{name}_error": bounds}
