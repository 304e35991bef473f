"""Compute exactly what the proof of Lemma 5 of cesari2026 bounds."""

from itertools import product

import numpy as np
from scipy.stats import binom

from privregret.core import store
from privregret.exact.regret import NEGLIGIBLE, expected_gaps, largest_gaps, sum_over
from privregret.instances import StochasticLosses


@store.cached
def prefix_sum(
    instance: StochasticLosses, scale: float, groups: np.ndarray | float = 1.0
) -> tuple[float, float]:
    """Return the sum of F_m over all m >= 1, Gumbel noise, and a bound on its error.

    If `groups` (a mask) is given, only the part of F_m due to these groups counts.
    """
    gaps, total, error, first = instance.gaps * groups, 0.0, 0.0, 1

    def terms(rounds):
        return expected_gaps(instance, rounds, "gumbel", scale, gaps)

    while True:
        bound = float(largest_gaps(instance, first, "gumbel", scale))
        # the bound falls exponentially
        if bound * first < NEGLIGIBLE or first > 2**59:
            return total, error + bound * first
        part, part_error = sum_over(terms, first, 2 * first - 1, total)
        total, error, first = total + part, error + part_error, 2 * first


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
