"""Bounds and exact tails of azize2025: known values, laws by simulation, steps of proofs."""

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from laws import FALSE_ALARM
from scipy.stats import laplace, norm

from privregret import estimates
from privregret.bounds import azize2025
from privregret.divergence import d_epsilon, kl
from privregret.instances import AZIZE2025_1, AZIZE2025_2, AZIZE2025_3, AZIZE2025_4
from privregret.studies import azize2025 as study
from privregret.studies import azize2025_tails as tails


def close(hits, p):
    """Whether a frequency of 200 000 draws agrees with a probability."""
    return abs(hits - p) <= norm.isf(FALSE_ALARM / 6) * math.sqrt(p * (1 - p) / 200_000)


@pytest.mark.parametrize(
    "instance, kl_constant, new",
    [
        (AZIZE2025_1, 31.243, (407.66, 49.42, 31.244)),
        (AZIZE2025_2, 7.128, (401.57, 41.68, 17.89)),
        (AZIZE2025_3, 5.042, (401.07, 41.12, 17.21)),
        (AZIZE2025_4, 18.071, (404.38, 45.76, 25.87)),
    ],
)
def test_lower_bound_constants(instance, kl_constant, new):
    found = azize2025.lower_bounds(instance.means, (0.01, 0.1, 0.25))
    assert found["theorem_3_1"] == pytest.approx(new, abs=6e-3)
    assert found["equation_7"][0] == pytest.approx(4 / 0.06, rel=1e-12)
    assert found["lai_robbins"] == pytest.approx([kl_constant] * 3, abs=6e-4)


def test_laplace_tail():
    z = np.linspace(-20, 20, 41)
    one = laplace.logsf(z, scale=1 / 0.7)
    assert tails.laplace_tail(z, 1, 0.7) == pytest.approx(one, rel=1e-12, abs=1e-14)
    both = np.exp(tails.laplace_tail(z, 9, 0.7)) + np.exp(tails.laplace_tail(-z, 9, 0.7))
    assert both == pytest.approx(np.ones(len(z)), rel=1e-12)
    known = math.log(1.2759104840429e-14)
    assert tails.laplace_tail(60.0, 20, 1.0) == pytest.approx(known, rel=1e-10)
    assert tails.laplace_tail(1e4, 300, 1.0) < -5000  # far beyond what probabilities can hold
    rng = np.random.default_rng(0)
    for m, epsilon, at in ((2, 1.0, 1.5), (7, 0.3, 12.0), (20, 2.0, 2.0)):
        hits = (rng.laplace(0, 1 / epsilon, (200_000, m)).sum(axis=1) >= at).mean()
        assert close(hits, math.exp(tails.laplace_tail(at, m, epsilon)))


def test_tail_of_binomial_plus_laplace():
    rng = np.random.default_rng(1)
    for at in ((15, 30, 3, 0.4, 0.5), (100, 127, 7, 0.75, 1.0), (5, 3, 1, 0.9, 0.1)):
        x, n, m, mu, epsilon = at
        noise = rng.laplace(0, 1 / epsilon, (200_000, m)).sum(axis=1)
        hits = (rng.binomial(n, mu, 200_000) + noise >= x).mean()
        assert close(hits, math.exp(tails.tail(*at)))
        below = math.exp(tails.tail(*at, lower=True))
        assert below + math.exp(tails.tail(*at)) == pytest.approx(1)
    n = 2**12 - 1
    for function, proved, value in (
        (tails.tail, {}, 7.427e-9),
        (tails.separate, {}, 1.949e-4),
        (azize2025.joint_chernoff, {}, 1.236e-7),
        (azize2025.lemma_d3, {}, 6.454e24),
        (azize2025.lemma_d3, {"proved": True}, 1.274e26),
    ):
        found = np.exp(function(0.75 * n, n, 12, 0.7, 0.25, **proved))
        assert found == pytest.approx(value, rel=1e-3)


@pytest.mark.parametrize("mu", [0.05, 0.75])
def test_exact_tails_are_below_every_bound(mu):
    ways, more = (0.0, 0.1, 0.4, 0.9), ((0.01, 0.25, 3.0), (2, 5, 9))
    for way, epsilon, m in product(ways, *more):
        x, n = mu + (1 - mu) * way, 2**m - 1
        at, nd = (n * x, n, m, mu, epsilon), n * d_epsilon(x, mu, epsilon)
        exact, joint = tails.tail(*at), azize2025.joint_chernoff(*at)
        assert exact <= tails.separate(*at) + 1e-9
        assert exact <= joint + 1e-9
        assert joint <= azize2025.lemma_d3(*at) + 1e-9
        assert exact <= azize2025.lemma_d3(*at, proved=True)
        # the second term of Lemma D.3's constant is enough
        if nd >= m:
            simple = m * (1 + math.log(nd / m)) - nd
            second = 1 + m * math.log1p(m * epsilon * n * (x - mu)) - nd
            assert joint - 1e-9 <= simple <= second
        # and (24) has this factor
        assert kl(x, mu) <= (x - mu) / (1 - mu) * -math.log(mu) + 1e-12


def test_crossing_counts_every_sequence():
    p, q, alpha, n = 0.4, 0.7, 0.2, 9
    x = np.array(list(product((0, 1), repeat=n)))
    ratios = np.where(x, np.log(p / q), np.log((1 - p) / (1 - q))).cumsum(axis=1)
    crossed = (ratios > (1 + alpha) * n * kl(p, q)).any(axis=1)
    chance = np.where(x, p, 1 - p).prod(axis=1)[crossed].sum()
    assert 0.05 < chance == pytest.approx(tails.crossing(p, q, alpha, n), rel=1e-12)
    for alpha in (0.05, 0.5):
        exact = [tails.crossing(p, q, alpha, n) for n in (20, 200)]
        assert (exact <= azize2025.crossing_bound(p, q, alpha, [20, 200])).all()
    assert tails.crossing(p, q, 100.0, 20) == 0 == azize2025.crossing_bound(p, q, 100.0, 20)


def test_steps_of_theorem_f7():
    """The printed step fails, its repair holds; longer runs have the decisions of shorter ones and
    more."""
    given = (0.75, 0.625, 0.5), 0.5
    short, long = (
        np.array([study.theorem_f7(*given, t, 0.02, 1, np.random.default_rng(s)) for s in range(9)])
        for t in (300, 3000)
    )
    printed, first, second = long.max(axis=0)
    assert (long >= short).all() and printed > 0.01 and max(first, second) <= 1e-9


def test_how_often_an_order_is_seen_has_the_error_of_the_smallest_baseline():
    experiments = pd.DataFrame({"instance": "one", "algorithm": "new", "mean": np.arange(100.0)})
    baselines = pd.DataFrame({"instance": "one", "mean": [80.5, 60.5, 10], "se": [1, 5, math.inf]})
    (seen,) = study.order_seen(experiments.assign(se=1.0), baselines, ["instance"]).itertuples()
    met = experiments.assign(met=experiments["mean"] < 60.5)
    alone = estimates.fractions(met, "algorithm", "met").fraction_se[0]
    # 56 to 66 of the 100 are below the mean of the second baseline and its error
    assert seen.fraction == 0.61 and seen.fraction_se == pytest.approx(math.hypot(alone, 0.05))
