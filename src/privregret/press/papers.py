"""The five papers of `papers.toml`, each in the version that all verdicts are about."""

import tomllib
from pathlib import Path
from typing import NamedTuple


class Paper(NamedTuple):
    """How captions name a paper, its title, and the version reproduced."""

    cited: str
    title: str
    version: str


_text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
PAPERS = {key: Paper(**entry) for key, entry in tomllib.loads(_text).items()}


def title(key: str) -> str:
    """How findings of notebooks in the folder `key` are headed: by the paper's key, or as ours."""
    return key if key in PAPERS else f"Ours ({key})"
