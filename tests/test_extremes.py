"""Numbers at the ends of what floats and 64 bits hold: a run that adds up, or one line that refuses
them."""

from functools import partial

import numpy as np
import pytest
from conftest import refused
from laws import by_play, by_run, same_law

from privregret.adversarial import (
    EXP3,
    BatchedPrivate,
    EXP4Batched,
    EXP4Local,
    ExpertsFromBandit,
    LocallyPrivate,
)
from privregret.bandits import (
    DPIMED,
    DPKLUCB,
    DPSE,
    IMED,
    KLUCB,
    UCB1,
    AdaPKLUCB,
    AnytimeLazyUCB,
    HybridUCB,
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
BY_ROUND = [UCB1(), KLUCB(), IMED(), HybridUCB(8.0), LazyDPTS(1.0)]
MEANS = [
    (0.5, 0.5 + 2.0**-53),
    (1.0, 0.0),
    (1.0, 1.0),
    (0.0, 0.0),
    (2.0**-60, 0.0),
    (0.0, 1.0, 0.5),
]
PLAIN, SIDES = BernoulliBandit("two", (0.5, 0.6)), Adversary("sides", [0], [[0.25, 0.75]])


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
MANY += [(make, 10**4, 10**9) for make in (DPKLUCB, DPIMED, AdaPKLUCB)]


@pytest.mark.parametrize("make, arms, horizon", MANY)
def test_more_arms_than_can_be_looked_at_in_each_event(make, arms, horizon):
    played = make(0.5).run(equal_gaps(arms, 0.25), [arms, horizon], 1)
    assert (played.sum(axis=1) == [arms, horizon]).all() and played.min() == 1 and played[1, 0] > 1


def test_a_million_actions():
    counts = FTNL(5.0).run(bernoulli_losses((0.1, 0.5), (1, 999_999)), [2**9, 2**12], 0)
    assert (counts.sum(axis=1) == [2**9, 2**12]).all()
    e40 = bernoulli_losses((0.1, 0.5), log_counts=(0.0, 40.0))
    refused(lambda: FTNL(1.0).run(e40, [8], 0), "e^40.0")


ADVISED = ExpertProblem(SIDES, Advice.of_arms([[0, 1]], 2))
EVERY_ROUND = [
    (UCB1(), PLAIN, 1),
    (LocallyPrivate(EXP3(0.1, 0.1), 0.5), SIDES, 1),
    (BatchedPrivate(EXP3(0.1, 0.1), 0.1), SIDES, 10),
    (ExpertsFromBandit(BatchedPrivate(EXP3(0.1, 0.1), 0.1)), ADVISED, 10),
    (EXP4Batched(1.0, 1e-3, 0.2, 0.3, 7), ADVISED, 7),
]


@pytest.mark.parametrize("algorithm, problem, tau", EVERY_ROUND, ids=str)
def test_what_plays_every_round_or_batch_refuses_what_would_take_years(algorithm, problem, tau):
    refused(
        lambda: algorithm.run(problem, [tau * checks.MAX_ROUNDS + 1], 1), tau * checks.MAX_ROUNDS
    )


ENDS = 1e-6, 1e6
ARMS = (0.6, 0.4), (0.9, 0.5, 0.9, 0.5), (0.0, 0.5, 0.0, 0.0, 1.0)
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
    played = by_play(algorithm.play, problem, rounds, 500, seed=1)
    assert same_law(played, by_run(algorithm, problem, rounds, 500, seed=2))
