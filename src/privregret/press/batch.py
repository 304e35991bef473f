"""The batch command: which notebooks are stale and why, run by papermill and adopted at their end.

The life of a run: a notebook is stale if something that its last run depended on, or made, is not
what its stamp says. The stamp is removed, and a copy of what the command read of the notebook goes
to a folder below `build/partial`. There papermill runs it, in a kernel of this interpreter, and
there it publishes. If it reached its last cell, with this interpreter and package, and nothing that
it read was written to meanwhile, `manifest.adopt` moves its outputs to `figures/`, `render` makes
the pages of the manifest, and the stamp is written: what has none has not finished. Only committed
parameters change `figures/`, `paper/` and the README.
"""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from tempfile import mkdtemp
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
ENVIRONMENT |= {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
LOCK, NEVER = "requirements.lock", "has not run to its end here"
# in the folder of a run
EXECUTED, LOG = "executed.ipynb", "kernel.log"
# a program: the versions of the packages that it is asked for
VERSIONS = """
import sys, importlib.metadata as of
print(*(next((d.version for d in of.distributions(name=n)), "missing") for n in sys.argv[1:]))
"""
# a parameter may name a folder of so many files
MOST = 1000
# with these a cell is not run, or has values of another run
TAGS = {"skip-execution", "injected-parameters"}


class UsageError(ValueError):
    """The command was asked for something that is not there."""


@dataclass
class Job:
    """A notebook to run, or the problem for which it cannot run at all.

    `content` is the file, `texts` that of its captions and claims if there is one, `code` all cells
    but the parameters, `parameters` has a value for each, `changed` those that its file has not.
    """

    name: str
    content: bytes = b""
    texts: bytes | None = None
    code: str = ""
    parameters: dict = field(default_factory=dict)
    changed: dict = field(default_factory=dict)
    problem: str = ""


def read(name: str) -> tuple[bytes, str, dict]:
    """A notebook's bytes, its code without the parameters, and these; UsageError if it is none of
    ours."""
    try:
        content, cells = (NOTEBOOKS / f"{name}.ipynb").read_bytes(), []
        for cell in json.loads(content)["cells"]:
            tags = set(cell["metadata"].get("tags", []))
            if bad := TAGS & tags:
                raise ValueError(f"a cell has the tag {min(bad)}")
            if cell["cell_type"] == "code" and "parameters" not in tags:
                cells.append("".join(cell["source"]))
        code = "\n\n".join(cells)
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
        matches = {n for n in names if n == key or n.startswith(f"{key}/") or n.endswith(f"/{key}")}
        if not matches:
            parts = {part for name in names for part in name.split("/")}
            raise UsageError(f"no notebook or paper {word!r}: {hint(key, [*names, *parts])}")
        chosen |= matches
    return sorted(chosen) or names


def overrides(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Parameters from the command line, as texts; UsageError for one that is there twice."""
    for name, count in Counter(name for name, _ in pairs).items():
        if count > 1:
            raise UsageError(f"-p {name} is given {count} times")
    return dict(pairs)


def fitted(text: Any, usual: Any) -> Any:
    """A value of the command line for a parameter that usually is `usual`: "2**22" is a number,
    "0.5,1" a list, "0.5" too where that is usual; what is none of that stays a text."""
    value = {"true": True, "false": False}.get(text, text) if isinstance(text, str) else text
    if isinstance(value, str):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            value = notebook.literal(ast.parse(text.strip(), mode="eval").body)
    if isinstance(usual, str) and not isinstance(value, str):
        return text
    return [value] if isinstance(usual, list) and not isinstance(value, list) else value


def jobs(names: list[str], values: dict, root: Path = ROOT, smoke: bool = False) -> list[Job]:
    """What is to be run: these values come first, then small ones for `smoke`, then the notebook's
    own. UsageError for a parameter that no notebook has."""
    if not (ROOT / LOCK).is_file():
        raise UsageError(f"{LOCK} is missing: restore it by git, since all depends on it")
    todo, parameters, warnings = [], set[str](), list[str]()
    for name in names:
        try:
            content, code, saved = read(name)
            small = text.small(name, saved) if smoke else {}
        except (UsageError, text.TextError) as problem:  # the others go on
            todo.append(Job(name, problem=str(problem)))
            continue
        parameters |= saved.keys()
        usual = notebook.committed(name, warnings.append) if root == ROOT else saved
        for p in (p for p in saved if repr(usual[p]) != repr(saved[p])):
            print(f"{name}: {p}={saved[p]!r} is not committed, {p}={usual[p]!r} counts")
        own = {p: fitted(value, saved[p]) for p, value in values.items() if p in saved}
        wanted = usual | small | own
        changed = {p: v for p, v in wanted.items() if repr(v) != repr(saved.get(p))}
        captions = NOTEBOOKS / f"{name}.toml"
        texts = captions.read_bytes() if captions.is_file() else None
        todo.append(Job(name, content, texts, code, wanted, changed))
    for unknown in sorted(values.keys() - parameters):
        known = hint(unknown, parameters)
        raise UsageError(f"no selected notebook has a parameter {unknown}: {known}")
    if warnings:
        why = "git cannot say which parameters are committed, so those last published count"
        print(f"warning: {why} ({warnings[0]})", file=sys.stderr)
    return todo


def named(value: Any) -> Iterator[Path]:
    """The files that texts name, also in lists and tables: by a path, with ~ or as file:, or by the
    folder that they are in. UsageError for a folder of too many."""
    if isinstance(value, dict | list):
        for item in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from named(item)
    elif isinstance(value, str) and re.search(r"\w", value):
        address = re.match("file:(?://[^/]*)?(/.*)", value)
        path = os.path.expanduser(unquote(address[1]) if address else value)
        inside = (os.path.join(at, name) for at, _, names in os.walk(path) for name in names)
        paths = [*islice(inside, MOST + 1)] if os.path.isdir(path) else [path]
        if len(paths) > MOST:
            raise UsageError(f"the folder {value} has over {MOST} files: name those that count")
        for file in filter(os.path.isfile, paths):
            # the system's own may be endless
            if not os.path.realpath(file).startswith(("/proc/", "/sys/")):
                yield Path(file)


def inputs(job: Job) -> dict[str, str]:
    """Everything that a run depends on but its parameters: what it is -> its hash."""
    hashes = {f"notebooks/{job.name}.ipynb": digest(job.code.encode())}
    if job.texts is not None:
        hashes[f"notebooks/{job.name}.toml"] = digest(job.texts)
    for file in (ROOT / LOCK, *named(job.parameters)):
        hashes[os.path.relpath(file, ROOT)] = digest(file.read_bytes())
    return hashes | {f"src/privregret/{f}": h for f, h in reached.hashes(job.code).items()}


def origin(name: str, hashes: dict[str, str]) -> dict[str, str]:
    """What the manifest says of a notebook's `inputs`."""
    sources = digest(json.dumps(hashes, sort_keys=True).encode())
    return {"code": hashes[f"notebooks/{name}.ipynb"], "lock": hashes[LOCK], "sources": sources}


def outputs(name: str, root: Path) -> dict[str, str]:
    """All that a notebook has made below a root: path -> hash, "" for a missing file."""
    entry = manifest.of_notebook(manifest.read(root), name)
    paths = [f"build/notebooks/{name}.ipynb"]
    paths += [
        f"figures/{output}{e}" for output, made in entry["outputs"].items() for e in made["files"]
    ]
    own = {"figures/manifest.json": digest(json.dumps(entry, sort_keys=True).encode())}
    return {path: manifest.hash_of(root / path) for path in paths} | own


def stamp(name: str, root: Path) -> Path:
    """The path of a notebook's stamp."""
    return root / "build" / "stamps" / f"{name}.json"


def stamped(name: str, root: Path) -> dict:
    """What the last run of a notebook that reached its end left: hashes of `inputs` and `outputs`,
    and its seconds; nothing if that is missing or damaged."""
    try:
        return json.loads(stamp(name, root).read_bytes())
    except (OSError, ValueError):
        return {}


def why_stale(job: Job, root: Path) -> str:
    """The reason to run a notebook again; "" if it is up to date."""
    if job.problem:
        return job.problem
    entry = manifest.of_notebook(manifest.read(root), job.name)["notebook"]
    last = entry.get("parameters", {})
    moved = {p: last[p] for p, value in job.parameters.items() if last.get(p, value) != value}
    if moved:
        return ", ".join(f"{p}={job.parameters[p]!r} (was {v!r})" for p, v in moved.items())
    old, now = stamped(job.name, root).get("files"), inputs(job) | outputs(job.name, root)
    if not old:
        return NEVER
    changed = (path for path in [*now, *old] if old.get(path) != now.get(path))
    return next((f"{path} changed" for path in changed), "")


def _kernel(folder, variables):
    """A class of kernels of this interpreter, which leave what they say in a log in `folder`."""
    from ipykernel.kernelspec import get_kernel_dict
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    class Kernel(AsyncKernelManager):
        # by its name another one could be found
        kernel_spec = KernelSpec(**get_kernel_dict())

        async def start_kernel(self, **more):
            self.connection_file = str(folder / "kernel.json")
            with open(folder / LOG, "ab") as log:
                env = os.environ | ENVIRONMENT | variables
                await super().start_kernel(**more, env=env, stderr=log)

    return Kernel


def _states(job):
    """What is another if a file of the package, the lock or one that a parameter names was written
    to meanwhile, also if it was put back: number, size and time of the last change."""
    paths = [*files.sources(), ROOT / LOCK, *named(job.parameters)]
    # of a link and of what it leads to
    states = [(os.path.relpath(p, ROOT), s) for p in paths for s in (p.lstat(), p.stat())]
    return {(path, s.st_ino, s.st_size, s.st_ctime_ns) for path, s in states}


def _execute(job, staged, variables, starts):
    """Run a notebook in the folder `staged`, where it also publishes; `starts` is called with the
    number of each cell. UsageError unless it reached its end with this package and interpreter."""
    import papermill.log

    papermill.log.logger.disabled = True  # it says again what this says
    source, texts = staged / "source.ipynb", staged / Path(job.name).with_suffix(".toml").name
    source.write_bytes(job.content)
    if job.texts is not None:
        texts.write_bytes(job.texts)
    own = {"PRIVREGRET_OUTPUT": str(staged), "PRIVREGRET_TEXTS": str(texts)}
    # papermill takes braces for its own
    paths = (re.sub("[{}]", r"\g<0>\g<0>", str(path)) for path in (source, staged / EXECUTED))
    papermill.execute_notebook(
        *paths,
        job.changed,
        kernel_name="python3",
        language="python",
        kernel_manager_class=_kernel(staged, variables | own),
        on_cell_start=lambda cell, cell_index: starts(cell_index + 1),
        progress_bar=False,
        request_save_on_cell_execute=False,
    )
    used = notebook.end_mark((staged / EXECUTED).read_bytes())
    if used is None:
        raise UsageError("it ended before its last cell")
    if used != {"python": sys.executable, "package": str(PACKAGE)}:
        mine = f"{PACKAGE} of {sys.executable}"
        raise UsageError(f"it used {used['package']} of {used['python']}, not {mine}")


def run(job: Job, root: Path, variables: dict, tell) -> tuple[int, str]:
    """Run one notebook and adopt its outputs, or change nothing: exit code, line for the user.
    `tell` is told of each cell that starts."""
    if job.problem:
        return FAILED, f"FAILED {job.name}: {job.problem}"
    from nbclient.exceptions import DeadKernelError
    from papermill.exceptions import PapermillExecutionError

    began, build, file, at = time.monotonic(), root / "build", f"{job.name}.ipynb", [0]
    # of its own: a kernel of a killed run may still write to that of the last one
    staged = Path(mkdtemp(dir=build / "partial"))
    # a failed run leaves what it executed or, where that says nothing, its log
    failed, left = build / "failed" / file, staged / EXECUTED

    def starts(number):
        at[0] = number
        tell(f"{job.name}, cell {number}")

    try:
        for old in (stamp(job.name, root), failed, failed.with_suffix(".log")):
            old.unlink(missing_ok=True)
        ids, states, before = text.ids(job.name), _states(job), inputs(job)
        _execute(job, staged, variables | {"IPYTHONDIR": str(build / "ipython")}, starts)
        if changed := states ^ _states(job):
            raise UsageError(f"{min(changed)[0]} changed while it ran: run it again")
        fresh = "PRIVREGRET_STORE" in variables
        manifest.adopt(staged, root, job.name, origin(job.name, before), fresh)
        if root == ROOT:
            with manifest.lock(root):
                text.list_ids(ids)
        render.render(root)
        (build / "notebooks" / file).parent.mkdir(parents=True, exist_ok=True)
        (staged / EXECUTED).replace(build / "notebooks" / file)
        seconds = time.monotonic() - began
        result = {"files": before | outputs(job.name, root), "seconds": round(seconds, 1)}
        files.write(stamp(job.name, root), json.dumps(result, indent=1).encode())
        findings = manifest.read(root)["notebooks"][job.name].get("findings", [])
        return 0, f"{job.name}: {seconds:.0f} s, {render.said(findings) or 'no findings'}"
    except DeadKernelError:
        why = "out of memory, or a damaged .cache: make clean?"
        code, error, left = DIED, f"its kernel died in cell {at[0]} ({why})", staged / LOG
    except PapermillExecutionError as problem:
        code = USAGE if problem.ename == "ParameterError" else FAILED
        error = f"cell {problem.cell_index + 1}: {problem.ename}: {problem.evalue}"
    except (UsageError, text.TextError, OSError) as problem:
        code, error = FAILED, str(problem)
    except Exception as problem:  # the other notebooks go on
        code, error, left = FAILED, f"{type(problem).__name__}: {problem}", staged / LOG
        with suppress(OSError), left.open("a", encoding="utf-8", errors="backslashreplace") as log:
            log.write(traceback.format_exc())
    line = f"FAILED {job.name}: {error.splitlines()[0]}"
    if code == USAGE:  # that line says all
        return code, line
    with suppress(OSError):  # it did not start, or the disk is full
        failed.parent.mkdir(parents=True, exist_ok=True)
        kept = left.replace(failed.with_suffix(left.suffix))
        line += f"; see {os.path.relpath(kept)}"
    return code, line


def reproduce(
    words: list[str],
    values: dict | None = None,
    output: Path | None = None,
    at_once: int | None = None,
    smoke: bool = False,
    force: bool = False,
    fresh: bool = False,
) -> int:
    """Run stale notebooks, `at_once` at a time and the longest first; the exit code. UsageError
    for what it cannot use, BlockingIOError if another run is under way below its root."""
    values = values or {}
    custom = notebook.folder({p: fitted(value, None) for p, value in values.items()})
    usual = BUILD / "smoke" if smoke else BUILD / "custom" / custom
    root = output.resolve() if output else usual if smoke or values else ROOT
    if output and root == ROOT:
        raise UsageError("--output must not be the project itself: name another folder")
    at_once = joblib.cpu_count() if at_once is None else at_once
    if at_once < 1:
        raise UsageError(f"-j must be at least 1, got {at_once}")
    names = notebooks()
    todo = jobs(select(words, names), values, root, smoke)
    there = next(folder for folder in (root, *root.parents) if folder.exists())
    # those that only the end of a run writes to, too
    ours = (*(root / name for name in ("build", "figures", "paper")), *root.glob("figures/*/"))
    for folder in (there, *ours):
        if folder.exists() and not os.access(folder, os.W_OK):
            raise OSError(f"{folder} cannot be written: --output names another folder")
    if output:
        manifest.check_folder(root, whole=True)
    if other := unlocked():
        if root == ROOT:
            raise UsageError(f"{other}: pip install --no-deps -r {LOCK}, or use --output FOLDER")
        print(f"warning: {other}", file=sys.stderr)
    with ExitStack() as held:
        _alone(root, held)
        render.differing(root)  # refuses a damaged manifest
        if not (force or fresh):
            todo = _stale(todo, root)
        if root == ROOT:
            for name, why in absent(names).items():
                if not why:
                    print(f"{name}: no notebook any more, removed: {manifest.remove(root, name)}")
                elif not words:
                    print(f"{name}: {why}")
        _forget_bytecode()
        code = _all(todo, root, at_once, fresh, held)
        if not code or manifest.read(root)["notebooks"]:
            render.render(root)
    if root != ROOT and manifest.read(root)["notebooks"]:
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
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(exist_ok=True)
    held.callback(shutil.rmtree, partial, ignore_errors=True)


def _all(todo, root, at_once, fresh, held):
    """Run jobs and print a line for each; the worst exit code."""
    todo = sorted(todo, key=lambda job: -stamped(job.name, root).get("seconds", float("inf")))
    at_once = max(1, min(at_once, len(todo)))
    # twice a notebook's share of threads: the last ones, or one that waits, leave no core idle
    variables = {"LOKY_MAX_CPU_COUNT": str(max(1, 2 * joblib.cpu_count() // at_once))}
    variables |= {"PRIVREGRET_STORE": "fresh"} if fresh else {}

    def run_one(job):
        code, line = run(job, root, variables, bar.set_postfix_str)
        with bar.external_write_mode():
            print(line, flush=True)
        bar.update()
        return code

    form = "{n_fmt}/{total_fmt} {bar} {elapsed}{postfix}"
    # on terminals only
    with tqdm(total=len(todo), bar_format=form, disable=None, leave=False) as bar:
        pool = ThreadPoolExecutor(at_once)
        try:
            return max(pool.map(run_one, todo), default=0)
        except (KeyboardInterrupt, BrokenPipeError):
            try:
                held.close()
                print("\ninterrupted: what had finished is kept, the next run goes on", flush=True)
            finally:
                # threads would wait for their kernels, which end once this process is gone
                os._exit(INTERRUPTED)


def absent(names: list[str]) -> dict[str, str]:
    """Published notebooks that are not here -> why their outputs stay, such as a sparse checkout;
    "" for those that were deleted."""
    gone = sorted(manifest.read(ROOT)["notebooks"].keys() - {*names})
    try:
        index = os.fsdecode(notebook.git("ls-files", "-z", "notebooks")) if gone else ""
    except (OSError, LookupError) as problem:
        why = f"not here, and git cannot say if it was deleted ({problem}), so outputs stay"
        return dict.fromkeys(gone, why)
    why = "not here, but in git, so outputs stay: git checkout brings it back, git rm removes it"
    tracked = index.split("\0")
    return {n: why if f"notebooks/{n}.ipynb" in tracked else "" for n in gone}


def unlocked() -> str:
    """Which libraries of a kernel are not those of the lock, in words; "" if all are."""
    ask = [sys.executable, "-c", VERSIONS, *manifest.LIBRARIES]
    versions = subprocess.check_output(ask, env=os.environ | ENVIRONMENT, text=True).split()
    wrong = []
    for name, version in zip(manifest.LIBRARIES, versions, strict=True):
        pins = re.findall(rf"(?m)^{name}==([\w.]+)", (ROOT / LOCK).read_text())
        if pins and version not in pins:
            wrong.append(f"{name} is {version}, not {' or '.join(pins)}")
    return f"{', '.join(wrong)} as in {LOCK}" if wrong else ""


def _forget_bytecode():
    """Remove the package's bytecode after an edit: Python knows a source by its size and the second
    of its time."""
    last, sources = BUILD / "bytecode", [(str(f), f.read_bytes()) for f in files.sources()]
    now = digest(repr(sources).encode()).encode()
    with suppress(OSError):  # cannot be written
        if not last.is_file() or last.read_bytes() != now:
            for file in PACKAGE.rglob("*.pyc"):
                file.unlink()
            files.write(last, now)


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
    for name, why in absent(names).items():
        print(f"{name}: {why or 'no notebook any more; `make` removes its outputs'}")
    for path in differing:
        print(f"{path}: not what figures/manifest.json says; `make` writes it again")
    for key in papers:
        for line in missing.of_paper(key):
            print(f"{key}: {line}")
    return 0
