"""What notebooks call to publish: a figure, a table, a number, a finding. Nothing here simulates.

Everything is written atomically below `places.output_root()`, and the same data give the same
bytes.
"""

import importlib.metadata
import io
import math
import platform
import re
import sys
from contextlib import contextmanager
from functools import cache

import matplotlib.pyplot as plt
import pandas as pd
import PIL.Image
from IPython import get_ipython
from IPython.display import HTML, Image, Markdown, display
from matplotlib.text import Text
from PIL.PngImagePlugin import PngInfo

from privregret import code_key, files
from privregret.estimates import Estimate, exactly
from privregret.files import PACKAGE
from privregret.press import draw, looks, notebook, record, style
from privregret.press.findings import CLAIM, Finding, criterion
from privregret.press.papers import PAPERS
from privregret.press.places import output_root
from privregret.press.record import KINDS
from privregret.press.tex import measured as printed
from privregret.press.tex import one_epsilon, tex_escape

style.use()

LIBRARIES = ("numpy", "numba", "scipy", "pandas", "matplotlib", "seaborn")


def figure(fig, name: str, data: pd.DataFrame, caption: str) -> None:
    """Publish a figure as `figures/<name>.pdf`, `.png`, `.csv` (the numbers drawn) and `.tex` (a
    figure environment).

    Parameters
    ----------
    fig : matplotlib.figure.Figure
        Closed afterwards; in a notebook the PNG and the caption are shown. A figure wider than a
        column gets a `figure*` environment.
    name : str
        Paper key, slash, name: "hu2021/figure-05".
    data : pandas.DataFrame
        The numbers in the figure; column names of letters, digits and underscores.
    caption : str
        TeX; stands alone: names the paper as `papers.PAPERS` does, and the setting; says what bands
        and markers mean.

    Raises
    ------
    ValueError
        For a caption that does not stand alone or does not explain an abbreviation in the figure,
        or a name or column that is not spelt as above.

    Notes
    -----
    Faults that `looks.faults` finds are recorded in the manifest, and shown in a notebook.
    """
    _stands_alone(name, caption)
    draw.lay_out(fig)  # first: a search for texts makes all ticks that an axis still has
    _explains(name, caption, fig)
    pdf, png = io.BytesIO(), io.BytesIO()
    # one layout for both files: with any engine, one that does nothing too, each would draw the
    # figure once more
    with plt.rc_context({"figure.constrained_layout.use": False}):
        fig.set_layout_engine(None)
        faults = looks.faults(fig)
        about = _about(name, caption)
        undated = dict.fromkeys(("CreationDate", "Producer", "Creator"))
        fig.savefig(pdf, format="pdf", metadata=undated | about)
        texts, dpi = PngInfo(), (style.DPI, style.DPI)
        for key, text in about.items():
            texts.add_itxt(key, text)
        _few_colours(fig).save(png, "png", compress_level=6, dpi=dpi, pnginfo=texts)
    plt.close(fig)
    inches = fig.get_figwidth()
    star = "*" if inches > 1.1 * style.COLUMN[0] else ""
    tex = "\n".join(
        [
            rf"\begin{{figure{star}}}[htbp]",
            r"  \centering",
            rf"  \includegraphics[width=\ifdim\linewidth<{inches:g}in\linewidth"
            rf"\else{inches:g}in\fi]"
            rf"{{{name}.pdf}}",
            rf"  \caption{{{tex_escape(caption)}}}",
            rf"  \label{{fig:{name}}}",
            rf"\end{{figure{star}}}",
        ]
    )
    contents = [pdf.getvalue(), png.getvalue(), _csv(data), _with_origin(tex)]
    _publish("figure", name, contents, **({"faults": faults} if faults else {}))
    if get_ipython():
        display(
            Image(png.getvalue(), width=int(inches * 130)),
            Markdown(f"*{name}.* {one_epsilon(caption)}"),
        )
        if faults:
            display(Markdown(f"Faults of the figure: {'; '.join(faults)}."))


def table(
    frame: pd.DataFrame,
    name: str,
    caption: str,
    columns: dict,
    formats: dict | None = None,
    widths: dict | None = None,
) -> None:
    """Publish a table as `figures/<name>.csv` (all numbers) and `.tex` (booktabs, in a table
    environment).

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
    widths : dict, optional
        Printed columns of running text, and their fractions of the line: {"reason": 0.3}.
    """
    _stands_alone(name, caption)
    shown = frame[list(columns)].copy()
    for column, spec in (formats or {}).items():
        words = {math.inf: r"$\infty$"}
        shown[column] = [
            "" if pd.isna(v) else words.get(v) or format(v, spec) for v in shown[column]
        ]
    # \raggedright would change the row's end, and without the space a first word would not be
    # hyphenated
    ragged = r"\rightskip0pt plus1fil\hspace{0pt}"
    running = shown.assign(**{c: [ragged + text for text in shown[c]] for c in widths or {}})
    running = running.rename(
        columns={c: ragged * (c in (widths or {})) + heading for c, heading in columns.items()}
    )
    shown = shown.rename(columns=columns)
    kinds = {c: "r" if pd.api.types.is_numeric_dtype(frame[c]) else "l" for c in columns}
    stretch = (
        0.92 / sum(widths.values()) if set(widths or {}) == set(columns) else 1.0
    )  # the rest is between columns
    kinds |= {
        column: rf"p{{{stretch * width:.3g}\linewidth}}" for column, width in (widths or {}).items()
    }
    rows = running.to_latex(
        index=False, column_format="@{}" + "".join(kinds[column] for column in columns) + "@{}"
    )
    if widths:
        rows = re.sub(r" \\\\\n(?!\\(mid|bottom))", r"\g<0>\\addlinespace\n", rows)
    star = "*" if widths or _points(shown) > 72 * style.COLUMN[0] else ""
    size = (
        r"\ifdim\linewidth<5in\scriptsize\else\footnotesize\fi\tabcolsep=2.5pt"
        if widths
        else r"\small"
    )
    rows = one_epsilon(rows).rstrip()
    tex = _TABLE % {
        "star": star,
        "size": size,
        "caption": tex_escape(caption),
        "name": name,
        "rows": rows,
    }
    _publish("table", name, [_csv(frame), _with_origin(tex)])
    if get_ipython():
        display(HTML(shown.to_html(index=False)), Markdown(f"*{name}.* {one_epsilon(caption)}"))


# A table that is too wide for its place is set smaller, and shrunk only if that is not enough.
_TABLE = r"""\begin{table%(star)s}[htbp]
\centering
\caption{%(caption)s}
\label{tab:%(name)s}
\def\rows#1{\sbox0{#1%%
%(rows)s}}
\rows{%(size)s}
\ifdim\wd0>\linewidth \rows{\scriptsize\tabcolsep=3pt}\fi
\ifdim\wd0>\linewidth \resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi
\end{table%(star)s}
"""


def _points(shown):
    """About how wide a table is in small type: a sign is a letter or a command, and has five
    points."""
    signs = [
        [len(re.sub(r"\\[A-Za-z]+|[\\{}$^_]", "", str(text))) for text in (c, *shown[c])]
        for c in shown
    ]
    return sum(5 * max(column) + 12 for column in signs)


def number(name: str, value, meaning: str) -> None:
    r"""Publish a number as the macro `\name` in `paper/numbers.tex`, with the digits that its error
    supports.

    Parameters
    ----------
    name : str
        Letters only.
    value : Estimate or float
    meaning : str
        What the number is, for a comment next to the macro.
    """
    _number(name, exactly(value), meaning)


def _number(name, value, meaning):
    if not re.fullmatch("[A-Za-z]+", name):
        raise ValueError(f"a macro's name has letters only, got {name!r}")
    entry = {"value": value.value, "error": value.se, "numerical_error": value.bound}
    with _changing() as manifest:
        record.refuse_clashes(manifest, notebook.current.name, [name])
        _mine(manifest).setdefault("numbers", {})[name] = entry | {"meaning": meaning}


def finding(
    place: str,
    claim: str,
    quantity: str,
    measured: Estimate | float,
    *,
    kind: str = CLAIM,
    number: str = "",
    figure: str | None = None,
    headline: str = "",
    **values,
) -> Finding:
    r"""Publish a finding and its verdict; a notebook also displays it.

    Parameters
    ----------
    place, claim, quantity, measured, kind, headline
        As in `findings.Finding`.
    number : str
        Name of a macro of `paper/numbers.tex` that holds the number; none if empty.
    figure : str, optional
        The figure or table that shows it; by default the one that the notebook published last.
    **values
        The criterion, as `findings.criterion` takes it: `at_most=1`, `below=1`, `at_least=1`,
        `above=1`, `between=(0.8, 1.25)`, or `equal=1, within=1e-6`.

    Returns
    -------
    Finding
    """
    shown = notebook.current.shown if figure is None else figure
    agrees = criterion(**values)
    found = Finding(place, claim, quantity, measured, agrees, kind, shown, headline)
    with _changing() as manifest:
        rows = _mine(manifest).setdefault("findings", [])
        rows[:] = [
            r for r in rows if (r["place"], r["claim"], r["quantity"]) != (place, claim, quantity)
        ]
        rows.append(found.row())
    if number:
        _number(number, found.measured, f"{place}: {quantity}")
    if get_ipython():
        label = "" if kind == CLAIM else f" ({kind})"
        display(
            Markdown(
                f"**{found.verdict}**: *{place}{label}.* {claim} "
                f"{quantity[:1].upper()}{quantity[1:]}: "
                f"**{printed(found.row())}** (criterion: {agrees.text})."
            )
        )
    return found


@contextmanager
def _changing():
    """The manifest to publish in; what an earlier run of the notebook left there goes first."""
    running = notebook.current
    with record.changing(output_root()) as manifest:
        if not running.published:
            for folder in ("figures", "paper"):  # what else is there may be somebody else's
                files.sweep(output_root() / folder)
            manifest["notebooks"].pop(running.name, None)
            for output in record.of_notebook(manifest, running.name)["outputs"]:
                del manifest["outputs"][output]
            running.published = True
        yield manifest


def _mine(manifest):
    return manifest["notebooks"].setdefault(notebook.current.name, {})


def integer(value: int) -> str:
    r"""A large whole number for TeX's mathematics: `2^{22}`, `10^{6}`, `20\,000`."""
    for base, least in ((10, 10**5), (2, 2**14)):
        power = round(math.log(value, base)) if value >= least else 0
        if power and base**power == value:
            return f"{base}^{{{power}}}"
    return f"{value:,}".replace(",", r"\,") if value >= 10**4 else str(value)


def _stands_alone(name, caption):
    """A caption is read where nothing else of its notebook is: it names the paper, and its numbers
    can be read."""
    paper = PAPERS.get(name.split("/")[0])
    if paper and paper.cited not in caption:
        raise ValueError(f"{name}: the caption does not name {paper.cited!r}")
    for bad in (r"\b[Tt]he paper\b", r"(?<![\d.])\d{5,}"):
        if found := re.search(bad, caption):
            raise ValueError(
                f"{name}: the caption must stand alone, but says {found[0]!r} (see publish.integer)"
            )


def _explains(name, caption, fig):
    """Raise an error unless the caption explains what labels of the figure abbreviate."""
    shown = " ".join(text.get_text() for text in fig.findobj(Text))
    for short, words in style.ABBREVIATIONS.items():
        if re.search(rf"\b{short}\b", shown) and f"{words} ({short}" not in caption:
            raise ValueError(f"{name}: the caption must explain {short}, as '{words} ({short})'")


def _about(name, caption):
    """What a picture says of itself, wherever it is found."""
    keywords = f"privregret, notebooks/{notebook.current.name}.ipynb"
    return {"Title": name, "Subject": caption, "Keywords": keywords}


def _few_colours(fig):
    """The figure as a picture of at most 256 colours: a third of the bytes at twice the
    resolution."""
    pixels = io.BytesIO()
    fig.savefig(pixels, format="rgba", dpi=style.DPI)
    size = tuple((fig.get_size_inches() * style.DPI).astype(int))
    picture = PIL.Image.frombuffer("RGBA", size, pixels.getbuffer(), "raw", "RGBA", 0, 1)
    return picture.convert("RGB").quantize(256, PIL.Image.Quantize.MEDIANCUT, dither=0)


def _publish(kind, name, contents, **more):
    if not re.fullmatch(r"[a-z0-9]+/[a-z0-9.-]+", name):
        raise ValueError(
            f"a {kind}'s name is paper key, slash, name in small letters, got {name!r}"
        )
    running = notebook.current
    modules = {getattr(m, "__file__", None) for m in list(sys.modules.values())}
    written = dict(zip(KINDS[kind], contents, strict=True))
    with _changing() as manifest:
        record.refuse_clashes(manifest, running.name, [name])
        for ending, content in written.items():
            files.write(output_root() / "figures" / f"{name}{ending}", content)
        manifest["outputs"][name] = {
            "kind": kind,
            "notebook": running.name,
            "parameters": running.parameters,
            "seed": running.parameters.get("seed"),
            "versions": _versions(),
            "sources": _sources(modules),
            "files": {ending: files.digest(content) for ending, content in written.items()},
            **more,
        }
    running.shown = name


def _sources(modules):
    """Hash the package's code in some files."""
    loaded = sorted(path for path in PACKAGE.rglob("*.py") if str(path) in modules)
    meant = [(path.name, code_key.meaning(path.read_bytes())) for path in loaded]
    return files.digest(repr(meant).encode())


@cache
def _versions():
    libraries = {name: importlib.metadata.version(name) for name in LIBRARIES}
    return {"python": platform.python_version()} | libraries


def _with_origin(tex):
    came = f"% From notebooks/{notebook.current.name}.ipynb. "
    return f"{came}Paths are relative to figures/ (see \\graphicspath).\n{tex.rstrip()}\n".encode()


def _csv(frame):
    for column in frame.columns:
        if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", str(column)):
            raise ValueError(f"a column's name has letters, digits and underscores, got {column!r}")
    return frame.to_csv(index=False, float_format="%.12g", lineterminator="\n").encode()
