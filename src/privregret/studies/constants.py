"""What `companion/constants` computes: the lower bound by number of gaps, and exact losses."""

from itertools import permutations, product

import numpy as np
from scipy.optimize import linprog

from privregret.companion import MarginStop, Votes, VotesOrLeader
from privregret.companion.games import matrix
from privregret.companion.margin_stop import stopping_chances
from privregret.companion.votes import epoch_length, epoch_threshold
from privregret.core import store


def few_gaps(levels: int) -> tuple[float, np.ndarray]:
    """F_n of Theorem 7, for gaps 1 : 2 : ... : n, and prices tau_1, ..., tau_n that attain it.

    The least price of a sequence n = i_0 > ... > i_A = 0 is the length of a shortest path. So F_n
    is a linear programme in tau and in the distances d_i from n to i: d_0 is largest subject to
    d_n = 0, sum tau = 1 and d_j <= d_i + i tau_(j + 1) for j < i.
    """
    i, j = np.tril_indices(levels + 1, -1)
    columns, factors = (levels + j, levels + i, j), (0 * i + 1, 0 * i - 1, -i)
    steps = matrix([(np.transpose(columns), np.transpose(factors))], 2 * levels + 1)
    sums = np.zeros((2, 2 * levels + 1))
    sums[0, :levels] = sums[1, -1] = 1
    cost = -1.0 * (np.arange(2 * levels + 1) == levels)
    signs = [(0, None)] * levels + [(None, None)] * (levels + 1)
    best = linprog(cost, steps, np.zeros(len(i)), sums, [1, 0], signs)
    return -best.fun, best.x[:levels]


def signed_sum(ratios) -> float:
    """Return E|W_1 sigma_1 + ... + W_r sigma_r| / y_1 over random signs, as in the lemma of signs:
    W_b = e y_(b+1) ln(y_b / y_(b+1)), where `ratios` are y_1 / y_2, ..., y_r / y_(r+1)."""
    below = 1 / np.cumprod(ratios)
    signs = np.array(list(product((-1, 1), repeat=len(below))))
    return float(np.abs(signs @ (np.e * below * np.log(ratios))).mean())


def votes_loss(learner: Votes, actions: int, epoch: int = 1, extra: int = 0) -> float:
    """Return the largest log-ratio of the probabilities of an action when one vote moves, after an
    epoch of `Votes`, or its rate if larger. `extra` rounds, a planted bug, make it too long."""
    # A vote moves from k to j. The ratios depend on c_k, c_j and the sum of the weights, and those
    # above e^rate fall as that sum grows. So the other votes are spread evenly, which makes the sum
    # smallest.
    ballot = learner.ballot(np.log(actions))
    rounds, threshold = epoch_length(ballot, epoch) + extra, epoch_threshold(ballot, epoch)
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
    """Return the privacy loss of the test after the first later epoch, for K = 2 to 4 actions, over
    all vote counts. `sharper` is a factor by which the test is too sharp, a planted bug."""
    constants = learner.constants(np.log(actions))
    rounds, tilt = constants.first, sharper * constants.tilt
    listed = product(range(rounds + 1), repeat=actions - 1)
    counts = np.array([c for c in listed if sum(c) <= rounds])
    counts = np.column_stack([counts, rounds - counts.sum(axis=1)])

    def law(votes):
        weights = tilt * (votes - (rounds - constants.margin))
        weights = np.column_stack([np.zeros(len(votes)), weights])
        return weights - np.logaddexp.reduce(weights, axis=1, keepdims=True)

    worst, one = 0.0, np.eye(actions, dtype=int)
    for k, j in permutations(range(actions), 2):
        some = counts[counts[:, k] > 0]
        changes = law(some - one[k] + one[j]) - law(some)
        worst = max(worst, float(np.abs(changes).max()))
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


@store.cached
def stop_loss(learner: MarginStop, rounds: int, actions: int, noisy: bool = True) -> float:
    """Return the privacy loss of stopping time and choice, over all 0/1 tables that differ in one
    round: at least that of the actions, which are a function of both."""
    rows = np.array(list(product((0.0, 1.0), repeat=actions)))
    codes = list(product(range(len(rows)), repeat=rounds))
    chances = {code: stop_law(learner, rows[list(code)], noisy) for code in codes}
    worst = 0.0
    for code, t, row in product(codes, range(rounds), range(len(rows))):
        law, other = chances[code], chances[(*code[:t], row, *code[t + 1 :])]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.log(law / other)
        worst = max(worst, float(np.where(law > 0, ratio, -np.inf).max()))
    return worst
