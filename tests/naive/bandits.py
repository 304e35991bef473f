"""Slow, obvious versions of the bandit algorithms, written from the papers.

Plain Python: one round at a time, every observation kept in a list. Noise is drawn in the order of
the papers' pseudocode, by methods of their own: a faulty variant is a subclass that overrides one
of them.
"""

import math
from collections import defaultdict
from functools import partial
from inspect import signature
from types import FunctionType

import numpy as np

from naive import laplace


def argmax(values):
    """First of the largest."""
    return max(range(len(values)), key=lambda j: values[j])


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


class AnytimeLazyUCB:
    """hu2021, Algorithm 1. `arrays[j][r]` is array r of arm j, of size 2^r; the last one fills."""

    def __init__(self, epsilon):
        self.epsilon = epsilon

    def noise(self, rng, r):
        """Noise of the sum of an array r."""
        return laplace(1 / self.epsilon, rng)

    def index(self, mean, size, t, rng=None):
        log_t = math.log(t)
        return mean + math.sqrt(3 * log_t / size) + 3 * log_t / (self.epsilon * size)  # (4)

    def play(self, rewards, rng):
        table = np.asarray(rewards, float).tolist()
        arms = len(table[0])
        arrays = [[[]] for _ in range(arms)]
        mean = [0.0] * arms
        actions = []
        for t, row in enumerate(table, start=1):
            sizes = [2 ** (len(a) - 2) for a in arrays]
            index = partial(self.index, t=t, rng=rng)
            j = t - 1 if t <= arms else argmax(list(map(index, mean, sizes)))
            actions.append(j)
            r = len(arrays[j]) - 1
            arrays[j][r].append(row[j])
            if len(arrays[j][r]) == 2**r:
                mean[j] = (sum(arrays[j][r]) + self.noise(rng, r)) / 2**r  # (3)
                arrays[j].append([])
        return actions


def dyadic_cover(n):
    """Nodes that cover leaves 0..n-1: (level, i) covers 2^level of them, from leaf i 2^level on."""
    nodes, start = [], 0
    while start < n:
        level = (n - start).bit_length() - 1
        nodes.append((level, start // 2**level))
        start += 2**level
    return nodes


class HybridUCB:
    """hu2021, Algorithm 4. Per arm: full arrays (sum and noise), leaves and node noises of the open
    tree."""

    def __init__(self, epsilon, tree="paper"):
        self.epsilon, self.tree = epsilon, tree

    def array_noise(self, rng, r):
        """Noise of the sum of a full array r."""
        return laplace(2 / self.epsilon, rng)

    def node_noise(self, rng, r, level):
        """Noise of a node, `level` levels above the leaves, of a tree with 2^r leaves."""
        levels = r + 1 if self.tree == "scaled" else r
        return laplace(levels / (0.5 * self.epsilon), rng)

    def index(self, mean, pulls, t):
        log_t = math.log2(t)
        floor = (pulls + 1).bit_length() - 1  # of log2(pulls + 1)
        privacy = 6 * math.sqrt(8) * log_t * floor / (self.epsilon * pulls)
        return mean + math.sqrt(3 * log_t / pulls) + privacy  # (35)

    def play(self, rewards, rng):
        table = np.asarray(rewards, float).tolist()
        arms = len(table[0])
        full = [[] for _ in range(arms)]  # (sum, noise) of arrays 0, 1, 2, ...
        leaves = [[] for _ in range(arms)]
        node_noise = [{} for _ in range(arms)]  # (level, i) -> noise
        mean = [0.0] * arms
        pulls = [0] * arms
        actions = []
        for t, row in enumerate(table, start=1):
            index = partial(self.index, t=t)
            j = t - 1 if t <= arms else argmax(list(map(index, mean, pulls)))
            actions.append(j)
            x = row[j]
            pulls[j] += 1
            if t <= arms:
                full[j].append((x, self.array_noise(rng, 0)))
                mean[j] = x + full[j][0][1]
                continue
            r = len(full[j])
            leaves[j].append(x)
            complete = len(leaves[j]) == 2**r
            total = sum(s + noise for s, noise in full[j])  # (32)
            if not (complete and self.tree == "rootfree"):
                for level, i in dyadic_cover(len(leaves[j])):  # (33)
                    if (level, i) not in node_noise[j]:
                        node_noise[j][level, i] = self.node_noise(rng, r, level)
                    total += (
                        sum(leaves[j][i * 2**level : (i + 1) * 2**level]) + node_noise[j][level, i]
                    )
            if complete:
                full[j].append((sum(leaves[j]), self.array_noise(rng, r)))
                leaves[j] = []
                node_noise[j] = {}
                if self.tree == "rootfree":
                    total = sum(s + noise for s, noise in full[j])
            mean[j] = total / pulls[j]  # (34)
        return actions


class DPSE:
    """Sajed and Sheffet 2019, with `beta` = 1 / T unless it is given."""

    def __init__(self, epsilon, beta=None):
        self.epsilon, self.beta = epsilon, beta

    def noises(self, rng, epoch, arms):
        """Noise of the `arms` sums that are released at the end of an epoch, in order."""
        return [laplace(1 / self.epsilon, rng) for _ in range(arms)]

    def length(self, epoch, arms, beta):
        gap = 2.0**-epoch
        sampling = 32 * math.log(8 * arms * epoch**2 / beta) / gap**2
        return max(sampling, 8 * math.log(4 * arms * epoch**2 / beta) / (self.epsilon * gap)) + 1

    def threshold(self, epoch, arms, beta):
        """How far below the largest private mean an arm may be and stay."""
        length = self.length(epoch, arms, beta)
        h = math.sqrt(math.log(8 * arms * epoch**2 / beta) / (2 * length))
        return 2 * h + 2 * math.log(4 * arms * epoch**2 / beta) / (length * self.epsilon)

    def play(self, rewards, rng):
        table = np.asarray(rewards, float).tolist()
        horizon, beta = len(table), self.beta or 1 / len(table)
        alive = list(range(len(table[0])))
        actions = []
        epoch = 0
        while len(alive) > 1:
            epoch += 1
            data = {j: [] for j in alive}
            r = 0
            while r < self.length(epoch, len(alive), beta):
                for j in alive:
                    if len(actions) == horizon:
                        return actions
                    data[j].append(table[len(actions)][j])
                    actions.append(j)
                r += 1
            noises = self.noises(rng, epoch, len(alive))
            mean = {j: (sum(data[j]) + noise) / r for j, noise in zip(alive, noises, strict=True)}
            threshold = self.threshold(epoch, len(alive), beta)
            alive = [j for j in alive if max(mean.values()) - mean[j] <= threshold]
        return actions + alive * (horizon - len(actions))


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


TINY = 1e-9  # below any difference of two distinct means or widths that matters in a short run


class LazyUCBWithoutPrivacy(AnytimeLazyUCB):
    """The limit of Anytime-Lazy-UCB as epsilon grows: noise only to break ties."""

    def __init__(self):
        super().__init__(math.inf)

    def noise(self, rng, r):
        return TINY * rng.random()


class UCBWithoutPrivacy:
    """The limit of Hybrid-UCB as epsilon grows: mean + sqrt(3 log2 t / n), random ties."""

    def play(self, rewards, rng):
        table = np.asarray(rewards, float).tolist()
        arms = len(table[0])
        data = [[] for _ in range(arms)]
        mean = [0.0] * arms
        actions = []
        for t, row in enumerate(table, start=1):
            width = [math.sqrt(3 * math.log2(t) / max(len(d), 1)) for d in data]
            index = [m + w for m, w in zip(mean, width, strict=True)]
            j = t - 1 if t <= arms else argmax(index)
            actions.append(j)
            data[j].append(row[j])
            mean[j] = sum(data[j]) / len(data[j]) + TINY * rng.random()
        return actions


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
    memory, owns = algorithm.steps.memory(arms)
    settings, actions = algorithm.settings(horizon, arms), []
    for t, row in enumerate(rewards, start=1):
        j = choose(memory, owns[0], settings, t, rng)
        observe(memory, owns[0], settings, t, j, row[j], rng)
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
