"""Verdicts at and around their borders, and the numbers that go into them."""

import math

import numpy as np
import pytest

from privregret.findings import (
    NOT_REPRODUCED,
    REPRODUCED,
    STANDARD_ERRORS,
    UNDECIDED,
    Finding,
    largest_step,
    ratio,
    rounded,
    spread,
)


def finding(value, error=0.0, **bounds):
    return Finding("Section 1", "a claim", "a number", value, error, **bounds)


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


def test_an_error_that_is_only_rounding_counts_as_none():
    assert finding(1e6, 1e-6, low=1e6).error == 0
    assert finding(1e6, 1e-6, low=1e6).verdict == REPRODUCED
    assert finding(1e6, 1e-2, low=1e6).verdict == UNDECIDED
    assert finding(0, 1e-12, low=0).verdict == UNDECIDED  # nothing to compare it with


def test_criterion_and_row():
    assert finding(1, high=2.5).criterion == "at most 2.5"
    assert finding(1, low=2.5).criterion == "at least 2.5"
    assert finding(1, low=0.25, high=2).criterion == "0.25 to 2"
    row = finding(np.float64(3), 0.5, low=1).row()
    assert row == {
        "where": "Section 1",
        "claim": "a claim",
        "quantity": "a number",
        "value": 3.0,
        "error": 0.5,
        "low": 1.0,
        "high": None,
        "criterion": "at least 1",
        "verdict": REPRODUCED,
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


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (123.456, 0, "123.5"),
        (0.00123456, 0, "0.001235"),
        (123.456, 230, "123"),
        (123.456, 23, "123"),
        (123.456, 2.3, "123.5"),
        (123.456, 0.23, "123.46"),
        (123.456, 0.099, "123.456"),
        (123.456, 0.1, "123.46"),
        (-0.98765, 0.0123, "-0.988"),
        (2, 0.001, "2.0000"),
    ],
)
def test_rounded_keeps_two_digits_of_the_error(value, error, text):
    assert rounded(value, error) == text


@pytest.mark.parametrize("error", [-1, math.nan, math.inf, "1"])
def test_rounded_refuses_bad_errors(error):
    with pytest.raises((ValueError, TypeError)):
        rounded(1.0, error)


def test_ratio_by_hand():
    value, error = ratio(np.array([3.0, 5.0]), np.array([1.0, 2.0, 3.0]))  # 4 +- 1 over 2 +- 1/sqrt(3)
    assert value == 2
    assert error == pytest.approx(2 * math.sqrt(1 / 16 + 1 / 12))


# mean, standard deviation and size of two samples
@pytest.mark.parametrize(
    ("numerator", "denominator"),
    [((10, 2, 40), (5, 1, 60)), ((-3, 1, 30), (8, 2, 30)), ((1, 0.1, 20), (1, 0, 5))],
)
def test_the_error_of_a_ratio_is_the_spread_of_ratios(numerator, denominator):
    rng = np.random.default_rng(0)

    def sample(mean, sd, size):
        return rng.normal(mean, sd, size)

    values, errors = np.array([ratio(sample(*numerator), sample(*denominator)) for _ in range(4000)]).T
    assert values.mean() == pytest.approx(numerator[0] / denominator[0], rel=0.01)
    assert errors.mean() == pytest.approx(values.std(ddof=1), rel=0.06)


def around(mean, half=0.5):
    return np.array([mean - half, mean + half])


def test_largest_step_compares_neighbours_in_order_of_the_keys():
    falling = {8.0: around(3), 1.0: around(16), 2.0: around(8)}
    assert largest_step(falling) == ratio(around(8), around(16))
    rising = falling | {4.0: around(12)}
    assert largest_step(rising) == ratio(around(12), around(8))


def test_spread_is_largest_over_smallest():
    samples = {"a": around(3), "b": around(12), "c": around(4)}
    assert spread(samples) == ratio(around(12), around(3))
    assert spread({"a": around(3), "b": around(3)})[0] == 1
