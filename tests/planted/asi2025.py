"""Faults for asi2025, Sections 3 and 4."""

import numpy as np

from planted import Plant, as_if, plays, scaled
from privregret.adversarial import (
    HTINF,
    BatchedPrivate,
    EXP4Batched,
    EXP4Local,
    ExpertsFromBandit,
    LocallyPrivate,
    tuning,
)
from privregret.bounds import asi2025 as bounds

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


def local_without_privacy(monkeypatch):
    """The local algorithms see every loss as it is: they learn below 1 / sqrt T."""
    monkeypatch.setattr(
        LocallyPrivate, "prepared", as_if(LocallyPrivate, lambda learner: HTINF(1.0))
    )


def other_rates(monkeypatch):
    """Theorem 9's bound times epsilon, Theorem 10's with N for N^(1/6)."""
    real = bounds.table_1

    def changed(horizon, arms, experts, epsilon, logs=True):
        found = real(horizon, arms, experts, epsilon, logs)
        more = {
            "Theorem 9": found["Theorem 9"] * epsilon,
            "Theorem 10": found["Theorem 10"] * experts ** (5 / 6),
        }
        return found | more

    monkeypatch.setattr(bounds, "table_1", changed)


def gamma_as_in_the_proof(monkeypatch):
    real = tuning.batched_exp4
    monkeypatch.setattr(tuning, "batched_exp4", lambda *args: real(*args[:5]))


def deaf_to_advice(monkeypatch):
    monkeypatch.setattr(
        ExpertsFromBandit, "play", lambda self, losses, *_: np.zeros(len(losses), int)
    )


PLANTS = [
    Plant(
        BANDITS,
        "HTINF plays uniformly, in batches and with per-loss noise",
        uniform(BatchedPrivate),
        (
            ("Theorem 1", "R_{"),
            ("Table 1", "$T^{1/2}$"),
            ("Table 1", r"$\epsilon^{-1"),
            ("Table 1", "lies inside"),
            ("Table 1", "batches beat noise"),
            ("Corollary 2", "grows faster than"),
            ("Introduction", "Central model"),
            ("Section 3", "This separates"),
        ),
    ),
    Plant(
        BANDITS,
        "half the noise on averages",
        less_noise(BatchedPrivate, 0.5),
        (("Lemma 3", ""), ("Corollary 24", "FTPL"), ("Section 2.4", "adaptive")),
    ),
    Plant(
        BANDITS,
        "Corollary 2's bound is a hundredth",
        scaled(bounds, 0.01, "corollary_2"),
        (("Corollary 2", "208"),),
    ),
    Plant(
        BANDITS,
        "no noise in the local model",
        local_without_privacy,
        (("Section 3", "Local model"),),
    ),
    Plant(
        EXPERTS,
        "batched EXP4 plays uniformly",
        uniform(EXP4Batched),
        (("Theorem 10", "Regret grows like"), ("After Theorem 10", "Algorithm 2")),
    ),
    Plant(
        EXPERTS,
        "HTINF over experts plays uniformly",
        uniform(ExpertsFromBandit),
        (("Theorem 6", ""), ("Theorem 7", ""), ("Table 2", "first regime ($")),
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
        (("Theorem 10", "$107A$"),),
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
        (("Theorem 10", "-DP"),),
    ),
    Plant(
        EXPERTS,
        "other rates in Table 1",
        other_rates,
        (
            ("Table 2", "Corollary 8's bound"),
            ("Table 2", "Theorem 9's bound"),
            ("After Theorem 10", "bound is sublinear"),
        ),
    ),
    Plant(
        EXPERTS,
        "gamma as in the proof",
        gamma_as_in_the_proof,
        (("Theorem 10", "in the statement"),),
    ),
    Plant(
        EXPERTS,
        "actions do not depend on the advice",
        deaf_to_advice,
        (("Remark before Theorem 7", ""),),
    ),
]
