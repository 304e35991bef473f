"""What users call refuses a bad value in one line that names the argument, or has an answer."""

import dataclasses
import math
import random
import subprocess
import sys
import warnings
from functools import partial
from types import SimpleNamespace
from typing import Optional

import numba
import numpy as np
import pandas as pd
import pytest
from conftest import refused
from scipy import stats

from privregret import estimates, exact, instances, rare, simulate, tables
from privregret.adversarial import EXP3, HTINF, BatchedPrivate, SparseSwitch
from privregret.bandits import DPIMED, DPSE, AnytimeLazyUCB, BanditAlgorithm
from privregret.companion import Game, PhasedFTNL
from privregret.core import checks, loops
from privregret.core.algorithm import NOT_PRIVATE, Privacy, Steps
from privregret.core.jit import jit
from privregret.full_information import FTNL
from privregret.instances import Adversary, BernoulliBandit, Problem, bernoulli_losses
from privregret.privacy import audit, noisy_maxima

TABLE = np.array([[0.0, 1.0, 0.5], [1.0, 0.25, 0.0], [0.5, 0.0, 1.0], [0.0, 0.0, 1.0]])
NEIGHBOUR = [[1.0, 0.0, 0.5], *TABLE[1:]]
MEANS = np.array([0.75, 0.5, 0.25])
BANDIT, LOSSES = BernoulliBandit("three", MEANS), bernoulli_losses((0.25, 0.5, 0.75), (1, 2, 4))
CURVES = pd.DataFrame({"a": ["x", "x", "y", "y"], "regret": [1.0, 2.0, 3.0, 5.0]})
RUNS = {"horizon": 16, "runs": 3, "seed": 3, "points": 4, "workers": 1}
ON_BANDIT = {"problems": BANDIT} | RUNS
NOISE = {"rounds": 2, "noise": "laplace", "scale": 2.0}
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
    "fixed_experts": (instances.fixed_experts, {"experts": 8, "arms": 2}),
    "gap_adversary": (instances.gap_adversary, {"arms": 2, "gap": 0.5}),
    "checkpoints": (simulate.checkpoints, {"horizon": 1024, "points": 4}),
    "regret_curves": (simulate.regret_curves, {"algorithms": AnytimeLazyUCB(0.5)} | ON_BANDIT),
    "regret_summary": (simulate.regret_summary, {"algorithms": DPIMED(0.5)} | ON_BANDIT),
    "tables.regret_curves": (
        tables.regret_curves,
        {"algorithms": DPIMED(0.5), "rewards": TABLE, "runs": 2, "seed": 3, "points": 4},
    ),
    "exact.regret_curves": (
        exact.regret_curves,
        {"algorithms": FTNL(0.5), "problems": LOSSES, "horizons": [4, 100]},
    ),
    "exact.selection_probabilities": (exact.selection_probabilities, {"instance": LOSSES} | NOISE),
    "estimates.means": (estimates.means, {"frame": CURVES, "by": ["a"], "value": "regret"}),
    "estimates.quantile": (estimates.quantile, {"sample": np.arange(64) / 4, "level": 0.5}),
    "estimates.fraction": (estimates.fraction, {"successes": 7, "draws": 20}),
    "Estimate": (estimates.Estimate, {"value": 3.0, "se": 0.5, "bound": 0.25}),
    "Game": (Game, {"rounds": 3}),
    "epoch_loss": (noisy_maxima.epoch_loss, {"actions": 3} | NOISE),
    "searched_loss": (
        partial(audit.searched_loss, DPSE(0.5).play, [TABLE, NEIGHBOUR]),
        {"runs": 20, "seed": 3},
    ),
}
HOSTILE = [
    *(math.nan, math.inf, -1.0, 0, 5e-324, 1e300, 10**400, 1j, None, "1", object()),
    *([], [math.nan, 0.5], [[0.25], [0.25, 0.5]], np.array(["1"]), np.array([0.5, None], object)),
]
# an answer may say that something is unknown or unbounded
OPEN = ("Estimate", "estimates.means", "estimates.quantile", "regret_summary", "searched_loss")


def numbers_in(answer):
    """All numbers of an answer, one after the other."""
    if dataclasses.is_dataclass(answer):
        answer = [getattr(answer, f.name) for f in dataclasses.fields(answer)]
    if isinstance(answer, (dict, pd.DataFrame)):
        answer = list(dict(answer).values())
    if isinstance(answer, (list, tuple)):
        return [x for value in answer for x in numbers_in(value)]
    return [x for x in np.ravel(answer).tolist() if isinstance(x, (int, float))]


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
        # whose limits are near
        forms += [np.float16(value)] if key == "epsilon" else []
        for form in forms:
            answer = outcome(name, **{key: form})
            if not isinstance(answer, Exception):
                np.testing.assert_array_equal(numbers_in(answer), expected, f"{key}: {form!r}")


def test_a_rule_names_the_argument_and_what_is_allowed():
    number, listed = checks.positive_int, checks.list_of(checks.positive)
    for rule, value, *shown in (
        *((number, 1e30, 2**62, "1e+30"), (number, 10**400, 2**62)),
        *((number, value, value) for value in (2.5, True)),
        *((listed, [], 1, "[]"), (listed, [1, 1], "[1, 1]"), (listed, [0.5, math.nan], "this[1]")),
        *((listed, "[0.5, 1]", '"[0.5, 1]"'), (checks.means, [0.5], 2, "[0.5]")),
        *((checks.integer_in(2, 5), 6, 5, 6), (checks.number_in(0, 1, "[)"), 1, "[0, 1)", 1)),
        (checks.one_of("DPSE", "UCB1"), "DPS", "'DPSE', 'UCB1'", "'DPS'"),
        *((checks.checkpoints(1), [2, 2.5], "[2, 2.5]"), (checks.checkpoints(3), [1, 2], "(3)")),
        (checks.checkpoints(1), np.array([1, 2**63], np.uint64), 2**62, 2**63),
        (checks.array_in(0, 1, shape=2), [[0.5, 2.0]], "[0, 1]", 2.0),
    ):
        refused(partial(rule, "this", value), "this", *shown)


def test_the_decorator_checks_what_is_passed_and_leaves_the_rest():
    @checks.validate(runs=checks.positive_int, fraction=checks.probability)
    def run(runs, fraction=2.0):
        """Documented."""
        return runs, fraction

    # defaults are not checked
    assert (run(3.0), run(3, 1), run.__doc__) == ((3, 2.0), (3, 1.0), "Documented.")
    refused(lambda: run(3, fraction=2.0), "fraction", "2.0")
    refused(lambda: checks.validate(horizon=checks.positive_int)(run), "run", "horizon")


# Mistakes in an algorithm of one's own

ARM, STATE = np.dtype([("total", float)]), np.dtype([("best", np.int64)])
# the second is hidden by the argument of that name
RNG = rng = np.random.default_rng(1)
LATE = jit(lambda arms, state, settings, t, rng: 0 if t < 10**6 else int(arms[0]["totl"]))
FRACTION = jit(lambda arms, state, settings, t, rng: (t - 1) / len(arms))
UNSUPPORTED = jit(lambda arms, state, settings, t, rng: rng.choice(len(arms)))
OUTSIDE = jit(lambda arms, state, settings, t, rng: int(arms[len(arms) + 20]["total"] > 1))
ALWAYS = jit(lambda arms, state, settings, t, rng: 1)
TRUE = jit(lambda arms, state, settings, t, rng: t > 2)
BY_SETTINGS = jit(lambda arms, state, settings, t, rng: settings.fast * t // settings.pulls % 3)


@jit
def choose(arms, state, settings, t, rng):
    pulls, _ = settings
    return t // int(pulls) % len(arms)


@jit
def counts(arms, state, settings, t, rng):
    memo, _ = settings
    memo[0] += 1
    return int(memo[0]) % len(arms)


@jit
def observe(arms, state, settings, t, j, reward, rng):
    arms[j]["total"] += reward


@jit
def swapped(arms, state, settings, t, reward, j, rng):
    arms[j]["total"] += reward


def mine(choose=choose, observe=observe, settings=(1.0, 0.0), start=None, **own):
    """An algorithm of these steps, its parameters all 1."""
    more = {"bases": (BanditAlgorithm,), "frozen": True, "namespace": NAMES}
    kind = dataclasses.make_dataclass("Mine", own, **more)
    kind.steps = Steps(ARM, STATE, choose, observe)
    kind.settings = lambda self, *sizes: settings() if callable(settings) else settings
    if start:
        kind.start, kind.steps = start, None
    return kind(*own.values())


NAMES = {"id": "mine", "label": "mine", "source": "a test", "privacy": NOT_PRIVATE}


@pytest.mark.parametrize(
    ("wrong", "shown"),
    [
        ({"choose": LATE}, ["choose", "totl"]),
        ({"choose": FRACTION}, ["choose", "0.0"]),
        ({"choose": UNSUPPORTED}, ["choose", "rng.choice(len(arms))"]),
        ({"choose": OUTSIDE}, ["choose", "IndexError"]),
        ({"observe": swapped}, ["observe", 'arms[j]["total"] += reward']),
        ({"settings": 3.0}, ["choose", "pulls, _ = settings"]),
        ({"settings": {"a": 1}}, ["settings", "dict"]),
        ({"settings": lambda: 1 / 0}, ["settings", "ZeroDivisionError", "1 / 0"]),
        # from run to run
        ({"choose": counts, "settings": (np.zeros(1), 0.0)}, ["choose", "memo[0] += 1"]),
    ],
)
def test_a_mistake_in_a_step_is_one_line(wrong, shown):
    algorithm = mine(**wrong)

    def live():
        learner = algorithm.start(3, rng=1, horizon=10)
        learner.choose()
        learner.observe(1.0)

    pair = [TABLE, NEIGHBOUR]
    for call in (
        live,
        lambda: algorithm.run(BANDIT, [10], rng=1),
        lambda: simulate.regret_summary(algorithm, BANDIT, **RUNS),
        lambda: tables.regret_curves(algorithm, rewards=TABLE, runs=2, seed=1),
        lambda: audit.searched_loss(algorithm.play, pair, runs=4, seed=1),
    ):
        error = refused(call, "Mine", *shown)
        assert {"0.0", "1 / 0"} & {*shown} or "NUMBA_DISABLE_JIT=1" in str(error)


@jit
def helper():
    return np.random.laplace()  # noqa: NPY002


@jit
def through_a_helper(arms, state, settings, t, rng):
    return int(helper() > 0)


def held(arms, state, settings, t, rng):
    return int(RNG.random() > 0.5)


class Fixed:
    """A generator that is made anew from a constant."""

    def __init__(self, rng):
        self.rng = np.random.default_rng(seed=3)


class Fresh:
    def __init__(self, rng):
        self.rng = random.Random()


class Scipy:
    def __init__(self, rng):
        self.drawn = stats.norm.rvs(size=3)


class Shared:
    rng = np.random.default_rng(3)


class Seeded:
    """Nothing but the functions that make generators is named."""

    def __init__(self, rng):
        self.rng, self.maker = np.random.default_rng(rng), np.random.default_rng
        self.python = random.Random(int(rng))
        self.start = TABLE.mean(), NAMES
        self.normal = stats.norm.rvs(random_state=self.rng)

    def drawn(self, rng=None):
        return (self.rng if rng is None else rng).random(2)


def started(learner):
    return {"start": lambda self, arms, rng, horizon=None: learner(rng)}


def test_random_numbers_that_ignore_the_seed_are_refused():
    for wrong, *shown in (
        ({"choose": through_a_helper}, "np.random.laplace", "helper"),
        ({"choose": held, "observe": observe.py_func}, "RNG", "held"),
        *((started(Shared), "Shared"), (started(lambda _: RNG), "RNG", "lambda")),
        (started(Fixed), "np.random.default_rng", "__init__"),
        (started(Fresh), "random.Random", "__init__"),
        (started(Scipy), "rvs", "__init__"),
    ):
        refused(partial(mine, **wrong), "Mine", "rng", *shown, error=TypeError)
    assert len(mine(**started(Seeded)).start(2, 1).drawn()) == 2


def designed(self, arms, rng, horizon=None):
    design = np.random.default_rng(12345).normal(size=(arms, 2))
    return SimpleNamespace(choose=lambda: int(design[:, 0].argmax()), observe=float)


def test_a_fixed_design_that_is_public_is_said_to_be_one():
    refused(partial(mine, start=designed), "Mine", "np.random.default_rng", "fixed_draws")
    kind = type("Designed", (BanditAlgorithm,), NAMES | {"start": designed, "fixed_draws": True})
    assert len({*kind().play(TABLE, rng=1)}) == 1
    again = {"start": lambda self, arms, rng, horizon=None: np.random.default_rng()}
    wrong = type("Wrong", (BanditAlgorithm,), NAMES | again | {"fixed_draws": True})
    refused(wrong, "Wrong", "np.random.default_rng")


def test_steps_that_no_loop_can_take_are_refused():
    own = numba.njit(error_model="numpy")(choose.py_func)
    refused(partial(mine, choose=own), "choose", "Mine", "error_model", "@jit")
    refused(partial(mine, choose=choose.py_func), "choose", "Mine", "@jit")
    refused(partial(mine, observe=observe.py_func), "observe", "Mine", "@jit")
    assert mine(choose=numba.njit(choose.py_func)).play(TABLE, rng=1).tolist() == [1, 2, 0, 1]


def test_true_is_arm_1_in_every_way_of_playing():
    always = SimpleNamespace(choose=lambda: np.True_, observe=float)
    python = {"choose": TRUE.py_func, "observe": observe.py_func}
    for how in ({"choose": TRUE}, python, {"start": lambda *given, horizon=None: always}):
        own = mine(**how)
        live = loops.follow(own.start(3, 1), TABLE, False).tolist()
        assert own.play(TABLE, rng=1).tolist() == live
        counts = own.run(BANDIT, [4], rng=1)[0].tolist()
        assert counts == np.bincount(live, minlength=3).tolist()


@pytest.mark.parametrize("name", ["t", "mean", "weight"])
def test_a_parameter_does_not_replace_a_column(name):
    mistaken, more = mine(**{name: 1}), {"frozen": True, "namespace": {"id": "own"}}
    full, rarely = (
        dataclasses.make_dataclass("Own", [(name, float, 1.0)], bases=(known,), **more)(0.5)
        for known in (FTNL, DPIMED)
    )
    for call in (
        lambda: simulate.regret_curves(mistaken, BANDIT, **RUNS),
        lambda: simulate.regret_summary(mistaken, BANDIT, **RUNS),
        lambda: tables.regret_curves(mistaken, rewards=TABLE, runs=1, seed=1),
        lambda: exact.regret_curves(full, LOSSES, 4),
        lambda: rare.regrets(rarely, BANDIT, 16, 3, 1),
    ):
        refused(call, name)


def test_any_dataclass_and_long_arrays_are_parameters():
    one, other = np.arange(2000.0), np.arange(2000.0)
    other[1000] = 0.5
    kind = type(mine(prior=one))
    algorithms = [kind(prior) for prior in (one, other, BANDIT, DPSE(0.5))]
    frame = simulate.regret_curves(algorithms, BANDIT, **RUNS | {"points": 1, "runs": 1})
    assert [*frame.prior] == [tuple(one), tuple(other), repr(BANDIT), "DP-SE"]
    copied = [algorithms[0], kind(one.copy())]
    refused(lambda: simulate.regret_curves(copied, BANDIT, **RUNS), "algorithms", "Mine")
    inner = [kind(DPSE(epsilon)) for epsilon in (0.5, 1.0)]
    assert simulate.regret_summary(inner, BANDIT, **RUNS).epsilon.nunique() == 2
    twice = mine(epsilon=1, base=DPSE(0.5))
    refused(lambda: simulate.regret_curves(twice, BANDIT, **RUNS), "epsilon")


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


def starts(arm):
    learner = SimpleNamespace(choose=lambda: arm, observe=float)
    return lambda self, arms, rng, horizon=None: learner


def test_a_subclass_with_other_steps_or_its_own_learner_is_what_is_played():
    steps = AnytimeLazyUCB.steps._replace(choose=ALWAYS)
    problem, table = BernoulliBandit("three", (0.9, 0.5, 0.1)), np.ones((20, 3))
    for arm, own in ((1, {"steps": steps}), (2, {"start": starts(2)})):
        algorithm = type("Heir", (AnytimeLazyUCB,), {"id": "heir", "label": "heir"} | own)(1.0)
        assert algorithm.run(problem, [20], rng=1)[0, arm] == 20
        assert set(algorithm.play(table, rng=1)) == {arm}


def test_a_class_of_another_form_is_refused_before_any_run():
    def other(self, rng, arms, horizon=None):
        return 1

    for base, wrong, shown in (
        (BanditAlgorithm, NAMES | {"start": other}, "'rng', 'arms'"),
        (BanditAlgorithm, NAMES | {"steps": (ARM, STATE, choose, observe)}, "tuple"),
        *((type(mine()), {"privacy": Privacy(1.0, p), "id": "odd"}, p) for p in (-1.0, math.nan)),
        (type(mine()), {}, "id"),
    ):

        def run(base=base, wrong=wrong):
            simulate.regret_summary(type("Odd", (base,), wrong)(), BANDIT, **RUNS)

        refused(run, "Odd", shown)


def test_kernels_take_the_parameters_that_are_numbers():
    # not by make_dataclass, which annotates too late from Python 3.14 on
    kinds = {"name": str, "pulls": int, "rate": "float", "fast": bool, "prior": object}
    kinds |= {"cap": float | None, "least": Optional[int], "wide": np.int64}  # noqa: UP045
    kinds |= {"most": "np.float32 | None", "each": list[float], "none": None}
    named = {"steps": Steps(ARM, STATE, BY_SETTINGS, observe), "__annotations__": kinds}
    own = type("Own", (BanditAlgorithm,), NAMES | named)
    given = "x", 2, 0.5, True, None, None, 3, np.int64(4), 0.5, [1.0], None
    algorithm = dataclasses.dataclass(frozen=True)(own)(*given)
    named = {"pulls": 2, "rate": 0.5, "fast": True, "cap": None, "least": 3, "wide": 4, "most": 0.5}
    assert algorithm.settings(None, 2)._asdict() == named
    assert algorithm.play(TABLE, rng=1).tolist() == [0, 1, 1, 2]


@dataclasses.dataclass(frozen=True)
class Grades(Problem):
    """Rewards 0, 1/2 and 1: a problem of one's own needs no more than this."""

    name: str
    arms: int = 2
    distribution = ("grades",)
    gaps = np.array([0.0, 0.25])

    def table(self, horizon, rng):
        return np.random.default_rng(rng).integers(0, 3, (horizon, 2)) / 2 * [1.0, 0.5]


class OnGrades(BanditAlgorithm):
    problem_type, id, label, source, privacy = Grades, "on", "on", "a test", NOT_PRIVATE
    start = starts(1)


def test_a_problem_of_ones_own_is_played():
    frame = simulate.regret_curves(OnGrades(), Grades("mine"), **RUNS)
    assert frame.regret.tolist() == (frame.t / 4).tolist()
    refused(lambda: simulate.regret_curves(OnGrades(), BANDIT, **RUNS), "on", "Grades")


@dataclasses.dataclass(frozen=True)
class Means(BernoulliBandit):
    """Rewards that are the means themselves."""

    def table(self, horizon, rng):
        return np.tile(self.means, (horizon, 1))


def test_a_problem_with_a_table_of_its_own_is_played_by_tables_only():
    """Kernels play the data of the class above."""
    problem = Means("means", (0.75, 0.5, 0.25))
    for known in (AnytimeLazyUCB(0.5), mine()):
        for call in (
            lambda known=known: simulate.regret_curves(known, problem, **RUNS),
            lambda known=known: known.run(problem, [16], rng=1),
        ):
            refused(call, "Means", "table", "kernel_data", "tables.regret_curves", error=TypeError)
    refused(lambda: rare.regrets(DPIMED(0.5), problem, 16, 3, 1), "Means", "kernel_data")
    plain = simulate.regret_curves(mine(start=starts(1)), problem, **RUNS)
    assert plain.regret.tolist() == (plain.t / 4).tolist()
    same = type("Same", (type(LOSSES),), {"table": Means.table})
    losses = same("same", ((0.25, 0.5),), (0.0, 0.0), (1.0,), True)
    refused(lambda: exact.regret_curves(FTNL(0.5), losses, 4), "Same", "kernel_data")
    own = type("Both", (Means,), {"kernel_data": np.ones(3)})("both", (0.75, 0.5, 0.25))
    assert mine().run(own, [16], rng=1).sum() == 16


def test_two_definitions_of_a_class_are_named():
    old, new = (type(mine(start=starts(1))) for _ in range(2))
    new.__name__ = new.__qualname__ = old.__qualname__
    call = partial(simulate.regret_curves, [old(), new()], BANDIT, **RUNS)
    assert "again" in str(refused(call, "algorithms", "Mine"))


@pytest.mark.parametrize("array", [np.array([0.5, 0.25]), np.array([[1, 2], [3, 4]]), [1, 2]])
def test_arrays_are_parameters_by_value(array):
    kind = type(mine(weights=array, start=starts(1)))
    one, same, other = kind(array), kind(np.copy(array)), kind(np.zeros(2))
    assert one != other
    if isinstance(array, np.ndarray):
        assert one == same and len({one, same, other}) == 2
    frame = simulate.regret_curves([one, other], BANDIT, **RUNS | {"points": 1})
    means = estimates.means(frame, ["algorithm", "weights"])
    assert len(means) == 2 and all(isinstance(weights, tuple) for weights in means.weights)
    assert np.array_equal(means.weights[0], array)


def test_a_plain_algorithm_plays_no_longer_than_a_table():
    plain = mine(start=starts(1))
    for call in (
        lambda: simulate.regret_curves(plain, BANDIT, **RUNS | {"horizon": 10**9}),
        lambda: plain.run(BANDIT, [10**9], rng=1),
    ):
        refused(call, checks.MAX_TABLE, error=ValueError)


def test_runs_that_share_a_stream_are_at_least_one():
    kind = type("None", (BanditAlgorithm,), NAMES | {"start": starts(1), "runs_per_stream": 0})
    refused(kind, "runs_per_stream", "None", "0")


def test_a_seed_is_as_large_as_numpy_makes_it():
    """`SeedSequence().entropy` has 128 bits."""
    own, seed = {"seed": 2**128 - 1}, RUNS | {"seed": 2**128 - 1}
    frames = [simulate.regret_curves(DPSE(0.5), BANDIT, **given) for given in (seed, RUNS)]
    assert len(frames[0]) == len(frames[1])
    for call in (
        partial(tables.regret_curves, DPSE(0.5), rewards=TABLE, runs=1),
        partial(rare.regrets, DPIMED(0.5), BANDIT, 16, 3),
        partial(audit.searched_loss, DPSE(0.5).play, [TABLE, NEIGHBOUR], runs=4),
        partial(simulate.worst_problem, DPSE(0.5), BANDIT, 16, 2),
    ):
        call(**own)
        refused(lambda call=call: call(seed=2**128), "seed", 2**128)
