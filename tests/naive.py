"""Slow, obvious versions of the algorithms that no notebook shows, and compiled ones uncompiled.

Randomness is drawn in the order of the pseudocode.
"""

import itertools
import math
from inspect import signature
from types import FunctionType

import lectures
import numpy as np

from privregret.core.noise import laplace
from privregret.divergence import kl, kl_inverse

drawn = lectures.namespace("companion/constants")["drawn"]
NOISE = lectures.namespace("wu2026/3-bernoulli-resampling")["NOISE"]


def smallest(indices, rng):
    """The k-th arm that ties with the best so far takes its place with chance 1 / k."""
    best, chosen, ties = math.inf, 0, 0
    for j, index in enumerate(indices):
        if index < best:
            best, chosen, ties = index, j, 1
        elif index == best:
            ties += 1
            chosen = j if ties * rng.random() < 1 else chosen
    return chosen


def ucb1(mean, top, n, t):
    """Auer et al. 2002."""
    return -mean - math.sqrt(2 * math.log(t - 1) / n)


def kl_ucb(mean, top, n, t):
    return -kl_inverse(mean, math.log(t) / n)


def imed(mean, top, n, t):
    return n * kl(mean, top) + math.log(n)


def per_round(index):
    """Each arm once, then the smallest index."""

    def play(rewards, rng):
        actions, totals, pulls = [], [0.0] * len(rewards[0]), [0] * len(rewards[0])
        for t, row in enumerate(rewards, start=1):
            j = t - 1
            if t > len(row):
                means = [total / n for total, n in zip(totals, pulls, strict=True)]
                each = zip(means, pulls, strict=True)
                j = smallest([index(mean, max(means), n, t) for mean, n in each], rng)
            actions.append(j)
            totals[j], pulls[j] = totals[j] + row[j], pulls[j] + 1
        return actions

    return play


def adap_klucb(epsilon, alpha=3.1, choose=smallest):
    """Azize and Basu 2022: every reward is kept, the second half of an arm's is used."""

    def play(rewards, rng):
        data, means, sizes, actions = [[] for _ in rewards[0]], {}, {}, []
        while len(actions) < len(rewards):
            j = len(actions)
            if j >= len(data):
                levels = [alpha * math.log(j + 1) / n for n in sizes.values()]
                high = [m + c / epsilon for m, c in zip(means.values(), levels, strict=True)]
                index = zip(np.clip(high, 0, 1), levels, strict=True)
                j = choose([-kl_inverse(*at) for at in index], rng)
            sizes[j] = max(1, len(data[j]))
            batch = [row[j] for row in rewards[len(actions) :][: sizes[j]]]
            data[j], actions = data[j] + batch, actions + [j] * len(batch)
            means[j] = (sum(data[j][-sizes[j] :]) + laplace(1 / epsilon, rng)) / sizes[j]
        return actions

    return play


def noisy_leader(noise, scale):
    return lambda sums, rng: int(np.argmax([scale * NOISE[noise](rng) - total for total in sums]))


def in_epochs(choose, growth=2.0, random_phase=False, resampled=False):
    """Epochs of ceil(growth^(i + U)) rounds, U uniform or 0: `choose` from the sums of the last."""

    def play(losses, rng):
        actions, action = [], math.floor(rng.random() * len(losses[0]))
        size = growth ** (rng.random() if random_phase else 0.0)
        while len(actions) < len(losses):
            epoch = losses[len(actions) :][: math.ceil(size)]
            actions += [action] * len(epoch)
            if resampled:
                epoch = [[rng.random() < loss for loss in row] for row in epoch]
            action, size = choose(np.sum(epoch, axis=0), rng), size * growth
        return actions

    return play


def hedge(rate):
    """Exponential weights, inverse temperature rate sqrt(ln K / t); infinite rate: the leaders."""

    def play(losses, rng):
        actions, total = [], np.zeros(len(losses[0]))
        for t, row in enumerate(losses, start=1):
            behind = total - total.min()
            weights = (behind <= 1e-9).astype(float)
            if rate < math.inf:
                weights = np.exp(-rate * math.sqrt(math.log(len(total)) / t) * behind)
            actions.append(drawn(weights, rng))
            total = total + row
        return actions

    return play


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


class Recorder:
    """A Generator for uncompiled code that keeps the scale of every Laplace draw.

    With `certain`, a binomial draw is its mean, as all rewards are that of their arm: then a run
    event by event can be compared with one round by round, on the same stream of noise.
    """

    def __init__(self, rng, certain=False):
        self.rng, self.certain, self.scales = rng, certain, []

    def __getattr__(self, name):
        return getattr(self.rng, name)

    def laplace(self, loc, scale):
        self.scales.append(float(scale))
        return loc + laplace(scale, self.rng)

    def binomial(self, n, p):
        return n * p if self.certain else self.rng.binomial(n, p)


def plain(kernel, **instead):
    """The Python function of a kernel and of those it calls; noise is `Generator.laplace`'s, and
    some functions may be replaced."""
    function = getattr(kernel, "py_func", kernel)
    instead = {"laplace": lambda scale, rng: rng.laplace(0.0, scale)} | instead
    names = {
        name: plain(f, **instead) if "rng" in signature(f).parameters else f
        for name, f in function.__globals__.items()
        if hasattr(f, "py_func") and name in function.__code__.co_names
    }
    names = function.__globals__ | names | instead
    return FunctionType(function.__code__, names, function.__name__, function.__defaults__)


def literal(algorithm, rewards, rng, *advice):
    """The actions of an algorithm's own steps, uncompiled: `rng` may be a `Recorder`."""
    horizon, *sizes = *np.shape(rewards), *map(len, advice)
    choose, observe = plain(algorithm.steps.choose), plain(algorithm.steps.observe)
    *memory, states = algorithm.steps.memory(*sizes)
    settings, actions = algorithm.settings(horizon, *sizes), []
    for t, row in enumerate(rewards, start=1):
        given = *memory, states[0], settings, t, *advice
        j = choose(*given, rng)
        observe(*given, j, row[j], rng)
        actions.append(int(j))
    return actions
