"""Encode objects as bytes that no refactoring changes: keys of random streams.

An algorithm is known by the id of its class and the parameters that differ from their defaults, a
problem by its distribution: a new default, a renamed class or a reordered call changes no number.
"""

import hashlib
import math
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import numpy as np

# columns of results, which no parameter can be named after
COLUMNS = {"algorithm", "instance", "run", "t", "regret", "heavy", "proved_epsilon", "error"}
COLUMNS |= {"weight", "mean", "sd", "se", "runs", "least", "greatest"}


def encode(value: object) -> bytes:
    """Encode a value unambiguously in bytes: a tag, a length, the content; 1 and 1.0 alike.
    ValueError for nan; TypeError for a dataclass that inherits its `id`, functions and the like."""
    if value is None:
        return b"N"
    if isinstance(value, (bool, np.bool_)):
        return b"T" if value else b"F"
    # integers that floats do not distinguish
    if isinstance(value, (int, np.integer)) and abs(int(value)) >= 2**53:
        return _long(b"i", str(int(value)).encode())
    if isinstance(value, (int, float, np.integer, np.floating)):
        if math.isnan(value):
            raise ValueError("a parameter must not be nan, which has no identity")
        # -0.0 is 0.0
        return b"f" + (float(value) + 0.0).hex().encode() + b";"
    if isinstance(value, str):
        return _long(b"s", value.encode())
    # arrays of other kinds have no unique bytes
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        real = value.dtype.kind == "f"
        # by value: neither layout nor width counts, and -0.0 is 0.0
        array = np.ascontiguousarray(value, "<f8" if real else "<i8") + 0
        content = hashlib.sha256(array.tobytes()).digest()
        return _long(b"a", encode((real, value.shape)) + content)
    if isinstance(value, (tuple, list)):
        return _long(b"l", b"".join(map(encode, value)))
    if isinstance(value, dict):
        return _long(b"d", b"".join(encode(key) + encode(value[key]) for key in sorted(value)))
    if is_dataclass(value) and not isinstance(value, type):
        return encode(identity(value))
    allowed = "use numbers, strings, lists or dataclasses"
    raise TypeError(f"{type(value).__name__} has no identity: {allowed}")


def identity(thing: Any) -> tuple[str, dict]:
    """Return (id, parameters that differ from their defaults) of a frozen dataclass; a renamed
    field keeps its old name as `field(metadata={"id": ...})`. Without an id, a class is its name.
    """
    own = vars(type(thing)).get("id", None if hasattr(thing, "id") else type(thing).__qualname__)
    if not isinstance(own, str):
        raise TypeError(f"{type(thing).__name__} must define its own id, a string")
    changed = {}
    for f in fields(thing):
        if not f.compare:
            continue
        value, default = getattr(thing, f.name), f.default
        # a class that was sent to a worker has copies of MISSING
        if not isinstance(f.default_factory, type(MISSING)):
            default = f.default_factory()
        if isinstance(default, type(MISSING)) or encode(value) != encode(default):
            changed[f.metadata.get("id", f.name)] = value
    return own, changed


def parameters(algorithm: Any) -> dict[str, Any]:
    """Return the parameters of an algorithm and of an algorithm inside it, as columns of a table;
    ValueError for one that is named like a column of results, or twice."""
    name, result = type(algorithm).__name__, {}
    for f in fields(algorithm):
        value, inner = getattr(algorithm, f.name), {}
        if is_dataclass(value) and hasattr(value, "label"):
            value, inner = value.label, parameters(value)
        elif is_dataclass(value):
            value = repr(value)
        else:
            value = _hashable(value)
        for column, entry in [*inner.items(), (f.name, value)]:
            if column in COLUMNS or column in result:
                why = "a column of results" if column in COLUMNS else "a parameter inside it"
                raise ValueError(f"parameter {column} of {name} must not have the name of {why}")
            result[column] = entry
    return result


def _hashable(value):
    """Return arrays and lists as tuples, so that tables can be grouped by them."""
    value = value.tolist() if isinstance(value, np.ndarray) else value
    return tuple(map(_hashable, value)) if isinstance(value, (list, tuple)) else value


def _long(tag: bytes, content: bytes) -> bytes:
    return tag + str(len(content)).encode() + b":" + content
