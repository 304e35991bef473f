"""Tune algorithms with the constants that asi2025 prints, and the local baselines.

The defaults are the printed constants; a repaired version is chosen by name. EXP3, FTPL and the two
EXP4s need the horizon, HTINF does not. A mixing probability above 1 or a logarithm below 1 is
clipped: the bound then exceeds T.
"""

import math

from privregret.adversarial.conversions import BatchedPrivate, ExpertsFromBandit, LocallyPrivate
from privregret.adversarial.exp3 import EXP3
from privregret.adversarial.exp4 import EXP4Batched, EXP4Local
from privregret.adversarial.ftpl import FTPL
from privregret.adversarial.htinf import HTINF
from privregret.core import checks

SEVERAL = checks.integer_in(2, checks.MAX_HORIZON)
POSITIVE = checks.number_in(1e-15, 1e15)  # what may be squared, and divided by
BY_HORIZON = {"horizon": SEVERAL, "arms": SEVERAL, "epsilon": POSITIVE}


@checks.validate(epsilon=POSITIVE)
def batched_htinf(epsilon: float, sigma: str = "paper") -> BatchedPrivate:
    """Make HTINF in batches (asi2025, Corollary 2).

    `sigma` is "paper", sqrt 6, or "exact", from the second moment of a noisy average, at most
    1 + 2 / (tau epsilon)^2.

    Examples
    --------
    >>> batched_htinf(0.5)
    BatchedPrivate(base=HTINF(sigma=2.449489742783178), epsilon=0.5, tau=2)
    """
    checks.one_of("paper", "exact")("sigma", sigma)
    exact = math.sqrt(1 + 2 * BatchedPrivate(HTINF(1.0), epsilon).scale ** 2)
    return BatchedPrivate(HTINF(math.sqrt(6) if sigma == "paper" else exact), epsilon)


@checks.validate(epsilon=POSITIVE)
def batched_htinf_over_experts(epsilon: float) -> ExpertsFromBandit:
    """Make HTINF in batches with the experts as arms (asi2025, Corollary 8)."""
    return ExpertsFromBandit(batched_htinf(epsilon))


@checks.validate(boldness=POSITIVE, **BY_HORIZON)
def batched_exp3(horizon: int, arms: int, epsilon: float, boldness: float = 1.0) -> BatchedPrivate:
    """Make EXP3 in batches (asi2025, Corollary 22).

    `boldness` is a factor of both eta and gamma; the proof needs only their ratio.
    """
    log = max(1.0, math.log(epsilon * arms * horizon))
    eta = boldness * math.sqrt(math.log(arms) / (22 * epsilon * arms * horizon * log**2))
    return BatchedPrivate(EXP3(eta, min(1.0, 4 * eta * arms * log)), epsilon)


@checks.validate(**BY_HORIZON)
def batched_ftpl(
    horizon: int, arms: int, epsilon: float, resampling: str = "printed"
) -> BatchedPrivate:
    """Make FTPL in batches (asi2025, Corollary 24), with `resampling` as of `FTPL`.

    Algorithm 4 as printed does not learn; the proof is about "corrected".
    """
    rounds = epsilon * horizon
    inner = max(0.0, math.log(rounds))
    cap = math.ceil(math.sqrt(rounds * arms))
    first = math.sqrt(math.log(arms) / (rounds * arms * (1 + 10 * math.log(rounds * arms) ** 2)))
    eta = min(first, 1 / (cap * (1 + 4 * inner)))
    return BatchedPrivate(FTPL(eta, cap, resampling), epsilon)


@checks.validate(experts=SEVERAL, **BY_HORIZON)
def local_exp4(horizon: int, arms: int, experts: int, epsilon: float) -> EXP4Local:
    """Make EXP4 with Laplace noise on each loss (asi2025, Theorem 9)."""
    log = math.log(arms * horizon)
    eta = math.sqrt(math.log(experts) / (3 * horizon * arms * (1 + 10 * log**2 / epsilon**2)))
    return EXP4Local(epsilon, eta, min(1.0, 4 * eta * arms * log / epsilon))


@checks.validate(delta=checks.number_in(1e-300, 1, "[)"), experts=SEVERAL, **BY_HORIZON)
def batched_exp4(
    horizon: int, arms: int, experts: int, epsilon: float, delta: float, gamma: str = "printed"
) -> EXP4Batched:
    """Make EXP4 in batches (asi2025, Theorem 10).

    The order matters for privacy: tau is rounded up, then gamma is computed with that tau and
    clipped at 1, then the noise is computed with both. `gamma` decides the factor in its first
    term: "printed" is N^(1/3), as in the theorem and its proof, "corrected" is
    (N ln(1 / delta))^(1/3), which the proof's next line needs.
    """
    checks.one_of("printed", "corrected")("gamma", gamma)
    spread = experts * math.log(1 / delta)
    log_nt, log_n = math.log(experts * horizon), math.log(experts)
    eta = spread ** (1 / 6) * (log_nt * log_n) ** (1 / 3)
    eta /= horizon ** (1 / 3) * math.sqrt(arms) * epsilon ** (1 / 3)
    growth = spread ** (1 / 3) * log_nt ** (2 / 3) * horizon ** (1 / 3)
    tau = min(horizon, math.ceil(growth / (epsilon ** (2 / 3) * log_n ** (1 / 3))))
    factor = spread if gamma == "corrected" else experts
    first = (eta * factor) ** (1 / 3) * (arms * log_nt / (epsilon * tau)) ** (2 / 3)
    second = 12 * eta * arms * math.sqrt(spread) * log_nt / (epsilon * tau)
    return EXP4Batched(epsilon, delta, eta, min(1.0, max(first, second)), tau)


@checks.validate(epsilon=POSITIVE)
def local_htinf(epsilon: float) -> LocallyPrivate:
    """Make HTINF on noisy losses, whose second moment is at most 1 + 2 / epsilon^2."""
    return LocallyPrivate(HTINF(math.sqrt(1 + 2 / epsilon**2)), epsilon)


@checks.validate(**BY_HORIZON)
def local_exp3(horizon: int, arms: int, epsilon: float) -> LocallyPrivate:
    """Make EXP3 on noisy losses, tuned as in the proof of Corollary 22 for that noise."""
    scale, log = 1 / epsilon, max(1.0, math.log(arms * horizon))
    eta = math.sqrt(
        math.log(arms) / (2 * horizon * arms * (1 + 10 * max(scale, scale**2) * log**2))
    )
    return LocallyPrivate(EXP3(eta, min(1.0, 4 * eta * scale * arms * log)), epsilon)
