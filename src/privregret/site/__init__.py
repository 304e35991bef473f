"""Everything that is published, as pages that open from disk: no server, no network, nothing from elsewhere.

`python -m privregret site` renders `figures/`, its manifest and the executed notebooks of `build/notebooks` into
`build/site`. It runs no notebook: what is not there yet is shown without its results.
"""

import re
import shutil
import struct
import sys
import warnings
from importlib.metadata import version
from itertools import groupby
from pathlib import Path

import jinja2
import nbformat
import pandas as pd
import pdoc
from pygments.formatters import HtmlFormatter

from privregret import findings as fnd
from privregret import manifest, style
from privregret.papers import PAPERS, title
from privregret.paths import BUILD, ROOT
from privregret.site import notebooks, tex

TEMPLATES = Path(__file__).parent / "templates"
STRIP = (
    "hu2021/figure-05", "wu2026/lower-bound", "cesari2026/extra-logarithm", "asi2025/separation", "azize2025/figure-01",
    "companion/who-wins",
)  # fmt: skip
DRAFT = {  # how a draft takes one in
    "figure": "\\usepackage{graphicx} \\graphicspath{{figures/}}  % in the preamble\n\\input{figures/NAME.tex}  % \\ref{fig:NAME}",
    "table": "\\usepackage{booktabs}  % in the preamble\n\\input{figures/NAME.tex}  % \\ref{tab:NAME}",
}
ROWS = 20  # of a long csv, on the page of its figure


def build(place: Path = BUILD / "site", root: Path = ROOT, executed: Path = BUILD / "notebooks") -> list[str]:
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
    partial, old = place.with_name(f"{place.name}.partial"), place.with_name(f"{place.name}.old")
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
        print(f"Shown without results, since they have not run here (`make` runs them): {', '.join(missing)}", file=sys.stderr)
    print(f"The site is {(BUILD / 'site' / 'index.html').relative_to(ROOT)}; open it in a browser.")
    return 0


class _Site:
    """The pages and what they are made from."""

    def __init__(self, place, root, executed):
        self.place, self.root, self.executed = place, root, executed
        self.manifest = manifest.read(root)
        self.outputs = self.manifest["outputs"]
        self.findings = _findings(self.manifest)
        self.jinja = jinja2.Environment(
            loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True,
            undefined=jinja2.StrictUndefined,
        )  # fmt: skip
        self.jinja.filters |= {"plain": tex.plain}
        self.jinja.globals |= {
            "release": version("privregret"), "papers": PAPERS, "style": style, "kinds": fnd.KINDS, "verdicts": fnd.VERDICTS,
        }  # fmt: skip

    def page(self, path, template, **values):
        """Render one page, its formulas typeset; `up` leads from it to the site's root."""
        text = self.jinja.get_template(template).render(up="../" * path.count("/"), **values)
        manifest.write(self.place / path, tex.typeset(text).encode())

    def write(self):
        for folder in sorted({name.split("/")[0] for name in self.outputs}):
            shutil.copytree(self.root / "figures" / folder, self.place / "figures" / folder)
        for name in ("findings.csv", "manifest.json"):
            shutil.copy(self.root / "figures" / name, self.place / "figures" / name)
        for asset in ("site.css", "site.js"):
            text = self.jinja.get_template(asset).render()
            manifest.write(self.place / asset, text.encode())
        code = HtmlFormatter(style="default").get_style_defs(".highlight")
        manifest.write(self.place / "code.css", code.encode())

        books, missing = self._notebooks()
        cards = {name: self._card(name, books) for name in _ordered(self.outputs)}
        for before, card, after in zip([None, *cards.values()], cards.values(), [*cards.values()][1:] + [None], strict=False):
            self.page(f"figures/{card['name']}.html", "figure.html", before=before, after=after, **card, **self._numbers(card))
        options = {
            "algorithm": sorted({a for card in cards.values() for a in card["algorithms"]}),
            "verdict": [*dict.fromkeys(v for vs in fnd.VERDICTS.values() for v in vs)],
            "place": sorted({p for card in cards.values() for p in card["places"]}, key=_natural),
        }
        folders = {paper: [*mine] for paper, mine in groupby(books.values(), lambda book: book["name"].split("/")[0])}
        self.page("gallery.html", "gallery.html", cards=cards, books=folders, options=options)
        self.page("findings.html", "findings.html", findings=self.findings, outputs=self.outputs)
        self.page("errata.html", "errata.html", parts=self._errata(cards))
        told = [f for f in self.findings if f["headline"]]
        strip = [cards[name] for name in STRIP if name in cards]
        self.page("index.html", "index.html", told=told, strip=strip, books=folders, cards=cards, tally=self._tally())
        self._api()
        return missing

    def _notebooks(self):
        """A page for each notebook; their titles, and which outputs stand on them."""
        sources = sorted((self.root / "notebooks").glob("*/*.ipynb"))
        names = [f"{path.parent.name}/{path.stem}" for path in sources]
        names = [name for name in names if name in self.manifest["notebooks"]]
        books, missing = {}, []
        for name in _ordered(names):
            path = self.executed / f"{name}.ipynb"
            source = self.root / "notebooks" / f"{name}.ipynb"
            ran = path.exists()
            if not ran:
                missing.append(name)
            book = nbformat.read(path if ran else source, as_version=4)
            body, met = notebooks.body(book, self.outputs, set(names))
            mine = [output for output, entry in self.outputs.items() if entry["notebook"] == name]
            books[name] = {"name": name, "title": notebooks.heading(book), "met": met, "outputs": _ordered(mine)}
            (self.place / "notebooks" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, self.place / "notebooks" / f"{name}.ipynb")
            self.page(f"notebooks/{name}.html", "notebook.html", body=body, ran=ran, **books[name])
        return books, missing

    def _card(self, name, books):
        """What the gallery and its own page say of a figure or table."""
        entry, path = self.outputs[name], self.root / "figures" / name
        source = path.with_name(f"{path.name}.tex").read_text()
        frame = pd.read_csv(f"{path}.csv", keep_default_na=False, dtype=str)
        caption = tex.caption(source)
        found = [f for f in self.findings if f["figure"] == name]
        cells = {cell for column in frame for cell in frame[column].unique() if re.search("[A-Za-z]{3}", cell)}
        book = books.get(entry["notebook"])
        card = {
            "name": name, "paper": name.split("/")[0], "entry": entry, "kind": entry["kind"], "caption": caption, "source": source,
            "findings": found, "tally": manifest.tally(found), "places": [*dict.fromkeys(f["place"] for f in found)], "frame": frame,
            "algorithms": _algorithms("\n".join([*sorted(cells), caption])),
            "draft": DRAFT[entry["kind"]].replace("NAME", name), "book": book, "anchor": f"#{name.split('/')[1]}" if book and name in book["met"] else "",
        }  # fmt: skip
        if entry["kind"] == "figure":
            width, height = struct.unpack(">II", path.with_name(f"{path.name}.png").read_bytes()[16:24])
            card |= {"width": width * 3 // 4, "height": height * 3 // 4}  # drawn at 200 pixels an inch
        return card

    def _numbers(self, card):
        """The table of a page: as printed for a table, and the first rows of the csv."""
        printed = tex.table(card["source"]) if card["kind"] == "table" else None
        return {"printed": printed, "shown": card["frame"].head(ROWS)}

    def _errata(self, cards):
        """The published tables of errata, together."""
        parts = []
        for name, card in cards.items():
            if name.startswith("companion/errata-"):
                parts.append({"card": card, "rows": card["frame"].to_dict("records")})
        return parts

    def _tally(self):
        """Counts by paper, kind and verdict: paper -> list of (kind, verdict, count)."""
        found = pd.DataFrame(self.findings, columns=["paper", "kind", "verdict"])
        count = found.value_counts()
        columns = [(kind, verdict) for kind in fnd.KINDS for verdict in fnd.VERDICTS[kind]]
        return {paper: [(*c, count.get((paper, *c), 0)) for c in columns] for paper in _ordered({*found.paper})}

    def _api(self):
        """pdoc's pages of the package's docstrings."""
        pdoc.render.configure(docformat="numpy", template_directory=TEMPLATES / "api")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # other packages' annotations that pdoc cannot read
            pdoc.pdoc("privregret", output_directory=self.place / "api")


def _findings(record):
    """The findings with what pages show of them beside: number, address of their row, mark of their verdict."""
    rows = manifest.findings_frame(record).to_dict("records")
    for number, row in enumerate(sorted(rows, key=lambda row: _order(row["notebook"]))):
        row["paper"] = row["notebook"].split("/")[0]
        row["measured"] = manifest.measured(row)
        row["mark"] = ("yes", "no", "open")[fnd.VERDICTS[row["kind"]].index(row["verdict"])]
        row["id"] = f"f{number + 1}"
        row["told"] = manifest.headline(row)
    return sorted(rows, key=lambda row: int(row["id"][1:]))


def _order(name):
    keys = [*PAPERS]
    paper = name.split("/")[0]
    return keys.index(paper) if paper in keys else len(keys), _natural(name)


def _ordered(names):
    return sorted(names, key=_order)


def _natural(text):
    """A key that sorts 2 before 10."""
    return [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", text)]


def _algorithms(text):
    """The algorithms that a text names; of "Batched EXP3" the longer name counts, not EXP3."""
    found = []
    for label in sorted(style.ALGORITHMS, key=len, reverse=True):
        text, times = re.subn(rf"(?<![\w-]){re.escape(label)}(?![\w-])", "", text)
        found += [label] * bool(times)
    return sorted(found)
