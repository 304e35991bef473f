"""What is particular to adversarial algorithms: cells, path identities, base algorithms and the
papers' tuning."""

import copy
import math
from dataclasses import is_dataclass
from functools import partial
from types import SimpleNamespace

import lectures
import numpy as np
import pytest
from cases import BATCHES
from conftest import refused
from laws import tally
from scipy.stats import chisquare, kstest, laplace

from privregret import adversarial, estimates, instances, simulate
from privregret.adversarial import EXP3, HTINF, BatchedPrivate, ExpertsFromBandit, htinf, tuning
from privregret.adversarial.conversions import batch_size
from privregret.core import checks, streams
from privregret.core.jit import jit
from privregret.instances import Adversary, Advice, ExpertProblem, lemma_11_pair
from privregret.privacy import adversarial as composition
from privregret.privacy import ledger
from privregret.studies import asi2025 as study
from privregret.studies import asi2025_privacy as privacy

GAP = instances.gap_adversary(3, 0.5)


def table(rounds, arms, seed=1):
    return np.random.default_rng(seed).random((rounds, arms))


def test_batch_sizes():
    assert [batch_size(1 / n) for n in (1, 3, 10, 49, 23294, 10**6)] == [1, 3, 10, 49, 23294, 10**6]
    assert [batch_size(e) for e in (2.0, 0.7, 0.3, 1e-100)] == [1, 2, 4, checks.MAX_HORIZON]


def test_htinf_stays_on_the_simplex():
    """Many steps with noise of either sign on the losses; `p` is left unnormalised at the end,
    to see Newton's error.
    """
    settings, rng = HTINF.Settings(math.sqrt(6)), np.random.default_rng(1)
    worst, low, high = _htinf_walk(2 * 10**5, settings, rng)
    assert worst < 1e-12 and 0 < low <= high <= 1


@jit
def _htinf_walk(steps, settings, rng):
    choices, states = np.zeros(8, htinf.ARM), np.zeros(1, htinf.STATE)
    worst, low, high = 0.0, 1.0, 0.0
    for t in range(1, steps + 1):
        arm = htinf._choose(choices, states[0], settings, t, rng)
        p, estimate = choices["p"], choices["estimate"]
        behind = (estimate - estimate.min()) / (settings.sigma * math.sqrt(t))
        raw = ((behind + states[0]["w"]) ** -2.0).sum()
        low, high = min(low, p.min()), max(high, p.max())
        worst = max(worst, abs(p.sum() - 1), abs(raw - 1))
        y = (0.2 if arm == 0 else 0.8) + rng.laplace(0.0, 1.0)
        htinf._observe(choices, states[0], settings, t, arm, y, rng)
    return worst, low, high


class PlainEXP3(EXP3):
    """EXP3 as somebody writes it who does not know this package."""

    id, steps = "exp3", None

    def start(self, arms, rng, horizon=None):
        return BATCHES["PlainEXP3"](arms, rng, self.eta, self.gamma)


STEPS, PLAIN = EXP3(0.3, 0.1), PlainEXP3(0.3, 0.1)
MIXED = [[1, 0, 0], [0, 1, 0], [0.2, 0.3, 0.5], [0.2, 0.3, 0.5]]
CONVERSIONS = {
    "Algorithm 1": lambda base: BatchedPrivate(base, 0.3),
    "local": lambda base: adversarial.LocallyPrivate(base, 0.3),
    "Algorithm 5": ExpertsFromBandit,
    "both": lambda base: ExpertsFromBandit(BatchedPrivate(base, 0.3)),
}
every_conversion = pytest.mark.parametrize("conversion", CONVERSIONS.values(), ids=CONVERSIONS)


def played(algorithm):
    """What `play` takes after the losses, and a problem."""
    if isinstance(algorithm, ExpertsFromBandit):
        return [np.array(MIXED)], ExpertProblem(GAP, Advice.of_table(MIXED))
    return [], GAP


@every_conversion
def test_a_base_of_steps_and_one_in_plain_python_are_the_same(conversion):
    """In `play`, `start` and `run`; the horizon cuts the last batch."""
    one, other, losses = conversion(STEPS), conversion(PLAIN), table(102, 3)
    advice, problem = played(one)
    actions = one.play(losses, *advice, 4)
    assert len(set(actions.tolist())) == 3
    assert actions.tolist() == other.play(losses, *advice, 4).tolist()
    live, chosen = [other.start(3, 4, 102, *map(len, advice))], []
    for t, row in enumerate(losses):
        live += [copy.deepcopy(live[0])] * (t == 50)
        (arm,) = {learner.choose(*advice) for learner in live}
        for learner in live:
            learner.observe(row[arm])
        chosen.append(arm)
    assert actions.tolist() == chosen
    paid = one.run(problem, [7, 102], 3, 5)
    np.testing.assert_allclose(paid, other.run(problem, [7, 102], 3, 5), rtol=1e-12)


# its base is not
@pytest.mark.filterwarnings("ignore::privregret.privacy.ledger.NotHidden")
@every_conversion
def test_a_conversion_is_private_whatever_its_base(conversion):
    """By the ledger; without Algorithm 1 there is no privacy."""
    losses = np.random.default_rng(1).integers(2, size=(28, 3)).astype(float)
    for base in (STEPS, PLAIN):
        algorithm = conversion(base)
        run = ledger.traced(algorithm, losses, 4)
        advice = [np.eye(3)] if isinstance(algorithm, ExpertsFromBandit) else []
        assert list(run.actions) == algorithm.play(losses, *advice, 4).tolist()
        assert ledger.costs(run).max() == pytest.approx(algorithm.privacy.proved)
        assert algorithm.privacy.proved == (0.3 if conversion != ExpertsFromBandit else math.inf)


def test_the_horizon_of_a_base_is_the_number_of_batches():
    horizons = []

    class Told(EXP3):
        id = "told"

        def settings(self, horizon, *sizes):
            horizons.append(horizon)
            return super().settings(horizon, *sizes)

    class Asked(PlainEXP3):
        id = "asked"

        def start(self, arms, rng, horizon=None):
            horizons.append(horizon)
            return super().start(arms, rng, horizon)

    for kind in (Told, Asked):
        for horizon in (102, 104, 3, None):
            BatchedPrivate(kind(0.3, 0.1), 0.3).start(3, 1, horizon).choose()
    assert horizons == [26, 26, 1, None] * 2
    # more arms than it plays, and no horizon
    short = ExpertsFromBandit(adversarial.SparseSwitch(1.0, 0.1))
    refused(lambda: short.start(2, 1, experts=2), "horizon", "sparse switch")
    refused(lambda: short.start(2, 1, 100, experts=3), "sparse switch", 2, 3)


def test_a_base_with_other_steps_does_not_play_in_the_lanes_of_its_class():
    class Mute(HTINF):
        id = "mute"
        steps = HTINF.steps._replace(observe=mute)

    uniform, learnt = (
        BatchedPrivate(base, 0.5).run(instances.gap_adversary(2, 1.0), [4000], 1, 32).mean()
        for base in (Mute(1.0), HTINF(1.0))
    )
    assert abs(uniform - 2000) < 100 < 1500 - learnt


@jit
def mute(arms, state, settings, t, j, y, rng):
    pass


def chooses(arm):
    class Wrong(PlainEXP3):
        id = "wrong"

        def start(self, arms, rng, horizon=None):
            return SimpleNamespace(choose=lambda: arm)

    return Wrong(0.3, 0.1)


@every_conversion
def test_a_mistake_of_a_base_is_named(conversion):
    for arm in (4, None):
        algorithm = conversion(chooses(arm))
        advice, problem = played(algorithm)
        refused(partial(algorithm.play, table(30, 3), *advice, 1), "choose", repr(arm))
        refused(partial(algorithm.run, problem, [30], 1), "choose", repr(arm))


TUNED = [  # fields, those inside first, by the formulas of the paper, computed apart
    (tuning.batched_exp3, (10**5, 10, 0.1), (8.886092e-5, 0.04092197, 0.1, 10)),
    (tuning.batched_exp3, (10**5, 10, 0.1, 2.0), (1.7772184e-4, 0.08184393, 0.1, 10)),
    (tuning.batched_exp3, (100, 2, 0.001), (0.3969048, 1.0, 0.001, 1000)),
    (tuning.batched_ftpl, (10**5, 10, 0.1), (8.336312e-5, 317, "printed", 0.1, 10)),
    (tuning.batched_ftpl, (10**3, 4, 0.5, "corrected"), (8.593801e-4, 45, "corrected", 0.5, 2)),
    # where the first term of eta is the smaller one; few rounds
    (tuning.batched_ftpl, (100, 2, 0.1), (0.019542877, 5, "printed", 0.1, 10)),
    (tuning.batched_ftpl, (50, 2, 0.01), (0.83255461, 1, "printed", 0.01, 100)),
    (tuning.batched_htinf, (0.3,), (math.sqrt(6), 0.3, 4)),
    (tuning.batched_htinf, (0.3, "exact"), (math.sqrt(1 + 2 / (4 * 0.3) ** 2), 0.3, 4)),
    (tuning.batched_htinf_over_experts, (0.3,), (math.sqrt(6), 0.3, 4)),
    (tuning.batched_exp4, (10**6, 4, 16, 0.5, 1e-6), (0.5, 1e-6, 0.0554994, 0.295683, 4444)),
    (tuning.batched_exp4, (10**4, 4, 16, 1.0, 1e-6), (1.0, 1e-6, 0.1834569, 1.0, 486)),
    (tuning.local_htinf, (0.2,), (math.sqrt(51), 0.2, 1)),
    (tuning.local_exp3, (10**5, 10, 0.1), (2.4559797e-6, 0.013572245, 0.1, 1)),
    (tuning.local_exp3, (10**4, 4, 2.0), (1.7552676e-4, 0.014879944, 2.0, 1)),
    (tuning.local_exp4, (10**5, 4, 16, 0.5), (0.5, 1.8630566e-5, 0.007690232)),
    (tuning.local_exp4, (10**3, 4, 16, 0.01), (0.01, 5.795427e-6, 0.07690810)),
    (tuning.local_exp4, (2, 2, 64, 0.01), (0.01, 0.0013428922, 1.0)),
]


def parameters(algorithm):
    for value in vars(algorithm).values():
        yield from parameters(value) if is_dataclass(value) else [value]


@pytest.mark.parametrize("make, given, expected", TUNED)
def test_tuning_reference_values(make, given, expected):
    for found, wanted in zip(parameters(make(*given)), expected, strict=True):
        assert found == (wanted if isinstance(wanted, str) else pytest.approx(wanted, rel=1e-5))


def test_tuning_has_no_other_maker():
    makers = {f for f in vars(tuning).values() if getattr(f, "__module__", "") == tuning.__name__}
    assert makers == {make for make, *_ in TUNED}
    exp4 = tuning.batched_exp4(10**6, 4, 16, 0.5, 1e-6)
    assert exp4.scale(4, 16) == pytest.approx(0.271553, rel=1e-5)
    # where the first term of gamma is the larger one
    long = partial(tuning.batched_exp4, 10**11, 4, 16, 1.0, 1e-6)
    assert long("corrected").gamma == pytest.approx(long().gamma * math.log(1e6) ** (1 / 3))


def test_the_distribution_of_actions_over_experts_is_that_of_play():
    """All 16 paths of two batches of two rounds; the first batch costs 1/2 whatever is played."""
    learner = ExpertsFromBandit(BatchedPrivate(EXP3(8.0, 0.1), 0.5))
    law = study.law_over_experts(learner, 0.9, 0.5).ravel()
    losses, advice = np.repeat([[0.0], [1.0], [0.0], [0.0]], 2, axis=1), [[0.9, 0.1], [0.1, 0.9]]
    played = [learner.play(losses, advice, seed) @ [8, 4, 2, 1] for seed in range(2000)]
    counts = np.bincount(played, minlength=16)
    assert law.sum() == pytest.approx(1)
    assert chisquare(counts, 2000 * law).pvalue > 1e-4


@pytest.mark.parametrize("epsilon", [1.0, 0.5])
def test_the_loss_in_advice_is_what_simulated_runs_reveal(epsilon):
    """By the actions of two batches, except in the first round, where experts exchange advice."""
    learner, found = ExpertsFromBandit(BatchedPrivate(EXP3(8.0, 0.1), epsilon)), []
    exact, tau = study.loss_in_advice(learner), learner.bandit.tau
    rounds = np.arange(2 * tau)
    named = np.array([[[0, 1]] * 2 * tau, [[1, 0]] + [[0, 1]] * (2 * tau - 1)])
    # what is paid must tell the arms apart
    for others in ((0.0, 1.0), (1.0, 0.0), (0.0, 1e-9), (1.0, 1 - 1e-9))[: 4 if tau > 1 else 1]:
        losses = np.array([[0.0, 1.0], *[others] * (tau - 1), *[[0.0, 1.0]] * tau])
        counts = []
        for names in named:
            advice = Advice.of_arms(names, 2, rounds)
            problem = ExpertProblem(Adversary("two batches", rounds, losses), advice)
            paid = np.diff(learner.run(problem, rounds + 1, 1, 10_000))[:, :tau]
            away = abs(paid[:, :, None] - losses[1 : tau + 1])
            arms = away.argmin(axis=2)
            counts.append(np.bincount(arms @ 2 ** np.arange(tau), minlength=2**tau))
        one, other = counts
        found += zip(abs(np.log(one / other)), np.sqrt(1 / one + 1 / other), strict=True)
    assert all(ratio < exact + 5 * se for ratio, se in found)
    largest, se = max(found)
    assert largest > exact - 5 * se


@pytest.mark.parametrize("loss", [0.49, 0.5])
def test_sparse_switch_counts_losses_below_a_half(loss):
    """Against the plain version, whose looks at a half do not count either."""
    switch, table = adversarial.SparseSwitch(2.0, 0.5), np.full((300, 2), loss)
    plain = lectures.plays("asi2025/5-barriers", "sparse_switch", **vars(switch))
    for seed in range(3):
        actions = switch.play(table, seed).tolist()
        assert actions == list(plain(table, np.random.default_rng(seed)))


def test_the_certificate_of_lemma_11():
    """Sparse switch: certified with drop 0; arm 2 is played at the rate of its looks or more."""
    switch = adversarial.SparseSwitch(0.2, 0.05)
    found = study.lemma_11_certificate(switch, 0.2, 4096, 2000, 1, {"late": 256})
    assert list(found)[-2:] == ["regret_late", "regret_late_se"]
    assert 0.045 < found["pull_rate"] < 0.1
    assert found["regret"] == pytest.approx(found["pull_rate"] * 4096 / 2)
    assert found["drop"] == 0 < found["bound"] <= max(found["regret"], found["regret_changed"])
    nothing = study.lemma_11_certificate(EXP3(1e-9, 1.0), 0.2, 4096, 80, 1)
    assert nothing["regret_changed"] > 0 and "regret_late" not in nothing


@pytest.mark.parametrize("epsilon, changed, middle", [(1.0, 0.5047, 0.4553), (0.3, 0.4427, 0.4306)])
def test_one_step_in_the_proof_of_lemma_11_fails_and_its_end_holds(epsilon, changed, middle):
    """Values from an independent quadrature with more points."""
    found = study.lemma_11_chain(4, epsilon, 16)
    assert found["changed"].value == pytest.approx(changed, abs=0.01)
    assert found["middle"].value == pytest.approx(middle, abs=0.01)
    assert found["middle"].value < found["changed"].value <= found["plain_scaled"].value


def test_exact_loss_of_exp3():
    """Against play on a small table; and a pair that does not differ."""
    losses = table(6, 2)
    small = Adversary("small", np.arange(6), losses)
    paths = (np.arange(2**6)[:, None] >> np.arange(5, -1, -1)) & 1
    chances = privacy.batched_probabilities(EXP3(0.5, 0.2), losses, 0.0, 1)
    exact = chances @ losses[np.arange(6), paths].sum(axis=1)
    paid = EXP3(0.5, 0.2).run(small, [6], np.random.default_rng(1), 20_000)[:, -1]
    assert abs(paid.mean() - exact) < 5 * paid.std() / math.sqrt(20_000)
    assert privacy.exp3_loss(small, small, 6, 0.5, 0.2) == 0
    pair = instances.exp3_leakage_pair()
    loss = privacy.exp3_loss(*pair, 8, 0.2, 0.1)
    assert loss == pytest.approx(2.8386, abs=6e-5)
    ratios = []
    for actions in (np.arange(2**8)[:, None] >> np.arange(8)) & 1:
        p, q = (privacy.exp3_path(adversary.table(8), actions, 0.2, 0.1) for adversary in pair)
        ratios.append(abs(np.log(np.where(actions, p / q, (1 - p) / (1 - q))).sum()))
    assert max(ratios) == pytest.approx(loss)


def test_the_constant_in_the_noise():
    constant = composition.noise_constant(1.0, 1e-6, 16)
    assert 0.5 < constant < 3
    shift = 1 / ((constant + 2e-3) * math.sqrt(16 * math.log(1e6)))
    assert composition.composed_delta(1.0, shift, 16, 200) <= 1e-6
    refused(lambda: composition.composed_delta(1.0, 701.0, 1), "shift", 700, 701.0)


@pytest.mark.parametrize("shift", [0.3, 2.0])
def test_composed_deltas_are_upper_bounds_that_close_in(shift):
    """Of one number by the formula, of two by a sum over fine cells, down to the coarsest grid."""
    for epsilon in (0.05, 0.9 * shift):
        truth = -math.expm1((epsilon - shift) / 2)
        found = [composition.composed_delta(epsilon, shift, 1, grid) for grid in (1, 2, 7, 10_000)]
        assert truth <= found[-1] + 1e-12 and all(truth < x for x in found[:-1])
        assert found[-1] == pytest.approx(truth, rel=2e-3)
        x, y = np.meshgrid(*2 * [(np.arange(4000) + 0.5) / 50 - 40])
        p, q = (np.exp(-abs(x - c) - abs(y - c)) / 4 / 2500 for c in (0.0, shift))
        both = np.maximum(p - math.exp(epsilon) * q, 0).sum()
        found = [composition.composed_delta(epsilon, shift, 2, grid) for grid in (1, 2, 7, 10_000)]
        assert all(both - 1e-3 * both <= x for x in found)
        assert found[-1] == pytest.approx(both, rel=2e-3) and found[0] > 1.05 * both


# the weights of the second leave their range, and are rebuilt
LANES = [HTINF(1.0), EXP3(1.5, 1e-4), EXP3(0.1, 0.05), BatchedPrivate(HTINF(2.0), 0.13)]
PROBLEMS = instances.gap_adversary(4, 0.5), instances.switching(3, 7, 300), lemma_11_pair(100)[1]
LANES += [adversarial.LocallyPrivate(EXP3(0.02, 0.2), 0.3)]
LANES += [BatchedPrivate(adversarial.FTPL(2.0, 20, "printed"), 0.21)]


@pytest.mark.parametrize("algorithm", LANES, ids=repr)
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_a_run_in_a_lane_is_play_whatever_its_neighbours(algorithm, problem):
    """The last checkpoint ends within a batch."""
    rounds = [7, 8, 300]
    runs = algorithm.run(problem, rounds, 5, 33)
    assert (runs[:4] == algorithm.run(problem, rounds, 5, 4)).all()
    for run, rng in zip(runs, streams.children(np.random.default_rng(5), 33), strict=True):
        actions = algorithm.play(problem.table(300), rng)
        np.testing.assert_allclose(run, tally(problem, actions, rounds), rtol=1e-12)


def test_sums_of_the_noise_have_mean_zero_and_control_the_mean():
    algorithm, problem, runs = tuning.batched_htinf(0.25), instances.gap_adversary(4, 0.25), 2000
    losses, noise = algorithm.run_with_noise(problem, 4096, 3, runs)
    assert (losses == algorithm.run(problem, [4096], 3, runs)).all()
    # of one run alone as well
    assert (algorithm.run_with_noise(problem, 4096, 3, 1)[1] == noise[:1]).all()
    sums = noise.reshape(runs, -1)
    assert abs(sums.mean(axis=0) / sums.std(axis=0)).max() < 5 / runs**0.5
    plain = estimates.mean(problem.regret(losses, [4096])[:, 0])
    with_noise = study.regret_by_noise(algorithm, problem, 4096, 256, seed=4)
    assert with_noise.se < 0.8 * plain.se * (runs / 256) ** 0.5
    assert abs((with_noise - plain).value) < 5 * (with_noise - plain).se
    curves = simulate.regret_curves(algorithm, problem, 4096, 256, 4, points=1)  # the same runs
    same = estimates.mean(curves.regret)
    assert 0 < abs((with_noise - same).value) < 5 * same.se


def test_sums_of_the_noise_are_those_of_its_docstring():
    """Of a uniform base the probabilities are known; its second batch begins as the first ends."""
    algorithm, arms = BatchedPrivate(EXP3(0.1, 1.0), 0.02, 50), 4
    one, two = (
        algorithm.run_with_noise(instances.gap_adversary(arms, 0.25), t, 3, 4000)[1]
        for t in (50, 100)
    )
    z, later = one[..., 0], two[..., 0] - one[..., 0]
    assert ((z != 0).sum(axis=1) == 1).all() and ((later != 0).sum(axis=1) == 1).all()
    np.testing.assert_allclose(one[..., 1], z, atol=1e-12)
    np.testing.assert_allclose(two[..., 1], z + later / math.sqrt(2), atol=1e-12)
    np.testing.assert_allclose(two[..., 2], 2 * two[..., 0], atol=1e-12)
    for drawn in (z, later):
        assert kstest(drawn[drawn != 0], laplace(scale=algorithm.scale).cdf).pvalue > 1e-4


@pytest.mark.parametrize("base", [adversarial.FTPL(0.1, 50), EXP3(0.1, 0.1), HTINF(2.0)], ids=repr)
def test_the_worst_gap_is_measured_with_and_without_control_variates(base):
    gaps = [instances.gap_adversary(4, gap) for gap in (1.0, 0.25)]
    algorithm = BatchedPrivate(base, 0.5)
    few, many = (study.at_worst(algorithm, gaps, 500, runs, 1, choosing=8) for runs in (63, 64))
    assert few["instance"] == many["instance"]
    assert abs(few["mean"] - many["mean"]) < 5 * few["se"]
