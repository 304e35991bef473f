"""What is made from the manifest: findings.csv and .md, the index of figures, TeX, the README's block."""

import re
from collections import Counter
from itertools import groupby
from pathlib import Path

import numpy as np
import pandas as pd

from privregret.files import write
from privregret.press import findings as fnd
from privregret.press import record, tex
from privregret.press.numbers import headline, measured
from privregret.press.papers import PAPERS, title, version

COLUMNS = """notebook kind place version claim quantity value error numerical_error low high
criterion verdict figure""".split()
BLOCK = re.compile(r"(<!-- findings -->\n)(.*?)(<!-- end of findings -->)", re.S)
FIRST = {fnd.NOT_REPRODUCED: 0, fnd.FAILS: 1, fnd.UNDECIDED: 2}  # on the page of findings


def findings_frame(manifest: dict) -> pd.DataFrame:
    """All findings of a manifest, one a row, in the order of the notebooks."""
    entries = sorted(manifest["notebooks"].items())
    rows = [{"notebook": n, **row} for n, entry in entries for row in entry.get("findings", [])]
    frame = pd.DataFrame(rows, columns=[*COLUMNS, "headline"])
    frame["paper"] = frame.notebook.str.split("/").str[0]
    frame["version"] = [version(paper) for paper in frame.paper]
    return frame


def texts(manifest: dict) -> dict[str, str]:
    """Path below the root -> text; for the README, its generated block."""
    frame = findings_frame(manifest)
    pictures = {o for o, entry in manifest["outputs"].items() if entry["kind"] == "figure"}
    frame["shown"] = [f and f"{f}.{'png' if f in pictures else 'csv'}" for f in frame.figure]
    csv = frame[COLUMNS].to_csv(index=False, float_format="%.12g", lineterminator="\n")
    return {
        "figures/findings.csv": csv,
        "figures/findings.md": _findings(frame),
        "figures/README.md": _index(manifest, frame),
        "figures/verdicts.tex": tex.verdicts(frame),
        **{f"figures/{k}/findings.tex": tex.findings(k, part) for k, part in frame.groupby("paper")},
        "paper/numbers.tex": tex.macros(manifest),
        "README.md": _first_page(frame),
    }


def read_whole(root: Path) -> dict:
    """The manifest below `root`, from which all can be made; else raises `record.Damaged`."""
    manifest = record.read(root)
    try:
        texts(manifest)
    except Exception:  # an entry without its notebook, a number that is a word
        raise record.Damaged(root) from None
    return manifest


def differing(root: Path) -> dict[str, str]:
    """Which files are not what the manifest says: path -> what they should be."""
    wanted = texts(record.read(root))
    return {path: text for path, text in wanted.items() if _current(root, path) not in (text, None)}


def render(root: Path) -> None:
    """Write all that is made from the manifest below `root`, where it differs."""
    with record.still(root):
        for path, text in differing(root).items():
            if path == "README.md":
                old = (root / path).read_text(encoding="utf-8")
                text = BLOCK.sub(lambda m, new=text: m[1] + new + m[3], old)
            write(root / path, text.encode())


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


def tally(rows: list[dict]) -> str:
    """How many findings have which verdict, in words.

    Examples
    --------
    >>> tally([{"verdict": "holds"}, {"verdict": "holds"}, {"verdict": "cannot be decided"}])
    '1 cannot be decided, 2 hold'
    """
    count = Counter(row["verdict"] for row in rows)
    many = {fnd.HOLDS: "hold", fnd.FAILS: "do not hold"}
    known = dict.fromkeys(v for verdicts in fnd.VERDICTS.values() for v in verdicts)
    words = {v: many.get(v, v) if count[v] > 1 else v for v in known}
    return ", ".join(f"{count[v]} {words[v]}" for v in known if count[v])


def _table(heads, rows, rule=None):
    line = "| {} |".format
    rule = rule or "|" + "---|" * len(heads)
    return [line(" | ".join(heads)), rule, *(line(" | ".join(map(str, row))) for row in rows)]


def _tally(frame):
    """How many claims of each paper reproduce, and how many steps of proofs and findings of ours hold."""
    heads = ["paper", *fnd.VERDICTS[fnd.CLAIM]]
    heads += [f"{what}: hold, do not, undecided" for what in ("steps of proofs", "ours")]
    rows = []
    for name, part in [*frame.groupby(frame.paper.map(title)), ("all", frame)]:
        count = part.groupby(["kind", "verdict"]).size()
        claims, *others = (
            [str(count.get((kind, v), 0)) for v in fnd.VERDICTS[kind]] for kind in fnd.KINDS
        )
        rows.append([name, *claims, *map(", ".join, others)])
    return _table(heads, rows, "|---|" + "---:|" * 5)


def _first_page(frame):
    told = [
        f"- {headline(row)} ([{row['paper']}, {row['place']}](figures/{row['shown']}))"
        for row in frame[frame.headline != ""].to_dict("records")
    ]
    return "\n".join([*told, "", *_tally(frame), ""])


def _about(key):
    paper = PAPERS.get(key)
    return f"{paper.cited}: *{paper.title}*." if paper else "What goes beyond the five papers."


def _index(manifest, frame):
    """All figures and tables by paper and notebook, as a host of code shows them."""
    lines = ["# Figures and tables", ""]
    lines += ["Generated. What was found in them: [findings.md](findings.md)."]
    outputs = sorted((entry["notebook"], o) for o, entry in manifest["outputs"].items())
    told = {o: part.to_dict("records") for o, part in frame.groupby("figure")}
    for key, mine in groupby(outputs, lambda pair: pair[0].split("/")[0]):
        lines += ["", f"## {title(key)}", "", _about(key)]
        for notebook, pairs in groupby(mine, lambda pair: pair[0]):
            section = notebook.split("/")[1].replace("-", " ")
            lines += ["", f"### [{section}](../notebooks/{notebook}.ipynb)", ""]
            rows = []
            for _, o in pairs:
                kind = manifest["outputs"][o]["kind"]
                image = f'<img src="{o}.png" width="240" alt="{o}">' if kind == "figure" else kind
                files = " ".join(f"[{end[1:]}]({o}{end})" for end in record.KINDS[kind])
                rows.append([image, o.split("/")[1], files, tally(told.get(o, []))])
            lines += _table(["preview", "name", "files", "findings"], rows)
    return "\n".join(lines) + "\n"


def _findings(frame):
    head = """# Findings

Generated; the numbers are in [findings.csv](findings.csv).
"""
    verdicts = (
        "A verdict is computed: the measured number stands for an interval (three standard errors "
        "and its numerical error to either side), which lies among the values that agree, outside "
        "them, or across their border."
    )
    kinds = [f"*{kind}*: {says}." for kind, says in fnd.KINDS.items()]
    lines = [head, *_tally(frame), "", verdicts, "", *kinds]
    for key, part in frame.groupby("paper"):
        lines += ["", f"## {title(key)}", "", _about(key)]
        for kind in fnd.KINDS:
            mine = part[part.kind == kind]
            mine = mine.iloc[np.argsort([FIRST.get(v, 9) for v in mine.verdict], kind="stable")]
            if len(mine):
                heads = ["place", "what is said", "measured (agrees if)", "verdict", "see"]
                rows = [_row(entry) for entry in mine.to_dict("records")]
                lines += ["", f"### {kind}", "", *_table(heads, rows)]
    return "\n".join(lines) + "\n"


def _row(entry):
    number = f"{entry['quantity']}: {measured(entry)} ({entry['criterion']})"
    see = f"[{entry['figure'].split('/')[-1]}]({entry['shown']})" if entry["figure"] else ""
    cells = (entry["place"], entry["claim"], number, entry["verdict"], see)
    return [cell.replace("|", r"\|") for cell in cells]
