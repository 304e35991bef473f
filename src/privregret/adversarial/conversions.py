"""Convert bandit algorithms: to private ones, and from arms to experts."""

import math
from dataclasses import dataclass, field

import numpy as np

from privregret.adversarial.base import AdversarialAlgorithm, ExpertAlgorithm
from privregret.adversarial.bases import FTPL, RealLossBandit
from privregret.adversarial.batches import (
    BATCH,
    CHOICE,
    Batches,
    cumulative_losses,
    next_choice,
    observe,
)
from privregret.adversarial.cells import draw
from privregret.adversarial.lanes import losses_of_runs, without_noise
from privregret.core import checks, loops
from privregret.core.algorithm import NOTHING, Privacy, Steps
from privregret.core.jit import jit
from privregret.core.loops import LANES
from privregret.instances import Adversary

PUBLIC_ADVICE = "all losses of one round replaced; advice is public"


def batch_size(epsilon: float) -> int:
    """Return ceil(1 / epsilon), robust to rounding; 1 if epsilon > 1."""
    epsilon = checks.positive("epsilon", epsilon)
    return min(max(1, math.ceil((1 / epsilon) * (1 - 1e-12))), checks.LARGEST)


def _base(name, value):
    if not isinstance(value, RealLossBandit):
        raise TypeError(f"{name} must be EXP3, HTINF or FTPL, got {checks.shown(value)}")
    return value


def _bandit(name, value):
    if not isinstance(value, (RealLossBandit, BatchedPrivate)):
        raise TypeError(
            f"{name} must be EXP3, HTINF or FTPL, plain or private, got {checks.shown(value)}"
        )
    return value


@dataclass(frozen=True)
class BatchedPrivate(AdversarialAlgorithm):
    """Play each choice of `base` for tau rounds; return the noisy average loss to it.

    This is the generic conversion. The noise on the average is Lap(1 / (tau epsilon)).

    Privacy: epsilon-DP for the sequence of actions when one round's losses are replaced, whatever
    the base: the round moves one average by at most 1 / tau. Rounds of a last partial batch are not
    used.

    Parameters
    ----------
    base : EXP3, HTINF or FTPL
        Runs on at most T / tau noisy averages; `tuning` has the paper's parameters.
    epsilon : float
        Privacy parameter, above 0. The paper has epsilon <= 1; above 1, batches have one round.
    tau : int or None
        Batch size, at least 1; None means ceil(1 / epsilon).
    """

    base: RealLossBandit
    epsilon: float
    tau: int | None = None
    id = "batched-private"
    source = "asi2025, Algorithm 1"
    steps, events = RealLossBandit.steps, cumulative_losses
    lanes, block = without_noise, LANES
    rules = {"base": _base, "epsilon": checks.positive, "tau": checks.positive_int}

    def __post_init__(self):
        if self.tau is None:  # the repr, and with it the random streams, contain the size
            object.__setattr__(self, "tau", batch_size(checks.positive("epsilon", self.epsilon)))
        super().__post_init__()

    @property
    def label(self) -> str:
        return f"Batched {self.base.label}"

    @property
    def privacy(self) -> Privacy:
        return Privacy(self.epsilon, self.epsilon)

    @property
    def longest(self) -> int:
        return min(checks.ROUNDS * self.tau, checks.LARGEST)

    @property
    def scale(self) -> float:
        """Return the Laplace scale of the noise in an average, 1 / (tau epsilon)."""
        return 1 / (self.tau * self.epsilon)

    def settings(self, horizon: int | None, arms: int) -> Batches:
        return self.base.settings(horizon, arms)._replace(tau=self.tau, scale=self.scale)

    def run_with_noise(
        self, problem: Adversary, horizon: int, rng: int | np.random.Generator, runs: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return what `run` returns at the horizon, and sums of the noise, which have mean zero.

        Runs differ in their regret mostly by their noise. So the sums are control variates for its
        mean (`estimates.controlled`).

        Parameters
        ----------
        problem : Adversary
        horizon : int
            Number of rounds T.
        rng : int or numpy.random.Generator
        runs : int

        Returns
        -------
        losses : (runs, 1) array
        noise : (runs, K, 3) array
            For each arm, over the complete batches s in which it is played, with probability p: the
            sums of the noise z, of z / sqrt s and of z / sqrt p.

        Raises
        ------
        TypeError, ValueError
            As of `run`, or if `base` is FTPL.
        """
        if isinstance(self.base, FTPL):
            raise TypeError(f"the base must be EXP3 or HTINF, got {self.base}")
        data, rule = self.data_of(problem), checks.checkpoints(problem.shortest, self.longest)
        rounds, several = rule("horizon", [horizon]), checks.positive_int("runs", runs)
        settings, rng = self.settings(horizon, *problem.sizes), np.random.default_rng(rng)

        def losses_and_noise(*arguments):
            noise = np.zeros((arguments[-1], *problem.sizes, 3))
            losses = losses_of_runs(*arguments, noise)
            return np.column_stack([losses, noise.reshape(len(noise), -1)])

        found = loops.side_by_side(losses_and_noise, data, rounds, settings, several, rng)
        return found[:, :1], found[:, 1:].reshape(runs, -1, 3)


@dataclass(frozen=True)
class LocallyPrivate(BatchedPrivate):
    """Add Lap(1 / epsilon) to each loss that `base` observes: the older conversion.

    Privacy: epsilon-DP in the local model, hence in the central one as well.

    Parameters
    ----------
    base, epsilon
        As in `BatchedPrivate`.
    """

    tau: int = field(default=1, init=False)
    id = "locally-private"
    source = "asi2025, Algorithm 1 with batches of one round; Agarwal and Singh 2017"

    @property
    def label(self) -> str:
        return f"Local {self.base.label}"


@jit
def _choose(experts, arms, batch, settings, t, advice, rng):
    """Return the arm of round t."""
    if (t - 1) % settings.tau == 0:
        next_choice(experts, batch, settings, rng)
    followed = advice[batch["chosen"]]
    for i in range(len(followed)):
        if followed[i] == 1:
            return i
    return draw(followed, rng)


@jit
def _observe(experts, arms, batch, settings, t, advice, i, loss, rng):
    """Update the memory with the loss of arm i in round t."""
    observe(experts, batch, settings, t, batch["chosen"], loss, rng)


@dataclass(frozen=True)
class ExpertsFromBandit(ExpertAlgorithm):
    """Use a bandit algorithm to choose an expert, and play an arm from its advice.

    Privacy: with `BatchedPrivate` as bandit (Theorem 7) epsilon-DP in the losses; the advice counts
    as public. In a batch one expert is followed, and an arm is drawn from its advice in every
    round.

    Parameters
    ----------
    bandit : EXP3, HTINF, FTPL, or BatchedPrivate or LocallyPrivate around one
        Chooses among N experts.
    """

    bandit: AdversarialAlgorithm
    id = "experts-from-bandit"
    source = "asi2025, Algorithm 5"
    steps, events = Steps(NOTHING, BATCH, _choose, _observe, CHOICE), cumulative_losses
    lanes, block = without_noise, LANES
    rules = {"bandit": _bandit}

    @property
    def label(self) -> str:
        return f"{self.bandit.label} over experts"

    @property
    def privacy(self) -> Privacy:
        return self.bandit.privacy._replace(neighbours=PUBLIC_ADVICE)

    @property
    def longest(self) -> int:
        return self.bandit.longest

    def settings(self, horizon: int | None, arms: int, experts: int) -> Batches:
        return self.bandit.settings(horizon, experts)
