"""Estimates: operations against closed forms and simulation; what intervals cover."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from conftest import refused
from scipy import stats

from privregret import estimates
from privregret.estimates import Estimate, exactly

# how often an interval of three standard errors may miss, to either side
MISS = 2 * estimates.LEVEL
DRAWS = 2000


def seldom(misses, chance, draws) -> bool:
    """Whether `misses` in `draws` are no more than `chance` allows, but for one seed in 10^4."""
    return misses <= stats.binom.isf(1e-4, draws, chance)


def covers(found, truth, chance=MISS) -> bool:
    """Whether the intervals of many estimates miss the truth no more often than by chance."""
    return seldom(sum(not e.low <= truth <= e.high for e in found), chance, len(found))


def test_an_interval_is_three_standard_errors_and_the_bound():
    assert estimates.STANDARD_ERRORS == 3 and estimates.LEVEL == pytest.approx(stats.norm.sf(3))
    e = Estimate(2.0, 0.1, 0.5)
    assert (e.low, e.high, e.reach) == pytest.approx((1.2, 2.8, 0.8))
    tiny = estimates.ROUNDING
    # rounding is no error
    assert Estimate(2.0, 0.6 * tiny).reach == 0 and Estimate(2.0, 0.7 * tiny).reach > 0
    assert Estimate(0.0, 1e-300).reach > 0
    assert Estimate(1.0, math.inf).low == -math.inf and Estimate(1.0, math.inf).high == math.inf
    assert exactly(3) == Estimate(3.0) and exactly(e) is e


def test_bad_numbers():
    for call, *words in (
        (lambda: Estimate(b"1"), "value", "b'1'"),
        (lambda: estimates.rounded(1.0, -1), "error", "0", "-1.0"),
        (lambda: estimates.largest([]), "items", "none"),
        (lambda: estimates.spread([-2.0, 1.0]), "items", "-2"),
        (lambda: estimates.fraction([0.0, 2.0]), "successes", "2"),
        (lambda: Estimate(-1.0, 0.1, 0.5).log(), "items", "-1"),
    ):
        refused(call, *words)
    for zero in (0.0, Estimate(0.0, 1.0)):
        refused(lambda e=zero: Estimate(1.0) / e, "0.0", error=ZeroDivisionError)


A, B = Estimate(5.0, 0.02), Estimate(3.0, 0.03)
OPERATIONS = {
    "sum": (lambda a, b: a + b, A, B),
    "difference": (lambda a, b: a - b, A, B),
    "product": (lambda a, b: a * b, A, B),
    "ratio": (lambda a, b: a / b, A, B),
    "number less": (lambda a, b: 7 - b, A, B),
    "number over": (lambda a, b: 7 / b, A, B),
    "scaled": (lambda a, b: 2 * a + b / 4 - 1, A, B),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_propagate_errors(name):
    """Standard errors by 10^5 normal draws, which give them to 1 per cent. The true value lies
    within the bound wherever the operands are, and reaches it to first order."""
    operation, a, b = OPERATIONS[name]
    rng = np.random.default_rng(0)
    x, y = (rng.normal(e.value, e.se, 100_000) for e in (a, b))
    found, sample = operation(a, b), operation(x, y)
    assert found.value == pytest.approx(operation(a.value, b.value), rel=1e-15)
    assert found.se == pytest.approx(sample.std(), rel=0.015) and found.bound == 0
    a, b = Estimate(5.0, 0, 0.2), Estimate(-3.0, 0, 0.3)
    found = operation(a, b)
    ends = [operation(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    reach = max(abs(e - found.value) for e in ends)
    assert reach == pytest.approx(found.bound, rel=1e-12) and found.se == 0


def test_logarithms():
    assert Estimate(5.0, 0.1).log() == Estimate(math.log(5), 0.02)
    for unknown in (Estimate(0.5, 0.2), Estimate(0.5, 0.0, 0.5)):
        assert (unknown.log().value, unknown.log().low) == (math.log(0.5), -math.inf)
    e = Estimate(5.0, 0, 0.5).log()
    assert e.bound == pytest.approx(math.log(5) - math.log(4.5)) and e.high >= math.log(5.5)
    assert [e.value for e in estimates.logs([1.0, math.e])] == [0.0, 1.0]


def test_a_divisor_that_may_be_0_and_numbers_that_are_not_known():
    near = Estimate(0.1, 0.1), Estimate(-0.3, 0.1), Estimate(0.1, 0, 0.1)
    unknown = Estimate(2.0, math.inf)
    known = unknown + 1, 3 * unknown, unknown / 4, 1 / unknown, unknown.log(), -unknown
    for result in (*(1 / divisor for divisor in near), *known):
        assert (result.low, result.high) == (-math.inf, math.inf)
    assert [(1 / divisor).value for divisor in near] == pytest.approx([10, -10 / 3, 10])
    assert (1 / Estimate(0.1, 0, 0.05)).high >= 1 / 0.05  # the asymmetric end is inside
    assert (1 / Estimate(0.31, 0.1)).high < math.inf
    assert 0 * unknown == Estimate(0.0)
    assert Estimate(math.inf, math.inf).low == -math.inf  # not the exact number infinity


def test_errors_of_unusual_samples():
    """Known tails, equal draws (many are a constant), arrays of objects, iterators, one draw."""
    sample = np.array([1.0, 2.0, 4.0, 9.0])
    assert estimates.mean(sample, heavy=True) == estimates.mean(sample) == Estimate(4.0, math.inf)
    known = estimates.mean(sample, heavy=False)
    student = stats.t.isf(estimates.LEVEL, 3) / 3
    assert known.se == pytest.approx(student * sample.std(ddof=1) / 2) and student > 3
    assert estimates.mean([1e9, 1e9 + 0.5, 1e9 + 1] * 9).reach > 0.3
    for value, heavy in product((0.0, 0.1, 1e9), (None, False)):
        assert estimates.mean([value] * 1999, heavy).se == math.inf
        assert estimates.mean([value] * 2000, heavy).se == 0.0
        flat, controls = np.full(40, value), np.random.default_rng(0).normal(size=(40, 1))
        assert estimates.mean_with_controls(flat, controls).se == math.inf
    assert estimates.mean(np.array([1.0, 2.0], object)) == estimates.mean([1.0, 2.0])
    assert estimates.mean_with_controls([1.0], np.zeros((1, 1))).se == math.inf
    assert estimates.spread(iter([1.0, 2.0])) == Estimate(2.0)


LAWS = {  # a law, and its mean
    "normal": (lambda rng, size: rng.normal(size=size), 0.0),
    "exponential": (lambda rng, size: rng.exponential(size=size), 1.0),
    "lognormal, s = 2": (lambda rng, size: rng.lognormal(0, 2, size), math.exp(2)),
    "Pareto 1.5": (lambda rng, size: rng.pareto(1.5, size), 2.0),
    "0/1, p = .01": (lambda rng, size: rng.binomial(1, 0.01, size), 0.01),
    "rare jumps": (lambda rng, size: 100 + 9900 * rng.binomial(1, 0.02, size), 298.0),
    "counts": (lambda rng, size: rng.poisson(0.3, size), 0.3),
}


@pytest.mark.parametrize("n", [5, 20, 200, 1000])
def test_an_error_covers_the_mean_of_many_laws_or_is_not_known(n):
    """At most 1 per cent of intervals miss; and with many draws of a calm law they are known."""
    groups = 1500 if n < 1000 else 600
    for name, (law, truth) in LAWS.items():
        x = law(np.random.default_rng(n), (groups, n)).astype(float)
        frame = pd.DataFrame({"g": np.repeat(np.arange(groups), n), "regret": x.ravel()})
        found = estimates.means(frame, "g")
        missed = (abs(found["mean"] - truth) > 3 * found.se).sum()
        assert seldom(missed, 0.01, groups), (name, missed)
        if n >= 200 and name in ("normal", "exponential", "counts"):
            assert np.isfinite(found.se).mean() > 0.95
            assert np.median(found.se / (found.sd / np.sqrt(n))) < (1.7 if n == 200 else 1.2)


@pytest.mark.parametrize("n", [5, 20, 200, 2000])
@pytest.mark.parametrize("shift", [1, 4])
def test_a_weighted_error_covers_or_is_not_known(n, shift):
    """E exp(X / 2) and P(X > 1) of a normal X, from draws of N(shift, 1), few of which decide."""
    groups = 400 if n < 2000 else 150
    x = np.random.default_rng(n).normal(shift, 1, (groups, n)).ravel()
    frame = pd.DataFrame({"g": np.repeat(np.arange(groups), n), "regret": np.exp(x / 2)})
    frame["weight"] = np.exp(shift**2 / 2 - shift * x)
    found = estimates.means(frame, "g", weights="weight")
    missed = (abs(found["mean"] - math.exp(1 / 8)) > 3 * found.se).sum()
    assert seldom(missed, 0.01, groups)
    met = frame.assign(met=frame.regret > math.exp(0.5))
    part = estimates.fractions(met, "g", "met", weights="weight")
    missed = (abs(part.fraction - stats.norm.sf(1)) > 3 * part.fraction_se).sum()
    assert seldom(missed, 0.01, groups) and part.fraction.between(0, 1).all()


def test_one_weight_carries_all():
    frame = pd.DataFrame({"regret": range(30), "weight": [0] * 29 + [1]})
    found = estimates.means(frame, [], weights="weight")
    assert found.heavy[0] and found.se[0] == math.inf
    none, every = (
        estimates.fractions(frame.assign(weight=[1.0, 3.0] * 15, met=met), [], "met", "weight")
        for met in (False, True)
    )
    assert (none.fraction[0], every.fraction[0]) == (0.0, 1.0)
    assert none.fraction_se[0] == pytest.approx(estimates.fraction(0, 24).se)
    assert every.fraction_se[0] == pytest.approx(none.fraction_se[0])


def test_controls_take_their_part_out_of_a_mean():
    rng = np.random.default_rng(2)
    controls = rng.normal(size=(40, 3))
    exact = estimates.mean_with_controls(7 + controls @ [1, -2, 0.5], controls)
    assert exact.value == pytest.approx(7) and exact.se == 0
    padded = np.column_stack([controls, np.full(40, 5.0)])  # the same in all draws: no control
    sample = rng.normal(size=40) + controls[:, 0]
    plain = estimates.mean_with_controls(sample, controls)
    assert estimates.mean_with_controls(sample, padded) == plain
    assert estimates.mean_with_controls(sample, padded[:, 3:]).value == pytest.approx(sample.mean())
    refused(lambda: estimates.mean_with_controls(sample[:29], controls[:29]), 29, 3)
    refused(lambda: estimates.mean_with_controls(sample[:39], controls), 39, 40)


@pytest.mark.parametrize("controls", [1, 2])
def test_the_error_of_a_controlled_mean_is_hc3_with_students_factor(controls):
    """The residual of each draw is that from the fit to all others."""
    n, rng = 9 * controls + 2, np.random.default_rng(controls)
    z = rng.normal(size=(n, controls))
    y, design = z[:, 0] + rng.normal(size=n), np.column_stack([np.ones(n), z])
    off = [
        row @ np.linalg.lstsq(np.delete(design, i, 0), np.delete(y, i), rcond=None)[0] - y[i]
        for i, row in enumerate(design)
    ]
    se = np.linalg.norm(np.linalg.pinv(design)[0] * off)
    student = stats.t.isf(estimates.LEVEL, n - 1 - controls) / 3
    found = estimates.mean_with_controls(y, z, heavy=False)
    assert found.se == pytest.approx(se * student, rel=1e-9)


def test_a_controlled_mean_covers():
    """Also where the spread grows with a control: the usual error of least squares does not."""
    rng, found, wider = np.random.default_rng(3), [], []
    for _ in range(DRAWS):
        controls = rng.laplace(size=(64, 2))
        spread = 0.2 + abs(controls[:, 0])
        sample = 5 + 3 * controls[:, 0] + controls[:, 1] ** 2 / 9 + spread * rng.normal(size=64)
        found.append(estimates.mean_with_controls(sample, controls, heavy=False))
        wider.append(estimates.mean_with_controls(sample, controls))
    off, errors = np.array([(e.value - 5 - 2 / 9, e.se) for e in found]).T
    assert abs(np.mean(off)) < 0.1 * np.std(off)
    assert 0.95 < np.median(errors) / np.std(off) < 1.2
    assert covers(found, 5 + 2 / 9, 0.004) and covers(wider, 5 + 2 / 9)
    assert all(wide.se >= se for wide, se in zip(wider, errors, strict=True))


@pytest.mark.parametrize("draws", [1, 20, 200, 2000])
def test_the_limits_of_a_fraction_are_exact(draws):
    """So many hits, or so few, have just the promised chance at the farther limit."""
    for hits in range(0, draws + 1, max(1, draws // 50)):
        e = estimates.fraction(hits, draws)
        few = stats.binom.cdf(hits, draws, min(e.high, 1)) if hits < draws else 0.0
        many = stats.binom.sf(hits - 1, draws, max(e.low, 0)) if hits else 0.0
        assert max(few, many) == pytest.approx(estimates.LEVEL, rel=1e-6), hits
    assert estimates.fraction([0, 1, 1.0]) == estimates.fraction([False, True, True])


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("n", [20, 150, 1000])
def test_a_quantile_reaches_to_the_draws_that_enclose_it(n, level):
    """Whatever the law: of the draws 1, ..., n, the closest that fail with the promised chance."""
    found, below = estimates.quantile(np.arange(1.0, n + 1), level), stats.binom(n, level).cdf
    # draw k is above the quantile if k - 1 draws or fewer are below it
    low = max((k for k in range(1, n + 1) if below(k - 1) <= estimates.LEVEL), default=-math.inf)
    high = min(
        (k for k in range(1, n + 1) if 1 - below(k - 1) <= estimates.LEVEL), default=math.inf
    )
    assert found.reach == pytest.approx(max(found.value - low, high - found.value))


def test_a_quantile_is_the_draw_that_n_level_draws_do_not_exceed():
    """Levels with two decimals, and thirds, are meant exactly: 100 * 0.29 is 29."""
    hundredths = (Fraction(i, 100) for i in (1, 10, 29, 50, 57, 58, 90, 99))
    for n, level in product((7, 100), (*hundredths, Fraction(1, 3), Fraction(2, 3))):
        draws, expected = np.arange(1.0, n + 1), math.floor(n * level) + 1
        frame = pd.DataFrame({"regret": draws, "weight": 1.0})
        assert estimates.quantile(draws, float(level)).value == expected
        limits = estimates.quantile_limits(frame[["regret"]], [], float(level))
        assert limits["quantile"][0] == expected
        weighted = estimates.quantiles(frame, [], {"q": float(level)}, weights="weight")
        assert weighted.q[0] == math.ceil(n * level)
    assert estimates.median(np.arange(9.0)).se == math.inf
    assert estimates.median([2.0, 1.0, 3.0]).value == 2.0


@pytest.mark.parametrize(("numbers", "spread"), [(2, 0.3), (20, 0.0)])
def test_largest_covers_all_numbers_at_once(numbers, spread):
    """Of noisy numbers, their means equal or not: the interval holds the largest mean."""
    rng = np.random.default_rng(0)
    means = np.linspace(1 - spread, 1, numbers)
    samples = rng.normal(means, 1.0, (2000, numbers))
    found = [estimates.largest([Estimate(x, 1.0) for x in sample]) for sample in samples]
    assert [e.value for e in found] == samples.max(axis=1).tolist()
    high, low = sum(e.high < 1 for e in found), sum(e.low > 1 for e in found)
    assert high + low <= 0.01 * len(samples)
    assert all(seldom(missed, estimates.LEVEL, len(samples)) for missed in (high, low))
    equal = estimates.largest([Estimate(1.0, 1.0)] * numbers)
    assert equal.reach == pytest.approx(stats.norm.isf(estimates.LEVEL / numbers))
    # an interval about the largest as if it had not been selected lies too high
    if numbers == 20 and spread == 0:
        assert not seldom((samples.max(axis=1) - 3 > 1).sum(), estimates.LEVEL, len(samples))


def test_a_number_of_which_hardly_anything_is_known_may_be_the_largest():
    """And a high one that is known stays high; the largest of exact numbers is exact."""
    loose = estimates.largest([Estimate(1.0, 0.001), Estimate(0.5, 1.0)])
    assert loose.value == 1.0 and loose.high > 3 and loose.low <= 1.0
    assert estimates.largest([Estimate(1.0, 0.001), Estimate(0.5, math.inf)]).high == math.inf
    low = estimates.smallest([Estimate(1.0, 0.001), Estimate(1.5, 1.0)])
    assert low.value == 1.0 and low.low < -1
    for numbers, least, most in (
        (((1.0, 0, 0.5), (1.2, 0, 0.1)), 1.1, 1.5),
        (((1.0,), (0.9, 0, 0.3)), 1.0, 1.2),
    ):
        found = estimates.largest([Estimate(*e) for e in numbers])
        assert found.low <= least and found.high >= most
    assert estimates.largest([1.0, 3.0, 2.0]) == estimates.spread([1.0, 3.0, 2.0]) == Estimate(3.0)
    assert estimates.largest_step([1.0, 3.0, 6.0]) == Estimate(3.0)


def test_smallest_and_steps_cover():
    rng = np.random.default_rng(1)
    samples = rng.normal(10.0, 0.2, (1000, 10))
    noisy = [[Estimate(x, 0.2) for x in sample] for sample in samples]
    for estimate in (estimates.smallest, estimates.spread, estimates.largest_step):
        truth = 10.0 if estimate is estimates.smallest else 1.0
        assert covers([estimate(n) for n in noisy], truth), estimate


def test_slope_of_a_line_is_exact():
    assert estimates.slope([1, 2, 3], [exactly(y) for y in (2.0, 4.0, 6.0)]) == Estimate(2.0)
    # two points scatter about nothing
    assert estimates.slope([0, 1], [5.0, 8.0]) == Estimate(3.0, math.inf)
    assert estimates.slope([0, 1, 2, 5], [4.0] * 4) == Estimate(0.0)
    powers = estimates.slope(np.log([1, 2, 4, 8]), estimates.logs([1.0, 2**0.5, 2.0, 2**1.5]))
    assert powers.value == pytest.approx(0.5) and powers.se == 0


@pytest.mark.parametrize("points", [3, 10])
def test_slope_with_scatter_has_students_error(points):
    """Three standard errors cover as normal ones do; with few points normal ones miss often."""
    rng, x = np.random.default_rng(0), np.linspace(0, 1, points)
    slopes = [estimates.slope(x, 2 * x + rng.normal(size=points)) for _ in range(600)]
    assert covers(slopes, 2)
    if points == 3:
        width = stats.t.isf(estimates.LEVEL, 1) / 3
        assert sum(abs(e.value - 2) > 3 * e.se / width for e in slopes) > 0.05 * len(slopes)


def test_slope_of_estimates_uses_their_errors():
    rng, x = np.random.default_rng(0), np.array([0.0, 1.0, 2.0, 5.0])
    se = np.array([0.1, 0.5, 0.2, 1.0])
    samples = rng.normal(3 * x, se, (DRAWS, 4))
    points = ([Estimate(v, s) for v, s in zip(row, se, strict=True)] for row in samples)
    found = [estimates.slope(x, each) for each in points]
    assert found[0].se == pytest.approx(np.std([e.value for e in found]), rel=0.03)
    assert covers(found, 3)
    bounded = estimates.slope(x, [Estimate(3 * v, 0, 0.1) for v in x])
    expected = 0.1 * np.abs(x - 2).sum() / ((x - 2) ** 2).sum()
    assert bounded.se == 0 and bounded.bound == pytest.approx(expected)


def test_rounded():
    for value, error, printed in (
        (123.456, 1.23, "123.5"),
        (0.0012345, 0.0, "0.001234"),
        (98765.4, 321.0, "98765"),
        (1.0, 0.2, "1.00"),
    ):
        assert estimates.rounded(value, error) == printed
