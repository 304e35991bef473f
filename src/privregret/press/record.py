"""The manifest, `figures/manifest.json`: read it, change it, adopt what a notebook has published.

It holds, for every figure and table, the notebook, parameters and sources behind it and a hash of
each of its files; and every notebook's findings and numbers.
"""

import json
from collections.abc import Iterable
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from privregret.files import digest, locked, write
from privregret.press import drift

KINDS = {"figure": (".pdf", ".png", ".csv", ".tex"), "table": (".csv", ".tex")}


class Damaged(ValueError):
    """A manifest that cannot be used."""

    def __init__(self, root: Path):
        path = root / "figures" / "manifest.json"
        super().__init__(f"{path} is damaged: restore it by git, or remove it and all runs again")


def read(root: Path) -> dict:
    """The manifest of the outputs below `root`; one of nothing if there is none.

    Raises
    ------
    Damaged
        If it is no manifest.
    """
    try:
        record = json.loads((root / "figures" / "manifest.json").read_text(encoding="utf-8"))
        record["notebooks"].keys() | record["outputs"].keys()
        return record
    except FileNotFoundError:
        return {"notebooks": {}, "outputs": {}}
    except (ValueError, TypeError, KeyError, AttributeError, OSError):
        raise Damaged(root) from None


def still(root: Path):
    """A context in which no other process writes below `root`."""
    return locked(root / "figures" / ".lock")


@contextmanager
def changing(root: Path):
    """The manifest below `root`, to change it while no other process does."""
    with still(root):
        record = read(root)
        yield record
        text = json.dumps(record, indent=1, sort_keys=True) + "\n"
        write(root / "figures" / "manifest.json", text.encode())


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


def adopt(staged: Path, root: Path, name: str, origin: dict) -> None:
    """Move what notebook `name` has published below `staged` to `root`, in place of its last run.

    A published output stays as it is if its numbers agree with the new ones to within rounding and
    their own error, and nothing else about it changed: on another processor no file changes.

    Parameters
    ----------
    origin : dict
        What else the outputs depend on: hashes of the notebook's code and of the lock.
    """
    new = of_notebook(read(staged), name)
    outputs, said = new["outputs"], new["notebook"]
    with changing(root) as record:
        refuse_clashes(record, name, [*outputs, *said.get("numbers", {})])
        had = of_notebook(record, name)["outputs"]
        for gone in had.keys() - outputs.keys():
            del record["outputs"][gone]
            for ending in KINDS[had[gone]["kind"]]:
                (root / "figures" / f"{gone}{ending}").unlink(missing_ok=True)
        for output, entry in outputs.items():
            entry |= origin
            paths = [place / "figures" / output for place in (root, staged)]
            if output in had and _says_the_same(output, paths, had[output], entry):
                entry |= {k: had[output][k] for k in ("files", "versions") if k in had[output]}
            else:
                for ending in entry["files"]:
                    write(Path(f"{paths[0]}{ending}"), Path(f"{paths[1]}{ending}").read_bytes())
            record["outputs"][output] = entry
        before = record["notebooks"].get(name, {})
        record["notebooks"][name] = said if drift.record_difference(before, said) else before


_ORIGIN = ("parameters", "sources", "code", "lock")


def _says_the_same(output, paths, old, new):
    """Whether a published output is whole and differs from the new one by rounding at most."""
    had, has = old.get("files", {}), new["files"]
    for ending, hashed in had.items():
        path = Path(f"{paths[0]}{ending}")
        if not path.is_file() or digest(path.read_bytes()) != hashed:
            return False
    if had.keys() != has.keys() or drift.first_difference(
        output, *(pd.read_csv(f"{path}.csv") for path in paths)
    ):
        return False
    looks_the_same = all(had.get(ending) == has.get(ending) for ending in (".png", ".tex"))
    return looks_the_same or all(old.get(key) == new[key] for key in _ORIGIN)
