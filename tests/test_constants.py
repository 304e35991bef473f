"""The learners behind the constants of private learning: exact regret, exact privacy, faults."""

import math
from itertools import product

import numpy as np
import pytest
from conftest import refused

from privregret import exact, instances, simulate
from privregret.bounds import constants as bounds
from privregret.exact.fixed import stopping_chances
from privregret.full_information import FTNL, MarginStop, PhasedFTNL, Votes, VotesOrLeader
from privregret.minimax import Game, epoch_plan
from privregret.privacy import margin, votes

FIXED = instances.deterministic_losses((0.0, 0.3, 0.8), (1, 5, 4))
TIED = instances.deterministic_losses((0.5, 0.1, 0.1, 0.9), (2, 1, 3, 4))
LEARNERS = [
    Votes(0.5),
    Votes(3.0, 2.0),
    VotesOrLeader(0.9),
    VotesOrLeader(9.0),
    MarginStop(2.0, 0.5, 1.0),
    MarginStop(30.0, 0.25, 0.4),
    PhasedFTNL(0.5, "gumbel"),
    PhasedFTNL(0.5, "laplace", growth=1.7),
    PhasedFTNL(0.5, "gumbel", growth=3.0, random_phase=False),
]
REPORTS = [7, 30, 200, 1500]


@pytest.mark.parametrize("problem", [FIXED, TIED], ids=str)
@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_exact_regret_is_the_mean_of_runs(learner, problem):
    runs = simulate.regret_curves(learner, problem, 1500, 800, 1, points=REPORTS)
    means = runs.groupby("t").regret.agg(["mean", "sem"])
    found = exact.expected_regret(learner, problem, REPORTS)
    assert (np.abs(means["mean"] - found.value) <= 5 * means["sem"] + found.error + 1e-9).all()
    assert (found.error < 5e-3 * found.value + 1e-6).all()


def test_random_phases_on_random_losses():
    problem = instances.bernoulli_losses((0.2, 0.5, 0.8), (1, 5, 4))
    runs = simulate.regret_curves(PhasedFTNL(0.5), problem, 1500, 6000, 1, points=REPORTS)
    means = runs.groupby("t").regret.agg(["mean", "sem"])
    found = exact.expected_regret(PhasedFTNL(0.5), problem, REPORTS)
    assert (np.abs(means["mean"] - found.value) <= 5 * means["sem"] + found.error).all()


@pytest.mark.parametrize("learner", [Votes(0.5), VotesOrLeader(0.5), MarginStop(0.5)], ids=repr)
def test_random_losses_have_no_exact_regret(learner):
    problem = instances.bernoulli_losses((0.2, 0.5))
    refused(lambda: exact.expected_regret(learner, problem, 10), "losses", learner.label)


def test_growth_two_without_a_phase_is_ftnl():
    table = np.random.default_rng(0).random((200, 4))
    same = PhasedFTNL(1.0, "gumbel", growth=2.0, random_phase=False)
    assert (same.play(table, 3) == FTNL(1.0, "gumbel").play(table, 3)).all()
    a, b = (exact.expected_regret(x, FIXED, [10, 2**40]).value for x in (same, FTNL(1.0, "gumbel")))
    np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize(("log_actions", "ratio"), [(100.0, 1.177), (1000.0, 1.024)])
def test_votes_approach_one(log_actions, ratio):
    problem = instances.deterministic_losses((0.0, 1.0), log_counts=(0.0, log_actions))
    regret = exact.expected_regret(Votes(0.01), problem, 2**60).value[0]
    assert 0.01 * regret / problem.log_actions == pytest.approx(ratio, abs=5e-4)


@pytest.mark.parametrize("growth", [2.0, math.e, 3.0])
def test_the_mean_over_the_phase(growth):
    problem = instances.deterministic_losses((0.0, 0.3), log_counts=(0.0, 300.0))
    regret = exact.expected_regret(PhasedFTNL(0.01, "gumbel", growth=growth), problem, 2**60)
    ratio = 0.01 * regret.value[0] / problem.log_actions
    assert ratio == pytest.approx(2 * growth / math.log(growth), rel=1e-4)


def naive_votes_loss(learner, actions, extra=0):
    """By listing all vote counts."""
    ballot, worst = learner.ballot(math.log(actions)), 0.0
    rounds, threshold = ballot.length(1) + extra, ballot.threshold(1)

    def law(counts):
        weights = [math.exp(ballot.rate * max(c - threshold, 0)) for c in counts]
        return np.array(weights) / sum(weights)

    for counts in product(range(rounds + 1), repeat=actions):
        for k, j in product(range(actions), repeat=2):
            if sum(counts) == rounds and k != j and counts[k]:
                moved = list(counts)
                moved[k] -= 1
                moved[j] += 1
                worst = max(worst, np.abs(np.log(law(moved) / law(counts))).max())
    return worst


@pytest.mark.parametrize("learner", [Votes(8.0), Votes(8.0, 1.0), Votes(30.0, 2.0)], ids=repr)
@pytest.mark.parametrize("extra", [0, 3])
def test_votes_loss_is_that_of_all_counts(learner, extra):
    rate = learner.ballot(math.log(3)).rate
    naive = max(rate, naive_votes_loss(learner, 3, extra))
    assert votes.votes_loss(learner, 3, extra=extra) == pytest.approx(naive, rel=1e-9)


@pytest.mark.parametrize("actions", [2, 5, 100, 10**5, 10**9])
@pytest.mark.parametrize("lam", [None, 1.0, 2.0])
@pytest.mark.parametrize("epsilon", [0.3, 3.0, 20.0])
def test_votes_are_private(epsilon, actions, lam):
    for epoch in (1, 3):
        assert votes.votes_loss(Votes(epsilon, lam), actions, epoch) <= epsilon


def test_an_epoch_that_is_one_round_too_long_is_not_private():
    learner = Votes(20.0, 5.0)
    assert votes.votes_loss(learner, 10**9, extra=1) > 1.3 * learner.epsilon


@pytest.mark.parametrize("epsilon", [10.0, 30.0])
def test_the_test_of_unanimity_has_half_the_budget(epsilon):
    learner = VotesOrLeader(epsilon)
    assert votes.unanimity_loss(learner, 2) <= epsilon / 2
    assert votes.unanimity_loss(learner, 2, first=2.0) > 0.7 * epsilon  # twice as sharp: a fault


@pytest.mark.parametrize("rounds, actions", [(4, 2), (3, 3)])
@pytest.mark.parametrize("parameters", [(1.0, 0.25, 0.0), (4.0, 0.25, 1.0), (20.0, 0.5, 0.3)])
def test_the_margin_stop_is_private(parameters, rounds, actions):
    learner = MarginStop(*parameters)
    assert margin.stop_loss(learner, rounds, actions) <= learner.epsilon


def test_a_threshold_without_noise_is_not_private():
    assert margin.stop_loss(MarginStop(4.0, 0.25, 1.0), 3, 2, noisy=False) == math.inf


def test_stop_law_is_that_of_play():
    """A first action other than the choice shows that exploration stopped after round 1."""
    learner = MarginStop(8.0, 0.5, 0.5)
    table = np.array([[0.0, 1.0, 1.0], [0.0, 1.0, 0.0]])
    law = margin.stop_law(learner, table)
    assert law.sum() == pytest.approx(1, abs=1e-9)
    runs = np.array([learner.play(table, seed) for seed in range(6000)])
    for j in range(3):
        changed = (runs[:, 1] == j) & (runs[:, 0] != j)
        expected = law[0, j] * 2 / 3
        assert abs(changed.mean() - expected) < 5 * math.sqrt(expected / len(runs))


def test_stopping_chances_against_a_sum():
    above = np.array([-1.0, 0.5, 0.3, -2.0])
    rng = np.random.default_rng(0)
    reached = above + rng.standard_exponential((200_000, 4)) >= rng.standard_exponential(
        (200_000, 1)
    )
    first = np.where(reached.any(axis=1), reached.argmax(axis=1), 4)
    chances, left = stopping_chances(above)
    found = np.bincount(first, minlength=5) / len(first)
    np.testing.assert_allclose(np.append(chances, left), found, atol=0.006)


@pytest.mark.parametrize("growth", [1.3, math.e, 5.0])
@pytest.mark.parametrize("epsilon", [0.3, 4.0])
def test_a_random_phase_costs_no_privacy(growth, epsilon):
    game = Game(5, "full")
    learner = PhasedFTNL(epsilon, "gumbel", growth=growth)
    assert game.privacy(epoch_plan(game, learner)) <= epsilon
    fixed = PhasedFTNL(epsilon, "gumbel", growth=growth, random_phase=False)
    assert game.privacy(epoch_plan(game, fixed)) <= epsilon


def test_a_phase_that_depends_on_the_data_is_not_private():
    """One pattern of lengths if the first round is (0, 1), another one if it is (1, 0)."""
    game = Game(5, "full")
    plans = [
        epoch_plan(game, PhasedFTNL(0.3, "gumbel", growth=g, random_phase=False))
        for g in (2.0, 5.0)
    ]
    first = np.arange(game.sequences) // (game.sequences // 4) % 2  # row seen in round 1
    assert game.privacy(np.where(first == 0, *plans)) > 0.3


def test_plans_of_phases_are_those_of_play():
    game = Game(4, "full")
    learner = PhasedFTNL(2.0, "gumbel", growth=1.5)
    table = np.array([[0, 1], [0, 1], [1, 0], [0, 1]], float)
    runs = np.array([learner.play(table, seed) for seed in range(8000)])
    cost = np.take_along_axis(table[None].repeat(len(runs), 0), runs[:, :, None], 2).sum(
        axis=(1, 2)
    )
    expected = game.regrets(epoch_plan(game, learner))
    codes = [1 if row[0] else 0 for row in table[:3]]
    place = codes[0] * 4 + codes[1] * 2 + codes[2]
    regrets = expected[0, place]
    assert abs(cost.mean() - 1 - regrets) < 5 * cost.std() / math.sqrt(len(runs))


@pytest.mark.parametrize("learner", [type(x) for x in LEARNERS[::2]] + [FTNL])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 10.0])
def test_no_learner_is_below_the_packing_bound(learner, epsilon):
    """Theorem 1 holds for every private learner, at every horizon, and for few actions."""
    reports = [1, 2, 3, 5, 10, 30, 100, 400, 2000]
    for actions in (2, 3, 1000):
        problem = instances.deterministic_losses((0.0, 1.0), (1, actions - 1))
        found = exact.expected_regret(learner(epsilon), problem, reports)
        bound = [float(bounds.fixed_sum(math.log(actions), epsilon, rounds=t)) for t in reports]
        assert (found.value + found.error + 1e-9 >= bound).all()


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 4.0])
@pytest.mark.parametrize("gap", [0.01, 0.1, 0.4])
def test_theorem_4_on_random_losses(gap, epsilon):
    problem = instances.bernoulli_losses(((1 - gap) / 2, (1 + gap) / 2), (1, 49))
    learner = PhasedFTNL(epsilon, "gumbel")
    found = exact.expected_regret(learner, problem, [100, 2**20])
    bound = bounds.random_phase(math.log(50), gap, epsilon, math.e)
    assert (found.value <= bound).all()
