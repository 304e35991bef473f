"""Bounds of hu2021 with explicit constants: the paper's where it or its proofs give them, else derived from the proofs.

Gaps: (K,) array with 0 for the best arm. Logs: ln unless a name says log2.
"""

import numpy as np


def lazy_last_array(gaps, horizon, epsilon):
    r"""d_j = ceil(log2(24 ln T / (gap min(gap, epsilon)))): beyond array d_j an arm is rarely pulled (Lemma 11)."""
    gaps = np.asarray(gaps)
    return np.ceil(np.log2(24 * np.log(horizon) / (gaps * np.minimum(gaps, epsilon)))).astype(int)


def theorem_3(gaps, horizon, epsilon):
    """Regret of Anytime-Lazy-UCB: sum of 96 ln T / min(gap, epsilon) over the sub-optimal arms.

    The paper has O(.); 96 follows from its proof: an arm fills at most the arrays up to d_j, 2^(d_j + 1) - 1 pulls,
    and 0.14 more in expectation.
    """
    gaps = np.asarray(gaps)[np.asarray(gaps) > 0]
    return float(np.sum(96 * np.log(horizon) / np.minimum(gaps, epsilon)))


def critical_gap(arms, horizon):
    """sqrt(K ln T / T), where the two halves of Theorem 4's proof meet."""
    return np.sqrt(arms * np.log(horizon) / horizon)


def theorem_4(arms, horizon, epsilon):
    """Regret of Anytime-Lazy-UCB on any instance: T gap* + 96 K ln T max(1 / gap*, 1 / epsilon), gap* the critical gap."""
    gap = critical_gap(arms, horizon)
    return float(horizon * gap + 96 * arms * np.log(horizon) * max(1 / gap, 1 / epsilon))


def theorem_4_rate(arms, horizon, epsilon):
    """The printed rate sqrt(K T ln T) + K ln T / epsilon, constant 1."""
    return float(np.sqrt(arms * horizon * np.log(horizon)) + arms * np.log(horizon) / epsilon)


def hybrid_last_array(gaps, horizon, epsilon):
    """d_j of Lemma 12; its inner logarithm is read as at least 1, without which it may be negative."""
    gaps = np.asarray(gaps)
    sampling = 256 * np.log2(horizon) / gaps**2
    privacy = 256 * np.log2(horizon) / (epsilon * gaps)
    return np.ceil(np.log2(np.maximum(sampling, privacy * np.maximum(1, np.log2(privacy))))).astype(int)


def theorem_5(gaps, horizon, epsilon):
    """Regret of Hybrid-UCB: sum of gap (2^(d_j + 1) - 1 + 0.07), the constant derived from the proof of Lemma 12.

    At practical horizons this exceeds the trivial gap T: callers compare with the smaller of the two.
    """
    gaps = np.asarray(gaps)[np.asarray(gaps) > 0]
    return float(np.sum(gaps * (2.0 ** (hybrid_last_array(gaps, horizon, epsilon) + 1) - 1 + 0.07)))


def theorem_5_rate(gaps, horizon, epsilon):
    """The printed rate: sum of max(log2 T / gap, log2 T / epsilon log2(log2 T / (epsilon gap))), constant 1, that log >= 1."""
    gaps = np.asarray(gaps)[np.asarray(gaps) > 0]
    log_t = np.log2(horizon)
    factor = np.maximum(1, np.log2(log_t / (epsilon * gaps)))
    return float(np.sum(np.maximum(log_t / gaps, log_t / epsilon * factor)))
