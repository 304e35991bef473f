"""Benchmarks whose numbers are published write them whole or not at all."""

import runpy
import shutil
import sys

import pytest
from conftest import ROOT

from privregret.press import notebook


@pytest.mark.parametrize(
    ("script", "published", "missing"),
    [("peers.py", "README.md", "river"), ("notebooks.py", "notebooks.csv", "hu2021/4")],
)
def test_what_is_missing_is_named_and_nothing_written(
    tmp_path, monkeypatch, script, published, missing
):
    for name in (script, published):
        shutil.copy(ROOT / "benchmarks" / name, tmp_path)
    before = (tmp_path / published).read_bytes()
    monkeypatch.setattr(sys, "argv", [script])
    monkeypatch.setitem(sys.modules, "river", None)
    monkeypatch.setattr(notebook, "BUILD", tmp_path)
    # one of the notebooks has run
    (tmp_path / "stamps/wu2026").mkdir(parents=True)
    stamp = '{"seconds": 1.0, "megabytes": 1}'
    (tmp_path / "stamps/wu2026/4-deterministic-setting.json").write_text(stamp)
    with pytest.raises(SystemExit, match=missing):
        runpy.run_path(str(tmp_path / script), run_name="__main__")
    assert (tmp_path / published).read_bytes() == before
