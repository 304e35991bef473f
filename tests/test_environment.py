"""pyproject.toml, the two locks, environment.yml and the Makefile name the same packages."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import privregret
from privregret.files import ROOT
from privregret.press.papers import PAPERS

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
RUNTIME = [Requirement(line) for line in PROJECT["dependencies"]]
EXTRAS = {
    name: [Requirement(line) for line in lines]
    for name, lines in PROJECT["optional-dependencies"].items()
}
EVERY = [*RUNTIME, *(requirement for extra in EXTRAS.values() for requirement in extra)]
WITNESSES = [Requirement(line) for line in PYPROJECT["dependency-groups"]["witnesses"]]


def pins(lock):
    lines = (ROOT / lock).read_text().replace("\\\n", "").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def locked(lock="requirements.lock"):
    """Every version that a lock holds of each package: one, or one for each platform."""
    versions = {}
    for pin in pins(lock):
        requirement = Requirement(pin.split("--hash")[0])
        (specifier,) = requirement.specifier
        versions.setdefault(canonicalize_name(requirement.name), []).append(specifier.version)
    return versions


@pytest.mark.parametrize("requirement", EVERY, ids=lambda r: r.name)
def test_the_lock_holds_each_direct_dependency_at_a_version_allowed(requirement):
    versions = locked()[canonicalize_name(requirement.name)]
    assert all(version in requirement.specifier for version in versions)


def test_the_lock_of_witnesses_holds_them_and_nothing_that_figures_are_made_with():
    versions = locked("requirements-witnesses.lock")
    for requirement in WITNESSES:
        assert all(version in requirement.specifier for version in versions[requirement.name])
    assert not set(versions) & set(locked())


@pytest.mark.parametrize("package", sorted(locked("requirements-witnesses.lock")))
def test_make_test_installs_the_witnesses_as_locked(package):
    if not (Path(sys.prefix) / ".witnesses").exists():
        pytest.skip("not in the environment that `make test` sets up")
    assert [version(package)] == locked("requirements-witnesses.lock")[package]


GROUPS = (
    {"dependencies": PROJECT["dependencies"]}
    | PROJECT["optional-dependencies"]
    | PYPROJECT["dependency-groups"]
)


@pytest.mark.parametrize("group", GROUPS)
def test_each_dependency_has_a_floor_and_nothing_else(group):
    lines = GROUPS[group]
    assert [line for line in lines if not re.fullmatch(r"[\w-]+>=[\d.]+", line)] == []


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-witnesses.lock"])
def test_every_pin_is_exact_and_hashed(lock):
    exact = re.compile(r"[\w.-]+==[\w.]+ *(;[^#]+?)?( +--hash=sha256:[0-9a-f]{64})+")
    assert [pin for pin in pins(lock) if not exact.fullmatch(pin.strip())] == []


def test_conda_users_get_the_same_lock():
    python, pip, from_pip = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    assert pip == "pip"
    assert from_pip == {"pip": ["-r requirements.lock"]}
    assert python.removeprefix("python=") in SpecifierSet(PROJECT["requires-python"])


def test_the_engine_comes_without_figures_and_notebooks():
    """`pip install privregret` brings the engine's dependencies; JupyterLab and the rest are an
    extra."""
    engine, notebooks = {r.name for r in RUNTIME}, {r.name for r in EXTRAS["notebooks"]}
    assert engine == {"numpy", "numba", "scipy", "pandas", "joblib", "tqdm"}
    assert {"jupyterlab", "papermill", "matplotlib", "seaborn"} <= notebooks
    assert not engine & notebooks


def test_the_lock_is_made_of_every_extra_that_make_uses():
    """`sweep` and `cluster` are in `dev`, for the tests."""
    named = set(re.findall(r"--extra (\w+)", (ROOT / "Makefile").read_text()))
    dev = {r.name for r in EXTRAS["dev"]}
    assert named == {"notebooks", "dev", "site"}
    assert all({r.name for r in EXTRAS[name]} <= dev for name in EXTRAS.keys() - named)


def test_the_build_backend_is_among_the_development_tools():
    assert set(PYPROJECT["build-system"]["requires"]) <= {str(r) for r in EXTRAS["dev"]}


def test_groups_agree_on_shared_packages():
    extras = [Requirement(line) for lines in GROUPS.values() for line in lines]
    floors = {(r.name, str(r.specifier)) for r in extras}
    assert len(floors) == len({name for name, _ in floors})


FILES = [
    "requirements.lock",
    "requirements-witnesses.lock",
    "environment.yml",
    "pyproject.toml",
    "Makefile",
    ".ci/run",
    ".pre-commit-config.yaml",
]


@pytest.mark.parametrize("name", FILES)
def test_no_address_is_written_down(name):
    text = (ROOT / name).read_text()
    assert (
        re.findall(
            r"\S*://\S*|--(?:extra-)?index-url\s\S+", text.replace("--no-emit-index-url", "")
        )
        == []
    )


HOOKS = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]


def test_hooks_run_the_tools_of_the_environment():
    assert [repository["repo"] for repository in HOOKS] == ["local"]
    entries = [hook["entry"] for hook in HOOKS[0]["hooks"]]
    assert all(entry.startswith((".venv/bin/ruff ", "bash ")) for entry in entries)


@pytest.mark.parametrize("outputs", [False, True])
def test_the_hook_for_notebooks_stops_outputs(tmp_path, outputs):
    (entry,) = [hook["entry"] for hook in HOOKS[0]["hooks"] if hook["id"] == "outputs"]
    text = (ROOT / "notebooks/companion/cost.ipynb").read_text()
    (tmp_path / "a.ipynb").write_text(
        text.replace('"execution_count": null', '"execution_count": 7') if outputs else text
    )
    (tmp_path / ".venv").symlink_to(sys.prefix)
    for words in (["git", "init", "-q"], ["git", "add", "a.ipynb"]):
        subprocess.run(words, cwd=tmp_path, check=True)
    done = subprocess.run(
        [*shlex.split(entry), "a.ipynb"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == outputs, done.stderr
    assert ("a.ipynb" in done.stdout) == outputs


def test_lint_is_what_the_hooks_and_continuous_integration_run():
    """The first target sets up and runs notebooks; `lint` needs no more than the environment."""
    makefile = (ROOT / "Makefile").read_text()
    assert re.findall(r"^([\w-]+):", makefile, re.M)[0] == "all"
    (recipe,) = re.findall(r"^lint:.*\n((?:\t.*\n)+)", makefile, re.M)
    assert {"ruff check", "ruff format --check", "lint-imports", "mypy"} <= set(
        re.findall(r"ruff check|ruff format --check|lint-imports|mypy", recipe)
    )


CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())


def test_one_version_number():
    assert CITATION["version"] == PROJECT["version"] == privregret.__version__


@pytest.mark.parametrize("key", PAPERS)
def test_a_paper_is_cited_in_the_version_that_is_meant(key):
    (cff,) = (
        str(r) for r in CITATION["references"] if r["title"].lower() == PAPERS[key].title.lower()
    )
    (bib,) = re.findall(
        rf"^@\w+{{{key},$.*?^}}$", (ROOT / "paper" / "references.bib").read_text(), re.M | re.S
    )
    names = re.findall(r"arXiv:[\w.]+|(?<=PMLR )\d+", PAPERS[key].version)
    assert names
    assert all(name in cff and name in bib for name in names)


@pytest.mark.xdist_group("together")
def test_groups_stay_together(request):
    """Else fixtures that take a minute are made in both processes, silently."""
    assert "PYTEST_XDIST_WORKER" not in os.environ or request.node.nodeid.endswith("@together")
