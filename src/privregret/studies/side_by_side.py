"""Comparing algorithms: rankings that account for all comparisons made, equal true privacy, what a target affords."""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.stats import binom

from privregret import checks
from privregret.estimates import ROUNDING, STANDARD_ERRORS, Estimate

CONFIDENCE = 0.99  # that all limits of a table hold at once


def _estimates(name, value):
    if not (isinstance(value, (list, tuple)) and all(isinstance(v, Estimate) for v in value)):
        raise TypeError(f"{name} must be a list of estimates, got {checks.shown(value)}")
    return value


SHARE = checks.number_in(1e-15, 1, "[)")


@checks.arguments(curves=checks.dataframe, by=checks.list_of(checks.text), level=SHARE, confidence=SHARE)
def quantiles(curves, by, level: float = 0.5, confidence: float = CONFIDENCE) -> pd.DataFrame:
    """A quantile of regret for each combination of the columns `by`, with limits that hold for all of them at once.

    For any law of regret, however heavy its tail: the limits are order statistics, at a level by Bonferroni's rule.

    Parameters
    ----------
    curves : pandas.DataFrame
        One row a run: `by` and regret.
    by : list of str
    level : float
        In (0, 1); 0.5 is the median.
    confidence : float
        Probability with which all limits hold, in (0, 1).

    Returns
    -------
    pandas.DataFrame
        Columns `by`, value, low, high, runs. A limit for which there are too few runs is infinite.
    """
    groups = curves.groupby(by, sort=False, dropna=False).regret
    chance, rows = (1 - confidence) / (2 * groups.ngroups), []
    for key, sample in groups:
        x, n = np.sort(sample.to_numpy()), len(sample)
        low, high = int(binom.ppf(chance, n, level)), int(binom.ppf(1 - chance, n, level))
        limits = x[low - 1] if low else -math.inf, x[high] if high < n else math.inf
        rows.append((*key, x[min(int(n * level), n - 1)], *limits, n))
    return pd.DataFrame(rows, columns=[*by, "value", "low", "high", "runs"])


@checks.arguments(table=checks.dataframe, cell=checks.list_of(checks.text))
def leaders(table, cell) -> pd.DataFrame:
    """The table of `quantiles` with a column `leads`: whether no other row of its cell is surely smaller.

    If one row alone of a cell leads, it has the smallest quantile there; all such statements hold at once, with
    the confidence of the limits.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns low and high.
    cell : list of str
        Columns whose combinations are the cells.
    """
    least = table.groupby(cell, sort=False).high.transform("min")
    return table.assign(leads=table.low <= least * (1 + ROUNDING))  # regrets are often equal but for rounding


@checks.arguments(make=checks.instance_of(Callable), epsilon=checks.number_in(1e-300, 1e300))
def at_privacy(make, epsilon: float):
    """The algorithm of a family that is proved to be epsilon-DP, no more and no less, whatever epsilon it claims.

    Parameters
    ----------
    make : callable
        Claimed epsilon -> algorithm; what is proved must be proportional to it.
    epsilon : float
        Above 0.

    Raises
    ------
    ValueError
        If there is none, as of a temperature that is capped.
    """
    checks.positive("epsilon", epsilon)
    algorithm = make(epsilon * epsilon / make(epsilon).privacy.proved)
    if not math.isclose(algorithm.privacy.proved, epsilon):
        most = algorithm.privacy.proved
        raise ValueError(f"{algorithm.label} must spend epsilon = {epsilon:g}, got {most:g} at most")
    return algorithm


@checks.arguments(
    epsilons=checks.array_in(1e-300, 1e300, shape=1), regrets=_estimates, target=checks.number_in(1e-300, 1e300)
)
def affordable(epsilons, regrets, target: float) -> Estimate:
    """The epsilon from which on regret is at most a target, by interpolation in the logarithms.

    Parameters
    ----------
    epsilons : (n,) increasing floats above 0
    regrets : (n,) Estimate, above 0
        Regret at each of them. The error is a third of the distance to where their limits meet the target.
    target : float
        Above 0.

    Returns
    -------
    Estimate
        Infinite if regret at the last epsilon is above the target; with an infinite error if a limit is above it there,
        or nowhere.

    Raises
    ------
    ValueError
        If regret is at most the target at every epsilon: then the one asked for is below them all.
    """
    if len(regrets) != len(epsilons):
        raise ValueError(f"regrets must be one for each of {len(epsilons)} epsilons, got {len(regrets)}")
    values, lows, highs = ([getattr(r, end) for r in regrets] for end in ("value", "low", "high"))
    if max(values) <= target:
        raise ValueError(f"target must be below the largest of the regrets ({max(values):g}), got {target:g}")
    value = _crossing(epsilons, values, target)
    if math.isinf(value):
        return Estimate(value)
    reach = max(abs(_crossing(epsilons, ends, target) - value) for ends in (lows, highs))
    return Estimate(value, reach / STANDARD_ERRORS)


def _crossing(epsilons, values, target):
    """Where log-linear interpolation of `values` last falls to the target; infinite if it never does or ends above."""
    above = np.flatnonzero(np.asarray(values) > target)
    if len(above) == 0 or above[-1] == len(values) - 1:
        return math.inf
    i = above[-1]
    x, y = np.log(epsilons[i : i + 2]), np.log(np.maximum(values[i : i + 2], 1e-300))
    return math.exp(x[0] + (math.log(target) - y[0]) / (y[1] - y[0]) * (x[1] - x[0]))
