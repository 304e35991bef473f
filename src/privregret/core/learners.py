"""Run algorithms on a live source: choose an action, observe the feedback, repeat."""

from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from privregret.core import checks, mistakes
from privregret.core.loops import current
from privregret.core.typed import arm_of

REWARD = checks.number_in(0, 1, bits=True)
LOSSES, ADVICE = checks.array_in(0, 1, shape=1, bits=True), checks.array_in(0, 1, shape=2)


class Learner:
    """An algorithm round by round, with the same numbers as `play` on a table.

    `start` makes it. `choose()` returns the action of the next round, and `observe(seen)` takes its
    reward or loss, or with full information the losses of all actions. An algorithm that takes
    advice is called with the advice of the round: `choose(advice)`. A learner can be pickled and
    copied: the copy goes on with the same numbers.
    """

    def __init__(
        self, algorithm, seen: str, rng, horizon: int | None, actions: int, experts: int = 0
    ):
        """Allocate the memory; `seen` is what `observe` takes: reward, loss or losses."""
        if not algorithm.steps:
            raise NotImplementedError(f"{type(algorithm).__name__} must define steps or start")
        sizes = (actions, experts) if experts else (actions,)
        self._steps = current(algorithm.steps)
        self._settings = mistakes.settings_of(algorithm, horizon, *sizes)
        self._memory, self._rng = self._steps.memory(*sizes), np.random.default_rng(rng)
        self._algorithm, self._last = algorithm, horizon or checks.MAX_ROUNDS
        self._seen, self._shape, self._advice = seen, (experts, actions), ()
        self._round, self._arm = 0, -1

    def __copy__(self):
        return deepcopy(self)

    def __getstate__(self):
        return self.__dict__ | {"_steps": None}

    def __setstate__(self, state):
        self.__dict__ |= state | {"_steps": current(state["_algorithm"].steps)}

    def choose(self, advice: ArrayLike | None = None) -> int:
        """Return the action of the next round, from 0; the same one if asked twice.

        Parameters
        ----------
        advice : (N, K) array, optional
            Distribution of each expert over the arms in this round, for algorithms that take
            advice.

        Raises
        ------
        RuntimeError
            After `horizon` rounds; without a horizon, after 10^10.
        TypeError, ValueError
            If advice is given to an algorithm that takes none, is missing, or does not consist of
            distributions of that shape; if `choose` of an algorithm of one's own returns an arm
            that does not exist.
        """
        if self._arm < 0:
            if self._round == self._last:
                raise RuntimeError(f"horizon is {self._last}, and round {self._round} was the last")
            self._advice = self._checked(advice)
            *arms, state = self._memory
            self._round += 1
            given = *arms, state[0], self._settings, self._round, *self._advice, self._rng
            arm = self._done(self._steps.choose, *given)
            self._arm = self._done(arm_of, arm, self._round, self._shape[1])
        return self._arm

    def observe(self, seen: Any) -> None:
        """Take the feedback of the action.

        Parameters
        ----------
        seen : float in [0, 1], or bool
            Reward or loss of the action; with full information the (K,) losses of all actions.
            True is 1.

        Raises
        ------
        RuntimeError
            If `choose` was not called before.
        TypeError, ValueError
            If the feedback has another shape, or lies outside [0, 1].
        """
        if self._arm < 0:
            raise RuntimeError(f"choose must be called before observe is given a {self._seen}")
        if self._seen == "losses":
            seen = LOSSES("losses", seen)
            if len(seen) != self._shape[1]:
                raise ValueError(
                    f"losses must be {self._shape[1]} numbers, one per action, got {len(seen)}"
                )
        else:
            seen = REWARD(self._seen, seen)
        *arms, state = self._memory
        given = *arms, state[0], self._settings, self._round, *self._advice, self._arm, seen
        self._done(self._steps.observe, *given, self._rng)
        self._arm = -1

    def _done(self, step, *given):
        sizes = self._shape[::-1]
        return mistakes.called(self._algorithm, self._settings, sizes, step, *given)

    def _checked(self, advice):
        """Return the advice of the round in the form that the steps take."""
        if (advice is None) != (self._shape[0] == 0):
            raise TypeError(
                "choose needs advice" if advice is None else "choose takes no advice here"
            )
        if advice is None:
            return ()
        advice = ADVICE("advice", advice)
        if advice.shape != self._shape or np.abs(advice.sum(axis=1) - 1).max() > 1e-9:
            raise ValueError(
                f"advice must be {self._shape[0]} distributions over {self._shape[1]} arms"
            )
        return (advice,)
