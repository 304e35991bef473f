"""Regret on a table of one's own: against `play` by hand, for rewards and for losses."""

import numpy as np
import pandas as pd
import pytest
from conftest import refused

from privregret import tables
from privregret.adversarial import HTINF, tuning
from privregret.bandits import UCB1, AnytimeLazyUCB, BanditAlgorithm
from privregret.core import streams
from privregret.core.algorithm import NOT_PRIVATE
from privregret.full_information import FTNL

REWARDS = np.random.default_rng(3).random((300, 3)) ** (1, 2, 3)
BANDITS, WITH_LOSSES = [AnytimeLazyUCB(2.0), UCB1()], [FTNL(1.0), HTINF(1.0)]


def curves(algorithms, **given):
    options = {"runs": 5, "seed": 7, "points": [10, 100], "workers": 1}
    return tables.regret_curves(algorithms, **options | given)


def by_hand(algorithm, seen, rewards):
    """Rows (run, t, regret) of five runs."""
    rows, key = [], streams.key("table", algorithm, seen)
    for run in range(5):
        actions = algorithm.play(seen, streams.generator(key, 7, run))
        for t in (10, 100, 300):
            gained = sum(rewards[s, actions[s]] for s in range(t))
            rows.append((run, t, max(rewards[:t].sum(axis=0)) - gained))
    return rows


@pytest.mark.parametrize("kind", ["rewards", "losses"])
def test_every_algorithm_plays_what_it_takes(kind):
    given = REWARDS if kind == "rewards" else 1 - REWARDS
    frame = curves([*BANDITS, *WITH_LOSSES], **{kind: given})
    for algorithm in (*BANDITS, *WITH_LOSSES):
        same = (algorithm in BANDITS) == (kind == "rewards")
        expected = by_hand(algorithm, given if same else 1 - given, REWARDS)
        own = frame[frame.algorithm == algorithm.label]
        np.testing.assert_allclose(own[["run", "t", "regret"]], expected, atol=1e-9)
    assert list(frame.columns[:5]) == ["algorithm", "instance", "run", "t", "regret"]
    assert set(frame.instance) == {"table"} and len(frame) == 4 * 5 * 3


def test_neither_workers_nor_company_nor_form_change_a_number_and_the_seed_does():
    frame = pd.DataFrame(REWARDS, columns=["a", "b", "c"])
    together = curves([*WITH_LOSSES, *BANDITS], rewards=frame, workers=2)
    alone, other = (curves(BANDITS[0], rewards=REWARDS, runs=3, seed=s).regret for s in (7, 8))
    own = together[(together.algorithm == BANDITS[0].label) & (together.run < 3)].regret
    np.testing.assert_array_equal(own, alone)
    assert (alone != other).any()


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({}, ["rewards", "losses"]),
        ({"rewards": REWARDS, "losses": REWARDS}, ["rewards", "losses"]),
        ({"rewards": REWARDS + 1}, ["rewards", "[0, 1]"]),
        ({"losses": [[0, 1], [0]]}, ["losses"]),
        ({"losses": [[0, 1]]}, ["losses", "(1, 2)"]),  # UCB1 pulls each arm once
        ({"rewards": REWARDS, "points": [301]}, ["points", "300", "301"]),
        ({"rewards": REWARDS, "workers": 0}, ["workers", "0"]),
        ({"rewards": REWARDS, "algorithms": [UCB1(), UCB1()]}, ["algorithms", "UCB1()"]),
        ({"rewards": REWARDS, "algorithms": tuning.batched_htinf_over_experts(1.0)}, ["advice"]),
    ],
)
def test_bad_tables(given, shown):
    refused(lambda: curves(**{"algorithms": UCB1()} | given), *shown)


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("a,b\n0,1\n0.5,0.5,0\n", ["line 3", 3, 2]),  # pandas would take it for an index
        ("a,b\n0,1\n\n0.5,\n", ["line 4", "column b", "[0, 1]", "''"]),
        ("a,b\n0.5,1.5\n0,0\n", ["line 2", "column b", "'1.5'"]),
        ("a,b\n0,1\n0.5\n", ["line 3", "column b", "[0, 1]", "''"]),
        ("a,b\n0,1\nnan,0\n", ["line 3", "column a", "[0, 1]", "'nan'"]),
        ('a,b\n0,"1\n0,0\n', ["string", "row 1"]),
        ("t, Action ,click\n0,1,0\n0,0,1\n1,1,1\n", ["Action"]),
        (",a,b\n0,0.5,1\n1,0,0\n", ["line 1", "index=False"]),
        ("0.1,0.2\n0.5,0.5\n0,0\n", ["line 1", "'0.1', '0.2'"]),
        ("a,b\n0,1\n", ["(1, 2)"]),
        ("", ["No columns"]),
        ("a,b\n0_1,0\n0,1\n", ["line 2", "column a", "'0_1'"]),
        ("a,b\n0,0\n0,1\n1,٠.٥\n", ["line 4", "column b", "[0, 1]"]),
        ("a;b\n0.1;0.2\n", ["line 1", "commas", "'a;b'"]),
        ("a;b\n0,1;0,2\n", ["line 2", "commas"]),
        ('a,b\n"0,5",1\n0,0\n', ["line 2", "'0,5'", "decimal"]),
        ("a, a\n0,1\n1,0\n", ["line 1", "'a', 'a'"]),
        ("a,caf\xe9\n0,1\n1,0\n".encode("latin-1"), ["UTF-8"]),
    ],
)
def test_a_file_that_is_no_table_is_refused_where_it_is_none(tmp_path, content, shown):
    path = tmp_path / "own.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    error = refused(lambda: tables.read(path), "own.csv", *shown, error=ValueError)
    assert ("index=False" in str(error)) == ("index=False" in shown)


def test_hints_help(tmp_path):
    path = tmp_path / "own.csv"
    pd.DataFrame(REWARDS).to_csv(path, index=False)
    error = refused(lambda: tables.read(path), "line 1", "'0', '1', '2'", "words")
    assert "index" not in str(error)
    refused(lambda: tables.read("nowhere.csv"), "nowhere.csv")
    log = pd.DataFrame({"arm": [0, 1, 1], "reward": [0, 1, 0]})
    refused(lambda: curves(UCB1(), rewards=log, points=1), "rewards", "'arm'")
    for names, column in (("arms,rewards", "arms"), ("t, Arm,loss", "Arm"), ("a,Reward", "Reward")):
        path.write_text(names + 3 * f"\n{','.join('1' for _ in names.split(','))}")
        refused(lambda: tables.read(path), "log", repr(column))


NAMES = "arm_1,arm_2", "a,loss_leader,c", "reward A,reward B", "x,y", "ads,clicks", "a,b,r"


@pytest.mark.parametrize("names", NAMES)
def test_a_file_is_read_as_it_was_written_and_names_of_arms_are_no_log(tmp_path, names):
    path, names = tmp_path / "own.csv", names.split(",")
    for values in (np.eye(3) > 0, REWARDS):
        frame = pd.DataFrame(values[:, : len(names)], columns=names)
        frame.rename(columns=lambda n: f" {n} ").to_csv(path, index=False)
        pd.testing.assert_frame_equal(tables.read(path), frame.astype(float), check_exact=True)


def test_tasks_are_made_when_they_are_due(monkeypatch):
    """Not all before the first."""

    def first(function, tasks, workers):
        assert next(tasks)[0] == UCB1()
        raise KeyboardInterrupt

    monkeypatch.setattr(tables, "map_tasks", first)
    with pytest.raises(KeyboardInterrupt):
        curves(UCB1(), rewards=REWARDS, runs=10**8)


def test_a_table_is_not_changed_and_an_arm_that_does_not_exist_is_no_play():
    def plays(play):
        words = {"id": "own", "label": "Own", "source": "nowhere", "privacy": NOT_PRIVATE}
        return type("Own", (BanditAlgorithm,), words | {"play": play})()

    with pytest.raises(ValueError):
        curves(plays(lambda self, rewards, rng: rewards.fill(0)), rewards=REWARDS.copy())
    missing = plays(lambda self, rewards, rng: np.full(len(rewards), -1))
    refused(lambda: curves(missing, rewards=REWARDS), "play", "-1")
