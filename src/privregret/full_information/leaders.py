"""Non-private references that use the whole past: Follow the Leader, Hedge"""

import math
from dataclasses import dataclass

import numpy as np

from privregret.core import checks
from privregret.core.algorithm import NOT_PRIVATE, NOTHING, Steps
from privregret.core.jit import jit
from privregret.core.noise import TIE, drawn
from privregret.full_information.base import FullInformationAlgorithm

# sum of its losses so far; weight in the softmax
ACTION = np.dtype([("total", float), ("weight", float)])


@jit
def _choose(actions, state, settings, t, rng):
    """Draw from the softmax of the losses so far, or among the leaders."""
    lowest = math.inf
    for i in range(len(actions)):
        lowest = min(lowest, actions[i]["total"])
    eta = settings.rate * math.sqrt(math.log(len(actions)) / t)
    mass = 0.0
    for i in range(len(actions)):
        behind = actions[i]["total"] - lowest
        if math.isinf(settings.rate):
            actions[i]["weight"] = 1.0 if behind <= TIE else 0.0
        else:
            actions[i]["weight"] = math.exp(-eta * behind)
        mass += actions[i]["weight"]
    return drawn(actions["weight"], rng.random() * mass)


@jit
def _observe(actions, state, settings, t, j, losses, rng):
    """Add the losses."""
    for i in range(len(actions)):
        actions[i]["total"] += losses[i]


class EveryRoundAlgorithm(FullInformationAlgorithm):
    """The softmax of the losses of rounds 1..t-1, in round t.

    The inverse temperature is rate sqrt(ln K / t); an infinite rate gives the leader.
    """

    rate: float
    privacy = NOT_PRIVATE
    steps = Steps(ACTION, NOTHING, _choose, _observe)

    def inverse_temperature(self, t: int, log_actions: float) -> float:
        """Return the inverse temperature in round t, for e^log_actions actions."""
        return self.rate * np.sqrt(log_actions / t)


@dataclass(frozen=True)
class FollowTheLeader(EveryRoundAlgorithm):
    """An action with the smallest total loss so far, ties uniform. Not private.

    Minimax for Bernoulli losses. Sums that differ by at most 1e-9 count as ties, so that rounding
    decides nothing.
    """

    id = "follow-the-leader"
    label = "follow the leader"
    source = "Kotlowski 2018"
    rate = math.inf


@dataclass(frozen=True)
class DecreasingHedge(EveryRoundAlgorithm):
    """Exponential weights with inverse temperature rate sqrt(ln K / t). Not private.

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
