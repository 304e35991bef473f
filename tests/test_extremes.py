"""Numbers at the ends of what floats and 64 bits hold: a run that adds up, or one line that refuses
them."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from cases import FIRST
from conftest import refused
from laws import by_play, by_run, same_law

from privregret.adversarial import (
    EXP3,
    BatchedPrivate,
    EXP4Batched,
    EXP4Local,
    ExpertsFromBandit,
    LocallyPrivate,
    SparseSwitch,
)
from privregret.bandits import (
    DPIMED,
    DPKLUCB,
    DPSE,
    UCB1,
    AdaPKLUCB,
    AnytimeLazyUCB,
    LazyDPTS,
)
from privregret.companion import Votes
from privregret.core import checks
from privregret.full_information import FTNL, RandomPrefixSoftmax
from privregret.instances import (
    Adversary,
    Advice,
    BernoulliBandit,
    ExpertProblem,
    bernoulli_losses,
    dependent,
    deterministic_losses,
    equal_gaps,
)

EVENTS = [AnytimeLazyUCB, AdaPKLUCB, DPSE, DPKLUCB, DPIMED]
MEANS = [(0.5, 0.5 + 2.0**-53), (1.0, 0.0), (1.0, 1.0), (2.0**-60, 0.0)]
PLAIN, SIDES = BernoulliBandit("two", (0.5, 0.6)), Adversary("sides", [0], [[0.25, 0.75]])


@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 1e4, 1e6])
@pytest.mark.parametrize("means", MEANS, ids=str)
@pytest.mark.parametrize("make", EVENTS, ids=lambda make: make.label)
def test_the_longest_horizon_is_reached(make, means, epsilon):
    rounds = [2, 2**53 + 1, checks.MAX_HORIZON - 1, checks.MAX_HORIZON]
    problem = BernoulliBandit("end", means)
    for seed in range(3):
        played = make(epsilon).run(problem, rounds, seed)
        assert (played.sum(axis=1) == rounds).all()
        assert (np.diff(played, axis=0, prepend=0) >= 0).all()
        assert np.isfinite(problem.regret(played, rounds)).all()


@pytest.mark.parametrize("make, horizon", [(DPSE, checks.MAX_HORIZON), (AnytimeLazyUCB, 2**21)])
def test_a_million_arms(make, horizon):
    problem = equal_gaps(10**6, 0.25)
    played = make(0.5).run(problem, [10**6, horizon], 1)
    assert (played.sum(axis=1) == [10**6, horizon]).all() and played.min() == 1 and played[1, 0] > 1


@pytest.mark.parametrize("last", [checks.MAX_HORIZON + 1, 2**63 - 1, np.uint64(2**63), 2**64])
def test_longer_horizons_are_refused(last):
    refused(lambda: AnytimeLazyUCB(1.0).run(PLAIN, [2, last], 1), "checkpoints")


ADVISED = ExpertProblem(SIDES, Advice.of_arms([[0, 1]], 2))
EVERY_ROUND = [
    (UCB1(), PLAIN, 1),
    (SparseSwitch(1.0, 0.1), SIDES, 1),
    (LocallyPrivate(EXP3(0.1, 0.1), 0.5), SIDES, 1),
    (BatchedPrivate(EXP3(0.1, 0.1), 0.5, 1), SIDES, 1),
    (BatchedPrivate(EXP3(0.1, 0.1), 0.1), SIDES, 10),
    (ExpertsFromBandit(EXP3(0.1, 0.1)), ADVISED, 1),
    (ExpertsFromBandit(BatchedPrivate(EXP3(0.1, 0.1), 0.1)), ADVISED, 10),
    (EXP4Batched(1.0, 1e-3, 0.2, 0.3, 7), ADVISED, 7),
]


@pytest.mark.parametrize("algorithm, problem, tau", EVERY_ROUND, ids=str)
def test_what_plays_every_round_or_batch_refuses_what_would_take_years(algorithm, problem, tau):
    refused(
        lambda: algorithm.run(problem, [tau * checks.MAX_ROUNDS + 1], 1), tau * checks.MAX_ROUNDS
    )


ENDS = 1e-6, 1e6
ARMS = (0.6, 0.4), (0.9, 0.9), (1.0, 1.0), (0.9, 0.5, 0.9, 0.5), (0.0, 0.5, 0.0, 0.0, 1.0)
BATCHES = partial(DPKLUCB, alpha=1.1, n0=5)
EQUAL = bernoulli_losses((0.5, 0.5, 0.3)), deterministic_losses((0.4, 0.4, 0.7, 0.4))
BOTH = [
    (make(x), BernoulliBandit(f"{means}", means))
    for make in (*EVENTS, LazyDPTS, lambda x: DPIMED(x, 1.1, 5, "first"), BATCHES)
    for x in ENDS
    for means in ARMS
]
BOTH += [
    (make(x), problem)
    for make in (FTNL, lambda x: FTNL(x, "gumbel", 1e-3, True), RandomPrefixSoftmax, Votes)
    for x in ENDS
    for problem in (*EQUAL, dependent("copies", 0.0, 3))
]
BOTH += [(EXP4Local(1.0, x, 0.05), ADVISED) for x in (checks.MIN_FRACTION, 1 / checks.MIN_FRACTION)]


@pytest.mark.parametrize("algorithm, problem", BOTH, ids=str)
def test_run_is_play_at_the_ends_of_what_is_allowed(algorithm, problem):
    rounds = 10, 100
    played = by_play(algorithm.play, problem, rounds, 1000, seed=1)
    assert same_law(played, by_run(algorithm, problem, rounds, 1000, seed=2))


ONE_OF_EACH = {type(case.algorithm): case.algorithm for case in FIRST}.values()
BEYOND = [(a, name) for a in ONE_OF_EACH for name, r in a.rules.items() if r is checks.positive]


PRIVATE = [a for a in ONE_OF_EACH if a.rules.get("epsilon") is checks.epsilon]


@pytest.mark.parametrize("value", [9.9e-7, 1e9, 1e-100, 1e100])
@pytest.mark.parametrize("algorithm", PRIVATE, ids=lambda x: x.label)
def test_epsilon_has_a_range(algorithm, value):
    refused(lambda: replace(algorithm, epsilon=value), "epsilon", repr(value), "1e-06", "1e+06")
    assert {replace(algorithm, epsilon=x).epsilon for x in ENDS} == set(ENDS)


@pytest.mark.parametrize("value", [1e-101, 1.01e100, 1e300])
@pytest.mark.parametrize("algorithm, name", BEYOND, ids=lambda x: getattr(x, "label", x))
def test_what_lies_beyond_is_refused(algorithm, name, value):
    refused(lambda: replace(algorithm, **{name: value}), name, repr(value))
