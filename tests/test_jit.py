"""Kernels: entries on disk for those of the package, and loops that are made for each algorithm;
`test_code_key` edits what they use."""

from dataclasses import dataclass

import numba
import numpy as np
import pytest

from privregret import simulate
from privregret.adversarial import EXP4Local
from privregret.bandits import AnytimeLazyUCB, BanditAlgorithm
from privregret.core import code_key, files, jit, loops, noise, store
from privregret.core.algorithm import NOT_PRIVATE, Steps
from privregret.divergence import kl
from privregret.full_information import FollowTheLeader
from privregret.instances import BernoulliBandit

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="needs compiled kernels")
KINDS = [(numba.float64, numba.float64), (numba.int64, numba.int64)]


def full(*_):
    raise OSError(28, "No space left on device")


@pytest.fixture
def saved(tmp_path, monkeypatch):
    """Saves code for these types in a folder of its own, and says for which there is some."""
    monkeypatch.setattr(jit, "FOLDER", tmp_path)
    kernel = numba.njit(kl.py_func)
    compiled = {kind: kernel.overloads[kind] for kind in KINDS if kernel.compile(kind)}

    def save(*kinds):
        for kind in kinds:
            jit._Cache(kl.py_func).save_overload(kind, compiled[kind])
        found = {k: jit._Cache(kl.py_func).load_overload(k, kernel.targetctx) for k in KINDS}
        return [kind for kind, code in found.items() if code]

    save.entry = lambda kind: jit._Cache(kl.py_func)._entry(kind, kernel.targetctx.codegen())
    return save


def test_code_of_another_signature_and_damaged_code_are_not_used(saved, monkeypatch):
    assert saved(KINDS[0]) == KINDS[:1] and saved(KINDS[1]) == KINDS
    one, other = map(saved.entry, KINDS)
    content = other.read_bytes()
    for damaged in (one.read_bytes(), content[:-1], content[:999] + b"\xff" + content[1000:]):
        other.write_bytes(damaged)
        assert saved() == KINDS[:1]
    assert saved(KINDS[1]) == KINDS
    one.unlink()
    one.mkdir()
    assert saved(KINDS[0]) == KINDS[1:]
    other.unlink()
    monkeypatch.setattr(files.os, "replace", full)
    assert saved(*KINDS) == []


def test_kernels_release_the_gil_and_those_of_others_have_no_entry():
    kernel = noise.laplace
    assert kernel.targetoptions["nogil"] and not kernel.targetoptions.get("fastmath")
    assert type(kernel._cache) is jit._Cache
    for own in (jit.jit(lambda x: x), observe):
        assert type(own._cache) is not jit._Cache
    with pytest.raises(TypeError):
        jit.jit(3)


# Loops
# --------------------------------------------------------------------------------------------------

ARM = np.dtype([("total", float)])
WIDE = np.dtype([("total", float), ("more", float)])
STATE = np.dtype([("best", np.int64)])
CONSTANT, TABLE = 0, np.array([0])


@jit.jit
def observe(arms, state, settings, t, j, reward, rng):
    arms[j]["total"] += reward


def factory(arm):
    @jit.jit
    def choose(arms, state, settings, t, rng):
        return arm

    return choose


def nested(arm):
    inner = factory(arm)
    return jit.jit(lambda arms, state, settings, t, rng: inner(arms, state, settings, t, rng))


@jit.jit
def constant():
    return CONSTANT + TABLE[0]


@jit.jit
def chosen(arms, state, settings, t, rng):
    return constant()


def played(choose, observe=observe, arm=ARM):
    """What `play`, `run` and `regret_curves` make of an algorithm with these steps."""
    steps = Steps(arm, STATE, choose, observe)
    names = {"id": "own", "label": "own", "source": "test", "privacy": NOT_PRIVATE, "steps": steps}
    own = dataclass(frozen=True)(
        type("Own", (BanditAlgorithm,), names | {"__module__": __name__})
    )()
    problem = BernoulliBandit("two", (0.75, 0.25))
    actions = own.play(np.ones((4, 2)), rng=1).tolist()
    regret = simulate.regret_curves(own, problem, 4, 1, 1, points=1).regret[0]
    return actions, regret


ALWAYS = [([0] * 4, 0.0), ([1] * 4, 2.0)]


@pytest.mark.parametrize("made", [factory, nested])
def test_no_two_algorithms_share_a_loop(made):
    zero, one = made(0), made(1)
    assert [played(kernel) for kernel in (zero, one, zero)] == [*ALWAYS, ALWAYS[0]]
    assert played(one, arm=WIDE) == ALWAYS[1]


def test_a_constant_that_changes_is_read_again(monkeypatch):
    """numba takes it, also in kernels that a kernel calls, for what it was at the first call."""
    assert played(chosen) == ALWAYS[0]
    monkeypatch.setitem(globals(), "CONSTANT", 1)
    assert played(chosen) == ALWAYS[1]
    TABLE[0] = -1
    assert played(chosen) == ALWAYS[0]
    TABLE[0] = 0
    monkeypatch.setitem(globals(), "constant", jit.jit(lambda: 0))
    assert played(chosen) == ALWAYS[0]


def test_loops_of_the_package_alter_nothing_and_have_entries_of_their_dtypes():
    """What is filled into templates is no assignment of a program."""
    for kind, steps in ((loops.LOSSES, FollowTheLeader.steps), (loops.EXPERTS, EXP4Local.steps)):
        for loop in (loops.play(kind, steps), loops.rounds(kind, steps)):
            assert code_key.intact(loop), loop
    steps = AnytimeLazyUCB.steps
    loop, other = (loops.rounds(loops.BANDIT, s) for s in (steps, steps._replace(state=WIDE)))
    assert type(loop._cache) is type(other._cache) is jit._Cache
    assert loop.__name__ != other.__name__
    mixed = loops.play(loops.BANDIT, steps._replace(observe=observe))
    assert type(mixed._cache) is not jit._Cache


RECORD = np.dtype([("x", np.float64)])


def summed(n):
    states = np.zeros(1, RECORD)
    state = states[0]
    for k in range(n):
        others = np.full(1, float(k))
        state["x"] += others[0]
    jit.keep_alive(states)
    return state["x"]


def test_an_array_is_kept_alive_for_its_record():
    assert numba.njit(summed)(1000) == sum(range(1000))
    assert store.FOLDER
