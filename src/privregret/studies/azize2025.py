"""Parameter rules, steps of proofs and measures of regret for the notebooks on azize2025."""

import numpy as np
import pandas as pd

from privregret import estimates
from privregret.core import checks, store
from privregret.divergence import d_epsilon


def separated_means(name: str, value: object) -> np.ndarray:
    """Check means of Bernoulli arms with a unique best arm and a second-best mean above 0.

    Other means make a gap or a divergence 0, by which the notebooks divide.
    """
    means = checks.means(name, value)
    second, best = np.sort(means)[-2:]
    if not 0 < second < best:
        shown = checks.shown(value)
        raise ValueError(f"{name} must have one largest number and another above 0, got {shown}")
    return means


@store.cached
def theorem_f7(
    means: np.ndarray,
    epsilon: float,
    horizon: int,
    delta: float,
    runs: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Compute the largest excess, in nats, of three inequalities of Theorem F.7's proof in runs.

    They concern decisions of DP-IMED (alpha = 2, n0 = 1) for an arm i other than the best arm j.
    The level is `delta` below the best mean. (A): the index of i is at most n_j d_epsilon(mean_j,
    level) + ln n_j. As printed, this is claimed while the private mean of j is below the level; as
    repaired, while all private means are. (B): in all other cases the index is at least n_i
    d_epsilon(min(mean_i, level), level). Return (A) as printed, (A) and (B) as repaired, -inf if
    there was no such decision.
    """
    best = int(np.argmax(means))
    level, worst = means[best] - delta, np.full(3, -np.inf)
    for _ in range(runs):
        pulls = np.ones(len(means), int)
        size, sums = pulls.copy(), rng.binomial(1, means) + rng.laplace(size=len(means)) / epsilon
        while pulls.sum() < horizon:
            private = np.clip(sums / pulls, 0, 1)
            top, each = private.max(), zip(pulls, private, strict=True)
            index = [n * d_epsilon(x, top, epsilon) + np.log(n) for n, x in each]
            i = int(np.argmin(index))
            if i != best:
                n = pulls[best]
                before = index[i] - n * d_epsilon(private[best], level, epsilon) - np.log(n)
                after = pulls[i] * d_epsilon(min(private[i], level), level, epsilon) - index[i]
                cases = private[best] < level, top < level, top >= level
                worst = np.maximum(worst, np.where(cases, (before, before, after), -np.inf))
            size[i] *= 2
            sums[i] += rng.binomial(size[i], means[i]) + rng.laplace() / epsilon
            pulls[i] += size[i]
    return worst


def falls(best: float, epsilon: float, delta: float) -> np.ndarray:
    """Compute the fall of d_epsilon(x, .) from the best mean to `delta` below it.

    x is on a grid of 1001 points from 0 to best - delta. The proof of Theorem F.7 needs a positive
    lower bound of the fall before (39).
    """
    level, d = best - delta, np.vectorize(d_epsilon)
    x = np.linspace(0, level, 1001)
    return d(x, best, epsilon) - d(x, level, epsilon)


def extent(numbers: list[estimates.Estimate]) -> estimates.Estimate:
    """Return an Estimate whose interval reaches from the smallest to the largest of several.

    Its verdict about a limit is undecided if some numbers are on either side of the criterion.
    """
    low, high = estimates.smallest(numbers).low, estimates.largest(numbers).high
    if np.isinf(high - low):
        return estimates.Estimate(numbers[0].value, np.inf)
    return estimates.Estimate((low + high) / 2, bound=(high - low) / 2)


def order_seen(experiments: pd.DataFrame, baselines: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Estimate how often the mean of an experiment is below the smallest mean of a baseline.

    Both frames are from `estimates.means`; the first has one row per experiment. Columns of the
    result: `by`, algorithm, and those of `estimates.fractions`. The error includes that of the
    smallest mean: half the change of the fraction if this mean moves by one standard error to
    either side. Baselines whose error is not known are left out.
    """
    baselines = baselines[np.isfinite(baselines.se)]
    best = baselines.loc[baselines.groupby(by)["mean"].idxmin(), [*by, "mean", "se"]]
    both = experiments.merge(best, on=by, suffixes=("", "_best"))
    lower, seen, upper = (
        estimates.fractions(both.assign(below=below), [*by, "algorithm"], "below")
        for below in (both["mean"] < both.mean_best + shift * both.se_best for shift in (-1, 0, 1))
    )
    moved = (upper.fraction - lower.fraction) / 2
    return seen.assign(fraction_se=np.hypot(seen.fraction_se, moved))
