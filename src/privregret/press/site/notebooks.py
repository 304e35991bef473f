"""Notebooks as Sphinx reads them: short, with what they have published in place of its making."""

import ast
import math
import re

import nbformat

from privregret.press.notebook import END
from privregret.press.record import KINDS
from privregret.press.site import tex

WIDGET = "application/vnd.jupyter.widget-view+json"
MOVES = "*Here is something to turn: it moves in JupyterLab (`make lab`).*"


def heading(notebook) -> str:
    """Return the first line of a notebook, its title."""
    return notebook.cells[0].source.partition("\n")[0].lstrip("# ")


def staged(notebook, outputs: dict, findings: list[dict], shown, relink):
    """Return a notebook whose publishing cells are followed by what the manifest says of them.

    Parameters
    ----------
    notebook : nbformat node
        With or without outputs.
    outputs, findings
        What the notebook has published: name -> entry of the manifest; rows.
    shown : callable
        Name of an output, or a finding -> MyST.
    relink : callable
        Markdown -> Markdown with the links that the site has.
    """
    calls = _calls(notebook, outputs, findings)
    cells, left = [], [f for f in findings if not any(f in found for found in calls.values())]
    for number, cell in enumerate(notebook.cells):
        cell.metadata = {"tags": list(cell.metadata.get("tags", []))}
        if cell.cell_type == "markdown":
            cell.source = relink(cell.source)
        elif "check" in cell.metadata["tags"] or "notebook.end()" in cell.source:
            continue
        elif cell.cell_type == "code":
            if "parameters" not in cell.metadata["tags"]:
                cell.metadata["tags"].append("hide-input")
            published = number in calls
            cell.outputs = [] if published else [o for out in cell.outputs for o in _kept(out)]
            if cells and _folded(cells[-1]) and _folded(cell):  # one box for both
                cell.source = f"{cells.pop().source}\n\n{cell.source}"
        cells.append(cell)
        cells += [_markdown(shown(one)) for one in calls.get(number, [])]
    if left:
        cells.append(_markdown("## More findings"))
        cells += [_markdown(shown(one)) for one in left]
    notebook.cells = cells
    notebook.metadata = {k: notebook.metadata[k] for k in ("kernelspec", "language_info")}
    return notebook


def _folded(cell):
    """Whether a cell shows nothing but a box that opens."""
    return cell.cell_type == "code" and "hide-input" in cell.metadata["tags"] and not cell.outputs


def _markdown(text):
    return nbformat.v4.new_markdown_cell(text)


def _calls(notebook, outputs, findings):
    """Number of a code cell -> the outputs (names) and findings that its calls have published."""
    calls = []
    for number, cell in enumerate(notebook.cells):
        for call in ast.walk(ast.parse(cell.source)) if cell.cell_type == "code" else ():
            match call:
                case ast.Call(ast.Attribute(ast.Name("publish"), "finding"), [*said]):
                    calls.append((number, call.lineno, "\n".join(map(_pattern, said[:3]))))
                case ast.Call(ast.Attribute(ast.Name("publish"), k), [_, name, *_]) if k in KINDS:
                    calls.append((number, call.lineno, _pattern(name)))
    rows = {f"{row['place']}\n{row['claim']}\n{row['quantity']}": row for row in findings}
    taken, cell, made = set(), {}, {}
    calls.sort(key=lambda call: -len(call[2]))  # the most literal ones first
    for number, line, pattern in calls:
        for key in rows if "\n" in pattern else outputs:
            if key not in taken and re.fullmatch(pattern, key, re.S):
                taken.add(key)
                cell[key] = number
                made.setdefault(number, []).append((line, len(taken), rows.get(key, key)))
    for key, row in rows.items():  # published by a helper: below the figure that shows it
        if key not in taken and row["figure"] in cell:
            made[cell[row["figure"]]].append((math.inf, len(taken), row))
    return {
        number: [one for *_, one in sorted(found, key=lambda f: f[:2])]
        for number, found in made.items()
    }


def _pattern(node):
    """A regular expression for the values of an expression of strings."""
    match node:
        case ast.Constant(str(text)):
            return re.escape(text)
        case ast.JoinedStr(parts):
            return "".join(map(_pattern, parts))
        case ast.BinOp(left, ast.Add(), right):
            return _pattern(left) + _pattern(right)
    return ".*"


def _kept(output):
    """An output as readers of the page need it: in a list, which is empty if they do not."""
    data = output.get("data", {})
    if END in data or data.get("text/plain", "").startswith("Finding("):
        return []
    if WIDGET in data:
        return [nbformat.v4.new_output("display_data", {"text/markdown": MOVES})]
    if 'class="dataframe"' in data.get("text/html", ""):  # it has TeX in its cells
        output.data = {"text/html": tex.words(data["text/html"])}
    elif output.output_type == "stream":
        output.text = re.sub(r"\S*/ipykernel_\d+/\d+\.py:", "cell, line ", output.text)
    return [output]
