"""The filter by which git keeps no outputs, as `make` sets it up: only sources count, outputs pass
in no clone, and no code of the branch that is checked out runs."""

import gzip
import io
import json
import os
import random
import runpy
import shutil
import subprocess
import sys
from types import SimpleNamespace

import nbformat
import pytest
from conftest import ROOT, git
from nbconvert.exporters import ScriptExporter

ONE = ROOT / "notebooks/azize2025/3-lower-bound.ipynb"
STRIP = "notebooks/.jupyter/strip.py"
# in every output, and long: no cut leaves a part that is not seen
SECRET = "c2VjcmV0" * 200

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="needs git")


@pytest.fixture
def origin(tmp_path):
    """A project with one notebook."""
    origin = tmp_path / "origin"
    for name in (".gitattributes", ".ci/set-up", STRIP):
        (origin / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, origin / name)
    shutil.copy(ONE, origin / "one.ipynb")
    (origin / "two.ipynb").write_text("<<<<<<< HEAD\n{")
    (origin / "a.pdf").write_bytes(b"%PDF\n\r\n")
    git(origin, "init", "-q", "-b", "main")
    git(origin, "add", ".")
    git(origin, "commit", "-qm", "one")
    return origin


@pytest.fixture
def clone(origin, tmp_path):
    """A clone of it, whose path asks for quotes."""
    clone = tmp_path / 'it\'s "a" $clone'
    git(tmp_path, "clone", "-q", origin, clone)
    return clone


def set_up(clone, **more):
    """What every `make` does for git."""
    subprocess.run(["sh", ".ci/set-up", "filter"], cwd=clone, check=True, env=os.environ | more)


def staged(clone):
    """The notebook as `git add` takes it."""
    git(clone, "add", "one.ipynb")
    return git(clone, "show", ":one.ipynb")


def as_lab_saves_it(path, change=("", "")):
    """Write a notebook as it is after a run in JupyterLab, one text of its sources replaced; with
    what VS Code and Colab add, and who asks that outputs be kept."""
    notebook = nbformat.read(path, as_version=4)
    more = {"vscode": {"languageId": "python"}, "colab": {"provenance": []}, "keep_output": True}
    notebook.metadata |= more | {"widgets": {"application/vnd.jupyter.widget-state+json": {}}}
    notebook.metadata.language_info = {"name": "python", "file_extension": ".py", "version": "3.11"}
    notebook.metadata.kernelspec.display_name = ".venv (3.11.7)"
    more |= {"trusted": True, "editable": True, "slideshow": {"slide_type": ""}, "jupyter": {}}
    for i, cell in enumerate(notebook.cells):
        cell.metadata |= more
        cell.source = cell.source.replace(*change)
        if cell.cell_type == "code":
            cell.execution_count = i + 1
            shown = {"image/png": SECRET, "text/plain": [f"é{SECRET}\n", SECRET]}
            cell.outputs = [nbformat.v4.new_output("stream", text=f"é\n{SECRET}")]
            cell.outputs.append(nbformat.v4.new_output("display_data", shown))
    notebook.cells.append(nbformat.v4.new_code_cell())
    nbformat.write(notebook, path)


def saved(path):
    """What JupyterLab does after it saved a file."""
    hook = ROOT / "notebooks/.jupyter/jupyter_server_config.py"
    code = "import sys; from unittest.mock import Mock; c = Mock(); __file__ = sys.argv[1]; "
    code += "exec(open(__file__).read()); look_again(sys.argv[2])"
    subprocess.run([sys.executable, "-c", code, hook, path], cwd="/", check=True)


@pytest.fixture
def strip(monkeypatch):
    """What the filter makes of some bytes; None if it refuses them, in one line."""
    main = runpy.run_path(str(ROOT / STRIP))["main"]

    def strip(data):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
        monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=io.BytesIO()))
        try:
            main()
        except SystemExit as refusal:
            assert "\n" not in refusal.code
            return None
        return sys.stdout.buffer.getvalue()

    return strip


def test_committed_notebooks_are_as_the_filter_leaves_them(strip):
    command, text = [sys.executable, "-IS", ROOT / STRIP], ONE.read_bytes()
    assert subprocess.run(command, input=text, capture_output=True).stdout == text
    for path in (ROOT / "notebooks").glob("[!.]*/*.ipynb"):
        text = path.read_text()
        assert strip(text.encode()) == text.encode()
        # the marks of a conflict
        marked = text.replace("\n", "\n<<<<<<< HEAD\n||||||| a\n=======\n>>>>>>> b\n").encode()
        assert strip(marked) == marked


def test_the_filter_passes_only_what_it_has_understood(strip, tmp_path):
    """What may hold an output, cut or in another form, loses it or is refused."""
    as_lab_saves_it(path := shutil.copy(ONE, tmp_path / "one.ipynb"))
    whole, stripped = path.read_text(), ONE.read_bytes()
    for encoding in ("utf-8-sig", "utf-16", "utf-16-be", "utf-32", "utf-32-le"):
        assert strip(whole.encode(encoding)) == stripped, encoding
    book = json.loads(whole)
    one_line = json.dumps(book).replace('"output_type"', '"output\\u005ftype"')
    assert strip(one_line.encode()) == stripped
    for form in (whole, one_line, json.dumps(book, indent=4)):
        for at in random.Random(1).sample(range(1, len(form)), 20):
            for part in (form[:at], form[at:], f">>>>>>> b\n{form[:at]}"):
                got = strip(part.encode("utf-8"))
                assert got is None or b"c2Vj" not in got
        assert strip(f"<<<<<<< HEAD\n{form}".encode()) is None
        assert strip(f"{form}{form}".encode()) is None
    assert strip(gzip.compress(whole.encode())) is None
    old = {"worksheets": [{"cells": book["cells"]}], "nbformat": 3}
    for bad in (json.dumps(old, indent=1), json.dumps(book["cells"]), "[" * 10**5 + SECRET):
        assert strip(bad.encode()) is None
    other = book | {"worksheets": book["cells"], "metadata": book["metadata"] | {"widgets": SECRET}}
    other["metadata"]["kernelspec"] = {"name": "ir", "language": "R"}
    assert b"c2Vj" not in strip(json.dumps(other).encode())
    assert strip(b"") == b""
    half = json.dumps(book | {"cells": [{"cell_type": "markdown", "source": "\ud83d"}]})
    assert json.loads(strip(half.encode()))["cells"][0]["source"] == ["\ud83d"]


def test_a_notebook_becomes_a_script(strip):
    stripped = nbformat.reads(strip(ONE.read_bytes()).decode(), as_version=4)
    script, about = ScriptExporter().from_notebook_node(stripped)
    assert (
        about["output_extension"] == ".py"
        and script.count("\n# #") > 2
        and compile(script, "", "exec")
    )


def test_a_run_in_jupyterlab_changes_nothing_and_an_edit_itself_alone(clone):
    def status():
        return git(clone, "status", "--porcelain")

    as_lab_saves_it(clone / "one.ipynb")
    assert status() == " M one.ipynb\n"  # no set-up yet, and git works
    set_up(clone)
    (clone / "two.ipynb").touch()
    assert git(clone, "diff", "--stat") == ""
    saved(clone / "one.ipynb")
    assert status() == ""
    as_lab_saves_it(clone / "one.ipynb", ("pairs: int = 20000", "pairs: int = 20"))
    shutil.copy(ONE, clone / "scratch.ipynb")
    for path in clone.glob("*.ipynb"):
        saved(path)
    assert status() == " M one.ipynb\n?? scratch.ipynb\n"
    assert git(clone, "diff", "--numstat") == "1\t1\tone.ipynb\n"
    shutil.rmtree(clone / ".git")
    saved(clone / "one.ipynb")
    set_up(clone)


@pytest.mark.parametrize("where", ["moved", "worktree", "hook"])
def test_outputs_pass_nowhere(clone, tmp_path, where):
    if where == "worktree":
        git(clone, "worktree", "add", "-q", "-b", "other", tmp_path / "other")
        set_up(tmp_path / "other")
        git(clone, "worktree", "remove", "--force", tmp_path / "other")
    else:
        # a hook in a linked worktree names its repository
        set_up(clone, GIT_DIR=str(tmp_path / "elsewhere" if where == "hook" else clone / ".git"))
    tree = clone.rename(tmp_path / "moved") if where == "moved" else clone
    as_lab_saves_it(tree / "one.ipynb")
    assert staged(tree) == ONE.read_text()
    settings = git(tree, "config", "--get-regexp", "^filter").splitlines()
    assert len(settings) == 3 and "filter.privregret-notebooks.required true" in settings


def test_a_broken_notebook_is_kept_and_its_outputs_are_not(clone):
    """git shows the marks of a conflict, and does not take what may have outputs."""
    set_up(clone)
    one = clone / "one.ipynb"
    one.write_text(marked := ONE.read_text().replace("{", "<<<<<<< HEAD\n{", 1))
    assert staged(clone) == marked
    as_lab_saves_it(shutil.copy(ONE, one))
    whole = one.read_text()
    one.write_text(whole[:-2])
    with pytest.raises(subprocess.CalledProcessError):
        staged(clone)
    one.write_text(whole)
    (clone / ".git/privregret-notebooks.py").unlink()  # nor where the filter is gone
    with pytest.raises(subprocess.CalledProcessError):
        staged(clone)


def test_a_branch_that_is_looked_at_runs_nothing(origin, clone, tmp_path):
    set_up(clone)
    git(origin, "checkout", "-q", "-b", "evil")
    # Python for a shell, too
    ran = f"#!{sys.executable}\nopen({str(tmp_path / 'ran')!r}, 'w')"
    evil = "sitecustomize.py src/sitecustomize.py json.py src/json.py nbformat.py"
    for name in (STRIP, *evil.split(), ".venv/bin/python", ".venv/bin/python3"):
        (origin / name).parent.mkdir(parents=True, exist_ok=True)
        (origin / name).write_text(ran)
        (origin / name).chmod(0o755)
    git(origin, "add", "-f", ".")
    git(origin, "commit", "-qm", "evil")
    git(clone, "fetch", "-q")
    git(clone, "checkout", "-q", "evil", env=os.environ | {"PYTHONPATH": "src"})
    as_lab_saves_it(clone / "one.ipynb")
    assert staged(clone) == ONE.read_text() and not (tmp_path / "ran").exists()


def test_a_clone_that_converts_line_ends_has_the_same_bytes(origin, tmp_path):
    git(tmp_path, "clone", "-q", "-c", "core.autocrlf=true", origin, "crlf")
    for path in git(origin, "ls-files").split():
        assert (tmp_path / "crlf" / path).read_bytes() == (origin / path).read_bytes()
