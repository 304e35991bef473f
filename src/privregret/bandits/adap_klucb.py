"""AdaP-KLUCB (Azize and Basu 2022)."""

import math
from dataclasses import dataclass

import numpy as np

from privregret import checks
from privregret.algorithm import Privacy
from privregret.bandits.base import BanditAlgorithm
from privregret.bandits.queues import HUGE, add, foremost, no_queues, take
from privregret.bandits.reporting import report
from privregret.divergence import kl, kl_inverse, kl_inverse_bound
from privregret.jit import jit
from privregret.noise import laplace


@dataclass(frozen=True)
class AdaPKLUCB(BanditAlgorithm):
    """AdaP-KLUCB: each time an arm is chosen its pulls double; its mean forgets all but that last episode.

    With n the length of the arm's last episode and m its private mean, the index in round t is the largest q in [0, 1]
    with n kl(c, q) <= alpha ln t, where c = m + alpha ln t / (epsilon n), clipped to [0, 1]. Ties at random.

    Privacy: epsilon-DP for the sequence of actions when one round's rewards are replaced, since each reward
    enters exactly one released sum, with Laplace noise of scale 1 / epsilon. Anytime, O(K) memory.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, above 0.
    alpha : float
        Optimism, above 0. Its regret bound needs more than 3; all comparisons use 3.1.
    """

    epsilon: float
    alpha: float = 3.1
    label = "AdaP-KLUCB"
    source = "Azize and Basu 2022, Algorithm 1; azize2025, Section 5"
    rules = {"epsilon": checks.positive, "alpha": checks.positive}

    @property
    def privacy(self):
        return Privacy(self.epsilon, self.epsilon)

    def _play(self, rewards, rng):
        return _play(rewards, self.epsilon, self.alpha, rng)

    def _kernel(self, means, rounds):
        """Episode by episode: O(K log T) draws, whatever the horizon."""
        return _pull_counts, (means, rounds, self.epsilon, self.alpha)


@jit
def _leader(mean, size, t, epsilon, alpha, rng):
    """Arm with the largest index in round t; of several, one at random."""
    log_t = math.log(t)
    best, leader, ties = -math.inf, 0, 0
    for j in range(len(mean)):
        bonus = alpha * log_t / size[j]
        index = kl_inverse(min(max(mean[j] + bonus / epsilon, 0.0), 1.0), bonus)
        if index > best:
            best, leader, ties = index, j, 1
        elif index == best:
            ties += 1
            if ties * rng.random() < 1:
                leader = j
    return leader


@jit
def _play(rewards, epsilon, alpha, rng):
    horizon, arms = rewards.shape
    actions = np.empty(horizon, np.int64)
    mean = np.zeros(arms)  # private mean of the last episode
    size = np.zeros(arms, np.int64)  # its length
    pulls = np.zeros(arms, np.int64)
    t = 0  # rounds played
    while t < horizon:
        j = t if t < arms else _leader(mean, size, t + 1, epsilon, alpha, rng)
        size[j] = max(pulls[j], 1)
        total = 0.0
        for _ in range(min(size[j], horizon - t)):
            actions[t] = j
            total += rewards[t, j]
            t += 1
        pulls[j] += size[j]
        mean[j] = (total + laplace(1 / epsilon, rng)) / size[j]  # of no use if the horizon cut the episode
    return actions


@jit
def _next(arms, queues, t, epsilon, alpha, rng):
    """Take the arm with the largest index in round t out of its queue. Arms whose index has reached 1 have 0 pulls."""
    log_t = math.log(t)
    while True:
        q, bound, second = foremost(queues, log_t)
        size, value, slope = queues[q]["pulls"], 1.0, 0.0
        if size == 0:
            if bound == 1:
                return take(arms, queues, q)
        else:
            bonus = alpha * log_t / size
            x = arms[queues[q]["head"]]["mean"] + bonus / epsilon
            if bound >= 1:
                bound = kl_inverse_bound(min(max(x, 0.0), 1.0), bonus)
                if bound >= 1:  # and so it stays
                    add(arms, queues, 0, take(arms, queues, q), 1.0, False, rng)
                    continue
            y = min(bound, second)
            if x <= 0:
                value, slope = -math.expm1(-bonus), HUGE
                if value >= second:
                    return _any(arms, queues, q, rng)
            elif y <= x:
                return take(arms, queues, q)
            else:
                step = y * (1 - y) / (y - x)
                value = y - (kl(x, y) - bonus) * step  # of Newton's, from above
                if value >= second:
                    return take(arms, queues, q)
                slope = alpha / size * (1 - math.log(x * (1 - y) / (y * (1 - x))) / epsilon) * step
        queues[q]["value"], queues[q]["slope"], queues[q]["place"] = value, slope, log_t


@jit
def _any(arms, queues, q, rng):
    """Take an arm at random out of a queue in which all tie, their means clipped to 0: it is short, and this rare."""
    size = queues[q]["pulls"]
    chosen, seen = take(arms, queues, q), 1
    others = [chosen]
    while queues[q]["head"] >= 0:
        others.append(take(arms, queues, q))
        seen += 1
        if seen * rng.random() < 1:
            chosen = others[-1]
    for j in others:
        if j != chosen:
            add(arms, queues, size, j, arms[j]["mean"], False, rng)
    return chosen


@jit
def _pull_counts(means, rounds, epsilon, alpha, rng):
    horizon, arms = rounds[-1], len(means)
    counts = np.empty((len(rounds), arms), np.int64)
    pulls = np.zeros(arms, np.int64)
    waiting, queues = no_queues(arms)  # by the length of the last episode
    reported = 0
    t = 0
    while t < horizon:
        j = t if t < arms else _next(waiting, queues, t + 1, epsilon, alpha, rng)
        size = max(pulls[j], 1)
        reported = report(counts, rounds, reported, pulls, j, t + size)
        t += size
        pulls[j] += size
        mean = (rng.binomial(size, means[j]) + laplace(1 / epsilon, rng)) / size
        add(waiting, queues, size, j, mean, False, rng)
    return counts
