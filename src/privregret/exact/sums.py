"""Select among fixed sums of losses: closed forms, or Gauss's rule between kinks.

With deficits u_g in scales of the noise, n_g actions with each, and the noise's distribution
function F and density f,

    P[an action of group g is selected]
        = integral of n_g f(x + u_g) / F(x + u_g) exp(sum over h of n_h ln F(x + u_h)) dx.
"""

from functools import cache
from itertools import pairwise
from math import log

import numpy as np
from numpy.typing import ArrayLike

from privregret.core import checks
from privregret.core.jit import jit
from privregret.core.noise import CODES, TIE

TAIL = 50.0  # probability e^-50 is left out of a distribution at most
LOG_HALF = log(0.5)
NOISE = checks.one_of(*CODES)
SUMS, SCALES = checks.array_in(-1e20, 1e20), checks.array_in(1e-200, 1e200)


# nodes and weights on [-1, 1], computed once
gauss_legendre = cache(np.polynomial.legendre.leggauss)
LEGENDRE = tuple(np.stack(gauss_legendre(points)) for points in (4, 6, 10, 16))


@checks.validate(sums=SUMS, log_counts=checks.array_in(0, 1e6, shape=1), noise=NOISE, scale=SCALES)
def selection_from_sums(
    sums: ArrayLike, log_counts: ArrayLike, noise: str, scale: float
) -> np.ndarray:
    """Return the (..., G) probabilities that report noisy max selects group g, given the sums.

    Gumbel noise gives softmax, and exponential noise permute-and-flip. Without noise, sums that
    differ by less than 1e-9 are ties.

    Parameters
    ----------
    sums : (..., G) array
        Sum of losses of each action of group g.
    log_counts : (G,) array
        Natural logarithm of the number of actions in each group.
    noise, scale
        As in `selection_probabilities`.
    """
    sums, log_counts = np.asarray(sums, float), np.asarray(log_counts, float)
    d = sums - sums.min(axis=-1, keepdims=True)
    with np.errstate(over="ignore"):
        u = np.minimum(d / scale, 1e300)
    if noise == "none":
        weights = np.where(d < TIE, log_counts, -np.inf)
    elif noise == "gumbel":
        weights = log_counts - u
    elif len(log_counts) == 2 and not log_counts.any():
        most = u.max(axis=-1, keepdims=True)
        worse = 0.5 * np.exp(-most) * (1 + most / 2 if noise == "laplace" else 1)
        # equal sums: 1/2 each
        return np.where(d > 0, worse, 1 - worse)
    else:
        rows = u.reshape(-1, len(log_counts))
        return _integrated(rows, log_counts, noise == "laplace", *LEGENDRE[3]).reshape(u.shape)
    weights = np.exp(weights - weights.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


@jit
def mean_softmax(probabilities, sums, log_counts, scale):
    """Return `selection_from_sums` with Gumbel noise, averaged over the rows."""
    result, weights = np.zeros(len(log_counts)), np.empty(len(log_counts))
    for row in range(len(probabilities)):
        low, top, total = sums[row].min(), -np.inf, 0.0
        # by entries: assigning a row takes seconds to compile
        for g in range(len(weights)):
            weights[g] = log_counts[g] - (sums[row, g] - low) / scale
            top = max(top, weights[g])
        for g in range(len(weights)):
            weights[g] = np.exp(weights[g] - top)
            total += weights[g]
        for g in range(len(weights)):
            result[g] += probabilities[row] * (weights[g] / total)
    return result


@jit
def _integrated(deficits, log_counts, laplace, nodes, weights):
    """Integrate over the panels between kinks, for Laplace or exponential noise."""
    groups = len(log_counts)
    counts = np.exp(np.minimum(log_counts, 700.0))
    result, breaks = np.zeros(deficits.shape), np.empty(groups + 3)
    log_density, log_f = np.empty(groups), np.empty(groups)
    for row in range(len(deficits)):
        foremost = np.argmax(log_counts - deficits[row])
        ahead = log_counts[foremost] - deficits[row, foremost]
        low = -TAIL if laplace else 0.0
        # the largest of so many is above ahead - 6
        if log_counts[foremost] >= 6:
            low = max(low, ahead - 6)
        breaks[0], breaks[1], many = low, ahead + TAIL, 2
        # places where some density has a kink
        for g in range(-1, groups if laplace else -1):
            kink = 0.0 if g < 0 else -deficits[row, g]
            if low < kink < ahead + TAIL:
                breaks[many] = kink
                many += 1
        breaks[:many].sort()
        for k in range(many - 1):
            wide = breaks[k + 1] - breaks[k]
            panels = 1 + int(2 * wide)
            half = wide / panels / 2
            for node in range(panels * len(nodes)):
                panel, q = divmod(node, len(nodes))
                x = breaks[k] + half * (2 * panel + 1 + nodes[q])
                total = 0.0
                for g in range(groups):
                    z = x + deficits[row, g]
                    log_density[g] = (LOG_HALF if laplace else 0.0) - abs(z)
                    # beyond, ln F is -(1 - F): N ln F = -e^(ln N + ln(1 - F)), without N
                    if z > 20:
                        log_f[g] = 0.0
                        total -= np.exp(log_counts[g] + log_density[g])
                    else:
                        below = laplace and z < 0
                        log_f[g] = log_density[g] if below else np.log1p(-np.exp(log_density[g]))
                        total += counts[g] * log_f[g]
                for g in range(groups):
                    power = log_counts[g] + log_density[g] + total - log_f[g]
                    result[row, g] += half * weights[q] * np.exp(power)
    return np.minimum(result, 1.0)


@checks.validate(sums=SUMS, noise=checks.one_of("laplace", "exponential", "gumbel"), scale=SCALES)
def expected_maximum(sums: ArrayLike, noise: str, scale: float) -> np.ndarray:
    """Return E max_j (noise_j - sum_j), the expected score of the winner of report noisy max.

    It is a convex function of the (..., K) sums; its slope in a sum is minus the probability that
    this action wins. Gumbel noise has a closed form; else it is the integral of 1 minus the
    maximum's distribution function, and shares nothing with `selection_from_sums`.
    """
    sums = np.asarray(sums, float)
    smallest = sums.min(axis=-1)
    u = (sums - smallest[..., None]) / scale
    if noise == "gumbel":
        return scale * (np.log(np.exp(-u).sum(axis=-1)) + np.euler_gamma) - smallest
    found = np.array([_maximum(row, noise == "laplace") for row in u.reshape(-1, u.shape[-1])])
    return scale * found.reshape(smallest.shape) - smallest


def _maximum(u, laplace):
    """Return the expected maximum of noises of scale 1 minus these deficits."""
    # the tail is below K e^-x; breaks where some density has a kink
    top = log(len(u)) + 40.0
    breaks = sorted({0.0, top, *([-40.0, *-u[u < 40]] if laplace else [])})
    edges = np.unique(
        np.concatenate([np.linspace(a, b, 2 + int(b - a)) for a, b in pairwise(breaks)])
    )
    nodes, weights = gauss_legendre(16)
    half = np.diff(edges)[:, None] / 2
    x, w = (edges[:-1, None] + half * (1 + nodes)).ravel(), (half * weights).ravel()
    z = x + u[:, None]
    if laplace:
        cdf = np.where(z < 0, 0.5 * np.exp(np.minimum(z, 0)), 1 - 0.5 * np.exp(-np.abs(z)))
    else:
        cdf = -np.expm1(-z)
    return top - cdf.prod(axis=0) @ w
