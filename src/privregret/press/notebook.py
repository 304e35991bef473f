"""What every notebook calls first and last: a check of its parameters, and a mark that it ended.

papermill only warns of unknown parameters, takes "false" as true, and reports a run whose kernel
died as completed.
"""

import ast
import difflib
import json
import operator
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from IPython import get_ipython
from IPython.display import Markdown, display

from privregret.core.files import CHECKOUT, PACKAGE, ROOT, digest, other_clone
from privregret.core.mistakes import OneLine
from privregret.press import manifest, render, tex, text

NOTEBOOKS, BUILD = ROOT / "notebooks", ROOT / "build"
END = "application/vnd.privregret.end+json"
OPERATORS: dict[type, Any] = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
OPERATORS |= {ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Pow: operator.pow}
OPERATORS |= {ast.USub: operator.neg, ast.UAdd: operator.pos}
# of the largest whole number that is computed
BITS = 4096


@dataclass
class Running:
    """The notebook that runs in this process."""

    name: str = ""
    parameters: dict = field(default_factory=dict)
    # those that are not the notebook's own
    other: dict = field(default_factory=dict)
    # where it publishes if run by hand, and whether it has
    lab: Path = BUILD / "lab"
    published: bool = False
    # its captions and claims, and the names that fill them
    texts: dict = field(default_factory=dict)
    names: dict = field(default_factory=dict)


current = Running()


class NotStarted(OneLine, RuntimeError):
    """A notebook publishes, and did not say which it is."""


class ParameterError(OneLine, ValueError):
    """A notebook was given a parameter or a folder that it cannot use."""


def hint(word: str, known: Iterable[str]) -> str:
    """Suggest the known word that is closest to `word`, or list the known words."""
    if near := difflib.get_close_matches(word, known, 1):
        return f"did you mean {near[0]}?"
    return textwrap.shorten(f"known are {', '.join(sorted(known))}", 200, placeholder=" ...")


def folder(parameters: dict) -> str:
    """The name of a folder for runs with these parameters, which lists them."""
    text = ",".join(f"{name}={value}" for name, value in sorted(parameters.items()))
    safe = re.sub(r"[^\w.,=+-]+", "", text, flags=re.ASCII)[:80]
    return safe if safe == text else f"{safe}-{digest(text.encode())[:8]}"


def literal(node: ast.expr) -> Any:
    """The value of numbers with + - * / // **, texts, truth values, lists and tables of these;
    ValueError in one line for any other expression, and for a number that is not computed."""
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None as value):
            return value
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [literal(item) for item in items]
        case ast.Dict(keys=keys, values=items) if all(keys):
            return {literal(k): literal(v) for k, v in zip(keys, items, strict=True)}
        case ast.UnaryOp(op=sign, operand=operand):
            value = _computed(sign, literal(operand))
        case ast.BinOp(left=left, op=sign, right=right):
            value = _computed(sign, literal(left), literal(right))
        case _:
            value = None
    if value is None:
        text = textwrap.shorten(ast.unparse(node), 60, placeholder=" ...")
        raise ValueError(f"{text} is no number, text, truth value or list that can be read")
    return value


def _computed(sign, *numbers):
    """An operation on numbers; None if it is not allowed or not a real number of `BITS` bits."""
    if type(sign) not in OPERATORS or not {*map(type, numbers)} <= {int, float}:
        return None
    if isinstance(sign, ast.Pow) and isinstance(numbers[0], int):
        if (numbers[0].bit_length() - 1) * numbers[1] > BITS:  # do not even begin
            return None
    with suppress(ArithmeticError):
        value = OPERATORS[type(sign)](*numbers)
        if isinstance(value, float) or (isinstance(value, int) and value.bit_length() <= BITS):
            return value


def declared(content: bytes) -> dict:
    """What the parameters cell of a notebook, given as its JSON, assigns: name -> default.
    ValueError unless there is one such cell, of nothing but assignments."""
    cells = json.loads(content)["cells"]
    tagged = [c for c in cells if "parameters" in c["metadata"].get("tags", [])]
    if len(tagged) != 1:
        raise ValueError(f"one cell must be tagged parameters, got {len(tagged)}")
    parameters = {}
    for line in ast.parse("".join(tagged[0]["source"]), "its parameters").body:
        match line:
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                parameters[name] = literal(value)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                parameters[name] = literal(value)
            case _:
                text = textwrap.shorten(ast.unparse(line), 60, placeholder=" ...")
                raise ValueError(f"its parameters must be NAME: TYPE = VALUE, got {text}")
    return parameters


def committed(name: str, warn: Callable[[str], Any] = lambda _: None) -> dict:
    """A notebook's own parameters: those in git's HEAD, or saved if HEAD has no such notebook, and
    if git cannot say, of which `warn` is told, those last published."""
    path = f"notebooks/{name}.ipynb"
    try:
        in_head = git("ls-tree", "HEAD", "--", path)
        own = declared(git("show", f"HEAD:{path}")) if in_head else {}
    except (OSError, ValueError, LookupError, SyntaxError) as problem:
        warn(str(problem))
        own = manifest.read(ROOT)["notebooks"].get(name, {}).get("parameters") or {}
    # what is saved may be half-typed, or `runs = len(tasks)`
    with suppress(OSError, ValueError, SyntaxError):
        saved = declared((NOTEBOOKS / f"{name}.ipynb").read_bytes())
        return {parameter: own.get(parameter, value) for parameter, value in saved.items()}
    return own


def git(*words: str) -> bytes:
    """What git says about the project; LookupError if it fails, and for a download without .git,
    which may lie in somebody's repository."""
    if not (ROOT / ".git").exists():
        raise LookupError("the folder has no .git, which git init makes")
    # a hook of git names its own repository
    environment = {n: v for n, v in os.environ.items() if not re.match("GIT_(?!CONFIG)", n)}
    done = subprocess.run(["git", *words], cwd=ROOT, env=environment, capture_output=True)
    if done.returncode:
        raise LookupError(done.stderr.decode(errors="replace").partition("\n")[0])
    return done.stdout


def output_root() -> Path:
    """Where a notebook publishes: `PRIVREGRET_OUTPUT`, set by the batch command; else in
    `build/lab`, or outside a checkout in the current folder."""
    by_hand = current.lab if CHECKOUT else Path.cwd()
    return Path(os.environ.get("PRIVREGRET_OUTPUT") or by_hand)


def running() -> Running:
    """The notebook that runs; NotStarted if none does."""
    if not current.name:
        raise NotStarted("call notebook.start first, in a cell before this one")
    return current


def start(name: str, namespace: dict, /, **rules) -> None:
    """Check the parameters and the folder of the output, before any work is done.

    The notebook is named by paper key, slash, file name without ending; checked values are put back
    in `namespace`, its `globals()`. A rule (name, value) -> value raises TypeError or ValueError.
    ParameterError for a value against its rule, for a name that papermill injected and no rule has,
    for a folder that cannot be written or is not ours, or in a clone of which this is not the
    package.
    """
    if clone := other_clone():
        raise ParameterError(f"{name}: {clone}")
    injected = {parameter for cell in namespace.get("In", []) for parameter in _injected(cell)}
    for unknown in injected - rules.keys():
        raise ParameterError(f"{name} has no parameter {unknown}: {hint(unknown, rules)}")
    global current
    current = Running(name, {parameter: namespace[parameter] for parameter in rules})
    current.names, current.texts = namespace, text.of_notebook(name)
    with suppress(OSError, ValueError, LookupError, SyntaxError):  # half-typed, or not ours
        usual = committed(name)
        current.other = {p: v for p, v in current.parameters.items() if v != usual.get(p, v)}
    current.lab /= folder(current.other)
    for parameter, rule in rules.items():
        try:
            namespace[parameter] = rule(parameter, namespace[parameter])
        except (TypeError, ValueError, OverflowError) as error:
            raise ParameterError(f"{name}: {error}") from None
    try:
        manifest.check_folder(output_root())
    except (OSError, ValueError) as error:
        raise ParameterError(f"{name}: {error} (PRIVREGRET_OUTPUT names another folder)") from None


def _injected(cell):
    """The names that a cell assigns if it is one of papermill's: a heading and assignments only."""
    heading, _, rest = cell.partition("\n")
    with suppress(SyntaxError):
        lines = ast.parse(rest).body if heading == "# Parameters" else []
        if all(isinstance(line, ast.Assign) for line in lines):
            return {target.id for line in lines for target in line.targets}
    return set()


def exercises() -> None:
    """Show the exercises of the notebook's texts: the question, what to edit and run, the answer to
    unfold."""
    texts, names = running().texts, current.names
    for i, exercise in enumerate(texts.get("exercise", ()), 1):
        fields = {field: exercise[field] for field in ("ask", "answer")}
        filled = text.filled(fields, names, texts["text"])
        parts = [f"**{i}. {exercise['kind'].capitalize()}.** {filled['ask']}"]
        if "edit" in exercise:
            lines = "\n".join(f"- {old}\n+ {new}" for old, new in exercise["edit"].items())
            parts.append(f"```diff\n{lines}\n```")
        if run := exercise.get("run", "").strip():
            parts.append(f"```python\n{run}\n```")
        display(Markdown("\n\n".join([*parts, tex.folded("Answer", filled["answer"])])))


def end() -> None:
    """Mark that the notebook ran to its end, and on what; say where its output is."""
    name, root = running().name, output_root()
    render.render(root)
    shown = root.relative_to(ROOT) if root.is_relative_to(ROOT) else root
    message = f"All of {name} has run. Its output is in {shown}/figures."
    if not os.environ.get("PRIVREGRET_OUTPUT"):
        message += "\nfigures/ is as it was: `make` renews it, and `make status` is about it alone."
    if get_ipython() is None:  # run as a script
        print(message)
        return
    used = {"python": sys.executable, "package": str(PACKAGE)}
    display({"text/plain": message, END: used}, raw=True)


def end_mark(content: bytes) -> dict | None:
    """What `end` recorded in an executed notebook, given as its JSON, or None."""
    outputs = [o for cell in json.loads(content)["cells"] for o in cell.get("outputs", [])]
    return next((o["data"][END] for o in outputs if END in o.get("data", {})), None)
