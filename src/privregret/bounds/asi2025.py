"""Bounds of asi2025 with explicit constants, as printed or else derived from the proofs.

Arguments: horizon T, arms K, experts N, epsilon, delta. Logarithms are natural. Where the proof
does not support a printed constant, `corrected` gives the one that it supports.
"""

import math
from typing import Any

import numpy as np


def corollary_2(horizon: float, arms: float, epsilon: float, corrected: bool = False) -> float:
    """Bound the regret of HTINF in batches, for epsilon in [1/T, 1].

    208 sqrt(T K / epsilon) + 2 / epsilon. Corrected: 147, with the exact second moment 3 in place
    of 6 (printed constant: 60 sqrt 12). Corollary 8, HTINF over experts, is this with N for K.
    """
    return (147 if corrected else 208) * math.sqrt(horizon * arms / epsilon) + 2 / epsilon


def corollary_22(horizon: float, arms: float, epsilon: float) -> float:
    """Bound the regret of EXP3 in batches.

    36 sqrt(T K ln K) ln(K T) / sqrt epsilon + 4 / epsilon. The terms of the proof support 22.2
    ln(epsilon K T) for 36 ln(K T) where epsilon K T >= e.
    """
    log = math.log(arms * horizon)
    return 36 * math.sqrt(horizon * arms * math.log(arms) / epsilon) * log + 4 / epsilon


def lemma_25(horizon: float, arms: float, scale: float, corrected: bool = False) -> float:
    """Bound the regret of FTPL with noise Lap(scale), scale >= 1.

    11 scale sqrt(K T) ln K ln(K T) + 10 sqrt(K T). Corrected: 39 for 11.
    """
    root, logs = math.sqrt(arms * horizon), (math.log(arms), math.log(arms * horizon))
    return (39 if corrected else 11) * scale * root * logs[0] * logs[1] + 10 * root


def lemma_25_terms(horizon: float, arms: float, scale: float) -> float:
    """Add up the terms in the proof of Lemma 25, with the eta and M that it sets.

    6 ln K / eta from the perturbation, 4 eta K T (1 + 10 scale^2 ln^2(K T)) from stability, K T /
    (e M) from the cap, 1 from the event.
    """
    log_k, log_kt, events = math.log(arms), math.log(arms * horizon), arms * horizon
    cap = math.sqrt(events)
    first = math.sqrt(log_k / (events + 10 * events * scale**2 * log_kt**2))
    eta = min(first, 1 / (cap * (1 + 4 * scale * math.log(horizon))))
    stability = 4 * eta * events * (1 + 10 * scale**2 * log_kt**2)
    return 6 * log_k / eta + stability + events / (math.e * cap) + 1


def corollary_24(horizon: float, arms: float, epsilon: float) -> float:
    """Bound the regret of FTPL in batches.

    32 sqrt(K T) ln K ln(K T) / sqrt epsilon + 2 / epsilon. The proof supports 78, twice the
    corrected constant of `lemma_25`, for 32, plus 20 sqrt(K T / epsilon), where it lost a factor
    2 / sqrt epsilon.
    """
    logs = math.log(arms) * math.log(arms * horizon)
    return 32 * logs * math.sqrt(arms * horizon / epsilon) + 2 / epsilon


def theorem_9(horizon: float, arms: float, experts: float, epsilon: float) -> float:
    """Bound the regret of EXP4 with Laplace noise on each loss.

    16 sqrt(T K ln N) ln(K T) / epsilon + 1; the constant is from the proof.
    """
    root = math.sqrt(horizon * arms * math.log(experts))
    return 16 * root * math.log(arms * horizon) / epsilon + 1


def theorem_10(horizon: float, arms: float, experts: float, epsilon: float, delta: float) -> float:
    """Bound the regret of EXP4 in batches by 100 A + C, the last line of the proof.

    C = sqrt(N ln(1 / delta)) ln(N T) ln N / epsilon and A = sqrt K C^(1/3) T^(2/3). With the
    corrected gamma the proof's terms add up to at most this wherever it is at most T.
    """
    c = math.sqrt(experts * math.log(1 / delta)) / epsilon
    c *= math.log(experts * horizon) * math.log(experts)
    return 100 * theorem_10_leading(horizon, arms, experts, epsilon, delta) + c


def theorem_10_leading(
    horizon: float, arms: float, experts: float, epsilon: float, delta: float, logs: bool = True
) -> float:
    """Return A of `theorem_10`, with its factor (ln(N T) ln N)^(1/3) or without."""
    log = math.log(experts * horizon) * math.log(experts) if logs else 1.0
    c = math.sqrt(experts * math.log(1 / delta)) * log / epsilon
    return math.sqrt(arms) * c ** (1 / 3) * horizon ** (2 / 3)


def theorem_10_terms(
    horizon: float, arms: float, experts: float, epsilon: float, delta: float, exp4: Any
) -> float:
    """Add up the terms that the proof of Theorem 10 bounds the regret of an `EXP4Batched` by.

    3 tau ln N / eta + gamma T + eta T K + 90 eta T N (K ln(N T) / (epsilon gamma tau))^2 ln(1 /
    delta), with its learning rate eta, mixing probability gamma and batch size tau.
    """
    eta, gamma, tau = exp4.eta, exp4.gamma, exp4.tau
    spread = experts * math.log(1 / delta)
    noise = (arms * math.log(experts * horizon) / (epsilon * gamma * tau)) ** 2 * spread
    base = 3 * tau * math.log(experts) / eta + gamma * horizon + eta * horizon * arms
    return base + 90 * eta * horizon * noise


def local_exp3(horizon: float, arms: float, epsilon: float) -> float:
    """Bound the regret of EXP3 with Laplace noise on each loss.

    2 sqrt(2 T K ln K (1 + 10 ln^2(K T) / epsilon^2)) + 1, from the proof of Corollary 22. It
    should be 2.4 for the leading 2, since the mixing term 8 eta K T ln(K T) / epsilon is not
    absorbed as the proof says (epsilon <= 1).
    """
    log = math.log(arms * horizon)
    moment = 1 + 10 * log**2 / epsilon**2
    return 2 * math.sqrt(2 * horizon * arms * math.log(arms) * moment) + 1


def any_local(horizon: float, epsilon: float) -> float:
    """Bound from below the regret of every locally epsilon-private learner.

    (T / 2)(1 - (2/3) sqrt(T KL / 2)) against some losses, KL = epsilon tanh(epsilon / 2). Take two
    arms and losses (0, 1) always or (1, 0) always. The outputs of an epsilon-private channel in a
    round differ by at most KL in divergence. So after t rounds actions differ by at most
    sqrt(t KL / 2) in total variation (Pinsker), and the two regrets add up to at least the sum of
    1 - sqrt(t KL / 2). More arms do not help.
    """
    divergence = epsilon * math.tanh(epsilon / 2)
    return horizon / 2 * (1 - 2 / 3 * math.sqrt(horizon * divergence / 2))


def lemma_23(losses: np.ndarray, eta: float, gamma: float) -> float:
    """Compute the right side of Lemma 23 for EXP3 on a (T, K) table of losses.

    min_i L_i + 2 gamma T + ln K / eta + eta times the sum of squares.
    """
    horizon, arms = losses.shape
    best = losses.sum(axis=0).min()
    return best + 2 * gamma * horizon + math.log(arms) / eta + eta * np.sum(losses**2)


def table_1(
    horizon: float, arms: float, experts: float, epsilon: float, logs: bool = True
) -> dict[str, float]:
    """Compute Table 1's three bounds for experts by name, without constants and ln(1 / delta)."""
    log = math.log if logs else (lambda x: 1.0)
    root, log_nt = math.sqrt(arms * horizon * log(experts)), log(experts * horizon)
    leading = (
        experts ** (1 / 6) * math.sqrt(arms) * horizon ** (2 / 3) * log_nt / epsilon ** (1 / 3)
    )
    return {
        "Corollary 8": math.sqrt(experts * horizon / epsilon),
        "Theorem 9": root * log(arms * horizon) / epsilon,
        "Theorem 10": leading + math.sqrt(experts) * log_nt / epsilon,
    }


def table_1_exponents(a: float, b: float) -> dict[str, float]:
    """Return the exponents in T of the bounds in `table_1`, exactly.

    At N = T^a, epsilon = T^(-b) and fixed K. Of a sum of powers, the largest counts.
    """
    return {
        "Corollary 8": (1 + a + b) / 2,
        "Theorem 9": 1 / 2 + b,
        "Theorem 10": max(2 / 3 + a / 6 + b / 3, a / 2 + b),
    }


def lemma_11(horizon: float, epsilon: float, rate: float, drop: float, pulls: float) -> float:
    """Bound regret from below by Lemma 11, on the worse of its pair.

    max(rate T / 4, (1 - e^(epsilon p) / 2) floor(p / rate) / 4 - drop / 2) for an algorithm that
    meets the lemma's conditions; p is `pulls`.
    """
    alike = 1 - math.exp(min(epsilon * pulls, 700.0)) / 2
    return max(rate * horizon / 4, alike * window_length(pulls, rate) / 4 - drop / 2)


def window_length(pulls, rate):
    """floor(pulls / rate), where 1 / 0.05 counts as 20."""
    return math.floor(pulls / rate * (1 + 1e-12))


def lemma_11_weaker(horizon: float, epsilon: float, drop: float, pulls: float) -> float:
    """Compute the second form of Lemma 11's bound.

    sqrt(p T (1 - e^(epsilon p) / 2) / 16) - drop / 2, or 0 if there is no root.
    """
    alike = 1 - math.exp(min(epsilon * pulls, 700.0)) / 2
    inside = pulls * horizon * alike / 16
    return math.sqrt(inside) - drop / 2 if inside > 0 else 0.0
