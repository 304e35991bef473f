"""Instances and measurements that only the notebooks on hu2021 use."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from privregret import estimates, instances, simulate
from privregret.bounds import hu2021 as bounds
from privregret.core import checks
from privregret.core.algorithm import Algorithm
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


def panel_of(per_round: pd.DataFrame, setting: BernoulliBandit, epsilon: float) -> pd.DataFrame:
    """Select one setting and one epsilon: the curves of one panel."""
    here = (per_round.instance == setting.name) & (per_round.epsilon == epsilon)
    return per_round[here].drop(columns="instance")


@dataclass(frozen=True)
class Release:
    """A noisy sum of the rewards of pulls first..last (from 1), released after pull `at`.

    `kind` is "array" or "node", and `scale` the Laplace scale times epsilon. The privacy cost of
    each reward in it is epsilon / scale, and the costs of independent releases add up.
    """

    kind: str
    first: int
    last: int
    at: int
    scale: float


def lazy_releases(pulls: int) -> list[Release]:
    """Return the releases of Anytime-Lazy-UCB in an arm's first `pulls` pulls.

    They are arrays of 1, 2, 4, ... pulls, each released once.
    """
    sizes = [2**r for r in range(pulls.bit_length()) if 2 ** (r + 1) - 1 <= pulls]
    return [Release("array", n, 2 * n - 1, 2 * n - 1, 1.0) for n in sizes]


def hybrid_releases(pulls: int, tree: str = "paper") -> list[Release]:
    """Return the releases of Hybrid-UCB in an arm's first `pulls` pulls, as noise is drawn."""
    releases = []
    for pull in range(1, pulls + 1):
        depth = pull.bit_length() - 1
        # within the tree whose leaves are pulls 2^depth .. 2^(depth + 1) - 1
        position = pull - (2**depth - 1)
        full = position == 2**depth
        if depth > 0 and not (full and tree == "rootfree"):
            leaves = position & -position
            scale = 2.0 * (depth + 1 if tree == "scaled" else depth)
            releases.append(Release("node", pull - leaves + 1, pull, pull, scale))
        if full:
            releases.append(Release("array", pull - 2**depth + 1, pull, pull, 2.0))
    return releases


def through_children(releases: list[Release]) -> list[Release]:
    """Return releases where a root gives way to its right child, which the last prefix adds."""

    def root(r):
        # the printed scale is twice the depth
        return r.kind == "node" and r.last - r.first + 1 == 2 ** (r.scale / 2)

    return [replace(r, first=(r.first + r.last + 1) // 2) if root(r) else r for r in releases]


def cost(releases: list[Release], pulls: int) -> np.ndarray:
    """Return the (pulls,) privacy cost of each reward, in epsilon, by composition."""
    total = np.zeros(pulls + 1)
    for release in releases:
        total[release.first : release.last + 1] += 1 / release.scale
    return total[1:]


def looks(releases: list[Release], pulls: int, kind: str = "node") -> np.ndarray:
    """Return the (pulls,) number of releases of a kind that contain each reward."""
    total = np.zeros(pulls + 1, int)
    for release in releases:
        if release.kind == kind:
            total[release.first : release.last + 1] += 1
    return total[1:]


def worst_equal_gaps(algorithm: Algorithm, arms: int, T: int, runs: int, seed: int) -> dict:
    """Return the largest mean regret over equal gaps at multiples of the critical gap.

    The three largest are measured again by fresh runs; the error is that of the largest of these.
    """
    unit = bounds.critical_gap(arms, T)
    multiples = 2.0 ** np.arange(-2, math.floor(math.log2(0.75 / unit)) + 1)
    problems = [instances.equal_gaps(arms, multiple * unit) for multiple in multiples]
    pilot = simulate.regret_summary(algorithm, problems, T, runs, seed + 1, points=1)
    best = np.argsort(-pilot["mean"].to_numpy(), kind="stable")[:3]
    chosen = [problems[i] for i in best]
    again = simulate.regret_curves(algorithm, chosen, T, runs, seed, points=1)
    means = estimates.means(again, "instance")
    found = estimates.largest(means)
    multiple = multiples[best[int(means["mean"].argmax())]]
    return {"T": T, "gap_over_critical": multiple, "mean": found.value, "se": found.se}
