"""Store results on disk, each known by its function, its arguments, their code and the libraries.

An entry can be deleted at any time. `PRIVREGRET_STORE=off`, or `without()`, switches it off.
"""

import functools
import inspect
import os
import platform
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from importlib.metadata import version
from threading import Lock
from types import FunctionType, MethodType
from typing import Any, TypeVar

import joblib
import numba
import numpy as np
import pandas as pd

from privregret.core import code_key, files

BYTES = 2**30  # largest total size; what was used longest ago goes first
EVERY = 1000  # after one result in so many a process looks at the size
LEAVES = *code_key.LEAVES, np.random.Generator, pd.DataFrame, pd.Series
CHANGING = list, dict, np.ndarray  # while they stay the same objects
T = TypeVar("T")
F = TypeVar("F", bound=Callable)
_off, _lock = 0, Lock()


def _recalled(entry, compute):
    return compute()


def _opened(folder):
    """Return joblib's memory of a folder and the memorised `_recalled`."""
    try:
        memory = joblib.Memory(folder, verbose=0)
        return memory, memory.cache(_recalled, ignore=["compute"])
    except OSError:  # disk full
        return _opened(None)


MEMORY, MEMORISED = _opened(files.cache_folder("store"))


def entry(function: Callable, *known: Any) -> str | None:
    """Return the name of the entry of what a function makes of things: its code counts, that of all
    classes and functions among the things, and the values in their modules. None for a lambda, for
    what functions and notebooks define, and once code was edited after it was loaded."""
    if _off or os.environ.get("PRIVREGRET_STORE", "").lower() in ("off", "0"):
        return None
    try:
        kinds: set = set()
        content = plain(known, kinds)
        modules = code_key.used(__name__, function, *kinds)
        # <lambda> and <locals> are names that others have as well
        if "<" in function.__qualname__ or not code_key.unchanged(modules):
            return None
        name, code = (function.__module__, function.__qualname__), code_key.key(modules)
        held, first = _held(frozenset(sys.modules.keys() & modules))
        now = [(n, at.get(n)) for at, n, v in held if at.get(n) is not v or isinstance(v, CHANGING)]
        return joblib.hash((name, content, code, first, now, _surroundings()))
    except Exception:  # what cannot be pickled can raise any error
        return None


def recall(compute: Callable[[], T], known: str | None) -> T:
    """Return the result of `compute()`, from its entry if it is there and whole, and store it where
    that is possible."""
    if known is None:
        return compute()
    begun, made = [], []

    def once():
        begun.append(True)
        made.append(compute())
        return made[0]

    for _ in ("read", "replace what is damaged"):
        found = None
        try:
            found = MEMORISED.call_and_shelve(known, once)
            if not made:
                return found.get()
        except Exception:
            if begun and not made:
                raise
        if made:
            if secrets.randbelow(EVERY) == 0:
                tidy()
            return made[0]
        with suppress(Exception):
            found.clear()
    return compute()


def holds(known: str | None) -> bool:
    """Return whether an entry is there."""
    with suppress(OSError):
        return known is not None and MEMORISED.check_call_in_cache(known, None)
    return False


def kept(function: F) -> F:
    """Decorate a pure function so that its results are stored, keyed by its arguments. A generator
    among them counts with its state, and is left in the state that computing would leave."""
    signature = inspect.signature(function)
    code_key.look(function.__module__)

    @functools.wraps(function)
    def stored(*args, **kwargs):
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        drawn = [v for v in given.arguments.values() if isinstance(v, np.random.Generator)]

        def compute():
            return function(*args, **kwargs), [rng.bit_generator.state for rng in drawn]

        result, states = recall(compute, entry(function, given.arguments))
        for rng, state in zip(drawn, states, strict=True):
            rng.bit_generator.state = state
        return result

    return stored


@contextmanager
def without() -> Iterator[None]:
    """Switch the store off within a context, in all threads of this process."""
    global _off
    with _lock:
        _off += 1
    try:
        yield
    finally:
        with _lock:
            _off -= 1


def tidy() -> None:
    """Remove what was used longest ago until the store is at most `BYTES` large."""
    with suppress(OSError):  # another process removes as well
        MEMORY.reduce_size(BYTES)


@functools.cache
def _surroundings():
    libraries = [version(name) for name in ("numpy", "scipy", "numba", "pandas")]
    return libraries, sys.version_info[:2], platform.machine(), bool(numba.config.DISABLE_JIT)


@functools.cache
def _held(modules):
    """Return where modules and their classes hold which data, and a hash of them."""
    places = [sys.modules[name] for name in sorted(modules)]
    kinds = dict.fromkeys(k for at in places for k in vars(at).values() if isinstance(k, type))
    places += [kind for kind in kinds if kind.__module__ in modules]
    named = ((vars(at), n) for at in places for n in sorted(vars(at)) if n[:2] != "__")
    held = [(at, n, at[n]) for at, n in named if code_key.is_data(at[n])]
    return held, joblib.hash([(n, v) for _, n, v in held])


def plain(thing: Any, kinds: set) -> Any:
    """Return dataclasses as their fields, without what they cache, and dicts in their order; all
    classes and functions in it are added to `kinds`. TypeError for what joblib would hash although
    its code is unknown, such as `functools.partial`."""
    if isinstance(thing, (type, FunctionType)):
        kinds.add(thing)
        return thing
    kinds.add(type(thing))
    if isinstance(thing, dict):
        return dict, [(plain(key, kinds), plain(value, kinds)) for key, value in thing.items()]
    if isinstance(thing, (tuple, list)):
        return type(thing), [plain(item, kinds) for item in thing]
    if isinstance(thing, MethodType):
        return thing.__name__, plain(thing.__self__, kinds)
    if is_dataclass(thing):
        return type(thing), [plain(getattr(thing, f.name), kinds) for f in fields(thing)]
    if isinstance(thing, LEAVES) and not getattr(getattr(thing, "dtype", None), "hasobject", False):
        return thing
    raise TypeError(f"a {type(thing).__name__} has no entry")
