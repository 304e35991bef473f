"""Importance sampling of rare runs, against brute force where that can be afforded."""

import time
from functools import partial

import numpy as np
import pytest
from conftest import refused

from privregret import estimates, rare, simulate
from privregret.bandits import DPIMED, DPKLUCB, AdaPKLUCB
from privregret.instances import AZIZE2025_1, AZIZE2025_2, BernoulliBandit

TWO = BernoulliBandit("two arms", (0.75, 0.5))
CASES = [  # plain runs that see what there is to see, and weighted ones
    (DPIMED(1.0), TWO, 3000, 100_000),
    (DPIMED(0.25, n0=8), TWO, 3000, 100_000),
    (DPIMED(3.0, 1.3), BernoulliBandit("best arm last", (0.2, 0.6, 0.9)), 2000, 100_000),
    (DPKLUCB(0.25), AZIZE2025_1, 3000, 100_000),
    (DPIMED(0.5, power=1), TWO, 1000, 100_000),
    # at the edges
    (DPIMED(40.0), BernoulliBandit("best sure", (0.6, 1.0)), 1000, 10_000),
    (DPKLUCB(1e3, 1.5), BernoulliBandit("two sure", (1.0, 1.0, 0.5)), 300, 10_000),
    (DPIMED(1e6, ties="first"), BernoulliBandit("nearly sure", (1 - 1e-9, 0.99)), 300, 10_000),
    (DPIMED(1.0), BernoulliBandit("sure", (1.0, 0.0)), 1000, 10_000),
    (DPKLUCB(1e-3, n0=2), BernoulliBandit("never", (0.0, 0.0, 0.0)), 100, 10_000),
    (DPIMED(0.3, n0=20), TWO, 10, 10_000),
    (DPIMED(2.0, 1.1, power=1), BernoulliBandit("short", (0.3, 0.999, 0.3)), 4, 10_000),
]


def means(sample, by, value="regret"):
    return estimates.means(sample, by, value, weights="weight")


def chance(sample, x):
    """Of a regret of at least x."""
    met = sample.assign(met=sample.regret >= x)
    return estimates.row(estimates.fractions(met, [], "met", weights="weight"))


@pytest.mark.parametrize("algorithm, problem, horizon, runs", CASES, ids=str)
def test_agrees_with_brute_force(algorithm, problem, horizon, runs):
    plain = simulate.regret_curves(algorithm, problem, horizon, runs, 1, points=1).regret
    sample = rare.regrets(algorithm, problem, horizon, runs * 2 // 5, 2)
    found, expected = estimates.row(means(sample, "algorithm")), estimates.mean(plain)
    assert abs((found - expected).value) < 4 * np.hypot(found.se, expected.se) + 1e-9
    error = sample.weight.std() / np.sqrt(len(sample))
    assert abs(sample.weight.mean() - 1) < 4 * error + 1e-12
    assert sample.weight.between(0, 1 / rare.PLAIN).all()
    for x in np.quantile(plain, [0.5, 0.9, 0.999]):
        measured, expected = chance(sample, x), estimates.fraction(plain >= x)
        assert abs(measured.value - expected.value) < 4 * np.hypot(measured.se, expected.se) + 1e-9


def test_knows_the_mean_where_plain_runs_do_not():
    """At T = 10^12 and eps = 1 the mean of DP-IMED is made by one run in thousands."""
    sample = rare.regrets(DPIMED(1.0), AZIZE2025_1, 10**12, 20_000, 1)
    found = means(sample, "algorithm")
    assert found.se[0] < 0.03 * found["mean"][0]
    assert found.top[0] < 0.02
    assert chance(sample, 50_000).high < 1e-3
    rest = sample.assign(regret=sample.regret.clip(upper=50_000))
    assert means(rest, "algorithm")["mean"][0] < 0.6 * found["mean"][0]


def test_a_plain_mean_of_few_runs_is_marked_and_a_weighted_one_is_right():
    """16 experiments of 100 runs: mean +- 3 standard errors is below the true mean in several."""
    algorithm, horizon = DPIMED(0.5), 10**6
    sample = rare.regrets(algorithm, AZIZE2025_2, horizon, 20_000, 2)
    truth = estimates.row(means(sample, []))
    assert not sample.heavy.any() and truth.se < 0.02 * truth.value
    plain = simulate.regret_curves(algorithm, AZIZE2025_2, horizon, 1600, 1, points=1)
    found = estimates.means(plain.assign(experiment=plain.run // 100), "experiment")
    assert (found["mean"] + 3 * found.sd / 10 < truth.low).sum() >= 4 and found.heavy.all()
    assert all(e.low == -np.inf and e.high == np.inf for e in estimates.rows(found))
    summary = simulate.regret_summary(algorithm, AZIZE2025_2, horizon, 100, 1, points=1)
    assert summary.heavy.all() and summary.se[0] == np.inf and summary.sd[0] < np.inf


def test_every_round_and_growth_against_brute_force():
    """With two workers; with one and the last round alone, the same numbers."""
    algorithm, rounds = DPIMED(0.25, n0=8), [100, 1000]
    plain = simulate.regret_curves(algorithm, TWO, 3000, 100_000, 1, points=rounds)
    sample = rare.regrets(algorithm, TWO, 3000, 20_000, 2, points=rounds, workers=2)
    assert sorted(sample.t.unique()) == [*rounds, 3000]
    found, expected = means(sample, "t").set_index("t"), estimates.means(plain, "t").set_index("t")
    assert (abs(found["mean"] - expected["mean"]) < 4 * np.hypot(found.se, expected.se)).all()
    first, last = (sample[sample.t == t].reset_index(drop=True) for t in (1000, 3000))
    growth = (last.regret - first.regret) / np.log(3)
    grown = estimates.row(means(last.assign(growth=growth), "algorithm", "growth"))
    ends = plain.pivot(index="run", columns="t", values="regret")
    truth = estimates.mean((ends[3000] - ends[1000]) / np.log(3))
    assert abs((grown - truth).value) < 4 * np.hypot(grown.se, truth.se)
    for level in (0.1, 0.5, 0.9):
        low, high = (np.quantile(ends[3000], level + d) for d in (-0.02, 0.02))
        found = estimates.quantiles(sample[sample.t == 3000], [], {"q": level}, weights="weight")
        assert low <= found.q[0] <= high
    last = rare.regrets(algorithm, TWO, 3000, 20_000, 2, workers=1).regret.to_numpy()
    assert (sample.regret[sample.t == 3000].to_numpy() == last).all()


@pytest.mark.parametrize("make", [DPKLUCB, DPIMED])
def test_tail_index(make):
    def index(means, epsilon):
        return make(epsilon).tail_index(BernoulliBandit("arms", means))

    assert index((0.5, 0.75), 1e-6) == pytest.approx(1.5, rel=1e-5)
    assert index((0.5, 0.75, 0.1, 0.75), 1e-6) == pytest.approx(3, rel=1e-5)
    # in time that is linear in the number of arms
    many = np.linspace(0.5, 0.75, 10**5)
    begin = time.process_time()
    assert index(many, 1e-6) == pytest.approx(index(many[-2:], 1e-6))
    assert time.process_time() - begin < 5
    assert index((0.75, 0.0), 1.0) == index((0.5, 0.5), 1.0) == np.inf


@pytest.mark.parametrize("means", [(1.0, 0.3), (1.0, 1.0), (0.5, 0.1)], ids=str)
@pytest.mark.parametrize("epsilon", [1e-6, 50.0, 1e6])
def test_weights_have_mean_1_at_the_longest_horizon(means, epsilon):
    sample = rare.regrets(DPIMED(epsilon, 3.0), BernoulliBandit("end", means), 2**62, 1000, 3)
    assert abs(sample.weight.mean() - 1) < 4.5 * (3 / 1000) ** 0.5


def test_what_is_refused(monkeypatch):
    """What has no known tail, no workers, and weights whose mean is not 1."""
    other, of = partial(rare.regrets, AdaPKLUCB(1.0), TWO), partial(rare.regrets, DPIMED(1.0), TWO)
    refused(lambda: other(1000, 10, 0), "algorithms", "DPKLUCB", "DPIMED", "AdaPKLUCB")
    refused(lambda: of(1000, 10, 0, workers=0), "workers", "0")
    monkeypatch.setattr(rare, "_log_moment", lambda mean, rate: 0.0)
    refused(lambda: of(1000, 3000, 1, workers=1), "DPIMED", TWO.name, error=RuntimeError)
