"""pyproject.toml, the locks and environment.yml name the same packages; the files that cite the
project and the papers agree."""

import re
import runpy
import shutil
import sys
import tomllib

import pytest
import yaml
from conftest import ROOT
from packaging.requirements import Requirement

import privregret
from privregret.press.papers import PAPERS

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT, GROUPS = PYPROJECT["project"], PYPROJECT["dependency-groups"]
EXTRAS = PROJECT["optional-dependencies"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
# lock -> what it is made of
LOCKS = {
    "requirements.lock": [*PROJECT["dependencies"], *EXTRAS["notebooks"], *GROUPS["build"]],
    "requirements-site.lock": GROUPS["site"],
    "requirements-dev.lock": [*GROUPS["dev"], *EXTRAS["cluster"]],
}


def pins(lock):
    """(package, version) of each line of a lock; there may be one line for each platform."""
    text = (ROOT / lock).read_text().replace("\\\n", "")
    exact = re.compile(r"([\w.-]+)==([\w.]+) *(?:;[^#]+?)?(?: +--hash=sha256:[0-9a-f]{64})+ *")
    found = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {exact.fullmatch(line).groups() for line in found}


def test_locks_hold_what_is_asked_for_and_agree():
    """What tests and the site add changes nothing that figures are made with."""
    made, site, dev = map(pins, LOCKS)
    for held, asked in zip((made, made | site, made | dev), LOCKS.values(), strict=True):
        for one in map(Requirement, asked):
            versions = {version for name, version in held if name == one.name.replace("_", "-")}
            assert versions and all(version in one.specifier for version in versions), one
    names = {name for name, _ in made}
    assert names and names.isdisjoint(name for name, _ in site | dev)
    assert len(site | dev) == len({name for name, _ in site | dev})


def test_one_version_title_and_author():
    """CITATION.cff has them; what repeats them says the same."""
    readme, changes = ((ROOT / name).read_text() for name in ("README.md", "CHANGELOG.md"))
    bib = dict(re.findall(r"(\w+) = \{+(.*?)\}+,", readme[readme.index("```bibtex") :]))
    released = CITATION["version"], str(CITATION["date-released"])
    assert re.search(r"^## ([\d.]+) \(([\d-]+)\)", changes, re.M).groups() == released
    assert bib.get("version", released[0]) == released[0] == privregret.__version__
    assert released[1].startswith(bib["year"]) and bib["title"] == CITATION["title"]
    (author,) = CITATION["authors"]
    assert bib["author"] == author["name"] == PROJECT["authors"][0]["name"]
    assert PROJECT["license"] == CITATION["license"]


@pytest.mark.every_paper
def test_a_paper_is_cited_in_the_version_that_is_meant():
    """Where it is cited: a new one need not be, before the next release."""
    bib = (ROOT / "paper/references.bib").read_text()
    cited = dict(re.findall(r"^@\w+{(\w+),$(.*?)^}$", bib, re.M | re.S))
    versions = {paper.title.lower(): paper.version for paper in PAPERS.values()}
    for key in cited.keys() & PAPERS.keys():
        assert PAPERS[key].version in cited[key]
    for reference in CITATION["references"]:
        assert versions[reference["title"].lower()] in str(reference)
    assert len(cited.keys() & PAPERS.keys()) >= 5 and len(CITATION["references"]) >= 5


def test_a_benchmark_names_what_is_missing_and_writes_nothing(tmp_path, monkeypatch):
    for name in ("peers.py", "README.md"):
        shutil.copy(ROOT / "benchmarks" / name, tmp_path)
    before = (tmp_path / "README.md").read_bytes()
    monkeypatch.setattr(sys, "argv", ["peers.py"])
    monkeypatch.setitem(sys.modules, "river", None)
    with pytest.raises(SystemExit, match="river"):
        runpy.run_path(str(tmp_path / "peers.py"), run_name="__main__")
    assert (tmp_path / "README.md").read_bytes() == before
