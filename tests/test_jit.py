"""The kernels' cache must not outlive their source."""

import importlib
import json
import os
import pkgutil
import shutil
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import numba
import pytest
from numba.core.caching import IndexDataCacheFile

import privregret
from privregret import jit, noise
from privregret.files import PACKAGE

compiled = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="needs compiled kernels")


@pytest.fixture
def package(tmp_path):
    """A copy of the package's sources, in a root of its own."""
    copy = tmp_path / "src" / "privregret"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "notebooks").mkdir()
    return copy


def run(package):
    """Value of a kernel with a callee in another file, where it is cached, whether it came from
    there."""
    code = """
import json
from privregret import caller
value = caller.outer(1.0)
print(json.dumps([value, caller.outer.stats.cache_path, sum(caller.outer.stats.cache_hits.values())]))
"""
    path = os.pathsep.join([str(package.parent), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


CALLEE = """from privregret.jit import jit

FACTOR = 2.0


@jit
def inner(x):
    return FACTOR * x
"""
CALLER = """from privregret.callee import inner
from privregret.jit import jit


@jit
def outer(x):
    return inner(x) + 1
"""


@compiled
def test_an_edit_in_a_callee_is_compiled(package):
    """The caller's file stays as it is, and numba's own cache would serve the old value."""
    callee = package / "callee.py"
    callee.write_text(CALLEE)
    (package / "caller.py").write_text(CALLER)
    root = str(package.parents[1])
    value, place, hits = run(package)
    assert value == 3.0 and place.startswith(root) and hits == 0
    assert run(package) == [3.0, place, 1]  # unchanged: from the cache
    (package / "other.py").write_text("from privregret import caller\n")
    (package / "press" / "draw.py").write_text("")
    assert run(package) == [3.0, place, 1]  # the kernel uses neither
    before = callee.read_text()
    callee.write_text(before.replace("2.0", "9.0"))
    value, elsewhere, hits = run(package)
    assert value == 10.0 and hits == 0 and elsewhere != place and elsewhere.startswith(root)
    callee.write_text(before)
    assert run(package) == [3.0, place, 1]  # both versions are there


@compiled
def test_a_kernel_under_which_a_file_was_edited_is_not_cached(package):
    """Its process runs the old callee: compiled code must not be kept under the new one's name."""
    (package / "callee.py").write_text(CALLEE)
    edit = "from pathlib import Path\nfrom privregret import callee\nPath(callee.__file__).write_text('')\n"
    (package / "caller.py").write_text(edit + CALLER)
    assert run(package)[:2] == [3.0, None]


@compiled
def test_only_folders_used_last_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(jit, "CACHE", tmp_path / "a")
    monkeypatch.setattr(jit, "KEPT", 3)
    for i in range(6):
        (tmp_path / "a" / str(i)).mkdir(parents=True)
        os.utime(tmp_path / "a" / str(i), (i, i))
    folder = jit.folder_of(noise.laplace.py_func)
    assert {path.name for path in folder.parent.iterdir()} == {"3", "4", "5", folder.name}
    other = tmp_path / "b" / folder.name
    other.mkdir(parents=True)
    os.utime(other, (0, 0))
    monkeypatch.setattr(jit, "CACHE", tmp_path / "b")
    assert jit.folder_of(noise.laplace.py_func) == other and other.stat().st_mtime > 5  # used now


def kernels():
    """Every compiled function of the package, by name."""
    found = {}
    for info in pkgutil.walk_packages(privregret.__path__, "privregret."):
        if info.name.endswith("__main__"):
            continue
        for name, value in vars(importlib.import_module(info.name)).items():
            if isinstance(value, numba.core.dispatcher.Dispatcher):
                found[f"{info.name}.{name}"] = value
    return found


@compiled
def test_kernels_release_the_gil_and_are_cached_in_one_place():
    found = kernels()
    assert len(found) >= 10
    for name, kernel in found.items():
        options = kernel.targetoptions
        assert options.get("nogil") and options.get("nopython"), name
        assert not options.get("fastmath") and not options.get("parallel"), name
        assert Path(kernel.stats.cache_path).is_relative_to(jit.CACHE), name


def double(x):
    return x + x


@pytest.fixture
def saved(tmp_path, monkeypatch):
    """Saves code for these types in a cache of its own, and says for which there is some."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    kernel = numba.njit(double)
    found = {
        kind: kernel.overloads[(kind,)]
        for kind in (numba.int64, numba.float64)
        if kernel.compile((kind,))
    }

    def save(*kinds):
        for kind in kinds:
            jit._Cache(double).save_overload((kind,), found[kind])
        caches = {
            kind: jit._Cache(double).load_overload((kind,), kernel.targetctx) for kind in found
        }
        return {kind for kind, code in caches.items() if code}

    return save


@compiled
def test_code_that_two_processes_save_at_once_is_kept(saved, monkeypatch):
    """Each reads the index, and waits for the other before it writes: without a lock both would
    write one entry."""
    together, write = threading.Barrier(2), IndexDataCacheFile._save_index

    def late(*args):
        with suppress(threading.BrokenBarrierError):
            together.wait(0.5)
        write(*args)

    monkeypatch.setattr(IndexDataCacheFile, "_save_index", late)
    both = [threading.Thread(target=saved, args=(kind,)) for kind in (numba.int64, numba.float64)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert saved() == {numba.int64, numba.float64}


@compiled
def test_code_of_another_signature_is_not_used(saved, tmp_path):
    assert saved(numba.int64, numba.float64) == {numba.int64, numba.float64}
    one, other = sorted(tmp_path.rglob("*.nbc"))
    shutil.copy(other, one)
    assert saved() == {numba.float64}


@compiled
def test_other_libraries_keep_their_cache(monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", "somewhere else")
    jit.jit(lambda x: x)
    assert numba.config.CACHE_DIR == "somewhere else"
    with pytest.raises(TypeError):
        jit.jit(3)
    assert numba.config.CACHE_DIR == "somewhere else"
