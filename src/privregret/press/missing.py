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
    for name, defined in _code(key):
        given = [said for file, said in tests.items() if defined != "case" or file.stem == "cases"]
        given += [(ROOT / "tests/bounds.csv").read_text()] if defined == "bound" else []
        word = rf"\b({key}|bounds)\.{name}\b" if defined == "bound" else rf"\b{name}\b"
        if not any(re.search(word, said) for said in given):
            where = "cases.py" if defined == "case" else "bounds.csv"
            yield f"tests/{where} has no {defined} of {name}"
    planted = [said for file, said in tests.items() if file.parent.name == "planted"]
    published = manifest.read(ROOT)["notebooks"]
    for book in books:
        name = f"{key}/{book.stem}"
        yield from _of_notebook(name, published.get(name, {}))
        if not any(f'"{name}"' in said for said in planted):
            yield f"tests/planted has no fault for {name}"


def _code(key):
    """The paper's algorithms and bounds: name, "case" or "bound"."""
    for file in sorted(set(PACKAGE.glob("*/*.py")) - set(PACKAGE.glob("studies/*"))):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and file == PACKAGE / f"bounds/{key}.py":
                yield from [(node.name, "bound")] if node.name[0] != "_" else []
            if isinstance(node, ast.ClassDef):
                lines = [line for line in node.body if isinstance(line, ast.Assign)]
                said = {ast.unparse(line.targets[0]): ast.unparse(line.value) for line in lines}
                # what has no id is a base
                if "id" in said and re.search(rf"\b{key}\b", said.get("source", "")):
                    yield node.name, "case"


def _of_notebook(name, entry):
    file = ROOT / "notebooks" / f"{name}.toml"
    if not file.is_file():
        yield f"notebooks/{name}.toml is not there"
        return
    said, paper = text.read(file), name.split("/")[0]
    if not said["smoke"]:
        yield f"notebooks/{name}.toml has no [smoke]"
    if not said["checked"] and paper in PAPERS:
        yield f"notebooks/{name}.toml has no date `checked`"
    verdicts = {f"{paper}/{row['key']}": row["verdict"] for row in entry.get("findings", [])}
    for one in (f"{paper}/{claim}" for claim in said["claim"]):
        if one not in verdicts:
            yield f"{one} has no verdict: run {name}"
        elif one not in text.listed():
            yield f"{one} is not in notebooks/findings.txt: run {name}"
    cells = json.loads(file.with_suffix(".ipynb").read_bytes())["cells"]
    for i, cell in enumerate(cells, 1):
        for typed, one in ROW.findall("".join(cell["source"])):
            if one in verdicts and typed != verdicts[one]:
                told = f"{typed} <!-- {one} --> is {verdicts[one]}"
                yield f"notebooks/{name}.ipynb, cell {i}: {told}"
