"""One notebook: run it apart, and adopt what it published if it reached its end."""

import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import nbformat
from nbclient.exceptions import DeadKernelError
from papermill.exceptions import PapermillExecutionError

from privregret.press import kernels, record, render, stamps
from privregret.press.jobs import Job
from privregret.press.notebook import end_mark
from privregret.press.places import NOTEBOOKS

FAILED, BAD_PARAMETER, KERNEL_DIED = 1, 2, 3  # exit codes


def run(
    job: Job, root: Path, sockets: Path, environment: dict, tell: Callable[[int, int], None]
) -> tuple[int, str]:
    """Run one notebook; its outputs are adopted or, on failure, what it had before stays.

    Parameters
    ----------
    sockets, environment, tell
        As `kernels.execute` takes them.

    Returns
    -------
    code : int
        0, or an exit code.
    line : str
        What became of the notebook.
    """
    if job.problem:
        return FAILED, f"FAILED {job.name}: {job.problem}"
    began, code = time.monotonic(), FAILED
    staged, failed = (root / "build" / kind / job.name for kind in ("partial", "failed"))
    executed, kept = staged / "executed.ipynb", root / "build/notebooks" / f"{job.name}.ipynb"
    # what a run leaves if it fails
    left = {executed: failed.with_name(f"{failed.name}.ipynb")}
    left[staged / "kernel.log"] = failed.with_name(f"{failed.name}.log")
    try:
        inputs = stamps.inputs(job.name)
        for old in (stamps.path(job.name, root), *left.values()):
            remove(old)
        staged.mkdir(parents=True)
        environment = environment | {"PRIVREGRET_OUTPUT": str(staged)}
        source = NOTEBOOKS / f"{job.name}.ipynb"
        kernels.execute(source, executed, job.changed, sockets, environment, tell)
        mark = end_mark(nbformat.read(executed, as_version=4))
        if not mark:
            raise RuntimeError("it ended before its last cell")
        record.adopt(staged, root, job.name, stamps.origin(inputs, job.name))
    except DeadKernelError:
        error, code = "its kernel died (out of memory?)", KERNEL_DIED
    return code, line
