"""Non-private references that act on all the past in every round: Follow the Leader and decreasing
Hedge."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from privregret import checks
from privregret.algorithm import NOT_PRIVATE, NOTHING, Steps
from privregret.full_information.base import FullInformationAlgorithm
from privregret.jit import jit
from privregret.noise import TIE

ACTION = np.dtype([("total", float), ("weight", float)])  # of its losses so far; in the softmax


class Rate(NamedTuple):
    """What the kernels take."""

    rate: float


@jit
def _choose(actions, own, settings, t, rng):
    least = math.inf
    for i in range(len(actions)):
        least = min(least, actions[i]["total"])
    eta = settings.rate * math.sqrt(math.log(len(actions)) / t)
    mass = 0.0
    for i in range(len(actions)):
        behind = actions[i]["total"] - least
        if math.isinf(settings.rate):
            actions[i]["weight"] = 1.0 if behind <= TIE else 0.0
        else:
            actions[i]["weight"] = math.exp(-eta * behind)
        mass += actions[i]["weight"]
    pick, j = rng.random() * mass, 0
    while pick >= actions[j]["weight"] and j < len(actions) - 1:
        pick -= actions[j]["weight"]
        j += 1
    return j


@jit
def _observe(actions, own, settings, t, j, losses, rng):
    for i in range(len(actions)):
        actions[i]["total"] += losses[i]


class EveryRoundAlgorithm(FullInformationAlgorithm):
    """In round t, softmax of the losses of rounds 1..t-1 with inverse temperature rate sqrt(ln K /
    t); infinite: the leader."""

    rate: float
    privacy = NOT_PRIVATE
    steps = Steps(ACTION, NOTHING, _choose, _observe)

    def inverse_temperature(self, t: int, log_actions: float) -> float:
        """Of the softmax in round t, for e^log_actions actions.

        Examples
        --------
        >>> round(float(DecreasingHedge(2.0).inverse_temperature(t=100, log_actions=1.0)), 3)
        0.2
        """
        return self.rate * np.sqrt(log_actions / t)

    def settings(self, horizon: int | None, actions: int) -> Rate:
        return Rate(self.rate)


@dataclass(frozen=True)
class FollowTheLeader(EveryRoundAlgorithm):
    """Play an action with the least total loss so far, uniformly among several. Not private.

    Minimax for Bernoulli losses. Sums that differ by at most 1e-9 are ties, so that rounding
    decides nothing.
    """

    id = "follow-the-leader"
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
    id = "decreasing-hedge"
    label = "decreasing Hedge"
    source = "Mourtada and Gaiffas 2019"
    rules = {"rate": checks.positive}
