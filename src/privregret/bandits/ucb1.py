"""UCB1 (Auer, Cesa-Bianchi and Fischer 2002), the non-private reference."""

import math
from dataclasses import dataclass

import numpy as np

from privregret.algorithm import NOT_PRIVATE
from privregret.bandits.base import DRAWN, RoundByRound, keep_pulling
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
def _loop(rewards, means, rounds, rng):
    # The index of an arm that is not pulled grows with ln t only: for some rounds the others' stay below a bound, and
    # the leader leads while its own is above it. If arms are tied, each round has its draws.
    arms = len(means)
    actions = np.empty(len(rewards), np.int64)
    counts = np.empty((len(rounds), arms), np.int64)
    total = np.zeros(arms)
    pulls = np.zeros(arms, np.int64)
    mean = np.zeros(arms)
    width = np.zeros(arms)  # factor of sqrt(2 ln t)
    reported = 0
    t = 0
    while t < rounds[-1]:
        j, end, start, slope = t, t + 1, 0.0, 0.0
        if t >= arms:
            root = math.sqrt(2 * math.log(t))
            best, second, widest, ties, tied = -math.inf, -math.inf, 0.0, 0, False
            for i in range(arms):
                index = mean[i] + width[i] * root
                widest = width[i] if width[i] > widest else widest
                if index == best:
                    ties, tied = ties + 1, True
                    if ties * rng.random() < 1:
                        j = i
                    continue
                ahead = index > best
                low = best if ahead else index
                second = low if low > second else second
                best = index if ahead else best
                j = i if ahead else j
                ties = 1 if ahead else ties
            if not tied:
                end = min(t + 1 + min(64, t // 64), rounds[reported])
                slope = (second + widest * (end - t) / (t * root)) * (1 + 1e-12)  # sqrt(2 ln t) is concave
                start = pulls[j] * (slope - width[j] * root)
        pulled, total[j] = keep_pulling(rewards, means, actions, j, t, end, total[j], start, slope, rng)
        t += pulled
        pulls[j] += pulled
        mean[j] = total[j] / pulls[j]
        width[j] = math.sqrt(1 / pulls[j])
        if t == rounds[reported]:
            counts[reported] = pulls
            reported += 1
    return actions, counts
