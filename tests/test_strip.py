"""The filter by which git keeps no outputs, as `make` sets it up: only sources count, and no code
of the branch that is checked out runs."""

import shutil
import subprocess
import sys

import nbformat
import pytest
from conftest import ROOT

ONE = ROOT / "notebooks/azize2025/3-lower-bound.ipynb"

pytestmark = pytest.mark.skipif(
    not (shutil.which("git") and shutil.which("make")), reason="needs git and make"
)


def run(*command, cwd):
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def clone(tmp_path):
    """A clone of a project with one notebook, and the environment of these tests."""
    origin, clone = tmp_path / "origin", tmp_path / "a clone"
    origin.mkdir()
    for name in ("Makefile", "requirements.lock", "pyproject.toml", ".gitattributes"):
        shutil.copy(ROOT / name, origin)
    shutil.copy(ONE, origin / "one.ipynb")
    (origin / "two.ipynb").write_text("not a notebook: {")
    # code of the branch
    (origin / "nbstripout.py").write_text("open('ran', 'w')")
    run("git", "init", "-q", cwd=origin)
    run("git", "add", ".", cwd=origin)
    run("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one", cwd=origin)
    run("git", "clone", "-q", origin, clone, cwd=tmp_path)
    (clone / ".git/info/exclude").write_text(".venv\n")
    (clone / ".venv").symlink_to(sys.prefix)
    return clone


def set_up(clone):
    """What `make` does for git, done here; the filter's command."""
    recipe = run("make", "--dry-run", "--assume-new=pyproject.toml", ".venv/.ready", cwd=clone)
    (line,) = [line for line in recipe.splitlines() if "git config" in line]
    run("sh", "-c", line, cwd=clone)
    return run("git", "config", "filter.nbstripout.clean", cwd=clone).strip()


def as_lab_saves_it(path, change=("", "")):
    """Write a notebook as it is after a run in JupyterLab, one text of its sources replaced."""
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata.language_info = {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
        "version": "3.11.7",
    }
    notebook.metadata.widgets = {"application/vnd.jupyter.widget-state+json": {"state": {}}}
    for i, cell in enumerate(notebook.cells):
        cell.metadata.trusted = True
        cell.source = cell.source.replace(*change)
        if cell.cell_type == "code":
            cell.execution_count = i + 1
            cell.outputs = [nbformat.v4.new_output("stream", text="é\n")]
    notebook.cells.append(nbformat.v4.new_code_cell())
    nbformat.write(notebook, path)


def saved(path):
    """What JupyterLab does after it saved a file."""
    hook = ROOT / "notebooks/.jupyter/jupyter_server_config.py"
    code = (
        "import sys; from unittest.mock import Mock; c = Mock(); exec(open(sys.argv[1]).read()); "
    )
    run(sys.executable, "-c", code + "look_again(sys.argv[2])", hook, path, cwd="/")


def test_committed_notebooks_are_as_the_filter_leaves_them(clone):
    paths = sorted((ROOT / "notebooks").glob("[!.]*/*.ipynb"))
    command = f"{set_up(clone)} --textconv {' '.join(map(str, paths))}"
    assert run("sh", "-c", command, cwd=clone) == "".join(p.read_text() for p in paths)


def test_a_run_in_jupyterlab_changes_nothing_and_an_edit_itself_alone(clone):
    def status():
        return run("git", "status", "--porcelain", cwd=clone)

    as_lab_saves_it(clone / "one.ipynb")
    assert status() == " M one.ipynb\n"  # no set-up yet, and git works
    set_up(clone)
    (clone / "two.ipynb").touch()
    assert run("git", "diff", "--stat", cwd=clone) == ""
    saved(clone / "one.ipynb")
    assert status() == "" and not (clone / "ran").exists()
    as_lab_saves_it(clone / "one.ipynb", ("pairs: int = 20000", "pairs: int = 20"))
    shutil.copy(ONE, clone / "scratch.ipynb")
    for path in clone.glob("*.ipynb"):
        saved(path)
    assert status() == " M one.ipynb\n?? scratch.ipynb\n"
    assert run("git", "diff", "--numstat", cwd=clone) == "1\t1\tone.ipynb\n"
    (clone / ".venv").unlink()
    run("git", "add", "one.ipynb", cwd=clone)  # without its outputs or with them, but it works
    shutil.rmtree(clone / ".git")
    saved(clone / "one.ipynb")
