"""What git keeps of a notebook, from stdin to stdout: sources and tags.

Cells that no page shows are closed. `make` copies this file into .git, where no branch that is
checked out changes it. It needs nothing but Python.
"""

import json
import sys

METADATA = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    },
    "language_info": {"name": "python"},
}


def kept(cell):
    """The cell without outputs, counts, and what editors add to its metadata."""
    source, tags = cell["source"], cell.get("metadata", {}).get("tags")
    found = {key: cell[key] for key in ("cell_type", "id", "attachments") if cell.get(key)}
    found["source"] = source.splitlines(True) if isinstance(source, str) else source
    found["metadata"] = {"tags": tags} if tags else {}
    if "remove-cell" in (tags or ()):  # imports and checks: a click shows them
        found["metadata"]["jupyter"] = {"source_hidden": True}
    return {**found, "execution_count": None, "outputs": []} if "outputs" in cell else found


def main():
    data = sys.stdin.buffer.read()
    try:
        book = json.loads(data.decode("utf-8-sig"))
        book["cells"] = [kept(c) for c in book["cells"] if "".join(c["source"]).strip()]
        if book["metadata"].get("kernelspec", {}).get("language", "python") == "python":
            book["metadata"] = METADATA
    except (ValueError, KeyError, TypeError, AttributeError):
        # git must be able to show one with the marks of a conflict
        if b'"output_type"' in data:
            sys.exit("no notebook of format 4, and it has outputs: remove them, or repair it")
    else:
        text = json.dumps(book, ensure_ascii=False, indent=1, sort_keys=True)
        data = (text + "\n").encode()
    sys.stdout.buffer.write(data)


main()
