"""TeX for browsers: formulas as MathML, which they draw without a script; printed tables."""

import html
import re
import unicodedata
from functools import cache
from xml.etree import ElementTree

from latex2mathml.converter import convert

from privregret.press.captions import words
from privregret.press.tex import one_epsilon

MATH = re.compile(r"\$\$(.+?)\$\$|\$(.+?)\$", re.S)
VERBATIM = re.compile(
    r"(<(pre|code|script|style|textarea|math)\b.*?</\2>|<!--.*?-->|<[^>]*>)", re.S
)
RAGGED = re.compile(r"\\rightskip0pt plus1fil\\(?:relax |hspace\{0pt\})")
CODE = re.compile("`([^`']+)`")
SCRIPTS = r"<(?:msub|msup|msubsup|munder|mover|munderover)>"
BEFORE = {  # what the converter cannot read, in other words
    r"\\[bB]igg?[lr]?\s*(?=\\)": "",  # large brackets other than ( [ |
    r"\\arg(?![a-z])": r"\\operatorname{arg}",
}
AFTER = {  # where it spaces or slants otherwise than TeX does
    r"<mo>&#x0002F;</mo>": '<mo lspace="0" rspace="0">/</mo>',
    r'<mo (?:fence="false" )?stretchy="false">(&#x0(?:007C|2016);)': (
        r'<mo stretchy="false" lspace="0" rspace="0">\1'
    ),
    r"<mo>&#x0221E;</mo>": "<mi>&#x0221E;</mi>",
    r"<mi>&#x000B1;</mi>": "<mo>&#x000B1;</mo>",
    r"<mi>&#x0007E;</mi>": "<mo>&#x0223C;</mo>",
    # capital Greek is upright
    r"<mi>(&#x003(?:9[1-9A-F]|A[0-9]);)</mi>": r'<mi mathvariant="normal">\1</mi>',
}


@cache
def mathml(tex: str, display: str = "inline") -> str:
    """One formula, its dollars left out, as a `<math>` element spaced as TeX does."""
    tex = one_epsilon(tex.strip())
    for old, new in BEFORE.items():
        tex = re.sub(old, new, tex)
    text = convert(tex, display=display)
    for old, new in AFTER.items():
        text = re.sub(old, new, text)
    text = re.sub(r'<(m[in]) mathvariant="(bold|script|double-struck)">(\w)</m', _styled, text)

    def named(found):  # ln, Pr: a thin space to neighbours that are no operators
        before = re.sub(rf"(?:{SCRIPTS})+$", "", text[: found.start()])
        thin = re.search(r"(</m[a-np-z]\w*|&#x00029;</mo)>$", before)
        close = re.match(r'<mo stretchy="false">(\(|\[|&#x00028;|&#x0007B;)', text[found.end() :])
        space = f'lspace="{0.167 if thin else 0}em" rspace="{0 if close else 0.167}em"'
        return f"<mo{found[1]} {space}>{found[2]}</mo>"

    return re.sub(r"<m[io]((?: movablelimits=\S+)?)>([A-Za-z]{2,})</m[io]>", named, text)


def _styled(found):
    """A letter as the character that browsers draw in its style: of `mathvariant` they know only
    normal."""
    kind, letter = (
        found[2].upper(),
        unicodedata.name(found[3]).replace("LATIN ", "").replace(" LETTER", ""),
    )
    try:
        character = unicodedata.lookup(f"MATHEMATICAL {kind} {letter}")
    except KeyError:  # of old, such as the real numbers' R
        character = unicodedata.lookup(f"{kind} {letter}")
    return f"<{found[1]}>{character}</m"


def typeset(page: str) -> str:
    """HTML with the formulas and `code` of its text typeset; elements of code, scripts and
    attributes stay."""

    def formula(found):
        tex = html.unescape(found[1] or found[2])
        return mathml(tex, "block" if found[1] else "inline")

    parts = re.split(VERBATIM, page)  # text, element, its name or None, text, ...
    parts[::3] = [CODE.sub(r"<code>\1</code>", MATH.sub(formula, text)) for text in parts[::3]]
    del parts[2::3]
    return "".join(parts)


def plain(text: str) -> str:
    """Text with its formulas in letters, for what can hold no more: alternative texts, titles,
    searches."""

    def letters(found):
        line = _line(ElementTree.fromstring(mathml(found[1] or found[2])))
        return re.sub(r"(?<=[(\[{_^]) | (?=[()\[\]{}_^])", "", re.sub(r"\s+", " ", line)).strip()

    return MATH.sub(letters, text)


def _line(node):
    inner = [_line(child) for child in node]
    grouped = [part if len(part) < 2 or part.strip().isalnum() else f"({part})" for part in inner]
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
        case "mo" if node.text.isalpha() and len(node.text) > 1:
            return f" {node.text} "
        case "mspace":
            return " "
    return (node.text or "") + "".join(inner)


def table(source: str) -> tuple[str, list[list[str]]]:
    """Alignment (l or r, a letter a column) and cells, the headings first, of a published table."""
    columns, body = re.search(
        r"\\begin\{tabular\}\{(.*)\}\n\\toprule\n(.*)\\bottomrule", source, re.S
    ).groups()
    columns, body = (
        columns.replace("@{}", ""),
        re.sub(r"\\(midrule|addlinespace)\n", "", RAGGED.sub("", body)),
    )
    rows = [re.split(r"(?<!\\)&", row) for row in re.split(r"\\\\\n", body) if row.strip()]
    return re.sub(r"p\{.*?\}", "l", columns), [
        [words(cell.strip()) for cell in row] for row in rows
    ]
