"""A sweep: what a grid stands for, and the same files however it was run, killed, or damaged."""

import os
import re
import signal
import subprocess
import sys
import tomllib
import tracemalloc

import pandas as pd
import pytest
from conftest import ROOT, refused

from privregret import __main__ as command
from privregret import checks, simulate, sweep
from privregret.press import draw

TEXT = """\
horizons = [1e3, 2e4]
epsilons = [0.25, 1]
runs = 40
seed = 7
points = 10
instances = ["HU2021_2", {name = "two arms", means = [0.6, 0.5]}]

[[algorithms]]
name = "AnytimeLazyUCB"

[[algorithms]]
name = "DPIMED"
n0 = [1, 13]

[[algorithms]]
name = "UCB1"
"""
TABLE = tomllib.loads(TEXT)
GRID = sweep.grid(TABLE)
CELLS = 2 * (2 + 2 * 2 + 1) * 2
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT / "src")}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The folder of a sweep that nothing happened to, with one worker."""
    folder = tmp_path_factory.mktemp("undisturbed")
    sweep.run(GRID, folder, workers=1)
    return folder


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*.parquet")}


def copied(folder, to):
    for name, content in contents(folder).items():
        (to / name).write_bytes(content)
    return to


def ran(capsys):
    """How many cells the last sweep ran, of those that it did not have."""
    lines = capsys.readouterr().out.splitlines()
    count, kept = map(int, re.match(r"(\d+) cells, of which (\d+) are in ", lines[0]).groups())
    assert len(lines) - 1 == count - kept
    return count - kept


# What a grid stands for ---------------------------------------------------------------------------------------


def test_lists_span_the_grid_and_epsilons_go_where_there_is_one():
    cells = [(c.problem.name, repr(c.algorithm), c.horizon) for c in GRID.cells]
    assert len(set(cells)) == CELLS and (GRID.runs, GRID.seed, GRID.points) == (40, 7, 10)
    first = [str(cell) for cell in GRID.cells if cell.problem.name == "two arms" and cell.horizon == 1000]
    assert first == [
        f"{made} on two arms, T = 1000"
        for made in (
            "AnytimeLazyUCB(epsilon=0.25)",
            "AnytimeLazyUCB(epsilon=1.0)",
            "DPIMED(epsilon=0.25)",
            "DPIMED(epsilon=0.25, n0=13)",
            "DPIMED(epsilon=1.0)",
            "DPIMED(epsilon=1.0, n0=13)",
            "UCB1()",
        )
    ]


def test_an_algorithm_may_have_epsilons_of_its_own_and_see_all_losses():
    full = {
        "algorithms": [{"name": "FTNL", "noise": ["laplace", "gumbel"], "epsilon": 4}, "RandomPrefixSoftmax"],
        "instances": [{"name": "mine", "losses": [0.25, 0.5]}, "TWO_ACTION_FIXED"],
    }
    cells = sweep.grid(TABLE | full).cells
    assert [c.algorithm.epsilon for c in cells if c.horizon == 1000 and c.problem.name == "mine"] == [4, 4, 0.25, 1]
    assert cells[0].problem.outcomes == ((0.25, 0.5),) and cells[0].problem.bits


def test_the_order_of_an_entry_s_keys_is_free():
    assert sweep.grid(TABLE | {"instances": ["HU2021_2", {"means": [0.6, 0.5], "name": "two arms"}]}) == GRID


def altered(**changes):
    return {key: value for key, value in (TABLE | changes).items() if value is not None}


BAD = [
    (altered(algorithms=["DPSEE"]), "algorithms[0].name must be one of", "'DPSE'", "'DPSEE'"),
    (altered(algorithms=["BanditAlgorithm"]), "must be one of", "got 'BanditAlgorithm'"),
    (altered(algorithms=[{"name": "DPSE", "betta": 0.5}]), "parameter of DPSE", "'beta'", "got 'betta'"),
    (altered(algorithms=[{"name": "UCB1", "c": 2}]), "parameter of UCB1", "got 'c'"),
    (altered(algorithms=[{"name": "DPSE", "beta": -1}]), "algorithms[0], DPSE: beta must be", "got -1"),
    (altered(algorithms=[{"name": "DPSE", "beta": []}]), "algorithms[0].beta", "at least 1", "got []"),
    (altered(algorithms=[{"name": "DPSE", "beta": [[0.5]]}]), "algorithms[0].beta[0]", "got [0.5]"),
    (altered(algorithms=[{"name": "DPIMED", "n0": list(range(1, 200_000))}]), "at most 100000 cells"),
    (altered(algorithms=["UCB1", "UCB1"]), "algorithms must not hold anything twice, got UCB1() again"),
    (altered(algorithms=["FTNL"]), "FTNL (Laplace) plays problems of type StochasticLosses, got BernoulliBandit"),
    (altered(algorithms=[{"epsilon": 1}]), "algorithms[0] must be a name, or a table with a name"),
    (altered(algorithms=[{"name": 3}]), "algorithms[0] must be a name"),
    (altered(algorithms="UCB1"), "algorithms must be a list of at least 1", "got 'UCB1'"),
    (altered(algorithms=[]), "algorithms must be a list of at least 1", "got []"),
    (altered(epsilons=None, algorithms=["DPSE"]), "algorithms[0], DPSE: missing a required argument: 'epsilon'"),
    (altered(epsilons=[1, 0]), "epsilons[1] must be a finite number above 0, got 0"),
    (altered(epsilons=[]), "epsilons must be a list of at least 1 value, got []"),
    (altered(epsilons=0.5), 'epsilons must be a list, such as "[0.5]", got 0.5'),
    (altered(epsilons=0), "epsilons must be a list", "got 0"),
    (altered(instances=["HU2021_9"]), "instances[0].name must be one of", "'HU2021_2'", "got 'HU2021_9'"),
    (altered(instances=[{"name": "x", "means": [0.5]}]), "instances[0]: means must be a list of at least 2"),
    (altered(instances=[{"name": "x", "means": [0.5, 1.5]}]), "instances[0]: means must lie in [0, 1], got 1.5"),
    (altered(instances=[{"name": "x", "losses": "high"}]), "instances[0]: losses must be", "got 'high'"),
    (altered(instances=[{"name": "x", "gap": 0.1}]), "instances[0] must have a name and", "'gap': 0.1"),
    (altered(instances=["HU2021_2", "HU2021_2"]), "instances must not hold anything twice, got setting 2 again"),
    (altered(horizons=[4]), "the horizon of AnytimeLazyUCB on setting 2 must be at least 5, got 4"),
    (altered(algorithms=["DPSE", "UCB1"], horizons=[10**12]), "the horizon of UCB1 on setting 2", "10000000000"),
    (altered(horizons=[2**63]), f"horizons[0] must be at most {checks.LARGEST}, got 9223372036854775808"),
    (altered(horizons=[]), "horizons must be a list of at least 1 value, got []"),
    (altered(runs=1e12), "runs must be at most 100000000, got "),
    (altered(runs=0), "runs must be at least 1, got 0"),
    (altered(runs=float("nan")), "runs must be a whole number, got nan"),
    (altered(runs=True), "runs must be a whole number, got True"),
    (altered(runs=None), "runs is missing"),
    (altered(seed=None), "seed is missing"),
    (altered(seed=-1), "seed must be at least 0, got -1"),
    (altered(points=10**6), "points must be at most 10000, got 1000000"),
    (altered(run=3), "a key of the grid must be one of", "'runs'", "got 'run'"),
    ({}, "algorithms is missing"),
]


@pytest.mark.parametrize(("table", "shown"), [(table, shown) for table, *shown in BAD])
def test_bad_grids(table, shown):
    refused(lambda: sweep.grid(table), *shown)


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"runs = ", "Invalid value"),
        (b"\xff\xfe", "can't decode"),
        (b"runs = 3\nruns = 4", "overwrite"),
        (b"runs = " + b"[" * 5000, "grid.toml"),
        (None, "No such file"),
        (TEXT.replace("[0.25, 1]", "[0, 1]").encode(), "epsilons[0] must be a finite number above 0, got 0"),
    ],
)
def test_a_file_that_is_no_grid_gets_one_line_before_any_work(tmp_path, capsys, content, shown):
    path = tmp_path / "grid.toml"
    if content is not None:
        path.write_bytes(content)
    assert command.main(["sweep", str(path)]) == command.USAGE
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and err.startswith("error: ") and str(path) in err and shown in err
    assert set(tmp_path.iterdir()) <= {path}


def test_other_bad_words(tmp_path, capsys, monkeypatch):
    path = tmp_path / "grid.toml"
    path.write_text(TEXT)
    for words, shown in (
        (["-j", "0"], "-j must be at least 1, got 0"),
        (["--scheduler", "tcp://127.0.0.1:9"], "no Dask scheduler at 'tcp://127.0.0.1:9'"),
        (["--output", str(path)], "File exists"),
    ):
        assert command.main(["sweep", str(path), *words]) == command.USAGE
        err = capsys.readouterr().err
        assert err.count("\n") == 1 and shown in err
        assert list(tmp_path.iterdir()) == [path]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "privregret.sweep")
    monkeypatch.delattr("privregret.sweep")
    assert command.main(["sweep", str(path)]) == command.USAGE
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "pyarrow" in said and "privregret[sweep]" in said


# Kept, or run again -------------------------------------------------------------------------------------------


def start(path, *words):
    line = [sys.executable, "-m", "privregret", "sweep", str(path), "-j", "1", *map(str, words)]
    return subprocess.Popen(line, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_a_killed_sweep_goes_on_to_the_same_files(tmp_path, undisturbed):
    (tmp_path / "grid.toml").write_text(TEXT)
    folder, kept = tmp_path / "grid", {}
    for end, code, last in ((signal.SIGKILL, -signal.SIGKILL, ""), (signal.SIGTERM, 130, "finished cells are kept")):
        process = start(tmp_path / "grid.toml")
        for _ in range(6):  # what there is already, and five cells
            said = process.stdout.readline()
        assert re.match(rf"\[{len(kept) + 5}/{CELLS}\] \d\d:\d\d, about \d\d:\d\d left: ", said), said
        process.send_signal(end)
        assert last in process.communicate()[0] and process.returncode == code
        now = {path: path.stat().st_mtime_ns for path in folder.glob("*.parquet")}
        assert kept.items() <= now.items() and len(kept) + 5 <= len(now) < CELLS
        kept = now
    process = start(tmp_path / "grid.toml")
    assert f"\n[{CELLS}/{CELLS}]" in process.communicate()[0] and process.returncode == 0
    assert contents(folder) == contents(undisturbed) and len(contents(folder)) == CELLS
    assert kept.items() <= {path: path.stat().st_mtime_ns for path in folder.iterdir()}.items()


def damages(content):
    middle = len(content) // 2
    yield b""
    yield content[:middle]
    yield b"garbage"
    yield content[:20] + bytes([content[20] ^ 1]) + content[21:]
    footer = content.index(b'"numbers"')
    yield content[:footer] + content[footer:].replace(b'"seed": 7', b'"seed": 8', 1)


def test_damaged_files_are_run_again(tmp_path, undisturbed, capsys):
    whole = contents(undisturbed)
    for path, number in zip(sorted(copied(undisturbed, tmp_path).iterdir()), range(5), strict=False):
        path.write_bytes(list(damages(whole[path.name]))[number])
    with pytest.raises(ValueError, match="is damaged: run the sweep again"):
        sweep.load(tmp_path)
    sweep.run(GRID, tmp_path, workers=1)
    assert ran(capsys) == 5 and contents(tmp_path) == whole
    sweep.run(GRID, tmp_path, workers=1, scheduler="nobody asks for it")
    assert ran(capsys) == 0


@pytest.mark.parametrize("what", ["runs", "seed", "points", "sources", "versions"])
def test_cells_of_another_provenance_are_run_again(tmp_path, undisturbed, monkeypatch, capsys, what):
    few = sweep.grid(TABLE | {"algorithms": ["AnytimeLazyUCB"]})
    copied(undisturbed, tmp_path)
    if what == "sources":
        monkeypatch.setattr(sweep, "source_hash", lambda files: "other")
    elif what == "versions":
        monkeypatch.setattr(sweep, "version", lambda name: "0")
    else:
        few = few._replace(**{what: 3})
    sweep.run(few, tmp_path, workers=1)
    assert ran(capsys) == len(few.cells) == 8
    with pytest.raises(ValueError, match="cells of different sweeps"):
        sweep.load(tmp_path)


def test_a_grid_that_grew_runs_what_is_new(tmp_path, undisturbed, capsys):
    grown = sweep.grid(TABLE | {"epsilons": [1, 0.25, 4], "horizons": [20_000, 1000], "algorithms": ["AnytimeLazyUCB"]})
    sweep.run(grown, copied(undisturbed, tmp_path), workers=1)
    assert ran(capsys) == 4


def test_sources_are_all_that_a_simulation_imports():
    code = "import sys, privregret.bandits, privregret.full_information, privregret.simulate; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True).stdout
    ours = {name.split(".")[1] for name in loaded.split() if name.startswith("privregret.")}
    assert ours - {"paths", "frontend", "locks"} == set(sweep.ENGINE)
    modules = {path.name for path in sweep.PACKAGE.rglob("*.py") if sweep._engine(path)}
    assert {"simulate.py", "dp_klucb.py", "epochs.py"} <= modules and not modules & {"draw.py", "sweep.py"}


# The same numbers ---------------------------------------------------------------------------------------------


def test_two_workers_give_the_same_files(tmp_path, undisturbed):
    sweep.run(GRID, tmp_path, workers=2)
    assert contents(tmp_path) == contents(undisturbed)


def test_dask_with_a_killed_worker_gives_the_same_files(tmp_path, undisturbed, monkeypatch):
    import distributed

    write, written = sweep.manifest.write, []

    with distributed.LocalCluster(2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as local:
        victim = local.workers[0].pid

        def kill(path, content):  # after five cells
            write(path, content)
            written.append(path)
            if len(written) == 5:
                os.kill(victim, signal.SIGKILL)

        monkeypatch.setattr(sweep.manifest, "write", kill)
        sweep.run(GRID, tmp_path, local.scheduler_address)
    assert len(written) == CELLS
    assert contents(tmp_path) == contents(undisturbed)


def test_a_file_holds_the_summary_of_its_cell(undisturbed):
    cell = GRID.cells[3]
    frame, _ = sweep._read(undisturbed / cell.file)
    expected = simulate.regret_summary(cell.algorithm, cell.problem, cell.horizon, 40, 7, 10)
    pd.testing.assert_frame_equal(frame.drop(columns="horizon"), expected, check_exact=True, check_dtype=False)
    assert set(frame.horizon) == {cell.horizon}


def test_memory_does_not_grow_with_runs(tmp_path):
    runs, points = 40_000, 1000
    few = {"algorithms": ["DPSE"], "epsilons": [1], "instances": ["HU2021_2"], "horizons": [10**4]}
    grid = sweep.grid(TABLE | few | {"points": points, "runs": runs})
    tracemalloc.start()
    sweep.run(grid, tmp_path, workers=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * simulate.BYTES < 0.25 * (8 * runs * points)


# What figures take --------------------------------------------------------------------------------------------


def test_figures_take_what_it_loads(undisturbed):
    frame = sweep.load(undisturbed)
    assert frame.groupby(["instance", "algorithm", "epsilon", "n0", "horizon"], dropna=False).ngroups == CELLS
    assert (frame.low <= frame["mean"]).all() and (frame["mean"] <= frame.high).all()
    assert (frame.least <= frame.low).all() and (frame.high <= frame.greatest).all() and (frame.low < frame.high).any()
    one = frame.query("instance == 'two arms' and horizon == 20_000 and n0 != 13")
    last = one.query("t == 20_000").dropna(subset="epsilon")
    assert last.epsilon.tolist() == [0.25, 1] * 2  # a curve goes from left to right
    fig = draw.final_regret_panel(last)
    assert [line.get_label() for line in fig.axes[0].lines] == ["Anytime-Lazy-UCB", "DP-IMED"]
    assert len(draw.regret_grid(one).axes) == 2
    draw.plt.close("all")


def test_an_empty_folder_is_told(tmp_path):
    refused(lambda: sweep.load(tmp_path), f"{tmp_path} has no cells of a sweep")
