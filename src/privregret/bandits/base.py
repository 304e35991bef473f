"""What every stochastic-bandit algorithm offers."""

from abc import abstractmethod

import numpy as np

from privregret import checks
from privregret.algorithm import Algorithm, checked_actions
from privregret.instances import BernoulliBandit
from privregret.jit import jit


class BanditAlgorithm(Algorithm):
    """A bandit algorithm with its parameters. Rewards: larger is better.

    Subclasses are frozen dataclasses that implement `_play`, and `_kernel` where there is something faster than playing
    round by round on a table of rewards.
    """

    plays = BernoulliBandit

    def play(self, rewards, rng) -> np.ndarray:
        """Run the literal algorithm, round by round, on a table of rewards.

        Parameters
        ----------
        rewards : (T, K) array
            All rewards, one row a round, in [0, 1]; T >= K. Only entries of pulled arms are read.
        rng : int or numpy.random.Generator
            Source of the algorithm's own randomness (privacy noise, ties).

        Returns
        -------
        (T,) int64 array
            The arm pulled in each round, from 0.

        Raises
        ------
        ValueError
            If the table is ragged, has a nan or a reward outside [0, 1], or has fewer rounds than arms.
        """
        rewards = checks.table("rewards", rewards)
        return checked_actions(self._play(rewards, np.random.default_rng(rng)), *rewards.shape)

    @abstractmethod
    def _play(self, rewards, rng): ...

    def _kernel(self, means, rounds):
        return self._run_by_rounds, (means, rounds)

    def _run_by_rounds(self, means, rounds, rng):
        horizon, arms = rounds[-1], len(means)
        rewards = (rng.random((horizon, arms)) < means).astype(float)
        pulls = np.zeros((horizon + 1, arms), np.int64)
        pulls[np.arange(1, horizon + 1), checked_actions(self._play(rewards, rng), horizon, arms)] = 1
        return pulls.cumsum(axis=0)[rounds]


DRAWN = np.empty((0, 0))  # no table: rewards are drawn on the way


class RoundByRound(BanditAlgorithm):
    """A bandit algorithm with nothing to skip: one loop, over a table of rewards or over rewards drawn on the way."""

    longest = checks.ROUNDS

    def _play(self, rewards, rng):
        kernel, given = self._kernel(np.zeros(rewards.shape[1]), np.array([len(rewards)]), rewards)
        return kernel(*given, rng)[0]

    @abstractmethod
    def _kernel(self, means, rounds, rewards=DRAWN):
        """The kernel gives actions on a table of rewards and pull counts, of Bernoulli arms if it is empty."""


@jit
def keep_pulling(rewards, means, actions, j, t, end, total, start, slope, rng, draws=0):
    """Pull arm j in round t and further, until round `end` or until its sum is no longer above a line.

    Certificates of lead have this form: what other arms' indices can be in rounds before `end` is known, so an arm
    leads for certain while `total` > `start` + `slope` (pulls made here). Arms tied behind it have so many draws in
    each round; those of round t are made. Returns the number of pulls, and the sum.
    """
    literal, mean = len(rewards) > 0, means[j]
    pulled = 0
    while pulled == 0 or (t + pulled < end and total > start + slope * pulled):
        for _ in range(draws if pulled > 0 else 0):
            rng.random()
        if literal:
            actions[t + pulled] = j
            total += rewards[t + pulled, j]
        else:
            total += 1.0 if rng.random() < mean else 0.0
        pulled += 1
    return pulled, total
