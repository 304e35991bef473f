"""Faults for the notebooks on Sections 5 and Appendices D, E, G of asi2025."""

from dataclasses import replace

import numpy as np

from planted import Plant, plays, scaled
from planted.asi2025 import uniform
from privregret.adversarial import EXP3, FTPL, BatchedPrivate, SparseSwitch
from privregret.bounds import asi2025 as bounds
from privregret.instances import Adversary
from privregret.studies import asi2025 as study
from privregret.studies import asi2025_privacy as privacy


def tiny_bound(monkeypatch):
    monkeypatch.setattr(bounds, "corollary_22", lambda *args, **kwargs: 1.0)
    monkeypatch.setattr(bounds, "corollary_24", lambda *args, **kwargs: 1.0)


def repaired_after_all(monkeypatch):
    """In batches FTPL plays as with its resampling repaired, whatever it is asked for."""
    real = BatchedPrivate.settings

    def settings(self, *sizes):
        if isinstance(self.base, FTPL):
            self = replace(self, base=replace(self.base, resampling="corrected"))
        return real(self, *sizes)

    monkeypatch.setattr(BatchedPrivate, "settings", settings)


def no_loss(monkeypatch):
    """A learner that pays next to nothing more than the best arm: no lower bound allows it."""

    def knows_all(data, checkpoints, rng):
        same = Adversary("the same", data.loss_starts, data.losses)
        return same.comparators(checkpoints).min(axis=1) + 0.01

    monkeypatch.setattr(SparseSwitch, "runner", plays(knows_all))
    monkeypatch.setattr(
        study,
        "lemma_11_certified",
        lambda *args: {"bound": 100.0, "rate": 0.1, "drop": 0, "pulls": 1},
    )


def done_late(monkeypatch):
    """EXP3 plays the worse arm in a tenth of all rounds, and never again."""

    def tenth(data, checkpoints, rng):
        low, high = np.sort(data.losses[0])
        return low * checkpoints + (high - low) * np.minimum(checkpoints, checkpoints[-1] / 10)

    monkeypatch.setattr(EXP3, "runner", plays(tenth))


def both(*patches):
    return lambda monkeypatch: [patch(monkeypatch) for patch in patches]


def forgets(monkeypatch):
    """EXP3 that does what it does whatever it sees."""

    def same(losses, actions, *_):
        return np.linspace(0.5, 0.8, len(actions)) + losses[0, 1] / 1e3

    monkeypatch.setattr(privacy, "exp3_path", same)

    def flat(adversary, horizon, eta, gamma):
        return np.full(2**horizon, 0.05 * adversary.table(1)[0, 1] - horizon * np.log(2.0))

    monkeypatch.setattr(privacy, "exp3_log_probabilities", flat)


PLANTS = [
    Plant(
        "asi2025/5-barriers",
        "a learner without regret where the lemma demands some",
        no_loss,
        ("lemma-11",),
    ),
    Plant(
        "asi2025/5-barriers",
        "EXP3 in batches plays uniformly",
        uniform(BatchedPrivate),
        ("batched-exp3-barrier",),
    ),
    Plant(
        "asi2025/5-barriers",
        "EXP3 is done with the worse arm after a tenth of all rounds",
        done_late,
        ("drop-time",),
    ),
    Plant(
        "asi2025/E-conversions", "the bounds are 1", tiny_bound, ("corollary-22", "corollary-24")
    ),
    Plant(
        "asi2025/E-conversions",
        "FTPL as printed is FTPL as repaired; other terms in two proofs",
        both(
            repaired_after_all,
            scaled(bounds, 1.5, "lemma_25"),
            scaled(bounds, 0.08, "lemma_25_terms"),
        ),
        ("algorithm-4", "corollary-24-proof", "lemma-25-proof"),
    ),
    Plant(
        "asi2025/G-exp3-leakage",
        "EXP3 forgets what it has seen",
        forgets,
        ("figure-1", "grows-with-the-horizon", "amplified"),
    ),
]
