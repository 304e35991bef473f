"""Verdicts that can fail: faults planted in the package turn the findings that are about them.

One fault for each notebook; `pytest --every-fault` tries all of them, which takes
about ten minutes.
"""

import importlib
import pkgutil

import planted
from planted import run

from privregret.press import record

MODULES = [m.name for m in pkgutil.iter_modules(planted.__path__) if m.name != "run"]
PLANTS = [plant for name in MODULES for plant in importlib.import_module(f"planted.{name}").PLANTS]


def pytest_generate_tests(metafunc):
    if "plant" in metafunc.fixturenames:
        first = {plant.notebook: plant for plant in reversed(PLANTS)}
        chosen = PLANTS if metafunc.config.getoption("--every-fault") else first.values()
        metafunc.parametrize("plant", chosen, ids=lambda plant: f"{plant.notebook}: {plant.fault}")


def test_a_planted_fault_turns_the_verdicts_about_it(plant, smoke, monkeypatch):
    manifest = record.read(smoke(plant.notebook))
    before = run.by_key(manifest["notebooks"][plant.notebook]["findings"])
    planted.through_run(monkeypatch)
    plant.patch(monkeypatch)
    assert run.unturned(plant, before, run.findings(plant.notebook, plant.turns)) == []


def test_every_notebook_with_findings_has_a_planted_fault():
    from test_notebooks import NAMES

    assert {plant.notebook for plant in PLANTS} == set(NAMES)
