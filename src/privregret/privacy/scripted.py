"""Compute exact action distributions of two-armed bandit algorithms from code.

Every number that is released is rounded to a grid. That is post-processing: the loss of the rounded
algorithm is exact, and at most that of the released numbers. The algorithm runs, uncompiled, on
every combination of the grid's cells. A noise that is drawn after the last row of rewards was read
decides nothing, and is left out.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import laplace

from privregret.core import checks, store
from privregret.core.loops import Steps
from privregret.core.noise import LAPLACE
from privregret.privacy import trace

UNUSED = np.random.default_rng(0)
REACH = 8.0  # margin of the grid beyond the sums, in scales of the noise; outer cells are infinite


class Worst(NamedTuple):
    """The largest log-ratio, with its two lists of rewards and its actions."""

    value: float
    before: tuple
    after: tuple
    actions: tuple


class _NotInScript(Exception):
    """A script ends early: it must continue with each of the given number of picks."""


class _Script(trace.Tracer):
    """A script instead of randomness: cells of the grid, and sides of fair coins."""

    FOLLOWED = ("laplace", "random")

    def __init__(self, picks, notes, cells, rounds, most, traced=False):
        super().__init__(UNUSED, notes)
        self.picks, self.traced = iter(picks), traced
        self.cells, self.rounds, self.most = cells, rounds, most
        self.kinds = ()  # the scale of each noise, 0 for a coin

    def _pick(self, options, scale):
        if (pick := next(self.picks, None)) is None:
            raise _NotInScript(options)
        self.kinds += (scale,)
        return pick

    def noise(self, kind, scale):
        if kind != LAPLACE:
            raise ValueError("only Laplace noise can be enumerated")
        if self.notes.row == self.rounds - 1:
            return 0.0
        cell, inner = self._pick(self.cells, scale), grid(self.cells, scale, self.most)
        # differs per draw, so that rounding makes no ties
        inside = cell - 0.5 + 0.05 * len(self.kinds)
        value = float(inner[0] + inside * (inner[1] - inner[0]))
        return self.drawn(value, scale, False) if self.traced else value

    def laplace(self, loc=0.0, scale=1.0):
        return loc + self.noise(LAPLACE, scale)

    def random(self):
        return (0.25, 0.75)[self._pick(2, 0.0)]


class _Plain(trace.Table):
    """A table of plain numbers."""

    def __getitem__(self, at):
        self.notes.row = at[0]
        return self.numbers[at[0]][at[1]]


@lru_cache(maxsize=64)
def grid(cells: int, scale: float, most: int) -> np.ndarray:
    """Return the (cells - 1,) inner edges of the cells of noisy sums of at most `most` rewards."""
    return np.linspace(-REACH * scale, most + REACH * scale, cells - 1)


@store.kept
def action_law(
    algorithm: Any, table: ArrayLike, rounds: Sequence[int] | None = None, cells: int = 24
) -> dict:
    """Return a law: actions -> probabilities, with an axis for the 0/1 rewards of some rounds.

    Parameters
    ----------
    algorithm : BanditAlgorithm
        With Laplace noise and fair coins.
    table : (T, 2) array
        Rewards of all other rounds.
    rounds : sequence of int, optional
        Rounds, from 0, whose rewards take all values 0 and 1, whatever the table holds; by default
        all except the last, whose reward comes after the last action.
    cells : int
        Cells of the grid, at least 4. Work is cells to the power of the number of noises.
    """
    cells = checks.integer_in(4, checks.LARGEST)("cells", cells)
    table = checks.table("table", table).copy()
    free = list(range(len(table) - 1) if rounds is None else rounds)
    table[free] = 0.0
    size = (cells, len(table), len(free))
    scripts, paths = [()], {}
    steps = algorithm.steps
    with trace.uncompiled(*trace.code(algorithm), values=False):
        while scripts:
            script, notes = scripts.pop(), trace.Notes()
            source = _Script(script, notes, *size)
            try:
                plain = _Plain(table, notes), source, Steps.memory
                actions = trace.play(algorithm, steps, *plain)
            except _NotInScript as more:
                scripts += [(*script, pick) for pick in range(more.args[0])]
                continue
            paths.setdefault((actions, source.kinds), []).append(script)
    law = {actions: np.zeros((2,) * len(free)) for actions, _ in paths}
    for (actions, kinds), picked in paths.items():
        notes = trace.Notes()
        source = _Script(picked[0], notes, *size, traced=True)
        with trace.uncompiled(*trace.code(algorithm)):
            values = trace.Table(table, notes), source, trace.memory_of_values
            trace.play(algorithm, steps, *values)
        if notes.indicators:
            raise ValueError(f"{type(algorithm).__name__} compares rewards: not enumerated")
        # decrease of each noise if a reward is 1 and the releases are unchanged
        units = [trace.moves(notes, {(t, actions[t]): 1.0}) for t in free]
        if any(unit is None for unit in units):
            raise ValueError("a reward enters without noise: the privacy loss is infinite")
        law[actions] += _probabilities(
            np.array(picked), np.array(kinds), np.array(units), notes.scales, cells
        )
    return law


def _probabilities(picked, kinds, units, scales, cells):
    """Return the probabilities of scripts with equal actions and draws, given F rewards."""
    result, noises = np.zeros((2,) * len(units)), picked[:, kinds > 0]
    for rewards in product((0, 1), repeat=len(units)):
        chance = np.full(len(picked), 0.5 ** np.sum(kinds == 0))
        for i, shift in enumerate(np.array(rewards) @ units):
            below = laplace.cdf(grid(cells, scales[i], len(units)) + shift, scale=scales[i])
            chance *= np.diff(below, prepend=0.0, append=1.0)[noises[:, i]]
        result[rewards] = chance.sum()
    return result


def worst(chances: dict) -> Worst:
    """Return the largest log-ratio of an action sequence over lists that differ in one reward."""
    found = Worst(0.0, (), (), ())
    for actions, p in chances.items():
        for t in range(p.ndim):
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.nan_to_num(np.log(np.flip(p, t) / p), nan=0.0, posinf=np.inf)
            if ratio.max() > found.value:
                before = tuple(map(int, np.unravel_index(ratio.argmax(), p.shape)))
                after = tuple(1 - r if s == t else r for s, r in enumerate(before))
                found = Worst(float(ratio.max()), before, after, actions)
    return found
