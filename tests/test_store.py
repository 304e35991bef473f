"""Results on disk: served again if nothing that decides them has changed, computed otherwise."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import threading
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from privregret import exact, instances, store
from privregret.adversarial.tuning import batched_htinf
from privregret.bandits import DPSE
from privregret.files import PACKAGE
from privregret.full_information import FTNL
from privregret.privacy import trace
from privregret.studies.asi2025 import punished_regret


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """`store.recall` in a store of its own; says whether it computed."""
    monkeypatch.delenv("PRIVREGRET_STORE")
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    monkeypatch.setattr(store, "FAST", 0.0)

    def computed(*parts, value=1.0):
        calls = []
        store.recall(lambda: calls.append(1) or value, *parts)
        return bool(calls)

    return computed


def entries(folder):
    return [file for file in folder.rglob("*") if file.is_file()]


class Pair(NamedTuple):
    value: np.ndarray
    error: float


VALUES = [
    1.5,
    (1, "a", None),
    {"a": np.arange(3), "b": 1e-300},
    np.asfortranarray(np.random.default_rng(0).random((3, 4))),
    Pair(np.array([np.inf, -0.0]), 2.0),
    pd.DataFrame({"algorithm": ["a", "b"], "t": [1, 2], "regret": [0.1, 0.2]}),
    exact.Regret(np.ones(2), np.zeros(2)),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_what_comes_back_is_what_went_in(kept, value):
    assert kept("x", value=value)
    found = store.recall(lambda: pytest.fail("computed again"), "x")
    assert type(found) is type(value)
    if isinstance(value, pd.DataFrame):
        pd.testing.assert_frame_equal(found, value)
    else:
        np.testing.assert_equal(found, value)
    if isinstance(value, np.ndarray):
        assert found.strides == value.strides and found.dtype == value.dtype


TABLE = np.array([[0.5, 0.25], [0.0, 1.0]])
UNLIKE = [
    (),
    (1,),
    (1.0,),
    (True,),
    ("1",),
    (None,),
    (1, 2),
    ((1, 2),),
    ([1, 2],),
    ({1: 2},),
    (0.1 + 0.2,),
    (0.3,),
    (-0.0,),
    (0.0,),
    (float("nan"),),
    (np.float64(1),),
    (TABLE,),
    (TABLE.T,),
    (TABLE.T.copy(),),
    (TABLE.astype(np.float32),),
    (TABLE.ravel(),),
    (TABLE[:1],),
    (DPSE,),
    (DPSE(0.5),),
    (DPSE(0.25),),
    (DPSE(0.5).play,),
    (DPSE(0.5, beta=0.25),),
    (FTNL(0.5),),
    (instances.HU2021_1,),
    (instances.HU2021_2,),
    (instances.BernoulliBandit("other", instances.HU2021_1.means),),
    (instances.gap_adversary(2, 0.5),),
    (instances.gap_adversary(2, 0.25),),
    (exact.regret.expected_regret,),
    (exact.regret.regret_curves,),
    ("pair", (1, 2)),
]


def test_no_two_keys_are_alike(kept):
    assert all(kept(*parts) for parts in UNLIKE)
    assert not any(kept(*parts) for parts in UNLIKE)


def own():
    class Own(DPSE):
        id = label = "own"

    return Own(0.5)


@pytest.mark.parametrize(
    "part",
    [lambda: 1, own, object(), {1}, np.array([object()]), own(), DPSE(0.5).play.__call__],
    ids=lambda part: type(part).__name__,
)
def test_what_has_no_known_content_is_computed_and_not_kept(kept, part, tmp_path):
    assert kept("x", part) and kept("x", [part]) and not entries(tmp_path)


def test_what_cannot_be_pickled_and_what_fails_is_not_kept(kept, tmp_path):
    assert kept("x", value=lambda: 1) and not entries(tmp_path)
    with pytest.raises(ZeroDivisionError):
        store.recall(lambda: 1 / 0, "y")
    assert kept("y") and not kept("y")


def test_what_is_quicker_than_reading_is_not_kept(kept, tmp_path, monkeypatch):
    monkeypatch.setattr(store, "FAST", 60.0)
    assert kept("x") and kept("x") and not entries(tmp_path)


DAMAGE = {
    "truncated": lambda content: content[:-1],
    "empty": lambda content: b"",
    "head": lambda content: content[:16],
    "flipped": lambda content: content[:-2] + bytes([content[-2] ^ 1]) + content[-1:],
    "longer": lambda content: content + b"x",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_entry_is_computed_again(kept, tmp_path, damage):
    kept("x")
    (entry,) = entries(tmp_path)
    entry.write_bytes(damage(entry.read_bytes()))
    assert kept("x") and not kept("x")


def test_an_entry_of_something_else_is_computed_again(kept, tmp_path):
    kept("x", value=1.0)
    (one,) = entries(tmp_path)
    kept("y", value=2.0)
    (other,) = {*entries(tmp_path)} - {one}
    shutil.copy(one, other)
    assert store.recall(lambda: 3.0, "y") == 3.0


def test_the_switches(kept, tmp_path, monkeypatch):
    with store.without():
        assert store.off() and kept("x") and kept("x")
        with store.without():
            pass
        assert store.off()
    assert not store.off() and not entries(tmp_path)
    kept("x")
    monkeypatch.setenv("PRIVREGRET_STORE", "off")
    assert store.off() and kept("x")
    monkeypatch.delenv("PRIVREGRET_STORE")
    assert not kept("x")
    monkeypatch.setattr(store, "FOLDER", None)
    assert store.off() and kept("x")


def test_a_folder_that_cannot_be_written(kept, tmp_path, monkeypatch):
    kept("x")
    monkeypatch.setattr(
        store.files, "write", lambda *_: (_ for _ in ()).throw(PermissionError("read-only"))
    )
    monkeypatch.setattr(os, "utime", lambda *_: (_ for _ in ()).throw(PermissionError("read-only")))
    assert not kept("x") and kept("y") and kept("y")
    (tmp_path / "file").write_text("")
    monkeypatch.undo()
    monkeypatch.setenv("PRIVREGRET_STORE", "")
    monkeypatch.setattr(store, "FOLDER", tmp_path / "file")  # no folder at all
    assert kept("y") and kept("y")


def test_the_size_is_bounded_and_what_was_used_last_stays(kept, tmp_path, monkeypatch):
    monkeypatch.setattr(store, "BYTES", 100_000)
    monkeypatch.setattr(store, "EVERY", 1)
    value, made = np.zeros(1000), []
    for i in range(30):
        kept(i, value=value)
        (new,) = {*entries(tmp_path)} - {*made}
        made.append(new)
        os.utime(new, (i, i))
        if i >= 2:
            assert not kept(0)  # used again and again
            made = [file for file in made if file.exists()]
    assert sum(file.stat().st_size for file in entries(tmp_path)) <= 100_000
    assert not kept(0) and not kept(29) and kept(1)
    kept("large", value=np.zeros(10_000))  # would leave room for little else
    assert kept("large")


def test_files_that_were_never_finished_go(kept, tmp_path, monkeypatch):
    monkeypatch.setattr(store, "EVERY", 1)
    kept("x")
    (entry,) = entries(tmp_path)
    old, new = (entry.with_name(f".{entry.name}.partial-{i}") for i in range(2))
    for file in (old, new):
        file.write_bytes(b"x")
    os.utime(old, (0, 0))
    kept("y")
    assert not old.exists() and new.exists()


def test_threads_that_compute_the_same_at_once(kept, tmp_path):
    together, found = threading.Barrier(8), []

    def compute():
        together.wait(10)
        return np.arange(100_000)

    threads = [
        threading.Thread(target=lambda: found.append(store.recall(compute, "x"))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and all((one == np.arange(100_000)).all() for one in found)
    assert not kept("x") and len(entries(tmp_path)) == 1


def test_exact_values_come_from_the_store(kept, tmp_path, monkeypatch):
    problem = instances.bernoulli_losses([0.25, 0.5])
    first = exact.regret_curves(FTNL(0.5), problem, np.array([64]))
    monkeypatch.setattr(exact.regret, "selections", lambda *_: pytest.fail("computed again"))
    pd.testing.assert_frame_equal(
        exact.regret_curves(FTNL(0.5), problem, horizons=np.array([64])), first
    )
    np.testing.assert_equal(
        exact.expected_regret(FTNL(0.5), problem, np.array([64])).value, first.regret.to_numpy()
    )


def test_a_generator_counts_with_its_state_and_moves_on(kept, tmp_path):
    algorithm = batched_htinf(0.5)
    first, second = (np.random.default_rng(1) for _ in range(2))
    computed = [punished_regret(algorithm, 2, 1000, 3, first) for _ in range(2)]
    assert len(entries(tmp_path)) == 2 and not (computed[0] == computed[1]).all()
    for expected in computed:
        np.testing.assert_equal(punished_regret(algorithm, 2, 1000, 3, second), expected)
    assert len(entries(tmp_path)) == 2 and first.random() == second.random()


def test_within_altered_kernels_nothing_is_kept_or_served(kept):
    kept("x")
    with trace.uncompiled(kept):
        assert kept("x")
    assert not kept("x")


# Edits
# --------------------------------------------------------------------------------------------------

MODULES = {
    "constants.py": "FACTOR = 2.0\n",
    "callee.py": """
from privregret.constants import FACTOR
from privregret.jit import jit


@jit
def inner(x):
    return FACTOR * x
""",
    "problems.py": """
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    name: str = "problem"
    mean: float = 0.5


KNOWN = Problem()
""",
    "caller.py": """
from privregret import store
from privregret.callee import inner

CALLS = []


@store.kept
def outer(problem, x=1.0):
    CALLS.append(x)
    return inner(x) + problem.mean
""",
    "press/draw.py": "",
}
RUN = """
import json, sys
import numba
from privregret import store
store.FAST = 0.0
from privregret import caller, problems
value = caller.outer(problems.KNOWN)
print(json.dumps([value, len(caller.CALLS)]))
"""


@pytest.fixture
def package(tmp_path):
    """A small package with the real store, kernels and sources, and a cache of its own."""
    (tmp_path / "notebooks").mkdir()
    folder = tmp_path / "src" / "privregret"
    (folder / "press").mkdir(parents=True)
    for name in ("__init__.py", "files.py", "jit.py", "sources.py", "store.py"):
        shutil.copy(PACKAGE / name, folder)
    for name, content in MODULES.items():
        (folder / name).write_text(content)
    return folder


HOST = """
import json, os, sys, traceback
import numba
for line in sys.stdin:
    if os.fork():
        os.wait()
        continue
    try:
        exec(json.loads(line))
    except BaseException:
        print(json.dumps(traceback.format_exc()))
    finally:
        sys.stdout.flush()
        os._exit(0)
"""


class Host:
    """A process that has numba loaded and forks for every run: each imports the package again."""

    def __init__(self, package):
        environment = os.environ | {"PYTHONPATH": str(package.parent), "PRIVREGRET_STORE": ""}
        pipes = {
            "stdin": subprocess.PIPE,
            "stdout": subprocess.PIPE,
            "text": True,
            "env": environment,
        }
        self.process = subprocess.Popen([sys.executable, "-c", HOST], **pipes)

    def close(self):
        self.process.communicate()

    def start(self, code):
        self.process.stdin.write(json.dumps(code) + "\n")
        self.process.stdin.flush()

    def ended(self):
        return json.loads(self.process.stdout.readline())

    def run(self, code=RUN):
        """The value of a stored function, and how often it was computed."""
        self.start(code)
        return self.ended()


@pytest.fixture
def host(package):
    with contextlib.closing(Host(package)) as found:
        yield found


EDITS = [
    ("callee.py", "FACTOR * x", "FACTOR * x + 1", 3.5),
    ("constants.py", "2.0", "3.0", 3.5),
    ("caller.py", "x=1.0", "x=2.0", 4.5),
    ("problems.py", "0.5", "0.25", 2.25),
]


def test_edits_that_may_change_a_number_are_computed_and_others_are_not(package, host):
    assert host.run() == [2.5, 1]
    assert host.run() == [2.5, 0]
    (package / "press" / "draw.py").write_text("COLOUR = 1\n")
    assert host.run() == [2.5, 0]
    for name, before, after, value in EDITS:
        content = (package / name).read_text()
        (package / name).write_text(content.replace(before, after))
        assert host.run() == [value, 1], name
        (package / name).write_text(content)
    assert host.run() == [2.5, 0]  # as at first, whose result is still there
    newer = RUN.replace("store.FAST = 0.0", "store.FAST, store.version = 0.0, lambda name: '9'")
    assert host.run(newer) == [2.5, 1]
    off = RUN.replace("import numba", "import os; os.environ['PRIVREGRET_STORE'] = 'off'")
    assert host.run(off) == [2.5, 1]


def test_an_edit_under_a_process_at_work_spoils_nothing(package, host):
    """It still runs the old code: neither does it serve a result of the new sources, nor keep one
    under their name."""
    edit = (
        "from privregret import sources\n"
        "(sources.PACKAGE / 'constants.py').write_text('FACTOR = 5.0')\nvalue ="
    )
    assert host.run(RUN.replace("value =", edit)) == [2.5, 1]
    assert host.run() == [5.5, 1]
    assert host.run() == [5.5, 0]


def test_two_processes_at_once(package, host):
    with contextlib.closing(Host(package)) as other:
        for one in (host, other):
            one.start(RUN)
        assert [one.ended()[0] for one in (host, other)] == [2.5, 2.5]
        assert host.run() == other.run() == [2.5, 0]
