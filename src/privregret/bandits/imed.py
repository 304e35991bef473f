"""IMED (Honda and Takemura 2015), a non-private asymptotically optimal reference"""

import math
from dataclasses import dataclass

import numpy as np

from privregret.bandits.base import BanditAlgorithm
from privregret.bandits.index import ARM, keep_pulling, leader, observe, report
from privregret.core.algorithm import NOT_PRIVATE, NOTHING, Steps
from privregret.core.jit import jit
from privregret.divergence import kl


@jit
def _index(pulls, divergence, log_pulls):
    """Return n kl(mean, largest mean) + ln n; of a bound on kl, a bound."""
    return pulls * divergence + log_pulls


@jit
def _choose(arms, state, settings, t, rng):
    """Play each arm once, then one with the smallest index."""
    if t <= len(arms):
        return t - 1
    top = 0.0
    for j in range(len(arms)):
        top = max(top, arms[j]["total"] / arms[j]["pulls"])
    for j in range(len(arms)):
        n = arms[j]["pulls"]
        arms[j]["index"] = -_index(n, kl(arms[j]["total"] / n, top), math.log(n))
    return leader(arms, rng)


@jit
def _pull_counts(means, checkpoints, settings, rng):
    # kl(mean, .) is convex, so it lies above its last computed tangent. The tangent mostly shows
    # that an arm's index is above the smallest one so far. It also shows for how many rounds, and
    # down to which mean, the arm with the largest mean has the smallest index. If arms are tied,
    # each round has its draws.
    arms = len(means)
    counts = np.empty((len(checkpoints), arms), np.int64)
    total = np.zeros(arms)
    mean = np.zeros(arms)
    pulls = np.zeros(arms, np.int64)
    log_pulls = np.zeros(arms)
    # tangent: height + slope (x - at)
    height = np.full(arms, -math.inf)
    slope = np.zeros(arms)
    at = np.zeros(arms)
    reported = t = 0
    while t < checkpoints[-1]:
        chosen, left, start, floor = t, 1, 0.0, 0.0
        if t >= arms:
            top = mean[0]
            for j in range(1, arms):
                top = max(top, mean[j])
            best, ties, tied = math.inf, 0, False
            for j in range(arms):
                lower = _index(pulls[j], height[j] + slope[j] * (top - at[j]), log_pulls[j])
                if lower > best + 1e-9 * (1 + best):
                    # neither smallest nor tied
                    continue
                divergence = kl(mean[j], top)
                if mean[j] < top < 1:
                    height[j], at[j] = divergence, top
                    slope[j] = (top - mean[j]) / (top * (1 - top))
                index = _index(pulls[j], divergence, log_pulls[j])
                if index < best:
                    best, chosen, ties = index, j, 1
                elif index == best:
                    ties, tied = ties + 1, True
                    if ties * rng.random() < 1:
                        chosen = j
            if mean[chosen] == top and not tied:
                steps = 1 + min(63, pulls[chosen] // 16)
                floor = top - math.sqrt(steps) / pulls[chosen]
                # the other indices are not smaller while the mean is above `floor`
                others = math.inf
                for j in range(arms):
                    if j != chosen:
                        floor = max(floor, mean[j])
                for j in range(arms):
                    if j != chosen:
                        below = height[j] + slope[j] * (floor - at[j])
                        others = min(others, _index(pulls[j], below, log_pulls[j]))
                if log_pulls[chosen] + steps / pulls[chosen] < others - 1e-9 * (1 + others):
                    left = min(steps, checkpoints[reported] - t)
                    start = pulls[chosen] * floor
        pulled, total[chosen] = keep_pulling(means[chosen], left, total[chosen], start, floor, rng)
        t += pulled
        reported = report(counts, checkpoints, reported, pulls, chosen, t)
        pulls[chosen] += pulled
        log_pulls[chosen] = math.log(pulls[chosen])
        height[chosen], slope[chosen] = -math.inf, 0.0
        mean[chosen] = total[chosen] / pulls[chosen]
    return counts


@dataclass(frozen=True)
class IMED(BanditAlgorithm):
    """IMED for Bernoulli arms: pull the arm with the smallest index.

    The index is n kl(mean, largest mean) + ln n; ties are broken at random. No privacy. Anytime,
    O(K) memory. Rewards between 0 and 1 are allowed; the guarantee is for 0 and 1.
    """

    id = "imed"
    label = "IMED"
    source = "Honda and Takemura 2015"
    privacy = NOT_PRIVATE
    steps = Steps(ARM, NOTHING, _choose, observe)
    fast_run = _pull_counts
