"""Slow versions of bandit algorithms with a fault in their noise: audits and tests must see it."""

from types import SimpleNamespace

from cases import batched, dp_se, no_noise


def elimination_without_noise(epsilon, beta):
    """DP-SE; so does one draw for all arms, which cancels in every comparison."""
    return SimpleNamespace(play=dp_se(epsilon, beta, laplace=no_noise))


def batched_tenth(kind, epsilon):
    """azize2025, Algorithm 1, with a tenth of the noise."""
    return SimpleNamespace(play=batched(kind.rule, epsilon, laplace=a_tenth))


def a_tenth(scale, rng):
    return rng.laplace(0.0, 0.1 * scale)
