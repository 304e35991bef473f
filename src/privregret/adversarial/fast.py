"""Play many rounds in one step, and several runs side by side: the same law, faster.

Losses and advice are constant on cells of rounds, in which only the number of plays of each arm
matters; on a table a cell is a round. `cells` and `in_lanes` are templates, as those of
`core.loops`, with the steps of a bandit algorithm as slots: one that is alone plays batches of
one round without noise.
"""

import math
from collections.abc import Callable
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


def cells(tables, checkpoints, settings, rng):
    """Return the losses paid by the checkpoints; of a plain bandit, expert j names arm j."""
    horizon, arms, tau = checkpoints[-1], tables.losses.shape[1], settings.tau
    losses, bernoulli, point, rows = tables.losses, tables.bernoulli, tables.point, tables.rows
    choices, states = np.zeros(tables.group.shape[1], ARM), np.zeros(1, STATE)
    state, paid = states[0], np.empty(len(checkpoints))
    counts, seen = np.empty(arms, np.int64), np.empty(arms)
    total, number = 0.0, 0
    segment, advised, change, reported, t = 0, 0, 0, 0, 0
    while t < horizon:
        number += 1
        j = arm_of(choose(choices, state, settings.base, number, rng), t + 1, len(choices))
        end = t + tau
        last = min(end, horizon)
        observed = 0.0
        while t < last:
            if t == change:
                segment, advised, change = next_segments(
                    tables.loss_starts, tables.advice_starts, segment, advised, t
                )
            stop = min(last, checkpoints[reported], change)
            row = tables.group[advised, j]
            i = point[advised, row]
            if i < 0 and stop - t == 1:
                i = drawn(rows[advised, row], rng.random())
            if i >= 0:
                mean = losses[segment, i]
                total += (stop - t) * mean
                if not bernoulli:
                    observed += (stop - t) * mean
                elif stop - t == 1:
                    observed += 1.0 if rng.random() < mean else 0.0
                else:
                    observed += rng.binomial(stop - t, mean)
            else:
                plays_and_losses(
                    rows[advised, row], stop - t, losses[segment], bernoulli, counts, seen, rng
                )
                for i in range(arms):
                    total += counts[i] * losses[segment, i]
                    observed += seen[i]
            t = stop
            if t == checkpoints[reported]:
                paid[reported] = total
                reported += 1
        if t < end:
            break
        y = observed / tau
        if settings.scale > 0:
            y += laplace(settings.scale, rng)
        observe(choices, state, settings.base, number, j, y, rng)
    keep_alive(states)
    return paid


def in_lanes(tables, checkpoints, settings, rngs, runs, noise):
    """Return (runs, H) losses of runs that each follow experts who name one arm.

    Lane r does in run r what `cells` does, bit by bit: formulas and their order are the same. They
    are written twice, because one run keeps a record per arm, and vector instructions need an array
    per field. `np.divide` stands for a division that raises no error, because a branch would keep a
    loop from being vectorised. The slots are weigh(estimates, p, weights, sums, settings, t), which
    sets p, and learn(the same, arm, run, y); `noise` is a (runs, N, 3) array to which the sums of
    `BatchedPrivate.run_with_noise` are added, or (0, 0, 3).
    """
    losses, bernoulli, point, tau = tables.losses, tables.bernoulli, tables.point, settings.tau
    horizon, choices = checkpoints[-1], tables.group.shape[1]
    paid, sums = np.empty((runs, len(checkpoints))), np.zeros((4, runs))
    estimates, p = np.zeros((choices, runs)), np.zeros((choices, runs))
    weights, u, chosen = np.zeros((choices, runs)), np.zeros(runs), np.zeros(runs, np.int64)
    observed, total = np.zeros(runs), np.zeros(runs)
    segment, advised, change, reported, t, number = 0, 0, 0, 0, 0, 0
    while t < horizon:
        number += 1
        weigh(estimates, p, weights, sums, settings.base, number)
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
            learn(estimates, p, weights, sums, settings.base, number, j, r, y)
    return paid


def lanes_of(algorithm: Any) -> Callable | None:
    """Return `in_lanes` for a class with its own slots; a subclass may have changed the steps."""
    slots = vars(type(algorithm)).get("in_lanes")
    return slots and loops.instantiate(in_lanes, **slots)


def together(algorithm, tables, checkpoints, settings, rngs, runs):
    """Several runs, alone or in `Batches`, each from its own generator; in lanes if faster."""
    settings = settings if isinstance(settings, Batches) else Batches(settings)
    side_by_side = lanes_of(algorithm)
    if runs >= 4 and side_by_side and tables.point.min() >= 0:
        return side_by_side(tables, checkpoints, settings, rngs, runs, np.empty((0, 0, 3)))
    one = loops.instantiate(cells, **loops.slots(steps_of(algorithm)))
    return np.array([one(tables, checkpoints, settings, rng) for rng in rngs[:runs]])


class SeparateRuns:
    """What has one generator for each run."""

    runs_per_stream = LANES
    lanes = property(lambda self: partial(together, self))
