"""Find the source files on which an object depends: keys of kernels and results.

Dependencies are read from the import statements of the package's modules, at any place in a module,
and followed transitively. A package such as `privregret.bandits` stands for the modules that define
the imported names, so that algorithms do not depend on each other. Dynamic imports are not seen.
"""

import ast
import hashlib
import re
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import NamedTuple

from privregret import files
from privregret.files import PACKAGE

NAME = PACKAGE.name
IN_BRACKETS = r"\((?:[^)#]|#[^\n]*)*\)"
LINE = r"(?:[^\n\\#;]|\\\n)*"
START, SPACE = r"(?:^|[;:])[ \t]*", r"(?:[ \t]|\\\n)"
MODULE = rf"({NAME}\b[\w.]*|\.[\w.]*)"
FROM = re.compile(
    rf"{START}from{SPACE}+{MODULE}{SPACE}+import\b{SPACE}*({IN_BRACKETS}|{LINE})", re.MULTILINE
)
PLAIN = re.compile(rf"{START}import{SPACE}+({LINE})", re.MULTILINE)

STARTED = time.time_ns()  # a newer file may have been loaded before it was edited
MEANINGS = files.cache_folder("meanings")
DEFINITION = Path(__file__).read_bytes()  # of `meaning`: hashes kept by another one do not count
DOCUMENTED = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
FOUND: dict[Path, tuple[int, int]] = {}  # files as they were when this process first looked


def used_by(*things: object) -> frozenset[Path]:
    """Return the package's files that some objects depend on, and their own files.

    Parameters
    ----------
    *things : Path, module, class, function, compiled kernel, or an object of a class
        A function depends on its `__module__`, on the file of its code, and on the kernels among
        its globals that its code uses.

    Raises
    ------
    LookupError
        For an object that is defined in a notebook or at the prompt, not in a file.

    Examples
    --------
    >>> from privregret import noise
    >>> sorted(file.name for file in used_by(noise.laplace))  # doctest: +ELLIPSIS
    ['files.py', 'jit.py', 'noise.py', ...]
    """
    files: set[Path] = set()
    seen: set[int] = set()
    for thing in things:
        files |= {file for own in _files(thing, seen) for file in _reached(own)}
    return frozenset(files)


def imported(code: str) -> frozenset[Path]:
    """Return the package's files that some code depends on by its import statements.

    Examples
    --------
    >>> sorted(file.name for file in imported("from privregret.files import ROOT"))
    ['files.py']
    """
    followed, mentioned = _named(code, None)
    return mentioned.union(*map(_reached, followed))


def source_hash(files: Iterable[Path]) -> str:
    """Hash the names and the `meaning` of source files, in any order.

    Examples
    --------
    >>> len(source_hash(used_by(source_hash)))
    64
    """
    return _hash(frozenset((file, _stamp(file)) for file in files))


def loaded_hash(files: Iterable[Path]) -> str | None:
    """Return `source_hash` of files, or None if one was edited since the start.

    A process keeps the code that it has loaded.

    Examples
    --------
    >>> loaded_hash(used_by(source_hash)) == source_hash(used_by(source_hash))
    True
    """
    try:
        stamped = frozenset((file, _stamp(file)) for file in files)
    except OSError:
        return None
    loaded = all(
        FOUND.setdefault(file, stamp) == stamp and stamp[0] <= STARTED for file, stamp in stamped
    )
    return _hash(stamped) if loaded else None


def meaning(content: bytes) -> str:
    """Hash what Python code does, apart from comments, docs, layout and messages.

    Annotations of arguments and results do not count either. An error message is a string literal
    or f-string among the arguments of an exception in a `raise` statement: it changes no result.

    Examples
    --------
    >>> meaning(b"x = 1  # one") == meaning(b"x = (1)") != meaning(b"x = 2")
    True
    """
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    key = hashlib.sha256(b"\0".join((content, version.encode(), DEFINITION))).hexdigest()
    memo = MEANINGS and MEANINGS / key  # parsing takes longer than a warm start of all else
    with suppress(OSError):
        if memo and len(known := memo.read_text()) == 64:
            return known
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return key
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            node.exc.args = [ast.Constant("") if _is_text(a) else a for a in node.exc.args]
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, DOCUMENTED[2:]):
            node.returns = None
    found = hashlib.sha256(ast.dump(tree).encode()).hexdigest()
    with suppress(OSError):
        if memo:
            files.write(memo, found.encode())
    return found


def _is_text(node):
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


@cache
def _hash(stamped):
    digest = hashlib.sha256()
    read = [_read(file, stamp) for file, stamp in stamped]
    for name, content in sorted((source.name, source.digest) for source in read):
        digest.update(f"{name}\0{content}\0".encode())
    return digest.hexdigest()


class _Source(NamedTuple):
    name: str
    digest: str
    followed: frozenset[Path]  # modules that it imports itself
    # packages that only re-export names; their other imports do not count
    mentioned: frozenset[Path]


def _stamp(file):
    found = file.stat()
    return found.st_mtime_ns, found.st_size


@cache
def _read(file: Path, stamp: tuple[int, int]) -> _Source:
    content = file.read_bytes()
    named = _named(content.decode(errors="replace"), file)
    name = file.relative_to(PACKAGE).as_posix() if file.is_relative_to(PACKAGE) else file.name
    return _Source(name, meaning(content), *named)


@cache
def _reached(file: Path) -> frozenset[Path]:
    """Return a file and all files that it imports, transitively."""
    found: set[Path] = set()
    mentioned: set[Path] = set()
    waiting = [file]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            source = _read(file, FOUND.setdefault(file, _stamp(file)))
            mentioned |= source.mentioned
            waiting += source.followed
    for file in mentioned:
        FOUND.setdefault(file, _stamp(file))
    return frozenset(found | mentioned)


def _files(thing, seen) -> set[Path]:
    """Return the files in which an object itself is defined."""
    if isinstance(thing, Path):
        return {_existing(thing)}
    if isinstance(thing, ModuleType):
        return {_file_of(thing.__name__)}
    thing = getattr(thing, "py_func", thing)  # of a compiled kernel
    code = getattr(thing, "__code__", None)
    if not isinstance(code, CodeType):
        return {_file_of((thing if isinstance(thing, type) else type(thing)).__module__)}
    if id(thing) in seen:
        return set()
    seen.add(id(thing))
    files = {_file_of(thing.__module__), _existing(code.co_filename)}
    cells = {
        name: cell.cell_contents
        for name, cell in zip(code.co_freevars, thing.__closure__ or (), strict=True)
    }
    for name in (*code.co_names, *cells):
        used = cells.get(name, thing.__globals__.get(name))
        if hasattr(used, "py_func"):
            files |= _files(used, seen)
    return files


def _file_of(module: str) -> Path:
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None and (file := _module(module)) is None:
        raise LookupError(f"{module} is not defined in a file")
    return _existing(file)


@cache
def _existing(name) -> Path:
    file = Path(name).resolve()
    if file.suffix != ".py" or not file.is_file():
        raise LookupError(f"{name} is not a Python source file")
    return file


@cache
def _module(name: str) -> Path | None:
    """Return the file of a module of the package, or None."""
    first, *rest = name.split(".")
    if first != NAME:
        return None
    folder = PACKAGE.joinpath(*rest)
    for file in (folder / "__init__.py", folder.with_suffix(".py")):
        if file.is_file():
            return file
    return None


def _named(code: str, file: Path | None) -> tuple[frozenset[Path], frozenset[Path]]:
    """Return the package's files that code imports, and those that re-export names.

    Relative imports are relative to `file`.
    """
    followed: set[Path] = set()
    mentioned: set[Path] = set()
    for module, names in FROM.findall(code):
        for name in _names(names):
            defined, through = _origin(_absolute(module, file), name)
            followed |= defined
            mentioned |= through
    for names in PLAIN.findall(code):
        for name in _names(names):
            if name == NAME:  # anything can be an attribute of it
                followed |= set(PACKAGE.rglob("*.py"))
            elif own := _module(name):
                followed.add(own)
    return frozenset(followed), frozenset(mentioned)


def _absolute(module, file):
    if not module.startswith("."):
        return module
    if file is None or not file.is_relative_to(PACKAGE):
        return ""
    dots = len(module) - len(module.lstrip("."))
    above = (NAME, *file.relative_to(PACKAGE).parts)
    return ".".join((*above[: len(above) - dots], module.lstrip("."))).rstrip(".")


def _names(text):
    """Return the names in an import statement, without their aliases."""
    listed = re.sub(r"#[^\n]*|[()\\]", " ", text).split(",")
    return [words[0] for words in map(str.split, listed) if words]


@cache
def _origin(module: str, name: str) -> tuple[frozenset[Path], frozenset[Path]]:
    """Return the files on which `from module import name` depends, as `_named`."""
    own, inner = _module(module), _module(f"{module}.{name}")
    nothing: frozenset[Path] = frozenset()
    if own is None or inner:
        return frozenset(filter(None, [inner])), nothing
    if own.name == "__init__.py":
        for source, names in FROM.findall(own.read_text(errors="replace")):
            if name in _names(names) and (source := _absolute(source, own)) != module:
                defined, through = _origin(source, name)
                return defined, through | {own}
    return frozenset({own}), nothing
