"""What the notebooks on wu2026 need and no other does, in the order settings, measure, plot."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from math import comb

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.optimize import brentq, differential_evolution

from privregret import estimates, exact, instances, store
from privregret.bounds import wu2026 as bounds
from privregret.full_information import FTNL
from privregret.instances import StochasticLosses
from privregret.press import draw, style
from privregret.privacy import selection

# Settings


def two_values(actions: int, rng: np.random.Generator) -> StochasticLosses:
    """A random instance: one coin decides the first action's loss, the others' are fixed."""
    values, others, p = rng.random(2), rng.random(actions - 1), rng.random()
    outcomes = [(value, *others) for value in values]
    return StochasticLosses("two values", outcomes, (0.0,) * actions, (p, 1 - p))


def bits_of(problem: StochasticLosses) -> StochasticLosses:
    """The instance of independent Bernoulli losses of the same means, as a joint distribution."""
    actions = len(problem.means)
    corners = np.array(list(product((0.0, 1.0), repeat=actions)))
    chances = np.prod(np.where(corners == 1, problem.means, 1 - problem.means), axis=1)
    return StochasticLosses("bits", corners, (0.0,) * actions, chances / chances.sum())


def binomial_cdf(k: int, n: int, p: Fraction) -> Fraction:
    """F(k; n, p) in rational arithmetic."""
    return sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1))


# Measure: privacy


@store.kept
def largest_loss(actions: int, variants: list[tuple[str, float]]) -> estimates.Estimate:
    """Largest exact privacy loss over numbers of actions and lengths of epochs, at epsilon = 1."""
    sizes = product((2, 3, actions), (1, 2, 64, 2**20), variants)
    return estimates.largest([selection.privacy_loss(K, n, *v).value for K, n, v in sizes])


# Measure: selection


@store.kept
def worse_of_two(
    means: tuple[float, float], level: float, n: int, noise: str, scale: float
) -> dict:
    """Probability of the worse of two actions, with the steps of Lemma 5 and its bound."""
    d = means[1] - means[0]
    problem = instances.bernoulli_losses(means)
    chosen = exact.selection_probabilities(problem, n, noise, scale / level)
    sampling, half, quarter = np.exp(-n * d * np.array([d / 4, level / 2, level / 4]))
    steps = {"half": sampling + half, "quarter": sampling + quarter}
    found = {"noise": noise, "p": chosen.group[1], "p_error": chosen.error}
    return found | steps | {"bound": bounds.selection(n, d, level, noise)}


def raw_and_resampled(problem: StochasticLosses, n: int, level: float) -> dict:
    """Probability of the worse of two actions, as it is and with losses resampled to bits.

    Noise is Gumbel of scale 2 / level, or none; what is below its numerical error is 0.
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
    """Selection on random instances, for Lemma 1.

    Returns the probabilities of an action over that of the next better one, and ranks times
    probabilities, wherever these are far above their numerical error.
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
    """Rank times the probability to be chosen after n rounds with Gumbel noise of scale 10."""
    chosen = exact.selection_probabilities(problem, n, "gumbel", 10.0)
    p = np.where(chosen.group > chosen.error, chosen.group, 0.0)
    j = np.arange(1, len(p) + 1)
    return pd.DataFrame({"noise": "gumbel", "n": n, "j": j, "j_times_p": j * p})


def bad_action(level: float, actions: int, gap: float, noise: str, n: int) -> dict:
    """Probability of a bad action from n losses on the circle, and the bound in the next round."""
    chosen = exact.selection_probabilities(instances.cyclic(actions, gap), n, noise, 2 / level)
    bound = bounds.theorem_3_rounds(np.log(actions), level, 2 * n)
    return {"p": chosen.group[2], "p_error": chosen.error, "bound": bound}


@store.kept
def deterministic_ratios(count: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """Largest ratios on random instances of deterministic losses.

    Probability to bound, for three noises; expected gap with exponential noise to that with Gumbel
    noise; regret to the telescoping bound.
    """
    return tuple(float(x) for x in np.max([_deterministic(rng) for _ in range(count)], axis=0))


def _deterministic(rng):
    groups = int(rng.integers(1, 5))
    means, log_counts = (0.0, *np.sort(rng.random(groups))), (0.0, *(rng.random(groups) * 20))
    problem = instances.deterministic_losses(means, log_counts=log_counts)
    level, n = float(np.exp(rng.uniform(-4, 2))), int(2 ** rng.integers(0, 12))
    variants = *bounds.COROLLARY_2, ("exponential", 2.0)
    chosen = {v: exact.selection_probabilities(problem, n, v[0], v[1] / level) for v in variants}
    pointwise = [0.0]
    for variant in bounds.COROLLARY_2:
        bound = bounds.deterministic_selection(n, problem.gaps, level, *variant)
        seen = (chosen[variant].group > 1e-5) & (problem.gaps > 0)  # far above the numerical error
        pointwise += (np.exp(chosen[variant].log_action[seen]) / bound[seen]).tolist()
    exponential, gumbel = (chosen[v, 2.0].group @ problem.gaps for v in ("exponential", "gumbel"))
    regret = exact.expected_regret(FTNL(level, "gumbel"), problem, 2**50).value[0]
    telescope = bounds.theorem_4_instance(problem.gaps, problem.log_counts, 2 / level)
    return max(pointwise), exponential / gumbel if gumbel > 1e-5 else 0.0, regret / telescope


def one_group(log_actions: float, phase: float) -> float:
    """Lemma 3's sum over ln K for one group of K - 1 equal a, 2^(phase - 5)."""
    others = log_actions + np.log1p(-np.exp(-log_actions))
    return bounds.lemma_3((0.0, 2.0 ** (phase - 5)), (0.0, others))


@store.kept
def lemma_ratios(count: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """Largest values on random a of what Lemmas 2 and 3 bound, and of the antiderivative's rise."""
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
    """log10 of the constant c1 that Remark 4's conjecture needs, with no bad action or many."""
    if bad == "none":
        log_c1 = bounds.remark_4(-np.inf, n, middle, level, 2.0, c2)
    else:
        log_c1 = bounds.remark_4_limit(n, middle, level, 2.0, c2)
    case = {"c2": c2, "epsilon": level, "gap": middle, "bad": bad, "n": n}
    return case | {"log10_c1": log_c1 / np.log(10)}


# Measure: regret


def two_values_over_bits(
    actions: int, T: int, noise: str, rng: np.random.Generator
) -> estimates.Estimate:
    """Regret with resampling on a random instance over that of the original on its bits."""
    problem = two_values(actions, rng)
    resampled = exact.regret_curves(FTNL(1.0, noise, bernoulli_resampling=True), problem, T)
    raw = exact.regret_curves(FTNL(1.0, noise), bits_of(problem), T)
    return estimates.row(resampled) / estimates.row(raw)


@store.kept
def worst_two_losses(actions: int, epsilon: float, T: int, seed: int) -> dict:
    """Largest regret found over instances with two losses per action, Gumbel noise.

    Over all of them, and over the Bernoulli instances that resampling leaves; the worst of these
    is where the first search starts.
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
    """Regret at T = 2^50 over that at T = 2^25, curve by curve."""
    late, early = (estimates.rows(curves[curves["T"] == T]) for T in (2**50, 2**25))
    return [a / b for a, b in zip(late, early, strict=True)]


def rate_crossing(log_actions: float) -> float:
    """ln T at which the rates of Theorems 1 and 2 are equal, over ln K."""
    new = bounds.theorem_2_rate(log_actions, 0.1, 1.0)

    def apart(log_T):
        return bounds.theorem_1_rate(log_actions, 0.1, np.exp(log_T), 1.0) - new

    return brentq(apart, 0.01, 100.0) / log_actions


def equal_gaps(
    log_actions: float, gap_exponents: list[int], exponents: list[int], learners: list[FTNL]
) -> pd.DataFrame:
    """Exact regrets on equal gaps 2^-k with this many actions, at horizons that are powers of 2."""
    sizes = (0.0, log_actions + np.log1p(-np.exp(-log_actions)))
    problems = [
        instances.bernoulli_losses(
            (0.5 - 2.0**-k / 2, 0.5 + 2.0**-k / 2), log_counts=sizes, name=str(k)
        )
        for k in gap_exponents
    ]
    horizons = [2**k for k in sorted(exponents)]
    return exact.regret_curves(learners, problems, horizons).assign(log_actions=log_actions)


# Plot


def two_actions_figure(two: pd.DataFrame) -> Figure:
    """Draw how likely the worse of two actions is, with and without resampling and noise."""
    examples = list(two.groupby("instance", sort=False))
    axes = {"xscale": "log", "xlabel": "losses behind the choice", "ylabel": "P[worse action]"}
    fig, row = draw.panels(len(examples), **axes)
    noises = (np.inf, style.SOLID, "no noise"), (1.0, style.DOTTED, r"Gumbel, $\epsilon=1$")
    for ax, (title, part) in zip(row, examples, strict=True):
        for level, dashes, name in noises:
            curve = part[part.epsilon == level]
            raw = {"color": style.BLUE, "marker": "o", "label": f"as it is, {name}"}
            resampled = {"color": style.VERMILION, "marker": "s", "label": f"resampled, {name}"}
            ax.plot(curve.n, curve.raw, linestyle=dashes, **raw)
            ax.plot(curve.n, curve.resampled, linestyle=dashes, **resampled)
        ax.axhline(0.5, color=style.GREY, linewidth=0.6)
        ax.set(title=title)
    draw.legend_below(fig, 4)
    return fig
