"""The ledger of any algorithm, from a run of its own code: what it uses of the data, and through which noise.

`traced` runs `play` uncompiled on a table of `Value`s, numbers that remember how they were added up from rewards (or
losses) and noises. Whenever the algorithm compares such a number, or takes a function of it, it uses it: that is
noted. The cost of a round is then a question about these sums alone. Replace the round, and ask for the cheapest change
of the noises, each in units of its scale, with which everything that was used stays as it was: then the algorithm does
the same as before, and the probability of that has changed by at most the exponential of the cost. If no change of the
noises will do, the cost is infinite. (Proofs that a machine makes of such couplings are known as randomness alignment;
Zhang and Kifer 2017.)
"""

import inspect
import math
import sys
from contextlib import contextmanager
from itertools import product
from typing import NamedTuple
from unittest import mock

import numpy as np
from scipy.optimize import linprog

from privregret import checks, noise
from privregret.adversarial.base import AdversarialAlgorithm, ExpertAlgorithm
from privregret.instances import Adversary, Advice, ExpertProblem

KEEPS = ("numbers", "outcomes")
PACKAGES = tuple(f"privregret.{family}." for family in ("bandits", "full_information", "adversarial"))


class Value:
    """A number, and its coefficients on data, keys (round, action), and on noises, keys 0, 1, 2, ... as drawn."""

    __slots__ = ("form", "notes", "value")

    def __init__(self, value, form, notes):
        self.value, self.form, self.notes = value, form, notes

    def __add__(self, other):
        if isinstance(other, np.ndarray):
            return NotImplemented  # numpy goes through it
        if not isinstance(other, Value):
            return Value(self.value + float(other), self.form, self.notes)
        form = dict(self.form)
        for key, c in other.form.items():
            form[key] = form.get(key, 0.0) + c
        return Value(self.value + other.value, {key: c for key, c in form.items() if c}, self.notes)

    def __mul__(self, factor):
        if isinstance(factor, np.ndarray):
            return NotImplemented
        factor = float(factor)  # a product of two is not linear: the other one is used
        return Value(
            self.value * factor, {key: c * factor for key, c in self.form.items()} if factor else {}, self.notes
        )

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

    def __bool__(self):
        return float(self) != 0

    def _compare(self, other, sign, strict):
        gap = (self - other) * sign  # is it above 0?
        outcome = gap.value > 0 or (gap.value == 0 and not strict)
        rounds = {key[0] for key in gap.form if isinstance(key, tuple)}
        if len(rounds) == 1 and len(gap.form) == sum(isinstance(key, tuple) for key in gap.form):
            return Value(
                float(outcome), {min(gap.form): 1.0}, self.notes
            )  # a bit of one round's data, no use of it yet
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

    def __eq__(self, other):  # beside a comparison by size: with continuous noise, equal only if the same sum
        return self.value == (other.value if isinstance(other, Value) else other)

    __hash__ = None


def _normal(form):
    """A form up to a positive factor, to be compared with others."""
    size = max(abs(c) for c in form.values())
    return frozenset((key, round(c / size, 12)) for key, c in form.items())


class Notes:
    """What was drawn and what was used: forms, as frozensets of (key, coefficient)."""

    def __init__(self):
        self.scales, self.upward = [], []  # of the noises; whether one may only be raised
        self.numbers, self.told, self.outcomes = set(), set(), set()
        self.row = -1  # last row of the table that was read

    def use(self, form, kept=True):
        """The number itself was used (`kept`), or only compared."""
        if form:
            self.numbers.add(_normal(form))
            if kept:
                self.told.add(_normal(form))


class Table:
    """Rewards or losses as `Value`s; what kernels ask of an array."""

    def __init__(self, numbers, notes):
        self.numbers, self.notes, self.shape = np.asarray(numbers, float).tolist(), notes, np.shape(numbers)

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, at):
        if not isinstance(at, tuple):
            return np.array([self[at, j] for j in range(self.shape[1])], object)
        t, j = map(int, at)
        self.notes.row = t
        return Value(self.numbers[t][j], {(t, j): 1.0}, self.notes)


class Tracer:
    """Stands in for a Generator: its noises are `Value`s."""

    def __init__(self, rng, notes):
        self.rng, self.notes = rng, notes

    def drawn(self, value, scale, upward):
        self.notes.scales.append(float(scale))
        self.notes.upward.append(upward)
        return Value(value, {len(self.notes.scales) - 1: 1.0}, self.notes)

    def laplace(self, loc, scale):
        return self.drawn(loc + noise.laplace(scale, self.rng), scale, False)

    def random(self):
        return self.rng.random()

    def beta(self, a, b):
        return self.rng.beta(float(a), float(b))


def _laplace(scale, rng):
    """`noise.laplace`, one draw of whatever stands in for a Generator."""
    return rng.laplace(0.0, scale)


def _draw(kind, scale, rng):
    """`noise.draw`, traced. The densities of exponential and Gumbel noise fall by exp(-x / scale) at most if it is
    raised by x; lowered, they may fall by any factor."""
    if kind == noise.NONE:
        return 0.0
    if kind == noise.LAPLACE:
        return _laplace(scale, rng)
    return rng.drawn(noise.draw.py_func(kind, scale, rng.rng), scale, True)


class _ObjectArrays:
    """numpy, whose arrays of floats can hold a `Value`."""

    def __getattr__(self, name):
        return getattr(np, name)

    @staticmethod
    def zeros(shape, dtype=object):
        return np.zeros(shape, dtype)

    @staticmethod
    def empty(shape, dtype=object):
        return np.empty(shape, dtype)

    @staticmethod
    def full(shape, value, dtype=object):
        return np.full(shape, value, dtype)


@contextmanager
def uncompiled(values: bool = True):
    """Kernels as the Python that they are written in: those that draw, or all, on `Value`s too. Not for threads."""
    modules = [m for name, m in list(sys.modules.items()) if name.startswith((*PACKAGES, "privregret.divergence"))]
    kernels = [(m, name, k) for m in modules for name, k in vars(m).items() if hasattr(k, "py_func")]
    kernels = [(m, name, k) for m, name, k in kernels if values or "rng" in inspect.signature(k.py_func).parameters]
    arrays = [(m, "np", np) for m in modules if values and vars(m).get("np") is np]
    noises = {noise.laplace: _laplace, noise.draw: _draw}
    try:
        for m, name, kernel in kernels:
            setattr(m, name, noises.get(kernel, kernel.py_func))
        for m, name, _ in arrays:
            setattr(m, name, _ObjectArrays())
        yield
    finally:
        for m, name, before in kernels + arrays:
            setattr(m, name, before)


@contextmanager
def altered(module, kernel: str, before: str, after: str):
    """A kernel of a module with one piece of its source replaced by another: a variant, or a fault to be caught."""
    right = vars(module)[kernel]
    source = inspect.getsource(getattr(right, "py_func", right))
    if source.count(before) != 1:
        raise ValueError(f"{before!r} must stand once in {kernel}, got {source.count(before)} times")
    try:
        exec(source.replace(before, after).removeprefix("@jit\n"), vars(module))
        yield
    finally:
        setattr(module, kernel, right)


class Noting:
    """A Generator that notes which random numbers are drawn from it: (kind, parameters...)."""

    def __init__(self, rng):
        self.numpys, self.noted, self.rng = np.random.default_rng(rng), [], self

    def __getattr__(self, name):
        def draw(*given):
            self.noted.append((name, *given))
            return getattr(self.numpys, name)(*given)

        return draw

    def drawn(self, value, *_):
        """As uncompiled kernels take the noise of `noise.draw`."""
        return value


def random_numbers(algorithm, problem, horizon: int, runs: int, rng) -> list[tuple]:
    """The random numbers that runs draw, in order: a kernel's cost is at least theirs, whatever else it does.

    Parameters
    ----------
    algorithm, problem, horizon, runs
        As in `simulate.regret_curves`; played uncompiled.
    rng : int or numpy.random.Generator

    Returns
    -------
    list of (kind, parameters...)
        Kinds are the methods of a Generator.
    """
    noting = Noting(rng)
    with uncompiled(values=False), mock.patch.object(noise, "laplace", noise.laplace.py_func):
        for _ in range(runs):
            algorithm._run(problem.data, np.array([horizon]), noting)
    return noting.noted


class Trace(NamedTuple):
    """The actions of a run, and what was drawn and used."""

    actions: tuple
    notes: Notes


def traced(algorithm, table, rng, advice=None) -> Trace:
    """Run `play` on a (T, K) table of rewards or losses, its own code, line by line, and note what it uses.

    Parameters
    ----------
    algorithm : Algorithm
        Of any family.
    table : (T, K) array
    rng : int or numpy.random.Generator
    advice : (N, K) array, optional
        Of experts, for algorithms that take advice; by default there is one for each arm.
    """
    notes = Notes()
    with uncompiled():
        return Trace(play(algorithm, table, Tracer(np.random.default_rng(rng), notes), notes, advice), notes)


def play(algorithm, table, source, notes, advice=None) -> tuple:
    """Actions on a table of `Value`s; among `uncompiled` kernels."""
    shown = Table(table, notes)
    if not isinstance(algorithm, AdversarialAlgorithm):
        return tuple(map(int, algorithm._play(shown, source)))
    problem = Adversary("table", np.arange(len(table)), np.asarray(table, float))
    if isinstance(algorithm, ExpertAlgorithm):
        problem = ExpertProblem(problem, Advice.of_table(np.eye(shown.shape[1]) if advice is None else advice))
    data = problem.data._replace(losses=shown)
    kernel, given = algorithm._kernel(data, np.array([len(shown)]), True)
    actions, _ = kernel(*given, source)
    return tuple(map(int, actions))


def moves(notes: Notes, change: dict, keep: str = "numbers"):
    """(noises,) the cheapest changes of the noises that undo a change of the data; None if nothing does.

    Parameters
    ----------
    notes : Notes
    change : dict
        (round, action) -> by how much it is changed.
    keep : {"numbers", "outcomes"}
        What is to stay: every number that was used, which is composition; or of numbers that were only compared, no
        more than which was larger. The second is enough, and cheaper for noisy maxima and sparse vectors.
    """
    checks.one_of(*KEEPS)("keep", keep)
    rows, right, kinds = [], [], []
    used = [(form, 0.0) for form in (notes.numbers if keep == "numbers" else notes.told)]
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
            rows.append(row * (-sign or 1.0)), right.append(-shift * (-sign or 1.0)), kinds.append(sign != 0)
    if not any(right):
        return np.zeros(noises)
    if not noises:
        return None
    rows, right, unequal = np.array(rows), np.array(right), np.array(kinds)
    scales = np.array(notes.scales)
    split = np.hstack([rows * scales, -rows * scales])  # in scales; up, down
    limits = [(0, None)] * noises + [(0, 0 if up else None) for up in notes.upward]
    solved = linprog(
        np.ones(2 * noises), split[unequal], right[unequal], split[~unequal], right[~unequal], limits, method="highs"
    )
    return (solved.x[:noises] - solved.x[noises:]) * scales if solved.success else None


def costs(trace: Trace, keep: str = "numbers", rounds=None) -> np.ndarray:
    """(T,) privacy cost of each round along a run: the dearest replacement of what was read; inf if not hidden.

    Parameters
    ----------
    trace : Trace
    keep : {"numbers", "outcomes"}
        As in `moves`.
    rounds : iterable of int, optional
        From 0; by default all.
    """
    checks.one_of(*KEEPS)("keep", keep)
    read = {key for form in trace.notes.numbers for key, _ in form if isinstance(key, tuple)}
    result = np.zeros(len(trace.actions))
    scales = np.array(trace.notes.scales)
    for t in {t for t, _ in read} & set(range(len(result)) if rounds is None else rounds):
        keys = sorted(key for key in read if key[0] == t)
        for signs in product((-1.0, 1.0), repeat=len(keys)):
            if keep == "numbers" and signs[0] < 0 and not any(trace.notes.upward):
                continue  # as dear as its opposite
            moved = moves(trace.notes, dict(zip(keys, signs, strict=True)), keep)
            result[t] = max(result[t], math.inf if moved is None else float((np.abs(moved) / scales).sum()))
    return result
