"""The record of what is published: what adoption keeps and replaces, what is rendered, and when
numbers agree."""

import ast
import functools
import json
import re
import subprocess
from itertools import accumulate

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from conftest import named, refused
from test_publish import DATA, HU, draw, find, root  # noqa: F401

from privregret import files
from privregret.files import PACKAGE, ROOT
from privregret.press import jobs, notebook, publish, record, render, stamps
from privregret.press.drift import between, first_difference
from privregret.press.papers import PAPERS

ORIGIN = {"code": "c", "lock": "l"}


@pytest.fixture
def stage(tmp_path_factory, monkeypatch):
    """Where the next run of the notebook publishes."""

    def fresh():
        staged = tmp_path_factory.mktemp("staged")
        monkeypatch.setenv("PRIVREGRET_OUTPUT", str(staged))
        notebook.current.published, notebook.current.shown = False, ""
        return staged

    return fresh


def published(root):  # noqa: F811
    return {
        p.relative_to(root): p.read_bytes() for p in (root / "figures").rglob("*") if p.is_file()
    }


def test_adopting_replaces_all_that_a_notebook_had(root, stage, monkeypatch):  # noqa: F811
    draw("hu2021/kept")
    draw("hu2021/dropped")
    publish.number("huOld", 1, "")
    monkeypatch.setattr(notebook.current, "name", "hu2021/other")
    notebook.current.published = False
    draw("hu2021/foreign")
    staged = stage()
    monkeypatch.setattr(notebook.current, "name", "hu2021/one")
    draw("hu2021/kept", data=DATA * 2)
    draw("hu2021/new")
    record.adopt(staged, root, "hu2021/one", ORIGIN)
    assert set(record.read(root)["outputs"]) == {"hu2021/kept", "hu2021/new", "hu2021/foreign"}
    assert not list((root / "figures/hu2021").glob("dropped*"))
    assert pd.read_csv(root / "figures/hu2021/kept.csv").regret[2] == 5.0
    assert "huOld" not in render.texts(root)["paper/numbers.tex"]


def test_adopting_refuses_what_another_notebook_has(root, stage, monkeypatch):  # noqa: F811
    draw()
    staged = stage()
    monkeypatch.setattr(notebook.current, "name", "hu2021/two")
    draw(data=DATA * 2)
    refused(
        lambda: record.adopt(staged, root, "hu2021/two", ORIGIN),
        "hu2021/figure-01",
        "hu2021/one",
        error=ValueError,
    )
    assert pd.read_csv(root / "figures/hu2021/figure-01.csv").regret[2] == 2.5


def adopted(root, stage, data=DATA, value=0.5, origin=ORIGIN, **more):  # noqa: F811
    staged = stage()
    draw(data=data, **more)
    find(value)
    record.adopt(staged, root, "hu2021/one", origin)
    render.render(root)
    return published(root)


def test_adopting_keeps_what_differs_by_rounding_only(root, stage):  # noqa: F811
    first = adopted(root, stage)
    assert adopted(root, stage, DATA * (1 + 1e-11), 0.5 * (1 + 1e-11)) == first
    moved = adopted(root, stage, DATA * (1 + 1e-7), 0.5 * (1 + 1e-7))
    changed = {str(name) for name in first if moved[name] != first[name]}
    assert {
        "figures/hu2021/figure-01.csv",
        "figures/findings.csv",
        "figures/manifest.json",
    } <= changed


def test_adopting_renews_edited_files_and_changed_pictures(root, stage):  # noqa: F811
    first = adopted(root, stage)
    (root / "figures/hu2021/figure-01.pdf").write_bytes(b"%PDF edited")
    assert adopted(root, stage) == first
    reworded = {"code": "reworded", "lock": "l"}
    caption = adopted(root, stage, caption=f"{HU}, again.", origin=reworded)
    assert b"again." in caption[next(n for n in caption if n.name == "figure-01.tex")]
    staged = stage()  # same numbers, drawn otherwise, by other code
    fig, ax = plt.subplots()
    ax.plot(DATA.t, DATA.regret, linewidth=7)
    publish.figure(fig, "hu2021/figure-01", DATA, f"{HU}, again.")
    find()
    record.adopt(staged, root, "hu2021/one", {"code": "other", "lock": "l"})
    png = next(n for n in caption if n.name == "figure-01.png")
    assert published(root)[png] != caption[png]


def test_findings_reach_the_tables_and_the_readme(root):  # noqa: F811
    readme = root / "README.md"
    readme.write_text("before\n<!-- findings -->\nold\n<!-- end of findings -->\nafter\n")
    draw()
    find(headline="It falls by {value} times.")
    publish.finding("Figure 2", "Is small.", "ratio", 2.0, at_most=1)
    publish.finding("Lemma 3, proof", "Is large.", "ratio", 2.0, at_most=1, kind="step")
    assert render.differing(root)
    render.render(root)
    assert not render.differing(root)
    frame = pd.read_csv(root / "figures/findings.csv")
    assert frame.verdict.tolist() == ["reproduced", "not reproduced", "does not hold"]
    assert frame.version.unique() == ["arXiv:2102.07929v2"] and frame.figure.unique() == [
        "hu2021/figure-01"
    ]
    assert r"Falls \& falls." in (root / "figures/hu2021/findings.tex").read_text()
    assert r"\disagrees{does not hold}" in (root / "figures/hu2021/findings.tex").read_text()
    failed = (root / "figures/not-reproduced.tex").read_text()
    assert "Is small." in failed and "Is large." not in failed
    verdicts = (root / "figures/verdicts.tex").read_text()
    assert f"{PAPERS['hu2021'].cited} & 1 & 1 & 0 & 0 & 1 & 0 & 0 & 0 & 0" in verdicts
    assert (
        "| hu2021 | 1 | 1 | 0 | 0 | 1 | 0 | 0 | 0 | 0 |"
        in (root / "figures/findings.md").read_text()
    )
    text = readme.read_text()
    assert "**1 of 2 claims" in text and "\nold\n" not in text
    assert "- It falls by 0.500 times. ([hu2021, Figure 1](figures/hu2021/figure-01.png))" in text
    assert text.startswith("before\n") and text.endswith("after\n")
    (root / "figures/findings.csv").write_text("cut")
    readme.write_text(text.replace("It falls", "It rises"))
    assert list(render.differing(root)) == ["figures/findings.csv", "README.md"]
    render.render(root)
    assert readme.read_text() == text


def test_a_new_headline_is_adopted(root, stage):  # noqa: F811
    for said in ("It falls by {value}.", "It falls, by {value}."):
        staged = stage()
        draw()
        find(headline=said)
        record.adopt(staged, root, "hu2021/one", ORIGIN)
        assert record.read(root)["notebooks"]["hu2021/one"]["findings"][0]["headline"] == said


def test_findings_of_no_paper_are_headed_as_ours(root, monkeypatch):  # noqa: F811
    monkeypatch.setattr(notebook.current, "name", "companion/one")
    (root / "README.md").write_text("<!-- findings -->\n<!-- end of findings -->\n")
    draw("companion/figure")
    publish.finding(
        "Here", "Is small.", "ratio", 2.0, at_most=1, kind="ours", headline="It is {value}."
    )
    render.render(root)
    assert pd.read_csv(root / "figures/findings.csv", keep_default_na=False).version.tolist() == [
        ""
    ]
    page = (root / "figures/findings.md").read_text()
    assert re.search(r"\n## [^\n]*companion[^\n]*\n\n[^\n]+\n\n### ours\n", page)
    assert re.search(r"\| [^|]*companion[^|]*( \| 0){7} \| 1 \| 0 \|", page)
    readme = (root / "README.md").read_text()
    assert "- It is 2. ([companion, Here](figures/companion/figure.png))" in readme
    assert "Is small." in (root / "figures/companion/findings.tex").read_text()
    assert "Is small." not in (root / "figures/not-reproduced.tex").read_text()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"notebooks": [], "outputs": {}}',
    ],
)
def test_a_damaged_manifest_is_named_in_one_line(tmp_path, text):
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures/manifest.json").write_text(text)
    refused(lambda: record.read(tmp_path), "manifest.json", error=record.Damaged)


FRAME = pd.DataFrame(
    {"name": ["a", "b"], "n": [1, 2], "x": [1.0, 2.0], "regret": [3.0, 4.0], "error": [1e-3, 0.0]}
)


@pytest.mark.parametrize(
    ("column", "row", "value", "moved"),
    [
        ("x", 0, 1 + 1e-10, False),
        ("x", 0, 1 + 1e-8, True),
        ("x", 1, float("nan"), True),
        ("regret", 0, 3.0015, False),  # within the errors of both
        ("regret", 0, 3.003, True),
        ("regret", 1, 4.0 + 1e-7, True),
        ("error", 0, 1.9e-3, False),
        ("error", 0, 2.1e-3, True),
        ("error", 1, 1e-13, False),
        ("n", 0, 2, True),
        ("name", 1, "c", True),
        ("x", 0, float("inf"), True),
    ],
)
@pytest.mark.filterwarnings("error")
def test_numbers_agree_to_within_rounding_and_the_error_that_they_carry(column, row, value, moved):
    fresh = FRAME.copy()
    fresh.loc[row, column] = value
    difference = first_difference("it", FRAME, fresh)
    assert bool(difference) == moved
    if moved:
        (line,) = difference
        named(line, "it", row + 1, column, FRAME[column][row], fresh[column][row])


@pytest.mark.filterwarnings("error")
def test_what_is_infinite_agrees_with_itself():
    endless = FRAME.assign(x=float("inf"))
    assert first_difference("it", endless, endless.copy()) == []
    (line,) = first_difference("it", endless, endless.assign(x=-float("inf")))
    named(line, "it", 1, "x", "inf", "-inf")


@pytest.mark.parametrize("content", [b"", b"a\xff\n1\n", None])
def test_a_published_csv_that_cannot_be_read_is_named_in_one_line(tmp_path, content):
    manifest = {"outputs": {"demo/a": {"notebook": "demo/one"}}, "notebooks": {}}
    roots = tmp_path / "kept", tmp_path / "fresh"
    for folder in roots:
        (folder / "figures/demo").mkdir(parents=True)
        (folder / "figures/demo/a.csv").write_text("x\n1\n")
    path = roots[0] / "figures/demo/a.csv"
    path.unlink() if content is None else path.write_bytes(content)
    (line,), compared = between(roots, (manifest, manifest), {"demo/one"})
    assert line.startswith("demo/a") and "\n" not in line and compared == 1


def test_other_columns_or_rows_are_a_difference():
    named(first_difference("it", FRAME, FRAME[:1])[0], "it", 2, 1)
    named(first_difference("it", FRAME, FRAME.rename(columns={"x": "y"}))[0], "it", "x", "y")


# What is committed
# --------------------------------------------------------------------------------------------

MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}


@functools.cache
def imported(source):
    """The project's modules that Python source names in its imports, and the packages that they
    are in."""
    names = set()
    for line in ast.walk(ast.parse(source)):
        if isinstance(line, ast.Import):
            names |= {alias.name for alias in line.names}
        elif isinstance(line, ast.ImportFrom):
            names |= {f"{line.module}.{alias.name}" for alias in line.names}
    return {
        part for name in names for part in accumulate(name.split("."), "{}.{}".format)
    } & MODULES.keys()


def sources(code):
    """Hash of all modules that a notebook's code imports, and those import in turn, as `publish`
    takes it."""
    found, new = set(), imported(code)
    while new:
        found |= new
        new = {name for module in new for name in imported(MODULES[module].read_text())} - found
    return publish._sources({str(MODULES[name]) for name in found})


def lapsed(name, entries):
    """What the manifest's entries of a notebook do not say as a run of it would now."""
    cells = jobs.read(name)
    expected = {
        "code": stamps.code(name),
        "lock": files.digest((ROOT / "requirements.lock").read_bytes()),
        "parameters": json.loads(json.dumps(jobs.declared_parameters(cells))),
        "sources": sources(
            "\n".join(cell.source for cell in cells.cells if cell.cell_type == "code")
        ),
    }
    found = {
        key for entry in entries.values() for key, value in expected.items() if entry[key] != value
    }
    for output, entry in entries.items():
        paths = {ending: ROOT / "figures" / f"{output}{ending}" for ending in entry["files"]}
        if any(
            not p.exists() or files.digest(p.read_bytes()) != entry["files"][e]
            for e, p in paths.items()
        ):
            found.add("files")
    return sorted(found) if entries else ["outputs"]


def test_what_is_committed_is_what_make_would_leave():
    """On a fresh clone `make` must change nothing; where somebody is at work, it need not be so
    yet."""
    manifest = record.read(ROOT)
    found = {
        name: lapsed(name, record.of_notebook(manifest, name)["outputs"])
        for name in jobs.select([])
    }
    wrong = [
        f"{name}: {', '.join(keys)} in figures/manifest.json lapsed"
        for name, keys in found.items()
        if keys
    ]
    wrong += [f"{path} is not what figures/manifest.json says" for path in render.differing(ROOT)]
    look = [
        "git",
        "-C",
        ROOT,
        "status",
        "--porcelain",
        "src",
        "notebooks",
        "figures",
        "requirements.lock",
    ]
    if wrong and subprocess.run(look, capture_output=True).stdout:
        pytest.skip("not all is committed, and `make` is due: " + "; ".join(wrong))
    assert not wrong, "; ".join(wrong) + ": run make, and commit what it changes"
