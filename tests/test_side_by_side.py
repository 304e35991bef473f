"""Comparisons of algorithms."""

import math

import numpy as np
import pandas as pd
import pytest
from conftest import refused
from scipy.stats import binom

from privregret import estimates
from privregret.bandits import HybridUCB
from privregret.estimates import Estimate
from privregret.full_information import FTNL, RandomPrefixSoftmax
from privregret.studies import side_by_side


def sample(medians, runs, rng, tail=1.2):
    """Runs of several algorithms with Pareto tails so heavy that means say little."""
    scale = 2 ** (1 / tail)
    return pd.concat(
        pd.DataFrame(
            {"instance": c, "algorithm": a, "regret": m / scale * (1 + rng.pareto(tail, runs))}
        )
        for c in range(5)
        for a, m in enumerate(medians)
    )


def test_limits_hold_for_all_rows_at_once_and_leaders_are_right():
    medians, missed, rng = [100.0, 100.0, 130.0, 400.0], 0, np.random.default_rng(0)
    for _ in range(50):
        runs = sample(medians, 300, rng)
        table = estimates.quantile_limits(runs, ["instance", "algorithm"], confidence=0.9)
        truth = table.algorithm.map(dict(enumerate(medians)))
        missed += not ((table.lower_limit <= truth) & (truth <= table.upper_limit)).all()
        led = side_by_side.leaders(table, ["instance"])
        missed += not led[led.algorithm < 2].groupby("instance").leads.any().all()
    # at most one in ten, but for one seed in 10^4
    assert missed <= binom.isf(1e-4, 50, 0.1)
    assert not led[led.algorithm == 3].leads.any()
    assert (led.groupby("instance").leads.sum() >= 1).all()


def test_a_promise_of_half_as_much_again_is_kept_with_two_thirds():
    assert side_by_side.at_privacy(HybridUCB, 3.0).epsilon == pytest.approx(2)
    doubled = side_by_side.at_privacy(lambda e: FTNL(e, "exponential", 1.0), 0.5)
    assert doubled.privacy.proved == pytest.approx(0.5) and doubled.noise_scale(10) == 4
    assert side_by_side.at_privacy(RandomPrefixSoftmax, 0.2).epsilon == pytest.approx(0.2)
    refused(lambda: side_by_side.at_privacy(RandomPrefixSoftmax, 1.0), "epsilon", "1", "0.25")


def test_the_affordable_epsilon_of_a_power_law():
    epsilons = np.geomspace(0.01, 10, 16)
    regrets = [Estimate(3 / e, 0.1 / e) for e in epsilons]
    found = side_by_side.affordable(epsilons, regrets, 6.0)
    assert found.value == pytest.approx(0.5) and found.high == pytest.approx(3.3 / 6)
    assert side_by_side.affordable(epsilons, regrets, 0.1) == Estimate(math.inf)
    refused(lambda: side_by_side.affordable(epsilons, regrets, 1000.0), "target", "300", "1000")
    vague = [Estimate(3 / e, 2 / e) for e in epsilons]
    assert side_by_side.affordable(epsilons, vague, 6.0).se == math.inf
