"""Grouped estimates: against plain formulas on random data, weighted too; ties, single runs, equal
draws."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from conftest import refused
from scipy import stats

from privregret import estimates
from privregret.estimates import Estimate

BY = ["instance", "epsilon"]


def runs_of(kind, seed=0):
    """Runs of six groups of different sizes, in mixed order, with weights; epsilon is missing in
    two groups."""
    rng = np.random.default_rng(seed)
    parts = []
    for i, epsilon in [(i, e) for i in ("two", "one") for e in (0.5, math.nan, 0.1)]:
        n = 1 if kind == "one run" else rng.integers(2, 60)
        regret = {
            "heavy tail": rng.pareto(1.2, n) * 100,
            "ties": rng.integers(0, 3, n).astype(float),
            "one run": rng.normal(size=n),
            "equal draws": np.full(n, 0.1 + rng.integers(9)),
        }[kind]
        weight = rng.exponential(size=n) + 0.01
        parts.append(
            pd.DataFrame({"instance": i, "epsilon": epsilon, "regret": regret, "weight": weight})
        )
    return pd.concat(parts).sample(frac=1, random_state=seed, ignore_index=True)


KINDS = ["heavy tail", "ties", "one run", "equal draws"]
plain = pytest.mark.parametrize(
    "frame", [runs_of(k).drop(columns="weight") for k in KINDS], ids=KINDS
)
weighted = pytest.mark.parametrize("frame", [runs_of(k) for k in KINDS], ids=KINDS)


def parts_of(frame, found):
    """The rows of each group, for each row of a result: in the order in which groups appear."""
    keys = frame[BY].drop_duplicates().reset_index(drop=True)
    pd.testing.assert_frame_equal(found[BY], keys)
    for row in found.itertuples():
        same = (frame.epsilon == row.epsilon) | (frame.epsilon.isna() & math.isnan(row.epsilon))
        yield row, frame[(frame.instance == row.instance) & same]


@plain
def test_means_are_those_of_each_group(frame):
    found = estimates.means(frame, BY)
    assert list(found) == [*BY, "mean", "sd", "se", "runs", "heavy"]
    for row, part in parts_of(frame, found):
        x, n = part.regret.to_numpy(), len(part)
        sd = x.std(ddof=1) if np.ptp(x) else math.nan if n == 1 else 0.0
        off = (x - x.mean()) ** 2
        share = off.max() / off.sum() if np.ptp(x) else 0.0
        heavy, se = share >= 1 / 3, math.nan if n == 1 else math.inf
        if np.ptp(x) and not heavy:
            se = sd / math.sqrt(n) * stats.t.isf(estimates.LEVEL, n - 1) / 3 / (1 - 3 * share)
        expected = x.mean(), sd, se
        assert (row.mean, row.sd, row.se) == pytest.approx(expected, rel=1e-9, nan_ok=True)
        assert row.heavy == heavy and row.runs == n and isinstance(row.runs, int)
        single = estimates.mean(x)
        read = estimates.row(found[found.index == row.Index])
        assert (read.value, read.se) == pytest.approx((single.value, single.se), rel=1e-12)
        assert n > 1 or read.se == math.inf


@weighted
def test_weighted_means_are_ratio_estimators(frame):
    found = estimates.means(frame, BY, weights="weight")
    assert list(found) == [*BY, "mean", "se", "top", "runs", "heavy"]
    for row, part in parts_of(frame, found):
        part_of = part.weight / part.weight.sum()
        mean = (part_of * part.regret).sum()
        off = (part_of * (part.regret - mean)) ** 2
        top = (part_of * part.regret).max() / mean if mean else 0.0
        assert (row.mean, row.top) == pytest.approx((mean, top), rel=1e-12)
        assert row.runs == len(part)
        worth = 1 / (part_of**2).sum()
        se, share = math.inf, (part_of**2).max() / (part_of**2).sum()
        if np.ptp(part.regret):
            share = max(share, off.max() / off.sum())
            if share < 1 / 3:
                student = stats.t.isf(estimates.LEVEL, worth - 1) / 3
                se = math.sqrt(off.sum()) * student / (1 - 3 * share)
            assert row.heavy == (share >= 1 / 3)
        se = se if len(part) > 1 else math.nan
        assert row.se == pytest.approx(se, rel=1e-9, nan_ok=True)


def test_equal_weights_give_plain_means():
    frame = runs_of("heavy tail").assign(weight=1.0)
    one, other = (
        estimates.means(frame, BY, weights="weight"),
        estimates.means(frame.drop(columns="weight"), BY),
    )
    assert one["mean"].tolist() == pytest.approx(other["mean"].tolist())
    # n for n - 1
    assert one.se.tolist() == pytest.approx((other.se * np.sqrt(1 - 1 / other.runs)).tolist())
    met = estimates.fractions(frame, BY, "regret > 50", "weight").fraction
    plain = estimates.fractions(frame.drop(columns="weight"), BY, "regret > 50").fraction
    assert met.tolist() == pytest.approx(plain.tolist())


def test_the_standard_error_of_a_weighted_mean_covers():
    """Draws from a tilted distribution, weighted back: the mean lies in three standard errors as
    often as it should."""
    rng, groups, n = np.random.default_rng(1), 400, 400
    x = rng.exponential(2.0, (groups, n))  # in place of scale 1
    weight = 2 * np.exp(-x / 2)
    frame = pd.DataFrame(
        {"g": np.repeat(np.arange(groups), n), "x": x.ravel(), "weight": weight.ravel()}
    )
    found = estimates.rows(estimates.means(frame, "g", "x", "weight"))
    missed = sum(not e.low <= 1 <= e.high for e in found)
    assert missed <= stats.binom.isf(1e-4, groups, 4 * estimates.LEVEL)
    assert 0.9 < np.mean([e.se for e in found]) / np.std([e.value for e in found]) < 1.4


@plain
def test_quantiles_are_interpolated(frame):
    found = estimates.quantiles(frame, BY, {"q10": 0.1, "median": 0.5, "q90": 0.9})
    for row, part in parts_of(frame, found):
        expected = np.quantile(part.regret, [0.1, 0.5, 0.9])
        assert (row.q10, row.median, row.q90) == pytest.approx(tuple(expected), rel=1e-12)


@weighted
def test_weighted_quantiles_hold_that_part_of_the_weight(frame):
    found = estimates.quantiles(frame, BY, {"low": 0.1, "half": 0.5, "all": 1.0}, weights="weight")
    for row, part in parts_of(frame, found):
        for level, value in ((0.1, row.low), (0.5, row.half)):
            total = part.weight.sum()
            assert part.weight[part.regret <= value].sum() >= level * total * (1 - 1e-12)
            assert part.weight[part.regret < value].sum() < level * total and value in set(
                part.regret
            )
        assert row.all == part.regret.max()


def test_bands_are_means_and_quantiles_of_the_same_groups():
    frame = runs_of("heavy tail").drop(columns="weight")
    found = estimates.bands(frame, BY)
    assert list(found) == [*BY, "mean", "sd", "se", "runs", "heavy", "q10", "q90"]
    for row, part in parts_of(frame, found):
        expected = part.regret.mean(), *np.quantile(part.regret, [0.1, 0.9])
        assert (row.mean, row.q10, row.q90) == pytest.approx(expected, rel=1e-12)


@plain
@pytest.mark.parametrize(("level", "confidence"), [(0.5, 0.99), (0.9, 0.9)])
def test_limits_are_order_statistics_by_bonferroni(frame, level, confidence):
    found = estimates.quantile_limits(frame, BY, level, confidence=confidence)
    chance = (1 - confidence) / (2 * len(found))
    for row, part in parts_of(frame, found):
        x, n = np.sort(part.regret.to_numpy()), len(part)
        low, high = (int(stats.binom.ppf(q, n, level)) for q in (chance, 1 - chance))
        assert row.lower_limit == (x[low - 1] if low else -math.inf)
        assert row.upper_limit == (x[high] if high < n else math.inf)
        assert (
            row.quantile == x[min(int(n * level), n - 1)] == estimates.quantile(x, level).value
            and row.runs == n
        )


def test_limits_of_a_uniform_sample():
    frame = pd.DataFrame({"a": 0, "regret": np.arange(1.0, 101)})
    row = estimates.quantile_limits(frame, ["a"], confidence=0.95).iloc[0]
    # the textbook's 40th and 61st of 100
    assert row[["quantile", "lower_limit", "upper_limit"]].tolist() == [51, 40, 61]
    few = estimates.quantile_limits(frame[:3], ["a"])
    assert (few.lower_limit[0], few.upper_limit[0]) == (-math.inf, math.inf)


@plain
def test_fractions_are_exact_limits(frame):
    found = estimates.fractions(frame, BY, "regret >= 1")
    for row, part in parts_of(frame, found):
        expected = estimates.fraction(int((part.regret >= 1).sum()), len(part))
        assert (row.fraction, row.fraction_se, row.runs) == (expected.value, expected.se, len(part))
        assert row.fraction_se > 0
    column = estimates.fractions(frame.assign(hit=frame.regret >= 1), BY, "hit")
    pd.testing.assert_frame_equal(column, found)


@weighted
def test_weighted_fractions_are_parts_of_the_weight(frame):
    found = estimates.fractions(frame, BY, "regret > 1", "weight")
    flags = frame.assign(met=frame.regret > 1)
    means = estimates.means(flags, BY, "met", "weight")
    for (row, part), se in zip(parts_of(flags, found), means.se, strict=True):
        expected = part.weight[part.met].sum() / part.weight.sum()
        assert row.fraction == pytest.approx(expected)
        if 0 < part.met.mean() < 1:
            assert row.fraction_se == pytest.approx(min(se, max(expected, 1 - expected) / 3))
        else:
            assert 0.002 < row.fraction_se <= 1 / 3


@weighted
def test_survivals_are_fractions_of_the_weight_at_or_above(frame):
    for weights in ("weight", None):
        runs = frame if weights else frame.drop(columns="weight")
        found = estimates.survival_curves(runs, BY, weights=weights)
        assert list(found) == [*BY, "at_least", "probability"]
        for key, part in runs.groupby(BY, dropna=False):
            same = found.epsilon.eq(key[1]) | (found.epsilon.isna() & math.isnan(key[1]))
            curve = found[(found.instance == key[0]) & same]
            weight = part.weight if weights else pd.Series(1.0, part.index)
            assert curve.probability.is_monotonic_increasing
            assert curve.probability.iloc[-1] == pytest.approx(1)
            assert curve.at_least.is_monotonic_decreasing and curve.at_least.is_unique
            for x, y in zip(curve.at_least, curve.probability, strict=True):
                assert y == pytest.approx(weight[part.regret >= x].sum() / weight.sum())
    many = estimates.survival_curves(pd.DataFrame({"regret": np.arange(10_000.0)}), [], points=100)
    assert len(many) <= 100 and many.probability.iloc[0] == 1e-4


def test_growth_is_per_unit_of_the_logarithm():
    rng = np.random.default_rng(0)
    index = pd.MultiIndex.from_product(
        [("a", "b"), range(5), (10, 100, 1000)], names=["algorithm", "run", "t"]
    )
    frame = pd.DataFrame({"regret": rng.random(30), "weight": 1.0}, index).reset_index()
    found = estimates.log_growths(frame.sample(frac=1, random_state=0), "algorithm")
    assert list(found) == ["algorithm", "run", "growth", "weight"] and len(found) == 10
    for row in found.itertuples():
        mine = (
            frame[(frame.algorithm == row.algorithm) & (frame.run == row.run)].set_index("t").regret
        )
        assert row.growth == pytest.approx((mine[1000] - mine[10]) / math.log(100))
    refused(lambda: estimates.log_growths(frame, []), "by", "run")
    refused(lambda: estimates.log_growths(frame[frame.t == 10], "algorithm"), "frame", "10")
    cut = frame.drop(frame[frame.t == 1000].index[0])
    refused(lambda: estimates.log_growths(cut, "algorithm"), "run")


# Rare runs, and what is missing


def test_a_mean_that_rare_runs_decide_is_marked():
    """By one run that makes most of the variance, or by what is known of the algorithm."""
    regret = [1.0, 3.0] * 20
    groups = {"calm": regret, "one run": [*regret[1:], 90.0], "few": [1.0, 3.0, 90.0]}
    frame = pd.concat(pd.DataFrame({"g": g, "regret": r}) for g, r in groups.items())
    known = frame.assign(heavy=frame.g == "calm")
    for marked, weights, heavy in (
        (frame, None, [False, True, True]),
        (known, None, [True, False, False]),
        (known.assign(weight=1.0), "weight", [True, True, True]),
    ):
        found = estimates.means(marked, "g", weights=weights)
        assert found.heavy.tolist() == heavy and np.isinf(found.se).tolist() == heavy
        assert [e.low == -math.inf for e in estimates.rows(found)] == heavy
    for found, wider in zip(estimates.means(known, "g")[1:].itertuples(), (3, 1), strict=True):
        student = stats.t.isf(estimates.LEVEL, found.runs - 1) / 3
        assert found.se == pytest.approx(wider * student * found.sd / found.runs**0.5)


def test_growth_keeps_the_mark():
    frame = pd.DataFrame({"run": [0, 0], "t": [1, 9], "regret": [1.0, 2.0], "heavy": True})
    assert estimates.log_growths(frame, []).heavy.tolist() == [True]


ARRAYS = {
    "nan": [0.0, 1.0, math.nan, 1.0],
    "None": np.array([0.0, 1.0, None, 1.0], object),
    "NA": pd.Series([0.0, 1.0, None, 1.0], dtype="Float64"),
    "whole NA": pd.Series([0, 1, None, 1], dtype="Int64"),
    "mask": np.ma.array([0.0, 1.0, 1.0, 1.0], mask=[False, False, True, False]),
}
OF_ARRAYS = {  # function -> what it is called with, and the name of what is missing
    "columns": (lambda x: estimates.columns(x, "a"), "numbers"),
    "mean_with_controls": (lambda x: estimates.mean_with_controls(x, np.zeros((4, 1))), "sample"),
    "controls": (lambda x: estimates.mean_with_controls(np.zeros(4), x.reshape(4, 1)), "controls"),
    "fraction": (estimates.fraction, "successes"),
    "largest": (estimates.largest, "items"),
    "largest_step": (estimates.largest_step, "items"),
    "logs": (estimates.logs, "items"),
    "mean": (estimates.mean, "sample"),
    "median": (estimates.median, "sample"),
    "quantile": (lambda x: estimates.quantile(x, 0.5), "sample"),
    "slope": (lambda x: estimates.slope(x, [1.0, 2.0, 3.0, 4.0]), "x"),
    "slope's y": (lambda x: estimates.slope([1.0, 2.0, 3.0, 4.0], x), "y"),
    "smallest": (estimates.smallest, "items"),
    "spread": (estimates.spread, "items"),
}
OF_FRAMES = {  # function -> what it is called with, and the columns that it reads
    "bands": (lambda f: estimates.bands(f, "g"), ["regret"]),
    "fractions": (lambda f: estimates.fractions(f, "g", "regret > 1", "w"), ["regret", "w"]),
    "fractions of flags": (lambda f: estimates.fractions(f, "g", "flag"), ["flag"]),
    "log_growths": (lambda f: estimates.log_growths(f, "g"), ["regret", "t"]),
    "largest over": (lambda f: estimates.largest(f, over="w"), ["regret", "error", "w"]),
    "means": (lambda f: estimates.means(f, "g"), ["regret", "heavy"]),
    "weighted means": (lambda f: estimates.means(f, "g", weights="w"), ["regret", "w"]),
    "quantile_limits": (lambda f: estimates.quantile_limits(f, "g"), ["regret"]),
    "quantiles": (lambda f: estimates.quantiles(f, "g", weights="w"), ["regret", "w"]),
    "ratios": (lambda f: estimates.ratios(f, "w"), ["regret", "error", "w", "w_se"]),
    "row": (lambda f: estimates.row(f, t=3), ["regret", "error"]),
    "rows": (lambda f: estimates.rows(f.rename(columns={"w": "mean"})), ["se", "heavy"]),
    "slopes": (lambda f: estimates.slopes(f, "g", "t"), ["regret", "error", "t"]),
    "survival_curves": (lambda f: estimates.survival_curves(f, "g", weights="w"), ["regret", "w"]),
}


def test_every_function_is_asked_about_missing_values():
    taking = {n for n in estimates.__all__ if callable(getattr(estimates, n)) and n[0].islower()}
    assert taking - {"exactly", "real", "rounded"} <= OF_ARRAYS.keys() | OF_FRAMES.keys()


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("name", OF_ARRAYS)
def test_a_missing_entry_is_refused(name, kind):
    call, argument = OF_ARRAYS[name]
    sample = ARRAYS[kind]
    if argument == "controls":
        sample = sample if hasattr(sample, "reshape") else np.array(sample, object)
    refused(lambda: call(sample), argument, 2)


@pytest.mark.parametrize("kind", [kind for kind in ARRAYS if kind != "mask"])
@pytest.mark.parametrize(
    ("name", "column"), [(name, c) for name in OF_FRAMES for c in OF_FRAMES[name][1]]
)
def test_a_missing_entry_of_a_frame_is_refused(name, column, kind):
    """The row is named as the frame names it, and without the entry there is an answer."""
    call, index = OF_FRAMES[name][0], [5, 6, 7, 8]
    frame = pd.DataFrame(
        {"g": "a", "run": 0, "w": 1.0, "w_se": 0.1, "se": 0.1, "error": 0.0}, index
    )
    frame = frame.assign(flag=[True, False] * 2, heavy=False, regret=[1.0, 2.0, 3.0, 4.0])
    frame["t"] = [1, 2, 3, 4]
    frame = frame if name == "log_growths" else frame.drop(columns="run")
    call(frame)
    numbers = pd.Series(ARRAYS[kind]).set_axis(index)
    refused(lambda: call(frame.assign(**{column: numbers})), f"'{column}'", 7)


def test_nullable_columns_with_all_values_are_like_others():
    frame = pd.DataFrame({"g": ["a", "b", "a"], "regret": [1.0, 2.0, 4.0], "w": [1.0, 2.0, 3.0]})
    nullable = frame.convert_dtypes()
    for call in (
        lambda f: estimates.bands(f, "g"),
        lambda f: estimates.means(f, "g", weights="w"),
        lambda f: estimates.quantile_limits(f, "g"),
        lambda f: estimates.fractions(f, "g", "regret > 1"),
        lambda f: estimates.fractions(f, "g", "regret > 1", "w"),
        lambda f: estimates.survival_curves(f, "g", weights="w"),
        lambda f: estimates.slopes(f, [], "w"),
    ):
        pd.testing.assert_frame_equal(call(nullable), call(frame), check_dtype=False)


@pytest.mark.parametrize(
    ("weights", "shown"), [([1.0, -0.5, 2.0], -0.5), ([1.0, 0.0, 0.0], 0), ([math.inf] * 3, "'w'")]
)
def test_weights_are_at_least_0_and_not_all_0(weights, shown):
    frame = pd.DataFrame({"g": ["a", "b", "b"], "regret": [1.0, 2.0, 3.0], "w": weights})
    for call in (
        lambda: estimates.means(frame, "g", weights="w"),
        lambda: estimates.quantiles(frame, "g", weights="w"),
        lambda: estimates.fractions(frame, "g", "regret > 1", weights="w"),
        lambda: estimates.survival_curves(frame, "g", weights="w"),
    ):
        refused(call, "weights", "'w'", shown)


def test_equal_regrets_are_one_point_of_a_survival_curve():
    frame = pd.DataFrame({"regret": [1.0, 2.0, 2.0, 2.0]})
    found = estimates.survival_curves(frame, [])
    assert found.values.tolist() == [[2.0, 0.75], [1.0, 1.0]]


TABLE = pd.DataFrame(
    {
        "K": [2, 2, 2, 9, 9, 9],
        "arm": ["a", "b", "c"] * 2,
        "mean": [6.0, 2.0, 1.0, 9.0, 4.0, 5.0],
        "se": [0.3, 0.1, 0.0, 0.2, 0.4, 0.1],
        "bound": [2.0, 4.0, 8.0] * 2,
        "bound_error": [0.1, 0.0, 0.5] * 2,
    }
)


def test_ratios_to_a_column_carry_both_errors():
    found = estimates.ratios(TABLE, "bound")
    expected = [
        Estimate(m, s) / Estimate(b, 0, e) for _, _, m, s, b, e in TABLE.itertuples(index=False)
    ]
    assert estimates.rows(found, "ratio") == expected and list(found)[:6] == list(TABLE)


def test_ratios_to_the_row_of_a_group():
    found = estimates.ratios(TABLE.sample(frac=1, random_state=3), {"arm": "b"}, by="K")
    assert set(found.arm) == {"a", "c"} and len(found) == 4
    for row in found.itertuples():
        expected = estimates.row(TABLE, K=row.K, arm=row.arm) / estimates.row(
            TABLE, K=row.K, arm="b"
        )
        assert (row.ratio, row.ratio_se, row.ratio_error) == (
            expected.value,
            expected.se,
            expected.bound,
        )
    refused(lambda: estimates.ratios(TABLE, {"arm": "b"}), "over", "'b'")
    refused(
        lambda: estimates.ratios(TABLE[1:].query("K == 9 or arm != 'b'"), {"arm": "b"}, "K"),
        "over",
        "1",
    )
    refused(lambda: estimates.ratios(TABLE, {"leg": "b"}, "K"), "over", "leg", "arm")


def test_slopes_are_exponents_with_the_errors_of_the_points():
    frame = pd.concat(
        pd.DataFrame(
            {"law": a, "T": [10, 100, 1000], "mean": 3 * 10.0 ** (a * np.arange(3)), "se": 0.1}
        )
        for a in (0.5, 2)
    )
    found = estimates.slopes(frame, "law", "T")
    assert found.slope.tolist() == pytest.approx([0.5, 2.0])
    for row, (_, part) in zip(found.itertuples(), frame.groupby("law"), strict=True):
        expected = estimates.slope(np.log(part["T"]), estimates.logs(part))
        assert (row.slope, row.slope_se) == (expected.value, expected.se) and row.slope_se > 0
    line = estimates.slopes(
        pd.DataFrame({"x": [1.0, 2.0, 3.0], "regret": [1.0, 3.0, 5.0]}), [], "x", log=False
    )
    assert line.slope.tolist() == [2.0] and line.slope_se.tolist() == [0.0]


def test_columns_are_what_rows_read():
    numbers = [Estimate(1.0, 0.5, 0.25), Estimate(2.0, math.inf)]
    assert estimates.rows(pd.DataFrame(estimates.columns([*numbers, 3.0], "x")), "x") == [
        *numbers,
        Estimate(3.0),
    ]


def test_the_whole_frame_is_one_group():
    frame = pd.DataFrame({"regret": [1.0, 2.0, 6.0], "weight": 1.0})
    for found in (
        estimates.means(frame, [], weights="weight"),
        estimates.means(frame.drop(columns="weight"), []),
        estimates.quantiles(frame, [], weights="weight"),
        estimates.fractions(frame, [], "regret > 1", "weight"),
        estimates.quantile_limits(frame.drop(columns="weight"), []),
        estimates.bands(frame.drop(columns="weight"), []),
    ):
        assert len(found) == 1 and not {"index", "level_0"} & set(found)


FRAME = runs_of("heavy tail")
PLAIN = FRAME.drop(columns="weight")


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (
            lambda: estimates.means(FRAME, BY),
            ("weights", "'weight'"),
        ),  # importance weights must not be left out
        (lambda: estimates.bands(FRAME, BY), ("weights", "'weight'")),
        (lambda: estimates.fractions(FRAME, BY, "regret > 1"), ("weights", "'weight'")),
        (lambda: estimates.means(PLAIN, BY, weights="weight"), ("weights", "'weight'", "regret")),
        (lambda: estimates.means(PLAIN, ["K"]), ("by", "'K'", "instance")),
        (lambda: estimates.means(PLAIN, BY, "loss"), ("value", "'loss'", "regret")),
        (lambda: estimates.means(PLAIN, BY, "instance"), ("value", "'instance'")),
        (
            lambda: estimates.means(PLAIN, [], "epsilon"),
            ("value", "'epsilon'"),
        ),  # nan in two groups
        (lambda: estimates.means(PLAIN[:0], BY), ("frame", "row")),
        (lambda: estimates.means(PLAIN, ["epsilon", "epsilon"]), ("by", "epsilon")),
        (lambda: estimates.quantiles(PLAIN, BY, {"q": 1.5}), ("levels", "'q'", "1.5")),
        (lambda: estimates.quantiles(PLAIN, BY, [0.5]), ("levels", "0.5")),
        (lambda: estimates.quantile_limits(PLAIN, BY, 1.0), ("level", "1")),
        (lambda: estimates.fractions(PLAIN, BY, "regret + 1"), ("condition", "regret + 1")),
        (lambda: estimates.fractions(PLAIN, BY, "loss > 1"), ("condition", "loss")),
        (lambda: estimates.slopes(TABLE, "arm", "T"), ("x", "'T'")),
        (lambda: estimates.rows(PLAIN, "mean"), ("value", "'mean'")),
        (lambda: estimates.largest(TABLE, over="limit"), ("over", "'limit'")),
        (lambda: estimates.row(TABLE, arm="z"), ("arm", "'z'", "0")),
    ],
)
def test_refusals_name_the_argument(call, names):
    refused(call, *names)


def test_columns_of_other_kinds_are_read_as_floats():
    for kind in (bool, np.float16, np.int8, object):
        frame = pd.DataFrame({"g": ["a", "b", "a"], "regret": np.array([1, 0, 0], kind), "w": 1})
        if kind is object:
            refused(lambda f=frame: estimates.means(f, "g"), "value", "'regret'")
            continue
        other = frame.astype({"regret": float, "w": float})
        for call in (estimates.bands, estimates.quantile_limits, estimates.survival_curves):
            pd.testing.assert_frame_equal(call(frame, "g"), call(other, "g"))
        found = (estimates.survival_curves(f, "g", weights="w") for f in (frame, other))
        pd.testing.assert_frame_equal(*found)


def test_the_largest_run_can_have_weight_0():
    frame = pd.DataFrame({"regret": [1.0, 2.0, 3.0], "w": [1, 1, 0]})
    assert estimates.survival_curves(frame, [], weights="w").probability.tolist() == [0.5, 1]


def test_frames_that_were_misread_are_refused():
    frame = pd.DataFrame({"g": ["a", "b"], "regret": [1.0, 2.0], "w": 1e308})
    refused(lambda: estimates.means(frame, "g", weights="w"), "weights", "'w'")
    refused(lambda: estimates.quantiles(frame, "g", {"g": 0.5}), "by", "g")
    refused(lambda: estimates.means(frame.regret, []), "frame")
    refused(lambda: estimates.means(pd.concat([frame, frame.regret], axis=1), "g"), "'regret'")
    curve = pd.DataFrame({"run": 0, "t": [1, 5, 9], "regret": [1.0, 5.0, 9.0]})
    error = refused(lambda: estimates.fractions(curve, [], "regret > 4"), "by", "add t")
    assert "regret" not in str(error)
    optional = frame.assign(g=pd.array(["a", None], "string"))
    assert estimates.ratios(optional, {"g": "a"}, value="regret").ratio.tolist() == [2]


# One row per run


CURVES = pd.DataFrame(
    [
        (a, e, e, p, r, t, r + t + e, False, 0.5 * r + t)
        for a in "xy" for e in (0.5, 1.0) for p in "uv" for r in range(3) for t in (1, 9)
    ],
    columns="algorithm epsilon proved_epsilon instance run t regret heavy loss".split(),
)  # fmt: skip
GROUPED = {
    "means": estimates.means,
    "bands": estimates.bands,
    "quantiles": estimates.quantiles,
    "quantile_limits": estimates.quantile_limits,
    "survival_curves": estimates.survival_curves,
    "fractions": lambda f, by: estimates.fractions(f, by, "regret > 1"),
    "weighted means": lambda f, by: estimates.means(f.assign(weight=1.0), by, weights="weight"),
    "weighted fractions": lambda f, by: estimates.fractions(
        f.assign(weight=1.0), by, "regret > 1", "weight"
    ),
}


@pytest.mark.parametrize("function", GROUPED)
@pytest.mark.parametrize(
    ("by", "missing"),
    [
        (["algorithm"], ["epsilon", "instance", "t"]),
        (["algorithm", "epsilon", "instance"], ["t"]),
        (["algorithm", "epsilon", "t"], ["instance"]),
        (["algorithm", "instance", "t"], ["epsilon"]),
        (["epsilon", "instance", "t"], ["algorithm"]),
        ([], ["algorithm", "epsilon", "instance", "t"]),
        (["algorithm", "epsilon", "instance", "run"], ["t"]),
    ],
)
def test_a_run_that_occurs_twice_in_a_group_is_refused(function, by, missing):
    """In one line that names what to add to `by`; then there is an answer."""
    with pytest.raises(ValueError) as caught:
        GROUPED[function](CURVES, by)
    added = re.search(r"add (.*) to by", str(caught.value))[1].split(", ")
    assert sorted(added) == missing and "\n" not in str(caught.value)
    assert len(GROUPED[function](CURVES, [*by, *added])) >= 2
    refused(lambda: GROUPED[function](pd.concat([CURVES] * 2), [*by, *added]), "by", "run")
    refused(lambda: GROUPED[function](CURVES[["run", "regret"]], []), "by", "run")
    refused(lambda: GROUPED[function](CURVES.assign(heavy=False), ["heavy"]), "by", "heavy")
    if "run" not in by:
        GROUPED[function](CURVES.drop(columns="run"), by)
        GROUPED[function](CURVES, [*by, *added, "run"])


def test_single_runs_are_no_estimates():
    for call in (
        estimates.rows,
        estimates.row,
        estimates.largest,
        estimates.smallest,
        estimates.spread,
        estimates.largest_step,
        estimates.logs,
        lambda f: estimates.rows(f, "loss"),
        lambda f: estimates.ratios(f, "epsilon"),
        lambda f: estimates.ratios(f, {"algorithm": "x"}, ["epsilon", "instance", "t"]),
        lambda f: estimates.slopes(f, ["algorithm", "epsilon", "instance"], "t"),
    ):
        refused(lambda c=call: c(CURVES), "'run'", "means")


@pytest.mark.parametrize("value", ["median", "sd", "quantile", "p50", "q90"])
def test_a_random_number_without_its_error_is_refused(value):
    frame = pd.DataFrame({"mean": [2.0], "se": 0.1, "runs": 9, value: 1.0})
    refused(lambda: estimates.rows(frame, value), "value", value)
    assert estimates.rows(frame.assign(**{f"{value}_se": 0.5}), value) == [Estimate(1.0, 0.5)]


@pytest.mark.parametrize(
    ("call", "results"),
    [
        (estimates.means, "mean sd se runs heavy"),
        (lambda f, by: estimates.means(f, by, weights="w"), "mean se top runs heavy"),
        (estimates.bands, "mean sd se runs heavy q10 q90"),
        (estimates.quantiles, "q10 q90"),
        (estimates.quantile_limits, "quantile lower_limit upper_limit runs"),
        (lambda f, by: estimates.fractions(f, by, "regret > 1"), "fraction fraction_se runs"),
        (estimates.survival_curves, "regret fraction"),
        (lambda f, by: estimates.slopes(f, by, "regret"), "slope slope_se slope_error"),
        (lambda f, by: estimates.ratios(f, {"w": 1.0}, by), "ratio ratio_se ratio_error"),
    ],
)
def test_a_group_has_no_name_of_a_result(call, results):
    """Other names, which pandas uses itself, are as good as any."""
    frame = pd.DataFrame({"g": [1, 1, 2, 2], "regret": [1.0, 2.0, 3.0, 5.0], "w": [1.0, 2.0] * 2})
    for name in results.split():
        refused(lambda n=name: call(frame.assign(**{n: frame.g}), n), "by", name)
    for name in {"mean", "min", "max", "size", "std", "count", "level_0", "met"} - {
        *results.split()
    }:
        assert call(frame.rename(columns={"g": name}), name)[name].unique().tolist() == [1, 2]
