"""Compute what numbers with Laplace noise reveal together: delta, and the noise that they need."""

import math

import numpy as np
from scipy.optimize import brentq
from scipy.signal import fftconvolve

from privregret.core import checks, store


@checks.validate(
    epsilon=checks.number_in(0, 1e6),
    shift=checks.number_in(1e-6, 700),
    count=checks.integer_in(1, 10**6),
    grid=checks.integer_in(1, 10**5),
)
@store.cached
def composed_delta(epsilon: float, shift: float, count: int, grid: int = 2000) -> float:
    """Return an upper bound on delta(epsilon) for `count` numbers with Laplace noise.

    Each number moves by `shift` scales. The privacy losses of the numbers add up; each is rounded
    up to a multiple of shift / grid and their distributions are convolved.
    """
    if shift * count <= epsilon:
        return 0.0
    losses = np.arange(-grid, grid + 1) * (shift / grid)
    # P(loss <= losses[k]); at -shift an atom, at +shift the rest
    below = 0.5 * np.exp(-(shift - losses) / 2)
    below[-1] = 1.0
    mass = np.diff(below, prepend=0.0)
    law, low = np.ones(1), 0
    square, square_low = mass, -grid
    while count:
        if count & 1:
            law, low = np.maximum(fftconvolve(law, square), 0), low + square_low
        count >>= 1
        if count:
            square, square_low = np.maximum(fftconvolve(square, square), 0), 2 * square_low
    total = (low + np.arange(len(law))) * (shift / grid)
    above = total > epsilon
    return float(np.sum(law[above] * -np.expm1(epsilon - total[above])))


@checks.validate(
    epsilon=checks.number_in(1e-6, 100),
    delta=checks.number_in(1e-300, 1, "[)"),
    count=checks.integer_in(1, 10**6),
    grid=checks.integer_in(1, 10**5),
)
@store.cached
def noise_constant(epsilon: float, delta: float, count: int, grid: int = 200) -> float:
    """Return the smallest c for which `count` numbers are (epsilon, delta)-private.

    Each number moves by epsilon / (c sqrt(count ln(1 / delta))) scales; Theorem 10 has c = 3. c is
    searched in [0.05, 3] to 1e-3.
    """

    def surplus(c):
        shift = epsilon / (c * math.sqrt(count * math.log(1 / delta)))
        return composed_delta(epsilon, shift, count, grid) - delta

    return brentq(surplus, 0.05, 3.0, xtol=1e-3)


def laplace_delta(epsilon: float, shift: float, count: int) -> float:
    """Bound delta(epsilon) of releasing numbers with Laplace noise.

    Each of `count` numbers moves by `shift` noise scales. The bound uses their Renyi divergence.
    Unlike the convolution in `composed_delta` it is meaningful below 1e-12.
    """
    # order of the divergence less 1
    less = np.geomspace(1e-2, 1e4, 2000)
    more, both = less + 1, 2 * less + 1
    moment = np.logaddexp(np.log(more / both) + less * shift, np.log(less / both) - more * shift)
    conversion = less * np.log(less) - more * np.log(more)
    return math.exp(min(0.0, np.min(count * moment - less * epsilon + conversion)))
