"""Compute privacy losses of bandit algorithms from their decisions alone.

**DP-KLUCB and DP-IMED**, on the smallest instance on which one decision follows another: two arms,
batches of 1, 2, 4, ... pulls and five rounds. The actions are 1, 2, d, d, d', and the decisions d
and d' use three noisy sums. Rounding these to a fine grid is post-processing, so the loss of the
rounded algorithm is exact, and at most that of the algorithm.

**Hybrid-UCB**, attacked: a reward is inferred from the rounds in which an arm is pulled.
"""

import math
from itertools import product

import numpy as np
from scipy.special import logsumexp
from scipy.stats import laplace

from privregret.bandits.dp_klucb import IMED, GeometricBatches
from privregret.core import checks, store
from privregret.core.jit import jit
from privregret.divergence import d_epsilon, d_epsilon_inverse

TIE = 1e-12  # indices closer than this are equal, so that rounding does not decide
LATE = 2.0 ** (26 + 0.01 * np.arange(7))  # rounds of the attacked arm's pulls 2 to 8


# DP-KLUCB and DP-IMED
# -------------------------------------------------------------------------------------------------


@jit
def _first_wins(mean_0, pulls_0, mean_1, pulls_1, t, epsilon, rule):
    """Return the probability that arm 0 is pulled in round t; 1/2 for equal indices."""
    x = min(max(mean_0, 0.0), 1.0)
    y = min(max(mean_1, 0.0), 1.0)
    if rule == IMED:
        top = max(x, y)
        gain = pulls_1 * d_epsilon(y, top, epsilon) + np.log(pulls_1)
        gain -= pulls_0 * d_epsilon(x, top, epsilon) + np.log(pulls_0)
    else:
        index_0 = d_epsilon_inverse(x, np.log(t) / pulls_0, epsilon)
        gain = index_0 - d_epsilon_inverse(y, np.log(t) / pulls_1, epsilon)
    if abs(gain) <= TIE:
        return 0.5
    return 1.0 if gain > 0 else 0.0


@jit
def _batches_law(grid, mass, epsilon, rule):
    """Return P[d, d'] given the first two rewards and the sum of the next two, in five axes."""
    law = np.zeros((2, 2, 3, 2, 2))
    cells = len(grid)
    for i in range(cells):
        for j in range(cells):
            first = _first_wins(grid[i], 1, grid[j], 1, 3, epsilon, rule)
            for d in range(2):
                p_d = first if d == 0 else 1 - first
                if p_d == 0:
                    continue
                tail = np.zeros((3, 2))
                for k in range(cells):
                    x, y = grid[i], grid[j]
                    if d == 0:
                        again = _first_wins((x + grid[k]) / 3, 3, y, 1, 5, epsilon, rule)
                    else:
                        again = _first_wins(x, 1, (y + grid[k]) / 3, 3, 5, epsilon, rule)
                    for s in range(3):
                        tail[s, 0] += mass[s, k] * again
                        tail[s, 1] += mass[s, k] * (1 - again)
                for r, q, s, e in np.ndindex(2, 2, 3, 2):
                    law[r, q, s, d, e] += mass[r, i] * mass[q, j] * p_d * tail[s, e]
    return law


@checks.arguments(algorithm=checks.instance_of(GeometricBatches), cells=checks.integer_in(2, 10**4))
@store.kept
def batches_law(algorithm: GeometricBatches, cells: int = 160) -> np.ndarray:
    """Return the probabilities of the decisions (d, d') for the 16 reward lists.

    The algorithm is DPKLUCB or DPIMED with alpha = 2 and n0 = 1. The shape is (2, 2, 2, 2, 2, 2):
    rewards of rounds 1 to 4, then d and d'. The noisy sums are rounded to `cells` cells.
    """
    if (algorithm.alpha, algorithm.n0, algorithm.ties, algorithm.power) != (2, 1, "random", 0):
        raise ValueError(
            f"algorithm must have alpha = 2, n0 = 1, random ties and no power, got {algorithm!r}"
        )
    epsilon = algorithm.epsilon
    edges = np.linspace(-14 / epsilon, 2 + 14 / epsilon, cells + 1)
    cdf = laplace.cdf(edges, loc=np.arange(3)[:, None], scale=1 / epsilon)
    cdf[:, 0], cdf[:, -1] = 0, 1  # the outer cells reach to infinity
    law = _batches_law((edges[1:] + edges[:-1]) / 2, np.diff(cdf), epsilon, algorithm.rule)
    rows = [law[r, q, s + u] for r, q, s, u in product((0, 1), repeat=4)]
    return np.reshape(rows, (2,) * 6)


def batches_loss(algorithm: GeometricBatches, cells: int = 160) -> float:
    """Return the largest log-ratio of `batches_law` over lists that differ in one reward."""
    law, worst = batches_law(algorithm, cells), 0.0
    for t in range(4):
        p, q = law, np.flip(law, t)
        worst = max(worst, float(np.log(p[p > 0] / q[p > 0]).max()))
    return worst


# Hybrid-UCB
# -------------------------------------------------------------------------------------------------


def log_density(reward: float, epsilon: float, shifts: np.ndarray, more: int) -> float:
    """Return the log-density of the private sums that the pull times reveal in `hybrid_loss`."""
    t, k = LATE.round(), np.arange(1, 8)
    log_t, factor, others = np.log2(t), 6 * math.sqrt(8) / epsilon, t - 1 - k
    leader = np.sqrt(3 * log_t / others)
    leader = leader + factor * log_t * np.floor(np.log2(others + 1)) / others + shifts
    s = k * (leader - np.sqrt(3 * log_t / k) - factor * log_t * np.floor(np.log2(k + 1)) / k)
    array, shallow, deep = 2 / epsilon, 2 * (1 + more) / epsilon, 2 * (2 + more) / epsilon  # scales
    # noise of the full array
    z = np.arange(math.floor(s[-1]), -s[-1], min(0.25, 1 / math.ceil(20 * epsilon)))
    y = np.subtract.outer(s, s[0] + reward + z)
    tree = np.abs(y[3]) + np.abs(y[4]) + np.abs(y[5] - y[4]) + np.abs(y[6])
    inside = logsumexp(-np.abs(z) / array - tree / deep)
    pair = abs(s[1] - s[0] - reward) + abs(s[2] - s[0] - reward)
    return inside - abs(s[0]) / array - pair / shallow


@checks.arguments(epsilon=checks.number_in(0.1, 100), more=checks.integer_in(0, 100))
@store.kept
def hybrid_loss(epsilon: float, more: int = 0) -> float:
    """Return the log-ratio of one event for Hybrid-UCB with released roots.

    The ratio compares neighbouring tables. There are two arms, and all rewards are 0, except that
    arm 1's second reward may be 1. The event: arm 1 is pulled in round 2, then in the rounds
    `LATE`, and arm 0 in all others. By then arm 0's index h is known, up to its noise divided by
    2^26. So each pull of arm 1 determines its private sum: S_k = k (h - width_k) in the round of
    the next pull, within a window that narrows as 1 / t. With x the reward, Z noise of arrays and Y
    of nodes (Y_2 and Y_6 are roots), S_1 = Z_0, S_2 = S_1 + x + Y_1, S_3 = S_1 + x + Y_2, and S_4..
    = S_1 + x + Z_1 + (Y_3, Y_4, Y_4 + Y_5, Y_6).

    The result is the minimum over deviations of arm 0's mean by up to a tenth, either way, at each
    pull. Larger deviations have probability below exp(-6000), by Chernoff's bound for some fifty
    Laplace variables of scale at most 52 / epsilon; the event's own probability is above
    exp(-1500).

    Parameters
    ----------
    epsilon : float
        Parameter of the algorithm, at least 0.1.
    more : int
        Noise of nodes is calibrated to r + `more` nodes.
    """
    corners = np.array(list(product((-0.1, 0.1), repeat=7)))[::9]
    return min(log_density(0, epsilon, c, more) - log_density(1, epsilon, c, more) for c in corners)
