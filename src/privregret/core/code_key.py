"""What decides a number: one hash per layer of the package, and whether a program altered it.

The layers are the engine, the press and the studies; an edit of a file counts for its whole layer.
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
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from privregret.core.files import PACKAGE, digest

LAYERS = {"studies": "studies", "press": "press", "__main__.py": "press"}  # the rest is the engine
SOURCES = ".py", ".toml", ".tex", ".md"
# these keep and publish numbers, and decide none
FREE = *(f"privregret.core.{m}" for m in ("code_key", "files", "jit", "store")), "privregret.press"
SCALARS = type(None), bool, int, float, complex, str, bytes
# those of numba that decide what it compiles
SWITCHES = """BOUNDSCHECK CPU_FEATURES CPU_NAME DEBUGINFO_DEFAULT DISABLE_INTEL_SVML DISABLE_JIT
    ENABLE_AVX EXTEND_VARIABLE_LIFETIMES LLVM_REFPRUNE_FLAGS LLVM_REFPRUNE_PASS LOOP_VECTORIZE OPT
    SLP_VECTORIZE""".split()
_noted: dict[Any, tuple[dict, dict]] = {}
_altered: list[str] = []


def _files() -> dict[Path, str]:
    found = (f for f in PACKAGE.rglob("*") if f.suffix in SOURCES and f.is_file())
    return {file: digest(file.read_bytes()) for file in sorted(found)}


def layers(files: dict[Path, str] | None = None) -> dict[str, str]:
    """Return the hash of each layer of the package, by default as its files are now."""
    parts: dict[str, list] = {"engine": [], "press": [], "studies": []}
    for file, content in (_files() if files is None else files).items():
        name = file.relative_to(PACKAGE)
        parts[LAYERS.get(name.parts[0], "engine")].append((name.as_posix(), content))
    return {layer: digest(repr(part).encode()) for layer, part in parts.items()}


@cache
def libraries() -> str:
    """Return the versions of Python and of the libraries that decide numbers."""
    found = {name: version(name) for name in ("numpy", "scipy", "numba", "pandas")}
    return ", ".join(f"{n} {v}" for n, v in {"python": platform.python_version(), **found}.items())


@cache
def surroundings() -> str:
    """Return what else decides numbers and is fixed: the libraries and the machine."""
    from llvmlite.binding import get_host_cpu_name

    return repr((libraries(), sys.version, platform.machine(), get_host_cpu_name(), os.cpu_count()))


def switches() -> tuple:
    """Return numba's switches, as they are now."""
    from numba import config

    return tuple(repr(getattr(config, name, None)) for name in SWITCHES)


# What a program assigns
# --------------------------------------------------------------------------------------------------


def altered(what: str = "") -> bool:
    """Return whether, at a call of this, the program had assigned to modules or classes of the
    package, had loaded other files than those of the hashes, or had done `what`."""
    _altered.extend([what] if what else [])
    if not _altered:
        _altered.extend(str(p) for p, (was, _) in list(_noted.items()) if _held(p)[0] != was)
    return bool(_altered)


def content(thing: Any) -> Any:
    """Return what can be compared later: of data their values, of others which they are."""
    if isinstance(thing, SCALARS):
        return type(thing), repr(thing)
    if isinstance(thing, np.ndarray):
        return thing.dtype.str, thing.shape, thing.tobytes()
    if type(thing) in (list, tuple, set, dict):
        items = thing.items() if isinstance(thing, dict) else thing
        return type(thing), [content(item) for item in items]
    return id(thing), id(getattr(thing, "__code__", None))


def frozen(*kernels: Any) -> list[tuple]:
    """Return what numba takes for constants in kernels and the kernels in them: for each name its
    module, itself, a function that reads it, the value, and the value's `content`."""
    found, todo = [], [getattr(kernel, "py_func", kernel) for kernel in kernels]
    for function in todo:
        codes = [function.__code__]
        for code in codes:
            codes += (one for one in code.co_consts if isinstance(one, CodeType))
        names = {name for code in codes for name in code.co_names}
        inner = map(function.__globals__.get, names)
        spaces = function.__globals__, *(vars(m) for m in inner if isinstance(m, ModuleType))
        reads = [("", "", partial(getattr, c, "cell_contents")) for c in function.__closure__ or ()]
        for at in spaces:
            reads += ((at.get("__name__"), name, partial(at.get, name)) for name in names & {*at})
        values = [(*one, one[-1]()) for one in reads]
        todo += {v.py_func for *_, v in values if hasattr(v, "py_func")}.difference(todo)
        found += ((*one, content(one[-1])) for one in values)
    return found


def intact(kernel: Any) -> bool:
    """Return whether a kernel, and the kernels in it, read what their modules defined."""
    for module, name, _, value, now in frozen(kernel):
        noted = _noted.get(sys.modules.get(module))
        # `loops` fills in what is None
        strange = noted and noted[0].get(name) not in ((id(value), now), (id(None), content(None)))
        if strange or getattr(getattr(value, "_cache", None), "altered", False):
            return False
    return True


def _held(place):
    """Return the content of what a module or a class holds, and this; not a package's modules."""
    at = {
        name: value
        for name, value in list(vars(place).items())
        if name[:2] != "__" or callable(value)
        if not isinstance(value, ModuleType) or value.__name__ != f"{place.__name__}.{name}"
    }
    return {name: (id(value), content(value)) for name, value in at.items()}, at


class _Finder:
    """Notes what the modules of the package hold as soon as each is loaded."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        spec = PathFinder.find_spec(name, path) if name.startswith("privregret.") else None
        if spec and spec.has_location:
            load, file = spec.loader.exec_module, Path(spec.origin).resolve()

            def loaded(module):
                load(module)
                if (content := digest(file.read_bytes())) != _FILES.get(file):
                    altered(name)
                    # the hashes are no longer those of the code: no kernel is read or stored
                    LOADED["edited"] = LOADED.get("edited", "") + content
                own = (v for v in vars(module).values() if getattr(v, "__module__", "") == name)
                places = [module, *(v for v in own if isinstance(v, type))]
                _noted.update((p, _held(p)) for p in places if not name.startswith(FREE))

            spec.loader.exec_module = loaded
        return spec


_FILES = _files()
LOADED = layers(_FILES)
sys.meta_path.insert(0, _Finder)
