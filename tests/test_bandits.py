"""What is particular to each bandit algorithm."""

import math

import faults
import lectures
import numpy as np
import pytest
from cases import BANDITS, dp_se, lazy_ucb
from conftest import refused
from laws import FALSE_ALARM, by_play, by_run, same_law
from naive import bandits as naive
from scipy.stats import norm

from privregret.bandits import (
    DPIMED,
    DPKLUCB,
    DPSE,
    KLUCB,
    AdaPKLUCB,
    AnytimeLazyUCB,
    HybridUCB,
    dp_klucb,
)
from privregret.bandits.dp_klucb import batch_ends
from privregret.core import noise
from privregret.instances import HU2021_2, HU2021_3, BernoulliBandit

AblatedDPKLUCB = lectures.namespace("azize2025/5-experiments")["AblatedDPKLUCB"]
FIVE = HU2021_2


def bandit(*means):
    return BernoulliBandit("", means)


def rewards_of(horizon, *means, seed=0):
    """(T, K) rewards of 0 and 1."""
    return (np.random.default_rng(seed).random((horizon, len(means))) < means).astype(float)


def event_by_event(algorithm, means, horizons, recorder):
    """(H, K) pulls by the uncompiled event kernel."""
    settings = algorithm.settings(int(horizons[-1]), len(means))
    return naive.plain(type(algorithm).fast_run)(np.array(means), horizons, settings, recorder)


# event by event: exactly, where rewards are certain


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 2.0, 1e3])
@pytest.mark.parametrize("means", [(0.9, 0.6, 0.3), (0.5, 0.55), (0.0, 0.0, 0.0, 1.0)])
def test_event_by_event_is_round_by_round_when_rewards_are_certain(epsilon, means):
    """Same noise, no chance in the rewards: the counts must agree in every single round."""
    horizons = np.arange(1, 6001)
    rewards = np.tile(means, (len(horizons), 1))
    for seed in range(3):
        for algorithm, slow in [
            (AnytimeLazyUCB(epsilon), lazy_ucb(epsilon)),
            (DPSE(epsilon, 0.9), dp_se(epsilon, 0.9)),
        ]:
            noise = naive.Recorder(np.random.default_rng(seed), certain=True)
            counts = event_by_event(algorithm, means, horizons, noise)
            actions = slow(rewards, np.random.default_rng(seed))
            assert counts.tolist() == naive.pulls_at(actions, horizons, len(means))


@pytest.mark.parametrize("epsilon", [0.03, 0.3, 2.0, 30.0])
@pytest.mark.parametrize("arms", [2, 8])
def test_dp_se_at_its_threshold(epsilon, arms):
    """Certain rewards, and arms around the border of elimination: each arm's noise decides, for
    itself."""
    plain = lectures.namespace("hu2021/6-experiments")
    length = math.ceil(plain["epoch_length"](1, arms, epsilon, 0.9))
    behind = plain["too_far"](1, arms, epsilon, 0.9) + np.linspace(-3, 3, arms + 1)[1:-1] / (
        epsilon * length
    )
    means = np.append(0.95, 0.95 - behind[: arms - 1])
    horizons = np.arange(1, arms * length + 3 * arms)
    rewards = np.tile(means, (len(horizons), 1))
    dropped = set()
    for seed in range(6):
        actions = dp_se(epsilon, 0.9)(rewards, np.random.default_rng(seed))
        assert DPSE(epsilon, 0.9).play(rewards, seed).tolist() == actions
        noise = naive.Recorder(np.random.default_rng(seed), certain=True)
        counts = event_by_event(DPSE(epsilon, 0.9), means, horizons, noise)
        assert counts.tolist() == naive.pulls_at(actions, horizons, arms)
        dropped.add(frozenset(range(arms)) - set(actions[arms * length :]))
    assert len(dropped) > 1  # it was the noise, indeed


def test_lazy_arrays_are_complete_at_3_7_15_31_pulls():
    """One Laplace draw exactly when an arm has 1, 3, 7, 15, 31, ... pulls."""
    rewards, algorithm = rewards_of(150, 0.5, 0.55), AnytimeLazyUCB(2.0)
    for horizon in range(2, 151):
        for steps in (True, False):
            recorder = naive.Recorder(np.random.default_rng(horizon))
            if steps:
                actions = naive.literal(algorithm, rewards[:horizon], recorder)
                pulls = np.bincount(actions, minlength=2)
            else:
                pulls = event_by_event(algorithm, (0.5, 0.6), np.array([horizon]), recorder)[0]
            complete = [sum(2 ** (r + 1) - 1 <= n for r in range(9)) for n in pulls]
            assert recorder.scales == [0.5] * sum(complete)


def test_a_comparison_of_laws_can_fail():
    """Noise that forgets epsilon, or has a tenth of the scale, is seen in 500 runs."""
    for algorithm, faulty in (
        (AnytimeLazyUCB(0.5), faults.lazy_without_epsilon(0.5)),
        (DPIMED(0.05), faults.batched_tenth(DPIMED, 0.05)),
        (DPKLUCB(1.0), faults.batched_tenth(DPKLUCB, 1.0)),
    ):
        case = next(c for c in BANDITS if c.algorithm == algorithm)
        played = by_play(faulty.play, case.problem, case.rounds[:2], 500, seed=1)
        assert not same_law(played, by_run(algorithm, case.problem, case.rounds[:2], 4000, seed=2))


def test_a_first_batch_longer_than_the_horizon():
    for algorithm in (DPKLUCB(1.0, n0=30), DPIMED(1.0, n0=30)):
        assert algorithm.play(np.zeros((50, 2)), 0).tolist() == [0] * 30 + [1] * 20
        assert algorithm.run(bandit(0.5, 0.5), [20, 50], 0).tolist() == [[20, 0], [30, 20]]


# many arms: queues against looking at all of them


@pytest.mark.parametrize("arms", [2, 60])
@pytest.mark.parametrize("epsilon", [0.05, 0.64, 8.0, 1000.0])
@pytest.mark.parametrize("algorithm", [DPKLUCB, DPIMED])
def test_the_head_of_a_queue_is_the_leader_of_all_arms(algorithm, epsilon, arms):
    """Same draws, ties to the first: batch by batch the arm that `leader` names, which looks at
    all."""
    means, horizon = np.linspace(0.9, 0.2, arms), 10**7
    settings = algorithm(epsilon, ties="first").settings(horizon, arms)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        total, pulls, batches = np.zeros(arms), np.zeros(arms, np.int64), np.zeros(arms, np.int64)
        t, ends = 0, settings.ends
        while t < horizon:
            started = np.count_nonzero(pulls)
            known = np.zeros(arms, dp_klucb.ARM)
            known["mean"], known["pulls"] = total / np.maximum(pulls, 1), pulls
            j = started
            if started == arms:
                j = dp_klucb.leader(known, math.log(t + 1), settings, rng)
            size = ends[batches[j]] - pulls[j]
            played = min(size, horizon - t)
            pulls[j], t = pulls[j] + played, t + played
            if played == size:
                total[j] += rng.binomial(size, means[j]) + noise.laplace(1 / epsilon, rng)
                batches[j] += 1
        counts = algorithm.fast_run(
            means, np.array([horizon]), settings, np.random.default_rng(seed)
        )
        assert counts[0].tolist() == pulls.tolist()


@pytest.mark.parametrize(
    "algorithm", [AnytimeLazyUCB(1.0), DPKLUCB(1.0), DPIMED(1.0), AdaPKLUCB(1.0)], ids=repr
)
def test_ten_thousand_arms(algorithm):
    """Far more than could be looked at in each event."""
    problem = BernoulliBandit("many", tuple(np.linspace(0.1, 0.9, 10_000)))
    counts = algorithm.run(problem, [10**9], 0)[0]
    assert counts.sum() == 10**9 and counts[5000:].sum() > 0.9 * 10**9


# what may be known of a run, and what may be undone


@pytest.mark.parametrize(
    "algorithm", [DPKLUCB(0.5), DPIMED(2.0, 1.5), AblatedDPKLUCB(1.0, forget=True)], ids=repr
)
def test_known_noisy_sums_of_an_arm_have_the_law_of_drawn_ones(algorithm):
    """Those of the first batches, drawn here; without any, the runs are those of `run`, one after
    the other."""
    runs, batches, arm, rounds = 4000, 4, 1, np.array([10, 60, 400])
    kernel, settings = type(algorithm).fast_run_given, algorithm.settings(400, 3)
    means = np.array([0.3, 0.8, 0.6])
    rng = np.random.default_rng(4)
    sizes = np.diff(settings.ends[:batches], prepend=0)
    given = rng.binomial(sizes, means[arm], (runs, batches)) + rng.laplace(
        0, 1 / algorithm.epsilon, (runs, batches)
    )
    drawn = algorithm.run(bandit(*means), rounds, 5, runs)
    assert same_law(kernel(means, rounds, settings, arm, given, rng), drawn)
    none = kernel(means, rounds, settings, -1, np.empty((runs, 0)), np.random.default_rng(5))
    assert (none == drawn).all()
    batches += 2 * getattr(algorithm, "forget", False)  # of which it remembers the last
    low = kernel(means, rounds, settings, arm, np.full((runs, batches), -100.0), rng)
    assert low[:, -1, arm].mean() < 0.5 * drawn[:, -1, arm].mean()


@pytest.mark.parametrize("forget", [True, False])
@pytest.mark.parametrize("optimism", [0.5, 1.0, 3.1])
def test_ablated_dp_klucb(forget, optimism):
    algorithm, rounds = AblatedDPKLUCB(1.0, 1.5, forget=forget, optimism=optimism), [20, 100, 600]
    problem = bandit(0.9, 0.5, 0.4)
    drawn = by_run(algorithm, problem, rounds, 2000, seed=2)
    assert same_law(by_play(algorithm.play, problem, rounds, 2000, seed=1), drawn)
    whole = by_run(DPKLUCB(1.0, 1.5), problem, rounds, 2000, seed=2)
    assert (drawn == whole).all() == (not forget and optimism == 1)
    assert same_law(drawn, whole) == (not forget and optimism == 1)


def test_a_live_source_without_a_horizon():
    for algorithm in {case.algorithm for case in BANDITS} | {AblatedDPKLUCB(1.0)}:
        if isinstance(algorithm, DPSE) and algorithm.beta is None:
            refused(lambda a=algorithm: a.start(3, 0), "horizon")
            continue
        learner = algorithm.start(3, 0)
        chosen = [(learner.choose(), learner.observe(0.5))[0] for _ in range(60)]
        assert chosen == algorithm.play(np.full((60, 3), 0.5), 0).tolist()


# the lengths of epochs and batches


def test_dp_se_default_beta_is_one_over_the_horizon():
    rewards = rewards_of(7000, 0.9, 0.6, 0.3)
    for seed in range(5):
        for method, *data in [("play", rewards), ("run", HU2021_3, [100, 7000])]:
            default, given = (
                getattr(a, method)(*data, seed) for a in (DPSE(1.0), DPSE(1.0, 1 / 7000))
            )
            assert (default == given).all()


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


def test_arms_are_pulled_in_whole_batches():
    for seed in range(20):
        for algorithm in (DPKLUCB(0.3, 1.1), DPIMED(0.3)):
            counts = algorithm.run(FIVE, [10**6], seed)[0]
            ends = batch_ends(algorithm.alpha, 1, 0, 10**6)
            assert (~np.isin(counts, ends)).sum() <= 1


def test_equal_arms_are_pulled_equally_when_ties_are_random():
    counts = DPKLUCB(0.05).run(bandit(*[0.5] * 4), [2000], 0, 4000)[:, 0]
    error = counts.std(axis=0) / math.sqrt(len(counts))
    assert (abs(counts.mean(axis=0) - 500) <= norm.isf(FALSE_ALARM / 8) * error).all()


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


@pytest.mark.parametrize("family", [AnytimeLazyUCB, DPSE])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 10.0])
def test_a_horizon_of_a_quadrillion(family, epsilon):
    horizons = [10**3, 10**9, 10**15]
    counts = family(epsilon).run(HU2021_3, horizons, 0)
    assert (counts.sum(axis=1) == horizons).all()
    assert counts[-1, 0] > 0.999 * 10**15
    # Theorem 3, its constant of 96 rounded up
    bound = 100 * math.log(10**15) / min(0.6, epsilon) / 0.6
    assert (counts[-1, 1:] < bound).all()


@pytest.mark.parametrize(
    "algorithm", [DPKLUCB(0.01), DPKLUCB(10.0), DPIMED(1.0, 1.1), AdaPKLUCB(0.1)], ids=repr
)
def test_a_horizon_of_a_quadrillion_in_batches(algorithm):
    runs = [algorithm.run(bandit(0.75, 0.25), [10**3, 10**9, 10**15], seed) for seed in range(21)]
    counts = np.median(runs, axis=0)
    assert counts[-1, 0] > 0.999 * 10**15
    assert counts[-1, 1] < 40 * math.log(10**15) / min(1, algorithm.epsilon)


@pytest.mark.parametrize("means", [(0.0, 0.0), (1.0, 1.0), (0.0, 1.0, 0.5), (0.9, 0.2)])
def test_counts_add_up_at_the_ends_of_the_range(means):
    horizons = np.unique(np.geomspace(1, 20_000, 60).astype(int))
    for algorithm in {case.algorithm for case in BANDITS}:
        counts = algorithm.run(bandit(*means), horizons, 0)
        assert (counts.sum(axis=1) == horizons).all()
        assert (np.diff(counts, axis=0, prepend=0) >= 0).all()


# bad input


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: DPIMED(1.0, 1.0), ["alpha", "1.001", "1.0"]),
        (lambda: DPIMED(1.0, math.inf), ["alpha", "inf"]),
        (lambda: DPKLUCB(1.0, 2.0, 0), ["n0", "0"]),
        (lambda: DPKLUCB(1.0, 2.0, 1.5), ["n0", "1.5"]),
        (lambda: DPKLUCB(1.0, ties="last"), ["ties", "'last'"]),
        (lambda: DPIMED(1.0, power=-1), ["power", "-1"]),
        (lambda: DPIMED(1.0, power=63), ["power", "62", "63"]),
        (lambda: AdaPKLUCB(1.0, 0), ["alpha", "0"]),
        (lambda: HybridUCB(1.0, "Paper"), ["tree", "'Paper'", "'paper'"]),
        *((lambda b=b: DPSE(1.0, b), ["beta", repr(b)]) for b in (0, -0.1, 1.1, math.nan, "0.1")),
    ],
)
def test_bad_parameters(make, words):
    refused(make, *words)
