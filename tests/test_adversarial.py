"""What is particular to adversarial algorithms: cells, path identities, base algorithms and the
papers' tuning."""

import copy
import math
import pickle
from itertools import pairwise

import numpy as np
import pytest
from cases import BASES, OTHER_BASES, in_batches, plain, played
from conftest import refused
from scipy import stats
from scipy.integrate import quad
from scipy.stats import chisquare

from privregret import estimates, instances, simulate
from privregret.adversarial import (
    EXP3,
    FTPL,
    HTINF,
    AdversarialAlgorithm,
    BatchedPrivate,
    EXP4Batched,
    EXP4Local,
    ExpertsFromBandit,
    LocallyPrivate,
    SparseSwitch,
    ftpl,
    htinf,
    tuning,
)
from privregret.adversarial.conversions import batch_size
from privregret.bandits import AnytimeLazyUCB
from privregret.core import checks, noise, streams
from privregret.core.algorithm import NOT_PRIVATE, Steps
from privregret.core.jit import jit
from privregret.instances import Adversary, Advice, ExpertProblem, lemma_11_pair
from privregret.privacy import adversarial as composition
from privregret.privacy import ledger
from privregret.studies import asi2025_privacy as privacy
from privregret.studies.asi2025 import (
    at_worst,
    law_over_experts,
    lemma_11_certificate,
    lemma_11_chain,
    regret_by_noise,
)

every_base = pytest.mark.parametrize("base", [base for base, _ in BASES], ids=repr)


class Nothing(AdversarialAlgorithm):
    """It defines neither steps nor start."""

    id, label, source, privacy = "nothing", "nothing", "nowhere", NOT_PRIVATE


def table(rounds, arms, seed=1):
    return np.random.default_rng(seed).random((rounds, arms))


@every_base
@pytest.mark.parametrize(
    "adversary",
    [instances.gap_adversary(3, 0.5), instances.switching(3, 7, 500), instances.drifting(3, 500)],
)
def test_segments_are_the_table_in_short(base, adversary):
    algorithm = BatchedPrivate(base, 0.21)
    losses = adversary.table(500)
    actions = algorithm.play(losses, streams.children(np.random.default_rng(2), 1)[0])
    paid = np.cumsum(losses[np.arange(500), actions])
    rounds = np.array([1, 4, 100, 333, 500])
    reported = algorithm.run(adversary, rounds, 2)
    np.testing.assert_allclose(reported, paid[rounds - 1], rtol=1e-12)
    np.testing.assert_allclose(
        adversary.comparators(rounds), np.cumsum(losses, axis=0)[rounds - 1], rtol=1e-12
    )


# path identities


@every_base
def test_theorem_1_path_by_path(base):
    """When tau divides T, the algorithm is the base on noisy batch averages, each of its actions
    played tau times."""
    losses, tau, epsilon = table(240, 3), 8, 0.2
    averages = losses.reshape(30, 8, 3).mean(axis=1)
    algorithm = BatchedPrivate(base, epsilon, tau)
    inner = LocallyPrivate(base, tau * epsilon).play(averages, 4)
    actions = algorithm.play(losses, 4)
    np.testing.assert_array_equal(actions, np.repeat(inner, tau))
    assert losses[np.arange(240), actions].sum() == pytest.approx(
        tau * averages[np.arange(30), inner].sum(), rel=1e-12
    )


@every_base
def test_theorem_6_path_by_path(base):
    losses, named = table(200, 3), np.random.default_rng(5).integers(3, size=(200, 6))
    arms = ExpertsFromBandit(base).play(losses, Advice.of_arms(named, 3, np.arange(200)), 6)
    experts = base.play(np.take_along_axis(losses, named, axis=1), 6)
    np.testing.assert_array_equal(arms, named[np.arange(200), experts])


class WithoutNoise(EXP4Batched):
    """It still draws noises, of scale 0."""

    def scale(self, arms, experts):
        return 0.0


def test_exp4_with_arms_for_experts_is_exp3():
    losses, rounds, rng = table(300, 4), np.arange(300), np.random.default_rng(8)
    exp3, actions = plain("PlainEXP3", 0.3, 0.1)(4, rng), []
    for arm in played(losses, exp3):
        actions.append(arm)
        for _ in range(4):  # what EXP4 draws for its experts
            noise.laplace(0.0, rng)
    algorithm = WithoutNoise(0.5, 1e-3, 0.3, 0.1, 1)
    np.testing.assert_array_equal(algorithm.play(losses, np.eye(4), 8), actions)
    problem = ExpertProblem(Adversary("t", rounds, losses), Advice.of_arms([[0, 1, 2, 3]], 4))
    paid = algorithm.run(problem, rounds + 1, 8)
    np.testing.assert_allclose(paid, losses[rounds, actions].cumsum(), rtol=1e-12)


def test_local_exp4_with_arms_for_experts_is_local_exp3():
    losses = table(300, 4)
    advised = EXP4Local(0.5, 0.03, 0.1).play(losses, np.eye(4), 8)
    plain = LocallyPrivate(EXP3(0.03, 0.1), 0.5).play(losses, 8)
    np.testing.assert_array_equal(advised, plain)
    assert len(set(plain)) == 4


def test_batch_sizes():
    assert [batch_size(1 / n) for n in (1, 3, 10, 49, 23294, 10**6)] == [1, 3, 10, 49, 23294, 10**6]
    assert [batch_size(e) for e in (2.0, 0.7, 0.3, 1e-100)] == [1, 2, 4, checks.MAX_HORIZON]


# base algorithms


def with_estimates(estimates):
    """Choices with these estimates, as kernels take them."""
    choices = np.zeros(len(estimates), ftpl.ARM)
    choices["estimate"] = estimates
    return choices


def test_htinf_stays_on_the_simplex():
    """A million steps with noise of either sign on the losses; `p` is left unnormalised at the end,
    to see Newton's error.
    """
    worst, low, high = _htinf_walk(10**6, HTINF.Settings(math.sqrt(6)), np.random.default_rng(1))
    assert worst < 1e-12 and 0 < low <= high <= 1


@jit
def _htinf_walk(steps, settings, rng):
    choices, states = np.zeros(8, htinf.ARM), np.zeros(1, htinf.STATE)
    worst, low, high, sigma = 0.0, 1.0, 0.0, settings.sigma
    for t in range(1, steps + 1):
        arm = htinf._choose(choices, states[0], settings, t, rng)
        total, raw, least = 0.0, 0.0, math.inf
        for i in range(8):
            least = min(least, choices[i]["estimate"])
        for i in range(8):
            p = choices[i]["p"]
            total += p
            raw += (
                (choices[i]["estimate"] - least) / (sigma * math.sqrt(t)) + states[0]["w"]
            ) ** -2
            low, high = min(low, p), max(high, p)
        worst = max(worst, abs(total - 1), abs(raw - 1))
        y = (0.2 if arm == 0 else 0.8) + rng.laplace(0.0, 1.0)
        htinf._observe(choices, states[0], settings, t, arm, y, rng)
    return worst, low, high


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
    """Mean of 20 000 draws against (1 - (1 - q)^M) / q, less M (1 - q)^M if the cap gives 0; within
    5 standard errors.
    """
    estimate, scale, cap, rng = [0.0, 1.0, 2.5], 1.3, 6, np.random.default_rng(4)
    runs, choices = 20_000, with_estimates(estimate)
    variant = ftpl.RESAMPLINGS.index(resampling)
    q = leads(estimate, played, scale)
    g = [ftpl.resamples(choices, played, scale, cap, variant, rng) for _ in range(runs)]
    expected = (1 - (1 - q) ** cap) / q
    expected -= cap * (1 - q) ** cap if resampling == "zero at cap" else 0
    assert abs(np.mean(g) - expected) < 5 * np.std(g) / math.sqrt(runs)


def test_the_printed_resampling_estimates_something_else():
    """As printed, an arm that leads nearly always gets a huge weight: 1 / P(argmax) in place of 1 /
    P(argmin).
    """
    estimate, rng = [0.0, 8.0], np.random.default_rng(4)
    q = 0.5 * math.exp(-8.0) * 5.0  # two arms, distance D = 8 scales: exp(-D) (1 + D / 2) / 2
    assert leads(estimate, 1, 1.0) == pytest.approx(q, rel=1e-6)
    choices = with_estimates(estimate)
    right, printed = (
        np.mean([ftpl.resamples(choices, 0, 1.0, 100, variant, rng) for _ in range(5000)])
        for variant in (ftpl.CORRECTED, ftpl.PRINTED)
    )
    assert right == pytest.approx(1 / (1 - q), abs=0.01)
    assert printed == pytest.approx((1 - (1 - q) ** 100) / q - 100 * (1 - q) ** 100, rel=0.2)
    assert printed > 2 * right


# bases of one's own


class EXP3Learner(OTHER_BASES["PlainEXP3"]):
    """In a module from which it can be unpickled."""


class PlainEXP3(EXP3):
    """EXP3 as somebody writes it who does not know this package."""

    id, steps = "exp3", None

    def start(self, arms, rng, horizon=None):
        learner = EXP3Learner(arms, rng, self.eta, self.gamma)
        learner.horizon = horizon
        return learner


@jit
def commit_choose(arms, state, settings, t, rng):
    if t <= settings * len(arms):
        return (t - 1) % len(arms)
    if t == settings * len(arms) + 1:
        for j in range(len(arms)):
            if arms[j]["total"] < arms[state["best"]]["total"]:
                state["best"] = j
    return state["best"]


@jit
def commit_observe(arms, state, settings, t, j, y, rng):
    if t <= settings * len(arms):
        arms[j]["total"] += y


class Commit(AdversarialAlgorithm):
    """Plays each arm twice, or a tenth of its horizon, then the one that has lost less."""

    id, label, source, privacy, real_losses = "commit", "commit", "a test", NOT_PRIVATE, True
    steps = Steps([("total", float)], [("best", np.int64)], commit_choose, commit_observe)
    steps = steps._replace(arm=np.dtype(steps.arm), state=np.dtype(steps.state))

    def settings(self, horizon, arms):
        return 2 if horizon is None else max(2, horizon // (10 * arms))


class PlainCommit(Commit):
    id, steps = "commit", None

    def start(self, arms, rng, horizon=None):
        return CommitLearner(arms, self.settings(horizon, arms))


class CommitLearner:
    def __init__(self, arms, pulls):
        self.total, self.t, self.pulls = [0.0] * arms, 0, pulls

    def choose(self):
        arms = len(self.total)
        if self.t < self.pulls * arms:
            return self.t % arms
        return min(range(arms), key=lambda j: self.total[j])

    def observe(self, y):
        if self.t < self.pulls * len(self.total):
            self.total[self.choose()] += y
        self.t += 1


OWN_BASES = [(EXP3(0.3, 0.1), PlainEXP3(0.3, 0.1)), (Commit(), PlainCommit())]
CONVERSIONS = {
    "Algorithm 1": lambda base: BatchedPrivate(base, 0.3),
    "local": lambda base: LocallyPrivate(base, 0.3),
    "Algorithm 5": ExpertsFromBandit,
    "both": lambda base: ExpertsFromBandit(BatchedPrivate(base, 0.3)),
}
every_own_base = pytest.mark.parametrize(("steps", "plain"), OWN_BASES, ids=repr)
every_conversion = pytest.mark.parametrize("conversion", CONVERSIONS.values(), ids=CONVERSIONS)


@every_own_base
@every_conversion
def test_a_base_of_steps_and_one_in_plain_python_are_the_same(conversion, steps, plain):
    """In `play`, `start`, `run` and `regret_curves`; the horizon cuts the last batch."""
    one, other = conversion(steps), conversion(plain)
    losses, problem = table(102, 3), instances.gap_adversary(3, 0.5)
    advice = []
    if isinstance(one, ExpertsFromBandit):
        # experts who mix, too
        rows = [[1, 0, 0], [0, 1, 0], [0.2, 0.3, 0.5], [0.2, 0.3, 0.5]]
        advice = [np.array(rows)]
        problem = ExpertProblem(problem, Advice.of_table(rows))
    actions = one.play(losses, *advice, 4)
    assert len(set(actions.tolist())) == 3
    assert actions.tolist() == other.play(losses, *advice, 4).tolist()
    rng, chosen = np.random.default_rng(4), []
    learner = other.start(3, rng, 102, *map(len, advice))
    for t, row in enumerate(losses):
        if t == 50:
            copies = [learner, copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))]
        chosen.append(learner.choose(*advice))
        learner.observe(row[chosen[-1]])
    assert actions.tolist() == chosen
    for again in copies[1:]:
        for t in range(50, 102):
            assert again.choose(*advice) == chosen[t]
            again.observe(losses[t, chosen[t]])
    for runs in (None, 5):
        paid = one.run(problem, [7, 102], 3, runs)
        np.testing.assert_allclose(paid, other.run(problem, [7, 102], 3, runs), rtol=1e-12)
    one, other = (
        simulate.regret_curves(a, problem, 102, 5, 1, points=2, workers=1).regret
        for a in (one, other)
    )
    np.testing.assert_allclose(one, other, rtol=1e-9)


@every_own_base
@every_conversion
def test_a_conversion_is_private_whatever_its_base(conversion, steps, plain):
    """By the ledger; without Algorithm 1 there is no privacy."""
    losses = np.random.default_rng(1).integers(2, size=(28, 3)).astype(float)
    for base in (steps, plain):
        algorithm = conversion(base)
        run = ledger.traced(algorithm, losses, 4)
        advice = [np.eye(3)] if isinstance(algorithm, ExpertsFromBandit) else []
        assert list(run.actions) == algorithm.play(losses, *advice, 4).tolist()
        cost = ledger.costs(run).max()
        assert cost == pytest.approx(algorithm.privacy.proved)
        assert algorithm.privacy.proved == (0.3 if conversion != ExpertsFromBandit else math.inf)


def test_the_horizon_of_a_base_is_the_number_of_batches():
    for horizon, expected in ((102, 26), (104, 26), (3, 1), (None, None)):
        learner = BatchedPrivate(PlainEXP3(0.3, 0.1), 0.3).start(3, 1, horizon)
        learner.choose()
        assert learner._memory[1][0]["base"]["learner"].horizon == expected
    short = ExpertsFromBandit(SparseSwitch(1.0, 0.1))  # more arms than it plays, and no horizon
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


@jit
def misspelt(arms, state, settings, t, j, y, rng):
    arms[j]["totl"] += y


@every_conversion
def test_a_mistake_in_a_step_of_a_base_is_named(conversion):
    class Misspelt(Commit):
        id, steps = "misspelt", Commit.steps._replace(observe=misspelt)

    algorithm, advice = conversion(Misspelt()), []
    if isinstance(algorithm, ExpertsFromBandit):
        advice = [np.eye(3)]
    refused(lambda: algorithm.play(table(30, 3), *advice, 1), "observe", "Misspelt", "totl")


@pytest.mark.parametrize("wrong", [3, -1, None, 1.0])
def test_what_a_base_chooses_is_checked(wrong):
    class Wrong(PlainEXP3):
        id = "wrong"

        def start(self, arms, rng, horizon=None):
            learner = CommitLearner(arms, 2)
            learner.choose = lambda: wrong if learner.t > 2 else learner.t
            return learner

    problem, losses = instances.gap_adversary(3, 0.5), table(30, 3)
    for convert in CONVERSIONS.values():
        algorithm, given, played = convert(Wrong(0.3, 0.1)), (losses, 1), problem
        if isinstance(algorithm, ExpertsFromBandit):
            played = ExpertProblem(problem, Advice.of_table(np.eye(3)))
            given = losses, np.eye(3), 1
        refused(lambda a=algorithm, g=given: a.play(*g), "choose", repr(wrong))
        refused(lambda a=algorithm, p=played: a.run(p, [30], 1), "choose", repr(wrong))


# tuning


def test_tuning_reference_values():
    exp3 = [tuning.batched_exp3(10**4, 4, 0.25), tuning.batched_exp3(10**5, 10, 0.1)]
    assert [a.tau for a in exp3] == [4, 10]
    assert [a.base.eta for a in exp3] == pytest.approx([2.725466e-4, 8.886092e-5], rel=1e-6)
    assert [a.base.gamma for a in exp3] == pytest.approx([0.04016395, 0.04092197], rel=1e-6)
    perturbed = [tuning.batched_ftpl(10**4, 4, 0.25), tuning.batched_ftpl(10**5, 10, 0.1)]
    assert [a.base.cap for a in perturbed] == [100, 317]
    assert [a.base.eta for a in perturbed] == pytest.approx([3.096341e-4, 8.336312e-5], rel=1e-6)
    exp4 = tuning.batched_exp4(10**6, 4, 16, 0.5, 1e-6)
    assert (exp4.tau, exp4.eta, exp4.gamma) == pytest.approx((4444, 0.0554994, 0.295683), rel=1e-5)
    assert exp4.scale(4, 16) == pytest.approx(0.271553, rel=1e-5)
    local = tuning.local_exp4(10**5, 4, 16, 0.5)
    assert (local.eta, local.gamma) == pytest.approx((1.86306e-5, 0.00769023), rel=1e-5)
    assert tuning.batched_exp4(10**4, 4, 16, 1.0, 1e-6).gamma == 1
    long = 10**11, 4, 16, 1.0, 1e-6  # where the first term of gamma is the larger one
    assert tuning.batched_exp4(*long, "corrected").gamma == pytest.approx(
        tuning.batched_exp4(*long).gamma * math.log(1e6) ** (1 / 3)
    )
    assert perturbed[0].base.resampling == "printed"
    assert tuning.batched_htinf(0.3).base.sigma == math.sqrt(6)
    assert tuning.batched_htinf(0.3, "exact").base.sigma == pytest.approx(
        math.sqrt(1 + 2 / (4 * 0.3) ** 2)
    )


def test_sparse_switch_has_two_arms():
    algorithm, three = SparseSwitch(2.0, 0.2), instances.gap_adversary(3, 0.5)
    refused(lambda: algorithm.play(table(10, 3), 0), algorithm.label, "2", "3")
    refused(lambda: algorithm.run(three, [10], 0), algorithm.label, "2", "3")


def test_tidy_columns_name_the_parameters_inside():
    problem = ExpertProblem(instances.gap_adversary(4, 0.5), instances.fixed_experts(4, 4))
    algorithm = tuning.batched_htinf_over_experts(0.5)
    row = simulate.regret_curves(algorithm, problem, 10, 1, 0, points=1).iloc[0]
    assert row[["bandit", "base", "epsilon", "tau"]].tolist() == ["Batched HTINF", "HTINF", 0.5, 2]
    assert row.algorithm == "Batched HTINF over experts"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: EXP3(0.0, 0.1), ["eta", "0.0"]),
        (lambda: EXP3(0.1, 1.5), ["gamma", "[0, 1]", "1.5"]),
        (lambda: HTINF(-1.0), ["sigma", "-1.0"]),
        (lambda: FTPL(0.1, 0), ["cap", "1", "0"]),
        (lambda: FTPL(0.1, 5, "argmax"), ["resampling", "'argmax'"]),
        (lambda: BatchedPrivate(HTINF(1.0), 0.1, 0), ["tau", "1", "0"]),
        *(
            (lambda c=c, base=base: c(base, 0.1), ["base", *words])
            for c in (BatchedPrivate, LocallyPrivate)
            for base, words in (
                (tuning.batched_htinf(1.0), ["real_losses", "BatchedPrivate"]),
                (SparseSwitch(1.0, 0.1), ["real_losses", "SparseSwitch"]),
                (ExpertsFromBandit(HTINF(1.0)), ["bandit", "ExpertsFromBandit"]),
                (AnytimeLazyUCB(1.0), ["bandit", "AnytimeLazyUCB"]),
                (HTINF, ["bandit", "HTINF"]),
                (None, ["bandit", "None"]),
            )
        ),
        (lambda: ExpertsFromBandit(EXP4Local(1.0, 0.1, 0.1)), ["bandit", "EXP4Local"]),
        (lambda: ExpertsFromBandit(AnytimeLazyUCB(1.0)), ["bandit", "AnytimeLazyUCB"]),
        (lambda: ExpertsFromBandit(Nothing()), ["bandit", "steps", "start", "Nothing"]),
        (lambda: EXP4Batched(1.0, 0.5, 0.1, 0.1, 5), ["delta", "0.4032", "0.5"]),
        (lambda: EXP4Batched(1.0, 1e-6, 0.1, 1.1, 5), ["gamma", "1.1"]),
        (lambda: SparseSwitch(1.0, 0.0), ["rate", "0.0"]),
        (lambda: tuning.batched_htinf(0.1, "other"), ["sigma", "'other'"]),
    ],
)
def test_bad_parameters(make, words):
    refused(make, *words)


def test_bad_advice():
    algorithm, losses = EXP4Local(1.0, 0.1, 0.1), table(9, 2)
    for advice, words in (
        (np.full((10, 3, 2), 0.5), ["advice", "10", "9"]),
        (np.full((8, 3, 2), 0.5), ["advice", "8", "9"]),
        (np.full((3, 2), 0.4), ["advice"]),
        (np.eye(3), ["advice", "3", "2"]),
        ([[0.5, math.nan]] * 2, ["advice", "nan"]),
    ):
        refused(lambda a=advice: algorithm.play(losses, a, 0), *words)


def test_the_distribution_of_actions_over_experts_is_that_of_play():
    """All 16 paths of two batches of two rounds; the first batch costs 1/2 whatever is played."""
    learner = ExpertsFromBandit(BatchedPrivate(EXP3(8.0, 0.1), 0.5))
    law = law_over_experts(learner, 0.9, 0.5).ravel()
    losses, advice = np.repeat([[0.0], [1.0], [0.0], [0.0]], 2, axis=1), [[0.9, 0.1], [0.1, 0.9]]
    played = [learner.play(losses, advice, seed) @ [8, 4, 2, 1] for seed in range(4000)]
    counts = np.bincount(played, minlength=16)
    assert law.sum() == pytest.approx(1)
    assert chisquare(counts, 4000 * law).pvalue > 1e-4


def test_the_certificate_of_lemma_11():
    """Sparse switch: certified with a drop at 0; it plays arm 2 at the rate of its looks, or more
    if it errs."""
    found = lemma_11_certificate(SparseSwitch(0.2, 0.05), 0.2, 4096, 2000, 1, {"late": 256})
    assert list(found)[-2:] == ["regret_late", "regret_late_se"]
    assert 0.045 < found["pull_rate"] < 0.1
    assert found["regret"] == pytest.approx(found["pull_rate"] * 4096 / 2)
    assert found["drop"] == 0
    assert 0 < found["bound"] <= max(found["regret"], found["regret_changed"])
    nothing = lemma_11_certificate(EXP3(1e-9, 1.0), 0.2, 4096, 80, 1)
    assert nothing["regret_changed"] > 0
    assert "regret_late" not in nothing


@pytest.mark.parametrize("epsilon, changed, middle", [(1.0, 0.5047, 0.4553), (0.3, 0.4427, 0.4306)])
def test_one_step_in_the_proof_of_lemma_11_fails_and_its_end_holds(epsilon, changed, middle):
    """Values from an independent quadrature with more points."""
    found = lemma_11_chain(4, epsilon, 16)
    assert found["changed"].value == pytest.approx(changed, abs=0.01)
    assert found["middle"].value == pytest.approx(middle, abs=0.01)
    assert found["middle"].value < found["changed"].value <= found["plain_scaled"].value


def test_exact_loss_of_exp3():
    """Against play on a small table; and a pair that does not differ."""
    losses = table(6, 2)
    small = Adversary("small", np.arange(6), losses)
    paths = (np.arange(2**6)[:, None] >> np.arange(5, -1, -1)) & 1
    chances = np.exp(privacy.exp3_log_probabilities(small, 6, 0.5, 0.2))
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


LANES = [
    HTINF(1.0),
    EXP3(0.1, 0.05),
    EXP3(1.5, 1e-4),  # its weights leave their range, and are rebuilt
    BatchedPrivate(HTINF(2.0), 0.13),
    LocallyPrivate(EXP3(0.02, 0.2), 0.3),
]


@pytest.mark.parametrize("algorithm", LANES, ids=repr)
@pytest.mark.parametrize("runs", [4, 33])
def test_a_run_is_the_same_in_its_lane_and_alone(algorithm, runs):
    """Bit by bit, for any number of neighbours; the last checkpoint ends within a batch."""
    for problem in (instances.gap_adversary(4, 0.5), lemma_11_pair(100)[1]):
        checkpoints = np.array([7, 8, 300])
        played = algorithm.run(problem, checkpoints, 5, runs=runs)
        settings = algorithm.settings(300, *problem.memory_sizes)
        for one, rng in zip(played, streams.children(np.random.default_rng(5), runs), strict=True):
            (alone,) = algorithm.lanes(problem.kernel_data, checkpoints, settings, (rng,), 1)
            assert one.tolist() == alone.tolist()


@pytest.mark.parametrize(
    ("algorithm", "base"),
    [
        (BatchedPrivate(HTINF(2.0), 0.13), plain("PlainHTINF", 2.0)),
        (LocallyPrivate(EXP3(0.02, 0.2), 0.3), plain("PlainEXP3", 0.02, 0.2)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_sums_of_the_noise_are_those_of_the_plain_algorithm(algorithm, base):
    """The horizon cuts the last batch of eight rounds, whose noise is never drawn."""
    problem, horizon, tau = instances.gap_adversary(4, 0.5), 205, algorithm.tau
    expected = np.zeros((4, 3))

    (rng,) = streams.children(np.random.default_rng(5), 1)
    learner, batches = base(4, rng), []

    def noted(y):
        batches.append(y - problem.losses[0, learner.arm])
        sizes = 1, math.sqrt(len(batches)), math.sqrt(learner.p[learner.arm])
        expected[learner.arm] += batches[-1] / np.array(sizes)
        observe(y)

    observe, learner.observe = learner.observe, noted
    private = in_batches(lambda *_: learner, 4, tau, algorithm.scale, rng)
    assert len(list(played(problem.table(horizon), private))) == horizon
    assert len(batches) == horizon // tau
    for runs in (1, 3):
        losses, noise = algorithm.run_with_noise(problem, horizon, 5, runs)
        assert noise.shape == (runs, 4, 3)
        np.testing.assert_allclose(noise[0], expected, rtol=1e-9, atol=1e-9)
        assert (losses == algorithm.run(problem, [horizon], 5, runs)).all()


def test_sums_of_the_noise_have_mean_zero_and_control_the_mean():
    algorithm, problem, runs = tuning.batched_htinf(0.25), instances.gap_adversary(4, 0.25), 2000
    losses, noise = algorithm.run_with_noise(problem, 4096, 3, runs)
    sums = noise.reshape(runs, -1)
    assert abs(sums.mean(axis=0) / sums.std(axis=0)).max() < 5 / runs**0.5
    regret = problem.regret(losses, [4096])[:, 0]
    plain = estimates.mean(regret)
    with_noise = regret_by_noise(algorithm, problem, 4096, 256, seed=4)
    assert with_noise.se < 0.8 * plain.se * (runs / 256) ** 0.5
    assert abs((with_noise - plain).value) < 5 * (with_noise - plain).se
    curves = simulate.regret_curves(algorithm, problem, 4096, 256, 4, points=1)  # the same runs
    same = estimates.mean(curves.regret)
    assert 0 < abs((with_noise - same).value) < 5 * same.se


def test_sums_of_the_noise_are_refused_where_there_are_none():
    problem = instances.gap_adversary(4, 0.5)
    other, private = BatchedPrivate(FTPL(0.1, 50), 0.5), BatchedPrivate(HTINF(2.0), 0.5)
    refused(lambda: other.run_with_noise(problem, 100, 1, 2), "base", "FTPL", error=TypeError)
    refused(lambda: private.run_with_noise(problem, 0, 1, 2), "horizon", 0)
    refused(lambda: private.run_with_noise(problem, 100, 1, 0), "runs", 0)
    refused(lambda: private.run_with_noise(instances.HU2021_1, 100, 1, 2), "Adversary")


@pytest.mark.parametrize("base", [FTPL(0.1, 50), EXP3(0.1, 0.1), HTINF(2.0)], ids=repr)
def test_the_worst_gap_is_measured_with_and_without_control_variates(base):
    gaps = [instances.gap_adversary(4, gap) for gap in (1.0, 0.25)]
    algorithm = BatchedPrivate(base, 0.5)
    few, many = (at_worst(algorithm, gaps, 500, runs, 1, choosing=8) for runs in (63, 64))
    assert few["instance"] == many["instance"]
    assert abs(few["mean"] - many["mean"]) < 5 * few["se"]
