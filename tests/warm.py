"""`python -m ...` without its imports: forked from a process that has made those which take seconds.

Not those of privregret itself: tests run copies of it.
"""

import multiprocessing
import os
import runpy
import sys
import tempfile
import warnings

sys.modules.setdefault("rfc3987_syntax", None)  # as the command itself does
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload([__name__, "numba", "scipy.stats", "papermill.clientwrap", "papermill.engines"])


def run(command, cwd, environment, out, err):
    """What a fresh process would do on `python -m <command>`, its output in files."""
    for stream, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), stream)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None  # another one may have been found before
    os.chdir(cwd)
    sys.path[:0] = [str(cwd), *environment["PYTHONPATH"].split(os.pathsep)]
    warnings.simplefilter("ignore")
    sys.argv[:] = command
    runpy.run_module(command[0], run_name="__main__", alter_sys=True)
