"""The site: every link leads somewhere, every formula is drawn, and a browser on its pages asks
nobody for anything."""

import base64
import html
import re
import shutil
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree import ElementTree

import nbformat
import pandas as pd
import pytest
from browser import complaints, requests

from privregret import __main__
from privregret.files import PACKAGE, ROOT
from privregret.press import record, render
from privregret.press.places import BUILD

pytest.importorskip("pdoc")
pytest.importorskip("latex2mathml")
from privregret.press import site as pages
from privregret.press.notebook import END
from privregret.press.site import notebooks, tex

pytestmark = pytest.mark.xdist_group("site")
RECORD = record.read(ROOT)
BOOK, FIGURE, TABLE = "hu2021/6-experiments", "hu2021/figure-05", "wu2026/table-1"
CELL = str(Path(tempfile.gettempdir()) / "ipykernel_12" / "34.py")  # what a warning calls a cell
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="


def executed():
    """A notebook as it is after a run, with an output of each kind."""
    book = nbformat.read(ROOT / "notebooks" / f"{BOOK}.ipynb", as_version=4)
    picture = base64.b64encode((ROOT / "figures" / f"{FIGURE}.png").read_bytes()).decode()
    show = lambda data, **more: nbformat.v4.new_output("display_data", data, **more)  # noqa: E731
    book.cells[-1].outputs = [
        show({"image/png": picture, "text/plain": ""}, metadata={"image/png": {"width": 442}}),
        show(
            {
                "text/markdown": rf"*{FIGURE}.* Regret (Hu et al.\ 2021) over $\epsilon<1$.",
                "text/plain": "",
            }
        ),
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
        nbformat.v4.new_output("stream", name="stderr", text=f"{CELL}:5: RuntimeWarning: $ \\ \n"),
    ]
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
    missing = pages.build(folder / "site", executed=folder / "notebooks")
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
            elif (
                good and parts.fragment and "api" not in path.parts
            ):  # pdoc links fields that it leaves out
                good = target in found and unquote(parts.fragment) in found[target].ids
            if not good:
                wrong.append(f"{path.relative_to(root)}: {address}")
    styles = [p for p in root.rglob("*") if p.suffix in (".css", ".js") and "api" not in p.parts]
    return wrong + [str(p) for p in styles if re.search(r"url\(|@import|https?:", p.read_text())]


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
    gallery, findings = (built / name for name in ("gallery.html", "findings.html"))
    assert len(re.findall(r'<article class="card', gallery.read_text())) == len(RECORD["outputs"])
    frame = pd.DataFrame(render.findings(RECORD))
    assert len(re.findall(r'<tr id="f\d+"', findings.read_text())) == len(frame)
    for name, entry in RECORD["outputs"].items():
        page = (built / "figures" / f"{name}.html").read_text()
        assert page.count('<li><span class="verdict') == (frame.figure == name).sum()
        for ending in entry["files"]:
            assert f'{name}{ending}" download' in page
            published = (ROOT / "figures" / f"{name}{ending}").read_bytes()
            assert (built / "figures" / f"{name}{ending}").read_bytes() == published
        assert f"\\input{{figures/{name}.tex}}" in page
    first = (built / "index.html").read_text()
    for sentence in frame.headline[frame.headline != ""]:
        assert sentence.split("{value}")[0].split("$")[0] in html.unescape(first)
    assert set(pages.STRIP) <= set(RECORD["outputs"])
    slips = sum(len(pd.read_csv(p)) for p in (ROOT / "figures" / "companion").glob("errata-*.csv"))
    assert slips == (built / "errata.html").read_text().count("<tr data-paper")


def test_a_notebook_shows_its_figures_from_their_pages():
    book = executed()
    book.cells.append(
        nbformat.v4.new_markdown_cell(
            "See [this](../companion/errata.ipynb) and [that](../x/y.ipynb)."
        )
    )
    text, shown = notebooks.body(book, RECORD["outputs"], set(RECORD["notebooks"]))
    text = tex.typeset(text)
    assert shown == [FIGURE]
    assert f'<img src="../../figures/{FIGURE}.png" width="442"' in text
    assert (
        f'id="figure-05" href="../../figures/{FIGURE}.html"' in text and "(Hu et al. 2021)" in text
    )
    assert DOT in text and text.count("data:") == 1
    assert "<mfrac><mn>1</mn><mn>2</mn></mfrac>" in text and "<td>(%)</td>" in text
    assert "IntSlider" not in text and "make lab" in text
    assert "Finding(" not in text and "build/partial" not in text
    assert CELL not in text and "cell, line 5: RuntimeWarning" in text
    assert '<a href="../companion/errata.html">this</a> and that.' in text


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
    assert alignment == "llllrlr"
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
        assert tex.caption(source)
        if entry["kind"] == "table":
            alignment, rows = tex.table(source)
            assert {len(row) for row in rows} == {len(alignment)}, name
    assert (
        tex.words(r"5\% of $a\%$, see~\ref{fig:a/b}, A et al.\ 2025")
        == "5% of $a\\%$, see\xa0a/b, A et al. 2025"
    )


def test_a_site_that_fails_leaves_the_old_one(tmp_path, monkeypatch):
    place = tmp_path / "site"
    place.mkdir()
    (place / "index.html").write_text("old")
    monkeypatch.setattr(pages._Site, "_notebooks", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        pages.build(place)
    assert (place / "index.html").read_text() == "old"
    monkeypatch.setattr(pages._Site, "write", lambda self: ["hu2021/one"])
    assert pages.build(place) == ["hu2021/one"]
    assert [p.name for p in tmp_path.iterdir()] == ["site"] and not list(place.iterdir())


def test_the_command_says_what_has_not_run(monkeypatch, capsys):
    monkeypatch.setattr(pages, "build", lambda: ["hu2021/one", "hu2021/two"])
    assert __main__.main(["site"]) == 0
    out, err = capsys.readouterr()
    assert "build/site/index.html" in out
    assert err.count("\n") == 1 and "`make`" in err and "hu2021/one, hu2021/two" in err


def test_no_notebook_depends_on_the_site():
    others = [
        p
        for p in PACKAGE.rglob("*.py")
        if "site" not in p.parts[-2:-1] and p.name not in ("__main__.py", "command.py")
    ]
    assert [
        p.name for p in others if re.search(r"privregret\.site|import site", p.read_text())
    ] == []


def test_the_index_beside_the_figures_names_them_all():
    text = render.texts(RECORD)["figures/README.md"]
    links = re.findall(r'\]\(([^)]+)\)|src="([^"]+)"', text)
    assert {a or b for a, b in links if not (ROOT / "figures" / (a or b)).exists()} == set()
    for name, entry in RECORD["outputs"].items():
        (line,) = (line for line in text.splitlines() if f"]({name}.csv)" in line)
        assert (f'<img src="{name}.png"' in line) == (entry["kind"] == "figure")
    assert "| 1 reproduced, 1 not reproduced, 2 hold |" in next(
        n for n in text.splitlines() if "| theorem-6 |" in n
    )


def test_a_browser_reads_it_from_disk_and_asks_nobody(built, browser):
    from selenium.common.exceptions import StaleElementReferenceException
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select, WebDriverWait

    # a page that is being made anew may take away what was just found: look again
    wait = WebDriverWait(browser, 60, ignored_exceptions=[StaleElementReferenceException])

    def one(selector):
        return browser.find_element(By.CSS_SELECTOR, selector)

    def showing(selector):
        """Those on the screen; one question to the browser, however many there are."""
        find = (
            "return [...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility())"
        )
        return browser.execute_script(find, selector)

    def follow(selector):
        address = browser.current_url
        browser.execute_script("arguments[0].click()", one(selector))
        wait.until(lambda b: b.current_url != address)

    browser.get((built / "index.html").as_uri())
    follow('nav a[href="gallery.html"]')
    assert len(showing(".card")) == len(RECORD["outputs"])
    Select(one("select[name=paper]")).select_by_value("hu2021")
    Select(one("select[name=algorithm]")).select_by_value("DP-SE")
    one("input[name=words]").send_keys("figure-05 lazy")
    assert [card.text.splitlines()[0] for card in showing(".card")] == ["figure-05"]
    assert one("output").text == f"1 of {len(RECORD['outputs'])}"
    assert [heading.text for heading in showing("section > h2")] == ["hu2021"]
    filtered = browser.current_url
    follow(f'.card:not([hidden]) a[href="figures/{FIGURE}.html"]')
    assert one("figure img").size["width"] > 300 and one("figcaption math").size["width"] > 0
    one("[data-copy]").click()
    assert one("[data-copy]").text == "copied"
    follow("dd a")
    assert browser.current_url.endswith(f"notebooks/{BOOK}.html#figure-05")
    assert one("a.picture img").size["width"] > 300
    code = len(showing("details.code pre"))
    one("#fold").click()
    assert code > 3 and showing("details.code pre") == []

    browser.get(filtered)
    browser.refresh()
    assert len(showing(".card")) == 1
    one("form button[type=reset]").click()
    wait.until(lambda _: len(showing(".card")) == len(RECORD["outputs"]))
    browser.get((built / "findings.html").as_uri() + "#paper=wu2026&verdict=not+reproduced")
    frame = pd.DataFrame(render.findings(RECORD))
    failed = frame[frame.notebook.str.startswith("wu2026") & (frame.verdict == "not reproduced")]
    assert len(showing("tbody tr")) == len(failed) > 0
    browser.get((built / "findings.html").as_uri() + "#f1")  # a row that the filters hide
    wait.until(lambda _: one("#f1").is_displayed())
    browser.get((built / "errata.html").as_uri())
    one("input[name=words]").send_keys("gumbel")
    assert 0 < len(showing("tbody tr")) < 10
    browser.get((built / "api" / "privregret.html").as_uri())
    one("input[type=search]").send_keys("AnytimeLazyUCB")
    wait.until(lambda _: "AnytimeLazyUCB" in one("main").text)

    assert complaints(browser) == []
    asked = requests(browser)
    assert any(address.endswith("gallery.html") for address in asked)
    assert [
        address for address in asked if urlsplit(address).scheme not in ("file", "data", "blob")
    ] == []


def test_no_page_is_wider_than_the_screen(built, browser):
    wide, size = [], {"height": 800, "deviceScaleFactor": 1, "mobile": False}
    others = sorted(
        p for folder in ("figures", "notebooks") for p in built.glob(f"{folder}/*/*.html")
    )
    for path in sorted(built.glob("*.html")) + others[::12]:
        browser.get(path.as_uri())
        for width in (400, 1400):
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size | {"width": width})
            seen, needed = browser.execute_script(
                "return [innerWidth, document.documentElement.scrollWidth]"
            )
            assert seen == width
            if needed > width:
                wide.append((path.name, width))
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert wide == []
