"""The draft quotes nothing that is not published, and leaves nothing out by accident."""

import json
import re
import shutil
import subprocess

import pytest

from privregret.paths import ROOT

PAPER, FIGURES = ROOT / "paper", ROOT / "figures"
LEFT_OUT = set()  # published figures, tables and numbers that the draft does without on purpose


def read(path):
    """A TeX file without its comments."""
    return re.sub(r"(?<!\\)%.*", "", path.read_text())


MAIN = read(PAPER / "main.tex")
SECTIONS = {path.stem: read(path) for path in sorted((PAPER / "sections").glob("*.tex"))}
DRAFT = "\n".join([MAIN, *SECTIONS.values()])
MANIFEST = json.loads((FIGURES / "manifest.json").read_text())
INPUTS = re.findall(r"\\input\{\.\./figures/([^}]+)\}", DRAFT)
QUOTED = [name.removesuffix(".tex") for name in INPUTS]


def test_every_section_is_part_of_the_draft():
    assert set(re.findall(r"\\input\{sections/([^}]+)\}", MAIN)) == set(SECTIONS)


def test_every_quoted_figure_and_table_is_published():
    graphics = re.findall(r"\\includegraphics(?:\[[^]]*\])?\{([^}]+?)(?:\.pdf|\.png)?\}", DRAFT)
    papers = {name.split("/")[0] for name, entry in MANIFEST["notebooks"].items() if entry.get("findings")}
    published = set(MANIFEST["outputs"]) | {
        f"{paper}/{name}" for paper in papers for name in ("findings", "not-reproduced")
    }
    assert set(QUOTED) | set(graphics) <= published
    for name in QUOTED:
        inside = re.findall(r"\\includegraphics(?:\[[^]]*\])?\{([^}]+)\}", read(FIGURES / f"{name}.tex"))
        assert all((FIGURES / graphic).exists() for graphic in inside), name


def test_every_published_figure_and_table_is_quoted_once():
    assert len(QUOTED) == len(set(QUOTED))
    assert set(MANIFEST["outputs"]) - set(QUOTED) - LEFT_OUT == set()


def test_numbers():
    defined = set(re.findall(r"\\newcommand\{\\(\w+)\}", read(PAPER / "numbers.tex")))
    published = {n for entry in MANIFEST["notebooks"].values() for n in entry.get("numbers", {})}
    quoted = set(re.findall(r"\\([a-z]+[A-Z]\w*)", DRAFT))  # nothing else is spelt like these
    assert defined == published
    assert quoted <= defined
    assert defined - quoted - LEFT_OUT == set()


def test_what_does_not_reproduce_stands_in_the_body_and_everything_in_an_appendix():
    body, appendix = MAIN.split(r"\appendix")
    failed = {
        name.split("/")[0]
        for name, entry in MANIFEST["notebooks"].items()
        if any(row["verdict"] == "not reproduced" for row in entry.get("findings", []))
    }
    assert r"\input{sections/verdicts}" in body and r"\input{sections/findings}" in appendix
    assert set(re.findall(r"figures/(\w+)/not-reproduced", SECTIONS["verdicts"])) == failed
    papers = {name.split("/")[0] for name in MANIFEST["notebooks"]}
    assert set(re.findall(r"figures/(\w+)/findings", SECTIONS["findings"])) == papers


def test_citations():
    cited = re.findall(r"\\cite\w*\*?(?:\[[^]]*\])*\{([^}]+)\}", DRAFT)
    cited = {key.strip() for keys in cited for key in keys.split(",")}
    assert cited == set(re.findall(r"^@\w+\{([^,]+),", read(PAPER / "references.bib"), re.M))


def test_references():
    everything = "\n".join([DRAFT, *(read(FIGURES / f"{name}.tex") for name in QUOTED)])
    labels = re.findall(r"\\label\{([^}]+)\}", everything)
    assert len(labels) == len(set(labels))
    assert set(re.findall(r"\\(?:eq|page|auto)?ref\{([^}]+)\}", DRAFT)) <= set(labels)


@pytest.mark.skipif(not shutil.which("latexmk"), reason="no latexmk on the PATH")
def test_the_draft_typesets(tmp_path):
    command = ["latexmk", "-pdf", "-interaction=nonstopmode", "-halt-on-error", f"-outdir={tmp_path}", "main"]
    run = subprocess.run(command, cwd=PAPER, capture_output=True)
    assert run.returncode == 0, run.stdout.decode(errors="replace")[-2000:]
    assert (tmp_path / "main.pdf").stat().st_size > 10_000
    log = (tmp_path / "main.log").read_text(errors="replace")
    assert "undefined" not in log
    too_wide = [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)]
    assert max(too_wide, default=0) < 5
