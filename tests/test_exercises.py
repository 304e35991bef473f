"""Every exercise of the notebooks runs after the lecture, at small parameters, within seconds, and
what its answer says holds; an answer about an edit is false before it."""

import re
import time

import matplotlib.pyplot as plt
import nbformat
import pytest
from conftest import ROOT, refused
from papermill.translators import PythonTranslator

from privregret.press import batch, notebook, publish, text

# seconds of work that a student waits for an answer
LIMIT = 10
OF = {name: text.of_notebook(name)["exercise"] for name in batch.notebooks()}


def lecture(name):
    """The names that a notebook has where the referee's part begins, and its algorithm's cells."""
    names, algorithm = {"__name__": "__main__"}, []
    for cell in nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4).cells:
        tags = cell.metadata.get("tags", [])
        if "referee" in tags:
            return names, algorithm
        if cell.cell_type == "code":
            exec(compile(cell.source, f"<{name}>", "exec"), names)
        if "algorithm" in tags:
            algorithm.append(cell.source)
        if "parameters" in tags:
            exec(PythonTranslator.codify(text.of_notebook(name)["smoke"]), names)
    raise AssertionError(f"{name} has no part for the referee")


def edited(cells, edit):
    """The cells in which each line of an edit, which is there once, is another."""
    found = "\n\n".join(cells)
    for line, other in edit.items():
        assert found.count(line) == 1, f"{found.count(line)} lines are {line}"
        found = found.replace(line, other)
    return found


def holds(exercise, names):
    """Whether the answer is true, after its code ran in time."""
    began = time.process_time()
    exec(compile(exercise.get("run", ""), exercise["ask"], "exec"), names)
    assert time.process_time() - began < LIMIT, exercise["ask"]
    plt.close("all")
    return eval(exercise.get("holds", "True"), names)


@pytest.mark.parametrize("name", OF)
def test_exercises_run_and_their_answers_are_true(name, tmp_path, monkeypatch):
    """As a reader does: run the lecture once, and the algorithm's cell after an edit."""
    monkeypatch.setenv("PRIVREGRET_OUTPUT", str(tmp_path))
    monkeypatch.setattr(notebook, "current", notebook.Running())
    monkeypatch.setattr(publish, "figure", lambda fig, *args, **more: plt.close(fig))
    names, algorithm = lecture(name)
    for exercise in OF[name]:
        if "edit" in exercise:
            assert not holds(exercise, names), f"true without the edit: {exercise['holds']}"
            exec(compile(edited(algorithm, exercise["edit"]), f"<{name}>", "exec"), names)
        assert holds(exercise, names), exercise.get("holds")
        exec(compile("\n\n".join(algorithm), f"<{name}>", "exec"), names)


def test_every_lecture_has_exercises_of_two_kinds_and_the_course_of_all_three():
    course = re.findall(r"^\| .*", (ROOT / "docs/course.md").read_text().split("## ")[0], re.M)
    inner = {n for row in course for n in re.findall(r"notebooks/([\w/-]+)\.ipynb", row)}
    assert len(inner) == 12
    for name, exercises in OF.items():
        kinds = {one["kind"] for one in exercises}
        assert len(kinds) >= (3 if name in inner else 2), (name, kinds)


def test_an_exercise_that_cannot_be_tried_is_refused(monkeypatch, capsys):
    def picture(epsilon=1.0):
        return epsilon

    def show(**exercise):
        running = notebook.Running("hu2021/5-full-information", names={"picture": picture})
        running.texts = {"exercise": [exercise], "text": {}}
        monkeypatch.setattr(notebook, "current", running)
        return notebook.exercises

    whole = {"kind": "predict", "ask": "?", "answer": "!", "holds": "True"}
    show(**whole, run="picture(epsilon=2.0)")()
    where = "hu2021/5-full-information.toml, exercise 1"
    for run, said in (("picture(epsilonn=2.0)", "epsilonn"), ("picture(", "picture(")):
        refused(show(**whole, run=run), where, said, error=text.TextError)
