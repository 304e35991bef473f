"""Run a notebook's code cells in this process, with small parameters and no figures, and collect
its findings."""

import tempfile
import tomllib
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
from papermill.translators import PythonTranslator

from privregret.core import store
from privregret.press import notebook, publish, record
from privregret.press.notebook import NOTEBOOKS


def by_key(rows) -> dict:
    """Key -> row."""
    return {row["key"]: row for row in rows}


def findings(name: str, monkeypatch, wanted=()) -> dict:
    """What `by_key` gives, of the notebook at the parameters of `smoke.toml`, until all keys
    `wanted` are there."""
    parameters = tomllib.loads((NOTEBOOKS / "smoke.toml").read_text()).get(name, {})
    # drawing takes longest of all
    monkeypatch.setattr(publish, "figure", lambda fig, *args, **more: plt.close(fig))
    # a fault is in no key of the store
    with tempfile.TemporaryDirectory() as folder, store.without():
        monkeypatch.setenv("PRIVREGRET_OUTPUT", folder)
        namespace, found = {"__name__": "__main__"}, {}
        for cell in nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4).cells:
            if cell.cell_type != "code" or cell.source == "notebook.end()":
                continue
            exec(compile(cell.source, f"<{name}>", "exec"), namespace)
            if "parameters" in cell.metadata.get("tags", []):
                exec(PythonTranslator.codify(parameters), namespace)
            found = by_key(record.read(Path(folder))["notebooks"].get(name, {}).get("findings", []))
            if wanted and set(wanted) <= set(found):
                break
        notebook.current = notebook.Running()
    return found


def unturned(plant, before: dict, after: dict) -> list[str]:
    """The findings that a planted fault did not turn; each must be there in the first place."""
    wrong = []
    for key in plant.turns:
        if key not in before:
            wrong.append(f"no finding {key}")
            continue
        verdict = after[key]["verdict"] if key in after else "no longer there"
        if verdict in (before[key]["verdict"], "no longer there"):
            wrong.append(f"{key}: {before[key]['verdict']}, with the fault {verdict}")
    return wrong
