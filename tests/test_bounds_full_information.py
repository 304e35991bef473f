"""Bounds of hu2021 (Sections 5 and H), wu2026 and cesari2026: known values, and exact regrets on the right
side of them."""

import math

import numpy as np
import pytest

from privregret import exact, instances
from privregret.bounds import cesari2026, hu2021, wu2026
from privregret.full_information import FTNL, EpochLeader, NaiveFTNL, RandomPrefixSoftmax

FOREVER = 2**45


def regret(algorithm, instance, horizon=FOREVER):
    return float(exact.expected_regret(algorithm, instance, horizon).value[0])


def lnk(instance):
    return instance.log_actions


def smallest_gap(instance):
    return instance.gaps[instance.gaps > 0].min()


INSTANCES = [
    instances.packing(2, 0.02),
    instances.packing(1000, 0.2),
    instances.packing(10**6, 0.5),
    instances.doubling(7),
    instances.doubling(6, 50),
    instances.doubling(5, log_per_bracket=300.0),
    instances.cyclic(100, 0.05),
    instances.cyclic(10**6, 0.05, bernoulli=True),
    instances.bernoulli_losses((0.0, 0.05, 1.0), (1, 1, 10**6)),
    instances.deterministic_losses((0.0, 1.0), log_counts=(0.0, 200.0)),
    instances.bernoulli_losses((0.01, 0.02, 0.04, 0.16, 0.64), (1, 3, 27, 243, 10**4)),
]
EPSILONS = (0.02, 0.25, 1.0, 20.0)


def test_brackets_partition_the_suboptimal_actions():
    gap, sizes = hu2021.brackets([0, 0.1, 0.15, 0.2, 0.79, 0.8], np.log([1, 2, 3, 4, 5, 6]))
    np.testing.assert_allclose(gap, [0.1, 0.2, 0.4, 0.8])
    np.testing.assert_allclose(np.exp(sizes), [5, 4, 5, 6])
    for brackets in range(1, 12):
        gap, sizes = hu2021.brackets(instances.doubling(brackets, 3).gaps, np.log([1, *[3] * brackets]))
        assert len(gap) == brackets and np.exp(sizes) == pytest.approx(3)


@pytest.mark.parametrize("instance", INSTANCES, ids=lambda i: i.name)
def test_upper_bounds_hold(instance):
    gaps, counts, gap = instance.gaps, instance.log_counts, smallest_gap(instance)
    for epsilon in (0.05, 1.0, 20.0):
        for scale in ("hu2021", "corrected"):
            found = regret(FTNL(epsilon, "laplace", scale), instance)
            assert (
                found
                <= hu2021.theorem_7(gaps, counts, epsilon)
                <= hu2021.theorem_7_middle(gaps, counts, epsilon) * (1 + 1e-12)
            )
            if gaps.max() <= epsilon:
                assert found <= hu2021.corollary_8_small_gaps(gaps, counts)
            if gaps.max() <= 2 * gap:
                assert found <= hu2021.corollary_8_equal_gaps(lnk(instance), gap, epsilon)
            for horizon in (10, 10**4, 10**8):
                assert regret(FTNL(epsilon, "laplace", scale), instance, horizon) <= hu2021.corollary_9(
                    lnk(instance), horizon, epsilon
                )
        for noise in ("laplace", "exponential", "gumbel"):
            found = regret(FTNL(epsilon, noise, "wu2026", True), instance)
            assert found <= wu2026.theorem_2(lnk(instance), gap, epsilon, noise)
            if not instance.bits and noise != "laplace":
                for factor in (1.0, 2.0):
                    found = regret(FTNL(epsilon, noise, factor), instance)
                    sharp = wu2026.theorem_4_instance(gaps, counts, factor / epsilon)
                    assert found <= sharp <= wu2026.theorem_4(lnk(instance), epsilon, noise, factor)
                    assert found <= wu2026.theorem_4(lnk(instance), epsilon, noise, factor, "corrected")
        for prefix in ("random", "full") if epsilon < 2 else ("full",):  # the cap makes large epsilons all the same
            algorithm = RandomPrefixSoftmax(epsilon, prefix)
            found = regret(algorithm, instance)
            assert found <= cesari2026.theorem_1(lnk(instance), gap, algorithm.eta)
            assert found <= cesari2026.theorem_1_steps(lnk(instance), gap, epsilon)
            assert found <= cesari2026.theorem_1_simple(lnk(instance), gap, epsilon)


def test_pointwise_bounds_hold():
    for means in ((0.3, 0.5, 0.8), (0.45, 0.5, 0.55)):
        instance = instances.bernoulli_losses(means, (1, 40, 3))
        for epsilon in EPSILONS:
            for noise in ("laplace", "exponential", "gumbel"):
                for rounds in (1, 8, 64, 1024):
                    one = np.exp(exact.selection_probabilities(instance, rounds, noise, 2 / epsilon).log_action)
                    assert (one[1:] <= wu2026.selection(rounds, instance.gaps[1:], epsilon, noise)).all()
                    assert (one[1:] <= one[:1]).all() and (np.diff(one) <= 0).all()  # Lemma 1
                    fixed = np.exp(exact.fixed_scores(rounds * instance.means, instance.log_counts, noise, 2 / epsilon))
                    if (noise, 2.0) in wu2026.COROLLARY_2:
                        bound = wu2026.deterministic_selection(rounds, instance.gaps, epsilon, noise, 2.0)
                        assert (np.log(fixed) / np.exp(instance.log_counts) <= bound)[1:].all()
            eta = min(epsilon / 2, 0.125)
            small = (instance.gaps <= 4 * eta) & (instance.gaps > 0)
            for rounds in (1, 30, 500):
                one = np.exp(exact.selection_probabilities(instance, rounds, "gumbel", 1 / eta).log_action)
                assert (one[small] <= cesari2026.small_gap(rounds, instance.gaps[small])).all()


def test_lemma_13_against_the_exact_probability():
    for epsilon in (0.1, 1.0):
        for scale in (1.0, 2.0):
            for gap in (0.05, 0.3, 0.6):
                pair = instances.bernoulli_losses((0.2, 0.2 + gap))
                for rounds in 2 ** np.arange(0, 14):
                    p = exact.selection_probabilities(pair, int(rounds), "laplace", scale / epsilon).group[1]
                    assert p <= hu2021.lemma_13(gap, rounds, epsilon)


PRIVATE = [
    lambda e, n=n, b=b: FTNL(e, n, "corrected", b) for n in ("laplace", "exponential", "gumbel") for b in (False, True)
]
PRIVATE += [
    RandomPrefixSoftmax,
    lambda e: RandomPrefixSoftmax(e, cap=math.inf),
    lambda e: RandomPrefixSoftmax(e, "full"),
    NaiveFTNL,
]


@pytest.mark.parametrize("log_actions", [math.log(6), math.log(100), math.log(10**6), 40.0])
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2.0])
def test_theorem_3_holds_for_private_algorithms_only(log_actions, epsilon):
    horizons = np.array([1, 2, 3, 7, 20, 100, 1000, 2**14, 2**20])
    bounds = [
        wu2026.theorem_3(log_actions, epsilon, horizons),
        wu2026.theorem_3_sharp(log_actions, epsilon, horizons),
    ]
    assert (bounds[0] <= bounds[1] + 1e-12).all()
    for gap in (0.05, 0.5):
        instance = instances.cyclic(None, gap, log_actions=log_actions)
        for make in PRIVATE:
            algorithm = make(epsilon)
            assert algorithm.privacy <= epsilon * (1 + 1e-12)
            found = exact.expected_regret(algorithm, instance, horizons)
            assert (found.value + found.error >= bounds[1]).all(), algorithm
        if bounds[1][-1] > 1:  # a leader that is not private pays the first round only, and goes below
            leader = exact.expected_regret(EpochLeader(), instance, horizons).value
            assert (leader < bounds[1]).any()


def test_theorem_3_known_values():
    expected = {
        (0.1, 10): (9.195, 10.123),
        (0.1, 10**4): (80.116, 81.615),
        (1, 100): (2.538, 3.973),
        (1, 10**6): (11.717, 13.217),
    }
    for (epsilon, actions), (printed, sharp) in expected.items():
        assert wu2026.theorem_3(math.log(actions), epsilon, 2**24 - 1) == pytest.approx(printed, abs=6e-4)
        assert wu2026.theorem_3_sharp(math.log(actions), epsilon, 2**24 - 1)[0] == pytest.approx(sharp, abs=6e-4)
        rounds = np.arange(1, 10**5)
        by_rounds = wu2026.theorem_3_rounds(math.log(actions), epsilon, rounds).sum()
        assert by_rounds == pytest.approx(sharp, abs=6e-4)
    with pytest.raises(ValueError, match="6 actions"):
        wu2026.theorem_3(math.log(5), 1.0, 10)


def test_deterministic_regrets_known_values():
    expected = {
        (0.1, 10): (132.18, 110.61, 65.74, 54.96),
        (0.1, 10**6): (844.24, 808.60, 421.62, 403.80),
        (1, 100): (25.71, 23.27, 12.39, 11.17),
    }
    kinds = [("gumbel", 2.0), ("exponential", 2.0), ("gumbel", 1.0), ("exponential", 1.0)]
    for (epsilon, actions), values in expected.items():
        for (noise, factor), value in zip(kinds, values, strict=True):
            found = regret(FTNL(epsilon, noise, factor), instances.cyclic(actions, 0.05), 2**24 - 1)
            assert found == pytest.approx(value, abs=6e-3)


def test_two_action_examples_known_values():
    for instance, raw, resampled in (
        (instances.TWO_ACTION_PRINTED, 0.2, 0.49),
        (instances.TWO_ACTION_FIXED, 0.8, 0.47),
    ):
        for algorithm, expected in ((EpochLeader(), raw), (EpochLeader(True), resampled)):
            three = exact.expected_regret(algorithm, instance, [1, 3]).value
            assert np.diff(three)[0] / (2 * instance.gaps.max()) == pytest.approx(expected, abs=1e-9)
    expected = {0.1: (40.93, 59.12), 1.0: (5.07, 31.57), 10.0: (1.98, 30.85)}
    for epsilon, values in expected.items():
        for bits, value in zip((False, True), values, strict=True):
            found = regret(FTNL(epsilon, "gumbel", bernoulli_resampling=bits), instances.TWO_ACTION_PRINTED, 2**16 - 1)
            assert found == pytest.approx(value, abs=6e-3)
    for bits, value in ((False, 1.951), (True, 1.163)):
        assert regret(EpochLeader(bits), instances.TWO_ACTION_GAIN, 2**14 - 1) == pytest.approx(value, abs=6e-4)


def test_random_prefix_known_values():
    cases = [
        (instances.bernoulli_losses((0.49, 0.51)), 0.02, 303.77, 219.13),
        (instances.bernoulli_losses((0.25, 0.75), (1, 10**6 - 1)), 0.02, 5535.86, 4045.23),
        (instances.deterministic_losses((0, 1), (1, 10**6 - 1)), 100.0, 439.10, 280.51),
        (instances.bernoulli_losses((0, 0.05, 1), (1, 1, 10**6 - 2)), 0.1, 1102.90, 863.47),
    ]
    for instance, epsilon, random, full in cases:
        assert regret(RandomPrefixSoftmax(epsilon), instance) == pytest.approx(random, abs=0.02)
        assert regret(RandomPrefixSoftmax(epsilon, "full"), instance) == pytest.approx(full, abs=0.02)


def test_lemma_5_and_its_parts():
    worst_small = worst_large = 0.0
    for eta in (0.01, 0.125):
        for gap in (0.5 * eta, 4 * eta, 4.001 * eta):
            pair = instances.bernoulli_losses((0.5 - gap / 2, 0.5 + gap / 2))
            mask = pair.gaps > 4 * eta * (1 + 1e-12)
            small, large = (exact.prefix_sum(pair, "gumbel", 1 / eta, m)[0] for m in (~mask, mask))
            assert small <= cesari2026.small_part(math.log(2), gap) and large <= cesari2026.large_part(math.log(2), eta)
            assert small + large <= cesari2026.lemma_5(math.log(2), gap, eta)
            worst_small = max(worst_small, small / (math.log(2) / gap))
            worst_large = max(worst_large, large / (math.log(2) / eta))
    assert worst_small == pytest.approx(4.185, abs=0.01)  # what an independent computation found worst
    assert worst_large == pytest.approx(1.046, abs=0.01)


def test_small_lemmas():
    grid = cesari2026.lemma_2(np.linspace(1e-3, 1, 1000), np.arange(20), np.arange(2, 1000))
    assert all(0 < ratio <= 1 for ratio in grid.values())
    assert grid["v"] == pytest.approx(math.log(3) / (2 * math.log(2)))
    worst = 0.0
    for mean in (0.02, 0.1, 0.5, 1.0):
        rounds = np.arange(1, 1001)
        ratio = cesari2026.lemma_1_signs(rounds, mean) / cesari2026.lemma_1(rounds, mean)
        worst = max(worst, ratio.max())
    assert 0.5 < worst <= 0.741
    rng = np.random.default_rng(0)
    top = 0.0
    for _ in range(200):
        a = np.concatenate([[0.0], rng.exponential(1.0, 6) * 2.0 ** rng.integers(-3, 5)])
        f, slope = wu2026.lemma_2(a, np.zeros(7), 0.7)
        h = 1e-5
        numeric = (wu2026.lemma_2(a, np.zeros(7), 0.7 + h)[0] - wu2026.lemma_2(a, np.zeros(7), 0.7 - h)[0]) / (2 * h)
        assert slope == pytest.approx(numeric, abs=1e-6) and slope <= math.log(2) * f + 1e-12
        top = max(top, wu2026.lemma_3(a, np.zeros(7)))
    assert 1 < top <= 2
    assert wu2026.LEMMA_3["printed"] == pytest.approx(4.885, abs=1e-3) and wu2026.LEMMA_3["corrected"] == pytest.approx(
        2.4427, abs=1e-4
    )


def test_remark_4_needs_ever_larger_constants():
    expected = {(9, 2048): 3.2e4, (16, 512): 9.4e4, (32, 256): 5.3e3}
    for (c2, rounds), value in expected.items():
        limit = wu2026.remark_4_limit(rounds, 0.11, 0.1, 2.0, c2)
        assert math.exp(limit) == pytest.approx(value, rel=0.02)
        assert wu2026.remark_4(2000.0, rounds, 0.11, 0.1, 2.0, c2) == pytest.approx(limit, abs=1e-6)
    # the finite value is the exact selection probability over the conjectured bound
    instance = instances.bernoulli_losses((0.0, 0.11, 1.0), log_counts=(0.0, 0.0, 12.0))
    p = exact.selection_probabilities(instance, 256, "gumbel", 20.0).log_action[1]
    hot = 4 * 0.1 / 16 * 256
    weights = np.array([0.0, -hot * 0.11, 12.0 - hot])
    assert wu2026.remark_4(12.0, 256, 0.11, 0.1, 2.0, 16) == pytest.approx(
        p - (weights[1] - np.logaddexp.reduce(weights)), abs=1e-9
    )


def test_packing_lower_bounds():
    for actions in (4, 100, 10**6):
        log_actions = math.log(actions)
        for epsilon in (0.01, 0.1):
            for gap in (0.05, 0.4):
                rounds = int(hu2021.theorem_10_rounds(log_actions, gap, epsilon))
                instance = instances.packing(actions, gap)
                for algorithm in (FTNL(epsilon), FTNL(epsilon, "gumbel"), RandomPrefixSoftmax(epsilon)):
                    if rounds >= 1:
                        assert regret(algorithm, instance, rounds) >= hu2021.theorem_10(log_actions, epsilon)
                for n in (1, max(rounds, 1), 20 * max(rounds, 1)):
                    error = 1 - exact.selection_probabilities(instance, n, "laplace", 2 / epsilon).group[0]
                    assert error >= hu2021.selection_error(log_actions, n, gap, epsilon)
        # the leader is not private, and errs less than every private selector must
        n = int(200 / 0.4**2) + 100
        leader = 1 - exact.selection_probabilities(instances.packing(actions, 0.4), n, "none", 1.0).group[0]
        assert leader < hu2021.selection_error(log_actions, n, 0.4, 1e-5)
