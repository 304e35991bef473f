"""A benchmark whose numbers are published writes them whole or not at all."""

import runpy
import shutil
import sys

import pytest
from conftest import ROOT


def test_what_is_missing_is_named_and_nothing_written(tmp_path, monkeypatch):
    for name in ("peers.py", "README.md"):
        shutil.copy(ROOT / "benchmarks" / name, tmp_path)
    before = (tmp_path / "README.md").read_bytes()
    monkeypatch.setattr(sys, "argv", ["peers.py"])
    monkeypatch.setitem(sys.modules, "river", None)
    with pytest.raises(SystemExit, match="river"):
        runpy.run_path(str(tmp_path / "peers.py"), run_name="__main__")
    assert (tmp_path / "README.md").read_bytes() == before
