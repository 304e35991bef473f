"""The five papers of `papers.toml`, each in the version that all verdicts are about."""

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


_file = Path(__file__).with_suffix(".toml")
try:
    PAPERS = {key: Paper(**entry) for key, entry in files.toml(_file).items()}
except TypeError as problem:
    raise ValueError(f"{_file} cannot be read: {problem}") from None


def title(key: str) -> str:
    """How findings of notebooks in the folder `key` are headed: by the paper's key, or as ours."""
    return key if key in PAPERS else f"Ours ({key})"
