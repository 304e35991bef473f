"""Exact regret on equal gaps and on the worst instances found, and Lemmas 2 and 3 of
`companion/whole-epochs` by enumeration."""

import math
from itertools import product
from operator import itemgetter

import numpy as np
import pandas as pd
from scipy import stats
from scipy.optimize import minimize, minimize_scalar

from privregret import exact, instances
from privregret.bounds import companion as bounds
from privregret.core import store
from privregret.core.algorithm import Algorithm
from privregret.estimates import Estimate
from privregret.full_information import EpochAlgorithm
from privregret.instances import StochasticLosses

# rounds of all runs
LONG = 2**60


def equal_gaps(
    log_actions: float, gap: float, bernoulli: bool = False, name: str = "equal gaps"
) -> StochasticLosses:
    """Return one best of e^log_actions >= 2 actions, all others worse by `gap`.

    Losses are 0 and `gap` in every round, or independent Bernoulli with means (1 -+ gap) / 2.
    """
    others = max(0.0, log_actions + np.log1p(-np.exp(-log_actions)))
    means = ((1 - gap) / 2, (1 + gap) / 2) if bernoulli else (0.0, gap)
    make = instances.bernoulli_losses if bernoulli else instances.deterministic_losses
    return make(means, log_counts=(0.0, others), name=name)


def scaled_regret(learner: Algorithm, instance: StochasticLosses) -> Estimate:
    """Exact epsilon R / ln K after 2^60 rounds."""
    regret, factor = exact.expected_regret(learner, instance, LONG), instance.log_actions
    value, error = (float(x[0]) * learner.epsilon / factor for x in regret)
    return Estimate(value, bound=error)


def phase_curve(learner: Algorithm, log_k: float, gaps: np.ndarray) -> pd.DataFrame:
    """`scaled_regret` with equal gaps, a row for each gap."""
    regrets = [scaled_regret(learner, equal_gaps(log_k, gap)) for gap in gaps]
    columns = {"algorithm": learner.label, "log_actions": log_k, "gap": gaps}
    columns |= {"scaled_regret": [x.value for x in regrets]}
    return pd.DataFrame(columns | {"scaled_regret_error": [x.bound for x in regrets]})


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


@store.cached
def worst_instance(
    algorithm: EpochAlgorithm,
    log_actions: float,
    bernoulli: bool = False,
    gaps: tuple[float, float] = (0.3, 1.0),
    points: int = 16,
    polish: int = 12,
    groups: int = 1,
) -> dict:
    """Return the instance with the largest scaled_regret of those tried, which have one best
    action; the regret and its numerical error, the largest gap, and how many were tried.

    First all other actions have the same gap, in `gaps`: it is searched on a grid of `points`, then
    refined by `polish` steps of Brent's method about the two best points. With more `groups` of
    equal actions, Nelder and Mead's simplex starts there, in the groups' gaps and sizes, and
    computes at most about 200 regrets. Bernoulli losses have means centred at 1/2.
    """
    others, tried = equal_gaps(log_actions, 1.0).log_counts[1], []
    ratio = itemgetter("scaled_regret")
    make = instances.bernoulli_losses if bernoulli else instances.deterministic_losses

    def negative(log_gaps, log_counts=(others,)):
        sizes = np.clip(np.exp(log_gaps), *gaps)
        best = (1 - sizes.max()) / 2 if bernoulli else 0.0
        instance = make((best, *(best + sizes)), log_counts=(0.0, *log_counts))
        regret = scaled_regret(algorithm, instance)
        tried.append({"scaled_regret": regret.value, "scaled_regret_error": regret.bound})
        tried[-1] |= {"gap": instance.gaps.max(), "instance": instance}
        return -regret.value

    def negative_of_groups(x):
        # sizes are proportional to (K - 1)^exponent, with exponent 1 for the last group; every
        # group has at least one action
        sizes = others * np.append(x[groups:], 1.0)
        sizes = np.maximum(sizes - np.logaddexp.reduce(sizes) + others, 0.0)
        return negative(x[:groups], sizes)

    grid = np.linspace(*np.log(gaps), points)
    values = np.array([-negative([g]) for g in grid])
    padded = np.array([-np.inf, *values, -np.inf])
    tops = np.flatnonzero((values >= padded[:-2]) & (values >= padded[2:]))
    # octaves are similar, so two are tried
    for top in sorted(tops, key=lambda i: -values[i])[: 2 * (polish > 0)]:
        ends = grid[max(top - 1, 0)], grid[min(top + 1, points - 1)]
        minimize_scalar(lambda g: negative([g]), bounds=ends, options={"maxiter": polish})
    if groups > 1:
        spread = math.log(max(tried, key=ratio)["gap"]) + np.linspace(-0.2, 0.2, groups)
        options = {"maxfev": 200, "xatol": 1e-6, "fatol": 1e-9}
        first = np.append(spread, np.full(groups - 1, 0.95))
        minimize(negative_of_groups, first, method="Nelder-Mead", options=options)
    return max(tried, key=ratio) | {"tried": len(tried)}
