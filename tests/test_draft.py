"""What the draft says of code that it prints, and which findings and numbers it names."""

import re
import subprocess
import sys
from collections import Counter

from privregret.core.files import ROOT
from privregret.press import manifest, render

PAPER = ROOT / "paper"


def test_the_listing_prints_what_the_draft_says():
    run = [sys.executable, PAPER / "listing.py"]
    printed = subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip()
    # by FTNL with half of the noise that it needs
    assert float(printed) == 2
    for text in ("sections/software.tex", "software.tex"):
        said = re.findall(r"prints\s+\\texttt\{(.*?)\}", (PAPER / text).read_text())
        assert said == [printed], text


def test_the_draft_names_findings_and_numbers_that_are_published():
    books = manifest.read(ROOT)["notebooks"]
    sources = [path for path in PAPER.glob("**/*.tex") if path.name != "numbers.tex"]
    text = "".join(path.read_text() for path in sources)
    named = re.findall(r"\\(?:verdicts|topic\{[^}]*\})\{([\w/,-]+)\}", text)
    named = {one for names in named for one in names.split(",")}
    found = {f"{b.split('/')[0]}/{f['key']}" for b, e in books.items() for f in e["findings"]}
    assert len(named) > 50 and not named - found
    numbers = {name for entry in books.values() for name in entry.get("numbers", {})}
    numbers |= {name for name, _ in render.counts(Counter())}
    papers = "hu|wu|cesari|asi|azize|companion|constants|claims|steps|ours|errata|slips|bounds"
    used = set(re.findall(rf"\\((?:{papers})[A-Z][A-Za-z]*)", text))
    assert len(used) > 100 and not used - numbers
