"""Notebooks as pages: nbconvert's HTML without its scripts, pictures and captions tied to their own
pages."""

import base64
import re
from functools import cache
from pathlib import Path

from nbconvert import HTMLExporter, TemplateExporter
from nbconvert.filters.highlight import Highlight2HTML

from privregret import files
from privregret.press.notebook import END
from privregret.press.site import tex

TEMPLATE = Path(__file__).parent / "templates" / "notebook.html.j2"
SHOWN = ["text/html", "text/markdown", "image/svg+xml", "image/png", "text/plain"]
WIDGET = "application/vnd.jupyter.widget-view+json"
CAPTION = re.compile(r"\*([a-z0-9]+/[a-z0-9.-]+)\.\* ")


def heading(notebook) -> str:
    """The first line of a notebook, its title."""
    return notebook.cells[0].source.partition("\n")[0].lstrip("# ")


def body(notebook, outputs: dict, names: set[str]) -> tuple[str, list[str]]:
    """The cells of a notebook as HTML, for a page two folders below the site's root; and the
    outputs shown, in order.

    Parameters
    ----------
    notebook : nbformat node
    outputs : dict
        The published outputs: name -> entry of the manifest. Their pictures are not embedded but
        shown from `figures/`.
    names : set of str
        Notebooks that have a page; links to them lead there.
    """
    pictures = {entry["files"].get(".png"): name for name, entry in outputs.items()}
    met = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [
                o for output in cell.outputs for o in _shown(output, pictures, outputs, met)
            ]
    page = TemplateExporter.from_notebook_node(_exporter(), notebook)[
        0
    ]  # HTMLExporter's own parses the page once more

    def link(found):
        """To a page if there is one; what is in the project but not among the pages is left as
        words."""
        path = re.fullmatch(r"\.\./([a-z0-9]+/[^/#]+)\.ipynb", found[1])
        if path and path[1] in names:
            return f'<a href="../{path[1]}.html">{found[2]}</a>'
        return found[0] if found[1].startswith("../../figures/") else found[2]

    return re.sub(r'<a href="(\.\./[^"]*)">(.*?)</a>', link, page, flags=re.S), met


@cache
def _exporter():
    exporter = HTMLExporter(
        template_name="basic", template_file=str(TEMPLATE), exclude_anchor_links=True
    )
    exporter.exclude_input_prompt = exporter.exclude_output_prompt = True
    exporter.config.NbConvertBase.display_data_priority = SHOWN
    exporter.register_filter("highlight_code", Highlight2HTML(pygments_lexer="ipython3"))
    return exporter


def _shown(output, pictures, outputs, met):
    """An output as readers of the page need it: in a list, which is empty if they do not."""
    data = output.get("data", {})
    if END in data or data.get("text/plain", "").startswith(
        "Finding("
    ):  # told already, in a sentence
        return []
    if WIDGET in data:
        output.data = {
            "text/markdown": "*Here is something to turn: it moves in JupyterLab (`make lab`).*"
        }
    elif "image/png" in data:
        name = pictures.get(files.digest(base64.b64decode(data["image/png"])))
        if name:
            width = output.metadata.get("image/png", {}).get("width", "")
            image = f'<img src="../../figures/{name}.png" width="{width}" alt="{name}, described below" loading="lazy">'
            output.data = {
                "text/html": f'<a class="picture" href="../../figures/{name}.html">{image}</a>'
            }
        else:
            output.metadata.setdefault("image/png", {}).setdefault(
                "alt", "a picture that is not among the published"
            )
    elif found := CAPTION.match(data.get("text/markdown", "")):
        name = found[1]
        if name in outputs and name not in met:
            met.append(name)
            link = f'<a class="caption" id="{name.split("/")[1]}" href="../../figures/{name}.html">*{name}.*</a> '
            output.data = {"text/markdown": link + tex.words(data["text/markdown"][found.end() :])}
    elif 'class="dataframe"' in data.get("text/html", ""):  # a published table has TeX in its cells
        output.data = {"text/html": tex.words(data["text/html"])}
    elif output.output_type == "stream":
        output.text = re.sub(r"\S*/ipykernel_\d+/\d+\.py:", "cell, line ", output.text)
    return [output]
