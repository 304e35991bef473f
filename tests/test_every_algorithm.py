"""The contract: what holds for every algorithm of the project, on the cases of `cases.py`."""

import copy
import inspect
import math
import pickle
from dataclasses import fields, replace
from functools import partial

import cases
import naive
import numpy as np
import pytest
from cases import CASES, FIRST, KINDS
from conftest import refused
from laws import by_play, same_law, tables, tally

from privregret import adversarial, bandits, companion, full_information, instances, simulate
from privregret.adversarial import EXP3, FTPL, BatchedPrivate, EXP4Local, ExpertsFromBandit
from privregret.bandits import DPIMED, DPKLUCB, DPSE, UCB1, AnytimeLazyUCB, BanditAlgorithm
from privregret.companion import MarginStop, Votes, VotesOrLeader
from privregret.core import checks, streams
from privregret.core.algorithm import NOT_PRIVATE, NOTHING, Algorithm, Privacy, Steps
from privregret.core.jit import jit
from privregret.full_information import FTNL, NaiveFTNL, RandomPrefixSoftmax
from privregret.full_information.ftnl import PRESETS
from privregret.instances import Adversary, Advice, BernoulliBandit, ExpertProblem, StochasticLosses

COUNTED = BernoulliBandit, StochasticLosses  # of whose runs pulls are reported
FAMILIES = list({type(case.problem): case for case in reversed(CASES)}.values())[::-1]


def knows_the_horizon(case):
    """Whether an algorithm must know it: its settings refuse to be made without one."""
    try:
        case.algorithm.settings(None, *case.problem.memory_sizes)
    except ValueError as refusal:
        assert "horizon must be given" in str(refusal)
        return True
    return False


COPIES = copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))

every_case = pytest.mark.parametrize("case", CASES, ids=repr)
every_class = pytest.mark.parametrize("case", KINDS, ids=repr)
every_family = pytest.mark.parametrize("case", FAMILIES, ids=repr)


@pytest.mark.every_paper
def test_no_algorithm_is_missing():
    modules = bandits, full_information, adversarial, companion
    public = {getattr(m, name) for m in modules for name in m.__all__}
    kinds = {c for c in public if inspect.isclass(c) and issubclass(c, Algorithm)}
    algorithms = {c for c in kinds if not inspect.isabstract(c)}
    algorithms -= {full_information.EveryRoundAlgorithm}  # of which the leaders are made
    assert algorithms == {type(case.algorithm) for case in CASES}
    ids = [kind.id for kind in kinds if "id" in vars(kind)]
    assert len(set(ids)) == len(ids) >= 20
    for kind in algorithms:
        made = {case.algorithm for case in CASES if type(case.algorithm) is kind}
        numbers = [f.name for f in fields(kind) if f.type in ("float", float)]
        assert len(made) >= (3 if numbers else 1), kind


def some_tables(case):
    """The problem's own table, and others: real-valued ones, with a trend, and without chance."""
    rng, horizon = np.random.default_rng(11), case.rounds[-1]
    arms = case.problem.table(1, rng).shape[1]
    yield case.problem.table(horizon, rng)
    yield case.problem.table(101, rng)
    real = rng.integers(0, 1025, (250, arms)) / 1024  # sums without rounding
    trend = np.abs(np.arange(250)[:, None] / 249 - np.arange(arms) / arms)
    yield from (real, (real * trend * 1024).round() / 1024)
    yield from (np.zeros((150, arms)), np.ones((101, arms)))


@every_case
def test_play_is_the_naive_twin(case):
    for seed, table in enumerate(some_tables(case)):
        data = tables(case.problem, table)
        fast = case.algorithm.play(*data, np.random.default_rng(seed))
        assert fast.tolist() == list(case.twin(*data, np.random.default_rng(seed)))


@pytest.mark.parametrize("case", cases.LAWS, ids=repr)
def test_run_has_the_law_of_play(case):
    """With few plays, which are slow, and four times as many runs."""
    algorithm, _, problem, rounds, runs = case
    played = by_play(algorithm.play, problem, rounds, runs * 3 // 5, seed=1)
    assert same_law(played, algorithm.run(problem, rounds, 2, runs * 12 // 5))


EPOCHS = [case for case in cases.FULL_INFORMATION if type(case.algorithm).fast_run]
EPOCHS = [case for case in EPOCHS if len(case.problem.outcomes) == 1]


@pytest.mark.parametrize("case", EPOCHS, ids=repr)
def test_epoch_by_epoch_is_round_by_round_when_losses_are_certain(case):
    """On one stream of noise; where losses are drawn, each sum is its mean."""
    algorithm, problem, rounds = case.algorithm, case.problem, np.arange(1, 201)
    once = algorithm
    if getattr(algorithm, "bernoulli_resampling", False):
        once = replace(algorithm, bernoulli_resampling=False)
    means = np.repeat(problem.means, problem.counts)
    kernel = naive.plain(type(algorithm).fast_run)
    settings = algorithm.settings(200, len(means))
    for seed in range(5):
        rng = naive.Recorder(np.random.default_rng(seed), certain=True)
        found = kernel(problem.kernel_data, rounds, settings, rng)
        actions = once.play(np.tile(means, (200, 1)), seed)
        assert (found == tally(problem, actions, rounds)).all()


CERTAIN = Adversary("", [0, 100], cases.TURN.losses)
THREE_TIMES = Advice(
    "", [0, 40, 80], cases.ROWS[[0, 1, 0]], [[0, 1, 2, 1, 0], [2, 2, 1, 0, 0], [1, 0, 2, 2, 0]]
)
ROUND_BY_ROUND = {case.algorithm: case.problem for case in cases.ADVERSARIAL + cases.EXPERTS}
# a little noise more changes what these play
ROUND_BY_ROUND[adversarial.EXP4Batched(1.0, 1e-3, 0.002, 0.3, 1)] = cases.ADVISED
ROUND_BY_ROUND[adversarial.EXP4Batched(1.0, 1e-3, 0.01, 0.3, 7)] = cases.ADVISED


@pytest.mark.parametrize("algorithm", ROUND_BY_ROUND, ids=repr)
def test_a_run_that_reports_each_round_is_play_on_certain_losses(algorithm):
    """On one stream; advice changes twice."""
    problem, rounds = CERTAIN, np.arange(1, 131)
    if isinstance(ROUND_BY_ROUND[algorithm], ExpertProblem):
        problem = ExpertProblem(CERTAIN, THREE_TIMES)
    elif ROUND_BY_ROUND[algorithm].arms == 2:
        problem = Adversary("", [0, 100], cases.SIDES.losses)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        own = streams.children(rng, 1)[0] if algorithm.lanes else rng
        actions = algorithm.play(*tables(problem, problem.table(130)), own)
        found = algorithm.run(problem, rounds, seed)
        np.testing.assert_allclose(found, tally(problem, actions, rounds), rtol=1e-12)


A_TENTH = {"laplace": lambda scale, rng: rng.laplace(0.0, scale / 10)}


@pytest.mark.parametrize(
    ("algorithm", "faulty"),
    [
        (DPKLUCB(1.0), cases.batched(DPKLUCB.rule, 1.0, **A_TENTH)),
        (FTNL(0.5, "laplace", 3.7, True), cases.epochs("laplace", 0.74, resampled=True)),
        (FTNL(20.0, "gumbel"), naive.hedge(math.inf)),
    ],
    ids=["noise", "resampling", "temperature"],
)
def test_a_comparison_of_laws_can_fail(algorithm, faulty):
    """A tenth of the noise is seen, and a leader of every round."""
    (case,) = (case for case in CASES if case.algorithm == algorithm)
    played = by_play(faulty, case.problem, case.rounds[:2], 600, seed=1)
    assert not same_law(played, algorithm.run(case.problem, case.rounds[:2], 2, 2400))


@pytest.mark.xdist_group("compiled")
def test_compiled_or_not_the_same_numbers(short_runs):
    compiled, uncompiled = (runs["runs"] for runs in short_runs)
    assert list(compiled) == [repr(case.algorithm) for case in FIRST]
    for name, numbers in compiled.items():
        assert numbers == uncompiled[name], name


@every_class
def test_reports_are_of_one_run(case):
    """Counts add up, losses are possible, and more checkpoints or runs change nothing.

    In Bernoulli adversaries, and with experts who mix, a report ends a cell: there, without either.
    """
    algorithm, _, problem, rounds, _ = case
    if not isinstance(problem, COUNTED):
        losses = Adversary("", [0, 100], cases.TURN.losses[:, : problem.memory_sizes[0]])
        advice = Advice.of_arms([[0, 1, 2, 1, 0]], 3)
        problem = ExpertProblem(losses, advice) if isinstance(problem, ExpertProblem) else losses
    many = np.union1d(np.arange(1, rounds[-1], 7), rounds)
    for seed in range(3):
        few, played = algorithm.run(problem, rounds, seed), algorithm.run(problem, many, seed)
        steps = np.diff(played, axis=0, prepend=0)
        assert len(played) == len(many) and (steps >= 0).all()
        if isinstance(problem, COUNTED):
            assert played.dtype == np.int64 and (played.sum(axis=1) == many).all()
        else:
            assert (steps <= np.diff(many, prepend=0)).all()
        if not isinstance(algorithm, adversarial.EXP4Batched):  # mixes by itself
            np.testing.assert_allclose(few, played[np.isin(many, rounds)], rtol=1e-12)
    rng = np.random.default_rng(3)
    several = [algorithm.run(problem, rounds, rng) for _ in range(3)]
    assert (algorithm.run(problem, rounds, 3, runs=3) == several).all()


@every_class
def test_a_live_source_is_play(case):
    """Fed row by row, a learner does what `play` does on the whole table with the same generator.

    It need not know the horizon, but for those of which that is known. So do copies made half way.
    Beyond a horizon its settings hold no batches, and it stops.
    """
    for seed, table in enumerate([*some_tables(case)][1:3]):
        data = tables(case.problem, table)
        advice = [a.dense(len(table)) for a in data[1:]]
        sizes = table.shape[1], *(a.shape[1] for a in advice)
        known = seed == 0 or knows_the_horizon(case)
        horizon = len(table) if known else None
        learner = case.algorithm.start(sizes[0], seed, horizon, *sizes[1:])
        live, chosen = [learner], []
        for t, row in enumerate(table):
            if t == 60 and known:
                live += [copied(learner) for copied in COPIES]
            given = [a[min(t, len(a) - 1)] for a in advice]
            (arm,) = {one.choose(*given) for one in live}
            for one in live:
                one.observe(row if isinstance(case.problem, StochasticLosses) else row[arm])
            chosen.append(arm)
        assert case.algorithm.play(*data, seed).tolist() == chosen
        if known:
            refused(partial(learner.choose, *given), "horizon", len(table), error=RuntimeError)


@every_family
def test_a_learner_refuses_what_makes_no_round(case):
    full = isinstance(case.problem, StochasticLosses)
    advised, arms = isinstance(case.problem, ExpertProblem), case.problem.memory_sizes[0]
    advice = (np.full((2, arms), 1 / arms),) if advised else ()
    learner = case.algorithm.start(arms, 1, 1000, *((2,) if advised else ()))
    seen = "losses" if full else "reward" if isinstance(case.problem, BernoulliBandit) else "loss"
    refused(lambda: learner.observe(0.5), "choose", error=RuntimeError)
    arm = learner.choose(*advice)
    assert learner.choose(*advice) == arm and 0 <= arm < arms  # asked twice, the same
    wrong = [np.full(arms + 1, 0.5), np.full((1, arms), 0.5)] if full else [[0.5], None]
    outside = [put(np.full(arms, 0.5), 0, x) if full else x for x in (-0.1, 1.5, math.nan)]
    for value in (*wrong, *outside, "a"):
        refused(lambda value=value: learner.observe(value), seen)
    again = np.full(arms, 0.5) if full else 0.5
    learner.observe(again)
    refused(lambda: learner.observe(again), "choose", error=RuntimeError)
    even = np.full((3, arms), 1 / arms)
    for value in (None, np.ones((2, arms)), even, even[0]) if advised else (even,):
        refused(lambda value=value: learner.choose(value), "advice")
    refused(lambda: case.algorithm.start(1, 1, 1000), "actions" if full else "arms")
    if case.problem.min_horizon > 1:
        refused(lambda: case.algorithm.start(3, 1, 2), "horizon")


@every_class
def test_the_shortest_horizon(case):
    """Of one round, or one for each arm, where all are tried first.

    Advice may change later, and outcomes be True and False."""
    algorithm, problem, horizon = case.algorithm, case.problem, case.problem.min_horizon
    if isinstance(problem, ExpertProblem):
        rows, group = (np.repeat(x[:1], 2, 0) for x in (problem.advice.rows, problem.advice.group))
        problem = ExpertProblem(problem.adversary, Advice("late", [0, 50], rows, group))
    played = by_play(algorithm.play, problem, (horizon,), 1, 1)
    ran = algorithm.run(problem, [horizon], 1, 1)
    assert played.shape == ran.shape and ran.sum() <= horizon
    if horizon > 1 and getattr(algorithm, "n0", 1) == 1:
        once = (played == 1).all() and (ran == 1).all()
        assert once, (
            "a bandit tries each of K arms once in its first K rounds, or has another n0 than 1"
        )
    sizes = problem.memory_sizes
    learner = algorithm.start(sizes[0], 1, horizon, *sizes[1:])
    learner.choose(*(advice.dense(1)[0] for advice in tables(problem, None)[1:]))
    learner.observe(np.ones(sizes[0], bool) if isinstance(problem, StochasticLosses) else True)
    refused(lambda: learner.observe(True), "choose", error=RuntimeError)


def put(array, at, value):
    array[at] = value
    return array


@every_class
def test_curves_are_the_same_with_any_number_of_workers(case):
    algorithm, _, problem, rounds, _ = case
    runs = 2 * algorithm.runs_per_stream + 3
    curves = partial(simulate.regret_curves, algorithm, problem, rounds[-1], seed=5, points=rounds)
    one = curves(runs=runs, workers=1)
    assert one.equals(curves(runs=runs, workers=2))
    assert (one.algorithm == algorithm.label).all() and (one.instance == problem.name).all()
    rng = streams.generator(streams.key(algorithm, problem.distribution), 5, block=2)
    last = problem.regret(algorithm.run(problem, rounds, rng, runs=3), rounds)
    assert one[one.run >= runs - 3].regret.tolist() == last.ravel().tolist()
    fewer = algorithm.runs_per_stream + 1
    assert curves(runs=fewer).equals(one[one.run < fewer].reset_index(drop=True))


def test_rounding_does_not_break_ties_between_leaders():
    """0.1 + 0.2 is 0.30000000000000004: who have lost the same must lead equally often."""
    losses = np.array([[0.1, 0.3], [0.2, 0.0], [0.0, 0.0]])
    play = full_information.FollowTheLeader().play
    assert abs(np.mean([play(losses, seed)[2] for seed in range(1000)]) - 0.5) < 5 * 0.5 / 1000**0.5


def test_presets_and_what_they_guarantee():
    # the scale of the noise for epsilon = 1
    factors = {"hu2021": {"laplace": 1}, "wu2026-proofs": {"gumbel": 1}}
    factors["wu2026"] = {"laplace": 2, "exponential": 1, "gumbel": 2}
    factors["corrected"] = {"laplace": 2, "exponential": 2, "gumbel": 2}
    assert PRESETS == factors
    for scale, noise in ((s, noise) for s, noises in factors.items() for noise in noises):
        made, factor = FTNL(0.5, noise, scale), factors[scale][noise]
        assert made.noise_scale(10) == 2 * factor and made.privacy == Privacy(0.5, 1 / factor)
        assert FTNL(0.5, noise).privacy == Privacy(0.5, 0.5)
    assert FTNL(0.5, "gumbel", 8.0).privacy == Privacy(math.inf, 0.125)
    assert RandomPrefixSoftmax(0.1).privacy == Privacy(0.1, 0.1)
    assert RandomPrefixSoftmax(3.0).privacy == Privacy(3.0, 0.25)
    assert RandomPrefixSoftmax(3.0, cap=math.inf).privacy == Privacy(3.0, 3.0)
    assert NaiveFTNL(0.5).noise_scale(10) == 20 and NaiveFTNL(0.5).privacy == Privacy(0.5, 0.5)
    for learner in (Votes, VotesOrLeader, MarginStop):
        assert learner(0.5).privacy == Privacy(0.5, 0.5)


# At the ends of what floats and 64 bits hold: a run that adds up

EVENTS = bandits.AdaPKLUCB, AnytimeLazyUCB, DPSE, DPKLUCB, DPIMED
BY_ROUND = [UCB1(), bandits.KLUCB(), bandits.IMED(), bandits.HybridUCB(8.0), bandits.LazyDPTS(1.0)]
MEANS = [(0.5, 0.5 + 2.0**-53), (1.0, 0.0), (1.0, 1.0), (0.0, 0.0), (2.0**-60, 0.0), (0, 1, 0.5)]
SIDES = Adversary("sides", [0], [[0.25, 0.75]])
ADVISED = ExpertProblem(SIDES, Advice.of_arms([[0, 1]], 2))


@pytest.mark.parametrize("means", MEANS, ids=str)
@pytest.mark.parametrize(
    "algorithm", [*(make(x) for make in EVENTS for x in (1e-6, 0.5, 1e6)), *BY_ROUND], ids=repr
)
def test_the_longest_horizon_is_reached(algorithm, means):
    rounds = [3, 2**53 + 1, checks.MAX_HORIZON - 1, checks.MAX_HORIZON]
    if algorithm in BY_ROUND:
        rounds = [3, 2001, 3000]
    problem = BernoulliBandit("end", means)
    for seed in range(3):
        played = algorithm.run(problem, rounds, seed)
        assert (played.sum(axis=1) == rounds).all()
        assert (np.diff(played, axis=0, prepend=0) >= 0).all()
        assert np.isfinite(problem.regret(played, rounds)).all()


MANY = [(DPSE, 10**6, checks.MAX_HORIZON), (AnytimeLazyUCB, 10**6, 2**21)]
MANY += [(make, 10**4, 10**9) for make in (DPKLUCB, DPIMED, bandits.AdaPKLUCB)]


@pytest.mark.parametrize("make, arms, horizon", MANY)
def test_more_arms_than_can_be_looked_at_in_each_event(make, arms, horizon):
    played = make(0.5).run(instances.equal_gaps(arms, 0.25), [arms, horizon], 1)
    assert (played.sum(axis=1) == [arms, horizon]).all() and played.min() == 1 and played[1, 0] > 1


EDGES = {
    BernoulliBandit: [
        BernoulliBandit(f"{means}", means)
        for means in ((0.6, 0.4), (0.9, 0.5, 0.9, 0.5), (0.0, 0.5, 0.0, 0.0, 1.0))
    ],
    StochasticLosses: [
        instances.bernoulli_losses((0.5, 0.5, 0.3)),
        instances.deterministic_losses((0.4, 0.4, 0.7, 0.4)),
        instances.dependent("copies", 0.0, 3),
    ],
}
PRIVATE = [one.algorithm for one in KINDS if one.algorithm.rules.get("epsilon") is checks.epsilon]
PRIVATE += [DPIMED(1.0, 1.1, 5, "first"), DPKLUCB(1.0, 1.1, 5), FTNL(1.0, "gumbel", 1e-3, True)]
BOTH = [
    (replace(algorithm, epsilon=x), problem)
    for algorithm in PRIVATE
    for x in (1e-6, 1e6)
    for problem in EDGES[algorithm.problem_type]
]
BOTH += [(EXP4Local(1.0, x, 0.05), ADVISED) for x in (checks.MIN_FRACTION, 1 / checks.MIN_FRACTION)]


@pytest.mark.parametrize("algorithm, problem", BOTH, ids=str)
def test_run_is_play_at_the_ends_of_what_is_allowed(algorithm, problem):
    played = by_play(algorithm.play, problem, (10, 100), 300, seed=1)
    assert same_law(played, algorithm.run(problem, (10, 100), 2, 1200))


WRONG = [0, -1, -0.0, math.nan, math.inf, -math.inf, "1", None, True, [1.0], 1j]


@every_class
def test_parameters_have_a_range(case):
    ends = {checks.epsilon: (1e-6, 1e6), checks.positive: (1e-100, 1e100)}
    beyond = {checks.epsilon: [9.9e-7, 1e9, 1e-100], checks.positive: [1e-101, 1.01e100]}
    rules = {f.name: case.algorithm.rules.get(f.name) for f in fields(case.algorithm)}
    if isinstance(case.problem, COUNTED):
        assert rules.get("epsilon", checks.epsilon) is checks.epsilon
    for name, rule in rules.items():
        refused(lambda n=name: replace(case.algorithm, **{n: object()}), name)
        for wrong in [*WRONG, *beyond.get(rule, [])] if rule in ends or name == "epsilon" else []:
            refused(lambda n=name, w=wrong: replace(case.algorithm, **{n: w}), name, repr(wrong))
        for end in ends.get(rule, ()):
            assert getattr(replace(case.algorithm, **{name: end}), name) == end


SWITCH, LOCAL = adversarial.SparseSwitch(1.0, 0.1), EXP4Local(1.0, 0.1, 0.1)
NOISY, MOST = BatchedPrivate(EXP3(0.1, 0.1), 0.1), checks.MAX_ROUNDS
E40 = instances.bernoulli_losses((0.1, 0.5), log_counts=(0.0, 40.0))
OVER, EXP4 = ExpertsFromBandit(NOISY), adversarial.EXP4Batched(1.0, 1e-3, 0.2, 0.3, 7)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: FTNL(1.0, "exponential", "hu2021"), ["scale", "'hu2021'"]),
        (lambda: FTNL(1.0, "gumbel", -1.0), ["scale", "-1.0"]),
        (lambda: FTNL(1.0, bernoulli_resampling=1), ["bernoulli_resampling", "True", "False", "1"]),
        (lambda: DPIMED(1.0, 1.0), ["alpha", "1.001", "1.0"]),
        (lambda: DPIMED(1.0, power=63), ["power", "62", "63"]),
        (lambda: DPSE(1.0).start(3, 0), ["horizon"]),
        (lambda: BatchedPrivate(SWITCH, 0.1), ["base", "real_losses", "SparseSwitch"]),
        (lambda: ExpertsFromBandit(LOCAL), ["bandit", "EXP4Local"]),
        (
            lambda: ExpertsFromBandit(toy(adversarial.AdversarialAlgorithm)),
            ["bandit", "steps", "start", "Toy"],
        ),
        (lambda: adversarial.EXP4Batched(1.0, 0.5, 0.1, 0.1, 5), ["delta", "0.4032", "0.5"]),
        (lambda: SWITCH.play(np.zeros((10, 3)), 0), ["sparse switch", "2", "3"]),
        (lambda: LOCAL.play(np.zeros((9, 2)), np.full((10, 3, 2), 0.5), 0), ["advice", 10, 9]),
        (lambda: LOCAL.play(np.zeros((9, 2)), np.eye(3), 0), ["advice", 3, 2]),
        (lambda: LOCAL.play(np.zeros((9, 2)), [[0.5, math.nan]] * 2, 0), ["advice", "nan"]),
        (lambda: adversarial.tuning.batched_htinf(0.1, "other"), ["sigma", "'other'"]),
        (lambda: NOISY.run_with_noise(SIDES, 0, 1, 2), ["horizon", 0]),
        (lambda: BatchedPrivate(FTPL(1, 5), 1).run_with_noise(SIDES, 9, 1, 2), ["base", "FTPL"]),
        (lambda: FTNL(1.0).run(E40, [8], 0), ["e^40.0"]),
        # what would take years
        (lambda: UCB1().run(cases.TWO, [MOST + 1], 1), ["checkpoints", MOST]),
        (lambda: OVER.run(ADVISED, [10 * MOST + 1], 1), ["checkpoints", 10 * MOST]),
        (lambda: EXP4.run(ADVISED, [7 * MOST + 1], 1), ["checkpoints", 7 * MOST]),
    ],
)
def test_what_is_refused(make, words):
    refused(make, *words)


@every_family
def test_bad_tables_and_bad_rounds(case):
    """Each family asks the rules, which `test_interface` tries with more."""
    algorithm, problem = case.algorithm, case.problem
    arms, few = problem.memory_sizes[0], problem.min_horizon - 1
    name = "rewards" if isinstance(problem, BernoulliBandit) else "losses"
    for table, *shown in (
        (put(np.full((101, arms), 0.5), (3, 1), math.nan), "[0, 1]", "nan", "3", "1"),
        (np.zeros((few, arms)), f"({few}, {arms})"),
    ):
        refused(lambda t=table: algorithm.play(*tables(problem, t), 0), name, *shown)
    table = np.eye(arms)[np.arange(101) % arms]
    played = [algorithm.play(*tables(problem, x), 3) for x in (table, table.tolist(), table > 0)]
    assert (played[0] == played).all()
    refused(lambda: algorithm.run(problem, [20, 10], 0), "checkpoints", "[20, 10]")
    if few:
        refused(lambda: algorithm.run(problem, [few], 0), "checkpoints", few + 1, few)
        call = partial(simulate.regret_curves, algorithm, problem, few, 1, 0)
        refused(call, "horizon", few + 1, few)


@every_family
def test_problems_of_another_kind(case):
    label, kind = case.algorithm.label, type(case.problem).__name__
    curves = partial(simulate.regret_curves, case.algorithm, horizon=101, runs=1, seed=0)
    for wrong in (one.problem for one in FAMILIES if one is not case):
        refused(lambda p=wrong: case.algorithm.run(p, [101], 0, runs=2), label, kind, wrong.name)
        refused(lambda p=wrong: curves(problems=[p]), label, kind, wrong.name)
    for wrong in ((0.5, 0.6), None, np.zeros((9, 2))):  # a table is the likeliest mistake
        refused(lambda p=wrong: case.algorithm.run(p, [101], 0), label, kind)
        refused(lambda p=wrong: curves(problems=[p]), "problems")


class Script:
    """A learner in plain Python that chooses these actions."""

    def __init__(self, actions):
        self.actions = iter(actions)

    def choose(self, advice=None):
        return next(self.actions)

    def observe(self, seen):
        assert np.shape(seen) in ((), (3,))


NAMED = {"id": "toy", "label": "toy", "source": "nowhere", "privacy": NOT_PRIVATE}
TOYS = [
    (BanditAlgorithm, BernoulliBandit("", (0.5, 0.6, 0.7))),
    # groups of several
    (full_information.FullInformationAlgorithm, instances.bernoulli_losses((0.5, 0.7), (2, 1))),
    (adversarial.AdversarialAlgorithm, cases.TURN),
    (adversarial.ExpertAlgorithm, ExpertProblem(cases.TURN, instances.fixed_experts(3, 3))),
]
every_toy = pytest.mark.parametrize(("kind", "problem"), TOYS, ids=lambda x: type(x).__name__)


def toy(kind, **own):
    return type("Toy", (kind,), NAMED | own)()


def scripted(kind, actions):
    return toy(kind, start=lambda self, arms, rng, horizon=None, experts=0: Script(actions))


@every_toy
def test_a_learner_in_plain_python_plays_and_runs_and_what_it_chooses_is_checked(kind, problem):
    good, rounds, data = [0, 1, 2, 0, 1, 1], np.array([2, 6]), tables(problem, np.full((6, 3), 0.5))
    call = {"horizon": 6, "runs": 5, "seed": 0, "points": rounds, "workers": 1}
    assert scripted(kind, good).play(*data, 0).tolist() == good
    curves = simulate.regret_curves(scripted(kind, good), problem, **call)
    expected = problem.regret(tally(problem, good, rounds)[None], rounds)[0]
    np.testing.assert_allclose(curves.regret, np.tile(expected, 5), atol=1e-12)
    for wrong in (-1, 3, 2**40, None, "a", 1.0, [0]):
        bad = scripted(kind, [*good[:5], wrong])
        refused(lambda bad=bad: bad.play(*data, 0), "choose", repr(wrong))
        refused(partial(simulate.regret_curves, bad, problem, **call), "choose", repr(wrong))


@pytest.mark.parametrize("rows", [1, 6])
def test_a_learner_in_plain_python_is_given_the_advice_of_the_round(rows):
    advice, given = np.random.default_rng(1).dirichlet([1, 1, 1], (rows, 2)), []

    class Listener(Script):
        def choose(self, advice):
            given.append(advice)
            return super().choose()

    start = lambda self, arms, rng, horizon, experts: Listener([0] * horizon)  # noqa: E731
    algorithm = toy(adversarial.ExpertAlgorithm, start=start)
    algorithm.play(np.zeros((6, 3)), advice if rows > 1 else advice[0], 0)
    assert (given == np.broadcast_to(advice, (6, 2, 3))).all()


@jit
def plan(arms, state, settings, t, rng):
    return t % 3 if t < 6 else settings


@jit
def advised_plan(experts, arms, state, settings, t, advice, rng):
    return t % 3 if t < 6 else settings


@jit
def ignore(*given):
    pass


@pytest.mark.parametrize("wrong", [-1, 2**40])
@every_toy
def test_what_a_kernel_chooses_is_checked(kind, problem, wrong):
    steps, advice = Steps(NOTHING, NOTHING, plan, ignore), ()
    if kind is adversarial.ExpertAlgorithm:
        steps, advice = Steps(NOTHING, NOTHING, advised_plan, ignore, NOTHING), (np.eye(3),)
    settings = lambda self, horizon, *sizes: wrong  # noqa: E731
    algorithm = toy(kind, steps=steps, start=kind.start, settings=settings)
    learner = algorithm.start(3, 0, 7, *map(len, advice))
    for t in range(1, 6):
        assert learner.choose(*advice) == t % 3
        learner.observe(np.zeros(3) if kind is full_information.FullInformationAlgorithm else 0.0)
    data, named = tables(problem, np.full((9, 3), 0.5)), ("choose", "Toy", wrong, "6")
    refused(lambda: learner.choose(*advice), *named)
    refused(lambda: algorithm.play(*data, 0), *named)
    refused(lambda: algorithm.run(problem, [9], 0, runs=2), *named)
    refused(lambda: simulate.regret_curves(algorithm, problem, 9, 2, 0, workers=1), *named)


@jit
def forget(arms, state, settings, t, arm, seen, rng):
    arms[arm]["missing"] += 1


@jit
def advised_forget(experts, arms, state, settings, t, advice, arm, seen, rng):
    experts[0]["missing"] += 1


@every_toy
def test_a_step_that_fails_is_named(kind, problem):
    steps, advice = Steps(NOTHING, NOTHING, plan, forget), ()
    if kind is adversarial.ExpertAlgorithm:
        steps, advice = Steps(NOTHING, NOTHING, advised_plan, advised_forget, NOTHING), (np.eye(3),)
    own = {"settings": lambda self, horizon, *sizes: 0, "real_losses": True}
    algorithm = toy(kind, steps=steps, start=kind.start, **own)
    around = [BatchedPrivate(algorithm, 1.0)] if kind is adversarial.AdversarialAlgorithm else []
    data, named = tables(problem, np.full((9, 3), 0.5)), ("observe", "Toy", '["missing"]')
    for fails in (algorithm, *around):
        refused(lambda fails=fails: fails.play(*data, 0), *named)
        refused(lambda fails=fails: fails.run(problem, [9], 0), *named)
        learner = fails.start(3, 0, 9, *map(len, advice))
        learner.choose(*advice)
        seen = np.zeros(3) if kind is full_information.FullInformationAlgorithm else 0.0
        refused(lambda learner=learner, seen=seen: learner.observe(seen), *named)


@every_toy
def test_what_an_event_kernel_returns_is_checked(kind, problem):
    """A number for each arm or run, and one checkpoint; `Problem.regret` checks the rest."""
    right, *wrong = [3.0], [[3.0]], [3.0, 4.0]
    if isinstance(problem, COUNTED):
        right, few = [[1, 5], [6]] if problem.arms == 2 else [[1, 2, 3], [3, 3]]
        right, *wrong = [right], [few], [right, right]
    for returned in (right, *wrong):
        algorithm = toy(kind, fast_run=staticmethod(lambda *given, x=returned: np.array(x)))
        curves = partial(simulate.regret_curves, algorithm, problem, 6, 2, 0, 1, 1)
        assert len(curves()) == 2 if returned is right else refused(curves, "run")


@every_toy
def test_a_subclass_must_say_what_it_is_and_have_steps(kind, problem):
    for missing in NAMED:
        words = {name: word for name, word in NAMED.items() if name != missing}
        refused(lambda w=words: type("Toy", (kind,), w)(), "Toy", missing)
    refused(lambda: toy(kind).start(3, 0), "Toy", "steps", error=NotImplementedError)
