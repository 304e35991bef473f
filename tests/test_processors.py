"""Another processor: other instructions round differently, and what is published must not change by
it."""

import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from conftest import ROOT, Project

from privregret.core import files
from privregret.press import manifest

# simulated events and rounds; exact regret
NOTEBOOKS = ["hu2021/6-experiments", "cesari2026/6-extra-logarithm"]
# neither AVX-512 nor AVX2 nor fused multiplication and addition
OLD_PROCESSOR = {
    "NPY_DISABLE_CPU_FEATURES": " ".join(np._core._multiarray_umath.__cpu_dispatch__),
    "OPENBLAS_CORETYPE": "Nehalem",
    "NUMBA_CPU_NAME": "nehalem",
    "NUMBA_CPU_FEATURES": "",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F,-AVX512VL,-AVX512DQ",
    "PYTHONWARNINGS": "ignore",
}
pytestmark = pytest.mark.xdist_group("processors")


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """The smoke profile of some notebooks, run as if on an old processor."""
    project = Project(tmp_path_factory.mktemp("elsewhere"))
    for name in (f"{name}.{e}" for name in NOTEBOOKS for e in ("ipynb", "toml")):
        files.write(project.root / "notebooks" / name, (ROOT / "notebooks" / name).read_bytes())
    code = "import numpy; print(sum(numpy._core._multiarray_umath.__cpu_features__.values()))"
    environment = project.environment | OLD_PROCESSOR
    ask = partial(subprocess.check_output, [sys.executable, "-c", code])
    here, there = (int(ask(env=e)) for e in (project.environment, environment))
    assert there < here or here < 20, "the switches have no effect"
    command = [sys.executable, "-m", "privregret", "reproduce", "--smoke"]
    subprocess.run(command, cwd=project.root, env=environment, check=True)
    return project.root / "build" / "smoke"


@pytest.mark.filterwarnings("ignore:invalid value")  # infinite numbers are compared as well
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_what_was_published_here_stays_when_it_is_made_there(name, elsewhere, smoke, tmp_path):
    """The same numbers and verdicts; adopting them leaves the files to the last byte."""
    written = []
    for source in (smoke(name), elsewhere):
        entry = manifest.read(source)["notebooks"][name]
        origin = {key: manifest.read(elsewhere)["notebooks"][name][key] for key in manifest.ORIGIN}
        manifest.adopt(source, tmp_path, name, origin)
        kept = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
        written.append((kept, [*manifest.number_frames(entry)]))
    (here, said_here), (there, said_there) = written
    assert len(here) > 3 and here == there
    assert [manifest.moved_column(*pair) for pair in zip(said_here, said_there, strict=True)] == [
        "",
        "",
    ]
    assert any(map(len, said_here))
