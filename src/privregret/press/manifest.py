"""The manifest, `figures/manifest.json`: of each figure and table the hashes of its files, of each
notebook its findings, numbers, parameters, and hashes of the code behind them."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path

import numpy as np
import pandas as pd

from privregret.core.files import ROOT, digest, locked, write
from privregret.estimates import Estimate
from privregret.press.findings import VERDICTS

KINDS = {"figure": (".pdf", ".png", ".csv", ".tex"), "table": (".csv", ".tex")}
# of an output: no hidden file, and none elsewhere
NAME = re.compile(r"[a-z0-9]+/[a-z0-9][a-z0-9-]*(\.[a-z0-9-]+)*")
# of a notebook, for its pages
OWNER = re.compile(r"[a-z0-9]+/\w[\w.-]*")
# fields of a number
NUMBER = "value", "error", "numerical_error"
# of a notebook's entry: what decides its outputs, up to rounding
ORIGIN = ("parameters", "code", "sources", "lock", "checked")
# those whose versions an entry has
LIBRARIES = ("numpy", "numba", "scipy", "pandas", "matplotlib", "seaborn")
# relative: less than this is rounding, which differs between processors
TOLERANCE = 1e-9


def read(root: Path) -> dict:
    """The manifest of the outputs below `root`, one of nothing if there is none; a ValueError in
    one line if it is damaged."""
    path = root / "figures" / "manifest.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        _check(manifest)
        return manifest
    except FileNotFoundError:
        return {"notebooks": {}, "outputs": {}}
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, OSError) as problem:
        reason = " ".join(str(problem).split())[:200]
        cure = "restore it by git, or remove it and all runs again"
        raise ValueError(f"{path} is damaged ({reason}): {cure}") from None


def _check(manifest):
    """Raise an error for files elsewhere, and for a number or a verdict that cannot be shown."""
    for name, entry in manifest["outputs"].items():
        if not NAME.fullmatch(name) or entry["files"].keys() - {*KINDS[entry["kind"]]}:
            raise ValueError(f"{name}: files are {entry['files']}")
    owners = (entry["notebook"] for entry in manifest["outputs"].values())
    for name in (*manifest["notebooks"], *owners):
        if not OWNER.fullmatch(name):
            form = "paper key, slash, letters, digits, _, - and ."
            raise ValueError(f"a notebook is {form}, not {name!r}")
    for name, entry in manifest["notebooks"].items():
        findings = entry.get("findings", [])
        for number in (*findings, *entry.get("numbers", {}).values()):
            Estimate(*(number[field] for field in NUMBER))
        for row in findings:
            if row["verdict"] not in VERDICTS[row["kind"]]:
                raise ValueError(f"{row['key']} of {name}: verdict is {row['verdict']!r}")


def check_folder(root: Path, whole: bool = False) -> None:
    """Raise ValueError for files of others in `root`, or if not `whole` in our folders, and for a
    clone of a project; OSError if it cannot be written."""
    for name in (".git", "pyproject.toml", "notebooks") if whole else ("src/privregret",):
        if (root / name).exists():
            raise ValueError(f"{root} holds {name}: a project, whose figures are its own")
    paths = root.iterdir() if whole and root.exists() else (root / "figures", root / "paper")
    others = sorted(path.name for path in paths if path.exists())
    ours = root.is_relative_to(ROOT) and not whole
    if others and not ours and not (root / "figures" / "manifest.json").exists():
        raise ValueError(f"{root} holds {others[0]}, but no figures/manifest.json: not ours")
    with changing(root):
        pass


def lock(root: Path):
    """A context in which no other process writes below `root`."""
    return locked(root / "figures" / ".lock")


@contextmanager
def changing(root: Path) -> Iterator[dict]:
    """The manifest below `root`, to change it while no other process does."""
    with lock(root):
        manifest = read(root)
        yield manifest
        _check(manifest)
        text = json.dumps(manifest, indent=1, sort_keys=True, ensure_ascii=False)
        write(root / "figures" / "manifest.json", f"{text}\n".encode())


def of_notebook(manifest: dict, name: str) -> dict:
    """What a manifest says of one notebook: its outputs, and its findings and numbers."""
    entries = manifest["outputs"].items()
    outputs = {output: entry for output, entry in entries if entry.get("notebook") == name}
    return {"outputs": outputs, "notebook": manifest["notebooks"].get(name, {})}


def refuse_clashes(manifest: dict, name: str, wanted: Iterable[str]) -> None:
    """Raise ValueError if another notebook than `name` publishes an output or number so named."""
    entries = manifest["notebooks"].items()
    owners = {n: owner for owner, entry in entries for n in entry.get("numbers", {})}
    owners |= {output: entry["notebook"] for output, entry in manifest["outputs"].items()}
    for published in wanted:
        if (owner := owners.get(published, name)) != name:
            raise ValueError(f"{published} is already published by {owner}")


def adopt(staged: Path, root: Path, name: str, origin: dict, fresh: bool = False) -> None:
    """Move what notebook `name` has published below `staged` to `root`, in place of its last run.

    With the same code and parameters (`origin` has their hashes) a published file stays if its
    numbers agree with the staged ones up to rounding and their own error: on another processor
    nothing changes, unless the run is `fresh`.
    """
    new = of_notebook(read(staged), name)
    outputs, entry = new["outputs"], new["notebook"] | origin
    with changing(root) as manifest:
        refuse_clashes(manifest, name, [*outputs, *entry.get("numbers", {})])
        old = of_notebook(manifest, name)
        _remove(root, manifest, old["outputs"].keys() - outputs.keys())
        same = not fresh and all(old["notebook"].get(key) == entry.get(key) for key in ORIGIN)
        for output, made in outputs.items():
            published, fresh_files = (place / "figures" / output for place in (root, staged))
            hashes = old["outputs"].get(output, {}).get("files", {}) if same else {}
            unmoved = _unmoved(published, hashes, fresh_files, made["files"])
            for ending in made["files"].keys() - unmoved:
                write(Path(f"{published}{ending}"), Path(f"{fresh_files}{ending}").read_bytes())
            made["files"] |= {ending: hashes[ending] for ending in unmoved}
            manifest["outputs"][output] = made
        tables = zip(number_frames(old["notebook"]), number_frames(entry), strict=True)
        if not same or any(moved_column(*pair) for pair in tables):
            manifest["notebooks"][name] = entry


def remove(root: Path, name: str) -> str:
    """Remove the outputs, findings and numbers of a notebook that is no more; which outputs."""
    with changing(root) as manifest:
        outputs = of_notebook(manifest, name)["outputs"].keys()
        _remove(root, manifest, outputs)
        del manifest["notebooks"][name]
    return ", ".join(outputs) or "nothing is left of its outputs"


def _remove(root, manifest, outputs):
    figures = root / "figures"
    for output in outputs:
        for ending in manifest["outputs"].pop(output)["files"]:
            path = figures / f"{output}{ending}"
            # a link to a folder elsewhere is somebody's
            if path.parent.resolve().is_relative_to(figures.resolve()):
                path.unlink(missing_ok=True)


def _unmoved(published, hashes, fresh, fresh_hashes):
    """The endings of an output's published files that are whole (`hashes` are the manifest's) and,
    up to rounding, what the fresh ones are; a picture is if the numbers are."""
    if hashes != {ending: hash_of(Path(f"{published}{ending}")) for ending in fresh_hashes}:
        return set()
    same_numbers = hashes[".csv"] == fresh_hashes[".csv"]
    if not same_numbers and moved_column(*(pd.read_csv(f"{p}.csv") for p in (published, fresh))):
        return set()
    same_text = hashes[".tex"] == fresh_hashes[".tex"]
    if not same_text and not same_numbers:
        same_text = _same_rows(*(Path(f"{p}.tex").read_text("utf-8") for p in (published, fresh)))
    return fresh_hashes.keys() - (set() if same_text else {".tex"})


def _same_rows(published, fresh):
    """Whether TeX is the same, but for the last digits of a table's numbers and for its width."""
    number = re.compile(r"(\d+(?:\.\d+)?)")
    for old, new in zip_longest(published.splitlines(), fresh.splitlines(), fillvalue=""):
        if old == new or new.startswith(r"\begin{lrbox}"):
            continue
        words, new_words = number.split(old), number.split(new)
        if not new.endswith(r"\\") or words[::2] != new_words[::2]:
            return False
        for a, b in zip(words[1::2], new_words[1::2], strict=True):
            if abs(float(a) - float(b)) >= 1.5 * 10.0 ** -len(a.partition(".")[2]):
                return False
    return True


def hash_of(path: Path) -> str:
    """The hash of a file; "" if it is missing."""
    return digest(path.read_bytes()) if path.is_file() else ""


def moved_column(published: pd.DataFrame, fresh: pd.DataFrame) -> str:
    """The first column of a published table whose numbers the fresh one does not confirm, or "".

    Numbers may differ by a relative 1e-9, and by the numerical error of both (that of x is
    `x_error`, that of `regret` is `error`), errors by a factor of two.
    """
    if list(published.columns) != list(fresh.columns) or len(published) != len(fresh):
        return "columns or rows"
    for column in published.columns:
        a, b = published[column], fresh[column]
        same, kinds = (a == b) | (a.isna() & b.isna()), {a.dtype.kind, b.dtype.kind}
        if "f" in kinds and kinds <= set("fiub"):
            size = np.maximum(a.abs(), b.abs())
            allowed, error = TOLERANCE * size, "error" if column == "regret" else f"{column}_error"
            if column == "error" or column.endswith("_error"):
                allowed = np.maximum(size / 2, 1e-12)
            elif error in published:
                allowed = allowed + published[error] + fresh[error]
            same |= np.isfinite(a) & np.isfinite(b) & ((a - b).abs() <= allowed)
        if not same.all():
            return column
    return ""


def number_frames(entry: dict) -> Iterator[pd.DataFrame]:
    """Yield a notebook's findings and its numbers as tables that `moved_column` compares."""
    numbers = [{"name": name} | number for name, number in entry.get("numbers", {}).items()]
    for rows in (entry.get("findings", []), numbers):
        frame = pd.DataFrame(rows).rename(columns={"error": "se", "numerical_error": "value_error"})
        reals = frame.columns.intersection(["value", "se", "value_error", "low", "high"])
        yield frame.astype(dict.fromkeys(reals, float))
