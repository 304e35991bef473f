"""Stochastic losses with full information: smaller is better.

Equal actions form groups, so that an instance may have more actions than fit into memory.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from privregret.core import checks
from privregret.instances.problem import Problem


def _counts(name, value):
    if not isinstance(value, (list, tuple, np.ndarray)):
        raise TypeError(f"{name} must be a list of whole numbers, got {checks.shown(value)}")
    return [checks.positive_int(name, count) for count in value]


class Losses(NamedTuple):
    """What kernels take of `StochasticLosses`."""

    outcomes: np.ndarray  # (M, G)
    probabilities: np.ndarray  # (M,)
    counts: np.ndarray  # (G,) actions in each group
    bits: bool


@dataclass(frozen=True)
class StochasticLosses(Problem):
    """Losses of all actions: in each round one of a few outcomes, independently.

    An outcome is one loss for each *group* of equal actions. With `bits`, every action of the group
    then suffers an independent Bernoulli loss of that mean; without, all actions of the group
    suffer exactly that loss. So one outcome with bits is the model of independent Bernoulli losses,
    one outcome without bits is deterministic, and several outcomes are losses with a joint
    distribution, dependent between the groups.

    Parameters
    ----------
    name : str
        Name in tables and figures.
    outcomes : tuple of tuples of float
        (M, G): the loss of each group in each outcome, in [0, 1].
    log_counts : tuple of float
        (G,): natural logarithm of the number of actions in each group; 0 for a single action. There
        are at least two actions in all.
        Groups that are too large to simulate (more than 10^7 actions) are for `exact` only.
    probabilities : tuple of float
        (M,): probabilities of the outcomes; they sum to 1.
    bits : bool
        Whether actions suffer Bernoulli losses, see above.
    source : str
        Source of the instance (paper key and place).

    Examples
    --------
    >>> coupled = StochasticLosses("coupled", ((0, 1), (1, 0)), (0.0, 0.0), (0.6, 0.4))
    >>> coupled.means, coupled.gaps
    (array([0.4, 0.6]), array([0. , 0.2]))
    """

    name: str = field(repr=False)
    outcomes: tuple[tuple[float, ...], ...]
    log_counts: tuple[float, ...]
    probabilities: tuple[float, ...] = (1.0,)
    bits: bool = False
    source: str = field(default="", compare=False, repr=False)

    rules = {
        "name": checks.text,
        "outcomes": lambda _, value: tuple(
            map(tuple, checks.array_in(0, 1, shape=2)("losses", value).tolist())
        ),
        "log_counts": lambda *of: tuple(checks.array_in(0, 1e6, shape=1)(*of).tolist()),
        "probabilities": lambda *of: tuple(checks.array_in(0, 1, shape=1)(*of).tolist()),
        "bits": checks.boolean,
    }

    def __post_init__(self):
        super().__post_init__()
        shape = len(self.probabilities), len(self.log_counts)
        if np.shape(self.outcomes) != shape:
            raise ValueError(f"outcomes must have shape {shape}, got {np.shape(self.outcomes)}")
        if len(self.log_counts) == 1 and self.log_counts[0] < math.log(2):
            raise ValueError(f"log_counts must give at least 2 actions, got {self.arms:g}")
        if abs(sum(self.probabilities) - 1) > 1e-12:
            raise ValueError(f"probabilities must sum to 1, got {sum(self.probabilities)}")

    @property
    def distribution(self) -> tuple:
        return "stochastic losses", self.outcomes, self.log_counts, self.probabilities, self.bits

    @property
    def memory_sizes(self) -> tuple[int]:
        return (int(self.counts.sum()),)

    @property
    def arms(self) -> int:
        """Return the number of groups: all actions of a group count as one arm."""
        return len(self.log_counts)

    @cached_property
    def kernel_data(self) -> Losses:
        outcomes, probabilities = np.array(self.outcomes), np.array(self.probabilities)
        return checks.read_only(Losses(outcomes, probabilities, self.counts, self.bits))

    @property
    def means(self) -> np.ndarray:
        """Return the (G,) mean loss of an action of each group."""
        return np.array(self.probabilities) @ np.array(self.outcomes)

    @property
    def gaps(self) -> np.ndarray:
        """Return (G,) gaps to the smallest mean loss; 0 for every best group."""
        return self.means - self.means.min()

    @property
    def log_actions(self) -> float:
        """Return the natural logarithm of the number K of actions."""
        return float(np.logaddexp.reduce(self.log_counts))

    @property
    def counts(self) -> np.ndarray:
        """Return the (G,) numbers of actions; more than 10^7 in all raise a ValueError."""
        if self.log_actions > math.log(1.01e7):
            raise ValueError(
                f"e^{self.log_actions:.1f} actions are too many to simulate: use privregret.exact"
            )
        return np.exp(self.log_counts).round().astype(np.int64)

    def table(self, horizon: int, rng: int | np.random.Generator) -> np.ndarray:
        """Return a (horizon, K) table of losses, groups in order; `rng`: seed or generator."""
        rng = np.random.default_rng(rng)
        drawn = rng.choice(len(self.outcomes), size=horizon, p=self.probabilities)
        table = np.repeat(np.array(self.outcomes), self.counts, axis=1)[drawn]
        return (rng.random(table.shape) < table).astype(float) if self.bits else table

    def play_counts(self, play: Callable, checkpoints: np.ndarray, rng: Any) -> np.ndarray:
        plays = super().play_counts(play, checkpoints, rng)
        return np.add.reduceat(plays, np.cumsum(self.counts) - self.counts, axis=1)


def bernoulli_losses(
    means: ArrayLike,
    counts: Sequence[int] | None = None,
    log_counts: Sequence[float] | None = None,
    name: str = "Bernoulli losses",
    source: str = "",
) -> StochasticLosses:
    """Return independent Bernoulli losses, in groups of given means.

    Parameters
    ----------
    means : sequence of float
        Mean loss of each group, in [0, 1].
    counts : sequence of int, optional
        Actions in each group; by default one.
    log_counts : sequence of float, optional
        Their logarithms, in place of `counts`.
    name, source : str
        As in `StochasticLosses`.

    Examples
    --------
    >>> round(bernoulli_losses((0.25, 0.75), counts=(1, 9)).log_actions, 3)
    2.303
    """
    means = checks.array_in(0, 1, shape=1)("means", means)
    if log_counts is None:
        log_counts = np.zeros(len(means)) if counts is None else np.log(_counts("counts", counts))
    return StochasticLosses(name, (tuple(means),), log_counts, bits=True, source=source)


def deterministic_losses(
    means: ArrayLike,
    counts: Sequence[int] | None = None,
    log_counts: Sequence[float] | None = None,
    name: str = "deterministic losses",
    source: str = "",
) -> StochasticLosses:
    """Return losses that equal their means in every round; parameters as in `bernoulli_losses`."""
    return replace(bernoulli_losses(means, counts, log_counts, name, source), bits=False)


@checks.validate(actions=checks.integer_in(2, checks.MAX_HORIZON), gap=checks.number_in(0, 0.5))
def packing(actions: int, gap: float) -> StochasticLosses:
    """Return the instance of hu2021's Theorem 10: one action is better by `gap`, in [0, 1/2].

    All other losses are fair coins. In hu2021's rewards the good action has mean 1/2 + gap, so its
    loss is 1/2 - gap. This is also equal-gap DTOL.
    """
    name, source = f"packing, K = {actions}, gap {gap:g}", "hu2021, Theorem 10"
    return bernoulli_losses((0.5 - gap, 0.5), (1, actions - 1), name=name, source=source)


@checks.validate(
    brackets=checks.integer_in(1, 1000),
    per_bracket=checks.positive_int,
    largest=checks.number_in(0, 0.95, "(]"),
    bernoulli=checks.boolean,
    log_per_bracket=checks.number_in(0, 1e6),
)
def doubling(
    brackets: int,
    per_bracket: int = 1,
    largest: float = 0.9,
    bernoulli: bool = True,
    log_per_bracket: float | None = None,
) -> StochasticLosses:
    """Return the doubling instance: `per_bracket` actions in each bracket of gaps.

    The gaps are `largest` 2^(b - brackets) for b = 1..brackets. As printed in hu2021 (after Theorem
    7) the instance has one action per bracket, and no bracket then costs a logarithm. Many actions
    per bracket give the instance that the text describes. The best loss is 0.05, and the smallest
    gap is `largest` 2^(1 - brackets).

    Parameters
    ----------
    brackets : int
        B >= 1.
    per_bracket : int
        Actions with each gap; or use `log_per_bracket`, its natural logarithm.
    largest : float
        The largest gap, in (0, 0.95].
    bernoulli : bool
        Independent Bernoulli losses, else deterministic ones.
    log_per_bracket : float, optional
        Natural logarithm of the number of actions with each gap.
    """
    if log_per_bracket is None:
        log_count, size = math.log(per_bracket), f"{per_bracket}"
    else:
        log_count, size = log_per_bracket, f"e^{log_per_bracket:g}"
    gaps = largest * 2.0 ** (np.arange(1, brackets + 1) - brackets)
    name = f"doubling, {brackets} brackets of {size}"
    means, log_counts = (0.05, *(0.05 + gaps)), (0.0, *[log_count] * brackets)
    make = bernoulli_losses if bernoulli else deterministic_losses
    return make(means, log_counts=log_counts, name=name, source="hu2021, after Theorem 7")


@checks.validate(gap=checks.number_in(0, 1), bernoulli=checks.boolean)
def cyclic(
    actions: int | None, gap: float, bernoulli: bool = False, log_actions: float | None = None
) -> StochasticLosses:
    """Return the lower-bound family of wu2026's Theorem 3: 0, gap, gap, 1, ..., 1.

    In instance l of the family, action l has loss 0 and its two neighbours on the circle have loss
    `gap`; the algorithms here treat all actions alike, so one member stands for the family. There
    are at least 6 actions; `log_actions`, in place of `actions`, is the logarithm of their number.
    """
    if log_actions is None:
        rest = math.log(checks.integer_in(6, checks.MAX_HORIZON)("actions", actions) - 3)
    else:
        checks.number_in(math.log(6), math.inf)("log_actions", log_actions)
        rest = log_actions + math.log1p(-3 * math.exp(-log_actions))
    make = bernoulli_losses if bernoulli else deterministic_losses
    name = f"cyclic, gap {gap:g}" + (", Bernoulli" if bernoulli else "")
    counts = (0.0, math.log(2), rest)
    return make((0.0, gap, 1.0), log_counts=counts, name=name, source="wu2026, Theorem 3")


@checks.validate(
    kind=checks.one_of("antithetic", "comonotone", "copies"),
    gap=checks.number_in(0, 1),
    actions=checks.integer_in(2, checks.MAX_HORIZON),
)
def dependent(kind: str, gap: float, actions: int = 2) -> StochasticLosses:
    """Return losses that depend on each other within a round, as in cesari2026.

    There is one best action of at least 2, and the gaps are equal, in [0, 1]. kind "antithetic":
    two actions, losses 0 and 1 or 1 and 0, the second suffers 1 with probability (1 + gap) / 2.
    kind "comonotone": one uniform U per round, and an action suffers 1 if U is below its mean
    (1 - gap) / 2 or (1 + gap) / 2. kind "copies": the best action has a Bernoulli loss of mean
    (1 - gap) / 2, and all others share another one of mean (1 + gap) / 2.
    """
    low, high = (1 - gap) / 2, (1 + gap) / 2
    outcomes: tuple[tuple[float, ...], ...]
    probabilities: tuple[float, ...]
    if kind == "antithetic":
        if actions != 2:
            raise ValueError(f"actions must be 2 for an antithetic pair, got {actions}")
        outcomes, probabilities = ((0, 1), (1, 0)), (high, 1 - high)
    elif kind == "comonotone":
        outcomes, probabilities = ((1, 1), (0, 1), (0, 0)), (low, high - low, 1 - high)
    else:
        outcomes = ((0, 0), (0, 1), (1, 0), (1, 1))
        probabilities = ((1 - low) * (1 - high), (1 - low) * high, low * (1 - high), low * high)
    name, counts = f"{kind}, gap {gap:g}", (0.0, math.log(actions - 1))
    return StochasticLosses(name, outcomes, counts, probabilities, source="cesari2026, Section 2")


TWO_ACTION_PRINTED, TWO_ACTION_FIXED, TWO_ACTION_GAIN = (
    StochasticLosses(f"two actions, {name}", outcomes, (0.0, 0.0), chances, source=source)
    for name, outcomes, chances, source in (
        ("as printed", ((0.3, 0.4), (0.3, 0.0)), (0.8, 0.2), "wu2026, Section 3"),
        ("repaired", ((0.3, 0.2), (0.3, 1.0)), (0.8, 0.2), "after wu2026, Section 3"),
        ("resampling helps", ((0.01, 0.0), (0.01, 1.0)), (0.69, 0.31), "after wu2026, Section 3"),
    )
)
DEPENDENT_COPIES = StochasticLosses(
    "a copied bit and a worse one",
    ((1, 1), (1, 0), (0, 1), (0, 0)),
    (math.log(2), 0.0),
    (0.40 * 0.41, 0.40 * 0.59, 0.60 * 0.41, 0.60 * 0.59),
    source="after wu2026, Lemma 1",
)
