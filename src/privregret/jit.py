"""The one decorator for compiled kernels.

numba's on-disk cache does not notice an edit in a callee or in a module constant: it then serves the old
code without a word. So the cache directory is keyed by a hash of the whole package's source.
"""

import hashlib

import numba

from privregret.paths import PACKAGE, ROOT


def source_hash(files) -> str:
    """SHA-256 over the names and contents of source files, in sorted order."""
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


CACHE = ROOT / ".cache" / "numba" / source_hash(PACKAGE.rglob("*.py"))[:16]


def jit(function):
    """Compile `function`: releases the GIL, cached, no fastmath, no automatic parallelism.

    Only the package's own kernels are cached: its sources are all that the cache's directory knows of.
    Randomness comes in as a `numpy.random.Generator` argument, whose stream is the same compiled or not.
    """
    ours = getattr(function, "__module__", "").startswith("privregret.")
    configured = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(CACHE)  # read once, while decorating: other libraries keep their own
    try:
        return numba.njit(cache=ours, nogil=True)(function)
    finally:
        numba.config.CACHE_DIR = configured
