"""Say in one line what is wrong with the steps of an algorithm of one's own."""

import dis
import linecache
import os
import random
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.core.errors import NumbaError
from numba.extending import is_jitted

from privregret.core.files import PACKAGE
from privregret.core.templates import WrongArm

ROUNDS = 200  # of a rehearsal
# lines of numba's messages that name no cause
FRAMES = "Failed in|During|File|No (impl|match)|>>>|There are|- (Of|Res)|Over|With|raised|Rej|$"
GENERATORS = random.Random, np.random.RandomState, np.random.Generator
METHODS = "start", "play", "run", "settings", "events", "lanes"  # that take part in a run
CONSTANT = "LOAD_CONST", "LOAD_SMALL_INT"
BESIDE = "CACHE", "PRECALL", "PUSH_NULL", "KW_NAMES"


class StepError(TypeError):
    """A step of an algorithm that cannot be compiled, or that fails in compiled code."""

    def _render_traceback_(self):
        return [f"StepError: {self}"]  # shown as one line instead of a traceback


def named(
    error: Exception, kind: type, settings: Any, whole: bool, *sizes: int
) -> Exception | None:
    """Return the error of one line to raise for that of a kernel, or None if it says enough.

    `whole` says whether steps observe the losses of all actions; `sizes` are the numbers of actions
    and experts.
    """
    if isinstance(error, WrongArm):
        return WrongArm(*error.args[:3], kind.__name__)
    steps = kind.steps
    kernels = [k.py_func for k in (*(steps or ()), kind.events, kind.lanes) if is_jitted(k)]
    if not isinstance(error, NumbaError) and not any(map(_own, kernels)):
        return None
    if steps and is_jitted(steps.choose) != is_jitted(steps.observe):
        plain = "observe" if is_jitted(steps.choose) else "choose"
        return StepError(f"{plain} of {kind.__name__} must be decorated by @jit, as the other step")
    step, cause = "a kernel", error
    if steps and is_jitted(steps.choose):
        step, cause = _rehearsed(steps, settings, whole, *sizes) or (step, error)
    if isinstance(cause, WrongArm):
        return WrongArm(*cause.args, kind.__name__)
    hint = "NUMBA_DISABLE_JIT=1 in the environment runs it uncompiled"
    return StepError(f"{step} of {kind.__name__} fails: {_reason(cause)}{_place(cause)}; {hint}")


def _rehearsed(steps, settings, whole, actions, experts=0):
    """Return (step, error) of the first failure, played in Python and then compiled, or None."""
    step, losses = "settings", np.zeros(actions)
    advice = (np.full((experts, actions), 1 / actions),) if experts else ()
    try:
        numba.typeof(settings)
        for rounds in (ROUNDS, 1):
            *arms, owns = steps.memory(actions, experts)
            given, rng = (*arms, owns[0], settings), np.random.default_rng(0)
            for t in range(1, rounds + 1):
                python = [getattr(k, "py_func", k) for k in (steps.choose, steps.observe)]
                choose, observe = python if rounds > 1 else (steps.choose, steps.observe)
                step = "choose"
                arm = choose(*given, t, *advice, rng)
                if not isinstance(arm, (int, np.integer)) or not 0 <= arm < actions:
                    raise WrongArm(arm, t, actions)
                step, losses[int(arm)] = "observe", t % 2
                seen = losses.copy() if whole else float(t % 2)
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


def _own(function):
    return _of_user(function.__code__.co_filename)


# Randomness that no seed of ours decides


@cache
def check_seeded(kind: type) -> None:
    """TypeError if the steps or the learner of a class draw from numpy's or Python's global
    generator, or from one that always has the same seed, where this can be read off the code."""
    todo, seen = [*(kind.steps or ()), *(getattr(kind, name, None) for name in METHODS)], set()
    for thing in todo:
        thing = getattr(thing, "py_func", getattr(thing, "__func__", thing))
        if isinstance(thing, type) and thing.__module__.partition(".")[0] != PACKAGE.name:
            inner = {n: v for base in thing.__mro__[::-1] for n, v in vars(base).items()}
            todo += [v for v in inner.values() if isinstance(v, (FunctionType, staticmethod))]
            if held := [n for n, v in inner.items() if isinstance(v, GENERATORS)]:
                why = f"got {thing.__name__}.{held[0]}, which ignores the seed"
                raise TypeError(f"{kind.__name__} must draw from its argument rng, {why}")
        if not isinstance(thing, FunctionType) or thing in seen or not _own(thing):
            continue
        seen.add(thing)
        for words, found, fixed in _used(thing):
            if _unseeded(found, fixed):
                code = thing.__code__
                where = f"{thing.__name__} ({Path(code.co_filename).name}:{code.co_firstlineno})"
                why = f"got {words} in {where}, which ignores the seed"
                raise TypeError(f"{kind.__name__} must draw from its argument rng, {why}")
            todo.append(found)


def _unseeded(thing, fixed):
    """Return whether a thing draws without our seed; `fixed`: it is called without variables."""
    of = getattr(thing, "__module__", None) or ""
    made = callable(thing) and (of == "random" or of.startswith("numpy.random"))
    held = isinstance(thing, GENERATORS) or isinstance(getattr(thing, "__self__", 0), GENERATORS)
    return held or of == "secrets" or thing is os.urandom or (made and fixed)


def _used(function) -> Iterator[tuple[str, Any, bool]]:
    """Yield what code takes from globals, cells and imports: name, object, whether it is called
    with constants alone."""
    names = dict(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # an empty cell
            names[name] = cell.cell_contents
    codes, missing = [function.__code__], object()
    for code in codes:
        codes += [c for c in code.co_consts if isinstance(c, CodeType)]
        words, thing, constants, imported, module, here = "", missing, 0, missing, None, {}
        for line in dis.get_instructions(code):
            name, value = line.opname, line.argval
            if name in CONSTANT:
                constants += 1
                continue
            if name in BESIDE:
                continue
            if name in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(thing, (ModuleType, type)):
                words, thing = f"{words}.{value}", getattr(thing, value, missing)
                continue
            if thing is not missing:
                given = constants - (name == "CALL_KW")
                yield words, thing, name.startswith("CALL") and line.arg == given
            if imported is not missing and name.startswith("STORE_FAST"):
                here[value if isinstance(value, str) else value[0]] = imported
            words, thing, constants, imported = str(value), missing, 0, missing
            if name in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"):
                thing = names.get(value, missing)
            elif name == "LOAD_FAST":
                thing = here.get(value, missing)
            elif name == "IMPORT_NAME":
                imported = module = sys.modules.get(value, missing)
            elif name == "IMPORT_FROM":
                imported = getattr(module, value, missing)
