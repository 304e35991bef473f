"""One claim, one number, one verdict."""

import math
from dataclasses import dataclass

from privregret import checks
from privregret.estimates import Estimate, real

CLAIM, STEP, OURS = "claim", "step", "ours"
KINDS = {
    CLAIM: "what the paper says",
    STEP: "a step of a proof, a constant or a formula, where the statement itself stands or is judged apart",
    OURS: "a check, a repair or an extension of our own",
}
UNDECIDED = "cannot be decided"
REPRODUCED, NOT_REPRODUCED = "reproduced", "not reproduced"  # of claims
HOLDS, FAILS = "holds", "does not hold"  # of the others
VERDICTS = {CLAIM: (REPRODUCED, NOT_REPRODUCED, UNDECIDED), STEP: (HOLDS, FAILS, UNDECIDED)}
VERDICTS[OURS] = VERDICTS[STEP]
# "competitive", "flat", "close", "performs well": within 25 per cent, one tolerance for all vague
# words
VAGUE = 1.25


@dataclass(frozen=True)
class Finding(checks.Checked):
    """What is said, what was measured, and whether the two agree.

    The verdict is computed. The measured number stands for an interval: three standard errors and
    the bound on its numerical error to either side. A claim is *reproduced* if the whole interval
    lies in [low, high], *not reproduced* if none of it does; else it *cannot be decided*. What is
    not a claim of the paper *holds* or *does not hold*.

    Parameters
    ----------
    place : str
        Section, theorem or figure of the paper.
    claim : str
        What is said, in our words, with its qualifiers (TeX mathematics allowed).
    quantity : str
        What the number is.
    measured : Estimate or float
    low, high : float
        Values of the quantity that agree with the claim; at least one must be given.
    kind : {"claim", "step", "ours"}
        See `KINDS`.
    figure : str
        The figure or table that shows it.
    headline : str
        One sentence for the first page, in which {value} is the number; empty if the finding is not
        one of those.
    """

    place: str
    claim: str
    quantity: str
    measured: Estimate
    low: float = -math.inf
    high: float = math.inf
    kind: str = CLAIM
    figure: str = ""
    headline: str = ""
    rules = {
        "place": checks.text,
        "claim": checks.text,
        "quantity": checks.text,
        "measured": lambda name, value: (
            value if isinstance(value, Estimate) else Estimate(real(name, value))
        ),
        "low": real,
        "high": real,
        "kind": checks.one_of(*KINDS),
        "figure": checks.text,
        "headline": checks.text,
    }

    def __post_init__(self):
        super().__post_init__()
        if not self.low <= self.high or (math.isinf(self.low) and math.isinf(self.high)):
            raise ValueError(
                f"low and high must bound something, low <= high, got {self.low} and {self.high}"
            )

    @property
    def verdict(self) -> str:
        agrees, disagrees, undecided = VERDICTS[self.kind]
        if self.low <= self.measured.low and self.measured.high <= self.high:
            return agrees
        if self.measured.high < self.low or self.high < self.measured.low:
            return disagrees
        return undecided

    @property
    def criterion(self) -> str:
        """The values that agree with the claim, for readers."""
        if math.isinf(self.low):
            return f"at most {self.high:.4g}"
        if math.isinf(self.high):
            return f"at least {self.low:.4g}"
        return f"{self.low:.4g} to {self.high:.4g}"

    def _ipython_display_(self):
        """Nothing: `publish.finding` has shown it, and the last value of a cell would be shown once
        more."""

    def row(self) -> dict:
        """As one row of `findings.csv`; a bound that is not there is None."""
        return {
            "kind": self.kind,
            "place": self.place,
            "claim": self.claim,
            "quantity": self.quantity,
            "value": self.measured.value,
            "error": self.measured.se,
            "numerical_error": self.measured.bound,
            "low": None if math.isinf(self.low) else self.low,
            "high": None if math.isinf(self.high) else self.high,
            "criterion": self.criterion,
            "verdict": self.verdict,
            "figure": self.figure,
            "headline": self.headline,
        }
