"""Choose the better coin from n rows of K independent coins, exactly, and crowds of such coins.

A coin shows 1, a loss, with probability 1/2, the better one with probability 1/2 - gap. A rule that
ignores the order of the rows sees their histogram: how many rows of each of the 2^K kinds there
are. Of the two privacy parameters here, `epsilon` is the rule's, and the selection has its own.
"""

from functools import cached_property
from itertools import combinations, combinations_with_replacement, permutations, product
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog, minimize_scalar
from scipy.sparse import csr_array
from scipy.special import gammaln

from privregret.bounds.companion import nearly_good


class Coins:
    """All tables of `rounds` rows of `actions` coins, as histograms."""

    def __init__(self, actions: int, rounds: int, gap: float):
        self.actions, self.rounds, self.gap = actions, rounds, gap
        self.rows = np.array(list(product((0, 1), repeat=actions)))
        kinds = range(len(self.rows))
        listed = combinations_with_replacement(kinds, rounds)
        self.histograms = np.array([np.bincount(c, minlength=len(kinds)) for c in listed])

    def law(self, better: int, seen=slice(None)) -> np.ndarray:
        """Return the probability of each kind of row, as far as the coins `seen` show."""
        ones = np.where(np.arange(self.actions) == better, 0.5 - self.gap, 0.5)
        return np.where(self.rows, ones, 1 - ones)[:, seen].prod(axis=1)

    @cached_property
    def neighbours(self) -> np.ndarray:
        """Return the pairs of histograms, as indices, that differ in one row; both orders."""
        kinds, digits = len(self.rows), (self.rounds + 1) ** np.arange(len(self.rows))
        codes = self.histograms @ digits
        order, pairs = np.argsort(codes), []
        for a, b in permutations(range(kinds), 2):
            first = np.flatnonzero(self.histograms[:, a])
            partner = np.searchsorted(codes[order], codes[first] - digits[a] + digits[b])
            pairs.append(np.column_stack([first, order[partner]]))
        return np.concatenate(pairs)

    def variables(self, sums: bool) -> np.ndarray:
        """Number the probabilities of each choice at each histogram; those that a permutation of
        the actions maps to each other are one, and with `sums` those of equal sums as well."""
        K, places, codes = self.actions, 2 ** np.arange(self.actions)[::-1], []
        for p in permutations(range(K)):
            # coin k becomes coin p[k], kind r becomes kind moved[r]
            moved = self.rows @ places[list(p)]
            seen = self.histograms[:, np.argsort(moved)]
            seen = seen @ self.rows if sums else seen
            code = seen @ (self.rounds + 1) ** np.arange(seen.shape[1])
            codes.append(code[:, None] * K + np.array(p))
        return np.unique(np.min(codes, axis=0), return_inverse=True)[1].reshape(-1, K)


def best_rule(coins: Coins, epsilon: float, sums: bool = False) -> float:
    """Return the largest probability of the better coin, by linear programming, over all
    epsilon-DP rules, or over those that see the sums of the losses only."""
    x, pairs = coins.variables(sums), coins.neighbours
    chances = np.zeros(x.max() + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(coins.histograms > 0, coins.histograms * np.log(coins.law(0)), 0.0)
    logs = (logs - gammaln(coins.histograms + 1)).sum(axis=1) + gammaln(coins.rounds + 1)
    np.add.at(chances, x[:, 0], np.exp(logs))
    ratios = np.unique(np.column_stack([x[pairs[:, 0]].ravel(), x[pairs[:, 1]].ravel()]), axis=0)
    ratios = ratios[ratios[:, 0] != ratios[:, 1]]
    count = np.arange(len(ratios)).repeat(2)
    factors = np.tile([1.0, -np.exp(epsilon)], len(ratios))
    private = csr_array((factors, (count, ratios.ravel())), shape=(len(ratios), len(chances)))
    which = np.arange(len(x)).repeat(coins.actions), x.ravel()
    total = csr_array((np.ones(x.size), which), shape=(len(x), len(chances)))
    solution = linprog(-chances, private, np.zeros(len(ratios)), total, np.ones(len(x)), (0, None))
    return -solution.fun


class Selection(NamedTuple):
    """Largest privacy loss of the selection over all tables, and the bound of its theorem."""

    loss: float
    bound: float


def selection(coins: Coins, failure: float, share: float) -> Selection:
    """Return the exact privacy loss of the selection of fair coins with a known gap (Theorem 10).

    It draws j with probability proportional to exp((s - e d_j)^+), s = ln(K / failure), for the own
    privacy parameter e with e n gap = 2 s - ln(share K). The distance d_j is n times the largest
    total variation, over all sets of coins, from the law in which j is better.
    """
    n, K = coins.rounds, coins.actions
    s = np.log(K / failure)
    own = (2 * s - np.log(share * K)) / (n * coins.gap)
    distances = np.zeros((len(coins.histograms), K))
    subsets = [seen for size in range(1, K + 1) for seen in combinations(range(K), size)]
    for j, seen in product(range(K), subsets):
        cells = np.unique(coins.rows[:, seen], axis=0, return_inverse=True)[1].ravel()
        law = np.zeros(2 ** len(seen))
        law[cells] = coins.law(j, list(seen))
        cell_counts = coins.histograms @ (cells[:, None] == np.arange(len(law)))
        distances[:, j] = np.maximum(distances[:, j], np.abs(cell_counts - n * law).sum(axis=1) / 2)
    logs = np.maximum(s - own * distances, 0)
    logs -= np.logaddexp.reduce(logs, axis=1, keepdims=True)
    loss = np.abs(logs[coins.neighbours[:, 0]] - logs[coins.neighbours[:, 1]]).max()
    crowd = nearly_good(np.log(K), failure, share)[1]
    return Selection(loss, own + np.log1p(np.expm1(own) * (share + crowd)))


def crowding(actions: int, correlated: bool = False) -> float:
    """Return by how much many actions can be nearly good at once, by linear programming.

    In each of K tables one action never loses, and the others lose at the rate p; any two are
    uncorrelated unless `correlated`. One table has rows in common with all of them. The value is
    the largest p less the fraction of the rows that differ, over p and all exchangeable tables.
    """
    ones = np.arange(actions)
    zeros = (actions - ones) / actions
    # how often w of the others lose, how often w actions do in the common table, and both
    identity, zero = np.eye(actions), np.zeros((actions, actions))
    within = np.block([[-identity, zero, identity], [zero, -np.diag(zeros), identity]])
    means = [np.ones(actions), ones / (actions - 1)]
    means += [ones * (ones - 1) / max((actions - 1) * (actions - 2), 1)]
    sums = np.zeros((4, 3 * actions))
    sums[:3, :actions], sums[3, actions : 2 * actions] = means, 1
    moments = [0, 1, 3] if correlated or actions == 2 else [0, 1, 2, 3]

    def slack(rate):
        right = np.array([1, rate, rate**2, 1])[moments]
        cost = np.repeat([0.0, -1.0], [2 * actions, actions])
        solution = linprog(cost, within, np.zeros(2 * actions), sums[moments], right, (0, None))
        return rate - 1 - solution.fun if solution.status == 0 else -1.0

    rates = np.linspace(0.5, 1, 9)
    near = rates[np.argmax([slack(rate) for rate in rates])]
    span, options = (near - 0.06, min(near + 0.06, 1.0)), {"xatol": 1e-3}
    tuned = minimize_scalar(lambda p: -slack(p), bounds=span, method="bounded", options=options)
    return float(max(slack(near), -tuned.fun))
