"""Settings of the site: `make site` stages these pages with those of the notebooks and figures."""

from pathlib import Path

import privregret

project = html_title = "privregret"
author = "the privregret authors"
html_show_copyright = html_show_sphinx = html_show_sourcelink = html_copy_source = False
release = version = privregret.__version__
language = "en"

extensions = [
    "myst_nb",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "privregret.press.site.extension",  # after autodoc, whose event it uses
]
templates_path = [str(Path(__file__).parent / "_templates")]  # autosummary looks in the source
exclude_patterns = ["**/*.inc"]

nb_execution_mode = "off"
nb_merge_streams = True
nb_render_markdown_format = "myst"  # outputs may contain formulas
nb_ipywidgets_js = {}  # their scripts would come from elsewhere
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_dmath_double_inline = True
myst_heading_anchors = 3
default_role = "py:obj"  # `name` in a docstring: code, and a link if it is documented
html_math_renderer = "mathml"

numpydoc_show_class_members = False
autodoc_preserve_defaults = True  # values such as ROOT are of one machine
autodoc_typehints = "none"  # docstrings have them, in words
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"

nb_code_prompt_show = nb_code_prompt_hide = "Code"

html_theme = "pydata_sphinx_theme"
html_context = {"default_mode": "auto"}
html_static_path = ["_static"]
html_css_files = ["fonts.css", "site.css"]
html_js_files = [("filter.js", {"defer": "defer"}), ("explore.js", {"defer": "defer"})]
html_additional_pages = {"search": "search.html"}
html_sidebars = {name: [] for name in ("index", "findings", "errata", "figures", "search")}
html_theme_options = {
    "collapse_navigation": True,
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["footer.html"],
    "footer_end": [],
    "show_toc_level": 2,
    "pygments_light_style": "default",
    "pygments_dark_style": "github-dark",
}
