"""Words that docs/style.md replaces occur in no text of the project."""

import re
from functools import cache

import nbformat
import pytest
from conftest import ROOT

# What docs/style.md lists under "do not write", in its order.
FORBIDDEN = {
    "answering adversary": r"answering adversar",
    "noise on every loss": r"noise on every loss",
    "weighted runs": r"weighted runs?\b",
    "share (of runs, rounds)": r"\b(?:the|a|this|which|what) share\b|\bshares? of\b",
    "least (before a noun)": r"\bthe least\b(?!,)",
    "mend, mended": r"\bmend(?:s|ed|ing)?\b",
    "slip": r"\bslips?\b",
    "held against": r"\bheld against\b",
    "by others (of software)": r"\bby others\b",
    "host of code": r"\bhosts? of code\b",
    "bar of progress": r"\bbars? of progress\b",
    "limits of an interval": r"\blimits of (?:an|the) interval\b",
    "told, tells": r"\b(?:told|tells)\b",
    "beside": r"\bbeside\b",
    "law (for a distribution)": (
        r"\bin law\b|\b(?:exact|same|joint|one|selection) laws?\b|\bthe laws? of\b|\blaws of\b"
    ),
    "what would have agreed": r"\bwould have agreed\b",
    "lest, but for": r"\blest\b|\bbut for\b",
    "nobody, no one": r"\bnobody\b|\bno one\b",
    "is no number": r"\b(?:is|are) no numbers?\b",
    "so many": r"\bso many\b",
    "made anew": r"\banew\b",
    "what is ours": r"\bwhat is ours\b",
    "not to be had": r"\b(?:to be|can be|could be) had\b",
}
PATTERN = re.compile("|".join(FORBIDDEN.values()), re.I)
TEXTS = [
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile", "pyproject.toml"),
    *("docs/*.md", "src/**/*.py", "src/**/*.md", "src/**/*.tex", "src/**/*.html"),
    *("notebooks/*/*.ipynb", "notebooks/*.toml", "tests/**/*.py", "benchmarks/*.py"),
    *("paper/*.tex", "paper/*.md", "paper/sections/*.tex", "figures/findings.csv"),
]
LISTS = "docs/style.md", "tests/test_style.py"


def lines(path):
    """Line numbers and lines of a file; of a notebook, cell.line and the lines of its cells."""
    if path.suffix != ".ipynb":
        yield from enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        return
    for i, cell in enumerate(nbformat.read(path, as_version=4).cells):
        for j, line in enumerate(cell.source.splitlines(), 1):
            yield f"{i}.{j}", line


@cache
def offences():
    """What each file has, as `file:line: word`."""
    paths = [path for pattern in TEXTS for path in sorted(ROOT.glob(pattern))]
    return [
        f"{path.relative_to(ROOT)}:{i}: {match[0]}"
        for path in paths
        if str(path.relative_to(ROOT)) not in LISTS
        for i, line in lines(path)
        for match in PATTERN.finditer(line)
    ]


@pytest.mark.parametrize("pattern", TEXTS)
def test_every_pattern_names_files(pattern):
    assert list(ROOT.glob(pattern))


def test_no_forbidden_word():
    assert offences() == []


def test_the_page_lists_the_words_that_are_searched_for():
    page = (ROOT / "docs/style.md").read_text().split("| do not write |")[1]
    listed = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", page, re.M)[0:]
    assert [word for word in listed if word != "---"] == list(FORBIDDEN)


@pytest.mark.parametrize("word", FORBIDDEN)
def test_a_planted_word_is_found(word):
    samples = {
        "share (of runs, rounds)": "the share of runs",
        "least (before a noun)": "the least gap",
        "limits of an interval": "the limits of the interval",
        "law (for a distribution)": "equal in law",
        "by others (of software)": "packages by others",
    }
    assert PATTERN.search(samples.get(word, word).split(",")[0])
