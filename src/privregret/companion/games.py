"""Compute the minimax regret of private learners over a few rounds by linear programming.

A learner is a plan in sequence form: x_t(h, a) is the probability of the actions of the history h
and of a after them, if the losses seen are those of h. Such x are the feasible set of a linear
flow; expected losses are linear in them, and so is privacy. A history is a sequence of symbols
(action, observation), read as a number with the first symbol as highest digit. Permuting the
actions changes nothing, so plans that are symmetric in the actions are enough: variables of one
orbit are one variable, and only regret against action 0 needs to be bounded.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import block_array, coo_array, csr_array, eye_array, hstack, vstack

from privregret.core import checks, store

# largest number of sequences of a game, for memory and time
LARGEST = 2**18
# Without these the solver stops early at small epsilon, where all plans are almost equally good.
TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
# probabilities below this are rounding of the solver, and 0 in `policy`
WASTE = 1e-12


class Certificate(NamedTuple):
    """The proof of a lower bound for all private learners, checkable without a solver.

    Attributes
    ----------
    adversary : (K, R^(T-1)) array
        Probability of each comparator and table; in the last round all actions except the
        comparator lose 1.
    pairs : (sequences, T-1, seen-1) array
        Multipliers, at least 0, of w(s) <= e^epsilon w(s'), where in round t of s' the observation
        is d+1 further on.
    tables : (R^(T-1), T-1) array
        With delta > 0: multipliers of the pairs of opposed tables; else of size 0.
    """

    adversary: np.ndarray
    pairs: np.ndarray
    tables: np.ndarray


@dataclass(frozen=True)
class Minimax:
    """The best plan and the proof that it is the best.

    `value` is the minimax regret, as the solver reports it. `plan` has, for each sequence (a
    history of T - 1 rounds and a last action), the probability of its T actions if the losses seen
    are those of the sequence.
    """

    value: float
    plan: np.ndarray
    certificate: Certificate
    game: "Game"
    epsilon: float
    delta: float

    @property
    def upper(self) -> float:
        """Return the worst regret of the plan on all tables."""
        return self.game.worst_regret(self.plan)

    @property
    def lower(self) -> float:
        """Return the certified lower bound on the regret of private learners."""
        return self.game.certified(self.certificate, self.epsilon, self.delta)


@dataclass(frozen=True)
class Game(checks.Validated):
    """T rounds against tables of 0/1 losses that are fixed in advance.

    Restricting losses to 0/1 loses no generality: a learner that replaces each loss in [0, 1] by a
    Bernoulli loss of that mean has the same expected regret on the table as on the random table,
    and mixing keeps privacy. With full information, rows whose losses are all equal can be removed
    as well: on such a row, the learner draws an action's Bernoulli loss by a fair coin, gives all
    others the opposite one, and on average no action is better than another.

    Parameters
    ----------
    rounds : int
        T, 2 to 9.
    feedback : {"bandit", "full"}
        Whether the loss of the action played is seen, or the losses of all actions.
    actions : int
        K, 2 or 3.

    Raises
    ------
    ValueError
        For a game with more than 2^18 sequences.

    Examples
    --------
    >>> Game(rounds=3).sequences
    32
    """

    rounds: int
    feedback: str = "bandit"
    actions: int = 2
    rules = {
        "rounds": checks.integer_in(2, 9),
        "feedback": checks.one_of("bandit", "full"),
        "actions": checks.integer_in(2, 3),
    }

    def __post_init__(self):
        super().__post_init__()
        if (many := self.sequences) > LARGEST:
            raise ValueError(f"rounds must be smaller: {many} sequences of play exceed {LARGEST}")

    @cached_property
    def rows(self) -> np.ndarray:
        """Return the (R, K) losses that a round can have."""
        rows = np.array(list(product((0, 1), repeat=self.actions)))
        return checks.read_only(rows if self.feedback == "bandit" else rows[1:-1])

    @cached_property
    def symbols(self) -> np.ndarray:
        """Return the (R, K) symbol that an action and a row add to the history."""
        shown = self.rows if self.feedback == "bandit" else np.arange(len(self.rows))[:, None]
        return checks.read_only(np.arange(self.actions) * self.seen + shown)

    @property
    def seen(self) -> int:
        """Return the number of possible observations in a round."""
        return 2 if self.feedback == "bandit" else len(self.rows)

    @property
    def sequences(self) -> int:
        """Return the number of histories of T - 1 rounds with a last action."""
        return (self.actions * self.seen) ** (self.rounds - 1) * self.actions

    @cached_property
    def histories(self) -> list:
        """Return for t = 1..T the histories, (R^(t-1), K^(t-1)), that rows and actions lead to."""
        levels = [np.zeros((1, 1), int)]
        for _ in range(self.rounds - 1):
            before = levels[-1][:, None, :, None] * self.actions * self.seen
            h = before + self.symbols[None, :, None, :]
            levels.append(h.reshape(h.shape[0] * h.shape[1], -1))
        return levels

    @cached_property
    def renamings(self) -> list:
        """Return each permutation of the actions, with its effect on symbols and rows."""
        index = {tuple(row): i for i, row in enumerate(self.rows)}
        result = []
        for names in permutations(range(self.actions)):
            back = np.argsort(names)
            rows = np.array([index[tuple(row[back])] for row in self.rows])
            shown, new = np.arange(2) if self.feedback == "bandit" else rows, np.array(names)
            result.append((new, (new[:, None] * self.seen + shown).ravel(), rows))
        return result

    def renamed(self, rounds: int, digits: np.ndarray) -> np.ndarray:
        """Return all numbers of `rounds` digits with each digit d replaced by digits[d]."""
        result = np.zeros(1, int)
        for _ in range(rounds):
            result = (result[:, None] * len(digits) + digits).ravel()
        return result

    def swapped(self, rounds: int, names: np.ndarray, symbols: np.ndarray) -> np.ndarray:
        """Return the sequences of `rounds` actions after renaming the actions."""
        return (self.renamed(rounds - 1, symbols)[:, None] * self.actions + names).ravel()

    def neighbours(self) -> np.ndarray:
        """Return the (sequences, T-1, seen-1) that differ in the observation of one round."""
        codes = np.arange(self.sequences)[:, None, None]
        places = self.actions * (self.actions * self.seen) ** np.arange(self.rounds - 1)[::-1]
        digits = codes // places[:, None] % self.seen
        further = (digits + np.arange(1, self.seen)) % self.seen
        return codes + (further - digits) * places[:, None]

    def opposed_tables(self) -> np.ndarray:
        """Return for two actions the (R^(T-1), T-1) tables in which both losses of a row change.

        No other neighbours matter: a change of one loss of two shows in fewer sequences.
        """
        place, tables = len(self.rows) ** np.arange(self.rounds - 1)[::-1], len(self.histories[-1])
        digits = np.arange(tables)[:, None] // place % len(self.rows)
        return np.arange(tables)[:, None] + (len(self.rows) - 1 - 2 * digits) * place

    def paired(self) -> np.ndarray:
        """Return places in `neighbours`, flattened, of opposed tables: (pairs, K^T)."""
        codes = self.histories[-1][:, :, None] * self.actions + np.arange(self.actions)
        codes = codes.reshape(len(codes), 1, -1) * (self.rounds - 1)
        return (codes + np.arange(self.rounds - 1)[:, None]).reshape(-1, codes.shape[2])

    # Value of a plan

    def prefixes(self, plan: np.ndarray) -> list:
        """Return for t = 1..T the (histories of t-1 rounds, K) probabilities of a plan."""
        levels = [np.asarray(plan, float).reshape(-1, self.actions)]
        while len(levels[0]) > 1:
            left = levels[0].sum(axis=1).reshape(-1, self.actions, self.seen)
            levels.insert(0, left.mean(axis=2))
        return levels

    def regrets(self, plan: np.ndarray) -> np.ndarray:
        """Return the (K, R^(T-1)) expected regret of a plan, the last row being the worst one."""
        total = np.zeros((self.actions, 1))
        levels = zip(self.prefixes(plan), self.histories, strict=True)
        *before, last = [x[h].sum(axis=1) for x, h in levels]
        # (tables so far, K)
        for play in before:
            paid = play @ self.rows.T
            total = (total[:, :, None] + paid - self.rows.T[:, None, :]).reshape(self.actions, -1)
        return total + 1 - last.T

    def worst_regret(self, plan: np.ndarray) -> float:
        """Return the largest expected regret of a plan over all tables."""
        return float(self.regrets(plan).max())

    def privacy(self, plan: np.ndarray) -> float:
        """Return the smallest epsilon for which a plan is epsilon-DP, perhaps inf."""
        plan = np.asarray(plan, float)
        other = plan[self.neighbours()]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.log(plan[:, None, None] / other)
        return float(np.where((plan > 0)[:, None, None], ratio, -np.inf).max())

    def delta(self, plan: np.ndarray, epsilon: float) -> float:
        """Return the smallest delta for which a plan for two actions is (epsilon, delta)-DP."""
        law = np.asarray(plan, float).reshape(-1, self.actions)[self.histories[-1]]
        law = law.reshape(len(law), -1)
        above = law[:, None] - math.exp(epsilon) * law[self.opposed_tables()]
        return float(np.maximum(above, 0).sum(axis=-1).max())

    def policy(self, plan: np.ndarray) -> list:
        """Return for t = 1..T the (histories of t-1 rounds, K) probabilities of the next action.

        After impossible histories play is uniform.
        """
        result = []
        for x in self.prefixes(plan):
            x = np.where(x > WASTE, x, 0.0)
            mass = x.sum(axis=1, keepdims=True)
            result.append(np.where(mass > 0, x / np.where(mass > 0, mass, 1), 1 / self.actions))
        return result

    def plan_of(self, policy: list[np.ndarray]) -> np.ndarray:
        """Return the plan of a policy, as `policy` gives it."""
        plan = np.ones(1)
        for t, step in enumerate(policy, start=1):
            plan = plan[:, None] * np.reshape(step, (-1, self.actions))
            if t < self.rounds:
                plan = np.repeat(plan.ravel(), self.seen)
        return plan.ravel()

    # Lower bound for all learners

    def certified(self, certificate: Certificate, epsilon: float, delta: float = 0.0) -> float:
        """Return the lower bound that a certificate proves for private learners.

        A private learner's worst regret is at least its mean regret against the adversary plus the
        weighted privacy constraints, which are at most 0. That is linear in the plan; its minimum
        over *all* plans, private or not, is found from the last round to the first.
        """
        adversary, pairs, tables = (np.maximum(part, 0) for part in certificate)
        adversary = adversary / adversary.sum()
        constant, left, step = 0.0, adversary, self.actions * self.seen
        cost = [np.zeros((step**t, self.actions)) for t in range(self.rounds)]
        # losses of the actions of round t minus those of the comparator
        for t in range(self.rounds, 0, -1):
            h = self.histories[t - 1]
            if t == self.rounds:
                # (tables, K)
                by_action = left.T @ (1 - np.eye(self.actions))
            else:
                left = left.reshape(self.actions, -1, len(self.rows))
                by_action = left.sum(axis=0) @ self.rows
                constant -= float(np.einsum("jpr,rj->", left, self.rows))
                left = left.sum(axis=2)
            np.add.at(cost[t - 1], h, by_action[:, None, :])
        if math.isfinite(epsilon) and pairs.size:
            if delta > 0:
                most = np.zeros(pairs.size)
                np.add.at(most, self.paired(), tables.reshape(-1, 1))
                pairs = np.minimum(pairs, most.reshape(pairs.shape))
                constant -= delta * tables.sum()
            extra = pairs.sum(axis=(1, 2))
            np.add.at(extra, self.neighbours().ravel(), -math.exp(epsilon) * pairs.ravel())
            cost[-1] += extra.reshape(-1, self.actions)
        best = np.zeros((len(cost[-1]), self.actions))
        for now in reversed(cost):
            smallest = (now + best).min(axis=1)
            if len(smallest) > 1:
                best = smallest.reshape(-1, self.actions, self.seen).sum(axis=2)
        return constant + float(smallest[0])

    def repaired(self, plan: np.ndarray, epsilon: float, delta: float = 0.0) -> np.ndarray:
        """Return the plan, mixed with as much uniform play as makes it private up to rounding."""
        plan = self.plan_of(self.policy(np.maximum(plan, 0)))
        uniform = float(self.actions) ** -self.rounds
        if math.isinf(epsilon):
            return plan
        if delta > 0:
            spent = self.delta(plan, epsilon)
            fraction = max(0.0, 1 - delta / spent) if spent > 0 else 0.0
        else:
            above = float((plan[:, None, None] - math.exp(epsilon) * plan[self.neighbours()]).max())
            fraction = above / (above + uniform * math.expm1(epsilon)) if above > 0 else 0.0
        return (1 - fraction) * plan + fraction * uniform


@checks.validate(game=checks.instance_of(Game))
@store.cached
def minimax(game: Game, epsilon: float, delta: float = 0.0) -> Minimax:
    """Return the minimax regret of private learners, a best learner and a proof.

    Privacy is of the whole sequence of actions, when one round's losses are all replaced. Only
    whole sequences need constraints: those of shorter ones are their sums. In the last round only
    the row that hurts most is considered.

    The plan and the certificate agreed to 1.2e-9 at 6 rounds and epsilon = 0.002, to 1e-12 at
    epsilon from 0.1. With 7 rounds and epsilon = 0.002 the solver needs more than 7 minutes.

    Parameters
    ----------
    game : Game
    epsilon : float
        At least 0; inf for no privacy.
    delta : float
        In [0, 1); above 0 for two actions only.

    Raises
    ------
    ValueError
        For epsilon or delta out of range.
    RuntimeError
        If the solver fails.

    Examples
    --------
    >>> best = minimax(Game(rounds=3), epsilon=1.0)
    >>> round(best.value, 4), round(best.upper - best.lower, 6)
    (1.0379, 0.0)
    """
    if not (isinstance(epsilon, float) and epsilon == math.inf):
        epsilon = checks.number_in(0, 700)("epsilon", epsilon)
    delta = checks.number_in(0, 1 - 1e-9 if game.actions == 2 else 0)("delta", delta)
    K, T, seen, rows = game.actions, game.rounds, game.seen, game.rows
    # one variable per orbit of sequences, ordered by level
    orbit, first, plans = ([], [], 0)
    for t in range(1, T + 1):
        renamed = [game.swapped(t, names, symbols) for names, symbols, _ in game.renamings]
        members, classes, _ = _orbits(renamed)
        orbit.append(plans + classes)
        first.append(members)
        plans += len(members)
    # worst future regret, per table
    starts = plans + np.cumsum([0] + [len(h) for h in game.histories])
    width = starts[-1]

    flow: list[tuple] = [(orbit[0][None], 1.0)]
    regret: list[tuple] = []
    # action 0 loses nothing, the others 1
    last = int((rows == np.arange(K).clip(max=1)).all(axis=1).argmax())
    for t in range(T - 1):
        codes = np.repeat(first[t], seen)
        after = (codes * seen + np.tile(np.arange(seen), len(first[t])))[:, None] * K + np.arange(K)
        columns = np.column_stack([orbit[t][codes], orbit[t + 1][after]])
        flow.append((columns, np.array([1.0] + [-1.0] * K)))
    for t, h in enumerate(game.histories):
        here = starts[t] + np.arange(len(h))[:, None]
        for r in range(len(rows)) if t < T - 1 else [last]:
            sign = rows[r] - rows[r, 0]
            places = [*(orbit[t][h * K + a] for a in np.flatnonzero(sign)), here]
            factors = [*np.repeat(sign[sign != 0], h.shape[1]), -1.0]
            if t < T - 1:
                places.append(starts[t + 1] + np.arange(len(h))[:, None] * len(rows) + r)
                factors.append(1.0)
            regret.append((np.hstack(places), np.array(factors)))
    equal, above = matrix(flow, width), matrix(regret, width)
    leaves = slice(above.shape[0] - len(game.histories[-1]), above.shape[0])
    right = np.zeros(above.shape[0])

    members = sizes = classes = np.zeros(0, int)
    if math.isfinite(epsilon):
        pairs = game.neighbours()
        members, classes, sizes = _pair_orbits(renamed, pairs)
        columns = orbit[-1][np.column_stack(np.divmod(members, game.sequences))]
        above = vstack([above, matrix([(columns, np.array([1.0, -math.exp(epsilon)]))], width)])
        right = np.zeros(above.shape[0])
    helpers = len(members) if delta > 0 else 0
    # excess over e^epsilon times the other probability; its sum is at most delta
    if helpers:
        excess = vstack([coo_array((leaves.stop, helpers)), -eye_array(helpers)])
        renamed = [game.renamed(T - 1, moved) for _, _, moved in game.renamings]
        there = game.opposed_tables()
        _, pair_classes, pair_sizes = _pair_orbits(renamed, there)
        chosen = np.unique(pair_classes, return_index=True)[1]
        added = matrix([(classes[game.paired()[chosen]], 1.0)], helpers)
        above = block_array([[above, excess], [None, added]])
        right = np.concatenate([right, np.full(added.shape[0], delta)])
        equal = hstack([equal, coo_array((equal.shape[0], helpers))])
    cost = np.zeros(width + helpers)
    cost[starts[0]] = 1.0
    bounds = np.full((width + helpers, 2), (0.0, np.inf))
    bounds[plans:width, 0] = -np.inf
    mass = np.zeros(equal.shape[0])
    mass[0] = 1.0
    programme = cost, above.tocsr(), right, equal.tocsr(), mass, bounds
    # the interior point method may fail where the simplex method does not
    for method in ("highs-ipm", "highs-ds"):
        solution = linprog(*programme, method=method, options=TIGHT)
        if not solution.status:
            break
    else:
        raise RuntimeError(
            f"the solver failed at rounds={T}, epsilon={epsilon:g}: {solution.message}"
        )

    weights = np.maximum(-solution.ineqlin.marginals, 0)
    adversary = np.zeros((K, len(game.histories[-1])))
    # any action may be named 0
    for names, _, moved in game.renamings:
        adversary[names[0], game.renamed(T - 1, moved)] += weights[leaves] / len(game.renamings)
    pairs = np.zeros((game.sequences, T - 1, seen - 1))
    tables = np.zeros(0)
    if len(members):
        weight = weights[leaves.stop : leaves.stop + len(members)] / sizes
        pairs = weight[classes].reshape(pairs.shape)
    if helpers:
        tables = (weights[leaves.stop + helpers :] / pair_sizes)[pair_classes].reshape(there.shape)
    plan = game.repaired(solution.x[orbit[-1]], epsilon, delta)
    certificate = Certificate(adversary, pairs, tables)
    return Minimax(float(solution.fun), plan, certificate, game, epsilon, delta)


def _orbits(numbers):
    """Return least members, classes and sizes of the orbits of numbers under renamings."""
    return np.unique(np.min(numbers, axis=0), return_inverse=True, return_counts=True)


def _pair_orbits(renamed, partners):
    """Return the same of pairs: of code i with each partner in row i, both renamed."""
    column = len(partners), *[1] * (partners.ndim - 1)
    return _orbits([np.ravel(new.reshape(column) * len(new) + new[partners]) for new in renamed])


def matrix(blocks: list, width: int) -> csr_array:
    """Return blocks of (rows, entries) columns with factors as a sparse matrix."""
    parts, height = [], 0
    for columns, factors in blocks:
        rows = height + np.arange(len(columns))[:, None]
        every = np.broadcast_arrays(factors, rows, columns)
        parts.append([part.ravel() for part in every])
        height += len(columns)
    data, rows, columns = (np.concatenate(part) for part in zip(*parts, strict=True))
    return coo_array((data, (rows, columns)), (height, width)).tocsr()
