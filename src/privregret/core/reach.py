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
kernel that was compiled when it read something else, which its code goes on to use.

As long as all that was read is still there, it is not read again (`content.Watch`).

Attributes by text (`getattr(module, name)`), files and the environment are not seen: code that
reads them states a `version` in its class or on its function.
"""

import builtins
import dis
import sys
from collections.abc import Iterable
from functools import cache, lru_cache, partial
from importlib.util import resolve_name
from itertools import chain
from operator import attrgetter
from threading import RLock
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from privregret.core import files
from privregret.core.compiler import Dispatcher, compiled_from, fixed_signatures
from privregret.core.content import CODE, WRAPPERS, Watch, content, library, of_library

OF_FUNCTION = attrgetter("__code__", "__defaults__", "__kwdefaults__")
# of a class: what is read elsewhere, does not count, or is added by Python
NOT_OF_CLASS = {"__dict__", "__weakref__", "__doc__", "__module__", "__annotations__"}
NOT_OF_CLASS |= {"__slotnames__", "_abc_impl", "__firstlineno__", "__static_attributes__"}
NOT_OF_CLASS |= {"__annotate_func__"}
# modules that store and show what is computed, and decide none of it
NEUTRAL = "compiler", "content", "files", "jit", "progress", "reach", "store"
NEUTRAL = {*map("privregret.core.{}".format, NEUTRAL)}
LATEST = 500  # walks that are remembered
_lock, _walks = RLock(), dict[tuple, "_Walk"]()


class Key(NamedTuple):
    """A hash of values and of all code that they can reach."""

    digest: str
    portable: bool  # whether it is the same in every process


def key(*values: Any) -> Key:
    """Return the key of some values together."""
    return keys([values])[0]


def keys(groups: Iterable[tuple]) -> list[Key]:
    """Return the key of each group of values, after one look at the code of all. Any error for
    values, other than code, that cannot be written."""
    with _lock:
        contents = [_content(values) for values in groups]
        starts = tuple(dict.fromkeys(tuple(map(id, code)) for _, code in contents))
        walk = _walks.pop(starts, None)
        if walk is None or not walk.watch.holds():
            walk = _Walk([thing for _, code in contents for thing in code])
        _walks[starts] = walk
        if len(_walks) > LATEST:
            del _walks[next(iter(_walks))]
        return [walk.key(*one) for one in contents]


def _content(values):
    constant = all(isinstance(value, (*CODE, np.dtype, bool, type(None))) for value in values)
    return _content_of_code(*values) if constant else content(values)


@lru_cache(LATEST)
def _content_of_code(*values):
    """Return the content of code and types of arrays, in which code is but a number."""
    return content(values)


class _Node(NamedTuple):
    """What was read of a function, a class or other code."""

    thing: Any  # which keeps it alive, and so its id its own
    content: bytes
    code: list  # to which the content leads
    portable: bool  # whether that is all


class _Walk:
    """All code that can be reached from some code."""

    def __init__(self, starts: list):
        self.watch, self.nodes, self.hashes = Watch(), dict[int, _Node](), {}
        for thing in (things := [*starts]):  # which grow
            if id(thing) not in self.nodes:
                node = self.nodes[id(thing)] = self._node(thing)
                things += node.code
        self.watch.begin()
        for node in [*self.nodes.values()]:
            if isinstance(node.thing, Dispatcher):
                written, code = _content_of_code(node.thing)
                now = files.digest(written + _hash(self._order(code)))
                if compiled_from(node.thing) - {now}:
                    self.nodes[id(node.thing)] = node._replace(portable=False)

    def key(self, written: bytes, code: list) -> Key:
        """Return the key of values with this content, which leads to this code."""
        starts = tuple(map(id, code))
        if starts not in self.hashes:
            order = self._order(code)
            self.hashes[starts] = _hash(order), all(node.portable for node in order.values())
        hashed, portable = self.hashes[starts]
        return Key(files.digest(written + hashed), portable)

    def _order(self, code):
        """Return {id: node} of what is reached from some code, in the order of first visits."""
        order = {id(thing): self.nodes[id(thing)] for thing in code}
        for node in (nodes := [*order.values()]):  # which grow
            new = {id(thing): self.nodes[id(thing)] for thing in node.code}
            nodes += (inner for place, inner in new.items() if place not in order)
            order |= new
        return order

    def _node(self, thing):
        try:
            return _Node(thing, *content(self._parts(thing), self.watch), True)
        except Exception:  # it cannot be read
            return _Node(thing, f"unknown {id(thing)}".encode(), [], False)

    def _parts(self, thing):
        """Return what is read of a function, a class or other code."""
        if isinstance(thing, Dispatcher):
            self.watch.several.append(compiled_from(thing).__iter__)
            options = tuple(sorted(thing.targetoptions.items()))
            return "kernel", thing.py_func, options, fixed_signatures(thing)
        if isinstance(thing, type):
            self.watch.several.append(vars(thing).values)
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
        cells = filled_cells(function)
        self.watch.several += [partial(OF_FUNCTION, function), vars(function).values]
        for cell in cells:
            self.watch.single[id(cell)] = partial(getattr, cell, "cell_contents")
        contents = (cell.cell_contents for cell in cells)
        held = OF_FUNCTION(function), *contents, *vars(function).items()
        found = [*self._lookup(space, names & (space.keys() | vars(builtins).keys()), names)]
        for module in _imports(function, names):
            found += self._attributes(module, names)
        return "function", held, *found

    def _lookup(self, space, wanted, names):
        """Yield some names of a namespace, and what they lead to, through the program's modules."""
        for name in sorted(wanted):
            self.watch.single[id(space), name] = partial(dict.get, space, name)
            if isinstance(value := space.get(name), ModuleType):
                yield from self._attributes(value, names - {name})
            else:
                yield name, value

    def _attributes(self, module, names):
        """Yield those of some names that a module of the program has, or a library as a whole."""
        if of_library(module):
            yield module.__name__, module
        elif module.__name__ not in NEUTRAL:
            # which loads what is loaded on demand
            loaded = {name for name in names if hasattr(module, name)}
            yield from self._lookup(vars(module), loaded & vars(module).keys(), names)


def _hash(order: dict[int, _Node]) -> bytes:
    """Return a hash of nodes, in which each leads to others by their numbers."""
    number = {place: i for i, place in enumerate(order)}
    texts = (n.content + repr([number[id(t)] for t in n.code]).encode() for n in order.values())
    return files.digest(b"".join(texts)).encode()


def codes(function: Any) -> list[CodeType]:
    """Return the code of a function, and all code in it."""
    found = [function.__code__]
    for code in found:  # which grow
        found += (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return found


def filled_cells(function: Any) -> list:
    """Return the cells of a function that hold something."""
    return [c for c in function.__closure__ or () if not repr(c).endswith(": empty>")]


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
