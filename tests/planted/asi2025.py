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


def linear_corollary_8(monkeypatch):
    """Corollary 8's bound is T, the others are much smaller for many experts."""

    def changed(a, b):
        return {"Corollary 8": 1.0, "Theorem 9": 0.5, "Theorem 10": 2 / 3}

    monkeypatch.setattr(bounds, "table_1_exponents", changed)


def deaf_to_advice(monkeypatch):
    monkeypatch.setattr(
        ExpertsFromBandit, "play", lambda self, losses, *_: np.zeros(len(losses), int)
    )


def too_costly(monkeypatch):
    """The regret of batches is K / epsilon times the gap, but not that of the largest gap."""

    def prepared(self, problem, checkpoints):
        best, worst = np.sort(problem.losses[0])[[0, -1]]
        paid = (worst - best < 0.9) * (worst - best) * problem.arms / self.epsilon
        losses = np.asarray(checkpoints) * best + paid * 50
        return lambda runs, rng: np.tile(losses, (runs, 1))

    monkeypatch.setattr(BatchedPrivate, "prepared", prepared)


PLANTS = [
    Plant(
        BANDITS,
        "HTINF plays uniformly, in batches and with per-loss noise",
        uniform(BatchedPrivate),
        (
            ("Theorem 1", "R_{"),
            ("Theorem 5", "Batches without noise"),
            ("Table 1", "at most like $T^{1/2}$"),
            ("Table 1", "grows like"),
            ("Table 1", "lies inside"),
            ("Table 1", "smaller worst-gap regret"),
            ("Corollary 2", "grows faster than"),
            ("Introduction", "In the central model"),
            ("Section 3", "separates the central"),
        ),
    ),
    Plant(
        BANDITS,
        "the regret of batches is of order K / epsilon",
        too_costly,
        (("Table 1", r"at most like $\epsilon"), ("Table 1", "at most like $K")),
    ),
    Plant(
        BANDITS,
        "half the noise on averages",
        less_noise(BatchedPrivate, 0.5),
        (("Lemma 3", ""), ("Corollary 24", "FTPL"), ("Section 2.4", "adaptive")),
    ),
    Plant(
        BANDITS,
        "a hundredth of the lower bound for the local model",
        scaled(bounds, 0.01, "any_local"),
        (("Section 3", "HTINF in batches separates"),),
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
        (("Section 3", "HTINF and EXP3 with per-loss noise"),),
    ),
    Plant(
        EXPERTS,
        "batched EXP4 plays uniformly",
        uniform(EXP4Batched),
        ("exponents", "sublinear"),
    ),
    Plant(
        EXPERTS,
        "half the noise on averages and on losses",
        lambda mp: [less_noise(BatchedPrivate, 0.5)(mp), half_the_noise_on_losses(mp)],
        ("theorem-7", "theorems-9-10"),
    ),
    Plant(
        EXPERTS,
        "Corollary 8's bound is linear, Theorem 9's a thousandth; actions do not depend on advice",
        lambda mp: [
            linear_corollary_8(mp),
            scaled(bounds, 0.001, "theorem_9")(mp),
            deaf_to_advice(mp),
        ],
        ("vacuous-when-n-grows", "bounds", "sensitive-advice"),
    ),
]
