"""Exact selection probabilities and regrets: closed forms, published-to-ten-digits values,
enumeration, simulation."""

import math
from dataclasses import replace

import numpy as np
import pytest
from conftest import refused
from naive import full_information as naive
from scipy.integrate import quad
from scipy.stats import binom, norm

from privregret import exact, instances
from privregret.bandits import UCB1
from privregret.core.noise import CODES
from privregret.exact import selection
from privregret.exact.binomial import atoms
from privregret.full_information import (
    FTNL,
    DecreasingHedge,
    EpochLeader,
    FollowTheLeader,
    RandomPrefixSoftmax,
)

NOISES = ("laplace", "exponential", "gumbel")
FOUR = instances.bernoulli_losses((0.3, 0.5, 0.8), (1, 2, 1))

# Probabilities of one action of each group of FOUR, computed once by an independent program
# (lattice recursions, 24 nodes a cell).
VECTORS = {
    ("laplace", 2, 1): (0.2823764927, 0.2529540886, 0.2117153301),
    ("laplace", 2, 8): (0.4741081278, 0.2306569848, 0.0645779025),
    ("laplace", 2, 64): (0.9467656882, 0.0266160791, 2.1536e-6),
    ("exponential", 1, 1): (0.3203898248, 0.2541979980, 0.1712141792),
    ("exponential", 1, 8): (0.6096104079, 0.1864793174, 0.0174309573),
    ("exponential", 1, 64): (0.9777740317, 0.0111129837, 9.7453e-10),
    ("exponential", 2, 1): (0.2875367301, 0.2529722239, 0.2065188222),
    ("exponential", 2, 8): (0.5134578397, 0.2158275005, 0.0548871593),
    ("exponential", 2, 64): (0.9638329804, 0.0180829961, 1.0273e-6),
    ("gumbel", 2, 1): (0.2782198319, 0.2526280502, 0.2165240677),
    ("gumbel", 2, 8): (0.4648381607, 0.2318124823, 0.0715368746),
    ("gumbel", 2, 64): (0.9521674974, 0.0239153254, 1.8518e-6),
    ("gumbel", 1, 1): (0.3051461968, 0.2542473850, 0.1863590332),
    ("gumbel", 1, 8): (0.5778654325, 0.1992246540, 0.0236852596),
    ("gumbel", 1, 64): (0.9752050179, 0.0123974902, 1.6761e-9),
}


@pytest.mark.parametrize("case", VECTORS)
def test_selection_agrees_with_independently_computed_values(case):
    noise, scale, rounds = case
    found = np.exp(exact.selection_probabilities(FOUR, rounds, noise, scale).log_action)
    for value, expected in zip(found, VECTORS[case], strict=True):
        digit = (
            1e-10 if expected > 1e-5 else 10 ** (math.floor(math.log10(expected)) - 4)
        )  # the last digit given
        assert abs(value - expected) <= 0.51 * digit


def test_a_billion_actions():
    groups = instances.bernoulli_losses((0.1, 0.15, 0.9), (1, 10, 10**9))
    expected = {
        "exponential": (0.637640394, 0.0362359605, 7.06273534e-19),
        "laplace": (0.564446850, 0.0435553149, 8.36733919e-19),
        "gumbel": (0.527001538, 0.0472998461, 9.69358087e-19),
    }
    for noise, values in expected.items():
        selection = exact.selection_probabilities(groups, 1024, noise, 20.0)
        np.testing.assert_allclose(np.exp(selection.log_action), values, rtol=1e-9)
        assert abs(selection.group.sum() - 1) <= selection.error


def test_regret_agrees_with_independently_computed_values():
    horizons = [*(2 ** np.arange(1, 10) - 1), 2**40]
    values = {
        FTNL(1.0): (
            0.225,
            0.639079,
            1.403255,
            2.714801,
            4.707629,
            7.259371,
            9.790343,
            11.153224,
            11.338092,
            11.339642,
        ),
        FTNL(1.0, "gumbel"): (
            0.225,
            0.643627,
            1.422460,
            2.772283,
            4.828178,
            7.404431,
            9.846372,
            11.070955,
            11.220763,
            11.221881,
        ),
        RandomPrefixSoftmax(0.2): (
            0.225,
            0.668632,
            1.543272,
            3.255138,
            6.532610,
            12.531479,
            22.551335,
            36.550317,
            50.599329,
        ),
    }
    for algorithm, expected in values.items():
        found = exact.expected_regret(algorithm, FOUR, horizons).value
        np.testing.assert_allclose(found[: len(expected)], expected, atol=6e-7)
    for algorithm, limit in (
        (FTNL(1.0, "exponential"), 9.640388),
        (FTNL(1.0, "exponential", "wu2026"), 7.096288),
        (FTNL(1.0, "gumbel", "wu2026-proofs"), 7.745391),
    ):
        assert exact.expected_regret(algorithm, FOUR, 2**40).value[0] == pytest.approx(
            limit, abs=6e-7
        )


def test_softmax_errors_agree_with_independently_computed_values():
    rounds = (1, 2, 3, 4, 8, 64)
    expected = {
        0.05: (0.2234069261, 0.2218202636, 0.2202401250, 0.2186666196, 0.2124410048, 0.1387315661),
        0.125: (0.2210217900, 0.2170887269, 0.2132023222, 0.2093639606, 0.1945142757, 0.0685602345),
    }
    for eta, values in expected.items():
        np.testing.assert_allclose(
            exact.prefix_gaps(FOUR, rounds, "gumbel", 1 / eta), values, atol=5.1e-11
        )


# Closed forms


@pytest.mark.parametrize("log_bad", [0.0, 3.0, 300.0, 5000.0])
def test_deterministic_losses_with_gumbel_noise_are_a_softmax(log_bad):
    for scale in (0.05, 2.0, 300.0):
        losses = instances.deterministic_losses((0.1, 0.3, 0.8), log_counts=(0.0, 1.5, log_bad))
        selection = exact.selection_probabilities(losses, 1000, "gumbel", scale)
        logits = np.array(losses.log_counts) - 1000 * np.array(losses.means) / scale
        np.testing.assert_allclose(
            selection.group, np.exp(logits - np.logaddexp.reduce(logits)), rtol=1e-12, atol=1e-300
        )


def test_bernoulli_losses_of_two_values_reach_the_softmax_in_the_limit():
    # means 0 and 1 are deterministic losses, so the binomial machinery must give the softmax too
    for scale in (0.5, 2.0, 50.0):
        bits = instances.bernoulli_losses((0.0, 1.0), log_counts=(math.log(3), 40.0))
        selection = exact.selection_probabilities(bits, 64, "gumbel", scale)
        logits = np.array(bits.log_counts) - np.array([0, 64 / scale])
        np.testing.assert_allclose(
            selection.group, np.exp(logits - np.logaddexp.reduce(logits)), atol=1e-12
        )


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("scale", [0.05, 0.7, 20.0])
def test_two_ways_to_the_same_deterministic_value(noise, scale):
    # fixed sums by panels between kinks, and the lattice with binomials that have one atom
    bits = instances.bernoulli_losses((0.0, 1.0), (2, 1000))
    fixed = replace(bits, bits=False)
    for rounds in (1, 16, 256):
        a, b = (exact.selection_probabilities(x, rounds, noise, scale).group for x in (bits, fixed))
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_permute_and_flip_is_a_polynomial_integral():
    sums, scale = np.array([0.0, 1.0, 1.0, 2.5]), 1.3
    q = np.exp(-sums / scale)
    nodes, weights = np.polynomial.legendre.leggauss(4)
    v, w = (nodes + 1) / 2, weights / 2
    expected = [
        q[j] * (w @ np.prod([1 - q[i] * v for i in range(4) if i != j], axis=0)) for j in range(4)
    ]
    np.testing.assert_allclose(
        exact.selection_from_sums(sums, np.zeros(4), "exponential", scale), expected, atol=1e-13
    )
    grouped = exact.selection_from_sums([0.0, 1.0, 2.5], np.log([1, 2, 1]), "exponential", scale)
    np.testing.assert_allclose(grouped, [expected[0], 2 * expected[1], expected[3]], atol=1e-13)


def test_two_actions_in_closed_form():
    d, b = 3.0, 2.0
    u = d / b
    closed = {
        "exponential": 0.5 * np.exp(-u),
        "laplace": 0.5 * np.exp(-u) * (1 + u / 2),
        "gumbel": 1 / (1 + np.exp(u)),
    }
    for noise, expected in closed.items():
        assert exact.selection_from_sums([0.0, d], [0.0, 0.0], noise, b)[1] == pytest.approx(
            expected, abs=1e-14
        )
        # a third action that hardly ever wins, so that the general integral is used
        assert exact.selection_from_sums([0.0, d, 200.0], [0.0, 0.0, 0.0], noise, b)[
            1
        ] == pytest.approx(expected, abs=1e-13)


def test_laplace_integral_against_scipy():
    sums, b = np.array([0.0, 0.4, 3.0]), 0.8
    cdf = lambda z: 0.5 * math.exp(z) if z < 0 else 1 - 0.5 * math.exp(-z)  # noqa: E731
    for j in range(3):
        others = [i for i in range(3) if i != j]
        f = lambda x, j=j, others=others: (  # noqa: E731
            0.5
            / b
            * math.exp(-abs(x + sums[j]) / b)
            * math.prod(cdf((x + sums[i]) / b) for i in others)
        )
        expected = quad(f, -40, 40, points=[-3.0, -0.4, 0.0], epsabs=1e-13, limit=400)[0]
        assert exact.selection_from_sums(sums, np.zeros(3), "laplace", b)[j] == pytest.approx(
            expected, abs=1e-12
        )


@pytest.mark.parametrize("noise", [*NOISES, "none"])
def test_small_cases_by_enumeration(noise):
    means = (0.2, 0.5, 0.5, 0.9)
    win = lambda sums: exact.selection_from_sums(sums, np.zeros(4), noise, 1.7)  # noqa: E731
    expected = naive.selection_by_enumeration(means, 3, win)
    found = exact.selection_probabilities(
        instances.bernoulli_losses((0.2, 0.5, 0.9), (1, 2, 1)), 3, noise, 1.7
    )
    np.testing.assert_allclose(np.exp(found.log_action), expected[[0, 1, 3]], atol=1e-12)


def test_no_data_selects_uniformly_and_no_noise_is_the_limit_of_little_noise():
    np.testing.assert_allclose(
        exact.selection_probabilities(FOUR, 0, "laplace", 1.0).group, [0.25, 0.5, 0.25], atol=1e-15
    )
    leader = exact.selection_probabilities(FOUR, 20, "none", 1.0).group
    for noise in ("exponential", "gumbel"):
        little = exact.selection_probabilities(FOUR, 20, noise, 0.02).group
        np.testing.assert_allclose(little, leader, atol=1e-12)


# Far out


def test_binomial_atoms_are_scipys_and_hold_up_where_scipys_cannot():
    for n, p in ((1, 0.3), (40, 0.01), (1000, 0.5), (10**6, 0.2)):
        first, mass = atoms(n, p, 1, 50, 50)
        np.testing.assert_allclose(
            mass, binom.pmf(first + np.arange(len(mass)), n, p), rtol=1e-8, atol=1e-40
        )
    n, p, step = 2**60, 0.3, 2**16
    first, mass = atoms(n, p, step, 50, 50)
    away = (first + np.arange(len(mass))).astype(float) * step - n * p
    sd = math.sqrt(n * p * (1 - p))
    assert abs(mass @ away) < 1e-6 * sd
    assert mass @ away**2 == pytest.approx(sd**2, rel=1e-6)
    assert mass @ away**3 == pytest.approx((1 - 2 * p) * sd**2, rel=1e-2, abs=1e-6 * sd**3)


@pytest.mark.parametrize("noise", NOISES)
def test_two_to_the_sixty_rounds_meet_the_normal_limit(noise):
    n, z = 2**60, 1.25
    gap = z * math.sqrt(0.5 / n)
    pair = instances.bernoulli_losses((0.5 - gap / 2, 0.5 + gap / 2))
    selection = exact.selection_probabilities(
        pair, n, noise, 2.0
    )  # noise that is negligible next to a deviation of 2^29
    assert selection.group[1] == pytest.approx(norm.sf(z), abs=selection.error + 1e-9)
    assert selection.error < 1e-6


def on_a_lattice(rounds, means, log_counts, noise, scale, step):
    """Selection probabilities with a lattice step of one's own."""
    every = np.ones((1, len(means)), bool)
    one = np.array([rounds]), means, log_counts, every, np.array([CODES[noise]])
    return selection._binomial(*one, np.array([step]), np.array([scale / step]))[0]


@pytest.mark.parametrize("noise", NOISES)
def test_wide_steps_agree_with_unit_steps(noise):
    pair = instances.bernoulli_losses((0.499, 0.5, 0.6), (1, 3, 50))
    means, counts = np.array([0.499, 0.5, 0.6]), np.log([1.0, 3, 50])
    fine = on_a_lattice(10**6, means, counts, noise, 300.0, 1)
    for step in (2, 4):
        np.testing.assert_allclose(
            on_a_lattice(10**6, means, counts, noise, 300.0, step), fine, atol=1e-9
        )
    assert (
        np.abs(exact.selection_probabilities(pair, 10**6, noise, 300.0).group - fine).max() < 1e-9
    )


@pytest.mark.parametrize("step", range(1, 13))
def test_a_window_of_gumbel_noise_that_ends_at_a_place_up_to_rounding(step):
    """4.5 scales are 180 steps up to rounding: the first atom once met noise of the last place."""
    means, counts = np.array([0.45, 0.5]), np.zeros(2)
    found = on_a_lattice(4096, means, counts, "gumbel", np.nextafter(40.0, 0.0), step)
    np.testing.assert_allclose(found, [0.98910805, 0.01089195], atol=1e-8)


@pytest.mark.parametrize("log_count", [0.0, 3.0, 30.0])
def test_noise_far_below_the_spread_is_that_of_a_fine_lattice(log_count):
    rounds, counts = 2**32, np.array([0.0, log_count])
    gap = 2**-17 * max(1.0, math.sqrt(2 * log_count))
    losses = instances.bernoulli_losses((0.5 - gap, 0.5), log_counts=(0.0, log_count))
    found = exact.selection_probabilities(losses, rounds, "gumbel", 40.0)
    fine = on_a_lattice(rounds, np.array(losses.means), counts, "gumbel", 40.0, 10)
    assert 0.1 < fine[1] < 0.9
    assert 0 < np.abs(found.group - fine).max() <= found.error < 1e-7


@pytest.mark.parametrize(("rounds", "scale"), [(2**29, 0.622), (2**33, 26.0), (2**37, 160.0)])
@pytest.mark.parametrize("mean", [0.01, 0.1, 0.5, 0.9])
def test_extrapolated_probabilities_are_those_of_a_fine_lattice(rounds, scale, mean):
    """With groups that are hardly ever selected. Their probabilities, rounding errors of 1e-300 to
    1e-13, once were extrapolated to 1."""
    counts = np.array([0.0, 16.2, 1.9, 19.8])
    means = mean + math.sqrt(mean * (1 - mean) / rounds) * np.array([10.7, 0.0, 35.1, 31.6])
    losses = instances.bernoulli_losses(tuple(means), log_counts=tuple(counts))
    found = exact.selection_probabilities(losses, rounds, "gumbel", scale)
    fine = on_a_lattice(rounds, means, counts, "gumbel", scale, max(1, int(scale / 4)))
    assert np.abs(found.group - fine).max() <= found.error < 1e-6


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("log_count", [3.0, 30.0, 300.0])
def test_probabilities_sum_to_one_within_the_bound(noise, log_count):
    for scale in (0.3, 2.0, 1000.0):
        for rounds in (1, 37, 4096, 2**24):
            losses = instances.bernoulli_losses(
                (0.05, 0.1, 0.5, 0.95), log_counts=(0.0, 2.0, log_count, log_count / 2)
            )
            selection = exact.selection_probabilities(losses, rounds, noise, scale)
            assert abs(selection.group.sum() - 1) <= selection.error, (scale, rounds)


def test_splitting_a_group_changes_nothing():
    whole = instances.bernoulli_losses((0.3, 0.6), log_counts=(0.0, 100.0))
    split = instances.bernoulli_losses(
        (0.3, 0.6, 0.6), log_counts=(0.0, 100 - math.log(2), 100 - math.log(2))
    )
    for noise in NOISES:
        a = exact.selection_probabilities(whole, 300, noise, 4.0).group
        b = exact.selection_probabilities(split, 300, noise, 4.0).group
        np.testing.assert_allclose([b[0], b[1] + b[2]], a, rtol=1e-10)


# Against simulation

PAIRS = [
    (FTNL(0.5), instances.packing(10, 0.2), 200),
    (FTNL(0.5, "exponential"), instances.cyclic(20, 0.1), 300),
    (FTNL(1.0, "gumbel"), instances.doubling(4, 3), 500),
    (
        FTNL(1.0, "laplace", "hu2021"),
        instances.deterministic_losses((0.1, 0.3, 0.9), (1, 2, 4)),
        63,
    ),
    (
        FTNL(2.0, "exponential", "wu2026", True),
        instances.deterministic_losses((0.1, 0.3, 0.9), (1, 2, 4)),
        100,
    ),
    (FTNL(10.0, "gumbel"), instances.TWO_ACTION_FIXED, 150),
    (RandomPrefixSoftmax(0.2), FOUR, 255),
    (RandomPrefixSoftmax(0.25, prefix="half"), instances.dependent("antithetic", 0.2), 300),
    (RandomPrefixSoftmax(2.0, cap=math.inf), instances.dependent("comonotone", 0.3, 5), 100),
    (EpochLeader(), FOUR, 100),
    (EpochLeader(), instances.TWO_ACTION_FIXED, 100),
    (FTNL(1.0), instances.DEPENDENT_COPIES, 40),
]


@pytest.mark.parametrize("algorithm, instance, horizon", PAIRS)
def test_ten_thousand_runs_agree(algorithm, instance, horizon):
    runs = 10_000
    value, error = exact.expected_regret(algorithm, instance, horizon)
    regret = instance.regret(algorithm.run(instance, [horizon], 7, runs), [horizon])
    assert abs(np.mean(regret) - value[0]) <= 3 * np.std(regret) / math.sqrt(runs) + error[0]


@pytest.mark.parametrize("algorithm", [FollowTheLeader(), DecreasingHedge()])
def test_leaders_agree_with_simulation(algorithm):
    instance, horizon, runs = instances.packing(5, 0.15), 300, 4000
    value, error = exact.expected_regret(algorithm, instance, horizon)
    regret = instance.regret(algorithm.run(instance, [horizon], 8, runs), [horizon])
    assert abs(np.mean(regret) - value[0]) <= 3 * np.std(regret) / math.sqrt(runs) + error[0]


@pytest.mark.parametrize("noise", ["laplace", "exponential", "gumbel"])
@pytest.mark.parametrize("scale", [1e-30, 1e-7, 1e16, 1e30, 1e100])
def test_a_scale_that_no_lattice_fits_is_refused_in_one_line(noise, scale):
    bits = instances.bernoulli_losses((0.2, 0.5), (1, 3))
    refused(
        lambda: exact.selection_probabilities(bits, 8, noise, scale),
        "scale",
        "[1e-06, 1e+15]",
        f"{scale:g}",
    )
    refused(lambda: exact.expected_regret(FTNL(2 / scale, noise), bits, 100), "scale", f"{scale:g}")


@pytest.mark.parametrize("noise", ["laplace", "exponential", "gumbel"])
def test_the_ends_of_the_allowed_scales(noise):
    bits = instances.bernoulli_losses((0.2, 0.5), (1, 3))
    flat = exact.selection_probabilities(bits, 8, noise, 1e15).group
    np.testing.assert_allclose(flat, [0.25, 0.75], atol=1e-9)
    cold, none = (exact.selection_probabilities(bits, 8, n, 1e-6).group for n in (noise, "none"))
    np.testing.assert_allclose(cold, none, atol=1e-4)


@pytest.mark.parametrize("noise", NOISES)
def test_noise_far_below_a_loss_breaks_ties_and_no_more(noise):
    """By the leader's law, the noise's own integral at a scale where it still bridges a loss, and
    in seconds."""
    means, counts = np.array([0.3, 0.5, 0.8]), np.log([1.0, 2, 1])
    crowd = instances.bernoulli_losses((0.4, 0.5), (1, 10**6 - 1))
    for scale in (1 / 130, 2e-4, 1e-6):
        found = exact.selection_probabilities(FOUR, 40, noise, scale)
        np.testing.assert_allclose(
            found.group, exact.selection_probabilities(FOUR, 40, "none", 1.0).group, atol=1e-12
        )
    np.testing.assert_allclose(
        found.group, on_a_lattice(40, means, counts, noise, 1 / 110, 1), atol=1e-12
    )
    leader = exact.expected_regret(EpochLeader(), crowd, 2**50)
    cold = exact.expected_regret(FTNL(1e4, noise), crowd, 2**50)
    assert abs(cold.value[0] - leader.value[0]) <= cold.error[0] + leader.error[0]


@pytest.mark.parametrize("gap", [1.7e-6, 2.0**-53, 2.0**-60])
def test_small_gaps_of_fixed_losses_are_kept(gap):
    pair, rounds = instances.deterministic_losses((0.0, gap)), round(1 / gap)
    d = rounds * gap
    closed = {
        "exponential": 0.5 * np.exp(-d),
        "laplace": np.exp(-d) * (2 + d) / 4,
        "gumbel": 1 / (1 + np.exp(d)),
    }
    for noise, worse in closed.items():
        assert exact.selection_probabilities(pair, rounds, noise, 1.0).group[1] == pytest.approx(
            worse, abs=1e-11
        )
    rounding = instances.deterministic_losses((0.3, 0.1 + 0.2))  # is no gap
    assert exact.selection_probabilities(rounding, 2**60, "gumbel", 1.0).group[1] == 0.5
    found = exact.expected_regret(FTNL(1e-8, "gumbel"), pair, rounds)  # all epochs are noise
    assert found.value[0] == pytest.approx(d / 2, rel=1e-6)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("epsilon", [1e-8, 1e4, 1e100])
@pytest.mark.parametrize("gap", [0.5, 2.0**-30, 2.0**-60])
def test_the_ends_of_floats(gap, epsilon):
    for make in (instances.bernoulli_losses, instances.deterministic_losses):
        losses = make((0.0, gap, 1.0), (1, 10**6 - 2, 1))
        for noise in NOISES:
            if epsilon > 1e7 and make is instances.bernoulli_losses:
                refused(
                    lambda n=noise, x=losses: exact.expected_regret(FTNL(epsilon, n), x, 2**60),
                    "scale",
                )
                continue
            value, error = (
                x[0] for x in exact.expected_regret(FTNL(epsilon, noise), losses, 2**60)
            )
            assert (
                -error <= value <= 2**60 * gap + 2.0**60 / 10**6 + error and 0 <= error < math.inf
            )


# Regret


def test_horizons_of_one_call_agree_with_calls_of_their_own():
    horizons = [1, 2, 3, 100, 1000, 4097]
    for algorithm in (FTNL(1.0), RandomPrefixSoftmax(0.2), DecreasingHedge()):
        together = exact.expected_regret(algorithm, FOUR, horizons)
        apart = [exact.expected_regret(algorithm, FOUR, h).value[0] for h in horizons]
        np.testing.assert_allclose(together.value, apart, atol=1e-6)
        assert (np.diff(together.value) >= 0).all()
        assert together.error.max() < 1e-5


def test_fixed_losses_of_many_rounds_at_once_are_those_of_one_by_one():
    losses = instances.deterministic_losses(
        (0.2, 0.5, 0.2, 0.9), log_counts=(0.0, 30.0, 1.0, 2000.0)
    )
    hedge, leader = DecreasingHedge(), FollowTheLeader()
    for algorithm in (hedge, leader):
        noises = [algorithm.inverse_temperature(t, losses.log_actions) for t in range(1, 300)]
        terms = [
            exact.expected_gap(
                losses, t, *(("none", 1.0) if np.isinf(eta) else ("gumbel", 1 / eta))
            )[0]
            for t, eta in enumerate(noises)
        ]
        assert exact.expected_regret(algorithm, losses, 299).value[0] == pytest.approx(
            sum(terms), rel=1e-12
        )
    softmax = RandomPrefixSoftmax(0.2)
    gaps = exact.prefix_gaps(losses, range(33), "gumbel", softmax.noise_scale(2))
    means = [gaps[1], gaps[2], *(gaps[n // 2 + 1 : n + 1].mean() for n in (4, 8, 16, 32))]
    regret = gaps[0] + sum(2 ** (k + 1) * mean for k, mean in enumerate(means))
    assert exact.expected_regret(softmax, losses, 127).value[0] == pytest.approx(regret, rel=1e-12)


def test_sums_over_prefix_lengths_are_the_sums_of_their_terms():
    losses, scale = instances.bernoulli_losses((0.45, 0.5), (1, 30)), 20.0
    regret = exact.expected_regret(RandomPrefixSoftmax(0.1), losses, 2047).value[0]
    terms = exact.prefix_gaps(losses, range(1, 513), "gumbel", scale)
    identity = (
        losses.gaps @ np.exp(losses.log_counts) / 31 + 2 * terms[0] + 4 * terms[1:].sum()
    )  # cesari2026, Lemma 4, exactly
    assert regret == pytest.approx(identity, rel=1e-9)
    steep = instances.bernoulli_losses((0.2, 0.6), (1, 30))
    total, error = exact.prefix_sum(steep, "gumbel", scale)
    assert total == pytest.approx(
        exact.prefix_gaps(steep, range(1, 2500), "gumbel", scale).sum(), rel=1e-8
    )
    assert error < 1e-4


def test_regret_at_two_to_the_fifty_is_the_limit():
    million = instances.bernoulli_losses(np.linspace(0.1, 0.9, 10), [1, *[111_111] * 9])
    for noise in NOISES:
        late = exact.expected_regret(FTNL(0.1, noise), million, [2**30, 2**50])
        assert late.value[1] == pytest.approx(late.value[0], rel=1e-9)
        assert late.error[1] < 1e-4


def test_regret_falls_as_epsilon_grows():
    for noise in NOISES:
        values = [
            exact.expected_regret(FTNL(e, noise), FOUR, 10**6).value[0]
            for e in (0.01, 0.1, 1.0, 10.0, 60.0)
        ]
        assert (np.diff(values) < 0).all()
        leader = exact.expected_regret(EpochLeader(), FOUR, 10**6).value[0]
        assert values[-1] == pytest.approx(leader, rel=0.02)


# Known values of wu2026 and cesari2026


def late_regret(algorithm, instance, horizon=2**45):
    return float(exact.expected_regret(algorithm, instance, horizon).value[0])


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
            EpochLeader(b)
            if epsilon == math.inf
            else FTNL(epsilon, "gumbel", bernoulli_resampling=b)
            for b in (False, True)
        ]
        for algorithm, value in zip(pair, values, strict=True):
            assert exact.expected_regret(algorithm, problem, 2**16 - 1).value[0] == pytest.approx(
                value, abs=0.006
            )


def test_corollary_2_with_and_without_resampling():
    known = {0.1: (0.358, 7.10), 0.02: (0.390, 36.04)}
    for gap, values in known.items():
        problem = instances.deterministic_losses((0.5, 0.5 + gap))
        for resampling, value in zip((False, True), values, strict=True):
            regret = exact.expected_regret(
                FTNL(10.0, "gumbel", bernoulli_resampling=resampling), problem, 2**50
            ).value[0]
            assert regret == pytest.approx(value, abs=0.006 if resampling else 0.0006)


def test_the_cap_makes_epsilon_above_a_quarter_useless():
    problem = instances.bernoulli_losses((0.45, 0.55), (1, 99))
    regrets = [
        exact.expected_regret(RandomPrefixSoftmax(epsilon), problem, 2**40).value[0]
        for epsilon in (0.25, 4.0)
    ]
    assert regrets[0] == regrets[1] == pytest.approx(180.27, abs=0.006)
    assert exact.expected_regret(RandomPrefixSoftmax(4.0, cap=math.inf), problem, 2**40).value[
        0
    ] == pytest.approx(74.64, abs=0.006)


def test_deterministic_regrets_known_values():
    expected = {
        (0.1, 10): (132.18, 110.61, 65.74, 54.96),
        (0.1, 10**6): (844.24, 808.60, 421.62, 403.80),
        (1, 100): (25.71, 23.27, 12.39, 11.17),
    }
    kinds = [("gumbel", 2.0), ("exponential", 2.0), ("gumbel", 1.0), ("exponential", 1.0)]
    for (epsilon, actions), values in expected.items():
        for (noise, factor), value in zip(kinds, values, strict=True):
            found = late_regret(
                FTNL(epsilon, noise, factor), instances.cyclic(actions, 0.05), 2**24 - 1
            )
            assert found == pytest.approx(value, abs=6e-3)


def test_two_action_examples_known_values():
    for instance, raw, resampled in (
        (instances.TWO_ACTION_PRINTED, 0.2, 0.49),
        (instances.TWO_ACTION_FIXED, 0.8, 0.47),
    ):
        for algorithm, expected in ((EpochLeader(), raw), (EpochLeader(True), resampled)):
            three = exact.expected_regret(algorithm, instance, [1, 3]).value
            assert np.diff(three)[0] / (2 * instance.gaps.max()) == pytest.approx(
                expected, abs=1e-9
            )
    expected = {0.1: (40.93, 59.12), 1.0: (5.07, 31.57), 10.0: (1.98, 30.85)}
    for epsilon, values in expected.items():
        for bits, value in zip((False, True), values, strict=True):
            found = late_regret(
                FTNL(epsilon, "gumbel", bernoulli_resampling=bits),
                instances.TWO_ACTION_PRINTED,
                2**16 - 1,
            )
            assert found == pytest.approx(value, abs=6e-3)
    for bits, value in ((False, 1.951), (True, 1.163)):
        assert late_regret(
            EpochLeader(bits), instances.TWO_ACTION_GAIN, 2**14 - 1
        ) == pytest.approx(value, abs=6e-4)


def test_random_prefix_known_values():
    cases = [
        (instances.bernoulli_losses((0.49, 0.51)), 0.02, 303.77, 219.13),
        (instances.bernoulli_losses((0.25, 0.75), (1, 10**6 - 1)), 0.02, 5535.86, 4045.23),
        (instances.deterministic_losses((0, 1), (1, 10**6 - 1)), 100.0, 439.10, 280.51),
        (instances.bernoulli_losses((0, 0.05, 1), (1, 1, 10**6 - 2)), 0.1, 1102.90, 863.47),
    ]
    for instance, epsilon, random, full in cases:
        assert late_regret(RandomPrefixSoftmax(epsilon), instance) == pytest.approx(
            random, abs=0.02
        )
        assert late_regret(RandomPrefixSoftmax(epsilon, "full"), instance) == pytest.approx(
            full, abs=0.02
        )


def test_curves_are_tidy():
    algorithms, problems = [FTNL(1.0), EpochLeader()], [FOUR, instances.packing(5, 0.2)]
    frame = exact.regret_curves(algorithms, problems, [10, 100])
    assert list(frame.columns[:5]) == ["algorithm", "instance", "t", "regret", "error"]
    assert (
        frame.t.tolist() == [10, 100] * 4
        and frame.instance.tolist() == [FOUR.name] * 4 + [problems[1].name] * 4
    )
    for (_, row), (problem, algorithm) in zip(
        frame[frame.t == 100].iterrows(),
        ((p, a) for p in problems for a in algorithms),
        strict=True,
    ):
        value, error = exact.expected_regret(algorithm, problem, 100)
        assert (row.algorithm, row.regret, row.error) == (algorithm.label, value[0], error[0])
    assert exact.regret_curves(FTNL(1.0), FOUR, 7).epsilon.tolist() == [1.0]


@pytest.mark.xdist_group("compiled")
def test_compiled_or_not_the_same_values(short_runs):
    np.testing.assert_allclose(*(runs["exact"] for runs in short_runs), rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: exact.selection_probabilities(FOUR, 2**61, "laplace", 1.0), [2**60, 2**61]),
        (
            lambda: exact.selection_probabilities(FOUR, 4, "cauchy", 1.0),
            ["noise", "'laplace'", "'cauchy'"],
        ),
        (lambda: exact.selection_probabilities(FOUR, 4, "laplace", 0.0), ["scale", "0.0"]),
        (
            lambda: exact.expected_regret(
                FTNL(1.0, bernoulli_resampling=True), instances.DEPENDENT_COPIES, 10
            ),
            [instances.DEPENDENT_COPIES.name],
        ),
        (
            lambda: exact.selection_probabilities(instances.DEPENDENT_COPIES, 10**6, "gumbel", 1.0),
            [10**6, instances.DEPENDENT_COPIES.name],
        ),
        (lambda: exact.expected_regret(FTNL(1.0), FOUR, [0]), ["horizons", "[0]"]),
        (lambda: exact.expected_regret(FTNL(1.0), FOUR, [2**61]), ["horizons", 2**60, 2**61]),
        (lambda: exact.expected_regret(UCB1(), FOUR, [10]), ["algorithm", "UCB1()"]),
        (
            lambda: exact.expected_regret(FTNL(1.0), instances.HU2021_1, [10]),
            ["instance", "StochasticLosses", instances.HU2021_1.name],
        ),
    ],
)
def test_bad_input(call, words):
    refused(call, *words)
