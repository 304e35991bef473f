"""Captions and claims: the TOML file next to a notebook, filled from the notebook's names.

`[figure.KEY]` and `[table.KEY]` have a caption, `[claim.KEY]` a claim with its criterion,
`[slip.KEY]` an erratum that no claim judges, each `[[exercise]]` what is asked, code to run, an
answer, and an expression that then `holds`; `checked` is the day on which claims and slips were
last compared with the paper's text, `[smoke]` has parameters for a quick run.
All are plain text (5%, not 5\\%) with formulas of TeX between dollar signs and `code` in backticks;
`«name»` or `«name:spec»` stands for a phrase of `[text]`, for a name of the notebook, or for a
paper's key, which gives the paper as captions cite it.
"""

import datetime
import fnmatch
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from privregret.core import checks
from privregret.core.files import ROOT, toml
from privregret.core.mistakes import OneLine
from privregret.estimates import Estimate
from privregret.press import findings
from privregret.press.findings import CRITERION, STATED, criterion
from privregret.press.papers import PAPERS
from privregret.press.tex import integer

NOTEBOOKS = ROOT / "notebooks"
SLOT = re.compile("«([^»:]*):?([^»]*)»")
# what is not plain in a text
MARKED = re.compile(r"\$.*?\$|`.*?`")
TABLE = checks.instance_of(dict)
# per section: what an entry must have, and what it may have
FIELDS: dict[str, tuple[set, set]] = {
    "figure": ({"caption"}, set()),
    "table": ({"caption"}, {"columns", "formats", "widths"}),
    "claim": (
        {*"title place claim quantity evidence".split()},
        {*"kind macro figure rows".split(), *CRITERION, *STATED},
    ),
    "slip": ({"place", "printed", "true"}, {"failure", "stands"}),
}
# the same for each kind of exercise
EXERCISES: dict[str, tuple[set, set]] = {
    "predict": ({"ask", "run", "answer", "holds"}, set()),
    "break": ({"ask", "edit", "run", "answer", "holds"}, set()),
    "prove": ({"ask", "answer"}, {"run", "holds"}),
}


def _plain(name, value):
    """The rule for a text without TeX outside formulas, where only TeX would understand it."""
    if "\\" in MARKED.sub("", checks.text(name, value)):
        raise ValueError(f"{name} must have TeX in $formulas$ alone, got {checks.shown(value)}")


def _table_of(rule):
    """Return the rule for a table whose values pass `rule`."""

    def check(name, value):
        for key, item in TABLE(name, value).items():
            rule(f"{name}.{key}", item)

    return check


# of fields that are no plain texts; `criterion` checks numbers
RULES: dict[str, Callable[[str, Any], Any]] = {
    "kind": checks.one_of(*findings.KINDS),
    "evidence": checks.one_of(*findings.EVIDENCE),
    "failure": checks.one_of(*findings.FAILURES),
    "stands": checks.one_of(*findings.STANDS),
    "rows": checks.list_of(checks.text),
    # a name, or names and the rows that they are about
    "macro": lambda name, value: isinstance(value, str) or _table_of(TABLE)(name, value),
    "widths": _table_of(checks.probability),
}
RULES |= {"columns": _table_of(_plain)}
RULES |= dict.fromkeys(("formats", "edit"), _table_of(checks.text))
RULES |= dict.fromkeys("ask run answer holds".split(), checks.text)
RULES |= dict.fromkeys(CRITERION, lambda name, value: None)
# the same for a file
SECTIONS = dict.fromkeys((*FIELDS, "smoke"), TABLE) | {"text": _table_of(_plain)}
SECTIONS |= {"checked": checks.instance_of(datetime.date)}


class TextError(OneLine, ValueError):
    """A text that is missing or not well-formed."""


def read(file: Path) -> dict[str, dict]:
    """Return section -> key -> entry; TextError in one line for a file that breaks the rules."""
    content = toml(file, TextError)
    exercises = content.pop("exercise", [])
    _check_entry(file.name, content, set(), {*SECTIONS, "[exercise]"}, SECTIONS)
    texts = {section: content.get(section, {}) for section in SECTIONS}
    texts |= {"checked": str(content.get("checked", "")), "exercise": exercises}
    if not isinstance(exercises, list):
        raise TextError(f"{file.name}: an exercise must be an [[exercise]], got {exercises!r:.80}")
    for i, exercise in enumerate(exercises, 1):
        where = f"{file.name}, exercise {i}"
        kind = exercise.get("kind") if isinstance(exercise, dict) else None
        if kind not in EXERCISES:
            raise TextError(f"{where}: kind must be {', '.join(EXERCISES)}, got {kind!r}")
        entry = {field: value for field, value in exercise.items() if field != "kind"}
        _check_entry(where, entry, *EXERCISES[kind])
    for section, allowed in FIELDS.items():
        for key, entry in texts[section].items():
            _check_entry(where := f"{file.name}, [{section}.{key}]", entry, *allowed)
            if section == "claim":
                _check_claim(where, entry)
    return texts


def of_notebook(name: str) -> dict[str, dict]:
    """Return the texts in `PRIVREGRET_TEXTS`, which the batch command sets; else in
    `notebooks/<name>.toml`, or of a notebook outside the project in the current folder; {} without
    a file. TextError for a file that breaks the rules: what it does not use is not looked at."""
    given, own = os.environ.get("PRIVREGRET_TEXTS"), f"{name}.toml"
    places = [Path(given)] if given else [NOTEBOOKS / own, Path(Path(own).name)]
    file = next((file for file in places if file.is_file()), None)
    return read(file) if file else {}


def small(name: str, parameters: dict) -> dict:
    """Return what `[smoke]` sets of a notebook's parameters; TextError for one it does not have."""
    found = of_notebook(name).get("smoke", {})
    if unknown := found.keys() - parameters.keys():
        known = ", ".join(parameters)
        raise TextError(f"{name}.toml, [smoke]: no parameter {min(unknown)}: known are {known}")
    return found


def listed() -> dict[str, str]:
    """Return the permanent ids of `notebooks/findings.txt`: id -> "" or "retired"."""
    file = NOTEBOOKS / "findings.txt"
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    words = [line.partition(" ")[::2] for line in lines if line and line[0] != "#"]
    return {name: mark.strip() for name, mark in words}


def ids(name: str) -> list[str]:
    """Return the ids of a notebook's claims; TextError for one that another notebook of the paper
    has, or that is retired."""
    file = NOTEBOOKS / f"{name}.toml"
    if not file.is_file():
        return []
    own, known = read(file)["claim"], listed()
    paper = name.split("/")[0]
    for other in sorted(set(file.parent.glob("*.toml")) - {file}):
        # what a notebook that was renamed has left
        if not other.with_suffix(".ipynb").is_file():
            continue
        if shared := own.keys() & toml(other, TextError).get("claim", {}).keys():
            also = f"{paper}/{other.stem} has a claim of this id, too"
            raise TextError(f"{name}.toml, [claim.{min(shared)}]: {also}")
    for key in own:
        if known.get(f"{paper}/{key}"):
            why = f"the id {paper}/{key} is retired in notebooks/findings.txt, so take another"
            raise TextError(f"{name}.toml, [claim.{key}]: {why}")
    return [f"{paper}/{key}" for key in own]


def list_ids(names: list[str]) -> None:
    """Append those ids to `notebooks/findings.txt` that it does not have."""
    known = listed()
    if new := [name for name in names if name not in known]:
        with open(NOTEBOOKS / "findings.txt", "a", encoding="utf-8") as file:
            file.writelines(f"{name}\n" for name in new)


def _check_entry(where, entry, must, may, rules=RULES):
    """Refuse an entry that lacks a field, has an unknown one, or one against its rule."""
    if not isinstance(entry, dict) or must - entry.keys():
        raise TextError(f"{where} must have {', '.join(sorted(must))}")
    if unknown := entry.keys() - must - may:
        allowed = ", ".join(sorted(must | may))
        raise TextError(f"{where}: no field {min(unknown)}: {allowed} are allowed")
    for field, value in entry.items():
        try:
            rules.get(field, _plain)(field, value)
        except (TypeError, ValueError) as problem:
            raise TextError(f"{where}: {problem}") from None


def _check_claim(where, entry):
    form = {field: value for field, value in entry.items() if field in CRITERION}
    # one that names a number of the notebook is checked when this is known
    if not any(SLOT.search(str(value)) for value in form.values()):
        try:
            criterion(**form)
        except (TypeError, ValueError) as problem:
            raise TextError(f"{where}: {problem}") from None
    if len(entry.get("title", "").split()) > 8:
        raise TextError(f"{where}: title must have at most eight words, got {entry['title']!r}")
    failure, repaired = entry.get("failure"), {"printed", "repair", "stands"}
    must = {None: set(), findings.CONDITION: {"repair"}}.get(failure, repaired)
    said = entry.keys() & {*repaired, "corrected"}
    if must - said or (said and not must) or (must and entry.get("kind") == findings.OURS):
        needed = ", ".join(sorted(must)) or "no repair"
        raise TextError(f"{where}: a claim or step with failure = {failure!r} must have {needed}")


def entry(texts: dict, section: str, key: str, spare: dict | None = None) -> dict:
    """Return the entry for a key, or the one whose key is a pattern that it matches; without any,
    `spare`, or a TextError."""
    entries = texts.get(section, {})
    match = key if key in entries else next((p for p in entries if fnmatch.fnmatch(key, p)), None)
    if match is not None:
        return entries[match]
    if spare is None:
        raise TextError(f"no [{section}.{key}]: known are {', '.join(entries) or 'none'}")
    return spare


def fill(template: str, names: dict, phrases: dict) -> str:
    """Return a text in one line, with its slots filled."""

    def value(slot):
        name, spec = slot.groups()
        if name in phrases:
            # without itself, which it must not contain
            return fill(phrases[name], names, {n: p for n, p in phrases.items() if n != name})
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
