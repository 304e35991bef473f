"""DP-KLUCB and DP-IMED (azize2025, Algorithm 1)."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from privregret import checks
from privregret.algorithm import Privacy
from privregret.bandits.base import BanditAlgorithm
from privregret.bandits.queues import HUGE, add, foremost, no_queues, take
from privregret.bandits.reporting import report
from privregret.divergence import TINY, d_epsilon, d_epsilon_inverse, kl
from privregret.jit import jit
from privregret.noise import laplace

KLUCB, IMED = 0, 1
TIES = ("random", "first")


class BatchSettings(NamedTuple):
    """What kernels are told."""

    epsilon: float
    ends: np.ndarray  # pulls of an arm after each of its batches
    rule: int  # KLUCB or IMED
    first: bool  # of arms with equal indices
    optimism: float = 1.0  # times ln t in DP-KLUCB's index; the algorithm's own is 1
    forget: bool = False  # whether only an arm's last batch counts; the algorithms' own is no


@dataclass(frozen=True)
class GeometricBatches(BanditAlgorithm):
    """What DP-KLUCB and DP-IMED share: arms are pulled in growing batches, and no reward is ever dropped.

    Each arm is pulled for its batch 0 first. Then the arm with the best index is pulled for its next batch, whose sum,
    with Laplace noise of scale 1 / epsilon, is added to the arm's noisy sum. Only the indices clip means to [0, 1].

    Privacy: epsilon-DP for the sequence of actions when one round's rewards in [0, 1] are replaced, since each
    reward enters exactly one noisy batch sum (Proposition 4.2). Anytime, O(K) memory.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, above 0.
    alpha : float
        Ratio of the batches, at least 1.001: after batch m an arm has ceil(n0 (alpha^(m + 1) - 1) / (alpha - 1))
        pulls (equation 14). Taken as the decimal that it prints as: 1.1 is 11 / 10.
    n0 : int
        Length of an arm's first batch, at least 1.
    ties : {"random", "first"}
        Which of the arms with exactly equal indices is pulled; the paper does not say. The index of DP-KLUCB is
        exactly 1 until an arm has about ln t / (epsilon (1 - mean)) pulls, so there are many ties.
    power : int
        If above 0, batch m has n0 (m + 1)^power pulls and alpha plays no part (last remark of Appendix F).
    """

    epsilon: float
    alpha: float = 2.0
    n0: int = 1
    ties: str = "random"
    power: int = 0
    source = "azize2025, Algorithm 1"
    rules = {
        "epsilon": checks.positive,
        "alpha": checks.number_in(1.001, math.inf),
        "n0": checks.positive_int,
        "ties": checks.one_of(*TIES),
        "power": checks.integer_in(0, 62),
    }

    @property
    def privacy(self):
        return Privacy(self.epsilon, self.epsilon)

    def _play(self, rewards, rng):
        return _play(rewards, self._settings(len(rewards)), rng)

    def _kernel(self, means, rounds):
        """Batch by batch: O(K log T) binomial and Laplace draws, whatever the horizon."""
        return _pull_counts, (means, rounds, self._settings(rounds[-1]), -1, np.empty(0))

    def _settings(self, horizon):
        ends = batch_ends(self.alpha, self.n0, self.power, int(horizon))
        return BatchSettings(self.epsilon, ends, self.rule, self.ties == "first")


class DPKLUCB(GeometricBatches):
    """DP-KLUCB: the index is the largest mu with n d_epsilon(mean, mu) <= ln t; the largest index wins (equation 12).

    n is the arm's number of pulls, t the round about to be played. Parameters and privacy: `GeometricBatches`.
    """

    label = "DP-KLUCB"
    rule = KLUCB


class DPIMED(GeometricBatches):
    """DP-IMED: the index is n d_epsilon(mean, largest mean) + ln n; the smallest index wins (equation 13).

    n is the arm's number of pulls. Parameters and privacy: `GeometricBatches`.
    """

    label = "DP-IMED"
    rule = IMED


@lru_cache(maxsize=256)
def batch_ends(alpha: float, n0: int, power: int, horizon: int) -> np.ndarray:
    """Pulls of an arm after its batches 0, 1, 2, ..., the last of them at least `horizon`; int64, read-only.

    Computed in integers: rounding in alpha^m must not move the end of a batch by one pull.
    """
    alpha, n0 = checks.number_in(1.001, math.inf)("alpha", alpha), checks.positive_int("n0", n0)
    power, horizon = checks.nonnegative_int("power", power), checks.positive_int("horizon", horizon)
    ratio = Fraction(repr(alpha))
    ends, numerator, denominator = [n0], 1, 1  # of 1 + ratio + ... + ratio^m
    while ends[-1] < horizon:
        if power:
            ends.append(ends[-1] + n0 * (len(ends) + 1) ** power)
        else:
            denominator *= ratio.denominator
            numerator = numerator * ratio.numerator + denominator  # Horner's rule
            ends.append(-(-n0 * numerator // denominator))
    ends[-1] = min(ends[-1], 2**62)
    table = np.array(ends, np.int64)
    table.flags.writeable = False
    return table


@jit
def _leader(mean, pulls, t, settings, rng):
    """Arm with the best index in round t, `pulls` behind each mean; of several, the first or one at random."""
    epsilon, rule, first = settings.epsilon, settings.rule, settings.first
    log_t = settings.optimism * math.log(t)
    top = min(max(mean.max(), 0.0), 1.0)
    best, leader, ties = math.inf, 0, 0
    for j in range(len(mean)):
        x = min(max(mean[j], 0.0), 1.0)
        if rule == IMED:
            index = pulls[j] * d_epsilon(x, top, epsilon) + math.log(pulls[j])
        elif x < -best and pulls[j] * d_epsilon(x, -best, epsilon) > log_t * (1 + 1e-9):
            continue  # cannot reach the best index so far: seen without working its own out
        else:
            index = -d_epsilon_inverse(x, log_t / pulls[j], epsilon)
        if index < best:
            best, leader, ties = index, j, 1
        elif index == best and not first:
            ties += 1
            if ties * rng.random() < 1:
                leader = j
    return leader


@jit
def _play(rewards, settings, rng):
    ends = settings.ends
    horizon, arms = rewards.shape
    actions = np.empty(horizon, np.int64)
    noisy_sum = np.zeros(arms)
    mean = np.zeros(arms)
    behind = np.zeros(arms, np.int64)  # pulls that the mean is of
    pulls = np.zeros(arms, np.int64)
    batches = np.zeros(arms, np.int64)  # completed
    started = 0
    t = 0  # rounds played
    while t < horizon:
        if started < arms:
            j = started
            started += 1
        else:
            j = _leader(mean, behind, t + 1, settings, rng)
        total, before = 0.0, pulls[j]
        while pulls[j] < ends[batches[j]] and t < horizon:
            actions[t] = j
            total += rewards[t, j]
            pulls[j] += 1
            t += 1
        if pulls[j] == ends[batches[j]]:
            kept, behind[j] = (0.0, pulls[j] - before) if settings.forget else (noisy_sum[j], pulls[j])
            noisy_sum[j] = kept + (total + laplace(1 / settings.epsilon, rng))
            mean[j] = noisy_sum[j] / behind[j]
            batches[j] += 1
    return actions


@jit
def _tangent(x, y, epsilon, shrink, gone):
    """d_epsilon and its derivative in y, for x <= y; shrink = e^-epsilon, gone = 1 - shrink. Good to 1e-16 epsilon."""
    rest = 1 - y + y * shrink
    if y >= 1:
        return epsilon * (1 - x), gone / max(rest, TINY)
    if x * rest < y * shrink:  # the logits differ by more than epsilon
        return -(math.log1p(-y * gone) if rest > 0.5 else math.log(rest)) - epsilon * x, gone / rest
    return kl(x, y), (y - x) / max(y * (1 - y), TINY)


@jit
def _next_klucb(arms, queues, t, settings, shrink, gone, rng):
    """Take the arm with the largest index in round t out of its queue. Of 0 pulls are those at 1."""
    epsilon = settings.epsilon
    log_t = settings.optimism * math.log(t)
    while True:
        q, bound, second = foremost(queues, log_t)
        x, n = arms[queues[q]["head"]]["mean"], queues[q]["pulls"]
        value, slope = 1.0, 0.0
        if n == 0:
            if bound == 1:
                return take(arms, queues, q)
        elif bound >= 1:
            rest = math.exp(-epsilon * x - log_t / n)
            value, slope = (1 - rest) / gone, rest / (gone * n)  # the index, or more, where the logits differ by less
            if value >= 1 or log_t >= n * epsilon * (1 - x):
                value, slope = d_epsilon_inverse(x, log_t / n, epsilon), HUGE  # 1 may be but what the bound rounds to
            if value == 1:  # and so it stays
                add(arms, queues, 0, take(arms, queues, q), 1.0, settings.first, rng)
                continue
        else:
            if second <= x:
                return take(arms, queues, q)
            d, by_y = _tangent(x, second, epsilon, shrink, gone)
            slope = 1 / max(n * by_y, TINY)
            value = second - (n * d - log_t) * slope  # a step of Newton's from above
            if value >= second:
                return take(arms, queues, q)
        queues[q]["value"], queues[q]["slope"], queues[q]["place"] = value, slope, log_t


@jit
def _next_imed(arms, queues, epsilon, shrink, gone):
    """Take the arm with the smallest index, which depends on the largest mean, out of its queue."""
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
            value = -n * d - math.log(n)
            queues[q]["value"], queues[q]["slope"], queues[q]["place"] = value, max(-n * by_y, -HUGE), top
        if value >= second:
            return take(arms, queues, q)


@jit
def _pull_counts(means, rounds, settings, given_arm, given, rng):
    """Pulls of each arm in rounds 1..rounds[h]; the noisy sums of one arm's first batches may be given (see `rare`)."""
    ends = settings.ends
    horizon, arms = rounds[-1], len(means)
    counts = np.empty((len(rounds), arms), np.int64)
    noisy_sum = np.zeros(arms)
    pulls = np.zeros(arms, np.int64)
    batches = np.zeros(arms, np.int64)
    waiting, queues = no_queues(arms)
    shrink, gone = math.exp(-settings.epsilon), -math.expm1(-settings.epsilon)
    started = 0
    reported = 0
    t = 0
    while t < horizon:
        if started < arms:
            j = started
            started += 1
        else:
            j = (
                _next_imed(waiting, queues, settings.epsilon, shrink, gone)
                if settings.rule == IMED
                else _next_klucb(waiting, queues, t + 1, settings, shrink, gone, rng)
            )
        size = ends[batches[j]] - pulls[j]
        played = min(size, horizon - t)
        reported = report(counts, rounds, reported, pulls, j, t + played)
        pulls[j] += played
        t += played
        if played == size:
            if j == given_arm and batches[j] < len(given):
                noisy = given[batches[j]]
            else:
                noisy = rng.binomial(size, means[j]) + laplace(1 / settings.epsilon, rng)
            kept, behind = (0.0, size) if settings.forget else (noisy_sum[j], pulls[j])
            noisy_sum[j] = kept + noisy
            batches[j] += 1
            add(waiting, queues, behind, j, min(max(noisy_sum[j] / behind, 0.0), 1.0), settings.first, rng)
    return counts


@jit
def many_pull_counts(means, rounds, settings, given_arm, given, rng):
    """One run for each row of `given`: (runs, H, K)."""
    counts = np.empty((len(given), len(rounds), len(means)), np.int64)
    for run in range(len(given)):
        counts[run] = _pull_counts(means, rounds, settings, given_arm, given[run], rng)
    return counts
