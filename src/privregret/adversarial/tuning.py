"""Tune algorithms as the corollaries and theorems of asi2025 do.

EXP3, FTPL and the two EXP4s need the horizon; HTINF does not. Where a formula gives a mixing
probability above 1 or a logarithm below 1, the bound is above T and the formula is clipped.
"""

import math

from privregret import checks
from privregret.adversarial.bases import EXP3, FTPL, HTINF
from privregret.adversarial.conversions import BatchedPrivate, ExpertsFromBandit, LocallyPrivate
from privregret.adversarial.exp4 import EXP4Batched, EXP4Local

SEVERAL = checks.integer_in(2, checks.LARGEST)
POSITIVE = checks.number_in(1e-15, 1e15)  # range of numbers that are squared and used as divisors


@checks.arguments(epsilon=POSITIVE)
def batched_htinf(epsilon: float, sigma: str = "paper") -> BatchedPrivate:
    """Return HTINF in batches (Corollary 2).

    `sigma` is "paper", sqrt 6, or "exact", from the second moment 1 + 2 / (tau epsilon)^2 of a
    noisy average.

    Examples
    --------
    >>> batched_htinf(0.5)
    BatchedPrivate(base=HTINF(sigma=2.449489742783178), epsilon=0.5, tau=2)
    """
    checks.one_of("paper", "exact")("sigma", sigma)
    exact = math.sqrt(1 + 2 * BatchedPrivate(HTINF(1.0), epsilon).scale ** 2)
    return BatchedPrivate(HTINF(math.sqrt(6) if sigma == "paper" else exact), epsilon)


@checks.arguments(epsilon=POSITIVE)
def batched_htinf_over_experts(epsilon: float) -> ExpertsFromBandit:
    """Return HTINF in batches with the experts as arms (Corollary 8).

    This is the composite of Theorem 7.

    Examples
    --------
    >>> batched_htinf_over_experts(0.5).label
    'Batched HTINF over experts'
    """
    return ExpertsFromBandit(batched_htinf(epsilon))


@checks.arguments(horizon=SEVERAL, arms=SEVERAL, epsilon=POSITIVE, boldness=POSITIVE)
def batched_exp3(horizon: int, arms: int, epsilon: float, boldness: float = 1.0) -> BatchedPrivate:
    """Return EXP3 in batches (Corollary 22).

    `boldness` multiplies eta, and gamma with it: their ratio is what the proof needs.

    Examples
    --------
    >>> algorithm = batched_exp3(horizon=10**6, arms=10, epsilon=0.5)
    >>> algorithm.tau, round(algorithm.base.eta, 8)
    (2, 9.38e-06)
    """
    log = max(1.0, math.log(epsilon * arms * horizon))
    eta = boldness * math.sqrt(math.log(arms) / (22 * epsilon * arms * horizon * log**2))
    return BatchedPrivate(EXP3(eta, min(1.0, 4 * eta * arms * log)), epsilon)


@checks.arguments(horizon=SEVERAL, arms=SEVERAL, epsilon=POSITIVE)
def batched_ftpl(horizon: int, arms: int, epsilon: float, log: str = "T") -> BatchedPrivate:
    """Return FTPL in batches (Corollary 24).

    `log` is "T", as printed, or "KT", which the proof's event needs, in the second term of eta.

    Examples
    --------
    >>> algorithm = batched_ftpl(horizon=10**6, arms=10, epsilon=0.5)
    >>> algorithm.tau, algorithm.base.cap
    (2, 2237)
    """
    checks.one_of("T", "KT")("log", log)
    rounds = epsilon * horizon
    inner = max(0.0, math.log(rounds if log == "T" else rounds * arms))
    cap = math.ceil(math.sqrt(rounds * arms))
    first = math.sqrt(math.log(arms) / (rounds * arms * (1 + 10 * math.log(rounds * arms) ** 2)))
    return BatchedPrivate(FTPL(min(first, 1 / (cap * (1 + 4 * inner))), cap), epsilon)


@checks.arguments(horizon=SEVERAL, arms=SEVERAL, experts=SEVERAL, epsilon=POSITIVE)
def local_exp4(horizon: int, arms: int, experts: int, epsilon: float) -> EXP4Local:
    """Return EXP4 with per-loss noise (Theorem 9).

    Examples
    --------
    >>> algorithm = local_exp4(horizon=10**6, arms=10, experts=20, epsilon=0.5)
    >>> round(algorithm.eta, 9)
    3.1e-06
    """
    log = math.log(arms * horizon)
    eta = math.sqrt(math.log(experts) / (3 * horizon * arms * (1 + 10 * log**2 / epsilon**2)))
    return EXP4Local(epsilon, eta, min(1.0, 4 * eta * arms * log / epsilon))


@checks.arguments(
    horizon=SEVERAL,
    arms=SEVERAL,
    experts=SEVERAL,
    epsilon=POSITIVE,
    delta=checks.number_in(1e-300, 1, "[)"),
)
def batched_exp4(
    horizon: int, arms: int, experts: int, epsilon: float, delta: float, gamma: str = "proof"
) -> EXP4Batched:
    """Return EXP4 in batches (Theorem 10).

    tau is rounded up first, then gamma is computed with that tau and clipped, and the noise is
    computed with both.

    Parameters
    ----------
    horizon, arms, experts : int
        T, K and N.
    epsilon, delta : float
        Privacy parameters.
    gamma : {"statement", "proof"}
        The first term of "statement" has N^(1/3) where that of "proof" has (N ln(1 / delta))^(1/3).

    Examples
    --------
    >>> batched_exp4(10**6, arms=10, experts=20, epsilon=0.5, delta=1e-6).tau
    4707
    """
    checks.one_of("proof", "statement")("gamma", gamma)
    spread = experts * math.log(1 / delta)
    log_nt, log_n = math.log(experts * horizon), math.log(experts)
    eta = (
        spread ** (1 / 6)
        * (log_nt * log_n) ** (1 / 3)
        / (horizon ** (1 / 3) * math.sqrt(arms) * epsilon ** (1 / 3))
    )
    tau = (
        spread ** (1 / 3)
        * log_nt ** (2 / 3)
        * horizon ** (1 / 3)
        / (epsilon ** (2 / 3) * log_n ** (1 / 3))
    )
    tau = min(horizon, math.ceil(tau))
    factor = spread if gamma == "proof" else experts
    first = (eta * factor) ** (1 / 3) * (arms * log_nt / (epsilon * tau)) ** (2 / 3)
    second = 12 * eta * arms * math.sqrt(spread) * log_nt / (epsilon * tau)
    return EXP4Batched(epsilon, delta, eta, min(1.0, max(first, second)), tau)


@checks.arguments(epsilon=POSITIVE)
def local_htinf(epsilon: float) -> LocallyPrivate:
    """Return HTINF on losses with noise Lap(1 / epsilon).

    Their second moment is at most 1 + 2 / epsilon^2.

    Examples
    --------
    >>> local_htinf(0.5)
    LocallyPrivate(base=HTINF(sigma=3.0), epsilon=0.5, tau=1)
    """
    return LocallyPrivate(HTINF(math.sqrt(1 + 2 / epsilon**2)), epsilon)


@checks.arguments(horizon=SEVERAL, arms=SEVERAL, epsilon=POSITIVE)
def local_exp3(horizon: int, arms: int, epsilon: float) -> LocallyPrivate:
    """Return EXP3 on losses with noise Lap(1 / epsilon).

    It is tuned as in the proof of Corollary 22 with that scale.

    Examples
    --------
    >>> local_exp3(horizon=10**6, arms=10, epsilon=0.5).label
    'Local EXP3'
    """
    scale, log = 1 / epsilon, max(1.0, math.log(arms * horizon))
    eta = math.sqrt(
        math.log(arms) / (2 * horizon * arms * (1 + 10 * max(scale, scale**2) * log**2))
    )
    return LocallyPrivate(EXP3(eta, min(1.0, 4 * eta * scale * arms * log)), epsilon)
