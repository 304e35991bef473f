"""Bounds of companion/whole-epochs for Follow-the-Noisy-Leader, all constants explicit.

The noise has scale 2 / epsilon: Laplace, exponential or Gumbel. Losses are in [0, 1], independent
and identically distributed over rounds, with any joint distribution over actions. Logs are
natural; all arguments but `noise` may be arrays.
"""

import numpy as np
from scipy.special import digamma

Numbers = float | np.ndarray


def maximum(log_actions: Numbers, noise: str) -> Numbers:
    """E max_j xi_j - E xi_1 for K independent draws of scale 1: ln K for Gumbel noise, H_K - 1 for
    exponential noise, at most H_K - ln 2 for Laplace noise (less than 1/4 above it for K = 2, by
    nothing for large K).
    """
    log_actions = np.asarray(log_actions, float)
    if noise == "gumbel":
        return log_actions
    few = digamma(np.exp(np.minimum(log_actions, 30.0)) + 1)
    harmonic = np.where(log_actions < 30, few, log_actions) + np.euler_gamma
    return harmonic - {"exponential": 1.0, "laplace": np.log(2)}[noise]


def lemma_3(gap: Numbers, eta: Numbers) -> Numbers:
    """The c for which E[Q_j(D_n) D_nj] >= c n E[Q_j(D_n)]: tanh(artanh(gap) - eta), which is at
    least gap - eta for gaps from eta on.
    """
    return (gap - np.tanh(eta)) / (1 - gap * np.tanh(eta))


def theorem(log_actions: Numbers, gap: Numbers, epsilon: Numbers, noise: str) -> Numbers:
    """Regret <= 1 + 32 (1 + ln K) / gap + (16 / epsilon) (E max xi - E xi), the middle term only if
    the smallest gap is at most epsilon.
    """
    statistical = np.where(gap <= epsilon, 32 * (1 + log_actions) / gap, 0.0)
    return 1 + statistical + 16 / epsilon * maximum(log_actions, noise)


def large_gaps(log_actions: Numbers, gap: Numbers, epsilon: Numbers, noise: str) -> Numbers:
    """(a) If the smallest gap is above epsilon / 2: 1 + (8 / epsilon) (E max xi - E xi) /
    (1 - epsilon / (2 gap)).
    """
    share = np.maximum(1 - epsilon / (2 * gap), 0.0)
    with np.errstate(divide="ignore"):
        return 1 + 8 / epsilon * maximum(log_actions, noise) / share


def deterministic(log_actions: Numbers, epsilon: Numbers, noise: str) -> Numbers:
    """(b) For losses that are the same in every round: 1 + (8 / epsilon) (E max xi - E xi)."""
    return 1 + 8 / epsilon * maximum(log_actions, noise)


def minimax(log_actions: Numbers, rounds: Numbers, epsilon: Numbers, noise: str) -> Numbers:
    """(c) Whatever the gaps: 1 + 8 sqrt(2 T (1 + ln K)) + (16 / epsilon) (E max xi - E xi)."""
    sampling = 8 * np.sqrt(2 * rounds * (1 + log_actions))
    return 1 + sampling + 16 / epsilon * maximum(log_actions, noise)
