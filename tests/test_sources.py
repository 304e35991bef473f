"""What a module depends on, read off its import statements."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from privregret import jit, noise, sources
from privregret.bandits import DPSE, lazy_ucb
from privregret.files import PACKAGE
from privregret.full_information import FTNL


def names(files):
    return {file.relative_to(PACKAGE).as_posix() for file in files}


def test_every_import_in_the_package_is_found():
    """By Python's own parser: modules and what is taken from them, top level and nested."""
    for file in PACKAGE.rglob("*.py"):
        code, wanted = file.read_text(), set()
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom):
                assert not node.level, file
                modules = [f"{node.module}.{alias.name}" for alias in node.names] + [node.module]
            elif isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            else:
                continue
            for module in modules:
                path = PACKAGE.parent.joinpath(*module.split("."))
                found = [p for p in (path / "__init__.py", path.with_suffix(".py")) if p.is_file()]
                if module.startswith("privregret.") and found:
                    wanted |= {*found}
        passed_through = {p for p in wanted if p.name == "__init__.py"}
        found = sources.imported(code)
        assert wanted - passed_through <= found, file
        assert found or not wanted, file


def test_an_algorithm_depends_on_what_it_imports_and_not_on_its_neighbours():
    found = names(sources.used_by(lazy_ucb.AnytimeLazyUCB))
    assert {"bandits/lazy_ucb.py", "bandits/queues.py", "noise.py", "jit.py"} <= found
    assert (
        not {"bandits/dp_se.py", "bandits/__init__.py", "full_information/ftnl.py", "simulate.py"}
        & found
    )
    assert not any(name.startswith(("press/", "studies/")) for name in found)
    both = sources.used_by(lazy_ucb.AnytimeLazyUCB, FTNL)
    assert both == sources.used_by(lazy_ucb) | sources.used_by(FTNL(1.0))


@pytest.mark.parametrize(
    "thing",
    [DPSE, DPSE(1.0), DPSE(1.0).play, noise.laplace, sources, sources.used_by],
    ids=lambda thing: type(thing).__name__,
)
def test_many_kinds_of_things_have_sources(thing):
    found = sources.used_by(thing)
    assert found and found == sources.used_by(
        *found & {max(found, key=lambda f: len(sources.used_by(f)))}
    )


def test_what_stands_in_no_file_has_no_sources():
    nowhere = {"__name__": "nowhere"}
    exec("class A: pass\ndef f(): pass", nowhere)
    for thing in (nowhere["A"], nowhere["A"](), nowhere["f"], 1):
        with pytest.raises(LookupError):
            sources.used_by(thing)


def test_a_class_of_ones_own_counts_with_its_file():
    class Own(DPSE):
        pass

    assert sources.used_by(Own) == sources.used_by(DPSE) | sources.used_by(Path(__file__))


def test_the_code_of_a_notebook():
    assert names(sources.imported("import numpy\nfrom privregret.files import ROOT")) == {
        "files.py"
    }
    assert names(sources.imported("if 1:\n    import privregret.files as f, math")) == {"files.py"}
    assert names(
        sources.imported("x = 1; from privregret import (  # (both)\n    files,  # )\n)")
    ) == {"files.py"}
    assert names(sources.imported("from privregret.noise \\\n  import laplace")) == names(
        sources.used_by(noise)
    )
    assert sources.imported("import privregret") == frozenset(PACKAGE.rglob("*.py"))
    assert names(sources.imported("from privregret import __version__")) == {"__init__.py"}
    for others in (
        ">>> from privregret import files",
        "from privregrets import a",
        "from privregret.no import b",
    ):
        assert not sources.imported(others)


def test_a_loop_made_from_a_template_depends_on_its_kernel():
    """Its code stands in one module, its name in another, and what it calls is put into its
    globals."""
    from types import FunctionType

    loop = FunctionType(names.__code__, {"relative_to": noise.laplace, "as_posix": None}, "loop")
    loop.__module__ = "privregret.progress"
    found = sources.used_by(loop)
    assert found == sources.used_by(Path(__file__)) | sources.used_by(noise) | names_of(
        "progress.py"
    )


def names_of(*paths):
    return sources.used_by(*(PACKAGE / path for path in paths))


def test_the_hash_changes_with_names_contents_and_borders(tmp_path):
    def of(**contents):
        for name, content in contents.items():
            (tmp_path / name).write_text(content)
            os.utime(tmp_path / name, ns=(0, next(times)))
        return sources.source_hash(tmp_path / name for name in contents)

    times = iter(range(1, 100))
    others = [
        of(a="xy", b=""),
        of(a="", b="xy"),
        of(a="x", c="y"),
        of(a="y", b="x"),
        of(a="x"),
        of(ab="xy"),
    ]
    assert len({of(a="x", b="y"), *others}) == 1 + len(others)
    assert of(a="x", b="y") == of(b="y", a="x")


PACKAGE_FILES = {
    "__init__.py": "",
    "base.py": "from privregret.constants import TWO\n",
    "constants.py": "TWO = 2\n",
    "things/__init__.py": "from privregret.things.one import One\nfrom .two import Two\nHERE = 1\n",
    "things/one.py": "import privregret.base\n",
    "things/two.py": "from . import one as other\nfrom ..lazy import f\n",
    "lazy.py": "def f():\n    from privregret.constants import TWO\n",
    "user.py": "from privregret.things import One\n",
    "whole.py": "from privregret.things import HERE\n",
    "star.py": "from privregret.things import *\n",
    "loop.py": "import privregret.back\n",
    "back.py": "from privregret.loop import x\n",
}
THINGS = {
    "things/__init__.py",
    "things/one.py",
    "things/two.py",
    "base.py",
    "constants.py",
    "lazy.py",
}
REACHED = {
    "base.py": {"base.py", "constants.py"},
    "lazy.py": {"lazy.py", "constants.py"},
    "things/two.py": {"things/two.py", "things/one.py", "base.py", "constants.py", "lazy.py"},
    "user.py": {"user.py", "things/__init__.py", "things/one.py", "base.py", "constants.py"},
    "whole.py": {"whole.py", *THINGS},
    "star.py": {"star.py", *THINGS},
    "loop.py": {"loop.py", "back.py"},
}


def test_imports_are_followed_and_names_found_through_packages(tmp_path):
    package = tmp_path / "src" / "privregret"
    for name, content in PACKAGE_FILES.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(content)
    for name in ("sources.py", "files.py"):
        (package / name).write_bytes((PACKAGE / name).read_bytes())
    code = f"""
import json
from privregret import sources
found = {{name: [str(f.relative_to(sources.PACKAGE)) \
for f in sources.used_by(sources.PACKAGE / name)]
         for name in {list(REACHED)}}}
before = sources.source_hash(sources.used_by(sources.PACKAGE / "user.py"))
assert sources.loaded_hash(sources.used_by(sources.PACKAGE / "user.py")) == before
(sources.PACKAGE / "constants.py").write_text("TWO = 22")
assert sources.loaded_hash(sources.used_by(sources.PACKAGE / "user.py")) is None
assert sources.loaded_hash(sources.used_by(sources.PACKAGE / "loop.py"))
(sources.PACKAGE / "new.py").write_text("")  # not looked at before, but perhaps imported
assert sources.loaded_hash([sources.PACKAGE / "new.py"]) is None
assert before != sources.source_hash(sources.used_by(sources.PACKAGE / "user.py"))
print(json.dumps(found))
"""
    environment = os.environ | {"PYTHONPATH": str(package.parent)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert {name: {*files} for name, files in json.loads(done.stdout).items()} == REACHED


def test_no_kernel_depends_on_what_publishes():
    kernels = [
        file
        for file in PACKAGE.rglob("*.py")
        if "@jit" in file.read_text() and file != Path(jit.__file__)
    ]
    assert len(kernels) > 10
    for file in kernels:
        others = names(sources.used_by(file)) - {file.relative_to(PACKAGE).as_posix()}
        assert not any(name.startswith(("press/", "studies/")) for name in others), file


@pytest.mark.parametrize(
    "other",
    [
        "def f(x: int = 1) -> int:\n    return x + 1\n",
        "# a comment\ndef f(x=1):\n    return (x + 1)  # another\n",
        'def f(\n    x=1,\n):\n    """What it does."""\n    return x + 1\n',
    ],
)
def test_words_types_and_layout_mean_nothing(other):
    code = "def f(x=1):\n    return x + 1\n"
    assert sources.meaning(other.encode()) == sources.meaning(code.encode())
    for wrong in (
        code.replace("+ 1", "+ 2"),
        code.replace("x=1", "x=2"),
        code.replace("f(", "g("),
        code + "f\n",
    ):
        assert sources.meaning(wrong.encode()) != sources.meaning(code.encode())


MESSAGE = 'def f(x):\n    if x < 1:\n        raise ValueError(f"x is {x}")\n    return x\n'


@pytest.mark.parametrize("other", ['"x is too small"', 'f"{x} is too small, the smallest is {1}"'])
def test_the_text_of_a_raised_error_means_nothing(other):
    code = MESSAGE.replace('f"x is {x}"', other)
    assert code != MESSAGE
    assert sources.meaning(code.encode()) == sources.meaning(MESSAGE.encode())


@pytest.mark.parametrize(
    "change",
    [
        ("ValueError", "TypeError"),  # an `except` clause may depend on it
        ('f"x is {x}"', "x"),
        ('f"x is {x}"', 'f"x is {x}", x'),
        ('f"x is {x}"', 'message("x")'),
        ("raise ", "return "),
        ("x < 1", "x < 2"),
        ("raise ", 'y = "x"; raise '),
    ],
)
def test_the_rest_of_a_raise_statement_is_code(change):
    code = MESSAGE.replace(*change)
    assert code != MESSAGE
    assert sources.meaning(code.encode()) != sources.meaning(MESSAGE.encode())


def test_other_strings_are_code():
    one, other = (f"def f():\n    return {text!r}\n".encode() for text in ("a", "b"))
    assert sources.meaning(one) != sources.meaning(other)


def test_a_memo_of_another_definition_does_not_count(monkeypatch, tmp_path):
    monkeypatch.setattr(sources, "MEANINGS", tmp_path)
    sources.meaning(b"x = 1")
    monkeypatch.setattr(sources, "DEFINITION", b"another")
    sources.meaning(b"x = 1")
    assert len([*tmp_path.iterdir()]) == 2


def test_the_types_of_fields_are_code():
    """Of a dataclass and of a NamedTuple they say what its fields are."""
    one, other = (f"class A:\n    x{kind} = 1\n".encode() for kind in (": int", ""))
    assert sources.meaning(one) != sources.meaning(other)


def test_a_damaged_memo_is_made_anew(monkeypatch, tmp_path):
    monkeypatch.setattr(sources, "MEANINGS", tmp_path)
    right = sources.meaning(b"x = 1")
    (memo,) = tmp_path.iterdir()
    memo.write_text(right[:10])
    assert sources.meaning(b"x = 1") == right == memo.read_text()
