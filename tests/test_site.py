"""The site, built from docs/ and a notebook of each folder: no warning, and every link leads
somewhere."""

import base64
import html
import io
import re
import shutil
import subprocess
import sys
from urllib.parse import unquote, urlsplit

import nbformat
import PIL.Image
import pytest
from conftest import ROOT

pytest.importorskip("sphinx")
BOOKS = {path.parent.name: path for path in sorted(ROOT.glob("notebooks/*/*.ipynb"))}
RUN = BOOKS["hu2021"].relative_to(ROOT).with_suffix("")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site; the last cell of `RUN` has outputs."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs", folder / "source/docs")
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, folder / "source")
    (folder / "source/figures").mkdir()
    page = f"# {{}}\n\n[Run](../{RUN}.ipynb), [not here](hu2021/figure-05.png): $`T^2`$.\n"
    for name in ("README", "findings", "errata"):
        (folder / f"source/figures/{name}.md").write_text(page.format(name))
    PIL.Image.new("1", (1, 1)).save(pixel := io.BytesIO(), "png")
    pixel = base64.b64encode(pixel.getvalue()).decode()
    for path in BOOKS.values():
        book = nbformat.read(path, as_version=4)
        if path.match(f"{RUN}.ipynb"):
            data = {"image/png": pixel}, {"text/markdown": r"90 \% of $Q$"}, {"text/html": "$k$"}
            book.cells[-1].outputs = [nbformat.v4.new_output("display_data", d) for d in data]
        (folder / "source" / path.relative_to(ROOT).parent).mkdir(parents=True)
        nbformat.write(book, folder / "source" / path.relative_to(ROOT))
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-c", ROOT / "docs"]
    done = subprocess.run([*command, folder / "source", folder / "html"], stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr.decode()
    return folder / "html"


def test_a_notebook_shows_its_pictures_and_formulas(site):
    page = site / f"{RUN}.html"
    text = page.read_text()
    (picture,) = re.findall(r'src="([^"]+_images/[^"]+\.png)"', text)
    assert (page.parent / picture).exists()
    assert r"\(Q\)" in text and 'class="output text_html"' in text
    assert r"\(T^2\)" in (site / "figures/README.html").read_text()
    assert "DP-SE" in (site / "docs/api/privregret.bandits.html").read_text()


def test_links_lead_somewhere(site):
    pages = {page: page.read_text() for page in site.glob("[!_]*/**/*.html")}
    assert len(pages) > 30
    broken = []
    for page, text in pages.items():
        for link in re.findall(r'(?:href|src)="([^"]*)"', text):
            url = urlsplit(html.unescape(link))
            place = (page.parent / unquote(url.path)).resolve() if url.path else page
            known = url.scheme or url.netloc or place.exists()
            if known and url.fragment and place in pages:
                known = f'id="{unquote(url.fragment)}"' in pages[place]
            if not known:
                broken.append((page.name, link))
    assert broken == []
