"""What is made from the manifest, by templates/: pages, TeX, the README's blocks."""

import ast
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path

import jinja2
import pandas as pd

from privregret.core.files import PACKAGE, ROOT, write
from privregret.press import tex
from privregret.press.findings import (
    CLAIM,
    ERROR,
    FAILURES,
    KINDS,
    MISPRINT,
    STATED,
    TOLERANCE,
    VERDICTS,
    at_tolerance,
    estimate_of,
    in_words,
)
from privregret.press.manifest import KINDS as ENDINGS
from privregret.press.manifest import lock, read
from privregret.press.papers import PAPERS, title

COLUMNS = """id notebook kind place title evidence version checked claim quantity value error
numerical_error low high criterion verdict rows figure""".split()
WORDS = "Reproduced", "Repaired", "Conditional", "NotReproduced", "Undecided"
# what a text, or the name of a function or an output, names
KIND = "Algorithm|Theorem|Lemma|Corollary|Proposition|Remark|Section|Figure|Table"
PLACE = re.compile(rf"((?i:{KIND}))s? ((?:(?:, | and | to )?[A-Z]?\.?\d[\d.]*(?:\([iv]+\))?)+)")
# packages that implement no algorithm, problem or bound
NO_ITEMS = {*"core estimates exact press privacy studies".split()}
# what has the name of its template, other pages, and the blocks of the README
NAMES = "findings.md errata.md errata.tex not-reproduced.tex statements.tex tolerance.tex"
PAGES = {f"figures/{name}": name for name in (*NAMES.split(), "verdicts.tex")}
PAGES |= {"figures/README.md": "index.md", "paper/numbers.tex": "numbers.tex"}
BLOCKS = {"findings": "README.md", "papers": "papers.md"}
BLOCK = re.compile(r"(<!-- (findings|papers) -->\n).*?(<!-- end of \2 -->)", re.S)
TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
    undefined=jinja2.StrictUndefined,
    keep_trailing_newline=True,
    trim_blocks=True,
    # the usual braces are TeX's
    variable_start_string="<<",
    variable_end_string=">>",
    block_start_string="<%",
    block_end_string="%>",
    comment_start_string="<#",
    comment_end_string="#>",
)
TEMPLATES.filters |= {"md": tex.github, "tex": tex.tex_escape}
TEMPLATES.filters |= {"formula": tex.formula, "first_sentence": tex.first_sentence}
TEMPLATES.globals |= {"papers": PAPERS, "title": title, "verdicts": VERDICTS, "kinds": KINDS}
TEMPLATES.globals |= {"failures": FAILURES, "endings": ENDINGS, "short": tex.short}
TEMPLATES.globals |= {"quantity": tex.quantity, "integer": tex.integer, "in_words": in_words}
TEMPLATES.globals |= {"measured": tex.measured}


def filled(template: str, **values) -> str:
    """A template with these values; a ValueError for one with an error names it."""
    try:
        return TEMPLATES.get_template(template).render(values)
    except jinja2.TemplateError as problem:
        raise ValueError(f"press/templates/{template}: {problem}") from problem


def csv(frame: pd.DataFrame) -> str:
    """A frame as it is published."""
    return frame.to_csv(index=False, float_format="%.12g", lineterminator="\n")


def texts(root: Path) -> dict[str, str]:
    """Path below `root` -> what the file should be; a README without blocks stays as it is."""
    manifest = read(root)
    rows, slips, books = list(_rows(manifest)), list(_slips(manifest)), manifest["notebooks"]
    by_paper = {paper: list(of) for paper, of in groupby(rows, itemgetter("paper"))}
    named = sorted(manifest["outputs"].items())
    outputs = [e | {"name": name, "paper": e["notebook"].split("/")[0]} for name, e in named]
    # with other parameters an error may not be seen
    errata = [row for row in rows if row["failure"] and (row["failure"] != ERROR or row["fails"])]
    agree = (row for row in rows if row["kind"] == CLAIM and row["verdict"] == VERDICTS[CLAIM][0])
    bounds = [row["value"] for row in agree if row["criterion"] == "<= 1"]
    total = _count(rows)
    numbers = sorted(chain(*(entry.get("numbers", {}).items() for entry in books.values())))
    values = {
        "rows": rows,
        "by_id": {row["id"]: row for row in rows},
        "by_paper": by_paper,
        "outputs": outputs,
        "books": books,
        "tally": [*((paper, _count(of)) for paper, of in by_paper.items()), ("all", total)],
        "claims": [total[CLAIM, verdict] for verdict in VERDICTS[CLAIM]],
        "counts": list(counts(total, errata, len(slips), bounds)),
        "errata": sorted(errata + slips, key=lambda row: [*FAILURES].index(row["failure"])),
        "numbers": [(name, tex.measured(estimate_of(e)), e["meaning"]) for name, e in numbers],
    }
    pages = {path: filled(template, **values) for path, template in PAGES.items()}
    pages["figures/findings.csv"] = csv(pd.DataFrame(rows, columns=COLUMNS))
    pages["figures/errata.jsonl"] = "".join(map(_erratum, values["errata"]))
    for paper, of in groupby(outputs, itemgetter("paper")):
        mapping = _mapping(paper, list(of), by_paper.get(paper, ()))
        pages[f"figures/{paper}/README.md"] = filled("folder.md", paper=paper, **mapping)
    blocks = {name: filled(template, **values) for name, template in BLOCKS.items()}
    readme = _now(root / "README.md")
    return pages | {"README.md": BLOCK.sub(lambda b: f"{b[1]}{blocks[b[2]]}{b[3]}", readme)}


def places(text: str) -> Iterator[str]:
    """What a text names, one by one: "Figures 1, 6 to 8", or theorem_3_1, which is Theorem 3.1."""
    text = re.sub(r"(?<=\d)[-_](?=\d)", ".", text.replace("Corollaries", "Corollary"))
    for kind, numbers in PLACE.findall(re.sub(r"[-_]0*", " ", text)):
        for first, last in re.findall(r"([A-Z.]*\d(?:[\d.]*\d)?)(?: to (\d+))?", numbers):
            run = range(int(first), int(last) + 1) if last else [first]
            yield from (f"{kind.title()} {one}" for one in run)


@cache
def code() -> list[dict]:
    """Each algorithm, problem and bound, once for each place of a paper that it names: its name,
    path, deviations, and the notebooks of the paper that use it."""
    of_paper = re.compile(rf"\b({'|'.join(PAPERS)})(?:, |'s )({PLACE.pattern})")
    books = {path: _now(path) for path in sorted(ROOT.glob("notebooks/*/*.ipynb"))}
    items = []
    for path in sorted(p for p in PACKAGE.glob("*/*.py") if p.parent.name not in NO_ITEMS):
        family, source = path.parent.name, path.read_text(encoding="utf-8")
        for node in ast.parse(source).body:
            if not isinstance(node, ast.ClassDef | ast.FunctionDef) or node.name[0] == "_":
                continue
            item = {"name": f"{family}.{node.name}", "path": path.relative_to(PACKAGE).as_posix()}
            apart = re.search(r"Deviations: ((?:.+\n)+)|$", f"{ast.get_docstring(node)}\n")[1] or ""
            item["deviations"], word = " ".join(apart.split()), re.compile(rf"\b{node.name}\b")
            named = of_paper.findall(ast.get_source_segment(source, node))
            named += [(path.stem, node.name)] * (family == "bounds" and path.stem in PAPERS)
            pairs = ((paper, place) for paper, text, *_ in named for place in places(text))
            for paper, place in dict.fromkeys(pairs):
                used = [at for at in books if at.parent.name == paper and word.search(books[at])]
                used = [f"{paper}/{at.stem}" for at in used]
                items.append(item | {"paper": paper, "place": place, "notebooks": used})
    return items


def _mapping(paper, outputs, rows):
    """Where the items of a paper are: in code, outputs and findings."""
    at, items = defaultdict(lambda: ([], [], [])), [i for i in code() if i["paper"] == paper]
    for item in items:
        at[item["place"]][0].append(item)
    for entry in outputs:
        for place in places(entry["name"].split("/")[1]):
            at[place][1].append(entry)
    for row in rows:
        for place in [*places(row["place"])] or [row["place"]]:
            at[place][2].append(row)
    # of each notebook, the figure that its first cell shows, or else its first one
    figures, leading = {e["name"]: e for e in outputs if e["kind"] == "figure"}, {}
    for entry in figures.values():
        leading.setdefault(entry["notebook"], entry)
    for book in {entry["notebook"] for entry in outputs}:
        picture = re.search(r"figures/([\w./-]+)\.png", _first_cell(book))
        if picture and picture[1] in figures:
            leading[book] = figures[picture[1]]
    found = {"places": sorted(at.items(), key=_order), "items": items, "leading": leading}
    return found | {"outputs": outputs, "rows": rows}


def _first_cell(notebook):
    """What a notebook's first cell says; "" if it is code, or cannot be read."""
    with suppress(ValueError, LookupError):
        cell = json.loads(_now(ROOT / f"notebooks/{notebook}.ipynb"))["cells"][0]
        return "".join(cell["source"]) if cell["cell_type"] == "markdown" else ""
    return ""


def called(notebook: str) -> str:
    """The title of a notebook; its name if it has none."""
    first = _first_cell(notebook)
    return first.partition("\n")[0].removeprefix("# ") or notebook


def _order(item):
    kind, _, number = item[0].partition(" ")
    return f"{KIND}|{kind}".split("|").index(kind), [part.zfill(3) for part in number.split(".")]


def _rows(manifest):
    """All findings of a manifest, paper by paper, with what pages show of them."""
    endings = {"figure": "png", "table": "csv"}
    for entry, book in _books(manifest):
        for row in entry.get("findings", []):
            number = estimate_of(row)
            more = {"measured": tex.measured(number), "rounded": tex.value(number)}
            more["id"] = f"{book['paper']}/{row['key']}"
            # of its heading, as GitHub and MyST name it
            more["anchor"] = book["paper"] + row["key"]
            picture = manifest["outputs"].get(row["figure"], {"kind": "table"})
            more["shown"] = row["figure"] and f"{row['figure']}.{endings[picture['kind']]}"
            more["rows"] = len(row.get("rows", ())) or 1
            # what a title is followed by
            more["aside"] = "" if row["kind"] == CLAIM else f" ({row['kind']})"
            # the place in a list of claims, then steps, each of which begins with what fails
            more["kind_order"] = [*KINDS].index(row["kind"])
            more["verdict_order"] = (4, 3, 2, 0, 1)[VERDICTS[row["kind"]].index(row["verdict"])]
            more["fails"] = more["verdict_order"] == 0
            more["half"] = at_tolerance(row, TOLERANCE / 2)
            more["twice"] = at_tolerance(row, TOLERANCE * 2)
            yield dict.fromkeys((*STATED, "macros"), "") | row | book | more


def _slips(manifest):
    """Errata that no finding judges, as rows that lead to none."""
    for entry, book in _books(manifest):
        for slip in entry.get("slips", []):
            more = {"id": f"{book['paper']}/{slip['key']}", "repair": slip["true"]}
            more |= {"anchor": "", "corrected": ""}
            yield {"failure": MISPRINT, "stands": ""} | slip | book | more


def _books(manifest):
    """The notebooks of a manifest in the order of pages: entry, and what all its rows have."""
    order = {paper: i for i, paper in enumerate(PAPERS)}
    books = [(name.split("/")[0], name) for name in manifest["notebooks"]]
    for paper, name in sorted(books, key=lambda book: (order.get(book[0], len(order)), *book)):
        entry = manifest["notebooks"][name]
        version = PAPERS[paper].version if paper in PAPERS else ""
        common = {"paper": paper, "notebook": name, "version": version}
        yield entry, common | {"checked": entry.get("checked", "")}


def _erratum(row):
    """A line for programs about what does not hold as printed."""
    arxiv, version = re.fullmatch(r"(?:arXiv:([\d.]+))?(.*)", row["version"]).groups("")
    said = {"id": row["id"], "arxiv": arxiv, "version": version, "kind": row["failure"]}
    said |= {"place": row["place"], "printed": row["printed"] or row["claim"]}
    said |= {"true": row["repair"], "stands": row["stands"], "corrected": row["corrected"]}
    said["command"] = f"privregret reproduce {row['notebook']}" if row["anchor"] else ""
    return f"{json.dumps(said, ensure_ascii=False)}\n"


def _count(rows):
    return Counter((row["kind"], row["verdict"]) for row in rows)


def counts(count: Counter, errata=(), slips: int = 0, bounds=()) -> Iterator[tuple[str, int]]:
    """Names of macros of the draft, and how many findings each counts: by kind and verdict; those
    that do not hold as printed, the errors among them, and those whose statement stands, or stands
    in part; and reproduced claims that a quantity is at most a bound, with how far it is below."""
    for kind, name in zip(KINDS, ("claims", "steps", "ours"), strict=True):
        numbers = [count[kind, verdict] for verdict in VERDICTS[kind]]
        yield from zip([name + word for word in WORDS], numbers, strict=True)
        yield f"{name}Total", sum(numbers)
    yield from (("errataTotal", len(errata)), ("slipsTotal", slips))
    yield "errataErrors", sum(row["failure"] == ERROR for row in errata)
    yield "errataStand", sum(row["stands"] == "yes" for row in errata)
    yield "errataStandPartly", sum(row["stands"] == "partly" for row in errata)
    yield "boundsTotal", len(bounds)
    yield "boundsBelowHalf", sum(value < 0.5 for value in bounds)
    yield "boundsBelowTenth", sum(value < 0.1 for value in bounds)


def said(rows: list[dict]) -> str:
    """How many findings have which verdict, in words."""
    count = Counter(row["verdict"] for row in rows)
    return ", ".join(
        f"{count[v]} {v}" for v in dict.fromkeys(chain(*VERDICTS.values())) if count[v]
    )


TEMPLATES.globals |= {"called": called, "said": said}


def _now(path):
    """The text of a file; "" if there is none, or it is damaged."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def differing(root: Path) -> dict[str, str]:
    """Files that are not what the manifest says: path -> what they should be; a ValueError if it is
    damaged."""
    return {path: text for path, text in texts(root).items() if _now(root / path) != text}


def render(root: Path) -> None:
    """Write all that is made from the manifest below `root`, where it differs."""
    with lock(root):
        for path, text in differing(root).items():
            write(root / path, text.encode())
