"""Lazy-DP-TS (Hu and Hegde 2022)."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from privregret.bandits.base import PrivateBandit
from privregret.bandits.index import report
from privregret.bandits.lazy_ucb import ARM, AnytimeLazyUCB, observe
from privregret.core.algorithm import NOTHING, Steps
from privregret.core.jit import jit
from privregret.core.noise import laplace, successes

BONUS = 3.0


@jit
def _choose(arms, own, settings, t, rng):
    """Play each arm once, then the one with the largest draw from its posterior."""
    if t <= len(arms):
        return t - 1
    log_t = math.log(t)
    best, chosen = -1.0, 0
    for j in range(len(arms)):
        n = arms[j]["size"]
        u = min(max(arms[j]["mean"] + BONUS * log_t / (settings.epsilon * n), 0.0), 1.0)
        draw = rng.beta(u * n + 1, (1 - u) * n + 1)
        if draw > best:
            best, chosen = draw, j
    return chosen


class LazyArms(NamedTuple):
    """The state of the K arms between releases, as arrays."""

    mean: np.ndarray  # private mean of the last full array
    size: np.ndarray  # its size 2^r, as a float
    missing: np.ndarray  # pulls until the array being filled, of size 2^(r + 1), is full
    pulls: np.ndarray  # number of all pulls


@jit
def _gamma(shape, rng):
    """Draw from a gamma law of shape at least 1 (Marsaglia and Tsang), faster than `Generator`."""
    d = shape - 1 / 3
    c = 1 / math.sqrt(9 * d)
    while True:
        x = rng.standard_normal()
        v = 1 + c * x
        if v > 0:
            v = v * v * v
            x = x * x
            u = rng.random()
            if u < 1 - 0.0331 * x * x or math.log(u) < 0.5 * x + d * (1 - v + math.log(v)):
                return d * v


@jit
def _beta(u, size, rng):
    """Draw from Beta(u size + 1, (1 - u) size + 1)."""
    if u >= 1:
        return math.exp(-rng.standard_exponential() / (size + 1))
    x = _gamma(u * size + 1, rng)
    return x / (x + _gamma((1 - u) * size + 1, rng))


@jit
def _tail_mass(u, size, cut):
    """Return a bound on P[Beta(u size + 1, (1 - u) size + 1) is beyond `cut`].

    The tail lies on the side of `cut` away from u. The density is log-concave, hence below
    density(cut) exp(-slope |x - cut|) there, and the bound is the integral of this.
    """
    a, b = u * size, (1 - u) * size
    log_density = math.lgamma(size + 2) - math.lgamma(a + 1) - math.lgamma(b + 1)
    log_density = log_density + a * math.log(cut) + b * math.log1p(-cut)
    return math.exp(log_density) * cut * (1 - cut) / (size * abs(u - cut))


@jit
def _tail_draw(u, size, cut, rng):
    """Draw from below the bound of `_tail_mass`; return nan for a rejection.

    A draw above the density is rejected.
    """
    distance = rng.standard_exponential() * cut * (1 - cut) / (size * abs(u - cut))
    x = cut + distance if u < cut else cut - distance
    if not 0 < x < 1:
        return math.nan
    log_ratio = size * (u * math.log(x / cut) + (1 - u) * math.log((1 - x) / (1 - cut)))
    log_ratio = log_ratio + distance * size * abs(u - cut) / (cut * (1 - cut))
    return x if -rng.standard_exponential() < log_ratio else math.nan


@jit
def _monotone(u, size, cut, above):
    """Return whether `_tail_mass` at this u bounds it for all smaller or larger u.

    Smaller u are meant for the tail above `cut`, larger u for the tail below. The bound holds if
    logit(cut) is beyond digamma(a) - digamma(b), since ln density(cut) has that derivative in u; by
    ln x - 1/x < digamma(x) < ln x - 1/(2x).
    """
    a, b = u * size + 1, (1 - u) * size + 1
    logit = math.log(cut / (1 - cut))
    if above:
        return u < cut and logit >= math.log(a / b) - 0.5 / a + 1 / b
    return u > cut and logit <= math.log(a / b) - 1 / a + 0.5 / b


@jit
def _go_on(means, checkpoints, epsilon, arms, rng):
    """Return pull counts at later checkpoints, and advance `arms` to the last one."""
    # Rounds whose outcome is certain are skipped without changing the distribution. Take a leader b
    # and a cut between its posterior and the others'. In a round in which b draws above the cut and
    # no other arm does, b is pulled. A draw on the wrong side of the cut is called a surprise. The
    # bound of `_tail_mass` at the worse end of a stretch of rounds (u grows with ln t) dominates
    # the probability of a surprise in each of its rounds, so rounds with a possible surprise come
    # at geometric intervals. In these rounds each possible surprise is accepted by rejection
    # sampling, which also gives its value, and the other draws are made conditionally on being no
    # surprise. If posteriors overlap too much, every round is played.
    mean, size, missing, pulls = arms
    k = len(means)
    counts = np.empty((len(checkpoints), k), np.int64)
    # factor of ln t
    bonus = BONUS / (epsilon * size)
    u = np.empty(k)
    # u in the first and the last round of a stretch
    low, high = np.empty(k), np.empty(k)
    # bounds on the probability of a surprise
    mass = np.empty(k)
    # ln of the probability of no possible surprise in arms j, j + 1, ...
    none = np.zeros(k + 1)
    draw = np.empty(k)
    reported = 0
    t = pulls.sum()
    while reported < len(checkpoints):
        last = t + 1 + t // 16
        b = 0
        for j in range(k):
            low[j] = min(max(mean[j] + bonus[j] * math.log(t + 1), 0.0), 1.0)
            high[j] = min(max(mean[j] + bonus[j] * math.log(last), 0.0), 1.0)
            if low[j] > low[b]:
                b = j
        margin, cut = math.inf, 0.0
        deviation = math.sqrt((low[b] * (1 - low[b]) + 1 / size[b]) / size[b])
        for j in range(k):
            if j != b:
                other = math.sqrt((high[j] * (1 - high[j]) + 1 / size[j]) / size[j])
                ratio = (low[b] - high[j]) / (deviation + other)
                if ratio < margin:
                    margin, cut = ratio, low[b] - ratio * deviation
        skip = margin > 0.8 and 0 < cut < 1
        if skip:
            for j in range(k - 1, -1, -1):
                extreme = low[j] if j == b else high[j]
                skip = skip and _monotone(extreme, size[j], cut, j != b)
                mass[j] = 1.0
                if skip:
                    # allows for rounding
                    mass[j] = 1.000001 * _tail_mass(extreme, size[j], cut)
                if mass[j] > 0.3:
                    skip = False
                    break
                none[j] = none[j + 1] + math.log1p(-mass[j])
            skip = skip and none[0] > -0.4
        if not skip:
            last = min(last, t + 64)
        released = False
        while t < last and not released and reported < len(checkpoints):
            certain, most = 0, 1
            if skip:
                most = min(last - t, missing[b])
                wait = rng.standard_exponential() / max(-none[0], 1e-300)
                certain = np.int64(wait) if wait < most else most
                reported = report(counts, checkpoints, reported, pulls, b, t + certain)
                t += certain
                pulls[b] += certain
                missing[b] -= certain
                chosen = b
                if certain < most:
                    log_t = math.log(t + 1)
                    possible = surprise = False
                    for j in range(k):
                        u[j] = min(max(mean[j] + bonus[j] * log_t, 0.0), 1.0)
                        chance = mass[j] if possible else mass[j] / -math.expm1(none[j])
                        draw[j] = math.nan
                        if rng.random() < chance:
                            possible = True
                            if rng.random() * mass[j] < _tail_mass(u[j], size[j], cut):
                                draw[j] = _tail_draw(u[j], size[j], cut, rng)
                                surprise = surprise or not math.isnan(draw[j])
                    if surprise:
                        # otherwise arms below the cut cannot win
                        everybody = not math.isnan(draw[b])
                        best = -1.0
                        for j in range(k):
                            if math.isnan(draw[j]):
                                if j != b and not everybody:
                                    continue
                                draw[j] = _beta(u[j], size[j], rng)
                                while (draw[j] < cut) if j == b else (draw[j] > cut):
                                    draw[j] = _beta(u[j], size[j], rng)
                            if draw[j] > best:
                                best, chosen = draw[j], j
            else:
                log_t = math.log(t + 1)
                best, chosen = -1.0, 0
                for j in range(k):
                    value = _beta(min(max(mean[j] + bonus[j] * log_t, 0.0), 1.0), size[j], rng)
                    if value > best:
                        best, chosen = value, j
            if certain < most:
                t += 1
                pulls[chosen] += 1
                missing[chosen] -= 1
                if reported < len(checkpoints) and t == checkpoints[reported]:
                    for i in range(k):
                        counts[reported, i] = pulls[i]
                    reported += 1
            if missing[chosen] == 0:
                released = True
                size[chosen] *= 2
                total = successes(np.int64(size[chosen]), means[chosen], rng)
                mean[chosen] = (total + laplace(1 / epsilon, rng)) / size[chosen]
                bonus[chosen] = BONUS / (epsilon * size[chosen])
                missing[chosen] = 2 * np.int64(size[chosen])
    return counts


@jit
def _pull_counts(means, checkpoints, settings, rng):
    # Rounds whose outcome is certain are skipped; an array's sum is one binomial draw.
    k, epsilon = len(means), settings.epsilon
    counts = np.empty((len(checkpoints), k), np.int64)
    arms = LazyArms(np.empty(k), np.ones(k), np.full(k, 2), np.zeros(k, np.int64))
    reported = 0
    for j in range(k):
        reported = report(counts, checkpoints, reported, arms.pulls, j, j + 1)
        arms.pulls[j] = 1
        arms.mean[j] = successes(1, means[j], rng) + laplace(1 / epsilon, rng)
    later = _go_on(means, checkpoints[reported:], epsilon, arms, rng)
    for row in range(len(later)):
        for j in range(k):
            counts[reported + row, j] = later[row, j]
    return counts


@dataclass(frozen=True)
class LazyDPTS(PrivateBandit):
    """Lazy-DP-TS: Thompson sampling from optimistic private means of full arrays.

    Arrays hold 2, 4, 8, ... pulls, and each full array gives one noisy sum. An arm whose last full
    array holds n = 2^r pulls with private mean m has u = m + 3 ln t / (epsilon n), clipped to [0,
    1]. In every round t each arm draws from Beta(u n + 1, (1 - u) n + 1), and the arm with the
    largest draw is pulled.

    The paper's text was not available. This class follows a published description, and takes the
    arrays, the noise of the first pull and the bonus from Anytime-Lazy-UCB, its sister algorithm.
    The constant 3 and the natural logarithm come from these.

    Privacy: epsilon-DP for the sequence of actions when one round's rewards are replaced, since
    each reward enters exactly one released sum, with Laplace noise of scale 1 / epsilon. Anytime,
    O(K) memory. Twin: tests/naive/azize2025.py, `LazyDPTS`.
    """

    id = "lazy-dp-ts"
    label = "Lazy-DP-TS"
    source = "Hu and Hegde 2022; azize2025, Section 5"

    steps = Steps(ARM, NOTHING, _choose, observe)
    events = _pull_counts
    settings = AnytimeLazyUCB.settings
