"""Bounds of hu2021 with explicit constants.

The constants are those of the paper where it or its proofs give them, and follow from the proofs
otherwise. Gaps: (K,) array with 0 for the best arm. Logarithms: ln unless a name says log2.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from privregret.bounds.rules import (
    GAPS,
    LOG_ACTIONS,
    LOG_COUNTS,
    POSITIVE,
    POSITIVES,
    ROUNDS,
    Numbers,
)
from privregret.core import checks

HORIZONS, HORIZON = (
    checks.array_in(2, 2**62),
    checks.number_in(2, 2**62),
)  # at T = 1 the logarithms are 0
ARMS, ACTIONS = checks.number_in(1, 2**62), checks.array_in(2, 2**62)


def _gaps(name, value):
    gaps = checks.array_in(0, 1, shape=1)(name, value)
    if not gaps.max() >= 1e-30:
        raise ValueError(f"{name} must hold one of at least 1e-30, got {checks.shown(value)}")
    return gaps


@checks.arguments(gaps=GAPS, horizon=HORIZONS, epsilon=POSITIVES)
def lazy_last_array(gaps: Numbers, horizon: Numbers, epsilon: Numbers) -> np.ndarray:
    r"""Return d_j of Lemma 11, the array beyond which an arm is rarely pulled.

    d_j = ceil(log2(24 ln T / (gap min(gap, epsilon)))).
    """
    gaps = np.asarray(gaps)
    return np.ceil(np.log2(24 * np.log(horizon) / (gaps * np.minimum(gaps, epsilon)))).astype(int)


@checks.arguments(gaps=_gaps, horizon=HORIZON, epsilon=POSITIVE)
def theorem_3(gaps: ArrayLike, horizon: float, epsilon: float) -> float:
    """Bound regret of Anytime-Lazy-UCB by a sum over the sub-optimal arms.

    The sum of 96 ln T / min(gap, epsilon). The paper has O(.); 96 follows from its proof: in
    expectation an arm is pulled at most 2^(d_j + 1) - 1 + 0.14 times.
    """
    gaps = np.asarray(gaps)[np.asarray(gaps) > 0]
    return float(np.sum(96 * np.log(horizon) / np.minimum(gaps, epsilon)))


@checks.arguments(arms=ARMS, horizon=HORIZONS)
def critical_gap(arms: float, horizon: Numbers) -> Numbers:
    """Return sqrt(K ln T / T), at which the proof of Theorem 4 splits the gaps."""
    return np.sqrt(arms * np.log(horizon) / horizon)


@checks.arguments(arms=ARMS, horizon=HORIZON, epsilon=POSITIVE)
def theorem_4(arms: float, horizon: float, epsilon: float) -> float:
    """Bound regret of Anytime-Lazy-UCB on any instance.

    T gap + 96 K ln T max(1 / gap, 1 / epsilon), where gap is the critical gap.
    """
    gap = critical_gap(arms, horizon)
    return float(horizon * gap + 96 * arms * np.log(horizon) * max(1 / gap, 1 / epsilon))


@checks.arguments(arms=ARMS, horizon=HORIZON, epsilon=POSITIVE)
def theorem_4_rate(arms: float, horizon: float, epsilon: float) -> float:
    """Return the printed rate sqrt(K T ln T) + K ln T / epsilon, constant 1."""
    return float(np.sqrt(arms * horizon * np.log(horizon)) + arms * np.log(horizon) / epsilon)


@checks.arguments(gaps=GAPS, horizon=HORIZONS, epsilon=POSITIVES)
def hybrid_last_array(gaps: Numbers, horizon: Numbers, epsilon: Numbers) -> np.ndarray:
    """Return d_j of Lemma 12, the array beyond which an arm is rarely pulled.

    The inner logarithm is read as at least 1; otherwise it may be negative.
    """
    gaps = np.asarray(gaps)
    sampling = 256 * np.log2(horizon) / gaps**2
    privacy = 256 * np.log2(horizon) / (epsilon * gaps)
    return np.ceil(np.log2(np.maximum(sampling, privacy * np.maximum(1, np.log2(privacy))))).astype(
        int
    )


@checks.arguments(gaps=GAPS, horizon=HORIZONS, epsilon=POSITIVES)
def lemma_11(gaps: Numbers, horizon: Numbers, epsilon: Numbers) -> Numbers:
    """Return the left side of (27), divided by the gap; the lemma needs less than 1/2.

    It is the sum of both widths of Anytime-Lazy-UCB after array d_j.
    """
    pulls = 2.0 ** lazy_last_array(gaps, horizon, epsilon)
    log_t = np.log(horizon)
    return (np.sqrt(3 * log_t / pulls) + 3 * log_t / (epsilon * pulls)) / gaps


@checks.arguments(gaps=GAPS, horizon=HORIZONS, epsilon=POSITIVES)
def lemma_12(gaps: Numbers, horizon: Numbers, epsilon: Numbers) -> Numbers:
    """Return the right side of (42), divided by the gap.

    It is the sum of both widths of Hybrid-UCB after array d_j; the lemma states at most (sqrt 3 + 3
    sqrt 2) / 16.
    """
    array = hybrid_last_array(gaps, horizon, epsilon) + 1.0
    pulls = 2**array - 1
    log_t = np.log2(horizon)
    return (np.sqrt(3 * log_t / pulls) + 6 * np.sqrt(8) * log_t * array / (epsilon * pulls)) / gaps


@checks.arguments(last=checks.integer_in(1, 60))
def lemma_11_pulls(last: int) -> float:
    """Bound the expected pulls of an arm by Anytime-Lazy-UCB beyond array `last`.

    Sum of P(theta = s) omega^(s) over s > last, by the tails of Lemma 11's proof: round t adds
    t^-6 + t^-3 / 2 for each of at most 1 + floor(log2 t) arrays.
    """
    total = 0.0
    for s in range(last + 1, last + 60):
        first = 2**s - 2  # omega^(s - 1)
        tail = 0.0
        for power, weight in ((6, 1.0), (3, 0.5)):
            logs = 2.0 ** np.arange(s, 200)  # where floor(log2 t) rises; it is s - 1 before
            rises = special.zeta(power, logs).sum()
            tail += weight * (s * special.zeta(power, first) + rises)
        total += (2 ** (s + 1) - 2) * tail
    return float(total)


@checks.arguments(last=checks.integer_in(1, 60))
def lemma_12_pulls(last: int) -> float:
    """Bound the expected pulls of an arm by Hybrid-UCB beyond array `last`.

    Sum of P(theta = s) omega^(s) over s > last, by the tails of Lemma 12's proof: round t adds
    t (2 t^-4 + t^-8).
    """
    arrays = np.arange(last + 1, last + 60)
    first = 2.0**arrays - 1  # omega^(s - 1)
    tails = 2 * special.zeta(3, first) + special.zeta(7, first)
    return float(((2.0 ** (arrays + 1) - 1) * tails).sum())


@checks.arguments(noises=checks.integer_in(1, 500), delta=checks.number_in(1e-300, 1))
def fact_2(noises: int, delta: float) -> float:
    """Return P(|Y| > chi sqrt(8 ln(2 / delta))) / delta for the smallest chi of (7).

    Y is the sum of `noises` Laplace noises. With n noises of scale 1, |Y| has a gamma distribution
    of shape n - k with probability 2 C(n - 1 + k, k) / 2^(n + k), k < n.
    """
    log = np.log(2 / delta)
    y = np.sqrt(np.maximum(noises, log)) * np.sqrt(8 * log)
    k = np.arange(noises)
    weights = 2 * special.comb(noises - 1 + k, k) * 0.5 ** (noises + k)
    return float((weights * special.gammaincc(noises - k, y)).sum() / delta)


@checks.arguments(gaps=_gaps, horizon=HORIZON, epsilon=POSITIVE)
def theorem_5(gaps: ArrayLike, horizon: float, epsilon: float) -> float:
    """Bound regret of Hybrid-UCB by the sum of gap (2^(d_j + 1) - 1 + 0.07).

    The constant follows from the proof of Lemma 12. At practical horizons the bound exceeds gap T:
    callers compare with the smaller of the two.
    """
    gaps = np.asarray(gaps)[np.asarray(gaps) > 0]
    return float(np.sum(gaps * (2.0 ** (hybrid_last_array(gaps, horizon, epsilon) + 1) - 1 + 0.07)))


@checks.arguments(gaps=_gaps, horizon=HORIZON, epsilon=POSITIVE)
def theorem_5_rate(gaps: ArrayLike, horizon: float, epsilon: float) -> float:
    """Return the printed rate of Theorem 5, constant 1.

    The sum of max(log2 T / gap, log2 T / epsilon log2(log2 T / (epsilon gap))). The outer logarithm
    is read as at least 1.
    """
    gaps = np.asarray(gaps)[np.asarray(gaps) > 0]
    log_t = np.log2(horizon)
    factor = np.maximum(1, np.log2(log_t / (epsilon * gaps)))
    return float(np.sum(np.maximum(log_t / gaps, log_t / epsilon * factor)))


# Full information. Groups of equal actions: gaps (G,) with 0 for the best, and the logarithm of
# their sizes.


@checks.arguments(gaps=_gaps, log_counts=LOG_COUNTS)
def brackets(gaps: ArrayLike, log_counts: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return smallest gap and size of each bracket that is not empty.

    Bracket J_k = {j: 2^(k-1) gap_min <= gap_j < 2^k gap_min}. The result is a pair of (B,) arrays:
    2^(k-1) gap_min and ln |J_k|.
    """
    gaps = np.asarray(gaps, float)
    log_counts = np.zeros(len(gaps)) if log_counts is None else np.asarray(log_counts, float)
    bad = gaps > 0
    k = np.floor(np.log2(gaps[bad] / gaps[bad].min()) * (1 + 1e-12)).astype(int)
    filled = np.unique(k)
    sizes = np.array([np.logaddexp.reduce(log_counts[bad][k == i]) for i in filled])
    return gaps[bad].min() * 2.0**filled, sizes


def _log_others(gaps, log_counts):
    """Return ln(K - 1), K - 1 actions being sub-optimal."""
    gaps = np.asarray(gaps, float)
    log_counts = np.zeros(len(gaps)) if log_counts is None else np.asarray(log_counts, float)
    return float(np.logaddexp.reduce(log_counts[gaps > 0]))


@checks.arguments(gap=GAPS, rounds=ROUNDS, epsilon=POSITIVES)
def lemma_13(gap: Numbers, rounds: Numbers, epsilon: Numbers) -> Numbers:
    """Bound the probability that an action of a bracket beats the best action.

    2 exp(-n gap min(gap, epsilon) / 8), where `gap` is the smallest of the bracket, after n = 2^r
    rounds.
    """
    return 2 * np.exp(-rounds * gap * np.minimum(gap, epsilon) / 8)


@checks.arguments(gaps=_gaps, log_counts=LOG_COUNTS, epsilon=POSITIVE)
def theorem_7_printed(gaps: ArrayLike, log_counts: ArrayLike | None, epsilon: float) -> float:
    """Return the first form of Theorem 7 as printed, constant 1.

    log2 K / gap_min + sum over brackets above epsilon of log2 |J_k| / epsilon. It is no upper
    bound with any constant: a bracket with one action costs 1 / epsilon and contributes 0.
    """
    gap, sizes = brackets(gaps, log_counts)
    total = np.logaddexp(0.0, _log_others(gaps, log_counts))
    return float(total / np.log(2) / gap.min() + np.sum(sizes[gap > epsilon]) / np.log(2) / epsilon)


@checks.arguments(gaps=_gaps, log_counts=LOG_COUNTS, epsilon=POSITIVE)
def theorem_7(gaps: ArrayLike, log_counts: ArrayLike | None, epsilon: float) -> float:
    """Bound regret of FTNL by the sum in the proof of Theorem 7.

    1 + sum over brackets of 256 (1 + ln |J_k|) / min(gap_k, epsilon).
    """
    gap, sizes = brackets(gaps, log_counts)
    return float(1 + np.sum(256 * (1 + sizes) / np.minimum(gap, epsilon)))


@checks.arguments(gaps=_gaps, log_counts=LOG_COUNTS, epsilon=POSITIVE)
def theorem_7_middle(gaps: ArrayLike, log_counts: ArrayLike | None, epsilon: float) -> float:
    """Return the right side of equation (57), plus 1.

    512 (1 + ln(K - 1)) / gap_min + sum over brackets above epsilon of 256 (1 + ln |J_k|) /
    epsilon + 1.
    """
    gap, sizes = brackets(gaps, log_counts)
    above = gap > epsilon
    first = 512 * (1 + _log_others(gaps, log_counts)) / gap.min()
    return float(1 + first + np.sum(256 * (1 + sizes[above])) / epsilon)


@checks.arguments(
    log_actions=LOG_ACTIONS, gap=GAPS, horizon=HORIZONS, epsilon=POSITIVES, repaired=checks.boolean
)
def theorem_7_rate(
    log_actions: Numbers, gap: Numbers, horizon: Numbers, epsilon: Numbers, repaired: bool = True
) -> Numbers:
    """Return the second form of Theorem 7, constant 1.

    ln K / gap_min + ln K min(log2(1 / gap_min), log2 T) / epsilon. If `repaired`, with 1 + log2(1 /
    gap_min) brackets.
    """
    count = np.minimum((1 if repaired else 0) + np.log2(1 / gap), np.log2(horizon))
    return log_actions / gap + log_actions * count / epsilon


@checks.arguments(gaps=_gaps, log_counts=LOG_COUNTS)
def corollary_8_small_gaps(gaps: ArrayLike, log_counts: ArrayLike | None) -> float:
    """Bound regret by 1 + 512 (1 + ln(K - 1)) / gap_min for gaps up to epsilon."""
    gap, _ = brackets(gaps, log_counts)
    return float(1 + 512 * (1 + _log_others(gaps, log_counts)) / gap.min())


@checks.arguments(log_actions=LOG_ACTIONS, gap=GAPS, epsilon=POSITIVES)
def corollary_8_equal_gaps(log_actions: Numbers, gap: Numbers, epsilon: Numbers) -> Numbers:
    """Bound regret by 1 + 512 (1 + ln K) / min(gap_min, epsilon).

    For gaps in [gap_min, 2 gap_min], which are at most two brackets.
    """
    return 1 + 512 * (1 + log_actions) / np.minimum(gap, epsilon)


@checks.arguments(log_actions=LOG_ACTIONS, horizon=HORIZONS, epsilon=POSITIVES)
def corollary_9(log_actions: Numbers, horizon: Numbers, epsilon: Numbers) -> Numbers:
    """Bound regret of FTNL on any instance, by the proof of Corollary 9.

    T gap* + 1 + 512 (1 + ln K) / gap* + 256 (1 + ln K) (1 + log2(1 / gap*)) / epsilon. Gaps below
    gap* = sqrt(ln K / T) cost at most T gap*, brackets above it as in (57).
    """
    gap = np.sqrt(log_actions / horizon)
    per_bracket = 256 * (1 + log_actions)
    count = 1 + np.maximum(0, np.log2(1 / gap))
    return horizon * gap + 1 + 2 * per_bracket / gap + per_bracket * count / epsilon


@checks.arguments(log_actions=LOG_ACTIONS, horizon=HORIZONS, epsilon=POSITIVES)
def corollary_9_rate(log_actions: Numbers, horizon: Numbers, epsilon: Numbers) -> Numbers:
    """Return the printed rate sqrt(T ln K) + ln K log2 T / epsilon, constant 1."""
    return np.sqrt(horizon * log_actions) + log_actions * np.log2(horizon) / epsilon


@checks.arguments(log_actions=LOG_ACTIONS, epsilon=POSITIVES)
def theorem_10(log_actions: Numbers, epsilon: Numbers) -> Numbers:
    """Return the regret 0.2 x 0.49 ln K / (10 epsilon) that some instance forces.

    This is the privacy part of the bound, explicit in the proof, for round `theorem_10_rounds`.

    Examples
    --------
    >>> round(float(theorem_10(np.log(1000), epsilon=0.5)), 4)
    0.1354
    """
    return 0.2 * 0.49 * log_actions / (10 * epsilon)


@checks.arguments(log_actions=LOG_ACTIONS, gap=GAPS, epsilon=POSITIVES)
def theorem_10_rounds(log_actions: Numbers, gap: Numbers, epsilon: Numbers) -> Numbers:
    """Return m* = ln K / (10 epsilon gap), the rounds that selection needs.

    Up to that round no epsilon-DP algorithm can tell which action is best.
    """
    return log_actions / (10 * epsilon * gap)


@checks.arguments(log_actions=LOG_ACTIONS, rounds=ROUNDS, gap=GAPS, epsilon=POSITIVES)
def selection_error(
    log_actions: Numbers, rounds: Numbers, gap: Numbers, epsilon: Numbers
) -> Numbers:
    """Return the right side of (58), 0.45 min(1, (K - 1) exp(-10 epsilon n gap)).

    On some instance of the packing every epsilon-DP selector has at least this error probability
    after n rounds.
    """
    log_others = log_actions + np.log1p(-np.exp(-log_actions))
    return 0.45 * np.exp(np.minimum(0.0, log_others - 10 * epsilon * np.asarray(rounds) * gap))


@checks.arguments(actions=ACTIONS, gap=GAPS, epsilon=POSITIVES)
def naive_rate(actions: Numbers, gap: Numbers, epsilon: Numbers) -> Numbers:
    """Return the rate of naive FTNL, max(ln K / gap, K ln K / epsilon), constant 1."""
    return np.maximum(np.log(actions) / gap, actions * np.log(actions) / epsilon)
