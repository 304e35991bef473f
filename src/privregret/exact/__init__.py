"""Selection probabilities and expected regret as numbers, by quadrature instead of averages, with a bound on
their error."""

from privregret.exact.regret import Regret, expected_gap, expected_regret, prefix_gaps, prefix_sum
from privregret.exact.selection import Selection, fixed_scores, selection_probabilities

__all__ = [
    "Regret",
    "Selection",
    "expected_gap",
    "expected_regret",
    "fixed_scores",
    "prefix_gaps",
    "prefix_sum",
    "selection_probabilities",
]
