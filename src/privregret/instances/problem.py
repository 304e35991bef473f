"""What a problem is, and how its regret follows from what was played."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from privregret.core import checks
from privregret.core.jit import jit


class Problem(checks.Validated, ABC):
    """A problem: its parameters, a frozen dataclass.

    `play` uses `table` and `play_counts`, `run` uses `kernel_data`, and both use the rest. A
    problem of one's own defines `name`, `arms`, `distribution`, `table` and `gaps`, or in place of
    gaps its own `play_counts` and `regret`; `kernel_data` only if kernels play it. An algorithm
    says in `problem_type` which class it plays.
    """

    name: str  # in tables and figures; problems of one call have different names
    arms: int  # what is counted: arms, or groups of equal actions
    min_horizon: int = 1  # the least horizon
    # gap of each arm to the best one, in loss or reward; 0 for every best arm
    gaps: np.ndarray
    # what kernels take: an array, a number or a NamedTuple of these
    kernel_data: Any = None

    @property
    @abstractmethod
    def distribution(self) -> tuple:
        """Return what determines the distribution of the data, and random streams: no name."""

    @property
    def memory_sizes(self) -> tuple[int, ...]:
        """Return the sizes of an algorithm's memory: (actions,), or with advice (arms, experts)."""
        return (self.arms,)

    @abstractmethod
    def table(self, horizon: int, rng: int | np.random.Generator) -> np.ndarray:
        """Return a (horizon, actions) table of rewards or losses; `rng`: seed or generator."""

    def play_counts(self, play: Callable, checkpoints: np.ndarray, rng: Any) -> np.ndarray:
        """Return what `Algorithm.run` does, (H, arms) counts by the checkpoints, from what
        `play(table, rng)` does on a table that is drawn from `rng`."""
        horizon, actions = int(checkpoints[-1]), self.memory_sizes[0]
        played = actions_of(play(self.table(horizon, rng), rng), horizon, actions)
        parts = np.split(played, checkpoints[:-1])
        return np.array([np.bincount(part, minlength=actions) for part in parts]).cumsum(axis=0)

    def regret(self, played: ArrayLike, rounds: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return (..., H) pseudo-regret of (..., H, arms) counts in rounds 1..rounds[h].

        Counts that are negative, not whole, or do not sum to the rounds are errors.
        """
        array, gaps = np.asarray(played), self.gaps
        if array.dtype.kind not in "iu" or array.shape[-2:] != (len(rounds), len(gaps)):
            shape = f"shape {array.shape} of {array.dtype}"
            wanted = f"(..., {len(rounds)}, {len(gaps)}) whole numbers, counts of each arm"
            raise TypeError(f"run must return {wanted}, got {shape}")
        counts = np.ascontiguousarray(array, np.int64).reshape(-1, len(gaps))
        regrets, sound = _summed(counts, np.asarray(rounds, np.int64), gaps)
        if not sound:
            wanted = checks.shown(np.asarray(rounds).tolist())
            raise ValueError(f"run must return counts >= 0 that sum to the checkpoints, {wanted}")
        return regrets.reshape(array.shape[:-1])


def actions_of(actions: ArrayLike, horizon: int, arms: int) -> np.ndarray:
    """Check that `play` returned one of the arms for each round; return a (T,) array."""
    actions = np.asarray(actions)
    if actions.shape != (horizon,) or actions.dtype.kind not in "iu":
        shape = f"shape {actions.shape} of {actions.dtype}"
        raise TypeError(
            f"play must return {horizon} whole numbers, one action per round, got {shape}"
        )
    if actions.min() < 0 or actions.max() >= arms:
        t = int(((actions < 0) | (actions >= arms)).argmax())
        raise ValueError(
            f"play must return one of 0..{arms - 1}, got {actions[t]} in round {t + 1}"
        )
    return actions.astype(np.int64, copy=False)


@jit
def _summed(counts, rounds, gaps):
    """Return the sums of gaps, and whether all counts are sound."""
    regrets, sound = np.zeros(len(counts)), True
    for row in range(len(counts)):
        left = rounds[row % len(rounds)]
        for arm in range(len(gaps)):
            count = counts[row, arm]
            sound &= 0 <= count <= left
            left -= count
            regrets[row] += count * gaps[arm]
        sound &= left == 0
    return regrets, sound
