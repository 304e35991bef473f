"""Compute selection probabilities and expected regret by quadrature, with errors."""

from privregret.core import public as _public
from privregret.exact.regret import (
    Regret,
    expected_gap,
    expected_regret,
    regret_curves,
)
from privregret.exact.selection import Selection, selection_probabilities
from privregret.exact.sums import expected_maximum, selection_from_sums

__all__ = _public(globals())
