"""Faults planted in the package, and the findings whose verdicts they must turn.

A verdict that cannot fail says nothing. One file per paper. `patch` gets pytest's monkeypatch and
breaks something: a learner that plays uniformly, a bound that is far too small, a noise of the
wrong scale, a wrong exponent. `turns` names findings by their keys; each
must have another verdict than without the fault, at the parameters of `notebooks/smoke.toml`.

What an algorithm plays is patched in `runner`, from which `run` and `regret_curves` have it, or
where the fault is: in `settings`, `steps`, `play_checked`.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from privregret.adversarial import BatchedPrivate


class Plant(NamedTuple):
    notebook: str
    fault: str
    patch: Callable
    turns: tuple


def through_run(monkeypatch):
    """Have `run_with_noise` play what `run` plays, with sums of noise that control nothing."""

    def run_with_noise(self, problem, horizon, rng, runs):
        return self.run(problem, [horizon], rng, runs), np.zeros((runs, *problem.memory_sizes, 3))

    monkeypatch.setattr(BatchedPrivate, "run_with_noise", run_with_noise)


def plays(run):
    """`runner` of algorithms that play otherwise: `run(data, checkpoints, rng)` is what one run
    plays."""

    def runner(self, problem, checkpoints):
        given = self.data_of(problem), np.asarray(checkpoints)
        return lambda runs, rng: np.array([run(*given, rng) for _ in range(runs)])

    return runner


def as_if(cls, change):
    """`runner` of algorithms of a class that play as `change(algorithm)` would."""
    right = cls.runner
    return lambda self, problem, checkpoints: right(change(self), problem, checkpoints)


def uniform_play(means, checkpoints, rng):
    """Counts of a bandit learner that draws every arm uniformly."""
    steps, shares = np.diff(checkpoints, prepend=0), np.full(len(means), 1 / len(means))
    return np.array([rng.multinomial(step, shares) for step in steps]).cumsum(axis=0)


def scaled(module, factor, *names):
    """Functions of a module whose results are multiplied by `factor`."""

    def patch(monkeypatch):
        for name in names:
            right = getattr(module, name)
            monkeypatch.setattr(module, name, lambda *a, right=right, **k: factor * right(*a, **k))

    return patch


def other_noise(cls, factor, noises=("laplace", "exponential", "gumbel")):
    """A full-information learner with its noise multiplied, if it is one of `noises`."""

    def patch(monkeypatch):
        right = cls.noise_scale
        monkeypatch.setattr(
            cls, "noise_scale", lambda a, k: right(a, k) * (factor if a.noise in noises else 1)
        )

    return patch
