"""Bound privacy losses from below by running an algorithm on neighbouring tables.

Such a black-box audit can show that an algorithm is not epsilon-DP; it cannot show that it is.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from reprlib import repr
from typing import NamedTuple

import numpy as np
from scipy import stats

from privregret.core import checks, store


class Found(NamedTuple):
    """A lower confidence bound and the event that shows it.

    A searched event consists of `sequences` sequences of actions in some `rounds`, from 0;
    `actions` is the most frequent one. If no event differs by more than chance, it has none, and
    the value 0 is no evidence, for or against the algorithm.
    """

    value: float
    actions: tuple
    sequences: int
    rounds: tuple = ()

    @property
    def evidence(self) -> bool:
        """Whether an event differs by more than chance."""
        return self.value > 0

    def __str__(self):
        if not self.evidence:
            return (
                "no evidence: what is played on the two tables differs by no more than chance; "
                "take longer tables, a row that decides more, or more runs"
            )
        found = f"a loss of at least {self.value:.3f}"
        if not self.rounds:
            return f"{found}, by the given event"
        rounds, actions = repr(tuple(t + 1 for t in self.rounds)), repr(self.actions)
        return f"{found}, by actions {actions} in rounds {rounds} and {self.sequences - 1} more"


@checks.validate(
    runs=checks.integer_in(4, checks.MAX_RUNS),
    seed=checks.seed,
    failure=checks.number_in(0, 1, "()"),
)
@store.cached
def searched_loss(
    play: Callable[[np.ndarray, np.random.Generator], np.ndarray],
    tables: Sequence[np.ndarray],
    runs: int,
    seed: int,
    failure: float = 1e-06,
    event: Callable[[np.ndarray], bool] | None = None,
) -> Found:
    """Return a lower confidence bound on the privacy loss, from a searched event or a given one.

    Half of the plays choose the event. It is about the actions of all rounds, or about those of the
    changed round and of the last 1, 2, 4, ... rounds, whichever shows more: their sequences are
    sorted by their frequencies on the two tables, and the event is the beginning of that list. The
    other half measures the event, with exact binomial (Clopper-Pearson) limits. All plays measure
    an event that is given, and its complement.

    Parameters
    ----------
    play : callable
        (table, rng) -> (T,) actions, such as an algorithm's `play`.
    tables : pair of (T, K) arrays
        They differ in one row. T must be so large that actions depend on that row.
    runs : int
        Plays on each table, at least 4.
    seed : int
    failure : float
        In (0, 1): the bound exceeds the true loss with at most this probability.
    event : callable, optional
        (T,) actions -> bool.

    Raises
    ------
    TypeError, ValueError
        If the tables are not neighbours, or a number is outside its range.

    Examples
    --------
    >>> from privregret.bandits import AnytimeLazyUCB
    >>> tables = np.zeros((3, 2)), np.array([[1.0, 0], [0, 0], [0, 0]])
    >>> 0 < searched_loss(AnytimeLazyUCB(2.0).play, tables, runs=2000, seed=0).value < 2
    True
    """
    tables, rng = _neighbours(tables), np.random.default_rng(seed)
    if event is not None:
        a, b = (sum(bool(event(play(table, rng))) for _ in range(runs)) for table in tables)
        pairs = (a, b), (b, a), (runs - a, runs - b), (runs - b, runs - a)
        return Found(max(0.0, *(_log_ratio(*pair, runs, failure / 8) for pair in pairs)), (), 0)
    drawn = [[tuple(map(int, play(table, rng))) for _ in range(runs)] for table in tables]
    half, best = runs // 2, Found(0.0, (), 0)
    for samples in (drawn, drawn[::-1]):
        chosen = [sample[:half] for sample in samples]
        tried = [_shown(chosen, rounds, half // 2, failure / 4) for rounds in _views(tables)]
        rounds = max(tried, key=lambda found: found.value).rounds
        best = max(best, _shown(samples, rounds, half, failure / 4), key=lambda found: found.value)
    return best


def _views(tables):
    """Return the rounds whose actions an event may be about."""
    rounds = len(tables[0])
    changed = int(np.flatnonzero((tables[0] != tables[1]).any(axis=1))[0])
    last = [range(rounds - 2**i, rounds) for i in range(rounds.bit_length()) if 2**i < rounds]
    return [tuple(range(rounds)), *(tuple(sorted({changed, *some})) for some in last)]


def _frequencies(sample, rounds):
    return Counter(tuple(actions[t] for t in rounds) for actions in sample)


def _shown(samples, rounds, first, level):
    """Return what an event in these rounds shows, chosen by the first plays, by the others."""
    counts, others = (_frequencies(sample[:first], rounds) for sample in samples)
    order = sorted(counts, key=lambda s: ((counts[s] + 0.5) / (others[s] + 0.5), s), reverse=True)
    heads = np.cumsum([(counts[s], others[s]) for s in order], axis=0)
    largest = int(np.argmax([_log_ratio(a, b, first, level) for a, b in heads]))
    event, rest = set(order[: 1 + largest]), [sample[first:] for sample in samples]
    hits = [sum(map(_frequencies(sample, rounds).__getitem__, event)) for sample in rest]
    value = _log_ratio(*hits, len(rest[0]), level)
    return Found(value, max(event, key=counts.__getitem__), len(event), rounds)


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
    """Return a lower limit of ln(P / P'), of two limits that fail with probability `level` each."""
    if hits == 0:
        return -math.inf
    at_most = stats.beta.ppf(1 - level, others + 1, runs - others) if others < runs else 1.0
    return math.log(stats.beta.ppf(level, hits, runs - hits + 1) / at_most)
