"""AdaP-KLUCB (Azize and Basu 2022)."""

import math
from dataclasses import dataclass

import numpy as np

from privregret.bandits.base import PrivateBandit
from privregret.bandits.index import leader, report
from privregret.bandits.queues import HUGE, add, foremost, no_queues, take
from privregret.core import checks
from privregret.core.algorithm import Steps
from privregret.core.jit import jit
from privregret.core.noise import laplace, successes
from privregret.divergence import kl, kl_inverse, kl_inverse_bound

ARM = np.dtype(
    [
        ("mean", float),  # private mean of the last episode
        ("size", np.int64),  # its length
        ("pulls", np.int64),
        ("index", float),
    ]
)
EPISODE = np.dtype(
    [
        ("leader", np.int64),
        ("end", np.int64),  # the round after the episode
        ("total", float),
    ]
)


@jit
def _leader(arms, t, settings, rng):
    """Return an arm with the largest index in round t: see `AdaPKLUCB`."""
    epsilon, alpha, log_t = settings.epsilon, settings.alpha, math.log(t)
    for j in range(len(arms)):
        bonus = alpha * log_t / arms[j]["size"]
        center = min(max(arms[j]["mean"] + bonus / epsilon, 0.0), 1.0)
        arms[j]["index"] = kl_inverse(center, bonus)
    return leader(arms, rng)


@jit
def _choose(arms, state, settings, t, rng):
    """Pull the leader for as many rounds as it has pulls."""
    if t < state["end"]:
        return state["leader"]
    j = t - 1 if t <= len(arms) else _leader(arms, t, settings, rng)
    arms[j]["size"] = max(arms[j]["pulls"], 1)
    state["leader"], state["end"], state["total"] = j, t + arms[j]["size"], 0.0
    return j


@jit
def _observe(arms, state, settings, t, j, reward, rng):
    """Add the reward; at the end of an episode take its noisy mean."""
    state["total"] += reward
    if t + 1 == state["end"]:
        arm = arms[j]
        arm["pulls"] += arm["size"]
        arm["mean"] = (state["total"] + laplace(1 / settings.epsilon, rng)) / arm["size"]


@jit
def _next(arms, queues, t, settings, rng):
    """Remove the arm with the largest index in round t from its queue.

    Arms whose index has reached 1 are in the queue of 0 pulls.
    """
    epsilon, alpha, log_t = settings.epsilon, settings.alpha, math.log(t)
    while True:
        q, bound, second = foremost(queues, log_t)
        size, value, slope = queues[q]["pulls"], 1.0, 0.0
        if size == 0:
            if bound == 1:
                return take(arms, queues, q)
        else:
            bonus = alpha * log_t / size
            x = arms[queues[q]["head"]]["mean"] + bonus / epsilon
            if bound >= 1:
                # Pinsker's inequality
                bound = max(x, 0.0) + math.sqrt(bonus / 2)
            if bound >= 1:
                bound = kl_inverse_bound(min(max(x, 0.0), 1.0), bonus)
                # the index stays 1
                if bound >= 1:
                    add(arms, queues, 0, take(arms, queues, q), 1.0, False, rng)
                    continue
            y = min(bound, second)
            if x <= 0:
                value, slope = -math.expm1(-bonus), HUGE
                if value >= second:
                    return _any(arms, queues, q, rng)
            elif y <= x:
                return take(arms, queues, q)
            else:
                step = y * (1 - y) / (y - x)
                # a step of Newton's method, from above
                value = y - (kl(x, y) - bonus) * step
                if value >= second:
                    return take(arms, queues, q)
                logits = math.log(x * (1 - y) / (y * (1 - x)))
                slope = alpha / size * (1 - logits / epsilon) * step
        queues[q]["value"], queues[q]["slope"], queues[q]["place"] = value, slope, log_t


@jit
def _any(arms, queues, q, rng):
    """Remove a random arm from a queue in which all tie, their means clipped to 0.

    It is short, and this rare.
    """
    size = queues[q]["pulls"]
    chosen, seen = take(arms, queues, q), 1
    others = [chosen]
    while queues[q]["head"] >= 0:
        others.append(take(arms, queues, q))
        seen += 1
        if seen * rng.random() < 1:
            chosen = others[-1]
    for j in others:
        if j != chosen:
            add(arms, queues, size, j, arms[j]["mean"], False, rng)
    return chosen


@jit
def _pull_counts(means, checkpoints, settings, rng):
    horizon, arms = checkpoints[-1], len(means)
    counts = np.empty((len(checkpoints), arms), np.int64)
    pulls = np.zeros(arms, np.int64)
    # one queue per length of the last episode
    waiting, queues = no_queues(arms)
    reported = t = 0
    while t < horizon:
        j = t if t < arms else _next(waiting, queues, t + 1, settings, rng)
        size = max(pulls[j], 1)
        reported = report(counts, checkpoints, reported, pulls, j, t + size)
        t += size
        pulls[j] += size
        mean = (successes(size, means[j], rng) + laplace(1 / settings.epsilon, rng)) / size
        add(waiting, queues, size, j, mean, False, rng)
    return counts


@dataclass(frozen=True)
class AdaPKLUCB(PrivateBandit):
    """AdaP-KLUCB: each choice doubles an arm's pulls; older episodes are forgotten.

    With n the length of the arm's last episode and m its private mean, the index in round t is the
    largest q in [0, 1] with n kl(c, q) <= alpha ln t, where c = m + alpha ln t / (epsilon n),
    clipped to [0, 1].
    Deviations: ties are broken at random, which the paper leaves open.

    Privacy: epsilon-DP for the sequence of actions when one round's rewards are replaced, since
    each reward enters exactly one released sum, with Laplace noise of scale 1 / epsilon. Anytime,
    O(K) memory.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, in [1e-6, 1e6].
    alpha : float
        Exploration rate, above 0. The regret bound needs more than 3; all comparisons use 3.1.
    """

    alpha: float = 3.1
    id = "adap-klucb"
    label = "AdaP-KLUCB"
    source = "Azize and Basu 2022, Algorithm 1; azize2025, Section 5"
    rules = {"epsilon": checks.epsilon, "alpha": checks.positive}

    steps = Steps(ARM, EPISODE, _choose, _observe)
    fast_run = _pull_counts
