"""Publishing: names, atomic files, same bytes twice, the manifest and what is made from it."""

import json

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from privregret import notebook, publish
from privregret.findings import Finding


@pytest.fixture
def root(tmp_path, monkeypatch):
    """An empty project to publish into, and a notebook that is running."""
    monkeypatch.setenv("PRIVREGRET_OUTPUT", str(tmp_path))
    monkeypatch.setitem(notebook.current, "name", "hu2021/one")
    monkeypatch.setitem(notebook.current, "parameters", {"seed": 3, "runs": 2})
    return tmp_path


DATA = pd.DataFrame({"t": [1, 2, 3], "regret": [0.1, 1 / 3, 2.5]})


def draw(name="hu2021/figure-01", data=DATA, caption=r"Regret at $\epsilon=1$: 100% of it."):
    fig, ax = plt.subplots()
    ax.plot(data.t, data.regret, label="$x$")
    ax.legend()
    publish.figure(fig, name, data, caption)


def test_a_figure_is_four_files_and_a_manifest_entry(root):
    draw()
    folder = root / "figures" / "hu2021"
    assert (folder / "figure-01.pdf").read_bytes().startswith(b"%PDF")
    assert (folder / "figure-01.png").read_bytes().startswith(b"\x89PNG")
    pd.testing.assert_frame_equal(pd.read_csv(folder / "figure-01.csv"), DATA, rtol=1e-11)
    tex = (folder / "figure-01.tex").read_text()
    assert r"\includegraphics{hu2021/figure-01.pdf}" in tex
    assert r"100\% of it" in tex
    assert r"\label{fig:hu2021/figure-01}" in tex
    entry = json.loads((root / "figures" / "manifest.json").read_text())["outputs"]["hu2021/figure-01"]
    assert (entry["notebook"], entry["seed"], entry["parameters"]) == ("hu2021/one", 3, {"seed": 3, "runs": 2})
    assert {"python", "numpy", "matplotlib"} <= set(entry["versions"])
    assert len(entry["sources"]) == len(entry["data"]) == 64


def test_the_data_hash_follows_the_data(root):
    draw()
    first = publish.read_manifest(root)["outputs"]["hu2021/figure-01"]["data"]
    draw(data=DATA * 2)
    assert publish.read_manifest(root)["outputs"]["hu2021/figure-01"]["data"] != first


def test_publishing_twice_gives_the_same_bytes(root):
    draw()
    files = sorted(p for p in (root / "figures").rglob("*") if p.is_file())
    before = [p.read_bytes() for p in files]
    draw()
    assert [p.read_bytes() for p in files] == before
    assert b"CreationDate" not in (root / "figures/hu2021/figure-01.pdf").read_bytes()


def test_a_failed_write_leaves_the_old_file(root, monkeypatch):
    draw()
    path = root / "figures/hu2021/figure-01.csv"
    old = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(publish.os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        publish.write(path, b"half")
    assert path.read_bytes() == old


@pytest.mark.parametrize("name", ["figure-01", "hu2021/Figure 1", "hu2021/../x", "hu2021/a/b"])
def test_bad_names_are_refused(root, name):
    with pytest.raises(ValueError, match="paper key, slash"):
        draw(name)
    assert not list((root / "figures").rglob("*.pdf"))


def test_a_table_shows_what_was_asked_and_keeps_all_numbers(root):
    frame = pd.DataFrame({"k": [1, 2], "value": [0.123456789, 2.0], "hidden": [7, 8]})
    publish.table(frame, "wu2026/table-1", "A caption.", {"k": "$k$", "value": "$v$"}, {"value": ".2f"})
    tex = (root / "figures/wu2026/table-1.tex").read_text()
    assert "0.12" in tex and "$k$ & $v$" in tex and "hidden" not in tex and r"\toprule" in tex
    pd.testing.assert_frame_equal(pd.read_csv(root / "figures/wu2026/table-1.csv"), frame)


def test_numbers_become_macros_once(root, monkeypatch):
    publish.number("huRatio", 0.98279, 0.0022)
    assert r"\newcommand{\huRatio}{\ensuremath{0.9828}}" in (root / "paper/numbers.tex").read_text()
    with pytest.raises(ValueError, match="letters only"):
        publish.number("hu2021", 1)
    monkeypatch.setitem(notebook.current, "name", "hu2021/two")
    with pytest.raises(ValueError, match="huRatio is already published by hu2021/one"):
        publish.number("huRatio", 1)


def test_two_notebooks_cannot_publish_under_one_name(root, tmp_path_factory, monkeypatch):
    draw()
    monkeypatch.setitem(notebook.current, "name", "hu2021/two")
    with pytest.raises(ValueError, match="hu2021/figure-01 is already published by hu2021/one"):
        draw()
    staged = tmp_path_factory.mktemp("staged")
    monkeypatch.setenv("PRIVREGRET_OUTPUT", str(staged))
    draw(data=DATA * 2)
    with pytest.raises(ValueError, match="hu2021/figure-01 is already published by hu2021/one"):
        publish.adopt(staged, root, "hu2021/two")
    assert pd.read_csv(root / "figures/hu2021/figure-01.csv").regret[2] == 2.5


def test_findings_reach_the_table_the_paper_and_the_readme(root):
    readme = root / "README.md"
    readme.write_text("before\n<!-- findings -->\nold\n<!-- end of findings -->\nafter\n")
    rows = [
        Finding("Figure 1", "Falls & falls.", "ratio", 0.5, 0.01, high=1),
        Finding("Figure 2", "Is small.", "ratio", 2.0, 0.01, high=1),
    ]
    publish.findings(rows)
    frame = pd.read_csv(root / "figures/findings.csv")
    assert frame.verdict.tolist() == ["reproduced", "not reproduced"]
    assert frame.notebook.tolist() == ["hu2021/one"] * 2
    assert r"Falls \& falls." in (root / "figures/hu2021/findings.tex").read_text()
    text = readme.read_text()
    assert "| hu2021 | 1 | 1 | 0 |" in text and "Is small." in text and "old" not in text
    assert text.startswith("before\n") and text.endswith("after\n")
    publish.findings(rows[:1])  # a new run replaces the old rows
    assert len(pd.read_csv(root / "figures/findings.csv")) == 1


def test_adopting_replaces_all_that_a_notebook_had(root, tmp_path_factory, monkeypatch):
    draw("hu2021/kept")
    draw("hu2021/dropped")
    publish.number("huOld", 1)
    monkeypatch.setitem(notebook.current, "name", "hu2021/other")
    draw("hu2021/foreign")
    staged = tmp_path_factory.mktemp("staged")
    monkeypatch.setenv("PRIVREGRET_OUTPUT", str(staged))
    monkeypatch.setitem(notebook.current, "name", "hu2021/one")
    draw("hu2021/kept", data=DATA * 2)
    draw("hu2021/new")
    publish.adopt(staged, root, "hu2021/one")
    assert set(publish.read_manifest(root)["outputs"]) == {"hu2021/kept", "hu2021/new", "hu2021/foreign"}
    assert not list((root / "figures/hu2021").glob("dropped*"))
    assert pd.read_csv(root / "figures/hu2021/kept.csv").regret[2] == 5.0
    assert "huOld" not in (root / "paper/numbers.tex").read_text()
