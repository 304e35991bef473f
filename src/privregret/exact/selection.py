"""Compute the probability that a noisy maximum selects an action, as one integral.

With independent coordinates the scores N_j = noise_j - (sum of losses)_j are independent, so

    P[j is selected] = integral of f_j(x) exp(sum over i != j of ln F_i(x)) dx,

where F and f are distribution function and density of a score. Equal actions have equal F, so they
cost one term however many they are. Everything is kept as survival functions 1 - F, to full
relative precision far out, where the largest of e^300 scores lies.

Here the method is chosen: `sums` for fixed sums and few outcomes; for Bernoulli losses `lattice`,
or `gumbel` for Gumbel noise.
"""

import math
from functools import lru_cache
from itertools import product
from math import comb, exp, inf
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, xlogy

from privregret.core import checks
from privregret.core.jit import jit
from privregret.core.noise import CODES, GUMBEL, LAPLACE, NONE
from privregret.exact.binomial import atoms, binomials, split_means
from privregret.exact.gumbel import NEAR, gumbel_leader
from privregret.exact.lattice import leader, noisy_leader
from privregret.exact.sums import NOISE, TAIL, mean_softmax, selection_from_sums
from privregret.instances import StochasticLosses

ROUNDING = 1e-11  # error of all integrals, which the tests verify
FORMULA = ROUNDING + 2 * exp(-TAIL)  # error of closed forms
CELLS = 2**15  # largest number of lattice cells of a score's distribution
FINEST, COARSEST = 1e-6, 1e15  # range of noise scales that a lattice supports
# below this probability of overcoming one unit of loss, noise only breaks ties
BRIDGED = 1e-50
NEVER = 1e-30  # groups with a smaller selection probability are left out
FAINT = 1e-13  # a probability whose logarithm is no longer exact
SCALES_OF_FIT = 4.0, 5.0, 6.0, 8.0  # scales of Gumbel noise, in steps, to extrapolate from
ROWS = 200_000  # largest number of enumerated compositions of outcomes


class Selection(NamedTuple):
    """Selection probabilities: `group[g]` that the selected action is in group g.

    `log_action[g]` is the logarithm of the probability of one given action in group g. `error`
    bounds the error of every entry of `group`, so differences below `error` are meaningless. The
    probability of missing the best actions is the sum of the other entries: 1 minus theirs would be
    rounding where that is small.
    """

    group: np.ndarray
    log_action: np.ndarray
    error: float


@checks.validate(
    instance=checks.instance_of(StochasticLosses), rounds=checks.integer_in(0, 2**60), noise=NOISE
)
def selection_probabilities(
    instance: StochasticLosses, rounds: int, noise: str, scale: float
) -> Selection:
    """Return the probability that an action has the largest noise minus losses.

    The bound on the error adds the probability that is left out of the distributions, 1e-11 for
    quadrature and rounding, and, where the binomials are spread over a lattice of steps wider than
    1, the change of the result when the step is doubled.

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

    Raises
    ------
    ValueError
        For a scale out of range, a joint distribution with too many outcomes to enumerate, or
        Bernoulli losses whose means depend on each other.

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
    """Return `selection_probabilities` after each of (n,) numbers of rounds, all at once.

    `scales` is one number or an (n,) array. The result is the (n, G) array of `Selection.group` and
    an (n,) bound on the error of each row.
    """
    log_counts, some = arrays(instance)[1], rounds > 0
    # after no rounds
    group = np.tile(np.exp(log_counts - instance.log_actions), (len(rounds), 1))
    error = np.full(len(rounds), np.finfo(float).eps * (4 + instance.log_actions))
    if some.any():
        scales = np.broadcast_to(scales if noise != "none" else 1.0, len(rounds))[some]
        compute = _of_bernoulli_losses if instance.bits else _of_outcomes
        group[some], error[some] = compute(instance, rounds[some], noise, scales)
    # a cheap check
    error = np.maximum(error, np.abs(group.sum(axis=1) - 1))
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
    """Return a bound on ln P[a draw of noise is larger than another by more than u scales]."""
    laplace = 0.5 + np.minimum(u, 1e9) / 4
    tails = {"exponential": 0.5, "laplace": laplace, "gumbel": 1.0, "none": 0.0}
    with np.errstate(divide="ignore"):
        return np.log(tails[noise]) - u


@lru_cache(maxsize=64)
def arrays(instance: StochasticLosses) -> tuple[np.ndarray, np.ndarray]:
    """Return gaps and logarithms of the numbers of actions, cached for all epochs."""
    return checks.read_only((instance.gaps, np.array(instance.log_counts)))


@lru_cache(maxsize=64)
def _independent_means(instance: StochasticLosses) -> np.ndarray:
    """Return the means of Bernoulli losses, of which those of one action at most may vary."""
    outcomes = np.array(instance.outcomes)
    varying = np.flatnonzero(np.ptp(outcomes, axis=0) > 0)
    alone = len(varying) == 1 and instance.log_counts[varying[0]] == 0
    if len(varying) and not alone:
        raise ValueError(
            f"{instance.name} has dependent losses, and so no exact value: simulate it instead"
        )
    return np.clip(instance.means, 0, 1)


# Fixed losses, or few outcomes
# -------------------------------------------------------------------------------------------------


def differences(losses: np.ndarray) -> np.ndarray:
    """Return losses minus the smallest one, to 15 decimals, so that rounding creates no gaps."""
    gaps = losses - losses.min()
    tidy = gaps.round(15)
    # these are not rounded
    small = np.abs(tidy - gaps) > 1e-11 * gaps
    return np.where(small, np.where(gaps > 1e-15 * losses, gaps, 0.0), tidy)


@lru_cache(maxsize=64)
def _relative(instance):
    """Return outcomes and probabilities; outcomes that differ by a constant are merged."""
    relative = {}
    for outcome, probability in zip(
        np.array(instance.outcomes), instance.probabilities, strict=True
    ):
        key = tuple(differences(outcome))
        relative[key] = relative.get(key, 0.0) + probability
    return np.array(list(relative)), np.array(list(relative.values()))


def _compositions(instance, rounds):
    """Return probabilities (R,) and sums (R, G) of losses, up to a constant in each row."""
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
        return selection_from_sums(sums, log_counts, noise, scales[:, None]), FORMULA
    if len(outcomes) == 2:
        # a binomial's atoms, which are fast
        many = 20 * math.sqrt(longest * probabilities.prod()) > 50 * ROWS
    else:
        many = comb(longest + len(outcomes) - 1, len(outcomes) - 1) > ROWS
    if many:
        raise ValueError(
            f"{instance.name} has too many sums after {longest} rounds: simulate it instead"
        )
    group = np.empty((len(rounds), len(log_counts)))
    for i, (n, scale) in enumerate(zip(rounds.tolist(), scales.tolist(), strict=True)):
        mass, sums = _compositions(instance, n)
        if noise == "gumbel":
            group[i] = mean_softmax(mass, sums, log_counts, scale)
        else:
            group[i] = mass @ selection_from_sums(sums, log_counts, noise, scale)
    return group, FORMULA


# Bernoulli losses
# -------------------------------------------------------------------------------------------------


def _of_bernoulli_losses(instance, rounds, noise, scales):
    """Return probabilities and errors for independent Bernoulli losses."""
    wrong = scales[~((scales >= FINEST) & (scales <= COARSEST))]
    if len(wrong):
        raise ValueError(
            f"scale must be in [{FINEST:g}, {COARSEST:g}] for Bernoulli losses, got {wrong[0]:g}"
        )
    means, log_counts = _independent_means(instance), arrays(instance)[1]
    if log_counts.max() > 600:
        raise ValueError(
            f"a group of Bernoulli losses must have up to e^600 actions, got e^{log_counts.max():g}"
        )
    bounds = largest_probabilities(instance, rounds, noise, scales)
    kept = bounds > NEVER
    error = ROUNDING + 2 * len(means) * exp(-TAIL) + np.where(kept, 0.0, bounds).sum(axis=1)
    steps, double, extrapolate = _steps(rounds, means, log_counts, kept, noise, scales)
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
    found[~extrapolate] = lattice_of(~extrapolate, 1)
    if double.any():
        error[double] += np.abs(found[double] - lattice_of(double, 2)).max(axis=1)
    if extrapolate.any():
        own = steps[extrapolate]
        seen = np.array([group(extrapolate, own, own * 0 + b) for b in SCALES_OF_FIT])
        logs = np.log(np.maximum(seen, FAINT))
        fits = [_extrapolated(logs, scales[extrapolate] / own, many) for many in (3, 4)]
        # what is close to rounding must not be extrapolated
        largest = seen.max(axis=0)
        found[extrapolate] = np.where(largest > 10 * FAINT, fits[1], seen[0])
        doubt = np.where(largest > 10 * FAINT, np.abs(fits[1] - fits[0]), largest)
        error[extrapolate] += doubt.max(axis=1)
    return found, error


def _extrapolated(logs, scales, many):
    """Return probabilities at these scales of the noise, from those at the scales of the fit."""
    at, powers = np.array(SCALES_OF_FIT[:many]), (0, 2, 3, 4)[:many]
    wanted = np.power.outer(scales, powers)
    weights = np.linalg.solve(np.power.outer(at, powers).T, wanted.T)
    return np.exp(np.einsum("bn,bng->ng", weights, logs[:many]))


def _steps(rounds, means, log_counts, kept, noise, scales):
    """Return lattice steps, and where to double them or to extrapolate, because they are wide.

    Gumbel noise is analytic: a lattice finer than the noise and the binomials is exact. The kinks
    of the other two cost about (step / sd)^2 (step / scale)^2 / 240, and noise below the step
    (step / sd)^2 / 12: the error is the change of the result at twice the step. Gumbel noise that
    is small compared with the binomials is extrapolated from more noise, on a wider lattice.
    """
    variances = np.where(kept, np.multiply.outer(rounds, means) * (1 - means), 0.0)
    spread = np.sqrt(np.where(variances > 0, variances, inf).min(axis=1))
    # errors e^-39 by e^(-pi^2 scale / step), and by e^(-2 pi^2 v / step^2) at v = spread^2 / 3
    safe = np.minimum(scales / 4, spread / 2.5)
    if noise != "gumbel":
        # kinks cost 100^-4 / 240 = 4e-11
        safe = np.minimum(scales, spread) / (100 if noise != "none" else inf)
    safe = np.maximum(np.minimum(safe, 2.0**50).astype(np.int64), 1)
    far = TAIL + log_counts
    reach = np.where(kept, 2 * np.sqrt(2 * far * variances) + 2 * far, 0.0).max(axis=1)
    steps = safe.copy()
    while (over := reach / steps > CELLS).any():
        steps[over] *= 2
    wide = steps > (safe if noise == "gumbel" else 1)
    # where ln P = -(16 + ln N), its slope sqrt(2 (16 + ln N)) / sd is 1/8 over 8 steps of noise
    wider = np.minimum(spread / (90 * np.sqrt(16 + log_counts.max())), 2.0**50).astype(np.int64)
    extrapolate = wide & (wider > steps) & (noise == "gumbel")
    return np.where(extrapolate, wider, steps), wide & ~extrapolate, extrapolate


def _binomial(rounds, means, log_counts, kept, codes, steps, scales):
    """Return (n, G) selection probabilities for independent Bernoulli losses."""
    counts = np.exp(np.minimum(log_counts, 690.0))
    split = split_means(rounds, means)
    return _rows(rounds, means, *split, log_counts, counts, kept, codes, steps, scales)


@jit
def _rows(rounds, means, whole, rest, log_counts, counts, kept, codes, steps, scales):
    """Compute `_binomial`, one row of `rounds` after the other."""
    result = np.zeros(kept.shape)
    for i in range(len(rounds)):
        some, step, scale = np.flatnonzero(kept[i]), steps[i], scales[i]
        p, far = means[some], TAIL + log_counts[some]
        start, last, mass = binomials(rounds[i], p, whole[i][some], rest[i][some], step, far, TAIL)
        origin = start[np.argmin(p)]
        first = np.clip(start - origin, -(2**53), 2**53)
        last = first + last - start
        # no common lattice is needed, so deterministic sums stay exact
        if codes[i] == GUMBEL:
            begin, end = first.astype(np.float64), last.astype(np.float64)
            for g in range(len(some)):
                if p[g] * (1 - p[g]) == 0:
                    begin[g] = end[g] = (rounds[i] * int(p[g]) - origin * step) / step
                    mass[g] = 0.0
                    mass[g, 0] = 1.0
            top, bottom = (scale * far - begin).max(), NEAR * scale - end.min()
            found = gumbel_leader(mass, begin, end, counts[some], scale, top, bottom)
        elif codes[i] == NONE:
            found = leader(mass, first, last, counts[some])
        else:
            low = int(np.floor((first - scale * far).min()))
            high = last.min() + 1 + (int(np.ceil(TAIL * scale)) if codes[i] == LAPLACE else 0)
            found = noisy_leader(mass, first, last, counts[some], scale, codes[i], low, high)
        for g in range(len(some)):
            result[i, some[g]] = found[g]
    return result
