"""The pages that Sphinx reads: docs/ and notebooks with links to pages, and the pages of figures,
tables and findings, written from the manifest."""

import posixpath
import re
import struct
from itertools import groupby
from pathlib import Path

import jinja2
import nbformat
import pandas as pd

from privregret.files import write as save
from privregret.press import captions, render, style
from privregret.press import findings as fnd
from privregret.press.papers import PAPERS
from privregret.press.site import notebooks, tex

STRIP = 3  # pictures on the first page: those of the first headlines
# Figures that move: columns for the axes, for lines, and for what a reader chooses.
TAILS = {"x": "regret", "y": "fraction", "line": "algorithm", "choose": ["instance", "epsilon"]}
TAILS |= {"steps": True, "log": ["regret", "fraction"]}
LOSSES = {"x": "n", "y": "loss", "line": "K", "choose": ["epsilon", "scale"], "log": ["n"]}
LOSSES["steps"] = False
MOVING = {f"azize2025/figure-0{n}-tails": TAILS for n in (4, 5, 6, 7)}
MOVING["hu2021/theorem-6"] = LOSSES
NAMES = {"epsilon": "ε", "n": "rounds in the epoch", "loss": "privacy loss / ε", "scale": "noise"}
NAMES |= {"regret": "regret of one run", "fraction": "fraction of runs with at least this regret"}
WORDS = {"hu2021": "Lap(1/ε), as printed", "corrected": "Lap(2/ε), corrected"}
PACKAGE = {"figure": "graphicx", "table": "booktabs"}
ROWS = 20  # of a long csv, on the page of its figure
LINK = re.compile(r"\]\((?!\w+:|#)([^)\s#]+)(#[^)\s]*)?\)")


def write(place: Path, root: Path, executed: Path) -> list[str]:
    """Write all pages below `place`; return the notebooks without an executed copy."""
    return Pages(place, root, executed).write()


class Pages:
    """The pages of a site below `place`, and what they are made from."""

    def __init__(self, place, root, executed):
        self.place, self.root, self.executed = place, root, executed
        self.manifest = render.read_whole(root)
        self.outputs = self.manifest["outputs"]
        self.findings = _findings(self.manifest)
        self.jinja = jinja2.Environment(
            loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=jinja2.StrictUndefined,
        )
        self.jinja.filters |= {"plain": tex.plain, "words": captions.words, "md": captions.markdown}
        self.jinja.globals |= {"papers": PAPERS, "kinds": fnd.KINDS, "verdicts": fnd.VERDICTS}
        self.jinja.globals |= {"link": link, "short": captions.short}

    def page(self, path, template, **values):
        """Write one page; `up` leads from it to the site's root."""
        text = self.jinja.get_template(template).render(up="../" * path.count("/"), **values)
        save(self.place / path, text.encode())

    def write(self):
        """Write all; return the notebooks without results."""
        for path in [*self.root.glob("docs/*.md"), *self.root.glob("C*.md")]:
            text = self.relinked(path.read_text(encoding="utf-8"), path.relative_to(self.root))
            save(self.place / path.name.lower(), text.encode())

        names = [n for n in _ordered(self.manifest["notebooks"]) if self.source(n).exists()]
        missing = [n for n in names if not (self.executed / f"{n}.ipynb").exists()]
        self.cards, books = {}, {}
        for name in names:
            path = self.source(name) if name in missing else self.executed / f"{name}.ipynb"
            notebook = nbformat.read(path, as_version=4)
            mine = {n: self.outputs[n] for n in _ordered(self.outputs) if self.made_by(n) == name}
            books[name] = {"name": name, "title": notebooks.heading(notebook), "outputs": mine}
            self.cards |= {n: self.card(n, books[name]) for n in mine}
            self.notebook(name, notebook, mine)
        for name, card in self.cards.items():
            self.page(f"figures/{name}.md", "figure.md", card=card, **_numbers(card))
        self.lists({p: [*b] for p, b in groupby(books.values(), lambda b: _paper(b["name"]))})
        return missing

    def source(self, name):
        return self.root / "notebooks" / f"{name}.ipynb"

    def made_by(self, output):
        return self.outputs[output]["notebook"]

    def notebook(self, name, notebook, mine):
        """Write a notebook, the figures and findings in it from the manifest."""
        template = self.jinja.get_template("published.md")

        def shown(one):
            given = {"finding": one} if isinstance(one, dict) else {"card": self.cards[one]}
            return template.render(up="../../", **given)

        book = notebooks.staged(
            notebook,
            mine,
            [f for f in self.findings if f["notebook"] == name],
            shown,
            lambda text: self.relinked(text, Path(f"notebooks/{name}.ipynb")),
        )
        save(self.place / "notebooks" / f"{name}.ipynb", nbformat.writes(book).encode())

    def lists(self, books):
        """Write the pages that list: papers, the gallery, findings, errata, parts of the first."""
        cards, every = self.cards, {"books": books, "cards": self.cards}
        for paper, mine in books.items():
            self.page(f"papers/{paper}.md", "paper.md", paper=paper, mine=mine, cards=cards)
            path = f"figures/{paper}/index.md"
            self.page(path, "paper-figures.md", paper=paper, mine=mine, cards=cards)
        choices = {
            "algorithm": sorted({a for card in cards.values() for a in card["algorithms"]}),
            "place": sorted({p for card in cards.values() for p in card["places"]}, key=_natural),
            "verdict": [*dict.fromkeys(v for some in fnd.VERDICTS.values() for v in some)],
        }
        self.page("figures.md", "figures.md", choices=choices, **every)
        self.page("findings.md", "findings.md", findings=self.findings, outputs=self.outputs)
        errata = [card for name, card in cards.items() if name.startswith("companion/errata-")]
        errata.sort(key=lambda card: [int(f["id"][1:]) for f in card["findings"]])  # as derived
        self.page("errata.md", "errata.md", parts=errata)
        headlines = [f for f in self.findings if f["headline"]]
        drawn = [f for f in headlines if cards.get(f["figure"], {}).get("kind") == "figure"]
        strip = [(cards[f["figure"]], f) for f in drawn[:STRIP]]
        claims = [f for f in self.findings if f["kind"] == fnd.CLAIM]
        count = sum(f["verdict"] == fnd.REPRODUCED for f in claims), len(claims)
        every |= {"strip": strip, "tally": self.tally(), "count": count}
        every["headlines"] = [f for f in headlines if f not in drawn[:STRIP]]
        for part in ("strip", "tally", "map"):
            self.page(f"home-{part}.inc", f"home-{part}.md", **every)

    def relinked(self, text, path):
        """Markdown of a file of the project with links to pages of the site; words elsewhere."""

        def to(found):
            target = posixpath.normpath(posixpath.join(path.parent.as_posix(), found[1]))
            page = self.target(target)
            return f"](/{page}{found[2] or ''})" if page else "]()"

        return re.sub(r"\[([^\]]*)\]\(\)", r"\1", LINK.sub(to, text))

    def target(self, path):
        """The page for a file of the project; None if the site has none."""
        stem, _, ending = path.rpartition(".")
        if path.startswith("figures/") and stem.removeprefix("figures/") in self.outputs:
            return f"{stem}.md"
        module = path.removeprefix("src/privregret/").removesuffix(".py").replace("/", ".")
        if path.startswith("src/") and f"privregret.{module}\n" in self.api:
            return f"api/privregret.{module}.rst"
        folder, _, name = path.partition("/")
        if folder in ("notebooks", "figures") and name in {_paper(n) for n in self.outputs}:
            return f"papers/{name}.md"
        known = {"figures/findings.md": "findings.md", "figures/findings.csv": "findings.md"}
        known |= {"README.md": "index.md", "notebooks": "index.md"}
        if path in known:
            return known[path]
        if (self.root / path).is_file() and ending in ("md", "ipynb"):
            if folder == "notebooks":
                return path
            if folder in ("docs", path):
                return path.removeprefix("docs/").lower()
        return None

    @property
    def api(self):
        return (self.root / "docs/api.md").read_text(encoding="utf-8")

    def card(self, name, book):
        """What the gallery and its own page show of a figure or table."""
        entry, path = self.outputs[name], f"{self.root}/figures/{name}"
        source = Path(f"{path}.tex").read_text(encoding="utf-8")
        frame = pd.read_csv(f"{path}.csv", keep_default_na=False, dtype=str)
        caption = captions.caption(source)
        found = [f for f in self.findings if f["figure"] == name]
        cells = {c for column in frame for c in frame[column] if re.search("[A-Za-z]{2}", c)}
        card = {
            "name": name,
            "paper": _paper(name),
            "title": captions.title(caption),
            "kind": entry["kind"],
            "entry": entry,
            "caption": caption,
            "source": source,
            "package": PACKAGE[entry["kind"]],
            "frame": frame,
            "printed": tex.table(source) if entry["kind"] == "table" else None,
            "algorithms": _algorithms("\n".join([*sorted(cells), caption])),
            "findings": found,
            "places": [*dict.fromkeys(f["place"] for f in found)],
            "tally": render.said(found),
            "book": book,
        }
        if entry["kind"] == "figure":
            width, height = struct.unpack(">II", Path(f"{path}.png").read_bytes()[16:24])
            inches = float(re.search(r"([\d.]+)in\\fi\]", source)[1])
            shown = round(min(130 * inches, 860))
            card |= {"width": shown, "height": round(shown * height / width)}
        return card

    def tally(self):
        """Count findings by verdict: paper -> (kind, verdict, count), as in the table."""
        count = pd.DataFrame(self.findings, columns=["paper", "kind", "verdict"]).value_counts()
        columns = [(kind, verdict) for kind in fnd.KINDS for verdict in fnd.VERDICTS[kind]]
        papers = _ordered({f["paper"] for f in self.findings})
        return {p: [(*column, count.get((p, *column), 0)) for column in columns] for p in papers}


def link(paper: str) -> str:
    """Return the address of a paper in the version that is reproduced.

    Examples
    --------
    >>> link("hu2021"), link("asi2025")
    ('https://arxiv.org/abs/2102.07929v2', 'https://proceedings.mlr.press/v267/')
    """
    version = PAPERS[paper].version
    if arxiv := re.search(r"arXiv:(\S+)", version):
        return f"https://arxiv.org/abs/{arxiv[1]}"
    volume = re.search(r"PMLR (\d+)", version)[1]
    return f"https://proceedings.mlr.press/v{volume}/"


def _findings(manifest):
    """The findings by paper and notebook, each with its number, paper and mark."""
    rows = render.findings(manifest)
    rows.sort(key=lambda row: _order(row["notebook"]))
    for number, row in enumerate(rows, 1):
        row["id"] = f"f{number}"
        row["mark"] = ("yes", "no", "open")[fnd.VERDICTS[row["kind"]].index(row["verdict"])]
    return rows


def _numbers(card):
    """The csv of a page or its first rows, and what moves."""
    frame = card["frame"]
    numbers = {c: pd.to_numeric(frame[c].replace("", "nan"), errors="coerce") for c in frame}
    numeric = {c: values.notna().any() for c, values in numbers.items()}
    rows = frame if len(frame) < 2 * ROWS else frame.head(ROWS)
    short = rows.apply(lambda column: column.map(_short))
    moving = MOVING.get(card["name"])
    if moving:
        columns = [moving["x"], moving["y"], moving["line"], *moving["choose"]]
        moving = moving | {"names": NAMES, "rows": frame[columns].to_numpy().tolist()}
        labels = sorted({*frame[moving["line"]]} & style.ALGORITHMS.keys())
        looks = {label: style.look(label)["color"] for label in labels}
        moving |= {"columns": columns, "colours": looks, "words": WORDS}
    return {"rows": short, "align": ["r" if numeric[c] else "l" for c in frame], "moving": moving}


def _short(text):
    """A number with at most six digits."""
    return f"{float(text):.6g}" if re.fullmatch(r"-?\d*\.\d{5,}(e[-+]\d+)?", text) else text


def _paper(name):
    return name.split("/")[0]


def _name(name):
    return name.split("/")[1]


def _order(name):
    """A key for names of notebooks and outputs: the papers in their order, then ours."""
    papers = [*PAPERS]
    return papers.index(_paper(name)) if _paper(name) in papers else len(papers), _natural(name)


def _ordered(names):
    return sorted(names, key=_order)


def _natural(text):
    """A key that sorts 2 before 10."""
    parts = re.split(r"(\d+)", text)
    return [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]


def _algorithms(text):
    """The algorithms that a text names; in "Batched EXP3" it is the longer name, not EXP3."""
    found = []
    for label in sorted(style.ALGORITHMS, key=len, reverse=True):
        text, times = re.subn(rf"(?<![\w-]){re.escape(label)}(?![\w-])", "", text)
        found += [label] * bool(times)
    return sorted(found)
