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
TEMPLATES.globals |= {"papers": PAPERS, "title": title, "verdicts": VERDICTS, "kinds": KINDS}
TEMPLATES.globals |= {"failures": FAILURES, "endings": ENDINGS, "short": tex.short}
TEMPLATES.globals |= {"measured": tex.measured, "quantity": tex.quantity, "value": tex.value}
TEMPLATES.globals |= {"integer": tex.integer, "in_words": in_words}


def filled(template: str, **values) -> str:
    """A template with these values; a ValueError for one with an error names it."""
    try:
        return TEMPLATES.get_template(template).render(values)
    except jinja2.TemplateError as problem:
        raise ValueError(f"press/templates/{template}: {problem}") from problem


def texts(root: Path) -> dict[str, str]:
    """Path below `root` -> what the file should be; a README without blocks stays as it is."""
    manifest = read(root)
    rows = list(_rows(manifest))
    listed = {paper: list(of) for paper, of in groupby(rows, itemgetter("paper"))}
    tally = [(paper, _count(of)) for paper, of in listed.items()] + [("all", _count(rows))]
    total = tally[-1][1]
    counted = {"tally": tally, "claims": [total[CLAIM, verdict] for verdict in VERDICTS[CLAIM]]}
    shown_by = defaultdict(list)
    for row in rows:
        shown_by[row["figure"]].append(row)
    named = sorted(manifest["outputs"].items())
    outputs = [e | {"name": name, "paper": e["notebook"].split("/")[0]} for name, e in named]
    folders = {
        f"figures/{paper}/README.md": filled(
            "folder.md", paper=paper, **_mapping(paper, list(of), listed.get(paper, ()))
        )
        for paper, of in groupby(outputs, itemgetter("paper"))
    }
    failed = [row for row in rows if row["failing"] == 0]
    vague = {"half": TOLERANCE / 2, "twice": TOLERANCE * 2}
    for row in rows:
        row |= {name: at_tolerance(row, tolerance) for name, tolerance in vague.items()}
    vague = {"vague": [row for row in rows if row["half"]]}
    # with other parameters an error may not be seen
    errata = [row for row in rows if row["failure"] and (row["failure"] != ERROR or row in failed)]
    slips = list(_slips(manifest))
    agree = (row for row in rows if row["kind"] == CLAIM and row["verdict"] == VERDICTS[CLAIM][0])
    bounds = [row["value"] for row in agree if row["criterion"] == "<= 1"]
    count = counts(total, errata, len(slips), bounds)
    errata = sorted(errata + slips, key=lambda row: [*FAILURES].index(row["failure"]))
    numbers = [entry.get("numbers", {}).items() for entry in manifest["notebooks"].values()]
    numbers = {"numbers": sorted(chain(*numbers)), "counts": count}
    frame = pd.DataFrame(rows, columns=COLUMNS)
    csv = frame.to_csv(index=False, float_format="%.12g", lineterminator="\n")
    given = {name: entry.get("parameters") for name, entry in manifest["notebooks"].items()}
    found = {row["id"]: row for row in rows}
    blocks = {"findings": filled("README.md", found=found, parameters=given, **counted)}
    blocks["papers"] = filled("papers.md")
    return {
        "figures/findings.csv": csv,
        "figures/findings.md": filled(
            "findings.md", listed=listed, found=found, **vague, **counted
        ),
        "figures/tolerance.tex": filled("tolerance.tex", **vague),
        "figures/README.md": filled("index.md", outputs=outputs, shown_by=shown_by),
        "figures/verdicts.tex": filled("verdicts.tex", **counted),
        "figures/not-reproduced.tex": filled("not-reproduced.tex", rows=failed),
        "figures/errata.md": filled("errata.md", rows=errata),
        "figures/errata.jsonl": "".join(map(_erratum, errata)),
        "figures/errata.tex": filled("errata.tex", rows=errata),
        "figures/statements.tex": filled("statements.tex", rows=rows),
        "paper/numbers.tex": filled("numbers.tex", **numbers),
        "README.md": BLOCK.sub(
            lambda found: f"{found[1]}{blocks[found[2]]}{found[3]}", _now(root / "README.md")
        ),
    } | folders


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
    found, books = [], {at: _now(at) for at in sorted(ROOT.glob("notebooks/*/*.ipynb"))}
    for path in sorted(p for p in PACKAGE.glob("*/*.py") if p.parent.name not in NO_ITEMS):
        of, lines = path.parent.name, path.read_text(encoding="utf-8").splitlines()
        for node in ast.parse("\n".join(lines)).body:
            if not isinstance(node, ast.ClassDef | ast.FunctionDef) or node.name[0] == "_":
                continue
            said = "\n".join(lines[node.lineno - 1 : node.end_lineno])
            doc = f"{ast.get_docstring(node)}\n"
            apart = re.search(r"Deviations: ((?:.+\n)+)|$", doc)[1] or ""
            entry = {"name": f"{of}.{node.name}", "path": path.relative_to(PACKAGE).as_posix()}
            entry["deviations"], word = " ".join(apart.split()), re.compile(rf"\b{node.name}\b")
            named = re.findall(rf"\b({'|'.join(PAPERS)})(?:, |'s )({PLACE.pattern})", said)
            named += [(path.stem, node.name)] * (of == "bounds" and path.stem in PAPERS)
            for paper, place in dict.fromkeys(
                (p, one) for p, at, *_ in named for one in places(at)
            ):
                used = [at for at in books if at.parent.name == paper and word.search(books[at])]
                used = [f"{paper}/{at.stem}" for at in used]
                found.append(entry | {"paper": paper, "place": place, "notebooks": used})
    return found


def _mapping(paper, outputs, rows):
    """Where the items of a paper are: in code, outputs and findings."""
    at, used = defaultdict(lambda: ([], [], [])), [of for of in code() if of["paper"] == paper]
    for of in used:
        at[of["place"]][0].append(of)
    for entry in outputs:
        for place in places(entry["name"].split("/")[1]):
            at[place][1].append(entry)
    for row in rows:
        for place in [*places(row["place"])] or [row["place"]]:
            at[place][2].append(row)
    named, books = {entry["name"]: entry for entry in outputs}, {e["notebook"] for e in outputs}
    # the figure that the first cell of a notebook shows
    shown = {b: re.findall(r"figures/([\w./-]+)\.png", _first_cell(b)) for b in books}
    leading = {book: named.get(pictures[0]) for book, pictures in shown.items() if pictures}
    return {
        "places": sorted(at.items(), key=_order),
        "mapped": used,
        "outputs": outputs,
        "leading": {book: [entry] for book, entry in leading.items() if entry},
        "rows": rows,
    }


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
    pictures = {o for o, entry in manifest["outputs"].items() if entry["kind"] == "figure"}
    for paper, notebook, entry in _books(manifest):
        for row in entry.get("findings", []):
            more = {"id": f"{paper}/{row['key']}", "paper": paper, "notebook": notebook}
            # of its heading, as GitHub and MyST name it
            more |= {"anchor": paper + row["key"], "measured": tex.measured(row)}
            more["version"] = PAPERS[paper].version if paper in PAPERS else ""
            more["checked"] = entry.get("checked", "")
            figure = row["figure"]
            more["shown"] = figure and f"{figure}.{'png' if figure in pictures else 'csv'}"
            more["rows"] = len(row.get("rows", ())) or 1
            # the place in a list of claims, then steps, each of which begins with what fails
            more["kind_order"] = [*KINDS].index(row["kind"])
            more["failing"] = (4, 3, 2, 0, 1)[VERDICTS[row["kind"]].index(row["verdict"])]
            yield dict.fromkeys((*STATED, "macros"), "") | row | more


def _slips(manifest):
    """Errata that no finding judges, as rows that lead to none."""
    for paper, notebook, entry in _books(manifest):
        for slip in entry.get("slips", []):
            more = {"id": f"{paper}/{slip['key']}", "paper": paper, "notebook": notebook}
            more |= {"anchor": "", "repair": slip["true"], "corrected": ""}
            more["version"] = PAPERS[paper].version if paper in PAPERS else ""
            yield {"failure": MISPRINT, "stands": ""} | slip | more


def _books(manifest):
    """The notebooks of a manifest in the order of pages: paper, name, entry."""
    order = {paper: i for i, paper in enumerate(PAPERS)}
    books = [(book.split("/")[0], book, entry) for book, entry in manifest["notebooks"].items()]
    return sorted(books, key=lambda b: (order.get(b[0], len(order)), *b[:2]))


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
