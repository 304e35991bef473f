"""The command `privregret` (or `python -m privregret`): reproduce, status, check, site, sweep."""

import argparse
import os
import signal
import sys
from importlib.util import find_spec
from pathlib import Path

from privregret import __version__
from privregret.files import CHECKOUT

USAGE, INTERRUPTED = 2, 130  # exit codes; the first is argparse's own
COMMANDS = {
    "reproduce": "run every notebook that is stale, and refresh figures/ and paper/",
    "status": "say which notebooks are stale and why",
    "check": "run afresh elsewhere and compare with the published numbers",
    "site": "render all that is published as pages, into build/site",
    "sweep": "run or resume a grid of algorithms and instances: one Parquet file per grid point",
}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    text = "Regenerate the figures and tables from the notebooks."
    main = argparse.ArgumentParser("privregret", description=text)
    main.add_argument("--version", action="version", version=f"privregret {__version__}")
    kinds = main.add_subparsers(dest="command", required=True)
    command = {name: kinds.add_parser(name, help=s, description=s) for name, s in COMMANDS.items()}
    folder, number = {"type": Path, "metavar": "FOLDER"}, {"type": int, "metavar": "N"}

    sweep = command["sweep"].add_argument
    sweep("grid", type=Path, metavar="grid.toml", help="what to run: see docs/sweeps.md")
    sweep("--output", **folder, help="where its files are (default: grid, next to it)")
    sweep("--scheduler", default="", metavar="ADDRESS", help="Dask's (default: this machine)")
    sweep("-j", **number, default=-1, help="tasks at once (default: as many as there can be)")

    for name in ("reproduce", "status", "check"):
        text = "hu2021, hu2021/6-experiments; default: all"
        command[name].add_argument("wanted", nargs="*", metavar="paper or notebook", help=text)
    for name in ("reproduce", "check"):
        text = "notebooks at once (default: cores)"
        command[name].add_argument("-j", **number, default=os.cpu_count(), help=text)
    reproduce, flag = command["reproduce"].add_argument, {"action": "store_true"}
    reproduce("--smoke", **flag, help="small parameters, into build/smoke: figures/ stays")
    reproduce("--force", **flag, help="run what is up to date, too")
    reproduce("--fresh", **flag, help="run all, and take nothing from the store of results")
    pairs = {"nargs": 2, "action": "append", "default": [], "metavar": ("NAME", "VALUE")}
    reproduce("-p", **pairs, help="set a parameter; the output goes to a folder in build/custom")
    reproduce("--output", **folder, help="put the output there: figures/ stays")
    return main


def interrupt(*_):
    raise KeyboardInterrupt


def refuse(why) -> int:
    """Say in one line why nothing is done; the exit code."""
    print(f"error: {why}", file=sys.stderr)
    return USAGE


def sweep(args) -> int:
    """Run a sweep; the exit code."""
    try:
        from privregret import sweep
    except ModuleNotFoundError as missing:
        return refuse(missing)
    try:
        if args.j < 1 and args.j != -1:
            raise sweep.GridError(f"-j must be at least 1, got {args.j}")
        folder = args.output or args.grid.with_suffix("")
        sweep.run(sweep.read(args.grid), folder, args.scheduler, args.j)
    except sweep.GridError as error:
        return refuse(error)
    except KeyboardInterrupt:
        print(
            "\ninterrupted: finished grid points are kept; run the command again to resume",
            flush=True,
        )
        os._exit(INTERRUPTED)  # threads end with the process, not with their blocks
    return 0


def notebooks(args) -> int:
    """Do what is about notebooks; the exit code."""
    if not CHECKOUT:
        return refuse("the package has no notebooks: run this command in a clone of the repository")
    if not find_spec("fcntl"):  # native Windows
        return refuse("this command needs Linux, macOS or WSL: run single notebooks in JupyterLab")
    # Imported by nbformat, it compiles grammars for a second, of formats that no notebook has.
    sys.modules.setdefault("rfc3987_syntax", None)
    try:
        from privregret.press import command
    except ModuleNotFoundError as missing:
        package = missing.name.split(".")[0]
        return refuse(f"notebooks need {package}: pip install 'privregret[notebooks]'")
    try:
        return command.main(args)
    except command.REFUSED as error:
        return refuse(error)
    except BlockingIOError:
        return refuse("another run is active in this folder: wait for it or stop it")


def main(arguments=None) -> int:
    """Run the command; the exit code."""
    args = parser().parse_args(arguments)
    for stop in (signal.SIGINT, signal.SIGTERM):  # shells start background jobs without SIGINT
        signal.signal(stop, interrupt)
    try:
        return sweep(args) if args.command == "sweep" else notebooks(args)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:  # no room, a folder that may not be written to, no scheduler
        return refuse(error)


if __name__ == "__main__":
    sys.exit(main())
