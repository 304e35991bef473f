"""Faults for the notebooks on azize2025."""

import numpy as np

from planted import all_of, as_if, replaced, scaled, uniform_when_rare, with_epsilon, wrapped
from privregret import divergence, rare
from privregret.bandits import AdaPKLUCB
from privregret.bandits.dp_klucb import GeometricBatches
from privregret.bounds import azize2025 as bounds
from privregret.studies import azize2025 as steps
from privregret.studies import azize2025_privacy as enumeration


def plain_mean(algorithm, problem, rounds, runs, rng):
    return algorithm.run(problem, rounds, rng, runs) @ problem.gaps, np.ones(runs)


def groups_of_rewards(right, policy, model):
    p, pairs = right(policy, model)
    return p, pairs if model == "list" else np.argwhere(~np.eye(len(p), dtype=bool))


def forgets_epsilon(x, y, epsilon):
    return divergence.kl(x, y)


def kink(means, epsilon):
    """A lower bound with two branches, epsilon and kl, that meet at an angle."""
    critical = bounds.critical_epsilon(min(means), max(means))
    return bounds.lai_robbins(means) * max(1.0, critical / epsilon)


def twice_the_slack(right, p, q, alpha, n):
    return right(p, q, 2 * alpha, n)


WRONG_WAY = {"list": 0.3, "table": 0.2, "tree": 0.1}
UNIFORM = uniform_when_rare(GeometricBatches)
PLANTS = {
    "azize2025/3-lower-bound": {
        "equation-8 strict-improvement": replaced(divergence, "d_epsilon", forgets_epsilon),
        "lemma-c1": scaled(enumeration, 0.0, "policy_loss"),
        # KL-UCB and IMED in the same batches, without noise
        "theorem-3-1": with_epsilon(GeometricBatches, lambda e: 1e6),
        "lemmas-c3-c5-h7": wrapped(bounds, "crossing_bound", twice_the_slack),
    },
    "azize2025/4-algorithms": {
        "theorem-4-3-klucb theorem-4-3-imed alpha-near-1 polynomial first-batch": UNIFORM,
        # what is importance-sampled has the noise that the learner says
        "alpha-near-1": all_of(
            with_epsilon(GeometricBatches, lambda e: 100.0), replaced(rare, "weighted", plain_mean)
        ),
        "theorem-f7-pre-convergence": scaled(steps, 100.0, "d_epsilon"),
    },
    "azize2025/B-release-models": {
        "proposition-b5b": wrapped(enumeration, "distributions", groups_of_rewards),
        "proposition-b5a models-apart": replaced(
            enumeration, "delta", lambda policy, model, epsilon: WRONG_WAY[model]
        ),
    },
    "azize2025/D-concentration": {
        "proposition-4-1": replaced(divergence, "d_epsilon", forgets_epsilon),
        "lemma-d3": replaced(bounds, "d_epsilon", forgets_epsilon),
        "coupled": scaled(divergence, 0.5, "d_epsilon"),
    },
    "azize2025/5-experiments": {
        "figure-1 two-reasons": UNIFORM,
        # optimism 0.5 ln t instead of 3.1 ln t
        "third-reason": as_if(AdaPKLUCB, lambda learner: AdaPKLUCB(learner.epsilon, 0.5)),
    },
    "azize2025/G-extended-experiments": {
        "figures-4-to-7 up-to-10-times figure-8": UNIFORM,
        "smooth-change": replaced(bounds, "theorem_3_1", kink),
    },
}
