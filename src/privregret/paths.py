"""Where things are, whatever the working directory (JupyterLab and papermill disagree about that)."""

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
ROOT = PACKAGE.parents[1]
NOTEBOOKS = ROOT / "notebooks"
BUILD = ROOT / "build"


def output_root() -> Path:
    """Folder that holds the `figures/` and `paper/` being written.

    The project's own root, unless the batch command has set `PRIVREGRET_OUTPUT` to stage a run.
    """
    return Path(os.environ.get("PRIVREGRET_OUTPUT") or ROOT)
