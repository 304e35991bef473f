"""The package as a wheel, with the packages that it asks for and nothing else: what works does so
in the right folders, the rest says what it needs."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
from importlib.metadata import distribution, distributions

import pytest
from conftest import ROOT
from packaging.requirements import Requirement
from test_readme import CODE

from privregret import __main__ as command

pytestmark = pytest.mark.xdist_group("installed")


def needed(found):
    """What these distributions ask for, and what that asks for."""
    for line in found.requires or []:
        asked = Requirement(line)
        if asked.marker is None or asked.marker.evaluate({"extra": ""}):
            yield (inner := distribution(asked.name))
            yield from needed(inner)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the wheel and links to what it needs."""
    root = tmp_path_factory.mktemp("installed")
    # of this name, so that kernels are stored, which know libraries by it
    site = root / "site-packages"
    no_caches = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", root / "from/src", ignore=no_caches)
    for name in "pyproject.toml setup.py MANIFEST.in CITATION.cff README.md LICENSE".split():
        shutil.copy(ROOT / name, root / "from")
    (root / "from/build/lib/privregret").mkdir(parents=True)
    (root / "from/build/lib/privregret/gone.py").touch()
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    offline = ["--quiet", "--no-deps", "--no-index"]
    built = [*pip, "wheel", *offline, "--no-build-isolation", "-w", root, root / "from"]
    subprocess.run(built, check=True)
    (wheel,) = root.glob("*.whl")
    subprocess.run([*pip, "install", *offline, "--target", site, wheel], check=True)
    (mine,) = distributions(name="privregret", path=[str(site)])
    for other in needed(mine):
        for name in {file.parts[0] for file in other.files} - {"..", "bin", "__pycache__"}:
            with_it = site / name
            with_it.exists() or with_it.symlink_to(other.locate_file(name))
    # what is compiled serves the tests before and after: it is the same code
    (ROOT / ".cache/store").mkdir(parents=True, exist_ok=True)
    (site / "cache").mkdir()
    (site / "cache/privregret").symlink_to(ROOT / ".cache")
    return site


@pytest.fixture
def run(site, tmp_path):
    """Run Python in an empty folder, with this alone: (exit code, stdout, stderr)."""

    def run(*arguments, others=False, **more):
        path = [str(site), *(sys.path if others else [])]
        more = {"PYTHONPATH": os.pathsep.join(path), "XDG_CACHE_HOME": str(site / "cache")} | more
        (tmp_path / "here").mkdir(exist_ok=True)
        command, own = [sys.executable, "-S", *map(str, arguments)], {"cwd": tmp_path / "here"}
        done = subprocess.run(command, **own, env=os.environ | more, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    return run


def files(folder):
    return {p.name for p in folder.rglob("*") if p.is_file()}


def test_it_asks_for_the_engine_only_and_has_its_version(run, site):
    assert not (site / "privregret/gone.py").exists()  # left by an older build
    (mine,) = distributions(name="privregret", path=[str(site)])
    asked = {re.match(r"[\w-]+", line)[0] for line in mine.requires if "extra ==" not in line}
    assert asked == {"numpy", "numba", "scipy", "pandas", "joblib", "tqdm"}
    code, out, _ = run("-m", "privregret", "--version")
    assert code == 0 and list(site.glob(f"{out.strip().replace(' ', '-')}.dist-info"))


def test_documented_code(run, tmp_path):
    """What pages show is what their code prints, from the wheel, and no file is left."""
    mark, blocks = "---next---", [code for code, _ in CODE]
    script = f"for code in {blocks!r}:\n    exec(code, {{}})\n    print({mark!r})"
    status, out, err = run("-c", script)
    assert status == 0, err
    assert files(tmp_path / "here") == set()
    shown = zip(out.split(mark)[:-1], (known for _, known in CODE), strict=True)
    shown = [(said.split(), known.split()) for said, known in shown]
    assert all(said for said, _ in shown) and sum(bool(known) for _, known in shown) > 3
    for said, known in shown:
        for word, expected in zip(said, known, strict=bool(known)):
            near = pytest.approx(float(expected), rel=1e-3, abs=0.11) if word != expected else ""
            assert word == expected or float(word) == near


def test_the_command_says_what_it_needs(run, site):
    """The extra, or a clone with notebooks; the library needs nothing that Windows has not."""
    for others, start in ((False, ["-m", "privregret"]), (True, [site / "bin" / "privregret"])):
        code, out, err = run(*start, "status", others=others)
        assert (code, out, err.count("\n")) == (2, "", 1), err
        assert command.INSTALL in err
    without = "import sys; sys.modules['fcntl'] = None; "
    press = "from privregret.core import files; from privregret.press import notebook, publish"
    assert run("-c", without + press, others=True)[0] == 0


def test_the_source_distribution_has_no_tests_without_their_helpers(site):
    source = site.parent / "from"
    (source / "tests").mkdir()
    (source / "tests/test_one.py").touch()
    code = "from setuptools.build_meta import build_sdist as b; b('dist')"
    subprocess.run([sys.executable, "-c", code], cwd=source, check=True, capture_output=True)
    (made,) = source.glob("dist/*.tar.gz")
    names = tarfile.open(made).getnames()
    assert any("src/privregret/simulate.py" in n for n in names)
    assert not [n for n in names if "/tests" in n]


PUBLISH = """
import matplotlib.pyplot as plt
import pandas as pd
from privregret.press import notebook, publish
notebook.start("mine/first", globals())
publish.figure(plt.figure(), pd.DataFrame({"x": [1]}), "drawn")
"""


def test_publishing_goes_to_the_current_folder(run, site, tmp_path):
    before, here = files(site / "privregret"), tmp_path / "here"
    here.mkdir()
    (here / "first.toml").write_text('[figure.drawn]\ncaption = "A figure."\n')
    code, _, err = run("-B", "-c", PUBLISH, others=True, MPLBACKEND="agg")
    assert code == 0, err
    assert {f"drawn.{e}" for e in ("pdf", "png", "csv", "tex")} <= files(here / "figures/mine")
    assert files(site / "privregret") == before


KERNEL = "from privregret.divergence import kl; print(kl(0.5, 0.25))"


def test_compiled_kernels_are_kept_in_the_users_cache_or_not_at_all(run, tmp_path, site):
    for cache in ("/dev/null", str(tmp_path / "cache")):
        code, _, err = run("-c", KERNEL, XDG_CACHE_HOME=cache)
        assert code == 0, err
        assert bool(list(tmp_path.glob("cache/privregret/store/*"))) == (cache != "/dev/null")
    assert not list((site / "privregret").rglob("*.nb?")) and files(tmp_path / "here") == set()
