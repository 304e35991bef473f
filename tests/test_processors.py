"""Another processor: other instructions round differently, and what is published must not change by
it."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, Project
from test_notebooks import SMOKE

from privregret import files
from privregret.press.record import KINDS, ORIGIN, adopt, changing, frames, moved, read

# One notebook for each engine: simulated events and rounds, exact regret, enumeration, adversaries.
NOTEBOOKS = [
    "azize2025/B-release-models",
    "cesari2026/6-extra-logarithm",
    "hu2021/6-experiments",
    "asi2025/G-exp3-leakage",
]
OLD_PROCESSOR = {  # neither AVX-512 nor AVX2 nor fused multiplication and addition
    "NPY_DISABLE_CPU_FEATURES": " ".join(np._core._multiarray_umath.__cpu_dispatch__),
    "OPENBLAS_CORETYPE": "Nehalem",
    "NUMBA_CPU_NAME": "nehalem",
    "NUMBA_CPU_FEATURES": "",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F,-AVX512VL,-AVX512DQ",
    "PYTHONWARNINGS": "ignore",
}


pytestmark = [
    pytest.mark.filterwarnings("ignore:invalid value"),  # infinite numbers are compared as well
    pytest.mark.xdist_group("processors"),
]


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """The smoke profile of some notebooks, run as if on an old processor."""
    project = Project(tmp_path_factory.mktemp("elsewhere"))
    for name in NOTEBOOKS:
        target = project.root / "notebooks" / f"{name}.ipynb"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / "notebooks" / f"{name}.ipynb").read_bytes())
    (project.root / "notebooks/smoke.toml").write_bytes(
        (ROOT / "notebooks/smoke.toml").read_bytes()
    )
    command = [sys.executable, "-m", "privregret", "reproduce", "--smoke"]
    done = subprocess.run(
        command,
        cwd=project.root,
        env=project.environment | OLD_PROCESSOR,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    return project.root / "build" / "smoke"


def test_the_processor_is_another(elsewhere):
    code = "import numpy as np; print(sum(np._core._multiarray_umath.__cpu_features__.values()))"
    here, there = (
        int(
            subprocess.run(
                [sys.executable, "-W", "ignore", "-c", code],
                env=os.environ | e,
                capture_output=True,
            ).stdout
        )
        for e in ({}, OLD_PROCESSOR)
    )
    assert there < here or here < 20, "the switches have no effect"


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_numbers_and_verdicts_are_the_same(name, elsewhere, smoke):
    assert name in SMOKE
    root = smoke(name)
    here, there = read(root), read(elsewhere)
    outputs = [o for o, entry in here["outputs"].items() if entry["notebook"] == name]
    assert outputs
    for output in outputs:
        files = (place / "figures" / f"{output}.csv" for place in (root, elsewhere))
        assert moved(*map(pd.read_csv, files)) == "", output
    said = (frames(manifest["notebooks"][name]) for manifest in (here, there))
    assert [moved(*pair) for pair in zip(*said, strict=True)] == ["", ""]


def test_adoption_there_leaves_what_was_published_here(elsewhere, smoke, tmp_path):
    """Files made here and adopted there stay, to the last byte."""
    for name in NOTEBOOKS:
        here = smoke(name)
        record = read(here)
        origin = {key: record["notebooks"][name][key] for key in ORIGIN}
        for source in (here, elsewhere):
            part = read(source)
            staged = tmp_path / f"{source.name}-{name.replace('/', '-')}-{source is elsewhere}"
            kept = {o: e for o, e in part["outputs"].items() if e["notebook"] == name}
            for output, entry in kept.items():
                for ending in KINDS[entry["kind"]]:
                    content = (source / "figures" / f"{output}{ending}").read_bytes()
                    files.write(staged / "figures" / f"{output}{ending}", content)
            with changing(staged) as new:
                new |= {"outputs": kept, "notebooks": {name: part["notebooks"][name]}}
            adopt(staged, tmp_path / "root", name, origin)
            written = {p: p.read_bytes() for p in (tmp_path / "root").rglob("*") if p.is_file()}
            if source is here:
                first = written
        assert written == first, name
