"""Whole epochs: our bounds by brute force, the expected maximum, very many actions, the search for
worst instances."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import log_ndtr

from privregret import exact, instances
from privregret.bounds import companion as bounds
from privregret.full_information import FTNL, NaiveFTNL, RandomPrefixSoftmax
from privregret.studies import whole_epochs as study

LAWS = {"laplace": stats.laplace(), "exponential": stats.expon(), "gumbel": stats.gumbel_r()}


def maximum_by_quadrature(law, actions):
    """E max of K draws, minus the mean."""
    above = quad(lambda x: 1 - law.cdf(x) ** actions, 0, 80, limit=400, points=[1, 3, 10])[0]
    below = quad(lambda x: law.cdf(x) ** actions, -60, 0, limit=400, points=[-10, -3, -1])[0]
    return above - below - law.mean()


@pytest.mark.parametrize("noise", LAWS)
@pytest.mark.parametrize("actions", [2, 10, 1000])
def test_the_expected_maximum_of_the_noise(noise, actions):
    known = maximum_by_quadrature(LAWS[noise], actions)
    computed = float(exact.expected_maximum(np.zeros(actions), noise, 1.0)) - LAWS[noise].mean()
    assert computed == pytest.approx(known, abs=1e-7)
    bound = float(bounds.maximum(math.log(actions), noise))
    assert known <= bound + 1e-7
    assert noise == "laplace" or known == pytest.approx(bound, abs=1e-7)
    # where the formula changes
    below, above = (bounds.maximum(30 + x, noise) for x in (-1e-9, 1e-9))
    assert below == pytest.approx(above, abs=1e-8)


@pytest.mark.parametrize("noise", LAWS)
def test_the_slope_of_the_expected_maximum_is_the_probability(noise):
    sums, step = np.random.default_rng(1).random((5, 4)) * 6, 1e-4
    for j in range(4):
        up, down = sums + step * np.eye(4)[j], sums - step * np.eye(4)[j]
        rise, fall = (exact.expected_maximum(x, noise, 1.7) for x in (up, down))
        won = exact.selection_from_sums(sums, np.zeros(4), noise, 1.7)[:, j]
        assert (fall - rise) / (2 * step) == pytest.approx(won, abs=1e-6)


def lemma_4(rounds, gap, epsilon):
    """P[an action of that gap leads after n rounds] <= exp(-n gap min(gap, epsilon / 4) / 2)."""
    return np.exp(-0.5 * rounds * gap * np.minimum(gap, epsilon / 4))


@pytest.mark.parametrize("gaps", [[0.01] * 5, [0.2] * 40, np.linspace(0.003, 0.2, 30)])
def test_small_gaps_bound_the_sum_over_epochs(gaps):
    """Brute force: the epochs' costs when every probability is as large as its bound allows."""
    n, cost = 2.0 ** np.arange(60), 0.0
    left = np.ones(len(n))
    # the largest gaps first
    for gap in reversed(gaps):
        taken = np.minimum(left, lemma_4(n, gap, 0.2))
        cost, left = cost + float((2 * n * taken * gap).sum()), left - taken
    assert cost <= 32 * (1 + math.log(len(gaps))) / min(gaps)


# the lemmas


@pytest.mark.parametrize("noise", LAWS)
def test_lemma_1(noise):
    """The hazard rate is at most 1, unlike that of Gaussian noise; tails of differences fall by
    exp(-v / 2), and need this exponent for Laplace noise."""
    law, v = LAWS[noise], np.arange(0, 20.1, 0.25)
    x, u = np.linspace(-25, 25, 501), np.linspace(0, 20, 41)[:, None]
    assert np.max(law.logsf(x) - u - law.logsf(x + u)) < 1e-9
    assert np.max(log_ndtr(-x / math.sqrt(2)) - u - log_ndtr(-(x + u) / math.sqrt(2))) > 1
    y, weights = np.polynomial.legendre.leggauss(64)
    at = np.arange(-30, 45)[:, None] + (y + 1) / 2
    tail = np.array([(law.pdf(at) * law.sf(at + x) * weights / 2).sum() for x in v])
    assert (tail <= 0.5 * np.exp(-v / 2) + 1e-12).all()
    assert ((tail > np.exp(-v)).any()) == (noise == "laplace")


@pytest.mark.parametrize("noise", [*LAWS, "gaussian"])
@pytest.mark.parametrize("eta", [0.1, 0.5])
def test_lemma_3_on_opposite_pairs(noise, eta):
    """Equality for exponential noise; false for Gaussian noise of Laplace noise's variance."""
    gaps, n = np.linspace(0.05, 0.95, 10), int(64 / eta)
    hits = np.arange(n + 1)
    differences, mass = 2.0 * hits - n, stats.binom.pmf(hits, n, (1 + gaps[:, None]) / 2)
    if noise == "gaussian":
        wrong = np.exp(log_ndtr(-differences * eta / 2))
    else:
        sums = np.stack([0 * differences, differences], axis=1)
        wrong = exact.selection_from_sums(sums, np.zeros(2), noise, 1 / eta)[:, 1]
    slack = mass @ (wrong * differences) / (n * (mass @ wrong)) - bounds.lemma_3(gaps, eta)
    assert (slack > -1e-9).all() == (noise != "gaussian")
    if noise == "exponential":
        assert (slack[bounds.lemma_3(gaps, eta) >= 0.6] < 1e-6).all()


@pytest.mark.parametrize("noise", LAWS)
def test_lemma_4_and_that_its_exponent_is_not_twice_as_large(noise):
    once, twice = [], []
    for epsilon, gap, n in product((0.03, 1.0, 10.0), (0.01, 0.1, 0.5), (2, 64, 1024)):
        pair = instances.dependent("antithetic", gap)
        chosen = exact.selection_probabilities(pair, n, noise, 2 / epsilon)
        if chosen.group[1] > 1e3 * chosen.error:
            cap = lemma_4(n, gap, epsilon)
            once.append(chosen.group[1] / cap)
            twice.append(chosen.group[1] / cap**2)
    assert max(once) <= 1 < max(twice)


def test_exact_regret_beyond_what_a_float_can_count():
    """Its own formula for losses that are the same every round. At e^3000 actions epochs far past
    700 scales of the noise still cost (they were once left out)."""
    for log_actions, gap, epsilon in (
        (math.log(5), 0.4, 0.1),
        (7.5, 0.4, 0.1),
        (3000.0, 0.5, 0.02),
    ):
        others = log_actions + math.log1p(-math.exp(-log_actions))
        n = 2.0 ** np.arange(50)
        # chance of a wrong action by Gumbel noise: a softmax
        wrong = np.exp(-np.logaddexp(0, n * gap * epsilon / 2 - others))
        known = -math.expm1(-log_actions) * gap + (2 * n * gap * wrong).sum()
        problem = study.equal_gaps(log_actions, gap)
        for noise in LAWS if log_actions > 100 else ["gumbel"]:
            regret = exact.expected_regret(FTNL(epsilon, noise), problem, 2**50)
            assert regret.value[0] == pytest.approx(known, rel=1e-6 if noise == "gumbel" else 0.05)
            assert regret.error[0] < 1e-3


# the search


@pytest.mark.parametrize(
    ("log_actions", "bernoulli", "noise", "known"),
    [
        (math.log(2), False, "gumbel", 5.766),
        (30.0, False, "laplace", 7.03),
        (3000.0, False, "exponential", 7.977),
        (10.0, True, "gumbel", 6.23),
    ],
)
def test_the_search_finds_what_is_known(log_actions, bernoulli, noise, known):
    """epsilon R / ln K of a known instance, gaps in [0.3, 1], epsilon = 0.02."""
    found = study.worst_instance(FTNL(0.02, noise), log_actions, bernoulli=bernoulli, points=12)
    constant = 8 * float(bounds.maximum(log_actions, noise)) / log_actions
    assert known <= found["scaled_regret"] <= constant / 0.95
    assert found["scaled_regret_error"] < 1e-6 and found["tried"] <= 12 + 2 * 13


def test_the_search_is_reproducible_and_its_ratio_is_that_of_its_instance():
    algorithm = RandomPrefixSoftmax(0.02, prefix="half")
    options = {"points": 5, "polish": 4, "groups": 2, "budget": 15}
    first, again = (study.worst_instance(algorithm, 5.0, **options) for _ in range(2))
    assert first == again
    regret = exact.expected_regret(algorithm, first["instance"], 2**60).value[0]
    assert first["scaled_regret"] == 0.02 * regret / first["instance"].log_actions
    assert 5 + 15 <= first["tried"] <= 5 + 2 * 5 + 16
    assert study.worst_instance(algorithm, 5.0, points=5, polish=0)["tried"] == 5
    assert first["instance"].log_actions == pytest.approx(5.0)


def test_naive_noise_is_worse_than_the_constant():
    found = study.worst_instance(NaiveFTNL(0.02), math.log(8), points=4, polish=0)
    assert found["scaled_regret"] > 15
