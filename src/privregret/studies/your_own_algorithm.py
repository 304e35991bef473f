"""What `companion/your-own-algorithm` asks of a table of one's own."""

from privregret import tables
from privregret.core import checks

# rounds of a table on which regret can be distinguished from chance
SHORTEST = 100


def table_of_arms(name: str, value) -> str:
    """Check a CSV file (or ""): it is long enough, and arms have different sums."""
    if path := checks.text(name, value):
        try:
            totals, rounds = (table := tables.read(path)).sum(), len(table)
        except ValueError as error:
            raise ValueError(f"{name} {error}") from None
        if rounds < SHORTEST:
            raise ValueError(f"{name} must have at least {SHORTEST} rounds, got {rounds}")
        apart = min(totals.mean() - totals.min(), totals.max() - totals.mean())
        if apart < 1:
            raise ValueError(
                f"{name} must have arms whose totals are at least 1 from their average, "
                f"got {apart:g}"
            )
    return path


def values_of(table: str):
    """Return the rule for what a table holds: only the one made here need not say it."""
    known = checks.one_of("losses", "rewards")
    return lambda name, value: known(name, value if value or table else "losses")
