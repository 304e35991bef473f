"""Explore then commit with geometric noise (you2026, Algorithm 1)."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from privregret.bandits.base import PrivateBandit
from privregret.core import checks
from privregret.core.algorithm import Privacy, Steps
from privregret.core.jit import jit
from privregret.core.noise import geometric, successes

SHARES = {"full": 1.0, "half": 0.5}
ARM = np.dtype([("total", float)])
STATE = np.dtype([("best", np.int64)])


class GeometricETCSettings(NamedTuple):
    """Parameters as the kernels take them."""

    scale: float
    pulls: int


@jit
def _choose(arms, state, settings, t, rng):
    """Pull the arms in turn, then the first with the largest noisy sum for ever."""
    explored = len(arms) * settings.pulls
    if t <= explored:
        return (t - 1) % len(arms)
    if t == explored + 1:
        state["best"], largest = 0, arms[0]["total"] + geometric(settings.scale, rng)
        for j in range(1, len(arms)):
            noisy = arms[j]["total"] + geometric(settings.scale, rng)
            if noisy > largest:
                largest, state["best"] = noisy, j
    return state["best"]


@jit
def _observe(arms, state, settings, t, j, reward, rng):
    """While arms are explored, add a bit whose mean is the reward."""
    if t <= len(arms) * settings.pulls:
        arms[j]["total"] += rng.random() < reward


@jit
def _pull_counts(means, checkpoints, settings, rng):
    """Draw each sum at once."""
    arms, explored = len(means), len(means) * settings.pulls
    counts, best, largest = np.empty((len(checkpoints), arms), np.int64), 0, -math.inf
    for j in range(arms if checkpoints[-1] > explored else 0):
        noisy = successes(settings.pulls, means[j], rng) + geometric(settings.scale, rng)
        if noisy > largest:
            largest, best = noisy, j
    for h in range(len(checkpoints)):
        early = min(checkpoints[h], explored)
        for j in range(arms):
            counts[h, j] = (early + arms - 1 - j) // arms
        counts[h, best] += checkpoints[h] - early
    return counts


@dataclass(frozen=True)
class GeometricETC(PrivateBandit):
    """Geometric ETC: pull each arm m times, then the arm with the largest noisy sum.

    m is the smallest whole number of at least 4 ln T / (gap min(gap, epsilon)), and at most T / K.
    Noise is geometric, and rewards that are no bits are first replaced by bits of these means.

    Privacy: epsilon-DP for the sequence of actions when one round's rewards are replaced, since
    each reward enters at most one sum, which it moves by at most 1. With half of the noise, as in
    Corollary 2, which claims epsilon, it is 2 epsilon-DP. Not anytime. O(K) memory.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, in [1e-6, 1e6].
    gap : float
        The smallest gap, in (0, 1], which must be known.
    noise : {"full", "half"}
    """

    gap: float = 0.1
    noise: str = "full"
    id = "geometric-etc"
    source = "you2026, Algorithm 1"
    rules = {
        "epsilon": checks.epsilon,
        "gap": checks.number_in(1e-6, 1),
        "noise": checks.one_of(*SHARES),
    }
    steps = Steps(ARM, STATE, _choose, _observe)
    fast_run = _pull_counts

    @property
    def label(self) -> str:
        return "geometric ETC" if self.noise == "full" else "geometric ETC (half the noise)"

    @property
    def privacy(self) -> Privacy:
        return Privacy(self.epsilon, self.epsilon / SHARES[self.noise])

    def settings(self, horizon: int | None, arms: int) -> GeometricETCSettings:
        if horizon is None:
            raise ValueError("horizon must be given: the exploration depends on it")
        pulls = math.ceil(4 * math.log(horizon) / (self.gap * min(self.gap, self.epsilon)))
        scale = SHARES[self.noise] / self.epsilon
        return GeometricETCSettings(scale, max(1, min(pulls, horizon // arms)))
