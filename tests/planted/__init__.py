"""Faults planted in the package, and the findings whose verdicts they must turn.

A verdict that cannot fail says nothing. One file per paper: `PLANTS` has for each notebook keys of
findings, and a patch that gets pytest's monkeypatch and breaks something: a learner that plays
uniformly, a bound that is far too small, a noise of the wrong scale. Each finding must have another
verdict than without the fault, at the notebook's small parameters.

What an algorithm plays is patched in `runner`, from which `run` and `regret_curves` have it, or
where the fault is: in `settings`, `steps`, `play_checked`.
"""

from dataclasses import replace

import numpy as np

from privregret import rare
from privregret.adversarial import BatchedPrivate
from privregret.core.algorithm import kernel_data


def through_run(monkeypatch):
    """Have `run_with_noise` play what `run` plays, with sums of noise that control nothing."""

    def run_with_noise(self, problem, horizon, rng, runs):
        return self.run(problem, [horizon], rng, runs), np.zeros((runs, *problem.memory_sizes, 3))

    monkeypatch.setattr(BatchedPrivate, "run_with_noise", run_with_noise)


def all_of(*patches):
    return lambda monkeypatch: [patch(monkeypatch) for patch in patches]


def replaced(owner, name, wrong):
    return lambda monkeypatch: monkeypatch.setattr(owner, name, wrong)


def wrapped(owner, name, call):
    """`owner.name(...)` is `call(right, ...)`, with `right` what it was."""

    def patch(monkeypatch):
        right = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *a, **k: call(right, *a, **k))

    return patch


def scaled(owner, factor, *names):
    """Functions whose results are multiplied by `factor`."""
    return all_of(
        *(wrapped(owner, n, lambda right, *a, **k: factor * right(*a, **k)) for n in names)
    )


def half_the_loss(owner, name):
    """A function whose result has half its `value`."""

    def call(right, *given):
        found = right(*given)
        return found._replace(value=found.value / 2)

    return wrapped(owner, name, call)


def plays(*classes, run):
    """Algorithms that play otherwise: `run(data, checkpoints, rng)` is what one run plays."""

    def runner(self, problem, checkpoints):
        given = kernel_data(self, problem), np.asarray(checkpoints)
        return lambda runs, rng: np.array([run(*given, rng) for _ in range(runs)])

    return all_of(*(replaced(cls, "runner", runner) for cls in classes))


def as_if(cls, other):
    """Algorithms of a class play as `other(algorithm)` would."""

    def call(right, self, *given):
        learner = other(self)
        return (right if isinstance(learner, cls) else type(learner).runner)(learner, *given)

    return wrapped(cls, "runner", call)


def with_epsilon(cls, change):
    return as_if(cls, lambda learner: replace(learner, epsilon=change(learner.epsilon)))


def uniform(*classes):
    """Bandit learners that draw every arm uniformly."""

    def run(means, checkpoints, rng):
        steps, shares = np.diff(checkpoints, prepend=0), np.full(len(means), 1 / len(means))
        return np.array([rng.multinomial(step, shares) for step in steps]).cumsum(axis=0)

    return plays(*classes, run=run)


def uniform_when_rare(cls):
    """Algorithms of a class draw every arm uniformly where rare runs count, too."""

    def weighted(right, algorithm, problem, rounds, runs, rng):
        if not isinstance(algorithm, cls):
            return right(algorithm, problem, rounds, runs, rng)
        # apart, so that they have an error
        scale = rng.uniform(0.99, 1.01, runs)
        return np.outer(scale, problem.gaps.mean() * rounds), np.ones(runs)

    return all_of(uniform(cls), wrapped(rare, "weighted", weighted))


def other_noise(cls, factor, noises=("laplace", "exponential", "gumbel")):
    """A full-information learner with its noise multiplied, if it is one of `noises`."""

    def noise_scale(right, self, actions):
        return right(self, actions) * (factor if self.noise in noises else 1)

    return wrapped(cls, "noise_scale", noise_scale)
