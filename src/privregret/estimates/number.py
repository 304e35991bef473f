"""Carry a number and its errors through arithmetic."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy  # scipy.stats is loaded when it is first used: it takes a second

from privregret.core import checks

STANDARD_ERRORS = 3  # half-width of the interval that a verdict uses
# probability that a normal estimate is off by more, per side
LEVEL = scipy.special.ndtr(-STANDARD_ERRORS)
ROUNDING = 1e-11  # relative errors below this are rounding errors


def real(name: str, value: object, low: float = -math.inf) -> float:
    """Check a number, which may be infinite."""
    if type(value) is not float:
        try:
            if isinstance(value, (str, bytes)) or np.ndim(value):
                raise TypeError
            value = float(value)
        except (TypeError, ValueError, OverflowError):
            raise TypeError(f"{name} must be a number, got {checks.shown(value)}") from None
    if not value >= low:  # also raises for nan
        allowed = f" of at least {low:g}" if low > -math.inf else ""
        raise ValueError(f"{name} must be a number{allowed}, got {checks.shown(value)}")
    return value


def complete(name: str, values: object) -> None:
    """Refuse missing values (nan, None, pandas.NA, masked) in one line that names the row."""
    values = values.astype(float).filled(np.nan) if np.ma.isMA(values) else values
    missing = np.asarray(pd.isna(values))
    if missing.ndim and missing.any():
        row = np.argwhere(missing)[0, 0]
        row = values.index[row] if isinstance(values, pd.Series) else row
        raise ValueError(f"{name} must have no missing values, got one in row {row}")


def _error(name, value):
    return real(name, value, 0)


@dataclass(frozen=True)
class Estimate(checks.Validated):
    """A number, its standard error (infinite if not known, as for a single draw) and a bound on its
    numerical error, both at least 0.

    Examples
    --------
    >>> Estimate(6.0, se=0.3) / Estimate(2.0, bound=0.5)
    Estimate(value=3.0, se=0.15, bound=1.0)
    >>> Estimate(2.0, se=0.1).high
    2.3
    """

    value: float
    se: float = 0.0
    bound: float = 0.0
    rules = {"value": real, "se": _error, "bound": _error}

    @property
    def low(self) -> float:
        """Return the lower end of the interval that a verdict uses."""
        return self.value - self.reach if math.isfinite(self.reach) else -math.inf

    @property
    def high(self) -> float:
        """Return the upper end of the interval that a verdict uses."""
        return self.value + self.reach if math.isfinite(self.reach) else math.inf

    @property
    def reach(self) -> float:
        """Return half that interval: three standard errors plus the bound, or 0."""
        reach = STANDARD_ERRORS * self.se + self.bound
        return reach if reach > ROUNDING * abs(self.value) or math.isinf(reach) else 0.0

    def __add__(self, other: "Estimate | float") -> "Estimate":
        other = exactly(other)
        se = math.hypot(self.se, other.se)
        return Estimate(self.value + other.value, se, self.bound + other.bound)

    def __mul__(self, other: "Estimate | float") -> "Estimate":
        other = exactly(other)
        sides = (self.se, other.value), (other.se, self.value)
        se = math.hypot(*(error * x if x else 0.0 for error, x in sides))
        bound = self.bound * abs(other.value) + other.bound * abs(self.value)
        return Estimate(self.value * other.value, se, bound + self.bound * other.bound)

    def __truediv__(self, other: "Estimate | float") -> "Estimate":
        other = exactly(other)
        if other.value == 0:
            raise ZeroDivisionError(f"the divisor must not be 0, got {other}")
        value = self.value / other.value
        if other.low <= 0 <= other.high:
            return Estimate(value, math.inf)
        se = math.hypot(self.se, value * other.se) / abs(other.value)
        smallest = abs(other.value) - other.bound
        return Estimate(value, se, (self.bound + abs(value) * other.bound) / smallest)

    def __neg__(self) -> "Estimate":
        return self * -1

    def __sub__(self, other: "Estimate | float") -> "Estimate":
        return self + -exactly(other)

    def __rsub__(self, other: "Estimate | float") -> "Estimate":
        return exactly(other) - self

    def __rtruediv__(self, other: "Estimate | float") -> "Estimate":
        return exactly(other) / self

    __radd__ = __add__
    __rmul__ = __mul__

    def log(self) -> "Estimate":
        """Return the natural logarithm, to first order in the standard error."""
        if not self.value > 0:
            raise ValueError(f"items must be positive, got {self.value:g}")
        if self.low <= 0:
            return Estimate(math.log(self.value), math.inf)
        bound = -math.log1p(-self.bound / self.value)
        return Estimate(math.log(self.value), self.se / self.value, bound)


def exactly(value: Estimate | float) -> Estimate:
    """Return a number as an estimate without error, and an estimate unchanged."""
    return value if isinstance(value, Estimate) else Estimate(value)


def estimates_of(name: str, values: Iterable[Estimate | float]) -> list[Estimate]:
    """Return numbers, none missing, as estimates."""
    values = values if hasattr(values, "__len__") else list(values)
    complete(name, values)
    return [v if isinstance(v, Estimate) else Estimate(real(name, v)) for v in values]


@checks.validate(value=real, error=_error)
def rounded(value: float, error: float = 0.0) -> str:
    """Format a value with the digits that its error supports, or four if exact."""
    if error <= ROUNDING * abs(value) or not math.isfinite(error):
        return f"{value:.4g}"
    decimals = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{decimals}f}"
