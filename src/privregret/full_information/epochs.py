"""Play one action per epoch: the noisy leader of the epoch before."""

import math
from abc import abstractmethod
from typing import NamedTuple

import numpy as np

from privregret.core import checks
from privregret.core.algorithm import Steps
from privregret.core.jit import jit
from privregret.core.noise import CODES, NONE, TIE, draw, drawn, successes
from privregret.full_information.base import FullInformationAlgorithm

PREFIXES = ("full", "random", "half")
FULL, RANDOM, HALF = range(3)


class Selector(NamedTuple):
    """How the action of the next epoch is chosen, and how long that is."""

    noise: int
    scale: float
    prefix: int
    resampling: bool
    growth: float
    random_phase: bool


# sum of the losses over the epoch so far
ACTION = np.dtype([("loss", float)])
# length = ceil(size); losses of the first `used` rounds count
INTEGERS = ("leader", "start", "length", "used")
EPOCH = np.dtype([*((name, np.int64) for name in INTEGERS), ("size", float)])


@jit
def _prefix_length(length, prefix, rng):
    """Rounds, from the start of an epoch, whose losses are used."""
    if prefix == FULL or length == 1:
        return length
    if prefix == HALF:
        return length // 2 + 1
    return length // 2 + 1 + int(rng.random() * (length // 2))


@jit
def _first_size(selector, rng):
    """Size of epoch 1: growth^U with U uniform on [0, 1) for a random phase, else 1."""
    return selector.growth ** rng.random() if selector.random_phase else 1.0


@jit
def rounds_of(size):
    """Rounds of an epoch of that size, so few that 64 bits can count them."""
    return int(min(math.ceil(size), 2.0**62))


@jit
def _choose(actions, epoch, selector, t, rng):
    """Start an epoch with the noisy leader of the one before, or repeat its action."""
    if t == 1:
        epoch["leader"] = int(rng.random() * len(actions))
        epoch["size"] = _first_size(selector, rng)
    elif t == epoch["start"] + epoch["length"]:
        epoch["leader"] = noisy_leader(actions, selector.noise, selector.scale, rng)
        epoch["size"] *= selector.growth
    else:
        return epoch["leader"]
    epoch["start"], epoch["length"] = t, rounds_of(epoch["size"])
    epoch["used"] = _prefix_length(epoch["length"], selector.prefix, rng)
    return epoch["leader"]


@jit
def _observe(actions, epoch, selector, t, j, losses, rng):
    """Add the losses, or Bernoulli losses of these means, within the prefix."""
    if t < epoch["start"] + epoch["used"]:
        for i in range(len(actions)):
            if selector.resampling:
                actions[i]["loss"] += rng.random() < losses[i]
            else:
                actions[i]["loss"] += losses[i]


@jit
def _challenge(leading, i, loss, noise, scale, rng):
    """Return who leads after action i, as (score, action, number of ties)."""
    best, leader, ties = leading
    score, tie = draw(noise, scale, rng) - loss, TIE if noise == NONE else 0.0
    if score > best + tie:
        return score, i, 1
    # each of n equal sums wins with probability 1 / n
    if score >= best - tie and noise == NONE:
        ties += 1
        if rng.random() * ties < 1:
            leader = i
    return best, leader, ties


@jit
def noisy_leader(actions, noise, scale, rng):
    """Return the winner of report noisy max, and reset the sums."""
    leading = -math.inf, 0, 0
    for i in range(len(actions)):
        leading = _challenge(leading, i, actions[i]["loss"], noise, scale, rng)
        actions[i]["loss"] = 0.0
    return leading[1]


@jit
def _play_counts(data, checkpoints, selector, rng):
    """Play epoch by epoch: one binomial draw for each action and outcome, O(K log T)."""
    # The sum of an action's losses over the rounds used is binomial, given how often each outcome
    # occurred. Sums are taken relative to the smallest mean (bits) or to group 0, so that they stay
    # exact next to the noise.
    noise, scale, prefix, resampling, growth, _ = selector
    outcomes, probabilities, counts, bits = data
    kinds, groups = outcomes.shape
    horizon = checkpoints[-1]
    result = np.empty((len(checkpoints), groups), np.int64)
    played = np.zeros(groups, np.int64)
    smallest = math.inf
    for g in range(groups):
        smallest = min(smallest, np.dot(probabilities, np.ascontiguousarray(outcomes[:, g])))
    hits = np.empty(kinds, np.int64)
    leader = drawn(counts, rng.random() * counts.sum())
    start, reported, size = 0, 0, _first_size(selector, rng)
    length = rounds_of(size)
    while start < horizon:
        used = _prefix_length(length, prefix, rng)
        end = min(start + length, horizon)
        while reported < len(checkpoints) and checkpoints[reported] <= end:
            for g in range(groups):
                result[reported, g] = played[g]
            result[reported, leader] += checkpoints[reported] - start
            reported += 1
        played[leader] += end - start
        if end < horizon:
            left, rest = used, 1.0
            for i in range(kinds - 1):
                hits[i] = successes(left, min(1.0, probabilities[i] / rest), rng) if rest > 0 else 0
                left -= hits[i]
                rest -= probabilities[i]
            hits[kinds - 1] = left
            base = int(used * smallest)
            leading = -math.inf, 0, 0
            for g in range(groups):
                shared = 0.0
                for i in range(kinds):
                    shared += hits[i] * (outcomes[i, g] - outcomes[i, 0])
                for _ in range(counts[g]):
                    loss = shared
                    if bits or resampling:
                        own = -base
                        for i in range(kinds):
                            own += successes(hits[i], outcomes[i, g], rng)
                        loss = float(own)
                    leading = _challenge(leading, g, loss, noise, scale, rng)
            leader = leading[1]
        start = end
        size *= growth
        length = rounds_of(size)
    return result


class EpochAlgorithm(FullInformationAlgorithm):
    """Epochs of 1, 2, 4, ... rounds; each plays the winner of report noisy max on the last one.

    The action of the first epoch is uniform. A subclass defines the noise ("laplace",
    "exponential", "gumbel", or "none": the leader, ties broken uniformly), its scale
    `noise_scale(actions)`, and from how many rounds of an epoch of n the winner is chosen: n
    ("full"), M uniform on n/2 + 1, ..., n ("random"), or n/2 + 1 ("half"). Each loss may first be
    replaced by an independent Bernoulli loss of that mean. Other lengths are ceil(growth^(i + U)),
    i = 0, 1, ..., where U is 0 or a random phase, uniform on [0, 1).
    Plain version: `ftnl` in the notebook wu2026/3-bernoulli-resampling.
    """

    noise: str
    prefix: str = "full"
    bernoulli_resampling: bool = False
    growth: float = 2.0
    random_phase: bool = False
    steps = Steps(ACTION, EPOCH, _choose, _observe)
    fast_run = _play_counts
    runs_per_stream, max_horizon = 64, checks.MAX_HORIZON

    @abstractmethod
    def noise_scale(self, actions: float) -> float:
        """Return the scale of the noise on each sum."""

    def settings(self, horizon: int | None, actions: int) -> Selector:
        scale, prefix = float(self.noise_scale(actions)), PREFIXES.index(self.prefix)
        epochs = self.bernoulli_resampling, self.growth, self.random_phase
        return Selector(CODES[self.noise], scale, prefix, *epochs)
