"""Compile kernels by one decorator, and keep the compiled code under what it is compiled from.

numba's own cache does not notice an edit in a callee, nor damage, and runs the old code.
"""

from collections.abc import Callable
from threading import RLock
from types import CellType, FunctionType, ModuleType
from typing import Any, TypeVar

import numba
from numba.extending import is_jitted

from privregret.core import compiler, reach, store
from privregret.core.content import inside, of_library

FOLDER = store.FOLDER
# copies of kernels, and loops, by the digests of what they are copies of
COPIES: dict[str, Any] = {}
LOCK = RLock()
F = TypeVar("F", bound=Callable)


class _Entries(compiler.Cache):
    """Entries of the store, for each signature and for all that a kernel reads."""

    def __init__(self, kernel):
        self.kernel, self.key = kernel, reach.Key("", False)

    def path(self, variant):
        key = self.key.digest, variant, compiler.switches()
        return store.entry(FOLDER, key) if self.key.portable else None

    def read(self, variant):
        self.key = reach.key(self.kernel)
        code = store.read(self.path(variant))
        compiler.compiled_from(self.kernel).add(self.key.digest)
        return code

    def write(self, variant, code):
        # unless something was assigned meanwhile
        if reach.key(self.kernel) == self.key:
            store.write(self.path(variant), code)


def _note(kernel):
    compiler.compiled_from(kernel).add(reach.key(kernel).digest)


compiler.before_compiling(_note)


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
        _Entries(kernel).attach(kernel)
    return kernel


def in_package(function: Callable) -> bool:
    """Return whether a function is of the package."""
    return (getattr(function, "__module__", None) or "").startswith("privregret.")


def copy_of(kernel: Any) -> Any:
    """Return a copy of a kernel, with copies of those in it, that is compiled from what they read
    now: the same one as long as that is the same."""
    digest = reach.key(kernel).digest
    with LOCK:
        if (copy := recall(digest)) is None:
            function = kernel.py_func
            names = dict(function.__globals__)
            cells = tuple(CellType(inside(cell)) for cell in function.__closure__ or ())
            name = f"{function.__name__}_{digest[:12]}"  # code from the disk needs a unique one
            own = FunctionType(function.__code__, names, name, function.__defaults__, cells)
            own.__module__, own.__qualname__ = function.__module__, name
            vars(own).update(vars(function))
            # before those in it, which may call it
            copy = remember(digest, compiled(own, compiler.all_options(kernel)), digest)
            read = {name for code in reach.codes(function) for name in code.co_names}
            modules: dict[ModuleType, ModuleType] = {}
            for name in read & names.keys():
                names[name] = _current(names[name], read, modules)
            for cell in cells:
                if (held := inside(cell)) is not None:
                    cell.cell_contents = _current(held, read, modules)
        return copy


def _current(value, names, modules):
    """Return what a kernel reads with copies of the kernels in it, also of those that the names
    find in the program's modules; `modules` has the copies of modules."""
    if is_jitted(value):
        return copy_of(value)
    if type(value) is tuple:
        return tuple(_current(one, names, modules) for one in value)
    if not isinstance(value, ModuleType) or of_library(value):
        return value
    if value not in modules:
        copy = modules[value] = ModuleType(value.__name__)
        vars(copy).update(vars(value))
        for name in names & vars(value).keys():
            setattr(copy, name, _current(getattr(value, name), names, modules))
    return modules[value]


def recall(digest: str) -> Any:
    """Return the copy of what has this digest, or None; not one that was compiled from something
    else, too."""
    copy = COPIES.get(digest)
    return None if copy is None or len(compiler.compiled_from(copy)) > 1 else copy


def remember(digest: str, copy: Any, reads: str) -> Any:
    """Return a copy, which `recall` finds from now on; `reads` is the digest of what it reads."""
    vars(copy)["compiled_from"] = {reads}
    COPIES[digest] = copy
    return copy
