"""Kernels: entries on disk for those of the package, and loops that are made for each algorithm;
`test_reach` edits what they use."""

from copy import deepcopy
from dataclasses import dataclass
from unittest.mock import Mock

import numba
import numpy as np
import pytest

from privregret import simulate
from privregret.adversarial import EXP4Batched, EXP4Local
from privregret.bandits import AnytimeLazyUCB, BanditAlgorithm
from privregret.core import compiler, files, jit, loops, noise, typed
from privregret.core.algorithm import NOT_PRIVATE, Steps
from privregret.divergence import kl
from privregret.full_information import FollowTheLeader
from privregret.instances import BernoulliBandit

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="needs compiled kernels")
KINDS = [(numba.float64, numba.float64), (numba.int64, numba.int64)]


def test_code_of_another_signature_and_damaged_code_are_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(jit, "FOLDER", tmp_path)
    kernel = numba.njit(kl.py_func)
    cache = jit._Entries(kernel)
    compiled = {kind: kernel.overloads[kind] for kind in KINDS if kernel.compile(kind)}

    assert cache.load_overload(KINDS[0], kernel.targetctx) is None

    def saved(*kinds):
        """Save code for these types; for which there is some."""
        for kind in kinds:
            cache.save_overload(kind, compiled[kind])
        return [kind for kind in KINDS if cache.load_overload(kind, kernel.targetctx)]

    assert saved(KINDS[0]) == KINDS[:1] and saved(KINDS[1]) == KINDS
    codegen = kernel.targetctx.codegen()
    one, other = (cache.path(compiler.variant(kind, codegen)) for kind in KINDS)
    content = other.read_bytes()
    for damaged in (one.read_bytes(), content[:-1], content[:999] + b"\xff" + content[1000:]):
        other.write_bytes(damaged)
        assert saved() == KINDS[:1]
    assert saved(KINDS[1]) == KINDS
    one.unlink()
    one.mkdir()
    assert saved(KINDS[0]) == KINDS[1:]
    other.unlink()
    monkeypatch.setattr(files.os, "replace", Mock(side_effect=OSError(28, "No space left")))
    assert saved(*KINDS) == []


ARM = np.dtype([("total", float)])
WIDE = np.dtype([("total", float), ("more", float)])
STATE = np.dtype([("best", np.int64)])
CONSTANT, TABLE = 0, np.array([0])


@jit.jit
def observe(arms, state, settings, t, j, reward, rng):
    arms[j]["total"] += reward


def factory(arm):
    return jit.jit(lambda arms, state, settings, t, rng: arm)


def nested(arm):
    inner = factory(arm)
    return jit.jit(lambda arms, state, settings, t, rng: inner(arms, state, settings, t, rng))


@jit.jit
def constant():
    return CONSTANT + TABLE[0]


def played(choose, observe=observe, arm=ARM):
    """What `play` and `regret_curves` make of an algorithm with these steps."""
    names = {"id": "own", "label": "own", "source": "test", "privacy": NOT_PRIVATE}
    names |= {"steps": Steps(arm, STATE, choose, observe), "__module__": __name__}
    own = dataclass(frozen=True)(type("Own", (BanditAlgorithm,), names))()
    live = own.start(2, rng=1)
    assert live.choose() == deepcopy(live).choose() == own.play(np.ones((2, 2)), rng=1)[0]
    assert deepcopy(own.start(2, rng=1)).choose() == live.choose()
    regret = simulate.regret_curves(own, BernoulliBandit("two", (0.75, 0.25)), 4, 1, 1, points=1)
    return own.play(np.ones((4, 2)), rng=1).tolist(), regret.regret[0]


ALWAYS = [([0] * 4, 0.0), ([1] * 4, 2.0)]


def test_no_two_algorithms_share_a_loop():
    for made in (factory, nested):
        zero, one = made(0), made(1)
        assert [played(kernel) for kernel in (zero, one, zero)] == [*ALWAYS, ALWAYS[0]]
    assert played(one, arm=WIDE) == ALWAYS[1]


def test_a_constant_that_changes_is_read_again(monkeypatch):
    """numba takes it, also in kernels that a kernel calls, for what it was at the first call."""
    chosen = jit.jit(lambda arms, state, settings, t, rng: constant())
    assert played(chosen) == ALWAYS[0]
    monkeypatch.setitem(globals(), "CONSTANT", 1)
    assert played(chosen) == ALWAYS[1]
    TABLE[0] = -1
    assert played(chosen) == ALWAYS[0]
    TABLE[0] = 0
    monkeypatch.setitem(globals(), "constant", jit.jit(lambda: 1))
    assert played(chosen) == ALWAYS[1]


def test_loops_have_entries_and_names_of_their_own():
    names = set()
    for kind in (FollowTheLeader, EXP4Local, EXP4Batched):
        for loop in (of(kind.templates, kind.steps) for of in (loops.play, loops.rounds)):
            names.add(loop.__name__)
    # the last two share a step, and entries are known by name
    assert len(names) == 6
    steps = AnytimeLazyUCB.steps
    loop, other = (loops.rounds(loops.BANDIT, s) for s in (steps, steps._replace(state=WIDE)))
    assert type(loop._cache) is type(other._cache) is jit._Entries
    assert loop.__name__ != other.__name__
    mixed = loops.play(loops.BANDIT, steps._replace(observe=observe))
    for own in (mixed, jit.jit(lambda x: x), observe):
        assert type(own._cache) is jit._Entries
    kernel = noise.laplace
    assert kernel.targetoptions["nogil"] and not kernel.targetoptions.get("fastmath")
    assert type(kernel._cache) is jit._Entries
    with pytest.raises(TypeError):
        jit.jit(3)


def summed(n):
    states = np.zeros(1, ARM)
    state = states[0]
    for k in range(n):
        others = np.full(1, float(k))
        state["total"] += others[0]
    typed.keep_alive(states)
    return state["total"]


def test_an_array_is_kept_alive_for_its_record():
    assert numba.njit(summed)(1000) == sum(range(1000))
