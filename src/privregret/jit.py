"""The one decorator for compiled kernels.

numba's on-disk cache does not notice an edit in a callee or in a module constant: it then serves the old
code without a word. So the cache directory is keyed by a hash of the whole package's source.
"""

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from threading import Lock

import numba
from numba.core.caching import FunctionCache
from numba.core.sigutils import normalize_signature

from privregret.files import CHECKOUT, PACKAGE, ROOT, locked


def source_hash(files) -> str:
    """SHA-256 over the names and contents of source files, in sorted order."""
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def cache_folder() -> Path | None:
    """Where compiled kernels are kept: in the checkout, else in the user's cache; None if nothing can be written.

    Without a folder there must be no cache at all: numba would look for one elsewhere, not keyed by source.
    """
    own = [ROOT / ".cache"] if CHECKOUT else []
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or "~/.cache"
    for caches in (*own, Path(home).expanduser() / "privregret"):
        folder = caches / "numba" / source_hash(PACKAGE.rglob("*.py"))[:16]
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return None


CACHE = cache_folder()
LOCK = Lock()  # around numba's setting, which is the whole process's


class _Cache(FunctionCache):
    """numba's cache, but what is damaged is thrown away and compiled anew: by itself numba would fail for good."""

    def load_overload(self, signature, context):
        try:
            found = super().load_overload(signature, context)
            # a process that was killed between its two files leaves an index that names another signature's code
            return found if found and found.signature.args == normalize_signature(signature)[0] else None
        except Exception:  # unpickling a file that was cut raises whatever it likes
            with suppress(OSError), locked(self._lock):
                self.flush()
            return None

    def save_overload(self, *args):
        with suppress(Exception), locked(self._lock):  # no room, or still damaged: compiled again next time
            super().save_overload(*args)

    @property
    def _lock(self):
        """Held while the index changes: two processes would number two signatures alike, and one would be lost."""
        return Path(self.cache_path) / ".lock"


def jit(function):
    """Compile `function`: releases the GIL, cached, no fastmath, no automatic parallelism.

    Only the package's own kernels are cached: its sources are all that the cache's directory knows of.
    Randomness comes in as a `numpy.random.Generator` argument, whose stream is the same compiled or not.
    """
    ours = CACHE is not None and getattr(function, "__module__", "").startswith("privregret.")
    with LOCK:
        configured = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(CACHE or configured)  # read once, while decorating: other libraries keep their own
        try:
            kernel = numba.njit(nogil=True)(function)
            if ours and not numba.config.DISABLE_JIT:
                kernel._cache = _Cache(function)
            return kernel
        finally:
            numba.config.CACHE_DIR = configured
