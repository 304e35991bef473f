"""A grid of algorithms, instances, epsilons and horizons: `python -m privregret sweep grid.toml`.

Every cell of the grid is a file, written when the cell is finished: a sweep that was killed goes on from there.
"""

import inspect
import io
import json
import platform
import re
import time
import tomllib
from dataclasses import fields
from importlib.metadata import version
from itertools import chain, islice, product
from pathlib import Path
from statistics import median
from typing import NamedTuple

import pandas as pd
from tqdm import tqdm

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ModuleNotFoundError as missing:
    why = f"a sweep needs {missing.name}: pip install 'privregret[sweep]'"
    raise ModuleNotFoundError(why, name=missing.name) from None

from privregret import bandits, checks, files, full_information, instances, simulate
from privregret.files import PACKAGE
from privregret.sources import source_hash

ALGORITHMS = {
    name: thing
    for package in (bandits, full_information)
    for name in package.__all__
    if not inspect.isabstract(thing := getattr(package, name))
}
PROBLEMS = (instances.BernoulliBandit, instances.StochasticLosses)
INSTANCES = {name: x for name in instances.__all__ if isinstance(x := getattr(instances, name), PROBLEMS)}
MOST_POINTS, MOST_CELLS = 10**4, 10**5
LIBRARIES = ("numpy", "numba", "scipy")  # what numbers depend on, and the package's own sources:
ENGINE = (
    *("bandits", "full_information", "instances"),
    *("algorithm", "checks", "divergence", "jit", "noise", "reporting", "simulate", "streams"),
)
KEY = b"privregret"  # of the provenance among a file's metadata


class GridError(ValueError):
    """A grid that cannot be run, in one line that names the value."""


class Cell(NamedTuple):
    """One algorithm on one problem."""

    problem: object
    algorithm: object
    horizon: int

    def __str__(self):
        chosen = [(f.name, getattr(self.algorithm, f.name), f.default) for f in fields(self.algorithm)]
        words = ", ".join(f"{name}={value!r}" for name, value, default in chosen if value != default)
        return f"{type(self.algorithm).__name__}({words}) on {self.problem.name}, T = {self.horizon}"

    @property
    def file(self) -> str:
        """Its name in the folder of the sweep: what it is of, in words, and a hash of all of it."""
        words = re.sub("[^a-z0-9]+", "-", f"{self.algorithm.label} {self.problem.name} {self.horizon}".lower())
        return f"{words[:80]}-{files.digest(json.dumps(self.provenance).encode())[:16]}.parquet"

    @property
    def provenance(self) -> dict:
        """What it is of, as it stands in the metadata of its file."""
        named = {"algorithm": repr(self.algorithm), "instance": self.problem.name, "law": repr(self.problem.law)}
        return {"cell": named | {"horizon": self.horizon}}


class Grid(NamedTuple):
    """What `read` makes of a file: cells, and what they have in common."""

    cells: tuple[Cell, ...]
    runs: int
    seed: int
    points: int


# The grid -----------------------------------------------------------------------------------------------------


def read(path) -> Grid:
    """The grid in a TOML file.

    Its keys are `algorithms`, `instances`, `horizons`, `runs` (of each cell), `seed`, and perhaps `epsilons` (for the
    algorithms that have one and do not set it) and `points` (rounds at which to report). An algorithm or instance is
    a name, or a table with a name and parameters: those of algorithms may be lists, which span the grid; those of
    instances are the `means` of arms or, with full information, the mean `losses` of actions.

    Raises
    ------
    GridError
        If it cannot be read or run, in one line.
    """
    try:
        return grid(tomllib.loads(Path(path).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError) as problem:
        raise GridError(f"{path}: {str(problem).splitlines()[0]}") from None


def grid(table: dict) -> Grid:
    """The grid that a table with those keys stands for; see `read`."""
    for key in table:
        checks.one_of(*RULES)("a key of the grid", key)
    for key in RULES:
        if key not in table and key not in ("epsilons", "points"):
            raise ValueError(f"{key} is missing")
    given = {"epsilons": [], "points": 200} | {key: RULES[key](key, value) for key, value in table.items()}
    problems = [_problem(f"instances[{i}]", entry) for i, entry in enumerate(given["instances"])]
    algorithms = [
        a for i, e in enumerate(given["algorithms"]) for a in _algorithms(f"algorithms[{i}]", e, given["epsilons"])
    ]
    for what, names in (("instances", [p.name for p in problems]), ("algorithms", list(map(repr, algorithms)))):
        if twice := [name for i, name in enumerate(names) if name in names[:i]]:
            raise ValueError(f"{what} must not hold anything twice, got {twice[0]} again")
    cells = _few(Cell._make(cell) for cell in product(problems, algorithms, given["horizons"]))
    for problem, algorithm, horizon in cells:
        algorithm.data_of(problem)
        what = f"the horizon of {type(algorithm).__name__} on {problem.name}"
        checks.integer_in(problem.shortest, algorithm.longest)(what, horizon)
    return Grid(cells, given["runs"], given["seed"], given["points"])


def _few(things) -> tuple:
    found = tuple(islice(things, MOST_CELLS + 1))
    if len(found) > MOST_CELLS:
        raise ValueError(f"a grid has at most {MOST_CELLS} cells, got more")
    return found


def _entries(name, value):
    """Tables with a name in them; a string stands for a table with nothing else."""
    if not isinstance(value, list) or not value:
        raise ValueError(f"{name} must be a list of at least 1 name or table, got {value!r}")
    entries = [{"name": entry} if isinstance(entry, str) else entry for entry in value]
    for i, entry in enumerate(entries):
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise ValueError(f"{name}[{i}] must be a name, or a table with a name in it, got {entry!r}")
    return entries


def _plain(name, value):
    if isinstance(value, (list, dict)):
        raise TypeError(f"{name} must be a number or a word, got {value!r}")
    return value


def _problem(where, entry):
    """An instance of the papers, or one with means of rewards or losses of its own."""
    own = [key for key in entry if key != "name"]
    for key, make in OWN.items():
        if own == [key]:
            try:
                return make(entry["name"], entry[key])
            except (TypeError, ValueError) as problem:
                raise ValueError(f"{where}: {problem}") from None
    if own:
        raise ValueError(f"{where} must have a name and, if it is one of your own, means or losses, got {entry!r}")
    return INSTANCES[checks.one_of(*INSTANCES)(f"{where}.name", entry["name"])]


def _algorithms(where, entry, epsilons):
    """Every algorithm that an entry stands for: lists of parameters span a grid."""
    kind = ALGORITHMS[checks.one_of(*ALGORITHMS)(f"{where}.name", entry["name"])]
    known = [f.name for f in fields(kind)]
    given = {"epsilon": epsilons} if epsilons and "epsilon" in known else {}
    given |= {key: value for key, value in entry.items() if key != "name"}
    for key, value in given.items():
        checks.one_of(*known)(f"a parameter of {kind.__name__}", key)
        given[key] = checks.list_of(_plain)(f"{where}.{key}", value if isinstance(value, list) else [value])
    made = []
    for values in _few(product(*given.values())):
        parameters = dict(zip(given, values, strict=True))
        try:
            inspect.signature(kind).bind(**parameters)  # says which one is missing
            made.append(kind(**parameters))
        except (TypeError, ValueError) as problem:
            raise ValueError(f"{where}, {kind.__name__}: {problem}") from None
    return made


OWN = {
    "means": instances.BernoulliBandit,
    "losses": lambda name, losses: instances.bernoulli_losses(checks.means("losses", losses).tolist(), name=name),
}
RULES = {
    "algorithms": _entries,
    "instances": _entries,
    "horizons": checks.list_of(checks.positive_int),
    "runs": checks.integer_in(1, checks.RUNS),
    "seed": checks.nonnegative_int,
    "epsilons": checks.list_of(checks.positive),
    "points": checks.integer_in(1, MOST_POINTS),
}


# Its cells ----------------------------------------------------------------------------------------------------


def run(grid: Grid, folder, scheduler: str = "", workers: int = -1) -> None:
    """Run the cells that `folder` does not have yet, one after the other; say which, and how long it takes.

    A file that is damaged, or made with other runs, seed, points, sources or versions, counts as missing.

    Parameters
    ----------
    grid : Grid
    folder : path
        Where the files of the cells are, one each.
    scheduler : str
        Address of a Dask scheduler; this machine if it is empty.
    workers : int
        As in `simulate.regret_summary`.
    """
    folder = Path(folder)
    shared = {
        **{"runs": grid.runs, "seed": grid.seed, "points": grid.points},
        "sources": source_hash(p for p in PACKAGE.rglob("*.py") if _engine(p)),
        "versions": {"python": platform.python_version()} | {name: version(name) for name in LIBRARIES},
    }
    todo = [cell for cell in grid.cells if _kept(folder / cell.file) != cell.provenance | shared]
    count, begun, seconds = len(grid.cells), time.monotonic(), {}
    print(f"{count} cells, of which {count - len(todo)} are in {folder} already", flush=True)
    with simulate.cluster(scheduler if todo else ""):
        folder.mkdir(parents=True, exist_ok=True)
        for i, cell in enumerate(todo):
            since = time.monotonic()
            options = grid.runs, grid.seed, grid.points
            frame = simulate.regret_summary(cell.algorithm, cell.problem, cell.horizon, *options, workers=workers)
            frame.insert(0, "horizon", cell.horizon)
            files.write(folder / cell.file, _parquet(frame, cell.provenance | shared))
            now = time.monotonic()
            seconds.setdefault(cell.algorithm.label, []).append(now - since)
            rest = median(chain(*seconds.values()))  # for algorithms of which nothing is finished yet
            left = sum(median(seconds.get(c.algorithm.label, [rest])) for c in todo[i + 1 :])
            taken, left = map(tqdm.format_interval, (now - begun, left))
            done = f"[{count - len(todo) + i + 1}/{count}] {taken}, about {left} left"
            print(f"{done}: {cell}, {now - since:.1f} s", flush=True)


def load(folder) -> pd.DataFrame:
    """All cells of a sweep in one table, in the order in which figures draw them.

    Returns
    -------
    pandas.DataFrame
        What `simulate.regret_summary` gives, with columns horizon, and low and high, which figures shade: three
        standard errors about the mean, but no wider than the runs.

    Raises
    ------
    ValueError
        In one line, if there is nothing there, a file is damaged, or two come of other runs, seeds or versions.
    """
    frames, origins = [], {}
    for path in sorted(Path(folder).glob("*.parquet")):
        frame, origin = _read(path)
        frames.append(frame)
        origins.setdefault(json.dumps(origin | {"cell": None}, sort_keys=True), path)
    if len(origins) != 1:
        unlike = ": " + " and ".join(str(path) for path in list(origins.values())[:2])
        raise ValueError(f"{folder} has no cells of a sweep" if not frames else f"cells of different sweeps{unlike}")
    frame = pd.concat(frames, ignore_index=True)
    frame["low"] = (frame["mean"] - 3 * frame.se).clip(lower=frame.least)
    frame["high"] = (frame["mean"] + 3 * frame.se).clip(upper=frame.greatest)
    order = [c for c in ("instance", "algorithm", "epsilon", "horizon") if c in frame]
    return frame.sort_values(order, kind="stable", ignore_index=True)


def _parquet(frame, provenance) -> bytes:
    table, file = pa.Table.from_pandas(frame, preserve_index=False), io.BytesIO()
    provenance = provenance | {"numbers": _digest(table)}
    kept = table.schema.metadata | {KEY: json.dumps(provenance, sort_keys=True).encode()}
    pq.write_table(table.replace_schema_metadata(kept), file)
    return file.getvalue()


def _read(path) -> tuple[pd.DataFrame, dict]:
    """The numbers in a file and their provenance; a ValueError if it is damaged."""
    try:
        table = pq.ParquetFile(path).read()
        provenance = json.loads(table.schema.metadata[KEY])
        whole = provenance.pop("numbers") == _digest(table)
    except Exception:  # there is no end to what damage makes pyarrow say
        whole = False
    if not whole:
        raise ValueError(f"{path} is damaged: run the sweep again")
    return table.to_pandas(), provenance


def _digest(table) -> str:
    return files.digest(table.to_pandas().to_csv(index=False).encode())


def _kept(path) -> dict:
    """The provenance of a file; nothing if there is none, or it is damaged."""
    try:
        return _read(path)[1]
    except ValueError:
        return {}


def _engine(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py") in ENGINE
