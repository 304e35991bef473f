"""The filter by which git keeps no outputs: notebooks as committed are as it leaves them, and only
sources count."""

import shutil
import subprocess

import nbformat
import pytest
from conftest import ROOT

from privregret.press import jobs
from privregret.press.strip import saved, stripped

PATHS = {name: ROOT / "notebooks" / f"{name}.ipynb" for name in jobs.select([])}
ONE = PATHS["azize2025/3-lower-bound"]


@pytest.mark.parametrize("name", PATHS)
def test_a_committed_notebook_is_as_the_filter_leaves_it(name):
    text = PATHS[name].read_text()
    assert stripped(text) == text


def as_lab_saves_it(path, change=("", "")):
    """Write a notebook as it is after a run in JupyterLab, one text of its sources replaced."""
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata.language_info = {
        "name": "python",
        "version": "3.11.7",
        "mimetype": "text/x-python",
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


def test_a_run_in_jupyterlab_changes_nothing_and_an_edit_itself_alone(tmp_path):
    copy = tmp_path / "copy.ipynb"
    shutil.copy(ONE, copy)
    as_lab_saves_it(copy)
    assert copy.read_text() != ONE.read_text() and stripped(copy.read_text()) == ONE.read_text()
    as_lab_saves_it(copy, ("pairs: int = 20000", "pairs: int = 20"))
    before, after = ONE.read_text().splitlines(), stripped(copy.read_text()).splitlines()
    assert [line for line in after if line not in before] == [
        line.replace("20000", "20") for line in before if "pairs: int" in line
    ]


def test_in_a_clone_with_the_set_up_of_make_and_without(tmp_path):
    if not shutil.which("git") or not shutil.which("make"):
        pytest.skip("needs git and make")

    def run(*command, cwd):
        return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout

    origin, clone = tmp_path / "origin", tmp_path / "clone"
    (origin / "src" / "privregret" / "press").mkdir(parents=True)
    for name in (
        "Makefile",
        "requirements.lock",
        "pyproject.toml",
        ".gitattributes",
        "src/privregret/press/strip.py",
    ):
        shutil.copy(ROOT / name, origin / name)
    shutil.copy(ONE, origin / "one.ipynb")
    (origin / "two.ipynb").write_text("not a notebook: {")
    run("git", "init", "-q", cwd=origin)
    run("git", "add", ".", cwd=origin)
    run("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one", cwd=origin)
    run("git", "clone", "-q", origin, clone, cwd=tmp_path)
    assert run("git", "status", "--porcelain", cwd=clone) == ""
    as_lab_saves_it(clone / "one.ipynb")
    assert run("git", "status", "--porcelain", cwd=clone) == " M one.ipynb\n"
    recipe = run("make", "--dry-run", ".venv/.ready", cwd=clone)
    (set_up,) = [line for line in recipe.splitlines() if "git config" in line]
    run("sh", "-c", set_up, cwd=clone)
    (clone / "two.ipynb").touch()
    assert run("git", "diff", "--stat", cwd=clone) == ""
    saved(str(clone / "one.ipynb"))
    assert run("git", "status", "--porcelain", cwd=clone) == ""
    as_lab_saves_it(clone / "one.ipynb", ("pairs: int = 20000", "pairs: int = 20"))
    shutil.copy(ONE, clone / "scratch.ipynb")
    for path in clone.glob("*.ipynb"):
        saved(str(path))
    assert run("git", "status", "--porcelain", cwd=clone) == " M one.ipynb\n?? scratch.ipynb\n"
    assert run("git", "diff", "--numstat", cwd=clone) == "1\t1\tone.ipynb\n"
    shutil.rmtree(clone / ".git")
    run("sh", "-c", set_up, cwd=clone)  # an unpacked archive is no clone
    saved(str(clone / "one.ipynb"))
