"""Run EXP3, HTINF and FTPL, bandit algorithms that tolerate any real losses.

Alone they are not private, and take losses in [0, 1], as `play` and `observe` of all algorithms
do. Losses outside [0, 1] reach them only inside Algorithm 1 of asi2025 (`conversions.py`), as noisy
averages over batches.
"""

from dataclasses import dataclass

from privregret.adversarial.base import AdversarialAlgorithm
from privregret.adversarial.batches import (
    BATCH,
    CHOICE,
    EXP3_STEP,
    FTPL_STEP,
    HTINF_STEP,
    RESAMPLINGS,
    Batches,
    choose,
    cumulative_losses,
    observe,
)
from privregret.adversarial.lanes import without_noise
from privregret.core import checks
from privregret.core.algorithm import NOT_PRIVATE, Steps
from privregret.core.loops import LANES


class RealLossBandit(AdversarialAlgorithm):
    """Choose among arms with any real losses, without privacy of its own: `conversions` adds it.

    `settings` has batches of one round.
    """

    privacy = NOT_PRIVATE
    steps = Steps(CHOICE, BATCH, choose, observe)
    events, lanes, block = cumulative_losses, without_noise, LANES


@dataclass(frozen=True)
class EXP3(RealLossBandit):
    """EXP3 with mixing: softmax of the estimated losses, mixed with uniform play.

    Estimates are y / P(I), for any real y. Privacy: none by itself. Tuning: `tuning.batched_exp3`.
    O(K) per step.

    Parameters
    ----------
    eta : float
        Learning rate, above 0.
    gamma : float
        Probability of uniform play, in [0, 1].
    """

    eta: float
    gamma: float
    id = "exp3"
    label = "EXP3"
    source = "asi2025, Algorithm 3"
    rules = {"eta": checks.positive, "gamma": checks.probability}

    def settings(self, horizon: int | None, arms: int) -> Batches:
        return Batches(EXP3_STEP, self.eta, self.gamma)


@dataclass(frozen=True)
class HTINF(RealLossBandit):
    """HTINF for second moments: Tsallis-INF that skips large losses.

    Tsallis-INF has power 1/2 and learning rate 1 / (sigma sqrt t). A loss y of an arm played with
    probability x in step t counts only if |y| <= (1 - 2^(-1/3)) sigma sqrt(t x). Public code that
    tests y without the absolute value is wrong: losses with noise are negative as often as not.
    Privacy: none by itself. Anytime, O(K) per step.

    Parameters
    ----------
    sigma : float
        Above 0; the second moment of the losses is at most sigma^2.
    """

    sigma: float
    id = "htinf"
    label = "HTINF"
    source = "Huang, Dai and Huang 2022, Algorithm 1; base of asi2025, Corollary 2"
    rules = {"sigma": checks.positive}

    def settings(self, horizon: int | None, arms: int) -> Batches:
        return Batches(HTINF_STEP, self.sigma)


@dataclass(frozen=True)
class FTPL(RealLossBandit):
    """Follow the perturbed leader with geometric resampling.

    The leader is the argmin of estimated losses plus Lap(1 / eta) on each. Instead of 1 / P(I) the
    estimate uses the number of fresh perturbations until I leads again, at most `cap`. Privacy:
    none by itself (the perturbation is not made for it). Tuning: `tuning.batched_ftpl`. Mean O(K^2)
    per step.

    Parameters
    ----------
    eta : float
        Inverse scale of the perturbation, above 0.
    cap : int
        Largest number of fresh perturbations, at least 1.
    resampling : {"corrected", "zero at cap", "printed"}
        "corrected": until I is argmin, `cap` if it never is, as in Neu and Bartok and in the proof.
        "zero at cap": 0 if it never is. "printed": until I is arg*max*, and 0 if it never is; this
        estimates the wrong quantity, and does not learn.
    """

    eta: float
    cap: int
    resampling: str = "corrected"
    id = "ftpl"
    source = "asi2025, Algorithm 4"
    rules = {
        "eta": checks.positive,
        "cap": checks.positive_int,
        "resampling": checks.one_of(*RESAMPLINGS),
    }

    @property
    def label(self) -> str:
        return "FTPL" if self.resampling == "corrected" else f"FTPL ({self.resampling})"

    def settings(self, horizon: int | None, arms: int) -> Batches:
        return Batches(
            FTPL_STEP, self.eta, cap=self.cap, resampling=RESAMPLINGS.index(self.resampling)
        )
