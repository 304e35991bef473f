"""Read the grid of a sweep: algorithms, instances, epsilons and horizons."""

import importlib
import inspect
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple

from privregret import (
    adversarial,
    bandits,
    checks,
    files,
    full_information,
    identity,
    instances,
    simulate,
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
ALGORITHMS: dict[str, Callable] = {  # names that a grid can use: classes and tuning functions
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


class GridError(ValueError):
    """Report a grid that cannot be run, in one line that names the value."""


class GridPoint(NamedTuple):
    """Hold one algorithm on one problem with one horizon."""

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
        """Return the file name: the grid point in words, and a hash of all of it."""
        text = f"{self.algorithm.label} {self.problem.name} {self.horizon}".lower()
        hashed = files.digest(json.dumps(self.provenance).encode())
        return f"{re.sub('[^a-z0-9]+', '-', text)[:80]}-{hashed[:16]}.parquet"

    @property
    def provenance(self) -> dict:
        """Return what identifies the grid point, as in the metadata of its file."""
        law = files.digest(identity.words(self.problem.law))[:16]
        named = {"algorithm": repr(self.algorithm), "instance": self.problem.name, "law": law}
        return {"grid point": named | {"horizon": self.horizon}}


class Grid(NamedTuple):
    """Hold the grid points that `read` found, and the parameters that they share."""

    grid_points: tuple[GridPoint, ...]
    runs: int
    seed: int
    points: int


# The grid --------------------------------------------------------------------------------------


def read(path: str | Path) -> Grid:
    """Read the grid in a TOML file; modules next to the file can be imported.

    Raises
    ------
    GridError
        In one line, if the file cannot be read or the grid cannot be run.

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
    """Return the grid that a table of parameters describes.

    Parameters
    ----------
    table : dict
        `algorithms`, `instances`, `horizons`, `runs` (per grid point), `seed`, and perhaps
        `epsilons` (for the algorithms that have one and do not set it) and `points` (number of
        checkpoints). An algorithm or instance is a name, or a table with a name and parameters. The
        name of an algorithm is that of a class of the package, of a function of
        `adversarial.tuning`, or "module:name" for one of your own. Lists of parameters span the
        grid. Parameters `horizon`, `arms` and `experts` of a function are taken from the grid
        point. The name of an instance is that of an instance of the package, of a function that
        makes one, or "module:name". It can also be a new name, together with the `means` of arms
        or, with full information, the mean `losses` of actions.

    Raises
    ------
    ValueError, TypeError
        In one line: for unknown keys and names, parameters out of range, algorithms that do not
        play one of the instances, and repeated entries.

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
            raise ValueError(f"{key} is missing: add it to the grid")
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
    """Return the grid points with one horizon, after all checks."""
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
        raise ValueError(f"a grid must have at most {MOST_GRID_POINTS} grid points, got more")
    return found


def _entries(name, value):
    """Return tables that have a name each; a string stands for a name alone."""
    if not isinstance(value, list) or not value:
        raise ValueError(f"{name} must be a list of at least 1 name or table, got {value!r}")
    entries = [{"name": entry} if isinstance(entry, str) else entry for entry in value]
    for i, entry in enumerate(entries):
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise ValueError(f"{name}[{i}] must be a name or a table with a name, got {entry!r}")
    return entries


def _plain(name, value):
    if isinstance(value, (list, dict)):
        raise TypeError(f"{name} must be a number or a string, got {value!r}")
    return value


def _named(where, name, known) -> Any:
    """Return the object with this name: a known one, or "module:name"."""
    if ":" not in name:
        return known[checks.one_of(*known)(f"{where}.name", name)]
    module, _, attribute = name.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except Exception as problem:  # a user's module can raise any error
        raise ValueError(f"{where}: {name} cannot be imported: {problem}") from None


def _problem(where, entry) -> Callable[[int], Any]:
    """Return a function from the horizon to the problem that an entry describes."""
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
    """Return a function per algorithm of an entry; lists of parameters span a grid."""
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
    """Return the algorithm that a tuning function makes for a grid point.

    Parameters
    ----------
    where : str
        Place in the grid, for messages.
    function : callable
    parameters : dict
        Parameters that the entry gives.
    problem : problem of the grid point
    horizon : int
        Horizon of the grid point.
    """
    sizes = dict(zip(("arms", "experts"), problem.sizes, strict=False))
    return _made(where, function, parameters, {"horizon": horizon} | sizes)


def _made(where, make, parameters, of_the_point):
    """Call a class or function with parameters and values of the grid point."""
    signature = inspect.signature(make)
    given = {key: value for key, value in of_the_point.items() if key in signature.parameters}
    try:
        bound = signature.bind(**given | parameters)  # raises and names a missing argument
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
