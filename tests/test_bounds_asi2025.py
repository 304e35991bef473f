"""Bounds of asi2025: steps of its proofs, and regrets on the right side of lower bounds."""

import math
from itertools import product

import numpy as np
import pytest

from privregret import instances, simulate
from privregret.adversarial import HTINF, tuning
from privregret.bounds import asi2025
from privregret.privacy.adversarial import composed_delta, laplace_delta
from privregret.studies.asi2025 import lemma_11_certified


def test_the_corrected_constant_of_lemma_25_covers_the_terms_of_its_proof():
    for horizon, arms in product(np.geomspace(3, 1e100, 60), (2, 3, 5, 20, 300, 10**4)):
        terms = asi2025.lemma_25_terms(horizon, arms, 1.0)
        assert terms < asi2025.lemma_25(horizon, arms, 1.0, corrected=True)


@pytest.mark.parametrize("a, b", [(0.5, 0.4), (0.0, 0.3), (1.0, 0.9)])
def test_exponents_of_table_1(a, b):
    near, far = (asi2025.table_1(T, 4, 2 * T**a, T**-b, logs=False) for T in (1e40, 1e80))
    for name, power in asi2025.table_1_exponents(a, b).items():
        assert math.log(far[name] / near[name]) == pytest.approx(power * math.log(1e40), 1e-3)


def test_terms_of_theorem_10_add_up_to_95_a():
    setting = 10**12, 4, 16, 1.0, 1e-6
    terms = asi2025.theorem_10_terms(*setting, tuning.batched_exp4(*setting, "corrected"))
    assert terms == pytest.approx(95 * asi2025.theorem_10_leading(*setting), rel=1e-3)


@pytest.mark.parametrize("shift, count", [(0.1, 20), (2.0, 3)])
def test_delta_of_laplace_noise_is_above_the_exact_one(shift, count):
    found = composed_delta(1.0, shift, count)
    assert found <= laplace_delta(1.0, shift, count) <= 10 * found


def test_lemma_11_forms():
    """The maximum of the two branches is at least their geometric mean, when p / rate is whole."""
    for rate, pulls, drop in product((0.5, 0.1, 0.01), (1, 2, 5), (0, 3, 50)):
        strong = asi2025.lemma_11(10**5, 0.1, rate, drop, pulls)
        assert strong >= asi2025.lemma_11_weaker(10**5, 0.1, drop, pulls) - 1e-9
    assert asi2025.lemma_11_weaker(10**5, 1.0, 0, 1) == 0.0  # e > 2: no bound
    # of order sqrt(T / epsilon) with p a small multiple of 1 / epsilon, and void at 1 / epsilon
    for epsilon in (1e-6, 1e-2):
        found = asi2025.lemma_11_weaker(10**12, epsilon, 0, int(0.375 / epsilon))
        assert found == pytest.approx(0.0799 * math.sqrt(10**12 / epsilon), rel=2e-3)
        assert asi2025.lemma_11_weaker(10**12, epsilon, 0, round(1 / epsilon)) == 0.0


def test_no_locally_private_learner_is_below_the_bound_for_the_local_model():
    """Losses (0, 1) always, epsilon = 1 / sqrt T; without privacy regret is far below."""
    T, epsilon, easy = 4096, 1 / 64, instances.gap_adversary(2, 1.0)
    bound = asi2025.any_local(T, epsilon)
    local = tuning.local_htinf(epsilon)
    assert simulate.regret_curves(local, easy, T, 100, 1, points=1).regret.mean() >= bound
    assert simulate.regret_curves(HTINF(1.0), easy, T, 20, 1, points=1).regret.mean() < bound / 10


def test_lemma_11_certificate_finds_what_is_there():
    """Pulls with probability 0.05 in each round meet both conditions from the start."""
    rng, horizon, runs = np.random.default_rng(1), 4000, 1000
    pulls = (rng.random((runs, horizon)) < 0.05).cumsum(axis=1)
    found = lemma_11_certified(pulls, np.arange(1, horizon + 1), 0.1)
    assert found["drop"] == 0
    assert 0.045 < found["rate"] * 2 ** round(math.log2(0.05 / found["rate"])) < 0.05
    assert found["bound"] == asi2025.lemma_11(horizon, 0.1, found["rate"], 0, found["pulls"])
    window = int(found["pulls"] / found["rate"])
    assert (pulls[:, window - 1] <= found["pulls"]).mean() > 0.5
    assert (pulls[:, -1] >= found["rate"] * horizon).mean() > 0.5


def test_lemma_11_certificate_is_not_given_for_nothing():
    """Pulls in the first half only: windows that may begin there hold too many. And epsilon above
    ln 2, and too few runs."""
    rounds = np.arange(1, 4001)
    early, even = np.minimum(rounds, 2000) // 10, rounds // 20
    assert lemma_11_certified(np.tile(early, (200, 1)), rounds, 0.1) is None
    assert lemma_11_certified(np.tile(even, (200, 1)), rounds, 0.7) is None
    assert lemma_11_certified(np.tile(even, (40, 1)), rounds, 0.1) is not None
    with pytest.raises(ValueError, match="pulls"):
        lemma_11_certified(np.tile(even, (4, 1)), rounds, 0.1)
