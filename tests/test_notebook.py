"""The strict check of a notebook's parameters, and the mark that it ended."""

import json
from types import SimpleNamespace

import pytest
from conftest import ROOT, refused

from privregret.core import checks
from privregret.press import notebook

RULES = {
    "runs": checks.positive_int,
    "epsilon": checks.positive,
    "epsilons": checks.list_of(checks.positive),
    "means": checks.means,
    "mode": checks.one_of("a", "b"),
    "fraction": checks.probability,
}
GOOD = {
    "runs": 3,
    "epsilon": 1,
    "epsilons": [0.5, 2],
    "means": [0.2, 1],
    "mode": "a",
    "fraction": 0.5,
}


def start(injected="", **changes):
    namespace = GOOD | changes | {"In": ["", injected]}
    notebook.start("hu2021/test", namespace, **RULES)
    return namespace


def test_good_values_pass_and_integers_become_reals():
    namespace = start("# Parameters\nruns = 3\n")
    assert type(namespace["epsilon"]) is float and namespace["epsilons"] == [0.5, 2.0]
    assert notebook.current.parameters["epsilon"] == 1


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"runs": 0}, ["runs", "1", "0"]),
        ({"runs": "five"}, ["runs", "'five'"]),
        ({"runs": 2.5}, ["runs", "2.5"]),
        ({"runs": True}, ["runs", "True"]),
        ({"epsilon": -1}, ["epsilon", "0", "-1"]),
        ({"epsilon": float("nan")}, ["epsilon", "nan"]),
        ({"epsilon": "1e-3"}, ["epsilon", "'1e-3'"]),
        ({"epsilons": [1, 0]}, ["epsilons[1]", "0"]),
        ({"epsilons": [1, 1]}, ["epsilons", "[1, 1]"]),
        ({"epsilons": "[1, 2]"}, ["epsilons", '"[1, 2]"', "'[1, 2]'"]),
        ({"epsilons": []}, ["epsilons", "1", "[]"]),
        ({"means": [0.5, 1.5]}, ["means", "[0, 1]", "1.5"]),
        ({"means": [0.5]}, ["means", "2", "(1,)"]),
        ({"mode": "c"}, ["mode", "'a'", "'b'", "'c'"]),
        ({"fraction": 2}, ["fraction", "[0, 1]", "2"]),
    ],
)
def test_bad_values_stop_with_one_line_that_names_them(changes, shown):
    error = refused(lambda: start(**changes), *shown, error=notebook.ParameterError)
    assert error._render_traceback_() == [f"ParameterError: {error}"]


@pytest.mark.parametrize(
    "cell",
    [
        "unrelated = 3",
        "# Parameters of my own\nunrelated = 3",
        "# Parameters\nimport math\nunrelated = 3",
        "# Parameters\n%matplotlib inline",
    ],
)
def test_names_of_other_cells_are_not_parameters(cell):
    start(cell)


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


@pytest.mark.parametrize(("system", "peak"), [("linux", 300 * 2**10), ("darwin", 300 * 2**20)])
def test_the_end_mark_has_the_peak_of_memory_in_megabytes(system, peak, tmp_path, monkeypatch):
    monkeypatch.setenv("PRIVREGRET_OUTPUT", str(tmp_path))
    monkeypatch.setattr(notebook.sys, "platform", system)
    monkeypatch.setattr(notebook.resource, "getrusage", lambda _: SimpleNamespace(ru_maxrss=peak))
    monkeypatch.setattr(notebook, "get_ipython", lambda: True)
    shown = []
    monkeypatch.setattr(notebook, "display", lambda data, raw: shown.append(data))
    notebook.end()
    cells = [{"outputs": [{"data": {"text/plain": ""}}, {"data": data}]} for data in shown]
    assert notebook.end_mark(json.dumps({"cells": cells}).encode()) == {"megabytes": 300}
    assert notebook.end_mark(json.dumps({"cells": [{}]}).encode()) is None


def test_a_script_says_where_its_output_is_in_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PRIVREGRET_OUTPUT", str(tmp_path))
    start()
    notebook.end()
    said = capsys.readouterr().out
    assert (
        said.count("\n") == 1
        and "hu2021/test" in said
        and str(tmp_path) in said
        and "{" not in said
    )
