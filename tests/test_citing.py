"""What is published can be quoted: every TeX file below figures/ compiles by itself in a bare
article."""

import re
import shutil
import subprocess

import pytest

from privregret.files import ROOT

FIGURES = ROOT / "figures"
BARE = r"""\documentclass[%s]{article}
\usepackage{graphicx,booktabs,%s}
\graphicspath{{%s/}}
\begin{document}
%s
\end{document}
"""


@pytest.mark.skipif(not shutil.which("latexmk"), reason="no TeX on the PATH")
@pytest.mark.parametrize("columns", ["onecolumn", "twocolumn"])
@pytest.mark.parametrize(
    "findings, packages", [(False, "amsmath"), (True, "amssymb"), (True, "amssymb,xcolor")]
)  # what the files say that they need
def test_published_files_compile_in_a_bare_article(columns, findings, packages, tmp_path):
    files = sorted(FIGURES.glob("**/*.tex"))
    files = [
        f
        for f in files
        if (f.name in ("findings.tex", "verdicts.tex", "not-reproduced.tex")) == findings
    ]
    assert files
    quoted = "\n".join(
        rf"\typeout{{>>{f.relative_to(FIGURES)}}}\input{{{f}}}\clearpage" for f in files
    )
    (tmp_path / "bare.tex").write_text(BARE % (columns, packages, FIGURES, quoted))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "bare"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True)
    log = (tmp_path / "bare.log").read_text(errors="replace").replace("\n>>", "\0")
    of_each = {part.split("\n", 1)[0]: part for part in log.split("\0")[1:]}
    assert run.returncode == 0, log.rsplit("\0", 1)[-1][-2000:]
    assert len(of_each) == len(files)
    too_wide = {
        name: width
        for name, part in of_each.items()
        for width in map(float, re.findall(r"Overfull \\hbox \(([\d.]+)pt", part))
        if width > 2
    }
    assert not too_wide
