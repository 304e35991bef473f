"""The audit of privacy: exact losses against tables from elsewhere, the ledger against closed forms, planted faults."""

import math
from itertools import pairwise, product

import numpy as np
import pytest
from cases import FIRST
from conftest import refused

from privregret.adversarial import (
    EXP3,
    FTPL,
    BatchedPrivate,
    EXP4Local,
    LocallyPrivate,
    SparseSwitch,
)
from privregret.adversarial.bases import RealLossBandit
from privregret.bandits import (
    DPIMED,
    DPSE,
    UCB1,
    AnytimeLazyUCB,
    HybridUCB,
    dp_se,
    hybrid_ucb,
    lazy_ucb,
)
from privregret.full_information import FTNL, EpochAlgorithm, NaiveFTNL, epochs
from privregret.privacy import audit, batches, ledger, scripted, selection, trace

# exact losses


@pytest.mark.parametrize(
    ("epsilon", "actions", "expected"),
    [
        (0.1, 2, (0.999, 1.047, 1.130, 1.259, 1.428, 1.759)),
        (0.1, 3, (1.499, 1.557, 1.651, 1.779, 1.906, 1.999)),
        (0.1, 5, (1.873, 1.906, 1.949, 1.985, 1.999, 2.000)),
        (0.5, 2, (0.987, 1.189, 1.425, 1.635, 1.789, 1.940)),
        (1.0, 2, (0.965, 1.307, 1.595, 1.777, 1.882, 1.969)),
        (1.0, 3, (1.425, 1.804, 1.976, 2.000, 2.000, 2.000)),
        (1.0, 5, (1.759, 1.979, 2.000, 2.000, 2.000, 2.000)),
    ],
)
def test_laplace_noise_of_half_the_scale(epsilon, actions, expected):
    """Loss over epsilon after epochs of 1, 2, 4, 8, 16 and 64 rounds, from an independent computation."""
    scale = FTNL(epsilon, "laplace", "hu2021").noise_scale(actions)
    found = [selection.privacy_loss(actions, n, "laplace", scale).value / epsilon for n in (1, 2, 4, 8, 16, 64)]
    assert found == pytest.approx(expected, abs=6e-4)
    if actions == 2:  # in closed form, after two rounds
        assert found[1] == pytest.approx(2 - math.log1p(epsilon) / epsilon, rel=1e-9)


@pytest.mark.parametrize(
    ("noise", "factor", "expected"),
    [
        ("exponential", 1, (2.0, 2.0, 2.0, 2.0)),
        ("exponential", 2, (1.0, 1.0, 1.0, 1.0)),
        ("gumbel", 1, (1.5367, 2.0, 1.6328, 1.9996)),
        ("gumbel", 2, (0.6456, 0.9974, 0.7489, 0.9906)),
        ("laplace", 1, (1.3748, 1.8569, 1.8021, 1.9998)),
        ("laplace", 2, (0.6153, 0.8748, 0.8451, 0.9962)),
    ],
)
def test_losses_of_noisy_max_by_enumeration(noise, factor, expected):
    """Loss over epsilon; sums up to 13 for two actions, up to 9 for three, from an independent enumeration."""
    cases = list(product((2, 3), (0.1, 1.0)))
    found = [selection.privacy_loss(k, {2: 13, 3: 9}[k], noise, factor / e).value / e for k, e in cases]
    assert found == pytest.approx(expected, abs=6e-5)


def test_scripted_laws_are_those_of_another_computation():
    """The first decision of DP-IMED by enumeration of its code, and by formulas."""
    law = scripted.action_law(DPIMED(1.0), np.zeros((3, 2)), cells=60)
    assert sum(law.values()) == pytest.approx(np.ones((2, 2)), rel=1e-12)
    other = batches.action_law(DPIMED(1.0), 200).sum(axis=-1)
    for rewards in product((0, 1), repeat=2):
        for d in (0, 1):
            assert law[0, 1, d][rewards] == pytest.approx(other[(*rewards, 0, 0, d)], abs=0.03)


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_scripted_loss_of_the_first_decision(epsilon):
    """Three rounds of Anytime-Lazy-UCB: the lead of an arm goes from -1 to 0."""
    found = scripted.worst(scripted.action_law(AnytimeLazyUCB(epsilon), np.zeros((3, 2)), cells=40))
    truth = -math.log(math.exp(-epsilon) * (2 + epsilon) / 2)
    assert found.value == pytest.approx(truth, rel=0.1)  # the grid is coarse
    assert sum(a != b for a, b in zip(found.before, found.after, strict=True)) == 1
    five = scripted.worst(scripted.action_law(AnytimeLazyUCB(epsilon), np.zeros((5, 2)), cells=8))
    assert truth < five.value <= epsilon * (1 + 1e-9)


# the ledger read off the code

ALGORITHMS = [
    case.algorithm for case in FIRST if getattr(case.algorithm, "epsilon", 1) < 1e6
]  # a solver has tolerances


def traced(algorithm, seed=0, rounds=20):
    table = np.random.default_rng(seed).integers(2, size=(rounds, 2)).astype(float)
    return trace.traced(algorithm, table, seed)


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=repr)
def test_no_run_costs_more_than_is_proved(algorithm):
    """All algorithms of the project; outcomes cost no more than numbers."""
    run = traced(algorithm, rounds=8)
    outcomes = trace.costs(run, "outcomes").max()
    limit = algorithm.privacy.proved * (1 + 1e-6)
    assert outcomes <= limit
    if not any(run.notes.upward):
        assert outcomes <= trace.costs(run).max() * (1 + 1e-6) + 1e-9
    if not isinstance(algorithm, (EpochAlgorithm, SparseSwitch)) or isinstance(algorithm, NaiveFTNL):
        assert trace.costs(run).max() <= limit
    if math.isinf(limit) and not isinstance(algorithm, FTPL):  # FTPL's own perturbation hides something
        assert run.notes.scales or math.isinf(outcomes) or isinstance(algorithm, RealLossBandit)


def test_the_actions_of_a_traced_run_are_those_of_play():
    table = np.random.default_rng(0).integers(2, size=(25, 2)).astype(float)
    for algorithm in (
        AnytimeLazyUCB(1.0),
        HybridUCB(8.0),
        FTNL(1.0),
        FTNL(1.0, "gumbel"),
        BatchedPrivate(EXP3(1.0, 0.1), 0.5),
        UCB1(),
    ):
        assert list(trace.traced(algorithm, table, 5).actions) == algorithm.play(table, 5).tolist()


@pytest.mark.parametrize("tree", hybrid_ucb.TREES)
def test_ledger_of_hybrid_is_the_described_one(tree):
    """Each reward costs at most what its description says; the dearest one just that."""
    run = traced(HybridUCB(0.7, tree), rounds=25)
    costs, dearest = trace.costs(run), 0.0
    for arm in (0, 1):
        pulls = np.flatnonzero(np.array(run.actions) == arm)
        described = 0.7 * ledger.cost(ledger.hybrid_releases(len(pulls), tree), len(pulls))
        assert (costs[pulls] <= described * (1 + 1e-6) + 1e-9).all()
        dearest = max(dearest, described.max())
    assert costs.max() == pytest.approx(dearest, rel=1e-6)


def test_noisy_maxima_cost_twice_the_range():
    for noise, preset in (("laplace", "hu2021"), ("exponential", "wu2026"), ("gumbel", "wu2026-proofs")):
        for scale, factor in ((preset, 2), ("corrected", 1)):
            costs = trace.costs(traced(FTNL(0.3, noise, scale)), "outcomes")
            assert costs.max() == pytest.approx(factor * 0.3, rel=1e-6)


def test_local_exp4_with_an_expert_for_each_arm_is_local_exp3():
    losses = np.random.default_rng(1).random((30, 2))
    one = EXP4Local(0.5, 0.8, 0.1).play(losses, np.eye(2), 3)
    assert one.tolist() == LocallyPrivate(EXP3(0.8, 0.1), 0.5).play(losses, 3).tolist()


FAULTS = {
    "epsilon dropped": (
        lazy_ucb,
        "_play",
        "laplace(1 / epsilon, rng)) / size[j]",
        "laplace(1.0, rng)) / size[j]",
        AnytimeLazyUCB(0.5),
        2.0,
    ),
    "array released twice": (lazy_ucb, "_play", "            total[j] = 0.0\n", "", AnytimeLazyUCB(0.5), 2.0),
    "no noise": (
        lazy_ucb,
        "_play",
        "+ laplace(1 / epsilon, rng)) / size[j]",
        ") / size[j]",
        AnytimeLazyUCB(0.5),
        math.inf,
    ),
    "forgotten level": (
        hybrid_ucb,
        "_node_noise",
        "laplace(scale / (0.5 * settings.epsilon), rng)",
        "(laplace(scale / (0.5 * settings.epsilon), rng) if position % 2 == 0 else 0.0)",
        HybridUCB(0.5),
        math.inf,
    ),
    "reused epoch": (
        epochs,
        "_play",
        "        total[:] = 0.0\n",
        "        if start == 0:\n            total[:] = 0.0\n",
        FTNL(0.5),
        2.0,
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_ledger_notices(name):
    *fault, algorithm, factor = FAULTS[name]
    keep = "outcomes" if isinstance(algorithm, FTNL) else "numbers"
    before = vars(fault[0])[fault[1]]
    sound = trace.costs(traced(algorithm), keep).max()
    with trace.altered(*fault):
        faulty = trace.costs(traced(algorithm), keep).max()
    assert sound == pytest.approx(algorithm.privacy.proved, rel=1e-6)
    assert faulty >= factor * algorithm.epsilon * (1 - 1e-6)
    assert vars(fault[0])[fault[1]] is before and lazy_ucb.np is np  # all is as it was
    with pytest.raises(ValueError, match="once"), trace.altered(fault[0], fault[1], "no such text", ""):
        pass


def test_shared_noise_is_noticed_in_dp_se():
    algorithm, table = DPSE(0.5, 1.0), np.tile([0.6, 0.4], (716, 1))
    fault = (
        "for j in range(len(active)):\n            mean[j] = (mean[j] + laplace(1 / epsilon, rng)) / length",
        "mean = (mean + laplace(1 / epsilon, rng)) / length",
    )
    assert trace.costs(trace.traced(algorithm, table, 0), rounds=[0]).max() == pytest.approx(0.5)
    with trace.altered(dp_se, "_play", *fault):
        assert trace.costs(trace.traced(algorithm, table, 0), rounds=[0]).max() == math.inf


def test_what_is_kept_is_one_of_two():
    for call in (lambda: trace.costs(None, "number"), lambda: trace.moves(None, {}, "number")):
        refused(call, "keep must be one of 'numbers', 'outcomes', got 'number'")


# the search for an event


def test_a_searched_bound_is_sure_and_tight():
    """The first decision of Anytime-Lazy-UCB, whose loss is known; and nothing is found where there is nothing."""
    tables, epsilon = [np.zeros((3, 2)), np.array([[1.0, 0], [0, 0], [0, 0]])], 2.0
    truth = -math.log(math.exp(-epsilon) * (2 + epsilon) / 2)
    found = [audit.searched_loss(AnytimeLazyUCB(epsilon).play, tables, n, 0).value for n in (400, 4000, 40_000)]
    assert all(a < b for a, b in pairwise(found)) and truth - 0.15 < found[-1] < truth
    late = [np.zeros((3, 2)), np.array([[0.0, 0], [0, 0], [1, 1]])]
    assert audit.searched_loss(AnytimeLazyUCB(epsilon).play, late, 4000, 0).value == 0
