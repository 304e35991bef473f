"""Compute divergences between Bernoulli distributions, and their inverses.

All functions are compiled and scalar. `d_epsilon` governs the regret of Bernoulli bandits under
epsilon-differential privacy (azize2025, equation 6): it moves from x to some z at the price epsilon
of total variation, and from z to y at the price of the Kullback-Leibler divergence, as cheaply as
possible.
"""

import math

from privregret.core.jit import jit

TINY = 1e-300  # replaces a denominator of 0


@jit
def _one_sided(p, q, difference):
    """Return p ln(p / q) + difference >= 0, to full precision; p, q > 0, difference = q - p."""
    u = difference / p
    if abs(u) > 0.3:
        return difference + p * math.log(p / q)
    # ln(1 + u) = 2 artanh(r) with r = u / (2 + u), and u - 2 r = u r
    r = u / (2 + u)
    square = r * r
    series = 0.0
    # r^2 < 0.032: the first term left out is below 1e-15 of the first one kept
    for k in range(21, 1, -2):
        series = 1 / k + square * series
    return p * r * (u - 2 * square * series)


@jit
def kl(p, q):
    """Return the Kullback-Leibler divergence of Bernoulli(p) from Bernoulli(q).

    p and q are in [0, 1]; the relative error is about 1e-15. The result is 0 if p = q, and infinite
    if q is 0 or 1 and p is not.

    Examples
    --------
    >>> round(kl(0.5, 0.75), 4)
    0.1438
    >>> kl(0.5, 1.0)
    inf
    """
    if p == q:
        return 0.0
    if q <= 0 or q >= 1:
        return math.inf
    if p <= 0:
        return -math.log1p(-q)
    if p >= 1:
        return -math.log(q)
    # more exact than 1 - q - (1 - p)
    return _one_sided(p, q, q - p) + _one_sided(1 - p, 1 - q, p - q)


@jit
def d_epsilon(x, y, epsilon):
    """Return the infimum over z of epsilon |z - x| + kl(z, y), for x and y in [0, 1].

    z lies between x and y (azize2025, equation 6). The minimiser is x unless the logits of x and y
    differ by more than epsilon; otherwise it is the z whose logit is epsilon away from y's (Lemma
    F.1). The result is finite everywhere: d(x, 1) = epsilon (1 - x), d(x, 0) = epsilon x.
    """
    # by symmetry, because floats near 0 are finer than those near 1
    if y > 0.9:
        x, y = 1 - x, 1 - y
    if y <= 0:
        return epsilon * x
    shrink = math.exp(-epsilon)
    if x < y:
        z = max(x, y * shrink / (1 - y + y * shrink))
    else:
        z = min(x, y / (y + (1 - y) * shrink))
    return epsilon * abs(z - x) + kl(z, y)


@jit
def kl_inverse_bound(x, level):
    """Return an upper bound on `kl_inverse`, equal to 1 where `kl_inverse` is 1."""
    if level <= 0 or x >= 1:
        return min(x, 1.0)
    if x <= 0:
        return -math.expm1(-level)
    # Pinsker's inequality, and kl(x, mu) >= -entropy(x) - (1 - x) ln(1 - mu)
    entropy = -x * math.log(x) - (1 - x) * math.log1p(-x)
    return min(1.0, x + math.sqrt(level / 2), -math.expm1(-(level + entropy) / (1 - x)))


@jit
def kl_inverse(x, level):
    """Return the largest mu in [0, 1] with kl(x, mu) <= level, the index of KL-UCB; at least x."""
    high = kl_inverse_bound(x, level)
    if not 0 < x < 1 or level <= 0 or high >= 1:
        return high
    # Halley's method in the bracket, from the two first terms of the inverse's series in
    # sqrt(level)
    low, mu = x, min(high, x + math.sqrt(2 * x * (1 - x) * level) + (2 / 3) * (1 - 2 * x) * level)
    for _ in range(100):
        if not low < mu <= high:
            mu = low + 0.5 * (high - low)
            # the bracket is closed
            if mu in (low, high):
                return mu
        excess = kl(x, mu) - level
        if excess > 0:
            high = mu
        else:
            low = mu
        spread = mu * (1 - mu)
        slope = (mu - x) / spread
        bend = (1 - slope * (1 - 2 * mu)) / spread
        newton = excess / slope
        step = newton / max(0.5, 1 - 0.5 * newton * bend / slope)
        mu -= step
        # the remaining error is of the third power
        if abs(step) <= 1e-6 * min(mu - x, 1 - mu):
            break
    return mu


@jit
def d_epsilon_inverse(x, level, epsilon):
    """Return the largest mu in [0, 1] with d_epsilon(x, mu) <= level, for DP-KLUCB.

    See azize2025, equation 12. It is x if level <= 0, exactly 1 from epsilon (1 - x) on, in closed
    form where logit(mu) - logit(x) is at least epsilon, and the index of KL-UCB elsewhere.
    """
    if level <= 0:
        return x
    if level >= epsilon * (1 - x):
        return 1.0
    if x > 0:
        # where the two logits differ by epsilon
        switch = x / (x + (1 - x) * math.exp(-epsilon))
        if level < kl(x, switch):
            return kl_inverse(x, level)
    return min(1.0, max(x, math.expm1(-(epsilon * x + level)) / math.expm1(-epsilon)))
