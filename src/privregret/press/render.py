"""What is made from the manifest, by templates/: pages, TeX, the README's block."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import jinja2
import pandas as pd

from privregret.core.files import write
from privregret.press import record, tex
from privregret.press.findings import CLAIM, FAILS, HOLDS, KINDS, NOT_REPRODUCED, OURS, VERDICTS
from privregret.press.papers import PAPERS, title

COLUMNS = """notebook key kind place version claim quantity value error numerical_error low high
criterion verdict rows note repair stands figure""".split()
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
TEMPLATES.globals |= {"claim": CLAIM, "endings": record.KINDS, "short": tex.short}
TEMPLATES.globals |= {"measured": tex.measured, "quoted": tex.quoted, "quantity": tex.quantity}


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
    papers = {row["paper"] for row in rows}
    shown_by = defaultdict(list)
    for row in rows:
        shown_by[row["figure"]].append(row)
    named = sorted(manifest["outputs"].items())
    outputs = [e | {"name": name, "paper": e["notebook"].split("/")[0]} for name, e in named]
    total = _count(rows, papers)
    every, sentenced = [("all", total)], sentence(total)
    tally = sorted((title(paper), _count(rows, {paper})) for paper in papers)
    cited = [(PAPERS[key].cited, _count(rows, {key})) for key in PAPERS if key in papers]
    cited.append(("what goes beyond the papers", _count(rows, papers - PAPERS.keys())))
    failed = [row for row in rows if row["verdict"] == NOT_REPRODUCED]
    failed.sort(key=lambda row: [*PAPERS, row["paper"]].index(row["paper"]))
    ranked = sorted(rows, key=lambda row: [*KINDS].index(row["kind"]))
    errata = [row for row in rows if row["verdict"] in (NOT_REPRODUCED, FAILS) and row["repair"]]
    headlines = [row for row in rows if row["headline"]]
    headlines.sort(key=lambda row: row.get("rank", len(rows)))
    numbers = [entry.get("numbers", {}).items() for entry in manifest["notebooks"].values()]
    numbers = sorted(chain(*numbers))
    frame = pd.DataFrame(rows, columns=COLUMNS)
    csv = frame.to_csv(index=False, float_format="%.12g", lineterminator="\n")
    block = filled("README.md", rows=headlines, sentence=sentenced)
    return {
        "figures/findings.csv": csv,
        "figures/findings.md": filled(
            "findings.md", tally=tally + every, rows=ranked, sentence=sentenced
        ),
        "figures/README.md": filled("index.md", outputs=outputs, shown_by=shown_by, said=said),
        "figures/verdicts.tex": filled("verdicts.tex", cited=cited + every),
        "figures/not-reproduced.tex": filled("not-reproduced.tex", failed=failed),
        "figures/errata.md": filled("errata.md", rows=errata),
        "figures/errata.tex": filled("errata.tex", rows=errata),
        "paper/numbers.tex": filled("numbers.tex", numbers=numbers, counts=counts(total, errata)),
        "README.md": BLOCK.sub(lambda _: block, _now(root / "README.md"), count=1),
    }


def _rows(manifest):
    """All findings of a manifest, in the order of the notebooks, with what pages show of them."""
    pictures = {o for o, entry in manifest["outputs"].items() if entry["kind"] == "figure"}
    for notebook, entry in sorted(manifest["notebooks"].items()):
        paper = notebook.split("/")[0]
        for row in entry.get("findings", []):
            more = {"notebook": notebook, "paper": paper, "measured": tex.measured(row)}
            more["version"] = PAPERS[paper].version if paper in PAPERS else ""
            figure = row["figure"]
            more["shown"] = figure and f"{figure}.{'png' if figure in pictures else 'csv'}"
            more["headline"] = row["headline"].format(value=tex.value(row))
            more["rows"] = len(row.get("rows", ())) or 1
            yield dict.fromkeys(("key", "note", "repair", "stands", "macros"), "") | row | more


def _count(rows, papers):
    return Counter((row["kind"], row["verdict"]) for row in rows if row["paper"] in papers)


def counts(count: Counter, errata: Sequence = ()) -> Iterator[tuple[str, int]]:
    """Names of macros of the draft, and how many findings each counts."""
    for kind, name in zip(KINDS, ("claims", "steps", "ours"), strict=True):
        numbers = [count[kind, verdict] for verdict in VERDICTS[kind]]
        yes, no = ("Reproduced", "NotReproduced") if kind == CLAIM else ("Hold", "Fail")
        fixed = () if kind == OURS else ("Repaired", "Conditional")
        yield from zip(
            [name + word for word in (yes, *fixed, no, "Undecided")], numbers, strict=True
        )
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
