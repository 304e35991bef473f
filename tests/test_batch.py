"""The batch command and bare papermill on tiny notebooks: what runs again, what fails how, and what
a kill leaves."""

import errno
import json
import os
import re
import shutil
import signal
import time
from functools import partial
from unittest.mock import Mock

import nbformat
import pandas as pd
import pytest
import scipy
from conftest import Project, git, named, python, refused

from privregret import __main__ as command
from privregret.core.files import digest
from privregret.press import batch

CELLS = """\
runs: int = 3  # number of runs
table: object = TABLE  # a file
# %%
from privregret.core import checks
from privregret.press import notebook

notebook.start("demo/NAME", globals(), runs=checks.positive_int, table=RULE)
# %%
MORE
# %%
import matplotlib.pyplot as plt
import pandas as pd
from privregret.press import publish

data = pd.DataFrame({"x": [0, 1], "y": [1.0, runs]})
fig, ax = plt.subplots()
ax.plot(data.x, data.y)
publish.figure(fig, data, "OUTPUT")
publish.verdict("OUTPUT", runs)
# %%
notebook.end()"""
TEXTS = """\
figure.OUTPUT.caption = "A line."
[claim]
OUTPUT = {title = "Small", place = "Here", claim = "It is small.", quantity = "value", \
evidence = "closed form", at_most = 10, macro = "demoMACRO"}
"""
KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
BOUNDS = "from privregret.bounds import hu2021"
PALETTE = "press/palette.toml"
FRESH = "up to date"
pytestmark = pytest.mark.xdist_group("batch")


def write(project, name, more="", output="", table="''", rule="checks.text"):
    """A notebook demo/<name> that draws one figure, with more code before it, and its texts."""
    output = output or name
    slots = {"NAME": name, "OUTPUT": output, "MORE": more, "TABLE": table, "RULE": rule}
    code = re.sub("|".join(slots), lambda slot: slots[slot[0]], CELLS)
    cells = [*map(nbformat.v4.new_code_cell, code.split("\n# %%\n"))]
    cells[0].metadata["tags"] = ["parameters"]
    path = project.root / "notebooks" / "demo" / f"{name}.ipynb"
    path.parent.mkdir(exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=KERNEL), path)
    texts = TEXTS.replace("OUTPUT", output).replace("MACRO", output.title().replace("-", ""))
    path.with_suffix(".toml").write_text(texts)
    return path


def figure(project, name):
    return project.root / f"figures/demo/{name}.csv"


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def ran(project, *arguments, code=0, **more):
    """The lines that `reproduce` prints; its exit code is tested."""
    got, out, err = project.python("privregret", "reproduce", *arguments, **more)
    assert got == code and "Traceback" not in out, out + err
    assert all(line.startswith(("skipped: ", "warning: ")) for line in err.splitlines()), err
    return out.splitlines()


def stale(project):
    """The notebooks that `status` calls stale, with the reason."""
    code, out, err = project.python("privregret", "status")
    assert code == 0, err
    return {n: why for n, why in (line.split(": ", 1) for line in out.splitlines()) if why != FRESH}


WHY = """
import json, sys
from pathlib import Path
from privregret.press import batch
for path, old, new in json.loads(sys.argv[1]):
    text = Path(path).read_text()
    assert old in text
    for now in (text.replace(old, new), text):
        Path(path).write_text(now)
        (job,) = batch.jobs(["demo/two"], {})
        print(batch.why_stale(job, batch.ROOT))
"""


def why_two(project, *edits):
    """Why demo/two is stale after each edit, which is then taken back; all in one process."""
    asked = json.dumps([(str(path), old, new) for path, old, new in edits])
    code, out, err = python("-c", WHY, asked, cwd=project.root, env=project.environment)
    assert code == 0, err
    said = out.splitlines()
    assert not any(said[1::2]), said
    return said[::2]


def published(project):
    """All that only adoption may change."""
    folders = project.root / "figures", project.root / "paper"
    paths = [p for folder in folders for p in folder.rglob("*") if p.is_file()]
    return {str(p): p.read_bytes() for p in [*paths, project.root / "README.md"]}


def refusal(project, *arguments, code=2):
    """What a `reproduce` that refuses to begin says."""
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


def test_only_what_changed_runs_again_and_the_reason_is_named(settled):
    one, two = settled.notebook, write(settled, "two", BOUNDS)
    fresh, stale_one, line = ran(settled, "-j", "2")
    assert fresh == "demo/one: up to date" and stale_one.startswith("demo/two: ")
    assert line.startswith("demo/two: ") and "1 reproduced" in line

    saved = nbformat.read(one, 4)  # opened, run by hand and saved
    saved.cells[1].execution_count = 7
    saved.cells.insert(0, nbformat.v4.new_markdown_cell("# Reworded"))
    nbformat.write(saved, one)
    before = figure(settled, "one").stat().st_mtime_ns
    assert [line.split(": ")[1] for line in ran(settled)] == [FRESH, FRESH]
    assert figure(settled, "one").stat().st_mtime_ns == before

    source, palette = (settled.root / f"src/privregret/{p}" for p in ("bounds/hu2021.py", PALETTE))
    green, blue = (f'"DP-SE" = ["{colour}"' for colour in ("green", "blue"))
    edits = (
        (source, "Bounds of", "The bounds of"),
        (palette, green, blue),
        (two.with_suffix(".toml"), "A line.", "The line."),
    )
    for why, (path, *_) in zip(why_two(settled, *edits), edits, strict=True):
        named(why, path.relative_to(settled.root))
    # what no notebook reaches, and what makes pages
    (settled.root / "src/privregret/bandits/own.py").write_text("")
    for path in ("bandits/ucb1.py", "press/render.py", "press/batch.py"):
        with (settled.root / "src/privregret" / path).open("a") as file:
            file.write("# a line\n")
    assert stale(settled) == {}
    (settled.root / "build/notebooks/demo/one.ipynb").write_text("{")
    edit(two, "[0, 1]", "[0, 2]")
    edit(settled.root / "figures/findings.md", "Small", "Large")
    found = stale(settled)
    named(found["demo/one"], "build/notebooks/demo/one.ipynb")
    named(found["demo/two"], "notebooks/demo/two.ipynb")
    assert "figures/findings.md" in found
    figure(settled, "one").unlink()
    ran(settled)
    assert stale(settled) == {} and figure(settled, "one").exists()
    (settled.root / "build/stamps/demo/one.json").write_text("{")
    assert set(stale(settled)) == {"demo/one"}


def test_a_fresh_run_replaces_a_picture_that_was_altered_with_its_hash(settled):
    picture = figure(settled, "one").with_suffix(".png")
    whole, fake = picture.read_bytes(), b"by hand"
    picture.write_bytes(fake)
    edit(settled.root / "figures/manifest.json", digest(whole), digest(fake))
    ran(settled, "--fresh")
    assert picture.read_bytes() == whole


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
    refused_value, line = ran(settled, "one", "-p", "runs", "-1", code=2)
    assert FRESH not in refused_value and line.startswith("FAILED demo/one") and "runs" in line
    ran(settled, "--output", new)
    assert (new / "figures/demo/one.csv").read_bytes() == figure(settled, "one").read_bytes()
    (tmp_path / "paper/paper").mkdir(parents=True)
    (tmp_path / "paper/paper/numbers.tex").write_text("mine")
    named(refusal(settled, "--output", tmp_path / "paper"), str(tmp_path / "paper"))
    edit(settled.notebook, "runs: int = 3", "runs: int = 7")  # not committed
    line, *rest = ran(settled)
    named(line, "demo/one", "runs", 3, 7)
    assert FRESH in rest[0] and published(settled) == before


def test_a_renamed_notebook_keeps_its_outputs_and_a_deleted_one_has_none(settled):
    two = write(settled, "two")
    ran(settled)
    assert "Of 2 claims of the papers, 2 are reproduced" in (settled.root / "README.md").read_text()
    git(settled.root, "rm", "-q", settled.notebook)
    two.unlink()
    write(settled, "uno", output="one")
    (settled.root / "notebooks/demo/Untitled.ipynb").write_text("{")
    assert {"demo/one", "demo/two"} < set(stale(settled))
    removed = [line for line in ran(settled) if "removed" in line]
    named(removed[0], "demo/one")
    named(removed[1], "demo/two")
    said = json.loads((settled.root / "figures/manifest.json").read_text())
    assert set(said["notebooks"]) == {"demo/uno"} and set(said["outputs"]) == {"demo/one"}
    assert figure(settled, "one").exists() and not figure(settled, "two").exists()
    assert "Of 1 claim of the papers, 1 is reproduced" in (settled.root / "README.md").read_text()
    assert "demoTwo" not in (settled.root / "paper/numbers.tex").read_text()
    assert stale(settled) == {}


def test_what_is_absent_is_not_taken_for_deleted(settled):
    """A sparse checkout, a copy in part, a renaming that git was not told of."""
    write(settled, "two")
    ran(settled)
    (settled.root / "notebooks/demo/two.ipynb").rename(settled.root / "two.ipynb")  # without git
    (settled.root / ".git").rename(settled.root / "hidden")
    named(stale(settled)["demo/two"], "git init")
    before = published(settled)
    assert any("demo/two" in line and "git init" in line for line in ran(settled))
    assert published(settled) == before
    (settled.root / "hidden").rename(settled.root / ".git")
    (settled.root / "two.ipynb").rename(settled.root / "notebooks/demo/two.ipynb")
    git(settled.root, "update-index", "-q", "--refresh")
    git(settled.root, "sparse-checkout", "set", "--no-cone", "/*", "!/notebooks/demo/")
    write(settled, "uno", output="one")
    assert not settled.notebook.exists()
    named(stale(settled)["demo/one"], "git rm")
    lines = ran(settled, code=1)
    assert any("demo/one" in line and "git rm" in line for line in lines)
    named(lines[-1], "demo/uno", "already published by demo/one")
    assert published(settled) == before


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
    assert (project.root / "build/failed/demo/killed.log").read_text().endswith("last words")
    assert "ZeroDivisionError" in (project.root / "build/failed/demo/bad.ipynb").read_text()
    assert figure(project, "bad").read_text() == "old"
    assert figure(project, "good").exists() and not figure(project, "killed").exists()
    write(project, "bad")
    ran(project, "demo/bad")
    assert not list((project.root / "build/failed/demo").glob("bad.*"))


SLOW = """
import os, time
open("telling", "w").write(str(os.getpid()))
os.rename("telling", "running")
time.sleep(3600)
"""


def wait(what):
    """Until something is so; the time is for machines that are very slow."""
    deadline = time.monotonic() + 600
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_killed_run_goes_on_where_it_was_and_nobody_runs_beside_it(settled):
    slow = write(settled, "slow", SLOW)
    write(settled, "a-quick")
    for how, code in ((signal.SIGINT, 130), (signal.SIGKILL, -9)):
        process = settled.start("privregret", "reproduce", "-j", "1")
        wait((settled.root / "running").exists)
        assert refusal(settled).splitlines()[-1].startswith("error: ")
        process.send_signal(how)
        _, err = process.communicate()
        assert process.returncode == code and "Traceback" not in err
        assert figure(settled, "a-quick").exists() and not figure(settled, "slow").exists()
        kernel = int((settled.root / "running").read_text())
        (settled.root / "running").unlink()
        wait(lambda: not os.path.exists(f"/proc/{kernel}"))  # noqa: B023
    edit(slow, "time.sleep(3600)", "pass")
    assert FRESH in ran(settled)[0]
    assert figure(settled, "slow").exists()
    hidden = {p.name for p in (settled.root / "figures").rglob(".*")}
    assert hidden == {".lock"} and not (settled.root / "build/partial").exists()


def test_bad_requests_get_one_line_before_any_work(monkeypatch, capsys):
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(batch, "_alone", None)
    for arguments, *words in (
        (["-p", "rums", "3"], "rums", "runs?"),
        (["hu2021/6-experiment"], "'hu2021/6-experiment'", "hu2021/6-experiments?"),
        (["-j", "0"], "-j", "0"),
        (["-p", "runs", "5", "-p", "runs", "6"], "-p runs"),
        (["--output", str(batch.ROOT)], "--output"),
    ):
        assert command.main(["reproduce", *arguments]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        named(err, *words)


def test_bare_papermill_says_in_one_line_what_is_bad_and_where_it_cannot_write(settled, tmp_path):
    # papermill formats paths
    paths = [p.replace("{a}", "{{a}}") for p in map(str, (settled.notebook, tmp_path / "o.ipynb"))]
    shutil.rmtree(settled.root / "build")
    (settled.root / "build").write_text("no folder")
    for name, *shown in (("rums", "rums", "runs?"), ("runs", "build/lab")):
        code, _, err = settled.python("papermill", *paths, "-p", name, 3)
        assert code != 0
        named(next(line for line in err.splitlines() if "ParameterError: " in line), *shown)
    named(refusal(settled, code=1), str(settled.root / "build"))


def test_what_the_system_refuses_is_one_line(monkeypatch, capsys, tmp_path):
    def full(*_):
        raise OSError(errno.ENOSPC, "full", "/somewhere")

    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(batch, "status", full)
    assert command.main(["status"]) == command.FAILED
    named(capsys.readouterr().err, "/somewhere")
    monkeypatch.setattr(batch, "status", Mock(side_effect=ModuleNotFoundError(name="papermill")))
    assert command.main(["status"]) == command.USAGE
    named(capsys.readouterr().err, "papermill", command.INSTALL)
    monkeypatch.setattr(batch.os, "access", lambda path, _: path != tmp_path)
    fixed = partial(batch.reproduce, ["hu2021/H-lower-bound"], output=tmp_path / "a/b")
    refused(fixed, str(tmp_path), "--output", error=OSError)
    # before hours of work whose outputs could not be adopted
    monkeypatch.setattr(batch.os, "access", lambda path, _: path != batch.ROOT / "figures/hu2021")
    fixed = partial(batch.reproduce, ["hu2021/H-lower-bound"])
    refused(fixed, "figures/hu2021", "--output", error=OSError)


def test_every_file_that_a_parameter_names_counts(settled, tmp_path, monkeypatch):
    """In lists and tables, below a home, as an address, in a folder; and no endless one."""
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "a folder"
    paths = tmp_path / "a.csv", tmp_path / "ü.csv", folder / "in/b.csv", settled.root / "c.csv"
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1")
    (folder / "in/zeros").symlink_to("/dev/zero")
    (folder / "in/again").symlink_to(folder)
    lists = (
        ["~/a.csv", "/proc/kmsg", "/", "", "."],
        {paths[1].as_uri(): 1, "b": [str(folder), "c.csv"]},
    )
    write(settled, "two", table=repr([*lists]), rule="lambda name, value: value")
    ran(settled, "two")
    assert stale(settled) == {}
    for why, path in zip(why_two(settled, *((p, "1", "2") for p in paths)), paths, strict=True):
        named(why, path.name)
    (folder / "in/new.csv").touch()
    named(stale(settled)["demo/two"], "new.csv")


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
OWN = """
for text in ("2", "1"):
    open(table, "w").write(text)
"""
EXTRA = """
from privregret.bounds import extra
runs = extra.VALUE
"""


def test_what_is_read_is_what_runs(settled):
    """Editors save a notebook and its texts while it runs, and a module is not the one for long."""
    write(settled, "save", SAVE)
    write(settled, "swap", SWAP)
    write(settled, "own", OWN, table="'own.csv'")
    (settled.root / "own.csv").write_text("1")
    git(settled.root, "add", ".")
    git(settled.root, "commit", "-qm", "two")
    lines = {line.split(":")[0]: line for line in ran(settled, "-j", "1", code=1)}
    named(lines["FAILED demo/swap"], "src/privregret/bounds/hu2021.py")
    named(lines["FAILED demo/own"], "own.csv")
    assert pd.read_csv(figure(settled, "save")).y.tolist() == [1, 3]
    said = json.loads((settled.root / "figures/manifest.json").read_text())
    assert said["outputs"]["demo/save"]["caption"] == "A line."
    assert set(said["notebooks"]) == {"demo/one", "demo/save"}
    named(stale(settled)["demo/save"], "notebooks/demo/save.toml")


def test_bytecode_of_an_older_source_does_not_run(settled, monkeypatch):
    """Python knows a source by its size and the second of its time."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    module = settled.root / "src/privregret/bounds/extra.py"
    write(settled, "two", EXTRA)
    for value in (4, 5):
        module.write_text(f"VALUE = {value}\n")
        os.utime(module, (10**9, 10**9))
        ran(settled, "two")
        assert pd.read_csv(figure(settled, "two")).y.tolist() == [1, value]


def test_only_the_locked_libraries_change_what_is_published(settled, tmp_path):
    before, lock = published(settled), settled.root / "requirements.lock"
    edit(lock, "numpy==", "scipy==1.0 \\\n    --hash=sha256:0\nnumpy==")
    err = refusal(settled)
    named(err, "scipy", "1.0", scipy.__version__, "--output")
    assert published(settled) == before
    _, _, err = settled.python("privregret", "status")
    named(err, "scipy", "1.0", scipy.__version__)
    ran(settled, "--output", tmp_path / "new")
    edit(lock, "scipy==1.0", f"scipy==1.0 ; python_version < '3'\nscipy=={scipy.__version__}")
    ran(settled)


def test_a_library_that_kernels_lack_is_named(tmp_path, monkeypatch):
    """Such as one of the user's own folder, which they do not see."""
    (tmp_path / batch.LOCK).write_text("no-such==1.0\n")
    monkeypatch.setattr(batch, "ROOT", tmp_path)
    monkeypatch.setattr(batch.manifest, "LIBRARIES", ("no-such",))
    named(batch.unlocked(), "no-such", "missing", "1.0")


WIDGETS = """
import sys, time
assert sys.flags.no_user_site
from IPython.display import display
from ipywidgets import interact
from privregret.core.progress import has_front_end, progress

print("ε")
for _ in progress(range(3), 3):
    time.sleep(0.6)
interact(display, x=[0.5, 1.0]) if has_front_end() else None
"""


def test_nothing_in_the_environment_decides(project, tmp_path, monkeypatch):
    """Kernels of others, streams without Greek, a JupyterLab."""
    other = tmp_path / "jupyter/kernels/python3/kernel.json"
    other.parent.mkdir(parents=True)
    other.write_text('{"argv": ["false"], "display_name": "other", "language": "python"}')
    write(project, "one", WIDGETS)
    write(project, "two", "raise ValueError('ε')")
    strange = {"JUPYTER_PATH": tmp_path / "jupyter", "PYTHONIOENCODING": "ascii"}
    for name, value in (strange | {"JPY_SESSION_NAME": "a"}).items():
        monkeypatch.setenv(name, str(value))
    out, err = (process := project.start("privregret", "reproduce")).communicate()
    assert process.returncode == 1 and "\\u03b5" in out, out + err
    # neither widgets nor bars are stored
    done = nbformat.read(project.root / "build/notebooks/demo/one.ipynb", as_version=4)
    (said,) = done.cells[2].outputs
    assert said.text == "ε\n" and "widgets" not in done.metadata
