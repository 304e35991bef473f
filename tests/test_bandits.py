"""What is particular to each bandit algorithm."""

import math

import lectures
import numpy as np
import pytest
from cases import batched, dp_se, lazy_ucb
from conftest import refused
from laws import by_play, by_run, same_law
from naive import bandits as naive

from privregret.bandits import (
    DPIMED,
    DPKLUCB,
    DPSE,
    KLUCB,
    AdaPKLUCB,
    AnytimeLazyUCB,
    HybridUCB,
)
from privregret.bandits.dp_klucb import batch_ends
from privregret.instances import BernoulliBandit

AblatedDPKLUCB = lectures.namespace("azize2025/5-experiments")["AblatedDPKLUCB"]


def bandit(*means):
    return BernoulliBandit("", means)


# event by event: exactly, where rewards are certain


def the_same(algorithm, slow, means, horizons, seed):
    """Same noise, no chance in the rewards: event by event the counts of every round, and the
    actions."""
    settings = algorithm.settings(int(horizons[-1]), len(means))
    rng = naive.Recorder(np.random.default_rng(seed), certain=True)
    counts = naive.plain(type(algorithm).fast_run)(np.array(means), horizons, settings, rng)
    actions = slow(np.tile(means, (horizons[-1], 1)), np.random.default_rng(seed))
    return counts.tolist() == naive.pulls_at(actions, horizons, len(means)), actions


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 2.0, 1e3])
@pytest.mark.parametrize("means", [(0.9, 0.6, 0.3), (0.5, 0.55), (0.0, 0.0, 0.0, 1.0)])
def test_event_by_event_is_round_by_round_when_rewards_are_certain(epsilon, means):
    for seed in range(3):
        for algorithm, slow in [
            (AnytimeLazyUCB(epsilon), lazy_ucb(epsilon)),
            (DPSE(epsilon, 0.9), dp_se(epsilon, 0.9)),
        ]:
            assert the_same(algorithm, slow, means, np.arange(1, 6001), seed)[0]


@pytest.mark.parametrize("arms", [2, 50])
@pytest.mark.parametrize("epsilon", [0.05, 0.64, 8.0, 1000.0])
@pytest.mark.parametrize("kind", [DPKLUCB, DPIMED])
def test_the_head_of_a_queue_is_the_leader_of_all_arms(kind, epsilon, arms):
    """Ties to the first, and means whose sums are exact in any order."""
    means = np.round(np.linspace(0.9, 0.2, arms) * 1024) / 1024
    slow = batched(kind.rule, epsilon, ties="first")
    for seed in range(2):
        horizons = np.unique(np.geomspace(1, 3000, 200).astype(int))
        assert the_same(kind(epsilon, ties="first"), slow, means, horizons, seed)[0]


@pytest.mark.parametrize("epsilon", [0.03, 0.3, 30.0])
@pytest.mark.parametrize("arms", [2, 8])
def test_dp_se_at_its_threshold(epsilon, arms):
    """Certain rewards, and arms around the border of elimination: each arm's noise decides, for
    itself."""
    plain = lectures.namespace("hu2021/6-experiments")
    length = math.ceil(plain["epoch_length"](1, arms, epsilon, 0.9))
    behind = plain["too_far"](1, arms, epsilon, 0.9) + np.linspace(-3, 3, arms + 1)[1:-1] / (
        epsilon * length
    )
    means, horizons = np.append(0.95, 0.95 - behind), np.arange(1, arms * length + 3 * arms)
    dropped, algorithm = set(), DPSE(epsilon, 0.9)
    for seed in range(6):
        same, actions = the_same(algorithm, dp_se(epsilon, 0.9), means, horizons, seed)
        assert same and algorithm.play(np.tile(means, (len(actions), 1)), seed).tolist() == actions
        dropped.add(frozenset(range(arms)) - set(actions[arms * length :]))
    assert len(dropped) > 1  # it was the noise, indeed


def test_a_first_batch_longer_than_the_horizon():
    for algorithm in (DPKLUCB(1.0, n0=30), DPIMED(1.0, n0=30)):
        assert algorithm.play(np.zeros((50, 2)), 0).tolist() == [0] * 30 + [1] * 20
        assert algorithm.run(bandit(0.5, 0.5), [20, 50], 0).tolist() == [[20, 0], [30, 20]]


@pytest.mark.parametrize(("forget", "optimism"), [(True, 1.0), (True, 0.5), (False, 3.1)])
def test_ablated_dp_klucb(forget, optimism):
    algorithm, rounds = AblatedDPKLUCB(1.0, 1.5, forget=forget, optimism=optimism), [20, 100, 600]
    problem = bandit(0.9, 0.5, 0.4)
    drawn = by_run(algorithm, problem, rounds, 2000, seed=2)
    assert same_law(by_play(algorithm.play, problem, rounds, 2000, seed=1), drawn)
    whole = by_run(DPKLUCB(1.0, 1.5), problem, rounds, 2000, seed=2)
    assert not same_law(drawn, whole)
    nothing = AblatedDPKLUCB(1.0, 1.5, forget=False, optimism=1.0)
    assert (by_run(nothing, problem, rounds, 2000, seed=2) == whole).all()


# the lengths of epochs and batches


def test_dp_se_with_an_epoch_longer_than_any_integer():
    longest = [2**62 - 1, 2**62]
    assert DPSE(1e-6, 0.5).run(bandit(0.5, 0.5), longest, 0).sum(axis=1).tolist() == longest
    assert DPSE(1e-6).run(bandit(0.5, 0.4), [11, 1000], 0).tolist() == [[6, 5], [500, 500]]
    assert DPSE(1e-6).play(np.zeros((6, 2)), 0).tolist() == [0, 1, 0, 1, 0, 1]


def test_batch_ends():
    batch_end = lectures.namespace("azize2025/4-algorithms")["batch_end"]
    assert batch_ends(2.0, 1, 0, 100).tolist() == [1, 3, 7, 15, 31, 63, 127]
    assert batch_ends(1.1, 1, 0, 28).tolist() == [1, 3, 4, 5, 7, 8, 10, 12, 14, 16, 19, 22, 25, 28]
    assert batch_ends(2.0, 1, 1, 20).tolist() == [1, 3, 6, 10, 15, 21]
    for alpha in (1.01, 1.05, 1.1, 1.5, 2.0, 3.0, 2.5):
        for n0 in (1, 3, 10):
            ends = batch_ends(alpha, n0, 0, 10**5).tolist()
            assert ends == [batch_end(m, alpha, n0) for m in range(len(ends))]
            assert ends[-1] >= 10**5 and (np.diff(ends) > 0).all()
            sizes = np.diff(ends, prepend=0)
            m = np.arange(len(ends))
            assert (sizes <= 2 * n0 * alpha**m * (1 + 1e-9)).all()  # (36)
            whole = n0 * (alpha ** (m + 1) - 1) / (alpha - 1) * (1 + 1e-9)
            assert (ends <= whole + 1).all()  # (35)
    for alpha, count in ((2.0, 20), (1.5, 33), (1.1, 121), (1.05, 222)):
        assert len(batch_ends(alpha, 1, 0, 10**6)) == count
    assert batch_ends(1e300, 1, 0, 10**15).tolist() == [1, 2**62]


@pytest.mark.parametrize("means", [(0.1, 0.1, 0.8), (0.2, 0.2, 0.7, 0.1)])
def test_kl_ucb_draws_for_ties_in_rounds_that_it_does_not_look_at(means):
    """The first two arms often have equal records. If every round is reported, every round is
    looked at."""
    for seed in range(20):
        skipping, looking = np.random.default_rng(seed), np.random.default_rng(seed)
        once = KLUCB().run(bandit(*means), [3000], skipping)
        every = KLUCB().run(bandit(*means), np.arange(1, 3001), looking)
        assert (once[-1] == every[-1]).all()
        assert skipping.bit_generator.state == looking.bit_generator.state


LONG = [AnytimeLazyUCB(0.01), AnytimeLazyUCB(10.0), DPSE(0.01), DPSE(10.0), DPKLUCB(0.01)]
LONG += [DPKLUCB(10.0), DPIMED(1.0, 1.1), AdaPKLUCB(0.1)]


@pytest.mark.parametrize("algorithm", LONG, ids=repr)
def test_a_horizon_of_a_quadrillion(algorithm):
    runs = [algorithm.run(bandit(0.75, 0.25), [10**3, 10**9, 10**15], seed) for seed in range(11)]
    counts = np.median(runs, axis=0)
    assert counts[-1, 0] > 0.999 * 10**15
    # twice 100 ln T / min(gap, epsilon) / gap: Theorem 3 of hu2021, its constant rounded up
    limits = 100 if isinstance(algorithm, (AnytimeLazyUCB, DPSE)) else 20
    assert counts[-1, 1] < 2 * limits * math.log(10**15) / min(0.5, algorithm.epsilon)


# bad input


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: DPIMED(1.0, 1.0), ["alpha", "1.001", "1.0"]),
        (lambda: DPKLUCB(1.0, 2.0, 1.5), ["n0", "1.5"]),
        (lambda: DPKLUCB(1.0, ties="last"), ["ties", "'last'"]),
        (lambda: DPIMED(1.0, power=63), ["power", "62", "63"]),
        (lambda: HybridUCB(1.0, "Paper"), ["tree", "'Paper'", "'paper'"]),
        (lambda: DPSE(1.0, 1.1), ["beta", "1.1"]),
        (lambda: DPSE(1.0).start(3, 0), ["horizon"]),
    ],
)
def test_bad_parameters(make, words):
    refused(make, *words)
