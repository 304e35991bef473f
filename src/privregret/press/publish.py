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
from privregret.press import notebook, render, style, tex, text
from privregret.press.findings import CRITERION, Finding, criterion, numbers_of
from privregret.press.manifest import LIBRARIES, NAME, changing, of_notebook, refuse_clashes
from privregret.press.notebook import output_root
from privregret.press.papers import PAPERS
from privregret.press.tex import folded, one_epsilon
from privregret.press.tex import integer as integer

style.use()

MARK = r"$^\dagger$"
# what ends the first part of a caption, which says what its figure shows; not after "et al." in
# front of a year
MESSAGE = re.compile(r"[.:] (?!\()")


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
    inches, pictures = fig.get_figwidth(), {".pdf": pdf.getvalue(), ".png": png.getvalue()}
    wide, summary = inches > 1.1 * style.COLUMN[0], MESSAGE.split(caption)[0]
    values = {"wide": wide, "inches": f"{inches:g}", "summary": summary}
    _publish("figure", name, caption, data, pictures, **values)
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
    headings = columns or said.get("columns") or {column: column for column in frame}
    formats = formats or said.get("formats", {})
    cells = {c: [_cell(value, formats.get(c)) for value in frame[c]] for c in headings}
    if "mean" in cells and frame.get("heavy", pd.Series(dtype=bool)).any():
        means = zip(cells["mean"], frame.heavy, strict=True)
        cells["mean"] = [f"{mean}{MARK if heavy else ''}" for mean, heavy in means]
        caption += f" {MARK}: rare runs decide this mean, and its error is not known."
    columns = {c: [heading, *cells[c]] for c, heading in headings.items()}
    points = _width(columns.values())
    # the rest is between columns
    stretch = 0.92 / sum(widths.values()) if set(widths) == set(columns) else 1.0
    kinds = {c: "r" if pd.api.types.is_numeric_dtype(frame[c]) else "l" for c in columns}
    kinds |= {c: rf"p{{{stretch * width:.3g}\linewidth}}" for c, width in widths.items()}
    # \raggedright would change the row's end, and without the space a first word would not be
    # hyphenated
    before = {c: r"\rightskip\fill\hspace{0pt}" if c in widths else "" for c in columns}
    quoted = [[before[c] + tex.tex_escape(cell) for cell in columns[c]] for c in columns]
    # a tenth more fits once it is smaller
    wide = bool(widths) or points > 1.1 * 72 * style.COLUMN[0]
    values = {"wide": wide, "kinds": kinds.values(), "rows": zip(*quoted, strict=True)}
    values |= {"running": bool(widths), "points": round(points)}
    _publish("table", name, caption, frame, {}, **values)
    shown = pd.DataFrame(cells).set_axis([*headings.values()], axis=1)
    _show(HTML(shown.to_html(index=False)), name, caption)


def _cell(value, spec):
    """A value as a table prints it: a number in its format, or with six digits; a minus sign, a
    power of ten and infinity as formulas."""
    if spec is None and not isinstance(value, float):
        return str(value)
    if pd.isna(value):
        return ""
    said = format(value, spec or ".6g")
    return f"${tex.formula(said)}$" if re.match("-|.*(inf|e[-+])", said) else said


def _width(columns):
    """Points that a table needs in small type, 4.7 a sign; a command is none."""
    texts = [[re.sub(r"\\[A-Za-z]+|[\\{}$^_]", "", text) for text in column] for column in columns]
    return sum(4.7 * max(map(len, column)) + 12 for column in texts) - 12


def _show(output, name, caption):
    if get_ipython():
        first, rest = tex.first_sentence(one_epsilon(caption))
        line = f"<i>{name}.</i> {html.escape(first, quote=False)}"
        display(output, Markdown(folded(line, rest) if rest else line))


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
    fields = text.entry(notebook.running().texts, "claim", key).get("rows", [])
    numbers = list(frame[measured])
    if not any(isinstance(number, Estimate) for number in numbers):
        numbers = estimates.rows(frame, measured)
    where = frame[fields].to_dict("records") if fields else [{}] * len(frame)
    return _judge(key, list(map(exactly, numbers)), where, names)


def _judge(key, numbers, where, names):
    """Judge all numbers by one criterion; the worst is the finding's, and fills «value»."""
    entry = dict(text.entry(notebook.running().texts, "claim", key))
    problem = f"{notebook.current.name}.toml, [claim.{key}]: "
    form = _filled({field: entry.pop(field) for field in CRITERION if field in entry}, names)
    agrees = criterion(**{f: float(v) if isinstance(v, str) else v for f, v in form.items()})
    if wrong := agrees.impossible(numbers):
        raise text.TextError(problem + wrong)
    worst = numbers[agrees.worst(numbers)]
    said = _filled(entry, names | {"value": tex.value(worst)}) | {"key": key}
    macros = said.pop("macro", {})
    if isinstance(macros, str):
        macros = {macros: {}}
    if "figure" in said:
        said["figure"] = _name(said["figure"])
    rows = [w | {"measured": tex.measured(n)} for w, n in zip(where, numbers, strict=True)]
    said["rows"] = tuple(rows) if len(rows) > 1 else ()
    finding = Finding(measured=worst, criterion=agrees, **said)
    # the batch command's run, at the notebook's own parameters
    if os.environ.get("PRIVREGRET_OUTPUT") and not notebook.current.other:
        if finding.contradiction:
            raise text.TextError(problem + finding.contradiction)
    for name, at in macros.items():
        # of no row: the one that decides
        chosen = [n for w, n in zip(where, numbers, strict=True) if at.items() <= w.items()]
        macros[name] = chosen if at else [worst]
        if len(macros[name]) != 1:
            raise text.TextError(f"{problem}macro {name} names {len(chosen)} rows, not one")
    with _changing() as (_, mine):
        others = [row for row in mine.get("findings", []) if row["key"] != key]
        row = finding.row() | ({"macros": sorted(macros)} if macros else {})
        mine["findings"] = [*others, row]
    for name, (chosen,) in macros.items():
        number(name, chosen, f"{finding.place}: {finding.quantity}")
    if get_ipython():
        display(Markdown(one_epsilon(render.filled("finding.md", finding=finding))))
    return finding


def _name(key):
    """The name of an output: paper key, slash, key."""
    return f"{notebook.running().name.split('/')[0]}/{key}"


def _paper():
    """The paper of the notebook, or None if it is ours."""
    return PAPERS.get(notebook.current.name.split("/")[0])


def _text(section, key, names):
    """An entry of the notebook's texts, with its slots filled."""
    # by hand, a figure or table of one's own needs no caption
    spare = None if os.environ.get("PRIVREGRET_OUTPUT") else {"caption": ""}
    try:
        said = _filled(text.entry(notebook.current.texts, section, key, spare), names)
    except text.TextError as problem:
        raise text.TextError(f"[{section}.{key}]: {problem}") from None
    caption, paper = said["caption"], _paper()
    # it is read where nothing else of its notebook is
    if caption and paper and paper.cited not in caption:
        raise ValueError(f"{_name(key)}: the caption does not name {paper.cited!r}")
    if found := re.search(r"\b[Tt]he paper\b|(?<![\d.])\d{5,}", caption):
        hint = f"but says {found[0]!r} (large numbers as «name:tex»)"
        raise ValueError(f"{_name(key)}: the caption must stand alone, {hint}")
    if notebook.current.other:
        message, *rest = MESSAGE.split(caption, maxsplit=1)
        if paper and rest and paper.cited not in rest[0]:
            rest.append(f"{paper.cited}.")
        said["caption"] = " ".join(part[:1].upper() + part[1:] for part in rest or [message])
    return said


def _filled(entry, names):
    """Texts whose slots are filled from these names, those of the notebook, and its phrases."""
    running, paper = notebook.current, _paper()
    cited = {"cited": paper.cited} if paper else {}
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


def _few_colours(fig):
    """The figure as a picture of at most 256 colours: a third of the bytes at twice the
    resolution."""
    plain = {"format": "png", "pil_kwargs": {"compress_level": 0}}
    fig.savefig(pixels := io.BytesIO(), dpi=style.DPI, **plain)
    return PIL.Image.open(pixels).convert("RGB").quantize(256, dither=PIL.Image.Dither.NONE)


def _publish(kind, name, caption, frame, pictures, wide, **values):
    """Write the files of a figure or table: `pictures`, its numbers, and TeX by its template."""
    if not NAME.fullmatch(name):
        text = f"a {kind}'s name is paper key, slash, key of small letters, digits, - and ."
        raise ValueError(f"{text}, got {name!r}")
    running, caption = notebook.current, caption + _other()
    values |= {"kind": kind, "name": name, "caption": caption, "notebook": running.name}
    quoted = render.filled(f"{kind}.tex", star="*" if wide else "", **values).encode()
    contents = pictures | {".csv": _csv(frame), ".tex": quoted}
    with _changing() as (manifest, _):
        refuse_clashes(manifest, running.name, [name])
        if (had := manifest["outputs"].get(name, {}).get("kind", kind)) != kind:
            raise ValueError(f"{name} is already published as a {had}: give the {kind} another key")
        for ending, content in contents.items():
            files.write(output_root() / "figures" / f"{name}{ending}", content)
        manifest["outputs"][name] = {
            "kind": kind,
            "notebook": running.name,
            "files": {ending: files.digest(content) for ending, content in contents.items()},
            "caption": one_epsilon(caption),
        } | ({"wide": True} if wide and kind == "figure" else {})


def _csv(frame):
    for column in frame.columns:
        if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", str(column)):
            raise ValueError(f"a column's name has letters, digits and underscores, got {column!r}")
    return render.csv(frame).encode()
