"""The cache of kernels on disk; `test_code_key` edits what they use."""

import shutil
import threading
from contextlib import suppress
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.caching import IndexDataCacheFile

from privregret.core import files, jit, noise

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="needs compiled kernels")


def double(x):
    return x + x


@pytest.fixture
def saved(tmp_path, monkeypatch):
    """Saves code for these types in a cache of its own, and says for which there is some."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    kernel = numba.njit(double)
    kinds = (numba.int64, numba.float64)
    found = {kind: kernel.overloads[(kind,)] for kind in kinds if kernel.compile((kind,))}

    def save(*kinds):
        for kind in kinds:
            jit._Cache(double).save_overload((kind,), found[kind])
        there = {k: jit._Cache(double).load_overload((k,), kernel.targetctx) for k in found}
        return {kind for kind, code in there.items() if code}

    return save


def test_code_that_two_processes_save_at_once_is_kept(saved, monkeypatch):
    """Each reads the index, and waits for the other before it writes."""
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


def test_code_of_another_signature_and_damaged_code_are_not_used(saved, tmp_path):
    assert saved(numba.int64, numba.float64) == {numba.int64, numba.float64}
    one, other = sorted(tmp_path.rglob("*.nbc"))
    shutil.copy(other, one)
    assert saved() == {numba.float64}
    other.write_bytes(b"damaged")
    assert saved() == set() and saved(numba.int64) == {numba.int64}


def test_without_locks_kernels_are_cached(saved, monkeypatch, tmp_path):
    def none(*args):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(files.fcntl, "flock", none)
    assert saved(numba.int64) == {numba.int64}
    with files.locked(tmp_path / "lock", wait=False) as held:
        assert not held


def test_kernels_release_the_gil_and_other_libraries_keep_their_cache(monkeypatch):
    kernel = noise.laplace
    assert kernel.targetoptions["nogil"] and not kernel.targetoptions.get("fastmath")
    assert Path(kernel.stats.cache_path).is_relative_to(jit.CACHE)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "somewhere else")
    assert jit.jit(lambda x: x)._cache.__class__.__name__ == "NullCache"
    with pytest.raises(TypeError):
        jit.jit(3)
    assert numba.config.CACHE_DIR == "somewhere else"


RECORD = np.dtype([("x", np.float64)])


def summed(n):
    owns = np.zeros(1, RECORD)
    own = owns[0]
    for k in range(n):
        others = np.full(1, float(k))
        own["x"] += others[0]
    jit.keep_alive(owns)
    return own["x"]


def test_an_array_is_kept_alive_for_its_record():
    assert numba.njit(summed)(1000) == sum(range(1000))
