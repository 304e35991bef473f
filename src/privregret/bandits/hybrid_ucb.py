"""Hybrid-UCB (hu2021, Algorithm 4)."""

import math
from dataclasses import dataclass

import numpy as np

from privregret.bandits.base import BanditAlgorithm
from privregret.core import checks
from privregret.core.algorithm import NOTHING, Privacy, Steps
from privregret.core.jit import jit
from privregret.core.noise import laplace

TREES = ("paper", "rootfree", "scaled")
PAPER, ROOTFREE, SCALED = range(3)
LEVELS = 64  # more levels than any tree of 64-bit pull counts has
ARM = np.dtype(
    [
        ("pulls", np.int64),
        ("mean", float),  # private mean (34)
        ("width", float),  # factors of sqrt(log t)
        ("privacy_width", float),  # and log t in the index (35)
        ("old", float),  # noisy sum of all full arrays (32), each array's noise drawn once and kept
        ("open", float),  # true sum of the array being filled,
        ("depth", np.int64),  # the depth of its tree,
        ("position", np.int64),  # its number of pulls
        ("nodes", float, LEVELS),  # and the noise of its tree (33)
    ]
)


@jit
def _popcount(n):
    """Return the number of set bits of 0 <= n < 2^63, without a branch."""
    n -= (n >> 1) & 0x5555555555555555
    n = (n & 0x3333333333333333) + ((n >> 2) & 0x3333333333333333)
    n = (n + (n >> 4)) & 0x0F0F0F0F0F0F0F0F
    return (n * 0x0101010101010101) >> 56


@jit
def _node_noise(arm, settings, rng):
    """Return the noise in the sum of leaves 1..position, when `position` has arrived.

    The dyadic cover of 1..position has one node per set bit, from the largest to the smallest; only
    the smallest is new. So the cover is a stack: `nodes[h]` is the noise of its h largest nodes
    together.
    """
    position, depth, nodes = arm["position"], arm["depth"], arm["nodes"]
    height = _popcount(position)
    scale = depth + 1 if settings.tree == SCALED else depth
    nodes[height] = nodes[height - 1] + laplace(scale / (0.5 * settings.epsilon), rng)
    return nodes[height]


@jit
def _choose(arms, state, settings, t, rng):
    """Play each arm once, then the one with the largest index (35)."""
    if t <= len(arms):
        return t - 1
    log_t = math.log2(t)
    root = math.sqrt(log_t)
    best, chosen = -math.inf, 0
    for j in range(len(arms)):
        index = arms[j]["mean"] + arms[j]["width"] * root + arms[j]["privacy_width"] * log_t
        if index > best:
            best, chosen = index, j
    return chosen


@jit
def _observe(arms, state, settings, t, j, reward, rng):
    """Add the reward, and release the sum of all rewards of the arm (34)."""
    epsilon, arm = settings.epsilon, arms[j]
    arm["pulls"] += 1
    inverse = 1 / arm["pulls"]
    if arm["pulls"] == 1:
        total = reward + laplace(2 / epsilon, rng)
        arm["old"], arm["depth"], arm["mean"] = total, 1, total
    else:
        total = 0.0
        arm["position"] += 1
        arm["open"] += reward
        full = arm["position"] == 1 << arm["depth"]
        if not (full and settings.tree == ROOTFREE):
            total = arm["old"] + arm["open"] + _node_noise(arm, settings, rng)
        if full:
            arm["old"] += arm["open"] + laplace(2 / epsilon, rng)
            arm["depth"] += 1
            arm["position"], arm["open"] = 0, 0.0
            if settings.tree == ROOTFREE:
                total = arm["old"]
        arm["mean"] = total * inverse
    # depth is floor(log2(pulls + 1)) here: a tree is full at pulls = 2^(depth + 1) - 1
    arm["width"] = math.sqrt(3 * inverse)
    arm["privacy_width"] = 6 * math.sqrt(8) / epsilon * arm["depth"] * inverse


@dataclass(frozen=True)
class HybridUCB(BanditAlgorithm):
    """Hybrid-UCB: keep all rewards, and update a private mean in every round.

    Pulls of an arm fill arrays of 1, 2, 4, ... entries. A full array contributes one noisy sum
    (Laplace scale 2 / epsilon), and the array being filled contributes a binary tree with node
    noise 2 r / epsilon. The index after n pulls with private mean m is m + sqrt(3 log t / n) + 6
    sqrt(8) log t floor(log2(n + 1)) / (epsilon n) (equation 35), log to base 2.

    Privacy, by composition: with `tree="paper"` the first leaf of a tree of depth r lies in r + 1
    released nodes although the noise is calibrated to r, so the guarantee is (1 + 1 / (2 r))
    epsilon, at worst 1.5 epsilon. The two repairs are epsilon-DP. Anytime, O(K log T) memory.
    Plain version: `hybrid_ucb` of notebook hu2021/4.
    Deviations: that roots are released is a reading of the paper. Of equal indices the first arm's
    counts.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, in [1e-6, 1e6].
    tree : {"paper", "rootfree", "scaled"}
        "paper": as printed. "rootfree": a full tree is never released through its root; the array's
        own noisy sum is used at once. "scaled": node noise 2 (r + 1) / epsilon.
    """

    epsilon: float
    tree: str = "paper"
    id = "hybrid-ucb"
    source = "hu2021, Algorithm 4"
    rules = {"epsilon": checks.epsilon, "tree": checks.one_of(*TREES)}
    steps = Steps(ARM, NOTHING, _choose, _observe)

    @property
    def label(self) -> str:
        return "Hybrid-UCB" if self.tree == "paper" else f"Hybrid-UCB ({self.tree})"

    @property
    def privacy(self) -> Privacy:
        return Privacy(self.epsilon, 1.5 * self.epsilon if self.tree == "paper" else self.epsilon)
