"""The strict check of a notebook's parameters, and the mark that it ended."""

import nbformat
import pytest

from privregret import checks
from privregret.press import notebook

RULES = {
    "runs": checks.positive_int,
    "epsilon": checks.positive,
    "epsilons": checks.list_of(checks.positive),
    "means": checks.means,
    "mode": checks.one_of("a", "b"),
    "share": checks.probability,
    "scheduler": checks.text,
}
GOOD = {
    "runs": 3,
    "epsilon": 1,
    "epsilons": [0.5, 2],
    "means": [0.2, 1],
    "mode": "a",
    "share": 0.5,
    "scheduler": "",
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
    ("changes", "message"),
    [
        ({"runs": 0}, "runs must be at least 1, got 0"),
        ({"runs": "five"}, "runs must be a whole number, got 'five'"),
        ({"runs": 2.5}, "runs must be a whole number, got 2.5"),
        ({"runs": True}, "runs must be a whole number, got True"),
        ({"epsilon": -1}, "epsilon must be a finite number above 0, got -1"),
        ({"epsilon": float("nan")}, "epsilon must be a finite number"),
        ({"epsilon": "1e-3"}, "epsilon must be a number, got '1e-3'"),
        ({"epsilons": [1, 0]}, r"epsilons\[1\] must be a finite number above 0, got 0"),
        ({"epsilons": [1, 1]}, "must not hold a value twice"),
        ({"epsilons": "[1, 2]"}, "must be a list"),
        ({"epsilons": []}, "must be a list of at least 1 value"),
        ({"means": [0.5, 1.5]}, r"means must lie in \[0, 1\], got 1.5"),
        ({"means": [0.5]}, "at least 2 numbers"),
        ({"mode": "c"}, "mode must be one of 'a', 'b', got 'c'"),
        ({"share": 2}, r"share must be a finite number in \[0, 1\], got 2"),
        ({"scheduler": 3}, "scheduler must be a string, got 3"),
    ],
)
def test_bad_values_stop_with_one_line_that_names_them(changes, message):
    with pytest.raises(notebook.ParameterError, match=message) as error:
        start(**changes)
    assert "\n" not in str(error.value)
    assert error.value._render_traceback_() == [f"ParameterError: {error.value}"]


def test_a_misspelt_parameter_is_refused_with_a_hint():
    with pytest.raises(
        notebook.ParameterError, match=r"no parameter epsilom: did you mean epsilon\?"
    ):
        start("# Parameters\nepsilom = 3\n")


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
    def check(content, message):
        path = tmp_path / "losses.csv"
        path.write_text(content)
        with pytest.raises(notebook.ParameterError, match=message) as error:
            notebook.start("hu2021/test", {"table": str(path), "In": [""]}, table=checks.csv_path)
        assert "\n" not in str(error.value)

    check(
        "a,b\n0.5,1.5\n0,0\n",
        r"table .*losses.csv' must lie in \[0, 1\], got 1.5 in row 0, column 1",
    )
    check("a,b\n0.5,left\n0,0\n", "must be a table of numbers")
    check("a,b\n0.5,\n0,0\n", "got nan in row 0, column 1")
    check("a\n0.5\n0\n", r"shape \(2, 1\)")
    check("0.1,0.2\n0.5,0.5\n0,0\n", "must name its columns in the first line, got 0.1, 0.2")
    check("a,b\n0.5,0.5,1\n0,0,1,1\n", "must name a CSV file")
    check("", "must name a CSV file, .*: No columns")
    with pytest.raises(
        ValueError, match=r"table must name a CSV file, got 'nowhere.csv': .*No such file"
    ):
        checks.csv_path("table", "nowhere.csv")
    good = tmp_path / "good.csv"
    good.write_text("a,b\n0,1\n0.5,0.25\n")
    assert checks.csv_path("table", str(good)) == str(good) and checks.csv_path("table", "") == ""
