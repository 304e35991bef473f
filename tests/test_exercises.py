"""Every exercise of the notebooks runs after the lecture, at small parameters, within seconds, and
what its answer says holds; none is true of a notebook as it is before an edit."""

import re
import time

import matplotlib.pyplot as plt
import nbformat
import pytest
from conftest import ROOT, refused
from papermill.translators import PythonTranslator

from privregret.press import batch, notebook, publish, text

# seconds that a student waits for an answer, on a busy machine
LIMIT = 10

OF = {name: text.of_notebook(name)["exercise"] for name in batch.notebooks()}
EXERCISES = {f"{name}, {i}": (name, one) for name in OF for i, one in enumerate(OF[name], 1)}


def lecture(name, root, monkeypatch, edit):
    """The names that a notebook has where the referee's part begins, with lines of it edited."""
    monkeypatch.setenv("PRIVREGRET_OUTPUT", str(root))
    monkeypatch.setattr(notebook, "current", notebook.Running())
    monkeypatch.setattr(publish, "figure", lambda fig, *args, **more: plt.close(fig))
    namespace, left = {"__name__": "__main__"}, dict(edit)
    for cell in nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4).cells:
        tags, source = cell.metadata.get("tags", []), cell.source
        if "referee" in tags:
            break
        if cell.cell_type == "code":
            for line in [line for line in left if "algorithm" in tags and line in source]:
                assert source.count(line) == 1, f"several lines are {line}"
                source = source.replace(line, left.pop(line))
            exec(compile(source, f"<{name}>", "exec"), namespace)
        if "parameters" in tags:
            exec(PythonTranslator.codify(text.of_notebook(name)["smoke"]), namespace)
    assert not left, f"no cell tagged algorithm has {left}"
    return namespace


@pytest.mark.parametrize("which", EXERCISES)
def test_an_exercise_runs_and_its_answer_is_true(which, tmp_path, monkeypatch):
    name, exercise = EXERCISES[which]
    namespace = lecture(name, tmp_path, monkeypatch, exercise.get("edit", {}))
    began = time.monotonic()
    exec(compile(exercise.get("run", ""), which, "exec"), namespace)
    assert time.monotonic() - began < LIMIT
    assert eval(exercise.get("holds", "True"), namespace), exercise["holds"]
    plt.close("all")


@pytest.mark.parametrize("which", [w for w, (_, one) in EXERCISES.items() if "edit" in one])
def test_what_breaks_holds_before(which, tmp_path, monkeypatch):
    """The answer to what an edit does is not true without it."""
    name, exercise = EXERCISES[which]
    namespace = lecture(name, tmp_path, monkeypatch, {})
    exec(compile(exercise["run"], which, "exec"), namespace)
    assert not eval(exercise["holds"], namespace), exercise["holds"]
    plt.close("all")


@pytest.mark.every_paper
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
