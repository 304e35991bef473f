"""One notebook: run it apart, and adopt what it published if it reached its end."""

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

import nbformat
from nbclient.exceptions import DeadKernelError
from papermill.exceptions import PapermillExecutionError

from privregret.press import kernels, record, render, stamps
from privregret.press.jobs import Job
from privregret.press.notebook import end_mark
from privregret.press.places import NOTEBOOKS, Place

FAILED, BAD_PARAMETER, KERNEL_DIED = 1, 2, 3  # exit codes


def run(job: Job, place: Place, sockets: Path, environment: dict, progress) -> int:
    """Run one notebook; its outputs are adopted or, on failure, what it had before stays.

    Parameters
    ----------
    sockets, environment
        As `kernels.execute` takes them.
    progress : run.Progress
        It learns which cell runs, and what became of the notebook.

    Returns
    -------
    int
        0, or an exit code.
    """
    began, code, error = time.monotonic(), FAILED, "it ended before its last cell"
    staged, failed = place.staged(job.name), place.failed(job.name)
    executed = staged / "executed.ipynb"
    try:
        if job.problem:
            raise ValueError(job.problem)
        inputs = stamps.inputs(job)
        for old in (staged, place.stamp(job.name), failed, failed.with_suffix(".log")):
            remove(old)
        staged.mkdir(parents=True)
        environment = environment | {"PRIVREGRET_OUTPUT": str(staged)}
        source = NOTEBOOKS / f"{job.name}.ipynb"
        tell = progress.of(job.name)
        kernels.execute(source, executed, job.changed, sockets, environment, tell)
        mark = end_mark(nbformat.read(executed, as_version=4))
        if mark:
            parameters = _new_parameters(job, place)
            origin = {"code": inputs["code"], "lock": inputs["files"]["requirements.lock"]}
            record.adopt(staged, place.root, job.name, origin)
            render.render(place.root)
            place.executed(job.name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(executed, place.executed(job.name))
            stamps.write(job, place, inputs, mark, time.monotonic() - began)
            code = 0
    except DeadKernelError:
        error, code = "its kernel died (out of memory?)", KERNEL_DIED
    except PapermillExecutionError as problem:
        error = f"cell {problem.cell_index + 1}: {problem.ename}: {problem.evalue}"
        code = BAD_PARAMETER if problem.ename == "ParameterError" else FAILED
    except Exception as problem:  # one notebook's trouble must not stop the others
        error = job.problem or f"{type(problem).__name__}: {problem}"
    if code:
        line = f"FAILED {job.name}: {error.splitlines()[0]}"
        with suppress(OSError):  # it did not come that far, or there is no room
            failed.parent.mkdir(parents=True, exist_ok=True)
            os.replace(executed, failed)
            os.replace(executed.with_name("kernel.log"), failed.with_suffix(".log"))
            line += f"; see {shown(failed)}"
    else:
        line = f"{job.name}: {time.monotonic() - began:.0f} s, {tally(job.name, place)}{parameters}"
    shutil.rmtree(staged, ignore_errors=True)
    progress.ended(line)
    return code


def _new_parameters(job, place):
    """Parameters that the last run had otherwise: an edit saved by itself must not pass unseen."""
    outputs = record.of_notebook(record.read(place.root), job.name)["outputs"]
    was = next(iter(outputs.values()), {}).get("parameters", {})
    new = [f"{p}={v!r} (was {was[p]!r})" for p, v in job.parameters.items() if was.get(p, v) != v]
    return f"; now at {', '.join(new)}" if new else ""


def tally(name: str, place: Place) -> str:
    """How many figures and tables a notebook has published, and its verdicts."""
    mine = record.of_notebook(record.read(place.root), name)
    kinds = [entry["kind"] for entry in mine["outputs"].values()]
    said = render.said(mine["notebook"].get("findings", [])) or "no findings"
    return f"{kinds.count('figure')} figures, {kinds.count('table')} tables; {said}"


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def shown(path: Path) -> Path:
    """A path as the user at this terminal would write it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
