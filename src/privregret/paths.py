"""Where things are, whatever the working directory (JupyterLab and papermill disagree about that)."""

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
ROOT = PACKAGE.parents[1]
NOTEBOOKS = ROOT / "notebooks"
BUILD = ROOT / "build"
LAB = BUILD / "lab"
CHECKOUT = PACKAGE.parent.name == "src" and NOTEBOOKS.is_dir()  # else the package was installed without notebooks


def output_root() -> Path:
    """Folder that holds the `figures/` and `paper/` being written.

    Where the batch command says (`PRIVREGRET_OUTPUT`); else `build/lab`, so that a notebook run by hand never touches
    what is published. Outside a checkout of the project, the current folder.
    """
    if os.environ.get("PRIVREGRET_OUTPUT"):
        return Path(os.environ["PRIVREGRET_OUTPUT"])
    return LAB if CHECKOUT else Path.cwd()
