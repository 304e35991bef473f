"""The papers of `papers.toml`, each in the version that all verdicts are about."""

import re
from pathlib import Path
from typing import NamedTuple

from privregret.core import files


class Paper(NamedTuple):
    """How captions name a paper, its title, the version reproduced, and what it asks and proves."""

    cited: str
    title: str
    version: str
    asks: str
    proves: str

    @property
    def authors(self) -> str:
        """Return them as `cited` does."""
        return self.cited.partition(" (")[0]

    @property
    def year(self) -> str:
        """Return the year of `cited`."""
        return re.findall(r"\((\d{4})", self.cited)[0]


def read(file: Path) -> dict[str, Paper]:
    """Return key -> paper; ValueError in one line for an entry that is not complete."""
    papers = {}
    for key, entry in files.toml(file).items():
        where, fields = f"{file.name}, [{key}]", entry if isinstance(entry, dict) else {}
        if not re.fullmatch("[a-z0-9]+", key):
            raise ValueError(f"{where}: a paper's key has small letters and digits")
        if lacks := [name for name in Paper._fields if not isinstance(fields.get(name), str)]:
            raise ValueError(f"{where} must have the text {lacks[0]}")
        if unknown := fields.keys() - {*Paper._fields}:
            known = ", ".join(Paper._fields)
            raise ValueError(f"{where}: no field {min(unknown)}: {known} are allowed")
        for field, form, example in (
            ("cited", r".+ \(\d{4}[^()]*\)", "Hu, Huang and Mehta (2021, arXiv v2)"),
            ("version", r"(arXiv:[\d.]+)?v\d+", "arXiv:2102.07929v2"),
        ):
            if not re.fullmatch(form, fields[field]):
                raise ValueError(f"{where}: {field} must be like {example}, got {fields[field]!r}")
        papers[key] = Paper(**fields)
    return papers


PAPERS = read(Path(__file__).with_suffix(".toml"))
OURS = "companion"


def title(key: str) -> str:
    """How findings of notebooks in the folder `key` are headed: by the paper's key, or as ours."""
    return key if key in PAPERS else f"Ours ({key})"
