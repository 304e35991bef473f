"""The contract: what holds for every algorithm of the project, on the cases of `cases.py`."""

import copy
import inspect
import math
import pickle
from dataclasses import fields, replace
from functools import partial, singledispatch
from itertools import pairwise

import cases
import numpy as np
import pytest
from cases import CASES, FALLING, FIRST, LIMITS
from conftest import refused
from laws import FALSE_ALARM, by_play, by_run, same_law, tables, tally
from scipy.stats import norm

from privregret import adversarial, bandits, companion, full_information, instances, simulate
from privregret.adversarial import (
    EXP3,
    HTINF,
    AdversarialAlgorithm,
    BatchedPrivate,
    ExpertAlgorithm,
)
from privregret.bandits import DPIMED, DPKLUCB, AnytimeLazyUCB, BanditAlgorithm, HybridUCB
from privregret.core import streams
from privregret.core.algorithm import NOT_PRIVATE, NOTHING, Algorithm, Steps
from privregret.core.jit import jit
from privregret.full_information import FTNL, FullInformationAlgorithm, RandomPrefixSoftmax
from privregret.instances import Adversary, Advice, BernoulliBandit, ExpertProblem, StochasticLosses
from privregret.press import style
from privregret.privacy import noisy_maxima
from privregret.studies import asi2025_privacy, azize2025_privacy, hu2021
from privregret.studies.constants import stop_loss, unanimity_loss, votes_loss

every_case = pytest.mark.parametrize("case", CASES, ids=repr)
every_algorithm = pytest.mark.parametrize("case", FIRST, ids=repr)


def test_no_algorithm_is_missing():
    modules = bandits, full_information, adversarial, companion
    public = {getattr(m, name) for m in modules for name in m.__all__}
    kinds = {c for c in public if inspect.isclass(c) and issubclass(c, Algorithm)}
    algorithms = {c for c in kinds if not inspect.isabstract(c)}
    algorithms -= {full_information.EveryRoundAlgorithm}  # of which the leaders are made
    assert algorithms == {type(case.algorithm) for case in CASES}
    for kind in algorithms:
        made = {case.algorithm for case in CASES if type(case.algorithm) is kind}
        numbers = [f.name for f in fields(kind) if f.type in ("float", float)]
        assert len(made) >= (3 if numbers else 1), kind


# What is played


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


@every_case
def test_run_has_the_law_of_play(case):
    algorithm, _, problem, rounds, runs = case
    played = by_play(algorithm.play, problem, rounds, runs, seed=1)
    assert same_law(played, by_run(algorithm, problem, rounds, runs, seed=2))


@pytest.mark.xdist_group("compiled")
def test_compiled_or_not_the_same_numbers(short_runs):
    compiled, uncompiled = (runs["runs"] for runs in short_runs)
    assert list(compiled) == [repr(case.algorithm) for case in FIRST]
    for name, numbers in compiled.items():
        assert numbers == uncompiled[name], name


@every_algorithm
def test_counts_add_up_and_losses_are_possible(case):
    algorithm, _, problem, rounds, _ = case
    rounds = np.unique(np.geomspace(1, rounds[-1], 40).astype(int))
    for seed in range(3):
        played = algorithm.run(problem, rounds, seed)
        steps = np.diff(played, axis=0, prepend=0)
        assert played.shape[0] == len(rounds) and (steps >= 0).all()
        if isinstance(problem, (BernoulliBandit, StochasticLosses)):
            assert played.dtype == np.int64 and (played.sum(axis=1) == rounds).all()
        else:
            assert played.shape == rounds.shape and (steps <= np.diff(rounds, prepend=0)).all()


@every_algorithm
def test_reports_are_of_one_run(case):
    """In Bernoulli adversaries, and with experts who mix, a report ends a cell: there, without
    either."""
    algorithm, _, problem, rounds, _ = case
    if not isinstance(problem, (BernoulliBandit, StochasticLosses)):
        arms = problem.table(1, np.random.default_rng(0)).shape[1]
        rows = np.array([[0.25, 0.75, 0.5], [0.875, 0.25, 0.5]])[:, :arms]
        advice = instances.Advice.of_arms([[0, 1, 2, 1, 0]], 3)
        losses, advised = Adversary("", [0, 100], rows), isinstance(problem, ExpertProblem)
        problem = ExpertProblem(losses, advice) if advised else losses
        if isinstance(algorithm, adversarial.EXP4Batched):  # mixes by itself
            return
    many = np.union1d(np.arange(1, rounds[-1], 7), rounds)
    for seed in range(3):
        a, b = algorithm.run(problem, rounds, seed), algorithm.run(problem, many, seed)
        np.testing.assert_allclose(a, b[np.isin(many, rounds)], rtol=1e-12)


@every_algorithm
def test_a_seed_may_stand_for_its_generator(case):
    algorithm, _, problem, rounds, _ = case
    data = tables(problem, problem.table(101, np.random.default_rng(0)))
    one = np.random.default_rng(3)
    assert (algorithm.play(*data, 3) == algorithm.play(*data, one)).all()
    one = np.random.default_rng(3)
    assert (algorithm.run(problem, rounds, 3) == algorithm.run(problem, rounds, one)).all()
    one = np.random.default_rng(3)
    many = [algorithm.run(problem, rounds, one) for _ in range(3)]
    assert (algorithm.run(problem, rounds, 3, runs=3) == np.array(many)).all()


@every_case
def test_a_live_source_is_play(case):
    """Fed row by row, a learner does what `play` does on the whole table with the same
    generator."""
    for seed, table in enumerate(some_tables(case)):
        data = tables(case.problem, table)
        advice = [a.dense(len(table)) for a in data[1:]]
        sizes = table.shape[1], *(a.shape[1] for a in advice)
        rng = np.random.default_rng(seed)
        learner, chosen = case.algorithm.start(sizes[0], rng, len(table), *sizes[1:]), []
        for t, row in enumerate(table):
            chosen.append(learner.choose(*(a[min(t, len(a) - 1)] for a in advice)))
            learner.observe(row if isinstance(case.problem, StochasticLosses) else row[chosen[-1]])
        assert case.algorithm.play(*data, np.random.default_rng(seed)).tolist() == chosen


@every_algorithm
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
    if advised:
        even = np.full((3, arms), 1 / arms)
        for value in (None, np.ones((2, arms)), even, even[0]):
            refused(lambda value=value: learner.choose(value), "advice")
    else:
        refused(lambda: learner.choose(np.full((2, arms), 1 / arms)), "advice")
    for few in (1, 0, -1, 2.5, "2", None):
        refused(lambda few=few: case.algorithm.start(few, 1, 1000), "actions" if full else "arms")
    if case.problem.min_horizon > 1 and case.algorithm not in (
        c.algorithm for c in KNOW_THE_HORIZON
    ):
        refused(lambda: case.algorithm.start(3, 1, 2), "horizon")


@every_algorithm
def test_a_learner_stops_after_its_horizon_and_its_copy_goes_on_as_it_does(case):
    """Settings hold the batches that the horizon needs: beyond, a kernel would read garbage."""
    full, arms = isinstance(case.problem, StochasticLosses), case.problem.memory_sizes[0]
    advised = isinstance(case.problem, ExpertProblem)
    advice, horizon = (np.full((2, arms), 1 / arms),) if advised else (), 2 * arms
    learner = case.algorithm.start(arms, 1, horizon, *((2,) if advised else ()))
    for t in range(horizon):
        if t == arms:
            others = [pickle.loads(pickle.dumps(learner)), copy.deepcopy(learner)]
            others.append(copy.copy(learner))
        chosen = [one.choose(*advice) for one in ([learner, *others] if t >= arms else [learner])]
        assert len(set(chosen)) == 1
        for one in [learner, *others] if t >= arms else [learner]:
            one.observe(np.arange(arms) / arms if full else 0.5)
    refused(lambda: learner.choose(*advice), "horizon", horizon, error=RuntimeError)


@every_algorithm
def test_play_and_start_take_what_run_takes(case):
    """The shortest horizon, advice that changes after the horizon, and outcomes True and False."""
    algorithm, problem, horizon = case.algorithm, case.problem, case.problem.min_horizon
    if isinstance(problem, ExpertProblem):
        rows, group = (np.repeat(x[:1], 2, 0) for x in (problem.advice.rows, problem.advice.group))
        late = Advice("late", [0, 50], rows, group)
        problem = ExpertProblem(problem.adversary, late)
    played = by_play(algorithm.play, problem, (horizon,), 1, 1)
    assert played.shape == algorithm.run(problem, [horizon], 1, 1).shape
    sizes = problem.memory_sizes
    learner = algorithm.start(sizes[0], 1, horizon, *sizes[1:])
    advice = [problem.advice.dense(1)[0]] if isinstance(problem, ExpertProblem) else []
    full = isinstance(problem, StochasticLosses)
    learner.choose(*advice)
    learner.observe(np.ones(sizes[0], bool) if full else True)
    refused(lambda: learner.observe(True), "choose", error=RuntimeError)


def put(array, at, value):
    array[at] = value
    return array


@every_algorithm
def test_curves_are_the_same_with_any_number_of_workers(case):
    algorithm, _, problem, rounds, _ = case
    runs = 2 * algorithm.runs_per_stream + 3
    one, two, four = (
        simulate.regret_curves(algorithm, problem, rounds[-1], runs, 5, points=rounds, workers=n)
        for n in (1, 2, 4)
    )
    assert one.equals(two) and one.equals(four)
    assert (one.algorithm == algorithm.label).all() and (one.instance == problem.name).all()
    rng = streams.generator(streams.key(algorithm, problem), 5, block=2)
    last = problem.regret(algorithm.run(problem, rounds, rng, runs=3), rounds)
    assert one[one.run >= runs - 3].regret.tolist() == last.ravel().tolist()
    fewer = algorithm.runs_per_stream + 1
    few = simulate.regret_curves(algorithm, problem, rounds[-1], fewer, 5, points=rounds)
    assert few.equals(one[one.run < fewer].reset_index(drop=True))


@every_algorithm
def test_tables_are_read_alike_whatever_their_form_and_not_changed(case):
    rng = np.random.default_rng(0)
    table = (rng.random((101, case.problem.table(1, rng).shape[1])) < 0.5).astype(float)
    expected = case.algorithm.play(*tables(case.problem, table), 1)
    for other in (np.asfortranarray(table), table.astype(int), table.tolist()):
        before = np.array(other)
        assert (case.algorithm.play(*tables(case.problem, other), 1) == expected).all()
        assert (np.array(other) == before).all()
    rounds = list(case.rounds)
    case.algorithm.run(case.problem, rounds, 1)
    assert rounds == list(case.rounds)


# What it says of itself


@pytest.mark.parametrize("family", ["BANDITS", "FULL_INFORMATION", "ADVERSARIAL", "EXPERTS"])
def test_algorithms_of_a_family_look_different(family):
    labels = {case.algorithm.label for case in getattr(cases, family)} & set(style.ALGORITHMS)
    assert len({style.ALGORITHMS[label] for label in labels}) == len(labels) > 2


def test_rounding_does_not_break_ties_between_leaders():
    """0.1 + 0.2 is 0.30000000000000004: two experts who have lost the same must lead equally
    often."""
    losses = np.array([[0.1, 0.3], [0.2, 0.0], [0.0, 0.0]])
    play = full_information.FollowTheLeader().play
    leads = np.mean([play(losses, seed)[2] for seed in range(1000)])
    assert abs(leads - 0.5) < 5 * 0.5 / 1000**0.5


@singledispatch
def audited(algorithm):
    """A privacy loss that some run of the algorithm certainly has, by what `privacy` computes."""
    return 0.0


@audited.register
def _(algorithm: AnytimeLazyUCB):
    return algorithm.epsilon * hu2021.cost(hu2021.lazy_releases(127), 127).max()


@audited.register
def _(algorithm: HybridUCB):
    return algorithm.epsilon * hu2021.cost(hu2021.hybrid_releases(255, algorithm.tree), 255).max()


@audited.register(DPKLUCB)
@audited.register(DPIMED)
def _(algorithm):
    standard = (algorithm.alpha, algorithm.n0, algorithm.power) == (2.0, 1, 0)
    return azize2025_privacy.batches_loss(algorithm)[0] if standard else 0.0


@audited.register
def _(algorithm: FTNL):
    return max(
        noisy_maxima.epoch_loss(k, rounds, algorithm.noise, algorithm.noise_scale(k)).value
        for k in (2, 3, 50)
        for rounds in (1, 2, 4, 1024)
    )


@audited.register
def _(algorithm: companion.Votes):
    return max(votes_loss(algorithm, actions, epoch) for actions in (3, 50) for epoch in (1, 3))


@audited.register
def _(algorithm: companion.VotesOrLeader):
    if algorithm.epsilon < 5:
        return 0.0  # too many counts to list
    leader = noisy_maxima.epoch_loss(3, 1024, "gumbel", 4 / algorithm.epsilon).value
    return leader + unanimity_loss(algorithm, 2)


@audited.register
def _(algorithm: companion.MarginStop):
    return stop_loss(algorithm, rounds=3, actions=2)


@audited.register
def _(algorithm: full_information.NaiveFTNL):
    return noisy_maxima.epoch_loss(2, 1024, "laplace", algorithm.noise_scale(2)).value


@audited.register
def _(algorithm: RandomPrefixSoftmax):
    if algorithm.prefix == "random":
        return max(
            noisy_maxima.loss_by_position(rounds, algorithm.eta).max() for rounds in (1, 2, 4)
        )
    return noisy_maxima.epoch_loss(3, 1024, "gumbel", algorithm.noise_scale(3)).value


@audited.register
def _(algorithm: BatchedPrivate):
    """A batch's sum moves by at most 1, so in units of tau it is a batch of one round."""
    if algorithm.tau > 1 or not isinstance(algorithm.base, (EXP3, HTINF)):
        return 0.0
    return asi2025_privacy.worst_batched_loss(algorithm.base, algorithm.scale, nodes=60)


@every_algorithm
def test_proved_is_never_below_what_an_audit_computes(case):
    loss = audited(case.algorithm)
    assert loss <= case.algorithm.privacy.proved * (1 + 1e-6), (loss, case.algorithm.privacy)


# What epsilon does


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: repr(limit[0]))
def test_a_huge_epsilon_has_the_law_of_the_non_private_twin(limit):
    algorithm, play, problem, rounds, runs = limit
    twin = by_play(play, problem, rounds, runs, seed=3)
    assert same_law(twin, by_run(algorithm, problem, rounds, max(runs, 2000), seed=4))


@pytest.mark.parametrize("family", FALLING, ids=lambda family: repr(family[0](family[1][0])))
def test_regret_falls_as_epsilon_grows(family):
    make, epsilons, problem, horizon, runs = family
    rounds = np.array([horizon])
    samples = [
        problem.regret(make(e).run(problem, rounds, s, runs), rounds)[:, 0]
        for s, e in enumerate(epsilons)
    ]
    margin = norm.isf(FALSE_ALARM / len(epsilons))
    for a, b in pairwise(samples):
        error = math.hypot(a.std(ddof=1), b.std(ddof=1)) / math.sqrt(runs)
        assert a.mean() - b.mean() > margin * error


# Bad input

WRONG_EPSILONS = [0, -1, -0.0, math.nan, math.inf, -math.inf, "1", None, True, [1.0], 1j]
PROBLEMS = [cases.FIVE, cases.ACTIONS, cases.TURN, cases.ADVISED]


@every_algorithm
def test_bad_epsilon(case):
    if "epsilon" in {f.name for f in fields(case.algorithm)}:
        for wrong in WRONG_EPSILONS:
            refused(lambda e=wrong: replace(case.algorithm, epsilon=e), "epsilon", repr(wrong))


@every_algorithm
def test_bad_tables(case):
    arms = case.problem.table(1, np.random.default_rng(0)).shape[1]

    wrong = [
        ([[0.5] * arms, [0.5]], ("[0.5]]",)),
        ([["a"] * arms] * 9, ("'a'",)),
        (put(np.full((101, arms), 0.5), (3, 1), math.nan), ("[0, 1]", "nan", "3", "1")),
        (put(np.full((101, arms), 0.5), (3, 1), 1.001), ("[0, 1]", "1.001", "3", "1")),
        (put(np.full((101, arms), 0.5), (3, 1), -1e-9), ("[0, 1]", "-1e-09", "3", "1")),
        (np.zeros(10), ("(10,)",)),
        (np.zeros((10, 1)), ("(10, 1)",)),
        (np.zeros((0, 0)), ("(0, 0)",)),
        (np.zeros((0, arms)), (f"(0, {arms})",)),
    ]
    if case.problem.min_horizon > 1:
        wrong.append((np.zeros((arms - 1, arms)), (f"({arms - 1}, {arms})",)))
    rewards = isinstance(case.problem, BernoulliBandit)
    name = "rewards" if rewards else "losses"
    for table, shown in wrong:
        refused(lambda t=table: case.algorithm.play(*tables(case.problem, t), 0), name, *shown)


@every_algorithm
def test_bad_rounds(case):
    for wrong, shown in [
        ([20, 10], "[20, 10]"),
        ([10, 10], "[10, 10]"),
        ([0, 10], "[0, 10]"),
        ([-5, 10], "[-5, 10]"),
        ([10.0], "10.0"),
        ([], "[]"),
        (10, "10"),
        ([[10, 20]], "[[10, 20]]"),
        (["10"], "10"),
    ]:
        refused(lambda w=wrong: case.algorithm.run(case.problem, w, 0), "checkpoints", shown)
    if case.problem.min_horizon > 1:
        few = case.problem.min_horizon - 1
        refused(lambda: case.algorithm.run(case.problem, [few], 0), "checkpoints", few + 1, few)
        call = partial(simulate.regret_curves, case.algorithm, case.problem, few, 1, 0)
        refused(call, "horizon", few + 1, few)
    refused(lambda: case.algorithm.run(case.problem, [101], 0, runs=0), "runs", "0")


@every_algorithm
def test_problems_of_another_kind(case):
    label, kind = case.algorithm.label, type(case.problem).__name__
    for wrong in (p for p in PROBLEMS if type(p) is not type(case.problem)):
        for call in (
            lambda p=wrong: case.algorithm.run(p, [101], 0),
            lambda p=wrong: case.algorithm.run(p, [101], 0, runs=2),
            lambda p=wrong: simulate.regret_curves(case.algorithm, [p], 101, 1, 0),
        ):
            refused(call, label, kind, wrong.name)
    for wrong in ((0.5, 0.6), None):
        refused(lambda p=wrong: case.algorithm.run(p, [101], 0), label, kind)
        refused(lambda p=wrong: simulate.regret_curves(case.algorithm, [p], 101, 1, 0), "problems")


def test_a_table_is_no_problem():
    """The likeliest mistake; its message has one line too."""
    algorithm = FIRST[0].algorithm
    refused(lambda: algorithm.run(np.zeros((9, 2)), [9], 0), algorithm.label, "BernoulliBandit")
    refused(lambda: algorithm.run(cases.TURN, [9], 0), "losses=adversary.table(T)")


@every_algorithm
def test_the_shortest_horizon(case):
    """As many rounds as arms are enough, and one round where nothing has to be tried first."""
    algorithm, problem = case.algorithm, case.problem
    if isinstance(problem, BernoulliBandit):
        arms = problem.arms
        if getattr(algorithm, "n0", 1) == 1:
            assert (algorithm.run(problem, [arms], 0) == 1).all()
            assert algorithm.play(np.zeros((arms, arms)), 0).tolist() == list(range(arms))
    elif isinstance(problem, StochasticLosses):
        assert algorithm.run(problem, [1], 0).sum() == 1
        assert algorithm.play(np.zeros((1, 3)), 0).shape == (1,)
    else:
        assert 0 <= algorithm.run(problem, [problem.min_horizon], 0)[0] <= problem.min_horizon


# Algorithms of one's own


class Plan:
    """What a learner in plain Python chooses."""

    id, label, source, privacy = "toy", "toy", "nowhere", NOT_PRIVATE
    actions = None

    def start(self, arms, rng, horizon=None, experts=0):
        return Script(self.actions)


class Script:
    def __init__(self, actions):
        self.actions = iter(actions)

    def choose(self, advice=None):
        return next(self.actions)

    def observe(self, seen):
        assert np.shape(seen) in ((), (3,))


class ToyBandit(Plan, BanditAlgorithm):
    pass


class ToyLosses(Plan, FullInformationAlgorithm):
    pass


class ToyAdversarial(Plan, AdversarialAlgorithm):
    pass


class ToyExpert(Plan, ExpertAlgorithm):
    pass


THREE = 6, 3  # rounds and arms
TOYS = [
    (ToyBandit, BernoulliBandit("", (0.5, 0.6, 0.7))),
    (ToyLosses, instances.bernoulli_losses((0.5, 0.6, 0.7))),
    (ToyAdversarial, cases.TURN),
    (ToyExpert, ExpertProblem(cases.TURN, instances.fixed_experts(3, 3))),
]


def toy(kind, **returned):
    return type("Toy", (kind,), {"id": "toy"} | returned)()


@pytest.mark.parametrize(("kind", "problem"), TOYS, ids=lambda x: getattr(x, "__name__", ""))
def test_a_learner_in_plain_python_plays_and_runs(kind, problem):
    good = [0, 1, 2, 0, 1, 1]
    algorithm, rounds = toy(kind, actions=good), np.array([2, 6])
    assert algorithm.play(*tables(problem, np.full(THREE, 0.5)), 0).tolist() == good
    curves = simulate.regret_curves(algorithm, problem, 6, 5, 0, points=rounds, workers=1)
    expected = problem.regret(tally(problem, good, rounds)[None], rounds)[0]
    np.testing.assert_allclose(curves.regret, np.tile(expected, 5), atol=1e-12)


@pytest.mark.parametrize(("kind", "problem"), TOYS, ids=lambda x: getattr(x, "__name__", ""))
def test_what_a_learner_in_plain_python_chooses_is_checked(kind, problem):
    data = tables(problem, np.full(THREE, 0.5))
    for wrong in (-1, 3, 2**40, None, "a", 1.0, [0]):
        algorithm = toy(kind, actions=[0, 1, 2, 0, 1, wrong])
        refused(lambda algorithm=algorithm: algorithm.play(*data, 0), "choose", repr(wrong))
        curves = partial(simulate.regret_curves, algorithm, problem, 6, 2, 0, workers=1)
        refused(curves, "choose", repr(wrong))


def plan(arms, state, settings, t, rng):
    return t % 3 if t < 6 else settings


def advised_plan(experts, arms, state, settings, t, advice, rng):
    return t % 3 if t < 6 else settings


def ignore(arms, state, settings, t, arm, seen, rng):
    pass


def advised_ignore(experts, arms, state, settings, t, advice, arm, seen, rng):
    pass


PLANS = [(advised, jit(advised)) for advised in (plan, ignore, advised_plan, advised_ignore)]


@pytest.mark.parametrize("wrong", [-1, 3, 2**40])
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("kind", "problem"), TOYS, ids=lambda x: getattr(x, "__name__", ""))
def test_what_a_kernel_chooses_is_checked(kind, problem, compiled, wrong):
    choose, observe, *advised = (pair[compiled] for pair in PLANS)
    steps = Steps(NOTHING, NOTHING, choose, observe)
    advice = ()
    if kind is ToyExpert:
        steps, advice = Steps(NOTHING, NOTHING, *advised, NOTHING), (np.eye(3),)
    start, settings = kind.__bases__[1].start, lambda self, horizon, *sizes: wrong
    algorithm = toy(kind, steps=steps, start=start, settings=settings)
    learner = algorithm.start(3, 0, 7, *map(len, advice))
    for t in range(1, 6):
        assert learner.choose(*advice) == t % 3
        learner.observe(np.zeros(3) if kind is ToyLosses else 0.0)
    data, named = tables(problem, np.full((9, 3), 0.5)), ("choose", "Toy", wrong, "6")
    refused(lambda: learner.choose(*advice), *named)
    refused(lambda: algorithm.play(*data, 0), *named)
    refused(lambda: algorithm.run(problem, [9], 0, runs=2), *named)
    refused(lambda: simulate.regret_curves(algorithm, problem, 9, 2, 0, workers=1), *named)


@pytest.mark.parametrize(("kind", "problem"), TOYS, ids=lambda x: getattr(x, "__name__", ""))
def test_what_an_event_kernel_returns_is_checked(kind, problem):
    def curves(returned):
        algorithm = toy(kind, fast_run=staticmethod(lambda *given: returned))
        return simulate.regret_curves(algorithm, problem, 6, 2, 0, points=1, workers=1)

    if kind in (ToyBandit, ToyLosses):
        assert len(curves(np.array([[1, 2, 3]]))) == 2
        for wrong in ([[1.0, 2.0, 3.0]], [[3, 3]], [[1, 2, 3], [1, 2, 3]]):
            refused(lambda wrong=wrong: curves(np.array(wrong)), "run")
        for wrong in ([[1, 2, 4]], [[-1, 4, 3]]):
            refused(lambda wrong=wrong: curves(np.array(wrong)), "counts", "[6]")
    else:
        assert len(curves(np.array([3.0]))) == 2
        for wrong in ([[3.0]], [3.0, 4.0]):
            refused(lambda wrong=wrong: curves(np.array(wrong)), "run")
        refused(lambda: curves(np.array([math.nan])), "run", "nan")


@pytest.mark.parametrize("missing", ["id", "label", "source"])
@pytest.mark.parametrize(("kind", "problem"), TOYS, ids=lambda x: getattr(x, "__name__", ""))
def test_a_subclass_must_say_what_it_is(kind, problem, missing):
    refused(lambda: toy(kind, **{missing: None}), "Toy", missing)


@pytest.mark.parametrize(
    "family", [BanditAlgorithm, FullInformationAlgorithm, AdversarialAlgorithm, ExpertAlgorithm]
)
def test_a_subclass_must_implement_its_methods(family):
    words = {"id": "x", "label": "x", "source": "y"}
    refused(lambda: type("Empty", (family,), words)(), "privacy")
    empty = type("Empty", (family,), words | {"privacy": NOT_PRIVATE})()
    refused(lambda: empty.start(3, 0), "Empty", "steps", error=NotImplementedError)


KNOW_THE_HORIZON = [c for c in FIRST if isinstance(c.algorithm, adversarial.SparseSwitch)]
# DP-SE, by default
KNOW_THE_HORIZON += [c for c in FIRST if getattr(c.algorithm, "beta", 0) is None]


@every_algorithm
def test_only_those_who_say_so_know_the_horizon(case):
    table = case.problem.table(303, np.random.default_rng(5))
    a, b = (case.algorithm.play(*tables(case.problem, part), 4) for part in (table[:101], table))
    assert (a == b[:101]).all() or case in KNOW_THE_HORIZON
