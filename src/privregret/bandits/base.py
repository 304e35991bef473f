"""The contract of stochastic-bandit algorithms, with rewards: larger is better"""

import numpy as np
from numpy.typing import ArrayLike

from privregret.core import checks, loops
from privregret.core.algorithm import Algorithm
from privregret.core.jit import jit
from privregret.core.learners import Learner
from privregret.instances import BernoulliBandit


class BanditAlgorithm(Algorithm):
    """Hold the parameters of a bandit algorithm; subclasses are frozen dataclasses."""

    plays = BernoulliBandit
    templates = loops.BANDIT

    def play(self, rewards: ArrayLike, rng: int | np.random.Generator) -> np.ndarray:
        """Run the literal algorithm, round by round, on a table of rewards.

        Parameters
        ----------
        rewards : (T, K) array
            All rewards, one row per round, in [0, 1]; T >= K >= 2. Only entries of pulled arms are
            read.
        rng : int or numpy.random.Generator
            Source of the algorithm's own randomness (privacy noise, ties).

        Returns
        -------
        (T,) int64 array
            The arm pulled in each round, from 0.

        Raises
        ------
        ValueError
            If the table is ragged, has a nan or a reward outside [0, 1], or has fewer rounds than
            arms.

        Examples
        --------
        >>> from privregret.bandits import UCB1
        >>> UCB1().play([[0, 1], [0, 1], [0, 1], [0, 1]], rng=1)
        array([0, 1, 1, 1])
        """
        return self.literal(checks.table("rewards", rewards), rng)

    @checks.arguments(arms=checks.integer_in(2, checks.SIZE))
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
        horizon = (
            horizon
            if horizon is None
            else checks.integer_in(arms, checks.LARGEST)("horizon", horizon)
        )
        return Learner(self, "reward", rng, horizon, arms)


@jit
def keep_pulling(mean, left, total, start, slope, rng, draws=0):
    """Pull an arm until its sum is no longer above a line; return pulls and sum.

    Certificates of lead have this form: the indices that other arms can have in the remaining
    rounds are known, so an arm leads for certain while `total` > `start` + `slope` (pulls made
    here).

    Parameters
    ----------
    mean : float
        Mean of the arm.
    left : int
        Largest number of pulls.
    total : float
        Sum of the arm's rewards.
    start : float
    slope : float
        The line.
    rng : numpy.random.Generator
    draws : int
        Draws per round of the arms that are tied behind it. The draws of the first round are
        already made.
    """
    pulled = 0
    while pulled == 0 or (pulled < left and total > start + slope * pulled):
        for _ in range(draws if pulled > 0 else 0):
            rng.random()
        total += 1.0 if rng.random() < mean else 0.0
        pulled += 1
    return pulled, total
