"""What README.md and CONTRIBUTING.md tell readers to type works, and what they link to is there."""

import argparse
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from conftest import ROOT

import privregret
from privregret import __main__ as command
from privregret.press import batch

DOCS = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").glob("*.md"))]
NAMES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", *DOCS]
PAGES = {name: (ROOT / name).read_text() for name in NAMES}
BLOCKS = [
    pytest.param(language, code, id=f"{name}-{i}-{language}")
    for name, text in PAGES.items()
    for i, (language, code) in enumerate(re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S))
]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
README = PAGES["README.md"]


def blocks(*languages):
    return [block for block in BLOCKS if block.values[0] in languages]


def commands():
    """Every command of the sh blocks, as words; without its comment."""
    lines = [line for block in blocks("sh") for line in block.values[1].splitlines()]
    return [
        words for line in lines if (words := shlex.split(line.removesuffix(" &"), comments=True))
    ]


def mentioned(program):
    found = [words[1:] for words in commands() if Path(words[0]).name == program]
    assert found, program
    return found


def test_every_block_is_of_a_kind_that_is_tested_here():
    assert {block.values[0] for block in BLOCKS} == {
        "sh", "python", "text", "tex", "bibtex",
    }  # fmt: skip
    assert {Path(words[0]).name for words in commands()} == {
        "make", "privregret", "papermill", "dask", "conda", "pip", "jupyter", "pre-commit",
    }  # fmt: skip


# `test_cluster` runs it
LARGE = [block for block in blocks("python") if "to_parquet" in block.values[1]]


@pytest.mark.parametrize(
    ("language", "code"), [block for block in blocks("python") if block not in LARGE]
)
def test_python(language, code, tmp_path):
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout and not list(tmp_path.iterdir())


ENGINE_ALONE = """
import sys
from importlib.abc import MetaPathFinder

FORBIDDEN = NAMES


class Nothing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in FORBIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Nothing())
"""


def beyond_the_engine():
    """Modules of the packages of the extras, which an environment with the engine alone lacks."""
    mine = {re.match(r"[\w-]+", line)[0] for line in PROJECT["dependencies"]}
    extras = {
        re.match(r"[\w-]+", line)[0]
        for lines in PROJECT["optional-dependencies"].values()
        for line in lines
    }
    modules = {
        module
        for module, packages in packages_distributions().items()
        if set(packages) & (extras - mine - {"setuptools"})
    }
    assert {
        "matplotlib",
        "seaborn",
        "IPython",
        "papermill",
        "nbformat",
        "jupyterlab",
    } <= modules
    return modules


def engine_alone():
    """Code after which what the extras bring cannot be imported."""
    return ENGINE_ALONE.replace("NAMES", repr(beyond_the_engine()))


@pytest.mark.parametrize(
    ("language", "code"),
    [block for block in blocks("python") if block not in LARGE and "press" not in block.values[1]],
)
def test_python_with_the_engine_alone(language, code, tmp_path):
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    code = engine_alone() + code
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout


@pytest.mark.parametrize("words", ["status", "reproduce"])
def test_the_command_names_what_is_missing(words, tmp_path):
    code = engine_alone()
    code += f"from privregret.__main__ import main; sys.exit(main({words.split()}))"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert "'.[notebooks]'" in done.stderr


def test_make_has_the_targets():
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M)
    named = {word for words in mentioned("make") for word in words}
    named |= set(re.findall(r"`make ([\w-]+)`", "".join(PAGES.values())))
    assert named <= set(targets)


@pytest.mark.parametrize("words", mentioned("privregret"), ids=" ".join)
def test_the_command_takes_what_is_said(words):
    args = command.parser().parse_args(words)
    names = batch.select(args.wanted, batch.notebooks())
    assert batch.jobs(names, batch.overrides(getattr(args, "p", [])))


@pytest.mark.parametrize("words", mentioned("papermill"), ids=" ".join)
def test_papermill_takes_what_is_said(words):
    """papermill's own parser reads the line; the notebook's check reads the parameters."""
    from papermill.cli import papermill

    context = papermill.make_context("papermill", list(words))
    assert (ROOT / context.params["notebook_path"]).exists()
    given = dict(context.params["parameters"]) | yaml.safe_load(
        "\n".join(context.params["parameters_yaml"]) or "{}"
    )
    texts = [(name, value) for name, value in given.items() if isinstance(value, str)]
    values = given | batch.overrides(texts)
    (job,) = batch.jobs(batch.select([context.params["notebook_path"]], batch.notebooks()), values)
    assert job.changed == values != {}


def test_pip_conda_and_jupyter_are_asked_for_what_is_there():
    names = {name for words in [*mentioned("conda"), *mentioned("jupyter")] for name in words}
    assert {"environment.yml", "notebooks"} <= names and (ROOT / "environment.yml").exists()
    assert [
        "activate",
        yaml.safe_load((ROOT / "environment.yml").read_text())["name"],
    ] in mentioned("conda")
    assert mentioned("pip") == [["install", "--no-deps", "--no-build-isolation", "-e", "."]]
    assert "jupyterlab" in {
        re.match(r"[\w-]+", line)[0] for line in PROJECT["optional-dependencies"]["notebooks"]
    }


def test_dask_scheduler_and_workers_on_loopback_only(tmp_path):
    """The lines as they stand, with another port: they compute, and listen nowhere else."""
    from distributed import Client

    from privregret import simulate
    from privregret.bandits import DPSE
    from privregret.instances import HU2021_2

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    started, environment = [], os.environ | {"PYTHONPATH": str(ROOT / "src")}
    try:
        for words in mentioned("dask"):
            words = [word.replace("8786", port) for word in words]
            line = [sys.executable, "-m", "dask", *words]
            started.append(
                subprocess.Popen(
                    line, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True
                )
            )
        assert len(started) == 2
        with Client(f"tcp://127.0.0.1:{port}", timeout=600) as client:
            client.wait_for_workers(1, timeout=600)
        with simulate.cluster(f"tcp://127.0.0.1:{port}"):
            curves = simulate.regret_curves(DPSE(1.0), HU2021_2, 1000, 4, 0, points=1)
        assert len(curves) == 4
    finally:
        said = "".join(map(ended, started[::-1]))
    addresses = set(re.findall(r"(?:tcp|http)://\[?([\w.:]+?)\]?:\d+", said))
    assert addresses == {"127.0.0.1"}, said


def ended(process):
    """Ends a process, by force if it hangs, as Dask's workers may; returns what it has written."""
    process.terminate()
    try:
        return process.communicate(timeout=20)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[1]


@pytest.mark.parametrize(("language", "code"), blocks("tex"))
def test_tex(language, code, tmp_path):
    preamble, body = code.split(r"\input", 1)
    (tmp_path / "main.tex").write_text(
        rf"\documentclass{{article}}{preamble}\begin{{document}}\input{body}\end{{document}}"
    )
    for name in re.findall(r"\\input\{([^}]+)\}", code):
        assert (ROOT / f"{name}.tex").exists()
    if not shutil.which("latexmk"):
        pytest.skip("no latexmk on the PATH")
    (tmp_path / "figures").symlink_to(ROOT / "figures")
    run = subprocess.run(
        ["latexmk", "-pdf", "-halt-on-error", "main"], cwd=tmp_path, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout[-2000:]
    assert (tmp_path / "main.pdf").stat().st_size > 10_000


def test_one_version_and_one_title():
    (entry,) = [block.values[1] for block in blocks("bibtex")]
    bib = dict(re.findall(r"(\w+) = \{+(.*?)\}+,", entry))
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    meta = json.loads((ROOT / "codemeta.json").read_text())
    changes, date = re.search(r"^## ([\d.]+) \(([\d-]+)\)", PAGES["CHANGELOG.md"], re.M).groups()
    assert (
        {bib["version"], cff["version"], meta["version"], changes}
        == {PROJECT["version"]}
        == {privregret.__version__}
    )
    assert (
        bib["title"] == cff["title"]
        and bib["author"] == cff["authors"][0]["name"] == meta["author"][0]["name"]
    )
    assert date == str(cff["date-released"]) == meta["dateModified"] and date.startswith(
        bib["year"]
    )
    assert meta["license"].endswith(PROJECT["license"]) and meta["license"].endswith(cff["license"])
    assert (
        meta["description"] == PROJECT["description"]
        and meta["keywords"] == PROJECT["keywords"] == cff["keywords"]
    )
    assert entry.startswith("@software{privregret,\n") and entry.endswith("\n}\n")


@pytest.mark.parametrize("page", [*PAGES, "paper/checklists.md"])
def test_links(page):
    text = (ROOT / page).read_text()
    links = re.findall(r"\]\(([^)\s]+)\)|(?:href|src)=\"([^\"]+)\"", text)
    here = (ROOT / page).parent
    missing = [a or b for a, b in links if not there(here, a or b)]
    assert missing == []


def there(folder, link):
    """Whether the file of a link exists, and the heading that it names."""
    path, _, heading = link.partition("#")
    if not heading:
        return (folder / path).exists()
    titles = re.findall(r"^#+ (.*)$", (folder / path).read_text(), re.M)
    return heading in {re.sub(r"[^\w -]", "", t).lower().replace(" ", "-") for t in titles}


def test_every_paper_has_a_line_with_its_notebooks_and_figures():
    linked = set(re.findall(r"\((?:notebooks|figures)/(\w+)\)", README))
    assert linked == {name.split("/")[0] for name in batch.notebooks()}
    assert all(README.count(f"/{key})") == 2 for key in linked)


def test_the_first_result_is_the_printed_one():
    """Words as they stand, numbers within rounding."""
    code, printed = (block.values[1] for block in BLOCKS[1:3])
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", code]
    shown = subprocess.check_output(command, env=environment, text=True).split()
    for here, there in zip(shown, printed.split(), strict=True):
        try:
            assert float(here) == pytest.approx(float(there), abs=0.11)
        except ValueError:
            assert here == there


def test_the_readme_is_short():
    assert len(README.split()) <= 700


def test_the_parser_has_help_on_everything():
    parsers = next(
        a for a in command.parser()._actions if isinstance(a, argparse._SubParsersAction)
    ).choices
    assert set(parsers) >= {"reproduce", "status"}
    assert all(action.help for parser in parsers.values() for action in parser._actions)
