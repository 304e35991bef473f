"""Bandit algorithms: literal runs against obvious Python, fast runs against literal ones, known numbers."""

import json
import math
from itertools import pairwise

import naive
import numpy as np
import pytest
from conftest import compiled_and_not
from scipy.stats import ks_2samp, norm, t

from privregret.bandits import DPSE, UCB1, AnytimeLazyUCB, HybridUCB, dp_se, hybrid_ucb, lazy_ucb
from privregret.instances import HU2021_1, HU2021_2, HU2021_3, BernoulliBandit

FALSE_ALARM = 1e-4  # chance that a sound algorithm fails a random test, were its seed new
TREES = hybrid_ucb.TREES


def table(kind, horizon, seed):
    """Rewards by name: Bernoulli tables, real-valued ones, and ones without any randomness."""
    rng = np.random.default_rng(seed)
    return {
        "bernoulli": lambda: (rng.random((horizon, 3)) < (0.9, 0.6, 0.3)).astype(float),
        "two arms": lambda: (rng.random((horizon, 2)) < (0.5, 0.55)).astype(float),
        "uniform": lambda: rng.random((horizon, 5)),
        "beta": lambda: rng.beta((1, 2, 3, 2), (3, 2, 1, 1), (horizon, 4)),
        "drifting": lambda: np.linspace((0, 1, 0.5), (0.9, 0.1, 0.6), horizon) * rng.random((horizon, 3)),
        "all zero": lambda: np.zeros((horizon, 3)),
    }[kind]()


def same_play(algorithm, slow, rewards, seed):
    fast = algorithm.play(rewards, np.random.default_rng(seed))
    assert fast.tolist() == slow.play(rewards, np.random.default_rng(seed))


# play against the obvious version


@pytest.mark.parametrize("kind", ["bernoulli", "two arms", "uniform", "beta", "drifting", "all zero"])
@pytest.mark.parametrize("epsilon", [0.02, 0.5, 1.0, 8.0, 1e4])
def test_lazy_play_is_the_printed_algorithm(kind, epsilon):
    for seed, horizon in enumerate((64, 1000, 2500)):
        same_play(AnytimeLazyUCB(epsilon), naive.AnytimeLazyUCB(epsilon), table(kind, horizon, seed), seed)


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 16.0, 1e4])
def test_hybrid_play_is_the_printed_algorithm(tree, epsilon):
    for seed, kind in enumerate(["bernoulli", "two arms", "uniform", "drifting"]):
        same_play(HybridUCB(epsilon, tree), naive.HybridUCB(epsilon, tree), table(kind, 1100, seed), seed)


@pytest.mark.parametrize("log_base", [1.5, math.e, 10])
def test_hybrid_play_with_other_logarithms(log_base):
    for seed, epsilon in enumerate((1.0, 64.0)):
        rewards = table("uniform", 700, seed)
        slow = naive.HybridUCB(epsilon, log_base=log_base)
        same_play(HybridUCB(epsilon, log_base=log_base), slow, rewards, seed)


@pytest.mark.parametrize("kind", ["bernoulli", "two arms", "uniform", "beta"])
@pytest.mark.parametrize("epsilon", [0.02, 0.3, 1.0, 50.0])
@pytest.mark.parametrize("beta", [None, 0.9, 0.1])
def test_dp_se_play_is_the_printed_algorithm(kind, epsilon, beta):
    for seed, horizon in enumerate((50, 2000, 9000)):
        same_play(DPSE(epsilon, beta), naive.DPSE(epsilon, beta), table(kind, horizon, seed), seed)


@pytest.mark.parametrize("kind", ["bernoulli", "two arms", "uniform", "all zero"])  # only "uniform" has no ties
def test_ucb1_play_is_the_printed_algorithm(kind):
    for seed, horizon in enumerate((10, 300, 800)):
        same_play(UCB1(), naive.UCB1(), table(kind, horizon, seed), seed)


def test_dp_se_tables_above_reach_eliminations():
    actions = DPSE(1.0, 0.9).play(table("bernoulli", 9000, 2), np.random.default_rng(2))
    assert len(set(actions[:100])) == 3 and len(set(actions[-100:])) == 1


# pull_counts: exactly, where rewards are certain


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 2.0, 1e3])
@pytest.mark.parametrize("means", [(0.9, 0.6, 0.3), (0.5, 0.55), (0.0, 0.0, 0.0, 1.0)])
def test_event_by_event_is_round_by_round_when_rewards_are_certain(epsilon, means):
    """Same noise, no chance in the rewards: the counts must agree in every single round."""
    horizons = np.arange(1, 6001)
    rewards = np.tile(means, (len(horizons), 1))
    for seed in range(3):
        for kernel, arguments, slow in [
            (lazy_ucb._pull_counts, (epsilon,), naive.AnytimeLazyUCB(epsilon)),
            (dp_se._pull_counts, (epsilon, 0.9), naive.DPSE(epsilon, 0.9)),
        ]:
            noise = naive.Recorder(np.random.default_rng(seed), certain=True)
            counts = naive.plain(kernel)(np.array(means), horizons, *arguments, noise)
            actions = slow.play(rewards, np.random.default_rng(seed))
            assert counts.tolist() == naive.pulls_at(actions, horizons, len(means))


@pytest.mark.parametrize("epsilon", [0.03, 0.3, 2.0, 30.0])
@pytest.mark.parametrize("arms", [2, 8])
def test_dp_se_at_its_threshold(epsilon, arms):
    """Certain rewards, and arms around the border of elimination: each arm's noise decides, for itself."""
    slow = naive.DPSE(epsilon, 0.9)
    length = math.ceil(slow.length(1, arms, 0.9))
    behind = slow.threshold(1, arms, 0.9) + np.linspace(-3, 3, arms + 1)[1:-1] / (epsilon * length)
    means = np.append(0.95, 0.95 - behind[: arms - 1])
    horizons = np.arange(1, arms * length + 3 * arms)
    rewards = np.tile(means, (len(horizons), 1))
    dropped = set()
    for seed in range(6):
        same_play(DPSE(epsilon, 0.9), slow, rewards, seed)
        actions = slow.play(rewards, np.random.default_rng(seed))
        noise = naive.Recorder(np.random.default_rng(seed), certain=True)
        counts = naive.plain(dp_se._pull_counts)(means, horizons, epsilon, 0.9, noise)
        assert counts.tolist() == naive.pulls_at(actions, horizons, arms)
        dropped.add(frozenset(range(arms)) - set(actions[arms * length :]))
    assert len(dropped) > 1  # it was the noise, indeed


# pull_counts against play, in law


def play_counts(algorithm, means, horizons, runs, seed):
    """(runs, H, K) pulls when playing on fresh Bernoulli tables."""
    instance, rng = BernoulliBandit("", tuple(means)), np.random.default_rng(seed)
    result = np.empty((runs, len(horizons), len(means)), int)
    for run in range(runs):
        actions = np.asarray(algorithm.play(instance.rewards(horizons[-1], rng), rng))
        for h, horizon in enumerate(horizons):
            result[run, h] = np.bincount(actions[:horizon], minlength=len(means))
    return result


def direct_counts(algorithm, means, horizons, runs, seed):
    """(runs, H, K) pulls from `pull_counts`."""
    rng = np.random.default_rng(seed)
    return np.array([algorithm.pull_counts(means, horizons, rng) for _ in range(runs)])


def views(counts):
    """(runs, V) numbers that pin the joint law over arms and rounds: counts, products, mixtures.

    A product is of one arm's counts at neighbouring checkpoints, a mixture of all counts.
    """
    arms = counts.shape[2]
    flat = counts.reshape(len(counts), -1).astype(float)
    products = flat[:, :-arms] * flat[:, arms:]
    mixtures = flat @ np.random.default_rng(0).normal(size=(flat.shape[1], 6))
    return np.hstack([flat, products, mixtures])


def assert_same_law(a, b):
    """Two-sample Kolmogorov-Smirnov and mean tests on every view, Bonferroni-corrected."""
    a, b = views(a), views(b)
    level = FALSE_ALARM / (2 * a.shape[1])
    for x, y in zip(a.T, b.T, strict=True):
        assert ks_2samp(x, y, method="asymp").pvalue > level
        error = math.hypot(x.std(ddof=1) / math.sqrt(len(x)), y.std(ddof=1) / math.sqrt(len(y)))
        assert abs(x.mean() - y.mean()) <= norm.isf(level / 2) * error


FIVE = HU2021_2.means
LAWS = [  # algorithm, means, horizons, runs: enough to see 0.1 standard deviations
    (AnytimeLazyUCB(0.05), (0.9, 0.5, 0.1), (30, 300, 3000), 4000),
    (AnytimeLazyUCB(0.5), FIVE, (10, 200, 4000), 4000),
    (AnytimeLazyUCB(1.0), (0.6, 0.4), (20, 150, 1500), 5000),
    (AnytimeLazyUCB(8.0), (0.3, 0.8, 0.8), (40, 400, 3000), 4000),
    (AnytimeLazyUCB(1e9), (0.7, 0.5, 0.2), (40, 400, 3000), 4000),
    (DPSE(0.02, 0.9), (0.9, 0.5, 0.1), (2000, 3500, 9000), 3000),
    (DPSE(1.0, 0.9), (0.9, 0.76, 0.62), (1200, 2000, 6000), 3000),
    (DPSE(0.1, 0.9), (0.2, 0.45, 0.7, 0.56), (500, 3000, 9000), 2500),
    (DPSE(100.0, 0.5), (0.85, 0.7, 0.15), (1000, 1501, 5000), 3000),
    (HybridUCB(0.5), (0.9, 0.5, 0.1), (20, 150, 1000), 3000),
    (HybridUCB(16.0), FIVE, (20, 150, 1500), 3000),
    (HybridUCB(1e9), (0.7, 0.5, 0.2), (20, 150, 1000), 3000),
    (HybridUCB(1.0, "rootfree"), (0.6, 0.4), (20, 150, 1000), 3000),
    (HybridUCB(16.0, "rootfree"), (0.9, 0.5, 0.1), (20, 150, 1000), 3000),
    (HybridUCB(128.0, "rootfree"), FIVE, (20, 150, 1000), 3000),
    (HybridUCB(1.0, "scaled"), (0.6, 0.4), (20, 150, 1000), 3000),
    (HybridUCB(16.0, "scaled"), (0.9, 0.5, 0.1), (20, 150, 1000), 3000),
    (HybridUCB(128.0, "scaled", math.e), FIVE, (20, 150, 1000), 3000),
    (UCB1(), (0.9, 0.5, 0.1), (5, 100, 1500), 4000),
    (UCB1(), FIVE, (8, 100, 1500), 4000),
]


@pytest.mark.parametrize(("algorithm", "means", "horizons", "runs"), LAWS, ids=[repr(law[0]) for law in LAWS])
def test_pull_counts_has_the_law_of_play(algorithm, means, horizons, runs):
    played = play_counts(algorithm, means, horizons, runs, seed=1)
    assert_same_law(played, direct_counts(algorithm, means, horizons, runs, seed=2))


# structure

ALL = [
    AnytimeLazyUCB(0.3),
    AnytimeLazyUCB(64.0),
    DPSE(0.3, 0.9),
    DPSE(20.0),
    HybridUCB(2.0),
    HybridUCB(64.0, "rootfree"),
    HybridUCB(0.1, "scaled"),
    UCB1(),
]
every_algorithm = pytest.mark.parametrize("algorithm", ALL, ids=map(repr, ALL))


@every_algorithm
def test_counts_add_up_and_grow(algorithm):
    horizons = np.unique(np.geomspace(1, 20_000, 60).astype(int))
    for seed, means in enumerate([(0.9, 0.2), FIVE, (0.0, 1.0, 0.5)]):
        counts = algorithm.pull_counts(means, horizons, np.random.default_rng(seed))
        assert counts.dtype == np.int64 and counts.shape == (len(horizons), len(means))
        assert (counts.sum(axis=1) == horizons).all()
        assert (np.diff(counts, axis=0, prepend=0) >= 0).all()


@every_algorithm
def test_checkpoints_change_nothing(algorithm):
    few, many = np.array([77, 5000]), np.unique(np.append(np.arange(1, 5000, 7), 5000))
    for seed in range(5):
        a = algorithm.pull_counts(FIVE, few, np.random.default_rng(seed))
        b = algorithm.pull_counts(FIVE, np.union1d(few, many), np.random.default_rng(seed))
        assert (a == b[np.isin(np.union1d(few, many), few)]).all()


@pytest.mark.parametrize("algorithm", [a for a in ALL if a != DPSE(20.0)], ids=repr)  # all but beta = 1 / T
def test_anytime_algorithms_do_not_know_the_horizon(algorithm):
    rewards = table("bernoulli", 4000, 5)
    for seed in range(5):
        short, long = ([1000], [1000, 4000])
        a, b = (algorithm.pull_counts(FIVE, h, np.random.default_rng(seed)) for h in (short, long))
        assert (a[0] == b[0]).all()
        a, b = (algorithm.play(rewards[:h], np.random.default_rng(seed)) for h in (1000, 4000))
        assert (a == b[:1000]).all()


@every_algorithm
def test_as_many_rounds_as_arms(algorithm):
    assert (algorithm.pull_counts(FIVE, [5], np.random.default_rng(0)) == 1).all()
    assert algorithm.play(np.zeros((5, 5)), np.random.default_rng(0)).tolist() == [0, 1, 2, 3, 4]


def test_lazy_arrays_are_complete_at_3_7_15_31_pulls():
    """One Laplace draw exactly when an arm has 1, 3, 7, 15, 31, ... pulls."""
    rewards = table("two arms", 150, 0)
    for horizon in range(2, 151):
        for kernel in (lazy_ucb._play, lazy_ucb._pull_counts):
            recorder = naive.Recorder(np.random.default_rng(horizon))
            if kernel is lazy_ucb._play:
                pulls = np.bincount(naive.plain(kernel)(rewards[:horizon], 2.0, recorder), minlength=2)
            else:
                pulls = naive.plain(kernel)(np.array([0.5, 0.6]), np.array([horizon]), 2.0, recorder)[0]
            complete = [sum(2 ** (r + 1) - 1 <= n for r in range(9)) for n in pulls]
            assert recorder.scales == [0.5] * sum(complete)


@pytest.mark.parametrize(
    ("epsilon", "beta", "lengths"),
    [
        (0.1, 2.0**-22, (2921, 10408, 43287)),
        (0.1205, 2.0**-22, (2426, 10408, 43287)),
        (128, 2.0**-22, (2426, 10408, 43287)),
        (1, 1e-6, (2242, 9674, 40350)),
        (0.01, 1e-6, (26899, 58234, 121656)),
    ],
)
def test_dp_se_epoch_lengths(epsilon, beta, lengths):
    assert tuple(math.ceil(dp_se.epoch_length(e, 5, epsilon, beta)) for e in (1, 2, 3)) == lengths
    # arms far below the best are gone after one epoch, arms that equal the best after none
    far = DPSE(epsilon, beta).pull_counts((1, 0, 0, 0, 0), [300_000], np.random.default_rng(0))[0]
    assert (far[1:] == lengths[0]).all()
    equal = DPSE(1e9, beta).pull_counts((0.5,) * 5, [300_000], np.random.default_rng(0))[0]
    assert (equal == 60_000).all()


def test_dp_se_default_beta_is_one_over_the_horizon():
    rewards = table("bernoulli", 7000, 0)
    for seed in range(5):
        for method, *data in [("play", rewards), ("pull_counts", HU2021_3.means, [100, 7000])]:
            default = getattr(DPSE(1.0), method)(*data, np.random.default_rng(seed))
            given = getattr(DPSE(1.0, 1 / 7000), method)(*data, np.random.default_rng(seed))
            assert (default == given).all()


@pytest.mark.parametrize("family", [AnytimeLazyUCB, DPSE])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 10.0])
def test_a_horizon_of_a_quadrillion(family, epsilon):
    horizons = [10**3, 10**9, 10**15]
    counts = family(epsilon).pull_counts(HU2021_3.means, horizons, np.random.default_rng(0))
    assert (counts.sum(axis=1) == horizons).all()
    assert counts[-1, 0] > 0.999 * 10**15
    bound = 100 * math.log(10**15) / min(0.6, epsilon) / 0.6  # Theorem 3, its constant of 96 rounded up
    assert (counts[-1, 1:] < bound).all()


def test_dp_se_with_an_epoch_longer_than_any_integer():
    for epsilon in (1e-20, 1e-300):
        counts = DPSE(epsilon).pull_counts((0.5, 0.4), [11, 1000], np.random.default_rng(0))
        assert counts.tolist() == [[6, 5], [500, 500]]
        actions = DPSE(epsilon).play(np.zeros((6, 2)), np.random.default_rng(0))
        assert actions.tolist() == [0, 1, 0, 1, 0, 1]


# compiled and not


def short_runs():
    """Every algorithm, both methods, as lists of integers."""
    result = {}
    for algorithm in [*ALL, HybridUCB(1e3, log_base=10), AnytimeLazyUCB(1e-3), DPSE(1e-2, 1.0)]:
        for seed in range(2):
            rewards, means = table("beta", 1500, seed), (0.95, 0.1) if seed else FIVE
            played = algorithm.play(rewards, np.random.default_rng(seed))
            counts = algorithm.pull_counts(means, [10, 100, 2500], np.random.default_rng(seed))
            result[f"{algorithm!r} {seed}"] = [played.tolist(), counts.tolist()]
    return result


def test_compiled_equals_uncompiled():
    code = "import json, test_bandits; print(json.dumps(test_bandits.short_runs()))"
    compiled, uncompiled = compiled_and_not(code)
    assert compiled == uncompiled
    assert json.loads(compiled) == short_runs()


# what epsilon does


def regrets(algorithm, instance, horizon, runs, seed=0):
    """(runs,) pseudo-regrets at the horizon."""
    return direct_counts(algorithm, instance.means, [horizon], runs, seed)[:, 0] @ instance.gaps


@pytest.mark.parametrize(
    ("family", "epsilons", "horizon", "runs"),
    [
        (AnytimeLazyUCB, (0.02, 0.1, 0.5, 2.0, 16.0), 2**16, 500),
        (DPSE, (0.002, 0.006, 0.02, 0.06), 2**18, 500),  # from about 0.12 on, epochs do not depend on epsilon
        (HybridUCB, (1.0, 4.0, 16.0, 64.0, 256.0), 2**13, 60),
        (lambda e: HybridUCB(e, "rootfree"), (1.0, 16.0, 256.0), 2**13, 60),
        (lambda e: HybridUCB(e, "scaled"), (1.0, 16.0, 256.0), 2**13, 60),
    ],
    ids=["AnytimeLazyUCB", "DPSE", "HybridUCB paper", "HybridUCB rootfree", "HybridUCB scaled"],
)
def test_regret_falls_as_epsilon_grows(family, epsilons, horizon, runs):
    samples = [regrets(family(e), HU2021_3, horizon, runs, seed) for seed, e in enumerate(epsilons)]
    margin = norm.isf(FALSE_ALARM / len(epsilons))
    for a, b in pairwise(samples):
        assert a.mean() - b.mean() > margin * math.hypot(a.std(ddof=1), b.std(ddof=1)) / math.sqrt(runs)


@pytest.mark.parametrize("kind", ["uniform", "beta", "drifting"])
def test_a_huge_epsilon_plays_like_the_non_private_twin(kind):
    """Real-valued rewards have no ties, so the actions must be the same, noise or not."""
    for seed in range(4):
        rewards = table(kind, 1500, seed)
        same_play(AnytimeLazyUCB(1e9), naive.LazyUCBWithoutPrivacy(), rewards, seed)
        for tree in TREES:
            same_play(HybridUCB(1e9, tree), naive.UCBWithoutPrivacy(), rewards, seed)


@pytest.mark.parametrize(
    ("algorithm", "twin"),
    [(AnytimeLazyUCB(1e9), naive.LazyUCBWithoutPrivacy()), (HybridUCB(1e9), naive.UCBWithoutPrivacy())],
    ids=["lazy", "hybrid"],
)
def test_a_huge_epsilon_has_the_law_of_the_non_private_twin(algorithm, twin):
    means, horizons = (0.8, 0.5, 0.5), (20, 100, 500)
    slow = play_counts(twin, means, horizons, 700, seed=3)
    assert_same_law(slow, direct_counts(algorithm, means, horizons, 4000, seed=4))


# reference values

SETTINGS = {1: HU2021_1, 2: HU2021_2, 3: HU2021_3}
HORIZON = 2**22
EPSILONS = (0.1, 0.25, 0.5, 1.0, 8.0, 64.0, 128.0)
# final pseudo-regret at each of EPSILONS: mean, standard deviation of one run (0.5 where it is given as "<1")
LAZY_REFERENCE = {  # from 20 000 runs each
    1: ((13295, 781), (12958, 486), (11025, 1543), (9113, 1632), (7686, 1250), (7546, 1190), (7555, 1189)),
    2: ((8853, 1189), (5450, 432), (3682, 494), (2939, 354), (2163, 103), (2134, 128), (2129, 131)),
    3: ((9804, 172), (4898, 94), (2455, 0.5), (1723, 302), (1152, 101), (895, 152), (877, 154)),
}
DPSE_REFERENCE = {  # from 10 000 runs each
    1: ((11367, 680), (11224, 22), (11220, 107), (11182, 344), (11070, 669), (11028, 776), (11039, 748)),
    2: ((5413, 1031), (4275, 0.5), (4261, 128), (4118, 413), (3733, 616), (3664, 621), (3662, 621)),
    3: ((7010, 0.5), (5822, 0.5), (5822, 0.5), (5822, 0.5), (5822, 0.5), (5822, 0.5), (5822, 0.5)),
}
HYBRID_REFERENCE = {  # (setting, epsilon): mean, standard deviation, runs
    (1, 8.0): (8740, 265, 130),
    (2, 64.0): (1466, 62, 15),
    (3, 1.0): (21400, 390, 65),
    (3, 128.0): (587, 21, 15),
}
HYBRID_NATURAL_LOG = {(2, 64.0): 973, (3, 1.0): 13842}  # means of 6 runs with the natural logarithm


def deviation(sample, mean, sd, runs):
    """How far a sample's mean is from a reference beyond the rounding of the latter, and the standard error.

    The larger of the two standard deviations stands for both: some come from events too rare for one of them.
    """
    sd = max(sd, sample.std(ddof=1))
    return max(abs(sample.mean() - mean) - 0.5, 0), sd * math.sqrt(1 / len(sample) + 1 / runs)


CELLS = [(s, i) for s in SETTINGS for i in range(len(EPSILONS))]


@pytest.mark.parametrize(("setting", "i"), CELLS)
@pytest.mark.parametrize(
    ("family", "reference", "runs"),
    [(AnytimeLazyUCB, LAZY_REFERENCE, 20_000), (DPSE, DPSE_REFERENCE, 10_000)],
    ids=["AnytimeLazyUCB", "DPSE"],
)
def test_final_regret_of_the_event_algorithms(family, reference, runs, setting, i):
    sample = regrets(family(EPSILONS[i]), SETTINGS[setting], HORIZON, 4000, seed=10 * setting + i)
    distance, error = deviation(sample, *reference[setting][i], runs)
    assert distance <= norm.isf(FALSE_ALARM / (2 * len(CELLS))) * error


@pytest.mark.parametrize("cell", HYBRID_REFERENCE)
def test_final_regret_of_hybrid_ucb(cell):
    """Six runs a cell, as each takes 0.2 s; with so few, Student's t."""
    setting, epsilon = cell
    sample = regrets(HybridUCB(epsilon), SETTINGS[setting], HORIZON, 6, seed=setting)
    mean, sd, runs = HYBRID_REFERENCE[cell]
    distance, error = deviation(sample, mean, sd, runs)
    assert distance <= t.isf(FALSE_ALARM / (2 * len(HYBRID_REFERENCE)), len(sample) + runs - 2) * error


@pytest.mark.parametrize("cell", HYBRID_NATURAL_LOG)
def test_final_regret_of_hybrid_ucb_with_the_natural_logarithm(cell):
    setting, epsilon = cell
    sample = regrets(HybridUCB(epsilon, log_base=math.e), SETTINGS[setting], HORIZON, 4, seed=setting)
    sd = HYBRID_REFERENCE[cell][1]  # not given for the natural logarithm: take that of base 2
    distance, error = deviation(sample, HYBRID_NATURAL_LOG[cell], sd, 6)
    assert distance <= t.isf(FALSE_ALARM / (2 * len(HYBRID_NATURAL_LOG)), len(sample) + 6 - 2) * error


# bad input


def assert_refused(call, shown):
    """ValueError or TypeError with one line that shows the value."""
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    message = str(caught.value)
    assert shown in message and "\n" not in message, message


@pytest.mark.parametrize("family", [AnytimeLazyUCB, HybridUCB, DPSE])
@pytest.mark.parametrize("epsilon", [0, -1, -0.0, math.nan, math.inf, -math.inf, "1", None, True, [1.0], 1j])
def test_bad_epsilon(family, epsilon):
    assert_refused(lambda: family(epsilon), repr(epsilon))
    assert_refused(lambda: family(epsilon), "epsilon")


@pytest.mark.parametrize("beta", [0, -0.1, 1.1, math.nan, math.inf, "0.1", True])
def test_bad_beta(beta):
    assert_refused(lambda: DPSE(1.0, beta), repr(beta))
    assert_refused(lambda: DPSE(1.0, beta), "beta")


@pytest.mark.parametrize("tree", ["Paper", "", "root-free", 0, None])
def test_unknown_tree(tree):
    assert_refused(lambda: HybridUCB(1.0, tree), repr(tree))


@pytest.mark.parametrize("log_base", [1, 0.5, 0, -2, math.nan, math.inf, "e", None])
def test_bad_log_base(log_base):
    assert_refused(lambda: HybridUCB(1.0, log_base=log_base), repr(log_base))


@every_algorithm
def test_bad_means(algorithm):
    def run(means):
        return algorithm.pull_counts(means, [100], np.random.default_rng(0))

    for wrong, shown in [
        ((0.5, 1.5), "1.5"),
        ((-0.1, 0.5), "-0.1"),
        ((0.5, math.nan), "nan"),
        ((0.5, math.inf), "inf"),
        ((0.5,), "(1,)"),
        ((), "(0,)"),
        (((0.5, 0.5),), "(1, 2)"),
        (("a", "b"), "('a', 'b')"),
        (((0.5,), (0.5, 0.5)), "0.5"),
    ]:
        assert_refused(lambda wrong=wrong: run(wrong), shown)
        assert_refused(lambda wrong=wrong: run(wrong), "means")


@every_algorithm
def test_bad_horizons(algorithm):
    def run(horizons):
        return algorithm.pull_counts(FIVE, horizons, np.random.default_rng(0))

    for wrong, shown in [
        ([4], "4"),
        ([1, 2, 3], "3"),
        ([10, 10], "[10, 10]"),
        ([20, 10], "[20, 10]"),
        ([0, 10], "[0, 10]"),
        ([-5, 10], "[-5, 10]"),
        ([10.0], "10.0"),
        ([], "[]"),
        (10, "10"),
        ([[10, 20]], "[[10, 20]]"),
        (["10"], "10"),
    ]:
        assert_refused(lambda wrong=wrong: run(wrong), shown)


@every_algorithm
def test_bad_reward_tables(algorithm):
    def put(value):
        rewards = np.full((6, 2), 0.5)
        rewards[3, 1] = value
        return rewards

    for wrong, shown in [
        ([[0.5, 0.5], [0.5]], "rows equally long"),
        ([["a", "b"], ["c", "d"]], "numbers"),
        (put(math.nan), "nan in row 3, column 1"),
        (put(1.001), "1.001 in row 3, column 1"),
        (put(-1e-9), "-1e-09 in row 3, column 1"),
        (np.zeros(10), "(10,)"),
        (np.zeros((10, 1)), "(10, 1)"),
        (np.zeros((2, 3)), "(2, 3)"),
        (np.zeros((0, 0)), "(0, 0)"),
    ]:
        assert_refused(lambda wrong=wrong: algorithm.play(wrong, np.random.default_rng(0)), shown)


def test_tables_of_any_layout_and_type_are_read_alike():
    rewards = table("bernoulli", 500, 0)
    for algorithm in ALL:
        a = algorithm.play(rewards, np.random.default_rng(0))
        for other in (np.asfortranarray(rewards), rewards.astype(int), rewards.tolist()):
            assert (a == algorithm.play(other, np.random.default_rng(0))).all()
