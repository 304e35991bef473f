"""Read a table of rewards or losses, and compute regret on it."""

import csv
import io
import re
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
from privregret.core.tasks import map_tasks
from privregret.instances import ExpertProblem
from privregret.instances.problem import actions_of

FORM = "a table has the arms' names in line 1, then a line per round with a number for every arm"
# words in the names of a log's columns: one of the first two is enough, of the others one of each
CHOICES = {"arm", "action", "choice", "chosen", "item", "played", "pulled", "selected"}
OUTCOMES = {"reward", "loss", "cost", "payoff", "click", "clicked", "converted", "conversion"}
CHOOSING = """ad bandit banner bucket campaign condition decision exposed group intervention lever
    machine offer option policy slot treated treatment variant""".split()
RESULTS = """bought ctr gain outcome payout profit purchase purchased r response result return
    revenue sale score success utility value win y""".split()


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
    ValueError: 'nowhere.csv' must be a CSV file, got no such file
    """
    shown = checks.shown(str(path))
    if not Path(path).is_file():
        found = "a folder" if Path(path).is_dir() else "no such file"
        raise ValueError(f"{shown} must be a CSV file, got {found}")
    try:
        content = Path(path).read_bytes()
        if b"\0" in content[:1000]:
            raise ValueError(f"{shown} must be text in UTF-8, got UTF-16 or no text")
        lines = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""))
        names = [name.strip() for name in next(lines, [])]
        rows = [(lines.line_num, row) for row in lines if row]
    except UnicodeDecodeError as error:
        raise ValueError(f"{shown} must be text in UTF-8: {error}") from None
    except (OSError, csv.Error) as error:
        raise ValueError(f"{shown} must be a CSV file: {error}") from None
    _check_names(shown, names)
    for line, row in rows:
        if len(row) != len(names):
            found = f"got {len(row)} fields under {len(names)} names"
            raise ValueError(f"{shown}, line {line}: {found}: {FORM}")
    table = np.array([_real(field) for _, row in rows for field in row]).reshape(-1, len(names))
    for t, j in np.argwhere(~((table >= 0) & (table <= 1)))[:1]:
        line, row = rows[t]
        found = f"must be a number in [0, 1], got {checks.shown(row[j])}"
        found += " (with a comma for the decimal point)" if "," in row[j] else ""
        raise ValueError(f"{shown}, line {line}, column {checks.shown(names[j])[1:-1]}: {found}")
    return pd.DataFrame(checks.table(shown, table), columns=names)


def _check_names(shown, names):
    """Raise a ValueError unless line 1 has names of arms, separated by commas."""
    for sign, word in {";": "semicolons", "\t": "tabs", "|": "bars", " ": "blanks"}.items():
        if len(names) == 1 and sign in names[0]:
            raise ValueError(f"{shown}, line 1: fields must be separated by commas, not {word}")
    _refuse_log(shown, names)
    found = checks.shown(names)
    if names[:1] in ([""], ["Unnamed: 0"]):
        found += ": the first column is an index (pandas: write with index=False)"
    elif names and names == [*map(str, range(len(names)))]:
        found += ": name the columns"
    elif all(names) and len(set(names)) == len(names) and np.isnan([*map(_real, names)]).any():
        return
    raise ValueError(f"{shown}, line 1: the names of the arms must be distinct words, got {found}")


def _refuse_log(shown, names):
    """Raise a ValueError if columns seem to be choices and their outcomes, not arms."""
    names = [str(name).strip() for name in names]
    words = [_singular(re.findall("[A-Z]?[a-z]+|[A-Z]+", name)) for name in names]
    # an action and its reward, but arms may be a, b, ..., r
    letters = {"a"} if {"a", "b", "r", "y"}.intersection(names) in ({*"ar"}, {*"ay"}) else set()
    kinds = CHOICES.union(CHOOSING, letters), OUTCOMES.union(RESULTS)
    both = all(any(w & kind for w in words) for kind in kinds)
    known = set.union(*kinds) if both else CHOICES | OUTCOMES
    told = {n: w & known for n, w in zip(names, words, strict=True)}
    # names such as arm_1, arm_2 have such a word in common
    if any(told.values()) and not set.intersection(*told.values()):
        if len(told) == 2 or both or any(_singular([n]) & w for n, w in told.items()):
            name = checks.shown(next(n for n, w in told.items() if w))
            raise ValueError(f"{shown} looks like a log, with a column {name}: {FORM}")


def _singular(words):
    """Return words in small letters, each also as if it were a plural."""
    return {word.lower().removesuffix(end) for word in words for end in ("", "s", "es")}


def _real(field):
    # Python reads 0_1 and digits of other alphabets, too
    plain = field.isascii() and "_" not in field
    try:
        return float({"true": 1, "false": 0}.get(field.strip().lower(), field)) if plain else np.nan
    except ValueError:
        return np.nan


@checks.validate(
    runs=checks.integer_in(1, checks.MAX_RUNS),
    seed=checks.seed,
    name=checks.text,
    workers=simulate.workers_rule,
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
    given = "rewards" if losses is None else "losses"
    table = rewards if losses is None else losses
    _refuse_log(given, getattr(table, "columns", ()))
    table = checks.lock(checks.table(given, table, short=short))
    gains, each = table if losses is None else -table, np.arange(len(table))
    rounds = simulate.rounds_of(points, len(table), 1)
    best = gains.cumsum(axis=0)[rounds - 1].max(axis=1)

    grid, plays = [], []
    for algorithm in algorithms:
        same = isinstance(algorithm, BanditAlgorithm) == (losses is None)
        seen = table if same else checks.lock(1 - table)
        key = streams.key("table", algorithm, seen)
        plays.append((algorithm, seen, key, seed))
        grid.append(simulate.GridPoint(algorithm, SimpleNamespace(name=name), rounds))
    tasks = ((*play, run) for play in plays for run in range(runs))
    played = progress(map_tasks(_actions, tasks, workers), len(plays) * runs)
    found = [
        best - gains[each, actions_of(actions, *table.shape)].cumsum()[rounds - 1]
        for actions in played
    ]
    return simulate.tidy(grid, np.concatenate(found))


def _actions(algorithm, seen, key, seed, run):
    return algorithm.play(seen, streams.generator(key, seed, run))
