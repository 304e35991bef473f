"""Faults for the bandit part of hu2021 and its lower bound."""

from dataclasses import replace

import privregret.instances
from planted import Plant, as_if, plays, uniform_play
from privregret.bandits import DPSE, AnytimeLazyUCB, HybridUCB
from privregret.full_information import FTNL
from privregret.studies import hu2021 as decisions


def uniform(cls):
    """The learner draws every arm uniformly."""
    return lambda monkeypatch: monkeypatch.setattr(cls, "runner", plays(uniform_play))


def other_epsilon(cls, change):
    """The learner runs with another epsilon than its own."""
    other = as_if(cls, lambda learner: replace(learner, epsilon=change(learner.epsilon)))
    return lambda monkeypatch: monkeypatch.setattr(cls, "runner", other)


def plays_as(cls, other):
    """The learner plays as `other(learner)` does."""

    def runner(self, problem, checkpoints):
        return other(self).runner(problem, checkpoints)

    return lambda monkeypatch: monkeypatch.setattr(cls, "runner", runner)


def hybrid_is_uniform_and_private(monkeypatch):
    uniform(HybridUCB)(monkeypatch)
    monkeypatch.setattr(
        decisions,
        "hybrid_loss",
        lambda epsilon, more=0, real=decisions.hybrid_loss: real(epsilon, more + 1),
    )


def capped_noise(monkeypatch):
    real = FTNL.noise_scale
    monkeypatch.setattr(FTNL, "noise_scale", lambda self, actions: min(real(self, actions), 1.0))


def two_experts(monkeypatch):
    real = privregret.instances.packing
    monkeypatch.setattr(privregret.instances, "packing", lambda actions, gap: real(2, gap))


BANDITS, LOWER, FIGURES, MORE = (
    f"hu2021/{name}"
    for name in ("4-bandit-setting", "H-lower-bound", "6-experiments", "I-additional-plots")
)
PLANTS = [
    Plant(
        BANDITS,
        "Anytime-Lazy-UCB plays uniformly",
        uniform(AnytimeLazyUCB),
        ("theorem-3", "theorem-3-growth", "theorem-4"),
    ),
    Plant(
        BANDITS,
        "Hybrid-UCB plays uniformly, and the attack is on noise for one node more",
        hybrid_is_uniform_and_private,
        ("theorem-5-regret", "theorem-5-privacy"),
    ),
    Plant(
        LOWER,
        "FTNL with noise of scale at most 1",
        capped_noise,
        ("theorem-10",),
    ),
    Plant(
        LOWER,
        "a packing of two experts, whatever K",
        two_experts,
        ("theorem-10-gap", "minimax"),
    ),
    Plant(
        FIGURES, "Anytime-Lazy-UCB plays uniformly", uniform(AnytimeLazyUCB), ("lazy-competitive",)
    ),
    Plant(
        FIGURES,
        "Hybrid-UCB plays uniformly",
        uniform(HybridUCB),
        ("hybrid-large-epsilon", "hybrid-improves", "ucb-falls"),
    ),
    Plant(
        FIGURES,
        "DP-SE has a fiftieth of epsilon",
        other_epsilon(DPSE, lambda e: e / 50),
        ("se-flat",),
    ),
    Plant(
        MORE, "DP-SE does not use epsilon", other_epsilon(DPSE, lambda e: 1.0), ("se-flat-beyond",)
    ),
    Plant(
        MORE,
        "Anytime-Lazy-UCB plays as DP-SE does",
        plays_as(AnytimeLazyUCB, lambda learner: DPSE(learner.epsilon)),
        ("elimination",),
    ),
]
