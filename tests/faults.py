"""Slow versions of bandit algorithms with a fault in their noise: audits and tests must see it."""

from types import SimpleNamespace

from cases import hybrid_ucb, lazy_ucb


def lazy_without_epsilon(epsilon):
    """Anytime-Lazy-UCB with noise of scale 1."""
    return SimpleNamespace(play=lazy_ucb(epsilon, laplace=lambda scale, rng: rng.laplace()))


def hybrid_without_noise(epsilon):
    return SimpleNamespace(play=hybrid_ucb(epsilon, laplace=lambda scale, rng: 0.0))
