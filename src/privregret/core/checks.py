"""Check arguments: an error names the argument, its value and what is allowed.

A *rule* is a function (name, value) -> value that raises a TypeError or ValueError with the
argument's name in it. Rules are used in the decorator `validate`, in the `rules` of a dataclass
(`Validated`), in the check of a notebook's parameters, and by direct calls. Each rule is named
after the values that it accepts; bounds are given as low, high:

- one number: `positive`, `epsilon`, `probability`, `number_in(low, high, ends)`;
- one whole number: `positive_int`, `nonnegative_int`, `seed`, `workers`, `integer_in(low, high)`;
- several: `array_in(low, high, ends, shape)`, `means`, `table`, `whole_numbers`,
  `checkpoints(shortest, longest)`;
- anything else: `boolean`, `text`, `one_of(*names)`, `instance_of(*kinds)`;
- lists of these: `list_of(rule, least)`, `one_or_more`.
"""

import math
import numbers
import operator
import reprlib
from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ClassVar, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")
Rule = Callable[[str, Any], Any]

# Upper limits, checked before any computation.
MAX_HORIZON = 2**62  # rounds of event kernels, which add two of them in 64 bits
MAX_ROUNDS = 10**10  # rounds that are played one by one: minutes to hours per run
MAX_TABLE = 10**8  # rounds of a table that an algorithm in plain Python plays: gigabytes
MAX_RUNS = 10**8  # runs and other repetitions: a table with 10^8 rows takes gigabytes
MAX_SIZE = 10**6  # arms and points of a grid: entries of an array
# parameters lie in MIN_FRACTION..1 / MIN_FRACTION: products of some, with 2^62 rounds, are finite
MIN_FRACTION = 1e-100

_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = 80
_repr.maxlist = _repr.maxtuple = 12


def shown(value: object) -> str:
    """Return a value as text for a message: one line, shortened if it is long."""
    text = " ".join(_repr.repr(value).split())
    return text if len(text) < 160 else f"{text[:100]}..."


def _is_bool(value):
    return isinstance(value, (bool, np.bool_))


def _is_number(value):
    return isinstance(value, numbers.Real) and not _is_bool(value)


def _float(number):
    try:
        return float(number)
    except OverflowError:  # an integer beyond all floats
        return math.inf


def _range(low, high, ends):
    """Return whether a number (not nan) or each of an array is in a range, and its words."""
    above = operator.gt if ends[0] == "(" else operator.ge
    below = operator.lt if ends[1] == ")" else operator.le
    return lambda x: above(x, low) & below(x, high), f"in {ends[0]}{low:g}, {high:g}{ends[1]}"


def _scalar(value):
    """Return the number in an array without dimensions, and anything else as it is."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _array(value, bits=False):
    """Return a new C-ordered array of floats if all entries are numbers (or bits), else None."""
    array = array_of(value)
    kinds = "biufO" if bits else "iufO"
    if array.ndim == 0 or array.dtype.kind not in kinds or np.ma.is_masked(value):
        return None
    # numpy takes True in a list for 1
    if array.dtype.kind == "O" or isinstance(value, (list, tuple)):
        entries = np.array(value, object).ravel()
        if not all(_is_number(v) or (bits and _is_bool(v)) for v in entries):
            return None
        array = np.array([_float(v) for v in entries]).reshape(array.shape)
    return np.array(array, float, order="C")


def read_only(value: Any) -> Any:
    """Make an array, and all arrays in a tuple, read-only; return the value."""
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    elif isinstance(value, tuple):
        for part in value:
            read_only(part)
    return value


# Use of rules


class Validated:
    """A frozen dataclass whose fields are checked, and given one form, on creation.

    `rules` holds a rule for each field that has one. Arrays are copied, and read-only: what is
    computed from them is kept.
    """

    rules: ClassVar[dict] = {}

    def __post_init__(self):
        for name, rule in self.rules.items():
            object.__setattr__(self, name, rule(name, getattr(self, name)))
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                object.__setattr__(self, name, read_only(value.copy()))

    def __setstate__(self, state):
        # a pickled or copied array can be written to
        for name, value in state.items():
            object.__setattr__(self, name, read_only(value))


def validate(**rules: Rule) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function so that its arguments are checked by rules: name -> rule.

    If the default of an argument is None, None is allowed. Raises TypeError, at import, if the
    function lacks one of the arguments.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        form = signature(function)
        if unknown := ", ".join(sorted(set(rules) - set(form.parameters))):
            raise TypeError(f"{function.__qualname__} has no argument {unknown} to check")
        optional = {name for name in rules if form.parameters[name].default is None}

        @wraps(function)
        def call(*args, **kwargs):
            try:
                bound = form.bind(*args, **kwargs)
            except TypeError:
                return function(*args, **kwargs)  # Python's own message names the function
            arguments = bound.arguments
            for name in [name for name in arguments if name in rules]:
                if arguments[name] is not None or name not in optional:
                    arguments[name] = rules[name](name, arguments[name])
            return function(*bound.args, **bound.kwargs)

        return call

    return decorate


# One number


def number_in(low: float, high: float, ends: str = "[]", bits: bool = False) -> Rule:
    """Return the rule for a finite number from low to high, not a string.

    True and False are numbers if `bits`. Infinite low or high are no limit. `ends`, such as "(]",
    says whether they are allowed themselves.
    """
    holds, allowed = _range(low, high, ends)

    def rule(name, value):
        value = _scalar(value)
        if not (_is_number(value) or (bits and _is_bool(value))):
            raise TypeError(f"{name} must be a number, got {shown(value)}")
        number = _float(value)
        if not (holds(number) and math.isfinite(number)):
            raise ValueError(f"{name} must be a finite number {allowed}, got {shown(value)}")
        return number

    return rule


def integer_in(low: int, high: int) -> Rule:
    """Return the rule for a whole number in low..high, such as 1e6 but not True."""

    def rule(name, value):
        if type(value) is int and low <= value <= high:
            return value
        value = _scalar(value)
        whole = isinstance(value, numbers.Integral) and not _is_bool(value)
        if not (whole or (_is_number(value) and math.isfinite(value) and value == int(value))):
            raise TypeError(f"{name} must be a whole number, got {shown(value)}")
        # floats of numpy may not reach the limits
        if not low <= (number := int(value)) <= high:
            limit = f"least {low}" if number < low else f"most {high}"
            raise ValueError(f"{name} must be at {limit}, got {shown(value)}")
        return number

    return rule


probability = number_in(0, 1)
positive_int = integer_in(1, MAX_HORIZON)
nonnegative_int = integer_in(0, MAX_HORIZON)
seed = integer_in(0, 2**128 - 1)  # as numpy.random.SeedSequence().entropy
positive = number_in(MIN_FRACTION, 1 / MIN_FRACTION)
_epsilon = number_in(1e-6, 1e6)


def epsilon(name: str, value: Any) -> float:
    """Check a privacy parameter from 1e-6 to 1e6: there, rounding decides next to nothing."""
    if _is_number(value) and _float(value) > 1e6:
        without = "without privacy use KLUCB, HTINF or FollowTheLeader"
        raise ValueError(f"{name} must be in [1e-06, 1e+06], got {shown(value)}; {without}")
    return _epsilon(name, value)


def workers(name: str, value: Any) -> int:
    """Check a number of workers, joblib's `n_jobs`."""
    if not integer_in(-MAX_SIZE, MAX_SIZE)(name, value):
        raise ValueError(f"{name} must be -1 (all cores) or a number of workers, got 0")
    return int(value)


# Several numbers


def array_of(value: Any) -> np.ndarray:
    """Return the array that numpy makes of a value; of lists of different lengths, an empty one."""
    try:
        return np.asarray(value)
    except ValueError:
        return np.empty(0, str)


def array_in(
    low: float, high: float, ends: str = "[]", shape: int | None = None, bits: bool = False
) -> Rule:
    """Return the rule for an array of finite numbers in a range, as floats in C order.

    True and False do not count as numbers, except in a table or with `bits`, where they are 1 and
    0. `ends` is as in `number_in`. With `shape`, the array must have this number of dimensions and
    at least one entry; without, one number is allowed as well.
    """
    holds, allowed = _range(low, high, ends)
    number = number_in(low, high, ends)
    kind = f"an array of numbers with {shape} dimensions," if shape else "numbers"

    def rule(name, value):
        if shape is None and _is_number(_scalar(value)):
            return number(name, value)
        array = _array(value, bits or (shape is not None and shape > 1))
        if array is None or (shape and array.ndim != shape):
            raise TypeError(f"{name} must be {kind} {allowed}, got {shown(value)}")
        if array.size == 0 and shape:
            raise ValueError(f"{name} must hold numbers {allowed}, got none")
        if (wrong := array[~holds(array)]).size:
            raise ValueError(f"{name} must hold finite numbers {allowed}, got {wrong[0]}")
        return array

    return rule


def means(name: str, value: Any) -> np.ndarray:
    """Check means in [0, 1] of at least two Bernoulli arms; return a (K,) array."""
    array = array_in(0, 1, shape=1)(name, value)
    if len(array) < 2:
        raise ValueError(f"{name} must hold at least 2 numbers, got {shown(value)}")
    return array


def whole_numbers(name: str, value: Any) -> np.ndarray:
    """Check a list of whole numbers in 1..2^62, such as 1e6; return int64."""
    array = array_of(value)
    whole = array.dtype.kind in "iu"
    if array.dtype.kind in "fO":
        # above 2^53 floats are not the numbers that are meant
        whole = all(
            type(v) is int or (type(v) is float and v.is_integer() and v <= 2**53)
            for v in array.ravel().tolist()
        )
    if array.ndim != 1 or not whole:
        raise TypeError(f"{name} must be a list of whole numbers, got {shown(value)}")
    for number in array[(array < 1) | (array > MAX_HORIZON)][:1].tolist():
        raise ValueError(f"{name} must hold numbers from 1 to {MAX_HORIZON}, got {shown(number)}")
    return array.astype(np.int64)


def checkpoints(shortest: int, longest: int = MAX_HORIZON) -> Rule:
    """Return the rule for increasing rounds, the last in shortest..longest, as int64.

    `shortest` is the number of arms: by then every arm can have been played.
    """

    def rule(name, value):
        rounds = whole_numbers(name, value)
        if len(rounds) == 0 or (rounds[1:] <= rounds[:-1]).any():
            raise ValueError(f"{name} must be a list that increases, got {shown(value)}")
        last = int(rounds[-1])
        if not shortest <= last <= longest:
            limit = f"least the number of arms ({shortest})"
            limit = limit if last < shortest else f"most {longest}"
            raise ValueError(f"the last of {name} must be at {limit}, got {last}")
        return rounds

    return rule


def table(name: str, value: Any, short: bool = False) -> np.ndarray:
    """Check a (T, K) table or DataFrame with entries in [0, 1]; return floats in C order.

    It has one row per round, and one column for each of at least two arms. If it is `short`, one
    round is enough, else T >= K.
    """
    array = _array(value, bits=True)
    if array is None:
        wrong = (c for c in getattr(value, "columns", ()) if _array(value[c], bits=True) is None)
        found = next((f"other values in column {c!r}" for c in wrong), shown(value))
        wanted = "a table of numbers, one row per round, rows of one length"
        raise ValueError(f"{name} must be {wanted}, got {found}")
    if array.ndim != 2 or array.shape[1] < 2 or array.shape[0] < (1 if short else array.shape[1]):
        rounds = "T >= 1, K >= 2" if short else "T >= K >= 2"
        raise ValueError(f"{name} must have shape (T, K) with {rounds}, got shape {array.shape}")
    # also finds nan
    for t, j in np.argwhere(~((array >= 0) & (array <= 1)))[:1]:
        found = f"{array[t, j]} in row {t}, column {j}"
        raise ValueError(f"{name} must lie in [0, 1], got {found}")
    return array


# Anything else


def boolean(name: str, value: Any) -> bool:
    """Check True or False."""
    if not _is_bool(value):
        raise TypeError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def one_of(*allowed: str) -> Rule:
    """Return the rule for one of these strings."""

    def rule(name, value):
        if not isinstance(value, str) or value not in allowed:
            names = ", ".join(map(repr, allowed))
            raise ValueError(f"{name} must be one of {names}, got {shown(value)}")
        return value

    rule.allowed = allowed  # type: ignore
    return rule


def instance_of(*kinds: type) -> Rule:
    """Return the rule for an object of one of these classes."""

    def rule(name, value):
        if not isinstance(value, kinds):
            names = " or ".join(kind.__name__ for kind in kinds)
            raise TypeError(f"{name} must be {names}, got {shown(value)}")
        return value

    return rule


text = instance_of(str)


# Lists


def list_of(rule: Rule, least: int = 1) -> Rule:
    """Return the rule for a list of distinct values that each pass `rule`."""

    def check(name, value):
        if not isinstance(value, (list, tuple)):
            raise TypeError(f'{name} must be a list, such as "[0.5, 1]", got {shown(value)}')
        if not least <= len(value) <= MAX_SIZE:
            raise ValueError(f"{name} must hold {least} to {MAX_SIZE} values, got {shown(value)}")
        values = [rule(f"{name}[{i}]", v) for i, v in enumerate(value)]
        if len(set(values)) < len(values):
            raise ValueError(f"{name} must not repeat a value, got {shown(value)}")
        return values

    return check


def one_or_more(name: str, value: Any) -> list:
    """Return one object, or a non-empty sequence of objects, as a list."""
    items = list(value) if isinstance(value, (list, tuple)) else [value]
    if not items:
        raise ValueError(f"{name} must not be empty")
    for item in items:
        if isinstance(item, type):
            wanted = f"objects, such as {item.__name__}(...)"
            raise TypeError(f"{name} must hold {wanted}, got the class")
    return items
