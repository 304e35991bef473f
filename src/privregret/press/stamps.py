"""What a finished run of a notebook depended on, and why it must run again.

Nothing counts as done before its stamp is written, and that happens last.
"""

import json
import os
import re
from pathlib import Path

import nbformat

from privregret import files, sources
from privregret.files import PACKAGE, ROOT
from privregret.press import record
from privregret.press.jobs import Job
from privregret.press.places import NOTEBOOKS

NEVER = "has not run to its end here"
DAMAGE = (OSError, ValueError, TypeError, KeyError, AttributeError)  # what reading a stamp raises


def stamp(name: str, root: Path) -> Path:
    """The file that a notebook's last finished run below `root` has left."""
    return root / "build" / "stamps" / f"{name}.json"


def seconds(name: str, root: Path) -> float:
    """How long the notebook's last finished run took; infinity if that is not known."""
    try:
        return float(json.loads(stamp(name, root).read_bytes())["seconds"])
    except DAMAGE:
        return float("inf")


def code(name: str) -> str:
    """A hash of a notebook's code without its parameters: rewording its prose changes nothing."""
    cells = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4).cells
    kept = [
        c for c in cells if c.cell_type == "code" and "parameters" not in c.metadata.get("tags", [])
    ]
    return files.digest(json.dumps([cell.source for cell in kept]).encode())


def inputs(job: Job) -> dict[str, str]:
    """All that a run may use, path -> hash, taken before it: an edit meanwhile makes it stale."""
    notebook = NOTEBOOKS / f"{job.name}.ipynb"
    measured = re.findall(r"benchmarks/[\w.-]+", notebook.read_text(encoding="utf-8"))
    others = [ROOT / path for path in ("requirements.lock", *measured)]
    return _hashes([notebook, *others, *PACKAGE.rglob("*.py")], job)


def write(job: Job, root: Path, began_with: dict, mark: dict, seconds: float) -> None:
    """Write the stamp: what of its `inputs` the run used, what is published, time and memory."""
    others = {path: hashed for path, hashed in began_with.items() if not path.startswith("src/")}
    modules = {path: began_with.get(path, "") for path in mark["modules"]}  # a newer one: stale
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
    """Why the notebook must run again, or an empty string."""
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
        return next((f"{path} changed" for path in hashes if hashes[path] != now[path]), "")
    except DAMAGE:
        return NEVER


def _hashes(paths, job):
    """Path, seen from the project -> hash of what this file means to a job; "" if it is gone."""
    return {os.path.relpath(path, ROOT): _hash(path, job) for path in paths}


def _hash(path, job):
    if not path.is_file():
        return ""
    if path.suffix == ".ipynb":
        return files.digest(f"{code(job.name)} {job.parameters}".encode())
    if path.name == "manifest.json":
        said = record.of_notebook(record.read(path.parents[1]), job.name)
        return files.digest(json.dumps(said, sort_keys=True).encode())
    return (sources.meaning if path.suffix == ".py" else files.digest)(path.read_bytes())
