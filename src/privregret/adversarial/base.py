"""What every adversarial-bandit algorithm offers. Losses, not rewards: smaller is better."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from privregret import checks
from privregret.instances import Adversary, Advice, ExpertProblem


class AdversarialAlgorithm(ABC):
    """An algorithm with its parameters, playing against an oblivious adversary.

    Subclasses are frozen dataclasses that check their parameters when made and implement `_run`.
    """

    label: ClassVar[str]  # name in figures and tables; decides colour and marker
    source: ClassVar[str]  # paper key and algorithm number

    def play(self, losses, rng: np.random.Generator) -> np.ndarray:
        """Run the literal algorithm, round by round, on a table of losses.

        Parameters
        ----------
        losses : (T, K) array
            All losses, one row a round, in [0, 1]; T >= K >= 2. Only entries of arms played are read.
        rng : numpy.random.Generator
            Source of the algorithm's own randomness.

        Returns
        -------
        (T,) int64 array
            The arm played in each round, from 0.

        Raises
        ------
        ValueError
            If the table is ragged, has a nan or a loss outside [0, 1], or has fewer rounds than arms.
        """
        losses = checks.table("losses", losses)
        table = Adversary("table", np.arange(len(losses)), losses)
        return self._run(table.tables, np.array([len(losses)]), True, rng)[0]

    def cumulative_loss(self, adversary: Adversary, rounds, rng: np.random.Generator) -> np.ndarray:
        """The learner's cumulative loss in one run; same law as adding up what `play` pays.

        Work is per batch and per segment of the adversary, not per round, wherever the algorithm allows.

        Parameters
        ----------
        adversary : Adversary
            The losses. Of a Bernoulli adversary, the means of the arms played are added up.
        rounds : (H,) array of int
            Increasing rounds at which to report; the last is the horizon.
        rng : numpy.random.Generator
            Source of the algorithm's own randomness, and of a Bernoulli adversary's losses.

        Returns
        -------
        (H,) float array
            Loss in rounds 1..rounds[h].
        """
        if not isinstance(adversary, Adversary):
            raise TypeError(f"{self.label} plays against an Adversary, got {adversary!r}")
        return self._run(adversary.tables, checks.horizons(rounds, 1), False, rng)[1]

    @abstractmethod
    def _run(self, tables, rounds, record, rng):
        """(actions, cumulative losses at `rounds`) on a problem's `tables`; actions only if `record`, on a
        table.
        """


class ExpertAlgorithm(AdversarialAlgorithm):
    """An algorithm that is advised by experts and compared with the best of them."""

    def play(self, losses, advice, rng: np.random.Generator) -> np.ndarray:
        """Run the literal algorithm, round by round.

        Parameters
        ----------
        losses : (T, K) array
            As in `AdversarialAlgorithm.play`.
        advice : (T, N, K) or (N, K) array, or Advice
            Each expert's distribution over the arms, in each round or once for all; N >= 2.
        rng : numpy.random.Generator
            Source of the algorithm's own randomness.

        Returns
        -------
        (T,) int64 array
            The arm played in each round, from 0.

        Raises
        ------
        ValueError
            If shapes do not fit, losses lie outside [0, 1], or advice is not a distribution; nan included.
        """
        losses = checks.table("losses", losses)
        advice = advice if isinstance(advice, Advice) else Advice.of_table(advice)
        if len(advice.starts) > 1 and advice.starts[-1] >= len(losses):
            raise ValueError(f"advice covers {advice.starts[-1] + 1} rounds, losses {len(losses)}")
        problem = ExpertProblem(Adversary("table", np.arange(len(losses)), losses), advice)
        return self._run(problem.tables, np.array([len(losses)]), True, rng)[0]

    def cumulative_loss(self, problem: ExpertProblem, rounds, rng: np.random.Generator) -> np.ndarray:
        """The learner's cumulative loss in one run, as in `AdversarialAlgorithm.cumulative_loss`."""
        if not isinstance(problem, ExpertProblem):
            raise TypeError(f"{self.label} plays an ExpertProblem, got {problem!r}")
        return self._run(problem.tables, checks.horizons(rounds, 1), False, rng)[1]
