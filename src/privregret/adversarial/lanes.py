"""Play several runs of HTINF or EXP3 side by side, so that vector instructions serve all of them.

The adversary is oblivious and all batches have one length. So runs share rounds, batches and
segments, and only their choices differ. Each run has a generator of its own and the numbers that
`batches.cumulative_losses` gives with that generator, bit by bit: formulas and their order are the
same, on one lane of an array for each run. They are written twice, because one run keeps a record
per choice, and vector instructions need an array per field. `np.divide` stands for a division that
raises no error, because a branch would keep the loop from being vectorised.
"""

import math
from functools import partial

import numpy as np

from privregret.adversarial.batches import FTPL_STEP, HTINF_STEP, THETA, cumulative_losses
from privregret.adversarial.cells import next_segments
from privregret.core.jit import jit
from privregret.core.noise import laplace


@jit
def _htinf(estimates, p, w, eta, sums):
    """Set p, and the normalisation w from where it was, as `batches.htinf_weights` does.

    A lane that has converged keeps its w until all have.
    """
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
    """Set p as `batches.exp3_weights` does."""
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
def losses_of_runs(tables, checkpoints, settings, rngs, runs, noise):
    """Return (runs, H) cumulative losses of several runs, each from its own generator.

    FTPL draws until its choice leads again, and advice that mixes arms is followed by drawn counts:
    there is nothing to share, and such runs are played one after the other, without sums of noise.

    Parameters
    ----------
    tables : Tables
    checkpoints : (H,) int64 array
        Increasing rounds.
    settings : Batches
    rngs : tuple of numpy.random.Generator
        At least `runs` of them.
    runs : int
    noise : (runs, N, 3) array, or (0, 0, 3) for none
        For each choice, over the complete batches s in which it is played, with probability p: the
        sums of the noise z, of z / sqrt s and of z / sqrt p are added. A choice is drawn before its
        noise, so they have mean zero.
    """
    losses, bernoulli, point, tau = tables.losses, tables.bernoulli, tables.point, settings.tau
    horizon, choices, rate = checkpoints[-1], tables.group.shape[1], settings.rate
    paid = np.empty((runs, len(checkpoints)))
    if settings.kind == FTPL_STEP or runs == 1 or point.min() < 0:
        for r in range(runs):
            one = cumulative_losses(tables, checkpoints, settings, rngs[r])
            for h in range(len(checkpoints)):
                paid[r, h] = one[h]
        return paid
    htinf = settings.kind == HTINF_STEP
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
            elif abs(y) <= THETA * rate * math.sqrt(number * p[j, r]):
                estimates[j, r] += y / p[j, r]
    return paid


without_noise = partial(losses_of_runs, noise=np.empty((0, 0, 3)))
