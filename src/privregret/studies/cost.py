"""Count the random numbers that a run draws, a lower bound on its cost."""

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
    """Make arms with means from 0.1 to 0.9, or fair coins of which one is better by 0.1."""
    if isinstance(algorithm, BanditAlgorithm):
        return BernoulliBandit(f"{actions} arms", tuple(np.linspace(0.1, 0.9, actions)))
    return packing(actions, 0.1)


# Measure ------------------------------------------------------------------------------------------

_draw, _laplace = trace.python(noise.draw), trace.python(noise.laplace)


class _Noting:
    """Generator that records which random numbers are drawn: (kind, parameters...)."""

    def __init__(self, rng):
        self.numpys, self.noted = np.random.default_rng(rng), []

    def __getattr__(self, name):
        def draw(*given):
            self.noted.append((name, *given))
            return getattr(self.numpys, name)(*given)

        return draw

    def noise(self, kind, scale):
        """Draw for uncompiled kernels; Laplace noise counts as one number."""
        if kind != noise.LAPLACE:
            return _draw(kind, scale, self)
        self.noted.append(("laplace", 0.0, scale))
        return _laplace(scale, self.numpys)  # a call of a compiled function takes ten times as long


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
    """Return the mean number of random numbers per run."""
    problem = problem_of(algorithm, actions)
    drawn = [random_numbers(algorithm, problem, horizon, 1, seed + run) for run in range(runs)]
    return estimates.mean([len(numbers) for numbers in drawn])


def growth(counts: pd.DataFrame, algorithm: str, by: str, low: int, high: int) -> Estimate:
    """Divide an algorithm's count at the high value of a column by its count at the low one."""
    rows = counts[counts.algorithm == algorithm].set_index(by)
    few, many = (Estimate(rows.numbers[x], rows.se[x]) for x in (low, high))
    return many / few


def time_of_a_run(measured: pd.DataFrame, axis: str, by: str, at: int, algorithm: str) -> Estimate:
    """Return measured processor time in ms; the range counts as three standard errors."""
    rows = measured[(measured.axis == axis) & (measured.algorithm == algorithm)]
    row = rows[rows[by] == at].iloc[0]
    error = (row.most - row.least) / estimates.STANDARD_ERRORS
    return Estimate(row.milliseconds, error) / row.runs
