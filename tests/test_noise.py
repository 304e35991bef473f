"""The sampler of noise against scipy's distributions, and report noisy max on sums against
closed forms."""

import math

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import binomtest, chisquare, expon, gumbel_r, kstest, laplace

from privregret.core import noise
from privregret.core.jit import jit

FALSE_ALARM = 1e-4  # of each test function, for a new seed
SCALES = (0.1, 1.0, 50.0)
DRAWS = 20_000  # sees a distribution function that is off by 0.02, a scale that is off by 4 %
LAWS = {"laplace": laplace, "exponential": expon, "gumbel": gumbel_r}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", LAWS)
def test_samplers_have_the_laws_of_their_names(kind, scale):
    law, rng = LAWS[kind], np.random.default_rng(0)
    sample = np.array([noise.draw(noise.CODES[kind], scale, rng) for _ in range(DRAWS)])
    assert kstest(sample, law(scale=scale).cdf).pvalue > FALSE_ALARM / len(SCALES)
    mean, variance, kurtosis = map(float, law.stats(scale=scale, moments="mvk"))
    assert abs(sample.mean() - mean) < 4.5 * math.sqrt(variance / DRAWS)
    spread = ((sample - mean) ** 2).mean() / variance
    assert abs(spread - 1) < 4.5 * math.sqrt((kurtosis + 2) / DRAWS)


@pytest.mark.parametrize("p", [1e-300, 1e-17, 2.0**-53, 1e-13, 1e-10, 2e-9, 0.3])
def test_binomial_draws_where_successes_are_rare(p):
    rng, n = np.random.default_rng(1), int(min(2**62, 20 / p))
    sample = np.array([noise.successes(n, p, rng) for _ in range(DRAWS)])
    mean = n * p
    assert abs(sample.mean() - mean) < 4.5 * math.sqrt(mean / DRAWS) + 1e-9
    assert sample.var() == pytest.approx(mean * (1 - p), rel=0.05, abs=1e-9)
    few = int(min(10, n))
    assert max(noise.successes(few, p, rng) for _ in range(1000)) <= few
    assert noise.successes(n, 0.0, rng) == 0 and noise.successes(few, 1.0, rng) == few


def test_without_noise_nothing_is_drawn():
    rng, same = np.random.default_rng(0), np.random.default_rng(0)
    assert noise.draw(noise.NONE, 1.0, rng) == 0 and rng.random() == same.random()


@jit
def report_noisy_max(sums, kind, scale, draws, rng):
    """(K,) how often each index wins."""
    wins = np.zeros(len(sums), np.int64)
    for _ in range(draws):
        best, winner = -math.inf, 0
        for j in range(len(sums)):
            score = sums[j] + noise.draw(kind, scale, rng)
            if score > best:
                best, winner = score, j
        wins[winner] += 1
    return wins


def winners(sums, kind, scale):
    sums, rng = np.array(sums, float), np.random.default_rng(0)
    return report_noisy_max(sums, noise.CODES[kind], scale, DRAWS, rng)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("shape", [(0.0, 0.0), (0.0, -1.0, -2.0), (1.0, 1.5, 0.0, 1.5, -1.0)])
def test_gumbel_noise_is_softmax(shape, scale):
    """P[J = j] is proportional to exp(sum_j / scale)."""
    sums = 7 + scale * np.array(shape)
    wins = winners(sums, "gumbel", scale)
    assert chisquare(wins, DRAWS * softmax(sums / scale)).pvalue > FALSE_ALARM / 9


def laplace_pair(u, scale):
    """P[first of two wins] when its sum is larger by u."""
    if u > 0:
        return 1 - laplace_pair(-u, scale)
    return math.exp(u / scale) * (2 - u / scale) / 4


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("lead", [-3.0, -1.0, 0.0, 0.5, 2.0])
def test_laplace_noise_on_two_sums(lead, scale):
    first = winners((5 + lead * scale, 5), "laplace", scale)[0]
    assert binomtest(int(first), DRAWS, laplace_pair(lead * scale, scale)).pvalue > FALSE_ALARM / 15


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("lead", [-3.0, -1.0, 0.0])
def test_exponential_noise_on_two_sums(lead, scale):
    """The one behind by d wins with probability exp(-d / scale) / 2, by memorylessness."""
    first = winners((5 + lead * scale, 5), "exponential", scale)[0]
    assert binomtest(int(first), DRAWS, math.exp(lead) / 2).pvalue > FALSE_ALARM / 9
