"""What README.md, CONTRIBUTING.md and docs/ tell readers to type works, and what they link to is
there."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from conftest import ROOT

from privregret import __main__ as command
from privregret.press import batch

NAMES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
NAMES += [str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").glob("*.md"))]
PAGES = {name: (ROOT / name).read_text() for name in NAMES}


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


@pytest.mark.skipif(not shutil.which("latexmk"), reason="no latexmk on the PATH")
def test_tex(tmp_path):
    for folder in ("figures", "paper"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    for code, _ in blocks("tex"):
        # without `\input` all is preamble
        preamble, read, body = code.partition(r"\input")
        text = (
            rf"\documentclass{{article}}{preamble}\begin{{document}}x{read}{body}\end{{document}}"
        )
        (tmp_path / "main.tex").write_text(text)
        line = ["latexmk", "-pdf", "-halt-on-error", "main"]
        subprocess.run(line, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)


def test_make_and_the_command_take_what_is_said():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))
    # the changes tell of earlier ones, too
    text = "".join(PAGES[name] for name in NAMES if name != "CHANGELOG.md")
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
    assert (
        labels == {"explore first", "Anytime-Lazy-UCB"} and (tmp_path / "final-regret.pdf").exists()
    )


def test_the_finding_that_is_read_aloud_is_as_it_is_published():
    (said,) = re.findall(r"^\| (.* ± .*)$", PAGES["docs/verdicts.md"], re.M)
    published = (ROOT / "figures/findings.md").read_text()
    assert said in re.sub(r"\[(.*?)\]\(.*?\)", r"\1", published)


@pytest.mark.parametrize("page", PAGES)
def test_links(page):
    here = (ROOT / page).parent
    links = re.findall(r"\]\(([^)\s]+)\)|(?:href|src)=\"([^\"]+)\"", PAGES[page])
    assert [a or b for a, b in links if not there(here, a or b)] == []


def there(folder, link):
    """Whether the file of a link exists, and the heading that it names."""
    path, _, heading = link.partition("#")
    if not heading:
        return (folder / path).exists()
    titles = re.findall(r"^#+ (.*)$", (folder / path).read_text(), re.M)
    return heading in {re.sub(r"[^\w -]", "", t).lower().replace(" ", "-") for t in titles}


def test_every_paper_has_its_notebooks_and_figures_in_the_readme():
    linked = re.findall(r"\((notebooks|figures)/(\w+)\)", PAGES["README.md"])
    papers = {name.split("/")[0] for name in batch.notebooks()}
    assert set(linked) == {(kind, key) for kind in ("notebooks", "figures") for key in papers}
