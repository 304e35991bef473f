"""Oblivious adversaries and expert advice, with losses: smaller is better.

Both are constant on segments of rounds, so that no (T, K) table is needed, and an algorithm that
acts once per batch needs no step per round. A table has segments of one round.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from privregret.core import checks
from privregret.instances.problem import Problem, actions_of

SEVERAL = checks.integer_in(2, checks.MAX_SIZE)


class KernelData(NamedTuple):
    """What kernels take: S segments of losses, A of advice; without advice, an expert per arm."""

    loss_starts: np.ndarray  # (S,) first rounds
    losses: np.ndarray  # (S, K)
    bernoulli: bool  # whether losses are means of 0/1 losses
    advice_starts: np.ndarray  # (A,) first rounds
    rows: np.ndarray  # (A, D, K) distributions over the arms
    point: np.ndarray  # (A, D) the arm that a row names with certainty, or -1
    group: np.ndarray  # (A, N) each expert's row


def _starts(name, value):
    starts = np.atleast_1d(checks.array_of(value))
    from_0 = starts.ndim == 1 and len(starts) > 0 and starts[0] == 0
    if starts.dtype.kind not in "iu" or not from_0 or (np.diff(starts) <= 0).any():
        shown = checks.shown(value)
        raise ValueError(f"{name} must hold increasing whole numbers from 0, got {shown}")
    return starts.astype(np.int64)


def _distributions(name, value):
    rows = checks.array_in(0, 1, shape=3)("advice", value)
    sums = rows.sum(axis=2)
    wrong = sums[np.abs(sums - 1) > 1e-9]
    if len(wrong):
        raise ValueError(f"advice must hold distributions over the arms, got a sum of {wrong[0]:g}")
    return rows


def _groups(name, value):
    group = np.ascontiguousarray(value)
    if group.dtype.kind not in "iu" or group.ndim != 2 or len(group) == 0 or group.shape[1] < 2:
        shape = f"shape {group.shape} of {group.dtype}"
        raise ValueError(f"{name} must have shape (A, N), N >= 2, whole numbers, got {shape}")
    return group.astype(np.int16 if group.min() >= 0 and group.max() < 2**15 else np.int64)


def _one_a_segment(starts, segments, name="starts"):
    """Check that there is one first round, or another entry, for each segment."""
    if len(starts) != segments:
        raise ValueError(f"{name} must have length {segments}, one per segment, got {len(starts)}")


def _segment(starts, rounds):
    """Return the segment that each of `rounds` (from 0) is in."""
    return np.searchsorted(starts, rounds, side="right") - 1


class _Oblivious(Problem):
    """Losses fixed in advance; what counts is the (H,) cumulative (mean) loss played."""

    @abstractmethod
    def comparators(self, rounds: Sequence[int] | np.ndarray) -> np.ndarray: ...

    def _paid(self, actions, means, checkpoints):
        """Return (H,) cumulative (mean) losses of the actions of each round."""
        actions = actions_of(actions, len(means), self.memory_sizes[0])
        return means[np.arange(len(means)), actions].cumsum()[checkpoints - 1]

    def regret(self, played: ArrayLike, rounds: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return (..., H) regret of (..., H) cumulative losses in rounds 1..rounds[h].

        The comparator is the best one in each of these ranges of rounds.
        """
        played = np.asarray(played)
        if played.dtype.kind not in "fiu" or played.shape[-1:] != (len(rounds),):
            shape = f"shape {played.shape} of {played.dtype}"
            raise TypeError(
                f"run must return (..., {len(rounds)}) numbers, cumulative losses, got {shape}"
            )
        if not np.isfinite(played).all():
            wrong = played[~np.isfinite(played)][0]
            raise ValueError(f"run must return finite cumulative losses, got {wrong}")
        key = np.asarray(rounds, np.int64).tobytes()
        # computed once for all runs
        if key not in self._best:
            self._best[key] = self.comparators(rounds).min(axis=1)
        return played - self._best[key]

    @cached_property
    def _best(self) -> dict:
        """Cache the smallest cumulative loss of the comparators at requested rounds."""
        return {}


@dataclass(frozen=True, eq=False)
class Adversary(_Oblivious):
    """Oblivious adversary: K losses in [0, 1] per round, constant on segments of rounds.

    Parameters
    ----------
    name : str
        Name in tables and figures.
    starts : (S,) increasing ints, the first 0
        First round of each segment, from 0. The last segment never ends.
    losses : (S, K) array
        Losses in [0, 1], one row per segment; K >= 2.
    bernoulli : bool
        If true, `losses` are means: each round's losses are independent 0/1 draws, fresh in every
        replicate, and regret is pseudo-regret.

    Examples
    --------
    >>> adversary = Adversary("drop", [0, 2], [[0.5, 1.0], [0.5, 0.0]])
    >>> adversary.table(4).round(4)
    array([[0.5, 1. ],
           [0.5, 1. ],
           [0.5, 0. ],
           [0.5, 0. ]])
    """

    name: str
    starts: np.ndarray
    losses: np.ndarray
    bernoulli: bool = False
    rules = {"name": checks.text, "losses": partial(checks.table, short=True)}
    rules |= {"starts": _starts, "bernoulli": checks.boolean}

    def __post_init__(self):
        super().__post_init__()
        _one_a_segment(self.starts, len(self.losses))

    def __repr__(self):
        return f"Adversary({self.name!r}, {len(self.starts)} segments, {self.arms} arms)"

    @property
    def arms(self) -> int:
        """Return the number K of arms."""
        return self.losses.shape[1]

    @property
    def distribution(self) -> tuple:
        return "adversary", self.starts, self.losses, self.bernoulli

    def play_counts(self, play: Callable, checkpoints: np.ndarray, rng: Any) -> np.ndarray:
        horizon = int(checkpoints[-1])
        return self._paid(play(self.table(horizon, rng), rng), self.means(horizon), checkpoints)

    def means(self, horizon: int) -> np.ndarray:
        """Return (horizon, K) losses, or their means for a Bernoulli adversary."""
        return self.losses[_segment(self.starts, np.arange(horizon))]

    def table(self, horizon: int, rng: int | np.random.Generator | None = None) -> np.ndarray:
        """Return a (horizon, K) table of losses.

        A Bernoulli adversary needs `rng`, a seed or a generator, to draw them from.
        """
        means = self.means(horizon)
        if not self.bernoulli:
            return means
        if rng is None:
            raise TypeError("rng must be a seed or a generator for Bernoulli losses, got None")
        return (np.random.default_rng(rng).random(means.shape) < means).astype(float)

    def comparators(self, rounds: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return the (H, K) cumulative (mean) loss of each arm after `rounds`."""
        before = np.zeros_like(self.losses)
        np.cumsum(self.losses[:-1] * np.diff(self.starts)[:, None], axis=0, out=before[1:])
        s = _segment(self.starts, np.asarray(rounds) - 1)
        return before[s] + (np.asarray(rounds) - self.starts[s])[:, None] * self.losses[s]

    @cached_property
    def kernel_data(self) -> KernelData:
        return self.advised(Advice.of_arms(np.arange(self.arms), self.arms))

    def advised(self, advice: "Advice") -> KernelData:
        """Return what kernels take of these losses and that advice."""
        point = np.where(advice.rows.max(axis=2) == 1, advice.rows.argmax(axis=2), -1)
        losses = self.starts, self.losses, self.bernoulli
        return checks.read_only(
            KernelData(*losses, advice.starts, advice.rows, point, advice.group)
        )


@dataclass(frozen=True, eq=False)
class Advice(checks.Validated):
    """Advice of N experts: distributions over K arms, constant on segments.

    Experts who recommend the same distribution in a segment share a row: a thousand experts who
    each name one of four arms need four rows.

    Parameters
    ----------
    name : str
        Name in tables and figures.
    starts : (A,) increasing ints, the first 0
        First round of each segment, from 0.
    rows : (A, D, K) array
        Distributions over the arms, whose sums are 1 within 1e-9.
    group : (A, N) ints in [0, D)
        Row of each expert; N >= 2.
    """

    name: str
    starts: np.ndarray
    rows: np.ndarray
    group: np.ndarray
    rules = {"name": checks.text, "rows": _distributions, "group": _groups, "starts": _starts}

    def __post_init__(self):
        super().__post_init__()
        segments, distinct, _ = self.rows.shape
        _one_a_segment(self.starts, segments)
        _one_a_segment(self.group, segments, "group")
        if self.group.min() < 0 or self.group.max() >= distinct:
            raise ValueError(
                f"group must lie in [0, {distinct}), got {self.group.min()} to {self.group.max()}"
            )

    def __repr__(self):
        return f"Advice({self.name!r}, {len(self.starts)} segments, {self.experts} experts)"

    @property
    def experts(self) -> int:
        """Return the number N of experts."""
        return self.group.shape[1]

    def dense(self, horizon: int) -> np.ndarray:
        """Return the (horizon, N, K) distribution of each expert in each round.

        If none ever changes, the shape is (1, N, K).
        """
        segment = _segment(self.starts, np.arange(horizon if len(self.starts) > 1 else 1))
        return np.ascontiguousarray(self.rows[segment[:, None], self.group[segment]])

    @classmethod
    def of_table(cls, advice: ArrayLike) -> "Advice":
        """Return advice from a (T, N, K) table of distributions, or (N, K) if constant."""
        rows = np.asarray(advice, dtype=float)
        rows = rows[None] if rows.ndim == 2 else rows
        if rows.ndim != 3:
            raise ValueError(f"advice must have shape (T, N, K) or (N, K), got shape {rows.shape}")
        each_its_own = np.tile(np.arange(rows.shape[1]), (len(rows), 1))
        return cls("table", np.arange(len(rows)), rows, each_its_own)

    @classmethod
    def of_arms(
        cls,
        recommended: ArrayLike,
        arms: int,
        starts: Sequence[int] | np.ndarray = (0,),
        name: str = "arms",
    ) -> "Advice":
        """Return advice in which expert j names arm recommended[a, j] throughout segment a."""
        recommended = np.atleast_2d(recommended)
        return cls(name, starts, np.tile(np.eye(arms), (len(recommended), 1, 1)), recommended)


@dataclass(frozen=True, eq=False)
class ExpertProblem(_Oblivious):
    """An adversary with experts, who are the comparators."""

    adversary: Adversary
    advice: Advice
    rules = {"adversary": checks.instance_of(Adversary), "advice": checks.instance_of(Advice)}

    def __post_init__(self):
        super().__post_init__()
        advised = self.advice.rows.shape[2]
        if self.adversary.arms != advised:
            raise ValueError(
                f"advice must have {self.adversary.arms} arms, as the adversary has, got {advised}"
            )

    @property
    def name(self) -> str:
        return f"{self.adversary.name}, {self.advice.name}"

    @property
    def arms(self) -> int:
        """Return the number K of arms."""
        return self.adversary.arms

    @property
    def distribution(self) -> tuple:
        advice = self.advice
        return "experts", self.adversary.distribution, advice.starts, advice.rows, advice.group

    @property
    def memory_sizes(self) -> tuple[int, int]:
        return self.adversary.arms, self.advice.experts

    def play_counts(self, play: Callable, checkpoints: np.ndarray, rng: Any) -> np.ndarray:
        # `play` also takes the advice
        horizon = int(checkpoints[-1])
        actions = play(self.table(horizon, rng), self.advice, rng)
        return self._paid(actions, self.adversary.means(horizon), checkpoints)

    def table(self, horizon: int, rng: int | np.random.Generator | None = None) -> np.ndarray:
        """Return a (horizon, K) table of losses, as for the adversary."""
        return self.adversary.table(horizon, rng)

    def comparators(self, rounds: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return the (H, N) cumulative (mean) loss of each expert after `rounds`."""
        rounds = np.asarray(rounds)
        edges = np.unique(np.concatenate([self.adversary.starts, self.advice.starts, rounds]))
        edges = edges[edges <= rounds[-1]]
        total, result = np.zeros(self.advice.experts), np.empty((len(rounds), self.advice.experts))
        a, s = (_segment(x.starts, edges) for x in (self.advice, self.adversary))
        for c in range(len(edges) - 1):
            row_loss = self.advice.rows[a[c]] @ self.adversary.losses[s[c]]
            total += (edges[c + 1] - edges[c]) * row_loss[self.advice.group[a[c]]]
            result[np.flatnonzero(rounds == edges[c + 1])] = total
        return result

    @cached_property
    def kernel_data(self) -> KernelData:
        return self.adversary.advised(self.advice)


@checks.validate(arms=SEVERAL, gap=checks.number_in(0, 1))
def gap_adversary(arms: int, gap: float, bernoulli: bool = False) -> Adversary:
    """Return K = `arms` >= 2 losses, 1/2 - gap/2 for one arm and 1/2 + gap/2 for the others.

    The losses are constant, or 0/1 draws with these means; `gap` is in [0, 1].
    """
    losses = np.full((1, arms), 0.5 + gap / 2)
    losses[0, 0] = 0.5 - gap / 2
    return Adversary(f"{'Bernoulli ' if bernoulli else ''}gap {gap:g}", [0], losses, bernoulli)


@checks.validate(arms=SEVERAL, drop=checks.nonnegative_int)
def improving_arm(arms: int, drop: int) -> Adversary:
    """Return an adversary whose arm 2 loses 1 until round `drop`, then 0; arm 1 1/2, others 1."""
    losses = np.ones((2, arms))
    losses[:, 0] = 0.5
    losses[1, 1] = 0.0
    name = f"drop at {drop}"
    return Adversary(name, [0, drop], losses) if drop > 0 else Adversary(name, [0], losses[1:])


@checks.validate(drop=checks.nonnegative_int)
def lemma_11_pair(drop: int) -> tuple[Adversary, Adversary]:
    """Return the pair of adversaries of asi2025, Section 5.2.

    Arm 1 loses 1/2 and arm 2 loses 1; in the second adversary arm 2 loses 0 after round `drop`.
    """
    return Adversary("no drop", [0], [[0.5, 1.0]]), improving_arm(2, drop)


@checks.validate(arms=SEVERAL, gap=checks.number_in(0, 1), horizon=checks.positive_int)
def stochastically_constrained(arms: int, gap: float, horizon: int) -> Adversary:
    """Return phases of lengths 1.6^m with a base level of 0 or 1 - gap in turn.

    All arms except the first lose `gap`, in [0, 1], more. Losses jump, the best arm does not:
    regret is never negative.
    """
    lengths = np.ceil(1.6 ** np.arange(1, 2 + np.log(horizon) / np.log(1.6)))
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    starts = starts[starts < horizon].astype(np.int64)
    losses = np.full((len(starts), arms), float(gap))
    losses[:, 0] = 0.0
    losses[1::2] += 1 - gap
    return Adversary(f"stochastically constrained, gap {gap:g}", starts, losses)


@checks.validate(arms=SEVERAL, horizon=checks.positive_int)
def switching(arms: int, segments: int, horizon: int) -> Adversary:
    """Return 1 to `horizon` (at most 10^6) equal segments: the arms take turns to be best.

    The best arm loses 0, the others 1. Regret may be very negative.
    """
    segments = checks.integer_in(1, min(horizon, checks.MAX_SIZE))("segments", segments)
    # in Python integers, which do not overflow
    starts = [s * horizon // segments for s in range(segments)]
    losses = np.ones((segments, arms))
    losses[np.arange(segments), np.arange(segments) % arms] = 0.0
    return Adversary(f"{segments} switches", starts, losses)


def exp3_leakage_pair() -> tuple[Adversary, Adversary]:
    """Return the pair of adversaries of asi2025, Figure 1.

    All losses are 1 from the second round on; in the first round they are (1, 0) or (1, 1).
    """
    changed = Adversary("first losses (1, 0)", [0, 1], [[1, 0], [1, 1]])
    return changed, Adversary("first losses (1, 1)", [0], [[1, 1]])


@checks.validate(experts=SEVERAL, arms=SEVERAL)
def fixed_experts(experts: int, arms: int) -> Advice:
    """Return advice in which expert j always names arm j mod K: the plain bandit."""
    return Advice.of_arms(np.arange(experts) % arms, arms, name=f"{experts} fixed experts")


@checks.validate(
    adversary=checks.instance_of(Adversary),
    experts=SEVERAL,
    horizon=checks.positive_int,
    block=checks.positive_int,
    seed=checks.seed,
)
def tracking_experts(
    adversary: Adversary, experts: int, horizon: int, block: int, seed: int
) -> Advice:
    """Return advice whose first expert names the best arm, the others a random one per block."""
    starts = np.union1d(np.arange(0, horizon, block), adversary.starts[adversary.starts < horizon])
    named = np.random.default_rng(seed).integers(adversary.arms, size=(len(starts), experts))
    named[:, 0] = adversary.losses[_segment(adversary.starts, starts)].argmin(axis=1)
    return Advice.of_arms(named, adversary.arms, starts, f"{experts} experts, one tracks")
