"""What is published can be quoted, and the draft and the note quote nothing else."""

import re
import shutil
import subprocess

import pytest
from conftest import ROOT

from privregret.press import record

PAPER, FIGURES = ROOT / "paper", ROOT / "figures"
DOCUMENTS = {"main": [PAPER / "main.tex", *(PAPER / "sections").glob("*.tex")]}
DOCUMENTS["note"] = [PAPER / "note.tex"]
MANIFEST = record.read(ROOT)
BARE = r"""\documentclass[%s]{article}
\usepackage{graphicx,booktabs,%s}
\graphicspath{{%s/}}
\begin{document}
%s
\end{document}
"""
tex = pytest.mark.skipif(not shutil.which("latexmk"), reason="no latexmk on the PATH")


def read(*paths):
    """TeX files without their comments."""
    return "\n".join(re.sub(r"(?<!\\)%.*", "", path.read_text()) for path in paths)


def named(command, text):
    """The arguments of a command, one by one."""
    found = re.findall(rf"\\{command}\*?(?:\[[^]]*\])*\{{([^}}]+)\}}", text)
    return [name.strip() for names in found for name in names.split(",")]


@pytest.fixture(params=DOCUMENTS)
def document(request):
    return read(*DOCUMENTS[request.param])


def test_what_is_quoted_is_published(document):
    for name in named("input", document):
        assert (PAPER / name).with_suffix(".tex").exists(), name
    for name in named("includegraphics", document):
        assert (FIGURES / name).with_suffix(".pdf").exists(), name


def test_numbers_are_published(document):
    defined = named("newcommand", read(PAPER / "numbers.tex"))
    notebooks = MANIFEST["notebooks"].values()
    published = {f"\\{name}" for entry in notebooks for name in entry.get("numbers", {})}
    assert published and published <= set(defined)
    # nothing else is spelt so
    quoted = set(re.findall(r"\\[a-z]+[A-Z]\w*", document))
    assert quoted and quoted <= set(defined)


def test_citations_and_references(document):
    works = re.findall(r"^@\w+\{([^,]+),", read(PAPER / "references.bib"), re.M)
    assert len(works) == len(set(works))
    cited = named(r"cite\w*", document)
    assert cited and set(cited) <= set(works)
    paths = [(PAPER / name).with_suffix(".tex") for name in named("input", document)]
    parts = "\n".join([document, *(read(path) for path in paths if "sections" not in path.parts)])
    labels = named("label", parts)
    assert len(labels) == len(set(labels))
    referred = set(named("(?:eq)?ref", document))
    assert referred <= set(labels)
    assert {name for name in labels if name.startswith(("fig:", "tab:"))} <= referred


@tex
@pytest.mark.parametrize("columns", ["onecolumn", "twocolumn"])
@pytest.mark.parametrize("verdicts", [False, True])
def test_published_files_compile_in_a_bare_article(columns, verdicts, tmp_path):
    """With the packages that they say they need, and nothing sticks out."""
    of_verdicts = ("verdicts.tex", "not-reproduced.tex")
    paths = [p for p in sorted(FIGURES.rglob("*.tex")) if (p.name in of_verdicts) == verdicts]
    marked = rf"\typeout{{>>%s}}\input{{{FIGURES}/%s}}\clearpage"
    quoted = "\n".join(marked % (name, name) for name in (p.relative_to(FIGURES) for p in paths))
    packages = "amssymb" if verdicts else "amsmath"
    (tmp_path / "bare.tex").write_text(BARE % (columns, packages, FIGURES, quoted))
    line = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "bare"]
    run = subprocess.run(line, cwd=tmp_path, capture_output=True)
    parts = (tmp_path / "bare.log").read_text(errors="replace").split("\n>>")
    assert run.returncode == 0, parts[-1][-2000:]
    assert len(parts) == len(paths) + 1 > 1
    wide = {
        part.split("\n", 1)[0]: points
        for part in parts
        for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt", part)
        if float(points) > 2
    }
    assert wide == {}
