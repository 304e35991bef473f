"""What bandit algorithms share: memory, ties, private means, and how event kernels pull and report.

An event kernel goes from event to event: several pulls of one arm in a stretch of rounds.
"""

import math

import numpy as np

from privregret.core.jit import jit
from privregret.core.noise import laplace

ARM = np.dtype([("total", float), ("pulls", np.int64), ("index", float)])


@jit
def observe(arms, state, settings, t, j, reward, rng):
    """Add the reward to the sum of its arm."""
    arms[j]["total"] += reward
    arms[j]["pulls"] += 1


@jit
def noisy_mean(total, pulls, epsilon, rng):
    """Release the mean of the rewards of so many pulls, by Laplace noise on their sum."""
    return (total + laplace(1 / epsilon, rng)) / pulls


@jit
def leader(arms, rng, first=False):
    """Return the arm with the largest index; of several the first, or each with equal chance."""
    best, chosen, ties = -math.inf, 0, 0
    for j in range(len(arms)):
        index = arms[j]["index"]
        if index > best:
            best, chosen, ties = index, j, 1
        elif index == best and not first:
            ties += 1
            if ties * rng.random() < 1:
                chosen = j
    return chosen


@jit
def keep_pulling(mean, left, total, start, slope, rng, draws=0):
    """Pull an arm at most `left` times, while its sum is above a line; return pulls and sum.

    Certificates of lead have this form: the indices that other arms can have in the remaining
    rounds are known, so an arm leads for certain while `total` > `start` + `slope` (pulls made
    here). `draws` are those of arms that are tied behind it, in each round after the first.
    """
    pulled = 0
    while pulled == 0 or (pulled < left and total > start + slope * pulled):
        for _ in range(draws if pulled > 0 else 0):
            rng.random()
        total += 1.0 if rng.random() < mean else 0.0
        pulled += 1
    return pulled, total


@jit
def report(counts, checkpoints, reported, pulls, j, end):
    """Fill `counts` for the checkpoints in a stretch of rounds up to `end` that pull arm `j` only.

    `reported` rows are filled before, and the returned number now. `pulls` are those before the
    stretch.
    """
    while reported < len(checkpoints) and checkpoints[reported] <= end:
        left = checkpoints[reported]
        # faster than pulls.sum()
        for i in range(len(pulls)):
            counts[reported, i] = pulls[i]
            left -= pulls[i]
        counts[reported, j] += left
        reported += 1
    return reported
