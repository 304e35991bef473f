"""Compile kernels by one decorator, with a cache that follows all sources.

numba's on-disk cache does not notice an edit in a callee or in a module constant, and then runs the
old code silently. So each kernel is cached in a folder whose name is a hash of all sources that the
kernel depends on.
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
KEPT = 400  # folders that are kept: ten versions of every module with kernels
F = TypeVar("F", bound=Callable)
LOCK = Lock()  # protects numba's setting, which is global


def folder_of(function: Callable) -> Path | None:
    """Return the cache folder of a kernel, or None if its sources are unknown.

    Without a folder there must be no cache at all: numba would choose a folder that is not keyed by
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
    """Return the folder for all kernels of a module, after one look at the sources.

    All sources that the kernels use are loaded before the first kernel.
    """
    key = sources.loaded_hash(used)
    if key is None:
        return None
    folder = caches / f"{module}-{key[:16]}-{numba.__version__}"
    try:
        if folder.is_dir():
            os.utime(folder)  # marks the folder as recently used
        else:
            _tidy()
            folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder


def _tidy():
    """Remove all folders except the most recently used ones."""
    found = [(entry.stat().st_mtime, entry.path) for entry in os.scandir(CACHE) if entry.is_dir()]
    for _, folder in sorted(found, reverse=True)[KEPT:]:
        shutil.rmtree(folder, ignore_errors=True)


class _Cache(FunctionCache):
    """Recompile damaged entries of the cache, on which numba itself fails."""

    def load_overload(self, signature, context):
        try:
            found = super().load_overload(signature, context)
            # a process that was killed between its two writes leaves an index that names the
            # code of another signature
            return (
                found
                if found and found.signature.args == normalize_signature(signature)[0]
                else None
            )
        except Exception:  # unpickling a truncated file can raise any error
            with suppress(OSError), files.locked(self._lock):
                self.flush()
            return None

    def save_overload(self, *args):
        with (
            suppress(Exception),
            files.locked(self._lock),
        ):  # disk full or index damaged: compiled again next time
            super().save_overload(*args)

    @property
    def _lock(self):
        """Return the lock to hold while the index changes.

        Without it, two processes could give two signatures the same number, and one entry would be
        lost.
        """
        return Path(self.cache_path) / ".lock"


def jit(function: F) -> F:
    """Compile `function`: releases the GIL, cached, no fastmath, not parallel.

    Only the package's own kernels are cached, because the name of the cache folder covers the
    package's sources only. Randomness is drawn from a `numpy.random.Generator` argument, whose
    stream is the same with and without compilation.

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
        # read only while decorating, so that other libraries keep their setting
        numba.config.CACHE_DIR = str(folder or configured)
        try:
            kernel = numba.njit(nogil=True)(function)
            if folder and not numba.config.DISABLE_JIT:
                kernel._cache = _Cache(function)
            return kernel
        finally:
            numba.config.CACHE_DIR = configured
