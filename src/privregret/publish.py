"""Figures, tables, numbers and findings on their way to `figures/` and `paper/`. Nothing here simulates.

Everything is written atomically, and the same data give the same bytes. `figures/manifest.json` records where
each output comes from; `findings.csv`, the findings' tables and `paper/numbers.tex` are made from it.
"""

import fcntl
import hashlib
import importlib.metadata
import io
import json
import os
import platform
import re
import sys
from contextlib import contextmanager
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from IPython import get_ipython
from IPython.display import HTML, Image, Markdown, display

from privregret import findings as fnd
from privregret import notebook, style
from privregret.jit import source_hash
from privregret.paths import PACKAGE, output_root

style.use()

KINDS = {"figure": (".pdf", ".png", ".csv", ".tex"), "table": (".csv", ".tex")}
LIBRARIES = ("numpy", "numba", "scipy", "pandas", "matplotlib", "seaborn")


def figure(fig, name: str, data: pd.DataFrame, caption: str) -> None:
    """Publish a figure as `figures/<name>.pdf`, `.png`, `.csv` (the numbers drawn) and `.tex` (a figure environment).

    Parameters
    ----------
    fig : matplotlib.figure.Figure
        Closed afterwards; in a notebook the PNG and the caption are shown.
    name : str
        Paper key, slash, name: "hu2021/figure-05".
    data : pandas.DataFrame
        The numbers in the figure.
    caption : str
        TeX; says what bands and markers mean.
    """
    pdf, png = io.BytesIO(), io.BytesIO()
    fig.savefig(pdf, format="pdf", metadata={"CreationDate": None, "Producer": None, "Creator": None})
    fig.savefig(png, format="png", metadata={"Software": None})
    plt.close(fig)
    tex = "\n".join(
        [
            r"\begin{figure}[htbp]",
            r"  \centering",
            rf"  \includegraphics{{{name}.pdf}}",
            rf"  \caption{{{_tex(caption)}}}",
            rf"  \label{{fig:{name}}}",
            r"\end{figure}",
        ]
    )
    _publish("figure", name, [pdf.getvalue(), png.getvalue(), _csv(data), _with_origin(tex)])
    if get_ipython():
        display(Image(png.getvalue(), width=int(fig.get_figwidth() * 130)), Markdown(f"*{name}.* {caption}"))


def table(frame: pd.DataFrame, name: str, caption: str, columns: dict, formats: dict | None = None) -> None:
    """Publish a table as `figures/<name>.csv` (all numbers) and `.tex` (booktabs, in a table environment).

    Parameters
    ----------
    frame : pandas.DataFrame
        One row a line.
    name : str
        Paper key, slash, name: "wu2026/table-1".
    caption : str
        TeX.
    columns : dict
        Which columns the printed table shows, in order, and their TeX headings.
    formats : dict, optional
        Format specifications of printed columns, such as {"regret": ".0f"}.
    """
    shown = frame[list(columns)].copy()
    for column, spec in (formats or {}).items():
        shown[column] = [format(value, spec) for value in shown[column]]
    shown = shown.rename(columns=columns)
    numeric = [pd.api.types.is_numeric_dtype(frame[column]) for column in columns]
    alignment = "".join("r" if right else "l" for right in numeric)
    tex = shown.to_latex(
        index=False, caption=_tex(caption), label=f"tab:{name}", position="htbp", column_format=alignment
    ).replace(r"\begin{table}[htbp]", "\\begin{table}[htbp]\n\\centering\\small")
    _publish("table", name, [_csv(frame), _with_origin(tex)])
    if get_ipython():
        display(HTML(shown.to_html(index=False)), Markdown(f"*{name}.* {caption}"))


def number(name: str, value: float, error: float = 0.0) -> None:
    r"""Publish a number as the macro `\name` in `paper/numbers.tex`, with the digits that its error supports."""
    if not re.fullmatch("[A-Za-z]+", name):
        raise ValueError(f"a macro's name has letters only, got {name!r}")
    with _manifest() as manifest:
        _refuse_clashes(manifest, notebook.current["name"], numbers=[name])
        mine = manifest["notebooks"].setdefault(notebook.current["name"], {})
        mine.setdefault("numbers", {})[name] = rf"\ensuremath{{{_tex_number(fnd.rounded(value, error))}}}"


def findings(rows: list[fnd.Finding]) -> None:
    """Publish the notebook's findings; they replace those of its last run."""
    with _manifest() as manifest:
        mine = manifest["notebooks"].setdefault(notebook.current["name"], {})
        mine["findings"] = [row.row() for row in rows]
    if get_ipython():
        lines = [
            f"| {r.where} | {r.claim} | {r.quantity}: **{_measured(r.value, r.error)}** ({r.criterion}) "
            f"| **{r.verdict}** |"
            for r in rows
        ]
        display(
            Markdown("\n".join(["| where | claim | measured (agrees if) | verdict |", "|---|---|---|---|", *lines]))
        )


def _publish(kind, name, contents):
    if not re.fullmatch(r"[a-z0-9]+/[a-z0-9.-]+", name):
        raise ValueError(f"a {kind}'s name is paper key, slash, name in small letters, got {name!r}")
    data = contents[KINDS[kind].index(".csv")]
    modules = {getattr(m, "__file__", None) for m in list(sys.modules.values())}
    with _manifest() as manifest:
        _refuse_clashes(manifest, notebook.current["name"], outputs=[name])
        for ending, content in zip(KINDS[kind], contents, strict=True):
            write(output_root() / "figures" / f"{name}{ending}", content)
        manifest["outputs"][name] = {
            "kind": kind,
            "notebook": notebook.current["name"],
            "parameters": notebook.current["parameters"],
            "seed": notebook.current["parameters"].get("seed"),
            "versions": {"python": platform.python_version()} | {p: importlib.metadata.version(p) for p in LIBRARIES},
            "sources": source_hash(p for p in PACKAGE.rglob("*.py") if str(p) in modules),
            "data": hashlib.sha256(data).hexdigest(),
        }


def write(path: Path, content: bytes) -> None:
    """Write a file so that a killed run leaves the old one or the new one, never half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_bytes(content)
    os.replace(partial, path)


def read_manifest(root: Path) -> dict:
    """The manifest of the outputs below `root`; empty if there is none."""
    path = root / "figures" / "manifest.json"
    return json.loads(path.read_text()) if path.exists() else {"notebooks": {}, "outputs": {}}


@contextmanager
def _manifest(root: Path | None = None):
    """The manifest, to change it: no other process does so meanwhile, and all that is made from it is renewed."""
    root = root or output_root()
    (root / "figures").mkdir(parents=True, exist_ok=True)
    with open(root / "figures" / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        manifest = read_manifest(root)
        yield manifest
        write(root / "figures" / "manifest.json", (json.dumps(manifest, indent=1, sort_keys=True) + "\n").encode())
        _renew(root, manifest)


def _refuse_clashes(manifest, name, outputs=(), numbers=()):
    """Two notebooks must not publish under one name: the last to run would win."""
    taken = {n: owner for owner, entry in manifest["notebooks"].items() for n in entry.get("numbers", {})}
    taken |= {output: entry["notebook"] for output, entry in manifest["outputs"].items()}
    for wanted in (*outputs, *numbers):
        if taken.get(wanted, name) != name:
            raise ValueError(f"{wanted} is already published by {taken[wanted]}")


def adopt(staged: Path, root: Path, name: str) -> None:
    """Move all that notebook `name` has published below `staged` to `root`, in place of what it had there."""
    new = read_manifest(staged)
    with _manifest(root) as manifest:
        _refuse_clashes(manifest, name, new["outputs"], new["notebooks"].get(name, {}).get("numbers", {}))
        for old in [o for o, entry in manifest["outputs"].items() if entry["notebook"] == name]:
            entry = manifest["outputs"].pop(old)
            if old not in new["outputs"]:
                for ending in KINDS[entry["kind"]]:
                    (root / "figures" / f"{old}{ending}").unlink(missing_ok=True)
        for output, entry in new["outputs"].items():
            for ending in KINDS[entry["kind"]]:
                write(root / "figures" / f"{output}{ending}", (staged / "figures" / f"{output}{ending}").read_bytes())
        manifest["outputs"] |= new["outputs"]
        manifest["notebooks"][name] = new["notebooks"].get(name, {})


def findings_frame(manifest: dict) -> pd.DataFrame:
    """All findings of a manifest, one a row."""
    entries = sorted(manifest["notebooks"].items())
    rows = [{"notebook": n, **row} for n, entry in entries for row in entry.get("findings", [])]
    columns = ["notebook", "where", "claim", "quantity", "value", "error", "low", "high", "criterion", "verdict"]
    return pd.DataFrame(rows, columns=columns)


def _renew(root, manifest):
    frame = findings_frame(manifest)
    frame["paper"] = frame.notebook.str.split("/").str[0]
    write(root / "figures" / "findings.csv", _csv(frame.drop(columns="paper")))
    for paper, rows in frame.groupby("paper"):
        write(root / "figures" / paper / "findings.tex", _findings_tex(rows))
    macros = {n: v for entry in manifest["notebooks"].values() for n, v in entry.get("numbers", {}).items()}
    lines = [rf"\newcommand{{\{n}}}{{{v}}}" for n, v in sorted(macros.items())]
    write(root / "paper" / "numbers.tex", ("\n".join(["% Generated; do not edit.", *lines]) + "\n").encode())
    readme = root / "README.md"
    if readme.exists():
        old = readme.read_text()
        block = re.compile(r"(<!-- findings -->\n).*?(<!-- end of findings -->)", re.S)
        new = block.sub(lambda m: m[1] + _findings_markdown(frame) + m[2], old)
        if new != old:
            write(readme, new.encode())


def _findings_markdown(frame):
    counts = frame.groupby(["paper", "verdict"]).size().unstack(fill_value=0)
    verdicts = [fnd.REPRODUCED, fnd.NOT_REPRODUCED, fnd.UNDECIDED]
    counts = counts.reindex(columns=verdicts, fill_value=0)
    lines = ["| paper | " + " | ".join(verdicts) + " |", "|---|---|---|---|"]
    lines += [
        f"| {paper} | " + " | ".join(map(str, row)) + " |"
        for paper, row in zip(counts.index, counts.values, strict=True)
    ]
    failed = frame[frame.verdict == fnd.NOT_REPRODUCED]
    if len(failed):
        lines += ["", f"<details><summary>The {len(failed)} that do not reproduce</summary>", ""]
        lines += [
            f"- *{r.paper}, {r.where}*: {r.claim} {r.quantity}: {_measured(r.value, r.error)}; "
            f"it would agree if {r.criterion}."
            for r in failed.itertuples()
        ]
        lines += ["", "</details>"]
    return "\n".join(lines) + "\n"


def _findings_tex(rows):
    widths = (0.12, 0.39, 0.27, 0.14)
    lines = [
        r"\begin{longtable}{@{}"
        + "".join(rf">{{\raggedright\arraybackslash}}p{{{w}\linewidth}}" for w in widths)
        + "@{}}",
        r"\toprule Where & Claim & Measured (agrees if) & Verdict \\ \midrule \endhead",
    ]
    for r in rows.itertuples():
        measured = f"{r.quantity}: {_measured(r.value, r.error, tex=True)} ({r.criterion})"
        lines.append(" & ".join(map(_tex, [r.where, r.claim, measured, r.verdict])) + r" \\")
    return ("\n".join([*lines, r"\bottomrule", r"\end{longtable}"]) + "\n").encode()


def _measured(value, error, tex=False):
    if tex:
        parts = [fnd.rounded(value, error), fnd.rounded(error, error)] if error else [fnd.rounded(value)]
        return "$" + r" \pm ".join(map(_tex_number, parts)) + "$"
    return fnd.rounded(value, error) + (f" ± {fnd.rounded(error, error)}" if error else "")


def _tex_number(text):
    return re.sub(r"e([+-])0*(\d+)", lambda m: rf"\cdot 10^{{{m[1].strip('+')}{m[2]}}}", text)


def _tex(text):
    return re.sub(r"(?<!\\)([%&#])", r"\\\1", text)


def _with_origin(tex):
    origin = (
        f"% From notebooks/{notebook.current['name']}.ipynb. Paths are relative to figures/ (see \\graphicspath).\n"
    )
    return (origin + tex.rstrip() + "\n").encode()


def _csv(frame):
    return frame.to_csv(index=False, float_format="%.12g", lineterminator="\n").encode()
