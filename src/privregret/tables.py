"""Compute regret on a recorded table of rewards or losses."""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import joblib
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from privregret import checks, identity, simulate, store, streams
from privregret.algorithm import Algorithm
from privregret.bandits import BanditAlgorithm
from privregret.instances import ExpertProblem


class Table(NamedTuple):
    """Hold the name that stands in the column `instance`."""

    name: str


@checks.arguments(
    runs=checks.integer_in(1, checks.RUNS),
    seed=checks.nonnegative_int,
    name=checks.text,
    workers=simulate.workers_rule,
)
def regret_curves(
    algorithms: Algorithm | Sequence[Algorithm],
    *,
    rewards: ArrayLike | None = None,
    losses: ArrayLike | None = None,
    runs: int,
    seed: int,
    name: str = "table",
    points: int | Sequence[int] | np.ndarray = 200,
    workers: int = -1,
) -> pd.DataFrame:
    """Return the regret of algorithms on a table, against the best arm in hindsight.

    Stochastic bandits take rewards, the other algorithms losses. State which of the two the table
    holds: an algorithm that takes the other one plays on 1 minus the table, where every sequence of
    arms has equal regret.

    Parameters
    ----------
    algorithms : Algorithm or sequence of them
        A class may occur several times, with different parameters.
    rewards, losses : (T, K) array or DataFrame
        Exactly one of them: one row per round, one column per arm, in [0, 1].
    runs : int
        Independent replicates of each algorithm, at least 1, all on this table.
    seed : int
        At least 0. The same seed gives the same numbers, whatever else is in the call.
    name : str
        Name of the table, for the column `instance`.
    points, workers
        As in `simulate.regret_curves`.

    Returns
    -------
    pandas.DataFrame
        The columns of `simulate.regret_curves`. The regret at t is the sum of the rewards, in
        rounds 1..t, of the arm that is best in these rounds, minus the sum of the rewards of the
        arms played.

    Raises
    ------
    TypeError
        If both tables are given or none, or for an algorithm that needs expert advice.
    ValueError
        If the table is ragged, or holds a nan or a number outside [0, 1].

    Examples
    --------
    >>> from privregret.bandits import AnytimeLazyUCB
    >>> from privregret.full_information import FTNL
    >>> losses = np.random.default_rng(1).random((1000, 3)) * (0.5, 0.9, 1.0)
    >>> algorithms = AnytimeLazyUCB(1.0), FTNL(1.0)
    >>> curves = regret_curves(algorithms, losses=losses, runs=20, seed=2, points=1)
    >>> curves.groupby("algorithm").regret.mean().round(1).to_dict()
    {'Anytime-Lazy-UCB': 113.7, 'FTNL (Laplace)': 8.6}
    """
    if (rewards is None) == (losses is None):
        raise TypeError("pass the table as either rewards or losses")
    algorithms = simulate.algorithms_of(algorithms)
    given = "rewards" if losses is None else "losses"
    short = not any(isinstance(a, BanditAlgorithm) for a in algorithms)
    table = checks.table(given, rewards if losses is None else losses, short=short)
    gains = table if given == "rewards" else -table
    rounds = simulate.rounds_of(points, len(table), 1)
    grid, found = [], []
    for algorithm in algorithms:
        if issubclass(algorithm.plays, ExpertProblem):
            raise TypeError(f"{algorithm.label} needs expert advice, which a table lacks: use play")
        as_given = isinstance(algorithm, BanditAlgorithm) == (given == "rewards")
        seen = table if as_given else 1 - table
        what = algorithm, seen, gains, rounds, runs, seed
        regrets = store.recall(partial(_shared, *what, workers), store.entry(_regrets, *what))
        grid.append(simulate.GridPoint(algorithm, Table(name), rounds))
        found.append(regrets.ravel())
    return simulate.tidy(grid, np.concatenate(found))


def _shared(algorithm, seen, gains, rounds, runs, seed, workers):
    """Return (runs, H) regrets; the workers share the runs.

    Parameters
    ----------
    algorithm : Algorithm
    seen : (T, K) array
        The table as the algorithm sees it.
    gains : (T, K) array
        Rewards.
    rounds : (H,) int64 array
        Checkpoints.
    runs : int
    seed : int
    workers : int
    """
    ends = np.linspace(0, runs, min(runs, 4 * joblib.effective_n_jobs(workers)) + 1).astype(int)
    tasks = [
        joblib.delayed(_regrets)(algorithm, seen, gains, rounds, range(*part), seed)
        for part in pairwise(ends.tolist())
    ]
    return np.concatenate(joblib.Parallel(n_jobs=workers, prefer="threads")(tasks))


def _regrets(algorithm, seen, gains, rounds, runs, seed):
    """Return (runs, H) regrets of some runs, each with its own stream.

    Parameters
    ----------
    algorithm : Algorithm
    seen : (T, K) array
        The table as the algorithm sees it.
    gains : (T, K) array
        Rewards.
    rounds : (H,) int64 array
        Checkpoints.
    runs : range
        Numbers of the runs.
    seed : int
    """
    key = identity.key("table", algorithm, seen)
    best = gains.cumsum(axis=0)[rounds - 1].max(axis=1)
    regrets = np.empty((len(runs), len(rounds)))
    for i, run in enumerate(runs):
        actions = algorithm.play(seen, streams.generator(key, seed, run))
        regrets[i] = best - gains[np.arange(len(gains)), actions].cumsum()[rounds - 1]
    return regrets
