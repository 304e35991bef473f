"""Lazy-DP-TS (Hu and Hegde 2022)."""

import math
from dataclasses import dataclass

from privregret.bandits.base import BanditAlgorithm
from privregret.bandits.lazy_ucb import ARM, observe
from privregret.core import checks
from privregret.core.algorithm import EPSILON_DP, NOTHING, Steps
from privregret.core.jit import jit

BONUS = 3.0


@jit
def _choose(arms, state, settings, t, rng):
    """Play each arm once, then the one with the largest draw from its posterior."""
    if t <= len(arms):
        return t - 1
    log_t = math.log(t)
    best, chosen = -1.0, 0
    for j in range(len(arms)):
        n = arms[j]["size"]
        u = min(max(arms[j]["mean"] + BONUS * log_t / (settings.epsilon * n), 0.0), 1.0)
        draw = rng.beta(u * n + 1, (1 - u) * n + 1)
        if draw > best:
            best, chosen = draw, j
    return chosen


@dataclass(frozen=True)
class LazyDPTS(BanditAlgorithm):
    """Lazy-DP-TS: Thompson sampling from optimistic private means of full arrays.

    Arrays hold 2, 4, 8, ... pulls, and each full array gives one noisy sum. An arm whose last full
    array holds n = 2^r pulls with private mean m has u = m + 3 ln t / (epsilon n), clipped to [0,
    1]. In every round t each arm draws from Beta(u n + 1, (1 - u) n + 1), and the arm with the
    largest draw is pulled.
    Deviations: the paper's text was not available. This follows a published description, with the
    arrays, the noise of the first pull and the bonus of Anytime-Lazy-UCB, its sister algorithm. The
    constant 3 and the natural logarithm come from these.

    Privacy: epsilon-DP for the sequence of actions when one round's rewards are replaced, since
    each reward enters exactly one released sum, with Laplace noise of scale 1 / epsilon. Anytime,
    O(K) memory.
    """

    epsilon: float
    id = "lazy-dp-ts"
    label = "Lazy-DP-TS"
    source = "Hu and Hegde 2022; azize2025, Section 5"
    rules = {"epsilon": checks.epsilon}
    privacy = EPSILON_DP
    steps = Steps(ARM, NOTHING, _choose, observe)
