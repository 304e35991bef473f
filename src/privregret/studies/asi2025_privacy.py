"""Compute exact privacy losses of small runs of the algorithms of asi2025.

The methods are enumeration and quadrature. There are two arms throughout. A path is a sequence of
actions, read as a binary number with its first action as highest bit.
"""

import math
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from privregret.adversarial import EXP3, FTPL, HTINF
from privregret.adversarial.htinf import THETA
from privregret.core import loops, store
from privregret.core.jit import jit
from privregret.instances import Adversary

Base = EXP3 | FTPL | HTINF
choose = observe = ARM = STATE = None  # slots of a template


@jit
def exp3_path(losses, actions, eta, gamma):
    """Return (T,) probabilities that `EXP3` plays arm 2, given (T, 2) losses and actions 0 and 1.

    See asi2025, Figure 1. The computation uses x = ln(w_2 / w_1), so that no weight underflows.
    """
    x = 0.0
    p = np.empty(len(actions))
    for t in range(len(actions)):
        p[t] = (1 - gamma) / (1 + math.exp(-x)) + gamma / 2
        if actions[t] == 1:
            x -= eta * losses[t, 1] / p[t]
        else:
            x += eta * losses[t, 0] / (1 - p[t])
    return p


def exp3_loss(one: Adversary, other: Adversary, horizon: int, eta: float, gamma: float) -> float:
    """Return the largest |ln P / P'| over all 2^T paths of `EXP3` on two adversaries, T <= 22."""
    p, q = (_law(EXP3(eta, gamma), a.table(horizon), 0.0, 1) for a in (one, other))
    return float(np.abs(np.log(p / q)).max())


@store.cached
def batched_probabilities(
    base: Base, averages: ArrayLike, scale: float, nodes: int = 200
) -> np.ndarray:
    """Return the (2^J,) probability of every sequence of choices of J batches.

    The base observes (J, 2) averages with noise Lap(scale). By quadrature, each of the J - 1 noises
    that matter takes `nodes` equally likely values, which are Laplace quantiles; where HTINF skips
    an average, its value does not matter, and only the probability counts. The number of nodes is
    even, the error falls as 1 / nodes^2, and time grows as (2 nodes)^(J - 1); without noise, with
    scale 0, one node is exact. FTPL must have the corrected resampling, and two batches.
    """
    averages = np.asarray(averages, float)
    if not isinstance(base, FTPL):
        return _law(base, averages, scale, nodes)
    if len(averages) != 2 or base.resampling != "corrected":
        raise ValueError("FTPL must have two averages and resampling='corrected'")
    quantiles = [_quantile((k + 0.5) / nodes, scale) for k in range(nodes)]
    return _ftpl_probabilities(base, averages, np.array(quantiles))


def _law(base, averages, scale, nodes):
    """Return `batched_probabilities` for EXP3 and HTINF."""
    walk = loops.instantiate(_walk, **loops.slots(base.steps))
    skips = THETA * base.sigma if isinstance(base, HTINF) else math.inf
    rng = np.random.default_rng(0)
    return walk(base.settings(None, 2), averages, scale, nodes, skips, rng)


def _ftpl_probabilities(base, averages, quantiles):
    """Return `batched_probabilities` for FTPL and two batches."""
    # both arms lead with probability 1/2 at first: the number of resamplings is geometric
    number = np.arange(1, base.cap + 1)
    law = 0.5**number
    law[-1] = 0.5 ** (base.cap - 1)
    # (2, nodes, cap), of the arm played
    ahead = base.eta * np.multiply.outer(averages[0][:, None] + quantiles, number)
    again = 0.5 * np.exp(-np.abs(ahead)) * (1 + np.abs(ahead) / 2)
    again = (np.where(ahead > 0, again, 1 - again) @ law).mean(axis=1)
    return 0.5 * np.array([again[0], 1 - again[0], 1 - again[1], again[1]])


@jit
def _quantile(u, scale):
    return scale * (math.log(2 * u) if u < 0.5 else -math.log(2 * (1 - u)))


@jit
def _below(x, scale):
    """Return P(noise < x)."""
    if scale == 0 or math.isinf(x):
        return 1.0 if x > 0 else 0.0
    tail = 0.5 * math.exp(-abs(x) / scale)
    return tail if x < 0 else 1 - tail


def _walk(settings, averages, scale, nodes, skips, rng):
    """Walk through the tree of choices and noises, depth first, for a base that computes p.

    Averages beyond skips sqrt(t p) are skipped.
    """
    last = len(averages) - 1
    result = np.zeros(2 << last)
    # one entry per batch
    arms, states = np.zeros((last + 1, 2), ARM), np.zeros(last + 1, STATE)
    weight = np.ones(last + 1)
    path, tried = np.zeros(last + 1, np.int64), np.zeros(last + 1, np.int64)
    choose(arms[0], states[0], settings, 1, rng)
    j = 0
    while j >= 0:
        if j == last:
            result[2 * path[j]] += weight[j] * arms[j, 0]["p"]
            result[2 * path[j] + 1] += weight[j] * arms[j, 1]["p"]
        elif tried[j] < 2 * (nodes + 1):
            i, noise = divmod(tried[j], nodes + 1)
            tried[j] += 1
            p = arms[j, i]["p"]
            limit = skips * math.sqrt((j + 1) * p)
            low = _below(-limit - averages[j, i], scale)
            counted = _below(limit - averages[j, i], scale) - low
            share = counted / nodes if noise < nodes else 1 - counted
            if share <= 0:
                continue
            states[j + 1] = states[j]
            for k in range(2):
                arms[j + 1, k] = arms[j, k]
            weight[j + 1], path[j + 1] = weight[j] * p * share, 2 * path[j] + i
            if noise < nodes:
                y = averages[j, i] + _quantile(low + (noise + 0.5) * share, scale)
                observe(arms[j + 1], states[j + 1], settings, j + 1, i, y, rng)
            j += 1
            choose(arms[j], states[j], settings, j + 1, rng)
            tried[j] = 0
            continue
        j -= 1
    return result


@store.cached
def worst_batched_loss(
    base: Base, scale: float, later: ArrayLike = (), nodes: int = 200, tau: int = 1
) -> float:
    """Return the largest privacy loss when one round of the first batch changes.

    The round changes between corners of [0, 1]^2, and the loss is that of the action sequences of J
    batches of tau rounds. In the other tau - 1 rounds of the first batch, each arm loses 0
    throughout or 1 throughout; (J - 2, 2) `later` are the average losses of the batches in between,
    and those of the last batch do not matter. The base, its scale and `nodes` are as in
    `batched_probabilities`.
    """
    later = np.reshape(np.asarray(later, float), (-1, 2))
    worst = 0.0
    for group in _neighbouring_averages(tau):
        tables = [np.vstack([a, later, (0, 0)]) for a in group]
        logs = np.log([batched_probabilities(base, table, scale, nodes) for table in tables])
        worst = max(worst, float(np.ptp(logs, axis=0).max()))
    return worst


def _neighbouring_averages(tau):
    """Return groups of four average losses over tau rounds, one of which has any corner."""
    corners = np.array(list(product((0.0, 1.0), repeat=2)))
    rests = corners if tau > 1 else corners[:1]
    return [(rest * (tau - 1) + corners) / tau for rest in rests]


@store.cached
def worst_adaptive_loss(base: Base, scale: float, tau: int, nodes: int = 40) -> float:
    """Return the largest privacy loss of three batches over adaptive adversaries.

    The losses in the second batch depend on the first action. The maximum is over all such
    adversaries of 0/1 losses that are equal in all rounds of a batch except one, and over all
    neighbours: they differ in that round, whatever was played before it. A path has its
    probability under the losses that the adversary assigns to it, so every pair of losses after the
    two first actions is covered by every path.
    """
    averages = np.concatenate(_neighbouring_averages(tau))
    tables = [[a, b, (0, 0)] for a in averages for b in averages]
    chances = [batched_probabilities(base, table, scale, nodes) for table in tables]
    logs, groups = np.log(chances), len(averages) // 4
    first = logs.reshape(groups, 4, -1)  # the first batch changes within its group
    second = logs.reshape(-1, groups, 4, 8)  # the second batch changes
    return max(float(np.ptp(first, axis=1).max()), float(np.ptp(second, axis=2).max()))
