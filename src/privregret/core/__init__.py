"""What all algorithms share: their contract, compilation, streams, the store, checks"""

from inspect import ismodule


def public(names: dict) -> list[str]:
    """Return what a package hands on of what it imports: all but modules and names with a _."""
    return sorted(name for name, of in names.items() if name[0] != "_" and not ismodule(of))
