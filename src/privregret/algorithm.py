"""What every algorithm offers, whatever it sees: `play` on a table, `run` on a problem, and a stated privacy."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, is_dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numba.extending import is_jitted

from privregret import checks, streams


class Privacy(NamedTuple):
    """What the whole sequence of actions is guaranteed.

    Attributes
    ----------
    printed : float
        Epsilon as the source claims it; inf if it claims none.
    proved : float
        Epsilon as it can be proved, here or there; inf if nothing is.
    delta : float
        0 for pure differential privacy.
    neighbours : str
        Which changes of the data are covered.
    """

    printed: float
    proved: float
    delta: float = 0.0
    neighbours: str = "everything in one round replaced"


NOT_PRIVATE = Privacy(math.inf, math.inf)


@dataclass(frozen=True)
class Algorithm(checks.Checked, ABC):
    """An algorithm with its parameters: frozen, checked when made.

    A family of algorithms (bandits, full information, adversaries, experts) says what `play` takes and names the kind
    of problem it `plays`. A single one gives `label`, `source`, `rules` for its parameters, `privacy`, and `_kernel`,
    or `_run` if there is no more to a run than Python.
    """

    label: ClassVar[str]  # name in figures and tables; decides colour and marker
    source: ClassVar[str]  # paper key and algorithm number
    plays: ClassVar[type]  # the kind of problem
    longest: ClassVar[int] = checks.LARGEST  # horizon of a run

    def __post_init__(self):
        super().__post_init__()
        for name in ("label", "source"):
            if not isinstance(getattr(self, name, None), str):
                raise TypeError(f"{type(self).__name__} must have a {name}, a string")

    @property
    @abstractmethod
    def privacy(self) -> Privacy:
        """What the sequence of actions is guaranteed."""

    def run(self, problem, rounds, rng) -> np.ndarray:
        """What is played on a problem, by event where the algorithm allows; same law as `play` on the problem's data.

        Parameters
        ----------
        problem : the kind of problem that the algorithm plays
        rounds : (H,) array of int
            Increasing rounds at which to report; the last is the horizon.
        rng : int or numpy.random.Generator
            Source of the data and of the algorithm's own randomness.

        Returns
        -------
        (H, ...) array
            What was played in rounds 1..rounds[h], of which `problem.regret` makes regret: the number of rounds
            with each arm or group of actions, or against an adversary the cumulative loss.

        Raises
        ------
        TypeError
            If the problem is of another kind.
        ValueError
            If `rounds` does not increase, or ends before every arm can be pulled.
        """
        data, rounds = self.data_of(problem), checks.checkpoints(problem.shortest, self.longest)("rounds", rounds)
        return self._run(data, rounds, np.random.default_rng(rng))

    def run_many(self, problem, rounds, runs: int, rng) -> np.ndarray:
        """`run`, so many times from one stream: (runs, H, ...)."""
        data, rounds = self.data_of(problem), checks.checkpoints(problem.shortest, self.longest)("rounds", rounds)
        runs, rng = checks.positive_int("runs", runs), np.random.default_rng(rng)
        if self._compiled(data, rounds):
            return streams.run_on(*self._kernel(data, rounds), runs, rng)
        return np.array([self._run(data, rounds, rng) for _ in range(runs)])

    def run_each(self, problem, rounds, each) -> np.ndarray:
        """`run` once from each of some `privregret.streams.Streams`: (runs, H, ...)."""
        data, rounds = self.data_of(problem), checks.checkpoints(problem.shortest, self.longest)("rounds", rounds)
        if self._compiled(data, rounds) and streams.usable():
            return streams.run_each(*self._kernel(data, rounds), each)
        return np.array([self.run(problem, rounds, rng) for rng in each])

    def data_of(self, problem):
        """What kernels take of a problem, after a check that it is of the kind that the algorithm plays."""
        if not isinstance(problem, self.plays):
            found = getattr(problem, "name", "")
            found = type(problem).__name__ + (f" ({found})" if isinstance(found, str) and found else "")
            raise TypeError(f"{self.label} plays problems of type {self.plays.__name__}, got {found}")
        return problem.data

    def _kernel(self, data, rounds):
        """The compiled function that plays a run, and what it takes before its last argument, the generator.

        It gives what `run` does, or actions first and this second.
        """
        raise NotImplementedError(f"{type(self).__name__} must have a _kernel or a _run")

    def _run(self, data, rounds, rng):
        kernel, given = self._kernel(data, rounds)
        played = kernel(*given, rng)
        return played[1] if isinstance(played, tuple) else played

    def _compiled(self, data, rounds):
        """Whether many runs can be one call: there is a kernel, and no subclass runs in a way of its own."""
        own = type(self)
        return own.run is Algorithm.run and own._run is Algorithm._run and is_jitted(self._kernel(data, rounds)[0])


def checked_actions(actions, rounds: int, arms: int) -> np.ndarray:
    """What a `play` returned, after a check that it is one arm from 0..arms-1 for each round."""
    actions = np.asarray(actions)
    if actions.shape != (rounds,) or actions.dtype.kind not in "iu":
        found = f"shape {actions.shape} of {actions.dtype}"
        raise TypeError(f"play must return {rounds} whole numbers, one action a round, got {found}")
    if actions.min() < 0 or actions.max() >= arms:
        raise ValueError(f"actions must lie in 0..{arms - 1}, got {actions[(actions < 0) | (actions >= arms)][0]}")
    return actions.astype(np.int64)


def flat_parameters(algorithm) -> dict:
    """An algorithm's parameters; those of an algorithm inside it too, and its label for itself."""
    result = {}
    for f in fields(algorithm):
        value = getattr(algorithm, f.name)
        if is_dataclass(value):
            result |= flat_parameters(value) | {f.name: value.label}
        else:
            result[f.name] = value
    return result
