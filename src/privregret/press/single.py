"""Run one notebook in a folder of its own, and adopt its outputs if it reached its end."""

import os
import secrets
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
    """Run one notebook and adopt its outputs; a failed run changes nothing that is published.

    Parameters
    ----------
    root : Path
        As in `places`.
    sockets, environment, tell
        As in `kernels.execute`.

    Returns
    -------
    code : int
        0, or an exit code.
    line : str
        The result, for the user.
    """
    if job.problem:
        return FAILED, f"FAILED {job.name}: {job.problem}"
    began, build, file = time.monotonic(), root / "build", f"{job.name}.ipynb"
    failed, kept = build / "failed" / file, build / "notebooks"
    # A name of its own: a kernel of a killed run may still write to the old one.
    staged = build / "partial" / f"{job.name}-{secrets.token_hex(4)}"
    executed = staged / "executed.ipynb"
    try:
        inputs = stamps.inputs(job)
        origin = {"code": stamps.code(job.name), "lock": inputs["requirements.lock"]}
        for old in (stamps.stamp(job.name, root), failed, failed.with_suffix(".log")):
            shutil.rmtree(old, ignore_errors=True)  # a stamp that is a folder
            old.unlink(missing_ok=True)
        staged.mkdir(parents=True)
        environment = environment | {"PRIVREGRET_OUTPUT": str(staged)}
        kernels.execute(NOTEBOOKS / file, executed, job.changed, sockets, environment, tell)
        mark = end_mark(nbformat.read(executed, as_version=4))
        if mark is None:
            raise RuntimeError("it ended before its last cell")
        record.adopt(staged, root, job.name, origin)
        render.render(root)
        (kept / file).parent.mkdir(parents=True, exist_ok=True)
        os.replace(executed, kept / file)
        stamps.write(job, root, inputs, mark, time.monotonic() - began)
        findings = record.read(root)["notebooks"][job.name].get("findings", [])
        said = render.said(findings) or "no findings"
        return 0, f"{job.name}: {time.monotonic() - began:.0f} s, {said}"
    except DeadKernelError:
        code, error = KERNEL_DIED, "its kernel died (out of memory?)"
    except PapermillExecutionError as problem:
        code = BAD_PARAMETER if problem.ename == "ParameterError" else FAILED
        error = f"cell {problem.cell_index + 1}: {problem.ename}: {problem.evalue}"
    except Exception as problem:  # the other notebooks go on
        code, error = FAILED, f"{type(problem).__name__}: {problem}"
    line = f"FAILED {job.name}: {error.splitlines()[0]}"
    with suppress(OSError):  # it did not start, or the disk is full
        failed.parent.mkdir(parents=True, exist_ok=True)
        os.replace(executed, failed)
        os.replace(staged / "kernel.log", failed.with_suffix(".log"))
        line += f"; see {os.path.relpath(failed)}"
    return code, line
