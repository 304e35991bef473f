"""A grid of algorithms, instances, epsilons and horizons: `privregret sweep grid.toml`.

Every grid point becomes a Parquet file when it is finished, so that a killed sweep goes on from
there. All files of a sweep have the same typed columns, whatever reads the folder (pandas, polars,
duckdb, pyarrow); what does not apply to an algorithm is null:

- `setting` (string): the algorithm with all parameters, as `DPIMED(epsilon=0.5, alpha=2.0, ...)`;
- `algorithm`, `instance` (string): names in figures; `horizon`, `t` (int64): T and the checkpoint;
- `mean`, `sd`, `se`, `least`, `greatest` (float64), `runs` (int64): as of `regret_summary`;
- one column per parameter of any algorithm of the package, and of the grid's own classes.
"""

import importlib
import inspect
import io
import json
import platform
import re
import sys
import time
import tomllib
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from importlib.metadata import version
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_type_hints

import pandas as pd
from tqdm import tqdm

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ModuleNotFoundError as missing:
    why = f"a sweep needs {missing.name}: pip install 'privregret[sweep]'"
    raise ModuleNotFoundError(why, name=missing.name) from None

from privregret import (
    adversarial,
    bandits,
    checks,
    files,
    full_information,
    identity,
    instances,
    simulate,
    sources,
)
from privregret.adversarial import tuning
from privregret.algorithm import Algorithm

PROBLEMS = (instances.BernoulliBandit, instances.StochasticLosses, instances.Adversary)
CLASSES = [
    thing
    for package in (bandits, full_information, adversarial)
    for name in package.__all__
    if hasattr(thing := getattr(package, name), "id") and not inspect.isabstract(thing)
]
ALGORITHMS: dict[str, Callable] = {  # what a grid can name: classes, and functions that tune one
    c.__name__: c for c in CLASSES if not any(is_dataclass(f.type) for f in fields(c))
} | {
    name: function
    for name, function in inspect.getmembers(tuning, inspect.isfunction)
    if is_dataclass(inspect.signature(function).return_annotation)
}
INSTANCES: dict[str, Any] = {
    name: thing
    for name in instances.__all__
    if isinstance(thing := getattr(instances, name), PROBLEMS)
    or (inspect.isfunction(thing) and inspect.signature(thing).return_annotation in PROBLEMS)
}
MOST_CHECKPOINTS, MOST_GRID_POINTS = 10**4, 10**5
LIBRARIES = ("numpy", "numba", "scipy")  # what numbers depend on, with the sources
KEY = b"privregret"  # of the provenance among a file's metadata
TYPES = {int: pa.int64(), float: pa.float64(), bool: pa.bool_()}  # else text
COLUMNS = {
    "setting": pa.string(),
    "algorithm": pa.string(),
    "instance": pa.string(),
    "horizon": pa.int64(),
    "t": pa.int64(),
    "mean": pa.float64(),
    "sd": pa.float64(),
    "se": pa.float64(),
    "runs": pa.int64(),
    "least": pa.float64(),
    "greatest": pa.float64(),
}


class GridError(ValueError):
    """A grid that cannot be run, in one line that names the value."""


class GridPoint(NamedTuple):
    """One algorithm on one problem, with one horizon."""

    problem: Any
    algorithm: Algorithm
    horizon: int

    def __str__(self):
        own = self.algorithm
        chosen = [(f.name, getattr(own, f.name), f.default) for f in fields(own)]
        words = ", ".join(f"{name}={value!r}" for name, value, usual in chosen if value != usual)
        return f"{type(own).__name__}({words}) on {self.problem.name}, T = {self.horizon}"

    @property
    def file(self) -> str:
        """Its name in the folder of the sweep: the grid point in words, and a hash of all of it."""
        text = f"{self.algorithm.label} {self.problem.name} {self.horizon}".lower()
        hashed = files.digest(json.dumps(self.provenance).encode())
        return f"{re.sub('[^a-z0-9]+', '-', text)[:80]}-{hashed[:16]}.parquet"

    @property
    def provenance(self) -> dict:
        """What identifies it, as it stands in the metadata of its file."""
        law = files.digest(identity.words(self.problem.law))[:16]
        named = {"algorithm": repr(self.algorithm), "instance": self.problem.name, "law": law}
        return {"grid point": named | {"horizon": self.horizon}}


class Grid(NamedTuple):
    """What `read` makes of a file: grid points, and what they have in common."""

    grid_points: tuple[GridPoint, ...]
    runs: int
    seed: int
    points: int


# The grid --------------------------------------------------------------------------------------


def read(path: str | Path) -> Grid:
    """The grid in a TOML file; modules next to it can be imported.

    Raises
    ------
    GridError
        If it cannot be read or run, in one line.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "grid.toml"
    >>> rest = 'horizons = [1e3, 1e4]\\nruns = 10\\nseed = 1'
    >>> _ = path.write_text(f'algorithms = ["UCB1", "IMED"]\\ninstances = ["HU2021_2"]\\n{rest}')
    >>> len(read(path).grid_points)
    4
    """
    folder = str(Path(path).resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        return grid(tomllib.loads(Path(path).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError) as problem:
        raise GridError(f"{path}: {str(problem).splitlines()[0]}") from None


def grid(table: dict) -> Grid:
    """The grid that a table of parameters stands for.

    Parameters
    ----------
    table : dict
        `algorithms`, `instances`, `horizons`, `runs` (of each grid point), `seed`, and perhaps
        `epsilons` (for the algorithms that have one and do not set it) and `points` (rounds at
        which to report). An algorithm or instance is a name, or a table with a name and
        parameters.

        The name of an algorithm is that of a class of the package, of a function of
        `adversarial.tuning`, or "module:name" for one of your own. Lists of parameters span the
        grid. Parameters `horizon`, `arms` and `experts` of a function are those of the grid point.

        The name of an instance is that of an instance of the package or of a function that makes
        one, "module:name", or a name of your own with the `means` of arms or, with full
        information, the mean `losses` of actions.

    Raises
    ------
    ValueError, TypeError
        In one line: for unknown keys and names, parameters out of range, algorithms that do not
        play one of the instances, and what stands in the grid twice.

    Examples
    --------
    >>> algorithms = [{"name": "batched_exp3", "boldness": [1, 3]}]
    >>> arms = [{"name": "gap_adversary", "arms": 3, "gap": 0.25}]
    >>> small = {"algorithms": algorithms, "instances": arms, "epsilons": [0.5], "horizons": [1000]}
    >>> [str(point)[:14] for point in grid(small | {"runs": 10, "seed": 1}).grid_points]
    ['BatchedPrivate', 'BatchedPrivate']
    """
    for key in table:
        checks.one_of(*RULES)("a key of the grid", key)
    for key in RULES:
        if key not in table and key not in ("epsilons", "points"):
            raise ValueError(f"{key} is missing")
    given = {key: RULES[key](key, value) for key, value in table.items()}
    given = {"epsilons": [], "points": 200} | given
    problems = [_problem(f"instances[{i}]", entry) for i, entry in enumerate(given["instances"])]
    makers = [
        maker
        for i, entry in enumerate(given["algorithms"])
        for maker in _makers(f"algorithms[{i}]", entry, given["epsilons"])
    ]
    _few(product(problems, makers, given["horizons"]))
    found = [
        _points([problem(horizon) for problem in problems], makers, horizon)
        for horizon in given["horizons"]
    ]
    ordered = tuple(point for several in zip(*found, strict=True) for point in several)
    return Grid(ordered, given["runs"], given["seed"], given["points"])


def _points(problems, makers, horizon) -> list[GridPoint]:
    """The grid points with one horizon, after all checks."""
    made = []
    simulate.problems_of(problems)
    for problem in problems:
        algorithms = simulate.algorithms_of([maker(problem, horizon) for maker in makers])
        for algorithm in algorithms:
            algorithm.data_of(problem)
            what = f"the horizon of {type(algorithm).__name__} on {problem.name}"
            last = checks.integer_in(problem.shortest, algorithm.longest)(what, horizon)
            made.append(GridPoint(problem, algorithm, last))
    return made


def _few(things: Iterable) -> tuple:
    found = tuple(islice(things, MOST_GRID_POINTS + 1))
    if len(found) > MOST_GRID_POINTS:
        raise ValueError(f"a grid has at most {MOST_GRID_POINTS} grid points, got more")
    return found


def _entries(name, value):
    """Tables with a name in them; a string stands for a table with nothing else."""
    if not isinstance(value, list) or not value:
        raise ValueError(f"{name} must be a list of at least 1 name or table, got {value!r}")
    entries = [{"name": entry} if isinstance(entry, str) else entry for entry in value]
    for i, entry in enumerate(entries):
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise ValueError(
                f"{name}[{i}] must be a name, or a table with a name in it, got {entry!r}"
            )
    return entries


def _plain(name, value):
    if isinstance(value, (list, dict)):
        raise TypeError(f"{name} must be a number or a word, got {value!r}")
    return value


def _named(where, name, known) -> Any:
    """What a name stands for: one of those known, or "module:name"."""
    if ":" not in name:
        return known[checks.one_of(*known)(f"{where}.name", name)]
    module, _, attribute = name.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except Exception as problem:  # whatever a module of one's own raises
        raise ValueError(f"{where}: {name} cannot be imported: {problem}") from None


def _problem(where, entry) -> Callable[[int], Any]:
    """What gives the problem for a horizon: an instance of the package, or one of your own."""
    parameters = {key: value for key, value in entry.items() if key != "name"}
    try:
        for key, make in OWN.items():
            if list(parameters) == [key] and entry["name"] not in INSTANCES:
                made = make(entry["name"], entry[key])
                return lambda horizon: made
    except (TypeError, ValueError) as problem:
        raise ValueError(f"{where}: {problem}") from None
    if parameters and ":" not in entry["name"] and entry["name"] not in INSTANCES:
        how = "must have a name and, if it is one of your own, means or losses"
        raise ValueError(f"{where} {how}, got {entry!r}")
    thing = _named(where, entry["name"], INSTANCES)
    if callable(thing):
        return lambda horizon: _made(where, thing, parameters, {"horizon": horizon})
    if parameters:
        raise ValueError(f"{where}: {entry['name']} takes no parameters, got {parameters!r}")
    return lambda horizon: thing


def _makers(where, entry, epsilons) -> list[Callable[[Any, int], Algorithm]]:
    """What gives each algorithm that an entry stands for: lists of parameters span a grid."""
    thing = _named(where, entry["name"], ALGORITHMS)
    if not callable(thing):
        raise TypeError(f"{where}: {entry['name']} must be a class of algorithms, got {thing!r}")
    known = list(inspect.signature(thing).parameters)
    given = {"epsilon": epsilons} if epsilons and "epsilon" in known else {}
    given |= {key: value for key, value in entry.items() if key != "name"}
    for key, value in given.items():
        checks.one_of(*known)(f"a parameter of {thing.__name__}", key)
        several = value if isinstance(value, list) else [value]
        given[key] = checks.list_of(_plain)(f"{where}.{key}", several)
    spanned = _few(product(*given.values()))
    parameters = [dict(zip(given, values, strict=True)) for values in spanned]
    if isinstance(thing, type):
        made = [_made(where, thing, chosen, {}) for chosen in parameters]
        return [partial(lambda algorithm, *_: algorithm, algorithm) for algorithm in made]
    return [partial(_tuned, where, thing, chosen) for chosen in parameters]


def _tuned(where, function, parameters, problem, horizon) -> Algorithm:
    sizes = dict(zip(("arms", "experts"), problem.sizes, strict=False))
    return _made(where, function, parameters, {"horizon": horizon} | sizes)


def _made(where, make, parameters, of_the_point):
    """What a class or function makes of parameters, and of what it takes of the grid point."""
    signature = inspect.signature(make)
    given = {key: value for key, value in of_the_point.items() if key in signature.parameters}
    try:
        bound = signature.bind(**given | parameters)  # says which one is missing
        return make(*bound.args, **bound.kwargs)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"{where}, {make.__name__}: {problem}") from None


def _losses(name, losses):
    return instances.bernoulli_losses(checks.means("losses", losses).tolist(), name=name)


OWN = {"means": instances.BernoulliBandit, "losses": _losses}
RULES: dict[str, Callable] = {
    "algorithms": _entries,
    "instances": _entries,
    "horizons": checks.list_of(checks.positive_int),
    "runs": checks.integer_in(1, checks.RUNS),
    "seed": checks.nonnegative_int,
    "epsilons": checks.list_of(checks.positive),
    "points": checks.integer_in(1, MOST_CHECKPOINTS),
}


# Its grid points ---------------------------------------------------------------------------------


def run(grid: Grid, folder: str | Path, scheduler: str = "", workers: int = -1) -> None:
    """Run the grid points that `folder` lacks, and print which, and about how long it takes.

    A file is replaced if it is damaged, or was made with other runs, seed, points, sources or
    versions. The sources are those that the grid point uses, modules of your own included.

    Parameters
    ----------
    grid : Grid
    folder : path
        Where the files of the grid points are, one each.
    scheduler : str
        Address of a Dask scheduler; this machine if it is empty.
    workers : int
        As in `simulate.regret_summary`.

    Raises
    ------
    GridError
        If a source was edited since this process started: it runs what it has loaded.

    Examples
    --------
    >>> import tempfile
    >>> small = {"algorithms": ["UCB1"], "instances": ["HU2021_2"], "horizons": [100]}
    >>> folder = tempfile.mkdtemp()
    >>> run(grid(small | {"runs": 10, "seed": 1}), folder)  # doctest: +ELLIPSIS
    1 grid points: 0 are in ... already, 1 are new
    [1/1] ..., about 00:00 left: UCB1() on setting 2, T = 100, ... s
    """
    folder, schema = Path(folder), _schema(grid)
    points = {folder / point.file: point for point in grid.grid_points}
    wanted = dict(zip(points, _wanted(grid, schema), strict=True))
    found = {path: _kept(path) for path in points}
    todo = [path for path in points if found[path] != wanted[path]]
    print(_summary(folder, found, wanted), flush=True)
    begun, there = time.monotonic(), len(wanted) - len(todo)
    with simulate.cluster(scheduler if todo else ""):
        folder.mkdir(parents=True, exist_ok=True)
        for i, path in enumerate(todo, 1):
            since, point = time.monotonic(), points[path]
            played = point.algorithm, point.problem, point.horizon
            frame = simulate.regret_summary(*played, grid.runs, grid.seed, grid.points, workers)
            files.write(path, _parquet(point, frame, schema, wanted[path]))
            now = time.monotonic()
            left = (now - begun) / i * (len(todo) - i)
            taken, left = map(tqdm.format_interval, (now - begun, left))
            done = f"[{there + i}/{len(wanted)}] {taken}, about {left} left"
            print(f"{done}: {point}, {now - since:.1f} s", flush=True)


def load(folder: str | Path, grid: Grid | None = None) -> pd.DataFrame:
    """Read a sweep as one table, in the order in which figures draw it.

    Parameters
    ----------
    folder : path
    grid : Grid, optional
        If it is given, its grid points alone, all of them; else whatever is in the folder.

    Returns
    -------
    pandas.DataFrame
        The columns of the files, those without any value left out; low and high, which figures
        shade: three standard errors about the mean, but no wider than the runs.

    Raises
    ------
    ValueError
        In one line, if there is nothing there or a grid point is missing, a file is damaged, or
        two come of other runs, seeds, sources or versions.

    Examples
    --------
    >>> import contextlib, io, tempfile
    >>> small = {"algorithms": ["UCB1"], "instances": ["HU2021_2"], "horizons": [100]}
    >>> points, folder = globals()["grid"](small | {"runs": 10, "seed": 1}), tempfile.mkdtemp()
    >>> with contextlib.redirect_stdout(io.StringIO()):
    ...     run(points, folder)
    >>> load(folder, points).query("t == 100")[["setting", "instance", "runs"]].values.tolist()
    [['UCB1()', 'setting 2', 10]]
    """
    folder, tables = Path(folder), []
    seen: dict[str, tuple] = {}
    paths = sorted(folder.glob("*.parquet"))
    if grid:
        paths = sorted({folder / point.file for point in grid.grid_points})
        if absent := [path for path in paths if not path.exists()]:
            raise ValueError(f"{absent[0]} is missing, and {len(absent) - 1} more: run the sweep")
        given = {"runs": grid.runs, "seed": grid.seed, "points": grid.points}
        seen = {key: (value, "the grid") for key, value in given.items()}
    for path in paths:
        table, provenance = _read(path)
        tables.append(table)
        for name, value in _shared(provenance):
            other, where = seen.setdefault(name, (value, path))
            if other != value:
                how = f"{name} ({other}, {value})"
                remedy = "delete one of them, or pass load the grid to leave out what is outside it"
                why = f"grid points of different sweeps: {where} and {path} differ in {how}"
                raise ValueError(f"{why}: {remedy}")
    if not tables:
        raise ValueError(f"{folder} has no grid points of a sweep")
    frame = pa.concat_tables(tables, promote_options="permissive").to_pandas()
    frame = frame.dropna(axis=1, how="all")
    frame["low"] = (frame["mean"] - 3 * frame.se).clip(lower=frame.least)
    frame["high"] = (frame["mean"] + 3 * frame.se).clip(upper=frame.greatest)
    order = [c for c in ("instance", "algorithm", "epsilon", "horizon") if c in frame]
    return frame.sort_values(order, kind="stable", ignore_index=True)


def _wanted(grid, schema) -> Iterator[dict]:
    """The provenance that the file of each grid point must have."""
    versions = {name: version(name) for name in LIBRARIES}
    shared = {
        **{"runs": grid.runs, "seed": grid.seed, "points": grid.points},
        "versions": {"python": platform.python_version()} | versions,
        "columns": {field.name: str(field.type) for field in schema},
    }
    hashes: dict[tuple, dict] = {}
    for point in grid.grid_points:
        used = (*_classes(point.algorithm), *_classes(point.problem))
        if used not in hashes:
            hashes[used] = _sources(used)
        yield point.provenance | shared | {"sources": hashes[used]}


def _classes(thing) -> Iterator[type]:
    """The classes of an algorithm or problem, of those inside it, and their bases."""
    yield from (c for c in type(thing).__mro__ if c.__module__ not in ("abc", "builtins"))
    for value in (getattr(thing, f.name) for f in fields(thing)) if is_dataclass(thing) else ():
        if is_dataclass(value):
            yield from _classes(value)


def _sources(classes) -> dict[str, str]:
    """Source files on which a grid point depends, with their hashes."""
    try:
        used = sources.used_by(simulate, *classes)
    except LookupError as problem:
        raise GridError(f"an algorithm must be defined in a module: {problem}") from None
    if sources.loaded_hash(used) is None:
        raise GridError("a source was edited since this process started: start it again")
    return {str(_name(path)): sources.source_hash([path])[:16] for path in sorted(used)}


def _name(path):
    """A file of the package by its place there; another by its module's folder and its name."""
    within = path.is_relative_to(files.PACKAGE)
    return path.relative_to(files.PACKAGE.parent) if within else Path(*path.parts[-2:])


def _summary(folder, found, wanted) -> str:
    """What is there already and what is not, and why files are replaced."""
    why: Counter[str] = Counter()
    for path, provenance in wanted.items():
        if not path.exists():
            why["are new"] += 1
        elif not found[path]:
            why["are damaged and replaced"] += 1
        elif found[path] != provenance:
            why[f"are replaced, made with other {_difference(found[path], provenance)}"] += 1
    there = len(wanted) - why.total()
    said = [f"{there} are in {folder} already", *(f"{n} {what}" for what, n in why.items())]
    line = f"{len(wanted)} grid points: {', '.join(said)}"
    if outside := len(set(folder.glob("*.parquet")) - set(wanted)):
        line += f"; {outside} files there are outside this grid, and stay"
    return line


def _difference(old, new) -> str:
    """What differs between two provenances of a grid point, in words."""
    before, now = dict(_shared(old)), dict(_shared(new))
    names = [name for name in now if before.get(name) != now[name]]
    if not names:
        return "columns"
    shown = f"{names[0]} ({before.get(names[0])}, now {now[names[0]]})"
    return shown if len(names) == 1 else f"{shown} and {len(names) - 1} more"


def _shared(provenance) -> Iterator[tuple[str, Any]]:
    """What all grid points of a sweep must agree on, as far as it concerns them."""
    for key in ("runs", "seed", "points"):
        yield key, provenance.get(key)
    for key in ("versions", "sources"):
        for name, value in provenance.get(key, {}).items():
            yield f"{key[:-1]} of {name}", value


# Its files --------------------------------------------------------------------------------------


def _schema(grid) -> pa.Schema:
    """The columns of all files of a sweep, typed."""
    columns = dict(COLUMNS)
    own = [c for p in grid.grid_points for c in _classes(p.algorithm) if is_dataclass(c)]
    for kind in dict.fromkeys((*CLASSES, *own)):
        for name, found in _parameters(kind):
            known = columns.setdefault(name, found)
            if known != found:
                both = {known, found} == {pa.int64(), pa.float64()}
                columns[name] = pa.float64() if both else pa.string()
    return pa.schema(columns)


def _parameters(kind) -> Iterator[tuple[str, pa.DataType]]:
    """The parameters of a class of algorithms, and the types of their columns."""
    try:
        hints = get_type_hints(kind)
    except (NameError, TypeError):  # of a name that is imported for type checkers only
        hints = {}
    for field in fields(kind):
        hint = hints.get(field.name)
        kinds = set(get_args(hint) or [hint]) - {types.NoneType}
        yield field.name, TYPES.get(kinds.pop(), pa.string()) if len(kinds) == 1 else pa.string()


def _parquet(point, frame, schema, provenance) -> bytes:
    """The content of a file: the summary of a grid point, in the columns of the sweep."""
    frame = frame.assign(setting=repr(point.algorithm), horizon=point.horizon)
    arrays = [
        _array(frame[field.name], field.type)
        if field.name in frame
        else pa.nulls(len(frame), field.type)
        for field in schema
    ]
    table, file = pa.Table.from_arrays(arrays, schema=schema), io.BytesIO()
    provenance = provenance | {"numbers": _digest(table)}
    kept = {KEY: json.dumps(provenance, sort_keys=True).encode()}
    pq.write_table(table.replace_schema_metadata(kept), file)
    return file.getvalue()


def _array(column, kind):
    if kind == pa.string():
        column = column.map(str, na_action="ignore").astype(object)
    return pa.array(column, kind, from_pandas=True)


def _read(path) -> tuple[pa.Table, dict]:
    """The table in a file and its provenance; a ValueError if it is damaged."""
    try:
        table = pq.ParquetFile(path).read()
        provenance = json.loads(table.schema.metadata[KEY])
        whole = provenance.pop("numbers") == _digest(table)
    except Exception:  # there is no end to what damage makes pyarrow say
        whole = False
    if not whole:
        raise ValueError(f"{path} is damaged: run the sweep again")
    return table.replace_schema_metadata(), provenance


def _digest(table) -> str:
    return files.digest(table.to_pandas().to_csv(index=False).encode())


def _kept(path) -> dict:
    """The provenance of a file; nothing if there is none, or it is damaged."""
    try:
        return _read(path)[1]
    except ValueError:
        return {}
