"""Shared by the tests: a copy of the project to run the batch command in, kernels compiled and
not, bad input."""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# jsonschema would parse grammars of addresses for two seconds in each process, to no use here
sys.modules["rfc3987_syntax"] = None

import answers
import cases
import matplotlib
import numba
import numpy
import pictures
import pytest
from planted import run

from privregret.core.algorithm import Algorithm
from privregret.core.files import locked
from privregret.press import notebook, publish, text
from privregret.press.notebook import BUILD
from privregret.press.papers import OURS, PAPERS

matplotlib.use("agg")
# a paper of which `test_sixth_paper` makes a project
collect_ignore = ["sixth"]
# what a test computes, it computes: with planted faults, too
os.environ["PRIVREGRET_STORE"] = "off"
ROOT = Path(__file__).resolve().parents[1]
SOURCES = str(ROOT / "src")


def pytest_addoption(parser):
    parser.addoption("--paper", metavar="KEY", help="run the tests about one paper alone")
    parser.addoption("--write-golden", action="store_true", help="add what is new to golden files")
    parser.addoption("--every-fault", action="store_true", help="plant all, not one a notebook")


def pytest_configure(config):
    known = [*PAPERS, OURS]
    if (wanted := config.getoption("--paper")) and wanted not in known:
        raise pytest.UsageError(f"--paper must be one of {', '.join(known)}, got {wanted!r}")


def pytest_collection_modifyitems(config, items):
    every, wanted = map(config.getoption, ("--every-fault", "--paper"))
    run = [item for item in items if every or "test_a_fault_is_caught" not in item.name]
    run = [item for item in run if not wanted or is_about(item, wanted)]
    config.hook.pytest_deselected(items=[*set(items).difference(run)])
    items[:] = run


def is_about(item, paper):
    """Whether a test is about a paper: by its name, or that of a notebook or a file, or the source
    of an algorithm, that is its parameter; without parameters, by the mark `every_paper`."""
    given = item.callspec.params.values() if hasattr(item, "callspec") else ()
    said = [item.nodeid, *(str(one) for one in given if isinstance(one, str | Path))]
    algorithms = (getattr(one, "algorithm", one) for one in given)
    said += [one.source for one in algorithms if isinstance(one, Algorithm)]
    named = any(re.search(rf"(?<![a-z0-9]){paper}(?![a-z0-9])", one) for one in said)
    return named or (not given and item.get_closest_marker("every_paper") is not None)


@pytest.fixture(scope="session")
def short_runs() -> list[dict]:
    """What `cases.short_runs` gives compiled, here, and in a process without compiled kernels."""
    said = "json.dumps([numba.config.DISABLE_JIT, cases.short_runs()])"
    path = os.pathsep.join([str(ROOT / "tests"), SOURCES])
    own = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path}
    code = f"import cases, json, numba; print({said})"
    disabled, found = json.loads(subprocess.check_output([sys.executable, "-c", code], env=own))
    assert disabled and not numba.config.DISABLE_JIT
    return [json.loads(json.dumps(cases.short_runs())), found]


@pytest.fixture(scope="session")
def smoke(testrun_uid):
    """Runs a notebook in this process with small parameters, once for all processes that share out
    the tests, and gives its root; `checked.json` there has what is wrong with its figures and with
    the answers to its exercises."""

    def ran(name):
        root, wrong, told = BUILD / "smoke" / "each" / name, {}, []
        done = root / "checked.json"

        def figure(fig, data, key, published=publish.figure, **names):
            published(fig, data, key, **names)
            wrong[key] = pictures.problems(fig, data)

        def lecture(*after):
            told.extend(answers.wrong(text.of_notebook(name)["exercise"], *after))

        # two tests about one notebook: the second finds it done
        with locked(root.with_name(f".{root.name}.turn")):
            if not done.exists() or json.loads(done.read_text())["run"] != testrun_uid:
                shutil.rmtree(root, ignore_errors=True)
                run.execute(name, root, figure, lecture=lecture)
                found = {"run": testrun_uid, "wrong": wrong, "answers": told}
                done.write_text(json.dumps(found))
        return root

    return functools.cache(ran)


def refused(call, *shown, error=(ValueError, TypeError)):
    """`call` must raise an error of one line that contains these names and values; returns it."""
    with pytest.raises(error) as caught:
        call()
    named(str(caught.value), *shown)
    return caught.value


def named(message, *shown):
    """A message of one line must contain these names and values, each as a word of its own."""
    assert "\n" not in message.strip(), message
    for word in map(str, shown):
        before = r"(?<![\w.-])" if word[0].isdigit() else r"(?<!\w)" if word[0].isalpha() else ""
        after = r"(?!\w|\.\d)" if word[-1].isalnum() else ""
        assert re.search(before + re.escape(word) + after, message), f"{word!r} not in: {message}"


def git(folder, *words, **more):
    """What git prints in a folder, as somebody."""
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *map(str, words)]
    asked = {"cwd": folder, "check": True, "capture_output": True, "text": True} | more
    return subprocess.run(command, **asked).stdout


HOST = """
import gc, json, os, runpy, sys, traceback
sys.modules["rfc3987_syntax"] = None
import distributed, jinja2, jupyter_client.manager, nbclient, numba, pandas, papermill, scipy.stats
gc.freeze()
for line in sys.stdin:
    words, folder, environment, place = json.loads(line)
    if child := os.fork():
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        continue
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for of, path in enumerate((os.devnull, place + "/out", place + "/err")):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), of)
    sys.path[:1] = [folder, *environment["PYTHONPATH"].split(os.pathsep)]
    kind, sys.argv, code = words[0], words[words[0] in ("-c", "-m"):], 0
    try:
        if kind == "-c":
            exec(words[1], vars(sys.modules["__main__"]))
        elif kind == "-m":
            runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(kind, run_name="__main__")
    except SystemExit as stop:
        code = stop.code or 0
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        sys.stdout.flush()
        # without the many seconds in which Python forgets what was imported
        os._exit(code)
os._exit(0)
"""


@functools.cache
def host():
    """A process that has imported the libraries, and forks for each program."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    environment = os.environ | {"PYTHONWARNINGS": "ignore", "NUMBA_DISABLE_JIT": "0"}
    return subprocess.Popen([sys.executable, "-Bc", HOST], env=environment, **pipes)


def python(*words, cwd, env):
    """Run `python <words>` to its end in a fork of `host`: (exit code, stdout, stderr)."""
    with tempfile.TemporaryDirectory() as place:
        print(json.dumps([[*map(str, words)], str(cwd), env, place]), file=host().stdin, flush=True)
        code = int(host().stdout.readline())
        return code, *(Path(place, name).read_text() for name in ("out", "err"))


class Project:
    """A copy of the project's sources, with the notebooks of a test; or what is there."""

    def __init__(self, root: Path):
        self.root = root
        if (root / "src").exists():
            return
        # with the bytecode, which holds for copies that keep their times
        shutil.copytree(ROOT / "src", root / "src", ignore=shutil.ignore_patterns("*.egg-info"))
        (root / "notebooks").mkdir()
        (root / "requirements.lock").write_text(f"numpy=={numpy.__version__}\n")
        # where kernels look for compiled code: what one test compiled serves the next
        (root / ".cache").symlink_to(ROOT / ".cache") if (ROOT / ".cache").exists() else None

    @property
    def environment(self):
        kept = {name: value for name, value in os.environ.items() if name != "PRIVREGRET_STORE"}
        return kept | {"PYTHONPATH": str(self.root / "src"), "PYTHONWARNINGS": "ignore"}

    def start(self, *command):
        """A process of its own of `python -m <command>`, its output in pipes."""
        pipes = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        words = [sys.executable, "-m", *map(str, command)]
        return subprocess.Popen(words, cwd=self.root, env=self.environment, **pipes)

    def python(self, *command, cwd=None):
        """Run `python -m <command>` to its end: (exit code, stdout, stderr)."""
        return python("-m", *command, cwd=cwd or self.root, env=self.environment)


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path / "{a} folder")


@pytest.fixture
def root(tmp_path, monkeypatch):
    """An empty project to publish into, and a notebook that is running."""
    monkeypatch.setenv("PRIVREGRET_OUTPUT", str(tmp_path))
    monkeypatch.setattr(notebook, "current", notebook.Running("hu2021/one", {"seed": 3, "runs": 2}))
    return tmp_path
