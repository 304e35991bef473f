"""Estimate expectations that rare runs dominate, by importance sampling.

This concerns DP-KLUCB and DP-IMED. If noise and rewards put the best arm's private mean far down in
its first batches, the arm is not pulled for a time that is exponential in its pulls. Such a run is
rare, but its regret is linear for so long that regret has a power tail. With an index below 2
(`DPIMED.tail_index`) the standard error of a plain mean is meaningless. So we draw the best arm's
first noisy batch sums from distributions under which such runs are common, and weight the runs by
the ratio of densities.

The distributions are those of Chernoff's bound, one for k = 1, 2, ...: rewards and noises of the
first k batches are exponentially tilted until the private mean after batch k is on average a third
of the true mean, or more if that is enough to keep the arm away until the horizon. A quarter of the
runs is not tilted, so that no weight exceeds 4. The density of a run is that of the mixture, given
the batches that the run completed.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit, logit

from privregret.bandits.dp_klucb import GeometricBatches
from privregret.core import checks, store, streams
from privregret.core.progress import progress
from privregret.core.workers import map_tasks
from privregret.divergence import d_epsilon
from privregret.instances import BernoulliBandit
from privregret.simulate import grid_points, tidy

MANY = 1000  # replicates per task and stream
PLAIN = 0.25  # fraction of runs from the distribution itself
LOW = 1 / 3  # smallest aim, relative to the best arm's mean
HIGH = 0.8  # largest aim, relative to the second arm's mean
STEEPEST = 1 - 1e-12  # largest tilt of the noise, relative to epsilon
TILTS = 12  # largest number of tilts; if there are more batches, k is log-spaced


@checks.validate(runs=checks.positive_int, seed=checks.seed, workers=checks.workers)
@store.cached
def regrets(
    algorithms: Any,
    problems: Any,
    horizon: int,
    runs: int,
    seed: int,
    points: int | Sequence[int] | np.ndarray = 1,
    workers: int = -1,
) -> pd.DataFrame:
    """Return regrets of DP-KLUCB and DP-IMED, with any parameters, on Bernoulli bandits.

    The arguments and rows are those of `simulate.regret_curves`, with a column weight for
    `estimates.means(..., weights=)`. heavy is False: the weights give the mean a finite variance.
    Weights are in [0, 4], and RuntimeError says if their mean is more than six standard errors of
    sqrt(3 / runs) away from 1.

    Examples
    --------
    >>> from privregret import estimates
    >>> from privregret.bandits import DPIMED
    >>> arms = BernoulliBandit("two arms", [0.6, 0.5])
    >>> frame = regrets(DPIMED(0.1), arms, horizon=10**5, runs=500, seed=1)
    >>> round(float(frame.weight.mean()), 1)
    1.0
    """
    for algorithm in checks.one_or_more("algorithms", algorithms):
        if not isinstance(algorithm, GeometricBatches):
            raise TypeError(f"algorithms must be DPKLUCB or DPIMED, got {algorithm!r}")
    grid = grid_points(algorithms, problems, horizon, points)
    tasks = (
        (a, p, rounds, min(MANY, runs - block * MANY), streams.generator(key, seed, block))
        for a, p, rounds in grid
        for key in [streams.key("rare", a, p.distribution)]
        for block in range(-(-runs // MANY))
    )
    blocks = progress(map_tasks(weighted, tasks, workers), len(grid) * -(-runs // MANY))
    regret, weight = map(np.concatenate, zip(*blocks, strict=True))
    for (algorithm, problem, _), mean in zip(grid, weight.reshape(-1, runs).mean(1), strict=True):
        if not abs(mean - 1) <= 6 * np.sqrt(3 / runs):
            raise RuntimeError(
                f"weights of {algorithm!r} on {problem.name} must have mean 1, "
                f"got {mean:.3g}: {runs} runs"
            )
    weight = np.repeat(weight, len(grid[0].checkpoints))
    return tidy(grid, regret.ravel()).assign(weight=weight, heavy=False)


def weighted(
    algorithm: GeometricBatches,
    problem: BernoulliBandit,
    rounds: np.ndarray,
    runs: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Return (runs, H) regrets at checkpoints under the mixture of tilts, and weights of mean 1."""
    horizon = checks.integer_in(problem.min_horizon, checks.MAX_HORIZON)("horizon", rounds[-1])
    settings = algorithm.settings(horizon, *problem.memory_sizes)
    arm, mean, epsilon = int(np.argmax(problem.means)), max(problem.means), algorithm.epsilon
    firsts, levels = _aims(
        settings.ends, sorted(set(problem.means))[-2:][0], mean, epsilon, np.log(horizon)
    )
    batches = firsts[-1]
    tilts = [
        _tilt(k, settings.ends[k - 1], x, mean, epsilon)
        for k, x in zip(firsts, levels, strict=True)
    ]

    which = np.where(rng.random(runs) < PLAIN, -1, rng.integers(len(firsts), size=runs))
    first = np.append(firsts, 0)[which]
    tilt = np.where(np.arange(batches) < first[:, None], np.append(tilts, 0.0)[which][:, None], 0.0)
    left = rng.random(tilt.shape) < (1 + tilt) / 2
    noise = rng.exponential(size=tilt.shape) / np.where(left, tilt - 1, 1 + tilt) / epsilon
    sizes = np.diff(settings.ends[:batches], prepend=0)
    rewards = rng.binomial(np.broadcast_to(sizes, tilt.shape), _tilted(mean, tilt * epsilon))
    noisy = noise + rewards

    kernel = type(algorithm).fast_run_given
    counts = kernel(problem.kernel_data, rounds, settings, arm, noisy, rng)
    done = np.searchsorted(settings.ends, counts[:, -1, arm], side="right")
    # rewards that are always 1 cancel, and next to 2^62 of them the noise would be lost
    sums = np.insert((noise if mean == 1 else noisy).cumsum(axis=1), 0, 0.0, axis=1)
    pulls = np.insert(settings.ends[:batches], 0, 0)
    density = np.full(runs, PLAIN)
    for k, chosen in zip(firsts, tilts, strict=True):
        m = np.minimum(k, done)
        norm = pulls[m] * _log_moment(mean, chosen * epsilon) - m * np.log1p(-(chosen**2))
        log_ratio = -chosen * epsilon * sums[np.arange(runs), m] - norm
        density += (1 - PLAIN) / len(firsts) * np.exp(np.minimum(log_ratio, 700.0))
    return problem.regret(counts, rounds), 1 / density


def _tilted(mean, rate):
    """Return the mean of a Bernoulli distribution tilted by exp(-rate x)."""
    return expit(logit(mean) - rate)


def _log_moment(mean, rate):
    """Return ln E exp(-rate x) of a Bernoulli x, or 0 if x is always 1."""
    if mean == 1:
        return 0.0
    if rate < 1:
        return np.log1p(mean * np.expm1(-rate))
    return np.logaddexp(np.log1p(-mean), np.log(mean) - rate)


def _aims(ends, second, mean, epsilon, log_t):
    """Return numbers k of batches, and the private mean at which each tilt aims."""
    low = LOW * mean
    high = max(HIGH * second, low)

    def level(pulls):  # level at which an arm with this many pulls waits until the horizon
        if pulls * d_epsilon(low, second, epsilon) <= log_t or low >= second:
            return low
        return brentq(lambda x: pulls * d_epsilon(x, second, epsilon) - log_t, low, second)

    levels = []
    # the last batch ends at the horizon or later: it counts only if there is no other
    for pulls in ends[: max(1, len(ends) - 1)]:
        levels.append(min(level(pulls), high))
        if levels[-1] == high > low:
            break
    batches = np.arange(1, len(levels) + 1)
    if len(levels) > TILTS:
        batches = np.unique(np.geomspace(1, len(levels), TILTS).round().astype(int))
    return batches, np.array(levels)[batches - 1]


def _tilt(batches, pulls, level, mean, epsilon):
    """Return the tilt at which the noisy mean of the first batches is `level`, or the largest."""

    def excess(tilt):
        return pulls * (_tilted(mean, tilt * epsilon) - level) - 2 * tilt * batches / (
            epsilon * (1 - tilt**2)
        )

    return brentq(excess, 0.0, STEEPEST) if excess(STEEPEST) < 0 else STEEPEST
