"""EXP4 with noise on each expert's batch score, or on each loss: Algorithms 2 and 6 of asi2025."""

import math
from dataclasses import dataclass

import numpy as np

from privregret.adversarial.base import ExpertAlgorithm
from privregret.adversarial.conversions import PUBLIC_ADVICE
from privregret.adversarial.fast import next_segments, plays_and_losses
from privregret.core import checks
from privregret.core.algorithm import APPROXIMATE, NOTHING, Privacy, Steps
from privregret.core.jit import jit
from privregret.core.noise import drawn, laplace

EXPERT = np.dtype(
    [
        ("score", float),  # estimated loss so far
        ("gain", float),  # sum over the batch so far
        ("weight", float),  # weight in the batch, not normalised
    ]
)
ARM = np.dtype([("q", float)])  # probability of being played
FRACTION = checks.number_in(checks.MIN_FRACTION, 1)


@jit
def _weigh(scores, weights, settings):
    """Set the weights of the experts, exp(-eta score), relative to the best."""
    low = scores.min()
    for n in range(len(scores)):
        weights[n] = math.exp(-settings.eta * (scores[n] - low))


@jit
def _mix(q, norm, settings):
    """Turn weighted advice, whose weights sum to `norm`, into Q: mixed with uniform play."""
    for i in range(len(q)):
        q[i] = (1 - settings.gamma) * q[i] / norm + settings.gamma / len(q)


@jit
def _noise_scale(arms, experts, settings):
    """Return 3 K sqrt(N ln(1 / delta)) / (gamma tau epsilon)."""
    spread = math.sqrt(experts * math.log(1 / settings.delta))
    return 3 * arms * spread / (settings.gamma * settings.tau * settings.epsilon)


@jit
def _end_batch(scores, gains, arms, settings, rng):
    """Add the average gains of a batch, with noise, to the scores."""
    scale = _noise_scale(arms, len(scores), settings)
    for n in range(len(scores)):
        scores[n] += gains[n] / settings.tau + laplace(scale, rng)
        gains[n] = 0.0


@jit
def _advised(experts, arms, settings, advice, rng):
    """Draw an arm from Q = (1 - gamma) times the weighted advice + gamma / K."""
    norm = 0.0
    for i in range(len(arms)):
        arms[i]["q"] = 0.0
    for n in range(len(experts)):
        norm += experts[n]["weight"]
        for i in range(len(arms)):
            arms[i]["q"] += experts[n]["weight"] * advice[n, i]
    _mix(arms["q"], norm, settings)
    return drawn(arms["q"], rng.random())


@jit
def _choose_local(experts, arms, state, settings, t, advice, rng):
    """Weigh the experts by their scores, and draw an arm."""
    _weigh(experts["score"], experts["weight"], settings)
    return _advised(experts, arms, settings, advice, rng)


@jit
def _observe_local(experts, arms, state, settings, t, advice, i, loss, rng):
    """Add the noisy loss to the scores, each by mu(i) y / Q(i)."""
    y = loss + laplace(1 / settings.epsilon, rng)
    for n in range(len(experts)):
        experts[n]["score"] += advice[n, i] * y / arms[i]["q"]


@jit
def _choose_batched(experts, arms, state, settings, t, advice, rng):
    """Weigh the experts when a batch begins, and draw an arm."""
    if (t - 1) % settings.tau == 0:
        _weigh(experts["score"], experts["weight"], settings)
    return _advised(experts, arms, settings, advice, rng)


@jit
def _observe_batched(experts, arms, state, settings, t, advice, i, loss, rng):
    """Add the loss to the gains, and a batch's average gains with noise to the scores."""
    for n in range(len(experts)):
        experts[n]["gain"] += advice[n, i] * loss / arms[i]["q"]
    if t % settings.tau == 0:
        _end_batch(experts["score"], experts["gain"], len(arms), settings, rng)


@jit
def _local_losses(tables, checkpoints, settings, rng):
    """Play round by round, with scores per row of advice: its experts move together."""
    eta = settings.eta
    loss_starts, losses, bernoulli, advice_starts, rows, _, group = tables
    horizon = checkpoints[-1]
    experts, distinct, arms = group.shape[1], rows.shape[1], rows.shape[2]
    # score of each expert when the segment of advice began, and each row's gain since then
    before, since = np.zeros(experts), np.zeros(distinct)
    # smallest `before` of a row's experts, and the logarithm of their weight together
    best, crowd = np.empty(distinct), np.empty(distinct)
    weight, q, paid = np.empty(distinct), np.empty(arms), np.empty(len(checkpoints))
    total, segment, advised, reported = 0.0, 0, -1, 0
    for t in range(horizon):
        if segment + 1 < len(loss_starts) and loss_starts[segment + 1] == t:
            segment += 1
        if advised + 1 < len(advice_starts) and advice_starts[advised + 1] == t:
            if advised >= 0:
                for j in range(experts):
                    before[j] += since[group[advised, j]]
            advised += 1
            since[:], crowd[:], best[:] = 0.0, 0.0, math.inf
            for j in range(experts):
                best[group[advised, j]] = min(best[group[advised, j]], before[j])
            for j in range(experts):
                d = group[advised, j]
                crowd[d] += math.exp(-eta * (before[j] - best[d]))
            for d in range(distinct):
                crowd[d] = math.log(crowd[d]) - eta * best[d] if crowd[d] > 0 else -math.inf
        high, norm = -math.inf, 0.0
        for d in range(distinct):
            high = max(high, crowd[d] - eta * since[d])
        q[:] = 0.0
        for d in range(distinct):
            weight[d] = math.exp(crowd[d] - eta * since[d] - high)
            norm += weight[d]
            for i in range(arms):
                q[i] += weight[d] * rows[advised, d, i]
        _mix(q, norm, settings)
        i = drawn(q, rng.random())
        mean = losses[segment, i]
        total += mean
        y = (1.0 if rng.random() < mean else 0.0) if bernoulli else mean
        y += laplace(1 / settings.epsilon, rng)
        for d in range(distinct):
            since[d] += rows[advised, d, i] * y / q[i]
        if t + 1 == checkpoints[reported]:
            paid[reported] = total
            reported += 1
    return paid


@jit
def _batched_losses(tables, checkpoints, settings, rng):
    """Play cell by cell: only the arms' counts matter while nothing changes."""
    loss_starts, losses, bernoulli, advice_starts, rows, _, group = tables
    horizon = checkpoints[-1]
    experts, distinct, arms = group.shape[1], rows.shape[1], rows.shape[2]
    score, gain, weight = np.zeros(experts), np.zeros(experts), np.empty(experts)
    crowd, q, paid = np.empty(distinct), np.empty(arms), np.empty(len(checkpoints))
    # plays of each arm in the cell, and the loss seen in them / probability of the arm
    counts, seen = np.empty(arms, np.int64), np.empty(arms)
    total, segment, advised, change, reported, t = 0.0, 0, 0, 0, 0, 0
    while t < horizon:
        _weigh(score, weight, settings)
        norm = 0.0
        for j in range(experts):
            norm += weight[j]
        end = t + settings.tau
        last = min(end, horizon)
        while t < last:
            if t == change:
                segment, advised, change = next_segments(
                    loss_starts, advice_starts, segment, advised, t
                )
            stop = min(last, checkpoints[reported], change)
            row = group[advised]
            crowd[:], q[:] = 0.0, 0.0
            for j in range(experts):
                crowd[row[j]] += weight[j]
            for d in range(distinct):
                for i in range(arms):
                    q[i] += crowd[d] * rows[advised, d, i]
            _mix(q, norm, settings)
            seen[:] = 0.0
            means = losses[segment]
            if stop - t == 1:
                i = drawn(q, rng.random())
                total += means[i]
                seen[i] = (1.0 if rng.random() < means[i] else 0.0) if bernoulli else means[i]
            else:
                plays_and_losses(q, stop - t, means, bernoulli, counts, seen, rng)
                for i in range(arms):
                    total += counts[i] * means[i]
            for i in range(arms):
                if seen[i] > 0:
                    seen[i] /= q[i]
            for d in range(distinct):
                crowd[d] = 0.0
                for i in range(arms):
                    crowd[d] += rows[advised, d, i] * seen[i]
            for j in range(experts):
                gain[j] += crowd[row[j]]
            t = stop
            if t == checkpoints[reported]:
                paid[reported] = total
                reported += 1
        if t < end:
            break
        _end_batch(score, gain, arms, settings, rng)
    return paid


@dataclass(frozen=True)
class EXP4Local(ExpertAlgorithm):
    """EXP4 on losses with noise Lap(1 / epsilon) each.

    Privacy: epsilon-DP in the local model, hence in the central one. Tuning: `tuning.local_exp4`.
    O(K) per round and distinct recommendation, O(N) when advice changes. Plain version:
    `local_exp4` of notebook asi2025/4.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, above 0.
    eta : float
        Learning rate, above 0.
    gamma : float
        Probability of uniform play, in [0, 1].
    """

    epsilon: float
    eta: float
    gamma: float
    id = "local-exp4"
    label = "Local EXP4"
    source = "asi2025, Algorithm 6"
    steps = Steps(ARM, NOTHING, _choose_local, _observe_local, EXPERT)
    fast_run = _local_losses
    rules = {"epsilon": checks.positive, "eta": checks.positive, "gamma": checks.probability}

    @property
    def privacy(self) -> Privacy:
        return Privacy(self.epsilon, self.epsilon, neighbours=PUBLIC_ADVICE)


@dataclass(frozen=True)
class EXP4Batched(ExpertAlgorithm):
    """EXP4 whose weights change once per tau rounds, by noisy average scores.

    Noise: Lap(3 K sqrt(N ln(1 / delta)) / (gamma tau epsilon)) on each of N scores. It must be
    computed from the gamma and the whole tau that are used: from a gamma above 1 it would be too
    small.

    Privacy: (epsilon, delta)-DP, by composition over the N scores of one batch. This needs epsilon
    <= 1 and epsilon^2 / (6 ln(1 / delta)) + sqrt(2 / 3) epsilon <= epsilon, which the paper's delta
    in (0, 1] does not ensure. Tuning: `tuning.batched_exp4`. O(N + K) per batch while losses and
    advice are constant. Plain version: `batched_exp4` of notebook asi2025/4.
    Deviations: `tuning` rounds tau up, and has a gamma of at most 1.

    Parameters
    ----------
    epsilon, delta : float
        Privacy parameters, as above.
    eta, gamma : float
        As of `EXP4Local`, but gamma > 0.
    tau : int
        Batch size, at least 1.
    """

    epsilon: float
    delta: float
    eta: float
    gamma: float
    tau: int
    id = "batched-exp4"
    label = "Batched EXP4"
    source = "asi2025, Algorithm 2"
    steps = Steps(ARM, NOTHING, _choose_batched, _observe_batched, EXPERT)
    fast_run = _batched_losses
    rules = {
        "epsilon": FRACTION,
        "delta": checks.number_in(1e-300, 1),
        "eta": checks.positive,
        "gamma": FRACTION,
        "tau": checks.positive_int,
    }

    def __post_init__(self):
        super().__post_init__()
        largest = math.exp(-self.epsilon / (6 * (1 - math.sqrt(2 / 3))))
        if self.delta > largest:
            raise ValueError(
                f"delta must be at most {largest:.4g} for epsilon = {self.epsilon:g}, "
                f"got {self.delta!r}"
            )

    @property
    def privacy(self) -> Privacy:
        return Privacy(self.epsilon, self.epsilon, self.delta, PUBLIC_ADVICE, APPROXIMATE)

    @property
    def max_horizon(self) -> int:
        return min(checks.MAX_ROUNDS * self.tau, checks.MAX_HORIZON)

    def scale(self, arms: int, experts: int) -> float:
        """Return the Laplace scale of the noise on each score."""
        return _noise_scale(arms, experts, self.settings(None, arms, experts))
