"""Replicates, seeds and executors: algorithms on an instance become one tidy table."""

import contextlib
import hashlib
import sys
from dataclasses import fields, is_dataclass

import joblib
import numpy as np
import pandas as pd
from tqdm import tqdm

from privregret import checks

BLOCK = 8  # replicates per task: small enough to spread 15 slow runs, large enough for 20 000 fast ones
MANY = 1000  # replicates per task and stream in `final_regrets`


def rng_for(algorithm, instance, seed: int, run: int) -> np.random.Generator:
    """The replicate's own stream: depends on the algorithm with its parameters, the instance's law, seed and run.

    On nothing else: not on the other curves in a figure, their order, or the number of workers.
    """
    digest = hashlib.sha256(f"{algorithm!r} on {instance.law!r}".encode()).digest()
    key = tuple(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4))
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(*key, run)))


def checkpoints(horizon: int, points: int = 200) -> np.ndarray:
    """About `points` rounds up to `horizon`, half of them equally spaced, half in the logarithm; the horizon is one."""
    half = max(points // 2, 1)
    spaced = np.linspace(horizon / half, horizon, half), np.geomspace(horizon, 1, half)
    if points == 1:
        return np.array([horizon])
    return np.unique(np.concatenate(spaced).round().clip(1).astype(np.int64))


def pull_counts(algorithm, instance, rounds, runs: int, seed: int, first_run: int = 0) -> np.ndarray:
    """Pulls of each arm at each of `rounds`, in each replicate: (runs, len(rounds), K) integers."""
    streams = (rng_for(algorithm, instance, seed, run) for run in range(first_run, first_run + runs))
    return np.array([algorithm.pull_counts(instance.law, rounds, rng) for rng in streams])


def many_pull_counts(algorithm, instance, rounds, runs: int, seed: int, first_run: int = 0) -> np.ndarray:
    """As `pull_counts`, of algorithms that have `many_pull_counts`: one call and one stream for all replicates."""
    rng = rng_for(("block", algorithm), instance, seed, first_run)
    return algorithm.many_pull_counts(instance.law, rounds, runs, rng)


def cumulative_losses(algorithm, problem, rounds, runs: int, seed: int, first_run: int = 0) -> np.ndarray:
    """The learner's loss at each of `rounds`, in each replicate: (runs, len(rounds)) numbers."""
    streams = (rng_for(algorithm, problem, seed, run) for run in range(first_run, first_run + runs))
    return np.array([algorithm.cumulative_loss(problem, rounds, rng) for rng in streams])


def regret_curves(algorithms, instance, horizon: int, runs: int, seed: int, points=200, workers: int = -1):
    """Pseudo-regret of each algorithm on one instance, replicate by replicate.

    Parameters
    ----------
    algorithms : sequence of BanditAlgorithm or FullInformationAlgorithm
        What to run; the same algorithm may appear with several parameters.
    instance : BernoulliBandit or StochasticLosses
        The problem; with full information its groups of equal actions count as one arm each.
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
    rounds = _rounds(horizon, points, runs, seed, len(instance.means))
    blocks = _in_blocks(pull_counts, algorithms, instance, rounds, runs, seed, workers)
    frames = [_tidy(a, instance, rounds, first, counts @ instance.gaps) for a, first, counts in blocks]
    return pd.concat(frames, ignore_index=True)


def final_regrets(algorithms, instance, horizon: int, runs: int, seed: int, workers: int = -1):
    """Final pseudo-regret in very many runs of algorithms that have `many_pull_counts`.

    Parameters and result as for `regret_curves` with points=1. One random stream serves a block of 1000 replicates,
    for which the kernel is called once: with runs of a few microseconds, making a stream for each takes longest.
    """
    rounds = _rounds(horizon, 1, runs, seed, len(instance.means))
    blocks = _in_blocks(many_pull_counts, algorithms, instance, rounds, runs, seed, workers, MANY)
    frames = [_tidy(a, instance, rounds, first, counts @ instance.gaps) for a, first, counts in blocks]
    return pd.concat(frames, ignore_index=True)


def adversarial_curves(algorithms, problem, horizon: int, runs: int, seed: int, points=200, workers: int = -1):
    """Regret of each algorithm against one oblivious adversary, replicate by replicate; seeds as in `regret_curves`.

    Parameters
    ----------
    algorithms : sequence of AdversarialAlgorithm
        What to run; the same algorithm may appear with several parameters.
    problem : Adversary or ExpertProblem
        The losses, and the advice for algorithms that take it.
    horizon, runs, seed, points, workers
        As in `regret_curves`. In Bernoulli problems and with experts who mix, numbers also depend on the
        rounds reported at.

    Returns
    -------
    pandas.DataFrame
        One row per (algorithm, run, t): columns algorithm, instance, run, t, regret, and the algorithms'
        parameters. Regret at t is against the arm or expert that is best in rounds 1..t.
    """
    rounds = _rounds(horizon, points, runs, seed, 1)
    best = problem.comparators(rounds).min(axis=1)
    blocks = _in_blocks(cumulative_losses, algorithms, problem, rounds, runs, seed, workers)
    frames = [_tidy(a, problem, rounds, first, losses - best) for a, first, losses in blocks]
    return pd.concat(frames, ignore_index=True)


def hardest(algorithm, problems, horizon: int, runs: int, seed: int, choosing: int | None = None):
    """The problem on which an algorithm has the largest mean regret, and its regret there.

    Parameters
    ----------
    algorithm, horizon, runs, seed
        As in `adversarial_curves`.
    problems : sequence of Adversary or ExpertProblem
        Where to look.
    choosing : int, optional
        Runs on each problem by which one is chosen; a quarter of `runs`, at least 2. They are not used again, so
        that the maximum over noisy means biases nothing.

    Returns
    -------
    problem, (runs,) array of regrets
    """
    choosing = choosing or max(runs // 4, 2)
    means = [adversarial_curves([algorithm], p, horizon, choosing, seed + 1, points=1).regret.mean() for p in problems]
    problem = problems[int(np.argmax(means))]
    return problem, adversarial_curves([algorithm], problem, horizon, runs, seed, points=1).regret.to_numpy()


def flat_parameters(algorithm) -> dict:
    """An algorithm's parameters; those of an algorithm inside it too, and its label for itself."""
    result = {}
    for f in fields(algorithm):
        value = getattr(algorithm, f.name)
        if is_dataclass(value):
            result |= flat_parameters(value) | {f.name: value.label}
        else:
            result[f.name] = value
    return result


def _rounds(horizon, points, runs, seed, arms):
    """The rounds to report at, after a check of all that `regret_curves` and its siblings are asked for."""
    checks.integer("runs", runs, 1), checks.integer("seed", seed, 0)
    horizon = checks.integer("horizon", horizon, arms)
    rounds = checkpoints(horizon, points) if np.isscalar(points) else np.append(np.asarray(points), horizon)
    return checks.horizons(np.unique(rounds), arms)


def _in_blocks(task, algorithms, instance, rounds, runs, seed, workers, block=BLOCK):
    """(algorithm, first run, task's result) for each block of replicates, in order."""
    blocks = [(a, first) for a in algorithms for first in range(0, runs, block)]
    tasks = (joblib.delayed(task)(a, instance, rounds, min(block, runs - first), seed, first) for a, first in blocks)
    results = joblib.Parallel(n_jobs=workers, prefer="threads", return_as="generator")(tasks)
    quiet = {} if "ipykernel" in sys.modules else {"disable": None}  # a bar on terminals and in notebooks only
    results = tqdm(results, total=len(blocks), leave=False, **quiet)
    for (algorithm, first), result in zip(blocks, results, strict=True):
        yield algorithm, first, result


def _tidy(algorithm, instance, rounds, first, regrets):
    """One row for each run and round of a (runs, len(rounds)) array of regrets, with the algorithm's parameters."""
    frame = pd.DataFrame({"algorithm": algorithm.label, "instance": instance.name}, index=range(regrets.size))
    frame["run"] = np.repeat(np.arange(first, first + len(regrets)), len(rounds))
    frame["t"] = np.tile(rounds, len(regrets))
    frame["regret"] = regrets.ravel()
    return frame.assign(**flat_parameters(algorithm))


def summary(curves, by):
    """Mean and standard deviation of regret over runs, for each combination of the columns `by`, as they appear.

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
