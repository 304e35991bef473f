"""Say in one line what is wrong with an algorithm of one's own."""

import dis
import inspect
import linecache
import random
import re
import sys
import traceback
from contextlib import suppress
from functools import cache
from itertools import chain
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.extending import is_jitted

from privregret.core import checks, reach
from privregret.core.compiler import NumbaError
from privregret.core.files import PACKAGE
from privregret.core.loops import Stepper, follow
from privregret.core.typed import WrongArm

ROUNDS = 200  # of a rehearsal
# lines of numba's messages that name no cause
FRAMES = "Failed in|During|File|No (impl|match)|>>>|There are|- (Of|Res)|Over|With|raised|Rej|$"
OPTIONS = {"nopython", "nogil", "boundscheck"}  # of numba, which loops decide
METHODS = "start", "play", "run", "settings", "fast_run", "lanes"  # that take part in a run
GENERATORS = random.Random, np.random.RandomState, np.random.Generator
MAKERS = np.random.default_rng, *GENERATORS
# in bytecode, between a function and its call if all arguments are constants
CONSTANTS = {"PUSH_NULL", "LOAD_CONST", "LOAD_SMALL_INT", "KW_NAMES", "PRECALL"}


class OneLine(Exception):
    """An error that notebooks show as one line instead of a traceback."""

    def _render_traceback_(self):
        return [f"{type(self).__name__}: {self}"]


class StepError(OneLine, TypeError):
    """A step of an algorithm that cannot be compiled, or that fails in compiled code."""


# While it plays
# --------------------------------------------------------------------------------------------------


class Explained(NamedTuple):
    """A context: the error of a kernel says in one line which step of the algorithm fails."""

    algorithm: Any
    settings: Any
    sizes: tuple  # numbers of actions and experts

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind, error, trace) -> None:
        if isinstance(error, Exception):
            _explain(error, *self)


def _explain(error, algorithm, settings, sizes):
    """Raise an error in one line, unless it is not of a kernel."""
    # of an algorithm around another one: the other, its settings and its sizes
    while hasattr(algorithm, "inside"):
        algorithm, settings, sizes = algorithm.inside(settings, *sizes)
    kind, step, cause = type(algorithm), "choose", error
    if not isinstance(error, WrongArm):
        kernels = [k for k in (*(algorithm.steps or ()), kind.fast_run) if is_jitted(k)]
        own = any(_of_user(kernel.py_func.__code__.co_filename) for kernel in kernels)
        if not own and not isinstance(error, NumbaError):
            return
        step, cause = _failure(algorithm, settings, sizes) or ("a kernel", error)
    if isinstance(cause, WrongArm):
        raise WrongArm(*cause.args[:3], kind.__name__) from None
    why = f"{_reason(cause)}; NUMBA_DISABLE_JIT=1 in the environment runs it uncompiled"
    raise StepError(f"{step} of {kind.__name__} fails: {why}") from None


def _failure(algorithm, settings, sizes):
    """Return (step, error) of the first failure in a rehearsal, in Python and then compiled."""
    steps, (actions, *experts), stepper = algorithm.steps, sizes, None
    if not (steps and is_jitted(steps.choose)):
        return None
    python = steps._replace(choose=steps.choose.py_func, observe=steps.observe.py_func)
    advice = [np.full((1, n, actions), 1 / actions) for n in experts]
    try:
        numba.typeof(settings)
        for played, rounds in ((python, ROUNDS), (steps, 1)):
            stepper = Stepper(played, settings, sizes, np.random.default_rng(0))
            rows = (np.full(actions, t % 2.0) for t in range(1, rounds + 1))
            follow(stepper, rows, algorithm.templates.row, *advice)
    except Exception as error:
        step = "settings" if stepper is None else "choose" if stepper.arm < 0 else "observe"
        return step, error
    return None


def settings_of(algorithm: Any, *sizes: Any) -> Any:
    """Return algorithm.settings(*sizes), read-only, because several runs share them; the error of
    a user's own says in one line where."""
    try:
        return _locked(algorithm.settings(*sizes))
    except Exception as error:
        if not any(_of_user(f.filename) for f in traceback.extract_tb(error.__traceback__)):
            raise
        what = f"settings of {type(algorithm).__name__} fails: {_reason(error)}"
        raise StepError(what) from None


def _locked(value):
    """Return a value with views of its arrays that cannot be written to."""
    if isinstance(value, tuple):
        return getattr(value, "_make", tuple)(map(_locked, value))
    return checks.read_only(value.view()) if isinstance(value, np.ndarray) else value


def _reason(error):
    """Return the line of an error that names the cause, and where it arose in the user's code."""
    text = str(error)
    if isinstance(error, NumbaError):
        cause = re.search(r"(?m)Cannot determine Numba type.*|^\s*\w+Error: .*", text)
        lines = [x for x in map(str.strip, text.splitlines()) if not re.match(FRAMES, x)]
        reason = cause.group().strip() if cause else [*lines, "numba cannot compile it"][0]
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


# Before it plays
# --------------------------------------------------------------------------------------------------


@cache
def check_class(kind: type) -> None:
    """TypeError for steps or a `start` of another form, or that do not draw from `rng`."""
    if type(kind.steps) is tuple:
        raise TypeError(f"steps of {kind.__name__} must be Steps(...), got a tuple")
    taken = [*inspect.signature(kind.start).parameters] if hasattr(kind, "start") else []
    if "rng" in taken[:2] + taken[3:]:
        wanted = "(self, arms, rng, horizon=None)"
        raise TypeError(f"start of {kind.__name__} must take {wanted}, got {tuple(taken)}")
    # of an algorithm around another one, steps are a property; the other one has been checked
    steps = kind.steps if isinstance(kind.steps, tuple) else None
    kernels = {name: getattr(steps, name, None) for name in ("choose", "observe")}
    for name, kernel in (*kernels.items(), ("fast_run", kind.fast_run)):
        if options := ", ".join({*getattr(kernel, "targetoptions", ())} - OPTIONS):
            why = f"not by numba with {options}"
            raise TypeError(f"{name} of {kind.__name__} must be decorated by @jit, {why}")
    plain = [name for name, kernel in kernels.items() if not is_jitted(kernel)]
    if len(plain) == 1:
        raise TypeError(f"{plain[0]} of {kind.__name__} must be decorated by @jit, as is the other")
    _check_seeded(kind, [*(steps or ()), *(getattr(kind, name, None) for name in METHODS)])


def _check_seeded(kind, things):
    """TypeError if code names a generator that does not come from `rng`: numpy's or Python's global
    one, one that is kept in a class or a global name, or one that always has the same seed."""
    seen = set()
    for thing in things:  # which grow
        for inside in ("py_func", "__func__", "fget", "func"):
            thing = getattr(thing, inside, thing)
        if not isinstance(thing, (type, FunctionType)) or thing in seen:
            continue
        seen.add(thing)
        for name, value in _names(thing, kind.fixed_draws):
            things.append(value)
            if isinstance(getattr(value, "__self__", value), GENERATORS):
                why = f"{name} in {thing.__qualname__} ignores the seed"
                why += " (fixed_draws = True allows fixed seeds)"
                raise TypeError(f"{kind.__name__} must draw from its argument rng: {why}")


def _names(thing, fixed):
    """Yield the members of a class, or the names in a user's function that are not local, such as
    np.random.laplace, and what they are. A generator stands for a call that makes one without a
    seed or, unless `fixed`, from constants."""
    if isinstance(thing, type):
        yield from inspect.getmembers_static(thing)
    if isinstance(thing, type) or not _of_user(thing.__code__.co_filename):
        return
    spaces = {"LOAD_GLOBAL": thing.__globals__, "LOAD_DEREF": {}}
    with suppress(ValueError):  # a cell is empty
        spaces["LOAD_DEREF"] = inspect.getclosurevars(thing).nonlocals
    name, value = "", None
    for step in chain.from_iterable(map(dis.get_instructions, reach.codes(thing))):
        is_maker = any(value is maker for maker in MAKERS)
        if step.opname in spaces:
            name, value = step.argval, spaces[step.opname].get(step.argval)
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(value, (ModuleType, type)):
            name, value = f"{name}.{step.argval}", getattr(value, step.argval, None)
        elif step.opname not in CONSTANTS:
            makes = is_maker and step.opname.startswith("CALL") and not (fixed and step.arg)
            value = random.Random() if makes else None
        yield name, value
    for code in reach.codes(thing):
        # of scipy.stats, which then draw from numpy's global generator
        words = [word for c in code.co_consts if isinstance(c, tuple) for word in c]
        if "rvs" in code.co_names and "random_state" not in words:
            yield "rvs without random_state", random.Random()
