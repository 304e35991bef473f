"""The version is that of CITATION.cff; all else stands in pyproject.toml."""

import re
from pathlib import Path

from setuptools import setup

setup(version=re.search(r"^version: (\S+)$", Path("CITATION.cff").read_text(), re.M)[1])
