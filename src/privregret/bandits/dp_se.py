"""DP-SE, private successive elimination (Sajed and Sheffet 2019)."""

import math
from dataclasses import dataclass

import numpy as np

from privregret import checks
from privregret.algorithm import Privacy
from privregret.bandits.base import BanditAlgorithm
from privregret.jit import jit
from privregret.noise import laplace


def _chance_or_none(name, value):
    if value is not None and checks.probability(name, value) == 0:
        raise ValueError(f"{name} must be a number in (0, 1] or None, got {value!r}")
    return None if value is None else float(value)


@dataclass(frozen=True)
class DPSE(BanditAlgorithm):
    """DP-SE: pull all active arms round robin, release one noisy mean each per epoch, drop the losers.

    Privacy: epsilon-DP, since each reward enters one epoch's sum of one arm, with independent Laplace noise of
    scale 1 / epsilon. Not anytime: the usual confidence parameter is 1 / T. O(K) memory.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, above 0.
    beta : float or None
        Failure probability in (0, 1]; None means 1 / T, as in every comparison of the papers.
    """

    epsilon: float
    beta: float | None = None
    label = "DP-SE"
    source = "Sajed and Sheffet 2019; hu2021, Section 6"
    rules = {"epsilon": checks.positive, "beta": _chance_or_none}

    @property
    def privacy(self):
        return Privacy(self.epsilon, self.epsilon)

    def _play(self, rewards, rng):
        return _play(rewards, self.epsilon, self.beta or 1 / len(rewards), rng)

    def _kernel(self, means, rounds):
        """Epoch by epoch: O(K log T) draws, whatever the horizon."""
        return _pull_counts, (means, rounds, self.epsilon, self.beta or 1 / rounds[-1])


@jit
def epoch_length(epoch, active, epsilon, beta):
    """Pulls of each of the `active` arms in epoch 1, 2, ... as a real number; the algorithm rounds up."""
    gap = 2.0**-epoch
    sampling = 32 * math.log(8 * active * epoch**2 / beta) / gap**2
    privacy = 8 * math.log(4 * active * epoch**2 / beta) / (epsilon * gap)
    return max(sampling, privacy) + 1


@jit
def _survivors(mean, active, epoch, epsilon, beta):
    """The arms of `active` whose private means are within 2 h + 2 c of the largest."""
    length = epoch_length(epoch, len(active), epsilon, beta)
    h = math.sqrt(math.log(8 * len(active) * epoch**2 / beta) / (2 * length))
    c = math.log(4 * len(active) * epoch**2 / beta) / (length * epsilon)
    return active[mean.max() - mean <= 2 * h + 2 * c]


@jit
def _play(rewards, epsilon, beta, rng):
    horizon, arms = rewards.shape
    actions = np.empty(horizon, np.int64)
    active = np.arange(arms)
    epoch = 0
    t = 0
    while t < horizon:
        if len(active) == 1:
            actions[t] = active[0]
            t += 1
            continue
        epoch += 1
        length = np.ceil(epoch_length(epoch, len(active), epsilon, beta))
        mean = np.zeros(len(active))
        done = 0
        while done < length * len(active) and t < horizon:
            j = done % len(active)
            actions[t] = active[j]
            mean[j] += rewards[t, active[j]]
            done += 1
            t += 1
        if done < length * len(active):
            break  # the horizon came first: nothing is released
        for j in range(len(active)):
            mean[j] = (mean[j] + laplace(1 / epsilon, rng)) / length
        active = _survivors(mean, active, epoch, epsilon, beta)
    return actions


@jit
def _pull_counts(means, rounds, epsilon, beta, rng):
    horizon = rounds[-1]
    counts = np.empty((len(rounds), len(means)), np.int64)
    pulls = np.zeros(len(means), np.int64)
    active = np.arange(len(means))
    epoch = 0
    reported = 0
    t = 0  # rounds played
    while t < horizon:
        width = len(active)
        epoch += 1
        played = horizon - t
        if width > 1:  # compare as floats: with a tiny epsilon the length may exceed any integer
            wanted = width * np.ceil(epoch_length(epoch, width, epsilon, beta))
            played = int(wanted) if wanted < played else played
        while reported < len(rounds) and rounds[reported] <= t + played:
            counts[reported] = pulls
            for j in range(width):  # round robin: the first arms may be one pull ahead
                counts[reported, active[j]] += (rounds[reported] - t + width - 1 - j) // width
            reported += 1
        for j in range(width):
            pulls[active[j]] += (played + width - 1 - j) // width
        t += played
        if width > 1 and t < horizon:
            length = played // width
            mean = np.empty(width)
            for j in range(width):
                mean[j] = (rng.binomial(length, means[active[j]]) + laplace(1 / epsilon, rng)) / length
            active = _survivors(mean, active, epoch, epsilon, beta)
    return counts
