"""The contract of full-information algorithms, with losses: smaller is better"""

import numpy as np
from numpy.typing import ArrayLike

from privregret.core import checks, loops
from privregret.core.algorithm import Algorithm
from privregret.core.learners import Learner
from privregret.instances import StochasticLosses


class FullInformationAlgorithm(Algorithm):
    """An algorithm that observes the losses of all actions after each round.

    hu2021 uses rewards. 1 minus its rewards are losses with the same gaps, on which the algorithms
    do the same. Subclasses are frozen dataclasses with `steps` (see `Algorithm`).
    """

    problem_type = StochasticLosses
    templates = loops.LOSSES

    def play(self, losses: ArrayLike, rng: int | np.random.Generator) -> np.ndarray:
        """Run the literal algorithm, round by round, on a table of losses.

        All is as in `bandits.BanditAlgorithm.play`, with `losses` for its rewards: a (T, K) array
        in [0, 1], T >= 1, K >= 2, of which all entries are read.

        Examples
        --------
        >>> from privregret.full_information import FollowTheLeader
        >>> FollowTheLeader().play([[1, 0], [0, 0], [0, 1], [0, 1]], rng=2)
        array([0, 1, 1, 0])
        """
        return self.play_checked(checks.table("losses", losses, short=True), rng)

    @checks.validate(actions=checks.integer_in(2, checks.MAX_SIZE), horizon=checks.positive_int)
    def start(
        self, actions: int, rng: int | np.random.Generator, horizon: int | None = None
    ) -> Learner:
        """Return a learner on a live source: `choose` one of K >= 2 actions, `observe` all losses.

        `rng` is as in `play`; `horizon`, at least 1, is for algorithms that depend on it.
        """
        return Learner(self, rng, horizon, actions)
