"""What code a result or a kernel depends on; no edit and no assignment is followed by what is out
of date."""

import contextlib
import functools
import importlib
import json
import os
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import MappingProxyType, ModuleType

import cases
import numba
import numpy as np
import pytest
from conftest import SOURCES, python
from scipy import stats
from scipy.stats import binom

from privregret import exact, rare
from privregret.bandits import DPSE, UCB1, dp_se, ucb1
from privregret.core import checks, content, jit, reach, store, streams, tasks
from privregret.core.files import PACKAGE
from privregret.instances import HU2021_2, BernoulliBandit

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
""",
}
# [value, results computed, kernels read from disk]
RUN = """
import json, own
from privregret import callee, constants, outer, studies
from privregret.core import store
computed, save = [], store.save
store.save = lambda result, path: computed.append(path) or save(result, path)
value = outer.outer(callee.Problem())
hits = sum(getattr(callee.inner, "stats").cache_hits.values()) if callee.inner.overloads else None
print(json.dumps([value, len(computed), hits]))
"""
SERVED = [4.5, 0, None]
CORE = "compiler", "content", "files", "jit", "reach", "store"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run code in a fork of its own, with a small package, own modules beside it and caches."""
    folder = tmp_path_factory.mktemp("edits")
    (folder / "privregret/core").mkdir(parents=True)
    for name in ("__init__", "core/__init__", *map("core/{}".format, CORE)):
        shutil.copy(PACKAGE / f"{name}.py", folder / f"privregret/{name}.py")
    for name, text in MODULES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    caches = {"PRIVREGRET_STORE": "", "XDG_CACHE_HOME": str(folder / "cache")}
    environment = os.environ | {"PYTHONPATH": str(folder), "NUMBA_DISABLE_JIT": "0"} | caches

    def once(code=RUN, **more):
        status, out, err = python("-c", code, cwd=folder, env=environment | more)
        assert status == 0, err
        return json.loads(out)

    once.folder, once.environment = folder, environment
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


def test_code_that_is_not_reached_and_dates_do_not_count(run, first):
    study = RUN.replace("outer.outer(", "studies.study(")
    run(study)
    os.utime(run.folder / "privregret/constants.py", (2**33, 2**33))  # in the year 2242
    with edited(run, "privregret/press/__init__.py", "", "COLOUR = 1\n"):
        assert run(study) == run() == SERVED
    with edited(run, "privregret/studies/__init__.py", "outer(problem)", "outer(problem) + 1"):
        assert run() == SERVED and run(study) == [5.5, 1, None]


def test_what_a_program_assigns_to_the_package_counts(run, first):
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
    """What it stores is known by the code that it ran, not by its files."""
    file = run.folder / "privregret/late.py"
    old, edit = file.read_text(), f"file = {str(file)!r}\nopen(file, 'w').write('LATE = 5.0')\n"
    back = f"import privregret.late\nopen(file, 'w').write({old!r})\n"
    for done in (edit, edit + back):
        code = RUN.replace("value =", f"{done}value =").replace("Problem()", "Problem(0.25)")
        assert run(code)[0] == 9.25
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
AUTORELOADED = """
import privregret.bandits.lazy_ucb
from IPython.core.interactiveshell import InteractiveShell
shell, found = InteractiveShell.instance(), [played()]
shell.run_line_magic("load_ext", "autoreload")
shell.run_line_magic("autoreload", "2")
for text in (edit, whole):
    file.write_text(text)
    shell.run_cell("pass")
    found.append(played())
print(json.dumps(found))
"""


def test_an_edit_that_is_undone_or_reloaded_leaves_no_kernels(tmp_path):
    """An edit of a helper, after the package is imported and before its module is, or reloaded, by
    `%autoreload` as well: `play`, `start`, `run` and `regret_curves` follow it, nothing stays."""
    ignored = shutil.ignore_patterns("__pycache__", "press", "studies")
    shutil.copytree(PACKAGE, tmp_path / "privregret", ignore=ignored)
    studies = tmp_path / "privregret/studies"
    studies.mkdir()
    (studies / "__init__.py").touch()
    (tmp_path / ".cache").mkdir()

    def run(code):
        own = {"PYTHONPATH": str(tmp_path), "PRIVREGRET_STORE": ""}
        own |= {"XDG_CACHE_HOME": str(tmp_path / ".cache"), "PYTHONDONTWRITEBYTECODE": "1"}
        own |= {"IPYTHONDIR": str(tmp_path)}
        status, out, err = python("-c", code, cwd=tmp_path, env=os.environ | own)
        assert status == 0, err
        return json.loads(out)

    late = "file.write_text(edit)\nprint(json.dumps(played()))\nfile.write_text(whole)\n"
    unedited = PLAYED + "print(json.dumps(played()))"
    wrong, right = run(PLAYED + late), run(unedited)
    assert wrong[0] == [956, 511, 511, 511, 511] and right[0] == [1348, 631, 511, 255, 255]
    assert all(a != b for a, b in zip(wrong, right, strict=True))
    for again in (RELOADED, AUTORELOADED):
        assert run(PLAYED + again) == [right, wrong, right]
    assert run(unedited) == right
    # a study keeps its kernels, too
    for more in (1, 2):
        own = f"from privregret.core.jit import jit\n@jit\ndef helper(x):\n    return x + {more}\n"
        (studies / "own.py").write_text(f"{own}@jit\ndef kernel(x):\n    return helper(x)\n")
        assert run("from privregret.studies import own; print(own.kernel(1))") == 1 + more


AT_ONCE = """
import os, time
replace, failed = os.replace, []
def slow(*paths):
    time.sleep(0.2)
    try:
        replace(*paths)
    except OSError as error:
        failed.append(str(error))
        raise
os.replace = slow
open(f"{os.getpid()}.ready", "w").close()
for _ in range(3000):
    if sum(name.endswith(".ready") for name in os.listdir()) > 1:
        break
    time.sleep(0.02)
"""


def test_two_processes_at_once_on_an_empty_cache_help_the_third(run):
    empty = {"XDG_CACHE_HOME": str(run.folder / "empty")}
    own = {"cwd": run.folder, "env": run.environment | empty}
    words = sys.executable, "-c", f"{AT_ONCE}{RUN.replace('hits]', 'failed]')}"
    pair = [subprocess.Popen(words, **own, stdout=subprocess.PIPE) for _ in range(2)]
    for process in pair:
        value, _, failed = json.loads(process.communicate()[0])
        assert (value, failed) == (4.5, [])
    names = [file.name for file in (run.folder / "empty").rglob("*") if file.is_file()]
    # a result and two kernels, and no partial file
    assert len(names) == 3 and not [name for name in names if name.startswith(".")]
    assert run(**empty) == SERVED and run(PRIVREGRET_STORE="off", **empty) == [4.5, 1, 1]


EARLY = """
import json, numba
FACTOR = 2.0
@numba.njit
def kernel(x):
    return FACTOR * x
kernel(1.0)
FACTOR = 3.0
from privregret.core import reach
kernel(1)
print(json.dumps([reach.key(kernel).portable, reach.outdated(kernel)]))
"""


def test_a_kernel_that_was_compiled_before_the_package_is_imported_is_no_others(run):
    assert run(EARLY) == [False, True]


def test_results_of_code_outside_are_known_by_that_code(run, first):
    plain = RUN.replace("callee.Problem", "own.Plain")
    assert run(plain)[:2] == [4.5, 1] and run(plain)[:2] == [4.5, 0]
    with edited(run, "own.py", "    pass", "    shift = lambda self: 1.0"):
        assert run(plain)[:2] == [5.5, 1] and run(plain)[:2] == [5.5, 0]
    assert run(plain)[:2] == [4.5, 0]
    local = plain.replace("value =", "own.Plain = type('Plain', (own.Plain,), {})\nvalue =")
    assert run(local)[:2] == [4.5, 1]
    # what reads files or the environment states a version
    for number in ("1", "2"):
        stated = plain.replace("value =", f"own.Plain.version = {number!r}\nvalue =")
        assert run(stated)[:2] == [4.5, 1] and run(stated)[:2] == [4.5, 0]


WRONG = """
known = {"problem": callee.Problem(), "x": 1.0}
store.write(store.path_of(outer.outer, known), store.pickle.dumps((7.0, {})))
value ="""
OTHER = """
from privregret.core import store
store.version = lambda name: "9"
store.libraries.cache_clear()
store.surroundings.cache_clear()
"""


def test_switches_and_libraries_count_and_fresh_replaces_entries(run, first):
    early = "from numba import config\nconfig.BOUNDSCHECK = 1\n"
    assert run(early + RUN)[:2] == [4.5, 1] and run(early + RUN) == SERVED
    assert run(RUN.replace("value =", f"{early}value =")) == [4.5, 1, 1]
    assert run(RUN.replace("value =", WRONG)) == run() == [7.0, 0, None]
    assert run(PRIVREGRET_STORE="fresh") == [4.5, 1, 1]
    assert run(OTHER + RUN) == [4.5, 1, 0]


def test_what_is_stored_imports_nothing_that_publishes():
    for file in PACKAGE.rglob("*.py"):
        text = file.read_text()
        kept = "@store.cached" in text or "@jit" in text
        assert not (kept and "privregret.press" in text), file


def known(*kinds):
    return reach.key(tasks._blocks, BernoulliBandit, *kinds)


def test_what_is_assigned_counts_where_it_is_read_until_it_is_undone():
    before = known(UCB1), known(DPSE)
    assert before[0].portable and before[1].portable
    for place, name, value, both in (
        (ucb1, "keep_pulling", 1, False),
        (UCB1, "settings", 1, False),
        (checks, "MAX_ROUNDS", 1, True),
        (streams, "generator", 1, True),
        (UCB1.run, "__code__", (lambda *a: 1).__code__, True),
        (UCB1.run, "__defaults__", (1,), True),
        (UCB1.run, "version", "1", True),
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(place, name, value, raising=False)
            assert known(UCB1) != before[0] and (known(DPSE) != before[1]) == both, name
    for place, name in ((dp_se, "_choose"), (tasks, "SECONDS"), (ucb1, "new")):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(place, name, 1, raising=False)
            assert known(UCB1) == before[0], name
    assert (known(UCB1), known(DPSE)) == before


@pytest.mark.every_paper
def test_all_that_the_package_stores_has_the_same_key_in_every_process():
    functions = {exact.expected_regret, rare.regrets}
    for case in cases.CASES:
        key = reach.key(
            tasks._blocks, case.algorithm, type(case.problem), case.problem.distribution
        )
        assert key.portable, case
    for name in (file.stem for file in (PACKAGE / "studies").glob("*.py")):
        module = importlib.import_module(f"privregret.studies.{name}")
        functions |= {f for f in vars(module).values() if hasattr(f, "__wrapped__")}
    assert len(functions) > 20 and [f for f in functions if not reach.key(f).portable] == []


TABLE, ITEMS, MORE, NAMES, SHARED = np.zeros(2), [1], [], {"a": {"b": 1}}, Random(1)
VIEW = MappingProxyType(NAMES)


def test_what_can_change_is_read_again():
    """Arrays, lists, cells and objects."""
    cell = [0]

    def reads():
        return TABLE, ITEMS, MORE, VIEW, SHARED, cell, number

    number, states = 1, []
    for change in (
        lambda: None,
        lambda: TABLE.__setitem__(0, 1.0),
        lambda: ITEMS.append(2),
        lambda: MORE.append(ITEMS.pop()),
        lambda: setattr(reads, "one", cell),
        lambda: setattr(reads, "other", vars(reads).pop("one")),
        lambda: NAMES["a"].update(b=2),
        lambda: NAMES.update(c=1),
        SHARED.random,
        lambda: cell.append(1),
    ):
        change()
        states += [reach.key(reads), reach.key(reads)]
    number = 2
    assert len({*states, reach.key(reads)}) == 11 and states[0::2] == states[1::2]


def test_what_is_defined_later_is_read_then_and_again():
    """As in a notebook, where a function is called before the cell that defines its helper ran."""
    space: dict = {"__name__": __name__}
    exec("def reads():\n    return helper() + module.late", space)
    space["module"] = ModuleType("module")
    keys = [reach.key(space["reads"])]
    for value in (1, 2):
        exec(f"def helper():\n    return {value}", space)
        keys.append(reach.key(space["reads"]))
        space["module"].late = value
        keys.append(reach.key(space["reads"]))

    def inner():
        return cell

    keys.append(reach.key(inner))
    for cell in (1, 2):  # noqa: B007
        keys.append(reach.key(inner))
    assert len({*keys}) == len(keys) == 8


# The ten traps of such a walk
# --------------------------------------------------------------------------------------------------


def test_what_is_kept_for_speed_does_not_count():
    before = known(UCB1), known(DPSE)
    for algorithm in (UCB1(), DPSE(1.0)):
        algorithm.run(HU2021_2, [10], 1), algorithm.start(2, 1, 10).choose()
    assert (known(UCB1), known(DPSE)) == before


def test_what_python_writes_into_a_class_does_not_count():
    class Own(ABC):
        @property
        @abstractmethod
        def one(self):
            pass

    class Other(Own):
        one = 1

    before = reach.key(Other)
    Other().__reduce_ex__(2)
    assert not isinstance(1, Own) and reach.key(Other) == before
    assert Other.__slotnames__ == []


SAID = """
from privregret.bandits import DPSE, UCB1
from privregret.instances import BernoulliBandit
from privregret.core import reach, tasks
print(reach.key(tasks._blocks, DPSE(0.5), {"b", "a"}, BernoulliBandit)[0])
"""


def test_processes_agree_and_bytecode_from_disk_does_as_well(tmp_path):
    """Texts have random hashes, and equal constants are sometimes one object."""
    path = {"PYTHONPATH": SOURCES}
    more = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": "/nowhere"}
    for own in ({"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2"}, more):
        status, out, err = python("-c", SAID, cwd=tmp_path, env=os.environ | own | path)
        assert status == 0, err
        assert (
            out.strip() == reach.key(tasks._blocks, DPSE(0.5), {"b", "a"}, BernoulliBandit).digest
        )
    pair = (1.5, 2)
    assert reach.key((pair, pair)) == reach.key((pair, (1.5, 1 + int("1"))))


def test_neighbours_in_a_call_do_not_count():
    groups = [(tasks._blocks, kind, 1) for kind in (UCB1, DPSE)]
    assert reach.keys(groups) == [reach.key(*group) for group in groups] == reach.keys(groups)


class Reduced:
    def __reduce__(self):
        return tuple, ((1, tuple, Reduced),)


def test_an_object_that_is_written_as_another_ends():
    assert reach.key(Reduced()) != reach.key((1, tuple, Reduced))
    cycle: list = []
    cycle.append(cycle)
    with pytest.raises(ValueError, match="cyclic"):
        reach.key(cycle)
    assert not reach.key(lambda: cycle).portable


def test_what_libraries_hold_besides_numbers_does_not_count():
    """Such as numpy's global generator, in `binom`."""

    def reads():
        return binom.pmf(1, 2, 0.5), stats.norm.cdf(0.0), checks.shown(1)

    before = reach.key(reads)
    binom.rvs(1, 0.5)
    assert reach.key(reads) == before and before.portable


def test_the_place_of_the_package_does_not_count(monkeypatch, tmp_path):
    def of(folder):
        monkeypatch.setattr(content, "PACKAGE", folder)
        return reach.key(folder / "data.toml")

    assert of(PACKAGE) == of(tmp_path) != reach.key(tmp_path / "other.toml")


FACTOR = 1.0


@numba.njit
def scaled(x):
    return FACTOR * x


def test_copies_of_a_kernel_have_different_names(monkeypatch):
    """Their code can come from disk, where names decide which function is called."""
    one = jit.copy_of(scaled)
    with monkeypatch.context() as patch:
        patch.setitem(globals(), "FACTOR", 2.0)
        other = jit.copy_of(scaled)
        assert other(1.0) == 2.0
    assert one(1.0) == 1.0 and jit.copy_of(scaled) is one is not other
    assert one.py_func.__qualname__ != other.py_func.__qualname__
    # one that read something else when it was compiled is not used again
    one.compiled_from.add("other")
    assert jit.copy_of(scaled) is not one and jit.copy_of(scaled)(1.0) == 1.0


def test_options_of_a_kernel_count():
    made = [numba.njit(**{name: True})(scaled.py_func) for name in ("boundscheck", "fastmath")]
    made += [numba.njit("f8(f8)")(scaled.py_func), numba.njit("f4(f4)")(scaled.py_func)]
    assert len({reach.key(kernel) for kernel in (*made, scaled)}) == 5


def test_a_store_that_has_an_entry_under_each_name_ends(monkeypatch):
    monkeypatch.setattr(store, "load", lambda *of: (0, np.zeros((1, 1))))
    assert tasks._Result(Path("a"), 10, None).count == 0


@numba.njit
def doubled(x):
    return scaled(x) * 2


def test_a_kernel_that_was_compiled_from_other_constants_is_no_others(monkeypatch):
    def result():
        return doubled(1.0)

    assert reach.key(result).portable and not reach.outdated(doubled)
    with monkeypatch.context() as patch:
        patch.setitem(globals(), "FACTOR", 3.0)
        assert result() == 6.0 and reach.key(result).portable
    assert result() == 6.0 and reach.outdated(doubled) and not reach.key(result).portable
    assert jit.copy_of(doubled)(1.0) == 2.0 and reach.key(jit.copy_of(doubled)).portable


def test_code_that_a_function_imports_counts(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "folder").mkdir()
    found = []
    for text in ("x = 1", "x = 2"):
        (tmp_path / "folder/__init__.py").write_text("")
        (tmp_path / "folder/inner.py").write_text(text)
        (tmp_path / "folder/outer.py").write_text(
            "def f():\n    from . import inner\n    return inner.x\n"
            "def g():\n    import folder.inner\n    return folder.inner.x\n"
        )
        monkeypatch.setattr("sys.dont_write_bytecode", True)
        for name in [name for name in sys.modules if name.startswith("folder")]:
            del sys.modules[name]
        outer = importlib.import_module("folder.outer")
        found.append((reach.key(outer.f), reach.key(outer.g)))
    assert found[0][0] != found[1][0] and found[0][1] != found[1][1]


def test_what_is_found_in_unusual_places_counts(tmp_path, monkeypatch):
    """A module named as what it holds, or as one of Python's; names that a module makes; the
    wrapper of a library's function; attributes that are no fields; bases; types of variables."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "factor.py").write_text("X = 1\ndef factor(x):\n    return x * X\n")
    (tmp_path / "antigravity.py").write_text("X = 1\n")
    (tmp_path / "made.py").write_text(
        "T = {'made_x': 1}\ndef __getattr__(name):\n    if name in T:\n        return T[name]\n"
        "    raise AttributeError(name)\n"
    )
    monkeypatch.delitem(sys.modules, "antigravity", raising=False)
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    content.library.cache_clear()
    names = ("factor", "antigravity", "made")
    factor, antigravity, made = modules = [*map(importlib.import_module, names)]
    constant = [1]

    @functools.wraps(np.mean)
    def mean(x):
        return np.mean(x) * constant[0]

    space = dict(zip(names, modules, strict=True)) | {"mean": mean}
    sources = "factor.factor(1)", "antigravity.X", "made.made_x", "mean([1])"
    functions = [eval(f"lambda: {source}", space) for source in sources]
    before = [reach.key(function) for function in functions]
    factor.X = antigravity.X = made.T["made_x"] = constant[0] = 2
    after = [reach.key(function) for function in functions]
    assert all(one.digest != two.digest for one, two in zip(before, after, strict=True))
    assert all(one.portable for one in (*before, *after))
    for name in names:
        del sys.modules[name]
    content.library.cache_clear()

    class More(Pair):
        def __init__(self, more):
            super().__init__(1)
            self.more = more

    assert reach.key(More(1)) == reach.key(More(1)) != reach.key(More(2))
    with_locals = numba.njit(locals={"x": numba.float32})(scaled.py_func)
    assert reach.key(with_locals) != reach.key(numba.njit(scaled.py_func))
    one, two = (type(name, (), {"value": name}) for name in ("One", "Two"))
    derived = type("Derived", (type("Base", (one,), {}),), {})
    was = reach.key(derived)
    derived.__bases__ = (type("Base", (two,), {}),)
    assert reach.key(derived) != was


@dataclass
class Pair:
    first: int


def test_kernels_in_modules_and_tuples_are_compiled_anew_in_copies(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "held.py").write_text(
        "import numba\nX = 1.0\n@numba.njit\ndef k(x):\n    return x * X\n"
    )
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    held = importlib.import_module("held")
    monkeypatch.delitem(sys.modules, "held")
    step = numba.njit(eval("lambda x: held.k(x) + pair[0](x)", {"held": held, "pair": (held.k,)}))
    assert jit.copy_of(step)(1.0) == 2.0
    held.X = 3.0
    assert jit.copy_of(step)(1.0) == 6.0 and reach.key(jit.copy_of(step)).portable


def test_what_a_cached_function_made_of_something_else_is_not_stored():
    constant = [1]
    kept = functools.lru_cache(lambda: constant[0])

    def result():
        return kept()

    first = reach.key(result)
    assert first.portable and result() == 1 and reach.key(result) == first
    constant[0] = 2
    assert result() == 1 and not reach.key(result).portable
    kept.cache_clear()
    constant.append(3)
    assert reach.key(result).portable and result() == 2 and reach.key(result).portable
