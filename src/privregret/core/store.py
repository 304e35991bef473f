"""Store results on disk, each known by its function, its arguments, their code and the libraries.

An entry can be deleted at any time. `PRIVREGRET_STORE=off`, or `disabled()`, switches it off, and
`PRIVREGRET_STORE=fresh` computes and stores everything again.
"""

import functools
import hashlib
import inspect
import io
import os
import pickle
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from operator import attrgetter
from pathlib import Path
from threading import Lock
from types import FunctionType
from typing import Any, TypeVar

import numpy as np

from privregret.core import code_key, files

BYTES = 2**30  # largest total size; what was used longest ago goes first
EVERY = 1000  # after one result in so many a process looks at the size
# their versions are in every key, or Python's is
KNOWN = "builtins", "abc", "typing", "numpy"
FOLDER = files.cache_folder("store")
SWITCHES = code_key.switches()
T = TypeVar("T")
F = TypeVar("F", bound=Callable)
_off, _lock = 0, Lock()


class VersionError(ValueError):
    """A `version` that is no text, or empty."""


class _Pickler(pickle.Pickler):
    """Collects what all classes and functions state; of dataclasses only the fields count."""

    def __init__(self, into):
        super().__init__(into, 5)
        # without a memo equal things have equal bytes
        self.fast, self.stated = True, {}

    def reducer_override(self, thing):
        if type(thing) is np.random.Generator:
            return dict, (thing.bit_generator.state,)
        named = isinstance(thing, (type, FunctionType))
        for kind in getattr(thing if named else type(thing), "__mro__", [thing]):
            if kind.__module__.partition(".")[0] not in KNOWN:
                self.stated[kind] = _stated(kind)
        # a module may hold it under another decorator
        if isinstance(thing, FunctionType):
            return str, (thing.__qualname__,)
        if named or not is_dataclass(thing):
            return NotImplemented
        return type(thing), tuple(getattr(thing, f.name) for f in fields(thing))


def path_of(function: Callable, *known: Any) -> Path | None:
    """Return the file of what a function makes of things: its code counts, and that of all classes
    and functions among the things. None if the package is altered, or if one of them is of unknown
    content or states no `version` though it is not the package's. VersionError for a bad one."""
    return paths_of(function, [known])[0]


def paths_of(function: Callable, several: Iterable[tuple]) -> list[Path | None]:
    """Return the files of what a function makes of several things, see `path_of`."""
    paths = [_path(function, known) for known in several]
    return [None] * len(paths) if any(paths) and code_key.altered() else paths


def _path(function, known):
    if _off or _wanted() in ("off", "0") or code_key.switches() != SWITCHES:
        return None
    try:
        pickler = _Pickler(content := io.BytesIO())
        pickler.dump((function, known))
    except VersionError:
        raise
    except Exception:  # what cannot be pickled can raise any error
        return None
    stated = [*pickler.stated.values()]
    used = {"engine", *(".".join(module.split(".")[1:2]) for module, *_ in stated)}
    code = [hashed for layer, hashed in code_key.LOADED.items() if layer in used]
    return file(FOLDER, (files.digest(content.getvalue()), stated, code, SWITCHES))


def file(folder: Path | None, known: tuple) -> Path | None:
    """Return the path of an entry in a folder, if there is one."""
    key = repr((known, code_key.surroundings())).encode()
    return folder and folder / files.digest(key)


def read(path: Path) -> Any:
    """Return what an entry holds; an error of any kind if it is not there or not whole."""
    content = path.read_bytes() if path.is_file() else b""
    if _checksum(path, content[32:]) != content[:32]:
        raise ValueError(f"{path} is damaged, or another entry")
    os.utime(path)
    return pickle.loads(content[32:])


def _checksum(path, content):
    return hashlib.sha256(path.name.encode() + content).digest()


def write(path: Path | None, content: bytes) -> None:
    """Write an entry with its checksum."""
    if path:
        files.write(path, _checksum(path, content) + content)
        if secrets.randbelow(EVERY) == 0:
            tidy()


def found(path: Path | None, default: Any = None) -> Any:
    """Return what an entry holds, or a default if it is not there, not whole or not wanted."""
    with suppress(Exception):
        return read(path) if path and _wanted() != "fresh" else default
    return default


def keep(made: T, path: Path | None) -> T:
    """Return a result, and write it to its entry where that is possible."""
    keep_all([(made, path)])
    return made


def keep_all(several: Iterable[tuple[Any, Path | None]]) -> None:
    """Write results to their entries where that is possible."""
    wanted = [(made, path) for made, path in several if path]
    for made, path in [] if wanted and code_key.altered() else wanted:
        with suppress(Exception):  # disk full, or a result that cannot be pickled
            write(path, pickle.dumps(made))


def get_or_compute(compute: Callable[[], T], path: Path | None) -> T:
    """Return the result of `compute()`, from its entry or into it where that is possible."""
    made = found(path, _lock)
    return keep(compute(), path) if made is _lock else made


def cached(function: F) -> F:
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

        # how many work decides no number
        known = {name: v for name, v in given.arguments.items() if name != "workers"}
        result, states = get_or_compute(compute, path_of(stored, known))
        for rng, state in zip(drawn, states, strict=True):
            rng.bit_generator.state = state
        return result

    return stored


@contextmanager
def disabled() -> Iterator[None]:
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
        for status, path in sorted(found, key=lambda pair: -pair[0].st_mtime):
            total += status.st_size
            if total > BYTES:
                path.unlink(missing_ok=True)


def _wanted():
    return os.environ.get("PRIVREGRET_STORE", "").lower()


def _stated(kind):
    """Return what stands for the code of a class or function; an error if nothing does."""
    name, module = kind.__qualname__, sys.modules[kind.__module__]
    # others may have the same name
    if inspect.unwrap(attrgetter(name)(module)) is not inspect.unwrap(kind):
        raise AttributeError(f"{name} is not what {module.__name__} holds")
    if kind.__module__.partition(".")[0] == files.PACKAGE.name:
        return kind.__module__, name
    own, path = vars(kind).get("version"), getattr(module, "__file__", None)
    if own is None or path is None:
        raise TypeError(f"{name} states no version")
    if not isinstance(own, str) or not own.strip():
        raise VersionError(f"version of {name} must be a text that is not empty, got {own!r}")
    return module.__name__, name, own, os.path.realpath(path)
