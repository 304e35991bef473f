"""The batch command: run notebooks headlessly with papermill, each into a staging folder, and adopt what is finished.

A notebook is stale when its code cells, its parameters, a module that its kernel imported, the lock or anything that it
published changed. Nothing counts as done before its stamp is written, and that happens last. Only a run at the
notebooks' own defaults is adopted into `figures/`, `paper/` and the README.
"""

import ast
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

import nbformat
import pandas as pd
import papermill
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient.exceptions import DeadKernelError
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import NBClientEngine, papermill_engines
from papermill.exceptions import PapermillExecutionError
from papermill.translators import PythonTranslator
from tqdm import tqdm

from privregret import files, jit
from privregret.files import PACKAGE, ROOT, fcntl, locked
from privregret.press import findings, manifest
from privregret.press.notebook import ParameterError, end_mark
from privregret.press.places import BUILD, NOTEBOOKS

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
    parameters: dict = field(default_factory=dict)  # as asked for
    defaults: dict = field(default_factory=dict)  # as committed
    problem: str = ""  # why it cannot be run at all

    @property
    def path(self) -> Path:
        return NOTEBOOKS / f"{self.name}.ipynb"

    @property
    def wanted(self) -> dict:
        return self.defaults | self.parameters


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
CUSTOM = Place(BUILD / "custom", BUILD / "custom")  # with parameters of one's own
SMOKE = Place(BUILD / "smoke", BUILD / "smoke")
CHECK = Place(BUILD / "check", BUILD / "check")
TIMES = ROOT / "benchmarks" / "notebooks.csv"  # what notebooks took on one machine
MEASURED = sorted(TIMES.parent.glob("*.csv"))


# Which notebooks, with which parameters -----------------------------------------------------------------------


def read(name: str):
    """A notebook of the project, as an nbformat node.

    Raises
    ------
    UsageError
        If it cannot be read or does not keep the contract, in one line that names it.
    """
    try:
        notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
        parameters, check = _tagged(notebook, "parameters"), _tagged(notebook, "check")
        ast.parse(parameters)
        calls = [line.value for line in ast.parse(check).body if isinstance(line, ast.Expr)]
        started = next(c.args[0].value for c in calls if getattr(c.func, "attr", "") == "start")
    except StopIteration:
        raise UsageError(f"notebooks/{name}.ipynb has no cells tagged parameters and check") from None
    except Exception as problem:  # cut, not JSON, of another format, not Python
        reason = str(problem).splitlines()[0][:100] if str(problem) else type(problem).__name__
        raise UsageError(f"notebooks/{name}.ipynb cannot be read: {reason}") from None
    if started != name:
        raise UsageError(f"notebooks/{name}.ipynb says that it is {started}: a copy?")
    return notebook


def select(wanted: list[str]) -> list[str]:
    """Names of the notebooks that `wanted` (papers, notebooks, their bare names, paths; empty means all) stands for.

    Scratch notebooks, copies and Jupyter's checkpoints among them are skipped with a word, unless nothing else was
    asked for. One that has run or published something is never scratch, whatever became of it.
    """
    names, ours = [], set()
    with suppress(manifest.Damaged):  # told elsewhere
        ours = set(manifest.read(ROOT)["notebooks"])
    for path in sorted(NOTEBOOKS.glob("*/*.ipynb")):
        if not path.parent.name.startswith("."):
            names.append(str(path.relative_to(NOTEBOOKS).with_suffix("")))
    chosen = set() if wanted else set(names)
    for word in wanted:
        here = Path(word).resolve()
        near_by = here.exists() and here != NOTEBOOKS and here.is_relative_to(NOTEBOOKS)
        key = str(here.relative_to(NOTEBOOKS)) if near_by else word.removeprefix("./").removeprefix("notebooks/")
        key = key.removesuffix(".ipynb").rstrip("/")
        found = {n for n in names if n == key or n.startswith(f"{key}/") or n.endswith(f"/{key}")}
        if not found:
            near = get_close_matches(key, [*names, *{part for n in names for part in n.split("/")}], 1)
            raise UsageError(f"no notebook or paper {word!r}" + (f"; did you mean {near[0]}?" if near else ""))
        chosen |= found
    result, skipped = [], []
    for name in sorted(chosen):
        try:
            read(name)
            result.append(name)
        except UsageError as problem:
            if name in ours or PROJECT.stamp(name).exists():
                result.append(name)
            else:
                skipped.append(problem)
    if wanted and not result:
        raise skipped[0]
    for problem in skipped:
        print(f"skipped: {problem}", file=sys.stderr)
    return result


def parse_value(text: str):
    """The Python literal that `text` is, else `text` itself; 0.5,1,2 is a list."""
    try:
        value = ast.literal_eval(text)
        return list(value) if isinstance(value, tuple) else value
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return {"true": True, "false": False}.get(text, text)


def jobs(names: list[str], overrides: dict, smoke: bool) -> list[Job]:
    """One job a notebook, each checked by the notebook's own rules before any kernel starts."""
    profile = tomllib.loads((NOTEBOOKS / "smoke.toml").read_text(encoding="utf-8")) if smoke else {}
    result, unused, known = [], set(overrides), set()
    for name in names:
        try:
            notebook = read(name)
        except UsageError as problem:  # one notebook's trouble must not stop the others
            result.append(Job(name, problem=str(problem)))
            continue
        declared = declared_parameters(notebook)
        known |= set(declared)
        mine = {p: v for p, v in overrides.items() if p in declared}
        unused -= set(mine)
        result.append(Job(name, profile.get(name, {}) | mine, declared | _committed(name, declared)))
        try:
            check_parameters(notebook, result[-1].wanted)
        except UsageError as problem:
            if mine:
                raise UsageError(f"{name}: {problem}") from None
            result[-1].problem = str(problem)
    if unused:
        near = get_close_matches(min(unused), known, 1)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(sorted(known))}"
        raise UsageError(f"no selected notebook has a parameter {min(unused)}: {hint}")
    return result


def _committed(name: str, declared: dict) -> dict:
    """Defaults that are committed, where they differ from what the notebook says now; told in a line for each.

    JupyterLab saves an edited parameter by itself, so an edit alone is not taken for a wish to change the default.
    """
    shown = subprocess.run(
        ["git", "-C", str(ROOT), "show", f"HEAD:notebooks/{name}.ipynb"], capture_output=True, check=False
    )
    try:
        committed = declared_parameters(nbformat.reads(shown.stdout.decode(), as_version=4))
    except Exception:  # no git, not committed yet
        return {}
    changed = {p: v for p, v in committed.items() if p in declared and declared[p] != v}
    for parameter, value in changed.items():
        print(
            f"{name}: {parameter} is {declared[parameter]!r} in the notebook but {value!r} as committed, which is used "
            f"(to try the other: -p {parameter} ...; to make it the default, commit it)",
            file=sys.stderr,
        )
    return changed


def _tagged(notebook, tag) -> str:
    return next(c.source for c in notebook.cells if tag in c.metadata.get("tags", []))


def declared_parameters(notebook) -> dict:
    """What the notebook's parameters cell assigns: name -> default."""
    lines = ast.parse(_tagged(notebook, "parameters")).body
    return {line.target.id: ast.literal_eval(line.value) for line in lines if isinstance(line, ast.AnnAssign)}


def check_parameters(notebook, parameters: dict) -> None:
    """Run the notebook's parameters cell, the cell that papermill will inject, and its check, all in this process."""
    injected = PythonTranslator.codify(parameters) if parameters else ""
    namespace = {"In": [injected]}
    try:
        for source in (_tagged(notebook, "parameters"), injected, _tagged(notebook, "check")):
            exec(compile(source, "<notebook>", "exec"), namespace)
    except ParameterError:
        raise
    except Exception as problem:
        reason = f"{type(problem).__name__}: {problem}".splitlines()[0]
        raise UsageError(f"the cells of parameters and their check fail: {reason}") from None


# What is stale ------------------------------------------------------------------------------------------------


def _hash(path: Path) -> str:
    return files.digest(path.read_bytes()) if path.is_file() else ""


def code_hash(path: Path) -> str:
    """Hash of a notebook's code cells but for its parameters: opening and saving it, or rewording its prose, changes
    nothing."""
    cells = nbformat.read(path, as_version=4).cells
    code = [c.source for c in cells if c.cell_type == "code" and "parameters" not in c.metadata.get("tags", [])]
    return files.digest(json.dumps(code).encode())


def read_stamp(job: Job, place: Place) -> dict:
    """What the notebook's last finished run left behind; empty if there is nothing of use."""
    try:
        stamp = json.loads(place.stamp(job.name).read_text(encoding="utf-8"))
        return stamp if all(isinstance(stamp[key], kind) for key, kind in _STAMP.items()) else {}
    except (OSError, ValueError, TypeError, KeyError):
        return {}


_STAMP = {"code": str, "parameters": dict, "modules": dict, "lock": str, "record": dict, "seconds": (int, float)}


def why_stale(job: Job, place: Place) -> str:
    """Why the notebook must run again, or an empty string."""
    if job.problem:
        return job.problem
    stamp = read_stamp(job, place)
    if not stamp:
        return "has not run to its end here"
    if stamp["code"] != code_hash(job.path):
        return "its code changed"
    if stamp["parameters"] != job.wanted:
        changed = {p: v for p, v in job.wanted.items() if stamp["parameters"].get(p, ...) != v}
        return f"ran with other parameters, wanted {changed or job.wanted}"
    for module, digest in stamp["modules"].items():
        if _hash(ROOT / module) != digest:
            return f"{module} changed"
    if stamp["lock"] != _hash(ROOT / "requirements.lock"):
        return "requirements.lock changed"
    record = manifest.of_notebook(manifest.read(place.root), job.name)
    if stamp["record"] != record:
        return "what figures/manifest.json says of it was changed"
    for output, entry in record["outputs"].items():
        for ending, digest in entry["files"].items():
            if _hash(place.root / "figures" / f"{output}{ending}") != digest:
                return f"figures/{output}{ending} is missing or was changed"
    return ""


def _inputs(job: Job) -> dict:
    """Hashes of all that a run may depend on, taken before it starts: an edit meanwhile makes the notebook stale."""
    return {
        "code": code_hash(job.path),
        "parameters": job.wanted,
        "modules": {str(file.relative_to(ROOT)): _hash(file) for file in (*PACKAGE.rglob("*.py"), *MEASURED)},
        "lock": _hash(ROOT / "requirements.lock"),
    }


def _write_stamp(job: Job, place: Place, inputs: dict, mark: dict, seconds: float) -> None:
    stamp = inputs | {
        "modules": {module: inputs["modules"].get(module, "") for module in mark["modules"]},  # newer ones: stale
        "record": manifest.of_notebook(manifest.read(place.root), job.name),
        "seconds": round(seconds, 1),
        "kilobytes": mark.get("kilobytes"),
    }
    files.write(place.stamp(job.name), json.dumps(stamp, indent=1).encode())


# Running ------------------------------------------------------------------------------------------------------


class _KernelManager(AsyncKernelManager):
    """Kernels over local sockets: no TCP ports to race for."""

    sockets = ""  # folder of all that kernels are reached by; not below build/, where paths may be too long for them

    def __init__(self, **kwargs):
        folder = tempfile.mkdtemp(dir=self.sockets)  # by default all kernels share one path
        kernels = [f"{path}/kernels" for path in os.environ.get("JUPYTER_PATH", "").split(os.pathsep) if path]
        super().__init__(
            transport="ipc",
            ip=f"{folder}/kernel",
            connection_file=f"{folder}/kernel.json",
            kernel_spec_manager=KernelSpecManager(kernel_dirs=kernels),  # or this Python; no look into anybody's home
            **kwargs,
        )

    def cleanup_ipc_files(self):
        shutil.rmtree(os.path.dirname(self.ip), ignore_errors=True)


@contextmanager
def _sockets():
    """A temporary folder for the kernels' sockets; those that killed runs left behind go, which nobody has locked."""
    parent = _short(tempfile.gettempdir())
    for old in Path(parent).glob("privregret-kernels-*"):
        with suppress(OSError):  # in use, or somebody else's
            _lock(old)
            shutil.rmtree(old)
    while True:
        folder = tempfile.TemporaryDirectory(prefix="privregret-kernels-", dir=parent, ignore_cleanup_errors=True)
        with suppress(FileNotFoundError, BlockingIOError):  # another command was first, and took it for an old one
            _lock(folder.name)
            break
        folder.cleanup()
    with folder as _KernelManager.sockets:
        yield


def _short(folder):
    """The folder; or /tmp, if paths of sockets below it would be longer than systems allow (104 bytes, or 108)."""
    longest = os.fsencode(f"{folder}/privregret-kernels-12345678/tmp12345678/kernel-5")
    return folder if len(longest) < 104 else "/tmp"


def _lock(folder):
    """Lock a folder for as long as this process lives."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(opened)
        raise


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
    """Which notebooks are running, how far they are, how long it takes: one live line on a terminal, else plain ones.

    `seconds` says how long each notebook took last time, None if that is not known: it is taken to be an average one.
    What is left is corrected by how long those that have ended took beside last time: machines differ.
    """

    def __init__(self, seconds: dict, at_once: int):
        self.seconds, self.at_once, self.total = dict(seconds), at_once, len(seconds)
        self.began, self.since, self.running, self.lock = time.monotonic(), {}, {}, threading.Lock()
        self.expected = self.took = 0.0  # of the notebooks that have ended

    def head(self):
        now, known = time.monotonic(), [s for s in self.seconds.values() if s is not None]
        text = f"[{self.total - len(self.seconds)}/{self.total}] {tqdm.format_interval(now - self.began)}"
        if not known:
            return text
        average, pace = sum(known) / len(known), self.took / self.expected if self.expected else 1.0
        left = {name: pace * (average if s is None else s) for name, s in self.seconds.items()}
        left |= {name: max(left[name] - (now - since), 0) for name, since in self.since.items()}
        rest = max(sum(left.values()) / self.at_once, *left.values())
        if rest < 1:  # nobody knows what is late already
            return text
        return f"{text}, about {tqdm.format_interval(rest)} left"

    def at(self, name, cell, cells):
        with self.lock:
            self.since.setdefault(name, time.monotonic())
            self.running[name] = f"{name} {cell}/{cells}"
            if not sys.stdout.isatty() and cell in (1, cells // 2):
                print(f"{self.head()}: {name}, cell {cell} of {cells}", flush=True)
        self.show()

    def show(self):
        """Write the live line anew, if there is one."""
        with self.lock:
            if self.running and sys.stdout.isatty():
                line = f"{self.head()}: {', '.join(self.running.values())}"
                print(f"\r\033[K{line[: shutil.get_terminal_size().columns - 1]}", end="", flush=True)

    def ended(self, name, line):
        with self.lock:
            if self.seconds.get(name) and name in self.since:
                self.expected += self.seconds[name]
                self.took += time.monotonic() - self.since[name]
            for record in (self.seconds, self.since, self.running):
                record.pop(name, None)
            print(("\r\033[K" if sys.stdout.isatty() else "") + line, flush=True)


def run(job: Job, place: Place, progress: Progress) -> int:
    """Run one notebook; adopt its outputs if it got to its end. Returns 0 or an exit code."""
    if job.problem:
        progress.ended(job.name, f"FAILED {job.name}: {job.problem}")
        return FAILED
    began, staged = time.monotonic(), place.partial(job.name)
    executed = staged / "executed.ipynb"
    error, code = "it ended before its last cell", FAILED
    try:
        inputs, declared = _inputs(job), declared_parameters(read(job.name))
        failed = place.failed(job.name)
        for old in (staged, place.stamp(job.name), failed, failed.with_suffix(".log")):
            _remove(old)
        staged.mkdir(parents=True)
        with open(staged / "kernel.log", "wb") as log:  # what the kernel itself says: of interest if it dies
            papermill.execute_notebook(
                job.path,
                executed,
                parameters={p: v for p, v in job.wanted.items() if v != declared[p]},
                engine_name="privregret",
                kernel_name="python3",
                progress_bar=False,
                environment={
                    **os.environ,
                    **KERNEL_ENVIRONMENT,
                    "LOKY_MAX_CPU_COUNT": str(max(os.cpu_count() // progress.at_once, 1)),  # its share of the cores
                    "IPYTHONDIR": f"{_KernelManager.sockets}/ipython",  # nobody's own settings, and gone afterwards
                    "PRIVREGRET_OUTPUT": str(staged),
                },
                log=log,
                tell=lambda cell, cells: progress.at(job.name, cell, cells),
            )
        mark = end_mark(nbformat.read(executed, as_version=4))
        if mark:
            manifest.adopt(staged, place.root, job.name, {"code": inputs["code"], "lock": inputs["lock"]})
            place.executed(job.name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(executed, place.executed(job.name))
            _write_stamp(job, place, inputs, mark, time.monotonic() - began)
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
        with suppress(OSError):  # it did not come that far, or there is no room
            place.failed(job.name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(executed, place.failed(job.name))
            os.replace(staged / "kernel.log", place.failed(job.name).with_suffix(".log"))
            line += f"; see {_shown(place.failed(job.name))}"
    else:
        line = f"{job.name}: {time.monotonic() - began:.0f} s, {_tally(job.name, place)}"
    shutil.rmtree(staged, ignore_errors=True)
    progress.ended(job.name, line)
    return code


def _remove(path):
    """Remove a file or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _shown(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _last_time(job: Job, place: Place) -> float | None:
    """Seconds that the notebook took when it last ran with these parameters: here, in the project, or where the
    project's benchmark ran."""
    stamps = (read_stamp(job, p) for p in (place, PROJECT))
    measured = [s["seconds"] for s in stamps if s and s["parameters"] == job.wanted]
    if not measured and job.wanted == job.defaults and TIMES.exists():
        measured = [row.seconds for row in pd.read_csv(TIMES).itertuples() if row.notebook == job.name]
    return measured[0] if measured else None


def _tally(name: str, place: Place) -> str:
    record = manifest.read(place.root)
    kinds = [entry["kind"] for entry in record["outputs"].values() if entry["notebook"] == name]
    rows = record["notebooks"].get(name, {}).get("findings", [])
    claims = [row["verdict"] for row in rows if row["kind"] == findings.CLAIM]
    return (
        f"{kinds.count('figure')} figures, {kinds.count('table')} tables, claims: "
        f"{claims.count(findings.REPRODUCED)} reproduced, {claims.count(findings.NOT_REPRODUCED)} not, "
        f"{claims.count(findings.UNDECIDED)} undecided; {len(rows) - len(claims)} other findings"
    )


@contextmanager
def _alone(place: Place):
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(place.build / ".lock", wait=False))
        except BlockingIOError:
            raise UsageError("another run is under way in this folder: wait for it, or stop it") from None
        yield


def _mend(place: Place) -> None:
    """Remove what killed runs left behind, and make a damaged or missing manifest anew.

    Stamps hold what it said of their notebooks; those without one run again.
    """
    shutil.rmtree(place.build / "partial", ignore_errors=True)
    for folder in (place.root / "figures", place.root / "paper", place.build / "stamps"):
        files.sweep(folder)
    for partial in place.root.glob(".*.partial-*"):  # of the README
        partial.unlink()
    try:
        if manifest.read_whole(place.root) != manifest.empty():
            return
    except manifest.Damaged as problem:
        print(f"{problem}: made anew, from what the last runs left if nothing else changed", flush=True)
    stamps = place.build / "stamps"
    names = [str(path.relative_to(stamps).with_suffix("")) for path in stamps.rglob("*.json")]
    kept = {name: stamp["record"] for name in names if (stamp := read_stamp(Job(name), place))}
    with manifest.changing(place.root) as record:
        record |= manifest.empty()
        for name, said in kept.items():
            record["notebooks"][name] = said.get("notebook", {})
            record["outputs"] |= said.get("outputs", {})


def reproduce(todo: list[Job], place: Place, at_once: int, force: bool = False, fresh: bool = False) -> int:
    """Run all stale notebooks (all if `force`), `at_once` at a time; returns the exit code."""
    with _alone(place), _sockets():
        if fresh:
            for old in ("figures", "paper", "stamps", "notebooks", "failed"):
                _remove(place.root / old)
        _mend(place)
        stale = [job for job in todo if force or why_stale(job, place)]
        for job in todo:
            if job not in stale:
                print(f"{job.name}: up to date, {_tally(job.name, place)}")
        if stale and not (jit.CACHE and any(jit.CACHE.iterdir())):
            print("Kernels are compiled when they are first called: this run takes about a minute longer", flush=True)
        seconds = {job.name: _last_time(job, place) for job in stale}
        stale.sort(key=lambda job: -(seconds[job.name] or math.inf))  # so that no long one runs alone at the end
        progress = Progress(seconds, min(at_once, max(len(stale), 1)))
        pool = ThreadPoolExecutor(at_once)
        try:
            runs = [pool.submit(run, job, place, progress) for job in stale]
            while wait(runs, timeout=1).not_done:
                progress.show()
            codes = [done.result() for done in runs]
        except KeyboardInterrupt:
            print("\ninterrupted: what had finished is kept, the next run goes on from there", flush=True)
            shutil.rmtree(_KernelManager.sockets, ignore_errors=True)
            os._exit(INTERRUPTED)  # kernels end by themselves once this process is gone
        manifest.render(place.root)
    if place is not PROJECT:
        print(f"The output is in {_shown(place.root)}; what is published stays as it was.")
    return max(codes, default=0)


def status(todo: list[Job], place: Place = PROJECT) -> int:
    """Say which notebooks are stale and why, and what else is not as it should be."""
    try:
        manifest.read_whole(place.root)
    except manifest.Damaged as problem:
        print(f"{problem}; `make` makes it anew")
        return 0
    for job in todo:
        print(f"{job.name}: {why_stale(job, place) or 'up to date'}")
    for path in manifest.differing(place.root):
        print(f"{path}: not what figures/manifest.json says; `make` writes it again")
    return 0


# Drift --------------------------------------------------------------------------------------------------------


def check(todo: list[Job], at_once: int) -> int:
    """Run everything afresh elsewhere and compare the data behind each published figure, table and finding."""
    kept = manifest.read_whole(ROOT)
    code = reproduce(todo, CHECK, at_once, fresh=True)
    if code:
        return code
    fresh = manifest.read(CHECK.root)
    names = {job.name for job in todo}
    published = {o for o, entry in kept["outputs"].items() if entry["notebook"] in names}
    drift = [f"{o}: published, but no notebook makes it" for o in sorted(published - set(fresh["outputs"]))]
    drift += [f"{o}: not published" for o in sorted(set(fresh["outputs"]) - published)]
    for output in sorted(published & set(fresh["outputs"])):
        frames = (pd.read_csv(root / "figures" / f"{output}.csv") for root in (ROOT, CHECK.root))
        drift += manifest.first_difference(output, *frames)
    for name in sorted(names):
        records = (m["notebooks"].get(name, {}) for m in (kept, fresh))
        drift += manifest.record_difference(*records, name)
    print("\n".join(drift) or f"{len(published)} figures and tables agree with a fresh run")
    return DRIFT if drift else 0
