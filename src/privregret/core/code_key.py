"""What decides a number: one hash per layer of the package, and whether a program altered it.

The layers are the engine, the press and the studies; any edit of a file counts for its whole layer.
A hash is of the files at the import of the package. A program that assigns to the engine or to
studies, or loads what was edited meanwhile, is `altered` until it ends: it stores nothing.
"""

import os
import platform
import sys
from functools import cache, partial
from importlib.machinery import PathFinder
from importlib.metadata import version
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from privregret.core.files import PACKAGE, digest

LAYERS = "engine", "press", "studies"
PRESS = "press", "__main__.py"
SOURCES = ".py", ".toml", ".tex", ".md"
# these keep and publish numbers, and decide none
FREE = *(f"privregret.core.{m}" for m in ("code_key", "files", "jit", "store")), "privregret.press"
SCALARS = type(None), bool, int, float, complex, str, bytes
GROUPS = list, tuple, set, frozenset, dict
NONE = id(None), (type(None), "None")
_noted: dict[Any, tuple[dict, dict]] = {}
_altered: list[str] = []


def _files() -> dict[Path, str]:
    found = (f for f in PACKAGE.rglob("*") if f.suffix in SOURCES and f.is_file())
    return {file: digest(file.read_bytes()) for file in sorted(found)}


def layers(files: dict[Path, str] | None = None) -> dict[str, str]:
    """Return the hash of each layer of the package, by default as its files are now."""
    parts: dict[str, list] = {layer: [] for layer in LAYERS}
    for file, content in (_files() if files is None else files).items():
        name = file.relative_to(PACKAGE)
        top = "press" if name.parts[0] in PRESS else name.parts[0]
        parts[top if top in LAYERS else "engine"].append((name.as_posix(), content))
    return {layer: digest(repr(part).encode()) for layer, part in parts.items()}


def unchanged() -> bool:
    """Return whether the files of the package are those that were there at its import."""
    return _files() == _FILES


@cache
def surroundings() -> str:
    """Return what else decides numbers and is fixed: the libraries and the machine."""
    libraries = [version(name) for name in ("numpy", "scipy", "numba", "pandas")]
    return repr((libraries, sys.version, platform.machine(), platform.processor(), os.cpu_count()))


# What a program assigns
# --------------------------------------------------------------------------------------------------


def altered() -> bool:
    """Return whether the program has, at a call of this, assigned to modules or classes of the
    package, or loaded other files than those of the hashes."""
    if not _altered:
        _altered.extend(str(p) for p, (was, _) in list(_noted.items()) if _held(p)[0] != was)
    return bool(_altered)


def alter(what: str) -> None:
    """Say that a program has altered what it computes with."""
    _altered.append(what)


def intact(kernel: Any) -> bool:
    """Return whether a kernel, and the kernels in it, read what their modules defined."""
    reads = frozen(kernel)
    if any(getattr(getattr(v, "_cache", None), "altered", False) for *_, v, _ in reads):
        return False
    noted = ((_noted.get(sys.modules.get(m)), n, (id(v), now)) for m, n, _, v, now in reads)
    # None stands for what `loops` fills in
    return all(not at or at[0].get(n) in (now, NONE) for at, n, now in noted)


def content(thing: Any) -> Any:
    """Return what can be compared later: of functions their code, of data their values."""
    if isinstance(thing, SCALARS):
        return type(thing), repr(thing)
    if isinstance(thing, FunctionType):
        return id(thing), id(thing.__code__), id(thing.__defaults__), id(thing.__kwdefaults__)
    if isinstance(thing, np.ndarray):
        return thing.dtype.str, thing.shape, thing.tobytes()
    if type(thing) in GROUPS:
        items = [*thing.items()] if isinstance(thing, dict) else thing
        return type(thing), [content(item) for item in items]
    return id(thing)


def frozen(*kernels: Any) -> list[tuple]:
    """Return what numba takes for constants in kernels and the kernels in them: for each name its
    module, itself, a function that reads it, its value, and the value's `content`."""
    found, todo = [], [getattr(kernel, "py_func", kernel) for kernel in kernels]
    for function in todo:
        at, closure = function.__globals__, function.__closure__ or ()
        names = {name for code in codes(function.__code__) for name in code.co_names}
        here = [(at["__name__"], n, partial(at.get, n), at[n]) for n in names if n in at]
        for name, cell in zip(function.__code__.co_freevars, closure, strict=True):
            read = partial(getattr, cell, "cell_contents", None)
            here.append(("", name, read, read()))
        for *_, module in [one for one in here if isinstance(one[-1], ModuleType)]:
            inside = vars(module)
            here += [
                (module.__name__, n, partial(inside.get, n), inside[n])
                for n in names & inside.keys()
            ]
        todo += [v.py_func for *_, v in here if hasattr(v, "py_func") and v.py_func not in todo]
        found += [(*one, content(one[-1])) for one in here]
    return found


def codes(code: CodeType) -> list[CodeType]:
    """Return a code object and those of the functions and comprehensions in it."""
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return [code, *(deep for one in inner for deep in codes(one))]


def _held(place):
    """Return the content of what a module or a class holds, and this; not a package's modules."""
    at = {
        name: value
        for name, value in [*vars(place).items()]
        if name[:2] != "__" or callable(value)
        if not isinstance(value, ModuleType) or value.__name__ != f"{place.__name__}.{name}"
    }
    return {name: (id(value), content(value)) for name, value in at.items()}, at


class _Finder:
    """Notes what the modules of the package hold as soon as each is loaded."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        spec = PathFinder.find_spec(name, path) if name.startswith("privregret.") else None
        if spec and spec.loader and spec.has_location:
            load, file = spec.loader.exec_module, Path(spec.origin).resolve()

            def loaded(module):
                load(module)
                if not name.startswith(FREE):
                    kinds = [v for v in vars(module).values() if isinstance(v, type)]
                    own = [kind for kind in kinds if kind.__module__ == name]
                    _noted.update((place, _held(place)) for place in (module, *own))
                if digest(file.read_bytes()) != _FILES.get(file):
                    alter(name)

            spec.loader.exec_module = loaded
        return spec


_FILES = _files()
LOADED = layers(_FILES)
if _Finder not in sys.meta_path:
    sys.meta_path.insert(0, _Finder)
