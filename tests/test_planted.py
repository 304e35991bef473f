"""Verdicts that can fail: faults planted in the package turn the findings that are about them.

One fault for each notebook; `pytest --every-fault` tries all of them, which takes
about ten minutes.
"""

import importlib
import pkgutil

import planted
from planted import run
from test_notebooks import NAMES

from privregret.press import record

MODULES = [m.name for m in pkgutil.iter_modules(planted.__path__) if m.name != "run"]
PLANTS = {}
for name in MODULES:
    PLANTS |= importlib.import_module(f"planted.{name}").PLANTS


def pytest_generate_tests(metafunc):
    if "patch" in metafunc.fixturenames:
        tried = None if metafunc.config.getoption("--every-fault") else 1
        faults = [(n, *fault) for n in PLANTS for fault in [*PLANTS[n].items()][:tried]]
        ids = [f"{notebook}: {keys}" for notebook, keys, _ in faults]
        metafunc.parametrize(("notebook", "keys", "patch"), faults, ids=ids)


def test_a_planted_fault_turns_the_verdicts_about_it(notebook, keys, patch, smoke, monkeypatch):
    before = run.by_key(record.read(smoke(notebook))["notebooks"][notebook]["findings"])
    planted.through_run(monkeypatch)
    patch(monkeypatch)
    assert run.unturned(keys.split(), before, run.findings(notebook, keys.split())) == []


def test_every_notebook_has_a_planted_fault():
    assert {*PLANTS} == {*NAMES}
