"""Compile kernels by one decorator; those of the package are stored under the engine's hash.

numba's own cache does not notice an edit in a callee, nor damage, and runs the old code.
"""

import sys
from collections.abc import Callable
from contextlib import suppress
from types import CellType, FunctionType
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import event
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature
from numba.extending import is_jitted, overload

from privregret.core import code_key, store

FOLDER = store.FOLDER
F = TypeVar("F", bound=Callable)


class _Cache(NullCache):
    """An entry of the store for each kernel, signature and setting of numba."""

    def __init__(self, function):
        self.function, self.altered = function, False

    def _entry(self, arguments, codegen):
        function = self.function
        place = function.__module__, function.__qualname__, function.__code__.co_firstlineno
        layers = ["engine"] + ["studies"] * place[0].startswith("privregret.studies")
        where = [code_key.LOADED[one] for one in layers], codegen.magic_tuple(), code_key.switches()
        known = place, function.__code__.co_code, list(map(str, arguments)), where
        return store.file(FOLDER, known)

    def load_overload(self, signature, context):
        self.altered = "edited" in code_key.LOADED or not code_key.intact(self.function)
        if self.altered:
            code_key.altered(self.function.__qualname__)
            return None
        arguments, _ = normalize_signature(signature)
        context.refresh()
        with suppress(Exception):  # there is none, or it is damaged
            entry = store.read(self._entry(arguments, context.codegen()))
            found = CompileResult._rebuild(context, *entry)
            return found if found.signature.args == arguments else None

    def save_overload(self, signature, result):
        with suppress(Exception):  # disk full
            if not self.altered and not result.library.has_dynamic_globals:
                entry = self._entry(normalize_signature(signature)[0], result.library.codegen)
                store.write(entry, dumps(result._reduce()))


class _Noting(event.Listener):
    """Notes what kernels read when they are compiled, which numba freezes."""

    def on_start(self, event):
        kernel, arguments = event.data["dispatcher"], event.data["args"]
        # the kernels of other packages as well
        with suppress(Exception):
            kernel.__dict__.setdefault("saw", {})[arguments] = code_key.frozen(kernel)

    def on_end(self, event):
        pass


event.register("numba:compile", _Noting())


def kept(kernel: Any) -> str:
    """Return what compiled code of a kernel keeps an earlier value of, or nothing."""
    noted = getattr(kernel, "saw", {})
    for arguments in kernel.overloads:
        for _, name, read, _, then in noted.get(arguments, ()):
            if code_key.content(read()) != then:
                return name or "a variable of a closure"
        # read from disk
        if arguments not in noted and not code_key.intact(kernel):
            return "a global"
    return ""


def jit(function: F) -> F:
    """Compile `function`: it releases the GIL; no fastmath, not parallel. A generator among its
    arguments has the same stream with and without compilation. Kernels of the package are cached on
    disk; those of others are compiled by each process, with numba's switches as they are set."""
    return compiled(function, _in_package(function))


def compiled(function: Any, cached: bool) -> Any:
    """Compile a function, with a cache on disk or without."""
    kernel = numba.njit(nogil=True, boundscheck=None if cached else True)(function)
    if cached and FOLDER and not numba.config.DISABLE_JIT:
        kernel._cache = _Cache(function)
    return kernel


def ours(kernel: Any) -> bool:
    """Return whether a module of the package holds this kernel under its name, and it reads what
    that defined."""
    held = getattr(sys.modules.get(kernel.__module__), kernel.__name__, None) is kernel
    return held and _in_package(kernel.py_func) and code_key.intact(kernel)


def _in_package(function):
    names = vars(sys.modules.get(getattr(function, "__module__", ""), object))
    place = names.get("__name__", "").startswith("privregret.") and not function.__closure__
    return place and function.__globals__ is names


def fresh(kernel: Any, made: dict) -> Any:
    """Return a copy of a kernel, with copies of those in it: they may have been compiled when what
    they read was different. Kernels that are `ours` stay as they are."""
    function = kernel.py_func
    if kernel in made or ours(kernel):
        return made.get(kernel, kernel)
    at = dict(function.__globals__)
    cells = tuple(CellType(cell.cell_contents) for cell in function.__closure__ or ())
    copy = FunctionType(function.__code__, at, function.__name__, function.__defaults__, cells)
    made[kernel] = numba.jit(**kernel.targetoptions)(copy)
    at |= {name: fresh(inner, made) for name, inner in at.items() if is_jitted(inner)}
    for cell in cells:
        if is_jitted(cell.cell_contents):
            cell.cell_contents = fresh(cell.cell_contents, made)
    return made[kernel]


def arm_of(choice: Any) -> Any:
    """Return a choice as it is, and False and True as numbers, which index arrays."""
    return int(choice) if isinstance(choice, (bool, np.bool_)) else choice


@overload(arm_of)
def _arm_of(choice):
    is_bool = isinstance(choice, numba.types.Boolean)
    return (lambda choice: int(choice)) if is_bool else (lambda choice: choice)


def keep_alive(*arrays: np.ndarray) -> None:
    """Keep arrays alive up to this line: a record in compiled code does not."""


@overload(keep_alive)
def _keep_alive(*arrays):
    return lambda *arrays: None
