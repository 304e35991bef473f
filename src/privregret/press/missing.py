"""What a paper lacks, as `privregret status KEY` says; docs/new-paper.md has the contracts."""

import ast
import json
import re
from collections.abc import Iterator

from privregret.core.files import PACKAGE, ROOT
from privregret.press import manifest, text
from privregret.press.papers import OURS, PAPERS

# a row of a notebook's table: the verdict, and the id of the finding that has it
ROW = re.compile(r"^\|.*\| *([^|]+?) *<!-- ([\w-]+/[\w-]+) --> *\|$", re.M)


def of_paper(key: str) -> Iterator[str]:
    """Yield a line for each thing that is missing."""
    if key not in PAPERS and key != OURS:
        yield f"src/privregret/press/papers.toml has no [{key}], so it counts as ours"
    books = sorted((ROOT / "notebooks" / key).glob("*.ipynb"))
    if not books:
        yield f"notebooks/{key} has no notebook"
    tests = {file: file.read_text(encoding="utf-8") for file in ROOT.glob("tests/**/*.py")}
    cases, bounds = ROOT / "tests/cases.py", ROOT / "tests/bounds.csv"
    for name, kind in _code(key):
        if kind == "case":
            where, word, texts = cases, rf"\b{name}\b", [tests.get(cases, "")]
        else:
            where, word = bounds, rf"\b({key}|bounds)\.{name}\b"
            texts = [bounds.read_text(), *tests.values()]
        if not any(re.search(word, content) for content in texts):
            yield f"tests/{where.name} has no {kind} of {name}"
    planted = [content for file, content in tests.items() if file.parent.name == "planted"]
    published = manifest.read(ROOT)["notebooks"]
    for book in books:
        name = f"{key}/{book.stem}"
        yield from _of_notebook(name, published.get(name, {}))
        if not any(f'"{name}"' in content for content in planted):
            yield f"tests/planted has no fault for {name}"


def _code(key):
    """The paper's algorithms and bounds: name, "case" or "bound"."""
    for file in sorted(set(PACKAGE.glob("*/*.py")) - set(PACKAGE.glob("studies/*"))):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and file == PACKAGE / f"bounds/{key}.py":
                yield from [(node.name, "bound")] if node.name[0] != "_" else []
            if isinstance(node, ast.ClassDef):
                lines = [line for line in node.body if isinstance(line, ast.Assign)]
                fields = {ast.unparse(line.targets[0]): ast.unparse(line.value) for line in lines}
                # what has no id is a base
                if "id" in fields and re.search(rf"\b{key}\b", fields.get("source", "")):
                    yield node.name, "case"


def _of_notebook(name, entry):
    file = ROOT / "notebooks" / f"{name}.toml"
    if not file.is_file():
        yield f"notebooks/{name}.toml is not there"
        return
    texts, paper = text.read(file), name.split("/")[0]
    if not texts["smoke"]:
        yield f"notebooks/{name}.toml has no [smoke]"
    if not texts["checked"] and paper in PAPERS:
        yield f"notebooks/{name}.toml has no date `checked`"
    verdicts = {f"{paper}/{row['key']}": row["verdict"] for row in entry.get("findings", [])}
    for finding in (f"{paper}/{claim}" for claim in texts["claim"]):
        if finding not in verdicts:
            yield f"{finding} has no verdict: run {name}"
        elif finding not in text.listed():
            yield f"{finding} is not in notebooks/findings.txt: run {name}"
    cells = json.loads(file.with_suffix(".ipynb").read_bytes())["cells"]
    for i, cell in enumerate(cells, 1):
        for typed, finding in ROW.findall("".join(cell["source"])):
            if typed != verdicts.get(finding, typed):
                row = f"{typed} <!-- {finding} --> is {verdicts[finding]}"
                yield f"notebooks/{name}.ipynb, cell {i}: {row}"
