"""Bounds of azize2025, and the exact tails that its concentration inequalities are about.

Means: (K,) array. Logarithms are natural. Tails and their bounds are returned as logarithms of
probabilities.
"""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, logsumexp, rel_entr, xlogy
from scipy.stats import binom

from privregret import checks, store
from privregret.bounds.rules import HORIZON, POSITIVE, POSITIVES, Numbers
from privregret.divergence import d_epsilon, kl

TERMS = 10**8  # most that are listed at once

INSIDE = checks.array_in(1e-300, 1, "[)")
INSIDE_ONE = checks.number_in(1e-300, 1, "[)")
REAL = checks.number_in(-1e15, 1e15)
ALPHA = checks.number_in(0, 1e6)
ENDS = checks.array_in(1, 2**62, shape=1)  # of batches
NOISES = checks.integer_in(1, 1000)  # how many are added up
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
    """Sum of gap / kl(mean, best mean): regret over ln T is at least this for every consistent
    policy (equation 3).

    Examples
    --------
    >>> round(float(lai_robbins([0.75, 0.625, 0.5])), 3)
    5.019
    """
    best, others = _suboptimal(means)
    return sum((best - mean) / kl(mean, best) for mean in others)


@checks.arguments(means=checks.means, epsilon=POSITIVE)
def theorem_3_1(means: ArrayLike, epsilon: float) -> float:
    """Sum of gap / d_epsilon(mean, best mean): lim inf of regret over ln T for consistent
    epsilon-DP policies.

    Examples
    --------
    >>> round(float(theorem_3_1([0.75, 0.625, 0.5], epsilon=0.25)), 3)
    9.402
    """
    best, others = _suboptimal(means)
    return sum((best - mean) / d_epsilon(mean, best, epsilon) for mean in others)


@checks.arguments(means=checks.means, epsilon=POSITIVE)
def equation_7(means: ArrayLike, epsilon: float) -> float:
    """Sum of gap / min(kl(mean, best mean), 6 epsilon gap): the older lower bound (Azize and Basu
    2022).

    Examples
    --------
    >>> round(float(equation_7([0.75, 0.625, 0.5], epsilon=0.25)), 3)
    5.019
    """
    best, others = _suboptimal(means)
    return sum((best - mean) / min(kl(mean, best), 6 * epsilon * (best - mean)) for mean in others)


@checks.arguments(means=checks.means, epsilons=checks.array_in(1e-15, 1e15, shape=1))
def lower_bounds(means: ArrayLike, epsilons: Iterable[float]) -> dict:
    """Theorem 3.1, equation (7) and Lai and Robbins' bound as (n,) arrays over epsilon, by their
    functions' names.

    Examples
    --------
    >>> lower_bounds([0.75, 0.625, 0.5], [0.25, 1.0])["theorem_3_1"].round(3)
    array([9.402, 5.034])
    """
    new, old = ([bound(means, e) for e in epsilons] for bound in (theorem_3_1, equation_7))
    free = np.full(len(new), lai_robbins(means))
    return {"theorem_3_1": np.array(new), "equation_7": np.array(old), "lai_robbins": free}


@checks.arguments(x=INSIDE, y=INSIDE, epsilon=POSITIVES, ways=checks.integer_in(2, checks.SIZE))
@store.kept
def equation_6(x: Numbers, y: Numbers, epsilon: Numbers, ways: int = 20001) -> Numbers:
    """The divergence d_epsilon by its definition: the least epsilon |z - x| + kl(z, y) over `ways`
    z from x to y.

    Arrays of one shape; x and y in (0, 1).

    Examples
    --------
    >>> round(float(equation_6(0.4, 0.7, epsilon=0.5)), 4)
    0.1222
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
    """The divergence d_inf of the lower bound for all laws on finitely many points of [0, 1]
    (equation 9), by its dual.

    max over 0 <= rate <= 1 / (1 - best) of E min(ln(1 - rate (X - best)), ln(1 - rate (1 - best)) +
    epsilon): total variation in the price means that the likelihood ratio is cut off at epsilon
    above its least value.

    Parameters
    ----------
    support, law : (k,) arrays
        Points, 1 among them, and the probabilities of the suboptimal arm's rewards.
    best : float
        Mean of the best arm, above that of `law` and below 1.
    epsilon : float
        Privacy parameter, above 0.

    Examples
    --------
    >>> support, law = np.array([0.0, 0.5, 1.0]), np.array([0.5, 0.3, 0.2])
    >>> round(float(equation_9(support, law, best=0.6, epsilon=0.5)), 4)
    0.1036
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
    """Leading term of the regret of DP-KLUCB and DP-IMED with batch ratio alpha; the theorem adds
    an o(ln T).

    Examples
    --------
    >>> round(float(theorem_4_3([0.75, 0.625, 0.5], epsilon=0.25, alpha=1.1, horizon=10**6)), 1)
    142.9
    """
    return alpha * np.log(horizon) * theorem_3_1(means, epsilon)


@checks.arguments(mean=INSIDE, best=INSIDE)
def critical_epsilon(mean: Numbers, best: Numbers) -> Numbers:
    """logit(best) - logit(mean): from this epsilon on d_epsilon is kl, and privacy costs nothing to
    first order.

    Examples
    --------
    >>> round(float(critical_epsilon(mean=0.5, best=0.75)), 3)
    1.099
    """
    return np.log(best / (1 - best)) - np.log(mean / (1 - mean))


# Exact tails
# --------------------------------------------------------------------------------------------------


@checks.arguments(z=checks.array_in(-1e15, 1e15), m=NOISES, epsilon=POSITIVE)
def laplace_tail(z: ArrayLike, m: int, epsilon: float) -> np.ndarray:
    """ln P[Z >= z] for a sum Z of m >= 1 independent Laplace variables of scale 1 / epsilon; z a
    number or an array.

    By conditioning on signs, Z is a mixture of differences of gamma variables: P[Z >= z] = sum over
    j < m of C(m - 1 + j, j) 2^-(m + j) P[Poisson(epsilon z) < m - j] for z >= 0. All terms are
    positive.

    Examples
    --------
    >>> laplace_tail(np.array([0.0, 5.0]), m=3, epsilon=1.0).round(4)
    array([-0.6931, -3.7121])
    """
    z = np.asarray(z, float)
    u = epsilon * np.abs(z)[..., None]
    i = np.arange(m)
    poisson = np.logaddexp.accumulate(
        xlogy(i, u) - u - gammaln(i + 1), axis=-1
    )  # ln P[Poisson(u) <= i]
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
    """ln P[S + Z >= x] for S binomial(n, mu) and Z a sum of m >= 1 Laplace variables of scale 1 /
    epsilon: O(n m).

    If `lower`, ln P[S + Z <= x].

    Examples
    --------
    >>> round(tail(60, n=100, m=3, mu=0.5, epsilon=1.0), 3)
    -3.317
    """
    if n * m > TERMS:
        raise ValueError(
            f"n must be at most {TERMS // m} for m = {m}: all terms are listed, got {n}"
        )
    k = np.arange(n + 1)
    return float(
        logsumexp(binom.logpmf(k, n, mu) + laplace_tail(k - x if lower else x - k, m, epsilon))
    )


@checks.arguments(p=INSIDE_ONE, q=INSIDE_ONE, alpha=ALPHA, n=checks.integer_in(1, 10**4))
def crossing(p: float, q: float, alpha: float, n: int) -> float:
    """P[for some m <= n the sum of ln(P(X_i) / Q(X_i)) over i <= m exceeds (1 + alpha) n kl(p, q)],
    X_i Bernoulli(p).

    The event of Lemma C.3, for p < q in (0, 1). A walk that is absorbed when it crosses: O(n^2).

    Examples
    --------
    >>> round(float(crossing(0.4, 0.6, alpha=0.5, n=100)), 4)
    0.2054
    """
    up, down, level = np.log(p / q), np.log((1 - p) / (1 - q)), (1 + alpha) * n * kl(p, q)
    alive, lost = np.ones(1), 0.0  # alive[k]: not crossed so far, k ones
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
    """`tail`, or one of the bounds below, for P[S + Z >= n x] after m batches of 1, 2, 4, ...
    pulls: n = 2^m - 1.

    Examples
    --------
    >>> round(at_batch_end(tail, m=6, mu=0.5, epsilon=1.0, x=0.6), 3)
    -2.166
    """
    n = 2**m - 1
    return log_of(n * x, n, m, mu, epsilon, **options)


# Bounds on them
# ------------------------------------------------------------------------------------------------


@checks.arguments(p=INSIDE_ONE, q=INSIDE_ONE, alpha=ALPHA, n=checks.array_in(1, 2**62))
def crossing_bound(p: float, q: float, alpha: float, n: ArrayLike) -> np.ndarray:
    """Doob's inequality for `crossing`: exp(-n kl(r, p)), r the frequency of ones at the level; 0
    if there is none.

    Examples
    --------
    >>> round(float(crossing_bound(0.4, 0.6, alpha=0.5, n=100)), 4)
    0.5891
    """
    if not p < q:
        raise ValueError(f"q must be above p = {p}, got {q}")
    down = np.log((1 - p) / (1 - q))
    ones = (down - (1 + alpha) * kl(p, q)) / (down - np.log(p / q))
    return np.exp(-np.asarray(n) * kl(ones, p)) if ones >= 0 else np.zeros(np.shape(n))


@checks.arguments(z=DEVIATIONS, m=NUMBERS, epsilon=WIDE)
def lemma_d1(z: ArrayLike, m: Numbers, epsilon: Numbers) -> Numbers:
    """-epsilon z + 1 + m ln(1 + m epsilon z) >= ln P[Z >= z], z > 0, as printed.

    Examples
    --------
    >>> round(float(lemma_d1(5.0, m=3, epsilon=1.0)), 3)
    4.318
    """
    u = epsilon * np.asarray(z, float)
    return -u + 1 + m * np.log1p(m * u)


@checks.arguments(z=DEVIATIONS, m=NUMBERS, epsilon=WIDE)
def lemma_d1_sharper(z: ArrayLike, m: Numbers, epsilon: Numbers) -> Numbers:
    """-epsilon z + min(m, epsilon z) + m ln max(1, epsilon z / m): the same proof with a better
    constant.

    Examples
    --------
    >>> round(float(lemma_d1_sharper(5.0, m=3, epsilon=1.0)), 4)
    -0.4675
    """
    u = epsilon * np.asarray(z, float)
    return -u + np.minimum(m, u) + m * np.log(np.maximum(1, u / m))


@checks.arguments(z=DEVIATIONS, m=NUMBERS, epsilon=WIDE)
def laplace_chernoff(z: ArrayLike, m: Numbers, epsilon: Numbers) -> Numbers:
    """The best Chernoff bound on ln P[Z >= z], z > 0, in closed form.

    Examples
    --------
    >>> round(float(laplace_chernoff(5.0, m=3, epsilon=1.0)), 3)
    -1.671
    """
    u = epsilon * np.asarray(z, float)
    tilt = (np.hypot(m, u) - m) / u  # of the moment generating function (1 - tilt^2)^-m
    return -u * tilt - m * np.log1p(-(tilt**2))


@checks.arguments(
    x=REAL, n=checks.positive_int, m=NOISES, mu=INSIDE_ONE, epsilon=POSITIVE, proved=checks.boolean
)
def lemma_d3(x: float, n: int, m: int, mu: float, epsilon: float, proved: bool = False) -> float:
    """Bound on ln P[S + Z >= x], n mu <= x <= n: -n d_epsilon(x / n, mu) + ln A (Lemma D.3).

    As printed, A's first term has the factor x - n mu; the proof gives n instead, which is
    `proved`. For the lower tail P[S + Z <= x] pass n - x and 1 - mu.

    Examples
    --------
    >>> round(lemma_d3(90, n=100, m=3, mu=0.5, epsilon=1.0), 3)
    -9.243
    """
    _check_upper(x, n, mu)
    excess = x - n * mu
    power = 1 + m * np.log1p(m * epsilon * excess)  # ln of e (1 + m epsilon excess)^m
    factor = (n if proved else excess) * -np.log(mu)
    return float(np.logaddexp(power + np.log1p(factor), 0) - n * d_epsilon(x / n, mu, epsilon))


@checks.arguments(x=REAL, n=checks.positive_int, m=NOISES, mu=INSIDE_ONE, epsilon=POSITIVE)
def joint_chernoff(x: float, n: int, m: int, mu: float, epsilon: float) -> float:
    """Bound on ln P[S + Z >= x], n mu <= x <= n: Chernoff's for the sum of all n + m variables at
    once.

    Not in the paper; simpler, and it implies Proposition 4.1 (see there). Lower tail: pass n - x
    and 1 - mu.

    Examples
    --------
    >>> round(joint_chernoff(90, n=100, m=3, mu=0.5, epsilon=1.0), 2)
    -21.39
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
    """Bound on ln P[S + Z >= x] from treating S and Z apart: the best of 999 splits of the
    deviation.

    Examples
    --------
    >>> round(separate(90, n=100, m=3, mu=0.5, epsilon=1.0), 2)
    -11.82
    """
    _check_upper(x, n, mu)
    shares = np.arange(1, 1000) / 1000
    excess = x / n - mu
    binomial = np.array([-n * kl(mu + share * excess, mu) for share in shares])
    return float(
        min(np.logaddexp(binomial, laplace_tail(n * (1 - shares) * excess, m, epsilon)).min(), 0.0)
    )


@checks.arguments(ends=ENDS, a=checks.number_in(1e-15, 1e15), epsilon=POSITIVE)
def proposition_4_1(ends: ArrayLike, a: float, epsilon: float) -> float:
    """An explicit ln A_a for Proposition 4.1: P[S + Z >= n x] <= A_a exp(-n (d_epsilon(x, mu) - a))
    at all batch ends.

    max over batches of m ln(2 epsilon / a) - a n / 2, with m Laplace variables over n pulls; 0 < a
    <= 2 epsilon. Finite for every schedule with m / n -> 0, whereas Lemma D.3 needs m ln(m n) / n
    -> 0.

    Examples
    --------
    >>> round(proposition_4_1([1, 3, 7, 15, 31], a=0.1, epsilon=1.0), 2)
    13.43
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
    """Excess, in nats, of three inequalities of Theorem F.7's proof: the largest over the decisions
    of a DP-IMED run.

    About decisions for another arm than the best, j. (A): the index chosen is at most n_j
    d_epsilon(mean_j, level) + ln n_j, level being `delta` below the best mean; as printed, while
    j's private mean is below the level, and as repaired, while all are. (B), in all other cases: it
    is at least n_i d_epsilon(min(mean_i, level), level).

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
        (A) as printed, (A) and (B) as repaired; -inf where there was no such decision.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> theorem_f7(np.array([0.7, 0.5]), epsilon=1.0, horizon=1000, delta=0.05, rng=rng).shape
    (3,)
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
    """Excess, in pulls, of five inequalities about the batches of equation (14): the largest over
    batches.

    Parameters
    ----------
    ends : (m,) array
        Pulls after the batches, as `batch_ends` gives them for this alpha and n0.

    Returns
    -------
    dict
        "schedule": n_m <= n0 (alpha^(m+1) - 1) / (alpha - 1) + 1 and B_m <= 2 n0 alpha^m, (35) and
        (36); "pulled": n_m* - n0 <= alpha H + 1 - n0 alpha / (alpha - 1), m* the first batch with
        n_m >= H, before (45); "pulled, fixed": without the last term; "batch": B_(m+1) <= alpha
        n_m, in Theorem F.9; "batch, fixed": plus 1.

    Examples
    --------
    >>> steps = batch_steps(2.0 ** np.arange(1, 20) - 1, n0=1, alpha=2.0)
    >>> {name: round(float(steps[name]), 3) for name in ("schedule", "batch")}
    {'schedule': -1.0, 'batch': 0.0}
    """
    ends = np.asarray(ends, float)
    if not (ends[-1] >= np.exp(12) and len(ends) * np.log(alpha) < 600):
        raise ValueError(
            f"ends must be those of batches, the last of them above e^12, got {checks.shown(ends)}"
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
    """A bound on an upper tail is about sums between their mean and their largest value, but for
    rounding."""
    if not n * (mu - 1e-9) <= x <= n * (1 + 1e-9):
        raise ValueError(f"x must lie between n mu = {n * mu} and n = {n}, got {x}")
