"""The ledger against the truth: small learners that leak in one line each, and random ones whose
exact losses are computed from formulas."""

import copy
import math
import pickle
import statistics
import struct
from array import array
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from conftest import refused
from scipy import stats

from privregret.bandits import BanditAlgorithm
from privregret.core import noise
from privregret.core.algorithm import NOT_PRIVATE, NOTHING, Steps
from privregret.core.jit import jit
from privregret.full_information import FullInformationAlgorithm
from privregret.privacy import ledger


class Learner:
    """Play arm 0, then what the rule makes of all that was observed."""

    def __init__(self, rule, rng):
        self.rule, self.rng, self.seen, self.action = rule, rng, [], 0

    def choose(self):
        return self.action

    def observe(self, seen):
        self.seen.append(seen)
        self.action = self.rule(self.seen, self.rng)


def family(base, learner=Learner):
    """Rules as algorithms of a family, in plain Python."""

    @dataclass(frozen=True)
    class Rule(base):
        rule: object
        id, label, source, privacy = "rule", "rule", "a test", NOT_PRIVATE
        rules = {}

        def start(self, arms, rng, horizon=None):
            return learner(self.rule, np.random.default_rng(rng))

    return Rule


Bandit, Full = family(BanditAlgorithm), family(FullInformationAlgorithm)


# Learners that leak -------------------------------------------------------------------------------


def counted_down(seen, rng):
    left, steps = seen[-1], 0
    while left > 0.5:
        left, steps = left - 1, steps + 1
    return steps


def caught(seen, rng):
    try:
        return [0, 1][int(seen[-1]) * 2 - 1]
    except IndexError:
        return 0


def shuffled(seen, rng):
    both = [seen[-1], seen[-1]]
    rng.shuffle(both)
    return int(both[0] == 1)


def swallowed(seen, rng):
    try:
        return int(float(seen[-1]) > 0.5)
    except TypeError:
        return 0


def bracketed_noise(seen, rng):
    z = rng.laplace()
    while not 0 < z < 0.5:
        z = rng.laplace()
    return int(seen[-1] + z > 0.5)


def differences(*steps):
    """Read a reward in releases that share their noise and differ by small multiples of it."""

    def rule(seen, rng):
        z = rng.laplace()
        low, *high = (float(seen[-1] * (1 + step) + z) for step in (0, *steps))
        return int(sum(high) - len(high) * low > sum(steps) / 2)

    return rule


def beside(weight, scale=1.0):
    """Read the last reward beside noise for the first one."""

    def rule(seen, rng):
        before = scale * seen[0] + rng.laplace(0, scale)
        after = before + weight * seen[-1]
        return int(float(after) - float(before) > weight / 2)

    return rule


def noise_in_small_print(seen, rng):
    w, z = seen[-1] + rng.laplace(), rng.laplace()
    noisy = (float(w + 1e-8 * z) - float(w)) * 1e8
    return int(float(seen[-1] + z) - noisy > 0.5)


def retried(seen, rng):
    """Repeat noise until it is small, by its state."""
    while abs(float(rng.laplace())) > 0.1:
        pass
    state = copy.deepcopy(rng._bit_generator)
    return int(seen[-1] + rng.laplace() - np.random.Generator(state).laplace() > 0.5)


def set_back(seen, rng):
    source = np.random.Generator.bit_generator.__get__(rng)
    state, known = source.state, rng.laplace()
    source.state = state
    return int(seen[-1] + rng.laplace() - float(known) > 0.5)


def autoregressive(seen, rng):
    z = rng.laplace()
    first = float(seen[-1] + z)
    return int(float(0.9 * (seen[-1] + z) + 1e-9 * seen[-1]) - 0.9 * first > 0.5e-9)


LEAKS = {
    **{f"finite differences {h}": differences(h) for h in (1e-6, 3e-8, 1.5e-8, 1e-8, 1e-11)},
    "a chain of differences": differences(1e-8, 1.5e-8, 1e-9),
    **{f"a second reward {w}": beside(w) for w in (1e-9, 1e-12, 1e-13, 5e-14, 2e-14)},
    **{f"units of {s}": beside(1.0, s) for s in (1e10, 1e13, 1e14)},
    "noise in small print": noise_in_small_print,
    "a generator's private state": retried,
    "a generator set back": set_back,
    "autoregressive noise": autoregressive,
    "a noise scaled up": lambda seen, rng: int(
        float(seen[-1] + (z := rng.laplace()) * (1 + 1e-13)) - float(z) > 0.5
    ),
    "a limit inside": lambda seen, rng: int(bool(0 <= seen[-1] <= 0.5)),
    "equal to a limit": lambda seen, rng: int(bool(seen[-1] != 0)),
    "clipped inside": lambda seen, rng: int(np.clip(seen[-1], 0, 0.5) > 0.2),
    "a limit of a shifted reward": lambda seen, rng: int(bool(seen[-1] - 1e-17 < 0)),
    "a limit of a scaled reward": lambda seen, rng: int(bool(seen[-1] * (1 + 1e-9) > 1)),
    "== 1": lambda seen, rng: 1 if seen[-1] == 1 else 0,
    "1 ==": lambda seen, rng: 1 if np.float64(1) == seen[-1] else 0,
    "index": lambda seen, rng: [0.0, 1.0].index(seen[-1]),
    "dict": lambda seen, rng: {1.0: 1}.get(seen[-1], 0),
    "a comparison is an index": lambda seen, rng: [0, 1][seen[-1] > 0.5],
    "not": lambda seen, rng: int(not seen[-1]),
    "and": lambda seen, rng: int(bool(seen[-1] and 1)),
    "comparisons compared": lambda seen, rng: int(bool((seen[-1] > 0.5) == (seen[-1] > 0.2))),
    "floor": lambda seen, rng: math.floor(seen[-1] + 0.5),
    "ceil": lambda seen, rng: math.ceil(seen[-1]),
    "trunc": lambda seen, rng: math.trunc(seen[-1]),
    "% on the right": lambda seen, rng: int(1.5 % (seen[-1] + 1) < 0.6),
    "%": lambda seen, rng: int(seen[-1] * 3 % 2),
    "divmod": lambda seen, rng: int(divmod(seen[-1], 1)[0]),
    "** on the right": lambda seen, rng: int(2.0 ** seen[-1] > 1.5),
    "/ on the right": lambda seen, rng: int(1 / (1 + seen[-1]) < 0.6),
    "abs": lambda seen, rng: int(abs(-seen[-1]) > 0.5),
    "str": lambda seen, rng: int(str(seen[-1]) == "1.0"),
    "repr": lambda seen, rng: int("1.0" in repr(seen[-1])),
    "format": lambda seen, rng: int(f"{seen[-1]:.1f}" == "1.0"),
    "hash": lambda seen, rng: int(hash(seen[-1]) == hash(1.0)),
    "as_integer_ratio": lambda seen, rng: seen[-1].as_integer_ratio()[0],
    "real": lambda seen, rng: int(seen[-1].real > 0.5),
    "copy": lambda seen, rng: int(copy.deepcopy(seen)[-1] == 1),
    "pickle": lambda seen, rng: int(pickle.loads(pickle.dumps(seen[-1])) == 1),
    "array": lambda seen, rng: int(array("d", seen[-1:])[0]),
    "Fraction": lambda seen, rng: int(seen[-1] == Fraction(1)),
    "Decimal": lambda seen, rng: int(seen[-1] == Decimal(1)),
    "complex": lambda seen, rng: int(seen[-1] == 1 + 0j),
    "the sign of zero": lambda seen, rng: int(math.copysign(1, (seen[-1] - 0.5) * 0) > 0),
    "what nearly cancels": lambda seen, rng: int(0.1 * seen[-1] + 0.2 * seen[-1] > 0.3 * seen[-1]),
    "times infinity": lambda seen, rng: int((seen[-1] + seen[0]) * math.inf > 1),
    "overflow": lambda seen, rng: int(seen[-1] * 1e308 + seen[0] * 1e308 > 1e308),
    "a float array": lambda seen, rng: int(np.array(seen, float)[-1] > 0.5),
    "an int array": lambda seen, rng: int(np.array(seen, int)[-1]),
    "a bool array": lambda seen, rng: int(np.array(seen, bool)[-1]),
    "astype": lambda seen, rng: int(np.array(seen).astype(int)[-1]),
    "np.exp": lambda seen, rng: int(np.exp(seen[-1]) > 2),
    "np.clip": lambda seen, rng: int(np.clip(seen[-1], 0.2, 0.8) > 0.5),
    "np.unique": lambda seen, rng: int(len(np.unique(np.array([0, *seen], object))) > 1),
    "np.searchsorted": lambda seen, rng: int(np.searchsorted([0.5], seen[-1])),
    "math.exp": lambda seen, rng: int(math.exp(seen[-1]) > 2),
    "a sum of comparisons": lambda seen, rng: int(sum(x > 0.5 for x in seen) > len(seen) / 2),
    "two rounds": lambda seen, rng: int(bool(seen[-1] == 1 - seen[0])),
    "while": counted_down,
    "except": caught,
    "a caught error": swallowed,
    "is": lambda seen, rng: int((seen[-1].item() > 0.5) is True),
    "isinstance": lambda seen, rng: int(isinstance(seen[-1], float) and float(seen[-1]) > 0.5),
    "bytes": lambda seen, rng: int(np.array(seen).tobytes()[-1] != 0),
    "integers up to data": lambda seen, rng: int(rng.integers(seen[-1] + 1)),
    "choice": lambda seen, rng: int(rng.choice(2, p=[1 - seen[-1], seen[-1]])),
    "permutation": lambda seen, rng: int(rng.permutation([seen[-1], seen[-1]])[0] == 1),
    "shuffle": shuffled,
    "binomial": lambda seen, rng: int(rng.binomial(1, seen[-1])),
    "uniform": lambda seen, rng: int(rng.uniform(seen[-1], 1) >= 1),
    "beta": lambda seen, rng: int(rng.beta(1 + 1e6 * seen[-1], 1e3) > 0.5),
    "scale of numpy's": lambda seen, rng: int(rng.exponential(seen[-1]) > 0),
    "scale of ours": lambda seen, rng: int(noise.laplace(seen[-1], rng) != 0),
    "no noise of ours": lambda seen, rng: int(seen[-1] + noise.laplace(0.0, rng) > 0.5),
    "no noise times a number": lambda seen, rng: int(seen[-1] + 0 * rng.laplace() > 0.5),
    "a noise that cancels": lambda seen, rng: int(seen[-1] + (z := rng.laplace()) - z > 0.5),
    "a noise that is known": lambda seen, rng: int(
        seen[-1] + (z := rng.laplace()) - float(z) > 0.5
    ),
    "a noise between two numbers": bracketed_noise,
    "a noise that both have": lambda seen, rng: int(
        np.argmax([0.5 + (z := rng.laplace()), seen[-1] + z])
    ),
    "a noise foretold": lambda seen, rng: int(
        seen[-1] - copy.deepcopy(rng).laplace() + rng.laplace() > 0.5
    ),
    "a pickled noise": lambda seen, rng: int(
        seen[-1] - pickle.loads(pickle.dumps(rng)).laplace() + rng.laplace() > 0.5
    ),
    "spawn": lambda seen, rng: int(seen[-1] + rng.spawn(1)[0].laplace(0, 1e-9) > 0.5),
    "bit_generator": lambda seen, rng: int(seen[-1] > 0.5 and rng.bit_generator is not None),
    "a product with noise": lambda seen, rng: int(seen[-1] * rng.laplace() != 0),
    "noise times data": lambda seen, rng: int(rng.laplace() * seen[-1] != 0),
    "a noise released, and its sum": lambda seen, rng: int(
        float((z := rng.laplace()) + 1e-12 * seen[-1]) - float(z) > 0.5e-12
    ),
    "an amplified difference": lambda seen, rng: int(
        (seen[-1] * (1 + 1e-9) - seen[-1]) * 1e9 > 0.5
    ),
    "exponential noise, lowered": lambda seen, rng: int(seen[-1] - rng.exponential() > 0),
}
# on rows of three losses
ROW_LEAKS = {
    "argmin": lambda seen, rng: int(np.argmin(seen[-1])),
    "argsort": lambda seen, rng: int(np.argsort(seen[-1])[0]),
    "method min": lambda seen, rng: int(seen[-1].min() > 0.5),
    "method sum": lambda seen, rng: int(seen[-1].sum() > 1.5),
    "tolist": lambda seen, rng: int(seen[-1].tolist() == [1, 1, 1]),
    "array_equal": lambda seen, rng: int(np.array_equal(seen[-1], [1, 1, 1])),
    "flatnonzero": lambda seen, rng: int(len(np.flatnonzero(seen[-1])) == 3),
    "count_nonzero": lambda seen, rng: int(np.count_nonzero(seen[-1]) == 3),
    "an array compared": lambda seen, rng: int((seen[-1] > 0.5).all()),
    "an array's product": lambda seen, rng: int(seen[-1] @ np.ones(3) > 1.5),
    "np.mean": lambda seen, rng: int(np.mean(seen[-1]) > 0.5),
    "np.prod": lambda seen, rng: int(np.prod(seen[-1]) > 0.5),
    "one against another": lambda seen, rng: int(bool(seen[-1][0] > seen[-1][1])),
    "wins": lambda seen, rng: int(
        np.argmax([seen[-1][0] > seen[-1][1], seen[-1][1] > seen[-1][0], 0.5])
    ),
    "a tie breaker": lambda seen, rng: int(
        float((w := seen[-1][0] + rng.laplace()) + 1e-9 * seen[-1][1]) - float(w) > 0.5e-9
    ),
    "a difference of losses": lambda seen, rng: int(sum(x[0] - x[1] for x in seen) > 0.5),
}
TABLES = [np.zeros((4, 3)), np.ones((4, 3)), np.eye(4, 3), 1 - np.eye(4, 3)]


def dearest(algorithm, tables):
    """The dearest round of all runs, kept by outcomes or by numbers; infinite if it is refused."""
    try:
        runs = [ledger.traced(algorithm, table, 0) for table in tables]
    except (TypeError, ValueError):
        return math.inf
    return max(min(ledger.costs(run, keep).max() for keep in ledger.KEEPS) for run in runs)


@pytest.mark.parametrize("rule", [*LEAKS, *ROW_LEAKS])
def test_what_is_not_private_has_no_finite_ledger(rule):
    learner = Bandit(LEAKS[rule]) if rule in LEAKS else Full(ROW_LEAKS[rule])
    assert math.isinf(dearest(learner, TABLES))


KEPT = {}


def kept_first(seen, rng):
    return int(KEPT.setdefault("first", seen[-1]) > 0.5)


def kept_decision(seen, rng):
    if len(seen) == 1 and "first" not in KEPT:
        KEPT["first"] = int(seen[-1] > 0.5)
    return 0 if len(seen) == 1 else KEPT["first"]


def kept_noise(seen, rng):
    return int(KEPT.setdefault("noise", rng.laplace()) + seen[-1] > 0.5)


@pytest.mark.parametrize("rule", [kept_first, kept_decision, kept_noise])
def test_what_outlives_a_run_is_noticed_in_the_first(rule):
    KEPT.clear()
    assert math.isinf(dearest(Bandit(rule), TABLES))


def test_what_is_not_followed_is_said_in_one_line_with_its_cause():
    table = TABLES[0]
    for rule, why in {
        lambda seen, rng: int((seen[0] > 0.5) & (seen[-1] > 0.5)): "&",
        lambda seen, rng: int(struct.pack("d", seen[-1])[-1] > 0): "struct.error",
        lambda seen, rng: int(seen[-1] + rng.laplace(0, -1) > 0): "scale",
        lambda seen, rng: int(np.isnan(seen[-1])): "data",
        lambda seen, rng: int(math.isnan(seen[-1])): "<= 1",
        lambda seen, rng: int(statistics.mean(seen) + rng.laplace() > 0.5): "sum(...)",
    }.items():
        error = refused(lambda rule=rule: ledger.traced(Bandit(rule), table, 0), "Rule", "ledger")
        assert why in f"{error} {type(error.__cause__).__module__}.{type(error.__cause__).__name__}"
    refused(lambda: ledger.traced(None, table, 0), "algorithm", "None")


def within(x):
    assert 0 <= x <= 1 and not x < 0 and not x > 1 and x != 2 and x < math.inf
    return x


# Learners with a loss that is known: noise of scale s on what changes by c
SCALED = {
    "small numbers": (lambda seen, rng: int(1e-8 * seen[-1] + rng.laplace(0, 1e-9) > 5e-9), 10),
    "large numbers": (lambda seen, rng: int(seen[-1] + 1e13 * rng.laplace(0, 1e-14) > 0.5), 10),
    "tiny noise": (lambda seen, rng: int(seen[-1] + rng.laplace(0, 1e-3) > 0.5), 1000),
    "noise in small print": (lambda seen, rng: int(seen[-1] + 1e-9 * rng.laplace() == 1), 1e9),
    "two comparisons": (
        lambda seen, rng: int(1 * (seen[-1] > 0.5) - (seen[-1] < 0.5) + rng.laplace() > 0),
        2,
    ),
    "four comparisons": (
        lambda seen, rng: int(sum(seen[-1] > c for c in (0.2, 0.4, 0.6, 0.8)) + rng.laplace() > 2),
        4,
    ),
    "a mean": (lambda seen, rng: int(statistics.mean([seen[-1] + rng.laplace()]) > 0.5), 1),
    "equality": (lambda seen, rng: int((seen[-1] == 1) + rng.laplace() > 0.5), 1),
    "two exponentials": (
        lambda seen, rng: int(seen[-1] + rng.exponential() - rng.exponential() > 0.5),
        1,
    ),
    "checked and clipped": (
        lambda seen, rng: int(
            within(np.clip(min(max(seen[-1], 0), 1), 0, 1)) + rng.laplace() > 0.5
        ),
        1,
    ),
    "the same in other words": (
        lambda seen, rng: int(
            float((w := seen[-1] / 3 + rng.laplace()) * 3 - 2 * w) + float(w / 7 + w * 0.1) > 0.5
        ),
        1 / 3,
    ),
    "our sampler, in a table": (
        lambda seen, rng: int(seen[-1] + {"laplace": noise.laplace}["laplace"](1.0, rng) > 0.5),
        1,
    ),
    "an array of noises": (
        lambda seen, rng: int(np.argmax(np.array([0.5, seen[-1]], object) + rng.laplace(size=2))),
        1,
    ),
}


@pytest.mark.parametrize("rule", SCALED)
def test_what_is_known_is_bounded_and_bounds_are_finite(rule):
    """A round is compared with noise once; the half of the noise's scale to either side."""
    learner, cost = SCALED[rule]
    tables = [table[:2] for table in TABLES]
    assert dearest(Bandit(learner), tables) == pytest.approx(cost, rel=1e-6)


def test_comparisons_of_a_round_do_not_cancel():
    """Which loss is smaller decides both sums: the first minus the second changes by 2."""

    def rule(seen, rng):
        wins = [sum(x[0] > x[j] for x in seen) for j in (1, 2)]
        return int(wins[0] - wins[1] + rng.laplace(0, 0.05) > 0)

    assert dearest(Full(rule), TABLES) >= 2 / 0.05


FROZEN = 0.1


@jit
def noisy(reward, rng):
    return reward + FROZEN * rng.laplace() > 0.5


def test_what_is_compiled_must_be_what_is_read(monkeypatch):
    """Compiled code keeps the first value of a global, here a scale of noise."""
    algorithm = Bandit(lambda seen, rng: int(noisy(seen[-1], rng)))
    assert dearest(algorithm, TABLES) == pytest.approx(10)
    monkeypatch.setitem(globals(), "FROZEN", 1.0)
    refused(lambda: ledger.traced(algorithm, TABLES[0], 0), "Rule", "compiled", "globals")


@pytest.mark.parametrize("rounds", [[-1], [99], "0", [True], 0, [0.5], [0, 0], [4]])
def test_rounds_are_rounds_of_the_table(rounds):
    run = ledger.traced(Bandit(lambda seen, rng: 0), TABLES[0], 0)
    refused(lambda: ledger.costs(run, rounds=rounds), "rounds")


KEEPING = {float: 2.0, np.float32: 2.0, np.int64: math.inf, np.bool_: math.inf}


@pytest.mark.parametrize("kind", KEEPING)
def test_integers_in_records_are_plain(kind):
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
        assert ledger.costs(ledger.traced(Counting(), table, 0)).max() == pytest.approx(
            KEEPING[kind]
        )


# Random learners ----------------------------------------------------------------------------------
# A program adds something of each round to a sum per arm, and makes some choices from the sums and
# from noise: a fresh one for each choice (and arm), and one that is drawn once and kept. The truth
# is a sum over coins, an integral over the kept noise, and a formula for fresh noise.

KINDS = {"laplace": stats.laplace, "exponential": stats.expon, "gumbel": stats.gumbel_r}
OF_TWO = {"exponential": stats.laplace, "gumbel": stats.logistic}  # of a difference

ENTRY = {  # what is added for the reward x of an arm
    "x": lambda x, rng: x,
    "half x": lambda x, rng: x / 2,
    "-2x": lambda x, rng: -2 * x,
    "x > .5": lambda x, rng: x > 0.5,
    "x >= 1": lambda x, rng: 1 * (x >= 1),
    "x == 1": lambda x, rng: x == 1,
    "x != 0": lambda x, rng: x != 0,
    "two comparisons": lambda x, rng: 1 * (x > 0.2) - (x < 0.8),
    "x and a comparison": lambda x, rng: x - (x > 0.5),
    "the same comparison twice": lambda x, rng: 1 * (x > 0.5) + (x > 0.5),
    "coin": lambda x, rng: rng.random() < x,
    "coin and x": lambda x, rng: x - (rng.random() < x),
    "if x == 1": lambda x, rng: 1 if x == 1 else 0,
    "if x > .5": lambda x, rng: 1 if x > 0.5 else 0,
    "if x": lambda x, rng: 1 if x else 0,
    "in": lambda x, rng: 1 if x in (1,) else 0,
    "max": lambda x, rng: max(x, 0.5),
    "abs": lambda x, rng: abs(x - 0.5),
    "square": lambda x, rng: x * x,
    "int": lambda x, rng: int(x),
    "round": lambda x, rng: round(x + 0.1),
    "floor": lambda x, rng: x // 1,
    "power": lambda x, rng: x**2,
}
ROW = {  # what is added for the rewards x of both arms
    "x": lambda x, rng: (x[0], x[1]),
    "wins": lambda x, rng: (x[0] > x[1], x[1] > x[0]),
    "wins and ties": lambda x, rng: (x[0] >= x[1], x[1] >= x[0]),
    "two comparisons": lambda x, rng: (x[0] > x[1], x[0] > 0.5),
    "opposites": lambda x, rng: (x[0] > x[1], 1 - (x[0] > x[1])),
    "a win and a loss": lambda x, rng: (x[0] > x[1], -1 * (x[0] > x[1])),
    "equal": lambda x, rng: (x[0] == x[1], 0),
    "unequal": lambda x, rng: (x[0] != x[1], x[0] == 1),
    "difference": lambda x, rng: (x[0] - x[1], 0),
    "the same twice": lambda x, rng: (x[0] + x[1], x[0] + x[1]),
    "coins": lambda x, rng: (rng.random() < x[0], rng.random() < x[1]),
    "a coin and its arm": lambda x, rng: (rng.random() < x[0], x[0]),
    "vote": lambda x, rng: (1, 0) if x[0] > x[1] else (0, 1),
    "argmax": lambda x, rng: (0, np.argmax(x[:2])),
    "larger": lambda x, rng: (max(x[0], x[1]), 0),
    "product": lambda x, rng: (x[0] * x[1], 0),
}
CHOICES = {  # of sums and noises: whether arm 1 is played
    "larger": lambda s, z: s[1] + z[1] > s[0] + z[0],
    "argmax": lambda s, z: np.argmax([s[0] + z[0], s[1] + z[1]]) == 1,
    "above": lambda s, z: s[1] - s[0] + z[1] > 0.25,
    "one above": lambda s, z: s[1] + z[1] >= 0.75,
    "all above": lambda s, z: s[0] + s[1] + z[1] > 1.25,
    "below": lambda s, z: 2 * (s[1] - z[1]) < 1.5,
    "equal": lambda s, z: s[0] + z[1] == s[1] + z[0],
    "one equal": lambda s, z: s[0] + z[1] == 1,
    "sorted": lambda s, z: sorted([(s[0] + z[0], 0), (s[1] + z[1], 1)])[1][1] == 1,
}
TWO_FRESH = "larger", "argmax", "sorted", "equal"


@dataclass(frozen=True)
class Program:
    """A small learner; noises are (kind, scale) or None."""

    update: str
    choice: str
    full: bool
    fresh: tuple | None
    kept: tuple | None
    values: tuple  # of the table
    rounds: int
    every: int  # rounds between choices
    forget: bool  # the sums after a choice
    stop: bool  # after arm 1 is chosen
    coin: bool  # half of the choices are replaced by a third arm, which is of no use

    @classmethod
    def drawn(cls, rng):
        full, kinds = bool(rng.integers(2)), (*KINDS, None, None, *[None] * 4)
        fresh, kept = (
            (str(kind), float(rng.choice([0.5, 1.0, 2.0]))) if kind else None
            for kind in (kinds[rng.integers(5)], kinds[rng.integers(9)])
        )
        rounds = int(rng.integers(3, 5))
        values = (0, 0.5, 1) if rounds == 3 and rng.integers(2) else (0, 1)
        flags = [bool(flag) for flag in rng.random(3) < (0.4, 0.4, 0.2)]
        update, choice = rng.choice(list(ROW if full else ENTRY)), rng.choice(list(CHOICES))
        every = int(rng.integers(1, 3))
        return cls(str(update), str(choice), full, fresh, kept, values, rounds, every, *flags)

    def added(self, sums, action, seen, rng):
        """The sums after a round, given plain numbers or those of the ledger."""
        if self.full:
            more = ROW[self.update](seen, rng)
            return [sums[0] + more[0], sums[1] + more[1]]
        more = ENTRY[self.update](seen, rng)
        return [s + more if i == action else s for i, s in enumerate(sums)]

    def chooses(self, t, stopped):
        """Whether there is a choice before round t = 0, 1, ..."""
        return t % self.every == 0 and not stopped


class Chooser:
    """A program as a learner: the code that is traced."""

    def __init__(self, program, rng):
        self.program, self.rng, self.t, self.stopped = program, rng, 0, False
        self.sums, self.action = [0.0, 0.0], 0
        self.kept = self.noise(program.kept)

    def noise(self, given):
        return getattr(self.rng, given[0])(scale=given[1]) if given else 0.0

    def choose(self):
        program, t = self.program, self.t
        if t < 2:
            self.action = t
        elif program.chooses(t, self.stopped):
            if program.coin and self.rng.random() < 0.5:
                self.action = 2
            else:
                noises = [self.noise(program.fresh), self.noise(program.fresh) + self.kept]
                self.action = 1 if CHOICES[program.choice](self.sums, noises) else 0
                self.stopped = program.stop and self.action == 1
            self.sums = [0.0, 0.0] if program.forget else self.sums
        return self.action

    def observe(self, seen):
        self.sums = self.program.added(self.sums, self.action, seen, self.rng)
        self.t += 1


class Coins:
    """Coins that fall as they are told, which is all that rewards 0, 1/2 and 1 need."""

    def __init__(self, picks):
        self.picks = iter(picks)

    def random(self):
        return next(self.picks)


@cache
def nodes(noise):
    """Points and weights of a kept noise; panels end wherever a sum can decide anything."""
    if noise is None:
        return np.zeros(1), np.ones(1)
    edges = np.arange(-16, 16.1, 0.25)
    edges = np.concatenate([-16 - np.geomspace(100, 1, 12), edges, 16 + np.geomspace(1, 100, 12)])
    if noise[0] == "exponential":
        edges = edges[edges >= 0]
    x, w = np.polynomial.legendre.leggauss(5)
    half = np.diff(edges)[:, None] / 2
    points = (edges[:-1, None] + half * (1 + x)).ravel()
    return points, (half * w).ravel() * KINDS[noise[0]](scale=noise[1]).pdf(points)


def difference_above(noise, gap):
    """P[Z_1 - Z_0 > gap] of two fresh noises."""
    kind, scale = noise
    if kind != "laplace":
        return OF_TWO[kind].sf(gap / scale)
    size = np.abs(gap) / scale
    tail = np.exp(-size) * (2 + size) / 4
    return np.where(gap >= 0, tail, 1 - tail)


def chance(program, sums, kept):
    """Probabilities of arm 1 in a choice, given each value of the kept noise."""
    s0, s1 = map(float, sums)
    fresh, name = program.fresh, program.choice
    if "equal" in name:
        left, right = (s0, s1) if name == "equal" else (s0, 1.0)
        tie = left == right and not (fresh or program.kept)
        return np.full(kept.shape, float(tie))
    if name in TWO_FRESH:
        gap = s0 - s1 - kept
        if fresh:
            return difference_above(fresh, gap)
        return (gap <= 0 if name == "sorted" else gap < 0).astype(float)
    more = {
        "above": 0.25 - (s1 - s0),
        "one above": 0.75 - s1,
        "all above": 1.25 - s0 - s1,
        "below": s1 - 0.75,
    }[name] - kept
    if fresh:
        return KINDS[fresh[0]].sf(more / fresh[1])
    return (more <= 0 if name == "one above" else more < 0).astype(float)


def law(program, table):
    """The probability of each sequence of actions on a table."""
    kept, weights = nodes(program.kept)
    found = Counter()
    drawn = 2 if program.full else 1
    coins = list(product((0.25, 0.75), repeat=drawn)) if "coin" in program.update else [()]

    def go(actions, sums, stopped, share):
        t = len(actions)
        if not np.any(share):
            return
        if t == program.rounds:
            found[actions] += float(share @ weights)
        elif t < 2:
            see(actions, t, sums, stopped, share)
        elif not program.chooses(t, stopped):
            see(actions, actions[-1], sums, stopped, share)
        else:
            left = [0.0, 0.0] if program.forget else sums
            if program.coin:
                see(actions, 2, left, False, share / 2)
                share = share / 2
            one = chance(program, sums, kept)
            see(actions, 1, left, program.stop, share * one)
            see(actions, 0, left, False, share * (1 - one))

    def see(actions, action, sums, stopped, share):
        t = len(actions)
        seen = table[t] if program.full else table[t, action]
        for picks in coins:
            after = [float(s) for s in program.added(sums, action, seen, Coins(picks))]
            go((*actions, action), after, stopped, share / len(coins))

    go((), [0.0, 0.0], False, np.ones(kept.shape))
    return found


def loss(program, table, actions):
    """The largest log-ratio of these actions' probabilities on the table and on a neighbour."""
    here, worst = law(program, table)[actions], 0.0
    for t, row in product(range(program.rounds), product(program.values, repeat=2)):
        other = table.copy()
        other[t, :2] = row
        there = law(program, other)[actions]
        worst = max(worst, math.log(here / there) if there > 1e-14 else math.inf)
    return worst


def compared(program, seed, runs=2):
    """The exact loss of what some runs did, and their ledgers, by numbers and by outcomes."""
    rng, truth, found = np.random.default_rng(seed), 0.0, dict.fromkeys(ledger.KEEPS, 0.0)
    for _ in range(runs):
        table = rng.choice(program.values, size=(program.rounds, 3)).astype(float)
        algorithm = PROGRAMS[program.full](program)
        try:
            run = ledger.traced(algorithm, table, rng.integers(2**32))
        except TypeError:
            return truth, dict.fromkeys(found, math.inf)
        truth = max(truth, loss(program, table, run.actions))
        for keep in found:
            found[keep] = max(found[keep], float(ledger.costs(run, keep).max()))
    return truth, found


PROGRAMS = family(BanditAlgorithm, Chooser), family(FullInformationAlgorithm, Chooser)


def programs(seed, number):
    rng = np.random.default_rng(seed)
    return [Program.drawn(rng) for _ in range(number)]


@pytest.mark.parametrize("part", range(10))
def test_the_ledger_of_random_learners_is_no_less_than_their_loss(part):
    for number, program in enumerate(programs(part, 32)):
        truth, found = compared(program, number)
        assert min(found.values()) >= truth * (1 - 1e-6) - 1e-9, (program, truth, found)


def test_the_truth_adds_up_to_one_and_is_what_is_played():
    """The formulas against plays of the same programs."""
    rng = np.random.default_rng(0)
    for program in programs(1, 20):
        table = rng.choice(program.values, size=(program.rounds, 3)).astype(float)
        chances = law(program, table)
        assert sum(chances.values()) == pytest.approx(1, abs=1e-6)
        algorithm = PROGRAMS[program.full](program)
        played = Counter(tuple(map(int, algorithm.play(table, rng))) for _ in range(400))
        for actions in chances.keys() | played.keys():
            p = chances[actions]
            assert abs(played[actions] - 400 * p) <= 5 * math.sqrt(400 * p * (1 - p)) + 3
