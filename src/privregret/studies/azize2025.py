"""Parameter rules, steps of proofs and measures of regret for the notebooks on azize2025."""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from privregret import estimates, rare
from privregret.bounds import azize2025 as bounds
from privregret.core import checks, store
from privregret.divergence import d_epsilon, kl


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


def tail_case(name: str, value: object) -> tuple[float, float, float]:
    """Check mean, epsilon and level of a tail, with 0 < mean < level <= 1."""
    if not isinstance(value, (list, tuple)) or len(value) != 3:
        raise TypeError(f"{name} must be [mean, epsilon, level], got {checks.shown(value)}")
    mean, epsilon, level = (checks.positive(f"{name}[{i}]", v) for i, v in enumerate(value))
    if not mean < level <= 1:
        raise ValueError(f"{name} must have 0 < mean < level <= 1, got {checks.shown(value)}")
    return mean, epsilon, level


# Steps of proofs


@store.kept
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


def batch_steps(ends: np.ndarray, n0: int, alpha: float) -> dict[str, float]:
    """Compute the largest excess, in pulls, of two inequalities about batches that end at `ends`.

    "pulled", before (45): n_m* - n0 <= alpha H + 1 - n0 alpha / (alpha - 1), where m* is the first
    batch with n_m >= H; H up to e^12, which the last end must reach. It holds without the last
    term. "batch", in Theorem F.9: B_(m+1) <= alpha n_m. It holds with 1 added.
    """
    ends = np.asarray(ends, float)
    # H of (43)
    levels = np.geomspace(1, np.exp(12), 2000)
    pulled = (ends[np.searchsorted(ends, levels)] - n0 - alpha * levels - 1).max()
    batch = (np.diff(ends) - alpha * ends[:-1]).max()
    return {"pulled": pulled + n0 * alpha / (alpha - 1), "batch": batch}


@store.kept
def at_batch_ends(log_of: Callable, grid: list, **options: bool) -> np.ndarray:
    """Compute `bounds.azize2025.tail`, or a bound of its signature, of P[S + Z >= n x].

    `grid` lists (m, mean, epsilon, x): m Laplace variables, and m batches of 1, 2, 4, ... pulls, so
    that n = 2^m - 1. `log_of` is given the options.
    """
    return np.array(
        [log_of((2**m - 1) * x, 2**m - 1, m, mu, epsilon, **options) for m, mu, epsilon, x in grid]
    )


def adap_klucb_constant(mean: float, best: float, epsilon: float, tau: float) -> float:
    """Compute the leading constant of AdaP-KLUCB's regret bound, equation (49), per unit of gap.

    It is the infimum over beta of max((1 + beta) tau / kl(mean, best), (1 + tau) / (c epsilon
    (best - mean))), where kl(mean + c (best - mean), best) = kl(mean, best) / (1 + beta), for
    optimism tau > 3 and 0 < mean < best < 1. The equation has c - gamma with gamma > 0 in place of
    c, which makes the constant larger.
    """
    gap = best - mean

    # ln of the first term / second term, increasing in c
    def excess(c):
        return math.log(tau * c * epsilon * gap / (1 + tau) / kl(mean + c * gap, best))

    return (1 + tau) / (brentq(excess, 1e-9, 1 - 1e-6) * epsilon * gap)


# Measures


def extent(numbers: list[estimates.Estimate]) -> estimates.Estimate:
    """Return an Estimate whose interval reaches from the smallest to the largest of several.

    Its verdict about a limit is undecided if some numbers are on either side of the criterion.
    """
    low, high = estimates.smallest(numbers).low, estimates.largest(numbers).high
    if np.isinf(high - low):
        return estimates.Estimate(numbers[0].value, np.inf)
    return estimates.Estimate((low + high) / 2, bound=(high - low) / 2)


def release_game(policy: list, observed: str, change: int, seed: int) -> tuple[list, list]:
    """Play the game of Figure 2 with two arms and return actions and observed rewards.

    The left reward is 1 for arm 2 and 0 for arm 1, and the right reward is the opposite. The policy
    (as `azize2025_privacy.random_policy` makes it) observes the left one, but in round `change`
    (from 1) the one named by `observed`, "L" or "R".
    """
    rng, actions, seen = np.random.default_rng(seed), [], []
    for t, step in enumerate(policy, start=1):
        actions.append(int(rng.random() < step[(*actions, *seen)][1]))
        right = observed == "R" and t == change
        seen.append(1 - actions[-1] if right else actions[-1])
    return actions, seen


def regret_over_bound(
    algorithms: list, problems: list, horizon: int, runs: int, seed: int
) -> pd.DataFrame:
    """Estimate expected regret / (ln T times the constant of Theorem 3.1).

    Parameters as in `rare.regrets`; columns of `estimates.means` by algorithm and problem, and
    bound, mean_over_bound, mean_over_bound_se, horizon.
    """
    sample = rare.regrets(algorithms, problems, horizon, runs, seed)
    setting = ["instance", "algorithm", "epsilon", "alpha", "n0"]
    frame = estimates.means(sample, setting, weights="weight")
    means = {problem.name: problem.means for problem in problems}
    constant = [bounds.theorem_3_1(means[r.instance], r.epsilon) for r in frame.itertuples()]
    bound = np.log(horizon) * np.array(constant)
    over = {"mean_over_bound": frame["mean"] / bound, "mean_over_bound_se": frame.se / bound}
    return frame.assign(bound=bound, **over, horizon=horizon)


def times_log(frame: pd.DataFrame, means: tuple, horizon: int) -> pd.DataFrame:
    """Add the constants of the three lower bounds times ln T to a frame with column epsilon."""
    constants = bounds.lower_bounds(means, frame.epsilon)
    return frame.assign(
        **{f"{name}_times_log": np.log(horizon) * c for name, c in constants.items()}
    )
