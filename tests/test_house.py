"""The wings of the package: what may import what, and that private names stay in their modules."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter

import grimp
import pytest
from conftest import ROOT

SOURCES = {
    str(path.relative_to(ROOT)): ast.parse(path.read_text())
    for path in sorted((ROOT / "src/privregret").rglob("*.py"))
}
ABOVE_THE_ENGINE = ("press", "studies", "__main__.py")
NAMED_TUPLE = {"_replace", "_asdict", "_fields", "_make"}  # public, in spite of their names


def test_the_contracts_in_pyproject_hold():
    main = "from importlinter.cli import lint_imports_command; lint_imports_command(['--no-cache'])"
    done = subprocess.run([sys.executable, "-c", main], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-6000:]


def test_every_room_of_the_engine_is_in_the_contracts():
    """Else a new module would be free of them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
        "contracts"
    ]
    layers, forbidden = (
        next(c for c in contracts if c["type"] == kind) for kind in ("layers", "forbidden")
    )
    rooms = {
        path.stem
        for path in (ROOT / "src/privregret").iterdir()
        if path.suffix == ".py" or path.is_dir()
    }
    rooms = {f"privregret.{room}" for room in rooms - {"__init__", "__pycache__"}}
    named = set(re.findall(r"privregret\.\w+", " ".join(layers["layers"])))
    assert rooms <= named
    assert rooms - {"privregret.press", "privregret.studies", "privregret.__main__"} <= set(
        forbidden["source_modules"]
    )


@pytest.fixture(scope="module")
def imports():
    """Module -> the package's modules that it imports."""
    graph = grimp.build_graph("privregret", cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def room(module):
    """The module or package directly below `privregret` that a module belongs to."""
    return ".".join(module.split(".")[:2])


def test_no_circle_of_modules(imports):
    TopologicalSorter(imports).prepare()  # raises CycleError, with the circle


def test_no_circle_of_rooms(imports):
    rooms = {}
    for module, imported in imports.items():
        rooms.setdefault(room(module), set()).update(
            {room(name) for name in imported} - {room(module)}
        )
    assert sum(map(len, rooms.values())) > 50
    TopologicalSorter(rooms).prepare()


def private(name):
    return re.match(r"_[^_]", name) and not name.endswith("_") and name not in NAMED_TUPLE


def defined(tree):
    """Private names that a module gives to functions, classes, variables, fields and attributes."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


OWN = {name: set(filter(private, defined(tree))) for name, tree in SOURCES.items()}
OF_THE_PACKAGE = set().union(*OWN.values())


def used(tree):
    """(line, name) of private names that are imported, or reached in another object than `self` or
    `cls`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("privregret"):
            yield from ((node.lineno, alias.name) for alias in node.names if private(alias.name))
        elif isinstance(node, ast.Attribute) and private(node.attr):
            mine = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            mine |= (
                isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") == "super"
            )
            if not mine:
                yield node.lineno, node.attr
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "getattr":
            name = getattr(node.args[1], "value", "")
            if isinstance(name, str) and private(name):
                yield node.lineno, name


@pytest.mark.parametrize("module", SOURCES)
def test_no_private_name_of_another_module(module):
    strangers = OF_THE_PACKAGE - OWN[module]
    found = [f"{module}:{line} {name}" for line, name in used(SOURCES[module]) if name in strangers]
    assert found == []


NOTEBOOKS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "notebooks").rglob("*-*.ipynb"))


@pytest.mark.parametrize(
    "notebook", [pytest.param(name, id=name.removeprefix("notebooks/")) for name in NOTEBOOKS]
)
def test_no_private_name_of_the_package_in_a_notebook(notebook):
    cells = json.loads((ROOT / notebook).read_text())["cells"]
    trees = [
        (i, ast.parse("".join(c["source"])))
        for i, c in enumerate(cells)
        if c["cell_type"] == "code"
    ]
    found = [
        f"{notebook}, cell {i}, line {line} {name}"
        for i, tree in trees
        for line, name in used(tree)
    ]
    assert [place for place in found if place.split()[-1] in OF_THE_PACKAGE] == []


def test_the_engine_needs_its_own_dependencies_only():
    """What it imports from elsewhere is a core dependency; `sweep` and a Dask scheduler have an
    extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    core, sweep, cluster = (
        {re.match(r"[\w-]+", line)[0] for line in lines}
        for lines in (
            project["dependencies"],
            *(project["optional-dependencies"][k] for k in ("sweep", "cluster")),
        )
    )
    graph = grimp.build_graph("privregret", include_external_packages=True, cache_dir=None)
    outside = {
        name for name in graph.modules if graph.is_module_squashed(name)
    } - sys.stdlib_module_names
    needs = {
        (room(importer).removeprefix("privregret."), name)
        for name in outside
        for importer in graph.find_modules_that_directly_import(name)
    }
    engine = {
        (where, name) for where, name in needs if where not in ("press", "studies", "__main__")
    }
    assert {name for _, name in engine} >= {"numpy", "numba", "scipy"}
    extra = {"sweep": sweep, "simulate": cluster}
    assert (
        sorted(
            (where, name) for where, name in engine if name not in core | extra.get(where, set())
        )
        == []
    )


def test_no_test_of_an_error_is_bound_to_a_sentence():
    """`conftest.refused` checks the names and values in a message; a sentence may change."""
    found = [
        f"{path.name}:{node.lineno}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("raises", "warns")
        if any(keyword.arg == "match" for keyword in node.keywords)
    ]
    assert found == []


def decorators(node):
    """The names of a function's decorators."""
    made = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
    return {getattr(d, "id", getattr(d, "attr", "")) for d in made}


def untyped(tree, top=True):
    """(line, name) of public functions and methods that lack the type of an argument or of their
    result.

    Compiled kernels are exempt: numba infers their types.
    """
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from untyped(node, top=False)
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            continue
        if "jit" in decorators(node):
            continue
        a = node.args
        arguments = [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))]
        if not top and "staticmethod" not in decorators(node):
            arguments = arguments[1:]
        if node.returns is None or any(argument.annotation is None for argument in arguments):
            yield node.lineno, node.name


ENGINE = [name for name in SOURCES if name.split("/")[2] not in ABOVE_THE_ENGINE]
TYPED = [*ENGINE, "src/privregret/press/findings.py", "src/privregret/press/papers.py"]


@pytest.mark.parametrize("module", TYPED)
def test_public_functions_have_types(module):
    assert [f"{module}:{line} {name}" for line, name in untyped(SOURCES[module])] == []
