"""Write values as bytes, in which functions, classes, kernels and modules are numbers.

Equal values have equal bytes, in every process. Other objects are written as they are pickled, and
what libraries hold by name and version. An error of any kind if a value cannot be written. What was
read of code can be watched, so that it need not be read again as long as it is the same.
"""

import copyreg
import io
import os
import pickle
import re
import sys
from collections import namedtuple
from collections.abc import Callable
from dataclasses import Field, fields, is_dataclass
from functools import cache, cached_property
from itertools import chain
from operator import attrgetter, call, is_
from pathlib import PurePath
from types import BuiltinFunctionType, CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any

import numpy as np

from privregret.core.compiler import Dispatcher
from privregret.core.files import PACKAGE

ATOMS = {type(None), bool, int, float, complex, str, bytes, tuple, range}
# these do not change; what is in a tuple is looked at by itself
FIXED = tuple, type(...), BuiltinFunctionType, np.dtype, np.generic, np.ufunc, re.Pattern
FIXED += (type(namedtuple("Pair", "x").x),)
FIXED_MODULES = {"dataclasses", "inspect", "types", "typing", "reprlib"}
BYTECODE = "code names varnames freevars cellvars consts flags exceptiontable"
BYTECODE += " argcount posonlyargcount kwonlyargcount"
BYTECODE = attrgetter(*map("co_{}".format, BYTECODE.split()))
# what holds functions, and where
WRAPPERS = {property: "fget fset fdel", classmethod: "__func__", staticmethod: "__func__"}
WRAPPERS |= {cached_property: "func", type(cache(len)): "__wrapped__"}
WRAPPERS |= {Field: "name default default_factory init repr hash compare kw_only metadata"}
OF_FUNCTION = attrgetter("__code__", "__defaults__", "__kwdefaults__")
STANDARD = PurePath(os.__file__).parent, PurePath(sys.base_prefix, "DLLs")
CODE = FunctionType, type, Dispatcher, ModuleType, *WRAPPERS


class Watch:
    """What was read, to see at the next call whether it is still the same."""

    def __init__(self):
        self.names: dict[int, tuple[dict, dict]] = {}  # namespaces, and names in them
        self.functions: list[FunctionType] = []
        self.cells: list = []
        self.containers: list[Callable] = []  # each returns what is in a list, a set or a mapping
        self.others: list[tuple] = []  # objects that can change, and their content

    def name(self, space: dict, name: str) -> Any:
        """Return what a name leads to in a namespace, or None, and watch it."""
        self.names.setdefault(id(space), (space, {}))[1][name] = None
        return space.get(name)

    def function(self, function: FunctionType) -> tuple:
        """Return what a function holds, and watch it."""
        cells = function.__closure__ or ()
        self.functions.append(function)
        self.cells += cells
        self.items(vars(function))
        return OF_FUNCTION(function), *map(inside, cells), *vars(function).items()

    def items(self, container: Any) -> None:
        """Watch what is in a list, a set or a mapping."""
        is_mapping = hasattr(container, "keys")
        self.containers.append(container.values if is_mapping else container.copy)
        # an empty one stays empty
        self.containers += [container.keys] if is_mapping and container else []

    def begin(self) -> None:
        """Remember what is there now."""
        self.sizes, self.objects = self._now()

    def holds(self) -> bool:
        """Return whether all is there that was there."""
        try:
            sizes, objects = self._now()
            same = sizes == self.sizes and all(map(is_, objects, self.objects))
            return same and all(content([thing]) == was for thing, was in self.others)
        except Exception:  # another thread assigns
            return False

    def _now(self):
        containers = [*map(call, self.containers), *map(OF_FUNCTION, self.functions)]
        named = (map(space.get, names) for space, names in self.names.values())
        objects = *chain(*named, *containers), *map(inside, self.cells)
        # with sizes, or what moves from one container to the next would not be seen
        return [*map(len, containers)], objects


def inside(cell: Any) -> Any:
    """Return what a cell holds, or None before something is assigned to its name."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def content(value: Any, watch: Watch | None = None) -> tuple[bytes, list]:
    """Return a value as bytes, in which code is a number, and the list of that code; what in it
    can change is watched."""
    writer = _Writer(written := io.BytesIO(), watch)
    writer.dump(value)
    return written.getvalue(), [thing for _, thing in writer.code.values()]


class _Writer(pickle.Pickler):
    """Writes equal values alike."""

    def __init__(self, file, watch):
        super().__init__(file, 5)
        # without a memo it does not matter whether equal constants are one object
        self.fast, self.watch, self.code = True, watch, {}

    def persistent_id(self, thing):
        """Return what is written instead of a thing, or None: itself."""
        kind = type(thing)
        if kind in ATOMS:
            return None
        if kind in (list, dict, set, MappingProxyType) and self.watch:
            self.watch.items(thing)
        if kind in (set, frozenset):  # its order is random
            return "set", sorted(thing, key=lambda one: getattr(one, "__qualname__", repr(one)))
        if kind is CodeType:
            return BYTECODE(thing)
        if isinstance(thing, CODE):
            number = len(self.code), thing
            return of_library(thing) or self.code.setdefault(id(thing), number)[0]
        if kind is MappingProxyType:
            return "mapping", tuple(thing.items())
        if isinstance(thing, PurePath):  # on another machine the package is elsewhere
            return "path", os.path.relpath(thing, PACKAGE)
        if is_dataclass(thing):  # what an object caches does not count
            self.can_change(thing)
            names = {*getattr(thing, "__dict__", ()), *(field.name for field in fields(thing))}
            kept = {name for name in names if isinstance(getattr(kind, name, 0), cached_property)}
            return "fields", kind, tuple((n, getattr(thing, n)) for n in sorted(names - kept))
        return None

    def reducer_override(self, thing):
        """Return how any other object is written."""
        home = type(thing).__module__
        if home != "numpy" and library(home):  # such as `scipy.stats.binom`
            for name, value in vars(sys.modules[home]).items():
                if value is thing:
                    return name
        self.can_change(thing)
        reduce = copyreg.dispatch_table.get(type(thing))
        reduced = reduce(thing) if reduce else thing.__reduce_ex__(5)
        if isinstance(reduced, str) and not library(pickle.whichmodule(thing, reduced)):
            raise pickle.PicklingError(f"{reduced} is known by its name alone")
        return reduced

    def can_change(self, thing):
        """Watch an object, unless such objects do not change."""
        kind = type(thing)
        fixed = issubclass(kind, FIXED) or kind.__module__ in FIXED_MODULES
        if self.watch and not fixed:
            self.watch.others.append((thing, content([thing])))


def of_library(thing: Any) -> str | None:
    """Return the name of what a module of a library defines, with its version, or None."""
    module = isinstance(thing, ModuleType) and thing.__name__
    name = "" if module else getattr(thing, "__qualname__", "<locals>")
    module = module or getattr(thing, "__module__", None)
    home = library(module) if "<locals>" not in name else None
    # `functools.wraps` gives a function of the program the name of what it calls
    if isinstance(thing, FunctionType):
        home = home and library(thing.__globals__.get("__name__")) and home
    elif home and (inner := getattr(thing, "py_func", getattr(thing, "__wrapped__", None))):
        home = of_library(inner) and home
    return home and f"{home} {module}.{name}"


@cache
def library(module: Any) -> str | None:
    """Return the library of a module and its version, or None for a program's own module."""
    package = sys.modules.get(top := str(module).partition(".")[0])
    version, file = (getattr(package, name, None) for name in ("__version__", "__file__"))
    # a program may have a module of the same name
    standard = not file or any(map(PurePath(file).is_relative_to, STANDARD))
    if top in sys.stdlib_module_names and standard:
        return top
    installed = {"site-packages", "dist-packages"}.intersection(PurePath(file or "").parts)
    return f"{top} {version}" if version and installed and top != PACKAGE.name else None
