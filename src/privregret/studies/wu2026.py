"""Instances and measurements that only the notebooks on wu2026 use."""

import math

import numpy as np
import pandas as pd
from scipy.optimize import differential_evolution
from scipy.special import comb

from privregret import exact, instances
from privregret.core import store
from privregret.core.jit import jit
from privregret.full_information import FTNL
from privregret.studies import wu2026_proofs as proofs

# Instances


def votes(losses: np.ndarray) -> np.ndarray:
    """Replace a loss vector by 1 for every action that is not the best, and 0 for the best."""
    return (losses > losses.min()).astype(float)


@store.cached
def lemma_ratios(count: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return the largest sum of f and rise of its antiderivative / ln K in Lemma 3, random a."""
    sums, rises = [], []
    for _ in range(count):
        groups = int(rng.integers(1, 6))
        a = np.append(np.exp(rng.uniform(-9, 1, groups)), 0.0)
        log_counts = np.append(rng.random(groups) * rng.choice([1.0, 10.0, 200.0]), 0.0)
        sums.append(float(proofs.lemma_3(a, log_counts)))
        rise = np.logaddexp.reduce(log_counts - a) / np.log(2)
        rises.append(float(rise / np.logaddexp.reduce(log_counts)))
    return max(sums), max(rises)


# Regret


def two_loss_regret(
    low: np.ndarray, high: np.ndarray, p: np.ndarray, epsilon: float, horizon: int
) -> float:
    """Return the expected regret of Gumbel FTNL, scale 2 / epsilon, if actions have own losses.

    Each action has two losses in [0, 1], independent over actions, and takes `high` with
    probability `p`; (K,) arrays. Footnote 1 of wu2026 asks whether the worst case is worse than
    with resampling, that is, with low = 0 and high = 1. All outcomes are listed: (n + 1)^K of them
    for an epoch of n rounds.
    """
    means = low * (1 - p) + high * p
    gaps, n = means - means.min(), 1
    total = gaps.mean()
    while 2 * n <= horizon:
        hits, rate = np.arange(n + 1), p[:, None]
        chance = comb(n, hits) * rate**hits * (1 - rate) ** hits[::-1]
        gap = _two_loss_gap(n * low, high - low, chance, gaps, epsilon / 2)
        total += min(2 * n, horizon - 2 * n + 1) * gap
        n *= 2
    return float(total)


@jit
def _two_loss_gap(lowest, step, chance, gaps, eta):
    """Mean gap of a softmax of -eta (`lowest` + hits `step`), independent numbers of hits."""
    actions, outcomes = chance.shape
    result, sums = 0.0, np.empty(actions)
    for outcome in range(outcomes**actions):
        rest, weight = outcome, 1.0
        for j in range(actions):
            weight *= chance[j, rest % outcomes]
            sums[j] = lowest[j] + rest % outcomes * step[j]
            rest //= outcomes
        if weight == 0:
            continue
        smallest, whole, part = sums.min(), 0.0, 0.0
        for j in range(actions):
            odds = np.exp(eta * (smallest - sums[j]))
            whole += odds
            part += odds * gaps[j]
        result += weight * part / whole
    return result


@store.cached
def worst_two_losses(actions: int, epsilon: float, T: int, seed: int) -> dict:
    """Search for the largest regret over instances with two losses per action, Gumbel noise.

    raw_regret is the maximum, resampled_regret that over Bernoulli instances, to which resampling
    reduces them. The first search starts from the result of the second.
    """
    options = {"maxiter": 40, "popsize": 6, "tol": 1e-8, "rng": seed}

    def bernoulli(p):
        return -two_loss_regret(0 * p, 0 * p + 1, p, epsilon, T)

    def free(x):
        return -two_loss_regret(*x.reshape(3, actions), epsilon, T)

    bits = differential_evolution(bernoulli, [(0, 1)] * actions, **options)
    start = np.concatenate([np.zeros(actions), np.ones(actions), bits.x])
    worst = differential_evolution(free, [(0, 1)] * (3 * actions), x0=start, **options)
    found = {"actions": actions, "T": T, "epsilon": epsilon}
    return found | {
        "raw_regret": -worst.fun,
        "resampled_regret": -bits.fun,
        "resampled_over_raw": bits.fun / worst.fun,
    }


def voting_regret(losses: tuple[float, ...], epsilon: float) -> float:
    """Compute the regret of FTNL with Gumbel noise that sees votes, deterministic losses, T = 2^40.

    One vote vector depends on one loss vector, so that the privacy is that of FTNL.
    """
    seen = np.array(losses)
    gaps = seen - seen.min()
    regret, n = float(gaps.mean()), 1
    for _ in range(40):
        chosen = exact.selection_from_sums(n * votes(seen), 0 * gaps, "gumbel", 2 / epsilon)
        regret, n = regret + 2 * n * float(chosen @ gaps), 2 * n
    return regret


@store.cached
def worst_equal_gap(learner: FTNL, log_actions: float, T: int) -> dict:
    """Search all equal gaps in (0, 1] for the largest exact regret, Bernoulli losses.

    Regret / gap falls as the gap grows, since a better action is selected more often. So regret at
    a gap bounds regret up to the next gap tried, and T times the smallest gap bounds what is below
    it. Intervals are divided until all bounds are within 1% of the largest regret; "error" is the
    largest bound minus that regret.
    """
    others = log_actions + np.log1p(-np.exp(-log_actions))
    tried, new = pd.DataFrame(), 2.0 ** -np.arange(math.ceil(math.log2(T) / 2) + 4)
    while len(new):
        problems = [
            instances.bernoulli_losses((0.5 - g / 2, 0.5 + g / 2), log_counts=(0.0, others))
            for g in new
        ]
        found = exact.regret_curves(learner, problems, T).assign(gap=new)
        tried = pd.concat([tried, found], ignore_index=True).sort_values("gap")
        gaps, worst = tried.gap.to_numpy(), tried.loc[tried.regret.idxmax()]
        highest = (tried.regret + tried.error).to_numpy()
        bounds = np.append(gaps[0] * T, highest[:-1] * gaps[1:] / gaps[:-1])
        lower = np.append(gaps[0] / 4, gaps[:-1])
        new = np.sqrt(lower * gaps)[bounds > (1 + 0.01) * worst.regret]
    largest = max(bounds.max(), highest.max())
    found = {"noise": learner.noise, "epsilon": learner.epsilon, "log_actions": log_actions, "T": T}
    return found | {"gap": worst.gap, "regret": worst.regret, "error": largest - worst.regret}
