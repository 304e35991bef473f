"""Compute selection probabilities and expected regret by quadrature, with errors."""

from privregret.exact.regret import (
    Regret,
    expected_gap,
    expected_regret,
    regret_curves,
)
from privregret.exact.selection import Selection, selection_probabilities
from privregret.exact.sums import expected_maximum, selection_from_sums

__all__ = ["Regret", "Selection", "expected_gap", "expected_maximum", "expected_regret"]
__all__ += ["regret_curves", "selection_from_sums", "selection_probabilities"]
