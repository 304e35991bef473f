"""Compare algorithms: leaders, equal proved privacy, epsilon for a regret target."""

import math

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from privregret import estimates, exact, simulate
from privregret.bandits import (
    DPIMED,
    DPKLUCB,
    DPSE,
    AdaPKLUCB,
    AnytimeLazyUCB,
    BanditAlgorithm,
    HybridUCB,
    LazyDPTS,
)
from privregret.bandits.dp_klucb import batch_ends
from privregret.bandits.dp_se import epoch_length
from privregret.companion import MarginStop, Votes, VotesOrLeader
from privregret.core import store
from privregret.estimates import ROUNDING, STANDARD_ERRORS, Estimate
from privregret.full_information import FTNL
from privregret.instances import BernoulliBandit, StochasticLosses

# First batches of DP-KLUCB and DP-IMED, as parts of the names of curves.
LONG, ONE = r", $n_0=8/\epsilon$", ", $n_0=1$"

# Nominal epsilon -> learner with an exact regret on losses that are the same in every round.
FOR_FIXED_LOSSES = [Votes, VotesOrLeader, lambda epsilon: MarginStop(epsilon, 0.25, 0.0)]

# Settings -----------------------------------------------------------------------------------------


def long_batch(epsilon: float) -> int:
    """Return ceil(8 / epsilon), a first batch whose rewards outweigh the noise."""
    return max(1, math.ceil(8 / epsilon))


def private(epsilon: float) -> list[BanditAlgorithm]:
    """Return the private algorithms that act from release to release."""
    first = sorted({1, long_batch(epsilon)})
    batched = [make(epsilon, n0=n) for make in (DPKLUCB, DPIMED) for n in first]
    return [AnytimeLazyUCB(epsilon), DPSE(epsilon), AdaPKLUCB(epsilon), *batched]


# Measure ------------------------------------------------------------------------------------------


def played(algorithms, problems, horizon: int, runs: int, seed: int) -> pd.DataFrame:
    """Return final regrets, with a column `name` that distinguishes first batches."""
    frame = simulate.regret_curves(algorithms, problems, horizon, runs, seed, points=1)
    name = frame.algorithm
    if "n0" in frame:
        rows = zip(frame.n0.fillna(0), frame.epsilon.fillna(1), strict=True)
        batch = np.array([ONE if n < long_batch(e) else LONG for n, e in rows], dtype=object)
        name = np.where(frame.n0.isna(), frame.algorithm, frame.algorithm + batch)
    return frame.assign(name=name, horizon=horizon)


def fraction_led(ranked: pd.DataFrame, name: str) -> float:
    """Return the fraction of grid points at which an algorithm leads."""
    mine = ranked[ranked.name == name]
    # an infinite upper limit means too few runs for evidence
    return float((mine.leads & np.isfinite(mine.upper_limit)).sum() / len(mine))


def over_others(ranked: pd.DataFrame, name: str) -> Estimate:
    """Return an algorithm's largest median / smallest median of the other algorithms.

    Variants of the same algorithm, whose names agree before a comma, are no others. The error is a
    third of the distance to the largest ratio of a confidence limit to the smallest of the others.
    """
    point = ["instance", "epsilon"]
    mine = ranked[ranked.name == name].set_index(point)
    others = ranked[ranked.name.str.split(",").str[0] != name.split(",")[0]].groupby(point)
    ratio = mine["median"] / others["median"].min()
    limit = mine.upper_limit / others.lower_limit.min()
    return Estimate(ratio.max(), (limit.max() - ratio.max()) / STANDARD_ERRORS)


def at_equal_privacy(families, instances, epsilons, horizon: int) -> pd.DataFrame:
    """Return exact regrets of families of learners at each proved epsilon."""
    frames = []
    for problem, count, gap in instances:
        for epsilon in epsilons:
            learners = [at_privacy(make, epsilon) for make in families]
            frame = exact.regret_curves(learners, problem, horizon)
            frames.append(frame.assign(proved_epsilon=epsilon, actions=count, gap=gap))
    data = pd.concat(frames, ignore_index=True)
    return data.assign(learner=data.algorithm.str.replace(" (no cap)", "", regex=False))


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


@store.cached
def smallest_epsilon(
    problem: StochasticLosses, horizon: int, target: float, low: float, high: float
) -> float:
    """Return the epsilon at which FTNL with Gumbel noise has the target as exact regret."""

    def excess(log_epsilon):
        regret = exact.expected_regret(FTNL(math.exp(log_epsilon), "gumbel"), problem, horizon)
        return math.log(regret.value[0] / target)

    return math.exp(brentq(excess, math.log(low), math.log(high), xtol=1e-6))


def printed(epsilon: float, error: float) -> str:
    """Return an epsilon in TeX, with its standard error, or that it is not resolved."""
    if math.isinf(epsilon) or STANDARD_ERRORS * error >= epsilon:
        return "not resolved"
    if not error:
        return f"${epsilon:.3f}$"
    value, error_shown = (estimates.rounded(x, error) for x in (epsilon, error))
    return rf"${value}\pm{error_shown}$"


def median_regrets(frame: pd.DataFrame, epsilons) -> list[Estimate]:
    """Return medians of the final regrets at each epsilon."""
    sample = frame.groupby("epsilon").regret
    return [estimates.median(sample.get_group(e)) for e in epsilons]


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
