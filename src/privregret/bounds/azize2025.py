"""Bounds of azize2025, and exact tails for its concentration inequalities.

Means: (K,) array. Logarithms are natural. Tails and their bounds are returned as logarithms of
probabilities.
"""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, logsumexp, rel_entr, xlogy
from scipy.stats import binom

from privregret.bounds.rules import HORIZON, POSITIVE, POSITIVES, Numbers
from privregret.core import checks, store
from privregret.divergence import d_epsilon, kl

TERMS = 10**8  # largest number of terms computed at once

INSIDE = checks.array_in(1e-300, 1, "[)")
INSIDE_ONE = checks.number_in(1e-300, 1, "[)")
REAL = checks.number_in(-1e15, 1e15)
ALPHA = checks.number_in(0, 1e6)
ENDS = checks.array_in(1, 2**62, shape=1)  # of batches
NOISES = checks.integer_in(1, 1000)  # number of Laplace variables in a sum
NUMBERS, DEVIATIONS, WIDE = (
    checks.array_in(1, 1e9),
    checks.array_in(1e-15, 1e9),
    checks.array_in(1e-15, 1e6),
)

# Regret
# --------------------------------------------------------------------------------------------------


def _suboptimal(means):
    means = np.asarray(means, float)
    best = means.max()
    return best, means[means < best]


@checks.arguments(means=checks.means)
def lai_robbins(means: ArrayLike) -> float:
    """Compute the lower bound of Lai and Robbins on regret / ln T (equation 3).

    It is the sum of gap / kl(mean, best mean) and holds for every consistent policy as T grows.
    """
    best, others = _suboptimal(means)
    return sum((best - mean) / kl(mean, best) for mean in others)


@checks.arguments(means=checks.means, epsilon=POSITIVE)
def theorem_3_1(means: ArrayLike, epsilon: float) -> float:
    """Compute the lower bound of Theorem 3.1 on regret / ln T.

    It is the sum of gap / d_epsilon(mean, best mean) and holds for every consistent epsilon-DP
    policy as T grows.

    Examples
    --------
    >>> round(float(theorem_3_1([0.75, 0.625, 0.5], epsilon=0.25)), 3)
    9.402
    """
    best, others = _suboptimal(means)
    return sum((best - mean) / d_epsilon(mean, best, epsilon) for mean in others)


@checks.arguments(means=checks.means, epsilon=POSITIVE)
def equation_7(means: ArrayLike, epsilon: float) -> float:
    """Compute the older lower bound on regret / ln T (equation 7; Azize and Basu 2022).

    It is the sum of gap / min(kl(mean, best mean), 6 epsilon gap).
    """
    best, others = _suboptimal(means)
    return sum((best - mean) / min(kl(mean, best), 6 * epsilon * (best - mean)) for mean in others)


@checks.arguments(means=checks.means, epsilons=checks.array_in(1e-15, 1e15, shape=1))
def lower_bounds(means: ArrayLike, epsilons: Iterable[float]) -> dict:
    """Compute the three lower bounds on regret / ln T for several epsilon.

    Returns
    -------
    dict
        "theorem_3_1", "equation_7" and "lai_robbins" -> (n,) array over epsilon.
    """
    new, old = ([bound(means, e) for e in epsilons] for bound in (theorem_3_1, equation_7))
    free = np.full(len(new), lai_robbins(means))
    return {"theorem_3_1": np.array(new), "equation_7": np.array(old), "lai_robbins": free}


@checks.arguments(x=INSIDE, y=INSIDE, epsilon=POSITIVES, ways=checks.integer_in(2, checks.SIZE))
@store.kept
def equation_6(x: Numbers, y: Numbers, epsilon: Numbers, ways: int = 20001) -> Numbers:
    """Compute d_epsilon by its definition: smallest epsilon |z - x| + kl(z, y) over z from x to y.

    Parameters
    ----------
    x, y : array_like
        Means in (0, 1).
    epsilon : array_like
        Of the shape of x and y.
    ways : int
        Number of equally spaced values of z.
    """
    z = x + (y - x) * np.linspace(0, 1, ways).reshape(-1, *[1] * np.ndim(x))
    return (epsilon * abs(z - x) + rel_entr(z, y) + rel_entr(1 - z, 1 - y)).min(axis=0)


@checks.arguments(
    support=checks.array_in(0, 1, shape=1),
    law=checks.array_in(0, 1, shape=1),
    best=checks.number_in(1e-15, 1 - 1e-15),
    epsilon=POSITIVE,
)
def equation_9(support: np.ndarray, law: np.ndarray, best: float, epsilon: float) -> float:
    """Compute the divergence d_inf of equation (9) for distributions on finitely many points.

    By duality it is the maximum over 0 <= rate <= 1 / (1 - best) of E min(ln(1 - rate (X - best)),
    ln(1 - rate (1 - best)) + epsilon). The total variation in (9) truncates the log-likelihood
    ratio at epsilon above its smallest value.

    Parameters
    ----------
    support, law : (k,) arrays
        Points of [0, 1], one of them 1, and probabilities of the suboptimal arm's rewards.
    best : float
        Mean of the best arm, above the mean of `law` and below 1.
    epsilon : float
        Privacy parameter, above 0.
    """

    def loss(rate):
        return -law @ np.minimum(
            np.log1p(-rate * (support - best)), np.log1p(-rate * (1 - best)) + epsilon
        )

    return -minimize_scalar(
        loss, bounds=(0, 1 / (1 - best)), method="bounded", options={"xatol": 1e-12}
    ).fun


@checks.arguments(means=checks.means, epsilon=POSITIVE, alpha=ALPHA, horizon=HORIZON)
def theorem_4_3(means: ArrayLike, epsilon: float, alpha: float, horizon: float) -> float:
    """Compute the leading term of the regret bound for DP-KLUCB and DP-IMED with batch ratio alpha.

    The theorem adds an o(ln T) term.
    """
    return alpha * np.log(horizon) * theorem_3_1(means, epsilon)


@checks.arguments(mean=INSIDE, best=INSIDE)
def critical_epsilon(mean: Numbers, best: Numbers) -> Numbers:
    """Compute logit(best) - logit(mean), above which d_epsilon equals kl (low privacy)."""
    return np.log(best / (1 - best)) - np.log(mean / (1 - mean))


# Exact tails
# --------------------------------------------------------------------------------------------------


@checks.arguments(z=checks.array_in(-1e15, 1e15), m=NOISES, epsilon=POSITIVE)
def laplace_tail(z: ArrayLike, m: int, epsilon: float) -> np.ndarray:
    """Compute ln P[Z >= z] for a sum Z of m independent Laplace variables of scale 1 / epsilon.

    By conditioning on signs, Z is a mixture of differences of gamma variables: P[Z >= z] = sum over
    j < m of C(m - 1 + j, j) 2^-(m + j) P[Poisson(epsilon z) < m - j] for z >= 0. All terms are
    positive.

    Parameters
    ----------
    z : array_like
    m : int
        At least 1.
    epsilon : float
    """
    z = np.asarray(z, float)
    u = epsilon * np.abs(z)[..., None]
    i = np.arange(m)
    # ln P[Poisson(u) <= i]
    poisson = np.logaddexp.accumulate(xlogy(i, u) - u - gammaln(i + 1), axis=-1)
    weights = gammaln(m + i) - gammaln(m) - gammaln(i + 1) - (m + i) * np.log(2)
    upper = logsumexp(weights + poisson[..., ::-1], axis=-1)
    return np.where(z >= 0, upper, np.log1p(-np.exp(upper)))


@checks.arguments(
    x=REAL,
    n=checks.integer_in(0, 2**22),
    m=NOISES,
    mu=INSIDE_ONE,
    epsilon=POSITIVE,
    lower=checks.boolean,
)
def tail(x: float, n: int, m: int, mu: float, epsilon: float, lower: bool = False) -> float:
    """Compute ln P[S + Z >= x] for a binomial variable S plus a sum Z of Laplace variables: O(n m).

    Parameters
    ----------
    x : float
    n, mu
        Trials and mean of S.
    m, epsilon
        Z has m >= 1 Laplace variables of scale 1 / epsilon.
    lower : bool
        Whether to compute ln P[S + Z <= x] instead.

    Raises
    ------
    ValueError
        If n m is too large.
    """
    if n * m > TERMS:
        raise ValueError(
            f"n must be at most {TERMS // m} for m = {m}, since all terms are computed, got {n}"
        )
    k = np.arange(n + 1)
    return float(
        logsumexp(binom.logpmf(k, n, mu) + laplace_tail(k - x if lower else x - k, m, epsilon))
    )


@checks.arguments(p=INSIDE_ONE, q=INSIDE_ONE, alpha=ALPHA, n=checks.integer_in(1, 10**4))
def crossing(p: float, q: float, alpha: float, n: int) -> float:
    """Compute the probability of Lemma C.3's event exactly, in O(n^2).

    The event is that for some m <= n the sum of ln(P(X_i) / Q(X_i)) over i <= m exceeds (1 + alpha)
    n kl(p, q), where X_i is Bernoulli(p). The sum is a random walk, absorbed when it crosses.

    Parameters
    ----------
    p, q : float
        Means of the Bernoulli distributions P and Q, in (0, 1).
    alpha : float
        At least 0.
    n : int
    """
    up, down, level = np.log(p / q), np.log((1 - p) / (1 - q)), (1 + alpha) * n * kl(p, q)
    alive, lost = np.ones(1), 0.0  # alive[k]: P[not crossed so far, k ones]
    for m in range(1, n + 1):
        alive = np.append(alive * (1 - p), 0) + np.append(0, alive * p)
        crossed = np.arange(m + 1) * up + (m - np.arange(m + 1)) * down > level
        lost += alive[crossed].sum()
        alive[crossed] = 0
    return lost


@checks.arguments(
    log_of=checks.instance_of(Callable),  # type: ignore[arg-type]
    m=checks.integer_in(1, 60),
    mu=INSIDE_ONE,
    epsilon=POSITIVE,
    x=REAL,
)
def at_batch_end(
    log_of: Callable[..., float], m: int, mu: float, epsilon: float, x: float, **options: bool
) -> float:
    """Compute `tail` or a bound on it for P[S + Z >= n x] after m batches of 1, 2, 4, ... pulls.

    Parameters
    ----------
    log_of : callable
        `tail` or a bound of its signature.
    m : int
        Number of batches and of Laplace variables; n = 2^m - 1 pulls.
    mu, epsilon, x : float
    **options
        Passed to `log_of`.
    """
    n = 2**m - 1
    return log_of(n * x, n, m, mu, epsilon, **options)


# Bounds on them
# ------------------------------------------------------------------------------------------------


@checks.arguments(p=INSIDE_ONE, q=INSIDE_ONE, alpha=ALPHA, n=checks.array_in(1, 2**62))
def crossing_bound(p: float, q: float, alpha: float, n: ArrayLike) -> np.ndarray:
    """Compute Doob's bound exp(-n kl(r, p)) on `crossing`, r the frequency of ones at the level.

    It is 0 if no frequency reaches the level.

    Raises
    ------
    ValueError
        If q is not above p.
    """
    if not p < q:
        raise ValueError(f"q must be above p = {p}, got {q}")
    down = np.log((1 - p) / (1 - q))
    ones = (down - (1 + alpha) * kl(p, q)) / (down - np.log(p / q))
    return np.exp(-np.asarray(n) * kl(ones, p)) if ones >= 0 else np.zeros(np.shape(n))


@checks.arguments(z=DEVIATIONS, m=NUMBERS, epsilon=WIDE)
def lemma_d1(z: ArrayLike, m: Numbers, epsilon: Numbers) -> Numbers:
    """Compute the printed bound -epsilon z + 1 + m ln(1 + m epsilon z) on ln P[Z >= z], z > 0."""
    u = epsilon * np.asarray(z, float)
    return -u + 1 + m * np.log1p(m * u)


@checks.arguments(z=DEVIATIONS, m=NUMBERS, epsilon=WIDE)
def lemma_d1_sharper(z: ArrayLike, m: Numbers, epsilon: Numbers) -> Numbers:
    """Compute -epsilon z + min(m, epsilon z) + m ln max(1, epsilon z / m) >= ln P[Z >= z].

    The proof of Lemma D.1 gives it with another constant.
    """
    u = epsilon * np.asarray(z, float)
    return -u + np.minimum(m, u) + m * np.log(np.maximum(1, u / m))


@checks.arguments(z=DEVIATIONS, m=NUMBERS, epsilon=WIDE)
def laplace_chernoff(z: ArrayLike, m: Numbers, epsilon: Numbers) -> Numbers:
    """Compute the best Chernoff bound on ln P[Z >= z], z > 0, in closed form."""
    u = epsilon * np.asarray(z, float)
    tilt = (np.hypot(m, u) - m) / u  # of the moment generating function (1 - tilt^2)^-m
    return -u * tilt - m * np.log1p(-(tilt**2))


@checks.arguments(
    x=REAL, n=checks.positive_int, m=NOISES, mu=INSIDE_ONE, epsilon=POSITIVE, proved=checks.boolean
)
def lemma_d3(x: float, n: int, m: int, mu: float, epsilon: float, proved: bool = False) -> float:
    """Compute Lemma D.3's bound -n d_epsilon(x / n, mu) + ln A on ln P[S + Z >= x].

    For the lower tail P[S + Z <= x] pass n - x and 1 - mu.

    Parameters
    ----------
    x : float
        From n mu to n.
    n, m, mu, epsilon
        As in `tail`.
    proved : bool
        Whether the first term of A has the factor n that the proof gives. The printed factor is
        x - n mu.

    Raises
    ------
    ValueError
        If x is below n mu or above n.
    """
    _check_upper(x, n, mu)
    excess = x - n * mu
    power = 1 + m * np.log1p(m * epsilon * excess)  # ln of e (1 + m epsilon excess)^m
    factor = (n if proved else excess) * -np.log(mu)
    return float(np.logaddexp(power + np.log1p(factor), 0) - n * d_epsilon(x / n, mu, epsilon))


@checks.arguments(x=REAL, n=checks.positive_int, m=NOISES, mu=INSIDE_ONE, epsilon=POSITIVE)
def joint_chernoff(x: float, n: int, m: int, mu: float, epsilon: float) -> float:
    """Compute Chernoff's bound on ln P[S + Z >= x] for the sum of all n + m variables.

    It is not in the paper. It is simpler than Lemma D.3 and implies Proposition 4.1. For the lower
    tail pass n - x and 1 - mu.

    Parameters
    ----------
    x : float
        From n mu to n.
    n, m, mu, epsilon
        As in `tail`.

    Raises
    ------
    ValueError
        If x is below n mu or above n.
    """

    _check_upper(x, n, mu)

    def exponent(tilt):  # a tilt of the moment generating function, in units of epsilon
        rate = tilt * epsilon
        return (
            -rate * x
            + n * np.logaddexp(np.log1p(-mu), np.log(mu) + rate)
            - m * np.log1p(-tilt * tilt)
        )

    best = minimize_scalar(exponent, bounds=(0, 1), method="bounded", options={"xatol": 1e-10})
    return float(min(best.fun, 0.0))


@checks.arguments(x=REAL, n=checks.positive_int, m=NOISES, mu=INSIDE_ONE, epsilon=POSITIVE)
def separate(x: float, n: int, m: int, mu: float, epsilon: float) -> float:
    """Compute a bound on ln P[S + Z >= x] from separate bounds on S and Z.

    It is the smallest over 999 splits of the deviation.

    Parameters
    ----------
    x : float
        From n mu to n.
    n, m, mu, epsilon
        As in `tail`.

    Raises
    ------
    ValueError
        If x is below n mu or above n.
    """
    _check_upper(x, n, mu)
    fractions = np.arange(1, 1000) / 1000
    excess = x / n - mu
    binomial = np.array([-n * kl(mu + fraction * excess, mu) for fraction in fractions])
    return float(
        min(
            np.logaddexp(binomial, laplace_tail(n * (1 - fractions) * excess, m, epsilon)).min(),
            0.0,
        )
    )


@checks.arguments(ends=ENDS, a=checks.number_in(1e-15, 1e15), epsilon=POSITIVE)
def proposition_4_1(ends: ArrayLike, a: float, epsilon: float) -> float:
    """Compute an explicit constant ln A_a for Proposition 4.1.

    P[S + Z >= n x] <= A_a exp(-n (d_epsilon(x, mu) - a)) at all batch ends, where ln A_a is the
    maximum over batches of m ln(2 epsilon / a) - a n / 2, with m Laplace variables and n pulls. It
    is finite for every schedule with m / n -> 0, whereas Lemma D.3 needs m ln(m n) / n -> 0.

    Parameters
    ----------
    ends : (m,) array
        Pulls after each batch.
    a : float
        In (0, 2 epsilon].
    epsilon : float
    """
    ends = np.asarray(ends, float)
    m = np.arange(1, len(ends) + 1)
    return float(max(0.0, (m * np.log(2 * epsilon / a) - a * ends / 2).max()))


# Steps of the proof of Theorem 4.3 (Appendix F)
# -----------------------------------------------------------------


@checks.arguments(
    means=checks.means, epsilon=POSITIVE, horizon=checks.integer_in(2, 2**60), delta=INSIDE_ONE
)
def theorem_f7(
    means: np.ndarray, epsilon: float, horizon: float, delta: float, rng: np.random.Generator
) -> np.ndarray:
    """Compute the largest excess, in nats, of three inequalities of Theorem F.7's proof in a run.

    They concern decisions of DP-IMED for an arm i other than the best arm j. The level is `delta`
    below the best mean. (A): the index of i is at most n_j d_epsilon(mean_j, level) + ln n_j. As
    printed, this is claimed while the private mean of j is below the level; as repaired, while all
    private means are. (B): in all other cases the index is at least n_i d_epsilon(min(mean_i,
    level), level).

    Parameters
    ----------
    means : (K,) array
    epsilon, horizon
        As in DP-IMED with alpha = 2 and n0 = 1, Algorithm 1 as printed.
    delta : float
        In (0, largest mean).
    rng : numpy.random.Generator

    Returns
    -------
    (3,) array
        (A) as printed, (A) and (B) as repaired; -inf if there was no such decision.
    """
    best = int(np.argmax(means))
    level, worst = means[best] - delta, np.full(3, -np.inf)
    pulls = np.ones(len(means), int)
    size, sums = pulls.copy(), rng.binomial(1, means) + rng.laplace(size=len(means)) / epsilon
    while pulls.sum() < horizon:
        private = np.clip(sums / pulls, 0, 1)
        index = [
            n * d_epsilon(x, private.max(), epsilon) + np.log(n)
            for n, x in zip(pulls, private, strict=True)
        ]
        i = int(np.argmin(index))
        if i != best:
            before = (
                index[i]
                - pulls[best] * d_epsilon(private[best], level, epsilon)
                - np.log(pulls[best])
            )
            after = pulls[i] * d_epsilon(min(private[i], level), level, epsilon) - index[i]
            cases = private[best] < level, private.max() < level, private.max() >= level
            worst = np.maximum(worst, np.where(cases, (before, before, after), -np.inf))
        size[i] *= 2
        sums[i] += rng.binomial(size[i], means[i]) + rng.laplace() / epsilon
        pulls[i] += size[i]
    return worst


@checks.arguments(ends=ENDS, n0=checks.positive_int, alpha=checks.number_in(1.001, 1e3))
def batch_steps(ends: ArrayLike, n0: int, alpha: float) -> dict:
    """Compute the largest excess, in pulls, of five inequalities about the batches of (14).

    Parameters
    ----------
    ends : (m,) array
        Pulls after the batches, as `batch_ends` gives them for this alpha and n0.

    Returns
    -------
    dict
        "schedule": n_m <= n0 (alpha^(m+1) - 1) / (alpha - 1) + 1 and B_m <= 2 n0 alpha^m, (35) and
        (36). "pulled": n_m* - n0 <= alpha H + 1 - n0 alpha / (alpha - 1), where m* is the first
        batch with n_m >= H, before (45). "pulled, fixed": without the last term. "batch": B_(m+1)
        <= alpha n_m, in Theorem F.9. "batch, fixed": with 1 added.

    Raises
    ------
    ValueError
        If the last of `ends` is at most e^12, or there are too many batches.
    """
    ends = np.asarray(ends, float)
    if not (ends[-1] >= np.exp(12) and len(ends) * np.log(alpha) < 600):
        raise ValueError(
            f"ends must be batch ends, the last of them above e^12, got {checks.shown(ends)}"
        )
    powers, sizes = alpha ** np.arange(len(ends)), np.diff(ends, prepend=0)
    levels = np.geomspace(1, np.exp(12), 2000)  # H of (43)
    pulled = (ends[np.searchsorted(ends, levels)] - n0 - alpha * levels - 1).max()
    batch = (sizes[1:] - alpha * ends[:-1]).max()
    schedule = ends - n0 * (alpha * powers - 1) / (alpha - 1) - 1
    return {
        "schedule": max(schedule.max(), (sizes - 2 * n0 * powers).max()),
        "pulled": pulled + n0 * alpha / (alpha - 1),
        "pulled, fixed": pulled,
        "batch": batch,
        "batch, fixed": batch - 1,
    }


def _check_upper(x, n, mu):
    """Raise ValueError unless x is from n mu to n, up to rounding."""
    if not n * (mu - 1e-9) <= x <= n * (1 + 1e-9):
        raise ValueError(f"x must lie between n mu = {n * mu} and n = {n}, got {x}")
