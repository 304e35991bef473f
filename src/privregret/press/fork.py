"""A process that imports what notebooks import and forks kernels: a script, run by `kernels`.

It imports nothing of privregret, since a notebook records the modules of privregret that it uses.
Its argument is a descriptor of a connection. Each request there is the arguments and environment of
a kernel, its folder and its log; the answer is the kernel's process id.
"""

import gc
import os
import sys
from importlib import import_module
from multiprocessing.connection import Connection

LIBRARIES = """ipykernel.ipkernel ipykernel.kernelapp jinja2 joblib matplotlib.backends.backend_agg
    matplotlib.backends.backend_pdf matplotlib.pyplot numba pandas scipy.integrate scipy.optimize
    scipy.signal scipy.special scipy.stats seaborn""".split()


def serve(line: Connection) -> list[str]:
    """Fork a kernel per request; returns in each of them, with its arguments.

    Ends with the process at the other end of the line.
    """
    while True:
        try:
            arguments, environment, folder, log = line.recv()
        except EOFError:
            sys.exit()
        while _ended():
            pass
        if len(os.listdir("/proc/self/task")) > 1:  # a fork may inherit what a thread has locked
            sys.exit()
        parent, pid = os.getpid(), os.fork()
        if pid == 0:
            break
        line.send(pid)
    line.close()
    os.setsid()
    os.dup2(os.open(log, os.O_WRONLY | os.O_APPEND), 2)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    return [*arguments, f"--IPKernelApp.parent_handle={parent}"]  # it ends with this process


def _ended():
    """Whether there was a kernel that had ended, of which nothing remains now."""
    try:
        return os.waitpid(-1, os.WNOHANG)[0]
    except ChildProcessError:
        return 0


if __name__ == "__main__":
    del sys.path[0], __file__  # so that a notebook does not record this file
    for library in LIBRARIES:
        import_module(library)
    import numba

    numba.njit("int64()")(lambda: 0)  # the first compilation imports more of numba
    gc.freeze()  # what is not looked at in a kernel needs no memory there
    sys.argv[1:] = serve(Connection(int(sys.argv[1])))
    from ipykernel import kernelapp

    kernelapp.launch_new_instance()
