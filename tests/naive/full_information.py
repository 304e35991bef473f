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
    """hu2021, Algorithms 2, 3; wu2026, Algorithm 1; cesari2026, Section 4: epochs of 2^i rounds."""

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

    def sizes(self, rng):
        return (2**s for s in itertools.count())

    def play(self, losses, rng):
        table = [tuple(row) for row in np.asarray(losses, float).tolist()]
        actions, played = len(table[0]), []
        action = math.floor(rng.random() * actions)
        for n in self.sizes(rng):
            used, seen = self.length(n, rng), []
            for position, vector in enumerate(table[len(played) : len(played) + n]):
                played.append(action)
                if position < used:
                    bits = [float(rng.random() < x) for x in vector] if self.resampling else vector
                    seen.append(bits)
            if len(played) == len(table):
                return played
            action = self.choose(seen, actions, rng)


class Leader(Epochs):
    """Epochs without noise; the k-th of the smallest sums takes the lead with probability 1 / k."""

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
    """Exponential weights, inverse temperature rate sqrt(ln K / t); infinite rate: the leaders."""
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
    """P[J = j] for independent Bernoulli losses; `win(sums)` has the probabilities given sums."""
    result = np.zeros(len(means))
    for sums in itertools.product(range(rounds + 1), repeat=len(means)):
        p = math.prod(
            math.comb(rounds, g) * m**g * (1 - m) ** (rounds - g)
            for g, m in zip(sums, means, strict=True)
        )
        result += p * np.asarray(win(sums))
    return result


class Phased(Epochs):
    """companion/constants: epochs of ceil(growth^(i + U)) rounds, U uniform, drawn first, or 0."""

    def __init__(self, noise, scale, growth, random_phase, resampling=False):
        super().__init__(noise, scale, "full", resampling)
        self.growth, self.random_phase = growth, random_phase

    def sizes(self, rng):
        size = self.growth ** (rng.random() if self.random_phase else 0.0)
        while True:
            yield math.ceil(size)
            size *= self.growth
