"""What every adversarial-bandit algorithm offers. Losses, not rewards: smaller is better."""

from abc import abstractmethod

import numpy as np

from privregret import checks
from privregret.algorithm import Algorithm, checked_actions
from privregret.instances import Adversary, Advice, ExpertProblem


class AdversarialAlgorithm(Algorithm):
    """An algorithm with its parameters, playing against an oblivious adversary.

    `run` gives the cumulative loss. Of a Bernoulli adversary, the means of the arms played are added up. Work is per
    batch and per segment of the adversary, not per round, wherever the algorithm allows. Subclasses are frozen
    dataclasses that implement `_kernel`.
    """

    plays = Adversary

    def play(self, losses, rng) -> np.ndarray:
        """Run the literal algorithm, round by round, on a table of losses.

        Parameters
        ----------
        losses : (T, K) array
            All losses, one row a round, in [0, 1]; T >= K >= 2. Only entries of arms played are read.
        rng : int or numpy.random.Generator
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
        return self._play(Adversary("table", np.arange(len(losses)), losses), losses, rng)

    def _play(self, problem, losses, rng):
        kernel, given = self._kernel(problem.data, np.array([len(losses)]), True)
        return checked_actions(kernel(*given, np.random.default_rng(rng))[0], *losses.shape)

    @abstractmethod
    def _kernel(self, data, rounds, record=False):
        """The kernel gives actions, if they are to be recorded, on a table, and cumulative losses at `rounds`."""


class ExpertAlgorithm(AdversarialAlgorithm):
    """An algorithm that is advised by experts and compared with the best of them."""

    plays = ExpertProblem

    def play(self, losses, advice, rng) -> np.ndarray:
        """Run the literal algorithm, round by round.

        Parameters
        ----------
        losses : (T, K) array
            As in `AdversarialAlgorithm.play`.
        advice : (T, N, K) or (N, K) array, or Advice
            Each expert's distribution over the arms, in each round or once for all; N >= 2.
        rng : int or numpy.random.Generator
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
        is_table = not isinstance(advice, Advice)
        advice = Advice.of_table(advice) if is_table else advice
        covered = advice.starts[-1] + 1
        if covered > 1 and (covered > len(losses) or (is_table and covered < len(losses))):
            raise ValueError(f"advice covers {covered} rounds, losses {len(losses)}")
        problem = ExpertProblem(Adversary("table", np.arange(len(losses)), losses), advice)
        return self._play(problem, losses, rng)
