"""Every exercise of the notebooks runs after the lecture, at small parameters, within seconds, and
what its answer says holds; an answer about an edit is false before it."""

import json
import re

import answers
import pytest
from conftest import ROOT

from privregret.press import batch, text

# an audit of a learner without noise says so
pytestmark = pytest.mark.filterwarnings("ignore::privregret.privacy.ledger.NotHidden")
OF = {name: text.of_notebook(name)["exercise"] for name in batch.notebooks()}


@pytest.mark.parametrize("name", OF)
def test_exercises_run_and_their_answers_are_true(name, smoke):
    assert json.loads((smoke(name) / "checked.json").read_text())["answers"] == []


def test_what_is_wrong_with_an_answer_is_seen():
    algorithm = ["def f(n):\n    return n\n", "start = 1"]
    double = {"ask": "?", "run": "x = f(2)", "edit": {"return n": "return 2 * n"}}
    cases = [
        ({"ask": "?", "run": "x = f(1)", "holds": "x == 1"}, ""),
        ({"ask": "?", "run": "x = f(1)", "holds": "x == 2"}, "not true"),
        ({"ask": "?", "run": "x = g(1)", "holds": "x == 2"}, "NameError"),
        (double | {"holds": "x == 4"}, ""),
        (double | {"holds": "x > 1"}, "true without the edit"),
        (double | {"holds": "x == 4", "edit": {"return 3": "return 4"}}, "0 lines"),
    ]
    names: dict = {}
    exec("\n".join(algorithm), names)
    for one, said in cases:
        found = answers.wrong([one], names, algorithm)
        assert len(found) == bool(said) and said in "".join(found)
        assert "x" not in names and names["f"](2) == 2


def test_every_lecture_has_exercises_of_two_kinds_and_the_course_of_all_three():
    course = re.findall(r"^\| .*", (ROOT / "docs/course.md").read_text().split("## ")[0], re.M)
    inner = {n for row in course for n in re.findall(r"notebooks/([\w/-]+)\.ipynb", row)}
    assert len(inner) == 12
    for name, exercises in OF.items():
        kinds = {one["kind"] for one in exercises}
        assert len(kinds) >= (3 if name in inner else 2), (name, kinds)
