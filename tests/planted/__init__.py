"""Faults planted in the package, and the findings whose verdicts they must turn.

A verdict that cannot fail says nothing. One file per paper. `patch` gets pytest's monkeypatch and breaks something: a learner that plays uniformly, a bound that
is far too small, a noise of the wrong scale, a wrong exponent. `turns` names findings by their place and a part of the
claim; each must have another verdict than without the fault, at the parameters of `notebooks/smoke.toml`.
"""

from collections.abc import Callable
from typing import NamedTuple


class Plant(NamedTuple):
    notebook: str
    fault: str
    patch: Callable
    turns: tuple[tuple[str, str], ...]


def uniform_play(data, rounds, rng):
    """Counts of a bandit learner that draws every arm uniformly: for `monkeypatch.setattr(cls, "_run", ...)`."""
    import numpy as np

    steps = np.diff(rounds, prepend=0)
    return np.array([rng.multinomial(step, np.full(len(data), 1 / len(data))) for step in steps]).cumsum(axis=0)


def scaled(module, factor, *names):
    """Functions of a module that return so many times what they should."""

    def patch(monkeypatch):
        for name in names:
            right = getattr(module, name)
            monkeypatch.setattr(module, name, lambda *a, right=right, **k: factor * right(*a, **k))

    return patch


def other_noise(cls, factor, noises=("laplace", "exponential", "gumbel")):
    """A learner with full information and so many times its noise, if that is one of `noises`."""

    def patch(monkeypatch):
        right = cls.noise_scale
        monkeypatch.setattr(cls, "noise_scale", lambda a, k: right(a, k) * (factor if a.noise in noises else 1))

    return patch
