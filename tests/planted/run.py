"""Run a notebook's code cells in this process, with small parameters, and collect its findings."""

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
from papermill.translators import PythonTranslator
from pytest import MonkeyPatch

from privregret.core import store
from privregret.press import manifest, notebook, publish, text
from privregret.press.notebook import NOTEBOOKS


def by_key(rows) -> dict:
    """Key -> row."""
    return {row["key"]: row for row in rows}


def execute(
    name: str,
    root: Path,
    figure: Callable = publish.figure,
    wanted=(),
    given=(),
    lecture: Callable | None = None,
) -> dict:
    """Run the notebook at the parameters `given`, else its small ones, with its output in `root`,
    `figure` instead of `publish.figure`; what `by_key` gives once all keys `wanted` are there, or
    at its end. After the lecture, `lecture` is called with its names and the algorithm's cells.
    """
    parameters = text.of_notebook(name)["smoke"] | dict(given)
    # a fault is in no key of the store
    with MonkeyPatch.context() as patch, store.disabled():
        patch.setenv("PRIVREGRET_OUTPUT", str(root))
        patch.setattr(publish, "figure", figure)
        namespace, found, algorithm = {"__name__": "__main__"}, {}, []
        for cell in nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4).cells:
            tags = cell.metadata.get("tags", [])
            if "referee" in tags and lecture:
                lecture(namespace, algorithm)
            if cell.cell_type != "code":
                continue
            exec(compile(cell.source, f"<{name}>", "exec"), namespace)
            algorithm += [cell.source] if "algorithm" in tags else []
            if "parameters" in tags:
                exec(PythonTranslator.codify(parameters), namespace)
            found = by_key(manifest.read(root)["notebooks"].get(name, {}).get("findings", []))
            if wanted and set(wanted) <= set(found):
                break
        notebook.current = notebook.Running()
    return found


def findings(name: str, wanted=(), given=()) -> dict:
    """What `execute` gives, without figures: drawing takes longest of all."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(None):
        return execute(name, Path(folder), lambda fig, *args, **more: plt.close(fig), wanted, given)


def unturned(keys, before: dict, after: dict) -> list[str]:
    """Those of the findings that a fault did not turn; each must be there in the first place."""
    wrong = []
    for key in keys:
        was, now = (found.get(key, {}).get("verdict") for found in (before, after))
        if was is None or now in (was, None):
            wrong.append(f"{key}: {was}, with the fault {now}")
    return wrong
