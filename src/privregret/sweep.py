"""Run a grid of algorithms, instances, epsilons and horizons: `privregret sweep`.

Every finished grid point becomes a Parquet file, so that a killed sweep can be resumed. All files
of a sweep have the same typed columns, for any reader of the folder (pandas, polars, duckdb,
pyarrow). Columns that do not apply to an algorithm are null:

- `setting` (string): the algorithm with all parameters, as `DPIMED(epsilon=0.5, alpha=2.0, ...)`;
- `algorithm`, `instance` (string): names in figures; `horizon`, `t` (int64): T and the checkpoint;
- `mean`, `sd`, `se`, `least`, `greatest` (float64), `runs` (int64), `heavy` (bool): as in
  `regret_summary`;
- one column per parameter of any algorithm of the package, and of the grid's own classes.
"""

import io
import json
import platform
import time
import types
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pandas as pd
from tqdm import tqdm

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ModuleNotFoundError as missing:
    why = f"a sweep needs {missing.name}: pip install '.[sweep]' in a clone"
    raise ModuleNotFoundError(why, name=missing.name) from None

from privregret import files, simulate, sources
from privregret.grids import CLASSES, Grid, GridError
from privregret.grids import grid as grid  # `sweep.grid` and `sweep.read`
from privregret.grids import read as read

LIBRARIES = ("numpy", "numba", "scipy")  # libraries that numbers depend on, besides sources
KEY = b"privregret"  # key of the provenance in a file's metadata
TYPES = {int: pa.int64(), float: pa.float64(), bool: pa.bool_()}  # other types become strings
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
    "heavy": pa.bool_(),
    "least": pa.float64(),
    "greatest": pa.float64(),
    "proved_epsilon": pa.float64(),
}


# Grid points ---------------------------------------------------------------------------------


def run(grid: Grid, folder: str | Path, scheduler: str = "", workers: int = -1) -> None:
    """Run the grid points that `folder` lacks, and print each one with the time left.

    A file is replaced if it is damaged, or was made with other runs, seed, points, sources or
    versions. The sources are those that the grid point uses, including your own modules.

    Parameters
    ----------
    grid : Grid
    folder : path
        Folder of the files, one per grid point.
    scheduler : str
        Address of a Dask scheduler; empty for this machine.
    workers : int
        As in `simulate.regret_summary`.

    Raises
    ------
    GridError
        If a source file changed after this process started, which still runs the old code.

    Examples
    --------
    >>> import tempfile
    >>> small = {"algorithms": ["UCB1"], "instances": ["HU2021_2"], "horizons": [100]}
    >>> folder = tempfile.mkdtemp()
    >>> run(grid(small | {"runs": 10, "seed": 1}), folder)  # doctest: +ELLIPSIS
    1 grid points: 0 up to date; 1 new; in ...
    [1/1] ..., 00:00 left: UCB1() on setting 2, T = 100, ... s
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
            done = f"[{there + i}/{len(wanted)}] {taken}, {left} left"
            print(f"{done}: {point}, {now - since:.1f} s", flush=True)


def load(folder: str | Path, grid: Grid | None = None) -> pd.DataFrame:
    """Read a sweep as one table, in the order in which figures draw it.

    Parameters
    ----------
    folder : path
    grid : Grid, optional
        If given, all its grid points are read and no others; else all files of the folder.

    Returns
    -------
    pandas.DataFrame
        The columns of the files except empty ones, and low and high, which figures shade: three
        standard errors about the mean, clipped to the range of the runs.

    Raises
    ------
    ValueError
        In one line: if the folder has no grid points or lacks some, if a file is damaged, or if two
        files differ in runs, seed, sources or versions.

    Examples
    --------
    >>> import contextlib, io, tempfile
    >>> small = {"algorithms": ["UCB1"], "instances": ["HU2021_2"], "horizons": [100]}
    >>> points, folder = grid(small | {"runs": 10, "seed": 1}), tempfile.mkdtemp()
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
            raise ValueError(
                f"{absent[0]} and {len(absent) - 1} more grid points are missing: run the sweep"
            )
        given = {"runs": grid.runs, "seed": grid.seed, "points": grid.points}
        seen = {key: (value, "the grid") for key, value in given.items()}
    for path in paths:
        table, provenance = _read(path)
        tables.append(table)
        for name, value in _shared(provenance):
            other, where = seen.setdefault(name, (value, path))
            if other != value:
                how = f"{name} ({other}, {value})"
                remedy = "delete one of them, or call load(folder, grid)"
                why = f"{where} and {path} belong to different sweeps, with different {how}"
                raise ValueError(f"{why}: {remedy}")
    if not tables:
        raise ValueError(f"{folder} has no grid points: run the sweep")
    frame = pa.concat_tables(tables, promote_options="permissive").to_pandas()
    reach = 3 * frame.se.fillna(float("inf"))  # of a single run
    frame = frame.dropna(axis=1, how="all")
    frame["low"] = (frame["mean"] - reach).clip(lower=frame.least)
    frame["high"] = (frame["mean"] + reach).clip(upper=frame.greatest)
    order = [c for c in ("instance", "algorithm", "epsilon", "horizon") if c in frame]
    return frame.sort_values(order, kind="stable", ignore_index=True)


def _wanted(grid, schema) -> Iterator[dict]:
    """Return the provenance that the file of each grid point must have."""
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
    """Yield the classes of an algorithm or problem and of those inside it."""
    yield from (c for c in type(thing).__mro__ if c.__module__ not in ("abc", "builtins"))
    for value in (getattr(thing, f.name) for f in fields(thing)) if is_dataclass(thing) else ():
        if is_dataclass(value):
            yield from _classes(value)


def _sources(classes) -> dict[str, str]:
    """Return the hash of each source file on which a grid point depends."""
    try:
        used = sources.used_by(simulate, *classes)
    except LookupError as problem:
        raise GridError(f"a class of the grid must be defined in a file: {problem}") from None
    if sources.loaded_hash(used) is None:
        raise GridError("a source file changed after this process started: restart it")
    return {str(_name(path)): sources.source_hash([path])[:16] for path in sorted(used)}


def _name(path):
    """Return the path of a file within the package, or else its folder and name."""
    within = path.is_relative_to(files.PACKAGE)
    return path.relative_to(files.PACKAGE.parent) if within else Path(*path.parts[-2:])


def _summary(folder, found, wanted) -> str:
    """Return a line that counts new, damaged and outdated grid points."""
    why: Counter[str] = Counter()
    for path, provenance in wanted.items():
        if not path.exists():
            why["new"] += 1
        elif not found[path]:
            why["damaged"] += 1
        elif found[path] != provenance:
            why[f"outdated, {_difference(found[path], provenance)}"] += 1
    there = len(wanted) - why.total()
    counts = [f"{there} up to date", *(f"{n} {what}" for what, n in why.items())]
    line = f"{len(wanted)} grid points: {'; '.join(counts)}; in {folder}"
    if outside := len(set(folder.glob("*.parquet")) - set(wanted)):
        line += f", which keeps {outside} files of other grid points"
    return line


def _difference(old, new) -> str:
    """Return what differs between two provenances of a grid point, in words."""
    before, now = dict(_shared(old)), dict(_shared(new))
    names = [name for name in now if before.get(name) != now[name]]
    if not names:
        return "columns"
    shown = f"{names[0]} was {before.get(names[0])}, is {now[names[0]]}"
    return shown if len(names) == 1 else f"{shown} and {len(names) - 1} more"


def _shared(provenance) -> Iterator[tuple[str, Any]]:
    """Yield what all grid points of a sweep must agree on."""
    for key in ("runs", "seed", "points"):
        yield key, provenance.get(key)
    for key in ("versions", "sources"):
        for name, value in provenance.get(key, {}).items():
            yield f"{key[:-1]} of {name}", value


# Files --------------------------------------------------------------------------------------


def _schema(grid) -> pa.Schema:
    """Return the typed columns of all files of a sweep."""
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
    """Yield the parameters of a class of algorithms, and the types of their columns."""
    try:
        hints = get_type_hints(kind)
    except (NameError, TypeError):  # for a name that is imported for type checkers only
        hints = {}
    for field in fields(kind):
        hint = hints.get(field.name)
        kinds = set(get_args(hint) or [hint]) - {types.NoneType}
        yield field.name, TYPES.get(kinds.pop(), pa.string()) if len(kinds) == 1 else pa.string()


def _parquet(point, frame, schema, provenance) -> bytes:
    """Return the content of a file: the summary of a grid point, in typed columns."""
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
    """Return the table in a file and its provenance; raise a ValueError if damaged."""
    try:
        table = pq.ParquetFile(path).read()
        provenance = json.loads(table.schema.metadata[KEY])
        whole = provenance.pop("numbers") == _digest(table)
    except Exception:  # pyarrow raises many errors for damaged files
        whole = False
    if not whole:
        raise ValueError(f"{path} is damaged: run the sweep again")
    return table.replace_schema_metadata(), provenance


def _digest(table) -> str:
    return files.digest(table.to_pandas().to_csv(index=False).encode())


def _kept(path) -> dict:
    """Return the provenance of a file; empty if it is missing or damaged."""
    try:
        return _read(path)[1]
    except ValueError:
        return {}
