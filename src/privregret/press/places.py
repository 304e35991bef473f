"""Where notebooks are and what they publish goes, whatever the working directory.

A root is a folder with `figures/` and `paper/`; its `build/` holds what runs leave besides: stamps,
executed and failed notebooks.
"""

import os
import re
from pathlib import Path

from privregret.files import CHECKOUT, ROOT, digest

NOTEBOOKS = ROOT / "notebooks"
BUILD = ROOT / "build"


def custom(parameters: dict) -> Path:
    """The root of runs with these parameters; its name lists them.

    Examples
    --------
    >>> custom({"runs": 5}).name, custom({"runs": 5, "epsilons": [0.5, 1]}).name
    ('runs=5', 'epsilons=0.5,1,runs=5-51080cbf')
    """
    said = ",".join(f"{name}={value}" for name, value in sorted(parameters.items()))
    safe = re.sub(r"[^\w.,=+-]+", "", said, flags=re.ASCII)[:80]
    return BUILD / "custom" / (safe if safe == said else f"{safe}-{digest(said.encode())[:8]}")


def output_root() -> Path:
    """Folder that holds the `figures/` and `paper/` being written.

    Where the batch command says (`PRIVREGRET_OUTPUT`); else `build/lab`, so that a notebook run by
    hand never touches what is published. Outside a checkout of the project, the current folder.
    """
    if os.environ.get("PRIVREGRET_OUTPUT"):
        return Path(os.environ["PRIVREGRET_OUTPUT"])
    return BUILD / "lab" if CHECKOUT else Path.cwd()
