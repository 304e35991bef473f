"""The strict check of a notebook's parameters, and the mark that it ended."""

import nbformat
import pytest
from conftest import refused

from privregret import checks
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


def test_a_misspelt_parameter_is_refused_with_a_hint():
    refused(
        lambda: start("# Parameters\nepsilom = 3\n"),
        "epsilom",
        "epsilon?",
        error=notebook.ParameterError,
    )


def test_names_of_other_cells_are_not_parameters():
    start("unrelated = 3")


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


def test_the_end_mark_is_found_only_where_it_is():
    cell = nbformat.v4.new_code_cell("notebook.end()")
    empty = nbformat.v4.new_notebook(cells=[cell])
    assert notebook.end_mark(empty) is None
    cell.outputs = [
        nbformat.v4.new_output("display_data", {notebook.END: {"modules": ["src/a.py"]}})
    ]
    assert notebook.end_mark(empty) == {"modules": ["src/a.py"]}


def test_a_csv_file_is_checked_before_any_work(tmp_path):
    def check(content, *shown):
        path = tmp_path / "losses.csv"
        path.write_text(content)
        given = {"table": str(path), "In": [""]}
        refused(
            lambda: notebook.start("hu2021/test", given, table=checks.csv_path),
            "table",
            *shown,
            error=notebook.ParameterError,
        )

    check("a,b\n0.5,1.5\n0,0\n", "losses.csv", "[0, 1]", "1.5", "0", "1")
    check("a,b\n0.5,left\n0,0\n", "losses.csv", "left")
    check("a,b\n0.5,\n0,0\n", "losses.csv", "nan", "0", "1")
    check("a\n0.5\n0\n", "losses.csv", "(2, 1)")
    check("0.1,0.2\n0.5,0.5\n0,0\n", "losses.csv", "0.1, 0.2")
    check("a,b\n0.5,0.5,1\n0,0,1,1\n", "losses.csv")
    check("", "losses.csv")
    refused(
        lambda: checks.csv_path("table", "nowhere.csv"), "table", "'nowhere.csv'", error=ValueError
    )
    good = tmp_path / "good.csv"
    good.write_text("a,b\n0,1\n0.5,0.25\n")
    assert checks.csv_path("table", str(good)) == str(good) and checks.csv_path("table", "") == ""
