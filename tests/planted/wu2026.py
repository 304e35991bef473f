"""Deliberate bugs that must flip verdicts of the notebooks on wu2026."""

from dataclasses import replace

import numpy as np

from planted import Plant
from privregret import exact
from privregret.bounds import wu2026 as bounds
from privregret.exact import regret
from privregret.full_information import FTNL
from privregret.privacy import noisy_maxima
from privregret.studies import wu2026

RESAMPLING, DETERMINISTIC = "wu2026/3-bernoulli-resampling", "wu2026/4-deterministic-setting"


def select(change, every_epoch=True):
    """Compute selection probabilities of changed arguments: instance, rounds, noise, scale; also of
    epochs whose regret would be negligible without the change."""

    def patch(monkeypatch):
        def changed(real):
            return lambda *arguments: real(*change(*arguments))

        chosen = changed(exact.selection_probabilities)
        monkeypatch.setattr(exact, "selection_probabilities", chosen)
        monkeypatch.setattr(regret, "selection_probabilities", chosen)
        monkeypatch.setattr(regret, "selections", changed(regret.selections))
        if every_epoch:
            unbounded = lambda _, rounds, *more: np.full(np.shape(rounds), np.inf)  # noqa: E731
            monkeypatch.setattr(regret, "largest_gaps", unbounded)

    return patch


def flipped(instance):
    outcomes = tuple(tuple(1 - loss for loss in outcome) for outcome in instance.outcomes)
    return replace(instance, outcomes=outcomes)


def times(factor, *names):
    """Multiply bounds by a factor."""

    def patch(monkeypatch):
        for name in names:
            real = getattr(bounds, name)
            monkeypatch.setattr(bounds, name, lambda *args, real=real: factor * real(*args))

    return patch


def twice_the_noise(monkeypatch):
    real = noisy_maxima.epoch_loss
    monkeypatch.setattr(
        noisy_maxima, "epoch_loss", lambda K, n, noise, scale: real(K, n, noise, 2 * scale)
    )


def noise_scale(change):
    """Change the scale of FTNL's noise by a factor."""

    def patch(monkeypatch, real=FTNL.noise_scale):
        monkeypatch.setattr(
            FTNL, "noise_scale", lambda self, actions: change(self) * real(self, actions)
        )

    return patch


def wrong_constants(monkeypatch):
    lemma_3, remark_4 = wu2026.lemma_3, wu2026.remark_4
    monkeypatch.setattr(wu2026, "lemma_3", lambda *args: 3 * lemma_3(*args))
    monkeypatch.setattr(wu2026, "remark_4", lambda *args: min(remark_4(*args), 2.0))
    monkeypatch.setattr(bounds, "theorem_3", lambda log_k, epsilon, T: 1 / epsilon + 0 * T)


PLANTS = [
    Plant(
        RESAMPLING,
        "every choice is uniform",
        select(lambda instance, rounds, *noise: (instance, 0 * rounds, *noise)),
        ("resampling-helps", "theorem-2", "corollary-1"),
    ),
    Plant(
        RESAMPLING,
        "losses are not resampled and count 64 times where they should be resampled",
        select(
            lambda i, n, *noise: (replace(i, bits=False), 64 * n if i.bits else n, *noise), False
        ),
        ("example",),
    ),
    Plant(RESAMPLING, "twice the noise", twice_the_noise, ("exponential-noise",)),
    Plant(
        DETERMINISTIC,
        "next to no noise",
        noise_scale(lambda learner: 1e-3),
        ("theorem-3", "theorem-3-up-to-five"),
    ),
    Plant(
        DETERMINISTIC,
        "every choice is uniform",
        select(lambda instance, rounds, *noise: (instance, 0 * rounds, *noise)),
        ("best-constant", "theorem-4", "theorem-4-optimal"),
    ),
    Plant(
        DETERMINISTIC,
        "wrong constants, and a lower bound without a logarithm",
        wrong_constants,
        ("theorem-3-limit", "lemma-3", "remark-4"),
    ),
    Plant(
        DETERMINISTIC,
        "votes are the losses themselves",
        lambda patch: patch.setattr(wu2026, "votes", lambda losses: losses),
        ("theorem-3-at-two",),
    ),
]
