"""Replicates, seeds and executors: algorithms on problems become one tidy table."""

import contextlib
import hashlib

import joblib
import numpy as np
import pandas as pd

from privregret import checks, frontend
from privregret.algorithm import flat_parameters

BLOCK = 8  # replicates per task: small enough to spread 15 slow runs, large enough for 20 000 fast ones
MANY = 1000  # replicates per task and stream with `shared_streams`
ROUNDING = 1e-12  # relative standard deviations below this are what is left of a variance that is 0


def rng_for(algorithm, problem, seed: int, run: int) -> np.random.Generator:
    """The replicate's own stream: depends on the algorithm with its parameters, the problem's law, seed and run.

    On nothing else: not on the other curves in a figure, their order, or the number of workers.
    """
    digest = hashlib.sha256(f"{algorithm!r} on {problem.law!r}".encode()).digest()
    key = tuple(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4))
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(*key, run)))


def checkpoints(horizon: int, points: int = 200) -> np.ndarray:
    """About `points` rounds up to `horizon`, half of them equally spaced, half in the logarithm; the horizon is one."""
    half = max(points // 2, 1)
    spaced = np.linspace(horizon / half, horizon, half), np.geomspace(horizon, 1, half)
    if points == 1:
        return np.array([horizon])
    return np.unique(np.concatenate(spaced).round().clip(1).astype(np.int64))


def regret_curves(
    algorithms, problems, horizon: int, runs: int, seed: int, points=200, shared_streams=False, workers: int = -1
):
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
    shared_streams : bool
        One random stream and one call for 1000 replicates: with runs of a few microseconds, making a stream for each
        takes longest. Other numbers, same law.
    workers : int
        joblib's `n_jobs`: threads on this machine, or tasks at once on the backend that `cluster` has set.

    Returns
    -------
    pandas.DataFrame
        One row per (problem, algorithm, run, t): columns algorithm, instance, run, t, regret, and the algorithms'
        parameters.

    Raises
    ------
    TypeError, ValueError
        For an algorithm that does not play one of the problems, and for numbers out of range; before any run.
    """
    algorithms, problems = checks.listed("algorithms", algorithms), checks.listed("problems", problems)
    checks.integer("runs", runs, 1), checks.integer("seed", seed, 0)
    grids = []
    for problem in problems:
        for algorithm in algorithms:
            algorithm.data_of(problem)
        last = checks.integer("horizon", horizon, problem.shortest)
        rounds = checkpoints(last, points) if np.isscalar(points) else np.append(np.asarray(points), last)
        grids.append(checks.horizons(np.unique(rounds), problem.shortest))
    block = MANY if shared_streams else BLOCK
    cells = [(a, p, rounds) for p, rounds in zip(problems, grids, strict=True) for a in algorithms]
    tasks = [(*cell, first) for cell in cells for first in range(0, runs, block)]
    results = joblib.Parallel(n_jobs=workers, prefer="threads", return_as="generator")(
        joblib.delayed(_block)(a, p, rounds, first, min(block, runs - first), seed, shared_streams)
        for a, p, rounds, first in tasks
    )
    bar = frontend.progress(results, len(tasks))
    results, frames = iter(bar), []
    for algorithm, problem, rounds in cells:
        bar.set_description(f"{algorithm.label}, {problem.name}", refresh=False)
        played = np.concatenate([next(results) for _ in range(0, runs, block)])
        regrets = problem.regret(played, rounds)
        if regrets.shape != (runs, len(rounds)):
            raise TypeError(f"{algorithm.label}: run must report at {len(rounds)} rounds, got shape {played.shape[1:]}")
        frames.append(tidy(algorithm, problem, rounds, regrets))
    next(results, None)  # so that the bar ends
    return pd.concat(frames, ignore_index=True)


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
    frame["sd"] = frame.sd.where(frame.sd > ROUNDING * frame["mean"].abs(), 0.0)
    frame["se"] = frame.sd / np.sqrt(frame.runs)
    return frame[[*by, "mean", "sd", "se", "runs"]]


def tidy(algorithm, problem, rounds, regrets) -> pd.DataFrame:
    """The rows of `regret_curves` for one algorithm on one problem, of a (runs, H) array of regrets."""
    runs = len(regrets)
    names = {"algorithm": algorithm.label, "instance": problem.name}
    numbers = {"run": np.repeat(np.arange(runs), len(rounds)), "t": np.tile(rounds, runs), "regret": regrets.ravel()}
    return pd.DataFrame(names | numbers | flat_parameters(algorithm))


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


def _block(algorithm, problem, rounds, first, runs, seed, shared):
    """What is played in some replicates: (runs, H, ...)."""
    if shared:
        return algorithm.run_many(problem, rounds, runs, rng_for(("block", algorithm), problem, seed, first))
    streams = (rng_for(algorithm, problem, seed, run) for run in range(first, first + runs))
    return np.array([algorithm.run(problem, rounds, rng) for rng in streams])
