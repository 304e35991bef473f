"""papermill with kernels of its own: local sockets, a fixed environment, word of each cell.

On Linux, kernels are forked from one process that has imported what all of them need.
"""

import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import contextmanager
from functools import cache
from multiprocessing import Pipe
from pathlib import Path

import papermill
from ipykernel.kernelspec import RESOURCES
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import LocalProvisioner
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import NBClientEngine, papermill_engines

ENVIRONMENT = {  # bits change with the number of BLAS threads, and PDF files with the date
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "MPLBACKEND": "agg",
    "SOURCE_DATE_EPOCH": "0",
    "TQDM_DISABLE": "1",
}


@contextmanager
def sockets(build: Path):
    """An empty folder for the kernels' sockets, for a process that has locked `build`.

    Each `build` has one of its own, so that what a killed run left is found again. It is not below
    `build`, since paths of sockets may have 104 bytes only.
    """
    place = build.stat()
    name = f"privregret-{place.st_dev:x}-{place.st_ino:x}"
    folder = Path(tempfile.gettempdir(), name)
    if len(os.fsencode(folder / "tmp12345678" / "kernel-5")) > 103:
        folder = Path("/tmp", name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def execute(
    path: Path,
    executed: Path,
    parameters: dict,
    sockets: Path,
    environment: dict,
    tell: Callable[[int, int], None],
) -> None:
    """Execute a notebook by papermill, into another file; raises what papermill raises.

    Parameters
    ----------
    parameters : dict
        What papermill injects.
    environment : dict
        Variables of the kernel, next to those of this process and `ENVIRONMENT`.
    tell : callable
        Called with the number of each cell that starts, from 1, and how many there are.
    """
    own = {"IPYTHONDIR": str(sockets / "ipython")}  # no settings of the user's
    with open(executed.with_name("kernel.log"), "wb") as log:  # of interest if the kernel dies
        papermill.execute_notebook(
            path,
            executed,
            parameters,
            engine_name="privregret",
            kernel_name="python3",
            progress_bar=False,
            manager=_manager(sockets),
            start={"env": os.environ | ENVIRONMENT | own | environment, "stderr": log},
            tell=tell,
        )


def _manager(sockets):
    """A kernel over local sockets: no TCP ports to race for."""
    folder = tempfile.mkdtemp(dir=sockets)  # by default all kernels share one path
    named = filter(None, os.environ.get("JUPYTER_PATH", "").split(os.pathsep))
    manager = AsyncKernelManager(
        kernel_name="python3",
        transport="ipc",
        ip=f"{folder}/kernel",
        connection_file=f"{folder}/kernel.json",
        # else this Python: what is below HOME is not asked
        kernel_spec_manager=KernelSpecManager(kernel_dirs=[f"{path}/kernels" for path in named]),
    )
    spec = manager.kernel_spec
    if spec.resource_dir == RESOURCES and hasattr(os, "pidfd_open"):  # this Python, on Linux
        manager.provisioner = _Forked(kernel_spec=spec, parent=manager)
    return manager


_turn = threading.Lock()  # to use the server's connection


class _Forked(LocalProvisioner):
    """Forks the kernel from `_server`, or starts it as ever if that process has ended."""

    async def launch_kernel(self, cmd, **kwargs):
        arguments = cmd[cmd.index("ipykernel_launcher") + 1 :]
        folder = kwargs.get("cwd") or os.getcwd()
        try:
            with _turn:
                line = _server()
                line.send((arguments, dict(kwargs["env"]), folder, kwargs["stderr"].name))
                self.process = _Process(line.recv())
        except (OSError, EOFError):
            return await super().launch_kernel(cmd, **kwargs)
        self.pid = self.pgid = self.process.pid
        return self.connection_info


class _Process:
    """What jupyter_client needs of a `Popen`, for a process that is no child of this one."""

    stdin = stdout = stderr = None

    def __init__(self, pid):
        self.pid, self.handle = pid, open(os.pidfd_open(pid), "rb", buffering=0)

    def poll(self):
        return 0 if select.select([self.handle], [], [], 0)[0] else None

    def wait(self):
        self.handle.close()
        return 0

    def send_signal(self, number):
        signal.pidfd_send_signal(self.handle.fileno(), number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def terminate(self):
        self.send_signal(signal.SIGTERM)


@cache
def _server():
    """The connection to a process of `fork`."""
    line, theirs = Pipe()
    with theirs:
        subprocess.Popen(
            [sys.executable, Path(__file__).with_name("fork.py"), str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            env=os.environ | ENVIRONMENT | {"JE_ARROW_MALLOC_CONF": "background_thread:false"},
            pass_fds=[theirs.fileno()],
            start_new_session=True,  # an interrupt from the keyboard is not for it
        )
    return line


class _Engine(NBClientEngine):
    @classmethod
    def execute_managed_notebook(
        cls, nb_man, kernel_name, manager=None, start=None, tell=None, **kwargs
    ):
        cell_start, save = nb_man.cell_start, nb_man.save

        def started(cell, cell_index=None, **more):
            tell(cell_index + 1, len(nb_man.nb.cells))
            cell_start(cell, cell_index, **more)

        nb_man.cell_start = started
        nb_man.save = lambda **more: None  # papermill writes the file before and after each cell
        client = PapermillNotebookClient(
            nb_man, km=manager, kernel_name=kernel_name, startup_timeout=120
        )
        try:
            return client.execute(cleanup_kc=True, **start)
        finally:
            nb_man.save = save
            save()


papermill_engines.register("privregret", _Engine)
