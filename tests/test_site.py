"""The site: every link leads somewhere, every formula is drawn, and a browser on its pages makes
no request."""

import html
import re
import shutil
import subprocess
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote, urlsplit
from xml.etree import ElementTree

import nbformat
import pandas as pd
import pytest
from browser import complaints, requests

from privregret import __main__
from privregret.files import PACKAGE, ROOT
from privregret.press import captions, record, render
from privregret.press.places import BUILD

pytest.importorskip("sphinx")
pytest.importorskip("latex2mathml")
from privregret.press import site
from privregret.press.notebook import END
from privregret.press.site import notebooks, pages, tex

pytestmark = pytest.mark.xdist_group("site")
RECORD = record.read(ROOT)
BOOK, FIGURE, TABLE = "hu2021/6-experiments", "hu2021/figure-05", "wu2026/table-1"
OWN = "site.css", "filter.js", "find.js", "explore.js"  # the others belong to Sphinx and its theme
CELL = str(Path(tempfile.gettempdir()) / "ipykernel_12" / "34.py")  # what a warning calls a cell
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="


def executed():
    """A notebook after a run, with an output of each kind in a cell that publishes nothing."""
    book = nbformat.read(ROOT / "notebooks" / f"{BOOK}.ipynb", as_version=4)
    show = lambda data, **more: nbformat.v4.new_output("display_data", data, **more)  # noqa: E731
    cell = nbformat.v4.new_code_cell("1 + 1")
    cell.outputs = [
        show({"image/png": DOT, "text/plain": ""}),
        show(
            {
                "text/html": r'<table class="dataframe"><td>$\frac12$</td><td>(\%)</td></table>',
                "text/plain": "",
            }
        ),
        show({"application/vnd.jupyter.widget-view+json": {}, "text/plain": "IntSlider()"}),
        show({END: {"modules": []}, "text/plain": "it ran to its end in build/partial"}),
        nbformat.v4.new_output("execute_result", {"text/plain": r"Finding(claim='$\epsilon$')"}),
        nbformat.v4.new_output("stream", name="stderr", text=f"{CELL}:5: RuntimeWarning: x\n"),
    ]
    book.cells.insert(-1, cell)
    return book


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The site of what is committed, with the results of notebooks that have run here, and of one
    in any case."""
    folder = tmp_path_factory.mktemp("site")
    if (BUILD / "notebooks").exists():
        shutil.copytree(BUILD / "notebooks", folder / "notebooks")
    path = folder / "notebooks" / f"{BOOK}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(executed(), path)
    missing = site.build(folder / "site", executed=folder / "notebooks")
    assert set(missing) == {
        n for n in RECORD["notebooks"] if not (folder / "notebooks" / f"{n}.ipynb").exists()
    }
    return folder / "site"


class Page(HTMLParser):
    """What a page loads and links to, where it can be entered, and its text outside code."""

    SILENT = {"pre", "code", "script", "style"}

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loads, self.choices, self.images = {""}, [], [], {}, []
        self.text, self.silent, self.select = [], 0, None
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.ids.add(a.get("id", ""))
        if tag == "a" and "href" in a:
            self.links.append(a["href"])
        elif "href" in a:
            self.loads.append(a["href"])
        self.loads += [a[key] for key in ("src", "srcset", "data", "poster", "action") if key in a]
        if tag == "img":
            self.images.append(a)
        if tag == "select":
            self.select = self.choices.setdefault(a["name"], [])
        if tag == "option":
            self.select.append(a["value"])
        self.silent += tag in self.SILENT

    def handle_endtag(self, tag):
        self.silent -= tag in self.SILENT

    def handle_data(self, data):
        if not self.silent:
            self.text.append(data)


def parsed(root: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(root.rglob("*.html"))}


def broken(root: Path, found: dict) -> list[str]:
    """Links and loads of all pages below `root` that lead nowhere or away."""
    wrong = []
    for path, page in found.items():
        for address in page.links + page.loads:
            parts = urlsplit(address)
            if parts.scheme == "data" or (
                parts.scheme in ("http", "https") and address in page.links
            ):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            good = (
                not parts.scheme
                and not parts.netloc
                and target.is_file()
                and target.is_relative_to(root)
            )
            if good and "=" in parts.fragment:  # what a list is to show
                for name, values in parse_qs(parts.fragment).items():
                    good &= set(values) <= set(found[target].choices.get(name, []))
            elif good and parts.fragment:
                good = target in found and unquote(parts.fragment) in found[target].ids
            if not good:
                wrong.append(f"{path.relative_to(root)}: {address}")
    return wrong + away(root)


def away(root: Path) -> list[str]:
    """Files that style sheets and scripts of our own name and the site does not have."""
    wrong = []
    for path in root.rglob("*.css"):
        for address in re.findall(r"url\(['\"]?([^)'\"]+)", path.read_text()):
            inside = (
                address.startswith(("data:", "#"))
                or (path.parent / address.split("?")[0]).is_file()
            )
            wrong += [] if inside else [f"{path.name}: {address}"]
    own = [p for name in OWN for p in root.rglob(name)]
    return wrong + [
        str(p) for p in own if re.search(r"@import|https?:(?!//www.w3.org/)", p.read_text())
    ]


@pytest.fixture(scope="module")
def found(built):
    return parsed(built)


def test_every_link_leads_to_a_page_of_the_site(built, found):
    assert len(found) > len(RECORD["outputs"]) + len(RECORD["notebooks"])
    assert broken(built, found) == []


@pytest.mark.parametrize(
    "text",
    [
        '<a href="gone.html">',
        '<a href="#gone">',
        '<img src="http://example.org/x.png">',
        '<script src="//example.org/x.js"></script>',
        '<link href="https://example.org/x.css">',
        '<a href="/etc/hostname">',
        '<a href="#paper=gone">',
    ],
)
def test_the_check_of_links_finds(text, tmp_path):
    page = tmp_path / "index.html"
    page.write_text(
        '<a href="#here" id="here"><select name="paper"><option value="a"></select>'
        '<a href="#paper=a">'
    )
    assert broken(tmp_path, parsed(tmp_path)) == []
    page.write_text(f"<select name=paper><option value=a></select>{text}")
    assert len(broken(tmp_path, parsed(tmp_path))) == 1


def test_every_formula_is_drawn_and_every_picture_described(built, found):
    formulas = set()
    for path, page in found.items():
        if "api" not in path.relative_to(built).parts:
            left = re.search(r".{0,40}[$\\].{0,40}", "".join(page.text))
            assert not left, f"{path.name}: {left[0]}"
        assert [image for image in page.images if not image.get("alt")] == [], path
        formulas.update(re.findall(r"<math.*?</math>", path.read_text(), re.S))
    assert len(formulas) > 500
    for formula in formulas:
        assert not re.search(r"<merror|mathvariant=\"(?!normal)", formula), formula
        ElementTree.fromstring(formula)


def test_all_that_is_published_is_there(built):
    gallery, findings = ((built / name).read_text() for name in ("figures.html", "findings.html"))
    assert gallery.count('<article class="tile') == len(RECORD["outputs"])
    frame = pd.DataFrame(render.findings(RECORD))
    assert len(re.findall(r'<tr id="f\d+"', findings)) == len(frame)
    for name, entry in RECORD["outputs"].items():
        page = (built / "figures" / f"{name}.html").read_text()
        assert page.count('<li><span class="verdict') == (frame.figure == name).sum()
        for ending in entry["files"]:
            assert f'{name}{ending}" download' in page
            published = (ROOT / "figures" / f"{name}{ending}").read_bytes()
            assert (built / "figures" / f"{name}{ending}").read_bytes() == published
        draft = html.unescape(re.sub("<[^>]*>", "", page))
        assert f"\\input{{figures/{name}.tex}}" in draft
        assert (
            f'id="{name.split("/")[1]}"'
            in (built / f"notebooks/{entry['notebook']}.html").read_text()
        )
    first = html.unescape((built / "index.html").read_text())
    for sentence in frame.headline[frame.headline != ""]:
        assert sentence.split("{value}")[0].split("$")[0] in first
    assert set(pages.MOVING) <= set(RECORD["outputs"])
    errata = sum(len(pd.read_csv(p)) for p in (ROOT / "figures" / "companion").glob("errata-*.csv"))
    assert errata == (built / "errata.html").read_text().count("<tr data-paper")


def test_every_finding_stands_in_its_notebook_once(built):
    for notebook, entry in RECORD["notebooks"].items():
        page = (built / f"notebooks/{notebook}.html").read_text()
        rows = re.findall(
            r'<p class="found"><span [^>]*>[^<]*</span> <a href="[^"#]*#(f\d+)"', page
        )
        assert len(rows) == len(set(rows)) == len(entry.get("findings", []))


@pytest.mark.parametrize("name", pages.MOVING)
def test_what_moves_has_its_columns(name):
    frame = pd.read_csv(ROOT / "figures" / f"{name}.csv")
    plot = pages.MOVING[name]
    assert {plot["x"], plot["y"], plot["line"], *plot["choose"]} <= set(frame)
    assert all(frame[column].nunique() > 1 for column in (plot["line"], plot["choose"][-1]))


def test_a_notebook_shows_what_it_has_published():
    book = executed()
    book.cells.append(nbformat.v4.new_markdown_cell("last"))
    mine = {n: e for n, e in RECORD["outputs"].items() if e["notebook"] == BOOK}
    rows = [row for row in render.findings(RECORD) if row["notebook"] == BOOK]
    staged = notebooks.staged(
        book,
        mine,
        rows,
        lambda one: f"FOUND {one['claim']}" if isinstance(one, dict) else f"SHOWN {one}",
        lambda text: text.replace("last", "LAST"),
    )
    text = nbformat.writes(staged)
    quoted = [c.source for c in staged.cells if c.source.startswith(("SHOWN", "FOUND"))]
    assert sorted(quoted) == sorted(
        [f"SHOWN {n}" for n in mine] + [f"FOUND {row['claim']}" for row in rows]
    )
    at = next(i for i, c in enumerate(staged.cells) if c.source == f"SHOWN {FIGURE}")
    code = [c.source for c in staged.cells[:at] if c.cell_type == "code"]
    assert "publish.figure" in code[-1] and "LAST" in text
    assert DOT in text and text.count("image/png") == 1
    assert "<td>(%)</td>" in text and "IntSlider" not in text and "make lab" in text
    assert "Finding(" not in text and "build/partial" not in text and "notebook.end()" not in text
    assert CELL not in text and "cell, line 5: RuntimeWarning" in text


@pytest.mark.parametrize(
    ("path", "page"),
    [
        ("docs/large-runs.md", "large-runs.md"),
        ("CONTRIBUTING.md", "contributing.md"),
        ("README.md", "index.md"),
        ("figures/findings.csv", "findings.md"),
        (f"figures/{FIGURE}.png", f"figures/{FIGURE}.md"),
        (f"notebooks/{BOOK}.ipynb", f"notebooks/{BOOK}.ipynb"),
        ("notebooks/hu2021", "papers/hu2021.md"),
        ("src/privregret/simulate.py", "api/privregret.simulate.rst"),
        ("src/privregret/jit.py", None),
        ("benchmarks/README.md", None),
    ],
)
def test_links_of_the_project_lead_to_pages(path, page, tmp_path):
    made = pages.Pages(tmp_path, ROOT, tmp_path)
    at = Path("notebooks/companion/cost.ipynb")
    line = made.relinked(f"See [this](../../{path}), [that](https://example.org/a.md).", at)
    link = f"[this](/{page})" if page else "this"
    assert line == f"See {link}, [that](https://example.org/a.md)."


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (r"loss at $\epsilon=1$", "loss at ε=1"),
        (r"$\frac{\ln K}{\Delta_{\min}}$", "(ln K)/(Δ_min)"),
        (r"$2^{-k}$ and $\sqrt{KT/\epsilon}$", "2^(−k) and √(KT/ε)"),
        (r"$\sum_{j=1}^Kx_j$", "∑_(j=1)^Kx_j"),
        ("costs `runs` of 5", "costs `runs` of 5"),
    ],
)
def test_formulas_in_letters(source, line):
    assert tex.plain(source) == line


@pytest.mark.parametrize(
    ("source", "part"),
    [
        (r"\mathbb E\max_jx_j", ">𝔼<"),
        (r"\mathcal B", ">ℬ<"),
        (r"\mathbf 1", ">𝟏<"),
        (r"\max\big\{a,b\big\}", "&#x0007B;"),
        (r"K\ln K", '<mo lspace="0.167em" rspace="0.167em">ln</mo>'),
        (r"(\ln(K))", '<mo lspace="0em" rspace="0em">ln</mo>'),
        (r"1/2", '<mo lspace="0" rspace="0">/</mo>'),
        (r"X\sim P", "<mo>&#x0223C;</mo>"),
    ],
)
def test_formulas_are_spaced_and_lettered_as_in_print(source, part):
    assert part in tex.mathml(source)


def test_formulas_are_typeset_in_text_only():
    kept = '<code>$x$</code><pre>$x$</pre><a title="$x$">'
    page = tex.typeset(f"{kept}$a&lt;b$ <b>$$c$$</b> `run`")
    assert page.startswith(kept) and page.count("<math") == 2 and "$" not in page.removeprefix(kept)
    assert "&#x0003C;" in page and 'display="block"' in page and page.endswith("<code>run</code>")


def test_tables_and_captions_are_read_from_their_tex():
    alignment, rows = tex.table((ROOT / "figures" / f"{TABLE}.tex").read_text())
    assert alignment == "llllllr"
    assert rows[0] == ["setting", "bound", "where", "rate", "value", "FTNL", "regret"]
    assert rows[-1][0] == "deterministic" and {len(row) for row in rows} == {7}
    start = r"\begin{tabular}{@{}lp{0.3\linewidth}r@{}}" + "\n\\toprule\n"
    rows = (
        r"a & \rightskip0pt plus1fil\hspace{0pt}b & c \\"
        + "\n\\midrule\n"
        + r"d & e \& f & 1 \\"
        + "\n\\bottomrule"
    )
    assert tex.table(start + rows) == ("llr", [["a", "b", "c"], ["d", "e & f", "1"]])
    for name, entry in RECORD["outputs"].items():
        source = (ROOT / "figures" / f"{name}.tex").read_text()
        assert captions.caption(source)
        if entry["kind"] == "table":
            alignment, rows = tex.table(source)
            assert {len(row) for row in rows} == {len(alignment)}, name
    assert (
        captions.words(r"5\% of $a\%$, see~\ref{fig:a/b}, A et al.\ 2025")
        == "5% of $a\\%$, see\xa0a/b, A et al. 2025"
    )


def test_a_site_that_fails_leaves_the_old_one(tmp_path, monkeypatch):
    place = tmp_path / "site"
    place.mkdir()
    (place / "index.html").write_text("old")
    monkeypatch.setattr(pages, "write", lambda *_: ["hu2021/one"])

    def fails(settings, work):
        raise subprocess.CalledProcessError(2, "sphinx")

    monkeypatch.setattr(site, "sphinx", fails)
    with pytest.raises(subprocess.CalledProcessError):
        site.build(place)
    assert (place / "index.html").read_text() == "old"
    monkeypatch.setattr(site, "sphinx", lambda _, work: (work / "html").mkdir(parents=True))
    assert site.build(place) == ["hu2021/one"]
    assert [p.name for p in tmp_path.iterdir()] == ["site"]
    assert not (place / "index.html").exists() and (place / "figures" / "findings.csv").exists()


@pytest.mark.parametrize("code", [0, 1])
def test_the_command_reports_what_has_not_run_and_what_failed(code, monkeypatch, capsys):
    def build():
        if code:
            raise subprocess.CalledProcessError(2, "sphinx")
        return ["hu2021/one", "hu2021/two"]

    monkeypatch.setattr(site, "build", build)
    assert __main__.main(["site"]) == code
    out, err = capsys.readouterr()
    assert ("build/site/index.html" in out) == (not code)
    assert err.count("\n") == 1 and (code or ("`make`" in err and "hu2021/one, hu2021/two" in err))


def test_a_reference_that_leads_nowhere_stops_the_build(tmp_path, capfd):
    (tmp_path / "source").mkdir()
    (tmp_path / "source/index.md").write_text("# One page\n\nSee {doc}`gone` and $x$.\n")
    with pytest.raises(subprocess.CalledProcessError):
        site.sphinx(ROOT / "docs", tmp_path)
    assert "gone" in capfd.readouterr().err


def test_no_notebook_depends_on_the_site():
    others = [
        p
        for p in PACKAGE.rglob("*.py")
        if "site" not in p.parts[-2:-1] and p.name not in ("__main__.py", "command.py")
    ]
    assert [
        p.name for p in others if re.search(r"privregret\.site|import site", p.read_text())
    ] == []


def test_the_index_of_the_figures_names_them_all():
    text = render.texts(ROOT)["figures/README.md"]
    links = re.findall(r'\]\(([^)]+)\)|src="([^"]+)"', text)
    assert {a or b for a, b in links if not (ROOT / "figures" / (a or b)).exists()} == set()
    for name, entry in RECORD["outputs"].items():
        (line,) = (line for line in text.splitlines() if f"]({name}.csv)" in line)
        assert (f'<img src="{name}.png"' in line) == (entry["kind"] == "figure")
    assert "**Theorem 6: " in line_of(text, "hu2021/theorem-6")
    assert "; 1 reproduced, 1 not reproduced, 2 hold |" in line_of(text, "hu2021/theorem-6")


def line_of(text, name):
    return next(line for line in text.splitlines() if f"(`{name}`)" in line)


def eaten(markdown: str) -> list[str]:
    """Formulas that Markdown would change, and dollars and emphasis where there should be none."""
    from markdown_it import MarkdownIt

    wrong = []
    for block in MarkdownIt("commonmark").enable("table").parse(markdown):
        parts = [t for t in block.children or () if t.type != "html_inline"]
        for before, part, after in zip(parts, parts[1:], parts[2:], strict=False):
            if part.type == "code_inline" and before.content.endswith("$"):
                good = after.content.startswith("$") and not re.search(r"\w\$$", before.content)
                good &= not re.search(r"[|<>]|\\\\", part.content)
                bare = re.sub(r"\\[{}]", "", part.content)
                wrong += [] if good and bare.count("{") == bare.count("}") else [part.content]
                before.content, after.content = before.content[:-1], after.content[1:]
        wrong += [
            t.content for t in parts if "$" in t.content and t.type in ("text", "code_inline")
        ]
    return wrong


def test_no_formula_is_changed_by_markdown():
    texts = render.texts(ROOT)
    for path in ("figures/findings.md", "figures/README.md", "README.md"):
        assert eaten(texts[path]) == [] and texts[path].count("$`") == texts[path].count("`$") > 0
    said = [f[k] for f in render.findings(RECORD) for k in ("place", "claim", "quantity")]
    formulas = sum(len(re.findall(r"\$.*?\$", text)) for text in said)
    assert texts["figures/findings.md"].count("$`") == formulas > 1000


@pytest.mark.parametrize(
    "text",
    [
        "$x_1$",
        "$`a|b`$",
        "$`a`",
        "`a`$",
        "b$`a`$",
        "$`{a`$",
        "$`a<b`$",
        "| a |\n|---|\n| $`a\\|b`$ |",
    ],
)
def test_the_check_of_formulas_finds(text):
    assert eaten(text)
    assert not eaten(r"In *all* $`\{a_1,\,a_2\}`$-rounds and **for $`x*y*z`$**.")


@pytest.fixture
def reader(built, browser):
    """A browser on the first page, and what tests do with it."""
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get((built / "index.html").as_uri())
    complaints(browser)
    requests(browser)  # of other pages
    yield Reader(browser, WebDriverWait(browser, 60))
    assert complaints(browser) == []
    asked = requests(browser)
    assert [a for a in asked if urlsplit(a).scheme not in ("file", "data", "blob")] == []


class Reader:
    """What a reader does with a page."""

    def __init__(self, browser, wait):
        self.browser, self.wait = browser, wait

    def one(self, selector):
        return self.browser.find_element("css selector", selector)

    def showing(self, selector):
        """Those on the screen; one question to the browser, however many there are."""
        find = (
            "return [...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility())"
        )
        return self.browser.execute_script(find, selector)

    def follow(self, selector):
        address = self.browser.current_url
        self.browser.execute_script("arguments[0].click()", self.one(selector))
        self.wait.until(lambda b: b.current_url != address)


def test_a_reader_goes_from_the_first_page_to_a_notebook(reader):
    from selenium.webdriver.support.ui import Select

    assert len(reader.showing(".strip img.plot")) == pages.STRIP == 3
    assert all(image.size["width"] > 500 for image in reader.showing(".strip img.plot"))
    reader.follow('.bd-header a[href$="figures.html"]')
    assert len(reader.showing(".tile")) == len(RECORD["outputs"])
    Select(reader.one("select[name=paper]")).select_by_value("hu2021")
    Select(reader.one("select[name=algorithm]")).select_by_value("DP-SE")
    reader.one("input[name=words]").send_keys("figure-05 lazy")
    assert [tile.text.splitlines()[0][:8] for tile in reader.showing(".tile")] == ["Figure 5"]
    assert reader.one(".filter output").text == f"1 of {len(RECORD['outputs'])}"
    assert len(reader.showing("section[data-group] > h2")) == 1
    filtered = reader.browser.current_url
    reader.follow(f'.tile:not([hidden]) a[href="figures/{FIGURE}.html"]')
    assert reader.one("figure img").size["width"] > 300
    assert reader.one("figcaption math").size["width"] > 0
    reader.follow(".provenance a")
    assert reader.browser.current_url.endswith(f"notebooks/{BOOK}.html#figure-05")
    assert reader.one("#figure-05 img").size["width"] > 300
    assert len(reader.showing("details:not([open]) pre")) == 0
    assert len(reader.showing("a.right-next")) == len(reader.showing(".bd-sidebar-primary")) == 1
    reader.browser.get(filtered)
    reader.browser.refresh()
    assert len(reader.showing(".tile")) == 1
    reader.one("form button[type=reset]").click()
    reader.wait.until(lambda _: len(reader.showing(".tile")) == len(RECORD["outputs"]))


def test_findings_and_errata_are_filtered(reader, built):
    reader.browser.get((built / "findings.html").as_uri() + "#paper=wu2026&verdict=not+reproduced")
    frame = pd.DataFrame(render.findings(RECORD))
    failed = frame[frame.notebook.str.startswith("wu2026") & (frame.verdict == "not reproduced")]
    assert len(reader.showing("tbody tr")) == len(failed) > 0
    reader.browser.get((built / "findings.html").as_uri() + "#f1")  # a row that the filters hide
    reader.wait.until(lambda _: reader.one("#f1").is_displayed())
    reader.browser.get((built / "errata.html").as_uri())
    reader.one("input[name=words]").send_keys("gumbel")
    assert 0 < len(reader.showing("tbody tr")) < 10


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("Theorem 6", "figures/hu2021/theorem-6.html"),
        ("figure 5", "figures/hu2021/figure-05.html"),
        ("AnytimeLazyUCB", "api/privregret.bandits.html#privregret.bandits.AnytimeLazyUCB"),
        ("noisy max", "notebooks/hu2021/5-full-information.html"),
        ("SLURM", "large-runs.html"),
        ("whole epochs", "notebooks/companion/whole-epochs.html"),
    ],
)
def test_the_search_finds(words, page, reader, built):
    reader.browser.get((built / "search.html").as_uri() + f"?q={quote(words)}")
    reader.wait.until(lambda _: reader.showing("#found li"))
    first = [link.get_attribute("href") for link in reader.showing("#found li > a")[:5]]
    assert any(address.startswith((built / page).as_uri().replace("%23", "#")) for address in first)
    reader.follow("#found li a")
    assert (built / unquote(urlsplit(reader.browser.current_url).path)).is_file()


def test_the_search_starts_from_any_page_by_keys_alone(reader):
    from selenium.webdriver import ActionChains, Keys

    keys = ActionChains(reader.browser)
    keys.key_down(Keys.CONTROL).send_keys("k").key_up(Keys.CONTROL).perform()
    reader.wait.until(lambda _: reader.showing("dialog input[type=search]"))
    ActionChains(reader.browser).send_keys("Theorem 10", Keys.ENTER).perform()
    reader.wait.until(lambda b: "search.html" in b.current_url)
    reader.wait.until(lambda _: reader.showing("#found li"))
    assert "Theorem 10" in reader.one("#found li a").text
    assert reader.one("#find input").get_attribute("value") == "Theorem 10"


def test_keys_alone_reach_the_search_a_filter_and_a_notebook(reader, built):
    from selenium.webdriver import ActionChains, Keys

    def tab_to(selector):
        for _ in range(60):
            ActionChains(reader.browser).send_keys(Keys.TAB).perform()
            if reader.browser.execute_script(
                "return document.activeElement.matches(arguments[0])", selector
            ):
                return
        pytest.fail(f"60 tabs do not reach {selector}")

    press = lambda *keys: ActionChains(reader.browser).send_keys(*keys).perform()  # noqa: E731
    reader.browser.get((built / "figures.html").as_uri())
    tab_to("button.search-button__button")
    press(Keys.ENTER)
    reader.wait.until(lambda _: reader.showing("dialog input[type=search]"))
    press(Keys.ESCAPE)
    reader.wait.until(lambda _: not reader.showing("dialog input[type=search]"))
    tab_to("button.theme-switch-button")
    tab_to("select[name=paper]")
    press("wu")
    reader.wait.until(lambda _: 0 < len(reader.showing(".tile")) < len(RECORD["outputs"]))
    assert reader.browser.current_url.endswith("paper=wu2026")
    reader.browser.get((built / "papers/wu2026.html").as_uri())
    tab_to('main a[href*="notebooks/wu2026"]')
    press(Keys.ENTER)
    reader.wait.until(lambda b: "/notebooks/wu2026/" in b.current_url)


@pytest.mark.parametrize("name", ["azize2025/figure-04-tails", "hu2021/theorem-6"])
def test_a_figure_moves(name, reader, built):
    from selenium.webdriver import Keys
    from selenium.webdriver.support.ui import Select

    reader.browser.get((built / "figures" / f"{name}.html").as_uri())
    drawn = lambda: [p.get_attribute("d") for p in reader.showing(".explore path")]  # noqa: E731
    before = drawn()
    assert len(before) >= 4 and not any("NaN" in path for path in before)
    if sliders := reader.showing(".explore input[type=range]"):
        sliders[0].send_keys(Keys.ARROW_RIGHT)
    else:
        choice = Select(reader.one(".explore select"))
        choice.select_by_index(1)
    assert drawn() != before and not any("NaN" in path for path in drawn())
    assert reader.one("figure img").size["width"] > 300  # the published one stays


def test_without_scripts_all_is_shown(reader, built):
    count = "return document.querySelectorAll(arguments[0]).length"
    reader.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        reader.browser.get((built / "findings.html").as_uri())
        assert reader.browser.execute_script(count, "tbody tr[hidden]") == 0
        assert not reader.one("form.filter").is_displayed()
        reader.browser.get((built / "figures" / "hu2021/theorem-6.html").as_uri())
        assert not reader.one(".explore").is_displayed()
        assert reader.one("figure img").size["width"] > 300
    finally:
        reader.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_a_page_can_be_dark(reader):
    def brightness():
        colour = reader.browser.execute_script(
            "return getComputedStyle(document.querySelector('main')).color"
        )
        return sum(map(int, re.findall(r"\d+", colour)[:3]))

    light = brightness()
    reader.browser.execute_script("document.documentElement.dataset.theme = 'dark'")
    assert light < 300 < 500 < brightness()
    assert reader.one("button.theme-switch-button").get_attribute("aria-label")


def test_formulas_and_words_have_the_fonts_of_the_site(reader):
    loaded = reader.browser.execute_async_script(
        "const done = arguments[0]; document.fonts.ready.then(() => "
        "done([...document.fonts].filter(f => f.status === 'loaded').map(f => f.family)))"
    )
    assert {name.strip('"') for name in loaded} >= {"Source Sans 3", "STIX Two Math"}


def test_pages_fit_the_screen_and_load_without_error_or_request(built, browser):
    complaints(browser)
    requests(browser)  # of other tests
    wide, size = [], {"height": 800, "deviceScaleFactor": 1, "mobile": False}
    folders = ("api", "figures", "notebooks", "papers")
    others = sorted(p for folder in folders for p in (built / folder).rglob("*.html"))
    for path in sorted(built.glob("*.html")) + others[::12]:
        browser.get(path.as_uri())
        for width in (390, 1400):
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size | {"width": width})
            seen, needed = browser.execute_script(
                "return [innerWidth, document.documentElement.scrollWidth]"
            )
            assert seen == width
            if needed > width:
                wide.append((path.name, width))
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert wide == []
    assert complaints(browser) == []
    assert [a for a in requests(browser) if urlsplit(a).scheme not in ("file", "data")] == []
