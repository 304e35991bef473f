"""Releases of the algorithms of hu2021, Hybrid-UCB without privacy, and an attack on Hybrid-UCB, in
which a reward is inferred from the rounds in which its arm is pulled."""

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from privregret.bandits import UCB1
from privregret.bandits.index import ARM, observe
from privregret.core import checks, store
from privregret.core.algorithm import NOTHING, Steps
from privregret.core.jit import jit
from privregret.instances import BernoulliBandit


def described(setting: BernoulliBandit) -> str:
    """Name a setting of five arms and its means, for captions."""
    means = ", ".join(f"{mean:g}" for mean in setting.means)
    return f"{setting.name} (five Bernoulli arms with means {means})"


def unequal_means(name: str, value: object) -> np.ndarray:
    """Check means of Bernoulli arms that are not all equal: regret can be positive."""
    means = checks.means(name, value)
    if means.min() == means.max():
        raise ValueError(f"{name} must not hold equal means only, got {checks.shown(value)}")
    return means


@jit
def _choose(arms, state, settings, t, rng):
    """Play each arm once, then one with the largest mean + sqrt(3 log2 t / n)."""
    if t <= len(arms):
        return t - 1
    log_t, best, chosen = math.log2(t), -math.inf, 0
    for j in range(len(arms)):
        n = arms[j]["pulls"]
        index = arms[j]["total"] / n + math.sqrt(3 * log_t / n)
        if index > best:
            best, chosen = index, j
    return chosen


@dataclass(frozen=True)
class WideUCB(UCB1):
    """UCB with the interval of Hybrid-UCB: its index (35) without noise and without the last term.

    Of equal indices the first arm's counts, as in Hybrid-UCB. No privacy.
    """

    id = "wide-ucb"
    label = "UCB, interval of Hybrid-UCB"
    source = "hu2021, equation (35)"
    steps = Steps(ARM, NOTHING, _choose, observe)


def lazy_releases(pulls: int) -> pd.DataFrame:
    """Return the releases of Anytime-Lazy-UCB in an arm's first `pulls` pulls: its arrays, once.

    Each row is a noisy sum of the rewards of pulls `first` to `last` (from 1), released after the
    last of them; `kind` is "array" or "node", and `scale` the Laplace scale times epsilon.
    """
    sizes = 2 ** np.arange((pulls + 1).bit_length() - 1)
    return pd.DataFrame({"kind": "array", "first": sizes, "last": 2 * sizes - 1, "scale": 1.0})


def hybrid_releases(pulls: int, tree: str = "paper") -> pd.DataFrame:
    """Return those of Hybrid-UCB, of which the trees are as in the class, as noise is drawn."""
    releases = []
    for pull in range(1, pulls + 1):
        depth = pull.bit_length() - 1
        # within the tree whose leaves are pulls 2^depth .. 2^(depth + 1) - 1
        position = pull - (2**depth - 1)
        full = position == 2**depth
        if depth > 0 and not (full and tree == "rootfree"):
            leaves = position & -position
            scale = 2.0 * (depth + 1 if tree == "scaled" else depth)
            releases.append(("node", pull - leaves + 1, pull, scale))
        if full:
            releases.append(("array", pull - 2**depth + 1, pull, 2.0))
    return pd.DataFrame(releases, columns=["kind", "first", "last", "scale"])


def cost(releases: pd.DataFrame, pulls: int) -> np.ndarray:
    """Return the (pulls,) privacy cost of each reward, in epsilon: in each release that contains it
    1 / scale, and the costs of independent releases add up."""
    total = np.zeros(pulls + 1)
    for release in releases.itertuples():
        total[release.first : release.last + 1] += 1 / release.scale
    return total[1:]


LATE = 2.0 ** (26 + 0.01 * np.arange(7))  # rounds of the attacked arm's pulls 2 to 8


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
    t, k = LATE.round(), np.arange(1, 8)
    log_t, factor, others = np.log2(t), 6 * math.sqrt(8) / epsilon, t - 1 - k
    array, shallow, deep = 2 / epsilon, 2 * (1 + more) / epsilon, 2 * (2 + more) / epsilon  # scales
    leader = np.sqrt(3 * log_t / others) + factor * log_t * np.floor(np.log2(others + 1)) / others
    width = np.sqrt(3 * log_t / k) + factor * log_t * np.floor(np.log2(k + 1)) / k

    def log_density(reward, s):
        """Of the private sums that the pull times reveal."""
        # noise of the full array
        z = np.arange(math.floor(s[-1]), -s[-1], min(0.25, 1 / math.ceil(20 * epsilon)))
        y = np.subtract.outer(s, s[0] + reward + z)
        tree = np.abs(y[3]) + np.abs(y[4]) + np.abs(y[5] - y[4]) + np.abs(y[6])
        inside = logsumexp(-np.abs(z) / array - tree / deep)
        pair = abs(s[1] - s[0] - reward) + abs(s[2] - s[0] - reward)
        return inside - abs(s[0]) / array - pair / shallow

    corners = np.array(list(product((-0.1, 0.1), repeat=7)))[::9]
    events = [k * (leader + shifts - width) for shifts in corners]
    return min(log_density(0, s) - log_density(1, s) for s in events)
