"""papermill with kernels of its own: local sockets, a fixed environment, word of each cell."""

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import papermill
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
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
    return AsyncKernelManager(
        kernel_name="python3",
        transport="ipc",
        ip=f"{folder}/kernel",
        connection_file=f"{folder}/kernel.json",
        # else this Python: what is below HOME is not asked
        kernel_spec_manager=KernelSpecManager(kernel_dirs=[f"{path}/kernels" for path in named]),
    )


class _Engine(NBClientEngine):
    @classmethod
    def execute_managed_notebook(
        cls, nb_man, kernel_name, manager=None, start=None, tell=None, **kwargs
    ):
        cell_start = nb_man.cell_start

        def told(cell, cell_index=None, **more):
            tell(cell_index + 1, len(nb_man.nb.cells))
            cell_start(cell, cell_index, **more)

        nb_man.cell_start = told
        client = PapermillNotebookClient(
            nb_man, km=manager, kernel_name=kernel_name, startup_timeout=120
        )
        return client.execute(cleanup_kc=True, **start)


papermill_engines.register("privregret", _Engine)
