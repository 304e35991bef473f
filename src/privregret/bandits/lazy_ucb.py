"""Anytime-Lazy-UCB (hu2021, Algorithm 1)."""

import math
from dataclasses import dataclass

import numpy as np

from privregret import checks
from privregret.algorithm import Privacy
from privregret.bandits.base import BanditAlgorithm
from privregret.bandits.queues import add, no_queues, take
from privregret.bandits.reporting import report
from privregret.jit import jit
from privregret.noise import laplace


@dataclass(frozen=True)
class AnytimeLazyUCB(BanditAlgorithm):
    """Anytime-Lazy-UCB: one noisy sum per full array of 2, 4, 8, ... pulls, older arrays forgotten.

    The index of an arm whose last full array holds n = 2^r pulls with private mean m is
    m + sqrt(3 ln t / n) + 3 ln t / (epsilon n), t being the round about to be played (equation 4).

    Privacy: epsilon-DP for the sequence of actions when one round's rewards are replaced, since each
    reward enters exactly one released sum, with Laplace noise of scale 1 / epsilon. The first pull of an arm is
    array 0, of one pull, and noised like the others (equation 3). Anytime, O(K) memory.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, above 0.
    """

    epsilon: float
    label = "Anytime-Lazy-UCB"
    source = "hu2021, Algorithm 1"
    rules = {"epsilon": checks.positive}

    @property
    def privacy(self):
        return Privacy(self.epsilon, self.epsilon)

    def _play(self, rewards, rng):
        return _play(rewards, self.epsilon, rng)

    def _kernel(self, means, rounds):
        """Event by event: K releases for each doubling of T, and a few changes of the leader between them."""
        return _pull_counts, (means, rounds, self.epsilon)


@jit
def _leader(mean, size, epsilon, t):
    """Arm with the largest index (4) in round t; the lowest of several."""
    log_t = math.log(t)
    best, leader = -math.inf, 0
    for j in range(len(mean)):
        index = mean[j] + math.sqrt(3 * log_t / size[j]) + 3 * log_t / (epsilon * size[j])
        if index > best:
            best, leader = index, j
    return leader


@jit
def _play(rewards, epsilon, rng):
    horizon, arms = rewards.shape
    actions = np.empty(horizon, np.int64)
    mean = np.empty(arms)  # private mean of the last full array
    size = np.ones(arms, np.int64)  # its size, 2^r
    total = np.zeros(arms)  # sum and number of pulls in the array being filled, of size 2^(r+1)
    filled = np.zeros(arms, np.int64)
    for j in range(arms):
        actions[j] = j
        mean[j] = rewards[j, j] + laplace(1 / epsilon, rng)
    for t in range(arms + 1, horizon + 1):
        j = _leader(mean, size, epsilon, t)
        actions[t - 1] = j
        total[j] += rewards[t - 1, j]
        filled[j] += 1
        if filled[j] == 2 * size[j]:
            size[j] *= 2
            mean[j] = (total[j] + laplace(1 / epsilon, rng)) / size[j]
            total[j] = 0.0
            filled[j] = 0
    return actions


@jit
def _leading_queue(arms, queues, epsilon, t):
    """Queue whose head has the largest index in round t; of several, that with the lowest arm."""
    log_t = math.log(t)
    best, leader, q = -math.inf, 0, 0
    while queues[q]["pulls"] >= 0:
        j, size = queues[q]["head"], queues[q]["pulls"]
        if j >= 0:
            index = arms[j]["mean"] + math.sqrt(3 * log_t / size) + 3 * log_t / (epsilon * size)
            if index > best or (index == best and j < queues[leader]["head"]):
                best, leader = index, q
        q += 1
    return leader


@jit
def _overtaken(arms, queues, leader, epsilon):
    """Round from which on another arm leads; one above 2^62 if that is later.

    An index is m + b s + c s^2 with s = sqrt(ln t), b and c falling in the array's size. So the leader is overtaken by
    arms with smaller arrays only, by each at most once, for good: where s solves a quadratic equation.
    """
    size, mean = queues[leader]["pulls"], arms[queues[leader]["head"]]["mean"]
    root = math.sqrt(3 / size)
    first, q = 43.0, 0  # e^43 lies between 2^62 and 2^63
    while queues[q]["pulls"] >= 0:
        j, smaller = queues[q]["head"], queues[q]["pulls"]
        if j >= 0 and smaller < size:
            ahead, b, c = mean - arms[j]["mean"], math.sqrt(3 / smaller) - root, 3 / epsilon * (1 / smaller - 1 / size)
            s = 2 * ahead / (b + math.sqrt(b * b + 4 * ahead * c))
            first = min(first, s * s)
        q += 1
    return np.int64(math.exp(first)) + 1


@jit
def _pull_counts(means, rounds, epsilon, rng):
    # The leader is pulled until its array is full or it is overtaken; a full array's sum is one binomial draw.
    arms = len(means)
    horizon = rounds[-1]
    counts = np.empty((len(rounds), arms), np.int64)
    pulls = np.zeros(arms, np.int64)
    missing = np.ones(arms, np.int64)  # pulls until the array being filled is full
    waiting, queues = no_queues(arms)  # by the size of the last full array
    reported = 0
    t = 1
    while t <= horizon:
        j, q, size, end = t - 1, -1, 1, t + 1
        if t > arms:
            q = _leading_queue(waiting, queues, epsilon, t)
            j, size = queues[q]["head"], 2 * queues[q]["pulls"]
            least = t + 1 + (t >> 46)  # beyond 2^46 rounds that is how well the one in which it is overtaken is known
            end = min(t + missing[j], horizon + 1, max(least, _overtaken(waiting, queues, q, epsilon)))
        reported = report(counts, rounds, reported, pulls, j, end - 1)
        pulls[j] += end - t
        missing[j] -= end - t
        t = end
        if missing[j] == 0:
            if q >= 0:
                take(waiting, queues, q)
            mean = (rng.binomial(size, means[j]) + laplace(1 / epsilon, rng)) / size
            add(waiting, queues, size, j, mean, True, rng)
            missing[j] = 2 * size
    return counts
