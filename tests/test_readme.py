"""What README.md, CONTRIBUTING.md and docs/ tell readers to type works, what they link to is there,
and so it is on the site, if `make site` has built it; what is published can be quoted."""

import html
import inspect
import pkgutil
import re
import shlex
import shutil
import subprocess
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from conftest import ROOT

import privregret
from privregret import __main__ as command
from privregret.core.algorithm import Privacy
from privregret.press import batch
from privregret.press.papers import PAPERS
from privregret.privacy import ledger

FIGURES, SITE = ROOT / "figures", ROOT / "build/site"
NAMES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
NAMES += [str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").glob("*.md"))]
PAGES = {name: (ROOT / name).read_text() for name in NAMES}
# of the project as it is: the changes tell of earlier ones, too
NOW = [name for name in NAMES if name != "CHANGELOG.md"]


def blocks(language):
    """The blocks of code in a language, and what is shown to be printed by the one before it."""
    fenced = rf"^```{language}\n(.*?)^```$(?:\n\n```(?:text|output)\n(.*?)^```$)?"
    return [block for text in PAGES.values() for block in re.findall(fenced, text, re.M | re.S)]


# `test_installed` runs these; a large run writes its grid, and `test_cluster` runs that
CODE = [pair for pair in blocks("python") if '"grid' not in pair[0] and "press" not in pair[0]]


def mentioned(program):
    """The commands of the sh blocks that run this program, as words; without its name."""
    lines = "".join(code for code, _ in blocks("sh")).splitlines()
    commands = [shlex.split(line.removesuffix(" &"), comments=True) for line in lines]
    found = [words[1:] for words in commands if words and Path(words[0]).name == program]
    assert found, program
    return found


def test_dask_listens_on_loopback_only():
    """Whoever reaches a scheduler or a worker runs code there."""
    lines = mentioned("dask")
    assert [line[0] for line in lines] == ["scheduler", "worker"]
    for line in lines:
        for option in ("--host", "--dashboard-address"):
            assert line[line.index(option) + 1].startswith("127.0.0.1"), line


BARE = r"""\documentclass[%s]{article}
\usepackage{graphicx,booktabs,%s}
\graphicspath{{%s/}}
\begin{document}
%s
\end{document}
"""


typesets = pytest.mark.skipif(not shutil.which("latexmk"), reason="no latexmk on the PATH")


@typesets
def test_tex(tmp_path):
    for folder in ("figures", "paper"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    for code, _ in blocks("tex"):
        # without `\input` all is preamble
        preamble, read, body = code.partition(r"\input")
        text = rf"\documentclass{{article}}{preamble}\begin{{document}}x{read}{body}"
        (tmp_path / "main.tex").write_text(text + r"\end{document}")
        line = ["latexmk", "-pdf", "-halt-on-error", "main"]
        subprocess.run(line, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)


@typesets
@pytest.mark.parametrize("columns", ["onecolumn", "twocolumn"])
@pytest.mark.parametrize("verdicts", [False, True])
def test_published_files_compile_in_a_bare_article(columns, verdicts, tmp_path):
    """With the packages that they say they need, and nothing sticks out."""
    of_verdicts = "verdicts.tex", "not-reproduced.tex", "errata.tex", "statements.tex"
    paths = [p for p in sorted(FIGURES.rglob("*.tex")) if (p.name in of_verdicts) == verdicts]
    marked = rf"\typeout{{>>%s}}\input{{{FIGURES}/%s}}\clearpage"
    quoted = "\n".join(marked % (name, name) for name in (p.relative_to(FIGURES) for p in paths))
    packages = "amssymb" if verdicts else "amsmath"
    (tmp_path / "bare.tex").write_text(BARE % (columns, packages, FIGURES, quoted))
    line = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "bare"]
    run = subprocess.run(line, cwd=tmp_path, capture_output=True)
    parts = (tmp_path / "bare.log").read_text(errors="replace").split("\n>>")
    assert run.returncode == 0, parts[-1][-2000:]
    assert len(parts) == len(paths) + 1 > 1
    for part in parts:
        wide = map(float, re.findall(r"Overfull \\hbox \(([\d.]+)pt", part))
        assert max(wide, default=0) <= 2, part.split("\n", 1)[0]


def test_make_and_the_command_take_what_is_said():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))
    text = "".join(PAGES[name] for name in NOW)
    named = {word for words in mentioned("make") for word in words}
    named |= set(re.findall(r"`make ([\w-]+)`", text))
    assert named and named <= targets
    for words in mentioned("privregret"):
        args = command.parser().parse_args(words)
        names = batch.select(args.wanted, batch.notebooks())
        assert batch.jobs(names, batch.overrides(getattr(args, "p", [])))


def test_papermill_takes_what_is_said():
    """papermill's own parser reads the line; the notebook's check reads the parameters."""
    from papermill.cli import papermill

    for words in mentioned("papermill"):
        given = papermill.make_context("papermill", words).params
        values = {name: batch.fitted(str(value), 0) for name, value in given["parameters"]}
        values |= yaml.safe_load("\n".join(given["parameters_yaml"]) or "{}")
        (job,) = batch.jobs(batch.select([given["notebook_path"]], batch.notebooks()), values)
        assert job.changed == values != {}


def test_ones_own_algorithm_stands_next_to_others(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    code = "".join(re.findall(r"^```python\n(.*?)^```$", PAGES["CONTRIBUTING.md"], re.M | re.S))
    exec(code, names := {})
    labels = {text.get_text() for text in names["figure"].axes[0].get_legend().get_texts()}
    assert labels == {"explore first", "Anytime-Lazy-UCB"}
    assert (tmp_path / "final-regret.pdf").exists()
    table = names["HU2021_2"].table(30, 1)
    run = ledger.traced(names["ExploreFirst"](0.5, pulls=3), table, 1)
    assert ledger.costs(run).max() == pytest.approx(0.5)


def test_the_finding_that_is_read_aloud_is_as_it_is_published():
    (said,) = re.findall(r"^\| (.* ± .*)$", PAGES["docs/verdicts.md"], re.M)
    assert said in re.sub(r"\[(.*?)\]\(.*?\)", r"\1", (ROOT / "figures/findings.md").read_text())


@pytest.mark.parametrize("page", PAGES)
def test_links(page):
    links = re.findall(r"\]\(([^)\s]+)\)|(?:href|src)=\"([^\"]+)\"", PAGES[page])
    assert [a or b for a, b in links if not there(ROOT / page, a or b)] == []


def there(page, link):
    """Whether the file of a link exists, and the heading that it names."""
    path, _, heading = link.partition("#")
    file = page.parent / path if path else page
    if not heading:
        return file.exists()
    titles = re.findall(r"^#+ (.*)$", file.read_text(), re.M)
    return heading in {re.sub(r"[^\w -]", "", t).lower().replace(" ", "-") for t in titles}


@pytest.mark.every_paper
def test_every_paper_has_its_notebooks_and_figures_in_the_readme():
    linked = re.findall(r"\((notebooks|figures)/(\w+)\)", PAGES["README.md"])
    papers = {name.split("/")[0] for name in batch.notebooks()}
    assert set(linked) == {(kind, key) for kind in ("notebooks", "figures") for key in papers}


@pytest.mark.every_paper
def test_how_many_papers_there_are_is_nowhere_typed():
    """So that another one changes no sentence, but the title."""
    texts = [*ROOT.glob("paper/**/*.tex"), *ROOT.glob("src/privregret/press/templates/*")]
    texts += [ROOT / name for name in (*PAGES, "CITATION.cff", "pyproject.toml")]
    texts += [*ROOT.glob("notebooks/*/*.ipynb"), *ROOT.glob("notebooks/*/*.toml")]
    texts.remove(ROOT / "CHANGELOG.md")
    words = "none one two three four five six seven eight nine ten".split()
    number = "|".join([str(len(PAPERS)), *words[len(PAPERS) : len(PAPERS) + 1]])
    typed = re.compile(rf"\b({number}) (recent )?papers\b", re.I)
    named = "reproducible companion to five papers"
    told = {path: typed.search(path.read_text().replace(named, "")) for path in texts}
    assert {path: found[0] for path, found in told.items() if found} == {}


def test_the_page_of_a_new_paper_names_tests_that_are_there():
    text = PAGES["docs/new-paper.md"].partition("## What each must keep to")[2]
    rows = re.findall(r"^\| (?!contract|-).* \| (.*) \|$", text, re.M)
    assert len(rows) > 15
    for row in rows:
        file, *tests = re.findall(r"`(test_\w+)`", row)
        files = [ROOT / f"tests/{file}.py", *(ROOT / f"tests/{one}.py" for one in tests)]
        said = "".join(path.read_text() for path in files if path.exists())
        named = [one for one in tests if not (ROOT / f"tests/{one}.py").exists()]
        assert named and all(f"def {one}(" in said for one in named), row


def named(page):
    """What a page has in backticks, outside blocks of code."""
    text = re.sub(r"^(```|~~~).*?^\1$", "", PAGES[page], flags=re.M | re.S)
    return re.findall(r"(?<![`$])`([^`\n]+)`(?![`$])", text)


MODULES = [one.name for one in pkgutil.walk_packages(privregret.__path__, "privregret.")]
SOURCES = [*ROOT.glob("src/privregret/**/*.*"), *ROOT.glob("tests/**/*.py")]


def lacks(name):
    """Whether a page names by it a file, module, function, class, constant or variable that the
    project does not have; KEY and NAME, and what is made, are no such names."""
    if re.search(r"KEY|NAME|<|^[.~]|^build", name):
        return False
    if re.fullmatch(r"[\w./-]+(/|\.(py|toml|csv|txt|lock|tex|json))", name):
        tracked = [*ROOT.glob(name), *(one for one in SOURCES if one.match(name.rstrip("/")))]
        return not (tracked or [*ROOT.glob(f"src/**/{name}")])
    if found := re.fullmatch(
        r"PRIVREGRET_\w+|[A-Z][A-Za-z]{4,}|[A-Z_]{5,}", name.partition("=")[0]
    ):
        used = re.compile(rf"^(class )?{found[0]}\b|\"{found[0]}\"", re.M)
        return not any(used.search(one.read_text()) for one in SOURCES if one.suffix == ".py")
    first, *rest = name.partition("(")[0].split(".")
    modules = [one for one in MODULES if one.split(".")[-1] == first]
    if first == "privregret":
        return not exists(privregret, rest)
    if not modules or not re.fullmatch(r"\w+(\.\w+)+", name.partition("(")[0]):
        return False
    # an attribute of algorithms, too
    owners = [*map(import_module, modules), *([Privacy] if first == "privacy" else [])]
    return not any(exists(owner, rest) for owner in owners)


def exists(owner, names):
    for name in names:
        if inspect.ismodule(owner) and f"{owner.__name__}.{name}" in MODULES:
            import_module(f"{owner.__name__}.{name}")
        if name not in getattr(owner, "__dataclass_fields__", ()) and not hasattr(owner, name):
            return False
        owner = getattr(owner, name, None)
    return True


@pytest.mark.parametrize("page", NOW)
def test_what_a_page_names_is_there(page):
    assert [name for name in named(page) if lacks(name)] == []


def test_commands_in_a_sentence_are_taken():
    lines = [name for page in NOW for name in named(page) if name.startswith("privregret ")]
    assert lines
    for line in lines:
        command.parser().parse_args(shlex.split(line.replace("KEY", "hu2021"))[1:])


built = pytest.mark.skipif(not (SITE / "docs").exists(), reason="needs make site")


@built
def test_links_lead_somewhere_and_pages_show_pictures_and_formulas_without_a_network():
    found = [SITE / "index.html", *SITE.glob("[!_]*/**/*.html")]
    pages, broken = {page: page.read_text() for page in found}, []
    for page, text in pages.items():
        assert not re.search(r'<(?:script|link)\b[^>]*(?:src|href)="(?:https?:)?//', text), page
        for link in re.findall(r'(?:href|src)="([^"]*)"', text):
            url = urlsplit(html.unescape(link))
            place = (page.parent / unquote(url.path)).resolve() if url.path else page
            known = url.scheme or url.netloc or place.exists()
            if known and url.fragment and place in pages:
                known = f'id="{unquote(url.fragment)}"' in pages[place]
            broken += [] if known else [(page.name, link)]
    assert broken == [] and len(pages) > 30
    page = pages[SITE / "notebooks/hu2021/6-experiments.html"]
    assert r"\(" in page and "_static/mathjax/tex-chtml.js" in page
    assert re.search(r'src="[^"]+_images/[^"]+\.png"', page)
