"""Anytime-Lazy-UCB (hu2021, Algorithm 1)."""

import math
from dataclasses import dataclass

import numpy as np

from privregret import checks
from privregret.algorithm import Privacy
from privregret.bandits.base import BanditAlgorithm
from privregret.jit import jit
from privregret.noise import laplace
from privregret.reporting import report


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
def _pull_counts(means, rounds, epsilon, rng):
    # Between two releases an index is m + b sqrt(ln t) + c ln t with b and c falling in the array's size. The
    # difference of two indices is therefore monotone in t: the leader is overtaken at most once, for good,
    # and only by an arm with a smaller array. So "somebody else leads" is monotone too, and bisection
    # finds the round of the change; a full array's sum is one binomial draw.
    arms = len(means)
    horizon = rounds[-1]
    counts = np.empty((len(rounds), arms), np.int64)
    pulls = np.zeros(arms, np.int64)
    mean = np.empty(arms)
    size = np.ones(arms, np.int64)
    missing = np.full(arms, 2)  # pulls until the array being filled is full
    reported = 0
    t = 1
    while t <= horizon:
        if t <= arms:
            j, end = t - 1, t + 1
        else:
            j = _leader(mean, size, epsilon, t)
            end = min(t + missing[j], horizon + 1)
            if _leader(mean, size, epsilon, end - 1) != j:
                low, high = t, end - 1  # j leads at low, not at high
                while high - low > 1:
                    middle = low + (high - low) // 2
                    if _leader(mean, size, epsilon, middle) == j:
                        low = middle
                    else:
                        high = middle
                end = high
        reported = report(counts, rounds, reported, pulls, j, end - 1)
        pulls[j] += end - t
        if t <= arms:
            mean[j] = rng.binomial(1, means[j]) + laplace(1 / epsilon, rng)
        else:
            missing[j] -= end - t
            if missing[j] == 0:
                size[j] *= 2
                mean[j] = (rng.binomial(size[j], means[j]) + laplace(1 / epsilon, rng)) / size[j]
                missing[j] = 2 * size[j]
        t = end
    return counts
