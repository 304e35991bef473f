"""Pairs in the press: of parameters that are asked for and small ones, of what a notebook imports,
of keys and patterns, of runs that differ in one thing."""

import pandas as pd
import pytest
from conftest import ROOT, refused

from privregret.press import batch, manifest, notebook, papers, publish, text
from privregret.press.papers import PAPERS

NAME = "hu2021/4-bandit-setting"
SMALL = text.read(ROOT / f"notebooks/{NAME}.toml")["smoke"]


@pytest.mark.parametrize("smoke", [False, True])
@pytest.mark.parametrize("given", [{}, {"runs": "5"}, {"runs": "5", "seed": "77"}])
def test_what_is_asked_for_comes_before_small_parameters_and_these_before_the_usual(smoke, given):
    (job,) = batch.jobs([NAME], given, smoke=smoke)
    usual = notebook.declared((ROOT / f"notebooks/{NAME}.ipynb").read_bytes())
    wanted = usual | (SMALL if smoke else {}) | {p: int(v) for p, v in given.items()}
    assert job.parameters == wanted
    assert job.changed == {p: v for p, v in wanted.items() if v != usual[p]}


@pytest.mark.parametrize("changed", [{}, {"runs": 3}, {"seed": 4, "runs": 2}])
def test_the_manifest_has_the_parameters_of_the_last_run_though_no_number_moved(
    root, tmp_path_factory, monkeypatch, changed
):
    data, origin = pd.DataFrame({"x": [1.0, 2.0]}), {"code": "c", "lock": "l", "sources": "s"}
    for given in ({"seed": 3, "runs": 2}, {"seed": 3, "runs": 2} | changed):
        staged = tmp_path_factory.mktemp("staged")
        monkeypatch.setenv("PRIVREGRET_OUTPUT", str(staged))
        monkeypatch.setattr(notebook, "current", notebook.Running("hu2021/one", given))
        notebook.current.texts["table"] = {"one": {"caption": f"{PAPERS['hu2021'].cited}: it."}}
        publish.table(data, "one")
        manifest.adopt(staged, root, "hu2021/one", origin)
        assert manifest.read(root)["notebooks"]["hu2021/one"]["parameters"] == given


def test_the_entry_of_a_key_comes_before_those_of_patterns():
    for keys in (["a-*", "a-1", "*"], ["*", "a-1", "a-*"], ["a-1", "*", "a-*"]):
        texts = {"figure": {key: {"caption": key} for key in keys}}
        first = next(key for key in keys if "*" in key)
        found = [text.entry(texts, "figure", key)["caption"] for key in ("a-1", "a-2", "b")]
        assert found == ["a-1", first, "*"]


def test_a_paper_that_is_not_complete_is_one_line(tmp_path):
    file, good = (
        tmp_path / "papers.toml",
        {"cited": "You (2026, arXiv v1)", "title": "T"} | dict.fromkeys(("asks", "proves"), "?"),
    )
    for key, entry, *shown in (
        ("you2026", good, "you2026", "version"),
        ("you2026", good | {"version": "v1", "year": "2026"}, "you2026", "year"),
        ("you2026", good | {"version": "2611.1"}, "you2026", "version", "'2611.1'"),
        ("you2026", good | {"version": "v1", "cited": "You"}, "you2026", "cited", "'You'"),
        ("you-2026", good | {"version": "v1"}, "you-2026", "letters"),
    ):
        lines = [f"[{key}]", *(f'{name} = "{text}"' for name, text in entry.items())]
        file.write_text("\n".join(lines))
        refused(lambda: papers.read(file), "papers.toml", *shown)
    file.write_text("you2026 = 3")
    refused(lambda: papers.read(file), "papers.toml", "you2026")
