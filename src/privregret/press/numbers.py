"""How a number of the manifest is printed: with the digits that its error supports."""

import math
import re

from privregret.estimates import rounded
from privregret.press.drift import TOLERANCE


def measured(entry: dict, tex: bool = False) -> str:
    """A number with its standard error, or the bound on its numerical error if it is not random.

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
    return "$" + r" \pm ".join(map(tex_number, parts)) + "$" if tex else " ± ".join(parts)


def value(entry: dict) -> str:
    """A number without its error, as `measured` prints it."""
    return rounded(entry["value"], _reach(entry))


def headline(entry: dict) -> str:
    """The sentence of a finding for the first page; empty if it has none."""
    return entry["headline"].format(value=value(entry))


def tex_number(text: str) -> str:
    r"""A printed number with its power of ten in TeX.

    Examples
    --------
    >>> print(tex_number("1.5e-07"))
    1.5\cdot 10^{-7}
    """
    return re.sub(
        r"e([+-])0*(\d+)", lambda m: rf"\cdot 10^{{{m[1].strip('+')}{m[2]}}}", text
    )


def _reach(entry):
    """The error that decides the digits; a numerical one only if it is seen in four of them."""
    if entry["error"] == 0 and entry["numerical_error"] < 1e-4 * abs(entry["value"]):
        return 0.0
    return entry["error"] + entry["numerical_error"]
