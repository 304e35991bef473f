"""The manifest, `figures/manifest.json`, of figures and tables with hashes of their files, and of
notebooks with findings, numbers, parameters, and hashes of the code behind them."""

import json
import re
from collections.abc import Iterable
from contextlib import contextmanager
from functools import partial
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
        record = json.loads(path.read_text(encoding="utf-8"))
        _check(record)
        return record
    except FileNotFoundError:
        return {"notebooks": {}, "outputs": {}}
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, OSError) as problem:
        said = " ".join(str(problem).split())[:200]
        cure = "restore it by git, or remove it and all runs again"
        raise ValueError(f"{path} is damaged ({said}): {cure}") from None


def _check(record):
    """Raise an error for files elsewhere, and for a number or a verdict that cannot be shown."""
    for name, entry in record["outputs"].items():
        if not NAME.fullmatch(name) or entry["files"].keys() - {*KINDS[entry["kind"]]}:
            raise ValueError(f"{name}: files are {entry['files']}")
    for name in [
        *record["notebooks"],
        *(entry["notebook"] for entry in record["outputs"].values()),
    ]:
        if not OWNER.fullmatch(name):
            raise ValueError(
                f"a notebook is paper key, slash, letters, digits, _, - and ., not {name!r}"
            )
    for name, entry in record["notebooks"].items():
        findings = entry.get("findings", [])
        for number in (*findings, *entry.get("numbers", {}).values()):
            Estimate(*(number[field] for field in NUMBER))
        for row in findings:
            if row["verdict"] not in VERDICTS[row["kind"]]:
                raise ValueError(f"{row['key']} of {name}: verdict is {row['verdict']!r}")


def claim(root: Path, whole: bool = False) -> None:
    """Raise ValueError for files of others in `root`, or if not `whole` in our folders, and for a
    clone of a project; OSError if it cannot be written."""
    there = root.iterdir() if whole and root.exists() else (root / "figures", root / "paper")
    others = sorted(path.name for path in there if path.exists())
    known = root.is_relative_to(ROOT) and not whole
    for name in (".git", "pyproject.toml", "notebooks") if whole else ("src/privregret",):
        if (root / name).exists():
            raise ValueError(f"{root} holds {name}: a project, whose figures are its own")
    if others and not known and not (root / "figures" / "manifest.json").exists():
        raise ValueError(f"{root} holds {others[0]}, but no figures/manifest.json: not ours")
    with changing(root):
        pass


def still(root: Path):
    """A context in which no other process writes below `root`."""
    return locked(root / "figures" / ".lock")


@contextmanager
def changing(root: Path):
    """The manifest below `root`, to change it while no other process does."""
    with still(root):
        record = read(root)
        yield record
        _check(record)
        write(root / "figures" / "manifest.json", f"{_text(record)}\n".encode())


def _text(thing, *path):
    """JSON with a line for each output, finding, number, slip, and for the rest of a notebook."""
    line = partial(json.dumps, sort_keys=True, ensure_ascii=False)
    in_notebook = path[:1] == ("notebooks",)
    split = in_notebook and (
        len(path) == 2 or path[2:] in (("findings",), ("numbers",), ("slips",))
    )
    if not thing or not (split or len(path) < 2):
        return line(thing)
    if isinstance(thing, list):
        ends, items = "[]", [line(one) for one in thing]
    else:
        ends, keys = "{}", sorted(thing)
        items = [f"{line(key)}: {_text(thing[key], *path, key)}" for key in keys]
    margin = "\n" + " " * len(path)
    return ends[0] + ",".join(f"{margin} {item}" for item in items) + margin + ends[1]


def of_notebook(record: dict, name: str) -> dict:
    """What a manifest says of one notebook: its outputs, findings and numbers."""
    outputs = {o: entry for o, entry in record["outputs"].items() if entry.get("notebook") == name}
    return {"outputs": outputs, "notebook": record["notebooks"].get(name, {})}


def refuse_clashes(record: dict, name: str, wanted: Iterable[str]) -> None:
    """Raise ValueError if another notebook than `name` publishes an output or number so named."""
    taken = {n: owner for owner, e in record["notebooks"].items() for n in e.get("numbers", {})}
    taken |= {output: entry["notebook"] for output, entry in record["outputs"].items()}
    for one in wanted:
        if taken.get(one, name) != name:
            raise ValueError(f"{one} is already published by {taken[one]}")


def adopt(
    staged: Path,
    root: Path,
    name: str,
    origin: dict,
    gone: Iterable[str] = (),
    fresh: bool = False,
) -> None:
    """Move what notebook `name` has published below `staged` to `root`, in place of its last run
    or of notebooks that are `gone`.

    With the same code and parameters (`origin` has their hashes) a file stays if its numbers agree
    up to rounding and their own error: on another processor nothing changes, unless it is `fresh`.
    """
    new = of_notebook(read(staged), name)
    outputs, said = new["outputs"], new["notebook"] | origin
    with changing(root) as record:
        for other in set(gone) & record["notebooks"].keys():
            for number in said.get("numbers", {}):
                record["notebooks"][other].get("numbers", {}).pop(number, None)
            for output in outputs.keys() & of_notebook(record, other)["outputs"].keys():
                record["outputs"][output]["notebook"] = name
        refuse_clashes(record, name, [*outputs, *said.get("numbers", {})])
        old = of_notebook(record, name)
        _remove(root, record, old["outputs"].keys() - outputs.keys())
        same = not fresh and all(old["notebook"].get(key) == said.get(key) for key in ORIGIN)
        for output, entry in outputs.items():
            kept, made = (place / "figures" / output for place in (root, staged))
            had = old["outputs"].get(output, {}).get("files", {}) if same else {}
            stay = _only_rounded(kept, made, had, entry["files"])
            for ending in entry["files"].keys() - stay:
                write(Path(f"{kept}{ending}"), Path(f"{made}{ending}").read_bytes())
            entry["files"] |= {ending: had[ending] for ending in stay}
            record["outputs"][output] = entry
        if not same or any(map(moved, frames(old["notebook"]), frames(said))):
            record["notebooks"][name] = said


def forget(root: Path, gone: Iterable[str]) -> list[str]:
    """Remove the outputs, findings and numbers of notebooks that are no more; what these are."""
    with changing(root) as record:
        removed = [output for name in gone for output in of_notebook(record, name)["outputs"]]
        _remove(root, record, removed)
        for name in gone:
            del record["notebooks"][name]
    return removed


def _remove(root, record, outputs):
    figures = root / "figures"
    for output in outputs:
        for ending in record["outputs"].pop(output)["files"]:
            path = figures / f"{output}{ending}"
            # a link to a folder elsewhere is somebody's
            if path.parent.resolve().is_relative_to(figures.resolve()):
                path.unlink(missing_ok=True)


def _only_rounded(kept, made, had, has):
    """The endings of published files that are whole and, up to rounding, what was made now; a
    picture is if the numbers are."""
    if had != {ending: hashed(Path(f"{kept}{ending}")) for ending in has}:
        return set()
    rounded = had[".csv"] != has[".csv"]
    if rounded and moved(*(pd.read_csv(f"{path}.csv") for path in (kept, made))):
        return set()
    lines = (Path(f"{path}.tex").read_text(encoding="utf-8").splitlines() for path in (kept, made))
    same = had[".tex"] == has[".tex"] or (rounded and _same_rows(*lines))
    return has.keys() - (set() if same else {".tex"})


def _same_rows(kept, made):
    """Whether lines of TeX are the same, but for the last digits of a table's numbers."""
    for line, other in zip_longest(kept, made, fillvalue=""):
        x, y = (re.split(r"(\d+(?:\.\d+)?)", text) for text in (line, other))
        pairs = zip(x[1::2], y[1::2], strict=False)
        near = (
            abs(float(a) - float(b)) < 1.5 * 10.0 ** -len(a.partition(".")[2]) for a, b in pairs
        )
        row = line.endswith(r"\\") and x[::2] == y[::2] and all(near)
        # it has the width, in which every digit counts
        if not (row or line == other or line.startswith(r"\begin{lrbox}")):
            return False
    return True


def hashed(path: Path) -> str:
    """The hash of a file; "" if it is missing."""
    return digest(path.read_bytes()) if path.is_file() else ""


def moved(kept: pd.DataFrame, fresh: pd.DataFrame) -> str:
    """The first column whose numbers have moved, or "": by a relative 1e-9 and by their numerical
    error (of x, that of `x_error`; of `regret`, of `error`) they may, errors by a factor of two."""
    if list(kept.columns) != list(fresh.columns) or len(kept) != len(fresh):
        return "columns or rows"
    for column in kept.columns:
        a, b = kept[column], fresh[column]
        same, kinds = (a == b) | (a.isna() & b.isna()), {a.dtype.kind, b.dtype.kind}
        if "f" in kinds and kinds <= set("fiub"):
            size = np.maximum(a.abs(), b.abs())
            allowed, error = TOLERANCE * size, "error" if column == "regret" else f"{column}_error"
            if column == "error" or column.endswith("_error"):
                allowed = np.maximum(size / 2, 1e-12)
            elif error in kept:
                allowed = allowed + kept[error] + fresh[error]
            same |= np.isfinite(a) & np.isfinite(b) & ((a - b).abs() <= allowed)
        if not same.all():
            return column
    return ""


def frames(said):
    """A notebook's findings and its numbers as frames whose errors `moved` knows."""
    numbers = [{"name": name} | number for name, number in said.get("numbers", {}).items()]
    for rows in (said.get("findings", []), numbers):
        frame = pd.DataFrame(rows).rename(columns={"error": "se", "numerical_error": "value_error"})
        reals = frame.columns.intersection(["value", "se", "value_error", "low", "high"])
        yield frame.astype(dict.fromkeys(reals, float))
