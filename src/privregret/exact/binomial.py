"""Binomial sums on a lattice, for any number of rounds up to 2^60, with small probabilities to full relative
precision."""

from fractions import Fraction

import numpy as np
from scipy.special import gammaln


def atoms(n: int, p: float, step: int, low: float, high: float) -> tuple[int, np.ndarray]:
    """Binomial(n, p) on the multiples of `step`: index of the first multiple, and the probability of each
    from there on.

    With step 1 this is the binomial itself. A larger step must be small against the standard deviation: the
    density at the multiples, scaled, then has the same moments to many digits. A binomial narrower than the
    step is split between neighbouring multiples, which keeps its mean. What is left out has probability at
    most exp(-low) below and exp(-high) above (Bernstein's inequality).
    """
    mean = Fraction(p) * n
    variance = float(mean * (1 - Fraction(p)))
    below, above = (x / 3 + np.sqrt(x * x / 9 + 2 * x * variance) for x in (low, high))
    first, last = max(0, int(mean - Fraction(below))), min(n, int(mean + Fraction(above)) + 1)
    if step > 1 and variance >= (2 * step) ** 2:
        k = np.arange(-(-first // step), last // step + 1)
        mass = np.exp(_log_pmf(n, p, k * step, mean))
        return int(k[0]), mass / mass.sum()
    # unit lattice; a narrow binomial among wide ones has few atoms that count
    x = np.arange(first, last + 1)
    mass = np.exp(_log_pmf(n, p, x, mean))
    mass /= mass.sum()
    if step == 1:
        return first, mass
    k, part = np.divmod(x, step)
    split = np.bincount(k - k[0], mass * (1 - part / step), k[-1] - k[0] + 2)
    return int(k[0]), split + np.bincount(k - k[0] + 1, mass * part / step, k[-1] - k[0] + 2)


def _log_pmf(n, p, x, mean):
    """Loader's saddle-point form, whose terms do not cancel however large n is."""
    if p in (0.0, 1.0):
        return np.where(x == round(n * p), 0.0, -np.inf)
    away = (x - int(mean)).astype(float) - float(mean - int(mean))  # x - n p, exactly rounded
    inner = (x > 0) & (x < n)
    x_in = np.where(inner, x, 1).astype(float) if n > 1 else np.ones(len(x))
    rest = np.where(inner, n - x, 1).astype(float)
    log = _stirling_error(float(n)) - _stirling_error(x_in) - _stirling_error(rest)
    log = log - _deviance(away, n * p) - _deviance(-away, n * (1 - p))
    log = log - 0.5 * (np.log(2 * np.pi) + np.log(x_in) + np.log(rest / n))
    return np.where(x == 0, n * np.log1p(-p), np.where(x == n, n * np.log(p), log))


def _stirling_error(n):
    """ln n! minus Stirling's formula."""
    n = np.asarray(n, float)
    small = np.minimum(n, 16)
    exact = gammaln(small + 1) - ((small + 0.5) * np.log(small) - small + 0.5 * np.log(2 * np.pi))
    s = 1 / n**2
    series = (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s / 1188)))) / n
    return np.where(n <= 15, exact, series)


def _deviance(away, mean):
    """x ln(x / mean) + mean - x, given away = x - mean."""
    d = away / mean
    small = np.abs(d) < 0.1
    ds = np.where(small, d, 0.0)
    series = np.zeros_like(d)
    for k in range(18, 1, -1):
        series = (-1) ** k / (k * (k - 1)) + ds * series
    dl = np.where(small | (d <= -1), 1.0, d)
    return mean * np.where(small, ds * ds * series, (1 + dl) * np.log1p(dl) - dl)
