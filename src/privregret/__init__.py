"""The price of privacy in online learning: a reproducible companion to five papers.

Start with `privregret.bandits` (algorithms), `privregret.instances` (problems) and
`privregret.simulate.regret_curves` (replicates as one tidy table). Noise comes from a seeded
generator: do not use this package to protect real data.

What a user calls checks its arguments first: one of another type raises TypeError, one outside the
range that its documentation gives ValueError. Both name it.
"""

from importlib import import_module, metadata

__version__ = metadata.version(__name__)
_MODULES = (
    *("adversarial", "bandits", "bounds", "companion", "divergence", "estimates", "exact"),
    *("full_information", "instances", "privacy", "rare", "simulate", "tables"),
)


def __getattr__(name):
    """Import a module when it is first named."""
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return [*globals(), *_MODULES]
