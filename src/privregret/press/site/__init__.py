"""Everything that is published, as pages that open from disk: no server, no network, nothing from
elsewhere.

`python -m privregret site` renders `figures/`, its manifest and the executed notebooks of
`build/notebooks` into `build/site`. It runs no notebook: what has not run yet is shown without its
results.
"""

import re
import shutil
import struct
import sys
import warnings
from itertools import groupby
from pathlib import Path

import jinja2
import nbformat
import pandas as pd
import pdoc
from pygments.formatters import HtmlFormatter

from privregret import __version__, files
from privregret.files import ROOT
from privregret.press import findings as fnd
from privregret.press import record, render, style
from privregret.press.papers import PAPERS
from privregret.press.places import BUILD
from privregret.press.site import notebooks, tex

TEMPLATES = Path(__file__).parent / "templates"
STRIP = (  # of pictures, on the first page
    "hu2021/theorem-6",
    "wu2026/lower-bound",
    "cesari2026/extra-logarithm",
    "asi2025/separation",
    "azize2025/figure-01",
    "companion/who-wins",
)
DRAFT = {  # how a draft takes one in
    "figure": r"""\usepackage{graphicx} \graphicspath{{figures/}}  % in the preamble
\input{figures/NAME.tex}  % \ref{fig:NAME}""",
    "table": r"""\usepackage{booktabs}  % in the preamble
\input{figures/NAME.tex}  % \ref{tab:NAME}""",
}
ROWS = 20  # of a long csv, on the page of its figure


def build(
    place: Path = BUILD / "site", root: Path = ROOT, executed: Path = BUILD / "notebooks"
) -> list[str]:
    """Write the site; `place` changes only when all pages are written.

    Parameters
    ----------
    place : Path
        The site's folder; one that is there already is replaced.
    root : Path
        Where `figures/` and `notebooks/` are.
    executed : Path
        Where the batch command left the notebooks with their results.

    Returns
    -------
    list of str
        Notebooks of which there is no executed copy: their pages are without results.
    """
    partial, old = (place.with_name(f"{place.name}.{state}") for state in ("partial", "old"))
    with record.still(root):  # a second one waits, too
        for folder in (partial, old):
            shutil.rmtree(folder, ignore_errors=True)
        partial.mkdir(parents=True)
        missing = _Site(partial, root, executed).write()
        if place.exists():
            place.rename(old)
        partial.rename(place)
        shutil.rmtree(old, ignore_errors=True)
    return missing


def main() -> int:
    """Build the site of this checkout and say where it is."""
    missing = build()
    if missing:
        print(
            f"Without results, for they have not run here (`make` runs them): {', '.join(missing)}",
            file=sys.stderr,
        )
    print(f"The site is {(BUILD / 'site' / 'index.html').relative_to(ROOT)}; open it in a browser.")
    return 0


class _Site:
    """The pages, and what they are made from."""

    def __init__(self, place, root, executed):
        self.place, self.root, self.executed = place, root, executed
        self.manifest = render.read_whole(root)
        self.outputs = self.manifest["outputs"]
        self.findings = _findings(self.manifest)
        self.jinja = jinja2.Environment(
            loader=jinja2.FileSystemLoader(TEMPLATES),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=jinja2.StrictUndefined,
        )
        self.jinja.filters["plain"] = tex.plain
        self.jinja.globals |= {"release": __version__, "papers": PAPERS, "style": style}
        self.jinja.globals |= {"kinds": fnd.KINDS, "verdicts": fnd.VERDICTS}

    def page(self, path, template, **values):
        """Write one page, its formulas typeset; `up` leads from it to the site's root."""
        text = self.jinja.get_template(template).render(up="../" * path.count("/"), **values)
        files.write(self.place / path, tex.typeset(text).encode())

    def write(self):
        """Write all; the names of notebooks without results."""
        for folder in sorted({name.split("/")[0] for name in self.outputs}):
            shutil.copytree(self.root / "figures" / folder, self.place / "figures" / folder)
        for name in ("findings.csv", "manifest.json"):
            shutil.copy(self.root / "figures" / name, self.place / "figures" / name)
        for asset in ("site.css", "site.js"):
            files.write(self.place / asset, self.jinja.get_template(asset).render().encode())
        code = HtmlFormatter(style="default").get_style_defs(".highlight")
        files.write(self.place / "code.css", code.encode())

        books, missing = self._notebooks()
        papers = {
            paper: [*mine]
            for paper, mine in groupby(books.values(), lambda book: _paper(book["name"]))
        }
        cards = {
            name: self._card(name, books) for book in books.values() for name in book["outputs"]
        }
        row = [None, *cards.values(), None]
        for before, card, after in zip(row, row[1:-1], row[2:], strict=False):
            path = f"figures/{card['name']}.html"
            self.page(path, "figure.html", before=before, after=after, **card, **_numbers(card))
        choices = {
            "algorithm": sorted({a for card in cards.values() for a in card["algorithms"]}),
            "place": sorted({p for card in cards.values() for p in card["places"]}, key=_natural),
            "verdict": [*dict.fromkeys(v for verdicts in fnd.VERDICTS.values() for v in verdicts)],
        }
        self.page("gallery.html", "gallery.html", cards=cards, books=papers, choices=choices)
        self.page("findings.html", "findings.html", findings=self.findings, outputs=self.outputs)
        slips = [card for name, card in cards.items() if name.startswith("companion/errata-")]
        slips.sort(
            key=lambda card: [*card["book"]["shown"], card["name"]].index(card["name"])
        )  # as they are told
        parts = [card | {"records": card["frame"].to_dict("records")} for card in slips]
        self.page("errata.html", "errata.html", parts=parts)
        told = [f for f in self.findings if f["headline"]]
        strip = [cards[name] for name in STRIP if name in cards]
        self.page(
            "index.html",
            "index.html",
            told=told,
            strip=strip,
            books=papers,
            cards=cards,
            tally=self._tally(),
        )
        self._api()
        return missing

    def _notebooks(self):
        """A page for each notebook that has published; what other pages need to know of them."""
        names = [
            n
            for n in _ordered(self.manifest["notebooks"])
            if (self.root / "notebooks" / f"{n}.ipynb").exists()
        ]
        books, missing = {}, []
        for name in names:
            source, ran = self.root / "notebooks" / f"{name}.ipynb", self.executed / f"{name}.ipynb"
            if not ran.exists():
                missing.append(name)
            notebook = nbformat.read(ran if ran.exists() else source, as_version=4)
            body, shown = notebooks.body(notebook, self.outputs, set(names))
            books[name] = {
                "name": name,
                "title": notebooks.heading(notebook),
                "shown": shown,
                "outputs": _ordered(
                    output for output, entry in self.outputs.items() if entry["notebook"] == name
                ),
            }
            self.page(
                f"notebooks/{name}.html",
                "notebook.html",
                body=body,
                ran=name not in missing,
                **books[name],
            )
            shutil.copy(source, self.place / "notebooks" / f"{name}.ipynb")
        return books, missing

    def _card(self, name, books):
        """What the gallery and its own page say of a figure or table."""
        entry, path = self.outputs[name], f"{self.root}/figures/{name}"
        source = Path(f"{path}.tex").read_text(encoding="utf-8")
        frame = pd.read_csv(f"{path}.csv", keep_default_na=False, dtype=str)
        found = [f for f in self.findings if f["figure"] == name]
        cells = {
            cell
            for column in frame
            for cell in frame[column].unique()
            if re.search("[A-Za-z]{2}", cell)
        }
        book = books[entry["notebook"]]
        card = {
            "name": name,
            "paper": _paper(name),
            "kind": entry["kind"],
            "entry": entry,
            "caption": tex.caption(source),
            "source": source,
            "draft": DRAFT[entry["kind"]].replace("NAME", name),
            "frame": frame,
            "algorithms": _algorithms("\n".join([*sorted(cells), tex.caption(source)])),
            "findings": found,
            "places": [*dict.fromkeys(f["place"] for f in found)],
            "tally": render.said(found),
            "book": book,
            "anchor": f"#{name.split('/')[1]}" if name in book["shown"] else "",
            "broad": False,
        }
        if entry["kind"] == "figure":
            width, height = struct.unpack(">II", Path(f"{path}.png").read_bytes()[16:24])
            shown = round(
                150 * float(re.search(r"([\d.]+)in\\fi\]", source)[1])
            )  # for each inch in print
            card |= {
                "width": shown,
                "height": round(shown * height / width),
                "broad": width > 2 * height,
            }
        return card

    def _tally(self):
        """How many findings have which verdict: paper -> (kind, verdict, count) in the order of the
        table."""
        count = pd.DataFrame(self.findings, columns=["paper", "kind", "verdict"]).value_counts()
        columns = [(kind, verdict) for kind in fnd.KINDS for verdict in fnd.VERDICTS[kind]]
        papers = _ordered({f["paper"] for f in self.findings})
        return {
            paper: [(*column, count.get((paper, *column), 0)) for column in columns]
            for paper in papers
        }

    def _api(self):
        """pdoc's pages of the package's docstrings."""
        pdoc.render.configure(docformat="numpy", template_directory=TEMPLATES / "api")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of annotations in other packages
            pdoc.pdoc("privregret", output_directory=self.place / "api")
        for path in (self.place / "api").rglob(
            "*.*"
        ):  # values such as paths.ROOT are of this machine
            path.write_text(
                path.read_text(encoding="utf-8").replace(str(ROOT), "..."), encoding="utf-8"
            )


def _findings(manifest):
    """The findings by paper and notebook, each with what pages show of it beside."""
    rows = render.findings(manifest)
    rows.sort(key=lambda row: _order(row["notebook"]))
    for number, row in enumerate(rows, 1):
        row["id"] = f"f{number}"
        row["paper"] = _paper(row["notebook"])
        row["mark"] = ("yes", "no", "open")[fnd.VERDICTS[row["kind"]].index(row["verdict"])]
    return rows


def _numbers(card):
    """The tables of a page: as printed, for a table; and the csv, or its first rows."""
    frame = card["frame"]
    numeric = [
        pd.to_numeric(frame[column].replace("", "nan"), errors="coerce").notna().any()
        for column in frame
    ]
    return {
        "printed": tex.table(card["source"]) if card["kind"] == "table" else None,
        "rows": frame if len(frame) < 2 * ROWS else frame.head(ROWS),
        "align": ["r" if yes else "l" for yes in numeric],
    }


def _paper(name):
    return name.split("/")[0]


def _order(name):
    """A key for names of notebooks and outputs: the papers in their order, then ours."""
    papers = [*PAPERS]
    return papers.index(_paper(name)) if _paper(name) in papers else len(papers), _natural(name)


def _ordered(names):
    return sorted(names, key=_order)


def _natural(text):
    """A key that sorts 2 before 10."""
    return [
        (not part.isdigit(), int(part) if part.isdigit() else 0, part)
        for part in re.split(r"(\d+)", text)
    ]


def _algorithms(text):
    """The algorithms that a text names; in "Batched EXP3" it is the longer name, not EXP3."""
    found = []
    for label in sorted(style.ALGORITHMS, key=len, reverse=True):
        text, times = re.subn(rf"(?<![\w-]){re.escape(label)}(?![\w-])", "", text)
        found += [label] * bool(times)
    return sorted(found)
