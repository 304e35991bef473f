"""IMED (Honda and Takemura 2015), a non-private reference that is asymptotically optimal."""

import math
from dataclasses import dataclass

import numpy as np

from privregret.bandits.base import BanditAlgorithm
from privregret.divergence import kl
from privregret.jit import jit


@dataclass(frozen=True)
class IMED(BanditAlgorithm):
    """IMED for Bernoulli arms: pulls the arm with the smallest n kl(mean, largest mean) + ln n; ties at random.

    No privacy. Anytime, O(K) memory. Rewards between 0 and 1 are allowed; the guarantee is for 0 and 1.
    """

    label = "IMED"
    source = "Honda and Takemura 2015"

    def _play(self, rewards, rng):
        return _run(rewards, np.zeros(rewards.shape[1]), np.array([len(rewards)]), rng)[0]

    def _pull_counts(self, means, horizons, rng):
        """Round by round: every pull moves an index."""
        return _run(np.empty((0, len(means))), means, horizons, rng)[1]


@jit
def _run(rewards, means, horizons, rng):
    """Actions on a table of rewards, or pull counts on Bernoulli arms if the table has no rows."""
    literal = len(rewards) > 0
    arms = len(means)
    actions = np.empty(len(rewards), np.int64)
    counts = np.empty((len(horizons), arms), np.int64)
    total = np.zeros(arms)
    mean = np.zeros(arms)
    pulls = np.zeros(arms, np.int64)
    reported = 0
    for t in range(horizons[-1]):
        chosen = t
        if t >= arms:
            top = mean.max()
            best, ties = math.inf, 0
            for j in range(arms):
                index = pulls[j] * kl(mean[j], top) + math.log(pulls[j])
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
        mean[chosen] = total[chosen] / pulls[chosen]
        if t + 1 == horizons[reported]:
            counts[reported] = pulls
            reported += 1
    return actions, counts
