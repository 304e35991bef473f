"""Run a notebook's code cells in this process, with small parameters, and collect its findings."""

import json
import tempfile
import tomllib
from pathlib import Path

import nbformat
from papermill.translators import PythonTranslator

from privregret import manifest, notebook
from privregret.paths import NOTEBOOKS


def findings(name: str, monkeypatch) -> dict:
    """(place, claim, quantity) -> row, of the notebook at the parameters of `smoke.toml`."""
    parameters = tomllib.loads((NOTEBOOKS / "smoke.toml").read_text()).get(name, {})
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setenv("PRIVREGRET_OUTPUT", folder)
        namespace = {"__name__": "__main__"}
        for cell in nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4).cells:
            if cell.cell_type != "code" or cell.source == "notebook.end()":
                continue
            exec(compile(cell.source, f"<{name}>", "exec"), namespace)
            if "parameters" in cell.metadata.get("tags", []):
                exec(PythonTranslator.codify(parameters), namespace)
        notebook.current.update(name="", shown="")
        rows = manifest.read(Path(folder))["notebooks"].get(name, {}).get("findings", [])
    return {(r["place"], r["claim"], r["quantity"]): json.loads(json.dumps(r)) for r in rows}


def unturned(plant, before: dict, after: dict) -> list[str]:
    """The findings that a planted fault should have turned and did not; each must be there in the first place."""
    wrong = []
    for place, part in plant.turns:
        keys = [key for key in before if key[0] == place and part in key[1]]
        if not keys:
            wrong.append(f"{place}: no finding says {part!r}")
        for key in keys:
            verdict = after[key]["verdict"] if key in after else "no longer there"
            if verdict in (before[key]["verdict"], "no longer there"):
                wrong.append(f"{place}, {key[1][:60]}: {before[key]['verdict']}, with the fault {verdict}")
    return wrong
