"""The site, if `make site` has built it, as `.ci/run` does: every link leads somewhere."""

import html
import re
from urllib.parse import unquote, urlsplit

import pytest
from conftest import ROOT

SITE = ROOT / "build/site"
pytestmark = pytest.mark.skipif(not (SITE / "docs").exists(), reason="needs make site")


def test_pages_show_pictures_and_formulas():
    page = SITE / "notebooks/hu2021/6-experiments.html"
    pictures = re.findall(r'src="([^"]+_images/[^"]+\.png)"', page.read_text())
    assert pictures and all((page.parent / picture).exists() for picture in pictures)
    assert r"\(" in page.read_text() and r"\(" in (SITE / "figures/README.html").read_text()
    assert "DP-SE" in (SITE / "docs/api/privregret.bandits.html").read_text()


def test_pages_need_no_network():
    pages = [page.read_text() for page in SITE.glob("**/*.html")]
    assert any("_static/mathjax/tex-chtml.js" in page for page in pages)
    assert (SITE / "_static/mathjax/tex-chtml.js").exists()
    loaded = [link for page in pages for link in re.findall(r"<(?:script|link)\b[^>]*>", page)]
    assert [link for link in loaded if re.search(r'(?:src|href)="(?:https?:)?//', link)] == []


def test_links_lead_somewhere():
    found = [SITE / "index.html", *SITE.glob("[!_]*/**/*.html")]
    pages = {page: page.read_text() for page in found}
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
