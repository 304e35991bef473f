"""Verdicts at and around their borders, for claims and for the other kinds of finding."""

import csv
import json
import math
import re
import tomllib
from importlib import import_module

import numpy as np
import pytest
from conftest import ROOT

from privregret.estimates import STANDARD_ERRORS, Estimate
from privregret.press import findings, missing, render
from privregret.press.findings import CLAIM, FAILURES, VERDICTS, WORDS, criterion
from privregret.press.papers import OURS, PAPERS

pytestmark = pytest.mark.every_paper
(YES, NO), OPEN = WORDS[CLAIM], findings.UNDECIDED
UP, DOWN = math.nextafter(1, 2), math.nextafter(1, 0)


def finding(value, error=0.0, bound=0.0, kind="claim", failure="", **form):
    number, agrees = Estimate(value, error, bound), criterion(**form)
    said = "one", "Section 1", "a claim", "x"
    return findings.Finding(*said, number, agrees, kind, failure=failure)


# intervals are value +- 3 errors, numbers exact in binary; borders belong to the claim
def test_verdicts_with_two_bounds_and_with_one():
    assert STANDARD_ERRORS == 3
    for value, error, verdict in (
        *((0.0, 0, YES), (1.0, 0, YES), (UP, 0, NO), (math.nextafter(0, -1), 0, NO)),
        *((-0.25, 0.0625, NO), (-0.1875, 0.0625, OPEN), (0.125, 0.0625, OPEN)),
        *((0.1875, 0.0625, YES), (0.8125, 0.0625, YES), (0.875, 0.0625, OPEN)),
        *((1.1875, 0.0625, OPEN), (1.25, 0.0625, NO), (0.5, 0.25, OPEN), (0.5, math.inf, OPEN)),
    ):
        assert finding(value, error, between=(0, 1)).verdict == verdict
        assert finding(value, error, equal=0.5, within=0.5).verdict == verdict
    for value, error, *verdicts in (
        *((1.0, 0, YES, YES, NO, NO), (DOWN, 0, YES, NO, YES, NO), (UP, 0, NO, YES, NO, YES)),
        # intervals that end, or start, at the border
        *((0.25, 0.25, YES, OPEN, OPEN, NO), (1.75, 0.25, OPEN, YES, NO, OPEN)),
        *((0.125, 0.25, YES, NO, YES, NO), (1.875, 0.25, NO, YES, NO, YES)),
        *((1.0, 0.25, OPEN, OPEN, OPEN, OPEN), (0.5, math.inf, OPEN, OPEN, OPEN, OPEN)),
        *((-math.inf, 0, YES, NO, YES, NO), (math.inf, 0, NO, YES, NO, YES)),
    ):
        forms = "at_most", "at_least", "below", "above"
        assert [finding(value, error, **{f: 1}).verdict for f in forms] == verdicts, value


def test_numerical_errors_count_once_rounding_not_at_all_and_a_tolerance_moves_the_border():
    for verdict, numbers, form in (
        *((YES, (0.5, 0, 0.5), {"at_most": 1}), (OPEN, (0.5, 0.125, 0.25), {"at_most": 1})),
        *((YES, (0.5, 0.125, 0.125), {"at_most": 1}), (YES, (1e6, 1e-6), {"at_least": 1e6})),
        *((OPEN, (1e6, 1e-2), {"at_least": 1e6}), (OPEN, (0, 1e-12), {"at_least": 0})),
        (YES, (1.0625,), {"at_most": 1, "within": 0.125}),
        (YES, (0.9375,), {"at_least": 1, "within": 0.125}),
        (YES, (1.0625,), {"equal": 1, "within": 0.125}),
        *((YES, (1.0,), {"equal": 1}), (NO, (1.0625,), {"equal": 1})),
        (NO, (1.0625,), {"at_most": 1}),
    ):
        assert finding(*numbers, **form).verdict == verdict, (numbers, form)


@pytest.mark.parametrize("kind", ["claim", "step", "ours"])
def test_a_verdict_says_how_a_statement_fails_as_printed(kind):
    (yes, no), of = WORDS[kind], ("", *FAILURES) if kind != "ours" else ("",)
    found = {
        (failure, value): finding(value, 0.1 * (value == 1), kind=kind, failure=failure, at_most=1)
        for failure in of
        for value in (0.5, 1.0, 1.5)
    }
    after = {"misprint": " after the repair of a misprint", "condition": " under a condition"}
    for (failure, value), one in found.items():
        assert one.verdict == {0.5: yes + after.get(failure, ""), 1.0: OPEN, 1.5: no}[value]
        assert one.verdict in VERDICTS[kind]
    # only an error fails, and it does; what is ours may
    odd = {of for of, one in found.items() if one.contradiction}
    known = {("", 1.5), ("misprint", 1.5), ("condition", 1.5), ("error", 0.5)}
    assert odd == (known if kind != "ours" else set())


def test_vague_words_have_one_tolerance_and_their_verdicts_are_known_at_others():
    for value, form, kind, half, twice in (
        *((1.2, {"at_most": 1.25}, "claim", NO, YES), (1.3, {"at_most": 1.25}, "claim", NO, YES)),
        *(
            (1.2, {"above": 1.25}, "ours", "holds", "does not hold"),
            (2, {"at_most": 1}, "step", "", ""),
        ),
        *(
            (0.85, {"between": (0.8, 1.25)}, "claim", NO, YES),
            (1, {"at_least": 0.8}, "claim", YES, YES),
        ),
        *((1.125, {"at_most": 1.25}, "claim", YES, YES), (1.5, {"below": 1.25}, "claim", NO, NO)),
        *(
            (1, {"between": (0.5, 1.25)}, "claim", "", ""),
            (0.7, {"at_least": 0.8}, "claim", NO, YES),
        ),
    ):
        row = finding(value, kind=kind, **form).row()
        assert [findings.at_tolerance(row, t) for t in (0.125, 0.5)] == [half, twice], row
    row = finding(1.0, 0.0625, failure="condition", at_most=1.25).row()
    assert findings.at_tolerance(row, 0.125) == OPEN
    assert findings.at_tolerance(row, 0.5) == "reproduced under a condition"


def test_of_all_rows_the_worst_decides():
    """The worst verdict, then what is farthest beyond the criterion."""
    for form, numbers, decides in (
        *(({"at_most": 2}, [1, 3, 2], 1), ({"at_least": 2}, [1, 3, 2], 0)),
        *(({"between": (1, 2)}, [1.5, 3, 0.5], 1), ({"between": (1, 2)}, [1.5, 2.25, 0], 2)),
        *(({"equal": 2}, [2, 2.5, 1], 2), ({"below": 2}, [1, 1.5, 0], 1)),
        *(({"above": 2}, [4, 3, 5], 1), ({"at_least": 2}, [3, (2.5, 1), 4], 1)),
        # what differs for certain is worse than what may differ by more
        *(({"at_least": 2}, [(1.5, 1), 1.75], 1), ({"at_most": 2}, [(2.5, 1), 2.25], 1)),
        ({"at_least": 2}, [(3, 2), (3, 3), (3, 1)], 1),
    ):
        made = [Estimate(*n) if isinstance(n, tuple) else Estimate(n) for n in numbers]
        assert criterion(**form).worst(made) == decides, (form, numbers)


def test_a_criterion_is_printed_as_it_is():
    for form, printed in (
        *(({"at_most": 2.5}, "<= 2.5"), ({"below": -1e-9}, "< -1e-9"), ({"above": 0}, "> 0")),
        *(({"at_least": 2**60}, ">= 1.15292e18"), ({"between": (0.8, 1.25)}, "in [0.8, 1.25]")),
        ({"equal": 1, "within": 1e-6}, "equals 1 within 1e-6"),
    ):
        assert criterion(**form).text == printed
    row = finding(np.float64(3), 0.5, at_least=1).row()
    assert (row["value"], row["error"], row["numerical_error"]) == (3, 0.5, 0)
    assert (row["low"], row["high"], row["criterion"], row["verdict"]) == (1, None, ">= 1", YES)
    assert (row["key"], row["kind"], row["place"]) == ("one", "claim", "Section 1")


def test_findings_that_say_nothing_are_refused():
    """Nothing could refute them, or nothing could meet them."""
    for value, error, form in (
        *((math.nan, 0, {"at_least": 0}), (1, math.nan, {"at_least": 0})),
        *((1, -0.1, {"at_least": 0}), (1, 0, {"at_least": math.nan}), (1, 0, {"about": 1})),
        *((1, 0, {}), (1, 0, {"at_most": math.inf}), (1, 0, {"between": (2, 1)})),
        *((1, 0, {"between": (-math.inf, 1)}), (1, 0, {"at_least": 0, "at_most": 1})),
        *((1, 0, {"equal": 1, "within": -1}), (1, 0, {"above": 1, "within": 0.1})),
    ):
        with pytest.raises(ValueError):
            finding(value, error, **form)


TYPED = r"\b(reproduced|cannot be decided|confirms|(is|are|was|not) (confirmed|refuted))\b"


def test_no_verdict_is_typed_but_in_a_row_that_names_its_finding():
    """With other parameters it may be another one; that row has the one that is published."""
    with open(ROOT / "figures/findings.csv", encoding="utf-8") as file:
        verdicts = {row["id"]: row["verdict"] for row in csv.DictReader(file)}
    for file in (ROOT / "notebooks").glob("*/*.toml"):
        texts = tomllib.loads(file.read_text())
        said = [e["caption"] for s in ("figure", "table") for e in texts.get(s, {}).values()]
        cells = json.loads(file.with_suffix(".ipynb").read_bytes())["cells"]
        said += ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"]
        named = missing.ROW.findall("\n".join(said))
        wrong = {id: (typed, verdicts.get(id)) for typed, id in named if typed != verdicts.get(id)}
        assert not wrong, f"{file.with_suffix('.ipynb')}, id: (typed, published): {wrong}"
        # what the paper says of itself is no verdict of ours
        ours = re.sub(r'"[^"]*"', "", missing.ROW.sub("", "\n".join(said)))
        assert [found[0] for found in re.finditer(TYPED, ours, re.I)] == [], file


def test_algorithms_of_the_papers_are_in_their_tables():
    """By a class or function that exists."""
    listed = {paper: set() for paper in PAPERS}
    for of in render.code():
        module = import_module(f"privregret.{of['path'].removesuffix('.py').replace('/', '.')}")
        assert callable(getattr(module, of["name"].split(".")[1]))
        listed[of["paper"]].add(of["name"])
    for family in ("bandits", "full_information", "adversarial"):
        module = import_module(f"privregret.{family}")
        for name in module.__all__:
            of = [key for key in PAPERS if key in getattr(getattr(module, name), "source", "")]
            assert all(f"{family}.{name}" in listed[key] for key in of)
    assert all(listed.values())


@pytest.mark.parametrize("key", [*PAPERS, OURS])
def test_the_page_of_a_paper_shows_the_picture_that_a_notebook_begins_with(key):
    page = render.texts(ROOT)[f"figures/{key}/README.md"]
    for file in (ROOT / f"notebooks/{key}").glob("*.ipynb"):
        first = "".join(json.loads(file.read_bytes())["cells"][0]["source"])
        pictures = re.findall(rf"figures/{key}/([\w-]+\.png)", first)
        (section,) = re.findall(rf"^## .*/{file.name}\)\n(.*?)(?=^## |\Z)", page, re.M | re.S)
        assert re.findall(r"^!\[.*\]\((.*)\)$", section, re.M)[: len(pictures)] == pictures[:1]


@pytest.mark.parametrize("key", [*PAPERS, OURS])
def test_no_paper_lacks_anything(key):
    assert [*missing.of_paper(key)] == []


def test_a_paper_that_is_not_there_lacks_all():
    none, no_notebook = missing.of_paper("nobody2026")
    assert "papers.toml" in none and "notebooks/nobody2026" in no_notebook


def test_places_that_a_text_names():
    for text, named in (
        ("Section 3, Figures 1, 6 to 8", "Section 3, Figure 1, Figure 6, Figure 7, Figure 8"),
        ("Theorem 7, Corollaries 8(ii) and 9, proofs", "Theorem 7, Corollary 8, Corollary 9"),
        ("Lemmas C.3, C.5 and (24)", "Lemma C.3, Lemma C.5"),
        *(("theorem_3_1", "Theorem 3.1"), ("figure-09a", "Figure 9"), ("Abstract", "")),
    ):
        assert ", ".join(render.places(text)) == named
