"""Stochastic bandits, with rewards: larger is better."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from privregret.core import checks
from privregret.core.jit import jit


@dataclass(frozen=True)
class BernoulliBandit(checks.Checked):
    """Stochastic bandit with independent Bernoulli arms.

    Parameters
    ----------
    name : str
        Name in tables and figures.
    means : tuple of float
        Mean reward of each arm, in [0, 1]; at least two.
    source : str
        Source of the instance (paper key and place).

    Examples
    --------
    >>> bandit = BernoulliBandit("mine", (0.75, 0.5))
    >>> bandit.arms, bandit.gaps
    (2, array([0.  , 0.25]))
    """

    name: str
    means: tuple[float, ...]
    source: str = field(default="", compare=False)
    rules = {
        "name": checks.text,
        "means": lambda name, value: tuple(checks.means(name, value).tolist()),
    }

    @property
    def arms(self) -> int:
        """Return the number K of arms."""
        return len(self.means)

    # the least horizon: every arm is pulled once
    shortest = arms

    @property
    def sizes(self) -> tuple[int]:
        """Return (K,), the size of an algorithm's memory."""
        return (len(self.means),)

    @property
    def data(self) -> np.ndarray:
        """Return what kernels take: the means."""
        return np.array(self.means)

    @property
    def gaps(self) -> np.ndarray:
        """Return (K,) gaps to the best mean; 0 for every best arm."""
        means = np.array(self.means)
        return means.max() - means

    @property
    def law(self) -> tuple:
        """Return what determines the distribution of the data and the streams, no name."""
        return "bernoulli bandit", self.means

    def regret(self, played: ArrayLike, rounds: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return (..., H) pseudo-regret of (..., H, K) pulls in rounds 1..rounds[h]."""
        return regret_of(played, rounds, self.gaps)

    def table(self, horizon: int, rng: int | np.random.Generator) -> np.ndarray:
        """Return a (horizon, K) table of independent 0/1 rewards; `rng`: seed or generator."""
        rng = np.random.default_rng(rng)
        return (rng.random((horizon, self.arms)) < self.means).astype(float)

    def counted(
        self, play: Callable, checkpoints: np.ndarray, rng: int | np.random.Generator
    ) -> np.ndarray:
        """Return (H, K) pulls of each arm by the checkpoints, as `play` plays a table."""
        return counts_of(play(self.table(int(checkpoints[-1]), rng), rng), checkpoints, self.arms)


def actions_of(actions: ArrayLike, horizon: int, arms: int) -> np.ndarray:
    """Check that `play` returned one of the arms for each round; return a (T,) array."""
    actions = np.asarray(actions)
    if actions.shape != (horizon,) or actions.dtype.kind not in "iu":
        found = f"shape {actions.shape} of {actions.dtype}"
        raise TypeError(
            f"play must return {horizon} whole numbers, one action per round, got {found}"
        )
    if actions.min() < 0 or actions.max() >= arms:
        t = int(((actions < 0) | (actions >= arms)).argmax())
        raise ValueError(
            f"play must return one of 0..{arms - 1}, got {actions[t]} in round {t + 1}"
        )
    return actions.astype(np.int64, copy=False)


def counts_of(actions: np.ndarray, checkpoints: np.ndarray, arms: int) -> np.ndarray:
    """Return the (H, K) number of rounds 1..checkpoints[h] with each arm; see `actions_of`."""
    actions = actions_of(actions, int(checkpoints[-1]), arms)
    parts = np.split(actions, checkpoints[:-1])
    return np.array([np.bincount(part, minlength=arms) for part in parts]).cumsum(axis=0)


def regret_of(
    played: ArrayLike, rounds: Sequence[int] | np.ndarray, gaps: np.ndarray
) -> np.ndarray:
    """Return (..., H) sums of gaps over (..., H, K) pull counts in rounds 1..rounds[h].

    Counts that are negative, not whole, or do not sum to the rounds are errors.
    """
    array = np.asarray(played)
    if array.dtype.kind not in "iu" or array.shape[-2:] != (len(rounds), len(gaps)):
        found = f"shape {array.shape} of {array.dtype}"
        wanted = f"(..., {len(rounds)}, {len(gaps)}) whole numbers, counts of each arm"
        raise TypeError(f"run must return {wanted}, got {found}")
    counts = np.ascontiguousarray(array, np.int64).reshape(-1, len(gaps))
    regrets, sound = _summed(counts, np.asarray(rounds, np.int64), gaps)
    if not sound:
        wanted = checks.shown(np.asarray(rounds).tolist())
        raise ValueError(f"run must return counts >= 0 that sum to the checkpoints, {wanted}")
    return regrets.reshape(array.shape[:-1])


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


@checks.arguments(arms=checks.integer_in(2, checks.SIZE), gap=checks.number_in(0, 0.75))
def equal_gaps(arms: int, gap: float) -> BernoulliBandit:
    """Return K = `arms` >= 2 arms, one of mean 0.75 and the others lower by `gap`, in [0, 0.75]."""
    return BernoulliBandit(f"{arms} arms, gap {gap:g}", (0.75, *[0.75 - gap] * (arms - 1)))


HU2021_1 = BernoulliBandit("setting 1", (0.75, 0.70, 0.70, 0.70, 0.70), "hu2021, Section 6")
HU2021_2 = BernoulliBandit("setting 2", (0.75, 0.625, 0.5, 0.375, 0.25), "hu2021, Section 6")
HU2021_3 = BernoulliBandit("setting 3", (0.75, 0.15, 0.15, 0.15, 0.15), "hu2021, Appendix I")

AZIZE2025_1 = BernoulliBandit(
    "environment 1", (0.75, 0.70, 0.70, 0.70, 0.70), "azize2025, Section 5"
)
AZIZE2025_2 = BernoulliBandit(
    "environment 2", (0.75, 0.625, 0.5, 0.375, 0.25), "azize2025, Section 5"
)
AZIZE2025_3 = BernoulliBandit(
    "environment 3", (0.75, 0.53125, 0.375, 0.28125, 0.25), "azize2025, Appendix G"
)
AZIZE2025_4 = BernoulliBandit(
    "environment 4", (0.75, 0.71875, 0.625, 0.46875, 0.25), "azize2025, Appendix G"
)
AZIZE2025_FIGURE_8 = BernoulliBandit(
    "one good arm", (0.8, 0.1, 0.1, 0.1, 0.1), "azize2025, Figure 8"
)
