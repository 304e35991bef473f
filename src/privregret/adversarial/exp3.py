"""EXP3 with mixing: Algorithm 3 of asi2025"""

import math
from dataclasses import dataclass

import numpy as np

from privregret.adversarial.base import AdversarialAlgorithm
from privregret.adversarial.fast import SeparateRuns
from privregret.core import checks
from privregret.core.algorithm import NOT_PRIVATE, Steps
from privregret.core.jit import jit
from privregret.core.noise import drawn

ARM = np.dtype(
    [
        ("estimate", float),  # estimated sum of its losses so far
        ("p", float),  # probability of being played
        ("weight", float),  # not normalised
    ]
)
STATE = np.dtype([("low", float)])  # the estimate whose weight is 1


@jit
def _weight(estimate, low, settings):
    """Return the weight of an arm, as large as a float can hold at most."""
    return math.exp(min(700.0, -settings.eta * (estimate - low)))


@jit
def _choose(arms, state, settings, t, rng):
    """Lines 3 and 4: draw an arm from (1 - gamma) softmax(-eta estimate) + gamma / K."""
    total = 0.0
    # weights are exp(-eta (estimate - low)), of which only that of the last arm has changed
    for i in range(len(arms)):
        total += arms[i]["weight"]
    # in round 1, and once all are too large or too small, `low` becomes the smallest estimate
    if not 1e-100 < total < 1e100:
        state["low"], total = arms[0]["estimate"], 0.0
        for i in range(1, len(arms)):
            state["low"] = min(state["low"], arms[i]["estimate"])
        for i in range(len(arms)):
            arms[i]["weight"] = _weight(arms[i]["estimate"], state["low"], settings)
            total += arms[i]["weight"]
    scale, uniform = (1 - settings.gamma) / total, settings.gamma / len(arms)
    for i in range(len(arms)):
        arms[i]["p"] = scale * arms[i]["weight"] + uniform
    return drawn(arms["p"], rng.random())


@jit
def _observe(arms, state, settings, t, j, y, rng):
    """Lines 5 and 6: add y / p to the estimate."""
    arms[j]["estimate"] += y / arms[j]["p"]
    arms[j]["weight"] = _weight(arms[j]["estimate"], state["low"], settings)


# The same in several runs, bit by bit: lanes of `fast.side_by_side`


@jit
def _weigh(estimates, p, weights, sums, settings, t):
    """As `_choose`, up to the draw."""
    (arms, runs), low, total = p.shape, sums[0], sums[1]
    for r in range(runs):
        total[r] = 0.0
    for i in range(arms):
        for r in range(runs):
            total[r] += weights[i, r]
    for r in range(runs):
        if not 1e-100 < total[r] < 1e100:
            low[r], total[r] = math.inf, 0.0
            for i in range(arms):
                low[r] = min(low[r], estimates[i, r])
            for i in range(arms):
                weights[i, r] = _weight(estimates[i, r], low[r], settings)
                total[r] += weights[i, r]
        total[r] = np.divide(1 - settings.gamma, total[r])
    uniform = settings.gamma / arms
    for i in range(arms):
        for r in range(runs):
            p[i, r] = total[r] * weights[i, r] + uniform


@jit
def _learn(estimates, p, weights, sums, settings, t, j, r, y):
    """As `_observe`, in run r."""
    estimates[j, r] += y / p[j, r]
    weights[j, r] = _weight(estimates[j, r], sums[0, r], settings)


@dataclass(frozen=True)
class EXP3(SeparateRuns, AdversarialAlgorithm):
    """EXP3 with mixing: softmax of the estimated losses, mixed with uniform play.

    Estimates are y / P(I), for any real y. Privacy: none by itself. Tuning: `tuning.batched_exp3`.
    O(K) per step. Plain version: `PlainEXP3` of notebook asi2025/3.
    Deviations: `tuning` has a gamma of at most 1 and a logarithm of at least 1.

    Parameters
    ----------
    eta : float
        Learning rate, above 0.
    gamma : float
        Probability of uniform play, in [0, 1].
    """

    eta: float
    gamma: float
    id = "exp3"
    label = "EXP3"
    source = "asi2025, Algorithm 3"
    steps = Steps(ARM, STATE, _choose, _observe)
    lane_steps = {"weigh": _weigh, "learn": _learn}
    rules = {"eta": checks.positive, "gamma": checks.probability}
    privacy, real_losses = NOT_PRIVATE, True
