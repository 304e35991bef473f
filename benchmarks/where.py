"""Where a notebook's time goes, for `python benchmarks/run.py --where hu2021/6-experiments ...`.

Each second of the processor is put down to the file of the function that spent it; what a compiled kernel or a builtin
spends, to the Python function that called it. The notebook runs in this process, with its defaults.
"""

import cProfile
import json
import pstats
import sys
import time
from pathlib import Path

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
PARTS = {  # a piece of a file's path -> what is done there; the first that fits
    "importlib": "imports",
    "/numba/": "compile",
    "/llvmlite/": "compile",
    "/privregret/exact/": "exact values",
    "/privregret/bounds/": "exact values",
    "/privregret/privacy/": "exact values",
    "/scipy/": "exact values",
    "/privregret/publish": "publish",
    "/privregret/manifest": "publish",
    "/privregret/notebook": "publish",
    "/privregret/draw": "draw",
    "/matplotlib/": "draw",
    "/PIL/": "draw",
    "/pyparsing/": "draw",
    "/fontTools/": "draw",
    "/pandas/": "frames",
    "/privregret/": "simulate",
}


def part(function) -> str:
    """What a function, as `pstats` names it, is about; "rest" for builtins, numpy and the notebook's own cells."""
    file, _, name = function
    if name == "<module>" and file != "<cell>":
        return "imports"
    return next((what for piece, what in PARTS.items() if piece in file), "rest")


def measured(name: str) -> dict:
    """What one notebook takes: part -> seconds of the processor."""
    profile, namespace = cProfile.Profile(time.process_time), {"In": []}
    for cell in json.loads((NOTEBOOKS / f"{name}.ipynb").read_text())["cells"]:
        if cell["cell_type"] == "code":
            profile.runctx(compile("".join(cell["source"]), "<cell>", "exec"), namespace, namespace)
    seconds = dict.fromkeys([*PARTS.values(), "rest"], 0.0)
    for function, (_, _, own, _, callers) in pstats.Stats(profile).stats.items():
        if part(function) != "rest" or not callers:
            seconds[part(function)] += own
        for caller, (_, _, spent, _) in callers.items() if part(function) == "rest" else ():
            seconds[part(caller)] += spent
    return seconds


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1])))
