"""Samplers of the noise that makes releases private, and report-noisy-max. All compiled."""

import math

from privregret.jit import jit

LAPLACE, EXPONENTIAL, GUMBEL, NONE = 0, 1, 2, 3
CODES = {"laplace": LAPLACE, "exponential": EXPONENTIAL, "gumbel": GUMBEL, "none": NONE}


@jit
def laplace(rng, scale):
    """One draw with density exp(-|x| / scale) / (2 scale)."""
    return rng.laplace(0.0, scale)


@jit
def exponential(rng, scale):
    """One draw with mean `scale`."""
    return scale * rng.standard_exponential()


@jit
def gumbel(rng, scale):
    """One standard Gumbel draw (for maxima) times `scale`; numba has no `Generator.gumbel`."""
    return -scale * math.log(rng.standard_exponential())


@jit
def report_noisy_max(sums, noise, scale, rng):
    """Index of the largest of `sums` after independent noise on each.

    Parameters
    ----------
    sums : (K,) array
        True sums. One changed round moves each by at most 1, in either direction.
    noise : int
        `LAPLACE`, `EXPONENTIAL` or `GUMBEL`.
    scale : float
        Scale of the noise. With scale 2 / epsilon each of the three makes the *index* epsilon-DP; with
        scale 1 / epsilon only 2 epsilon-DP. The noisy sums themselves must not leave this function.
    rng : numpy.random.Generator
        Draws K values, in order of the index.
    """
    best, winner = -math.inf, 0
    for j in range(len(sums)):
        if noise == LAPLACE:
            score = sums[j] + laplace(rng, scale)
        elif noise == EXPONENTIAL:
            score = sums[j] + exponential(rng, scale)
        else:
            score = sums[j] + gumbel(rng, scale)
        if score > best:
            best, winner = score, j
    return winner
