"""What the exercises of the notebooks tell a reader to set passes the notebook's check, and the
notebook runs with it to its end at small parameters: one that crashed, or all of them (`pytest
--every-exercise`)."""

import ast
import re

import pytest
from planted import run
from test_notebooks import NAMES, checked, defaults, read

from privregret.press import notebook as nb

# an item that starts with `name = value` or Set `name = value`, and what a command is given
SET = re.compile(r"^(?:\d+\.|\*|-) (?:Set )?`(\w+) = ([^`]+)`", re.M)
GIVEN = re.compile(r'-p (\w+) ("[^"`]+"|[^\s`"]+)')
CRASHED = ("hu2021/7-doubling-instance", "brackets")


def exercises(name):
    """The sections of a notebook that have exercises."""
    said = "\n".join(cell.source for cell in read(name).cells if cell.cell_type == "markdown")
    return "".join(re.findall(r"^## Exercises$.*?(?=^## |\Z)", said, re.M | re.S))


def settings(name):
    """Notebook, parameter and value as it is written, for each that its exercises set."""
    found = [match for form in (SET, GIVEN) for match in form.findall(exercises(name))]
    return [(name, parameter, value.strip('"')) for parameter, value in found]


def value_of(said):
    return nb.literal(ast.parse(said, mode="eval").body)


def pytest_generate_tests(metafunc):
    if "value" in metafunc.fixturenames:
        every, found = metafunc.config.getoption("--every-exercise"), map(settings, NAMES)
        chosen = [one for each in found for one in each if every or one[:2] == CRASHED]
        ids = [f"{name}: {parameter} = {value}" for name, parameter, value in chosen]
        metafunc.parametrize(("notebook", "parameter", "value"), chosen, ids=ids)


@pytest.mark.parametrize("name", NAMES)
def test_exercises_set_parameters_that_the_notebook_has_and_allows(name):
    found = settings(name)
    assert found or not exercises(name), "an exercise says `name = value` first, or -p name value"
    assert {parameter for _, parameter, _ in found} <= {*defaults(name)}
    for _, parameter, value in found:
        checked(name, {parameter: value_of(value)})


def test_a_notebook_runs_at_what_an_exercise_sets(notebook, parameter, value):
    assert run.findings(notebook, given={parameter: value_of(value)})
