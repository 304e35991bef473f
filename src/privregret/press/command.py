"""The commands for notebooks: reproduce, status, check, site."""

from argparse import Namespace

from privregret.files import ROOT
from privregret.press import jobs, run
from privregret.press.notebook import ParameterError
from privregret.press.places import BUILD, PROJECT, apart, custom
from privregret.press.record import Damaged

REFUSED = (ParameterError, jobs.UsageError, Damaged)  # printed in one line, with exit code 2


def main(args: Namespace) -> int:
    """Run the parsed command and return the exit code; raise one of `REFUSED` for bad input."""
    if args.command == "site":
        return _site()
    smoke, given = getattr(args, "smoke", False), jobs.overrides(getattr(args, "p", []))
    todo = jobs.jobs(jobs.select(args.wanted), given, smoke)
    if args.command == "status":
        return run.status(todo)
    if args.j < 1:
        raise jobs.UsageError(f"-j must be at least 1, got {args.j}")
    if args.command == "check":
        return run.check(todo, args.j)
    place = apart(BUILD / "smoke") if smoke else custom(given) if given else PROJECT
    if args.output:
        place = apart(args.output.resolve())
    if place.root == ROOT and args.output:
        raise jobs.UsageError("--output must not be the project itself: name another folder")
    return run.reproduce(todo, place, args.j, args.force, args.fresh)


def _site():
    try:
        from privregret.press import site
    except ModuleNotFoundError as missing:  # notebooks work without this extra
        raise jobs.UsageError(
            f"the site needs {missing.name}: pip install 'privregret[site]'"
        ) from None
    return site.main()
