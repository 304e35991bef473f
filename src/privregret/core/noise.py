"""Draw the noise that makes releases private, with one sampler for all.

Report noisy max adds an independent draw to each of K sums and returns the index of the largest.
One changed round moves every sum by at most 1, in either direction. So the *index* is epsilon-DP
with scale 2 / epsilon, whatever the noise, and only 2 epsilon-DP with scale 1 / epsilon
(`privregret.privacy.noisy_maxima`). The noisy sums themselves must not be published.

The last digits of a sum with Laplace noise can reveal data (Mironov 2012). A sum of bits with
geometric noise is a whole number, so it has none.
"""

import math

import numpy as np

from privregret.core.jit import jit

LAPLACE, EXPONENTIAL, GUMBEL, NONE = 0, 1, 2, 3
CODES = {"laplace": LAPLACE, "exponential": EXPONENTIAL, "gumbel": GUMBEL, "none": NONE}
TIE = 1e-9  # without noise, sums closer than this are equal up to rounding


@jit
def laplace(scale, rng):
    """Draw Laplace noise, in half the time of `Generator.laplace`."""
    size = scale * rng.standard_exponential()
    return size if rng.random() < 0.5 else -size


@jit
def _happens(part, whole, rng):
    """Draw True with probability exp(-part / whole), where 0 <= part <= whole."""
    k = 1
    while rng.integers(0, k * whole) < part:
        k += 1
    return k % 2 == 1


@jit
def geometric(scale, rng):
    """Draw a whole number z with probability proportional to exp(-abs(z) / scale).

    This is exact, since a float is a fraction and only uniform whole numbers are compared with
    whole numbers (Canonne, Kamath and Steinke 2020). Below 2^-10 the scale counts as 0: another
    number than 0 has probability below 2 exp(-1024). It must be less than 2^53.
    """
    if not scale > 2.0**-10:
        return 0
    mantissa, exponent = math.frexp(scale)
    # scale = top / bottom
    top, bottom = int(mantissa * 2.0**53), 1 << (53 - exponent)
    while True:
        rest, ones = int(rng.integers(0, top)), 0
        if not _happens(rest, top, rng):
            continue
        while _happens(1, 1, rng):
            ones += 1
        size = top // bottom * ones + (rest + top % bottom * ones) // bottom
        # else 0 would have two signs
        if rng.integers(0, 2) == 1:
            return size
        if size > 0:
            return -size


@jit
def successes(n, p, rng):
    """Draw a number of successes; `Generator.binomial` takes 1 - p for 1 if p is tiny."""
    if not 0 < p < 1e-9 or n * p >= 30:
        return rng.binomial(n, p)
    hits, left, rate = 0, float(n), -math.log1p(-p)
    while True:
        # failures until the next success
        left -= 1 + np.floor(rng.standard_exponential() / rate)
        if left < 0:
            return hits
        hits += 1


@jit
def drawn(weights, u):
    """Return the index that a uniform number u draws: u is below the sum of the weights."""
    index = 0
    # to the end, because a processor cannot predict an early exit
    for i in range(len(weights) - 1):
        u -= weights[i]
        index += u >= 0
    return index


@jit
def draw(noise, scale, rng):
    """Draw a noise, given by its code.

    Laplace noise has density exp(-|x| / scale) / (2 scale), exponential noise has mean `scale`, and
    Gumbel noise (for maxima) has distribution function exp(-exp(-x / scale)). Without noise the
    result is 0, and `rng` stays as it is.
    """
    if noise == LAPLACE:
        return laplace(scale, rng)
    if noise == EXPONENTIAL:
        return scale * rng.standard_exponential()
    if noise == GUMBEL:
        # numba has no Generator.gumbel
        return -scale * math.log(rng.standard_exponential())
    return 0.0
