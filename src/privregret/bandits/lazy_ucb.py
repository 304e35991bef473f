"""Anytime-Lazy-UCB (hu2021, Algorithm 1)."""

import math
from dataclasses import dataclass

import numpy as np

from privregret.bandits.base import PrivateBandit
from privregret.bandits.index import noisy_mean, report
from privregret.bandits.queues import add, no_queues, take
from privregret.core.algorithm import NOTHING, Steps
from privregret.core.jit import jit
from privregret.core.noise import successes

ARM = np.dtype(
    [
        ("mean", float),  # private mean of the last full array
        ("size", np.int64),  # its size, 2^r
        ("total", float),  # sum of the array being filled, of size 2^(r + 1),
        ("filled", np.int64),  # and its number of pulls
    ]
)


@jit
def _index(mean, size, epsilon, log_t):
    """Return the index (4) of an arm."""
    return mean + math.sqrt(3 * log_t / size) + 3 * log_t / (epsilon * size)


@jit
def _choose(arms, state, settings, t, rng):
    """Play each arm once, then the first with the largest index (4)."""
    if t <= len(arms):
        return t - 1
    best, leader = -math.inf, 0
    for j in range(len(arms)):
        index = _index(arms[j]["mean"], arms[j]["size"], settings.epsilon, math.log(t))
        if index > best:
            best, leader = index, j
    return leader


@jit
def observe(arms, state, settings, t, j, reward, rng):
    """Add the reward; when the array of size 2^r is full, take its noisy mean (3)."""
    arm = arms[j]
    arm["total"] += reward
    arm["filled"] += 1
    if arm["filled"] == max(1, 2 * arm["size"]):
        arm["size"] = arm["filled"]
        arm["mean"] = noisy_mean(arm["total"], arm["size"], settings.epsilon, rng)
        arm["total"], arm["filled"] = 0.0, 0


@jit
def _leading_queue(arms, queues, epsilon, t):
    """Return the queue whose head has the largest index in round t; ties by arm."""
    log_t = math.log(t)
    best, leader, q = -math.inf, 0, 0
    while queues[q]["pulls"] >= 0:
        j, size = queues[q]["head"], queues[q]["pulls"]
        if j >= 0:
            index = _index(arms[j]["mean"], size, epsilon, log_t)
            if index > best or (index == best and j < queues[leader]["head"]):
                best, leader = index, q
        q += 1
    return leader


@jit
def _overtaken(arms, queues, leader, epsilon):
    """Return the round from which another arm leads, or more than 2^62 if it is later.

    An index is m + b s + c s^2 with s = sqrt(ln t), and b and c fall in the array's size. So the
    leader is overtaken only by arms with smaller arrays, at most once by each and for good: where s
    solves a quadratic equation.
    """
    size, mean = queues[leader]["pulls"], arms[queues[leader]["head"]]["mean"]
    root = math.sqrt(3 / size)
    # e^43 lies between 2^62 and 2^63
    first, q = 43.0, 0
    while queues[q]["pulls"] >= 0:
        j, smaller = queues[q]["head"], queues[q]["pulls"]
        if j >= 0 and smaller < size:
            ahead, b = mean - arms[j]["mean"], math.sqrt(3 / smaller) - root
            c = 3 / epsilon * (1 / smaller - 1 / size)
            s = 2 * ahead / (b + math.sqrt(b * b + 4 * ahead * c))
            first = min(first, s * s)
        q += 1
    return np.int64(math.exp(first)) + 1


@jit
def _pull_counts(means, checkpoints, settings, rng):
    """Pull the leader until its array is full or it is overtaken; a full sum is one draw."""
    epsilon, arms, horizon = settings.epsilon, len(means), checkpoints[-1]
    counts = np.empty((len(checkpoints), arms), np.int64)
    pulls = np.zeros(arms, np.int64)
    # pulls until the array being filled is full
    missing = np.ones(arms, np.int64)
    # one queue per size of the last full array
    waiting, queues = no_queues(arms)
    reported = 0
    t = 1
    while t <= horizon:
        j, q, size, end = t - 1, -1, 1, t + 1
        if t > arms:
            q = _leading_queue(waiting, queues, epsilon, t)
            j, size = queues[q]["head"], 2 * queues[q]["pulls"]
            # beyond 2^46 rounds the round of overtaking is only known to this precision
            earliest = t + 1 + (t >> 46)
            latest = max(earliest, _overtaken(waiting, queues, q, epsilon))
            end = min(t + missing[j], horizon + 1, latest)
        reported = report(counts, checkpoints, reported, pulls, j, end - 1)
        pulls[j] += end - t
        missing[j] -= end - t
        t = end
        if missing[j] == 0:
            if q >= 0:
                take(waiting, queues, q)
            mean = noisy_mean(successes(size, means[j], rng), size, epsilon, rng)
            add(waiting, queues, size, j, mean, True, rng)
            missing[j] = 2 * size
    return counts


@dataclass(frozen=True)
class AnytimeLazyUCB(PrivateBandit):
    """Anytime-Lazy-UCB: one noisy sum per full array; older arrays are forgotten.

    Arrays hold 2, 4, 8, ... pulls. The index of an arm whose last full array holds n = 2^r pulls
    with private mean m is m + sqrt(3 ln t / n) + 3 ln t / (epsilon n), t being the round about to
    be played (equation 4).

    Privacy: epsilon-DP for the sequence of actions when one round's rewards are replaced, since
    each reward enters exactly one released sum, with Laplace noise of scale 1 / epsilon. Anytime,
    O(K) memory. Plain version: `lazy_ucb` of notebook hu2021/4.
    Deviations: the first pull of an arm is array 0, with noise as in equation 3, of which Algorithm
    1 says nothing. Of equal indices the first arm's counts.
    """

    id = "lazy-ucb"
    label = "Anytime-Lazy-UCB"
    source = "hu2021, Algorithm 1"
    steps = Steps(ARM, NOTHING, _choose, observe)
    fast_run = _pull_counts
