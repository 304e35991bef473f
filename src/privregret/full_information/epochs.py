"""Algorithms that play one action an epoch: the noisy leader of the epoch before."""

import math
from abc import abstractmethod
from typing import NamedTuple

import numpy as np

from privregret.full_information.base import FullInformationAlgorithm
from privregret.jit import jit
from privregret.noise import CODES, NONE, TIE, draw

PREFIXES = ("full", "random", "half")
FULL, RANDOM, HALF = range(3)


class Selector(NamedTuple):
    """How kernels choose the action of the next epoch."""

    noise: int
    scale: float
    prefix: int
    resampling: bool


class EpochAlgorithm(FullInformationAlgorithm):
    """Epochs of 1, 2, 4, ... rounds; each plays the report-noisy-max winner of the epoch before.

    The first one's action is uniform. Subclasses say with which noise, of the scale `noise_scale(actions)`, and on how
    much of an epoch the winner is chosen.

    Attributes
    ----------
    noise : {"laplace", "exponential", "gumbel", "none"}
        "none" is the leader, ties broken uniformly.
    prefix : {"full", "random", "half"}
        The whole epoch of n rounds; its first M, M uniform on n/2 + 1, ..., n; or its first n/2 + 1.
    bernoulli_resampling : bool
        Whether each loss is first replaced by an independent bit of that mean.
    """

    noise: str
    prefix: str = "full"
    bernoulli_resampling: bool = False

    @abstractmethod
    def noise_scale(self, actions: float) -> float:
        """Scale of the noise when there are that many actions."""

    def _selector(self, actions):
        scale, prefix = float(self.noise_scale(actions)), PREFIXES.index(self.prefix)
        return Selector(CODES[self.noise], scale, prefix, self.bernoulli_resampling)

    def _play(self, losses, rng):
        return _play(losses, self._selector(losses.shape[1]), rng)

    def _kernel(self, data, rounds):
        """Epoch by epoch: one binomial draw for each action and outcome, O(K log T) in all."""
        return _run, (data, rounds, self._selector(data.counts.sum()))


@jit
def _prefix_length(length, prefix, rng):
    """Rounds at the start of an epoch of `length` rounds whose losses are used."""
    if prefix == FULL or length == 1:
        return length
    if prefix == HALF:
        return length // 2 + 1
    return length // 2 + 1 + int(rng.random() * (length // 2))


@jit
def _play(losses, selector, rng):
    noise, scale, prefix, resampling = selector
    horizon, actions = losses.shape
    played = np.empty(horizon, np.int64)
    total = np.empty(actions)
    leader = int(rng.random() * actions)
    start, length = 0, 1
    tie = TIE if noise == NONE else 0.0
    while start < horizon:
        used = _prefix_length(length, prefix, rng)
        total[:] = 0.0
        for t in range(start, min(start + length, horizon)):
            played[t] = leader
            if t < start + used:
                for j in range(actions):
                    if resampling:
                        total[j] += rng.random() < losses[t, j]
                    else:
                        total[j] += losses[t, j]
        if start + length < horizon:
            best, ties = -math.inf, 0
            for j in range(actions):
                score = draw(noise, scale, rng) - total[j]
                if score > best + tie:
                    best, leader, ties = score, j, 1
                elif score >= best - tie and noise == NONE:  # keep each of n equal ones with probability 1 / n
                    ties += 1
                    if rng.random() * ties < 1:
                        leader = j
        start += length
        length *= 2
    return played


@jit
def _run(data, rounds, selector, rng):
    # The sum of an action's losses over the rounds used is binomial, given how often each outcome occurred.
    # Sums are taken relative to the smallest mean (bits) or to group 0, so that they stay exact beside the
    # noise.
    noise, scale, prefix, resampling = selector
    outcomes, probabilities, counts, bits = data
    kinds, groups = outcomes.shape
    horizon = rounds[-1]
    result = np.empty((len(rounds), groups), np.int64)
    played = np.zeros(groups, np.int64)
    smallest = math.inf
    for g in range(groups):
        smallest = min(smallest, np.dot(probabilities, np.ascontiguousarray(outcomes[:, g])))
    hits = np.empty(kinds, np.int64)
    pick = rng.random() * counts.sum()
    leader = 0
    while pick >= counts[leader] and leader < groups - 1:
        pick -= counts[leader]
        leader += 1
    start, length, reported = 0, 1, 0
    tie = TIE if noise == NONE else 0.0
    while start < horizon:
        used = _prefix_length(length, prefix, rng)
        end = min(start + length, horizon)
        while reported < len(rounds) and rounds[reported] <= end:
            result[reported] = played
            result[reported, leader] += rounds[reported] - start
            reported += 1
        played[leader] += end - start
        if end < horizon:
            left, rest = used, 1.0
            for i in range(kinds - 1):
                hits[i] = rng.binomial(left, min(1.0, probabilities[i] / rest)) if rest > 0 else 0
                left -= hits[i]
                rest -= probabilities[i]
            hits[kinds - 1] = left
            base = int(used * smallest)
            best, ties = -math.inf, 0
            for g in range(groups):
                shared = 0.0
                for i in range(kinds):
                    shared += hits[i] * (outcomes[i, g] - outcomes[i, 0])
                for _ in range(counts[g]):
                    if bits or resampling:
                        whole = -base
                        for i in range(kinds):
                            whole += rng.binomial(hits[i], outcomes[i, g])
                        score = draw(noise, scale, rng) - whole
                    else:
                        score = draw(noise, scale, rng) - shared
                    if score > best + tie:
                        best, leader, ties = score, g, 1
                    elif score >= best - tie and noise == NONE:
                        ties += 1
                        if rng.random() * ties < 1:
                            leader = g
        start = end
        length *= 2
    return result
