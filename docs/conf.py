"""Settings of the site. `make site` collects its sources in build/source, in the same folders."""

import json
from importlib.util import find_spec
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref

import privregret
from privregret.press.papers import OURS, PAPERS

project = html_title = "privregret"
release = version = privregret.__version__
html_theme = "pydata_sphinx_theme"
# MathJax, so that formulas need no network
static = find_spec("sphinx-mathjax-offline").submodule_search_locations[0] + "/static"
html_static_path, html_css_files, mathjax_path = (
    ["_static", static],
    ["site.css"],
    "mathjax/tex-chtml.js",
)
# notebooks say what to read next
html_theme_options = {"show_prev_next": False}
# no sidebar beside wide tables, and none that is empty
html_sidebars = {name: [] for name in ("index", "figures/**", "docs/course")}
# summaries of search results would need a server
html_show_search_summary = html_show_sourcelink = html_copy_source = False

extensions = ["myst_nb"]
extensions += [f"sphinx.ext.{name}" for name in ("autodoc", "autosummary", "mathjax", "napoleon")]
# README.md and docs/index.md, one after the other
root_doc = "index"
exclude_patterns = ["README.md", "docs/index.md"]
# a notebook's mark of its end; attributes of one name
suppress_warnings = ["mystnb.unknown_mime_type", "ref.python"]

nb_execution_mode = "off"
nb_render_markdown_format = "myst"
myst_enable_extensions = ["amsmath", "dollarmath", "html_image"]
# $$x$$ right below a line of text
myst_dmath_double_inline = True
myst_heading_anchors = 3
# formulas in tables that notebooks show
myst_mathjax_classes = "math|text_html"
mathjax3_config = {"tex": {"inlineMath": [["$", "$"], ["\\(", "\\)"]]}}

# `name` in a docstring links to what is documented
default_role = "py:obj"
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_member_order = "bysource"
# what overrides a method is documented there, and numpy documents numpy
autodoc_inherit_docstrings = False
autodoc_typehints = "none"
# fields of a NamedTuple are members already
napoleon_use_ivar = True


FOLD = "<details class='referee'><summary>Every claim, tested</summary>", "</details>"
NOTEBOOKS = """
~~~{toctree}
:caption: %s
:glob:
:maxdepth: 1

../notebooks/%s/*
~~~
"""
nb_code_prompt_show, nb_code_prompt_hide = "Code", "Hide the code"


def setup(app):
    """Adapt what is written for GitHub, for JupyterLab and for terminals."""
    app.connect("source-read", _with_outputs)
    app.connect("source-read", _with_notebooks)
    app.connect("doctree-read", _adapt)
    app.connect("autodoc-process-docstring", _keep_bars)


def _with_outputs(app, name, content):
    """Give the cells of a notebook the outputs of its last run, if their sources are the same."""
    run = Path(app.confdir).parent / "build" / f"{name}.ipynb"
    if not name.startswith("notebooks/") or not run.is_file():
        return
    book = json.loads(content[0])
    made = {c["id"]: c for c in json.loads(run.read_text("utf8"))["cells"] if "outputs" in c}
    for cell in book["cells"]:
        ran = made.get(cell["id"])
        if ran and "".join(ran["source"]) == "".join(cell["source"]):
            cell["outputs"], cell["execution_count"] = ran["outputs"], ran["execution_count"]
    content[0] = json.dumps(book)


def _with_notebooks(app, name, content):
    """List the notebooks of each paper, then our own."""
    if name == "docs/notebooks":
        heads = [(f"{paper.authors} ({paper.year})", key) for key, paper in PAPERS.items()]
        heads.append(("Our own theorems and comparisons", OURS))
        content[0] += "".join(NOTEBOOKS % head for head in heads)


def _adapt(app, tree):
    """Fold what is for the referee; read $`x`$ as a formula; show links to files that are not on
    the site as text."""
    for section in tree.findall(nodes.section):
        # as JupyterLab does
        if "for the referee" in section["names"]:
            title, *rest = section.children
            opened, closed = (nodes.raw("", tag, format="html") for tag in FOLD)
            section.children = [title, opened, *rest, closed]
    for formula in tree.findall(nodes.math):
        formula.children = [nodes.Text(formula.astext().strip("`"))]
    folder = (app.confdir.parent / app.env.docname).parent
    for link in list(tree.findall(pending_xref)):
        if link["reftype"] == "myst" and (folder / link["reftarget"]).exists():
            link.replace_self(link.children)


def _keep_bars(app, what, name, obj, options, lines):
    """Escape |x|, which reStructuredText would replace."""
    lines[:] = [line.replace("|", r"\|") for line in lines]
