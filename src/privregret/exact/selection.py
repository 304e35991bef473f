"""Compute the probability that a noisy maximum selects an action, as one integral.

With independent coordinates the scores N_j = noise_j - (sum of losses)_j are independent, so

    P[j is selected] = integral of f_j(x) exp(sum over i != j of ln F_i(x)) dx,

where F and f are distribution function and density of a score. Equal actions have equal F, so they
cost one term however many they are. Everything is kept as survival functions 1 - F, to full
relative precision far out, where the largest of e^300 scores lies.
"""

import math
from functools import cache, lru_cache
from itertools import pairwise, product
from math import comb, exp, inf, log
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, xlogy

from privregret.core import checks
from privregret.core.jit import jit
from privregret.core.noise import CODES, EXPONENTIAL, GUMBEL, LAPLACE, NONE, TIE
from privregret.exact.binomial import atoms, lattice, split_means
from privregret.instances import StochasticLosses

TAIL = 50.0  # probability e^-50 is left out of a distribution at most
ROUNDING = 1e-11  # error of all integrals, which the tests verify
FORMULA = ROUNDING + 2 * exp(-TAIL)  # error of closed forms
CELLS = 2**15  # largest number of lattice cells of a score's distribution
FINEST, COARSEST = 1e-6, 1e15  # range of noise scales that a lattice supports
# below this probability of overcoming one unit of loss, noise only breaks ties
BRIDGED = 1e-50
NEVER = 1e-30  # groups with a smaller selection probability are left out
LOG_HALF = log(0.5)
FAINT = 1e-13  # a probability whose logarithm is no longer exact
SCALES_OF_FIT = 4.0, 5.0, 6.0, 8.0  # scales of Gumbel noise, in steps, to extrapolate from
TERMS = 8  # of power series in w < 0.05, exact to 1e-16
ROWS = 200_000  # largest number of enumerated compositions of outcomes
NOISE = checks.one_of(*CODES)
SUMS, SCALES = checks.array_in(-1e20, 1e20), checks.array_in(1e-200, 1e200)


# nodes and weights on [-1, 1], computed once
gauss_legendre = cache(np.polynomial.legendre.leggauss)
LEGENDRE = tuple(np.stack(gauss_legendre(points)) for points in (4, 6, 10, 16))


class Selection(NamedTuple):
    """Hold selection probabilities: `group[g]` for an action of group g.

    `log_action[g]` is the logarithm of the probability of one given action in group g. `error`
    bounds the error of every entry of `group`, so differences below `error` are meaningless. The
    probability of missing the best actions is the sum of the other entries: 1 minus theirs would be
    rounding where that is small.
    """

    group: np.ndarray
    log_action: np.ndarray
    error: float


@checks.arguments(
    instance=checks.instance_of(StochasticLosses), rounds=checks.integer_in(0, 2**60), noise=NOISE
)
def selection_probabilities(
    instance: StochasticLosses, rounds: int, noise: str, scale: float
) -> Selection:
    """Return the probability that an action has the largest noise minus losses.

    Parameters
    ----------
    instance : StochasticLosses
        Independent Bernoulli losses or deterministic ones, in groups of any size; or a joint
        distribution of few outcomes.
    rounds : int
        n in 0..2^60; 0 rounds select uniformly.
    noise : {"laplace", "exponential", "gumbel", "none"}
        Independent on each sum. Without noise the smallest sum wins, ties broken uniformly.
    scale : float
        Scale of the noise, above 0 (ignored without noise); for Bernoulli losses in [1e-6, 1e15].

    Returns
    -------
    Selection

    Raises
    ------
    ValueError
        For a scale out of range, a joint distribution with too many outcomes to enumerate, or
        Bernoulli losses whose means depend on each other.

    Notes
    -----
    The bound on the error adds the probability that is left out of the distributions, 1e-11 for
        quadrature and rounding, and, where the binomials are spread over a lattice of steps wider
        than 1, the change of the result when the step is doubled.

    Examples
    --------
    >>> from privregret.instances import packing
    >>> selection_probabilities(packing(10, 0.25), 100, "laplace", 4.0).group.round(5)
    array([0.93595, 0.06405])
    """
    if noise != "none":
        checks.positive("scale", scale)
    group, error = selections(instance, np.array([rounds]), noise, scale)
    with np.errstate(divide="ignore"):
        return Selection(group[0], np.log(group[0]) - arrays(instance)[1], float(error[0]))


def selections(
    instance: StochasticLosses, rounds: np.ndarray, noise: str, scales: float | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return `selection_probabilities` for several numbers of rounds, all at once.

    Parameters
    ----------
    instance, noise
        As in `selection_probabilities`.
    rounds : (n,) int array
    scales : float or (n,) array
        Scale of the noise for each number of rounds.

    Returns
    -------
    (n, G) array
        Probabilities: `Selection.group`, one row per number of rounds.
    (n,) array
        A bound on the error of each row.
    """
    log_counts, some = arrays(instance)[1], rounds > 0
    group = np.tile(np.exp(log_counts - instance.log_actions), (len(rounds), 1))  # of no rounds
    error = np.full(len(rounds), np.finfo(float).eps * (4 + instance.log_actions))
    if some.any():
        scales = np.broadcast_to(scales if noise != "none" else 1.0, len(rounds))[some]
        compute = _of_bernoulli_losses if instance.bits else _of_outcomes
        group[some], error[some] = compute(instance, rounds[some], noise, scales)
    error = np.maximum(error, np.abs(group.sum(axis=1) - 1))  # a cheap check
    return np.clip(group, 0.0, 1.0), error


def largest_probabilities(
    instance: StochasticLosses, rounds: int | np.ndarray, noise: str, scale: float | np.ndarray
) -> np.ndarray:
    """Return (..., G) bounds on the probability that an action of group g is selected.

    The bound is 1 for the best actions. For another action to win, its sum of losses over `rounds`
    rounds must come within half of its expected deficit (Hoeffding), or the noise must make up for
    the other half; with deterministic sums, for all of it.
    """
    gaps, log_counts = arrays(instance)
    rounds, scale = np.asarray(rounds, float)[..., None], np.asarray(scale)[..., None]
    if len(instance.outcomes) == 1 and not instance.bits:
        sampling, part = np.where(gaps > 0, -inf, 0.0), 1.0
    else:
        # independent coordinates are 2 n terms of range 1, dependent ones n terms of range 2
        wide = 4 if instance.bits else 8
        sampling, part = -rounds * gaps**2 / wide, 0.5
    with np.errstate(over="ignore"):
        u = part * rounds * gaps / scale if noise != "none" else np.full_like(rounds * gaps, inf)
    return np.exp(np.minimum(log_counts + np.logaddexp(sampling, _log_tail(noise, u)), 0.0))


def _log_tail(noise, u):
    """Return a bound on ln P[two draws of noise differ by more than u scales].

    The difference is one-sided.
    """
    tails = {
        "exponential": 0.5,
        "laplace": 0.5 + np.minimum(u, 1e9) / 4,
        "gumbel": 1.0,
        "none": 0.0,
    }
    with np.errstate(divide="ignore"):
        return np.log(tails[noise]) - u


@lru_cache(maxsize=64)
def arrays(instance: StochasticLosses) -> tuple[np.ndarray, np.ndarray]:
    """Return gaps and logarithms of the numbers of actions, cached for all epochs."""
    return instance.gaps, np.array(instance.log_counts)


@lru_cache(maxsize=64)
def independent_means(instance: StochasticLosses) -> np.ndarray:
    """Return the means of Bernoulli losses that are independent over actions.

    They are independent if at most one group's mean varies over the outcomes.
    """
    outcomes = np.array(instance.outcomes)
    varying = np.flatnonzero(np.ptp(outcomes, axis=0) > 0)
    alone = len(varying) == 1 and instance.log_counts[varying[0]] == 0
    if len(varying) and not alone:
        raise ValueError(
            f"{instance.name} has dependent losses, and so no exact value: simulate it instead"
        )
    return np.clip(instance.means, 0, 1)


# Fixed sums
# -------------------------------------------------------------------------------------------------


@checks.arguments(sums=SUMS, log_counts=checks.array_in(0, 1e6, shape=1), noise=NOISE, scale=SCALES)
def selection_from_sums(
    sums: ArrayLike, log_counts: ArrayLike, noise: str, scale: float
) -> np.ndarray:
    """Return the probability that report noisy max selects group g, given the sums.

    Parameters
    ----------
    sums : (..., G) array
        Sum of losses of each action of group g.
    log_counts : (G,) array
        Natural logarithm of the number of actions in each group.
    noise, scale
        As in `selection_probabilities`.

    Returns
    -------
    (..., G) array

    Notes
    -----
    Gumbel noise gives softmax, and exponential noise permute-and-flip. Laplace noise has a closed
        form for two actions, and else an integral over smooth panels. Without noise, sums that
        differ by less than 1e-9 are ties.
    """
    return probabilities_from_sums(sums, log_counts, noise, scale)


def probabilities_from_sums(
    sums: ArrayLike, log_counts: ArrayLike, noise: str, scale: float
) -> np.ndarray:
    """Return `selection_from_sums` without checks, for loops over epochs."""
    sums, log_counts = np.asarray(sums, float), np.asarray(log_counts, float)
    d = sums - sums.min(axis=-1, keepdims=True)
    with np.errstate(over="ignore"):
        u = np.minimum(d / scale, 1e300)
    if noise == "none":
        weights = np.where(d < TIE, log_counts, -inf)
    elif noise == "gumbel":
        weights = log_counts - u
    elif len(log_counts) == 2 and not log_counts.any():
        most = u.max(axis=-1, keepdims=True)
        worse = 0.5 * np.exp(-most) * (1 + most / 2 if noise == "laplace" else 1)
        return np.where(d > 0, worse, 1 - worse)  # equal sums: 1/2 each
    else:
        rows = u.reshape(-1, len(log_counts))
        return _from_sums(rows, log_counts, noise == "laplace", *LEGENDRE[3]).reshape(u.shape)
    weights = np.exp(weights - weights.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


@jit
def _mean_softmax(probabilities, sums, log_counts, scale):
    """Return `selection_from_sums` with Gumbel noise, averaged over the rows."""
    result, weights = np.zeros(len(log_counts)), np.empty(len(log_counts))
    for row in range(len(probabilities)):
        weights[:] = log_counts - (sums[row] - sums[row].min()) / scale
        top, total = weights.max(), 0.0
        for g in range(len(weights)):
            weights[g] = np.exp(weights[g] - top)
            total += weights[g]
        for g in range(len(weights)):
            result[g] += probabilities[row] * (weights[g] / total)
    return result


@checks.arguments(sums=SUMS, noise=checks.one_of("laplace", "exponential", "gumbel"), scale=SCALES)
def expected_maximum(sums: ArrayLike, noise: str, scale: float) -> np.ndarray:
    """Return the expected score of the winner of report noisy max.

    The score is E max_j (noise_j - sum_j). It is a convex function of the sums; its slope in a sum
    is minus the probability that this action wins.

    Parameters
    ----------
    sums : (..., K) array
        Sum of losses of each action.
    noise, scale
        As in `selection_probabilities`.

    Returns
    -------
    (...) array

    Notes
    -----
    Gumbel noise has a closed form. Otherwise the result is the integral of 1 minus the maximum's
        distribution function, by its own quadrature rule: nothing is shared with
        `selection_from_sums`.
    """
    sums = np.asarray(sums, float)
    smallest = sums.min(axis=-1)
    d = (sums - smallest[..., None]) / scale
    if noise == "gumbel":
        return scale * (np.log(np.exp(-d).sum(axis=-1)) + np.euler_gamma) - smallest
    return (
        scale
        * np.array(
            [_maximum(row, noise == "laplace") for row in d.reshape(-1, d.shape[-1])]
        ).reshape(smallest.shape)
        - smallest
    )


def _maximum(d, laplace):
    # the tail is below K e^-x; breaks where some density has a kink
    top = log(len(d)) + 40.0
    breaks = sorted({0.0, top, *([-40.0, *-d[d < 40]] if laplace else [])})
    x, w = _composite(
        np.unique(np.concatenate([np.linspace(a, b, 2 + int(b - a)) for a, b in pairwise(breaks)])),
        16,
    )
    z = x + d[:, None]
    below = (
        np.where(z < 0, 0.5 * np.exp(np.minimum(z, 0)), 1 - 0.5 * np.exp(-np.abs(z)))
        if laplace
        else -np.expm1(-z)
    )
    return top - below.prod(axis=0) @ w


def _composite(edges, points):
    nodes, weights = gauss_legendre(points)
    half = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + half * (1 + nodes)).ravel(), (half * weights).ravel()


@jit
def _from_sums(d, log_counts, laplace, nodes, weights):
    """Integrate over smooth panels for Laplace or exponential noise; return probabilities."""
    groups = len(log_counts)
    counts = np.exp(np.minimum(log_counts, 700.0))
    result, breaks = np.zeros(d.shape), np.empty(groups + 3)
    log_density, log_f = np.empty(groups), np.empty(groups)
    for row in range(len(d)):
        group = np.argmax(log_counts - d[row])
        ahead = log_counts[group] - d[row, group]
        low = -TAIL if laplace else 0.0
        if log_counts[group] >= 6:  # then the largest of them is above ahead - 6
            low = max(low, ahead - 6)
        breaks[0], breaks[1], many = low, ahead + TAIL, 2
        for g in range(-1, groups if laplace else -1):  # places where some density has a kink
            kink = 0.0 if g < 0 else -d[row, g]
            if low < kink < ahead + TAIL:
                breaks[many] = kink
                many += 1
        breaks[:many].sort()
        for k in range(many - 1):
            wide = breaks[k + 1] - breaks[k]
            panels = 1 + int(2 * wide)
            half = wide / panels / 2
            for node in range(panels * len(nodes)):
                panel, q = divmod(node, len(nodes))
                x = breaks[k] + half * (2 * panel + 1 + nodes[q])
                total = 0.0
                for g in range(groups):  # densities of the noise, and ln F = ln(1 - e^...)
                    z = x + d[row, g]
                    log_density[g] = (LOG_HALF if laplace else 0.0) - abs(z)
                    if z > 20:  # there ln F is -(1 - F): N ln F = -e^(ln N + ln(1 - F)), without N
                        log_f[g] = 0.0
                        total -= np.exp(log_counts[g] + log_density[g])
                    else:
                        below = laplace and z < 0
                        log_f[g] = log_density[g] if below else np.log1p(-np.exp(log_density[g]))
                        total += counts[g] * log_f[g]
                for g in range(groups):
                    power = log_counts[g] + log_density[g] + total - log_f[g]
                    result[row, g] += half * weights[q] * np.exp(power)
    return np.minimum(result, 1.0)


def differences(losses: np.ndarray) -> np.ndarray:
    """Return losses minus the smallest loss, to 15 decimals.

    The rounding keeps floating-point errors from creating gaps; small gaps are not rounded.
    """
    gaps = losses - losses.min()
    tidy = gaps.round(15)
    small = np.abs(tidy - gaps) > 1e-11 * gaps
    return np.where(small, np.where(gaps > 1e-15 * losses, gaps, 0.0), tidy)


@lru_cache(maxsize=64)
def _relative(instance):
    """Return outcomes, up to a constant in each, and their probabilities.

    Outcomes that differ by a constant are merged.
    """
    relative = {}
    for outcome, probability in zip(
        np.array(instance.outcomes), instance.probabilities, strict=True
    ):
        key = tuple(differences(outcome))
        relative[key] = relative.get(key, 0.0) + probability
    return np.array(list(relative)), np.array(list(relative.values()))


def _compositions(instance, rounds):
    """Return the probabilities (R,) and sums (R, G) of losses over `rounds` rounds.

    The sums are defined up to a constant in each row.
    """
    outcomes, probabilities = _relative(instance)
    if len(outcomes) == 2:
        first, mass = atoms(rounds, min(probabilities[1], 1.0), 1, TAIL, TAIL)
        hits = first + np.arange(len(mass))
        counts = np.stack([rounds - hits, hits], axis=1)
    else:
        some = (c for c in product(range(rounds + 1), repeat=len(outcomes) - 1) if sum(c) <= rounds)
        counts = np.array([(*c, rounds - sum(c)) for c in some])
        mass = np.exp(
            gammaln(rounds + 1) + (xlogy(counts, probabilities) - gammaln(counts + 1)).sum(axis=1)
        )
    return mass, counts @ outcomes


def _of_outcomes(instance, rounds, noise, scales):
    """Return probabilities and errors for a joint distribution of few outcomes."""
    log_counts, (outcomes, probabilities) = arrays(instance)[1], _relative(instance)
    longest = int(rounds.max())
    if len(outcomes) == 1:
        sums = np.multiply.outer(rounds, outcomes[0])
        return probabilities_from_sums(sums, log_counts, noise, scales[:, None]), FORMULA
    if len(outcomes) == 2:
        # a binomial's atoms, which are fast
        many = 20 * math.sqrt(longest * probabilities.prod()) > 50 * ROWS
    else:
        many = comb(longest + len(outcomes) - 1, len(outcomes) - 1) > ROWS
    if many:
        raise ValueError(
            f"{instance.name} has too many sums after {longest} rounds: simulate it instead"
        )
    if len(outcomes) == 2 and noise == "gumbel":
        p = np.minimum(probabilities[1:], 1.0)
        split = split_means(rounds, p)
        return _of_two_outcomes(rounds, p, *split, outcomes, log_counts, scales), FORMULA
    group = np.empty((len(rounds), len(log_counts)))
    for i, (n, scale) in enumerate(zip(rounds.tolist(), scales.tolist(), strict=True)):
        mass, sums = _compositions(instance, n)
        if noise == "gumbel":
            group[i] = _mean_softmax(mass, sums, log_counts, scale)
        else:
            group[i] = mass @ probabilities_from_sums(sums, log_counts, noise, scale)
    return group, FORMULA


@jit
def _of_two_outcomes(rounds, p, whole, rest, outcomes, log_counts, scales):
    """Return probabilities for a joint distribution of two outcomes, with Gumbel noise."""
    result = np.empty((len(rounds), len(log_counts)))
    for i in range(len(rounds)):
        first, _, mass = lattice(rounds[i], p, whole[i], rest[i], 1, np.array([TAIL]), TAIL)
        sums = np.empty((mass.shape[1], len(log_counts)))
        for k in range(len(sums)):
            hits = first[0] + k
            sums[k] = (rounds[i] - hits) * outcomes[0] + hits * outcomes[1]
        result[i] = _mean_softmax(mass[0], sums, log_counts, scales[i])
    return result


# Binomial sums
# ----------------------------------------------------------------------------------------------


def _of_bernoulli_losses(instance, rounds, noise, scales):
    """Return probabilities and errors for independent Bernoulli losses."""
    wrong = scales[~((scales >= FINEST) & (scales <= COARSEST))]
    if len(wrong):
        raise ValueError(
            f"scale must be in [{FINEST:g}, {COARSEST:g}] for Bernoulli losses, got {wrong[0]:g}"
        )
    means, log_counts = independent_means(instance), arrays(instance)[1]
    if log_counts.max() > 600:
        raise ValueError(
            f"a group of Bernoulli losses must have up to e^600 actions, got e^{log_counts.max():g}"
        )
    bounds = largest_probabilities(instance, rounds, noise, scales)
    kept = bounds > NEVER
    error = ROUNDING + 2 * len(means) * exp(-TAIL) + np.where(kept, 0.0, bounds).sum(axis=1)
    steps, wide, smooth = _steps(rounds, means, log_counts, kept, noise, scales)
    # probability that a sum other than the smallest wins
    behind = np.exp(np.minimum(instance.log_actions + _log_tail(noise, 1 / scales), 0.0))
    bridged = (steps > 1) | (behind >= BRIDGED)
    codes = np.where(bridged, CODES[noise], NONE)
    error += np.where(bridged, 0.0, behind)

    def group(some, steps, in_steps):
        return _binomial(rounds[some], means, log_counts, kept[some], codes[some], steps, in_steps)

    def lattice_of(some, factor):
        own = factor * steps[some]
        # noise far below a wide step: half of it
        return group(some, own, np.maximum(scales[some] / own, np.where(own > 1, 0.5, 0.0)))

    found = np.empty(kept.shape)
    found[~smooth] = lattice_of(~smooth, 1)
    if wide.any():
        error[wide] += np.abs(found[wide] - lattice_of(wide, 2)).max(axis=1)
    if smooth.any():
        own = steps[smooth]
        seen = np.array([group(smooth, own, own * 0 + b) for b in SCALES_OF_FIT])
        logs = np.log(np.maximum(seen, FAINT))
        fits = [_extrapolated(logs, scales[smooth] / own, many) for many in (3, 4)]
        largest = seen.max(axis=0)  # what is close to rounding must not be extrapolated
        found[smooth] = np.where(largest > 10 * FAINT, fits[1], seen[0])
        doubt = np.where(largest > 10 * FAINT, np.abs(fits[1] - fits[0]), largest)
        error[smooth] += doubt.max(axis=1)
    return found, error


def _extrapolated(logs, scales, many):
    """Return probabilities at these scales of the noise, from those at the scales of the fit."""
    at, powers = np.array(SCALES_OF_FIT[:many]), (0, 2, 3, 4)[:many]
    wanted = np.power.outer(scales, powers)
    weights = np.linalg.solve(np.power.outer(at, powers).T, wanted.T)
    return np.exp(np.einsum("bn,bng->ng", weights, logs[:many]))


def _steps(rounds, means, log_counts, kept, noise, scales):
    """Return lattice steps, and what to do about too wide ones.

    Gumbel noise is analytic: sums over a lattice finer than the noise and the binomials are exact
    to e^-39. The kinks of the other two cost about (step / sd)^2 (step / scale)^2 / 240, and noise
    below the step (step / sd)^2 / 12.

    Where steps are too wide, a mask says whether to compare the result with that of twice the step.
    Gumbel noise that is small compared with the binomials has a mask of its own: there the result
    is extrapolated from that of more noise, on a wider lattice.
    """
    variances = np.where(kept, np.multiply.outer(rounds, means) * (1 - means), 0.0)
    spread = np.sqrt(np.where(variances > 0, variances, inf).min(axis=1))
    smooth = np.minimum(scales / 4, spread / 2.5)
    if noise != "gumbel":
        smooth = np.minimum(scales, spread) / (100 if noise != "none" else inf)
    safe = np.maximum(np.minimum(smooth, 2.0**50).astype(np.int64), 1)
    far = TAIL + log_counts
    reach = np.where(kept, 2 * np.sqrt(2 * far * variances) + 2 * far, 0.0).max(axis=1)
    steps = safe.copy()
    while (over := reach / steps > CELLS).any():
        steps[over] *= 2
    wide = steps > (safe if noise == "gumbel" else 1)
    wider = np.minimum(spread / (90 * np.sqrt(16 + log_counts.max())), 2.0**50).astype(np.int64)
    smooth = wide & (wider > steps) & (noise == "gumbel")
    return np.where(smooth, wider, steps), wide & ~smooth, smooth


def _binomial(rounds, means, log_counts, kept, codes, steps, scales):
    """Return (n, G) selection probabilities for independent Bernoulli losses."""
    counts = np.exp(np.minimum(log_counts, 690.0))
    split = split_means(rounds, means)
    return _rows(rounds, means, *split, log_counts, counts, kept, codes, steps, scales)


@jit
def _rows(rounds, means, whole, rest, log_counts, counts, kept, codes, steps, scales):
    """Compute `_binomial`."""
    result = np.zeros(kept.shape)
    for i in range(len(rounds)):
        some, step, scale = np.flatnonzero(kept[i]), steps[i], scales[i]
        p, far = means[some], TAIL + log_counts[some]
        start, last, mass = lattice(rounds[i], p, whole[i][some], rest[i][some], step, far, TAIL)
        origin = start[np.argmin(p)]
        first = np.clip(start - origin, -(2**53), 2**53)
        last = first + last - start
        if codes[i] == GUMBEL:  # no common lattice is needed, so deterministic sums stay exact
            begin, end = first.astype(np.float64), last.astype(np.float64)
            for g in range(len(some)):
                if p[g] * (1 - p[g]) == 0:
                    begin[g] = end[g] = (rounds[i] * int(p[g]) - origin * step) / step
                    mass[g] = 0.0
                    mass[g, 0] = 1.0
            top, bottom = (scale * far - begin).max(), -end.min() - 4.5 * scale
            found = _gumbel(mass, begin, end, counts[some], scale, top, bottom)
        elif codes[i] == NONE:
            found = _leader(mass, first, last, counts[some])
        else:
            low = int(np.floor((first - scale * far).min()))
            high = last.min() + 1 + (int(np.ceil(TAIL * scale)) if codes[i] == LAPLACE else 0)
            found = _lattice(mass, first, last, counts[some], scale, codes[i], low, high)
        for g in range(len(some)):
            result[i, some[g]] = found[g]
    return result


@jit
def _leader(mass, first, last, counts):
    """Integrate over uniform tie-breaks on each atom, without noise; return probabilities."""
    # F(x)^N falls by e^-1 within 1 / crowd of the upper end, if crowd actions are on one atom: so
    # panels are halved towards that end. Nodes are distances from it, perhaps 1e-200.
    groups, width = mass.shape
    below, above = np.zeros((groups, width + 1)), np.zeros((groups, width + 1))
    for g in range(groups):
        for k in range(width):
            below[g, k + 1] = below[g, k] + mass[g, k]  # P[G <= first + k]
        for k in range(width - 1, -1, -1):
            above[g, k] = above[g, k + 1] + mass[g, k]
    nodes, weights = LEGENDRE[3]
    result, cdfs = np.zeros(groups), np.empty(groups)
    under, over, at = np.empty(groups), np.empty(groups), np.empty(groups)
    for m in range(first.min(), last.min() + 1):
        crowd = 0.0
        for g in range(groups):
            k = min(max(m - first[g], 0), width)
            under[g], over[g] = below[g, k], above[g, k]
            at[g] = mass[g, k] if first[g] <= m < first[g] + width else 0.0
            crowd = max(crowd, counts[g] * at[g])
        if crowd == 0:
            continue
        halvings = max(1, int(np.ceil(np.log2(crowd))) + 4)
        seen = False
        for panel in range(halvings):
            left = 0.5 ** (halvings - panel) if panel else 0.0
            half = (0.5 ** (halvings - 1 - panel) - left) / 2
            for q in range(len(nodes)):
                node, total = left + half * (1 + nodes[q]), 0.0
                for g in range(groups):
                    survival = under[g] + node * at[g]
                    cdfs[g] = max(over[g] - node * at[g], 1e-300)
                    total += counts[g] * _log_below(survival, cdfs[g])
                if total < -60:
                    continue
                seen = True
                product = half * weights[q] * np.exp(total)
                for g in range(groups):
                    result[g] += counts[g] * at[g] * product / cdfs[g]
        if not seen:
            break
    return result


@jit
def _log_below(survival, cdf):
    """Return ln(1 - survival), with `cdf` = 1 - survival to full relative precision."""
    if survival < 1e-8:
        return -survival * (1 + 0.5 * survival)
    return np.log1p(-survival) if survival < 0.5 else np.log(cdf)


@jit
def _lattice(mass, first, last, counts, scale, noise, low, high):
    """Integrate over the panels between atoms; return probabilities per group."""
    # Panel [m', m] of the axis m = -x, that is x = -m + theta with theta in [0, m - m'], has no
    # atom inside: every score is a sum of e^(-theta / scale), e^(-(m - m' - theta) / scale) and a
    # constant there. Panels are single cells where some sum has atoms, and wide ones elsewhere.
    # The loop goes from the largest x down, until no score can be below.
    groups, width = mass.shape
    stride = max(1, int(scale / 4))  # cells in a wide panel
    x, w = LEGENDRE[0 if scale > 100 else 1 if scale > 10 else 2 if scale > 10 / 3 else 3]
    panels = max(1, int(np.ceil(0.5 / scale)))  # in a single cell
    unit, unit_weights = np.empty(panels * len(x)), np.empty(panels * len(x))
    for k in range(len(unit)):
        unit[k] = (k // len(x) + 0.5 * (1 + x[k % len(x)])) / panels
        unit_weights[k] = 0.5 * w[k % len(x)] / panels
    wide, wide_weights = (1 + LEGENDRE[3][0]) / 2, LEGENDRE[3][1] / 2
    below = np.zeros((groups, width + 1))  # P[G <= first + k - 1]
    above = np.zeros((groups, width + 1))  # P[G >= first + k]
    # sum over G >= first + k of P[G] e^(-(G - first - k) / scale)
    decayed_up = np.zeros((groups, width + 1))
    # the same sum over G <= first + k - 1, with distances to first + k - 1
    decayed_down = np.zeros((groups, width + 1))
    factor = np.exp(-1 / scale)
    for g in range(groups):
        for k in range(width):
            below[g, k + 1] = below[g, k] + mass[g, k]
            decayed_down[g, k + 1] = mass[g, k] + factor * decayed_down[g, k]
        for k in range(width - 1, -1, -1):
            above[g, k] = above[g, k + 1] + mass[g, k]
            decayed_up[g, k] = mass[g, k] + factor * decayed_up[g, k + 1]
    result = np.zeros(groups)
    cdfs, density = np.empty(groups), np.empty(groups)
    up, down, under, over = np.empty(groups), np.empty(groups), np.empty(groups), np.empty(groups)
    falls, rises = np.zeros(max(len(unit), len(wide))), np.zeros(max(len(unit), len(wide)))
    m, tabled = low, 0
    while m < high:
        span = min(stride, high - m)
        for g in range(groups):
            if first[g] - 1 <= m <= last[g]:
                span = 1
            elif m < first[g]:
                span = min(span, first[g] - 1 - m)
        m += span
        for g in range(groups):
            # atoms from first + k on are above the panel, those up to m - span below it
            k = m - first[g]
            inside = min(max(k, 0), width)
            under[g], over[g] = below[g, inside], above[g, inside]
            up[g] = decayed_up[g, inside]
            if k < 0:
                up[g] *= np.exp(k / scale)
            k = m - span - first[g] + 1
            inside = min(max(k, 0), width)
            down[g] = decayed_down[g, inside] * (np.exp(-(k - width) / scale) if k > width else 1.0)
        nodes, weights = (unit, unit_weights) if span == 1 else (wide, wide_weights)
        if span != tabled:
            tabled = span
            for q in range(len(nodes)):
                falls[q] = np.exp(-(nodes[q] * span) / scale)
                rises[q] = np.exp(-(span - nodes[q] * span) / scale)
        seen = False
        for q in range(len(nodes) - 1, -1, -1):
            fall, rise = falls[q], rises[q]
            total = 0.0
            for g in range(groups):
                if noise == EXPONENTIAL:
                    survival = under[g] + fall * up[g]
                    cdf = over[g] - fall * up[g]
                    density[g] = fall * up[g] / scale
                else:
                    survival = under[g] + 0.5 * (fall * up[g] - rise * down[g])
                    cdf = over[g] - 0.5 * (fall * up[g] - rise * down[g])
                    density[g] = 0.5 * (fall * up[g] + rise * down[g]) / scale
                cdfs[g] = max(cdf, 1e-300)
                total += counts[g] * _log_below(survival, cdfs[g])
            if total < -60:
                continue
            seen = True
            product = weights[q] * span * np.exp(total)
            for g in range(groups):
                if density[g] > 0:
                    result[g] += counts[g] * density[g] * product / cdfs[g]
        if not seen and m - span > low:
            break
    return result


@jit
def _gumbel(mass, first, last, counts, scale, top, bottom):
    """Integrate by the trapezoidal rule for Gumbel noise; return probabilities."""
    # The integrand is analytic and vanishes at both ends, so the trapezoidal rule converges like
    # e^(-pi^2 scale / spacing). The spacing is a multiple of the lattice step, or a step is a
    # multiple of the spacing, so that atoms meet the noise's tail at the same few places. Atoms at
    # y = x + G below -4.5 scale count as certain to be exceeded. Those above 3 scale, where
    # w = e^(-y / scale) < 0.05, are summed together by the power series of 1 - e^-w and w e^-w.
    groups, width = mass.shape
    parts = max(1, int(np.ceil(4 / scale)))  # parts of a step; then nodes are one part apart
    apart = max(1, int(scale / 4)) if parts == 1 else 1
    factor = np.exp(-1 / scale)
    below = np.zeros((groups, width + 1))
    # sum over G >= first + k of P[G] e^(-(j + 1) (G - first - k) / scale)
    tails = np.zeros((groups, width + 1, TERMS))
    atoms = 0
    for g in range(groups):
        for k in range(width):
            below[g, k + 1] = below[g, k] + mass[g, k]
        for k in range(width - 1, -1, -1):
            power = 1.0
            for j in range(TERMS):
                power *= factor
                tails[g, k, j] = mass[g, k] + power * tails[g, k + 1, j]
        atoms += int(last[g] - first[g]) + 1
    # one more place at either end, where rounding can put the first or last atom
    lowest, places = int(np.ceil(-4.5 * scale * parts)) - 1, int(7.5 * scale * parts) + 4
    tabled = places < 20 * atoms  # otherwise each place occurs once
    exceeds, falls = np.empty(places if tabled else 0), np.empty(places if tabled else 0)
    for j in range(len(exceeds)):
        w = np.exp(-(lowest + j) / (scale * parts))
        exceeds[j] = -np.expm1(-w)
        falls[j] = w * (1 - exceeds[j])
    result = np.zeros(groups)
    survival, density = np.empty(groups), np.empty(groups)
    x = np.ceil(top)
    here = 0  # parts of a step below the top
    while x > bottom:
        total = 0.0
        for g in range(groups):
            size = int(last[g] - first[g]) + 1
            y0 = x + first[g]
            start = min(max(int(np.ceil(-4.5 * scale - y0)), 0), size)
            end = min(max(int(np.ceil(3 * scale - y0)), 0), size)
            s, f = below[g, start], 0.0
            if tabled and size > 1:
                j = int(np.rint(y0 * parts)) + start * parts - lowest
                for k in range(start, end):
                    s += mass[g, k] * exceeds[j]
                    f += mass[g, k] * falls[j]
                    j += parts
            elif start < end:
                w = np.exp(-(y0 + start) / scale)
                for k in range(start, end):
                    if (k - start) % 64 == 63:
                        w = np.exp(-(y0 + k) / scale)
                    more = -np.expm1(-w)
                    s += mass[g, k] * more
                    f += mass[g, k] * w * (1 - more)
                    w *= factor
            if end < size:
                w = np.exp(-(y0 + end) / scale)
                power = -1.0
                for j in range(TERMS):
                    power *= -w / (j + 1)
                    s += power * tails[g, end, j]
                    f += (j + 1) * power * tails[g, end, j]
            survival[g], density[g] = s, f / scale
            total += counts[g] * np.log1p(-s) if s < 1 else -np.inf
        if total >= -60:
            product = apart / parts * np.exp(total)
            for g in range(groups):
                result[g] += counts[g] * density[g] * product / (1 - survival[g])
        elif here > 0:
            break
        here += apart
        x = np.ceil(top) - here / parts
    return result
