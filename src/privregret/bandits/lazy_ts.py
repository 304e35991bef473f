"""Lazy-DP-TS (Hu and Hegde 2022)."""

import math
from dataclasses import dataclass

import numpy as np

from privregret.bandits.base import BanditAlgorithm
from privregret.bandits.index import report
from privregret.bandits.lazy_ucb import ARM, observe
from privregret.core import checks
from privregret.core.algorithm import EPSILON_DP, NOTHING, Steps
from privregret.core.jit import jit
from privregret.core.noise import successes
from privregret.core.typed import keep_alive


@jit
def _optimistic(arm, t, epsilon):
    """Return the optimistic private mean u of an arm in round t."""
    return min(max(arm["mean"] + 3 * math.log(t) / (epsilon * arm["size"]), 0.0), 1.0)


@jit
def _choose(arms, state, settings, t, rng):
    """Play each arm once, then the one with the largest draw from its posterior."""
    if t <= len(arms):
        return t - 1
    best, chosen = -1.0, 0
    for j in range(len(arms)):
        n, u = arms[j]["size"], _optimistic(arms[j], t, settings.epsilon)
        draw = rng.beta(u * n + 1, (1 - u) * n + 1)
        if draw > best:
            best, chosen = draw, j
    return chosen


@jit
def _log_density(u, n, x):
    """Return ln of the density of Beta(u n + 1, (1 - u) n + 1)."""
    a, b = u * n, (1 - u) * n
    log_factor = math.lgamma(n + 2) - math.lgamma(a + 1) - math.lgamma(b + 1)
    return log_factor + a * math.log(x) + b * math.log1p(-x)


@jit
def _decay(u, n, cut):
    """Return how fast this falls at a cut, and at least beyond."""
    return n * abs(u - cut) / (cut * (1 - cut))


@jit
def _find_cut(arms, t, last, epsilon, chances):
    """Return the leader of rounds t to `last` and a cut, or 0; bound the chances of surprises."""
    leader, nearest, cut, total = 0, math.inf, 0.0, 0.0
    u, deviations = np.empty(len(arms)), np.empty(len(arms))
    for j in range(len(arms)):
        u[j] = _optimistic(arms[j], t, epsilon)
        leader = j if u[j] > u[leader] else leader
    for j in range(len(arms)):
        # in time the other arms come closer
        u[j] = _optimistic(arms[j], t if j == leader else last, epsilon)
        deviations[j] = math.sqrt((u[j] * (1 - u[j]) + 1 / arms[j]["size"]) / arms[j]["size"])
    for j in range(len(arms)):
        ratio = (u[leader] - u[j]) / (deviations[leader] + deviations[j])
        if j != leader and ratio < nearest:
            nearest, cut = ratio, u[leader] - ratio * deviations[leader]
    # too close for so small chances, and farther than 1 / n otherwise
    if nearest < 1.5:
        return leader, 0.0
    for j in range(len(arms)):
        n = arms[j]["size"]
        chances[j] = math.exp(_log_density(u[j], n, cut)) / _decay(u[j], n, cut)
        total += chances[j]
    return leader, cut if total < 0.2 else 0.0


@jit
def _choose_by_cut(arms, leader, cut, t, epsilon, possible, chances, rng):
    """Play the arm with the largest draw in a round with possible surprises: see below."""
    best, chosen = -1.0, 0
    for j in range(len(arms)):
        n, u, side = arms[j]["size"], _optimistic(arms[j], t, epsilon), -1 if j == leader else 1
        a, b, decay = u * n + 1, (1 - u) * n + 1, _decay(u, n, cut)
        draw = rng.beta(a, b)
        while side * (draw - cut) > 0:
            draw = rng.beta(a, b)
        distance = rng.standard_exponential() / decay
        surprise = cut + side * distance
        if possible[j] and 0 < surprise < 1:
            log_bound = math.log(chances[j] * decay) - decay * distance
            if _log_density(u, n, surprise) > log_bound - rng.standard_exponential():
                draw = surprise
        if draw > best:
            best, chosen = draw, j
    return chosen


@jit
def _pull_counts(means, checkpoints, settings, rng):
    """Pull the leader in the rounds before the next possible surprise.

    A surprise is a draw on the wrong side of a cut between the leader's posterior and the others.
    Densities are log-concave, so beyond the cut they are below density(cut) exp(-decay distance).
    The integral of this bounds the chance of a surprise, also when u is farther away: density(cut)
    falls then, because the cut is at least 1 / n from u. So possible surprises come at geometric
    times, and rejection sampling decides on each.
    """
    epsilon, K, horizon = settings.epsilon, len(means), checkpoints[-1]
    arms, states = np.zeros(K, ARM), np.zeros(1, NOTHING)
    counts, pulls = np.empty((len(checkpoints), K), np.int64), np.zeros(K, np.int64)
    chances, waits = np.empty(K), np.empty(K)
    reported = t = 0
    # a round before which no cut is sought
    again = K
    while t < horizon:
        leader, cut, certain, left = 0, 0.0, 0, 1
        if t >= again:
            last = min(t + 1 + t // 16, horizon)
            leader, cut = _find_cut(arms, t + 1, last, epsilon, chances)
            again = t if cut > 0 else t + 64
        if cut > 0:
            left = min(2 * arms[leader]["size"] - arms[leader]["filled"], last - t)
            soonest = float(left)
            for j in range(K):
                rate = max(-math.log1p(-chances[j]), 1e-300)
                waits[j] = np.floor(rng.standard_exponential() / rate)
                soonest = min(soonest, waits[j])
            certain = np.int64(soonest)
        # the rounds before a possible surprise, and its round
        for j, rounds in ((leader, certain), (-1, min(left - certain, 1))):
            if rounds == 0:
                continue
            if j < 0 and cut > 0:
                possible = waits == certain
                j = _choose_by_cut(arms, leader, cut, t + 1, epsilon, possible, chances, rng)
            elif j < 0:
                j = _choose(arms, states[0], settings, t + 1, rng)
            reported = report(counts, checkpoints, reported, pulls, j, t + rounds)
            pulls[j] += rounds
            t += rounds
            arms[j]["filled"] += rounds - 1
            observe(arms, states[0], settings, t, j, successes(rounds, means[j], rng), rng)
    keep_alive(states)
    return counts


@dataclass(frozen=True)
class LazyDPTS(BanditAlgorithm):
    """Lazy-DP-TS: Thompson sampling from optimistic private means of full arrays.

    Arrays hold 2, 4, 8, ... pulls, and each full array gives one noisy sum. An arm whose last full
    array holds n = 2^r pulls with private mean m has u = m + 3 ln t / (epsilon n), clipped to [0,
    1]. In every round t each arm draws from Beta(u n + 1, (1 - u) n + 1), and the arm with the
    largest draw is pulled.
    Deviations: the paper's text was not available. This follows a published description, with the
    arrays, the noise of the first pull and the bonus of Anytime-Lazy-UCB, its sister algorithm. The
    constant 3 and the natural logarithm come from these.

    Privacy: epsilon-DP for the sequence of actions when one round's rewards are replaced, since
    each reward enters exactly one released sum, with Laplace noise of scale 1 / epsilon. Anytime,
    O(K) memory.
    """

    epsilon: float
    id = "lazy-dp-ts"
    label = "Lazy-DP-TS"
    source = "Hu and Hegde 2022; azize2025, Section 5"
    rules = {"epsilon": checks.epsilon}
    privacy = EPSILON_DP
    steps = Steps(ARM, NOTHING, _choose, observe)
    fast_run = _pull_counts
