"""KL-UCB (Garivier and Cappé 2011), a non-private asymptotically optimal reference"""

import math
from dataclasses import dataclass

import numpy as np

from privregret.bandits.base import BanditAlgorithm
from privregret.bandits.index import ARM, keep_pulling, leader, observe, report
from privregret.core.algorithm import NOT_PRIVATE, NOTHING, Steps
from privregret.core.jit import jit
from privregret.divergence import kl, kl_inverse


@jit
def _index(mean, pulls, log_t):
    """Return the largest q such that n kl(mean, q) <= ln t."""
    return kl_inverse(mean, log_t / pulls)


@jit
def _choose(arms, state, settings, t, rng):
    """Play each arm once, then one with the largest index."""
    if t <= len(arms):
        return t - 1
    for j in range(len(arms)):
        n = arms[j]["pulls"]
        arms[j]["index"] = _index(arms[j]["total"] / n, n, math.log(t))
    return leader(arms, rng)


@jit
def _reaches(total, n, bound, level):
    """Return whether the index of an arm with this sum of n rewards exceeds `bound`."""
    if total < 0:
        return False
    return total >= n * bound or n * kl(total / n, bound) < level * (1 - 1e-12)


@jit
def _pull_counts(means, checkpoints, settings, rng):
    # The index is concave in the level, so its last computed tangent bounds it from above for
    # some rounds. The leader leads while n kl(mean, bound on the others) is below the level. The
    # pairs of pulls and sum that satisfy this form a convex set: with two points it contains the
    # points between them. Arms with equal records are tied in each round. Those that precede the
    # leader in the scan have equally many draws while no other arm can come between.
    arms = len(means)
    counts = np.empty((len(checkpoints), arms), np.int64)
    total = np.zeros(arms)
    mean = np.zeros(arms)
    pulls = np.zeros(arms, np.int64)
    # tangent: height + slope (level - at); infinite if unknown
    height = np.full(arms, math.inf)
    slope = np.zeros(arms)
    at = np.zeros(arms)
    reported = t = 0
    while t < checkpoints[-1]:
        chosen, left, start, draws = t, 1, 0.0, 0
        if t >= arms:
            level = math.log(t + 1)
            best, ties = -1.0, 0
            # first: first arm with the best index; head: first arm with the best index before
            first, head, second = -1, -1, -1.0
            for j in range(arms):
                # computed only if it can reach the best one so far; a little slack keeps exact ties
                if height[j] + slope[j] * (level - at[j]) < best * (1 - 1e-12):
                    continue
                index = _index(mean[j], pulls[j], level)
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
                later = level + steps / (t + 1)
                bound = 0.0
                for j in range(arms):
                    if j != chosen:
                        highest = height[j] + slope[j] * (later - at[j])
                        bound = max(bound, highest)
                        if draws > 0 and j < chosen and highest >= second * (1 - 1e-12):
                            if mean[j] != mean[head] or pulls[j] != pulls[head]:
                                # may change which arms are tied
                                bound = 1.0
                bound *= 1 + 1e-12
                start = total[chosen] - math.sqrt(steps)
                now, n = pulls[chosen], pulls[chosen] + steps
                last = max(0.0, start + steps * mean[chosen])
                sure = bound < 1 and _reaches(start, now, bound, level)
                if sure and _reaches(last, n, bound, level):
                    left = min(steps, checkpoints[reported] - t)
                    break
                steps //= 4
        j = chosen
        pulled, total[j] = keep_pulling(means[j], left, total[j], start, mean[j], rng, draws)
        t += pulled
        reported = report(counts, checkpoints, reported, pulls, j, t)
        pulls[j] += pulled
        mean[j] = total[j] / pulls[j]
        height[j], slope[j] = math.inf, 0.0
    return counts


@dataclass(frozen=True)
class KLUCB(BanditAlgorithm):
    """KL-UCB: the index is the largest q with n kl(mean, q) <= ln t in round t.

    No privacy. Anytime, O(K) memory. Rewards between 0 and 1 are allowed.
    """

    id = "kl-ucb"
    label = "KL-UCB"
    source = "Garivier and Cappé 2011"
    privacy = NOT_PRIVATE
    steps = Steps(ARM, NOTHING, _choose, observe)
    fast_run = _pull_counts
