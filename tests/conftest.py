"""Shared by the tests: a copy of the project to run the batch command in, kernels compiled and
not, bad input."""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib
import pictures
import pytest
from planted import run

import privregret
from privregret.core.files import locked
from privregret.press import notebook, publish
from privregret.press.notebook import BUILD

matplotlib.use("agg")
os.environ["PRIVREGRET_STORE"] = (
    "off"  # what a test computes, it computes: with planted faults, too
)
ROOT = Path(__file__).resolve().parents[1]


def pytest_addoption(parser):
    parser.addoption(
        "--every-fault",
        action="store_true",
        help="try all planted faults, not one for each notebook",
    )


def compiled_and_not(code: str) -> list[str]:
    """What a script prints, first with compiled kernels and then without; it may import tests and
    the package."""
    here, package = Path(__file__).parent, Path(privregret.__file__).parents[1]
    path = os.pathsep.join([str(here), str(package), os.environ.get("PYTHONPATH", "")])
    outputs = []
    for disabled in ("0", "1"):
        check = f"import numba\nassert numba.config.DISABLE_JIT == {disabled}\n"
        environment = os.environ | {"NUMBA_DISABLE_JIT": disabled, "PYTHONPATH": path}
        done = subprocess.run(
            [sys.executable, "-c", check + code], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr[-2000:]
        outputs.append(done.stdout)
    return outputs


@pytest.fixture(scope="session")
def short_runs() -> list[dict]:
    """What `cases.short_runs` gives, with compiled kernels and without."""
    return [
        json.loads(o)
        for o in compiled_and_not("import json, cases; print(json.dumps(cases.short_runs()))")
    ]


@pytest.fixture(scope="session")
def smoke(testrun_uid):
    """Runs a notebook in this process with small parameters, once for all processes that share out
    the tests, and gives its root; `pictures.json` there has what is wrong with its figures."""

    def ran(name):
        root, wrong = BUILD / "smoke" / "each" / name, {}
        done = root / "pictures.json"

        def figure(fig, data, key, published=publish.figure, **names):
            wrong[key] = pictures.problems(fig, data)
            published(fig, data, key, **names)

        # two tests about one notebook: the second finds it done
        with locked(root.with_name(f".{root.name}.turn")):
            if not done.exists() or json.loads(done.read_text())["run"] != testrun_uid:
                shutil.rmtree(root, ignore_errors=True)
                run.execute(name, root, figure)
                done.write_text(json.dumps({"run": testrun_uid, "wrong": wrong}))
        return root

    return functools.cache(ran)


def refused(call, *shown, error=(ValueError, TypeError)):
    """`call` must raise an error of one line that contains these names and values; returns it."""
    with pytest.raises(error) as caught:
        call()
    named(str(caught.value), *shown)
    return caught.value


def named(message, *shown):
    """A message of one line must contain these names and values, each as a word of its own.

    English words are not to be tested: a message can be reworded.
    """
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


class Project:
    """A copy of the project's sources in a folder of its own, with whatever notebooks a test puts
    there; or one that is there."""

    def __init__(self, root: Path):
        self.root = root
        if (root / "src").exists():
            return
        ours = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / "src", root / "src", ignore=ours)
        (root / "notebooks").mkdir()
        (root / "notebooks" / "smoke.toml").write_text("")
        (root / "requirements.lock").write_text("numpy==2\n")
        # where kernels look for compiled code: what one test compiled serves the next
        (root / ".cache").symlink_to(ROOT / ".cache") if (ROOT / ".cache").exists() else None

    @property
    def environment(self):
        kept = {name: value for name, value in os.environ.items() if name != "PRIVREGRET_STORE"}
        return kept | {"PYTHONPATH": str(self.root / "src"), "PYTHONWARNINGS": "ignore"}

    def start(self, *command, cwd=None):
        """A running process of `python -m <command>`, its output in pipes."""
        pipes = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        words = [sys.executable, "-m", *map(str, command)]
        return subprocess.Popen(words, cwd=cwd or self.root, env=self.environment, **pipes)

    def python(self, *command, cwd=None):
        """Run `python -m <command>` to its end: (exit code, stdout, stderr)."""
        process = self.start(*command, cwd=cwd)
        out, err = process.communicate(timeout=600)
        return process.returncode, out, err


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path / "{a} folder")


@pytest.fixture
def root(tmp_path, monkeypatch):
    """An empty project to publish into, and a notebook that is running."""
    monkeypatch.setenv("PRIVREGRET_OUTPUT", str(tmp_path))
    running = notebook.Running("hu2021/one", {"seed": 3, "runs": 2})
    monkeypatch.setattr(notebook, "current", running)
    return tmp_path
