"""Say in one line what is wrong with an algorithm of one's own."""

import ast
import inspect
import linecache
import os
import random
import re
import sys
import textwrap
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.extending import is_jitted

from privregret.core import checks
from privregret.core.compiler import NumbaError
from privregret.core.files import PACKAGE
from privregret.core.typed import WrongArm, arm_of

ROUNDS = 200  # of a rehearsal
# lines of numba's messages that name no cause
FRAMES = "Failed in|During|File|No (impl|match)|>>>|There are|- (Of|Res)|Over|With|raised|Rej|$"
GENERATORS = random.Random, np.random.RandomState, np.random.Generator
OPTIONS = {"nopython", "nogil", "boundscheck"}  # of numba, which loops decide
METHODS = "start", "play", "run", "settings", "fast_run", "lanes"  # that take part in a run


class OneLine(Exception):
    """An error that notebooks show as one line instead of a traceback."""

    def _render_traceback_(self):
        return [f"{type(self).__name__}: {self}"]


class StepError(OneLine, TypeError):
    """A step of an algorithm that cannot be compiled, or that fails in compiled code."""


def called(algorithm: Any, settings: Any, sizes: Any, loop: Callable, *given: Any) -> Any:
    """Return loop(*given); the error of a kernel says in one line which step fails.

    `sizes` are the numbers of actions and experts. Of an algorithm around another one, `inside`
    returns the other, its settings and its sizes.
    """
    try:
        return loop(*given)
    except Exception as error:
        while hasattr(algorithm, "inside"):
            algorithm, settings, sizes = algorithm.inside(settings, *sizes)
        kind, cause = type(algorithm), error
        steps, of = kind.steps, f"of {kind.__name__}"
        if isinstance(error, WrongArm):
            raise WrongArm(*error.args[:3], kind.__name__) from None
        kernels = [k.py_func for k in (*(steps or ()), kind.fast_run) if is_jitted(k)]
        own = any(_of_user(kernel.__code__.co_filename) for kernel in kernels)
        if not own and not isinstance(error, NumbaError):
            raise
        step = "a kernel"
        if steps and is_jitted(steps.choose) != is_jitted(steps.observe):
            plain = "observe" if is_jitted(steps.choose) else "choose"
            raise StepError(f"{plain} {of} must be decorated by @jit, as the other step") from None
        if steps and is_jitted(steps.choose):
            step, cause = _rehearsed(kind, settings, *sizes) or (step, error)
        if isinstance(cause, WrongArm):
            raise WrongArm(*cause.args[:3], kind.__name__) from None
        hint = "NUMBA_DISABLE_JIT=1 in the environment runs it uncompiled"
        raise StepError(f"{step} {of} fails: {_reason(cause)}; {hint}") from None


def settings_of(algorithm: Any, *given: Any) -> Any:
    """Return algorithm.settings(*given), read-only, because several runs share them; the error of
    a user's own says in one line where."""
    try:
        return _locked(algorithm.settings(*given))
    except Exception as error:
        if not any(_of_user(f.filename) for f in traceback.extract_tb(error.__traceback__)):
            raise
        what = f"settings of {type(algorithm).__name__} fails: {_reason(error)}"
        raise StepError(what) from None


def _locked(value):
    """Return a value with views of its arrays that cannot be written to."""
    if isinstance(value, tuple):
        return getattr(value, "_make", tuple)(map(_locked, value))
    return checks.lock(value.view()) if isinstance(value, np.ndarray) else value


def _rehearsed(kind, settings, actions, experts=0):
    """Return (step, error) of the first failure, played in Python and then compiled, or None."""
    step, steps, losses = "settings", kind.steps, np.zeros(actions)
    advice = (np.full((experts, actions), 1 / actions),) if experts else ()
    try:
        numba.typeof(settings)
        compiled = steps.choose, steps.observe
        for (choose, observe), rounds in (([k.py_func for k in compiled], ROUNDS), (compiled, 1)):
            *arms, states = steps.memory(actions, experts)
            given, rng = (*arms, states[0], settings), np.random.default_rng(0)
            for t in range(1, rounds + 1):
                step = "choose"
                arm = arm_of(choose(*given, t, *advice, rng), t, actions)
                step, losses[arm] = "observe", t % 2
                seen = losses.copy() if kind.templates.row else float(t % 2)
                observe(*given, t, *advice, arm, seen, rng)
    except Exception as error:
        return step, error
    return None


def _reason(error):
    """Return the line of an error that names the cause, and where it arose in the user's code."""
    text = str(error)
    if isinstance(error, NumbaError):
        told = re.search(r"(?m)Cannot determine Numba type.*|^\s*\w+Error: .*", text)
        lines = [x for x in map(str.strip, text.splitlines()) if not re.match(FRAMES, x)]
        reason = told.group().strip() if told else [*lines, "numba cannot compile it"][0]
        frames = [(file, int(line)) for file, line in re.findall(r"at (.+) \((\d+)\)", text)]
    else:
        reason = f"{type(error).__name__}: {' '.join(text.split())}"
        frames = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)][::-1]
    for file, line in frames:
        if _of_user(file):
            where = f"{linecache.getline(file, line).strip()!r} ({Path(file).name}:{line})"
            return f"{reason[:200]} in {where}"
    return reason[:200]


def _of_user(file):
    """Return whether code in a file belongs neither to this package nor to a library."""
    path = Path(file)
    library = {"site-packages", "dist-packages"}.intersection(path.parts)
    inside = PACKAGE in path.parents or file.startswith((sys.base_prefix + "/lib", "<frozen"))
    return not library and not inside


@cache
def check_options(kind: type) -> None:
    """TypeError for steps or a `fast_run` with options of numba, which a loop around it drops."""
    for name in ("choose", "observe", "fast_run"):
        kernel = getattr(kind.steps, name, getattr(kind, name, None))
        if options := ", ".join({*getattr(kernel, "targetoptions", ())} - OPTIONS):
            why = f"not by numba with {options}"
            raise TypeError(f"{name} of {kind.__name__} must be decorated by @jit, {why}")


@cache
def check_seeded(kind: type) -> None:
    """TypeError if the steps or the learner of a class draw from numpy's or Python's global
    generator, or from one that always has the same seed, where their source says so."""
    # of an algorithm around another one, steps are a property; the other one has been checked
    steps = kind.steps if isinstance(kind.steps, tuple) else ()
    todo, seen = [*steps, *(getattr(kind, name, None) for name in METHODS)], set()
    for thing in todo:
        for inside in ("py_func", "__func__", "fget", "func"):
            thing = getattr(thing, inside, thing)
        if not isinstance(thing, (type, FunctionType)) or thing in seen:
            continue
        seen.add(thing)
        used = []
        if isinstance(thing, type):
            used = [(f"{thing.__name__}.{n}", v) for n, v in inspect.getmembers_static(thing)]
        elif _of_user(file := thing.__code__.co_filename):
            where = f"{thing.__name__} ({Path(file).name}:{thing.__code__.co_firstlineno})"
            uses = _used(thing, kind.fixed_draws)
            used = [(f"{words} in {where}", found) for words, found in uses]
        for words, found in used:
            todo.append(found)
            if isinstance(getattr(found, "__self__", found), GENERATORS) or found is os.urandom:
                why = f"got {words}, which ignores the seed (fixed_draws = True allows fixed seeds)"
                raise TypeError(f"{kind.__name__} must draw from its argument rng, {why}")


def _used(function, fixed):
    """Yield (words, thing) for what source takes from elsewhere; a generator stands for a call that
    makes one without variables, so that it has no seed or always the same."""
    try:
        nodes = [*ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function))))]
        names = function.__globals__ | inspect.getclosurevars(function).nonlocals
    except (OSError, SyntaxError, ValueError):  # none, part of a line, or an empty cell
        return
    stored = (n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    own = {*stored, *(n.arg for n in nodes if isinstance(n, ast.arg))}
    for node in nodes:
        is_call = isinstance(node, ast.Call)
        words = ast.unparse(node.func if is_call else node)
        first, *rest = words.split(".")
        found = None if first in own else names.get(first)
        for name in rest:
            found = getattr(found, name, None) if isinstance(found, (ModuleType, type)) else None
        if is_call and found in (np.random.default_rng, *GENERATORS):
            free = own.isdisjoint(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
            meant = fixed and (node.args or node.keywords)
            found = random.Random() if free and not meant else None
        # of scipy.stats
        if is_call and rest[-1:] == ["rvs"] and all(k.arg != "random_state" for k in node.keywords):
            found = random.Random()
        if found is not None:
            yield words, found
