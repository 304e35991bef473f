"""Where notebooks are and what they publish goes, whatever the working directory."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from privregret.files import CHECKOUT, ROOT, digest

NOTEBOOKS = ROOT / "notebooks"
BUILD = ROOT / "build"
LAB = BUILD / "lab"


@dataclass(frozen=True)
class Place:
    """A folder with `figures/` and `paper/`, and that of its stamps and executed notebooks."""

    root: Path
    build: Path

    def stamp(self, name: str) -> Path:
        return self.build / "stamps" / f"{name}.json"

    def executed(self, name: str) -> Path:
        return self.build / "notebooks" / f"{name}.ipynb"

    def failed(self, name: str) -> Path:
        return self.build / "failed" / f"{name}.ipynb"

    def staged(self, name: str) -> Path:
        return self.build / "partial" / name


PROJECT = Place(ROOT, BUILD)


def apart(folder: Path) -> Place:
    """A place of its own, from which nothing is published."""
    return Place(folder, folder)


def custom(parameters: dict) -> Place:
    """The place of runs with these parameters; its folder says which.

    Examples
    --------
    >>> custom({"runs": 5}).root.name, custom({"runs": 5, "epsilons": [0.5, 1]}).root.name
    ('runs=5', 'epsilons=0.5,1,runs=5-51080cbf')
    """
    said = ",".join(f"{name}={value}" for name, value in sorted(parameters.items()))
    safe = re.sub(r"[^\w.,=+-]+", "", said, flags=re.ASCII)[:80]
    return apart(
        BUILD / "custom" / (safe if safe == said else f"{safe}-{digest(said.encode())[:8]}")
    )


def output_root() -> Path:
    """Folder that holds the `figures/` and `paper/` being written.

    Where the batch command says (`PRIVREGRET_OUTPUT`); else `build/lab`, so that a notebook run by
    hand never touches what is published. Outside a checkout of the project, the current folder.
    """
    if os.environ.get("PRIVREGRET_OUTPUT"):
        return Path(os.environ["PRIVREGRET_OUTPUT"])
    return LAB if CHECKOUT else Path.cwd()
