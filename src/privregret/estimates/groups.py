"""Estimate per group of a tidy frame, as a tidy frame with one row per group."""

from collections.abc import Sequence
from dataclasses import astuple
from operator import truediv

import numpy as np
import pandas as pd

from privregret.core import checks
from privregret.estimates.frames import FRAME, columns, named, rows
from privregret.estimates.number import ROUNDING, STANDARD_ERRORS, complete
from privregret.estimates.sample import (
    LARGEST,
    fraction,
    fraction_error,
    mean_columns,
    order_statistics,
    slope,
    third,
)

Columns = str | Sequence[str]
CONFIDENCE = 0.99  # probability that all limits of a table hold at once


def _columns(name, value):
    """Check a column name, or a list of distinct ones, which may be empty."""
    return checks.list_of(checks.text, 0)(name, [value] if isinstance(value, str) else value)


def _levels(name, value):
    if not isinstance(value, dict) or not value:
        shown = checks.shown(value)
        raise TypeError(f"{name} must be a dict from column names to levels, got {shown}")
    level = checks.number_in(0, 1)
    return {checks.text(name, key): level(f"{name}[{key!r}]", v) for key, v in value.items()}


def _over(name, value):
    if isinstance(value, (str, dict)) and value:
        return value
    wanted = "a column name or a dict from columns to values"
    raise TypeError(f"{name} must be {wanted}, got {checks.shown(value)}")


_open = checks.number_in(1e-15, 1, "[)")
_RULES = {"frame": FRAME, "by": _columns, "value": checks.text}


def _numbers(name, column, frame):
    """Check that a frame has a column of finite numbers, none missing."""
    numbers = frame[named(name, column, frame)]
    complete(f"{name} {column!r}", numbers)
    if numbers.dtype.kind not in "biuf" or not (numbers.astype(float).abs() <= LARGEST).all():
        raise ValueError(f"{name} must be a column of finite numbers, got {column!r}")


def _free(by, *results):
    """Refuse groups by a column that has the name of a result."""
    if twice := ", ".join(set(results) & set(by)):
        raise ValueError(f"by must have other names than the results, got {twice}")


def _once(frame, by, measured):
    """Refuse a group in which a run occurs twice, and name the columns that tell its rows apart."""
    key = [*dict.fromkeys([*by, "run"])]
    if "run" not in frame or not frame.duplicated(key).any():
        return
    free = {*measured, "regret", "weight", "heavy"}.difference(key)
    text = frame.drop(columns=free, errors="ignore").astype(str)
    missing, left = [], text.duplicated(key).sum()
    for column in text.nunique().drop(key).sort_values(kind="stable").index:
        if (now := text.duplicated([*key, *missing, column]).sum()) < left:
            missing, left = [*missing, column], now
    way = f"add {', '.join(missing)} to by" if missing else "average over its rows"
    raise ValueError(f"by must tell the rows of a run apart, got by={by}: {way}, or select rows")


def _groups(frame, by, weights=None, **columns):
    """Return the groups of a frame in the order of appearance, after checks."""
    if len(frame) == 0:
        raise ValueError("frame must have at least one row, got 0")
    if weights is None and "weight" in frame and "weight" not in columns.values():
        raise ValueError("weights must be 'weight' if frame has this column, got None")
    columns |= {"weights": weights} if weights else {}
    for name, column in columns.items():
        _numbers(name, column, frame)
    _once(frame, by, columns.values())
    others = [c for c in columns.values() if frame[c].dtype != float]
    frame = frame.astype(dict.fromkeys(others, float)) if others else frame
    groups = _grouped(frame, by)
    if weights:
        if (least := frame[weights].min()) < 0 or not groups[weights].sum().min() > 0:
            wanted = f"weights {weights!r} must be at least 0, and above 0 in each group"
            raise ValueError(f"{wanted}, got {min(least, 0):g}")
    return groups


def _grouped(frame, by):
    for column in by:
        named("by", column, frame)
    return frame.groupby(by or np.zeros(len(frame), int), sort=False, dropna=False)


def _keys(groups, by):
    """Return the columns `by` with one row per group."""
    return groups.size().index.to_frame(index=False)[by] if by else pd.DataFrame(index=[0])


def _each(groups, by, columns, estimate):
    """Return one row per group: the columns that `estimate` returns for its arrays."""
    table = groups[columns].apply(
        lambda part: pd.Series(estimate(*(part[c].to_numpy() for c in columns)), dtype=object)
    )
    return table.infer_objects().reset_index(drop=not by)


@checks.validate(**_RULES, weights=checks.text)
def means(
    frame: pd.DataFrame, by: Columns, value: str = "regret", weights: str | None = None
) -> pd.DataFrame:
    """Return the mean over runs with its standard error, per group.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per run: `by`, `value` and perhaps `weights`.
    by : str or list of str
        Columns whose combinations are the groups; an empty list for the whole frame.
    value : str
        Column that is averaged.
    weights : str, optional
        Column of importance weights, as `rare.regrets` returns; the mean is their ratio estimator.

    Returns
    -------
    pandas.DataFrame
        Columns `by`, mean, sd (of one run), se (of the mean), runs, heavy, in the order of
        appearance. With weights: `by`, mean, se, top, runs, heavy, where top is the largest
        contribution of a single run to the mean.

        se is a third of the half-width of Student's interval with the probability of three standard
        errors: sd / sqrt(runs), times 1.19 for 15 runs and 1.004 for 1000. It is infinite if the
        error is not known: for fewer than 2000 runs with equal values, and if heavy. sd and se are
        nan for a single run, whose error `rows` reads as infinite.

        heavy marks a mean that rare runs decide. If the frame has this column, as that of
        `simulate.regret_curves`, True is a tail index below 2; if False, se triples where one of at
        least 20 runs makes most of the variance. Without it, and with weights, se grows with the
        part that one run has of the variance or of the squared weights, and from a third on the
        mean is marked. Use `quantiles`, `quantile_limits` or `rare.regrets`.

    Raises
    ------
    TypeError, ValueError
        If a column is missing, does not hold finite numbers, or the frame has no rows; if a run
        (column run) occurs twice in a group; if `by` has the name of a result.

    Examples
    --------
    >>> frame = pd.DataFrame({"arm": ["a", "b"] * 50, "regret": [1.0, 5.0, 3.0, 5.0] * 25})
    >>> means(frame, "arm").round(3)
      arm  mean    sd    se  runs  heavy
    0   a   2.0  1.01  0.16    50  False
    1   b   5.0  0.00   inf    50  False
    """
    _free(by, "mean", "sd", "se", "runs", "heavy", *([] if weights is None else ["top"]))
    flag = {"heavy": "heavy"} if "heavy" in frame else {}
    groups = _groups(frame, by, weights, value=value, **flag)
    tail = groups["heavy"].any().to_numpy(bool) if flag else None
    if weights is not None:
        table = _each(groups, by, [value, weights], _weighted_mean)
        table["heavy"] |= False if tail is None else tail
        return table.assign(se=table.se.mask(table.heavy, np.inf).mask(table.runs < 2))
    parts = groups[value].agg(["mean", "std", "min", "max", "size"])
    return _keys(groups, by).assign(**mean_columns(*parts.to_numpy(float).T, tail=tail))


def _weighted_mean(x, weight):
    portion = weight / weight.sum()
    value = (portion * x).sum()
    off, square = (portion * (x - value)) ** 2, portion**2
    equal = np.abs(x - value).max() <= ROUNDING * abs(value)
    se = 0.0 if equal else np.sqrt(max(off.sum(), 1e-300))
    share = max(part.max() / max(part.sum(), 1e-300) for part in (off, square))
    se, heavy = third(se, share, 1 / square.sum())
    top = (portion * x).max() / value if value else 0.0
    return {"mean": value, "se": float(se), "top": top, "runs": len(x), "heavy": bool(heavy)}


@checks.validate(**_RULES, levels=_levels, weights=checks.text)
def quantiles(
    frame: pd.DataFrame,
    by: Columns,
    levels: dict[str, float] | None = None,
    value: str = "regret",
    weights: str | None = None,
) -> pd.DataFrame:
    """Return quantiles over runs, without errors, per group of `means`.

    `levels` maps names of columns to levels, by default {"q10": 0.1, "q90": 0.9}. Plain quantiles
    are interpolated linearly; a weighted quantile is the smallest value that is not exceeded by
    runs of at least this fraction of the weight.

    Examples
    --------
    >>> frame = pd.DataFrame({"arm": "a", "regret": range(101)})
    >>> quantiles(frame, "arm")
      arm   q10   q90
    0   a  10.0  90.0
    """
    levels = {"q10": 0.1, "q90": 0.9} if levels is None else levels
    _free(by, *levels)
    groups = _groups(frame, by, weights, value=value)
    if weights is None:
        return _keys(groups, by).assign(
            **{k: groups[value].quantile(q).to_numpy() for k, q in levels.items()}
        )

    def of_group(x, weight):
        order = np.argsort(x)
        portion = weight[order].cumsum() / weight.sum() * (1 + 1e-12)
        places = np.searchsorted(portion, [*levels.values()]).clip(0, len(x) - 1)
        return dict(zip(levels, x[order][places], strict=True))

    return _each(groups, by, [value, weights], of_group)


def bands(frame: pd.DataFrame, by: Columns, value: str = "regret") -> pd.DataFrame:
    """Return means and the 10 % and 90 % quantiles over runs, which figures shade.

    If regret has a long tail, the mean minus one standard deviation can be below 0; quantiles are
    not.

    It takes what `means` takes, and returns its columns, q10 and q90.
    """
    ends = quantiles(frame, by, None, value)
    return means(frame, by, value).assign(q10=ends.q10, q90=ends.q90)


@checks.validate(**_RULES, level=_open, confidence=_open)
def quantile_limits(
    frame: pd.DataFrame,
    by: Columns,
    level: float = 0.5,
    value: str = "regret",
    confidence: float = CONFIDENCE,
) -> pd.DataFrame:
    """Return a quantile per group of `means`, with confidence limits that hold for all at once:
    columns `by`, quantile, lower_limit, upper_limit, runs.

    With probability `confidence` all limits hold, whatever the distribution and its tail. They are
    order statistics, at a level by Bonferroni's rule, and infinite for too few runs.
    """
    _free(by, "quantile", "lower_limit", "upper_limit", "runs")
    groups = _groups(frame, by, value=value)
    chance = (1 - confidence) / (2 * groups.ngroups)

    def of_group(x):
        quantile, low, high = order_statistics(x, level, chance)
        return {"quantile": quantile, "lower_limit": low, "upper_limit": high, "runs": len(x)}

    return _each(groups, by, [value], of_group)


@checks.validate(frame=FRAME, by=_columns, condition=checks.text, weights=checks.text)
def fractions(
    frame: pd.DataFrame, by: Columns, condition: str, weights: str | None = None
) -> pd.DataFrame:
    """Return the fraction of runs that meet a condition, per group of `means`: columns `by`,
    fraction, fraction_se, runs.

    The condition is a column of True and False. The error is that of `fraction`; with weights that
    of `means`, but at most what reaches 0 and 1, and if all runs meet it or none does, that of
    `fraction` with as many draws as the weights are worth: (sum w)^2 / sum w^2.
    """
    _free(by, condition, "fraction", "fraction_se", "runs")
    met = frame[named("condition", condition, frame)]
    complete(f"condition {condition!r}", met)
    if met.dtype.kind != "b":
        raise TypeError(f"condition must be True or False in each row, got {condition!r}")
    groups = _groups(frame.assign(**{condition: met.astype(float)}), by, weights, value=condition)

    def of_group(met, *weight):
        value, se = _weighted_fraction(met, *weight) if weight else astuple(fraction(met))[:2]
        return {"fraction": value, "fraction_se": se, "runs": len(met)}

    return _each(groups, by, [condition, *([weights] if weights else [])], of_group)


def _weighted_fraction(met, weight):
    mean, squares = _weighted_mean(met, weight), (weight / weight.sum()) ** 2
    value, se, draws = min(mean["mean"], 1.0), mean["se"], 1 / squares.sum()
    if not 0 < met[weight > 0].mean() < 1 and 3 * squares.max() * draws < 1:
        se = fraction_error(round(value) * draws, draws)
    return value, min(se, max(value, 1 - value) / STANDARD_ERRORS)


@checks.validate(**_RULES, weights=checks.text, points=checks.integer_in(2, checks.MAX_SIZE))
def survival_curves(
    frame: pd.DataFrame,
    by: Columns,
    value: str = "regret",
    weights: str | None = None,
    points: int = 240,
) -> pd.DataFrame:
    """Return the probability that a run reaches x, as a curve in x, per group of `means`: columns
    `by`, at_least (falling, each once), and probability of at least this value.

    About half of the points are evenly spaced in the probability, half in its logarithm.
    """
    _free(by, value, "fraction")
    parts = []
    for key, part in _groups(frame, by, weights, value=value):
        x = part[value].to_numpy()
        order = np.argsort(x)[::-1]
        fall = -x[order]
        weight = np.ones(len(x)) if weights is None else part[weights].to_numpy()
        portion = weight[order].cumsum()
        portion /= portion[-1]
        least = portion[portion > 0][0]
        spaced = np.geomspace(least, 1, points // 2), np.linspace(least, 1, points // 2)
        places = np.searchsorted(portion, np.append(*spaced)).clip(0, len(x) - 1)
        # the last of equal runs
        places = np.unique(np.searchsorted(fall, fall[places], side="right") - 1)
        curve = pd.DataFrame({"at_least": x[order][places], "probability": portion[places]})
        parts.append(curve.assign(**dict(zip(by, key, strict=True)) if by else {}))
    return pd.concat(parts, ignore_index=True)[[*by, "at_least", "probability"]]


@checks.validate(**_RULES, over=_over)
def ratios(
    frame: pd.DataFrame, over: str | dict, by: Columns = (), value: str | None = None
) -> pd.DataFrame:
    """Divide each row of a frame, which `rows` reads, by a column, or by one row of its group.

    `over` is a column of divisors, with errors as `rows` reads them; or a dict from columns to
    values that selects the divisor, one row per group (else a ValueError), and then `by` has the
    columns whose combinations are the groups. The rows except the divisors come back with columns
    ratio, ratio_se, ratio_error.

    Examples
    --------
    >>> frame = pd.DataFrame({"K": [2, 2], "arm": ["a", "b"], "mean": [6.0, 2.0], "se": [0.3, 0]})
    >>> ratios(frame, {"arm": "b"}, by="K")[["K", "arm", "ratio", "ratio_se"]]
       K arm  ratio  ratio_se
    0  2   a    3.0      0.15
    """
    _free(by, "ratio", "ratio_se", "ratio_error")
    numbers = rows(frame, value)
    if isinstance(over, str):
        divisors = rows(frame, named("over", over, frame))
        return frame.assign(**columns(map(truediv, numbers, divisors), "ratio"))
    divides = np.ones(len(frame), bool)
    for column, wanted in over.items():
        divides &= (frame[named("over", column, frame)] == wanted).fillna(False).to_numpy(bool)
    groups = _grouped(frame, by)
    group, places = groups.ngroup().to_numpy(), np.flatnonzero(divides)
    if wrong := (np.bincount(group[places], minlength=groups.ngroups) != 1).sum():
        raise ValueError(f"over must match one row per group, got {over} ({wrong} groups fail)")
    divisor = dict(zip(group[places], places, strict=True))
    ratios = [numbers[i] / numbers[divisor[group[i]]] for i in np.flatnonzero(~divides)]
    return frame[~divides].assign(**columns(ratios, "ratio"))


@checks.validate(**_RULES, x=checks.text, log=checks.boolean)
def slopes(
    frame: pd.DataFrame, by: Columns, x: str, value: str | None = None, log: bool = True
) -> pd.DataFrame:
    """Return slopes in x by least squares, per group, in columns slope, slope_se, slope_error.

    A row is a point as `rows` reads it, whose error counts as in `slope`; `by` are columns, or an
    empty list for the whole frame. With `log` a slope is that of the logarithms: the exponent of a
    power.

    Examples
    --------
    >>> frame = pd.DataFrame({"T": [10, 100, 1000], "regret": [1.0, 10.0, 100.0]})
    >>> slopes(frame, [], "T").slope.round(12).tolist()
    [1.0]
    """
    _free(by, "slope", "slope_se", "slope_error")
    rows(frame, value)
    groups = _groups(frame, by, x=x)

    def of_group(part):
        numbers = rows(part, value)
        along = np.log(part[x]) if log else part[x]
        return slope(along, [e.log() for e in numbers] if log else numbers)

    return _keys(groups, by).assign(**columns([of_group(part) for _, part in groups], "slope"))
