"""The one decorator for compiled kernels.

numba's on-disk cache does not notice an edit in a callee or in a module constant: it then serves
the old code without a word. So each kernel is cached in a folder whose name is a hash of all
sources that the kernel depends on.
"""

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TypeVar

import numba
from numba.core.caching import FunctionCache
from numba.core.sigutils import normalize_signature

from privregret import files, sources

CACHE = files.cache_folder("numba")
KEPT = 400  # folders: ten versions of every module that has kernels
F = TypeVar("F", bound=Callable)
LOCK = Lock()  # around numba's setting, which is the whole process's


def folder_of(function: Callable) -> Path | None:
    """Where the code of a kernel of the package is kept; None if there is no place that knows its
    sources.

    Without a folder there must be no cache at all: numba would look for one elsewhere, not keyed by
    source.

    Examples
    --------
    >>> folder_of(lambda: 0) is None  # of no module of the package
    True
    """
    module = getattr(function, "__module__", None) or ""
    if CACHE is None or not module.startswith(f"{sources.NAME}."):
        return None
    try:
        return _folder(CACHE, module, sources.used_by(function))
    except LookupError:
        return None


@cache
def _folder(caches, module, used):
    """One look at the sources for all kernels of a module: what they use was loaded before the
    first of them."""
    key = sources.loaded_hash(used)
    if key is None:
        return None
    folder = caches / f"{module}-{key[:16]}-{numba.__version__}"
    try:
        if folder.is_dir():
            os.utime(folder)  # used last now
        else:
            _tidy()
            folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder


def _tidy():
    """Leave the folders that were used last."""
    found = [(entry.stat().st_mtime, entry.path) for entry in os.scandir(CACHE) if entry.is_dir()]
    for _, folder in sorted(found, reverse=True)[KEPT:]:
        shutil.rmtree(folder, ignore_errors=True)


class _Cache(FunctionCache):
    """numba's cache, but what is damaged is thrown away and compiled anew: by itself numba would
    fail for good."""

    def load_overload(self, signature, context):
        try:
            found = super().load_overload(signature, context)
            # a process that was killed between its two files leaves an index that names another
            # signature's code
            return (
                found
                if found and found.signature.args == normalize_signature(signature)[0]
                else None
            )
        except Exception:  # unpickling a file that was cut raises whatever it likes
            with suppress(OSError), files.locked(self._lock):
                self.flush()
            return None

    def save_overload(self, *args):
        with (
            suppress(Exception),
            files.locked(self._lock),
        ):  # no room, or still damaged: compiled again next time
            super().save_overload(*args)

    @property
    def _lock(self):
        """Held while the index changes: two processes would number two signatures alike, and one
        would be lost."""
        return Path(self.cache_path) / ".lock"


def jit(function: F) -> F:
    """Compile `function`: releases the GIL, cached, no fastmath, no automatic parallelism.

    Only the package's own kernels are cached: its sources are all that the cache's directory knows
    of. Randomness comes in as a `numpy.random.Generator` argument, whose stream is the same
    compiled or not.

    Examples
    --------
    >>> @jit
    ... def doubled(x):
    ...     return 2 * x
    >>> doubled(21)
    42
    """
    folder = folder_of(function)
    with LOCK:
        configured = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(
            folder or configured
        )  # read once, while decorating: other libraries keep theirs
        try:
            kernel = numba.njit(nogil=True)(function)
            if folder and not numba.config.DISABLE_JIT:
                kernel._cache = _Cache(function)
            return kernel
        finally:
            numba.config.CACHE_DIR = configured
