"""Bounds of hu2021 with explicit constants.

The constants are those of the paper where it or its proofs give them, and follow from the proofs
otherwise. Gaps: array with 0 for the best arm. Logarithms: ln unless a name says log2.
"""

import numpy as np
from numpy.typing import ArrayLike

from privregret.bounds import Numbers


def lazy_last_array(gaps: Numbers, horizon: Numbers, epsilon: Numbers) -> np.ndarray:
    r"""Return d_j of Lemma 11, the array beyond which an arm is rarely pulled.

    d_j = ceil(log2(24 ln T / (gap min(gap, epsilon)))), infinite for a best arm.
    """
    gaps = np.asarray(gaps)
    with np.errstate(divide="ignore"):
        return np.ceil(np.log2(24 * np.log(horizon) / (gaps * np.minimum(gaps, epsilon))))


def theorem_3(gaps: ArrayLike, horizon: float, epsilon: float) -> float:
    """Bound regret of Anytime-Lazy-UCB by a sum over the sub-optimal arms.

    The sum of 96 ln T / min(gap, epsilon). The paper has O(.); 96 follows from its proof: in
    expectation an arm is pulled at most 2^(d_j + 1) - 1 + 0.14 times.
    """
    gaps = np.asarray(gaps)[np.asarray(gaps) > 0]
    return float(np.sum(96 * np.log(horizon) / np.minimum(gaps, epsilon)))


def critical_gap(arms: float, horizon: Numbers) -> Numbers:
    """Return sqrt(K ln T / T), at which the proof of Theorem 4 splits the gaps."""
    return np.sqrt(arms * np.log(horizon) / horizon)


def theorem_4(arms: float, horizon: float, epsilon: float) -> float:
    """Bound regret of Anytime-Lazy-UCB on any instance.

    T gap + 96 K ln T max(1 / gap, 1 / epsilon), where gap is the critical gap.
    """
    gap = critical_gap(arms, horizon)
    return float(horizon * gap + 96 * arms * np.log(horizon) * max(1 / gap, 1 / epsilon))


def hybrid_last_array(gaps: Numbers, horizon: Numbers, epsilon: Numbers) -> np.ndarray:
    """Return d_j of Lemma 12, the array beyond which an arm is rarely pulled.

    The inner logarithm is read as at least 1; otherwise it may be negative. It is infinite for a
    best arm.
    """
    gaps = np.asarray(gaps)
    with np.errstate(divide="ignore"):
        sampling = 256 * np.log2(horizon) / gaps**2
        privacy = 256 * np.log2(horizon) / (epsilon * gaps)
        pulls = np.maximum(sampling, privacy * np.maximum(1, np.log2(privacy)))
        return np.ceil(np.log2(pulls))


def theorem_5(gaps: ArrayLike, horizon: float, epsilon: float) -> float:
    """Bound regret of Hybrid-UCB by the sum of gap (2^(d_j + 1) - 1 + 0.07).

    The constant follows from the proof of Lemma 12. At practical horizons the bound exceeds gap T:
    callers compare with the smaller of the two.
    """
    gaps = np.asarray(gaps)[np.asarray(gaps) > 0]
    return float(np.sum(gaps * (2.0 ** (hybrid_last_array(gaps, horizon, epsilon) + 1) - 1 + 0.07)))


# Full information. Groups of equal actions: gaps (G,) with 0 for the best, and the logarithm of
# their sizes.


def brackets(gaps: ArrayLike, log_counts: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return smallest gap and size of each bracket that is not empty.

    Bracket J_k = {j: 2^(k-1) gap_min <= gap_j < 2^k gap_min}. The result is a pair of (B,) arrays:
    2^(k-1) gap_min and ln |J_k|; they are empty if all gaps are 0.
    """
    gaps = np.asarray(gaps, float)
    log_counts = np.zeros(len(gaps)) if log_counts is None else np.asarray(log_counts, float)
    bad = gaps > 0
    smallest = gaps[bad].min(initial=np.inf)
    k = np.floor(np.log2(gaps[bad] / smallest) * (1 + 1e-12)).astype(int)
    filled = np.unique(k)
    sizes = np.array([np.logaddexp.reduce(log_counts[bad][k == i]) for i in filled])
    return smallest * 2.0**filled, sizes


def theorem_7_printed(gaps: ArrayLike, log_counts: ArrayLike | None, epsilon: float) -> float:
    """Return the first form of Theorem 7 as printed, constant 1.

    log2 K / gap_min + sum over brackets above epsilon of log2 |J_k| / epsilon. It is no upper
    bound with any constant: a bracket with one action costs 1 / epsilon and contributes 0.
    """
    gap, sizes = brackets(gaps, log_counts)
    log_actions = np.logaddexp(0.0, np.logaddexp.reduce(sizes))
    total = log_actions / np.log(2) / gap.min(initial=np.inf)
    return float(total + np.sum(sizes[gap > epsilon]) / np.log(2) / epsilon)


def theorem_7(gaps: ArrayLike, log_counts: ArrayLike | None, epsilon: float) -> float:
    """Bound regret of FTNL by the sum in the proof of Theorem 7.

    1 + sum over brackets of 256 (1 + ln |J_k|) / min(gap_k, epsilon).
    """
    gap, sizes = brackets(gaps, log_counts)
    return float(1 + np.sum(256 * (1 + sizes) / np.minimum(gap, epsilon)))


def theorem_7_rate(
    log_actions: Numbers, gap: Numbers, horizon: Numbers, epsilon: Numbers, repaired: bool = True
) -> Numbers:
    """Return the second form of Theorem 7, constant 1.

    ln K / gap_min + ln K min(log2(1 / gap_min), log2 T) / epsilon. If `repaired`, with
    1 + log2(1 / gap_min) brackets.
    """
    count = np.minimum(repaired + np.log2(1 / gap), np.log2(horizon))
    return log_actions / gap + log_actions * count / epsilon


def corollary_9(log_actions: Numbers, horizon: Numbers, epsilon: Numbers) -> Numbers:
    """Bound regret of FTNL on any instance, by the proof of Corollary 9.

    T gap* + 1 + 512 (1 + ln K) / gap* + 256 (1 + ln K) (1 + log2(1 / gap*)) / epsilon. Gaps below
    gap* = sqrt(ln K / T) cost at most T gap*, brackets above it as in (57).
    """
    gap = np.sqrt(log_actions / horizon)
    per_bracket = 256 * (1 + log_actions)
    count = 1 + np.maximum(0, np.log2(1 / gap))
    return horizon * gap + 1 + 2 * per_bracket / gap + per_bracket * count / epsilon


def theorem_10(log_actions: Numbers, epsilon: Numbers) -> Numbers:
    """Return the regret 0.2 x 0.49 ln K / (10 epsilon) that some instance forces.

    This is the privacy part of the bound, explicit in the proof, for round `theorem_10_rounds`.
    """
    return 0.2 * 0.49 * log_actions / (10 * epsilon)


def theorem_10_rounds(log_actions: Numbers, gap: Numbers, epsilon: Numbers) -> Numbers:
    """Return m* = ln K / (10 epsilon gap), the rounds that selection needs.

    Up to that round no epsilon-DP algorithm can tell which action is best.
    """
    return log_actions / (10 * epsilon * gap)
