"""KL-UCB (Garivier and Cappé 2011), a non-private asymptotically optimal reference"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from privregret.bandits.base import BanditAlgorithm, keep_pulling
from privregret.core import checks
from privregret.core.algorithm import NOT_PRIVATE, NOTHING, Steps
from privregret.core.jit import jit
from privregret.divergence import kl, kl_inverse

ARM = np.dtype([("total", float), ("pulls", np.int64)])


class Exploration(NamedTuple):
    """Hold the parameters that the kernels take."""

    c: float


@jit
def _level(c, t):
    """Return ln t + c ln max(1, ln t)."""
    log_t = math.log(t)
    return log_t + c * math.log(max(1.0, log_t))


@jit
def _choose(arms, own, settings, t, rng):
    """Return the arm of round t."""
    if t <= len(arms):
        return t - 1
    level = _level(settings.c, t)
    best, leader, ties = -1.0, 0, 0
    for j in range(len(arms)):
        n = arms[j]["pulls"]
        index = kl_inverse(arms[j]["total"] / n, level / n)
        if index > best:
            best, leader, ties = index, j, 1
        elif index == best:
            ties += 1
            if ties * rng.random() < 1:
                leader = j
    return leader


@jit
def _observe(arms, own, settings, t, j, reward, rng):
    """Update the memory with the reward of arm j in round t."""
    arms[j]["total"] += reward
    arms[j]["pulls"] += 1


@jit
def _pull_counts(means, checkpoints, settings, rng):
    # The index is concave in the level, so its last computed tangent bounds it from above for
    # some rounds. The leader leads while n kl(mean, bound on the others) is below the level. The
    # pairs of pulls and sum that satisfy this form a convex set: with two points it contains the
    # points between them. Arms with equal records are tied in each round. Those that precede the
    # leader in the scan have equally many draws while no other arm can come between.
    arms, c = len(means), settings.c
    counts = np.empty((len(checkpoints), arms), np.int64)
    total = np.zeros(arms)
    mean = np.zeros(arms)
    pulls = np.zeros(arms, np.int64)
    height = np.full(arms, math.inf)  # tangent: height + slope (level - at); infinite if unknown
    slope = np.zeros(arms)
    at = np.zeros(arms)
    reported = 0
    t = 0
    while t < checkpoints[-1]:
        chosen, left, start, draws = t, 1, 0.0, 0
        if t >= arms:
            level = _level(c, t + 1)
            best, ties = -1.0, 0
            # first: first arm with the best index; head: first arm with the best index before
            first, head, second = -1, -1, -1.0
            for j in range(arms):
                # computed only if it can reach the best one so far; a little slack keeps exact ties
                if height[j] + slope[j] * (level - at[j]) < best * (1 - 1e-12):
                    continue
                index = kl_inverse(mean[j], level / pulls[j])
                if mean[j] < index < 1:
                    height[j], at[j] = index, level
                    slope[j] = index * (1 - index) / (pulls[j] * (index - mean[j]))
                if index > best:
                    head, second = first, best
                    best, first, chosen, ties = index, j, j, 1
                elif index == best:
                    ties, draws = ties + 1, draws + 1
                    if ties * rng.random() < 1:
                        chosen = j
            between = draws > 0 and (ties > 1 or head > 1)
            steps = 1 if between else 1 + min(63, pulls[chosen] // 16)
            while steps > 1:
                later = level + (1 + c) * steps / (t + 1)
                bound = 0.0
                for j in range(arms):
                    if j != chosen:
                        highest = height[j] + slope[j] * (later - at[j])
                        bound = max(bound, highest)
                        if draws > 0 and j < chosen and highest >= second * (1 - 1e-12):
                            if mean[j] != mean[head] or pulls[j] != pulls[head]:
                                bound = 1.0  # may change which arms are tied
                bound *= 1 + 1e-12
                start = total[chosen] - math.sqrt(steps)
                now, n = pulls[chosen], pulls[chosen] + steps
                last = max(0.0, start + steps * mean[chosen])
                if (
                    bound < 1
                    and _reaches(start, now, bound, level)
                    and _reaches(last, n, bound, level)
                ):
                    left = min(steps, checkpoints[reported] - t)
                    break
                steps //= 4
        pulled, total[chosen] = keep_pulling(
            means[chosen], left, total[chosen], start, mean[chosen], rng, draws
        )
        t += pulled
        pulls[chosen] += pulled
        mean[chosen] = total[chosen] / pulls[chosen]
        height[chosen], slope[chosen] = math.inf, 0.0
        if t == checkpoints[reported]:
            for i in range(arms):
                counts[reported, i] = pulls[i]
            reported += 1
    return counts


@jit
def _reaches(total, n, bound, level):
    """Return whether the index of an arm with this sum of n rewards exceeds `bound`."""
    if total < 0:
        return False
    return total >= n * bound or n * kl(total / n, bound) < level * (1 - 1e-12)


@dataclass(frozen=True)
class KLUCB(BanditAlgorithm):
    """KL-UCB: the index is the largest q with n kl(mean, q) <= the exploration level.

    The level is ln t + c ln max(1, ln t) in round t. No privacy. Anytime, O(K) memory. Rewards
    between 0 and 1 are allowed.

    Parameters
    ----------
    c : float
        At least 0: 3 in the theorem, 0 in practice.
    """

    c: float = 0.0
    id = "kl-ucb"
    label = "KL-UCB"
    source = "Garivier and Cappé 2011"
    rules = {"c": checks.number_in(0, math.inf)}
    privacy = NOT_PRIVATE
    steps = Steps(ARM, NOTHING, _choose, _observe)
    events = _pull_counts

    def settings(self, horizon: int | None, arms: int) -> Exploration:
        return Exploration(self.c)
