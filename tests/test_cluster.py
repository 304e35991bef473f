"""A real Dask cluster: the numbers of threads, and one line for what it cannot do."""

import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing
from functools import partial

import distributed
import pandas as pd
import pytest
from conftest import ROOT, SOURCES, python, refused
from pandas.testing import assert_frame_equal

from privregret import simulate
from privregret.core import store, workers

OWN = """
from dataclasses import dataclass
from privregret.bandits import DPSE
from helper import SHIFT

@dataclass(frozen=True)
class Own(DPSE):
    id = label = "own"
    version = "1"

    def settings(self, horizon, arms):
        return DPSE(self.epsilon + SHIFT).settings(horizon, arms)
"""
KERNELS = """
from dataclasses import dataclass
import numpy as np
from privregret.bandits import BanditAlgorithm
from privregret.core.algorithm import NOT_PRIVATE, NOTHING, Steps
from privregret.core.jit import jit

@jit
def arm(t):
    return 1

@jit
def choose(arms, state, settings, t, rng):
    return arm(t)

@jit
def observe(arms, state, settings, t, j, reward, rng):
    pass

@jit
def counts(means, checkpoints, settings, rng):
    found = np.zeros((len(checkpoints), len(means)), np.int64)
    found[:, 1] = checkpoints
    return found

@dataclass(frozen=True)
class Compiled(BanditAlgorithm):
    id = label = "compiled"
    source, privacy = "a test", NOT_PRIVATE
    steps = Steps(NOTHING, NOTHING, choose, observe)

@dataclass(frozen=True)
class Events(Compiled):
    id = label = "events"
    fast_run = counts
"""
LOAD = "from own import Own"
PLAY = f"""
from privregret import simulate
from privregret.instances import HU2021_2
{LOAD}

print(simulate.regret_curves(Own(0.5), HU2021_2, 10**4, 8, 1, points=1).regret.sum())
"""

# its runs only wait, one block in a task and in an entry; prints how many tasks there were
SLOW = """
import sys, time
from dataclasses import dataclass
from pathlib import Path
from privregret import simulate
from privregret.bandits import BanditAlgorithm
from privregret.core import store, tasks
from privregret.core.algorithm import NOT_PRIVATE
from privregret.instances import HU2021_2

@dataclass(frozen=True)
class Slow(BanditAlgorithm):
    first: int
    id = label = "slow"
    source, privacy = "a test", NOT_PRIVATE

    def play(self, rewards, rng):
        time.sleep(0.01)
        return rng.integers(self.first, 5, len(rewards))

def counted(function, tasks, workers, map_tasks=tasks.map_tasks):
    return map_tasks(function, (sent.append(task) or task for task in tasks), workers)

if __name__ == "__main__":
    sent, store.FOLDER = [], Path("stored")
    tasks.map_tasks, tasks.MOST, tasks.KEPT, tasks.OFTEN = counted, 1, 0.0, 0.0
    function = getattr(simulate, sys.argv[1])
    frame = function([Slow(0), Slow(1)], HU2021_2, 50, 160, 1, points=2)
    print(len(sent), *frame.select_dtypes(float).sum())
"""
STORED = {"PRIVREGRET_STORE": "on"}


class Cluster:
    """A scheduler and workers, started as `docs/large-runs.md` says; own modules in a folder."""

    def __init__(self, folder):
        self.folder, self.file, self.started = folder, folder / "scheduler.json", []
        self.path = os.pathsep.join([SOURCES, str(folder / "modules")])
        self.environment = os.environ | {"PYTHONPATH": self.path, "PRIVREGRET_STORE": "off"}
        self.begin("scheduler", "--port", "0")

    @property
    def address(self):
        with self.client() as client:
            return client.scheduler.address

    def begin(self, *words):
        local = ("--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0")
        words = ["-m", "dask", *words, "--scheduler-file", str(self.file), *local]
        said = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        own = {"cwd": self.folder, "env": self.environment}
        self.started.append(subprocess.Popen([sys.executable, *words], **own, **said))
        return self.started[-1]

    def worker(self, threads):
        """Start a worker, and wait until the scheduler knows it."""
        worker = self.begin("worker", "--no-nanny", "--nthreads", threads)
        alive = sum(process.poll() is None for process in self.started) - 1
        with self.client() as client:
            while len(client.scheduler_info()["workers"]) != alive:
                time.sleep(0.05)
        return worker

    def client(self):
        return distributed.Client(scheduler_file=str(self.file), timeout=60)

    def run(self, *words, **more):
        """What a program of its own says: exit code, stdout, stderr."""
        return python(*words, cwd=self.folder, env=self.environment | more)

    def close(self):
        for process in self.started:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def dask(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dask")
    (folder / "modules").mkdir()
    (folder / "modules" / "own.py").write_text(OWN)
    (folder / "modules" / "helper.py").write_text("SHIFT = 0.0\n")
    (folder / "modules" / "kernels.py").write_text(KERNELS)
    with closing(Cluster(folder)) as found:
        found.worker("2")
        yield found


def test_own_code_runs_and_workers_with_other_code_refuse(dask, tmp_path):
    """Workers keep what they have loaded: an edit makes a program's code another than theirs."""
    scheduler = {"PRIVREGRET_SCHEDULER": dask.address}
    whole = OWN.replace("from helper import SHIFT", "SHIFT = 0.0")
    (dask.folder / "script.py").write_text(whole + PLAY.replace(LOAD, ""))
    (tmp_path / "mine.py").write_text(whole)
    code, alone, said = dask.run("-c", PLAY)
    assert code == 0, said
    # a class of a script is sent with it
    compiled = PLAY.replace(LOAD, "from kernels import Compiled as Own").replace("(0.5)", "()")
    events = compiled.replace("Compiled", "Events")
    for program in (["-c", compiled], ["-c", events]):
        assert dask.run(*program, **scheduler)[0] == 0
    for program in (["-c", PLAY], ["script.py"]):
        assert dask.run(*program, **scheduler)[:2] == (0, alone)
    # but not the modules that it imports
    asks = OWN.replace("from helper import SHIFT", "import helper").replace(
        "SHIFT)", "helper.SHIFT)"
    )
    asks += PLAY.replace(LOAD, "")
    assert dask.run("-c", asks, **scheduler)[:2] == (0, alone)
    names = "own", "helper", "kernels"
    own, helper, kernels = (dask.folder / "modules" / f"{name}.py" for name in names)
    edited = "from privregret.core import checks; checks.MAX_ROUNDS = 10**9\n"
    libraries = "from privregret.core import store; store.version = lambda name: '9'\n"
    path = {"PYTHONPATH": os.pathsep.join([dask.path, str(tmp_path)])}
    for file, content, program, shown in (
        (own, OWN.replace('"1"', '"2"'), PLAY, "Own"),
        (helper, "SHIFT = 4.0\n", PLAY, "Own"),
        (helper, "SHIFT = 4.0\n", asks, "Own"),
        (own, OWN, edited + PLAY, "ClusterError"),
        (own, OWN, libraries + PLAY, "numpy 9"),
        (kernels, KERNELS.replace("arm(t)\n\n", "0 * t\n\n"), compiled, "Compiled"),
        (kernels, KERNELS.replace("return 1", "return 0"), compiled, "Compiled"),
        (kernels, KERNELS.replace("[:, 1] =", "[:, 0 * 1] ="), events, "Events"),
        (own, OWN, PLAY.replace("own import", "mine import"), "mine"),  # they cannot import it
    ):
        before = file.read_text()
        file.write_text(content)
        code, out, said = dask.run("-c", program, **scheduler, **path)
        file.write_text(before)
        last = said.strip().splitlines()[-1]
        assert (code, out) == (1, "") and "ClusterError" in last and shown in last
    assert dask.run("-c", PLAY, **scheduler)[:2] == (0, alone)


def test_the_documented_loop_with_a_killed_worker(dask, tmp_path, monkeypatch):
    """It dies in the middle of the work, and no digit changes."""
    blocks = (ROOT / "docs/large-runs.md").read_text().split("```python\n")[1:]
    (code,) = (block.split("```")[0] for block in blocks if "regret_summary" in block)
    code = code.replace("100_000", "3000").replace("to_parquet", "to_pickle")
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    alone = pd.read_pickle("grid.parquet")

    address, victim, killed = dask.address, dask.worker("2"), threading.Event()

    def kill():
        with distributed.Client(address) as client:
            theirs = {worker for worker, pid in client.run(os.getpid).items() if pid == victim.pid}
            while not client.processing(list(theirs))[min(theirs)]:
                time.sleep(0.01)
        victim.kill()
        killed.set()

    monkeypatch.setenv("PRIVREGRET_SCHEDULER", "nonsense")  # the context is nearer
    threading.Thread(target=kill, daemon=True).start()
    with simulate.cluster(address):
        exec(code, {})
    assert killed.is_set()
    assert_frame_equal(pd.read_pickle("grid.parquet"), alone, check_exact=True)


def test_a_killed_program_resumes(dask):
    """What two workers had finished comes from the store, and no digit changes."""
    dask.worker("1")
    (dask.folder / "slow.py").write_text(SLOW)
    program = "slow.py", "regret_summary"
    _, alone, said = dask.run(*program)
    assert alone.startswith("80 "), said
    scheduler = STORED | {"PRIVREGRET_SCHEDULER": dask.address}
    own = {"cwd": dask.folder, "env": dask.environment | scheduler}
    killed = subprocess.Popen([sys.executable, *program], **own, stdout=subprocess.PIPE)
    while len(stored(dask.folder)) < 20:
        assert killed.poll() is None
        time.sleep(0.01)
    killed.kill()
    assert killed.communicate() == (b"", None)
    found = len(stored(dask.folder))
    code, again, said = dask.run(*program, **scheduler)
    assert (code, again.split()[1:]) == (0, alone.split()[1:]), said
    assert 20 <= found < 80 and again.startswith(f"{80 - found} ")


def test_two_programs_at_once_share_a_store(tmp_path):
    """The same numbers, and entries of which each is whole and a third program needs no others."""
    (tmp_path / "slow.py").write_text(SLOW)
    own = {"cwd": tmp_path, "env": os.environ | STORED | {"PYTHONPATH": SOURCES}}
    program, piped = ("slow.py", "regret_curves"), {"stdout": subprocess.PIPE, "text": True}
    both = [subprocess.Popen([sys.executable, *program], **own, **piped) for _ in range(2)]
    first, second = (process.communicate()[0].split() for process in both)
    assert first[1:] == second[1:] and len(first) == 3
    assert all(store.read(path) for path in stored(tmp_path))
    _, third, said = python(*program, **own)
    assert third.split() == ["0", *first[1:]], said


def stored(folder):
    """The entries of the store of a program, without what is being written."""
    return [path for path in folder.glob("stored/*") if path.name[0] != "."]


def test_without_workers_or_scheduler_there_is_one_line(tmp_path, monkeypatch, capsys):
    """Where all workers are killed, it is said, and the work waits for another one."""
    monkeypatch.setattr(workers, "LOST", 2)
    with closing(Cluster(tmp_path)) as alone:
        address = alone.address
        refused(simulate.cluster(address).__enter__, address, error=simulate.ClusterError)
        victim = alone.worker("2")
        with simulate.cluster(address):
            begun = workers.map_tasks(time.sleep, [(0.2,)] * 20, -1)
            next(begun)
            victim.kill()
            start = time.monotonic()
            while "all workers" not in (said := capsys.readouterr().err):
                time.sleep(0.1)
                assert time.monotonic() - start < 15
            assert said.count("\n") == 1
            alone.worker("2")
            assert len([*begun]) == 19
        with simulate.cluster(address):
            threading.Timer(2, alone.started[0].kill).start()
            lost = partial(workers.map_tasks, time.sleep, [(1,)] * 1000, -1)
            refused(lambda: [*lost()], error=simulate.ClusterError)


def test_what_is_no_scheduler_gets_one_line_soon():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        for where in ("nonsense", "tcp://127.0.0.1:9", f"tcp://127.0.0.1:{port}"):
            start = time.monotonic()
            refused(simulate.cluster(where).__enter__, where, error=simulate.ClusterError)
            assert time.monotonic() - start < 25  # Dask by itself waits for 30 seconds


def test_what_a_cluster_needs_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    entered = simulate.cluster("tcp://127.0.0.1:8786").__enter__
    refused(entered, "distributed", ".[cluster]", error=ModuleNotFoundError)
