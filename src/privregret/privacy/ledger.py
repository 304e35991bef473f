"""The ledger: what an algorithm's code uses of the data, and through which noise.

`traced` runs the two steps of an algorithm uncompiled, on a memory and a table of `Value` objects.
These are numbers that remember how they were added up from rewards (or losses) and noises. If the
algorithm compares such a number, branches on it, or takes a function of it, the use is recorded.
The cost of a round is then determined by these sums alone. Replace the round, and find the cheapest
change of the noises, each in units of its scale, that keeps everything that was used unchanged:
then the algorithm does the same as before, and the probability of this has changed by at most the
exponential of the cost. If no change of the noises suffices, the cost is infinite. (Machine-made
proofs of such couplings are known as randomness alignment; Zhang and Kifer 2017.)

What the bound covers: one run, on one table with entries in [0, 1]. Neighbours differ in one round,
whose entries are all replaced by any others in [0, 1]. If no run costs more than c, on any table
and with any random numbers, the sequence of actions is c-DP; the cost of a single run says nothing
of runs that do something else. The bound is of real numbers: what rounding reveals is not seen. Nor
is code that reads the attributes of a `Value`. What asks for types or identities is refused if it
changes an action, on this table or on its opposite; so is compiled code that keeps an earlier value
of a global, or plays other actions than what is read, on these or on a few random tables.
"""

import math
import operator
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from fractions import Fraction
from functools import partialmethod
from itertools import product, takewhile
from numbers import Number, Real
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.extending import is_jitted
from numpy.typing import ArrayLike
from scipy.optimize import linprog

from privregret.adversarial import ExpertAlgorithm
from privregret.core import checks, loops, noise, store
from privregret.core.algorithm import Algorithm
from privregret.core.compiler import Dispatcher, NumbaError
from privregret.core.loops import Steps
from privregret.core.mistakes import StepError
from privregret.core.reach import outdated
from privregret.instances import Advice

KEEPS = ("numbers", "outcomes")
LARGEST = 10**100  # of coefficients, so that sums stay finite
RANGES = range, np.ndarray
TOLERANCES = 1e-9, 1e-7, 1e-5  # of the linear programme's slacks
PLAYS = 8  # other tables on which the code is compared with its compiled form
OTHERWISE = (
    "it plays other actions when it is traced, so it asks for types or identities (is), keeps "
    "something of an earlier run, or draws random numbers that do not come from its rng"
)
FROZEN = "as numba keeps the globals of the first call: begin anew in a fresh process"
UFUNC = ": numpy's functions do not take data, which are numbers in [0, 1]; use comparisons"
BARE = (
    "what is used has no noise of its own: none was added, or that noise was used by itself, as "
    "math.floor does (noise.geometric draws whole numbers), or in another sum"
)
UPWARD = (
    "exponential and Gumbel noise hide only what raises them: keep='outcomes' asks for no more "
    "than which number is larger"
)
FRACTIONS = (
    "geometric noise hides whole numbers alone: draw a bit whose mean is the entry "
    "(rng.random() < x), and add up bits times whole numbers"
)
TOO_FEW = "no change of the noises keeps all that is used: it has more parts than noises"
TOO_LARGE = "a coefficient is too large to be followed"
CORNERS = 8  # entries of a round whose changes are tried in all combinations


def exact(number: float) -> int | Fraction:
    """Return a finite number without rounding."""
    return int(number) if number.is_integer() else Fraction(number)


def _plain(number):
    return number._used() if isinstance(number, Value) else number


def _use(function):
    """Return a method that uses the number, and numbers that it is combined with."""

    def method(self, *others):
        if any(isinstance(other, np.ndarray) for other in others):
            return NotImplemented
        return function(self._used(), *map(_plain, others))

    return method


def _reflected(function):
    return lambda self, other: function(other, self._used())


def _comparison(holds):
    return lambda self, other: self._compare(other, holds)


class Value:
    """A number with its coefficients on data and noises.

    Data have keys (round, action), indicators of a round's data have keys (round, -1), (round, -2),
    ..., and noises have keys 0, 1, 2, ... in the order of their draws. Sums, differences and
    multiples have coefficients again, which are not rounded. Comparisons of one round's data give
    an indicator, other comparisons record what decides them. All else is done with `float(value)`,
    which is a use.
    """

    __slots__ = ("form", "notes", "value")
    # numpy's numbers leave their operators to this class, and its arrays apply them to each entry
    __array_priority__ = -1.0

    def __new__(cls, value, form=None, notes=None):
        # statistics.mean makes such a number anew of what it has used
        return super().__new__(cls) if notes else float(value)

    def __init__(self, value, form, notes):
        self.value, self.form, self.notes = value, form, notes

    def __add__(self, other):
        if isinstance(other, np.ndarray):
            return NotImplemented
        if not isinstance(other, Value):
            return Value(self.value + float(other), self.form, self.notes)
        if other.notes is not self.notes:
            return self._used() + other._used()
        form = dict(self.form)
        for key, c in other.form.items():
            if c := form.pop(key, 0) + c:
                form[key] = c
        return Value(self.value + other.value, form, self.notes)

    def _scaled(self, operation, factor):
        if isinstance(factor, np.ndarray):
            return NotImplemented
        factor = float(factor)  # a product of two values is not linear, so one of them is used
        if not math.isfinite(factor):
            return operation(float(self), factor)
        # the sign of a zero would tell that of the data
        value, form = operation(self.value, factor) + 0.0, {}
        if factor:
            ratio = exact(factor) if operation is operator.mul else 1 / Fraction(factor)
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
        return NotImplemented if isinstance(other, np.ndarray) else self + -other

    def __rsub__(self, other):
        return -self + other

    def __abs__(self):
        return -self if self < 0 else self

    def __pos__(self):
        return self

    __copy__ = item = __pos__

    def __deepcopy__(self, memo):
        return self

    def __reduce_ex__(self, protocol):
        self._used()  # even if the error is caught
        raise TypeError("pickled data are not followed: copy them, or use float(...)")

    def _used(self):
        self.notes.use(self.form)
        return float(self.value)

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
            return lambda *others: function(*map(_plain, (self, *others)))
        if name.startswith("__") or not hasattr(float, name):
            raise AttributeError(f".{name} of data is not followed: use float(...)")
        return getattr(float(self), name)

    __index__ = _use(int)
    __rtruediv__ = _reflected(operator.truediv)

    def _compare(self, other, holds):
        if isinstance(other, complex):
            return holds(self._used(), other)
        if not isinstance(other, (Value, Number, np.bool_)):
            return NotImplemented
        gap, orders = self - other, holds not in (operator.eq, operator.ne)
        outcome = bool(holds(self.value, other.value if isinstance(other, Value) else other))
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
        if not orders and not gap.value:  # noise makes no ties
            self.notes.use(gap.form)
        above = outcome == (holds in (operator.gt, operator.ge)) if orders else gap.value > 0
        self.notes.outcomes.add((frozenset(gap.form.items()), 1 if above else -1))
        return outcome


for _f in int, complex, round, hash, repr, str, format, math.trunc, math.floor, math.ceil:
    setattr(Value, f"__{_f.__name__}__", _use(_f))
for _f in operator.floordiv, operator.mod, operator.pow, divmod:
    setattr(Value, f"__{_f.__name__}__", _use(_f))
    setattr(Value, f"__r{_f.__name__}__", _reflected(_f))
for _f in operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne:
    setattr(Value, f"__{_f.__name__}__", _comparison(_f))


class Datum(Value):
    """An entry of the table, in [0, 1]: some comparisons with a number always have one outcome."""

    __slots__ = ()

    def _compare(self, other, holds):
        if isinstance(other, Real) and not isinstance(other, Value):
            outcomes = {bool(holds(end, other)) for end in (0.0, 1.0)}
            if len(outcomes) == 1 and not (holds in (operator.eq, operator.ne) and 0 < other < 1):
                return outcomes.pop()
        return Value._compare(self, other, holds)


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

    def indicator(self, t: int, outcome: bool) -> Value:
        """Return 0 or 1, determined by the data of round t and by what they do not change."""
        self.indicators += 1
        return Value(float(outcome), {(t, -self.indicators): 1}, self)


class Table:
    """Rewards or losses as `Value` objects, with the methods that loops call on arrays."""

    def __init__(self, numbers, notes):
        self.numbers, self.notes = np.asarray(numbers, float).tolist(), notes
        self.shape = np.shape(numbers)

    def __len__(self):
        return self.shape[0]

    def __iter__(self):
        return (self[t] for t in range(len(self)))

    def __getitem__(self, at):
        if not isinstance(at, tuple):
            return np.array([self[at, j] for j in range(self.shape[1])], object)
        t, j = map(int, at)
        return Datum(self.numbers[t][j], {(t, j): 1}, self.notes)


def _noises(name, upward):
    def draw(self, loc=0.0, scale=1.0, size=None):
        scale = np.asarray(scale, float)
        if size is None:
            size = np.broadcast_shapes(np.shape(loc), scale.shape) or None
        drawn = getattr(self._source, name)(scale=scale, size=size)
        return loc + self.drawn(drawn, scale, upward)

    return draw


class Tracer(np.random.Generator):
    """A generator of noises as `Value` objects, and of other random numbers as plain numbers."""

    FOLLOWED = (
        *("laplace", "exponential", "standard_exponential", "gumbel"),  # noises
        *("random", "uniform", "integers", "binomial", "beta", "choice", "permutation", "shuffle"),
    )
    # whatever would tell the noises to come
    HIDDEN = (vars(np.random.Generator).keys() | {"__reduce_ex__"}).difference(
        FOLLOWED, ("__init__", "__new__", "__repr__", "__str__", "__doc__")
    )

    def __init__(self, rng, notes):
        self._source, self.notes = np.random.default_rng(rng), notes
        # numpy itself does not reach the source
        super().__init__(np.random.PCG64(0))

    def __getattribute__(self, name):
        if name in Tracer.HIDDEN:
            follows = ", ".join(f"rng.{name}" for name in Tracer.FOLLOWED)
            ours = "noise.laplace, noise.geometric"
            raise TypeError(f"rng.{name} is not followed, only {ours}, {follows}")
        plain = name in Tracer.FOLLOWED and name not in vars(Tracer)
        return getattr(self._source, name) if plain else super().__getattribute__(name)

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


class _Untraced(Tracer):
    """A generator of the same noises, as plain numbers."""

    def drawn(self, value, scale, upward, whole=False):
        return value


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


@contextmanager
def uncompiled() -> Iterator[dict]:
    """Run the Python functions of all kernels, which can take `Value` objects. Not thread-safe.

    Noises come from the source's own `noise`. The context is a dictionary of the kernels called.
    """
    noises = {noise.laplace: _laplace, noise.draw: _draw, noise.geometric: _geometric}
    # a loop calls copies of kernels, which have the same code
    known = {kernel.py_func.__code__: function for kernel, function in noises.items()}
    kernels: dict = {}

    def call(kernel, *given, **named):
        kernels[kernel] = None
        function = kernel.py_func
        return known.get(function.__code__, function)(*given, **named)

    Dispatcher.__call__ = call
    try:
        with store.disabled():
            yield kernels
    finally:
        del Dispatcher.__call__


def play(
    algorithm: Any, table: Any, source: Any, memory: Callable, advice: tuple = ()
) -> tuple[int, ...]:
    """Return the actions of `algorithm.play`, `uncompiled`, on an array or a `Table`.

    `source` draws random numbers, `memory` makes the memory; `advice` is empty or one table.
    """
    if not (steps := algorithm.steps):
        given = algorithm.start, algorithm.templates, table, source, *advice
        return tuple(map(int, loops.play_learner(*given)))
    sizes = table.shape[1], *(a.shape[1] for a in advice)
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
        on this table or on 1 - table.
    ValueError
        If an entry is not in [0, 1].
    """
    name = type(checks.instance_of(Algorithm)("algorithm", algorithm)).__name__
    if numba.config.DISABLE_JIT:  # then nothing tells our noise from other functions
        raise TypeError(f"the ledger cannot follow {name} with NUMBA_DISABLE_JIT=1")
    given, runs, compiled = (), [], []
    table, source = checks.table("table", table, short=True), np.random.default_rng(rng)
    if isinstance(algorithm, ExpertAlgorithm):
        given = (
            Advice.of_table(np.eye(table.shape[1]) if advice is None else advice).dense(len(table)),
        )
    tables = [(table, source), (1 - table, deepcopy(source))]
    for rng in map(np.random.default_rng, range(PLAYS)):
        tables.append((rng.random(table.shape), rng))
    begun, plays = deepcopy(tables), []
    try:
        with np.errstate(all="ignore"):
            with uncompiled() as kernels:
                for i, (numbers, plain) in enumerate(tables):
                    notes = Notes(plain=not algorithm.steps)
                    # opposite data show code that the ledger cannot follow, too
                    if i < 2:
                        traces = Table(numbers, notes), Tracer(deepcopy(plain), notes)
                        run = play(algorithm, *traces, memory_of_values, given)
                        runs.append(Trace(run, notes))
                        notes.over = True
                    untraced = numbers, _Untraced(plain, notes), Steps.memory
                    plays.append(play(algorithm, *untraced, given))
            # after the traces, which would not see what outlives these runs
            with suppress(NumbaError, StepError):  # a faulty source of noise, which is never played
                compiled = [tuple(algorithm.play_checked(*pair, *given)) for pair in begun]
    except Exception as error:
        why = " ".join(f"{type(error).__name__}: {error}".split())
        hint = UFUNC if "ufunc" in why else ""
        raise TypeError(f"the ledger cannot follow {name}: {why}{hint}") from error
    if algorithm.steps and is_jitted(algorithm.steps.choose):
        # only those of `settings`: a loop compiles the steps anew
        kernels = takewhile(lambda kernel: kernel.__module__ != loops.__name__, kernels)
    for kernel in kernels:
        if outdated(kernel):
            why = f"compiled {kernel.__name__} has earlier values, {FROZEN}"
            raise TypeError(f"the ledger cannot follow {name}: {why}")
    if [run.actions for run in runs] != plays[:2]:
        raise TypeError(f"the ledger cannot follow {name}: {OTHERWISE}")
    if compiled and compiled != plays:
        why = f"its compiled form plays other actions, {FROZEN}"
        raise TypeError(f"the ledger cannot follow {name}: {why}")
    return runs[0]


def _add(row, other, times):
    """Add a multiple of a row to another, in place."""
    for key, c in other.items():
        if c := row.pop(key, 0) + times * c:
            row[key] = c


def _noises_of(row):
    return [key for key in row if not isinstance(key, tuple)]


def _reduced(row, solved):
    for key in solved.keys() & row.keys():
        _add(row, solved[key], -row[key])
    return row


def eliminated(rows: Iterable[dict], order: Callable) -> tuple[dict, list]:
    """Solve rows for noises, exactly (Gauss and Jordan): noise -> row, and rows without noise.

    Each row is solved for the noise that comes first in the order.
    """
    solved, bare = {}, []
    for given in rows:
        row = _reduced(dict(given), solved)
        if not (noises := _noises_of(row)):
            bare += [row] if row else []
            continue
        pivot = min(noises, key=order)
        factor = 1 / Fraction(row[pivot])
        row = {key: c * factor for key, c in row.items()}
        for other in solved.values():
            if pivot in other:
                _add(other, row, -other[pivot])
        solved[pivot] = row
    return solved, bare


def _shift(row, change):
    row, change = sorted((row, change), key=len)
    return sum(c * change[key] for key, c in row.items() if key in change)


class Moves:
    """The cheapest changes of noises that keep what a run used, while data change.

    What was used are pairs of a row and a sign: the row must not change, or only to that sign. All
    is exact: the linear programme only says which noises move.
    """

    def __init__(self, notes: Notes, keep: str):
        units = list(map(exact, notes.scales))
        self.upward = notes.upward
        # the steps of a noise that moves by whole numbers alone, in scales
        self.steps = {i: 1 / Fraction(units[i]) for i, whole in enumerate(notes.whole) if whole}
        # why the last cost was infinite
        self.why = ""

        def in_scales(form):
            return {key: c if isinstance(key, tuple) else c * units[key] for key, c in form}

        used = map(in_scales, notes.numbers if keep == "numbers" else notes.revealed)
        rows = sorted(used, key=len)
        uses = Counter(key for row in rows for key in row)
        solved, self.bare = eliminated(rows, lambda noise: uses[noise])
        self.bare, pairs = [(row, 0) for row in self.bare], [(r, 0) for r in solved.values()]
        for form, sign in notes.outcomes if keep == "outcomes" else ():
            row = _reduced(in_scales(form), solved)
            (pairs if _noises_of(row) else self.bare).append((row, sign))
        self.parts: list[tuple[set, list]] = []  # pairs that have noises in common
        for pair in pairs:
            noises, joined = set(_noises_of(pair[0])), [pair]
            for part in [part for part in self.parts if part[0] & noises]:
                self.parts.remove(part)
                noises, joined = noises | part[0], part[1] + joined
            self.parts.append((noises, joined))

    def cost(self, change: dict) -> float:
        """Return what is moved in total, in scales, given (round, action) -> change of data."""
        for row, sign in self.bare:
            if (shift := _shift(row, change)) and shift * sign <= 0:
                return self._unhidden(BARE)
        moved, noises = [], set()
        for among, pairs in self.parts:
            shifts = [_shift(row, change) for row, _ in pairs]
            if any(shifts):
                noises |= among
                # an entry of the table may change by a fraction; an indicator does not
                real = (key in row for row, _ in pairs for key in change if key[1] >= 0)
                if not among.isdisjoint(self.steps) and any(real):
                    return self._unhidden(FRACTIONS)
                moved += [
                    (row, sign, shift) for (row, sign), shift in zip(pairs, shifts, strict=True)
                ]
        return self._size(sorted(noises), *zip(*moved, strict=True)) if moved else 0.0

    def _unhidden(self, why):
        self.why = why
        return math.inf

    def _size(self, noises, rows, signs, shifts):
        """Return the total of the smallest moves; infinite if none was found that is right."""
        guess, slack = np.zeros(len(noises)), np.zeros(len(rows))
        place = {noise: i for i, noise in enumerate(noises)}
        rows = [{key: row[key] for key in row.keys() & place.keys()} for row in rows]
        if any(signs) or max(map(len, rows)) > 1:
            try:
                guess, slack = self._guess(place, rows, np.array(signs), shifts)
            except OverflowError:
                return self._unhidden(TOO_LARGE)
        for tolerance in TOLERANCES:
            kept = zip(rows, shifts, slack, strict=True)
            tight = [row | {(): shift} for row, shift, gap in kept if gap <= tolerance]
            solved, _ = eliminated(tight, lambda noise: -abs(guess[place[noise]]))
            moves = {noise: -row.get((), 0) for noise, row in solved.items()}
            after = [shift + _shift(row, moves) for row, shift in zip(rows, shifts, strict=True)]
            keeps = (not by or by * sign > 0 for by, sign in zip(after, signs, strict=True))
            if all(keeps) and all(by >= 0 for noise, by in moves.items() if self.upward[noise]):
                steps = (by / self.steps[k] for k, by in moves.items() if k in self.steps)
                if any(Fraction(number).denominator > 1 for number in steps):
                    return self._unhidden(FRACTIONS)
                size = sum(map(abs, moves.values()))
                return float(size) if size < LARGEST else self._unhidden(TOO_LARGE)
        upward = any(self.upward[noise] for noise in noises)
        return self._unhidden(UPWARD if upward else TOO_FEW)

    def _guess(self, place, rows, signs, shifts):
        """Return the moves and the slacks of the linear programme; infinite if it has none."""
        tops = [max(map(abs, row.values())) for row in rows]
        shifts = np.array([float(shift / top) for shift, top in zip(shifts, tops, strict=True)])
        matrix = np.zeros((len(rows), len(place)))
        for i, row in enumerate(rows):
            for key, c in row.items():
                matrix[i, place[key]] = c / tops[i]
        # the solver's tolerance is to be small next to each move that is needed
        sizes = np.where(shifts, np.abs(shifts), min(1.0, np.abs(shifts[shifts != 0]).min()))
        factors, equal = -np.where(signs, signs, 1.0) / sizes, signs == 0
        matrix, right = matrix * factors[:, None], -shifts * factors
        split = np.hstack([matrix, -matrix])  # up, down
        limits = [(0, None)] * len(place) + [(0, 0 if self.upward[k] else None) for k in place]
        conditions = split[~equal], right[~equal], split[equal], right[equal], limits
        solved = linprog(np.ones(2 * len(place)), *conditions, method="highs")
        up, down = np.split(solved.x if solved.success else np.zeros(2 * len(place)), 2)
        return up - down, np.where(equal, 0.0, right - matrix @ (up - down))


class NotHidden(UserWarning):
    """Why noise does not hide the data of a round."""


def costs(trace: Trace, keep: str = "numbers", rounds: Iterable[int] | None = None) -> np.ndarray:
    """Return the (T,) privacy cost of each round along a run; inf if not hidden, and a warning,
    `NotHidden`, says why.

    The cost of a round is that of the most expensive replacement of what was read. If that is more
    than `CORNERS` entries and indicators, it is at most the sum of their costs, which is returned.

    Parameters
    ----------
    keep : {"numbers", "outcomes"}
        What must not change: every number that was used, which is composition; or, of numbers that
        were only compared, only which one was larger. The second is sufficient, and cheaper for
        noisy maxima and sparse vectors. For a noisy maximum of K > 2 sums it counts who lost to
        whom as well, which costs up to K - 1 times the maximum alone: compare with two arms.
    rounds : list of int, optional
        From 0, each below T; by default all.

    Raises
    ------
    TypeError, ValueError
        If `keep` or a round is not one of those.

    Notes
    -----
    The numbers may be published after rounding to a grid much coarser than their last digits;
    unrounded doubles can reveal data (Mironov 2012).

    Examples
    --------
    >>> from privregret.bandits import AnytimeLazyUCB
    >>> run = traced(AnytimeLazyUCB(0.5), [[0, 1], [1, 1], [0, 0]], rng=1)
    >>> costs(run, rounds=[0]).tolist()
    [0.5, 0.0, 0.0]
    """
    checks.one_of(*KEEPS)("keep", keep)
    notes, result = trace.notes, np.zeros(len(trace.actions))
    if rounds is not None:
        known = checks.integer_in(0, len(result) - 1)
        rounds = checks.list_of(known)(
            "rounds", list(rounds) if isinstance(rounds, RANGES) else rounds
        )
    read = {key for form in notes.numbers for key, _ in form if isinstance(key, tuple)}
    opposites = keep == "numbers" and not any(notes.upward)  # cost the same
    moves, unhidden = Moves(notes, keep), {}

    def dearest(keys):
        worst = 0.0
        for signs in product((1, -1), repeat=len(keys)):
            if opposites and signs[0] < 0:
                break
            worst = max(worst, moves.cost(dict(zip(keys, signs, strict=True))))
        return worst

    for t in {t for t, _ in read} & set(range(len(result)) if rounds is None else rounds):
        keys = sorted(key for key in read if key[0] == t)
        parts = [keys] if len(keys) <= CORNERS else [[key] for key in keys]
        result[t] = sum(map(dearest, parts))
        if math.isinf(result[t]):
            unhidden[t] = moves.why
    if unhidden:
        first = min(unhidden)
        told = f"the data of {len(unhidden)} rounds are not hidden, such as those of t={first}"
        warnings.warn(f"{told}: {unhidden[first]}", NotHidden, stacklevel=2)
    return result
