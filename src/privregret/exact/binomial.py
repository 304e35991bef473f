"""Compute binomial probabilities on a lattice, for up to 2^60 rounds.

Small probabilities have full relative precision.
"""

import math

import numpy as np

from privregret.core.jit import jit

HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)
EVERY = 32  # every n-th atom is computed directly, not from the one before,
FAINT = 1e-290  # and so are atoms after one as improbable as this
# of (1 + d) ln(1 + d) - d, over d^2
SERIES = np.array([(-1.0) ** k / (k * (k - 1)) for k in range(2, 19)])


def atoms(n: int, p: float, step: int, low: float, high: float) -> tuple[int, np.ndarray]:
    """Return Binomial(n, p) on the multiples of `step`: first multiple, probabilities from there.

    With step 1 this is the binomial itself. A larger step must be small compared with the standard
    deviation: the density at the multiples, scaled, then has the same moments to many digits. A
    binomial narrower than the step is split between neighbouring multiples, which keeps its mean.
    Atoms are left out with total probability at most exp(-low) below and exp(-high) above
    (Bernstein's inequality).
    """
    means = np.array([p])
    whole, rest = split_means(np.array([n]), means)
    first, _, mass = binomials(n, means, whole[0], rest[0], step, np.array([low]), float(high))
    return int(first[0]), mass[0]


def split_means(rounds: np.ndarray, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return n p as an integer and an exactly rounded rest, for each n and p."""
    tops, bottoms = np.array([p.as_integer_ratio() for p in means.tolist()], dtype=object).T
    products = np.multiply.outer(rounds.astype(object), tops)
    rest = (products % bottoms / bottoms).astype(float)
    return (products // bottoms).astype(np.int64), rest


@jit
def binomials(n, means, whole, rest, step, low, high):
    """Return `atoms` of G binomials (means split by `split_means`): first, last, rows of them."""
    groups = len(means)
    first, last = np.empty(groups, np.int64), np.empty(groups, np.int64)
    left, right, dense = first.copy(), last.copy(), np.empty(groups, np.bool_)
    # the range of sums, then that of multiples
    for g in range(groups):
        variance = (whole[g] + rest[g]) * (1 - means[g])
        below = low[g] / 3 + math.sqrt(low[g] ** 2 / 9 + 2 * low[g] * variance)
        above = high / 3 + math.sqrt(high**2 / 9 + 2 * high * variance)
        if variance == 0:
            left[g] = right[g] = whole[g]
        else:
            left[g] = max(0, whole[g] + math.floor(rest[g] - below))
            right[g] = min(n, whole[g] + math.floor(rest[g] + above) + 1)
        dense[g] = step > 1 and variance >= (2.0 * step) ** 2
        first[g] = (left[g] + step - 1) // step if dense[g] else left[g] // step
        last[g] = right[g] // step + (0 if dense[g] or step == 1 else 1)
    mass = np.zeros((groups, (last - first).max() + 1))
    for g in range(groups):
        p, total = means[g], 0.0
        if left[g] == right[g]:
            place, part = left[g] // step - first[g], left[g] % step / step
            mass[g, place] = 1 - part
            if part > 0:
                mass[g, place + 1] = part
            continue
        if dense[g] or step == 1:
            for k in range(last[g] - first[g] + 1):
                x = (first[g] + k) * step
                if step > 1 or k % EVERY == 0 or mass[g, k - 1] < FAINT:
                    mass[g, k] = math.exp(_log_pmf(n, p, x, (x - whole[g]) - rest[g]))
                else:
                    mass[g, k] = mass[g, k - 1] * ((n - x + 1) / x * (p / (1 - p)))
                total += mass[g, k]
        else:
            # a narrow binomial among wide ones has few atoms that count
            for x in range(left[g], right[g] + 1):
                chance = math.exp(_log_pmf(n, p, x, (x - whole[g]) - rest[g]))
                place, part = x // step - first[g], x % step / step
                mass[g, place] += chance * (1 - part)
                mass[g, place + 1] += chance * part
                total += chance
        for k in range(last[g] - first[g] + 1):
            mass[g, k] /= total
    return first, last, mass


@jit
def _log_pmf(n, p, x, away):
    """Return the log-probability in Loader's saddle-point form; `away` is x - n p."""
    if x == 0:
        return n * math.log1p(-p)
    if x == n:
        return n * math.log(p)
    log = _stirling_error(n) - _stirling_error(x) - _stirling_error(n - x)
    log -= _deviance(away, n * p) + _deviance(-away, n * (1 - p))
    return log - HALF_LOG_TAU - 0.5 * (math.log(x) + math.log((n - x) / n))


@jit
def _stirling_error(n):
    """Return ln n! minus Stirling's formula."""
    if n <= 15:
        return math.lgamma(n + 1.0) - (n + 0.5) * math.log(n) + n - HALF_LOG_TAU
    s = 1.0 / n / n
    return (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s / 1188)))) / n


@jit
def _deviance(away, mean):
    """Return x ln(x / mean) + mean - x, given away = x - mean."""
    d = away / mean
    if abs(d) >= 0.1:
        return mean * ((1 + d) * math.log1p(d) - d)
    series = 0.0
    for k in range(8 if abs(d) < 0.01 else len(SERIES), 0, -1):
        series = SERIES[k - 1] + d * series
    return mean * d * d * series
