"""DP-KLUCB and DP-IMED (azize2025, Algorithm 1)."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from privregret.bandits.base import PrivateBandit
from privregret.bandits.index import leader, report
from privregret.bandits.queues import HUGE, add, foremost, no_queues, take
from privregret.core import checks
from privregret.core.algorithm import Steps
from privregret.core.jit import jit
from privregret.core.noise import laplace, successes
from privregret.divergence import TINY, d_epsilon, d_epsilon_inverse

KLUCB, IMED = 0, 1


class BatchSettings(NamedTuple):
    """Parameters as the kernels take them."""

    epsilon: float
    ends: np.ndarray  # pulls of an arm after each of its batches
    rule: int  # KLUCB or IMED
    first: bool  # whether the first of the arms with equal indices is pulled, not a random one
    forget: bool = False  # whether only an arm's last batch counts
    optimism: float = 1.0  # factor of ln t


ARM = np.dtype(
    [
        ("noisy", float),  # sum of all its batches
        ("pulls", np.int64),  # number of pulls in `noisy`
        ("mean", float),
        ("index", float),
        ("batches", np.int64),  # number of completed batches
    ]
)
BATCH = np.dtype(
    [
        ("leader", np.int64),
        ("end", np.int64),  # the round after the batch
        ("total", float),
        ("started", np.int64),  # number of arms that had a batch
    ]
)


@jit
def _imed_index(divergence, pulls):
    """Return DP-IMED's index (13), of d_epsilon between the arm's mean and the largest mean."""
    return pulls * divergence + math.log(pulls)


@jit
def _leader(arms, log_t, settings, rng):
    """Return the arm with the best index, (12) or (13), at this ln t; ties by `settings`."""
    top = 0.0
    for j in range(len(arms)):
        top = min(max(top, arms[j]["mean"]), 1.0)
    for j in range(len(arms)):
        x, n = min(max(arms[j]["mean"], 0.0), 1.0), arms[j]["pulls"]
        if settings.rule == IMED:
            arms[j]["index"] = -_imed_index(d_epsilon(x, top, settings.epsilon), n)
        else:
            arms[j]["index"] = d_epsilon_inverse(x, log_t / n, settings.epsilon)
    return leader(arms, rng, settings.first)


@jit
def _size(batch, ends):
    """Return the pulls of batch 0, 1, ... of an arm."""
    return ends[batch] - (ends[batch - 1] if batch > 0 else 0)


@jit
def _end_batch(arm, noisy_sum, size, forget):
    """Add the noisy sum of a batch of that size, or forget the batches before."""
    if forget:
        arm["noisy"], arm["pulls"] = 0.0, 0
    arm["noisy"] += noisy_sum
    arm["pulls"] += size
    arm["mean"] = arm["noisy"] / arm["pulls"]
    arm["batches"] += 1


@jit
def _choose(arms, state, settings, t, rng):
    """Pull each arm for its batch 0, then the leader for its next batch (14)."""
    if t < state["end"]:
        return state["leader"]
    if state["started"] < len(arms):
        j = state["started"]
        state["started"] += 1
    else:
        j = _leader(arms, settings.optimism * math.log(t), settings, rng)
    state["leader"], state["total"] = j, 0.0
    state["end"] = t + _size(arms[j]["batches"], settings.ends)
    return j


@jit
def _observe(arms, state, settings, t, j, reward, rng):
    """Add the reward; at the end of a batch add its noisy sum."""
    state["total"] += reward
    if t + 1 == state["end"]:
        noisy_sum = state["total"] + laplace(1 / settings.epsilon, rng)
        _end_batch(arms[j], noisy_sum, _size(arms[j]["batches"], settings.ends), settings.forget)


@lru_cache(maxsize=256)
def batch_ends(alpha: float, n0: int, power: int, horizon: int) -> np.ndarray:
    """Return the pulls of an arm after its batches 0, 1, ..., up to `horizon` or more (14).

    The parameters are those of `GeometricBatches`. The result is int64 and read-only. It is
    computed in integers, because rounding in alpha^m could move the end of a batch by one pull.
    """
    ratio = Fraction(repr(float(alpha)))
    # the terms of 1 + ratio + ... + ratio^m
    ends, numerator, denominator = [n0], 1, 1
    while ends[-1] < horizon:
        if power:
            ends.append(ends[-1] + n0 * (len(ends) + 1) ** power)
        else:
            denominator *= ratio.denominator
            # Horner's rule
            numerator = numerator * ratio.numerator + denominator
            ends.append(-(-n0 * numerator // denominator))
    ends[-1] = min(ends[-1], 2**62)
    table = np.array(ends, np.int64)
    table.flags.writeable = False
    return table


@jit
def _tangent(x, y, epsilon, shrink, gone):
    """Return d_epsilon and its derivative in y, for x <= y."""
    rest = 1 - y + y * shrink
    # the logits differ by more than epsilon
    if y >= 1 or x * rest < y * shrink:
        slope = gone / max(rest, TINY)
    else:
        slope = (y - x) / max(y * (1 - y), TINY)
    return d_epsilon(x, y, epsilon), slope


@jit
def _next_klucb(arms, queues, log_t, settings, shrink, gone, rng):
    """Remove the arm with DP-KLUCB's largest index at this ln t from its queue.

    Arms whose index is 1 are in the queue of 0 pulls. `shrink` is e^-epsilon, `gone` the rest to 1.
    """
    epsilon = settings.epsilon
    while True:
        q, bound, second = foremost(queues, log_t)
        x, n = arms[queues[q]["head"]]["mean"], queues[q]["pulls"]
        value, slope = 1.0, 0.0
        if n == 0:
            if bound == 1:
                return take(arms, queues, q)
        elif bound >= 1:
            if log_t / n < epsilon * (1 - x):
                rest = math.exp(-epsilon * x - log_t / n)
                # the index, or an upper bound where the logits differ by less
                value, slope = (1 - rest) / gone, rest / (gone * n)
                if value >= 1 or log_t >= n * epsilon * (1 - x):
                    # the bound may only round to 1
                    value, slope = d_epsilon_inverse(x, log_t / n, epsilon), HUGE
            # the index stays 1
            if value == 1:
                add(arms, queues, 0, take(arms, queues, q), 1.0, settings.first, rng)
                continue
        else:
            if second <= x:
                return take(arms, queues, q)
            d, by_y = _tangent(x, second, epsilon, shrink, gone)
            slope = 1 / max(n * by_y, TINY)
            # a step of Newton's method, from above
            value = second - (n * d - log_t) * slope
            if value >= second:
                return take(arms, queues, q)
        queues[q]["value"], queues[q]["slope"], queues[q]["place"] = value, slope, log_t


@jit
def _next_imed(arms, queues, epsilon, shrink, gone):
    """Remove the arm with DP-IMED's smallest index from its queue.

    The index depends on the largest mean.
    """
    top, q = 0.0, 0
    while queues[q]["pulls"] >= 0:
        if queues[q]["head"] >= 0:
            top = max(top, arms[queues[q]["head"]]["mean"])
        q += 1
    while True:
        q, value, second = foremost(queues, top)
        if queues[q]["place"] != top:
            x, n = arms[queues[q]["head"]]["mean"], queues[q]["pulls"]
            d, by_y = _tangent(x, top, epsilon, shrink, gone)
            value = -_imed_index(d, n)
            queues[q]["value"], queues[q]["slope"] = value, max(-n * by_y, -HUGE)
            queues[q]["place"] = top
        if value >= second:
            return take(arms, queues, q)


@jit
def _batches(means, checkpoints, settings, sums_arm, sums, rng):
    """Return the pulls by the checkpoints; one arm's first noisy sums may be given."""
    epsilon, horizon = settings.epsilon, checkpoints[-1]
    arms = np.zeros(len(means), ARM)
    counts = np.empty((len(checkpoints), len(means)), np.int64)
    pulls = np.zeros(len(means), np.int64)
    waiting, queues = no_queues(len(means))
    shrink, gone = math.exp(-epsilon), -math.expm1(-epsilon)
    started = reported = t = 0
    while t < horizon:
        if started < len(arms):
            j = started
            started += 1
        elif settings.rule == IMED:
            j = _next_imed(waiting, queues, epsilon, shrink, gone)
        else:
            log_t = settings.optimism * math.log(t + 1)
            j = _next_klucb(waiting, queues, log_t, settings, shrink, gone, rng)
        batch = arms[j]["batches"]
        size = _size(batch, settings.ends)
        played = min(size, horizon - t)
        t += played
        reported = report(counts, checkpoints, reported, pulls, j, t)
        pulls[j] += played
        if played == size:
            if j == sums_arm and batch < len(sums):
                noisy_sum = sums[batch]
            else:
                noisy_sum = successes(size, means[j], rng) + laplace(1 / epsilon, rng)
            _end_batch(arms[j], noisy_sum, size, settings.forget)
            mean = min(max(arms[j]["mean"], 0.0), 1.0)
            add(waiting, queues, arms[j]["pulls"], j, mean, settings.first, rng)
    return counts


@jit
def _pull_counts(means, checkpoints, settings, rng):
    return _batches(means, checkpoints, settings, -1, np.empty(0), rng)


@jit
def _pull_counts_given(means, checkpoints, settings, arm, sums, rng):
    """Return (runs, H, K) pulls, given the first B noisy sums of an arm: (runs, B)."""
    counts = np.empty((len(sums), len(checkpoints), len(means)), np.int64)
    for run in range(len(sums)):
        pulls = _batches(means, checkpoints, settings, arm, sums[run], rng)
        for row in range(len(checkpoints)):
            for j in range(len(means)):
                counts[run, row, j] = pulls[row, j]
    return counts


@dataclass(frozen=True)
class GeometricBatches(PrivateBandit):
    """Batches that grow and no reward dropped: what DP-KLUCB and DP-IMED share.

    Each arm is first pulled for its batch 0. Then the arm with the best index is pulled for its
    next batch, whose sum, with Laplace noise of scale 1 / epsilon, is added to the arm's noisy sum.
    Only the indices clip means to [0, 1].

    Privacy: epsilon-DP for the sequence of actions when one round's rewards in [0, 1] are replaced,
    since each reward enters exactly one noisy batch sum (Proposition 4.2). Anytime, O(K) memory.
    Plain version: `in_batches` in the notebook azize2025/4-algorithms.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, in [1e-6, 1e6].
    alpha : float
        Ratio of the batches, at least 1.001: after batch m an arm has ceil(n0 (alpha^(m + 1) - 1) /
        (alpha - 1)) pulls (equation 14). The decimal that it prints as is used exactly: 1.1 is 11 /
        10.
    n0 : int
        Length of an arm's first batch, at least 1. About 8 / epsilon is better in the mean: the
        noise of shorter batches may hide the best arm for long.
    ties : {"random", "first"}
        Which of the arms with exactly equal indices is pulled; the paper does not specify it. The
        index of DP-KLUCB is exactly 1 until an arm has about ln t / (epsilon (1 - mean)) pulls, so
        ties are frequent.
    power : int
        If positive, batch m has n0 (m + 1)^power pulls, and alpha is not used (last remark of
        Appendix F).
    """

    alpha: float = 2.0
    n0: int = 1
    ties: str = "random"
    power: int = 0
    rule: ClassVar[int]  # KLUCB or IMED
    source = "azize2025, Algorithm 1"
    rules = {
        "epsilon": checks.epsilon,
        "alpha": checks.number_in(1.001, math.inf),
        "n0": checks.positive_int,
        "ties": checks.one_of("random", "first"),
        "power": checks.integer_in(0, 62),
    }

    steps = Steps(ARM, BATCH, _choose, _observe)
    fast_run = _pull_counts
    # `fast_run` with given noisy sums (see `rare`)
    fast_run_given = _pull_counts_given

    def settings(self, horizon: int | None, arms: int) -> BatchSettings:
        ends = batch_ends(self.alpha, self.n0, self.power, horizon or checks.MAX_ROUNDS)
        return BatchSettings(self.epsilon, ends, self.rule, self.ties == "first")

    def tail_index(self, problem: Any) -> float:
        """Return the exponent of the power tail of regret.

        P[regret >= x] falls about like this power of 1 / x, which is d_epsilon(0, best mean) /
        d_epsilon(0, second-best mean), times the number of best arms. After n pulls the best arm's
        private mean is 0 with probability about exp(-n d(0, best)). Then the arm waits until n d(0,
        second) is the logarithm of the second arm's pulls (DP-IMED) or of the round (DP-KLUCB).
        """
        means = getattr(problem, "means", [0.0])
        best = max(means)
        worse = [m for m in means if 0 < m < best]
        if not worse:
            return math.inf
        wait = d_epsilon(0.0, max(worse), self.epsilon)
        return sum(m == best for m in means) * d_epsilon(0.0, best, self.epsilon) / wait


class DPKLUCB(GeometricBatches):
    """DP-KLUCB: the index is the largest mu with n d_epsilon(mean, mu) <= ln t.

    The largest index wins (equation 12); n is the arm's number of pulls, and t the round about to
    be played (azize2025, Algorithm 1). Parameters and privacy as in `GeometricBatches`.
    Deviations: ties are broken at random by default, which the paper leaves open.
    """

    id = "dp-klucb"
    label = "DP-KLUCB"
    rule = KLUCB


class DPIMED(GeometricBatches):
    """DP-IMED: the index is n d_epsilon(mean, largest mean) + ln n.

    The smallest index wins (equation 13); n is the arm's number of pulls. Parameters and privacy as
    in `GeometricBatches` (azize2025, Algorithm 1).
    Deviations: ties are broken at random by default, which the paper leaves open.
    """

    id = "dp-imed"
    label = "DP-IMED"
    rule = IMED
