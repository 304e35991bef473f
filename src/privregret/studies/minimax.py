"""Exact values of small games."""

import math
from functools import cache

import numpy as np
from scipy.optimize import linprog

from privregret.companion import Game, minimax
from privregret.companion.games import matrix
from privregret.core import store
from privregret.estimates import Estimate


@cache
def value(game: Game, epsilon: float, delta: float = 0.0) -> Estimate:
    """The minimax regret: of the plan, with an error down to the certificate."""
    plan = minimax(game, float(epsilon), delta)
    return Estimate(plan.upper, bound=max(plan.upper - plan.lower, 0.0))


@store.cached
def fixed_value(game: Game, epsilon: float) -> Estimate:
    """Solve the linear programme for losses that are the same in every round.

    Variables are the probabilities of all prefixes of play, and the largest regret.
    """
    K, T, seen = game.actions, game.rounds, game.seen
    sizes = [(K * seen) ** t * K for t in range(T)]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    worst, width = starts[-1], starts[-1] + 1
    flow, regret = [(np.arange(K)[None], 1.0)], []
    for t in range(T - 1):
        before = starts[t] + np.repeat(np.arange(sizes[t]), seen)
        after = starts[t + 1] + np.arange(sizes[t + 1]).reshape(-1, K)
        flow.append((np.column_stack([before, after]), np.array([-1.0] + [1.0] * K)))
    for r, row in enumerate(game.rows):
        same = [sum(r * len(game.rows) ** i for i in range(t)) for t in range(T)]
        met = [start + game.histories[t][same[t]] * K for t, start in enumerate(starts[:T])]
        paid = np.concatenate(met)[:, None] + np.arange(K)
        regret.append((np.append(paid, worst)[None], np.append(np.tile(row, len(paid)), -1.0)))
    first, second = np.repeat(np.arange(sizes[-1]), (T - 1) * (seen - 1)), game.neighbours().ravel()
    pairs = starts[-2] + np.column_stack([first, second])
    private = [(pairs, np.array([1.0, -math.exp(epsilon)]))]
    limits = np.concatenate([T * game.rows.min(axis=1), np.zeros(len(pairs))])
    equal, above = matrix(flow, width), matrix(regret + private, width)
    totals, cost = (1.0 * (np.arange(n) == i) for n, i in ((equal.shape[0], 0), (width, worst)))
    best = linprog(cost, above, limits, equal, totals, (0, None))
    if best.status:
        raise RuntimeError(f"the solver gave up on {game} at epsilon={epsilon:g}: {best.message}")
    return Estimate(float(best.fun), bound=1e-7)
