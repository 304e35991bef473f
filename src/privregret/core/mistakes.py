"""Say in one line what is wrong with the steps of an algorithm of one's own."""

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
from numba.core.errors import NumbaError
from numba.extending import is_jitted

from privregret.core.files import PACKAGE
from privregret.core.loops import LOSSES
from privregret.core.templates import WrongArm

ROUNDS = 200  # of a rehearsal
# lines of numba's messages that name no cause
FRAMES = "Failed in|During|File|No (impl|match)|>>>|There are|- (Of|Res)|Over|With|raised|Rej|$"
GENERATORS = random.Random, np.random.RandomState, np.random.Generator
METHODS = "start", "play", "run", "settings", "events", "lanes"  # that take part in a run


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
        kind = type(algorithm)
        if isinstance(error, WrongArm):
            raise WrongArm(*error.args[:3], kind.__name__) from None
        kernels = [k.py_func for k in (*(kind.steps or ()), kind.events) if is_jitted(k)]
        own = any(_of_user(kernel.__code__.co_filename) for kernel in kernels)
        if not own and not isinstance(error, NumbaError):
            raise
        if kind.steps and is_jitted(kind.steps.choose) != is_jitted(kind.steps.observe):
            plain = "observe" if is_jitted(kind.steps.choose) else "choose"
            why = f"{plain} of {kind.__name__} must be decorated by @jit, as the other step"
            raise StepError(why) from None
        step, cause = "a kernel", error
        if kind.steps and is_jitted(kind.steps.choose):
            step, cause = _rehearsed(kind, settings, *sizes) or (step, error)
        if isinstance(cause, WrongArm):
            raise cause from None
        hint = "NUMBA_DISABLE_JIT=1 in the environment runs it uncompiled"
        why = f"{step} of {kind.__name__} fails: {_reason(cause)}{_place(cause)}; {hint}"
        raise StepError(why) from None


def _rehearsed(kind, settings, actions, experts=0):
    """Return (step, error) of the first failure, played in Python and then compiled, or None."""
    step, steps, losses = "settings", kind.steps, np.zeros(actions)
    advice = (np.full((experts, actions), 1 / actions),) if experts else ()
    try:
        numba.typeof(settings)
        compiled = steps.choose, steps.observe
        python = [getattr(kernel, "py_func", kernel) for kernel in compiled]
        for (choose, observe), rounds in ((python, ROUNDS), (compiled, 1)):
            *arms, owns = steps.memory(actions, experts)
            given, rng = (*arms, owns[0], settings), np.random.default_rng(0)
            for t in range(1, rounds + 1):
                step = "choose"
                arm = choose(*given, t, *advice, rng)
                if not isinstance(arm, (int, np.integer)) or not 0 <= arm < actions:
                    raise WrongArm(arm, t, actions, kind.__name__)
                step, losses[int(arm)] = "observe", t % 2
                seen = losses.copy() if kind.templates is LOSSES else float(t % 2)
                observe(*given, t, *advice, int(arm), seen, rng)
    except Exception as error:
        return step, error
    return None


def _reason(error):
    """Return the line of an error that names the cause."""
    text = str(error)
    if not isinstance(error, NumbaError):
        return f"{type(error).__name__}: {' '.join(text.split())}"[:200]
    told = re.search(r"(?m)Cannot determine Numba type.*|^\s*\w+Error: .*", text)
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if not re.match(FRAMES, line)), "numba cannot compile it")
    return (told.group().strip() if told else first)[:200]


def _place(error):
    """Return where an error was raised in code of one's own, as text to append."""
    frames = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)][::-1]
    if isinstance(error, NumbaError):
        frames = [(file, int(line)) for file, line in re.findall(r"at (.+) \((\d+)\)", str(error))]
    for file, line in frames:
        if _of_user(file):
            return f" in {linecache.getline(file, line).strip()!r} ({Path(file).name}:{line})"
    return ""


def _of_user(file):
    """Return whether code in a file belongs neither to this package nor to a library."""
    path = Path(file)
    library = {"site-packages", "dist-packages"}.intersection(path.parts)
    inside = PACKAGE in path.parents or file.startswith((sys.base_prefix + "/lib", "<frozen"))
    return not library and not inside


# Randomness that no seed of ours decides


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
        if isinstance(thing, type):
            inner = {n: v for base in thing.__mro__[::-1] for n, v in vars(base).items()}
            todo += inner.values()
            if held := [n for n, v in inner.items() if isinstance(v, GENERATORS)]:
                why = f"got {thing.__name__}.{held[0]}, which ignores the seed"
                raise TypeError(f"{kind.__name__} must draw from its argument rng, {why}")
        elif _of_user(file := thing.__code__.co_filename):
            for words, found, fixed in _used(thing):
                if _unseeded(found, fixed):
                    where = f"{thing.__name__} ({Path(file).name}:{thing.__code__.co_firstlineno})"
                    why = f"got {words} in {where}, which ignores the seed"
                    raise TypeError(f"{kind.__name__} must draw from its argument rng, {why}")
                todo.append(found)


def _unseeded(thing, fixed):
    """Return whether a thing draws without our seed; `fixed`: it is called without variables."""
    of = getattr(thing, "__module__", None) or ""
    held = isinstance(getattr(thing, "__self__", thing), GENERATORS)
    made = fixed and (of == "random" or of.startswith("numpy.random"))
    return held or made or of == "secrets" or thing is os.urandom


def _used(function):
    """Yield what source takes from elsewhere: words, thing, whether called without variables."""
    try:
        nodes = [*ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function))))]
        names = function.__globals__ | inspect.getclosurevars(function).nonlocals
    except (OSError, SyntaxError, ValueError):  # none, part of a line, or an empty cell
        return
    own = {n.arg for n in nodes if isinstance(n, ast.arg)}
    own |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    names = {name: value for name, value in names.items() if name not in own}
    for node in nodes:
        for of in node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
            inner = isinstance(node, ast.ImportFrom)
            module = sys.modules.get(node.module if inner else of.name)
            names[of.asname or of.name] = getattr(module, of.name, None) if inner else module

    def resolved(node):
        if isinstance(node, ast.Name):
            return names.get(node.id)
        at = resolved(node.value) if isinstance(node, ast.Attribute) else None
        return getattr(at, node.attr, None) if isinstance(at, (ModuleType, type)) else None

    for node in nodes:
        called = node.func if isinstance(node, ast.Call) else node
        if (found := resolved(called)) is not None:
            used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            yield ast.unparse(called), found, called is not node and own.isdisjoint(used)
