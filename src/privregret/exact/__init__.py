"""Selection probabilities and expected regret as numbers, by quadrature instead of averages, with a bound on
their error.

What functions take is checked here, on the way in (`privregret.checks.arguments`), and not again in loops over epochs:
a TypeError or ValueError of one line names the argument that is wrong, its value and what is allowed.
"""

from privregret import checks
from privregret.exact.regret import (
    Regret,
    expected_gap,
    expected_regret,
    prefix_gaps,
    prefix_sum,
    regret_curves,
    two_loss_regret,
)
from privregret.exact.selection import Selection, expected_maximum, selection_from_sums, selection_probabilities
from privregret.exact.worst import WorstInstance, worst_instance
from privregret.instances import StochasticLosses
from privregret.noise import CODES

__all__ = [
    "Regret",
    "Selection",
    "WorstInstance",
    "expected_gap",
    "expected_maximum",
    "expected_regret",
    "prefix_gaps",
    "prefix_sum",
    "regret_curves",
    "selection_from_sums",
    "selection_probabilities",
    "two_loss_regret",
    "worst_instance",
]

SHARES = checks.array_in(0, 1, shape=1)
NOISE = checks.one_of(*CODES)
SUMS = {"sums": checks.array_in(-1e20, 1e20), "scale": checks.array_in(1e-200, 1e200)}
checks.arguments(
    globals(),
    instance=checks.instance_of(StochasticLosses),
    log_counts=checks.array_in(0, 1e6, shape=1),
    low=SHARES,
    high=SHARES,
    p=SHARES,
    prefix_gaps={"rounds": checks.array_in(0, 2**60, shape=1)},
    prefix_sum={"noise": NOISE, "scale": checks.number_in(1e-6, 1e15)},
    selection_from_sums=SUMS | {"noise": NOISE},
    expected_maximum=SUMS | {"noise": checks.one_of("laplace", "exponential", "gumbel")},
    two_loss_regret={"epsilon": checks.number_in(1e-15, 1e15), "horizon": checks.integer_in(1, 2**10)},
)
