"""Locate the package's files, and write them whole or not at all, under a lock."""

import hashlib
import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import get_ident

try:
    import fcntl
except ImportError:  # native Windows, which is limited to one process at a time
    fcntl = None

PACKAGE = Path(__file__).resolve().parents[1]
ROOT = PACKAGE.parents[1]
# otherwise the package is installed without notebooks
CHECKOUT = PACKAGE.parent.name == "src" and (ROOT / "notebooks").is_dir()


def other_clone() -> str:
    """Return what is wrong if the current folder is in a clone of which this is not the package."""
    here = Path.cwd()
    for clone in (here, *here.parents):
        if (clone / "notebooks").is_dir() and (clone / "src" / PACKAGE.name).is_dir():
            install = f"pip install -e '{clone}[notebooks]'"
            what = f"the package is not installed from this clone: {install} (it is in {PACKAGE})"
            return "" if clone == ROOT else what
    return ""


def sources() -> list[Path]:
    """Return the files of the package that are written by hand."""
    kinds = ".py", ".toml", ".tex", ".md"
    return sorted(f for f in PACKAGE.rglob("*") if f.suffix in kinds and f.is_file())


def write(path: Path, content: bytes) -> None:
    """Write a file, or what it links to, so that a killed process leaves the old or the new one,
    never half."""
    path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}-{get_ident()}")
    try:
        partial.write_bytes(content)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)  # such as a full disk


def sweep(folder: Path) -> None:
    """Remove the partial files of killed processes from a folder without writers."""
    for partial in folder.rglob(".*.partial-*"):
        partial.unlink(missing_ok=True)


def toml(path: Path, error: type[Exception] = ValueError) -> dict:
    """Read a TOML file; an error in one line names it."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise error(f"{path} cannot be read: {problem}") from None


def cache_folder(name: str) -> Path | None:
    """Return a folder of this user alone for files that can be rebuilt, or None if there is none.

    What is unpickled from it is the user's own. A relative XDG_CACHE_HOME does not count.
    """
    wanted = os.environ.get("XDG_CACHE_HOME", ""), os.environ.get("LOCALAPPDATA", "")
    homes = [Path(h) for h in (*wanted, os.path.expanduser("~/.cache")) if os.path.isabs(h)]
    own = [ROOT / ".cache"] if CHECKOUT else []
    for caches in (*own, *(home / "privregret" for home in homes[:1])):
        with suppress(OSError):
            (folder := caches / name).mkdir(mode=0o700, parents=True, exist_ok=True)
            if hasattr(os, "geteuid") and folder.stat().st_uid != os.geteuid():
                continue
            folder.chmod(0o700)
            if os.access(folder, os.W_OK):
                return folder
    return None


def digest(content: bytes) -> str:
    """Return the SHA-256 in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


@contextmanager
def locked(path: Path, wait: bool = True) -> Iterator[bool]:
    """Hold a lock file, created if missing, until the context or the process ends.

    The context is whether it is held: some file systems have no locks. BlockingIOError is raised
    if another process holds it and `wait` is false.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a") as lock:
        held = fcntl is not None
        try:
            if held:
                fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            raise
        except OSError:  # such as Lustre without flock
            held = False
        yield held
