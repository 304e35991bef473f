"""Replicates, seeds and executors: algorithms on an instance become one tidy table."""

import contextlib
import hashlib
from dataclasses import asdict

import joblib
import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from privregret import checks

BLOCK = 8  # replicates per task: small enough to spread 15 slow runs, large enough for 20 000 fast ones
MANY = 1000  # replicates per task and stream in `final_regrets`


def rng_for(algorithm, instance, seed: int, run: int) -> np.random.Generator:
    """The replicate's own stream: depends on the algorithm with its parameters, the instance's law, seed and run.

    On nothing else: not on the other curves in a figure, their order, or the number of workers.
    """
    digest = hashlib.sha256(f"{algorithm!r} on {instance.means!r}".encode()).digest()
    key = tuple(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4))
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(*key, run)))


def checkpoints(horizon: int, points: int = 200) -> np.ndarray:
    """About `points` rounds up to `horizon`, half of them equally spaced, half in the logarithm; the horizon is one."""
    half = max(points // 2, 1)
    spaced = np.linspace(horizon / half, horizon, half), np.geomspace(horizon, 1, half)
    return np.unique(np.concatenate(spaced).round().astype(np.int64)) if points > 1 else np.array([horizon])


def pull_counts(algorithm, instance, rounds, runs: int, seed: int, first_run: int = 0) -> np.ndarray:
    """Pulls of each arm at each of `rounds`, in each replicate: (runs, len(rounds), K) integers."""
    return np.array(
        [
            algorithm.pull_counts(instance.means, rounds, rng_for(algorithm, instance, seed, run))
            for run in range(first_run, first_run + runs)
        ]
    )


def regret_curves(algorithms, instance, horizon: int, runs: int, seed: int, points=200, workers: int = -1):
    """Pseudo-regret of each algorithm on one instance, replicate by replicate.

    Parameters
    ----------
    algorithms : sequence of BanditAlgorithm
        What to run; the same algorithm may appear with several parameters.
    instance : BernoulliBandit
        The problem.
    horizon : int
        Number of rounds T >= K.
    runs : int
        Independent replicates of each algorithm, at least 1.
    seed : int
        At least 0. Same seed, same numbers, whatever else is in the call and however many workers.
    points : int or sequence of int
        How many rounds to report at, as `checkpoints` picks them; or those rounds, besides the horizon.
    workers : int
        joblib's `n_jobs`: threads on this machine, or tasks at once on the backend that `cluster` has set.

    Returns
    -------
    pandas.DataFrame
        One row per (algorithm, run, t): columns algorithm, instance, run, t, regret, and the algorithms' parameters.
    """
    runs, seed = checks.integer("runs", runs, 1), checks.integer("seed", seed, 0)
    horizon = checks.integer("horizon", horizon, len(instance.means))
    rounds = checkpoints(horizon, points) if np.isscalar(points) else np.append(np.asarray(points), horizon)
    rounds = checks.horizons(np.unique(rounds), len(instance.means))
    blocks = [(a, first) for a in algorithms for first in range(0, runs, BLOCK)]
    tasks = (
        joblib.delayed(pull_counts)(a, instance, rounds, min(BLOCK, runs - first), seed, first) for a, first in blocks
    )
    results = joblib.Parallel(n_jobs=workers, prefer="threads", return_as="generator")(tasks)
    frames = []
    for (algorithm, first), counts in zip(blocks, tqdm(results, total=len(blocks), disable=None), strict=True):
        frame = pd.DataFrame({"algorithm": algorithm.label, "instance": instance.name}, index=range(counts[..., 0].size))
        frame["run"] = np.repeat(np.arange(first, first + len(counts)), len(rounds))
        frame["t"] = np.tile(rounds, len(counts))
        frame["regret"] = (counts @ instance.gaps).ravel()
        frames.append(frame.assign(**asdict(algorithm)))
    return pd.concat(frames, ignore_index=True)


def final_regrets(algorithms, instance, horizon: int, runs: int, seed: int, workers: int = -1):
    """Final pseudo-regret in very many runs of algorithms that have `many_pull_counts`.

    Parameters and result as for `regret_curves` with points=1. One random stream serves a block of 1000 replicates,
    for which the kernel is called once: with runs of a few microseconds, making a stream for each takes longest.
    """
    runs, seed = checks.integer("runs", runs, 1), checks.integer("seed", seed, 0)
    horizon = checks.integer("horizon", horizon, len(instance.means))

    def block(algorithm, first):
        rng = rng_for(("block", algorithm), instance, seed, first)
        counts = algorithm.many_pull_counts(instance.means, [horizon], min(MANY, runs - first), rng)
        frame = pd.DataFrame({"algorithm": algorithm.label, "instance": instance.name}, index=range(len(counts)))
        frame["run"] = np.arange(first, first + len(counts))
        return frame.assign(t=horizon, regret=counts[:, 0] @ instance.gaps, **asdict(algorithm))

    tasks = (joblib.delayed(block)(a, first) for a in algorithms for first in range(0, runs, MANY))
    return pd.concat(joblib.Parallel(n_jobs=workers, prefer="threads")(tasks), ignore_index=True)


def summary(curves, by):
    """Mean and standard deviation of regret over runs, for each combination of the columns `by`, in order of appearance.

    Columns: `by`, mean, sd (of one run), se (of the mean), runs. A single run has sd 0.
    """
    frame = curves.groupby(by, sort=False).regret.agg(mean="mean", sd="std", runs="size").reset_index()
    frame["sd"] = frame.sd.fillna(0.0)
    frame["se"] = frame.sd / np.sqrt(frame.runs)
    return frame[[*by, "mean", "sd", "se", "runs"]]


def cluster(scheduler: str = ""):
    """Context in which replicates run on the Dask scheduler at that address; on this machine if it is empty."""
    if not scheduler:
        return contextlib.nullcontext()
    import distributed

    stack = contextlib.ExitStack()
    stack.enter_context(distributed.Client(scheduler))
    stack.enter_context(joblib.parallel_config(backend="dask"))
    return stack
