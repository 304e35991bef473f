"""UCB1 (Auer, Cesa-Bianchi and Fischer 2002), the non-private reference."""

import math
from dataclasses import dataclass

import numpy as np

from privregret.algorithm import NOT_PRIVATE
from privregret.bandits.base import DRAWN, RoundByRound
from privregret.jit import jit


@dataclass(frozen=True)
class UCB1(RoundByRound):
    """UCB1: index mean + sqrt(2 ln t / n) with t the number of rounds played; ties broken at random.

    No privacy. Anytime, O(K) memory.
    """

    label = "UCB1"
    source = "Auer, Cesa-Bianchi and Fischer 2002"
    privacy = NOT_PRIVATE

    def _kernel(self, means, rounds, rewards=DRAWN):
        return _loop, (rewards, means, rounds)


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
def _loop(rewards, means, rounds, rng):
    literal = len(rewards) > 0
    arms = len(means)
    actions = np.empty(len(rewards), np.int64)
    counts = np.empty((len(rounds), arms), np.int64)
    total = np.zeros(arms)
    pulls = np.zeros(arms, np.int64)
    reported = 0
    for t in range(rounds[-1]):
        j = t if t < arms else _leader(total, pulls, t, rng)
        if literal:
            actions[t] = j
            total[j] += rewards[t, j]
        elif rng.random() < means[j]:
            total[j] += 1.0
        pulls[j] += 1
        if t + 1 == rounds[reported]:
            counts[reported] = pulls
            reported += 1
    return actions, counts
