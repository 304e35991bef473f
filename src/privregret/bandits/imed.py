"""IMED (Honda and Takemura 2015), a non-private reference that is asymptotically optimal."""

import math
from dataclasses import dataclass

import numpy as np

from privregret.algorithm import NOT_PRIVATE
from privregret.bandits.base import DRAWN, RoundByRound
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
    # is above the smallest so far.
    literal = len(rewards) > 0
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
    for t in range(rounds[-1]):
        chosen = t
        if t >= arms:
            top = mean[0]
            for j in range(1, arms):
                top = max(top, mean[j])
            best, ties = math.inf, 0
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
                    ties += 1
                    if ties * rng.random() < 1:
                        chosen = j
        if literal:
            actions[t] = chosen
            total[chosen] += rewards[t, chosen]
        elif rng.random() < means[chosen]:
            total[chosen] += 1.0
        pulls[chosen] += 1
        log_pulls[chosen] = math.log(pulls[chosen])
        height[chosen], slope[chosen] = -math.inf, 0.0
        mean[chosen] = total[chosen] / pulls[chosen]
        if t + 1 == rounds[reported]:
            counts[reported] = pulls
            reported += 1
    return actions, counts
