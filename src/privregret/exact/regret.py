"""Compute expected regret from the selection probabilities of all epochs or rounds."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.polynomial import chebyshev

from privregret.core import checks, identity, store
from privregret.core.algorithm import check_table
from privregret.exact.selection import (
    arrays,
    largest_probabilities,
    selection_probabilities,
    selections,
)
from privregret.exact.sums import gauss_legendre
from privregret.full_information import (
    EpochAlgorithm,
    EveryRoundAlgorithm,
    FullInformationAlgorithm,
)
from privregret.instances import StochasticLosses

# nodes of an interpolant in the number of rounds
NODES = 16
# tolerated error of interpolants, relative to the regret so far
PRECISION = 1e-9
# regret of an epoch that is not computed but counted as error
NEGLIGIBLE = 1e-13


class Regret(NamedTuple):
    """Expected pseudo-regret per horizon, with a bound on the error of each."""

    value: np.ndarray
    error: np.ndarray


def _algorithm(name, value):
    if isinstance(value, EveryRoundAlgorithm) or hasattr(value, "expected_regret"):
        return value
    if not isinstance(value, EpochAlgorithm):
        allowed = "an epoch algorithm or a full-information leader"
        raise TypeError(f"{name} must be {allowed}, got {checks.shown(value)}")
    if value.growth != 2 or value.random_phase:
        own = f"growth = {value.growth:g} and random_phase = {value.random_phase}"
        raise TypeError(
            f"{name} must have epochs of growth = 2 and random_phase = False, "
            f"got {checks.shown(value)} of {own}"
        )
    return value


def _algorithms(name, value):
    algorithms = [_algorithm(name, algorithm) for algorithm in checks.one_or_more(name, value)]
    for algorithm in algorithms:
        identity.parameters(algorithm)
    return algorithms


def _problem(name, value):
    check_table(checks.instance_of(StochasticLosses)(name, value))
    return value


def _problems(name, value):
    return [_problem(name, problem) for problem in checks.one_or_more(name, value)]


def _horizons(name, value):
    return checks.checkpoints(1, 2**60)(name, value if np.iterable(value) else [value])


@checks.validate(algorithms=_algorithms, problems=_problems, horizons=_horizons)
@store.cached
def regret_curves(
    algorithms: FullInformationAlgorithm | Sequence[FullInformationAlgorithm],
    problems: StochasticLosses | Sequence[StochasticLosses],
    horizons: int | Sequence[int] | np.ndarray,
) -> pd.DataFrame:
    """Return the expected pseudo-regret of each algorithm on each problem.

    Arguments are as in `expected_regret`: one algorithm or a sequence, one problem or a sequence.
    The result corresponds to `simulate.regret_curves`, without runs.

    Returns
    -------
    pandas.DataFrame
        One row per (problem, algorithm, t): columns algorithm, instance, t, regret, error (a bound
        on the error of `regret`, whose digits below it are meaningless), the algorithms'
        parameters, and proved_epsilon.

    Examples
    --------
    >>> from privregret.full_information import FTNL
    >>> from privregret.instances import packing
    >>> regret_curves(FTNL(0.5, "gumbel"), packing(10, 0.25), [16, 1024]).regret.round(3).tolist()
    [3.525, 30.978]
    """
    frames = []
    for problem in problems:
        for algorithm in algorithms:
            regret = expected_regret(algorithm, problem, horizons)
            frame = {"algorithm": algorithm.label, "instance": problem.name, "t": horizons}
            frame |= {"regret": regret.value, "error": regret.error}
            # a parameter may be as long as the table
            columns = identity.parameters(algorithm).items()
            frame |= {column: [value] * len(horizons) for column, value in columns}
            frame |= {"proved_epsilon": [algorithm.privacy.epsilon(rounds) for rounds in horizons]}
            frames.append(pd.DataFrame(frame))
    return pd.concat(frames, ignore_index=True)


def expected_gap(
    instance: StochasticLosses, rounds: int, noise: str, scale: float
) -> tuple[float, float]:
    """Return the expected gap of the action selected from `rounds` rounds, and its error bound.

    See `selection_probabilities`.
    """
    selection = selection_probabilities(instance, rounds, noise, scale)
    gaps = arrays(instance)[0]
    return float(selection.group @ gaps), selection.error * float(gaps.sum())


@checks.validate(algorithm=_algorithm, instance=_problem, horizons=_horizons)
@store.cached
def expected_regret(
    algorithm: FullInformationAlgorithm,
    instance: StochasticLosses,
    horizons: int | Sequence[int] | np.ndarray,
) -> Regret:
    """Return the expected pseudo-regret of a full-information algorithm.

    Parameters
    ----------
    algorithm : FullInformationAlgorithm
        Epoch algorithms (FTNL and its variants, random prefixes), the leaders that act in every
        round, or what has a method `expected_regret(instance, horizons)`, which returns a Regret.
    instance : StochasticLosses
        See `selection_probabilities` for the instances that are supported.
    horizons : int or sequence of int
        Rounds T in 1..2^60.

    Returns
    -------
    Regret
        Arrays as long as `horizons`.

    Raises
    ------
    ValueError
        If the instance is too large (see `selection_probabilities`).
    """
    if getattr(algorithm, "bernoulli_resampling", False):
        instance = replace(instance, bits=True)
    if own := getattr(algorithm, "expected_regret", None):
        return own(instance, horizons)
    # round 1 is uniform; then rounds start .. 2 start - 1
    value, error = (np.full(len(horizons), x) for x in expected_gap(instance, 0, "none", 1.0))
    starts = 2 ** np.arange(1, int(horizons[-1]).bit_length())
    if isinstance(algorithm, EpochAlgorithm):
        played = np.clip(horizons[:, None] - starts + 1, 0, starts)
        scale = algorithm.noise_scale(np.exp(min(instance.log_actions, 700.0)))
        shortest = starts // 2 if algorithm.prefix == "full" else starts // 4 + 1
        bounds = largest_gaps(instance, shortest, algorithm.noise, scale)
        left_out = bounds * starts < NEGLIGIBLE
        error += played[:, left_out] @ bounds[left_out]
        some = np.flatnonzero(~left_out)

        longest = starts // 2 if algorithm.prefix == "random" else shortest
        ends = list(zip(shortest[some].tolist(), longest[some].tolist(), strict=True))
        gaps = _remembered(lambda n: expected_gaps(instance, n, algorithm.noise, scale))
        # of all epochs in one call
        if ends:
            gaps(np.concatenate([_nodes(*pair) for pair in ends]))
        for i, (first, last) in zip(some, ends, strict=True):
            gap, gap_error = sum_over(gaps, first, last, value[-1] / 4)
            value += played[:, i] * (gap / (last - first + 1))
            error += played[:, i] * (gap_error / (last - first + 1))
        return Regret(value, error)
    for start in starts.tolist():
        for i in np.flatnonzero(horizons >= start):
            end = min(2 * start - 1, int(horizons[i]))
            total, total_error = _every_round(algorithm, instance, start, end, value[i])
            value[i] += total
            error[i] += total_error
    return Regret(value, error)


def expected_gaps(instance, rounds, noise, scales):
    """Return `expected_gap` for several numbers of rounds: values and errors."""
    gaps = arrays(instance)[0]
    group, error = selections(instance, rounds, noise, scales)
    return np.vecdot(group, gaps), error * gaps.sum()


def _every_round(algorithm, instance, start, end, so_far):
    """Return the regret of rounds start..end, if all earlier ones are used, and its error."""
    leaders = np.isinf(algorithm.inverse_temperature(start, instance.log_actions))
    noise = "none" if leaders else "gumbel"

    def scales(t):
        return 1.0 if leaders else 1 / algorithm.inverse_temperature(t, instance.log_actions)

    def gaps(t):
        return expected_gaps(instance, t - 1, noise, scales(t))

    bound = float(largest_gaps(instance, start - 1, noise, scales(end)))
    if bound * (end - start + 1) < NEGLIGIBLE:
        return 0.0, bound * (end - start + 1)
    return sum_over(gaps, start, end, so_far)


def sum_over(function, first, last, size):
    """Return the sums of function([m, ...])[0] and of the errors [1] over first..last.

    The terms are at least 0. If they are few, all are computed; else the sum is that of
    interpolants in m. An interpolant goes through Chebyshev points rounded to integers. Its error
    is estimated by leaving out every other point, and is made small compared with `size` by halving
    the range.
    """
    nodes = _nodes(first, last)
    terms, errors = function(nodes)
    if len(nodes) > last - first:
        return terms.sum(), errors.sum()
    middle, half = (first + last) / 2, (last - first) / 2
    if last - first < 4096:
        where, weights = (np.arange(first, last + 1) - middle) / half, np.ones(last - first + 1)
    # a sum of many equally spaced terms is the integral between half-integers, to 1 / (24 first^2)
    else:
        x, w = gauss_legendre(2 * NODES)
        where, weights = (1 + 0.5 / half) * x, (half + 0.5) * w
    sums = []
    for every in (1, 2):
        basis = chebyshev.chebvander((nodes[::every] - middle) / half, NODES // every)
        series = np.linalg.solve(basis, terms[::every])
        sums.append(float(weights @ chebyshev.chebval(where, series)))
    off = abs(sums[0] - sums[1])
    if off <= PRECISION * max(size, abs(sums[0])):
        return max(sums[0], 0.0), off + errors.max() * (last - first + 1)
    left = sum_over(function, first, int(middle), size)
    right = sum_over(function, int(middle) + 1, last, max(size, left[0]))
    return left[0] + right[0], left[1] + right[1]


def _nodes(first, last):
    """Return where `sum_over` evaluates its function first."""
    if last - first < 64:
        return np.arange(first, last + 1)
    middle, half = (first + last) / 2, (last - first) / 2
    return np.rint(middle - half * np.cos(np.pi * np.arange(NODES + 1) / NODES)).astype(np.int64)


def _remembered(function):
    """Return a function of an array of integers that remembers its values."""
    values = {}

    def remembered(arguments):
        arguments = arguments.tolist()
        if missing := [x for x in arguments if x not in values]:
            results = zip(*function(np.array(missing)), strict=True)
            values.update(zip(missing, results, strict=True))
        return np.array([values[x] for x in arguments]).T

    return remembered


def largest_gaps(instance, rounds, noise, scale):
    """Return bounds on the expected gap of the action selected from `rounds` rounds."""
    return largest_probabilities(instance, rounds, noise, scale) @ arrays(instance)[0]
