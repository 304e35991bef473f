"""Minimax regret: certificates and plans are checked in exact arithmetic, without the solver."""

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from conftest import refused
from scipy import stats

from privregret.companion import Game, PhasedFTNL, epoch_plan, minimax
from privregret.full_information import FTNL, RandomPrefixSoftmax
from privregret.privacy import noisy_maxima

GAMES = [
    (Game(4), 2.0, 0.0), (Game(3), math.inf, 0.0), (Game(4, "full"), 0.5, 0.0),
    (Game(3, "bandit", 3), 1.0, 0.0), (Game(2, "full", 3), 1.0, 0.0),
    (Game(3), 0.5, 0.1), (Game(3, "full"), 1.0, 0.05),
]  # fmt: skip


def above_exp(epsilon):
    """A rational number at least e^epsilon, epsilon <= 2: the series and a bound on its rest."""
    terms = [Fraction(epsilon) ** k / math.factorial(k) for k in range(40)]
    return sum(terms) + 2 * terms[-1]


class Naive:
    """The game, the obvious way: tables and sequences are tuples, all numbers are fractions."""

    def __init__(self, game):
        self.K, self.T, self.bandit = game.actions, game.rounds, game.feedback == "bandit"
        self.rows = list(product((0, 1), repeat=self.K))
        if not self.bandit:
            self.rows = self.rows[1:-1]
        self.shown = [0, 1] if self.bandit else self.rows
        self.tables = list(product(self.rows, repeat=self.T - 1))
        self.plays = list(product(range(self.K), repeat=self.T))
        steps = list(product(range(self.K), self.shown))
        self.sequences = [(*h, a) for h in product(steps, repeat=self.T - 1) for a in range(self.K)]

    def sequence(self, table, actions):
        see = (lambda row, a: row[a]) if self.bandit else (lambda row, a: row)
        return (*((a, see(row, a)) for row, a in zip(table, actions, strict=False)), actions[-1])

    def cost(self, table, j):
        """(sequence, regret) of all actions on a table, after which only action j loses nothing."""
        rows = (*table, tuple(int(a != j) for a in range(self.K)))
        for actions in self.plays:
            lost = sum(r[a] - r[j] for r, a in zip(rows, actions, strict=True))
            yield self.sequence(table, actions), lost

    def neighbours(self, s):
        for t, (a, o) in enumerate(s[: self.T - 1]):
            for d, other in enumerate(self.others(self.shown, o)):
                yield t, d, (*s[:t], (a, other), *s[t + 1 :])

    def table_neighbours(self, table):
        for t, row in enumerate(table):
            for other in self.others(self.rows, row):
                yield (*table[:t], other, *table[t + 1 :])

    @staticmethod
    def others(every, one):
        at = every.index(one)
        return every[at + 1 :] + every[:at]


def lower_bound(naive, certificate, epsilon, delta):
    """What a certificate proves: weak duality, then the cheapest plan by backward induction."""
    adversary, pairs, tables = (
        np.array([Fraction(max(x, 0.0)) for x in part.ravel()], object).reshape(part.shape)
        for part in certificate
    )
    mass, constant = adversary.sum(), Fraction(0)
    cost = dict.fromkeys(naive.sequences, Fraction(0))
    for j, (i, table) in product(range(naive.K), enumerate(naive.tables)):
        for s, lost in naive.cost(table, j) if adversary[j, i] else ():
            cost[s] += adversary[j, i] / mass * lost
    if math.isfinite(epsilon):
        factor, allowed = above_exp(epsilon), Counter()
        for (i, table), t in product(enumerate(naive.tables if delta else ()), range(naive.T - 1)):
            opposed = (*table[:t], tuple(1 - loss for loss in table[t]), *table[t + 1 :])
            constant -= Fraction(delta) * tables[i, t]
            for actions in naive.plays if tables[i, t] else ():
                allowed[tuple(naive.sequence(x, actions) for x in (table, opposed))] += tables[i, t]
        for i, s in enumerate(naive.sequences):
            for t, d, other in naive.neighbours(s):
                m = min(pairs[i, t, d], allowed[s, other]) if delta else pairs[i, t, d]
                cost[s] += m
                cost[other] -= factor * m

    def cheapest(history):
        if len(history) == naive.T - 1:
            return min(cost[(*history, a)] for a in range(naive.K))
        return min(sum(cheapest((*history, (a, o))) for o in naive.shown) for a in range(naive.K))

    return constant + cheapest(())


@pytest.mark.parametrize(("game", "epsilon", "delta"), GAMES, ids=str)
def test_certificate_and_plan_prove_the_value_in_exact_arithmetic(game, epsilon, delta):
    found, naive = minimax(game, epsilon, delta), Naive(game)
    proved = lower_bound(naive, found.certificate, epsilon, delta)
    assert abs(float(proved) - found.value) < 1e-10
    assert abs(float(proved) - found.lower) < 1e-12
    w = {s: Fraction(float(x)) for s, x in zip(naive.sequences, found.plan, strict=True)}
    assert min(w.values()) >= 0
    # a probability on every table
    for table in naive.tables:
        assert abs(float(sum(w[naive.sequence(table, x)] for x in naive.plays) - 1)) < 1e-14
    # and what is done up to round t + 1 does not depend on what is seen from there on
    for t in range(naive.T - 1):
        sums, grouped = Counter(), {}
        for s, x in w.items():
            sums[s[:t], s[t][0], tuple(o for _, o in s[t : naive.T - 1])] += x
        for (past, action, _), x in sums.items():
            grouped.setdefault((past, action), []).append(x)
        assert max(float(max(x) - min(x)) for x in grouped.values()) < 1e-14
    every = product(naive.tables, range(naive.K))
    worst = max(sum(w[s] * lost for s, lost in naive.cost(*at)) for at in every)
    assert float(worst) == pytest.approx(found.upper, abs=1e-13)
    assert float(worst - proved) < 1e-10
    factor = above_exp(epsilon) if math.isfinite(epsilon) else math.inf
    if math.isfinite(epsilon) and not delta:
        excess = (w[s] - factor * w[o] for s in w for _, _, o in naive.neighbours(s))
        assert float(max(excess)) < 1e-15
    for table in naive.tables if delta else ():
        for other in naive.table_neighbours(table):
            both = [[w[naive.sequence(x, a)] for x in (table, other)] for a in naive.plays]
            assert float(sum(max(p - factor * q, 0) for p, q in both)) < delta + 1e-12


def test_values_with_a_closed_form():
    """Two rounds, and without privacy, where the value is that of Cover."""
    for (epsilon, delta), feedback in product(
        [(0.0, 0.0), (0.1, 0.2), (1.0, 0.0), (5.0, 0.2)], ["bandit", "full"]
    ):
        value = minimax(Game(2, feedback), epsilon, delta).value
        assert value == pytest.approx(0.5 + (1 - delta) / (1 + math.exp(epsilon)), abs=1e-9)
    for rounds in (2, 5, 6):
        up = np.arange(rounds + 1)
        walk = np.abs(rounds - 2 * up) @ stats.binom.pmf(up, rounds, 0.5)
        assert minimax(Game(rounds, "full"), math.inf).value == pytest.approx(walk / 2, abs=1e-9)


def test_certificates_are_close_at_small_epsilon_and_prove_less_if_they_are_invalid():
    found = minimax(Game(6, "full"), 0.002)
    assert 0 <= found.upper - found.lower < 1e-8
    found = minimax(Game(3), 1.0)
    adversary, pairs, tables = found.certificate
    assert found.game.certified((adversary, pairs * 0, tables), 1.0) < found.value - 0.1
    assert found.game.certified((adversary, pairs, tables), 2.0) < found.value - 0.01


@pytest.mark.parametrize("delta", [0.01, 0.2])
@pytest.mark.parametrize("feedback", ["bandit", "full"])
def test_a_certificate_for_pure_privacy_proves_no_more_than_its_deltas_allow(feedback, delta):
    game = Game(3, feedback)
    pure, found = minimax(game, 0.5), minimax(game, 0.5, delta)
    for factor, spent in product((1, 10), (0, 0.5, 1)):
        tables = found.certificate.tables * spent
        for adversary, pairs, _ in (pure.certificate, found.certificate):
            bound = game.certified((adversary, factor * pairs, tables), 0.5, delta)
            assert bound <= found.value + 1e-9 < pure.value


@pytest.mark.parametrize("noise", ["laplace", "exponential", "gumbel"])
def test_epoch_plans_have_the_privacy_of_report_noisy_max(noise):
    game, learner = Game(5, "full"), FTNL(1.0, noise)
    plan, scale = epoch_plan(game, learner), learner.noise_scale(2)
    expected = max(noisy_maxima.epoch_loss(2, n, noise, scale).value for n in (1, 2))
    assert game.privacy(plan) == pytest.approx(expected, rel=1e-9)
    assert game.worst_regret(plan) > minimax(game, game.privacy(plan)).value


@pytest.mark.parametrize(
    "learner",
    [RandomPrefixSoftmax(1.0, cap=math.inf), PhasedFTNL(2.0, "gumbel", growth=1.5)],
    ids=repr,
)
def test_plans_follow_the_law_of_play(learner):
    rng, runs = np.random.default_rng(1), 4_000
    table = np.array([(0, 1), (1, 0), (0, 1), (0, 1)], float)
    game = Game(4, "full")
    code = np.ravel_multi_index(table[:-1].astype(int).T, (2, 2)) - 1
    place = int(code @ len(game.rows) ** np.arange(2, -1, -1))
    law = epoch_plan(game, learner).reshape(-1, 2)[game.histories[-1][place]].ravel()
    played = [int(learner.play(table, rng) @ [8, 4, 2, 1]) for _ in range(runs)]
    assert np.abs(np.bincount(played, minlength=16) / runs - law).max() < 5 * 0.5 / math.sqrt(runs)


def test_bad_input():
    for make, *words in (
        (lambda: Game(3, "half"), "feedback", "'half'"),
        (lambda: Game(9, "full", 3), "rounds", "33059881728", "262144"),
        (lambda: epoch_plan(Game(3), FTNL(1.0)), "game", "feedback='full'", "actions=2", "Game("),
        (lambda: epoch_plan(Game(3, "full", 3), FTNL(1.0)), "game", "actions=2", "actions=3"),
        (lambda: minimax(Game(2), -1), "epsilon", "-1"),
        (lambda: minimax(Game(2), 1, 1.5), "delta", "1.5"),
        (lambda: minimax(Game(2, "bandit", 3), 1, 0.1), "delta", "0.1"),
    ):
        refused(make, *words, error=ValueError)
