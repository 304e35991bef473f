"""Estimate the extremes of many numbers, with intervals that hold for all at once."""

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import TypeAlias

import pandas as pd
import scipy

from privregret.core import checks
from privregret.estimates.frames import named, rows
from privregret.estimates.number import LEVEL, STANDARD_ERRORS, Estimate, complete, estimates_of

Numbers: TypeAlias = pd.DataFrame | Iterable[Estimate | float]


def _all(items, over, value):
    if not hasattr(items, "columns"):
        if isinstance(items, (str, bytes, dict)) or not hasattr(items, "__iter__"):
            shown = checks.shown(items)
            raise TypeError(f"items must be a frame or a list of numbers, got {shown}")
        estimates = estimates_of("items", items)
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
