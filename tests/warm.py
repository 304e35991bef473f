"""`python -m ...` and Jupyter kernels without their imports: forked from a process that has made
the slow ones.

Not those of privregret itself: tests run copies of it.
"""

import atexit
import functools
import json
import multiprocessing
import os
import runpy
import shutil
import socket
import sys
import tempfile
import threading
import warnings
from multiprocessing import forkserver
from pathlib import Path

import matplotlib
import pytest

# as the batch command has it: three seconds less for each process
sys.modules.setdefault("rfc3987_syntax", None)
# read on import; what the batch command sets
os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    """warm ipykernel.ipkernel ipykernel.kernelapp ipywidgets joblib numba pandas seaborn tqdm.auto
    matplotlib.backends.backend_pdf matplotlib.pyplot papermill.clientwrap papermill.engines
    scipy.integrate scipy.optimize scipy.special scipy.stats""".split()
)

# What Jupyter starts and watches instead of a kernel; the kernel ends with it, and it ends with
# the kernel or with whoever started it.
STAND_IN = """
import json, os, select, socket, sys
line, starter = socket.socket(socket.AF_UNIX), os.getppid()
line.connect(sys.argv[1])
socket.send_fds(line, [b" "], [1, 2])
line.sendall(json.dumps([sys.argv[2:], os.getcwd(), dict(os.environ)]).encode() + b"\\n")
while os.getppid() == starter and not select.select([line], [], [], 1)[0]:
    pass
"""


@functools.cache
def ready():
    """Have the process started that forks. It imports this module first, which it finds in
    PYTHONPATH alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
        forkserver.ensure_running()


def become(command, cwd, environment, out, err):
    """What a fresh process would do on `python -m <command>`; its output goes to two
    descriptors."""
    for stream, file in ((1, out), (2, err)):
        os.dup2(file, stream)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None  # another one may have been found before
    os.chdir(cwd)
    sys.path[:0] = [str(cwd), *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    sys.argv[:] = command
    runpy.run_module(command[0], run_name="__main__", alter_sys=True)


def run(command, cwd, environment, out, err):
    """`become`, with output in files and without warnings."""
    warnings.simplefilter("ignore")
    become(
        command, cwd, environment, *(os.open(path, os.O_WRONLY | os.O_CREAT) for path in (out, err))
    )


def kernel(line):
    """A kernel for the stand-in at the other end of `line`."""
    _, streams, *_ = socket.recv_fds(line, 1, 2)
    request = json.loads(line.makefile().readline())
    threading.Thread(target=lambda: (line.recv(1), os._exit(1)), daemon=True).start()
    os.setsid()
    matplotlib.rcParams["backend"] = request[2].get(
        "MPLBACKEND", "module://matplotlib_inline.backend_inline"
    )
    become(*request, *streams)


@functools.cache
def kernels() -> str:
    """The value of `JUPYTER_PATH` with which the kernel python3 is a forked one."""
    ready()
    folder = Path(tempfile.mkdtemp(prefix="warm-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(folder / "line"))
    listening.listen()
    start = [sys.executable, "-ISc", STAND_IN, str(folder / "line"), "ipykernel_launcher"]
    # that is, it need not look after its parent
    start += ["-f", "{connection_file}", "--IPKernelApp.parent_handle=1"]
    spec = folder / "kernels" / "python3" / "kernel.json"
    spec.parent.mkdir(parents=True)
    spec.write_text(json.dumps({"argv": start, "display_name": "Python 3", "language": "python"}))

    def serve():
        while True:
            line, _ = listening.accept()
            with line:
                FORKS.Process(target=kernel, args=(line,)).start()

    threading.Thread(target=serve, daemon=True).start()
    return str(folder)
