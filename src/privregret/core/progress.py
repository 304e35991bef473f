"""Show progress on a terminal, in JupyterLab and in VS Code; lines of a long program elsewhere."""

import os
import sys
import time
from collections.abc import Iterable

from tqdm.auto import tqdm

QUIET = 10  # seconds without a line


def has_front_end() -> bool:
    """Return whether a front end that shows widgets is connected to this process."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None or os.environ.get("PRIVREGRET_OUTPUT"):
        return False
    # a Jupyter server names the session of an interactive kernel; VS Code sets a variable
    return "JPY_SESSION_NAME" in os.environ or "__vsc_ipynb_file__" in shell.user_ns


def progress(iterable: Iterable | None, total: int) -> tqdm:
    """Show a progress bar, at once on a terminal, after one second in a front end."""
    terminal = sys.stderr.isatty()
    delay, shown = 0 if terminal else 1, terminal or has_front_end()
    return tqdm(iterable, total=total, leave=False, delay=delay, disable=not shown)


def finished(bar: tqdm, what: str, begun: float) -> None:
    """Say what is finished in a line, in a program without a bar that runs for `QUIET` seconds."""
    seconds = time.monotonic() - begun
    notebook = "IPython" in sys.modules and sys.modules["IPython"].get_ipython()
    if bar.disable and not notebook and seconds > QUIET:
        print(f"{what} after {seconds:.0f} s", file=sys.stderr, flush=True)
