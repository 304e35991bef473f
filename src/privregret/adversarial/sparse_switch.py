"""Drop the worse arm quickly and privately, to illustrate Lemma 11 of asi2025."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from privregret.adversarial.base import AdversarialAlgorithm
from privregret.core import checks
from privregret.core.algorithm import EPSILON_DP, NOTHING, Steps
from privregret.core.jit import jit
from privregret.core.noise import laplace


class Settings(NamedTuple):
    """What the kernels take."""

    epsilon: float
    rate: float
    threshold: float


SWITCH = np.dtype(
    [
        ("threshold", float),  # threshold with its noise
        ("count", float),  # number of looks with a small loss
        ("look", np.bool_),
        ("switched", np.bool_),
    ]
)


@jit
def _choose(arms, state, settings, t, rng):
    """Play the arm that is home, or look at the other."""
    if t == 1:
        state["threshold"] = settings.threshold + laplace(2 / settings.epsilon, rng)
    state["look"] = rng.random() < settings.rate
    return 1 if state["look"] != state["switched"] else 0


@jit
def _observe(arms, state, settings, t, i, loss, rng):
    """Compare the number of small losses seen with the threshold, both with noise."""
    if state["look"] and not state["switched"]:
        state["count"] += loss < 0.5
        state["switched"] = (
            state["count"] + laplace(4 / settings.epsilon, rng) >= state["threshold"]
        )


@dataclass(frozen=True)
class SparseSwitch(AdversarialAlgorithm):
    """A learner that plays the first of two arms, looks at the second, and switches at most once.

    In each round the algorithm looks at the second arm with probability `rate`. After each look the
    number of looks with loss below 1/2 is compared, by the sparse-vector technique, with (4 /
    epsilon) ln T: noise Lap(2 / epsilon) on the threshold, once, and fresh Lap(4 / epsilon) on each
    comparison. Twin: `sparse_switch` of notebook asi2025/5.

    Privacy: epsilon-DP. One round changes the count by at most 1, and until the switch, which
    happens at most once, actions do not depend on losses.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, above 0.
    rate : float
        Probability of a look in each round, in (0, 1].
    """

    epsilon: float
    rate: float
    id = "sparse-switch"
    label = "sparse switch"
    source = "demonstrator for asi2025, Lemma 11; not in the paper"
    steps = Steps(NOTHING, SWITCH, _choose, _observe)
    rules = {"epsilon": checks.positive, "rate": checks.number_in(checks.MIN_FRACTION, 1)}
    privacy = EPSILON_DP

    def settings(self, horizon: int | None, arms: int) -> Settings:
        if arms != 2:
            raise ValueError(f"{self.label} needs a problem with 2 arms, got {arms}")
        if horizon is None:
            raise ValueError(f"horizon must be given: {self.label} computes its threshold from it")
        return Settings(self.epsilon, self.rate, 4 / self.epsilon * math.log(horizon))
