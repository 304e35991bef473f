"""The batch command: run what is stale, each notebook into a folder of its own, and adopt what reached its end.

Only a run at the notebooks' own defaults is adopted into `figures/`, `paper/` and the README.
"""

import math
import os
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

import nbformat
from nbclient.exceptions import DeadKernelError
from papermill.exceptions import PapermillExecutionError
from tqdm import tqdm

from privregret import files
from privregret.files import ROOT, locked
from privregret.press import drift, kernels, record, render, stamps
from privregret.press.jobs import Job, UsageError
from privregret.press.notebook import end_mark
from privregret.press.places import BUILD, NOTEBOOKS, PROJECT, Place, apart

FAILED, BAD_PARAMETER, KERNEL_DIED, DRIFT, INTERRUPTED = 1, 2, 3, 4, 130


class Progress:
    """What is running, in a line: `[3/31] 01:10: name, cell 5 of 20`; on a terminal one that is written over."""

    def __init__(self, total: int):
        self.total, self.done, self.began, self.lock = total, 0, time.monotonic(), Lock()
        self.live = sys.stdout.isatty()

    def at(self, name: str, cell: int, cells: int) -> None:
        passed = tqdm.format_interval(time.monotonic() - self.began)
        line = f"[{self.done}/{self.total}] {passed}: {name}, cell {cell} of {cells}"
        with self.lock:
            if self.live:
                print(f"\r\033[K{line[: shutil.get_terminal_size().columns - 1]}", end="", flush=True)
            elif cell in (1, cells // 2):
                print(line, flush=True)

    def ended(self, line: str) -> None:
        with self.lock:
            self.done += 1
            print("\r\033[K" * self.live + line, flush=True)


def reproduce(todo: list[Job], place: Place, at_once: int, force: bool = False, fresh: bool = False) -> int:
    """Run all stale notebooks, `at_once` at a time; returns the exit code.

    Parameters
    ----------
    force : bool
        Run what is up to date, too.
    fresh : bool
        As `force`, and simulate all anew: nothing is taken from the store of results.
    """
    with _alone(place):
        return _all(todo, place, at_once, force or fresh, fresh)


def status(todo: list[Job]) -> int:
    """Say which notebooks are stale and why, and which files are not what the manifest says."""
    render.read_whole(ROOT)
    reasons = {job.name: stamps.why_stale(job, PROJECT) for job in todo}
    if len(reasons) > 1 and set(reasons.values()) == {stamps.NEVER}:
        print(f"none of {len(reasons)} notebooks has run here: `make` runs them; `make check` compares "
              "figures/ with a fresh run")
        reasons = {}
    for name, why in reasons.items():
        print(f"{name}: {why or 'up to date'}")
    for path in render.differing(ROOT):
        print(f"{path}: not what figures/manifest.json says; `make` writes it again")
    return 0


def check(todo: list[Job], at_once: int) -> int:
    """Run everything afresh in `build/check` and compare all numbers with those published."""
    place, kept, names = apart(BUILD / "check"), render.read_whole(ROOT), {job.name for job in todo}
    with _alone(place):
        for old in ("figures", "paper", "stamps"):
            _remove(place.root / old)
        code = _all(todo, place, at_once, fresh=True)
        if code:
            return code
        lines, compared = drift.between((ROOT, place.root), (kept, record.read(place.root)), names)
    print("\n".join(lines) or f"{compared} figures and tables agree with a fresh run")
    return DRIFT if lines else 0


@contextmanager
def _alone(place):
    """No other run is under way in this place, and what killed ones left behind is gone."""
    lock = locked(place.build / ".lock", wait=False)
    try:
        lock.__enter__()
    except BlockingIOError:
        raise UsageError("another run is under way in this folder: wait for it, or stop it") from None
    try:
        _remove(place.build / "partial")
        for folder in (place.root / "figures", place.root / "paper", place.build / "stamps"):
            files.sweep(folder)
        for partial in place.root.glob(".*.partial-*"):  # of the README
            partial.unlink()
        yield
    finally:
        lock.__exit__(None, None, None)


def _all(todo, place, at_once, force=False, fresh=False):
    render.read_whole(place.root)
    stale = [job for job in todo if force or stamps.why_stale(job, place)]
    for job in todo:
        if job not in stale:
            print(f"{job.name}: up to date, {_tally(job.name, place)}")
    times = {job.name: stamps.read(job.name, place).get("seconds", math.inf) for job in stale}
    stale.sort(key=lambda job: -times[job.name])  # so that no long one runs alone at the end
    progress, at_once = Progress(len(stale)), max(1, min(at_once, len(stale)))
    environment = {"LOKY_MAX_CPU_COUNT": str(max(os.cpu_count() // at_once, 1))}  # its share of the cores
    environment |= {"PRIVREGRET_STORE": "off"} if fresh else {}
    with kernels.sockets(place.build) as sockets:
        pool = ThreadPoolExecutor(at_once)
        try:
            runs = [pool.submit(_one, job, place, sockets, environment, progress) for job in stale]
            codes = [run.result() for run in runs]
        except KeyboardInterrupt:
            print("\ninterrupted: what had finished is kept, the next run goes on from there", flush=True)
            shutil.rmtree(sockets, ignore_errors=True)
            os._exit(INTERRUPTED)  # kernels end by themselves once this process is gone
    render.render(place.root)
    if place != PROJECT:
        print(f"The output is in {_shown(place.root)}; what is published stays as it was.")
    return max(codes, default=0)


def _one(job, place, sockets, environment, progress):
    """Run one notebook; adopt its outputs if it reached its end. Returns 0 or an exit code."""
    if job.problem:
        progress.ended(f"FAILED {job.name}: {job.problem}")
        return FAILED
    began, staged, failed = time.monotonic(), place.staged(job.name), place.failed(job.name)
    executed, error, code = staged / "executed.ipynb", "it ended before its last cell", FAILED
    try:
        inputs = stamps.inputs(job)
        for old in (staged, place.stamp(job.name), failed, failed.with_suffix(".log")):
            _remove(old)
        staged.mkdir(parents=True)
        kernels.execute(
            NOTEBOOKS / f"{job.name}.ipynb",
            executed,
            job.changed,
            sockets,
            environment | {"PRIVREGRET_OUTPUT": str(staged)},
            lambda cell, cells: progress.at(job.name, cell, cells),
        )
        mark = end_mark(nbformat.read(executed, as_version=4))
        if mark:
            said = _new_parameters(job, place)
            origin = {"code": inputs["code"], "lock": inputs["files"]["requirements.lock"]}
            record.adopt(staged, place.root, job.name, origin)
            render.render(place.root)
            place.executed(job.name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(executed, place.executed(job.name))
            stamps.write(job, place, inputs, mark, time.monotonic() - began)
            error = ""
    except DeadKernelError:
        error, code = "its kernel died (out of memory?)", KERNEL_DIED
    except PapermillExecutionError as problem:
        error = f"cell {problem.cell_index + 1}: {problem.ename}: {problem.evalue}".splitlines()[0]
        code = BAD_PARAMETER if problem.ename == "ParameterError" else FAILED
    except Exception as problem:  # one notebook's trouble must not stop the others
        error = f"{type(problem).__name__}: {problem}".splitlines()[0]
    line = f"FAILED {job.name}: {error}"
    if not error:
        line = f"{job.name}: {time.monotonic() - began:.0f} s, {_tally(job.name, place)}{said}"
    else:
        with suppress(OSError):  # it did not come that far, or there is no room
            failed.parent.mkdir(parents=True, exist_ok=True)
            os.replace(executed, failed)
            os.replace(staged / "kernel.log", failed.with_suffix(".log"))
            line += f"; see {_shown(failed)}"
    shutil.rmtree(staged, ignore_errors=True)
    progress.ended(line)
    return code if error else 0


def _new_parameters(job, place):
    """Which parameters differ from those of the last run: an edit that an editor saved must not pass unseen."""
    outputs = record.of_notebook(record.read(place.root), job.name)["outputs"]
    was = next(iter(outputs.values()), {}).get("parameters", {})
    new = [f"{p}={v!r} (was {was[p]!r})" for p, v in job.parameters.items() if was.get(p, v) != v]
    return f"; now at {', '.join(new)}" if new else ""


def _tally(name, place):
    said = record.of_notebook(record.read(place.root), name)
    kinds = [entry["kind"] for entry in said["outputs"].values()]
    counts = f"{kinds.count('figure')} figures, {kinds.count('table')} tables"
    return f"{counts}; {render.said(said['notebook'].get('findings', [])) or 'no findings'}"


def _remove(path: Path):
    """Remove a file or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _shown(path):
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
