"""Where notebooks are and what they publish goes, whatever the working directory."""

import os
from pathlib import Path

from privregret.files import CHECKOUT, ROOT

NOTEBOOKS = ROOT / "notebooks"
BUILD = ROOT / "build"
LAB = BUILD / "lab"


def output_root() -> Path:
    """Folder that holds the `figures/` and `paper/` being written.

    Where the batch command says (`PRIVREGRET_OUTPUT`); else `build/lab`, so that a notebook run by hand never touches
    what is published. Outside a checkout of the project, the current folder.
    """
    if os.environ.get("PRIVREGRET_OUTPUT"):
        return Path(os.environ["PRIVREGRET_OUTPUT"])
    return LAB if CHECKOUT else Path.cwd()
