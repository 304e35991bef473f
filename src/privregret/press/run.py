"""The batch command: run stale notebooks in parallel, longest first; status; check.

Only a run at the notebooks' own defaults is adopted into `figures/`, `paper/` and the README.
"""

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tqdm import tqdm

from privregret.files import ROOT, locked, sweep
from privregret.press import drift, record, render, stamps
from privregret.press.jobs import Job
from privregret.press.places import BUILD

DRIFT, INTERRUPTED = 4, 130  # exit codes; `single` has the others


@contextmanager
def _alone(root):
    """Lock a root, and remove the remains of killed runs."""
    build = root / "build"
    from privregret.press import kernels  # imports papermill, which `status` does not need

    with locked(build / ".lock", wait=False) as held, kernels.sockets(build) as sockets:
        if not held:
            print("warning: no locks on this file system: do not run this twice at a time")
        for folder in (root / "figures", root / "paper", build / "stamps"):
            sweep(folder)
        for partial in root.glob(".*.partial-*"):  # of the README
            partial.unlink()
        try:
            shutil.rmtree(build / "partial", ignore_errors=True)
            yield sockets
        finally:
            shutil.rmtree(build / "partial", ignore_errors=True)


def reproduce(
    todo: list[Job], root: Path, at_once: int, force: bool = False, fresh: bool = False
) -> int:
    """Run all stale notebooks, `at_once` at a time; returns the exit code.

    Parameters
    ----------
    root : Path
        As in `places`.
    force : bool
        Run all, also notebooks that are up to date.
    fresh : bool
        As `force`, and do not read stored results.

    Raises
    ------
    BlockingIOError
        If another run is under way below `root`.
    """
    with _alone(root) as sockets:
        render.read_whole(root)
        if not (force or fresh):
            reasons = _reasons(todo, root)
            todo = [job for job in todo if reasons[job.name]]
        code = _all(todo, root, at_once, fresh, sockets)
    if root != ROOT:
        print(f"The output is in {os.path.relpath(root)}; what is published stays as it was.")
    return code


def _all(todo, root, at_once, fresh, sockets):
    from privregret.press import single

    todo = sorted(todo, key=lambda job: -stamps.seconds(job.name, root))  # the longest first
    at_once = max(1, min(at_once, len(todo)))
    cores = max(os.cpu_count() // at_once, 1)  # of each kernel
    environment = {"LOKY_MAX_CPU_COUNT": str(cores)}
    if fresh:
        environment["PRIVREGRET_STORE"] = "off"

    def one(job):
        def tell(cell, cells):
            bar.set_postfix_str(f"{job.name}, cell {cell} of {cells}")

        code, line = single.run(job, root, sockets, environment, tell)
        with bar.external_write_mode():
            print(line, flush=True)
        bar.update()
        return code

    form = "{n_fmt}/{total_fmt} {bar} {elapsed}{postfix}"
    with tqdm(total=len(todo), bar_format=form, disable=None, leave=False) as bar:  # on terminals
        pool = ThreadPoolExecutor(at_once)
        try:
            codes = list(pool.map(one, todo))
        except KeyboardInterrupt:
            print("\ninterrupted: what had finished is kept, the next run goes on", flush=True)
            shutil.rmtree(sockets, ignore_errors=True)
            os._exit(INTERRUPTED)  # kernels end by themselves once this process is gone
    render.render(root)
    return max(codes, default=0)


def _reasons(todo, root):
    """Print why each notebook is stale; return name -> reason, "" if it is up to date."""
    reasons = {job.name: stamps.why_stale(job, root) for job in todo}
    if len(reasons) > 1 and {*reasons.values()} == {stamps.NEVER}:
        print(f"none of {len(reasons)} notebooks has run here: what is in figures/ was committed")
        return reasons
    for name, why in reasons.items():
        print(f"{name}: {why or 'up to date'}")
    return reasons


def status(todo: list[Job]) -> int:
    """Print which notebooks are stale and why, and which files differ from the manifest."""
    differing = render.differing(ROOT)
    _reasons(todo, ROOT)
    for path in differing:
        print(f"{path}: not what figures/manifest.json says; `make` writes it again")
    return 0


def check(todo: list[Job], at_once: int) -> int:
    """Run everything afresh in `build/check` and compare all numbers with those published."""
    root, kept = BUILD / "check", render.read_whole(ROOT)
    with _alone(root) as sockets:
        shutil.rmtree(root / "figures", ignore_errors=True)
        code = _all(todo, root, at_once, fresh=True, sockets=sockets)
        if code:
            return code
        records = kept, record.read(root)
        lines, compared = drift.between((ROOT, root), records, {job.name for job in todo})
    print("\n".join(lines) or f"{compared} figures and tables agree with a fresh run")
    return DRIFT if lines else 0
