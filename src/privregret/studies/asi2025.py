"""Measurements for the notebooks on asi2025: worst gaps, adaptive adversaries, Lemma 11, leakage.

HTINF here is plain numpy over many runs at once, written independently of the kernel, so that each
tests the other. An adaptive adversary's losses may depend on earlier actions.
"""

import itertools
import math

import numpy as np
import pandas as pd

from privregret import estimates, instances, simulate
from privregret.adversarial import EXP3, FTPL, HTINF, BatchedPrivate, ExpertsFromBandit
from privregret.core import store, streams
from privregret.estimates import Estimate
from privregret.instances import lemma_11_pair
from privregret.studies import asi2025_privacy as privacy
from privregret.studies.asi2025_lemma_11 import lemma_11_certified

GAPS = 2.0 ** -np.arange(9)  # Section 3 measures regret at the worst of these
NOTHING = dict.fromkeys(("bound", "rate", "drop", "pulls"), np.nan)


# Regret at the worst gap


def worst_gap(algorithm, arms: int, horizon: int, runs: int, seed: int) -> pd.DataFrame:
    """Measure regret as `at_worst` does, at the worst of `GAPS`.

    A quarter of `runs`, at least 8 on each gap, choose two candidates. One row: algorithm,
    instance, mean, se, K, T.
    """
    problems = [instances.gap_adversary(arms, gap) for gap in GAPS]
    found = at_worst(algorithm, problems, horizon, runs, seed, max(runs // 4, 8), 2)
    return pd.DataFrame([{"algorithm": algorithm.label} | found | {"K": arms, "T": horizon}])


def at_worst(
    algorithm, problems, horizon: int, runs: int, seed: int, choosing: int, candidates: int = 3
) -> dict:
    """Measure regret on the problem where it is largest: instance (its name), mean, se.

    `choosing` other runs on each problem choose as candidates those with the largest means. All
    candidates are measured by `runs` runs; the largest of their means is returned, with an error
    that holds for all at once. From 64 runs on, sums of the noise of EXP3 and HTINF serve as
    control variates (`regret_by_noise`).
    """
    pilot = simulate.regret_curves(algorithm, problems, horizon, choosing, seed + 1, points=1)
    tried = estimates.means(pilot, ["instance"])
    chosen = [problems[i] for i in tried["mean"].nlargest(candidates).index]
    noisy = isinstance(algorithm, BatchedPrivate) and not isinstance(algorithm.base, FTPL)
    if noisy and runs >= 64:
        found = [regret_by_noise(algorithm, p, horizon, runs, seed) for p in chosen]
        means = pd.DataFrame({"mean": [e.value for e in found], "se": [e.se for e in found]})
        means["instance"] = [problem.name for problem in chosen]
    else:
        fresh = simulate.regret_curves(algorithm, chosen, horizon, runs, seed, points=1)
        means = estimates.means(fresh, ["instance"])
    largest = estimates.largest(means)
    name = means.instance[means["mean"].idxmax()]
    return {"instance": name, "mean": largest.value, "se": largest.se}


@store.cached
def regret_by_noise(
    algorithm: BatchedPrivate, problem: instances.Adversary, horizon: int, runs: int, seed: int
) -> Estimate:
    """Estimate mean regret with sums of the noise as control variates.

    There are six: each sum of `run_with_noise` (of HTINF or EXP3 in batches), over the arm that is
    best at first and over the others. The runs, at least 60, are those of
    `simulate.regret_curves`.
    """
    key, size = streams.key(algorithm, problem), algorithm.runs_per_stream
    found = [
        algorithm.run_with_noise(
            problem, horizon, streams.generator(key, seed, block=i), min(size, runs - i * size)
        )
        for i in range(math.ceil(runs / size))
    ]
    losses, noise = map(np.concatenate, zip(*found, strict=True))
    best = noise[:, problem.losses[0].argmin()]
    controls = np.concatenate([best, noise.sum(axis=1) - best], axis=1)
    return estimates.mean_with_controls(
        problem.regret(losses, [horizon])[:, 0], controls, heavy=False
    )


# Privacy


def law_over_experts(learner: ExpertsFromBandit, certainty: float, average: float) -> np.ndarray:
    """Compute the (2^tau, 2^tau) law of the actions of two batches, for two experts and two arms.

    Each expert names an arm of its own with probability `certainty`, else the other. The first
    batch of tau rounds costs `average` per round, whatever is played. `learner` is around
    `BatchedPrivate`.
    """
    private = learner.bandit
    arms = np.array(list(itertools.product((0, 1), repeat=private.tau)))
    # (2^tau, 2): probability of the actions of a batch for each expert followed
    drawn = [np.where(arms == j, certainty, 1 - certainty).prod(axis=1) for j in (0, 1)]
    followed = np.stack(drawn, axis=1)
    averages = [[average, average], [0.0, 0.0]]
    chosen = privacy.batched_probabilities(private.base, averages, private.scale, 1000)
    return followed @ chosen.reshape(2, 2) @ followed.T


# HTINF by a program of its own


def htinf_choices(
    answer, choices: int, arms: int, sigma: float, scale: float, runs: int, rng
) -> np.ndarray:
    """Play HTINF on the losses of `answer` plus Lap(scale) noise, and return (choices, runs) arms.

    `answer` maps the index of the choice and the (runs,) arms chosen to (runs,) losses, such as
    averages over batches; it may remember earlier calls. Without noise if `scale` is 0.
    """
    estimate, every, theta = np.zeros((runs, arms)), np.arange(runs), 1 - 2 ** (-1 / 3)
    chosen = np.empty((choices, runs), np.int64)
    for j in range(choices):
        behind = (estimate - estimate.min(axis=1, keepdims=True)) / (sigma * math.sqrt(j + 1))
        w = np.ones((runs, 1))
        # Newton's steps from the left: sum (behind + w)^-2 = 1
        for _ in range(12):
            inverse = 1 / (behind + w)
            squares = np.square(inverse)
            slope = 2 * (squares * inverse).sum(axis=1, keepdims=True)
            w += (squares.sum(axis=1, keepdims=True) - 1) / slope
        p = 1 / np.square(behind + w)
        p /= p.sum(axis=1, keepdims=True)
        chosen[j] = (p.cumsum(axis=1)[:, :-1] < rng.random((runs, 1))).sum(axis=1)
        chance = p[every, chosen[j]]
        seen = answer(j, chosen[j]) + (rng.laplace(0, scale, runs) if scale else 0)
        counts = np.abs(seen) <= theta * sigma * np.sqrt((j + 1) * chance)
        estimate[every, chosen[j]] += np.where(counts, seen / chance, 0)
    return chosen


@store.cached
def regret_on_averages(averages, sigma: float, scale: float, runs: int, rng) -> np.ndarray:
    """Return (runs,) regrets of HTINF on (batches, K) average losses with Lap(scale) noise."""
    batches, arms = averages.shape
    chosen = htinf_choices(lambda j, arm: averages[j, arm], batches, arms, sigma, scale, runs, rng)
    return averages[np.arange(batches)[:, None], chosen].sum(axis=0) - averages.sum(axis=0).min()


@store.cached
def punished_regret(algorithm, arms: int, horizon: int, runs: int, rng) -> np.ndarray:
    """Return (runs,) regrets of HTINF in batches against an adaptive adversary.

    In the first round of a batch all losses are 0. Then the arm that was played costs 1, all others
    0. The comparator is the arm with the smallest total loss. A last partial batch is omitted.
    """
    if not isinstance(getattr(algorithm, "base", None), HTINF):
        raise TypeError(f"algorithm must be BatchedPrivate around HTINF, got {algorithm!r}")
    batches, cost = horizon // algorithm.tau, 1 - 1 / algorithm.tau
    sigma, scale = algorithm.base.sigma, algorithm.scale
    chosen = htinf_choices(
        lambda j, arm: np.full(runs, cost), batches, arms, sigma, scale, runs, rng
    )
    counts = np.array([(chosen == arm).sum(axis=0) for arm in range(arms)])
    return algorithm.tau * cost * (batches - counts.min(axis=0))


# Lemma 11


def lemma_11_chain(horizon: int, epsilon: float, nodes: int) -> dict[str, Estimate]:
    """Compute the chain in Lemma 11's proof for batched EXP3, p = 2, T = 4 or 5, by quadrature.

    The losses change after `horizon` - 4 rounds. There are `nodes` points per noise variable for
    four rounds, fewer for five; the error is the change when they are halved. changed is P(E^c)
    on the changed losses, middle its supremum over at most two changed rounds, plain_scaled exp(2
    epsilon) times it on the plain losses.
    """
    last = range(horizon - 4, horizon)
    pairs = [s for size in (1, 2) for s in itertools.combinations(last, size)]
    points = nodes if horizon == 4 else max(nodes // 6 * 2, 4)

    def looks(rounds, points):
        return privacy.many_looks(EXP3(4.0, 0.1), horizon, rounds, epsilon, points)

    found = []
    for rounds in ((), tuple(last), *pairs):
        fine, coarse = looks(rounds, points), looks(rounds, points // 4 * 2)
        found.append(Estimate(fine, bound=abs(fine - coarse)))
    plain, changed, *middle = found
    supremum = estimates.largest([plain, *middle])
    return {"changed": changed, "middle": supremum, "plain_scaled": plain * np.exp(2 * epsilon)}


@store.cached
def lemma_11_certificate(
    algorithm, epsilon: float, horizon: int, runs: int, seed: int, drops=None
) -> dict:
    """Certify the best bound of Lemma 11 for an `epsilon`-private algorithm, and measure regrets.

    On the first losses of the lemma's pair the number of pulls of arm 2 is twice the regret. The
    second losses change where the certified bound has it (at T / 16 if there is none), then at each
    of `drops` (name -> round). A quarter of the runs, at least 10, is made there. The dict has
    pull_rate, of arm 2 on the first losses; regret, regret_se, on them; regret_changed,
    regret_changed_se, on the second; regret_<name>, regret_<name>_se; and bound, rate, drop, pulls
    of `lemma_11_certified`, nan if it certifies nothing.
    """
    rounds = np.concatenate([np.arange(1, 65), np.geomspace(64, horizon, 400).round()])
    rounds = np.unique(rounds.astype(int))
    plain = simulate.regret_curves(
        algorithm, lemma_11_pair(0)[0], horizon, runs, seed, points=rounds
    )
    regrets = plain.regret.to_numpy().reshape(runs, len(rounds))
    found = lemma_11_certified(2 * regrets, rounds, epsilon)

    def on_second(name, drop):
        changed, few = lemma_11_pair(drop)[1], max(runs // 4, 10)
        curves = simulate.regret_curves(algorithm, changed, horizon, few, seed, points=1)
        there = estimates.mean(curves.regret, heavy=False)
        return {f"regret_{name}": there.value, f"regret_{name}_se": there.se}

    here = estimates.mean(regrets[:, -1], heavy=False)
    numbers = {"pull_rate": 2 * here.value / horizon, "regret": here.value, "regret_se": here.se}
    numbers |= on_second("changed", found["drop"] if found else horizon // 16) | (found or NOTHING)
    for name, drop in (drops or {}).items():
        numbers |= on_second(name, drop)
    return numbers
