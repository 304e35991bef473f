"""Adversarial bandits and expert advice: against naive versions, in law, in closed form, and with planted
faults.
"""

import math
from itertools import pairwise

import naive_adversarial as naive
import numba
import numpy as np
import pytest
from conftest import compiled_and_not
from scipy import stats
from scipy.integrate import quad

from privregret import instances, simulate
from privregret.adversarial import (
    EXP3,
    FTPL,
    HTINF,
    BatchedPrivate,
    EXP4Batched,
    EXP4Local,
    ExpertsFromBandit,
    LocallyPrivate,
    SparseSwitch,
    bases,
    tuning,
)
from privregret.adversarial.conversions import batch_size
from privregret.adversarial.exp4 import _batched
from privregret.bounds import asi2025 as bounds
from privregret.instances import Adversary, Advice, ExpertProblem
from privregret.privacy import adversarial as privacy
from privregret.privacy import audit

COMPILED = not numba.config.DISABLE_JIT
BASES = {
    "exp3": (EXP3(0.3, 0.1), lambda k: naive.EXP3(k, 0.3, 0.1)),
    "exp3 fast": (EXP3(4.0, 0.01), lambda k: naive.EXP3(k, 4.0, 0.01)),
    "htinf": (HTINF(math.sqrt(6)), lambda k: naive.HTINF(k, math.sqrt(6))),
    "htinf 0.3": (HTINF(0.3), lambda k: naive.HTINF(k, 0.3)),
    "ftpl": (FTPL(0.2, 20), lambda k: naive.FTPL(k, 0.2, 20, "corrected")),
    "ftpl zero": (FTPL(0.2, 3, "zero at cap"), lambda k: naive.FTPL(k, 0.2, 3, "zero at cap")),
    "ftpl printed": (FTPL(2.0, 20, "printed"), lambda k: naive.FTPL(k, 2.0, 20, "printed")),
}


def table(rounds, arms, seed=1):
    return np.random.default_rng(seed).random((rounds, arms))


def advice_table(rounds, experts, arms, seed=2):
    return np.random.default_rng(seed).dirichlet(np.ones(arms), size=(rounds, experts))


# Against the naive versions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("epsilon, tau", [(None, 1), (0.3, None), (0.05, 7), (30.0, None)])
def test_conversion_is_the_papers(name, epsilon, tau):
    losses = table(203, 3)
    base, oracle = BASES[name]
    algorithm = base if epsilon is None else BatchedPrivate(base, epsilon, tau)
    tau = 1 if epsilon is None else algorithm.tau
    scale = 0.0 if epsilon is None else 1 / (tau * epsilon)
    expected = naive.conversion(losses, oracle(3), tau, scale, np.random.default_rng(7))
    np.testing.assert_array_equal(algorithm.play(losses, np.random.default_rng(7)), expected)


@pytest.mark.parametrize("name", BASES)
def test_experts_from_bandit_is_the_papers(name):
    losses, advice = table(150, 3), advice_table(150, 5, 3)
    base, oracle = BASES[name]
    algorithm = ExpertsFromBandit(BatchedPrivate(base, 0.4))
    expected = naive.conversion(losses, oracle(5), 3, 1 / (3 * 0.4), np.random.default_rng(3), advice)
    np.testing.assert_array_equal(algorithm.play(losses, advice, np.random.default_rng(3)), expected)


@pytest.mark.parametrize("epsilon, eta", [(1.0, 0.1), (0.05, 0.01), (20.0, 2.0)])
def test_exp4_local_is_the_papers(epsilon, eta):
    losses, advice = table(200, 4), advice_table(200, 6, 4)
    expected = naive.exp4_local(losses, advice, epsilon, eta, 0.05, np.random.default_rng(5))
    played = EXP4Local(epsilon, eta, 0.05).play(losses, advice, np.random.default_rng(5))
    np.testing.assert_array_equal(played, expected)


@pytest.mark.parametrize("epsilon, tau", [(1.0, 1), (0.5, 13), (0.1, 400)])
def test_exp4_batched_is_the_papers(epsilon, tau):
    losses, advice = table(200, 4), advice_table(200, 6, 4)
    expected = naive.exp4_batched(losses, advice, epsilon, 1e-3, 0.2, 0.3, tau, np.random.default_rng(5))
    played = EXP4Batched(epsilon, 1e-3, 0.2, 0.3, tau).play(losses, advice, np.random.default_rng(5))
    np.testing.assert_array_equal(played, expected)


@pytest.mark.parametrize(
    "algorithm", [EXP4Local(0.5, 0.2, 0.1), EXP4Batched(0.5, 1e-3, 0.2, 0.3, 10)], ids=lambda a: a.label
)
def test_experts_who_agree_may_share_a_row(algorithm):
    losses, named = table(300, 3), np.random.default_rng(9).integers(3, size=(4, 8))
    shared = Advice.of_arms(named, 3, [0, 70, 71, 200])
    dense = np.eye(3)[named[np.searchsorted(shared.starts, np.arange(300), side="right") - 1]]
    played = [algorithm.play(losses, a, np.random.default_rng(1)) for a in (shared, dense)]
    np.testing.assert_array_equal(*played)


# Segments and cells: the same law as rounds -----------------------------------------------------------------


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize(
    "adversary", [instances.gap_adversary(3, 0.5), instances.switching(3, 7, 500), instances.drifting(3, 500)]
)
def test_segments_are_the_table_in_short(name, adversary):
    algorithm = BatchedPrivate(BASES[name][0], 0.21)
    losses = adversary.table(500)
    actions = algorithm.play(losses, np.random.default_rng(2))
    paid = np.cumsum(losses[np.arange(500), actions])
    rounds = np.array([1, 4, 100, 333, 500])
    reported = algorithm.cumulative_loss(adversary, rounds, np.random.default_rng(2))
    np.testing.assert_allclose(reported, paid[rounds - 1], rtol=1e-12)
    np.testing.assert_allclose(adversary.comparators(rounds), np.cumsum(losses, axis=0)[rounds - 1], rtol=1e-12)


def same_law(one, other, level=1e-4):
    """Kolmogorov-Smirnov at fixed seeds; would fail by chance in one of 1 / level tests."""
    assert stats.ks_2samp(one, other).pvalue > level


@pytest.mark.parametrize(
    "algorithm",
    [ExpertsFromBandit(BatchedPrivate(HTINF(1.0), 0.2)), EXP4Batched(1.0, 1e-2, 0.3, 0.3, 40)],
    ids=["experts", "exp4"],
)
@pytest.mark.parametrize("bernoulli", [False, True])
def test_cells_have_the_law_of_rounds(algorithm, bernoulli):
    """1500 runs each way; the multinomial counts of a cell against single draws."""
    horizon, runs = 300, 1500 if COMPILED else 60
    adversary = instances.gap_adversary(3, 0.6, bernoulli)
    advice = instances.dirichlet_experts(4, 3, horizon, 90, 1)
    rng = np.random.default_rng(11)
    cells = [algorithm.cumulative_loss(ExpertProblem(adversary, advice), [horizon], rng)[0] for _ in range(runs)]
    rounds = []
    for _ in range(runs):
        actions = algorithm.play(adversary.table(horizon, rng), advice, rng)
        rounds.append(adversary.losses[0][actions].sum())
    same_law(cells, rounds)


def test_bernoulli_batches_have_the_law_of_rounds():
    horizon, runs = 400, 1500 if COMPILED else 60
    adversary = instances.gap_adversary(3, 0.6, bernoulli=True)
    rng = np.random.default_rng(12)
    for algorithm in (BatchedPrivate(HTINF(1.0), 0.05), BatchedPrivate(EXP3(1.0, 0.1), 0.05)):
        cells = [algorithm.cumulative_loss(adversary, [horizon], rng)[0] for _ in range(runs)]
        tables = (adversary.table(horizon, rng) for _ in range(runs))
        same_law(cells, [adversary.losses[0][algorithm.play(t, rng)].sum() for t in tables])


def test_comparators_of_experts():
    losses, advice = table(120, 3), advice_table(120, 5, 3)
    problem = ExpertProblem(Adversary("t", np.arange(120), losses), Advice.of_table(advice))
    expected = np.cumsum(np.einsum("tnk,tk->tn", advice, losses), axis=0)
    np.testing.assert_allclose(problem.comparators([1, 50, 120]), expected[[0, 49, 119]], rtol=1e-12)
    blocks = ExpertProblem(instances.switching(3, 7, 120), instances.random_experts(5, 3, 120, 25, 3))
    dense = np.eye(3)[blocks.advice.group[np.arange(120) // 25]]
    expected = np.cumsum(np.einsum("tnk,tk->tn", dense, blocks.adversary.table(120)), axis=0)
    np.testing.assert_allclose(blocks.comparators([7, 120]), expected[[6, 119]], rtol=1e-12)


# Path identities --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BASES)
def test_theorem_1_path_by_path(name):
    """When tau divides T, the algorithm is the base on noisy batch averages, each of its actions played tau
    times.
    """
    losses, tau, epsilon = table(240, 3), 8, 0.2
    averages = losses.reshape(30, 8, 3).mean(axis=1)
    algorithm = BatchedPrivate(BASES[name][0], epsilon, tau)
    base = LocallyPrivate(BASES[name][0], tau * epsilon)
    actions = algorithm.play(losses, np.random.default_rng(4))
    inner = base.play(averages, np.random.default_rng(4))
    np.testing.assert_array_equal(actions, np.repeat(inner, tau))
    assert losses[np.arange(240), actions].sum() == pytest.approx(tau * averages[np.arange(30), inner].sum(), rel=1e-12)


@pytest.mark.parametrize("name", BASES)
def test_theorem_6_path_by_path(name):
    losses, named = table(200, 3), np.random.default_rng(5).integers(3, size=(200, 6))
    base = BASES[name][0]
    arms = ExpertsFromBandit(base).play(losses, Advice.of_arms(named, 3, np.arange(200)), np.random.default_rng(6))
    experts = base.play(np.take_along_axis(losses, named, axis=1), np.random.default_rng(6))
    np.testing.assert_array_equal(arms, named[np.arange(200), experts])


def test_exp4_with_arms_for_experts_is_exp3():
    losses = table(300, 4)
    problem = Adversary("t", np.arange(300), losses)
    advised = _batched(*problem.tables, np.array([300]), True, 0.3, 0.1, 1, 0.0, np.random.default_rng(8))[0]
    np.testing.assert_array_equal(advised, EXP3(0.3, 0.1).play(losses, np.random.default_rng(8)))


def test_an_even_batch_hides_parity():
    for name, (base, _) in BASES.items():
        algorithm = BatchedPrivate(base, 0.25)
        actions = [
            algorithm.play(a.table(100), np.random.default_rng(1))
            for a in (instances.parity(100), instances.all_equal(2))
        ]
        np.testing.assert_array_equal(*actions, err_msg=name)


def test_no_regret_where_there_is_none_to_have():
    problem = ExpertProblem(instances.all_equal(4), instances.random_experts(6, 4, 1000, 100, 1))
    plain = [
        tuning.corollary_2(0.1),
        tuning.corollary_22(1000, 4, 0.1),
        tuning.corollary_24(1000, 4, 0.1),
        tuning.local_htinf(0.1),
    ]
    advised = [
        tuning.corollary_8(0.1),
        tuning.theorem_9(1000, 4, 6, 0.1),
        tuning.theorem_10(1000, 4, 6, 0.1, 1e-6),
    ]
    for algorithms, where in ((plain, problem.adversary), (advised, problem)):
        curves = simulate.adversarial_curves(algorithms, where, 1000, 3, 1, points=5)
        assert np.abs(curves.regret).max() < 1e-9


def test_the_last_partial_batch_gets_an_action_and_no_update():
    algorithm = BatchedPrivate(EXP3(1.0, 0.1), 0.1, 10)
    actions = algorithm.play(table(57, 3), np.random.default_rng(1)).reshape(-1)
    assert all(len(set(actions[b : b + 10])) == 1 for b in range(0, 57, 10))
    late = table(57, 3)
    late[50:] = 1 - late[50:]  # losses that nobody looks at
    np.testing.assert_array_equal(algorithm.play(late, np.random.default_rng(1)), actions)


def test_batch_sizes():
    assert [batch_size(1 / n) for n in (1, 3, 10, 49, 23294, 10**6)] == [1, 3, 10, 49, 23294, 10**6]
    assert [batch_size(e) for e in (2.0, 0.7, 0.3, 1e-300)] == [1, 2, 4, 2**62]


# Base algorithms --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimate, t, weights, thresholds",
    [
        ((0, 1, 3), 5, (0.427285, 0.341029, 0.231686), (0.738614, 0.659864, 0.543887)),
        ((10, -4, 2), 100, (0.231917, 0.441519, 0.326564), (2.433548, 3.357751, 2.887739)),
        ((0, 0, 0), 1, (1 / 3, 1 / 3, 1 / 3), (0.291752,) * 3),
    ],
)
def test_htinf_reference_values(estimate, t, weights, thresholds):
    p = np.empty(3)
    for start in (1.0, 1.7, 30.0):  # wherever Newton's method starts
        bases.htinf_weights(np.array(estimate, float), 1 / math.sqrt(6 * t), start, p)
        np.testing.assert_allclose(p, weights, atol=5e-7)
    np.testing.assert_allclose(bases.THETA * math.sqrt(6 * t) * np.sqrt(p), thresholds, atol=2e-6)


def test_htinf_stays_on_the_simplex():
    """A million steps with noise of either sign on the losses; `p` is left unnormalised at the end, to see
    Newton's error.
    """
    steps = 10**6 if COMPILED else 300
    worst, low, high = _htinf_walk(steps, np.random.default_rng(1))
    assert worst < 1e-12
    assert low > 0
    assert high <= 1


@bases.jit
def _htinf_walk(steps, rng):
    estimate, p = np.zeros(8), np.empty(8)
    w, worst, low, high = 1.0, 0.0, 1.0, 0.0
    sigma = math.sqrt(6)
    for t in range(1, steps + 1):
        w = bases.htinf_weights(estimate, 1 / (sigma * math.sqrt(t)), w, p)
        total, raw = 0.0, 0.0
        least = estimate.min()
        for i in range(8):
            total += p[i]
            raw += ((estimate[i] - least) / (sigma * math.sqrt(t)) + w) ** -2
            low, high = min(low, p[i]), max(high, p[i])
        worst = max(worst, abs(total - 1), abs(raw - 1))
        i = bases.draw(p, rng)
        y = (0.2 if i == 0 else 0.8) + rng.laplace(0.0, 1.0)
        if abs(y) <= bases.THETA * sigma * math.sqrt(t * p[i]):
            estimate[i] += y / p[i]
    return worst, low, high


def test_exp3_estimates_are_unbiased():
    """Mean estimate of each arm's noisy loss over 40000 single steps from uneven weights, within 5 standard
    errors.
    """
    rng = np.random.default_rng(3)
    losses, start = (0.2, 0.9, 0.5), [3.0, 0.0, 1.5]
    steps = []
    for _ in range(40000):
        exp3 = naive.EXP3(3, 0.4, 0.2)  # the compiled one acts alike, bit by bit
        exp3.sums = list(start)
        i = exp3.choose(rng)
        exp3.update(losses[i] + rng.laplace(0.0, 1.0), rng)
        steps.append(np.subtract(exp3.sums, start))
    steps = np.array(steps)
    assert (np.abs(steps.mean(axis=0) - losses) < 5 * steps.std(axis=0) / 200).all()


def leads(estimate, i, scale):
    """P(arm i has the smallest estimate plus Lap(scale)), by quadrature."""
    laplace = stats.laplace(scale=scale)
    others = [k for k in range(len(estimate)) if k != i]
    kinks = sorted({0.0, *(estimate[k] - estimate[i] for k in others)})

    def f(z):
        return laplace.pdf(z) * math.prod(laplace.sf(estimate[i] - estimate[k] + z) for k in others)

    edges = [-40 * scale, *kinks, 40 * scale]
    return sum(quad(f, a, b)[0] for a, b in pairwise(edges))


@pytest.mark.parametrize("resampling", ["corrected", "zero at cap"])
@pytest.mark.parametrize("played", [0, 1, 2])
def test_geometric_resampling_estimates_the_selection_probability(resampling, played):
    """Mean of 100000 draws against (1 - (1 - q)^M) / q, less M (1 - q)^M if the cap gives 0; within 5
    standard errors.
    """
    estimate, scale, cap, rng = np.array([0.0, 1.0, 2.5]), 1.3, 6, np.random.default_rng(4)
    runs = 100_000 if COMPILED else 4000
    q = leads(estimate, played, scale)
    g = [bases.resamples(estimate, played, scale, cap, bases.RESAMPLINGS.index(resampling), rng) for _ in range(runs)]
    expected = (1 - (1 - q) ** cap) / q - (cap * (1 - q) ** cap if resampling == "zero at cap" else 0)
    assert abs(np.mean(g) - expected) < 5 * np.std(g) / math.sqrt(runs)


def test_the_printed_resampling_estimates_something_else():
    """As printed, an arm that leads nearly always gets a huge weight: 1 / P(argmax) in place of 1 /
    P(argmin).
    """
    estimate, rng = np.array([0.0, 8.0]), np.random.default_rng(4)
    q = 0.5 * math.exp(-8.0) * 5.0  # two arms, distance D = 8 scales: exp(-D) (1 + D / 2) / 2
    assert leads(estimate, 1, 1.0) == pytest.approx(q, rel=1e-6)
    right, printed = (
        np.mean([bases.resamples(estimate, 0, 1.0, 100, variant, rng) for _ in range(5000)])
        for variant in (bases.CORRECTED, bases.PRINTED)
    )
    assert right == pytest.approx(1 / (1 - q), abs=0.01)
    assert printed == pytest.approx((1 - (1 - q) ** 100) / q - 100 * (1 - q) ** 100, rel=0.2)
    assert printed > 2 * right


def test_printed_ftpl_does_not_learn():
    adversary, T = instances.gap_adversary(4, 0.8), 64000
    eta, cap = math.sqrt(math.log(4) / (0.25 * 4 * T)), math.ceil(math.sqrt(0.25 * 4 * T))
    algorithms = [BatchedPrivate(FTPL(eta, cap, r), 0.25) for r in ("corrected", "zero at cap", "printed")]
    curves = simulate.adversarial_curves(algorithms, adversary, T, 12 if COMPILED else 1, 1, points=1)
    per_round = curves.groupby("resampling").regret.mean() / T
    if COMPILED:
        assert per_round["corrected"] < 0.05
        assert per_round["zero at cap"] < 0.05
        assert per_round["printed"] > 0.2


# Tuning and bounds ------------------------------------------------------------------------------------------


def test_tuning_reference_values():
    exp3 = [tuning.corollary_22(10**4, 4, 0.25), tuning.corollary_22(10**5, 10, 0.1)]
    assert [a.tau for a in exp3] == [4, 10]
    assert [a.base.eta for a in exp3] == pytest.approx([2.725466e-4, 8.886092e-5], rel=1e-6)
    assert [a.base.gamma for a in exp3] == pytest.approx([0.04016395, 0.04092197], rel=1e-6)
    ftpl = [tuning.corollary_24(10**4, 4, 0.25, log=log) for log in ("T", "KT")]
    ftpl += [tuning.corollary_24(10**5, 10, 0.1, log=log) for log in ("T", "KT")]
    assert [a.base.cap for a in ftpl] == [100, 100, 317, 317]
    assert [a.base.eta for a in ftpl] == pytest.approx([3.096341e-4, 2.642611e-4, 8.336312e-5, 6.704485e-5], rel=1e-6)
    exp4 = tuning.theorem_10(10**6, 4, 16, 0.5, 1e-6)
    assert (exp4.tau, exp4.eta, exp4.gamma) == pytest.approx((4444, 0.0554994, 0.295683), rel=1e-5)
    assert exp4.scale(4, 16) == pytest.approx(0.271553, rel=1e-5)
    local = tuning.theorem_9(10**5, 4, 16, 0.5)
    assert (local.eta, local.gamma) == pytest.approx((1.86306e-5, 0.00769023), rel=1e-5)
    assert tuning.theorem_10(10**4, 4, 16, 1.0, 1e-6).gamma == 1
    assert tuning.corollary_2(0.3).base.sigma == math.sqrt(6)
    assert tuning.corollary_2(0.3, "exact").base.sigma == pytest.approx(math.sqrt(1 + 2 / (4 * 0.3) ** 2))


@pytest.mark.parametrize("epsilon", [1.0, 0.1, 0.01])
@pytest.mark.parametrize(
    "adversary",
    [
        instances.gap_adversary(4, 0.25),
        instances.gap_adversary(4, 0.5, bernoulli=True),
        instances.riser(4, 3000),
        instances.stochastically_constrained(4, 0.3, 20000),
        instances.switching(4, 9, 20000),
        instances.drifting(4, 20000),
    ],
    ids=lambda a: a.name,
)
def test_bounds_hold(adversary, epsilon):
    T = 20000 if COMPILED else 500
    pairs = [
        (tuning.corollary_2(epsilon), bounds.corollary_2(T, 4, epsilon, corrected=True)),
        (tuning.corollary_22(T, 4, epsilon), bounds.corollary_22(T, 4, epsilon, corrected=True)),
        (tuning.corollary_24(T, 4, epsilon), bounds.corollary_24(T, 4, epsilon)),
        (tuning.local_exp3(T, 4, epsilon), bounds.local_exp3(T, 4, epsilon)),
    ]
    for algorithm, bound in pairs:
        assert simulate.adversarial_curves([algorithm], adversary, T, 5, 1, points=1).regret.mean() <= bound
    advice = instances.tracking_experts(adversary, 8, T, 500, 1)
    pairs = [
        (tuning.corollary_8(epsilon), bounds.corollary_8(T, 8, epsilon, corrected=True)),
        (tuning.theorem_9(T, 4, 8, epsilon), bounds.theorem_9(T, 4, 8, epsilon)),
        (tuning.theorem_10(T, 4, 8, epsilon, 1e-3), bounds.theorem_10(T, 4, 8, epsilon, 1e-3)),
    ]
    for algorithm, bound in pairs:
        problem = ExpertProblem(adversary, advice)
        assert simulate.adversarial_curves([algorithm], problem, T, 5, 1, points=1).regret.mean() <= bound


def test_bounds_constants():
    assert 30 * math.sqrt(6) * 2 * math.sqrt(2) == pytest.approx(60 * math.sqrt(12))
    assert 207.8 < 60 * math.sqrt(12) < 208
    assert 60 * math.sqrt(6) < bounds.corollary_2(1, 1, 1, corrected=True) - 2 + 1e-12
    grid = [(t, k) for k in (2, 3, 5, 20, 300, 10**4) for t in np.geomspace(3, 1e10, 60)]
    ratios = [bounds.lemma_25_terms(t, k, 1.0) / bounds.lemma_25(t, k, 1.0) for t, k in grid]
    assert 3 < max(ratios) < 3.5
    assert max(bounds.lemma_25_terms(t, k, 1.0) / bounds.lemma_25(t, k, 1.0, corrected=True) for t, k in grid) < 1
    assert all(bounds.corollary_22_constant(log) <= 22.25 for log in np.linspace(1, 40, 500))
    for scale in (0.3, 1.0, 4.0):
        for loss in (0.0, 0.4, 1.0):
            for cut in (0.0, 0.2, 0.7, 3.0):
                laplace = stats.laplace(loc=loss, scale=scale)
                inside = quad(lambda x, law=laplace: x * law.pdf(x), -cut, cut, points=[loss] if loss < cut else None)[
                    0
                ]
                assert bounds.lemma_19(loss, scale, cut) == pytest.approx(loss - inside, abs=1e-8)


def test_lemma_11_forms():
    """The maximum of the two branches is at least their geometric mean, when p / rate is whole."""
    for rate in (0.5, 0.1, 0.01):
        for pulls in (1, 2, 5):
            for drop in (0, 3, 50):
                strong = bounds.lemma_11(10**5, 0.1, rate, drop, pulls)
                assert strong >= bounds.lemma_11_weaker(10**5, 0.1, drop, pulls) - 1e-9
    assert bounds.lemma_11_weaker(10**5, 1.0, 0, 1) == 0.0  # e > 2: no bound


def test_lemma_11_certificate_finds_what_is_there():
    """Pulls with probability 0.05 in each round meet both conditions from the start."""
    rng, horizon, runs = np.random.default_rng(1), 4000, 1000
    pulls = (rng.random((runs, horizon)) < 0.05).cumsum(axis=1)
    found = bounds.lemma_11_certified(pulls, np.arange(1, horizon + 1), 0.1)
    assert found["drop"] == 0
    assert 0.045 < found["rate"] * 2 ** round(math.log2(0.05 / found["rate"])) < 0.05
    assert found["bound"] == bounds.lemma_11(horizon, 0.1, found["rate"], 0, found["pulls"])
    window = int(found["pulls"] / found["rate"])
    assert (pulls[:, window - 1] <= found["pulls"]).mean() > 0.5
    assert (pulls[:, -1] >= found["rate"] * horizon).mean() > 0.5


def test_lemma_11_certificate_is_not_given_for_nothing():
    """Pulls in the first half only: windows that may begin there hold too many. And epsilon above ln 2."""
    rounds = np.arange(1, 4001)
    early = np.tile(np.minimum(rounds, 2000) // 10, (200, 1))
    assert bounds.lemma_11_certified(early, rounds, 0.1) is None
    assert bounds.lemma_11_certified(np.tile(rounds // 20, (200, 1)), rounds, 0.7) is None
    assert bounds.lemma_11_certified(np.tile(rounds // 20, (5, 1)), rounds, 0.1) is not None


def test_hardest_measures_where_it_did_not_choose():
    gaps = [instances.gap_adversary(3, gap) for gap in (0.0, 0.5, 0.01)]
    algorithm = tuning.corollary_2(1.0)
    problem, sample = simulate.hardest(algorithm, gaps, 2000, 12, 3)
    assert problem is gaps[1]
    again = simulate.adversarial_curves([algorithm], problem, 2000, 12, 3, points=1).regret
    np.testing.assert_array_equal(sample, again)


# Privacy ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "epsilon, expected",
    [
        (0.1, (0.081488, 0.088644, 0.089481)),
        (0.5, (0.286563, 0.416056, 0.435787)),
        (1.0, (0.402824, 0.764510, 0.836490)),
    ],
)
def test_the_conversion_is_private_by_quadrature(epsilon, expected):
    worst = [
        privacy.worst_batched_loss(EXP3(eta, 0.1), 1 / epsilon, nodes=600 if COMPILED else 60)
        for eta in (0.5, 2.0, 8.0)
    ]
    assert worst == pytest.approx(expected, rel=1e-4 if COMPILED else 0.05)
    assert max(worst) <= epsilon
    assert privacy.worst_batched_loss(HTINF(math.sqrt(6)), 1 / epsilon) <= epsilon


def test_too_little_noise_is_seen():
    assert privacy.worst_batched_loss(EXP3(8.0, 0.01), 0.5, nodes=400 if COMPILED else 60) > 1.2
    assert privacy.worst_batched_loss(EXP3(8.0, 0.01), 1.0, nodes=400 if COMPILED else 60) <= 1.0


def test_quadrature_agrees_with_play():
    """Frequencies of the 8 paths of three batches over 40000 plays, chi-squared at level 1e-4."""
    runs = 40000 if COMPILED else 300
    losses, base, rng = (
        np.array([[0.0, 1.0], [1.0, 0.3], [0.0, 0.0]]),
        EXP3(1.5, 0.1),
        np.random.default_rng(6),
    )
    algorithm = LocallyPrivate(base, 0.7)
    paths = [int("".join(map(str, algorithm.play(losses, rng))), 2) for _ in range(runs)]
    expected = privacy.batched_probabilities(base, losses, 1 / 0.7, nodes=200 if COMPILED else 20)
    assert expected.sum() == pytest.approx(1)
    assert stats.chisquare(np.bincount(paths, minlength=8), runs * expected).pvalue > 1e-4


class NoNoise(BatchedPrivate):
    """Planted fault: the batch average is told as it is."""

    @property
    def scale(self):
        return 0.0


class NoiseOfOneLoss(BatchedPrivate):
    """Planted fault: noise for a batch that is larger than the one played."""

    @property
    def scale(self):
        return 1 / (20 * self.tau * self.epsilon)


@pytest.mark.skipif(not COMPILED, reason="too slow uncompiled")
def test_the_black_box_audit_sees_planted_faults():
    """20000 plays on neighbouring tables; faults exceed epsilon beyond doubt, the algorithm does not."""
    losses = np.zeros((4, 2))
    neighbour = losses.copy()
    neighbour[0] = 1.0
    base, epsilon = EXP3(4.0, 0.01), 0.5

    def stayed(actions):
        return actions[2] == actions[0]

    found = {
        kind.__name__: audit.loss_lower_bound(kind(base, epsilon, 2), losses, neighbour, stayed, 20000, 1)
        for kind in (BatchedPrivate, NoNoise, NoiseOfOneLoss)
    }
    assert found["BatchedPrivate"] <= epsilon < min(found["NoNoise"], found["NoiseOfOneLoss"])


def test_exp3_leaks_more_the_longer_it_runs():
    """Largest loss over all paths of EXP3 on Figure 1's pair, values from an independent enumeration."""
    reference = {(0.05, 0.05): (0.1610, 0.4733, 1.0047, 2.0877), (0.2, 0.1): (0.8641, 2.8386, 5.0252, 8.3673)}
    for (eta, gamma), expected in reference.items():
        for horizon, value in zip((4, 8, 12, 16), expected, strict=True):
            one, other = (privacy.exp3_log_probabilities(a, horizon, eta, gamma) for a in instances.exp3_leakage_pair())
            assert np.exp(one).sum() == pytest.approx(1)
            assert np.abs(one - other).max() == pytest.approx(value, abs=6e-5)


def test_exp3_path_against_raw_weights():
    """The logarithmic recursion against the printed listing, where no weight underflows yet."""
    horizon, eta = 2000, 1e-3
    actions = (np.arange(horizon) % 2 == 0).astype(int)
    for adversary in instances.exp3_leakage_pair():
        w, expected = np.ones(2), []
        for t, loss in enumerate(adversary.table(horizon)):
            p = (1 - eta) * w / w.sum() + eta / 2
            expected.append(p[1])
            i = actions[t]
            w[i] *= math.exp(-eta * loss[i] / p[i])
        np.testing.assert_allclose(privacy.exp3_path(adversary, actions, eta, eta), expected, rtol=1e-10)


@pytest.mark.skipif(not COMPILED, reason="too slow uncompiled")
def test_figure_1_splits_when_the_sheet_says():
    actions = (np.arange(10**5) % 2 == 0).astype(int)
    one, other = (privacy.exp3_path(a, actions, 1e-4, 1e-4) for a in instances.exp3_leakage_pair())
    assert np.argmax(one > 0.75) + 1 == 92131
    assert np.argmax(other < 0.25) + 1 == 92130


def test_composition_of_laplace_releases():
    """One number: P(loss > epsilon) in closed form; many: never above the advanced composition that the paper
    uses.
    """
    exact = (
        0.5 * (1 - math.exp(0.3 - 1.0))
        + quad(lambda x: 0.25 * math.exp(-(1 - x) / 2) * (1 - math.exp(0.3 - x)), 0.3, 1)[0]
    )
    assert privacy.laplace_delta(0.3, 1.0, 1) == pytest.approx(exact, rel=2e-3)
    assert privacy.laplace_delta(0.3, 1.0, 1) >= exact
    assert privacy.laplace_delta(1.0, 0.2, 5) == 0.0
    for experts in (16, 256):
        shift = 1 / (3 * math.sqrt(experts * math.log(1e6)))
        assert privacy.laplace_delta(1.0, shift, experts) < 1e-6


# Instances, errors, determinism -----------------------------------------------------------------------------


def test_lemma_11_pair():
    one, other = instances.lemma_11_pair(5)
    np.testing.assert_array_equal(one.table(8), np.tile([0.5, 1.0], (8, 1)))
    np.testing.assert_array_equal(other.table(8)[:, 1], [1] * 5 + [0] * 3)
    assert instances.lemma_11_pair(0)[1].losses.tolist() == [[0.5, 0.0]]


def test_stochastically_constrained_regret_is_never_negative():
    losses = instances.stochastically_constrained(3, 0.2, 5000).table(5000)
    np.testing.assert_allclose(losses[:, 1] - losses[:, 0], 0.2)
    assert {0.0, 0.8} == set(np.round(losses[:, 0], 12))


def test_tracking_expert_is_best():
    adversary = instances.switching(4, 13, 1000)
    problem = ExpertProblem(adversary, instances.tracking_experts(adversary, 10, 1000, 50, 1))
    assert problem.comparators([1000])[0].argmin() == 0
    assert problem.comparators([1000])[0, 0] == 0


def test_sparse_switch_changes_sides_once():
    algorithm, rng = SparseSwitch(2.0, 0.2), np.random.default_rng(1)
    actions = algorithm.play(np.tile([0.5, 0.0], (3000, 1)), rng)
    assert actions[:20].mean() < 0.6
    assert actions[-500:].mean() > 0.7
    assert algorithm.play(np.tile([0.5, 1.0], (3000, 1)), rng)[-500:].mean() < 0.3
    with pytest.raises(ValueError, match="plays 2 arms, got 3"):
        algorithm.play(table(10, 3), rng)


@pytest.mark.parametrize(
    "losses, message",
    [
        ([[0.1, np.nan], [0.2, 0.3]], r"losses must lie in \[0, 1\], got nan in row 0, column 1"),
        ([[0.1, 0.2], [0.2, -0.3]], r"losses must lie in \[0, 1\], got -0.3 in row 1, column 1"),
        ([0.1, 0.2], r"losses must have shape \(T, K\) .* got shape \(2,\)"),
        ([[0.1, 0.2], [0.3]], "losses must be a table of numbers"),
    ],
)
def test_wrong_tables_get_one_clear_line(losses, message):
    for play in (HTINF(1.0).play, lambda x, rng: EXP4Local(1.0, 0.1, 0.1).play(x, np.eye(2), rng)):
        with pytest.raises(ValueError, match=message) as caught:
            play(losses, np.random.default_rng(1))
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: EXP3(0.0, 0.1), "eta must be a finite number above 0"),
        (lambda: EXP3(0.1, 1.5), r"gamma must be a finite number in \[0, 1\]"),
        (lambda: HTINF(-1.0), "sigma must be a finite number above 0"),
        (lambda: FTPL(0.1, 0), "cap must be at least 1"),
        (lambda: FTPL(0.1, 5, "argmax"), "resampling must be one of"),
        (lambda: BatchedPrivate(HTINF(1.0), 0), "epsilon must be a finite number above 0"),
        (lambda: BatchedPrivate(HTINF(1.0), 0.1, 0), "tau must be at least 1"),
        (lambda: BatchedPrivate(tuning.corollary_2(1.0), 0.1), "base must be EXP3, HTINF or FTPL"),
        (lambda: ExpertsFromBandit(EXP4Local(1.0, 0.1, 0.1)), "bandit must be EXP3, HTINF or FTPL"),
        (lambda: EXP4Batched(1.0, 0.5, 0.1, 0.1, 5), "delta must be at most 0.403"),
        (lambda: EXP4Batched(1.0, 1e-6, 0.1, 1.1, 5), r"gamma must be a finite number in \[0, 1\]"),
        (lambda: Adversary("x", [0, 5], [[0.5, 1.5], [0, 0]]), r"losses must lie in \[0, 1\], got 1.5"),
        (lambda: Adversary("x", [0, 5], [[0.5, np.nan], [0, 0]]), r"losses must lie in \[0, 1\], got nan"),
        (
            lambda: Adversary("x", [1, 5], [[0.5, 1], [0, 0]]),
            "starts must hold 2 increasing whole numbers from 0",
        ),
        (lambda: Advice.of_table([[0.5, 0.6], [1.0, 0.0]]), "advice must be distributions"),
        (lambda: Advice.of_table([0.5, 0.5]), r"advice must have shape \(T, N, K\) or \(N, K\)"),
        (
            lambda: ExpertProblem(instances.all_equal(3), instances.fixed_experts(4, 2)),
            "advice is about 2 arms, the adversary has 3",
        ),
        (lambda: HTINF(1.0).cumulative_loss(None, [5], None), "plays against an Adversary, got None"),
        (
            lambda: EXP4Local(1.0, 0.1, 0.1).cumulative_loss(instances.all_equal(3), [5], None),
            "plays an ExpertProblem",
        ),
        (
            lambda: EXP4Local(1.0, 0.1, 0.1).play(table(9, 2), advice_table(10, 3, 2), None),
            "advice covers 10 rounds, losses 9",
        ),
    ],
)
def test_wrong_parameters_get_one_clear_line(make, message):
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_same_seed_same_numbers_at_any_worker_count():
    problem = ExpertProblem(
        instances.gap_adversary(3, 0.5, bernoulli=True), instances.dirichlet_experts(4, 3, 2000, 100, 1)
    )
    algorithms = [tuning.corollary_8(0.2), tuning.theorem_9(2000, 3, 4, 0.2)]
    frames = [simulate.adversarial_curves(algorithms, problem, 2000, 20, 5, points=4, workers=n) for n in (1, 2, 4)]
    assert frames[0].equals(frames[1]) and frames[0].equals(frames[2])
    alone = simulate.adversarial_curves(algorithms[1:], problem, 2000, 20, 5, points=4, workers=1)
    np.testing.assert_array_equal(alone.regret, frames[0].query("algorithm == 'Local EXP4'").regret)
    assert frames[0].groupby("algorithm").run.nunique().tolist() == [20, 20]


def test_tidy_columns_name_the_parameters_inside():
    curves = simulate.adversarial_curves(
        [tuning.corollary_8(0.5)],
        ExpertProblem(instances.all_equal(2), instances.fixed_experts(4, 2)),
        10,
        1,
        0,
        points=1,
    )
    assert curves.iloc[0][["bandit", "base", "epsilon", "tau"]].tolist() == ["Batched HTINF", "HTINF", 0.5, 2]
    assert curves.iloc[0].algorithm == "Batched HTINF over experts"


@pytest.mark.skipif(not COMPILED, reason="needs regret at length")
def test_regret_falls_as_epsilon_grows():
    adversary, T = instances.gap_adversary(4, 0.5), 50000
    mean = [
        simulate.adversarial_curves([tuning.corollary_2(e)], adversary, T, 40, 1, points=1).regret.mean()
        for e in (0.01, 0.1, 1.0)
    ]
    assert mean[0] > 2 * mean[1] > 4 * mean[2]


@pytest.mark.skipif(not COMPILED, reason="needs many runs")
def test_large_epsilon_meets_the_non_private_twin():
    """400 runs each; the noise is Lap(1e-9)."""
    adversary, T = instances.gap_adversary(4, 0.3), 5000
    for base in (HTINF(1.0), EXP3(0.05, 0.1), FTPL(0.05, 70)):
        one, other = (
            simulate.adversarial_curves([a], adversary, T, 400, 1, points=1).regret
            for a in (base, BatchedPrivate(base, 1e9))
        )
        same_law(one, other)


SCRIPT = """
import numpy as np
from privregret import instances, simulate
from privregret.adversarial import *
rng = np.random.default_rng(1)
losses, advice = rng.random((60, 3)), rng.dirichlet(np.ones(3), size=(60, 4))
for base in (EXP3(0.3, 0.1), EXP3(9.0, 0.0), HTINF(2.5), HTINF(0.1), FTPL(0.2, 9), FTPL(0.2, 9, "printed")):
    for algorithm in (base, BatchedPrivate(base, 0.01), BatchedPrivate(base, 0.4), LocallyPrivate(base, 5.0)):
        print(algorithm.play(losses, np.random.default_rng(3)).tolist())
        print(ExpertsFromBandit(algorithm).play(losses, advice, np.random.default_rng(3)).tolist())
local = EXP4Local(1.0, 0.1, 0.1), EXP4Local(0.01, 3.0, 0.0)
batched = EXP4Batched(1.0, 1e-6, 0.1, 0.5, 7), EXP4Batched(0.1, 1e-6, 9.0, 0.1, 1)
adversary = instances.gap_adversary(3, 0.5, True)
advice_in_blocks = instances.dirichlet_experts(4, 3, 60, 20, 1)
for algorithm in (*local, *batched):
    print(algorithm.play(losses, advice, np.random.default_rng(3)).tolist())
    problem = instances.ExpertProblem(adversary, advice_in_blocks)
    print(simulate.adversarial_curves([algorithm], problem, 60, 2, 1, points=4, workers=1).regret.tolist())
print(SparseSwitch(1.0, 0.3).play(losses[:, :2], np.random.default_rng(3)).tolist())
"""


def test_compiled_or_not_the_same_bits():
    compiled, uncompiled = compiled_and_not(SCRIPT)
    assert len(compiled.splitlines()) == 57
    assert compiled == uncompiled
