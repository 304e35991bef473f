"""docs/course.md has every notebook once, and each says what comes before and after it as the
course does; every picture of docs/pictures.md is published by the notebook that its text names."""

import os
import re

import pytest
from conftest import ROOT
from test_notebooks import NAMES, read

from privregret.press import manifest

COURSE = ROOT / "docs/course.md"
LINK = re.compile(r"\[([^\[\]]+)\]\(([^()#\s]*)(?:#[^()\s]*)?\)")


def links(text, folder):
    """Texts and targets (paths in the project, `docs/course` or `hu2021/...`) of the links."""
    for said, target in LINK.findall(text):
        path = os.path.relpath(folder / target, ROOT)
        yield said, re.sub(r"^notebooks/|\.(ipynb|md)$", "", path)


def table(heading):
    """The links of each row of the table with this heading, column by column."""
    (rows,) = re.findall(rf"^\| {heading} \|.*\n\|[-| ]+\n((?:\|.*\n)+)", COURSE.read_text(), re.M)
    cells = [re.split(r" ?\| ?", row.strip("|")) for row in rows.splitlines()]
    return [[[*links(cell, COURSE.parent)] for cell in row] for row in cells]


EVENINGS, OTHERS = table("evening"), table("notebook")
# from the page itself, which is evening 0, to the last notebook
ORDER = [link for row in EVENINGS for link in row[1]]
BEHIND = {row[0][0][1]: row[1][0] for row in OTHERS}


def before_and_next(name):
    """The first link of a notebook's line `**Before:**`, and all of its last section."""
    cells, folder = read(name).cells, (ROOT / "notebooks" / name).parent
    (line,) = re.findall(r"^\*\*Before:\*\* (.*)$", cells[0].source, re.M)
    (section,) = [cell.source for cell in cells if cell.source.startswith("## Next\n")]
    return next(links(line, folder)), [*links(section, folder)]


def heading(name):
    """The title of a notebook, or of evening 0."""
    if name == "docs/course":
        return ORDER[0][0]
    return read(name).cells[0].source.partition("\n")[0].removeprefix("# ")


def begins(said, title):
    return title.startswith(said) and not title[len(said) : len(said) + 1].isalnum()


@pytest.mark.every_paper
def test_the_course_has_every_notebook_once_and_each_by_its_title():
    """Of the papers that it takes up, which a new one need not be."""
    assert len(ORDER) == 13 and ORDER[0] == ("What is promised", "docs/course")
    listed = [name for _, name in ORDER[1:]] + [*BEHIND]
    papers = {name.split("/")[0] for name in listed}
    assert sorted(listed) == sorted(n for n in NAMES if n.split("/")[0] in papers)
    assert len(papers) >= 6
    assert {*BEHIND.values()} <= {*ORDER[1:]}
    for said, name in ORDER[1:] + [row[0][0] for row in OTHERS]:
        assert begins(said, heading(name)), said


@pytest.mark.parametrize("name", [name for _, name in ORDER[1:]])
def test_a_notebook_of_the_course_leads_to_the_next(name):
    at = [one for _, one in ORDER].index(name)
    before, after = before_and_next(name)
    assert before[1] == ORDER[at - 1][1] and begins(before[0], heading(before[1]))
    assert after[0][1] == [*ORDER, ORDER[0]][at + 1][1]


@pytest.mark.parametrize("name", BEHIND)
def test_a_notebook_behind_the_course_leads_back(name):
    before, after = before_and_next(name)
    assert before[1] == BEHIND[name][1] and begins(before[0], heading(before[1]))
    assert "docs/course" in [target for _, target in after]


PICTURES = (ROOT / "docs/pictures.md").read_text().split("\n## ")[1:]


def test_there_are_eight_pictures():
    assert [picture.split(".")[0] for picture in PICTURES] == [*"12345678"]


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.partition("\n")[0])
def test_a_picture_is_published_by_the_notebook_that_its_text_names(picture):
    (key,) = re.findall(r'<img src="\.\./figures/([\w/-]+)\.png" width="\d+" alt="[^"]+">', picture)
    said, name = [*links(picture, COURSE.parent)][-1]
    assert manifest.read(ROOT)["outputs"][key]["notebook"] == name
    assert begins(said, heading(name))
