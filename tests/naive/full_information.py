"""Slow, obvious versions of the full-information algorithms, written from the papers.

Plain Python, every loss vector kept in a list. Randomness is drawn in the order of the pseudocode,
by methods of their own, so that a faulty variant is a subclass that overrides one of them.
"""

import itertools
import math

import numpy as np

from naive import laplace

DRAWS = {  # one draw of scale 1
    "laplace": lambda rng: laplace(1.0, rng),
    "exponential": lambda rng: rng.standard_exponential(),
    "gumbel": lambda rng: -math.log(rng.standard_exponential()),
}


class Epochs:
    """hu2021, Algorithm 2 with 3; wu2026, Algorithm 1; cesari2026, Section 4: epochs of 1, 2, 4,
    ... rounds."""

    def __init__(self, noise, scale, prefix="full", resampling=False):
        self.noise, self.scale, self.prefix, self.resampling = noise, scale, prefix, resampling

    def draw(self, rng):
        return self.scale * DRAWS[self.noise](rng)

    def length(self, n, rng):
        if self.prefix == "full" or n == 1:
            return n
        return n // 2 + 1 + (math.floor(rng.random() * (n // 2)) if self.prefix == "random" else 0)

    def choose(self, vectors, actions, rng):
        scores = [self.draw(rng) - sum(v[j] for v in vectors) for j in range(actions)]
        return max(range(actions), key=lambda j: scores[j])

    def play(self, losses, rng):
        table = [tuple(row) for row in np.asarray(losses, float).tolist()]
        actions = len(table[0])
        action = math.floor(rng.random() * actions)
        played = []
        for s in itertools.count():
            n = 2**s
            used = self.length(n, rng)
            seen = []
            for position in range(n):
                if len(played) == len(table):
                    return played
                vector = table[len(played)]
                played.append(action)
                if position < used:
                    seen.append(
                        [float(rng.random() < x) for x in vector] if self.resampling else vector
                    )
            if len(played) == len(table):
                return played
            action = self.choose(seen, actions, rng)


class Leader(Epochs):
    """Epochs without noise; of the actions with the least sum, the k-th takes the lead with chance
    1 / k."""

    def __init__(self, resampling=False):
        super().__init__(None, None, resampling=resampling)

    def choose(self, vectors, actions, rng):
        sums = [sum(v[j] for v in vectors) for j in range(actions)]
        chosen, tied = 0, 1
        for j in range(1, actions):
            if sums[j] < sums[chosen] - 1e-9:
                chosen, tied = j, 1
            elif sums[j] <= sums[chosen] + 1e-9:
                tied += 1
                if rng.random() < 1 / tied:
                    chosen = j
        return chosen


def hedge(losses, rate, rng):
    """Exponential weights with inverse temperature rate sqrt(ln K / t) on the losses before round
    t; infinite rate: the leaders."""
    table = np.asarray(losses, float)
    played = []
    for t in range(1, len(table) + 1):
        total = table[: t - 1].sum(axis=0)
        if rate == math.inf:
            weights = (total <= total.min() + 1e-9).astype(float)
        else:
            weights = np.exp(-rate * math.sqrt(math.log(len(total)) / t) * (total - total.min()))
        pick = rng.random() * weights.sum()
        played.append(next(j for j in range(len(weights)) if pick < weights[: j + 1].sum()))
    return played


def selection_by_enumeration(means, rounds, win):
    """P[J = j] for independent Bernoulli losses: `win(sums)` gives the probabilities for fixed
    sums; all are listed."""
    result = np.zeros(len(means))
    for sums in itertools.product(range(rounds + 1), repeat=len(means)):
        p = math.prod(
            math.comb(rounds, g) * m**g * (1 - m) ** (rounds - g)
            for g, m in zip(sums, means, strict=True)
        )
        result += p * np.asarray(win(sums))
    return result
