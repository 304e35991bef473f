"""HTINF against adversaries who answer: their losses may depend on what was played before.

All other algorithms here play oblivious adversaries. Plain numpy over many runs at once; written apart from the kernel
in `bases.py`, so that each can be held against the other.
"""

import math

import numpy as np

from privregret.adversarial.bases import THETA


def htinf_choices(answer, choices: int, arms: int, sigma: float, scale: float, runs: int, rng) -> np.ndarray:
    """What HTINF chooses when it is told `answer` plus Lap(scale) after every choice: (choices, runs) ints.

    Parameters
    ----------
    answer : callable
        (number of the choice from 0, (runs,) arms chosen) -> (runs,) losses, averages over batches for example. It may
        remember earlier calls.
    choices, arms, runs : int
    sigma, scale : float
        Of `HTINF`, and of the Laplace noise; 0 means none.
    rng : numpy.random.Generator
    """
    estimate, every = np.zeros((runs, arms)), np.arange(runs)
    chosen = np.empty((choices, runs), np.int64)
    for j in range(choices):
        behind = (estimate - estimate.min(axis=1, keepdims=True)) / (sigma * math.sqrt(j + 1))
        w = np.ones((runs, 1))
        for _ in range(12):  # Newton's steps from the left: sum (behind + w)^-2 = 1
            inverse = 1 / (behind + w)
            squares = np.square(inverse)
            w += (squares.sum(axis=1, keepdims=True) - 1) / (2 * (squares * inverse).sum(axis=1, keepdims=True))
        p = 1 / np.square(behind + w)
        p /= p.sum(axis=1, keepdims=True)
        chosen[j] = (p.cumsum(axis=1)[:, :-1] < rng.random((runs, 1))).sum(axis=1)
        share = p[every, chosen[j]]
        told = answer(j, chosen[j]) + (rng.laplace(0, scale, runs) if scale else 0)
        counts = np.abs(told) <= THETA * sigma * np.sqrt((j + 1) * share)
        estimate[every, chosen[j]] += np.where(counts, told / share, 0)
    return chosen
