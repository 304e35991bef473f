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


def path(name: str, root: Path) -> Path:
    """The file of a notebook's stamp."""
    return root / "build" / "stamps" / f"{name}.json"


def seconds(name: str, root: Path) -> float:
    """How long the notebook's last finished run took; infinity if that is not known."""
    try:
        return float(json.loads(path(name, root).read_bytes())["seconds"])
    except (OSError, ValueError, TypeError, KeyError):
        return float("inf")


def code(name: str) -> str:
    """A hash of a notebook's code without its parameters: rewording its prose changes nothing."""
    cells = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4).cells
    kept = [
        c for c in cells if c.cell_type == "code" and "parameters" not in c.metadata.get("tags", [])
    ]
    return files.digest(json.dumps([cell.source for cell in kept]).encode())


def inputs(name: str) -> dict[str, str]:
    """Path -> hash of all that a run may use, taken before it: an edit meanwhile makes it stale."""
    notebook = NOTEBOOKS / f"{name}.ipynb"
    measured = re.findall(r"benchmarks/[\w.-]+", notebook.read_text(encoding="utf-8"))
    others = [ROOT / path for path in ("requirements.lock", *measured)]
    return _hashes([notebook, *others, *PACKAGE.rglob("*.py")], name)


def write(job: Job, root: Path, began_with: dict, mark: dict, seconds: float) -> None:
    """Write the stamp: what of its `inputs` the run used, what is published, time and memory."""
    others = {path: hashed for path, hashed in began_with.items() if not path.startswith("src/")}
    modules = {path: began_with.get(path, "") for path in mark["modules"]}  # a newer one: stale
    outputs = record.of_notebook(record.read(root), job.name)["outputs"].items()
    published = [f"{output}{ending}" for output, entry in outputs for ending in entry["files"]]
    made = [root / "figures" / file for file in ("manifest.json", *published)]
    stamp = {
        "parameters": job.parameters,
        "files": others | modules | _hashes(made, job.name),
        "seconds": round(seconds, 1),
        "kilobytes": mark.get("kilobytes"),
    }
    files.write(path(job.name, root), json.dumps(stamp, indent=1).encode())


def why_stale(job: Job, root: Path) -> str:
    """Why the notebook must run again, or an empty string."""
    if job.problem:
        return job.problem
    try:
        stamp = json.loads(path(job.name, root).read_bytes())
        was, hashes = stamp["parameters"], stamp["files"]
        if was != job.parameters:
            pairs = [(p, v, was.get(p)) for p, v in job.parameters.items() if was.get(p, ...) != v]
            return ", ".join(f"{p}={v!r} (was {old!r})" for p, v, old in pairs) or "its parameters"
        now = _hashes([ROOT / path for path in hashes], job.name)
        return next((f"{path} changed" for path in hashes if hashes[path] != now[path]), "")
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return NEVER


def _hashes(paths, name):
    """Path below the project -> hash of what a file means to notebook `name`; "" if it is gone."""
    return {os.path.relpath(path, ROOT): _hash(path, name) for path in paths}


def _hash(path, name):
    if not path.is_file():
        return ""
    if path.suffix == ".ipynb":
        return code(name)
    if path.name == "manifest.json":
        said = record.of_notebook(record.read(path.parents[1]), name)
        return files.digest(json.dumps(said, sort_keys=True).encode())
    return (sources.meaning if path.suffix == ".py" else files.digest)(path.read_bytes())
