"""Algorithm 1 of asi2025 with its bases HTINF, EXP3 and FTPL; Algorithm 5, from arms to experts.

A base chooses an arm, then learns from one real number y in place of its loss. Alone y is the loss,
and the base is not private. In Algorithm 1 y is the average loss of a batch of tau rounds with
noise. All of them share the loop below, in which tau = 1 without noise is the base alone, and the
choices are arms or experts. A reader of the paper can skip `alone` and, but for `drawn`, `fast.py`:
they only save time.
"""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from privregret.adversarial.base import AdversarialAlgorithm, ExpertAlgorithm
from privregret.adversarial.fast import drawn, in_lanes, next_segments, plays_and_losses
from privregret.core import checks, loops
from privregret.core.algorithm import EPSILON_DP, NOT_PRIVATE, NOTHING, Privacy, Steps
from privregret.core.jit import jit, keep_alive
from privregret.core.loops import LANES
from privregret.core.noise import laplace
from privregret.instances import Adversary

PUBLIC_ADVICE = "all losses of one round replaced; advice is public"
EXP3_STEP, HTINF_STEP, FTPL_STEP = range(3)
RESAMPLINGS = ("corrected", "zero at cap", "printed")
CORRECTED, _, PRINTED = range(3)
THETA = 1 - 2 ** (-1 / 3)  # HTINF's skipping factor for second moments


class Settings(NamedTuple):
    """A base, and the batches in which it is played."""

    kind: int  # EXP3_STEP, HTINF_STEP or FTPL_STEP
    rate: float  # eta; sigma of HTINF
    mixing: float = 0.0  # gamma of EXP3
    theta: float = 0.0  # HTINF's skipping factor
    cap: int = 0  # of FTPL
    resampling: int = CORRECTED
    tau: int = 1  # rounds in a batch
    scale: float = 0.0  # Laplace scale of the noise in its average


CHOICE = np.dtype(
    [
        ("estimate", float),  # estimated sum of its losses so far
        ("p", float),  # probability of being chosen
        ("weight", float),  # weight of EXP3, not normalised
    ]
)
BATCH = np.dtype(
    [
        ("number", np.int64),  # number of the batch, from 1
        ("chosen", np.int64),
        ("observed", float),  # sum of its losses
        ("low", float),  # EXP3: the estimate whose weight is 1
        ("w", float),  # HTINF: the last normalisation
    ]
)


# Algorithm 1
# --------------------------------------------------------------------------------------------------


@jit
def choose(choices, batch, settings, t, rng):
    """Lines 3 to 5: the base chooses once per batch."""
    if (t - 1) % settings.tau == 0:
        next_choice(choices, batch, settings, rng)
    return batch["chosen"]


@jit
def observe(choices, batch, settings, t, j, loss, rng):
    """Lines 6 to 9: at the end of a batch the base learns the average loss plus noise."""
    batch["observed"] += loss
    if t % settings.tau == 0:
        learn(choices, batch, settings, rng)


@jit
def next_choice(choices, batch, settings, rng):
    """Begin a batch with the base's choice."""
    batch["number"] += 1
    batch["observed"] = 0.0
    if settings.kind == FTPL_STEP:
        batch["chosen"] = perturbed_leader(choices, 1 / settings.rate, rng)
        return batch["chosen"]
    if settings.kind == HTINF_STEP:
        eta = 1 / (settings.rate * math.sqrt(batch["number"]))
        batch["w"] = htinf_weights(choices, eta, max(1.0, batch["w"]))
    else:
        if batch["number"] == 1:
            for i in range(len(choices)):
                choices[i]["weight"] = 1.0
        batch["low"] = exp3_weights(choices, settings.rate, settings.mixing, batch["low"])
    batch["chosen"] = drawn(choices["p"], rng.random())
    return batch["chosen"]


@jit
def learn(choices, batch, settings, rng):
    """Update the base's estimate for its choice with y, the batch's average loss plus noise."""
    j, rate = batch["chosen"], settings.rate
    y = batch["observed"] / settings.tau
    if settings.scale > 0:
        y += laplace(settings.scale, rng)
    if settings.kind == EXP3_STEP:
        choices[j]["estimate"] += y / choices[j]["p"]
        ahead = -rate * (choices[j]["estimate"] - batch["low"])
        choices[j]["weight"] = math.exp(min(700.0, ahead))
    elif settings.kind == HTINF_STEP:
        if abs(y) <= settings.theta * rate * math.sqrt(batch["number"] * choices[j]["p"]):
            choices[j]["estimate"] += y / choices[j]["p"]
    else:
        again = resamples(choices, j, 1 / rate, settings.cap, settings.resampling, rng)
        choices[j]["estimate"] += y * again


@jit
def alone(tables, checkpoints, settings, rng):
    """The same, batch by batch, on cells of rounds; of a plain bandit, expert j names arm j."""
    horizon, arms, tau = checkpoints[-1], tables.losses.shape[1], settings.tau
    losses, bernoulli, point, rows = tables.losses, tables.bernoulli, tables.point, tables.rows
    choices, batches = np.zeros(tables.group.shape[1], CHOICE), np.zeros(1, BATCH)
    batch, paid = batches[0], np.empty(len(checkpoints))
    counts, seen = np.empty(arms, np.int64), np.empty(arms)
    total = 0.0
    segment, advised, change, reported, t = 0, 0, 0, 0, 0
    while t < horizon:
        j = next_choice(choices, batch, settings, rng)
        end = t + tau
        last = min(end, horizon)
        observed = 0.0
        while t < last:
            if t == change:
                segment, advised, change = next_segments(
                    tables.loss_starts, tables.advice_starts, segment, advised, t
                )
            stop = min(last, checkpoints[reported], change)
            row = tables.group[advised, j]
            i = point[advised, row]
            if i < 0 and stop - t == 1:
                i = drawn(rows[advised, row], rng.random())
            if i >= 0:
                mean = losses[segment, i]
                total += (stop - t) * mean
                if not bernoulli:
                    observed += (stop - t) * mean
                elif stop - t == 1:
                    observed += 1.0 if rng.random() < mean else 0.0
                else:
                    observed += rng.binomial(stop - t, mean)
            else:
                plays_and_losses(
                    rows[advised, row], stop - t, losses[segment], bernoulli, counts, seen, rng
                )
                for i in range(arms):
                    total += counts[i] * losses[segment, i]
                    observed += seen[i]
            t = stop
            if t == checkpoints[reported]:
                paid[reported] = total
                reported += 1
        if t < end:
            break
        batch["observed"] = observed
        learn(choices, batch, settings, rng)
    keep_alive(batches)
    return paid


def together(tables, checkpoints, settings, rngs, runs):
    """Several runs, each from its own generator, side by side where that is faster."""
    if runs < 4 or settings.kind == FTPL_STEP or tables.point.min() < 0:
        return np.array([alone(tables, checkpoints, settings, rng) for rng in rngs[:runs]])
    return in_lanes(tables, checkpoints, settings, rngs, runs, np.empty((0, 0, 3)))


class _ByBatches(AdversarialAlgorithm):
    """What plays by the loop above: bases alone, and in batches."""

    steps = Steps(CHOICE, BATCH, choose, observe)
    events, lanes, block = alone, together, LANES


class RealLossBandit(_ByBatches):
    """A bandit algorithm for any real losses: a base of Algorithm 1. Alone it is not private.

    `play` and `run` take losses in [0, 1], as those of all algorithms do.
    """

    privacy = NOT_PRIVATE


def batch_size(epsilon: float) -> int:
    """Return ceil(1 / epsilon), robust to rounding; 1 if epsilon > 1."""
    epsilon = checks.positive("epsilon", epsilon)
    return min(max(1, math.ceil((1 / epsilon) * (1 - 1e-12))), checks.LARGEST)


def _base(name, value):
    if not isinstance(value, RealLossBandit):
        raise TypeError(f"{name} must be EXP3, HTINF or FTPL, got {checks.shown(value)}")
    return value


@dataclass(frozen=True)
class BatchedPrivate(_ByBatches):
    """The conversion: each choice of `base` is played for tau rounds, and costs a noisy average.

    The noise on the average is Lap(1 / (tau epsilon)). Twin: tests/naive/adversarial.py,
    `conversion`.

    Privacy: epsilon-DP for the sequence of actions when one round's losses are replaced, whatever
    the base: the round moves one average by at most 1 / tau. Rounds of a last partial batch are not
    used.

    Parameters
    ----------
    base : EXP3, HTINF or FTPL
        Runs on at most T / tau noisy averages; `tuning` has the paper's parameters.
    epsilon : float
        Privacy parameter, above 0. The paper has epsilon <= 1; above 1, batches have one round.
    tau : int or None
        Batch size, at least 1; None means ceil(1 / epsilon).
    """

    base: RealLossBandit
    epsilon: float
    tau: int | None = None
    id = "batched-private"
    source = "asi2025, Algorithm 1"
    rules = {"base": _base, "epsilon": checks.positive, "tau": checks.positive_int}
    privacy = EPSILON_DP

    def __post_init__(self):
        # the repr, and with it the random streams, contain the size
        if self.tau is None:
            object.__setattr__(self, "tau", batch_size(self.epsilon))
        super().__post_init__()

    @property
    def label(self) -> str:
        return f"Batched {self.base.label}"

    @property
    def longest(self) -> int:
        return min(checks.ROUNDS * self.tau, checks.LARGEST)

    @property
    def scale(self) -> float:
        """Return the Laplace scale of the noise in an average, 1 / (tau epsilon)."""
        return 1 / (self.tau * self.epsilon)

    def settings(self, horizon: int | None, arms: int) -> Settings:
        return self.base.settings(horizon, arms)._replace(tau=self.tau, scale=self.scale)

    def run_with_noise(
        self, problem: Adversary, horizon: int, rng: int | np.random.Generator, runs: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (runs, 1) losses, as `run` at the horizon, and (runs, K, 3) sums of the noise.

        The sums are, for each arm, over the complete batches s in which it is played, with
        probability p: of the noise z, of z / sqrt s and of z / sqrt p. A choice is drawn before its
        noise, so they have mean zero. Runs differ in their regret mostly by their noise, so the
        sums are control variates for its mean (`estimates.controlled`). Other parameters and errors
        are as of `run`; TypeError if `base` is FTPL.
        """
        if isinstance(self.base, FTPL):
            raise TypeError(f"the base must be EXP3 or HTINF, got {self.base}")
        data, rule = self.data_of(problem), checks.checkpoints(problem.shortest, self.longest)
        rounds, several = rule("horizon", [horizon]), checks.positive_int("runs", runs)
        settings, rng = self.settings(horizon, *problem.sizes), np.random.default_rng(rng)

        def losses_and_noise(*arguments):
            noise = np.zeros((arguments[-1], *problem.sizes, 3))
            losses = in_lanes(*arguments, noise)
            return np.column_stack([losses, noise.reshape(len(noise), -1)])

        found = loops.side_by_side(losses_and_noise, data, rounds, settings, several, rng)
        return found[:, :1], found[:, 1:].reshape(runs, -1, 3)


@dataclass(frozen=True)
class LocallyPrivate(BatchedPrivate):
    """The older conversion: each loss that `base` observes has noise Lap(1 / epsilon).

    Privacy: epsilon-DP in the local model, hence in the central one as well. Parameters and twin as
    of `BatchedPrivate`, with tau = 1.
    """

    tau: int = field(default=1, init=False)
    id = "locally-private"
    source = "asi2025, Algorithm 1 with batches of one round; Agarwal and Singh 2017"

    @property
    def label(self) -> str:
        return f"Local {self.base.label}"


# HTINF, the base of Corollary 2
# --------------------------------------------------------------------------------------------------


@jit
def htinf_weights(choices, eta, w):
    """Set p_i = (eta (estimate_i - min) + w)^-2 with sum 1; return w in [1, sqrt K].

    Newton's method begins where w was. The sum is convex and decreasing in w: from the left its
    steps never cross the root; from the right the first step does.
    """
    low = choices[0]["estimate"]
    for i in range(1, len(choices)):
        if choices[i]["estimate"] < low:
            low = choices[i]["estimate"]
    for _ in range(100):
        total, cubes = 0.0, 0.0
        for i in range(len(choices)):
            inverse = 1 / (eta * (choices[i]["estimate"] - low) + w)
            choices[i]["p"] = inverse * inverse
            total += inverse * inverse
            cubes += inverse * inverse * inverse
        if abs(total - 1) < 1e-12:
            break
        w += max(1 - w, (total - 1) / (2 * cubes))
    return w


@dataclass(frozen=True)
class HTINF(RealLossBandit):
    """HTINF for second moments: Tsallis-INF that skips large losses.

    Tsallis-INF has power 1/2 and learning rate 1 / (sigma sqrt t). A loss y of an arm played with
    probability x in step t counts only if |y| <= (1 - 2^(-1/3)) sigma sqrt(t x). Public code that
    tests y without the absolute value is wrong: losses with noise are negative as often as not.
    Privacy: none by itself. Anytime, O(K) per step. Twin: tests/naive/adversarial.py, `HTINF`.

    Parameters
    ----------
    sigma : float
        Above 0; the second moment of the losses is at most sigma^2. 1 is enough for losses in
        [0, 1]; asi2025 has sqrt(6) for its noisy averages (`tuning`).
    """

    sigma: float
    id = "htinf"
    label = "HTINF"
    source = "Huang, Dai and Huang 2022, Algorithm 1; base of asi2025, Corollary 2"
    rules = {"sigma": checks.positive}

    def settings(self, horizon: int | None, arms: int) -> Settings:
        return Settings(HTINF_STEP, self.sigma, theta=THETA)


# Algorithm 5, from arms to experts
# --------------------------------------------------------------------------------------------------


def _bandit(name, value):
    if not isinstance(value, _ByBatches):
        raise TypeError(
            f"{name} must be EXP3, HTINF or FTPL, plain or private, got {checks.shown(value)}"
        )
    return value


@jit
def _choose(experts, arms, batch, settings, t, advice, rng):
    """Draw an arm from the advice of the expert that the bandit algorithm has chosen."""
    followed = advice[choose(experts, batch, settings, t, rng)]
    for i in range(len(followed)):
        if followed[i] == 1:
            return i
    return drawn(followed, rng.random())


@jit
def _observe(experts, arms, batch, settings, t, advice, i, loss, rng):
    """Pass the arm's loss on as that of the expert."""
    observe(experts, batch, settings, t, batch["chosen"], loss, rng)


@dataclass(frozen=True)
class ExpertsFromBandit(ExpertAlgorithm):
    """A bandit algorithm chooses an expert, and an arm is drawn from its advice.

    In a batch one expert is followed; an arm is drawn in every round. Privacy: with
    `BatchedPrivate` as bandit (Theorem 7) epsilon-DP in the losses; the advice counts as public.
    Twin: tests/naive/adversarial.py, `conversion`.

    Parameters
    ----------
    bandit : EXP3, HTINF, FTPL, or BatchedPrivate or LocallyPrivate around one
        Chooses among N experts.
    """

    bandit: AdversarialAlgorithm
    id = "experts-from-bandit"
    source = "asi2025, Algorithm 5"
    steps = Steps(NOTHING, BATCH, _choose, _observe, CHOICE)
    events, lanes, block = alone, together, LANES
    rules = {"bandit": _bandit}

    @property
    def label(self) -> str:
        return f"{self.bandit.label} over experts"

    @property
    def privacy(self) -> Privacy:
        return self.bandit.privacy._replace(neighbours=PUBLIC_ADVICE)

    @property
    def longest(self) -> int:
        return self.bandit.longest

    def settings(self, horizon: int | None, arms: int, experts: int) -> Settings:
        return self.bandit.settings(horizon, experts)


# Algorithm 3, EXP3 with mixing
# --------------------------------------------------------------------------------------------------


@jit
def exp3_weights(choices, eta, gamma, low):
    """Set p to (1 - gamma) softmax(-eta estimate) + gamma / K (line 3); return `low`.

    Weights are exp(-eta (estimate - low)). Only that of the last choice has changed; once all are
    too large or too small, `low` becomes the smallest estimate.
    """
    total = 0.0
    for i in range(len(choices)):
        total += choices[i]["weight"]
    if not 1e-100 < total < 1e100:
        low, total = math.inf, 0.0
        for i in range(len(choices)):
            low = min(low, choices[i]["estimate"])
        for i in range(len(choices)):
            choices[i]["weight"] = math.exp(-eta * (choices[i]["estimate"] - low))
            total += choices[i]["weight"]
    scale, uniform = (1 - gamma) / total, gamma / len(choices)
    for i in range(len(choices)):
        choices[i]["p"] = scale * choices[i]["weight"] + uniform
    return low


@dataclass(frozen=True)
class EXP3(RealLossBandit):
    """EXP3 with mixing: softmax of the estimated losses, mixed with uniform play.

    Estimates are y / P(I), for any real y. Privacy: none by itself. Tuning: `tuning.batched_exp3`.
    O(K) per step. Twin: tests/naive/adversarial.py, `EXP3`.

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

    def settings(self, horizon: int | None, arms: int) -> Settings:
        return Settings(EXP3_STEP, self.eta, self.gamma)


# Algorithm 4, FTPL with geometric resampling
# --------------------------------------------------------------------------------------------------


@jit
def perturbed_leader(choices, scale, rng):
    """Return the choice with the smallest estimate after Laplace noise on each."""
    best, leader = math.inf, 0
    for i in range(len(choices)):
        score = choices[i]["estimate"] + laplace(scale, rng)
        if score < best:
            best, leader = score, i
    return leader


@jit
def resamples(choices, played, scale, cap, resampling, rng):
    """Count fresh perturbations, each drawn only as far as needed, until `played` leads again."""
    sign = -1.0 if resampling == PRINTED else 1.0
    for k in range(1, cap + 1):
        score = sign * (choices[played]["estimate"] + laplace(scale, rng))
        leads = True
        for i in range(len(choices)):
            if i != played and sign * (choices[i]["estimate"] + laplace(scale, rng)) <= score:
                leads = False
                break
        if leads:
            return k
    return cap if resampling == CORRECTED else 0


@dataclass(frozen=True)
class FTPL(RealLossBandit):
    """Follow the perturbed leader with geometric resampling.

    The leader is the argmin of estimated losses plus Lap(1 / eta) on each. Instead of 1 / P(I) the
    estimate uses the number of fresh perturbations until I leads again, at most `cap`. Privacy:
    none by itself (the perturbation is not made for it). Tuning: `tuning.batched_ftpl`. Mean O(K^2)
    per step. Twin: tests/naive/adversarial.py, `FTPL`.

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

    def settings(self, horizon: int | None, arms: int) -> Settings:
        code = RESAMPLINGS.index(self.resampling)
        return Settings(FTPL_STEP, self.eta, cap=self.cap, resampling=code)
