"""Bounds of azize2025.

Means: (K,) array. Logarithms are natural. Bounds on tails are logarithms of probabilities.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from privregret.divergence import d_epsilon, kl

# Regret
# --------------------------------------------------------------------------------------------------


def _sum_over_arms(means, divergence):
    """Add up gap / divergence(mean, best mean) over the sub-optimal arms."""
    means = np.asarray(means, float)
    best = means.max()
    return sum((best - mean) / divergence(mean, best) for mean in means[means < best])


def lai_robbins(means: ArrayLike) -> float:
    """Compute the lower bound of Lai and Robbins on regret / ln T (equation 3).

    It is the sum of gap / kl(mean, best mean) and holds for every consistent policy as T grows.
    """
    return _sum_over_arms(means, kl)


def theorem_3_1(means: ArrayLike, epsilon: float) -> float:
    """Compute the lower bound of Theorem 3.1 on regret / ln T.

    It is the sum of gap / d_epsilon(mean, best mean) and holds for every consistent epsilon-DP
    policy as T grows. Theorem 4.3 bounds regret of DP-KLUCB and DP-IMED from above by batch ratio
    alpha times this times ln T, plus o(ln T).
    """
    return _sum_over_arms(means, lambda mean, best: d_epsilon(mean, best, epsilon))


def equation_7(means: ArrayLike, epsilon: float) -> float:
    """Compute the older lower bound on regret / ln T (equation 7; Azize and Basu 2022).

    It is the sum of gap / min(kl(mean, best mean), 6 epsilon gap).
    """
    return _sum_over_arms(
        means, lambda mean, best: min(kl(mean, best), 6 * epsilon * (best - mean))
    )


def lower_bounds(means: ArrayLike, epsilons: Iterable[float]) -> dict:
    """Compute the three lower bounds on regret / ln T, each as an (n,) array over epsilon.

    Keys: "theorem_3_1", "equation_7" and "lai_robbins".
    """
    new, old = ([bound(means, e) for e in epsilons] for bound in (theorem_3_1, equation_7))
    free = np.full(len(new), lai_robbins(means))
    return {"theorem_3_1": np.array(new), "equation_7": np.array(old), "lai_robbins": free}


def critical_epsilon(mean: ArrayLike, best: ArrayLike) -> ArrayLike:
    """Compute logit(best) - logit(mean), above which d_epsilon equals kl (low privacy)."""
    return np.log(best / (1 - best)) - np.log(mean / (1 - mean))


# Tails
# --------------------------------------------------------------------------------------------------


def crossing_bound(p: float, q: float, alpha: float, n: ArrayLike) -> np.ndarray:
    """Compute Doob's bound exp(-n kl(r, p)) on `crossing` for p < q.

    Here r is the frequency of ones at the level; the bound is 0 if no frequency reaches it.
    """
    down = np.log((1 - p) / (1 - q))
    ones = (down - (1 + alpha) * kl(p, q)) / (down - np.log(p / q))
    return np.exp(-np.asarray(n) * kl(ones, p)) if ones >= 0 else np.zeros(np.shape(n))


def lemma_d3(x: float, n: int, m: int, mu: float, epsilon: float, proved: bool = False) -> float:
    """Compute Lemma D.3's bound -n d_epsilon(x / n, mu) + ln A on `tail`, n mu <= x <= n.

    With `proved`, the first term of A has the factor n that the proof gives; the printed factor is
    x - n mu. For the lower tail pass n - x and 1 - mu.
    """
    excess = x - n * mu
    # ln of e (1 + m epsilon excess)^m
    power = 1 + m * np.log1p(m * epsilon * excess)
    factor = (n if proved else excess) * -np.log(mu)
    return float(np.logaddexp(power + np.log1p(factor), 0) - n * d_epsilon(x / n, mu, epsilon))


def joint_chernoff(x: float, n: int, m: int, mu: float, epsilon: float) -> float:
    """Compute Chernoff's bound on `tail` for the sum of all n + m variables; x as in `lemma_d3`.

    It is not in the paper. It is simpler than Lemma D.3 and implies Proposition 4.1.
    """

    # a tilt of the moment generating function, in units of epsilon
    def exponent(tilt):
        rate = tilt * epsilon
        binomial = n * np.logaddexp(np.log1p(-mu), np.log(mu) + rate)
        return -rate * x + binomial - m * np.log1p(-tilt * tilt)

    best = minimize_scalar(exponent, bounds=(0, 1), method="bounded", options={"xatol": 1e-10})
    return float(min(best.fun, 0.0))
