"""Faults for the notebooks on full information in hu2021: Section 5 and the doubling instance."""

import numpy as np

from planted import Plant
from privregret.bounds import hu2021 as bounds
from privregret.exact import regret
from privregret.full_information import FTNL
from privregret.privacy import noisy_maxima

FULL, DOUBLING = "hu2021/5-full-information", "hu2021/7-doubling-instance"


def exact_regret(monkeypatch, factor):
    """Multiply exact regret by what `factor` says of the instance."""
    function = regret.expected_regret

    def patched(algorithm, instance, horizons):
        return regret.Regret(
            *(factor(instance) * part for part in function(algorithm, instance, horizons))
        )

    monkeypatch.setattr(regret, "expected_regret", patched)


def half_the_loss(monkeypatch):
    def patched(*args, function=noisy_maxima.epoch_loss):
        found = function(*args)
        return found._replace(value=found.value / 2)

    monkeypatch.setattr(noisy_maxima, "epoch_loss", patched)


def uniform(monkeypatch):
    function = regret.expected_regret

    def patched(algorithm, instance, horizons):
        if not isinstance(algorithm, FTNL):
            return function(algorithm, instance, horizons)
        mean_gap = np.exp(np.array(instance.log_counts) - instance.log_actions) @ instance.gaps
        return regret.Regret(mean_gap * np.atleast_1d(horizons), np.zeros(np.size(horizons)))

    monkeypatch.setattr(regret, "expected_regret", patched)


def all_experts_in_every_bracket(monkeypatch):
    def patched(gaps, log_counts, epsilon):
        gap, sizes = bounds.brackets(gaps, log_counts)
        log_k = np.logaddexp.reduce(sizes)
        return float(np.sum(256 * log_k / np.minimum(gap, epsilon)))

    monkeypatch.setattr(bounds, "theorem_7", patched)


PLANTS = [
    Plant(
        FULL,
        "noise drowns the sums: FTNL plays uniformly",
        uniform,
        (
            "theorem-7",
            "corollary-8",
            "corollary-9",
            "corollary-9-without-log",
            "naive-version",
        ),
    ),
    Plant(
        FULL,
        "privacy losses are halved",
        half_the_loss,
        ("theorem-6", "fresh-observations"),
    ),
    Plant(
        DOUBLING,
        "FTNL pays for each bracket",
        lambda monkeypatch: exact_regret(monkeypatch, lambda instance: len(instance.gaps) - 1),
        ("doubling-not-harder", "conjectured-rate"),
    ),
    Plant(
        DOUBLING,
        "the proof counts all experts in every bracket",
        all_experts_in_every_bracket,
        ("bound-of-the-proof",),
    ),
]
