"""The command `privregret reproduce | status | check | site | sweep`, also `python -m privregret`."""

import argparse
import os
import signal
import sys
from importlib.util import find_spec
from pathlib import Path

from privregret import __version__
from privregret.files import CHECKOUT, ROOT

USAGE, INTERRUPTED = 2, 130  # exit codes; the first is argparse's own


def parser() -> argparse.ArgumentParser:
    main = argparse.ArgumentParser("privregret", description="Regenerate the figures and tables from the notebooks.")
    main.add_argument("--version", action="version", version=f"privregret {__version__}")
    commands = main.add_subparsers(dest="command", required=True)
    texts = {
        "reproduce": "run every notebook that is stale, and refresh figures/ and paper/",
        "status": "say which notebooks are stale and why",
        "check": "run afresh elsewhere and compare with the published numbers",
    }
    commands.add_parser("site", help="render all that is published as pages, into build/site")
    text = "run a grid of algorithms and instances, or go on with it: one Parquet file a cell"
    sweep = commands.add_parser("sweep", help=text, description=text)
    sweep.add_argument("grid", type=Path, metavar="grid.toml", help="what to run; the README describes it")
    sweep.add_argument("--output", type=Path, metavar="FOLDER", help="where the cells are (default: grid, beside it)")
    sweep.add_argument("--scheduler", default="", metavar="ADDRESS", help="Dask scheduler (default: this machine)")
    sweep.add_argument("-j", type=int, default=-1, metavar="N", help="tasks at once (default: as many as there can be)")
    for name, text in texts.items():
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument(
            "wanted", nargs="*", metavar="paper or notebook", help="hu2021, hu2021/6-experiments; default: all"
        )
        if name == "reproduce":
            command.add_argument(
                "--smoke", action="store_true", help="small parameters, into build/smoke: figures/ stays"
            )
            command.add_argument("--force", action="store_true", help="run what is up to date, too")
            command.add_argument(
                "-p",
                nargs=2,
                action="append",
                default=[],
                metavar=("NAME", "VALUE"),
                help="set a notebook parameter; the output goes to build/custom",
            )
            command.add_argument("--output", type=Path, metavar="FOLDER", help="put the output there: figures/ stays")
        if name != "status":
            command.add_argument(
                "-j", type=int, default=os.cpu_count(), metavar="N", help="notebooks at once (default: cores)"
            )
    return main


def interrupt(*_):
    raise KeyboardInterrupt


def refuse(why) -> int:
    print(f"error: {why}", file=sys.stderr)
    return USAGE


def sweep(args) -> int:
    try:
        from privregret import sweep
    except ModuleNotFoundError as missing:
        return refuse(missing)
    try:
        if args.j < 1 and args.j != -1:
            raise sweep.GridError(f"-j must be at least 1, got {args.j}")
        sweep.run(sweep.read(args.grid), args.output or args.grid.with_suffix(""), args.scheduler, args.j)
    except sweep.GridError as error:
        return refuse(error)
    except KeyboardInterrupt:
        print("\ninterrupted: finished cells are kept, the next run goes on from there", flush=True)
        os._exit(INTERRUPTED)  # threads end with the process, not with their blocks
    return 0


def main(arguments=None) -> int:
    args = parser().parse_args(arguments)
    for stop in (signal.SIGINT, signal.SIGTERM):  # a shell starts background jobs with SIGINT ignored
        signal.signal(stop, interrupt)
    try:
        return command(args)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:  # no room, a folder that may not be written to, no scheduler
        return refuse(error)


def command(args) -> int:
    """Do what was asked for; the exit code."""
    if args.command == "sweep":
        return sweep(args)
    if not CHECKOUT:
        return refuse("the notebooks are not installed with the package; run this in a checkout of the project")
    if not find_spec("fcntl"):  # native Windows
        return refuse("the batch command needs Linux, macOS or WSL; single notebooks run in JupyterLab or by papermill")
    # At its import nbformat's validator would compile grammars, for three seconds, of formats that no notebook has.
    sys.modules.setdefault("rfc3987_syntax", None)
    try:
        from privregret.press import reproduce as r
        from privregret.press.manifest import Damaged
        from privregret.press.notebook import ParameterError
    except ModuleNotFoundError as missing:
        return refuse(f"notebooks need {missing.name}: pip install 'privregret[notebooks]'")

    try:
        if args.command == "site":
            try:
                from privregret.press import site
            except ModuleNotFoundError as missing:  # what it needs, notebooks do without
                return refuse(f"the site needs {missing.name}: pip install 'privregret[site]'")
            return site.main()
        smoke = getattr(args, "smoke", False)
        overrides = {name: r.parse_value(value) for name, value in getattr(args, "p", [])}
        todo = r.jobs(r.select(args.wanted), overrides, smoke)
        if args.command == "status":
            return r.status(todo)
        if args.j < 1:
            raise r.UsageError(f"-j must be at least 1, got {args.j}")
        if args.command == "check":
            return r.check(todo, args.j)
        place = r.SMOKE if smoke else r.CUSTOM if overrides else r.PROJECT
        if args.output:
            if args.output.resolve() == ROOT:
                raise r.UsageError("--output is for what is not to be published: name another folder")
            place = r.Place(args.output.resolve(), args.output.resolve())
        return r.reproduce(todo, place, args.j, args.force)
    except (ParameterError, r.UsageError, Damaged) as error:
        return refuse(error)


if __name__ == "__main__":
    sys.exit(main())
