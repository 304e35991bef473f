"""The command `privregret`: reproduce, status, check, site"""

import argparse
import os
import signal
import sys
from importlib.util import find_spec
from pathlib import Path

from privregret import __version__
from privregret.files import CHECKOUT

USAGE, INTERRUPTED = 2, 130  # exit codes; the first is argparse's own
EXIT_CODES = (
    "Exit codes: 1 a notebook failed, 2 bad arguments, 3 a kernel died, "
    "4 check found differences, 130 interrupted."
)
COMMANDS = {
    "reproduce": "Run the stale notebooks and update figures/ and paper/.",
    "status": "List the notebooks that are stale, each with the reason.",
    "check": "Run notebooks in build/check and compare the results with figures/.",
    "site": "Build the website from the published results, in build/site.",
}


def parser() -> argparse.ArgumentParser:
    """Build the parser of the command line."""
    text = "Reproduce the figures and tables of the notebooks."
    main = argparse.ArgumentParser("privregret", description=text, epilog=EXIT_CODES)
    main.add_argument("--version", action="version", version=f"privregret {__version__}")
    kinds = main.add_subparsers(dest="command", required=True)
    command = {name: kinds.add_parser(name, help=s, description=s) for name, s in COMMANDS.items()}
    folder, number = {"type": Path, "metavar": "FOLDER"}, {"type": int, "metavar": "N"}

    for name in ("reproduce", "status", "check"):
        text = "such as hu2021 or hu2021/6-experiments (default: all)"
        command[name].add_argument("wanted", nargs="*", metavar="paper or notebook", help=text)
    for name in ("reproduce", "check"):
        text = "notebooks to run at a time (default: number of cores)"
        command[name].add_argument("-j", **number, default=os.cpu_count(), help=text)
    reproduce, flag = command["reproduce"].add_argument, {"action": "store_true"}
    reproduce("--smoke", **flag, help="use small parameters and write to build/smoke")
    reproduce("--force", **flag, help="run notebooks that are up to date as well")
    reproduce("--fresh", **flag, help="run all notebooks without stored results")
    pairs = {"nargs": 2, "action": "append", "default": [], "metavar": ("NAME", "VALUE")}
    reproduce("-p", **pairs, help="set a parameter and write to build/custom")
    reproduce("--output", **folder, help="write to FOLDER instead of figures/")
    return main


def interrupt(*_):
    raise KeyboardInterrupt


def refuse(why) -> int:
    """Print an error in one line; return the exit code of a usage error."""
    print(f"error: {why}", file=sys.stderr)
    return USAGE


def needs(missing, extra) -> int:
    """Name the package that is not there, and the extra that has it; the exit code."""
    package = missing.name.split(".")[0]
    return refuse(f"this needs {package}: pip install 'privregret[{extra}]'")


def notebooks(args) -> int:
    """Run a command for notebooks and return the exit code."""
    if not CHECKOUT:
        return refuse("the package has no notebooks: run this command in a clone of the repository")
    if not find_spec("fcntl"):  # native Windows
        return refuse("this command needs Linux, macOS or WSL: run single notebooks in JupyterLab")
    # nbformat imports this module, which takes a second to compile grammars it never uses.
    sys.modules.setdefault("rfc3987_syntax", None)
    try:
        from privregret.press import command
    except ModuleNotFoundError as missing:
        return needs(missing, "notebooks")
    try:
        return command.main(args)
    except ModuleNotFoundError as missing:
        return needs(missing, "site")
    except command.REFUSED as error:
        return refuse(error)
    except BlockingIOError:
        return refuse("another run is active in this folder: wait for it or stop it")


def main(arguments=None) -> int:
    """Run the command and return the exit code."""
    args = parser().parse_args(arguments)
    for stop in (signal.SIGINT, signal.SIGTERM):  # shells start background jobs without SIGINT
        signal.signal(stop, interrupt)
    try:
        return notebooks(args)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:  # disk full, folder not writable
        return refuse(error)


if __name__ == "__main__":
    sys.exit(main())
