"""UCB1 (Auer, Cesa-Bianchi and Fischer 2002), the non-private reference."""

import math
from dataclasses import dataclass

import numpy as np

from privregret.bandits.base import BanditAlgorithm, keep_pulling
from privregret.core.algorithm import NOT_PRIVATE, NOTHING, Steps
from privregret.core.jit import jit

ARM = np.dtype([("total", float), ("pulls", np.int64)])


@jit
def _choose(arms, own, settings, t, rng):
    """Return the arm of round t."""
    if t <= len(arms):
        return t - 1
    log_t = math.log(t - 1)
    best, leader, ties = -math.inf, 0, 0
    for j in range(len(arms)):
        n = arms[j]["pulls"]
        index = arms[j]["total"] / n + math.sqrt(2 * log_t / n)
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
    # The index of an arm that is not pulled grows only with ln t. So the other indices stay below
    # a bound for some rounds, and the leader leads while its own index is above the bound. If arms
    # are tied, each round has its draws.
    arms = len(means)
    counts = np.empty((len(checkpoints), arms), np.int64)
    total = np.zeros(arms)
    pulls = np.zeros(arms, np.int64)
    mean = np.zeros(arms)
    width = np.zeros(arms)  # factor of sqrt(2 ln t)
    reported = 0
    t = 0
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
                slope = second + widest * left / (t * root)  # sqrt(2 ln t) is concave
                slope *= 1 + 1e-12
                start = pulls[j] * (slope - width[j] * root)
        pulled, total[j] = keep_pulling(means[j], left, total[j], start, slope, rng)
        t += pulled
        pulls[j] += pulled
        mean[j] = total[j] / pulls[j]
        width[j] = math.sqrt(1 / pulls[j])
        if t == checkpoints[reported]:
            for i in range(arms):
                counts[reported, i] = pulls[i]
            reported += 1
    return counts


@dataclass(frozen=True)
class UCB1(BanditAlgorithm):
    """UCB1: index mean + sqrt(2 ln t / n) with t the number of rounds played.

    Ties are broken at random. No privacy. Anytime, O(K) memory.
    """

    id = "ucb1"
    label = "UCB1"
    source = "Auer, Cesa-Bianchi and Fischer 2002"
    privacy = NOT_PRIVATE
    steps = Steps(ARM, NOTHING, _choose, _observe)
    events = _pull_counts
