"""Compile kernels by one decorator; those of the package are cached on disk by the engine's hash.

numba's own cache does not notice an edit in a callee, nor damage, and runs the old code.
"""

import pickle
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from types import CellType, FunctionType
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature
from numba.extending import is_jitted, overload

from privregret.core import code_key, files

CACHE = files.cache_folder("numba")
FOLDERS = 10  # newest versions of the engine
# what decides numba's code
SWITCHES = (
    "BOUNDSCHECK CPU_FEATURES CPU_NAME DEBUGINFO_DEFAULT DISABLE_INTEL_SVML DISABLE_JIT ENABLE_AVX "
    "EXTEND_VARIABLE_LIFETIMES LLVM_REFPRUNE_FLAGS LLVM_REFPRUNE_PASS LOOP_VECTORIZE OPT "
    "SLP_VECTORIZE"
).split()
F = TypeVar("F", bound=Callable)


def switches() -> tuple:
    """Return numba's switches that decide what it compiles, as they are set now."""
    return tuple(repr(getattr(numba.config, name, None)) for name in SWITCHES)


class _Cache(NullCache):
    """A file for each kernel, signature and setting; what is damaged is compiled again."""

    def __init__(self, function):
        self.function, self.altered = function, False
        key = code_key.LOADED["engine"], code_key.surroundings()
        self.folder = CACHE / files.digest(repr(key).encode())[:32]

    @property
    def cache_path(self):
        return str(self.folder)

    def _file(self, signature, codegen):
        function, arguments = self.function, normalize_signature(signature)[0]
        place = function.__qualname__, function.__code__.co_firstlineno, function.__code__.co_code
        known = repr((place, list(map(str, arguments)), codegen.magic_tuple(), switches()))
        return self.folder / function.__module__ / files.digest(known.encode())[:32], arguments

    def load_overload(self, signature, context):
        self.altered = not code_key.intact(self.function)
        if self.altered:
            code_key.alter(self.function.__qualname__)
        with suppress(Exception):  # there is none, or it is damaged
            context.refresh()
            file, arguments = self._file(signature, context.codegen())
            if not self.altered and file.is_file():
                content = pickle.loads(files.unseal(file.read_bytes()))
                found = CompileResult._rebuild(context, *content)
                return found if found.signature.args == arguments else None

    def save_overload(self, signature, result):
        with suppress(Exception):  # disk full
            if self.altered or result.library.has_dynamic_globals or not code_key.unchanged():
                return
            if not self.folder.is_dir():
                for old in sorted(CACHE.iterdir(), key=lambda f: f.stat().st_mtime)[: 1 - FOLDERS]:
                    shutil.rmtree(old, ignore_errors=True)
            file, _ = self._file(signature, result.library.codegen)
            files.write(file, files.seal(dumps(result._reduce())))


def jit(function: F) -> F:
    """Compile `function`: it releases the GIL; no fastmath, not parallel. A generator among its
    arguments has the same stream with and without compilation. Kernels of the package are cached on
    disk; those of others are compiled by each process, with numba's switches as they are set."""
    return compiled(function, _of_package(function))


def compiled(function: Any, cached: bool) -> Any:
    """Compile a function, with a cache on disk or without."""
    kernel = numba.njit(nogil=True)(function)
    if cached and CACHE and not numba.config.DISABLE_JIT:
        kernel._cache = _Cache(function)
    return kernel


def ours(kernel: Any) -> bool:
    """Return whether a kernel is what a module of the package holds under its name, and reads what
    that defined."""
    module = sys.modules.get(kernel.__module__)
    known = getattr(module, kernel.__name__, None) is kernel and _of_package(kernel.py_func)
    return known and code_key.intact(kernel)


def _of_package(function):
    name = getattr(function, "__module__", None) or ""
    there = vars(sys.modules[name]) if name.startswith("privregret.") else None
    return there is not None and function.__globals__ is there and not function.__closure__


def fresh(kernel: Any, made: dict | None = None) -> Any:
    """Return a copy of a kernel, with copies of those in it: they may have been compiled when what
    they read was different. Kernels of the package that read what it defined stay as they are."""
    made, function = {} if made is None else made, kernel.py_func
    if kernel in made or ours(kernel):
        return made.get(kernel, kernel)
    at = dict(function.__globals__)
    closure = tuple(CellType(cell.cell_contents) for cell in function.__closure__ or ())
    copy = FunctionType(
        function.__code__, at, function.__name__, function.__defaults__, closure or None
    )
    copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
    copy.__kwdefaults__ = function.__kwdefaults__
    made[kernel] = numba.jit(**kernel.targetoptions)(copy)
    names = {name for code in code_key.codes(function.__code__) for name in code.co_names}
    for name in names & at.keys():
        at[name] = fresh(at[name], made) if is_jitted(at[name]) else at[name]
    for cell in closure:
        if is_jitted(cell.cell_contents):
            cell.cell_contents = fresh(cell.cell_contents, made)
    return made[kernel]


def keep_alive(*arrays: np.ndarray) -> None:
    """Keep arrays alive up to this line: a record in compiled code does not."""


@overload(keep_alive)
def _keep_alive(*arrays):
    return lambda *arrays: None
