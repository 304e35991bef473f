"""What JupyterLab does after it saved a file, when `make lab` starts it."""

import os
import subprocess
from contextlib import suppress


def look_again(os_path, **_):
    """Have git look at a notebook of which only what the filter strips has changed.

    git takes a file of another length for modified, whatever the filter says, until it is added
    again. Nothing is staged by that here.
    """
    folder, name = os.path.split(os_path)
    with suppress(OSError):  # no git
        same = subprocess.run(["git", "diff", "--quiet", "--", name], cwd=folder)
        if same.returncode == 0:
            subprocess.run(["git", "add", "--update", "--", name], cwd=folder)


c.FileContentsManager.post_save_hook = look_again  # noqa: F821
