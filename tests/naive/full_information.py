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


def pick(weights, rng):
    """An index with probability proportional to its weight."""
    point = rng.random() * sum(weights)
    for j, w in enumerate(weights[:-1]):
        if point < w:
            return j
        point -= w
    return len(weights) - 1


class Votes:
    """companion/constants, Theorem 2: an action drawn from the votes of the previous epoch."""

    def __init__(self, epsilon, lam=None):
        self.epsilon, self.lam = epsilon, lam

    def prepare(self, actions):
        self.K, self.l = actions, self.lam or 1 + math.log(actions)
        self.rate = self.epsilon / (1 + 1 / self.l)
        self.window = math.floor((math.log(actions) - math.log(self.l)) / self.rate)

    def threshold(self, i):
        return 1 + math.ceil((2 * math.log(self.l) + i) / self.rate)

    def length(self, i):
        return 2 * self.threshold(i) + self.window

    def votes(self, vectors):
        counts = [0] * self.K
        for vector in vectors:
            counts[vector.index(min(vector))] += 1
        return counts

    def elect(self, counts, i, rng):
        above = [max(c - self.threshold(i), 0) for c in counts]
        return pick([math.exp(self.rate * (a - max(above))) for a in above], rng)

    def play(self, losses, rng):
        table = np.asarray(losses, float).tolist()
        self.prepare(len(table[0]))
        action, played = math.floor(rng.random() * self.K), []
        for i in itertools.count(1):
            seen = table[len(played) : len(played) + self.length(i)]
            played += [action] * len(seen)
            if len(played) == len(table):
                return played
            action = self.elect(self.votes(seen), i, rng)


class VotesOrLeader(Votes):
    """companion/constants, Theorem 3: unanimous votes, or a noisy leader."""

    def play(self, losses, rng):
        table, e = np.asarray(losses, float).tolist(), self.epsilon
        self.prepare(len(table[0]))
        margin = math.ceil(4 / e * math.log(2 * self.l))
        length = math.ceil(20 / e * (math.log(self.K) + math.log(4 * self.l)))
        played = [math.floor(rng.random() * self.K)] * min(self.length(1), len(table))
        seen = table[: len(played)]
        if len(played) == len(table):
            return played
        action = self.elect(self.votes(seen), 1, rng)
        while True:
            seen = table[len(played) : len(played) + length]
            played += [action] * len(seen)
            if len(played) == len(table):
                return played
            noise = [4 / e * DRAWS["gumbel"](rng) for _ in range(self.K)]
            scores = [noise[j] - sum(v[j] for v in seen) for j in range(self.K)]
            above = [0] + [c - (length - margin) for c in self.votes(seen)]
            tested = pick([math.exp(e / 4 * (a - max(above))) for a in above], rng)
            action = tested - 1 if tested else scores.index(max(scores))
            length *= 2


class MarginStop:
    """companion/constants, Theorem 6: explore until the best action's noisy margin is large."""

    def __init__(self, epsilon, fraction=0.25, threshold=13.0):
        self.epsilon, self.fraction, self.threshold = epsilon, fraction, threshold

    def noise(self, rng):
        return 6 / (self.fraction * self.epsilon) * rng.standard_exponential()

    def play(self, losses, rng):
        table = np.asarray(losses, float).tolist()
        rounds, actions = len(table), len(table[0])
        b = 2 / ((1 - self.fraction) * self.epsilon)
        action = math.floor(rng.random() * actions)
        limit = self.threshold * self.fraction * b * math.log(actions) + self.noise(rng)
        n = 1
        while n < rounds:
            sums = [sum(row[j] for row in table[:n]) for j in range(actions)]
            soft = sum(math.exp((min(sums) - x) / b) for x in sums)
            margin = sum(x / actions for x in sums) - min(sums) + b * math.log(soft / actions)
            if margin + self.noise(rng) >= limit:
                break
            n = max(n + 1, math.floor((1 + self.fraction) * n))
        played, length, scale = [action] * min(n, rounds), n, b
        while len(played) < rounds:
            past = table[len(played) - length : len(played)]
            totals = [sum(row[j] for row in past) for j in range(actions)]
            scores = [scale * DRAWS["gumbel"](rng) - total for total in totals]
            length, scale = (length if scale == b else 2 * length), 2 / self.epsilon
            played += [scores.index(max(scores))] * length
        return played[:rounds]
