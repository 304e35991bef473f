"""The algorithms in plain Python that the notebooks show: references for the compiled ones."""

import ast
import json
from functools import cache
from pathlib import Path
from types import FunctionType

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


@cache
def namespace(notebook):
    """What the cells tagged `algorithm` of a notebook define, after its imports."""
    cells = json.loads((NOTEBOOKS / f"{notebook}.ipynb").read_text("utf8"))["cells"]
    names = {"__name__": notebook}
    for cell in cells:
        tags, source = cell["metadata"].get("tags", []), "".join(cell["source"])
        tree = ast.Module([], [])
        if "algorithm" in tags:
            tree = ast.parse(source)
        elif "check" in tags:
            imports = (ast.Import, ast.ImportFrom)
            tree.body = [line for line in ast.parse(source).body if isinstance(line, imports)]
        exec(compile(tree, notebook, "exec"), names)
    return names


def plays(notebook, name, instead=(), **parameters):
    """`play` of an algorithm of a notebook, a function (*tables, rng=, **parameters) that yields in
    each round the arm, or a tuple that begins with it; `instead` has other values for names."""
    plain = namespace(notebook)[name]
    names = plain.__globals__ | dict(instead)
    plain = FunctionType(plain.__code__, names, name, plain.__defaults__) if instead else plain

    def play(*given):
        *tables, rng = given
        played = plain(*tables, **parameters, rng=rng)
        return [one[0] if isinstance(one, tuple) else one for one in played]

    return play
