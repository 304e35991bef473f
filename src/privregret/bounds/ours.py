"""Our bounds for Follow-the-Noisy-Leader on whole epochs (notebook companion/whole-epochs), all
constants explicit.

The noise has scale 2 / epsilon: Laplace, exponential or Gumbel. Losses are in [0, 1], independent
and identically distributed over rounds, with any joint distribution over actions. Logs are
natural.
"""

import numpy as np
from scipy.special import digamma

from privregret.bounds.rules import GAPS, LOG_ACTIONS, NOISE, POSITIVES, ROUNDS, SHARES, Numbers
from privregret.core import checks


@checks.arguments(log_actions=LOG_ACTIONS, noise=NOISE)
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


@checks.arguments(gap=SHARES, eta=checks.array_in(0, 18))  # beyond, tanh is 1
def kept(gap: Numbers, eta: Numbers) -> Numbers:
    """Return the c of Lemma 3, for which E[Q_j(D_n) D_nj] >= c n E[Q_j(D_n)].

    It is tanh(artanh(gap) - eta), which is at least gap - eta for gaps from eta on.
    """
    gap = np.asarray(gap, float)
    return (gap - np.tanh(eta)) / (1 - gap * np.tanh(eta))


@checks.arguments(rounds=ROUNDS, gap=SHARES, epsilon=POSITIVES)
def small_gap(rounds: Numbers, gap: Numbers, epsilon: Numbers) -> Numbers:
    """P[an action of that gap leads after n rounds] <= exp(-n gap min(gap, epsilon / 4) / 2)."""
    gap = np.asarray(gap, float)
    return np.exp(-0.5 * np.asarray(rounds, float) * gap * np.minimum(gap, epsilon / 4))


@checks.arguments(log_actions=LOG_ACTIONS, gap=GAPS, epsilon=POSITIVES)
def small_gaps(log_actions: Numbers, gap: Numbers, epsilon: Numbers) -> Numbers:
    """Regret due to gaps in [gap, epsilon]: 4 (1 + ln(K - 1)) times the integral of the layers,
    before it is rounded up to 8 / gap; 0 if there are none.
    """
    gap, log_others = (
        np.asarray(gap, float),
        log_actions + np.log1p(-np.exp(-np.asarray(log_actions, float))),
    )
    layers = np.where(
        gap <= epsilon / 4,
        4 / gap + 8 / epsilon * (np.log(4) - 1),
        8 / epsilon * (1 + np.log(epsilon / gap)),
    )
    return np.where(gap <= epsilon, 4 * (1 + log_others) * layers, 0.0)


@checks.arguments(log_actions=LOG_ACTIONS, gap=GAPS, epsilon=POSITIVES, noise=NOISE)
def theorem(log_actions: Numbers, gap: Numbers, epsilon: Numbers, noise: str) -> Numbers:
    """Regret <= 1 + 32 (1 + ln K) / gap + (16 / epsilon) (E max xi - E xi), the middle term only if
    the smallest gap is at most epsilon.
    """
    statistical = np.where(
        np.asarray(gap) <= epsilon, 32 * (1 + np.asarray(log_actions)) / gap, 0.0
    )
    return 1 + statistical + 16 / epsilon * maximum(log_actions, noise)


@checks.arguments(log_actions=LOG_ACTIONS, gap=GAPS, epsilon=POSITIVES, noise=NOISE)
def large_gaps(log_actions: Numbers, gap: Numbers, epsilon: Numbers, noise: str) -> Numbers:
    """If the smallest gap is above epsilon / 2: 1 + (8 / epsilon) (E max xi - E xi) / (1 - epsilon
    / (2 gap)).
    """
    share = 1 - epsilon / (2 * np.asarray(gap, float))
    return 1 + np.where(
        share > 0, 8 / epsilon * maximum(log_actions, noise) / np.where(share > 0, share, 1), np.inf
    )


@checks.arguments(log_actions=LOG_ACTIONS, epsilon=POSITIVES, noise=NOISE, mean_gap=SHARES)
def deterministic(
    log_actions: Numbers, epsilon: Numbers, noise: str, mean_gap: Numbers = 1.0
) -> Numbers:
    """For losses that are the same in every round: mean gap + (8 / epsilon) (E max xi - E xi)."""
    return mean_gap + 8 / epsilon * maximum(log_actions, noise)


@checks.arguments(log_actions=LOG_ACTIONS, rounds=ROUNDS, epsilon=POSITIVES, noise=NOISE)
def minimax(log_actions: Numbers, rounds: Numbers, epsilon: Numbers, noise: str) -> Numbers:
    """Whatever the gaps: 1 + 8 sqrt(2 T (1 + ln K)) + (16 / epsilon) (E max xi - E xi)."""
    log_actions = np.asarray(log_actions, float)
    sampling = 8 * np.sqrt(2 * np.asarray(rounds, float) * (1 + log_actions))
    return 1 + sampling + 16 / epsilon * maximum(log_actions, noise)
