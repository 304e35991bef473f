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
    digests = {file: digest(file.read_bytes()) for file in sources()}
    try:
        imports = [*_imports(code)]
    except SyntaxError:
        imports = [WHOLE]
    files = {*digests} - RENDERED if WHOLE in imports else set[Path]()
    while imports and not files >= digests.keys() - RENDERED:
        file = _defining(*imports.pop())
        if file in digests and file not in files | RENDERED:
            files.add(file)
            imports += _imported(file, digests[file])
    folders = {file.parent for file in files} - {PACKAGE}
    files |= {f for f in digests if f.suffix != ".py" and folders.intersection(f.parents)}
    files -= {f for f in files if f.parent.name == "templates"} - PUBLISHED
    return {file.relative_to(PACKAGE).as_posix(): digests[file] for file in sorted(files)}


@cache
def _imported(file, _):
    return [*_imports(file.read_text(encoding="utf-8"))]


def _imports(code) -> Iterator[tuple[str, str]]:
    """Yield (module, name in it or "") of what code imports from the package."""
    lines = ("" if line[:1] in ("%", "!") else line for line in code.splitlines())
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, ast.ImportFrom) and _ours(node.module):
            yield from ((node.module, name.name) for name in node.names)
        elif isinstance(node, ast.Import):
            # without another name it binds the package
            for module in (name for name in node.names if _ours(name.name)):
                yield (module.name, "") if module.asname else WHOLE


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
