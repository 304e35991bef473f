"""The tutorial does what the contributing guide says, word for word."""

import json
import re

from conftest import ROOT


def test_the_tutorials_algorithm_is_that_of_the_contributing_guide():
    guide = re.search(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)[1]
    notebook = json.loads((ROOT / "notebooks" / "companion" / "your-own-algorithm.ipynb").read_text())
    assert guide.strip() in ["".join(cell["source"]).strip() for cell in notebook["cells"]]
