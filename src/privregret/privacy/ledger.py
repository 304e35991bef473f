"""List the noisy sums that an arm's algorithm releases, and their privacy costs.

Pulls of an arm are numbered from 1. A sum of rewards in [0, 1] with Laplace noise of scale b has a
privacy cost of 1 / b for every reward in it; the costs of independent releases of a reward add up.
"""

from dataclasses import dataclass, replace

import numpy as np

from privregret.bandits.dp_se import epoch_length
from privregret.bandits.hybrid_ucb import TREES
from privregret.core import checks


@dataclass(frozen=True)
class Release:
    """A noisy sum of the rewards of pulls first..last, released after pull `at`.

    `kind` is "array" or "node", and `scale` the Laplace scale times epsilon.
    """

    kind: str
    first: int
    last: int
    at: int
    scale: float


def _releases(name, value):
    if not (isinstance(value, list) and all(isinstance(release, Release) for release in value)):
        raise TypeError(f"{name} must be a list of releases, got {checks.shown(value)}")
    return value


@checks.arguments(pulls=checks.nonnegative_int)
def lazy_releases(pulls: int) -> list[Release]:
    """Return the releases of Anytime-Lazy-UCB in an arm's first `pulls` pulls.

    They are arrays of 1, 2, 4, ... pulls, each released once.
    """
    sizes = [2**r for r in range(pulls.bit_length()) if 2 ** (r + 1) - 1 <= pulls]
    return [Release("array", n, 2 * n - 1, 2 * n - 1, 1.0) for n in sizes]


@checks.arguments(pulls=checks.integer_in(0, checks.SIZE))
def hybrid_releases(pulls: int, tree: str = "paper") -> list[Release]:
    """Return the releases of Hybrid-UCB in an arm's first `pulls` pulls, as noise is drawn."""
    checks.one_of(*TREES)("tree", tree)
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


@checks.arguments(
    pulls=checks.array_in(0, 2**62, shape=1),
    epsilon=checks.number_in(1e-15, 1e15),
    beta=checks.number_in(1e-300, 1),
)
def elimination_releases(pulls: np.ndarray, epsilon: float, beta: float) -> int:
    """Return how many sums DP-SE has released after these pulls of each arm.

    There is one release per active arm and epoch.
    """
    pulls = np.asarray(pulls)
    released = done = epoch = 0
    active = len(pulls)
    while active > 1:
        epoch += 1
        done += int(np.ceil(epoch_length(epoch, active, epsilon, beta)))
        if np.sum(pulls >= done) < active:
            break  # the horizon ended before
        released += active
        active = int(np.sum(pulls > done))
    return released


@checks.arguments(releases=_releases)
def through_children(releases: list[Release]) -> list[Release]:
    """Return releases where a root gives way to its right child, which the last prefix adds."""

    def root(r):
        # the printed scale is twice the depth
        return r.kind == "node" and r.last - r.first + 1 == 2 ** (r.scale / 2)

    return [replace(r, first=(r.first + r.last + 1) // 2) if root(r) else r for r in releases]


@checks.arguments(releases=_releases, pulls=checks.integer_in(1, checks.SIZE))
def cost(releases: list[Release], pulls: int) -> np.ndarray:
    """Return the (pulls,) privacy cost of each reward, in epsilon, by composition."""
    total = np.zeros(pulls + 1)
    for release in releases:
        total[release.first : release.last + 1] += 1 / release.scale
    return total[1:]


@checks.arguments(
    releases=_releases, pulls=checks.integer_in(1, checks.SIZE), kind=checks.one_of("node", "array")
)
def looks(releases: list[Release], pulls: int, kind: str = "node") -> np.ndarray:
    """Return the (pulls,) number of releases of a kind that contain each reward."""
    total = np.zeros(pulls + 1, int)
    for release in releases:
        if release.kind == kind:
            total[release.first : release.last + 1] += 1
    return total[1:]
