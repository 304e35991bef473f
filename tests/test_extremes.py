"""Numbers at the ends of what floats and 64 bits hold: a run that adds up, or one line that refuses
them."""

import numpy as np
import pytest
from conftest import refused

from privregret import checks
from privregret.adversarial import (
    EXP3,
    BatchedPrivate,
    EXP4Batched,
    ExpertsFromBandit,
    LocallyPrivate,
    SparseSwitch,
)
from privregret.bandits import DPIMED, DPKLUCB, DPSE, UCB1, AdaPKLUCB, AnytimeLazyUCB
from privregret.instances import Adversary, Advice, BernoulliBandit, ExpertProblem, equal_gaps

EVENTS = [AnytimeLazyUCB, AdaPKLUCB, DPSE, DPKLUCB, DPIMED]
NEAR = 0.5, 0.5 + 2.0**-53
TINY = 2.0**-60


@pytest.mark.parametrize("epsilon", [1e-300, 1e-8, 0.5, 1e4, 1e300])
@pytest.mark.parametrize("means", [NEAR, (1.0, 0.0), (1.0, 1.0), (TINY, 0.0)], ids=str)
@pytest.mark.parametrize("make", EVENTS, ids=lambda make: make.label)
def test_the_longest_horizon_is_reached(make, means, epsilon):
    problem, rounds = (
        BernoulliBandit("end", means),
        [2, 2**53 + 1, checks.LARGEST - 1, checks.LARGEST],
    )
    for seed in range(3):
        played = make(epsilon).run(problem, rounds, seed)
        assert (
            (played.sum(axis=1) == rounds).all()
            and (played >= 0).all()
            and (np.diff(played, axis=0) >= 0).all()
        )
        assert np.isfinite(problem.regret(played, rounds)).all()


@pytest.mark.parametrize("make, horizon", [(DPSE, checks.LARGEST), (AnytimeLazyUCB, 2**21)])
def test_a_million_arms(make, horizon):
    problem = equal_gaps(10**6, 0.25)
    played = make(0.5).run(problem, [10**6, horizon], 1)
    assert (played.sum(axis=1) == [10**6, horizon]).all() and played.min() == 1 and played[1, 0] > 1


@pytest.mark.parametrize("last", [checks.LARGEST + 1, 2**63 - 1, np.uint64(2**63), 2**64])
def test_longer_horizons_are_refused(last):
    refused(
        lambda: AnytimeLazyUCB(1.0).run(BernoulliBandit("two", (0.5, 0.6)), [2, last], 1),
        "checkpoints",
    )


PLAIN, SIDES = BernoulliBandit("two", (0.5, 0.6)), Adversary("sides", [0], [[0.25, 0.75]])
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


@pytest.mark.parametrize(
    "algorithm, problem, tau", EVERY_ROUND, ids=lambda x: getattr(x, "label", "")
)
def test_what_plays_every_round_or_batch_refuses_what_would_take_years(algorithm, problem, tau):
    refused(
        lambda: algorithm.run(problem, [tau * checks.ROUNDS + 1], 1),
        tau * checks.ROUNDS,
    )
