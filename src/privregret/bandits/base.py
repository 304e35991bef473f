"""What every stochastic-bandit algorithm offers. Rewards: larger is better."""

import numpy as np
from numpy.typing import ArrayLike

from privregret import checks, loops
from privregret.algorithm import Algorithm
from privregret.instances import BernoulliBandit
from privregret.jit import jit
from privregret.learners import Learner


class BanditAlgorithm(Algorithm):
    """A bandit algorithm with its parameters; subclasses are frozen dataclasses with `steps` (see
    `Algorithm`)."""

    plays = BernoulliBandit
    templates = loops.BANDIT

    def play(self, rewards: ArrayLike, rng: int | np.random.Generator) -> np.ndarray:
        """Run the literal algorithm, round by round, on a table of rewards.

        Parameters
        ----------
        rewards : (T, K) array
            All rewards, one row a round, in [0, 1]; T >= K >= 2. Only entries of pulled arms are
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
        """The algorithm on a live source: `choose` an arm, `observe` its reward, and so on.

        Parameters
        ----------
        arms : int
            K >= 2.
        rng : int or numpy.random.Generator
            As in `play`.
        horizon : int, optional
            Rounds that there will be, at least K, for algorithms that depend on it.

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
    """Pull an arm once and further, `left` times at most, until its sum is no longer above a line.

    Certificates of lead have this form: what other arms' indices can be in the rounds left is
    known, so an arm leads for certain while `total` > `start` + `slope` (pulls made here). Arms
    tied behind it have `draws` draws in each round; those of the first are made. Returns the number
    of pulls, and the sum.
    """
    pulled = 0
    while pulled == 0 or (pulled < left and total > start + slope * pulled):
        for _ in range(draws if pulled > 0 else 0):
            rng.random()
        total += 1.0 if rng.random() < mean else 0.0
        pulled += 1
    return pulled, total
