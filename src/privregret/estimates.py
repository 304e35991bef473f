"""A number with its error, and what one does with such numbers: means, shares, ratios, slopes, the largest of many.

Two kinds of error are kept apart: `se`, the standard error of something drawn at random, and `bound`, how far off a
computation may be. Independent standard errors add in squares, bounds add up. Both sides of an operation count as
independent.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy  # scipy.stats is loaded when it is first used: it takes a second

from privregret import checks

STANDARD_ERRORS = 3  # half-width of the interval that a verdict looks at
LARGEST = 1e300  # entry of a sample
LEVEL = scipy.special.ndtr(-STANDARD_ERRORS)  # how often a normal estimate is off by more, to one side
ROUNDING = 1e-9  # relative errors below this are what is left of an error that is 0


def _sample(name, value):
    """A non-empty (n,) array of numbers, or of True and False."""
    flags = isinstance(value, (list, tuple)) and all(isinstance(v, (bool, np.bool_)) for v in value)
    if flags or getattr(value, "dtype", np.dtype(float)).kind == "b":
        value = np.asarray(value, float)
    return checks.array_in(-LARGEST, LARGEST, shape=1)(name, value)


def real(name, value, low=-math.inf):
    """A number, perhaps infinite."""
    if type(value) is not float:
        try:
            value = float([value] if isinstance(value, str) or np.ndim(value) else value)  # what is no number fails
        except (TypeError, ValueError, OverflowError):
            raise TypeError(f"{name} must be a number, got {checks.shown(value)}") from None
    if not value >= low:  # a nan is not
        allowed = f" of at least {low:g}" if low > -math.inf else ""
        raise ValueError(f"{name} must be a number{allowed}, got {checks.shown(value)}")
    return value


def _error(name, value):
    return real(name, value, 0)


@dataclass(frozen=True)
class Estimate(checks.Checked):
    """A number and how well it is known.

    Parameters
    ----------
    value : float
    se : float
        Standard error, at least 0; inf if a single draw tells nothing about it.
    bound : float
        Bound on the numerical error, at least 0.
    """

    value: float
    se: float = 0.0
    bound: float = 0.0
    rules = {"value": real, "se": _error, "bound": _error}

    @property
    def low(self) -> float:
        """Lower end of the interval that a verdict looks at."""
        return self.value - self.reach

    @property
    def high(self) -> float:
        """Upper end of that interval."""
        return self.value + self.reach

    @property
    def reach(self) -> float:
        """Half of that interval: three standard errors and the numerical error; 0 where only rounding is left."""
        reach = STANDARD_ERRORS * self.se + self.bound
        return reach if reach > ROUNDING * abs(self.value) else 0.0

    def __add__(self, other):
        other = exactly(other)
        return Estimate(self.value + other.value, math.hypot(self.se, other.se), self.bound + other.bound)

    def __mul__(self, other):
        other = exactly(other)
        se = math.hypot(self.se * other.value, other.se * self.value)
        bound = self.bound * abs(other.value) + other.bound * abs(self.value) + self.bound * other.bound
        return Estimate(self.value * other.value, se, bound)

    def __truediv__(self, other):
        other = exactly(other)
        if other.bound >= abs(other.value):
            raise ZeroDivisionError(f"the divisor {other.value:g} is not known to differ from 0")
        value = self.value / other.value
        se = math.hypot(self.se, value * other.se) / abs(other.value)
        return Estimate(value, se, (self.bound + abs(value) * other.bound) / (abs(other.value) - other.bound))

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -exactly(other)

    def __rsub__(self, other):
        return exactly(other) - self

    def __rtruediv__(self, other):
        return exactly(other) / self

    __radd__ = __add__
    __rmul__ = __mul__

    def log(self) -> "Estimate":
        """Natural logarithm, to first order in the standard error."""
        if not self.value - self.bound > 0:
            raise ValueError(f"items must be numbers above 0, got {self.value:g}, known to {self.bound:g}")
        return Estimate(math.log(self.value), self.se / self.value, -math.log1p(-self.bound / self.value))


def exactly(value) -> Estimate:
    """A number as an estimate without error; an estimate as it is."""
    return value if isinstance(value, Estimate) else Estimate(value)


@checks.arguments(sample=_sample)
def mean(sample) -> Estimate:
    """Mean of independent draws and its standard error: infinite for one draw, 0 for draws equal but for rounding."""
    value, sd = sample.mean(), sample.std(ddof=1) if len(sample) > 1 else math.inf
    return Estimate(value, sd / math.sqrt(len(sample)) if sd > ROUNDING * abs(value) else 0.0)


def share(successes, draws: int | None = None) -> Estimate:
    """Share of successes in independent draws; never without error, even if it is 0 or 1.

    Parameters
    ----------
    successes : (n,) array of bool, or int with `draws`
        The error is a third of the distance to the farther of the exact (Clopper-Pearson) limits.
    """
    if draws is None:
        if np.ndim(successes) == 0:
            raise TypeError(f"draws must come with a number of successes, got {checks.shown(successes)} alone")
        sample = _sample("successes", successes)
        hits, n = checks.integer_in(0, len(sample))("successes", sample.sum()), len(sample)
    else:
        n = checks.positive_int("draws", draws)
        hits = checks.integer_in(0, n)("successes", successes)
    low = scipy.stats.beta.ppf(LEVEL, hits, n - hits + 1) if hits else 0.0
    high = scipy.stats.beta.isf(LEVEL, hits + 1, n - hits) if hits < n else 1.0
    return Estimate(hits / n, max(high - hits / n, hits / n - low) / STANDARD_ERRORS)


@checks.arguments(sample=_sample)
def median(sample) -> Estimate:
    """Median of independent draws; the error is a third of the distance to the order statistics that enclose it."""
    return quantile(sample, 0.5)


@checks.arguments(sample=_sample, level=checks.number_in(0, 1, "()"))
def quantile(sample, level: float) -> Estimate:
    """Quantile of independent draws, for any law: its limits are order statistics (binomial)."""
    ordered = np.sort(sample)
    n = len(ordered)
    low, high = (int(scipy.stats.binom.ppf(q, n, level)) for q in (LEVEL, 1 - LEVEL))
    value = ordered[min(int(n * level), n - 1)]
    if low < 1 or high >= n:
        return Estimate(value, math.inf)
    return Estimate(value, max(value - ordered[low - 1], ordered[high] - value) / STANDARD_ERRORS)


@checks.arguments(frame=checks.dataframe, value=checks.text)
def cells(frame, value: str | None = None) -> list[Estimate]:
    """The rows of a frame as estimates, by its columns.

    `simulate.summary` has mean and se (infinite if there was a single run), `exact.regret_curves` regret and error (a
    bound). Another column is taken with `<value>_se` or `<value>_error` if there is one, else as exact.
    """
    value = value or ("mean" if "mean" in frame else "regret")
    zero = np.zeros(len(frame))
    se = frame.get("se" if value == "mean" else f"{value}_se", zero)
    bound = frame.get("error" if value == "regret" else f"{value}_error", zero)
    if value == "mean" and "runs" in frame:
        se = np.where(frame.runs < 2, np.inf, se)
    return [Estimate(*row) for row in zip(frame[value], se, bound, strict=True)]


@checks.arguments(frame=checks.dataframe, value=checks.text)
def cell(frame, value: str | None = None, **where) -> Estimate:
    """The one row of a frame in which the named columns have these values, as an estimate; see `cells`."""
    for column, wanted in where.items():
        frame = frame[frame[column] == wanted]
    if len(frame) != 1:
        raise ValueError(f"{where} must name one row, got {len(frame)}")
    return cells(frame, value)[0]


def _item(value):
    return value if isinstance(value, Estimate) else Estimate(real("items", value))


def _all(items, over, value):
    if not hasattr(items, "columns"):
        if isinstance(items, (str, dict)) or not hasattr(items, "__iter__"):
            raise TypeError(f"items must be a frame or a list of numbers, got {checks.shown(items)}")
        estimates = [_item(e) for e in items]
    elif over is None:
        estimates = cells(items, value)
    else:
        estimates = [e / b for e, b in zip(cells(items, value), items[over], strict=True)]
    if not estimates:
        raise ValueError("items must hold at least one number, got none")
    if not all(math.isfinite(e.value) for e in estimates):
        raise ValueError("items must hold finite numbers, got an infinite one")
    return estimates


@checks.arguments(over=checks.text, value=checks.text)
def largest(items, over=None, value: str | None = None) -> Estimate:
    """The largest of several numbers, each perhaps relative to a bound.

    Selecting the largest of noisy numbers favours those that came out too large. So the interval is one that holds
    for all cells at once: the largest of the upper limits and the largest of the lower limits, each with as many
    standard errors as Bonferroni's rule asks for that many noisy cells.

    Parameters
    ----------
    items : pandas.DataFrame or sequence of Estimate or float
        Of a frame, the rows as `cells` reads them.
    over : str, optional
        Column of bounds by which each number is divided.
    value : str, optional
        Which column; see `cells`.
    """
    estimates = _all(items, over, value)
    noisy = max(1, sum(e.se > 0 for e in estimates))
    width = scipy.stats.norm.isf(LEVEL / noisy)
    value = max(e.value for e in estimates)
    high = max(e.value + width * e.se for e in estimates)
    low = max(e.value - width * e.se for e in estimates)
    bound = max(max(e.value + e.bound for e in estimates) - value, value - max(e.value - e.bound for e in estimates))
    return Estimate(value, max(high - value, value - low) / STANDARD_ERRORS, bound)


@checks.arguments(over=checks.text, value=checks.text)
def smallest(items, over=None, value: str | None = None) -> Estimate:
    """The smallest of several numbers; as `largest`."""
    return -largest([-e for e in _all(items, over, value)])


@checks.arguments(value=checks.text)
def spread(items, value: str | None = None) -> Estimate:
    """Largest over smallest of several numbers above 0, with an interval that holds for all of them at once."""
    return largest(items, value=value) / smallest(items, value=value)


@checks.arguments(value=checks.text)
def largest_step(items, value: str | None = None) -> Estimate:
    """Largest ratio of a number to the one before it, in the order given: at most 1 if they fall."""
    return largest([b / a for a, b in pairwise(_all(items, None, value))])


def slope(x, y) -> Estimate:
    """Least-squares slope of y on x.

    If y holds estimates with errors of their own, these make the slope's error. If y holds plain numbers, the scatter
    about the line does, with Student's distribution at the level of three standard errors: right for points that
    scatter at random, not for a deterministic curve that bends; for that, pass `exactly(...)` numbers, whose slope is a
    number without error.
    """
    x = _sample("x", x)
    if len(x) != len(y) or not np.ptp(x):
        raise ValueError(f"x must be {len(y)} numbers that are not all the same, one for each y, got {checks.shown(x)}")
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    if any(isinstance(e, Estimate) for e in y):
        return sum((w * exactly(e) for w, e in zip(weights, y, strict=True)), Estimate(0.0))
    fit = scipy.stats.linregress(x, _sample("y", y))
    widen = scipy.stats.t.isf(LEVEL, len(x) - 2) / STANDARD_ERRORS if len(x) > 2 else math.inf
    return Estimate(fit.slope, fit.stderr * widen if len(x) > 2 else math.inf)


@checks.arguments(value=checks.text)
def logs(items, value: str | None = None) -> list[Estimate]:
    """Natural logarithms of numbers above 0, for slopes of powers."""
    return [e.log() for e in _all(items, None, value)]


@checks.arguments(value=real, error=_error)
def rounded(value: float, error: float = 0.0) -> str:
    """`value` with as many digits as its error supports (two of the error's), or four if it is exact."""
    if error <= 1e-9 * abs(value) or not math.isfinite(error):
        return f"{value:.4g}"
    decimals = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{decimals}f}"
