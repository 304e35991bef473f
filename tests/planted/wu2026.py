"""Faults for the notebooks on wu2026."""

from dataclasses import replace

import numpy as np

from planted import all_of, other_noise, replaced, scaled, wrapped
from privregret import exact
from privregret.bounds import wu2026 as bounds
from privregret.exact import regret
from privregret.full_information import FTNL
from privregret.privacy import noisy_maxima
from privregret.studies import wu2026


def select(change):
    """Compute selection probabilities of changed arguments: instance, rounds, noise, scale."""

    def call(right, *given):
        return right(*change(*given))

    def patch(monkeypatch):
        # one function by two names
        wrapped(exact, "selection_probabilities", call)(monkeypatch)
        chosen = exact.selection_probabilities
        monkeypatch.setattr(regret, "selection_probabilities", chosen)
        wrapped(regret, "selections", call)(monkeypatch)

    return patch


def unbounded(_, rounds, *more):
    """Also epochs whose regret would be negligible without the fault are computed."""
    return np.full(np.shape(rounds), np.inf)


def plain_but_long(instance, rounds, *noise):
    long = 64 * rounds if instance.bits else rounds
    return replace(instance, bits=False), long, *noise


# every choice
UNIFORM = all_of(
    select(lambda instance, rounds, *noise: (instance, 0 * rounds, *noise)),
    replaced(regret, "largest_gaps", unbounded),
)
PLANTS = {
    "wu2026/3-bernoulli-resampling": {
        "resampling-helps theorem-2 corollary-1": UNIFORM,
        # losses are not resampled and count 64 times where they should be resampled
        "example": select(plain_but_long),
        "exponential-noise": wrapped(
            noisy_maxima, "epoch_loss", lambda right, *a: right(*a[:3], 2 * a[3])
        ),
    },
    "wu2026/4-deterministic-setting": {
        "theorem-3 theorem-3-up-to-five": other_noise(FTNL, 1e-3),
        "best-constant theorem-4 theorem-4-optimal": UNIFORM,
        "theorem-3-limit lemma-3 remark-4": all_of(
            scaled(wu2026, 3, "lemma_3"),
            wrapped(wu2026, "remark_4", lambda right, *a: min(right(*a), 2.0)),
            # without a logarithm
            replaced(bounds, "theorem_3", lambda log_k, epsilon, T: 1 / epsilon + 0 * T),
        ),
        "theorem-3-at-two": replaced(wu2026, "votes", lambda losses: losses),
    },
}
