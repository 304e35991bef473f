"""Follow-the-Noisy-Leader on epochs that grow by any factor, with a random phase."""

import math
from dataclasses import dataclass

import numpy as np

from privregret.core import checks
from privregret.exact.regret import NEGLIGIBLE, Regret, expected_gap, expected_gaps, largest_gaps
from privregret.full_information import FTNL
from privregret.full_information.epochs import rounds_of
from privregret.instances import StochasticLosses

# evenly spaced phases that stand for a random one, with a formula and without
PHASES, FEW_PHASES = 2048, 16


@dataclass(frozen=True)
class PhasedFTNL(FTNL):
    """FTNL on epochs that grow by any factor, by default with a random phase.

    Epoch i = 0, 1, ... has ceil(growth^(i + U)) rounds, with U uniform on [0, 1) and drawn once, or
    U = 0 without a random phase. U does not depend on the losses, so the privacy is that of FTNL.
    Other parameters are those of `FTNL`.

    Parameters
    ----------
    growth : float
        Factor in [1.01, 100] by which epochs grow; e is the best with a random phase, 2 without.
        With e, regret tends to 2 e ln K / epsilon for gaps far above epsilon, and no private
        learner has a smaller constant on all stochastic losses (companion/constants, Theorem 7).
    random_phase : bool
        Whether U is random.
    """

    growth: float = math.e
    random_phase: bool = True
    id = "ftnl-phase"
    source = "companion/constants, Theorem 4"
    rules = FTNL.rules | {"growth": checks.number_in(1.01, 100), "random_phase": checks.boolean}

    @property
    def label(self) -> str:
        growth = "e" if self.growth == math.e else f"{self.growth:.4g}"
        extras = [f"growth {growth}"] * (self.growth != math.e or not self.random_phase)
        extras += ["random phase"] * self.random_phase
        return f"{super().label[:-1]}, {', '.join(extras)})"

    def expected_regret(self, instance: StochasticLosses, horizons: np.ndarray) -> Regret:
        """Return expected regret; see `exact.expected_regret`.

        The error of the mean over U is taken to be how far every other phase is from the rest.
        """
        scale = self.noise_scale(np.exp(min(instance.log_actions, 700.0)))
        formula = len(instance.outcomes) == 1 and not instance.bits and self.noise == "gumbel"
        count = (PHASES if formula else FEW_PHASES) if self.random_phase else 1
        phases = (np.arange(count) + 0.5) / count if self.random_phase else np.zeros(1)
        all_lengths = [epoch_lengths(self.growth, int(horizons[-1]), phase) for phase in phases]
        rounds = np.unique(np.concatenate(all_lengths))
        bounds = largest_gaps(instance, rounds, self.noise, scale)
        costly = bounds * rounds >= NEGLIGIBLE
        gaps, errors = np.zeros(len(rounds)), np.where(costly, 0.0, bounds)
        gaps[costly], errors[costly] = expected_gaps(instance, rounds[costly], self.noise, scale)
        first, _ = expected_gap(instance, 0, "none", 1.0)
        curves, off = [], np.zeros(len(horizons))
        for lengths in all_lengths:
            starts = np.cumsum(lengths) - lengths
            played = np.clip(horizons[:, None] - starts, 0, lengths)
            chosen = np.searchsorted(rounds, lengths[:-1])
            curves.append(played[:, 0] * first + played[:, 1:] @ gaps[chosen])
            off += played[:, 1:] @ errors[chosen] / count
        if count > 1:
            off += np.abs(np.mean(curves[::2], axis=0) - np.mean(curves[1::2], axis=0))
        return Regret(np.mean(curves, axis=0), off)


def epoch_lengths(growth: float, horizon: int, phase: float = 0.0) -> np.ndarray:
    """Return the rounds of each epoch that starts by the horizon, when U = phase."""
    size, lengths, played = growth**phase, [], 0
    while played < horizon:
        lengths.append(rounds_of(size))
        size, played = size * growth, played + lengths[-1]
    return np.array(lengths)
