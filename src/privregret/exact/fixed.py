"""Compute expected regret on losses that are the same in every round.

This covers votes and the margin stop, whose expected regret has no such formula on other losses.
"""

import math
from functools import singledispatch
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import log_expit

from privregret.exact.selection import differences, gauss_legendre, probabilities_from_sums
from privregret.full_information import MarginStop, Votes, VotesOrLeader
from privregret.instances import StochasticLosses

CERTAIN = 60.0  # events of probability e^-60 are left out, and counted as error
NODES = 16  # nodes of a quadrature between two kinks; fewer between many
CHUNK = 2**20  # largest number of values of a quadrature in memory
ROUNDING = 1e-10  # relative error


class Fixed(NamedTuple):
    """Hold losses that never change: gaps and log-numbers of actions, per group."""

    gaps: np.ndarray
    log_counts: np.ndarray

    @property
    def log_actions(self) -> float:
        """Return ln K."""
        return float(np.logaddexp.reduce(self.log_counts))

    @property
    def mean_gap(self) -> float:
        """Return the mean gap of a uniform action."""
        return float(np.exp(self.log_counts - self.log_actions) @ self.gaps)

    def led(self, rounds: np.ndarray, scale: float) -> np.ndarray:
        """Return the mean gap of the Gumbel leader of epochs with these numbers of rounds."""
        sums = np.multiply.outer(np.asarray(rounds, float), self.gaps)
        return probabilities_from_sums(sums, self.log_counts, "gumbel", scale) @ self.gaps

    def wrong(self, log_weight: np.ndarray) -> np.ndarray:
        """Return the mean gap if the voted action has e^log_weight times other weights.

        Each other action has weight 1.
        """
        others = self.log_actions + math.log1p(-math.exp(-self.log_actions))  # ln(K - 1)
        uniform = self.mean_gap / -math.expm1(-self.log_actions)  # mean gap of the K - 1 others
        return np.exp(log_expit(others - log_weight)) * uniform


def fixed_regret(
    algorithm: Votes | VotesOrLeader | MarginStop, instance: StochasticLosses, horizons: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return expected pseudo-regret at each horizon, and a bound on its error.

    Losses must be fixed.

    Raises
    ------
    ValueError
        If losses are random.
    """
    if instance.bits or len(instance.outcomes) > 1:
        raise ValueError(
            f"losses must be the same in every round for the exact regret of {algorithm.label}, "
            f"got {instance.name}"
        )
    problem = Fixed(differences(instance.means), np.array(instance.log_counts))
    return _regret(algorithm, problem, np.asarray(horizons))


@singledispatch
def _regret(algorithm, problem, horizons):
    raise TypeError(f"{type(algorithm).__name__} has no exact regret on fixed losses")


@_regret.register
def _(algorithm: Votes, problem, horizons):
    ballot = algorithm.ballot(problem.log_actions)
    start, epoch, gap = 0, 1, problem.mean_gap
    value, error = np.zeros(len(horizons)), np.zeros(len(horizons))
    while start < horizons[-1] and epoch <= CERTAIN:
        length = ballot.length(epoch)
        value += gap * np.clip(horizons - start, 0, length)
        gap = problem.wrong(ballot.rate * (length - ballot.threshold(epoch)))
        start, epoch = start + length, epoch + 1
    if start < horizons[-1]:  # gaps fall by e, lengths grow by at most 2 + 2 / rate
        error += gap * (ballot.length(epoch) + 2 + 2 / ballot.rate) * 4
    return value, error + ROUNDING * value


@_regret.register
def _(algorithm: VotesOrLeader, problem, horizons):
    constants = algorithm.constants(problem.log_actions)
    ballot = Votes(algorithm.epsilon).ballot(problem.log_actions)
    first, y = ballot.length(1), constants.first
    elected = problem.wrong(ballot.rate * (first - ballot.threshold(1)))
    value = problem.mean_gap * np.clip(horizons, 0, first)
    value += elected * np.clip(horizons - first, 0, y)
    start = first + y
    others = problem.log_actions + math.log1p(-math.exp(-problem.log_actions))
    uniform = problem.mean_gap / -math.expm1(-problem.log_actions)
    while start < horizons[-1]:
        tested = constants.tilt * np.array([constants.margin, constants.margin - y])
        # none, the voted action, the rest
        log_weights = np.array([0.0, tested[0], tested[1] + others])
        none, _, rest = np.exp(log_weights - np.logaddexp.reduce(log_weights))
        gap = none * problem.led(np.array([y]), constants.scale)[0] + rest * uniform
        value += gap * np.clip(horizons - start, 0, 2 * y)
        start, y = start + 2 * y, 2 * y
    return value, ROUNDING * value


@_regret.register
def _(algorithm: MarginStop, problem, horizons):
    stops, chances, left = stopping_law(algorithm, problem, int(horizons[-1]))
    rule = algorithm.rule(problem.log_actions)
    value = problem.mean_gap * (np.minimum.outer(horizons, stops) @ chances + left * horizons)
    starts, gaps = 2.0 * stops, problem.led(stops, rule.first_scale)
    value += (np.clip(np.subtract.outer(horizons, stops), 0, stops) * gaps) @ chances
    lengths = np.array(stops, float)
    while (starts < horizons[-1]).any():
        gaps = problem.led(lengths, rule.scale)
        lengths *= 2
        value += (np.clip(np.subtract.outer(horizons, starts), 0, lengths) * gaps) @ chances
        starts += lengths
    return value, ROUNDING * value + math.exp(-CERTAIN) * horizons


def stopping_law(
    algorithm: MarginStop, problem: Fixed, horizon: int
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return when exploration stops: rounds, probabilities, and that of no stop.

    No stop means none by the horizon. Checks that succeed with a probability below e^-60 are left
    out.
    """
    rule = algorithm.rule(problem.log_actions)
    grid, ceiling = [1], rule.threshold + CERTAIN * rule.noise
    while _margins(problem, grid[-1:], rule)[0] < ceiling and grid[-1] < horizon:
        grid.append(max(grid[-1] + 1, int((1 + rule.fraction) * grid[-1])))
    stops = np.array([n for n in grid if n < horizon] or [horizon], float)
    least = rule.threshold - CERTAIN * rule.noise
    stops = stops[max(0, np.searchsorted(_margins(problem, stops, rule), least) - 1) :]
    above = (_margins(problem, stops, rule) - rule.threshold) / rule.noise
    return stops, *stopping_chances(above)


def stopping_chances(above: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the probabilities that check 1, 2, ... is the first success, and of none.

    Parameters
    ----------
    above : (n,) array
        Margin minus threshold at each check, in units of the exponential noise that is added to the
        margin at each check, and to the threshold once.
    """
    kinks = np.unique(np.concatenate([[0.0, CERTAIN], above[(above > 0) & (above < CERTAIN)]]))
    kinks = np.concatenate([np.linspace(a, b, 2 + int(b - a)) for a, b in pairwise(kinks)])
    x, w = gauss_legendre(max(3, min(NODES, 2000 // len(kinks))))
    half = np.diff(kinks) / 2
    at = (((kinks[1:] + kinks[:-1]) / 2)[:, None] + half[:, None] * x).ravel()
    weights = (half[:, None] * w).ravel() * np.exp(-at)
    chances, left = np.zeros(len(above)), 0.0
    for some in np.array_split(np.arange(len(at)), 1 + len(at) * len(above) // CHUNK):
        short = np.maximum(at[some, None] - above, 0.0)  # distance that noise has to cover
        log_go_on = np.log(-np.expm1(-np.maximum(short, 1e-300)))
        before = np.cumsum(log_go_on, axis=1)
        left += weights[some] @ np.exp(before[:, -1])
        chances += weights[some] @ np.exp(before - log_go_on - short)
    return chances, float(left)


def _margins(problem, rounds, rule):
    """Return q_n, the mean sum of losses minus the soft minimum."""
    sums = np.multiply.outer(np.asarray(rounds, float), problem.gaps)
    fractions = problem.log_counts - problem.log_actions
    soft = np.logaddexp.reduce(fractions - sums / rule.first_scale, axis=-1)
    return sums @ np.exp(fractions) + rule.first_scale * soft
