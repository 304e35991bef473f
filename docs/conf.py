"""Settings of the site. `make site` collects its sources in build/source, in the same folders."""

import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes

import privregret

project = html_title = "privregret"
author = "the privregret authors"
release = version = privregret.__version__
html_show_copyright = html_show_sphinx = html_show_sourcelink = html_copy_source = False
# it would need a server
html_show_search_summary = False
html_theme = "pydata_sphinx_theme"
html_theme_options = {"show_toc_level": 2, "navigation_with_keys": False}

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
]
root_doc = "docs/index"
exclude_patterns = ["README.md"]
# a notebook's mark of its end; attributes of one name
suppress_warnings = ["mystnb.unknown_mime_type", "ref.python"]

nb_execution_mode = "off"
nb_merge_streams = True
nb_render_markdown_format = "myst"
myst_enable_extensions = ["amsmath", "dollarmath", "html_image"]
myst_heading_anchors = 3
# formulas in tables that notebooks show
myst_mathjax_classes = "math|text_html"
mathjax3_config = {"tex": {"inlineMath": [["$", "$"], ["\\(", "\\)"]]}}

# `name` in a docstring links to what is documented
default_role = "py:obj"
napoleon_google_docstring = False
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_member_order = "bysource"
# what overrides a method is documented there, and numpy documents numpy
autodoc_inherit_docstrings = False
autodoc_preserve_defaults = True
autodoc_typehints = "none"


def setup(app):
    """Adapt what is written for GitHub, JupyterLab and terminals."""
    app.connect("source-read", _fold)
    app.connect("doctree-read", _adapt)
    app.connect("autodoc-process-docstring", _keep_bars)


def _fold(app, name, text):
    """Hide the cells that JupyterLab hides."""
    text[0] = re.sub(r'"check"(?=\s*\])', '"hide-input"', text[0])


def _adapt(app, tree):
    """Read $`x`$ as a formula; show links to files that are not on the site as text."""
    for formula in tree.findall(nodes.math):
        formula.children = [nodes.Text(formula.astext().strip("`"))]
    folder = (Path(app.confdir).parent / app.env.docname).parent
    for link in list(tree.findall(addnodes.pending_xref)):
        path = link["reftarget"].partition("#")[0]
        if link["reftype"] == "myst" and path and (folder / path).exists():
            link.replace_self(link.children)


def _keep_bars(app, what, name, obj, options, lines):
    """Escape |x|, which reStructuredText would replace."""
    lines[:] = [line.replace("|", r"\|") for line in lines]
