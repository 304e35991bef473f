"""Slow, obvious versions of bandit algorithms without privacy; the others stand in notebooks.

Plain Python: one round at a time, every observation kept in a list.
"""

import math
from collections import defaultdict
from inspect import signature
from types import FunctionType

import numpy as np

from naive import laplace


def smallest(indices, rng, first=False):
    """The k-th arm that ties with the best so far takes its place with chance 1 / k."""
    best, ties = math.inf, 0
    for j, index in enumerate(indices):
        if index < best:
            best, chosen, ties = index, j, 1
        elif index == best and not first:
            ties += 1
            if rng.random() < 1 / ties:
                chosen = j
    return chosen


class PerRound:
    """Each arm once, then what `choose` makes of means, numbers of rewards and the round."""

    def play(self, rewards, rng):
        table = np.asarray(rewards, float).tolist()
        arms = len(table[0])
        data = [[] for _ in range(arms)]
        actions = []
        for t, row in enumerate(table, start=1):
            n = [len(d) for d in data]
            mean = [sum(d) / max(len(d), 1) for d in data]
            j = t - 1 if t <= arms else self.choose(mean, n, t, rng)
            data[j].append(row[j])
            actions.append(j)
        return actions


class UCB1(PerRound):
    """Auer et al. 2002; of tied arms, the k-th takes the lead with chance 1 / k."""

    def choose(self, mean, n, t, rng):
        width = [math.sqrt(2 * math.log(t - 1) / k) for k in n]
        return smallest([-(m + w) for m, w in zip(mean, width, strict=True)], rng)


class Recorder:
    """Stands in for a Generator in uncompiled code: passes calls on, keeps the scale of every
    Laplace draw.

    With `certain`, a binomial draw is its mean (all rewards equal their arm's mean): then an
    event-by-event run can be compared with a round-by-round one, on a table of means and the same
    stream of noise.
    """

    def __init__(self, rng, certain=False):
        self.rng, self.certain, self.scales = rng, certain, []

    def laplace(self, loc, scale):
        self.scales.append(float(scale))
        return loc + laplace(scale, self.rng)

    def random(self):
        return self.rng.random()

    def binomial(self, n, p):
        return n * p if self.certain else self.rng.binomial(n, p)


def plain(kernel):
    """A compiled kernel's Python function, as those that it hands its generator to; noise is
    `Generator.laplace`'s."""
    function = getattr(kernel, "py_func", kernel)
    names = {
        name: plain(f) if "rng" in signature(f).parameters else f
        for name, f in function.__globals__.items()
        if hasattr(f, "py_func") and name in function.__code__.co_names
    }
    names = function.__globals__ | names | {"laplace": lambda scale, rng: rng.laplace(0.0, scale)}
    return FunctionType(function.__code__, names, function.__name__, function.__defaults__)


def literal(algorithm, rewards, rng):
    """The actions of an algorithm's own steps, uncompiled: `rng` may be a `Recorder`."""
    horizon, arms = np.shape(rewards)
    choose, observe = plain(algorithm.steps.choose), plain(algorithm.steps.observe)
    memory, states = algorithm.steps.memory(arms)
    settings, actions = algorithm.settings(horizon, arms), []
    for t, row in enumerate(rewards, start=1):
        j = choose(memory, states[0], settings, t, rng)
        observe(memory, states[0], settings, t, j, row[j], rng)
        actions.append(int(j))
    return actions


def pulls_at(actions, horizons, arms):
    """(H, K) pulls of each arm in rounds 1..horizons[h]."""
    counts = defaultdict(int)
    rows, wanted = [], set(map(int, horizons))
    for t, j in enumerate(actions, start=1):
        counts[int(j)] += 1
        if t in wanted:
            rows.append([counts[i] for i in range(arms)])
    return rows
