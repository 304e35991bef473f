"""Findings: one claim, one number, one criterion, one verdict."""

import math
import re
from dataclasses import dataclass
from operator import le, lt
from typing import Any

import numpy as np

from privregret.estimates import Estimate, real

CLAIM, STEP, OURS = "claim", "step", "ours"
KINDS = {
    CLAIM: "what the paper says",
    STEP: "a step of a proof, or a formula or listing on the way to a claim; steps that hold are "
    "tests, so these counts are no sample",
    OURS: "a check or an extension of our own",
}
MISPRINT, CONDITION, ERROR = "misprint", "condition", "error"
# how a claim or step fails as printed
FAILURES = {
    ERROR: "What misleads a reader who follows the text.",
    MISPRINT: "Slips of a display or a listing. The claims are judged with them repaired.",
    CONDITION: "True but for an edge of the stated range. The claims are judged within it.",
}
# what that adds to the verdict
ADDED = {MISPRINT: " after the repair of a misprint", CONDITION: " under a condition"}
UNDECIDED = "cannot be decided"
# of vague words: "competitive" is at most 1.25 times as much, "flat" between 0.8 and 1.25
TOLERANCE = 0.25
WORDS = {CLAIM: ("reproduced", "not reproduced"), STEP: ("holds", "does not hold")}
WORDS[OURS] = WORDS[STEP]
# kind -> all verdicts, in the order of tables
VERDICTS = {
    kind: (yes, *(yes + added for added in ADDED.values()), no, UNDECIDED)
    for kind, (yes, no) in WORDS.items()
}
EVIDENCE = "proof", "closed form", "enumeration", "quadrature", "simulation"
STANDS = "yes", "partly", "no"
# of a row, left out where they are empty
STATED = "title", "evidence", "failure", "printed", "repair", "stands", "corrected", "note"
OPTIONAL = *STATED, "rows"


@dataclass(frozen=True)
class Criterion:
    """Values of a quantity that agree with a statement, made by `criterion`."""

    # ends of their interval, infinite where it has none; whether the ends themselves disagree
    low: float
    high: float
    strict: bool
    # as it is printed, such as "<= 1"
    text: str
    # beyond these the study is wrong, and not the claim
    least: float = -math.inf
    most: float = math.inf

    def judge(self, number: Estimate) -> bool | None:
        """Say whether all values within the error agree (True), none (False), or some (None)."""
        inside, outside = (lt, le) if self.strict else (le, lt)
        # an end, the end of the interval that is nearest to what is beyond, and the farthest
        sides = [(self.low, number.low, number.high), (-self.high, -number.high, -number.low)]
        sides = [side for side in sides if math.isfinite(side[0])]
        if all(inside(end, nearest) for end, nearest, _ in sides):
            return True
        return False if any(outside(farthest, end) for end, _, farthest in sides) else None

    def impossible(self, numbers: list[Estimate]) -> str:
        """Say which number is certainly beyond what is possible, up to rounding, or ""."""
        for number in numbers:
            for name, limit, excess in (
                ("but_at_least", self.least, self.least - number.high),
                ("but_at_most", self.most, number.low - self.most),
            ):
                if excess > 1e-9 * max(1, abs(limit)):
                    return f"{number.value:.6g} with {name} = {_digits(limit)}: the study is wrong"
        return ""

    def worst(self, numbers: list[Estimate]) -> int:
        """Say which number decides a statement about all: of those with the worst verdict, the one
        whose interval reaches farthest beyond the criterion."""
        order = {False: 0, None: 1, True: 2}

        def rank(i):
            beyond = max(self.low - numbers[i].low, numbers[i].high - self.high)
            return order[self.judge(numbers[i])], -beyond

        return min(range(len(numbers)), key=rank)


SIGNS = {"at_most": "<=", "below": "<", "at_least": ">=", "above": ">"}
# a cell that begins with = would be a formula of a spreadsheet
SIGNS |= {"between": "in", "equal": "equals"}
IN_WORDS = {sign: form.replace("_", " ") for form, sign in SIGNS.items()} | {"equals": "equal to"}
# forms that may have a tolerance
TOLERANT = "equal", "at_most", "at_least"
# arguments of `criterion`
CRITERION = *SIGNS, "within", "but_at_least", "but_at_most"


def criterion(
    *,
    within: float = 0.0,
    but_at_least: float = -math.inf,
    but_at_most: float = math.inf,
    **form: Any,
) -> Criterion:
    """Make the criterion of a finding from exactly one of `at_most=1`, `at_least=1`, `equal=1` (the
    value itself agrees), `below=1`, `above=1` (it disagrees), `between=(0.8, 1.25)` (both agree).

    `within` is a tolerance of the first three, and printed. A number that fails by more than
    `but_at_least` or `but_at_most` allows is impossible, so the study that has it is wrong.
    ValueError for no form or several, nan, or a criterion that every number meets or none, or a
    limit that is not beyond it; TypeError for what is no number.
    """
    if len(form) != 1 or form.keys() - SIGNS.keys():
        raise ValueError(f"give one of {', '.join(SIGNS)}, got {', '.join(form) or 'none'}")
    ((name, value),) = form.items()
    if name == "between" and np.shape(value) != (2,):
        raise ValueError(f"between must be a pair of numbers, got {value!r}")
    low, high = (real(name, end) for end in (value if name == "between" else (value, value)))
    within = real("within", within, 0)
    if within and name not in TOLERANT:
        raise ValueError(f"within is for {', '.join(TOLERANT)} alone, got {within} with {name}")
    if not low <= high or math.isinf(low) or math.isinf(high):
        raise ValueError(f"{name} must be a finite number or an increasing pair, got {value}")
    tolerance = f" within {_digits(within)}" if within else ""
    values = f"[{_digits(low)}, {_digits(high)}]" if name == "between" else _digits(low)
    low = -math.inf if name in ("at_most", "below") else low - within
    high = math.inf if name in ("at_least", "above") else high + within
    least, most = real("but_at_least", but_at_least), real("but_at_most", but_at_most)
    if not least <= low <= high <= most:
        raise ValueError(f"but_at_least and but_at_most must be beyond {name} = {value}")
    text = f"{SIGNS[name]} {values}{tolerance}"
    return Criterion(low, high, name in ("below", "above"), text, least, most)


def _digits(number):
    """A number with all its digits if six are enough, else with six: 1e-6, 0.8, 3.14159."""
    return re.sub(r"e([+-])0*", lambda e: "e" + e[1].strip("+"), f"{number:.6g}")


def in_words(criterion: str) -> str:
    """A criterion for a line of text, without the tolerance of a bound.

    >>> [in_words(c) for c in ("<= 1 within 1e-9", "in [0.8, 1.25]", "equals 1 within 0.1")]
    ['at most 1', 'between 0.8 and 1.25', 'equal to 1 within 0.1']
    """
    bound, _, within = criterion.partition(" within ")
    sign, _, value = bound.partition(" ")
    said = f"{IN_WORDS[sign]} {value.strip('[]').replace(', ', ' and ')}"
    return f"{said} within {within}" if sign == SIGNS["equal"] and within else said


def numbers_of(number: Estimate) -> dict:
    """An estimate as the manifest has it."""
    return {"value": number.value, "error": number.se, "numerical_error": number.bound}


def estimate_of(entry: dict) -> Estimate:
    """The estimate of a number or a finding of the manifest."""
    return Estimate(entry["value"], entry["error"], entry["numerical_error"])


def worded(judged: bool | None, kind: str, failure: str) -> str:
    """The verdict on a statement whose number was judged so."""
    agrees, differs = WORDS[kind]
    if judged is None:
        return UNDECIDED
    return agrees + ADDED.get(failure, "") if judged else differs


def at_tolerance(row: dict, tolerance: float) -> str:
    """The verdict of a finding's `row` if vague words had this tolerance and not `TOLERANCE`; "" if
    its criterion has no such end."""
    moved = {1 + TOLERANCE: 1 + tolerance, 1 / (1 + TOLERANCE): 1 / (1 + tolerance)}
    ends = [moved.get(row[end]) for end in ("low", "high") if row[end] is not None]
    if None in ends:
        return ""
    low = moved.get(row["low"], -math.inf)
    high = moved.get(row["high"], math.inf)
    strict = row["criterion"].partition(" ")[0] in (SIGNS["below"], SIGNS["above"])
    judged = Criterion(low, high, strict, "").judge(estimate_of(row))
    return worded(judged, row["kind"], row.get("failure", ""))


@dataclass(frozen=True)
class Finding:
    """A statement, a measured number, and whether the two agree.

    The number stands for an interval: three standard errors and the bound on its numerical error to
    either side. A claim is *reproduced* if all of it meets the criterion, *not reproduced* if none
    of it does, else it *cannot be decided*. What is not a claim *holds* or *does not hold*.

    What fails as printed has a `failure`. A *misprint* is judged repaired, and a *condition* where
    it is met: the verdict says so. Of an *error* the criterion is about what is printed.
    """

    # in the notebook's TOML file
    key: str
    # section, theorem or figure of the paper
    place: str
    # true if the verdict is "reproduced" or "holds"
    claim: str
    # what is measured, as a formula in words
    quantity: str
    measured: Estimate
    criterion: Criterion
    kind: str = CLAIM
    # the figure or table that shows it
    figure: str = ""
    # at most eight words
    title: str = ""
    # one of `EVIDENCE`
    evidence: str = ""
    note: str = ""
    # of what fails as printed: one of `FAILURES`; the words of the paper; what is true instead, or
    # the condition; whether the theorem stands, one of `STANDS`; where it is corrected in print
    failure: str = ""
    printed: str = ""
    repair: str = ""
    stands: str = ""
    corrected: str = ""
    # of a statement about several settings: all of them
    rows: tuple = ()

    @property
    def verdict(self) -> str:
        return worded(self.criterion.judge(self.measured), self.kind, self.failure)

    @property
    def contradiction(self) -> str:
        """Say what is wrong if the number contradicts `failure`, or "": only errors differ."""
        judged = self.criterion.judge(self.measured)
        if self.kind == OURS or judged is None or judged == (self.failure != ERROR):
            return ""
        said = f"with failure = {self.failure!r}" if self.failure else "without a failure"
        return f"a {self.kind} {said} is {self.verdict}"

    def _ipython_display_(self):
        """Show nothing: `publish.verdict` has shown the finding, and IPython would show the last
        value of a cell again."""

    def row(self) -> dict:
        """Return one row of `findings.csv`; an end that the criterion does not have is None."""
        said = {name: v for name, v in vars(self).items() if v or name not in OPTIONAL}
        agrees = said.pop("criterion")
        ends = {"low": agrees.low, "high": agrees.high}
        said |= {name: None if math.isinf(end) else end for name, end in ends.items()}
        said |= {"criterion": agrees.text, "verdict": self.verdict}
        return said | numbers_of(said.pop("measured"))
