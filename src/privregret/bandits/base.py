"""The contract of stochastic-bandit algorithms, with rewards: larger is better"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from privregret.core import checks, loops
from privregret.core.algorithm import EPSILON_DP, Algorithm
from privregret.core.learners import Learner
from privregret.instances import BernoulliBandit


class BanditAlgorithm(Algorithm):
    """A bandit algorithm: its parameters; subclasses are frozen dataclasses."""

    problem_type = BernoulliBandit
    templates = loops.BANDIT

    def play(self, rewards: ArrayLike, rng: int | np.random.Generator) -> np.ndarray:
        """Run the literal algorithm, round by round, on a table of rewards.

        Parameters
        ----------
        rewards : (T, K) array
            All rewards, one row per round, in [0, 1], no nan; T >= K >= 2. Only entries of pulled
            arms are read.
        rng : int or numpy.random.Generator
            Source of the algorithm's own randomness (privacy noise, ties).

        Returns
        -------
        (T,) int64 array
            The arm pulled in each round, from 0.

        Examples
        --------
        >>> from privregret.bandits import UCB1
        >>> UCB1().play([[0, 1], [0, 1], [0, 1], [0, 1]], rng=1)
        array([0, 1, 1, 1])
        """
        return self.play_checked(checks.table("rewards", rewards), rng)

    @checks.validate(arms=checks.integer_in(2, checks.MAX_SIZE))
    def start(
        self, arms: int, rng: int | np.random.Generator, horizon: int | None = None
    ) -> Learner:
        """Return a learner on a live source: `choose` an arm, `observe` its reward.

        Parameters
        ----------
        arms : int
            K >= 2.
        rng : int or numpy.random.Generator
            As in `play`.
        horizon : int, optional
            Number of rounds, at least K, for algorithms that depend on it.

        Examples
        --------
        >>> from privregret.bandits import AnytimeLazyUCB
        >>> learner = AnytimeLazyUCB(1.0).start(arms=2, rng=1)
        >>> for reward in (0.0, 1.0, 1.0):
        ...     arm = learner.choose()
        ...     learner.observe(reward)
        >>> arm
        1
        """
        if horizon is not None:
            horizon = checks.integer_in(arms, checks.MAX_HORIZON)("horizon", horizon)
        return Learner(self, rng, horizon, arms)


@dataclass(frozen=True)
class PrivateBandit(BanditAlgorithm):
    """An epsilon-DP bandit algorithm, epsilon > 0, with an event kernel that skips rounds."""

    epsilon: float
    rules = {"epsilon": checks.epsilon}
    runs_per_stream, max_horizon = 64, checks.MAX_HORIZON
    privacy = EPSILON_DP
