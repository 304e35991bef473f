"""Store results on disk, each known by its function, its arguments, their code and the libraries.

An entry can be deleted at any time. `PRIVREGRET_STORE=off`, or `without()`, switches it off, and
`PRIVREGRET_STORE=fresh` computes and stores everything again.
"""

import functools
import inspect
import os
import pickle
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from operator import attrgetter
from pathlib import Path
from threading import Lock
from types import FunctionType, MethodType
from typing import Any, TypeVar

import joblib
import numpy as np

from privregret.core import code_key, files, jit

BYTES = 2**30  # largest total size; what was used longest ago goes first
EVERY = 1000  # after one result in so many a process looks at the size
LEAVES = *code_key.SCALARS, range, np.ndarray
# of classes in these modules nothing is stated
PLAIN = "builtins", "abc", "typing"
FOLDER = files.cache_folder("store")
SWITCHES = jit.switches()
T = TypeVar("T")
F = TypeVar("F", bound=Callable)
_off, _lock = 0, Lock()


class VersionError(ValueError):
    """A `version` that is no text, or empty."""


def entry(function: Callable, *known: Any) -> Path | None:
    """Return the file of what a function makes of things: its code counts, and that of all classes
    and functions among the things. None if the package is altered, or if one of them is of unknown
    content or states no `version` though it is not the package's. VersionError for a bad one."""
    if _off or FOLDER is None or _wanted() in ("off", "0") or jit.switches() != SWITCHES:
        return None
    try:
        stated: dict = {}
        content = plain((function, *known), stated)
        used = {".".join(module.split(".")[:2]) for module, *_ in stated.values()}
        code = [h for n, h in code_key.LOADED.items() if n == "engine" or f"privregret.{n}" in used]
        rest = code_key.surroundings(), SWITCHES
        key = joblib.hash((content, [*stated.values()], code, rest))
    except VersionError:
        raise
    except Exception:  # classes and objects of others can raise any error
        return None
    return None if code_key.altered() else FOLDER / f"{key}.pkl"


def holds(file: Path | None) -> bool:
    """Return whether an entry is there, to be read."""
    return file is not None and _wanted() != "fresh" and file.is_file()


def recall(compute: Callable[[], T], file: Path | None) -> T:
    """Return the result of `compute()`, from its entry if it is there and whole, and store it where
    that is possible."""
    if file is not None and holds(file):
        with suppress(Exception):  # unpickling can raise any error
            found = pickle.loads(files.unseal(file.read_bytes()))
            os.utime(file)
            return found
    made = compute()
    if file is not None and code_key.unchanged() and not code_key.altered():
        with suppress(Exception):  # disk full, or a result that cannot be pickled
            files.write(file, files.seal(pickle.dumps(made)))
            if secrets.randbelow(EVERY) == 0:
                tidy()
    return made


def kept(function: F) -> F:
    """Decorate a pure function so that its results are stored, keyed by its arguments. A generator
    among them counts with its state, and is left in the state that computing would leave."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def stored(*args, **kwargs):
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        drawn = [v for v in given.arguments.values() if isinstance(v, np.random.Generator)]

        def compute():
            return function(*args, **kwargs), [rng.bit_generator.state for rng in drawn]

        result, states = recall(compute, entry(stored, given.arguments))
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
        total, found = 0, [(f.stat(), f) for f in FOLDER.rglob("*") if f.is_file()]
        for status, file in sorted(found, key=lambda pair: -pair[0].st_mtime):
            total += status.st_size
            if total > BYTES:
                file.unlink(missing_ok=True)


def plain(thing: Any, stated: dict) -> Any:
    """Return dataclasses as their fields, without what they cache, and dicts in their order; what
    all classes and functions in it state is added to `stated`. TypeError for what is of unknown
    content, such as `functools.partial`, AttributeError for what its module does not hold."""
    if isinstance(thing, (type, FunctionType)):
        kinds = thing.__mro__ if isinstance(thing, type) else [thing]
        stated.update((k, _stated(k)) for k in kinds if k.__module__ not in PLAIN)
        return thing.__module__, thing.__qualname__
    number = isinstance(thing, np.generic) and type(thing).__module__ == "numpy"
    if number or type(thing) in LEAVES:
        if getattr(getattr(thing, "dtype", None), "hasobject", False):
            raise TypeError("an array of objects has no entry")
        return thing
    if isinstance(thing, np.random.Generator):
        return plain(thing.bit_generator.state, stated)
    kind = plain(type(thing), stated)
    if isinstance(thing, dict):
        return kind, [(plain(key, stated), plain(value, stated)) for key, value in thing.items()]
    if isinstance(thing, (tuple, list)):
        return kind, [plain(item, stated) for item in thing]
    if isinstance(thing, MethodType):
        return thing.__name__, plain(thing.__self__, stated)
    if is_dataclass(thing):
        names = [f.name for f in fields(thing)]
        cached = (getattr(type(thing), n, None) for n in vars(thing).keys() - {*names})
        if all(isinstance(one, functools.cached_property) for one in cached):
            return kind, [plain(getattr(thing, name), stated) for name in names]
    raise TypeError(f"a {type(thing).__name__} has no entry")


def _wanted():
    return os.environ.get("PRIVREGRET_STORE", "").lower()


def _stated(kind):
    """Return what stands for the code of a class or function; TypeError if nothing does."""
    name, module = kind.__qualname__, sys.modules[kind.__module__]
    # another one may have the same name
    if inspect.unwrap(attrgetter(name)(module)) is not inspect.unwrap(kind):
        raise AttributeError(f"{name} is not what {module.__name__} holds")
    if kind.__module__.partition(".")[0] == files.PACKAGE.name:
        return kind.__module__, name
    own, file = vars(kind).get("version"), getattr(module, "__file__", None)
    is_field = is_dataclass(kind) and "version" in {f.name for f in fields(kind)}
    prompt = kind.__module__ == "__main__" and hasattr(sys, "ps1")
    if own is None or file is None or is_field or prompt:
        raise TypeError(f"{name} states no version")
    if not isinstance(own, str) or not own.strip():
        raise VersionError(f"version of {name} must be a text that is not empty, got {own!r}")
    return module.__name__, name, own, os.path.realpath(file)
