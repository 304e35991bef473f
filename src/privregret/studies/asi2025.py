"""Measurements for the notebooks on asi2025: worst gaps, advice and Lemma 11."""

import itertools
import math
from operator import itemgetter

import numpy as np
import pandas as pd
from scipy.stats import binom

from privregret import estimates, instances, simulate
from privregret.adversarial import EXP3, FTPL, BatchedPrivate, ExpertsFromBandit
from privregret.bounds.asi2025 import lemma_11, window_length
from privregret.core import store, streams
from privregret.estimates import Estimate
from privregret.instances import lemma_11_pair
from privregret.studies import asi2025_privacy as privacy

GAPS = 2.0 ** -np.arange(9)  # Section 3 measures regret at the worst of these


# Regret at the worst gap


def worst_gap(algorithm, arms: int, horizon: int, runs: int, seed: int) -> pd.DataFrame:
    """Measure regret as `at_worst` does, at the worst of `GAPS`.

    A quarter of `runs`, at least 8 on each gap, choose two candidates. One row: algorithm,
    instance, mean, se, K, T.
    """
    problems = [instances.gap_adversary(arms, gap) for gap in GAPS]
    worst = at_worst(algorithm, problems, horizon, runs, seed, max(runs // 4, 8), 2)
    return pd.DataFrame([{"algorithm": algorithm.label} | worst | {"K": arms, "T": horizon}])


def at_worst(
    algorithm, problems, horizon: int, runs: int, seed: int, choosing: int, candidates: int = 3
) -> dict:
    """Measure regret on the problem where it is largest: instance (its name), mean, se.

    `choosing` other runs on each problem choose as candidates those with the largest means. All
    candidates are measured by `runs` runs; the largest of their means is returned, with an error
    that holds for all at once. From 64 runs on, sums of the noise of EXP3 and HTINF serve as
    control variates (`regret_by_noise`).
    """
    tried = []
    for problem in problems:
        # no runs where even the largest regret is too small
        most = horizon * np.ptp(getattr(problem, "adversary", problem).losses)
        if sum(mean > most for mean, _ in tried) < candidates:
            few = simulate.regret_curves(algorithm, problem, horizon, choosing, seed + 1, points=1)
            tried.append((few.regret.mean(), problem))
    chosen = [problem for _, problem in sorted(tried, key=itemgetter(0))[-candidates:]]
    noisy = isinstance(algorithm, BatchedPrivate) and not isinstance(algorithm.base, FTPL)
    if noisy and runs >= 64:
        regrets = [regret_by_noise(algorithm, p, horizon, runs, seed) for p in chosen]
    else:
        fresh = simulate.regret_curves(algorithm, chosen, horizon, runs, seed, points=1)
        regrets = estimates.rows(estimates.means(fresh, ["instance"]))
    name = chosen[np.argmax([e.value for e in regrets])].name
    largest = estimates.largest(regrets)
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
    key, size = streams.key(algorithm, problem.distribution), algorithm.runs_per_stream
    blocks = [
        algorithm.run_with_noise(
            problem, horizon, streams.generator(key, seed, block=i), min(size, runs - i * size)
        )
        for i in range(math.ceil(runs / size))
    ]
    losses, noise = map(np.concatenate, zip(*blocks, strict=True))
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


def loss_in_advice(learner: ExpertsFromBandit) -> float:
    """Compute the privacy loss of the advice of a round, in the actions of all other rounds.

    There are two batches, and two experts, each of whom names an arm of its own. In one round of
    the first batch the arms lose 0 and 1, and the experts exchange their advice. In its other
    rounds an arm loses 0 or 1, in every possible number of them. `learner` is around
    `BatchedPrivate`.
    """
    private, largest = learner.bandit, 0.0
    for others in itertools.product(range(private.tau), repeat=2):
        averages = np.add(others, [[0.0, 1.0], [1.0, 0.0]]) / private.tau
        first, second = (
            privacy.batched_probabilities(private.base, [row, [0, 0]], private.scale, 1000)
            for row in averages
        )
        if private.tau == 1:
            # nobody sees the action of the first batch, which is that round
            first, second = (law.reshape(2, 2).sum(axis=0) for law in (first, second))
        largest = max(largest, float(np.abs(np.log(first / second)).max()))
    return largest


def lemma_15(count: int, each: float, delta: float) -> float:
    """The epsilon of `count` releases, each `each`-DP, by advanced composition."""
    squares = count * each**2
    return 1.5 * squares + math.sqrt(6 * squares * math.log(1 / delta))


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
    many_looks = [(path & 15).bit_count() > 2 for path in range(2**horizon)]
    chances = []
    for rounds in ((), last, *pairs):
        losses = np.tile([0.5, 1.0], (horizon, 1))
        losses[list(rounds), 1] = 0.0
        fine, coarse = (
            privacy.batched_probabilities(EXP3(4.0, 0.1), losses, 1 / epsilon, n)[many_looks].sum()
            for n in (points, points // 4 * 2)
        )
        chances.append(Estimate(float(fine), bound=float(abs(fine - coarse))))
    plain, changed, *middle = chances
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
    bound = lemma_11_certified(2 * regrets, rounds, epsilon)

    def on_second(name, drop):
        changed, few = lemma_11_pair(drop)[1], max(runs // 4, 10)
        curves = simulate.regret_curves(algorithm, changed, horizon, few, seed, points=1)
        there = estimates.mean(curves.regret, heavy=False)
        return {f"regret_{name}": there.value, f"regret_{name}_se": there.se}

    here = estimates.mean(regrets[:, -1], heavy=False)
    numbers = {"pull_rate": 2 * here.value / horizon, "regret": here.value, "regret_se": here.se}
    numbers |= on_second("changed", bound["drop"] if bound else horizon // 16)
    numbers |= bound or dict.fromkeys(("bound", "rate", "drop", "pulls"), np.nan)
    for name, drop in (drops or {}).items():
        numbers |= on_second(name, drop)
    return numbers


@store.cached
def lemma_11_certified(pulls: np.ndarray, rounds: np.ndarray, epsilon: float) -> dict | None:
    """Find the best bound of Lemma 11 whose two conditions samples certify.

    Half of the runs choose: rates below the median rate of pulls, whole p < ln 2 / epsilon and
    drops on the grid of rounds are scanned for the best bound. The other half certify that one
    choice, so scanning causes no bias. A condition counts if its probability is at least 1/2 by a
    one-sided Clopper-Pearson limit, wrong with probability 0.05. The first half applies a stricter
    limit, since the best choice of many is one that barely meets it.

    (runs, H) `pulls` are those of arm 2 on the first of Lemma 11's pair, in rounds 1..rounds[h]; a
    window that ends between two of `rounds`, whose last is the horizon, is lengthened to the
    second. Return bound, rate, drop and pulls, or None if no choice is certified; ValueError if so
    few runs can certify nothing.
    """
    starts, level = np.concatenate([[0], rounds]), 0.05
    choosing, testing = (
        np.column_stack([np.zeros(len(part)), part]) for part in (pulls[::2], pulls[1::2])
    )
    # few runs can show no more
    strict = min(level / 50, max(level / 10**5, 2.0 ** (-len(choosing) / 5)))
    best = _best_choice(choosing, starts, epsilon, _enough(len(choosing), strict))
    if best is None:
        return None
    window = np.searchsorted(starts, best["drop"] + window_length(best["pulls"], best["rate"]))
    kept = testing[:, window] - testing[:, np.searchsorted(starts, best["drop"])] <= best["pulls"]
    often = testing[:, -1] >= best["rate"] * starts[-1]
    return best if min(kept.sum(), often.sum()) >= _enough(len(testing), level) else None


def _enough(runs, level):
    """Count the runs that must show an event to certify probability 1/2: more would at this level
    if it were 1/2, as Clopper and Pearson's limit says."""
    enough = int(binom.isf(level, runs, 0.5)) + 1
    if enough > runs:
        raise ValueError(
            f"pulls must be of more runs to certify anything at level {level:g}, got {2 * runs}"
        )
    return enough


def _best_choice(before, starts, epsilon, enough):
    """Find the best bound whose conditions `enough` runs show, from pulls before `starts`."""
    runs, horizon = len(before), starts[-1]
    # `enough` runs have at least this rate
    highest = min(np.sort(before[:, -1])[runs - enough] / horizon, 0.5)
    best = None
    for rate in highest / 2.0 ** np.arange(7):
        # no window is longer than T
        for p in range(1, int(min(math.log(2) / epsilon, rate * (horizon + 1))) + 1):
            window = window_length(p, rate) if rate > 0 else math.inf
            here = np.flatnonzero(
                (starts < horizon / 2) & (2 * rate * starts <= p) & (starts + window <= horizon)
            )
            if len(here) == 0:
                continue
            ends = np.searchsorted(starts, starts[here] + window)
            kept = ((before[:, ends] - before[:, here]) <= p).sum(axis=0) >= enough
            for drop in map(int, starts[here[kept]]):
                bound = float(lemma_11(horizon, epsilon, rate, drop, p))
                if best is None or bound > best["bound"]:
                    best = {"bound": bound, "rate": float(rate), "drop": drop, "pulls": p}
    return best
