"""Checks of what users pass in: each says in one line which value is wrong and what is allowed."""

import math
import numbers
import operator
import re
import reprlib
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from types import FunctionType
from typing import ClassVar, ParamSpec, TypeVar

import numpy as np

P, R = ParamSpec("P"), TypeVar("R")

# What no machine can do is refused before any work.
LARGEST = 2**62  # rounds of what goes from event to event: kernels count them in 64 bits, and add two such numbers
ROUNDS = 10**10  # of what is played round by round: minutes, a run
TIMES = 10**8  # runs and the like: a table of so many takes gigabytes
SMALLEST = 1e-300  # number that is divided by
SIZE = 10**6  # arms, points on a grid: what an array has as many entries as

_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = 80
_repr.maxlist = _repr.maxtuple = 12


class Checked:
    """A frozen dataclass whose fields are checked, and put into one form, when it is made.

    `rules` holds a check for each field that has one: (name, value) -> value, raising TypeError or ValueError.
    """

    rules: ClassVar[dict] = {}

    def __post_init__(self):
        for name, rule in self.rules.items():
            object.__setattr__(self, name, rule(name, getattr(self, name)))


def _is_bool(value):
    return isinstance(value, (bool, np.bool_))


def shown(value) -> str:
    """A value for a message: in one line, cut if it is long."""
    try:
        if isinstance(value, numbers.Integral) and abs(value) >= 2**64:
            return f"about {'-' * (value < 0)}2^{int(value).bit_length() - 1}"
        text = " ".join(_repr.repr(value).split())
        return text if len(text) < 160 else f"{text[:100]}..."
    except Exception:  # a list that holds itself, a number of more digits than Python prints
        return f"a {type(value).__name__}"


def _finite(value):
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def number(name: str, value, low: float = -math.inf, high: float = math.inf) -> float:
    """A finite real number in [low, high]; never a bool or a string."""
    if _is_bool(value) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, got {shown(value)}")
    if not (_finite(value) and low <= value <= high):
        allowed = f" in [{low:g}, {high:g}]" if high < math.inf else f" of at least {low:g}" if low > -math.inf else ""
        raise ValueError(f"{name} must be a finite number{allowed}, got {shown(value)}")
    return float(value)


def positive(name: str, value) -> float:
    """A finite number above 0, of which the reciprocal is finite, and so is noise of that scale."""
    if isinstance(value, numbers.Real) and not (_finite(value) and value > 0):
        raise ValueError(f"{name} must be a finite number above 0, got {shown(value)}")
    return number(name, value, SMALLEST)


def integer(name: str, value, low: int = 0, high: int = LARGEST) -> int:
    """A whole number in low..high; 1e6 is one, 2.5 and True are not."""
    if isinstance(value, numbers.Real) and abs(value) < 2**53 and value == int(value) and not _is_bool(value):
        value = int(value)
    if _is_bool(value) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, got {shown(value)}")
    if value < low:
        raise ValueError(f"{name} must be at least {low}, got {shown(value)}")
    if value > high:
        raise ValueError(f"{name} must be at most {high}, got {shown(value)}")
    return int(value)


def boolean(name: str, value) -> bool:
    """True or False."""
    if not _is_bool(value):
        raise TypeError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def text(name: str, value) -> str:
    """A string."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, got {shown(value)}")
    return value


def address(name: str, value) -> str:
    """The address of a Dask scheduler, such as tcp://127.0.0.1:8786; or "" for none."""
    if text(name, value) and not re.fullmatch(r"[a-z]+://[^\s/]\S*|[^\s:/]+:\d+", value):
        raise ValueError(f"{name} must be an address, such as tcp://127.0.0.1:8786, got {shown(value)}")
    return value


def choice(name: str, value, allowed) -> str:
    """One of the names in `allowed`."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {shown(value)}")
    return value


def whole(low: int, high: int = LARGEST):
    """The check for a whole number in low..high."""
    return lambda name, value: integer(name, value, low, high)


def rounds(low: int):
    """The check for a number of rounds that are played one by one."""
    return whole(low, ROUNDS)


def times(low: int):
    """The check for how often something is done: runs, random instances tried."""
    return whole(low, TIMES)


def size(low: int):
    """The check for the length of an array: arms, points, cells of a grid."""
    return whole(low, SIZE)


def between(low: float, high: float = math.inf):
    """The check for a number in [low, high]."""
    return lambda name, value: number(name, value, low, high)


def within(low: float, high: float, ends: str = "[]", shape: int | None = None):
    """The check for a number from low to high, or an array of such numbers: what formulas take.

    Whole numbers stay whole, of any size (numpy's own would wrap around), arrays become arrays of floats.

    Parameters
    ----------
    low, high : float
        Finite.
    ends : {"[]", "(]", "[)", "()"}
        Which of the two are allowed themselves.
    shape : int, optional
        0 if it must be a single number; else an array must have so many dimensions, and hold something.
    """
    allowed = f"in {ends[0]}{low:g}, {high:g}{ends[1]}"
    named = {None: "a number, or an array of numbers,", 0: "a number", 1: "a list of numbers"}
    kind = named.get(shape, f"an array of {shape} dimensions,")
    above, below = (operator.ge, operator.gt)[ends[0] == "("], (operator.le, operator.lt)[ends[1] == ")"]

    def check(name, value):
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        if not shape and (type(value) in (float, int) or _is_number(value)):
            value = _plain(value)
            if not (above(value, low) and below(value, high)):  # a nan fails too
                raise ValueError(f"{name} must be a finite number {allowed}, got {shown(value)}")
            return value
        array = _array(value) if shape != 0 else None
        if array is None or (shape and array.ndim != shape):
            raise TypeError(f"{name} must be {kind} {allowed}, got {shown(value)}")
        if array.size == 0 and shape:
            raise ValueError(f"{name} must hold numbers {allowed}, got none")
        if array.size and not (above(array.min(), low) and below(array.max(), high)):
            wrong = ~(above(array, low) & below(array, high))
            raise ValueError(f"{name} must hold finite numbers {allowed}, got {array[wrong][0]}")
        return array

    return check


def _is_number(value):
    return isinstance(value, numbers.Real) and not _is_bool(value)


def _plain(number):
    """Python's own number in place of another: one that is neither narrow nor wraps around."""
    if isinstance(number, float):
        return number
    return int(number) if isinstance(number, numbers.Integral) else float(number) if _finite(number) else math.inf


def _array(value):
    """An array of floats made of numbers, and of nothing that numpy would take for one; else None."""
    try:
        array = np.asarray(value)
        if isinstance(value, (list, tuple)) and any(map(_is_bool, np.asarray(value, object).flat)):
            return None
        if array.dtype.kind == "O" and all(map(_is_number, array.flat)):
            array = np.array([v if _finite(v) else math.nan for v in array.flat], float).reshape(array.shape)
        return np.asarray(array, float, order="C") if array.dtype.kind in "iuf" and array.ndim else None
    except (TypeError, ValueError, OverflowError):  # lists of lists of different lengths, among others
        return None


def _floats(value):
    """A C-ordered array of floats; a ValueError for words, though numpy may read them, and complex numbers."""
    array = np.asarray(value)
    if array.dtype.kind in "USc" or (array.dtype.kind == "O" and any(isinstance(v, (str, bytes)) for v in array.flat)):
        raise ValueError
    return np.ascontiguousarray(array, dtype=float)


def arguments(module: dict | None = None, /, **rules):
    """Check what a function takes, by the names of its arguments: a decorator that stands above the function.

    Parameters
    ----------
    **rules : callable
        Name of an argument -> its check, (name, value) -> value, raising TypeError or ValueError. Where an argument is
        None by default, None is allowed.

    Raises
    ------
    TypeError
        At import, if the function has no such argument.

    Examples
    --------
    >>> @arguments(horizon=whole(1))
    ... def halves(horizon):
    ...     return horizon // 2
    >>> halves(0)
    Traceback (most recent call last):
    ...
    ValueError: horizon must be at least 1, got 0
    """
    if module is not None:  # the older form, called at the end of a module
        return _all_arguments(module, **rules)

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        if unknown := set(rules) - set(signature(function).parameters):
            raise TypeError(f"{function.__qualname__} has no argument {', '.join(sorted(unknown))} to check")
        return _checked(function, rules)

    return decorate


def _all_arguments(module: dict, **rules) -> None:
    own = {name: rules.pop(name) for name in [n for n, rule in rules.items() if isinstance(rule, dict)]}
    for name, function in list(module.items()):
        public = isinstance(function, FunctionType) and not name.startswith("_")
        if public and function.__module__.startswith(module["__name__"]):
            module[name] = _checked(function, rules | own.pop(name, {}))
    assert not own, own


def _checked(function, rules):
    """The function, after the checks of those arguments that have one."""
    parameters = signature(function).parameters.values()
    optional = {p.name for p in parameters if p.default is None}
    rules = {p.name: rules[p.name] for p in parameters if p.name in rules and p.kind != Parameter.VAR_KEYWORD}
    if not rules:
        return function
    names = [p.name for p in parameters]

    def passed(name, value):
        return value if name not in rules or (value is None and name in optional) else rules[name](name, value)

    @wraps(function)
    def call(*args, **kwargs):
        given = [passed(name, value) for name, value in zip(names, args, strict=False)]  # Python tells if too many
        return function(*given, *args[len(given) :], **{name: passed(name, value) for name, value in kwargs.items()})

    return call


def a(*kinds: type):
    """The check for an object of one of these classes."""

    def check(name, value):
        if not isinstance(value, kinds):
            raise TypeError(f"{name} must be {' or '.join(kind.__name__ for kind in kinds)}, got {shown(value)}")
        return value

    return check


def one_of(*allowed: str):
    """The check for one of these strings."""
    return lambda name, value: choice(name, value, allowed)


def many(rule, least: int = 1):
    """The check for a list of at least so many values, none of them twice, each of which passes `rule`."""

    def check(name, value):
        if not isinstance(value, (list, tuple)):
            like = ", ".join(re.findall(r"[-+.\de]*\d", shown(value))) or "0.5, 1"
            raise TypeError(f'{name} must be a list, such as "[{like}]", got {shown(value)}')
        if len(value) > SIZE:
            raise ValueError(f"{name} must be a list of at most {SIZE} values, got {len(value)}")
        if len(value) < least:
            raise ValueError(f"{name} must be a list of at least {least} value{'s'[: least > 1]}, got {shown(value)}")
        values = [rule(f"{name}[{i}]", v) for i, v in enumerate(value)]
        if len(set(values)) < len(values):
            raise ValueError(f"{name} must not hold a value twice, got {shown(value)}")
        return values

    return check


def listed(name: str, value) -> list:
    """One thing, or a non-empty sequence of them, as a list."""
    items = list(value) if isinstance(value, (list, tuple)) else [value]
    if not items:
        raise ValueError(f"{name} must hold at least one, got none")
    for item in items:
        if isinstance(item, type):
            raise TypeError(f"{name} must hold {item.__name__}(...), with its parameters, got the class itself")
    return items


def means(name: str, value) -> np.ndarray:
    """Means of at least two Bernoulli arms, each in [0, 1], as a (K,) float array."""
    array = _array(value)
    if array is None:
        raise TypeError(f"{name} must be a list of numbers, got {shown(value)}")
    if array.ndim != 1 or len(array) < 2:
        raise ValueError(f"{name} must be a list of at least 2 numbers, got shape {array.shape}")
    if not (array.min() >= 0 and array.max() <= 1):  # a nan fails too
        wrong = array[~((array >= 0) & (array <= 1))][0]
        raise ValueError(f"{name} must lie in [0, 1], got {wrong}")
    return array


def horizons(value, arms: int, longest: int = LARGEST) -> np.ndarray:
    """Increasing rounds at which to report, the last at least the number of arms, as int64."""
    array = np.asarray(value)
    if array.ndim != 1 or len(array) == 0 or array.dtype.kind not in "iu":
        raise TypeError(f"rounds must be a list of whole numbers, got {shown(value)}")
    array = array.astype(np.int64)
    if array[0] < 1 or (len(array) > 1 and (array[1:] <= array[:-1]).any()):
        raise ValueError(f"rounds must be increasing and start at 1 or later, got {shown(value)}")
    if array[-1] < arms:
        raise ValueError(f"horizon must be at least the number of arms ({arms}), got {array[-1]}")
    if array[-1] > longest:
        raise ValueError(f"horizon must be at most {longest}, got {array[-1]}")
    return array


def table(name: str, value, low: float = 0.0, high: float = 1.0, short: bool = False) -> np.ndarray:
    """A (T, K) table with entries in [low, high], T >= K >= 2 (T >= 1 if `short`), as a C-ordered float array."""
    try:
        array = _floats(value)
    except (TypeError, ValueError, OverflowError):
        words = [c for c in getattr(value, "columns", ()) if value[c].dtype.kind not in "biuf"]
        found = f"; column {words[0]!r} holds {value[words[0]].iloc[0]!r}" if words else ""
        raise ValueError(f"{name} must be a table of numbers, one row a round, all rows equally long{found}") from None
    if array.ndim != 2 or array.shape[1] < 2 or array.shape[0] < (1 if short else array.shape[1]):
        rounds = "T >= 1, K >= 2" if short else "T >= K >= 2"
        raise ValueError(f"{name} must have shape (T, K) with {rounds}, got shape {array.shape}")
    wrong = ~((array >= low) & (array <= high))  # catches nan as well
    if wrong.any():
        t, j = np.argwhere(wrong)[0]
        raise ValueError(f"{name} must lie in [{low:g}, {high:g}], got {array[t, j]} in row {t}, column {j}")
    return array


def entries(name: str, value, dimensions: int) -> np.ndarray:
    """A non-empty array of numbers in [0, 1] with so many dimensions, as a C-ordered float array."""
    try:
        array = _floats(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be a table of numbers, all rows equally long") from None
    if array.ndim != dimensions or array.size == 0:
        raise ValueError(f"{name} must be a table of {dimensions} dimensions, got shape {array.shape}")
    if not (array.min() >= 0 and array.max() <= 1):  # a nan fails too
        raise ValueError(f"{name} must lie in [0, 1], got {array[~((array >= 0) & (array <= 1))][0]}")
    return array


def frame(name: str, value):
    """A table with named columns: a pandas.DataFrame, as this package gives them."""
    if not hasattr(value, "groupby"):  # without pandas, whose import takes long
        raise TypeError(f"{name} must be a DataFrame, got {shown(value)}")
    return value


def csv(name: str, value) -> str:
    """The path of a CSV file with a line of column names above a table (see `table`); or "" for none."""
    if text(name, value):
        import pandas as pd  # here alone: kernels, whose parameters these checks are for, do without it

        try:
            if not Path(value).is_file():  # an address would be fetched, a device read without end
                raise ValueError("No such file")
            frame = pd.read_csv(value)
        except (OSError, ValueError) as error:
            why = str(error).splitlines()[0][:100]
            raise ValueError(f"{name} must name a CSV file, got {shown(value)}: {why}") from None
        if all(column.replace(".", "", 1).isdigit() for column in frame.columns.astype(str)):
            raise ValueError(f"{name} must name its columns in the first line, got {', '.join(frame.columns)}")
        table(f"{name} {shown(value)}", frame)
    return value
