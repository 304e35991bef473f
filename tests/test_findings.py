"""Verdicts at and around their borders, for claims and for the other kinds of finding."""

import math

import numpy as np
import pytest
from conftest import refused

from privregret.estimates import STANDARD_ERRORS, Estimate
from privregret.press.findings import FAILS, HOLDS, NOT_REPRODUCED, REPRODUCED, UNDECIDED, Finding


def finding(value, error=0.0, bound=0.0, **more):
    return Finding("Section 1", "a claim", "a number", Estimate(value, error, bound), **more)


# intervals are value +- 3 errors; all numbers below are exact in binary
@pytest.mark.parametrize(
    ("value", "error", "verdict"),
    [
        (0.5, 0, REPRODUCED),
        (0.0, 0, REPRODUCED),  # the borders belong to the claim
        (1.0, 0, REPRODUCED),
        (math.nextafter(1, 2), 0, NOT_REPRODUCED),
        (math.nextafter(0, -1), 0, NOT_REPRODUCED),
        (0.25, 0.0625, REPRODUCED),
        (0.1875, 0.0625, REPRODUCED),  # interval [0, 0.375]
        (0.125, 0.0625, UNDECIDED),
        (0.0, 0.0625, UNDECIDED),
        (-0.125, 0.0625, UNDECIDED),
        (-0.1875, 0.0625, UNDECIDED),  # interval [-0.375, 0] touches the claim
        (-0.25, 0.0625, NOT_REPRODUCED),
        (0.8125, 0.0625, REPRODUCED),  # interval [0.625, 1]
        (0.875, 0.0625, UNDECIDED),
        (1.1875, 0.0625, UNDECIDED),  # interval [1, 1.375]
        (1.25, 0.0625, NOT_REPRODUCED),
        (0.5, 0.25, UNDECIDED),  # wider than the claim
        (0.5, math.inf, UNDECIDED),
    ],
)
def test_verdict_of_a_claim_with_two_bounds(value, error, verdict):
    assert STANDARD_ERRORS == 3
    assert finding(value, error, low=0, high=1).verdict == verdict


@pytest.mark.parametrize(
    ("value", "error", "at_most", "at_least"),
    [
        (1.0, 0, REPRODUCED, REPRODUCED),
        (0.5, 0, REPRODUCED, NOT_REPRODUCED),
        (2.0, 0, NOT_REPRODUCED, REPRODUCED),
        (0.25, 0.25, REPRODUCED, UNDECIDED),  # interval ends at the bound
        (1.75, 0.25, UNDECIDED, REPRODUCED),  # interval starts there
        (0.0, 0.25, REPRODUCED, NOT_REPRODUCED),
        (1.0, 0.25, UNDECIDED, UNDECIDED),
        (-math.inf, 0, REPRODUCED, NOT_REPRODUCED),
        (math.inf, 0, NOT_REPRODUCED, REPRODUCED),
    ],
)
def test_verdict_of_a_claim_with_one_bound(value, error, at_most, at_least):
    assert finding(value, error, high=1).verdict == at_most
    assert finding(value, error, low=1).verdict == at_least


def test_a_numerical_error_widens_the_interval_once_not_three_times():
    assert finding(0.5, bound=0.5, high=1).verdict == REPRODUCED
    assert finding(0.5, 0.125, 0.25, high=1).verdict == UNDECIDED
    assert finding(0.5, 0.125, 0.125, high=1).verdict == REPRODUCED


@pytest.mark.parametrize("kind", ["step", "ours"])
def test_what_is_not_a_claim_holds_or_does_not(kind):
    assert finding(0.5, high=1, kind=kind).verdict == HOLDS
    assert finding(1.5, high=1, kind=kind).verdict == FAILS
    assert finding(1.0, 0.1, high=1, kind=kind).verdict == UNDECIDED
    refused(lambda: finding(1, high=2, kind="remark"), "kind", "'ours'", "'remark'")


def test_an_error_that_is_only_rounding_counts_as_none():
    assert finding(1e6, 1e-6, low=1e6).verdict == REPRODUCED
    assert finding(1e6, 1e-2, low=1e6).verdict == UNDECIDED
    assert finding(0, 1e-12, low=0).verdict == UNDECIDED  # nothing to compare it with


def test_criterion_and_row():
    assert finding(1, high=2.5).criterion == "at most 2.5"
    assert finding(1, low=2.5).criterion == "at least 2.5"
    assert finding(1, low=0.25, high=2).criterion == "0.25 to 2"
    row = finding(np.float64(3), 0.5, low=1).row()
    assert row == {
        "kind": "claim",
        "place": "Section 1",
        "claim": "a claim",
        "quantity": "a number",
        "value": 3.0,
        "error": 0.5,
        "numerical_error": 0.0,
        "low": 1.0,
        "high": None,
        "criterion": "at least 1",
        "verdict": REPRODUCED,
        "figure": "",
        "headline": "",
    }


@pytest.mark.parametrize(
    ("value", "error", "bounds"),
    [
        (math.nan, 0, {"low": 0}),
        (1, math.nan, {"low": 0}),
        (1, -0.1, {"low": 0}),
        (1, 0, {}),  # nothing could refute it
        (1, 0, {"low": 2, "high": 1}),
        (1, 0, {"low": math.nan}),
        (1, 0, {"high": math.nan}),
    ],
)
def test_findings_that_say_nothing_are_refused(value, error, bounds):
    with pytest.raises(ValueError):
        finding(value, error, **bounds)
