"""What every notebook calls first and last: a check of its parameters, and a mark that it ended.

papermill only warns of unknown parameters, takes "false" as true, and reports a run whose kernel
died as completed.
"""

import ast
import difflib
import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from IPython import get_ipython
from IPython.display import display

try:
    import resource
except ImportError:  # native Windows
    resource = None

from privregret.core.files import CHECKOUT, ROOT, digest
from privregret.press import record, render, text

NOTEBOOKS, BUILD = ROOT / "notebooks", ROOT / "build"
END = "application/vnd.privregret.end+json"


@dataclass
class Running:
    """The notebook that runs in this process."""

    name: str = ""
    parameters: dict = field(default_factory=dict)
    # where it publishes if run by hand, what figure or table it published last, and if anything yet
    lab: Path = BUILD / "lab"
    shown: str = ""
    published: bool = False
    # its captions and claims, and the names that fill them
    texts: dict = field(default_factory=dict)
    names: dict = field(default_factory=dict)


current = Running()


class ParameterError(ValueError):
    """A notebook was given a parameter or a folder that it cannot use."""

    def _render_traceback_(self):
        return [f"ParameterError: {self}"]  # one clear line instead of a traceback


def hint(word: str, known: Iterable[str]) -> str:
    """Suggest the known word that is closest to `word`, or list the known words."""
    if near := difflib.get_close_matches(word, known, 1):
        return f"did you mean {near[0]}?"
    return textwrap.shorten(f"known are {', '.join(sorted(known))}", 200, placeholder=" ...")


def folder(parameters: dict) -> str:
    """The name of a folder for runs with these parameters, which lists them."""
    said = ",".join(f"{name}={value}" for name, value in sorted(parameters.items()))
    safe = re.sub(r"[^\w.,=+-]+", "", said, flags=re.ASCII)[:80]
    return safe if safe == said else f"{safe}-{digest(said.encode())[:8]}"


def declared(content: bytes) -> dict:
    """What the parameters cell of a notebook, given as its JSON, assigns: name -> default."""
    for cell in json.loads(content)["cells"]:
        if "parameters" in cell["metadata"].get("tags", []):
            body = ast.parse("".join(cell["source"])).body
            lines = (line for line in body if isinstance(line, ast.AnnAssign) and line.value)
            return {line.target.id: ast.literal_eval(line.value) for line in lines}
    raise ValueError("no cell is tagged parameters")


def committed(name: str) -> dict:
    """The parameters of a notebook and their defaults: the committed ones, where git has them."""
    saved = old = declared((NOTEBOOKS / f"{name}.ipynb").read_bytes())
    with suppress(OSError, subprocess.CalledProcessError, ValueError, LookupError, SyntaxError):
        show = ["git", "show", f"HEAD:./{name}.ipynb"]
        old = declared(subprocess.run(show, cwd=NOTEBOOKS, capture_output=True, check=True).stdout)
    return {parameter: old.get(parameter, value) for parameter, value in saved.items()}


def output_root() -> Path:
    """Where a notebook publishes: `PRIVREGRET_OUTPUT`, set by the batch command; else in
    `build/lab`, or outside a checkout in the current folder."""
    by_hand = current.lab if CHECKOUT else Path.cwd()
    return Path(os.environ.get("PRIVREGRET_OUTPUT") or by_hand)


def start(name: str, namespace: dict, /, **rules) -> None:
    """Check the parameters and the folder of the output, before any work is done.

    The notebook is named by paper key, slash, file name without ending; checked values are put back
    in `namespace`, its `globals()`. A rule (name, value) -> value raises TypeError or ValueError.
    ParameterError for a value against its rule, for a name that papermill injected and no rule has,
    or for a folder that cannot be written or is not ours.
    """
    given = {one for cell in namespace.get("In", []) for one in _injected(cell)}
    for unknown in given - rules.keys():
        raise ParameterError(f"{name} has no parameter {unknown}: {hint(unknown, rules)}")
    global current
    current = Running(name, {parameter: namespace[parameter] for parameter in rules})
    current.names, current.texts = namespace, text.of_notebook(name)
    with suppress(OSError, ValueError, LookupError, SyntaxError):  # a notebook of somebody's own
        usual = committed(name)
        mine = {p: v for p, v in current.parameters.items() if v != usual.get(p, v)}
        current.lab /= folder(mine)
    for parameter, rule in rules.items():
        try:
            namespace[parameter] = rule(parameter, namespace[parameter])
        except (TypeError, ValueError, OverflowError) as error:
            raise ParameterError(f"{name}: {error}") from None
    try:
        record.claim(output_root())
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


def end() -> None:
    """Mark that the notebook ran to its end, with its peak of memory; say where its output is."""
    root = output_root()
    render.render(root)
    shown = root.relative_to(ROOT) if root.is_relative_to(ROOT) else root
    message = f"All of {current.name} has run. Its output is in {shown}/figures."
    if not os.environ.get("PRIVREGRET_OUTPUT"):
        message += "\nfigures/ is as it was: `make` renews it, and `make status` is about it alone."
    if get_ipython() is None:  # run as a script
        print(message)
        return
    # kilobytes, but bytes on macOS
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss if resource else 0
    megabytes = round(peak / (2**20 if sys.platform == "darwin" else 2**10))
    display({"text/plain": message, END: {"megabytes": megabytes}}, raw=True)


def end_mark(content: bytes) -> dict | None:
    """What `end` recorded in an executed notebook, given as its JSON, or None."""
    outputs = [o for cell in json.loads(content)["cells"] for o in cell.get("outputs", [])]
    return next((o["data"][END] for o in outputs if END in o.get("data", {})), None)
