"""Compute exactly what Lemma 3 and Remark 4 of wu2026 are about."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom

from privregret.bounds import Numbers
from privregret.core import store


def lemma_2(a: ArrayLike, log_counts: ArrayLike, x: complex) -> complex:
    """Compute f(x), the mean of u = 2^x a under weights e^-u.

    x may be complex. The lemma says f' <= ln 2 f, which holds since f' = ln 2 (f - variance of u).
    """
    u = 2.0**x * np.asarray(a, float)
    weights = np.asarray(log_counts, float) - u
    weights = np.exp(weights - weights.real.max())
    return weights @ u / weights.sum()


@store.cached
def lemma_3(a: ArrayLike, log_counts: ArrayLike) -> float:
    """Compute the sum of f(r) over r >= 1, divided by ln K.

    The printed proof bounds it by 4.885, the corrected proof by 2.443. The best constant is 2.
    """
    log_actions = float(np.logaddexp.reduce(np.asarray(log_counts, float)))
    return sum(lemma_2(a, log_counts, r) for r in range(1, 200)) / log_actions


def remark_4(
    log_bad: float, rounds: int, gap: float, epsilon: float, factor: float, c2: float
) -> float:
    """Compute ln of the c1 that Remark 4's conjecture needs for means (0, gap, 1, ..., 1).

    e^log_bad actions have mean 1 (-inf for none), `rounds` is n, and the Gumbel noise has scale
    `factor` / epsilon. The probability that the middle action is selected is a binomial sum. The
    conjecture bounds it by c1 times a softmax of temperature c2 / (4 epsilon) at the mean losses.
    """
    cold, hot = epsilon / factor, 4 * epsilon / c2
    g = np.arange(rounds + 1)
    chosen = -cold * g - np.logaddexp(0.0, np.logaddexp(-cold * g, log_bad - cold * rounds))
    middle = float(np.logaddexp.reduce(binom.logpmf(g, rounds, gap) + chosen))
    right = np.logaddexp(0.0, np.logaddexp(-hot * rounds * gap, log_bad - hot * rounds))
    return middle + hot * rounds * gap + right


def remark_4_limit(
    rounds: Numbers, gap: Numbers, epsilon: Numbers, factor: float, c2: Numbers
) -> Numbers:
    """Compute the limit of `remark_4` for many actions of mean 1.

    It is n ln(1 - gap + gap e^-l) + n (l - k + k gap), l = epsilon / factor, k = 4 epsilon / c2.
    """
    cold, hot = epsilon / factor, 4 * epsilon / c2
    return rounds * (np.log1p(gap * np.expm1(-cold)) + cold - hot + hot * gap)
