"""What every notebook calls first and last: a check of its parameters, and a mark that it ended.

papermill only warns of a parameter that a notebook does not have, takes "false" as a true string,
and reports a run as completed even if its kernel died. So notebooks look after themselves, with or
without the batch command.
"""

import ast
import difflib
import os
import sys
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from IPython import get_ipython
from IPython.display import display

try:
    import resource
except ImportError:  # native Windows
    resource = None

from privregret.files import ROOT
from privregret.press import render
from privregret.press.places import output_root

END = "application/vnd.privregret.end+json"


@dataclass
class Running:
    """The notebook that runs in this process."""

    name: str = ""
    parameters: dict = field(default_factory=dict)
    shown: str = ""  # the figure or table that it published last
    published: bool = False  # whether it has published anything yet


current = Running()


class ParameterError(ValueError):
    """A notebook was given a parameter that it does not have or cannot use."""

    def _render_traceback_(self):
        return [f"ParameterError: {self}"]  # one clear line instead of a traceback


def hint(word: str, known: Iterable[str]) -> str:
    """Suggest the known word that is closest to `word`, or list the known words.

    Examples
    --------
    >>> hint("rums", ["runs", "seed"]), hint("x", ["runs", "seed"])
    ('did you mean runs?', 'known are runs, seed')
    """
    if near := difflib.get_close_matches(word, known, 1):
        return f"did you mean {near[0]}?"
    return textwrap.shorten(f"known are {', '.join(sorted(known))}", 200, placeholder=" ...")


def start(name: str, namespace: dict, /, **rules) -> None:
    """Check the parameters, before any work is done.

    Parameters
    ----------
    name : str
        The notebook: paper key, slash, file name without ending.
    namespace : dict
        The notebook's `globals()`. Each checked value is put back in: an integer given for a real
        becomes real.
    **rules : callable
        One for each parameter that the notebook has: (name, value) -> value, raising TypeError or
        ValueError.

    Raises
    ------
    ParameterError
        For a name that papermill injected and the notebook does not declare, or a value against its
        rule.
    """
    for cell in namespace.get("In", []):
        if cell.startswith("# Parameters"):  # how papermill heads the cell that it injects
            for line in ast.parse(cell).body:
                for unknown in {t.id for t in line.targets} - set(rules):
                    near = hint(unknown, rules)
                    raise ParameterError(f"{name} has no parameter {unknown}: {near}")
    global current
    current = Running(name, {parameter: namespace[parameter] for parameter in rules})
    for parameter, rule in rules.items():
        try:
            namespace[parameter] = rule(parameter, namespace[parameter])
        except (TypeError, ValueError, OverflowError) as error:
            raise ParameterError(f"{name}: {error}") from None


def end() -> None:
    """Mark that the notebook ran to its end, and what modules it used; say where its output is."""
    root = output_root()
    render.render(root)
    shown = root.relative_to(ROOT) if root.is_relative_to(ROOT) else root
    message = f"All of {current.name} has run. Its output is in {shown}/figures."
    if not os.environ.get("PRIVREGRET_OUTPUT"):
        message += " figures/ is as it was: `make` renews it, and `make status` is about it alone."
    if get_ipython() is None:  # run as a script
        print(message)
        return
    used = {getattr(module, "__file__", None) or "" for module in list(sys.modules.values())}
    modules = sorted(
        str(Path(f).relative_to(ROOT)) for f in used if Path(f).is_relative_to(ROOT / "src")
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss if resource else None  # of the kernel
    display({"text/plain": message, END: {"modules": modules, "kilobytes": peak}}, raw=True)


def end_mark(notebook) -> dict | None:
    """What `end` recorded in an executed notebook (an nbformat node), or None."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return next((o["data"][END] for o in outputs if END in o.get("data", {})), None)
