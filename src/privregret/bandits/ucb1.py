"""UCB1 (Auer, Cesa-Bianchi and Fischer 2002), the non-private reference."""

import math
from dataclasses import dataclass

import numpy as np

from privregret.bandits.base import BanditAlgorithm
from privregret.jit import jit


@dataclass(frozen=True)
class UCB1(BanditAlgorithm):
    """UCB1: index mean + sqrt(2 ln t / n) with t the number of rounds played; ties broken at random.

    No privacy. Anytime, O(K) memory.
    """

    label = "UCB1"
    source = "Auer, Cesa-Bianchi and Fischer 2002"

    def _play(self, rewards, rng):
        return _play(rewards, rng)

    def _pull_counts(self, means, horizons, rng):
        """Round by round."""
        return _pull_counts(means, horizons, rng)


@jit
def _leader(total, pulls, t, rng):
    log_t = math.log(t)
    best, leader, ties = -math.inf, 0, 0
    for j in range(len(total)):
        index = total[j] / pulls[j] + math.sqrt(2 * log_t / pulls[j])
        if index > best:
            best, leader, ties = index, j, 1
        elif index == best:
            ties += 1
            if ties * rng.random() < 1:
                leader = j
    return leader


@jit
def _play(rewards, rng):
    horizon, arms = rewards.shape
    actions = np.empty(horizon, np.int64)
    total = np.zeros(arms)
    pulls = np.zeros(arms, np.int64)
    for t in range(horizon):
        j = t if t < arms else _leader(total, pulls, t, rng)
        actions[t] = j
        total[j] += rewards[t, j]
        pulls[j] += 1
    return actions


@jit
def _pull_counts(means, horizons, rng):
    arms = len(means)
    counts = np.empty((len(horizons), arms), np.int64)
    total = np.zeros(arms)
    pulls = np.zeros(arms, np.int64)
    t = 0
    for h in range(len(horizons)):
        while t < horizons[h]:
            j = t if t < arms else _leader(total, pulls, t, rng)
            total[j] += 1.0 if rng.random() < means[j] else 0.0
            pulls[j] += 1
            t += 1
        counts[h] = pulls
    return counts
