"""Bounds of you2026, with all constants. Gaps: array with 0 for the best arm."""

import numpy as np
from numpy.typing import ArrayLike

from privregret.bounds import Numbers


def theorem_1(gaps: ArrayLike, horizon: float, epsilon: float) -> float:
    """Bound regret of geometric ETC that knows the smallest gap.

    (4 ln T / (gap min(gap, epsilon)) + 4) times the sum of the gaps.
    """
    gaps = np.asarray(gaps, float)
    gap = gaps[gaps > 0].min()
    pulls = 4 * np.log(horizon) / (gap * min(gap, epsilon))
    return float((pulls + 4) * gaps.sum())


def theorem_3(log_actions: Numbers, gap: Numbers, epsilon: Numbers) -> Numbers:
    """Bound regret of the exponential mechanism on epochs: 3 + 100 ln K / min(gap, epsilon)."""
    return 3 + 100 * log_actions / np.minimum(gap, epsilon)
