"""Bounds of companion/constants: the constant of ln K / epsilon, class by class of losses.

Losses are in [0, 1], learners epsilon-DP for the sequence of actions. Logs are natural; all
arguments may be arrays.
"""

import numpy as np
from scipy.special import expit

from privregret.bounds.rules import GAPS, LOG_ACTIONS, POSITIVES, ROUNDS, Numbers
from privregret.core import checks

GROWTH = checks.array_in(1, 1e6, "(]")
FRACTIONS = checks.array_in(1e-9, 1 - 1e-9)
_rounds = checks.integer_in(1, 10**7)


@checks.arguments(log_actions=LOG_ACTIONS)
def log_others(log_actions: Numbers) -> Numbers:
    """ln(K - 1)."""
    log_actions = np.asarray(log_actions, float)
    return log_actions + np.log1p(-np.exp(-log_actions))


@checks.arguments(log_actions=LOG_ACTIONS, epsilon=POSITIVES, rounds=_rounds)
def fixed_sum(log_actions: Numbers, epsilon: Numbers, rounds: int) -> Numbers:
    """Theorem 1, lower bound on fixed losses: sum of (K-1) / (K-1 + e^(epsilon t)) over t < T."""
    t = np.arange(rounds)
    return expit(np.subtract.outer(log_others(log_actions), np.multiply.outer(epsilon, t))).sum(-1)


@checks.arguments(log_actions=LOG_ACTIONS, epsilon=POSITIVES)
def fixed(log_actions: Numbers, epsilon: Numbers) -> Numbers:
    """Theorem 1, lower bound on fixed losses in the long run: ln K / epsilon."""
    return np.asarray(log_actions, float) / epsilon


@checks.arguments(log_actions=LOG_ACTIONS, epsilon=POSITIVES)
def votes(log_actions: Numbers, epsilon: Numbers) -> Numbers:
    """Theorem 2, regret of votes on fixed losses: (ln K + 3 ln(1 + ln K) + 9) / epsilon + 6.

    Examples
    --------
    >>> round(float(votes(np.log(1000), epsilon=0.5)), 1)
    50.2
    """
    log_actions = np.asarray(log_actions, float)
    return (log_actions + 3 * np.log1p(log_actions) + 9) / epsilon + 6


@checks.arguments(log_actions=LOG_ACTIONS, epsilon=POSITIVES)
def hybrid_fixed(log_actions: Numbers, epsilon: Numbers) -> Numbers:
    """Theorem 3, votes or leader, fixed losses: (ln K + 3 ln(1 + ln K) + 25) / epsilon + 5."""
    log_actions = np.asarray(log_actions, float)
    return (log_actions + 3 * np.log1p(log_actions) + 25) / epsilon + 5


@checks.arguments(log_actions=LOG_ACTIONS, gap=GAPS, epsilon=POSITIVES)
def hybrid(log_actions: Numbers, gap: Numbers, epsilon: Numbers) -> Numbers:
    """Theorem 3, votes or leader, all stochastic losses: 90 (1 + ln K) / epsilon + 5, and
    32 (1 + ln K) / gap more if the smallest gap is at most epsilon / 2.
    """
    gap, lam = np.asarray(gap, float), 1 + np.asarray(log_actions, float)
    return 90 * lam / epsilon + 5 + np.where(gap <= np.asarray(epsilon) / 2, 32 * lam / gap, 0.0)


@checks.arguments(log_actions=LOG_ACTIONS, gap=GAPS, epsilon=POSITIVES)
def equal_gaps(log_actions: Numbers, gap: Numbers, epsilon: Numbers) -> Numbers:
    """Theorem 5, lower bound, all gaps equal: (1 + sqrt(1 - gap)) ((ln K - ln ln K - 2) / epsilon -
    3).
    """
    log_actions = np.asarray(log_actions, float)
    most = (log_actions - np.log(log_actions) - 2) / epsilon - 3
    return (1 + np.sqrt(1 - np.asarray(gap, float))) * most


@checks.arguments(growth=GROWTH)
def phase_mean(growth: Numbers) -> Numbers:
    """Theorem 4, constant of FTNL with a random phase: 2 r / ln r, least at r = e."""
    growth = np.asarray(growth, float)
    return 2 * growth / np.log(growth)


@checks.arguments(growth=GROWTH)
def phase_worst(growth: Numbers) -> Numbers:
    """Constant of FTNL without a random phase: 2 r^2 / (r - 1), least at r = 2."""
    growth = np.asarray(growth, float)
    return 2 * growth**2 / (growth - 1)


@checks.arguments(log_actions=LOG_ACTIONS, epsilon=POSITIVES, growth=GROWTH)
def random_phase_fixed(log_actions: Numbers, epsilon: Numbers, growth: Numbers) -> Numbers:
    """Theorem 4, Gumbel noise, random phase, fixed losses: 1 + (r - 1 + r B + ln(1 + B)) / ln r,
    B = 2 ln K / epsilon.
    """
    growth, budget = np.asarray(growth, float), 2 * np.asarray(log_actions, float) / epsilon
    return 1 + (growth - 1 + growth * budget + np.log1p(budget)) / np.log(growth)


@checks.arguments(log_actions=LOG_ACTIONS, gap=GAPS, epsilon=POSITIVES, growth=GROWTH)
def random_phase(log_actions: Numbers, gap: Numbers, epsilon: Numbers, growth: Numbers) -> Numbers:
    """Theorem 4, Gumbel noise, random phase, all stochastic losses: as `random_phase_fixed`, with
    B = 4 ln K / epsilon, and 8 (1 + ln K) / gap more if gap <= epsilon; if the gap is above
    epsilon / 2 also B = 2 ln K / (epsilon (1 - epsilon / (2 gap))); the smaller.
    """
    growth, log_actions = np.asarray(growth, float), np.asarray(log_actions, float)
    gap, epsilon = np.asarray(gap, float), np.asarray(epsilon, float)
    statistical = np.where(gap <= epsilon, 8 * (1 + log_actions) / gap, 0.0)
    share = np.maximum(1 - epsilon / (2 * gap), 1e-300)
    budget = np.minimum(4 * log_actions / epsilon + statistical, 2 * log_actions / epsilon / share)
    return 1 + (growth - 1 + growth * budget + np.log1p(budget)) / np.log(growth)


@checks.arguments(
    log_actions=LOG_ACTIONS, gap=GAPS, epsilon=POSITIVES, fraction=FRACTIONS, threshold=POSITIVES
)
def margin_stop(
    log_actions: Numbers, gap: Numbers, epsilon: Numbers, fraction: Numbers, threshold: Numbers = 13
) -> Numbers:
    """Theorem 6, margin stop, all stochastic losses.

    1 + 2 (1 + d) [(1 + c d) b ln K + s + (1 + ln K) / gap] for exploration, 2 b ln K +
    2 (1 + ln K) / gap for the first choice, 16 ln K / epsilon and, if gap <= epsilon,
    32 (1 + ln K) / gap for the rest; d the fraction, c the threshold, b = 2 / ((1 - d) epsilon),
    s = 6 / (d epsilon).
    """
    log_actions, gap = np.asarray(log_actions, float), np.asarray(gap, float)
    d, epsilon = np.asarray(fraction, float), np.asarray(epsilon, float)
    b, s, sampling = 2 / ((1 - d) * epsilon), 6 / (d * epsilon), (1 + log_actions) / gap
    explore = 1 + 2 * (1 + d) * ((1 + threshold * d) * b * log_actions + s + sampling)
    rest = 16 * log_actions / epsilon + np.where(gap <= epsilon, 32 * sampling, 0.0)
    return explore + 2 * b * log_actions + 2 * sampling + rest


@checks.arguments(epsilon=POSITIVES, rounds=ROUNDS)
def small_epsilon(epsilon: Numbers, rounds: Numbers) -> tuple[Numbers, Numbers]:
    """Theorem 8, K = 2: (lower, upper) for the minimax regret over T rounds; the upper one is T / 2
    unless epsilon ceil(T / 2) <= 2.
    """
    epsilon, rounds = np.asarray(epsilon, float), np.asarray(rounds, float)
    pairs, half = np.floor(rounds**2 / 4), np.floor(rounds / 2)
    growth = np.expm1(epsilon) * np.exp(epsilon * np.maximum(rounds - 2, 0))
    lower = rounds / 2 - pairs * growth / 4
    upper = rounds / 2 - epsilon * pairs / 4 + (epsilon * half) ** 2 * (rounds - half) / 16
    return lower, np.where(epsilon * (rounds - half) <= 2, upper, rounds / 2)
