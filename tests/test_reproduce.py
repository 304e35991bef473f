"""The batch command and bare papermill, on tiny notebooks: what runs again, what fails how, what a
kill leaves."""

import json
import os
import pathlib
import re
import shutil
import signal
import tempfile
import time

import matplotlib
import nbformat
import pandas as pd
import pytest
from conftest import named

from privregret.press import kernels, run, single, stamps
from privregret.press.jobs import Job

PARAMETERS = """\
runs: int = 3  # number of runs
epsilons: list = [0.5, 1.0]  # privacy parameters
"""
CHECK = """\
from privregret import checks
from privregret.press import notebook

notebook.start("demo/{name}", globals(), runs=checks.positive_int, \
epsilons=checks.list_of(checks.positive))
"""
FIGURE = """\
import matplotlib.pyplot as plt
import pandas as pd

from privregret import estimates
from privregret.press import publish

data = pd.DataFrame({{"epsilon": epsilons, "value": [runs * epsilon for epsilon in epsilons]}})
fig, ax = plt.subplots()
ax.plot(data.epsilon, data.value)
publish.figure(fig, "demo/{name}", data, "A line.")
publish.finding("Figure 1", "It is small.", "value", estimates.largest(data, value="value"), \
at_most=10, number="demo{macro}")
"""
FRESH = "up to date"  # how `status` and `reproduce` call a notebook that need not run
BOUNDS = "from privregret.bounds import hu2021\n"
MEASURED = 'from privregret.files import ROOT\n(ROOT / "benchmarks/measured.csv").read_text()'


def write(project, name, *cells, end="notebook.end()"):
    """A notebook demo/<name> that draws one figure, with more code cells before the figure."""
    code = nbformat.v4.new_code_cell
    parameters, check = code(PARAMETERS), code(CHECK.format(name=name))
    parameters.metadata["tags"], check.metadata["tags"] = ["parameters"], ["check"]
    more = [
        code(c)
        for c in (*cells, FIGURE.format(name=name, macro=name.replace("-", "").title()), end)
    ]
    cells = [nbformat.v4.new_markdown_cell("# Demo"), parameters, check, *more]
    for i, cell in enumerate(cells):
        cell["id"] = f"c{i}"
    spec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    path = project.root / "notebooks" / "demo" / f"{name}.ipynb"
    path.parent.mkdir(exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": spec}), path)
    return path


def figure(project, name, ending="csv"):
    return project.root / "figures" / "demo" / f"{name}.{ending}"


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def stale(project):
    """The notebooks that `status` calls stale, with the reason."""
    _, out, _ = project.python("privregret", "status")
    pairs = [line.split(": ", 1) for line in out.splitlines()]
    return {name: why for name, why in pairs if why != FRESH}


def reasons(project, **expected):
    """`status` must call these notebooks of demo/ stale, and name these things as the reason."""
    found = stale(project)
    assert set(found) == {f"demo/{name}" for name in expected}
    for name, shown in expected.items():
        named(found[f"demo/{name}"], shown)


def test_only_what_changed_runs_again(project):
    measured = project.root / "benchmarks/measured.csv"
    measured.parent.mkdir()
    measured.write_text("x\n1\n")
    one, two = write(project, "one", BOUNDS), write(project, "two", MEASURED)
    code, out, _ = project.python("privregret", "reproduce")
    assert code == 0
    assert "demo/one: " in out and "1 reproduced" in out
    assert (
        figure(project, "one", "pdf").exists()
        and (project.root / "build/notebooks/demo/one.ipynb").exists()
    )
    assert pd.read_csv(figure(project, "one")).value.tolist() == [1.5, 3.0]
    assert stale(project) == {}
    stamp = json.loads((project.root / "build/stamps/demo/one.json").read_text())
    assert stamp["seconds"] > 0 and stamp["kilobytes"] > 10_000

    before = figure(project, "one").stat().st_mtime_ns
    code, out, _ = project.python("privregret", "reproduce")
    assert code == 0 and out.count(FRESH) == 2
    assert figure(project, "one").stat().st_mtime_ns == before

    saved = nbformat.read(one, 4)  # opened, run by hand and saved
    saved.cells[1].execution_count = 7
    saved.metadata["language_info"] = {"name": "python"}
    saved.cells[0].source = "# Demo, reworded"
    nbformat.write(saved, one)
    assert stale(project) == {}

    edit(one, "runs: int = 3", "runs: int = 4")
    assert set(stale(project)) == {"demo/one"}
    edit(one, "runs: int = 4", "runs: int = 3")
    edit(measured, "1", "2")
    reasons(project, two="benchmarks/measured.csv")
    edit(two, "A line.", "The line.")
    reasons(project, two="notebooks/demo/two.ipynb")
    edit(project.root / "src/privregret/bounds/hu2021.py", "96 * np.log", "97 * np.log")
    reasons(project, one="src/privregret/bounds/hu2021.py", two="notebooks/demo/two.ipynb")
    code, _, _ = project.python("privregret", "reproduce")
    assert code == 0 and stale(project) == {}

    figure(project, "one").write_text("epsilon,value\n")
    reasons(project, one="figures/demo/one.csv")
    edit(project.root / "requirements.lock", "2", "3")
    reasons(project, one="requirements.lock", two="requirements.lock")


def test_an_edit_during_the_run_makes_it_stale(project):
    write(
        project,
        "one",
        BOUNDS,
        "from pathlib import Path\nPath(hu2021.__file__).open('a').write('EDITED = 1\\n')",
    )
    assert project.python("privregret", "reproduce")[0] == 0
    reasons(project, one="src/privregret/bounds/hu2021.py")


def test_same_parameters_give_the_same_bytes_and_check_names_what_moved(project):
    line = (
        "import os\nwith open('store', 'a') as file:\n"
        "    print(os.environ.get('PRIVREGRET_STORE'), file=file)"
    )
    write(project, "one", line)
    assert project.python("privregret", "reproduce")[0] == 0
    kept = {
        ending: figure(project, "one", ending).read_bytes()
        for ending in ("csv", "pdf", "png", "tex")
    }
    manifest = (project.root / "figures/manifest.json").read_bytes()
    fresh = project.start(
        "privregret", "reproduce", "--fresh"
    )  # processes of their own: sets in another order
    assert fresh.communicate(timeout=600) and fresh.returncode == 0
    assert {ending: figure(project, "one", ending).read_bytes() for ending in kept} == kept
    assert (project.root / "figures/manifest.json").read_bytes() == manifest

    code, out, _ = project.python("privregret", "check")
    assert code == 0
    named(out.splitlines()[-1], 1)
    edit(figure(project, "one"), "1,3", "1,3.00001")
    code, out, _ = project.python("privregret", "check")
    assert code == 4
    named(out.splitlines()[-1], "demo/one", 2, "value", "3.00001", "3.0")
    assert (project.root / "store").read_text().split() == ["None", "off", "off", "off"]
    figure(project, "one").write_bytes(b"")
    code, out, err = project.python("privregret", "check")
    assert code == 4 and "demo/one" in out.splitlines()[-1] and "Traceback" not in out + err


def published(project):
    """Everything that only adoption may change."""
    kept = [
        p
        for folder in ("figures", "paper")
        for p in (project.root / folder).rglob("*")
        if p.is_file()
    ]
    return {
        p.relative_to(project.root): p.read_bytes() for p in [*kept, project.root / "README.md"]
    }


@pytest.fixture
def settled(project):
    """A project with a README, whose one notebook has run."""
    project.notebook = write(project, "one")
    (project.root / "README.md").write_text("# Demo\n<!-- findings -->\n<!-- end of findings -->\n")
    assert project.python("privregret", "reproduce")[0] == 0
    return project


def test_a_run_with_other_parameters_touches_nothing_published(settled):
    before = published(settled)
    code, out, _ = settled.python(
        "privregret", "reproduce", "-p", "runs", "50", "-p", "epsilons", "[2, 4]"
    )
    (folder,) = (settled.root / "build/custom").iterdir()
    assert code == 0 and str(folder.relative_to(settled.root)) in out and "runs=50" in folder.name
    assert pd.read_csv(folder / "figures/demo/one.csv").value.tolist() == [100, 200]
    entry = json.loads((folder / "figures/manifest.json").read_text())["outputs"]["demo/one"]
    assert entry["parameters"] == {"runs": 50, "epsilons": [2, 4]}
    assert settled.python("privregret", "reproduce", "-p", "runs", "4")[0] == 0
    assert pd.read_csv(
        settled.root / "build/custom/runs=4/figures/demo/one.csv"
    ).value.tolist() == [2, 4]
    assert pd.read_csv(folder / "figures/demo/one.csv").value.tolist() == [100, 200]
    assert published(settled) == before and stale(settled) == {}


def test_a_run_goes_where_output_says_and_is_called_by_its_bare_name(settled):
    before, folder = published(settled), settled.notebook.parent
    words = ["one", "-p", "runs", "1e1", "-p", "epsilons", "2,4", "--output", "here"]
    code, out, _ = settled.python("privregret", "reproduce", *words, cwd=folder)
    assert code == 0 and re.search(r"\bhere\b", out.splitlines()[-1])
    assert pd.read_csv(folder / "here/figures/demo/one.csv").value.tolist() == [20, 40]
    assert settled.python("privregret", "reproduce", *words, cwd=folder)[1].startswith(
        f"demo/one: {FRESH}"
    )
    for word, cwd in [
        ("one.ipynb", folder),
        (".", folder),
        ("demo", folder.parent),
        (settled.notebook, "/"),
    ]:
        assert settled.python("privregret", "status", word, cwd=cwd)[1].startswith(
            f"demo/one: {FRESH}"
        ), word
    assert published(settled) == before


def test_the_longest_run_comes_first(tmp_path, monkeypatch):
    order, ended = [], {"modules": [], "kilobytes": 1}
    for name, seconds in (("a/short", 2), ("a/long", 9)):
        stamps.write(Job(name), tmp_path, {}, ended, seconds)
    monkeypatch.setattr(kernels, "execute", lambda path, *_: order.append(path.stem))
    monkeypatch.setattr(stamps, "inputs", lambda job: {"requirements.lock": ""})
    monkeypatch.setattr(stamps, "code", lambda name: "")
    todo = [Job(name) for name in ("a/short", "a/long", "a/new")]
    assert (
        run.reproduce(todo, tmp_path, at_once=1, force=True) == single.FAILED
    )  # nothing was executed
    assert order == ["new", "long", "short"]


def test_sockets_have_a_short_path_and_replace_what_a_killed_run_left(tmp_path, monkeypatch):
    for temporary in (str(tmp_path), str(tmp_path / ("long" * 30))):
        monkeypatch.setattr(tempfile, "tempdir", temporary)
        with kernels.sockets(tmp_path) as folder:
            pass
        folder.mkdir()
        (folder / "left").write_text("")
        with kernels.sockets(tmp_path) as again:
            assert again == folder and not list(folder.iterdir()) and len(str(folder)) < 90
        assert not folder.exists()


def test_a_run_by_papermill_touches_nothing_published(settled):
    before = published(settled)
    code, _, err = settled.python(
        "papermill", settled.notebook, settled.root / "build/out.ipynb", "-p", "runs", "2"
    )
    assert code == 0, err
    assert "build/lab/figures" in (settled.root / "build/out.ipynb").read_text()
    assert pd.read_csv(settled.root / "build/lab/figures/demo/one.csv").value.tolist() == [1.0, 2.0]
    code, _, err = settled.python(
        "papermill",
        "one.ipynb",
        "../../build/out.ipynb",
        "-p",
        "runs",
        "4",
        cwd=settled.notebook.parent,
    )
    assert code == 0, err
    assert pd.read_csv(settled.root / "build/lab/figures/demo/one.csv").value.tolist() == [2.0, 4.0]
    assert published(settled) == before and stale(settled) == {}


def test_an_edited_default_is_taken_and_told(settled):
    edit(settled.notebook, "runs: int = 3", "runs: int = 7")
    assert stale(settled) == {"demo/one": "runs=7 (was 3)"}
    shutil.rmtree(settled.root / "build")
    code, out, _ = settled.python("privregret", "reproduce")
    assert code == 0
    named(out.splitlines()[0], "runs", 7, 3)
    assert pd.read_csv(figure(settled, "one")).value.tolist() == [3.5, 7.0]
    assert "runs" not in settled.python("privregret", "reproduce", "--force")[1].splitlines()[-1]


def test_a_fresh_clone_is_told_in_one_line_that_nothing_has_run(settled):
    write(settled, "two")
    shutil.rmtree(settled.root / "build")
    code, out, _ = settled.python("privregret", "status")
    assert code == 0 and "demo" not in out
    named(out, 2, "figures/")


def test_whatever_differs_is_seen_and_mended(settled):
    before, partial = published(settled), settled.root / ".README.md.partial-1"
    partial.write_text("half")
    for name in (
        "figures/findings.csv",
        "figures/findings.md",
        "paper/numbers.tex",
        "figures/demo/one.tex",
    ):
        (settled.root / name).write_text("cut")
        assert name in settled.python("privregret", "status")[1]
        assert settled.python("privregret", "reproduce")[0] == 0
        assert published(settled) == before, name
    assert not partial.exists()
    record = settled.root / "figures/manifest.json"
    record.write_text(record.read_text().replace("1.5", "1.6").replace("3.0", "3.1"))
    assert "manifest.json" in stale(settled)["demo/one"]
    assert settled.python("privregret", "reproduce")[0] == 0
    assert published(settled) == before
    settled.root.joinpath("build/stamps/demo/one.json").write_text("{")
    assert set(stale(settled)) == {"demo/one"}


def test_scratch_notebooks_are_skipped_with_a_word(settled):
    folder = settled.notebook.parent
    (folder / "Untitled.ipynb").write_text("{}")
    (folder / "empty.ipynb").write_text("")
    (folder / "one-Copy1.ipynb").write_bytes(settled.notebook.read_bytes())
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints/one-checkpoint.ipynb").write_text("{}")
    code, out, err = settled.python("privregret", "status")
    assert code == 0 and out == f"demo/one: {FRESH}\n"
    lines = sorted(err.splitlines())
    assert all(line.startswith("skipped: ") for line in lines)
    for line, name in zip(lines, ("Untitled", "empty", "one-Copy1"), strict=True):
        named(line, f"notebooks/demo/{name}.ipynb")
    named(lines[-1], "demo/one")
    settled.notebook.write_text("{")  # one that has published something is missed
    write(settled, "two")
    code, out, _ = settled.python("privregret", "reproduce")
    assert code == 1 and "FAILED demo/one: notebooks/demo/one.ipynb" in out
    assert "demo/two: " in out and figure(settled, "two").exists()
    code, _, err = settled.python(
        "privregret", "reproduce", "demo/Untitled"
    )  # nothing else was asked for
    assert code == 2 and "notebooks/demo/Untitled.ipynb" in err


def test_a_damaged_manifest_is_refused_and_made_anew_when_it_is_removed(settled):
    before, record = published(settled), settled.root / "figures/manifest.json"
    for text in ("[]", "", "{}", record.read_text().replace('"figure",', '"sculpture",')):
        record.write_text(text)
        damaged = published(settled)
        for command in ("status", "reproduce", "check"):
            code, out, err = settled.python("privregret", command)
            assert (code, out) == (2, "") and err.count("\n") == 1 and str(record) in err, text
        assert published(settled) == damaged
        record.unlink()
        assert settled.python("privregret", "reproduce")[0] == 0
        assert published(settled) == before, text


def test_smoke_leaves_the_figures_alone_and_nothing_in_temporary_folders(project, monkeypatch):
    monkeypatch.setenv("MPLCONFIGDIR", matplotlib.get_cachedir())
    monkeypatch.setenv(
        "HOME", "/dev/null"
    )  # not writable, and IPython makes do with a temporary folder
    write(project, "one")
    (project.root / "notebooks/smoke.toml").write_text('["demo/one"]\nruns = 1\n')
    with tempfile.TemporaryDirectory() as short:
        longer = pathlib.Path(
            short, "longer than any path that a socket can have" * 3
        )  # then sockets are elsewhere
        longer.mkdir()
        for temporary in (short, longer):
            monkeypatch.setenv("TMPDIR", str(temporary))
            code, out, err = project.python("privregret", "reproduce", "--smoke", "--force")
            assert code == 0, out + err
        assert os.listdir(short) == [longer.name] and os.listdir(longer) == []
    assert not figure(project, "one").exists()
    assert pd.read_csv(project.root / "build/smoke/figures/demo/one.csv").value.tolist() == [
        0.5,
        1.0,
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-p", "rums", "3"], ["rums", "runs?"]),
        (["-p", "runs", "five"], ["demo/one", "runs", "'five'"]),
        (["-p", "runs", "0"], ["demo/one", "runs", "0"]),
        (["-p", "epsilons", "[-1]"], ["demo/one", "epsilons[0]", "-1"]),
        (["demo/on"], ["'demo/on'", "demo/one?"]),
        (["-j", "0"], ["-j", "0"]),
        (["-p", "epsilons", "0.5"], ["demo/one", "epsilons", "0.5"]),
        (["-p", "runs", "5", "-p", "runs", "6"], ["-p runs"]),
        (["--output", "."], ["--output"]),
        (["--smoke"], ["notebooks/smoke.toml"]),
    ],
)
def test_bad_requests_get_one_line_before_any_work(project, arguments, words):
    write(project, "one")
    (project.root / "notebooks/smoke.toml").write_text("runs 5 {")
    figure(project, "one").parent.mkdir(parents=True)
    figure(project, "one").write_text("old")
    code, out, err = project.python("privregret", "reproduce", *arguments)
    assert (code, out) == (2, "") and err.startswith("error: ")
    named(err, *words)
    assert figure(project, "one").read_text() == "old"
    assert not (project.root / "build" / "partial").exists()


def test_a_failure_is_told_and_does_not_stop_the_others(project):
    write(project, "bad", "1 / 0")
    write(project, "early", "import sys\nsys.exit(0)")
    write(project, "good")
    write(project, "killed", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    write(project, "unended", end="pass")
    edit(write(project, "unsound"), "globals()", "nowhere")
    figure(project, "bad").parent.mkdir(parents=True)
    figure(project, "bad").write_text("old")
    code, out, _ = project.python("privregret", "reproduce")
    assert code == 3  # the worst of them: a kernel died
    lines = (line.removeprefix("FAILED ") for line in out.splitlines() if line.startswith("FAILED"))
    failures = dict(line.split(": ", 1) for line in lines)
    named(failures["demo/bad"], 4, "ZeroDivisionError", "build/failed/demo/bad.ipynb")
    named(failures["demo/unsound"], "NameError", "'nowhere'")
    assert set(failures) == {f"demo/{n}" for n in ("bad", "early", "killed", "unended", "unsound")}
    executed = nbformat.read(project.root / "build/failed/demo/bad.ipynb", 4)
    assert any(
        "ZeroDivisionError" in "".join(o.get("traceback", []))
        for c in executed.cells
        for o in c.get("outputs", [])
    )
    assert figure(project, "bad").read_text() == "old"
    assert figure(project, "good").exists() and not figure(project, "killed").exists()
    assert not figure(project, "unended").exists()
    assert set(stale(project)) == {
        "demo/bad",
        "demo/early",
        "demo/killed",
        "demo/unended",
        "demo/unsound",
    }
    code, out, _ = project.python("privregret", "reproduce", "demo/bad")
    assert code == 1 and len(list((project.root / "build/failed/demo").glob("bad.*"))) == 2
    write(project, "bad")
    assert project.python("privregret", "reproduce", "demo/bad")[0] == 0
    assert not list((project.root / "build/failed/demo").glob("bad.*"))


def wait(what, seconds=600):
    """Until something is so; the time is for machines that are very slow."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only on Linux")
def test_kernels_are_forks_of_one_process_that_ends_with_the_command(project):
    where = "import os\nopen('parent-{}', 'w').write(str(os.getppid()))"
    write(project, "one", where.format("one"))
    write(project, "two", where.format("two"))
    write(project, "killed", "import os\nos.write(2, b'last words')\nos.kill(os.getpid(), 9)")
    code, out, _ = project.end(*project.begin("privregret", "reproduce"))
    assert code == 3 and "FAILED demo/killed: its kernel died" in out
    assert "last words" in (project.root / "build/failed/demo/killed.log").read_text()
    one, two = ((project.root / f"parent-{name}").read_text() for name in ("one", "two"))
    assert one == two
    wait(lambda: not os.path.exists(f"/proc/{one}"))
    used = json.loads((project.root / "build/stamps/demo/one.json").read_text())["files"]
    assert "src/privregret/press/publish.py" in used
    assert not {"src/privregret/press/fork.py", "src/privregret/simulate.py"} & set(used)


def test_a_kernel_is_the_same_if_there_is_no_process_to_fork(tmp_path, monkeypatch):
    def ended():
        raise EOFError

    monkeypatch.delenv("JUPYTER_PATH", raising=False)
    shown = "import os, sys\nprint(os.getppid())\nprint(os.environ['WORD'], os.getcwd(), sys.path)"
    path, executed = tmp_path / "in.ipynb", tmp_path / "out.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(shown)]), path)
    parents, others = [], []
    with kernels.sockets(tmp_path) as sockets:
        for server in (kernels._server, ended):
            monkeypatch.setattr(kernels, "_server", server)
            kernels.execute(path, executed, {}, sockets, {"WORD": "given"}, lambda *_: None)
            parent, other = nbformat.read(executed, 4).cells[0].outputs[0].text.splitlines()
            parents.append(int(parent))
            others.append(other)
    assert parents[1] == os.getpid() and others[0] == others[1]
    assert (parents[0] != os.getpid()) == hasattr(os, "pidfd_open")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_killed_run_goes_on_where_it_was(project, how):
    write(project, "a-quick")
    line = "open('telling', 'w').write(str(os.getpid()))\nos.rename('telling', 'running')"
    slow = write(project, "b-slow", f"import os, time\n{line}\ntime.sleep(3600)")
    process, folder = project.begin(
        "privregret", "reproduce", "-j", "1"
    )  # its kernels are no forks: they must end
    wait(lambda: (project.root / "running").exists())
    os.kill(process.pid, how)
    code, *_ = project.end(process, folder)
    assert code == (-9 if how == signal.SIGKILL else 130)
    assert figure(project, "a-quick").exists() and not figure(project, "b-slow").exists()
    assert set(stale(project)) == {"demo/b-slow"}
    kernel = int((project.root / "running").read_text())
    wait(lambda: not os.path.exists(f"/proc/{kernel}"))  # or the kernel has outlived the command
    edit(slow, "time.sleep(3600)", "pass")
    code, out, _ = project.python("privregret", "reproduce")
    assert code == 0 and f"demo/a-quick: {FRESH}" in out
    assert figure(project, "b-slow").exists()
    leftovers = [p for p in (project.root / "figures").rglob(".*") if p.name != ".lock"]
    assert leftovers == [] and not (project.root / "build/partial").exists()


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("rums", "3", ["rums", "runs?"]),
        ("runs", "five", ["runs", "'five'"]),
        ("runs", "0", ["runs", "1", "0"]),
        ("epsilons", "-1", ["epsilons", "-1"]),
    ],
)
def test_bare_papermill_is_strict(project, name, value, shown):
    path = write(project, "one")
    code, _, err = project.python("papermill", path, project.root / "out.ipynb", "-p", name, value)
    assert code != 0
    (line,) = {line for line in err.splitlines() if "ParameterError: demo/one" in line}
    named(line, *shown)
    assert not (project.root / "figures").exists()
