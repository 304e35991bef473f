"""Problems: what the papers say of them, their comparators and regret, and bad input."""

import copy
import math
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from conftest import refused

from privregret import exact, instances
from privregret.core import checks, identity
from privregret.instances import Adversary, Advice, BernoulliBandit, ExpertProblem, StochasticLosses


def test_losses_are_what_the_papers_say():
    packing = instances.packing(7, 0.1)
    np.testing.assert_allclose(packing.gaps, [0, 0.1])
    assert packing.counts.tolist() == [1, 6]
    doubling = instances.doubling(5)
    np.testing.assert_allclose(doubling.gaps[1:], doubling.gaps[1] * 2.0 ** np.arange(5))
    assert doubling.gaps[-1] == pytest.approx(0.9) and doubling.means[0] == 0.05
    cyclic = instances.cyclic(10, 0.05)
    assert cyclic.counts.tolist() == [1, 2, 7] and cyclic.means.tolist() == [0, 0.05, 1]
    same = instances.cyclic(None, 0.05, log_actions=math.log(10))
    assert same.log_counts == pytest.approx(cyclic.log_counts)
    assert instances.TWO_ACTION_PRINTED.means.tolist() == pytest.approx([0.3, 0.32])
    assert instances.TWO_ACTION_FIXED.means.tolist() == pytest.approx([0.3, 0.36])
    assert instances.TWO_ACTION_GAIN.means.tolist() == pytest.approx([0.01, 0.31])
    assert instances.DEPENDENT_COPIES.means.tolist() == pytest.approx([0.40, 0.41])
    for kind in ("antithetic", "comonotone", "copies"):
        assert instances.dependent(kind, 0.2).gaps.tolist() == pytest.approx([0, 0.2])
    table = packing.table(20000, np.random.default_rng(0))
    assert table.shape == (20000, 7)
    np.testing.assert_allclose(table.mean(axis=0), [0.4] + [0.5] * 6, atol=0.02)
    copies = instances.dependent("copies", 0.2, 4).table(1000, np.random.default_rng(0))
    assert (copies[:, 1] == copies[:, 3]).all() and (copies[:, 0] != copies[:, 1]).any()


def test_tables_have_the_means_and_regret_counts_gaps():
    rng = np.random.default_rng(0)
    adversary = instances.gap_adversary(3, 0.5, True)
    for problem in (instances.HU2021_2, instances.bernoulli_losses((0.2, 0.5, 0.9)), adversary):
        means = problem.losses[0] if isinstance(problem, Adversary) else problem.means
        table = problem.table(40_000, rng)
        assert set(np.unique(table)) == {0.0, 1.0}
        np.testing.assert_allclose(table.mean(axis=0), means, atol=5 * 0.5 / 200)
    counts = np.array([[[1, 2, 3, 4, 0]], [[10, 0, 0, 0, 0]]])
    expected = [2 * 0.125 + 3 * 0.25 + 4 * 0.375, 0]
    assert instances.HU2021_2.regret(counts, [10])[:, 0] == pytest.approx(expected)
    losses = instances.bernoulli_losses((0.5, 0.2), (2, 3))
    assert losses.regret(np.array([[4, 6]]), [10]) == pytest.approx([4 * 0.3])
    for rounds, best in ([5, 10], [0, 5]), ([3, 8], [0, 3]), ([1, 5, 10], [0, 0, 5]):
        paid = np.arange(2.0, 2 + len(rounds))
        assert TURN.regret([paid], rounds).tolist() == [(paid - best).tolist()]


def test_comparators_of_experts():
    rng = np.random.default_rng(1)
    losses, advice = rng.random((120, 3)), rng.dirichlet(np.ones(3), size=(120, 5))
    problem = ExpertProblem(Adversary("t", np.arange(120), losses), Advice.of_table(advice))
    expected = np.cumsum(np.einsum("tnk,tk->tn", advice, losses), axis=0)
    found = problem.comparators([1, 50, 120])
    np.testing.assert_allclose(found, expected[[0, 49, 119]], rtol=1e-12)
    advice = Advice.of_arms(rng.integers(3, size=(5, 5)), 3, range(0, 120, 25))
    problem = ExpertProblem(instances.switching(3, 7, 120), advice)
    losses = problem.adversary.table(120)
    expected = np.cumsum(np.einsum("tnk,tk->tn", advice.dense(120), losses), axis=0)
    np.testing.assert_allclose(problem.comparators([7, 120]), expected[[6, 119]], rtol=1e-12)


def test_adversaries_are_what_the_paper_says():
    one, other = instances.lemma_11_pair(5)
    np.testing.assert_array_equal(one.table(8), np.tile([0.5, 1.0], (8, 1)))
    np.testing.assert_array_equal(other.table(8)[:, 1], [1] * 5 + [0] * 3)
    assert instances.lemma_11_pair(0)[1].losses.tolist() == [[0.5, 0.0]]
    losses = instances.stochastically_constrained(3, 0.2, 5000).table(5000)
    np.testing.assert_allclose(losses[:, 1] - losses[:, 0], 0.2)
    assert {0.0, 0.8} == set(np.round(losses[:, 0], 12))
    lengths = np.diff(instances.stochastically_constrained(3, 0.2, 5000).starts)
    assert lengths.tolist() == [math.ceil(1.6**m) for m in range(1, 1 + len(lengths))]
    adversary = instances.switching(4, 13, 1000)
    problem = ExpertProblem(adversary, instances.tracking_experts(adversary, 10, 1000, 50, 1))
    (losses,) = problem.comparators([1000])
    assert losses[0] == 0 == losses.argmin()
    for named in problem.advice.group.T[1:]:
        # a new arm in each block
        assert set(named) == {0, 1, 2, 3} and 0.05 < np.mean(named[1:] == named[:-1]) < 0.6


def test_the_law_of_a_problem_leaves_out_its_name():
    """Random streams hang on it."""

    def laws(name):
        adversary, means = Adversary(name, [0], [[0.1, 0.2]]), (0.1, 0.2)
        problems = [BernoulliBandit(name, means, source=name), adversary]
        problems += [instances.bernoulli_losses(means, name=name, source=name)]
        problems += [ExpertProblem(adversary, Advice.of_arms([[0, 1]], 2, name=name))]
        return [identity.encode(problem.distribution) for problem in problems]

    assert laws("one") == laws("other")
    different = [Adversary("x", [0], [[0.1, 0.2]], bernoulli) for bernoulli in (False, True)]
    different += [Adversary("x", [0, 5], [[0.1, 0.2]] * 2), Adversary("x", [0], [[0.2, 0.1]])]
    assert len({identity.encode(problem.distribution) for problem in different}) == 4


@dataclass(frozen=True)
class Keeps(checks.Validated):
    array: np.ndarray  # which no rule checks


TWO_ROWS = np.array([[0.2, 0.8], [0.3, 0.6]])
KEPT = {  # an array, what is made of it, and where that keeps it
    "losses": (TWO_ROWS, lambda a: Adversary("x", [0, 3], a), lambda p: p.losses),
    "starts": (
        *(np.array([0, 2]), lambda a: Adversary("x", a, TWO_ROWS)),
        lambda p: p.kernel_data.loss_starts,
    ),
    "rows": (np.eye(2)[None], lambda a: Advice("x", [0], a, [[0, 1]]), lambda p: p.rows),
    "field": (TWO_ROWS, Keeps, lambda p: p.array),
    "outcomes": (
        *(TWO_ROWS, lambda a: StochasticLosses("x", a, (0.0, 0.0), (0.5, 0.5))),
        lambda p: p.kernel_data.outcomes,
    ),
    "gaps": (TWO_ROWS[0], instances.bernoulli_losses, lambda p: exact.selection.arrays(p)[0]),
}


@pytest.mark.parametrize(("given", "make", "kept"), KEPT.values(), ids=KEPT)
def test_what_a_problem_keeps_is_its_own(given, make, kept):
    """What is cached was computed from it."""
    given = given.copy()
    problem = make(given)
    before = kept(problem).copy()
    given[...] = 1 - given
    copies = copy.copy(problem), copy.deepcopy(problem), pickle.loads(pickle.dumps(problem))
    for one in (problem, *copies):
        assert (kept(one) == before).all()
        with pytest.raises(ValueError):
            kept(one)[...] = 0


def test_a_table_takes_a_seed():
    drawn = Adversary("x", [0], TWO_ROWS[:1], True)
    for problem in (drawn, ExpertProblem(drawn, Advice.of_arms([[0, 1]], 2)), instances.HU2021_2):
        assert (problem.table(50, rng=3) == problem.table(50, np.random.default_rng(3))).all()


PAIR, THREE = ((0.1, 0.2),), instances.gap_adversary(3, 0.1)
TURN = instances.switching(2, 2, 10)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: BernoulliBandit("x", ((0.5, 0.5),)), ["means", "((0.5, 0.5),)"]),
        (lambda: instances.bernoulli_losses((0.5,)), ["log_counts", "2", "1"]),
        (lambda: instances.bernoulli_losses((0.5, 0.6), (1, 0)), ["counts", "0"]),
        (lambda: StochasticLosses("x", PAIR, (0.0, 0.0), (0.7,)), ["probabilities", "1", "0.7"]),
        (lambda: StochasticLosses("x", PAIR, (0.0,), (1.0,)), ["outcomes", "(1, 2)"]),
        (lambda: instances.bernoulli_losses((0.5,), log_counts=3), ["log_counts", "3"]),
        (lambda: instances.cyclic(5, 0.1), ["actions", "6", "5"]),
        (lambda: instances.dependent("antithetic", 0.1, 3), ["actions", "2", "3"]),
        (lambda: Adversary("x", [0, 5, 5], [[0.5, 1]] * 3), ["starts", "0", "[0, 5, 5]"]),
        (lambda: Adversary("x", [0], [[0.5, 1], [0, 0]]), ["starts", "2", "1"]),
        (lambda: Adversary("x", [0], [[0.5]]), ["losses", "2", "1"]),
        (lambda: Advice.of_table([0.5, 0.5]), ["advice", "(T, N, K)", "(N, K)", "(2,)"]),
        (lambda: Advice.of_arms([[0, 3]], 3), ["group", "[0, 3)", "3"]),
        (lambda: Advice.of_arms([[0]], 3), ["group", "(A, N)", "(1, 1)"]),
        (lambda: ExpertProblem(THREE, instances.fixed_experts(4, 2)), ["advice", "2", "3"]),
        (lambda: instances.HU2021_2.regret([[1, 2, 3, 4, 1]], [10]), ["counts", "[10]"]),
        (lambda: instances.HU2021_2.regret([[1, 2, 3, 4]], [10]), ["counts", "5"]),
        (lambda: TURN.regret([1.0], [5, 10]), ["run", "(1,)"]),
        (lambda: TURN.regret([1.0, math.nan], [5, 10]), ["run", "nan"]),
        (lambda: Adversary("x", [0], [[0.5, 0.2]], True).table(3), ["rng", "None"]),
        (
            lambda: instances.HU2021_2.play_counts(lambda *_: np.array([0, 1, 5, 2]), [2, 4], 1),
            ["play", "3"],
        ),
    ],
)
def test_bad_input(make, words):
    refused(make, *words)
