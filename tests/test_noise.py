"""The sampler of noise against scipy's distributions."""

import math

import numpy as np
import pytest
from laws import FALSE_ALARM
from scipy.stats import expon, gumbel_r, kstest, laplace

from privregret.core import noise

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
