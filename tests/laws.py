"""Draw from `run` and from `play`, and test whether two samples have the same distribution."""

import math

import numpy as np
from scipy.stats import chi2_contingency, ks_2samp, norm

from privregret.instances import BernoulliBandit, ExpertProblem, StochasticLosses

FALSE_ALARM = 1e-4  # chance that a sound algorithm fails one test, were its seed new


def tables(problem, table) -> tuple:
    """What `play` takes before the generator: the table, and with experts their advice."""
    return (table, problem.advice) if isinstance(problem, ExpertProblem) else (table,)


def tally(problem, actions, rounds) -> np.ndarray:
    """What `run` would report of these actions."""
    actions = np.asarray(actions)
    if isinstance(problem, (BernoulliBandit, StochasticLosses)):
        if isinstance(problem, StochasticLosses):
            actions = np.repeat(np.arange(problem.arms), problem.counts)[actions]
        return np.array([np.bincount(actions[:t], minlength=problem.arms) for t in rounds])
    adversary = problem.adversary if isinstance(problem, ExpertProblem) else problem
    segment = np.searchsorted(adversary.starts, np.arange(len(actions)), side="right") - 1
    return adversary.losses[segment, actions].cumsum()[np.asarray(rounds) - 1]


def by_play(play, problem, rounds, runs, seed) -> np.ndarray:
    """(runs, H, ...) what is played by `play(*tables, rng)` on fresh tables of the problem."""
    rng = np.random.default_rng(seed)

    def once():
        return tally(problem, play(*tables(problem, problem.table(rounds[-1], rng)), rng), rounds)

    return np.array([once() for _ in range(runs)])


def views(played) -> np.ndarray:
    """(runs, V) numbers that determine the joint distribution over arms and rounds: counts or
    losses, products, mixtures.

    A product is of the same arm's numbers at neighbouring rounds, a mixture of all numbers.
    """
    flat = played.reshape(len(played), -1).astype(float)
    arms = flat.shape[1] // played.shape[1]
    products = flat[:, : flat.shape[1] - arms] * flat[:, arms:]
    mixtures = flat @ np.random.default_rng(0).normal(size=(flat.shape[1], 6))
    return np.hstack([flat, products, mixtures]).round(8)


def homogeneous(one, other) -> float:
    """p-value that vectors have one law: chi-squared over those expected ten times, and others."""
    both = np.concatenate([one, other]).reshape(len(one) + len(other), -1).round(8)
    keys, index = np.unique(both, axis=0, return_inverse=True)
    table = np.zeros((2, len(keys)))
    np.add.at(table, (np.repeat([0, 1], [len(one), len(other)]), index.ravel()), 1)
    often = table.sum(axis=0) * min(len(one), len(other)) >= 10 * len(both)
    pooled = np.concatenate([table[:, often], table[:, ~often].sum(axis=1, keepdims=True)], axis=1)
    return chi2_contingency(pooled[:, pooled.sum(axis=0) > 0]).pvalue


def same_law(one, other, false_alarm=FALSE_ALARM) -> bool:
    """Kolmogorov-Smirnov and means on every view, chi-squared on whole vectors; Bonferroni."""
    a, b = views(one), views(other)
    level = false_alarm / (2 * a.shape[1] + 1)
    if homogeneous(one, other) <= level:
        return False
    for x, y in zip(a.T, b.T, strict=True):
        error = math.hypot(x.std(ddof=1) / math.sqrt(len(x)), y.std(ddof=1) / math.sqrt(len(y)))
        if abs(x.mean() - y.mean()) > norm.isf(level / 2) * error + 1e-8:
            return False
        if ks_2samp(x, y, method="asymp").pvalue <= level:
            return False
    return True
