"""Which files of the package a notebook can reach by its imports, and so which edits make it stale.

Imports are followed by name: `from privregret.bandits import DPSE` reaches the module that defines
DPSE, and what that imports, but no other algorithm. This rests on a rule, which a test checks: no
module of the package acts on another one when it is imported.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from privregret.core.files import PACKAGE, digest, sources

# these make pages and decide no number; of templates only those of figures and tables do
RENDERED = {PACKAGE / "press/render.py"}
WHOLE = PACKAGE.name, ""
PUBLISHED = {PACKAGE / "press/templates" / f"{name}.tex" for name in ("figure", "table", "star")}


def hashes(code: str) -> dict[str, str]:
    """Return the files that code reaches, as paths in the package, and their hashes; all files for
    `import privregret`, and for code that is no Python. Data count for every module in their folder
    or above."""
    files = {file: digest(file.read_bytes()) for file in sources()}
    try:
        todo, found = [*_imports(code)], set[Path]()
    except SyntaxError:
        todo, found = [WHOLE], set()
    if WHOLE in todo:
        todo, found = [], {*files} - RENDERED
    while todo:
        file = _defining(*todo.pop())
        if file in files and file not in found | RENDERED:
            found.add(file)
            todo += _imported(file, files[file])
    folders = {file.parent for file in found} - {PACKAGE}
    found |= {f for f in files if f.suffix != ".py" and folders.intersection(f.parents)}
    found -= {f for f in found if f.parent.name == "templates"} - PUBLISHED
    return {file.relative_to(PACKAGE).as_posix(): files[file] for file in sorted(found)}


@cache
def _imported(file, _):
    return [*_imports(file.read_text(encoding="utf-8"))]


def _imports(code) -> Iterator[tuple[str, str]]:
    """Yield (module, name in it or "") of what code imports from the package."""
    lines = ("" if line[:1] in ("%", "!") else line for line in code.splitlines())
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, ast.Import):
            # without another name it binds the package
            found = [
                (one.name, "") if one.asname else WHOLE for one in node.names if _ours(one.name)
            ]
        elif isinstance(node, ast.ImportFrom) and _ours(node.module):
            found = [(node.module, one.name) for one in node.names]
        else:
            continue
        yield from found


def _ours(module):
    return (module or "").partition(".")[0] == PACKAGE.name


def _defining(module, name):
    """The file that defines a name of a module, where packages hand it on."""
    place = PACKAGE.parent.joinpath(*module.split("."))
    if not place.is_dir():
        return place.with_suffix(".py")
    init = place / "__init__.py"
    if name and ((place / name).is_dir() or (place / f"{name}.py").is_file()):
        return _defining(f"{module}.{name}", "")
    handed = {n: m for m, n in _imported(init, digest(init.read_bytes())) if n}
    return _defining(handed[name], name) if handed.get(name, module) != module else init
