"""What users call refuses a bad value in one line that names the argument, or has an answer."""

import dataclasses
import math
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from conftest import refused

from privregret import estimates, exact, simulate, tables
from privregret.adversarial import EXP3, HTINF, BatchedPrivate, SparseSwitch
from privregret.bandits import DPIMED, DPSE, AnytimeLazyUCB
from privregret.companion import Game, PhasedFTNL
from privregret.core import checks
from privregret.full_information import FTNL
from privregret.instances import (
    Adversary,
    BernoulliBandit,
    bernoulli_losses,
    fixed_experts,
    gap_adversary,
)
from privregret.privacy import audit, noisy_maxima

TABLE = np.array([[0.0, 1.0, 0.5], [1.0, 0.25, 0.0], [0.5, 0.0, 1.0], [0.0, 0.0, 1.0]])
MEANS = np.array([0.75, 0.5, 0.25])
BANDIT, LOSSES = BernoulliBandit("three", MEANS), bernoulli_losses((0.25, 0.5, 0.75), (1, 2, 4))
CURVES = pd.DataFrame({"a": ["x", "x", "y", "y"], "regret": [1.0, 2.0, 3.0, 5.0]})
RUNS = {"horizon": 16, "runs": 3, "seed": 3, "points": 4, "workers": 1}
# what is called, and sound arguments; all their numbers are exact in 32 bits
CALLS = {
    "DPSE": (DPSE, {"epsilon": 0.5, "beta": 0.125}),
    "DPIMED": (DPIMED, {"epsilon": 0.5, "n0": 1}),
    "DPIMED.play": (partial(DPIMED(0.5).play, rng=1), {"rewards": TABLE}),
    "DPIMED.start": (partial(DPIMED(0.5).start, rng=1), {"arms": 3, "horizon": 100}),
    "DPIMED.run": (partial(DPIMED(0.5).run, rng=1), {"problem": BANDIT, "checkpoints": [4, 16]}),
    "FTNL": (FTNL, {"epsilon": 0.5, "noise": "gumbel"}),
    "FTNL.play": (partial(FTNL(0.5).play, rng=1), {"losses": TABLE}),
    "PhasedFTNL": (PhasedFTNL, {"epsilon": 0.5, "growth": 2.0}),
    "EXP3": (EXP3, {"eta": 0.125, "gamma": 0.125}),
    "BatchedPrivate": (BatchedPrivate, {"base": HTINF(2.0), "epsilon": 0.5}),
    "SparseSwitch": (SparseSwitch, {"epsilon": 0.5, "rate": 0.125}),
    "BernoulliBandit": (BernoulliBandit, {"name": "a name", "means": MEANS}),
    "StochasticLosses": (bernoulli_losses, {"means": MEANS, "counts": [1, 2, 4]}),
    "Adversary": (Adversary, {"name": "a name", "starts": [0], "losses": TABLE[:1]}),
    "fixed_experts": (fixed_experts, {"experts": 8, "arms": 2}),
    "gap_adversary": (gap_adversary, {"arms": 2, "gap": 0.5}),
    "checkpoints": (simulate.checkpoints, {"horizon": 1024, "points": 4}),
    "regret_curves": (
        simulate.regret_curves,
        {"algorithms": AnytimeLazyUCB(0.5), "problems": BANDIT} | RUNS,
    ),
    "regret_summary": (
        simulate.regret_summary,
        {"algorithms": DPIMED(0.5), "problems": BANDIT} | RUNS,
    ),
    "tables.regret_curves": (
        tables.regret_curves,
        {"algorithms": DPIMED(0.5), "rewards": TABLE, "runs": 2, "seed": 3, "points": 4},
    ),
    "exact.regret_curves": (
        exact.regret_curves,
        {"algorithms": FTNL(0.5), "problems": LOSSES, "horizons": [4, 100]},
    ),
    "exact.selection_probabilities": (
        exact.selection_probabilities,
        {"instance": LOSSES, "rounds": 7, "noise": "gumbel", "scale": 2.0},
    ),
    "estimates.means": (estimates.means, {"frame": CURVES, "by": ["a"], "value": "regret"}),
    "estimates.quantile": (estimates.quantile, {"sample": np.arange(64) / 4, "level": 0.5}),
    "estimates.fraction": (estimates.fraction, {"successes": 7, "draws": 20}),
    "Estimate": (estimates.Estimate, {"value": 3.0, "se": 0.5, "bound": 0.25}),
    "Game": (Game, {"rounds": 3}),
    "epoch_loss": (
        noisy_maxima.epoch_loss,
        {"actions": 3, "rounds": 2, "noise": "laplace", "scale": 2.0},
    ),
    "searched_loss": (
        partial(audit.searched_loss, DPSE(0.5).play, [TABLE, [[1.0, 0.0, 0.5], *TABLE[1:]]]),
        {"runs": 20, "seed": 3},
    ),
}
HOSTILE = [
    *(math.nan, math.inf, -math.inf, -1.0, 0, 5e-324, 1e300, 2**63, 10**400),
    *(1j, None, "1", object(), [], [math.nan, 0.5], [[0.25], [0.25, 0.5]], ["a", "b"]),
    *(np.array([0.5, math.inf]), np.array(["1"]), np.array([0.5, None], object), {"a": 1.0}),
]
# an answer may say that something is unknown or unbounded
OPEN = ("Estimate", "estimates.means", "estimates.quantile", "regret_summary", "searched_loss")


def numbers_in(answer):
    """All numbers of an answer, one after the other."""
    if isinstance(answer, pd.DataFrame):
        answer = dict(answer)
    if dataclasses.is_dataclass(answer):
        answer = {f.name: getattr(answer, f.name) for f in dataclasses.fields(answer)}
    if isinstance(answer, dict):
        answer = list(answer.values())
    if isinstance(answer, (list, tuple)):
        return [x for value in answer for x in numbers_in(value)]
    found = np.ravel(answer).tolist()
    return [x for x in found if isinstance(x, (int, float))]


def outcome(called, **changed):
    """The answer; or the refusal, which is one line."""
    call, sound = CALLS[called]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return call(**sound | changed)
    except (ValueError, TypeError, KeyError) as refusal:
        message = str(refusal)
        assert "\n" not in message and 0 < len(message) < 400, message
        return refusal


@pytest.mark.parametrize("name", CALLS)
def test_a_bad_value_is_refused_by_the_name_of_its_argument(name):
    seen = 0
    for key in CALLS[name][1]:
        for value in HOSTILE:
            answer = outcome(name, **{key: value})
            if isinstance(answer, Exception):
                assert key.rstrip("s") in str(answer), f"{key} = {value!r}: {answer}"
                seen += 1
            elif name not in OPEN:
                assert np.isfinite(numbers_in(answer)).all(), f"{key} = {value!r}: {answer}"
    assert seen > 5


@pytest.mark.parametrize("name", CALLS)
def test_the_same_numbers_in_another_form_have_the_same_answer(name):
    answer = outcome(name)
    assert not isinstance(answer, Exception), answer
    expected = numbers_in(answer)
    for key, value in CALLS[name][1].items():
        forms = []
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            forms = [np.float32(value), np.array(value), np.array(value, object)]
        elif isinstance(value, np.ndarray):
            forms = [value.tolist(), value.astype(np.float32), np.repeat(value, 2, -1)[..., ::2]]
        for form in forms:
            answer = outcome(name, **{key: form})
            if not isinstance(answer, Exception):
                np.testing.assert_array_equal(numbers_in(answer), expected, f"{key}: {form!r}")


@pytest.mark.parametrize(
    ("rule", "value", "shown"),
    [
        (checks.positive_int, 1e30, (2**62, "1e+30")),
        (checks.positive_int, 10**400, (2**62, "2^1328")),
        (checks.positive_int, 1e17, ("1e+17",)),  # may have been rounded
        (checks.integer_in(2, 5), 6, ("5", "6")),
        (checks.number_in(0, 1, "[)"), 1, ("[0, 1)", "1")),
        (checks.one_of("DPSE", "UCB1"), "DPS", ("'DPSE', 'UCB1'", "'DPS'", "'DPSE'?")),
        (checks.list_of(checks.positive), [0.5, math.nan], ("this[1]", "nan")),
        (checks.list_of(checks.positive), "[0.5, 1]", ('"[0.5, 1]"',)),
        (checks.checkpoints(1), [2, 2.5], ("[2, 2.5]",)),
        (checks.checkpoints(3), [1, 2], ("(3)", "2")),
        (checks.checkpoints(1, 100), [2, 101], ("100", "101")),
        (checks.checkpoints(1), np.array([1, 2**63], np.uint64), (2**62, 2**63)),
        (checks.array_in(0, 1, shape=2), [[0.5, 2.0]], ("[0, 1]", "2.0")),
    ],
)
def test_a_rule_names_the_argument_and_what_is_allowed(rule, value, shown):
    refused(lambda: rule("this", value), "this", *shown)


def test_the_decorator_checks_what_is_passed_and_leaves_the_rest():
    @checks.arguments(runs=checks.positive_int, fraction=checks.probability)
    def run(runs, fraction=2.0):
        """Documented."""
        return runs, fraction

    assert run(3.0) == (3, 2.0) and run(3, 1) == (3, 1.0)  # defaults are not checked
    assert run.__doc__ == "Documented." and run.__name__ == "run"
    refused(lambda: run(0), "runs", "1", "0")
    refused(lambda: run(3, fraction=2.0), "fraction", "2.0")
    refused(lambda: checks.arguments(horizon=checks.positive_int)(run), "run", "horizon")
