"""What code a result or a kernel uses; no edit is followed by what is out of date."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from types import ModuleType

import pytest

from privregret.bandits import DPSE, lazy_ucb
from privregret.core import code_key, noise
from privregret.core.files import PACKAGE


def test_an_algorithm_uses_what_it_imports_and_not_its_neighbours():
    found = code_key.used(lazy_ucb.AnytimeLazyUCB)
    expected = {f"privregret.{m}" for m in ("bandits.lazy_ucb", "core.noise", "core.jit")}
    assert found >= expected
    assert not any("dp_se" in name or "press" in name or "studies" in name for name in found)
    assert (
        code_key.used(DPSE(0.5)) == code_key.used(DPSE) == code_key.used("privregret.bandits.dp_se")
    )
    assert code_key.used(noise.laplace) == code_key.used(noise) < found
    cells = "%matplotlib inline\nimport math\nfrom privregret.bandits import AnytimeLazyUCB\n"
    assert code_key.imported(cells) == {code_key.file_of(name) for name in found}


def test_what_is_stored_uses_nothing_that_publishes():
    for file in PACKAGE.rglob("*.py"):
        if "@store.kept" in file.read_text() or "@jit" in file.read_text():
            name = ".".join(("privregret", *file.relative_to(PACKAGE).with_suffix("").parts))
            assert not any(".press" in used for used in code_key.used(name)), name


def test_what_a_notebook_defines_has_no_key(monkeypatch):
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    there = {"__name__": "__main__"}
    exec("def f(): pass\nclass A: pass", there)
    for thing in (there["f"], there["A"], there["A"]()):
        with pytest.raises(LookupError):
            code_key.used(thing)


# Edits
# --------------------------------------------------------------------------------------------------

MODULES = {
    "privregret/constants.py": "FACTOR = 2.0\n",
    "privregret/callee.py": """
from privregret.constants import FACTOR
from privregret.core.jit import jit

@jit
def inner(x):
    return FACTOR * x
""",
    "privregret/problems.py": """
from dataclasses import dataclass

@dataclass(frozen=True)
class Problem:
    mean: float = 0.5
""",
    "privregret/press/draw.py": "",
    "own/__init__.py": "from .caller import outer\n",
    "own/caller.py": """
from privregret.core import store
from privregret.callee import inner
from . import helper

CALLS = []

@store.kept
def outer(problem, x=1.0):
    '''Add.'''
    CALLS.append(x)
    return inner(x) + problem.mean + helper.SHIFT
""",
    "own/helper.py": "from beside import SHIFT\n",
    "beside.py": "SHIFT = 0.0\n",
}
RUN = """
from privregret import callee, problems
from privregret.core import store
from own import caller, outer
value = outer(problems.Problem())
hits = sum(getattr(callee.inner, "stats").cache_hits.values()) if callee.inner.overloads else None
print(json.dumps([value, len(caller.CALLS), hits]))
"""
# imports the package again for every line that it reads
HOST = """
import json, os, sys, traceback
import joblib, numba, pandas
for line in sys.stdin:
    if os.fork():
        os.wait()
        continue
    try:
        exec(json.loads(line))
    except BaseException:
        print(json.dumps(traceback.format_exc()))
    finally:
        sys.stdout.flush()
        os._exit(0)
"""


CORE = "files", "jit", "code_key", "store"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run code in a process of its own, with a small package, own modules beside it and caches."""
    folder = tmp_path_factory.mktemp("edits")
    (folder / "privregret/core").mkdir(parents=True)
    for name in ("__init__", "core/__init__", *map("core/{}".format, CORE)):
        shutil.copy(PACKAGE / f"{name}.py", folder / f"privregret/{name}.py")
    for name, content in MODULES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    environment = os.environ | {"PYTHONPATH": str(folder), "PRIVREGRET_STORE": ""}
    environment |= {"XDG_CACHE_HOME": str(folder / "cache"), "NUMBA_DISABLE_JIT": "0"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-c", HOST], env=environment, **pipes)

    def once(code=RUN):
        process.stdin.write(json.dumps(code) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    once.folder = folder
    yield once
    process.communicate()


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
    """What is there before an edit, and after it again."""
    run()
    assert run() == [2.5, 0, None]
    yield
    assert run() == [2.5, 0, None]


@pytest.mark.parametrize(
    ("name", "before", "after", "value"),
    [
        ("privregret/callee.py", "FACTOR * x", "FACTOR * x + 1", 3.5),
        ("privregret/constants.py", "2.0", "3.0", 3.5),
        ("privregret/problems.py", "0.5", "0.25", 2.25),
        ("own/caller.py", "x=1.0", "x=2.0", 4.5),
        ("beside.py", "0.0", "4.0", 6.5),
    ],
)
def test_an_edit_that_may_change_a_number_is_computed(run, first, name, before, after, value):
    with edited(run, name, before, after):
        assert run()[:2] == [value, 1]
        assert run()[:2] == [value, 0]


def test_edits_that_change_no_number_and_dates_are_served(run, first):
    os.utime(run.folder / "privregret/constants.py", (2**33, 2**33))  # in the year 2242
    os.utime(run.folder / "beside.py", (2**33, 2**33))
    assert run() == [2.5, 0, None]
    with (
        edited(run, "own/caller.py", "'''Add.'''", "'''Add three numbers.'''  # like this"),
        edited(run, "privregret/press/draw.py", "", "COLOUR = 1\n"),
    ):
        assert run() == [2.5, 0, None]
    off = RUN.replace("from", "import os; os.environ['PRIVREGRET_STORE'] = 'off'\nfrom", 1)
    assert run(off) == [2.5, 1, 1]  # the kernel comes from its own cache


def test_other_libraries_are_computed(run, first):
    newer = RUN.replace("value =", "store.version = lambda name: '9'\nvalue =")
    assert run(newer) == [2.5, 1, 1]
    assert run(newer.replace("value =", "numba.__version__ = '9'\nvalue ="))[:2] == [2.5, 0]


@pytest.mark.parametrize("assigned", ["caller.helper.SHIFT = 1.0", "callee.FACTOR = 3.0"])
def test_a_value_that_a_program_assigns_counts_for_it_alone(run, first, assigned):
    off = "import os; os.environ['PRIVREGRET_STORE'] = 'off'\n"
    changed = RUN.replace("value =", f"{assigned}\nvalue =")
    for code in (changed, changed, off + changed):
        assert run(code)[0] == 3.5
    assert run(off + RUN) == [2.5, 1, 1]


@pytest.mark.parametrize("name", ["privregret/constants.py", "beside.py"])
def test_an_edit_under_a_process_at_work_spoils_nothing(run, first, name):
    """It runs the old code: it stores nothing under the key of the new one."""
    file, old = run.folder / name, (run.folder / name).read_text()
    edit = f"open({str(file)!r}, 'w').write({old!r}.replace('= ', '= 5.0 + '))\nvalue ="
    try:
        assert run(RUN.replace("value =", edit))[:2] == [2.5, 1]
        assert run()[:2] == [7.5, 1] and run()[:2] == [7.5, 0]
    finally:
        file.write_text(old)
