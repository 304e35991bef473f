"""Selection probabilities and expected regret as numbers, by quadrature instead of averages, with a bound on
their error."""

from privregret.exact.regret import Regret, expected_gap, expected_regret, prefix_gaps, prefix_sum, regret_curves
from privregret.exact.selection import Selection, selection_from_sums, selection_probabilities

__all__ = [
    "Regret",
    "Selection",
    "expected_gap",
    "expected_regret",
    "prefix_gaps",
    "prefix_sum",
    "regret_curves",
    "selection_from_sums",
    "selection_probabilities",
]
