"""Replicates: the same numbers however they are run, streams of their own, and a tidy table."""

import math
import pickle
import tracemalloc
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from conftest import refused
from pandas.testing import assert_frame_equal

from privregret import estimates, exact, instances, simulate
from privregret.adversarial import tuning
from privregret.bandits import DPSE, UCB1, AnytimeLazyUCB, BanditAlgorithm, HybridUCB
from privregret.core import checks, tasks
from privregret.core.algorithm import NOT_PRIVATE
from privregret.full_information import FTNL, RandomPrefixSoftmax
from privregret.instances import HU2021_2, HU2021_3, BernoulliBandit
from privregret.simulate import checkpoints, regret_curves, regret_summary, worst_problem

ALGORITHMS = [AnytimeLazyUCB(0.5), HybridUCB(8.0, "scaled"), DPSE(1.0), UCB1()]
LOSSES = instances.packing(3, 0.2)
RUNS = 139  # in blocks of 64 and of 4, the last of them not full


def called(function, algorithms=ALGORITHMS, problems=HU2021_2, **options):
    given = {"horizon": 2000, "runs": RUNS, "seed": 7, "points": 20, "workers": 1}
    return function(algorithms, problems, **given | options)


curves, summarised = partial(called, regret_curves), partial(called, regret_summary)


def part(frame, algorithm, problem=HU2021_2):
    """One algorithm's numbers on one problem in a table of several."""
    own = (frame.algorithm == algorithm.label) & (frame.instance == problem.name)
    if hasattr(algorithm, "epsilon"):
        own &= frame.epsilon == algorithm.epsilon
    return frame.loc[own, ["instance", "run", "t", "regret"]].reset_index(drop=True)


def test_a_curve_depends_on_nothing_but_itself():
    alone = {a: part(curves([a]), a) for a in ALGORITHMS}
    for company in (ALGORITHMS[::-1], [AnytimeLazyUCB(4.0), *ALGORITHMS[2:], *ALGORITHMS[:2]]):
        together = curves(company, [HU2021_3, HU2021_2])
        for algorithm, own in alone.items():
            assert_frame_equal(part(together, algorithm), own, check_exact=True)
        order = [(p.name, a.label) for p in (HU2021_3, HU2021_2) for a in company]
        assert [*zip(together.instance, together.algorithm, strict=True)][:: RUNS * 20] == order


@dataclass(frozen=True)
class Alternate(BanditAlgorithm):
    """Plays arm 0 in the first `first` rounds, arm 1 from then on."""

    first: int
    id, label, source, privacy = "alternate", "Alternate", "nowhere", NOT_PRIVATE

    def play(self, rewards, rng):
        return np.where(np.arange(len(rewards)) < self.first, 0, 1)


def test_the_table_is_tidy():
    instance = BernoulliBandit("two arms", (0.25, 0.75))
    frame = curves(
        [Alternate(4), Alternate(0)], instance, horizon=10, runs=2, points=np.uint8([2, 6])
    )
    expected = pd.DataFrame(
        {
            "algorithm": "Alternate",
            "instance": "two arms",
            "run": [0, 0, 0, 1, 1, 1] * 2,
            "t": [2, 6, 10] * 4,
            "regret": [1.0, 2.0, 2.0] * 2 + [0.0] * 6,
            "heavy": False,
            "first": [4] * 6 + [0] * 6,
            "proved_epsilon": math.inf,
        }
    )
    assert_frame_equal(frame, expected, check_exact=True)


def test_a_comparison_at_one_epsilon_shows_what_is_proved():
    """As printed Hybrid-UCB is proved to be 1.5 epsilon-DP, the softmax has its cap."""
    given = {"horizon": 20, "runs": 1, "points": 1}
    assert curves([HybridUCB(1.0), UCB1()], **given).proved_epsilon.tolist() == [1.5, math.inf]
    learners = [RandomPrefixSoftmax(1.0), FTNL(1.0, scale="hu2021")]
    for frame in (curves(learners, LOSSES, **given), exact.regret_curves(learners, LOSSES, 20)):
        assert frame.proved_epsilon.tolist() == [0.25, 2.0] and (frame.epsilon == 1).all()


@pytest.mark.parametrize("runs", [1, 19, 1000])
def test_a_summary_without_the_runs(runs):
    several = {"problems": [HU2021_2, HU2021_3], "horizon": 300, "runs": runs}
    expected = estimates.means(frame := curves(**several), ["instance", "algorithm", "t"])
    found = summarised(**several)
    kept = ["mean", "sd", "se", "runs", "heavy"]
    assert_frame_equal(found[["instance", "algorithm", "t", *kept]], expected, rtol=1e-9, atol=1e-9)
    ends = frame.groupby(["instance", "algorithm", "t"], sort=False).regret.agg(["min", "max"])
    assert (found[["least", "greatest"]].to_numpy() == ends.to_numpy()).all()
    known = ["algorithm", "instance", "t", *kept, "least", "greatest"]
    assert list(found) == [*known, *frame.columns[6:]]
    if runs == 1:
        assert found[["sd", "se"]].isna().all(axis=None)
        assert all(e.high == np.inf for e in estimates.rows(found))
    assert (found.index == np.arange(len(found))).all()


@pytest.mark.parametrize("seconds", [0.0, 100.0])
@pytest.mark.parametrize("call", [curves, summarised])
def test_the_size_of_tasks_changes_no_digit(call, monkeypatch, seconds):
    """From one block in a task to many, with one worker and with three, in entries of any size."""
    expected = call(runs=77)
    monkeypatch.setattr(tasks, "SECONDS", seconds)
    monkeypatch.setattr(tasks, "KEPT", seconds)
    for workers in (1, 3):
        assert_frame_equal(call(runs=77, workers=workers), expected, check_exact=True)


@pytest.mark.parametrize("call", [curves, summarised])
def test_a_killed_grid_point_resumes_and_more_runs_go_on(call, monkeypatch):
    shelf, played = {}, []

    def keep(path, content):
        shelf[path] = pickle.loads(content)

    def counted(*given, blocks=tasks._blocks):
        if len(played) == 9:
            raise KeyboardInterrupt
        played.append(given[4] - given[3])
        return blocks(*given)

    expected = {runs: call([UCB1()], runs=runs) for runs in (101, 103, 200)}
    monkeypatch.setattr(tasks, "KEPT", 0.0)
    monkeypatch.setattr(
        tasks.store,
        "paths_of",
        lambda _, several: [Path(repr(known).replace("/", "")) for known in several],
    )
    monkeypatch.setattr(tasks.store, "load", shelf.get)
    monkeypatch.setattr(tasks.store, "write", keep)
    monkeypatch.setattr(tasks, "_blocks", counted)
    monkeypatch.setattr(tasks, "SECONDS", 0.0)
    with pytest.raises(KeyboardInterrupt):
        call([UCB1()], runs=101)
    monkeypatch.setattr(tasks, "SECONDS", 100.0)
    # 26 blocks of 4, the last of them not full, and 50 blocks
    for runs, most in [(101, 26 - 8), (101, 0), (103, 1), (200, 50 - 25)]:
        played.clear()
        assert_frame_equal(call([UCB1()], runs=runs), expected[runs], check_exact=True)
        assert sum(played) <= most


def test_moments_do_not_lose_digits_beside_a_large_mean():
    regrets = 1e9 + np.random.default_rng(1).normal(size=(4096, 3))
    _, squares, least, _ = simulate.with_runs(None, 0, regrets)
    expected = ((regrets - regrets.mean(axis=0)) ** 2).sum(axis=0)
    np.testing.assert_allclose(squares, expected, rtol=1e-6)
    assert (least == regrets.min(axis=0)).all()


def test_memory_does_not_grow_with_the_runs(monkeypatch):
    """Of a summary; and curves take little more than their table."""
    monkeypatch.setattr(tasks, "BYTES", 2**18)

    def peak(call, runs):
        tracemalloc.start()
        result = call([DPSE(1.0)], horizon=1000, runs=runs, points=50)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found, result

    peak(summarised, 10), peak(curves, 10)
    assert peak(summarised, 64_000)[0] < 0.05 * (8 * 64_000 * 50)
    most, frame = peak(curves, 32_000)
    assert most < 1.5 * frame.memory_usage(index=False).sum()


@pytest.mark.parametrize("backend", ["multiprocessing", "sequential"])
def test_the_same_numbers_with_any_backend_of_joblib(backend):
    expected = curves(ALGORITHMS[2:], runs=5)
    with joblib.parallel_config(backend=backend):
        assert_frame_equal(curves(ALGORITHMS[2:], runs=5, workers=2), expected, check_exact=True)


def test_processes_that_lack_an_assignment_compute_nothing(monkeypatch):
    monkeypatch.setattr(UCB1, "version", "assigned", raising=False)
    with joblib.parallel_config(backend="loky"):
        with pytest.raises(simulate.ClusterError, match=r"other code for .*UCB1: use threads"):
            simulate.regret_curves(UCB1(), HU2021_2, 10, 8, seed=1, points=1, workers=2)


def test_hardest_measures_where_it_did_not_choose(monkeypatch):
    gaps = [instances.gap_adversary(3, gap) for gap in (0.0, 0.5, 0.01)]
    algorithm = tuning.batched_htinf(1.0)
    chosen, summary = [], simulate.regret_summary

    def noted(*given, **named):
        chosen.append(summary(*given, **named))
        return chosen[-1]

    monkeypatch.setattr(simulate, "regret_summary", noted)
    problem, sample = worst_problem(algorithm, gaps, 2000, 12, 3)
    assert problem is gaps[1]
    # by other runs than are reported, a quarter as many
    (found,) = chosen
    assert (found.runs == 3).all() and sample[:3].mean() != pytest.approx(found["mean"][1])
    again = regret_curves(algorithm, problem, 2000, 12, 3, points=1).regret
    np.testing.assert_array_equal(sample, again)
    refused(lambda: worst_problem([UCB1(), DPSE(1.0)], [HU2021_2], 100, 2, 1), "algorithm", "DPSE")


@dataclass(frozen=True)
class Tailed(Alternate):
    """Claims a power tail of this index."""

    index: float
    id = "tailed"

    def tail_index(self, problem):
        return self.index


def test_from_an_index_of_2_on_the_error_of_a_mean_is_known():
    """Below it the variance is infinite."""
    algorithms = [Tailed(4, index) for index in (0.5, 1.5, 1.99, 2.0, 2.1, math.inf)]
    heavy = [True] * 3 + [False] * 3
    given = {"algorithms": algorithms, "horizon": 10, "runs": 3, "points": 1}
    assert curves(**given).heavy[::3].tolist() == summarised(**given).heavy.tolist() == heavy


@pytest.mark.parametrize("horizon", [2, 10, 99, 2**22, 10**15])
def test_checkpoints_increase_from_one_to_the_horizon(horizon):
    for points in (1, 2, 3, 20, 200):
        rounds = checkpoints(horizon, points)
        assert points > 3 or len(rounds) == min(points, horizon)
        assert rounds[0] >= 1 and rounds[-1] == horizon and len(rounds) <= points + 1
        assert (np.diff(rounds) > 0).all()


CLAIMED = type("Claimed", (Alternate,), {"id": "claimed", "privacy": "private"})
NAMESAKE = type("Namesake", (Alternate,), {"id": "namesake", "label": DPSE.label})
TWO = BernoulliBandit(HU2021_2.name, (0.9, 0.5))


def test_points_are_whole_numbers_in_any_form():
    for points in ([5.0, 10], np.array([5.0, 10.0]), [5, np.float32(10)]):
        assert set(curves([DPSE(1.0)], runs=1, points=points).t) == {5, 10, 2000}
    for wrong in ([5.5, 10], [math.nan, 5], [math.inf], [2.0**60 + 2.0**8]):
        refused(lambda wrong=wrong: curves([DPSE(1.0)], runs=1, points=wrong), "points")


def test_a_problem_is_encoded_once(monkeypatch):
    """Not in each task: of many arms it takes as long as a task."""
    encoded, key = [], tasks.streams.key
    monkeypatch.setattr(tasks.streams, "key", lambda *of: encoded.append(of) or key(*of))
    monkeypatch.setattr(tasks, "SECONDS", 0.0)
    curves([UCB1(), DPSE(1.0)])
    assert len(encoded) == 2


@pytest.mark.parametrize(
    ("wrong", "shown"),
    [
        ({"algorithms": [DPSE(1.0), DPSE(1)]}, ["algorithms", "DPSE(epsilon=1.0"]),
        ({"algorithms": [DPSE(1.0), NAMESAKE(1)]}, ["algorithms", "Namesake", repr(DPSE.label)]),
        ({"algorithms": CLAIMED(1)}, ["privacy", "Claimed", "Privacy", "'private'"]),
        ({"algorithms": Alternate}, ["Alternate(...)"]),
        ({"problems": [HU2021_2, HU2021_3, TWO]}, ["problems", repr(HU2021_2.name)]),
        ({"horizon": checks.MAX_ROUNDS + 1}, ["horizon", "10000000000", "10000000001"]),
        ({"points": [0, 10]}, ["points", 1, 0]),
        ({"points": [10, 2001]}, ["points", 2000, 2001]),
    ],
)
def test_what_is_refused(wrong, shown):
    for call in (curves, summarised):
        refused(lambda call=call: call(**wrong), *shown)
