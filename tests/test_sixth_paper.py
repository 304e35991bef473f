"""A whole paper is added to a copy of the project: two algorithms, a problem, bounds, a notebook
with three verdicts of which one fails, planted faults. It takes twelve files, runs, and its tests
pass. What is typed somewhere else for each paper makes this test fail."""

import os
import shutil
import subprocess
import sys

from conftest import ROOT

from privregret.press import manifest

KEY, NAME = "you2026", "you2026/3-explore-once"
# new files
PAPER = ROOT / "tests/sixth"
# what is put in front of a line of a file, or at its end
EDITS = {
    "src/privregret/press/papers.toml": (
        "",
        """
[you2026]
cited = "You (2026, arXiv v1)"
title = "Explore Once: Private Learners that Look Back Rarely"
version = "arXiv:2611.00001v1"
asks = "Must a bandit look at its rewards more than once?"
proves = "One noisy sum per arm is enough if the gap is known."
""",
    ),
    "src/privregret/bandits/__init__.py": (
        "from privregret.bandits.hybrid_ucb",
        "from privregret.bandits.geometric_etc import GeometricETC\n",
    ),
    "src/privregret/full_information/__init__.py": (
        "from privregret.full_information.ftnl",
        "from privregret.full_information.exponential_epochs import EpochExponential\n",
    ),
    "src/privregret/instances/bandits.py": (
        "",
        'YOU2026_1 = BernoulliBandit("three arms", (0.8, 0.6, 0.5), "you2026, Section 3")\n',
    ),
    "tests/cases.py": (
        "CASES = BANDITS + ",
        """
def geometric_etc(*given):
    notebook, names = "you2026/3-explore-once", ("epsilon", "gap", "noise")
    return lectures.plays(notebook, "explore_then_commit", **dict(zip(names, given, strict=True)))


def epoch_exponential(epsilon):
    learner = full_information.EpochExponential(epsilon)
    return learner, naive.in_epochs(naive.noisy_leader("gumbel", 2 / epsilon), 3.0)


TWINS[bandits.GeometricETC] = geometric_etc
BANDITS += [
    bandit(bandits.GeometricETC(0.2, 0.4), THREE, (30, 300, 3000)),
    bandit(bandits.GeometricETC(1.0, 0.4, "half"), TWO, (20, 150, 1500)),
    bandit(bandits.GeometricETC(20.0, 0.9), FIVE, (10, 200, 3000)),
]
FULL_INFORMATION += [
    Case(*epoch_exponential(epsilon), ACTIONS, (5, 19)) for epsilon in (0.1, 2.0, 50.0)
]
""",
    ),
    "tests/bounds.csv": (
        "",
        "you2026.theorem_1,41448.33167\nyou2026.theorem_3,17272.3882\n",
    ),
}


class Copy:
    """A copy of the project, with compiled kernels but without pictures."""

    def __init__(self, root):
        self.root = root
        left_out = shutil.ignore_patterns("*.pdf", "*.png", "__pycache__", "*.egg-info", "sixth")
        for name in ("src", "tests", "notebooks", "figures", "docs", "paper"):
            shutil.copytree(ROOT / name, root / name, ignore=left_out)
        for name in ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
            shutil.copy(ROOT / name, root)
        for name in ("CITATION.cff", "requirements.lock"):
            shutil.copy(ROOT / name, root)
        (root / ".cache").symlink_to(ROOT / ".cache")

    def add(self):
        """Add the paper; how many files that takes."""
        new = [path for path in PAPER.rglob("*") if path.suffix in (".py", ".ipynb", ".toml")]
        for path in new:
            place = self.root / path.relative_to(PAPER)
            assert not place.exists()
            place.parent.mkdir(exist_ok=True)
            shutil.copy(path, place)
        for name, (line, more) in EDITS.items():
            text = (self.root / name).read_text()
            assert text.count(f"\n{line}") == 1 or not line
            at = text.index(f"\n{line}") + 1 if line else len(text)
            (self.root / name).write_text(text[:at] + more + text[at:])
        return len(new) + len(EDITS)

    def run(self, *words):
        """What `python -m <words>` says, without an error."""
        own = os.environ | {"PYTHONPATH": str(self.root / "src"), "PYTHONWARNINGS": "ignore"}
        command = [sys.executable, "-m", *words]
        done = subprocess.run(command, cwd=self.root, env=own, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout

    def missing(self):
        """What `status` says that the paper lacks."""
        lines = self.run("privregret", "status", KEY).splitlines()
        return [line.removeprefix(f"{KEY}: ") for line in lines if line.startswith(f"{KEY}: ")]


VERDICTS = {"theorem-1": "reproduced", "corollary-2": "not reproduced", "theorem-3": "reproduced"}


def test_a_sixth_paper_takes_twelve_files(tmp_path):
    copy = Copy(tmp_path / "project")
    before = manifest.read(copy.root)["notebooks"]
    assert copy.add() <= 12
    assert copy.missing() == [f"{KEY}/{key} has no verdict: run {NAME}" for key in VERDICTS]
    copy.run("privregret", "reproduce", KEY)
    assert copy.missing() == []
    after = manifest.read(copy.root)["notebooks"]
    found = {row["key"]: row["verdict"] for row in after.pop(NAME)["findings"]}
    assert found == VERDICTS and after == before
    ids = (copy.root / "notebooks/findings.txt").read_text().splitlines()
    assert ids[-3:] == [f"{KEY}/{key}" for key in VERDICTS]
    readme = (copy.root / "README.md").read_text()
    assert f"- [{KEY}](notebooks/{KEY}): You: *Explore Once" in readme
    tests = "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "--paper", KEY
    copy.run(*tests, "--write-golden", "tests/test_streams.py")
    said = copy.run(*tests, "tests")
    assert int(said.split(" passed")[0].split()[-1]) > 60
