"""Compute selection probabilities and expected regret by quadrature, with errors."""

from privregret.exact.regret import (
    Regret,
    expected_gap,
    expected_regret,
    prefix_sum,
    regret_curves,
)
from privregret.exact.selection import Selection, selection_probabilities
from privregret.exact.sums import expected_maximum, selection_from_sums
from privregret.exact.worst import WorstInstance, worst_instance

__all__ = ["Regret", "Selection", "WorstInstance", "expected_gap", "expected_maximum"]
__all__ += ["expected_regret", "prefix_sum", "regret_curves", "selection_from_sums"]
__all__ += ["selection_probabilities", "worst_instance"]
