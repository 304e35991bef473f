"""Run replicates of algorithms on problems, and return one tidy table."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from privregret.core import checks, identity, tasks
from privregret.core.algorithm import Algorithm, Privacy, kernel_data, longest_run
from privregret.core.jit import jit
from privregret.core.workers import ClusterError, cluster  # noqa: F401, for its users
from privregret.estimates import sample
from privregret.instances import Problem


class GridPoint(NamedTuple):
    """An algorithm, a problem and the checkpoints."""

    algorithm: Algorithm
    problem: Any
    checkpoints: np.ndarray


@checks.validate(horizon=checks.positive_int, points=checks.integer_in(1, checks.MAX_SIZE))
def checkpoints(horizon: int, points: int = 200) -> np.ndarray:
    """Return about `points` rounds up to `horizon`, half of them log-spaced.

    Examples
    --------
    >>> checkpoints(1000, points=8)
    array([   1,   10,  100,  250,  500,  750, 1000])
    """
    half = max(points // 2, 1)
    spaced = np.linspace(horizon / half, horizon, half), np.geomspace(horizon, 1, half)
    if points < 4:
        spaced = (np.linspace(1, horizon, points)[:-1],)
    rounds = np.concatenate(spaced).round().clip(1).astype(np.int64)
    # beyond 2^53 floats skip rounds
    return np.unique(np.append(np.minimum(rounds, horizon), horizon))


RUNS = checks.integer_in(1, checks.MAX_RUNS)


@checks.validate(runs=RUNS, seed=checks.seed, workers=checks.workers)
def regret_curves(
    algorithms: Algorithm | Sequence[Algorithm],
    problems: Any,
    horizon: int,
    runs: int,
    seed: int,
    points: int | Sequence[int] | np.ndarray = 200,
    workers: int = -1,
) -> pd.DataFrame:
    """Return the regret of each algorithm on each problem, replicate by replicate.

    On stochastic problems it is the pseudo-regret from pull counts. Against an oblivious adversary
    it is the cumulative loss minus that of the arm or expert that is best in rounds 1..t.

    Parameters
    ----------
    algorithms : Algorithm or sequence of them
        An algorithm may occur several times, with different parameters.
    problems : BernoulliBandit, StochasticLosses, Adversary or ExpertProblem, or a sequence of them
        Every algorithm must play every problem.
    horizon : int
        Number of rounds T, at least K for bandits.
    runs : int
        Independent replicates of each algorithm on each problem, at least 1.
    seed : int
        At least 0. The same seed gives the same numbers, whatever else is in the call and with any
        number of workers; fewer runs are the first of more.
    points : int or sequence of int
        Number of checkpoints, chosen as by `checkpoints`; or the rounds themselves, to which the
        horizon is added. In Bernoulli adversaries and with experts who mix, numbers also depend on
        the checkpoints.
    workers : int
        joblib's `n_jobs`: threads on this machine; with `cluster`, all of its threads work.

    Returns
    -------
    pandas.DataFrame
        One row per (problem, algorithm, run, t): columns algorithm, instance, run, t, regret, heavy
        (whether the algorithm's `tail_index` is below 2: plain means have no reliable error), the
        algorithms' parameters, and proved_epsilon (`privacy.epsilon`, inf if nothing is proved),
        which can differ from the parameter epsilon. A row takes about 70 bytes; `regret_summary`
        keeps no runs.

    Raises
    ------
    TypeError, ValueError
        If an algorithm does not play one of the problems, or a number is out of range; before any
        run.

    Examples
    --------
    >>> from privregret.bandits import DPSE
    >>> from privregret.instances import HU2021_2
    >>> curves = regret_curves(DPSE(1.0), HU2021_2, horizon=1000, runs=2, seed=1, points=1)
    >>> curves[["algorithm", "run", "t", "regret"]].round(2).values.tolist()
    [['DP-SE', 0, 1000, 250.0], ['DP-SE', 1, 1000, 250.0]]
    """
    grid = grid_points(algorithms, problems, horizon, points)
    regrets = tasks.played(grid, runs, seed, workers)
    return tidy(grid, np.concatenate([array.ravel() for array in regrets]))


@checks.validate(runs=RUNS, seed=checks.seed, workers=checks.workers)
def regret_summary(
    algorithms: Algorithm | Sequence[Algorithm],
    problems: Any,
    horizon: int,
    runs: int,
    seed: int,
    points: int | Sequence[int] | np.ndarray = 200,
    workers: int = -1,
) -> pd.DataFrame:
    """Return means and deviations of the runs of `regret_curves`, in constant memory.

    One row per (problem, algorithm, t): columns algorithm, instance, t, mean, sd (of one run), se
    (of the mean), runs, heavy (all as `estimates.means` has them), least and greatest regret, the
    algorithms' parameters, and proved_epsilon.

    Examples
    --------
    >>> from privregret.full_information import FTNL
    >>> from privregret.instances import packing
    >>> summary = regret_summary(FTNL(1.0), packing(4, 0.2), 1000, runs=100, seed=1, points=1)
    >>> summary[["algorithm", "t", "runs"]].values.tolist()
    [['FTNL (Laplace)', 1000, 100]]
    """
    grid = grid_points(algorithms, problems, horizon, points)
    summaries = tasks.played(grid, runs, seed, workers, with_runs)
    mean, squares, least, greatest = np.concatenate(summaries, axis=1)
    sd = np.sqrt(squares / (runs - 1)) if runs > 1 else np.full(len(mean), np.nan)
    columns = {"t": np.concatenate([point.checkpoints for point in grid])}
    counts, tail = np.full(len(mean), runs), _heavy(grid, 1)
    columns |= sample.mean_columns(mean, sd, least, greatest, counts, tail)
    return _labelled(grid, 1, columns | {"least": least, "greatest": greatest})


def with_runs(summary: np.ndarray | None, count: int, regrets: np.ndarray) -> np.ndarray:
    """Return the (4, H) summary of `count` runs and more: mean, sum of squared deviations, least
    and greatest regret at each checkpoint."""
    if summary is None:
        start = [0.0], [0.0], [np.inf], [-np.inf]
        summary = np.repeat(start, regrets.shape[1], axis=1)
    return _add_runs(summary.copy(), count, regrets)


@jit
def _add_runs(summary, count, regrets):
    """Welford's recursion, run by run: the same numbers however the runs are split."""
    mean, squares, least, greatest = summary
    for run in range(len(regrets)):
        for i in range(len(mean)):
            regret = regrets[run, i]
            before = regret - mean[i]
            mean[i] += before / (count + run + 1)
            squares[i] += before * (regret - mean[i])
            least[i] = min(least[i], regret)
            greatest[i] = max(greatest[i], regret)
    return summary


def worst_problem(
    algorithm: Algorithm,
    problems: Any,
    horizon: int,
    runs: int,
    seed: int,
    choosing: int | None = None,
) -> tuple[Any, np.ndarray]:
    """Return the problem of a sequence with the largest mean regret, and the (runs,) regrets there.

    The choice takes `choosing` runs on each problem, by default a quarter of `runs` and at least 2.
    They are not used again, so that the maximum over noisy means causes no bias. They are those of
    the seed + 1: independent calls have seeds that are 2 apart.

    Examples
    --------
    >>> from privregret.bandits import UCB1
    >>> from privregret.instances import equal_gaps
    >>> problems = [equal_gaps(3, gap) for gap in (0.01, 0.1)]
    >>> problem, regrets = worst_problem(UCB1(), problems, 2000, 8, seed=1)
    >>> problem.means, regrets.shape
    ((0.75, 0.65, 0.65), (8,))
    """
    checks.instance_of(Algorithm)("algorithm", algorithm)
    problems = checks.one_or_more("problems", problems)
    choosing, seed = choosing or max(RUNS("runs", runs) // 4, 2), checks.seed("seed", seed)
    other = (seed + 1) % 2**128
    pilot = regret_summary(algorithm, problems, horizon, choosing, other, points=1)
    problem = problems[int(pilot["mean"].argmax())]
    curves = regret_curves(algorithm, problem, horizon, runs, seed, points=1)
    return problem, curves.regret.to_numpy()


def tidy(grid: Sequence[GridPoint], regrets: np.ndarray) -> pd.DataFrame:
    """Return the rows of `regret_curves` from the regrets of all grid points."""
    runs = len(regrets) // sum(len(point.checkpoints) for point in grid)
    columns = {
        "run": np.concatenate([np.repeat(np.arange(runs), len(p.checkpoints)) for p in grid]),
        "t": np.concatenate([np.tile(point.checkpoints, runs) for point in grid]),
        "regret": regrets,
        "heavy": _heavy(grid, runs),
    }
    return _labelled(grid, runs, columns)


def _heavy(grid, runs):
    """Say for each row whether regret has a power tail with an index below 2."""
    heavy = [a.tail_index(p) < 2 for a, p, _ in grid]
    return np.repeat(heavy, [runs * len(point.checkpoints) for point in grid])


def _labelled(grid, runs, columns):
    """Return a table of columns with the algorithms, instances, parameters and proved epsilons."""
    rows = [
        {"algorithm": a.label, "instance": p.name}
        | identity.parameters(a)
        | {"proved_epsilon": a.privacy.epsilon(int(rounds[-1]))}
        for a, p, rounds in grid
    ]
    rows = pd.concat([pd.DataFrame([row]) for row in rows], ignore_index=True)
    which = np.repeat(np.arange(len(grid)), [runs * len(point.checkpoints) for point in grid])
    frame = rows.take(which).reset_index(drop=True)
    names = [*rows.columns[:2], *columns, *rows.columns[2:]]
    return pd.DataFrame({name: columns.get(name, frame.get(name)) for name in names}, copy=False)


def algorithms_of(value: Any) -> list[Algorithm]:
    """Return one algorithm or several as a list; TypeError for what is none, ValueError for a
    repeated one or one label for two classes."""
    algorithms, rows = checks.one_or_more("algorithms", value), set()
    labels: dict[str, type] = {}
    for algorithm in algorithms:
        checks.instance_of(Algorithm)("algorithms", algorithm)
        kind, label = type(algorithm), algorithm.label
        guarantee = f"privacy of {kind.__name__}"
        checks.instance_of(Privacy)(guarantee, algorithm.privacy).check(guarantee)
        row = identity.encode((label, identity.parameters(algorithm)))
        if row in rows and labels[label] is kind:
            raise ValueError(f"algorithms must not repeat {checks.shown(algorithm)}")
        if labels.setdefault(label, kind) is not kind:
            pair = f"{labels[label].__name__} and {kind.__name__}"
            if kind.__qualname__ == labels[label].__qualname__:
                pair = f"{kind.__name__}, which was defined again: make all of them anew"
            raise ValueError(f"algorithms must have distinct labels, got {label!r} for {pair}")
        # raises for a class without an id of its own
        identity.identity(algorithm)
        rows.add(row)
    return algorithms


def problems_of(value: Any) -> list:
    """Return one problem or several as a list; TypeError for what is none, ValueError for a
    repeated name."""
    problems, names = checks.one_or_more("problems", value), set()
    for problem in problems:
        if not isinstance(problem, Problem):
            like = 'BernoulliBandit("mine", [0.9, 0.5])'
            shown = checks.shown(problem)
            raise TypeError(f"problems must hold problems, such as {like}, got {shown}")
        if problem.name in names:
            raise ValueError(f"problems must have distinct names, got {problem.name!r} twice")
        names.add(problem.name)
    return problems


def grid_points(algorithms: Any, problems: Any, horizon: int, points: Any) -> list[GridPoint]:
    """Return the grid points of the arguments of `regret_curves`, after all checks."""
    algorithms, problems = algorithms_of(algorithms), problems_of(problems)
    grid = []
    for problem in problems:
        for algorithm in algorithms:
            kernel_data(algorithm, problem)
        longest = min(map(longest_run, algorithms))
        last = checks.integer_in(problem.min_horizon, longest)("horizon", horizon)
        rounds = rounds_of(points, last, problem.min_horizon)
        grid += [GridPoint(algorithm, problem, rounds) for algorithm in algorithms]
    return grid


def rounds_of(points: Any, horizon: int, shortest: int) -> np.ndarray:
    """Return the rounds that `points` stands for, a number or a list, and the horizon."""
    if checks.array_of(points).ndim == 0:
        return checkpoints(horizon, points)
    rounds = np.append(checks.whole_numbers("points", points), horizon)
    return checks.checkpoints(shortest, horizon)("points", np.unique(rounds))
