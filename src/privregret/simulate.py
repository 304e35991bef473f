"""Run replicates of algorithms on problems, and return one tidy table."""

import asyncio
import contextlib
import importlib
import logging
import math
import os
import pickle
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import reduce
from itertools import islice
from typing import Any, NamedTuple

import joblib
import numpy as np
import pandas as pd
from joblib.parallel import get_active_backend

from privregret.core import checks, identity, reach, store, streams
from privregret.core.algorithm import Algorithm, Privacy
from privregret.core.jit import jit
from privregret.core.mistakes import OneLine, StepError, WrongArm
from privregret.core.progress import finished, progress
from privregret.estimates import sample
from privregret.instances import Problem

SECONDS = 0.25  # of work in a task: workers are busy to the end, and progress is seen
MOST = 4096  # largest number of blocks per task: half a second of the fastest algorithm
OFTEN = 0.5  # seconds after which what was computed is stored
KEPT = 5.0  # least seconds of work in an entry of the store, except in the last of a grid point
BYTES = 2**24  # memory of the runs that are played at once


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


def workers_rule(name: str, value: Any) -> int:
    """Check a number of workers, joblib's `n_jobs`."""
    if not checks.integer_in(-checks.MAX_SIZE, checks.MAX_SIZE)(name, value):
        raise ValueError(f"{name} must be -1 (all cores) or a number of workers, got 0")
    return int(value)


RUNS = checks.integer_in(1, checks.MAX_RUNS)


@checks.validate(runs=RUNS, seed=checks.seed, workers=workers_rule)
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
        joblib's `n_jobs`: threads on this machine, or simultaneous tasks on the backend that
        `cluster` has set.

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
    regrets = _played(grid, runs, seed, workers, _listed)
    return tidy(grid, np.concatenate([array.ravel() for array in regrets]))


@checks.validate(runs=RUNS, seed=checks.seed, workers=workers_rule)
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
    kept = _played(grid, runs, seed, workers, _merged)
    mean, squares, least, greatest = (
        np.concatenate(arrays) for arrays in list(zip(*kept, strict=True))[1:]
    )
    sd = np.sqrt(squares / (runs - 1)) if runs > 1 else np.full(len(mean), np.nan)
    columns = {"t": np.concatenate([point.checkpoints for point in grid])}
    columns |= sample.moments(
        (mean, sd, least, greatest, np.full(len(mean), runs)), _heavy(grid, 1)
    )
    return _labelled(grid, 1, columns | {"least": least, "greatest": greatest})


class Moments(NamedTuple):
    """Moments of the regrets of a number of runs, per checkpoint."""

    runs: int
    mean: np.ndarray
    # sum of the squared deviations from the mean
    squares: np.ndarray
    least: np.ndarray
    greatest: np.ndarray


@jit
def moments(regrets):
    """Return mean, squared deviations, least and greatest of each column; the mean of equal numbers
    is exact. To get memory from the system for larger arrays takes as long as the sums.
    """
    runs, points = regrets.shape
    mean, squares = np.zeros(points), np.zeros(points)
    least, greatest = regrets[0].copy(), regrets[0].copy()
    for run in range(runs):
        for i in range(points):
            mean[i] += regrets[run, i] - regrets[0, i]
            least[i] = min(least[i], regrets[run, i])
            greatest[i] = max(greatest[i], regrets[run, i])
    for i in range(points):
        mean[i] = regrets[0, i] + mean[i] / runs
    for run in range(runs):
        for i in range(points):
            squares[i] += (regrets[run, i] - mean[i]) ** 2
    return mean, squares, least, greatest


def _listed(parts):
    """Return the regrets of consecutive blocks as one array, in a list."""
    first, blocks, regrets = zip(*parts, strict=True)
    return [(first[0], sum(blocks), np.concatenate(regrets))]


def _merged(parts):
    """Return the moments of consecutive blocks, merged by twos, fours, eights and so on.

    Blocks 2^k i, ..., 2^k (i + 1) - 1 are merged if all are there. So the merges, and their
    rounding, are the same however blocks are shared among tasks.
    """
    kept: list = []
    for first, blocks, known in parts:
        known = known if isinstance(known, Moments) else Moments(len(known), *moments(known))
        while kept and kept[-1][1] == blocks and first // blocks % 2:
            first, _, before = kept.pop()
            blocks, known = 2 * blocks, _both(before, known)
        kept.append((first, blocks, known))
    return kept


def _both(one, other):
    runs, apart = one.runs + other.runs, other.mean - one.mean
    mean = one.mean + apart * (other.runs / runs)
    squares = one.squares + other.squares + apart**2 * (one.runs * other.runs / runs)
    least, greatest = np.minimum(one.least, other.least), np.maximum(one.greatest, other.greatest)
    return Moments(runs, mean, squares, least, greatest)


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


class ClusterError(OneLine, RuntimeError):
    """A Dask cluster that cannot do the work: unreachable, without workers or code."""


@contextlib.contextmanager
def cluster(address: str) -> Iterator[None]:
    """Run replicates on a Dask scheduler, such as tcp://127.0.0.1:8786, within a context.

    `PRIVREGRET_SCHEDULER` in the environment does the same for a whole program. ClusterError if the
    scheduler does not answer within five seconds or has no worker within eight, or if it or a
    worker cannot import the package; ModuleNotFoundError without Dask's package `distributed`.
    """
    try:
        import distributed
    except ModuleNotFoundError as missing:
        why = f"a Dask scheduler needs {missing.name}: pip install '.[cluster]' in a clone"
        raise ModuleNotFoundError(why, name=missing.name) from None

    with contextlib.ExitStack() as stack:
        try:
            found = _asked(address)
            if found != "Scheduler":
                raise ValueError(f"it is a {found}")
            client = stack.enter_context(distributed.Client(address, timeout=5))
        except Exception as error:
            what = " ".join(f"{type(error).__name__} {error}".split())
            why = f"no Dask scheduler at {address!r}: start one, or correct the address"
            raise ClusterError(f"{why} ({what})") from None
        try:
            client.wait_for_workers(1, timeout=8)
            for imported in (client.run_on_scheduler, client.run):
                imported(importlib.import_module, __name__)
        except TimeoutError:
            why = f"the Dask scheduler at {address!r} has no workers: start one"
            raise ClusterError(why) from None
        except ModuleNotFoundError as missing:
            why = f"the Dask cluster at {address!r} cannot import {missing.name}: install it there"
            raise ClusterError(why) from None
        stack.enter_context(joblib.parallel_config(backend="dask"))
        yield


def _asked(address):
    """Return what kind of server answers at an address, within five seconds."""
    from distributed import Security, rpc

    async def asked():
        secret = Security().get_connection_args("client")
        async with rpc(address, connection_args=secret) as server:
            return (await server.identity())["type"]

    # in a thread of its own, because what is no Dask server may stop the loop itself
    asking = ThreadPoolExecutor(1).submit(asyncio.run, asyncio.wait_for(asked(), 5))
    return asking.result(timeout=6)


def scheduler() -> AbstractContextManager:
    """Return a context for the scheduler in the environment, unless one is in use."""
    address = os.environ.get("PRIVREGRET_SCHEDULER", "")
    return cluster(address) if address and not _on_dask() else contextlib.nullcontext()


def map_tasks(function: Callable, tasks: Iterable[tuple], workers: int) -> Iterator:
    """Yield `function(*task)` for each task, in order, from threads or from a Dask cluster.

    A worker of a cluster computes nothing if its code is not that of this process.
    """
    with scheduler():
        if _on_dask():
            yield from _sent(get_active_backend()[0].client, function, iter(tasks), workers)
            return
        # multiprocessing returns nothing before the end, and threads do the same
        ordered = get_active_backend()[0].supports_return_generator
        how = {"return_as": "generator", "batch_size": 1}
        how |= {"prefer": "threads"} if ordered else {"backend": "threading"}
        parallel = joblib.Parallel(n_jobs=workers, **how)
        try:
            yield from parallel(joblib.delayed(function)(*task) for task in tasks)
        except (StepError, WrongArm) as error:
            raise error.with_traceback(None) from None


def _sent(client, function, tasks, workers):
    """Yield results from a cluster, also from one thread, to which joblib would send nothing."""
    from distributed import CancelledError, KilledWorker, wait

    sent: deque = deque()
    while True:
        try:
            most = workers if workers > 0 else max(2 * sum(client.nthreads().values()), 1)
            for task in islice(tasks, max(most - len(sent), 0)):
                sent.append(client.submit(_unpacked, *_packed(function, task), pure=False))
            if not sent:
                return
            while not sent[0].done():
                client.wait_for_workers(1, timeout=8)
                with contextlib.suppress(TimeoutError):
                    wait(sent[0], timeout=2)
            result = sent[0].result()
        except (OSError, RuntimeError, CancelledError, KilledWorker) as error:
            # of the task itself
            if sent and sent[0].status == "error" and not isinstance(error, KilledWorker):
                raise
            what = " ".join(f"{type(error).__name__} {error}".split())[:200]
            # the client would log its end in fifty lines
            logging.getLogger("distributed").setLevel(logging.CRITICAL)
            why = "the Dask scheduler or all workers are gone, so start them and run this again"
            raise ClusterError(f"{why} ({what})") from None
        sent.popleft()
        yield result


def _on_dask():
    return type(get_active_backend()[0]).__name__ == "DaskDistributedBackend"


def _packed(function, task):
    """Return a task as bytes, which the scheduler need not understand, and the key of its code."""
    from distributed.protocol.pickle import dumps

    return dumps((function, task)), _code(function, task)


def _unpacked(packed, code):
    try:
        function, task = pickle.loads(packed)
    except (ImportError, AttributeError) as missing:
        why = f"a Dask worker lacks code of yours, {missing}: put it on the PYTHONPATH of workers"
        raise ClusterError(why) from None
    if (here := _code(function, task)) != code:
        if here[0] != code[0]:
            wanted = f"{here[0]} and not {code[0]}"
            raise ClusterError(f"a Dask worker has other libraries: {wanted}")
        names = ", ".join(sorted({type(thing).__name__ for thing in task[:2]}))
        raise ClusterError(f"a Dask worker has other code for {names}: restart the workers")
    return function(*task)


def _code(function, task):
    """Return what program and worker must share: libraries, and all code of a task."""
    return store.libraries(), reach.known(function, *map(type, task)).digest


def algorithms_of(value: Any) -> list[Algorithm]:
    """Return one algorithm or several as a list; TypeError for what is none, ValueError for a
    repeated one or one label for two classes."""
    algorithms, seen = checks.one_or_more("algorithms", value), set()
    labels: dict[str, type] = {}
    for algorithm in algorithms:
        checks.instance_of(Algorithm)("algorithms", algorithm)
        kind, label, told = type(algorithm), algorithm.label, algorithm.privacy
        checks.instance_of(Privacy)(f"privacy of {kind.__name__}", told)
        told.check(f"privacy of {kind.__name__}")
        row = identity.encode((label, identity.parameters(algorithm)))
        if row in seen and labels[label] is kind:
            raise ValueError(f"algorithms must not repeat {checks.shown(algorithm)}")
        if labels.setdefault(label, kind) is not kind:
            which = f"{labels[label].__name__} and {kind.__name__}"
            if kind.__qualname__ == labels[label].__qualname__:
                which = f"{kind.__name__}, which was defined again: make all of them anew"
            raise ValueError(f"algorithms must have distinct labels, got {label!r} for {which}")
        # raises for a class without an id of its own
        identity.identity(algorithm)
        seen.add(row)
    return algorithms


def problems_of(value: Any) -> list:
    """Return one problem or several as a list; TypeError for what is none, ValueError for a
    repeated name."""
    problems, names = checks.one_or_more("problems", value), set()
    for problem in problems:
        if not isinstance(problem, Problem):
            like = 'BernoulliBandit("mine", [0.9, 0.5])'
            found = checks.shown(problem)
            raise TypeError(f"problems must hold problems, such as {like}, got {found}")
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
            algorithm.data_of(problem)
        longest = min(a.longest for a in algorithms)
        last = checks.integer_in(problem.min_horizon, longest)("horizon", horizon)
        rounds = rounds_of(points, last, problem.min_horizon)
        grid += [GridPoint(algorithm, problem, rounds) for algorithm in algorithms]
    return grid


def rounds_of(points: Any, horizon: int, shortest: int) -> np.ndarray:
    """Return the rounds that `points` stands for, a number or a list, and the horizon."""
    given = checks.array_of(points)
    # above 2^53 floats are not the numbers that are meant
    if (
        given.dtype.kind == "f"
        and ((given == np.floor(given)) & (abs(given) <= 2**53)).all()
        and given.ndim
    ):
        given = given.astype(np.int64)
    if given.ndim == 0:
        return checkpoints(horizon, checks.integer_in(1, checks.MAX_SIZE)("points", points))
    if given.dtype.kind not in "iu":
        raise TypeError(f"points must be a list of whole numbers, got {checks.shown(points)}")
    # numpy would join its unsigned integers with Python's to floats
    wanted = np.unique([*given.ravel().tolist(), horizon])
    rounds = checks.checkpoints(shortest)("points", wanted)
    if rounds[-1] > horizon:
        raise ValueError(f"points must be at most the horizon, {horizon}, got {rounds[-1]}")
    return rounds


# Blocks of runs, shared among workers:
#
# regret_curves, regret_summary
#   grid_points    check everything
#   _played        per grid point: what the store has, and what it lacks
#     _computed    split what it lacks into tasks of about SECONDS, and store each KEPT seconds
#       shared     run tasks in threads, or on a cluster
#         _blocks  a task: consecutive blocks, each from its own stream
#           _regrets   a block: `Algorithm.runner` plays, `Problem.regret` counts
#
# `together` joins consecutive blocks in a task, in an entry of the store and in the end: `_listed`
# keeps the regrets of all runs, `_merged` their moments.
# --------------------------------------------------------------------------------------------------


def _played(grid, runs, seed, workers, together) -> list:
    """Return for each grid point a result of its runs; what is finished comes from the store."""
    known = [(together, a, type(p), p.distribution, rounds, seed) for a, p, rounds in grid]
    names = store.paths_of(_blocks, known)
    parts = [_held(n, p.algorithm.runs_per_stream, runs) for n, p in zip(names, grid, strict=True)]
    begin = [sum(blocks for _, blocks, _ in found) for found in parts]
    made, due = [], time.monotonic() + OFTEN

    def keep():
        # not if the code was another one meanwhile
        now = store.paths_of(_blocks, known) if made else []
        for one, i, first in made:
            path = _part(names[i], first)
            # a quick look leaves what a long run has stored
            if now[i] == names[i] and store.found(path, (0, []))[0] < one[0]:
                store.keep(one, path)
        made.clear()

    try:
        for i, end, found in _computed(grid, begin, runs, seed, workers, together):
            parts[i] += found
            made.append(((end, found), i, found[0][0]))
            # it takes as long as many quick grid points to see that the code is the same
            if time.monotonic() > due:
                keep()
                due = time.monotonic() + OFTEN
    finally:
        keep()
    return [reduce(_both, [one for *_, one in together(parts.pop(0))]) for _ in grid]


def _part(name, first):
    """Return the name of the entry that begins with a block, or None."""
    return name and name.with_name(f"{name.name}-{first}")


def _held(name, size, runs):
    """Return what the store has of the first blocks, without a gap."""
    parts, end = [], 0
    while end < runs:
        first = end // size
        end, known = store.found(_part(name, first), (math.inf, []))
        if end <= first * size:
            break
        if known and end > runs and isinstance(known[0][2], np.ndarray):
            # fewer runs are the first of more; moments have none
            known = [(first, -(-runs // size) - first, known[0][2][: runs - first * size])]
        elif end > runs or (end < runs and end % size):
            break
        parts += known
    return parts


def _computed(grid, begin, runs, seed, workers, together):
    """Yield (grid point, number of its runs so far, what is known of blocks), in order, after at
    least `KEPT` seconds of work. `begin` has the first block of each grid point to compute."""
    ends = [-(-runs // point.algorithm.runs_per_stream) for point in grid]
    todo = [i for i in range(len(grid)) if begin[i] < ends[i]]
    if not todo:
        return
    begun, tasks, costs = time.monotonic(), deque(), dict.fromkeys(todo, math.inf)

    def work(at_once):
        for i in todo:
            first, key = begin[i], streams.key(*grid[i][:2])
            while first < ends[i]:
                most = min(SECONDS / costs[i], MOST, (ends[i] - first) / (2 * at_once))
                last = min(first + max(int(most), 1), ends[i])
                tasks.append((i, first, last))
                yield *grid[i], first, last, runs, seed, together, key
                first = last

    known, spent, names = [], 0.0, [f"{a.label}, {p.name}" for a, p, _ in grid]
    with scheduler(), progress(None, runs * len(grid)) as bar:
        left = sum(runs - begin[i] * grid[i].algorithm.runs_per_stream for i in todo)
        bar.set_description(names[todo[0]], refresh=False)
        bar.update(runs * len(grid) - left)
        for seconds, found in map_tasks(_blocks, work(joblib.effective_n_jobs(workers)), workers):
            i, first, last = tasks.popleft()
            costs[i] = min(costs[i], max(seconds, 1e-6) / (last - first))
            known, spent = [*known, *found], spent + seconds
            size = grid[i].algorithm.runs_per_stream
            bar.set_description(names[i], refresh=False)
            bar.update(min(last * size, runs) - first * size)
            if last == ends[i] or spent >= KEPT:
                yield i, min(last * size, runs), together(known)
                known, spent = [], 0.0
            if last == ends[i]:
                finished(bar, f"{names[i]}: {runs} runs", begun)


def _blocks(algorithm, problem, checkpoints, first, last, runs, seed, together, key):
    """Return the seconds of work, and what is known of the regrets of some blocks."""
    play, size = algorithm.runner(problem, checkpoints), algorithm.runs_per_stream
    begun = time.thread_time()

    def regrets(block):
        rng = streams.generator(key, seed, block)
        return _regrets(play, problem, checkpoints, min(size, runs - block * size), rng)

    known = together((block, 1, regrets(block)) for block in range(first, last))
    return time.thread_time() - begun, known


def _regrets(play, problem, checkpoints, runs, rng):
    """Return (runs, H) regrets of one block, computed in parts that fit into memory."""
    at_once = max(1, min(runs, BYTES // (8 * len(checkpoints) * problem.arms)))
    done, regrets = 0, []
    while done < runs:
        played = play(min(at_once, runs - done), rng)
        regrets.append(problem.regret(played, checkpoints))
        if regrets[-1].shape[1:] != checkpoints.shape:
            raise TypeError(
                f"run must return {len(checkpoints)} checkpoints, got shape {played.shape[1:]}"
            )
        done += len(regrets[-1])
    return regrets[0] if len(regrets) == 1 else np.concatenate(regrets)
