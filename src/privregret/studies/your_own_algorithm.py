"""Rules for the table of `companion/your-own-algorithm`."""

from privregret import tables
from privregret.core import checks


def table_of_arms(name: str, value) -> str:
    """Check a CSV file (or ""): it is long enough, and arms have different sums."""
    if path := checks.text(name, value):
        try:
            totals, rounds = (table := tables.read(path)).sum(), len(table)
        except ValueError as error:
            raise ValueError(f"{name} {error}") from None
        if rounds < 100:  # regret cannot be distinguished from chance
            raise ValueError(f"{name} must have at least 100 rounds, got {rounds}")
        apart = min(totals.mean() - totals.min(), totals.max() - totals.mean())
        if apart < 1:
            wanted = "totals that are at least 1 from their average"
            raise ValueError(f"{name} must have arms with {wanted}, got {apart:g}")
    return path


def values_of(table: str):
    """Return the rule for what a table holds: only the one made here need not say it."""
    known = checks.one_of("losses", "rewards")
    return lambda name, value: known(name, value if value or table else "losses")
