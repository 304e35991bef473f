"""Captions and claims: the TOML file next to a notebook, filled from the notebook's names.

`[figure.KEY]` and `[table.KEY]` have a caption, `[claim.KEY]` a claim with its criterion,
`[slip.KEY]` an erratum that no claim judges, each `[[exercise]]` what is asked, code to run, an
answer, and an expression that then `holds`; `checked` is the day on which claims and slips were
last compared with the paper's text, `[smoke]` has parameters for a quick run.
`«name»` or `«name:spec»` stands for a phrase of `[text]`, for a name of the notebook, or for a
paper's key, which gives the paper as captions cite it.
"""

import datetime
import fnmatch
import os
import re
from pathlib import Path
from typing import Any

from privregret.core.files import ROOT, toml
from privregret.core.mistakes import OneLine
from privregret.estimates import Estimate
from privregret.press import findings
from privregret.press.findings import LIMITS, SIGNS, STATED, criterion
from privregret.press.papers import PAPERS
from privregret.press.tex import integer

NOTEBOOKS = ROOT / "notebooks"
SLOT = re.compile("«([^»:]*):?([^»]*)»")
# per section: what an entry must have, and what it may have
FIELDS: dict[str, tuple[set, set]] = {
    "figure": ({"caption"}, set()),
    "table": ({"caption"}, {"columns", "formats", "widths"}),
    "claim": (
        {*"title place claim quantity evidence".split()},
        {*"kind macro figure rows".split()},
    ),
    "slip": ({"place", "printed", "true"}, {"failure", "stands"}),
}
FIELDS["claim"][1].update(SIGNS, STATED, LIMITS, ("within",))
CHOICES = {"kind": findings.KINDS, "evidence": findings.EVIDENCE, "failure": findings.FAILURES}
CHOICES["stands"] = findings.STANDS
# what a field holds if it is not a text, and what that holds
TYPES: dict[str, tuple] = {"rows": (list,), "macro": (str, dict)}
TYPES |= dict.fromkeys(("columns", "formats", "widths", "edit"), (dict,))
INNER = {"widths": (int, float), "macro": (dict,)}
# of an exercise: its kind -> what it must have, and what it may have
EXERCISES: dict[str, tuple[set, set]] = {
    "predict": ({"ask", "run", "answer", "holds"}, set()),
    "break": ({"ask", "edit", "run", "answer", "holds"}, set()),
    "prove": ({"ask", "answer"}, {"run", "holds"}),
}


class TextError(OneLine, ValueError):
    """A text that is missing or not well-formed."""


def read(file: Path) -> dict[str, dict]:
    """Return section -> key -> entry; TextError in one line for a file that breaks the rules."""
    found = toml(file, TextError)
    sections = *FIELDS, "text", "smoke"
    texts: dict[str, dict] = {section: found.pop(section, {}) for section in sections}
    checked, exercises = found.pop("checked", None), found.pop("exercise", [])
    if checked and type(checked) is not datetime.date:
        raise TextError(f"{file.name}: checked must be a date such as 2026-11-26, got {checked!r}")
    if found:
        known = ", ".join((*texts, "[exercise]"))
        raise TextError(f"{file.name}: no section [{min(found)}]: {known} are allowed")
    if not isinstance(exercises, list):
        raise TextError(f"{file.name}: an exercise must be an [[exercise]], got {exercises!r:.80}")
    for i, one in enumerate(exercises, 1):
        _check_exercise(f"{file.name}, exercise {i}", one)
    for section, entries in texts.items():
        if not isinstance(entries, dict):
            raise TextError(f"{file.name}: [{section}] must be a table, got {entries!r}")
    for key, phrase in texts["text"].items():
        _check_type(f"{file.name}, [text]", key, phrase)
    for section, (must, may) in FIELDS.items():
        for key, entry in texts[section].items():
            where = f"{file.name}, [{section}.{key}]"
            if not isinstance(entry, dict) or must - entry.keys():
                raise TextError(f"{where} must have {', '.join(sorted(must))}")
            if unknown := entry.keys() - must - may:
                allowed = ", ".join(sorted(must | may))
                raise TextError(f"{where}: no field {min(unknown)}: {allowed} are allowed")
            for field in entry.keys() - {*SIGNS, *LIMITS, "within"}:
                _check_type(where, field, entry[field])
            for field, known in CHOICES.items():
                if field in entry and entry[field] not in known:
                    said = f"{field} must be {', '.join(known)}, got {entry[field]!r}"
                    raise TextError(f"{where}: {said}")
            if section == "claim":
                _check_claim(where, entry)
    return texts | {"checked": str(checked or ""), "exercise": exercises}


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
    return {one: mark.strip() for one, mark in words}


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


def list_ids(found: list[str]) -> None:
    """Append those ids to `notebooks/findings.txt` that it does not have."""
    if new := [one for one in found if one not in listed()]:
        with open(NOTEBOOKS / "findings.txt", "a", encoding="utf-8") as file:
            file.write("".join(f"{one}\n" for one in new))


def _check_type(where, field, value):
    """Refuse a value that is not of its field's type, by name; a truth value is no number."""
    kinds, inner = TYPES.get(field, (str,)), INNER.get(field, (str,))
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if type(value) not in kinds or not all(type(one) in inner for one in held):
        said = " or ".join(kind.__name__ for kind in kinds)
        held = " or ".join(kind.__name__ for kind in inner)
        of = "" if {*kinds}.isdisjoint((list, dict)) else f" of {held}"
        raise TextError(f"{where}: {field} must be {said}{of}, got {value!r:.80}")


def _check_exercise(where, entry):
    must, may = EXERCISES.get(str(entry.get("kind")), (None, None))
    if must is None:
        raise TextError(f"{where}: kind must be {', '.join(EXERCISES)}, got {entry.get('kind')!r}")
    said = entry.keys() - {"kind"}
    if must - said or said - must - may:
        wrong = f"lacks {min(must - said)}" if must - said else f"has {min(said - must - may)}"
        allowed = ", ".join(sorted(must | may))
        raise TextError(f"{where} ({entry['kind']}) {wrong}: {allowed} are allowed")
    for field, value in entry.items():
        _check_type(where, field, value)


def _check_claim(where, entry):
    forms = {f: v for f, v in entry.items() if f in (*SIGNS, "within")}
    # a criterion may name a number of the notebook
    named = {f: 1.0 for f, v in forms.items() if isinstance(v, str) and SLOT.search(v)}
    try:
        criterion(**forms | named)
    except (TypeError, ValueError) as problem:
        raise TextError(f"{where}: {problem}") from None
    for limit in entry.keys() & LIMITS:
        form = LIMITS[limit]
        try:
            criterion(**{form: 1.0 if SLOT.search(str(entry[limit])) else entry[limit]})
        except (TypeError, ValueError) as problem:
            raise TextError(f"{where}: {limit}: {problem}") from None
        own = entry.get(form)
        if isinstance(own, int | float) and isinstance(entry[limit], int | float):
            if entry[limit] <= own if form == "at_most" else entry[limit] >= own:
                raise TextError(f"{where}: {limit} must be beyond {form} = {own}")
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
    if match is None and spare is not None:
        return spare
    if match is None:
        raise TextError(f"no [{section}.{key}]: known are {', '.join(entries) or 'none'}")
    return entries[match]


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
