"""Streams are known by what decides a run's law, and by nothing that may change its name."""

import json
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import partial

import cases
import numpy as np
import pytest
from conftest import ROOT, refused

from privregret import instances, rare
from privregret.adversarial import EXP3, HTINF, BatchedPrivate, ExpertsFromBandit
from privregret.bandits import DPIMED, DPSE, UCB1, AnytimeLazyUCB, BanditAlgorithm
from privregret.core import identity, streams
from privregret.core.algorithm import NOT_PRIVATE
from privregret.core.files import locked
from privregret.instances import HU2021_2, Advice, BernoulliBandit, gap_adversary
from privregret.press.notebook import BUILD
from privregret.simulate import regret_curves


def written(entries, depth=0):
    """JSON with a line for each entry, as the golden files have it."""
    inner = next(iter(entries.values()))
    line = (
        partial(written, depth=depth + 1) if isinstance(inner, dict) and not depth else json.dumps
    )
    rows = [f"{' ' * (depth + 1)}{json.dumps(name)}: {line(x)}" for name, x in entries.items()]
    return "{\n" + ",\n".join(rows) + "\n" + " " * depth + "}"


@pytest.fixture
def unmoved(pytestconfig):
    """Compares with `tests/golden_FILE.json`, or a part of it, to which `pytest --write-golden`
    adds what is new; what it has already it never changes."""

    def compare(found, file, part=None):
        path = ROOT / f"tests/golden_{file}.json"
        with locked(BUILD / ".golden"):
            whole = json.loads(path.read_text())
            kept = whole[part] if part else whole
            new = {name: x for name, x in found.items() if name not in kept}
            if new and pytestconfig.getoption("--write-golden"):
                kept |= new
                path.write_text(f"{written(whole)}\n")
        missing = [name for name in found if name not in kept]
        assert not missing, f"pytest --write-golden adds to {path.name}: {missing}"
        assert found == {name: kept[name] for name in found}
        return {*kept}

    return compare


def test_golden_files_are_written_as_they_are():
    for path in (ROOT / "tests").glob("golden_*.json"):
        assert f"{written(json.loads(path.read_text()))}\n" == path.read_text()


@pytest.mark.every_paper
def test_golden_keys(unmoved):
    """No key moves: every published number depends on them."""
    keys = {
        repr(case): list(streams.key(case.algorithm, case.problem.distribution))
        for case in cases.CASES
    }
    assert len({*map(tuple, keys.values())}) == len(keys)
    assert unmoved(keys, "keys") == {*keys}


@pytest.mark.parametrize("case", cases.KINDS, ids=repr)
def test_golden_runs(case, unmoved):
    """What is played from a seed: one run for each algorithm, the third of its stream."""
    run = case.algorithm.run(case.problem, case.rounds, 5, 3)[2]
    assert unmoved({repr(case): run.tolist()}, "numbers", "runs") <= {*map(repr, cases.KINDS)}


def test_golden_curves(unmoved):
    """The last of several blocks, of one stream and of a stream for each run; and of rare runs."""
    algorithms = UCB1(), AnytimeLazyUCB(0.5)
    curves = [regret_curves(a, HU2021_2, 500, 70, 5, points=1, workers=1) for a in algorithms]
    adversary = gap_adversary(3, 0.25)
    curves += [regret_curves(EXP3(0.1, 0.1), adversary, 500, 70, 5, points=1, workers=1)]
    last = {frame.algorithm[0]: frame.regret.tolist()[-2:] for frame in curves}
    weighted = rare.regrets(DPIMED(0.5), HU2021_2, 500, 20, 5, workers=1)
    last["rare"] = weighted[["regret", "weight"]].iloc[-1].round(9).tolist()
    assert unmoved(last, "numbers", "curves") == {*last}


@pytest.mark.every_paper
def test_golden_defaults(unmoved):
    """A default is in no key: another one would play otherwise in the same stream."""
    kinds = {type(case.algorithm) for case in cases.CASES}
    found = {k.__name__: {f.name: f.default for f in fields(k)} for k in kinds}
    kept = {n: {f: x for f, x in d.items() if x is not MISSING} for n, d in found.items()}
    assert unmoved(dict(sorted(kept.items())), "numbers", "defaults") == {*kept}


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
    return list(streams.key(advice or thing.distribution))


@pytest.mark.every_paper
def test_golden_problems(unmoved):
    """No named problem changes, and none that is made of given parameters."""
    # also those that are in their module alone
    modules = instances.adversaries, instances.bandits, instances.losses
    found = {n: x for module in modules for n, x in vars(module).items() if n[0] != "_"}
    public = {name: vars(instances)[name] for name in instances.__all__}
    named = {name: law(x) for name, x in found.items() if isinstance(x, instances.Problem)}
    assert {*MADE} == {n for n, x in public.items() if not isinstance(x, type)} - {*named}
    made = {f"{n}{given}": law(public[n](*given)) for n, all_ in MADE.items() for given in all_}
    assert unmoved(named | made, "numbers", "problems") == {*named, *made}


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
    return streams.key(algorithm, problem.distribution)


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
