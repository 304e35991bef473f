"""Run algorithms on a live source: choose an action, observe the feedback, repeat."""

from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from privregret.core import checks, mistakes
from privregret.core.loops import Stepper, current

REWARD = checks.number_in(0, 1, bits=True)
LOSSES, ADVICE = checks.array_in(0, 1, shape=1, bits=True), checks.array_in(0, 1, shape=2)


class Learner(Stepper):
    """An algorithm round by round, with the same numbers as `play` on a table.

    `start` makes it. `choose()` returns the action of the next round, and `observe(seen)` takes its
    reward or loss, or with full information the losses of all actions. An algorithm that takes
    advice is called with the advice of the round: `choose(advice)`. A learner can be pickled and
    copied: the copy goes on with the same numbers.
    """

    def __init__(self, algorithm: Any, rng: Any, horizon: int | None, *sizes: int):
        """`sizes` are the numbers of actions and, with advice, of experts."""
        if not algorithm.steps:
            raise NotImplementedError(f"{type(algorithm).__name__} must define steps or start")
        settings = mistakes.settings_of(algorithm, horizon, *sizes)
        super().__init__(current(algorithm.steps), settings, sizes, np.random.default_rng(rng))
        self._context = mistakes.Explained(algorithm, settings, sizes)
        self._last = horizon or checks.MAX_ROUNDS

    def __copy__(self):
        return deepcopy(self)

    def __setstate__(self, state):
        vars(self).update(state)
        self._steps = current(self._context.algorithm.steps)

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
        if self.arm < 0:
            if self._t == self._last:
                raise RuntimeError(f"horizon is {self._last}, and round {self._last} was the last")
            rows = self._checked(advice)
            with self._context:
                super().choose(*rows)
        return self.arm

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
        if self.arm < 0:
            raise RuntimeError("choose must be called before observe")
        _, name, row = self._context.algorithm.templates
        seen = (LOSSES if row else REWARD)(name, seen)
        if row and len(seen) != self._context.sizes[0]:
            wanted = f"{self._context.sizes[0]} numbers, one per action"
            raise ValueError(f"{name} must be {wanted}, got {len(seen)}")
        with self._context:
            super().observe(seen)

    def _checked(self, advice):
        """Return the advice of the round in the form that the steps take."""
        arms, *experts = self._context.sizes
        if (advice is None) != (not experts):
            raise TypeError(
                "choose needs advice" if advice is None else "choose takes no advice here"
            )
        if advice is None:
            return ()
        advice = ADVICE("advice", advice)
        if advice.shape != (*experts, arms) or np.abs(advice.sum(axis=1) - 1).max() > 1e-9:
            raise ValueError(f"advice must be {experts[0]} distributions over {arms} arms")
        return (advice,)
