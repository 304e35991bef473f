"""Compute exact values of small games, and the regret of learners on them."""

import itertools
import math
from collections.abc import Iterator
from functools import cache

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, vstack

from privregret.core import store
from privregret.estimates import Estimate
from privregret.minimax import Game, minimax

# Values -----------------------------------------------------------------------------------------


@cache
@store.kept
def _bounds(game: Game, epsilon: float, delta: float) -> tuple[float, float]:
    """Return the upper bound (regret of a plan) and the lower bound (certificate)."""
    found = minimax(game, epsilon, delta)
    return found.upper, found.lower


def value(game: Game, epsilon: float, delta: float = 0.0) -> Estimate:
    """Return the minimax regret: of the plan, with an error down to the certificate."""
    upper, lower = _bounds(game, float(epsilon), delta)
    return Estimate(upper, bound=max(upper - lower, 0.0))


def gain(game: Game, epsilon: float) -> Estimate:
    """Return the gain of an optimal learner over guessing / epsilon."""
    guessing = game.rounds * (1 - 1 / game.actions)
    return (guessing - value(game, epsilon)) / epsilon


@store.kept
def fixed_value(game: Game, epsilon: float) -> Estimate:
    """Solve the linear programme for losses that are the same in every round.

    Variables are the probabilities of all prefixes of play, and the largest regret.
    """
    K, T, seen = game.actions, game.rounds, game.seen
    sizes = [(K * seen) ** t * K for t in range(T)]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    worst, width = starts[-1], starts[-1] + 1
    flow = [coo_array((np.ones(K), (np.zeros(K, int), np.arange(K))), shape=(1, width))]
    for t in range(T - 1):
        before = np.repeat(np.arange(sizes[t]), seen)
        after = starts[t + 1] + np.arange(sizes[t + 1]).reshape(-1, K)
        rows = np.arange(len(before))
        entries = np.concatenate([np.full(len(before), -1.0), np.ones(after.size)])
        columns = np.concatenate([starts[t] + before, after.ravel()])
        places = np.concatenate([rows, np.repeat(rows, K)])
        flow.append(coo_array((entries, (places, columns)), shape=(len(rows), width)))
    regret, right = [], []
    for r, row in enumerate(game.rows):
        line = np.zeros(width)
        for t, histories in enumerate(game.histories):
            same = sum(r * len(game.rows) ** i for i in range(t))
            for a in range(K):
                line[starts[t] + histories[same] * K + a] += row[a]
        line[worst] = -1.0
        regret.append(line)
        right.append(T * row.min())
    first, second = np.repeat(np.arange(sizes[-1]), (T - 1) * (seen - 1)), game.neighbours().ravel()
    rows = np.arange(len(first))
    data = np.concatenate([np.ones(len(first)), np.full(len(first), -math.exp(epsilon))])
    columns = starts[-2] + np.concatenate([first, second])
    private = coo_array((data, (np.tile(rows, 2), columns)), shape=(len(first), width))
    cost = np.zeros(width)
    cost[worst] = 1.0
    equal = vstack(flow).tocsr()
    known = np.zeros(equal.shape[0])
    known[0] = 1.0
    above = vstack([coo_array(np.array(regret)), private]).tocsr()
    limits = np.concatenate([right, np.zeros(len(first))])
    found = linprog(cost, above, limits, equal, known, (0, None), method="highs")
    if found.status:
        raise RuntimeError(f"the solver gave up on {game} at epsilon={epsilon:g}: {found.message}")
    return Estimate(float(found.fun), bound=1e-7)


# Plans ------------------------------------------------------------------------------------------


def policy_rows(game: Game, plan: np.ndarray, name: str) -> Iterator[dict]:
    """Yield the probability of action 1 after each history that starts with action 1.

    It is nan after a history of probability 0.
    """
    laws, weights = game.policy(plan), game.prefixes(plan)
    for t in range(1, game.rounds):
        symbols = itertools.product((1, 2), (0, 1))
        for i, history in enumerate(itertools.product(symbols, repeat=t)):
            if history[0][0] == 1:
                seen = ", ".join(f"{action}:{loss}" for action, loss in history)
                first = laws[t][i, 0] if weights[t][i].sum() > 1e-9 else np.nan
                yield {"game": name, "history": seen, "first": first}


# Learners ---------------------------------------------------------------------------------------


@store.kept
def learner_row(label: str, game: Game, proved: float, plan: np.ndarray) -> dict:
    """Return exact privacy loss, worst regret, and the fraction of an optimal learner's gain."""
    guess, regret, has = game.rounds / 2, game.worst_regret(plan), game.privacy(plan)
    best = value(game, has).value
    row = {"algorithm": label, "proved": proved, "privacy": has, "regret": regret}
    return row | {"fraction": (guess - regret) / (guess - best)}
