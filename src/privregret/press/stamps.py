"""Stamps: each lists the inputs and outputs of a finished run, and shows when one has changed.

A run writes its stamp last, so a notebook without a stamp has not finished.
"""

import json
import os
import re
from pathlib import Path

from privregret import code_key, files
from privregret.files import PACKAGE, ROOT
from privregret.press import record
from privregret.press.jobs import Job
from privregret.press.places import NOTEBOOKS

NEVER = "has not run to its end here"
DAMAGE = (OSError, ValueError, TypeError, KeyError, AttributeError)  # raised by damaged stamps


def stamp(name: str, root: Path) -> Path:
    """Return the path of a notebook's stamp."""
    return root / "build" / "stamps" / f"{name}.json"


def seconds(name: str, root: Path) -> float:
    """Return the run time of the last finished run; infinity if it is unknown."""
    try:
        return float(json.loads(stamp(name, root).read_bytes())["seconds"])
    except DAMAGE:
        return float("inf")


def code(name: str) -> str:
    """Hash the code cells of a notebook, without its parameters."""
    cells = json.loads((NOTEBOOKS / f"{name}.ipynb").read_bytes())["cells"]
    kept = [
        "".join(cell["source"])
        for cell in cells
        if cell["cell_type"] == "code" and "parameters" not in cell["metadata"].get("tags", [])
    ]
    return files.digest(json.dumps(kept).encode())


def inputs(job: Job) -> dict[str, str]:
    """Hash everything that a run may use, before it starts: path -> hash."""
    notebook = NOTEBOOKS / f"{job.name}.ipynb"
    measured = re.findall(r"benchmarks/[\w.-]+", notebook.read_text(encoding="utf-8"))
    others = [ROOT / path for path in ("requirements.lock", *measured)]
    return _hashes([notebook, *others, *PACKAGE.rglob("*.py")], job)


def write(job: Job, root: Path, began_with: dict, mark: dict, seconds: float) -> None:
    """Write the stamp: the `inputs` that the run used, its outputs, run time and memory."""
    others = {path: hashed for path, hashed in began_with.items() if not path.startswith("src/")}
    modules = {path: began_with.get(path, "") for path in mark["modules"]}  # "": made meanwhile
    outputs = record.of_notebook(record.read(root), job.name)["outputs"].items()
    published = [f"{output}{ending}" for output, entry in outputs for ending in entry["files"]]
    made = [root / "figures" / file for file in ("manifest.json", *published)]
    content = {
        "files": others | modules | _hashes(made, job),
        "seconds": round(seconds, 1),
        "kilobytes": mark["kilobytes"],
    }
    files.write(stamp(job.name, root), json.dumps(content, indent=1).encode())


def why_stale(job: Job, root: Path) -> str:
    """Return the reason to run the notebook again; "" if it is up to date."""
    if job.problem:
        return job.problem
    try:
        was: dict = {}
        for output in record.of_notebook(record.read(root), job.name)["outputs"].values():
            was |= output["parameters"]
        new = [p for p, value in job.parameters.items() if was.get(p, value) != value]
        if new:
            return ", ".join(f"{p}={job.parameters[p]!r} (was {was[p]!r})" for p in new)
        hashes = json.loads(stamp(job.name, root).read_bytes())["files"]
        now = _hashes([ROOT / path for path in hashes], job)
        changed = [f"{path} changed" for path, hashed in hashes.items() if hashed != now[path]]
        return (changed or [""])[0] if hashes else NEVER
    except DAMAGE:
        return NEVER


def _hashes(paths, job):
    """Map paths, relative to the project, to hashes; "" for a missing file."""
    return {os.path.relpath(path, ROOT): _hash(path, job) for path in paths}


def _hash(path, job):
    if not path.is_file():
        return ""
    if path.suffix == ".ipynb":
        return files.digest(f"{code(job.name)} {job.parameters}".encode())
    if path.name == "manifest.json":
        said = record.of_notebook(record.read(path.parents[1]), job.name)
        return files.digest(json.dumps(said, sort_keys=True).encode())
    return (code_key.meaning if path.suffix == ".py" else files.digest)(path.read_bytes())
