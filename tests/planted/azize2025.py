"""Faults for the notebooks on azize2025."""

import numpy as np

from planted import all_of, as_if, replaced, scaled, uniform_when_rare, with_epsilon, wrapped
from privregret import divergence, rare
from privregret.bandits import AdaPKLUCB
from privregret.bandits.dp_klucb import GeometricBatches
from privregret.bounds import azize2025 as bounds
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


WRONG_WAY = {"list": 0.3, "table": 0.2, "tree": 0.1}
UNIFORM = uniform_when_rare(GeometricBatches)
PLANTS = {
    "azize2025/3-lower-bound": {
        "equation-8 strict-improvement": replaced(divergence, "d_epsilon", forgets_epsilon),
        "lemma-c1": scaled(enumeration, 0.0, "policy_loss"),
    },
    "azize2025/4-algorithms": {
        "theorem-4-3-klucb alpha-near-1 first-batch": UNIFORM,
        # what is importance-sampled has the noise that the learner says
        "theorem-3-1 alpha-near-1": all_of(
            with_epsilon(GeometricBatches, lambda e: 100.0), replaced(rare, "weighted", plain_mean)
        ),
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
    },
    "azize2025/5-experiments": {
        "figure-1 two-reasons": UNIFORM,
        # optimism 0.5 ln t instead of 3.1 ln t
        "third-reason": as_if(AdaPKLUCB, lambda learner: AdaPKLUCB(learner.epsilon, 0.5)),
    },
    "azize2025/G-extended-experiments": {
        "figures-4-to-7 figure-8": UNIFORM,
        "smooth-change": replaced(bounds, "theorem_3_1", kink),
    },
}
