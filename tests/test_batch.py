"""The batch command and bare papermill on tiny notebooks: what runs again, what fails how, and what
a kill leaves."""

import errno
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import gettempdir

import nbformat
import pandas as pd
import pytest
from conftest import Project, git, named, refused

from privregret import __main__ as command
from privregret.press import batch

PARAMETERS = """\
runs: int = 3  # number of runs
table: str = ""  # a file
"""
CHECK = """\
from privregret.core import checks
from privregret.press import notebook

notebook.start("demo/{name}", globals(), runs=checks.positive_int, table=checks.text)
"""
FIGURE = """\
import matplotlib.pyplot as plt
import pandas as pd

from privregret.press import publish

data = pd.DataFrame({{"x": [0, 1], "y": [1.0, runs]}})
fig, ax = plt.subplots()
ax.plot(data.x, data.y)
publish.figure(fig, data, "{output}")
publish.verdict("small", runs)
"""
TEXTS = """\
[figure.{output}]
caption = "A line."

[claim.small]
title = "Small"
place = "Here"
claim = "It is small."
quantity = "value"
evidence = "closed form"
at_most = 10
macro = "demo{macro}"
"""
BOUNDS = "from privregret.bounds import hu2021"
FRESH = "up to date"


def write(project, name, *cells, output=""):
    """A notebook demo/<name> that draws one figure, with more code cells before the figure, and its
    texts."""
    output = output or name
    drawn = FIGURE.format(output=output), "notebook.end()"
    sources = PARAMETERS, CHECK.format(name=name), *cells, *drawn
    made = [nbformat.v4.new_code_cell(source, id=f"c{i}") for i, source in enumerate(sources)]
    made[0].metadata["tags"] = ["parameters"]
    spec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    path = project.root / "notebooks" / "demo" / f"{name}.ipynb"
    path.parent.mkdir(exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=made, metadata={"kernelspec": spec}), path)
    texts = TEXTS.format(output=output, macro=output.title().replace("-", ""))
    path.with_suffix(".toml").write_text(texts)
    return path


def figure(project, name, ending="csv"):
    return project.root / "figures" / "demo" / f"{name}.{ending}"


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def ran(project, *arguments, code=0, **more):
    """The lines that `reproduce` prints; its exit code is tested."""
    got, out, err = project.python("privregret", "reproduce", *arguments, **more)
    assert got == code, out + err
    assert "Traceback" not in out
    assert all(line.startswith(("skipped: ", "warning: ")) for line in err.splitlines()), err
    return out.splitlines()


def stale(project, *words):
    """The notebooks that `status` calls stale, with the reason."""
    code, out, err = project.python("privregret", "status", *words)
    assert code == 0, err
    return {n: why for n, why in (line.split(": ", 1) for line in out.splitlines()) if why != FRESH}


def published(project):
    """All that only adoption may change."""
    folders = project.root / "figures", project.root / "paper"
    paths = [p for folder in folders for p in folder.rglob("*") if p.is_file()]
    return {str(p): p.read_bytes() for p in [*paths, project.root / "README.md"]}


def refusal(project, *arguments, code=2):
    """The lines on stderr of a `reproduce` that refuses to begin."""
    got, out, err = project.python("privregret", "reproduce", *arguments)
    assert (got, out) == (code, ""), err
    return err


@pytest.fixture(scope="module")
def first_run(tmp_path_factory):
    """A project under git with a README, whose one notebook has run."""
    project = Project(tmp_path_factory.mktemp("first") / "{a} folder")
    write(project, "one")
    (project.root / "README.md").write_text("# Demo\n<!-- findings -->\n<!-- end of findings -->\n")
    for words in (["init", "-q"], ["add", "notebooks"], ["commit", "-qm", "one"]):
        git(project.root, *words)
    ran(project)
    return project.root


@pytest.fixture
def settled(first_run, tmp_path):
    """A copy of it."""
    project = Project(shutil.copytree(first_run, tmp_path / "{a} folder", symlinks=True))
    project.notebook = project.root / "notebooks/demo/one.ipynb"
    return project


def test_only_what_changed_runs_again_and_the_reason_is_named(project):
    one, two = write(project, "one", BOUNDS), write(project, "two")
    lines = ran(project, "-j", "2")
    assert len(lines) == 3 and all("1 reproduced" in line for line in lines[1:])
    stamp = json.loads((project.root / "build/stamps/demo/one.json").read_text())
    assert stamp["seconds"] > 0 and 10 < stamp["megabytes"] < 10_000

    saved = nbformat.read(one, 4)  # opened, run by hand and saved
    saved.cells[1].execution_count = 7
    saved.cells.insert(0, nbformat.v4.new_markdown_cell("# Reworded"))
    nbformat.write(saved, one)
    before = figure(project, "one").stat().st_mtime_ns
    assert [line.split(": ")[1] for line in ran(project)] == [FRESH, FRESH]
    assert figure(project, "one").stat().st_mtime_ns == before

    source = project.root / "src/privregret/bounds/hu2021.py"
    palette = project.root / "src/privregret/press/palette.toml"
    texts = two.with_suffix(".toml")
    green, blue = (f'"DP-SE" = ["{colour}"' for colour in ("green", "blue"))
    for path, old, new, said in (
        (source, "Bounds of", "The bounds of", "src/privregret (engine)"),
        (palette, green, blue, "src/privregret (press)"),
        (texts, "A line.", "The line.", "notebooks/demo/two.toml"),
    ):
        edit(path, old, new)
        named(stale(project)["demo/two"], said)
        edit(path, new, old)
    (project.root / "build/notebooks/demo/one.ipynb").write_text("{")
    edit(two, "[0, 1]", "[0, 2]")
    edit(project.root / "figures/findings.md", "small", "large")
    found = stale(project)
    named(found["demo/one"], "build/notebooks/demo/one.ipynb")
    named(found["demo/two"], "notebooks/demo/two.ipynb")
    assert "figures/findings.md" in found
    figure(project, "one").unlink()
    ran(project)
    assert stale(project) == {} and figure(project, "one").exists()
    (project.root / "requirements.lock").unlink()
    named(refusal(project), "requirements.lock")


def test_a_run_with_own_parameters_data_or_output_touches_nothing_published(settled, tmp_path):
    before, data, new = published(settled), settled.root / "mine.csv", tmp_path / "new"
    data.write_text("x\n1\n")
    own = ["one", "-p", "runs", "10//2", "-p", "table", str(data)]
    lines = ran(settled, *own, cwd=settled.notebook.parent)
    (folder,) = (settled.root / "build/custom").iterdir()
    assert str(folder.name) in lines[-1] and "runs=5" in folder.name
    assert pd.read_csv(folder / "figures/demo/one.csv").y.tolist() == [1, 5]
    data.write_text("x\n2\n")
    named(ran(settled, *own)[0], "demo/one", "mine.csv")
    assert FRESH in ran(settled, *own)[0]
    # a value that the notebook refuses
    lines = ran(settled, "--output", new, "-p", "runs", "2**10**9", code=2)
    named(lines[-1], "demo/one", "runs", "'2**10**9'")
    assert not new.exists()
    ran(settled, "--output", new)
    assert (new / "figures/demo/one.csv").read_bytes() == figure(settled, "one").read_bytes()
    (tmp_path / "paper/paper").mkdir(parents=True)
    (tmp_path / "paper/paper/numbers.tex").write_text("mine")
    named(refusal(settled, "--output", tmp_path / "paper"), "--output", str(tmp_path / "paper"))
    edit(settled.notebook, "runs: int = 3", "runs: int = 7")  # not committed
    line, *rest = ran(settled)
    named(line, "demo/one", "runs", 3, 7)
    assert FRESH in rest[0] and published(settled) == before


def test_a_renamed_notebook_keeps_its_outputs_and_a_deleted_one_has_none(settled):
    two = write(settled, "two")
    ran(settled)
    assert "**2 claims: 2 reproduced" in (settled.root / "README.md").read_text()
    settled.notebook.unlink()
    two.unlink()
    write(settled, "uno", output="one")
    assert {"demo/one", "demo/two"} < set(stale(settled))
    named(ran(settled)[-1], "demo/one", "demo/two")
    said = json.loads((settled.root / "figures/manifest.json").read_text())
    assert set(said["notebooks"]) == {"demo/uno"} and set(said["outputs"]) == {"demo/one"}
    assert figure(settled, "one").exists() and not figure(settled, "two", "png").exists()
    assert "**1 claim: 1 reproduced" in (settled.root / "README.md").read_text()
    assert "demoTwo" not in (settled.root / "paper/numbers.tex").read_text()
    assert stale(settled) == {}


def test_a_damaged_manifest_is_refused_and_made_anew_when_it_is_removed(settled):
    before, manifest = published(settled), settled.root / "figures/manifest.json"
    manifest.write_text(manifest.read_text().replace('"figure"', '"sculpture"'))
    named(refusal(settled), str(manifest))
    manifest.unlink()
    (settled.root / "notebooks/demo/Untitled.ipynb").write_text("{")
    ran(settled)
    assert published(settled) == before
    (settled.root / "build/stamps/demo/one.json").write_text("{")
    assert set(stale(settled)) == {"demo/one"}


def test_a_failure_is_told_and_does_not_stop_the_others(project):
    write(project, "bad", "1 / 0")
    write(project, "early", "import sys\nsys.exit(0)")
    write(project, "good")
    write(project, "killed", "import os\nos.write(2, b'last words')\nos.kill(os.getpid(), 9)")
    figure(project, "bad").parent.mkdir(parents=True)
    figure(project, "bad").write_text("old")
    failed = [line.removeprefix("FAILED ") for line in ran(project, code=3) if "FAILED" in line]
    said = dict(line.split(": ", 1) for line in failed)
    assert set(said) == {f"demo/{n}" for n in ("bad", "early", "killed")}
    named(said["demo/bad"], 3, "ZeroDivisionError", "build/failed/demo/bad.ipynb")
    named(said["demo/early"], "build/failed/demo/early.ipynb")
    named(said["demo/killed"], 3, "build/failed/demo/killed.log")
    assert (project.root / "build/failed/demo/killed.log").read_text() == "last words"
    assert "ZeroDivisionError" in (project.root / "build/failed/demo/bad.ipynb").read_text()
    assert figure(project, "bad").read_text() == "old"
    assert figure(project, "good").exists() and not figure(project, "killed").exists()
    write(project, "bad")
    ran(project, "demo/bad")
    assert not list((project.root / "build/failed/demo").glob("bad.*"))


def wait(what, seconds=600):
    """Until something is so; the time is for machines that are very slow."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_goes_on_where_it_was_and_nobody_runs_beside_it(settled, how):
    line = "import os, time\nopen('telling', 'w').write(str(os.getpid()))"
    slow = write(settled, "slow", f"{line}\nos.rename('telling', 'running')\ntime.sleep(3600)")
    write(settled, "a-quick")
    process = settled.start("privregret", "reproduce", "-j", "1")
    wait(lambda: (settled.root / "running").exists())
    assert refusal(settled).splitlines()[-1].startswith("error: ")
    process.send_signal(how)
    _, err = process.communicate()
    assert process.returncode == (-9 if how == signal.SIGKILL else 130) and "Traceback" not in err
    assert figure(settled, "a-quick").exists() and not figure(settled, "slow").exists()
    left = (settled.root / "build/partial").glob("privregret-*")
    sockets = [Path(gettempdir(), path.name) for path in left]
    assert [path.exists() for path in sockets] == [True] * (how == signal.SIGKILL)
    kernel = int((settled.root / "running").read_text())
    wait(lambda: not os.path.exists(f"/proc/{kernel}"))  # or the kernel has outlived the command
    edit(slow, "time.sleep(3600)", "pass")
    assert FRESH in ran(settled)[0]
    assert figure(settled, "slow").exists()
    assert not any(path.exists() for path in sockets)
    hidden = {p.name for p in (settled.root / "figures").rglob(".*")}
    assert hidden == {".lock"} and not (settled.root / "build/partial").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-p", "rums", "3"], ["rums", "runs?"]),
        (["hu2021/6-experiment"], ["'hu2021/6-experiment'", "hu2021/6-experiments?"]),
        (["-j", "0"], ["-j", "0"]),
        (["-p", "runs", "5", "-p", "runs", "6"], ["-p runs"]),
        (["--output", str(batch.ROOT)], ["--output"]),
    ],
)
def test_bad_requests_get_one_line_before_any_work(arguments, words, monkeypatch, capsys):
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(batch, "_alone", None)
    assert command.main(["reproduce", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    named(err, *words)


def test_bare_papermill_gets_one_line_for_bad_values_and_where_nothing_can_be_written(settled):
    # papermill formats paths
    paths = settled.notebook, settled.root / "o.ipynb"
    paths = [str(path).replace("{", "{{").replace("}", "}}") for path in paths]
    shutil.rmtree(settled.root / "build")
    (settled.root / "build").write_text("no folder")
    for name, *shown in (("rums", "rums", "runs?"), ("runs", "build/lab")):
        code, _, err = settled.python("papermill", *paths, "-p", name, 3)
        assert code != 0
        named(next(line for line in err.splitlines() if "ParameterError: " in line), *shown)
    named(refusal(settled, code=1), str(settled.root / "build"))


def test_what_the_system_refuses_is_one_line_and_no_bad_argument(monkeypatch, capsys, tmp_path):
    def full(*_):
        raise OSError(errno.ENOSPC, "full", "/somewhere")

    handlers = {}
    monkeypatch.setattr(signal, "signal", handlers.__setitem__)
    monkeypatch.setattr(batch, "status", full)
    assert command.main(["status"]) == command.FAILED
    named(capsys.readouterr().err, "/somewhere")
    # the exit code is that of the command, and not of a signal that comes after it
    assert handlers == dict.fromkeys(command.STOPS, signal.SIG_IGN)
    monkeypatch.setattr(fcntl, "flock", full)  # here it warns
    with ExitStack() as held:
        batch._alone(tmp_path, held)
    assert capsys.readouterr().err.count("\n") == 1
    (tmp_path / "paper").mkdir()
    monkeypatch.setattr(batch.os, "access", lambda path, _: path.name != "paper")
    fixed = partial(batch.reproduce, ["hu2021/H-lower-bound"], output=tmp_path)
    refused(fixed, str(tmp_path / "paper"), "--output", error=OSError)


def test_as_many_run_at_a_time_as_this_process_may_use_cores(tmp_path, monkeypatch):
    monkeypatch.setattr(batch.joblib, "cpu_count", lambda: 7)
    monkeypatch.setattr(batch, "_all", lambda todo, root, at_once, *_: at_once)
    assert batch.reproduce(["hu2021/H-lower-bound"], output=tmp_path / "new") == 7


def test_a_missing_library_is_named_and_a_closed_stream_is_no_error():
    main = "from privregret.__main__ import main; sys.exit(main(['status']))"
    lacking = [sys.executable, "-c", f"import sys; sys.modules['jinja2'] = None; {main}"]
    done = subprocess.run(lacking, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    named(done.stderr, "jinja2", "'.[notebooks]'")
    for closed in ("| true", ">&-", "2>&-"):
        command = f"'{sys.executable}' -m privregret status azize2025/B-release-models {closed}"
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


SAVE = """
from pathlib import Path
for path, old, new in (("save.ipynb", "runs: int = 3", "runs: int = 7"), ("save.toml", "A ", "B ")):
    path = Path("notebooks/demo", path)
    path.write_text(path.read_text().replace(old, new, 1))  # not in this cell
"""
SWAP = """
import os
from pathlib import Path
module = Path("src/privregret/bounds/hu2021.py")
text, when = module.read_bytes(), os.stat(module)
module.write_bytes(text + b"EDITED = 1")
from privregret.bounds import hu2021
module.write_bytes(text)
os.utime(module, ns=(when.st_atime_ns, when.st_mtime_ns))
"""


def test_what_is_read_is_what_runs(settled):
    """Editors save a notebook and its texts while it runs, and a module is not the one for long."""
    write(settled, "save", SAVE)
    write(settled, "swap", SWAP)
    write(settled, "system", "import sys\nsys.executable = 'python9'")
    git(settled.root, "add", ".")
    git(settled.root, "commit", "-qm", "three")
    lines = {line.split(":")[0]: line for line in ran(settled, "-j", "1", code=1)}
    named(lines["FAILED demo/swap"], "src/privregret/bounds/hu2021.py")
    named(lines["FAILED demo/system"], "python9", sys.executable)
    assert pd.read_csv(figure(settled, "save")).y.tolist() == [1, 3]
    said = json.loads((settled.root / "figures/manifest.json").read_text())
    assert said["outputs"]["demo/save"]["caption"] == "A line."
    assert set(said["notebooks"]) == {"demo/one", "demo/save"}
    named(stale(settled)["demo/save"], "notebooks/demo/save.toml")


def test_nothing_in_the_environment_decides_what_runs(project, tmp_path, monkeypatch):
    """Kernels and settings of others, long paths, streams without Greek."""
    other = tmp_path / "jupyter/kernels/python3/kernel.json"
    settings, long = tmp_path / "matplotlibrc", tmp_path / ("ü" * 50)
    other.parent.mkdir(parents=True)
    other.write_text('{"argv": ["false"], "display_name": "other", "language": "python"}')
    settings.write_text("backend: none\n")
    long.mkdir()
    write(project, "one", "import IPython\nIPython.display.display('ε')\nprint('ε')")
    write(project, "two", "raise ValueError('ε')")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    monkeypatch.setenv("TMPDIR", str(long))
    monkeypatch.setenv("MATPLOTLIBRC", str(settings))
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    lines = ran(project, code=1)
    assert sorted(line.split(":")[0] for line in lines[1:]) == ["FAILED demo/two", "demo/one"]
    assert any("\\u03b5" in line for line in lines)
    # where no local socket can be, kernels use a port
    for folder, transport in ((tmp_path, "ipc"), (long, "tcp")):
        assert batch._kernel(folder, {})(kernel_name="python3").transport == transport
