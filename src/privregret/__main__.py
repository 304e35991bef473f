"""`python -m privregret reproduce | status | check | site`."""

import argparse
import importlib
import os
import signal
import sys

# At its import nbformat's validator would compile forty grammars, for three seconds, of formats that no notebook has.
sys.modules.setdefault("rfc3987_syntax", None)

from privregret import reproduce as r  # noqa: E402
from privregret.notebook import ParameterError  # noqa: E402


def parser() -> argparse.ArgumentParser:
    main = argparse.ArgumentParser("privregret", description="Regenerate the figures and tables from the notebooks.")
    commands = main.add_subparsers(dest="command", required=True)
    texts = {
        "reproduce": "run every notebook that is stale, and refresh figures/ and paper/",
        "status": "say which notebooks are stale and why",
        "check": "run afresh elsewhere and compare with the published numbers",
    }
    commands.add_parser("site", help="render all that is published as pages, into build/site")
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
        if name != "status":
            command.add_argument(
                "-j", type=int, default=os.cpu_count(), metavar="N", help="notebooks at once (default: cores)"
            )
    return main


def site() -> int:
    try:
        return importlib.import_module("privregret.site").main()
    except ModuleNotFoundError as missing:  # what it needs, notebooks do without
        print(f"error: the site needs {missing.name}: pip install the extra 'site'", file=sys.stderr)
        return r.FAILED


def interrupt(*_):
    raise KeyboardInterrupt


def main(arguments=None) -> int:
    args = parser().parse_args(arguments)
    if args.command == "site":
        return site()
    for stop in (signal.SIGINT, signal.SIGTERM):  # a shell starts background jobs with SIGINT ignored
        signal.signal(stop, interrupt)
    try:
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
        return r.reproduce(todo, place, args.j, args.force)
    except (ParameterError, r.UsageError) as error:
        print(f"error: {error}", file=sys.stderr)
        return r.BAD_PARAMETER


if __name__ == "__main__":
    sys.exit(main())
