"""DP-SE, private successive elimination (Sajed and Sheffet 2019)."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from privregret.bandits.base import PrivateBandit
from privregret.bandits.index import noisy_mean
from privregret.core import checks
from privregret.core.algorithm import Steps
from privregret.core.jit import jit
from privregret.core.noise import successes

ARM = np.dtype([("total", float), ("mean", float), ("dropped", np.int64)])
EPOCH = np.dtype(
    [
        ("epoch", np.int64),
        ("active", np.int64),  # arms that are active
        ("arm", np.int64),  # the arm pulled last
        ("length", float),  # pulls of each arm: with a tiny epsilon they may exceed any integer
        ("left", float),  # remaining rounds of the epoch
    ]
)


@jit
def epoch_length(epoch, active, epsilon, beta):
    """Return the pulls per `active` arm in epoch 1, 2, ..., to be rounded up."""
    gap = 2.0**-epoch
    sampling = 32 * math.log(8 * active * epoch**2 / beta) / gap**2
    privacy = 8 * math.log(4 * active * epoch**2 / beta) / (epsilon * gap)
    return max(sampling, privacy) + 1


@jit
def _threshold(epoch, active, epsilon, beta):
    """Return 2 h + 2 c: how far below the largest private mean an arm stays active."""
    length = epoch_length(epoch, active, epsilon, beta)
    h = math.sqrt(math.log(8 * active * epoch**2 / beta) / (2 * length))
    c = math.log(4 * active * epoch**2 / beta) / (length * epsilon)
    return 2 * h + 2 * c


@jit
def _choose(arms, state, settings, t, rng):
    """Pull the active arms in turn."""
    j = state["arm"]
    if state["active"] == 1:
        return j
    if state["left"] == 0:
        state["epoch"] += 1
        state["active"] = 0
        for i in range(len(arms)):
            state["active"] += 1 - arms[i]["dropped"]
        active = state["active"]
        state["length"] = np.ceil(
            epoch_length(state["epoch"], active, settings.epsilon, settings.beta)
        )
        state["left"] = state["length"] * active
        j = -1
    j += 1
    while j == len(arms) or arms[j]["dropped"]:
        j = 0 if j == len(arms) else j + 1
    state["arm"] = j
    return j


@jit
def _observe(arms, state, settings, t, j, reward, rng):
    """Add the reward; at the end of an epoch drop the arms that are far behind."""
    if state["active"] == 1:
        return
    arms[j]["total"] += reward
    state["left"] -= 1
    if state["left"] > 0:
        return
    epsilon, length, largest = settings.epsilon, state["length"], -math.inf
    for i in range(len(arms)):
        if not arms[i]["dropped"]:
            arms[i]["mean"] = noisy_mean(arms[i]["total"], length, epsilon, rng)
            arms[i]["total"] = 0.0
            largest = max(largest, arms[i]["mean"])
    threshold = _threshold(state["epoch"], state["active"], epsilon, settings.beta)
    for i in range(len(arms)):
        if not arms[i]["dropped"] and largest - arms[i]["mean"] > threshold:
            arms[i]["dropped"] = 1


@jit
def _pull_counts(means, checkpoints, settings, rng):
    """Play epoch by epoch: the sum of an arm is one binomial draw."""
    epsilon, beta, horizon = settings.epsilon, settings.beta, checkpoints[-1]
    counts = np.empty((len(checkpoints), len(means)), np.int64)
    pulls = np.zeros(len(means), np.int64)
    active = np.arange(len(means))
    epoch = reported = t = 0
    while t < horizon:
        width = len(active)
        epoch += 1
        played = horizon - t
        # compare as floats: with a tiny epsilon the length may exceed any integer
        if width > 1:
            wanted = width * np.ceil(epoch_length(epoch, width, epsilon, beta))
            played = int(wanted) if wanted < played else played
        while reported < len(checkpoints) and checkpoints[reported] <= t + played:
            for i in range(len(means)):
                counts[reported, i] = pulls[i]
            # round robin: the first arms may be one pull ahead
            for j in range(width):
                seen = checkpoints[reported] - t
                counts[reported, active[j]] += (seen + width - 1 - j) // width
            reported += 1
        for j in range(width):
            pulls[active[j]] += (played + width - 1 - j) // width
        t += played
        if width > 1 and t < horizon:
            length = played // width
            mean = np.empty(width)
            for j in range(width):
                total = successes(length, means[active[j]], rng)
                mean[j] = noisy_mean(total, length, epsilon, rng)
            active = active[mean.max() - mean <= _threshold(epoch, width, epsilon, beta)]
    return counts


def _chance_or_none(name, value):
    if value is not None and checks.number_in(0, 1)(name, value) == 0:
        raise ValueError(f"{name} must be a number in (0, 1] or None, got {value!r}")
    return None if value is None else float(value)


@dataclass(frozen=True)
class DPSE(PrivateBandit):
    """DP-SE: eliminate arms by one noisy mean per active arm and epoch.

    All active arms are pulled round robin.
    Deviations: the paper's text was not available; the constants are those of public code. The
    pulls of an epoch are rounded up, its width is not.

    Privacy: epsilon-DP, since each reward enters one epoch's sum of one arm, with independent
    Laplace noise of scale 1 / epsilon. Not anytime: the usual confidence parameter is 1 / T. O(K)
    memory. Plain version: `dp_se` of notebook hu2021/6.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, in [1e-6, 1e6].
    beta : float or None
        Failure probability in (0, 1]; None means 1 / T, as in every comparison of the papers. A
        live source then needs the horizon T.
    """

    beta: float | None = None
    id = "dp-se"
    label = "DP-SE"
    source = "Sajed and Sheffet 2019; hu2021, Section 6"
    rules = {"epsilon": checks.epsilon, "beta": _chance_or_none}
    steps = Steps(ARM, EPOCH, _choose, _observe)
    fast_run = _pull_counts

    def settings(self, horizon: int | None, arms: int) -> Any:
        if self.beta is None and horizon is None:
            raise ValueError("horizon must be given if beta is None, which stands for 1 / horizon")
        return self.Settings(self.epsilon, self.beta or 1 / horizon)
