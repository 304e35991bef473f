"""Votes: learners, and their exact regret on fixed losses."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from privregret.companion.fixed import CERTAIN, ROUNDING, Fixed
from privregret.core import checks
from privregret.core.algorithm import EPSILON_DP, Steps
from privregret.core.jit import jit
from privregret.core.noise import GUMBEL, drawn
from privregret.exact import Regret
from privregret.full_information.base import FullInformationAlgorithm
from privregret.full_information.epochs import noisy_leader
from privregret.instances import StochasticLosses

# largest number of rounds of an epoch, so that 64 bits can count and add them
LONGEST = 2.0**60

VOTED = np.dtype([("votes", np.int64), ("weight", float)])
BOTH = np.dtype([("votes", np.int64), ("weight", float), ("loss", float)])
EPOCH = np.dtype([(name, np.int64) for name in ("leader", "next", "length", "epoch")])


class Ballot(NamedTuple):
    """The draw after epoch i = 1, 2, ...: P(k) proportional to exp(rate max(c_k - s_i, 0)), with
    votes c_k. Epoch i has 2 s_i + window rounds, s_i = 1 + ceil((bonus + i) / rate).
    """

    rate: float
    bonus: float
    window: int


class Constants(NamedTuple):
    """The first ballot, and the draws of later epochs, the first of which has `first` rounds.

    The leader's noise has this scale; the test has rate `tilt`, and s_i = length - `margin`.
    """

    rate: float
    bonus: float
    window: int
    scale: float
    tilt: float
    margin: int
    first: int


@jit
def epoch_threshold(ballot, epoch):
    """Return s_i."""
    return int(min(1 + math.ceil((ballot.bonus + epoch) / ballot.rate), LONGEST))


@jit
def epoch_length(ballot, epoch):
    """Return the number of rounds of epoch i."""
    return int(min(2.0 * epoch_threshold(ballot, epoch) + ballot.window, LONGEST))


@jit
def _elected(actions, ballot, epoch, rng):
    """Draw an action from the votes of an epoch."""
    threshold, most, mass = epoch_threshold(ballot, epoch), 0, 0.0
    for i in range(len(actions)):
        most = max(most, actions[i]["votes"] - threshold)
    for i in range(len(actions)):
        above = max(actions[i]["votes"] - threshold, 0)
        actions[i]["weight"] = math.exp(ballot.rate * (above - most))
        mass += actions[i]["weight"]
    return drawn(actions["weight"], rng.random() * mass)


@jit
def _vote(losses):
    """Return the action with the smallest loss; of several, the first."""
    vote = 0
    for i in range(1, len(losses)):
        if losses[i] < losses[vote]:
            vote = i
    return vote


@jit
def _choose(actions, state, ballot, t, rng):
    """Start an epoch with a draw from the votes of the one before, or repeat its action."""
    if t == 1:
        state["leader"] = int(rng.random() * len(actions))
    elif t == state["next"]:
        state["leader"] = _elected(actions, ballot, state["epoch"], rng)
        for i in range(len(actions)):
            actions[i]["votes"] = 0
    else:
        return state["leader"]
    state["epoch"] += 1
    state["next"] = t + epoch_length(ballot, state["epoch"])
    return state["leader"]


@jit
def _observe(actions, state, ballot, t, j, losses, rng):
    """Count the vote of the round."""
    actions[_vote(losses)]["votes"] += 1


@dataclass(frozen=True)
class Votes(FullInformationAlgorithm):
    """Votes: in each epoch, an action drawn from the votes of the previous epoch.

    A round votes for its action with the smallest loss, of several for the first. The rounds of an
    epoch and the draw are those of `Ballot`, with rate = epsilon / (1 + 1 / lam), bonus = 2 ln lam
    and window = floor(ln(K / lam) / rate). The first epoch plays a uniform action.

    The learner exploits unanimity. If losses are the same in every round its regret is at most (ln
    K + 3 ln(1 + ln K) + 9) / epsilon + 6. On other stochastic losses regret can be linear in T.

    Privacy: epsilon for the sequence of actions. Plain version: `votes` of notebook
    companion/constants.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, in [1e-6, 1e6].
    lam : float, optional
        At least 1 and at most K; 1 + ln K by default.
    """

    epsilon: float
    lam: float | None = None
    id = "votes"
    label = "votes"
    source = "companion/constants, Theorem 2"
    rules = {
        "epsilon": checks.epsilon,
        "lam": lambda name, value: (
            None if value is None else checks.number_in(1, math.inf)(name, value)
        ),
    }
    steps = Steps(VOTED, EPOCH, _choose, _observe)
    privacy = EPSILON_DP

    def ballot(self, log_actions: float) -> Ballot:
        """Return what determines a draw, for e^log_actions actions."""
        lam = 1 + log_actions if self.lam is None else self.lam
        if math.log(lam) > log_actions:
            raise ValueError(f"lam must be at most the number of actions, got {lam:g}")
        rate = self.epsilon / (1 + 1 / lam)
        window = math.floor(min((log_actions - math.log(lam)) / rate, LONGEST))
        return Ballot(rate, 2 * math.log(lam), window)

    def settings(self, horizon: int | None, actions: int) -> Ballot:
        return self.ballot(math.log(actions))

    def expected_regret(self, instance: StochasticLosses, horizons: np.ndarray) -> Regret:
        """Return expected regret on fixed losses; see `exact.expected_regret`."""
        problem = Fixed.of(self, instance)
        ballot = self.ballot(problem.log_actions)
        start, epoch, gap = 0, 1, problem.mean_gap
        value, error = np.zeros(len(horizons)), np.zeros(len(horizons))
        while start < horizons[-1] and epoch <= CERTAIN:
            length = epoch_length(ballot, epoch)
            value += gap * np.clip(horizons - start, 0, length)
            gap = problem.wrong(ballot.rate * (length - epoch_threshold(ballot, epoch)))
            start, epoch = start + length, epoch + 1
        # gaps fall by e, lengths grow by at most 2 + 2 / rate
        if start < horizons[-1]:
            error += gap * (epoch_length(ballot, epoch) + 2 + 2 / ballot.rate) * 4
        return Regret(value, error + ROUNDING * value)


@jit
def _choose_or_leader(actions, state, settings, t, rng):
    """Start an epoch with what the test names, or the leader, or repeat the epoch's action."""
    if t == 1:
        state["leader"] = int(rng.random() * len(actions))
        state["length"] = epoch_length(settings, 1)
    elif t == state["next"]:
        if state["epoch"] == 1:
            state["leader"] = _elected(actions, settings, 1, rng)
            state["length"] = settings.first
        else:
            leader = noisy_leader(actions, GUMBEL, settings.scale, rng)
            tested = _tested(actions, settings, state["length"], rng)
            state["leader"] = leader if tested < 0 else tested
            state["length"] = min(2 * state["length"], int(LONGEST))
        for i in range(len(actions)):
            actions[i]["votes"], actions[i]["loss"] = 0, 0.0
    else:
        return state["leader"]
    state["epoch"] += 1
    state["next"] = t + state["length"]
    return state["leader"]


@jit
def _tested(actions, settings, length, rng):
    """Draw an action that has almost all votes of an epoch, or -1."""
    most = 0
    for i in range(len(actions)):
        most = max(most, actions[i]["votes"] - (length - settings.margin))
    nothing = math.exp(-settings.tilt * most)
    mass = nothing
    for i in range(len(actions)):
        above = actions[i]["votes"] - (length - settings.margin)
        actions[i]["weight"] = math.exp(settings.tilt * (above - most))
        mass += actions[i]["weight"]
    pick = rng.random() * mass
    return -1 if pick < nothing else drawn(actions["weight"], pick - nothing)


@jit
def _observe_or_leader(actions, state, settings, t, j, losses, rng):
    """Count the vote of the round, and add the losses."""
    actions[_vote(losses)]["votes"] += 1
    for i in range(len(actions)):
        actions[i]["loss"] += losses[i]


@dataclass(frozen=True)
class VotesOrLeader(FullInformationAlgorithm):
    """Votes or leader: unanimous votes while a private test finds them, else a noisy leader.

    The first epoch of `Votes` plays a uniform action and ends with a draw from its votes. Then come
    epochs of y_i = 2^i y_0 rounds, y_0 = ceil(20 ln(4 lam K) / epsilon) with lam = 1 + ln K: the
    first plays that draw. After each of them the Gumbel leader at scale 4 / epsilon is drawn, and
    from the votes a test: action k with probability proportional to exp(epsilon (c_k - s_i) / 4),
    or none, with probability proportional to 1; s_i = y_i - ceil(4 ln(2 lam) / epsilon). The next
    epoch plays the action that the test names, or the leader if it names none.

    For epsilon <= 1 its regret has constant 1 in front of ln K / epsilon on losses that are the
    same in every round, and the order ln K / gap + ln K / epsilon on all stochastic losses.

    Privacy: epsilon for the sequence of actions, half for the leader and half for the test.
    Plain version: notebooks/companion/constants, `votes_or_leader`.
    """

    epsilon: float
    id = "votes-or-leader"
    label = "votes or leader"
    source = "companion/constants, Theorem 3"
    rules = {"epsilon": checks.epsilon}
    steps = Steps(BOTH, EPOCH, _choose_or_leader, _observe_or_leader)
    privacy = EPSILON_DP

    def constants(self, log_actions: float) -> Constants:
        """Return all constants, for e^log_actions actions."""
        lam, e = 1 + log_actions, self.epsilon
        first = min(math.ceil(20 / e * (log_actions + math.log(4 * lam))), LONGEST)
        margin = min(math.ceil(4 / e * math.log(2 * lam)), LONGEST)
        return Constants(*Votes(e).ballot(log_actions), 4 / e, e / 4, int(margin), int(first))

    def settings(self, horizon: int | None, actions: int) -> Constants:
        return self.constants(math.log(actions))

    def expected_regret(self, instance: StochasticLosses, horizons: np.ndarray) -> Regret:
        """Return expected regret on fixed losses; see `exact.expected_regret`."""
        problem = Fixed.of(self, instance)
        constants = self.constants(problem.log_actions)
        first, y = epoch_length(constants, 1), constants.first
        elected = problem.wrong(constants.rate * (first - epoch_threshold(constants, 1)))
        value = problem.mean_gap * np.clip(horizons, 0, first)
        value += elected * np.clip(horizons - first, 0, y)
        start = first + y
        while start < horizons[-1]:
            tested = constants.tilt * np.array([constants.margin, constants.margin - y])
            # none, the voted action, the rest
            log_weights = np.array([0.0, tested[0], tested[1] + problem.log_others])
            none, _, rest = np.exp(log_weights - np.logaddexp.reduce(log_weights))
            gap = none * problem.led(np.array([y]), constants.scale)[0] + rest * problem.others_gap
            value += gap * np.clip(horizons - start, 0, 2 * y)
            start, y = start + 2 * y, 2 * y
        return Regret(value, ROUNDING * value)
