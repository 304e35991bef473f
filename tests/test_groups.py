"""Grouped estimates against plain formulas on random data: weights, ties, single runs."""

import math
import re
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
from conftest import refused
from scipy import stats

from privregret import estimates
from privregret.estimates import Estimate

BY = ["instance", "epsilon"]


def runs_of(kind, seed=0):
    """Weighted runs of six groups of any size, in mixed order; two have no epsilon."""
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
weighted = pytest.mark.parametrize("frame", [runs_of(k) for k in KINDS], ids=KINDS)
plain = pytest.mark.parametrize(
    "frame", [runs_of(k).drop(columns="weight") for k in KINDS], ids=KINDS
)


def parts_of(frame, found):
    """The rows of each group, for each row of a result: in the order in which groups appear."""
    pd.testing.assert_frame_equal(found[BY], frame[BY].drop_duplicates().reset_index(drop=True))
    for row in found.itertuples():
        same = (frame.epsilon == row.epsilon) | (frame.epsilon.isna() & math.isnan(row.epsilon))
        yield row, frame[(frame.instance == row.instance) & same]


def fractions(frame, by, condition, weights=None):
    """Of runs that meet a condition in words."""
    return estimates.fractions(frame.assign(holds=frame.eval(condition)), by, "holds", weights)


@plain
def test_bands_are_means_and_quantiles_of_each_group(frame):
    found = estimates.bands(frame, BY)
    assert list(found) == [*BY, "mean", "sd", "se", "runs", "heavy", "q10", "q90"]
    pd.testing.assert_frame_equal(estimates.means(frame, BY), found.drop(columns=["q10", "q90"]))
    for row, part in parts_of(frame, found):
        assert (row.q10, row.q90) == pytest.approx(np.quantile(part.regret, [0.1, 0.9]), rel=1e-12)
        sd = np.std(part.regret, ddof=1) if len(part) > 1 else math.nan
        assert (row.mean, row.sd) == pytest.approx((part.regret.mean(), sd), abs=1e-9, nan_ok=True)
        assert row.runs == len(part) and isinstance(row.runs, int)
        single = estimates.mean(part.regret)
        read = estimates.row(found[found.index == row.Index])
        assert (read.value, read.se) == pytest.approx((single.value, single.se), rel=1e-12)
        assert len(part) > 1 or read.se == math.inf


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


@weighted
def test_weighted_quantiles_hold_that_part_of_the_weight(frame):
    found = estimates.quantiles(frame, BY, {"low": 0.1, "half": 0.5, "all": 1.0}, weights="weight")
    for row, part in parts_of(frame, found):
        for level, value in ((0.1, row.low), (0.5, row.half)):
            total = part.weight.sum()
            assert part.weight[part.regret <= value].sum() >= level * total * (1 - 1e-12)
            assert part.weight[part.regret < value].sum() < level * total
            assert value in set(part.regret)
        assert row.all == part.regret.max()


@pytest.mark.parametrize("groups", [1, 6])
@pytest.mark.parametrize(("level", "confidence"), [(0.5, 0.99), (0.9, 0.9), (0.02, 0.8)])
def test_limits_of_quantiles_are_the_closest_that_hold_for_all_groups_at_once(
    level, confidence, groups
):
    """Of the draws 1, ..., n the limits are ranks: of those that have the chance, the next ones."""
    chance, n = (1 - confidence) / (2 * groups), 400
    frame = pd.DataFrame(
        {"g": np.repeat(np.arange(groups), n), "regret": [*range(1, n + 1)] * groups}
    )
    found = estimates.quantile_limits(frame, "g", level, confidence=confidence)
    low, high = found.lower_limit[0], found.upper_limit[0]
    assert (found.lower_limit == low).all() and (found.upper_limit == high).all()
    at = partial(stats.binom.cdf, n=n, p=level)
    low = low if low > 0 else 0
    # the quantile is below draw k if k - 1 draws at most are below it
    assert at(low - 1) <= chance < at(low)
    assert 1 - at(high - 1) <= chance < 1 - at(high - 2)
    few = estimates.quantile_limits(frame[:5], "g", 0.5, confidence=0.99)
    assert (few.lower_limit[0], few.upper_limit[0]) == (-math.inf, math.inf)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.33, 0.34, 0.5])
def test_if_one_run_has_a_third_of_the_weight_nothing_is_known_of_what_none_does(share):
    """A third of the sum of squares; otherwise it is as with so many equal runs."""
    weight = np.append(np.ones(20), math.sqrt(20 * share / (1 - share)))
    draws = weight.sum() ** 2 / (weight**2).sum()
    for met, value in ((False, 0.0), (True, 1.0)):
        frame = pd.DataFrame({"weight": weight, "met": met})
        found = estimates.fractions(frame, [], "met", weights="weight")
        alone = 1 / 3 if share > 1 / 3 else (1 - estimates.LEVEL ** (1 / draws)) / 3
        assert (found.fraction[0], found.fraction_se[0]) == pytest.approx((value, alone))


@plain
def test_fractions_are_exact_limits(frame):
    found = fractions(frame, BY, "regret >= 1")
    for row, part in parts_of(frame, found):
        expected = estimates.fraction(int((part.regret >= 1).sum()), len(part))
        assert (row.fraction, row.fraction_se, row.runs) == (expected.value, expected.se, len(part))
        assert row.fraction_se > 0


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
    assert 80 < len(many) <= 100 and many.probability.iloc[0] == 1e-4
    last = pd.DataFrame({"regret": [1.0, 2.0, 3.0], "w": [1, 1, 0]})  # the largest has weight 0
    assert estimates.survival_curves(last, [], weights="w").probability.tolist() == [0.5, 1]


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


MISSING = {
    "nan": [0.0, 1.0, math.nan, 1.0],
    "None": np.array([0.0, 1.0, None, 1.0], object),
    "NA": pd.Series([0, 1, None, 1], dtype="Int64"),
    "mask": np.ma.array([0.0, 1.0, 1.0, 1.0], mask=[False, False, True, False]),
}
READ = {  # what is called with a frame, and columns that it reads
    lambda f: estimates.fractions(f, "g", "flag", "w"): ["flag", "w"],
    lambda f: estimates.largest(f, over="w"): ["regret", "error", "w"],
    lambda f: estimates.means(f, "g"): ["regret", "heavy"],
    lambda f: estimates.quantiles(f, "g", weights="w"): ["regret", "w"],
    lambda f: estimates.ratios(f, "w"): ["regret", "w", "w_se"],
    lambda f: estimates.rows(f.rename(columns={"w": "mean"})): ["se", "heavy"],
    lambda f: estimates.slopes(f, "g", "t"): ["regret", "t"],
}


def test_a_missing_entry_is_refused():
    """The row is named as the frame names it, and without the entry there is an answer."""
    frame = pd.DataFrame(
        {"g": "a", "w": 1.0, "w_se": 0.1, "se": 0.1, "error": 0.0, "heavy": False},
        index=[5, 6, 7, 8],
    ).assign(flag=[True, False] * 2, regret=[1.0, 2.0, 3.0, 4.0], t=[1, 2, 3, 4])
    for call, columns in READ.items():
        call(frame)
        for column, kind in product(columns, ("nan", "None", "NA")):
            wrong = frame.assign(**{column: pd.Series(MISSING[kind]).set_axis(frame.index)})
            refused(lambda c=call, w=wrong: c(w), f"'{column}'", 7)
    for missing in MISSING.values():
        refused(lambda m=missing: estimates.mean(m), "sample", 2)
        refused(lambda m=missing: estimates.largest(m), "items", 2)
        refused(lambda m=missing: estimates.slope([1, 2, 3, 4], m), "y", 2)


def test_columns_of_other_kinds_are_read_as_floats():
    frame = pd.DataFrame({"g": ["a", "b", "a"], "regret": [1.0, 0.0, 0.0], "w": [1.0, 2.0, 3.0]})
    for other in (frame.convert_dtypes(), frame.astype({"regret": bool, "w": np.float16})):
        found, expected = (estimates.means(f, "g", weights="w") for f in (other, frame))
        pd.testing.assert_frame_equal(found, expected, check_dtype=False)


TABLE = pd.DataFrame(
    {"K": [2] * 3 + [9] * 3, "arm": [*"abcabc"], "mean": [6.0, 2.0, 1.0, 9.0, 4.0, 5.0]}
).assign(
    se=[0.3, 0.1, 0.0, 0.2, 0.4, 0.1], bound=[2.0, 4.0, 8.0] * 2, bound_error=[0.1, 0, 0.5] * 2
)


def test_ratios_carry_both_errors():
    """Those to a column, and to the row of a group."""
    found = estimates.ratios(TABLE, "bound")
    pairs = TABLE[["mean", "se", "bound", "bound_error"]].to_numpy()
    expected = [Estimate(m, se) / Estimate(b, 0, e) for m, se, b, e in pairs]
    assert estimates.rows(found, "ratio") == expected and list(found)[:6] == list(TABLE)
    found = estimates.ratios(TABLE.sample(frac=1, random_state=3), {"arm": "b"}, by="K")
    assert set(found.arm) == {"a", "c"} and len(found) == 4
    for row, estimate in zip(found.itertuples(), estimates.rows(found, "ratio"), strict=True):
        own, other = (estimates.row(TABLE, K=row.K, arm=arm) for arm in (row.arm, "b"))
        assert estimate == own / other
    optional = PAIR.assign(g=pd.array(["a", None], "string"))
    assert estimates.ratios(optional, {"g": "a"}, value="regret").ratio.tolist() == [2]


def test_slopes_are_exponents_with_the_errors_of_the_points():
    frame = pd.DataFrame({"law": [0.5] * 3 + [2.0] * 3, "T": [10, 100, 1000] * 2, "se": 0.1})
    frame["mean"] = 3 * (frame["T"] / 10) ** frame.law
    found = estimates.slopes(frame, "law", "T")
    assert found.slope.tolist() == pytest.approx([0.5, 2.0])
    for row, (_, part) in zip(found.itertuples(), frame.groupby("law"), strict=True):
        expected = estimates.slope(np.log(part["T"]), estimates.logs(part))
        assert (row.slope, row.slope_se) == (expected.value, expected.se) and row.slope_se > 0
    points = pd.DataFrame({"x": [1.0, 2.0, 3.0], "regret": [1.0, 3.0, 5.0]})
    line = estimates.slopes(points, [], "x", log=False)
    assert line.slope.tolist() == [2.0] and line.slope_se.tolist() == [0.0]


def test_rows_as_estimates():
    frame = pd.DataFrame({"t": [1, 2], "mean": [2.0, 4.0], "se": [0.1, 0.2], "runs": [5, 1]})
    frame["bound"] = 4.0
    assert estimates.rows(frame) == [Estimate(2.0, 0.1), Estimate(4.0, math.inf)]
    assert estimates.row(frame, t=1) == Estimate(2.0, 0.1)
    assert estimates.row(frame, "bound", t=2) == Estimate(4.0)
    relative = estimates.largest(frame[:1], over="bound")
    assert (relative.value, relative.se) == pytest.approx((0.5, 0.025))
    numbers = [Estimate(1.0, 0.5, 0.25), Estimate(2.0, math.inf)]
    frame = pd.DataFrame(estimates.columns([*numbers, 3.0], "x")).assign(regret=1.0, error=0.1)
    assert estimates.rows(frame, "x") == [*numbers, Estimate(3.0)]
    assert estimates.rows(frame) == [Estimate(1.0, 0, 0.1)] * 3


FRAME = runs_of("heavy tail")
PLAIN = FRAME.drop(columns="weight")
PAIR = pd.DataFrame({"g": ["a", "b"], "regret": [1.0, 2.0], "w": 1e308})
CURVES = pd.DataFrame(
    [
        (a, e, e, p, r, t, r + t + e, False, 0.5 * r + t, 1.0)
        for a in "xy" for e in (0.5, 1.0) for p in "uv" for r in range(3) for t in (1, 9)
    ],
    columns="algorithm epsilon proved_epsilon instance run t regret heavy loss w".split(),
)  # fmt: skip
REFUSALS = [
    # importance weights must not be left out
    (lambda: estimates.bands(FRAME, BY), "weights", "'weight'"),
    (lambda: estimates.means(PLAIN, BY, weights="weight"), "weights", "'weight'", "regret"),
    *(
        (lambda w=w: estimates.means(PAIR.assign(w=w), "g", weights="w"), "weights", "'w'", *shown)
        for w, *shown in (([1.0, -0.5], -0.5), ([1.0, 0.0], 0), ([1e308, 1e308],))
    ),
    (lambda: estimates.means(PLAIN, ["K"]), "by", "'K'", "instance"),
    (lambda: estimates.means(PLAIN, BY, "loss"), "value", "'loss'", "regret"),
    (lambda: estimates.means(PLAIN, BY, "instance"), "value", "'instance'"),
    (lambda: estimates.means(PAIR.astype(object), "g"), "value", "'regret'"),
    (lambda: estimates.means(pd.concat([PAIR, PAIR.regret], axis=1), "g"), "'regret'"),
    (lambda: estimates.means(PLAIN[:0], BY), "frame", "row"),
    (lambda: estimates.quantiles(PLAIN, BY, {"q": 1.5}), "levels", "'q'", "1.5"),
    (lambda: estimates.quantiles(PLAIN, BY, [0.5]), "levels", "0.5"),
    (lambda: estimates.fractions(PLAIN, BY, "regret"), "condition", "'regret'"),
    (lambda: estimates.row(TABLE, arm="z"), "arm", "'z'", "0"),
    (lambda: estimates.row(TABLE, K=2), "K", "3"),
    (lambda: estimates.ratios(TABLE, {"arm": "b"}), "over", "'b'"),
    (lambda: estimates.ratios(TABLE[:4], {"arm": "b"}, "K"), "over", "1"),
    (lambda: estimates.ratios(TABLE, {"leg": "b"}, "K"), "over", "leg", "arm"),
    # single runs are no estimates
    *(
        (lambda f=f: f(CURVES), "'run'", "means")
        for f in (estimates.rows, estimates.row, estimates.largest, estimates.logs)
    ),
    (lambda: estimates.slopes(CURVES, ["algorithm", "instance"], "t"), "'run'", "means"),
]


def test_refusals_name_the_argument():
    for call, *names in REFUSALS:
        refused(call, *names)


@pytest.mark.parametrize(
    ("by", "missing"),
    [
        ([], ["algorithm", "epsilon", "instance", "t"]),
        (["algorithm", "epsilon", "instance"], ["t"]),
    ],
)
def test_a_run_that_occurs_twice_in_a_group_is_refused(by, missing):
    """In one line that names what to add to `by`; then there is an answer."""
    error = refused(lambda: estimates.means(CURVES, by), "by", "add")
    added = re.search(r"add (.*) to by", str(error))[1].split(", ")
    assert sorted(added) == missing
    assert len(estimates.means(CURVES, [*by, *added])) >= 2
    refused(lambda: estimates.means(pd.concat([CURVES] * 2), [*by, *added]), "by", "run")
    estimates.means(CURVES.drop(columns="run"), by)


GROUPED = {  # function -> names of its results
    estimates.means: "mean sd se runs heavy",
    lambda f, by: estimates.means(f, by, weights="w"): "mean se top runs heavy",
    estimates.bands: "mean sd se runs heavy q10 q90",
    estimates.quantiles: "q10 q90",
    estimates.quantile_limits: "quantile lower_limit upper_limit runs",
    lambda f, by: fractions(f, by, "regret > 1"): "fraction fraction_se runs",
    estimates.survival_curves: "regret fraction",
    lambda f, by: estimates.slopes(f, by, "regret"): "slope slope_se slope_error",
    lambda f, by: estimates.ratios(f, {"w": 1.0}, by): "ratio ratio_se ratio_error",
}


@pytest.mark.parametrize("call", GROUPED)
def test_a_group_has_no_name_of_a_result_and_each_run_once(call):
    frame = pd.DataFrame({"g": [1, 1, 2, 2], "regret": [1.0, 2.0, 3.0, 5.0], "w": [1.0, 2.0] * 2})
    for name in GROUPED[call].split():
        refused(lambda n=name: call(frame.assign(**{n: frame.g}), n), "by", name)
    refused(lambda: call(CURVES[["run", "regret", "w"]], []), "run")


@pytest.mark.parametrize("value", ["median", "sd", "quantile", "p50", "q90"])
def test_a_random_number_without_its_error_is_refused(value):
    frame = pd.DataFrame({"mean": [2.0], "se": 0.1, "runs": 9, value: 1.0})
    refused(lambda: estimates.rows(frame, value), "value", value)
    assert estimates.rows(frame.assign(**{f"{value}_se": 0.5}), value) == [Estimate(1.0, 0.5)]
