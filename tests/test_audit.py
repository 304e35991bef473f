"""The audit of privacy: the ledger read off the code, the search for an event, planted faults."""

import math
import re
from functools import partial

import numpy as np
import pytest
from cases import FIRST
from conftest import ROOT, refused

from privregret.adversarial import (
    FTPL,
    SparseSwitch,
)
from privregret.bandits import (
    DPSE,
    UCB1,
    AnytimeLazyUCB,
    BanditAlgorithm,
    HybridUCB,
    hybrid_ucb,
)
from privregret.companion import MarginStop, Votes, VotesOrLeader
from privregret.core import noise
from privregret.core.algorithm import Privacy, Steps
from privregret.core.jit import jit
from privregret.full_information import FTNL, EpochAlgorithm, NaiveFTNL
from privregret.privacy import audit, ledger
from privregret.privacy.adversarial import composed_delta
from privregret.studies import hu2021, privacy_audit

# the ledger read off the code

NOT_SUMS = Votes, VotesOrLeader, MarginStop  # use functions of the losses that are no sums
SELECTING = EpochAlgorithm, SparseSwitch  # noisy maxima and a sparse vector
ALGORITHMS = [
    case.algorithm
    for case in FIRST
    if getattr(case.algorithm, "epsilon", 1) < 1e6  # a solver has tolerances
    and not isinstance(case.algorithm, NOT_SUMS)
]


def traced(algorithm, seed=0, rounds=20):
    table = np.random.default_rng(seed).integers(2, size=(rounds, 2)).astype(float)
    return ledger.traced(algorithm, table, seed)


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=repr)
def test_no_run_costs_more_than_is_proved(algorithm):
    """All algorithms of the project; outcomes cost no more than numbers."""
    run = traced(algorithm, rounds=8)
    outcomes = ledger.costs(run, "outcomes").max()
    limit = algorithm.privacy.proved * (1 + 1e-6)
    assert outcomes <= limit
    if not any(run.notes.upward):
        assert outcomes <= ledger.costs(run).max() * (1 + 1e-6) + 1e-9
    if not isinstance(algorithm, SELECTING) or isinstance(algorithm, NaiveFTNL):
        assert ledger.costs(run).max() <= limit
    # FTPL's own perturbation hides something
    if math.isinf(limit) and not isinstance(algorithm, FTPL):
        assert run.notes.scales or math.isinf(outcomes) or getattr(algorithm, "real_losses", False)


@pytest.mark.parametrize("learner", [Votes(30.0), VotesOrLeader(30.0), MarginStop(4.0)], ids=repr)
def test_functions_of_losses_that_are_no_sums_cost_the_ledger_everything(learner):
    """It proves nothing of them, and says so."""
    assert math.isinf(ledger.costs(traced(learner, rounds=12)).max())


@pytest.mark.parametrize("tree", hybrid_ucb.TREES)
def test_ledger_of_hybrid_is_the_described_one(tree):
    """Each reward costs at most what its description says; the dearest one just that."""
    run = traced(HybridUCB(0.7, tree), rounds=25)
    costs, dearest = ledger.costs(run), 0.0
    for arm in (0, 1):
        pulls = np.flatnonzero(np.array(run.actions) == arm)
        described = 0.7 * hu2021.cost(hu2021.hybrid_releases(len(pulls), tree), len(pulls))
        assert (costs[pulls] <= described * (1 + 1e-6) + 1e-9).all()
        dearest = max(dearest, described.max())
    assert costs.max() == pytest.approx(dearest, rel=1e-6)


PRESETS = [("laplace", "hu2021"), ("exponential", "wu2026"), ("gumbel", "wu2026-proofs")]


@pytest.mark.parametrize(("kind", "preset"), PRESETS)
def test_noisy_maxima_cost_twice_the_range(kind, preset):
    for scale, factor in ((preset, 2), ("corrected", 1)):
        costs = ledger.costs(traced(FTNL(0.3, kind, scale)), "outcomes")
        assert costs.max() == pytest.approx(factor * 0.3, rel=1e-6)


def test_shared_noise_is_noticed_in_dp_se():
    table = np.tile([0.6, 0.4], (716, 1))
    for kind, cost in ((DPSE, 0.5), (privacy_audit.FAULTS["noise shared by arms"], math.inf)):
        run = ledger.traced(kind(0.5, 1.0), table, 0)
        assert ledger.costs(run, rounds=[0]).max() == pytest.approx(cost)


def test_children_instead_of_a_root():
    """The other reading of the tree costs epsilon once."""
    algorithm = privacy_audit.HybridChildren(0.5)
    assert ledger.costs(traced(algorithm)).max() == pytest.approx(0.5)


def test_batched_exp4_is_private_with_the_largest_delta_of_its_proof():
    delta = math.exp(-0.5 / (6 * (1 - math.sqrt(2 / 3))))
    shift = 0.5 / (3 * math.sqrt(64 * math.log(1 / delta)))
    assert composed_delta(0.5, shift, 64, 2000) <= delta


# the ledger of algorithms in plain Python


class Own(BanditAlgorithm):
    """Pulls two arms three times each, releases their sums, and plays the larger."""

    id, label, source, privacy = "own", "own", "a test", Privacy(0.5, 0.5)

    def release(self, total, rng):
        return total + noise.laplace(2.0, rng)

    def memory(self, arms):
        return [0.0] * arms

    def start(self, arms, rng, horizon=None):
        return OwnLearner(self, arms, np.random.default_rng(rng))


class OwnLearner:
    def __init__(self, algorithm, arms, rng):
        self.algorithm, self.rng, self.arms, self.t = algorithm, rng, arms, 0
        self.sums, self.best = algorithm.memory(arms), 0

    def choose(self):
        return self.t % self.arms if self.t < 6 else self.best

    def observe(self, reward):
        arm, self.t = self.choose(), self.t + 1
        self.sums[arm] = self.sums[arm] + reward if self.t <= 6 else self.sums[arm]
        if self.t == 6:
            self.best = int(np.argmax([self.algorithm.release(s, self.rng) for s in self.sums]))


WAYS = {
    "noise.laplace": lambda self, total, rng: total + noise.laplace(2.0, rng),
    "around the sum": lambda self, total, rng: rng.laplace(total, scale=2.0),
    "an array": lambda self, total, rng: total + rng.laplace(scale=2.0, size=3)[1],
    "other random numbers, too": lambda self, total, rng: (
        rng.permutation(2)[0] * 0 + total + rng.laplace(0, 2.0) + 0 * rng.beta(2.0, 3.0)
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_ledger_of_plain_python(way, monkeypatch):
    monkeypatch.setattr(Own, "release", WAYS[way])
    if way == "an array":
        monkeypatch.setattr(Own, "memory", lambda self, arms: np.zeros(arms, object))
    run = traced(Own(), rounds=8)
    table = np.random.default_rng(0).integers(2, size=(8, 2))
    assert list(run.actions) == Own().play(table, 0).tolist()
    assert ledger.costs(run) == pytest.approx([0.5] * 6 + [0, 0])


def test_faults_of_plain_python(monkeypatch):
    monkeypatch.setattr(Own, "release", lambda self, total, rng: total + noise.laplace(1.0, rng))
    assert ledger.costs(traced(Own(), rounds=8)).max() == pytest.approx(1.0)
    monkeypatch.setattr(Own, "release", lambda self, total, rng: total)
    assert ledger.costs(traced(Own(), rounds=8)).max() == math.inf
    monkeypatch.setattr(Own, "release", lambda self, total, rng: total + rng.exponential(2.0))
    run = traced(Own(), rounds=8)
    assert all(run.notes.upward) and ledger.costs(run, "outcomes").max() == pytest.approx(0.5)


def test_what_the_ledger_cannot_follow_is_said_in_a_line(monkeypatch):
    monkeypatch.setattr(Own, "release", lambda self, total, rng: total + rng.standard_normal())
    refused(lambda: traced(Own()), "noise.laplace", "rng.laplace", "Own", "rng.standard_normal")
    monkeypatch.setattr(Own, "memory", lambda self, arms: np.zeros(arms))
    refused(lambda: traced(Own()), "Own", "object")
    refused(lambda: ledger.costs(None, "number"), "keep", "'numbers'", "'outcomes'", "'number'")
    refused(lambda: ledger.traced(UCB1(), [[0, 1], [2, 0]], 0), "table", "2.0")


# the search for an event


def test_a_searched_bound_is_sure_and_tight():
    """The first decision of Anytime-Lazy-UCB, whose loss is known; and nothing is found where there
    is nothing."""
    tables, epsilon = [np.zeros((3, 2)), np.array([[1.0, 0], [0, 0], [0, 0]])], 2.0
    truth = -math.log(math.exp(-epsilon) * (2 + epsilon) / 2)
    play = AnytimeLazyUCB(epsilon).play
    few, many = (audit.searched_loss(play, tables, n, 0).value for n in (400, 4000))
    assert few < many and truth - 0.5 < many < truth
    late = [np.zeros((3, 2)), np.array([[0.0, 0], [0, 0], [1, 1]])]
    assert audit.searched_loss(play, late, 1000, 0).value == 0


def test_the_search_takes_neighbours_only():
    table, two = np.zeros((5, 2)), np.outer((0, 1, 1, 0, 0), (1, 1))
    wrong = {"0": table, "2": two, "(5, 3)": np.zeros((5, 3)), "(6, 2)": np.zeros((6, 2))}
    for shown, other in wrong.items():
        call = partial(audit.searched_loss, UCB1().play, (table, other), 10, 0)
        refused(call, "tables", shown)


@jit
def explore(arms, state, settings, t, rng):
    if t <= 20:
        return int(rng.random() * len(arms))
    if t == 21:
        best = -math.inf
        for j in range(len(arms)):
            noisy = arms[j]["total"] + noise.laplace(settings[0], rng)
            if noisy > best:
                best, state["best"] = noisy, j
    return state["best"]


@jit
def add(arms, state, settings, t, j, reward, rng):
    if t <= 20:
        arms[j]["total"] += reward


class Explorer(BanditAlgorithm):
    """Plays at random for 20 rounds, then the arm with the largest noisy sum; 1-DP."""

    id, label, source, privacy, scale = "explorer", "explorer", "a test", Privacy(1.0, 1.0), 1.0
    steps = Steps(np.dtype([("total", float)]), np.dtype([("best", np.int64)]), explore, add)

    def settings(self, horizon, arms):
        return (self.scale,)


class Careless(Explorer):
    """Planted fault: half of the noise."""

    scale = 0.5


def recipe(algorithm, monkeypatch):
    """What the search of docs/python.md finds in an algorithm."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text(), re.S)
    (code,) = [block for block in blocks if "searched_loss" in block]
    found, search = [], audit.searched_loss

    def noted(*given, **named):
        found.append(search(*given, **named))
        return found[-1]

    with monkeypatch.context() as patch:
        patch.setattr(audit, "searched_loss", noted)
        exec(re.sub(r"^algorithm = .*$", "", code, flags=re.M), {"algorithm": algorithm})
    return found


def test_the_documented_search_finds_half_of_the_noise(monkeypatch, capsys):
    sound, careless = recipe(Explorer(), monkeypatch), recipe(Careless(), monkeypatch)
    assert 0 < max(found.value for found in sound) < 1 < max(found.value for found in careless)
    # tables that end before the rewards are used
    for found in (sound[0], careless[0]):
        assert not found.evidence and found.value == 0 and "no evidence" in str(found)
    assert careless[-1].evidence and f"{careless[-1].value:.3f}" in str(careless[-1])
    assert "costs at most 1.0" in capsys.readouterr().out


def test_arguments_of_audits():
    tables = [np.zeros((3, 2)), np.array([[1.0, 0], [0, 0], [0, 0]])]
    for failure in (20, math.nan, -1, 0, 1, "0.1"):
        refused(partial(audit.searched_loss, UCB1().play, tables, 10, 0, failure), "failure")
    refused(partial(audit.searched_loss, UCB1().play, tables, 1, 0), "runs")


def test_comparisons_of_rewards_are_counted():
    class Counting(AnytimeLazyUCB):
        @staticmethod
        def _observe(arms, state, settings, t, j, reward, rng):
            AnytimeLazyUCB.steps.observe.py_func(arms, state, settings, t, j, reward > 0.5, rng)

        steps = AnytimeLazyUCB.steps._replace(observe=_observe.__func__)

    assert ledger.costs(traced(Counting(0.5))).max() == pytest.approx(0.5)


def test_more_entries_than_corners_are_added_up():
    """Twelve losses of a round, each of which moves one of twelve noisy sums."""
    table = np.random.default_rng(0).integers(2, size=(14, 12)).astype(float)
    run = ledger.traced(FTNL(0.5), table, 0)
    assert ledger.costs(run, "outcomes", [1]).max() >= 0.5 * (1 - 1e-9)
