"""What only one process at a time may do."""

from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # native Windows: what needs it, the command refuses there
    fcntl = None


@contextmanager
def locked(path: Path, wait: bool = True):
    """Hold a lock, a file which is made if it is not there, for as long as this context or process lives.

    Raises
    ------
    BlockingIOError
        If somebody else holds it and nobody is to `wait`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as lock:
        if fcntl:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
