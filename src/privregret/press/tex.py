"""Numbers and texts as they are printed: plain, in TeX, and what is TeX as Markdown shows it."""

import math
import re

from privregret.estimates import rounded
from privregret.press.manifest import TOLERANCE

# signs that code may have, as TeX prints them
CODE = {sign: "\\" + sign for sign in "{}$&#_%"}
CODE |= {"^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "\\": r"\textbackslash{}"}
# On GitHub a bar ends a cell of a table in a formula, too, and < may start an element.
COMMANDS = {r"\|": r"\Vert ", "|": r"\vert ", "<": r"\lt ", ">": r"\gt "}


def measured(entry: dict, tex: bool = False) -> str:
    """A number with its standard error, or the bound on its numerical error if it is not random;
    a dagger says that the error is not known. In `tex` it is for a formula."""
    error = _reach(entry)
    known = math.isfinite(error)
    parts = [rounded(entry["value"], error)]
    if known and error > TOLERANCE * abs(entry["value"]):
        parts.append(rounded(error, error))
    if tex:
        return r" \pm ".join(map(power, parts)) + r"^\dagger" * (not known)
    return " ± ".join(parts) + "†" * (not known)


def value(entry: dict) -> str:
    """A number without its error, with as many digits as `measured` gives it."""
    return rounded(entry["value"], _reach(entry))


def _reach(entry):
    """The error that decides the digits; a numerical one only if it is seen in four of them."""
    if entry["error"] == 0 and entry["numerical_error"] < 1e-4 * abs(entry["value"]):
        return 0.0
    return entry["error"] + entry["numerical_error"]


def power(number: str) -> str:
    r"""A printed number with its power of ten in TeX: 1.5e-07 is `1.5\cdot 10^{-7}`."""
    whole = re.sub(r"(?<![\d.])1e\+?(-?)0*(\d+)", r"10^{\1\2}", number.replace("inf", r"\infty"))
    return re.sub(r"e\+?(-?)0*(\d+)", r"\\cdot 10^{\1\2}", whole)


def quantity(row: dict) -> str:
    r"""A finding's quantity, number and criterion in TeX."""
    values, *tolerance = row["criterion"].split(" within ")
    for sign, command in (("<=", r"\le"), (">=", r"\ge"), ("in ", r"\in "), ("equals", "=")):
        values = values.replace(sign, command)
    agrees = " within ".join(f"${power(text)}$" for text in (values, *tolerance))
    return f"{row['quantity']}: ${measured(row, tex=True)}$ ({agrees})"


def integer(value: float) -> str:
    r"""A large whole number for TeX's mathematics: `2^{22}`, `10^{6}`, `20\,000`; of others all
    digits."""
    group = "," if abs(value) >= 10**4 else ""
    if not (isinstance(value, int) or float(value).is_integer()):
        return power(f"{value:{group}.12g}".replace(",", r"\,"))
    value = int(value)
    for base, least in ((10, 10**5), (2, 2**14)):
        times = round(math.log(value, base)) if value >= least else 0
        if times and base**times == value:
            return f"{base}^{{{times}}}"
    return f"{value:{group}}".replace(",", r"\,")


def one_epsilon(text: str) -> str:
    r"""TeX with the epsilon that figures have: their fonts know no other than `\varepsilon`."""
    return text.replace(r"\epsilon", r"\varepsilon")


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
    kinds = r"(?<!`)`([^`']+)`|((?<!\\)\$.*?(?<!\\)\$)|(?<!\\)([%&#_^~$])"

    def typed(found):
        code, formula, sign = found.groups()
        if formula:
            return re.sub(r"(?<!\\)([%&#])", r"\\\1", formula)
        said = "".join(CODE.get(one, one) for one in code or sign)
        return rf"\texttt{{{said}}}" if code else said

    return re.sub(kinds, typed, one_epsilon(text))


def _plain(text):
    """Text without the TeX outside formulas and code: escaped signs, spaces, references."""
    parts = re.split(r"(\$.*?\$|`[^`]*`)", text)
    for i in range(0, len(parts), 2):
        spaced = re.sub(r"\\([%&#_ ])", r"\1", parts[i])
        parts[i] = re.sub(r"\\(?:ref\{\w+:|emph\{)(.*?)\}", r"\1", spaced)
    return "".join(parts)


def short(name: str) -> str:
    """Return a name in words, for lists at the side."""
    said = re.sub(r"\b0+(?=\d)", "", name.split("/")[1].replace("-", " ")).capitalize()
    said = said.replace("bernoulli", "Bernoulli")
    return re.sub(r"(?i)\b(ftnl|ftpl|exp[34]|d1)\b", lambda found: found[0].upper(), said)


def github(text: str) -> str:
    r"""Text for GitHub, which leaves alone what is in $`...`$, not after a letter, and `...`."""

    def shown(found):
        code, before, formula, sign = found.groups()
        if formula is None:
            return code or f"\\{sign}"
        said = re.sub(r"\\?\||[<>]", lambda bar: COMMANDS[bar[0]], formula)
        return f"{before} $`{said}`$".removeprefix(" ")

    return re.sub(r"(`[^`]+`)|([^\W_]?)\$(.*?)\$|([\\*_\[\]<>|#`{}])", shown, _plain(text))
