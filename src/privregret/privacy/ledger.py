"""The ledger: what the noise in an algorithm's code costs.

`traced` notes the sums of data and noise that a run uses (`privacy.tracing`). They determine the
cost of a round. Replace the round, and find the cheapest change of the noises, each in units of its
scale, that keeps everything that was used unchanged: then the algorithm does the same as before,
and the probability of this has changed by at most the exponential of the cost. If no change of the
noises suffices, the cost is infinite. (Machine-made proofs of such couplings are known as
randomness alignment; Zhang and Kifer 2017.)

What the bound covers: one run, on one table with entries in [0, 1]. Neighbours differ in one round,
whose entries are all replaced by any others in [0, 1]. If no run costs more than c, on any table
and with any random numbers, the sequence of actions is c-DP; the cost of a single run says nothing
of runs that do something else. The bound is of real numbers: what rounding reveals is not seen. Nor
is code that reads what is private to a `Value` or to its source of noise. What asks for types or
identities is refused if it changes an action, on this table, on its opposite or on a random one; so
is compiled code that keeps an earlier value of a global, or plays other actions than what is read,
on these or on a few more.
"""

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import product

import numpy as np
from scipy.optimize import linprog

from privregret.core import checks
from privregret.privacy.tracing import LARGEST, Notes, Trace, add, rational, traced

__all__ = ["NotHidden", "Trace", "costs", "traced"]

KEEPS = ("numbers", "outcomes")
TOLERANCES = 1e-9, 1e-7, 1e-5  # of the linear programme's slacks
CORNERS = 2**8  # changes of a round that are tried; if it has more, its entries are added up
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


class NotHidden(UserWarning):
    """Why noise does not hide the data of a round."""


def _noises_of(row):
    return [key for key in row if not isinstance(key, tuple)]


def _reduced(row, solved):
    for key in solved.keys() & row.keys():
        add(row, solved[key], -row[key])
    return row


def eliminated(rows: Iterable[dict], order: Callable) -> tuple[dict, list]:
    """Solve rows for noises, exactly (Gauss and Jordan): noise -> row, and rows without noise.

    Each row is solved for the noise that comes first in the order.
    """
    solved, bare = {}, []
    for row in rows:
        row = _reduced(dict(row), solved)
        if not (noises := _noises_of(row)):
            bare += [row] if row else []
            continue
        pivot = min(noises, key=order)
        factor = 1 / Fraction(row[pivot])
        row = {key: c * factor for key, c in row.items()}
        for other in solved.values():
            if pivot in other:
                add(other, row, -other[pivot])
        solved[pivot] = row
    return solved, bare


def _shift(row, change):
    row, change = sorted((row, change), key=len)
    return sum(c * change[key] for key, c in row.items() if key in change)


class Moves:
    """The cheapest changes of noises that keep what a run used, while data change.

    What was used are pairs of a row and a sign: the row must not change, or only to that sign. All
    is exact: the linear programme only says which noises move. NotHidden is raised if none do.
    """

    def __init__(self, notes: Notes, keep: str):
        units = list(map(rational, notes.scales))
        self.upward = notes.upward
        # the steps of a noise that moves by whole numbers alone, in scales
        self.steps = {i: 1 / Fraction(units[i]) for i, whole in enumerate(notes.whole) if whole}

        def in_scales(form):
            return {key: c if isinstance(key, tuple) else c * units[key] for key, c in form}

        rows = map(in_scales, notes.numbers if keep == "numbers" else notes.revealed)
        rows = sorted(rows, key=len)
        uses = Counter(key for row in rows for key in row)
        solved, bare = eliminated(rows, lambda noise: uses[noise])
        self.bare, pairs = [(row, 0) for row in bare], [(row, 0) for row in solved.values()]
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
                raise NotHidden(BARE)
        moved, noises = [], set()
        for among, pairs in self.parts:
            shifts = [_shift(row, change) for row, _ in pairs]
            if any(shifts):
                noises |= among
                # an entry of the table may change by a fraction; an indicator does not
                real = (key in row for row, _ in pairs for key in change if key[1] >= 0)
                if not among.isdisjoint(self.steps) and any(real):
                    raise NotHidden(FRACTIONS)
                moved += [
                    (row, sign, shift) for (row, sign), shift in zip(pairs, shifts, strict=True)
                ]
        return self._size(sorted(noises), *zip(*moved, strict=True)) if moved else 0.0

    def _size(self, noises, rows, signs, shifts):
        """Return the total of the smallest moves that are found and are right."""
        guess, slack = np.zeros(len(noises)), np.zeros(len(rows))
        place = {noise: i for i, noise in enumerate(noises)}
        rows = [{key: row[key] for key in row.keys() & place.keys()} for row in rows]
        if any(signs) or max(map(len, rows)) > 1:
            try:
                guess, slack = self._guess(place, rows, np.array(signs), shifts)
            except OverflowError:
                raise NotHidden(TOO_LARGE) from None
        for tolerance in TOLERANCES:
            limits = zip(rows, shifts, slack, strict=True)
            tight = [row | {(): shift} for row, shift, gap in limits if gap <= tolerance]
            solved, _ = eliminated(tight, lambda noise: -abs(guess[place[noise]]))
            moves = {noise: -row.get((), 0) for noise, row in solved.items()}
            after = [shift + _shift(row, moves) for row, shift in zip(rows, shifts, strict=True)]
            keeps = (not by or by * sign > 0 for by, sign in zip(after, signs, strict=True))
            if all(keeps) and all(by >= 0 for noise, by in moves.items() if self.upward[noise]):
                steps = (by / self.steps[k] for k, by in moves.items() if k in self.steps)
                if any(Fraction(number).denominator > 1 for number in steps):
                    raise NotHidden(FRACTIONS)
                if (size := sum(map(abs, moves.values()))) >= LARGEST:
                    raise NotHidden(TOO_LARGE)
                return float(size)
        raise NotHidden(UPWARD if any(self.upward[noise] for noise in noises) else TOO_FEW)

    def _guess(self, place, rows, signs, shifts):
        """Return the moves and the slacks of the linear programme, or 0 if it has none."""
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


def costs(trace: Trace, keep: str = "numbers", rounds: Iterable[int] | None = None) -> np.ndarray:
    """Return the (T,) privacy cost of each round along a run; inf if not hidden, and a warning,
    `NotHidden`, says why.

    The cost of a round is that of the most expensive replacement of what was read. If it read so
    many entries and indicators that there are more than `CORNERS` replacements, it is at most the
    sum of their costs, which is returned.

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
    if rounds is None:
        rounds = range(len(result))
    else:
        rounds = list(rounds) if isinstance(rounds, (range, np.ndarray)) else rounds
        rounds = checks.list_of(checks.integer_in(0, len(result) - 1))("rounds", rounds)
    read = {key for form in notes.numbers for key, _ in form if isinstance(key, tuple)}
    moves, unhidden = Moves(notes, keep), {}
    # Costs are convex in the changes, so the largest is at a corner; but if noises move by whole
    # numbers, what is in the middle of two corners may not be hidden
    signs = (1, 0, -1) if any(notes.whole) else (1, -1)
    opposites = keep == "numbers" and not any(notes.upward)  # cost the same

    def dearest(keys):
        changes = product(signs, repeat=len(keys))
        if opposites:
            changes = (change for change in changes if change[0] >= 0)
        return max(moves.cost(dict(zip(keys, change, strict=True))) for change in changes)

    for t in {t for t, _ in read} & set(rounds):
        keys = sorted(key for key in read if key[0] == t)
        parts = [keys] if len(signs) ** len(keys) <= CORNERS else [[key] for key in keys]
        try:
            result[t] = sum(map(dearest, parts))
        except NotHidden as why:
            result[t], unhidden[t] = math.inf, why
    if unhidden:
        first = min(unhidden)
        scope = f"the data of {len(unhidden)} rounds are not hidden, such as those of t={first}"
        warnings.warn(f"{scope}: {unhidden[first]}", NotHidden, stacklevel=2)
    return result
