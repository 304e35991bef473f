"""The batch command: run notebooks headlessly with papermill, each into a staging folder, and adopt what is finished.

A notebook is stale when its code cells, its parameters, a module that its kernel imported, the lock or one of its
outputs changed. Nothing counts as done before its stamp is written, and that happens last.
"""

import ast
import fcntl
import hashlib
import json
import os
import shutil
import sys
import tempfile
import threading
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import papermill
from jupyter_client.manager import AsyncKernelManager
from nbclient.exceptions import DeadKernelError
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import NBClientEngine, papermill_engines
from papermill.exceptions import PapermillExecutionError
from papermill.translators import PythonTranslator

from privregret import findings, publish
from privregret.notebook import end_mark
from privregret.paths import BUILD, NOTEBOOKS, PACKAGE, ROOT

FAILED, BAD_PARAMETER, KERNEL_DIED, DRIFT, INTERRUPTED = 1, 2, 3, 4, 130
KERNEL_ENVIRONMENT = {  # bits change with the number of BLAS threads, and PDF files with the date
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "MPLBACKEND": "agg",
    "SOURCE_DATE_EPOCH": "0",
    "TQDM_DISABLE": "1",
}


class UsageError(ValueError):
    """The command was asked for something that is not there."""


@dataclass
class Job:
    """One notebook to run, with the parameters that differ from its defaults."""

    name: str
    parameters: dict = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return NOTEBOOKS / f"{self.name}.ipynb"


@dataclass
class Place:
    """A tree that holds `figures/` and `paper/`, and the folder of its stamps and executed notebooks."""

    root: Path
    build: Path

    def stamp(self, name) -> Path:
        return self.build / "stamps" / f"{name}.json"

    def executed(self, name) -> Path:
        return self.build / "notebooks" / f"{name}.ipynb"

    def failed(self, name) -> Path:
        return self.build / "failed" / f"{name}.ipynb"

    def partial(self, name) -> Path:
        return self.build / "partial" / name


PROJECT = Place(ROOT, BUILD)
SMOKE = Place(BUILD / "smoke", BUILD / "smoke")
CHECK = Place(BUILD / "check", BUILD / "check")


# Which notebooks, with which parameters -----------------------------------------------------------------------


def select(wanted: list[str]) -> list[str]:
    """Names of the notebooks that `wanted` (papers, notebooks, paths; empty means all) stands for."""
    names = sorted(str(p.relative_to(NOTEBOOKS).with_suffix("")) for p in NOTEBOOKS.glob("*/*.ipynb"))
    chosen = set() if wanted else set(names)
    for word in wanted:
        key = word.removesuffix(".ipynb").removeprefix("./").removeprefix("notebooks/").rstrip("/")
        found = {n for n in names if n == key or n.startswith(f"{key}/")}
        if not found:
            near = get_close_matches(key, [*names, *{n.split("/")[0] for n in names}], 1)
            raise UsageError(f"no notebook or paper {word!r}" + (f"; did you mean {near[0]}?" if near else ""))
        chosen |= found
    return [n for n in names if n in chosen]


def parse_value(text: str):
    """The Python literal that `text` is, else `text` itself."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return {"true": True, "false": False}.get(text, text)


def jobs(names: list[str], overrides: dict, smoke: bool) -> list[Job]:
    """One job a notebook, each checked by the notebook's own rules before any kernel starts."""
    profile = tomllib.loads((NOTEBOOKS / "smoke.toml").read_text()) if smoke else {}
    result, unused = [], set(overrides)
    for name in names:
        notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
        declared = declared_parameters(notebook)
        mine = {p: v for p, v in overrides.items() if p in declared}
        unused -= set(mine)
        result.append(Job(name, profile.get(name, {}) | mine))
        check_parameters(notebook, result[-1].parameters)
    if unused:
        known = sorted(
            {p for name in names for p in declared_parameters(nbformat.read(NOTEBOOKS / f"{name}.ipynb", 4))}
        )
        near = get_close_matches(min(unused), known, 1)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
        raise UsageError(f"no selected notebook has a parameter {min(unused)}: {hint}")
    return result


def _tagged(notebook, tag) -> str:
    return next(c.source for c in notebook.cells if tag in c.metadata.get("tags", []))


def declared_parameters(notebook) -> list[str]:
    """Names that the notebook's parameters cell assigns."""
    return [
        line.target.id for line in ast.parse(_tagged(notebook, "parameters")).body if isinstance(line, ast.AnnAssign)
    ]


def check_parameters(notebook, parameters: dict) -> None:
    """Run the notebook's parameters cell, the cell that papermill will inject, and its check, all in this process."""
    injected = PythonTranslator.codify(parameters) if parameters else ""
    namespace = {"In": [injected]}
    for source in (_tagged(notebook, "parameters"), injected, _tagged(notebook, "check")):
        exec(compile(source, "<notebook>", "exec"), namespace)


# What is stale ------------------------------------------------------------------------------------------------


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


def code_hash(path: Path) -> str:
    """Hash of a notebook's code cells: opening and saving it, or rewording its prose, changes nothing."""
    cells = [c.source for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()


def why_stale(job: Job, place: Place) -> str:
    """Why the notebook must run again, or an empty string."""
    if not place.stamp(job.name).exists():
        return "has not run to its end here"
    stamp = json.loads(place.stamp(job.name).read_text())
    if stamp["code"] != code_hash(job.path):
        return "its code changed"
    if stamp["parameters"] != job.parameters:
        return f"ran with {stamp['parameters'] or 'its defaults'}, wanted {job.parameters or 'its defaults'}"
    for module, digest in stamp["modules"].items():
        if _hash(ROOT / module) != digest:
            return f"{module} changed"
    if stamp["lock"] != _hash(ROOT / "requirements.lock"):
        return "requirements.lock changed"
    for output, digest in stamp["outputs"].items():
        if _hash(place.root / output) != digest:
            return f"{output} is missing or was changed"
    return ""


def _inputs(job: Job) -> dict:
    """Hashes of all that a run may depend on, taken before it starts: an edit meanwhile makes the notebook stale."""
    return {
        "code": code_hash(job.path),
        "parameters": job.parameters,
        "modules": {str(file.relative_to(ROOT)): _hash(file) for file in PACKAGE.rglob("*.py")},
        "lock": _hash(ROOT / "requirements.lock"),
    }


def _write_stamp(job: Job, place: Place, inputs: dict, modules: list[str], seconds: float) -> None:
    manifest = publish.read_manifest(place.root)
    outputs = [
        f"figures/{name}{ending}"
        for name, entry in manifest["outputs"].items()
        if entry["notebook"] == job.name
        for ending in publish.KINDS[entry["kind"]]
    ]
    stamp = inputs | {
        "modules": {module: inputs["modules"][module] for module in modules},
        "outputs": {output: _hash(place.root / output) for output in outputs},
        "seconds": round(seconds, 1),
    }
    publish.write(place.stamp(job.name), json.dumps(stamp, indent=1).encode())


# Running ------------------------------------------------------------------------------------------------------


class _KernelManager(AsyncKernelManager):
    """Kernels over local sockets: no TCP ports to race for."""

    def __init__(self, **kwargs):
        folder = tempfile.mkdtemp(prefix="privregret-")  # by default all kernels share one path
        super().__init__(transport="ipc", ip=f"{folder}/kernel", **kwargs)

    def cleanup_ipc_files(self):
        shutil.rmtree(os.path.dirname(self.ip), ignore_errors=True)


class _Engine(NBClientEngine):
    """papermill's own engine, with an environment and a log of its own for each kernel, and word of how far it is."""

    @classmethod
    def execute_managed_notebook(cls, nb_man, kernel_name, environment=None, log=None, tell=None, **kwargs):
        start = nb_man.cell_start

        def cell_start(cell, cell_index=None, **more):
            tell(cell_index + 1, len(nb_man.nb.cells))
            start(cell, cell_index, **more)

        nb_man.cell_start = cell_start
        client = PapermillNotebookClient(
            nb_man, kernel_name=kernel_name, startup_timeout=120, kernel_manager_class=_KernelManager
        )
        return client.execute(env=environment, stderr=log)


papermill_engines.register("privregret", _Engine)


class Progress:
    """Which notebooks are running and how far they are: one live line on a terminal, plain lines elsewhere."""

    def __init__(self, total):
        self.total, self.done, self.running, self.lock = total, 0, {}, threading.Lock()

    def at(self, name, cell, cells):
        with self.lock:
            self.running[name] = f"{name} {cell}/{cells}"
            if sys.stdout.isatty():
                print(f"\r\033[K[{self.done}/{self.total}] {', '.join(self.running.values())}", end="", flush=True)
            elif cell in (1, cells // 2):
                print(f"[{self.done}/{self.total}] {name}: cell {cell} of {cells}", flush=True)

    def ended(self, name, line):
        with self.lock:
            self.done += 1
            self.running.pop(name, None)
            print(("\r\033[K" if sys.stdout.isatty() else "") + line, flush=True)


def run(job: Job, place: Place, progress: Progress) -> int:
    """Run one notebook; adopt its outputs if it got to its end. Returns 0 or an exit code."""
    began, inputs = time.monotonic(), _inputs(job)
    staged = place.partial(job.name)
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(parents=True)
    place.stamp(job.name).unlink(missing_ok=True)
    place.failed(job.name).unlink(missing_ok=True)
    executed = staged / "executed.ipynb"
    error, code = "it ended before its last cell", FAILED
    try:
        with open(staged / "kernel.log", "wb") as log:  # what the kernel itself says: of interest if it dies
            papermill.execute_notebook(
                job.path,
                executed,
                parameters=job.parameters,
                engine_name="privregret",
                kernel_name="python3",
                progress_bar=False,
                environment={**os.environ, **KERNEL_ENVIRONMENT, "PRIVREGRET_OUTPUT": str(staged)},
                log=log,
                tell=lambda cell, cells: progress.at(job.name, cell, cells),
            )
        mark = end_mark(nbformat.read(executed, as_version=4))
        if mark:
            publish.adopt(staged, place.root, job.name)
            place.executed(job.name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(executed, place.executed(job.name))
            _write_stamp(job, place, inputs, mark["modules"], time.monotonic() - began)
            error, code = "", 0
    except DeadKernelError:
        error, code = "its kernel died (out of memory?)", KERNEL_DIED
    except PapermillExecutionError as problem:
        error = f"cell {problem.cell_index + 1}: {problem.ename}: {problem.evalue}".splitlines()[0]
        code = BAD_PARAMETER if problem.ename == "ParameterError" else FAILED
    except Exception as problem:  # one notebook's trouble must not stop the others
        error = f"{type(problem).__name__}: {problem}".splitlines()[0]
    if error:
        line = f"FAILED {job.name}: {error}"
        if executed.exists():
            place.failed(job.name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(executed, place.failed(job.name))
            os.replace(staged / "kernel.log", place.failed(job.name).with_suffix(".log"))
            line += f"; see {_shown(place.failed(job.name))}"
    else:
        line = f"{job.name}: {time.monotonic() - began:.0f} s, {_tally(job.name, place)}"
    shutil.rmtree(staged, ignore_errors=True)
    progress.ended(job.name, line)
    return code


def _shown(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _tally(name: str, place: Place) -> str:
    manifest = publish.read_manifest(place.root)
    kinds = [entry["kind"] for entry in manifest["outputs"].values() if entry["notebook"] == name]
    verdicts = [row["verdict"] for row in manifest["notebooks"].get(name, {}).get("findings", [])]
    return (
        f"{kinds.count('figure')} figures, {kinds.count('table')} tables, findings: "
        f"{verdicts.count(findings.REPRODUCED)} reproduced, {verdicts.count(findings.NOT_REPRODUCED)} not, "
        f"{verdicts.count(findings.UNDECIDED)} undecided"
    )


@contextmanager
def _alone(place: Place):
    place.build.mkdir(parents=True, exist_ok=True)
    with open(place.build / ".lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError("another run is under way in this folder") from None
        yield


def reproduce(todo: list[Job], place: Place, at_once: int) -> int:
    """Run all stale notebooks, `at_once` at a time; returns the exit code."""
    with _alone(place):
        shutil.rmtree(place.build / "partial", ignore_errors=True)  # left behind by a run that was killed
        stale = [job for job in todo if why_stale(job, place)]
        for job in todo:
            if job not in stale:
                print(f"{job.name}: up to date, {_tally(job.name, place)}")
        progress = Progress(len(stale))
        pool = ThreadPoolExecutor(at_once)
        try:
            codes = [f.result() for f in as_completed([pool.submit(run, job, place, progress) for job in stale])]
        except KeyboardInterrupt:
            print("\ninterrupted: what had finished is kept, the next run goes on from there", flush=True)
            os._exit(INTERRUPTED)  # kernels end by themselves once this process is gone
    return max(codes, default=0)


def status(todo: list[Job], place: Place = PROJECT) -> int:
    """Say which notebooks are stale and why."""
    for job in todo:
        print(f"{job.name}: {why_stale(job, place) or 'up to date'}")
    return 0


# Drift --------------------------------------------------------------------------------------------------------


def check(todo: list[Job], at_once: int) -> int:
    """Run everything afresh elsewhere and compare the data behind each published figure, table and finding."""
    shutil.rmtree(CHECK.root, ignore_errors=True)
    code = reproduce(todo, CHECK, at_once)
    if code:
        return code
    fresh, kept = publish.read_manifest(CHECK.root), publish.read_manifest(ROOT)
    names = {job.name for job in todo}
    published = {o for o, entry in kept["outputs"].items() if entry["notebook"] in names}
    drift = [f"{o}: published, but no notebook makes it" for o in sorted(published - set(fresh["outputs"]))]
    drift += [f"{o}: not published" for o in sorted(set(fresh["outputs"]) - published)]
    for output in sorted(published & set(fresh["outputs"])):
        drift += first_difference(output, *(pd.read_csv(r / "figures" / f"{output}.csv") for r in (ROOT, CHECK.root)))
    for name in sorted(names):
        one, other = (
            publish.findings_frame({"notebooks": {name: m["notebooks"].get(name, {})}}) for m in (kept, fresh)
        )
        drift += first_difference(f"findings of {name}", one, other)
    print("\n".join(drift) or f"{len(published)} figures and tables agree with a fresh run")
    return DRIFT if drift else 0


def first_difference(name: str, kept: pd.DataFrame, fresh: pd.DataFrame, tolerance: float = 1e-9) -> list[str]:
    """One line that names the first number that moved by more than a relative `tolerance`, or nothing."""
    if list(kept.columns) != list(fresh.columns) or len(kept) != len(fresh):
        return [f"{name}: {len(kept)} rows of {list(kept.columns)} became {len(fresh)} rows of {list(fresh.columns)}"]
    for column in kept.columns:
        a, b = kept[column], fresh[column]
        both_numbers = pd.api.types.is_numeric_dtype(a) and pd.api.types.is_numeric_dtype(b)
        same = (
            np.isclose(a, b, rtol=tolerance, atol=0, equal_nan=True)
            if both_numbers
            else (a == b) | (a.isna() & b.isna())
        )
        if not np.all(same):
            row = int(np.argmin(same))
            return [f"{name}, row {row + 1}, {column}: {a.iloc[row]} became {b.iloc[row]}"]
    return []
