"""Which notebooks are asked for, with which parameters; what cannot run is refused first."""

import ast
import re
import sys
import tomllib
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

import nbformat
from papermill.translators import PythonTranslator

from privregret.files import ROOT
from privregret.press import record
from privregret.press.notebook import ParameterError
from privregret.press.places import NOTEBOOKS


class UsageError(ValueError):
    """The command was asked for something that is not there."""


@dataclass
class Job:
    """One notebook to run."""

    name: str
    parameters: dict = field(default_factory=dict)  # all of them
    changed: dict = field(default_factory=dict)  # those that differ from the notebook's defaults
    problem: str = ""  # why it cannot run at all


def read(name: str) -> nbformat.NotebookNode:
    """A notebook of the project; UsageError in one line if it does not keep the contract."""
    try:
        notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
        declared_parameters(notebook)
        started = re.search(
            r"^notebook\.start\(\s*[\"'](.*?)[\"']", tagged(notebook, "check"), re.M
        )
    except StopIteration:
        raise UsageError(
            f"notebooks/{name}.ipynb has no cells tagged parameters and check"
        ) from None
    except Exception as problem:  # cut, not JSON, of another format, not Python
        reason = (str(problem).splitlines() or [type(problem).__name__])[0][:100]
        raise UsageError(f"notebooks/{name}.ipynb cannot be read: {reason}") from None
    if not started or started[1] != name:
        said = started[1] if started else "none"
        raise UsageError(f"notebooks/{name}.ipynb says that it is {said}: a copy?")
    return notebook


def tagged(notebook: nbformat.NotebookNode, tag: str) -> str:
    """The source of the first cell with a tag."""
    return next(c.source for c in notebook.cells if tag in c.metadata.get("tags", []))


def declared_parameters(notebook: nbformat.NotebookNode) -> dict:
    """What the notebook's parameters cell assigns: name -> default."""
    lines = ast.parse(tagged(notebook, "parameters")).body
    return {
        line.target.id: ast.literal_eval(line.value)
        for line in lines
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and line.value
    }


def check_parameters(notebook: nbformat.NotebookNode, parameters: dict) -> None:
    """Run here the notebook's parameters, the cell that papermill will inject, and its check."""
    injected = PythonTranslator.codify(parameters) if parameters else ""
    namespace = {"In": [injected]}
    try:
        for source in (tagged(notebook, "parameters"), injected, tagged(notebook, "check")):
            exec(compile(source, "<notebook>", "exec"), namespace)
    except ParameterError:
        raise
    except Exception as problem:
        reason = f"{type(problem).__name__}: {problem}".splitlines()[0]
        raise UsageError(f"the cells of parameters and their check fail: {reason}") from None


def select(wanted: list[str]) -> list[str]:
    """Names of the notebooks that papers, notebooks, bare names and paths stand for; [] means all.

    Scratch notebooks and copies are skipped with a word, unless nothing else was asked for. One
    that has published something is never scratch, whatever became of it.
    """
    paths = [p for p in sorted(NOTEBOOKS.glob("*/*.ipynb")) if not p.parent.name.startswith(".")]
    names = [str(path.relative_to(NOTEBOOKS).with_suffix("")) for path in paths]
    chosen = {name for word in wanted for name in _named(word, names)} if wanted else set(names)
    known, result, skipped = record.read(ROOT)["notebooks"], [], []
    for name in sorted(chosen):
        try:
            read(name)
        except UsageError as problem:
            if name not in known:
                skipped.append(problem)
                continue
        result.append(name)
    if wanted and not result:
        raise skipped[0]
    for notice in skipped:
        print(f"skipped: {notice}", file=sys.stderr)
    return result


def _named(word, names):
    here = Path(word).resolve()
    near_by = here.exists() and here != NOTEBOOKS and here.is_relative_to(NOTEBOOKS)
    key = word.removeprefix("./").removeprefix("notebooks/")
    key = str(here.relative_to(NOTEBOOKS)) if near_by else key
    key = key.removesuffix(".ipynb").rstrip("/")
    found = [n for n in names if n == key or n.startswith(f"{key}/") or n.endswith(f"/{key}")]
    if not found:
        near = get_close_matches(key, [*names, *{part for n in names for part in n.split("/")}], 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UsageError(f"no notebook or paper {word!r}{hint}")
    return found


def parse_value(text: str):
    """The Python literal that `text` is, else `text` itself.

    Examples
    --------
    >>> parse_value("0.5,1"), parse_value("true"), parse_value("laplace")
    ([0.5, 1], True, 'laplace')
    """
    try:
        value = ast.literal_eval(text)
        return list(value) if isinstance(value, tuple) else value
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return {"true": True, "false": False}.get(text, text)


def overrides(pairs: list[tuple[str, str]]) -> dict:
    """The parameters that a command line names; UsageError if it names one twice."""
    found = {}
    for name, text in pairs:
        if name in found:
            raise UsageError(f"-p {name} is given twice")
        found[name] = parse_value(text)
    return found


def smoke_parameters() -> dict:
    """`notebooks/smoke.toml`: notebook -> its small parameters."""
    try:
        profile = tomllib.loads((NOTEBOOKS / "smoke.toml").read_text(encoding="utf-8"))
        return {name: dict(parameters) for name, parameters in profile.items()}
    except (ValueError, TypeError) as problem:  # not UTF-8, not TOML, not tables
        raise UsageError(f"notebooks/smoke.toml cannot be read: {problem}") from None


def jobs(names: list[str], given: dict, smoke: bool = False) -> list[Job]:
    """One job a notebook, each checked by its own rules; UsageError for a bad parameter."""
    small = smoke_parameters() if smoke else {}
    result, known = [], set()
    for name in names:
        mine = {}
        try:
            notebook = read(name)
            declared = declared_parameters(notebook)
            known |= set(declared)
            mine = {p: v for p, v in given.items() if p in declared}
            wanted = declared | small.get(name, {}) | mine
            check_parameters(notebook, wanted)
            changed = {p: v for p, v in wanted.items() if v != declared[p]}
            result.append(Job(name, wanted, changed))
        except (UsageError, ParameterError) as problem:
            reason = str(problem).removeprefix(f"{name}: ")
            if mine:
                raise UsageError(f"{name}: {reason}") from None
            result.append(Job(name, problem=reason))  # it must not stop the other notebooks
    for unused in sorted(set(given) - known):
        near = get_close_matches(unused, known, 1)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(sorted(known))}"
        raise UsageError(f"no selected notebook has a parameter {unused}: {hint}")
    return result
