"""Describe losses that are the same in every round, on which our learners have exact regret."""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import log_expit

from privregret.exact.selection import differences
from privregret.exact.sums import selection_from_sums
from privregret.full_information.base import FullInformationAlgorithm
from privregret.instances import StochasticLosses

# events of probability e^-60 are left out, and counted as error
CERTAIN = 60.0
# relative error
ROUNDING = 1e-10


class Fixed(NamedTuple):
    """Gaps and log-numbers of actions, per group."""

    gaps: np.ndarray
    log_counts: np.ndarray

    @classmethod
    def of(cls, learner: FullInformationAlgorithm, instance: StochasticLosses) -> "Fixed":
        """Return the gaps of an instance; ValueError if its losses are random."""
        if instance.bits or len(instance.outcomes) > 1:
            raise ValueError(
                f"losses must be the same in every round for the exact regret of {learner.label}, "
                f"got {instance.name}"
            )
        return cls(differences(instance.means), np.array(instance.log_counts))

    @property
    def log_actions(self) -> float:
        """Return ln K."""
        return float(np.logaddexp.reduce(self.log_counts))

    @property
    def mean_gap(self) -> float:
        """Return the mean gap of a uniform action."""
        return float(np.exp(self.log_counts - self.log_actions) @ self.gaps)

    @property
    def log_others(self) -> float:
        """Return ln(K - 1)."""
        return self.log_actions + math.log1p(-math.exp(-self.log_actions))

    @property
    def others_gap(self) -> float:
        """Return the mean gap of the K - 1 other actions."""
        return self.mean_gap / -math.expm1(-self.log_actions)

    def led(self, rounds: np.ndarray, scale: float) -> np.ndarray:
        """Return the mean gap of the Gumbel leader of epochs with these numbers of rounds."""
        sums = np.multiply.outer(np.asarray(rounds, float), self.gaps)
        return selection_from_sums(sums, self.log_counts, "gumbel", scale) @ self.gaps

    def wrong(self, log_weight: np.ndarray) -> np.ndarray:
        """Return the mean gap if the best action has weight e^log_weight, each other one 1."""
        return np.exp(log_expit(self.log_others - log_weight)) * self.others_gap
