"""What a notebook can reach of the package: enough, by what it runs, and no more, by its names."""

import ast
import sys
import threading

import pytest
from conftest import ROOT
from planted.run import execute

from privregret.core.files import PACKAGE
from privregret.press import batch, reached

FILES = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}


@pytest.mark.parametrize(
    "code, inside, outside",
    [
        ("from privregret.bandits import DPSE", "bandits/dp_se.py", "bandits/ucb1.py"),
        ("from privregret.bandits import DPSE", "bandits/base.py", "bandits/__init__.py"),
        ("from privregret import bandits", "bandits/ucb1.py", "adversarial/exp3.py"),
        ("from privregret.bounds import hu2021 as x", "bounds/hu2021.py", "bounds/wu2026.py"),
        ("import privregret.rare as rare", "rare.py", "privacy/ledger.py"),
        ("import privregret.rare", "privacy/ledger.py", "press/render.py"),
        ("from privregret.press import publish", "press/tex.py", "press/batch.py"),
        ("from privregret.press import publish", "press/palette.toml", "press/render.py"),
        (
            "from privregret.press import publish",
            "press/templates/table.tex",
            "press/templates/README.md",
        ),
        ("def f():\n    from privregret import tables\n%time x", "tables.py", "rare.py"),
        ("import numpy as privregret_rare\nfrom os import path", None, "rare.py"),
        ("no Python", "privacy/ledger.py", "press/render.py"),
    ],
)
def test_imports_are_followed_by_name(code, inside, outside):
    found = reached.hashes(code)
    assert outside not in found and (PACKAGE / outside).exists()
    assert inside in found if inside else not found


@pytest.mark.parametrize("name", ["azize2025/B-release-models", "asi2025/G-exp3-leakage"])
def test_what_a_notebook_runs_is_what_it_reaches(name, tmp_path):
    ran = set()

    def note(frame, *_):
        ran.add(frame.f_code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        execute(name, tmp_path)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    # templates of pages run as well
    files = {name for name, path in FILES.items() if str(path) in ran}
    assert len(files) > 10
    # the package itself hands on its modules, and pages are made at the end
    allowed = {"__init__.py", "press/render.py"}
    assert files - allowed <= set(reached.hashes(batch.read(name)[1]))


def acts(body):
    """What a module assigns to, or calls a method of, that it has imported from the package."""
    found = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    ours = {
        (one.asname or one.name).partition(".")[0]
        for node in found
        for one in node.names
        if (getattr(node, "module", None) or one.name).startswith("privregret")
    }
    kept = ast.FunctionDef, ast.ClassDef
    nodes = [n for top in body if not isinstance(top, kept) for n in ast.walk(top)]
    targets = [t for n in nodes for t in getattr(n, "targets", [getattr(n, "target", None)])]
    targets += [n.value.func for n in nodes if isinstance(n, ast.Expr) and hasattr(n.value, "func")]
    for target in targets:
        place = target
        while isinstance(place, ast.Attribute | ast.Subscript):
            place = place.value
        if place is not target and getattr(place, "id", None) in ours:
            yield ast.unparse(target)


def test_no_module_acts_on_another_when_it_is_imported():
    """Then what is not reached decides nothing."""
    bad = """from privregret import rare
from privregret.core.jit import jit
rare.X = 1
jit.y[2] += 1
rare.z.append(3)"""
    assert [*acts(ast.parse(bad).body)] == ["rare.X", "jit.y[2]", "rare.z.append"]
    found = {name: [*acts(ast.parse(path.read_text("utf8")).body)] for name, path in FILES.items()}
    # the look of figures, which is matplotlib's, and a listener, which is numba's
    allowed = [["compiler.before_compiling"], ["style.use"], ["style.use"]]
    assert sorted(filter(None, found.values())) == allowed


def test_sources_are_read_from_the_clone():
    (job,) = batch.jobs(["hu2021/H-lower-bound"], {})
    paths = [path for path in batch.inputs(job) if path.startswith("src/")]
    assert paths and all((ROOT / path).is_file() for path in paths)
