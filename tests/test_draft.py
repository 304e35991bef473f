"""What the draft says of code that it prints."""

import re
import subprocess
import sys

from privregret.core.files import ROOT

PAPER = ROOT / "paper"


def test_the_listing_prints_what_the_draft_says():
    run = [sys.executable, PAPER / "listing.py"]
    printed = subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip()
    # by FTNL with half of the noise that it needs
    assert float(printed) == 2
    for text in ("sections/software.tex", "software.tex"):
        said = re.findall(r"prints\s+\\texttt\{(.*?)\}", (PAPER / text).read_text())
        assert said == [printed], text
