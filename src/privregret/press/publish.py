"""What notebooks call to publish: a figure, a table, a number, a finding.

All is written atomically below `notebook.output_root()`; the same data give the same bytes.
"""

import html
import io
import os
import platform
import re
import reprlib
from collections import Counter
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
from privregret.press import notebook, render, style, text
from privregret.press.findings import (
    CLAIM,
    LIMITS,
    SIGNS,
    Finding,
    beyond,
    criterion,
    in_words,
    numbers_of,
)
from privregret.press.manifest import (
    KINDS,
    LIBRARIES,
    NAME,
    changing,
    of_notebook,
    refuse_clashes,
)
from privregret.press.notebook import output_root
from privregret.press.papers import PAPERS
from privregret.press.tex import folded, one_epsilon, power, tex_escape
from privregret.press.tex import integer as integer
from privregret.press.tex import measured as printed
from privregret.press.tex import value as without_error

style.use()

MARK = r"$^\dagger$"
# what ends the first part of a caption, which says what its figure shows, and its first sentence;
# not after "et al." in front of a year
MESSAGE, SENTENCE = re.compile(r"[.:] (?!\()"), re.compile(r"\. (?!\()")


def figure(fig: plt.Figure, data: pd.DataFrame, key: str, **names: Any) -> None:
    """Publish a figure, and close it: `figures/<paper>/<key>.pdf`, `.png`, `.csv` (the numbers
    drawn) and `.tex`, with the caption `[figure.KEY]`, whose slots `names` fill as well.

    Keys have small letters, digits, and hyphens and dots between them, columns letters, digits and
    underscores. A caption of a run whose parameters are not the notebook's own says so, and has no
    message (what stands before its first colon or full stop), which may not hold there. In a run by
    hand a key that the texts do not have gives an empty caption, otherwise a TextError; ValueError
    for a caption that does not stand alone, and for the key of a table.
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
    summary = MESSAGE.split(caption)[0]
    tex = _tex("figure", name, caption, star=star, inches=f"{inches:g}", summary=summary)
    contents = [pdf.getvalue(), png.getvalue(), _csv(data), tex]
    _publish("figure", name, caption, contents, **({"wide": True} if star else {}))
    _show(Image(png.getvalue(), width=int(inches * style.PIXELS)), name, caption)


def table(
    frame: pd.DataFrame,
    key: str,
    columns: dict[str, str] | None = None,
    formats: dict[str, str] | None = None,
    **names: Any,
) -> None:
    """Publish a table: `figures/<paper>/<key>.csv` (all numbers) and `.tex`, with the texts
    `[table.KEY]`; keys, names and errors as in `figure`.

    Here or in the texts are `columns`, those printed with their TeX headings (all if there are
    none), and `formats`, such as {"regret": ".0f"}; in the texts `widths` of running text, as
    fractions of the line. A column `heavy`, as `estimates.means` makes it, marks entries of `mean`.
    """
    name, said = _name(key), _text("table", key, names)
    caption, widths = said["caption"], said.get("widths", {})
    columns = columns or said.get("columns") or {column: column for column in frame}
    shown = frame[list(columns)].copy()
    for column, spec in (formats or said.get("formats", {})).items():
        shown[column] = [_cell(v, spec) for v in shown[column]]
    if "mean" in shown and frame.get("heavy", pd.Series(dtype=bool)).any():
        means = zip(shown["mean"], frame.heavy, strict=True)
        shown["mean"] = [f"{mean}{MARK if heavy else ''}" for mean, heavy in means]
        caption += f" {MARK}: rare runs decide this mean, and its error is not known."
    # \raggedright would change the row's end, and without the space a first word would not be
    # hyphenated
    ragged = {c: r"\rightskip\fill\hspace{0pt}" for c in widths}
    escaped = shown.map(_typeset)
    running = escaped.assign(**{c: [r + words for words in escaped[c]] for c, r in ragged.items()})
    headings = {c: ragged.get(c, "") + tex_escape(heading) for c, heading in columns.items()}
    kinds = {c: "r" if pd.api.types.is_numeric_dtype(frame[c]) else "l" for c in columns}
    # the rest is between columns
    stretch = 0.92 / sum(widths.values()) if set(widths) == set(columns) else 1.0
    kinds |= {c: rf"p{{{stretch * width:.3g}\linewidth}}" for c, width in widths.items()}
    form = f"@{{}}{''.join(kinds.values())}@{{}}"
    rows = running.rename(columns=headings).to_latex(index=False, column_format=form)
    if widths:
        rows = re.sub(r" \\\\\n(?!\\(mid|bottom))", r"\g<0>\\addlinespace\n", rows)
    shown, points = shown.rename(columns=columns), _width(shown, columns)
    # a tenth more fits once it is smaller
    star = "*" if widths or points > 1.1 * 72 * style.COLUMN[0] else ""
    rows, more = one_epsilon(rows).rstrip(), {"running": bool(widths), "points": round(points)}
    tex = _tex("table", name, caption, star=star, rows=rows, **more)
    _publish("table", name, caption, [_csv(frame), tex])
    _show(HTML(shown.to_html(index=False)), name, caption)


def _typeset(cell):
    return _cell(cell, ".6g") if isinstance(cell, float) else tex_escape(str(cell))


def _cell(value, spec):
    """A formatted number; a minus sign, a power of ten and infinity as formulas."""
    if pd.isna(value):
        return ""
    said = format(value, spec)
    return f"${power(said)}$" if re.match("-|.*(inf|e[-+])", said) else said


def _width(shown, headings):
    """Points that a table needs in small type, 4.7 a sign; a command is none."""
    columns = ((headings[c], *shown[c]) for c in headings)
    texts = [[re.sub(r"\\[A-Za-z]+|[\\{}$^_]", "", str(t)) for t in column] for column in columns]
    return sum(4.7 * max(map(len, column)) + 12 for column in texts) - 12


def _show(output, name, caption):
    if get_ipython():
        first, *rest = SENTENCE.split(one_epsilon(caption), maxsplit=1)
        line = f"<i>{name}.</i> {html.escape(first, quote=False)}{'.' if rest else ''}"
        display(output, Markdown(folded(line, *rest) if rest else line))


def number(name: str, value, meaning: str) -> None:
    r"""Publish a number or an estimate as the macro `\name` in `paper/numbers.tex`, with the digits
    that its error supports, and next to it what it means. Names are small letters, then a capital,
    then letters, such as `huRatio`: TeX has none of this form but `\var...` and `\end...`."""
    counts = dict(render.counts(Counter()))
    if not re.fullmatch("(?!var|end)[a-z]+[A-Z][A-Za-z]*", name) or name in counts:
        taken = "with neither 'var' nor 'end' in front, and none that counts findings"
        raise ValueError(f"a macro's name is letters such as huRatio, {taken}, got {name!r}")
    with _changing() as (manifest, mine):
        refuse_clashes(manifest, notebook.current.name, [name])
        entry = numbers_of(exactly(value)) | {"meaning": " ".join(meaning.split()) + _other()}
        mine.setdefault("numbers", {})[name] = entry


def verdict(key: str, measured: Estimate | float, **names: Any) -> Finding:
    """Publish the finding `[claim.KEY]` of the notebook's texts, and show it."""
    return _judge(key, [exactly(measured)], [{}], names)


def verdicts(key: str, frame: pd.DataFrame, measured: str = "measured", **names: Any) -> Finding:
    """Publish one finding about all rows of a frame, of which the worst decides: `measured` has
    estimates, or numbers with columns `_se` and `_error`; `rows` of the texts say where."""
    shown = text.entry(notebook.running().texts, "claim", key).get("rows", [])
    numbers = list(frame[measured])
    if not any(isinstance(number, Estimate) for number in numbers):
        numbers = estimates.rows(frame, measured)
    where = frame[shown].to_dict("records") if shown else [{}] * len(frame)
    return _judge(key, list(map(exactly, numbers)), where, names)


def _judge(key, numbers, where, names):
    """Judge all numbers by one criterion; the worst is the finding's, and fills «value»."""
    entry = dict(text.entry(notebook.running().texts, "claim", key))
    form = _filled({f: entry.pop(f) for f in (*SIGNS, "within") if f in entry}, names)
    agrees = criterion(**{f: float(v) if isinstance(v, str) else v for f, v in form.items()})
    limits = _filled({f: entry.pop(f) for f in LIMITS if f in entry}, names)
    if wrong := beyond({f: float(v) for f, v in limits.items()}, numbers):
        raise text.TextError(f"{notebook.current.name}.toml, [claim.{key}]: {wrong}")
    measured = numbers[agrees.worst(numbers)]
    said = _filled(entry, names | {"value": without_error(numbers_of(measured))})
    macro, _ = said.pop("macro", ""), said.pop("rows", None)
    if "figure" in said:
        said["figure"] = _name(said["figure"])
    rows = [w | {"measured": printed(numbers_of(n))} for w, n in zip(where, numbers, strict=True)]
    more = {"key": key, "rows": tuple(rows) if len(rows) > 1 else ()}
    found = Finding(measured=measured, criterion=agrees, **said | more)
    # the batch command's run, at the notebook's own parameters
    if found.contradiction and os.environ.get("PRIVREGRET_OUTPUT") and not notebook.current.other:
        raise text.TextError(f"{notebook.current.name}.toml, [claim.{key}]: {found.contradiction}")
    macros = macro if isinstance(macro, dict) else {macro: {}} if macro else {}
    with _changing() as (_, mine):
        kept = mine.setdefault("findings", [])
        kept[:] = [row for row in kept if row["key"] != key]
        kept.append(found.row() | ({"macros": sorted(macros)} if macros else {}))
    for name, at in macros.items():
        one = [n for w, n in zip(where, numbers, strict=True) if at.items() <= w.items()]
        # of no row: the one that decides
        one = one if at else [measured]
        if len(one) != 1:
            raise text.TextError(f"[claim.{key}]: macro {name} names {len(one)} rows, not one")
        number(name, one[0], f"{found.place}: {found.quantity}")
    if get_ipython():
        display(Markdown(one_epsilon(folded(*_told(found)))))
    return found


def _told(found):
    """A finding as a notebook shows it: a line of HTML, then what is folded below it."""
    kind = "" if found.kind == CLAIM else f" ({found.kind})"
    place, title, verdict = map(html.escape, (found.place, found.title, found.verdict))
    agrees = {True: "{}", False: "not {}", None: "{}?"}[found.criterion.judge(found.measured)]
    limit = agrees.format(in_words(found.criterion.text))
    worst = ", of the worst row" if found.rows else ""
    parts = {"Says": found.claim, "Measured": f"{found.quantity}{worst}", "Note": found.note}
    parts |= {"Criterion": found.criterion.text, found.failure.capitalize(): found.repair}
    said = [f"*{name}:* {part}" for name, part in parts.items() if part]
    line = f"<b>{place}</b>{kind}: {title}. <b>{verdict}</b>, {printed(found.row())} ({limit})"
    return line, *said, *([_pipes(found.rows)] if found.rows else [])


def _pipes(rows):
    """Rows as a table of Markdown, in which a bar of a formula would end a cell."""
    lines = [[*rows[0]], ["---"] * len(rows[0]), *([*row.values()] for row in rows)]
    texts = [[f"{v:g}" if isinstance(v, float) else str(v) for v in line] for line in lines]
    safe = [[text.replace("|", r"\vert ") for text in line] for line in texts]
    return "\n".join(f"| {' | '.join(line)} |" for line in safe)


def _name(key):
    """The name of an output: paper key, slash, key."""
    return f"{notebook.running().name.split('/')[0]}/{key}"


def _text(section, key, names):
    """An entry of the notebook's texts, with its slots filled."""
    # by hand, a figure or table of one's own needs no caption
    spare = None if os.environ.get("PRIVREGRET_OUTPUT") else {"caption": ""}
    try:
        said = _filled(text.entry(notebook.current.texts, section, key, spare), names)
    except text.TextError as problem:
        raise text.TextError(f"[{section}.{key}]: {problem}") from None
    if said["caption"]:
        _stands_alone(_name(key), said["caption"])
    if notebook.current.other:
        message, *rest = MESSAGE.split(said["caption"], maxsplit=1)
        paper = PAPERS.get(_name(key).split("/")[0])
        if paper and rest and paper.cited not in rest[0]:
            rest.append(f"{paper.cited}.")
        said["caption"] = " ".join(one[:1].upper() + one[1:] for one in rest or [message])
    return said


def _filled(entry, names):
    """Texts whose slots are filled from these names, those of the notebook, and its phrases."""
    running = notebook.current
    paper = running.name.split("/")[0]
    cited = {"cited": PAPERS[paper].cited} if paper in PAPERS else {}
    return text.filled(entry, cited | running.names | names, running.texts.get("text", {}))


def _other():
    """A sentence that names the parameters of this run which are not the notebook's own, or ""."""
    said = ", ".join(f"`{p}={reprlib.repr(v)}`" for p, v in notebook.current.other.items())
    return said and f" Parameters differ from those that the text is about: {said}."


@contextmanager
def _changing():
    """The manifest, and what it says of the notebook, of whose earlier run nothing is left."""
    running = notebook.running()
    with changing(output_root()) as manifest:
        if not running.published:
            if (other := _other()) and get_ipython():
                display(Markdown(f"**{other.strip()}**"))
            for folder in ("figures", "paper"):  # what else is there may be somebody else's
                files.sweep(output_root() / folder)
            versions = {"python": platform.python_version()} | {n: version(n) for n in LIBRARIES}
            made_with = {"parameters": running.parameters, "versions": versions}
            made_with["checked"] = running.texts.get("checked", "")
            if slips := running.texts.get("slip"):
                made_with["slips"] = _filled([{"key": k} | slip for k, slip in slips.items()], {})
            manifest["notebooks"][running.name] = made_with
            for output in of_notebook(manifest, running.name)["outputs"]:
                del manifest["outputs"][output]
        yield manifest, manifest["notebooks"][running.name]
    # not where something was refused: then nothing is written
    running.published = True


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


def _publish(kind, name, caption, contents, **more):
    if not NAME.fullmatch(name):
        text = f"a {kind}'s name is paper key, slash, key of small letters, digits, - and ."
        raise ValueError(f"{text}, got {name!r}")
    running = notebook.current
    written = dict(zip(KINDS[kind], contents, strict=True))
    with _changing() as (manifest, _):
        refuse_clashes(manifest, running.name, [name])
        if (had := manifest["outputs"].get(name, {}).get("kind", kind)) != kind:
            raise ValueError(f"{name} is already published as a {had}: give the {kind} another key")
        for ending, content in written.items():
            files.write(output_root() / "figures" / f"{name}{ending}", content)
        manifest["outputs"][name] = {
            "kind": kind,
            "notebook": running.name,
            "files": {ending: files.digest(content) for ending, content in written.items()},
            "caption": one_epsilon(caption + _other()),
        } | more


def _tex(kind, name, caption, **values):
    made_by = {"kind": kind, "name": name, "caption": caption + _other()}
    made_by["notebook"] = notebook.current.name
    return render.filled(f"{kind}.tex", **made_by, **values).encode()


def _csv(frame):
    for column in frame.columns:
        if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", str(column)):
            raise ValueError(f"a column's name has letters, digits and underscores, got {column!r}")
    return frame.to_csv(index=False, float_format="%.12g", lineterminator="\n").encode()
