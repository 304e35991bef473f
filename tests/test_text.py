"""Captions and claims: every notebook's file agrees with its code, and faults get one line."""

import ast
import fnmatch
import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, refused

from privregret.estimates import Estimate
from privregret.press import record, render, text
from privregret.press.papers import PAPERS

FILES = sorted((ROOT / "notebooks").glob("*/*.toml"))
CLAIM = {"title": "It", "place": "Theorem 1", "claim": "It holds.", "quantity": "ratio"}
CLAIM |= {"evidence": "proof", "at_most": 1}
CALLS = {"figure": "figure", "table": "table", "verdict": "claim", "verdicts": "claim"}


def problems(texts, cells):
    """The unknown keys, unused keys and unknown names of texts and of code cells, a line each."""
    found, assigned = [], {"cited", "value"} | set(PAPERS) | set(texts["text"])
    used = {section: [] for section in text.FIELDS}
    for node in (node for cell in cells for node in ast.walk(parsed(cell))):
        match node:
            case (
                ast.Name(id=name, ctx=ast.Store())
                | ast.FunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                assigned.add(name)
            case ast.alias(name=name, asname=other):
                assigned.add((other or name).split(".")[0])
            case ast.Call(func=ast.Attribute(value=ast.Name(id="publish"), attr=attr)):
                if attr in CALLS:
                    used[CALLS[attr]] += [p for p in map(pattern, node.args[:3]) if p][:1]
                    assigned |= {k.arg for k in node.keywords}
    for section, keys in used.items():
        known = texts[section]
        found += [f"publish names [{section}.{k}], unknown" for k in keys if unlike(k, known)]
        found += [f"[{section}.{k}] is not used" for k in known if unlike(k, keys)]
    for where, said in strings(texts, ""):
        names = {name for name, _ in text.SLOT.findall(said)}
        found += [f"{where}: «{name}» is no name of the notebook" for name in names - assigned]
    return found


def unlike(key, others):
    return not any(fnmatch.fnmatch(key, o) or fnmatch.fnmatch(o, key) for o in others)


def parsed(cell):
    return ast.parse("\n".join(line for line in cell.splitlines() if line[:1] not in "%!"))


def pattern(node):
    """Return a key, with * where an f-string fills something in; None for other arguments."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(v.value if isinstance(v, ast.Constant) else "*" for v in node.values)
    return None


def strings(thing, where):
    if isinstance(thing, str):
        yield where, thing
    elif isinstance(thing, dict):
        for key, value in thing.items():
            yield from strings(value, f"{where}.{key}".lstrip("."))
    elif isinstance(thing, list):
        for value in thing:
            yield from strings(value, where)


def cells(file):
    book = json.loads(file.with_suffix(".ipynb").read_bytes())
    return ["".join(c["source"]) for c in book["cells"] if c["cell_type"] == "code"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_notebook_and_its_texts_agree_and_a_name_is_assigned_in_one_cell_only(file):
    texts, sources = text.read(file), cells(file)
    assert problems(texts, sources) == []
    assert len(texts["claim"]) <= 10
    assert texts["checked"] or file.parent.name not in PAPERS
    for entry in texts["figure"].values():
        assert len(text.SLOT.sub("name", entry["caption"]).split()) <= 75
    assigned = Counter()
    for cell in sources:
        found, todo = set(), list(parsed(cell).body)
        while todo:
            node = todo.pop()
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.add(node.name)
            elif not isinstance(node, ast.Lambda | ast.comprehension | ast.ListComp | ast.DictComp):
                todo += ast.iter_child_nodes(node)
        assigned.update(name for name in found if name[0] != "_")
    assert [name for name, count in assigned.items() if count > 1] == []


def unlisted(listed, used):
    """A line for each id of a finding that is not in the list, used twice or vanished; `used` has
    pairs of a file and an id, `listed` lines of an id and perhaps "retired"."""
    known, files = {}, {}
    for line in listed:
        one, *mark = line.split()
        if one in known or mark not in ([], ["retired"]):
            yield f"findings.txt: {line} is there already, or marked with other than retired"
        known[one] = mark
    for file, one in used:
        if one in files:
            yield f"{file}: {one} is also in {files[one]}"
        if known.get(one) != []:
            yield f"{file}: {one} is not in findings.txt, or retired there"
        files[one] = file
    for one in known:
        if not known[one] and one not in files:
            yield f"findings.txt: {one} has vanished without being marked as retired"


def test_every_finding_has_a_permanent_id():
    lines = (ROOT / "notebooks/findings.txt").read_text().splitlines()
    listed = [line for line in lines if not line.startswith("#")]
    names = [f"{file.parent.name}/{file.name}" for file in FILES]
    used = [
        (name, f"{file.parent.name}/{key}")
        for name, file in zip(names, FILES, strict=True)
        for key in text.read(file)["claim"]
    ]
    assert list(unlisted(listed, used)) == []
    template = Path(render.__file__).parent / "templates/README.md"
    shown = re.findall(r'of\("(.*?)"\)', template.read_text())
    assert shown and set(shown) <= {one for _, one in used}
    # what was ever published stays in the list
    published = {
        f"{name.split('/')[0]}/{row['key']}"
        for name, entry in record.read(ROOT)["notebooks"].items()
        for row in entry.get("findings", [])
    }
    assert published - {line.split()[0] for line in listed} == set()


def test_an_id_that_is_used_twice_new_changed_or_gone_is_found():
    listed = ["a/old retired", "a/one", "a/gone", "a/one"]
    used = [("x.toml", "a/one"), ("y.toml", "a/one"), ("y.toml", "a/old"), ("y.toml", "a/new")]
    found = [" ".join(line.split()[:2]) for line in unlisted(listed, used)]
    of_files = [f"y.toml: a/{key}" for key in ("one", "old", "new")]
    assert found == ["findings.txt: a/one", *of_files, "findings.txt: a/gone"]


def written(tmp_path, content):
    file = tmp_path / "one.toml"
    file.write_text(content, encoding="utf-8")
    return file


def entry(section, key, **fields):
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]
    return "\n".join([f'[{section}."{key}"]', *lines, ""])


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("[claim", ["one.toml"]),
        ("checked = '2026-11-26'", ["checked", "'2026-11-26'"]),
        ("figure = 1", ["figure", "1"]),
        (entry("figures", "a", caption="A."), ["figures"]),
        (entry("figure", "a", text="A."), ["figure.a", "caption"]),
        (entry("figure", "a", caption=3), ["figure.a", "caption", "3"]),
        ("[table.a]\ncaption = 'A.'\nwidths = {x = '1'}", ["table.a", "widths", "'1'}"]),
        (entry("claim", "a", place="1", claim="It holds."), ["claim.a", "quantity"]),
        *(
            (entry("claim", "a", **CLAIM | fields), ["claim.a", *shown])
            for fields, *shown in (
                ({"repairs": "none"}, "repairs"),
                ({"at_most": [1]}, "at_most"),
                ({"above": 1}, "above"),
                ({"kind": "guess"}, "guess"),
                ({"repair": "Two.", "stands": "maybe"}, "stands"),
                ({"repair": "Two."}, "repair"),
                ({"evidence": "word"}, "evidence", "'word'"),
                ({"title": "a " * 9}, "title"),
                ({"failure": "typo"}, "failure", "'typo'"),
                ({"failure": "error"}, "failure", "printed, repair"),
                ({"failure": "condition"}, "failure", "repair"),
                ({"kind": "ours", "failure": "condition", "repair": "K"}, "failure", "condition"),
                ({"note": True}, "note", "True"),
                ({"rows": ["K", 2]}, "rows", "2]"),
                ({"macro": ["x"]}, "macro"),
            )
        ),
    ],
)
def test_a_bad_file_is_refused(tmp_path, content, shown):
    file = written(tmp_path, content)
    refused(lambda: text.read(file), *shown, error=text.TextError)


def test_what_code_and_texts_do_not_share_is_found(tmp_path):
    content = "[text]\nat = 'at «T:tex»'\n" + entry("claim", "used", **CLAIM, note="«at» «typo»")
    texts = text.read(written(tmp_path, content + entry("figure", "f-*", caption="«n» «cited»")))
    code = ["T = 2**20", "for k in range(3):\n    publish.figure(fig, data, f'f-{k}', n=k)"]
    assert problems(texts, [*code, "publish.verdict('used', 1.0)"]) == [
        "claim.used.note: «typo» is no name of the notebook"
    ]
    unused = problems(texts, [*code, "publish.verdicts('other', frame)"])
    assert "[claim.used]" in unused[1] and "[claim.other]" in unused[0]


def test_a_notebook_outside_the_project_has_its_texts_in_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert text.of_notebook("mine/one") == {}
    file = written(tmp_path, entry("claim", "used", **CLAIM))
    assert text.of_notebook("mine/one")["claim"] == {"used": CLAIM}
    # a half-typed cell that an editor has saved is the reader's own affair
    book = {"cells": [{"cell_type": "code", "source": ["files = !ls\n", "for e in"]}]}
    file.with_suffix(".ipynb").write_text(json.dumps(book))
    assert text.of_notebook("mine/one")["claim"] == {"used": CLAIM}


def test_slots_are_filled():
    names = {"T": 2**20, "levels": [0.5, 1.0], "name": "UCB1", "ratio": Estimate(0.25, 0.01)}
    filled = text.fill(
        "«name», «levels», $«T:tex»$, «half:.1f», «ratio:.1f», «at»",
        names | {"half": 0.5},
        {"at": "«T»"},
    )
    assert filled == "UCB1, 0.5, 1, $2^{20}$, 0.5, 0.2, 1048576"
    assert text.fill("«wu2026»", {"wu2026": text}, {}) == PAPERS["wu2026"].cited
    refused(lambda: text.fill("«none»", names, {}), "none", error=text.TextError)
    circle = {"a": "«b»", "b": "«a»"}
    refused(lambda: text.fill("«a»", {}, circle), "a", error=text.TextError)
    assert text.fill("«means»", {"means": np.array([0.75, 0.5])}, {}) == "0.75, 0.5"
    refused(lambda: text.fill("«name:tex»", {"name": [None]}, {}), "name", error=text.TextError)
