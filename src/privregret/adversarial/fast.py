"""Play many rounds in one step, and several runs side by side: the same law, faster.

Losses and advice are constant on cells of rounds, in which only the number of plays of each arm
matters; on a table a cell is a round. `side_by_side` is a template, as those of `core.loops`, with
the steps of a bandit algorithm as slots: one that is alone plays batches of one round without
noise.
"""

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from privregret.adversarial.base import steps_of
from privregret.core import loops
from privregret.core.jit import jit
from privregret.core.loops import LANES
from privregret.core.noise import drawn, laplace
from privregret.core.typed import arm_of, keep_alive

FOREVER = np.iinfo(np.int64).max
NO_NOISE = np.empty((0, 0, 3))
choose = observe = ARM = STATE = weigh = learn = None


class Batches(NamedTuple):
    """A bandit algorithm, and the batches in which it is played."""

    base: Any  # its settings
    tau: int = 1  # rounds in a batch
    scale: float = 0.0  # Laplace scale of the noise in its average


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


def side_by_side(tables, checkpoints, settings, rngs, runs, noise):
    """Return (runs, H) losses paid by the checkpoints; run r draws from its own generator.

    It does what it would do alone, bit by bit; of a plain bandit, expert j names arm j. The slots
    are choose, observe, ARM and STATE: the steps and a memory for each run. Or they are lanes, an
    array per field for all runs, which takes vector instructions: weigh(estimates, p, weights,
    sums, settings, t) sets p, and learn(the same, arm, run, y) takes a loss. `noise` is a
    (runs, N, 3) array to which lanes add the sums of `BatchedPrivate.run_with_noise`, or
    (0, 0, 3).
    """
    losses, bernoulli, point, rows = tables.losses, tables.bernoulli, tables.point, tables.rows
    horizon, arms, choices = checkpoints[-1], losses.shape[1], tables.group.shape[1]
    tau, base, number = settings.tau, settings.base, 0
    if weigh is None:
        memories, states = np.zeros((runs, choices), ARM), np.zeros(runs, STATE)
    else:
        estimates, p = np.zeros((choices, runs)), np.zeros((choices, runs))
        weights, sums, u = np.zeros((choices, runs)), np.zeros((4, runs)), np.zeros(runs)
    chosen, observed, total = np.zeros(runs, np.int64), np.zeros(runs), np.zeros(runs)
    counts, seen = np.empty(arms, np.int64), np.empty(arms)
    paid = np.empty((runs, len(checkpoints)))
    segment, advised, change, reported, t = 0, 0, 0, 0, 0
    while t < horizon:
        number += 1
        if weigh is None:
            for r in range(runs):
                j = choose(memories[r], states[r], base, number, rngs[r])
                chosen[r] = arm_of(j, t + 1, choices)
        else:
            weigh(estimates, p, weights, sums, base, number)
            for r in range(runs):
                u[r], chosen[r] = rngs[r].random(), 0
            # as `drawn`
            for i in range(choices - 1):
                for r in range(runs):
                    u[r] -= p[i, r]
                    chosen[r] += u[r] >= 0
        observed[:] = 0.0
        end = t + tau
        last = min(end, horizon)
        while t < last:
            if t == change:
                segment, advised, change = next_segments(
                    tables.loss_starts, tables.advice_starts, segment, advised, t
                )
            stop = min(last, checkpoints[reported], change)
            for r in range(runs):
                row = tables.group[advised, chosen[r]]
                i = point[advised, row]
                if i < 0 and stop - t == 1:
                    i = drawn(rows[advised, row], rngs[r].random())
                if i >= 0:
                    mean = losses[segment, i]
                    total[r] += (stop - t) * mean
                    if not bernoulli:
                        observed[r] += (stop - t) * mean
                    elif stop - t == 1:
                        observed[r] += 1.0 if rngs[r].random() < mean else 0.0
                    else:
                        observed[r] += rngs[r].binomial(stop - t, mean)
                else:
                    means, law = losses[segment], rows[advised, row]
                    plays_and_losses(law, stop - t, means, bernoulli, counts, seen, rngs[r])
                    for i in range(arms):
                        total[r] += counts[i] * means[i]
                        observed[r] += seen[i]
            t = stop
            if t == checkpoints[reported]:
                for r in range(runs):
                    paid[r, reported] = total[r]
                reported += 1
        if t < end:
            break
        for r in range(runs):
            j, y, z = chosen[r], observed[r] / tau, 0.0
            if settings.scale > 0:
                z = laplace(settings.scale, rngs[r])
                y += z
            if weigh is None:
                observe(memories[r], states[r], base, number, j, y, rngs[r])
            else:
                if len(noise):
                    noise[r, j, 0] += z
                    noise[r, j, 1] += z / math.sqrt(number)
                    noise[r, j, 2] += z / math.sqrt(p[j, r])
                learn(estimates, p, weights, sums, base, number, j, r, y)
    if weigh is None:
        keep_alive(memories, states)
    return paid


def has_lanes(algorithm: Any) -> bool:
    """Return whether a class has its own lanes; a subclass may have changed the steps."""
    return "lane_steps" in vars(type(algorithm))


def separate_runs(algorithm, tables, checkpoints, settings, rngs, runs, noise=NO_NOISE):
    """Play runs of an algorithm, alone or in `Batches`, each from its own generator."""
    settings = settings if isinstance(settings, Batches) else Batches(settings)
    # one or two runs are faster by steps, which do not add up the noise
    lanes = has_lanes(algorithm) and (runs > 2 or len(noise) > 0)
    slots = algorithm.lane_steps if lanes else loops.slots(steps_of(algorithm))
    kernel = loops.instantiate(side_by_side, **slots)
    return kernel(tables, checkpoints, settings, rngs, runs, noise)


class SeparateRuns:
    """What has one generator for each run."""

    runs_per_stream = LANES
    lanes = property(lambda self: partial(separate_runs, self))
