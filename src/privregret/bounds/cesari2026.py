"""Bounds of cesari2026, all with explicit constants.

Logarithms are natural; eta is the inverse temperature min(epsilon / 2, 1/8).
"""

from itertools import product

import numpy as np
from scipy.stats import binom

from privregret.bounds import Numbers


def theorem_1(log_actions: Numbers, gap: Numbers, eta: Numbers) -> Numbers:
    """Compute bound (1) on regret: 1 + 800 ln K / gap_min + 16 ln K / eta."""
    return 1 + 800 * log_actions / gap + 16 * log_actions / eta


def lemma_5(log_actions: Numbers, gap: Numbers, eta: Numbers) -> Numbers:
    """Bound the sum of F_m over m >= 1: 200 ln K / gap_min + 4 ln K / eta, for eta <= 1/8."""
    return 200 * log_actions / gap + 4 * log_actions / eta


def drift(eta: float, means: np.ndarray, lead: np.ndarray) -> float:
    """Compute the expected decrease of log Z in the next round / (eta V).

    Lemma 5's proof says that it is at least 1/4 in every state. Z is 1 + the sum of e^(-eta lead)
    over the worse actions; (K,) `lead` has losses so far minus those of the best action, (K,)
    `means` mean losses, both the best action first. The next losses are independent Bernoulli
    losses; all are listed. The result is infinite where V is below 1e-9.
    """
    losses = np.array(list(product((0.0, 1.0), repeat=len(means))))
    weights = np.prod(np.where(losses == 1, means, 1 - means), axis=1)
    after = np.logaddexp.reduce(-eta * (lead + losses - losses[:, :1]), axis=1)
    now = np.logaddexp.reduce(-eta * lead)
    v = float(np.exp(-eta * lead[1:] - now) @ (means[1:] - means[0]))
    return float((now - weights @ after) / (eta * v)) if v > 1e-9 else np.inf


def potential(log_bad: float, rounds: int, gap: float, eta: float) -> tuple[float, float]:
    """Compute (E log Z, E V) after `rounds` rounds if e^log_bad worse actions share one loss.

    Losses are Bernoulli of means (1 - gap) / 2, for the best action, and (1 + gap) / 2.
    """
    n = np.arange(rounds + 1)
    chances = np.convolve(
        binom.pmf(n, rounds, (1 + gap) / 2), binom.pmf(n, rounds, (1 - gap) / 2)[::-1]
    )
    log_sum = log_bad - eta * np.arange(-rounds, rounds + 1)
    log_z = np.logaddexp(0.0, log_sum)
    return float(chances @ log_z), float(gap * (chances @ np.exp(log_sum - log_z)))
