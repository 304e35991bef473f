"""Instances and measurements that only the notebooks on cesari2026 use."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from privregret import estimates, exact, instances
from privregret.bounds import cesari2026 as bounds
from privregret.bounds import wu2026
from privregret.core import store
from privregret.core.algorithm import Algorithm
from privregret.instances import StochasticLosses

# three ways to add up the cost of an epoch
ONE, ALL, EXACT = "action by action", "potential", "exact"

# Instances


def equal_gaps(actions: int, gap: float, name: str = "equal gaps") -> StochasticLosses:
    """Return one action of mean (1 - gap) / 2 and others of mean (1 + gap) / 2, Bernoulli."""
    means = (0.5 - gap / 2, 0.5 + gap / 2)
    return instances.bernoulli_losses(means, log_counts=(0.0, math.log(actions - 1)), name=name)


def suite(actions: int) -> list[StochasticLosses]:
    """Return the instances of the table of constants for a number of actions."""
    k = actions
    problems = [equal_gaps(k, gap, f"equal gaps {gap:g}") for gap in (0.02, 0.5)]
    sizes, name = (0.0, np.log(k - 1)), "deterministic"
    problems.append(instances.deterministic_losses((0.0, 1.0), log_counts=sizes, name=name))
    if k == 2:
        kinds = [(kind, d) for kind in ("antithetic", "comonotone") for d in (0.05, 0.2)]
        return problems + [instances.dependent(kind, d) for kind, d in kinds]
    sizes, name = (0.0, 0.0, np.log(k - 2)), "one small gap"
    problems.append(instances.bernoulli_losses((0.0, 0.05, 1.0), log_counts=sizes, name=name))
    six = instances.doubling(6, log_per_bracket=max(0.0, np.log((k - 1) / 6)))
    sizes, name = six.log_counts, "six scales"
    return [*problems, instances.bernoulli_losses(six.means, log_counts=sizes, name=name)]


def scaled_gaps(kind: str, losses: str, log_actions: float, scales: int) -> StochasticLosses:
    """Return gaps 1, 1/2, ...: "one gap", "doubling" (equally many actions) or "multi-scale"."""
    steps = np.arange(1 if kind == "one gap" else scales)
    if kind == "multi-scale":
        counts = log_actions * (1 - steps / (scales + 1))
    else:
        counts = max(0.0, log_actions - np.log(len(steps))) + 0 * steps
    bernoulli = losses == "Bernoulli"
    make = instances.bernoulli_losses if bernoulli else instances.deterministic_losses
    return make((0.0, *0.5**steps), log_counts=(0.0, *counts), name=kind)


# Regret


def limits(
    algorithms: Algorithm | Sequence[Algorithm], problems: Sequence[StochasticLosses]
) -> pd.DataFrame:
    """Compute regrets at T = 2^60, smallest gaps, and Theorem 1's bounds on private algorithms."""
    frames = []
    for problem in problems:
        curves, gaps = exact.regret_curves(algorithms, problem, 2**60), problem.gaps
        least, size = gaps[gaps > 0].min(), problem.log_actions
        frames.append(curves.assign(log_actions=size, gap=least))
    data = pd.concat(frames, ignore_index=True)
    if "epsilon" in data:
        log_k, eta = data.log_actions, np.minimum(data.epsilon / 2, 1 / 8)
        data["sum_of_terms"] = log_k / data.gap + log_k / data.epsilon
        data["bound"] = bounds.theorem_1(log_k, data.gap, eta)
    return data


@store.cached
def tallies(log_actions: float, scales: int, epsilon: float) -> pd.DataFrame:
    """Add up the cost of epochs of 2, 4, 8, ... rounds on the multi-scale instance in each way."""
    problem, scale = scaled_gaps("multi-scale", "deterministic", log_actions, scales), 2 / epsilon
    order = np.argsort(problem.gaps)
    counts, gaps, n = np.array(problem.log_counts)[order], problem.gaps[order], 2.0 ** np.arange(40)
    c1, c2 = wu2026.COROLLARY_2["gumbel", 2.0]
    phi = np.logaddexp.reduce(counts - np.append(0.5, n)[:, None] * gaps / scale, axis=1)
    ranked = [wu2026.by_rank(counts, np.log(c1) - 2 * s * gaps * epsilon / c2) for s in n]
    expected = [exact.expected_gap(problem, int(s), "gumbel", scale)[0] for s in n]
    tally = pd.DataFrame({"log_actions": problem.log_actions, "n": n})
    tally[ONE] = [2 * s * float(gaps @ each) for s, each in zip(n, ranked, strict=True)]
    tally[ALL] = 4 * scale * -np.diff(phi)
    tally[EXACT] = [2 * s * gap for s, gap in zip(n, expected, strict=True)]
    return tally


def printed_tally(log_actions: float, scales: int, epsilon: float) -> float:
    """Add up wu2026's early contributions with its thresholds r(j) on the multi-scale instance.

    An action of rank j and gap D > epsilon adds D (2^r(j) - 1) / j with r(j) =
    ceil(log2(c2 ln K / (D epsilon))).
    """
    problem = scaled_gaps("multi-scale", "deterministic", log_actions, scales)
    order = np.argsort(problem.gaps)
    counts, gaps = np.array(problem.log_counts)[order], problem.gaps[order]
    large = gaps > epsilon
    # sums of 1/j over each group
    ranks = wu2026.by_rank(counts, 0 * counts)
    epochs = np.ceil(np.log2(wu2026.C2["gumbel"] * problem.log_actions / (gaps[large] * epsilon)))
    return float((gaps[large] * (2.0**epochs - 1)) @ ranks[large])


# Steps of the proofs


@store.cached
def selection_errors(
    problem: StochasticLosses, lengths: Iterable[int], eta: float
) -> list[estimates.Estimate]:
    """Compute the expected gap of a softmax choice from each of these numbers of losses."""
    found = (exact.expected_gap(problem, int(m), "gumbel", 1 / eta) for m in lengths)
    return [estimates.Estimate(value, bound=error) for value, error in found]


@store.cached
def error_steps(count: int, rng: np.random.Generator) -> list[estimates.Estimate | float]:
    """Return the largest ratio of consecutive selection errors for each random instance."""
    lengths, steps = [*range(1, 9), 32, 128, 512], []
    for _ in range(count):
        groups = int(rng.integers(2, 5))
        problem = instances.bernoulli_losses(rng.random(groups), rng.integers(1, 50, groups))
        errors = selection_errors(problem, lengths, float(np.exp(rng.uniform(-3.5, 2.3))))
        seen = [error for error in errors if error.value > 1e-8]
        steps.append(estimates.largest_step(seen) if len(seen) > 1 else 0.0)
    return steps
