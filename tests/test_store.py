"""Results on disk: served again if nothing that decides them has changed, computed otherwise."""

import math
import os
import signal
import sys
from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from conftest import SOURCES, python

from privregret import exact, instances, rare, simulate
from privregret.bandits import DPIMED, DPSE
from privregret.core import files, jit, reach, store, tasks
from privregret.full_information import FTNL
from privregret.privacy import tracing
from privregret.studies.azize2025 import theorem_f7


@pytest.fixture
def computed(tmp_path, monkeypatch):
    """Recall something from a store of its own; says whether it was computed."""
    monkeypatch.delenv("PRIVREGRET_STORE")
    monkeypatch.setattr(store, "FOLDER", tmp_path)

    def called(*known, value=1.0):
        calls = []
        store.get_or_compute(lambda: calls.append(1) or value, probe, *known)
        return bool(calls)

    return called


def probe():
    pass


def entries(folder):
    return sorted(f for f in folder.rglob("*") if f.is_file())


@dataclass(frozen=True)
class Own:
    x: float = 1.0

    @cached_property
    def twice(self):
        return 2 * self.x


TABLE = np.array([[0.5, 0.25], [0.0, 1.0]])
UNLIKE = [
    (), (1,), (1.0,), (True,), ("1",), (None,), (1, 2), ((1, 2),), ([1, 2],), ({1: 2},),
    ({1: 2, 3: 4},), ({3: 4, 1: 2},), (0.1 + 0.2,), (0.3,), (-0.0,), (0.0,), (float("nan"),),
    (np.float64(1),), (TABLE,), (TABLE.T,), (TABLE.T.copy(),), (TABLE.astype(np.float32),),
    (TABLE.ravel(),), (TABLE[:1],), (DPSE,), (DPSE(0.5),), (DPSE(0.25),), (DPSE(0.5).play,),
    (DPSE(0.5, beta=0.25),), (FTNL(0.5),), (instances.HU2021_1,), (instances.HU2021_2,),
    (instances.gap_adversary(2, 0.5),), (instances.gap_adversary(2, 0.25),), (Own(),), (Own(2.0),),
    (exact.regret.expected_regret,), (np.random.default_rng(1),), (np.random.default_rng(2),),
]  # fmt: skip


def test_no_two_are_alike(computed):
    assert all(computed(*known) for known in UNLIKE)
    assert not any(computed(*known) for known in UNLIKE)
    own = Own(3.0)  # what an object caches does not count
    assert computed(own) and own.twice and not computed(own)


def made(text):
    """Return a class as a cell of a notebook defines it."""
    space = {"Own": Own, "__name__": __name__}
    exec(f"class Local(Own):\n    def double(self):\n        return {text}", space)
    return space["Local"]


def test_code_that_is_defined_again_is_known_by_what_it_does(computed):
    one, other, again = (made(text) for text in ("2 * self.x", "3 * self.x", "2 * self.x"))
    for known in (one, other, one(1.0), other(1.0), partial(DPSE, 0.5), jit.jit(entries)):
        assert computed(known) and not computed(known) and computed({"x": [known]}), known
    assert not computed(again) and not computed(again(1.0))
    kept = [store.cached(lambda x, factor=factor: factor * x) for factor in (2.0, 3.0)]
    assert [call(1.0) for call in kept] == [2.0, 3.0] == [call(1.0) for call in kept]


def test_what_is_of_unknown_content_is_computed(computed, tmp_path):
    unknown = (i for i in "ab"), sys.stdout, store, memoryview(b"a")
    for known in (*unknown, lambda: unknown, np.array([store], object)):
        assert computed(known) and computed({"x": [known]}), known
    assert not entries(tmp_path)


def test_what_is_computed_while_the_code_changes_is_not_stored(computed, tmp_path, monkeypatch):
    def patched():
        monkeypatch.setitem(globals(), "TABLE", 1 - TABLE)

    store.get_or_compute(patched, reads)
    assert not entries(tmp_path)


def reads():
    return TABLE


def test_what_comes_back_is_what_went_in(computed):
    regret = exact.Regret(np.ones(2), np.zeros(2))
    for i, value in enumerate(((1, "a", None), np.asfortranarray(TABLE), regret)):
        assert computed(i, value=value)
        found = store.get_or_compute(lambda: pytest.fail("computed again"), probe, i)
        assert type(found) is type(value)
        np.testing.assert_equal(found, value)
        assert getattr(found, "strides", None) == getattr(value, "strides", None)


def test_a_damaged_entry_is_computed_again(computed, tmp_path, capfd, caplog):
    computed()
    (entry,) = entries(tmp_path)
    content = entry.read_bytes()
    for damaged in (content[:-1], b"", b"x" + content[1:], content[:-9] + b"\xff" + content[-8:]):
        entry.write_bytes(damaged)
        assert computed() and not computed()
    assert not caplog.text and capfd.readouterr() == ("", "")


def test_an_entry_under_another_name_is_not_served(computed, tmp_path):
    """As after a repair of the disk, or a backup that is put back."""
    computed(1, value=1.0)
    (one,) = entries(tmp_path)
    computed(2, value=2.0)
    (other,) = {*entries(tmp_path)} - {one}
    other.write_bytes(one.read_bytes())
    assert computed(2, value=2.0) and not computed(2) and not computed(1)


CRASH = """
import os, signal, sys
from pathlib import Path
from privregret.core import store

def die(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)

def half(path, content):
    with open(path, "wb") as file:
        file.write(content[: len(content) // 2])
    die()

if {early}:
    Path.write_bytes = half
else:
    os.replace = die
store.write(Path({path!r}), store.pickle.dumps((2.0, None)))
"""


def test_a_process_that_is_killed_while_it_writes_leaves_the_old_entry_or_none(
    computed, tmp_path, monkeypatch
):
    computed()
    (entry,) = entries(tmp_path)
    old = entry.read_bytes()
    for early in (True, False):
        code = CRASH.format(early=early, path=str(entry))
        own = {"cwd": tmp_path, "env": os.environ | {"PYTHONPATH": SOURCES}}
        assert python("-c", code, **own)[0] == -signal.SIGKILL
        assert entry.read_bytes() == old and not computed()
        entry.unlink()
        assert python("-c", code, **own)[0] == -signal.SIGKILL
        assert not entry.exists() and computed()
    # what is left of them was used longest ago
    assert len(entries(tmp_path)) == 5
    monkeypatch.setattr(store, "BYTES", len(old))
    store.tidy()
    assert entries(tmp_path) == [entry]


@dataclass(frozen=True)
class Other(DPSE):
    id = label = "other"


@pytest.mark.parametrize("call", [simulate.regret_curves, simulate.regret_summary])
def test_a_look_at_fewer_runs_keeps_more_of_them(computed, monkeypatch, call):
    made, map_tasks = [], tasks.map_tasks
    monkeypatch.setattr(tasks, "map_tasks", lambda *of: made.append(of) or map_tasks(*of))

    def play(runs):
        made.clear()
        return call(Other(1.0), instances.HU2021_2, 500, runs, 1, workers=1, points=3)

    alone = {}
    with store.disabled():
        for runs in (10, 64, 130, 199, 200):
            alone[runs] = play(runs)
            assert made
    play(200)
    for runs in (10, 64, 200, 130, 199, 200):
        pd.testing.assert_frame_equal(play(runs), alone[runs], check_exact=True)
        # the moments of the first runs are not those of all
        assert (runs < 200 and call is simulate.regret_summary) or not made


@pytest.mark.parametrize("call", [simulate.regret_curves, simulate.regret_summary])
def test_the_code_is_looked_at_once_in_a_call(computed, monkeypatch, call):
    """Not at each grid point: that takes longer than to read what is stored."""
    looked, keys = [], reach.keys
    monkeypatch.setattr(tasks, "OFTEN", math.inf)  # on a slow machine it looks once more
    monkeypatch.setattr(reach, "keys", lambda groups: looked.append(len(groups)) or keys(groups))
    for stored in (False, True):
        looked.clear()
        call([DPSE(e / 8) for e in range(1, 30)], instances.HU2021_2, 100, 2, 1, workers=1)
        # and again before something is stored
        assert [one for one in looked if one > 1] == [29] * (2 - stored)


def test_how_many_work_decides_nothing(computed, tmp_path):
    frames = [rare.regrets(DPIMED(1.0), instances.HU2021_2, 100, 5, 1, workers=n) for n in (1, 2)]
    assert len(entries(tmp_path)) == 1 and frames[0].equals(frames[1])
    # under the decorator that checks arguments, as all that users call
    exact.expected_regret(FTNL(1.0), instances.bernoulli_losses((0.25, 0.5)), 16)
    assert len(entries(tmp_path)) == 2


def test_the_switches_and_a_full_disk(computed, tmp_path, monkeypatch):
    with store.disabled(), store.disabled():
        assert computed() and computed()
    with tracing.uncompiled():
        assert computed()
    with monkeypatch.context() as off:
        off.setenv("PRIVREGRET_STORE", "off")
        assert computed() and not entries(tmp_path)
    assert computed() and not computed()
    no_space = Mock(side_effect=OSError(28, "No space left on device"))
    monkeypatch.setattr(files.os, "replace", no_space)
    assert computed(1) and computed(1) and not computed()
    assert len(entries(tmp_path)) == 1


def test_the_size_is_bounded_and_what_was_used_last_stays(computed, tmp_path, monkeypatch):
    monkeypatch.setattr(store, "BYTES", 100_000)
    for i in range(30):
        computed(i, value=np.zeros(1000))
        new = max(entries(tmp_path), key=lambda path: path.stat().st_mtime_ns)
        os.utime(new, (i, i))
    store.tidy()
    assert sum(path.stat().st_size for path in entries(tmp_path)) <= 100_000
    assert not computed(29) and computed(0)


def test_a_generator_counts_with_its_state_and_moves_on(computed, tmp_path):
    setting = np.array([0.6, 0.5]), 1.0, 100, 0.02, 3
    first, second = (np.random.default_rng(1) for _ in range(2))
    made = [theorem_f7(*setting, first) for _ in range(2)]
    assert len(entries(tmp_path)) == 2 and not (made[0] == made[1]).all()
    for expected in made:
        np.testing.assert_equal(theorem_f7(*setting, second), expected)
    assert len(entries(tmp_path)) == 2 and first.random() == second.random()


@dataclass(frozen=True)
class Scaled(instances.BernoulliBandit):
    scale: float = 1.0

    def regret(self, played, rounds):
        return super().regret(played, rounds) * self.scale


def test_all_of_a_problem_counts_but_its_name(computed, tmp_path):
    def largest(name, scale):
        problem = Scaled(name, [0.9, 0.5], scale=scale)
        return simulate.regret_curves(DPSE(1.0), problem, 100, 2, seed=1).regret.max()

    assert largest("one", 2.0) == 2 * largest("one", 1.0) == 2 * largest("two", 1.0)
    assert len(entries(tmp_path)) == 2


@store.cached
def spawned(rng):
    return [child.random() for child in rng.spawn(2)]


def test_a_generator_counts_with_how_often_it_has_spawned(computed, tmp_path):
    first, second = (np.random.default_rng(1) for _ in range(2))
    made = [spawned(first) for _ in range(2)]
    assert made[0] != made[1] and [spawned(second) for _ in range(2)] == made
    assert len(entries(tmp_path)) == 2 and spawned(second) == spawned(first)


@dataclass(frozen=True)
class Killed(DPSE):
    id = label = "killed"
    killed: ClassVar[bool] = False

    def runner(self, *args):
        if self.killed:
            raise KeyboardInterrupt
        return super().runner(*args)


def test_finished_grid_points_are_kept(computed, tmp_path, monkeypatch):
    """A killed loop resumes; a damaged grid point alone is computed again."""
    algorithms = [DPSE(1.0), DPSE(2.0), Killed(3.0)]

    def play():
        return simulate.regret_summary(algorithms, instances.HU2021_2, 500, 8, 1, workers=1)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Killed, "killed", True)
        play()
    first, _ = entries(tmp_path)
    whole = play()
    first.write_bytes(b"")
    pd.testing.assert_frame_equal(play(), whole, check_exact=True)
    assert len(entries(tmp_path)) == 3


def test_the_folder_is_the_users_own(monkeypatch, tmp_path):
    """What is unpickled from it is nobody else's."""
    monkeypatch.setattr(files, "CHECKOUT", False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    found = files.cache_folder("store")
    assert found == tmp_path / ".cache/privregret/store"
    found.chmod(0o777)  # as another version made it
    assert files.cache_folder("store").stat().st_mode & 0o777 == 0o700
    monkeypatch.setattr(os, "geteuid", lambda: found.stat().st_uid + 1)
    assert files.cache_folder("store") is None
