"""EXP3, HTINF and FTPL: the bandit algorithms that tolerate real-valued losses, and one kernel for all uses of them.

Alone they are not private. The conversions in `conversions.py` run them on noisy averages over batches.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from privregret import checks
from privregret.adversarial.base import AdversarialAlgorithm
from privregret.adversarial.cells import draw, next_segments
from privregret.algorithm import NOT_PRIVATE
from privregret.jit import jit
from privregret.noise import laplace

EXP3_STEP, HTINF_STEP, FTPL_STEP = range(3)
RESAMPLINGS = ("corrected", "zero at cap", "printed")
CORRECTED, ZERO_AT_CAP, PRINTED = range(3)
THETA = 1 - 2 ** (-1 / 3)  # HTINF's skipping factor for second moments


class Step(NamedTuple):
    """What the kernel needs to know of a bandit algorithm: which one it is, and its parameters."""

    kind: int
    rate: float
    mixing: float = 0.0
    cap: int = 0
    resampling: int = CORRECTED


class RealLossBandit(AdversarialAlgorithm):
    """A bandit algorithm without privacy of its own, for any real losses."""

    longest = checks.ROUNDS

    @property
    @abstractmethod
    def step(self) -> Step: ...

    @property
    def privacy(self):
        return NOT_PRIVATE

    def _kernel(self, data, rounds, record=False):
        return play, (data, rounds, record, self.step, 1, 0.0)


@dataclass(frozen=True)
class EXP3(RealLossBandit):
    """EXP3 with mixing: softmax of the estimated losses, gamma of it uniform; estimates y / P(I), any real y.

    Privacy: none by itself. Tuning: `tuning.batched_exp3`. O(K) a step.

    Parameters
    ----------
    eta : float
        Learning rate, above 0.
    gamma : float
        Share of uniform play, in [0, 1].
    """

    eta: float
    gamma: float
    label = "EXP3"
    source = "asi2025, Algorithm 3"
    rules = {"eta": checks.positive, "gamma": checks.probability}

    @property
    def step(self):
        return Step(EXP3_STEP, self.eta, self.gamma)


@dataclass(frozen=True)
class HTINF(RealLossBandit):
    """HTINF for second moments: Tsallis-INF (power 1/2, learning rate 1 / (sigma sqrt t)) that skips large losses.

    A loss y of an arm played with probability x in step t counts only if |y| <= (1 - 2^(-1/3)) sigma sqrt(t x).
    Public code that tests y without the absolute value is wrong: losses with noise are negative as often as not.
    Privacy: none by itself. Anytime, O(K) a step.

    Parameters
    ----------
    sigma : float
        Above 0; the second moment of the losses is at most sigma^2.
    """

    sigma: float
    label = "HTINF"
    source = "Huang, Dai and Huang 2022, Algorithm 1; base of asi2025, Corollary 2"
    rules = {"sigma": checks.positive}

    @property
    def step(self):
        return Step(HTINF_STEP, self.sigma)


@dataclass(frozen=True)
class FTPL(RealLossBandit):
    """Follow the perturbed leader with geometric resampling: argmin of estimated losses plus Lap(1 / eta) on each.

    Instead of 1 / P(I) the estimate uses the number of fresh perturbations until I leads again, at most `cap`.
    Privacy: none by itself (the perturbation is not made for it). Tuning: `tuning.batched_ftpl`. Mean O(K^2) a step.

    Parameters
    ----------
    eta : float
        Inverse scale of the perturbation, above 0.
    cap : int
        Most fresh perturbations, at least 1.
    resampling : {"corrected", "zero at cap", "printed"}
        "corrected": until I is argmin, `cap` if it never is, as in Neu and Bartok and in the proof. "zero at cap": 0
        if it never is. "printed": until I is arg*max*, and 0 if it never is; this estimates the wrong quantity, and
        does not learn.
    """

    eta: float
    cap: int
    resampling: str = "corrected"
    source = "asi2025, Algorithm 4"
    rules = {"eta": checks.positive, "cap": checks.positive_int, "resampling": checks.one_of(*RESAMPLINGS)}

    @property
    def label(self):
        return "FTPL" if self.resampling == "corrected" else f"FTPL ({self.resampling})"

    @property
    def step(self):
        return Step(FTPL_STEP, self.eta, cap=self.cap, resampling=RESAMPLINGS.index(self.resampling))


@jit
def softmax(estimate, eta, weight):
    """weight_i = exp(-eta (estimate_i - min)), not normalised; returns the smallest estimate."""
    low = estimate.min()
    for i in range(len(weight)):
        weight[i] = math.exp(-eta * (estimate[i] - low))
    return low


@jit
def mixed(weight, gamma, p):
    """p = (1 - gamma) of the weights, normalised, and gamma / K for each; returns the sum of the weights."""
    total = 0.0
    for i in range(len(p)):
        total += weight[i]
    share, least = (1 - gamma) / total, gamma / len(p)
    for i in range(len(p)):
        p[i] = share * weight[i] + least
    return total


@jit
def exp3_weights(estimate, eta, gamma, p):
    """p = (1 - gamma) softmax(-eta estimate) + gamma / K."""
    softmax(estimate, eta, p)
    mixed(p, gamma, p)


@jit
def htinf_weights(estimate, eta, w, p):
    """p_i = (eta (estimate_i - min) + w)^-2, summing to 1; returns w in [1, sqrt K], found by Newton's method.

    The sum is convex and decreasing in w: from the left Newton's steps never cross the root; from the right the first
    does. The w given, the last step's, is only where to start. A short step takes the second derivative along, and
    after a very short one the terms are continued from where they were last worked out, which saves the divisions.
    """
    low = estimate[0]
    for i in range(1, len(p)):
        if estimate[i] < low:
            low = estimate[i]
    for _ in range(100):
        squares, cubes, fourths = 0.0, 0.0, 0.0
        for i in range(len(p)):
            inverse = 1 / (eta * (estimate[i] - low) + w)
            square = inverse * inverse
            p[i] = inverse
            squares += square
            cubes += square * inverse
            fourths += square * square
        change = (squares - 1) / (2 * cubes)
        if abs(change) < 0.1:
            change += 1.5 * fourths * change * change / cubes
        change = max(1 - w, change)
        w += change
        if abs(change) < 3e-5:  # the step leaves an error of its third power, and so does the series
            break
    for i in range(len(p)):
        x = p[i] * change
        p[i] *= p[i] * (1 + x * (3 * x - 2))
    return w


@jit
def perturbed_leader(estimate, scale, rng):
    """Index of the smallest estimate after Laplace noise on each."""
    best, leader = math.inf, 0
    for i in range(len(estimate)):
        score = estimate[i] + laplace(scale, rng)
        if score < best:
            best, leader = score, i
    return leader


@jit
def resamples(estimate, played, scale, cap, resampling, rng):
    """Fresh perturbations until arm `played` leads again; each as if drawn in full, but no longer than it takes."""
    sign = -1.0 if resampling == PRINTED else 1.0
    for k in range(1, cap + 1):
        score = sign * (estimate[played] + laplace(scale, rng))
        leads = True
        for i in range(len(estimate)):
            if i != played and sign * (estimate[i] + laplace(scale, rng)) <= score:
                leads = False
                break
        if leads:
            return k
    return cap if resampling == CORRECTED else 0


@jit
def play(tables, rounds, record, step, tau, scale, rng):
    """A bandit algorithm that chooses once in `tau` rounds and is told the batch's average loss plus Lap(scale).

    Its choices are experts (for a plain bandit: expert j always names arm j). A batch is cut into cells in which losses
    and advice are constant; on a table cells are rounds. Returns actions (if `record`; then on a table) and the
    cumulative mean loss at `rounds`.
    """
    kind, rate, mixing, cap, resampling = step
    loss_starts, losses, bernoulli, advice_starts, rows, point, group = tables
    horizon = rounds[-1]
    choices = group.shape[1]
    arms = losses.shape[1]
    actions = np.empty(horizon if record else 0, np.int64)
    paid = np.empty(len(rounds))
    estimate = np.zeros(choices)
    p = np.empty(choices)
    weights = np.ones(choices)  # EXP3's: only that of the arm played changes, until all are too small or large
    low, w = 0.0, 1.0
    total = 0.0
    segment, advised, change, reported = 0, 0, 0, 0
    batch = 0
    t = 0
    while t < horizon:
        batch += 1
        if kind == EXP3_STEP:
            if not 1e-100 < mixed(weights, mixing, p) < 1e100:
                low = softmax(estimate, rate, weights)
                mixed(weights, mixing, p)
            j = draw(p, rng)
        elif kind == HTINF_STEP:
            w = htinf_weights(estimate, 1 / (rate * math.sqrt(batch)), w, p)
            j = draw(p, rng)
        else:
            j = perturbed_leader(estimate, 1 / rate, rng)
        end = t + tau
        last = min(end, horizon)
        observed = 0.0
        while t < last:
            if t == change:
                segment, advised, change = next_segments(loss_starts, advice_starts, segment, advised, t)
            stop = min(last, rounds[reported], change)
            row = group[advised, j]
            i = point[advised, row]
            if i < 0 and stop - t == 1:
                i = draw(rows[advised, row], rng)
            if i >= 0:
                mean = losses[segment, i]
                total += (stop - t) * mean
                if not bernoulli:
                    observed += (stop - t) * mean
                elif stop - t == 1:
                    observed += 1.0 if rng.random() < mean else 0.0
                else:
                    observed += rng.binomial(stop - t, mean)
                if record:
                    actions[t] = i
            else:  # the expert's arms in this cell, counted: multinomial, one binomial after the other
                left, share = stop - t, 1.0
                for i in range(arms):
                    weight = rows[advised, row, i]
                    if left == 0 or weight == 0:
                        continue
                    plays = left if weight >= share or i == arms - 1 else rng.binomial(left, weight / share)
                    left -= plays
                    share -= weight
                    mean = losses[segment, i]
                    total += plays * mean
                    observed += rng.binomial(plays, mean) if bernoulli else plays * mean
            t = stop
            if t == rounds[reported]:
                paid[reported] = total
                reported += 1
        if t < end:
            break
        y = observed / tau
        if scale > 0:
            y += laplace(scale, rng)
        if kind == EXP3_STEP:
            estimate[j] += y / p[j]
            weights[j] = math.exp(min(700.0, -rate * (estimate[j] - low)))
        elif kind == HTINF_STEP:
            if abs(y) <= THETA * rate * math.sqrt(batch * p[j]):
                estimate[j] += y / p[j]
        else:
            estimate[j] += y * resamples(estimate, j, 1 / rate, cap, resampling, rng)
    return actions, paid
