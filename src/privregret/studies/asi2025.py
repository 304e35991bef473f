"""What the notebooks on asi2025 measure: worst gaps, adaptive adversaries, Lemma 11, leakage.

HTINF here is plain numpy over many runs at once, written apart from the kernel in `bases.py`, so
that each tests the other. Losses of an adaptive adversary may depend on what was played before.
"""

import math

import numpy as np
import pandas as pd

from privregret import checks, estimates, instances, simulate, store
from privregret.adversarial import AdversarialAlgorithm
from privregret.adversarial.bases import HTINF, THETA
from privregret.bounds import asi2025 as bounds
from privregret.instances import lemma_11_pair

GAPS = 2.0 ** -np.arange(9)  # Section 3 measures regret at the worst of these
NOTHING = dict.fromkeys(("bound", "rate", "drop", "pulls"), np.nan)


# Settings


def four_adversaries(arms: int, horizon: int, epsilon: float) -> list[instances.Adversary]:
    """Adversaries for Corollary 2: a gap, 0/1 losses, a drop, stochastically constrained."""
    return [
        instances.gap_adversary(arms, 0.5),
        instances.gap_adversary(arms, 0.5, bernoulli=True),
        instances.riser(arms, int(2 * np.sqrt(horizon / epsilon))),
        instances.stochastically_constrained(arms, 0.3, horizon),
    ]


# Regret at the worst gap


def worst_gap(algorithm, arms: int, horizon: int, runs: int, seed: int) -> pd.DataFrame:
    """Regret at the worst of `GAPS`, in runs that did not choose it, and at the ends of that range.

    Parameters
    ----------
    algorithm : AdversarialAlgorithm
    arms, horizon, runs, seed : int
        A sixth of `runs`, at least 4, chooses the gap.

    Returns
    -------
    pandas.DataFrame
        One row: algorithm, instance, mean, sd, se, runs; K, T; end, end_se: the larger mean regret
        of the two at the smallest and the largest gap, in the runs that chose.
    """
    problems = [instances.gap_adversary(arms, gap) for gap in GAPS]
    choosing = max(runs // 6, 4)
    pilot = simulate.regret_curves(algorithm, problems, horizon, choosing, seed + 1, points=1)
    tried = estimates.means(pilot, ["instance"])
    worst = problems[tried["mean"].argmax()]
    fresh = simulate.regret_curves(algorithm, worst, horizon, runs, seed, points=1)
    end = tried.iloc[[0, -1]].sort_values("mean").iloc[-1]
    row = estimates.means(fresh, ["algorithm", "instance"])
    return row.assign(K=arms, T=horizon, end=end["mean"], end_se=end.se)


# HTINF by a program of its own


def htinf_choices(
    answer, choices: int, arms: int, sigma: float, scale: float, runs: int, rng
) -> np.ndarray:
    """Play HTINF on the losses `answer` plus Lap(scale) noise: (choices, runs) arms chosen.

    Parameters
    ----------
    answer : callable
        (number of the choice from 0, (runs,) arms chosen) -> (runs,) losses, averages over batches
        for example. It may remember earlier calls.
    choices, arms, runs : int
    sigma, scale : float
        Of `HTINF`, and of the Laplace noise; 0 means none.
    rng : numpy.random.Generator
    """
    estimate, every = np.zeros((runs, arms)), np.arange(runs)
    chosen = np.empty((choices, runs), np.int64)
    for j in range(choices):
        behind = (estimate - estimate.min(axis=1, keepdims=True)) / (sigma * math.sqrt(j + 1))
        w = np.ones((runs, 1))
        for _ in range(12):  # Newton's steps from the left: sum (behind + w)^-2 = 1
            inverse = 1 / (behind + w)
            squares = np.square(inverse)
            w += (squares.sum(axis=1, keepdims=True) - 1) / (
                2 * (squares * inverse).sum(axis=1, keepdims=True)
            )
        p = 1 / np.square(behind + w)
        p /= p.sum(axis=1, keepdims=True)
        chosen[j] = (p.cumsum(axis=1)[:, :-1] < rng.random((runs, 1))).sum(axis=1)
        chance = p[every, chosen[j]]
        seen = answer(j, chosen[j]) + (rng.laplace(0, scale, runs) if scale else 0)
        counts = np.abs(seen) <= THETA * sigma * np.sqrt((j + 1) * chance)
        estimate[every, chosen[j]] += np.where(counts, seen / chance, 0)
    return chosen


@store.kept
def regret_on_averages(averages, sigma: float, scale: float, runs: int, rng) -> np.ndarray:
    """(runs,) regret of HTINF on given average losses of batches, seen with Lap(scale) noise.

    Parameters
    ----------
    averages : (batches, K) array
    sigma, scale, runs, rng
        As of `htinf_choices`.
    """
    batches, arms = averages.shape
    chosen = htinf_choices(lambda j, arm: averages[j, arm], batches, arms, sigma, scale, runs, rng)
    return averages[np.arange(batches)[:, None], chosen].sum(axis=0) - averages.sum(axis=0).min()


@store.kept
def punished_regret(algorithm, arms: int, horizon: int, runs: int, rng) -> np.ndarray:
    """(runs,) regret of HTINF in batches against an adversary that punishes the arm of each batch.

    In the first round of a batch all losses are 0; then the arm that was played costs 1, all others
    0. Compared with the arm with the fewest punishments. A last partial batch is left out.

    Parameters
    ----------
    algorithm : BatchedPrivate
        Around HTINF.
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


@store.kept
def regret_on_draws(
    losses, advice, tau: int, sigma: float, scale: float, runs: int, rng
) -> np.ndarray:
    """(runs,) regret, per round of a batch, of HTINF over experts on the losses of drawn advice.

    Every expert draws an arm in each round. HTINF chooses among experts and sees the average loss
    of the chosen one's draws over tau rounds plus Lap(scale); it is compared with the best expert's
    draws. The right sides of Theorems 6 (tau = 1) and 7.

    Parameters
    ----------
    losses : (T, K) array
    advice : (T, N, K) array
    tau, runs : int
    sigma, scale : float
        As of `htinf_choices`.
    """
    experts, every = advice.shape[1], np.arange(runs)
    totals, paid = np.zeros((runs, experts)), np.zeros(runs)

    def answer(j, chosen):
        rounds = np.arange(j * tau, (j + 1) * tau)
        u = rng.random((tau, runs, experts, 1))
        drawn = (u > advice[rounds, None].cumsum(axis=-1)[..., :-1]).sum(axis=-1)
        costs = losses[rounds[:, None, None], drawn].mean(axis=0)
        totals[:] += costs
        paid[:] += costs[every, chosen]
        return costs[every, chosen]

    htinf_choices(answer, len(losses) // tau, experts, sigma, scale, runs, rng)
    return paid - totals.min(axis=1)


# Lemma 11


def _drops(name, value):
    if not isinstance(value, dict):
        raise TypeError(f"{name} must be a dict, name -> round, got {checks.shown(value)}")
    return {
        checks.text(name, key): checks.nonnegative_int(name, drop) for key, drop in value.items()
    }


@checks.arguments(
    algorithm=checks.instance_of(AdversarialAlgorithm),
    epsilon=checks.positive,
    horizon=checks.integer_in(64, checks.ROUNDS),
    # half of them must be able to show at level 0.001 what has probability 1/2
    runs=checks.integer_in(20, checks.RUNS),
    seed=checks.nonnegative_int,
    drops=_drops,
)
def lemma_11_certificate(
    algorithm, epsilon: float, horizon: int, runs: int, seed: int, drops=None
) -> dict:
    """Certify the best bound of Lemma 11 by runs on its first losses; regrets on its pair.

    On the first losses the number of pulls of arm 2 is twice the regret. The second losses drop
    where the certified bound has it (at T / 16 if there is none), with a quarter of the runs, at
    least 10; then at each of `drops`.

    Parameters
    ----------
    algorithm : AdversarialAlgorithm
        On two arms.
    epsilon : float
        Its privacy.
    horizon, runs, seed : int
    drops : dict, optional
        Name -> further round of the drop.

    Returns
    -------
    dict
        pull_rate, of arm 2 on the first losses; regret, regret_se, on them; regret_changed,
        regret_changed_se, on the second; regret_<name>, regret_<name>_se; and bound, rate, drop,
        pulls of `bounds.asi2025.lemma_11_certified`, nan if it certifies nothing.
    """
    rounds = np.concatenate([np.arange(1, 65), np.geomspace(64, horizon, 400).round()])
    rounds = np.unique(rounds.astype(int))
    plain = simulate.regret_curves(
        algorithm, lemma_11_pair(0)[0], horizon, runs, seed, points=rounds
    )
    regrets = plain.regret.to_numpy().reshape(runs, len(rounds))
    found = bounds.lemma_11_certified(2 * regrets, rounds, epsilon)

    def on_second(name, drop):
        changed, few = lemma_11_pair(drop)[1], max(runs // 4, 10)
        there = estimates.mean(
            simulate.regret_curves(algorithm, changed, horizon, few, seed, points=1).regret
        )
        return {f"regret_{name}": there.value, f"regret_{name}_se": there.se}

    here = estimates.mean(regrets[:, -1])
    numbers = {"pull_rate": 2 * here.value / horizon, "regret": here.value, "regret_se": here.se}
    numbers |= on_second("changed", found["drop"] if found else horizon // 16) | (found or NOTHING)
    for name, drop in (drops or {}).items():
        numbers |= on_second(name, drop)
    return numbers
