"""Search for the instance on which an algorithm pays most for its privacy."""

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from privregret.core import checks, store
from privregret.exact.regret import expected_regret
from privregret.full_information import EpochAlgorithm
from privregret.instances import StochasticLosses, bernoulli_losses, deterministic_losses

HORIZON = 2**60


class WorstInstance(NamedTuple):
    """The worst instance found and epsilon R / ln K on it, `ratio`.

    `error` bounds the numerical error of the ratio, not its distance to the largest ratio. `tried`
    counts the instances whose regret was computed.
    """

    instance: StochasticLosses
    ratio: float
    error: float
    tried: int


def _algorithm(name, value):
    if not isinstance(value, EpochAlgorithm) or not hasattr(value, "epsilon"):
        raise TypeError(f"{name} must be a private epoch algorithm, got {checks.shown(value)}")
    return value


def _gaps(name, value):
    wrong = f"{name} must be two numbers in (0, 1], the smaller first, got {checks.shown(value)}"
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise TypeError(wrong)
    low, high = (checks.number_in(0, 1, "(]")(name, gap) for gap in value)
    if not low < high:
        raise ValueError(wrong)
    return low, high


@checks.arguments(
    algorithm=_algorithm,
    log_actions=checks.number_in(math.log(2), 1e6),
    bernoulli=checks.boolean,
    gaps=_gaps,
    points=checks.integer_in(2, checks.SIZE),
    polish=checks.nonnegative_int,
    groups=checks.positive_int,
    budget=checks.positive_int,
)
@store.kept
def worst_instance(
    algorithm: EpochAlgorithm,
    log_actions: float,
    bernoulli: bool = False,
    gaps: tuple[float, float] = (0.3, 1.0),
    points: int = 16,
    polish: int = 12,
    groups: int = 1,
    budget: int = 200,
) -> WorstInstance:
    """Maximise epsilon R / ln K over instances with one best action, R after 2^60 rounds.

    First all other actions have the same gap, which is searched on a grid and then refined by
    Brent's method about the two best points. With more groups of equal actions, Nelder and Mead's
    simplex starts there, in the groups' gaps and sizes. The same arguments give the same result.
    The search is local in the end, so its ratio is a lower bound on the largest one.

    Parameters
    ----------
    algorithm : EpochAlgorithm
        With a parameter `epsilon`.
    log_actions : float
        ln K, at least ln 2.
    bernoulli : bool
        Independent Bernoulli losses, means centred at 1/2, in place of deterministic losses. For
        Bernoulli losses, small gaps cost ln K / gap even without privacy, so the ratio depends on
        the smallest gap allowed.
    gaps : (float, float)
        Smallest and largest gap allowed, in (0, 1].
    points : int
        Gaps on the grid, at least 2, evenly spaced in their logarithm.
    polish : int
        Steps of Brent's method about each, at least 0.
    groups : int
        Number of groups of equal actions besides the best one, 1 to K - 1, else ValueError.
    budget : int
        Regrets that the simplex may compute, at least 1; without effect for one group.

    Examples
    --------
    >>> from privregret.full_information import FTNL
    >>> worst = worst_instance(FTNL(0.5, "gumbel"), math.log(10), points=4, polish=0)
    >>> round(worst.ratio, 2), worst.tried
    (5.71, 4)
    """
    low, high = gaps
    # ln(K - 1)
    others = max(0.0, log_actions + math.log1p(-math.exp(-log_actions)))
    if math.log(groups) > others + 1e-9:
        most = round(math.exp(others))
        raise ValueError(f"groups must be at most K - 1 = {most}, got {groups}")
    tried = []

    def ratio(log_gaps, log_counts):
        """Return epsilon R / ln K, and record it with its error and the instance."""
        sizes, which = np.clip(np.exp(log_gaps), low, high), np.append(0.0, log_counts)
        best = (1 - sizes.max()) / 2 if bernoulli else 0.0
        make = bernoulli_losses if bernoulli else deterministic_losses
        instance = make((best, *(best + sizes)), log_counts=tuple(which))
        factor = algorithm.epsilon / instance.log_actions
        found = [float(x[0]) * factor for x in expected_regret(algorithm, instance, HORIZON)]
        tried.append(WorstInstance(instance, *found, 0))
        return tried[-1].ratio

    grid = np.linspace(math.log(low), math.log(high), points)
    values = [ratio([g], [others]) for g in grid]
    padded = np.array([-np.inf, *values, -np.inf])
    tops = np.flatnonzero((padded[1:-1] >= padded[:-2]) & (padded[1:-1] >= padded[2:]))
    # octaves are similar, so two are tried
    best_tops = sorted(tops.tolist(), key=lambda i: -values[i])[: 2 * (polish > 0)]
    for top in best_tops:
        ends = grid[max(top - 1, 0)], grid[min(top + 1, points - 1)]
        options = {"maxiter": polish}
        minimize_scalar(lambda g: -ratio([g], [others]), bounds=ends, options=options)
    if groups > 1:
        start = math.log(max(tried, key=lambda w: w.ratio).instance.gaps[1])

        def negative(x):
            # sizes are proportional to (K - 1)^exponent, with exponent 1 for the last group; every
            # group has at least one action
            sizes = others * np.append(x[groups:], 1.0)
            return -ratio(x[:groups], np.maximum(sizes - np.logaddexp.reduce(sizes) + others, 0.0))

        first = np.concatenate([start + np.linspace(-0.2, 0.2, groups), np.full(groups - 1, 0.95)])
        options = {"maxfev": budget, "xatol": 1e-6, "fatol": 1e-9}
        minimize(negative, first, method="Nelder-Mead", options=options)
    return max(tried, key=lambda w: w.ratio)._replace(tried=len(tried))
