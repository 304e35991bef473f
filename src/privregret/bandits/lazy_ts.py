"""Lazy-DP-TS (Hu and Hegde 2022)."""

import math
from dataclasses import dataclass

import numpy as np

from privregret import checks
from privregret.bandits.base import BanditAlgorithm
from privregret.jit import jit

BONUS = 3.0


@dataclass(frozen=True)
class LazyDPTS(BanditAlgorithm):
    """Lazy-DP-TS: Thompson sampling from optimistic private means, one noisy sum per full array of 2, 4, 8, ... pulls.

    An arm whose last full array holds n = 2^r pulls with private mean m has u = m + 3 ln t / (epsilon n), clipped to
    [0, 1]; in every round t each arm draws from Beta(u n + 1, (1 - u) n + 1) and the largest draw is pulled.

    The paper's text was not to be had: this follows a published description of it, and the arrays, the noised first pull
    and the bonus of Anytime-Lazy-UCB, its sister algorithm. The constant 3 and the natural logarithm rest on these.

    Privacy: epsilon-DP for the sequence of actions when one round's rewards are replaced, since each reward
    enters exactly one released sum, with Laplace noise of scale 1 / epsilon. Anytime, O(K) memory.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, above 0.
    """

    epsilon: float
    label = "Lazy-DP-TS"
    source = "Hu and Hegde 2022; azize2025, Section 5"

    def __post_init__(self):
        object.__setattr__(self, "epsilon", checks.positive("epsilon", self.epsilon))

    def _play(self, rewards, rng):
        return _play(rewards, self.epsilon, rng)

    def _pull_counts(self, means, horizons, rng):
        """Round by round, since every round draws anew; an array's sum is one binomial draw."""
        return _pull_counts(means, horizons, self.epsilon, rng)


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
        mean[j] = rewards[j, j] + rng.laplace(0.0, 1 / epsilon)
    for t in range(arms + 1, horizon + 1):
        best, chosen = -1.0, 0
        for j in range(arms):
            u = min(max(mean[j] + BONUS * math.log(t) / (epsilon * size[j]), 0.0), 1.0)
            draw = rng.beta(u * size[j] + 1, (1 - u) * size[j] + 1)
            if draw > best:
                best, chosen = draw, j
        actions[t - 1] = chosen
        total[chosen] += rewards[t - 1, chosen]
        filled[chosen] += 1
        if filled[chosen] == 2 * size[chosen]:
            size[chosen] *= 2
            mean[chosen] = (total[chosen] + rng.laplace(0.0, 1 / epsilon)) / size[chosen]
            total[chosen] = 0.0
            filled[chosen] = 0
    return actions


@jit
def _gamma(shape, rng):
    """A gamma draw of a shape of at least 1, in half the time of `Generator.gamma` (Marsaglia and Tsang 2000)."""
    d = shape - 1 / 3
    c = 1 / math.sqrt(9 * d)
    while True:
        x = rng.standard_normal()
        v = 1 + c * x
        if v > 0:
            v = v * v * v
            x = x * x
            u = rng.random()
            if u < 1 - 0.0331 * x * x or math.log(u) < 0.5 * x + d * (1 - v + math.log(v)):
                return d * v


@jit
def _pull_counts(means, horizons, epsilon, rng):
    arms = len(means)
    counts = np.empty((len(horizons), arms), np.int64)
    mean = np.empty(arms)
    size = np.ones(arms)
    bonus = np.full(arms, BONUS / epsilon)  # factor of ln t
    pulls = np.ones(arms, np.int64)
    missing = np.full(arms, 2)  # pulls until the array being filled is full
    for j in range(arms):
        mean[j] = rng.binomial(1, means[j]) + rng.laplace(0.0, 1 / epsilon)
    reported = 0
    while horizons[reported] < arms:
        counts[reported] = np.arange(arms) < horizons[reported]
        reported += 1
    for t in range(arms, horizons[-1] + 1):
        if t > arms:
            log_t = math.log(t)
            best, chosen = -1.0, 0
            for j in range(arms):
                u = mean[j] + bonus[j] * log_t
                if u >= 1:  # Beta(size + 1, 1)
                    draw = math.exp(-rng.standard_exponential() / (size[j] + 1))
                else:
                    u = max(u, 0.0)
                    x = _gamma(u * size[j] + 1, rng)
                    draw = x / (x + _gamma((1 - u) * size[j] + 1, rng))
                if draw > best:
                    best, chosen = draw, j
            pulls[chosen] += 1
            missing[chosen] -= 1
            if missing[chosen] == 0:
                size[chosen] *= 2
                total = rng.binomial(np.int64(size[chosen]), means[chosen]) + rng.laplace(0.0, 1 / epsilon)
                mean[chosen] = total / size[chosen]
                bonus[chosen] = BONUS / (epsilon * size[chosen])
                missing[chosen] = 2 * np.int64(size[chosen])
        if t == horizons[reported]:
            counts[reported] = pulls
            reported += 1
    return counts
