"""Keys of code: what a module, class or function uses, by the import statements of its module.

Both caches on disk are keyed by them. Docstrings, comments and layout do not count; imports are
followed at any depth and place, out of the package too, but not into libraries. Dynamic imports are
not seen. A key is of the code that this process has loaded: the package's files are read when the
package is imported, others when a class, kernel or stored function of theirs is made. Once a file
differs from what was read, it is not `unchanged`: then nothing is stored under the key.
"""

import ast
import hashlib
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import Any

from privregret.files import PACKAGE

DOCUMENTED = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
_read: dict[Path, tuple[tuple[int, int], bytes]] = {}


def used(*things: Any) -> frozenset[str]:
    """Return the names of the modules that things use, without those of libraries.

    Parameters
    ----------
    *things : module, its name, class, function, compiled kernel, or an object of a class

    Raises
    ------
    LookupError
        For what is defined at a prompt or in a notebook.
    """
    modules = {name for thing in things for name in _modules(thing, set())}
    for name in modules:
        if file_of(name) is None and not getattr(sys.modules.get(name), "__spec__", None):
            raise LookupError(f"{name} is not defined in a file")
    return frozenset().union(*map(_reached, modules))


def imported(code: str) -> set[Path]:
    """Return the files that the cells of a notebook use; raise SyntaxError if they are not Python.

    Lines that start with % or ! are left out.
    """
    lines = [line for line in code.splitlines() if not line.lstrip().startswith(("%", "!"))]
    modules = frozenset().union(*map(_reached, _imports(ast.parse("\n".join(lines)), "")))
    return {file for name in modules if (file := file_of(name))}


@cache
def key(modules: frozenset[str]) -> str:
    """Return 32 hexadecimal digits for the loaded code of modules."""
    known = [(name, meaning(_source(file))) for name in sorted(modules) if (file := file_of(name))]
    return hashlib.sha256(repr(known).encode()).hexdigest()[:32]


def unchanged(modules: Iterable[str]) -> bool:
    """Return whether the files of modules are those that this process has read."""
    files = filter(None, map(file_of, modules))
    try:
        return all(_stamp(f) == _read[f][0] or f.read_bytes() == _read[f][1] for f in files)
    except OSError:
        return False


def look(module: str) -> None:
    """Read a module outside the package, and all that it uses, as they are now."""
    if module.partition(".")[0] != PACKAGE.name:
        with suppress(LookupError):
            used(module)


def meaning(source: bytes) -> str:
    """Hash code without docstrings, comments and layout."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body[0] = ast.Pass()
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


@cache
def file_of(module: str) -> Path | None:
    """Return the source file of a module, or None for a library's and for what has no file."""
    if module == "__main__":
        file = Path(getattr(sys.modules[module], "__file__", None) or "")
        return file.resolve() if file.suffix == ".py" and not _of_library(file) else None
    top, *rest = module.split(".")
    folder = _folder(top)
    if folder is None:
        return None
    base = folder.joinpath(top, *rest)
    return next((f for f in (base / "__init__.py", base.with_suffix(".py")) if f.is_file()), None)


@cache
def _folder(top):
    """Return the folder that holds a top-level module or package, or None for a library."""
    if top == PACKAGE.name:
        return PACKAGE.parent
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):
        return None
    if spec is None or not (spec.has_location or spec.submodule_search_locations):
        return None
    found = Path(*list(spec.submodule_search_locations or [spec.origin])[:1]).resolve()
    return None if _of_library(found) else found.parent


def _of_library(path):
    installed = any(part in ("site-packages", "dist-packages") for part in path.parts)
    return installed or path.resolve().is_relative_to(Path(sysconfig.get_path("stdlib")).resolve())


def _modules(thing, seen) -> Iterator[str]:
    """Yield the modules in which a thing is defined; of a kernel, of the kernels in it as well."""
    thing = getattr(thing, "py_func", thing)
    if isinstance(thing, str):
        yield thing
    elif isinstance(thing, type(sys)):
        yield thing.__name__
    elif (code := getattr(thing, "__code__", None)) is None:
        yield (thing if isinstance(thing, type) else type(thing)).__module__
    elif thing not in seen:
        seen.add(thing)
        # a loop that is made from a template has its name in one module, its code in another
        yield from (thing.__module__, thing.__globals__["__name__"])
        for name in code.co_names:
            if hasattr(kernel := thing.__globals__.get(name), "py_func"):
                yield from _modules(kernel, seen)


@cache
def _reached(module) -> frozenset[str]:
    found, todo = set(), [module]
    while todo:
        name = todo.pop()
        if name not in found and (file := file_of(name)):
            found.add(name)
            package = name if file.name == "__init__.py" else name.rpartition(".")[0]
            todo += _imports(ast.parse(_source(file)), package)
    return frozenset(found)


def _imports(tree, package) -> set[str]:
    """Return the modules that code in a package imports or takes names from."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            # anything can be an attribute of a package
            found |= {inner for alias in node.names for inner in _inside(alias.name)}
        elif isinstance(node, ast.ImportFrom):
            module = _absolute(node, package)
            found |= {_defining(module, alias.name) for alias in node.names}
    return found


def _absolute(node, package) -> str:
    return resolve_name("." * node.level + (node.module or ""), package)


def _inside(module) -> set[str]:
    """Return a module, and the modules in it if it is a package."""
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
        for node in ast.parse(_source(file)).body:
            if isinstance(node, ast.ImportFrom) and (of := _absolute(node, module)) != module:
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return _defining(of, alias.name)
    return module


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
