"""Every notebook keeps the contract, and runs headlessly with small parameters."""

import ast
import fnmatch
import json
import re
import tomllib

import nbformat
import pandas as pd
import pytest
from conftest import ROOT, refused
from papermill.translators import PythonTranslator

from privregret.press import batch, record, text
from privregret.press import notebook as nb
from privregret.press.papers import PAPERS

NAMES = batch.notebooks()
SMOKE = tomllib.loads((ROOT / "notebooks" / "smoke.toml").read_text())


def read(name):
    return nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)


def defaults(name):
    return nb.declared((ROOT / "notebooks" / f"{name}.ipynb").read_bytes())


def checked(name, injected):
    """Run a notebook's parameters, the cell that papermill injects, and its check."""
    injected = PythonTranslator.codify(injected)
    namespace = {"In": [injected]}
    _, parameters, check, *_ = read(name).cells
    for source in (parameters.source, injected, check.source):
        exec(source, namespace)


def test_the_smoke_profile_has_every_notebook_and_no_other():
    assert set(SMOKE) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_contract(name):
    """What a reader and the batch command rely on in every notebook."""
    notebook = read(name)
    first, parameters, check, *_, last = notebook.cells
    paper = name.split("/")[0]
    assert first.cell_type == "markdown" and first.source.startswith("# ")
    assert paper not in PAPERS or PAPERS[paper].version in first.source
    assert parameters.metadata["tags"] == ["parameters"] and "check" in check.metadata["tags"]
    assert last.source == "notebook.end()"
    lines = parameters.source.splitlines()
    for statement in ast.parse(parameters.source).body:  # literals, each with a comment
        assert isinstance(statement, ast.AnnAssign)
        assert "#" in "".join(lines[max(statement.lineno - 2, 0) : statement.end_lineno])
        nb.literal(statement.value)
    call = next(line.value for line in ast.parse(check.source).body if isinstance(line, ast.Expr))
    assert call.args[0].value == name
    assert [k.arg for k in call.keywords] == list(defaults(name))
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert not cell.outputs and cell.execution_count is None
            assert "rcParams" not in cell.source and "/home" not in cell.source
            assert len(cell.source.splitlines()) <= 40, "one lemma, one cell"
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)


@pytest.mark.parametrize("name", NAMES)
def test_its_own_defaults_pass_its_check(name):
    checked(name, {})
    unknown = {"no_such_thing": 1}
    refused(lambda: checked(name, unknown), "no_such_thing", error=nb.ParameterError)


def test_a_file_must_come_with_what_it_holds(tmp_path):
    """Rewards that are taken for losses favour the worst arm."""
    own, path = "companion/your-own-algorithm", tmp_path / "own.csv"
    path.write_text("a,b\n" + "0,1\n" * 100)
    for values in ("losses", "rewards"):
        checked(own, {"table": str(path), "values": values})
    short = {"table": str(path)}, "values"
    path_of_none = {"table": "nowhere.csv", "values": "losses"}, "table", "nowhere.csv"
    for given, *shown in (short, path_of_none):
        refused(lambda given=given: checked(own, given), *shown, error=nb.ParameterError)


@pytest.mark.parametrize("name", NAMES)
def test_outputs_exist_and_parse(smoke, name):
    root = smoke(name)
    manifest = record.read(root)
    mine = {
        output: entry for output, entry in manifest["outputs"].items() if entry["notebook"] == name
    }
    assert mine
    for output, entry in mine.items():
        files = {e: root / "figures" / f"{output}{e}" for e in record.KINDS[entry["kind"]]}
        assert len(pd.read_csv(files[".csv"])) > 0
        assert rf":{output}}}" in files[".tex"].read_text()
        if entry["kind"] == "figure":
            assert files[".pdf"].read_bytes().startswith(b"%PDF")
            assert files[".png"].read_bytes().startswith(b"\x89PNG")
    findings = manifest["notebooks"][name]["findings"]
    assert findings, "a notebook has findings"
    # a finding may be shown by a figure of another notebook
    published = record.read(ROOT)["outputs"]
    assert {row["figure"] for row in findings if row["figure"]} <= {*mine, *published}


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_draws_and_names_what_is_published_with_it(smoke, name):
    wrong = json.loads((smoke(name) / "pictures.json").read_text())["wrong"]
    assert not {key: found for key, found in wrong.items() if found}


@pytest.mark.parametrize("name", NAMES)
def test_published_outputs_are_those_of_the_notebook_and_all_of_its_texts_are_used(smoke, name):
    fresh, kept = map(record.read, (smoke(name), ROOT))
    published = kept["outputs"]  # a panel for each epsilon: fewer at small parameters
    mine = {output for output in published if published[output]["notebook"] == name}
    assert set(fresh["outputs"]) <= mine
    new, old = (r["notebooks"][name] for r in (fresh, kept))
    assert set(new.get("numbers", {})) <= set(old.get("numbers", {}))
    texts, paper = text.read(ROOT / f"notebooks/{name}.toml"), name.split("/")[0]
    assert set(texts["claim"]) == {row["key"] for row in new["findings"]}
    for pattern in (*texts["figure"], *texts["table"]):
        assert fnmatch.filter(mine, f"{paper}/{pattern}"), pattern


def test_columns_have_one_meaning_each():
    """What tables of two notebooks call by one name stands in the list of docs/reproducing.md, and
    numbers keep the order that their names promise."""
    listed = re.findall(r"^\| (`.*?) \|", (ROOT / "docs/reproducing.md").read_text(), re.M)
    explained = {name for names in listed for name in re.findall(r"`(\w+)`", names)}
    made, used = {}, set()
    for output, entry in record.read(ROOT)["outputs"].items():
        frame = pd.read_csv(ROOT / "figures" / f"{output}.csv")
        used |= {*frame}
        for column in frame:
            made.setdefault(re.sub("_(se|error|text)$", "", column), set()).add(entry["notebook"])
        for names in (("q10", "median", "q90"), ("lower_limit", "median", "upper_limit")):
            there = frame.reindex(columns=names).dropna()
            assert (there.diff(axis=1).iloc[:, 1:] >= 0).all(axis=None), output
        if {"q10", "q90"} <= {*frame}:
            assert (frame.q10 <= frame.q90)[frame.q10.notna()].all(), output
    # those divided by another say so
    shared = {c for c, notebooks in made.items() if len(notebooks) > 1 and "_over_" not in c}
    assert shared <= explained, sorted(shared - explained)
    assert explained <= used, sorted(explained - used)
