"""The ledger against the truth: learners that leak in one line, and random ones by formulas."""

import copy
import functools
import math
import numbers
import pickle
import random
import statistics
import warnings
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from conftest import named, refused
from scipy import stats

from privregret.bandits import BanditAlgorithm
from privregret.core import noise
from privregret.core.algorithm import NOT_PRIVATE, NOTHING, Steps
from privregret.core.jit import jit
from privregret.full_information import FullInformationAlgorithm
from privregret.privacy import ledger

pytestmark = pytest.mark.filterwarnings("ignore::privregret.privacy.ledger.NotHidden")


class Learner:
    """Play arm 0, then what the rule makes of all that was observed."""

    def __init__(self, rule, rng):
        self.rule, self.rng, self.seen, self.action = rule, rng, [], 0

    def choose(self):
        return self.action

    def observe(self, seen):
        self.seen.append(seen)
        self.action = int(self.rule(self.seen, self.rng))


def family(base):
    """Rules as algorithms of a family, in plain Python."""

    @dataclass(frozen=True)
    class Rule(base):
        rule: object
        id, label, source, privacy = "rule", "rule", "a test", NOT_PRIVATE
        rules = {}

        def start(self, arms, rng, horizon=None):
            return Learner(self.rule, np.random.default_rng(rng))

    return Rule


Bandit, Full = family(BanditAlgorithm), family(FullInformationAlgorithm)


def last(rule):
    """A rule of the last reward alone."""
    return lambda seen, rng: rule(seen[-1], rng)


def differences(*steps):
    """Read a reward in releases that share their noise and differ by small multiples of it."""

    def rule(x, rng):
        z = rng.laplace()
        low, *high = (float(x * (1 + step) + z) for step in (0, *steps))
        return sum(high) - len(high) * low > sum(steps) / 2

    return rule


def beside(weight, scale=1.0):
    """Read the last reward beside noise for the first one."""

    def rule(seen, rng):
        before = scale * seen[0] + rng.laplace(0, scale)
        after = before + weight * seen[-1]
        return float(after) - float(before) > weight / 2

    return rule


def noise_in_small_print(x, rng):
    w, z = x + rng.laplace(), rng.laplace()
    noisy = (float(w + 1e-8 * z) - float(w)) * 1e8
    return float(x + z) - noisy > 0.5


def set_back(x, rng):
    source = np.random.Generator.bit_generator.__get__(rng)
    state, known = source.state, rng.laplace()
    source.state = state
    return x + rng.laplace() - float(known) > 0.5


def autoregressive(x, rng):
    first = float(x + (z := rng.laplace()))
    return float(0.9 * (x + z) + 1e-9 * x) - 0.9 * first > 0.5e-9


# of the last reward
LEAKS = {
    **{f"finite differences {h}": differences(h) for h in (1e-6, 1.5e-8, 1e-11)},
    "a chain of differences": differences(1e-8, 1.5e-8, 1e-9),
    "noise in small print": noise_in_small_print,
    "a generator set back": set_back,
    "autoregressive noise": autoregressive,
    "a noise scaled up": lambda x, rng: (
        float(x + (z := rng.laplace()) * (1 + 1e-13)) - float(z) > 0.5
    ),
    "a limit inside": lambda x, rng: bool(0 <= x <= 0.5),
    "equal to a limit": lambda x, rng: bool(x != 0),
    "equal to one half": lambda x, rng: x == 0.5,
    "complex": lambda x, rng: x == 1 + 0j,
    "scale of ours": lambda x, rng: noise.laplace(x, rng) != 0,
    "no noise of ours": lambda x, rng: x + noise.laplace(0.0, rng) > 0.5,
    "clipped inside": lambda x, rng: np.clip(x, 0, 0.5) > 0.2,
    "a limit of a scaled reward": lambda x, rng: bool(x * (1 + 1e-9) > 1),
    "not": lambda x, rng: not x,
    "floor": lambda x, rng: math.floor(x + 0.5),
    "choice": lambda x, rng: rng.choice(2, p=[1 - x, x]),
    "an amplified difference": lambda x, rng: (x * (1 + 1e-9) - x) * 1e9 > 0.5,
    "a noise released, and its sum": lambda x, rng: (
        float((z := rng.laplace()) + 1e-12 * x) - float(z) > 0.5e-12
    ),
    "a limit of a shifted reward": lambda x, rng: bool(x - 1e-17 < 0),
    "dict": lambda x, rng: {1.0: 1}.get(x, 0),
    "a comparison is an index": lambda x, rng: [0, 1][x > 0.5],
    "comparisons compared": lambda x, rng: bool((x > 0.5) == (x > 0.2)),
    "% on the right": lambda x, rng: 1.5 % (x + 1) < 0.6,
    "/ on the right": lambda x, rng: 1 / (1 + x) < 0.6,
    "abs": lambda x, rng: abs(-x) > 0.5,
    "as_integer_ratio": lambda x, rng: x.as_integer_ratio()[0],
    "copy": lambda x, rng: copy.deepcopy([x])[0] == 1,
    "pickle": lambda x, rng: pickle.loads(pickle.dumps(x)) == 1,
    "the sign of zero": lambda x, rng: math.copysign(1, (x - 0.5) * 0) > 0,
    "what nearly cancels": lambda x, rng: 0.1 * x + 0.2 * x > 0.3 * x,
    "np.exp": lambda x, rng: np.exp(x) > 2,
    "is": lambda x, rng: (x.item() > 0.5) is True,
    "isinstance": lambda x, rng: isinstance(x, float) and float(x) > 0.5,
    "binomial": lambda x, rng: rng.binomial(1, x),
    "scale of numpy's": lambda x, rng: rng.exponential(x) > 0,
    "no noise times a number": lambda x, rng: x + 0 * rng.laplace() > 0.5,
    "a noise that cancels": lambda x, rng: x + (z := rng.laplace()) - z > 0.5,
    "a noise that is known": lambda x, rng: x + (z := rng.laplace()) - float(z) > 0.5,
    "a noise between two numbers": lambda x, rng: -5 < (z := rng.laplace()) < 5 and x + z > 0.5,
    "a noise that both have": lambda x, rng: np.argmax([0.5 + (z := rng.laplace()), x + z]),
    "a noise foretold": lambda x, rng: x - copy.deepcopy(rng).laplace() + rng.laplace() > 0.5,
    "a generator behind a method": lambda x, rng: (
        x - copy.deepcopy(rng.random.__self__).laplace() + rng.laplace() > 0.5
    ),
    "bit_generator": lambda x, rng: x > 0.5 and rng.bit_generator is not None,
    "a product with noise": lambda x, rng: x * rng.laplace() != 0,
    "noise times data": lambda x, rng: rng.laplace() * x != 0,
    "a fraction with whole noise": lambda x, rng: x + noise.geometric(1.0, rng) > 0.5,
    "half a bit with whole noise": lambda x, rng: (
        (rng.random() < x) * 0.5 + noise.geometric(1.0, rng) > 0.5
    ),
    "half of two bits with whole noise": lambda x, rng: (
        float(sum(0.5 * (rng.random() < x) for _ in "12") + noise.geometric(1.0, rng)) % 1 > 0.25
    ),
    "exponential noise, lowered": lambda x, rng: x - rng.exponential() > 0,
}
# the last reward past its operators: by conversions, numpy's functions, a kernel, an error
SMUGGLED = {
    "int": lambda x, rng: int(x),
    "an index": lambda x, rng: np.zeros(2)[x:].size,
    "a format": lambda x, rng: f"{x:.0f}" == "1",
    "bytes": lambda x, rng: any(np.array([x]).tobytes()),
    "an attribute": lambda x, rng: getattr(x, "value", x) > 0.5,
    "its state": lambda x, rng: x.__getstate__() is not None,
    "np.where": lambda x, rng: np.where(x > 0.5, 1, 0),
    "np.sort": lambda x, rng: np.sort([x, 0.5])[0] == 0.5,
    "np.searchsorted": lambda x, rng: np.searchsorted([0.5], x),
    "np.copyto": lambda x, rng: (np.copyto(a := np.zeros(1), x, casting="unsafe"), a[0])[1] > 0,
    "an error that is caught": lambda x, rng: caught(lambda: [1][: math.ceil(x)].index(1)),
    "a cache": lambda x, rng: doubled(x) > 1,
    "hash": lambda x, rng: hash(x) == hash(1.0),
    "a compiled entry": lambda x, rng: entry()(x) > 0.5,
    "a number that listens": lambda x, rng: heard(x),
}


def caught(function):
    try:
        return function() and False
    except Exception:
        return True


class Listener(numbers.Number):
    """A number that keeps what it is compared with."""

    heard = 0.0
    __hash__ = None

    def __float__(self):
        return 0.5

    def __neg__(self):
        return -0.5

    def __gt__(self, other):
        self.heard = other
        return False


def heard(x):
    listener = Listener()
    # the outcome itself is not used
    return [x < listener] and listener.heard > 0.5


@functools.lru_cache
def doubled(x):
    return 2 * x


@jit
def unchanged(x):
    return x


def entry():
    """What numba calls if a kernel is called."""
    unchanged.compile("float64(float64)")
    return next(iter(unchanged.overloads.values())).entry_point


# of all rewards
HISTORY_LEAKS = {
    **{f"a second reward {w}": beside(w) for w in (1e-9, 1e-13, 2e-14)},
    **{f"units of {s}": beside(1.0, s) for s in (1e10, 1e14)},
    "times infinity": lambda seen, rng: (seen[-1] + seen[0]) * math.inf > 1,
    "overflow": lambda seen, rng: seen[-1] * 1e308 + seen[0] * 1e308 > 1e308,
    "a sum of comparisons": lambda seen, rng: sum(x > 0.5 for x in seen) > len(seen) / 2,
    "two rounds": lambda seen, rng: bool(seen[-1] == 1 - seen[0]),
}
# of rows of three losses
ROW_LEAKS = {
    "one against another": lambda x, rng: bool(x[0] > x[1]),
    "a tie breaker": lambda x, rng: (
        float((w := x[0] + rng.laplace()) + 1e-9 * x[1]) - float(w) > 0.5e-9
    ),
    "argmin": lambda x, rng: np.argmin(x),
    "an array compared": lambda x, rng: (x > 0.5).all(),
    "an array's product": lambda x, rng: x @ np.ones(3) > 1.5,
    "wins": lambda x, rng: np.argmax([x[0] > x[1], x[1] > x[0], 0.5]),
}
TABLES = [np.zeros((4, 3)), np.ones((4, 3)), np.eye(4, 3), 1 - np.eye(4, 3)]


def dearest(algorithm, tables):
    """The dearest round of all runs, kept by outcomes or by numbers; infinite if it is refused."""
    try:
        runs = [ledger.traced(algorithm, table, 0) for table in tables]
    except (TypeError, ValueError):
        return math.inf
    return max(min(ledger.costs(run, keep).max() for keep in ledger.KEEPS) for run in runs)


LEARNERS = {
    **{name: Bandit(last(rule)) for name, rule in (LEAKS | SMUGGLED).items()},
    **{name: Bandit(rule) for name, rule in HISTORY_LEAKS.items()},
    **{name: Full(last(rule)) for name, rule in ROW_LEAKS.items()},
    "a difference of losses": Full(lambda seen, rng: sum(x[0] - x[1] for x in seen) > 0.5),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_what_is_not_private_has_no_finite_ledger(name):
    assert math.isinf(dearest(LEARNERS[name], TABLES))


def test_an_infinite_cost_says_why():
    for rule, why in (
        (lambda x, rng: x > 0.5, "no noise of its own"),
        (lambda x, rng: (rng.random() < x) + math.floor(rng.exponential()) > 0, "math.floor"),
        (lambda x, rng: x - rng.exponential() > 0, "'outcomes'"),
        (lambda x, rng: x + noise.geometric(1.0, rng) > 0.5, "rng.random() < x"),
    ):
        run = ledger.traced(Bandit(last(rule)), TABLES[0], 0)
        with pytest.warns(ledger.NotHidden, match="t=0") as caught:
            assert math.isinf(ledger.costs(run, rounds=[0])[0])
        (told,) = {str(one.message) for one in caught}
        named(told, why)


def test_what_shows_on_the_opposite_table_alone_is_noticed():
    """On a table of ones it plays the same whether it asks for the type or not."""
    asks = Bandit(last(lambda x, rng: isinstance(x, float) and x < 0.5))
    assert math.isinf(dearest(asks, TABLES[1:2]))


def test_what_shows_in_the_middle_alone_is_noticed():
    """A table of halves is its own opposite; a random one shows it."""
    asks = Bandit(last(lambda x, rng: isinstance(x, float) and x < 0.4))
    assert math.isinf(dearest(asks, [np.full((4, 3), 0.5)]))


@pytest.mark.parametrize("name", SMUGGLED)
def test_what_escapes_has_a_reason(name):
    """On one of the tables at least: an error, or a warning."""
    reasons = []
    for table in TABLES:
        try:
            run = ledger.traced(LEARNERS[name], table, 0)
        except TypeError as refusal:
            reasons.append(str(refusal))
            continue
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ledger.costs(run)
        reasons += [str(warning.message) for warning in caught]
    assert reasons and all("ledger cannot follow" in r or "not hidden" in r for r in reasons)


KEPT = {}


@pytest.mark.parametrize(
    "rule",
    [
        lambda seen, rng: KEPT.setdefault("first", seen[-1]) > 0.5,
        lambda seen, rng: len(seen) > 1 and KEPT.setdefault("decision", int(seen[0] > 0.5)),
        lambda seen, rng: KEPT.setdefault("noise", rng.laplace()) + seen[-1] > 0.5,
    ],
    ids=["datum", "decision", "noise"],
)
def test_what_outlives_a_run_is_noticed_in_the_first(rule):
    KEPT.clear()
    assert math.isinf(dearest(Bandit(rule), TABLES))


def test_what_is_not_followed_is_said_in_one_line_with_its_cause():
    table = TABLES[0]
    for rule, why in {
        lambda seen, rng: (seen[0] > 0.5) & (seen[-1] > 0.5): "&",
        lambda seen, rng: seen[-1] + rng.laplace(0, -1) > 0: "scale",
        lambda seen, rng: seen[-1] + rng.standard_normal() > 0: "rng.standard_normal",
        lambda seen, rng: np.array(seen, float)[-1] > 0.5: "object",
        lambda seen, rng: np.isnan(seen[-1]): "data",
        lambda seen, rng: math.isnan(seen[-1]): "<= 1",
        lambda seen, rng: statistics.mean(seen) + rng.laplace() > 0.5: "sum(...)",
    }.items():
        error = refused(lambda rule=rule: ledger.traced(Bandit(rule), table, 0), "Rule", "ledger")
        assert why in f"{error} {type(error.__cause__).__module__}.{type(error.__cause__).__name__}"
    refused(lambda: ledger.traced(None, table, 0), "algorithm", "None")


# Learners with a loss that is known: noise of scale s on what changes by c costs c / s
SCALED = {
    ("small numbers", 10): lambda x, rng: 1e-8 * x + rng.laplace(0, 1e-9) > 5e-9,
    ("large numbers", 10): lambda x, rng: x + 1e13 * rng.laplace(0, 1e-14) > 0.5,
    ("noise in small print", 1e9): lambda x, rng: x + 1e-9 * rng.laplace() == 1,
    ("two comparisons", 2): lambda x, rng: 1 * (x > 0.5) - (x < 0.5) + rng.laplace() > 0,
    ("a noise used twice", 1): lambda x, rng: sum([x + (z := rng.laplace()) > 0.5, x + z > 0.2]),
    ("two noises", 2): lambda x, rng: sum([x + rng.laplace() > 0.5, x + rng.laplace() > 0.2]),
    ("a coin", 1): lambda x, rng: (rng.random() < x) + rng.laplace() > 0.5,
    ("a mean", 1): lambda x, rng: statistics.mean([x + rng.laplace()]) > 0.5,
    ("around the data", 1 / 2): lambda x, rng: rng.laplace(x, scale=2.0) > 0.5,
    ("a noisy maximum", 1 / 2): lambda x, rng: np.argmax(
        [x + rng.exponential(2.0), 0.5 + rng.exponential(2.0)]
    ),
    ("a bit with whole noise", 1 / 2): lambda x, rng: (
        (rng.random() < x) + noise.geometric(2.0, rng) > 0.5
    ),
    ("three bits with whole noise", 3): lambda x, rng: (
        3 * (rng.random() < x) - noise.geometric(1.0, rng) >= 2
    ),
    ("whole noise next to another", 3 / 2): lambda x, rng: sum(
        [(rng.random() < x) + noise.geometric(2.0, rng) > 0.5, x + rng.laplace() > 0.5]
    ),
    ("two exponentials", 1): lambda x, rng: x + rng.exponential() - rng.exponential() > 0.5,
    ("checked", 1): lambda x, rng: (
        0 <= x <= 1 and x != 2 and np.clip(min(max(x, 0), 1), 0, 1) + rng.laplace() > 0.5
    ),
    ("the same in other words", 1 / 3): lambda x, rng: (
        float((w := x / 3 + rng.laplace()) * 3 - 2 * w) + float(w / 7 + w * 0.1) > 0.5
    ),
    ("a table", 1): lambda x, rng: x + {"laplace": noise.laplace}["laplace"](1.0, rng) > 0.5,
    ("an array", 1): lambda x, rng: np.argmax(np.array([0.5, x], object) + rng.laplace(size=2)),
}


@pytest.mark.parametrize(("name", "cost"), SCALED)
def test_what_is_known_is_bounded_and_bounds_are_finite(name, cost):
    """A round is compared with noise once; the half of the noise's scale to either side."""
    tables = [table[:2] for table in TABLES]
    assert dearest(Bandit(last(SCALED[name, cost])), tables) == pytest.approx(cost, rel=1e-6)


FROZEN = 0.1


@jit
def noisy(reward, rng):
    return reward + FROZEN * rng.laplace() > 0.5


def test_what_is_compiled_must_be_what_is_read(monkeypatch):
    """Compiled code keeps the first value of a global, here a scale of noise."""
    algorithm = Bandit(last(noisy))
    assert dearest(algorithm, TABLES) == pytest.approx(10)
    monkeypatch.setitem(globals(), "FROZEN", 1.0)
    refused(lambda: ledger.traced(algorithm, TABLES[0], 0), "Rule", "compiled", "globals")


SHIFTS = np.zeros(1)


@jit
def shifted(reward, rng):
    return reward + FROZEN * rng.laplace() + SHIFTS[0]


@jit
def never(reward, rng):
    return shifted(reward, rng) > 50


@jit
def scale():
    return FROZEN


@jit
def choose(arms, state, settings, t, rng):
    return int(settings[0] * rng.laplace() > 50)


@jit
def observe(arms, state, settings, t, j, reward, rng):
    pass


@dataclass(frozen=True)
class Scaled(BanditAlgorithm):
    id, label, source, privacy = "scaled", "scaled", "a test", NOT_PRIVATE
    steps = Steps(NOTHING, NOTHING, choose, observe)

    def settings(self, horizon, arms):
        return (scale(),)


def test_compiled_code_that_kept_another_global_is_refused_where_no_action_shows_it(monkeypatch):
    def kept():
        refused(lambda: ledger.traced(algorithm, TABLES[0], 0), "Rule", "never", "globals")

    algorithm = Bandit(last(never))
    assert dearest(algorithm, TABLES) == pytest.approx(10)
    for name, value in {"FROZEN": 1.0, "SHIFTS": np.ones(1), "shifted": noisy}.items():
        with monkeypatch.context() as patch:
            patch.setitem(globals(), name, value)
            kept()
    SHIFTS[0] = 1
    kept()
    SHIFTS[0] = 0
    assert dearest(algorithm, TABLES) == pytest.approx(10)
    # `settings` calls a kernel
    with monkeypatch.context() as patch:
        assert dearest(Scaled(), TABLES) == 0
        patch.setitem(globals(), "FROZEN", 1.0)
        refused(lambda: ledger.traced(Scaled(), TABLES[0], 0), "Scaled", "scale", "globals")
    # kernels of the package, which are read from disk
    algorithm = Bandit(last(lambda x, rng: x + noise.draw(noise.LAPLACE, 1.0, rng) > 50))
    assert dearest(algorithm, TABLES) == pytest.approx(1)
    monkeypatch.setattr(noise, "GUMBEL", 17)
    refused(lambda: ledger.traced(algorithm, TABLES[0], 0), "Rule", "draw", "globals")


@pytest.mark.parametrize("rounds", [[-1], [99], "0", [True], 0, [0.5], [0, 0], [4]])
def test_rounds_are_rounds_of_the_table(rounds):
    run = ledger.traced(Bandit(lambda seen, rng: 0), TABLES[0], 0)
    refused(lambda: ledger.costs(run, rounds=rounds), "rounds")


@pytest.mark.parametrize(("kind", "cost"), [(np.float32, 2), (np.int64, math.inf)])
def test_integers_in_records_are_plain(kind, cost):
    """Sums of data in them have no finite ledger; float fields have the right one."""

    def choose(arms, state, settings, t, rng):
        return t - 1 if t < 3 else int(state["count"] + rng.laplace(0, 0.5) > 0.5) if t == 3 else 0

    def observe(arms, state, settings, t, j, reward, rng):
        if t == 1:
            state["count"] += reward > 0.5

    @dataclass(frozen=True)
    class Counting(BanditAlgorithm):
        id, label, source, privacy = "rule", "rule", "a test", NOT_PRIVATE
        steps = Steps(NOTHING, np.dtype([("count", kind)]), choose, observe)

    for table in TABLES:
        assert ledger.costs(ledger.traced(Counting(), table, 0)).max() == pytest.approx(cost)


# Random learners ----------------------------------------------------------------------------------
# A program adds something of each row to two sums, and chooses by them and by fresh noise, so that
# its actions are independent, with chances that are formulas.

KINDS = {"laplace": stats.laplace, "exponential": stats.expon, "gumbel": stats.gumbel_r}
ADDED = {  # for the losses x of a row
    "x": lambda x: (x[0], x[1]),
    "multiples": lambda x: (-2 * x[0], x[1] / 2),
    "comparisons": lambda x: (x[0] > 0.5, x[1] == 1),
    "two of one loss": lambda x: (1 * (x[0] > 0.2) - (x[0] < 0.8), x[1] - (x[1] > 0.5)),
    "wins": lambda x: (x[0] > x[1], x[1] > x[0]),
    "a win and a loss": lambda x: (x[0] > x[1], -1 * (x[0] > x[1])),
    "unequal": lambda x: (x[0] != x[1], x[0] == 1),
    "difference": lambda x: (x[0] - x[1], 0),
}
CHOICES = {  # of sums and noise: whether arm 1 is played, and what the noise must exceed for it
    "argmax": (lambda s, z: np.argmax([s[0], s[1] + z]) == 1, lambda a, b: a - b),
    "above": (lambda s, z: s[1] - s[0] + z > 0.375, lambda a, b: 0.375 - (b - a)),
    "one above": (lambda s, z: s[1] + z >= 0.875, lambda a, b: 0.875 - b),
    "below": (lambda s, z: 2 * (s[1] - z) < 1.75, lambda a, b: b - 0.875),
    "sorted": (lambda s, z: sorted([(s[0], 1), (s[1] + z, 0)])[1][1] == 0, lambda a, b: a - b),
}


class Program(NamedTuple):
    """A rule, and the tables on which it is tried."""

    added: str
    choice: str
    noise: tuple  # kind, scale
    memory: int  # rows that count
    rounds: int
    values: tuple

    def sums(self, seen):
        added = [ADDED[self.added](x) for x in seen[-self.memory :]]
        return [sum(column) for column in zip(*added, strict=True)]

    def __call__(self, seen, rng):
        kind, scale = self.noise
        return bool(CHOICES[self.choice][0](self.sums(seen), getattr(rng, kind)(scale=scale)))

    def limits(self, table):
        """What the noise must exceed in each round after the first, in scales."""
        sums = [self.sums(table[:t].tolist()) for t in range(1, self.rounds)]
        return np.array([CHOICES[self.choice][1](*two) for two in sums]) / self.noise[1]

    def log_chance(self, table, actions):
        law, limits = KINDS[self.noise[0]], self.limits(table)
        return np.where(actions[1:], law.logsf(limits), law.logcdf(limits)).sum()

    def loss(self, table, actions):
        """The largest log-ratio of these actions' probabilities on the table and a neighbour."""
        here, worst = self.log_chance(table, actions), 0.0
        for t, row in product(range(self.rounds), product(self.values, repeat=2)):
            other = table.copy()
            other[t] = row
            worst = max(worst, here - self.log_chance(other, actions))
        return worst


def programs(seed, number):
    rng, noises = random.Random(seed), list(product(KINDS, (0.5, 1.0, 2.0)))
    fields = list(ADDED), list(CHOICES), noises, [1, 4], [2, 3, 4], [(0, 1), (0, 0.5, 1)]
    return [Program(*map(rng.choice, fields)) for _ in range(number)]


@pytest.mark.parametrize("part", range(2))
def test_the_ledger_of_random_learners_is_no_less_than_their_loss(part):
    """The dearest round, and the loss of the actions by formulas, which are those of play."""
    for number, program in enumerate(programs(part, 60)):
        rng, learner = np.random.default_rng(number), Full(program)
        table = rng.choice(program.values, size=(program.rounds, 2)).astype(float)
        run = ledger.traced(learner, table, rng)
        costs = [ledger.costs(run, keep).max() for keep in ledger.KEEPS]
        truth = program.loss(table, run.actions)
        assert min(costs) >= truth * (1 - 1e-6) - 1e-9, (program, costs, truth)
        if number < 10:
            p = KINDS[program.noise[0]].sf(program.limits(table))
            played = np.mean([learner.play(table, rng)[1:] for _ in range(400)], axis=0)
            assert (abs(played - p) <= 5 * np.sqrt(p * (1 - p) / 400) + 0.01).all()
