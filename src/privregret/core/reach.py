"""Know a number by the code that makes it: a hash of values and of all code that they can reach.

Functions, classes and kernels are looked into as they are loaded: bytecode, constants, and what the
names in it lead to. Libraries stand for themselves by name and version. Neither files, comments nor
lines count, so an edit or an assignment changes what that is known by which reads it, and no other.
What cannot be looked into, such as an extension module of one's own, is known in this process only.

Attributes by text (`getattr(module, name)`), files and the environment are not seen: code that
reads them states a `version` in its class or on its function.
"""

import builtins
import dis
import hashlib
import sys
from collections.abc import Callable, Iterable
from functools import cache, partial
from importlib.util import resolve_name
from itertools import chain
from operator import attrgetter, call, is_
from threading import RLock
from types import CodeType, ModuleType
from typing import Any, NamedTuple

import numpy as np
from numba.core.dispatcher import Dispatcher

from privregret.core.written import LOOKED_INTO, PARTS, library, of_library, written


class Known(NamedTuple):
    """What values are known by, and whether another process knows them by the same."""

    digest: str
    portable: bool


HELD = attrgetter("__code__", "__defaults__", "__kwdefaults__")
# of a class: what is said elsewhere, and what Python writes into it
UNREAD = {"__dict__", "__weakref__", "__doc__", "__module__", "__annotations__", "__slotnames__"}
UNREAD |= {"_abc_impl", "__firstlineno__", "__static_attributes__", "__annotate_func__"}
# these keep and show what is computed, and decide none of it
FREE = "files", "jit", "progress", "reach", "store", "written"
FREE = {*map("privregret.core.{}".format, FREE)}
LATEST = 500  # walks that are remembered
_lock, _walks = RLock(), dict[tuple, "_Walk"]()
# what is always written alike, and what was: it is kept, or another thing might have its id
SETTLED = *LOOKED_INTO, np.dtype, bool, type(None)
_texts: dict[tuple, tuple] = {}


def known(*values: Any) -> Known:
    """Return what values are known by, together with all code that they can reach."""
    return each([values])[0]


def each(groups: Iterable[tuple]) -> list[Known]:
    """Return what each group of values is known by, after one look at the code of all. Any error
    for values, other than code, that cannot be written."""
    with _lock:
        texts = [_text(values) for values in groups]
        of = tuple(dict.fromkeys(tuple(map(id, things)) for _, things in texts))
        walk = _walks.pop(of, None)
        if walk is None or not walk.holds():
            walk = _Walk([thing for _, things in texts for thing in things])
        _walks[of] = walk
        if len(_walks) > LATEST:
            del _walks[next(iter(_walks))]
        return [walk.known(*one) for one in texts]


def _text(values):
    """Return what is written of values, once if they are code and types of arrays alone."""
    if not all(isinstance(one, SETTLED) for one in values):
        return written(values)
    key = tuple(map(id, values))
    if key not in _texts:
        _texts[key] = values, written(values)
    return _texts[key][1]


class _Walk:
    """All code that things can reach, and whether it is still what was read."""

    def __init__(self, things: list):
        self.names: dict[Any, Callable] = {}  # each returns an object that must stay the same
        self.looks: list[Callable] = []  # each returns several
        self.values: list[tuple] = []  # objects, and what was written of them
        self.nodes, self.digests, self.things = {}, {}, things
        for thing in things:  # which grow
            if id(thing) not in self.nodes:
                self.nodes[id(thing)] = self._node(thing)
                things += self.nodes[id(thing)][1]
        self.held = self._now()

    def _now(self):
        return [*map(call, self.names.values()), *chain.from_iterable(map(call, self.looks))]

    def holds(self) -> bool:
        """Return whether all is what it was."""
        try:
            now = self._now()
            same = len(now) == len(self.held) and all(map(is_, now, self.held))
            return same and all(written([thing]) == was for thing, was in self.values)
        except Exception:  # a cell is empty by now, or another thread assigns
            return False

    def known(self, content: bytes, things: list) -> Known:
        """Return what a value is known by, from what is written of it and the code in it."""
        key = tuple(map(id, things))
        if key not in self.digests:
            order, places = [*things], {one: i for i, one in enumerate(key)}
            said, portable = hashlib.sha256(), True
            for thing in order:  # which grow
                text, inner, whole = self.nodes[id(thing)]
                new = {id(one): one for one in inner if id(one) not in places}
                places |= {one: len(order) + i for i, one in enumerate(new)}
                order += new.values()
                said.update(text + repr([places[id(one)] for one in inner]).encode())
                portable &= whole
            self.digests[key] = said.digest(), portable
            # compiled code goes on with what a kernel read at its first call
            for kernel in (one for one in order if isinstance(one, Dispatcher) and one.made):
                portable &= {self.known(*written((kernel,))).digest} == kernel.made
            self.digests[key] = said.digest(), portable
        digest, portable = self.digests[key]
        return Known(hashlib.sha256(content + digest).hexdigest(), portable)

    def _node(self, thing):
        """Return what is written of code, the code that it reads, and whether that is all."""
        try:
            return *written(self._parts(thing), self), True
        except Exception:
            return f"unknown {id(thing)}".encode(), [], False

    def _parts(self, thing):
        if isinstance(thing, Dispatcher):
            made = vars(thing).setdefault("made", {"before"} if thing.overloads else set())
            self.looks.append(made.__iter__)
            only = "" if thing._can_compile else str(thing.signatures)
            return "kernel", thing.py_func, tuple(sorted(thing.targetoptions.items())), only
        if isinstance(thing, type):
            self.looks.append(vars(thing).values)
            held = ((name, vars(thing)[name]) for name in sorted(vars(thing).keys() - UNREAD))
            return "class", type(thing), thing.__qualname__, thing.__mro__[1:], *held
        for kind, names in PARTS.items():
            if isinstance(thing, kind):
                return kind.__name__, *(getattr(thing, name, None) for name in names.split())
        # a module as a value has no code: of it anything may be read
        space, names = thing.__globals__, {n for code in codes(thing) for n in code.co_names}
        if space.get("__name__") in FREE:
            return "free", getattr(thing, "__wrapped__", None)
        self.looks += [partial(HELD, thing), vars(thing).values]
        cells = filled(thing)
        self.names |= {id(cell): partial(getattr, cell, "cell_contents") for cell in cells}
        held = HELD(thing), *(cell.cell_contents for cell in cells), *vars(thing).items()
        found = [*self._read(space, names & (space.keys() | vars(builtins).keys()), names)]
        for module in _imports(thing, names):
            found += self._read_module(module, names)
        return "function", held, *found

    def _read(self, space, wanted, names):
        """Yield names and what they lead to, through the program's modules."""
        for name in sorted(wanted):
            self.names[id(space), name] = partial(dict.get, space, name)
            if isinstance(value := space.get(name), ModuleType):
                yield from self._read_module(value, names - {name})
            else:
                yield name, value

    def _read_module(self, module, names):
        if of_library(module):
            yield module.__name__, module
        elif module.__name__ not in FREE:
            found = {name for name in names if hasattr(module, name)}
            yield from self._read(vars(module), found & vars(module).keys(), names)


def codes(function: Any) -> list[CodeType]:
    """Return the code of a function, and all code in it."""
    found = [function.__code__]
    for code in found:  # which grow
        found += (one for one in code.co_consts if isinstance(one, CodeType))
    return found


def filled(function: Any) -> list:
    """Return the cells of a function that hold something."""
    return [one for one in function.__closure__ or () if not repr(one).endswith(": empty>")]


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
    steps = [*dis.get_instructions(code)] if dis.opmap["IMPORT_NAME"] in code.co_code[::2] else []
    found = [i for i, step in enumerate(steps) if step.opname == "IMPORT_NAME"]
    return [(steps[i - 2].argval, steps[i].argval) for i in found]
