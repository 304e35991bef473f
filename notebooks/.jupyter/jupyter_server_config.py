"""What `make lab` sets: JupyterLab shows the whole clone, and begins in `notebooks/`; what it does
after it saved a file."""

import os
import subprocess
import warnings
from contextlib import suppress


def look_again(os_path, **_):
    """Have git look at a notebook of which only what the filter strips has changed.

    git takes a file of another length for modified, whatever the filter says, until it is added
    again. Nothing is staged by that here. If git cannot say, nothing is done.
    """
    folder, name = os.path.split(os_path)
    git = ["git", "-C", folder, "--literal-pathspecs"]
    with suppress(OSError):  # no git
        same = subprocess.run([*git, "diff", "--quiet", "--", name], stderr=subprocess.DEVNULL)
        if same.returncode == 0:
            subprocess.run([*git, "add", "--update", "--", name], stderr=subprocess.DEVNULL)


c.FileContentsManager.post_save_hook = look_again  # noqa: F821
# jupyter_server reads this setting twice
warnings.filterwarnings("ignore", "Overriding existing post_save_hook")
# so that the pictures in figures/ and the output in build/lab/ can be seen
c.ServerApp.root_dir = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: F821
c.FileContentsManager.preferred_dir = "notebooks"  # noqa: F821
