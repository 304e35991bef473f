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
    "a generator set back": set_back,
    "autoregressive noise": autoregressive,
    "a noise scaled up": lambda seen, rng: int(
        float(seen[-1] + (z := rng.laplace()) * (1 + 1e-13)) - float(z) > 0.5
    ),
    "a limit inside": lambda seen, rng: int(bool(0 <= seen[-1] <= 0.5)),
    "equal to a limit": lambda seen, rng: int(bool(seen[-1] != 0)),
    "complex": lambda seen, rng: int(seen[-1] == 1 + 0j),
    "scale of ours": lambda seen, rng: int(noise.laplace(seen[-1], rng) != 0),
    "no noise of ours": lambda seen, rng: int(seen[-1] + noise.laplace(0.0, rng) > 0.5),
    "clipped inside": lambda seen, rng: int(np.clip(seen[-1], 0, 0.5) > 0.2),
    "a limit of a shifted reward": lambda seen, rng: int(bool(seen[-1] - 1e-17 < 0)),
    "a limit of a scaled reward": lambda seen, rng: int(bool(seen[-1] * (1 + 1e-9) > 1)),
    "== 1": lambda seen, rng: 1 if seen[-1] == 1 else 0,
    "index": lambda seen, rng: [0.0, 1.0].index(seen[-1]),
    "dict": lambda seen, rng: {1.0: 1}.get(seen[-1], 0),
    "a comparison is an index": lambda seen, rng: [0, 1][seen[-1] > 0.5],
    "not": lambda seen, rng: int(not seen[-1]),
    "comparisons compared": lambda seen, rng: int(bool((seen[-1] > 0.5) == (seen[-1] > 0.2))),
    "floor": lambda seen, rng: math.floor(seen[-1] + 0.5),
    "% on the right": lambda seen, rng: int(1.5 % (seen[-1] + 1) < 0.6),
    "/ on the right": lambda seen, rng: int(1 / (1 + seen[-1]) < 0.6),
    "abs": lambda seen, rng: int(abs(-seen[-1]) > 0.5),
    "str": lambda seen, rng: int(str(seen[-1]) == "1.0"),
    "as_integer_ratio": lambda seen, rng: seen[-1].as_integer_ratio()[0],
    "real": lambda seen, rng: int(seen[-1].real > 0.5),
    "copy": lambda seen, rng: int(copy.deepcopy(seen)[-1] == 1),
    "pickle": lambda seen, rng: int(pickle.loads(pickle.dumps(seen[-1])) == 1),
    "array": lambda seen, rng: int(array("d", seen[-1:])[0]),
    "Fraction": lambda seen, rng: int(seen[-1] == Fraction(1)),
    "the sign of zero": lambda seen, rng: int(math.copysign(1, (seen[-1] - 0.5) * 0) > 0),
    "what nearly cancels": lambda seen, rng: int(0.1 * seen[-1] + 0.2 * seen[-1] > 0.3 * seen[-1]),
    "times infinity": lambda seen, rng: int((seen[-1] + seen[0]) * math.inf > 1),
    "overflow": lambda seen, rng: int(seen[-1] * 1e308 + seen[0] * 1e308 > 1e308),
    "a float array": lambda seen, rng: int(np.array(seen, float)[-1] > 0.5),
    "astype": lambda seen, rng: int(np.array(seen).astype(int)[-1]),
    "np.exp": lambda seen, rng: int(np.exp(seen[-1]) > 2),
    "np.unique": lambda seen, rng: int(len(np.unique(np.array([0, *seen], object))) > 1),
    "a sum of comparisons": lambda seen, rng: int(sum(x > 0.5 for x in seen) > len(seen) / 2),
    "two rounds": lambda seen, rng: int(bool(seen[-1] == 1 - seen[0])),
    "while": counted_down,
    "a caught error": swallowed,
    "is": lambda seen, rng: int((seen[-1].item() > 0.5) is True),
    "isinstance": lambda seen, rng: int(isinstance(seen[-1], float) and float(seen[-1]) > 0.5),
    "bytes": lambda seen, rng: int(np.array(seen).tobytes()[-1] != 0),
    "integers up to data": lambda seen, rng: int(rng.integers(seen[-1] + 1)),
    "choice": lambda seen, rng: int(rng.choice(2, p=[1 - seen[-1], seen[-1]])),
    "shuffle": shuffled,
    "binomial": lambda seen, rng: int(rng.binomial(1, seen[-1])),
    "uniform": lambda seen, rng: int(rng.uniform(seen[-1], 1) >= 1),
    "beta": lambda seen, rng: int(rng.beta(1 + 1e6 * seen[-1], 1e3) > 0.5),
    "scale of numpy's": lambda seen, rng: int(rng.exponential(seen[-1]) > 0),
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
    "method min": lambda seen, rng: int(seen[-1].min() > 0.5),
    "tolist": lambda seen, rng: int(seen[-1].tolist() == [1, 1, 1]),
    "flatnonzero": lambda seen, rng: int(len(np.flatnonzero(seen[-1])) == 3),
    "an array compared": lambda seen, rng: int((seen[-1] > 0.5).all()),
    "an array's product": lambda seen, rng: int(seen[-1] @ np.ones(3) > 1.5),
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
    "a mean": (lambda seen, rng: int(statistics.mean([seen[-1] + rng.laplace()]) > 0.5), 1),
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
# A program adds something of each round to a sum per arm, and makes choices from the sums and from
# noise: a fresh one for each choice, and one that is drawn once and kept. The truth is a sum over
# coins, an integral over the kept noise, and a formula for fresh noise.

KINDS = {"laplace": stats.laplace, "exponential": stats.expon, "gumbel": stats.gumbel_r}

ENTRY = {  # what is added for the reward x of an arm
    "x": lambda x, rng: x,
    "half x": lambda x, rng: x / 2,
    "-2x": lambda x, rng: -2 * x,
    "x > .5": lambda x, rng: x > 0.5,
    "x == 1": lambda x, rng: x == 1,
    "two comparisons": lambda x, rng: 1 * (x > 0.2) - (x < 0.8),
    "x and a comparison": lambda x, rng: x - (x > 0.5),
    "coin": lambda x, rng: rng.random() < x,
    "coin and x": lambda x, rng: x - (rng.random() < x),
    "if x == 1": lambda x, rng: 1 if x == 1 else 0,
    "max": lambda x, rng: max(x, 0.5),
    "square": lambda x, rng: x * x,
    "floor": lambda x, rng: x // 1,
}
ROW = {  # what is added for the rewards x of both arms
    "x": lambda x, rng: (x[0], x[1]),
    "wins": lambda x, rng: (x[0] > x[1], x[1] > x[0]),
    "two comparisons": lambda x, rng: (x[0] > x[1], x[0] > 0.5),
    "a win and a loss": lambda x, rng: (x[0] > x[1], -1 * (x[0] > x[1])),
    "unequal": lambda x, rng: (x[0] != x[1], x[0] == 1),
    "difference": lambda x, rng: (x[0] - x[1], 0),
    "coins": lambda x, rng: (rng.random() < x[0], rng.random() < x[1]),
    "a coin and its arm": lambda x, rng: (rng.random() < x[0], x[0]),
    "argmax": lambda x, rng: (0, np.argmax(x)),
    "product": lambda x, rng: (x[0] * x[1], 0),
}
CHOICES = {  # of sums and noise: whether arm 1 is played, and what the noise must exceed for it
    "argmax": (lambda s, z: np.argmax([s[0], s[1] + z]) == 1, lambda a, b: a - b),
    "above": (lambda s, z: s[1] - s[0] + z > 0.375, lambda a, b: 0.375 - (b - a)),
    "one above": (lambda s, z: s[1] + z >= 0.875, lambda a, b: 0.875 - b),
    "all above": (lambda s, z: s[0] + s[1] + z > 1.375, lambda a, b: 1.375 - a - b),
    "below": (lambda s, z: 2 * (s[1] - z) < 1.75, lambda a, b: b - 0.875),
    "sorted": (lambda s, z: sorted([(s[0], 1), (s[1] + z, 0)])[1][1] == 0, lambda a, b: a - b),
}


@dataclass(frozen=True)
class Program:
    """A small learner: arms 0 and 1, then a choice before each round; noises are (kind, scale)."""

    update: str
    choice: str
    full: bool
    fresh: tuple | None
    kept: tuple | None
    values: tuple  # of the table
    rounds: int
    forget: bool  # the sums after a choice

    @classmethod
    def drawn(cls, rng):
        full, kinds = bool(rng.integers(2)), (*KINDS, None, None, *[None] * 4)
        fresh, kept = (
            (str(kind), float(rng.choice([0.5, 1.0, 2.0]))) if kind else None
            for kind in (kinds[rng.integers(5)], kinds[rng.integers(9)])
        )
        rounds = int(rng.integers(3, 5))
        values = (0, 0.5, 1) if rounds == 3 and rng.integers(2) else (0, 1)
        update, choice = rng.choice(list(ROW if full else ENTRY)), rng.choice(list(CHOICES))
        return cls(str(update), str(choice), full, fresh, kept, values, rounds, rng.random() < 0.4)

    def added(self, sums, action, seen, rng):
        """The sums after a round, given plain numbers or those of the ledger."""
        if self.full:
            more = ROW[self.update](seen, rng)
            return [sums[0] + more[0], sums[1] + more[1]]
        more = ENTRY[self.update](seen, rng)
        return [s + more if i == action else s for i, s in enumerate(sums)]


class Chooser:
    """A program as a learner: the code that is traced."""

    def __init__(self, program, rng):
        self.program, self.rng, self.t = program, rng, 0
        self.sums, self.action = [0.0, 0.0], 0
        self.kept = self.noise(program.kept)

    def noise(self, given):
        return getattr(self.rng, given[0])(scale=given[1]) if given else 0.0

    def choose(self):
        if self.t < 2:
            self.action = self.t
        else:
            chosen = CHOICES[self.program.choice][0]
            self.action = int(bool(chosen(self.sums, self.noise(self.program.fresh) + self.kept)))
            self.sums = [0.0, 0.0] if self.program.forget else self.sums
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
    edges = np.arange(-16, 16.1, 0.125)
    edges = np.concatenate([-16 - np.geomspace(100, 1, 12), edges, 16 + np.geomspace(1, 100, 12)])
    if noise[0] == "exponential":
        edges = edges[edges >= 0]
    x, w = np.polynomial.legendre.leggauss(5)
    half = np.diff(edges)[:, None] / 2
    points = (edges[:-1, None] + half * (1 + x)).ravel()
    return points, (half * w).ravel() * KINDS[noise[0]](scale=noise[1]).pdf(points)


def law(program, table):
    """The probability of each sequence of actions on a table."""
    kept, weights = nodes(program.kept)
    found, drawn = Counter(), 1 + program.full
    coins = list(product((0.25, 0.75), repeat=drawn)) if "coin" in program.update else [()]

    def chance(sums):
        """Of arm 1, given each value of the kept noise."""
        more = CHOICES[program.choice][1](*sums) - kept
        if program.fresh:
            kind, scale = program.fresh
            return KINDS[kind].sf(more / scale)
        return (more < 0).astype(float)

    def go(actions, sums, share):
        t = len(actions)
        if t == program.rounds:
            found[actions] += float(share @ weights)
        elif t < 2:
            see(actions, t, sums, share)
        else:
            one, left = chance(sums), [0.0, 0.0] if program.forget else sums
            see(actions, 1, left, share * one)
            see(actions, 0, left, share * (1 - one))

    def see(actions, action, sums, share):
        t = len(actions)
        seen = table[t] if program.full else table[t, action]
        for picks in coins if np.any(share) else []:
            after = [float(s) for s in program.added(sums, action, seen, Coins(picks))]
            go((*actions, action), after, share / len(coins))

    go((), [0.0, 0.0], np.ones(kept.shape))
    return found


def loss(program, table, actions):
    """The largest log-ratio of these actions' probabilities on the table and on a neighbour."""
    here, worst = law(program, table)[actions], 0.0
    for t, row in product(range(program.rounds), product(program.values, repeat=2)):
        other = table.copy()
        other[t] = row
        there = law(program, other)[actions]
        worst = max(worst, math.log(here / there) if there > 1e-14 else math.inf)
    return worst


def compared(program, seed, runs=2):
    """The exact loss of what some runs did, and their ledgers, by numbers and by outcomes."""
    rng, truth, found = np.random.default_rng(seed), 0.0, dict.fromkeys(ledger.KEEPS, 0.0)
    for _ in range(runs):
        table = rng.choice(program.values, size=(program.rounds, 2)).astype(float)
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


@pytest.mark.parametrize("part", range(6))
def test_the_ledger_of_random_learners_is_no_less_than_their_loss(part):
    for number, program in enumerate(programs(part, 32)):
        truth, found = compared(program, number)
        assert min(found.values()) >= truth * (1 - 1e-6) - 1e-9, (program, truth, found)


def test_the_truth_adds_up_to_one_and_is_what_is_played():
    """The formulas against plays of the same programs."""
    rng = np.random.default_rng(0)
    for program in programs(1, 20):
        table = rng.choice(program.values, size=(program.rounds, 2)).astype(float)
        chances = law(program, table)
        assert sum(chances.values()) == pytest.approx(1, abs=1e-6)
        algorithm = PROGRAMS[program.full](program)
        played = Counter(tuple(map(int, algorithm.play(table, rng))) for _ in range(400))
        for actions in chances.keys() | played.keys():
            p = chances[actions]
            assert abs(played[actions] - 400 * p) <= 5 * math.sqrt(400 * p * (1 - p)) + 3
