"""Slow, obvious versions of the full-information algorithms, written from the papers.

Plain Python, every loss vector kept in a list. Randomness is drawn in the order of the pseudocode.
FTNL and softmax on random prefixes stand in the notebooks on wu2026 and cesari2026.
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


class Phased:
    """companion/constants: epochs of ceil(growth^(i + U)) rounds, U uniform, drawn first, or 0."""

    def __init__(self, noise, scale, growth, random_phase, resampling=False):
        self.noise, self.scale, self.resampling = noise, scale, resampling
        self.growth, self.random_phase = growth, random_phase

    def choose(self, vectors, actions, rng):
        sums = [sum(v[j] for v in vectors) for j in range(actions)]
        scores = [self.scale * DRAWS[self.noise](rng) - total for total in sums]
        return scores.index(max(scores))

    def play(self, losses, rng):
        table = [tuple(row) for row in np.asarray(losses, float).tolist()]
        actions, played = len(table[0]), []
        action = math.floor(rng.random() * actions)
        size = self.growth ** (rng.random() if self.random_phase else 0.0)
        while True:
            seen = table[len(played) : len(played) + math.ceil(size)]
            if self.resampling:
                seen = [[float(rng.random() < x) for x in vector] for vector in seen]
            played += [action] * len(seen)
            if len(played) == len(table):
                return played
            action, size = self.choose(seen, actions, rng), size * self.growth


class Leader(Phased):
    """Epochs without noise; the k-th of the smallest sums takes the lead with probability 1 / k."""

    def __init__(self, resampling=False):
        super().__init__(None, None, 2.0, False, resampling)

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
