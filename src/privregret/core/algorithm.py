"""The contract of algorithms: `play` a table, `start` a learner, `run` a problem"""

import re
from abc import ABC, abstractmethod
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from inspect import get_annotations
from typing import Any, ClassVar, NamedTuple

import numpy as np

from privregret.core import checks, identity, loops, mistakes
from privregret.core.loops import NOTHING, Steps, Templates  # noqa: F401, for its users

PURE, APPROXIMATE, CONCENTRATED, GAUSSIAN = "pure", "approximate", "zero-concentrated", "Gaussian"
LEVELS = {PURE: "epsilon", APPROXIMATE: "epsilon", CONCENTRATED: "rho", GAUSSIAN: "mu"}


class Privacy(NamedTuple):
    """The guarantee for the whole sequence of actions; its level is inf if there is none.

    The level is epsilon, or rho or mu of zero-concentrated (Bun and Steinke 2016) and Gaussian
    (Dong, Roth and Su 2022) differential privacy.
    """

    printed: float  # level as claimed by the source
    proved: float  # level that is proved, in the source or here
    delta: float = 0.0  # 0 for pure differential privacy
    neighbours: str = "everything in one round replaced"  # changes of the data that are covered
    kind: str = PURE  # one of `LEVELS`
    horizon: int | None = None  # rounds that are covered; by default any number

    def check(self, of: str) -> None:
        """ValueError in one line, which begins with `of`, for what is no guarantee."""
        levels = self.printed, self.proved, self.delta
        # also for nan
        if not all(level >= 0 for level in levels):
            raise ValueError(f"{of} must be at least 0, got {levels}")
        if self.kind not in LEVELS:
            raise ValueError(f"kind of {of} must be {', '.join(LEVELS)}, got {self.kind!r}")
        if self.kind in (PURE, APPROXIMATE) and (self.delta > 0) != (self.kind == APPROXIMATE):
            allowed = "0" if self.kind == PURE else "above 0"
            raise ValueError(f"delta of {of}, which is {self.kind}, must be {allowed}")
        if self.horizon is not None:
            checks.positive_int(f"horizon of {of}", self.horizon)

    def epsilon(self, rounds: int) -> float:
        """Return the epsilon of the (epsilon, delta)-privacy that is proved for so many rounds."""
        if self.horizon is not None and rounds > self.horizon:
            return np.inf
        level, delta = self.proved, self.delta
        if self.kind in (PURE, APPROXIMATE) or level in (0, np.inf):
            return level
        if delta == 0:
            return np.inf
        if self.kind == CONCENTRATED:
            return level + 2 * np.sqrt(level * np.log(1 / delta))
        # which takes a while to import, to little use
        from scipy import optimize, special

        def beyond(epsilon):
            ends = np.array([level / 2, -level / 2]) - epsilon / level
            return special.ndtr(ends[0]) - np.exp(epsilon + special.log_ndtr(ends[1])) - delta

        # of the concentrated privacy that follows, with rho = mu^2 / 2
        most = level**2 / 2 + level * np.sqrt(2 * np.log(1 / delta))
        return optimize.brentq(beyond, 0, most) if beyond(0) > 0 else 0.0


NOT_PRIVATE = Privacy(np.inf, np.inf)
# words of an annotation that says a number, or none
NUMBERS = re.compile(r"(bool_?|u?int\d*|float\d*)|np|numpy|typing|Optional|Union|None|NoneType")
# `privacy` of an algorithm whose parameter epsilon is what the source claims and what is proved
EPSILON_DP = property(lambda self: Privacy(self.epsilon, self.epsilon))


def _is_number(annotation):
    """Return whether a parameter is a number or None, as `int`, "float" and `np.int64 | None`."""
    text = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    words = [NUMBERS.fullmatch(word) for word in re.findall(r"\w+", text)]
    return all(words) and any(word[1] for word in words)


@dataclass(frozen=True)
class Algorithm(checks.Validated, ABC):
    """An algorithm: its parameters, frozen, and checked when it is created.

    A family defines what `play` and `start` take. A single algorithm defines `id`, `label`,
    `source`, `rules`, `privacy` and `steps`. Its kernels take its parameters that are annotated as
    numbers, and the codes of choices, as a NamedTuple, unless it defines `settings`. An algorithm
    in plain Python defines `start(arms, rng, horizon=None)` instead of `steps`; with expert advice
    a fourth argument is their number. It returns an object with `choose()`, or `choose(advice)`,
    and `observe(seen)`, as in `Steps`.

    TypeError for steps that draw random numbers from elsewhere than `rng`, where code shows it;
    `fixed_draws = True` allows generators with a fixed seed, such as those of a public design.
    """

    # An algorithm says
    id: ClassVar[str]  # must never change: random streams depend on it
    label: ClassVar[str]  # name in figures and tables; determines colour and marker
    source: ClassVar[str]  # paper key and algorithm number
    version: ClassVar[str]  # counts where code reads files or the environment, as these do not
    steps: ClassVar[Steps | None] = None  # the literal algorithm
    # optional, faster: (data, checkpoints, settings, rng) -> played
    fast_run: ClassVar[Callable | None] = None
    # optional, side by side: (data, checkpoints, settings, rngs, runs) -> played
    lanes: ClassVar[Callable | None] = None
    # runs that share a stream: 64 where `fast_run` skips rounds, 32 in lanes
    runs_per_stream: ClassVar[int] = 4
    max_horizon: ClassVar[int] = checks.MAX_ROUNDS  # largest horizon of a run
    # whether generators with a fixed seed in its code are meant
    fixed_draws: ClassVar[bool] = False
    # its family says
    problem_type: ClassVar[type]  # the kind of problem
    templates: ClassVar[Templates]  # the loops
    # and these follow from its parameters
    Settings: ClassVar[type]  # fields that are annotated as numbers, and choices
    codes: ClassVar[dict[str, tuple]]  # choices: parameters with the rule `one_of`

    def __init_subclass__(cls, **more):
        """Do not inherit what plays faster, or other steps, along with steps or `start` anew."""
        super().__init_subclass__(**more)
        if "start" in vars(cls) and "steps" not in vars(cls):
            cls.steps = None
        if vars(cls).keys() & {"start", "steps"} and "fast_run" not in vars(cls):
            cls.fast_run = None
        cls.codes = {n: r.allowed for n, r in cls.rules.items() if hasattr(r, "allowed")}
        kinds: dict = {}
        for base in cls.__mro__[::-1]:
            kinds |= get_annotations(base)
        taken = (n for n, kind in kinds.items() if _is_number(kind) or n in cls.codes)
        names = [name for name in taken if name[0] != "_"]
        cls.Settings = namedtuple(f"{cls.__name__}Settings", names, module=cls.__module__)
        # numba stores a kernel with its types, which it finds by their names
        cls.Settings.__qualname__ = f"{cls.__qualname__}.Settings"
        # those of a dataclass fail for arrays
        if not {"__eq__", "__hash__"} & vars(cls).keys():
            cls.__eq__, cls.__hash__ = Algorithm.__eq__, Algorithm.__hash__  # type: ignore

    def __post_init__(self):
        super().__post_init__()
        for name in ("id", "label", "source"):
            if not isinstance(getattr(self, name, None), str):
                raise TypeError(f"{type(self).__name__} must define {name}, a string")
        of = f"runs_per_stream of {type(self).__name__}"
        checks.integer_in(1, checks.MAX_RUNS)(of, self.runs_per_stream)
        mistakes.check_class(type(self))

    def _content(self):
        values = [getattr(self, f.name) for f in fields(self) if f.compare]
        return [identity.encode(v) if isinstance(v, np.ndarray) else v for v in values]

    def __eq__(self, other):
        return self._content() == other._content() if type(self) is type(other) else NotImplemented

    def __hash__(self):
        return hash(tuple(self._content()))

    @property
    @abstractmethod
    def privacy(self) -> Privacy:
        """Return the guarantee for the sequence of actions."""

    def settings(self, horizon: int | None, actions: int, *experts: int) -> Any:
        """Return the parameters that the kernels take: a NamedTuple of numbers and arrays; of a
        choice the place among those that are allowed."""

        def number(name):
            value = getattr(self, name)
            return self.codes[name].index(value) if name in self.codes else value

        return self.Settings._make(map(number, self.Settings._fields))

    def run(self, problem: Any, checkpoints: Any, rng: Any, runs: int | None = None) -> np.ndarray:
        """Return what is played by each checkpoint, with the distribution of `play`.

        Parameters
        ----------
        problem : the kind of problem that the algorithm plays
        checkpoints : (H,) array of int
            Increasing rounds; the last one is the horizon.
        rng : int or numpy.random.Generator
        runs : int, optional
            Number of runs, made one after the other from `rng`, or from generators that are seeded
            from it. By default there is one run, and the result has no axis for it.

        Returns
        -------
        ([runs,] H, ...) array
            Pull counts in rounds 1..checkpoints[h] for each arm or group of actions, or the
            cumulative loss against an adversary. Pass it to `problem.regret`.

        Raises
        ------
        TypeError, ValueError
            If the problem is of another kind, or `checkpoints` do not increase or end too early;
            if a step of an algorithm of one's own fails or returns an arm that does not exist.

        Examples
        --------
        >>> from privregret.bandits import DPSE
        >>> from privregret.instances import HU2021_2
        >>> DPSE(0.5).run(HU2021_2, [5, 10], rng=1)
        array([[1, 1, 1, 1, 1],
               [2, 2, 2, 2, 2]])
        """
        number = 1 if runs is None else checks.positive_int("runs", runs)
        played = self.runner(problem, checkpoints)(number, np.random.default_rng(rng))
        return played[0] if runs is None else played

    def runner(self, problem: Any, checkpoints: Any) -> Callable:
        """Check the first arguments of `run` and return (runs, rng) -> (runs, H, ...)."""
        data, sizes = kernel_data(self, problem), problem.memory_sizes
        allowed = checks.checkpoints(problem.min_horizon, longest_run(self))
        checkpoints = allowed("checkpoints", checkpoints)
        if _plays_tables(self):
            once = partial(problem.play_counts, self.play, checkpoints)
            return lambda runs, rng: np.array([once(rng) for _ in range(runs)])
        if self.lanes:
            loop = partial(loops.run_in_lanes, self.lanes)
        else:
            loop = loops.repeat(type(self).fast_run or loops.rounds(self.templates, self.steps))
        settings = mistakes.settings_of(self, int(checkpoints[-1]), *sizes)

        def play(runs, rng):
            with mistakes.Explained(self, settings, sizes):
                return loop(data, checkpoints, settings, runs, rng)

        return play

    def tail_index(self, problem: Any) -> float:
        """Return the exponent of the power tail of regret, where it is known; else infinity."""
        return np.inf

    def play_checked(self, table: np.ndarray, rng: Any, *advice: np.ndarray) -> np.ndarray:
        """Return the actions of `play` on a table (and advice) that has been checked."""
        sizes = table.shape[1], *(a.shape[1] for a in advice)
        rng, templates, steps, settings = np.random.default_rng(rng), self.templates, self.steps, ()
        if steps:
            settings = mistakes.settings_of(self, len(table), *sizes)
            loop = loops.play(templates, steps)
        with mistakes.Explained(self, settings, sizes):
            if steps:
                return loop(table, settings, rng, *steps.memory(*sizes)[::-1], *advice)
            learner = self.start(sizes[0], rng, len(table), *sizes[1:])
            return loops.follow(learner, table, templates.row, *advice)


def _plays_tables(algorithm):
    """Return whether `run` plays tables, for want of steps."""
    return not (algorithm.lanes or type(algorithm).fast_run or algorithm.steps)


def longest_run(algorithm: Algorithm) -> int:
    """Return the largest horizon of a run."""
    most = checks.MAX_TABLE if _plays_tables(algorithm) else checks.MAX_HORIZON
    return min(algorithm.max_horizon, most)


def kernel_data(algorithm: Algorithm, problem: Any) -> Any:
    """Check the kind of a problem and return the data that the kernels take."""
    kind = algorithm.problem_type
    if not isinstance(problem, kind):
        found = f"{type(problem).__name__} {getattr(problem, 'name', '')}".strip()
        raise TypeError(f"{algorithm.label} needs a problem of type {kind.__name__}, got {found}")
    if not _plays_tables(algorithm):
        check_table(problem)
    return problem.kernel_data


def check_table(problem: Any) -> None:
    """TypeError for a problem with a table of its own, beside which it inherits `kernel_data`."""
    # the adversary of a problem with experts
    for played in (problem, getattr(problem, "adversary", None)):
        for kind in type(played).__mro__:
            if "kernel_data" in vars(kind):
                break
            if "table" in vars(kind):
                hint = "define kernel_data as well, or play tables by tables.regret_curves"
                raise TypeError(f"kernels do not play the table of {kind.__name__}: {hint}")
