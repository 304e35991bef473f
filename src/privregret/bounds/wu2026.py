"""Bounds of wu2026 with explicit constants, as printed and as its corrected proofs give them.

Logarithms are natural.
"""

import numpy as np
from numpy.typing import ArrayLike

from privregret.bounds import Numbers

C1 = 2.0
# of (5) and (7), derived from the proofs
C2 = {"laplace": 32.0, "exponential": 16.0, "gumbel": 16.0}
# (noise, scale times epsilon) -> (c1, c2) of (9), derived
COROLLARY_2 = {
    ("exponential", 1.0): (0.5, 2.0),
    ("gumbel", 2.0): (1.0, 4.0),
    ("laplace", 2.0): (0.5, 8.0),
}
TERMS = 2**26  # largest number of rounds that are added up one by one


def theorem_2(log_actions: Numbers, gap: Numbers, epsilon: Numbers, noise: str) -> Numbers:
    """Bound the regret with resampling at every T, with the constants of the corrected proof.

    The bound is (8 c2 ln K + 2 c1 c2) / gap + (2 c2 ln^2 K + c1 c2) / epsilon with c1 = 2 and
    c2 = 16 (32 for Laplace noise). The paper states the order only; the last line of its proof has
    c1 c2 in place of 2 c1 c2 in the first term.
    """
    c2 = C2[noise]
    sampling = (8 * c2 * log_actions + 2 * C1 * c2) / gap
    return sampling + (2 * c2 * log_actions**2 + C1 * c2) / epsilon


def selection(rounds: Numbers, gap: Numbers, epsilon: Numbers, noise: str) -> Numbers:
    """Bound (5) and (7) on the selection probability: c1 exp(-4 n gap min(gap, epsilon) / c2).

    It is the probability that one action of this gap is selected from n rounds.
    """
    return C1 * np.exp(-4 * rounds * gap * np.minimum(gap, epsilon) / C2[noise])


def by_rank(log_counts: ArrayLike, log_tail: Numbers) -> np.ndarray:
    """Return (G,) sums of min(1/j, e^log_tail) over the ranks j of a group, as Theorem 2's proof.

    (G,) `log_counts` are logarithms of the sizes of the groups, best group first; `log_tail` is at
    most 0. Sums of 1/j are approximated by differences of logarithms.
    """
    # ln of the last rank in each group
    ends = np.logaddexp.accumulate(np.asarray(log_counts, float))
    first = np.concatenate([[0.0], ends[:-1]])
    # from here on 1/j is the smaller
    cut = np.clip(-np.asarray(log_tail, float), first, ends)
    capped = np.where(cut > first, np.exp(log_tail + cut) * -np.expm1(first - cut), 0.0)
    return capped + ends - cut


def theorem_3(log_actions: float, epsilon: Numbers, horizon: Numbers) -> Numbers:
    """Compute the printed lower bound on regret over the cyclic family, for K >= 6.

    Every epsilon-DP algorithm has at least the regret ln((3 + (K - 5) e^-epsilon) /
    (3 + (K - 5) e^(-(T + 1) epsilon))) / epsilon on some member of the family.
    """
    log_rest = _log_rest(log_actions)
    top = np.logaddexp(np.log(3.0), log_rest - epsilon)
    below = np.logaddexp(np.log(3.0), log_rest - (np.asarray(horizon, float) + 1) * epsilon)
    return (top - below) / epsilon


def theorem_3_rounds(log_actions: float, epsilon: float, rounds: Numbers) -> Numbers:
    """Bound the probability of a loss of 1 in each of `rounds` from below, for K >= 6.

    The probability is averaged over the cyclic family. The bound is (K - 5) / (3 e^((t - 1)
    epsilon) + K - 5), sharper than the printed one, which has t in place of t - 1: round t has seen
    t - 1 loss vectors.
    """
    seen = np.asarray(rounds, float) - 1
    odds = np.log(3.0) + seen * epsilon - _log_rest(log_actions)
    return 1 / (1 + np.exp(np.minimum(odds, 700.0)))


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
    return np.append(0.0, total)[np.minimum(horizon, terms).astype(int)]


def _log_rest(log_actions):
    """Compute ln(K - 5)."""
    if not np.exp(min(log_actions, 700.0)) > 5.5:
        raise ValueError(f"log_actions must be at least ln 6 for Theorem 3, got {log_actions}")
    return log_actions + np.log1p(-5 * np.exp(-log_actions))


def theorem_4(log_actions: Numbers, epsilon: Numbers) -> Numbers:
    """Bound the regret with deterministic losses, without resampling, as printed.

    The bound is 3 + (2 / epsilon) C ln K, where C = 2 (1 + ln 2) / ln 2 of Lemma 3. It is for
    exponential and Gumbel noise. By convexity 1 + 4 b ln K is one for noise of scale b.
    """
    return 3 + 2 / epsilon * (2 * (1 + np.log(2)) / np.log(2)) * log_actions
