"""The contract of adversarial-bandit algorithms, with losses: smaller is better"""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from privregret.core import checks
from privregret.core.algorithm import NOTHING, Algorithm, Steps, Templates
from privregret.core.learners import Learner
from privregret.core.typed import arm_of, keep_alive
from privregret.instances import Adversary, Advice, ExpertProblem

SIZE = checks.integer_in(2, checks.MAX_SIZE)
choose = observe = ARM = STATE = EXPERT = None


def _run_adversary(tables, checkpoints, settings, rng):
    """Return the losses paid by the checkpoints; Bernoulli losses are drawn."""
    starts, losses, group = tables.loss_starts, tables.losses, tables.group
    arms, states = np.zeros(losses.shape[1], ARM), np.zeros(1, STATE)
    state, paid = states[0], np.empty(len(checkpoints))
    if EXPERT is not None:
        experts, advice = np.zeros(group.shape[1], EXPERT), np.empty((group.shape[1], len(arms)))
    segment, advised, total, reported = 0, -1, 0.0, 0
    for t in range(1, checkpoints[-1] + 1):
        if segment + 1 < len(starts) and starts[segment + 1] == t - 1:
            segment += 1
        if EXPERT is None:
            j = arm_of(choose(arms, state, settings, t, rng), t, len(arms))
        else:
            later = advised + 1
            if later < len(tables.advice_starts) and tables.advice_starts[later] == t - 1:
                advised = later
                for n in range(len(experts)):
                    for i in range(len(arms)):
                        advice[n, i] = tables.rows[advised, group[advised, n], i]
            j = arm_of(choose(experts, arms, state, settings, t, advice, rng), t, len(arms))
        loss = losses[segment, j]
        total += loss
        if tables.bernoulli:
            loss = 1.0 if rng.random() < loss else 0.0
        if EXPERT is None:
            observe(arms, state, settings, t, j, loss, rng)
        else:
            observe(experts, arms, state, settings, t, advice, j, loss, rng)
        if t == checkpoints[reported]:
            paid[reported] = total
            reported += 1
    keep_alive(states)
    return paid


ADVERSARY = Templates(_run_adversary, "loss")


class AdversarialAlgorithm(Algorithm):
    """A bandit algorithm against an oblivious adversary: a frozen dataclass with `steps`.

    `run` returns the cumulative loss; against a Bernoulli adversary it adds up the means of the
    arms played. An algorithm that learns from losses of any size and sign, as a private conversion
    shows them to its base, says so by `real_losses = True`; `play` and `run` take losses in [0, 1].
    """

    real_losses: ClassVar[bool] = False
    problem_type: ClassVar[type] = Adversary
    templates = ADVERSARY

    def play(self, losses: ArrayLike, rng: int | np.random.Generator) -> np.ndarray:
        """Run the literal algorithm, round by round, on a table of losses.

        All is as in `bandits.BanditAlgorithm.play`, with `losses` for its rewards: a (T, K) array
        in [0, 1], T >= 1, K >= 2, of which only entries of arms played are read.

        Examples
        --------
        >>> from privregret.adversarial import HTINF
        >>> losses = np.tile([1.0, 0.0], (50, 1))
        >>> int(HTINF(1.0).play(losses, rng=1).sum())  # pulls of the better arm
        28
        """
        return self.play_checked(checks.table("losses", losses, short=True), rng)

    @checks.validate(arms=SIZE, horizon=checks.positive_int)
    def start(
        self, arms: int, rng: int | np.random.Generator, horizon: int | None = None
    ) -> Learner:
        """Return a learner on a live source: `choose` an arm, `observe` its loss.

        Parameters are as in `bandits.BanditAlgorithm.start`.
        """
        return Learner(self, rng, horizon, arms)


class ExpertAlgorithm(AdversarialAlgorithm):
    """A bandit algorithm with the advice of experts, compared with the best expert."""

    problem_type = ExpertProblem

    def play(
        self, losses: ArrayLike, advice: ArrayLike | Advice, rng: int | np.random.Generator
    ) -> np.ndarray:
        """Run the literal algorithm, round by round, on tables of losses and advice.

        Parameters
        ----------
        losses, rng
            As in `AdversarialAlgorithm.play`, and so is what is returned.
        advice : (T, N, K) or (N, K) array, or Advice
            Each expert's distribution over the arms, per round or constant; N >= 2.

        Examples
        --------
        >>> from privregret.adversarial import tuning
        >>> losses, advice = np.tile([1.0, 0.0], (50, 1)), [[1, 0], [0, 1], [0.5, 0.5]]
        >>> algorithm = tuning.batched_htinf_over_experts(2.0)
        >>> int(algorithm.play(losses, advice, rng=1).sum())  # pulls of the better arm
        32
        """
        losses = checks.table("losses", losses, short=True)
        given = advice if isinstance(advice, Advice) else Advice.of_table(advice)
        covered, arms = len(given.starts), given.rows.shape[2]
        if arms != losses.shape[1]:
            raise ValueError(f"advice must have {losses.shape[1]} arms, as losses have, got {arms}")
        # of a table, which has a row per round
        if given is not advice and covered not in (1, len(losses)):
            raise ValueError(f"advice must cover {len(losses)} rounds, as losses do, got {covered}")
        return self.play_checked(losses, rng, given.dense(len(losses)))

    @checks.validate(arms=SIZE, experts=SIZE, horizon=checks.positive_int)
    def start(
        self,
        arms: int,
        rng: int | np.random.Generator,
        horizon: int | None = None,
        experts: int = 2,
    ) -> Learner:
        """Return a learner: `choose` an arm given advice, `observe` its loss.

        `experts` is N >= 2; `arms`, `rng` and `horizon` are as in `AdversarialAlgorithm.start`.
        """
        return Learner(self, rng, horizon, arms, experts)


# An algorithm inside another one, by steps or in plain Python
# --------------------------------------------------------------------------------------------------


def _choose(arms, state, settings, t, rng):
    """Ask the learner, which is made in round 1."""
    if t == 1:
        start, horizon = settings
        state["learner"] = start(len(arms), rng, horizon)
    return arm_of(state["learner"].choose(), t, len(arms))


def _observe(arms, state, settings, t, arm, seen, rng):
    """Pass on what is seen."""
    state["learner"].observe(seen)


PLAIN = Steps(NOTHING, np.dtype([("learner", object)]), _choose, _observe)


def steps_of(algorithm: AdversarialAlgorithm) -> Steps:
    """Return the steps of an algorithm, or `PLAIN`."""
    return algorithm.steps or PLAIN


def settings_of(algorithm: AdversarialAlgorithm, horizon: int | None, arms: int) -> Any:
    """Return what `steps_of` take as settings."""
    return algorithm.settings(horizon, arms) if algorithm.steps else (algorithm.start, horizon)
