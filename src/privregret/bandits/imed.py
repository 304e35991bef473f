"""IMED (Honda and Takemura 2015), a non-private reference that is asymptotically optimal."""

import math
from dataclasses import dataclass

import numpy as np

from privregret.algorithm import NOT_PRIVATE
from privregret.bandits.base import DRAWN, RoundByRound, keep_pulling
from privregret.divergence import kl
from privregret.jit import jit


@dataclass(frozen=True)
class IMED(RoundByRound):
    """IMED for Bernoulli arms: pulls the arm with the smallest n kl(mean, largest mean) + ln n; ties at random.

    No privacy. Anytime, O(K) memory. Rewards between 0 and 1 are allowed; the guarantee is for 0 and 1.
    """

    label = "IMED"
    source = "Honda and Takemura 2015"
    privacy = NOT_PRIVATE

    def _kernel(self, means, rounds, rewards=DRAWN):
        return _loop, (rewards, means, rounds)


@jit
def _loop(rewards, means, rounds, rng):
    # kl(mean, .) is convex: its tangent where it was last worked out is below it, and mostly shows that an arm's index
    # is above the smallest so far. It also shows for how many rounds, and down to which mean of its own, the arm with
    # the largest mean has the smallest index. If arms are tied, each round has its draws.
    arms = len(means)
    actions = np.empty(len(rewards), np.int64)
    counts = np.empty((len(rounds), arms), np.int64)
    total = np.zeros(arms)
    mean = np.zeros(arms)
    pulls = np.zeros(arms, np.int64)
    log_pulls = np.zeros(arms)
    height = np.full(arms, -math.inf)  # tangent: height + slope (x - at)
    slope = np.zeros(arms)
    at = np.zeros(arms)
    reported = 0
    t = 0
    while t < rounds[-1]:
        chosen, end, start, floor = t, t + 1, 0.0, 0.0
        if t >= arms:
            top = mean[0]
            for j in range(1, arms):
                top = max(top, mean[j])
            best, ties, tied = math.inf, 0, False
            for j in range(arms):
                if pulls[j] * (height[j] + slope[j] * (top - at[j])) + log_pulls[j] > best + 1e-9 * (1 + best):
                    continue  # not the smallest, and no tie
                divergence = kl(mean[j], top)
                if mean[j] < top < 1:
                    height[j], slope[j], at[j] = divergence, (top - mean[j]) / (top * (1 - top)), top
                index = pulls[j] * divergence + log_pulls[j]
                if index < best:
                    best, chosen, ties = index, j, 1
                elif index == best:
                    ties, tied = ties + 1, True
                    if ties * rng.random() < 1:
                        chosen = j
            if mean[chosen] == top and not tied:
                steps = 1 + min(63, pulls[chosen] // 16)
                floor = top - math.sqrt(steps) / pulls[chosen]
                others = math.inf  # no index of theirs is smaller while the mean is above `floor`
                for j in range(arms):
                    if j != chosen:
                        floor = max(floor, mean[j])
                for j in range(arms):
                    if j != chosen:
                        others = min(others, pulls[j] * (height[j] + slope[j] * (floor - at[j])) + log_pulls[j])
                if log_pulls[chosen] + steps / pulls[chosen] < others - 1e-9 * (1 + others):
                    end, start = min(t + steps, rounds[reported]), pulls[chosen] * floor
        pulled, total[chosen] = keep_pulling(rewards, means, actions, chosen, t, end, total[chosen], start, floor, rng)
        t += pulled
        pulls[chosen] += pulled
        log_pulls[chosen] = math.log(pulls[chosen])
        height[chosen], slope[chosen] = -math.inf, 0.0
        mean[chosen] = total[chosen] / pulls[chosen]
        if t == rounds[reported]:
            counts[reported] = pulls
            reported += 1
    return actions, counts
