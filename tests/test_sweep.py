"""A sweep: what a grid stands for, and the same files however it was run, killed, or damaged."""

import os
import re
import signal
import subprocess
import sys
import tomllib
import tracemalloc

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import ROOT, named, refused
from pyarrow import dataset

from privregret import __main__ as command
from privregret import checks, identity, instances, simulate, sweep
from privregret.adversarial import tuning
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
POINTS = 2 * (2 + 2 * 2 + 1) * 2
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT / "src")}
PROVENANCE = ["runs", "seed", "points", "source", "version"]


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
    """How many grid points the last sweep ran, and what it said of them."""
    lines = capsys.readouterr().out.splitlines()
    count, kept = map(int, re.findall(r"\d+", lines[0])[:2])
    assert len(lines) - 1 == count - kept
    return count - kept, lines[0]


# What a grid stands for
# ---------------------------------------------------------------------------------------


def test_lists_span_the_grid_and_epsilons_go_where_there_is_one():
    cells = [(c.problem.name, repr(c.algorithm), c.horizon) for c in GRID.grid_points]
    assert len(set(cells)) == POINTS and (GRID.runs, GRID.seed, GRID.points) == (40, 7, 10)
    first = [
        str(cell)
        for cell in GRID.grid_points
        if cell.problem.name == "two arms" and cell.horizon == 1000
    ]
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
        "algorithms": [
            {"name": "FTNL", "noise": ["laplace", "gumbel"], "epsilon": 4},
            "RandomPrefixSoftmax",
        ],
        "instances": [{"name": "mine", "losses": [0.25, 0.5]}, "TWO_ACTION_FIXED"],
    }
    cells = sweep.grid(TABLE | full).grid_points
    assert [
        c.algorithm.epsilon for c in cells if c.horizon == 1000 and c.problem.name == "mine"
    ] == [4, 4, 0.25, 1]
    assert cells[0].problem.outcomes == ((0.25, 0.5),) and cells[0].problem.bits


ADVERSARIAL = {
    "algorithms": [
        {"name": "batched_exp3", "boldness": [1, 3]},
        {"name": "batched_htinf", "sigma": "exact"},
        {"name": "HTINF", "sigma": [1.0, 2.5]},
    ],
    "instances": [
        {"name": "gap_adversary", "arms": 3, "gap": 0.25},
        {"name": "switching", "arms": 4, "segments": 5},
    ],
}


def test_adversarial_algorithms_are_tuned_for_their_grid_point():
    points = sweep.grid(TABLE | ADVERSARIAL).grid_points
    assert len(points) == 2 * (2 * 2 + 2 + 2) * 2
    for point in points[len(points) // 2 :]:  # the second instance
        expected = instances.switching(4, 5, point.horizon)
        assert identity.words(point.problem.law) == identity.words(expected.law)
    first, second = points[:2]
    assert (first.horizon, second.horizon) == (1000, 20_000)
    assert first.algorithm == tuning.batched_exp3(1000, 3, 0.25, 1)
    assert second.algorithm == tuning.batched_exp3(20_000, 3, 0.25, 1)


def test_the_order_of_an_entry_s_keys_is_free():
    assert (
        sweep.grid(TABLE | {"instances": ["HU2021_2", {"means": [0.6, 0.5], "name": "two arms"}]})
        == GRID
    )


def altered(**changes):
    return {key: value for key, value in (TABLE | changes).items() if value is not None}


BAD = [
    (altered(algorithms=["DPSEE"]), "algorithms[0].name", "'DPSE'", "'DPSEE'"),
    (altered(algorithms=["BanditAlgorithm"]), "algorithms[0].name", "'BanditAlgorithm'"),
    (
        altered(algorithms=[{"name": "DPSE", "betta": 0.5}]),
        "DPSE",
        "'beta'",
        "'betta'",
    ),
    (altered(algorithms=[{"name": "UCB1", "c": 2}]), "UCB1", "'c'"),
    (
        altered(algorithms=[{"name": "DPSE", "beta": -1}]),
        "algorithms[0]",
        "DPSE",
        "beta",
        "-1",
    ),
    (
        altered(algorithms=[{"name": "DPSE", "beta": []}]),
        "algorithms[0].beta",
        "1",
        "[]",
    ),
    (altered(algorithms=[{"name": "DPSE", "beta": [[0.5]]}]), "algorithms[0].beta[0]", "[0.5]"),
    (
        altered(algorithms=[{"name": "DPIMED", "n0": list(range(1, 200_000))}]),
        "100000",
    ),
    (altered(algorithms=["UCB1", "UCB1"]), "algorithms", "UCB1()"),
    (altered(algorithms=["FTNL"]), "FTNL (Laplace)", "StochasticLosses", "BernoulliBandit"),
    (altered(algorithms=["UCB1", {"name": "conftest:refused"}]), "algorithms[1]", "refused"),
    (altered(algorithms=["no_such_module:A"]), "algorithms[0]", "no_such_module"),
    (altered(algorithms=["conftest:NoSuchClass"]), "algorithms[0]", "NoSuchClass"),
    (altered(algorithms=["conftest:ROOT"]), "algorithms[0]", "conftest:ROOT"),
    (altered(instances=["conftest:ROOT"]), "problems", str(ROOT)[:20]),
    (altered(instances=[{"name": "equal_gaps", "arms": 3}]), "instances[0]", "equal_gaps", "'gap'"),
    (altered(instances=[{"name": "HU2021_2", "gap": 0.1}]), "instances[0]", "HU2021_2", "'gap'"),
    (altered(algorithms=[{"epsilon": 1}]), "algorithms[0]", "name"),
    (altered(algorithms=[{"name": 3}]), "algorithms[0]", "name", "3"),
    (altered(algorithms="UCB1"), "algorithms", "1", "'UCB1'"),
    (altered(algorithms=[]), "algorithms", "1", "[]"),
    (
        altered(epsilons=None, algorithms=["DPSE"]),
        "algorithms[0]",
        "DPSE",
        "'epsilon'",
    ),
    (altered(epsilons=[1, 0]), "epsilons[1]", "0"),
    (altered(epsilons=[]), "epsilons", "1", "[]"),
    (altered(epsilons=0.5), "epsilons", '"[0.5]"', "0.5"),
    (altered(epsilons=0), "epsilons", "0"),
    (
        altered(instances=["HU2021_9"]),
        "instances[0].name",
        "'HU2021_2'",
        "'HU2021_9'",
    ),
    (
        altered(instances=[{"name": "x", "means": [0.5]}]),
        "instances[0]",
        "means",
        "2",
    ),
    (
        altered(instances=[{"name": "x", "means": [0.5, 1.5]}]),
        "instances[0]",
        "means",
        "[0, 1]",
        "1.5",
    ),
    (
        altered(instances=[{"name": "x", "losses": "high"}]),
        "instances[0]",
        "losses",
        "'high'",
    ),
    (
        altered(instances=[{"name": "x", "gap": 0.1}]),
        "instances[0]",
        "name",
        "'gap': 0.1",
    ),
    (altered(instances=["HU2021_2", "HU2021_2"]), "problems", "'setting 2'"),
    (altered(horizons=[4]), "horizon", "AnytimeLazyUCB", "5", "4"),
    (
        altered(algorithms=["DPSE", "UCB1"], horizons=[10**12]),
        "horizon",
        "UCB1",
        "10000000000",
    ),
    (
        altered(horizons=[2**63]),
        "horizons[0]",
        checks.LARGEST,
        2**63,
    ),
    (altered(horizons=[]), "horizons", "1", "[]"),
    (altered(runs=1e12), "runs", "100000000", "1000000000000.0"),
    (altered(runs=0), "runs", "1", "0"),
    (altered(runs=float("nan")), "runs", "nan"),
    (altered(runs=True), "runs", "True"),
    (altered(runs=None), "runs"),
    (altered(seed=None), "seed"),
    (altered(seed=-1), "seed", "0", "-1"),
    (altered(points=10**6), "points", "10000", "1000000"),
    (altered(run=3), "'runs'", "'run'"),
    ({}, "algorithms"),
]


@pytest.mark.parametrize(("table", "shown"), [(table, shown) for table, *shown in BAD])
def test_bad_grids(table, shown):
    refused(lambda: sweep.grid(table), *shown)


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"runs = ", ()),
        (b"\xff\xfe", ("0xff",)),
        (b"runs = 3\nruns = 4", ()),
        (b"runs = " + b"[" * 5000, ()),
        (None, ()),
        (
            TEXT.replace("[0.25, 1]", "[0, 1]").encode(),
            ("epsilons[0]", "0"),
        ),
    ],
)
def test_a_file_that_is_no_grid_gets_one_line_before_any_work(tmp_path, capsys, content, shown):
    path = tmp_path / "grid.toml"
    if content is not None:
        path.write_bytes(content)
    assert command.main(["sweep", str(path)]) == command.USAGE
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("error: ")
    named(err, path, *shown)
    assert set(tmp_path.iterdir()) <= {path}


def test_other_bad_words(tmp_path, capsys, monkeypatch):
    path = tmp_path / "grid.toml"
    path.write_text(TEXT)
    for words, shown in (
        (["-j", "0"], ["-j", "1", "0"]),
        (["--scheduler", "tcp://127.0.0.1:9"], ["'tcp://127.0.0.1:9'"]),
        (["--output", str(path)], [path]),
    ):
        assert command.main(["sweep", str(path), *words]) == command.USAGE
        named(capsys.readouterr().err, *shown)
        assert list(tmp_path.iterdir()) == [path]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "privregret.sweep")
    monkeypatch.delattr("privregret.sweep")
    assert command.main(["sweep", str(path)]) == command.USAGE
    named(capsys.readouterr().err, "pyarrow", ".[sweep]")


# Kept, or run again
# -------------------------------------------------------------------------------------------


def start(path, *words):
    line = [sys.executable, "-m", "privregret", "sweep", str(path), "-j", "1", *map(str, words)]
    return subprocess.Popen(
        line, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def test_a_killed_sweep_goes_on_to_the_same_files(tmp_path, undisturbed):
    (tmp_path / "grid.toml").write_text(TEXT)
    folder, kept = tmp_path / "grid", {}
    for end, code, notices in (
        (signal.SIGKILL, -signal.SIGKILL, 0),
        (signal.SIGTERM, 130, 1),
    ):
        process = start(tmp_path / "grid.toml")
        for _ in range(6):  # what there is already, and five grid points
            said = process.stdout.readline()
        assert re.match(rf"\[{len(kept) + 5}/{POINTS}\] \d\d:\d\d\b.* \d\d:\d\d\b", said), said
        process.send_signal(end)
        lines = [line for line in process.communicate()[0].splitlines() if line]
        assert process.returncode == code
        assert sum(not line.startswith("[") for line in lines) == notices, lines
        now = {path: path.stat().st_mtime_ns for path in folder.glob("*.parquet")}
        assert kept.items() <= now.items() and len(kept) + 5 <= len(now) < POINTS
        kept = now
    process = start(tmp_path / "grid.toml")
    assert f"\n[{POINTS}/{POINTS}]" in process.communicate()[0] and process.returncode == 0
    assert contents(folder) == contents(undisturbed) and len(contents(folder)) == POINTS
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
    for path, number in zip(
        sorted(copied(undisturbed, tmp_path).iterdir()), range(5), strict=False
    ):
        path.write_bytes(list(damages(whole[path.name]))[number])
    first = min(path for path in tmp_path.iterdir() if path.read_bytes() != whole[path.name])
    refused(lambda: sweep.load(tmp_path), first, error=ValueError)
    sweep.run(GRID, tmp_path, workers=1)
    count, said = ran(capsys)
    named(said, 4, 1, "seed", 8, 7)
    assert count == 5 and contents(tmp_path) == whole
    sweep.run(GRID, tmp_path, workers=1, scheduler="not needed")
    assert ran(capsys)[0] == 0


@pytest.mark.parametrize("what", PROVENANCE)
def test_grid_points_of_another_provenance_are_run_again(
    tmp_path, undisturbed, monkeypatch, capsys, what
):
    few = sweep.grid(TABLE | {"algorithms": ["AnytimeLazyUCB"]})
    copied(undisturbed, tmp_path)
    if what == "source":
        monkeypatch.setattr(sweep.sources, "source_hash", lambda files: "other")
    elif what == "version":
        monkeypatch.setattr(sweep, "version", lambda name: "0")
    else:
        few = few._replace(**{what: 3})
    sweep.run(few, tmp_path, workers=1)
    count, said = ran(capsys)
    assert count == len(few.grid_points) == 8
    named(said, 8, POINTS - 8, what)
    refused(lambda: sweep.load(tmp_path), what)
    monkeypatch.undo()
    assert sweep.load(tmp_path, few).algorithm.unique().tolist() == ["Anytime-Lazy-UCB"]


def test_a_grid_that_grew_runs_what_is_new(tmp_path, undisturbed, capsys):
    grown = {"epsilons": [1, 0.25, 4], "horizons": [20_000, 1000], "algorithms": ["AnytimeLazyUCB"]}
    grown = sweep.grid(TABLE | grown)
    refused(lambda: sweep.load(undisturbed, grown), undisturbed, 3)
    sweep.run(grown, copied(undisturbed, tmp_path), workers=1)
    count, said = ran(capsys)
    assert count == 4 and "seed" not in said and "source" not in said
    assert sweep.load(tmp_path, grown).setting.nunique() == 3
    other = grown._replace(seed=8)
    refused(lambda: sweep.load(tmp_path, other), tmp_path, "seed", 8, 7)


def test_a_grid_point_depends_on_what_its_algorithm_and_problem_use():
    lazy, *_ = sweep._wanted(GRID, sweep._schema(GRID))
    files = set(lazy["sources"])
    assert {f"privregret/{name}.py" for name in ("simulate", "bandits/lazy_ucb", "loops")} <= files
    assert not {f"privregret/{name}.py" for name in ("sweep", "bandits/dp_se")} & files
    nested = sweep.grid(TABLE | ADVERSARIAL).grid_points[0]
    (wanted,) = sweep._wanted(GRID._replace(grid_points=(nested,)), sweep._schema(GRID))
    assert "privregret/adversarial/bases.py" in wanted["sources"]


MINE = """
from dataclasses import dataclass
from privregret.bandits import BanditAlgorithm
from privregret.guarantees import NOT_PRIVATE
from privregret.instances import BernoulliBandit

PROBLEM = BernoulliBandit("mine too", [0.9, 0.5])

@dataclass(frozen=True)
class Stay(BanditAlgorithm):
    arm: int
    loud: bool = False
    id, label, source, privacy = "stay", "Stay", "nowhere", NOT_PRIVATE

    def start(self, arms, rng, horizon=None):
        return Staying(ARM)

class Staying:
    def __init__(self, arm):
        self.arm = arm

    def choose(self):
        return self.arm

    def observe(self, reward):
        pass
"""


def test_an_edited_class_of_one_s_own_is_run_again(tmp_path):
    own = {"algorithms": [{"name": "mine:Stay", "arm": 0}, "UCB1"], "instances": ["mine:PROBLEM"]}
    path, module = tmp_path / "grid.toml", tmp_path / "mine.py"
    lines = [f"{key} = {value}" for key, value in own.items()]
    text = "\n".join([*lines, "horizons = [100]", "runs = 4", "seed = 1"]).replace(": ", " = ")
    path.write_text(text.replace("'name'", "name").replace("'arm'", "arm"))

    def regret(arm):
        module.write_text(MINE.replace("ARM", str(arm)))
        said = start(path).communicate()[0]
        frame = sweep.load(tmp_path / "grid")
        one = frame.query("t == 100 and algorithm == 'Stay'")
        assert one.arm.tolist() == [0] and one.loud.tolist() == [False]
        assert one.setting.tolist() == ["Stay(arm=0, loud=False)"]
        return one["mean"].tolist(), said

    assert regret(0)[0] == [0.0]
    found, said = regret(1)
    assert found == [pytest.approx(40.0)]
    assert [int(n) for n in re.findall(r"\d+", said)[:2]] == [2, 1]
    named(said.splitlines()[0], 1, "source", "mine.py")
    assert regret(1)[1].count("\n") == 1


def test_a_module_that_was_edited_after_the_start_is_refused(tmp_path, monkeypatch):
    """The process runs what it has loaded."""
    (tmp_path / "edited_later.py").write_text(MINE.replace("ARM", "0"))
    monkeypatch.syspath_prepend(tmp_path)
    own = sweep.grid(altered(algorithms=[{"name": "edited_later:Stay", "arm": 0}]))
    with pytest.raises(sweep.GridError):
        sweep.run(own, tmp_path / "grid", workers=1)
    assert not (tmp_path / "grid").exists()


# The same numbers
# ---------------------------------------------------------------------------------------------


def test_two_workers_give_the_same_files(tmp_path, undisturbed):
    sweep.run(GRID, tmp_path, workers=2)
    assert contents(tmp_path) == contents(undisturbed)


def test_dask_with_a_killed_worker_gives_the_same_files(tmp_path, undisturbed, monkeypatch):
    import distributed

    write, written = sweep.files.write, []

    with distributed.LocalCluster(
        2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    ) as local:
        victim = local.workers[0].pid

        def kill(path, content):  # after five cells
            write(path, content)
            written.append(path)
            if len(written) == 5:
                os.kill(victim, signal.SIGKILL)

        monkeypatch.setattr(sweep.files, "write", kill)
        sweep.run(GRID, tmp_path, local.scheduler_address)
    assert len(written) == POINTS
    assert contents(tmp_path) == contents(undisturbed)


def test_a_file_holds_the_summary_of_its_cell(undisturbed):
    cell = GRID.grid_points[3]
    frame = pd.read_parquet(undisturbed / cell.file)
    expected = simulate.regret_summary(cell.algorithm, cell.problem, cell.horizon, 40, 7, 10)
    same = {"check_exact": True, "check_dtype": False}
    pd.testing.assert_frame_equal(frame[expected.columns], expected, **same)
    assert set(frame.horizon) == {cell.horizon} and set(frame.setting) == {repr(cell.algorithm)}
    others = frame.columns.difference([*expected.columns, "setting", "horizon"])
    assert frame[others].isna().all(axis=None)


def test_memory_does_not_grow_with_runs(tmp_path):
    runs, points = 40_000, 1000
    few = {"algorithms": ["DPSE"], "epsilons": [1], "instances": ["HU2021_2"], "horizons": [10**4]}
    grid = sweep.grid(TABLE | few | {"points": points, "runs": runs})
    tracemalloc.start()
    sweep.run(grid, tmp_path, workers=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * simulate.BYTES < 0.25 * (8 * runs * points)


# What reads them ----------------------------------------------------------------------------------


READERS = {
    "pandas": lambda folder: pd.read_parquet(folder),
    "pyarrow": lambda folder: dataset.dataset(folder).to_table().to_pandas(),
    "polars": lambda folder: (
        pytest.importorskip("polars").read_parquet(folder / "*.parquet").to_pandas()
    ),
    "duckdb": lambda folder: (
        pytest.importorskip("duckdb").sql(f"select * from '{folder}/*.parquet'").df()
    ),
}


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """Two sweeps with algorithms of all families into one folder."""
    folder = tmp_path_factory.mktemp("mixed")
    short = {"horizons": [100], "runs": 3}
    sweep.run(sweep.grid(TABLE | ADVERSARIAL | short), folder, workers=1)
    full = {"algorithms": [{"name": "FTNL", "scale": ["hu2021", "corrected"]}, "DecreasingHedge"]}
    losses = {"instances": [{"name": "losses", "losses": [0.25, 0.5]}]}
    sweep.run(sweep.grid(TABLE | full | losses | short), folder, workers=1)
    sweep.run(sweep.grid(TABLE | short), folder, workers=1)
    return folder


@pytest.mark.parametrize("reader", READERS)
def test_a_folder_is_read_the_same_by_all(mixed, reader):
    frame, expected = READERS[reader](mixed), sweep.load(mixed)
    keys = ["setting", "instance", "horizon", "t"]
    assert len(frame) == len(expected) and not frame.duplicated(keys).any()
    parameters = {"epsilon", "n0", "alpha", "beta", "ties", "power", "scale", "rate", "tau", "base"}
    assert parameters <= set(frame.columns)
    assert sorted(frame.n0.dropna().unique()) == [1, 13] and frame.beta.isna().all()
    assert set(frame.scale.dropna()) == {"hu2021", "corrected"}
    shared = [c for c in expected if c not in ("low", "high")]
    frame, expected = (  # with one kind of missing value
        f.sort_values(keys, ignore_index=True)[shared].convert_dtypes() for f in (frame, expected)
    )
    pd.testing.assert_frame_equal(frame, expected, check_dtype=False)


def test_all_files_have_the_same_typed_columns(mixed):
    schemas = {pq.read_schema(path).remove_metadata() for path in mixed.glob("*.parquet")}
    (schema,) = schemas
    assert not any(pa.types.is_null(field.type) for field in schema)
    assert {"setting": "string", "n0": "int64", "bernoulli_resampling": "bool"}.items() <= {
        field.name: str(field.type) for field in schema
    }.items()


# What figures take
# --------------------------------------------------------------------------------------------


def test_figures_take_what_it_loads(undisturbed):
    frame = sweep.load(undisturbed)
    assert (
        frame.groupby(["instance", "algorithm", "epsilon", "n0", "horizon"], dropna=False).ngroups
        == POINTS
    )
    assert (frame.low <= frame["mean"]).all() and (frame["mean"] <= frame.high).all()
    assert (
        (frame.least <= frame.low).all()
        and (frame.high <= frame.greatest).all()
        and (frame.low < frame.high).any()
    )
    one = frame.query("instance == 'two arms' and horizon == 20_000 and n0 != 13")
    last = one.query("t == 20_000").dropna(subset="epsilon")
    assert last.epsilon.tolist() == [0.25, 1] * 2  # a curve goes from left to right
    fig = draw.final_regret_panel(last)
    assert [line.get_label() for line in fig.axes[0].lines] == ["Anytime-Lazy-UCB", "DP-IMED"]
    assert len(draw.regret_grid(one).axes) == 2
    draw.plt.close("all")


def test_an_empty_folder_is_told(tmp_path):
    refused(lambda: sweep.load(tmp_path), str(tmp_path))
