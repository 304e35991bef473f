"""Integrate by the trapezoidal rule: binomial sums with Gumbel noise, which is analytic.

As in `exact.lattice`, with the distribution and density of one score

    1 - F(x) = sum over atoms of P[G] (1 - e^-w),  f(x) = sum of P[G] w e^-w / scale,

where w = e^(-(x + G) / scale). The integrand is analytic and vanishes at both ends, so the rule
converges like e^(-pi^2 scale / spacing).
"""

import numpy as np

from privregret.core.jit import jit
from privregret.exact.lattice import FAR, cumulated

TERMS = 8  # of power series in w < 0.05, exact to 1e-16
NEAR, AWAY = -4.5, 3.0  # scales: atoms below are certain to be exceeded, those above have w < 0.05


@jit
def _power_sums(mass, scale):
    """Return (G, width + 1, TERMS) sums over atoms from the k-th on of P[G] e^(-j distance)."""
    groups, width = mass.shape
    factor = np.exp(-1 / scale)
    sums = np.zeros((groups, width + 1, TERMS))
    for g in range(groups):
        for k in range(width - 1, -1, -1):
            power = 1.0
            for j in range(TERMS):
                power *= factor
                sums[g, k, j] = mass[g, k] + power * sums[g, k + 1, j]
    return sums


@jit
def _places(parts, scale, atoms):
    """Return the lowest place that an atom can have, and 1 - e^-w and w e^-w from there on.

    The tables are empty where each place would occur once.
    """
    # one more place at either end, where rounding can put the first or last atom
    lowest = int(np.ceil(NEAR * scale * parts)) - 1
    places = int((AWAY - NEAR) * scale * parts) + 4
    if places >= 20 * atoms:
        places = 0
    exceeds, falls = np.empty(places), np.empty(places)
    for j in range(places):
        w = np.exp(-(lowest + j) / (scale * parts))
        exceeds[j] = -np.expm1(-w)
        falls[j] = w * (1 - exceeds[j])
    return lowest, exceeds, falls


@jit
def gumbel_leader(mass, first, last, counts, scale, top, bottom):
    """Return the probability of each group; x from `top` down to `bottom`."""
    # The spacing is a multiple of the lattice step, or a step is a multiple of the spacing, so that
    # atoms meet the noise at the same few places.
    groups = len(mass)
    # parts of a step; then nodes are one part apart
    parts = max(1, int(np.ceil(4 / scale)))
    apart = max(1, int(scale / 4)) if parts == 1 else 1
    factor = np.exp(-1 / scale)
    certain, _ = cumulated(mass)
    power_sums = _power_sums(mass, scale)
    atoms = 0
    for g in range(groups):
        atoms += int(last[g] - first[g]) + 1
    lowest, exceeds, falls = _places(parts, scale, atoms)
    result = np.zeros(groups)
    survival, density = np.empty(groups), np.empty(groups)
    x = np.ceil(top)
    # parts of a step below the top
    here = 0
    while x > bottom:
        total = 0.0
        for g in range(groups):
            size = int(last[g] - first[g]) + 1
            y = x + first[g]
            start = min(max(int(np.ceil(NEAR * scale - y)), 0), size)
            end = min(max(int(np.ceil(AWAY * scale - y)), 0), size)
            s, f = certain[g, start], 0.0
            if len(exceeds) and size > 1:
                j = int(np.rint(y * parts)) + start * parts - lowest
                for k in range(start, end):
                    s += mass[g, k] * exceeds[j]
                    f += mass[g, k] * falls[j]
                    j += parts
            elif start < end:
                w = np.exp(-(y + start) / scale)
                for k in range(start, end):
                    if (k - start) % 64 == 63:
                        w = np.exp(-(y + k) / scale)
                    more = -np.expm1(-w)
                    s += mass[g, k] * more
                    f += mass[g, k] * w * (1 - more)
                    w *= factor
            if end < size:
                w = np.exp(-(y + end) / scale)
                power = -1.0
                for j in range(TERMS):
                    power *= -w / (j + 1)
                    s += power * power_sums[g, end, j]
                    f += (j + 1) * power * power_sums[g, end, j]
            survival[g], density[g] = s, f / scale
            total += counts[g] * np.log1p(-s) if s < 1 else -np.inf
        if total >= FAR:
            product = apart / parts * np.exp(total)
            for g in range(groups):
                result[g] += counts[g] * density[g] * product / (1 - survival[g])
        elif here > 0:
            break
        here += apart
        x = np.ceil(top) - here / parts
    return result
