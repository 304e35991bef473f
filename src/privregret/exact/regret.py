"""Expected regret, from the selection probabilities of all epochs."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.polynomial import chebyshev
from scipy.special import comb

from privregret import checks
from privregret.algorithm import flat_parameters
from privregret.exact.selection import (
    arrays,
    gauss_legendre,
    largest_probabilities,
    selection_from_sums,
    selection_probabilities,
)
from privregret.full_information import EpochAlgorithm, EveryRoundAlgorithm
from privregret.instances import StochasticLosses

NODES = 16  # of an interpolant in the number of rounds
PRECISION = 1e-9  # of the regret so far, what interpolants may be off by
NEGLIGIBLE = 1e-13  # regret below which an epoch is not computed but counted as error


class Regret(NamedTuple):
    """Expected pseudo-regret at each horizon, and a bound on the error of each."""

    value: np.ndarray
    error: np.ndarray


def regret_curves(algorithms, problems, horizons) -> pd.DataFrame:
    """Expected pseudo-regret of each algorithm on each problem: the twin of `simulate.regret_curves` without runs.

    Parameters
    ----------
    algorithms, problems, horizons
        As in `expected_regret`, which does the work; one algorithm or a sequence of them, one problem or a sequence.

    Returns
    -------
    pandas.DataFrame
        One row per (problem, algorithm, t): columns algorithm, instance, t, regret, error (a bound on that of
        `regret`, whose digits below it mean nothing), and the algorithms' parameters.
    """
    frames = []
    for problem in checks.listed("problems", problems):
        for algorithm in checks.listed("algorithms", algorithms):
            regret = expected_regret(algorithm, problem, horizons)
            frame = {"algorithm": algorithm.label, "instance": problem.name, "t": np.atleast_1d(horizons)}
            frame |= {"regret": regret.value, "error": regret.error} | flat_parameters(algorithm)
            frames.append(pd.DataFrame(frame))
    return pd.concat(frames, ignore_index=True)


def expected_gap(instance: StochasticLosses, rounds: int, noise: str, scale: float) -> tuple[float, float]:
    """Expected gap of the action selected from `rounds` rounds, and a bound on its error; see
    `selection_probabilities`."""
    selection = selection_probabilities(instance, rounds, noise, scale)
    gaps = arrays(instance)[0]
    return float(selection.group @ gaps), selection.error * float(gaps.sum())


def expected_regret(algorithm, instance: StochasticLosses, horizons) -> Regret:
    """Expected pseudo-regret of a full-information algorithm.

    Parameters
    ----------
    algorithm : FullInformationAlgorithm
        Epoch algorithms (FTNL and its variants, random prefixes), or the leaders that act in every round.
    instance : StochasticLosses
        See `selection_probabilities` for those that can be done.
    horizons : int or sequence of int
        Rounds T in 1..2^60.

    Returns
    -------
    Regret
        Arrays as long as `horizons`.

    Raises
    ------
    TypeError
        If the algorithm is none of those, or the instance is no StochasticLosses.
    ValueError
        If the instance is too large (see `selection_probabilities`) or a horizon is out of range.
    """
    if not isinstance(algorithm, EpochAlgorithm | EveryRoundAlgorithm):
        raise TypeError(f"exact regret is for epoch algorithms and leaders with full information, got {algorithm!r}")
    if not isinstance(instance, StochasticLosses):
        raise TypeError(f"exact regret is on StochasticLosses, got a {type(instance).__name__}: {instance!r}")
    horizons = checks.horizons(np.atleast_1d(horizons), 1)
    if horizons[-1] > 2**60:
        raise ValueError(f"horizons must be at most 2^60, got {horizons[-1]}")
    if getattr(algorithm, "bernoulli_resampling", False):
        instance = replace(instance, bits=True)
    value, error = np.zeros(len(horizons)), np.zeros(len(horizons))
    first, first_error = expected_gap(instance, 0, "none", 1.0)  # round 1 is uniform
    value += first
    error += first_error
    for epoch in range(1, int(horizons[-1]).bit_length()):
        start = 2**epoch  # rounds start .. 2 start - 1
        reached = horizons >= start
        if isinstance(algorithm, EpochAlgorithm):
            played = np.clip(horizons - start + 1, 0, start)
            gap, gap_error = _epoch_gap(algorithm, instance, start // 2, value[-1])
            value += played * gap
            error += played * gap_error
        else:
            for i in np.flatnonzero(reached):
                total, total_error = _every_round(
                    algorithm, instance, start, min(2 * start - 1, int(horizons[i])), value[i]
                )
                value[i] += total
                error[i] += total_error
    return Regret(value, error)


def prefix_gaps(instance: StochasticLosses, rounds, noise: str, scale: float) -> np.ndarray:
    """F_m, the expected gap of the action selected from m rounds, for each m in `rounds`."""
    return np.array([expected_gap(instance, int(m), noise, scale)[0] for m in rounds])


def prefix_sum(instance: StochasticLosses, noise: str, scale: float, groups=None) -> tuple[float, float]:
    """Sum of F_m over all m >= 1, and a bound on its error; of the part of F_m due to some of the groups (a
    mask), if given."""
    mask = np.ones(len(instance.gaps)) if groups is None else np.asarray(groups, float)

    def gap(m):
        selection = selection_probabilities(instance, m, noise, scale)
        return float(selection.group @ (instance.gaps * mask)), selection.error * float(instance.gaps @ mask)

    total, error, first = 0.0, 0.0, 1
    while True:
        bound = _largest_gap(instance, first, noise, scale)
        if bound * first < NEGLIGIBLE or first > 2**59:  # the bound falls exponentially
            return total, error + bound * first
        part, part_error = _sum_over(gap, first, 2 * first - 1, total)
        total, error, first = total + part, error + part_error, 2 * first


def two_loss_regret(low, high, p, epsilon, horizon):
    """Expected regret of FTNL with Gumbel noise of scale 2 / epsilon when every action has two losses of its own.

    Footnote 1 of wu2026 asks whether the worst case is worse than with resampling, that is, with low = 0 and high = 1.
    All outcomes are listed: (n + 1)^K of them for an epoch of n rounds.

    Parameters
    ----------
    low, high, p : (K,) arrays
        Each action's losses, in [0, 1] and independent over actions, and the probability of `high`.
    epsilon : float
    horizon : int
        Rounds T, at least 1.
    """
    low, high, p = (np.asarray(x, float)[:, None] for x in (low, high, p))
    means = (low * (1 - p) + high * p)[:, 0]
    gaps, n = means - means.min(), 1
    total = gaps.mean()
    while 2 * n <= horizon:
        hits = np.indices((n + 1,) * len(p)).reshape(len(p), -1)
        weights = np.prod(comb(n, hits) * p**hits * (1 - p) ** (n - hits), axis=0)
        sums = (n * low + hits * (high - low)).T
        chosen = weights @ selection_from_sums(sums, np.zeros(len(p)), "gumbel", 2 / epsilon)
        total += min(2 * n, horizon - 2 * n + 1) * chosen @ gaps
        n *= 2
    return float(total)


def _epoch_gap(algorithm, instance, length, so_far):
    """Expected gap of the action chosen on an epoch of `length` rounds, and its error."""
    scale = algorithm.noise_scale(np.exp(min(instance.log_actions, 700.0)))
    shortest = length if algorithm.prefix == "full" or length == 1 else length // 2 + 1
    bound = _largest_gap(instance, shortest, algorithm.noise, scale)
    if bound * 2 * length < NEGLIGIBLE:
        return 0.0, bound
    if algorithm.prefix != "random" or length <= 2:
        return expected_gap(instance, shortest, algorithm.noise, scale)
    total, error = _sum_over(lambda m: expected_gap(instance, m, algorithm.noise, scale), shortest, length, so_far / 4)
    return total / (length - shortest + 1), error / (length - shortest + 1)


def _every_round(algorithm, instance, start, end, so_far):
    """Regret of rounds start..end of an algorithm that acts on all the past."""

    def gap(t):
        eta = algorithm.inverse_temperature(t, instance.log_actions)
        return expected_gap(instance, t - 1, *(("none", 1.0) if np.isinf(eta) else ("gumbel", 1 / eta)))

    eta = algorithm.inverse_temperature(start, instance.log_actions)
    scale = algorithm.inverse_temperature(end, instance.log_actions)
    noise = "none" if np.isinf(eta) else "gumbel"
    bound = _largest_gap(instance, start - 1, noise, 1 / scale if scale < np.inf else 1.0)
    if bound * (end - start + 1) < NEGLIGIBLE:
        return 0.0, bound * (end - start + 1)
    return _sum_over(gap, start, end, so_far)


def _sum_over(function, first, last, size):
    """Sum of function(m)[0], at least 0, over first..last, and of the errors [1]: all terms if few, else of
    interpolants in m.

    An interpolant goes through Chebyshev points rounded to integers; its error is taken to be that of leaving
    out every other point, and is made small against `size` by halving the range.
    """
    if last - first < 64:
        terms = np.array([function(m) for m in range(first, last + 1)])
        return terms[:, 0].sum(), terms[:, 1].sum()
    middle, half = (first + last) / 2, (last - first) / 2
    nodes = np.rint(middle - half * np.cos(np.pi * np.arange(NODES + 1) / NODES)).astype(np.int64)
    terms = np.array([function(int(m)) for m in nodes])
    if last - first < 4096:
        where, weights = (np.arange(first, last + 1) - middle) / half, np.ones(last - first + 1)
    else:  # a sum of so many equally spaced terms is the integral between half-integers, to 1 / (24 first^2)
        x, w = gauss_legendre(2 * NODES)
        where, weights = (1 + 0.5 / half) * x, (half + 0.5) * w
    sums = []
    for every in (1, 2):
        basis = chebyshev.chebvander((nodes[::every] - middle) / half, NODES // every)
        series = np.linalg.solve(basis, terms[::every, 0])
        sums.append(float(weights @ chebyshev.chebval(where, series)))
    off = abs(sums[0] - sums[1])
    if off <= PRECISION * max(size, abs(sums[0])):
        return max(sums[0], 0.0), off + terms[:, 1].max() * (last - first + 1)
    left = _sum_over(function, first, int(middle), size)
    right = _sum_over(function, int(middle) + 1, last, max(size, left[0]))
    return left[0] + right[0], left[1] + right[1]


def _largest_gap(instance, rounds, noise, scale):
    """A bound on the expected gap of the action selected from `rounds` rounds."""
    return float(arrays(instance)[0] @ largest_probabilities(instance, rounds, noise, scale))
