"""Attack Hybrid-UCB: a reward is inferred from the rounds in which its arm is pulled."""

import math
from itertools import product

import numpy as np
from scipy.special import logsumexp

from privregret.core import store

LATE = 2.0 ** (26 + 0.01 * np.arange(7))  # rounds of the attacked arm's pulls 2 to 8


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


@store.cached
def hybrid_loss(epsilon: float, more: int = 0) -> float:
    """Return the log-ratio of one event on neighbouring tables, with released roots.

    There are two arms, and all rewards are 0, except that arm 1's second reward may be 1. The
    event: arm 1 is pulled in round 2, then in the rounds `LATE`, and arm 0 in all others. By then
    arm 0's index h is known, up to its noise divided by 2^26. So each pull of arm 1 determines its
    private sum: S_k = k (h - width_k) in the round of the next pull, within a window that narrows
    as 1 / t. With x the reward, Z noise of arrays and Y of nodes (Y_2 and Y_6 are roots), S_1 =
    Z_0, S_2 = S_1 + x + Y_1, S_3 = S_1 + x + Y_2, and S_4.. = S_1 + x + Z_1 + (Y_3, Y_4, Y_4 + Y_5,
    Y_6). Noise of nodes is calibrated to r + `more` nodes.

    The result is the minimum over deviations of arm 0's mean by up to a tenth, either way, at each
    pull, for epsilon from 0.1. Larger deviations have probability below exp(-6000), by Chernoff's
    bound for some fifty Laplace variables of scale at most 52 / epsilon; the event's own
    probability is above exp(-1500).
    """
    corners = np.array(list(product((-0.1, 0.1), repeat=7)))[::9]
    return min(log_density(0, epsilon, c, more) - log_density(1, epsilon, c, more) for c in corners)
