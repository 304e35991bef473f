"""What notebooks call to publish: a figure, a table, a number, a finding.

All is written atomically below `notebook.output_root()`; the same data give the same bytes.
"""

import io
import math
import os
import platform
import re
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
import PIL.Image
from IPython import get_ipython
from IPython.display import HTML, Image, Markdown, display

from privregret import estimates
from privregret.core import files
from privregret.estimates import Estimate, exactly
from privregret.press import notebook, record, render, style, text
from privregret.press.findings import CLAIM, SIGNS, Finding, criterion, numbers_of
from privregret.press.notebook import output_root
from privregret.press.papers import PAPERS
from privregret.press.record import KINDS
from privregret.press.tex import integer as integer
from privregret.press.tex import measured as printed
from privregret.press.tex import one_epsilon, power

style.use()

MARK = r"$^\dagger$"
LIBRARIES = ("numpy", "numba", "scipy", "pandas", "matplotlib", "seaborn")


def figure(fig: plt.Figure, data: pd.DataFrame, key: str, **names: Any) -> None:
    """Publish a figure, and close it: `figures/<paper>/<key>.pdf`, `.png`, `.csv` (the numbers
    drawn) and `.tex`, with the caption `[figure.KEY]`, whose slots `names` fill as well.

    Keys have small letters, digits, dots and hyphens, columns letters, digits and underscores.
    In a run by hand a key that the texts do not have gives an empty caption, otherwise a TextError;
    ValueError for a caption that does not stand alone.
    """
    name, caption = _name(key), _text("figure", key, names)["caption"]
    pdf, png = io.BytesIO(), io.BytesIO()
    # one layout for both files: with any engine, one that does nothing too, each would draw the
    # figure once more
    with plt.rc_context({"figure.constrained_layout.use": False}):
        if engine := fig.get_layout_engine():
            engine.execute(fig)
        fig.set_layout_engine(None)
        undated = dict.fromkeys(("CreationDate", "Producer", "Creator"))
        fig.savefig(pdf, format="pdf", metadata=undated | {"Title": name})
        _few_colours(fig).save(png, "png", compress_level=6, dpi=(style.DPI, style.DPI))
    plt.close(fig)
    inches = fig.get_figwidth()
    star = "*" if inches > 1.1 * style.COLUMN[0] else ""
    tex = _tex("figure", name, caption, star=star, inches=f"{inches:g}")
    contents = [pdf.getvalue(), png.getvalue(), _csv(data), tex]
    _publish("figure", name, caption, contents)
    _show(Image(png.getvalue(), width=int(inches * 130)), name, caption)


def table(
    frame: pd.DataFrame,
    key: str,
    columns: dict[str, str] | None = None,
    formats: dict[str, str] | None = None,
    **names: Any,
) -> None:
    """Publish a table: `figures/<paper>/<key>.csv` (all numbers) and `.tex`, with the texts
    `[table.KEY]`; keys, names and errors as in `figure`.

    Here or in the texts are `columns`, those printed with their TeX headings (all if the key has no
    texts), and `formats`, such as {"regret": ".0f"}; in the texts `widths` of running text, as
    fractions of the line. A column `heavy`, as `estimates.means` makes it, marks entries of `mean`.
    """
    name, said = _name(key), _text("table", key, names)
    caption, widths = said["caption"], said.get("widths", {})
    spare = {} if caption else {c: c.replace("_", " ") for c in frame}
    if not (columns := columns or said.get("columns", spare)):
        raise text.TextError(f"[table.{key}] has no columns")
    shown = frame[list(columns)].copy()
    for column, spec in (formats or said.get("formats", {})).items():
        shown[column] = [_cell(v, spec) for v in shown[column]]
    if "mean" in shown and frame.get("heavy", pd.Series(dtype=bool)).any():
        means = zip(shown["mean"], frame.heavy, strict=True)
        shown["mean"] = [f"{mean}{MARK if heavy else ''}" for mean, heavy in means]
        caption += f" {MARK}: rare runs decide this mean, and its error is not known."
    # \raggedright would change the row's end, and without the space a first word would not be
    # hyphenated
    ragged = {c: r"\rightskip0pt plus1fil\hspace{0pt}" for c in widths}
    running = shown.assign(**{c: [r + words for words in shown[c]] for c, r in ragged.items()})
    headings = {c: ragged.get(c, "") + heading for c, heading in columns.items()}
    kinds = {c: "r" if pd.api.types.is_numeric_dtype(frame[c]) else "l" for c in columns}
    # the rest is between columns
    stretch = 0.92 / sum(widths.values()) if set(widths) == set(columns) else 1.0
    kinds |= {c: rf"p{{{stretch * width:.3g}\linewidth}}" for c, width in widths.items()}
    form = f"@{{}}{''.join(kinds.values())}@{{}}"
    rows = running.rename(columns=headings).to_latex(index=False, column_format=form)
    if widths:
        rows = re.sub(r" \\\\\n(?!\\(mid|bottom))", r"\g<0>\\addlinespace\n", rows)
    shown = shown.rename(columns=columns)
    star = "*" if widths or _is_wide(shown) else ""
    rows = one_epsilon(rows).rstrip()
    tex = _tex("table", name, caption, star=star, running=bool(widths), rows=rows)
    _publish("table", name, caption, [_csv(frame), tex])
    _show(HTML(shown.to_html(index=False)), name, caption)


def _cell(value, spec):
    """A formatted number; a minus sign, a power of ten and infinity as formulas."""
    if pd.isna(value) or value == math.inf:
        return "" if pd.isna(value) else r"$\infty$"
    said = format(value, spec)
    return f"${power(said)}$" if re.match("-|.*e[-+]", said) else said


def _is_wide(shown):
    """Whether a table in small type, five points a sign, exceeds a column; a command is a sign."""
    texts = [[re.sub(r"\\[A-Za-z]+|[\\{}$^_]", "", str(t)) for t in (c, *shown[c])] for c in shown]
    return sum(5 * max(map(len, column)) + 12 for column in texts) > 72 * style.COLUMN[0]


def _show(output, name, caption):
    if get_ipython():
        display(output, Markdown(f"*{name}.* {one_epsilon(caption)}"))


def number(name: str, value, meaning: str) -> None:
    r"""Publish a number or an estimate as the macro `\name` (letters only) in `paper/numbers.tex`,
    with the digits that its error supports, and next to it what it means."""
    if not re.fullmatch("[A-Za-z]+", name):
        raise ValueError(f"a macro's name has letters only, got {name!r}")
    with _changing() as (manifest, mine):
        record.refuse_clashes(manifest, notebook.current.name, [name])
        entry = numbers_of(exactly(value)) | {"meaning": meaning}
        mine.setdefault("numbers", {})[name] = entry


def verdict(key: str, measured: Estimate | float, **names: Any) -> Finding:
    """Publish the finding `[claim.KEY]` of the notebook's texts, and show it."""
    return _judge(key, [exactly(measured)], [{}], names)


def verdicts(key: str, frame: pd.DataFrame, measured: str = "measured", **names: Any) -> Finding:
    """Publish one finding about all rows of a frame, of which the worst decides: `measured` has
    estimates, or numbers with columns `_se` and `_error`; `rows` of the texts say where."""
    shown = text.entry(notebook.current.texts, "claim", key).get("rows", [])
    numbers = list(frame[measured])
    if not any(isinstance(number, Estimate) for number in numbers):
        numbers = estimates.rows(frame, measured)
    where = frame[shown].to_dict("records") if shown else [{}] * len(frame)
    return _judge(key, list(map(exactly, numbers)), where, names)


def _judge(key, numbers, where, names):
    """Judge all numbers by one criterion; the worst is the finding's."""
    said = _text("claim", key, names | {"value": "\0"})
    form = {f: said.pop(f) for f in (*SIGNS, "within") if f in said}
    agrees = criterion(**{f: float(v) if isinstance(v, str) else v for f, v in form.items()})
    macro, _ = said.pop("macro", ""), said.pop("rows", None)
    shown = notebook.current.shown
    if "figure" in said:  # empty: none
        shown = said["figure"] and _name(said["figure"])
    headline = re.sub("[{}]", r"\g<0>\g<0>", said.get("headline", ""))
    said["headline"] = headline.replace("\0", "{value}")
    worst = agrees.worst(numbers)
    rows = [w | {"measured": printed(numbers_of(n))} for w, n in zip(where, numbers, strict=True)]
    more = {"key": key, "rows": tuple(rows) if len(rows) > 1 else ()}
    measured = numbers[worst]
    found = Finding(measured=measured, criterion=agrees, **said | more | {"figure": shown})
    with _changing() as (_, mine):
        kept = mine.setdefault("findings", [])
        kept[:] = [row for row in kept if row["key"] != key]
        kept.append(found.row())
    macros = macro if isinstance(macro, dict) else {macro: {}} if macro else {}
    for name, at in macros.items():
        one = [n for w, n in zip(where, numbers, strict=True) if at.items() <= w.items()]
        # of no row: the one that decides
        one = one if at else [measured]
        if len(one) != 1:
            raise text.TextError(f"[claim.{key}]: macro {name} names {len(one)} rows, not one")
        number(name, one[0], f"{found.place}: {found.quantity}")
    if get_ipython():
        label = "" if found.kind == CLAIM else f" ({found.kind})"
        of_rows = ", worst row" if found.rows else ""
        said = (
            f"**{found.verdict}**: *{found.place}{label}.* {found.claim} "
            f"{found.quantity[:1].upper()}{found.quantity[1:]}{of_rows}: "
            f"**{printed(found.row())}** (criterion: {agrees.text}). {found.note}"
        )
        display(Markdown(one_epsilon(said)))
        if found.rows:
            display(HTML(pd.DataFrame(rows).to_html(index=False, float_format="{:g}".format)))
    return found


def _name(key):
    """The name of an output: paper key, slash, key."""
    return f"{notebook.current.name.split('/')[0]}/{key}"


def _text(section, key, names):
    """An entry of the notebook's texts, with its slots filled."""
    running = notebook.current
    paper = running.name.split("/")[0]
    cited = {"cited": PAPERS[paper].cited} if paper in PAPERS else {}
    # by hand, a figure or table of one's own needs no caption
    lax = section != "claim" and not os.environ.get("PRIVREGRET_OUTPUT")
    found = text.entry(running.texts, section, key, {"caption": ""} if lax else None)
    try:
        said = text.filled(found, cited | running.names | names, running.texts.get("text", {}))
    except text.TextError as problem:
        raise text.TextError(f"[{section}.{key}]: {problem}") from None
    if said.get("caption"):
        _stands_alone(_name(key), said["caption"])
    return said


@contextmanager
def _changing():
    """The manifest, and what it says of the notebook, of whose earlier run nothing is left."""
    running = notebook.current
    with record.changing(output_root()) as manifest:
        if not running.published:
            for folder in ("figures", "paper"):  # what else is there may be somebody else's
                files.sweep(output_root() / folder)
            versions = {"python": platform.python_version()} | {n: version(n) for n in LIBRARIES}
            made_with = {"parameters": running.parameters, "versions": versions}
            manifest["notebooks"][running.name] = made_with
            for output in record.of_notebook(manifest, running.name)["outputs"]:
                del manifest["outputs"][output]
            running.published = True
        yield manifest, manifest["notebooks"][running.name]


def _stands_alone(name, caption):
    """A caption is read where nothing else of its notebook is: it names the paper, and its numbers
    can be read."""
    paper = PAPERS.get(name.split("/")[0])
    if paper and paper.cited not in caption:
        raise ValueError(f"{name}: the caption does not name {paper.cited!r}")
    for bad in (r"\b[Tt]he paper\b", r"(?<![\d.])\d{5,}"):
        if found := re.search(bad, caption):
            hint = f"but says {found[0]!r} (large numbers as «name:tex»)"
            raise ValueError(f"{name}: the caption must stand alone, {hint}")


def _few_colours(fig):
    """The figure as a picture of at most 256 colours: a third of the bytes at twice the
    resolution."""
    plain = {"format": "png", "pil_kwargs": {"compress_level": 0}}
    fig.savefig(pixels := io.BytesIO(), dpi=style.DPI, **plain)
    return PIL.Image.open(pixels).convert("RGB").quantize(256, dither=PIL.Image.Dither.NONE)


def _publish(kind, name, caption, contents):
    if not re.fullmatch(r"[a-z0-9]+/[a-z0-9.-]+", name):
        text = f"a {kind}'s name is paper key, slash, key in small letters"
        raise ValueError(f"{text}, got {name!r}")
    running = notebook.current
    written = dict(zip(KINDS[kind], contents, strict=True))
    with _changing() as (manifest, _):
        record.refuse_clashes(manifest, running.name, [name])
        for ending, content in written.items():
            files.write(output_root() / "figures" / f"{name}{ending}", content)
        manifest["outputs"][name] = {
            "kind": kind,
            "notebook": running.name,
            "files": {ending: files.digest(content) for ending, content in written.items()},
            "caption": one_epsilon(caption),
        }
    running.shown = name


def _tex(kind, name, caption, **values):
    made_by = {"name": name, "caption": caption, "notebook": notebook.current.name}
    return render.filled(f"{kind}.tex", **made_by, **values).encode()


def _csv(frame):
    for column in frame.columns:
        if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", str(column)):
            raise ValueError(f"a column's name has letters, digits and underscores, got {column!r}")
    return frame.to_csv(index=False, float_format="%.12g", lineterminator="\n").encode()
