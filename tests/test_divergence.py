"""The divergence d_epsilon and its inverse: against 50 digits, in closed form, and as azize2025
says they behave."""

import math
from decimal import Decimal, localcontext
from itertools import product

import numpy as np
import pytest

from privregret.bounds import azize2025 as bounds
from privregret.divergence import d_epsilon, d_epsilon_inverse, kl, kl_inverse

GRID = [0, 1e-12, 1e-6, 0.01, 0.3, 0.5, 0.5000001, 0.75, 0.9, 0.900001, 0.99, 1 - 1e-9, 1]


def exact_kl(p, q):
    pairs = [(a, b) for a, b in ((p, q), (1 - p, 1 - q)) if a > 0]
    return sum(a * (a / b).ln() if b > 0 else Decimal("Infinity") for a, b in pairs)


def exact_d_epsilon(x, y, epsilon):
    """(6): the minimum over z of epsilon |z - x| + kl(z, y), at x, y or where its slope is 0."""
    at = [x, y]
    if 0 < y < 1:
        odds = y / (1 - y) * (epsilon if y < x else -epsilon).exp()
        at += [odds / (1 + odds)] * (min(at) < odds / (1 + odds) < max(at))
    return min(epsilon * abs(z - x) + exact_kl(z, y) for z in at)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 5, 36.7, 37])
def test_divergences_are_their_definitions_in_50_digits(epsilon):
    with localcontext(prec=50):
        for x, y in product(map(float, GRID), repeat=2):
            exact = [exact_kl(Decimal(x), Decimal(y))]
            exact += [exact_d_epsilon(Decimal(x), Decimal(y), Decimal(epsilon))]
            found = kl(x, y), d_epsilon(x, y, float(epsilon))
            assert found == pytest.approx([*map(float, exact)], rel=1e-12, abs=0)


def some_points(n, seed=0):
    """x of all kinds; a level, often just above where logits differ by epsilon; epsilon."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        ends = rng.random() ** 4, 1 - rng.random() ** 4, 10 ** rng.uniform(-9, 0)
        x, epsilon = rng.choice([rng.random(), *ends, 0, 1]), 10 ** rng.uniform(-6, math.log10(50))
        switch = kl(x, x / (x + (1 - x) * math.exp(-epsilon)))
        yield x, rng.choice([10 ** rng.uniform(-9, 1.5), 1.005 * switch or 1.0]), epsilon


def test_inverse_solves_the_equation():
    """To 1e-12 relative, plus what four units in the last place of the solution are worth."""
    for x, level, epsilon in some_points(5000):
        mu = d_epsilon_inverse(x, level, epsilon)
        if level >= epsilon * (1 - x):
            assert mu == 1
        elif mu < 1 - 1e-15:  # else the solution rounds to 1
            off = 4 * np.spacing(mu) * min((mu - x) / (mu * (1 - mu)), math.expm1(epsilon))
            assert abs(d_epsilon(x, mu, epsilon) - level) <= 1e-12 * level + off


def test_inverse_of_kl():
    for x, level, _ in some_points(5000):
        mu = kl_inverse(x, level)
        assert x <= mu <= 1
        if 0 < x < 1 and mu < 1 - 1e-12:
            off = 4 * np.spacing(mu) * (mu - x) / (mu * (1 - mu))
            assert abs(kl(x, mu) - level) <= 1e-12 * level + off
    assert kl_inverse(0.0, 2.0) == pytest.approx(-math.expm1(-2.0), rel=1e-15)
    assert kl_inverse(1.0, 2.0) == 1 and kl_inverse(0.4, 0.0) == 0.4


def test_known_inverses():
    assert d_epsilon_inverse(0.5, 1.79, 1000.0) == pytest.approx(0.992981820594, abs=1e-12)
    assert d_epsilon_inverse(0.0, 0.01, 1e6) == d_epsilon_inverse(0.0, 0.01, 60.0)
    assert d_epsilon_inverse(0.0, 0.01, 37.0) == pytest.approx(-math.expm1(-0.01), rel=1e-14)


def test_properties_of_d_epsilon():
    """Lemmas F.3 and F.5 with (33) of its proof, by finite differences."""
    rng, h = np.random.default_rng(2), 1e-7
    for _ in range(1000):
        x, y = np.sort(rng.uniform(0.01, 0.99, 2))
        epsilon = 10 ** rng.uniform(-2, 1)
        d = d_epsilon(x, y, epsilon)
        assert d == pytest.approx(d_epsilon(1 - x, 1 - y, epsilon), rel=1e-9)
        assert d <= min(kl(x, y), epsilon * (y - x), d_epsilon(x, y, 2 * epsilon)) * (1 + 1e-12)
        if epsilon >= bounds.critical_epsilon(x, y):
            assert d == pytest.approx(kl(x, y), rel=1e-12)
        assert d >= bounds.d_epsilon(x, y, epsilon)
        assert abs(d_epsilon(x + h, y, epsilon) - d) / h <= epsilon * (1 + 1e-5) + 1e-5
        limits = 1 / (1 - y), math.expm1(epsilon), (kl(x, y + h) - kl(x, y)) / h
        assert (d_epsilon(x, y + h, epsilon) - d) / h <= min(limits) * (1 + 1e-5) + 1e-5
