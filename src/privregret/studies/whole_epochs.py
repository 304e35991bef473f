"""Check Lemmas 2 and 3 of `companion/whole-epochs` by enumeration, its theorem by exact regret."""

import math
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats
from scipy.optimize import minimize, minimize_scalar

from privregret import estimates, exact, instances
from privregret.bounds import companion as bounds
from privregret.core import store
from privregret.core.algorithm import Algorithm
from privregret.estimates import Estimate
from privregret.full_information import FTNL, EpochAlgorithm
from privregret.instances import StochasticLosses

# Settings -----------------------------------------------------------------------------------------

NOISES = "gumbel", "exponential", "laplace"
# losses that are the same in every round
SAME = "fixed"
# rounds of all runs
LONG = 2**60


def log_others(log_k: float) -> float:
    """ln(K - 1)."""
    return max(0.0, log_k + np.log1p(-np.exp(-log_k)))


def equal_gaps(log_k: float, gap: float) -> StochasticLosses:
    """One best action and K - 1 others, losses the same in every round."""
    return instances.deterministic_losses((0.0, gap), log_counts=(0.0, log_others(log_k)))


def problems(log_k: float, epsilon: float) -> Iterator[tuple[str, StochasticLosses]]:
    """Instances with gaps around epsilon and above, as many as [0, 1] holds."""
    others = log_others(log_k)
    for gap in (g for g in (epsilon / 16, epsilon / 2, 2 * epsilon, 0.3) if 1e-4 <= g <= 0.9):
        yield SAME, equal_gaps(log_k, gap)
        if log_k <= 40 and epsilon >= 0.01 and gap >= 0.01:
            means = ((1 - gap) / 2, (1 + gap) / 2)
            yield "Bernoulli", instances.bernoulli_losses(means, log_counts=(0.0, others))
        if log_k < 0.8 and gap >= 0.05:
            yield "opposite pairs", instances.dependent("antithetic", gap)
    bracket = max(0.0, others - np.log(6))
    yield SAME, instances.doubling(6, log_per_bracket=bracket, bernoulli=False)


# Lemmas 2 and 3 -----------------------------------------------------------------------------------


def compositions(outcomes: np.ndarray, probabilities: np.ndarray, n: int):
    """Probabilities of all compositions of n rounds, and sums of losses less those of action 1."""
    counts = [c for c in product(range(n + 1), repeat=len(outcomes) - 1) if sum(c) <= n]
    counts = np.array([(*c, n - sum(c)) for c in counts])
    mass = stats.multinomial.pmf(counts, n, probabilities)
    return mass, counts @ (outcomes - outcomes[:, :1])


def lemma_rows(outcomes, probabilities, noise: str, eta: float, longest: int) -> list[dict]:
    """For n = 1, 2, 4, ..., longest: both sides of Lemma 2, and the smallest slack in Lemma 3."""
    outcomes = outcomes[:, np.argsort(probabilities @ outcomes)]
    gaps, rows = probabilities @ (outcomes - outcomes[:, :1]), []
    flat = np.zeros(len(gaps))
    before = float(exact.expected_maximum(flat, noise, 1 / eta))
    for n in 2 ** np.arange(int(np.log2(longest)) + 1):
        mass, differences = compositions(outcomes, probabilities, n)
        chosen = exact.selection_from_sums(differences, flat, noise, 1 / eta)
        after = float(mass @ exact.expected_maximum(differences, noise, 1 / eta))
        empirical, fraction = mass @ (chosen * differences), mass @ chosen
        slack = (empirical - n * bounds.lemma_3(gaps, eta) * fraction)[1:] / (n * fraction[1:])
        potential = (2 if n > 1 else 1) * (before - after)
        row = {"eta": eta, "empirical": empirical.sum(), "potential": potential}
        rows.append(row | {"slack": slack.min(), "smallest_gap": gaps[1]})
        before = after
    return rows


@store.cached
def random_laws(noise: str, count: int, longest: int, rng: np.random.Generator) -> pd.DataFrame:
    """`lemma_rows` of random joint distributions: up to five actions and four outcomes."""
    rows = []
    for _ in range(count):
        kinds, actions = int(rng.integers(2, 5)), int(rng.integers(2, 6))
        if rng.random() < 0.5:
            outcomes = rng.random((kinds, actions))
        else:
            outcomes = rng.integers(0, 2, (kinds, actions)).astype(float)
        probabilities = rng.dirichlet(np.ones(kinds))
        eta = float(np.exp(rng.uniform(-4, 0.7)))
        rows += lemma_rows(outcomes, probabilities, noise, eta, longest)
    return pd.DataFrame(rows)


# The theorem --------------------------------------------------------------------------------------


@store.cached
def theorem_grid(log_actions: list, epsilons: list) -> pd.DataFrame:
    """Exact regret after 2^60 rounds and the theorem's bounds, for each instance and noise."""
    rows = []
    for log_k, epsilon in product(log_actions, epsilons):
        for (losses, problem), noise in product(problems(log_k, epsilon), NOISES):
            # the rest is slow
            if losses == SAME or noise == "gumbel" or problem.log_actions < 1:
                regret = exact.expected_regret(FTNL(epsilon, noise), problem, LONG)
                gap, all_actions = problem.gaps[problem.gaps > 0].min(), problem.log_actions
                row = {"losses": losses, "epsilon": epsilon, "gap": gap}
                row |= {"regret": regret.value[0], "error": regret.error[0]}
                row["theorem"] = float(bounds.theorem(all_actions, gap, epsilon, noise))
                row["large"] = float(bounds.large_gaps(all_actions, gap, epsilon, noise))
                row["same"] = float(bounds.deterministic(all_actions, epsilon, noise))
                rows.append(row)
    return pd.DataFrame(rows)


@store.cached
def minimax_grid(epsilons: list) -> pd.DataFrame:
    """Exact regret at finite horizons and bound (c) of the theorem, K = 101, Gumbel noise."""
    frames = []
    for epsilon, gap in product(epsilons, (0.003, 0.03, 0.3)):
        problem = instances.bernoulli_losses(((1 - gap) / 2, (1 + gap) / 2), (1, 100))
        curve = exact.regret_curves(FTNL(epsilon, "gumbel"), problem, [2**6, 2**12, 2**18])
        bound = bounds.minimax(np.log(101), curve.t, epsilon, "gumbel")
        frames.append(curve.assign(bound=bound))
    return pd.concat(frames, ignore_index=True)


# The constant -------------------------------------------------------------------------------------


@store.cached
def phase_curve(learner: Algorithm, log_k: float, gaps: np.ndarray) -> pd.DataFrame:
    """Exact regret after 2^60 rounds times epsilon / ln K, equal gaps, one row per gap."""
    rows, scale = [], learner.epsilon / log_k
    for gap in gaps:
        regret = exact.expected_regret(learner, equal_gaps(log_k, gap), LONG)
        scaled, error = float(regret.value[0]) * scale, float(regret.error[0]) * scale
        row = {"algorithm": learner.label, "log_actions": log_k, "gap": gap}
        rows.append(row | {"scaled_regret": scaled, "scaled_regret_error": error})
    return pd.DataFrame(rows)


class WorstInstance(NamedTuple):
    """The worst instance found and epsilon R / ln K on it, `ratio`.

    `error` bounds the numerical error of the ratio, not its distance to the largest ratio. `tried`
    counts the instances whose regret was computed.
    """

    instance: StochasticLosses
    ratio: float
    error: float
    tried: int


@store.cached
def worst_instance(
    algorithm: EpochAlgorithm,
    log_actions: float,
    bernoulli: bool = False,
    gaps: tuple[float, float] = (0.3, 1.0),
    points: int = 16,
    polish: int = 12,
    groups: int = 1,
    budget: int = 200,
) -> WorstInstance:
    """Maximise epsilon R / ln K over instances with one best action, R after 2^60 rounds.

    First all other actions have the same gap, in `gaps`: it is searched on a grid of `points`, then
    refined by `polish` steps of Brent's method about the two best points. With more `groups` of
    equal actions, Nelder and Mead's simplex starts there, in the groups' gaps and sizes, and
    computes at most about `budget` regrets. The search is local in the end, so its ratio is a lower
    bound on the largest one. Bernoulli losses have means centred at 1/2; small gaps cost ln K / gap
    even without privacy, so their ratio depends on the smallest gap allowed.
    """
    (low, high), others = gaps, log_others(log_actions)
    tried = []

    def ratio(log_gaps, log_counts):
        """Return epsilon R / ln K, and record it with its error and the instance."""
        sizes, which = np.clip(np.exp(log_gaps), low, high), np.append(0.0, log_counts)
        best = (1 - sizes.max()) / 2 if bernoulli else 0.0
        make = instances.bernoulli_losses if bernoulli else instances.deterministic_losses
        instance = make((best, *(best + sizes)), log_counts=tuple(which))
        factor = algorithm.epsilon / instance.log_actions
        regret = exact.expected_regret(algorithm, instance, LONG)
        found = [float(x[0]) * factor for x in regret]
        tried.append(WorstInstance(instance, *found, 0))
        return tried[-1].ratio

    grid = np.linspace(math.log(low), math.log(high), points)
    values = [ratio([g], [others]) for g in grid]
    padded = np.array([-np.inf, *values, -np.inf])
    tops = np.flatnonzero((padded[1:-1] >= padded[:-2]) & (padded[1:-1] >= padded[2:]))
    # octaves are similar, so two are tried
    best_tops = sorted(tops.tolist(), key=lambda i: -values[i])[: 2 * (polish > 0)]
    for top in best_tops:
        ends = grid[max(top - 1, 0)], grid[min(top + 1, points - 1)]
        options = {"maxiter": polish}
        minimize_scalar(lambda g: -ratio([g], [others]), bounds=ends, options=options)
    if groups > 1:
        start = math.log(max(tried, key=lambda w: w.ratio).instance.gaps[1])

        def negative(x):
            # sizes are proportional to (K - 1)^exponent, with exponent 1 for the last group; every
            # group has at least one action
            sizes = others * np.append(x[groups:], 1.0)
            return -ratio(x[:groups], np.maximum(sizes - np.logaddexp.reduce(sizes) + others, 0.0))

        first = np.concatenate([start + np.linspace(-0.2, 0.2, groups), np.full(groups - 1, 0.95)])
        options = {"maxfev": budget, "xatol": 1e-6, "fatol": 1e-9}
        minimize(negative, first, method="Nelder-Mead", options=options)
    return max(tried, key=lambda w: w.ratio)._replace(tried=len(tried))


def worst(
    learner: Algorithm,
    log_k: float,
    smallest_gap: float,
    points: int,
    bernoulli: bool = False,
    groups: int = 1,
    **options,
) -> dict:
    """The largest epsilon R / ln K that a search over gaps from `smallest_gap` to 1 finds."""
    gaps, log_k_searched = (smallest_gap, 1.0), max(log_k, np.log(2))
    options |= {"bernoulli": bernoulli, "groups": groups, "points": points}
    found = worst_instance(learner, log_k_searched, gaps=gaps, **options)
    row = {"algorithm": learner.label, "epsilon": learner.epsilon}
    row |= {"losses": "Bernoulli" if bernoulli else SAME, "groups": groups, "log_actions": log_k}
    row |= {"scaled_regret": found.ratio, "scaled_regret_error": found.error}
    return row | {"gap": found.instance.gaps.max(), "tried": found.tried}


def relative(part: pd.DataFrame, same: pd.DataFrame) -> list[Estimate]:
    """Ratios of these worst instances to those with equal gaps and losses that do not change."""
    keys = ["algorithm", "log_actions"]
    one = same.rename(columns={"scaled_regret": "one", "scaled_regret_error": "one_error"})
    both = part.merge(one[[*keys, "one", "one_error"]], on=keys)
    return estimates.rows(estimates.ratios(both, "one", value="scaled_regret"), "ratio")
