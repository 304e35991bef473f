"""The audit of privacy: the ledger read off the code, the search for an event, planted faults."""

import itertools
import math
import re
import warnings
from functools import partial

import numpy as np
import pytest
from cases import FIRST
from conftest import ROOT, refused

from privregret.adversarial import FTPL, SparseSwitch
from privregret.adversarial.tuning import batched_exp4
from privregret.bandits import UCB1, AnytimeLazyUCB, HybridUCB, hybrid_ucb
from privregret.companion import MarginStop, Votes, VotesOrLeader
from privregret.full_information import FTNL, EpochAlgorithm, NaiveFTNL
from privregret.privacy import audit, ledger
from privregret.privacy.adversarial import composed_delta
from privregret.studies import hu2021
from privregret.studies.asi2025 import lemma_15
from privregret.studies.privacy_audit import delta_of_scores, printed_gamma

pytestmark = pytest.mark.filterwarnings("ignore::privregret.privacy.ledger.NotHidden")
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


def reasoned(run, keep):
    """The dearest round of a run, and why it is not hidden, if it is not."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ledger.NotHidden)
        dearest = ledger.costs(run, keep).max()
    return dearest, "".join(f" ({warning.message})" for warning in caught)


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=repr)
def test_no_run_costs_more_than_is_proved(algorithm):
    """All algorithms of the project; outcomes cost no more than numbers."""
    run = traced(algorithm, rounds=8)
    limit = algorithm.privacy.proved * (1 + 1e-6)
    outcomes, why = reasoned(run, "outcomes")
    assert outcomes <= limit, (
        f"what {algorithm!r} compares and reveals costs {outcomes:.4g}, more than the "
        f"{algorithm.privacy.proved:.4g} of privacy.proved{why}. If it uses functions of losses "
        "that are no sums, which the ledger cannot follow, add its class to NOT_SUMS"
    )
    numbers, why = reasoned(run, "numbers")
    if not any(run.notes.upward):
        assert outcomes <= numbers * (1 + 1e-6) + 1e-9
    if not isinstance(algorithm, SELECTING) or isinstance(algorithm, NaiveFTNL):
        assert numbers <= limit, (
            f"the numbers that {algorithm!r} uses cost {numbers:.4g}, more than the "
            f"{algorithm.privacy.proved:.4g} of privacy.proved, and only which ones are larger "
            f"costs {outcomes:.4g}{why}. If its proof counts no more than that, as for noisy "
            "maxima and sparse vectors, add its class to SELECTING"
        )
    # FTPL's own perturbation hides something
    if math.isinf(limit) and not isinstance(algorithm, FTPL):
        assert run.notes.scales or math.isinf(outcomes) or getattr(algorithm, "real_losses", False)


@pytest.mark.parametrize("tree", ["lazy", *hybrid_ucb.TREES])
def test_the_ledger_is_the_described_one(tree):
    """Each reward costs at most what the description says; the dearest one just that."""
    algorithm, releases = AnytimeLazyUCB(0.7), hu2021.lazy_releases
    if tree != "lazy":
        algorithm, releases = HybridUCB(0.7, tree), partial(hu2021.hybrid_releases, tree=tree)
    run = traced(algorithm, rounds=25)
    costs, dearest = ledger.costs(run), 0.0
    for arm in (0, 1):
        pulls = np.flatnonzero(np.array(run.actions) == arm)
        described = 0.7 * hu2021.cost(releases(len(pulls)), len(pulls))
        assert (costs[pulls] <= described * (1 + 1e-6) + 1e-9).all()
        dearest = max(dearest, described.max())
    assert costs.max() == pytest.approx(dearest, rel=1e-6)


@pytest.mark.parametrize(
    ("kind", "preset"),
    [("laplace", "hu2021"), ("exponential", "wu2026"), ("gumbel", "wu2026-proofs")],
)
def test_noisy_maxima_cost_twice_the_range(kind, preset):
    for scale, factor in ((preset, 2), ("corrected", 1)):
        costs = ledger.costs(traced(FTNL(0.3, kind, scale)), "outcomes")
        assert costs.max() == pytest.approx(factor * 0.3, rel=1e-6)


def test_batched_exp4_is_private_with_the_largest_delta_of_its_proof():
    delta = math.exp(-0.5 / (6 * (1 - math.sqrt(2 / 3))))
    shift = 0.5 / (3 * math.sqrt(64 * math.log(1 / delta)))
    assert composed_delta(0.5, shift, 64, 2000) <= delta
    assert lemma_15(64, shift, delta) == pytest.approx(0.5)
    assert lemma_15(64, shift / 2, delta) < 0.5 < lemma_15(64, shift, delta / 2)


def test_the_scores_of_a_batch_reveal_what_simulated_scores_do():
    """Four experts, three of whom name the first of two arms."""
    low, high = delta_of_scores(0.5, 0.999, 0.4, (3, 1), 4000)
    rng, revealed = np.random.default_rng(1), []
    for count, q in ((3, 0.65), (1, 0.35)):
        scale = 3 * 2 * math.sqrt(4 * math.log(1 / 0.999)) / (0.4 * 0.5)
        noise = rng.laplace(0, scale, (100_000, count))
        loss = (np.abs(noise + 1 / q) - np.abs(noise)).sum(axis=1) / scale
        revealed.append(q * np.maximum(0, -np.expm1(0.5 - loss)).mean())
    assert low <= high < low + 0.002 and sum(revealed) == pytest.approx(high, abs=0.004)


def test_the_mixing_of_theorem_10_near_delta_1():
    """It is that of `tuning`, which rounds tau up. At a horizon where it is small, the scores are
    private whatever the experts say: three of four arms may be played with probability below 0.1,
    and for the others a score moves by at most 10 / tau."""
    for setting in ((10**6, 4, 16, 0.5, 1e-6), (10**11, 4, 16, 1.0, 1e-6)):
        assert printed_gamma(*setting) == pytest.approx(batched_exp4(*setting).gamma, rel=1e-3)
    gamma = printed_gamma(10**11, 4, 256, 0.5, 0.9999)
    moved = 10 * gamma * 0.5 / (3 * 4 * math.sqrt(256 * math.log(1 / 0.9999)))
    assert 0.3 + composed_delta(0.5, moved, 256) < 0.9999


def test_more_entries_than_corners_are_added_up():
    """Twelve losses of a round, each of which moves one of twelve noisy sums."""
    table = np.random.default_rng(0).integers(2, size=(14, 12)).astype(float)
    run = ledger.traced(FTNL(0.5), table, 0)
    assert ledger.costs(run, "outcomes", [1]).max() >= 0.5 * (1 - 1e-9)


# two arms and three rounds, the last of which is the first to be decided
SAME, LOW, HIGH = np.array([[[x, 0.0], [0.0, 1.0], [0.0, 0.0]] for x in (0.5, 0.0, 1.0)])


@pytest.mark.parametrize(("algorithm", "scale"), [(AnytimeLazyUCB, 1), (HybridUCB, 2)])
@pytest.mark.parametrize("event", [lambda actions: actions[2] == 0, None])
def test_the_audit_finds_the_true_loss(algorithm, scale, event):
    """Noise of scale 1 / e: the lead goes from -1 to 0, P from exp(-e) (2 + e) / 4 to 1 / 2."""
    play, epsilon = algorithm(2.0).play, 2.0
    e = epsilon / scale
    truth = -math.log(math.exp(-e) * (2 + e) / 2)
    few, many = (audit.searched_loss(play, (LOW, HIGH), n, 0, event=event) for n in (400, 4000))
    # a searched event is measured by half of the plays
    least = max(0, truth - (0.35 if event else 0.5))
    assert few.value <= many.value and least <= many.value <= truth <= epsilon
    none = audit.searched_loss(play, (LOW, LOW + np.outer((0, 0, 1), (1, 1))), 500, 0, event=event)
    assert not none.evidence and none.value == 0 and "no evidence" in str(none)


@pytest.mark.parametrize("runs", [4, 30, 1000])
@pytest.mark.parametrize("failure", [1e-2, 1e-6])
def test_the_audit_is_as_sure_as_it_says(runs, failure):
    """Always against never in n plays: limits a^(1/n) and 1 - a^(1/n), a = failure / 8."""
    sure = (failure / 8) ** (1 / runs)
    wanted = max(0, math.log(sure / (1 - sure))), 0
    # an algorithm that plays the reward itself
    given = (lambda rewards, rng: rewards[:, 0].astype(int)), (SAME, HIGH), runs, 0, failure
    for t, value in enumerate(wanted):
        found = audit.searched_loss(*given, lambda actions, t=t: actions[t] == 1).value
        assert found == pytest.approx(value)


@pytest.mark.parametrize("runs", [5, 31, 1000])
@pytest.mark.parametrize("failure", [1e-2, 1e-6])
def test_a_searched_loss_has_a_quarter_of_the_failures_for_each_limit(runs, failure):
    """Always against never, in the half of the plays that measures."""
    sure = (failure / 4) ** (1 / (runs - runs // 2))
    play = lambda rewards, rng: rewards[:, 0].astype(int)  # noqa: E731
    found = audit.searched_loss(play, (LOW, HIGH), runs, 0, failure)
    assert found.value == pytest.approx(max(0, math.log(sure / (1 - sure))))


def test_what_chooses_the_event_does_not_measure_it(monkeypatch):
    """Rounds by a quarter of the plays for the event and a quarter for them; then it by half."""
    calls, shown = [], audit._shown

    def noted(samples, rounds, first, level):
        calls.append([len(samples[0]), first, level, [actions[-1] for actions in samples[0]]])
        return shown(samples, rounds, first, level)

    count = itertools.count()
    play = lambda table, rng: np.array([0, 0, next(count) % 100])  # noqa: E731
    monkeypatch.setattr(audit, "_shown", noted)
    audit.searched_loss(play, (LOW, HIGH), 100, 0, 0.1)
    *choices, last = calls[: len(calls) // 2]
    assert last == [100, 50, 0.025, [*range(100)]] and len(choices) == 3
    assert all(choice == [50, 25, 0.025, [*range(50)]] for choice in choices)


def test_arguments_of_audits():
    tables, two = np.zeros((2, 3, 2)), np.outer((0, 1, 1), (1, 1))
    tables[1, 0, 0] = 1
    for failure in (20, math.nan, -1, 0, 1, "0.1"):
        refused(partial(audit.searched_loss, UCB1().play, tables, 10, 0, failure), "failure")
    refused(partial(audit.searched_loss, UCB1().play, tables, 1, 0), "runs")
    # neighbours only
    for shown, other in {0: tables[0], 2: two, "(4, 3)": np.zeros((4, 3))}.items():
        wrong = partial(audit.searched_loss, UCB1().play, (tables[0], other), 10, 0)
        refused(wrong, "tables", shown)
    refused(lambda: ledger.costs(None, "number"), "keep", "'numbers'", "'outcomes'", "'number'")
    refused(lambda: ledger.traced(UCB1(), [[0, 1], [2, 0]], 0), "table", "2.0")


def test_the_documented_search_finds_a_quarter_of_the_noise(monkeypatch, capsys):
    """That of docs/python.md, with a quarter of its runs, on noise for 4 passed off as for 1."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text(), re.S)
    (code,) = [block for block in blocks if "searched_loss" in block]
    code = re.sub(r"^algorithm = .*$", "", code, flags=re.M).replace("20_000", "5_000")
    found, search = [], audit.searched_loss

    def noted(*given, **named):
        found.append(search(*given, **named))
        return found[-1]

    monkeypatch.setattr(audit, "searched_loss", noted)
    exec(code, {"algorithm": AnytimeLazyUCB(4.0)})
    assert len(found) == 2
    for each in found:
        assert each.evidence and 1.5 < each.value < 4 and f"{each.value:.3f}" in str(each)
    assert "costs at most 4.0" in capsys.readouterr().out
