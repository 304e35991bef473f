"""What every full-information algorithm offers."""

from abc import abstractmethod

import numpy as np

from privregret import checks
from privregret.algorithm import Algorithm, checked_actions
from privregret.instances import StochasticLosses


class FullInformationAlgorithm(Algorithm):
    """An algorithm that sees all losses of a round after it has acted. Losses: smaller is better, also for hu2021.

    hu2021 has rewards; 1 minus its rewards are losses with the same gaps, on which the algorithms do the same.
    Subclasses are frozen dataclasses that implement `_play` and `_kernel`.
    """

    plays = StochasticLosses

    def play(self, losses, rng) -> np.ndarray:
        """Run the literal algorithm, round by round, on a table of losses.

        Parameters
        ----------
        losses : (T, K) array
            All losses, one row a round, in [0, 1]; T >= 1, K >= 2.
        rng : int or numpy.random.Generator
            Source of the algorithm's own randomness (noise, ties, random bits, the first action).

        Returns
        -------
        (T,) int64 array
            The action of each round, from 0.

        Raises
        ------
        ValueError
            If the table is ragged or empty, or has a nan or a loss outside [0, 1].
        """
        losses = checks.table("losses", losses, short=True)
        return checked_actions(self._play(losses, np.random.default_rng(rng)), *losses.shape)

    @abstractmethod
    def _play(self, losses, rng): ...
