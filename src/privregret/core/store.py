"""Store results on disk, each known by its arguments, by all code that makes it (see `reach`), and
by the libraries and the machine.

An entry can be deleted at any time. `PRIVREGRET_STORE=off`, or `disabled()`, switches it off, and
`PRIVREGRET_STORE=fresh` computes and stores everything again.
"""

import functools
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

from privregret.core import files, reach
from privregret.core.compiler import processor, switches

BYTES = 2**30  # largest total size; what was used longest ago goes first
EVERY = 1000  # after one result in so many a process looks at the size
FOLDER = files.cache_folder("store")
AT_IMPORT = switches()
CHECKSUM = len(files.digest(b""))
T = TypeVar("T")
F = TypeVar("F", bound=Callable)
_off, _lock, _nothing = 0, Lock(), object()


@cache
def libraries() -> str:
    """Return the versions of Python and of the libraries that decide numbers."""
    versions = {name: version(name) for name in ("numpy", "scipy", "numba", "pandas")}
    versions = {"python": platform.python_version(), **versions}
    return ", ".join(f"{name} {number}" for name, number in versions.items())


@cache
def surroundings() -> str:
    """Return what else decides numbers and is fixed: the libraries and the machine."""
    return repr((libraries(), sys.version, platform.machine(), processor(), os.cpu_count()))


def path_of(function: Callable, *arguments: Any) -> Path | None:
    """Return the path of what a function makes of arguments: all code counts that it and they can
    reach. None if something is of unknown content."""
    return paths_of(function, [arguments])[0]


def paths_of(function: Callable, calls: Iterable[tuple]) -> list[Path | None]:
    """Return the paths of what a function makes of arguments, for several calls, after one look at
    the code."""
    groups = [(function, *arguments) for arguments in calls]
    # compiled code goes on with the switches of its first call
    if _off or _mode() in ("off", "0") or switches() != AT_IMPORT:
        return [None] * len(groups)
    try:
        keys = reach.keys(groups)
    except Exception:  # what cannot be written can raise any error
        return [path_of(*group) for group in groups] if len(groups) > 1 else [None]
    return [entry(FOLDER, (key.digest, AT_IMPORT)) if key.portable else None for key in keys]


def entry(folder: Path | None, key: tuple) -> Path | None:
    """Return the path of an entry in a folder, if there is one."""
    return folder and folder / files.digest(repr((key, surroundings())).encode())


def read(path: Path) -> Any:
    """Return what an entry holds; an error of any kind if it is not there or not whole."""
    content = path.read_bytes() if path.is_file() else b""
    if _checksum(path, content[CHECKSUM:]) != content[:CHECKSUM]:
        raise ValueError(f"{path} is damaged, or another entry")
    os.utime(path)
    return pickle.loads(content[CHECKSUM:])


def _checksum(path, content):
    return files.digest(path.name.encode() + content).encode()


def write(path: Path, content: bytes) -> None:
    """Write an entry with its checksum."""
    files.write(path, _checksum(path, content) + content)
    if secrets.randbelow(EVERY) == 0:
        tidy()


def load(path: Path | None, default: Any = None) -> Any:
    """Return what an entry holds, or a default if it is not there, not whole or not wanted."""
    with suppress(Exception):
        return read(path) if path and _mode() != "fresh" else default
    return default


def save(result: Any, path: Path | None) -> None:
    """Write a result to its entry, if it has one and that is possible."""
    with suppress(Exception):  # disk full, or a result that cannot be pickled
        if path:
            write(path, pickle.dumps(result))


def get_or_compute(compute: Callable[[], T], function: Callable, *arguments: Any) -> T:
    """Return the result of `compute()`, from the entry of `path_of` or into it where possible."""
    path = path_of(function, *arguments)
    result = load(path, _nothing)
    if result is _nothing:
        result = compute()
        # not if the code was another one meanwhile
        same = path and path == path_of(function, *arguments)
        save(result, path if same else None)
    return result


def cached(function: F) -> F:
    """Decorate a pure function so that its results are stored, keyed by its arguments. A generator
    among them counts with its state, and is left in the state that computing would leave."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def stored(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        # how many work decides no number
        arguments = {name: v for name, v in bound.arguments.items() if name != "workers"}
        generators = {n: v for n, v in arguments.items() if isinstance(v, np.random.Generator)}

        def states():
            return {name: _state(rng) for name, rng in generators.items()}

        def compute():
            return function(*args, **kwargs), states()

        result, after = get_or_compute(compute, stored, arguments | states())
        for name, state in after.items():
            _restore(generators[name], *state)
        return result

    return stored


def _state(rng):
    """Return the state of a generator, and its seed, which knows how often it has spawned."""
    bits = rng.bit_generator
    return bits.state, getattr(bits.seed_seq, "state", None)


def _restore(rng, state, seed):
    rng.bit_generator.state = state
    if seed:
        sequence = rng.bit_generator.seed_seq
        sequence.spawn(seed["n_children_spawned"] - sequence.n_children_spawned)


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
        total, entries = 0, [(f.stat(), f) for f in FOLDER.rglob("*") if f.is_file()]
        for status, path in sorted(entries, key=lambda pair: -pair[0].st_mtime):
            total += status.st_size
            if total > BYTES:
                path.unlink(missing_ok=True)


def _mode():
    return os.environ.get("PRIVREGRET_STORE", "").lower()
