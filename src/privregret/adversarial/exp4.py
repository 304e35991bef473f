"""EXP4 with noise on every loss (asi2025, Algorithm 6), and with noise on every expert's batch score (Algorithm 2)."""

import math
from dataclasses import dataclass

import numpy as np

from privregret import checks
from privregret.adversarial.base import ExpertAlgorithm
from privregret.adversarial.cells import draw, next_segments
from privregret.adversarial.conversions import PUBLIC_ADVICE
from privregret.algorithm import Privacy
from privregret.jit import jit
from privregret.noise import laplace


@dataclass(frozen=True)
class EXP4Local(ExpertAlgorithm):
    """EXP4 on losses with noise Lap(1 / epsilon) each.

    Privacy: epsilon-DP in the local model, hence in the central one. Tuning: `tuning.local_exp4`. O(K) a round per
    distinct recommendation, O(N) when advice changes.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, above 0.
    eta : float
        Learning rate, above 0.
    gamma : float
        Share of uniform play, in [0, 1].
    """

    epsilon: float
    eta: float
    gamma: float
    label = "Local EXP4"
    source = "asi2025, Algorithm 6"
    longest = checks.ROUNDS
    rules = {"epsilon": checks.positive, "eta": checks.positive, "gamma": checks.probability}

    @property
    def privacy(self):
        return Privacy(self.epsilon, self.epsilon, neighbours=PUBLIC_ADVICE)

    def _kernel(self, data, rounds, record=False):
        return _local, (data, rounds, record, self.eta, self.gamma, 1 / self.epsilon)


def _share(name, value):
    """A number in (0, 1]."""
    return checks.positive(name, checks.probability(name, value))


@dataclass(frozen=True)
class EXP4Batched(ExpertAlgorithm):
    """EXP4 whose expert weights change once in tau rounds, by each expert's average score plus noise.

    Noise: Lap(3 K sqrt(N ln(1 / delta)) / (gamma tau epsilon)) on each of N scores. It must be computed from the gamma
    and the whole tau that are used: from a gamma above 1 it would be too small.

    Privacy: (epsilon, delta)-DP, by composition over the N scores of one batch; needs epsilon <= 1 and
    epsilon^2 / (6 ln(1 / delta)) + sqrt(2 / 3) epsilon <= epsilon, which the paper's delta in (0, 1] does not ensure.
    Tuning: `tuning.batched_exp4`. O(N + K) a batch while losses and advice stay the same.

    Parameters
    ----------
    epsilon, delta : float
        Privacy parameters, as above.
    eta : float
        Learning rate, above 0.
    gamma : float
        Share of uniform play, in (0, 1].
    tau : int
        Batch size, at least 1.
    """

    epsilon: float
    delta: float
    eta: float
    gamma: float
    tau: int
    label = "Batched EXP4"
    source = "asi2025, Algorithm 2"
    rules = {
        "epsilon": _share,
        "delta": checks.positive,
        "eta": checks.positive,
        "gamma": _share,
        "tau": checks.positive_int,
    }

    def __post_init__(self):
        super().__post_init__()
        largest = math.exp(-self.epsilon / (6 * (1 - math.sqrt(2 / 3))))
        if self.delta > largest:
            raise ValueError(f"delta must be at most {largest:.4g} for epsilon = {self.epsilon:g}, got {self.delta!r}")

    @property
    def privacy(self):
        return Privacy(self.epsilon, self.epsilon, self.delta, PUBLIC_ADVICE)

    @property
    def longest(self):
        return min(checks.ROUNDS * self.tau, checks.LARGEST)

    def scale(self, arms: int, experts: int) -> float:
        """Laplace scale of the noise on each score."""
        return 3 * arms * math.sqrt(experts * math.log(1 / self.delta)) / (self.gamma * self.tau * self.epsilon)

    def _kernel(self, data, rounds, record=False):
        scale = self.scale(data.losses.shape[1], data.group.shape[1])
        return _batched, (data, rounds, record, self.eta, self.gamma, self.tau, scale)


@jit
def _local(tables, rounds, record, eta, gamma, scale, rng):
    """Round by round. Experts with the same advice move together, so scores are kept per row of advice: `before[j]` is
    expert j's when the segment of advice began, `since[d]` what row d's have gained since.
    """
    loss_starts, losses, bernoulli, advice_starts, rows, _, group = tables
    horizon = rounds[-1]
    experts = group.shape[1]
    distinct, arms = rows.shape[1], rows.shape[2]
    actions = np.empty(horizon if record else 0, np.int64)
    paid = np.empty(len(rounds))
    before = np.zeros(experts)
    since = np.zeros(distinct)
    best = np.empty(distinct)  # smallest `before` of a row's experts, and the logarithm of their weight together
    crowd = np.empty(distinct)
    weight = np.empty(distinct)
    q = np.empty(arms)
    total = 0.0
    segment, advised, reported = 0, -1, 0
    for t in range(horizon):
        if segment + 1 < len(loss_starts) and loss_starts[segment + 1] == t:
            segment += 1
        if advised + 1 < len(advice_starts) and advice_starts[advised + 1] == t:
            if advised >= 0:
                for j in range(experts):
                    before[j] += since[group[advised, j]]
            advised += 1
            since[:] = 0.0
            crowd[:] = 0.0
            best[:] = math.inf
            for j in range(experts):
                best[group[advised, j]] = min(best[group[advised, j]], before[j])
            for j in range(experts):
                d = group[advised, j]
                crowd[d] += math.exp(-eta * (before[j] - best[d]))
            for d in range(distinct):
                crowd[d] = math.log(crowd[d]) - eta * best[d] if crowd[d] > 0 else -math.inf
        high = -math.inf
        for d in range(distinct):
            high = max(high, crowd[d] - eta * since[d])
        norm = 0.0
        q[:] = 0.0
        for d in range(distinct):
            weight[d] = math.exp(crowd[d] - eta * since[d] - high)
            norm += weight[d]
            for i in range(arms):
                q[i] += weight[d] * rows[advised, d, i]
        for i in range(arms):
            q[i] = (1 - gamma) * q[i] / norm + gamma / arms
        i = draw(q, rng)
        mean = losses[segment, i]
        total += mean
        y = mean
        if bernoulli:
            y = 1.0 if rng.random() < mean else 0.0
        if scale > 0:
            y += laplace(scale, rng)
        for d in range(distinct):
            since[d] += rows[advised, d, i] * y / q[i]
        if record:
            actions[t] = i
        if t + 1 == rounds[reported]:
            paid[reported] = total
            reported += 1
    return actions, paid


@jit
def _batched(tables, rounds, record, eta, gamma, tau, scale, rng):
    """Cell by cell: while losses, advice and weights stay, rounds are alike and only the arms' counts matter."""
    loss_starts, losses, bernoulli, advice_starts, rows, _, group = tables
    horizon = rounds[-1]
    experts = group.shape[1]
    distinct, arms = rows.shape[1], rows.shape[2]
    actions = np.empty(horizon if record else 0, np.int64)
    paid = np.empty(len(rounds))
    score = np.zeros(experts)
    gain = np.zeros(experts)  # in the batch so far
    weight = np.empty(experts)
    crowd = np.empty(distinct)
    q = np.empty(arms)
    seen = np.empty(arms)  # loss seen in the cell over the probability of the arm
    total = 0.0
    segment, advised, change, reported = 0, 0, 0, 0
    t = 0
    while t < horizon:
        low = score.min()
        norm = 0.0
        for j in range(experts):
            weight[j] = math.exp(-eta * (score[j] - low))
            norm += weight[j]
        end = t + tau
        last = min(end, horizon)
        gain[:] = 0.0
        while t < last:
            if t == change:
                segment, advised, change = next_segments(loss_starts, advice_starts, segment, advised, t)
            stop = min(last, rounds[reported], change)
            row = group[advised]
            crowd[:] = 0.0
            for j in range(experts):
                crowd[row[j]] += weight[j]
            q[:] = 0.0
            for d in range(distinct):
                for i in range(arms):
                    q[i] += crowd[d] * rows[advised, d, i]
            for i in range(arms):
                q[i] = (1 - gamma) * q[i] / norm + gamma / arms
                seen[i] = 0.0
            if stop - t == 1:
                i = draw(q, rng)
                mean = losses[segment, i]
                total += mean
                seen[i] = mean / q[i]
                if bernoulli:
                    seen[i] = (1.0 if rng.random() < mean else 0.0) / q[i]
                if record:
                    actions[t] = i
            else:  # the arms, counted: multinomial, one binomial after the other
                left, share = stop - t, 1.0
                for i in range(arms):
                    if left == 0:
                        break
                    plays = left if q[i] >= share or i == arms - 1 else rng.binomial(left, q[i] / share)
                    left -= plays
                    share -= q[i]
                    mean = losses[segment, i]
                    total += plays * mean
                    seen[i] = (rng.binomial(plays, mean) if bernoulli else plays * mean) / q[i]
            for d in range(distinct):
                crowd[d] = 0.0
                for i in range(arms):
                    crowd[d] += rows[advised, d, i] * seen[i]
            for j in range(experts):
                gain[j] += crowd[row[j]]
            t = stop
            if t == rounds[reported]:
                paid[reported] = total
                reported += 1
        if t < end:
            break
        for j in range(experts):
            score[j] += gain[j] / tau
            if scale > 0:
                score[j] += laplace(scale, rng)
    return actions, paid
