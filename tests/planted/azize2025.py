"""Faults that the verdicts on azize2025 must notice."""

from dataclasses import replace

import numpy as np

from planted import Plant, as_if
from planted.azize2025_experiments import uniform
from privregret import divergence, rare
from privregret.bandits.dp_klucb import GeometricBatches
from privregret.bounds import azize2025 as bounds
from privregret.studies import azize2025_privacy as enumeration


def scaled(module, name, factor):
    """The function of that name, times a factor."""
    right = getattr(module, name)
    return lambda monkeypatch: monkeypatch.setattr(
        module, name, lambda *a, **k: factor * right(*a, **k)
    )


def replaced(module, name, wrong):
    return lambda monkeypatch: monkeypatch.setattr(module, name, wrong)


def hardly_private(monkeypatch):
    def plain(algorithm, problem, rounds, runs, rng):
        return algorithm.run(problem, rounds, rng, runs) @ problem.gaps, np.ones(runs)

    change = as_if(GeometricBatches, lambda learner: replace(learner, epsilon=100.0))
    monkeypatch.setattr(GeometricBatches, "runner", change)
    # what is importance-sampled has the noise that the learner says
    monkeypatch.setattr(rare, "weighted", plain)


def groups_of_rewards(monkeypatch):
    right = enumeration.distributions

    def distributions(policy, model):
        p, pairs = right(policy, model)
        return p, pairs if model == "list" else np.argwhere(~np.eye(len(p), dtype=bool))

    monkeypatch.setattr(enumeration, "distributions", distributions)


def forgets_kl(x, y, epsilon):
    return divergence.kl(x, y)


LOWER, ALGORITHMS = "azize2025/3-lower-bound", "azize2025/4-algorithms"
MODELS, TAILS = "azize2025/B-release-models", "azize2025/D-concentration"
PLANTS = [
    Plant(
        LOWER,
        "d_epsilon is kl",
        replaced(divergence, "d_epsilon", forgets_kl),
        ("equation-8", "strict-improvement"),
    ),
    Plant(
        LOWER,
        "privacy costs nothing in the change of environment",
        scaled(enumeration, "policy_loss", 0.0),
        ("lemma-c1",),
    ),
    Plant(
        ALGORITHMS,
        "both play uniformly",
        uniform,
        ("theorem-4-3-klucb", "alpha-near-1", "first-batch"),
    ),
    Plant(
        ALGORITHMS,
        "both have noise and index of epsilon = 100",
        hardly_private,
        ("theorem-3-1", "alpha-near-1"),
    ),
    Plant(
        MODELS,
        "neighbouring tables and trees differ anywhere",
        groups_of_rewards,
        ("proposition-b5b",),
    ),
    Plant(
        MODELS,
        "delta the wrong way round",
        replaced(
            enumeration,
            "delta",
            lambda policy, model, epsilon: {"list": 0.3, "table": 0.2, "tree": 0.1}[model],
        ),
        ("proposition-b5a", "models-apart"),
    ),
    Plant(
        TAILS,
        "d_epsilon is kl",
        replaced(divergence, "d_epsilon", forgets_kl),
        ("proposition-4-1",),
    ),
    Plant(
        TAILS,
        "bounds with kl in the exponent",
        replaced(bounds, "d_epsilon", forgets_kl),
        ("lemma-d3",),
    ),
]
