"""What every full-information algorithm offers."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from privregret import checks
from privregret.instances import StochasticLosses


class FullInformationAlgorithm(ABC):
    """An algorithm that sees all losses of a round after it has acted. Losses: smaller is better, also for
    hu2021.

    hu2021 has rewards; 1 minus its rewards are losses with the same gaps, on which the algorithms do the
    same. Subclasses are frozen dataclasses that check their parameters when made and implement `_play` and
    `_pull_counts`.
    """

    label: ClassVar[str]  # name in figures and tables; decides colour and marker
    source: ClassVar[str]  # paper key and algorithm number

    def play(self, losses, rng: np.random.Generator) -> np.ndarray:
        """Run the literal algorithm, round by round, on a table of losses.

        Parameters
        ----------
        losses : (T, K) array
            All losses, one row a round, in [0, 1]; T >= 1, K >= 2.
        rng : numpy.random.Generator
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
        return self._play(checks.table("losses", losses, short=True), rng)

    def pull_counts(self, instance: StochasticLosses, horizons, rng: np.random.Generator) -> np.ndarray:
        """How often actions of each group are played; same law as counting what `play` does on the instance's
        losses.

        Parameters
        ----------
        instance : StochasticLosses
            With at most 10^7 actions.
        horizons : (H,) array of int
            Increasing rounds at which to report; the last is the horizon.
        rng : numpy.random.Generator
            Source of losses and of the algorithm's own randomness.

        Returns
        -------
        (H, G) int64 array
            Rounds in 1..horizons[h] in which an action of group g was played.
        """
        if not isinstance(instance, StochasticLosses):
            raise TypeError(f"instance must be StochasticLosses, got {type(instance).__name__} (instances.with_losses)")
        law = np.array(instance.outcomes), np.array(instance.probabilities), instance.counts
        return self._pull_counts(*law, instance.bits, checks.horizons(horizons, 1), rng)

    @abstractmethod
    def _play(self, losses, rng): ...

    @abstractmethod
    def _pull_counts(self, outcomes, probabilities, counts, bits, horizons, rng): ...
