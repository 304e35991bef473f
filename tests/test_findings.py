"""Verdicts at and around their borders, for claims and for the other kinds of finding."""

import math

import numpy as np
import pytest
from conftest import refused

from privregret.estimates import STANDARD_ERRORS, Estimate
from privregret.press.findings import (
    FAILS,
    HOLDS,
    NOT_REPRODUCED,
    REPRODUCED,
    UNDECIDED,
    Finding,
    criterion,
)


def finding(value, error=0.0, bound=0.0, **more):
    kind = {"kind": more.pop("kind")} if "kind" in more else {}
    number = Estimate(value, error, bound)
    return Finding("Section 1", "a claim", "a number", number, criterion(**more), **kind)


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
    assert finding(value, error, between=(0, 1)).verdict == verdict
    assert finding(value, error, equal=0.5, within=0.5).verdict == verdict


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
    assert finding(value, error, at_most=1).verdict == at_most
    assert finding(value, error, at_least=1).verdict == at_least


def test_a_numerical_error_widens_the_interval_once_not_three_times():
    assert finding(0.5, bound=0.5, at_most=1).verdict == REPRODUCED
    assert finding(0.5, 0.125, 0.25, at_most=1).verdict == UNDECIDED
    assert finding(0.5, 0.125, 0.125, at_most=1).verdict == REPRODUCED


@pytest.mark.parametrize("kind", ["step", "ours"])
def test_what_is_not_a_claim_holds_or_does_not(kind):
    assert finding(0.5, at_most=1, kind=kind).verdict == HOLDS
    assert finding(1.5, at_most=1, kind=kind).verdict == FAILS
    assert finding(1.0, 0.1, at_most=1, kind=kind).verdict == UNDECIDED
    refused(lambda: finding(1, at_most=2, kind="remark"), "kind", "'ours'", "'remark'")


def test_an_error_that_is_only_rounding_counts_as_none():
    assert finding(1e6, 1e-6, at_least=1e6).verdict == REPRODUCED
    assert finding(1e6, 1e-2, at_least=1e6).verdict == UNDECIDED
    assert finding(0, 1e-12, at_least=0).verdict == UNDECIDED  # nothing to compare it with


@pytest.mark.parametrize(
    ("value", "error", "below", "above"),
    [
        (1.0, 0, NOT_REPRODUCED, NOT_REPRODUCED),  # the border itself disagrees
        (math.nextafter(1, 0), 0, REPRODUCED, NOT_REPRODUCED),
        (math.nextafter(1, 2), 0, NOT_REPRODUCED, REPRODUCED),
        (0.25, 0.25, UNDECIDED, NOT_REPRODUCED),  # interval [-0.5, 1] touches the border
        (0.125, 0.25, REPRODUCED, NOT_REPRODUCED),
        (1.75, 0.25, NOT_REPRODUCED, UNDECIDED),
        (1.875, 0.25, NOT_REPRODUCED, REPRODUCED),
        (1.0, 0.25, UNDECIDED, UNDECIDED),
        (-math.inf, 0, REPRODUCED, NOT_REPRODUCED),
        (math.inf, 0, NOT_REPRODUCED, REPRODUCED),
    ],
)
def test_strict_criteria_exclude_their_border(value, error, below, above):
    assert finding(value, error, below=1).verdict == below
    assert finding(value, error, above=1).verdict == above


def test_a_tolerance_moves_the_border_of_the_criteria_that_take_one():
    assert finding(1.0625, at_most=1, within=0.125).verdict == REPRODUCED
    assert finding(0.9375, at_least=1, within=0.125).verdict == REPRODUCED
    assert finding(1.0625, equal=1, within=0.125).verdict == REPRODUCED
    assert finding(1.0625, equal=1).verdict == finding(1.0625, at_most=1).verdict == NOT_REPRODUCED
    assert finding(1.0, equal=1).verdict == REPRODUCED


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"at_most": 2.5}, "<= 2.5"),
        ({"below": -1e-9}, "< -1e-9"),
        ({"at_least": 2**60}, ">= 1.15292e18"),
        ({"above": 0}, "> 0"),
        ({"between": (1 / 1.25, 1.25)}, "in [0.8, 1.25]"),
        ({"equal": 1, "within": 1e-6}, "= 1 within 1e-6"),
        ({"at_most": 1, "within": 0.001}, "<= 1 within 0.001"),
    ],
)
def test_a_criterion_is_printed_as_it_is(values, text):
    assert criterion(**values).text == text


def test_row():
    row = finding(np.float64(3), 0.5, at_least=1).row()
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
        "criterion": ">= 1",
        "verdict": REPRODUCED,
        "figure": "",
        "headline": "",
    }


@pytest.mark.parametrize(
    ("value", "error", "bounds"),
    [
        (math.nan, 0, {"at_least": 0}),
        (1, math.nan, {"at_least": 0}),
        (1, -0.1, {"at_least": 0}),
        (1, 0, {}),  # nothing could refute it
        (1, 0, {"at_least": 0, "at_most": 1}),
        (1, 0, {"at_most": math.inf}),
        (1, 0, {"between": (2, 1)}),
        (1, 0, {"between": (-math.inf, 1)}),
        (1, 0, {"at_least": math.nan}),
        (1, 0, {"equal": 1, "within": -1}),
        (1, 0, {"above": 1, "within": 0.1}),
    ],
)
def test_findings_that_say_nothing_are_refused(value, error, bounds):
    with pytest.raises(ValueError):
        finding(value, error, **bounds)
