"""Faults for asi2025, Sections 3 and 4."""

from dataclasses import replace

import numpy as np

from planted import Plant, plays, scaled
from privregret.adversarial import BatchedPrivate, EXP4Batched, EXP4Local, ExpertsFromBandit
from privregret.bounds import asi2025 as bounds
from privregret.privacy import adversarial as privacy

BANDITS, EXPERTS = "asi2025/3-private-adversarial-bandits", "asi2025/4-expert-advice"


def uniform(*classes):
    """The learner draws every arm uniformly; its loss is replaced by the mean."""

    def run(data, checkpoints, rng):
        ends = np.append(data.loss_starts[1:], np.iinfo(np.int64).max)
        lengths = np.clip(checkpoints[:, None], data.loss_starts, ends) - data.loss_starts
        return lengths @ data.losses.mean(axis=1)

    return lambda monkeypatch: [monkeypatch.setattr(cls, "runner", plays(run)) for cls in classes]


def less_noise(cls, factor):
    """The noise has a fraction of its scale."""
    real = cls.scale.fget
    return lambda mp: mp.setattr(cls, "scale", property(lambda self: factor * real(self)))


def half_the_noise_on_losses(monkeypatch):
    """In `run` alone: in `play` the plain algorithm beside it would be another one."""
    real = EXP4Local.run
    monkeypatch.setattr(
        EXP4Local, "run", lambda self, *given: real(replace(self, epsilon=2 * self.epsilon), *given)
    )


def half_the_noise_on_averages(monkeypatch):
    real = privacy.worst_batched_loss
    monkeypatch.setattr(
        privacy, "worst_batched_loss", lambda base, scale, *more: real(base, 0.5 * scale, *more)
    )


def deaf_to_advice(monkeypatch):
    """On short tables, for the same reason."""
    real = ExpertsFromBandit.play

    def play(self, losses, *given):
        short = len(losses) < 100
        return np.zeros(len(losses), int) if short else real(self, losses, *given)

    monkeypatch.setattr(ExpertsFromBandit, "play", play)


PLANTS = [
    Plant(
        BANDITS,
        "HTINF plays uniformly, in batches and with per-loss noise",
        uniform(BatchedPrivate),
        ("theorem-1", "table-1", "sublinear", "local-separation", "adaptive-separation"),
    ),
    Plant(BANDITS, "half the noise on averages", half_the_noise_on_averages, ("lemma-3",)),
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
        ("sublinear-many-experts",),
    ),
    Plant(
        EXPERTS,
        "half the noise on averages and on losses",
        lambda mp: [less_noise(BatchedPrivate, 0.5)(mp), half_the_noise_on_losses(mp)],
        ("theorem-7", "theorem-9-privacy"),
    ),
    Plant(
        EXPERTS,
        "Theorem 9's bound is a thousandth; actions do not depend on advice",
        lambda mp: [scaled(bounds, 0.001, "theorem_9")(mp), deaf_to_advice(mp)],
        ("expert-bounds", "sensitive-advice"),
    ),
]
