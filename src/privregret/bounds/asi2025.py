"""Bounds of asi2025 with explicit constants, as printed or else derived from the proofs.

Logarithms are natural. Where the proof does not support a printed constant, `corrected` gives the
one that it supports.
"""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta

from privregret.bounds.rules import HORIZON, POSITIVE
from privregret.core import checks, store

FOR_EXPERTS = ("Corollary 8", "Theorem 9", "Theorem 10")  # of Table 1


def _certified(name, value):
    pulls = checks.array_in(0, 2**62, shape=2)(name, value)
    if len(pulls) < 2:
        raise ValueError(f"{name} must be of at least 2 runs, got {len(pulls)}")
    return pulls


DELTA = checks.number_in(1e-300, 1, "[)")
SEVERAL = checks.number_in(2, 2**62)
TABLE = checks.array_in(-1e6, 1e6, shape=2)


@checks.arguments(noisy_regret=checks.number_in(-1e15, 1e15), tau=checks.number_in(1, 2**62))
def conversion(noisy_regret: float, tau: float) -> float:
    """Bound regret by Theorem 1: tau times the base's noisy regret, plus tau."""
    return tau * noisy_regret + tau


@checks.arguments(sigma=POSITIVE, arms=SEVERAL, horizon=HORIZON, alpha=checks.number_in(1, 2, "(]"))
def theorem_21(sigma: float, arms: float, horizon: float, alpha: float = 2.0) -> float:
    """Bound the regret of HTINF on losses with alpha-th moment at most sigma^alpha.

    30 sigma K^(1 - 1/alpha) (T + 1)^(1/alpha).
    """
    return 30 * sigma * arms ** (1 - 1 / alpha) * (horizon + 1) ** (1 / alpha)


@checks.arguments(
    horizon=HORIZON, arms=checks.number_in(1, 2**62), epsilon=POSITIVE, corrected=checks.boolean
)
def corollary_2(horizon: float, arms: float, epsilon: float, corrected: bool = False) -> float:
    """Bound the regret of HTINF in batches, for epsilon in [1/T, 1].

    208 sqrt(T K / epsilon) + 2 / epsilon. Corrected: 147, with the exact second moment 3 in place
    of 6 (printed constant: 60 sqrt 12).

    Examples
    --------
    >>> f"{corollary_2(10**6, arms=4, epsilon=0.1):.4g}"
    '1.316e+06'
    >>> round(corollary_2(10**6, arms=4, epsilon=0.1, corrected=True))
    929730
    """
    return (147 if corrected else 208) * math.sqrt(horizon * arms / epsilon) + 2 / epsilon


@checks.arguments(horizon=HORIZON, experts=SEVERAL, epsilon=POSITIVE, corrected=checks.boolean)
def corollary_8(horizon: float, experts: float, epsilon: float, corrected: bool = False) -> float:
    """Bound the regret of HTINF in batches over experts.

    `corollary_2` with N for K; the paper has O(.).
    """
    return corollary_2(horizon, experts, epsilon, corrected)


@checks.arguments(horizon=HORIZON, arms=SEVERAL, epsilon=POSITIVE, corrected=checks.boolean)
def corollary_22(horizon: float, arms: float, epsilon: float, corrected: bool = False) -> float:
    """Bound the regret of EXP3 in batches.

    36 sqrt(T K ln K) ln(K T) / sqrt epsilon + 4 / epsilon. Corrected: 22.2 ln(epsilon K T) for
    epsilon K T >= e.
    """
    log, constant = (
        (math.log(max(math.e, epsilon * arms * horizon)), 22.2)
        if corrected
        else (math.log(arms * horizon), 36)
    )
    return constant * math.sqrt(horizon * arms * math.log(arms) / epsilon) * log + 4 / epsilon


@checks.arguments(horizon=HORIZON, arms=SEVERAL, scale=POSITIVE, corrected=checks.boolean)
def lemma_25(horizon: float, arms: float, scale: float, corrected: bool = False) -> float:
    """Bound the regret of FTPL with noise Lap(scale), scale >= 1.

    11 scale sqrt(K T) ln K ln(K T) + 10 sqrt(K T). Corrected: 38 for 11.
    """
    root = math.sqrt(arms * horizon)
    return (38 if corrected else 11) * scale * root * math.log(arms) * math.log(
        arms * horizon
    ) + 10 * root


@checks.arguments(horizon=HORIZON, arms=SEVERAL, scale=POSITIVE)
def lemma_25_terms(horizon: float, arms: float, scale: float) -> float:
    """Add up the terms in the proof of Lemma 25, with the eta and M that it sets.

    6 ln K / eta from the perturbation, 4 eta K T (1 + 10 scale^2 ln^2(K T)) from stability, K T /
    (e M) from the cap, 1 from the event.
    """
    log_k, log_kt, events = math.log(arms), math.log(arms * horizon), arms * horizon
    cap = math.sqrt(events)
    first = math.sqrt(log_k / (events + 10 * events * scale**2 * log_kt**2))
    eta = min(first, 1 / (cap * (1 + 4 * scale * math.log(horizon))))
    return (
        6 * log_k / eta
        + 4 * eta * events * (1 + 10 * scale**2 * log_kt**2)
        + events / (math.e * cap)
        + 1
    )


@checks.arguments(horizon=HORIZON, arms=SEVERAL, epsilon=POSITIVE, corrected=checks.boolean)
def corollary_24(horizon: float, arms: float, epsilon: float, corrected: bool = False) -> float:
    """Bound the regret of FTPL in batches.

    32 sqrt(K T) ln K ln(K T) / sqrt epsilon + 2 / epsilon. Corrected: Lemma 25's 38, doubled, and
    20 sqrt(K T / epsilon), where the proof lost a factor 2 / sqrt epsilon.
    """
    root = math.sqrt(arms * horizon / epsilon)
    logs = math.log(arms) * math.log(arms * horizon)
    return (76 * logs + 20 if corrected else 32 * logs) * root + 2 / epsilon


@checks.arguments(horizon=HORIZON, arms=SEVERAL, experts=SEVERAL, epsilon=POSITIVE)
def theorem_9(horizon: float, arms: float, experts: float, epsilon: float) -> float:
    """Bound the regret of EXP4 with Laplace noise on each loss.

    16 sqrt(T K ln N) ln(K T) / epsilon + 1; the constant is from the proof.
    """
    return (
        16 * math.sqrt(horizon * arms * math.log(experts)) * math.log(arms * horizon) / epsilon + 1
    )


@checks.arguments(horizon=HORIZON, arms=SEVERAL, experts=SEVERAL, epsilon=POSITIVE, delta=DELTA)
def theorem_10(horizon: float, arms: float, experts: float, epsilon: float, delta: float) -> float:
    """Bound the regret of EXP4 in batches by 100 A + C, the last line of the proof.

    C = sqrt(N ln(1 / delta)) ln(N T) ln N / epsilon and A = sqrt K C^(1/3) T^(2/3). With the
    corrected gamma the proof's terms add up to at most this wherever it is at most T.
    """
    c = math.sqrt(experts * math.log(1 / delta)) / epsilon
    c *= math.log(experts * horizon) * math.log(experts)
    return 100 * theorem_10_leading(horizon, arms, experts, epsilon, delta) + c


@checks.arguments(
    horizon=HORIZON,
    arms=SEVERAL,
    experts=SEVERAL,
    epsilon=POSITIVE,
    delta=DELTA,
    eta=POSITIVE,
    gamma=POSITIVE,
    tau=POSITIVE,
)
def theorem_10_terms(
    horizon: float,
    arms: float,
    experts: float,
    epsilon: float,
    delta: float,
    eta: float,
    gamma: float,
    tau: float,
) -> float:
    """Add up the terms that the proof of Theorem 10 bounds the regret by.

    3 tau ln N / eta + gamma T + eta T K + 90 eta T N (K ln(N T) / (epsilon gamma tau))^2 ln(1 /
    delta), for the learning rate, mixing probability and batch size of an `EXP4Batched`.
    """
    spread = experts * math.log(1 / delta)
    noise = (arms * math.log(experts * horizon) / (epsilon * gamma * tau)) ** 2 * spread
    return (
        3 * tau * math.log(experts) / eta
        + gamma * horizon
        + eta * horizon * arms
        + 90 * eta * horizon * noise
    )


@checks.arguments(
    horizon=HORIZON,
    arms=SEVERAL,
    experts=SEVERAL,
    epsilon=POSITIVE,
    delta=DELTA,
    logs=checks.boolean,
)
def theorem_10_leading(
    horizon: float, arms: float, experts: float, epsilon: float, delta: float, logs: bool = True
) -> float:
    """Return A of `theorem_10`, with its factor (ln(N T) ln N)^(1/3) or without."""
    log = math.log(experts * horizon) * math.log(experts) if logs else 1.0
    c = math.sqrt(experts * math.log(1 / delta)) * log / epsilon
    return math.sqrt(arms) * c ** (1 / 3) * horizon ** (2 / 3)


@checks.arguments(experts=checks.integer_in(1, checks.SIZE), epsilon=POSITIVE, delta=DELTA)
def theorem_10_composed(experts: int, epsilon: float, delta: float) -> float:
    """Compute the total privacy loss that the proof of Theorem 10 gives.

    Lemma 15 on N releases, each with epsilon / (3 sqrt(N ln(1 / delta))).
    """
    return lemma_15([epsilon / (3 * math.sqrt(experts * math.log(1 / delta)))] * experts, delta)


@checks.arguments(horizon=HORIZON, arms=SEVERAL, epsilon=POSITIVE, corrected=checks.boolean)
def local_exp3(horizon: float, arms: float, epsilon: float, corrected: bool = False) -> float:
    """Bound the regret of EXP3 with Laplace noise on each loss.

    2 sqrt(2 T K ln K (1 + 10 ln^2(K T) / epsilon^2)) + 1, from the proof of Corollary 22.
    Corrected: 2.4 for the leading 2, since the mixing term 8 eta K T ln(K T) / epsilon is not
    absorbed as the proof says (epsilon <= 1).
    """
    log = math.log(arms * horizon)
    return (2.4 if corrected else 2) * math.sqrt(
        2 * horizon * arms * math.log(arms) * (1 + 10 * log**2 / epsilon**2)
    ) + 1


@checks.arguments(horizon=HORIZON, epsilon=POSITIVE)
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


@checks.arguments(log=POSITIVE)
def corollary_22_constant(log: float) -> float:
    """Compute the constant of Corollary 22 that the terms of its proof give.

    2 (sqrt 22 + (20 + 8 / log + 2 / log^2) / sqrt 22), where log = ln(epsilon K T).
    """
    return 2 * (math.sqrt(22) + (20 + 8 / log + 2 / log**2) / math.sqrt(22))


@checks.arguments(losses=TABLE, eta=POSITIVE, gamma=checks.probability)
def lemma_23(losses: ArrayLike, eta: float, gamma: float) -> float:
    """Compute the right side of Lemma 23 for EXP3 on a (T, K) table of losses.

    min_i L_i + 2 gamma T + ln K / eta + eta times the sum of squares.
    """
    losses = np.asarray(losses, float)
    horizon, arms = losses.shape
    return (
        losses.sum(axis=0).min()
        + 2 * gamma * horizon
        + math.log(arms) / eta
        + eta * np.sum(losses**2)
    )


@checks.arguments(
    horizon=HORIZON, arms=SEVERAL, scale=POSITIVE, eta=POSITIVE, gamma=checks.probability
)
def corollary_22_terms(
    horizon: float, arms: float, scale: float, eta: float, gamma: float
) -> float:
    """Add up the terms in the proof of Corollary 22, for noise Lap(scale).

    2 gamma T + ln K / eta + 2 eta K T (1 + 10 scale^2 ln^2(K T)) + 1, from Lemma 23.
    """
    squares = 2 * arms * horizon * (1 + 10 * scale**2 * math.log(arms * horizon) ** 2)
    return 2 * gamma * horizon + math.log(arms) / eta + eta * squares + 1


@checks.arguments(horizon=HORIZON, arms=SEVERAL, epsilon=POSITIVE)
def corollary_24_step(horizon: float, arms: float, epsilon: float) -> float:
    """Compute the second line in the proof of Corollary 24.

    22 sqrt(epsilon K T) ln K ln(K T) / epsilon + 10 sqrt(K T) + 2 / epsilon: Lemma 25 in rounds
    instead of batches, as the proof has it.
    """
    logs, root = math.log(arms) * math.log(arms * horizon), math.sqrt(arms * horizon)
    return 22 * math.sqrt(epsilon) * root * logs / epsilon + 10 * root + 2 / epsilon


@checks.arguments(  # for exponents of T, which may be as large as will show them
    horizon=checks.number_in(1, 1e100),
    arms=SEVERAL,
    experts=checks.number_in(2, 1e100),
    epsilon=checks.number_in(1e-100, 1e100),
    logs=checks.boolean,
)
def table_1(
    horizon: float, arms: float, experts: float, epsilon: float, logs: bool = True
) -> dict[str, float]:
    """Compute the bounds of Table 1 by name, without constants and ln(1 / delta).

    The existing bound, the new one, and the three for experts.
    """
    log = math.log if logs else (lambda x: 1.0)
    return {
        "existing": math.sqrt(arms * horizon * log(arms * horizon)) / epsilon,
        "Corollary 2": math.sqrt(arms * horizon / epsilon),
        "Corollary 8": math.sqrt(experts * horizon / epsilon),
        "Theorem 9": math.sqrt(arms * horizon * log(experts)) * log(arms * horizon) / epsilon,
        "Theorem 10": experts ** (1 / 6)
        * math.sqrt(arms)
        * horizon ** (2 / 3)
        * log(experts * horizon)
        / epsilon ** (1 / 3)
        + math.sqrt(experts) * log(experts * horizon) / epsilon,
    }


@checks.arguments(a=checks.number_in(0, 2), b=checks.number_in(0, 2))
def table_1_exponents(a: float, b: float) -> dict[str, float]:
    """Return the exponents in T of Table 1's three bounds for experts, exactly.

    At N = T^a, epsilon = T^(-b) and fixed K. Of a sum of powers, the largest counts.
    """
    powers = (1 + a + b) / 2, 1 / 2 + b, max(2 / 3 + a / 6 + b / 3, a / 2 + b)
    return dict(zip(FOR_EXPERTS, powers, strict=True))


@checks.arguments(
    horizon=HORIZON,
    epsilon=POSITIVE,
    rate=checks.number_in(1e-15, 1),
    drop=checks.number_in(0, 2**62),
    pulls=checks.number_in(0, 2**62),
)
def lemma_11(horizon: float, epsilon: float, rate: float, drop: float, pulls: float) -> float:
    """Bound regret from below by Lemma 11, on the worse of its pair.

    max(rate T / 4, (1 - e^(epsilon p) / 2) floor(p / rate) / 4 - drop / 2) for an algorithm that
    meets the lemma's conditions; p is `pulls`.
    """
    alike = 1 - math.exp(min(epsilon * pulls, 700.0)) / 2
    return max(rate * horizon / 4, alike * _window(pulls, rate) / 4 - drop / 2)


def _window(pulls, rate):
    """floor(pulls / rate), where 1 / 0.05 counts as 20."""
    return math.floor(pulls / rate * (1 + 1e-12))


@checks.arguments(
    horizon=HORIZON,
    epsilon=POSITIVE,
    drop=checks.number_in(0, 2**62),
    pulls=checks.number_in(0, 2**62),
)
def lemma_11_weaker(horizon: float, epsilon: float, drop: float, pulls: float) -> float:
    """Compute the second form of Lemma 11's bound.

    sqrt(p T (1 - e^(epsilon p) / 2) / 16) - drop / 2, or 0 if there is no root.
    """
    alike = 1 - math.exp(min(epsilon * pulls, 700.0)) / 2
    inside = pulls * horizon * alike / 16
    return math.sqrt(inside) - drop / 2 if inside > 0 else 0.0


@checks.arguments(
    pulls=_certified,
    rounds=checks.array_in(1, 2**62, shape=1),
    epsilon=POSITIVE,
    level=checks.number_in(1e-12, 0.5),
)
@store.kept
def lemma_11_certified(
    pulls: np.ndarray, rounds: np.ndarray, epsilon: float, level: float = 0.05
) -> dict | None:
    """Find the best bound of Lemma 11 whose two conditions samples certify.

    Half of the runs choose: rates below the median rate of pulls, whole p < ln 2 / epsilon and
    drops on the grid of rounds are scanned for the best bound. The other half certify that one
    choice, so scanning causes no bias. A condition counts if its probability is at least 1/2 by a
    one-sided Clopper-Pearson limit. The first half applies a stricter limit, since the best choice
    of many is one that barely meets it.

    Parameters
    ----------
    pulls : (runs, H) array
        Pulls of arm 2 on the first of Lemma 11's pair, in rounds 1..rounds[h].
    rounds : (H,) array
        Increasing; the last is the horizon. A window that ends between two of them is lengthened to
        the second.
    epsilon : float
    level : float
        Each condition's error probability.

    Returns
    -------
    dict or None
        bound, rate, drop, pulls; None if no choice is certified.
    """
    starts = np.concatenate([[0], rounds])
    choosing, testing = (
        np.column_stack([np.zeros(len(part)), part]) for part in (pulls[::2], pulls[1::2])
    )
    strict = min(
        level / 50, max(level / 10**5, 2.0 ** (-len(choosing) / 5))
    )  # few runs can show no more
    best = _best_choice(choosing, starts, epsilon, _enough(len(choosing), strict))
    if best is None:
        return None
    window = np.searchsorted(starts, best["drop"] + _window(best["pulls"], best["rate"]))
    kept = testing[:, window] - testing[:, np.searchsorted(starts, best["drop"])] <= best["pulls"]
    often = testing[:, -1] >= best["rate"] * starts[-1]
    return best if min(kept.sum(), often.sum()) >= _enough(len(testing), level) else None


def _enough(runs, level):
    """Count the runs that must show an event to certify probability 1/2."""
    enough = next((k for k in range(1, runs + 1) if beta.ppf(level, k, runs - k + 1) >= 0.5), None)
    if enough is None:
        raise ValueError(
            f"pulls must be of more runs to certify anything at level {level:g}, got {2 * runs}"
        )
    return enough


def _best_choice(before, starts, epsilon, enough):
    """Find the best bound whose conditions at least `enough` runs show.

    `before` holds the pulls before each of `starts`.
    """
    runs, horizon = len(before), starts[-1]
    highest = min(
        np.sort(before[:, -1])[runs - enough] / horizon, 0.5
    )  # `enough` runs have at least this rate
    best = None
    for rate in highest / 2.0 ** np.arange(7):
        for p in range(
            1, int(min(math.log(2) / epsilon, rate * (horizon + 1))) + 1
        ):  # no window is longer than T
            window = _window(p, rate) if rate > 0 else math.inf
            here = np.flatnonzero(
                (starts < horizon / 2) & (2 * rate * starts <= p) & (starts + window <= horizon)
            )
            if len(here) == 0:
                continue
            ends = np.searchsorted(starts, starts[here] + window)
            kept = ((before[:, ends] - before[:, here]) <= p).sum(axis=0) >= enough
            for drop in starts[here[kept]]:
                bound = lemma_11(horizon, epsilon, rate, drop, p)
                if best is None or bound > best["bound"]:
                    best = {
                        "bound": float(bound),
                        "rate": float(rate),
                        "drop": int(drop),
                        "pulls": p,
                    }
    return best


@checks.arguments(losses=checks.array_in(0, 1e15, shape=1), delta=DELTA)
def lemma_15(losses: Iterable[float], delta: float) -> float:
    """Compute the total privacy loss of adaptive composition by Lemma 15.

    3/2 sum of squares + sqrt(6 sum of squares ln(1 / delta)).
    """
    squares = sum(x * x for x in losses)
    return 1.5 * squares + math.sqrt(6 * squares * math.log(1 / delta))


@checks.arguments(epsilon=POSITIVE, shift=POSITIVE, count=checks.integer_in(1, checks.SIZE))
def laplace_delta(epsilon: float, shift: float, count: int) -> float:
    """Bound delta(epsilon) of releasing numbers with Laplace noise.

    Each of `count` numbers moves by `shift` noise scales. The bound uses their Renyi divergence.
    Unlike the convolution in `privacy.adversarial.laplace_delta` it is meaningful below 1e-12.
    """
    less = np.geomspace(1e-2, 1e4, 2000)  # order of the divergence less 1
    more, both = less + 1, 2 * less + 1
    moment = np.logaddexp(np.log(more / both) + less * shift, np.log(less / both) - more * shift)
    conversion = less * np.log(less) - more * np.log(more)
    return math.exp(min(0.0, np.min(count * moment - less * epsilon + conversion)))
