"""Rules name the argument that was passed, say what is allowed, and keep sound values."""

import math

import numpy as np
import pytest
from conftest import refused

from privregret import checks


@pytest.mark.parametrize(
    ("rule", "value", "shown"),
    [
        (checks.positive_int, 1e30, (2**62, "1e+30")),
        (checks.positive_int, -1e30, ("1", "-1e+30")),
        (checks.positive_int, 10**400, (2**62, "2^1328")),
        (checks.positive_int, 1e17, ("1e+17",)),  # may have been rounded
        (checks.nonnegative_int, -1, ("0", "-1")),
        (checks.integer_in(2, 5), 6, ("5", "6")),
        (checks.probability, 1.5, ("[0, 1]", "1.5")),
        (checks.number_in(0, 1, "[)"), 1, ("[0, 1)", "1")),
        (checks.number_in(2, math.inf), math.inf, ("2", "inf")),
        (checks.one_of("DPSE", "UCB1"), "DPS", ("'DPSE', 'UCB1'", "'DPS'", "'DPSE'?")),
        (checks.one_of("DPSE", "UCB1"), "KL", ("'DPSE', 'UCB1'", "'KL'")),
        (checks.list_of(checks.positive), "[0.5, nan]", ("this[1]", "nan")),
        (checks.list_of(checks.positive), [0.5, math.nan], ("this[1]", "nan")),
        (checks.list_of(checks.positive), "[0.5, 1]", ('"[0.5, 1]"',)),
        (checks.checkpoints(1), [[1], [2, 3]], ("[[1], [2, 3]]",)),
        (checks.checkpoints(1), [2, 2.5], ("[2, 2.5]",)),
        (checks.checkpoints(1), [2, 2], ("[2, 2]",)),
        (checks.checkpoints(3), [1, 2], ("(3)", "2")),
        (checks.checkpoints(1, 100), [2, 101], ("100", "101")),
        (checks.checkpoints(1), [1, 2**70], (2**62, "2^70")),
        (checks.checkpoints(1), np.array([1, 2**63], np.uint64), (2**62, 2**63)),
        (checks.array_in(0, 1, shape=2), [[0.5, 2.0]], ("[0, 1]", "2.0")),
        (checks.array_in(0, 1, shape=1), [[0.5]], ("[0, 1]", "[[0.5]]")),
    ],
)
def test_a_refusal_names_the_argument_and_what_is_allowed(rule, value, shown):
    refused(lambda: rule("this", value), "this", *shown)


def test_sound_values_have_one_type():
    assert (
        checks.integer_in(1, 10)("n", 7.0) == 7
        and type(checks.positive_int("n", np.int16(7))) is int
    )
    assert (
        type(checks.probability("p", 1)) is float
        and type(checks.positive("p", np.float32(2))) is float
    )
    found = checks.checkpoints(2)("points", (1, 5))
    assert found.dtype == np.int64 and found.tolist() == [1, 5]
    assert checks.array_in(0, 1, shape=2)("bits", np.array([[True, False]])).tolist() == [
        [1.0, 0.0]
    ]


def test_the_decorator_checks_what_is_passed_and_leaves_the_rest():
    @checks.arguments(
        runs=checks.positive_int, fraction=checks.probability, seed=checks.nonnegative_int
    )
    def run(runs, fraction=2.0, *, seed=None):
        """Documented."""
        return runs, fraction, seed

    assert run(3.0) == (3, 2.0, None)  # defaults are not checked
    assert run(3, 1, seed=None) == (3, 1.0, None)
    assert run.__doc__ == "Documented." and run.__name__ == "run"
    refused(lambda: run(0), "runs", "1", "0")
    refused(lambda: run(3, fraction=2.0), "fraction", "2.0")
    refused(lambda: run(3, seed=-1), "seed", "-1")
    refused(lambda: run(None), "runs", "None")
    refused(lambda: checks.arguments(horizon=checks.positive_int)(run), "run", "horizon")
