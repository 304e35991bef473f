"""Faults for the notebooks on Sections 5 and Appendices D, E, G of asi2025."""

import numpy as np

from privregret.adversarial import SparseSwitch
from privregret.bounds import asi2025 as bounds
from privregret.privacy import adversarial as privacy

from planted import Plant


def tiny_bound(monkeypatch):
    monkeypatch.setattr(bounds, "corollary_22", lambda *args, **kwargs: 1.0)
    monkeypatch.setattr(bounds, "corollary_24", lambda *args, **kwargs: 1.0)
    monkeypatch.setattr(bounds, "theorem_21", lambda *args, **kwargs: 1.0)


def no_loss(monkeypatch):
    """A learner that pays nothing: no lower bound allows it."""
    monkeypatch.setattr(SparseSwitch, "_run", lambda self, data, rounds, rng: np.zeros(len(rounds)))
    monkeypatch.setattr(bounds, "lemma_11_certified", lambda *args: {"bound": 100.0, "rate": 0.1, "drop": 0, "pulls": 1})


def forgets(monkeypatch):
    """EXP3 that does what it does whatever it sees."""
    same = lambda adversary, actions, eta, gamma: np.linspace(0.5, 0.8, len(actions))  # noqa: E731
    monkeypatch.setattr(privacy, "exp3_path", same)
    flat = lambda adversary, horizon, eta, gamma: np.full(2**horizon, -horizon * np.log(2.0))  # noqa: E731
    monkeypatch.setattr(privacy, "exp3_log_probabilities", flat)


PLANTS = [
    Plant(
        "asi2025/5-barriers",
        "a learner without regret where the lemma demands some",
        no_loss,
        (("Lemma 11", "The bound holds"), ("Section 5.2", "No choice of")),
    ),
    Plant(
        "asi2025/E-conversions",
        "the bounds are 1",
        tiny_bound,
        (("Corollary 22", "Regret is at most"), ("Corollary 24", "Regret is at most"), ("Theorem 21", "HTINF")),
    ),
    Plant(
        "asi2025/G-exp3-leakage",
        "EXP3 forgets what it has seen",
        forgets,
        (("Figure 1", r"On $\ell$"), ("Figure 1", r"On $\ell'$"), ("Section 5.1", "amplified")),
    ),
]
