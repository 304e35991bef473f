"""UCB1 (Auer, Cesa-Bianchi and Fischer 2002), the non-private reference."""

import math
from dataclasses import dataclass

import numpy as np

from privregret.bandits.base import BanditAlgorithm
from privregret.bandits.index import ARM, keep_pulling, leader, observe, report
from privregret.core.algorithm import NOT_PRIVATE, NOTHING, Steps
from privregret.core.jit import jit


@jit
def _choose(arms, state, settings, t, rng):
    """Play each arm once, then one with the largest index: mean + sqrt(2 ln(t - 1) / n)."""
    if t <= len(arms):
        return t - 1
    log_t = math.log(t - 1)
    for j in range(len(arms)):
        n = arms[j]["pulls"]
        arms[j]["index"] = arms[j]["total"] / n + math.sqrt(2 * log_t / n)
    return leader(arms, rng)


@jit
def _pull_counts(means, checkpoints, settings, rng):
    # The index of an arm that is not pulled grows only with ln t. So the other indices stay below
    # a bound for some rounds, and the leader leads while its own index is above the bound. If arms
    # are tied, each round has its draws.
    arms = len(means)
    counts = np.empty((len(checkpoints), arms), np.int64)
    total = np.zeros(arms)
    pulls = np.zeros(arms, np.int64)
    mean = np.zeros(arms)
    # factor of sqrt(2 ln t)
    width = np.zeros(arms)
    reported = t = 0
    while t < checkpoints[-1]:
        j, left, start, slope = t, 1, 0.0, 0.0
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
                left = min(1 + min(64, t // 64), checkpoints[reported] - t)
                # sqrt(2 ln t) is concave
                slope = second + widest * left / (t * root)
                slope *= 1 + 1e-12
                start = pulls[j] * (slope - width[j] * root)
        pulled, total[j] = keep_pulling(means[j], left, total[j], start, slope, rng)
        t += pulled
        reported = report(counts, checkpoints, reported, pulls, j, t)
        pulls[j] += pulled
        mean[j] = total[j] / pulls[j]
        width[j] = math.sqrt(1 / pulls[j])
    return counts


@dataclass(frozen=True)
class UCB1(BanditAlgorithm):
    """UCB1: index mean + sqrt(2 ln t / n) with t the number of rounds played.

    Ties are random. No privacy. Anytime, O(K) memory. Twin: tests/naive/bandits.py, `UCB1`.
    """

    id = "ucb1"
    label = "UCB1"
    source = "Auer, Cesa-Bianchi and Fischer 2002"
    privacy = NOT_PRIVATE
    steps = Steps(ARM, NOTHING, _choose, observe)
    fast_run = _pull_counts
