"""Faults for the errata: printed statements that hold, and repairs that fail."""

import numpy as np

from planted import Plant
from privregret import exact
from privregret.bounds import asi2025
from privregret.privacy import ledger, pull_times

ERRATA = "companion/errata"


def privacy_that_holds(monkeypatch):
    """Selections at half the noise's effect, an attack that learns little, and a repaired tree that
    costs double."""

    def patched(sums, log_counts, noise, scale, function=exact.selection_from_sums):
        return function(np.asarray(sums) / 2, log_counts, noise, scale)

    monkeypatch.setattr(exact, "selection_from_sums", patched)
    monkeypatch.setattr(pull_times, "hybrid_loss", lambda epsilon: epsilon / 2)
    monkeypatch.setattr(
        ledger, "cost", lambda releases, pulls, function=ledger.cost: 2 * function(releases, pulls)
    )


def constants_that_hold(monkeypatch):
    """Lemma 25 with room for its terms; nothing in the proof's composition; the repaired constant
    above the printed."""
    monkeypatch.setattr(
        asi2025, "lemma_25", lambda *args, function=asi2025.lemma_25: 4 * function(*args)
    )
    monkeypatch.setattr(asi2025, "lemma_15", lambda losses, delta: 0.5)
    monkeypatch.setattr(asi2025, "corollary_22_constant", lambda log: 40.0)


PLANTS = [
    Plant(
        ERRATA,
        "noise hides twice as much, the attack on the tree learns little, "
        "and its repair costs double",
        privacy_that_holds,
        (
            ("hu2021, Theorem 6", "The printed statement"),
            ("wu2026, Theorems 2 and 4", "The printed statement"),
            ("hu2021, Theorem 5", "The printed statement"),
            ("hu2021, Theorem 5", "With the repair"),
            ("Errata", "Every recorded error"),
        ),
    ),
    Plant(
        ERRATA,
        "the printed constants of Lemma 25 and of the composition hold, "
        "and a repaired constant does not",
        constants_that_hold,
        (
            ("asi2025, Lemma 25", "The printed statement"),
            ("asi2025, Theorem 10, privacy", "The printed statement"),
            ("asi2025, Corollary 22, proof", "With the repair"),
            ("Errata", "Every recorded error"),
        ),
    ),
]
