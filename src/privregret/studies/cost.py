"""The floor of what a run costs: the random numbers that it draws."""

import numpy as np

from privregret import loops, noise, store
from privregret.privacy import trace


class _Noting:
    """A Generator that notes which random numbers are drawn from it: (kind, parameters...)."""

    def __init__(self, rng):
        self.numpys, self.noted = np.random.default_rng(rng), []

    def __getattr__(self, name):
        def draw(*given):
            self.noted.append((name, *given))
            return getattr(self.numpys, name)(*given)

        return draw

    def noise(self, kind, scale, draw=trace.python(noise.draw)):
        """As uncompiled kernels ask for it; Laplace noise counts as one number."""
        if kind == noise.LAPLACE:
            self.noted.append(("laplace", 0.0, scale))
        return draw(kind, scale, self.numpys if kind == noise.LAPLACE else self)


@store.kept
def random_numbers(algorithm, problem, horizon: int, runs: int, rng) -> list[tuple]:
    """The random numbers that runs draw, in order: a kernel's cost is at least theirs, whatever
    else it does.

    Parameters
    ----------
    algorithm : Algorithm
        With steps.
    problem, horizon, runs
        As in `simulate.regret_curves`; played uncompiled.
    rng : int or numpy.random.Generator

    Returns
    -------
    list of (kind, parameters...)
        Kinds are the methods of a Generator, with Laplace noise of `noise.laplace` as one.

    Examples
    --------
    >>> from privregret.bandits import AnytimeLazyUCB
    >>> from privregret.instances import BernoulliBandit
    >>> two = BernoulliBandit("two", (0.9, 0.1))
    >>> [kind for kind, *_ in random_numbers(AnytimeLazyUCB(1.0), two, horizon=2, runs=1, rng=0)]
    ['binomial', 'laplace', 'binomial', 'laplace']
    """
    noting = _Noting(rng)
    kernel = type(algorithm).events or loops.rounds(algorithm.templates, algorithm.steps)
    given = (
        algorithm.data_of(problem),
        np.array([horizon]),
        algorithm.settings(horizon, *problem.sizes),
        noting,
    )
    with trace.uncompiled(kernel, *trace.code(algorithm), values=False):
        for _ in range(runs):
            trace.python(kernel)(*given)
    return noting.noted
