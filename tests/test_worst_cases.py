"""Searches and quotients of the notebooks whose numbers are quoted as worst cases."""

import numpy as np
import pytest

from privregret import exact, instances
from privregret.full_information import FTNL
from privregret.studies import hu2021, wu2026


def test_no_equal_gap_is_worse_than_the_worst_by_more_than_its_error():
    learner, actions, horizon = FTNL(10.0, "gumbel", bernoulli_resampling=True), 1e6, 2**26
    log_k = np.log(actions)
    found = wu2026.worst_equal_gap(learner, log_k, horizon)
    rate = np.sqrt(horizon * log_k) + log_k**2 / learner.epsilon
    assert found["regret"] / rate == pytest.approx(0.976, abs=1e-3)  # 0.9605 at powers of two
    assert 0 < found["error"] <= 0.0101 * found["regret"]
    others = (0.0, log_k + np.log1p(-1 / actions))
    gaps = np.append(2.0 ** -np.arange(4.0), found["gap"] * 2 ** np.linspace(-0.6, 0.6, 9))
    problems = [
        instances.bernoulli_losses((0.5 - g / 2, 0.5 + g / 2), log_counts=others) for g in gaps
    ]
    regrets = exact.regret_curves(learner, problems, horizon).regret
    assert regrets.max() <= found["regret"] + found["error"]
    assert (np.diff(regrets[4:] / gaps[4:]) < 0).all()  # why the search is complete


def test_the_doubling_instance_is_judged_by_the_printed_order():
    """The quotient of Section 7 divides by log K min(log2(1 / gap), log2 T), without the 1 that
    repairs Theorem 7."""
    gaps = 0.9 * 2.0 ** np.arange(-5, 1)
    epsilon, log_k = 0.25 * gaps[0], np.log(7)
    proof = 1 + sum(256 / np.minimum(gaps, epsilon))
    printed = log_k / gaps[0] + log_k * np.log2(1 / gaps[0]) / epsilon
    assert hu2021.bound_over_rate(6, 0.0, 0.25, 2**60) == pytest.approx(proof / printed)
