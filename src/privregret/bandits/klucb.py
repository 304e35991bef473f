"""KL-UCB (Garivier and Cappé 2011), a non-private reference that is asymptotically optimal."""

import math
from dataclasses import dataclass

import numpy as np

from privregret import checks
from privregret.algorithm import NOT_PRIVATE
from privregret.bandits.base import DRAWN, RoundByRound, keep_pulling
from privregret.divergence import kl, kl_inverse
from privregret.jit import jit


@dataclass(frozen=True)
class KLUCB(RoundByRound):
    """KL-UCB: the index is the largest q with n kl(mean, q) <= ln t + c ln max(1, ln t) in round t.

    No privacy. Anytime, O(K) memory. Rewards between 0 and 1 are allowed.

    Parameters
    ----------
    c : float
        At least 0: 3 in the theorem, 0 in practice.
    """

    c: float = 0.0
    label = "KL-UCB"
    source = "Garivier and Cappé 2011"
    rules = {"c": checks.number_in(0, math.inf)}
    privacy = NOT_PRIVATE

    def _kernel(self, means, rounds, rewards=DRAWN):
        return _loop, (rewards, means, rounds, self.c)


@jit
def _loop(rewards, means, rounds, c, rng):
    # The index is concave in the level: the tangent where it was last worked out is above it, and shows for some rounds
    # what the others' can be at most. The leader leads while n kl(mean, that bound) is below the level: a convex set of
    # numbers of pulls and sums, with two points of it all between them. Arms of equal records are tied in each round:
    # those that are looked at before the leader have their draws, and as many, while no other arm can come between.
    arms = len(means)
    actions = np.empty(len(rewards), np.int64)
    counts = np.empty((len(rounds), arms), np.int64)
    total = np.zeros(arms)
    mean = np.zeros(arms)
    pulls = np.zeros(arms, np.int64)
    height = np.full(arms, math.inf)  # tangent: height + slope (level - at); infinite if not worked out
    slope = np.zeros(arms)
    at = np.zeros(arms)
    reported = 0
    t = 0
    while t < rounds[-1]:
        chosen, end, start, draws = t, t + 1, 0.0, 0
        if t >= arms:
            log_t = math.log(t + 1)
            level = log_t + c * math.log(max(1.0, log_t))
            best, ties = -1.0, 0
            first, head, second = -1, -1, -1.0  # of the arms with the best index; of those with the best before it
            for j in range(arms):
                # an index is only worked out if it can reach the best so far; a little slack keeps exact ties
                if height[j] + slope[j] * (level - at[j]) < best * (1 - 1e-12):
                    continue
                index = kl_inverse(mean[j], level / pulls[j])
                if mean[j] < index < 1:
                    height[j], slope[j], at[j] = index, index * (1 - index) / (pulls[j] * (index - mean[j])), level
                if index > best:
                    head, second = first, best
                    best, first, chosen, ties = index, j, j, 1
                elif index == best:
                    ties, draws = ties + 1, draws + 1
                    if ties * rng.random() < 1:
                        chosen = j
            steps = 1 if draws > 0 and (ties > 1 or head > 1) else 1 + min(63, pulls[chosen] // 16)
            while steps > 1:
                later = level + (1 + c) * steps / (t + 1)
                bound = 0.0
                for j in range(arms):
                    if j != chosen:
                        highest = height[j] + slope[j] * (later - at[j])
                        bound = max(bound, highest)
                        if draws > 0 and j < chosen and highest >= second * (1 - 1e-12):
                            if mean[j] != mean[head] or pulls[j] != pulls[head]:
                                bound = 1.0  # may change who is tied
                bound *= 1 + 1e-12
                start = total[chosen] - math.sqrt(steps)
                n = pulls[chosen] + steps
                last = max(0.0, start + steps * mean[chosen])
                if bound < 1 and _reaches(start, pulls[chosen], bound, level) and _reaches(last, n, bound, level):
                    end = min(t + steps, rounds[reported])
                    break
                steps //= 4
        pulled, total[chosen] = keep_pulling(
            rewards, means, actions, chosen, t, end, total[chosen], start, mean[chosen], rng, draws
        )
        t += pulled
        pulls[chosen] += pulled
        mean[chosen] = total[chosen] / pulls[chosen]
        height[chosen], slope[chosen] = math.inf, 0.0
        if t == rounds[reported]:
            counts[reported] = pulls
            reported += 1
    return actions, counts


@jit
def _reaches(total, n, bound, level):
    """Is the index of an arm with this sum of n rewards above `bound`?"""
    return total >= 0 and (total >= n * bound or n * kl(total / n, bound) < level * (1 - 1e-12))
