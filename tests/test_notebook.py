"""The strict check of a notebook's parameters, and the mark that it ended."""

import json
import signal

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from conftest import ROOT, git, named, refused

from privregret import __main__ as command
from privregret.core import checks
from privregret.press import batch, notebook, publish, text

RULES = {"runs": checks.positive_int, "epsilon": checks.positive}
RULES["epsilons"] = checks.list_of(checks.positive)


def start(injected="", **changes):
    namespace = {"runs": 3, "epsilon": 1, "epsilons": [0.5, 2]} | changes | {"In": ["", injected]}
    notebook.start("hu2021/test", namespace, **RULES)
    return namespace


def test_good_values_pass_and_bad_ones_stop_with_one_line_that_names_them():
    # only what papermill injected is checked for names: a cell that begins so and assigns literals
    for cell in ("n = 3", "# Parameters of my own\nn = 3", "# Parameters\n%matplotlib inline"):
        start(cell)
    namespace = start("# Parameters\nruns = 3\n")
    assert type(namespace["epsilon"]) is float and namespace["epsilons"] == [0.5, 2.0]
    assert notebook.current.parameters["epsilon"] == 1
    for changes, *shown in (({"runs": "five"}, "runs", "'five'"), ({"epsilons": [1, 0]}, "[1]")):
        error = refused(lambda given=changes: start(**given), *shown, error=notebook.ParameterError)
        assert error._render_traceback_() == [f"ParameterError: {error}"]


def test_a_run_by_hand_with_other_parameters_has_a_folder_of_its_own(monkeypatch):
    name = "hu2021/H-lower-bound"
    usual = notebook.committed(name)
    assert usual == notebook.declared((ROOT / f"notebooks/{name}.ipynb").read_bytes())
    monkeypatch.delenv("PRIVREGRET_OUTPUT", raising=False)
    places, rules = [], dict.fromkeys(usual, lambda _, value: value)
    for changed in ({}, {"gap": 0.1}, {"gap": 0.2}, {}):
        notebook.start(name, usual | changed, **rules)
        places.append(notebook.output_root())
    assert places[0] == places[3] == notebook.BUILD / "lab"
    assert [place.name for place in places[1:3]] == ["gap=0.1", "gap=0.2"]


def test_a_script_says_where_its_output_is(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PRIVREGRET_OUTPUT", str(tmp_path))
    start()
    notebook.end()
    named(capsys.readouterr().out, "hu2021/test", str(tmp_path))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The root of a project with one notebook, demo/one, under git."""
    for module, name in ((notebook, "NOTEBOOKS"), (batch, "NOTEBOOKS"), (text, "NOTEBOOKS")):
        monkeypatch.setattr(module, name, tmp_path / "notebooks")
    monkeypatch.setattr(notebook, "ROOT", tmp_path)
    (tmp_path / "notebooks/demo").mkdir(parents=True)
    return tmp_path


def save(folder, *cells, tags=("parameters",), more=""):
    """Write demo/one: parameters, the check, and more code."""
    sources = [*cells, 'notebook.start("demo/one", globals())', more]
    made = [{"cell_type": "code", "metadata": {}, "source": [source]} for source in sources]
    for cell, tag in zip(made, tags, strict=False):
        cell["metadata"]["tags"] = [tag]
    (folder / "notebooks/demo/one.ipynb").write_text(json.dumps({"cells": made}))


def test_what_no_hash_would_know_is_refused(folder):
    save(folder, "factor = 1\nruns: int = 2**3  # many")
    assert batch.read("demo/one")[2] == {"factor": 1, "runs": 8}
    for shown, *cells in (
        *(("print(runs)", "runs: int = 3\nprint(runs)"), ("runs", "runs: int")),
        *(("n", "runs: int = n"), ("line", "runs: int =")),
        *((value, f"runs = {value}") for value in ("1 / 0", "(-8) ** 0.5", "[0] * 9", "1 < 2")),
        *((tag, "runs = 3", "runs = 4") for tag in (2, "skip-execution", "injected-parameters")),
    ):
        save(folder, *cells, tags=("parameters", "parameters" if shown == 2 else shown))
        refused(lambda: batch.read("demo/one"), "demo/one.ipynb", shown, error=batch.UsageError)


def test_git_knows_which_parameters_are_committed(folder, monkeypatch):
    told = []

    def committed():
        return notebook.committed("demo/one", told.append)

    save(folder, "runs: int = 3")
    git(folder, "init", "-q")
    git(folder, "commit", "--allow-empty", "-qm", "none")
    assert committed() == {"runs": 3}
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    for saved in ("len('half')", "7"):
        save(folder, f"runs: int = {saved}")
        assert committed() == {"runs": 3} and not told
    monkeypatch.setenv("GIT_DIR", str(folder.parent))  # of a hook elsewhere
    assert committed() == {"runs": 3} and not told
    (folder / ".git").rename(folder / ".hidden")
    assert committed() == {"runs": 7} and len(told) == 1
    monkeypatch.delenv("GIT_DIR")
    git(folder.parent, "init", "-q")  # somebody's home folder
    assert committed() == {"runs": 7} and len(told) == 2
    (folder.parent / ".git").rename(folder / ".home")


def test_where_git_cannot_say_what_was_published_counts(folder, monkeypatch, capsys):
    git(folder, "init", "-q")
    save(folder, "runs: int = 7\nnew = 1")
    known = {"notebooks": {"demo/one": {"parameters": {"runs": 3}}}, "outputs": {}}
    monkeypatch.setattr(batch.manifest, "read", lambda _: known)
    (folder / ".git/HEAD").write_text("damaged")
    (job,) = batch.jobs(["demo/one"], {})
    assert job.parameters == {"runs": 3, "new": 1} and job.changed == {"runs": 3}
    out, err = capsys.readouterr()
    named(out, "demo/one", "runs", 7, 3)
    assert err.count("\n") == 1


def test_values_of_the_command_line_are_what_the_parameter_takes():
    for given, usual, value in (
        *(("2**22", 5, 2**22), ("1e6", 5, 1e6), ("true", False, True), (3, 5, 3)),
        *(("-2 * 10**6 // 3", 5, -666667), ("(1, 'a', True, None)", [5], [1, "a", True, None])),
        *(("0.5", [1.0, 2.0], [0.5]), ("0.5, 2**-3", [1.0], [0.5, 0.125]), ("[1, 2]", [1], [1, 2])),
        *(("a", ["b"], ["a"]), ("2024/11", "", "2024/11"), ("5", "", "5"), ("'a b'", "", "a b")),
        *(("2**10**9", 5, "2**10**9"), ("five", 5, "five"), ("[" * 300, 5, "[" * 300)),
    ):
        assert repr(batch.fitted(given, usual)) == repr(value)


def test_by_hand_a_figure_of_ones_own_needs_no_caption(folder, monkeypatch):
    monkeypatch.delenv("PRIVREGRET_OUTPUT", raising=False)
    monkeypatch.chdir(folder)
    (folder / "notebooks/demo/one.toml").write_text("[figure.typo]\ncaption = 'At «nothing».'")
    save(folder, "runs: int = 3", more="for e in")
    notebook.start("demo/one", {"runs": 3}, runs=checks.positive_int)
    monkeypatch.setattr(notebook.current, "lab", folder / "build/lab")
    data = pd.DataFrame({"x": [1], "y_low": [2.0]})
    publish.figure(plt.subplots()[0], data, "mine")
    publish.table(data, "mine-too")
    made = folder / "build/lab/figures/demo"
    assert {path.suffix for path in made.glob("mine.*")} == {".pdf", ".png", ".csv", ".tex"}
    assert "y\\_low" in (made / "mine-too.tex").read_text()

    def draw(key="mine"):
        publish.figure(plt.subplots()[0], data, key)

    refused(lambda: draw("typo"), "figure.typo", "«nothing»", error=text.TextError)
    refused(lambda: publish.verdict("mine", 1.0), "claim.mine", error=text.TextError)
    monkeypatch.setenv("PRIVREGRET_OUTPUT", str(folder / "build/lab"))
    refused(draw, "figure.mine", error=text.TextError)


def test_a_clone_from_which_the_package_is_not_installed_is_named(folder, monkeypatch, capsys):
    (folder / "src/privregret").mkdir(parents=True)
    monkeypatch.chdir(folder / "notebooks/demo")
    refused(start, "hu2021/test", str(folder), error=notebook.ParameterError)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    assert command.main(["status"]) == 2
    named(capsys.readouterr().err, str(folder))
