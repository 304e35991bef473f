"""The batch command: which notebooks are stale and why, run by papermill and adopted at their end.

Only committed parameters are adopted into `figures/`, `paper/` and the README. A stamp below
`build/` is removed first and written last: what has none has not finished.
"""

import ast
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir, mkdtemp
from typing import Any
from urllib.parse import unquote

import joblib
from tqdm import tqdm

from privregret.core import files
from privregret.core.files import PACKAGE, ROOT, digest, locked
from privregret.press import manifest, missing, notebook, reached, render, text
from privregret.press.notebook import BUILD, NOTEBOOKS, hint
from privregret.press.papers import PAPERS

# exit codes; 130 is the shell's for an interrupt
FAILED, USAGE, DIED, INTERRUPTED = 1, 2, 3, 130
# bits change with the number of BLAS threads, and PDF files with the date
ENVIRONMENT = {"SOURCE_DATE_EPOCH": "0", "TQDM_DISABLE": "1"}
# settings and libraries of the user's own
ENVIRONMENT |= {"MATPLOTLIBRC": os.devnull, "PYTHONPATH": str(PACKAGE.parent)}
ENVIRONMENT["PYTHONNOUSERSITE"] = "1"
ENVIRONMENT["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
ENVIRONMENT |= {f"{of}_NUM_THREADS": "1" for of in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
LOCK, NEVER = "requirements.lock", "has not run to its end here"
VERSIONS = """
import sys, importlib.metadata as of
print(*(next((one.version for one in of.distributions(name=n)), "missing") for n in sys.argv[1:]))
"""
# files of a folder that a parameter names
MOST = 1000
# with these a cell is not run, or a value of another run is
TAGS = {"skip-execution", "injected-parameters"}


class UsageError(ValueError):
    """The command was asked for something that is not there."""


@dataclass
class Job:
    """A notebook to run, all parameters and those its file has not; or why it cannot run at all."""

    name: str
    content: bytes = b""
    code: str = ""
    parameters: dict = field(default_factory=dict)
    changed: dict = field(default_factory=dict)
    problem: str = ""


def read(name: str) -> tuple[bytes, str, dict]:
    """A notebook's bytes, its code without the parameters, and these; UsageError if it is none of
    ours."""
    try:
        content = (NOTEBOOKS / f"{name}.ipynb").read_bytes()
        cells = [c for c in json.loads(content)["cells"] if c["cell_type"] == "code"]
        kept = [c for c in cells if "parameters" not in c["metadata"].get("tags", [])]
        code = "\n\n".join("".join(cell["source"]) for cell in kept)
        if bad := TAGS.intersection(t for c in cells for t in c["metadata"].get("tags", [])):
            raise ValueError(f"a cell has the tag {min(bad)}")
        if not re.search(rf"^notebook\.start\(\s*[\"']{re.escape(name)}[\"']", code, re.M):
            raise ValueError(f"it does not call notebook.start({name!r}, ...): a copy?")
        return content, code, notebook.declared(content)
    except Exception as problem:  # cut, not JSON, of another format, not Python
        reason = (str(problem).splitlines() or [type(problem).__name__])[0][:200]
        raise UsageError(f"notebooks/{name}.ipynb cannot be read: {reason}") from None


def notebooks() -> list[str]:
    """The names of all notebooks. Scratch and copies are skipped with a word, if unpublished."""
    published, names = manifest.read(ROOT)["notebooks"], []
    for path in sorted(NOTEBOOKS.glob("[!.]*/*.ipynb")):
        name = path.relative_to(NOTEBOOKS).with_suffix("").as_posix()
        try:
            if name not in published:
                read(name)
            names.append(name)
        except UsageError as problem:
            print(f"skipped: {problem}", file=sys.stderr)
    return names


def select(words: list[str], names: list[str]) -> list[str]:
    """Those that papers, notebooks, bare names and paths stand for; all for no words."""
    chosen = set()
    for word in words:
        path = Path(word).resolve()
        key = str(path.relative_to(NOTEBOOKS)) if NOTEBOOKS in path.parents else word
        key = key.removeprefix("notebooks/").removesuffix(".ipynb").rstrip("/")
        found = {n for n in names if n == key or n.startswith(f"{key}/") or n.endswith(f"/{key}")}
        if not found:
            parts = {part for name in names for part in name.split("/")}
            raise UsageError(f"no notebook or paper {word!r}: {hint(key, [*names, *parts])}")
        chosen |= found
    return sorted(chosen) or names


def overrides(pairs: list[tuple[str, str]]) -> dict:
    """Parameters from the command line, as texts; UsageError for one that is there twice."""
    found: dict = {}
    for name, value in pairs:
        if name in found:
            raise UsageError(f"-p {name} is given twice")
        found[name] = value
    return found


def fitted(given: Any, usual: Any) -> Any:
    """A value of the command line for a parameter that usually is `usual`: "2**22" is a number,
    "0.5,1" a list, "0.5" too where that is usual; what is none of that stays a text."""
    value = {"true": True, "false": False}.get(given, given) if isinstance(given, str) else given
    if isinstance(value, str):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            value = notebook.literal(ast.parse(given.strip(), mode="eval").body)
    if isinstance(usual, str) and not isinstance(value, str):
        return given
    return [value] if isinstance(usual, list) and not isinstance(value, list) else value


def jobs(names: list[str], given: dict, root: Path = ROOT, smoke: bool = False) -> list[Job]:
    """What is to be run, with which parameters; UsageError for a parameter that no notebook has."""
    if not (ROOT / LOCK).is_file():
        raise UsageError(f"{LOCK} is missing: restore it by git, since all depends on it")
    todo, known, unknown = [], set[str](), list[str]()
    for name in names:
        try:
            content, code, saved = read(name)
            small = text.small(name, saved) if smoke else {}
        except (UsageError, text.TextError) as problem:  # the others go on
            todo.append(Job(name, problem=str(problem)))
            continue
        known |= saved.keys()
        usual = notebook.committed(name, unknown.append) if root == ROOT else saved
        for p in (p for p in saved if repr(usual[p]) != repr(saved[p])):
            print(f"{name}: {p}={saved[p]!r} is not committed, {p}={usual[p]!r} counts")
        own = {p: fitted(v, saved[p]) for p, v in given.items() if p in saved}
        wanted = usual | small | own
        changed = {p: v for p, v in wanted.items() if repr(v) != repr(saved.get(p))}
        todo.append(Job(name, content, code, wanted, changed))
    for none in sorted(given.keys() - known):
        raise UsageError(f"no selected notebook has a parameter {none}: {hint(none, known)}")
    if unknown:
        told = "git cannot say which parameters are committed, so those last published count"
        print(f"warning: {told} ({unknown[0]})", file=sys.stderr)
    return todo


def named(value: Any) -> Iterator[Path]:
    """The files that texts name, also in lists and tables: by a path, with ~ or as file:, or by the
    folder that they are in. UsageError for a folder of too many."""
    if isinstance(value, dict | list):
        for one in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from named(one)
    elif isinstance(value, str) and re.search(r"\w", value):
        local = re.match("file:(?://[^/]*)?(/.*)", value)
        path = os.path.expanduser(unquote(local[1]) if local else value)
        inside = (os.path.join(at, name) for at, _, names in os.walk(path) for name in names)
        found = [*islice(inside, MOST + 1)] if os.path.isdir(path) else [path]
        if len(found) > MOST:
            raise UsageError(f"the folder {value} has over {MOST} files: name those that count")
        for file in filter(os.path.isfile, found):
            # the system's own may be endless
            if not os.path.realpath(file).startswith(("/proc/", "/sys/")):
                yield Path(file)


def inputs(job: Job) -> dict[str, str]:
    """Everything that a run depends on but its parameters: what it is -> its hash."""
    data = [ROOT / LOCK, NOTEBOOKS / f"{job.name}.toml", *named(job.parameters)]
    found = {f"notebooks/{job.name}.ipynb": digest(job.code.encode())}
    found |= {os.path.relpath(f, ROOT): digest(f.read_bytes()) for f in data if f.is_file()}
    return found | {f"src/privregret/{f}": one for f, one in reached.hashes(job.code).items()}


def origin(name: str, found: dict[str, str]) -> dict[str, str]:
    """What the manifest says of a notebook's `inputs`."""
    sources = digest(json.dumps(found, sort_keys=True).encode())
    return {"code": found[f"notebooks/{name}.ipynb"], "lock": found[LOCK], "sources": sources}


def outputs(name: str, root: Path) -> dict[str, str]:
    """All that a notebook has made below a root: path -> hash, "" for a missing file."""
    said = manifest.of_notebook(manifest.read(root), name)
    paths = [f"figures/{o}{ending}" for o, e in said["outputs"].items() for ending in e["files"]]
    found = {
        path: manifest.hashed(root / path) for path in [*paths, f"build/notebooks/{name}.ipynb"]
    }
    return found | {"figures/manifest.json": digest(json.dumps(said, sort_keys=True).encode())}


def stamp(name: str, root: Path) -> Path:
    """The path of a notebook's stamp."""
    return root / "build" / "stamps" / f"{name}.json"


def stamped(name: str, root: Path) -> dict:
    """What the last finished run of a notebook left; nothing if that is missing or damaged."""
    try:
        found = json.loads(stamp(name, root).read_bytes())
        return found | {"seconds": float(found["seconds"]), "files": dict(found["files"])}
    except (OSError, ValueError, TypeError, KeyError):
        return {}


def why_stale(job: Job, root: Path) -> str:
    """The reason to run a notebook again; "" if it is up to date."""
    if job.problem:
        return job.problem
    said = manifest.of_notebook(manifest.read(root), job.name)["notebook"].get("parameters", {})
    was = {p: said[p] for p, v in job.parameters.items() if said.get(p, v) != v}
    if was:
        return ", ".join(f"{p}={job.parameters[p]!r} (was {v!r})" for p, v in was.items())
    known = stamped(job.name, root)
    if not known:
        return NEVER
    old, now = known["files"], inputs(job) | outputs(job.name, root)
    changed = (path for path in [*now, *old] if old.get(path) != now.get(path))
    return next((f"{path} changed" for path in changed), "")


def _kernel(folder, variables):
    """A class of kernels of this interpreter, over local sockets, no ports to race for, where that
    is possible; what they say goes to a log."""
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    at = {"connection_file": f"{folder}/kernel.json"}
    with suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
        probe.bind(f"{folder}/kernel-0")  # else its path is too long, or it is on a strange disk
        at |= {"transport": "ipc", "ip": f"{folder}/kernel"}
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]

    class Kernel(AsyncKernelManager):
        # by its name another one could be found
        kernel_spec = KernelSpec(argv=argv, display_name="Python 3", language="python")

        def __init__(self, **more):
            super().__init__(**more, **at)

        async def start_kernel(self, **more):
            env = os.environ | ENVIRONMENT | variables
            try:
                with open(f"{folder}/kernel.log", "ab") as log:
                    await super().start_kernel(**more, env=env, stderr=log)
            except Exception:  # it may run, and an open socket keeps this process from its end
                await self.shutdown_kernel(now=True)
                raise

    return Kernel


def _stamps(job):
    """What is another if a file of the package, the lock or one that a parameter names was written
    to meanwhile, also if it was put back: number, size and time of the last change."""
    ours = files.sources()
    paths = [*ours, ROOT / LOCK, *named(job.parameters)]
    # of a link and of what it leads to
    known = [(os.path.relpath(p, ROOT), s) for p in paths for s in (p.lstat(), p.stat())]
    return {(path, s.st_ino, s.st_size, s.st_ctime_ns) for path, s in known}


def run(job: Job, root: Path, sockets: str, variables: dict, gone, tell) -> tuple[int, str]:
    """Run one notebook and adopt its outputs, or change nothing: exit code, line for the user.
    `sockets` has a short path; `tell` is told of each cell that starts."""
    if job.problem:
        return FAILED, f"FAILED {job.name}: {job.problem}"
    import papermill.log
    from nbclient.exceptions import DeadKernelError
    from papermill.exceptions import PapermillExecutionError

    papermill.log.logger.disabled = True  # it says again what this says
    began, build, file, at = time.monotonic(), root / "build", f"{job.name}.ipynb", [0]
    done, failed, folder = build / "notebooks" / file, build / "failed" / file, mkdtemp(dir=sockets)
    # a folder of its own: a kernel of a killed run may still write to the old one
    staged = build / "partial" / f"{job.name}-{secrets.token_hex(4)}"
    # a failed run leaves what it executed or, where that says nothing, its log
    executed = left = staged / "executed.ipynb"
    log = Path(folder, "kernel.log")
    texts = staged / Path(job.name).with_suffix(".toml").name
    own = {"PRIVREGRET_OUTPUT": str(staged), "PRIVREGRET_TEXTS": str(texts)}
    own |= {"IPYTHONDIR": str(build / "ipython")}

    def starts(cell, cell_index):
        at[0] = cell_index + 1
        tell(f"{job.name}, cell {at[0]}")

    try:
        ids = text.ids(job.name)
        for old in (stamp(job.name, root), failed, failed.with_suffix(".log")):
            shutil.rmtree(old, ignore_errors=True)  # if it is a folder
            old.unlink(missing_ok=True)
        staged.mkdir(parents=True)
        # what is hashed is what runs: an editor may save the originals meanwhile
        source = staged / "source.ipynb"
        source.write_bytes(job.content)
        stamps, before, captions = _stamps(job), inputs(job), NOTEBOOKS / f"{job.name}.toml"
        if captions.is_file():
            texts.write_bytes(captions.read_bytes())
            before[os.path.relpath(captions, ROOT)] = digest(texts.read_bytes())
        # papermill takes braces for its own
        paths = (re.sub("[{}]", r"\g<0>\g<0>", str(path)) for path in (source, executed))
        more = {"kernel_manager_class": _kernel(folder, variables | own), "on_cell_start": starts}
        more |= {"kernel_name": "python3", "language": "python"}
        quiet = {"progress_bar": False, "request_save_on_cell_execute": False}
        papermill.execute_notebook(*paths, job.changed, **more, **quiet)
        mark = notebook.end_mark(executed.read_bytes())
        if mark is None:
            raise UsageError("it ended before its last cell")
        ran = mark.pop("python"), mark.pop("package")
        if ran != (sys.executable, str(PACKAGE)):
            raise UsageError(f"it used {ran[1]} of {ran[0]}, not {PACKAGE} of {sys.executable}")
        if moved := stamps ^ _stamps(job):
            raise UsageError(f"{min(moved)[0]} changed while it ran: run it again")
        fresh = "PRIVREGRET_STORE" in variables
        manifest.adopt(staged, root, job.name, origin(job.name, before), gone, fresh)
        if root == ROOT:
            with manifest.still(root):
                text.list_ids(ids)
        render.render(root)
        done.parent.mkdir(parents=True, exist_ok=True)
        executed.replace(done)
        seconds = time.monotonic() - began
        mark |= {"files": before | outputs(job.name, root), "seconds": round(seconds, 1)}
        files.write(stamp(job.name, root), json.dumps(mark, indent=1).encode())
        said = manifest.read(root)["notebooks"][job.name].get("findings", [])
        return 0, f"{job.name}: {seconds:.0f} s, {render.said(said) or 'no findings'}"
    except DeadKernelError:
        why = "out of memory, or a damaged .cache: make clean?"
        code, error, left = DIED, f"its kernel died in cell {at[0]} ({why})", log
    except PapermillExecutionError as problem:
        code = USAGE if problem.ename == "ParameterError" else FAILED
        error = f"cell {problem.cell_index + 1}: {problem.ename}: {problem.evalue}"
    except (UsageError, text.TextError, OSError) as problem:
        code, error = FAILED, str(problem)
    except Exception as problem:  # the other notebooks go on
        code, error, left = FAILED, f"{type(problem).__name__}: {problem}", log
        with suppress(OSError), log.open("a", encoding="utf-8", errors="backslashreplace") as more:
            more.write(traceback.format_exc())
    line = f"FAILED {job.name}: {error.splitlines()[0]}"
    if code == USAGE:  # that line says all
        return code, line
    with suppress(OSError):  # it did not start, or the disk is full
        failed.parent.mkdir(parents=True, exist_ok=True)
        moved = shutil.move(left, failed.with_suffix(left.suffix))
        line += f"; see {os.path.relpath(moved)}"
    return code, line


def reproduce(
    words: list[str],
    given: dict | None = None,
    output: Path | None = None,
    at_once: int | None = None,
    smoke: bool = False,
    force: bool = False,
    fresh: bool = False,
) -> int:
    """Run stale notebooks, `at_once` at a time and the longest first; the exit code. UsageError
    for what it cannot use, BlockingIOError if another run is under way below its root."""
    given = given or {}
    custom = notebook.folder({p: fitted(value, None) for p, value in given.items()})
    usual = BUILD / "smoke" if smoke else BUILD / "custom" / custom
    root = output.resolve() if output else usual if smoke or given else ROOT
    if output and root == ROOT:
        raise UsageError("--output must not be the project itself: name another folder")
    at_once = joblib.cpu_count() if at_once is None else at_once
    if at_once < 1:
        raise UsageError(f"-j must be at least 1, got {at_once}")
    names = notebooks()
    todo = jobs(select(words, names), given, root, smoke)
    new, folders = not root.exists(), ("paper", "figures", "figures/*/", "build")
    there = next(folder for folder in (root, *root.parents) if folder.exists())
    for folder in (there, *(found for one in folders for found in root.glob(one))):
        if not os.access(folder, os.W_OK):
            raise OSError(f"{folder} cannot be written: --output names another folder")
    if output:
        try:
            manifest.claim(root, whole=True)
        except ValueError as problem:
            raise UsageError(f"--output: {problem}") from None
    if other := unlocked():
        if root == ROOT:
            raise UsageError(f"{other}: pip install --no-deps -r {LOCK}, or use --output FOLDER")
        print(f"warning: {other}", file=sys.stderr)
    with ExitStack() as held:
        _alone(root, held)
        render.differing(root)  # refuses a damaged manifest
        if not (force or fresh):
            todo = _stale(todo, root)
        gone, away, why = absent(names) if root == ROOT else (set(), set(), "")
        _forget_bytecode()
        code = _all(todo, root, at_once, fresh, gone, held)
        if gone and not words and not code:
            removed = manifest.forget(root, gone)
            left = ", ".join(removed) or "nothing is left of their outputs"
            print(f"no notebooks any more: {', '.join(sorted(gone))}; removed: {left}")
        if away and not words:
            print(f"{', '.join(sorted(away))}: {why}")
        if not code or manifest.read(root)["notebooks"]:
            render.render(root)
        elif new and not (root / "build/failed").exists():
            held.callback(shutil.rmtree, root, ignore_errors=True)
    if root != ROOT and root.exists():
        shown = root.relative_to(Path.cwd()) if root.is_relative_to(Path.cwd()) else root
        print(f"The output is in {shown}; what is published stays as it was.")
    return code


def _alone(root, held):
    """Lock a root, until `held` ends, and remove the remains of killed runs."""
    if not held.enter_context(locked(root / "build" / ".lock", wait=False)):
        print("warning: no locks here, so run one command at a time", file=sys.stderr)
    for folder in (root / "figures", root / "paper", root / "build" / "stamps"):
        files.sweep(folder)
    for partial in root.glob(".README.md.partial-*"):
        partial.unlink()
    partial = root / "build" / "partial"
    held.callback(shutil.rmtree, partial, ignore_errors=True)
    for sockets in partial.glob("privregret-*"):
        shutil.rmtree(Path(gettempdir(), sockets.name), ignore_errors=True)
    shutil.rmtree(partial, ignore_errors=True)


def _all(todo, root, at_once, fresh, gone, held):
    """Run jobs and print a line for each; the worst exit code."""
    todo = sorted(todo, key=lambda job: -stamped(job.name, root).get("seconds", float("inf")))
    at_once = max(1, min(at_once, len(todo)))
    # twice a notebook's share of threads: the last ones, or one that waits, leave no core idle
    variables = {"LOKY_MAX_CPU_COUNT": str(max(1, 2 * joblib.cpu_count() // at_once))}
    variables |= {"PRIVREGRET_STORE": "fresh"} if fresh else {}
    sockets = held.enter_context(TemporaryDirectory(prefix="privregret-"))
    files.write(root / "build" / "partial" / Path(sockets).name, b"")  # if this run is killed

    def one(job):
        code, line = run(job, root, sockets, variables, gone, bar.set_postfix_str)
        with bar.external_write_mode():
            print(line, flush=True)
        bar.update()
        return code

    form = "{n_fmt}/{total_fmt} {bar} {elapsed}{postfix}"
    # on terminals only
    with tqdm(total=len(todo), bar_format=form, disable=None, leave=False) as bar:
        pool = ThreadPoolExecutor(at_once)
        try:
            return max(pool.map(one, todo), default=0)
        except (KeyboardInterrupt, BrokenPipeError):
            try:
                held.close()
                print("\ninterrupted: what had finished is kept, the next run goes on", flush=True)
            finally:  # of a second signal as well; kernels end once this process is gone
                os._exit(INTERRUPTED)


def absent(names: list[str]) -> tuple[set[str], set[str], str]:
    """Published notebooks that are deleted, those that are not here for another reason, such as a
    sparse checkout, and why the outputs of these stay."""
    missing = manifest.read(ROOT)["notebooks"].keys() - {*names}
    why = "not here, but in git, so outputs stay: git checkout brings it back, git rm removes it"
    try:
        away = missing & notebook.in_index() if missing else set()
    except (OSError, LookupError) as problem:
        away, why = missing, f"not here, and git cannot say if it was deleted ({problem})"
        why += ", so outputs stay"
        if not (ROOT / ".git").exists():
            why += ": after git init, `make` removes them"
    return missing - away, away, why


def unlocked() -> str:
    """Which libraries of a kernel are not those of the lock, in words; "" if all are."""
    ask, lock = [sys.executable, "-c", VERSIONS, *manifest.LIBRARIES], (ROOT / LOCK).read_text()
    found = subprocess.check_output(ask, env=os.environ | ENVIRONMENT, text=True).split()
    wanted = [re.findall(rf"(?m)^{name}==([\w.]+)", lock) for name in manifest.LIBRARIES]
    rows = [row for row in zip(manifest.LIBRARIES, found, wanted, strict=True) if row[2]]
    wrong = [f"{name} is {is_}, not {' or '.join(of)}" for name, is_, of in rows if is_ not in of]
    return f"{', '.join(wrong)} as in {LOCK}" if wrong else ""


def _forget_bytecode():
    """Remove the package's bytecode after an edit: Python knows a source by its size and the second
    of its time."""
    known, content = BUILD / "bytecode.json", [(str(f), f.read_bytes()) for f in files.sources()]
    now = json.dumps(files.digest(repr(content).encode())).encode()
    with suppress(OSError):  # cannot be written
        if not known.is_file() or known.read_bytes() != now:
            for file in PACKAGE.rglob("*.pyc"):
                file.unlink()
            files.write(known, now)


def _stale(todo, root):
    """The jobs that are stale; why each is or is not is printed."""
    reasons = [why_stale(job, root) for job in todo]
    if len(todo) > 1 and {*reasons} == {NEVER}:
        print(f"none of {len(todo)} notebooks has run here: what is in figures/ was committed")
    else:
        for job, why in zip(todo, reasons, strict=True):
            print(f"{job.name}: {why or 'up to date'}")
    return [job for job, why in zip(todo, reasons, strict=True) if why]


def status(words: list[str]) -> int:
    """Print which notebooks are stale and why, which files differ from the manifest, and what a
    paper that is named lacks."""
    names, differing = notebooks(), render.differing(ROOT)
    papers = [word for word in words if word in {*PAPERS, *(n.split("/")[0] for n in names)}]
    with_books = [word for word in words if word not in papers or (NOTEBOOKS / word).is_dir()]
    todo = jobs(select(with_books, names) if with_books or not words else [], {})
    if other := unlocked():
        print(f"warning: {other}: no run is published", file=sys.stderr)
    _stale(todo, ROOT)
    gone, away, why = absent(names)
    for name in sorted(gone | away):
        print(
            f"{name}: {why if name in away else 'no notebook any more; `make` removes its outputs'}"
        )
    for path in differing:
        print(f"{path}: not what figures/manifest.json says; `make` writes it again")
    for key in papers:
        for line in missing.of_paper(key):
            print(f"{key}: {line}")
    return 0
