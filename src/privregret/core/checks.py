"""Check arguments: an error names the argument, its value and what is allowed.

A *rule* is a function (name, value) -> value that raises a TypeError or ValueError with the
argument's name in it. Rules are used in the decorator `arguments`, in the `rules` of a dataclass
(`Checked`), in the check of a notebook's parameters, and by direct calls. Each rule is named after
the values that it accepts; bounds are given as low, high:

- one number: `positive`, `probability`, `number_in(low, high, ends)`;
- one whole number: `positive_int`, `nonnegative_int`, `integer_in(low, high)`;
- several: `array_in(low, high, ends, shape)`, `means`, `table`, `checkpoints(shortest, longest)`;
- anything else: `boolean`, `text`, `one_of(*names)`, `instance_of(*kinds)`, `dataframe`,
- lists of these: `list_of(rule, least)`, `one_or_more`.

Examples
--------
>>> probability("delta", 0.5)
0.5
>>> integer_in(2, SIZE)("arms", 1)
Traceback (most recent call last):
...
ValueError: arms must be at least 2, got 1
"""

import ast
import difflib
import math
import numbers
import operator
import re
import reprlib
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Any, ClassVar, ParamSpec, TypeVar

import numpy as np

from privregret.core import code_key

P = ParamSpec("P")
R = TypeVar("R")
Rule = Callable[[str, Any], Any]

# Upper limits, checked before any computation.
LARGEST = 2**62  # rounds of event kernels, which add two of them in 64 bits
ROUNDS = 10**10  # rounds that are played one by one: minutes per run
RUNS = 10**8  # runs and other repetitions: a table with 10^8 rows takes gigabytes
SIZE = 10**6  # arms and points of a grid: entries of an array
# parameters lie in SMALLEST..1 / SMALLEST: products of some, with 2^62 rounds, are finite
SMALLEST = 1e-100

_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = 80
_repr.maxlist = _repr.maxtuple = 12


# Helpers of messages and rules


def shown(value: object) -> str:
    """Return a value as text for a message: one line, shortened if it is long."""
    try:
        if isinstance(value, numbers.Integral) and abs(int(value)) >= 2**64:
            return f"about {'-' * (value < 0)}2^{int(value).bit_length() - 1}"
        text = " ".join(_repr.repr(value).split())
        return text if len(text) < 160 else f"{text[:100]}..."
    except (
        Exception
    ):  # a list that contains itself, or a number with more digits than Python prints
        return f"a {type(value).__name__}"


def _is_bool(value):
    return isinstance(value, (bool, np.bool_))


def _is_number(value):
    return isinstance(value, numbers.Real) and not _is_bool(value)


def _finite(value):
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond all floats
        return False


def _sides(ends):
    return (operator.ge, operator.gt)[ends[0] == "("], (operator.le, operator.lt)[ends[1] == ")"]


def _plain(number):
    """Convert a number to a Python number, which is neither narrow nor wraps around."""
    if isinstance(number, float):
        return number
    return (
        int(number)
        if isinstance(number, numbers.Integral)
        else float(number)
        if _finite(number)
        else math.inf
    )


def _array(value, bits=False):
    """Return an array of floats if all entries are numbers, else None."""
    try:
        array = np.asarray(value)
        if bits and array.dtype.kind == "b":
            return np.asarray(array, float, order="C")
        if isinstance(value, (list, tuple)) and any(map(_is_bool, np.asarray(value, object).flat)):
            return None
        if array.dtype.kind == "O" and all(map(_is_number, array.flat)):
            array = np.array([v if _finite(v) else math.nan for v in array.flat], float).reshape(
                array.shape
            )
        return (
            np.asarray(array, float, order="C")
            if array.dtype.kind in "iuf" and array.ndim
            else None
        )
    except (TypeError, ValueError, OverflowError):  # such as lists of lists of different lengths
        return None


def _floats(value):
    """Return a C-ordered array of floats; raise a ValueError for other content."""
    array = np.asarray(value)
    if array.dtype.kind in "USc" or (
        array.dtype.kind == "O" and any(isinstance(v, (str, bytes)) for v in array.flat)
    ):
        raise ValueError
    return np.ascontiguousarray(array, dtype=float)


# Use of rules


class Checked:
    """Check the fields of a frozen dataclass, and give them one form, on creation.

    `rules` holds a rule for each field that has one.
    """

    rules: ClassVar[dict] = {}

    def __init_subclass__(cls, **more):
        super().__init_subclass__(**more)
        code_key.look(cls.__module__)

    def __post_init__(self):
        for name, rule in self.rules.items():
            object.__setattr__(self, name, rule(name, getattr(self, name)))


def arguments(**rules: Rule) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function so that its arguments are checked by rules.

    Parameters
    ----------
    **rules : callable
        Name of an argument -> its rule. If the default of an argument is None, None is allowed.

    Raises
    ------
    TypeError
        At import, if the function lacks one of the arguments.

    Examples
    --------
    >>> @arguments(horizon=positive_int)
    ... def halves(horizon):
    ...     return horizon // 2
    >>> halves(0)
    Traceback (most recent call last):
    ...
    ValueError: horizon must be at least 1, got 0
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        parameters = signature(function).parameters
        several = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        known = {name for name, parameter in parameters.items() if parameter.kind not in several}
        if unknown := set(rules) - known:
            raise TypeError(
                f"{function.__qualname__} has no argument {', '.join(sorted(unknown))} to check"
            )
        return _checked(function, parameters, rules)

    return decorate


def _checked(function: Callable[P, R], parameters, rules) -> Callable[P, R]:
    """Return the function with checks of those arguments that have a rule."""
    checked = [
        (place, name, rules[name], parameter.default is None)
        for place, (name, parameter) in enumerate(parameters.items())
        if name in rules
    ]

    @wraps(function)
    def call(*args, **kwargs):
        given, passed = list(args), len(args)
        for place, name, rule, optional in checked:
            if place < passed:
                value = given[place]
                if value is not None or not optional:
                    given[place] = rule(name, value)
            elif name in kwargs:
                value = kwargs[name]
                if value is not None or not optional:
                    kwargs[name] = rule(name, value)
        return function(*given, **kwargs)

    return call


# One number


def positive(name: str, value: Any) -> float:
    """Check a number above 0, from 1e-100 to 1e100; return a float."""
    if type(value) is float and SMALLEST <= value <= 1 / SMALLEST:
        return value
    if _is_number(value) and not (_finite(value) and value > 0):
        raise ValueError(f"{name} must be a finite number above 0, got {shown(value)}")
    return _positive(name, value)


def number_in(low: float, high: float, ends: str = "[]") -> Rule:
    """Return the rule for a finite number from low to high, not a bool or a string.

    Parameters
    ----------
    low, high : float
        Infinite if there is no limit.
    ends : {"[]", "(]", "[)", "()"}
        Whether low and high themselves are allowed.
    """
    above, below = _sides(ends)
    allowed = f" in {ends[0]}{low:g}, {high:g}{ends[1]}"
    if high == math.inf:
        allowed = (
            "" if low == -math.inf else f" {'above' if ends[0] == '(' else 'of at least'} {low:g}"
        )

    def rule(name, value):
        if type(value) is not float:
            if isinstance(value, np.ndarray) and value.ndim == 0:
                value = value[()]
            if not _is_number(value):
                raise TypeError(f"{name} must be a number, got {shown(value)}")
            value = _plain(value)
        if not (above(value, low) and below(value, high) and _finite(value)):  # also raises for nan
            raise ValueError(f"{name} must be a finite number{allowed}, got {shown(value)}")
        return float(value)

    return rule


def integer_in(low: int, high: int) -> Rule:
    """Return the rule for a whole number in low..high, such as 1e6 but not True."""

    def rule(name, value):
        if type(value) is int and low <= value <= high:
            return value
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        whole = isinstance(value, numbers.Integral) and not _is_bool(value)
        if not (whole or (_is_number(value) and _finite(value) and value == int(value))):
            raise TypeError(f"{name} must be a whole number, got {shown(value)}")
        if value < low:
            raise ValueError(f"{name} must be at least {low}, got {shown(value)}")
        if value > high:
            raise ValueError(f"{name} must be at most {high}, got {shown(value)}")
        if not whole and abs(value) >= 2**53:
            raise TypeError(
                f"{name} must be an int from 2^53 on, where floats are rounded, got {shown(value)}"
            )
        return int(value)

    return rule


_positive = number_in(SMALLEST, 1 / SMALLEST)
_fraction = number_in(0, 1)
_from_0 = integer_in(0, LARGEST)
_from_1 = integer_in(1, LARGEST)


def probability(name: str, value: Any) -> float:
    """Check a number in [0, 1]."""
    return _fraction(name, value)


def positive_int(name: str, value: Any) -> int:
    """Check a whole number from 1 to 2^62."""
    return _from_1(name, value)


def nonnegative_int(name: str, value: Any) -> int:
    """Check a whole number from 0 to 2^62."""
    return _from_0(name, value)


# Several numbers


def array_in(low: float, high: float, ends: str = "[]", shape: int | None = None) -> Rule:
    """Return the rule for an array of finite numbers in a range, or for one number.

    Single whole numbers stay whole, of any size (numpy's integers would wrap around). Arrays become
    arrays of floats in C order. True and False do not count as numbers, except in a table, where
    they are 1 and 0.

    Parameters
    ----------
    low, high : float
        Finite.
    ends : {"[]", "(]", "[)", "()"}
        Whether low and high themselves are allowed.
    shape : int, optional
        If given, the array must have this number of dimensions and at least one entry, and a single
        number is not allowed.
    """
    allowed = f"in {ends[0]}{low:g}, {high:g}{ends[1]}"
    named = {
        None: "a number, or an array of numbers,",
        1: "a list of numbers",
        2: "a table of numbers",
    }
    kind = named.get(shape, f"an array of numbers with {shape} dimensions,")
    above, below = _sides(ends)

    def rule(name, value):
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        if shape is None and (type(value) in (float, int) or _is_number(value)):
            value = _plain(value)
            if not (above(value, low) and below(value, high)):  # also raises for nan
                raise ValueError(f"{name} must be a finite number {allowed}, got {shown(value)}")
            return value
        array = _array(value, bits=shape is not None and shape > 1)
        if array is None or (shape and array.ndim != shape):
            raise TypeError(f"{name} must be {kind} {allowed}, got {shown(value)}")
        if array.size == 0 and shape:
            raise ValueError(f"{name} must hold numbers {allowed}, got none")
        if array.size and not (above(array.min(), low) and below(array.max(), high)):
            wrong = ~(above(array, low) & below(array, high))
            raise ValueError(f"{name} must hold finite numbers {allowed}, got {array[wrong][0]}")
        return array

    return rule


def means(name: str, value: Any) -> np.ndarray:
    """Check means in [0, 1] of at least two Bernoulli arms; return a (K,) array."""
    array = _array(value)
    if array is None:
        raise TypeError(f"{name} must be a list of numbers, got {shown(value)}")
    if array.ndim != 1 or len(array) < 2:
        raise ValueError(f"{name} must be a list of at least 2 numbers, got shape {array.shape}")
    if not (array.min() >= 0 and array.max() <= 1):  # also raises for nan
        wrong = array[~((array >= 0) & (array <= 1))][0]
        raise ValueError(f"{name} must lie in [0, 1], got {wrong}")
    return array


def unequal_means(name: str, value: Any) -> np.ndarray:
    """Check means of Bernoulli arms that are not all equal: regret can be positive."""
    array = means(name, value)
    if array.min() == array.max():
        raise ValueError(f"{name} must not hold equal means only, got {shown(value)}")
    return array


def array_of(value: Any) -> np.ndarray:
    """Return the array that numpy makes of a value; of lists of different lengths, an empty one."""
    try:
        return np.asarray(value)
    except ValueError:
        return np.empty(0)


def checkpoints(shortest: int, longest: int = LARGEST) -> Rule:
    """Return the rule for increasing rounds, the last in shortest..longest, as int64.

    `shortest` is the number of arms: by then every arm can have been played.
    """

    def rule(name, value):
        array = array_of(value)
        whole = array.dtype.kind in "iu" or all(
            isinstance(v, int) and not _is_bool(v) for v in array.flat
        )
        if array.ndim != 1 or len(array) == 0 or not whole:
            raise TypeError(f"{name} must be a list of whole numbers, got {shown(value)}")
        if array[0] < 1 or (array[1:] <= array[:-1]).any():
            raise ValueError(
                f"{name} must be increasing and start at 1 or later, got {shown(value)}"
            )
        if array[-1] < shortest:
            raise ValueError(
                f"the last of {name} must be at least the number of arms ({shortest}), "
                f"got {array[-1]}"
            )
        if array[-1] > longest:
            raise ValueError(
                f"the last of {name} must be at most {longest}, got {shown(int(array[-1]))}"
            )
        return array.astype(np.int64)

    return rule


def table(
    name: str, value: Any, low: float = 0.0, high: float = 1.0, short: bool = False
) -> np.ndarray:
    """Check a (T, K) table with entries in [low, high]; return floats in C order.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    value : array-like or DataFrame
        One row per round, one column per arm; K >= 2.
    low, high : float
        Range of the entries.
    short : bool
        Whether T >= 1 is enough; else T >= K.
    """
    try:
        array = _floats(value)
    except (TypeError, ValueError, OverflowError):
        words = [c for c in getattr(value, "columns", ()) if value[c].dtype.kind not in "biuf"]
        first = [(column, value[column].iloc[0]) for column in words[:1]]
        found = f"{first[0][1]!r} in column {first[0][0]!r}" if first else shown(value)
        raise ValueError(
            f"{name} must be a table of numbers, one row per round, rows of one length, got {found}"
        ) from None
    if array.ndim != 2 or array.shape[1] < 2 or array.shape[0] < (1 if short else array.shape[1]):
        rounds = "T >= 1, K >= 2" if short else "T >= K >= 2"
        raise ValueError(f"{name} must have shape (T, K) with {rounds}, got shape {array.shape}")
    wrong = ~((array >= low) & (array <= high))  # catches nan as well
    if wrong.any():
        t, j = np.argwhere(wrong)[0]
        raise ValueError(
            f"{name} must lie in [{low:g}, {high:g}], got {array[t, j]} in row {t}, column {j}"
        )
    return array


# Anything else


def boolean(name: str, value: Any) -> bool:
    """Check True or False."""
    if not _is_bool(value):
        raise TypeError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def text(name: str, value: Any) -> str:
    """Check a string."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, got {shown(value)}")
    return value


def one_of(*allowed: str) -> Rule:
    """Return the rule for one of these strings."""

    def rule(name, value):
        if not isinstance(value, str) or value not in allowed:
            near = difflib.get_close_matches(value, allowed, 1) if isinstance(value, str) else []
            hint = f": did you mean {near[0]!r}?" if near else ""
            raise ValueError(
                f"{name} must be one of {', '.join(map(repr, allowed))}, got {shown(value)}{hint}"
            )
        return value

    return rule


def instance_of(*kinds: type) -> Rule:
    """Return the rule for an object of one of these classes."""

    def rule(name, value):
        if not isinstance(value, kinds):
            raise TypeError(
                f"{name} must be {' or '.join(kind.__name__ for kind in kinds)}, got {shown(value)}"
            )
        return value

    return rule


def dataframe(name: str, value: Any) -> Any:
    """Check a table with named columns: a pandas.DataFrame."""
    if not hasattr(value, "groupby"):  # checked without the slow import of pandas
        raise TypeError(f"{name} must be a DataFrame, got {shown(value)}")
    return value

    return value


# Lists


def list_of(rule: Rule, least: int = 1) -> Rule:
    """Return the rule for a list of distinct values that each pass `rule`."""

    def check(name, value):
        if not isinstance(value, (list, tuple)):
            raise _no_list(name, value)
        if len(value) > SIZE:
            raise ValueError(f"{name} must be a list of at most {SIZE} values, got {len(value)}")
        if len(value) < least:
            raise ValueError(
                f"{name} must be a list of at least {least} value{'s'[: least > 1]}, "
                f"got {shown(value)}"
            )
        values = [rule(f"{name}[{i}]", v) for i, v in enumerate(value)]
        if len(set(values)) < len(values):
            raise ValueError(f"{name} must not repeat a value, got {shown(value)}")
        return values

    return check


def _no_list(name, value):
    """Return the error for a value that is not a list, perhaps an unreadable string."""
    if isinstance(value, str) and re.fullmatch(r"\[[^][]+\]", value.strip()):
        for place, entry in enumerate(value.strip()[1:-1].split(",")):
            try:
                ast.literal_eval(entry.strip())
            except (ValueError, SyntaxError):
                entry = shown(entry.strip()).strip("'\"")
                return TypeError(
                    f"{name}[{place}] must be a number or a quoted string, got {entry}"
                )
    like = ", ".join(re.findall(r"[-+.\de]*\d", shown(value))) or "0.5, 1"
    return TypeError(f'{name} must be a list, such as "[{like}]", got {shown(value)}')


def one_or_more(name: str, value: Any) -> list:
    """Return one object, or a non-empty sequence of objects, as a list."""
    items = list(value) if isinstance(value, (list, tuple)) else [value]
    if not items:
        raise ValueError(f"{name} must not be empty")
    for item in items:
        if isinstance(item, type):
            raise TypeError(
                f"{name} must hold objects, such as {item.__name__}(...), got the class"
            )
    return items
