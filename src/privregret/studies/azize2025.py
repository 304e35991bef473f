"""What the notebooks on azize2025 need: rules of parameters and measures of regret."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from privregret import checks, estimates, rare, store
from privregret.bandits import DPIMED, DPKLUCB
from privregret.bounds import azize2025 as bounds
from privregret.instances import BernoulliBandit
from privregret.privacy import batches


def separated_means(name: str, value: object) -> np.ndarray:
    """Means of Bernoulli arms as `checks.means`, with one best arm and a second-best mean above 0.

    Otherwise a gap or a divergence by which the notebooks divide is 0.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> separated_means("means", [0.75, 0.5])
    array([0.75, 0.5 ])
    >>> separated_means("means", [0.75, 0.75])
    Traceback (most recent call last):
    ...
    ValueError: means must have one largest number and another above 0, got [0.75, 0.75]
    """
    means = checks.means(name, value)
    second, best = np.sort(means)[-2:]
    if not 0 < second < best:
        shown = checks.shown(value)
        raise ValueError(f"{name} must have one largest number and another above 0, got {shown}")
    return means


def tail_case(name: str, value: list) -> tuple[float, float, float]:
    """Mean, epsilon and level of a tail: 0 < mean < level <= 1.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> tail_case("coupling", [0.7, 0.25, 0.75])
    (0.7, 0.25, 0.75)
    """
    if not isinstance(value, (list, tuple)) or len(value) != 3:
        raise TypeError(f"{name} must be [mean, epsilon, level], got {checks.shown(value)}")
    mean, epsilon, level = (checks.positive(f"{name}[{i}]", v) for i, v in enumerate(value))
    if not mean < level <= 1:
        raise ValueError(f"{name} must have 0 < mean < level <= 1, got {checks.shown(value)}")
    return mean, epsilon, level


@store.kept
def largest_prefix_losses(
    blocks: list, length: int, epsilon: float, tries: int, rng: np.random.Generator
) -> np.ndarray:
    """Largest log-ratios of `batches.prefix_losses` over random neighbouring reward lists.

    Parameters
    ----------
    blocks : list of int
        Where the blocks begin.
    length : int
        Rewards of a list, uniform in [0, 1]; one of them is drawn anew for the neighbour.
    epsilon : float
    tries : int
        Random pairs of neighbours.
    rng : numpy.random.Generator

    Returns
    -------
    (2,) array
        Of sums of noisy block sums, and with fresh noise on each prefix sum.

    Examples
    --------
    >>> summed, fresh = largest_prefix_losses([0, 3], 6, 0.5, 100, np.random.default_rng(1))
    >>> bool(summed <= 0.5)
    True
    """
    losses = []
    for _ in range(tries):
        rewards, other = rng.random((2, length))
        other = np.where(np.arange(length) == rng.integers(length), other, rewards)
        losses.append(batches.prefix_losses(blocks, rewards, other, epsilon, rng))
    return np.abs(losses).max(axis=0)


@store.kept
def largest_excesses(
    means: np.ndarray,
    epsilon: float,
    horizon: int,
    delta: float,
    runs: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """The largest excesses of `bounds.azize2025.theorem_f7` over several runs, as a (3,) array.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> largest_excesses(np.array([0.7, 0.5]), 1.0, 1000, 0.05, 2, rng).shape
    (3,)
    """
    each = [bounds.theorem_f7(means, epsilon, horizon, delta, rng) for _ in range(runs)]
    return np.max(each, axis=0)


def usual_growth(curves: pd.DataFrame, constant: float) -> pd.DataFrame:
    """Mean growth per ln T without the worst run in a thousand (at least one), by algorithm, alpha.

    Parameters
    ----------
    curves : pandas.DataFrame
        As `simulate.regret_curves` makes them, for several ratios alpha.
    constant : float
        Of the lower bound.

    Returns
    -------
    pandas.DataFrame
        Columns of `estimates.means`, and bound: alpha times the constant.

    Examples
    --------
    >>> runs = {"algorithm": "a", "alpha": 2.0, "run": [0, 0, 1, 1], "t": [1, 10, 1, 10]}
    >>> frame = pd.DataFrame(runs | {"regret": [0.0, 2.0, 0.0, 9.0]})
    >>> usual_growth(frame, 1.0)[["mean", "bound"]].round(3)
        mean  bound
    0  0.869    2.0
    """
    setting = ["algorithm", "alpha"]
    grown = estimates.growths(curves, setting)
    worst = grown.groupby(setting).growth.rank(ascending=False, method="first")
    usual = grown[worst > max(1, grown.run.nunique() // 1000)]
    found = estimates.means(usual, setting, "growth")
    return found.assign(bound=found.alpha * constant)


def lemma_d3_proved(*case: float) -> float:
    """Lemma D.3 with the constant that its proof gives: `bounds.azize2025.lemma_d3` otherwise.

    Examples
    --------
    >>> printed, proved = (
    ...     bounds.at_batch_end(log_of, 8, 0.5, 1.0, 0.75)
    ...     for log_of in (bounds.lemma_d3, lemma_d3_proved)
    ... )
    >>> bool(printed < proved)
    True
    """
    return bounds.lemma_d3(*case, proved=True)


@store.kept
def at_batch_ends(log_of: Callable, grid: list, lower: bool = False) -> np.ndarray:
    """`bounds.azize2025.at_batch_end` for each batches, mean, epsilon and level of a grid.

    Parameters
    ----------
    log_of : callable
        A tail of the sum or a bound on it, as `at_batch_end` takes it.
    grid : list of (int, float, float, float)
    lower : bool
        Whether it is the tail below the level, for tails that can be either.

    Returns
    -------
    (n,) array

    Examples
    --------
    >>> at_batch_ends(bounds.tail, [(3, 0.5, 1.0, 0.75)]).shape
    (1,)
    """
    more = {"lower": True} if lower else {}
    return np.array([bounds.at_batch_end(log_of, *case, **more) for case in grid])


def first_batch(multiple: float, epsilon: float) -> int:
    """A first batch n0 of `multiple` / epsilon pulls, at least 1.

    Examples
    --------
    >>> first_batch(8.0, 0.1), first_batch(0.5, 1.0)
    (80, 1)
    """
    return max(1, round(multiple / epsilon))


def regret_over_bound(
    algorithms: list, problems: list, horizon: int, runs: int, seed: int
) -> pd.DataFrame:
    """Expected regret over ln T times the constant of Theorem 3.1, by algorithm and problem.

    Parameters
    ----------
    algorithms : list of DPKLUCB or DPIMED
    problems : list of BernoulliBandit
    horizon, runs, seed
        As in `rare.regrets`.

    Returns
    -------
    pandas.DataFrame
        Columns of `estimates.means`, bound, ratio, ratio_se, horizon.

    Examples
    --------
    >>> from privregret.bandits import DPIMED
    >>> from privregret.instances import AZIZE2025_1
    >>> regret_over_bound([DPIMED(0.25)], [AZIZE2025_1], 1000, 100, 1).ratio.item() > 0
    True
    """
    sample = rare.regrets(algorithms, problems, horizon, runs, seed)
    setting = ["instance", "algorithm", "epsilon", "alpha", "n0"]
    frame = estimates.means(sample, setting, weights="weight")
    means = {problem.name: problem.means for problem in problems}
    constant = [bounds.theorem_3_1(means[r.instance], r.epsilon) for r in frame.itertuples()]
    bound = np.log(horizon) * np.array(constant)
    ratio, error = frame["mean"] / bound, frame.se / bound
    return frame.assign(bound=bound, ratio=ratio, ratio_se=error, horizon=horizon)


def survival_by_first_batch(
    problem: BernoulliBandit, epsilon: float, n0: int, horizon: int, runs: int, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Distribution of the final regret with a first batch of n0 pulls.

    Returns
    -------
    pandas.DataFrame, pandas.DataFrame
        Columns algorithm, regret, fraction, mean, bound for DP-KLUCB and DP-IMED; and regret,
        fraction for DP-IMED with n0 = 1.

    Examples
    --------
    >>> from privregret.instances import AZIZE2025_1
    >>> curves, one = survival_by_first_batch(AZIZE2025_1, 0.25, 32, 1000, 100, 1)
    >>> curves.algorithm.unique().tolist()
    ['DP-KLUCB', 'DP-IMED']
    """
    both = [DPKLUCB(epsilon, 2.0, n0), DPIMED(epsilon, 2.0, n0)]
    sample = rare.regrets(both, problem, horizon, runs, seed)
    means = estimates.means(sample, "algorithm", weights="weight")[["algorithm", "mean"]]
    curves = estimates.survivals(sample, "algorithm", weights="weight").merge(means, on="algorithm")
    bound = np.log(horizon) * bounds.theorem_3_1(problem.means, epsilon)
    one = rare.regrets(DPIMED(epsilon, 2.0, 1), problem, horizon, runs, seed)
    return curves.assign(bound=bound), estimates.survivals(one, [], weights="weight")


def times_log(frame: pd.DataFrame, means: tuple, horizon: int) -> pd.DataFrame:
    """A frame with column epsilon, and the constants of the lower bounds times ln T as columns.

    Examples
    --------
    >>> list(times_log(pd.DataFrame({"epsilon": [0.5]}), (0.75, 0.5), 1000))
    ['epsilon', 'theorem_3_1', 'equation_7', 'lai_robbins']
    """
    constants = bounds.lower_bounds(means, frame.epsilon)
    return frame.assign(**{name: np.log(horizon) * c for name, c in constants.items()})
