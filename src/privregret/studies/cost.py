"""The floor of what a run costs: the random numbers that it draws."""

import numpy as np
import pandas as pd

from privregret import estimates, loops, noise, store
from privregret.algorithm import Algorithm
from privregret.bandits import BanditAlgorithm
from privregret.estimates import Estimate
from privregret.instances import BernoulliBandit, packing
from privregret.privacy import trace

# Settings -----------------------------------------------------------------------------------------


def problem_of(algorithm: Algorithm, actions: int):
    """Arms with means from 0.1 to 0.9, or fair coins of which one is better by 0.1."""
    if isinstance(algorithm, BanditAlgorithm):
        return BernoulliBandit(f"{actions} arms", tuple(np.linspace(0.1, 0.9, actions)))
    return packing(actions, 0.1)


# Measure ------------------------------------------------------------------------------------------

_draw = trace.python(noise.draw)


class _Noting:
    """A Generator that notes which random numbers are drawn from it: (kind, parameters...)."""

    def __init__(self, rng):
        self.numpys, self.noted = np.random.default_rng(rng), []

    def __getattr__(self, name):
        def draw(*given):
            self.noted.append((name, *given))
            return getattr(self.numpys, name)(*given)

        return draw

    def noise(self, kind, scale, draw=_draw):
        """As uncompiled kernels ask for it; Laplace noise counts as one number."""
        if kind == noise.LAPLACE:
            self.noted.append(("laplace", 0.0, scale))
        return draw(kind, scale, self.numpys if kind == noise.LAPLACE else self)


def random_numbers(algorithm, problem, horizon: int, runs: int, rng) -> list[tuple]:
    """The random numbers that runs draw, in order: a kernel's cost is at least theirs, whatever
    else it does.

    Parameters
    ----------
    algorithm : Algorithm
        With steps.
    problem, horizon, runs
        As in `simulate.regret_curves`; played uncompiled.
    rng : int or numpy.random.Generator

    Returns
    -------
    list of (kind, parameters...)
        Kinds are the methods of a Generator, with Laplace noise of `noise.laplace` as one.

    Examples
    --------
    >>> from privregret.bandits import AnytimeLazyUCB
    >>> from privregret.instances import BernoulliBandit
    >>> two = BernoulliBandit("two", (0.9, 0.1))
    >>> [kind for kind, *_ in random_numbers(AnytimeLazyUCB(1.0), two, horizon=2, runs=1, rng=0)]
    ['binomial', 'laplace', 'binomial', 'laplace']
    """
    noting = _Noting(rng)
    kernel = type(algorithm).events or loops.rounds(algorithm.templates, algorithm.steps)
    given = (
        algorithm.data_of(problem),
        np.array([horizon]),
        algorithm.settings(horizon, *problem.sizes),
        noting,
    )
    with trace.uncompiled(kernel, *trace.code(algorithm), values=False):
        for _ in range(runs):
            trace.python(kernel)(*given)
    return noting.noted


@store.kept
def numbers_drawn(
    algorithm: Algorithm, actions: int, horizon: int, runs: int, seed: int
) -> Estimate:
    """How many random numbers a run draws: the mean over runs."""
    problem = problem_of(algorithm, actions)
    drawn = [random_numbers(algorithm, problem, horizon, 1, seed + run) for run in range(runs)]
    return estimates.mean([len(numbers) for numbers in drawn])


def growth(counts: pd.DataFrame, algorithm: str, by: str, low: int, high: int) -> Estimate:
    """An algorithm's random numbers at the high value of a column over those at the low value."""
    rows = counts[counts.algorithm == algorithm].set_index(by)
    few, many = (Estimate(rows.numbers[x], rows.se[x]) for x in (low, high))
    return many / few


def time_of_a_run(measured: pd.DataFrame, axis: str, by: str, at: int, algorithm: str) -> Estimate:
    """Processor time in ms, as measured; from the least to the most counts as three errors."""
    rows = measured[(measured.axis == axis) & (measured.algorithm == algorithm)]
    row = rows[rows[by] == at].iloc[0]
    error = (row.most - row.least) / estimates.STANDARD_ERRORS
    return Estimate(row.milliseconds, error) / row.runs
