"""What git keeps of a notebook, from stdin to stdout: sources and tags.

Sources that no page shows at once are closed, and what is for the referee is folded. `make` copies
this file into .git, where no branch that is checked out changes it. It needs nothing but Python.
"""

import json
import re
import sys

METADATA = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    },
    # without these `nbconvert --to script` writes a .txt without prose
    "language_info": {
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
    },
}

# tags by which the site does not show a source, or only at a click
CLOSED = {"remove-cell", "remove-input", "hide-input"}

# the lines that this writes, and the marks of a conflict: no output has such keys, and its texts
# stand further to the right
LINE = re.compile(
    r"""(<{7}|\|{7}|={7}|>{7})([ ].*)?
    |[ ]*[][{}]*,?
    |[ ]{4,5}"([^"\\]|\\.)*",?
    |[ ]{,5}"(cells|source|tags)":[ ]\[
    |[ ]{,5}"(jupyter|kernelspec|language_info|metadata)":[ ]\{(\},)?
    |[ ]{,5}"(execution_count":[ ]null|outputs":[ ]\[\]|source_hidden":[ ]true),?
    |[ ]{,5}"jp-MarkdownHeadingCollapsed":[ ]true,?
    |[ ]{,5}"(cell_type|display_name|file_extension|id|language)":[ ]"[^"\\]{,64}",?
    |[ ]{,5}"(mimetype|name|nbconvert_exporter)":[ ]"[^"\\]{,64}",?
    |[ ]{,5}"nbformat(_minor)?":[ ]\d,?""",
    re.X,
)


def stripped(cell):
    """The cell without outputs, counts, and what editors add to its metadata."""
    tags = cell.get("metadata", {}).get("tags") or []
    metadata = {"tags": tags} if tags else {}
    if CLOSED.intersection(tags):  # a click shows them
        metadata["jupyter"] = {"source_hidden": True}
    if "referee" in tags:  # a heading: JupyterLab folds all below it
        metadata["jp-MarkdownHeadingCollapsed"] = True
    fields = {key: cell[key] for key in ("cell_type", "id", "attachments") if cell.get(key)}
    fields.update(source="".join(cell["source"]).splitlines(True), metadata=metadata)
    return {**fields, "execution_count": None, "outputs": []} if "outputs" in cell else fields


def main():
    data = sys.stdin.buffer.read()
    try:
        book = json.loads(data)  # in any encoding of Unicode
        sources = {name: int(book[name]) for name in ("nbformat", "nbformat_minor")}
        sources["cells"] = [stripped(c) for c in book["cells"] if "".join(c["source"]).strip()]
        sources["metadata"] = METADATA
        if book["metadata"].get("kernelspec", {}).get("language", "python") != "python":
            sources["metadata"] = {key: book["metadata"].get(key, {}) for key in METADATA}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        # git must be able to show one with the marks of a conflict
        lines = data.decode("utf-8", "replace").split("\n")
        if not all(map(LINE.fullmatch, lines)):
            sys.exit("no notebook of format 4, and it may have outputs: remove them, or repair it")
    else:
        text = json.dumps(sources, ensure_ascii=False, indent=1, sort_keys=True)
        # half a pair of UTF-16 stays escaped
        data = (text + "\n").encode("utf-8", "backslashreplace")
    sys.stdout.buffer.write(data)


if __name__ == "__main__":
    main()
