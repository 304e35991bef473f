"""Measurements and steps of proofs of the notebooks on wu2026."""

import math

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.optimize import differential_evolution
from scipy.special import comb
from scipy.stats import binom

from privregret import exact
from privregret.core import store
from privregret.exact.sums import mean_softmax
from privregret.full_information import FTNL
from privregret.studies.whole_epochs import equal_gaps


def two_loss_regret(low, high, p, epsilon: float, horizon: int) -> float:
    """Return the expected regret of Gumbel FTNL, scale 2 / epsilon, if actions have own losses.

    Each action has two losses in [0, 1], independent over actions, and takes `high` with
    probability `p`; (K,) arrays. Footnote 1 of wu2026 asks whether the worst case is worse than
    with resampling, that is, with low = 0 and high = 1. All (n + 1)^K outcomes are listed.
    """
    means = low * (1 - p) + high * p
    gaps, n = means - means.min(), 1
    total = gaps.mean()
    while 2 * n <= horizon:
        hits = np.indices((n + 1,) * len(p)).reshape(len(p), -1).T
        weights = (comb(n, hits) * p**hits * (1 - p) ** (n - hits)).prod(axis=1)
        chosen = mean_softmax(weights, n * low + hits * (high - low), 0 * p, 2 / epsilon)
        total += min(2 * n, horizon - 2 * n + 1) * (chosen @ gaps)
        n *= 2
    return float(total)


@store.cached
def worst_two_losses(actions: int, epsilon: float, T: int, seed: int) -> dict:
    """Search for the largest regret over instances with two losses per action, Gumbel noise.

    raw_regret is the maximum, resampled_regret that over Bernoulli instances, to which resampling
    reduces them. The first search starts from the result of the second.
    """
    options = {"maxiter": 40, "popsize": 6, "tol": 1e-8, "rng": seed}

    def negative(x):
        return -two_loss_regret(*x.reshape(3, actions), epsilon, T)

    ends = np.repeat([0.0, 1.0], actions)
    unit = [(0, 1)] * actions
    bits = differential_evolution(lambda p: negative(np.append(ends, p)), unit, **options)
    start = np.append(ends, bits.x)
    worst = differential_evolution(negative, 3 * unit, x0=start, **options)
    row = {"actions": actions, "T": T, "epsilon": epsilon, "raw_regret": -worst.fun}
    return row | {"resampled_regret": -bits.fun, "resampled_over_raw": bits.fun / worst.fun}


def votes(losses: np.ndarray) -> np.ndarray:
    """Replace a loss vector by 1 for every action that is not the best, and 0 for the best."""
    return (losses > losses.min()).astype(float)


@store.cached
def worst_equal_gap(learner: FTNL, log_actions: float, T: int) -> dict:
    """Search all equal gaps in (0, 1] for the largest exact regret, Bernoulli losses.

    Regret / gap falls as the gap grows, since a better action is selected more often. It is at most
    T. So regret at a gap bounds regret up to the next gap tried. With two actions regret / gap is
    convex as well, since chances are means of a sigmoid of binomials, and below its chords.
    Intervals are divided until all bounds are within 1% of the largest regret; "error" is the
    largest bound minus that regret.
    """
    tried, new = pd.DataFrame(), 4.0 ** -np.arange(math.ceil(math.log2(T) / 4) + 2)
    while len(new):
        problems = [equal_gaps(log_actions, gap, bernoulli=True) for gap in new]
        regrets = exact.regret_curves(learner, problems, T).assign(gap=new)
        tried = pd.concat([tried, regrets], ignore_index=True).sort_values("gap")
        gaps, worst = tried.gap.to_numpy(), tried.loc[tried.regret.idxmax()]
        share = np.append(T, (tried.regret + tried.error) / gaps)
        low, at, slope = np.append(0.0, gaps[:-1]), gaps, 0.0
        if np.isclose(log_actions, math.log(2)):
            slope = np.minimum(np.diff(share) / (gaps - low), -1e-99)
            at = np.clip((low - share[:-1] / slope) / 2, low, gaps)
        bounds = at * (share[:-1] + slope * (at - low))
        new = np.sqrt(np.maximum(low, gaps[0] / 4) * gaps)[bounds > (1 + 0.01) * worst.regret]
    row = {"noise": learner.noise, "epsilon": learner.epsilon, "log_actions": log_actions, "T": T}
    error = bounds.max() - worst.regret
    return row | {"gap": worst.gap, "regret": worst.regret, "error": error}


def lemma_2(a: ArrayLike, log_counts: ArrayLike, x: ArrayLike) -> np.ndarray:
    """Compute f(x), the mean of u = 2^x a under weights e^-u; a and log_counts are (G,).

    x may be complex. The lemma says f' <= ln 2 f, which holds since f' = ln 2 (f - variance of u).
    """
    u = 2.0 ** np.asarray(x)[..., None] * np.asarray(a, float)
    weights = np.asarray(log_counts, float) - u
    weights = np.exp(weights - weights.real.max(axis=-1, keepdims=True))
    return (weights * u).sum(axis=-1) / weights.sum(axis=-1)


def lemma_3(a: ArrayLike, log_counts: ArrayLike) -> float:
    """Compute the sum of f(r) over r >= 1, divided by ln K.

    The printed proof bounds it by 4.885, the corrected proof by 2.443. The best constant is 2.
    """
    f = lemma_2(a, log_counts, np.arange(1, 200))
    return float(f.sum() / np.logaddexp.reduce(np.asarray(log_counts, float)))


def remark_4(
    log_bad: float, rounds: int, gap: float, epsilon: float, factor: float, c2: float
) -> float:
    """Compute ln of the c1 that Remark 4's conjecture needs for means (0, gap, 1, ..., 1).

    e^log_bad actions have mean 1 (-inf for none, inf for the limit), `rounds` is n, and the Gumbel
    noise has scale `factor` / epsilon. The probability that the middle action is selected is a
    binomial sum. The conjecture bounds it by c1 times a softmax of temperature c2 / (4 epsilon) at
    the mean losses.
    """
    cold, hot = epsilon / factor, 4 * epsilon / c2
    if log_bad == math.inf:  # M cancels
        tilted = np.log1p(gap * np.expm1(-cold))
        return rounds * (tilted + cold - hot + hot * gap)
    g = np.arange(rounds + 1)
    chosen = -cold * g - np.logaddexp(0.0, np.logaddexp(-cold * g, log_bad - cold * rounds))
    middle = float(np.logaddexp.reduce(binom.logpmf(g, rounds, gap) + chosen))
    right = np.logaddexp(0.0, np.logaddexp(-hot * rounds * gap, log_bad - hot * rounds))
    return middle + hot * rounds * gap + right
