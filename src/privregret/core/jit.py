"""Compile kernels by one decorator, and keep the compiled code under what it is compiled from.

numba's own cache does not notice an edit in a callee, nor damage, and runs the old code.
"""

from collections.abc import Callable
from contextlib import suppress
from threading import RLock
from types import CellType, FunctionType
from typing import Any, TypeVar

import numba
from numba.core import event
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature
from numba.extending import is_jitted

from privregret.core import reach, store

FOLDER = store.FOLDER
# copies of kernels, and loops, by all that they read
MADE: dict[str, Any] = {}
LOCK = RLock()
F = TypeVar("F", bound=Callable)


class _Cache(NullCache):
    """An entry of the store for each signature and for all that a kernel reads."""

    def __init__(self, kernel):
        self.kernel, self.known = kernel, None

    def _entry(self, signature, codegen):
        arguments, _ = normalize_signature(signature)
        types = [(str(one), getattr(one, "fields", ())) for one in arguments]
        known = self.known.digest, types, codegen.magic_tuple(), store.switches()
        return store.file(FOLDER, known) if self.known.portable else None

    def load_overload(self, signature, context):
        self.known = reach.known(self.kernel)
        context.refresh()
        with suppress(Exception):  # there is none, or it is damaged
            entry = store.read(self._entry(signature, context.codegen()))
            found = CompileResult._rebuild(context, *entry)
            if found.signature.args == normalize_signature(signature)[0]:
                _note(self.kernel)
                return found
        return None

    def save_overload(self, signature, result):
        with suppress(Exception):  # disk full
            # unless it was assigned to meanwhile
            known = not result.library.has_dynamic_globals and reach.known(self.kernel)
            if known == self.known:
                store.write(self._entry(signature, result.library.codegen), dumps(result._reduce()))


class _Noting(event.Listener):
    """Notes from what kernels are compiled, also those that are no `jit`."""

    def on_start(self, event):
        with suppress(Exception):
            _note(event.data["dispatcher"])

    def on_end(self, event):
        pass


event.register("numba:compile", _Noting())


def _note(kernel):
    vars(kernel).setdefault("made", set()).add(reach.known(kernel).digest)


def jit(function: F) -> F:
    """Compile `function`: it releases the GIL; no fastmath, not parallel. A generator among its
    arguments has the same stream with and without compilation. Indices are checked, but not in
    kernels of the package, unless a switch of numba asks for it."""
    return compiled(function, options(in_package(function)))


def options(of_package: bool) -> dict:
    """Return numba's options for kernels of the package, or for others."""
    return {"nopython": True, "nogil": True, "boundscheck": None if of_package else True}


def compiled(function: Any, options: dict) -> Any:
    """Compile a function, with a cache on disk."""
    kernel = numba.jit(**options)(function)
    if FOLDER and not numba.config.DISABLE_JIT:
        kernel._cache = _Cache(kernel)
    return kernel


def in_package(function: Callable) -> bool:
    """Return whether a function is of the package."""
    return (getattr(function, "__module__", None) or "").startswith("privregret.")


def current(kernel: Any) -> Any:
    """Return a copy of a kernel, with copies of those in it, that is compiled from what they read
    now: the same one as long as that is the same."""
    known = reach.known(kernel).digest
    with LOCK:
        if not usable(known):
            function = kernel.py_func
            at, cells = dict(function.__globals__), reach.filled(function)
            cells = tuple(CellType(cell.cell_contents) for cell in cells)
            name = f"{function.__name__}_{known[:12]}"  # code from the disk needs a unique one
            copy = FunctionType(function.__code__, at, name, function.__defaults__, cells)
            copy.__module__, copy.__qualname__ = function.__module__, name
            vars(copy).update(vars(function))
            keep(known, compiled(copy, kernel.targetoptions), known)
            for name in {name for code in reach.codes(function) for name in code.co_names}:
                at |= {name: current(at[name])} if is_jitted(at.get(name)) else {}
            for cell in cells:
                if is_jitted(cell.cell_contents):
                    cell.cell_contents = current(cell.cell_contents)
        return MADE[known]


def usable(known: str) -> bool:
    """Return whether a copy of this is there that was compiled from nothing else."""
    return known in MADE and len(MADE[known].made) == 1


def keep(known: str, kernel: Any, reads: str) -> Any:
    """Return a copy, remembered by what it is a copy of, and by what it reads at that time."""
    vars(kernel)["made"] = {reads}
    MADE[known] = kernel
    return kernel


def stale(kernel: Any) -> bool:
    """Return whether a kernel was compiled from other code or constants than it reads now."""
    return bool({*getattr(kernel, "made", ())} - {reach.known(kernel).digest})
