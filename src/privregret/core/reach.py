"""Key a value by what decides what it does: its content, and all code that it can reach.

Code is read as it is loaded. So neither files, comments nor lines count, and an edit or an
assignment changes the keys of what reads it, and no others. What is read is

- of a function: bytecode and constants, defaults, cells, attributes, and what its names lead to,
  through modules of the program, also those that it imports;
- of a class: its bases and its attributes, but for docstrings, annotations and what Python adds;
- of a kernel: its function, numba's options, and its signatures if it takes no others;
- of a property, a cached function, a field and the like: what they hold;
- of what a library defines: its name and the library's version;
- of any other object: what pickle writes (`content`).

Code is numbered in the order in which it is reached, so that functions may call each other, and
that equal code has equal keys in every process. What cannot be read, such as an extension module of
one's own, has a key for this process alone, and so has all that reaches it. The same holds for a
kernel that was compiled, and a cached function that was called, when it read something else.

As long as all that was read is still there, it is not read again (`content.Watch`).

Attributes by text (`getattr(module, name)`), files and the environment are not seen: code that
reads them states a `version` in its class or on its function.
"""

import dis
import sys
from collections.abc import Iterable
from functools import cache, cached_property, lru_cache, partial
from importlib import import_module
from importlib.util import resolve_name
from itertools import chain
from operator import attrgetter
from threading import RLock
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from privregret.core import files
from privregret.core.compiler import Dispatcher, all_options, compiled_from, fixed_signatures
from privregret.core.content import CODE, WRAPPERS, Watch, content, library, of_library

# of a class: what is read elsewhere, does not count, or is added by Python
NOT_OF_CLASS = {"__dict__", "__weakref__", "__doc__", "__module__", "__annotations__"}
NOT_OF_CLASS |= {"__slotnames__", "_abc_impl", "__firstlineno__", "__static_attributes__"}
NOT_OF_CLASS |= {"__annotate_func__"}
# modules that store and show what is computed, and decide none of it
NEUTRAL = "compiler", "content", "files", "jit", "progress", "reach", "store"
NEUTRAL = {*map("privregret.core.{}".format, NEUTRAL)}
CACHED = type(cache(len))
LATEST = 500  # walks, and contents of code, that are remembered
_lock, _walks = RLock(), dict[tuple, "_Walk"]()


class Key(NamedTuple):
    """A hash of values and of all code that they can reach."""

    digest: str
    portable: bool  # whether it is the same in every process


def key(*values: Any) -> Key:
    """Return the key of some values together."""
    return keys([values])[0]


def keys(groups: Iterable[tuple]) -> list[Key]:
    """Return the key of each group of values, after one look at code that they share. Any error for
    values, other than code, that cannot be written."""
    walks: dict[tuple, _Walk] = {}
    result = []
    with _lock:
        for written, code in map(_content, groups):
            starts = tuple(map(id, code))
            walk = walks[starts] = walks.get(starts) or _walk(code)
            result.append(Key(walk.digest(written), walk.portable))
    return result


def read_in_modules(*code: Any) -> list[tuple[str, str]]:
    """Return (module, name) of what some code reads in the program's modules, not in its script or
    notebook, and has the same key in every process."""
    with _lock:
        walk = _walk(_content(code)[1])
        found = {
            (space.get("__name__"), n) for space, names in walk.watch.names.values() for n in names
        }
        found |= {
            (getattr(c, "__module__", None), getattr(c, "__qualname__", "")) for c in walk.code
        }
        own = {(m, n) for m, n in found if m in sys.modules and m != "__main__" and not library(m)}
        own = {(m, n) for m, n in own if not m.startswith(f"{files.PACKAGE.name}.")}
        return sorted((m, n) for m, n in own if key(*read_there([(m, n)])).portable)


def read_there(names: Iterable[tuple[str, str]]) -> list:
    """Return what names lead to in modules; None for what is not there, and for modules."""
    values = []
    for module, name in names:
        try:
            value = attrgetter(name)(import_module(module))
        except (ImportError, AttributeError):
            value = None
        values.append(None if isinstance(value, ModuleType) else value)
    return values


def outdated(kernel: Any) -> bool:
    """Return whether a kernel was compiled from other code or constants than it reads now."""
    if not compiled_from(kernel):
        return False
    with _lock:
        written, code = _content((kernel,))
        return compiled_from(kernel) != {_walk(code).digest(written)}


def _filled_before(function):
    """Return whether a cached function may hold what it made when it read something else."""
    with _lock:
        now = _walk([function.__wrapped__]).hash
    before = vars(function).setdefault("filled_from", now)
    if not function.cache_info().currsize:
        vars(function)["filled_from"] = now
    return bool(function.cache_info().currsize) and before != now


def _content(values):
    constant = all(isinstance(value, (*CODE, np.dtype, bool, type(None))) for value in values)
    return _content_of_code(*values) if constant else content(values)


@lru_cache(LATEST)
def _content_of_code(*values):
    """Return the content of code and types of arrays, in which code is but a number."""
    return content(values)


def _walk(code):
    """Return the walk from some code, an earlier one if all that it read is still the same."""
    starts = tuple(map(id, code))
    walk = _walks.pop(starts, None)
    if walk is None or not walk.watch.holds():
        walk = _Walk(code)
    _walks[starts] = walk
    if len(_walks) > LATEST:
        del _walks[next(iter(_walks))]
    return walk


class _Walk:
    """A look at all code that can be reached from some code, which it numbers as it comes."""

    def __init__(self, code: list):
        self.watch, self.complete, self.code, written = Watch(), True, [*code], []
        number = {id(thing): i for i, thing in enumerate(code)}
        for thing in self.code:  # which grows
            text, inner = self._read(thing)
            for reached in inner:
                if id(reached) not in number:
                    number[id(reached)] = len(self.code)
                    self.code.append(reached)
            written += [text, repr([number[id(reached)] for reached in inner]).encode()]
        self.hash = files.digest(b"".join(written)).encode()
        self.watch.begin()

    def digest(self, written: bytes) -> str:
        """Return the hash of values with this content, which leads to the code."""
        return files.digest(written + self.hash)

    @cached_property
    def portable(self) -> bool:
        """Whether all could be read, and compiled code is that of what its kernels read."""
        kernels = (thing for thing in self.code if isinstance(thing, Dispatcher))
        keeping = (thing for thing in self.code if isinstance(thing, CACHED))
        return self.complete and not any([*map(outdated, kernels), *map(_filled_before, keeping)])

    def _read(self, thing):
        """Return the content of code, and the code to which it leads."""
        try:
            return content(self._parts(thing), self.watch)
        except Exception:
            self.complete = False
            return f"unknown {id(thing)}".encode(), []

    def _parts(self, thing):
        """Return what is read of a function, a class or other code."""
        if isinstance(thing, Dispatcher):
            self.watch.items(compiled_from(thing))
            options = tuple(sorted(all_options(thing).items()))
            return "kernel", thing.py_func, options, fixed_signatures(thing)
        if isinstance(thing, type):
            self.watch.items(vars(thing))
            self.watch.containers.append(partial(getattr, thing, "__mro__"))
            names = sorted(vars(thing).keys() - NOT_OF_CLASS)
            attributes = ((name, vars(thing)[name]) for name in names)
            return "class", type(thing), thing.__qualname__, thing.__mro__[1:], *attributes
        if isinstance(thing, FunctionType):
            return self._function(thing)
        for kind, names in WRAPPERS.items():
            if isinstance(thing, kind):
                return kind.__name__, *(getattr(thing, name, None) for name in names.split())
        raise TypeError("of a module as a value anything may be read")

    def _function(self, function):
        """Return what a function holds, and what its names lead to."""
        space, names = function.__globals__, {n for code in codes(function) for n in code.co_names}
        if space.get("__name__") in NEUTRAL:
            return "neutral", getattr(function, "__wrapped__", None)
        held = self.watch.function(function)
        found = [*self._lookup(space, names, seen := set())]
        for module in _imports(function, names):
            found += self._attributes(module, names, seen)
        return "function", held, *found

    def _lookup(self, space, names, seen):
        """Yield what names lead to in a namespace, and through the program's modules, but for those
        that were seen; None for what it does not have: attributes, builtins, and what may be
        defined later."""
        for name in sorted(names):
            if isinstance(value := self.watch.name(space, name), ModuleType):
                yield from self._attributes(value, names, seen)
            else:
                yield name, value

    def _attributes(self, module, names, seen):
        """Yield what names lead to in a module of the program, or a library as a whole."""
        if of_library(module):
            yield module.__name__, module
        elif module.__name__ not in NEUTRAL and module not in seen:
            seen.add(module)
            # this loads what is loaded on demand
            made = [hasattr(module, name) and name not in vars(module) for name in names]
            names = names | {"__getattr__"} if any(made) else names
            yield from self._lookup(vars(module), names, seen)


def codes(function: Any) -> list[CodeType]:
    """Return the code of a function, and all code in it."""
    found = [function.__code__]
    for code in found:  # which grow
        found += (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return found


def _imports(function, names):
    """Yield the program's modules that a function imports."""
    for level, name in chain.from_iterable(map(_imported, codes(function))):
        name = resolve_name("." * level + name, function.__globals__.get("__package__"))
        parts = name.split(".")
        if __import__(name) and not library(name):
            __import__(name, fromlist=sorted(names))
        yield from (sys.modules[".".join(parts[: i + 1])] for i in range(len(parts)))


@cache
def _imported(code):
    """Return (level, name) of the imports in some code."""
    steps = [*dis.get_instructions(code)] if dis.opmap["IMPORT_NAME"] in code.co_code[::2] else []
    found = [i for i, step in enumerate(steps) if step.opname == "IMPORT_NAME"]
    return [(steps[i - 2].argval, steps[i].argval) for i in found]
