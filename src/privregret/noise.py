"""The noise that makes releases private: one compiled sampler for every law.

Report noisy max adds an independent draw to each of K sums and says which is the largest. One
changed round moves every sum by at most 1, in either direction: with scale 2 / epsilon the *index*
is epsilon-DP whatever the noise, with scale 1 / epsilon only 2 epsilon-DP
(`privregret.privacy.selection`). The noisy sums themselves are not to be shown.
"""

import math

from privregret.jit import jit

LAPLACE, EXPONENTIAL, GUMBEL, NONE = 0, 1, 2, 3
CODES = {"laplace": LAPLACE, "exponential": EXPONENTIAL, "gumbel": GUMBEL, "none": NONE}
TIE = 1e-9  # without noise, sums closer than this are equal but for rounding


@jit
def laplace(scale, rng):
    """Laplace noise: an exponential draw with a random sign, in half the time of
    `Generator.laplace`.

    Examples
    --------
    >>> import numpy as np
    >>> round(laplace(2.0, np.random.default_rng(1)), 3)
    -2.146
    """
    size = scale * rng.standard_exponential()
    return size if rng.random() < 0.5 else -size


@jit
def draw(noise, scale, rng):
    """One draw of a noise, given by its code.

    Laplace has the density exp(-|x| / scale) / (2 scale), exponential noise the mean `scale`,
    Gumbel noise (for maxima) the distribution function exp(-exp(-x / scale)); without noise it is 0
    and leaves `rng` as it is.

    Examples
    --------
    >>> import numpy as np
    >>> round(draw(CODES["gumbel"], 2.0, np.random.default_rng(1)), 4)
    -0.141
    >>> draw(CODES["none"], 2.0, np.random.default_rng(1))
    0.0
    """
    if noise == LAPLACE:
        return laplace(scale, rng)
    if noise == EXPONENTIAL:
        return scale * rng.standard_exponential()
    if noise == GUMBEL:
        return -scale * math.log(rng.standard_exponential())  # numba has no Generator.gumbel
    return 0.0
