"""Store results on disk, so that they are not computed again.

An entry is a file whose name is a hash of everything that determines the result: sources, arguments
and library versions. It can be deleted at any time, and damaged entries are computed again.
`PRIVREGRET_STORE=off` in the environment, or `without()`, switches the store off.
"""

import functools
import hashlib
import inspect
import os
import pickle
import platform
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from threading import Lock
from types import FunctionType, MethodType
from typing import Any, TypeVar

import numba
import numpy as np

from privregret import files, sources

FOLDER = files.cache_folder("store")
BYTES = 2**30  # largest total size; the entries used last are kept
FAST = 0.002  # seconds below which computing a result is as fast as reading it
EVERY = 2**26  # bytes after which this process checks the total size again
LIBRARIES = ("numpy", "scipy", "numba", "pandas")
LEFT = 3600  # seconds after which an unfinished file is abandoned
T = TypeVar("T")
F = TypeVar("F", bound=Callable)

# contexts that switch the store off; bytes written since the last check
_switch = {
    "off": 0,
    "written": time.time_ns() % EVERY,  # at random: who writes little rarely looks at the size
}
_lock = Lock()


class Unknown(TypeError):
    """Report an object of unknown content or sources: an open file, a lambda."""


class Entry:
    """Locate one result in the store: `get` it, or compute it and `keep` it.

    Parameters
    ----------
    *parts
        Everything that determines the result: numbers, strings, arrays, generators, dataclasses,
        classes and functions of the package, and tuples, lists and dicts of these. If any other
        object is among them, such as a lambda, nothing is kept.
    used : set of Path
        Sources on which the computation depends, as `sources.used_by` lists them. The sources of
        the classes and functions among `parts` are added.

    Examples
    --------
    >>> entry = Entry("squares", 3, used=sources.used_by(sources))
    >>> entry.keep([0, 1, 4])
    >>> entry.get() in ([0, 1, 4], None)  # None if the store is off
    True
    """

    def __init__(self, *parts, used=frozenset()):
        self.place = None if off() else _place(parts, used)

    def get(self, default: Any = None) -> Any:
        """Return the stored result, or `default` if it is missing or damaged.

        Examples
        --------
        >>> with without():
        ...     Entry("squares", 3).get("nothing")
        'nothing'
        """
        if self.place is None:
            return default
        try:
            return _read(self.place)
        except Exception:  # unpickling damaged data can raise any error
            return default

    def keep(self, result: object) -> None:
        """Write a result to disk by pickle, and ignore failures.

        Examples
        --------
        >>> Entry("squares", lambda: 3).keep([0, 1, 4])  # of unknown content: not kept
        >>> Entry("squares", lambda: 3).get() is None
        True
        """
        if self.place is not None:
            with suppress(Exception):  # disk full, no permission, or not picklable
                _write(self.place, result)


def recall(compute: Callable[[], T], *parts: object, used: frozenset[Path] = frozenset()) -> T:
    """Return the result of `compute()`, from the store if it is there, and store it.

    Parameters
    ----------
    compute : callable
        Without arguments. Its result must be determined by the other arguments.
    *parts, used
        As in `Entry`.

    Returns
    -------
    The result. A repeated call returns an equal object, not the same one.

    Examples
    --------
    >>> recall(lambda: sum(range(10**6)), "sum", 10**6)
    499999500000
    """
    entry = Entry(*parts, used=used)
    found = entry.get(entry)
    if found is not entry:
        return found
    start = time.perf_counter()
    result = compute()
    if time.perf_counter() - start > FAST:
        entry.keep(result)
    return result


def kept(function: F) -> F:
    """Decorate a function so that its results are stored, keyed by its arguments.

    The function must be pure: equal arguments give equal results. The state of a generator among
    the arguments is part of the key, and afterwards the generator has the state that computing
    would leave. A call with an argument of unknown content, such as a lambda, computes its result
    every time.

    Examples
    --------
    >>> @kept
    ... def total(n):
    ...     return sum(range(n))
    >>> total(10)
    45
    """
    try:
        used = sources.used_by(function)
    except LookupError:  # the function is defined in a notebook
        return function
    signature, name = inspect.signature(function), (function.__module__, function.__qualname__)

    @functools.wraps(function)
    def stored(*args, **kwargs):
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        drawn = [
            value.bit_generator
            for value in given.arguments.values()
            if isinstance(value, np.random.Generator)
        ]

        def compute():
            return function(*args, **kwargs), [bits.state for bits in drawn]

        result, states = recall(compute, *name, given.arguments, used=used)
        for bits, state in zip(drawn, states, strict=True):
            bits.state = state
        return result

    return stored  # type: ignore[return-value]


def off() -> bool:
    """Return whether the store is switched off or has no folder.

    Examples
    --------
    >>> with without():
    ...     off()
    True
    """
    return (
        FOLDER is None
        or _switch["off"] > 0
        or os.environ.get("PRIVREGRET_STORE", "").lower() in ("off", "0")
    )


@contextmanager
def without() -> Iterator[None]:
    """Switch the store off within a context, in all threads of this process.

    Examples
    --------
    >>> with without():
    ...     recall(lambda: 1, "one")
    1
    """
    with _lock:
        _switch["off"] += 1
    try:
        yield
    finally:
        with _lock:
            _switch["off"] -= 1


def _place(parts, used) -> Path | None:
    """Return the file of an entry, or None if it has none."""
    used = {Path(__file__).resolve(), *used}
    try:
        content = _exactly(parts, used)
        source = sources.loaded_hash(used)
    except (Unknown, LookupError, OSError):
        return None
    if source is None or FOLDER is None:
        return None
    key = repr((content, source, _surroundings()))
    digest = hashlib.sha256(key.encode()).hexdigest()
    return FOLDER / digest[:2] / digest


@functools.cache
def _surroundings():
    """Return the versions that results depend on, besides sources."""
    libraries = tuple(version(name) for name in LIBRARIES)
    return (
        libraries,
        sys.version_info[:2],
        sys.platform,
        platform.machine(),
        bool(numba.config.DISABLE_JIT),
    )


def _exactly(thing, used: set):
    """Encode an object as nested tuples of strings, distinct for distinct objects.

    The sources of classes are added to `used`. The encoding is stricter than `identity.words`: 1
    and 1.0, or a tuple and a list, may give results of different types.
    """
    kind = type(thing)
    if thing is None or kind in (bool, int, float, complex, str, bytes, range):
        return kind.__name__, repr(thing)
    if isinstance(thing, (np.ndarray, np.generic)) and not thing.dtype.hasobject:
        content = hashlib.sha256(thing.tobytes()).hexdigest()
        # the layout determines the order of sums
        layout = thing.strides if isinstance(thing, np.ndarray) else None
        return kind.__name__, repr((thing.dtype.descr, thing.shape, layout)), content
    if kind in (tuple, list):
        return kind.__name__, *(_exactly(item, used) for item in thing)
    if kind is dict:
        return kind.__name__, *(_exactly(item, used) for pair in thing.items() for item in pair)
    if kind is np.random.Generator and type(thing.bit_generator).__module__.startswith("numpy."):
        return (
            kind.__name__,
            repr(thing.bit_generator.seed_seq),
            _exactly(thing.bit_generator.state, used),
        )
    if isinstance(thing, MethodType):
        if getattr(type(thing.__self__), thing.__name__, None) is not thing.__func__:
            raise Unknown(f"{thing.__name__} is not a method of its object's class")
        return kind.__name__, thing.__name__, _exactly(thing.__self__, used)
    if isinstance(thing, (type, FunctionType)):
        return kind.__name__, _named(thing, used)
    if isinstance(thing, tuple) and hasattr(thing, "_fields"):
        return _named(kind, used), *(_exactly(item, used) for item in thing)
    if is_dataclass(thing):
        return _named(kind, used), *(
            _exactly((f.name, getattr(thing, f.name)), used) for f in fields(thing)
        )
    raise Unknown(f"the content of a {kind.__name__} is unknown")


def _named(thing, used):
    """Return the name of a class or function of the package; extend `used`."""
    if isinstance(thing, type) and thing.__module__ == "builtins":
        return thing.__name__
    module = thing.__module__ or ""
    if not module.startswith(f"{sources.NAME}."):
        raise Unknown(f"{thing.__qualname__} is not defined in the package")
    if getattr(sys.modules.get(module), thing.__qualname__, None) is not thing:
        raise Unknown(f"{thing.__qualname__} is not found in its module")
    used |= sources.used_by(thing)
    return f"{thing.__module__}.{thing.__qualname__}"


def _digest(place, content):
    return hashlib.sha256(place.name.encode() + content).digest()


def _read(place):
    with open(place, "rb") as file:
        head, content = file.read(32), file.read()
    if head != _digest(place, content):
        raise ValueError(f"{place} is damaged")
    result = pickle.loads(content)
    with suppress(OSError):
        os.utime(place)  # marks the entry as recently used
    return result


def _write(place, result):
    content = pickle.dumps(result, protocol=5)
    if len(content) > BYTES // 8:
        return
    files.write(place, _digest(place, content) + content)
    with _lock:
        _switch["written"] += len(content)
        look = _switch["written"] >= EVERY
        if look:
            _switch["written"] = 0
    if look:
        _shrink()


def _shrink():
    """If the store exceeds its bound, remove old entries down to three quarters of it."""
    found, folders = [], [folder.path for folder in os.scandir(FOLDER) if folder.is_dir()]
    for entry in chain(*map(os.scandir, folders)):  # twice as fast as `Path.glob`
        with suppress(OSError):
            stat = entry.stat()
            if ".partial-" in entry.name and stat.st_mtime < time.time() - LEFT:
                os.unlink(entry)
            else:
                found.append((stat.st_mtime, stat.st_size, entry.path))
    size = sum(bytes for _, bytes, _ in found)
    if size > BYTES:
        for _, bytes, path in sorted(found):
            if size <= 0.75 * BYTES:
                break
            with suppress(OSError):
                os.unlink(path)
            size -= bytes
