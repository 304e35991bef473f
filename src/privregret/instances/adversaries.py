"""Oblivious adversaries and expert advice. Losses: smaller is better.

Both are constant on segments of rounds, so that no (T, K) table need be held and an algorithm that acts once in a
batch needs no step per round; a table is the case of segments of one round.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privregret import checks


def _starts(name, value, segments):
    starts = np.atleast_1d(np.asarray(value))
    if starts.dtype.kind not in "iu" or starts.shape != (segments,) or starts[0] != 0 or (np.diff(starts) <= 0).any():
        raise ValueError(f"{name} must hold {segments} increasing whole numbers from 0, got {value!r}")
    return starts.astype(np.int64)


def _segment(starts, rounds):
    """Which segment each of `rounds` (from 0) is in."""
    return np.searchsorted(starts, rounds, side="right") - 1


@dataclass(frozen=True, eq=False)
class Adversary:
    """Oblivious adversary: K losses in [0, 1] for every round, fixed in advance, constant on segments of
    rounds.

    Parameters
    ----------
    name : str
        How tables and figures call it.
    starts : (S,) increasing ints, the first 0
        First round of each segment, from 0. The last segment goes on for ever.
    losses : (S, K) array
        Losses in [0, 1], one row a segment; K >= 2.
    bernoulli : bool
        If true, `losses` are means: each round's losses are independent 0/1 draws, made anew in every
        replicate, and regret is pseudo-regret.

    Raises
    ------
    ValueError
        If starts or losses are not as above (a nan included).
    """

    name: str
    starts: np.ndarray
    losses: np.ndarray
    bernoulli: bool = False

    def __post_init__(self):
        losses = checks.entries("losses", self.losses, 2)
        if losses.shape[1] < 2:
            raise ValueError(f"losses must have at least 2 arms, got shape {losses.shape}")
        object.__setattr__(self, "losses", losses)
        object.__setattr__(self, "starts", _starts("starts", self.starts, len(losses)))

    def __repr__(self):
        return f"Adversary({self.name!r}, {len(self.starts)} segments, {self.arms} arms)"

    @property
    def arms(self) -> int:
        return self.losses.shape[1]

    @property
    def choices(self) -> int:
        """Number of comparators: the arms."""
        return self.arms

    @cached_property
    def law(self) -> str:
        """Names the losses, whatever the instance is called: what a replicate's random stream depends on."""
        parts = (self.starts.tobytes(), self.losses.tobytes(), str(self.bernoulli).encode())
        return hashlib.sha256(b"\0".join(parts)).hexdigest()

    def table(self, horizon: int, rng: np.random.Generator | None = None) -> np.ndarray:
        """(horizon, K) table of losses; a Bernoulli adversary needs the generator to draw them from."""
        means = self.losses[_segment(self.starts, np.arange(horizon))]
        return (rng.random(means.shape) < means).astype(float) if self.bernoulli else means

    def comparators(self, rounds) -> np.ndarray:
        """(H, K) cumulative (mean) loss of each arm after each of the (H,) `rounds`."""
        before = np.zeros_like(self.losses)
        np.cumsum(self.losses[:-1] * np.diff(self.starts)[:, None], axis=0, out=before[1:])
        s = _segment(self.starts, np.asarray(rounds) - 1)
        return before[s] + (np.asarray(rounds) - self.starts[s])[:, None] * self.losses[s]

    @cached_property
    def tables(self):
        """What kernels take: losses, and advice that makes choice j arm j."""
        return self.losses_and(Advice("arms", [0], np.eye(self.arms)[None], np.arange(self.arms)[None]))

    def losses_and(self, advice):
        point = np.where(advice.rows.max(axis=2) == 1, advice.rows.argmax(axis=2), -1)
        return self.starts, self.losses, bool(self.bernoulli), advice.starts, advice.rows, point, advice.group


@dataclass(frozen=True, eq=False)
class Advice:
    """What N experts recommend: distributions over K arms, constant on segments of rounds.

    Experts who recommend the same distribution in a segment share a row: a thousand experts who each name one
    of four arms need four rows.

    Parameters
    ----------
    name : str
    starts : (A,) increasing ints, the first 0
        First round of each segment, from 0.
    rows : (A, D, K) array
        Distributions over the arms.
    group : (A, N) ints in [0, D)
        Which row is each expert's; N >= 2.

    Raises
    ------
    ValueError
        If shapes do not fit or a row is not a distribution.
    """

    name: str
    starts: np.ndarray
    rows: np.ndarray
    group: np.ndarray

    def __post_init__(self):
        rows = checks.entries("advice", self.rows, 3)
        if np.abs(rows.sum(axis=2) - 1).max() > 1e-9:
            raise ValueError(
                f"advice must be distributions over the arms, got one that sums to {rows.sum(axis=2).min():g}"
            )
        group = np.ascontiguousarray(self.group)
        if group.dtype.kind not in "iu" or group.ndim != 2 or len(group) != len(rows) or group.shape[1] < 2:
            raise ValueError(f"group must have shape ({len(rows)}, N), N >= 2, whole numbers, got shape {group.shape}")
        if group.min() < 0 or group.max() >= rows.shape[1]:
            raise ValueError(f"group must lie in [0, {rows.shape[1]}), got {group.min()} to {group.max()}")
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "group", group.astype(np.int16 if rows.shape[1] < 2**15 else np.int64))
        object.__setattr__(self, "starts", _starts("starts", self.starts, len(rows)))

    def __repr__(self):
        return f"Advice({self.name!r}, {len(self.starts)} segments, {self.experts} experts)"

    @property
    def experts(self) -> int:
        return self.group.shape[1]

    @classmethod
    def of_table(cls, advice, name: str = "table"):
        """From a (T, N, K) table of distributions, or (N, K) if they never change."""
        rows = np.asarray(advice, dtype=float)
        rows = rows[None] if rows.ndim == 2 else rows
        if rows.ndim != 3:
            raise ValueError(f"advice must have shape (T, N, K) or (N, K), got shape {rows.shape}")
        return cls(name, np.arange(len(rows)), rows, np.tile(np.arange(rows.shape[1]), (len(rows), 1)))

    @classmethod
    def of_arms(cls, recommended, arms: int, starts=(0,), name: str = "arms"):
        """From an (A, N) table of arms: expert j names arm recommended[a, j] all through segment a."""
        recommended = np.atleast_2d(recommended)
        return cls(name, starts, np.tile(np.eye(arms), (len(recommended), 1, 1)), recommended)


@dataclass(frozen=True, eq=False)
class ExpertProblem:
    """An adversary and the experts who advise against it; the comparators are the experts."""

    adversary: Adversary
    advice: Advice

    def __post_init__(self):
        if self.adversary.arms != self.advice.rows.shape[2]:
            raise ValueError(
                f"advice is about {self.advice.rows.shape[2]} arms, the adversary has {self.adversary.arms}"
            )

    @property
    def name(self) -> str:
        return f"{self.adversary.name}, {self.advice.name}"

    @property
    def choices(self) -> int:
        """Number of comparators: the experts."""
        return self.advice.experts

    @cached_property
    def law(self) -> str:
        """As of an adversary."""
        parts = (
            self.adversary.law.encode(),
            *(a.tobytes() for a in (self.advice.starts, self.advice.rows, self.advice.group)),
        )
        return hashlib.sha256(b"\0".join(parts)).hexdigest()

    def comparators(self, rounds) -> np.ndarray:
        """(H, N) cumulative (mean) loss of each expert after each of the (H,) `rounds`."""
        rounds = np.asarray(rounds)
        edges = np.unique(np.concatenate([self.adversary.starts, self.advice.starts, rounds]))
        edges = edges[edges <= rounds[-1]]
        total, result = np.zeros(self.choices), np.empty((len(rounds), self.choices))
        a, s = (_segment(x.starts, edges) for x in (self.advice, self.adversary))
        for c in range(len(edges) - 1):
            row_loss = self.advice.rows[a[c]] @ self.adversary.losses[s[c]]
            total += (edges[c + 1] - edges[c]) * row_loss[self.advice.group[a[c]]]
            result[np.flatnonzero(rounds == edges[c + 1])] = total
        return result

    @cached_property
    def tables(self):
        """What kernels take."""
        return self.adversary.losses_and(self.advice)


def gap_adversary(arms: int, gap: float, bernoulli: bool = False, best: int = 0) -> Adversary:
    """One arm of loss 1/2 - gap/2, all others 1/2 + gap/2, in every round (or 0/1 draws with these means)."""
    gap = checks.number("gap", gap, 0, 1)
    losses = np.full((1, arms), 0.5 + gap / 2)
    losses[0, best] = 0.5 - gap / 2
    return Adversary(f"{'Bernoulli ' if bernoulli else ''}gap {gap:g}", [0], losses, bernoulli)


def minimax_gap(arms: int, horizon: int, epsilon: float, multiple: float = 1.0) -> Adversary:
    """`gap_adversary` with the gap multiple sqrt(K / (epsilon T)), at most 1/2: hard for every horizon and
    epsilon.
    """
    return gap_adversary(arms, min(0.5, multiple * np.sqrt(arms / (epsilon * horizon))))


def riser(arms: int, drop: int) -> Adversary:
    """Arm 1 always loses 1/2; arm 2 loses 1 until round `drop`, 0 from then on; the others always 1."""
    losses = np.ones((2, arms))
    losses[:, 0] = 0.5
    losses[1, 1] = 0.0
    name = f"drop at {drop}"
    return Adversary(name, [0, drop], losses) if drop > 0 else Adversary(name, [0], losses[1:])


def lemma_11_pair(drop: int) -> tuple[Adversary, Adversary]:
    """asi2025, Section 5.2: arm 1 loses 1/2, arm 2 loses 1; in the second of the pair 0 after round `drop`."""
    return Adversary("no drop", [0], [[0.5, 1.0]]), riser(2, drop)


def stochastically_constrained(arms: int, gap: float, horizon: int, ratio: float = 1.6) -> Adversary:
    """Phases of lengths ratio^m whose base level alternates between 0 and 1 - gap; all arms but the first
    lose gap more.

    Losses jump, the best arm does not: regret is never negative.
    """
    lengths = np.ceil(ratio ** np.arange(1, 2 + np.log(horizon) / np.log(ratio))).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    starts = starts[starts < horizon]
    losses = np.full((len(starts), arms), float(gap))
    losses[:, 0] = 0.0
    losses[1::2] += 1 - gap
    return Adversary(f"stochastically constrained, gap {gap:g}", starts, losses)


def switching(arms: int, segments: int, horizon: int, gap: float = 1.0) -> Adversary:
    """Equal segments in which the arms take turns to be best (loss 0, the others `gap`). Regret may be very
    negative.
    """
    starts = np.arange(segments) * horizon // segments
    losses = np.full((segments, arms), float(gap))
    losses[np.arange(segments), np.arange(segments) % arms] = 0.0
    return Adversary(f"{segments} switches", starts, losses)


def drifting(arms: int, horizon: int, steps: int = 4096) -> Adversary:
    """Slow waves out of phase, four periods in all, in steps; the first arm is 0.05 better. Regret may be
    negative.
    """
    steps = min(steps, horizon)
    starts = np.arange(steps) * horizon // steps
    phase = 4 * starts[:, None] / horizon + np.arange(arms) / arms
    losses = 0.5 + 0.4 * np.sin(2 * np.pi * phase) + 0.05 * (np.arange(arms) > 0)
    return Adversary("drift", starts, losses.clip(0, 1))


def all_equal(arms: int, loss: float = 0.5) -> Adversary:
    """Every arm loses the same: regret is 0 whatever one does."""
    return Adversary("all equal", [0], np.full((1, arms), loss))


def parity(horizon: int) -> Adversary:
    """Two arms that take turns, round by round, to lose 1: averages over an even batch show no difference."""
    return Adversary("parity", np.arange(horizon), np.arange(horizon)[:, None] % 2 == [1, 0])


def exp3_leakage_pair() -> tuple[Adversary, Adversary]:
    """asi2025, Figure 1: all losses 1 from the second round on; in the first, (1, 0) or (1, 1)."""
    return Adversary("first losses (1, 0)", [0, 1], [[1, 0], [1, 1]]), Adversary("first losses (1, 1)", [0], [[1, 1]])


def fixed_experts(experts: int, arms: int) -> Advice:
    """Expert j always names arm j mod K: the plain bandit, each arm with N / K copies."""
    return Advice.of_arms(np.arange(experts) % arms, arms, name=f"{experts} fixed experts")


def random_experts(experts: int, arms: int, horizon: int, block: int, seed: int) -> Advice:
    """Every expert names a uniformly random arm, afresh in each block of rounds."""
    starts = np.arange(0, horizon, block)
    named = np.random.default_rng(seed).integers(arms, size=(len(starts), experts))
    return Advice.of_arms(named, arms, starts, f"{experts} random experts")


def tracking_experts(
    adversary: Adversary, experts: int, horizon: int, block: int, seed: int, skill: float = 1.0
) -> Advice:
    """`random_experts`, but the first names the arm that is best right now with probability 1/K + skill (1 -
    1/K).
    """
    starts = np.union1d(np.arange(0, horizon, block), adversary.starts[adversary.starts < horizon])
    rng = np.random.default_rng(seed)
    named = rng.integers(adversary.arms, size=(len(starts), experts))
    best = adversary.losses[_segment(adversary.starts, starts)].argmin(axis=1)
    named[:, 0] = np.where(rng.random(len(starts)) < skill, best, named[:, 0])
    return Advice.of_arms(named, adversary.arms, starts, f"{experts} experts, one tracks")


def clustered_experts(experts: int, arms: int, clusters: int, horizon: int, block: int, seed: int) -> Advice:
    """Experts in groups who always agree: expert j does what `random_experts` number j mod clusters does."""
    leaders = random_experts(max(clusters, 2), arms, horizon, block, seed)
    named = leaders.group[:, np.arange(experts) % clusters]
    return Advice.of_arms(named, arms, leaders.starts, f"{experts} experts in {clusters} clusters")


def dirichlet_experts(experts: int, arms: int, horizon: int, block: int, seed: int, blur: float = 0.5) -> Advice:
    """Every expert names a random arm with weight 1 - blur and a uniformly random distribution with weight
    blur.
    """
    starts = np.arange(0, horizon, block)
    rng = np.random.default_rng(seed)
    named = np.eye(arms)[rng.integers(arms, size=(len(starts), experts))]
    rows = (1 - blur) * named + blur * rng.dirichlet(np.ones(arms), size=(len(starts), experts))
    group = np.tile(np.arange(experts), (len(starts), 1))
    return Advice(f"{experts} blurred experts", starts, rows, group)


def one_dissenter(experts: int, arms: int) -> Advice:
    """Expert 1 names arm 1, all others arm 2: once expert 1 holds the weight, arm 2's loss moves N - 1 scores
    the most.
    """
    return Advice.of_arms((np.arange(experts) > 0).astype(int), arms, name=f"{experts} experts, one dissents")
