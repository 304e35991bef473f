"""Store results on disk, each known by its arguments, by all code that makes it (see `reach`), and
by the libraries and the machine.

An entry can be deleted at any time. `PRIVREGRET_STORE=off`, or `disabled()`, switches it off, and
`PRIVREGRET_STORE=fresh` computes and stores everything again.
"""

import functools
import hashlib
import inspect
import os
import pickle
import platform
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from llvmlite.binding import get_host_cpu_name
from numba import config

from privregret.core import files, reach

BYTES = 2**30  # largest total size; what was used longest ago goes first
EVERY = 1000  # after one result in so many a process looks at the size
FOLDER = files.cache_folder("store")
# those of numba that decide what it compiles
SWITCHES = """BOUNDSCHECK CPU_FEATURES CPU_NAME DEBUGINFO_DEFAULT DISABLE_INTEL_SVML DISABLE_JIT
    ENABLE_AVX EXTEND_VARIABLE_LIFETIMES LLVM_REFPRUNE_FLAGS LLVM_REFPRUNE_PASS LOOP_VECTORIZE OPT
    SLP_VECTORIZE""".split()
T = TypeVar("T")
F = TypeVar("F", bound=Callable)
_off, _lock = 0, Lock()


@cache
def libraries() -> str:
    """Return the versions of Python and of the libraries that decide numbers."""
    found = {name: version(name) for name in ("numpy", "scipy", "numba", "pandas")}
    return ", ".join(f"{n} {v}" for n, v in {"python": platform.python_version(), **found}.items())


@cache
def surroundings() -> str:
    """Return what else decides numbers and is fixed: the libraries and the machine."""
    return repr((libraries(), sys.version, platform.machine(), get_host_cpu_name(), os.cpu_count()))


def switches() -> tuple:
    """Return numba's switches, as they are now."""
    return tuple(repr(getattr(config, name, None)) for name in SWITCHES)


AT_IMPORT = switches()


def path_of(function: Callable, *known: Any) -> Path | None:
    """Return the file of what a function makes of things: all code counts that it and they can
    reach. None if something is of unknown content."""
    return paths_of(function, [known])[0]


def paths_of(function: Callable, several: Iterable[tuple]) -> list[Path | None]:
    """Return the files of what a function makes of several things, after one look at the code."""
    several = [(function, *known) for known in several]
    if _off or _wanted() in ("off", "0") or switches() != AT_IMPORT:
        return [None] * len(several)
    try:
        found = reach.each(several)
    except Exception:  # what cannot be written can raise any error
        return [path_of(*one) for one in several] if len(several) > 1 else [None]
    return [file(FOLDER, (known.digest, AT_IMPORT)) if known.portable else None for known in found]


def file(folder: Path | None, known: tuple) -> Path | None:
    """Return the path of an entry in a folder, if there is one."""
    key = repr((known, surroundings())).encode()
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


def keep(made: Any, path: Path | None) -> None:
    """Write a result to its entry where that is possible."""
    with suppress(Exception):  # disk full, or a result that cannot be pickled
        write(path, pickle.dumps(made))


def get_or_compute(compute: Callable[[], T], function: Callable, *known: Any) -> T:
    """Return the result of `compute()`, from the entry of `path_of` or into it where possible."""
    path = path_of(function, *known)
    made = found(path, _lock)
    if made is _lock:
        made = compute()
        # not if the code was another one meanwhile
        keep(made, path if path and path_of(function, *known) == path else None)
    return made


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
        for name, value in known.items():
            if isinstance(value, np.random.Generator):
                known[name] = value.bit_generator.state
        result, states = get_or_compute(compute, stored, known)
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
