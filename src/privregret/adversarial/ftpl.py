"""FTPL, the perturbed leader with geometric resampling: Algorithm 4 of asi2025"""

import math
from dataclasses import dataclass

import numpy as np

from privregret.adversarial.base import AdversarialAlgorithm
from privregret.adversarial.fast import SeparateRuns
from privregret.core import checks
from privregret.core.algorithm import NOT_PRIVATE, NOTHING, Steps
from privregret.core.jit import jit
from privregret.core.noise import laplace

RESAMPLINGS = ("corrected", "zero at cap", "printed")
CORRECTED, _, PRINTED = range(3)
ARM = np.dtype([("estimate", float)])  # estimated sum of its losses so far


@jit
def _choose(arms, state, settings, t, rng):
    """Return the arm with the smallest estimate after Laplace noise on each."""
    best, leader = math.inf, 0
    for i in range(len(arms)):
        score = arms[i]["estimate"] + laplace(1 / settings.eta, rng)
        if score < best:
            best, leader = score, i
    return leader


@jit
def _observe(arms, state, settings, t, j, y, rng):
    """Add y to the estimate, times the number of perturbations until the arm leads again."""
    again = resamples(arms, j, 1 / settings.eta, settings.cap, settings.resampling, rng)
    arms[j]["estimate"] += y * again


@jit
def resamples(arms, played, scale, cap, resampling, rng):
    """Count fresh perturbations, each drawn only as far as needed, until `played` leads again."""
    sign = -1.0 if resampling == PRINTED else 1.0
    for k in range(1, cap + 1):
        score = sign * (arms[played]["estimate"] + laplace(scale, rng))
        leads = True
        for i in range(len(arms)):
            if i != played and sign * (arms[i]["estimate"] + laplace(scale, rng)) <= score:
                leads = False
                break
        if leads:
            return k
    return cap if resampling == CORRECTED else 0


@dataclass(frozen=True)
class FTPL(SeparateRuns, AdversarialAlgorithm):
    """Follow the perturbed leader with geometric resampling.

    The leader is the argmin of estimated losses plus Lap(1 / eta) on each. Instead of 1 / P(I) the
    estimate uses the number of fresh perturbations until I leads again, at most `cap`. Privacy:
    none by itself (the perturbation is not made for it). Tuning: `tuning.batched_ftpl`. Mean O(K^2)
    per step. Plain version: `PlainFTPL` of notebook asi2025/E.
    Deviations: `resampling` repairs the listing by default; `tuning` has it as printed, and rounds
    the cap up.

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
    steps = Steps(ARM, NOTHING, _choose, _observe)
    rules = {
        "eta": checks.positive,
        "cap": checks.positive_int,
        "resampling": checks.one_of(*RESAMPLINGS),
    }

    privacy, real_losses = NOT_PRIVATE, True

    @property
    def label(self) -> str:
        return "FTPL" if self.resampling == "corrected" else f"FTPL ({self.resampling})"
