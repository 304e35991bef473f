"""Numbers and texts as they are printed: plain, in TeX, and what is TeX as Markdown shows it."""

import math
import re

from privregret.estimates import Estimate, rounded
from privregret.press.manifest import TOLERANCE

# signs that code may have, as TeX prints them
CODE = {sign: "\\" + sign for sign in "{}$&#_%"}
CODE |= {"^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "\\": r"\textbackslash{}"}
# On GitHub a bar ends a cell of a table in a formula, too, and < may start an element.
COMMANDS = {r"\|": r"\Vert ", "|": r"\vert ", "<": r"\lt ", ">": r"\gt "}
# what numbers and criteria are printed with, as formulas have it
FORMULA = {"inf": r"\infty", " ± ": r" \pm ", "†": r"^\dagger"}
FORMULA |= {"<=": r"\le", ">=": r"\ge", "in ": r"\in ", "equals": "="}
# the end of a sentence; not after "et al." in front of a year
SENTENCE = re.compile(r"\. (?!\()")


def measured(number: Estimate) -> str:
    """A number with its standard error, or the bound on its numerical error if it is not random;
    a dagger says that the error is not known."""
    error = _reach(number)
    if math.isinf(error):
        return f"{rounded(number.value, error)}†"
    if error <= TOLERANCE * abs(number.value):
        return rounded(number.value, error)
    return f"{rounded(number.value, error)} ± {rounded(error, error)}"


def value(number: Estimate) -> str:
    """A number without its error, with as many digits as `measured` gives it."""
    return rounded(number.value, _reach(number))


def _reach(number):
    """The error that decides the digits; a numerical one only if it is seen in four of them."""
    if number.se == 0 and number.bound < 1e-4 * abs(number.value):
        return 0.0
    return number.se + number.bound


def formula(printed: str) -> str:
    r"""A printed number or criterion in TeX: 1.5e-07 is `1.5\cdot 10^{-7}`."""
    for sign, command in FORMULA.items():
        printed = printed.replace(sign, command)
    powers = re.sub(r"(?<![\d.])1e\+?(-?)0*(\d+)", r"10^{\1\2}", printed)
    return re.sub(r"e\+?(-?)0*(\d+)", r"\\cdot 10^{\1\2}", powers)


def quantity(row: dict) -> str:
    r"""A finding's quantity, number and criterion in TeX."""
    agrees = " within ".join(f"${formula(part)}$" for part in row["criterion"].split(" within "))
    return f"{row['quantity']}: ${formula(row['measured'])}$ ({agrees})"


def integer(value: float) -> str:
    r"""A large whole number for TeX's mathematics: `2^{22}`, `10^{6}`, `20\,000`; of others all
    digits."""
    group = "," if abs(value) >= 10**4 else ""
    if not (isinstance(value, int) or float(value).is_integer()):
        return formula(f"{value:{group}.12g}".replace(",", r"\,"))
    value = int(value)
    for base, least in ((10, 10**5), (2, 2**14)):
        times = round(math.log(value, base)) if value >= least else 0
        if times and base**times == value:
            return f"{base}^{{{times}}}"
    return f"{value:{group}}".replace(",", r"\,")


def one_epsilon(text: str) -> str:
    r"""TeX with the epsilon that figures have: their fonts know no other than `\varepsilon`."""
    return text.replace(r"\epsilon", r"\varepsilon")


def first_sentence(text: str) -> tuple[str, str]:
    """The first sentence of a text, and the rest."""
    first, *rest = SENTENCE.split(text, maxsplit=1)
    return (f"{first}.", rest[0]) if rest else (text, "")


def folded(line: str, *parts: str) -> str:
    """Markdown that a click on a line of HTML unfolds, in JupyterLab, on GitHub and on the site.

    The parts are Markdown only between empty lines. The site typesets formulas of the line for its
    class, which the others do not need.
    """
    said = "\n\n".join(parts)
    return f'<details><summary class="math">{line}</summary>\n\n{said}\n\n</details>'


def tex_escape(text: str) -> str:
    """Text with TeX's formulas, its per cent and other signs made harmless, and `code` as such."""
    # code, a formula, or a sign that is neither
    kinds = r"(?<!`)`([^`']+)`|(\$.*?\$)|([%&#_^~$])"

    def typed(found):
        code, formula, sign = found.groups()
        if formula:
            return re.sub(r"(?<!\\)([%&#])", r"\\\1", formula)
        said = "".join(CODE.get(one, one) for one in code or sign)
        return rf"\texttt{{{said}}}" if code else said

    return re.sub(kinds, typed, one_epsilon(text))


def short(name: str) -> str:
    """Return the name of an output in words, for lists at the side."""
    said = re.sub(r"\b0+(?=\d)", "", name.split("/")[1].replace("-", " ")).capitalize()
    return re.sub(r"\b(ftnl|ftpl|[a-z]\d+)\b", lambda found: found[0].upper(), said, flags=re.I)


def github(text: str) -> str:
    r"""Text for GitHub, which leaves alone what is in $`...`$, not after a letter, and `...`."""

    def shown(found):
        code, before, formula, sign = found.groups()
        if formula is None:
            return code or f"\\{sign}"
        said = re.sub(r"\\?\||[<>]", lambda bar: COMMANDS[bar[0]], formula)
        return f"{before} $`{said}`$".removeprefix(" ")

    return re.sub(r"(`[^`]+`)|([^\W_]?)\$(.*?)\$|([\\*_\[\]<>|#`{}])", shown, text)
