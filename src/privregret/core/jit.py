"""Compile kernels by one decorator, with a cache in a folder that is named by the key of the code:
numba's own does not notice an edit in a callee or a module constant, and runs the old code."""

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TypeVar

import numba
import numpy as np
from numba.core.caching import FunctionCache
from numba.core.sigutils import normalize_signature
from numba.extending import overload

from privregret.core import code_key, files

CACHE = files.cache_folder("numba")
KEPT = 400  # newest folders, which are kept: ten versions of every module with kernels
F = TypeVar("F", bound=Callable)
LOCK = Lock()  # protects numba's setting, which is global


def folder_of(function: Callable) -> Path | None:
    """Return the cache folder of a kernel, or None if its code is unknown or was edited."""
    if CACHE is None or "<locals>" in getattr(function, "__qualname__", "<locals>"):
        return None
    try:
        modules, file = code_key.used(function), Path(function.__code__.co_filename).resolve()
        if file not in map(code_key.file_of, modules) or not code_key.unchanged(modules):
            return None
        folder = CACHE / f"{function.__module__}-{code_key.key(modules)[:16]}-{numba.__version__}"
        if not folder.is_dir():
            for old in sorted(CACHE.iterdir(), key=lambda f: f.stat().st_mtime)[:-KEPT]:
                shutil.rmtree(old, ignore_errors=True)
            folder.mkdir(parents=True, exist_ok=True)
        return folder
    except (LookupError, OSError):
        return None


class _Cache(FunctionCache):
    """Recompile what is damaged, and lock the index: its numbers of signatures must differ."""

    @property
    def _lock(self):
        return files.locked(Path(self.cache_path) / ".lock")

    def _index_key(self, *args):
        return super()._index_key(*args), code_key.frozen(self._py_func)

    def load_overload(self, signature, context):
        try:
            found = super().load_overload(signature, context)
            # a killed process may have left an index that names the code of another signature
            wanted = normalize_signature(signature)[0]
            return found if found and found.signature.args == wanted else None
        except Exception:  # unpickling a truncated file can raise any error
            with suppress(OSError), self._lock:
                self.flush()
            return None

    def save_overload(self, *args):
        # disk full or index damaged: compiled again next time
        with suppress(Exception), self._lock:
            super().save_overload(*args)


def jit(function: F) -> F:
    """Compile `function`: it releases the GIL and is cached, unless it is defined at a prompt, in a
    notebook or in another function; no fastmath, not parallel. A generator among its arguments has
    the same stream with and without compilation."""
    # without a folder there must be no cache: numba would choose one that is not keyed by source
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


def keep_alive(*arrays: np.ndarray) -> None:
    """Keep arrays alive up to this line: a record in compiled code does not."""


@overload(keep_alive)
def _keep_alive(*arrays):
    return lambda *arrays: None
