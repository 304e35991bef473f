"""Faults that the verdicts on azize2025 must notice."""

import numpy as np

from planted import Plant
from planted.azize2025_experiments import uniform
from privregret import divergence
from privregret.bandits import dp_klucb
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
    right = dp_klucb.GeometricBatches.settings

    def settings(self, horizon, arms):
        return right(self, horizon, arms)._replace(epsilon=100.0)

    monkeypatch.setattr(dp_klucb.GeometricBatches, "settings", settings)


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
        "d_epsilon is a hundredth too small",
        scaled(divergence, "d_epsilon", 0.99),
        ("closed-form", "small-epsilon", "strict-improvement"),
    ),
    Plant(
        LOWER,
        "privacy costs nothing in the change of environment",
        scaled(enumeration, "policy_loss", 0.0),
        ("double-change",),
    ),
    Plant(
        ALGORITHMS,
        "both play uniformly",
        uniform,
        ("klucb", "close-to-1", "first-batch"),
    ),
    Plant(
        ALGORITHMS,
        "both have noise and index of epsilon = 100",
        hardly_private,
        ("lower-bound", "close-to-1"),
    ),
    Plant(
        MODELS, "neighbouring tables and trees differ anywhere", groups_of_rewards, ("equivalent",)
    ),
    Plant(
        MODELS,
        "delta the wrong way round",
        replaced(
            enumeration,
            "delta",
            lambda policy, model, epsilon: {"list": 0.3, "table": 0.2, "tree": 0.1}[model],
        ),
        ("adaptive-implies-table", "stronger"),
    ),
    Plant(TAILS, "d_epsilon is kl", replaced(divergence, "d_epsilon", forgets_kl), ("exponent",)),
    Plant(
        TAILS,
        "bounds with kl in the exponent",
        replaced(bounds, "d_epsilon", forgets_kl),
        ("lemma-d3",),
    ),
]
