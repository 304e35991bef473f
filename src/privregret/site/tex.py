"""TeX for browsers: mathematics as MathML, which they draw without a script, and the tables and captions of `.tex` files."""

import html
import re
from functools import cache
from xml.etree import ElementTree

from latex2mathml.converter import convert

MATH = re.compile(r"\$\$(.+?)\$\$|\$(.+?)\$", re.S)
VERBATIM = re.compile(r"(<(pre|code|script|style|textarea|math)\b.*?</\2>|<!--.*?-->|<[^>]*>)", re.S)
RAGGED = r"\rightskip0pt plus1fil\relax "


@cache
def mathml(tex: str, display: str = "inline") -> str:
    """One formula, its dollars left out, as a `<math>` element."""
    tex = re.sub(r"\\[bB]igg?[lr]?\s*(?=\\)", "", tex)  # large brackets other than ( [ |, which the converter drops
    return convert(re.sub(r"\\arg(?![a-z])", r"\\operatorname{arg}", tex.strip()), display=display)


def typeset(page: str) -> str:
    """HTML with the formulas of its text typeset; code, scripts and attributes stay as they are."""

    def formula(found):
        tex = html.unescape(found[1] or found[2])
        return mathml(tex, "block" if found[1] else "inline")

    parts = re.split(VERBATIM, page)  # text, element, its name or None, text, ...
    parts[::3] = [MATH.sub(formula, text) for text in parts[::3]]
    del parts[2::3]
    return "".join(parts)


def plain(text: str) -> str:
    """Text with its formulas in letters, for what can hold no more: alternative texts, titles, searches."""
    return MATH.sub(lambda found: _line(ElementTree.fromstring(mathml(found[1] or found[2]))), text)


def _line(node):
    inner = [_line(child) for child in node]
    grouped = [part if len(part) < 2 or part.isalnum() else f"({part})" for part in inner]
    match node.tag.rpartition("}")[2]:
        case "mfrac":
            return "/".join(grouped)
        case "msqrt":
            return f"√({''.join(inner)})"
        case "msup":
            return "^".join(grouped)
        case "msub" | "munder":
            return "_".join(grouped)
        case "msubsup" | "munderover":
            return f"{grouped[0]}_{grouped[1]}^{grouped[2]}"
    return (node.text or "").strip() + "".join(inner)


def caption(source: str) -> str:
    """The caption of a published `.tex` file, with TeX's formulas but without its escapes."""
    return words(re.search(r"\\caption\{(.*)\}\n", source)[1])


def table(source: str) -> tuple[str, list[list[str]]]:
    """Alignment (l or r, a letter a column) and cells, the headings first, of a published table."""
    columns, body = re.search(r"\\begin\{tabular\}\{(.*)\}\n\\toprule\n(.*)\\bottomrule", source, re.S).groups()
    body = re.sub(r"\\(midrule|addlinespace)\n", "", body.replace(RAGGED, ""))
    rows = [re.split(r"(?<!\\)&", row) for row in re.split(r"\\\\\n", body) if row.strip()]
    return re.sub(r"p\{.*?\}", "l", columns), [[words(cell.strip()) for cell in row] for row in rows]


def words(text: str) -> str:
    """Text without the TeX that it has outside formulas: escaped signs, spaces, references."""
    parts = re.split(r"(\$.*?\$)", text)
    for old, new in ((r"\\([%&# ])", r"\1"), ("~", "\N{NO-BREAK SPACE}"), (r"\\ref\{\w+:(.*?)\}", r"\1")):
        parts[::2] = [re.sub(old, new, part) for part in parts[::2]]
    return "".join(parts)
