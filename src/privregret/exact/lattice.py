"""Integrate over the panels between the atoms of binomial sums: Laplace, exponential, no noise.

A score is Z - G, with noise Z and a binomial sum of losses G on the lattice. With n_g actions in
group g, and distribution function F_g and density f_g of their scores,

    P[group g wins] = integral of n_g f_g(x) / F_g(x) exp(sum over h of n_h ln F_h(x)) dx.

There are no atoms inside the panel x = -m + theta, 0 <= theta <= span. So at scale s of the noise,
with P[G < m], P[G >= m] and the sums over these atoms of P[G] e^(-distance / s), where distances of
atoms G >= m are to m and those of the others to m - span,

    1 - F(x) = P[G < m] + e^(-theta / s) A                                      (exponential)
    1 - F(x) = P[G < m] + (e^(-theta / s) A - e^(-(span - theta) / s) B) / 2    (Laplace),

where A is `faded_above`, B `faded_below`; small 1 - F and F are sums, to full relative precision.
"""

import numpy as np

from privregret.core.jit import jit
from privregret.core.noise import EXPONENTIAL
from privregret.exact.sums import LEGENDRE

FAR = -60.0  # the integrand is below e^-60 where the logarithm of its last factor is
LEAST = 1e-300  # distribution functions are at least this


@jit
def cumulated(mass, fade=1.0):
    """Return (G, width + 1) probabilities of the atoms before the k-th one, and of the others.

    An atom counts `fade` times for each step from the k-th one.
    """
    groups, width = mass.shape
    before, after = np.zeros((groups, width + 1)), np.zeros((groups, width + 1))
    for g in range(groups):
        for k in range(width):
            before[g, k + 1] = mass[g, k] + fade * before[g, k]
        for k in range(width - 1, -1, -1):
            after[g, k] = mass[g, k] + fade * after[g, k + 1]
    return before, after


@jit
def _log_below(survival, cdf):
    """Return ln(1 - survival), with `cdf` = 1 - survival to full relative precision."""
    if survival < 1e-8:
        return -survival * (1 + 0.5 * survival)
    return np.log1p(-survival) if survival < 0.5 else np.log(cdf)


@jit
def _rule_of_a_cell(scale):
    """Return nodes in (0, 1) and weights for a panel of one cell: more for less noise."""
    x, w = LEGENDRE[0 if scale > 100 else 1 if scale > 10 else 2 if scale > 10 / 3 else 3]
    panels = max(1, int(np.ceil(0.5 / scale)))
    nodes, weights = np.empty(panels * len(x)), np.empty(panels * len(x))
    for k in range(len(nodes)):
        nodes[k] = (k // len(x) + 0.5 * (1 + x[k % len(x)])) / panels
        weights[k] = 0.5 * w[k % len(x)] / panels
    return nodes, weights


@jit
def _span(m, most, first, last):
    """Return how many cells the panel after m has: one near atoms, at most `most` elsewhere."""
    span = most
    for g in range(len(first)):
        if first[g] - 1 <= m <= last[g]:
            return 1
        if m < first[g]:
            span = min(span, first[g] - 1 - m)
    return span


@jit
def noisy_leader(mass, first, last, counts, scale, noise, low, high):
    """Return the probability of each group, with noise; panels from m = low to high."""
    groups, width = mass.shape
    widest = max(1, int(scale / 4))
    unit, unit_weights = _rule_of_a_cell(scale)
    wide, wide_weights = (1 + LEGENDRE[3][0]) / 2, LEGENDRE[3][1] / 2
    before, after = cumulated(mass)
    faded_before, faded_after = cumulated(mass, np.exp(-1 / scale))
    below, above = np.empty(groups), np.empty(groups)
    faded_below, faded_above = np.empty(groups), np.empty(groups)
    result, cdfs, density = np.zeros(groups), np.empty(groups), np.empty(groups)
    falls, rises = np.zeros(max(len(unit), len(wide))), np.zeros(max(len(unit), len(wide)))
    m, last_span = low, 0
    while m < high:
        span = _span(m, min(widest, high - m), first, last)
        m += span
        for g in range(groups):
            # atoms from first + k on are above the panel, those up to m - span below it
            k = m - first[g]
            inside = min(max(k, 0), width)
            below[g], above[g] = before[g, inside], after[g, inside]
            faded_above[g] = faded_after[g, inside]
            if k < 0:
                faded_above[g] *= np.exp(k / scale)
            k = m - span - first[g] + 1
            inside = min(max(k, 0), width)
            past = np.exp(-(k - width) / scale) if k > width else 1.0
            faded_below[g] = faded_before[g, inside] * past
        nodes, weights = (unit, unit_weights) if span == 1 else (wide, wide_weights)
        if span != last_span:
            last_span = span
            for q in range(len(nodes)):
                falls[q] = np.exp(-(nodes[q] * span) / scale)
                rises[q] = np.exp(-(span - nodes[q] * span) / scale)
        reached = False
        for q in range(len(nodes) - 1, -1, -1):
            fall, rise = falls[q], rises[q]
            total = 0.0
            for g in range(groups):
                if noise == EXPONENTIAL:
                    survival = below[g] + fall * faded_above[g]
                    cdf = above[g] - fall * faded_above[g]
                    density[g] = fall * faded_above[g] / scale
                else:
                    survival = below[g] + 0.5 * (fall * faded_above[g] - rise * faded_below[g])
                    cdf = above[g] - 0.5 * (fall * faded_above[g] - rise * faded_below[g])
                    density[g] = 0.5 * (fall * faded_above[g] + rise * faded_below[g]) / scale
                cdfs[g] = max(cdf, LEAST)
                total += counts[g] * _log_below(survival, cdfs[g])
            if total < FAR:
                continue
            reached = True
            product = weights[q] * span * np.exp(total)
            for g in range(groups):
                if density[g] > 0:
                    result[g] += counts[g] * density[g] * product / cdfs[g]
        # x falls, so no score can be below from here on
        if not reached and m - span > low:
            break
    return result


@jit
def leader(mass, first, last, counts):
    """Return the probability of each group without noise: ties are broken by uniform numbers.

    They spread each atom evenly over the cell before the next one, which is the panel.
    """
    # F(x)^N falls by e^-1 within 1 / crowd of the upper end, if crowd actions are on one atom: so
    # panels are halved towards that end. Nodes are distances from it, perhaps 1e-200.
    groups, width = mass.shape
    before, after = cumulated(mass)
    nodes, weights = LEGENDRE[3]
    result, cdfs = np.zeros(groups), np.empty(groups)
    below, above, at = np.empty(groups), np.empty(groups), np.empty(groups)
    for m in range(first.min(), last.min() + 1):
        crowd = 0.0
        for g in range(groups):
            k = min(max(m - first[g], 0), width)
            below[g], above[g] = before[g, k], after[g, k]
            at[g] = mass[g, k] if first[g] <= m < first[g] + width else 0.0
            crowd = max(crowd, counts[g] * at[g])
        if crowd == 0:
            continue
        halvings = max(1, int(np.ceil(np.log2(crowd))) + 4)
        reached = False
        for panel in range(halvings):
            left = 0.5 ** (halvings - panel) if panel else 0.0
            half = (0.5 ** (halvings - 1 - panel) - left) / 2
            for q in range(len(nodes)):
                node, total = left + half * (1 + nodes[q]), 0.0
                for g in range(groups):
                    survival = below[g] + node * at[g]
                    cdfs[g] = max(above[g] - node * at[g], LEAST)
                    total += counts[g] * _log_below(survival, cdfs[g])
                if total < FAR:
                    continue
                reached = True
                product = half * weights[q] * np.exp(total)
                for g in range(groups):
                    result[g] += counts[g] * at[g] * product / cdfs[g]
        if not reached:
            break
    return result
