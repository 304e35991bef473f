"""What every algorithm offers, whatever it sees: `play` on a table, `start` on a live source, `run`
on a problem."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from privregret import checks, loops
from privregret.guarantees import NOT_PRIVATE, Privacy
from privregret.loops import NOTHING, Steps, Templates

__all__ = ["NOTHING", "NOT_PRIVATE", "Algorithm", "Privacy", "Steps"]


@dataclass(frozen=True)
class Algorithm(checks.Checked, ABC):
    """An algorithm with its parameters: frozen, checked when made.

    A family says what `play` and `start` take and which problems it plays. A single algorithm gives
    `id`, `label`, `source`, `rules` for its parameters, `privacy` and `steps`; or, in plain Python,
    a `start` that returns anything with `choose` and `observe`.
    """

    id: ClassVar[str]  # for ever: random streams depend on it
    label: ClassVar[str]  # name in figures and tables; decides colour and marker
    source: ClassVar[str]  # paper key and algorithm number
    plays: ClassVar[type]  # the kind of problem
    templates: ClassVar[Templates]  # the family's loops
    steps: ClassVar[Steps | None] = None  # the literal algorithm
    events: ClassVar[Callable | None] = (
        None  # a faster kernel: (data, checkpoints, settings, rng) -> what was played
    )
    block: ClassVar[int] = (
        4  # runs that share a random stream, for ever: 64 where `events` skips rounds
    )
    longest: ClassVar[int] = checks.ROUNDS  # horizon of a run

    def __post_init__(self):
        super().__post_init__()
        for name in ("id", "label", "source"):
            if not isinstance(getattr(self, name, None), str):
                raise TypeError(f"{type(self).__name__} must say its {name}, a string")

    @property
    @abstractmethod
    def privacy(self) -> Privacy:
        """What the sequence of actions is guaranteed."""

    def settings(self, horizon: int | None, actions: int, *experts: int) -> Any:
        """What kernels take of the parameters: a NamedTuple of numbers and arrays."""
        return ()

    def run(
        self,
        problem: Any,
        checkpoints: Any,
        rng: int | np.random.Generator,
        runs: int | None = None,
    ) -> np.ndarray:
        """What is played on a problem by each checkpoint; same law as `play` on the problem's
        tables.

        Parameters
        ----------
        problem : the kind of problem that the algorithm plays
        checkpoints : (H,) array of int
            Increasing rounds; the last is the horizon.
        rng : int or numpy.random.Generator
            Source of the data and of the algorithm's own randomness.
        runs : int, optional
            How many, one after the other from this source; by default one, without an axis of its
            own.

        Returns
        -------
        ([runs,] H, ...) array
            What was played in rounds 1..checkpoints[h], of which `problem.regret` makes regret: the
            number of rounds with each arm or group of actions, or against an adversary the
            cumulative loss.

        Raises
        ------
        TypeError, ValueError
            For another kind of problem, or `checkpoints` that do not increase or end too early.

        Examples
        --------
        >>> from privregret.bandits import DPSE
        >>> from privregret.instances import HU2021_2
        >>> DPSE(0.5).run(HU2021_2, [5, 10], rng=1)
        array([[1, 1, 1, 1, 1],
               [2, 2, 2, 2, 2]])
        """
        several = 1 if runs is None else checks.positive_int("runs", runs)
        played = self.prepared(problem, checkpoints)(several, np.random.default_rng(rng))
        return played[0] if runs is None else played

    def prepared(self, problem: Any, checkpoints: Any) -> Callable:
        """`run` with its first arguments, checked here once: (runs, rng) -> (runs, H, ...)."""
        data, rule = self.data_of(problem), checks.checkpoints(problem.shortest, self.longest)
        checkpoints = rule("checkpoints", checkpoints)
        if kernel := type(self).events or (self.steps and loops.rounds(self.templates, self.steps)):
            return partial(
                loops.many(kernel),
                data,
                checkpoints,
                self.settings(int(checkpoints[-1]), *problem.sizes),
            )
        return lambda runs, rng: np.array(
            [problem.counted(self.play, checkpoints, rng) for _ in range(runs)]
        )

    def data_of(self, problem: Any) -> Any:
        """What kernels take of a problem, after a check that it is of the kind that the algorithm
        plays."""
        if not isinstance(problem, self.plays):
            found = f"{type(problem).__name__} {getattr(problem, 'name', '')}".strip()
            raise TypeError(
                f"{self.label} plays problems of type {self.plays.__name__}, got {found}"
            )
        return problem.data

    def literal(self, table: np.ndarray, rng: Any, *advice: np.ndarray) -> np.ndarray:
        """The actions of `play` on a table (and advice) that has been checked."""
        if self.steps:
            sizes = table.shape[1], *(a.shape[1] for a in advice)
            given = (
                *self.steps.memory(*sizes),
                self.settings(len(table), *sizes),
                np.random.default_rng(rng),
            )
            return loops.play(self.templates, self.steps)(table, *advice, *given)
        return loops.followed(self.start, self.templates, table, rng, *advice)
