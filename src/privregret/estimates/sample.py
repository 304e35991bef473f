"""Estimate from one sample of independent draws, and fit the slope of points."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import scipy
from numpy.typing import ArrayLike

from privregret.core import checks
from privregret.estimates.number import (
    LEVEL,
    ROUNDING,
    STANDARD_ERRORS,
    Estimate,
    complete,
    exactly,
)

LARGEST = 1e300  # in absolute value, of an entry of a sample
SHOWN = 20  # with fewer draws one of them often makes most of the variance by chance
# Factor on the error of a mean of which one draw makes most of the variance, if no heavy tail is
# known: up to nine such draws may be due (Poisson's limit at LEVEL for one that was seen is 8.9).
WIDER = 3
# so many equal draws count as a constant: another value has a probability below 0.3 per cent
CONSTANT = 2000


def mean_columns(
    mean: ArrayLike,
    sd: ArrayLike,
    least: ArrayLike,
    greatest: ArrayLike,
    runs: ArrayLike,
    tail: ArrayLike | None = None,
) -> dict[str, ArrayLike]:
    """Return the columns of `means`; `tail` is whether the law has a heavy one, if known."""
    mean, runs = np.asarray(mean), np.asarray(runs).astype(int)
    sd = np.where(greatest - least <= ROUNDING * np.abs(mean), np.where(runs > 1, 0.0, sd), sd)
    largest = np.maximum(greatest - mean, mean - least)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = largest**2 / ((runs - 1) * sd**2)
    se, heavy = third(sd / np.sqrt(runs), share, runs, is_light=tail is not None)
    if tail is not None:
        se, heavy = np.where(tail, np.inf, se), heavy | tail
    se = np.where(runs < 2, np.nan, se)
    return {"mean": mean, "sd": sd, "se": se, "runs": runs, "heavy": heavy}


def third(se, share, runs, is_light=False, dof=None):
    """Return a third of the half-width of Student's interval at LEVEL, and whether it is infinite
    because rare draws may decide; `share` is the largest draw's part of the variance."""
    # 1 / (1 - 3 share) covers exponential, lognormal, Pareto and rare 0/1 laws from 5 draws on
    with np.errstate(divide="ignore", invalid="ignore"):
        heavy = (share >= 1 / 3) & (se > 0) & (not is_light)
        rare = np.where((share > 1 / 2) & (runs >= SHOWN), WIDER, 1)
        spread = se * (rare if is_light else 1 / (1 - 3 * share))
        dof = runs - 1 if dof is None else dof
        spread = spread * -scipy.special.stdtrit(dof, LEVEL) / STANDARD_ERRORS
    width = np.where(se > 0, spread, np.where(runs < CONSTANT, np.inf, 0.0))
    return np.where(heavy | (runs < 2), np.inf, width), heavy


def _sample(name, value, shape=1):
    """Check a non-empty array of numbers or bools, none missing."""
    complete(name, value)
    flags = isinstance(value, (list, tuple)) and all(isinstance(v, (bool, np.bool_)) for v in value)
    if flags or getattr(value, "dtype", np.dtype(float)).kind == "b":
        value = np.asarray(value, float)
    return checks.array_in(-LARGEST, LARGEST, shape=shape)(name, value)


@checks.validate(sample=_sample, heavy=checks.boolean)
def mean(sample: ArrayLike, heavy: bool | None = None) -> Estimate:
    """Estimate the mean of independent draws.

    The error is a third of the half-width of Student's interval with the probability of three
    standard errors. It is wider the more of the variance the largest draw makes, and infinite from
    a third on, for one draw, and for fewer than 2000 draws that are all equal. `heavy` says whether
    the distribution has a heavy tail, if that is known, as in `means`.

    Examples
    --------
    >>> round(mean([1.0, 2.0, 3.0, 4.0, 6.0] * 20).se, 3)
    0.193
    >>> mean([1.0, 2.0, 3.0, 6.0]).se
    inf
    """
    if len(sample) < 2:
        return Estimate(sample[0], math.inf)
    ends = sample.min(), sample.max()
    columns = mean_columns(sample.mean(), sample.std(ddof=1), *ends, len(sample), heavy)
    return Estimate(float(columns["mean"]), float(columns["se"]))


@checks.validate(
    sample=_sample,
    controls=lambda name, value: _sample(name, value, shape=2),
    heavy=checks.boolean,
)
def mean_with_controls(
    sample: ArrayLike, controls: ArrayLike, heavy: bool | None = None
) -> Estimate:
    """Estimate the mean of independent draws with control variates.

    The estimate is the value of a linear fit by least squares at controls 0. Its error is robust to
    variances that depend on the controls (HC3): each residual counts as it would without its draw.
    From it follows a third of an interval, as in `mean`.

    Parameters
    ----------
    sample : (n,) array
    controls : (n, c) array
        For each draw, numbers whose means are known to be 0. n must be at least ten times c; a
        control that is the same in all draws is left out. One draw has an infinite error.
    heavy : bool, optional
        Whether the distribution has a heavy tail, if that is known, as in `mean`.
    """
    n = len(sample)
    if len(controls) != n:
        raise ValueError(f"controls must have {n} rows, as the sample has, got {len(controls)}")
    controls = controls[:, np.ptp(controls, axis=0) > 0]
    if n < 10 * controls.shape[1]:
        shown = f"{n} for {controls.shape[1]} controls"
        raise ValueError(f"the sample must have ten draws for each control, got {shown}")
    design = np.column_stack([np.ones(n), controls / np.abs(controls).max(axis=0)])
    fit = np.linalg.pinv(design)
    leverage = (design * fit.T).sum(axis=1)
    residuals = sample - design @ (fit @ sample)
    value, off = fit[0] @ sample, (fit[0] * residuals / np.maximum(1 - leverage, 1e-9)) ** 2
    varies = np.ptp(sample) > ROUNDING * abs(value)
    if n > 1 and varies and off.sum() <= (ROUNDING * value) ** 2:
        return Estimate(value)
    se, share = np.sqrt(off.sum()) * varies, off.max() / max(off.sum(), 1e-300)
    se = third(se, share, n, heavy is False, n - design.shape[1])[0]
    return Estimate(value, math.inf if heavy else float(se))


def fraction(successes: ArrayLike, draws: int | None = None) -> Estimate:
    """Estimate the fraction of successes; its error is positive even at 0 or 1.

    Parameters
    ----------
    successes : (n,) array of True and False, or of 1 and 0; or int with `draws`
        The error is a third of the distance to the farther exact (Clopper-Pearson) limit.
    draws : int, optional
        Number of draws, if `successes` is a count.
    """
    if draws is None:
        if checks.array_of(successes).ndim == 0:
            shown = checks.shown(successes)
            raise TypeError(f"draws must be given if successes is a count, got {shown}")
        sample = _sample("successes", successes)
        if (wrong := sample[(sample != 0) & (sample != 1)]).size:
            raise ValueError(f"successes must be 0 or 1, got {wrong[0]:g}")
        hits, n = int(sample.sum()), len(sample)
    else:
        n = checks.positive_int("draws", draws)
        hits = checks.integer_in(0, n)("successes", successes)
    return Estimate(hits / n, fraction_error(hits, n))


def fraction_error(hits: float, draws: float) -> float:
    """Return a third of the distance to the farther exact (Clopper-Pearson) limit."""
    low = scipy.stats.beta.ppf(LEVEL, hits, draws - hits + 1) if hits else 0.0
    high = scipy.stats.beta.isf(LEVEL, hits + 1, draws - hits) if hits < draws else 1.0
    return max(high - hits / draws, hits / draws - low) / STANDARD_ERRORS


def order_statistics(sample: ArrayLike, level: float, chance: float) -> tuple[float, float, float]:
    """Return a sample quantile, and order statistics that enclose the true one.

    The quantile is the smallest draw that more than n level draws do not exceed, without
    interpolation: the median of two draws is the larger one. What is guaranteed is that each limit
    is on the wrong side of the true quantile with at most this chance.
    """
    ordered, n = np.sort(sample), len(sample)
    low, high = (int(scipy.stats.binom.ppf(q, n, level)) for q in (chance, 1 - chance))
    value = ordered[min(math.floor(n * Fraction(level).limit_denominator(10**9)), n - 1)]
    return value, ordered[low - 1] if low else -math.inf, ordered[high] if high < n else math.inf


@checks.validate(sample=_sample, level=checks.number_in(0, 1, "()"))
def quantile(sample: ArrayLike, level: float) -> Estimate:
    """Estimate a quantile of independent draws from any distribution.

    The value is a draw, the error a third of the distance to the farther of the `order_statistics`
    that enclose the quantile with the probability of three standard errors; it is infinite for too
    few draws.
    """
    value, low, high = order_statistics(sample, level, LEVEL)
    return Estimate(value, max(value - low, high - value) / STANDARD_ERRORS)


def median(sample: ArrayLike) -> Estimate:
    """Estimate the median of draws as `quantile` does; of an even number it is the upper middle."""
    return quantile(sample, 0.5)


def slope(x: ArrayLike, y: Sequence[Estimate | float]) -> Estimate:
    """Estimate the slope of y on x by least squares.

    If y holds estimates, the error of the slope follows from their errors. If y holds plain
    numbers, it follows from the scatter about the line, by Student's distribution at the level of
    three standard errors. This is right for points that scatter at random, not for a deterministic
    curve that bends; for a curve, pass `exactly(...)` numbers, whose slope has no error.
    """
    x = _sample("x", x)
    if len(x) != len(y) or not np.ptp(x):
        wanted = f"{len(y)} numbers, one per y and not all equal"
        raise ValueError(f"x must be {wanted}, got {checks.shown(x)}")
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    if any(isinstance(e, Estimate) for e in y):
        complete("y", y)
        return sum((w * exactly(e) for w, e in zip(weights, y, strict=True)), Estimate(0.0))
    y = _sample("y", y)
    if len(x) < 3:
        return Estimate(weights @ y, math.inf)
    if not np.ptp(y):
        return Estimate(0.0)
    fit = scipy.stats.linregress(x, y)
    return Estimate(fit.slope, fit.stderr * scipy.stats.t.isf(LEVEL, len(x) - 2) / STANDARD_ERRORS)
