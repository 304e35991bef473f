"""Faults for asi2025, Sections 3 and 4."""

import dataclasses

import numpy as np

from planted import Plant, plays, scaled
from privregret.adversarial import (
    BatchedPrivate,
    EXP4Batched,
    EXP4Local,
    ExpertsFromBandit,
    tuning,
)
from privregret.bounds import asi2025 as bounds
from privregret.studies import asi2025

BANDITS, EXPERTS = "asi2025/3-private-adversarial-bandits", "asi2025/4-expert-advice"


def uniform(*classes):
    """The learner draws every arm uniformly; its loss is replaced by the mean."""

    def run(data, checkpoints, rng):
        ends = np.append(data.loss_starts[1:], np.iinfo(np.int64).max)
        lengths = np.clip(checkpoints[:, None], data.loss_starts, ends) - data.loss_starts
        return lengths @ data.losses.mean(axis=1)

    return lambda monkeypatch: [monkeypatch.setattr(cls, "prepared", plays(run)) for cls in classes]


def less_noise(cls, factor):
    """The noise has a fraction of its scale."""
    real = cls.scale
    small = property(lambda self: factor * real.fget(self)) if isinstance(real, property) else None
    return lambda mp: mp.setattr(
        cls, "scale", small or (lambda self, *sizes: factor * real(self, *sizes))
    )


def half_the_noise_on_losses(monkeypatch):
    real = EXP4Local.settings

    def settings(self, *sizes):
        right = real(self, *sizes)
        return right._replace(scale=0.5 * right.scale)

    monkeypatch.setattr(EXP4Local, "settings", settings)


def other_rates(monkeypatch):
    """Theorem 9's bound times epsilon, Theorem 10's with N for N^(1/6)."""
    real = bounds.table_1_exponents

    def changed(a, b):
        found = real(a, b)
        more = {"Theorem 9": found["Theorem 9"] - b, "Theorem 10": found["Theorem 10"] + 5 / 6 * a}
        return found | more

    monkeypatch.setattr(bounds, "table_1_exponents", changed)


def linear_corollary_8(monkeypatch):
    """Corollary 8's bound is T, the others are much smaller for many experts."""

    def changed(a, b):
        return {"Corollary 8": 1.0, "Theorem 9": 0.5, "Theorem 10": 2 / 3}

    monkeypatch.setattr(bounds, "table_1_exponents", changed)


def other_gamma(monkeypatch):
    """The printed gamma is as large as the corrected one, the corrected one a third of it."""
    real = tuning.batched_exp4

    def changed(*args):
        right = real(*args[:5], "corrected")
        third = dataclasses.replace(right, gamma=right.gamma / 3)
        return third if args[5:] == ("corrected",) else right

    monkeypatch.setattr(tuning, "batched_exp4", changed)


def many_experts_cost_more(monkeypatch):
    """Batched EXP4's regret is multiplied by N / epsilon."""
    real = asi2025.exp4_worst_gap

    def changed(horizon, arms, experts, epsilon, *rest):
        found = real(horizon, arms, experts, epsilon, *rest)
        return found | {"mean": found["mean"] * experts / epsilon}

    monkeypatch.setattr(asi2025, "exp4_worst_gap", changed)


def deaf_to_advice(monkeypatch):
    monkeypatch.setattr(
        ExpertsFromBandit, "play", lambda self, losses, *_: np.zeros(len(losses), int)
    )


PLANTS = [
    Plant(
        BANDITS,
        "HTINF plays uniformly, in batches and with per-loss noise",
        uniform(BatchedPrivate),
        ("theorem-1", "rate", "sublinear", "separation", "improves"),
    ),
    Plant(
        BANDITS,
        "half the noise on averages",
        less_noise(BatchedPrivate, 0.5),
        ("lemma-3",),
    ),
    Plant(
        BANDITS,
        "Corollary 2's bound is a hundredth",
        scaled(bounds, 0.01, "corollary_2"),
        ("corollary-2",),
    ),
    Plant(
        EXPERTS,
        "batched EXP4 plays uniformly",
        uniform(EXP4Batched),
        (("Theorem 10", "$T^{2/3}$"), ("After Theorem 10", "Algorithm 2")),
    ),
    Plant(
        EXPERTS,
        "the regret of batched EXP4 is multiplied by N / epsilon",
        many_experts_cost_more,
        (("Theorem 10", "$N^{1/6}$"), ("Theorem 10", r"$\epsilon^{-1/3}$")),
    ),
    Plant(
        EXPERTS,
        "HTINF over experts plays uniformly",
        uniform(ExpertsFromBandit),
        (("Theorem 6", ""), ("Theorem 7", ""), ("Table 2", "In the first regime")),
    ),
    *(
        Plant(
            EXPERTS,
            f"the bound of {place} is a thousandth",
            scaled(bounds, 0.001, name),
            ((place, "at most"),),
        )
        for place, name in (("Corollary 8", "corollary_8"), ("Theorem 9", "theorem_9"))
    ),
    Plant(
        EXPERTS,
        "Theorem 10's bound is a thousandth",
        scaled(bounds, 0.001, "theorem_10"),
        (("Theorem 10", "Regret is at most"),),
    ),
    Plant(
        EXPERTS,
        "half the noise on losses",
        half_the_noise_on_losses,
        (("Theorem 9", "Algorithm 6"),),
    ),
    Plant(
        EXPERTS,
        "a third of the noise on scores",
        less_noise(EXP4Batched, 0.3),
        (("Theorem 10", "Batched EXP4 is"),),
    ),
    Plant(
        EXPERTS,
        "other rates in Table 1",
        other_rates,
        (
            ("Table 2", "Corollary 8's bound"),
            ("Table 2", "Theorem 9's bound"),
            ("After Theorem 10", "bound is sublinear"),
            ("After Theorem 10", "no larger than"),
            ("After Theorem 10", "All three bounds"),
            ("After Theorem 9", "vacuous"),
        ),
    ),
    Plant(
        EXPERTS,
        "Corollary 8's bound is linear",
        linear_corollary_8,
        (("After Corollary 8", "vacuous"),),
    ),
    Plant(
        EXPERTS,
        "another gamma in batched EXP4",
        other_gamma,
        (("Theorem 10", "terms of the proof"),),
    ),
    Plant(
        EXPERTS,
        "actions do not depend on the advice",
        deaf_to_advice,
        (("Remark before Theorem 7", ""),),
    ),
]
