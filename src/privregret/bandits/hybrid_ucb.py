"""Hybrid-UCB (hu2021, Algorithm 4)."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from privregret import checks
from privregret.algorithm import Privacy
from privregret.bandits.base import DRAWN, RoundByRound
from privregret.jit import jit
from privregret.noise import laplace

TREES = ("paper", "rootfree", "scaled")
PAPER, ROOTFREE, SCALED = range(3)
LEVELS = 64  # more than any tree of 64-bit pull counts has


class TreeSettings(NamedTuple):
    """What the kernel is told."""

    epsilon: float
    tree: int  # index in TREES
    log_base: float


def _above_one(name, value):
    if checks.number_in(-math.inf, math.inf)(name, value) <= 1:
        raise ValueError(f"{name} must be a finite number above 1, got {value!r}")
    return float(value)


@dataclass(frozen=True)
class HybridUCB(RoundByRound):
    """Hybrid-UCB: keeps every observation, and updates the pulled arm's private mean in every round.

    Pulls of an arm fill arrays of 1, 2, 4, ... entries. Full arrays contribute one noisy sum each
    (Laplace scale 2 / epsilon), the array being filled a binary tree with node noise 2 r / epsilon. The index
    after n pulls with private mean m is m + sqrt(3 log t / n) + 6 sqrt(8) log t floor(log2(n + 1)) / (epsilon n)
    (equation 35), log to base 2.

    Privacy, by composition: with `tree="paper"` the first leaf of a tree of depth r lies in r + 1 released
    nodes although the noise is calibrated to r, so the guarantee is (1 + 1 / (2 r)) epsilon, at worst
    1.5 epsilon. The two repairs are epsilon-DP. Anytime, O(K log T) memory.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, above 0.
    tree : {"paper", "rootfree", "scaled"}
        "paper": as printed. "rootfree": a full tree is never released through its root; the array's own
        noisy sum serves at once. "scaled": node noise 2 (r + 1) / epsilon.
    log_base : float
        Base of the logarithm of t in (35); the paper defines log as base 2. Above 1.
    """

    epsilon: float
    tree: str = "paper"
    log_base: float = 2.0
    source = "hu2021, Algorithm 4"
    rules = {"epsilon": checks.positive, "tree": checks.one_of(*TREES), "log_base": _above_one}

    @property
    def label(self):
        return "Hybrid-UCB" if self.tree == "paper" else f"Hybrid-UCB ({self.tree})"

    @property
    def privacy(self):
        return Privacy(self.epsilon, 1.5 * self.epsilon if self.tree == "paper" else self.epsilon)

    def _kernel(self, means, rounds, rewards=DRAWN):
        return _loop, (rewards, means, rounds, TreeSettings(self.epsilon, TREES.index(self.tree), self.log_base))


@jit
def _popcount(n):
    """Number of set bits of 0 <= n < 2^63, without a branch."""
    n -= (n >> 1) & 0x5555555555555555
    n = (n & 0x3333333333333333) + ((n >> 2) & 0x3333333333333333)
    n = (n + (n >> 4)) & 0x0F0F0F0F0F0F0F0F
    return (n * 0x0101010101010101) >> 56


@jit
def _node_noise(position, depth, nodes, j, settings, rng):
    """Noise in the sum of leaves 1..position of arm j's tree, after leaf `position` has arrived.

    The dyadic cover of 1..position has one node per set bit, from the largest to the smallest; only the
    smallest is new. So the cover is a stack: `nodes[j, h]` is the noise of its h largest nodes together.
    """
    height = _popcount(position)
    scale = depth + 1 if settings.tree == SCALED else depth
    nodes[j, height] = nodes[j, height - 1] + laplace(scale / (0.5 * settings.epsilon), rng)
    return nodes[j, height]


@jit
def _loop(rewards, means, rounds, settings, rng):
    # One function: split into several that share the arms' state, it takes twice the time. The index of an arm that is
    # not pulled grows with log t only: for some rounds the others' are at most `bound`, and the leader leads while its
    # noisy sum is above bound n - ahead.
    epsilon, tree = settings.epsilon, settings.tree
    literal = len(rewards) > 0
    arms = len(means)
    actions = np.empty(len(rewards), np.int64)
    counts = np.empty((len(rounds), arms), np.int64)
    mean = np.zeros(arms)  # private mean (34)
    width = np.zeros(arms)  # factors of sqrt(log t) and log t in the index (35)
    privacy_width = np.zeros(arms)
    pulls = np.zeros(arms, np.int64)
    old = np.zeros(arms)  # noisy sum of all full arrays (32), each array's noise drawn once and kept
    open_sum = np.zeros(arms)  # true sum of the array being filled,
    depth = np.zeros(arms, np.int64)  # the depth of its tree,
    position = np.zeros(arms, np.int64)  # its number of pulls
    nodes = np.zeros((arms, LEVELS))  # and the noise of its tree (33)
    per_log = 1 / math.log(settings.log_base)
    privacy_factor = 6 * math.sqrt(8) / epsilon
    reported = 0
    j, total, bound, ahead, end = 0, 0.0, 0.0, 0.0, 0
    for t in range(1, rounds[-1] + 1):
        if t <= arms:
            j = t - 1
        elif t >= end or not total > bound * pulls[j] - ahead:
            log_t = per_log * math.log(t)
            root = math.sqrt(log_t)
            best, second, widest, widest_privacy = -math.inf, -math.inf, 0.0, 0.0
            for i in range(arms):
                index = mean[i] + width[i] * root + privacy_width[i] * log_t
                if index > best:
                    best, second, j = index, best, i
                elif index > second:
                    second = index
                widest = max(widest, width[i])
                widest_privacy = max(widest_privacy, privacy_width[i])
            steps = 1 + min(63, t // 64)
            end = t + steps
            gain = per_log * steps / t  # of log t at most
            bound = second + (widest * 0.5 / root + widest_privacy) * gain
            ahead = (1 - 1e-12) * pulls[j] * (width[j] * root + privacy_width[j] * log_t)
        if literal:
            actions[t - 1] = j
            x = rewards[t - 1, j]
        else:
            x = 1.0 if rng.random() < means[j] else 0.0
        pulls[j] += 1
        inverse = 1 / pulls[j]
        if pulls[j] == 1:
            old[j] = x + laplace(2 / epsilon, rng)
            depth[j] = 1
            total = mean[j] = old[j]
        else:
            position[j] += 1
            open_sum[j] += x
            full = position[j] == 1 << depth[j]
            if not (full and tree == ROOTFREE):
                total = old[j] + open_sum[j] + _node_noise(position[j], depth[j], nodes, j, settings, rng)
            if full:
                old[j] += open_sum[j] + laplace(2 / epsilon, rng)
                depth[j] += 1
                position[j] = 0
                open_sum[j] = 0.0
                if tree == ROOTFREE:
                    total = old[j]
            mean[j] = total * inverse
        # depth is floor(log2(pulls + 1)) here: a tree is full at pulls = 2^(depth + 1) - 1
        width[j] = math.sqrt(3 * inverse)
        privacy_width[j] = privacy_factor * depth[j] * inverse
        if t == rounds[reported]:
            counts[reported] = pulls
            reported += 1
    return actions, counts
