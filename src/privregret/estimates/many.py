"""Read rows of a frame as estimates, and estimate the extremes of many."""

import math
import re
from collections.abc import Iterable
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import pandas as pd
import scipy

from privregret.core import checks
from privregret.estimates.number import LEVEL, STANDARD_ERRORS, Estimate, complete, real

Numbers: TypeAlias = pd.DataFrame | Iterable[Estimate | float]
NAMES = "mean", "regret", "fraction", "ratio", "slope"  # columns with numbers and errors
SAMPLED = re.compile(r"median|quantile|sd|se|least|greatest|top|[pq]\d+")  # random numbers


def named(name: str, column: str, frame: pd.DataFrame) -> str:
    """Check that a frame has a column."""
    if list(frame.columns).count(column) != 1:
        columns = ", ".join(map(str, frame.columns))
        raise ValueError(f"{name} must be one column of the frame ({columns}), got {column!r}")
    return column


def _averaged(frame):
    if "run" in frame:
        raise ValueError(
            "frame must have estimates, got single runs (column 'run'): call means first"
        )


@checks.validate(frame=checks.dataframe, value=checks.text)
def rows(frame: pd.DataFrame, value: str | None = None) -> list[Estimate]:
    """Return the rows of a frame as estimates.

    Parameters
    ----------
    frame : pandas.DataFrame
        For example of `means` or `exact.regret_curves`.
    value : str, optional
        Column of the numbers; the first of mean, regret, fraction, ratio, slope if not given. The
        error of `mean` is `se` (infinite if `runs` is 1, or if `heavy`), the bound of `regret` is
        `error`; those of another column are <value>_se and <value>_error. An error without a column
        is 0, so a frame of single runs (with a column run), and quantiles and deviations of a
        sample, are refused.
    """
    _averaged(frame)
    if value is None:
        value = next((c for c in NAMES if c in frame), NAMES[0])
    named("value", value, frame)
    is_mean = value == "mean"
    bound = "error" if value == "regret" else f"{value}_error"
    names = value, "se" if is_mean else f"{value}_se", bound
    found = {c: frame[c] if c in frame else pd.Series(0.0, frame.index) for c in names}
    if {"se", "runs"} & {*frame} and not {*names[1:]} & {*frame} and SAMPLED.fullmatch(value):
        raise ValueError(
            f"value must be a column with an error, got {value!r} without {names[1]!r}"
        )
    if is_mean and "runs" in frame:
        found["se"] = found["se"].mask(frame.runs < 2, np.inf)
    if is_mean and "heavy" in frame:
        complete("column 'heavy'", frame.heavy)
        found["se"] = found["se"].mask(frame.heavy.astype(bool), np.inf)
    for name, column in found.items():
        complete(f"column {name!r}", column)
    return [Estimate(*row) for row in zip(*found.values(), strict=True)]


@checks.validate(frame=checks.dataframe, value=checks.text)
def row(frame: pd.DataFrame, value: str | None = None, **where: object) -> Estimate:
    """Return the only row, as of `rows`, in which the named columns have these values."""
    _averaged(frame)
    for column, wanted in where.items():
        frame = frame[frame[named("where", column, frame)] == wanted]
    if len(frame) != 1:
        raise ValueError(f"{where} must match one row of the frame, got {len(frame)}")
    return rows(frame, value)[0]


def columns(numbers: Iterable[Estimate | float], name: str) -> dict[str, list[float]]:
    """Return estimates as columns that `rows` reads: <name>, <name>_se, <name>_error."""
    numbers = _items("numbers", numbers)
    values, errors, bounds = ([getattr(e, a) for e in numbers] for a in ("value", "se", "bound"))
    return {name: values, f"{name}_se": errors, f"{name}_error": bounds}


def _items(name, values):
    values = values if hasattr(values, "__len__") else list(values)
    complete(name, values)
    return [v if isinstance(v, Estimate) else Estimate(real(name, v)) for v in values]


def _all(items, over, value):
    if not hasattr(items, "columns"):
        if isinstance(items, (str, bytes, dict)) or not hasattr(items, "__iter__"):
            shown = checks.shown(items)
            raise TypeError(f"items must be a frame or a list of numbers, got {shown}")
        estimates = _items("items", items)
    elif over is None:
        estimates = rows(items, value)
    else:
        bounds = items[named("over", over, items)]
        complete(f"over {over!r}", bounds)
        estimates = [e / b for e, b in zip(rows(items, value), bounds, strict=True)]
    if not estimates:
        raise ValueError("items must hold at least one number, got none")
    if not all(math.isfinite(e.value) for e in estimates):
        raise ValueError("items must hold finite numbers, got an infinite one")
    return estimates


def _positive(items, value):
    estimates = _all(items, None, value)
    if (least := min(e.value for e in estimates)) <= 0:
        raise ValueError(f"items must be positive, got {least:g}")
    return estimates


@checks.validate(over=checks.text, value=checks.text)
def largest(items: Numbers, over: str | None = None, value: str | None = None) -> Estimate:
    """Return the largest of several numbers, perhaps each divided by a bound.

    Selecting the largest of noisy numbers favours those that came out too large. So the interval
    holds for all numbers at once: from the largest lower limit to the largest upper limit, each
    with the number of standard errors that Bonferroni's rule requires for this many noisy numbers.
    Items are a frame, as `rows` reads it, or a sequence of estimates or numbers.
    """
    estimates = _all(items, over, value)
    noisy = max(1, sum(e.se > 0 for e in estimates))
    width = scipy.stats.norm.isf(LEVEL / noisy)
    value = max(e.value for e in estimates)
    high = max(e.value + width * e.se for e in estimates)
    low = max(e.value - width * e.se for e in estimates)
    above = max(e.value + e.bound for e in estimates) - value
    bound = max(above, value - max(e.value - e.bound for e in estimates))
    return Estimate(value, max(high - value, value - low) / STANDARD_ERRORS, bound)


@checks.validate(over=checks.text, value=checks.text)
def smallest(items: Numbers, over: str | None = None, value: str | None = None) -> Estimate:
    """Return the smallest of several numbers, as `largest` returns the largest."""
    return -largest([-e for e in _all(items, over, value)])


@checks.validate(value=checks.text)
def spread(items: Numbers, value: str | None = None) -> Estimate:
    """Return largest / smallest of positive numbers, with a simultaneous interval."""
    estimates = _positive(items, value)
    return largest(estimates) / smallest(estimates)


@checks.validate(value=checks.text)
def largest_step(items: Numbers, value: str | None = None) -> Estimate:
    """Return the largest ratio of a positive number to its predecessor; at most 1 if they fall."""
    return largest([b / a for a, b in pairwise(_positive(items, value))])


@checks.validate(value=checks.text)
def logs(items: Numbers, value: str | None = None) -> list[Estimate]:
    """Return the natural logarithms of positive numbers, for slopes of powers."""
    return [e.log() for e in _all(items, None, value)]
