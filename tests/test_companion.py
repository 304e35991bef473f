"""What is ours: learners, theorems and lemmas by brute force, worst instances, comparisons."""

import json
import math
from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, refused
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import linprog, minimize
from scipy.special import log_ndtr

from privregret import estimates, exact, instances, simulate
from privregret.bandits import HybridUCB
from privregret.bounds import cesari2026, hu2021, wu2026
from privregret.bounds import companion as bounds
from privregret.companion import Game, MarginStop, PhasedFTNL, Votes, VotesOrLeader, minimax, votes
from privregret.companion import margin_stop as stop
from privregret.companion.coins import Coins, best_rule, crowding, selection
from privregret.companion.fixed import Fixed
from privregret.companion.phased import epoch_lengths
from privregret.estimates import Estimate
from privregret.full_information import FTNL, NaiveFTNL, RandomPrefixSoftmax
from privregret.studies import constants as study
from privregret.studies import side_by_side
from privregret.studies import whole_epochs as epochs
from privregret.studies.minimax import fixed_value

FIXED = instances.deterministic_losses((0.0, 0.3, 0.8), (1, 5, 4))
TIED = instances.deterministic_losses((0.5, 0.1, 0.1, 0.9), (2, 1, 3, 4))
RANDOM = instances.bernoulli_losses((0.2, 0.5, 0.8), (1, 5, 4))


@pytest.mark.parametrize(
    ("learner", "problem"),
    [
        (Votes(0.5), FIXED),
        (Votes(3.0, 2.0), TIED),
        (VotesOrLeader(0.9), TIED),
        (VotesOrLeader(9.0), FIXED),
        (MarginStop(2.0, 0.5, 1.0), FIXED),
        (MarginStop(30.0, 0.25, 0.4), TIED),
        (PhasedFTNL(0.5, "laplace", growth=1.7), TIED),
        (PhasedFTNL(0.5, "gumbel", growth=3.0, random_phase=False), FIXED),
        (PhasedFTNL(0.5), RANDOM),
    ],
    ids=str,
)
def test_exact_regret_is_the_mean_of_runs(learner, problem):
    reports = [7, 30, 200, 1500]
    runs = simulate.regret_curves(learner, problem, 1500, 500, 1, points=reports)
    means = runs.groupby("t").regret.agg(["mean", "sem"])
    found = exact.expected_regret(learner, problem, reports)
    assert (np.abs(means["mean"] - found.value) <= 5 * means["sem"] + found.error + 1e-9).all()
    assert (found.error < (0.05 if problem is RANDOM else 5e-3) * found.value + 1e-6).all()


@pytest.mark.parametrize("problem", [FIXED, TIED], ids=str)
def test_mean_gaps_of_fixed_losses_are_those_of_all_actions(problem):
    """Of a uniform action, of all but a best one, and of a draw in which that weighs 3."""
    fixed, gaps = Fixed.of(Votes(1.0), problem), np.repeat(problem.gaps, problem.counts)
    best = gaps.argmin()
    weights = np.where(np.arange(len(gaps)) == best, 3.0, 1.0)
    assert fixed.mean_gap == pytest.approx(gaps.mean())
    assert fixed.others_gap == pytest.approx(np.delete(gaps, best).mean())
    assert fixed.wrong(math.log(3)) == pytest.approx(gaps @ weights / weights.sum())


def test_the_error_of_a_mean_over_few_phases_is_the_right_one(monkeypatch):
    """By 16 times as many phases: within the error, and by more than half of it somewhere."""
    parts = []
    for learner in (PhasedFTNL(0.5), PhasedFTNL(2.0, "exponential", growth=4.0)):
        few = exact.expected_regret(learner, RANDOM, [30, 200, 1500])
        with monkeypatch.context() as more:
            more.setattr("privregret.companion.phased.FEW_PHASES", 256)
            many = exact.expected_regret(learner, RANDOM, [30, 200, 1500])
        parts += (np.abs(few.value - many.value) / few.error).tolist()
    assert 0.5 < max(parts) <= 1


@pytest.mark.parametrize(("growth", "phase"), [(2.0, 0.0), (math.e, 0.3), (1.3, 0.95)])
def test_the_lengths_of_epochs_that_grow_from_a_phase(growth, phase):
    lengths = epoch_lengths(growth, 1000, phase).tolist()
    assert lengths == [math.ceil(growth ** (i + phase)) for i in range(len(lengths))]
    assert sum(lengths[:-1]) < 1000 <= sum(lengths)


def naive_votes_loss(learner, actions, extra=0):
    """By listing all vote counts."""
    ballot, worst = learner.ballot(math.log(actions)), 0.0
    rounds, threshold = votes.epoch_length(ballot, 1) + extra, votes.epoch_threshold(ballot, 1)

    def law(counts):
        weights = [math.exp(ballot.rate * max(c - threshold, 0)) for c in counts]
        return np.array(weights) / sum(weights)

    for counts in product(range(rounds + 1), repeat=actions):
        for k, j in product(range(actions), repeat=2):
            if sum(counts) == rounds and k != j and counts[k]:
                moved = list(counts)
                moved[k] -= 1
                moved[j] += 1
                worst = max(worst, np.abs(np.log(law(moved) / law(counts))).max())
    return worst


@pytest.mark.parametrize("learner", [Votes(8.0), Votes(8.0, 1.0), Votes(30.0, 2.0)], ids=repr)
@pytest.mark.parametrize("extra", [0, 3])
def test_votes_loss_is_that_of_all_counts(learner, extra):
    naive = max(learner.ballot(math.log(3)).rate, naive_votes_loss(learner, 3, extra))
    assert study.votes_loss(learner, 3, extra=extra) == pytest.approx(naive, rel=1e-9)


@pytest.mark.parametrize(("epsilon", "threshold"), [(8.0, 0.5), (40.0, 8.0)])
def test_stop_law_is_that_of_play(epsilon, threshold):
    """A first action other than the choice shows that exploration stopped after round 1. With
    little noise and a high threshold that decides when."""
    learner = MarginStop(epsilon, 0.5, threshold)
    table = np.array([[0.0, 1.0, 1.0], [0.0, 1.0, 0.0]])
    law = study.stop_law(learner, table)
    assert law.sum() == pytest.approx(1, abs=1e-9)
    runs = np.array([learner.play(table, seed) for seed in range(3000)])
    for j in range(3):
        changed = (runs[:, 1] == j) & (runs[:, 0] != j)
        expected = law[0, j] * 2 / 3
        assert abs(changed.mean() - expected) < 5 * math.sqrt((expected + 1e-4) / len(runs))


def test_noise_of_the_stop_is_no_more_and_no_less_than_its_part_of_the_budget_needs():
    """A round moves a margin by almost 2: once for the threshold's noise, twice for that of the
    check that succeeds. Small tables show less, since their margins hardly move both ways."""
    learner = MarginStop(0.5, 0.2)
    rule, sums = learner.rule(math.log(100)), np.zeros((2, 100), stop.ACTION)
    # the best action loses 1 in the round, or all others do
    sums["loss"][:, 1:] = [[1000.0], [1001.0]]
    sums["loss"][0, 0] = 1.0
    low, high = (stop._margin(one, rule.first_scale) / rule.noise for one in sums)
    # margins that miss the threshold move up, the next one down
    before, after = (stop.stopping_chances(np.array([1 + x, 1 - x]))[0] for x in (0, high - low))
    part = learner.fraction * learner.epsilon
    assert 0.98 * part < math.log(before[1] / after[1]) <= part


def packing_bound(actions, epsilon, rounds):
    """Theorem 1: what every private learner loses on some losses that are the same each round."""
    return stats.logistic.cdf(math.log(actions - 1) - epsilon * np.arange(rounds)).sum()


@pytest.mark.parametrize("learner", [Votes, VotesOrLeader, MarginStop, PhasedFTNL, FTNL])
@pytest.mark.parametrize("epsilon", [0.05, 10.0])
def test_no_learner_is_below_the_packing_bound(learner, epsilon):
    """Theorem 1 holds for every private learner, at every horizon, and for few actions."""
    reports = [1, 2, 3, 5, 10, 30, 100, 400, 2000]
    for actions in (2, 3, 1000):
        problem = instances.deterministic_losses((0.0, 1.0), (1, actions - 1))
        found = exact.expected_regret(learner(epsilon), problem, reports)
        bound = [packing_bound(actions, epsilon, t) for t in reports]
        assert (found.value + found.error + 1e-9 >= bound).all()


@pytest.mark.parametrize(("actions", "epsilon"), [(2, 0.1), (2, 4.0), (3, 1.0)])
def test_theorem_1_is_exact_over_two_rounds(actions, epsilon):
    found = fixed_value(Game(2, "full", actions), epsilon)
    assert found.value == pytest.approx(packing_bound(actions, epsilon, 2))


def telescoped(outcomes, law, eta, longest):
    """(left, right side, left for uniform choices) of Lemma 2 for n = 1, 2, ..., longest."""
    flat, before = np.zeros(outcomes.shape[1]), None
    for n in range(longest + 1):
        mass, differences = epochs.compositions(outcomes, law, n)
        after = float(mass @ exact.expected_maximum(differences, "gumbel", 1 / eta))
        chosen = exact.selection_from_sums(differences, flat, "gumbel", 1 / eta)
        if n:
            of_all = float(mass @ differences.mean(axis=1)) / n
            yield float(mass @ (chosen * differences).sum(axis=1)) / n, before - after, of_all
        before = after


@pytest.mark.parametrize("seed", range(4))
def test_lemma_2_on_random_joint_distributions(seed):
    rng = np.random.default_rng(seed)
    outcomes = rng.random((int(rng.integers(2, 4)), int(rng.integers(2, 6))))
    outcomes = outcomes.round() if seed % 2 else outcomes
    law, eta = rng.dirichlet(np.ones(len(outcomes))), float(np.exp(rng.uniform(-4, 0.7)))
    outcomes = outcomes[:, np.argsort(law @ outcomes)]
    for left, right, _ in telescoped(outcomes, law, eta, 10):
        assert left <= right + 1e-9 * (1 + abs(right)) / eta
    # it needs choices that look at the losses
    sides = telescoped(np.array([[0.0, 1.0]]), np.ones(1), 1.0, 10)
    assert any(uniform > right for _, right, uniform in sides)


@pytest.mark.parametrize("seed", range(3))
def test_a_random_phase_has_2e_at_most_with_several_gaps(seed):
    rng = np.random.default_rng(seed)
    groups = int(rng.integers(1, 6))
    gaps = np.append(0.0, np.exp(rng.uniform(np.log(0.05), 0, groups)))
    log_counts = np.append(0.0, 300 * rng.uniform(0, 1, groups))
    problem = instances.deterministic_losses(gaps, log_counts=log_counts)
    assert epochs.scaled_regret(PhasedFTNL(0.01, "gumbel"), problem).value <= 1.001 * 2 * math.e


@pytest.mark.parametrize("gap", [0.05, 0.9])
def test_the_gaps_of_theorem_5_are_equal(gap, actions=4):
    """All rows of D_1: losses of rate mu, and where action 1 has loss 1, it and all others turn."""
    rate, rows = 1 - math.sqrt(1 - gap), np.array(list(product((0, 1), repeat=actions)))
    law = np.prod(np.where(rows == 1, rate, 1 - rate), axis=1)
    replaced = np.where(rows[:, :1] == 1, np.arange(actions) > 0, rows)
    np.testing.assert_allclose(law @ replaced, [0] + [gap] * (actions - 1), atol=1e-12)


@pytest.mark.parametrize("feedback", ["bandit", "full"])
@pytest.mark.parametrize("rounds", [2, 4])
def test_theorem_8_brackets_the_linear_programme(feedback, rounds):
    epsilon, pairs, half = 0.005, rounds**2 // 4, rounds // 2
    lower = rounds / 2 - pairs * math.expm1(epsilon) * math.exp(epsilon * (rounds - 2)) / 4
    upper = rounds / 2 - epsilon * pairs / 4 + (epsilon * half) ** 2 * (rounds - half) / 16
    found = minimax(Game(rounds, feedback), epsilon)
    assert lower <= found.upper and found.lower <= upper


TYPES = ACTIONS = 3
SETS = [frozenset(c) for size in range(3) for c in combinations(range(TYPES), size)]
ROWS = list(product((0, 1), repeat=ACTIONS))
both_cases = pytest.mark.parametrize("case", ["a", "b"])


def least_price(prices):
    """The least sum of i_(c-1) tau_(i_c + 1) over sequences n = i_0 > ... > 0, by listing them."""
    n, least = len(prices), math.inf
    for size in range(n):
        for stops in combinations(range(n - 1, 0, -1), size):
            path = (n, *stops, 0)
            least = min(least, sum(i * prices[j] for i, j in pairwise(path)))
    return least


def row_law(case, faults, hidden=None):
    """The law of a row in Theorem 7 (a) or (b), by listing, or of the null that hides a type."""
    law = dict.fromkeys(ROWS, Fraction(0))
    for k in range(TYPES):
        marked = tuple(int(k in f) for f in faults)
        for row in ROWS:
            if case == "b":
                played = (0,) * ACTIONS if k == hidden else marked
            else:
                turned = k != hidden and all(a != b for a, b in zip(row, marked, strict=True))
                played = marked if turned else row
            law[played] += Fraction(1, TYPES * len(ROWS))
    return list(law.values())


@pytest.mark.parametrize(("levels", "value"), [(1, 1), (2, 4 / 3), (4, 44 / 27), (10, 1.93575)])
def test_few_gaps(levels, value):
    found, prices = study.few_gaps(levels)
    assert found == pytest.approx(value, abs=3e-5)
    assert least_price(prices) == pytest.approx(found)
    assert prices.sum() == pytest.approx(1) and (np.diff(prices) < 0).all()
    others = np.random.default_rng(levels).dirichlet(np.ones(levels), 20)
    assert max(least_price(p) for p in others) <= found + 1e-9


@both_cases
def test_gaps_and_distance_to_the_nulls_on_all_instances(case):
    rate = Fraction(1, TYPES * (len(ROWS) if case == "a" else 1))
    for faults in product(SETS, repeat=ACTIONS):
        law = row_law(case, faults)
        for j, fault in enumerate(faults):
            mean = sum(p for p, row in zip(law, ROWS, strict=True) if row[j])
            half = Fraction(1, 2) - rate * TYPES if case == "a" else 0
            assert mean == half + (2 if case == "a" else 1) * rate * len(fault)
        for k in range(TYPES):
            null = row_law(case, faults, k)
            assert sum(abs(p - q) for p, q in zip(law, null, strict=True)) / 2 <= rate
            assert null == row_law(case, [f - {k} for f in faults], k)


def hiding(case, temperature, null):
    """Instances and actions a_2, a_4 of softmax: k, probability, K^S_k, its mean given the others.

    a_2 has seen round 1, and a_4 rounds 2 and 3. The base of the powers may be any; here it is
    1000. A fault k of i + 1 is missing with probability 1 / (1 + K^tau_(i + 1)).
    """
    prices = np.array([0.6, 0.3, 0.0])
    weight = 1000.0 ** -np.array([0.9, 0.3, 0.0])
    problems = list(product(SETS, repeat=ACTIONS))
    prior = np.array([math.prod(weight[len(f)] for f in faults) for faults in problems])
    table = np.array(ROWS, float)
    softmax = [np.exp(-temperature * x) for x in (table, table[:, None] + table[None])]
    first, second = (x / x.sum(axis=-1, keepdims=True) for x in softmax)
    for k in range(TYPES):
        for p, faults in zip(prior / prior.sum(), problems, strict=True):
            law = np.array([float(x) for x in row_law(case, faults, k if null else None)])
            pair = p * np.outer(law @ first, np.einsum("x,y,xyj->j", law, law, second))
            gain = np.array([1 if k in f else 1000 ** prices[len(f)] for f in faults])
            share = 1000 ** prices[[len(f - {k}) for f in faults]]
            each = [np.outer(x, x) for x in (gain, 2 * share / (1 + share))]
            for x, y in zip(each, (gain, 2 * share / (1 + share)), strict=True):
                np.fill_diagonal(x, y)
            yield k, pair, *each


@both_cases
@pytest.mark.parametrize("temperature", [0.5, 20.0])
def test_hiding(case, temperature):
    """Under the null a learner learns nothing about fault k, and Lemma 3 follows."""
    for k in range(TYPES):
        found = [row for i, *row in hiding(case, temperature, True) if i == k]
        sums = [(p * x).sum() for p, *xs in found for x in xs]
        left, right = sum(sums[::2]), sum(sums[1::2])
        assert left == pytest.approx(right, rel=1e-12) and left <= 4
    rate = 1 / (TYPES * (len(ROWS) if case == "a" else 1))
    tried = list(hiding(case, temperature, False))
    for k, price, h in product(range(TYPES), (0.3, 0.6, 0.9, 1.2), range(4)):
        chance = sum(p[x >= 1000**price - 1e-6].sum() for i, p, x, _ in tried if i == k)
        rest = stats.binom.sf(h, 3, rate)
        assert chance <= rest + math.exp(2 * temperature * h) * 4 * 1000**-price
    if (case, temperature) == ("b", 20.0):  # softmax sees which actions lack what is not hidden
        left, right = (sum((p * x[i]).sum() for k, p, *x in tried if k == 0) for i in (0, 1))
        assert left > 1.2 * right


def test_the_history_has_the_constants_of_the_papers():
    """Those of ln K / epsilon as `privregret.bounds` has them, for gaps far above epsilon."""
    cells = json.loads((ROOT / "notebooks/companion/constants.ipynb").read_bytes())["cells"]
    text = "".join(line for cell in cells for line in cell["source"])
    of_wu = wu2026.theorem_4(1, 1) - wu2026.theorem_4(0, 1)
    assert f"| {hu2021.theorem_10(1, 1):.4f} | | Hu" in text
    assert f"| {cesari2026.theorem_1(1, math.inf, 0.5) - 1:g}, or" in text
    assert f"| {bounds.large_gaps(1, math.inf, 1, 'gumbel') - 1:g} | [whole" in text
    assert f"| {of_wu:.1f} | Wu" in text


LAWS = {"laplace": stats.laplace(), "exponential": stats.expon(), "gumbel": stats.gumbel_r()}


@pytest.mark.parametrize("noise", LAWS)
@pytest.mark.parametrize("actions", [2, 10, 1000])
def test_the_expected_maximum_of_the_noise(noise, actions):
    law = LAWS[noise]
    above = quad(lambda x: 1 - law.cdf(x) ** actions, 0, 80, limit=400, points=[1, 3, 10])[0]
    below = quad(lambda x: law.cdf(x) ** actions, -60, 0, limit=400, points=[-10, -3, -1])[0]
    known = above - below - law.mean()
    computed = float(exact.expected_maximum(np.zeros(actions), noise, 1.0)) - law.mean()
    assert computed == pytest.approx(known, abs=1e-7)
    bound = float(bounds.maximum(math.log(actions), noise))
    assert known <= bound + 1e-7
    assert noise == "laplace" or known == pytest.approx(bound, abs=1e-7)
    # where the formula changes
    below, above = (bounds.maximum(30 + x, noise) for x in (-1e-9, 1e-9))
    assert below == pytest.approx(above, abs=1e-8)


@pytest.mark.parametrize("noise", LAWS)
def test_the_slope_of_the_expected_maximum_is_the_probability(noise):
    sums, step = np.random.default_rng(1).random((5, 4)) * 6, 1e-4
    for j in range(4):
        up, down = sums + step * np.eye(4)[j], sums - step * np.eye(4)[j]
        rise, fall = (exact.expected_maximum(x, noise, 1.7) for x in (up, down))
        won = exact.selection_from_sums(sums, np.zeros(4), noise, 1.7)[:, j]
        assert (fall - rise) / (2 * step) == pytest.approx(won, abs=1e-6)


def lemma_4(rounds, gap, epsilon):
    """P[an action of that gap leads after n rounds] <= exp(-n gap min(gap, epsilon / 4) / 2)."""
    return np.exp(-0.5 * rounds * gap * np.minimum(gap, epsilon / 4))


@pytest.mark.parametrize("gaps", [[0.01] * 5, [0.2] * 40, np.linspace(0.003, 0.2, 30)])
def test_small_gaps_bound_the_sum_over_epochs(gaps):
    """Brute force: the epochs' costs when every probability is as large as its bound allows."""
    n, cost = 2.0 ** np.arange(60), 0.0
    left = np.ones(len(n))
    # the largest gaps first
    for gap in reversed(gaps):
        taken = np.minimum(left, lemma_4(n, gap, 0.2))
        cost, left = cost + float((2 * n * taken * gap).sum()), left - taken
    assert cost <= 32 * (1 + math.log(len(gaps))) / min(gaps)


@pytest.mark.parametrize("noise", LAWS)
def test_lemma_1(noise):
    """The hazard rate is at most 1, and tails of differences fall by exp(-v / 2), no faster."""
    law, v = LAWS[noise], np.arange(0, 20.1, 0.25)
    x, u = np.linspace(-25, 25, 501), np.linspace(0, 20, 41)[:, None]
    assert np.max(law.logsf(x) - u - law.logsf(x + u)) < 1e-9
    assert np.max(log_ndtr(-x / math.sqrt(2)) - u - log_ndtr(-(x + u) / math.sqrt(2))) > 1
    y, weights = np.polynomial.legendre.leggauss(64)
    at = np.arange(-30, 45)[:, None] + (y + 1) / 2
    tail = np.array([(law.pdf(at) * law.sf(at + x) * weights / 2).sum() for x in v])
    assert (tail <= 0.5 * np.exp(-v / 2) + 1e-12).all()
    assert ((tail > np.exp(-v)).any()) == (noise == "laplace")


@pytest.mark.parametrize("noise", [*LAWS, "gaussian"])
@pytest.mark.parametrize("eta", [0.1, 0.5])
def test_lemma_3_on_opposite_pairs(noise, eta):
    """Equality for exponential noise; false for Gaussian noise of Laplace noise's variance."""
    gaps, n = np.linspace(0.05, 0.95, 10), int(64 / eta)
    hits = np.arange(n + 1)
    differences, mass = 2.0 * hits - n, stats.binom.pmf(hits, n, (1 + gaps[:, None]) / 2)
    if noise == "gaussian":
        wrong = np.exp(log_ndtr(-differences * eta / 2))
    else:
        sums = np.stack([0 * differences, differences], axis=1)
        wrong = exact.selection_from_sums(sums, np.zeros(2), noise, 1 / eta)[:, 1]
    slack = mass @ (wrong * differences) / (n * (mass @ wrong)) - bounds.lemma_3(gaps, eta)
    assert (slack > -1e-9).all() == (noise != "gaussian")
    if noise == "exponential":
        assert (slack[bounds.lemma_3(gaps, eta) >= 0.6] < 1e-6).all()


@pytest.mark.parametrize("noise", LAWS)
def test_lemma_4_and_that_its_exponent_is_not_twice_as_large(noise):
    once, twice = [], []
    for epsilon, gap, n in product((0.03, 1.0, 10.0), (0.01, 0.1, 0.5), (2, 64, 1024)):
        pair = instances.dependent("antithetic", gap)
        chosen = exact.selection_probabilities(pair, n, noise, 2 / epsilon)
        if chosen.group[1] > 1e3 * chosen.error:
            cap = lemma_4(n, gap, epsilon)
            once.append(chosen.group[1] / cap)
            twice.append(chosen.group[1] / cap**2)
    assert max(once) <= 1 < max(twice)


def test_exact_regret_beyond_what_a_float_can_count():
    """By a formula. At e^3000 actions epochs far past 700 scales of the noise still cost."""
    for log_actions, gap, epsilon in ((7.5, 0.4, 0.1), (3000.0, 0.5, 0.02)):
        others = log_actions + math.log1p(-math.exp(-log_actions))
        n = 2.0 ** np.arange(50)
        # chance of a wrong action by Gumbel noise: a softmax
        wrong = np.exp(-np.logaddexp(0, n * gap * epsilon / 2 - others))
        known = -math.expm1(-log_actions) * gap + (2 * n * gap * wrong).sum()
        problem = epochs.equal_gaps(log_actions, gap)
        for noise in LAWS if log_actions > 100 else ["gumbel"]:
            regret = exact.expected_regret(FTNL(epsilon, noise), problem, 2**50)
            assert regret.value[0] == pytest.approx(known, rel=1e-6 if noise == "gumbel" else 0.05)
            assert regret.error[0] < 1e-3


@pytest.mark.parametrize(
    ("log_actions", "bernoulli", "noise", "known"),
    [
        (math.log(2), False, "gumbel", 5.766),
        (30.0, False, "laplace", 7.03),
        (3000.0, False, "exponential", 7.977),
        (10.0, True, "gumbel", 6.23),
    ],
)
def test_the_search_finds_what_is_known(log_actions, bernoulli, noise, known):
    """epsilon R / ln K of a known instance, gaps in [0.3, 1], epsilon = 0.02."""
    found = epochs.worst_instance(FTNL(0.02, noise), log_actions, bernoulli=bernoulli, points=12)
    constant = 8 * float(bounds.maximum(log_actions, noise)) / log_actions
    assert known <= found["scaled_regret"] <= constant / 0.95
    assert found["scaled_regret_error"] < 1e-6 and found["tried"] <= 12 + 2 * 13


def test_naive_noise_is_worse_than_the_constant():
    found = epochs.worst_instance(NaiveFTNL(0.02), math.log(8), points=4, polish=0)
    assert found["scaled_regret"] > 15


def test_limits_hold_for_all_rows_at_once_and_leaders_are_right():
    medians, missed, rng = [100.0, 100.0, 130.0, 400.0], 0, np.random.default_rng(0)
    runs = pd.DataFrame(np.ndindex(5, 4, 300), columns=["instance", "algorithm", "run"])
    truth = runs.algorithm.map(dict(enumerate(medians)))
    for _ in range(50):
        # tails so heavy that means say little
        runs["regret"] = truth * (1 + rng.pareto(1.2, len(runs))) / 2 ** (1 / 1.2)
        table = estimates.quantile_limits(runs, ["instance", "algorithm"], confidence=0.9)
        true = table.algorithm.map(dict(enumerate(medians)))
        missed += not ((table.lower_limit <= true) & (true <= table.upper_limit)).all()
        led = side_by_side.leaders(table, ["instance"])
        missed += not led[led.algorithm < 2].groupby("instance").leads.any().all()
    # at most one in ten, but for one seed in 10^4
    assert missed <= stats.binom.isf(1e-4, 50, 0.1)
    assert not led[led.algorithm == 3].leads.any()
    assert (led.groupby("instance").leads.sum() >= 1).all()


def test_a_promise_of_half_as_much_again_is_kept_with_two_thirds():
    assert side_by_side.at_privacy(HybridUCB, 3.0).epsilon == pytest.approx(2)
    doubled = side_by_side.at_privacy(lambda e: FTNL(e, "exponential", 1.0), 0.5)
    assert doubled.privacy.proved == pytest.approx(0.5) and doubled.noise_scale(10) == 4
    assert side_by_side.at_privacy(RandomPrefixSoftmax, 0.2).epsilon == pytest.approx(0.2)
    refused(lambda: side_by_side.at_privacy(RandomPrefixSoftmax, 1.0), "epsilon", "1", "0.25")


def test_the_affordable_epsilon_of_a_power_law():
    epsilons = np.geomspace(0.01, 10, 16)
    regrets = [Estimate(3 / e, 0.1 / e) for e in epsilons]
    found = side_by_side.affordable(epsilons, regrets, 6.0)
    assert found.value == pytest.approx(0.5) and found.high == pytest.approx(3.3 / 6)
    assert side_by_side.affordable(epsilons, regrets, 0.1) == Estimate(math.inf)
    refused(lambda: side_by_side.affordable(epsilons, regrets, 1000.0), "target", "300", "1000")
    vague = [Estimate(3 / e, 2 / e) for e in epsilons]
    assert side_by_side.affordable(epsilons, vague, 6.0).se == math.inf


PROVED = {
    Votes: lambda k, gap, e: bounds.votes(k, e),
    VotesOrLeader: lambda k, gap, e: bounds.votes_or_leader(k, e),
    PhasedFTNL: lambda k, gap, e: bounds.random_phase_fixed(k, e, math.e),
    MarginStop: lambda k, gap, e: bounds.margin_stop(k, gap, e, 0.25),
}


@pytest.mark.parametrize("learner", PROVED)
def test_the_bounds_of_our_learners_hold(learner):
    """On losses that never change; but for margin stop they are within a factor of two."""
    used = []
    for e, k, gap in product((0.01, 1.0), (0.7, 30.0, 1000.0), (0.3, 1.0)):
        make = learner(e, "gumbel") if learner is PhasedFTNL else learner(e)
        found, bound = epochs.scaled_regret(make, epochs.equal_gaps(k, gap)), PROVED[learner]
        used.append(found.value * k / e / float(bound(k, gap, e)))
    assert max(used) <= 1 and (learner is MarginStop or max(used) > 0.5)


def test_a_fault_is_not_private():
    """Epochs one round too long, a test that is too sharp, a stop without noise."""
    assert study.votes_loss(Votes(3.0, 2.0), 1000, extra=1) > 3
    assert 2 * study.unanimity_loss(VotesOrLeader(10.0), 2, 2.0) > 10 * 1.1
    assert study.stop_loss(MarginStop(4.0, 0.25, 0.3), 4, 2, False) == math.inf


def best_rule_on_tables(actions, rounds, gap, epsilon):
    """The same linear programme over all tables in order, without any symmetry."""
    rows = list(product((0, 1), repeat=actions))
    tables = list(product(rows, repeat=rounds))
    place, cost = {table: i for i, table in enumerate(tables)}, np.zeros(actions * len(tables))
    for table, j in product(tables, range(actions)):
        ones = sum(row[j] for row in table)
        chance = (0.5 - gap) ** ones * (0.5 + gap) ** (rounds - ones)
        cost[place[table] * actions + j] = -chance * 0.5 ** (rounds * (actions - 1)) / actions
    above = []
    for table, t, row, j in product(tables, range(rounds), rows, range(actions)):
        other = (*table[:t], row, *table[t + 1 :])
        above.append(np.zeros(len(cost)))
        above[-1][place[table] * actions + j] += 1
        above[-1][place[other] * actions + j] -= math.exp(epsilon)
    total = np.kron(np.eye(len(tables)), np.ones(actions))
    found = linprog(cost, above, np.zeros(len(above)), total, np.ones(len(tables)), (0, None))
    return -found.fun


@pytest.mark.parametrize(("actions", "rounds", "gap"), [(2, 3, 0.3), (2, 2, 0.5), (3, 2, 0.5)])
def test_the_best_rule_needs_histograms_only(actions, rounds, gap):
    naive = best_rule_on_tables(actions, rounds, gap, 0.7)
    assert best_rule(Coins(actions, rounds, gap), 0.7) == pytest.approx(naive, abs=1e-8)


def test_rows_beat_sums_for_three_actions():
    for rounds, gap, rows, sums in ((4, 0.5, 0.67640, 0.67080), (5, 0.3, 0.56599, 0.56242)):
        coins = Coins(3, rounds, gap)
        found = [best_rule(coins, 1.0, only) for only in (False, True)]
        assert found == pytest.approx([rows, sums], abs=1e-5)
    two = Coins(2, 4, 0.3)
    assert best_rule(two, 1.0) == pytest.approx(best_rule(two, 1.0, True), abs=1e-9)


def test_the_selection_is_that_of_its_definition():
    """Privacy loss of two coins, from tables, with total variation written out."""
    n, gap, failure, share = 5, 0.5, 0.1, 0.6
    s = math.log(2 / failure)
    own = (2 * s - math.log(2 * share)) / (n * gap)

    def law(table):
        u = []
        for j in range(2):
            ones = [0.5 - gap * (k == j) for k in range(2)]
            apart = [abs(sum(row[k] for row in table) / n - ones[k]) for k in range(2)]
            chance = {
                x: math.prod(o if b else 1 - o for o, b in zip(ones, x, strict=True))
                for x in product((0, 1), repeat=2)
            }
            apart.append(sum(abs(table.count(x) / n - p) for x, p in chance.items()) / 2)
            u.append(max(s - own * n * max(apart), 0))
        weights = np.exp(u)
        return np.log(weights / weights.sum())

    rows, worst = list(product((0, 1), repeat=2)), 0.0
    for table, row in product(product(rows, repeat=n), rows):
        worst = max(worst, np.abs(law(table) - law((row, *table[1:]))).max())
    found = selection(Coins(2, n, gap), failure, share)
    assert found.loss == pytest.approx(worst, rel=1e-9) and 0 < found.loss <= found.bound


def test_crowds_are_small_for_uncorrelated_losses_only():
    assert [crowding(k) for k in (2, 3)] == pytest.approx([1 / 2, 1 / 3], abs=1e-3)
    assert crowding(16) == pytest.approx(0.174, abs=1e-3)
    # of independent losses at one rate, chosen greedily
    rate, rest, slack = 0.8, 1.0, 0.8 - 1
    for w in range(8, 0, -1):
        cap = math.comb(8, w) * (1 - rate) ** (w - 1) * rate ** (8 - w)
        taken = min(cap, rest)
        slack, rest = slack + taken * w / 8, rest - taken
    assert slack < crowding(8) < crowding(8, correlated=True)
    assert crowding(32, correlated=True) == pytest.approx(8 / 31, abs=1e-3)


def test_the_lemma_of_signs():
    rng = np.random.default_rng(5)
    found = [study.signed_sum(1 + rng.exponential(2, rng.integers(1, 9))) for _ in range(300)]
    assert 0.9 < max(found) <= 1 + 1e-12
    # by hand: y = 4, 2, 1, weights e 2 ln 2 and e ln 2
    assert study.signed_sum([2, 2]) == pytest.approx(math.e * 2 * math.log(2) / 4)


def test_numbers_of_the_note_on_independent_losses():
    def best(log_levels):
        def loss(x):
            return -bounds.tried_actions(log_levels, math.exp(x[0]), math.exp(x[1]), x[2])

        starts = product((-3, -5, -9), (-3, -5, -9), (12, 20, 28))
        return max(-minimize(loss, x, method="Nelder-Mead").fun for x in starts)

    known = {100: 2.25, 300: 2.53, 10_000: 2.709}
    assert all(value <= best(m) < value + 0.01 for m, value in known.items())
    assert best(56) < 2 < best(57)
    curve = [bounds.fair_coins(10.0, 0.0295, 0.051), bounds.fair_coins(1000.0, 0.00049, 0.00098)]
    assert curve == pytest.approx([2.353, 1.0252], abs=1e-3)
    # b_m of the definition, m = 2: sqrt(share K)
    count, crowd = bounds.nearly_good(math.log(50), 0.5, 0.1)
    assert count > 2 and crowd >= math.sqrt(0.1 * 50) / 50 - 1e-12
