"""Comparing algorithms: who leads when all comparisons count, equal proved privacy, the epsilon that a target needs."""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd

from privregret import checks
from privregret.estimates import ROUNDING, STANDARD_ERRORS, Estimate

_positive = checks.number_in(1e-300, 1e300)


def _estimates(name, value):
    if not (isinstance(value, (list, tuple)) and all(isinstance(v, Estimate) for v in value)):
        raise TypeError(f"{name} must be a list of estimates, got {checks.shown(value)}")
    return value


@checks.arguments(table=checks.dataframe, by=checks.list_of(checks.text))
def leaders(table, by) -> pd.DataFrame:
    """Add a column `leads`: whether no other row of the group is surely smaller.

    If a single row of a group leads, it has the smallest quantile there; all these statements hold at once, with the
    confidence of the limits.

    Parameters
    ----------
    table : pandas.DataFrame
        As `estimates.quantile_limits` makes it: columns low and high.
    by : list of str
        Columns whose combinations are the groups.

    Examples
    --------
    >>> table = pd.DataFrame({"epsilon": 1.0, "low": [1.0, 2.0, 5.0], "high": [3.0, 4.0, 6.0]})
    >>> leaders(table, ["epsilon"]).leads.tolist()
    [True, True, False]
    """
    smallest = table.groupby(by, sort=False).high.transform("min")
    return table.assign(
        leads=table.low <= smallest * (1 + ROUNDING)
    )  # regrets are often equal but for rounding


@checks.arguments(make=checks.instance_of(Callable), epsilon=_positive)
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

    Examples
    --------
    >>> from privregret.bandits import HybridUCB
    >>> at_privacy(HybridUCB, 3.0).epsilon  # as printed it is proved to be 1.5 epsilon-DP
    2.0
    """
    checks.positive("epsilon", epsilon)
    algorithm = make(epsilon * epsilon / make(epsilon).privacy.proved)
    if not math.isclose(algorithm.privacy.proved, epsilon):
        most = algorithm.privacy.proved
        raise ValueError(
            f"{algorithm.label} must spend epsilon = {epsilon:g}, got {most:g} at most"
        )
    return algorithm


@checks.arguments(
    epsilons=checks.array_in(1e-300, 1e300, shape=1), regrets=_estimates, target=_positive
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

    Examples
    --------
    >>> round(affordable([0.1, 1.0], [Estimate(30.0), Estimate(3.0)], 6.0).value, 6)
    0.5
    """
    if len(regrets) != len(epsilons):
        raise ValueError(
            f"regrets must be one for each of {len(epsilons)} epsilons, got {len(regrets)}"
        )
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
    """Where log-linear interpolation of `values` last falls to the target; infinite if it never does or ends above."""
    above = np.flatnonzero(np.asarray(values) > target)
    if len(above) == 0 or above[-1] == len(values) - 1:
        return math.inf
    i = above[-1]
    x, y = np.log(epsilons[i : i + 2]), np.log(np.maximum(values[i : i + 2], 1e-300))
    return math.exp(x[0] + (math.log(target) - y[0]) / (y[1] - y[0]) * (x[1] - x[0]))
