"""Notebooks in kernels of their own: papermill with local sockets, a fixed environment and word of how far it is."""

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import nbformat
import papermill
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import NBClientEngine, papermill_engines

from privregret.files import digest

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
    """The folder of the kernels' sockets, for a process that has locked `build`: one, whatever a killed run left.

    Not below `build`, since systems allow paths of sockets 104 bytes only.
    """
    name = f"privregret-kernels-{digest(os.fsencode(build.resolve()))[:12]}"
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
    path: Path, executed: Path, parameters: dict, sockets: Path, environment: dict, tell: Callable[[int, int], None]
) -> nbformat.NotebookNode:
    """Execute a notebook by papermill; raises what papermill raises.

    Parameters
    ----------
    path, executed : Path
        The notebook, and where it goes as it is executed; what its kernel says goes to `kernel.log` there.
    parameters : dict
        What papermill injects.
    sockets : Path
        As the context above gives it.
    environment : dict
        Variables of the kernel, next to those of this process and `ENVIRONMENT`.
    tell : callable
        Called with the number of each cell that starts, from 1, and how many there are.
    """
    environment = {**os.environ, **ENVIRONMENT, "IPYTHONDIR": str(sockets / "ipython"), **environment}
    with open(executed.with_name("kernel.log"), "wb") as log:
        return papermill.execute_notebook(
            path,
            executed,
            parameters,
            engine_name="privregret",
            kernel_name="python3",
            progress_bar=False,
            manager=_manager(sockets),
            start={"env": environment, "stderr": log},
            tell=tell,
        )


def _manager(sockets):
    """A kernel over local sockets: no TCP ports to race for."""
    folder = tempfile.mkdtemp(dir=sockets)  # by default all kernels share one path
    named = [f"{path}/kernels" for path in os.environ.get("JUPYTER_PATH", "").split(os.pathsep) if path]
    return AsyncKernelManager(
        kernel_name="python3",
        transport="ipc",
        ip=f"{folder}/kernel",
        connection_file=f"{folder}/kernel.json",
        kernel_spec_manager=KernelSpecManager(kernel_dirs=named),  # or this Python, not what HOME names
    )


class _Engine(NBClientEngine):
    @classmethod
    def execute_managed_notebook(cls, nb_man, kernel_name, manager=None, start=None, tell=None, **kwargs):
        cell_start = nb_man.cell_start

        def told(cell, cell_index=None, **more):
            tell(cell_index + 1, len(nb_man.nb.cells))
            cell_start(cell, cell_index, **more)

        nb_man.cell_start = told
        client = PapermillNotebookClient(nb_man, km=manager, kernel_name=kernel_name, startup_timeout=120)
        return client.execute(cleanup_kc=True, **start)


papermill_engines.register("privregret", _Engine)
