"""Follow data and noise through an algorithm's own code, and note what it uses of them.

`traced` runs the two steps of an algorithm uncompiled, on a memory and a table of `Value` objects.
These are numbers that remember how they were added up from rewards (or losses) and noises. Three
things can be done with such a number. Sums, differences and multiples are numbers of this kind
again. A comparison is noted, or gives an indicator. All else takes a plain number, which is noted
as a use; what does not ask for one is an error, since this class has no other operators.

`privacy.ledger` has the cost of what was noted.
"""

import math
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from decimal import Decimal
from fractions import Fraction
from functools import partial, partialmethod
from itertools import takewhile
from numbers import Number, Real
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.extending import is_jitted
from numpy.typing import ArrayLike

from privregret.adversarial import ExpertAlgorithm
from privregret.core import checks, loops, noise, store
from privregret.core.algorithm import Algorithm
from privregret.core.compiler import Dispatcher, NumbaError
from privregret.core.loops import Steps
from privregret.core.mistakes import StepError
from privregret.core.reach import outdated
from privregret.instances import Advice

LARGEST = 10**100  # of coefficients, so that sums stay finite
TRACED = 3  # tables on which the code plays numbers that are followed, and as many plain ones
OTHERS = 8  # random tables, on which the code is also compared with its compiled form
OTHERWISE = (
    "it plays other actions when it is traced, so it asks for types or identities (is), keeps "
    "something of an earlier run, or draws random numbers that do not come from its rng"
)
# numbers that do nothing else with what they are compared with
COMPARED = {bool, int, float, complex, Fraction, Decimal, *np.sctypeDict.values()}
FROZEN = "as numba keeps the globals of the first call: begin anew in a fresh process"
UFUNC = ": numpy's functions do not take data, which are numbers in [0, 1]; use comparisons"


# Numbers that are followed
# --------------------------------------------------------------------------------------------------


class Notes:
    """Draws and uses of a run: forms, as frozensets of (key, coefficient)."""

    def __init__(self, plain: bool = False):
        # per noise: whether it may only be raised, and only by whole numbers
        self.scales, self.upward, self.whole = [], [], []
        self.numbers, self.revealed, self.outcomes = set(), set(), set()
        self.indicators, self.over = 0, False
        self.plain = plain  # whether the algorithm manages its own memory

    def use(self, form: dict, revealed: bool = True) -> None:
        """Record that the number itself was used (`revealed`), or only compared."""
        if self.over:
            raise TypeError("what is kept of an earlier run is used: begin anew in `start`")
        if form:
            self.numbers.add(frozenset(form.items()))
            if revealed:
                self.revealed.add(frozenset(form.items()))

    def indicator(self, t: int, outcome: bool) -> "Value":
        """Return 0 or 1, determined by the data of round t and by what they do not change."""
        self.indicators += 1
        return Value(float(outcome), {(t, -self.indicators): 1}, self)


def rational(number: float) -> int | Fraction:
    """Return a finite number without rounding."""
    return int(number) if number.is_integer() else Fraction(number)


def add(form: dict, other: dict, times: int | Fraction = 1) -> None:
    """Add a multiple of a form to another, in place."""
    for key, c in other.items():
        if c := form.pop(key, 0) + times * c:
            form[key] = c


def _use(function):
    """Return a method that uses the number, and numbers that it is combined with."""
    return lambda *numbers: function(*(n._used() if isinstance(n, Value) else n for n in numbers))


class Value:
    """A number with its coefficients on data and noises.

    Data have keys (round, action), indicators of a round's data have keys (round, -1), (round, -2),
    ..., and noises have keys 0, 1, 2, ... in the order of their draws. Sums, differences and
    multiples have coefficients again, which are not rounded. Comparisons of one round's data give
    an indicator, other comparisons record what decides them. All else is done with `float(value)`,
    which is a use.
    """

    # the number has a private name, so that code which asks for `.value` is refused
    __slots__ = ("__value", "form", "notes")
    # numpy's numbers leave their operators to this class, and its arrays apply them to each entry
    __array_priority__ = -1.0

    def __new__(cls, value, form=None, notes=None):
        # statistics.mean makes such a number anew of what it has used
        return super().__new__(cls) if notes else float(value)

    def __init__(self, value, form, notes):
        self.__value, self.form, self.notes = value, form, notes

    def __add__(self, other):
        if isinstance(other, np.ndarray):
            return NotImplemented
        if not isinstance(other, Value):
            return Value(self.__value + float(other), self.form, self.notes)
        if other.notes is not self.notes:
            return self._used() + other._used()
        form = dict(self.form)
        add(form, other.form)
        return Value(self.__value + other.__value, form, self.notes)

    def _scaled(self, operation, factor):
        if isinstance(factor, np.ndarray):
            return NotImplemented
        factor = float(factor)  # a product of two values is not linear, so one of them is used
        if not math.isfinite(factor):
            return operation(float(self), factor)
        # the sign of a zero would tell that of the data
        value, form = operation(self.__value, factor) + 0.0, {}
        if factor:
            ratio = rational(factor) if operation is operator.mul else 1 / Fraction(factor)
            form = {key: c * ratio for key, c in self.form.items()}
            if abs(ratio) > 1 and any(abs(c) > LARGEST for c in form.values()):
                return operation(float(self), factor)
        return Value(value, form, self.notes)

    def __mul__(self, factor):
        return self._scaled(operator.mul, factor)

    def __truediv__(self, divisor):
        return self._scaled(operator.truediv, divisor)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self * -1.0

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -self + other

    def __abs__(self):
        return -self if self < 0 else self

    def __pos__(self):
        return self

    __copy__ = item = __pos__

    def __deepcopy__(self, memo):
        return self

    def __reduce_ex__(self, protocol=None):
        self._used()  # even if the error is caught
        raise TypeError("pickled data are not followed: copy them, or use float(...)")

    __reduce__ = __getstate__ = __reduce_ex__

    def _used(self):
        self.notes.use(self.form)
        return float(self.__value)

    def __bool__(self):
        return self._used() != 0

    def __float__(self):
        value = self._used()
        if self.notes.plain and self.form and all(isinstance(key, tuple) for key in self.form):
            raise TypeError(
                "data become a plain number before noise is added. If an array does this, give "
                "it dtype object; write sum(...) for another sum, and 0 <= x <= 1 for another "
                "check; a function of data is hidden by no noise"
            )
        return value

    def __getattr__(self, name):
        """Do what numpy's functions, and the methods of float, do with the number."""
        if isinstance(function := getattr(np, name, None), np.ufunc):
            return partial(_use(function), self)
        if name.startswith("__") or not hasattr(float, name):
            raise AttributeError(f".{name} of data is not followed: use float(...)")
        return getattr(float(self), name)

    __index__ = _use(int)
    __rtruediv__ = _use(lambda divisor, number: number / divisor)

    def _compare(self, other, holds):
        if not isinstance(other, (Value, Number, np.bool_)):
            return NotImplemented
        if not isinstance(other, Value) and type(other) not in COMPARED:
            # its own operators would be given the number
            other = float(other)
        gap, orders = self - other, holds not in (operator.eq, operator.ne)
        outcome = bool(holds(self.__value, other.__value if isinstance(other, Value) else other))
        if not gap.form:
            return outcome
        rounds = {key[0] for key in gap.form if isinstance(key, tuple)}
        if len(rounds) == 1 and all(isinstance(key, tuple) for key in gap.form):
            # a Bernoulli draw from one round's data is not yet a use
            return self.notes.indicator(*rounds, outcome)
        for side in (self, other):
            if isinstance(side, Value):
                self.notes.use(side.form, revealed=False)
        if orders and not isinstance(other, Value) and math.isinf(other):
            return outcome
        if not orders and not gap.__value:  # noise makes no ties
            self.notes.use(gap.form)
        above = outcome == (holds in (operator.gt, operator.ge)) if orders else gap.__value > 0
        self.notes.outcomes.add((frozenset(gap.form.items()), 1 if above else -1))
        return outcome


for _f in int, round, hash, repr, str, format, math.trunc, math.floor, math.ceil:
    setattr(Value, f"__{_f.__name__}__", _use(_f))
for _f in operator.floordiv, operator.mod, operator.pow, divmod:
    setattr(Value, f"__{_f.__name__}__", _use(_f))
    setattr(Value, f"__r{_f.__name__}__", _use(lambda right, left, f=_f: f(left, right)))
for _f in operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne:
    setattr(Value, f"__{_f.__name__}__", lambda self, other, f=_f: self._compare(other, f))


class Datum(Value):
    """An entry of the table, in [0, 1]: some comparisons with a number always have one outcome."""

    __slots__ = ()

    def _compare(self, other, holds):
        if isinstance(other, Real) and not isinstance(other, Value):
            outcomes = {bool(holds(end, other)) for end in (0.0, 1.0)}
            if len(outcomes) == 1 and not (holds in (operator.eq, operator.ne) and 0 < other < 1):
                return outcomes.pop()
        return Value._compare(self, other, holds)


def data(table: np.ndarray, notes: Notes) -> np.ndarray:
    """Return rewards or losses as an array of `Datum` objects."""
    entries = np.empty(table.shape, object)
    for at, entry in np.ndenumerate(table):
        entries[at] = Datum(float(entry), {at: 1}, notes)
    return entries


# Noise that is followed
# --------------------------------------------------------------------------------------------------


def _noises(name, upward):
    def draw(self, loc=0.0, scale=1.0, size=None):
        scale = np.asarray(scale, float)
        if size is None:
            size = np.broadcast_shapes(np.shape(loc), scale.shape) or None
        drawn = getattr(self._source, name)(scale=scale, size=size)
        return loc + self.drawn(drawn, scale, upward)

    return draw


class Tracer(np.random.Generator):
    """A generator of noises as `Value` objects, and of other random numbers as plain numbers.

    Without notes the same noises are plain numbers.
    """

    NOISES = "laplace", "exponential", "standard_exponential", "gumbel"
    PLAIN = "random", "uniform", "integers", "binomial", "beta", "choice", "permutation", "shuffle"
    # whatever would tell the noises to come
    HIDDEN = (vars(np.random.Generator).keys() | {"__reduce_ex__"}).difference(
        NOISES, PLAIN, ("__init__", "__new__", "__repr__", "__str__", "__doc__")
    )

    def __init__(self, rng, notes=None):
        self._source, self.notes = np.random.default_rng(rng), notes
        # numpy itself does not reach the source
        super().__init__(np.random.PCG64(0))

    def __getattribute__(self, name):
        if name in Tracer.HIDDEN:
            follows = ", ".join(f"rng.{name}" for name in (*Tracer.NOISES, *Tracer.PLAIN))
            ours = "noise.laplace, noise.geometric"
            raise TypeError(f"rng.{name} is not followed, only {ours}, {follows}")
        if name in Tracer.PLAIN:
            # a method of the source itself would hand it out, as `__self__`
            draw = getattr(self._source, name)
            return lambda *given, **named: draw(*given, **named)
        return super().__getattribute__(name)

    def noise(self, kind: int, scale: float) -> Value | float:
        """Draw like `noise.draw`.

        The densities of exponential and Gumbel noise fall by exp(-x / scale) at most if the noise
        is raised by x; if it is lowered, they may fall by any factor.
        """
        if kind == noise.NONE:
            return 0.0
        scale = float(scale)
        return self.drawn(noise.draw(kind, scale, self._source), scale, kind != noise.LAPLACE)

    def whole_noise(self, scale: float) -> Value | float:
        """Draw like `noise.geometric`."""
        drawn = noise.geometric.py_func(scale, self._source)
        return self.drawn(drawn, scale if scale > 2.0**-10 else 0.0, False, True)

    def drawn(self, value: ArrayLike, scale: ArrayLike, upward: bool, whole: bool = False) -> Any:
        """Return a noise of that value, or an array of noises."""
        if self.notes is None:
            return value
        if np.ndim(value):
            scales = np.broadcast_to(scale, value.shape)
            each = [self.drawn(v, s, upward) for v, s in zip(value.flat, scales.flat, strict=True)]
            return np.array(each, object).reshape(value.shape)
        if not 0 <= scale < math.inf:
            raise ValueError(f"the scale of noise must be in [0, inf), got {scale}")
        if scale == 0:
            return float(value)  # a constant
        self.notes.scales.append(float(scale))
        self.notes.upward.append(upward)
        self.notes.whole.append(whole)
        return Value(float(value), {len(self.notes.scales) - 1: 1}, self.notes)

    laplace, gumbel = _noises("laplace", False), _noises("gumbel", True)
    exponential = partialmethod(_noises("exponential", True), 0.0)
    standard_exponential = partialmethod(_noises("exponential", True), 0.0, 1.0)


def _laplace(scale, rng):
    if hasattr(rng, "noise"):
        return rng.noise(noise.LAPLACE, scale)
    return noise.laplace.py_func(scale, rng)


def _draw(kind, scale, rng):
    return rng.noise(kind, scale) if hasattr(rng, "noise") else noise.draw.py_func(kind, scale, rng)


def _geometric(scale, rng):
    if hasattr(rng, "whole_noise"):
        return rng.whole_noise(scale)
    return noise.geometric.py_func(scale, rng)


# A run
# --------------------------------------------------------------------------------------------------


@contextmanager
def uncompiled() -> Iterator[dict]:
    """Run the Python functions of all kernels, which can take `Value` objects. Not thread-safe.

    Noises come from the source's own `noise`. The context is a dictionary of the kernels called.
    """
    noises = {noise.laplace: _laplace, noise.draw: _draw, noise.geometric: _geometric}
    # a loop calls copies of kernels, which have the same code
    by_code = {kernel.py_func.__code__: function for kernel, function in noises.items()}
    kernels: dict = {}

    def call(kernel, *given, **named):
        kernels[kernel] = None
        function = kernel.py_func
        return by_code.get(function.__code__, function)(*given, **named)

    Dispatcher.__call__ = call
    try:
        with store.disabled():
            yield kernels
    finally:
        del Dispatcher.__call__


def play(
    algorithm: Any, table: np.ndarray, source: Any, memory: Callable, advice: tuple = ()
) -> tuple[int, ...]:
    """Return the actions of `algorithm.play`, `uncompiled`, on a table of floats or of `data`.

    `source` draws random numbers, `memory` makes the memory; `advice` is empty or one table.
    """
    sizes = table.shape[1], *(a.shape[1] for a in advice)
    if not (steps := algorithm.steps):
        learner = algorithm.start(sizes[0], source, len(table), *sizes[1:])
        return tuple(map(int, loops.follow(learner, table, algorithm.templates.row, *advice)))
    given = algorithm.settings(len(table), *sizes), source, *memory(steps, *sizes)[::-1], *advice
    return tuple(map(int, loops.play(algorithm.templates, steps)(table, *given)))


def memory_of_values(steps: Any, *sizes: int) -> tuple:
    """Return `Steps.memory` whose floats can hold a `Value`; integers stay integers."""

    def objects(kind):
        if kind.names:
            return np.dtype([(name, objects(kind[name])) for name in kind.names])
        return np.dtype((object, kind.shape)) if kind.base.kind == "f" else kind

    return tuple(np.zeros(len(array), objects(array.dtype)) for array in steps.memory(*sizes))


class Trace(NamedTuple):
    """The actions of a run, its draws and its uses."""

    actions: tuple
    notes: Notes


def traced(
    algorithm: Any,
    table: ArrayLike,
    rng: int | np.random.Generator,
    advice: ArrayLike | None = None,
) -> Trace:
    """Run an algorithm's own code on a (T, K) table, and record what it uses.

    Parameters
    ----------
    algorithm : Algorithm
        Of any family, with `steps` or with a `start` in plain Python. Rewards or losses may be
        added up in float fields of the steps' records; in plain Python, in lists or arrays of dtype
        object.
    table : (T, K) array
        Rewards or losses.
    rng : int or numpy.random.Generator
    advice : (N, K) or (T, N, K) array, optional
        Advice of experts, for algorithms that take it; by default one expert per arm.

    Raises
    ------
    TypeError
        If the algorithm draws noise that is not followed, turns data into plain numbers before
        noise is added, uses what is left of an earlier run, or plays other actions than untraced,
        on this table, on 1 - table or on a random one; or if its compiled form plays others.
    ValueError
        If an entry is not in [0, 1].
    """
    name = type(checks.instance_of(Algorithm)("algorithm", algorithm)).__name__

    def refusal(why):
        return TypeError(f"the ledger cannot follow {name}: {why}")

    if numba.config.DISABLE_JIT:  # then nothing tells our noise from other functions
        raise refusal("it is not compiled, with NUMBA_DISABLE_JIT=1")
    table, source = checks.table("table", table, short=True), np.random.default_rng(rng)
    experts: tuple = ()
    if isinstance(algorithm, ExpertAlgorithm):
        advice = Advice.of_table(np.eye(table.shape[1]) if advice is None else advice)
        experts = (advice.dense(len(table)),)
    # opposite and random data show code that the ledger cannot follow, too
    tables = [(table, source), (1 - table, deepcopy(source))]
    tables += [(own.random(table.shape), own) for own in map(np.random.default_rng, range(OTHERS))]
    traces, plays, compiled, copies = [], [], [], deepcopy(tables)
    try:
        with np.errstate(all="ignore"):
            with uncompiled() as kernels:
                for entries, rng in tables:
                    if len(traces) < TRACED:
                        notes = Notes(plain=not algorithm.steps)
                        followed = data(entries, notes), Tracer(deepcopy(rng), notes)
                        actions = play(algorithm, *followed, memory_of_values, experts)
                        traces.append(Trace(actions, notes))
                        notes.over = True
                    plays.append(play(algorithm, entries, Tracer(rng), Steps.memory, experts))
            # after the traces, which would not see what outlives these runs
            with suppress(NumbaError, StepError):  # a faulty source of noise, which is never played
                compiled = [tuple(algorithm.play_checked(*copy, *experts)) for copy in copies]
    except Exception as error:
        why = " ".join(f"{type(error).__name__}: {error}".split())
        raise refusal(why + UFUNC * ("ufunc" in why)) from error
    if algorithm.steps and is_jitted(algorithm.steps.choose):
        # only those of `settings`: a loop compiles the steps anew
        kernels = takewhile(lambda kernel: kernel.__module__ != loops.__name__, kernels)
    for kernel in kernels:
        if outdated(kernel):
            raise refusal(f"compiled {kernel.__name__} has earlier values, {FROZEN}")
    if [trace.actions for trace in traces] != plays[:TRACED]:
        raise refusal(OTHERWISE)
    if compiled and compiled != plays:
        raise refusal(f"its compiled form plays other actions, {FROZEN}")
    return traces[0]
