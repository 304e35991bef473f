"""Algorithm 1 of asi2025, which makes a bandit algorithm private, and its older, local version;
Algorithm 5, from arms to experts.

Both take any bandit algorithm, by its steps or in plain Python. The functions below are templates:
`choose` and `observe` stand for its steps, and its memory is part of theirs.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from privregret.adversarial.base import (
    AdversarialAlgorithm,
    ExpertAlgorithm,
    settings_of,
    steps_of,
)
from privregret.adversarial.fast import Batches, SeparateRuns, has_lanes, separate_runs
from privregret.core import checks, loops
from privregret.core.algorithm import EPSILON_DP, NOTHING, Privacy, Steps, kernel_data
from privregret.core.noise import drawn, laplace
from privregret.core.typed import arm_of
from privregret.instances import Adversary

PUBLIC_ADVICE = "all losses of one round replaced; advice is public"
choose = observe = None


def _around(steps, *templates):
    """Return templates around the steps of an algorithm."""
    return (loops.instantiate(t, choose=steps.choose, observe=steps.observe) for t in templates)


# Algorithm 1
# --------------------------------------------------------------------------------------------------


def _choose(arms, state, settings, t, rng):
    """Lines 3 to 5: the base chooses once per batch; its round is the number of the batch."""
    if (t - 1) % settings.tau == 0:
        number = (t - 1) // settings.tau + 1
        state["chosen"] = choose(arms, state["base"], settings.base, number, rng)
        state["observed"] = 0.0
    return state["chosen"]


def _observe(arms, state, settings, t, j, loss, rng):
    """Lines 6 to 9: at the end of a batch the base learns the average loss plus noise."""
    state["observed"] += loss
    if t % settings.tau == 0:
        y = state["observed"] / settings.tau + laplace(settings.scale, rng)
        observe(arms, state["base"], settings.base, t // settings.tau, j, y, rng)


def batch_size(epsilon: float) -> int:
    """Return ceil(1 / epsilon), robust to rounding; 1 if epsilon > 1."""
    epsilon = checks.positive("epsilon", epsilon)
    return min(max(1, math.ceil((1 / epsilon) * (1 - 1e-12))), checks.MAX_HORIZON)


def _bandit(name, value):
    shown = checks.shown(value)
    if not isinstance(value, AdversarialAlgorithm) or isinstance(value, ExpertAlgorithm):
        raise TypeError(f"{name} must be an adversarial bandit algorithm, got {shown}")
    if not value.steps and type(value).start is AdversarialAlgorithm.start:
        raise TypeError(f"{name} must define steps or start, got {shown}")
    return value


def _base(name, value):
    if not _bandit(name, value).real_losses:
        raise TypeError(
            f"{name} must learn from real losses (real_losses = True), as HTINF, EXP3 and FTPL do, "
            f"got {checks.shown(value)}"
        )
    return value


@dataclass(frozen=True)
class BatchedPrivate(SeparateRuns, AdversarialAlgorithm):
    """The conversion: each choice of `base` is played for tau rounds, and costs a noisy average.

    The noise on the average is Lap(1 / (tau epsilon)). The base plays ceil(T / tau) rounds, which
    is its horizon; a last partial batch has a choice, but no average. Plain version:
    `InBatches` of notebook asi2025/3.
    Deviations: an epsilon above 1, which the paper excludes, has batches of one round.

    Privacy: epsilon-DP for the sequence of actions when one round's losses are replaced, whatever
    the base: the round moves one average by at most 1 / tau. Rounds of a last partial batch are not
    used.

    Parameters
    ----------
    base : AdversarialAlgorithm
        With `real_losses`: HTINF, EXP3, FTPL, or one's own, by steps or in plain Python; TypeError
        for others. `tuning` has the paper's parameters.
    epsilon : float
        Privacy parameter, above 0.
    tau : int or None
        Batch size, at least 1; None means ceil(1 / epsilon).
    """

    base: AdversarialAlgorithm
    epsilon: float
    tau: int | None = None
    id = "batched-private"
    source = "asi2025, Algorithm 1"
    rules = {"base": _base, "epsilon": checks.positive, "tau": checks.positive_int}
    privacy = EPSILON_DP
    lanes = property(lambda self: partial(separate_runs, self.base))

    def __post_init__(self):
        # the repr, and with it the random streams, contain the size
        if self.tau is None:
            object.__setattr__(self, "tau", batch_size(self.epsilon))
        super().__post_init__()

    @property
    def label(self) -> str:
        return f"Batched {self.base.label}"

    @property
    def steps(self) -> Steps:
        base = steps_of(self.base)
        state = np.dtype([("chosen", np.int64), ("observed", float), ("base", base.state)])
        return Steps(base.arm, state, *_around(base, _choose, _observe))

    @property
    def max_horizon(self) -> int:
        return min(self.base.max_horizon * self.tau, checks.MAX_HORIZON)

    @property
    def scale(self) -> float:
        """Return the Laplace scale of the noise in an average, 1 / (tau epsilon)."""
        return 1 / (self.tau * self.epsilon)

    def settings(self, horizon: int | None, arms: int) -> Batches:
        batches = horizon and -(-horizon // self.tau)
        return Batches(settings_of(self.base, batches, arms), self.tau, self.scale)

    def inside(self, settings: Batches, *sizes: int) -> tuple:
        """Return the base, its settings and its sizes."""
        return self.base, settings.base, sizes

    def run_with_noise(
        self, problem: Adversary, horizon: int, rng: int | np.random.Generator, runs: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (runs, 1) losses, as `run` at the horizon, and (runs, K, 3) sums of the noise.

        The sums are, for each arm, over the complete batches s in which it is played, with
        probability p: of the noise z, of z / sqrt s and of z / sqrt p. A choice is drawn before its
        noise, so they have mean zero. Runs differ in their regret mostly by their noise, so the
        sums are control variates for its mean (`estimates.mean_with_controls`). Other parameters
        and errors are as of `run`; TypeError if `base` is not EXP3 or HTINF.
        """
        if not has_lanes(self.base):
            raise TypeError(f"base must be EXP3 or HTINF, got {self.base}")
        data, several = kernel_data(self, problem), checks.positive_int("runs", runs)
        allowed = checks.checkpoints(problem.min_horizon, self.max_horizon)
        rounds = allowed("horizon", [horizon])
        settings, rng = self.settings(horizon, *problem.memory_sizes), np.random.default_rng(rng)

        def losses_and_noise(*arguments):
            noise = np.zeros((arguments[-1], *problem.memory_sizes, 3))
            losses = separate_runs(self.base, *arguments, noise)
            return np.column_stack([losses, noise.reshape(len(noise), -1)])

        columns = loops.run_in_lanes(losses_and_noise, data, rounds, settings, several, rng)
        return columns[:, :1], columns[:, 1:].reshape(runs, -1, 3)


@dataclass(frozen=True)
class LocallyPrivate(BatchedPrivate):
    """The older conversion: each loss that `base` observes has noise Lap(1 / epsilon).

    Privacy: epsilon-DP in the local model, hence in the central one as well. Parameters and
    plain version as of `BatchedPrivate`, with tau = 1.
    """

    tau: int = field(default=1, init=False)
    id = "locally-private"
    source = "asi2025, Algorithm 1 with batches of one round; Agarwal and Singh 2017"

    @property
    def label(self) -> str:
        return f"Local {self.base.label}"


# Algorithm 5, from arms to experts
# --------------------------------------------------------------------------------------------------


def _choose_arm(experts, arms, state, settings, t, advice, rng):
    """Draw an arm from the advice of the expert that the bandit algorithm has chosen."""
    j = arm_of(choose(experts, state["bandit"], settings, t, rng), t, len(experts))
    state["expert"], followed = j, advice[j]
    for i in range(len(followed)):
        if followed[i] == 1:
            return i
    return drawn(followed, rng.random())


def _observe_loss(experts, arms, state, settings, t, advice, i, loss, rng):
    """Pass the arm's loss on as that of the expert."""
    observe(experts, state["bandit"], settings, t, state["expert"], loss, rng)


@dataclass(frozen=True)
class ExpertsFromBandit(SeparateRuns, ExpertAlgorithm):
    """A bandit algorithm chooses an expert, and an arm is drawn from its advice.

    In a batch one expert is followed; an arm is drawn in every round. Privacy: with
    `BatchedPrivate` as bandit (Theorem 7) epsilon-DP in the losses; the advice counts as public.
    Plain version: `follow_experts` of notebook asi2025/4.

    Parameters
    ----------
    bandit : AdversarialAlgorithm
        Any bandit algorithm, private or not, by steps or in plain Python; TypeError for others. It
        chooses among N experts.
    """

    bandit: AdversarialAlgorithm
    id = "experts-from-bandit"
    source = "asi2025, Algorithm 5"
    rules = {"bandit": _bandit}

    @property
    def label(self) -> str:
        return f"{self.bandit.label} over experts"

    @property
    def privacy(self) -> Privacy:
        return self.bandit.privacy._replace(neighbours=PUBLIC_ADVICE)

    @property
    def steps(self) -> Steps:
        bandit = steps_of(self.bandit)
        state = np.dtype([("expert", np.int64), ("bandit", bandit.state)])
        return Steps(NOTHING, state, *_around(bandit, _choose_arm, _observe_loss), bandit.arm)

    @property
    def lanes(self) -> Callable:
        batched = isinstance(self.bandit, BatchedPrivate)
        return partial(separate_runs, self.bandit.base if batched else self.bandit)

    @property
    def max_horizon(self) -> int:
        return self.bandit.max_horizon

    def settings(self, horizon: int | None, arms: int, experts: int) -> Any:
        return settings_of(self.bandit, horizon, experts)

    def inside(self, settings: Any, arms: int, experts: int) -> tuple:
        """Return the bandit, its settings and its sizes."""
        return self.bandit, settings, (experts,)
