"""Keys of code, for both caches: what a module, class or function uses, by import statements.

Docstrings, comments and layout do not count; imports count at any depth, but not in libraries, nor
dynamic ones. A key is of the code that this process has loaded: the package is read at its import,
other files when something in them is made. What then differs is not `unchanged`, nor stored.
"""

import ast
import hashlib
import pickle
import sys
import sysconfig
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.util import find_spec, resolve_name
from pathlib import Path
from threading import Lock
from types import FunctionType
from typing import Any

import numpy as np

from privregret.core.files import PACKAGE

DOCUMENTED = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
LEAVES = type(None), bool, int, float, complex, str, bytes, range, np.generic, np.ndarray
_read: dict[Path, tuple[tuple[int, int], bytes]] = {}
_lock = Lock()


def used(*things: Any) -> frozenset[str]:
    """Return the names of the modules, not of libraries, that things use: modules or their names,
    classes, functions, kernels, objects. LookupError for what a prompt or a notebook defines."""
    modules = set().union(*map(_modules, things))
    for name in modules:
        if file_of(name) is None and not getattr(sys.modules.get(name), "__spec__", None):
            raise LookupError(f"{name} is not defined in a file")
    return frozenset().union(*map(_reached, modules))


def imported(code: str) -> set[Path]:
    """Return the files that a notebook uses, without lines that start with % or !."""
    lines = [line for line in code.splitlines() if not line.lstrip().startswith(("%", "!"))]
    named = _named(_statements(_parsed("\n".join(lines).encode(), "its code")), "")
    modules = frozenset().union(*map(_reached, named))
    return {file for name in modules if (file := file_of(name))}


@cache
def key(modules: frozenset[str]) -> str:
    """Return 32 hexadecimal digits for the loaded code of modules."""
    known = [(name, _known(file)[1]) for name in sorted(modules) if (file := file_of(name))]
    return hashlib.sha256(repr(known).encode()).hexdigest()[:32]


def unchanged(modules: Iterable[str]) -> bool:
    """Return whether the files of modules are those that this process has read."""
    files = filter(None, map(file_of, modules))
    with suppress(OSError):
        return all(_stamp(f) == _read[f][0] or f.read_bytes() == _read[f][1] for f in files)
    return False


def frozen(kernel: FunctionType) -> str:
    """Return a hash of the values that a kernel and the kernels in it now take for constants."""
    used = ((n, f.__globals__.get(n)) for f in _kernels(kernel) for n in f.__code__.co_names)
    return hashlib.sha256(pickle.dumps([(n, v) for n, v in used if is_data(v)])).hexdigest()


def is_data(thing: Any) -> bool:
    """Return whether a thing is a number, a text, an array, or a group of these alone."""
    items = [*thing, *thing.values()] if isinstance(thing, dict) else thing
    grouped = isinstance(thing, (tuple, list, dict)) and all(map(is_data, items))
    return grouped or isinstance(thing, LEAVES)


def look(module: str) -> None:
    """Read a module outside the package, and all that it uses, as they are now."""
    if module.partition(".")[0] != PACKAGE.name:
        with suppress(LookupError):
            used(module)


def meaning(source: bytes, file: Path) -> str:
    """Hash code without docstrings, comments and layout; a SyntaxError names the file."""
    tree = _parsed(source, file)
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body[0] = ast.Pass()
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


@cache
def file_of(module: str) -> Path | None:
    """Return the source file of a module, or None for a library's and for what has no file."""
    if module == "__main__":
        prompt = sys.flags.interactive or hasattr(sys, "ps1")
        file = Path("" if prompt else getattr(sys.modules[module], "__file__", None) or "")
        return file.resolve() if file.suffix == ".py" and not _of_library(file) else None
    parts = module.split(".")
    if (folder := _folder(parts[0])) is None:
        return None
    base = folder.joinpath(*parts)
    return next((f for f in (base / "__init__.py", base.with_suffix(".py")) if f.is_file()), None)


@cache
def _folder(top):
    """Return the folder that holds a top-level module or package, or None for a library."""
    if top == PACKAGE.name:
        return PACKAGE.parent
    with suppress(ImportError, ValueError):
        spec = find_spec(top)
        if spec and (spec.has_location or spec.submodule_search_locations):
            found = Path(next(iter(spec.submodule_search_locations or [spec.origin]))).resolve()
            return None if _of_library(found) else found.parent
    return None


def _of_library(path):
    installed = {"site-packages", "dist-packages"}.intersection(path.parts)
    stdlib = Path(sysconfig.get_path("stdlib")).resolve()
    return bool(installed) or path.resolve().is_relative_to(stdlib)


def _modules(thing) -> set[str]:
    """Return the modules in which a thing is defined; of a kernel, of the kernels in it as well."""
    thing = getattr(thing, "py_func", thing)
    if isinstance(thing, (str, type(sys))):
        return {getattr(thing, "__name__", thing)}
    if not hasattr(thing, "__code__"):
        return {(thing if isinstance(thing, type) else type(thing)).__module__}
    # a loop that is made from a template has its name in one module, its code in another
    return {name for f in _kernels(thing) for name in (f.__module__, f.__globals__["__name__"])}


def _kernels(function) -> list[FunctionType]:
    """Return a function and the kernels in it, at any depth."""
    found = [function]
    for one in found:
        named = map(one.__globals__.get, one.__code__.co_names)
        inner = (k.py_func for k in named if hasattr(k, "py_func"))
        found += [f for f in inner if f not in found]
    return found


@cache
def _reached(module) -> frozenset[str]:
    found, todo = set(), [module]
    while todo:
        name = todo.pop()
        if name not in found and (file := file_of(name)):
            found.add(name)
            package = name if file.name == "__init__.py" else name.rpartition(".")[0]
            todo += _named(_known(file)[0], package)
    return frozenset(found)


def _statements(tree) -> list[tuple]:
    """Return what code imports: ("", module, "") or (module from which, name, name here)."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            # both are empty for `import`
            of = "." * getattr(node, "level", 0) + (getattr(node, "module", "") or "")
            found += [(of, alias.name, of and (alias.asname or alias.name)) for alias in node.names]
    return found


def _named(statements, package) -> set[str]:
    """Return the modules that import statements in a package name, or take names from."""
    plain = {inner for of, name, _ in statements if not of for inner in _inside(name)}
    return plain | {_defining(resolve_name(of, package), name) for of, name, _ in statements if of}


def _inside(module) -> set[str]:
    """Return a module and, as anything can be an attribute of a package, the modules in it."""
    file = file_of(module)
    if file is None or file.name != "__init__.py":
        return {module}
    inner = (f.relative_to(file.parent).with_suffix("").parts for f in file.parent.rglob("*.py"))
    return {".".join((module, *parts)).removesuffix(".__init__") for parts in inner}


@cache
def _defining(module, name) -> str:
    """Return the module that defines what `from module import name` gives."""
    file = file_of(module)
    if file_of(f"{module}.{name}"):
        return f"{module}.{name}"
    if file and file.name == "__init__.py":
        for of, there, here in _known(file)[0]:
            if of and here == name and (source := resolve_name(of, module)) != module:
                return _defining(source, there)
    return module


def _parsed(source, file):
    with _lock:  # threads that parse at once disturb each other (CPython issue 106905)
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError) as problem:
            raise SyntaxError(f"{file} is not Python: {problem}") from None


@cache
def _known(file) -> tuple[list, str]:
    """Return the import statements of a file and its meaning."""
    source = _source(file)
    return _statements(_parsed(source, file)), meaning(source, file)


def _stamp(file):
    status = file.stat()
    return status.st_mtime_ns, status.st_size


def _source(file):
    """Return the bytes of a file as they were at the first look."""
    if file not in _read:
        _read[file] = _stamp(file), file.read_bytes()
    return _read[file][1]


for _file in PACKAGE.rglob("*.py"):
    _source(_file)
