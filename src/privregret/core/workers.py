"""Share tasks among threads, or among the workers of a Dask cluster.

`map_tasks` is joblib's `Parallel` with two promises: what a cluster cannot do is said in one line,
and a worker with other code or other libraries than the program's computes nothing.
"""

import asyncio
import contextlib
import importlib
import logging
import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from threading import Event, Thread

import joblib
from joblib.parallel import get_active_backend

from privregret.core import reach, store
from privregret.core.mistakes import OneLine, StepError, WrongArm

LOST = 10  # seconds without any worker of a cluster until that is said


def map_tasks(function: Callable, tasks: Iterable[tuple], workers: int) -> Iterator:
    """Yield `function(*task)` for each task, in order: from threads, or from where
    `joblib.parallel_config` says."""
    with _scheduler(), _watch(client := _client()):
        # multiprocessing returns nothing before the end, and threads do the same
        in_order = get_active_backend()[0].supports_return_generator
        how = {"prefer": "threads"} if in_order else {"backend": "threading"}
        shares = getattr(get_active_backend("threads")[0], "supports_sharedmem", not in_order)
        parallel = joblib.Parallel(workers, return_as="generator", batch_size=1, **how)
        call, checked, send = map(joblib.delayed, (function, _checked, _on_worker))

        def work(task):
            if client:
                return send(*_parcel(function, task))
            return call(*task) if shares else checked(function, task, *_shared(function, task))

        try:
            yield from parallel(map(work, tasks))
        except (StepError, WrongArm) as error:
            raise error.with_traceback(None) from None
        except Exception as error:
            if not client or not type(error).__module__.startswith("distributed"):
                raise
            # the client would log its end in fifty lines
            logging.getLogger("distributed").setLevel(logging.CRITICAL)
            why = "the Dask scheduler or a worker is gone, so start it and run this again"
            raise ClusterError(f"{why} ({_line(error)})") from None


# A Dask cluster
# --------------------------------------------------------------------------------------------------


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
            if (kind := _server_at(address)) != "Scheduler":
                raise ValueError(f"it is a {kind}")
            client = stack.enter_context(distributed.Client(address, timeout=5))
        except Exception as error:
            why = f"no Dask scheduler at {address!r}: start one, or correct the address"
            raise ClusterError(f"{why} ({_line(error)})") from None
        try:
            client.wait_for_workers(1, timeout=8)
            for run_there in (client.run_on_scheduler, client.run):
                run_there(importlib.import_module, __name__)
        except TimeoutError:
            why = f"the Dask scheduler at {address!r} has no workers: start one"
            raise ClusterError(why) from None
        except ModuleNotFoundError as missing:
            why = f"the Dask cluster at {address!r} cannot import {missing.name}: install it there"
            raise ClusterError(why) from None
        stack.enter_context(joblib.parallel_config(backend="dask", client=client))
        yield


def _scheduler() -> AbstractContextManager:
    """Return a context for the scheduler in the environment, unless one is in use."""
    address = os.environ.get("PRIVREGRET_SCHEDULER", "")
    return cluster(address) if address and not _client() else contextlib.nullcontext()


def _client():
    """Return the client of joblib's Dask backend, if that is in use."""
    return getattr(get_active_backend()[0], "client", None)


def _server_at(address):
    """Return the kind of Dask server at an address; a `Client` waits for other servers forever."""
    from distributed import Security, rpc

    async def ask():
        secret = Security().get_connection_args("client")
        async with rpc(address, connection_args=secret) as server:
            return (await server.identity())["type"]

    # in a thread of its own, because what is no Dask server may stop the loop itself
    answer = ThreadPoolExecutor(1).submit(asyncio.run, asyncio.wait_for(ask(), 5))
    return answer.result(timeout=6)


def _line(error):
    return " ".join(f"{type(error).__name__} {error}".split())[:200]


@contextlib.contextmanager
def _watch(client):
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


def _parcel(function, task):
    """Return a task as bytes, which the scheduler need not understand, and what its worker must
    share with the program."""
    from distributed.protocol.pickle import dumps

    return dumps((function, task)), *_shared(function, task)


def _on_worker(parcel, *shared):
    """Do a task on a worker that shares libraries and code with the program."""
    try:
        function, task = pickle.loads(parcel)
    except (ImportError, AttributeError) as missing:
        why = f"a Dask worker lacks code of yours, {missing}: put it on the PYTHONPATH of workers"
        raise ClusterError(why) from None
    return _checked(function, task, *shared, who="a Dask worker")


def _checked(function, task, libraries, code, names, who="a process of joblib"):
    """Do a task where libraries and code are those of the program."""
    libraries_here, code_here, _ = _shared(function, task, names)
    if libraries_here != libraries:
        raise ClusterError(f"{who} has other libraries: {libraries_here}, not {libraries}")
    if code_here != code:
        kinds = ", ".join(sorted({type(thing).__name__ for thing in task[:2]}))
        hint = "restart the workers" if "Dask" in who else "use threads after an assignment"
        raise ClusterError(f"{who} has other code for {kinds}: {hint}")
    return function(*task)


def _shared(function, task, names=None):
    """Return the libraries, a hash of the code of a task, and the names that it reads in modules.
    What a script or notebook defines is sent with the task, but not what it imports."""
    kinds = dict.fromkeys(kind for argument in task for kind in type(argument).__mro__)
    sent = [kind for kind in kinds if kind.__module__ == "__main__"]
    names = reach.read_in_modules(*sent) if names is None else names
    imported = *(kind for kind in kinds if kind not in sent), *reach.read_there(names)
    return store.libraries(), reach.key(function, *imported).digest, names
