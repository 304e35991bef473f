"""Bounds of companion/constants: the constant of ln K / epsilon, class by class of losses.

Losses are in [0, 1], learners epsilon-DP for the sequence of actions. Logs are natural; all
arguments may be arrays.
"""

import numpy as np

Numbers = float | np.ndarray


def votes(log_actions: Numbers, epsilon: Numbers) -> Numbers:
    """Theorem 2, regret of votes on fixed losses: (ln K + 3 ln(1 + ln K) + 9) / epsilon + 6."""
    return (log_actions + 3 * np.log1p(log_actions) + 9) / epsilon + 6


def votes_or_leader(log_actions: Numbers, epsilon: Numbers) -> Numbers:
    """Theorem 3, fixed losses, epsilon <= 1: (ln K + 3 ln(1 + ln K) + 25) / epsilon + 5."""
    return (log_actions + 3 * np.log1p(log_actions) + 25) / epsilon + 5


def random_phase_fixed(log_actions: Numbers, epsilon: Numbers, growth: Numbers) -> Numbers:
    """Theorem 4, Gumbel noise, random phase, fixed losses: 1 + (r - 1 + r B + ln(1 + B)) / ln r,
    B = 2 ln K / epsilon.
    """
    return _with_budget(2 * log_actions / epsilon, growth)


def random_phase(log_actions: Numbers, gap: Numbers, epsilon: Numbers, growth: Numbers) -> Numbers:
    """Theorem 4, Gumbel noise, random phase, all stochastic losses: as `random_phase_fixed`, with
    B = 4 ln K / epsilon, and 8 (1 + ln K) / gap more if gap <= epsilon; if the gap is above
    epsilon / 2 also B = 2 ln K / (epsilon (1 - epsilon / (2 gap))); the smaller.
    """
    statistical = np.where(gap <= epsilon, 8 * (1 + log_actions) / gap, 0.0)
    share = np.maximum(1 - epsilon / (2 * gap), 1e-300)
    large_gaps = 2 * log_actions / epsilon / share
    return _with_budget(np.minimum(4 * log_actions / epsilon + statistical, large_gaps), growth)


def _with_budget(budget, growth):
    return 1 + (growth - 1 + growth * budget + np.log1p(budget)) / np.log(growth)


def equal_gaps(log_actions: Numbers, gap: Numbers, epsilon: Numbers) -> Numbers:
    """Theorem 5, lower bound, all gaps equal: (1 + sqrt(1 - gap)) ((ln K - ln ln K - 2) / epsilon -
    3).
    """
    return (1 + np.sqrt(1 - gap)) * ((log_actions - np.log(log_actions) - 2) / epsilon - 3)


def margin_stop(
    log_actions: Numbers, gap: Numbers, epsilon: Numbers, fraction: Numbers, threshold: Numbers = 13
) -> Numbers:
    """Theorem 6, margin stop, all stochastic losses.

    1 + 2 (1 + d) [(1 + c d) b ln K + s + (1 + ln K) / gap] for exploration, 2 b ln K +
    2 (1 + ln K) / gap for the first choice, 16 ln K / epsilon and, if gap <= epsilon,
    32 (1 + ln K) / gap for the rest; d the fraction, at most 1/4, c the threshold,
    b = 2 / ((1 - d) epsilon), s = 6 / (d epsilon).
    """
    d, sampling = fraction, (1 + log_actions) / gap
    b, s = 2 / ((1 - d) * epsilon), 6 / (d * epsilon)
    explore = 1 + 2 * (1 + d) * ((1 + threshold * d) * b * log_actions + s + sampling)
    rest = 16 * log_actions / epsilon + np.where(gap <= epsilon, 32 * sampling, 0.0)
    return explore + 2 * b * log_actions + 2 * sampling + rest
