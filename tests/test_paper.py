"""What is published can be quoted; `make paper` fails where the draft or the note quotes what is
not there."""

import re
import shutil
import subprocess

import pytest
from conftest import ROOT

FIGURES = ROOT / "figures"
BARE = r"""\documentclass[%s]{article}
\usepackage{graphicx,booktabs,%s}
\graphicspath{{%s/}}
\begin{document}
%s
\end{document}
"""


@pytest.mark.skipif(not shutil.which("latexmk"), reason="no latexmk on the PATH")
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
