"""Streams are known by what decides a run's law, and by nothing that may change its name."""

import json
from dataclasses import MISSING, dataclass, field, fields, replace

import cases
import numpy as np
from conftest import ROOT, refused

from privregret import instances, rare
from privregret.adversarial import EXP3, HTINF, BatchedPrivate, ExpertsFromBandit
from privregret.bandits import DPIMED, DPSE, UCB1, AnytimeLazyUCB, BanditAlgorithm
from privregret.core import identity, streams
from privregret.core.algorithm import NOT_PRIVATE
from privregret.instances import HU2021_2, Advice, BernoulliBandit, gap_adversary
from privregret.simulate import regret_curves

GOLDEN = json.loads((ROOT / "tests/golden_keys.json").read_text())
NUMBERS = json.loads((ROOT / "tests/golden_numbers.json").read_text())


def test_golden_keys():
    """No key moves: every published number depends on them. A new case adds a line to the file."""
    keys = {repr(case): list(streams.key(case.algorithm, case.problem)) for case in cases.CASES}
    missing = [f"{json.dumps(n)}: {keys[n]}," for n in keys if n not in GOLDEN]
    assert not missing, "\n".join(["add to tests/golden_keys.json:", *missing])
    assert keys == GOLDEN and len({*map(tuple, keys.values())}) == len(keys)


def unmoved(what, found):
    """Compare with what is kept; a new entry is printed, and added to the file by hand."""
    missing = [f"{json.dumps(n)}: {json.dumps(found[n])}," for n in found if n not in NUMBERS[what]]
    assert not missing, "\n".join([f"add to {what} in tests/golden_numbers.json:", *missing])
    assert found == NUMBERS[what]


def test_golden_runs():
    """What is played from a seed: one run for each algorithm, the third of its stream."""
    runs = {repr(c): c.algorithm.run(c.problem, c.rounds, 5, 3)[2].tolist() for c in cases.KINDS}
    unmoved("runs", runs)


def test_golden_curves():
    """The last of several blocks, of one stream and of a stream for each run; and of rare runs."""
    algorithms = UCB1(), AnytimeLazyUCB(0.5)
    curves = [regret_curves(a, HU2021_2, 500, 70, 5, points=1, workers=1) for a in algorithms]
    adversary = gap_adversary(3, 0.25)
    curves += [regret_curves(EXP3(0.1, 0.1), adversary, 500, 70, 5, points=1, workers=1)]
    last = {frame.algorithm[0]: frame.regret.tolist()[-2:] for frame in curves}
    weighted = rare.regrets(DPIMED(0.5), HU2021_2, 500, 20, 5, workers=1)
    last["rare"] = weighted[["regret", "weight"]].iloc[-1].round(9).tolist()
    unmoved("curves", last)


def test_golden_defaults():
    """A default is in no key: another one would play otherwise in the same stream."""
    kinds = {type(case.algorithm) for case in cases.CASES}
    found = {k.__name__: {f.name: f.default for f in fields(k)} for k in kinds}
    kept = {n: {f: x for f, x in d.items() if x is not MISSING} for n, d in found.items()}
    unmoved("defaults", dict(sorted(kept.items())))


MADE = {  # each maker of a problem with all of its parameters
    "bernoulli_losses": [((0.1, 0.5), (1, 3))],
    "cyclic": [(10, 0.05), (10, 0.05, True), (None, 0.05, False, 20.0)],
    "dependent": [("antithetic", 0.2), ("comonotone", 0.2, 3), ("copies", 0.2, 4)],
    "deterministic_losses": [((0.1, 0.5), (1, 3))],
    "doubling": [(5,), (3, 4, 0.5, False), (3, 1, 0.9, True, 30.0)],
    "equal_gaps": [(4, 0.1)],
    "exp3_leakage_pair": [()],
    "fixed_experts": [(5, 3)],
    "gap_adversary": [(3, 0.5), (4, 0.25, True)],
    "improving_arm": [(3, 7), (3, 0)],
    "lemma_11_pair": [(7,)],
    "packing": [(7, 0.1)],
    "stochastically_constrained": [(3, 0.2, 5000)],
    "switching": [(3, 7, 300)],
    "tracking_experts": [(instances.switching(4, 13, 1000), 10, 1000, 50, 1)],
}


def law(thing):
    """What identifies a problem, a pair of them, or advice."""
    if isinstance(thing, tuple):
        return [law(one) for one in thing]
    advice = [thing.starts, thing.rows, thing.group] if isinstance(thing, Advice) else None
    return list(identity.digest(advice or thing.distribution))


def test_golden_problems():
    """No named problem changes, and none that is made of given parameters."""
    public = {name: vars(instances)[name] for name in instances.__all__}
    named = {name: law(x) for name, x in public.items() if isinstance(x, instances.Problem)}
    assert {*MADE} == {n for n, x in public.items() if not isinstance(x, type)} - {*named}
    made = {f"{n}{given}": law(public[n](*given)) for n, all_ in MADE.items() for given in all_}
    unmoved("problems", named | made)


@dataclass(frozen=True)
class Plain(BanditAlgorithm):
    epsilon: float
    rate: float = 1.0
    inner: object = None
    id, label, source, privacy = "mine", "mine", "nowhere", NOT_PRIVATE


@dataclass(frozen=True)
class Renamed(BanditAlgorithm):
    epsilon: float
    extra: float = 0.5  # new, with a default
    pace: float = field(default=1.0, metadata={"id": "rate"})
    inner: object = None
    id, label, source, privacy = "mine", "another label", "elsewhere", NOT_PRIVATE


def key(algorithm, problem=HU2021_2):
    return streams.key(algorithm, problem)


def test_no_refactoring_moves_a_key():
    one = key(Plain(0.5, 2.0))
    # arguments permuted, other types
    assert one == key(Plain(rate=2, epsilon=np.float64(0.5)))
    # class and field renamed, a field added, inside and out
    assert one == key(Renamed(0.5, pace=2.0))
    assert key(Plain(0.5, inner=Plain(0.5, 2.0))) == key(Plain(0.5, inner=Renamed(0.5, pace=2.0)))
    # a default said explicitly, a problem renamed
    assert key(Plain(0.5)) == key(Plain(0.5, 1.0))
    assert one == key(Plain(0.5, 2.0), replace(HU2021_2, name="another", source="x"))


def test_what_decides_the_law_moves_the_key():
    made = [Plain(0.5), Plain(0.25), Plain(0.5, 2.0), Renamed(0.5, 0.7), DPSE(0.5)]
    made += [Plain(0.5, inner=x) for x in (Plain(0.5), True, 1, "1")] + [AnytimeLazyUCB(0.5)]
    problems = [BernoulliBandit("x", means) for means in ((0.5, 0.6), (0.6, 0.5))]
    keys = [*map(key, made), *(key(made[0], problem) for problem in problems)]
    assert len(set(keys)) == len(keys)
    exp3 = EXP3(0.5, 0.1)
    conversions = (
        BatchedPrivate(exp3, 0.5),
        BatchedPrivate(HTINF(0.5), 0.5),
        ExpertsFromBandit(exp3),
    )
    assert len({identity.encode(algorithm) for algorithm in conversions}) == 3


def test_numbers_by_value():
    same = [(1, 1.0), (0.0, -0.0), (np.int8(3), 3), ([1, 2], (1.0, 2)), (2**60, np.int64(2**60))]
    same += [(np.arange(3), np.arange(3, dtype=np.int8)), (np.eye(2), np.asfortranarray(np.eye(2)))]
    different = [(0.1 + 0.2, 0.3), (1, True), (0, False), (1, "1"), (2**53, 2**53 + 1)]
    different += [("ab", ["a", "b"]), (None, False)]
    different += [(np.zeros((2, 3)), np.zeros((3, 2))), (np.arange(3), np.arange(3.0))]
    different += [([[1], 2], [1, [2]])]
    assert all(identity.encode(a) == identity.encode(b) for a, b in same)
    assert all(identity.encode(a) != identity.encode(b) for a, b in different)
    refused(lambda: identity.encode(float("nan")), "nan", error=ValueError)
    for wrong in (lambda: 0, object(), {1}, Plain, np.array(["a"])):
        refused(lambda w=wrong: identity.encode(w), type(wrong).__name__, error=TypeError)


def test_the_stream_of_a_block_is_numpys():
    expected = np.random.default_rng(np.random.SeedSequence(5, spawn_key=(1, 2, 7))).random(3)
    assert (streams.generator((1, 2), 5, 7).random(3) == expected).all()
    for seed in (0, 2**31, 2**64, 2**200 + 17):
        one, other = (streams.generator((1,), seed, block) for block in (0, 1))
        assert one.random() != other.random()
