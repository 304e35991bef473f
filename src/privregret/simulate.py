"""Replicates, seeds and executors: algorithms on problems become one tidy table."""

import contextlib
import hashlib
import math
import time
from functools import reduce
from typing import NamedTuple

import joblib
import numpy as np
import pandas as pd

from privregret import checks
from privregret.algorithm import Algorithm, flat_parameters
from privregret.progress import progress
from privregret.streams import Streams

SECONDS = 0.1  # of work in a task: far more than it takes to hand one out, and still easy to spread
AFAR = 5  # times as much for a cluster, whose scheduler and workers spend some milliseconds on any task
BYTES = 2**24  # at most that are played at once
ROUNDING = 1e-12  # relative standard deviations below this are what is left of a variance that is 0


def rng_for(algorithm, problem, seed: int, run: int) -> np.random.Generator:
    """The replicate's own stream: depends on the algorithm with its parameters, the problem's law, seed and run.

    On nothing else: not on the other curves in a figure, their order, or the number of workers.
    """
    return next(iter(_streams(algorithm, problem, seed, run, 1)))


def _streams(algorithm, problem, seed, first, runs):
    digest = hashlib.sha256(f"{algorithm!r} on {problem.law!r}".encode()).digest()
    key = tuple(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4))
    return Streams(seed, key, first, runs)


def checkpoints(horizon: int, points: int = 200) -> np.ndarray:
    """About `points` rounds up to `horizon`, half of them equally spaced, half in the logarithm; the horizon is one."""
    half = max(points // 2, 1)
    spaced = np.linspace(horizon / half, horizon, half), np.geomspace(horizon, 1, half)
    if points == 1:
        return np.array([horizon])
    rounds = np.concatenate(spaced).round().clip(1).astype(np.int64)
    return np.unique(np.append(np.minimum(rounds, horizon), horizon))  # a float is not every round beyond 2^53


def regret_curves(algorithms, problems, horizon: int, runs: int, seed: int, points=200, workers: int = -1):
    """Regret of each algorithm on each problem, replicate by replicate.

    Pseudo-regret from pull counts on stochastic problems; against an oblivious adversary, the cumulative loss less
    that of the arm or expert that is best in rounds 1..t.

    Parameters
    ----------
    algorithms : Algorithm or sequence of them
        What to run; the same algorithm may appear with several parameters.
    problems : BernoulliBandit, StochasticLosses, Adversary or ExpertProblem, or a sequence of them
        On what; every algorithm must play every problem.
    horizon : int
        Number of rounds T, at least K for bandits.
    runs : int
        Independent replicates of each algorithm on each problem, at least 1.
    seed : int
        At least 0. Same seed, same numbers, whatever else is in the call and however many workers.
    points : int or sequence of int
        How many rounds to report at, as `checkpoints` picks them; or those rounds, besides the horizon. In Bernoulli
        adversaries and with experts who mix, numbers also depend on the rounds reported at.
    workers : int
        joblib's `n_jobs`: threads on this machine, or tasks at once on the backend that `cluster` has set.

    Returns
    -------
    pandas.DataFrame
        One row per (problem, algorithm, run, t): columns algorithm, instance, run, t, regret, and the algorithms'
        parameters. Some 60 bytes a row; `regret_summary` keeps no runs.

    Raises
    ------
    TypeError, ValueError
        For an algorithm that does not play one of the problems, and for numbers out of range; before any run.
    """
    cells = cells_of(algorithms, problems, horizon, points)
    regrets = np.empty(runs * sum(len(rounds) for _, _, rounds in cells))
    places = _split(cells, runs)
    most = [max(BYTES // (8 * len(rounds)), 1) for _, _, rounds in cells]  # of what a task returns, too
    for cell, first, part in _parts(cells, runs, seed, workers, np.asarray, most):
        regrets[places[cell]].reshape(runs, -1)[first : first + len(part)] = part
    return tidy(cells, regrets)


def regret_summary(algorithms, problems, horizon: int, runs: int, seed: int, points=200, workers: int = -1):
    """What `summary` makes of the same runs, in memory that does not grow with their number.

    Runs are merged two by two, those of halves of halves: so neither the workers nor who did what change a digit.

    Parameters
    ----------
    algorithms, problems, horizon, runs, seed, points, workers
        As in `regret_curves`.

    Returns
    -------
    pandas.DataFrame
        One row per (problem, algorithm, t): columns algorithm, instance, t, mean, sd (of one run), se (of the mean),
        runs, least and greatest regret, and the algorithms' parameters.
    """
    cells = cells_of(algorithms, problems, horizon, points)
    found = [{} for _ in cells]  # first run -> moments of so many as there are
    for cell, first, part in _parts(cells, runs, seed, workers, moments):
        nodes = found[cell]
        while (other := nodes.get(first ^ part.runs)) and other.runs == part.runs:
            del nodes[first ^ part.runs]
            part = _merged(*((part, other) if first < first ^ part.runs else (other, part)))
            first &= ~(part.runs - 1)
        nodes[first] = part
    latest = [[part for _, part in sorted(nodes.items(), reverse=True)] for nodes in found]
    merged = [reduce(lambda later, earlier: _merged(earlier, later), parts) for parts in latest]
    mean, squares, least, greatest = (np.concatenate(arrays) for arrays in list(zip(*merged, strict=True))[1:])
    columns = {"t": np.concatenate([rounds for _, _, rounds in cells])}
    columns |= _spread(mean, np.sqrt(squares / max(runs - 1, 1)), runs) | {"least": least, "greatest": greatest}
    return _labelled(cells, 1, columns)


class Moments(NamedTuple):
    """What is kept of the regrets of some runs, at each of the rounds reported."""

    runs: int
    mean: np.ndarray
    squares: np.ndarray  # sum of the squared deviations from the mean
    least: np.ndarray
    greatest: np.ndarray


def moments(regrets) -> Moments:
    """Of 2^n runs: (2^n, H) regrets."""
    kept = Moments(1, regrets, np.zeros_like(regrets), regrets, regrets)
    while len(kept.mean) > 1:
        kept = _merged(*(Moments(kept.runs, *(array[half::2] for array in kept[1:])) for half in (0, 1)))
    return Moments(kept.runs, *(array[0] for array in kept[1:]))


def _merged(a, b):
    runs, apart = a.runs + b.runs, b.mean - a.mean
    mean = a.mean + apart * (b.runs / runs)
    squares = a.squares + b.squares + apart**2 * (a.runs * b.runs / runs)
    return Moments(runs, mean, squares, np.minimum(a.least, b.least), np.maximum(a.greatest, b.greatest))


def hardest(algorithm, problems, horizon: int, runs: int, seed: int, choosing: int | None = None):
    """The problem on which an algorithm has the largest mean regret, and its regret there.

    Parameters
    ----------
    algorithm, horizon, runs, seed
        As in `regret_curves`.
    problems : sequence
        Where to look.
    choosing : int, optional
        Runs on each problem by which one is chosen; a quarter of `runs`, at least 2. They are not used again, so
        that the maximum over noisy means biases nothing.

    Returns
    -------
    problem, (runs,) array of regrets
    """
    choosing = choosing or max(runs // 4, 2)
    means = [regret_curves(algorithm, p, horizon, choosing, seed + 1, points=1).regret.mean() for p in problems]
    problem = problems[int(np.argmax(means))]
    return problem, regret_curves(algorithm, problem, horizon, runs, seed, points=1).regret.to_numpy()


def summary(curves, by):
    """Mean and standard deviation of regret over runs, for each combination of the columns `by`, as they appear.

    Columns: `by`, mean, sd (of one run), se (of the mean), runs. A single run has sd 0.
    """
    frame = curves.groupby(by, sort=False, dropna=False).regret.agg(mean="mean", sd="std", runs="size").reset_index()
    return frame[by].assign(**_spread(frame["mean"], frame.sd, frame.runs))


def _spread(mean, sd, runs):
    """Columns of a mean of some runs, given their standard deviation."""
    sd = np.where(sd > ROUNDING * np.abs(mean), sd, 0.0)
    return {"mean": mean, "sd": sd, "se": sd / np.sqrt(runs), "runs": runs}


def tidy(cells, regrets) -> pd.DataFrame:
    """The rows of `regret_curves`: (algorithm, problem, rounds) of each cell, and of all their regrets, run by run."""
    runs = len(regrets) // sum(len(rounds) for _, _, rounds in cells)
    run, t = np.empty((2, len(regrets)), np.int64)
    for (_, _, rounds), part in zip(cells, _split(cells, runs), strict=True):
        run[part].reshape(runs, -1)[:] = np.arange(runs)[:, None]
        t[part].reshape(runs, -1)[:] = rounds
    return _labelled(cells, runs, {"run": run, "t": t, "regret": regrets})


def _split(cells, runs):
    """Which rows are of which cell, if there are so many of each round."""
    ends = runs * np.cumsum([len(rounds) for _, _, rounds in cells])
    return [slice(end - runs * len(rounds), end) for end, (_, _, rounds) in zip(ends, cells, strict=True)]


def _labelled(cells, runs, columns):
    """A table of these columns, after who played what and before the algorithms' parameters."""
    rows = [{"algorithm": a.label, "instance": p.name} | flat_parameters(a) for a, p, _ in cells]
    rows = pd.concat([pd.DataFrame([row]) for row in rows], ignore_index=True)
    which = np.repeat(np.arange(len(cells)), [runs * len(rounds) for _, _, rounds in cells])
    frame = rows.take(which).reset_index(drop=True)
    names = [*rows.columns[:2], *columns, *rows.columns[2:]]
    return pd.DataFrame({name: columns.get(name, frame.get(name)) for name in names}, copy=False)


class NoScheduler(ConnectionError):
    """Nobody answers at the address of a Dask scheduler, or nobody works for it."""

    def _render_traceback_(self):
        return [f"NoScheduler: {self}"]  # one clear line instead of a traceback


def cluster(scheduler: str = ""):
    """Context in which replicates run on the Dask scheduler at that address; on this machine if it is empty.

    Raises
    ------
    NoScheduler
        If there is no answer within five seconds, or no worker within eight, or the text is not an address.
    """
    if not scheduler:
        return contextlib.nullcontext()
    import distributed

    stack = contextlib.ExitStack()
    try:
        client = stack.enter_context(distributed.Client(scheduler, timeout=5))
    except (OSError, ValueError) as error:
        why = f"no Dask scheduler at {scheduler!r} (an address is like tcp://127.0.0.1:8786)"
        raise NoScheduler(f"{why}: {error}") from None
    try:
        client.wait_for_workers(1, timeout=8)
    except TimeoutError:
        stack.close()
        raise NoScheduler(f"the Dask scheduler at {scheduler!r} has no workers") from None
    stack.enter_context(joblib.parallel_config(backend="dask"))
    return stack


def cells_of(algorithms, problems, horizon, points) -> list:
    """The (algorithm, problem, rounds) to be run; arguments as in `regret_curves`."""
    algorithms, problems = checks.one_or_more("algorithms", algorithms), checks.one_or_more("problems", problems)
    for algorithm in algorithms:
        checks.instance_of(Algorithm)("algorithms", algorithm)
    cells = []
    for problem in problems:
        for algorithm in algorithms:
            algorithm.data_of(problem)
        last = checks.integer_in(problem.shortest, min(a.longest for a in algorithms))("horizon", horizon)
        if np.ndim(points) == 0:
            rounds = checkpoints(last, checks.integer_in(1, checks.SIZE)("points", points))
        elif np.asarray(points).dtype.kind not in "iu":
            raise TypeError(f"points must be a list of whole numbers, got {checks.shown(points)}")
        else:
            rounds = checks.checkpoints(problem.shortest)("points", np.unique(np.append(np.asarray(points), last)))
        if rounds[-1] > last:
            raise ValueError(f"points must be at most the horizon, {last}, got {rounds[-1]}")
        cells += [(algorithm, problem, rounds) for algorithm in algorithms]
    return cells


def _parts(cells, runs, seed, workers, kept, most=None):
    """Yield (number of the cell, first run, what is `kept` of the regrets) of parts of 2^n runs, in any order.

    A part's first run is a multiple of its size, so that any sizes are nodes of one tree. The first tasks share out
    each cell evenly and stop when it has been work enough; how far they came says how large those for the rest are.
    At most `most[cell]` runs are in a task.
    """
    most = most or [runs] * len(cells)
    parallel = joblib.Parallel(n_jobs=workers, prefer="threads", return_as="generator_unordered", batch_size=1)
    here = getattr(joblib.parallel.get_active_backend(prefer="threads")[0], "uses_threads", False)
    seconds = SECONDS if here else AFAR * SECONDS
    even = max(runs // joblib.effective_n_jobs(workers), 1)
    size, step = [_power(min(even, m)) for m in most], [1] * len(cells)
    rest = [(cell, 0, runs) for cell in range(len(cells))]

    def tasks(seconds):
        for cell, first, last in rest:
            while first < last:
                width = size[cell]  # read once: another thread may change it
                end = min(first - first % width + width, last)
                yield joblib.delayed(_part)(cell, *cells[cell], first, end, step[cell], seconds, seed, kept)
                first = end

    with progress(None, runs * len(cells)) as bar:
        for enough in (seconds, math.inf):
            left = []
            for cell, parts, first, last, pace, steps in parallel(tasks(enough)):
                yield from ((cell, *part) for part in parts)
                size[cell], step[cell] = _power(max(1, min(most[cell], int(seconds / pace)))), steps
                left += [(cell, first, last)] if first < last else []
                bar.set_description(f"{cells[cell][0].label}, {cells[cell][1].name}", refresh=False)
                bar.update(first - parts[0][0])
            rest = left


def _part(cell, algorithm, problem, rounds, first, last, step, seconds, seed, kept):
    """Runs from `first` on, `step` at once and then more, until they are all done or have taken `seconds`."""
    parts, begun, largest = [], time.thread_time(), 0
    while first < last and (len(parts) < 2 or time.thread_time() - begun < seconds):  # the first one may compile
        since = time.thread_time()
        size = min(step, first & -first or step, _power(last - first))
        played = algorithm.run_each(problem, rounds, _streams(algorithm, problem, seed, first, size))
        regrets = problem.regret(played, rounds)
        if regrets.shape != (size, len(rounds)):
            raise TypeError(f"{algorithm.label}: run must report at {len(rounds)} rounds, got shape {played.shape[1:]}")
        parts.append((first, kept(regrets)))
        first += size
        if size >= largest:  # a few runs at a task's end say nothing about many
            largest, pace = size, max((time.thread_time() - since) / size, 1e-9)
        step = min(2 * step, _power(max(size * BYTES // played.nbytes, 1)))
    return cell, parts, first, last, pace, step


def _power(number):
    """The largest power of 2 up to a number."""
    return 1 << number.bit_length() - 1


def _workers(name, value):
    if not checks.integer_in(-checks.SIZE, checks.SIZE)(name, value):
        raise ValueError(f"{name} must not be 0: -1 for all cores, else how many")
    return int(value)


def _columns(name, value):
    return [checks.text(name, column) for column in checks.one_or_more(name, value)]


def _problem(name, value):
    if not hasattr(value, "law"):
        raise TypeError(f"{name} must be a problem, such as a BernoulliBandit, got {checks.shown(value)}")
    return value


checks.arguments(
    globals(),
    seed=checks.nonnegative_int,
    run=checks.nonnegative_int,
    runs=checks.integer_in(1, checks.RUNS),
    problem=_problem,
    workers=_workers,
    curves=checks.dataframe,
    by=_columns,
    scheduler=checks.text,
    checkpoints={"horizon": checks.positive_int, "points": checks.integer_in(1, checks.SIZE)},
    hardest={"problems": checks.one_or_more, "choosing": checks.integer_in(1, checks.RUNS)},
)
