"""Variants of DP-KLUCB for the ablation of azize2025, Section 5."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from privregret.bandits.dp_klucb import ARM, BATCH, DPKLUCB, KLUCB, leader, next_klucb
from privregret.bandits.queues import add, no_queues
from privregret.bandits.reporting import report
from privregret.core import checks
from privregret.core.algorithm import Steps
from privregret.core.jit import jit
from privregret.core.noise import laplace


class Ablation(NamedTuple):
    """Settings of the kernels."""

    epsilon: float
    ends: np.ndarray  # pulls of an arm after each of its batches
    rule: int
    first: bool  # whether the first of arms with equal indices is pulled
    optimism: float  # factor of ln t in the index
    forget: bool  # whether only an arm's last batch counts


@jit
def _choose(arms, own, settings, t, rng):
    if t < own["end"]:
        return own["leader"]
    if own["started"] < len(arms):
        j = own["started"]
        own["started"] += 1
    else:
        j = leader(arms, settings.optimism * math.log(t), settings, rng)
    own["leader"], own["total"] = j, 0.0
    batch = arms[j]["batches"]
    own["end"] = t + settings.ends[batch] - (settings.ends[batch - 1] if batch > 0 else 0)
    return j


@jit
def _observe(arms, own, settings, t, j, reward, rng):
    own["total"] += reward
    if t + 1 == own["end"]:
        arm, batch = arms[j], arms[j]["batches"]
        arm["pulls"] = settings.ends[batch]  # behind the private mean
        if settings.forget:
            arm["noisy"] = 0.0
            arm["pulls"] -= settings.ends[batch - 1] if batch > 0 else 0
        arm["noisy"] += own["total"] + laplace(1 / settings.epsilon, rng)
        arm["mean"] = arm["noisy"] / arm["pulls"]
        arm["batches"] += 1


@jit
def _batches(means, checkpoints, settings, given_arm, given, rng):
    """Run as `bandits.dp_klucb` does, with another optimism and perhaps with forgetting."""
    ends, epsilon = settings.ends, settings.epsilon
    horizon, arms = checkpoints[-1], len(means)
    counts = np.empty((len(checkpoints), arms), np.int64)
    noisy_sum = np.zeros(arms)
    pulls = np.zeros(arms, np.int64)
    batches = np.zeros(arms, np.int64)
    waiting, queues = no_queues(arms)
    shrink, gone = math.exp(-epsilon), -math.expm1(-epsilon)
    started = 0
    reported = 0
    t = 0
    while t < horizon:
        if started < arms:
            j = started
            started += 1
        else:
            log_t = settings.optimism * math.log(t + 1)
            j = next_klucb(waiting, queues, log_t, settings, shrink, gone, rng)
        size = ends[batches[j]] - pulls[j]
        played = min(size, horizon - t)
        reported = report(counts, checkpoints, reported, pulls, j, t + played)
        pulls[j] += played
        t += played
        if played == size:
            if j == given_arm and batches[j] < len(given):
                noisy = given[batches[j]]
            else:
                noisy = rng.binomial(size, means[j]) + laplace(1 / epsilon, rng)
            kept, behind = (0.0, size) if settings.forget else (noisy_sum[j], pulls[j])
            noisy_sum[j] = kept + noisy
            batches[j] += 1
            mean = min(max(noisy_sum[j] / behind, 0.0), 1.0)
            add(waiting, queues, behind, j, mean, settings.first, rng)
    return counts


@jit
def _pull_counts(means, checkpoints, settings, rng):
    return _batches(means, checkpoints, settings, -1, np.empty(0), rng)


@jit
def _pull_counts_given(means, checkpoints, settings, arm, given, rng):
    counts = np.empty((len(given), len(checkpoints), len(means)), np.int64)
    for run in range(len(given)):
        one = _batches(means, checkpoints, settings, arm, given[run], rng)
        for row in range(len(checkpoints)):
            for j in range(len(means)):
                counts[run, row, j] = one[row, j]
    return counts


@dataclass(frozen=True)
class AblatedDPKLUCB(DPKLUCB):
    """DP-KLUCB with forgetting, with another optimism, or with both.

    With neither it is DP-KLUCB.

    Parameters
    ----------
    forget : bool
        Whether an arm's private mean uses its last batch only, as in AdaP-KLUCB.
    optimism : float
        Factor of ln t in the index, above 0; AdaP-KLUCB has 3.1, DP-KLUCB has 1.
    """

    forget: bool = False
    optimism: float = 1.0
    id = "ablated-dp-klucb"
    rules = DPKLUCB.rules | {"forget": checks.boolean, "optimism": checks.positive}
    steps = Steps(ARM, BATCH, _choose, _observe)
    events = _pull_counts
    events_given = _pull_counts_given

    def settings(self, horizon, arms):
        epsilon, ends, _, first = super().settings(horizon, arms)
        return Ablation(epsilon, ends, KLUCB, first, self.optimism, self.forget)
