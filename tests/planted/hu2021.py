"""Faults for the bandit part of hu2021 and its lower bound."""

from dataclasses import replace

import numpy as np

import privregret.instances
from planted import Plant, as_if, plays, uniform_play
from privregret.bandits import DPSE, AnytimeLazyUCB, HybridUCB
from privregret.bounds import hu2021 as bounds
from privregret.full_information import FTNL
from privregret.privacy import ledger, pull_times


def uniform(cls):
    """The learner draws every arm uniformly."""
    return lambda monkeypatch: monkeypatch.setattr(cls, "prepared", plays(uniform_play))


def other_epsilon(cls, change):
    """The learner runs with another epsilon than its own."""
    other = as_if(cls, lambda learner: replace(learner, epsilon=change(learner.epsilon)))
    return lambda monkeypatch: monkeypatch.setattr(cls, "prepared", other)


def plays_as(cls, other):
    """The learner plays as `other(learner)` does."""

    def prepared(self, problem, checkpoints):
        return other(self).prepared(problem, checkpoints)

    return lambda monkeypatch: monkeypatch.setattr(cls, "prepared", prepared)


def half_the_noise(monkeypatch):
    monkeypatch.setattr(
        ledger,
        "lazy_releases",
        lambda pulls, real=ledger.lazy_releases: [replace(r, scale=0.5) for r in real(pulls)],
    )


def roots_after_all(monkeypatch):
    monkeypatch.setattr(ledger, "through_children", lambda releases: releases)


def weak_attack(monkeypatch):
    monkeypatch.setattr(
        pull_times,
        "hybrid_loss",
        lambda epsilon, more=0, real=pull_times.hybrid_loss: real(epsilon, more + 1),
    )


def horizon_in_the_wrong_place(monkeypatch):
    """`play` of Anytime-Lazy-UCB starts at another arm on long tables, and beta of DP-SE is
    fixed."""
    lazy, elimination = AnytimeLazyUCB.play, DPSE.play
    monkeypatch.setattr(
        AnytimeLazyUCB,
        "play",
        lambda self, table, rng: lazy(self, table, rng) ^ (len(table) > 10**5),
    )
    monkeypatch.setattr(
        DPSE, "play", lambda self, table, rng: elimination(replace(self, beta=0.1), table, rng)
    )


def rates_that_grow_too_fast(monkeypatch):
    """The rate of Theorem 3 has a large constant, the rate of Theorem 5 a power of log T."""
    first, fifth = bounds.theorem_3, bounds.theorem_5_rate
    monkeypatch.setattr(bounds, "theorem_3", lambda *args: 2 * first(*args))
    monkeypatch.setattr(
        bounds, "theorem_5_rate", lambda gaps, T, epsilon: np.log(T) * fifth(gaps, T, epsilon)
    )


def short_arrays(monkeypatch):
    for name, less in (("lazy_last_array", 4), ("hybrid_last_array", 7)):
        real = getattr(bounds, name)
        monkeypatch.setattr(bounds, name, lambda *args, real=real, less=less: real(*args) - less)


def capped_noise(monkeypatch):
    real = FTNL.noise_scale
    monkeypatch.setattr(FTNL, "noise_scale", lambda self, actions: min(real(self, actions), 1.0))


def two_experts(monkeypatch):
    real = privregret.instances.packing
    monkeypatch.setattr(privregret.instances, "packing", lambda actions, gap: real(2, gap))


def hundred_times_too_small(name):
    """A bound is a hundredth of what it should be."""
    real = getattr(bounds, name)
    return lambda monkeypatch: monkeypatch.setattr(bounds, name, lambda *args: 0.01 * real(*args))


BANDITS, LOWER, FIGURES, MORE = (
    f"hu2021/{name}"
    for name in ("4-bandit-setting", "H-lower-bound", "6-experiments", "I-additional-plots")
)
PLANTS = [
    Plant(
        BANDITS,
        "Anytime-Lazy-UCB plays uniformly",
        uniform(AnytimeLazyUCB),
        (
            ("Theorem 3", "constant of the proof"),
            ("Theorem 3", "no faster"),
            ("Theorem 4", "on every instance"),
            ("Theorem 4", "no faster"),
            ("Lemma 11", "In simulations"),
        ),
    ),
    Plant(
        BANDITS,
        "Hybrid-UCB plays uniformly",
        uniform(HybridUCB),
        (("Theorem 5, regret", "at most the bound"), ("Theorem 5, regret", "no faster")),
    ),
    Plant(
        BANDITS,
        "DP-SE plays uniformly",
        uniform(DPSE),
        (("Theorem 4, remark", "no faster"), ("Section 7", "Restarting")),
    ),
    Plant(
        BANDITS,
        "DP-SE does not know the horizon, Anytime-Lazy-UCB does",
        horizon_in_the_wrong_place,
        (("Sections 3 and 7", "is anytime"), ("Sections 3 and 7", "not anytime")),
    ),
    Plant(
        BANDITS,
        "the bound of Theorem 3 is too small",
        hundred_times_too_small("theorem_3"),
        (("Theorem 3", "constant of the proof"), ("Theorem 3, optimality", "without privacy")),
    ),
    Plant(
        BANDITS,
        "the rates of Theorems 3 and 5 grow too fast",
        rates_that_grow_too_fast,
        (("Theorem 3, optimality", "lower bound"), ("Theorem 5, remark", "log")),
    ),
    Plant(BANDITS, "half the noise in lazy releases", half_the_noise, (("Theorem 2", "DP"),)),
    Plant(
        BANDITS,
        "roots released instead of children",
        roots_after_all,
        (("Theorem 5, privacy", "two children"),),
    ),
    Plant(
        BANDITS,
        "the attack is on noise for twice as many nodes",
        weak_attack,
        (("Theorem 5, privacy", "as printed"),),
    ),
    Plant(
        BANDITS,
        "arrays too short",
        short_arrays,
        (
            ("Lemma 11", "less than one pull"),
            ("Lemma 12", "less than one pull"),
            ("Lemma 11, proof", "(27)"),
            ("Lemma 12, proof", "(42)"),
        ),
    ),
    Plant(
        LOWER,
        "FTNL with noise of scale at most 1",
        capped_noise,
        (
            ("Equation (58)", "DP selectors"),
            ("Theorem 10, step 3", "most"),
            ("Theorem 10", "at round $m^*$, with"),
        ),
    ),
    Plant(
        LOWER,
        "a packing of two experts, whatever K",
        two_experts,
        (("Theorem 10", "private or not"),),
    ),
    Plant(
        FIGURES,
        "Anytime-Lazy-UCB plays uniformly",
        uniform(AnytimeLazyUCB),
        ("lazy-competitive",),
    ),
    Plant(
        FIGURES,
        "Hybrid-UCB plays uniformly",
        uniform(HybridUCB),
        ("hybrid-large-epsilon", "hybrid-improves", "ucb-falls", "wider-interval"),
    ),
    Plant(
        FIGURES,
        "DP-SE has a fiftieth of epsilon",
        other_epsilon(DPSE, lambda e: e / 50),
        ("se-flat",),
    ),
    Plant(MORE, "DP-SE does not use epsilon", other_epsilon(DPSE, lambda e: 1.0), ("se-flat",)),
    Plant(
        MORE,
        "Anytime-Lazy-UCB plays as DP-SE does",
        plays_as(AnytimeLazyUCB, lambda learner: DPSE(learner.epsilon)),
        ("elimination", "se-flatter"),
    ),
]
