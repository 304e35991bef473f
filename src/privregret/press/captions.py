"""Captions and sentences of TeX as Markdown shows them."""

import re

from privregret.press.tex import CODE

WORDS = {
    r"\\([%&# ])": r"\1",
    "~": "\N{NO-BREAK SPACE}",
    r"\\(?:ref\{\w+:|emph\{)(.*?)\}": r"\1",
}
# On GitHub a bar ends a cell of a table in a formula, too, and < may start an element.
COMMANDS = {r"\|": r"\Vert ", "|": r"\vert ", "<": r"\lt ", ">": r"\gt "}


def caption(source: str) -> str:
    """The caption of a published `.tex` file, with TeX's formulas but without its escapes."""
    return words(source.partition(r"\caption{")[2].partition("}\n")[0])


def words(text: str) -> str:
    """Text without the TeX that it has outside formulas: escaped signs, spaces, references,
    code."""
    parts = re.split(r"(\$.*?\$|\\texttt\{(?:\\text\w+\{\}|\\.|[^{}\\])*\})", text)
    for old, new in WORDS.items():
        parts[::2] = [re.sub(old, new, part) for part in parts[::2]]
    parts[1::2] = [part if part[0] == "$" else f"`{_typed(part[8:-1])}`" for part in parts[1::2]]
    return "".join(parts)


def _typed(code):
    """Code as it was before `tex.tex_escape`."""
    for sign, command in CODE.items():
        code = code.replace(command, sign)
    return code


def short(name: str) -> str:
    """Return a name in words, for lists at the side.

    Examples
    --------
    >>> short("hu2021/figure-05"), short("wu2026/ftnl-exact")
    ('Figure 5', 'FTNL exact')
    """
    said = re.sub(r"\b0+(?=\d)", "", name.split("/")[1].replace("-", " ")).capitalize()
    said = said.replace("bernoulli", "Bernoulli")
    return re.sub(r"(?i)\b(ftnl|ftpl|exp[34]|d1)\b", lambda found: found[0].upper(), said)


def markdown(text: str) -> str:
    """Text with Markdown's signs escaped outside formulas."""
    parts = re.split(r"(\$.*?\$)", text)
    parts[::2] = [re.sub(r"([\\*_\[\]<>|#`{}])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def github(text: str) -> str:
    r"""Text for GitHub, whose Markdown leaves alone what is in $`...`$ and `...`.

    There a formula does not follow a letter.

    Examples
    --------
    >>> print(github(r"5\% of $|x_1|<\|y\|$ [0], `a_b`"))
    5% of $`\vert x_1\vert \lt \Vert y\Vert `$ \[0\], `a_b`
    """

    def formula(found):
        tex = found[2]
        for sign, command in COMMANDS.items():
            tex = tex.replace(sign, command)
        return f"{found[1]} $`{tex}`$".removeprefix(" ")

    parts = re.split("(`[^`]+`)", words(text))
    parts[::2] = [re.sub(r"(\w?)\$(.*?)\$", formula, markdown(part)) for part in parts[::2]]
    return "".join(parts)
