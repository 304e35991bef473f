"""What `companion/constants` computes: exact regret, the lower bound by number of gaps, audits."""

import math
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import pandas as pd
from scipy.optimize import linprog
from scipy.sparse import coo_array

from privregret import exact, instances, simulate
from privregret.bounds import companion as bounds
from privregret.companion import (
    Game,
    MarginStop,
    PhasedFTNL,
    Votes,
    VotesOrLeader,
    epoch_plan,
)
from privregret.companion.margin_stop import stopping_chances
from privregret.core import store
from privregret.core.algorithm import Algorithm
from privregret.estimates import Estimate
from privregret.instances import StochasticLosses
from privregret.studies.whole_epochs import LONG, equal_gaps

# stands for infinity in findings
INFINITE = 1e6

# Regret on losses that are the same in every round ------------------------------------------------


@store.cached
def scaled_regret(learner: Algorithm, instance: StochasticLosses) -> Estimate:
    """Exact epsilon R / ln K after 2^60 rounds."""
    regret, scale = exact.expected_regret(learner, instance, LONG), instance.log_actions
    value, error = (float(x[0]) * learner.epsilon / scale for x in regret)
    return Estimate(value, bound=error)


def curve(make: Callable, log_actions: list, gaps: list) -> Iterator[dict]:
    """The largest epsilon R / ln K over the gaps, of the learner that `make(ln K)` returns."""
    for log_k in log_actions:
        learner = make(log_k)
        found = [(gap, scaled_regret(learner, equal_gaps(log_k, gap))) for gap in gaps]
        gap, scaled = max(found, key=lambda pair: pair[1].value)
        row = {"algorithm": learner.label, "log_actions": log_k, "epsilon": learner.epsilon}
        row |= {"fraction": getattr(learner, "fraction", math.nan)}
        row |= {"threshold": getattr(learner, "threshold", math.nan)}
        yield row | {"gap": gap, "scaled_regret": scaled.value, "scaled_regret_error": scaled.bound}


def tuned(
    epsilon: float, log_k: float, gap: float, fractions: list, thresholds: list
) -> MarginStop:
    """The margin stop of least regret on an instance, over a grid of its parameters."""
    tried = [MarginStop(epsilon, *pair) for pair in product(fractions, thresholds)]
    instance = equal_gaps(log_k, gap)
    return min(tried, key=lambda learner: scaled_regret(learner, instance).value)


@store.cached
def over_bounds(epsilons: list, log_actions: list, gaps: list) -> pd.DataFrame:
    """Exact regret on fixed losses over each theorem's bound, one row per learner and instance."""
    rows = []
    for epsilon, log_k, gap in product(epsilons, log_actions, gaps):
        learners = [
            (Votes(epsilon), bounds.votes(log_k, epsilon)),
            (VotesOrLeader(epsilon), bounds.votes_or_leader(log_k, epsilon)),
            (PhasedFTNL(epsilon, "gumbel"), bounds.random_phase_fixed(log_k, epsilon, math.e)),
            (MarginStop(epsilon), bounds.margin_stop(log_k, gap, epsilon, 0.25)),
        ]
        for learner, bound in learners:
            if epsilon <= 1 or not isinstance(learner, VotesOrLeader):
                regret = exact.expected_regret(learner, equal_gaps(log_k, gap), LONG)
                row = {"algorithm": learner.label, "epsilon": epsilon, "log_actions": log_k}
                row |= {"gap": gap, "regret": float(regret.value[0])}
                row |= {"error": float(regret.error[0])}
                rows.append(row | {"bound": float(bound)})
    return pd.DataFrame(rows)


# Losses on which votes mislead --------------------------------------------------------------------


def misled(epsilon: float, horizon: int, runs: int, seed: int) -> pd.DataFrame:
    """Regret of three learners: action 2 loses less in most rounds, and more on average."""
    outcomes = (0.5, 0.4), (0.5, 1.0)
    misleading = StochasticLosses("misleading votes", outcomes, (0.0, 0.0), (0.6, 0.4))
    learners = [Votes(epsilon), VotesOrLeader(epsilon), PhasedFTNL(epsilon, "gumbel")]
    return simulate.regret_curves(learners, misleading, horizon, runs, seed, points=24)


# All stochastic losses ----------------------------------------------------------------------------


def few_gaps(levels: int) -> tuple[float, np.ndarray]:
    """F_n of Theorem 7, for gaps 1 : 2 : ... : n, and prices tau_1, ..., tau_n that attain it.

    The least price of a sequence n = i_0 > ... > i_A = 0 is the length of a shortest path. So F_n
    is a linear programme in tau and in the distances d_i from n to i: d_0 is largest subject to
    d_n = 0, sum tau = 1 and d_j <= d_i + i tau_(j + 1) for j < i.
    """
    i, j = np.tril_indices(levels + 1, -1)
    rows, ones = np.tile(np.arange(len(i)), 3), np.ones(len(i))
    columns = np.concatenate([levels + j, levels + i, j])
    steps = coo_array((np.concatenate([ones, -ones, -1.0 * i]), (rows, columns)))
    sums = np.zeros((2, 2 * levels + 1))
    sums[0, :levels] = sums[1, -1] = 1
    cost = -1.0 * (np.arange(2 * levels + 1) == levels)
    signs = [(0, None)] * levels + [(None, None)] * (levels + 1)
    found = linprog(cost, steps.tocsr(), np.zeros(len(i)), sums, [1, 0], signs)
    return -found.fun, found.x[:levels]


def priced(log_k: float, prices: np.ndarray) -> StochasticLosses:
    """Gaps i / n with K^(tau_1 + ... + tau_i) actions each, losses the same in every round."""
    logs = log_k * np.append(0.0, np.cumsum(prices))
    return instances.deterministic_losses(np.linspace(0, 1, len(logs)), log_counts=logs)


def by_gaps(learner: Algorithm, log_k: float, levels: list) -> pd.DataFrame:
    """The lower bound 2 F_n, and the learner's epsilon R / ln K with these gaps and prices."""
    rows = []
    for n in levels:
        value, prices = few_gaps(n)
        found = scaled_regret(learner, priced(log_k, prices))
        row = {"algorithm": learner.label, "gaps": n, "lower_bound": 2 * value}
        rows.append(row | {"scaled_regret": found.value, "scaled_regret_error": found.bound})
    return pd.DataFrame(rows)


# Privacy, exactly ---------------------------------------------------------------------------------


def votes_loss(learner: Votes, actions: int, epoch: int = 1, extra: int = 0) -> float:
    """Return the privacy loss of the draw after an epoch of `Votes`.

    It is the largest log-ratio of the probabilities of an action when one vote moves, for K >= 2
    actions, or the rate epsilon_0 if that is larger. `extra` rounds make the epoch too long, a
    planted bug.
    """
    # A vote moves from k to j. The ratios depend on c_k, c_j and the sum of the weights, and those
    # above e^rate fall as that sum grows. So the other votes are spread evenly, which makes the sum
    # smallest.
    ballot = learner.ballot(np.log(actions))
    rounds, threshold = ballot.length(epoch) + extra, ballot.threshold(epoch)
    from_k, to_j = np.meshgrid(np.arange(1, rounds + 1), np.arange(rounds), indexing="ij")
    others, few = rounds - from_k - to_j, actions - 2
    possible = (others == 0) if few == 0 else (others >= 0)
    from_k, to_j, others = from_k[possible], to_j[possible], others[possible]

    def weight(votes):
        return np.exp(ballot.rate * np.maximum(votes - threshold, 0))

    each, more = np.divmod(others, max(few, 1))
    rest = (few - more) * weight(each) + more * weight(each + 1)
    before = rest + weight(from_k) + weight(to_j)
    after = rest + weight(from_k - 1) + weight(to_j + 1)
    rises = np.log(weight(to_j + 1) / weight(to_j))
    return float(max(ballot.rate, (np.maximum(rises, 0.0) + np.log(before / after)).max()))


def unanimity_loss(learner: VotesOrLeader, actions: int, sharper: float = 1.0) -> float:
    """Return the privacy loss of the test after the first later epoch, for K = 2 to 4 actions.

    All vote counts are listed. `sharper` is a factor by which the test is too sharp, a planted bug.
    """
    constants = learner.constants(np.log(actions))
    rounds, tilt = constants.first, sharper * constants.tilt
    listed = product(range(rounds + 1), repeat=actions - 1)
    counts = np.array([c for c in listed if sum(c) <= rounds])
    counts = np.column_stack([counts, rounds - counts.sum(axis=1)])

    def law(votes):
        weights = tilt * (votes - (rounds - constants.margin))
        weights = np.column_stack([np.zeros(len(votes)), weights])
        return weights - np.logaddexp.reduce(weights, axis=1, keepdims=True)

    worst = 0.0
    for k, j in product(range(actions), repeat=2):
        if k != j:
            some = counts[counts[:, k] > 0]
            moved = some.copy()
            moved[:, k] -= 1
            moved[:, j] += 1
            worst = max(worst, float(np.abs(law(moved) - law(some)).max()))
    return worst


def stop_law(learner: MarginStop, table: np.ndarray, noisy: bool = True) -> np.ndarray:
    """Return (T + 1, K) probabilities that exploration stops after n and chooses j.

    The losses are a (T, K) array, the rounds are n = 1..T, and the last row is for no stop. Without
    noise on threshold and margins, a planted bug, the stop is not private.
    """
    rounds, actions = np.shape(table)
    rule = learner.rule(np.log(actions))
    grid = [1]
    while (after := max(grid[-1] + 1, int((1 + rule.fraction) * grid[-1]))) <= rounds:
        grid.append(after)
    sums = np.cumsum(table, axis=0)[np.array(grid) - 1]
    soft = np.logaddexp.reduce(-sums / rule.first_scale, axis=1)
    margins = sums.mean(axis=1) + rule.first_scale * (soft - np.log(actions))
    if noisy:
        chances, left = stopping_chances((margins - rule.threshold) / rule.noise)
    else:
        chances, left = np.zeros(len(grid)), 1.0
        if (margins >= rule.threshold).any():
            chances[np.argmax(margins >= rule.threshold)], left = 1.0, 0.0
    law = np.zeros((rounds + 1, actions))
    law[np.array(grid) - 1] = chances[:, None] * np.exp(-sums / rule.first_scale - soft[:, None])
    law[-1] = left / actions
    return law


def stop_loss(learner: MarginStop, rounds: int, actions: int, noisy: bool = True) -> float:
    """Return the privacy loss of stopping time and choice, over all 0/1 tables.

    Tables differ in one round. The result bounds the privacy loss of the actions. The stopping time
    is not a function of the actions if the choice is the action played before.
    """
    rows = np.array(list(product((0.0, 1.0), repeat=actions)))
    codes = list(product(range(len(rows)), repeat=rounds))
    chances = {code: stop_law(learner, rows[list(code)], noisy) for code in codes}
    worst = 0.0
    for code, t in product(codes, range(rounds)):
        for row in range(len(rows)):
            law, other = chances[code], chances[(*code[:t], row, *code[t + 1 :])]
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.log(law / other)
            worst = max(worst, float(np.where(law > 0, ratio, -np.inf).max()))
    return worst


@store.cached
def votes_privacy(epsilons: list, extra: int = 0) -> Estimate:
    """The largest loss over epsilon of a draw from votes, K = 2 to 10^9, several lam."""
    found = []
    for e, actions, lam in product(epsilons, (2, 3, 10, 1000, 10**5, 10**9), (None, 2.0, 5.0)):
        if lam is None or lam <= actions:
            learner = Votes(float(e), lam)
            found += [votes_loss(learner, actions, i, extra) / e for i in (1, 3)]
    return Estimate(max(found), bound=1e-12)


@store.cached
def unanimity_privacy(epsilons: list, sharper: float = 1.0) -> Estimate:
    """The largest loss over epsilon / 2 of the test of unanimity, K = 2 and 3."""
    cases = [(VotesOrLeader(e), actions) for e, actions in product(epsilons, (2, 3))]
    found = [2 * unanimity_loss(x, actions, sharper) / x.epsilon for x, actions in cases]
    return Estimate(max(found), bound=1e-12)


@store.cached
def stop_privacy(epsilons: list, noisy: bool = True) -> Estimate:
    """The largest loss over epsilon of when the margin stop stops and what it chooses."""
    found = []
    for e, fraction, threshold in product(epsilons, (0.25, 0.5), (0.0, 0.3, 1.0)):
        learner = MarginStop(e, fraction, threshold)
        found += [stop_loss(learner, *sizes, noisy) / e for sizes in ((4, 2), (2, 3))]
    return Estimate(min(max(found), INFINITE), bound=1e-9)


@store.cached
def phase_privacy(epsilons: list, growths: list, rounds: int) -> Estimate:
    """The largest loss over epsilon of all actions of FTNL with a random phase, two actions."""
    game, found = Game(rounds, "full"), []
    for e, growth in product(epsilons, growths):
        plan = epoch_plan(game, PhasedFTNL(e, "gumbel", growth=growth))
        found.append(game.privacy(plan) / e)
    return Estimate(min(max(found), INFINITE), bound=1e-9)


@store.cached
def spying_phase(epsilon: float, rounds: int) -> float:
    """Loss over epsilon if round 1 decides the growth, 2 or 5: a phase that depends on the data."""
    game = Game(rounds, "full")
    plans = [
        epoch_plan(game, PhasedFTNL(epsilon, "gumbel", growth=g, random_phase=False))
        for g in (2.0, 5.0)
    ]
    seen = np.arange(game.sequences) // (game.sequences // 4) % 2
    return min(game.privacy(np.where(seen == 0, *plans)) / epsilon, INFINITE)
