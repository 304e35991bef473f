"""Where a notebook's time goes, for `python benchmarks/run.py --where hu2021/6-experiments ...`.

The notebook runs in this process, with its defaults. Every hundredth of a second of the processor,
what was spent is put down to the file that is at work: a compiled kernel, a builtin, numpy or numba
to what called it, unless numba compiles.
"""

import json
import signal
import sys
import time
from pathlib import Path

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
PARTS = {  # a piece of a file's path -> what is done there; the first that fits
    "/privregret/exact/": "exact values",
    "/privregret/bounds/": "exact values",
    "/privregret/privacy/": "exact values",
    "/scipy/": "exact values",
    "/privregret/press/draw": "draw",
    "/privregret/press/": "publish",
    "/matplotlib/": "draw",
    "/PIL/": "draw",
    "/pandas/": "frames",
    "/privregret/": "simulate",
}


def part(frame) -> str:
    """What is being done: what the innermost frame that fits says, unless part of an import."""
    what = ""
    while frame:
        file = frame.f_code.co_filename
        if file.startswith("<frozen importlib"):
            return "imports"
        if frame.f_code.co_name == "_compile_for_args":  # of numba's dispatcher
            return "compile"
        what = what or next((name for piece, name in PARTS.items() if piece in file), "")
        frame = frame.f_back
    return what or "rest"


def measured(name: str) -> dict:
    """What one notebook takes: part -> seconds of the processor."""
    seconds = dict.fromkeys(["imports", "compile", *PARTS.values(), "rest"], 0.0)
    namespace = {"In": [], "__name__": "__main__"}
    counted = time.process_time()

    def count(_, frame):
        nonlocal counted
        now = time.process_time()
        seconds[part(frame)] += now - counted  # a kernel may have kept the signal waiting
        counted = now

    signal.signal(signal.SIGPROF, count)
    signal.setitimer(signal.ITIMER_PROF, 0.01, 0.01)
    for cell in json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), "<cell>", "exec"), namespace)
    signal.setitimer(signal.ITIMER_PROF, 0)
    return seconds


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1])))
