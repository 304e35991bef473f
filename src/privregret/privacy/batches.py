"""Compute the exact privacy loss of DP-KLUCB and DP-IMED on a smallest instance.

It is the smallest instance on which one decision follows another. There are two arms, batches of 1,
2, 4, ... pulls and five rounds: the actions are 1, 2, d, d, d', and the decisions d and d' use
three noisy sums. Rounding these to a fine grid is post-processing, so the loss of the rounded
algorithm is exact, and at most that of the algorithm.
"""

from itertools import product
from typing import Any

import numpy as np
from scipy.stats import laplace

from privregret.bandits.dp_klucb import IMED, GeometricBatches
from privregret.core import checks, store
from privregret.core.jit import jit
from privregret.divergence import d_epsilon, d_epsilon_inverse

TIE = 1e-12  # indices closer than this are equal, so that rounding does not decide


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
        gain = d_epsilon_inverse(x, np.log(t) / pulls_0, epsilon) - d_epsilon_inverse(
            y, np.log(t) / pulls_1, epsilon
        )
    if abs(gain) <= TIE:
        return 0.5
    return 1.0 if gain > 0 else 0.0


@jit
def _action_law(grid, mass, epsilon, rule):
    """Return (2, 2, 3, 2, 2) probabilities of the decisions (d, d').

    The first three axes are the rewards of the first two pulls and the sum of the next two.
    """
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
                    if d == 0:
                        again = _first_wins(
                            (grid[i] + grid[k]) / 3, 3, grid[j], 1, 5, epsilon, rule
                        )
                    else:
                        again = _first_wins(
                            grid[i], 1, (grid[j] + grid[k]) / 3, 3, 5, epsilon, rule
                        )
                    for s in range(3):
                        tail[s, 0] += mass[s, k] * again
                        tail[s, 1] += mass[s, k] * (1 - again)
                for r in range(2):
                    for q in range(2):
                        for s in range(3):
                            for e in range(2):
                                law[r, q, s, d, e] += mass[r, i] * mass[q, j] * p_d * tail[s, e]
    return law


@checks.arguments(algorithm=checks.instance_of(GeometricBatches), cells=checks.integer_in(2, 10**4))
@store.kept
def action_law(algorithm: Any, cells: int = 160) -> np.ndarray:
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
    law = _action_law((edges[1:] + edges[:-1]) / 2, np.diff(cdf), epsilon, algorithm.rule)
    return np.array([law[r, q, s + u] for r, q, s, u in product((0, 1), repeat=4)]).reshape(
        (2,) * 6
    )


@checks.arguments(
    blocks=checks.list_of(checks.nonnegative_int),
    rewards=checks.array_in(0, 1, shape=1),
    other=checks.array_in(0, 1, shape=1),
    epsilon=checks.number_in(1e-15, 1e15),
)
def prefix_losses(
    blocks: Any, rewards: np.ndarray, other: np.ndarray, epsilon: float, rng: np.random.Generator
) -> tuple[float, ...]:
    """Return a log-ratio of the densities of all released prefix sums, in two designs.

    The ratio compares two lists of rewards, at one draw under the first. In the first design prefix
    sums are sums of noisy block sums (azize2025, Lemma E.1), as in the algorithms; in the second
    each prefix sum has fresh noise.

    Parameters
    ----------
    blocks : sequence of int
        Where the blocks begin.
    rewards, other : (n,) arrays
    epsilon : float
        Every noise is Laplace of scale 1 / epsilon.
    rng : numpy.random.Generator
    """
    sums = np.add.reduceat([rewards, other], blocks, axis=1)
    noise = rng.laplace(size=len(blocks)) / epsilon
    # sums of noisy block sums determine the noisy block sums
    logs = [
        laplace.logpdf(c[0] + noise - c, scale=1 / epsilon).sum(axis=1)
        for c in (sums, sums.cumsum(axis=1))
    ]
    return tuple(float(first - second) for first, second in logs)


@checks.arguments(algorithm=checks.instance_of(GeometricBatches), cells=checks.integer_in(2, 10**4))
@store.kept
def privacy_loss(algorithm: Any, cells: int = 160) -> float:
    """Return the largest log-ratio of an action sequence over neighbouring lists.

    Neighbouring reward lists differ in one entry.
    """
    law = action_law(algorithm, cells)
    worst = 0.0
    for rewards in product((0, 1), repeat=4):
        for t in range(4):
            other = tuple(1 - r if s == t else r for s, r in enumerate(rewards))
            p, q = law[rewards], law[other]
            worst = max(worst, float(np.log(p[p > 0] / q[p > 0]).max()))
    return worst
