"""What git keeps of a notebook: its cells as they are written, nothing of a run or of a front end.

A filter from stdin to stdout, which `make` sets up (see .gitattributes). git calls it for each notebook whose file has
changed, so it starts fast: the standard library only, and nothing of this package.
"""

import json
import sys

METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def stripped(text: str) -> str:
    """A notebook's JSON without outputs, counts and empty cells at its end, and with tags for its only metadata."""
    notebook = json.loads(text)
    cells = notebook["cells"]
    while cells and not cells[-1]["source"]:  # running the last cell by Shift+Enter leaves one behind
        cells.pop()
    for cell in cells:
        cell["metadata"] = {key: value for key, value in cell["metadata"].items() if key == "tags" and value}
        if cell["cell_type"] == "code":
            cell |= {"execution_count": None, "outputs": []}
    notebook["metadata"] = METADATA
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    content = sys.stdin.buffer.read()
    try:
        content = stripped(content.decode()).encode()
    except (ValueError, LookupError, TypeError, AttributeError):
        pass  # no notebook, or a damaged one: git keeps it as it is
    sys.stdout.buffer.write(content)
