"""Faults behind the verdicts on the experiments of azize2025."""

import numpy as np

from planted import Plant, as_if, plays, uniform_play
from privregret import rare
from privregret.bandits import AdaPKLUCB
from privregret.bandits.dp_klucb import GeometricBatches
from privregret.bounds import azize2025 as bounds


def uniform(monkeypatch):
    """DP-KLUCB and DP-IMED play uniformly."""

    def weighted(algorithm, problem, rounds, runs, rng):
        # apart, so that they have an error
        scale = rng.uniform(0.99, 1.01, runs)
        return np.outer(scale, problem.gaps.mean() * rounds), np.ones(runs)

    monkeypatch.setattr(GeometricBatches, "runner", plays(uniform_play))
    monkeypatch.setattr(rare, "weighted", weighted)


def small_optimism(monkeypatch):
    """AdaP-KLUCB with optimism 0.5 ln t instead of 3.1 ln t."""
    change = as_if(AdaPKLUCB, lambda learner: AdaPKLUCB(learner.epsilon, 0.5))
    monkeypatch.setattr(AdaPKLUCB, "runner", change)


def kink(monkeypatch):
    """A lower bound with two branches, epsilon and kl, that meet at an angle."""

    def angular(means, epsilon):
        return bounds.lai_robbins(means) * max(
            1.0, bounds.critical_epsilon(min(means), max(means)) / epsilon
        )

    monkeypatch.setattr(bounds, "theorem_3_1", angular)


SECTION_5, APPENDIX_G = "azize2025/5-experiments", "azize2025/G-extended-experiments"
PLANTS = [
    Plant(SECTION_5, "DP-KLUCB and DP-IMED play uniformly", uniform, ("figure-1", "two-reasons")),
    Plant(SECTION_5, "AdaP-KLUCB with a sixth of its optimism", small_optimism, ("third-reason",)),
    Plant(
        APPENDIX_G,
        "DP-KLUCB and DP-IMED play uniformly",
        uniform,
        ("figures-4-to-7", "figure-8"),
    ),
    Plant(APPENDIX_G, "a lower bound with a kink", kink, ("smooth-change",)),
]
