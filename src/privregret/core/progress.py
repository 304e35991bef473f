"""Show progress on a terminal, in JupyterLab and in VS Code, and nowhere else."""

import os
import sys
from collections.abc import Iterable

from tqdm.auto import tqdm


def answers() -> bool:
    """Return whether a front end that shows widgets is connected to this process."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None or os.environ.get("PRIVREGRET_OUTPUT"):
        return False
    # a Jupyter server names the session of an interactive kernel; VS Code sets a variable
    return "JPY_SESSION_NAME" in os.environ or "__vsc_ipynb_file__" in shell.user_ns


def progress(iterable: Iterable | None, total: int) -> tqdm:
    """Show a progress bar after one second, on a terminal or in a front end."""
    shown = answers() or sys.stderr.isatty()
    return tqdm(iterable, total=total, leave=False, delay=1, disable=not shown)
