"""Bounds of wu2026 with explicit constants, as printed and as its corrected proofs give them.

Logarithms are natural.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom

from privregret.bounds.rules import (
    GAPS,
    LOG_ACTIONS,
    LOG_COUNTS,
    NOISE,
    POSITIVE,
    POSITIVES,
    ROUNDS,
    SHARES,
    Numbers,
)
from privregret.core import checks, store

C1 = 2.0
C2 = {
    "laplace": 32.0,
    "exponential": 16.0,
    "gumbel": 16.0,
}  # of (5) and (7), derived from the proofs
LEMMA_3 = {
    "printed": 2 * (1 + np.log(2)) / np.log(2),
    "corrected": (1 + np.log(2)) / np.log(2),
    "best": 2.0,
}
TERMS = 2**26  # largest number of rounds that are added up one by one
COROLLARY_2 = {
    ("exponential", 1.0): (0.5, 2.0),
    ("gumbel", 2.0): (1.0, 4.0),
    ("laplace", 2.0): (0.5, 8.0),
}

HORIZONS = checks.array_in(1, 1e100)  # formulas use its logarithm or its square root
SINGLE = checks.number_in(0.69, 1e6)  # ln K, one number
FACTOR = checks.number_in(1e-3, 1e3)


def _exponent(name, value):
    if not isinstance(value, complex):
        return checks.number_in(-400, 400)(name, value)
    checks.number_in(-400, 400)(f"real part of {name}", value.real)
    checks.number_in(-400, 400)(f"imaginary part of {name}", value.imag)
    return value


def _bad(name, value):
    none = isinstance(value, float) and value == -np.inf  # the logarithm of no action
    return value if none else checks.number_in(0, 1e6)(name, value)


@checks.arguments(log_actions=LOG_ACTIONS, gap=GAPS, horizon=HORIZONS, epsilon=POSITIVES)
def theorem_1_rate(
    log_actions: Numbers, gap: Numbers, horizon: Numbers, epsilon: Numbers
) -> Numbers:
    """Compute the rate of Theorem 1 with constant 1: ln K / gap + ln K ln T / epsilon.

    wu2026 quotes it from hu2021.
    """
    return log_actions / gap + log_actions * np.log(horizon) / epsilon


@checks.arguments(log_actions=LOG_ACTIONS, gap=GAPS, epsilon=POSITIVES, noise=NOISE)
def theorem_2(log_actions: Numbers, gap: Numbers, epsilon: Numbers, noise: str) -> Numbers:
    """Bound the regret with resampling at every T, with the constants of the corrected proof.

    The bound is (8 c2 ln K + 2 c1 c2) / gap + (2 c2 ln^2 K + c1 c2) / epsilon with c1 = 2 and
    c2 = 16 (32 for Laplace noise). The paper states the order only; the last line of its proof has
    c1 c2 in place of 2 c1 c2 in the first term.
    """
    c2 = C2[noise]
    return (8 * c2 * log_actions + 2 * C1 * c2) / gap + (
        2 * c2 * log_actions**2 + C1 * c2
    ) / epsilon


@checks.arguments(log_actions=LOG_ACTIONS, gap=GAPS, epsilon=POSITIVES)
def theorem_2_rate(log_actions: Numbers, gap: Numbers, epsilon: Numbers) -> Numbers:
    """Compute the rate of Theorem 2 with constant 1: ln K / gap + ln^2 K / epsilon."""
    return log_actions / gap + log_actions**2 / epsilon


@checks.arguments(log_actions=LOG_ACTIONS, horizon=HORIZONS, epsilon=POSITIVES, noise=NOISE)
def corollary_1(log_actions: Numbers, horizon: Numbers, epsilon: Numbers, noise: str) -> Numbers:
    """Bound the regret with resampling on every instance, whatever its gaps.

    The bound is sqrt(T ln K) (1 + 8 c2 + 2 c1 c2 / ln K) + (2 c2 ln^2 K + c1 c2) / epsilon.
    """
    c2 = C2[noise]
    first = np.sqrt(horizon * log_actions) * (1 + 8 * c2 + 2 * C1 * c2 / log_actions)
    return first + (2 * c2 * log_actions**2 + C1 * c2) / epsilon


@checks.arguments(rounds=ROUNDS, gap=SHARES, epsilon=POSITIVES, noise=NOISE)
def selection(rounds: Numbers, gap: Numbers, epsilon: Numbers, noise: str) -> Numbers:
    """Bound (5) and (7) on the selection probability: c1 exp(-4 n gap min(gap, epsilon) / c2).

    It is the probability that one action of this gap is selected from n rounds.
    """
    gap = np.asarray(gap)
    return C1 * np.exp(-4 * rounds * gap * np.minimum(gap, epsilon) / C2[noise])


@checks.arguments(rounds=ROUNDS, gap=SHARES, epsilon=POSITIVES, noise=NOISE, factor=FACTOR)
def deterministic_selection(
    rounds: Numbers, gap: Numbers, epsilon: Numbers, noise: str, factor: float
) -> Numbers:
    """Bound (9) on the selection probability with deterministic losses, without resampling.

    The bound is c1 exp(-2 n gap epsilon / c2) with constants derived for noise of scale
    factor / epsilon.
    """
    if (noise, factor) not in COROLLARY_2:
        known = ", ".join(f"{scale:g}" for name, scale in COROLLARY_2 if name == noise)
        raise ValueError(f"factor must be {known} for {noise} noise, as in wu2026, got {factor}")
    c1, c2 = COROLLARY_2[noise, factor]
    return c1 * np.exp(-2 * rounds * np.asarray(gap) * epsilon / c2)


@checks.arguments(log_counts=LOG_COUNTS, log_tail=checks.array_in(-1e15, 0))
def by_rank(log_counts: ArrayLike, log_tail: Numbers) -> np.ndarray:
    """Sum min(1/j, e^log_tail) over the ranks j of each group, as in Theorem 2's proof.

    Sums of 1/j are approximated by differences of logarithms.

    Parameters
    ----------
    log_counts : (G,) array
        Logarithms of the numbers of actions in each group, best group first.
    log_tail : float or (G,) array
        At most 0.

    Returns
    -------
    (G,) array
    """
    ends = np.logaddexp.accumulate(
        np.asarray(log_counts, float)
    )  # ln of the last rank in each group
    first = np.concatenate([[0.0], ends[:-1]])
    cut = np.clip(-np.asarray(log_tail, float), first, ends)  # from here on 1/j is the smaller
    capped = np.where(cut > first, np.exp(log_tail + cut) * -np.expm1(first - cut), 0.0)
    return capped + ends - cut


@checks.arguments(log_actions=LOG_ACTIONS, epsilon=POSITIVES)
def corollary_2(log_actions: Numbers, epsilon: Numbers) -> Numbers:
    """Bound the regret with deterministic losses, without resampling, for all three noises.

    The bound is 1 + (4 c2 ln^2 K + 2 c1 c2) / epsilon; the paper states the order only. It follows
    from `deterministic_selection`, with the largest of each constant, and Lemma 1's 1/j: an action
    of rank j costs 4 c2 ln K / (epsilon j) in epochs of up to c2 ln K / (gap epsilon) losses, and
    2 c1 c2 / (epsilon K) in all later ones.
    """
    c1, c2 = (max(constants) for constants in zip(*COROLLARY_2.values(), strict=True))
    return 1 + (4 * c2 * log_actions**2 + 2 * c1 * c2) / epsilon


@checks.arguments(log_actions=SINGLE, epsilon=POSITIVES, horizon=HORIZONS)
def theorem_3(log_actions: float, epsilon: Numbers, horizon: Numbers) -> Numbers:
    """Compute the printed lower bound on regret over the cyclic family, for K >= 6.

    Every epsilon-DP algorithm has at least the regret ln((3 + (K - 5) e^-epsilon) /
    (3 + (K - 5) e^(-(T + 1) epsilon))) / epsilon on some member of the family.

    Examples
    --------
    >>> round(float(theorem_3(np.log(1000), epsilon=0.5, horizon=10**6)), 2)
    10.62
    """
    log_rest = _log_rest(log_actions)
    top = np.logaddexp(np.log(3.0), log_rest - epsilon)
    return (
        top - np.logaddexp(np.log(3.0), log_rest - (np.asarray(horizon, float) + 1) * epsilon)
    ) / epsilon


@checks.arguments(log_actions=SINGLE, epsilon=POSITIVES, rounds=ROUNDS, sharp=checks.boolean)
def theorem_3_rounds(
    log_actions: float, epsilon: Numbers, rounds: Numbers, sharp: bool = True
) -> Numbers:
    """Bound the probability of a loss of 1 in each of `rounds` from below, for K >= 6.

    The probability is averaged over the cyclic family. The printed bound is
    (K - 5) / (3 e^(t epsilon) + K - 5); the sharp one has t - 1 in place of t, since round t has
    seen t - 1 loss vectors.
    """
    seen = np.asarray(rounds, float) - (1 if sharp else 0)
    return 1 / (
        1 + np.exp(np.minimum(np.log(3.0) + seen * epsilon - _log_rest(log_actions), 700.0))
    )


@checks.arguments(log_actions=SINGLE, epsilon=POSITIVE, horizon=checks.array_in(1, 2**62))
def theorem_3_sharp(log_actions: float, epsilon: float, horizon: ArrayLike) -> np.ndarray:
    """Add up the sharp bound over rounds 1..T, for each of several horizons T.

    Terms below e^-40 are left out, so that the sum remains a lower bound.
    """
    horizon = np.atleast_1d(horizon)
    enough = int((max(0.0, _log_rest(log_actions)) + 40) / epsilon) + 1
    terms = min(int(horizon.max(initial=0)), enough)
    if terms > TERMS:
        raise ValueError(
            f"epsilon must be larger: {terms} rounds are too many to add up, got {epsilon}"
        )
    total = np.cumsum(theorem_3_rounds(log_actions, epsilon, np.arange(1, terms + 1)))
    return total[np.minimum(horizon, len(total)).astype(int) - 1]


def _log_rest(log_actions):
    """Compute ln(K - 5)."""
    if not np.exp(min(log_actions, 700.0)) > 5.5:
        raise ValueError(f"log_actions must be at least ln 6 for Theorem 3, got {log_actions}")
    return log_actions + np.log1p(-5 * np.exp(-log_actions))


@checks.arguments(
    log_actions=LOG_ACTIONS,
    epsilon=POSITIVES,
    noise=NOISE,
    factor=FACTOR,
    route=checks.one_of("best", "printed", "corrected"),
)
def theorem_4(
    log_actions: Numbers, epsilon: Numbers, noise: str, factor: float, route: str = "best"
) -> Numbers:
    """Bound the regret with deterministic losses, without resampling.

    Parameters
    ----------
    log_actions : float or array
        ln K.
    epsilon : float or array
    noise : {"exponential", "gumbel"}
    factor : float
        Scale b of the noise times epsilon.
    route : {"best", "printed", "corrected"}
        "best": 1 + 4 b ln K, by convexity; "printed": 3 + (2 / epsilon) C ln K with the paper's C
        and inverse temperature epsilon; "corrected": 3 + 2 b C ln K with the corrected C.

    Returns
    -------
    float or array

    Raises
    ------
    ValueError
        For Laplace noise, which Theorem 4 does not cover.
    """
    if noise not in ("exponential", "gumbel"):
        raise ValueError(f"noise must be 'exponential' or 'gumbel' for Theorem 4, got {noise!r}")
    if route == "best":
        return 1 + 4 * factor / epsilon * log_actions
    scale = 1 / epsilon if route == "printed" else factor / epsilon
    return 3 + 2 * scale * LEMMA_3[route] * log_actions


@checks.arguments(gaps=checks.array_in(0, 1, shape=1), log_counts=LOG_COUNTS, scale=POSITIVE)
def theorem_4_instance(gaps: ArrayLike, log_counts: ArrayLike, scale: float) -> float:
    """Bound the regret on one instance: mean gap + 4 b ln(sum of e^(-gap / (2 b))).

    The sum is over actions; b is the `scale`.
    """
    gaps, log_counts = np.asarray(gaps, float), np.asarray(log_counts, float)
    mean = float(np.exp(log_counts - np.logaddexp.reduce(log_counts)) @ gaps)
    return mean + 4 * scale * float(np.logaddexp.reduce(log_counts - gaps / (2 * scale)))


@checks.arguments(a=checks.array_in(-1e6, 1e6, shape=1), log_counts=LOG_COUNTS, x=_exponent)
def lemma_2(a: ArrayLike, log_counts: ArrayLike, x: complex) -> tuple[complex, complex]:
    """Compute f(x), the mean of u = 2^x a under weights e^-u, and the mean of u^2.

    x may be complex. The lemma says f' <= ln 2 f, which holds since f' = ln 2 (f - variance of u).
    """
    u = 2.0**x * np.asarray(a, float)
    weights = np.asarray(log_counts, float) - u
    weights = np.exp(weights - weights.real.max())
    return weights @ u / weights.sum(), weights @ u**2 / weights.sum()


@checks.arguments(
    a=checks.array_in(-1e6, 1e6, shape=1), log_counts=LOG_COUNTS, terms=checks.integer_in(2, 400)
)
@store.kept
def lemma_3(a: ArrayLike, log_counts: ArrayLike, terms: int = 200) -> float:
    """Compute the sum of f(r) over r >= 1, divided by ln K.

    The printed proof bounds it by 4.885, the corrected proof by 2.443. The best constant is 2.
    """
    log_actions = float(np.logaddexp.reduce(np.asarray(log_counts, float)))
    return sum(lemma_2(a, log_counts, r)[0].real for r in range(1, terms)) / log_actions


@checks.arguments(
    log_bad=_bad,
    rounds=checks.integer_in(1, 10**6),
    gap=checks.number_in(0, 1, "()"),
    epsilon=POSITIVE,
    factor=FACTOR,
    c2=checks.number_in(1e-15, 1e15),
)
def remark_4(
    log_bad: float, rounds: int, gap: float, epsilon: float, factor: float, c2: float
) -> float:
    """Compute ln of the c1 that Remark 4's conjecture needs for means (0, gap, 1, ..., 1).

    The probability that the middle action is selected is a binomial sum. The conjecture bounds it
    by c1 times a softmax of temperature c2 / (4 epsilon) at the mean losses.

    Parameters
    ----------
    log_bad : float
        Logarithm of the number of actions of mean 1; -inf for none.
    rounds : int
        Loss vectors n of the epoch.
    gap, epsilon : float
    factor : float
        Scale of the Gumbel noise times epsilon.
    c2 : float

    Returns
    -------
    float
    """
    hot = 4 * epsilon / c2
    left = _log_middle(log_bad, rounds, gap, epsilon / factor)
    right = np.logaddexp(0.0, np.logaddexp(-hot * rounds * gap, log_bad - hot * rounds))
    return left + hot * rounds * gap + right


@checks.arguments(rounds=ROUNDS, gap=GAPS, epsilon=POSITIVES, factor=FACTOR, c2=POSITIVES)
def remark_4_limit(
    rounds: Numbers, gap: Numbers, epsilon: Numbers, factor: float, c2: Numbers
) -> Numbers:
    """Compute the limit of `remark_4` for many actions of mean 1.

    It is n ln(1 - gap + gap e^-l) + n (l - k + k gap), l = epsilon / factor, k = 4 epsilon / c2.
    """
    cold, hot = epsilon / factor, 4 * epsilon / c2
    return rounds * (np.log1p(gap * np.expm1(-cold)) + cold - hot + hot * gap)


def _log_middle(log_bad, rounds, gap, cold):
    g = np.arange(rounds + 1)
    chosen = -cold * g - np.logaddexp(0.0, np.logaddexp(-cold * g, log_bad - cold * rounds))
    return float(np.logaddexp.reduce(binom.logpmf(g, rounds, gap) + chosen))
