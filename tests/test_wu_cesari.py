"""wu2026 and cesari2026 by exact values and bounds: identities, closed forms and the arguments they show."""

import math
from itertools import product

import numpy as np
import pytest

from privregret import exact, instances
from privregret.bounds import cesari2026, wu2026
from privregret.full_information import FTNL, EpochLeader, RandomPrefixSoftmax
from privregret.privacy.prefix import loss_by_position

GAPS = 2.0 ** -np.arange(5)


def multi_scale(log_actions, losses=instances.deterministic_losses):
    """K^(1 - i / 6) actions of gap 2^-i: every epoch is expensive."""
    return losses((0.0, *GAPS), log_counts=(0.0, *(log_actions * (1 - np.arange(5) / 6))))


@pytest.mark.parametrize("log_actions", [2.0, 30.0, 300.0])
def test_random_prefixes_pay_the_entropy_once(log_actions):
    """With deterministic losses F_m is decreasing, so 4 sum F_m <= 4 ln K / eta, and close to it when eta is small."""
    for problem in (
        multi_scale(log_actions),
        instances.deterministic_losses((0.0, 1.0), log_counts=(0.0, log_actions)),
    ):
        algorithm = RandomPrefixSoftmax(0.02)
        regret = exact.expected_regret(algorithm, problem, 2**60).value[0]
        paid = 4 * problem.log_actions / algorithm.eta
        assert 0.98 * paid < regret <= 1 + paid


@pytest.mark.parametrize("noise", ["laplace", "exponential", "gumbel"])
def test_no_second_logarithm_on_the_multi_scale_instance(noise):
    ratio = [
        exact.expected_regret(FTNL(0.05, noise), multi_scale(log_k), 2**60).value[0]
        * 0.05
        / multi_scale(log_k).log_actions
        for log_k in (3.0, 10.0, 30.0, 100.0, 300.0)
    ]
    assert 4 < min(ratio) and max(ratio) < 8  # a second logarithm would multiply them by 100


def test_epoch_costs_are_below_what_they_take_off_the_potential():
    scale, problem = 20.0, multi_scale(12.0)
    counts = np.array(problem.log_counts)
    for n in 2 ** np.arange(0, 14):
        cost = 2 * n * exact.expected_gap(problem, int(n), "gumbel", scale)[0]
        phi = [np.logaddexp.reduce(counts - s * problem.gaps / scale) for s in (n / 2, n)]
        assert cost <= 4 * scale * (phi[0] - phi[1]) * (1 + 1e-9)


def test_tally_by_rank_is_the_sum_over_actions():
    gap, sizes = np.array([0.0, 0.1, 0.5, 1.0]), np.array([1, 9, 290, 1700])
    rank = np.arange(1, 2001)
    for n in (1, 20, 200):
        tail = np.exp(-n * np.repeat(gap, sizes) * 0.1 / 2)
        direct = np.add.reduceat(np.minimum(1 / rank, tail), np.cumsum(sizes) - sizes)
        # a sum of 1/j and the integral of 1/x between the same ranks are within 1/(first rank)
        np.testing.assert_allclose(
            wu2026.by_rank(np.log(sizes), -n * gap * 0.1 / 2)[1:], direct[1:], atol=0.5, rtol=0.02
        )
    assert wu2026.by_rank([0.0, 300.0], [0.0, 0.0])[1] == pytest.approx(300)


def test_prefix_identity():
    problem = instances.bernoulli_losses((0.2, 0.45, 0.9), (1, 3, 6))
    algorithm = RandomPrefixSoftmax(0.15)
    errors = exact.prefix_gaps(problem, range(1, 65), "gumbel", 1 / algorithm.eta)
    mean = problem.gaps @ problem.counts / 10
    for R in range(0, 8):
        regret = exact.expected_regret(algorithm, problem, 2 ** (R + 1) - 1).value[0]
        total = mean + 2 * errors[0] * (R >= 1) + 4 * errors[1 : 2 ** max(R - 1, 0)].sum()
        assert regret == pytest.approx(total, rel=1e-10)


def test_selection_error_of_losses_that_are_not_bits():
    """It rises at a temperature that the algorithm never has, and falls at those that it has."""
    hot = exact.prefix_gaps(instances.TWO_ACTION_FIXED, range(0, 10), "gumbel", 1 / 50)
    np.testing.assert_allclose(hot[:4], [0.03, 0.0477, 0.0384, 0.0307], atol=6e-5)
    np.testing.assert_allclose(hot[[7, 9]], [0.0127, 0.0261], atol=6e-5)
    cold = exact.prefix_gaps(instances.TWO_ACTION_FIXED, range(0, 13), "gumbel", 8.0)
    assert (np.diff(cold) < 0).all()


def naive_privacy(n, eta):
    """Largest log-ratio by position over 2 eta, over all pairs of 0/1 tables of two actions: random prefixes."""

    def law(table):
        lengths = range(n // 2 + 1, n + 1) if n > 1 else (1,)
        p = [1 / (1 + math.exp(eta * sum(b - a for a, b in table[:m]))) for m in lengths]
        return np.array([sum(p) / len(p), 1 - sum(p) / len(p)])

    rows = list(product((0, 1), repeat=2))
    worst = np.zeros(n)
    for table in product(rows, repeat=n):
        for s, row in product(range(n), rows):
            other = (*table[:s], row, *table[s + 1 :])
            worst[s] = max(worst[s], np.abs(np.log(law(table) / law(other))).max() / (2 * eta))
    return worst


def test_privacy_by_position():
    for n, eta, known in (
        (2, 0.05, [0.5125] * 2),
        (4, 0.125, [0.5768, 0.5768, 0.5768, 0.2960]),
        (4, 0.5, [0.7623, 0.7623, 0.7623, 0.4031]),
    ):
        shares = loss_by_position(n, eta) / (2 * eta)
        np.testing.assert_allclose(shares, naive_privacy(n, eta), rtol=1e-9)
        np.testing.assert_allclose(shares, known, atol=6e-5)
    with pytest.raises(ValueError, match="too many data sets"):
        loss_by_position(16, 0.1)


def test_exponential_noise_of_half_the_scale_is_half_as_private():
    """Sums (1, 1) and (0, 2) differ by one round of data; the probability of action 2 falls by e^(2 epsilon)."""
    for epsilon in (0.1, 1.0):
        p, q = (
            exact.fixed_scores(sums, [0.0, 0.0], "exponential", 1 / epsilon)[1] for sums in ([1.0, 1.0], [0.0, 2.0])
        )
        assert math.log(p / q) == pytest.approx(2 * epsilon)
        assert FTNL(epsilon, "exponential", "wu2026").privacy == 2 * epsilon


def test_the_missing_half_breaks_the_printed_step():
    pair, n, gap, epsilon = instances.bernoulli_losses((0.2, 0.8)), 256, 0.6, 0.25
    selection = exact.selection_probabilities(pair, n, "gumbel", 2 / epsilon)
    p = selection.group[1]
    assert p - selection.error > 1.8 * (math.exp(-n * gap * epsilon / 2) + math.exp(-n * gap**2 / 4))
    assert p < math.exp(-n * gap * epsilon / 4) + math.exp(-n * gap**2 / 4)


def test_two_action_regrets():
    """Known values at T = 2^16 - 1, Gumbel noise and none: as it is, resampled."""
    expected = {
        (0.1, "printed"): (40.93, 59.12),
        (10.0, "printed"): (1.98, 30.85),
        (math.inf, "printed"): (1.88, 30.85),
        (1.0, "fixed"): (5.40, 12.18),
        (math.inf, "fixed"): (2.57, 10.60),
    }
    for (epsilon, name), values in expected.items():
        problem = instances.TWO_ACTION_PRINTED if name == "printed" else instances.TWO_ACTION_FIXED
        pair = [
            EpochLeader(b) if epsilon == math.inf else FTNL(epsilon, "gumbel", bernoulli_resampling=b)
            for b in (False, True)
        ]
        for algorithm, value in zip(pair, values, strict=True):
            assert exact.expected_regret(algorithm, problem, 2**16 - 1).value[0] == pytest.approx(value, abs=0.006)


def test_lemma_1_and_its_need_for_independence():
    rng = np.random.default_rng(0)
    for _ in range(60):
        problem = instances.bernoulli_losses(np.sort(rng.random(4)), rng.integers(1, 30, 4))
        noise = ("laplace", "exponential", "gumbel")[rng.integers(3)]
        p = np.exp(
            exact.selection_probabilities(
                problem, int(rng.integers(1, 60)), noise, float(np.exp(rng.uniform(-1, 3)))
            ).log_action
        )
        assert (np.diff(p) <= 1e-9).all()
        assert (p * np.cumsum(problem.counts) <= 1 + 1e-9).all()
    copies = np.exp(exact.selection_probabilities(instances.DEPENDENT_COPIES, 1, "gumbel", 0.5).log_action)
    np.testing.assert_allclose(copies, [0.3130, 0.3740], atol=6e-5)


def test_corollary_2_with_and_without_resampling():
    known = {0.1: (0.358, 7.10), 0.02: (0.390, 36.04)}
    for gap, values in known.items():
        problem = instances.deterministic_losses((0.5, 0.5 + gap))
        for resampling, value in zip((False, True), values, strict=True):
            regret = exact.expected_regret(FTNL(10.0, "gumbel", bernoulli_resampling=resampling), problem, 2**50).value[
                0
            ]
            assert regret == pytest.approx(value, abs=0.006 if resampling else 0.0006)


def test_lemma_3s_best_constant_is_approached():
    def worst(log_k):
        sizes = np.array([0.0, log_k + math.log1p(-math.exp(-log_k))])
        return max(wu2026.lemma_3((0.0, 2.0 ** (phase - 5)), sizes) for phase in np.linspace(0, 1, 65))

    assert worst(math.log(10)) == pytest.approx(1.443, abs=0.03)
    assert worst(math.log(1e100)) == pytest.approx(1.950, abs=0.005)
    assert 1.98 < worst(3000.0) < 2


def test_drift_of_the_potential():
    """E[log Z'] <= log Z - (7/8) eta V for gaps above 4 eta, by enumeration of one round's bits; the paper uses 1/4."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        k, eta = int(rng.integers(2, 6)), float(rng.uniform(0.005, 0.125))
        gaps = rng.uniform(4 * eta, 1, k - 1)
        best = rng.uniform(0, 1 - gaps.max())
        means = np.concatenate([[best], best + gaps])
        state = np.concatenate([[0.0], rng.normal(0, 2 / eta, k - 1)])
        now, expected = np.logaddexp.reduce(-eta * state), 0.0
        for bits in product((0, 1), repeat=k):
            weight = np.prod(np.where(bits, means, 1 - means))
            after = state + np.array(bits) - bits[0]
            expected += weight * np.logaddexp.reduce(-eta * after)
        v = np.exp(-eta * state[1:] - now) @ gaps
        assert expected <= now - 7 / 8 * eta * v + 1e-12


@pytest.mark.parametrize("kind", ["antithetic", "comonotone"])
def test_theorem_1_needs_no_independent_actions(kind):
    known = {
        (0.1, 0.05): {"antithetic": 79.87, "comonotone": 56.33},
        (0.25, 0.2): {"antithetic": 27.41, "comonotone": 22.69},
    }
    for (epsilon, gap), values in known.items():
        algorithm = RandomPrefixSoftmax(epsilon)
        regret = exact.expected_regret(algorithm, instances.dependent(kind, gap), 2**60).value[0]
        assert regret == pytest.approx(values[kind], abs=0.006)
        assert regret < cesari2026.theorem_1(math.log(2), gap, algorithm.eta)


def test_the_cap_makes_epsilon_above_a_quarter_useless():
    problem = instances.bernoulli_losses((0.45, 0.55), (1, 99))
    regrets = [exact.expected_regret(RandomPrefixSoftmax(epsilon), problem, 2**40).value[0] for epsilon in (0.25, 4.0)]
    assert regrets[0] == regrets[1] == pytest.approx(180.27, abs=0.006)
    assert exact.expected_regret(RandomPrefixSoftmax(4.0, cap=math.inf), problem, 2**40).value[0] == pytest.approx(
        74.64, abs=0.006
    )
