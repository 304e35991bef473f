"""Captions and claims: the TOML file next to a notebook, filled from the notebook's names.

`[figure.KEY]` and `[table.KEY]` have a caption, `[claim.KEY]` a claim with its criterion.
`«name»` or `«name:spec»` stands for a phrase of `[text]`, for a name of the notebook, or for a
paper's key, which gives the paper as captions cite it.
"""

import ast
import fnmatch
import json
import re
from pathlib import Path
from typing import Any

from privregret.core.files import ROOT, toml
from privregret.estimates import Estimate
from privregret.press.findings import KINDS, SIGNS, criterion
from privregret.press.papers import PAPERS
from privregret.press.tex import integer

NOTEBOOKS = ROOT / "notebooks"
SLOT = re.compile("«([^»:]*):?([^»]*)»")
# per section: what an entry must have, and what it may have
FIELDS: dict[str, tuple[set, set]] = {
    "figure": ({"caption"}, set()),
    "table": ({"caption"}, {"columns", "formats", "widths"}),
    "claim": ({"place", "claim", "quantity"}, {"kind", "note", "macro", "figure", "rows"}),
}
FIELDS["claim"][1].update(SIGNS, ("within", "headline", "rank", "repair", "stands"))
CALLS = {"figure": "figure", "table": "table", "verdict": "claim", "verdicts": "claim"}
STANDS = ("yes", "partly", "no")


class TextError(ValueError):
    """A text that is missing, not used or not well-formed."""

    def _render_traceback_(self):
        return [f"TextError: {self}"]


def read(file: Path) -> dict[str, dict]:
    """Return section -> key -> entry; TextError in one line for a file that breaks the rules."""
    found = toml(file, TextError)
    texts: dict[str, dict] = {section: found.pop(section, {}) for section in (*FIELDS, "text")}
    if found:
        raise TextError(f"{file.name}: no section [{min(found)}]: {', '.join(texts)} are allowed")
    for section, (must, may) in FIELDS.items():
        for key, entry in texts[section].items():
            where = f"{file.name}, [{section}.{key}]"
            if not isinstance(entry, dict) or must - entry.keys():
                raise TextError(f"{where} must have {', '.join(sorted(must))}")
            if unknown := entry.keys() - must - may:
                allowed = ", ".join(sorted(must | may))
                raise TextError(f"{where}: no field {min(unknown)}: {allowed} are allowed")
            if section == "claim":
                _check_claim(where, entry)
    return texts


def of_notebook(name: str) -> dict[str, dict]:
    """Return the texts in `notebooks/<name>.toml`, or of a notebook outside the project in the
    current folder; {} without a file. TextError if they and its code do not agree."""
    files = NOTEBOOKS / f"{name}.toml", Path(f"{Path(name).name}.toml")
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        return {}
    texts, book = read(file), file.with_suffix(".ipynb")
    if not book.is_file():
        return texts
    cells = json.loads(book.read_bytes())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    if wrong := problems(texts, code):
        raise TextError(f"{file.name}: {wrong[0]}")
    return texts


def _check_claim(where, entry):
    forms = {f: v for f, v in entry.items() if f in (*SIGNS, "within")}
    # a criterion may name a number of the notebook
    named = {f: 1.0 for f, v in forms.items() if isinstance(v, str) and SLOT.search(v)}
    try:
        criterion(**forms | named)
    except (TypeError, ValueError) as problem:
        raise TextError(f"{where}: {problem}") from None
    if entry.get("kind", "claim") not in KINDS:
        raise TextError(f"{where}: kind must be {', '.join(KINDS)}, got {entry['kind']!r}")
    if entry.get("stands", "yes") not in STANDS or ("stands" in entry) != ("repair" in entry):
        raise TextError(f"{where}: stands must be {', '.join(STANDS)}, with repair")


def entry(texts: dict, section: str, key: str) -> dict:
    """Return the entry for a key, or the one whose key is a pattern that it matches."""
    entries = texts.get(section, {})
    match = key if key in entries else next((p for p in entries if fnmatch.fnmatch(key, p)), None)
    if match is None:
        raise TextError(f"no [{section}.{key}]: known are {', '.join(entries) or 'none'}")
    return entries[match]


def fill(template: str, names: dict, phrases: dict) -> str:
    """Return a text in one line, with its slots filled."""

    def value(slot):
        name, spec = slot.groups()
        if name in phrases:
            return fill(phrases[name], names, phrases)
        if name in PAPERS:  # which a module of the same name must not hide
            return PAPERS[name].cited
        if name not in names:
            raise TextError(f"«{name}» is no name of the notebook")
        try:
            return shown(names[name], spec)
        except (TypeError, ValueError) as problem:
            raise TextError(f"«{name}:{spec}» cannot be printed: {problem}") from None

    # a second line would end a comment of TeX, or a row of Markdown
    return re.sub(r"\s*[\n\r\f\v\x85\u2028\u2029]\s*", " ", SLOT.sub(value, template))


def filled(thing: Any, names: dict, phrases: dict) -> Any:
    """Return an entry with all slots of its strings filled."""
    if isinstance(thing, str):
        return fill(thing, names, phrases)
    if isinstance(thing, dict):
        return {key: filled(value, names, phrases) for key, value in thing.items()}
    if isinstance(thing, list):
        return [filled(value, names, phrases) for value in thing]
    return thing


def shown(value: Any, spec: str) -> str:
    """Return a value as a text shows it, an estimate without its error, a list with commas; `tex`
    for large numbers."""
    if isinstance(value, str):
        return value
    if isinstance(value, Estimate):
        value = value.value
    if hasattr(value, "__iter__"):
        return ", ".join(shown(item, spec) for item in value)
    if not hasattr(value, "__float__"):
        raise TypeError(f"it is a {type(value).__name__}, neither text nor number")
    if spec == "tex":
        return integer(value)
    return format(value, spec or ("g" if isinstance(value, float) else ""))


def problems(texts: dict, cells: list[str]) -> list[str]:
    """The unknown keys, unused keys and unknown names of texts and of code cells, a line each."""
    found, assigned, given = [], {"cited", "value"} | set(PAPERS) | set(texts["text"]), set()
    used: dict[str, list[str]] = {section: [] for section in FIELDS}
    for cell in cells:
        tree = ast.parse("\n".join(line for line in cell.splitlines() if line[:1] not in "%!"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                assigned.add(node.id)
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                assigned.add(node.name)
            elif isinstance(node, ast.alias):
                assigned.add((node.asname or node.name).split(".")[0])
            elif section := _section(node):
                keys = [_pattern(a) for a in node.args[:3] if _pattern(a)]
                used[section] += keys[:1]
                given |= {k.arg for k in node.keywords if k.arg}
    for section, keys in used.items():
        known = texts[section]
        for key in keys:
            if not any(fnmatch.fnmatch(key, k) or fnmatch.fnmatch(k, key) for k in known):
                found.append(f"publish names [{section}.{key}], which is not in the file")
        for k in known:
            if not any(fnmatch.fnmatch(key, k) or fnmatch.fnmatch(k, key) for key in keys):
                found.append(f"[{section}.{k}] is not used")
    for where, text in _strings(texts, ""):
        for name, _ in SLOT.findall(text):
            if name not in assigned | given:
                found.append(f"{where}: «{name}» is no name of the notebook")
    return found


def _section(node):
    """Return the section from which a call of `publish` takes its text, or None."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="publish"), attr=attr)):
            return CALLS.get(attr)


def _pattern(node):
    """Return a key, with * where an f-string fills something in; None for other arguments."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(v.value if isinstance(v, ast.Constant) else "*" for v in node.values)
    return None


def _strings(thing, where):
    if isinstance(thing, str):
        yield where, thing
    elif isinstance(thing, dict):
        for key, value in thing.items():
            yield from _strings(value, f"{where}.{key}".lstrip("."))
    elif isinstance(thing, list):
        for value in thing:
            yield from _strings(value, where)
