"""What is particular to each bandit algorithm."""

import math
from functools import partial

import lectures
import naive
import numpy as np
import pytest
from cases import batched, dp_se, lazy_ucb
from laws import by_play, same_law

from privregret.bandits import DPIMED, DPKLUCB, DPSE, KLUCB, AdaPKLUCB, AnytimeLazyUCB
from privregret.bandits.dp_klucb import batch_ends
from privregret.instances import BernoulliBandit
from privregret.studies.hu2021 import WideUCB

AblatedDPKLUCB = lectures.namespace("azize2025/5-experiments")["AblatedDPKLUCB"]


def bandit(*means):
    return BernoulliBandit("", means)


def the_same(algorithm, slow, means, horizon, seed):
    """Whether the counts of every round agree, without chance in the rewards; and the actions."""
    settings, horizons = algorithm.settings(horizon, len(means)), np.arange(1, horizon + 1)
    rng = naive.Recorder(np.random.default_rng(seed), certain=True)
    counts = naive.plain(type(algorithm).fast_run)(np.array(means), horizons, settings, rng)
    actions = slow(np.tile(means, (horizon, 1)), np.random.default_rng(seed))
    return (counts == np.eye(len(means))[actions].cumsum(axis=0)).all(), actions


EVENTS = {
    "lazy": (AnytimeLazyUCB, lazy_ucb),
    "elimination": (partial(DPSE, beta=0.9), partial(dp_se, beta=0.9)),
    "batches": (partial(DPKLUCB, ties="first"), partial(batched, DPKLUCB.rule, ties="first")),
    "batched IMED": (partial(DPIMED, ties="first"), partial(batched, DPIMED.rule, ties="first")),
}
# whose sums are exact in any order
MANY = np.linspace(922, 205, 50).round() / 1024
MEANS = [(0.875, 0.625, 0.25), (0.5, 0.5625), (0.0, 0.0, 0.0, 1.0), MANY]


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 2.0, 1e3])
@pytest.mark.parametrize("means", MEANS, ids=len)
@pytest.mark.parametrize(("kind", "slow"), EVENTS.values(), ids=EVENTS)
def test_event_by_event_is_round_by_round_when_rewards_are_certain(kind, slow, means, epsilon):
    for seed in range(2):
        assert the_same(kind(epsilon), slow(epsilon), means, 6000, seed)[0]


@pytest.mark.parametrize("epsilon", [0.03, 0.3, 30.0])
@pytest.mark.parametrize("arms", [2, 8])
def test_dp_se_at_its_threshold(epsilon, arms):
    """Certain rewards, and arms around the border: each arm's noise decides, for itself."""
    plain = lectures.namespace("hu2021/6-experiments")
    length = math.ceil(plain["epoch_length"](1, arms, epsilon, 0.9))
    behind = plain["too_far"](1, arms, epsilon, 0.9) + np.linspace(-3, 3, arms + 1)[1:-1] / (
        epsilon * length
    )
    means, horizon = np.append(0.95, 0.95 - behind), arms * (length + 3) - 1
    dropped, algorithm = set(), DPSE(epsilon, 0.9)
    for seed in range(6):
        same, actions = the_same(algorithm, dp_se(epsilon, 0.9), means, horizon, seed)
        assert same and algorithm.play(np.tile(means, (len(actions), 1)), seed).tolist() == actions
        dropped.add(frozenset(range(arms)) - set(actions[arms * length :]))
    assert len(dropped) > 1  # it was the noise, indeed


def test_wide_ucb_is_hybrid_ucb_without_noise_and_the_last_term():
    def index(mean, n, t, epsilon):
        return mean + math.sqrt(3 * math.log2(t) / n)

    instead = {"laplace": lambda scale, rng: 0.0, "hybrid_index": index}
    plain = lectures.plays("hu2021/4-bandit-setting", "hybrid_ucb", instead, epsilon=1.0)
    for seed, means in enumerate(MEANS):
        table = bandit(*means).table(3000, seed)
        assert WideUCB().play(table, seed).tolist() == plain(table, None)


def test_a_first_batch_longer_than_the_horizon():
    for algorithm in (DPKLUCB(1.0, n0=30), DPIMED(1.0, n0=30)):
        assert algorithm.play(np.zeros((50, 2)), 0).tolist() == [0] * 30 + [1] * 20
        assert algorithm.run(bandit(0.5, 0.5), [20, 50], 0).tolist() == [[20, 0], [30, 20]]


@pytest.mark.parametrize(("forget", "optimism"), [(True, 1.0), (True, 0.5), (False, 3.1)])
def test_ablated_dp_klucb(forget, optimism):
    algorithm, rounds = AblatedDPKLUCB(1.0, 1.5, forget=forget, optimism=optimism), [20, 100, 600]
    problem = bandit(0.9, 0.5, 0.4)
    drawn = algorithm.run(problem, rounds, 2, 4800)
    assert same_law(by_play(algorithm.play, problem, rounds, 1200, seed=1), drawn)
    whole = DPKLUCB(1.0, 1.5).run(problem, rounds, 2, 4800)
    assert not same_law(drawn, whole)
    nothing = AblatedDPKLUCB(1.0, 1.5, forget=False, optimism=1.0)
    assert (nothing.run(problem, rounds, 2, 4800) == whole).all()


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
    assert batch_ends(1e300, 1, 0, 10**15).tolist() == [1, 2**62]


@pytest.mark.parametrize("means", [(0.1, 0.1, 0.8), (0.2, 0.2, 0.7, 0.1)])
def test_kl_ucb_draws_for_ties_in_rounds_that_it_does_not_look_at(means):
    """The first two arms often have equal records; if every round is reported, each is seen."""
    for seed in range(20):
        skipping, looking = np.random.default_rng(seed), np.random.default_rng(seed)
        once = KLUCB().run(bandit(*means), [3000], skipping)
        assert (once[-1] == KLUCB().run(bandit(*means), np.arange(1, 3001), looking)[-1]).all()
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
