"""The command `privregret`: reproduce and status"""

import argparse
import os
import signal
import sys
from importlib.util import find_spec
from pathlib import Path

from privregret import __version__
from privregret.core.files import CHECKOUT, ROOT, other_clone

# exit codes; 2 is argparse's own
FAILED, USAGE, INTERRUPTED = 1, 2, 130
EXIT_CODES = "Exit codes: 1 a notebook failed, 2 bad arguments, 3 a kernel died, 130 interrupted."
INSTALL = "pip install -e '.[notebooks]'"
STALE = (
    "A notebook is stale if its code, its captions and claims, its parameters, a file that one of "
    "them names, the package, its figures or requirements.lock changed since its last run."
)
# command -> what it does, and an example
COMMANDS = {
    "reproduce": (
        "Run the stale notebooks and update figures/, paper/ and the README.",
        "Example: privregret reproduce hu2021/6-experiments -p runs 50",
    ),
    "status": (
        "List the stale notebooks, each with the reason, and what a paper lacks that is named.",
        "Example: privregret status hu2021",
    ),
}


def parser() -> argparse.ArgumentParser:
    """Build the parser of the command line."""
    text = "Reproduce the figures and tables of the notebooks."
    epilog = f"Example: privregret status. {EXIT_CODES}"
    main = argparse.ArgumentParser("privregret", description=text, epilog=epilog)
    main.add_argument("--version", action="version", version=f"privregret {__version__}")
    kinds = main.add_subparsers(dest="command", required=True)
    command = {
        name: kinds.add_parser(name, help=what, description=f"{what} {STALE}", epilog=example)
        for name, (what, example) in COMMANDS.items()
    }
    for verb in command.values():
        text = "such as hu2021 or hu2021/6-experiments (default: all)"
        verb.add_argument("wanted", nargs="*", metavar="paper or notebook", help=text)
    option, flag = command["reproduce"].add_argument, {"action": "store_true"}
    option("-j", type=int, metavar="N", help="notebooks to run at a time (default: all cores)")
    option("--smoke", **flag, help="use small parameters and write to build/smoke")
    option("--force", **flag, help="also run notebooks that are up to date")
    option("--fresh", **flag, help="run all notebooks without stored results, replace all files")
    pairs = {"nargs": 2, "action": "append", "default": [], "metavar": ("NAME", "VALUE")}
    option("-p", **pairs, help="set a parameter (repeatable), and write to build/custom")
    text = "write to this folder instead; it is new, empty, or from an earlier run"
    option("--output", type=Path, metavar="FOLDER", help=text)
    return main


def notebooks(args) -> int:
    """Run a command for notebooks and return the exit code; ValueError for what it cannot use."""
    if wrong := other_clone():
        raise ValueError(wrong)
    if not CHECKOUT:
        raise ValueError(f"the package has no notebooks: {INSTALL} in a clone of the repository")
    if not find_spec("fcntl"):
        raise ValueError("this needs Linux, macOS or WSL: run single notebooks in JupyterLab")
    try:
        from privregret.press import batch

        if args.command == "status":
            return batch.status(args.wanted)
        values, flags = batch.overrides(args.p), (args.smoke, args.force, args.fresh)
        return batch.reproduce(args.wanted, values, args.output, args.j, *flags)
    except ModuleNotFoundError as missing:
        needed = f"this needs {missing.name}: {INSTALL} in {ROOT}"
        raise ValueError(needed) from None
    except BlockingIOError:
        raise ValueError("another run is active in this folder: wait or stop it") from None


def main(arguments=None) -> int:
    """Run the command and return the exit code; what is wrong is said in one line."""
    # what cannot be printed must not stop a run: a closed stream, or one without Greek letters
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))
        getattr(sys, name).reconfigure(errors="backslashreplace")
    args = parser().parse_args(arguments)
    # shells start background jobs without SIGINT
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, signal.default_int_handler)
    try:
        code = notebooks(args)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # of `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return INTERRUPTED
    except (OSError, ValueError) as error:
        # disk full, folder not writable
        print(f"error: {error}", file=sys.stderr)
        return USAGE if isinstance(error, ValueError) else FAILED


if __name__ == "__main__":
    sys.exit(main())
