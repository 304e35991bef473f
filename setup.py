"""The version is that of CITATION.cff; all else stands in pyproject.toml.

A build in the usual folder would take what an older one left there.
"""

import re
import tempfile
from pathlib import Path

from setuptools import setup

version = re.search(r"^version: (\S+)$", Path("CITATION.cff").read_text(), re.M)[1]
with tempfile.TemporaryDirectory() as folder:
    setup(version=version, options={"build": {"build_base": folder}})
