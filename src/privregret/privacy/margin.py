"""Compute the privacy of the margin stop: joint distribution of stop and choice."""

from itertools import product

import numpy as np

from privregret.core import checks
from privregret.exact.fixed import stopping_chances
from privregret.full_information import MarginStop


@checks.arguments(learner=checks.instance_of(MarginStop), table=checks.array_in(0, 1, shape=2))
def stop_law(learner: MarginStop, table: np.ndarray, noisy: bool = True) -> np.ndarray:
    """Return (T + 1, K) probabilities that exploration stops after n and chooses j.

    The rounds are n = 1..T, and the last row is for no stop. The method is quadrature over the
    noise on the threshold.

    Parameters
    ----------
    learner : MarginStop
    table : (T, K) array
        Losses, one row per round.
    noisy : bool
        Whether there is noise on threshold and margins; without it, a planted bug, the stop is not
        private.
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


@checks.arguments(
    learner=checks.instance_of(MarginStop),
    rounds=checks.integer_in(1, 6),
    actions=checks.integer_in(2, 4),
)
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
