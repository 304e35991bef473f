"""The record of what is published: where each output comes from, and what is made from all of them together.

`figures/manifest.json` holds, for every figure and table, the notebook, parameters and sources behind it and a hash of
each of its files; and every notebook's findings and numbers. `figures/findings.csv`, `figures/findings.md`, the
findings and verdicts in TeX, `paper/numbers.tex` and the README's block are rendered from it.
"""

import json
import re
from collections import Counter
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

import numpy as np
import pandas as pd

from privregret.estimates import rounded
from privregret.files import digest, locked, write
from privregret.press import findings as fnd
from privregret.press.papers import PAPERS, title, version

KINDS = {"figure": (".pdf", ".png", ".csv", ".tex"), "table": (".csv", ".tex")}
TOLERANCE = 1e-9  # relative: less than this is rounding, which differs between processors
COLUMNS = [
    "notebook", "kind", "place", "version", "claim", "quantity", "value", "error", "numerical_error", "low", "high",
    "criterion", "verdict", "figure",
]  # fmt: skip


class Damaged(ValueError):
    """A manifest that cannot be used."""


def empty() -> dict:
    """A manifest of nothing."""
    return {"notebooks": {}, "outputs": {}}


def read(root: Path) -> dict:
    """The manifest of the outputs below `root`; empty if there is none.

    Raises
    ------
    Damaged
        In one line that names the file.
    """
    path = root / "figures" / "manifest.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        entries = (*manifest["notebooks"].values(), *manifest["outputs"].values())
        if not all(isinstance(entry, dict) for entry in entries):
            raise ValueError
    except FileNotFoundError:
        return empty()
    except (ValueError, TypeError, KeyError, AttributeError, OSError):
        raise Damaged(f"{path} is damaged") from None
    return manifest


def read_whole(root: Path) -> dict:
    """As `read`, but a manifest from which not all can be made that is made from it counts as damaged, too."""
    manifest = read(root)
    try:
        rendered(manifest)
    except Exception:  # an entry without its notebook, a number that is a word
        raise Damaged(f"{root / 'figures' / 'manifest.json'} is damaged") from None
    return manifest


def still(root: Path):
    """No other process writes below `root` meanwhile."""
    return locked(root / "figures" / ".lock")


@contextmanager
def changing(root: Path):
    """The manifest below `root`, to change it: no other process does so meanwhile. A damaged one is started anew."""
    with still(root):
        try:
            manifest = read(root)
        except Damaged:
            manifest = empty()
        yield manifest
        write(root / "figures" / "manifest.json", (json.dumps(manifest, indent=1, sort_keys=True) + "\n").encode())


def refuse_clashes(manifest, name, outputs=(), numbers=()):
    """Two notebooks must not publish under one name: the last to run would win."""
    taken = {n: owner for owner, entry in manifest["notebooks"].items() for n in entry.get("numbers", {})}
    taken |= {output: entry["notebook"] for output, entry in manifest["outputs"].items()}
    for wanted in (*outputs, *numbers):
        if taken.get(wanted, name) != name:
            raise ValueError(f"{wanted} is already published by {taken[wanted]}")


def of_notebook(manifest: dict, name: str) -> dict:
    """What a manifest says of one notebook: its outputs' files, findings and numbers."""
    outputs = {o: entry for o, entry in manifest["outputs"].items() if entry.get("notebook") == name}
    return {"outputs": outputs, "notebook": manifest["notebooks"].get(name, {})}


# Adoption -----------------------------------------------------------------------------------------------------


def adopt(staged: Path, root: Path, name: str, origin: dict) -> None:
    """Move all that notebook `name` has published below `staged` to `root`, in place of what it had there.

    A published output stays as it is if its numbers agree with the new ones to within rounding and their own error,
    and nothing else about it changed: another processor must not rewrite files that say the same.

    Parameters
    ----------
    origin : dict
        What else the outputs depend on (hashes of the notebook's code and of the lock); kept in their entries.
    """
    new = read(staged)
    with changing(root) as manifest:
        refuse_clashes(manifest, name, new["outputs"], new["notebooks"].get(name, {}).get("numbers", {}))
        had = {o: e for o, e in manifest["outputs"].items() if e["notebook"] == name}
        for gone in set(had) - set(new["outputs"]):
            del manifest["outputs"][gone]
            for ending in KINDS[had[gone]["kind"]]:
                (root / "figures" / f"{gone}{ending}").unlink(missing_ok=True)
        for output, entry in new["outputs"].items():
            entry |= origin
            old = had.get(output)
            if old and _says_the_same(root, old, staged, entry, output):
                same_origin = all(old.get(key) == entry[key] for key in (*origin, "parameters", "sources"))
                kept = ("files", "versions") if same_origin else ("files",)
                manifest["outputs"][output] = entry | {key: old[key] for key in kept if key in old}
                continue
            for ending in KINDS[entry["kind"]]:
                content = (staged / "figures" / f"{output}{ending}").read_bytes()
                write(root / "figures" / f"{output}{ending}", content)
            manifest["outputs"][output] = entry
        before, after = (m["notebooks"].get(name, {}) for m in (manifest, new))
        manifest["notebooks"][name] = before if not record_difference(before, after) else after
    render(root)


def _says_the_same(root, old, staged, new, output):
    """Whether a published output is whole and differs from the new one by rounding at most."""
    kept, fresh = (Path(r) / "figures" / output for r in (root, staged))
    if old["kind"] != new["kind"] or set(old.get("files", ())) != set(new["files"]):
        return False
    for ending, hashed in old["files"].items():
        path = Path(f"{kept}{ending}")
        if not path.exists() or digest(path.read_bytes()) != hashed:
            return False
    if old["files"][".tex"] != new["files"][".tex"] and new["kind"] == "figure":
        return False
    if first_difference(output, *(pd.read_csv(f"{path}.csv") for path in (kept, fresh))):
        return False
    if old["files"].get(".png") == new["files"].get(".png") and new["kind"] == "figure":
        return True  # it looks the same, whatever made it
    return all(old.get(key) == new.get(key) for key in ("parameters", "sources", "code", "lock"))


def first_difference(name: str, kept: pd.DataFrame, fresh: pd.DataFrame) -> list[str]:
    """One line that names the first number that moved, or nothing.

    A number may move by a relative 1e-9, and by the numerical error that the data carry for it: of a column x that of
    `x_error`, or of `error` beside a column `regret`. Errors themselves may change up to a factor of two.
    """
    if list(kept.columns) != list(fresh.columns) or len(kept) != len(fresh):
        return [f"{name}: {len(kept)} rows of {list(kept.columns)} became {len(fresh)} rows of {list(fresh.columns)}"]
    for column in kept.columns:
        a, b = kept[column], fresh[column]
        numeric = all(pd.api.types.is_numeric_dtype(c) for c in (a, b))
        if numeric and not all(pd.api.types.is_integer_dtype(c) for c in (a, b)):
            a, b = a.to_numpy(float), b.to_numpy(float)
            size = np.maximum(np.abs(a), np.abs(b))
            if column == "error" or column.endswith("_error"):
                allowed = np.maximum(size / 2, 1e-12)
            else:
                allowed = TOLERANCE * size
                companion = "error" if column == "regret" else f"{column}_error"
                if companion in kept:
                    allowed = allowed + kept[companion].to_numpy(float) + fresh[companion].to_numpy(float)
            same = (a == b) | (np.isnan(a) & np.isnan(b))
            finite = np.isfinite(a) & np.isfinite(b)
            same[finite] |= np.abs(a[finite] - b[finite]) <= allowed[finite]
        else:
            same = ((a == b) | (a.isna() & b.isna())).to_numpy()
        if not np.all(same):
            row = int(np.argmin(same))
            return [f"{name}, row {row + 1}, {column}: {kept[column].iloc[row]} became {fresh[column].iloc[row]}"]
    return []


def record_difference(kept: dict, fresh: dict, name: str = "") -> list[str]:
    """One line that names the first of a notebook's findings or numbers that moved; as `first_difference`."""
    for what, frame in (("finding", _findings_rows), ("number", _number_rows)):
        one, other = (frame(record) for record in (kept, fresh))
        difference = first_difference(f"{what}s of {name}", one, other)
        if difference:
            return difference
    return []


def _findings_rows(record):
    columns = [c for c in (*COLUMNS, "headline") if c not in ("notebook", "version")]
    rows = pd.DataFrame(record.get("findings", []), columns=columns)
    rows = rows.rename(columns={"error": "se", "numerical_error": "value_error"})
    return rows.astype(dict.fromkeys(("value", "se", "value_error", "low", "high"), float))


def _number_rows(record):
    rows = pd.DataFrame(record.get("numbers", {}).values(), index=record.get("numbers", {}).keys())
    return rows.rename(columns={"error": "se", "numerical_error": "value_error"}).reset_index(names="name")


# What is made from the manifest -------------------------------------------------------------------------------


def findings_frame(manifest: dict) -> pd.DataFrame:
    """All findings of a manifest, one a row, in the order of the notebooks."""
    entries = sorted(manifest["notebooks"].items())
    rows = [{"notebook": n, **row} for n, entry in entries for row in entry.get("findings", [])]
    frame = pd.DataFrame(rows, columns=[*COLUMNS, "headline"])
    frame["version"] = [version(n.split("/")[0]) for n in frame.notebook]
    return frame


def rendered(manifest: dict) -> dict[str, str]:
    """What the manifest says to readers: path below the root -> text; for the README, its generated block."""
    frame = findings_frame(manifest)
    kinds = {output: entry["kind"] for output, entry in manifest["outputs"].items()}
    frame["shown"] = [f"{f}.png" if kinds.get(f) == "figure" else f"{f}.csv" if f else "" for f in frame.figure]
    paper = frame.notebook.str.split("/").str[0]
    texts = {"figures/findings.csv": frame[COLUMNS].to_csv(index=False, float_format="%.12g", lineterminator="\n")}
    texts["figures/findings.md"] = _findings_page(frame)
    texts["figures/README.md"] = _index_page(manifest, frame)
    texts["figures/verdicts.tex"] = _verdicts_tex(frame)
    texts |= {f"figures/{key}/findings.tex": _findings_tex(key, rows) for key, rows in frame.groupby(paper)}
    numbers = sorted((n, e) for entry in manifest["notebooks"].values() for n, e in entry.get("numbers", {}).items())
    lines = [
        rf"\newcommand{{\{n}}}{{\ensuremath{{{tex_number(rounded(e['value'], _reach(e)))}}}}}"
        f" % {e['meaning']}, {measured(e)}"
        for n, e in numbers
    ]
    texts["paper/numbers.tex"] = "\n".join(["% Generated; do not edit.", *lines]) + "\n"
    texts["README.md"] = _first_page(frame)
    return texts


def differing(root: Path) -> dict[str, str]:
    """Which of the rendered files are not what the manifest says: path -> what they should be."""
    texts = rendered(read(root))
    return {path: text for path, text in texts.items() if _current(root, path) not in (text, None)}


def render(root: Path) -> None:
    """Write all that is made from the manifest below `root`, where it differs."""
    with still(root):
        for path, text in differing(root).items():
            if path == "README.md":
                old = (root / path).read_text(encoding="utf-8")
                text = BLOCK.sub(lambda m, new=text: m[1] + new + m[3], old)
            write(root / path, text.encode())


BLOCK = re.compile(r"(<!-- findings -->\n)(.*?)(<!-- end of findings -->)", re.S)


def _current(root, path):
    """What stands in a rendered file now; "" if it is not there, None for a README without the block."""
    if path == "README.md":
        found = BLOCK.search((root / path).read_text(encoding="utf-8")) if (root / path).exists() else None
        return found[2] if found else None
    try:
        return (root / path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _tally(frame):
    """Markdown: how many claims of each paper reproduce, and beside them the steps of proofs and what is ours."""
    heads = [
        "paper",
        *fnd.VERDICTS[fnd.CLAIM],
        "steps of proofs: hold, do not, undecided",
        "ours: hold, do not, undecided",
    ]
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * 5]
    papers = frame.notebook.str.split("/").str[0]
    for name, rows in [*frame.groupby(papers.map(title)), ("all", frame)]:
        count = rows.groupby(["kind", "verdict"]).size()
        claims, steps, ours = ([str(count.get((kind, v), 0)) for v in fnd.VERDICTS[kind]] for kind in fnd.KINDS)
        lines.append("| " + " | ".join([name, *claims, ", ".join(steps), ", ".join(ours)]) + " |")
    return "\n".join(lines)


def _first_page(frame):
    told = [
        f"- {headline(r._asdict())} ([{r.notebook.split('/')[0]}, {r.place}](figures/{r.shown}))"
        for r in frame[frame.headline != ""].itertuples()
    ]
    return "\n".join([*told, "", _tally(frame), ""])


def headline(entry: dict) -> str:
    """The sentence of a finding for the first page; empty if it has none."""
    return entry["headline"].format(value=rounded(entry["value"], _reach(entry)))


def tally(findings: list[dict]) -> str:
    """How many findings have which verdict, in words."""
    count = Counter(f["verdict"] for f in findings)
    known = dict.fromkeys(v for verdicts in fnd.VERDICTS.values() for v in verdicts)
    many = {fnd.HOLDS: "hold", fnd.FAILS: "do not hold"}
    words = {v: v if count[v] == 1 else many.get(v, v) for v in known}
    return ", ".join(f"{count[v]} {words[v]}" for v in known if v in count)


def _index_page(manifest, frame):
    """Markdown: all figures and tables by paper and notebook, as a host of code shows them."""
    lines = ["# Figures and tables", "", "Generated. What was found in them: [findings.md](findings.md)."]
    outputs = sorted(manifest["outputs"].items(), key=lambda item: (item[1]["notebook"], item[0]))
    told_by = {}
    for row in frame.to_dict("records"):
        told_by.setdefault(row["figure"], []).append(row)
    for key, mine in groupby(outputs, lambda item: item[1]["notebook"].split("/")[0]):
        lines += ["", f"## {title(key)}", "", _about(key)]
        for name, entries in groupby(mine, lambda item: item[1]["notebook"]):
            section = name.split("/")[1].replace("-", " ")
            lines += ["", f"### [{section}](../notebooks/{name}.ipynb)", ""]
            lines += ["| | name | files | findings |", "|---|---|---|---|"]
            for output, entry in entries:
                image = f'<img src="{output}.png" width="240" alt="{output}">' if entry["kind"] == "figure" else "table"
                files = " ".join(f"[{ending[1:]}]({output}{ending})" for ending in KINDS[entry["kind"]])
                told = tally(told_by.get(output, []))
                lines.append(f"| {image} | {output.split('/')[1]} | {files} | {told} |")
    return "\n".join(lines) + "\n"


def _about(key):
    paper = PAPERS.get(key)
    return f"{paper.cited}: *{paper.title}*." if paper else "What goes beyond the five papers."


def _findings_page(frame):
    lines = ["# Findings", "", "Generated; the numbers are in [findings.csv](findings.csv).", "", _tally(frame), ""]
    lines += [
        "A verdict is computed: the measured number stands for an interval (three standard errors and its numerical "
        "error to either side), which lies among the values that agree, outside them, or across their border.",
        "",
        *(f"*{kind}*: {says}." for kind, says in fnd.KINDS.items()),
    ]
    for key, rows in frame.groupby(frame.notebook.str.split("/").str[0]):
        lines += ["", f"## {title(key)}", "", _about(key)]
        for kind in fnd.KINDS:
            mine = rows[rows.kind == kind]
            if not len(mine):
                continue
            order = {v: i for i, v in enumerate((fnd.NOT_REPRODUCED, fnd.FAILS, fnd.UNDECIDED))}
            mine = mine.iloc[np.argsort([order.get(v, 9) for v in mine.verdict], kind="stable")]
            lines += ["", f"### {kind}", "", "| place | what is said | measured (agrees if) | verdict | see |"]
            lines += ["|---|---|---|---|---|"]
            for r in mine.itertuples():
                number = f"{r.quantity}: {measured(r._asdict())} ({r.criterion})"
                see = f"[{r.figure.split('/')[-1]}]({r.shown})" if r.figure else ""
                cells = (r.place, r.claim, number, r.verdict, see)
                lines.append("| " + " | ".join(str(c).replace("|", r"\|") for c in cells) + " |")
    return "\n".join(lines) + "\n"


# How findings look in TeX: a list that breaks across columns and pages, coloured where xcolor is loaded. A document
# that wants them otherwise defines these commands first. And cells of running text, whose \\ must stay the row's end.
_COMMANDS = r"""
\providecommand{\agrees}[1]{\textit{\ifcsname colorlet\endcsname\color{green!40!black}\fi #1}}
\providecommand{\disagrees}[1]{\textbf{\ifcsname colorlet\endcsname\color{red!75!black}\fi #1}}
\providecommand{\undecided}[1]{\textbf{\ifcsname colorlet\endcsname\color{orange!80!black}\fi #1}}
\providecommand{\finding}[4]{\par\noindent\hangindent=1em \textbf{#1.} #2 \textit{#3}%
  \unskip\nobreak\hfill\penalty50\hskip1em\null\nobreak\hfill\mbox{#4}\par}
""".lstrip()
_RAGGED = r"\rightskip0pt plus1fil\hspace{0pt}"


def _findings_tex(key, rows):
    paper = PAPERS.get(key)
    about = paper.cited if paper else "what goes beyond the five papers"
    lines = [
        r"% Generated. Needs amssymb; colours with xcolor. Not a float: it breaks across columns and pages.",
        _COMMANDS + r"\begingroup\raggedright\scriptsize",
        r"\makeatletter\def\@captype{table}\makeatother",
        rf"\caption{{Findings on {about}: what is said, \textit{{what was measured}} (what would have agreed), and the "
        r"verdict. What is not a claim of the paper is marked as a step of a proof or as ours.}",
        rf"\label{{tab:{key}/findings}}\smallskip",
    ]
    for r in rows.itertuples():
        number = f"{_number_tex(r)}."
        kind = "" if r.kind == fnd.CLAIM else f" ({r.kind})"
        cells = (r.place + kind, r.claim, number, _verdict_tex(r))
        lines.append(r"\finding" + "".join(f"{{{tex_escape(cell)}}}" for cell in cells))
    return "\n".join([*lines, r"\endgroup"]) + "\n"


def _number_tex(row):
    criterion = re.sub(r"\S+e[+-]\d+", lambda m: f"${tex_number(m[0])}$", row.criterion)
    return f"{row.quantity}: {measured(row._asdict(), tex=True)} ({criterion})"


def _verdict_tex(row):
    command = (r"\agrees", r"\disagrees", r"\undecided")[fnd.VERDICTS[row.kind].index(row.verdict)]
    return f"{command}{{{row.verdict}}}"


def _verdicts_tex(frame):
    """The tally as a table, and below it the claims that do not reproduce."""
    papers = frame.notebook.str.split("/").str[0]
    names = {key: p.cited for key, p in PAPERS.items()}
    order = {key: i for i, key in enumerate(PAPERS)}
    failed = frame[frame.verdict == fnd.NOT_REPRODUCED]
    failed = failed.iloc[np.argsort([order.get(key, len(order)) for key in papers[failed.index]], kind="stable")]
    lines = [
        r"% Generated. Needs booktabs; colours with xcolor.",
        _COMMANDS + r"\begin{table*}[htbp]",
        r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
        r"\caption{All verdicts. Yes: the claim is reproduced, the step of a proof or what is ours holds. No: it is "
        r"not reproduced, does not hold. ?: the error of the measured number leaves it open. Below, each claim that "
        r"does not reproduce.}",
        r"\label{tab:verdicts}",
        r"\begin{tabular}{@{}p{0.44\linewidth}*{9}{r}@{}}",
        r"\toprule",
        " & " + " & ".join(rf"\multicolumn{{3}}{{c}}{{{kind}}}" for kind in ("claims", "steps", "ours")) + r" \\",
        r"\cmidrule(lr){2-4}\cmidrule(lr){5-7}\cmidrule(l){8-10}",
        "paper" + " & yes & no & ?" * 3 + r" \\",
    ]
    keys = [key for key in PAPERS if key in set(papers)]
    groups = [(names[key], frame[papers == key]) for key in keys]
    groups += [("what goes beyond the papers", frame[~papers.isin(keys)]), ("all", frame)]
    for name, rows in groups:
        count = rows.groupby(["kind", "verdict"]).size()
        cells = [str(count.get((kind, v), 0)) for kind in fnd.KINDS for v in fnd.VERDICTS[kind]]
        rule = r"\midrule " if name in (groups[0][0], "all") else ""
        lines.append(rule + _RAGGED + " & ".join([name, *cells]) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}", ""]
    if len(failed):
        lines += [
            r"\medskip",
            r"\begin{tabular}{@{}p{0.19\linewidth}p{0.43\linewidth}p{0.33\linewidth}@{}}",
            r"\toprule \disagrees{not reproduced} & what is said & measured (agrees if) \\ \midrule",
        ]
        for r in failed.itertuples():
            key = r.notebook.split("/")[0]
            place = f"{PAPERS[key].cited if key in PAPERS else key}, {r.place}"
            lines.append(" & ".join(_RAGGED + tex_escape(cell) for cell in (place, r.claim, _number_tex(r))) + r" \\")
        lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join([*lines, r"\end{table*}"]) + "\n"


def _reach(entry):
    """The error that decides how many digits are shown; a numerical one only if it is seen in four of them."""
    if entry["error"] == 0 and entry["numerical_error"] < 1e-4 * abs(entry["value"]):
        return 0.0
    return entry["error"] + entry["numerical_error"]


def measured(entry, tex: bool = False) -> str:
    """A number of the manifest with its standard error, or the bound on its numerical error if it is not random."""
    error = _reach(entry)
    parts = [rounded(entry["value"], error)]
    if error > TOLERANCE * abs(entry["value"]) and np.isfinite(error):
        parts.append(rounded(error, error))
    return "$" + r" \pm ".join(map(tex_number, parts)) + "$" if tex else " ± ".join(parts)


def tex_number(text: str) -> str:
    """A printed number with its power of ten in TeX."""
    return re.sub(r"e([+-])0*(\d+)", lambda m: rf"\cdot 10^{{{m[1].strip('+')}{m[2]}}}", text)


def one_epsilon(text: str) -> str:
    r"""TeX with the epsilon that figures have: their fonts know no other than `\varepsilon`."""
    return text.replace(r"\epsilon", r"\varepsilon")


def tex_escape(text: str) -> str:
    """Text with TeX mathematics, its per cent and other signs made harmless, and `code` as such."""
    plain = re.sub(r"(?<!\\)([%&#])", r"\\\1", one_epsilon(text))
    return re.sub("(?<!`)`([^`']+)`", r"\\texttt{\1}", plain)
