"""Comparisons of algorithms."""

import math

import numpy as np
import pandas as pd
import pytest
from conftest import refused

from privregret import estimates
from privregret.bandits import HybridUCB
from privregret.estimates import Estimate
from privregret.full_information import FTNL, RandomPrefixSoftmax
from privregret.studies import side_by_side


def sample(medians, runs, seed, tail=1.2):
    """Runs of several algorithms with Pareto tails so heavy that means say little."""
    rng = np.random.default_rng(seed)
    scale = 2 ** (1 / tail)
    frames = [
        pd.DataFrame(
            {"instance": c, "algorithm": a, "regret": m / scale * (1 + rng.pareto(tail, runs))}
        )
        for c in range(5)
        for a, m in enumerate(medians)
    ]
    return pd.concat(frames)


def test_limits_hold_for_all_rows_at_once_and_leaders_are_right():
    medians, missed = [100.0, 100.0, 130.0, 400.0], 0
    for seed in range(200):
        table = estimates.quantile_limits(
            sample(medians, 300, seed), ["instance", "algorithm"], confidence=0.9
        )
        truth = table.algorithm.map(dict(enumerate(medians)))
        missed += not ((table.lower_limit <= truth) & (truth <= table.upper_limit)).all()
        best = (
            side_by_side.leaders(table, ["instance"])
            .query("algorithm < 2")
            .groupby("instance")
            .leads.any()
        )
        missed += not best.all()
    # at most one in ten: 20 expected at worst, 35 is 3.5 standard deviations more
    assert missed <= 35
    led = side_by_side.leaders(table, ["instance"])
    assert (
        not led[led.algorithm == 3].leads.any() and (led.groupby("instance").leads.sum() >= 1).all()
    )


@pytest.mark.parametrize("noise", ["laplace", "exponential", "gumbel"])
def test_equal_privacy_is_equal_noise(noise):
    for scale in (1.0, 2.0, 5.0):
        algorithm = side_by_side.at_privacy(lambda e, scale=scale: FTNL(e, noise, scale), 0.5)
        assert algorithm.privacy.proved == pytest.approx(0.5) and algorithm.noise_scale(
            10
        ) == pytest.approx(4)


def test_a_promise_of_half_as_much_again_is_kept_with_two_thirds():
    assert side_by_side.at_privacy(HybridUCB, 3.0).epsilon == pytest.approx(2)
    assert side_by_side.at_privacy(RandomPrefixSoftmax, 0.2).epsilon == pytest.approx(0.2)
    refused(lambda: side_by_side.at_privacy(RandomPrefixSoftmax, 1.0), "epsilon", "1", "0.25")


def test_the_affordable_epsilon_of_a_power_law():
    epsilons = np.geomspace(0.01, 10, 16)
    regrets = [Estimate(3 / e, 0.1 / e) for e in epsilons]
    found = side_by_side.affordable(epsilons, regrets, 6.0)
    assert found.value == pytest.approx(0.5) and found.high == pytest.approx(3.3 / 6)
    assert side_by_side.affordable(epsilons, regrets, 0.1) == Estimate(math.inf)
    refused(lambda: side_by_side.affordable(epsilons, regrets, 1000.0), "target", "300", "1000")
    assert (
        side_by_side.affordable(epsilons, [Estimate(3 / e, 2 / e) for e in epsilons], 6.0).se
        == math.inf
    )
