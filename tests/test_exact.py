"""Exact selection probabilities and regrets: closed forms, enumeration, quadrature, simulation."""

import math
from functools import partial
from itertools import pairwise, product

import naive
import numpy as np
import pytest
from conftest import refused
from scipy import stats
from scipy.integrate import quad

from privregret import exact, instances
from privregret.bandits import UCB1
from privregret.companion import MarginStop, Votes, VotesOrLeader
from privregret.core.noise import CODES
from privregret.exact import selection
from privregret.exact.binomial import atoms
from privregret.exact.regret import expected_gaps, sum_over
from privregret.full_information import FTNL, DecreasingHedge, EpochLeader, FollowTheLeader
from privregret.full_information.random_prefix import RandomPrefixSoftmax
from privregret.studies.cesari2026 import prefix_sum

NOISES = ("laplace", "exponential", "gumbel")
FOUR = instances.bernoulli_losses((0.3, 0.5, 0.8), (1, 2, 1))
CROWD = instances.bernoulli_losses((0.25, 0.75), (1, 10**6 - 1))
LAWS = {"laplace": stats.laplace, "exponential": stats.expon, "gumbel": stats.gumbel_r}


@pytest.mark.parametrize("noise", [*NOISES, "none"])
@pytest.mark.parametrize(
    ("rounds", "scale"), [(0, 1.0), (3, 1.7), (6, 0.6), (5, 0.2), (5, 0.05), (4, 0.015)]
)
def test_small_cases_by_enumeration(rounds, scale, noise):
    win = partial(exact.selection_from_sums, log_counts=np.zeros(4), noise=noise, scale=scale)
    expected = naive.selection_by_enumeration((0.3, 0.5, 0.5, 0.8), rounds, win)
    found = exact.selection_probabilities(FOUR, rounds, noise, scale)
    np.testing.assert_allclose(np.exp(found.log_action), expected[[0, 1, 3]], atol=1e-12)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("sums", [[0.0, 3.0], [2.0, 0.5, 1.1, 30.0]])
@pytest.mark.parametrize("grouped", [False, True])
def test_fixed_sums_by_quadrature_of_scipy(sums, noise, grouped):
    law, scale, counts = LAWS[noise], 1.3, np.ones(len(sums))
    counts[1] += grouped
    found = exact.selection_from_sums(sums, np.log(counts), noise, scale)
    u = np.array(sums) / scale
    edges = np.unique([-60.0, *-u, 60.0])

    def density(x, j):
        others = counts - (np.arange(len(sums)) == j)
        return counts[j] * law.pdf(x + u[j]) * np.prod(law.cdf(x + u) ** others)

    for j in range(len(sums)):
        parts = [quad(density, *ab, (j,), epsabs=1e-13, limit=400)[0] for ab in pairwise(edges)]
        assert found[j] == pytest.approx(sum(parts), abs=1e-11)


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


@pytest.mark.parametrize("log_bad", [0.0, 3.0, 300.0, 5000.0])
def test_deterministic_losses_with_gumbel_noise_are_a_softmax(log_bad):
    for scale in (0.05, 2.0, 300.0):
        losses = instances.deterministic_losses((0.1, 0.3, 0.8), log_counts=(0.0, 1.5, log_bad))
        selection = exact.selection_probabilities(losses, 1000, "gumbel", scale)
        logits = np.array(losses.log_counts) - 1000 * np.array(losses.means) / scale
        softmax = np.exp(logits - np.logaddexp.reduce(logits))
        np.testing.assert_allclose(selection.group, softmax, rtol=1e-12, atol=1e-300)


def test_binomial_atoms_are_scipys_and_hold_up_where_scipys_cannot():
    for n, p in ((1, 0.3), (40, 0.01), (1000, 0.5), (10**6, 0.2)):
        first, mass = atoms(n, p, 1, 50, 50)
        expected = stats.binom.pmf(first + np.arange(len(mass)), n, p)
        np.testing.assert_allclose(mass, expected, rtol=1e-8, atol=1e-40)
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
    # noise that is negligible next to a deviation of 2^29
    selection = exact.selection_probabilities(pair, n, noise, 2.0)
    assert selection.group[1] == pytest.approx(stats.norm.sf(z), abs=selection.error + 1e-9)
    assert selection.error < 1e-6


def on_a_lattice(rounds, means, log_counts, noise, scale, step):
    """Selection probabilities with a lattice step of one's own."""
    every = np.ones((1, len(means)), bool)
    one = np.array([rounds]), means, log_counts, every, np.array([CODES[noise]])
    return selection._binomial(*one, np.array([step]), np.array([scale / step]))[0]


@pytest.mark.parametrize("step", range(1, 13))
def test_a_window_of_gumbel_noise_that_ends_at_a_place_up_to_rounding(step):
    """4.5 scales are 180 steps up to rounding: the first atom once met noise of the last place."""
    means, counts = np.array([0.45, 0.5]), np.zeros(2)
    found = on_a_lattice(4096, means, counts, "gumbel", np.nextafter(40.0, 0.0), step)
    np.testing.assert_allclose(found, [0.98910805, 0.01089195], atol=1e-8)


def near_a_fine_lattice(rounds, means, counts, scale, step, noise="gumbel"):
    """The probabilities of a fine lattice, and how far those found are from them, in errors."""
    losses = instances.bernoulli_losses(tuple(means), log_counts=tuple(counts))
    found = exact.selection_probabilities(losses, rounds, noise, scale)
    fine = on_a_lattice(rounds, means, counts, noise, scale, step)
    off = np.abs(found.group - fine).max()
    assert off <= found.error < 1e-6
    return fine, off / found.error


@pytest.mark.parametrize("log_count", [0.0, 3.0, 30.0])
def test_noise_far_below_the_spread_is_that_of_a_fine_lattice(log_count):
    gap = 2**-17 * max(1.0, math.sqrt(2 * log_count))
    means, counts = np.array([0.5 - gap, 0.5]), np.array([0.0, log_count])
    fine, part = near_a_fine_lattice(2**32, means, counts, 40.0, 10)
    assert 0.1 < fine[1] < 0.9 and part > 0


@pytest.mark.parametrize(("rounds", "scale"), [(2**29, 0.622), (2**33, 26.0), (2**37, 160.0)])
@pytest.mark.parametrize("mean", [0.01, 0.1, 0.5, 0.9])
def test_extrapolated_probabilities_are_those_of_a_fine_lattice(rounds, scale, mean):
    """Also of groups hardly ever selected, whose rounding errors once were extrapolated to 1."""
    counts = np.array([0.0, 16.2, 1.9, 19.8])
    means = mean + math.sqrt(mean * (1 - mean) / rounds) * np.array([10.7, 0.0, 35.1, 31.6])
    near_a_fine_lattice(rounds, means, counts, scale, max(1, int(scale / 4)))


@pytest.mark.parametrize(
    ("noise", "rounds", "scale", "deviations", "counts", "step", "part"),
    [
        # the difference of two extrapolations, of which the better one is used
        ("gumbel", 2**34, 150.3, (0, 1.43, 0.86), (0, 4.5, 1.3), 37, 0.1703),
        # what doubling the step adds is three times an error that grows with the square of it; the
        # fine lattice has some error, too
        ("laplace", 2**28, 1.0, (-0.7, 0.7), (0, 0), 2, 0.3125),
        ("exponential", 2**28, 1.0, (-0.7, 0.7), (0, 0), 2, 0.3125),
    ],
)
def test_an_error_is_what_it_should_be_next_to_the_truth(
    noise, rounds, scale, deviations, counts, step, part
):
    means = 0.5 + np.array(deviations) / math.sqrt(4 * rounds)
    found = near_a_fine_lattice(rounds, means, np.array(counts), scale, step, noise)[1]
    assert found == pytest.approx(part, rel=0.05)


def test_the_error_of_a_sum_by_interpolation_is_the_right_one():
    """Of a function with a steep hill; the tolerance is relative to a size."""
    parts = []
    for (first, last), size in product([(1, 3000), (100, 20_000)], [1e3, 1e6, 1e9, 1e12]):
        truth = (1 / (1 + ((np.arange(first, last + 1) - 700) / 60) ** 2)).sum()
        found, error = sum_over(
            lambda m: (1 / (1 + ((m - 700) / 60) ** 2), 0.0 * m), first, last, size
        )
        assert abs(found - truth) <= error
        parts.append(abs(found - truth) / error)
        # an error of each term is added
        more = sum_over(
            lambda m: (1 / (1 + ((m - 700) / 60) ** 2), 0.0 * m + 2.0), first, last, size
        )[1]
        assert more == pytest.approx(error + 2 * (last - first + 1))
    assert max(parts) > 0.5


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("log_count", [3.0, 300.0])
def test_probabilities_sum_to_one(noise, log_count):
    for scale, rounds in product((0.01, 0.3, 1000.0), (1, 37, 4096, 2**24)):
        counts = (0.0, 2.0, log_count, log_count / 2)
        losses = instances.bernoulli_losses((0.05, 0.1, 0.5, 0.95), log_counts=counts)
        group = exact.selection_probabilities(losses, rounds, noise, scale).group
        assert abs(group.sum() - 1) <= 1e-10, (scale, rounds)


@pytest.mark.parametrize("noise", NOISES)
def test_noise_far_below_a_loss_breaks_ties_and_no_more(noise):
    """By the leader's law, and the noise's own integral at a scale that still bridges a loss."""
    means, counts = np.array([0.3, 0.5, 0.8]), np.log([1.0, 2, 1])
    crowd = instances.bernoulli_losses((0.4, 0.5), (1, 10**6 - 1))
    none = exact.selection_probabilities(FOUR, 40, "none", 1.0).group
    flat = exact.selection_probabilities(FOUR, 40, noise, 1e15).group
    np.testing.assert_allclose(flat, [0.25, 0.5, 0.25], atol=1e-9)
    for scale in (1 / 130, 2e-4, 1e-6):
        found = exact.selection_probabilities(FOUR, 40, noise, scale).group
        np.testing.assert_allclose(found, none, atol=1e-12)
    bridging = on_a_lattice(40, means, counts, noise, 1 / 110, 1)
    np.testing.assert_allclose(found, bridging, atol=1e-12)
    leader = exact.expected_regret(EpochLeader(), crowd, 2**50)
    cold = exact.expected_regret(FTNL(1e4, noise), crowd, 2**50)
    assert abs(cold.value[0] - leader.value[0]) <= cold.error[0] + leader.error[0]


@pytest.mark.parametrize("others", [1, 10, 1000, 10**6, 10**9])
@pytest.mark.parametrize("mean", [0.1, 0.5, 1 - 1e-3])
def test_a_leader_after_one_round_by_a_formula(others, mean):
    """Of equally good actions each leads with the same chance; 1 / (1 + binomial) has a mean."""
    losses = instances.bernoulli_losses((0.3, mean), (1, others))
    lose = math.exp(others * math.log(mean))
    expected = 0.7 * (1 - lose * mean) / ((others + 1) * (1 - mean)) + 0.3 * lose / (others + 1)
    found = exact.selection_probabilities(losses, 1, "none", 1.0).group[0]
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("noise", NOISES)
def test_bounds_on_probabilities_are_bounds_and_near_for_fixed_losses(noise):
    for gap, scale in product((0.01, 0.2, 1.0), (0.5, 4.0)):
        pair = instances.deterministic_losses((0.0, gap))
        for rounds in (1, 10, 50):
            bound = selection.largest_probabilities(pair, rounds, noise, scale)[1]
            found = exact.selection_probabilities(pair, rounds, noise, scale).group[1]
            assert found <= bound * (1 + 1e-9) + 1e-15 and bound <= 2 * found + 1e-12
        for losses in (
            instances.bernoulli_losses((0.5 - gap / 2, 0.5 + gap / 2), (1, 3)),
            instances.dependent("antithetic", gap),
        ):
            bound = selection.largest_probabilities(losses, 40, noise, scale)[1]
            assert exact.selection_probabilities(losses, 40, noise, scale).group[1] <= bound


# the second one has more digits than are kept of larger ones
@pytest.mark.parametrize("gap", [1.7e-6, 2.0**-27, 2.0**-53, 2.0**-60])
def test_small_gaps_of_fixed_losses_are_kept(gap):
    pair, rounds = instances.deterministic_losses((0.0, gap)), round(1 / gap)
    d = rounds * gap
    closed = {
        "exponential": 0.5 * np.exp(-d),
        "laplace": np.exp(-d) * (2 + d) / 4,
        "gumbel": 1 / (1 + np.exp(d)),
    }
    for noise, worse in closed.items():
        found = exact.selection_probabilities(pair, rounds, noise, 1.0).group[1]
        assert found == pytest.approx(worse, abs=1e-11)
    rounding = instances.deterministic_losses((0.3, 0.1 + 0.2))  # is no gap
    assert exact.selection_probabilities(rounding, 2**60, "gumbel", 1.0).group[1] == 0.5
    found = exact.expected_regret(FTNL(1e-6, "gumbel"), pair, rounds)  # all epochs are noise
    assert found.value[0] == pytest.approx(d / 2, rel=1e-6)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("epsilon", [1e-6, 1e4, 1e6])
@pytest.mark.parametrize("gap", [0.5, 2.0**-60])
def test_the_ends_of_floats(gap, epsilon):
    for make in (instances.bernoulli_losses, instances.deterministic_losses):
        losses = make((0.0, gap, 1.0), (1, 10**6 - 2, 1))
        for noise in NOISES:
            (value,), (error,) = exact.expected_regret(FTNL(epsilon, noise), losses, 2**60)
            assert 0 <= error < math.inf
            assert -error <= value <= 2**60 * gap + 2.0**60 / 10**6 + error


FIXED = instances.deterministic_losses((0.1, 0.3, 0.9), (1, 2, 4))
PAIRS = [
    (FTNL(0.5), instances.packing(10, 0.2), 200),
    (FTNL(2.0, "exponential", "wu2026", True), FIXED, 100),
    (FTNL(10.0, "gumbel"), instances.TWO_ACTION_FIXED, 150),
    (RandomPrefixSoftmax(0.2), FOUR, 255),
    # of which the length of the prefix decides more
    (RandomPrefixSoftmax(4.0, cap=math.inf), FOUR, 15),
    (RandomPrefixSoftmax(0.25, prefix="half"), instances.dependent("antithetic", 0.2), 300),
    (EpochLeader(), FOUR, 100),
    (FTNL(1.0), instances.DEPENDENT_COPIES, 40),
    (FollowTheLeader(), instances.packing(5, 0.15), 300),
    (DecreasingHedge(), instances.packing(5, 0.15), 300),
]


@pytest.mark.parametrize("algorithm, instance, horizon", PAIRS)
def test_ten_thousand_runs_agree(algorithm, instance, horizon):
    runs = 10_000
    value, error = exact.expected_regret(algorithm, instance, horizon)
    regret = instance.regret(algorithm.run(instance, [horizon], 7, runs), [horizon])
    assert abs(np.mean(regret) - value[0]) <= 3 * np.std(regret) / math.sqrt(runs) + error[0]


@pytest.mark.parametrize(
    ("algorithm", "instance", "value"),
    [
        (FTNL(1.0), FOUR, 11.339642),
        (FTNL(1.0, "exponential"), FOUR, 9.640388),
        (FTNL(1.0, "gumbel", "wu2026-proofs"), FOUR, 7.745391),
        (RandomPrefixSoftmax(0.02), instances.bernoulli_losses((0.49, 0.51)), 303.77),
        (RandomPrefixSoftmax(0.02, "full"), CROWD, 4045.23),
        (RandomPrefixSoftmax(0.02), CROWD, 5535.86),
    ],
)
def test_regret_of_2_to_the_40_rounds_is_that_of_another_program(algorithm, instance, value):
    found = exact.expected_regret(algorithm, instance, 2**40).value[0]
    assert found == pytest.approx(value, rel=1e-5)


def test_horizons_of_one_call_agree_with_calls_of_their_own():
    horizons = [1, 2, 3, 100, 1000, 4097]
    for algorithm in (FTNL(1.0), RandomPrefixSoftmax(0.2), DecreasingHedge()):
        together = exact.expected_regret(algorithm, FOUR, horizons)
        apart = [exact.expected_regret(algorithm, FOUR, h).value[0] for h in horizons]
        np.testing.assert_allclose(together.value, apart, atol=1e-6)
        assert (np.diff(together.value) >= 0).all()
        assert together.error.max() < 1e-5


def test_fixed_losses_of_many_rounds_at_once_are_those_of_one_by_one():
    counts = (0.0, 30.0, 1.0, 2000.0)
    losses = instances.deterministic_losses((0.2, 0.5, 0.2, 0.9), log_counts=counts)
    for algorithm in (DecreasingHedge(), FollowTheLeader()):
        regret = 0.0
        for t in range(299):
            eta = algorithm.inverse_temperature(t + 1, losses.log_actions)
            noise = ("none", 1.0) if np.isinf(eta) else ("gumbel", 1 / eta)
            regret += exact.expected_gap(losses, t, *noise)[0]
        found = exact.expected_regret(algorithm, losses, 299).value[0]
        assert found == pytest.approx(regret, rel=1e-12)
    softmax = RandomPrefixSoftmax(0.2)
    gaps = expected_gaps(losses, np.arange(33), "gumbel", softmax.noise_scale(2))[0]
    means = [gaps[1], gaps[2], *(gaps[n // 2 + 1 : n + 1].mean() for n in (4, 8, 16, 32))]
    regret = gaps[0] + sum(2 ** (k + 1) * mean for k, mean in enumerate(means))
    assert exact.expected_regret(softmax, losses, 127).value[0] == pytest.approx(regret, rel=1e-12)


def test_sums_over_prefix_lengths_are_the_sums_of_their_terms():
    losses, scale = instances.bernoulli_losses((0.45, 0.5), (1, 30)), 20.0
    regret = exact.expected_regret(RandomPrefixSoftmax(0.1), losses, 2047).value[0]
    terms = expected_gaps(losses, np.arange(1, 513), "gumbel", scale)[0]
    uniform = losses.gaps @ np.exp(losses.log_counts) / 31
    # cesari2026, Lemma 4, exactly
    assert regret == pytest.approx(uniform + 2 * terms[0] + 4 * terms[1:].sum(), rel=1e-9)
    steep = instances.bernoulli_losses((0.2, 0.6), (1, 30))
    total, error = prefix_sum(steep, 1 / scale)
    terms = expected_gaps(steep, np.arange(1, 2500), "gumbel", scale)[0]
    assert total == pytest.approx(terms.sum(), rel=1e-8) and error < 1e-4


def test_curves_are_tidy():
    algorithms, problems = [FTNL(1.0), EpochLeader()], [FOUR, instances.packing(5, 0.2)]
    found = exact.regret_curves(algorithms, problems, [10, 100])
    expected = [
        (a.label, p.name, t, *(x[0] for x in exact.expected_regret(a, p, t)))
        for p, a, t in product(problems, algorithms, (10, 100))
    ]
    assert list(found.iloc[:, :5].itertuples(index=False, name=None)) == expected


@pytest.mark.xdist_group("compiled")
def test_compiled_or_not_the_same_values(short_runs):
    np.testing.assert_allclose(*(runs["exact"] for runs in short_runs), rtol=1e-12)


TRIPLED = type("Tripled", (FTNL,), {"growth": 3.0, "id": "tripled"})


def test_bad_input():
    select, regret = exact.selection_probabilities, exact.expected_regret
    copies, leader = instances.DEPENDENT_COPIES, EpochLeader()
    for call, *words in (
        *((partial(select, FOUR, 8, "laplace", s), "scale", f"{s:g}") for s in (1e-7, 1e16)),
        (partial(select, FOUR, 2**61, "laplace", 1.0), 2**60, 2**61),
        (partial(select, copies, 10**6, "gumbel", 1.0), 10**6, copies.name),
        (partial(regret, EpochLeader(True), copies, 10), copies.name),
        (partial(regret, leader, FOUR, [2**61]), "horizons", 2**60, 2**61),
        (partial(regret, UCB1(), FOUR, [10]), "algorithm", "UCB1()"),
        (partial(regret, TRIPLED(1.0), FOUR, 10), "algorithm", "growth = 3", "random_phase"),
        (partial(regret, leader, instances.HU2021_1, [10]), "instance"),
        # learners of the companion, on random losses
        *(
            (partial(regret, x(0.5), FOUR, 10), "losses")
            for x in (Votes, VotesOrLeader, MarginStop)
        ),
    ):
        refused(call, *words)
