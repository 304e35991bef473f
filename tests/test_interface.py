"""What users call refuses a bad value in one line that names the argument, or has an answer."""

import dataclasses
import math
import random
import subprocess
import sys
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from conftest import refused
from numpy.random import laplace as global_laplace
from scipy import stats

from privregret import estimates, exact, rare, simulate, tables
from privregret.adversarial import EXP3, HTINF, BatchedPrivate, SparseSwitch
from privregret.bandits import DPIMED, DPSE, AnytimeLazyUCB, BanditAlgorithm
from privregret.companion import Game, PhasedFTNL
from privregret.core import checks
from privregret.core.algorithm import NOT_PRIVATE, Privacy, Steps
from privregret.core.jit import jit
from privregret.full_information import FTNL
from privregret.instances import (
    Adversary,
    BernoulliBandit,
    Problem,
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
        (checks.positive_int, 10**400, (2**62,)),
        (checks.positive_int, 1e17, ("1e+17",)),  # may have been rounded
        (checks.integer_in(2, 5), 6, ("5", "6")),
        (checks.number_in(0, 1, "[)"), 1, ("[0, 1)", "1")),
        (checks.one_of("DPSE", "UCB1"), "DPS", ("'DPSE', 'UCB1'", "'DPS'")),
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
    @checks.validate(runs=checks.positive_int, fraction=checks.probability)
    def run(runs, fraction=2.0):
        """Documented."""
        return runs, fraction

    assert run(3.0) == (3, 2.0) and run(3, 1) == (3, 1.0)  # defaults are not checked
    assert run.__doc__ == "Documented." and run.__name__ == "run"
    refused(lambda: run(0), "runs", "1", "0")
    refused(lambda: run(3, fraction=2.0), "fraction", "2.0")
    refused(lambda: checks.validate(horizon=checks.positive_int)(run), "run", "horizon")


# Mistakes in an algorithm of one's own

ARM, STATE = np.dtype([("total", float)]), np.dtype([("best", np.int64)])
# the second is hidden by the argument of that name
RNG = rng = np.random.default_rng(1)


@jit
def choose(arms, state, settings, t, rng):
    pulls, _ = settings
    return t // int(pulls) % len(arms)


@jit
def observe(arms, state, settings, t, j, reward, rng):
    arms[j]["total"] += reward


@jit
def misspelt(arms, state, settings, t, rng):
    return int(arms[0]["totl"])


@jit
def late(arms, state, settings, t, rng):
    return 0 if t < 10**6 else int(arms[0]["totl"])


@jit
def fraction(arms, state, settings, t, rng):
    return (t - 1) / len(arms)


@jit
def unsupported(arms, state, settings, t, rng):
    return rng.choice(len(arms))


@jit
def half(arms, state, settings, t, rng):
    return rng.integers(len(arms))


@jit
def outside(arms, state, settings, t, rng):
    return int(arms[len(arms) + 20]["total"] > 1)


@jit
def writes_outside(arms, state, settings, t, j, reward, rng):
    arms[len(arms)]["total"] = reward


def plain(arms, state, settings, t, j, reward, rng):
    pass


@jit
def swapped(arms, state, settings, t, reward, j, rng):
    arms[j]["total"] += reward


@jit
def short(arms, state, settings, t, j, reward):
    arms[j]["total"] += reward


def mine(choose=choose, observe=observe, settings=(1.0, 0.0), start=None, **own):
    """An algorithm of these steps, its parameters all 1."""
    kind = dataclasses.make_dataclass(
        "Mine", own, bases=(BanditAlgorithm,), frozen=True, namespace=NAMES
    )
    kind.steps, kind.settings = Steps(ARM, STATE, choose, observe), lambda self, *sizes: settings
    if start:
        kind.start, kind.steps = start, None
    return kind(*own.values())


NAMES = {"id": "mine", "label": "mine", "source": "a test", "privacy": NOT_PRIVATE}


@pytest.mark.parametrize(
    ("wrong", "shown"),
    [
        ({"choose": misspelt}, ["choose", "totl"]),
        ({"choose": late}, ["choose", "totl"]),
        ({"choose": fraction}, ["choose", "0.0"]),
        ({"choose": unsupported}, ["choose", "rng.choice(len(arms))"]),
        ({"choose": outside}, ["choose", "IndexError"]),
        ({"observe": writes_outside}, ["observe", "IndexError"]),
        ({"choose": half}, ["choose", "rng.integers(len(arms))", "high"]),
        ({"observe": swapped}, ["observe", 'arms[j]["total"] += reward']),
        ({"observe": short}, ["observe", "6", "7"]),
        ({"settings": 3.0}, ["choose", "pulls, _ = settings"]),
        ({"settings": {"a": 1}}, ["settings", "dict"]),
    ],
)
def test_a_mistake_in_a_step_is_one_line(wrong, shown):
    algorithm = mine(**wrong)

    def live():
        learner = algorithm.start(3, rng=1, horizon=10)
        learner.choose()
        learner.observe(1.0)

    pair = [TABLE, [[1.0, 0.0, 0.5], *TABLE[1:]]]
    for call in (
        live,
        lambda: algorithm.run(BANDIT, [10], rng=1),
        lambda: algorithm.play(TABLE, rng=1),
        lambda: simulate.regret_summary(algorithm, BANDIT, **RUNS),
        lambda: tables.regret_curves(algorithm, rewards=TABLE, runs=2, seed=1),
        lambda: audit.searched_loss(algorithm.play, pair, runs=4, seed=1),
    ):
        error = refused(call, "Mine", *shown)
        assert "0.0" in shown or "NUMBA_DISABLE_JIT=1" in str(error)


def test_steps_are_both_compiled_or_both_plain():
    algorithm = mine(observe=plain)
    refused(lambda: algorithm.play(TABLE, rng=1), "Mine", "observe", "@jit")
    refused(lambda: algorithm.run(BANDIT, [10], rng=1), "Mine", "observe", "@jit")


@jit
def helper():
    return np.random.laplace()  # noqa: NPY002


@jit
def through_a_helper(arms, state, settings, t, rng):
    return int(helper() > 0)


@jit
def by_its_name(arms, state, settings, t, rng):
    return int(global_laplace() > 0)  # noqa: NPY002


@jit
def python_random(arms, state, settings, t, rng):
    return random.randrange(2)


def held(arms, state, settings, t, rng):
    return int(RNG.random() > 0.5)


class Unseeded:
    def __init__(self, rng):
        self.rng = np.random.default_rng()

    def choose(self):
        return int(self.rng.integers(2))

    def observe(self, reward):
        pass


class Fixed(Unseeded):
    def __init__(self, rng):
        self.rng = np.random.default_rng(seed=3)


class Shared(Unseeded):
    rng = np.random.default_rng(3)

    def __init__(self, rng):
        pass


class Named(Unseeded):
    def __init__(self, rng):
        self.rng = np.random.default_rng(len(ARM))


class Hidden:
    @property
    def rng(self):
        return random.randrange(2)


class Default(Unseeded):
    def __init__(self, rng, state=np.random.default_rng(3)):  # noqa: B008
        self.rng = state


class Scipy(Unseeded):
    def __init__(self, rng):
        self.drawn = stats.norm.rvs(size=3)


class Seeded(Unseeded):
    def __init__(self, rng):
        from numpy.random import default_rng

        self.rng = default_rng(rng)
        self.drawn = stats.norm.rvs(random_state=self.rng)
        assert isinstance(self.rng, np.random.Generator)


def started(learner):
    return lambda self, arms, rng, horizon=None: learner(rng)


@pytest.mark.parametrize(
    ("wrong", "shown"),
    [
        ({"choose": through_a_helper}, ["np.random.laplace", "helper"]),
        ({"choose": by_its_name}, ["global_laplace", "by_its_name"]),
        ({"choose": python_random}, ["random.randrange", "python_random"]),
        ({"choose": held}, ["RNG", "held"]),
        ({"start": started(Unseeded)}, ["np.random.default_rng", "__init__"]),
        ({"start": started(Fixed)}, ["np.random.default_rng", "__init__"]),
        ({"start": started(Shared)}, ["Shared.rng"]),
        ({"start": started(Named)}, ["np.random.default_rng", "__init__"]),
        ({"start": started(Hidden)}, ["random.randrange", "rng"]),
        ({"start": started(Default)}, ["np.random.default_rng", "__init__"]),
        ({"start": started(Scipy)}, ["stats.norm.rvs", "__init__"]),
    ],
)
def test_random_numbers_that_ignore_the_seed_are_refused(wrong, shown):
    refused(lambda: mine(**wrong), "Mine", "rng", *shown, error=TypeError)


def test_a_learner_may_make_a_generator_of_its_rng():
    assert len(mine(start=started(Seeded)).start(2, 1).rng.random(2)) == 2


@pytest.mark.parametrize("name", ["t", "instance", "mean", "proved_epsilon", "weight", "error"])
def test_a_parameter_does_not_replace_a_column(name):
    for call in (simulate.regret_curves, simulate.regret_summary):
        refused(lambda call=call: call(mine(**{name: 1}), BANDIT, **RUNS), name, "Mine")
    refused(lambda: tables.regret_curves(mine(**{name: 1}), rewards=TABLE, runs=1, seed=1), name)
    for known, call in (
        (FTNL, lambda own: exact.regret_curves(own(0.5), LOSSES, 4)),
        (DPIMED, lambda own: rare.regrets(own(0.5), BANDIT, 16, 3, 1)),
    ):
        own = dataclasses.make_dataclass(
            "Own", [(name, float, 1.0)], bases=(known,), frozen=True, namespace={"id": "own"}
        )
        refused(lambda call=call, own=own: call(own), name, "Own")


def test_any_dataclass_and_long_arrays_are_parameters():
    one, other = np.arange(2000.0), np.arange(2000.0)
    other[1000] = 0.5
    algorithms = [mine(prior=one), mine(prior=other), mine(prior=BANDIT), mine(prior=DPSE(0.5))]
    # one class, as a user would have
    algorithms = [type(algorithms[0])(a.prior) for a in algorithms]
    frame = simulate.regret_curves(algorithms, BANDIT, **RUNS | {"points": 1, "runs": 1})
    assert [*map(str, frame.prior)] == [str(one), str(other), repr(BANDIT), "DP-SE"]
    copied = [algorithms[0], type(algorithms[0])(one.copy())]
    refused(lambda: simulate.regret_curves(copied, BANDIT, **RUNS), "algorithms", "Mine")
    inner = [type(algorithms[0])(DPSE(epsilon)) for epsilon in (0.5, 1.0)]
    assert simulate.regret_summary(inner, BANDIT, **RUNS).epsilon.nunique() == 2
    refused(
        lambda: simulate.regret_curves(mine(epsilon=1, base=DPSE(0.5)), BANDIT, **RUNS), "epsilon"
    )


def test_modules_are_attributes_without_being_imported():
    code = """
import sys, privregret
assert not {"privregret.simulate", "numba", "pandas", "scipy"} & {*sys.modules}
assert {"simulate", "bandits"} < set(dir(privregret)) and privregret.simulate.regret_curves
privregret.nonsense
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("AttributeError") and "nonsense" in last, done.stderr


@jit
def never(arms, state, settings, t, rng):
    return 1


def test_a_subclass_with_other_steps_or_its_own_learner_is_what_is_played():
    class Second(AnytimeLazyUCB):
        id, label = "second", "second"
        steps = AnytimeLazyUCB.steps._replace(choose=never)

    class Third(AnytimeLazyUCB):
        id, label = "third", "third"

        def start(self, arms, rng, horizon=None):
            return Always()

    class Always:
        def choose(self):
            return 2

        def observe(self, reward):
            pass

    problem, table = BernoulliBandit("three", (0.9, 0.5, 0.1)), np.ones((20, 3))
    for arm, algorithm in ((1, Second(1.0)), (2, Third(1.0))):
        assert algorithm.run(problem, [20], rng=1)[0, arm] == 20
        assert set(algorithm.play(table, rng=1)) == {arm}


@pytest.mark.parametrize("wrong", [math.nan, -1.0])
def test_a_privacy_that_cannot_be_is_refused(wrong):
    algorithm = type("Odd", (type(mine()),), {"privacy": Privacy(1.0, wrong), "id": "odd"})()
    refused(lambda: simulate.regret_summary(algorithm, BANDIT, **RUNS), "Odd", wrong)


def test_a_class_without_its_own_id_is_refused_before_any_run():
    heir = type("Heir", (DPSE,), {})(0.5)
    refused(lambda: simulate.regret_summary(heir, BANDIT, **RUNS), "Heir", "id", error=TypeError)
    refused(lambda: tables.regret_curves(heir, rewards=TABLE, runs=2, seed=1), "Heir", "id")


@pytest.mark.parametrize(
    ("wrong", "shown"),
    [
        ({"start": lambda self, rng, arms, horizon=None: None}, ["start", "'rng', 'arms'"]),
        ({"start": lambda self, arms, horizon, rng: None}, ["start", "'horizon', 'rng'"]),
        ({"steps": (ARM, STATE, choose, observe)}, ["steps", "Steps", "tuple"]),
    ],
)
def test_steps_or_a_start_of_another_form_are_refused(wrong, shown):
    refused(lambda: type("Mine", (BanditAlgorithm,), NAMES | wrong), "Mine", *shown)


@jit
def by_its_settings(arms, state, settings, t, rng):
    return t // settings.pulls % len(arms) if settings.fast else 0


def test_kernels_take_the_parameters_that_are_numbers():
    own = {"name": str, "pulls": int, "rate": "float", "fast": bool, "prior": object}
    kind = dataclasses.make_dataclass("Own", own.items(), bases=(BanditAlgorithm,), frozen=True)
    for name, value in (NAMES | {"steps": Steps(ARM, STATE, by_its_settings, observe)}).items():
        setattr(kind, name, value)
    kind.__abstractmethods__ = frozenset()
    algorithm = kind("x", 2, 0.5, True, None)
    assert algorithm.settings(None, 2) == (2, 0.5, True)
    assert algorithm.play(TABLE, rng=1).tolist() == [0, 1, 1, 2]


@dataclasses.dataclass(frozen=True)
class Grades(Problem):
    """Rewards 0, 1/2 and 1: a problem of one's own needs no more than this."""

    name: str
    arms: int = 2
    law = ("grades",)
    gaps = np.array([0.0, 0.25])

    def table(self, horizon, rng):
        drawn = np.random.default_rng(rng).integers(0, 3, (horizon, 2)) / 2
        return drawn * [1.0, 0.5]


class OnGrades(BanditAlgorithm):
    plays, id, label, source, privacy = Grades, "on", "on", "a test", NOT_PRIVATE

    def start(self, arms, rng, horizon=None):
        return Second()


class Second:
    def choose(self):
        return 1

    def observe(self, reward):
        assert reward in (0.0, 0.25, 0.5)


def test_a_problem_of_ones_own_is_played():
    frame = simulate.regret_curves(OnGrades(), Grades("mine"), **RUNS)
    assert frame.regret.tolist() == (frame.t / 4).tolist()
    refused(lambda: simulate.regret_curves(OnGrades(), BANDIT, **RUNS), "on", "Grades")
