"""Margin stop: the learner, and its exact regret on fixed losses."""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from privregret.companion.fixed import CERTAIN, ROUNDING, Fixed
from privregret.core import checks
from privregret.core.algorithm import EPSILON_DP, Steps
from privregret.core.jit import jit
from privregret.core.noise import GUMBEL
from privregret.exact import Regret
from privregret.exact.sums import gauss_legendre
from privregret.full_information.base import FullInformationAlgorithm
from privregret.full_information.epochs import noisy_leader
from privregret.instances import StochasticLosses

# nodes of a quadrature between two kinks; fewer between many
NODES = 16
# largest number of values of a quadrature in memory
CHUNK = 2**20

# sum of its losses since the last choice
ACTION = np.dtype([("loss", float)])
# limit: noisy threshold of the margins
INTEGERS = [(name, np.int64) for name in ("leader", "next", "length")]
STATE = np.dtype([*INTEGERS, ("stopped", np.bool_), ("limit", float)])


class Rule(NamedTuple):
    """Constants: scales of the Gumbel noise when exploration stops and in later epochs, mean of
    the exponential noise on threshold and margins.
    """

    fraction: float
    first_scale: float
    threshold: float
    noise: float
    scale: float


@jit
def _margin(actions, scale):
    """Return the mean sum of losses minus their soft minimum at that scale."""
    least, mean, mass = math.inf, 0.0, 0.0
    for i in range(len(actions)):
        least = min(least, actions[i]["loss"])
        mean += actions[i]["loss"] / len(actions)
    for i in range(len(actions)):
        mass += math.exp((least - actions[i]["loss"]) / scale)
    return mean - least + scale * math.log(mass / len(actions))


@jit
def _choose(actions, state, rule, t, rng):
    """Explore until a check of the grid succeeds; then epochs that double, each with its leader."""
    if t == 1:
        state["leader"], state["next"] = int(rng.random() * len(actions)), 2
        state["limit"] = rule.threshold + rule.noise * rng.standard_exponential()
    elif t == state["next"] and state["stopped"]:
        state["leader"] = noisy_leader(actions, GUMBEL, rule.scale, rng)
        state["length"] *= 2
        state["next"] = t + state["length"]
    elif t == state["next"]:
        seen = t - 1
        noisy = _margin(actions, rule.first_scale) + rule.noise * rng.standard_exponential()
        if noisy >= state["limit"]:
            state["leader"] = noisy_leader(actions, GUMBEL, rule.first_scale, rng)
            state["stopped"] = True
            state["length"], state["next"] = seen, t + seen
        else:
            state["next"] = 1 + max(seen + 1, int((1 + rule.fraction) * seen))
    return state["leader"]


@jit
def _observe(actions, state, rule, t, j, losses, rng):
    """Add the losses."""
    for i in range(len(actions)):
        actions[i]["loss"] += losses[i]


@dataclass(frozen=True)
class MarginStop(FullInformationAlgorithm):
    """Margin stop: a uniform action until the margin passes a noisy threshold; then FTNL.

    Let b = 2 / ((1 - fraction) epsilon), and q_n the mean of the sums of losses after n rounds
    minus their soft minimum -b ln(mean exp(-L / b)). On a grid of rounds n that grow by 1 +
    fraction, q_n plus exponential noise is compared with threshold fraction b ln K plus exponential
    noise that is drawn once, both of mean 6 / (fraction epsilon). At the first success, after tau
    rounds, the action is drawn by softmax of -L / b and played for tau rounds. Epochs of 2 tau, 4
    tau, ... rounds follow, each with the Gumbel leader of the previous one at scale 2 / epsilon.

    With equal gaps, which the learner need not know, its regret tends to 2 ln K / epsilon: K to
    infinity, with epsilon far below the gap but ln(1 / (epsilon gap)) = K^o(1), then the fraction
    to 0. The convergence is slow.

    Privacy: epsilon for the sequence of actions: fraction epsilon for tau, the rest for the action.
    Plain version: notebooks/companion/constants, `margin_stop`.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, in [1e-6, 1e6].
    fraction : float
        Part of the privacy budget that the stopping time uses, in (0, 1); up to 1/4 in the proof.
    threshold : float
        13 in the proof, at least 0. Privacy does not depend on it.
    """

    epsilon: float
    fraction: float = 0.25
    threshold: float = 13.0
    id = "margin-stop"
    source = "companion/constants, Theorem 6"
    rules = {
        "epsilon": checks.epsilon,
        "fraction": checks.number_in(1e-6, 1 - 1e-6),
        "threshold": checks.number_in(0, math.inf),
    }
    steps = Steps(ACTION, STATE, _choose, _observe)
    privacy = EPSILON_DP

    @property
    def label(self) -> str:
        return "margin stop" if self.threshold == 13 else "margin stop (own threshold)"

    def rule(self, log_actions: float) -> Rule:
        """Return all constants, for e^log_actions actions."""
        scale = 2 / ((1 - self.fraction) * self.epsilon)
        threshold = self.threshold * self.fraction * scale * log_actions
        noise = 6 / (self.fraction * self.epsilon)
        return Rule(self.fraction, scale, threshold, noise, 2 / self.epsilon)

    def settings(self, horizon: int | None, actions: int) -> Rule:
        return self.rule(math.log(actions))

    def expected_regret(self, instance: StochasticLosses, horizons: np.ndarray) -> Regret:
        """Return expected regret on fixed losses; see `exact.expected_regret`."""
        problem = Fixed.of(self, instance)
        stops, chances, left = stopping_law(self, problem, int(horizons[-1]))
        rule = self.rule(problem.log_actions)
        value = problem.mean_gap * (np.minimum.outer(horizons, stops) @ chances + left * horizons)
        starts, gaps = 2.0 * stops, problem.led(stops, rule.first_scale)
        value += (np.clip(np.subtract.outer(horizons, stops), 0, stops) * gaps) @ chances
        lengths = np.array(stops, float)
        while (starts < horizons[-1]).any():
            # an epoch as long as the horizon is followed by none that starts in time
            gaps = problem.led(np.minimum(lengths, horizons[-1]), rule.scale)
            lengths *= 2
            value += (np.clip(np.subtract.outer(horizons, starts), 0, lengths) * gaps) @ chances
            starts += lengths
        return Regret(value, ROUNDING * value + math.exp(-CERTAIN) * horizons)


def stopping_law(
    algorithm: MarginStop, problem: Fixed, horizon: int
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return when exploration stops: rounds, probabilities, and that of no stop.

    No stop is by the horizon. Checks that succeed with a probability below e^-60 are left out.
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

    `above` has margin minus threshold at each check, in units of the exponential noise that is
    added to the margin at each check, and to the threshold once.
    """
    kinks = np.unique(np.concatenate([[0.0, CERTAIN], above[(above > 0) & (above < CERTAIN)]]))
    kinks = np.concatenate([np.linspace(a, b, 2 + int(b - a)) for a, b in pairwise(kinks)])
    x, w = gauss_legendre(max(3, min(NODES, 2000 // len(kinks))))
    half = np.diff(kinks) / 2
    at = (((kinks[1:] + kinks[:-1]) / 2)[:, None] + half[:, None] * x).ravel()
    weights = (half[:, None] * w).ravel() * np.exp(-at)
    chances, left = np.zeros(len(above)), 0.0
    for some in np.array_split(np.arange(len(at)), 1 + len(at) * len(above) // CHUNK):
        # distance that noise has to cover
        short = np.maximum(at[some, None] - above, 0.0)
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
