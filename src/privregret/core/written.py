"""Write values as bytes, in which functions, classes, kernels and modules are numbers.

Equal values have equal bytes, in every process. Other objects are written as they are pickled, and
what libraries hold by name and version. An error of any kind if a value cannot be written.
"""

import copyreg
import io
import os
import pickle
import re
import sys
from collections import namedtuple
from dataclasses import Field, fields, is_dataclass
from functools import cache, cached_property
from operator import attrgetter
from pathlib import PurePath
from threading import Lock, RLock
from types import BuiltinFunctionType, CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

from privregret.core.files import PACKAGE

ATOMS = {type(None), bool, int, float, complex, str, bytes, tuple, range}
# these do not change; what is in a tuple is looked at by itself
FIXED = tuple, type(...), BuiltinFunctionType, np.dtype, np.generic, np.ufunc, re.Pattern
FIXED += (type(namedtuple("Pair", "x").x),)
CODE = "code names varnames freevars cellvars consts flags argcount posonlyargcount kwonlyargcount"
CODE = attrgetter("co_exceptiontable", *map("co_{}".format, CODE.split()))
# what is looked into besides functions, classes and kernels, and where
PARTS = {property: "fget fset fdel", classmethod: "__func__", staticmethod: "__func__"}
PARTS |= {cached_property: "func", type(cache(len)): "__wrapped__"}
PARTS |= {Field: "name default default_factory init repr hash compare kw_only metadata"}
LOOKED_INTO = FunctionType, type, Dispatcher, ModuleType, *PARTS


def written(value: Any, walk: Any = None) -> tuple[bytes, list]:
    """Return a value as bytes, in which code is a number, and the list of that code."""
    writer = _Writer(content := io.BytesIO(), walk)
    writer.dump(value)
    return content.getvalue(), [thing for _, thing in writer.things.values()]


class _Writer(pickle.Pickler):
    """Writes equal values alike, and tells a walk what may change."""

    def __init__(self, into, walk):
        super().__init__(into, 5)
        # without a memo it does not matter whether equal constants are one object
        self.fast, self.walk, self.things = True, walk, {}

    def persistent_id(self, thing):
        """Return what is written instead of a thing, or None: itself."""
        kind = type(thing)
        if kind in ATOMS:
            return None
        if kind in (list, dict, set) and self.walk:
            self.walk.looks += [thing.keys, thing.values] if kind is dict else [thing.__iter__]
        if kind in (set, frozenset):  # its order is random
            return "set", sorted(thing, key=lambda one: getattr(one, "__qualname__", repr(one)))
        if kind is CodeType:
            return CODE(thing)
        if isinstance(thing, LOOKED_INTO):
            place = len(self.things), thing
            return of_library(thing) or self.things.setdefault(id(thing), place)[0]
        if kind in (type(Lock()), type(RLock())):
            return kind.__name__
        if kind is MappingProxyType:
            return "mapping", tuple(thing.items())
        if isinstance(thing, PurePath):  # on another machine the package is elsewhere
            return "path", os.path.relpath(thing, PACKAGE)
        if kind is np.random.Generator:
            self.changes(thing)
            return "generator", thing.bit_generator.state
        if is_dataclass(thing):  # what an object caches does not count
            self.changes(thing)
            return "fields", kind, tuple(getattr(thing, field.name) for field in fields(thing))
        return None

    def reducer_override(self, thing):
        """Return how any other object is written."""
        home = type(thing).__module__
        if home != "numpy" and library(home):  # such as `scipy.stats.binom`
            for name, value in vars(sys.modules[home]).items():
                if value is thing:
                    return name
        self.changes(thing)
        reduce = copyreg.dispatch_table.get(type(thing))
        found = reduce(thing) if reduce else thing.__reduce_ex__(5)
        if isinstance(found, str) and not library(pickle.whichmodule(thing, found)):
            raise pickle.PicklingError(f"{found} is known by its name alone")
        return found

    def changes(self, thing):
        """Note what is written of an object that may change."""
        kind = type(thing)
        fixed = issubclass(kind, FIXED) or kind.__module__ in ("dataclasses", "types", "typing")
        if self.walk and not fixed:
            self.walk.values.append((thing, written([thing])))


def of_library(thing: Any) -> str | None:
    """Return the name of what a module of a library defines, with its version, or None."""
    module = isinstance(thing, ModuleType) and thing.__name__
    name = "" if module else getattr(thing, "__qualname__", "<locals>")
    module = module or getattr(thing, "__module__", None)
    of = library(module) if "<locals>" not in name else None
    return of and f"{of} {module}.{name}"


@cache
def library(module: Any) -> str | None:
    """Return the library of a module and its version, or None for a program's own module."""
    found = sys.modules.get(top := str(module).partition(".")[0])
    if top in sys.stdlib_module_names or top == "builtins":
        return top
    version, file = (getattr(found, name, None) for name in ("__version__", "__file__"))
    installed = {"site-packages", "dist-packages"}.intersection(PurePath(file or "").parts)
    return f"{top} {version}" if version and installed and top != PACKAGE.name else None
