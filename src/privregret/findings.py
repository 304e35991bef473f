"""One claim, one number, one verdict."""

import math
from dataclasses import asdict, dataclass
from itertools import pairwise

from scipy.stats import linregress

from privregret import checks

REPRODUCED, NOT_REPRODUCED, UNDECIDED = "reproduced", "not reproduced", "cannot be decided"
ROUNDING = 1e-9  # relative errors below this are what is left of a variance that is 0
STANDARD_ERRORS = 3  # half-width of the interval that a verdict looks at


@dataclass(frozen=True)
class Finding:
    """What a paper says, what was measured, and whether the two agree.

    The verdict is computed: *reproduced* if the whole interval value +- 3 errors lies in [low, high], *not
    reproduced* if none of it does, *cannot be decided* otherwise.

    Parameters
    ----------
    where : str
        Place of the claim in the paper.
    claim : str
        The claim in our words (TeX mathematics allowed).
    quantity : str
        What `value` is.
    value, error : float
        The measurement and its standard error; 0 for an exact value.
    low, high : float
        Values of the quantity that agree with the claim; at least one must be given.
    """

    where: str
    claim: str
    quantity: str
    value: float
    error: float = 0.0
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self):
        for name in ("value", "error", "low", "high"):
            object.__setattr__(self, name, float(getattr(self, name)))
        if math.isnan(self.value) or not self.error >= 0:
            raise ValueError(f"value and error must be numbers, error >= 0, got {self.value} and {self.error}")
        if self.error <= ROUNDING * abs(self.value):
            object.__setattr__(self, "error", 0.0)
        if not self.low <= self.high or (math.isinf(self.low) and math.isinf(self.high)):
            raise ValueError(f"low and high must bound something, low <= high, got {self.low} and {self.high}")

    @property
    def verdict(self) -> str:
        spread = STANDARD_ERRORS * self.error
        if self.low <= self.value - spread and self.value + spread <= self.high:
            return REPRODUCED
        if self.value + spread < self.low or self.high < self.value - spread:
            return NOT_REPRODUCED
        return UNDECIDED

    @property
    def criterion(self) -> str:
        """The values that agree with the claim, for readers."""
        if math.isinf(self.low):
            return f"at most {self.high:.4g}"
        if math.isinf(self.high):
            return f"at least {self.low:.4g}"
        return f"{self.low:.4g} to {self.high:.4g}"

    def row(self) -> dict:
        """As one row of `findings.csv`; a bound that is not there is None."""
        bounds = {name: None if math.isinf(getattr(self, name)) else getattr(self, name) for name in ("low", "high")}
        return asdict(self) | bounds | {"criterion": self.criterion, "verdict": self.verdict}


def rounded(value: float, error: float = 0.0) -> str:
    """`value` with as many digits as its standard error supports (two of the error's), or four if exact."""
    checks.number("error", error, 0)
    if error <= ROUNDING * abs(value):
        return f"{value:.4g}"
    decimals = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{decimals}f}"


def ratio(numerator, denominator) -> tuple[float, float]:
    """Ratio of two independent samples' means and its standard error (delta method)."""
    (a, sa), (b, sb) = ((x.mean(), x.std(ddof=1) / math.sqrt(len(x))) for x in (numerator, denominator))
    return a / b, abs(a / b) * math.hypot(sa / a, sb / b)


def largest_step(samples: dict) -> tuple[float, float]:
    """Largest ratio of a sample's mean to that of the sample before, in order of the keys, and its standard error."""
    keys = sorted(samples)
    return max(ratio(samples[b], samples[a]) for a, b in pairwise(keys))


def spread(samples: dict) -> tuple[float, float]:
    """Ratio of the largest to the smallest of the samples' means, and its standard error."""
    ordered = sorted(samples.values(), key=lambda sample: sample.mean())
    return ratio(ordered[-1], ordered[0])


def slope(x, y) -> tuple[float, float]:
    """Least-squares slope of y on x and its standard error, from the scatter about the line."""
    fit = linregress(x, y)
    return fit.slope, fit.stderr
