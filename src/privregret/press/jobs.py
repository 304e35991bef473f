"""Which notebooks are asked for, with which parameters; what cannot run is refused first."""

import ast
import re
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import nbformat

from privregret.files import ROOT
from privregret.press import record
from privregret.press.notebook import ParameterError, hint
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
        start = rf"^notebook\.start\(\s*[\"']{re.escape(name)}[\"']"
        if not re.search(start, tagged(notebook, "check"), re.M):
            raise ValueError(f"its check does not call notebook.start({name!r}, ...): a copy?")
    except Exception as problem:  # cut, not JSON, of another format, not Python
        reason = (str(problem).splitlines() or [type(problem).__name__])[0][:100]
        raise UsageError(f"notebooks/{name}.ipynb cannot be read: {reason}") from None
    return notebook


def tagged(notebook: nbformat.NotebookNode, tag: str) -> str:
    """The source of the first cell with a tag; ValueError if there is none."""
    for cell in notebook.cells:
        if tag in cell.metadata.get("tags", []):
            return cell.source
    raise ValueError(f"no cell is tagged {tag}")


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
    from papermill.translators import PythonTranslator  # a slow import

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

    Scratch notebooks and copies are skipped with a word. One that has published something is never
    scratch, whatever became of it.
    """
    known, names = record.read(ROOT)["notebooks"], []
    for path in sorted(NOTEBOOKS.glob("[!.]*/*.ipynb")):
        name = str(path.relative_to(NOTEBOOKS).with_suffix(""))
        try:
            if name not in known:
                read(name)
            names.append(name)
        except UsageError as problem:
            print(f"skipped: {problem}", file=sys.stderr)
    return sorted({name for word in wanted for name in _named(word, names)}) or names


def _named(word, names):
    path = Path(word).resolve()
    if path.exists() and NOTEBOOKS in path.parents:
        word = str(path.relative_to(NOTEBOOKS))
    key = word.removeprefix("notebooks/").removesuffix(".ipynb").rstrip("/")
    found = [n for n in names if n == key or n.startswith(f"{key}/") or n.endswith(f"/{key}")]
    if not found:
        parts = {part for name in names for part in name.split("/")}
        raise UsageError(f"no notebook or paper {word!r}: {hint(key, [*names, *parts])}")
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
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"-p {name} is given twice")
    return {name: parse_value(text) for name, text in pairs}


def smoke_parameters() -> dict:
    """`notebooks/smoke.toml`: notebook -> its small parameters."""
    try:
        profile = tomllib.loads((NOTEBOOKS / "smoke.toml").read_text(encoding="utf-8"))
        return {name: dict(parameters) for name, parameters in profile.items()}
    except (ValueError, TypeError) as problem:  # not UTF-8, not TOML, not tables
        raise UsageError(f"notebooks/smoke.toml cannot be read: {problem}") from None


def jobs(names: list[str], given: dict, smoke: bool = False, check: bool = True) -> list[Job]:
    """One job a notebook, each checked by its own rules; UsageError for a bad parameter.

    What only lists notebooks needs no check, which imports what their rules need.
    """
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
            if check:
                check_parameters(notebook, wanted)
            changed = {p: v for p, v in wanted.items() if v != declared[p]}
            result.append(Job(name, wanted, changed))
        except (UsageError, ParameterError) as problem:
            reason = str(problem).removeprefix(f"{name}: ")
            if mine:
                raise UsageError(f"{name}: {reason}") from None
            result.append(Job(name, problem=reason))  # it must not stop the other notebooks
    for unused in sorted(given.keys() - known):
        raise UsageError(f"no selected notebook has a parameter {unused}: {hint(unused, known)}")
    return result
