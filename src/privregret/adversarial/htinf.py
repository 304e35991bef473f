"""HTINF, the base of Corollary 2 of asi2025: Tsallis-INF for heavy tails"""

import math
from dataclasses import dataclass

import numpy as np

from privregret.adversarial.base import AdversarialAlgorithm
from privregret.adversarial.fast import SeparateRuns
from privregret.core import checks
from privregret.core.algorithm import NOT_PRIVATE, Steps
from privregret.core.jit import jit
from privregret.core.noise import drawn

THETA = 1 - 2 ** (-1 / 3)  # the skipping factor for second moments


ARM = np.dtype(
    [
        ("estimate", float),  # estimated sum of its losses so far
        ("p", float),  # probability of being played
    ]
)
STATE = np.dtype([("w", float)])  # the last normalisation


@jit
def _choose(arms, state, settings, t, rng):
    """Draw an arm from p_i = (eta (estimate_i - min) + w)^-2, with w so that they add up to 1."""
    eta, low = 1 / (settings.sigma * math.sqrt(t)), arms[0]["estimate"]
    for i in range(1, len(arms)):
        if arms[i]["estimate"] < low:
            low = arms[i]["estimate"]
    # Newton's method begins where w was. The sum is convex and decreasing in w, which is in
    # [1, sqrt K]: from the left a step never crosses the root; from the right the first step does.
    w = max(1.0, state["w"])
    for _ in range(100):
        total, cubes = 0.0, 0.0
        for i in range(len(arms)):
            inverse = 1 / (eta * (arms[i]["estimate"] - low) + w)
            arms[i]["p"] = inverse * inverse
            total += inverse * inverse
            cubes += inverse * inverse * inverse
        if abs(total - 1) < 1e-12:
            break
        w += max(1 - w, (total - 1) / (2 * cubes))
    state["w"] = w
    return drawn(arms["p"], rng.random())


@jit
def _estimate(y, p, settings, t):
    """Return the estimated loss y / p of an arm, or 0 if y is so large that it is skipped."""
    return y / p if abs(y) <= THETA * settings.sigma * math.sqrt(t * p) else 0.0


@jit
def _observe(arms, state, settings, t, j, y, rng):
    """Add the estimated loss."""
    arms[j]["estimate"] += _estimate(y, arms[j]["p"], settings, t)


# The same in several runs, bit by bit: lanes of `fast.side_by_side`


@jit
def _weigh(estimates, p, weights, sums, settings, t):
    """As `_choose`, up to the draw; a lane that has converged keeps its w until all have."""
    (arms, runs), eta = p.shape, 1 / (settings.sigma * math.sqrt(t))
    w, low, total, cubes = sums[0], sums[1], sums[2], sums[3]
    for r in range(runs):
        low[r], w[r] = estimates[0, r], max(1.0, w[r])
    for i in range(1, arms):
        for r in range(runs):
            low[r] = min(low[r], estimates[i, r])
    for _ in range(100):
        for r in range(runs):
            total[r], cubes[r] = 0.0, 0.0
        for i in range(arms):
            for r in range(runs):
                inverse = np.divide(1.0, eta * (estimates[i, r] - low[r]) + w[r])
                p[i, r] = inverse * inverse
                total[r] += inverse * inverse
                cubes[r] += inverse * inverse * inverse
        unfinished = 0
        for r in range(runs):
            far = abs(total[r] - 1) >= 1e-12
            w[r] += max(1 - w[r], np.divide(total[r] - 1, 2 * cubes[r])) if far else 0.0
            unfinished += far
        if unfinished == 0:
            break


@jit
def _learn(estimates, p, weights, sums, settings, t, j, r, y):
    """As `_observe`, in run r."""
    estimates[j, r] += _estimate(y, p[j, r], settings, t)


@dataclass(frozen=True)
class HTINF(SeparateRuns, AdversarialAlgorithm):
    """HTINF for second moments: Tsallis-INF that skips large losses.

    Tsallis-INF has power 1/2 and learning rate 1 / (sigma sqrt t). A loss y of an arm played with
    probability x in step t counts only if |y| <= (1 - 2^(-1/3)) sigma sqrt(t x).
    Deviations: the paper's text was not available. This follows public code, with |y| where some of
    it tests y: losses with noise are negative as often as not.

    Privacy: none by itself. Anytime, O(K) per step.
    Plain version: `PlainHTINF` of notebook asi2025/3.

    Parameters
    ----------
    sigma : float
        Above 0; the second moment of the losses is at most sigma^2. 1 is enough for losses in
        [0, 1]; asi2025 has sqrt(6) for its noisy averages (`tuning`).
    """

    sigma: float
    id = "htinf"
    label = "HTINF"
    source = "Huang, Dai and Huang 2022, Algorithm 1; base of asi2025, Corollary 2"
    steps = Steps(ARM, STATE, _choose, _observe)
    lane_steps = {"weigh": _weigh, "learn": _learn}
    rules = {"sigma": checks.positive}
    privacy, real_losses = NOT_PRIVATE, True
