"""The exponential mechanism on epochs (you2026, Algorithm 2)."""

from dataclasses import dataclass

from privregret.core import checks
from privregret.core.algorithm import EPSILON_DP
from privregret.full_information.epochs import EpochAlgorithm


@dataclass(frozen=True)
class EpochExponential(EpochAlgorithm):
    """The exponential mechanism on epochs of 1, 3, 9, ... rounds.

    Each epoch plays an action drawn with probabilities proportional to exp(-epsilon L / 2), where L
    are its losses in the epoch before; the first action is uniform.

    Privacy: epsilon-DP for the sequence of actions when all losses of one round are replaced.
    Anytime, O(K) memory.
    """

    epsilon: float
    id = "epoch-exponential"
    label = "epoch exponential mechanism"
    source = "you2026, Algorithm 2"
    noise, growth = "gumbel", 3.0
    rules = {"epsilon": checks.epsilon}
    privacy = EPSILON_DP

    def noise_scale(self, actions: float) -> float:
        return 2 / self.epsilon
