"""Numbers and texts as they are printed, plain and in TeX."""

import math
import re

from privregret.estimates import rounded
from privregret.press.record import TOLERANCE


def measured(entry: dict, tex: bool = False) -> str:
    """A number with its standard error, or the bound on its numerical error if it is not random.

    A dagger says that the error is not known.

    Parameters
    ----------
    entry : dict
        Its "value", "error" (one standard error) and "numerical_error".
    tex : bool
        Whether to print it as a formula of TeX.

    Examples
    --------
    >>> measured({"value": 2.71828, "error": 0.01, "numerical_error": 0.0})
    '2.718 ± 0.010'
    """
    error = _reach(entry)
    parts = [rounded(entry["value"], error)]
    if error > TOLERANCE * abs(entry["value"]) and math.isfinite(error):
        parts.append(rounded(error, error))
    unknown = not math.isfinite(error)
    if tex:
        return "$" + r" \pm ".join(map(power, parts)) + r"^\dagger" * unknown + "$"
    return " ± ".join(parts) + "†" * unknown


def value(entry: dict) -> str:
    """A number without its error, with as many digits as `measured` gives it."""
    return rounded(entry["value"], _reach(entry))


def quoted(entry: dict) -> str:
    r"""A number with its standard error for a sentence, in TeX: three significant digits.

    An error below the last of these digits is not printed. A number that would look whole keeps
    a fourth digit.

    Examples
    --------
    >>> print(quoted({"value": 5.4197, "error": 0.0631, "numerical_error": 0.0}))
    5.42 \pm 0.06
    >>> print(quoted({"value": 5.4197, "error": 0.001, "numerical_error": 0.0}))
    5.42
    """
    value, error = entry["value"], _reach(entry)
    if not math.isfinite(error):
        return quoted(entry | {"error": 0.0, "numerical_error": 0.0}) + r"^\dagger"
    if not math.isfinite(value) or (value == round(value) and error == 0):
        return power(f"{value:.6g}")
    third = 2 - math.floor(math.log10(abs(value) or 1))
    if error:
        first = -math.floor(math.log10(error))
        last = first + (error * 10**first < 1.95)  # two digits of an error that starts with 1
        if last <= third or error * 10**third >= 0.5:
            return " \\pm ".join(_decimals(x, min(third, last)) for x in (value, error))
    if abs(float(f"{value:.3g}") - value) <= 1e-4 * abs(value):
        return power(f"{value:.3g}")
    whole = third > 0 and round(value, third) == round(value)
    return _decimals(value, third + whole)


def _decimals(number, places):
    return power(f"{round(number, places):.{max(places, 0)}f}" if places < 6 else f"{number:.2e}")


def _reach(entry):
    """The error that decides the digits; a numerical one only if it is seen in four of them."""
    if entry["error"] == 0 and entry["numerical_error"] < 1e-4 * abs(entry["value"]):
        return 0.0
    return entry["error"] + entry["numerical_error"]


def power(number: str) -> str:
    r"""A printed number with its power of ten in TeX.

    Examples
    --------
    >>> print(power("1.5e-07"))
    1.5\cdot 10^{-7}
    """
    whole = re.sub(r"(?<![\d.])1e\+?(-?)0*(\d+)", r"10^{\1\2}", number)
    return re.sub(r"e\+?(-?)0*(\d+)", r"\\cdot 10^{\1\2}", whole)


def quantity(row: dict) -> str:
    r"""Format a finding's quantity, number and criterion in TeX.

    Examples
    --------
    >>> row = {"quantity": "loss", "value": 1.0, "error": 0.0, "numerical_error": 0.0}
    >>> print(quantity(row | {"criterion": "<= 1 within 1e-6"}))
    loss: $1$ ($\le 1$ within $10^{-6}$)
    """
    values, *tolerance = row["criterion"].split(" within ")
    for sign, command in (("<=", r"\le"), (">=", r"\ge"), ("in ", r"\in ")):
        values = values.replace(sign, command)
    agrees = " within ".join(f"${power(text)}$" for text in (values, *tolerance))
    return f"{row['quantity']}: {measured(row, tex=True)} ({agrees})"


def integer(value: int) -> str:
    r"""A large whole number for TeX's mathematics: `2^{22}`, `10^{6}`, `20\,000`."""
    for base, least in ((10, 10**5), (2, 2**14)):
        power = round(math.log(value, base)) if value >= least else 0
        if power and base**power == value:
            return f"{base}^{{{power}}}"
    return f"{value:,}".replace(",", r"\,") if value >= 10**4 else str(value)


def one_epsilon(text: str) -> str:
    r"""TeX with the epsilon that figures have: their fonts know no other than `\varepsilon`."""
    return text.replace(r"\epsilon", r"\varepsilon")


# signs that code may have, as TeX prints them
CODE = {sign: "\\" + sign for sign in "{}$&#_%"}
CODE |= {"^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "\\": r"\textbackslash{}"}


def tex_escape(text: str) -> str:
    r"""Text with TeX's formulas, its per cent and other signs made harmless, and `code` as such.

    Examples
    --------
    >>> print(tex_escape(r"50% of $\epsilon$, `many_runs`"))
    50\% of $\varepsilon$, \texttt{many\_runs}
    """
    parts = re.split("(?<!`)`([^`']+)`", text)
    parts[::2] = [re.sub(r"(?<!\\)([%&#])", r"\\\1", one_epsilon(part)) for part in parts[::2]]
    typed = ("".join(CODE.get(sign, sign) for sign in code) for code in parts[1::2])
    parts[1::2] = [rf"\texttt{{{code}}}" for code in typed]
    return "".join(parts)
