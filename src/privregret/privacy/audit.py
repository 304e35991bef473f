"""A black-box audit: run an algorithm on two neighbouring tables and bound its privacy loss from below.

It can show that an algorithm is not epsilon-DP; it cannot show that it is.
"""

import math

import numpy as np
from scipy.stats import beta


def loss_lower_bound(algorithm, rewards, neighbour, event, runs: int, seed: int, failure: float = 1e-6) -> float:
    """A lower confidence bound on the privacy loss that an event of the action sequence shows.

    Parameters
    ----------
    algorithm : BanditAlgorithm
        Or anything with `play(rewards, rng)`.
    rewards, neighbour : (T, K) arrays
        Tables that differ in one row.
    event : callable
        (T,) actions -> bool.
    runs : int
        Plays on each table.
    seed : int
    failure : float
        The bound exceeds the true loss with at most this probability (exact binomial limits, both directions).

    Returns
    -------
    float
        max over the event and its complement, and both directions, of ln(P / P'), bounded from below; at least 0.
    """
    rewards, neighbour = np.asarray(rewards, float), np.asarray(neighbour, float)
    differ = int((rewards != neighbour).any(axis=1).sum())
    if rewards.shape != neighbour.shape or differ != 1:
        raise ValueError(f"neighbouring tables differ in exactly one row, got {differ} of shape {neighbour.shape}")
    rng = np.random.default_rng(seed)
    a, b = (sum(bool(event(algorithm.play(table, rng))) for _ in range(runs)) for table in (rewards, neighbour))
    level = failure / 8  # four ratios, two limits each
    loss = 0.0
    for p, q in ((a, b), (b, a), (runs - a, runs - b), (runs - b, runs - a)):
        if p:
            at_least = beta.ppf(level, p, runs - p + 1)
            at_most = beta.ppf(1 - level, q + 1, runs - q) if q < runs else 1.0
            loss = max(loss, math.log(at_least / at_most))
    return loss
