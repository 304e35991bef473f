"""Captions, titles and sentences of TeX as pages and Markdown show them."""

import re
from functools import cache

from privregret.press.papers import PAPERS

WORDS = {
    r"\\([%&# ])": r"\1",
    "~": "\N{NO-BREAK SPACE}",
    r"\\(?:ref\{\w+:|emph\{)(.*?)\}": r"\1",
    r"\\texttt\{(.*?)\}": r"`\1`",
}
# On GitHub a bar ends a cell of a table in a formula, too, and < may start an element.
COMMANDS = {r"\|": r"\Vert ", "|": r"\vert ", "<": r"\lt ", ">": r"\gt "}


def caption(source: str) -> str:
    """The caption of a published `.tex` file, with TeX's formulas but without its escapes."""
    return words(source.partition(r"\caption{")[2].partition("}\n")[0])


@cache
def words(text: str) -> str:
    """Text without the TeX that it has outside formulas: escaped signs, spaces, references,
    code."""
    parts = re.split(r"(\$.*?\$)", text)
    for old, new in WORDS.items():
        parts[::2] = [re.sub(old, new, part) for part in parts[::2]]
    return "".join(parts)


@cache
def title(caption: str) -> str:
    """Return the place and the subject that a caption starts with.

    Examples
    --------
    >>> title("Theorem 3 of Wu and Wang (2026, PMLR 313): exact regret over $K$, at two gaps.")
    'Theorem 3: exact regret over $K$'
    >>> title("The exact price of privacy (four rounds). Solid: two actions.")
    'The exact price of privacy'
    >>> title("Theorem 5 of Wu and Wang (2026, PMLR 313). Left: regret at $K=2$. Right: gaps.")
    'Theorem 5: regret at $K=2$'
    """
    cited = "|".join(re.escape(paper.cited) for paper in PAPERS.values())
    found = re.match(rf"(?:Reproduces |Ours, )?([^:$]{{3,60}}?),? of (?:{cited})(.*)", caption)
    place, rest = (
        found.groups() if found else ("", re.sub(rf",? (?:of|and) (?:{cited})", "", caption))
    )
    setting, _, subject = rest.partition(": ")  # ": exact regret", ", with numbers: the rates"
    sentences = re.search(r"\. (?!(?:Above|Left)$)", setting)  # of panels, the first
    if place and subject and len(setting) < 60 and not sentences:
        rest = subject
    text, depth, rest = "", 0, rest.lstrip(" ,:")
    for part in re.findall(r"\$[^$]*\$|[()]|[^$()]+", rest):  # formulas stay, brackets go
        depth += {"(": 1, ")": -1}.get(part, 0)
        if depth or part == ")":
            continue
        ends = re.finditer(r"[.,;](?=\s|$)", "" if part[0] == "$" else part)
        end = next((e.start() for e in ends if e[0] == "." or len(text) + e.start() > 20), None)
        text += part[:end]
        if end is not None:
            break
    text = re.sub(r"\s+(?=[,.;:])|\s+(?:and|of|in|with|by|from)$", "", text.strip(" .,;:"))
    whole = re.sub(r"\s+", " ", f"{place}: {text}" if place and text else place or text)
    return whole[:1].upper() + whole[1:]


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
    r"""Return text with Markdown's signs escaped outside formulas.

    Examples
    --------
    >>> print(markdown("a_b of $x_1$ [0]"))
    a\_b of $x_1$ \[0\]
    """
    parts = re.split(r"(\$.*?\$)", text)
    parts[::2] = [re.sub(r"([\\*_\[\]<>|#`{}])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


@cache  # pages are made again after each notebook
def github(text: str) -> str:
    r"""Return text for GitHub, whose Markdown leaves alone what is in $`...`$ and `...`.

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
