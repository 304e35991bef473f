"""The package as a wheel, without the project around it: what works does so in the right folders,
the rest says so."""

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import distributions

import pytest
from conftest import ROOT

pytestmark = pytest.mark.xdist_group("installed")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder in which the wheel is installed, and nothing else."""
    root = tmp_path_factory.mktemp("installed")
    shutil.copytree(
        ROOT / "src", root / "from/src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
    )
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, root / "from")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    offline = ["--quiet", "--no-deps", "--no-index"]
    subprocess.run(
        [*pip, "wheel", *offline, "--no-build-isolation", "-w", root, root / "from"], check=True
    )
    (wheel,) = root.glob("*.whl")
    subprocess.run([*pip, "install", *offline, "--target", root / "site", wheel], check=True)
    return root / "site"


@pytest.fixture
def run(site, tmp_path):
    """Run Python in an empty folder, with the installed package: (exit code, stdout, stderr)."""

    def run(*arguments, **more):
        environment = (
            os.environ | {"PYTHONPATH": str(site), "XDG_CACHE_HOME": str(tmp_path / "cache")} | more
        )
        (tmp_path / "here").mkdir(exist_ok=True)
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=tmp_path / "here",
            env=environment,
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.mark.parametrize("words", ["status", "reproduce --smoke"])
def test_the_command_says_that_there_are_no_notebooks(run, site, tmp_path, words):
    script = site / "bin" / "privregret"
    for start in (["-m", "privregret"], [script]):
        code, out, err = run(*start, *words.split())
        assert (code, out) == (2, "") and err.startswith("error: ") and err.count("\n") == 1
    assert not list((tmp_path / "here").iterdir()) and not (tmp_path / "cache").exists()


def test_its_version_and_types(run, site):
    code, out, _ = run("-m", "privregret", "--version")
    assert code == 0 and list(site.glob(f"{out.strip().replace(' ', '-')}.dist-info"))
    assert (site / "privregret" / "py.typed").exists()


def test_it_asks_for_the_engine_only(site):
    """JupyterLab, papermill, matplotlib and the rest come with an extra."""
    (installed,) = distributions(name="privregret", path=[str(site)])
    needed = [re.match(r"[\w-]+", line)[0] for line in installed.requires if "extra ==" not in line]
    assert set(needed) == {"numpy", "numba", "scipy", "pandas", "joblib", "tqdm"}
    assert {"notebooks", "site", "sweep", "cluster"} <= set(
        installed.metadata.get_all("Provides-Extra")
    )


PUBLISH = """
import matplotlib.pyplot as plt
import pandas as pd
from privregret.press import publish
publish.figure(plt.figure(), "mine/first", pd.DataFrame({"x": [1]}), "A figure.")
"""


def test_publishing_goes_to_the_current_folder(run, site, tmp_path):
    before = {p for p in site.rglob("*") if "__pycache__" not in p.parts}
    code, _, err = run("-c", PUBLISH, MPLBACKEND="agg")
    assert code == 0, err
    written = {p.name for p in (tmp_path / "here/figures/mine").iterdir()}
    assert written == {f"first.{ending}" for ending in ("pdf", "png", "csv", "tex")}
    assert {p for p in site.rglob("*") if "__pycache__" not in p.parts} == before


KERNEL = (
    "from privregret.divergence import kl; from privregret import jit; "
    "print(kl(0.5, 0.25), jit.CACHE)"
)


def test_kernels_are_kept_by_source_in_the_users_cache_or_not_at_all(run, site, tmp_path):
    code, out, err = run("-c", KERNEL)
    assert code == 0, err
    (folder,) = (tmp_path / "cache/privregret/numba").iterdir()
    assert out.split()[1] == str(folder.parent) and list(folder.rglob("*.nbi"))
    code, out, err = run("-c", KERNEL, XDG_CACHE_HOME="/dev/null")
    assert code == 0 and out.split()[1] == "None", err
    assert not list(site.rglob("*.nbi")) and not list((tmp_path / "here").rglob("*.nbi"))
    source = site / "privregret" / "divergence.py"
    source.write_text(source.read_text() + "\nEDITED = 1\n")
    assert run("-c", KERNEL)[0] == 0
    assert len(list((tmp_path / "cache/privregret/numba").iterdir())) == 2


def test_where_there_is_no_fcntl_the_library_works_and_the_command_says_what_it_needs(run):
    without = "import sys; sys.modules['fcntl'] = None; "
    code, out, _ = run(
        "-c",
        without + "from privregret import files; from privregret.press import notebook, publish; "
        "print(files.fcntl)",
    )
    assert (code, out) == (0, "None\n")
    main = "from privregret.__main__ import main; sys.exit(main(['status']))"
    code, out, err = run("-c", without + main, PYTHONPATH=str(ROOT / "src"))
    assert (code, out) == (2, "") and err.count("\n") == 1 and "WSL" in err
