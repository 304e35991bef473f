"""AdaP-KLUCB (Azize and Basu 2022)."""

import math
from dataclasses import dataclass

import numpy as np

from privregret.bandits.base import PrivateBandit
from privregret.bandits.index import leader, noisy_mean, report
from privregret.bandits.queues import HUGE, add, foremost, no_queues, take
from privregret.core import checks
from privregret.core.algorithm import Steps
from privregret.core.jit import jit
from privregret.core.noise import successes
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
def _center(mean, size, log_t, settings):
    """Return c, not yet clipped, and the level alpha ln t / n of an index: see `AdaPKLUCB`."""
    level = settings.alpha * log_t / size
    return mean + level / settings.epsilon, level


@jit
def _leader(arms, t, settings, rng):
    """Return an arm with the largest index in round t: see `AdaPKLUCB`."""
    for j in range(len(arms)):
        center, level = _center(arms[j]["mean"], arms[j]["size"], math.log(t), settings)
        arms[j]["index"] = kl_inverse(min(max(center, 0.0), 1.0), level)
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
        arm["mean"] = noisy_mean(state["total"], arm["size"], settings.epsilon, rng)


@jit
def _next(arms, queues, t, settings, rng):
    """Remove the arm with the largest index in round t from its queue.

    Arms whose index has reached 1 are in the queue of 0 pulls.
    """
    log_t = math.log(t)
    while True:
        q, bound, second = foremost(queues, log_t)
        size, value, slope = queues[q]["pulls"], 1.0, 0.0
        if size == 0:
            if bound == 1:
                return take(arms, queues, q)
        else:
            x, level = _center(arms[queues[q]["head"]]["mean"], size, log_t, settings)
            if bound >= 1:
                # Pinsker's inequality
                bound = max(x, 0.0) + math.sqrt(level / 2)
            if bound >= 1:
                bound = kl_inverse_bound(min(max(x, 0.0), 1.0), level)
                # the index stays 1
                if bound >= 1:
                    add(arms, queues, 0, take(arms, queues, q), 1.0, False, rng)
                    continue
            y = min(bound, second)
            if x <= 0:
                value, slope = -math.expm1(-level), HUGE
                if value >= second:
                    return _any(arms, queues, q, rng)
            elif y <= x:
                return take(arms, queues, q)
            else:
                step = y * (1 - y) / (y - x)
                # a step of Newton's method, from above
                value = y - (kl(x, y) - level) * step
                if value >= second:
                    return take(arms, queues, q)
                logits = math.log(x * (1 - y) / (y * (1 - x)))
                slope = settings.alpha / size * (1 - logits / settings.epsilon) * step
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
        mean = noisy_mean(successes(size, means[j], rng), size, settings.epsilon, rng)
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
