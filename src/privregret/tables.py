"""Read a table of rewards or losses, and compute regret on it."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from privregret import simulate
from privregret.bandits import BanditAlgorithm
from privregret.core import checks, streams
from privregret.core.algorithm import Algorithm
from privregret.core.progress import progress
from privregret.core.workers import map_tasks
from privregret.instances import ExpertProblem
from privregret.instances.problem import actions_of

FORM = "a table has the arms' names in line 1, then a line per round with a number for every arm"
# names of columns of a log, not of arms
LOG = {"action", "actions", "arm", "arms", "loss", "losses", "reward", "rewards"}


def read(path: str | Path) -> pd.DataFrame:
    """Return the table of a CSV file: names of the arms, then a row per round, all in [0, 1].

    Every arm has a number in every row, also the arms that were not played. So a log of arms and
    their rewards is no table. Fields are separated by commas, and the file is in UTF-8. True and
    False are 1 and 0. Blanks around names do not count.

    Raises
    ------
    ValueError
        If the file is none, naming the line and the column.

    Examples
    --------
    >>> read("nowhere.csv")
    Traceback (most recent call last):
    ...
    ValueError: 'nowhere.csv' must be a file in UTF-8, with commas: No such file or directory
    """
    shown = checks.shown(str(path))
    layout = {"header": None, "skip_blank_lines": False}
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            cells = pd.read_csv(file, dtype=str, na_filter=False, **layout)
    except (OSError, ValueError) as error:
        why = " ".join(str(getattr(error, "strerror", None) or error).split())
        why = why.removeprefix("Error tokenizing data. C error: ")
        raise ValueError(f"{shown} must be a file in UTF-8, with commas: {why}") from None
    names, rows = cells.iloc[0].str.strip(), cells[1:][(cells[1:] != "").any(axis=1)]
    _check_names(shown, [*names])
    numbers = rows.apply(_numbers)
    for t, j in np.argwhere(~numbers.ge(0) | ~numbers.le(1))[:1]:
        field = rows.iloc[t, j]
        where = f"{shown}, line {rows.index[t] + 1}, column {checks.shown(names[j])[1:-1]}"
        hint = " (with a comma for the decimal point)" if "," in field else ""
        raise ValueError(f"{where}: must be a number in [0, 1], got {checks.shown(field)}{hint}")
    return pd.DataFrame(checks.table(shown, numbers), columns=[*names])


def _numbers(fields):
    """Return the numbers in a column of fields; nan for what is none."""
    words = fields.str.strip().str.lower().replace({"true": "1", "false": "0"})
    return pd.to_numeric(words, errors="coerce").astype(float)


def _check_names(shown, names):
    """Raise a ValueError unless line 1 has names of arms, separated by commas."""
    _refuse_log(shown, names)
    found = f"got {checks.shown(names)}"
    if len(names) == 1:
        raise ValueError(f"{shown}, line 1: fields must be separated by commas, {found}")
    if names[0] in ("", "Unnamed: 0"):
        found += ": the first column is an index (pandas: write with index=False)"
    elif all(names) and len(set(names)) == len(names) and _numbers(pd.Series(names)).isna().any():
        return
    raise ValueError(f"{shown}, line 1: the names of the arms must be distinct words, {found}")


def _refuse_log(shown, names):
    """Raise a ValueError if columns are arms and their rewards, which would pass for two arms."""
    for name in names:
        if str(name).strip().lower() in LOG:
            like = f"like a log, with a column {checks.shown(name)}"
            raise ValueError(f"{shown} looks {like}: {FORM}")


@checks.validate(
    runs=checks.integer_in(1, checks.MAX_RUNS),
    seed=checks.seed,
    name=checks.text,
    workers=checks.workers,
)
def regret_curves(
    algorithms: Algorithm | Sequence[Algorithm],
    *,
    rewards: ArrayLike | None = None,
    losses: ArrayLike | None = None,
    runs: int,
    seed: int,
    name: str = "table",
    points: int | Sequence[int] | np.ndarray = 200,
    workers: int = -1,
) -> pd.DataFrame:
    """Return the columns of `simulate.regret_curves` for `runs` plays of one table.

    The table is given as `rewards` or as `losses`: (T, K), in [0, 1]. What takes the other one
    plays on 1 minus the table. The regret at t is the sum of the rewards, in rounds 1..t, of the
    arm that is best in these rounds, minus that of the arms played.

    Raises
    ------
    TypeError, ValueError
        Unless one table of such numbers is given; for an algorithm that needs expert advice.

    Examples
    --------
    >>> from privregret.bandits import AnytimeLazyUCB
    >>> losses = np.random.default_rng(1).random((1000, 3)) * (0.5, 0.9, 1.0)
    >>> curves = regret_curves(AnytimeLazyUCB(1.0), losses=losses, runs=20, seed=2, points=1)
    >>> float(curves.regret.mean().round(1))
    113.7
    """
    if (rewards is None) == (losses is None):
        raise TypeError("pass the table as either rewards or losses")
    algorithms = simulate.algorithms_of(algorithms)
    for algorithm in algorithms:
        if issubclass(algorithm.problem_type, ExpertProblem):
            raise TypeError(f"{algorithm.label} needs expert advice, which a table lacks: use play")
    short = not any(isinstance(a, BanditAlgorithm) for a in algorithms)
    kind, table = ("rewards", rewards) if losses is None else ("losses", losses)
    _refuse_log(kind, getattr(table, "columns", ()))
    table = checks.read_only(checks.table(kind, table, short=short))
    gains = table if kind == "rewards" else -table
    rounds, indices = simulate.rounds_of(points, len(table), 1), np.arange(len(table))
    best = gains.cumsum(axis=0)[rounds - 1].max(axis=1)

    grid, plays = [], []
    for algorithm in algorithms:
        own_kind = "rewards" if isinstance(algorithm, BanditAlgorithm) else "losses"
        own_table = table if kind == own_kind else checks.read_only(1 - table)
        key = streams.key("table", algorithm, own_table)
        plays.append((algorithm, own_table, key, seed))
        grid.append(simulate.GridPoint(algorithm, SimpleNamespace(name=name), rounds))
    tasks = ((*play, run) for play in plays for run in range(runs))
    regrets = [
        best - gains[indices, actions_of(actions, *table.shape)].cumsum()[rounds - 1]
        for actions in progress(map_tasks(_actions, tasks, workers), len(plays) * runs)
    ]
    return simulate.tidy(grid, np.concatenate(regrets))


def _actions(algorithm, table, key, seed, run):
    return algorithm.play(table, streams.generator(key, seed, run))
