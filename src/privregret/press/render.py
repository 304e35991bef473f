"""What is made from the manifest, by templates/: pages, TeX, the README's block."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import jinja2
import pandas as pd

from privregret.core.files import write
from privregret.press import record, tex
from privregret.press.findings import (
    CLAIM,
    ERROR,
    FAILS,
    FAILURES,
    HOLDS,
    KINDS,
    NOT_REPRODUCED,
    STATED,
    VERDICTS,
)
from privregret.press.papers import PAPERS, title

COLUMNS = """id notebook kind place title evidence version checked claim quantity value error
numerical_error low high criterion verdict rows figure""".split()
WORDS = "Reproduced", "Repaired", "Conditional", "NotReproduced", "Undecided"
BLOCK = re.compile(r"(?<=<!-- findings -->\n).*?(?=<!-- end of findings -->)", re.S)
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
TEMPLATES.globals |= {"failures": FAILURES, "endings": record.KINDS, "short": tex.short}
TEMPLATES.globals |= {"measured": tex.measured, "quantity": tex.quantity, "value": tex.value}
# of the heading of a finding, as GitHub and MyST name it
TEMPLATES.filters["failing_first"] = lambda rows: sorted(
    rows, key=lambda row: (3, 4, 2, 1, 0).index(VERDICTS[row["kind"]].index(row["verdict"]))
)
TEMPLATES.globals["anchor"] = lambda row: row["id"].replace("/", "")


def filled(template: str, **values) -> str:
    """A template with these values; a ValueError for one with an error names it."""
    try:
        return TEMPLATES.get_template(template).render(values)
    except jinja2.TemplateError as problem:
        raise ValueError(f"press/templates/{template}: {problem}") from problem


def texts(root: Path) -> dict[str, str]:
    """Path below `root` -> what the file should be; a README without the block stays as it is."""
    manifest = record.read(root)
    rows = list(_rows(manifest))
    papers = [key for key in PAPERS if any(row["paper"] == key for row in rows)]
    others = sorted({row["paper"] for row in rows} - {*papers})
    shown_by = defaultdict(list)
    for row in rows:
        shown_by[row["figure"]].append(row)
    named = sorted(manifest["outputs"].items())
    outputs = [e | {"name": name, "paper": e["notebook"].split("/")[0]} for name, e in named]
    total = _count(rows, papers + others)
    tally = [(key, PAPERS[key].cited, _count(rows, {key})) for key in papers]
    tally.append(("ours", "what goes beyond the papers", _count(rows, others)))
    tally.append(("all", "all", total))
    failed = [row for row in rows if row["verdict"] in (NOT_REPRODUCED, FAILS)]
    # with other parameters an error may not be seen
    errata = [row for row in rows if row["failure"] and (row["failure"] != ERROR or row in failed)]
    errata.sort(key=lambda row: [*FAILURES].index(row["failure"]))
    lines = (json.dumps(_erratum(row), ensure_ascii=False) for row in errata)
    numbers = [entry.get("numbers", {}).items() for entry in manifest["notebooks"].values()]
    numbers = sorted(chain(*numbers))
    frame = pd.DataFrame(rows, columns=COLUMNS)
    csv = frame.to_csv(index=False, float_format="%.12g", lineterminator="\n")
    block = filled("README.md", found={row["id"]: row for row in rows}, sentence=sentence(total))
    listed = {paper: [row for row in rows if row["paper"] == paper] for paper in (*papers, *others)}
    counted = {"tally": tally, "sentence": sentence(total)}
    return {
        "figures/findings.csv": csv,
        "figures/findings.md": filled("findings.md", listed=listed, **counted),
        "figures/README.md": filled("index.md", outputs=outputs, shown_by=shown_by, said=said),
        "figures/verdicts.tex": filled("verdicts.tex", tally=tally),
        "figures/not-reproduced.tex": filled(
            "not-reproduced.tex", rows=[row for row in failed if row["kind"] == CLAIM]
        ),
        "figures/errata.md": filled("errata.md", rows=errata),
        "figures/errata.jsonl": "".join(f"{line}\n" for line in lines),
        "figures/errata.tex": filled("errata.tex", rows=errata),
        "paper/numbers.tex": filled("numbers.tex", numbers=numbers, counts=counts(total, errata)),
        "README.md": BLOCK.sub(lambda _: block, _now(root / "README.md"), count=1),
    }


def _rows(manifest):
    """All findings of a manifest, paper by paper, with what pages show of them."""
    pictures = {o for o, entry in manifest["outputs"].items() if entry["kind"] == "figure"}
    order = {paper: i for i, paper in enumerate(PAPERS)}
    books = [(book.split("/")[0], book, entry) for book, entry in manifest["notebooks"].items()]
    for paper, notebook, entry in sorted(books, key=lambda b: (order.get(b[0], 9), *b[:2])):
        for row in entry.get("findings", []):
            more = {"notebook": notebook, "paper": paper, "measured": tex.measured(row)}
            more["id"] = f"{paper}/{row['key']}"
            more["version"] = PAPERS[paper].version if paper in PAPERS else ""
            figure = row["figure"]
            more["shown"] = figure and f"{figure}.{'png' if figure in pictures else 'csv'}"
            more["rows"] = len(row.get("rows", ())) or 1
            more["checked"] = entry.get("checked", "")
            yield dict.fromkeys((*STATED, "macros"), "") | row | more


def _erratum(row):
    """What does not hold as printed, for programs."""
    arxiv, version = re.fullmatch(r"(?:arXiv:([\d.]+))?(.*)", row["version"]).groups("")
    said = {"id": row["id"], "arxiv": arxiv, "version": version, "kind": row["failure"]}
    said |= {"place": row["place"], "printed": row["printed"] or row["claim"]}
    said |= {"true": row["repair"], "stands": row["stands"], "corrected": row["corrected"]}
    return said | {"command": f"privregret reproduce {row['notebook']}"}


def _count(rows, papers):
    return Counter((row["kind"], row["verdict"]) for row in rows if row["paper"] in papers)


def counts(count: Counter, errata: Sequence = ()) -> Iterator[tuple[str, int]]:
    """Names of macros of the draft, and how many findings each counts."""
    for kind, name in zip(KINDS, ("claims", "steps", "ours"), strict=True):
        numbers = [count[kind, verdict] for verdict in VERDICTS[kind]]
        yield from zip([name + word for word in WORDS], numbers, strict=True)
        yield f"{name}Total", sum(numbers)
    yield "errataTotal", len(errata)


def sentence(count: Counter) -> str:
    """How many claims have which verdict, in words."""
    yes, repaired, conditional, no, open_ = numbers = [count[CLAIM, v] for v in VERDICTS[CLAIM]]
    return (
        f"{sum(numbers)} claims: {yes} reproduced, {repaired} after the repair of a misprint, "
        f"{conditional} under a condition, {no} not, and {open_} cannot be decided"
    )


def said(rows: list[dict]) -> str:
    """How many findings have which verdict, in words."""
    count, many = Counter(row["verdict"] for row in rows), {HOLDS: "hold", FAILS: "do not hold"}
    known = (v for v in dict.fromkeys(chain(*VERDICTS.values())) if count[v])
    return ", ".join(f"{count[v]} {many.get(v, v) if count[v] > 1 else v}" for v in known)


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
    with record.still(root):
        for path, text in differing(root).items():
            write(root / path, text.encode())
