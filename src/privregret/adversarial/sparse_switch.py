"""A private algorithm that quickly drops the worse arm, made to show what Lemma 11 of asi2025 says about such ones."""

import math
from dataclasses import dataclass

import numpy as np

from privregret import checks
from privregret.adversarial.base import AdversarialAlgorithm
from privregret.algorithm import Privacy
from privregret.jit import jit
from privregret.noise import laplace


@dataclass(frozen=True)
class SparseSwitch(AdversarialAlgorithm):
    """Two arms: stays with the first, looks at the second with probability `rate`, and may change sides, once.

    After each look the number of looks with loss below 1/2 is compared, by the sparse-vector technique, with
    (4 / epsilon) ln T: noise Lap(2 / epsilon) on the threshold, once, and fresh Lap(4 / epsilon) on each comparison.

    Privacy: epsilon-DP; one round changes the count by at most 1, and until the change of sides, which is made once,
    actions do not depend on losses.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, above 0.
    rate : float
        Probability of a look in each round, in (0, 1].
    """

    epsilon: float
    rate: float
    label = "sparse switch"
    longest = checks.ROUNDS
    source = "demonstrator for asi2025, Lemma 11; not in the paper"
    rules = {
        "epsilon": checks.positive,
        "rate": lambda name, value: checks.positive(name, checks.probability(name, value)),
    }

    @property
    def privacy(self):
        return Privacy(self.epsilon, self.epsilon)

    def _kernel(self, data, rounds, record=False):
        arms = data.losses.shape[1]
        if arms != 2:
            raise ValueError(f"{self.label} plays 2 arms, got {arms}")
        return _play, (data, rounds, record, self.epsilon, self.rate)


@jit
def _play(tables, rounds, record, epsilon, rate, rng):
    loss_starts, losses = tables.loss_starts, tables.losses
    horizon = rounds[-1]
    actions = np.empty(horizon if record else 0, np.int64)
    paid = np.empty(len(rounds))
    threshold = 4 / epsilon * math.log(horizon) + laplace(2 / epsilon, rng)
    switched = False
    count = 0
    total = 0.0
    segment, reported = 0, 0
    for t in range(horizon):
        if segment + 1 < len(loss_starts) and loss_starts[segment + 1] == t:
            segment += 1
        look = rng.random() < rate
        i = 1 if look != switched else 0
        loss = losses[segment, i]
        total += loss
        if record:
            actions[t] = i
        if look and not switched:
            if tables.bernoulli:
                loss = 1.0 if rng.random() < loss else 0.0
            count += loss < 0.5
            switched = count + laplace(4 / epsilon, rng) >= threshold
        if t + 1 == rounds[reported]:
            paid[reported] = total
            reported += 1
    return actions, paid
