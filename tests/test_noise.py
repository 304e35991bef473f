"""The sampler of noise against scipy's distributions, and the scales that algorithms ask of it."""

import math

import naive
import numpy as np
import pytest
from laws import FALSE_ALARM
from scipy.stats import chisquare, dlaplace, expon, gumbel_r, kstest, laplace

from privregret.adversarial import (
    EXP3,
    FTPL,
    BatchedPrivate,
    EXP4Batched,
    EXP4Local,
    ExpertsFromBandit,
    LocallyPrivate,
    SparseSwitch,
)
from privregret.bandits import DPIMED, DPKLUCB, AdaPKLUCB, AnytimeLazyUCB, HybridUCB, LazyDPTS
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


@pytest.mark.parametrize("scale", [0.3, 1.0, 7.3, 50.0, 1e6])
def test_geometric_noise_has_its_law_and_is_the_same_compiled_or_not(scale):
    law, rng = dlaplace(1 / scale), np.random.default_rng(0)
    sample = np.array([noise.geometric(scale, rng) for _ in range(DRAWS)])
    assert sample.dtype == np.int64
    plain = np.random.default_rng(0)
    assert [naive.plain(noise.geometric)(scale, plain) for _ in range(200)] == [*sample[:200]]
    edges = np.unique(law.ppf(np.linspace(0.02, 0.98, 25))).astype(int)
    found = np.histogram(sample, [-np.inf, *(edges + 0.5), np.inf])[0]
    expected = DRAWS * np.diff(law.cdf([-np.inf, *(edges + 0.5), np.inf]))
    kept = expected > 0
    assert found[~kept].sum() == 0
    assert chisquare(found[kept], expected[kept]).pvalue > FALSE_ALARM
    spread = float((sample.astype(float) ** 2).mean() / law.var())
    assert abs(spread - 1) < 4.5 * math.sqrt((law.stats("k") + 2) / DRAWS)


def test_geometric_noise_of_no_scale_is_none_and_the_smallest_is_rare():
    rng = np.random.default_rng(0)
    assert [noise.geometric(scale, rng) for scale in (0.0, 1e-6, 2.0**-10, 0.001)] == [0] * 4
    for exponent in (-9, 0, 20, 52):
        assert abs(noise.geometric(2.0**exponent, rng)) < 60 * 2.0**exponent


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


BATCHED, BATCHED_EXP4 = BatchedPrivate(EXP3(0.3, 0.1), 0.5, 4), EXP4Batched(0.5, 1e-3, 0.1, 0.5, 7)
BY_DOCSTRING = {
    **{make(0.5): {2} for make in (AnytimeLazyUCB, LazyDPTS, AdaPKLUCB, DPKLUCB, DPIMED)},
    # trees of depth 1 to 6, and sums
    HybridUCB(0.5): {4, 8, 12, 16, 20, 24},
    HybridUCB(0.5, "rootfree"): {4, 8, 12, 16, 20, 24},
    HybridUCB(0.5, "scaled"): {4, 8, 12, 16, 20, 24, 28},
    SparseSwitch(0.5, 1.0): {4, 8},
    FTPL(0.2, 3): {5},
    BATCHED: {0.5},
    LocallyPrivate(EXP3(0.3, 0.1), 0.5): {2},
    ExpertsFromBandit(BATCHED): {0.5},
    EXP4Local(0.5, 0.1, 0.1): {2},
    BATCHED_EXP4: {BATCHED_EXP4.scale(2, 3)},
}


@pytest.mark.parametrize("algorithm", BY_DOCSTRING, ids=repr)
def test_all_noise_of_an_algorithm_has_the_documented_scale(algorithm):
    arms = 2 if isinstance(algorithm, SparseSwitch | EXP4Batched) else 3
    recorder = naive.Recorder(np.random.default_rng(1))
    advice = [np.full((3, arms), 1 / arms)] if algorithm.steps.expert else []
    naive.literal(algorithm, np.full((200, arms), 0.7), recorder, *advice)
    assert {*recorder.scales} == BY_DOCSTRING[algorithm]
