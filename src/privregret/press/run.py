"""The batch command: run what is stale, several notebooks at a time, longest first; status; check.

Only a run at the notebooks' own defaults is adopted into `figures/`, `paper/` and the README.
"""

import math
import os
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import RLock

from tqdm import tqdm

from privregret.files import ROOT, locked, sweep
from privregret.press import drift, kernels, record, render, single, stamps
from privregret.press.jobs import Job
from privregret.press.places import BUILD, PROJECT, Place, apart

DRIFT, INTERRUPTED = 4, 130  # exit codes; `single` has the others


class Progress:
    """What runs: `[3/31] 01:10: name, cell 5 of 20`; on a terminal a line that is written over."""

    def __init__(self, total: int):
        self.total, self.done, self.began, self.lock = total, 0, time.monotonic(), RLock()
        self.live = sys.stdout.isatty()

    def of(self, name: str):
        """What a notebook calls when a cell starts, with its number and how many there are."""

        def at(cell, cells):
            passed = tqdm.format_interval(time.monotonic() - self.began)
            line = f"[{self.done}/{self.total}] {passed}: {name}, cell {cell} of {cells}"
            if self.live:
                self._say(line[: shutil.get_terminal_size().columns - 1], end="")
            elif cell in (1, cells // 2):
                self._say(line)

        return at

    def ended(self, line: str):
        """Say what became of a notebook."""
        with self.lock:
            self.done += 1
            self._say(line)

    def _say(self, line, end="\n"):
        with self.lock:
            print("\r\033[K" * self.live + line, end=end, flush=True)


@contextmanager
def _alone(place):
    """No other run is under way in this place, and what killed ones left behind is gone."""
    with locked(place.build / ".lock", wait=False):
        single.remove(place.build / "partial")
        for folder in (place.root / "figures", place.root / "paper", place.build / "stamps"):
            sweep(folder)
        for partial in place.root.glob(".*.partial-*"):  # of the README
            partial.unlink()
        yield


def reproduce(
    todo: list[Job], place: Place, at_once: int, force: bool = False, fresh: bool = False
) -> int:
    """Run all stale notebooks, `at_once` at a time; returns the exit code.

    Parameters
    ----------
    force : bool
        Run what is up to date, too.
    fresh : bool
        As `force`, and take nothing from the store of results.

    Raises
    ------
    BlockingIOError
        If another run is under way in this place.
    """
    with _alone(place):
        return _all(todo, place, at_once, force or fresh, fresh)


def _all(todo, place, at_once, force, fresh):
    render.read_whole(place.root)
    stale = [job for job in todo if force or stamps.why_stale(job, place)]
    for job in todo:
        if job not in stale:
            print(f"{job.name}: up to date, {single.tally(job.name, place)}")
    times = {job.name: stamps.read(job.name, place).get("seconds", math.inf) for job in stale}
    stale.sort(key=lambda job: -times[job.name])  # so that no long one runs alone at the end
    at_once, progress = max(1, min(at_once, len(stale))), Progress(len(stale))
    cores = max(os.cpu_count() // at_once, 1)  # of each kernel
    environment = {"LOKY_MAX_CPU_COUNT": str(cores)} | (
        {"PRIVREGRET_STORE": "off"} if fresh else {}
    )
    with kernels.sockets(place.build) as sockets:
        pool, same = ThreadPoolExecutor(at_once), (place, sockets, environment, progress)
        try:
            runs = [pool.submit(single.run, job, *same) for job in stale]
            codes = [run.result() for run in runs]
        except KeyboardInterrupt:
            print("\ninterrupted: what had finished is kept, the next run goes on", flush=True)
            shutil.rmtree(sockets, ignore_errors=True)
            os._exit(INTERRUPTED)  # kernels end by themselves once this process is gone
    render.render(place.root)
    if place != PROJECT:
        print(f"The output is in {single.shown(place.root)}; what is published stays as it was.")
    return max(codes, default=0)


def status(todo: list[Job]) -> int:
    """Say which notebooks are stale and why, and which files are not what the manifest says."""
    render.read_whole(ROOT)
    reasons = {job.name: stamps.why_stale(job, PROJECT) for job in todo}
    if len(reasons) > 1 and {*reasons.values()} == {stamps.NEVER}:
        print(f"none of {len(reasons)} notebooks has run here: what is in figures/ was committed")
        reasons = {}
    for name, why in reasons.items():
        print(f"{name}: {why or 'up to date'}")
    for path in render.differing(ROOT):
        print(f"{path}: not what figures/manifest.json says; `make` writes it again")
    return 0


def check(todo: list[Job], at_once: int) -> int:
    """Run everything afresh in `build/check` and compare all numbers with those published."""
    place, kept = apart(BUILD / "check"), render.read_whole(ROOT)
    with _alone(place):
        for old in ("figures", "paper", "stamps"):
            single.remove(place.root / old)
        code = _all(todo, place, at_once, force=True, fresh=True)
        if code:
            return code
        records = kept, record.read(place.root)
        lines, compared = drift.between((ROOT, place.root), records, {job.name for job in todo})
    print("\n".join(lines) or f"{compared} figures and tables agree with a fresh run")
    return DRIFT if lines else 0
