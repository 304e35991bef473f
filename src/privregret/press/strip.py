"""What git keeps of a notebook: its cells as they are written, nothing of a run or of a front end.

A filter from stdin to stdout, which `make` sets up (see .gitattributes). git calls it for each
notebook whose file has changed, so it starts fast: the standard library only, and nothing of this
package.
"""

import json
import os
import sys
from contextlib import suppress

HIDDEN = {"check", "publish"}  # tags of cells whose source JupyterLab folds
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def stripped(text: str) -> str:
    """A notebook's JSON without outputs, counts and empty cells at its end, and with tags for its
    only metadata.

    What a tag says is to be folded is marked so, for JupyterLab."""
    notebook = json.loads(text)
    cells = notebook["cells"]
    while (
        cells and not cells[-1]["source"]
    ):  # running the last cell by Shift+Enter leaves one behind
        cells.pop()
    for cell in cells:
        tags = cell["metadata"].get("tags", [])
        cell["metadata"] = {"tags": tags} if tags else {}
        if HIDDEN.intersection(tags):
            cell["metadata"]["jupyter"] = {"source_hidden": True}
        if cell["cell_type"] == "code":
            cell |= {"execution_count": None, "outputs": []}
    notebook["metadata"] = METADATA
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def saved(os_path: str, **_) -> None:
    """For JupyterLab to call after it saved a file: have git look at it, if only what it strips has
    changed.

    git takes a file whose length has changed for modified, whatever the filter says, until it is
    added again. Nothing is staged by that here, since the file is as it was.
    """
    import subprocess  # here, since the filter needs none of it

    folder, name = os.path.split(os_path)
    with suppress(OSError):  # no git
        if not subprocess.run(
            ["git", "diff", "--quiet", "--", name], cwd=folder, capture_output=True
        ).returncode:
            subprocess.run(["git", "add", "--update", "--", name], cwd=folder, capture_output=True)


if __name__ == "__main__":
    content = sys.stdin.buffer.read()
    with suppress(
        ValueError, LookupError, TypeError, AttributeError
    ):  # no notebook, or a damaged one: kept as it is
        content = stripped(content.decode()).encode()
    sys.stdout.buffer.write(content)
