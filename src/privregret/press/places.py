"""Paths of notebooks and of their outputs, independent of the working directory.

A root is a folder with `figures/` and `paper/`. Its `build/` holds the stamps, the executed and the
failed notebooks of its runs.
"""

import os
import re
from pathlib import Path

from privregret.files import CHECKOUT, ROOT, digest

NOTEBOOKS = ROOT / "notebooks"
BUILD = ROOT / "build"


def custom(parameters: dict) -> Path:
    """Return the root for runs with these parameters; its name lists them.

    Examples
    --------
    >>> custom({"runs": 5}).name, custom({"runs": 5, "epsilons": [0.5, 1]}).name
    ('runs=5', 'epsilons=0.5,1,runs=5-51080cbf')
    """
    said = ",".join(f"{name}={value}" for name, value in sorted(parameters.items()))
    safe = re.sub(r"[^\w.,=+-]+", "", said, flags=re.ASCII)[:80]
    return BUILD / "custom" / (safe if safe == said else f"{safe}-{digest(said.encode())[:8]}")


def output_root() -> Path:
    """Return the root to which a notebook publishes.

    The batch command sets it (`PRIVREGRET_OUTPUT`). A notebook run by hand publishes to
    `build/lab`, and never changes `figures/`; outside a checkout, to the current folder.
    """
    if os.environ.get("PRIVREGRET_OUTPUT"):
        return Path(os.environ["PRIVREGRET_OUTPUT"])
    return BUILD / "lab" if CHECKOUT else Path.cwd()
