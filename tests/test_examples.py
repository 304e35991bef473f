"""Examples in docstrings of the engine: they run and give what they print, and no public function
is without one."""

import ast
import doctest
import importlib

import pytest
from conftest import ROOT
from test_house import ENGINE, SOURCES, decorators

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
MODULES = [
    name.removeprefix("src/").removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    for name in ENGINE
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(name)
    ran = doctest.testmod(module, optionflags=FLAGS)
    assert ran.failed == 0


def public(tree):
    """Public functions and classes of a module, and the classes' methods that take arguments; with
    their names.

    Compiled kernels are left out: what calls them has the example.
    """
    for node in tree.body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or node.name.startswith("_"):
            continue
        if isinstance(node, ast.FunctionDef) and "jit" in decorators(node):
            continue
        yield node, node.name
        if isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and not method.name.startswith("_"):
                    if len(method.args.args) > 1 and "abstractmethod" not in decorators(method):
                        yield method, f"{node.name}.{method.name}"


# What kernels take of the parameters, and the parts of `run` and `play`: their examples show it.
INNER = {"settings", "prepared", "data_of", "literal", "cluster", "scheduled", "shared"}
INNER |= {"keep_alive", "folder_of"}


def has_example(node):
    return ">>> " in (ast.get_docstring(node) or "")


# Bases of classes, results, tables for kernels and errors: met in the examples of what makes or
# takes them.
@pytest.mark.parametrize("module", [m for m in ENGINE if "code_key" not in m and "store" not in m])
def test_every_public_function_has_an_example(module):
    functions = [
        (node, name)
        for node, name in public(SOURCES[module])
        if isinstance(node, ast.FunctionDef) and node.name not in INNER
    ]
    missing = [
        f"{module}:{node.lineno} {name}" for node, name in functions if not has_example(node)
    ]
    assert missing == []


def test_examples_are_found():
    assert sum(has_example(node) for name in ENGINE for node, _ in public(SOURCES[name])) > 200
    assert (ROOT / ENGINE[0]).exists()
