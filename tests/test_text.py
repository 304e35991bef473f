"""Captions and claims: every notebook's file agrees with its code, and faults get one line."""

import json
import re
import symtable
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, refused

from privregret.estimates import Estimate
from privregret.press import manifest, render, tex, text
from privregret.press.papers import PAPERS

pytestmark = pytest.mark.every_paper
FILES = sorted((ROOT / "notebooks").glob("*/*.toml"))
CLAIM = {"title": "It", "place": "Theorem 1", "claim": "It holds.", "quantity": "ratio"}
CLAIM |= {"evidence": "proof", "at_most": 1}


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_texts_are_short_and_a_name_is_assigned_in_one_cell_only(file):
    texts, assigned = text.read(file), Counter()
    assert len(texts["claim"]) <= 10
    assert texts["checked"] or file.parent.name not in PAPERS
    for entry in texts["figure"].values():
        assert len(text.SLOT.sub("name", entry["caption"]).split()) <= 75
    for cell in json.loads(file.with_suffix(".ipynb").read_bytes())["cells"]:
        if cell["cell_type"] != "code":
            continue
        code = "".join(line for line in cell["source"] if line[:1] not in "%!")
        names = symtable.symtable(code, file.name, "exec").get_symbols()
        made = {s.get_name() for s in names if s.is_assigned() and not s.is_imported()}
        assigned.update(name for name in made if name[0] != "_")
    assert [name for name, count in assigned.items() if count > 1] == []


def test_every_finding_has_a_permanent_id():
    """What was ever published stays in the list, marked as retired when it is gone; the first run
    of a notebook adds its ids."""
    lines = (ROOT / "notebooks/findings.txt").read_text().splitlines()
    known = text.listed()
    assert len(known) == len(lines) - 1 and {*known.values()} <= {"", "retired"}
    used, slips = (
        [f"{file.parent.name}/{key}" for file in FILES for key in text.read(file)[section]]
        for section in ("claim", "slip")
    )
    assert len(used + slips) == len({*used, *slips})
    assert set(used) == {one for one, mark in known.items() if not mark}
    published = manifest.read(ROOT)["notebooks"].items()
    rows = [(name.split("/")[0], row) for name, e in published for row in e.get("findings", [])]
    assert {f"{paper}/{row['key']}" for paper, row in rows} <= set(known)
    template = Path(render.__file__).parent / "templates/README.md"
    shown = re.findall(r'of\("(.*?)"\)', template.read_text())
    assert shown and set(shown) <= set(used)


def test_the_first_run_lists_an_id_which_is_never_taken_twice(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "NOTEBOOKS", tmp_path)
    (tmp_path / "findings.txt").write_text("# ids\npaper/old retired\npaper/one\n")
    (tmp_path / "paper").mkdir()
    for name, keys in (("a", ["one", "two"]), ("b", ["three"]), ("c", ["old"]), ("d", ["two"])):
        claims = "\n".join(entry(f"claim.{key}", **CLAIM) for key in keys)
        (tmp_path / f"paper/{name}.toml").write_text(claims)
        (tmp_path / f"paper/{name}.ipynb").touch()
    refused(lambda: text.ids("paper/c"), "paper/c.toml", "paper/old", "retired")
    refused(lambda: text.ids("paper/d"), "paper/d.toml", "claim.two", "paper/a")
    (tmp_path / "paper/d.ipynb").unlink()
    for name in ("a", "b", "a", "without-texts"):
        text.list_ids(text.ids(f"paper/{name}"))
    assert [*text.listed()] == ["paper/old", "paper/one", "paper/two", "paper/three"]


def entry(section, **fields):
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]
    return "\n".join([f"[{section}]", *lines])


def test_a_bad_file_is_refused(tmp_path):
    file, ours = tmp_path / "one.toml", {"kind": "ours", "failure": "condition", "repair": "K"}
    for content, *shown in (
        *(("[claim", "one.toml"), ("figure = 1", "figure", "1")),
        ("checked = '2026-11-26'", "checked", "'2026-11-26'"),
        ("smoke = 3", "smoke", "3"),
        (entry("figures.a", caption="A."), "figures"),
        (entry("figure.a", text="A."), "figure.a", "caption"),
        (entry("figure.a", caption=3), "figure.a", "caption", "3"),
        (entry("claim.a", place="1", claim="It holds."), "claim.a", "quantity"),
        (entry("slip.a", place="1", printed="x"), "slip.a", "true"),
        (entry("slip.a", place="1", printed="x", true="y", failure="typo"), "slip.a", "'typo'"),
        *((entry("exercise", kind="predict"), "[[exercise]]"), ("exercise = [1]", "exercise 1")),
        *(
            (entry("[exercise]", **{"ask": "?", "answer": "!"} | fields), "exercise 1", *shown)
            for fields, *shown in (
                *(({}, "kind", "None"), ({"kind": "guess"}, "kind", "'guess'")),
                *(
                    ({"kind": "predict", "holds": "True"}, "run"),
                    ({"kind": "prove", "see": "x"}, "see"),
                ),
                ({"kind": "break", "run": "f()", "holds": "True", "edit": "x"}, "edit", "'x'"),
            )
        ),
        *(
            (entry("claim.a", **CLAIM | fields), "claim.a", *shown)
            for fields, *shown in (
                *(({"repairs": "none"}, "repairs"), ({"at_most": [1]}, "at_most")),
                *(({"above": 1}, "above"), ({"kind": "guess"}, "guess")),
                *(({"repair": "Two."}, "repair"), ({"title": "a " * 9}, "title")),
                *(({"failure": "typo"}, "failure", "'typo'"), (ours, "failure", "condition")),
                ({"failure": "error"}, "failure", "printed, repair"),
                *(({"but_at_most": limit}, "but_at_most", limit) for limit in ("a", [1])),
                ({"but_at_most": 0.5}, "but_at_most", "beyond", "1"),
                ({"failure": "condition"}, "failure", "repair"),
                *(({"rows": ["K", 2]}, "rows[1]", "2"), ({"macro": ["x"]}, "macro")),
                *(({"between": ends}, "between") for ends in (1, [1, 2, 3], [2, 1])),
                ({"within": -1}, "within", "-1.0"),
                ({"note": r"25 \% of $\epsilon$"}, "note", "$formulas$"),
            )
        ),
    ):
        file.write_text(content, encoding="utf-8")
        refused(partial(text.read, file), *shown, error=text.TextError)


def test_small_parameters_are_those_of_the_notebook(tmp_path, monkeypatch):
    file = tmp_path / "one.toml"
    monkeypatch.setenv("PRIVREGRET_TEXTS", str(file))
    file.write_text("[smoke]\nruns = 3\n")
    assert text.small("hu2021/one", {"runs": 100, "seed": 1}) == {"runs": 3}
    file.write_text("[smoke]\nrun = 3\n")
    small = partial(text.small, "hu2021/one", {"runs": 100, "seed": 1})
    refused(small, "hu2021/one.toml", "run", "runs, seed", error=text.TextError)


def test_a_number_has_the_digits_that_its_error_supports():
    for number, printed, alone in (
        *((Estimate(1 / 3), "0.3333", "0.3333"), (Estimate(-2e7, 1e5), "-20000000 ± 100000", "")),
        *((Estimate(0.5, 0.01), "0.500 ± 0.010", "0.500"), (Estimate(2, np.inf), "2†", "2")),
        # a numerical error shows if it is seen in four digits
        (Estimate(1 / 3, bound=1e-6), "0.3333", "0.3333"),
        (Estimate(1 / 3, bound=1e-3), "0.3333 ± 0.0010", "0.3333"),
        (Estimate(1 / 3, 1e-3, 1e-2), "0.333 ± 0.011", "0.333"),
    ):
        assert tex.measured(number) == printed
        assert tex.value(number) == (alone or printed.split(" ±")[0])
    shown = {"1e-07 ± 2.5e+12": r"10^{-7} \pm 2.5\cdot 10^{12}", "-inf†": r"-\infty^\dagger"}
    shown |= {"in [0.8, 1.25]": r"\in [0.8, 1.25]", "<= 1e6": r"\le 10^{6}", "equals 1": "= 1"}
    assert [tex.formula(one) for one in shown] == [*shown.values()]


def test_a_text_reads_well_on_github_and_its_first_sentence_alone():
    said = r"Of a_b and `a_b`, 5% < $\|x\|<|y|$ in x$_1$"
    shown = r"Of a\_b and `a_b`, 5% \< $`\Vert x\Vert \lt \vert y\vert `$ in x $`_1`$"
    assert tex.github(said) == shown
    first, rest = "Regret of Azize et al. (2025): 1.5 at 3.", "The rest. It is long."
    assert tex.first_sentence(f"{first} {rest}") == (first, rest)
    assert tex.first_sentence(first) == (first, "")


def test_slots_are_filled():
    numbers = 4096, 0.05, 1e-7, 20_000.5, -20_000, np.inf, np.int64(2**22), 1e6, [0.25, 2.5]
    filled = "|".join(text.fill("«x:tex»", {"x": number}, {}) for number in numbers)
    assert filled == r"4096|0.05|10^{-7}|20\,000.5|-20\,000|\infty|2^{22}|10^{6}|0.25, 2.5"
    names = {"T": 2**20, "means": np.array([0.75, 0.5]), "name": "UCB1", "half": 0.5}
    names |= {"ratio": Estimate(0.25, 0.01), "wu2026": text}
    filled = text.fill("«name», «means», «half:.1f», «ratio:.1f», «at»", names, {"at": "«T»"})
    assert filled == "UCB1, 0.75, 0.5, 0.5, 0.2, 1048576"
    assert text.fill("«wu2026»", names, {}) == PAPERS["wu2026"].cited
    for slot, given in (("none", {}), ("a", {}), ("name:tex", {"name": [None]})):
        fill = partial(text.fill, f"«{slot}»", given, {"a": "«b»", "b": "«a»"})
        refused(fill, slot.split(":")[0], error=text.TextError)
