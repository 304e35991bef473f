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
    """Return how many sums DP-SE has released after these pulls of each arm: one for each active
    arm and epoch."""
    released = done = epoch = 0
    active = len(pulls)
    while active > 1:
        epoch += 1
        done += math.ceil(epoch_length(epoch, active, epsilon, beta))
        if np.sum(pulls >= done) < active:
            break  # the horizon ended before
        released += active
        active = int(np.sum(pulls > done))
    return released


@store.cached
def median_releases(
    algorithm: BanditAlgorithm, problem: BernoulliBandit, horizon: int, runs: int, seed: int
) -> float:
    """Return the median over runs of the number of noisy sums that an algorithm releases."""
    pulls, powers = algorithm.run(problem, [horizon], seed, runs)[:, -1], 2 ** np.arange(60)
    if isinstance(algorithm, DPSE):
        epsilon, beta = algorithm.epsilon, 1 / horizon
        return float(np.median([elimination_releases(row, epsilon, beta) for row in pulls]))
    if isinstance(algorithm, HybridUCB):
        return float(np.median(pulls.sum(axis=1)))
    # the pulls of an arm after which its sum is released
    if isinstance(algorithm, AdaPKLUCB):
        ends = powers
    elif isinstance(algorithm, AnytimeLazyUCB | LazyDPTS):
        ends = 2 * powers - 1
    else:
        ends = batch_ends(algorithm.alpha, algorithm.n0, 0, horizon)
    return float(np.median(np.searchsorted(ends, pulls, side="right").sum(axis=1)))


def leaders(table, by) -> pd.DataFrame:
    """Add a column `leads`: whether no row of the group is significantly smaller, for all rows at
    once with the confidence of the limits. A row that leads alone has the smallest quantile."""
    smallest = table.groupby(by, sort=False).upper_limit.transform("min")
    # regrets are often equal up to rounding
    return table.assign(leads=table.lower_limit <= smallest * (1 + ROUNDING))


def at_privacy(make, epsilon: float):
    """Return the algorithm of a family whose proved privacy loss is epsilon."""
    algorithm = make(epsilon * epsilon / make(epsilon).privacy.proved)
    most = algorithm.privacy.proved
    if not math.isclose(most, epsilon):
        label = algorithm.label
        raise ValueError(f"{label} must spend epsilon = {epsilon:g}, got {most:g} at most")
    return algorithm


def affordable(epsilons, regrets, target: float) -> Estimate:
    """Return the smallest epsilon with regret at most a target, or infinity, by interpolation that
    is linear in the logarithms."""

    def crossing(values):
        """The last point at which these regrets fall to the target."""
        above = np.flatnonzero(np.asarray(values) > target)
        if len(above) == 0 or above[-1] == len(values) - 1:
            return math.inf
        x, y = (np.log(of[above[-1] : above[-1] + 2]) for of in (epsilons, values))
        return math.exp(x[0] + (math.log(target) - y[0]) / (y[1] - y[0]) * (x[1] - x[0]))

    most = max(r.value for r in regrets)
    if most <= target:
        message = f"target must be below the largest of the regrets ({most:g}), got {target:g}"
        raise ValueError(message)
    ends = ("value", "low", "high")
    value, *limits = (crossing([max(getattr(r, e), 1e-300) for r in regrets]) for e in ends)
    if math.isinf(value):
        return Estimate(value)
    return Estimate(value, max(abs(limit - value) for limit in limits) / STANDARD_ERRORS)
