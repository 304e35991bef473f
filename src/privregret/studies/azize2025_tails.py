"""Compute exact tails for the concentration inequalities of azize2025, as logarithms."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import gammaln, logsumexp, xlogy
from scipy.stats import binom

from privregret.divergence import kl

ROUNDING = 1e-9  # relative; numbers closer than this are equal


def laplace_tail(z: ArrayLike, m: int, epsilon: float) -> np.ndarray:
    """Compute ln P[Z >= z] for a sum Z of m independent Laplace variables of scale 1 / epsilon.

    By conditioning on signs, Z is a mixture of differences of gamma variables: P[Z >= z] = sum over
    j < m of C(m - 1 + j, j) 2^-(m + j) P[Poisson(epsilon z) < m - j] for z >= 0. All terms are
    positive.
    """
    z = np.asarray(z, float)
    u = epsilon * np.abs(z)[..., None]
    i = np.arange(m)
    # ln P[Poisson(u) <= i]
    poisson = np.logaddexp.accumulate(xlogy(i, u) - u - gammaln(i + 1), axis=-1)
    weights = gammaln(m + i) - gammaln(m) - gammaln(i + 1) - (m + i) * np.log(2)
    upper = logsumexp(weights + poisson[..., ::-1], axis=-1)
    return np.where(z >= 0, upper, np.log1p(-np.exp(upper)))


def tail(x: float, n: int, m: int, mu: float, epsilon: float, lower: bool = False) -> float:
    """Compute ln P[S + Z >= x] for a binomial S (n trials of mean mu) and Z as in `laplace_tail`.

    With `lower`, ln P[S + Z <= x]. All n m terms are computed, at once.
    """
    k = np.arange(n + 1)
    noise = laplace_tail(k - x if lower else x - k, m, epsilon)
    return float(logsumexp(binom.logpmf(k, n, mu) + noise))


def crossing(p: float, q: float, alpha: float, n: int) -> float:
    """Compute the probability of Lemma C.3's event exactly, in O(n^2).

    The event is that for some m <= n the sum of ln(P(X_i) / Q(X_i)) over i <= m exceeds (1 + alpha)
    n kl(p, q), where X_i is Bernoulli(p) and P, Q have means p, q in (0, 1). The sum is a random
    walk, absorbed when it crosses. A walk that reaches the level does not exceed it: sums within
    rounding of the level count as equal.
    """
    up, down = np.log(p / q), np.log((1 - p) / (1 - q))
    level = (1 + alpha) * n * kl(p, q) * (1 + ROUNDING)
    # alive[k]: P[not crossed so far, k ones]
    alive, lost = np.ones(1), 0.0
    for m in range(1, n + 1):
        alive = np.append(alive * (1 - p), 0) + np.append(0, alive * p)
        crossed = np.arange(m + 1) * up + (m - np.arange(m + 1)) * down > level
        lost += alive[crossed].sum()
        alive[crossed] = 0
    return lost


def separate(x: float, n: int, m: int, mu: float, epsilon: float) -> float:
    """Compute a bound on `tail` from separate ones on S and Z, n mu <= x <= n.

    It is the smallest over 999 splits of the deviation.
    """
    fractions = np.arange(1, 1000) / 1000
    excess = x / n - mu
    binomial = np.array([-n * kl(mu + fraction * excess, mu) for fraction in fractions])
    noise = laplace_tail(n * (1 - fractions) * excess, m, epsilon)
    return float(min(np.logaddexp(binomial, noise).min(), 0.0))


def few_pulls_bound(
    chance: float, n: int, alpha: float, mean: float, middle: float, beyond: float, epsilon: float
) -> float:
    """Compute a bound on P[N_2(T) <= n], for every T and every epsilon-DP policy on two arms.

    It is that of Theorem 3.1's proof, (10) with Lemmas C.1, C.3 and C.5: arm 2 has this mean, and
    `chance` is the same probability if arm 2 has the mean `beyond` instead. From `mean` to `middle`
    >= mean its rewards are coupled, and from there to `beyond` the measure changes. alpha > 0.
    """
    shift, change = middle - mean, kl(middle, beyond)
    factor = np.exp((1 + alpha) * n * (epsilon * shift + change))
    # at an integer level more rewards must be shifted
    shifted = binom.sf(np.floor((1 + alpha) * n * shift * (1 + ROUNDING)), n, shift)
    ratio = crossing(middle, beyond, alpha, n) if change else 0.0
    return float(factor * chance + ratio + shifted)


def separate_exponent(x: float, mu: float, epsilon: float) -> float:
    """Compute the exponent in n of `separate` at n x, for a fixed m and mu < x <= 1.

    At the best split the exponents of the two parts are equal.
    """
    excess = x - mu

    # a share of the deviation is left to the rewards
    def apart(share):
        return kl(mu + share * excess, mu) - epsilon * (1 - share) * excess

    return epsilon * (1 - brentq(apart, 0.0, 1.0)) * excess
