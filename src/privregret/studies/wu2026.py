"""Instances, measurements and plots that only the notebooks on wu2026 use."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from math import comb

import numpy as np
import pandas as pd
from scipy.optimize import differential_evolution

from privregret import estimates, exact, instances, store
from privregret.bounds import wu2026 as bounds
from privregret.full_information import FTNL
from privregret.instances import StochasticLosses
from privregret.privacy import selection

# Instances


def two_values(actions: int, rng: np.random.Generator) -> StochasticLosses:
    """Draw an instance: the first action has one of two losses, all others a fixed loss."""
    values, others, p = rng.random(2), rng.random(actions - 1), rng.random()
    outcomes = [(value, *others) for value in values]
    return StochasticLosses("two values", outcomes, (0.0,) * actions, (p, 1 - p))


def bits_of(problem: StochasticLosses) -> StochasticLosses:
    """Return the instance of independent Bernoulli losses of the same means."""
    actions = len(problem.means)
    corners = np.array(list(product((0.0, 1.0), repeat=actions)))
    chances = np.prod(np.where(corners == 1, problem.means, 1 - problem.means), axis=1)
    return StochasticLosses("Bernoulli losses", corners, (0.0,) * actions, chances / chances.sum())


def binomial_cdf(k: int, n: int, p: Fraction) -> Fraction:
    """Compute the binomial distribution function F(k; n, p) in rational arithmetic."""
    return sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1))


def epochs(horizon: int) -> int:
    """Return the number of epochs of Algorithm 1, line 4, as printed.

    Examples
    --------
    >>> [epochs(horizon) for horizon in (2, 3, 4)]
    [1, 2, 3]
    """
    return math.ceil(math.log2(horizon - 1)) + 1


def threshold(actions: int, gap: float, c2: float) -> int:
    """Return tau_l of the proof of Theorem 2, as printed, for a group of actions.

    Examples
    --------
    >>> threshold(2, 0.5, 16.0)
    45
    """
    return math.ceil(c2 * math.log(actions) / gap**2)


def deterministic_family(kind: str, log_actions: float, gap: float) -> StochasticLosses:
    """Return deterministic losses: "cyclic", "one gap" (of 1) or "doubling" (six brackets)."""
    if kind == "cyclic":
        return instances.cyclic(None, gap, log_actions=log_actions)
    if kind == "doubling":
        return instances.doubling(6, bernoulli=False, log_per_bracket=log_actions - np.log(6))
    others = log_actions + np.log1p(-np.exp(-log_actions))
    return instances.deterministic_losses((0.0, 1.0), log_counts=(0.0, others))


def votes(losses: np.ndarray) -> np.ndarray:
    """Replace a loss vector by 1 for every action that is not the best, and 0 for the best."""
    return (losses > losses.min()).astype(float)


# Privacy


@store.kept
def largest_loss(actions: int, variants: list[tuple[str, float]]) -> estimates.Estimate:
    """Return the largest exact privacy loss over epochs and numbers of actions, epsilon = 1."""
    sizes = product((2, 3, actions), (1, 2, 64, 2**20), variants)
    return estimates.largest([selection.privacy_loss(K, n, *v).value for K, n, v in sizes])


# Selection


@store.kept
def worse_of_two(
    means: tuple[float, float], level: float, n: int, noise: str, scale: float
) -> dict:
    """Return the probability of the worse of two actions, the steps of Lemma 5 and its bound."""
    d = means[1] - means[0]
    problem = instances.bernoulli_losses(means)
    chosen = exact.selection_probabilities(problem, n, noise, scale / level)
    sampling, half, quarter = np.exp(-n * d * np.array([d / 4, level / 2, level / 4]))
    steps = {"half": sampling + half, "quarter": sampling + quarter}
    found = {"noise": noise, "p": chosen.group[1], "p_error": chosen.error}
    return found | steps | {"bound": bounds.selection(n, d, level, noise)}


def raw_and_resampled(problem: StochasticLosses, n: int, level: float) -> dict:
    """Return the probability of the worse of two actions without and with resampling.

    The noise is Gumbel of scale 2 / level; there is none at infinite level. A probability below its
    numerical error is returned as 0.
    """
    noise = ("none", 1.0) if np.isinf(level) else ("gumbel", 2 / level)
    found = {"instance": problem.name, "n": n, "epsilon": level}
    for name, of in {"raw": problem, "resampled": replace(problem, bits=True)}.items():
        chosen = exact.selection_probabilities(of, n, *noise)
        found[name] = chosen.group[1] if chosen.group[1] > chosen.error else 0.0
    return found


@store.kept
def orders_and_ranks(
    count: int, noises: list[str], rng: np.random.Generator
) -> tuple[list[estimates.Estimate], list[estimates.Estimate]]:
    """Measure selection probabilities on random instances, for Lemma 1.

    Parameters
    ----------
    count : int
        Number of instances.
    noises : list of str
        Used in turn.
    rng : numpy.random.Generator

    Returns
    -------
    list, list
        Probability of an action / probability of the next better one; rank times probability.
        Probabilities that are close to their numerical error are left out.
    """
    orders, ranks = [], []
    for i in range(count):
        groups = int(rng.integers(2, 6))
        log_counts = np.log(np.round(10 ** rng.uniform(0, 6, groups))) * (np.arange(groups) > 0)
        problem = instances.bernoulli_losses(np.sort(rng.random(groups)), log_counts=log_counts)
        scale, rounds = float(np.exp(rng.uniform(-2, 4))), int(2 ** rng.integers(0, 11))
        chosen = exact.selection_probabilities(problem, rounds, noises[i % 3], scale)
        last = np.exp(np.logaddexp.accumulate(problem.log_counts))
        seen = chosen.group > 1e-5
        many = zip(chosen.group[seen], np.exp(log_counts[seen]), strict=True)
        one = [estimates.Estimate(p / e, 0, chosen.error / e) for p, e in many]
        orders += [worse / better for better, worse in pairwise(one)]
        ranks += [worse * rank for worse, rank in zip(one[1:], last[1:], strict=False)]
    return orders, ranks


def by_rank(problem: StochasticLosses, n: int) -> pd.DataFrame:
    """Return rank times selection probability after n rounds, Gumbel noise of scale 10."""
    chosen = exact.selection_probabilities(problem, n, "gumbel", 10.0)
    p = np.where(chosen.group > chosen.error, chosen.group, 0.0)
    j = np.arange(1, len(p) + 1)
    return pd.DataFrame({"noise": "gumbel", "n": n, "j": j, "j_times_p": j * p})


def bad_action(level: float, actions: int, gap: float, noise: str, n: int) -> dict:
    """Return the probability of an action of loss 1 on the cyclic family, and its lower bounds.

    The choice is made from n loss vectors and played in the 2n rounds that end at round 4n - 1;
    the bounds are those of the first of them, round 2n.
    """
    chosen = exact.selection_probabilities(instances.cyclic(actions, gap), n, noise, 2 / level)
    printed, sharp = (
        bounds.theorem_3_rounds(np.log(actions), level, 2 * n, sharp=which)
        for which in (False, True)
    )
    return {"p": chosen.group[2], "p_error": chosen.error, "printed": printed, "sharp": sharp}


@store.kept
def deterministic_ratios(count: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """Return the largest of three ratios over random instances of deterministic losses.

    They are selection probability / bound of Corollary 2's proof, expected gap with exponential
    noise / with Gumbel noise, and regret / telescoping bound.
    """
    return tuple(float(x) for x in np.max([_deterministic(rng) for _ in range(count)], axis=0))


def _deterministic(rng):
    groups = int(rng.integers(1, 5))
    means, log_counts = (0.0, *np.sort(rng.random(groups))), (0.0, *(rng.random(groups) * 20))
    problem = instances.deterministic_losses(means, log_counts=log_counts)
    level, n = float(np.exp(rng.uniform(-4, 2))), int(2 ** rng.integers(0, 12))
    chosen = {
        variant: exact.selection_probabilities(problem, n, variant[0], variant[1] / level)
        for variant in bounds.COROLLARY_2
    }
    pointwise = [0.0]
    for variant in bounds.COROLLARY_2:
        bound = bounds.deterministic_selection(n, problem.gaps, level, *variant)
        seen = (chosen[variant].group > 1e-5) & (problem.gaps > 0)  # well above numerical error
        bound = np.maximum(bound, 1e-300)  # it may underflow
        pointwise += (np.exp(chosen[variant].log_action[seen]) / bound[seen]).tolist()
    printed = ("exponential", 1.0), ("gumbel", 2.0)
    exponential, gumbel = (chosen[variant].group @ problem.gaps for variant in printed)
    regret = exact.expected_regret(FTNL(level, "gumbel"), problem, 2**50).value[0]
    telescope = bounds.theorem_4_instance(problem.gaps, problem.log_counts, 2 / level)
    return max(pointwise), exponential / gumbel if gumbel > 1e-5 else 0.0, regret / telescope


def one_group(log_actions: float, phase: float) -> float:
    """Return Lemma 3's sum / ln K for one group of K - 1 numbers a, all 2^(phase - 5)."""
    others = log_actions + np.log1p(-np.exp(-log_actions))
    return bounds.lemma_3((0.0, 2.0 ** (phase - 5)), (0.0, others))


@store.kept
def lemma_ratios(count: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """Return the largest values over random a of three quantities in Lemmas 2 and 3.

    They are (f' / ln 2 - f) / mean square, the sum of f / ln K, and the antiderivative's increase
    / ln K.
    """
    return tuple(float(x) for x in np.max([_lemmas(rng) for _ in range(count)], axis=0))


def _lemmas(rng):
    groups = int(rng.integers(1, 6))
    a = np.exp(rng.uniform(-9, 1, groups))
    log_counts = rng.random(groups) * rng.choice([1.0, 10.0, 200.0])
    signed, x = np.append(a * rng.choice([-1, 1], groups), 0.0), rng.uniform(-3, 6)
    log_counts = np.append(log_counts, 0.0)
    value, square = bounds.lemma_2(signed, log_counts, x)
    slope = bounds.lemma_2(signed, log_counts, x + 1e-30j)[0].imag / 1e-30
    a, log_k = np.append(a, 0.0), np.logaddexp.reduce(log_counts)
    antiderivative = np.logaddexp.reduce(log_counts - a) / np.log(2) / log_k
    return (slope / np.log(2) - value) / square, bounds.lemma_3(a, log_counts), antiderivative


def needed(c2: float, level: float, middle: float, bad: str, n: int) -> dict:
    """Return log10 of the constant c1 that Remark 4's conjecture needs.

    There are two actions if `bad` is "none", and infinitely many further ones of mean 1 if it is
    "unbounded".
    """
    if bad == "none":
        log_c1 = bounds.remark_4(-np.inf, n, middle, level, 2.0, c2)
    else:
        log_c1 = bounds.remark_4_limit(n, middle, level, 2.0, c2)
    case = {"c2": c2, "epsilon": level, "gap": middle, "bad": bad, "n": n}
    return case | {"log10_c1": log_c1 / np.log(10)}


def tail_over_bound(rate: float, first: int) -> float:
    """Return the sum in (8) over epochs after `first` / its bound, for exponents rate 2^r.

    The sum is that of 2^(r - 1) e^(-rate 2^r), the bound e^(-rate 2^first) / rate.
    """
    r = np.arange(first + 1, first + 60)
    return float(np.sum(2.0 ** (r - 1) * rate * np.exp(rate * (2.0**first - 2.0**r))))


# Regret


def two_values_over_bits(
    actions: int, T: int, noise: str, rng: np.random.Generator
) -> estimates.Estimate:
    """Return regret with resampling / regret without on the Bernoulli losses of equal means."""
    problem = two_values(actions, rng)
    resampled = exact.regret_curves(FTNL(1.0, noise, bernoulli_resampling=True), problem, T)
    raw = exact.regret_curves(FTNL(1.0, noise), bits_of(problem), T)
    return estimates.row(resampled) / estimates.row(raw)


@store.kept
def worst_two_losses(actions: int, epsilon: float, T: int, seed: int) -> dict:
    """Search for the largest regret over instances with two losses per action, Gumbel noise.

    "raw" is the maximum over all instances, "resampled" the maximum over Bernoulli instances, to
    which resampling reduces them. The first search starts from the result of the second.
    """
    options = {"maxiter": 40, "popsize": 6, "tol": 1e-8, "rng": seed}

    def bernoulli(p):
        return -exact.two_loss_regret(0 * p, 0 * p + 1, p, epsilon, T)

    def free(x):
        return -exact.two_loss_regret(*x.reshape(3, actions), epsilon, T)

    bits = differential_evolution(bernoulli, [(0, 1)] * actions, **options)
    start = np.concatenate([np.zeros(actions), np.ones(actions), bits.x])
    worst = differential_evolution(free, [(0, 1)] * (3 * actions), x0=start, **options)
    found = {"actions": actions, "T": T, "epsilon": epsilon}
    return found | {"raw": -worst.fun, "resampled": -bits.fun, "ratio": bits.fun / worst.fun}


def late_growth(curves: pd.DataFrame) -> list[estimates.Estimate]:
    """Return regret at T = 2^50 / regret at T = 2^25 for each curve."""
    late, early = (estimates.rows(curves[curves["T"] == T]) for T in (2**50, 2**25))
    return [a / b for a, b in zip(late, early, strict=True)]


def exponents_over(curve: pd.DataFrame, bound: str, lag: int) -> list[estimates.Estimate]:
    """Return exponents of ln K in regret / bound between rows that are `lag` apart."""
    x, logs = np.log(curve.log_actions.to_numpy()), estimates.logs(curve)
    y = [log - float(b) for log, b in zip(logs, np.log(curve[bound].astype(float)), strict=True)]
    return [(b - a) / (t - s) for a, b, s, t in zip(y, y[lag:], x, x[lag:], strict=False)]


def voting_regret(losses: tuple[float, ...], epsilon: float, epochs: int = 40) -> float:
    """Compute the regret of FTNL with Gumbel noise when it sees votes in place of losses.

    The losses are deterministic. One vote vector depends on one loss vector, so that the privacy is
    that of FTNL.
    """
    seen = np.array(losses)
    gaps = seen - seen.min()
    regret, n = float(gaps.mean()), 1
    for _ in range(epochs):
        chosen = exact.selection_from_sums(n * votes(seen), 0 * gaps, "gumbel", 2 / epsilon)
        regret, n = regret + 2 * n * float(chosen @ gaps), 2 * n
    return regret


@store.kept
def worst_equal_gap(learner: FTNL, log_actions: float, T: int, precision: float = 0.01) -> dict:
    """Search all equal gaps in (0, 1] for the largest exact regret, Bernoulli losses.

    Regret / gap falls as the gap grows, since a better action is selected more often. So regret at
    a gap bounds regret up to the next gap tried, and T times the smallest gap bounds what is below
    it. Intervals are divided until all bounds are within `precision` of the largest regret;
    "error" is the largest bound minus that regret.
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
        new = np.sqrt(lower * gaps)[bounds > (1 + precision) * worst.regret]
    largest = max(bounds.max(), highest.max())
    found = {"noise": learner.noise, "epsilon": learner.epsilon, "log_actions": log_actions, "T": T}
    return found | {"gap": worst.gap, "regret": worst.regret, "error": largest - worst.regret}
