"""Play the runs of grid points in tasks, and store what is finished.

A grid point is an algorithm, a problem and checkpoints. Its runs come in *blocks*, each from its
own stream. What the store lacks of them is computed in *tasks*, each of consecutive blocks and
about `SECONDS` long, whose regrets arrive in the order of the runs. So no number depends on how
blocks are shared among tasks. An *entry* of the store has what was made in about `KEPT` seconds.
"""

import math
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from privregret.core import store, streams
from privregret.core.progress import finished, progress
from privregret.core.workers import map_tasks

SECONDS = 0.25  # of work in a task: workers are busy to the end, and progress is seen
MOST = 4096  # largest number of blocks per task: half a second of the fastest algorithm
OFTEN = 0.5  # seconds after which what was computed is stored
KEPT = 5.0  # least seconds of work in an entry of the store, except in the last of a grid point
BYTES = 2**22  # memory of the runs that are played at once, and of the regrets of a task


def played(
    grid: Any, runs: int, seed: int, workers: int, summarize: Callable | None = None
) -> list[np.ndarray]:
    """Return for each grid point the (runs, H) regrets, or a summary in memory that does not grow.

    summarize(summary, count, regrets) returns the summary of the first `count` runs and of the
    next ones, whose regrets are given; the first summary is None. It changes no argument.
    """
    keys = [(summarize, a, _unnamed(p), p.distribution, rounds, seed) for a, p, rounds in grid]
    paths = store.paths_of(_blocks, keys)
    results = [_Result(path, runs, summarize) for path in paths]
    pending, due = [], time.monotonic() + OFTEN

    def write():
        # not if the code was another one meanwhile
        now = store.paths_of(_blocks, keys) if pending else []
        for i, path, end, value in pending:
            # a quick look leaves what a long run has stored
            if now[i] == paths[i] and store.load(path, (0, None))[0] < end:
                store.save((end, value), path)
        pending.clear()

    try:
        for i in _computed(grid, results, runs, seed, workers):
            pending.append((i, *results[i].entry()))
            # it takes as long as many quick grid points to see that the code is the same
            if time.monotonic() > due:
                write()
                due = time.monotonic() + OFTEN
    finally:
        write()
    return [result.value() for result in results]


def _unnamed(problem):
    """Return a problem without its name, which decides no number."""
    unnamed = object.__new__(type(problem))
    vars(unnamed).update(vars(problem) | {"name": None})
    return unnamed


class _Result:
    """What is known of a grid point: regrets of the first `count` runs, or a summary of them.

    An entry of the store is named after its first run. It holds the number of runs up to its end,
    and the regrets of its own runs, or the summary of all runs up to its end.
    """

    def __init__(self, path: Path | None, runs: int, summarize: Callable | None):
        self.path, self.summarize = path, summarize
        self.count, self.regrets, self.summary = 0, [], None
        while self.count < runs:
            end, value = store.load(self.path_from(self.count), (0, None))
            # fewer runs are the first of more, but their summary is another one
            if end <= self.count or (summarize and end > runs):
                break
            if summarize:
                self.summary = value
            else:
                self.regrets.append(value[: runs - self.count])
            self.count = min(end, runs)
        self._begin_entry()

    def path_from(self, first: int) -> Path | None:
        """Return the path of the entry that begins with a run."""
        return self.path and self.path.with_name(f"{self.path.name}-{first}")

    def add(self, regrets: np.ndarray, seconds: float) -> None:
        """Add the next runs, which took so long."""
        if self.summarize:
            self.summary = self.summarize(self.summary, self.count, regrets)
        else:
            self.regrets.append(regrets)
        self.count += len(regrets)
        self.seconds += seconds

    def _begin_entry(self):
        self.first, self.parts, self.seconds = self.count, len(self.regrets), 0.0

    def entry(self) -> tuple:
        """Return the path, the end and the value of an entry with what was added since the last."""
        path, value = self.path_from(self.first), self.summary
        if not self.summarize:
            value = np.concatenate(self.regrets[self.parts :])
            self.regrets[self.parts :] = [value]
        self._begin_entry()
        return path, self.count, value

    def value(self) -> np.ndarray:
        """Return the regrets, or the summary."""
        return self.summary if self.summarize else np.concatenate(self.regrets)


def _computed(grid, results, runs, seed, workers):
    """Add to results what they lack, in order; yield the number of a grid point whenever it has
    enough for an entry of the store."""
    sizes = [algorithm.runs_per_stream for algorithm, *_ in grid]
    todo = [i for i, result in enumerate(results) if result.count < runs]
    sent, cost = deque(), dict.fromkeys(todo, math.inf)  # tasks; seconds per block

    def tasks():
        threads = joblib.effective_n_jobs(workers)
        for i in todo:
            algorithm, problem, checkpoints = grid[i]
            key, size = streams.key(algorithm, problem.distribution), sizes[i]
            first, end = results[i].count // size, -(-runs // size)
            most = min(MOST, BYTES / (8 * size * len(checkpoints)))
            while first < end:
                blocks = min(most, SECONDS / cost[i], (end - first) / (2 * threads))
                last = min(first + max(int(blocks), 1), end)
                sent.append((i, first, last))
                yield algorithm, problem, checkpoints, first, last, runs, seed, key
                first = last

    if not todo:
        return
    start, names = time.monotonic(), [f"{a.label}, {p.name}" for a, p, _ in grid]
    with progress(None, runs * len(grid)) as bar:
        bar.update(sum(result.count for result in results))
        for regrets, seconds in map_tasks(_blocks, tasks(), workers):
            i, first, last = sent.popleft()
            cost[i] = min(cost[i], max(seconds, 1e-6) / (last - first))
            result = results[i]
            # what the store has may end within a block
            regrets = regrets[result.count - first * sizes[i] :]
            result.add(regrets, seconds)
            bar.set_description(names[i], refresh=False)
            bar.update(len(regrets))
            if result.count == runs or result.seconds >= KEPT:
                yield i
            if result.count == runs:
                finished(bar, f"{names[i]}: {runs} runs", start)


def _blocks(algorithm, problem, checkpoints, first, last, runs, seed, key):
    """Return the regrets of the runs in some blocks, and the seconds of work."""
    play, size = algorithm.runner(problem, checkpoints), algorithm.runs_per_stream
    start, end = time.thread_time(), min(last * size, runs)
    regrets = np.empty((end - first * size, len(checkpoints)))
    at_once = max(1, BYTES // (8 * len(checkpoints) * problem.arms))
    run = first * size
    for block in range(first, last):
        rng = streams.generator(key, seed, block)
        while run < min((block + 1) * size, end):
            counts = play(min(at_once, (block + 1) * size - run, end - run), rng)
            part = problem.regret(counts, checkpoints)
            if part.shape[1:] != checkpoints.shape:
                wanted = f"{len(checkpoints)} checkpoints"
                raise TypeError(f"run must return {wanted}, got shape {counts.shape[1:]}")
            regrets[run - first * size :][: len(part)] = part
            run += len(part)
    return regrets, time.thread_time() - start
