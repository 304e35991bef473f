"""The manifest of what is published: what adoption keeps and replaces, what is rendered, and when
numbers agree."""

import json
import re
import subprocess
import threading
from collections import Counter
from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from conftest import refused
from test_publish import DATA, HU, draw, find, said

from privregret.core import files
from privregret.core.files import ROOT, locked
from privregret.press import batch, manifest, notebook, publish, render, tex
from privregret.press.findings import estimate_of

ORIGIN = {"code": "c", "lock": "l", "sources": "s"}


@pytest.fixture
def stage(tmp_path_factory, monkeypatch):
    """Where the next run of the notebook publishes."""

    def fresh():
        staged = tmp_path_factory.mktemp("staged")
        monkeypatch.setenv("PRIVREGRET_OUTPUT", str(staged))
        notebook.current.published = False
        return staged

    return fresh


def published(root):
    files = [path for path in (root / "figures").rglob("*") if path.is_file()]
    return {path.relative_to(root): path.read_bytes() for path in files}


def test_adopting_replaces_all_that_a_notebook_had(root, stage, monkeypatch):
    draw("kept")
    draw("dropped")
    publish.number("huOld", 1, "")
    monkeypatch.setattr(notebook.current, "name", "hu2021/other")
    notebook.current.published = False
    draw("foreign")
    staged = stage()
    monkeypatch.setattr(notebook.current, "name", "hu2021/one")
    draw("kept", data=DATA * 2)
    draw("new")
    manifest.adopt(staged, root, "hu2021/one", ORIGIN)
    assert set(manifest.read(root)["outputs"]) == {"hu2021/kept", "hu2021/new", "hu2021/foreign"}
    assert not list((root / "figures/hu2021").glob("dropped*"))
    assert pd.read_csv(root / "figures/hu2021/kept.csv").regret[2] == 5.0
    assert "huOld" not in render.texts(root)["paper/numbers.tex"]

    # what another notebook has is refused
    staged = stage()
    monkeypatch.setattr(notebook.current, "name", "hu2021/two")
    draw("kept", data=DATA * 3)
    refused(
        partial(manifest.adopt, staged, root, "hu2021/two", ORIGIN), "hu2021/kept", "hu2021/one"
    )
    assert pd.read_csv(root / "figures/hu2021/kept.csv").regret[2] == 5.0


def adopted(root, stage, data=DATA, value=0.5, origin=ORIGIN, **more):
    staged = stage()
    draw(data=data, **more)
    find(value)
    manifest.adopt(staged, root, "hu2021/one", origin)
    render.render(root)
    return published(root)


def test_adopting_keeps_what_differs_by_rounding_and_renews_what_is_edited_or_moved(root, stage):
    first = adopted(root, stage)
    assert adopted(root, stage, DATA * (1 + 1e-11), 0.5 * (1 + 1e-11)) == first
    pdf = Path("figures/hu2021/figure-01.pdf")
    csv, png = pdf.with_suffix(".csv"), pdf.with_suffix(".png")
    (root / pdf).write_bytes(b"%PDF edited")
    assert adopted(root, stage) == first
    with plt.rc_context({"pdf.fonttype": 3}):  # the PNG is the same
        again = adopted(root, stage, origin=ORIGIN | {"sources": "other"})
    assert again[pdf] != first[pdf] and again[png] == first[png]
    assert adopted(root, stage, DATA * (1 + 1e-11), origin=ORIGIN)[csv] != first[csv]
    moved = adopted(root, stage, DATA * (1 + 1e-7), 0.5 * (1 + 1e-7))
    changed = {name.name for name in first if moved[name] != first[name]}
    assert {"figure-01.csv", "findings.csv", "manifest.json"} <= changed


def test_what_was_altered_by_hand_does_not_survive_with_a_hash_that_fits(root, stage):
    """Texts go with the next run, pictures with the next that is fresh."""

    def run(data=DATA, **more):
        staged = stage()
        draw(data=data)
        key = said("table", "table-1", caption=f"{HU}: a table.")
        publish.table(data, key, formats={"regret": ".0f"})
        manifest.adopt(staged, root, "hu2021/one", ORIGIN, **more)
        return published(root)

    first, path_of_all = run(), root / "figures/manifest.json"
    for name, *words in (
        *(("figure-01.tex", "100", "900"), ("table-1.tex", "& 2", "& 3")),
        *(("manifest.json", "100% of it", "90% of it"), ("figure-01.png",), ("figure-01.pdf",)),
    ):
        (path,) = (root / "figures").rglob(name)
        whole = path.read_bytes()
        path.write_bytes(whole.replace(*map(str.encode, words)) if words else b"by hand")
        hashes = map(files.digest, (whole, path.read_bytes()))
        path_of_all.write_text(path_of_all.read_text().replace(*hashes))
        assert published(root) != first
        assert run(fresh=not words) == first, name
    # also on another processor, where half is rounded up
    table, text = root / "figures/hu2021/table-1.tex", path_of_all.read_text()
    forged = table.read_bytes().replace(b"& 2", b"& 7")
    path_of_all.write_text(text.replace(*map(files.digest, (table.read_bytes(), forged))))
    table.write_bytes(forged)
    assert b"& 7" not in run(DATA * (1 + 1e-11))[table.relative_to(root)]
    run(fresh=True)
    assert run(DATA * (1 + 1e-11)) == first != run(DATA * (1 + 1e-11), fresh=True)


def test_a_clone_or_a_folder_of_somebody_else_is_no_place_for_an_output(root):
    draw()
    for whole, mine in ((False, "src/privregret"), (True, "notebooks")):
        manifest.check_folder(root, whole)
        (root / mine).mkdir(parents=True)
        refused(lambda whole=whole: manifest.check_folder(root, whole), str(root), error=ValueError)
    other = root / "other"
    (other / "paper").mkdir(parents=True)
    refused(lambda: manifest.check_folder(other), str(other), "paper", error=ValueError)
    (other / "paper").rename(other / "draft")
    refused(lambda: manifest.check_folder(other, whole=True), str(other), "draft", error=ValueError)
    manifest.check_folder(other)
    manifest.check_folder(other, whole=True)


def test_a_manifest_of_another_form_is_refused_in_one_line(root):
    """It names files to remove, and what it says becomes TeX."""
    draw()
    find(macro="huRatio")
    path, victim = root / "figures" / "manifest.json", root / "thesis.tex"
    whole = json.loads(path.read_text())
    victim.write_text("mine")
    at_notebook, at_output = ("notebooks", "hu2021/one"), ("outputs", "hu2021/figure-01")
    at_finding, at_number = (*at_notebook, "findings", 0), (*at_notebook, "numbers", "huRatio")
    output, said = whole["outputs"]["hu2021/figure-01"], whole["notebooks"]["hu2021/one"]
    for value, *keys in (
        ([],),
        *((output, "outputs", bad) for bad in ("../thesis", "hu2021/.x")),
        ({"../../thesis.tex": "0"}, *at_output, "files"),
        *(([1], *at_output, "kind"), (3, *at_number), ("1", *at_number, "error")),
        *(("x", *at_finding, "verdict"), (float("nan"), *at_number, "error")),
        # a folder's page would be the README, or another one
        *((bad, *at_output, "notebook") for bad in ("../x", "hu2021/..", "/etc/x", "one", 1)),
        *((said, "notebooks", bad) for bad in ("../x", "hu2021/../x")),
    ):
        changed = at = {"": json.loads(json.dumps(whole))}
        *path_there, last = "", *keys
        for key in path_there:
            at = at[key]
        at[last] = value
        path.write_text(json.dumps(changed[""]))
        for use in (manifest.read, render.render, partial(manifest.remove, name="hu2021/one")):
            refused(partial(use, root), "manifest.json", error=ValueError)
    assert victim.read_text() == "mine"


def test_what_is_removed_lies_below_figures(root):
    draw()
    (root / "figures/hu2021").rename(root / "elsewhere")
    (root / "figures/hu2021").symlink_to(root / "elsewhere")
    manifest.remove(root, "hu2021/one")
    assert (root / "elsewhere/figure-01.tex").exists()


def test_findings_reach_the_tables_and_the_readme(root):
    readme, figures = root / "README.md", root / "figures"
    readme.write_text("before\n<!-- findings -->\nold\n<!-- end of findings -->\nafter\n")
    notebook.current.texts["checked"] = "2026-11-26"
    word = {"place": "Lemma 6", "printed": "argmax", "true": "argmin"}
    notebook.current.texts["slip"] = {"word": word, "odd": word | {"failure": "error"}}
    draw()
    find(title="It falls", evidence="enumeration", figure="figure-01")
    failed = {"printed": "It $|x|$ is.", "repair": "Twice that.", "stands": "partly"}
    error = failed | {"corrected": "Version 2.", "failure": "error"}
    find(2.0, "theorem-6", place="Figure 2", claim="Small.", title="Small", **error)
    find(2.0, "large", place="Lemma 3", claim="Large.", kind="step", **error)
    find(0.5, "slip", place="Lemma 4", claim="Is two.", **failed, failure="misprint")
    find(0.5, "edge", place="Lemma 5", claim="Is.", failure="condition", repair="$K>2$.")
    assert render.differing(root)
    render.render(root)
    assert not render.differing(root)
    frame = pd.read_csv(figures / "findings.csv")
    after = (" after the repair of a misprint", " under a condition")
    failing = ["reproduced", "not reproduced", "does not hold"]
    assert frame.verdict.tolist() == failing + ["reproduced" + how for how in after]
    assert frame.id[0] == "hu2021/falls" and frame.evidence[0] == "enumeration"
    assert set(frame.version) == {"arXiv:2102.07929v2"} and set(frame.checked) == {"2026-11-26"}
    assert frame.figure[0] == "hu2021/figure-01" and frame.figure[1:].isna().all()
    by_hand = (figures / "not-reproduced.tex").read_text()
    assert "Figure 2}{Twice that. Stands: partly." in by_hand and "Lemma 3" not in by_hand
    stated = (figures / "statements.tex").read_text()
    line = (
        r"judged hu2021/falls\endcsname{\emph{It falls} (Figure 1): reproduced, $0.500 \pm 0.010$.}"
    )
    assert line in stated and "(Lemma 3): does not hold, $2" in stated
    pages = (figures / "findings.md").read_text()
    assert "| hu2021 | claim | 1 | 1 | 1 | 1 | 0 |" in pages
    assert "| hu2021 | step | 0 | 0 | 0 | 1 | 0 |" in pages
    # claims first, of these what fails, each with its anchor
    listed = re.findall(r"^\| \[.*?\(#hu2021(.*?)\)", pages, re.M)
    assert listed == ["theorem-6", "edge", "slip", "falls", "large"]
    assert "\n| [It falls](" in pages and "### hu2021/falls\n" in pages
    errata = [json.loads(line) for line in (figures / "errata.jsonl").read_text().splitlines()]
    kinds = {"theorem-6": "error", "large": "error", "odd": "error", "slip": "misprint"}
    kinds |= {"word": "misprint", "edge": "condition"}
    assert [(one["id"][7:], one["kind"]) for one in errata] == [*kinds.items()]
    assert errata[0] == {
        **{"id": "hu2021/theorem-6", "arxiv": "2102.07929", "version": "v2", "kind": "error"},
        **{"place": "Figure 2", "printed": "It $|x|$ is.", "true": "Twice that."},
        **{"stands": "partly", "corrected": "Version 2."},
        "command": "privregret reproduce hu2021/one",
    }
    assert errata[5]["printed"] == "Is." and errata[5]["stands"] == ""
    # a slip has no number, so no finding to lead to
    assert (errata[4]["true"], errata[4]["command"]) == ("argmin", "")
    assert "\n| hu2021, Lemma 6 | argmax | argmin |\n" in (figures / "errata.md").read_text()
    assert "argmax" not in (figures / "errata.tex").read_text()
    macros = (root / "paper/numbers.tex").read_text()
    assert r"\errataTotal}{4}" in macros and r"\slipsTotal}{2}" in macros
    assert r"\errataErrors}{2}" in macros and r"\errataStand}{0}" in macros
    assert r"\errataStandPartly}{3}" in macros
    assert "Twice that." in (figures / "errata.md").read_text()
    assert "100% of it." in (figures / "README.md").read_text()
    text = readme.read_text()
    assert "Of 4 claims of the papers, 1 is reproduced, 1 more once a misprint is repaired" in text
    assert "privacy loss up to 2.000" in text and "notebooks/hu2021/one.ipynb" in text
    assert "Version 2." in text and "\nold\n" not in text
    assert text.startswith("before\n") and text.endswith("after\n")
    (figures / "findings.csv").write_text("cut")
    readme.write_text(text.replace("privacy loss", "loss"))
    assert list(render.differing(root)) == ["figures/findings.csv", "README.md"]
    render.render(root)
    assert readme.read_text() == text


def test_bounds_count_by_how_far_below_them_the_reproduced_claims_are():
    shown = dict(render.counts(Counter(), bounds=[0.02, 0.1, 0.4, 0.5, 1.0]))
    slack = [shown[f"bounds{which}"] for which in ("Total", "BelowHalf", "BelowTenth")]
    assert slack == [5, 3, 1]


def test_only_reproduced_claims_that_something_is_below_a_bound_count(root):
    find(0.05, "bound", place="Lemma 1", claim="Is.")
    find(0.05, "ours", place="Lemma 2", claim="Is.", kind="ours")
    find(0.05, "two", place="Lemma 3", claim="Is.", at_most=2)
    find(2.0, "above", place="Lemma 4", claim="Is.", failure="error", repair="No.", stands="no")
    assert r"\boundsTotal}{1}" in render.texts(root)["paper/numbers.tex"]


def test_what_another_tolerance_of_vague_words_would_change_is_listed(root):
    for key, value in (("near", 1.375), ("far", 2.0)):
        find(value, key, title=key, kind="ours", at_most=1.25)
    pages = render.texts(root)
    no, yes = "does not hold", "holds"
    table = pages["figures/findings.md"].partition("## With another tolerance")[2]
    assert "The 2 findings" in table and table.count("(#hu2021") == 1
    assert f"| [near](#hu2021near) (ours) | {no} | {no} | {yes} |" in table
    assert [pages["figures/tolerance.tex"].count(f"}}{said}") for said in (no, yes)] == [2, 1]


def test_an_error_that_a_run_with_other_parameters_does_not_see_is_no_erratum(root, monkeypatch):
    monkeypatch.setattr(notebook.current, "other", {"runs": 2})
    error = {"failure": "error", "printed": "Is.", "repair": "Is not.", "stands": "no"}
    find(0.5, "unseen", place="Lemma 1", claim="Is.", **error)
    find(2.0, "seen", place="Lemma 2", claim="Is.", **error)
    errata = render.texts(root)["figures/errata.jsonl"].splitlines()
    assert [json.loads(line)["id"] for line in errata] == ["hu2021/seen"]


FRAME = {"name": ["a", "b"], "n": [1, 2], "x": [1.0, 2.0], "regret": [3.0, 4.0], "error": [1e-3, 0]}


@pytest.mark.filterwarnings("error")
def test_numbers_agree_to_within_rounding_and_the_error_that_they_carry():
    for column, row, value, moved in (
        *(("x", 0, 1 + 1e-10, False), ("x", 0, 1 + 1e-8, True)),
        *(("x", 1, float("nan"), True), ("x", 0, float("inf"), True)),
        # within the errors of both
        *(("regret", 0, 3.0015, False), ("regret", 0, 3.003, True), ("regret", 1, 4 + 1e-7, True)),
        *(("error", 0, 1.9e-3, False), ("error", 0, 2.1e-3, True), ("error", 1, 1e-13, False)),
        *(("n", 0, 2, True), ("name", 1, "c", True)),
    ):
        kept, fresh = pd.DataFrame(FRAME), pd.DataFrame(FRAME)
        fresh.loc[row, column] = value
        assert manifest.moved_column(kept, fresh) == (column if moved else ""), value
    assert manifest.moved_column(kept, kept[:1]) and manifest.moved_column(kept, kept[["x", "n"]])


def lapsed(job, committed):
    """What the committed manifest does not say of a notebook as a run of it would now."""
    said = manifest.of_notebook(committed, job.name)
    expected = batch.origin(job.name, batch.inputs(job))
    expected["parameters"] = json.loads(json.dumps(job.parameters))
    found = [key for key, value in expected.items() if said["notebook"].get(key) != value]
    for output, entry in said["outputs"].items():
        for ending, hashed in entry["files"].items():
            path = ROOT / "figures" / f"{output}{ending}"
            if not path.exists() or files.digest(path.read_bytes()) != hashed:
                found.append(path.name)
    return found


def test_a_number_of_the_draft_has_the_error_of_the_finding_with_its_value():
    apart = []
    for book, entry in manifest.read(ROOT)["notebooks"].items():
        found = {row["value"]: row for row in entry.get("findings", ())}
        for name, number in entry.get("numbers", {}).items():
            pair = number, found.get(number["value"], number)
            shown = [tex.measured(estimate_of(one)) for one in pair]
            if len({*shown}) > 1:
                apart.append(f"{book}: {name} is {shown[0]}, the finding {shown[1]}")
    assert not apart, "; ".join(apart)


def test_what_is_committed_is_what_make_would_leave():
    """On a fresh clone `make` must change nothing; where somebody is at work, it may."""
    committed = manifest.read(ROOT)
    todo = batch.jobs(batch.notebooks(), {})
    assert set(committed["notebooks"]) == {job.name for job in todo}
    wrong = [f"{job.name}: {', '.join(keys)}" for job in todo if (keys := lapsed(job, committed))]
    wrong += [f"{path} is not what figures/manifest.json says" for path in render.differing(ROOT)]
    look = ["git", "-C", ROOT, "status", "--porcelain", "src", "notebooks", "figures", batch.LOCK]
    if wrong and subprocess.run(look, capture_output=True).stdout:
        pytest.skip("not all is committed, and `make` is due: " + "; ".join(wrong))
    assert not wrong, "; ".join(wrong) + ": run make, and commit what it changes"


def test_of_two_that_ask_for_a_lock_the_second_waits_or_is_refused(tmp_path):
    def take():
        with locked(tmp_path / "lock"):
            order.append("second")

    order, second = [], threading.Thread(target=take)
    with locked(tmp_path / "lock") as held:
        with pytest.raises(BlockingIOError), locked(tmp_path / "lock", wait=False):
            pass
        second.start()
        second.join(0.3)
        assert held and second.is_alive()
        order.append("first")
    second.join()
    assert order == ["first", "second"]
