"""What a finished run of a notebook depended on, and why it must run again.

Nothing counts as done before its stamp is written, and that happens last.
"""

import json
import re
from pathlib import Path

import nbformat

from privregret import files, sources
from privregret.files import PACKAGE, ROOT
from privregret.press import record
from privregret.press.jobs import Job
from privregret.press.places import NOTEBOOKS, Place

KINDS: dict[str, type | tuple] = {
    "code": str,
    "parameters": dict,
    "files": dict,
    "record": str,
    "seconds": (int, float),
}
NEVER = "has not run to its end here"


def read(name: str, place: Place) -> dict:
    """What the notebook's last finished run left; empty if there is nothing of use."""
    try:
        stamp = json.loads(place.stamp(name).read_text(encoding="utf-8"))
        return stamp if all(isinstance(stamp[key], kind) for key, kind in KINDS.items()) else {}
    except (OSError, ValueError, TypeError, KeyError):
        return {}


def code(name: str) -> str:
    """A notebook's code cells but for its parameters: rewording its prose changes nothing."""
    cells = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4).cells
    kept = [
        c for c in cells if c.cell_type == "code" and "parameters" not in c.metadata.get("tags", [])
    ]
    return json.dumps([cell.source for cell in kept])


def inputs(job: Job) -> dict:
    """All that a run may depend on, taken before it starts: an edit meanwhile makes it stale."""
    source = code(job.name)
    measured = re.findall(r"benchmarks/[\w.-]+", source)
    paths = [
        *PACKAGE.rglob("*.py"),
        ROOT / "requirements.lock",
        *(ROOT / name for name in measured),
    ]
    return {
        "code": files.digest(source.encode()),
        "parameters": job.parameters,
        "files": {str(path.relative_to(ROOT)): _hash(path) for path in paths},
    }


def write(job: Job, place: Place, began_with: dict, mark: dict, seconds: float) -> None:
    """Write the stamp: what of its `inputs` the run used, what is published, time and memory."""
    known = began_with["files"]
    modules = {name: known.get(name, "") for name in mark["modules"]}  # a newer one: stale
    others = {name: digest for name, digest in known.items() if not name.startswith("src/")}
    stamp = began_with | {
        "files": others | modules,
        "record": _said(job.name, place)[1],
        "seconds": round(seconds, 1),
        "kilobytes": mark.get("kilobytes"),
    }
    files.write(place.stamp(job.name), json.dumps(stamp, indent=1).encode())


def why_stale(job: Job, place: Place) -> str:
    """Why the notebook must run again, or an empty string."""
    stamp = read(job.name, place)
    if job.problem or not stamp:
        return job.problem or NEVER
    if stamp["code"] != files.digest(code(job.name).encode()):
        return "its code changed"
    if stamp["parameters"] != job.parameters:
        changed = {p: v for p, v in job.parameters.items() if stamp["parameters"].get(p, ...) != v}
        return f"ran with other parameters, wanted {changed or job.parameters}"
    for name, digest in stamp["files"].items():
        if _hash(ROOT / name) != digest:
            return f"{name} changed"
    outputs, said = _said(job.name, place)
    if stamp["record"] != said:
        return "what figures/manifest.json says of it was changed"
    for output, entry in outputs.items():
        for ending, digest in entry["files"].items():
            if _hash(place.root / "figures" / f"{output}{ending}") != digest:
                return f"figures/{output}{ending} is missing or was changed"
    return ""


def _said(name, place):
    """A notebook's outputs in the manifest, and a hash of all that it says of the notebook."""
    said = record.of_notebook(record.read(place.root), name)
    return said["outputs"], files.digest(json.dumps(said, sort_keys=True).encode())


def _hash(path: Path) -> str:
    if not path.is_file():
        return ""
    return (sources.meaning if path.suffix == ".py" else files.digest)(path.read_bytes())
