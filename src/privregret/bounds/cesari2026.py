"""Bounds of cesari2026, all with explicit constants.

Logarithms are natural; eta is the inverse temperature min(epsilon / 2, 1/8).
"""

from itertools import product

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom

from privregret.bounds.rules import GAPS, LOG_ACTIONS, POSITIVE, POSITIVES, ROUNDS, SHARES, Numbers
from privregret.core import checks


@checks.arguments(log_actions=LOG_ACTIONS, gap=GAPS, eta=POSITIVES)
def theorem_1(log_actions: Numbers, gap: Numbers, eta: Numbers) -> Numbers:
    """Compute bound (1) on regret: 1 + 800 ln K / gap_min + 16 ln K / eta.

    Examples
    --------
    >>> round(float(theorem_1(np.log(1000), gap=0.1, eta=0.125)))
    56147
    """
    return 1 + 800 * log_actions / gap + 16 * log_actions / eta


@checks.arguments(log_actions=LOG_ACTIONS, gap=GAPS, epsilon=POSITIVES)
def theorem_1_simple(log_actions: Numbers, gap: Numbers, epsilon: Numbers) -> Numbers:
    """Compute bound (2) on regret: 1000 (ln K / gap_min + ln K / epsilon)."""
    return 1000 * (log_actions / gap + log_actions / epsilon)


@checks.arguments(log_actions=LOG_ACTIONS, gap=GAPS, epsilon=POSITIVES)
def theorem_1_steps(log_actions: Numbers, gap: Numbers, epsilon: Numbers) -> Numbers:
    """Compute the bound between (1) and (2) in the proof of Theorem 1.

    It is 802 ln K / gap_min + 32 ln K / epsilon for epsilon <= 1/4 and 930 ln K / gap_min above.
    """
    return np.where(
        epsilon <= 0.25,
        802 * log_actions / gap + 32 * log_actions / epsilon,
        930 * log_actions / gap,
    )


@checks.arguments(rounds=ROUNDS, mean=checks.array_in(0, 1, "(]"))
def lemma_1(rounds: Numbers, mean: Numbers) -> Numbers:
    """Bound the probability that a sum is at most half its expectation: exp(-n mean^2 / 8).

    The n terms are independent, in [-1, 1] and of equal mean.
    """
    return np.exp(-np.asarray(rounds) * mean**2 / 8)


@checks.arguments(rounds=ROUNDS, mean=checks.array_in(0, 1, "(]"))
def lemma_1_signs(rounds: Numbers, mean: Numbers) -> Numbers:
    """Compute the probability of `lemma_1` exactly for n independent terms of +1 or -1."""
    rounds = np.asarray(rounds)
    if (rounds % 1).any():
        raise ValueError(f"rounds must be whole numbers, got {checks.shown(rounds)}")
    return binom.cdf(np.floor((rounds + rounds * mean / 2) / 2), rounds, (1 + mean) / 2)


@checks.arguments(
    x=checks.array_in(1e-15, 1, shape=1),
    n=checks.array_in(0, 500, shape=1),
    actions=checks.array_in(2, 2**62, shape=1),
)
def lemma_2(x: ArrayLike, n: ArrayLike, actions: ArrayLike) -> dict[str, float]:
    """Return smaller side / larger side of each inequality of Lemma 2, the largest on a grid.

    The parts are "i" to "v":

    (i) 1 - e^-x >= x / 2 and (ii) e^-x <= 1 - x / 2 for x in (0, 1]; (iii) ln(1 - u) <= -u for u in
    (0, 1); (iv) the sum of e^(-m x) over m > n is at most 2 e^(-n x) / x; (v) ln(K + 1) <= 2 ln K.
    """
    x, n, actions = np.asarray(x, float), np.asarray(n, float)[:, None], np.asarray(actions, float)
    u = x[x < 1]
    return {
        "i": float(np.max(x / 2 / -np.expm1(-x))),
        "ii": float(np.max(np.exp(-x) / (1 - x / 2))),
        "iii": float(np.max(u / -np.log1p(-u))),
        "iv": float(np.max(np.exp(-(n + 1) * x) / -np.expm1(-x) / (2 * np.exp(-n * x) / x))),
        "v": float(np.max(np.log(actions + 1) / (2 * np.log(actions)))),
    }


@checks.arguments(eta=POSITIVES)
def lemma_3(eta: Numbers) -> Numbers:
    """Return the privacy loss of softmax(-eta L) on a data-independent prefix: 2 eta."""
    return 2 * eta


@checks.arguments(log_actions=LOG_ACTIONS, gap=GAPS, eta=POSITIVES)
def lemma_5(log_actions: Numbers, gap: Numbers, eta: Numbers) -> Numbers:
    """Bound the sum of F_m over m >= 1: 200 ln K / gap_min + 4 ln K / eta, for eta <= 1/8."""
    return 200 * log_actions / gap + 4 * log_actions / eta


@checks.arguments(rounds=ROUNDS, gap=SHARES)
def small_gap(rounds: Numbers, gap: Numbers) -> Numbers:
    """Bound (4) on the selection probability after m rounds: 2 exp(-m gap^2 / 8).

    It holds for gaps of at most 4 eta.
    """
    return 2 * np.exp(-np.asarray(rounds) * np.asarray(gap) ** 2 / 8)


@checks.arguments(log_actions=LOG_ACTIONS, gap=GAPS)
def small_part(log_actions: Numbers, gap: Numbers) -> Numbers:
    """Bound (5) on the sum of F_m due to gaps up to 4 eta: (64 ln(K + 1) + 36) / gap_min."""
    return (64 * np.logaddexp(log_actions, 0.0) + 36) / gap


@checks.arguments(log_actions=LOG_ACTIONS, eta=POSITIVES)
def large_part(log_actions: Numbers, eta: Numbers) -> Numbers:
    """Bound (6) on the sum of F_m due to gaps above 4 eta: 4 ln K / eta.

    The proof would give 8/7 in place of 4.
    """
    return 4 * log_actions / eta


@checks.arguments(
    eta=POSITIVE, means=checks.array_in(0, 1, shape=1), lead=checks.array_in(-1e15, 1e15, shape=1)
)
def drift(eta: float, means: np.ndarray, lead: np.ndarray) -> float:
    """Compute the expected decrease of log Z in the next round / (eta V).

    Lemma 5's proof says that it is at least 1/4 in every state. Z is 1 + the sum of e^(-eta lead)
    over the worse actions. The next losses are independent Bernoulli losses; all are listed.

    Parameters
    ----------
    eta : float
    means : (K,) array
        Mean losses, the best action first.
    lead : (K,) array
        Losses so far minus those of the best action, so that the first is 0.

    Returns
    -------
    float
        Infinite where V is below 1e-9.
    """
    losses = np.array(list(product((0.0, 1.0), repeat=len(means))))
    weights = np.prod(np.where(losses == 1, means, 1 - means), axis=1)
    after = np.logaddexp.reduce(-eta * (lead + losses - losses[:, :1]), axis=1)
    now = np.logaddexp.reduce(-eta * lead)
    v = float(np.exp(-eta * lead[1:] - now) @ (means[1:] - means[0]))
    return float((now - weights @ after) / (eta * v)) if v > 1e-9 else np.inf


@checks.arguments(
    log_bad=checks.number_in(0, 1e6),
    rounds=checks.integer_in(0, 10**4),
    gap=checks.number_in(0, 1),
    eta=POSITIVE,
)
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
