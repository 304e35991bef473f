"""Tables of losses, runs on them, and a drifting source for `companion/your-own-algorithm`."""

import numpy as np
import pandas as pd

from privregret import tables
from privregret.bandits import BanditAlgorithm
from privregret.core import checks, store

# Settings -----------------------------------------------------------------------------------------

AVERAGES = {"north": 0.5, "east": 0.35, "south": 0.45, "west": 0.6}  # loss of each arm of the table
SHORTEST = 100  # rounds of a table on which regret can be distinguished from chance


def table_of_arms(name: str, value) -> str:
    """Check a CSV file (or ""): it is long enough, and arms have different sums."""
    if path := checks.text(name, value):
        try:
            totals, rounds = (table := tables.read(path)).sum(), len(table)
        except ValueError as error:
            raise ValueError(f"{name} {error}") from None
        if rounds < SHORTEST:
            raise ValueError(f"{name} must have at least {SHORTEST} rounds, got {rounds}")
        apart = min(totals.mean() - totals.min(), totals.max() - totals.mean())
        if apart < 1:
            raise ValueError(
                f"{name} must have arms whose totals are at least 1 from their average, "
                f"got {apart:g}"
            )
    return path


def values_of(table: str):
    """Return the rule for what a table holds: only the one made here need not say it."""
    known = checks.one_of("losses", "rewards")
    return lambda name, value: known(name, value if value or table else "losses")


def read(path: str, seed: int) -> pd.DataFrame:
    """Read losses from a CSV file, or make a table with beta distributions if there is none."""
    if path:
        return tables.read(path)
    columns = {
        arm: np.random.default_rng([seed, i]).beta(2, 2 / mean - 2, 5000)
        for i, (arm, mean) in enumerate(AVERAGES.items())
    }
    return pd.DataFrame(columns).round(4)


def drifting(t: int | np.ndarray, rounds: int) -> tuple:
    """Return the means of the two arms in round t: from 0.9 and 0.1 to 0.1 and 0.9."""
    ahead = 0.4 * np.cos(np.pi * t / rounds)
    return 0.5 + ahead, 0.5 - ahead


# Measure ------------------------------------------------------------------------------------------


@store.cached
def played(algorithm, table: np.ndarray, runs: int, seed: int) -> np.ndarray:
    """Return (runs, T) actions on a table."""
    return np.array([algorithm.play(table, seed + run) for run in range(runs)])


@store.cached
def live(algorithm: BanditAlgorithm, rounds: int, runs: int, seed: int) -> np.ndarray:
    """Return (runs, rounds) actions of a learner on the drifting source."""
    actions = np.empty((runs, rounds), np.int64)
    means = np.transpose(drifting(np.arange(rounds), rounds))
    for run in range(runs):
        source, learner = np.random.default_rng([seed, run]), algorithm.start(2, seed + run)
        for t in range(rounds):
            actions[run, t] = arm = learner.choose()
            learner.observe(float(source.random() < means[t, arm]))
    return actions
