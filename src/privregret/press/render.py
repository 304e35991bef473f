"""What is made from the manifest, by templates/: pages, TeX, the README's block."""

import re
from collections import Counter
from itertools import chain
from pathlib import Path

import jinja2
import pandas as pd

from privregret.files import write
from privregret.press import captions, record, tex
from privregret.press.findings import (
    CLAIM,
    FAILS,
    HOLDS,
    KINDS,
    NOT_REPRODUCED,
    OURS,
    STEP,
    VERDICTS,
)
from privregret.press.papers import PAPERS, title, version

COLUMNS = """notebook key kind place version claim quantity value error numerical_error low high
criterion verdict rows note repair stands figure""".split()
BLOCK = re.compile(r"(<!-- findings -->\n)(.*?)(<!-- end of findings -->)", re.S)
TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
    undefined=jinja2.StrictUndefined,
    keep_trailing_newline=True,
    trim_blocks=True,
    variable_start_string="<<",  # the usual braces are TeX's
    variable_end_string=">>",
    block_start_string="<%",
    block_end_string="%>",
    comment_start_string="<#",
    comment_end_string="#>",
)
TEMPLATES.filters |= {"md": captions.github, "tex": tex.tex_escape}
TEMPLATES.globals |= {"papers": PAPERS, "title": title, "verdicts": VERDICTS, "kinds": KINDS}
TEMPLATES.globals |= {
    "claim": CLAIM,
    "measured": tex.measured,
    "value": tex.value,
    "power": tex.power,
    "quoted": tex.quoted,
}
TEMPLATES.globals |= {"quantity": tex.quantity, "endings": record.KINDS, "short": captions.short}


def findings(manifest: dict) -> list[dict]:
    """All findings of a manifest, in the order of the notebooks, with what pages show of them."""
    pictures = {o for o, entry in manifest["outputs"].items() if entry["kind"] == "figure"}
    rows = []
    for notebook, entry in sorted(manifest["notebooks"].items()):
        paper = notebook.split("/")[0]
        for row in entry.get("findings", []):
            figure = row["figure"]
            more = {"notebook": notebook, "paper": paper, "version": version(paper)}
            more["shown"] = figure and f"{figure}.{'png' if figure in pictures else 'csv'}"
            more["measured"] = tex.measured(row)
            more["headline"] = row["headline"].format(value=tex.value(row))
            more["rows"] = len(row.get("rows", ())) or 1
            rows.append(dict.fromkeys(("key", "note", "repair", "stands"), "") | row | more)
    return rows


def texts(root: Path) -> dict[str, str]:
    """Path below `root` -> text; for the README, its generated block."""
    manifest = record.read(root)
    rows = findings(manifest)
    papers = {row["paper"] for row in rows}
    shown_by: dict[str, list] = {row["figure"]: [] for row in rows}
    for row in rows:
        shown_by[row["figure"]].append(row)
    outputs = [
        entry | {"name": output, "paper": entry["notebook"].split("/")[0]} | _caption(root, output)
        for output, entry in sorted(manifest["outputs"].items())
    ]
    tally = sorted((title(paper), _count(rows, {paper})) for paper in papers)
    cited = [(PAPERS[key].cited, _count(rows, {key})) for key in PAPERS if key in papers]
    cited.append(("what goes beyond the papers", _count(rows, papers - PAPERS.keys())))
    total = _count(rows, papers)
    every, claims = [("all", total)], sum(total[CLAIM, verdict] for verdict in VERDICTS[CLAIM])
    failed = [row for row in rows if row["verdict"] == NOT_REPRODUCED]
    failed.sort(key=lambda row: [*PAPERS, row["paper"]].index(row["paper"]))
    kinds = list(KINDS)
    ranked = sorted(rows, key=lambda row: kinds.index(row["kind"]))
    errata = [row for row in rows if row["verdict"] in (NOT_REPRODUCED, FAILS) and row["repair"]]
    headlines = [row for row in rows if row["headline"]]
    headlines.sort(key=lambda row: row.get("rank", len(rows)))
    numbers = [entry.get("numbers", {}).items() for entry in manifest["notebooks"].values()]
    frame = pd.DataFrame(rows, columns=COLUMNS)

    def filled(template, **values):
        return TEMPLATES.get_template(template).render(values)

    made = {
        "figures/findings.csv": frame.to_csv(
            index=False, float_format="%.12g", lineterminator="\n"
        ),
        "figures/findings.md": filled(
            "findings.md", tally=tally + every, rows=ranked, count=total, claims=claims
        ),
        "figures/README.md": filled("index.md", outputs=outputs, shown_by=shown_by, said=said),
        "figures/verdicts.tex": filled("verdicts.tex", cited=cited + every),
        "figures/not-reproduced.tex": filled("not-reproduced.tex", failed=failed),
        "figures/errata.md": filled("errata.md", rows=errata),
        "figures/errata.tex": filled("errata.tex", rows=errata),
        "paper/numbers.tex": filled(
            "numbers.tex",
            numbers=sorted(chain(*numbers)),
            counts=[*_counts(total), ("errataTotal", len(errata))],
        ),
        "README.md": filled("README.md", count=total, claims=claims, rows=headlines),
    }
    for paper in papers:
        mine = [row for row in rows if row["paper"] == paper]
        made[f"figures/{paper}/findings.tex"] = filled("findings.tex", paper=paper, rows=mine)
    return made


def _caption(root, output):
    """The caption of an output; none if its file is damaged."""
    try:
        tex_file = (root / f"figures/{output}.tex").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        tex_file = ""
    return {"caption": captions.caption(tex_file)}


def _count(rows, papers):
    return Counter((row["kind"], row["verdict"]) for row in rows if row["paper"] in papers)


def _counts(count):
    """Names of macros of the draft, and how many findings each counts."""
    for kind, name in ((CLAIM, "claims"), (STEP, "steps"), (OURS, "ours")):
        numbers = [count[kind, verdict] for verdict in VERDICTS[kind]]
        words = ("Reproduced", "NotReproduced") if kind == CLAIM else ("Hold", "Fail")
        yield from zip([name + word for word in (*words, "Undecided")], numbers, strict=True)
        yield f"{name}Total", sum(numbers)


def said(rows: list[dict]) -> str:
    """How many findings have which verdict, in words.

    Examples
    --------
    >>> said([{"verdict": "holds"}, {"verdict": "holds"}, {"verdict": "cannot be decided"}])
    '1 cannot be decided, 2 hold'
    """
    count, many = Counter(row["verdict"] for row in rows), {HOLDS: "hold", FAILS: "do not hold"}
    known = dict.fromkeys(v for verdicts in VERDICTS.values() for v in verdicts)
    return ", ".join(
        f"{count[v]} {many.get(v, v) if count[v] > 1 else v}" for v in known if count[v]
    )


def differing(root: Path) -> dict[str, str]:
    """Which files are not what the manifest says: path -> what they should be.

    Raises
    ------
    Damaged
        If nothing can be made from the manifest.
    """
    try:
        made = texts(root)
    except Exception:  # an entry without its notebook, a number that is a word
        raise record.Damaged(root) from None
    return {path: text for path, text in made.items() if _current(root, path) not in (text, None)}


def _current(root, path):
    """What stands in a file now; "" if it is not there, None for a README without the block."""
    try:
        text = (root / path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        text = ""
    if path == "README.md":
        found = BLOCK.search(text)
        return found and found[2]
    return text


def render(root: Path) -> None:
    """Write all that is made from the manifest below `root`, where it differs."""
    with record.still(root):
        for path, text in differing(root).items():
            if path == "README.md":
                old = (root / path).read_text(encoding="utf-8")
                block = BLOCK.search(old)
                text = old[: block.start(2)] + text + old[block.end(2) :] if block else old
            write(root / path, text.encode())
