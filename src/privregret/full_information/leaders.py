"""Non-private references that act on all the past in every round: Follow the Leader and decreasing Hedge."""

import math
from dataclasses import dataclass

import numpy as np

from privregret import checks
from privregret.algorithm import NOT_PRIVATE
from privregret.full_information.base import FullInformationAlgorithm
from privregret.jit import jit
from privregret.noise import TIE


class EveryRoundAlgorithm(FullInformationAlgorithm):
    """In round t, softmax of the losses of rounds 1..t-1 with inverse temperature rate sqrt(ln K / t);
    infinite: the leader."""

    rate: float
    privacy = NOT_PRIVATE
    longest = checks.ROUNDS

    def inverse_temperature(self, t, log_actions):
        """Of the softmax in round t, for e^log_actions actions."""
        return self.rate * np.sqrt(log_actions / t)

    def _play(self, losses, rng):
        return _play(losses, self.rate, rng)

    def _kernel(self, data, rounds):
        """Round by round, O(K T): these algorithms act on new data in every round."""
        return _run, (data, rounds, self.rate)


@dataclass(frozen=True)
class FollowTheLeader(EveryRoundAlgorithm):
    """Play an action with the least total loss so far, uniformly among several. Not private.

    Minimax for Bernoulli losses. Sums that differ by at most 1e-9 are ties, so that rounding decides nothing.
    """

    label = "follow the leader"
    source = "Kotlowski 2018"
    rate = math.inf


@dataclass(frozen=True)
class DecreasingHedge(EveryRoundAlgorithm):
    """Exponential weights with inverse temperature rate sqrt(ln K / t) in round t. Not private.

    Parameters
    ----------
    rate : float
        2, for which regret is O(log K / gap) (Mourtada and Gaiffas 2019); above 0.
    """

    rate: float = 2.0
    label = "decreasing Hedge"
    source = "Mourtada and Gaiffas 2019"
    rules = {"rate": checks.positive}


@jit
def _choose(total, rate, t, weights, rng):
    """An action from the softmax of -total in round t, or a uniform one of the leaders if the rate is
    infinite."""
    least = total.min()
    eta = rate * math.sqrt(math.log(len(total)) / t)
    mass = 0.0
    for j in range(len(total)):
        if math.isinf(rate):
            weights[j] = 1.0 if total[j] <= least + TIE else 0.0
        else:
            weights[j] = math.exp(-eta * (total[j] - least))
        mass += weights[j]
    pick = rng.random() * mass
    j = 0
    while pick >= weights[j] and j < len(total) - 1:
        pick -= weights[j]
        j += 1
    return j


@jit
def _play(losses, rate, rng):
    horizon, actions = losses.shape
    played = np.empty(horizon, np.int64)
    total, weights = np.zeros(actions), np.empty(actions)
    for t in range(horizon):
        played[t] = _choose(total, rate, t + 1, weights, rng)
        total += losses[t]
    return played


@jit
def _run(data, rounds, rate, rng):
    outcomes, probabilities, counts, bits = data
    kinds, groups = outcomes.shape
    group = np.repeat(np.arange(groups), counts)
    total, weights = np.zeros(len(group)), np.empty(len(group))
    result = np.empty((len(rounds), groups), np.int64)
    played = np.zeros(groups, np.int64)
    reported = 0
    for t in range(1, rounds[-1] + 1):
        played[group[_choose(total, rate, t, weights, rng)]] += 1
        kind, pick = 0, rng.random()
        while kind < kinds - 1 and pick >= probabilities[kind]:
            pick -= probabilities[kind]
            kind += 1
        for j in range(len(group)):
            loss = outcomes[kind, group[j]]
            total[j] += (rng.random() < loss) if bits else loss
        if rounds[reported] == t:
            result[reported] = played
            reported += 1
    return result
