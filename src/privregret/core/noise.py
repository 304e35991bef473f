"""Draw the noise that makes releases private, with one sampler for all.

Report noisy max adds an independent draw to each of K sums and returns the index of the largest.
One changed round moves every sum by at most 1, in either direction. So the *index* is epsilon-DP
with scale 2 / epsilon, whatever the noise, and only 2 epsilon-DP with scale 1 / epsilon
(`privregret.privacy.noisy_maxima`). The noisy sums themselves must not be published.
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
