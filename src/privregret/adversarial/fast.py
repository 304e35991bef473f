"""Play many rounds in one step, and several runs side by side: the same law, faster.

Losses and advice are constant on cells of rounds, in which only the number of plays of each arm
matters; on a table a cell is a round.
"""

import math

import numpy as np

from privregret.core.jit import jit
from privregret.core.noise import laplace

FOREVER = np.iinfo(np.int64).max


@jit
def drawn(p, u):
    """Return the index that a uniform number u draws with probabilities p."""
    found = 0
    # to the end, because a processor cannot predict an early exit
    for i in range(len(p) - 1):
        u -= p[i]
        found += u >= 0
    return found


@jit
def next_segments(loss_starts, advice_starts, segment, advised, t):
    """Return the segments of losses and advice in round t (from 0), and where either one ends."""
    while segment + 1 < len(loss_starts) and loss_starts[segment + 1] <= t:
        segment += 1
    while advised + 1 < len(advice_starts) and advice_starts[advised + 1] <= t:
        advised += 1
    change = FOREVER
    if segment + 1 < len(loss_starts):
        change = loss_starts[segment + 1]
    if advised + 1 < len(advice_starts):
        change = min(change, advice_starts[advised + 1])
    return segment, advised, change


@jit
def plays_and_losses(p, plays, means, bernoulli, counts, seen, rng):
    """Draw how often each arm is played in so many plays, and the loss that is seen in them."""
    remaining = 1.0
    # multinomial counts, by successive binomials
    for i in range(len(p)):
        counts[i], seen[i] = 0, 0.0
        if plays == 0 or p[i] == 0:
            continue
        counts[i] = plays
        if p[i] < remaining and i < len(p) - 1:
            counts[i] = rng.binomial(plays, p[i] / remaining)
        plays -= counts[i]
        remaining -= p[i]
        seen[i] = rng.binomial(counts[i], means[i]) if bernoulli else counts[i] * means[i]


# Several runs of HTINF or EXP3, so that vector instructions serve all of them
# --------------------------------------------------------------------------------------------------

# Lane r does in run r what `conversions.alone` does, bit by bit: formulas and their order are the
# same. They are written twice, because one run keeps a record per choice, and vector instructions
# need an array per field. `np.divide` stands for a division that raises no error, because a branch
# would keep a loop from being vectorised.


@jit
def _htinf(estimates, p, w, eta, sums):
    """As `conversions.htinf_weights`; a lane that has converged keeps its w until all have."""
    choices, runs = p.shape
    low, total, cubes = sums[0], sums[1], sums[2]
    for r in range(runs):
        low[r], w[r] = estimates[0, r], max(1.0, w[r])
    for i in range(1, choices):
        for r in range(runs):
            low[r] = min(low[r], estimates[i, r])
    for _ in range(100):
        for r in range(runs):
            total[r], cubes[r] = 0.0, 0.0
        for i in range(choices):
            for r in range(runs):
                inverse = np.divide(1.0, eta * (estimates[i, r] - low[r]) + w[r])
                p[i, r] = inverse * inverse
                total[r] += inverse * inverse
                cubes[r] += inverse * inverse * inverse
        unfinished = 0
        for r in range(runs):
            far = abs(total[r] - 1) >= 1e-12
            w[r] += max(1 - w[r], np.divide(total[r] - 1, 2 * cubes[r])) if far else 0.0
            unfinished += far
        if unfinished == 0:
            break


@jit
def _exp3(estimates, p, weights, low, total, settings):
    """As `conversions.exp3_weights`."""
    choices, runs = p.shape
    for r in range(runs):
        total[r] = 0.0
    for i in range(choices):
        for r in range(runs):
            total[r] += weights[i, r]
    for r in range(runs):
        if not 1e-100 < total[r] < 1e100:
            low[r], total[r] = math.inf, 0.0
            for i in range(choices):
                low[r] = min(low[r], estimates[i, r])
            for i in range(choices):
                weights[i, r] = math.exp(-settings.rate * (estimates[i, r] - low[r]))
                total[r] += weights[i, r]
        total[r] = np.divide(1 - settings.mixing, total[r])
    uniform = settings.mixing / choices
    for i in range(choices):
        for r in range(runs):
            p[i, r] = total[r] * weights[i, r] + uniform


@jit
def in_lanes(tables, checkpoints, settings, rngs, runs, noise):
    """Return (runs, H) losses of runs that each follow experts who name one arm.

    `noise` is a (runs, N, 3) array to which the sums of `run_with_noise` are added, or (0, 0, 3).
    """
    losses, bernoulli, point, tau = tables.losses, tables.bernoulli, tables.point, settings.tau
    horizon, choices, rate = checkpoints[-1], tables.group.shape[1], settings.rate
    paid, htinf = np.empty((runs, len(checkpoints))), settings.theta > 0
    estimates, p = np.zeros((choices, runs)), np.zeros((choices, runs))
    weights, sums = np.ones((choices, runs)), np.zeros((3, runs))
    w, low, u, chosen = np.zeros(runs), np.zeros(runs), np.zeros(runs), np.zeros(runs, np.int64)
    observed, total = np.zeros(runs), np.zeros(runs)
    segment, advised, change, reported, t, number = 0, 0, 0, 0, 0, 0
    while t < horizon:
        number += 1
        if htinf:
            _htinf(estimates, p, w, 1 / (rate * math.sqrt(number)), sums)
        else:
            _exp3(estimates, p, weights, low, sums[0], settings)
        for r in range(runs):
            u[r], chosen[r], observed[r] = rngs[r].random(), 0, 0.0
        # as `drawn`
        for i in range(choices - 1):
            for r in range(runs):
                u[r] -= p[i, r]
                chosen[r] += u[r] >= 0
        end = t + tau
        last = min(end, horizon)
        while t < last:
            if t == change:
                segment, advised, change = next_segments(
                    tables.loss_starts, tables.advice_starts, segment, advised, t
                )
            stop = min(last, checkpoints[reported], change)
            for r in range(runs):
                mean = losses[segment, point[advised, tables.group[advised, chosen[r]]]]
                total[r] += (stop - t) * mean
                if not bernoulli:
                    observed[r] += (stop - t) * mean
                elif stop - t == 1:
                    observed[r] += 1.0 if rngs[r].random() < mean else 0.0
                else:
                    observed[r] += rngs[r].binomial(stop - t, mean)
            t = stop
            if t == checkpoints[reported]:
                for r in range(runs):
                    paid[r, reported] = total[r]
                reported += 1
        if t < end:
            break
        for r in range(runs):
            j, y = chosen[r], observed[r] / tau
            if settings.scale > 0:
                z = laplace(settings.scale, rngs[r])
                y += z
                if len(noise):
                    noise[r, j, 0] += z
                    noise[r, j, 1] += z / math.sqrt(number)
                    noise[r, j, 2] += z / math.sqrt(p[j, r])
            if not htinf:
                estimates[j, r] += y / p[j, r]
                weights[j, r] = math.exp(min(700.0, -rate * (estimates[j, r] - low[r])))
            elif abs(y) <= settings.theta * rate * math.sqrt(number * p[j, r]):
                estimates[j, r] += y / p[j, r]
    return paid
