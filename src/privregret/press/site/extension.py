"""What Sphinx needs so that pages open from disk: formulas as MathML, a search without a server,
fonts inside the style sheet."""

import base64
import html
import json
import re

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging

from privregret.press.site import tex

LOG = logging.getLogger(__name__)
SKIPPED = (nodes.section, nodes.comment, nodes.literal_block, addnodes.desc, addnodes.toctree)
HIDDEN = re.compile(r'<(pre|form|script|table(?= class="numbers")|dl)\b.*?</\1>|<[^>]*>', re.S)


def setup(app):
    """Register the renderer and the events."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.connect("builder-inited", _no_index)
    app.connect("autodoc-process-docstring", _escape_bars, priority=400)  # before numpydoc
    app.connect("autodoc-skip-member", _skip)
    app.connect("doctree-read", _typeset)
    app.connect("build-finished", _finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(translator, node):
    translator.body.append(_formula(node, "inline"))
    raise nodes.SkipNode


def _block(translator, node):
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    translator.body.append(_formula(node, "block") + "</div>")
    raise nodes.SkipNode


def _formula(node, display):
    try:
        return tex.mathml(node.astext(), display)
    except Exception as error:  # the converter has many
        LOG.warning("no formula: %s (%r)", node.astext(), error, location=node)
        return html.escape(node.astext())


def _no_index(app):
    """Sphinx's own search needs a server for its excerpts."""
    app.builder.search = False


def _escape_bars(app, what, name, obj, options, lines):
    """In reStructuredText, |Y| is a substitution."""
    lines[:] = [line.replace("|", r"\|") for line in lines]


def _skip(app, what, name, obj, skip, options):
    """Fields of a NamedTuple are in its docstring."""
    return True if (obj.__doc__ or "").startswith("Alias for field number") else None


def _typeset(app, tree):
    """Draw the formulas of HTML; keep its words for the search."""
    for node in list(tree.findall(nodes.raw)):
        if node.get("format") == "html":
            text = HIDDEN.sub(" ", node.astext())
            node["words"] = tex.plain(html.unescape(text))
            node.children = [nodes.Text(tex.typeset(node.astext()))]


def _words(node):
    if isinstance(node, SKIPPED):
        return ""
    if isinstance(node, nodes.raw):
        return node.get("words", "")
    if isinstance(node, nodes.math | nodes.math_block):
        return tex.plain(f"${node.astext()}$")
    if isinstance(node, nodes.Text):
        return node.astext()
    inner = "".join(map(_words, node.children))
    return inner if isinstance(node, nodes.Inline) else f" {inner} "


def _records(env):
    """Page, anchor, title of the page, title, words: of each section and each documented name."""
    for name in sorted(env.found_docs):
        tree, title = env.get_doctree(name), _clean(_words(env.titles[name]))
        if name.startswith("figures/"):  # their sections are alike
            yield [name, "", title, title, _clean("".join(map(_words, tree.findall(nodes.raw))))]
            continue
        for section in tree.findall(nodes.section):
            first = section.parent is tree
            anchor = "" if first else section["ids"][0]
            text = "".join(map(_words, section.children[1:]))
            yield [name, anchor, title, _clean(_words(section[0])), _clean(text)]
        for described in tree.findall(addnodes.desc):
            if ids := described[0].get("ids"):
                text = "".join(map(_words, described.children[1:]))
                yield [name, ids[0], title, ids[0], _clean(text)]


def _clean(text):
    return re.sub(r"\s+", " ", text).strip()


def _finish(app, error):
    if error or app.builder.format != "html":
        return
    static, rows = app.outdir / "_static", list(_records(app.env))
    text = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    (static / "words.js").write_text(f"const WORDS = {text};\n", encoding="utf-8")
    (app.outdir / "searchindex.js").write_text("")  # every page of the theme loads Sphinx's own
    (static / "webpack-macros.html").unlink(missing_ok=True)  # a template of the theme

    def embedded(found):  # browsers differ on fonts of pages from disk
        font = base64.b64encode((static / found[1]).read_bytes()).decode()
        return f"url(data:font/woff2;base64,{font})"

    fonts = static / "fonts.css"
    style = re.sub(r"url\(([^)]*\.woff2)\)", embedded, fonts.read_text(encoding="utf-8"))
    fonts.write_text(style, encoding="utf-8")
