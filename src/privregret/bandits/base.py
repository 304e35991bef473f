"""What every stochastic-bandit algorithm offers."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from privregret import checks


class BanditAlgorithm(ABC):
    """A bandit algorithm with its parameters. Rewards: larger is better.

    Subclasses are frozen dataclasses that check their parameters when made and implement `_play`, and
    `_pull_counts` where there is something faster than playing round by round.
    """

    label: ClassVar[str]  # name in figures and tables; decides colour and marker
    source: ClassVar[str]  # paper key and algorithm number

    def play(self, rewards, rng: np.random.Generator) -> np.ndarray:
        """Run the literal algorithm, round by round, on a table of rewards.

        Parameters
        ----------
        rewards : (T, K) array
            All rewards, one row a round, in [0, 1]; T >= K. Only entries of pulled arms are read.
        rng : numpy.random.Generator
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
        return self._play(checks.table("rewards", rewards), rng)

    def pull_counts(self, means, horizons, rng: np.random.Generator) -> np.ndarray:
        """Number of pulls of each arm on Bernoulli arms; same law as counting what `play` does.

        Parameters
        ----------
        means : (K,) array
            Bernoulli means in [0, 1].
        horizons : (H,) array of int
            Increasing rounds at which to report; the last is the horizon T >= K.
        rng : numpy.random.Generator
            Source of rewards and of the algorithm's own randomness.

        Returns
        -------
        (H, K) int64 array
            Pulls in rounds 1..horizons[h].
        """
        means = checks.means("means", means)
        return self._pull_counts(means, checks.horizons(horizons, len(means)), rng)

    @abstractmethod
    def _play(self, rewards, rng): ...

    def _pull_counts(self, means, horizons, rng):
        rewards = (rng.random((horizons[-1], len(means))) < means).astype(float)
        pulls = np.zeros((horizons[-1] + 1, len(means)), np.int64)
        pulls[np.arange(1, horizons[-1] + 1), self._play(rewards, rng)] = 1
        return pulls.cumsum(axis=0)[horizons]
