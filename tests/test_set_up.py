"""`.ci/set-up`, which `make` runs first, with a pip that only notes what it is told."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

PYTHON = f"""#!/bin/sh
[ "$1 $2" = "-m venv" ] || exec {sys.executable} "$@"
{sys.executable} -m venv --without-pip "$3"
for site in "$3"/lib/python3*/site-packages; do
    mkdir "$site/pip" && cp pip.py "$site/pip/__main__.py"
done
"""
PIP = """
import json, os, pathlib, sys, time
home = pathlib.Path(__file__).parents[1]
with open("log", "a") as log:
    settings = {k: v for k, v in os.environ.items() if k.startswith("PIP_")}
    print(json.dumps([sys.argv[2:], settings]), file=log)
if "config" in sys.argv:
    sys.exit(print("global.index-url='x'"))
time.sleep(float(os.environ.get("SLOW", 0)))
name = "privregret" if "-e" in sys.argv else sys.argv[-1]
(home / name).mkdir(exist_ok=True)
(home / name / "__init__.py").touch()
"""


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "a project"
    (root / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / ".ci/set-up", root / ".ci")
    files = {"CITATION.cff": "version: 1\n", "pip.py": PIP, "python": PYTHON}
    for name in ("requirements.lock", "requirements-dev.lock", "pyproject.toml"):
        files[name] = "a==1\n"
    for name, text in files.items():
        (root / name).write_text(text)
    (root / "python").chmod(0o755)
    return root


def start(root, *words, **more):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PIP_")}
    environment |= {"PYTHON": str(root / "python")} | more
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(["sh", root / ".ci/set-up", *words], env=environment, **pipes)


def calls(root):
    """What pip was told since this was last asked: (words, settings)."""
    log = root / "log"
    said = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    log.unlink(missing_ok=True)
    return said


def installed(root, *words, **more):
    """What pip is told to install by a set-up that goes well; and its settings."""
    process = start(root, *words, **more)
    said, _ = process.communicate()
    assert process.returncode == 0, said
    found = [call for call in calls(root) if "install" in call[0]]
    assert bool(said) == bool(found)
    return [words[-1] for words, _ in found], [settings for _, settings in found]


ALL = ["requirements.lock", "."]
DAMAGE = (
    "echo 'a==2' > requirements.lock; touch -d @0 requirements.lock",
    "rm -r .venv/lib/*/*/requirements.lock",
    "rm -r .venv/lib/*/*/privregret",
    "rm .venv/bin/python",
    "rm .venv/.ready .venv/.packages",  # an interrupted set-up
    "rm -r .venv/.made .venv/bin",  # of an earlier version
    "rm -r .venv && mkdir .venv",
)
FOREIGN = (
    "python3 -m venv --without-pip .venv",
    "mkdir .venv && touch .venv/notes",
    "echo here >.venv",
    "mkdir mine && touch mine/notes && ln -s mine .venv",
)


def test_what_is_not_as_the_lock_asks_is_set_up_again(project):
    assert installed(project)[0] == ALL
    for damage in DAMAGE:
        subprocess.run(damage, shell=True, cwd=project, check=True)
        assert installed(project)[0] == ALL, damage
    project = project.rename(project.with_name("moved"))
    assert installed(project)[0] == ALL
    os.utime(project / "requirements.lock", (2**32, 2**32))
    assert installed(project)[0] == []
    # the interpreter that is named counts
    assert installed(project, PYTHON="")[0] == []
    (project / "other").write_text('#!/bin/sh\n[ "$1" = -Ic ] && echo 4.0 || exec ./python "$@"\n')
    (project / "other").chmod(0o755)
    assert installed(project, PYTHON=str(project / "other"))[0] == ALL
    (project / "requirements.lock").write_text("b==1\n")
    process = start(project, PYTHON="no-such-python")
    assert "PYTHON" in process.communicate()[0] and process.returncode == 1


@pytest.mark.parametrize("how", FOREIGN)
def test_an_environment_of_somebody_else_stays(project, how):
    subprocess.run(how, shell=True, cwd=project, check=True)
    before = sorted(project.rglob("*"))
    process = start(project, "dev")
    said = process.communicate()[0]
    assert process.returncode == 1 and said.count("\n") == 1 and ".venv" in said
    assert sorted(project.rglob("*")) == before and calls(project) == []


def test_what_tests_need_is_added_and_pip_is_told_whence_but_not_where(project):
    whence = {"PIP_INDEX_URL": "x", "PIP_CERT": "x"}
    called, settings = installed(project, "dev", **whence, PIP_TARGET="x", PIP_USER="1")
    assert called == [*ALL, "requirements-dev.lock"]
    assert all(said.items() >= (whence | {"PIP_USER": "0"}).items() for said in settings)
    assert not any("PIP_TARGET" in said for said in settings)
    (project / "requirements-dev.lock").write_text("b==1\n")
    assert installed(project, "dev")[0] == ["requirements-dev.lock"]
    (project / "requirements.lock").write_text("a==2\n")
    assert installed(project, "dev")[0] == [*ALL, "requirements-dev.lock"]
    assert installed(project, "dev")[0] == []


@pytest.mark.skipif(not shutil.which("flock"), reason="needs flock")
def test_one_set_up_at_a_time_and_none_under_a_command(project):
    processes = [start(project, SLOW="1") for _ in range(3)]
    said = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert [words[-1] for words, _ in calls(project)] == ["list", *ALL]
    assert sum("Waiting" in text for text in said) == 2
    (project / "requirements.lock").write_text("a==2\n")
    command = subprocess.Popen(["flock", "-s", project, "sleep", "2"])
    waiting = start(project)
    assert "Waiting" in waiting.stdout.readline() and command.poll() is None
    assert (project / ".venv/.ready").exists()
    assert waiting.wait() == 0 == command.wait()
