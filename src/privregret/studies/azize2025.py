"""Parameter rules and measures of regret for the notebooks on azize2025."""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from privregret import estimates, rare
from privregret.bounds import azize2025 as bounds
from privregret.core import checks, store
from privregret.divergence import kl


def separated_means(name: str, value: object) -> np.ndarray:
    """Check means of Bernoulli arms with a unique best arm and a second-best mean above 0.

    Other means make a gap or a divergence 0, by which the notebooks divide.

    Raises
    ------
    TypeError, ValueError
        As `checks.means` does, or for several best arms or a second-best mean of 0.
    """
    means = checks.means(name, value)
    second, best = np.sort(means)[-2:]
    if not 0 < second < best:
        shown = checks.shown(value)
        raise ValueError(f"{name} must have one largest number and another above 0, got {shown}")
    return means


def tail_case(name: str, value: list) -> tuple[float, float, float]:
    """Check mean, epsilon and level of a tail, with 0 < mean < level <= 1.

    Raises
    ------
    TypeError
        If `value` is not a list of three numbers.
    ValueError
        If a number is outside its range.
    """
    if not isinstance(value, (list, tuple)) or len(value) != 3:
        raise TypeError(f"{name} must be [mean, epsilon, level], got {checks.shown(value)}")
    mean, epsilon, level = (checks.positive(f"{name}[{i}]", v) for i, v in enumerate(value))
    if not mean < level <= 1:
        raise ValueError(f"{name} must have 0 < mean < level <= 1, got {checks.shown(value)}")
    return mean, epsilon, level


@store.kept
def largest_excesses(
    means: np.ndarray,
    epsilon: float,
    horizon: int,
    delta: float,
    runs: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Compute the largest excesses of `bounds.azize2025.theorem_f7` over several runs.

    Parameters
    ----------
    means, epsilon, horizon, delta, rng
        As in `bounds.azize2025.theorem_f7`.
    runs : int

    Returns
    -------
    (3,) array
    """
    each = [bounds.theorem_f7(means, epsilon, horizon, delta, rng) for _ in range(runs)]
    return np.max(each, axis=0)


def extent(numbers: list[estimates.Estimate]) -> estimates.Estimate:
    """Return an Estimate whose interval reaches from the smallest to the largest of several.

    Its verdict about a limit is undecided if some numbers are on either side of the criterion.
    """
    low, high = estimates.smallest(numbers).low, estimates.largest(numbers).high
    if np.isinf(high - low):
        return estimates.Estimate(numbers[0].value, np.inf)
    return estimates.Estimate((low + high) / 2, bound=(high - low) / 2)


def release_game(policy: list, observed: str, change: int, seed: int) -> tuple[list, list]:
    """Play the game of Figure 2 with two arms and return actions and observed rewards.

    The left reward is 1 for arm 2 and 0 for arm 1, and the right reward is the opposite.

    Parameters
    ----------
    policy : list of arrays
        As `privacy.enumeration.random_policy` makes it.
    observed : {"L", "R"}
        Reward that the policy observes in round `change`; in other rounds it is the left one.
    change : int
        Round, from 1.
    seed : int
        Games with the same seed have the same random numbers.
    """
    rng, actions, seen = np.random.default_rng(seed), [], []
    for t, step in enumerate(policy, start=1):
        actions.append(int(rng.random() < step[(*actions, *seen)][1]))
        right = observed == "R" and t == change
        seen.append(1 - actions[-1] if right else actions[-1])
    return actions, seen


def adap_klucb_constant(mean: float, best: float, epsilon: float, tau: float) -> float:
    """Compute the leading constant of AdaP-KLUCB's regret bound, equation (49), per unit of gap.

    It is the infimum over beta of max((1 + beta) tau / kl(mean, best), (1 + tau) / (c epsilon
    (best - mean))), where kl(mean + c (best - mean), best) = kl(mean, best) / (1 + beta). The
    equation has c - gamma with gamma > 0 in place of c, which makes the constant larger.

    Parameters
    ----------
    mean, best : float
        0 < mean < best < 1.
    epsilon : float
    tau : float
        Optimism of AdaP-KLUCB, above 3.
    """
    gap = best - mean

    def excess(c):  # ln of the first term / second term, increasing in c
        return math.log(tau * c * epsilon * gap / (1 + tau) / kl(mean + c * gap, best))

    return (1 + tau) / (brentq(excess, 1e-9, 1 - 1e-6) * epsilon * gap)


def lemma_d3_proved(*case: float) -> float:
    """Return `bounds.azize2025.lemma_d3` with the constant that its proof gives."""
    return bounds.lemma_d3(*case, proved=True)


@store.kept
def at_batch_ends(log_of: Callable, grid: list, lower: bool = False) -> np.ndarray:
    """Compute `bounds.azize2025.at_batch_end` for each batches, mean, epsilon, level of a grid.

    Parameters
    ----------
    log_of : callable
        A tail of the sum or a bound on it, as for `at_batch_end`.
    grid : list of (int, float, float, float)
    lower : bool
        Whether to compute the lower tail; only for tails.

    Returns
    -------
    (n,) array
    """
    more = {"lower": True} if lower else {}
    return np.array([bounds.at_batch_end(log_of, *case, **more) for case in grid])


def first_batch(multiple: float, epsilon: float) -> int:
    """Return a first batch n0 of `multiple` / epsilon pulls, at least 1."""
    return max(1, round(multiple / epsilon))


def regret_over_bound(
    algorithms: list, problems: list, horizon: int, runs: int, seed: int
) -> pd.DataFrame:
    """Estimate expected regret / (ln T times the constant of Theorem 3.1).

    Parameters
    ----------
    algorithms : list of DPKLUCB or DPIMED
    problems : list of BernoulliBandit
    horizon, runs, seed
        As in `rare.regrets`.

    Returns
    -------
    pandas.DataFrame
        Columns of `estimates.means` by algorithm and problem, bound, ratio, ratio_se, horizon.
    """
    sample = rare.regrets(algorithms, problems, horizon, runs, seed)
    setting = ["instance", "algorithm", "epsilon", "alpha", "n0"]
    frame = estimates.means(sample, setting, weights="weight")
    means = {problem.name: problem.means for problem in problems}
    constant = [bounds.theorem_3_1(means[r.instance], r.epsilon) for r in frame.itertuples()]
    bound = np.log(horizon) * np.array(constant)
    ratio, error = frame["mean"] / bound, frame.se / bound
    return frame.assign(bound=bound, ratio=ratio, ratio_se=error, horizon=horizon)


def times_log(frame: pd.DataFrame, means: tuple, horizon: int) -> pd.DataFrame:
    """Add the constants of the three lower bounds times ln T to a frame with column epsilon."""
    constants = bounds.lower_bounds(means, frame.epsilon)
    return frame.assign(**{name: np.log(horizon) * c for name, c in constants.items()})
