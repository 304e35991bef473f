"""Share work among threads, or among the workers of a Dask cluster, and store what is finished.

`played` plays the grid points of a table. What the store lacks of one it splits into tasks of about
`SECONDS`: consecutive blocks of runs, each from its own stream. `join` joins what is known of
consecutive blocks, in a task, in an entry of the store and in the end.
"""

import asyncio
import contextlib
import importlib
import logging
import math
import os
import pickle
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from threading import Event, Thread
from typing import Any

import joblib
import numpy as np
from joblib.parallel import get_active_backend

from privregret.core import reach, store, streams
from privregret.core.mistakes import OneLine, StepError, WrongArm
from privregret.core.progress import finished, progress

SECONDS = 0.25  # of work in a task: workers are busy to the end, and progress is seen
MOST = 4096  # largest number of blocks per task: half a second of the fastest algorithm
OFTEN = 0.5  # seconds after which what was computed is stored
KEPT = 5.0  # least seconds of work in an entry of the store, except in the last of a grid point
BYTES = 2**24  # memory of the runs that are played at once
LOST = 10  # seconds without any worker of a cluster until that is said


class ClusterError(OneLine, RuntimeError):
    """A Dask cluster that cannot do the work: unreachable, without workers or code."""


@contextlib.contextmanager
def cluster(address: str) -> Iterator[None]:
    """Run replicates on a Dask scheduler, such as tcp://127.0.0.1:8786, within a context.

    It is joblib's backend "dask", whose workers refuse a program of other code. In the environment
    `PRIVREGRET_SCHEDULER` does the same for a whole program. ClusterError if the scheduler does not
    answer within five seconds or has no worker within eight, or if it or a worker cannot import the
    package; ModuleNotFoundError without Dask's package `distributed`.
    """
    try:
        import distributed
    except ModuleNotFoundError as missing:
        why = f"a Dask scheduler needs {missing.name}: pip install '.[cluster]' in a clone"
        raise ModuleNotFoundError(why, name=missing.name) from None
    with contextlib.ExitStack() as stack:
        try:
            if (found := _asked(address)) != "Scheduler":
                raise ValueError(f"it is a {found}")
            client = stack.enter_context(distributed.Client(address, timeout=5))
        except Exception as error:
            why = f"no Dask scheduler at {address!r}: start one, or correct the address"
            raise ClusterError(f"{why} ({_line(error)})") from None
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
        stack.enter_context(joblib.parallel_config(backend="dask", client=client))
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
    return cluster(address) if address and not _client() else contextlib.nullcontext()


def map_tasks(function: Callable, tasks: Iterable[tuple], workers: int) -> Iterator:
    """Yield `function(*task)` for each task, in order: from threads, or from where
    `joblib.parallel_config` says. A worker of a Dask cluster computes nothing if its code is not
    that of this process."""
    with scheduler(), _watched(client := _client()):
        # multiprocessing returns nothing before the end, and threads do the same
        ordered = get_active_backend()[0].supports_return_generator
        how = {"return_as": "generator", "batch_size": 1}
        how |= {"prefer": "threads"} if ordered else {"backend": "threading"}
        parallel = joblib.Parallel(n_jobs=workers, **how)
        send, call = joblib.delayed(_unpacked), joblib.delayed(function)
        try:
            yield from parallel(
                send(*_packed(function, task)) if client else call(*task) for task in tasks
            )
        except (StepError, WrongArm) as error:
            raise error.with_traceback(None) from None
        except Exception as error:
            if not client or not type(error).__module__.startswith("distributed"):
                raise
            # the client would log its end in fifty lines
            logging.getLogger("distributed").setLevel(logging.CRITICAL)
            why = "the Dask scheduler or a worker is gone, so start it and run this again"
            raise ClusterError(f"{why} ({_line(error)})") from None


def _client():
    """Return the client of joblib's Dask backend, if that is in use."""
    return getattr(get_active_backend()[0], "client", None)


def _line(error):
    return " ".join(f"{type(error).__name__} {error}".split())[:200]


@contextlib.contextmanager
def _watched(client):
    """Say within half a minute that all workers are gone; Dask waits for new ones."""
    done = Event()

    def watch():
        while not done.wait(LOST / 2):
            with contextlib.suppress(Exception):
                if not client.nthreads() and not done.wait(LOST / 2) and not client.nthreads():
                    print("all workers of the Dask cluster are gone: start one", file=sys.stderr)

    if client:
        Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        done.set()


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
    here = _code(function, task)
    if here[0] != code[0]:
        raise ClusterError(f"a Dask worker has other libraries: {here[0]} and not {code[0]}")
    if here != code:
        names = ", ".join(sorted({type(thing).__name__ for thing in task[:2]}))
        raise ClusterError(f"a Dask worker has other code for {names}: restart the workers")
    return function(*task)


def _code(function, task):
    """Return what program and worker must share: libraries, and the code of a task, except what a
    script or notebook defines, which is sent with it."""
    kinds = dict.fromkeys(kind for one in task for kind in type(one).__mro__)
    shared = (kind for kind in kinds if kind.__module__ != "__main__")
    return store.libraries(), reach.key(function, *shared).digest


# Blocks of runs
# --------------------------------------------------------------------------------------------------


def played(grid: Any, runs: int, seed: int, workers: int, join: Callable) -> list:
    """Return for each grid point a result of its runs; what is finished comes from the store."""
    known = [(join, a, type(p), p.distribution, rounds, seed) for a, p, rounds in grid]
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
            if now[i] == names[i] and store.load(path, (0, []))[0] < one[0]:
                store.save(one, path)
        made.clear()

    try:
        for i, end, found in _computed(grid, begin, runs, seed, workers, join):
            parts[i] += found
            made.append(((end, found), i, found[0][0]))
            # it takes as long as many quick grid points to see that the code is the same
            if time.monotonic() > due:
                keep()
                due = time.monotonic() + OFTEN
    finally:
        keep()
    return [[one for *_, one in join(parts.pop(0))] for _ in grid]


def _part(name, first):
    """Return the name of the entry that begins with a block, or None."""
    return name and name.with_name(f"{name.name}-{first}")


def _held(name, size, runs):
    """Return what the store has of the first blocks, without a gap."""
    parts, end = [], 0
    while end < runs:
        first = end // size
        end, known = store.load(_part(name, first), (math.inf, []))
        if end <= first * size:
            break
        if known and end > runs and isinstance(known[0][2], np.ndarray):
            # fewer runs are the first of more; moments have none
            known = [(first, -(-runs // size) - first, known[0][2][: runs - first * size])]
        elif end > runs or (end < runs and end % size):
            break
        parts += known
    return parts


def _computed(grid, begin, runs, seed, workers, join):
    """Yield (grid point, number of its runs so far, what is known of blocks), in order, after at
    least `KEPT` seconds of work. `begin` has the first block of each grid point to compute."""
    ends = [-(-runs // point.algorithm.runs_per_stream) for point in grid]
    todo = [i for i in range(len(grid)) if begin[i] < ends[i]]
    if not todo:
        return
    begun, tasks, costs = time.monotonic(), deque(), dict.fromkeys(todo, math.inf)

    def work(at_once):
        for i in todo:
            first, key = begin[i], streams.key(grid[i].algorithm, grid[i].problem.distribution)
            while first < ends[i]:
                most = min(SECONDS / costs[i], MOST, (ends[i] - first) / (2 * at_once))
                last = min(first + max(int(most), 1), ends[i])
                tasks.append((i, first, last))
                yield *grid[i], first, last, runs, seed, join, key
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
                yield i, min(last * size, runs), join(known)
                known, spent = [], 0.0
            if last == ends[i]:
                finished(bar, f"{names[i]}: {runs} runs", begun)


def _blocks(algorithm, problem, checkpoints, first, last, runs, seed, join, key):
    """Return the seconds of work, and what is known of the regrets of some blocks."""
    play, size = algorithm.runner(problem, checkpoints), algorithm.runs_per_stream
    begun = time.thread_time()

    def regrets(block):
        rng = streams.generator(key, seed, block)
        return _regrets(play, problem, checkpoints, min(size, runs - block * size), rng)

    known = join((block, 1, regrets(block)) for block in range(first, last))
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
