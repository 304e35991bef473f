"""The commands for notebooks: reproduce, status, check, site."""

from argparse import Namespace

from privregret.files import ROOT
from privregret.press import jobs, run
from privregret.press.notebook import ParameterError
from privregret.press.places import BUILD, custom
from privregret.press.record import Damaged

REFUSED = (ParameterError, jobs.UsageError, Damaged)  # printed in one line, with exit code 2


def main(args: Namespace) -> int:
    """Run the parsed command and return the exit code.

    Bad input raises one of `REFUSED`.
    """
    if args.command == "site":
        from privregret.press import site  # it needs more packages than notebooks do

        return site.main()
    smoke, given = getattr(args, "smoke", False), jobs.overrides(getattr(args, "p", []))
    todo = jobs.jobs(jobs.select(args.wanted), given, smoke, check=args.command != "status")
    if args.command == "status":
        return run.status(todo)
    if args.j < 1:
        raise jobs.UsageError(f"-j must be at least 1, got {args.j}")
    if args.command == "check":
        return run.check(todo, args.j)
    root = BUILD / "smoke" if smoke else custom(given) if given else ROOT
    if args.output:
        root = args.output.resolve()
        if root == ROOT:
            raise jobs.UsageError("--output must not be the project itself: name another folder")
    return run.reproduce(todo, root, args.j, args.force, args.fresh)
