"""Trace what an algorithm's code uses of the data, and through which noise.

`traced` runs the two steps of an algorithm uncompiled, on a memory and a table of `Value` objects.
These are numbers that remember how they were added up from rewards (or losses) and noises. If the
algorithm compares such a number, or takes a function of it, the use is recorded. The cost of a
round is then determined by these sums alone. Replace the round, and find the cheapest change of the
noises, each in units of its scale, that keeps everything that was used unchanged: then the
algorithm does the same as before, and the probability of this has changed by at most the
exponential of the cost. If no change of the noises suffices, the cost is infinite. (Machine-made
proofs of such couplings are known as randomness alignment; Zhang and Kifer 2017.)
"""

import math
from contextlib import contextmanager
from inspect import signature
from itertools import product
from types import FunctionType
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from privregret import checks, loops, noise, store
from privregret.adversarial import ExpertAlgorithm
from privregret.instances import Advice

KEEPS = ("numbers", "outcomes")


class Value:
    """Hold a number with its coefficients on data and noises.

    Data have keys (round, action), and noises have keys 0, 1, 2, ... in the order of their draws.
    """

    __slots__ = ("form", "notes", "value")

    def __init__(self, value, form, notes):
        self.value, self.form, self.notes = value, form, notes

    def __add__(self, other):
        if isinstance(other, np.ndarray):
            return NotImplemented  # makes numpy use the operators of this class
        if not isinstance(other, Value):
            return Value(self.value + float(other), self.form, self.notes)
        form = dict(self.form)
        for key, c in other.form.items():
            form[key] = form.get(key, 0.0) + c
        return Value(self.value + other.value, {key: c for key, c in form.items() if c}, self.notes)

    def __mul__(self, factor):
        if isinstance(factor, np.ndarray):
            return NotImplemented
        factor = float(factor)  # a product of two values is not linear, so one of them is used
        form = {key: c * factor for key, c in self.form.items()} if factor else {}
        return Value(self.value * factor, form, self.notes)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self * -1.0

    def __sub__(self, other):
        return NotImplemented if isinstance(other, np.ndarray) else self + -other

    def __rsub__(self, other):
        return -self + other

    def __truediv__(self, other):
        return NotImplemented if isinstance(other, np.ndarray) else self * (1 / float(other))

    def __rtruediv__(self, other):
        return other / float(self)

    def __abs__(self):
        return -self if self < 0 else self

    def __float__(self):
        self.notes.use(self.form)
        return float(self.value)

    def __int__(self):
        return int(float(self))

    def __bool__(self):
        return float(self) != 0

    def _compare(self, other, sign, strict):
        gap = (self - other) * sign  # whether the value is positive
        outcome = gap.value > 0 or (gap.value == 0 and not strict)
        rounds = {key[0] for key in gap.form if isinstance(key, tuple)}
        if len(rounds) == 1 and len(gap.form) == sum(isinstance(key, tuple) for key in gap.form):
            # a Bernoulli draw from one round's data is not yet a use
            return Value(float(outcome), {min(gap.form): 1.0}, self.notes)
        for side in (self, other):
            if gap.form and isinstance(side, Value):
                self.notes.use(side.form, kept=False)
        if gap.form and not math.isinf(gap.value):
            self.notes.outcomes.add((_normal(gap.form), 1.0 if outcome else -1.0))
        return outcome

    def __gt__(self, other):
        return self._compare(other, 1, True)

    def __ge__(self, other):
        return self._compare(other, 1, False)

    def __lt__(self, other):
        return self._compare(other, -1, True)

    def __le__(self, other):
        return self._compare(other, -1, False)

    def __eq__(self, other):
        # with continuous noise, values are equal only if they are the same sum
        return self.value == (other.value if isinstance(other, Value) else other)

    __hash__ = None


def _normal(form):
    """Return a form up to a positive factor, for comparison with others."""
    size = max(abs(c) for c in form.values())
    return frozenset((key, round(c / size, 12)) for key, c in form.items())


class Notes:
    """Record draws and uses: forms, as frozensets of (key, coefficient)."""

    def __init__(self, plain: str = ""):
        self.scales, self.upward = [], []  # per noise: whether it may only be raised
        self.numbers, self.kept, self.outcomes = set(), set(), set()
        self.row = -1  # last row of the table that was read
        self.plain = plain  # name of an algorithm that manages its own memory

    def use(self, form: dict, kept: bool = True) -> None:
        """Record that the number itself was used (`kept`), or only compared.

        Examples
        --------
        >>> notes = Notes()
        >>> notes.use({(0, 1): 2.0, 0: 1.0}, kept=False)
        >>> len(notes.numbers), len(notes.kept)
        (1, 0)
        """
        if form and kept and self.plain and all(isinstance(key, tuple) for key in form):
            raise TypeError(
                f"{self.plain} turns sums into floats before noise is added: "
                f"keep them in lists or in arrays of dtype object, so that the ledger sees them"
            )
        if form:
            self.numbers.add(_normal(form))
            if kept:
                self.kept.add(_normal(form))


class Table:
    """Hold rewards or losses as `Value` objects, with the methods that loops call on arrays."""

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
        self.notes.row = t
        return Value(self.numbers[t][j], {(t, j): 1.0}, self.notes)


def python(kernel: loops.Any) -> loops.Any:
    """Return the Python function of a kernel.

    Examples
    --------
    >>> python(noise.draw).__name__, python(len) is len
    ('draw', True)
    """
    return getattr(kernel, "py_func", kernel)


PLAIN_DRAW = python(noise.draw)


class Tracer(np.random.Generator):
    """Generate noises as `Value` objects, and other random numbers as plain numbers."""

    FOLLOWED = (
        *("laplace", "exponential", "standard_exponential", "gumbel"),  # noises
        *("random", "uniform", "integers", "binomial", "beta", "choice", "permutation", "shuffle"),
    )

    def __init__(self, rng, notes, owner="the algorithm"):
        self.source, self.notes, self.owner = np.random.default_rng(rng), notes, owner
        super().__init__(self.source.bit_generator)

    def __getattribute__(self, name):
        given = super().__getattribute__(name)
        if name[0] != "_" and name in vars(np.random.Generator) and name not in type(self).FOLLOWED:
            follows = ", ".join(f"rng.{name}" for name in type(self).FOLLOWED)
            raise TypeError(
                f"{self.owner} draws rng.{name}: the ledger knows noise.laplace, {follows}"
            )
        return given

    def noise(self, kind: int, scale: float, draw: loops.Callable = PLAIN_DRAW) -> Value | float:
        """Draw like `noise.draw`.

        The densities of exponential and Gumbel noise fall by exp(-x / scale) at most if the noise
        is raised by x; if it is lowered, they may fall by any factor.

        Examples
        --------
        >>> source = Tracer(1, Notes())
        >>> source.noise(noise.EXPONENTIAL, 2.0).form
        {0: 1.0}
        >>> source.notes.scales, source.notes.upward
        ([2.0], [True])
        """
        return (
            0.0
            if kind == noise.NONE
            else self.drawn(draw(kind, scale, self.source), scale, kind != noise.LAPLACE)
        )

    def drawn(
        self, value: np.typing.ArrayLike, scale: np.typing.ArrayLike, upward: bool
    ) -> Value | np.ndarray:
        """Return a noise of that value, or an array of noises.

        Examples
        --------
        >>> source = Tracer(1, Notes())
        >>> [noise.form for noise in source.drawn(np.zeros(2), 1.0, upward=False)]
        [{0: 1.0}, {1: 1.0}]
        """
        if np.ndim(value):
            scales = np.broadcast_to(scale, value.shape)
            each = [self.drawn(v, s, upward) for v, s in zip(value.flat, scales.flat, strict=True)]
            return np.array(each, object).reshape(value.shape)
        self.notes.scales.append(float(scale))
        self.notes.upward.append(upward)
        return Value(float(value), {len(self.notes.scales) - 1: 1.0}, self.notes)

    def laplace(
        self, loc: float = 0.0, scale: np.typing.ArrayLike = 1.0, size: loops.Any = None
    ) -> Value | np.ndarray:
        """Draw Laplace noise, whose density falls by equal factors either way.

        Examples
        --------
        >>> source = Tracer(1, Notes())
        >>> noise = source.laplace(scale=2.0)
        >>> source.notes.scales, source.notes.upward
        ([2.0], [False])
        """
        return loc + self.drawn(super().laplace(0.0, scale, size), scale, False)

    def gumbel(
        self, loc: float = 0.0, scale: np.typing.ArrayLike = 1.0, size: loops.Any = None
    ) -> Value | np.ndarray:
        """Draw Gumbel noise, which may only be raised.

        Examples
        --------
        >>> source = Tracer(1, Notes())
        >>> noise = source.gumbel(scale=2.0)
        >>> source.notes.scales, source.notes.upward
        ([2.0], [True])
        """
        return loc + self.drawn(super().gumbel(0.0, scale, size), scale, True)

    def exponential(
        self, scale: np.typing.ArrayLike = 1.0, size: loops.Any = None
    ) -> Value | np.ndarray:
        """Draw exponential noise, which may only be raised.

        Examples
        --------
        >>> source = Tracer(1, Notes())
        >>> noise = source.exponential(2.0)
        >>> source.notes.scales, source.notes.upward
        ([2.0], [True])
        """
        return self.drawn(super().exponential(scale, size), scale, True)

    def standard_exponential(self, size: loops.Any = None) -> Value | np.ndarray:
        """Draw exponential noise of scale 1.

        Examples
        --------
        >>> source = Tracer(1, Notes())
        >>> noise = source.standard_exponential(2)
        >>> source.notes.scales, source.notes.upward
        ([1.0, 1.0], [True, True])
        """
        return self.exponential(1.0, size)


def _laplace(scale, rng, compiled=noise.laplace):
    return rng.noise(noise.LAPLACE, scale) if hasattr(rng, "noise") else compiled(scale, rng)


def _draw(kind, scale, rng, draw=PLAIN_DRAW):
    return rng.noise(kind, scale) if hasattr(rng, "noise") else draw(kind, scale, rng)


NOISES = {noise.laplace: _laplace, noise.draw: _draw}


@contextmanager
def uncompiled(
    *functions: loops.Callable, values: bool = True, noises: dict = NOISES
) -> store.Iterator[None]:
    """Replace kernels that these functions call by their Python functions.

    Either all kernels are replaced, which can then take `Value` objects, or only those that draw.
    Noises
    come from the source's own `noise`. Not thread-safe.

    Examples
    --------
    >>> draw = noise.draw
    >>> with uncompiled(draw):
    ...     noise.draw is draw
    False
    >>> noise.draw is draw
    True
    """
    before, known, todo = [], set(), [vars(noise), *(python(f).__globals__ for f in functions)]
    while todo:
        names = todo.pop()
        if id(names) in known:
            continue
        known.add(id(names))
        for name, found in list(names.items()):
            plain = python(found)
            if plain is not found or (
                isinstance(found, FunctionType) and found.__module__.startswith("privregret.")
            ):
                todo.append(plain.__globals__)
                new = noises.get(found, plain)
                if new is not found and (values or "rng" in signature(plain).parameters):
                    before.append((names, name, found, new))
    try:
        for names, name, _, new in before:
            names[name] = new
        with store.without():
            yield
    finally:
        for names, name, found, _ in before:
            names[name] = found


def code(algorithm: loops.Any) -> tuple:
    """Return the functions that `play` runs.

    Examples
    --------
    >>> from privregret.bandits import AnytimeLazyUCB
    >>> len(code(AnytimeLazyUCB(0.5)))
    3
    """
    steps = algorithm.steps
    if not steps:
        return (algorithm.start,)
    return loops.play(algorithm.templates, steps), steps.choose, steps.observe


def play(
    algorithm: loops.Any,
    table: loops.Any,
    source: loops.Any,
    memory: loops.Callable,
    advice: tuple = (),
) -> tuple:
    """Return the actions of `algorithm.play`, with other tables, sources and memories.

    It needs `uncompiled` code.

    Parameters
    ----------
    algorithm : Algorithm
    table : (T, K) table
        Array or `Table`.
    source : generator
        Of random numbers.
    memory : callable
        Makes the memory.
    advice : tuple
        Empty, or one table of advice.

    Examples
    --------
    >>> from privregret.bandits import AnytimeLazyUCB
    >>> algorithm, notes = AnytimeLazyUCB(0.5), Notes()
    >>> table = Table([[0, 1], [1, 1], [0, 0]], notes)
    >>> with uncompiled(*code(algorithm)):
    ...     play(algorithm, table, Tracer(1, notes), memory_of_values)
    (0, 1, 1)
    """
    if not algorithm.steps:
        return tuple(
            map(int, loops.followed(algorithm.start, algorithm.templates, table, source, *advice))
        )
    sizes = table.shape[1], *(a.shape[1] for a in advice)
    given = *memory(algorithm.steps, *sizes), algorithm.settings(len(table), *sizes), source
    return tuple(map(int, python(code(algorithm)[0])(table, *advice, *given)))


def memory_of_values(steps: loops.Any, *sizes: int) -> tuple:
    """Return `Steps.memory` whose floats can hold a `Value`; integers stay integers.

    Examples
    --------
    >>> from privregret.bandits import AnytimeLazyUCB
    >>> steps = AnytimeLazyUCB(0.5).steps
    >>> own, ours = steps.memory(2)[0], memory_of_values(steps, 2)[0]
    >>> [str(part.dtype["total"]) for part in (own, ours)]
    ['float64', 'object']
    """
    return tuple(map(_objects, steps.memory(*sizes)))


def _objects(array):
    kinds = {name: array.dtype[name] for name in array.dtype.names}
    result = np.empty(
        len(array),
        [(name, object, k.shape) if k.base.kind == "f" else (name, k) for name, k in kinds.items()],
    )
    for name in kinds:
        result[name] = 0
    return result


class Trace(NamedTuple):
    """Hold the actions of a run, its draws and its uses."""

    actions: tuple
    notes: Notes


def traced(
    algorithm: loops.Any,
    table: np.typing.ArrayLike,
    rng: int | np.random.Generator,
    advice: np.typing.ArrayLike | None = None,
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
        If the algorithm draws noise that is not traced, or turns sums into plain numbers before
        noise is added.

    Examples
    --------
    >>> from privregret.bandits import AnytimeLazyUCB
    >>> run = traced(AnytimeLazyUCB(0.5), [[0, 1], [1, 1], [0, 0]], rng=1)
    >>> costs(run).tolist()
    [0.5, 0.5, 0.0]
    """
    name, table, given = type(algorithm).__name__, np.asarray(table, float), ()
    notes = Notes(plain="" if algorithm.steps else name)
    if isinstance(algorithm, ExpertAlgorithm):
        given = (
            Advice.of_table(np.eye(table.shape[1]) if advice is None else advice).dense(len(table)),
        )
    with uncompiled(*code(algorithm)):
        actions = play(
            algorithm, Table(table, notes), Tracer(rng, notes, name), memory_of_values, given
        )
    return Trace(actions, notes)


def moves(notes: Notes, change: dict, keep: str = "numbers") -> np.ndarray | None:
    """Return the cheapest changes of the noises that undo a change of the data.

    The result has shape (noises,), or is None if no change does.

    Parameters
    ----------
    notes : Notes
    change : dict
        (round, action) -> change of its reward or loss.
    keep : {"numbers", "outcomes"}
        What must not change: every number that was used, which is composition; or, of numbers that
        were only compared, only which one was larger. The second is sufficient, and cheaper for
        noisy maxima and sparse vectors.

    Examples
    --------
    >>> notes = Notes()
    >>> notes.scales, notes.upward = [2.0], [False]
    >>> notes.use({(0, 1): 1.0, 0: 1.0})
    >>> moves(notes, {(0, 1): 1.0}).tolist()
    [-1.0]
    """
    checks.one_of(*KEEPS)("keep", keep)
    rows, right, kinds = [], [], []
    used = [(form, 0.0) for form in (notes.numbers if keep == "numbers" else notes.kept)]
    used += [] if keep == "numbers" else list(notes.outcomes)
    noises = len(notes.scales)
    for form, sign in used:
        row, shift = np.zeros(noises), 0.0
        for key, c in form:
            if isinstance(key, tuple):
                shift += c * change.get(key, 0.0)
            else:
                row[key] = c
        if shift or row.any():
            (
                rows.append(row * (-sign or 1.0)),
                right.append(-shift * (-sign or 1.0)),
                kinds.append(sign != 0),
            )
    if not any(right):
        return np.zeros(noises)
    if not noises:
        return None
    rows, right, unequal = np.array(rows), np.array(right), np.array(kinds)
    scales = np.array(notes.scales)
    split = np.hstack([rows * scales, -rows * scales])  # costs in scales: up, down
    limits = [(0, None)] * noises + [(0, 0 if up else None) for up in notes.upward]
    solved = linprog(
        np.ones(2 * noises),
        split[unequal],
        right[unequal],
        split[~unequal],
        right[~unequal],
        limits,
        method="highs",
    )
    return (solved.x[:noises] - solved.x[noises:]) * scales if solved.success else None


def costs(trace: Trace, keep: str = "numbers", rounds: loops.Any = None) -> np.ndarray:
    """Return the (T,) privacy cost of each round along a run; inf if not hidden.

    The cost of a round is that of the most expensive replacement of what was read.

    Parameters
    ----------
    trace : Trace
    keep : {"numbers", "outcomes"}
        As in `moves`.
    rounds : iterable of int, optional
        From 0; by default all.

    Examples
    --------
    >>> from privregret.bandits import AnytimeLazyUCB
    >>> run = traced(AnytimeLazyUCB(0.5), [[0, 1], [1, 1], [0, 0]], rng=1)
    >>> costs(run, rounds=[0]).tolist()
    [0.5, 0.0, 0.0]
    """
    checks.one_of(*KEEPS)("keep", keep)
    read = {key for form in trace.notes.numbers for key, _ in form if isinstance(key, tuple)}
    result = np.zeros(len(trace.actions))
    scales = np.array(trace.notes.scales)
    for t in {t for t, _ in read} & set(range(len(result)) if rounds is None else rounds):
        keys = sorted(key for key in read if key[0] == t)
        for signs in product((-1.0, 1.0), repeat=len(keys)):
            if keep == "numbers" and signs[0] < 0 and not any(trace.notes.upward):
                continue  # as expensive as its opposite
            moved = moves(trace.notes, dict(zip(keys, signs, strict=True)), keep)
            result[t] = max(
                result[t], math.inf if moved is None else float((np.abs(moved) / scales).sum())
            )
    return result
