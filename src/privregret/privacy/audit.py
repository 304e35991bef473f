"""Bound privacy losses from below by running an algorithm on neighbouring tables.

Such a black-box audit can show that an algorithm is not epsilon-DP; it cannot show that it is.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from privregret import store


def loss_lower_bound(
    algorithm: Any,
    rewards: ArrayLike,
    neighbour: ArrayLike,
    event: Callable[[np.ndarray], bool],
    runs: int,
    seed: int,
    failure: float = 1e-06,
) -> float:
    """Return a lower confidence bound on the privacy loss that an event shows.

    Parameters
    ----------
    algorithm : BanditAlgorithm
        Or anything with `play(rewards, rng)`.
    rewards, neighbour : (T, K) arrays
        Tables that differ in one row.
    event : callable
        (T,) actions -> bool.
    runs : int
        Plays on each table.
    seed : int
    failure : float
        The bound exceeds the true loss with at most this probability (exact binomial limits, both
        directions).

    Returns
    -------
    float
        max over the event and its complement, and both directions, of ln(P / P'), bounded from
        below; at least 0.

    Raises
    ------
    ValueError
        If the tables are not neighbours.

    Examples
    --------
    >>> from privregret.bandits import AnytimeLazyUCB
    >>> table, neighbour = np.zeros((3, 2)), np.array([[1.0, 0], [0, 0], [0, 0]])
    >>> first = lambda actions: actions[2] == 0
    >>> 0 < loss_lower_bound(AnytimeLazyUCB(2.0), table, neighbour, first, runs=2000, seed=0) < 2
    True
    """
    tables, rng = _neighbours((rewards, neighbour)), np.random.default_rng(seed)
    a, b = (sum(bool(event(algorithm.play(table, rng))) for _ in range(runs)) for table in tables)
    level = failure / 8  # four ratios, two limits each
    loss = 0.0
    for p, q in ((a, b), (b, a), (runs - a, runs - b), (runs - b, runs - a)):
        loss = max(loss, _log_ratio(p, q, runs, level))
    return loss


class Found(NamedTuple):
    """Hold a lower confidence bound and the actions of the event that shows it.

    The event consists of `sequences` action sequences.
    """

    value: float
    actions: tuple
    sequences: int


@store.kept
def searched_loss(
    play: Callable[[np.ndarray, np.random.Generator], np.ndarray],
    tables: Sequence[np.ndarray],
    runs: int,
    seed: int,
    failure: float = 1e-06,
) -> Found:
    """Return a lower confidence bound on the privacy loss, from a searched event.

    Half of the plays choose the event: sequences are sorted by their frequencies on the two tables,
    and the event is the beginning of that list. The other half measures the event, with exact
    binomial (Clopper-Pearson) limits.

    Parameters
    ----------
    play : callable
        (table, rng) -> (T,) actions.
    tables : pair of (T, K) arrays
        They differ in one row.
    runs : int
        Plays on each table, at least 4.
    seed : int
    failure : float
        The bound exceeds the true loss with at most this probability.

    Raises
    ------
    ValueError
        If the tables are not neighbours.

    Examples
    --------
    >>> from privregret.bandits import AnytimeLazyUCB
    >>> tables = np.zeros((3, 2)), np.array([[1.0, 0], [0, 0], [0, 0]])
    >>> 0 < searched_loss(AnytimeLazyUCB(2.0).play, tables, runs=2000, seed=0).value < 2
    True
    """
    tables, rng = _neighbours(tables), np.random.default_rng(seed)
    drawn = [[tuple(map(int, play(table, rng))) for _ in range(runs)] for table in tables]
    half = runs // 2
    best = Found(0.0, (), 0)
    for one, other in (drawn, drawn[::-1]):
        counts, others = Counter(one[:half]), Counter(other[:half])
        order = sorted(
            counts, key=lambda s: ((counts[s] + 0.5) / (others[s] + 0.5), s), reverse=True
        )
        heads = np.cumsum([(counts[s], others[s]) for s in order], axis=0)
        event = set(
            order[: 1 + int(np.argmax([_log_ratio(a, b, half, failure / 4) for a, b in heads]))]
        )
        hits = [sum(s in event for s in sample[half:]) for sample in (one, other)]
        value = _log_ratio(hits[0], hits[1], runs - half, failure / 4)
        if value > best.value:
            best = Found(value, max(event, key=counts.__getitem__), len(event))
    return best


def _neighbours(tables):
    """Check two tables that differ in one row."""
    shapes = [np.shape(table) for table in tables]
    if len(shapes) != 2 or len(set(shapes)) > 1 or len(shapes[0]) != 2:
        raise ValueError(
            f"tables must be two of the same shape (T, K), got {' and '.join(map(str, shapes))}"
        )
    differ = int((np.asarray(tables[0]) != np.asarray(tables[1])).any(axis=1).sum())
    if differ != 1:
        raise ValueError(f"tables must differ in exactly one row, got {differ} rows")
    return [np.asarray(table, float) for table in tables]


def _log_ratio(hits, others, runs, level):
    """Return a lower limit of ln(P / P').

    Each of its two limits fails with probability `level` at most.
    """
    if hits == 0:
        return -math.inf
    at_most = stats.beta.ppf(1 - level, others + 1, runs - others) if others < runs else 1.0
    return math.log(stats.beta.ppf(level, hits, runs - hits + 1) / at_most)
