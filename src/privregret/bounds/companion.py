"""Bounds of companion/constants and companion/whole-epochs, with explicit constants.

Losses are in [0, 1], learners epsilon-DP for the sequence of actions. Logarithms are natural; all
arguments but `noise` may be arrays.
"""

from functools import cache

import numpy as np
from scipy.special import digamma, gammaln

from privregret.bounds import Numbers

# companion/constants: the constant of ln K / epsilon, class by class of losses


def votes(log_actions: Numbers, epsilon: Numbers) -> Numbers:
    """Bound the regret of votes on fixed losses (Theorem 2).

    (ln K + 3 ln(1 + ln K) + 9) / epsilon + 6.
    """
    return (log_actions + 3 * np.log1p(log_actions) + 9) / epsilon + 6


def votes_or_leader(log_actions: Numbers, epsilon: Numbers) -> Numbers:
    """Bound the regret of votes or leader on fixed losses, epsilon <= 1 (Theorem 3).

    (ln K + 3 ln(1 + ln K) + 25) / epsilon + 5.
    """
    return (log_actions + 3 * np.log1p(log_actions) + 25) / epsilon + 5


def random_phase_fixed(log_actions: Numbers, epsilon: Numbers, growth: Numbers) -> Numbers:
    """Bound the regret of FTNL, Gumbel noise, random phase, on fixed losses (Theorem 4).

    1 + (r - 1 + r B + ln(1 + B)) / ln r with the growth r and B = 2 ln K / epsilon.
    """
    return _with_budget(2 * log_actions / epsilon, growth)


def random_phase(log_actions: Numbers, gap: Numbers, epsilon: Numbers, growth: Numbers) -> Numbers:
    """Bound the regret of FTNL with a random phase on all stochastic losses (Theorem 4).

    As `random_phase_fixed`, with B = 4 ln K / epsilon, and 8 (1 + ln K) / gap more if gap <=
    epsilon; if the gap is above epsilon / 2 also B = 2 ln K / (epsilon (1 - epsilon / (2 gap))).
    The smaller of the two counts.
    """
    statistical = np.where(gap <= epsilon, 8 * (1 + log_actions) / gap, 0.0)
    share = np.maximum(1 - epsilon / (2 * gap), 1e-300)
    large_gaps = 2 * log_actions / epsilon / share
    return _with_budget(np.minimum(4 * log_actions / epsilon + statistical, large_gaps), growth)


def _with_budget(budget, growth):
    return 1 + (growth - 1 + growth * budget + np.log1p(budget)) / np.log(growth)


def one_hidden(log_actions: Numbers, epsilon: Numbers) -> Numbers:
    """Bound the regret of every learner from below, equal gaps, independent losses (Theorem 9).

    (ln K - ln ln K - 2) / epsilon - 3.
    """
    return (log_actions - np.log(log_actions) - 2) / epsilon - 3


def equal_gaps(log_actions: Numbers, gap: Numbers, epsilon: Numbers) -> Numbers:
    """Bound the regret of every learner from below, all gaps equal (Theorem 5).

    (1 + sqrt(1 - gap)) times `one_hidden`.
    """
    return (1 + np.sqrt(1 - gap)) * one_hidden(log_actions, epsilon)


def margin_stop(
    log_actions: Numbers, gap: Numbers, epsilon: Numbers, fraction: Numbers, threshold: Numbers = 13
) -> Numbers:
    """Bound the regret of the margin stop on all stochastic losses (Theorem 6).

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


def tried_actions(
    log_levels: Numbers, step: Numbers, raised: Numbers, log_least: Numbers
) -> Numbers:
    """Bound the constant of independent losses with m gap values from below (Theorem 9).

    e (ln(m / (x r (r + d))) - ln m / (d x (1 - 1 / r))) / ((ln m + 0.5773) (r + d)), r = 1 + step:
    levels that fall by the factor r, down to x, are raised by the fraction d at most. Every choice
    of r, d and x gives a bound, for ln m >= 10.
    """
    ratio = 1 + step
    fall = log_levels - np.log(ratio * (ratio + raised)) - log_least
    rounding = log_levels / (raised * np.exp(log_least) * (1 - 1 / ratio))
    return np.e * (fall - rounding) / ((log_levels + 0.5773) * (ratio + raised))


def nearly_good(log_actions: float, failure: float, share: float) -> tuple[int, float]:
    """Count the coins that can be nearly good at once, and bound their weight (Theorem 10).

    The least m with b_m <= 0, and the sum of e^(b_i) / K over 2 <= i < m, for b_i = s - (2 s -
    ln(share K)) (1 - chi_i), s = ln(K / failure), and the mean chi_i of |z_1 + ... + z_i| / i over
    random signs.
    """
    s = log_actions - np.log(failure)
    twice = 2 * s - np.log(share) - log_actions
    chi = _mean_of_signs()
    count = int(np.searchsorted(-chi, s / twice - 1)) + 1
    most = s - twice * (1 - chi[1 : count - 1])
    return count, float(np.exp(most - log_actions).sum())


@cache
def _mean_of_signs():
    """E|z_1 + ... + z_m| / m for m = 1, 2, ..., which does not increase."""
    half = np.arange(1, 2**18) // 2
    return np.exp(gammaln(2 * half + 1) - 2 * gammaln(half + 1) - 2 * half * np.log(2))


def fair_coins(log_actions: float, failure: float, share: float) -> float:
    """Bound epsilon R / ln K for fair coins with a known gap as epsilon -> 0 (Theorem 10).

    (1 + share + crowd) t (1 + 4 failure / (1 + failure) + 8 sum_i 2^i K e^(-2^(i + 1) t')) / ln K
    with t = ln K + 2 ln(1 / failure) + ln(1 / share), t' = (1 + share + crowd) t and the crowd of
    `nearly_good`: exploration, the choice for four times as long, and leaders on doubling epochs.
    """
    crowd = nearly_good(log_actions, failure, share)[1]
    explored = (1 + share + crowd) * (log_actions - 2 * np.log(failure) - np.log(share))
    later = 2.0 ** np.arange(20)
    wrong = np.exp(np.minimum(log_actions - 2 * later * explored, 0.0))
    factor = 1 + 4 * failure / (1 + failure) + 8 * float(later @ wrong)
    return explored * factor / log_actions


# companion/whole-epochs: Follow-the-Noisy-Leader with noise xi of scale 2 / epsilon (Laplace,
# exponential or Gumbel). Losses are independent and identically distributed over rounds, with any
# joint distribution over actions.


def maximum(log_actions: Numbers, noise: str) -> Numbers:
    """Return E max_j xi_j - E xi_1 for K independent draws of scale 1.

    ln K for Gumbel noise, H_K - 1 for exponential noise, at most H_K - ln 2 for Laplace noise (less
    than 1/4 above it for K = 2, by nothing for large K).
    """
    log_actions = np.asarray(log_actions, float)
    if noise == "gumbel":
        return log_actions
    few = digamma(np.exp(np.minimum(log_actions, 30.0)) + 1)
    harmonic = np.where(log_actions < 30, few, log_actions) + np.euler_gamma
    return harmonic - {"exponential": 1.0, "laplace": np.log(2)}[noise]


def lemma_3(gap: Numbers, eta: Numbers) -> Numbers:
    """Return the c for which E[Q_j(D_n) D_nj] >= c n E[Q_j(D_n)].

    tanh(artanh(gap) - eta), which is at least gap - eta for gaps from eta on.
    """
    return (gap - np.tanh(eta)) / (1 - gap * np.tanh(eta))


def theorem(log_actions: Numbers, gap: Numbers, epsilon: Numbers, noise: str) -> Numbers:
    """Bound the regret on all stochastic losses.

    1 + 32 (1 + ln K) / gap + (16 / epsilon) (E max xi - E xi), the middle term only if the smallest
    gap is at most epsilon.
    """
    statistical = np.where(gap <= epsilon, 32 * (1 + log_actions) / gap, 0.0)
    return 1 + statistical + 16 / epsilon * maximum(log_actions, noise)


def large_gaps(log_actions: Numbers, gap: Numbers, epsilon: Numbers, noise: str) -> Numbers:
    """Bound the regret if the smallest gap is above epsilon / 2, part (a).

    1 + (8 / epsilon) (E max xi - E xi) / (1 - epsilon / (2 gap)).
    """
    share = np.maximum(1 - epsilon / (2 * gap), 0.0)
    with np.errstate(divide="ignore"):
        return 1 + 8 / epsilon * maximum(log_actions, noise) / share


def deterministic(log_actions: Numbers, epsilon: Numbers, noise: str) -> Numbers:
    """Bound the regret on fixed losses, part (b): 1 + (8 / epsilon) (E max xi - E xi)."""
    return 1 + 8 / epsilon * maximum(log_actions, noise)


def minimax(log_actions: Numbers, rounds: Numbers, epsilon: Numbers, noise: str) -> Numbers:
    """Bound the regret whatever the gaps, part (c).

    1 + 8 sqrt(2 T (1 + ln K)) + (16 / epsilon) (E max xi - E xi).
    """
    sampling = 8 * np.sqrt(2 * rounds * (1 + log_actions))
    return 1 + sampling + 16 / epsilon * maximum(log_actions, noise)
