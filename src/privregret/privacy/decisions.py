"""Compute privacy losses of bandit algorithms from their decisions alone.

**DP-KLUCB and DP-IMED**, on the smallest instance on which one decision follows another: two arms,
batches of 1, 2, 4, ... pulls and five rounds. The actions are 1, 2, d, d, d', and the decisions d
and d' use three noisy sums. A larger sum of an arm never makes another arm win, so what is decided
at the ends of the cells of a grid gives limits on all probabilities, and on the loss.

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
def _stays(d, own, other, more, epsilon, rule):
    """Return the probability that arm d, with sum `own`, is pulled again after a sum `more`."""
    mean = (own + more) / 3
    if d == 0:
        return _first_wins(mean, 3, other, 1, 5, epsilon, rule)
    return 1 - _first_wins(other, 1, mean, 3, 5, epsilon, rule)


@jit
def _stays_above(level, d, own, other, edges, epsilon, rule):
    """Return from which edge on `_stays` reaches a level; len(edges) if from none."""
    low, high = 0, len(edges)
    while low < high:
        middle = (low + high) // 2
        if _stays(d, own, other, edges[middle], epsilon, rule) >= level:
            high = middle
        else:
            low = middle + 1
    return low


@jit
def _batches_law(edges, mass, fine, above, epsilon, rule):
    """Return limits of P[d, d'] given the first two rewards and the sum of the next two, in six
    axes, lower limits first."""
    law = np.zeros((2, 2, 2, 3, 2, 2))
    cells = len(edges) - 1
    stay = np.zeros((2, 3))
    for i in range(cells):
        for j in range(cells):
            least = _first_wins(edges[i], 1, edges[j + 1], 1, 3, epsilon, rule)
            most = _first_wins(edges[i + 1], 1, edges[j], 1, 3, epsilon, rule)
            for d in range(2):
                chance = (least, most) if d == 0 else (1 - most, 1 - least)
                if chance[1] == 0:
                    continue
                a, b = (i, j) if d == 0 else (j, i)
                stay[:] = 0
                for n, end in np.ndindex(2, 2):
                    own, other = (edges[a], edges[b + 1]) if end == 0 else (edges[a + 1], edges[b])
                    from_ = _stays_above((n + 1) / 2, d, own, other, fine, epsilon, rule)
                    # a cell counts from its upper end
                    first = from_ - 1 if end == 1 and 0 < from_ < len(fine) else from_
                    for s in range(3):
                        stay[end, s] += above[s, first] / 2
                for end, r, q, s in np.ndindex(2, 2, 2, 3):
                    p = mass[r, i] * mass[q, j] * chance[end]
                    law[end, r, q, s, d, d] += p * stay[end, s]
                    law[end, r, q, s, d, 1 - d] += p * (1 - stay[1 - end, s])
    return law


@checks.arguments(algorithm=checks.instance_of(GeometricBatches), cells=checks.integer_in(2, 10**4))
@store.kept
def batches_law(algorithm: GeometricBatches, cells: int = 400) -> np.ndarray:
    """Return limits of the probabilities of the decisions (d, d') for the 16 reward lists.

    The algorithm is DPKLUCB or DPIMED with alpha = 2 and n0 = 1. The shape is (2, 2, 2, 2, 2, 2,
    2): lower and upper limits, rewards of rounds 1 to 4, then d and d'. The limits approach each
    other as 1 / cells; time grows as cells^2.
    """
    if (algorithm.alpha, algorithm.n0, algorithm.ties, algorithm.power) != (2, 1, "random", 0):
        raise ValueError(
            f"algorithm must have alpha = 2, n0 = 1, random ties and no power, got {algorithm!r}"
        )
    epsilon = algorithm.epsilon
    edges, fine = (
        np.concatenate([[-np.inf], np.linspace(-9 / epsilon, 2 + 9 / epsilon, n - 1), [np.inf]])
        for n in (cells, 16 * cells)
    )
    coarse, above = (
        laplace.sf(x, loc=np.arange(3)[:, None], scale=1 / epsilon) for x in (edges, fine)
    )
    # where no edge is reached
    above = np.pad(above, ((0, 0), (0, 1)))
    law = _batches_law(edges, -np.diff(coarse), fine, above, epsilon, algorithm.rule)
    rows = [law[:, r, q, s + u] for r, q, s, u in product((0, 1), repeat=4)]
    return np.stack(rows, axis=1).reshape((2,) * 7)


def batches_loss(algorithm: GeometricBatches, cells: int = 400) -> tuple[float, float]:
    """Return limits of the largest log-ratio over lists that differ in one reward."""
    low, high = batches_law(algorithm, cells)
    worst = np.zeros(2)
    with np.errstate(divide="ignore"):
        for t in range(4):
            for end, p, q in ((0, low, np.flip(high, t)), (1, high, np.flip(low, t))):
                worst[end] = max(worst[end], np.log(p[p > 0] / q[p > 0]).max())
    return float(worst[0]), float(worst[1])


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
