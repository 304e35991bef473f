"""HTINF against adversaries who answer: their losses may depend on what was played before.

All other algorithms here play oblivious adversaries. Plain numpy over many runs at once; written apart from the kernel
in `bases.py`, so that each can be held against the other.
"""

import math

import numpy as np

from privregret import store
from privregret.adversarial.bases import HTINF, THETA


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


@store.kept
def punished_regret(algorithm, arms: int, horizon: int, runs: int, rng) -> np.ndarray:
    """(runs,) regret of HTINF in batches against an adversary who punishes the arm of each batch.

    In the first round of a batch all losses are 0; then the arm that was played costs 1, all others 0. Compared with
    the arm that was punished least. A last partial batch is left out.

    Parameters
    ----------
    algorithm : BatchedPrivate
        Around HTINF.
    """
    if not isinstance(getattr(algorithm, "base", None), HTINF):
        raise TypeError(f"algorithm must be BatchedPrivate around HTINF, got {algorithm!r}")
    batches, cost = horizon // algorithm.tau, 1 - 1 / algorithm.tau
    sigma, scale = algorithm.base.sigma, algorithm.scale
    chosen = htinf_choices(lambda j, arm: np.full(runs, cost), batches, arms, sigma, scale, runs, rng)
    counts = np.array([(chosen == arm).sum(axis=0) for arm in range(arms)])
    return algorithm.tau * cost * (batches - counts.min(axis=0))


@store.kept
def regret_on_draws(losses, advice, tau: int, sigma: float, scale: float, runs: int, rng) -> np.ndarray:
    """(runs,) regret, per round of a batch, of HTINF over experts on the losses of arms drawn from their advice.

    Every expert draws an arm in each round. HTINF chooses among experts and is told the average loss of the chosen
    one's draws over tau rounds plus Lap(scale); it is compared with the best expert's draws. The right sides of
    Theorems 6 (tau = 1) and 7.

    Parameters
    ----------
    losses : (T, K) array
    advice : (T, N, K) array
    tau, runs : int
    sigma, scale : float
        As of `htinf_choices`.
    """
    experts, every = advice.shape[1], np.arange(runs)
    totals, paid = np.zeros((runs, experts)), np.zeros(runs)

    def answer(j, chosen):
        rounds = np.arange(j * tau, (j + 1) * tau)
        u = rng.random((tau, runs, experts, 1))
        drawn = (u > advice[rounds, None].cumsum(axis=-1)[..., :-1]).sum(axis=-1)
        costs = losses[rounds[:, None, None], drawn].mean(axis=0)
        totals[:] += costs
        paid[:] += costs[every, chosen]
        return costs[every, chosen]

    htinf_choices(answer, len(losses) // tau, experts, sigma, scale, runs, rng)
    return paid - totals.min(axis=1)
