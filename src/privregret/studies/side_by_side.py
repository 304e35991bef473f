"""Compare algorithms: leaders, equal proved privacy, epsilon for a regret target, releases."""

import math

import numpy as np
import pandas as pd

from privregret.bandits import DPSE, AdaPKLUCB, AnytimeLazyUCB, BanditAlgorithm, HybridUCB, LazyDPTS
from privregret.bandits.dp_klucb import batch_ends
from privregret.bandits.dp_se import epoch_length
from privregret.core import store
from privregret.estimates import ROUNDING, STANDARD_ERRORS, Estimate
from privregret.instances import BernoulliBandit


def elimination_releases(pulls: np.ndarray, epsilon: float, beta: float) -> int:
    """Return how many sums DP-SE has released after these pulls of each arm.

    There is one release per active arm and epoch.
    """
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


def releases(algorithm: BanditAlgorithm, pulls: np.ndarray, horizon: int) -> int:
    """Count the noisy sums that an algorithm has released after these pulls of each arm."""
    if isinstance(algorithm, HybridUCB):
        # one after each pull
        return int(sum(pulls))
    if isinstance(algorithm, DPSE):
        return elimination_releases(pulls, algorithm.epsilon, 1 / horizon)
    # episodes of 1, 1, 2, 4, ... pulls
    if isinstance(algorithm, AdaPKLUCB):
        return sum(int(n).bit_length() for n in pulls)
    if isinstance(algorithm, AnytimeLazyUCB | LazyDPTS):
        return sum(int(n + 1).bit_length() - 1 for n in pulls)
    ends = batch_ends(algorithm.alpha, algorithm.n0, 0, horizon)
    return int(np.searchsorted(ends, pulls, side="right").sum())


@store.cached
def median_releases(
    algorithm: BanditAlgorithm, problem: BernoulliBandit, horizon: int, runs: int, seed: int
) -> float:
    """Return the median number of releases over runs."""
    pulls = algorithm.run(problem, [horizon], seed, runs)[:, -1]
    return float(np.median([releases(algorithm, row, horizon) for row in pulls]))


def leaders(table, by) -> pd.DataFrame:
    """Add a column `leads`: whether no row of the group is significantly smaller.

    If a single row of a group leads, it has the smallest quantile of the group. All these
    statements hold simultaneously, with the confidence of the limits.
    """
    smallest = table.groupby(by, sort=False).upper_limit.transform("min")
    # regrets are often equal up to rounding
    return table.assign(leads=table.lower_limit <= smallest * (1 + ROUNDING))


def at_privacy(make, epsilon: float):
    """Return the algorithm of a family whose proved privacy loss is epsilon."""
    algorithm = make(epsilon * epsilon / make(epsilon).privacy.proved)
    if not math.isclose(algorithm.privacy.proved, epsilon):
        most = algorithm.privacy.proved
        raise ValueError(
            f"{algorithm.label} must spend epsilon = {epsilon:g}, got {most:g} at most"
        )
    return algorithm


def affordable(epsilons, regrets, target: float) -> Estimate:
    """Return the smallest epsilon with regret at most a target, by interpolation.

    The interpolation is linear in the logarithms.
    """
    values, lows, highs = ([getattr(r, end) for r in regrets] for end in ("value", "low", "high"))
    if max(values) <= target:
        raise ValueError(
            f"target must be below the largest of the regrets ({max(values):g}), got {target:g}"
        )
    value = _crossing(epsilons, values, target)
    if math.isinf(value):
        return Estimate(value)
    reach = max(abs(_crossing(epsilons, ends, target) - value) for ends in (lows, highs))
    return Estimate(value, reach / STANDARD_ERRORS)


def _crossing(epsilons, values, target):
    """Return the last point where interpolated values fall to the target, or infinity."""
    above = np.flatnonzero(np.asarray(values) > target)
    if len(above) == 0 or above[-1] == len(values) - 1:
        return math.inf
    i = above[-1]
    x, y = np.log(epsilons[i : i + 2]), np.log(np.maximum(values[i : i + 2], 1e-300))
    return math.exp(x[0] + (math.log(target) - y[0]) / (y[1] - y[0]) * (x[1] - x[0]))
