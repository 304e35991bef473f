"""The draft quotes nothing that is not published, and leaves nothing out by accident."""

import json
import re
import runpy
import shutil
import subprocess
import sys

import pytest

from privregret.files import ROOT
from privregret.press import findings, style

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
    papers = {
        name.split("/")[0] for name, entry in MANIFEST["notebooks"].items() if entry.get("findings")
    }
    published = {
        *MANIFEST["outputs"],
        "verdicts",
        "not-reproduced",
        "errata",
        *(f"{paper}/findings" for paper in papers),
    }
    assert set(QUOTED) | set(graphics) <= published
    for name in QUOTED:
        inside = re.findall(
            r"\\includegraphics(?:\[[^]]*\])?\{([^}]+)\}", read(FIGURES / f"{name}.tex")
        )
        assert all((FIGURES / graphic).exists() for graphic in inside), name


def test_every_published_figure_and_table_is_in_the_draft_the_supplement_or_on_the_list():
    assert len(QUOTED) == len(set(QUOTED))
    assert set(MANIFEST["outputs"]) - set(QUOTED) == set()


def test_only_figures_are_left_to_the_site():
    listed = re.findall(r"\\input\{\.\./figures/([^}]+)\}", SECTIONS["site"])
    assert listed and all(MANIFEST["outputs"][name]["kind"] == "figure" for name in listed)
    printed = [n for n in set(QUOTED) - set(listed) if n in MANIFEST["outputs"]]
    assert sum(MANIFEST["outputs"][name]["kind"] == "figure" for name in printed) > len(listed)


def test_numbers():
    defined = dict(re.findall(r"\\newcommand\{\\(\w+)\}\{(.*)\}", read(PAPER / "numbers.tex")))
    published = {n for entry in MANIFEST["notebooks"].values() for n in entry.get("numbers", {})}
    counts = {name: int(number) for name, number in defined.items() if number.isdigit()}
    quoted = set(re.findall(r"\\(?!theH)([a-z]+[A-Z]\w*)", DRAFT))  # nothing else is spelt so
    assert set(defined) ^ (published | set(counts)) == set()
    assert quoted - defined.keys() == set()
    assert published - quoted - LEFT_OUT == set()
    assert {"claimsTotal", "claimsReproduced", "claimsNotReproduced", "errataTotal"} <= quoted


def test_the_counts_are_those_of_the_manifest():
    rows = [row for entry in MANIFEST["notebooks"].values() for row in entry.get("findings", [])]
    numbers = read(PAPER / "numbers.tex")
    for kind, name in (
        (findings.CLAIM, "claims"),
        (findings.STEP, "steps"),
        (findings.OURS, "ours"),
    ):
        verdicts = [row["verdict"] for row in rows if row["kind"] == kind]
        fail = findings.NOT_REPRODUCED if kind == findings.CLAIM else findings.FAILS
        word = "NotReproduced" if kind == findings.CLAIM else "Fail"
        assert rf"\newcommand{{\{name}Total}}{{{len(verdicts)}}}" in numbers
        assert rf"\newcommand{{\{name}{word}}}{{{verdicts.count(fail)}}}" in numbers


@pytest.mark.parametrize("section", ["introduction", "discussion"])
def test_counts_of_findings_are_not_typed_by_hand(section):
    typed = r"\b(?:\d+|two|three|four|six|seven|eight|nine|ten)\b (?:claims|errata|steps|findings)"
    assert not re.search(typed, SECTIONS[section] + MAIN)


def test_verdicts_come_first_and_all_findings_in_an_appendix():
    body, appendix = MAIN.split(r"\appendix")
    assert (
        body.index(r"\tableofcontents")
        < body.index(r"\clearpage")
        < body.index(r"\input{sections/introduction}")
    )
    assert (
        r"\input{../figures/verdicts}" in SECTIONS["introduction"]
        and r"\input{../figures/not-reproduced}" in SECTIONS["introduction"]
        and r"\input{sections/findings}" in appendix
    )
    papers = {name.split("/")[0] for name in MANIFEST["notebooks"]}
    assert set(re.findall(r"figures/(\w+)/findings", SECTIONS["findings"])) == papers


def test_every_finding_is_in_tex_and_what_fails_is_marked():
    rows = [row for entry in MANIFEST["notebooks"].values() for row in entry.get("findings", [])]
    tex = "".join(path.read_text() for path in FIGURES.glob("*/findings.tex"))
    assert tex.count("\n\\finding{") == len(rows)
    fails = [row for row in rows if row["verdict"] in (findings.NOT_REPRODUCED, findings.FAILS)]
    assert len(re.findall(r"\n\\finding\{.*\\disagrees\{", tex)) == len(fails)


def test_the_table_of_times_names_notebooks():
    rows = (ROOT / "benchmarks" / "notebooks.csv").read_text().splitlines()[1:]
    times = read(ROOT / "benchmarks" / "notebooks.tex")
    for name in (row.split(",")[0] for row in rows):
        assert (ROOT / "notebooks" / f"{name}.ipynb").exists() and f"\\texttt{{{name}}}" in times


def test_citations():
    cited = re.findall(r"\\cite\w*\*?(?:\[[^]]*\])*\{([^}]+)\}", DRAFT)
    cited = {key.strip() for keys in cited for key in keys.split(",")}
    assert cited == set(re.findall(r"^@\w+\{([^,]+),", read(PAPER / "references.bib"), re.M))


def test_references():
    times = read(ROOT / "benchmarks" / "notebooks.tex")
    everything = "\n".join([DRAFT, times, *(read(FIGURES / f"{name}.tex") for name in QUOTED)])
    labels = re.findall(r"\\label\{([^}]+)\}", everything)
    assert len(labels) == len(set(labels))
    assert set(re.findall(r"\\(?:eq|page|auto)?ref\{([^}]+)\}", DRAFT)) <= set(labels)


LOG = r"""
Overfull \hbox (4.9pt too wide) in paragraph at lines 1--2
Overfull \hbox (5.1pt too wide) in paragraph at lines 3--4
LaTeX Warning: Float too large for page by 9.5pt on input line 7.
LaTeX Warning: Reference `sec:a' on page 1 undefined on input line 3.
Package natbib Warning: Citation `nowhere' on page 2 undefined on input line 5.
Figure hu2021/theorem-6.pdf at 86 per cent
Figure hu2021/theorem-7.pdf at 85 per cent
"""


def check(path):
    command = [sys.executable, PAPER / "check_log.py", path]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_log_is_checked(tmp_path):
    (tmp_path / "main.log").write_text(LOG)
    run = check(tmp_path / "main.log")
    assert run.returncode == 1 and len(run.stderr.splitlines()) == 5
    assert all(part in run.stderr for part in ("5.1pt", "sec:a", "nowhere", "9.5pt", "theorem-7"))
    (tmp_path / "main.log").write_text(LOG.splitlines()[1])
    assert check(tmp_path / "main.log").returncode == 0
    assert "paper/check_log.py" in (ROOT / "Makefile").read_text()


def test_the_type_of_figures_is_at_least_6_points_in_print():
    smallest = runpy.run_path(PAPER / "check_log.py")["SMALLEST"]
    sizes = [size for name, size in style.RC.items() if re.search(r"label|title|font", name)]
    assert min(size for size in sizes if isinstance(size, int)) * smallest / 100 >= 6


def typeset_in(folder, name):
    """Typeset one document of the paper's folder."""
    command = [
        "latexmk",
        "-pdf",
        "-interaction=nonstopmode",
        "-halt-on-error",
        f"-outdir={folder}",
        name,
    ]
    run = subprocess.run(command, cwd=PAPER, capture_output=True)
    assert run.returncode == 0, run.stdout.decode(errors="replace")[-2000:]
    return folder


@pytest.fixture(scope="module")
def typeset(tmp_path_factory):
    return typeset_in(tmp_path_factory.mktemp("paper"), "main")


@pytest.mark.skipif(not shutil.which("latexmk"), reason="no latexmk on the PATH")
def test_the_note_typesets_on_at_most_eight_pages(tmp_path):
    typeset_in(tmp_path, "note")
    run = check(tmp_path / "note.log")
    assert run.returncode == 0, run.stderr
    log = (tmp_path / "note.log").read_text(errors="replace").replace("\n", "")
    assert int(re.search(r"Output written on .*?\((\d+) pages", log)[1]) <= 8


def test_the_note_quotes_numbers_and_works_that_exist():
    note = read(PAPER / "note.tex")
    numbers = set(re.findall(r"\\(constants[A-Z]\w*)", note))
    assert numbers <= set(re.findall(r"\\newcommand\{\\(\w+)\}", read(PAPER / "numbers.tex")))
    cited = re.findall(r"\\cite\w*\*?(?:\[[^]]*\])*\{([^}]+)\}", note)
    known = set(re.findall(r"^@\w+\{([^,]+),", read(PAPER / "references.bib"), re.M))
    assert numbers and {key.strip() for keys in cited for key in keys.split(",")} <= known


@pytest.mark.xdist_group("typeset")
@pytest.mark.skipif(not shutil.which("latexmk"), reason="no latexmk on the PATH")
def test_the_draft_typesets(typeset):
    run = check(typeset / "main.log")
    assert run.returncode == 0, run.stderr
    log = (
        (typeset / "main.log").read_text(errors="replace").replace("\n", "")
    )  # TeX breaks lines anywhere
    pages = re.search(r"Output written on .*?\((\d+) pages", log)
    assert 50 <= int(pages[1]) <= 80  # with the supplement


@pytest.mark.xdist_group("typeset")
@pytest.mark.skipif(
    not (shutil.which("latexmk") and shutil.which("pdftotext")), reason="no latexmk or no pdftotext"
)
def test_the_verdicts_are_on_page_two(typeset):
    command = ["pdftotext", "-f", "2", "-l", "2", "-layout", typeset / "main.pdf", "-"]
    page = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [row for entry in MANIFEST["notebooks"].values() for row in entry.get("findings", [])]
    failed = [row for row in rows if row["verdict"] == findings.NOT_REPRODUCED]
    tally = next(line for line in page.splitlines() if line.strip().startswith("all "))
    assert int(tally.split()[2]) == len(failed)
