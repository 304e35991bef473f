"""Explore until the noisy margin of the best action is large."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from privregret.core import checks
from privregret.core.algorithm import Privacy, Steps
from privregret.core.jit import jit
from privregret.core.noise import GUMBEL, draw
from privregret.full_information.base import FullInformationAlgorithm

ACTION = np.dtype([("loss", float)])  # sum of its losses since the last choice
OWN = np.dtype(
    [
        *((name, np.int64) for name in ("leader", "next", "length")),
        ("stopped", np.bool_),
        ("limit", float),  # noisy threshold of the margins
    ]
)


class Rule(NamedTuple):
    """Hold the parameters that the kernels take."""

    fraction: float
    first_scale: float  # scale of the Gumbel noise when exploration stops
    threshold: float
    noise: float  # mean of the exponential noise on threshold and margins
    scale: float  # scale of the Gumbel noise in later epochs


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
def _leader(actions, scale, rng):
    """Return the report-noisy-max winner with Gumbel noise, and reset the sums."""
    best, leader = -math.inf, 0
    for i in range(len(actions)):
        score = draw(GUMBEL, scale, rng) - actions[i]["loss"]
        actions[i]["loss"] = 0.0
        if score > best:
            best, leader = score, i
    return leader


@jit
def _choose(actions, own, rule, t, rng):
    """Return the action of round t."""
    if t == 1:
        own["leader"], own["next"] = int(rng.random() * len(actions)), 2
        own["limit"] = rule.threshold + rule.noise * rng.standard_exponential()
    elif t == own["next"] and own["stopped"]:
        own["leader"] = _leader(actions, rule.scale, rng)
        own["length"] *= 2
        own["next"] = t + own["length"]
    elif t == own["next"]:
        seen = t - 1
        noisy = _margin(actions, rule.first_scale) + rule.noise * rng.standard_exponential()
        if noisy >= own["limit"]:
            own["leader"], own["stopped"] = _leader(actions, rule.first_scale, rng), True
            own["length"], own["next"] = seen, t + seen
        else:
            own["next"] = 1 + max(seen + 1, int((1 + rule.fraction) * seen))
    return own["leader"]


@jit
def _observe(actions, own, rule, t, j, losses, rng):
    """Update the memory with the losses of round t."""
    for i in range(len(actions)):
        actions[i]["loss"] += losses[i]


@dataclass(frozen=True)
class MarginStop(FullInformationAlgorithm):
    """Play a uniform action until the margin passes a noisy threshold; then FTNL.

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

    Parameters
    ----------
    epsilon : float
        Privacy parameter, above 0.
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
        "epsilon": checks.positive,
        "fraction": checks.number_in(1e-6, 1 - 1e-6),
        "threshold": checks.number_in(0, math.inf),
    }
    steps = Steps(ACTION, OWN, _choose, _observe)

    @property
    def label(self) -> str:
        return "margin stop" if self.threshold == 13 else "margin stop (own threshold)"

    @property
    def privacy(self) -> Privacy:
        return Privacy(self.epsilon, self.epsilon)

    def rule(self, log_actions: float) -> Rule:
        """Return all constants, for e^log_actions actions."""
        scale = 2 / ((1 - self.fraction) * self.epsilon)
        threshold = self.threshold * self.fraction * scale * log_actions
        noise = 6 / (self.fraction * self.epsilon)
        return Rule(self.fraction, scale, threshold, noise, 2 / self.epsilon)

    def settings(self, horizon: int | None, actions: int) -> Rule:
        return self.rule(math.log(actions))
