"""What code a result or a kernel depends on; no edit and no assignment is followed by what is out
of date."""

import contextlib
import json
import os
import shutil

import pytest
from conftest import python, refused

from privregret.core import code_key
from privregret.core.files import PACKAGE
from privregret.core.store import VersionError, path_of

MODULES = {
    "privregret/constants.py": "FACTOR = 2.0\nTABLE = {'shift': 0.0}\n",
    "privregret/late.py": "LATE = 0.0\n",
    "privregret/callee.py": """
from dataclasses import dataclass
from privregret import constants
from privregret.constants import FACTOR, TABLE
from privregret.core.jit import jit

@jit
def innermost(x):
    return FACTOR * x

@jit
def inner(x):
    return innermost(x) * constants.FACTOR

@dataclass(frozen=True)
class Problem:
    mean: float = 0.5

    def shift(self):
        return TABLE["shift"] + helper()

def helper():
    return 0.0
""",
    "privregret/outer.py": """
from privregret.core import store
from privregret.callee import inner

@store.cached
def outer(problem, x=1.0):
    from privregret.late import LATE
    return inner(x) + problem.mean + problem.shift() + LATE
""",
    "privregret/press/__init__.py": "",
    "privregret/studies/__init__.py": """
from privregret.core import store
from privregret.outer import outer

@store.cached
def study(problem):
    return outer(problem)
""",
    "own.py": """
from dataclasses import dataclass
from privregret.callee import Problem

@dataclass(frozen=True)
class Plain(Problem):
    pass

@dataclass(frozen=True)
class Stated(Problem):
    version = "1"
""",
}
# [value, results computed, kernels read from disk]
RUN = """
import json, own
from privregret import callee, constants, outer, studies
from privregret.core import store
computed, keep = [], store.keep
store.keep = lambda made, path: computed.append(path) or keep(made, path)
value = outer.outer(callee.Problem())
hits = sum(getattr(callee.inner, "stats").cache_hits.values()) if callee.inner.overloads else None
print(json.dumps([value, len(computed), hits]))
"""
SERVED = [4.5, 0, None]
CORE = "files", "jit", "code_key", "store"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run code in a fork of its own, with a small package, own modules beside it and caches."""
    folder = tmp_path_factory.mktemp("edits")
    (folder / "privregret/core").mkdir(parents=True)
    for name in ("__init__", "core/__init__", *map("core/{}".format, CORE)):
        shutil.copy(PACKAGE / f"{name}.py", folder / f"privregret/{name}.py")
    for name, content in MODULES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    caches = {"PRIVREGRET_STORE": "", "XDG_CACHE_HOME": str(folder / "cache")}
    environment = os.environ | {"PYTHONPATH": str(folder), "NUMBA_DISABLE_JIT": "0"} | caches

    def once(code=RUN, **more):
        status, out, err = python("-c", code, cwd=folder, env=environment | more)
        assert status == 0, err
        return json.loads(out)

    once.folder = folder
    return once


@contextlib.contextmanager
def edited(run, name, before, after):
    file = run.folder / name
    content = file.read_text()
    assert before in content
    file.write_text(content.replace(before, after))
    yield
    file.write_text(content)


@pytest.fixture
def first(run):
    """What is there before, and after it again."""
    run()
    assert run() == SERVED
    yield
    assert run() == SERVED
    assert run(PRIVREGRET_STORE="off") == [4.5, 1, 1]  # the kernel has an entry of its own


def test_an_edit_of_the_engine_is_computed(run, first):
    for name, before, after, value in (
        ("privregret/callee.py", "FACTOR * x", "FACTOR * x + 1", 6.5),
        ("privregret/constants.py", "2.0", "3.0", 9.5),
    ):
        with edited(run, name, before, after):
            assert run()[:2] == [value, 1]
            assert run()[:2] == [value, 0]


def test_layers_above_and_dates_do_not_count(run, first):
    study = RUN.replace("outer.outer(", "studies.study(")
    run(study)
    os.utime(run.folder / "privregret/constants.py", (2**33, 2**33))  # in the year 2242
    with edited(run, "privregret/press/__init__.py", "", "COLOUR = 1\n"):
        assert run(study) == run() == SERVED
    with edited(run, "privregret/studies/__init__.py", "outer(problem)", "outer(problem) + 1"):
        assert run() == SERVED and run(study) == [5.5, 1, None]


def test_what_a_program_assigns_to_the_package_is_neither_served_nor_stored(run, first):
    for patch, value in (
        ("constants.TABLE['shift'] = 1.0", 5.5),
        ("callee.helper.__code__ = (lambda: 1.0).__code__", 5.5),
        ("callee.Problem.shift = lambda self: 1.0", 5.5),
        ("callee.innermost = callee.jit(lambda x: x)", 2.5),
        # compiled while it was patched: it stays so in this process, and only there
        ("callee.FACTOR = 3.0\ncallee.inner(1.0)\ncallee.FACTOR = constants.FACTOR", 6.5),
    ):
        assert run(RUN.replace("value =", f"{patch}\nvalue ="))[:2] == [value, 1], patch


def test_an_edit_under_a_process_at_work_spoils_nothing(run, first):
    """It stores nothing under the key of other code than it runs."""
    file = run.folder / "privregret/late.py"
    old, edit = file.read_text(), f"file = {str(file)!r}\nopen(file, 'w').write('LATE = 5.0')\n"
    back = f"import privregret.late\nopen(file, 'w').write({old!r})\n"
    for done in (edit, edit + back):
        code = RUN.replace("value =", f"{done}value =").replace("Problem()", "Problem(0.25)")
        assert run(code)[:2] == [9.25, 1]
        file.write_text(old)
    assert run(RUN.replace("Problem()", "Problem(0.25)"))[:2] == [4.25, 1]


PLAYED = """
import importlib, json
import numpy as np
from pathlib import Path
import privregret.core.jit
file = Path(privregret.__file__).parent / "bandits/lazy_ucb.py"
whole = file.read_text()
edit = whole.replace("return mean + math.sqrt(3", "return -mean + math.sqrt(3")
assert edit != whole

def played():
    from privregret import bandits, simulate
    from privregret.instances import HU2021_2
    own, table = bandits.lazy_ucb.AnytimeLazyUCB(1.0), HU2021_2.table(300, 1)
    learner = own.start(5, rng=2)
    live = [(arm := learner.choose(), learner.observe(row[arm]))[0] for row in table]
    assert live == own.play(table, rng=2).tolist()
    frame = simulate.regret_curves(own, HU2021_2, 3000, 1, 1, points=1, workers=1)
    return [own.run(HU2021_2, [3000], 1).tolist()[0], frame.regret[0], np.bincount(live).tolist()]
"""
RELOADED = """
import privregret.bandits.lazy_ucb
found = [played()]
for text in (edit, whole):
    file.write_text(text)
    importlib.reload(privregret.bandits.lazy_ucb)
    found.append(played())
print(json.dumps(found))
"""


def test_an_edit_that_is_undone_or_reloaded_leaves_no_kernels(tmp_path):
    """An edit of a helper, after the package is imported and before its module is, or reloaded, as
    `%autoreload` does: `play`, `start`, `run` and `regret_curves` follow it, and nothing stays."""
    ignored = shutil.ignore_patterns("__pycache__", "press", "studies")
    shutil.copytree(PACKAGE, tmp_path / "privregret", ignore=ignored)
    studies = tmp_path / "privregret/studies"
    studies.mkdir()
    (studies / "__init__.py").touch()
    (tmp_path / ".cache").mkdir()

    def run(code):
        own = {"PYTHONPATH": str(tmp_path), "PRIVREGRET_STORE": ""}
        own |= {"XDG_CACHE_HOME": str(tmp_path / ".cache"), "PYTHONDONTWRITEBYTECODE": "1"}
        status, out, err = python("-c", code, cwd=tmp_path, env=os.environ | own)
        assert status == 0, err
        return json.loads(out)

    late = "file.write_text(edit)\nprint(json.dumps(played()))\nfile.write_text(whole)\n"
    unedited = PLAYED + "print(json.dumps(played()))"
    wrong, right = run(PLAYED + late), run(unedited)
    assert wrong[0] == [956, 511, 511, 511, 511] and right[0] == [1348, 631, 511, 255, 255]
    assert all(a != b for a, b in zip(wrong, right, strict=True))
    assert run(PLAYED + RELOADED) == [right, wrong, right]
    assert run(unedited) == right
    # a study keeps its kernels, too
    for more in (1, 2):
        own = f"from privregret.core.jit import jit\n@jit\ndef helper(x):\n    return x + {more}\n"
        (studies / "own.py").write_text(f"{own}@jit\ndef kernel(x):\n    return helper(x)\n")
        assert run("from privregret.studies import own; print(own.kernel(1))") == 1 + more


def test_results_of_code_outside_are_stored_under_its_version(run, first):
    plain, stated = (RUN.replace("callee.Problem", f"own.{n}") for n in ("Plain", "Stated"))
    for _ in range(2):
        assert run(plain)[:2] == [4.5, 1]
    assert run(stated)[:2] == [4.5, 1] and run(stated)[:2] == [4.5, 0]
    with edited(run, "own.py", '"1"', '"2"'):
        assert run(stated)[:2] == [4.5, 1] and run(stated)[:2] == [4.5, 0]
    again = stated.replace("value =", "own.Stated = type('Stated', (own.Stated,), {})\nvalue =")
    assert run(again)[:2] == [4.5, 1]


WRONG = """
known = {"problem": callee.Problem(), "x": 1.0}
store.write(store.path_of(outer.outer, known), store.pickle.dumps((7.0, [])))
value ="""
OTHER = """
from privregret.core import code_key
code_key.version = lambda name: "9"
code_key.surroundings.cache_clear()
"""


def test_switches_and_libraries_count_and_fresh_replaces_entries(run, first):
    early = "from numba import config\nconfig.BOUNDSCHECK = 1\n"
    assert run(early + RUN)[:2] == [4.5, 1] and run(early + RUN) == SERVED
    assert run(RUN.replace("value =", f"{early}value =")) == [4.5, 1, 1]
    assert run(RUN.replace("value =", WRONG)) == run() == [7.0, 0, None]
    assert run(PRIVREGRET_STORE="fresh") == [4.5, 1, 1]
    assert run(OTHER + RUN) == [4.5, 1, 0]


def test_a_bad_version_is_refused(monkeypatch):
    monkeypatch.setenv("PRIVREGRET_STORE", "")
    for version in (1, " ", print):
        monkeypatch.setattr(edited, "version", version, raising=False)
        refused(lambda: path_of(edited, 1), "edited", error=VersionError)


def test_what_is_stored_imports_nothing_that_publishes():
    for file in PACKAGE.rglob("*.py"):
        text = file.read_text()
        kept = "@store.cached" in text or "@jit" in text
        assert not (kept and "privregret.press" in text), file
    assert {*code_key.layers()} == {"engine", "press", "studies"}
