"""Kernels of EXP3, HTINF and FTPL on batches of rounds.

One kernel serves all of their uses: alone, on noisy averages over batches, and over experts.
`lanes.py` plays several runs at once.
"""

import math
from typing import NamedTuple

import numpy as np

from privregret.adversarial.cells import draw, next_segments
from privregret.core.jit import jit, keep_alive
from privregret.core.noise import laplace

EXP3_STEP, HTINF_STEP, FTPL_STEP = range(3)
RESAMPLINGS = ("corrected", "zero at cap", "printed")
CORRECTED, ZERO_AT_CAP, PRINTED = range(3)
THETA = 1 - 2 ** (-1 / 3)  # HTINF's skipping factor for second moments


class Batches(NamedTuple):
    """Hold the parameters of the kernels: algorithm, batch length, noise."""

    kind: int
    rate: float
    mixing: float = 0.0
    cap: int = 0
    resampling: int = CORRECTED
    tau: int = 1  # rounds in a batch
    scale: float = 0.0  # Laplace scale of the noise in its average


CHOICE = np.dtype(
    [
        ("estimate", float),  # estimated sum of its losses so far
        ("p", float),  # probability of being chosen
        ("weight", float),  # weight of EXP3, not normalised
    ]
)
BATCH = np.dtype(
    [
        ("number", np.int64),  # number of the batch, from 1
        ("chosen", np.int64),
        ("observed", float),  # sum of its losses
        ("low", float),  # EXP3: the estimate whose weight is 1
        ("w", float),  # HTINF: the last normalisation
    ]
)


@jit
def exp3_weights(choices, eta, gamma, low):
    """Set p to EXP3's mixture of exponential weights and uniform play; return `low`.

    p is (1 - gamma) times the normalised weights exp(-eta (estimate - low)), plus gamma / K. Only
    the weight of the last choice has changed; once all are too large or too small, `low` becomes
    the smallest estimate.
    """
    total = 0.0
    for i in range(len(choices)):
        total += choices[i]["weight"]
    if not 1e-100 < total < 1e100:
        low, total = math.inf, 0.0
        for i in range(len(choices)):
            low = min(low, choices[i]["estimate"])
        for i in range(len(choices)):
            choices[i]["weight"] = math.exp(-eta * (choices[i]["estimate"] - low))
            total += choices[i]["weight"]
    scale, uniform = (1 - gamma) / total, gamma / len(choices)
    for i in range(len(choices)):
        choices[i]["p"] = scale * choices[i]["weight"] + uniform
    return low


@jit
def htinf_weights(choices, eta, w):
    """Set p_i = (eta (estimate_i - min) + w)^-2 with sum 1; return w in [1, sqrt K].

    w is found by Newton's method, from where it was. The sum is convex and decreasing in w: from
    the left Newton's steps never cross the root; from the right the first step does.
    """
    low = choices[0]["estimate"]
    for i in range(1, len(choices)):
        if choices[i]["estimate"] < low:
            low = choices[i]["estimate"]
    for _ in range(100):
        total, cubes = 0.0, 0.0
        for i in range(len(choices)):
            inverse = 1 / (eta * (choices[i]["estimate"] - low) + w)
            choices[i]["p"] = inverse * inverse
            total += inverse * inverse
            cubes += inverse * inverse * inverse
        if abs(total - 1) < 1e-12:
            break
        w += max(1 - w, (total - 1) / (2 * cubes))
    return w


@jit
def drawn(choices, rng):
    """Draw a choice with the probabilities p from one uniform number."""
    u, found = rng.random(), 0
    for i in range(
        len(choices) - 1
    ):  # the loop runs to the end, because a processor cannot predict an early exit
        u -= choices[i]["p"]
        found += u >= 0
    return found


@jit
def perturbed_leader(choices, scale, rng):
    """Return the choice with the smallest estimate after Laplace noise on each."""
    best, leader = math.inf, 0
    for i in range(len(choices)):
        score = choices[i]["estimate"] + laplace(scale, rng)
        if score < best:
            best, leader = score, i
    return leader


@jit
def resamples(choices, played, scale, cap, resampling, rng):
    """Return the number of fresh perturbations until `played` leads again.

    Each perturbation has the distribution of a full draw, but is drawn only as far as needed.

    Parameters
    ----------
    choices : (N,) record array
        Memory of the choices: arms, or experts.
    played : int
        The choice of this round.
    scale : float
        Scale of the perturbation.
    cap : int
        Largest result.
    resampling : int
        Code of the variant, see `FTPL`.
    rng : numpy.random.Generator
    """
    sign = -1.0 if resampling == PRINTED else 1.0
    for k in range(1, cap + 1):
        score = sign * (choices[played]["estimate"] + laplace(scale, rng))
        leads = True
        for i in range(len(choices)):
            if i != played and sign * (choices[i]["estimate"] + laplace(scale, rng)) <= score:
                leads = False
                break
        if leads:
            return k
    return cap if resampling == CORRECTED else 0


@jit
def next_choice(choices, batch, settings, rng):
    """Return the choice for the next batch."""
    batch["number"] += 1
    batch["observed"] = 0.0
    if settings.kind == EXP3_STEP:
        if batch["number"] == 1:
            for i in range(len(choices)):
                choices[i]["weight"] = 1.0
        batch["low"] = exp3_weights(choices, settings.rate, settings.mixing, batch["low"])
        batch["chosen"] = drawn(choices, rng)
    elif settings.kind == HTINF_STEP:
        eta = 1 / (settings.rate * math.sqrt(batch["number"]))
        batch["w"] = htinf_weights(choices, eta, max(1.0, batch["w"]))
        batch["chosen"] = drawn(choices, rng)
    else:
        batch["chosen"] = perturbed_leader(choices, 1 / settings.rate, rng)
    return batch["chosen"]


@jit
def learn(choices, batch, settings, rng):
    """Update the estimate of the choice with the batch's average loss plus noise."""
    j, rate = batch["chosen"], settings.rate
    y = batch["observed"] / settings.tau
    if settings.scale > 0:
        y += laplace(settings.scale, rng)
    if settings.kind == EXP3_STEP:
        choices[j]["estimate"] += y / choices[j]["p"]
        ahead = -rate * (choices[j]["estimate"] - batch["low"])
        choices[j]["weight"] = math.exp(min(700.0, ahead))
    elif settings.kind == HTINF_STEP:
        if abs(y) <= THETA * rate * math.sqrt(batch["number"] * choices[j]["p"]):
            choices[j]["estimate"] += y / choices[j]["p"]
    else:
        again = resamples(choices, j, 1 / rate, settings.cap, settings.resampling, rng)
        choices[j]["estimate"] += y * again


@jit
def choose(choices, batch, settings, t, rng):
    """Return the choice of round t.

    Parameters
    ----------
    choices : (N,) record array
        Memory of the choices: arms, or experts.
    batch : record
        Memory of the current batch.
    settings : Batches
    t : int
        Round, from 1.
    rng : numpy.random.Generator
    """
    if (t - 1) % settings.tau == 0:
        next_choice(choices, batch, settings, rng)
    return batch["chosen"]


@jit
def observe(choices, batch, settings, t, j, loss, rng):
    """Update the memory with the loss of the choice in round t.

    Parameters
    ----------
    choices : (N,) record array
        Memory of the choices: arms, or experts.
    batch : record
        Memory of the current batch.
    settings : Batches
    t : int
        Round, from 1.
    j : int
        The choice.
    loss : float
        Loss of the arm.
    rng : numpy.random.Generator
    """
    batch["observed"] += loss
    if t % settings.tau == 0:
        learn(choices, batch, settings, rng)


@jit
def cumulative_losses(tables, checkpoints, settings, rng):
    """Play batch by batch, each cut into cells of constant losses and advice.

    The choices are experts; for a plain bandit, expert j always names arm j.
    """
    horizon, arms, tau = checkpoints[-1], tables.losses.shape[1], settings.tau
    losses, bernoulli, point, rows = tables.losses, tables.bernoulli, tables.point, tables.rows
    choices, batches = np.zeros(tables.group.shape[1], CHOICE), np.zeros(1, BATCH)
    batch, paid = batches[0], np.empty(len(checkpoints))
    total = 0.0
    segment, advised, change, reported, t = 0, 0, 0, 0, 0
    while t < horizon:
        j = next_choice(choices, batch, settings, rng)
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
                i = draw(rows[advised, row], rng)
            if i >= 0:
                mean = losses[segment, i]
                total += (stop - t) * mean
                if not bernoulli:
                    observed += (stop - t) * mean
                elif stop - t == 1:
                    observed += 1.0 if rng.random() < mean else 0.0
                else:
                    observed += rng.binomial(stop - t, mean)
            # counts of the expert's arms in this cell: multinomial, by successive binomials
            else:
                left, remaining = stop - t, 1.0
                for i in range(arms):
                    weight = rows[advised, row, i]
                    if left == 0 or weight == 0:
                        continue
                    plays = (
                        left
                        if weight >= remaining or i == arms - 1
                        else rng.binomial(left, weight / remaining)
                    )
                    left -= plays
                    remaining -= weight
                    mean = losses[segment, i]
                    total += plays * mean
                    observed += rng.binomial(plays, mean) if bernoulli else plays * mean
            t = stop
            if t == checkpoints[reported]:
                paid[reported] = total
                reported += 1
        if t < end:
            break
        batch["observed"] = observed
        learn(choices, batch, settings, rng)
    keep_alive(batches)
    return paid
