"""Measurements and steps of proofs of the notebooks on cesari2026."""

from collections.abc import Iterable
from itertools import product

import numpy as np
import pandas as pd
from scipy.stats import binom

from privregret import estimates, exact, instances
from privregret.bounds import wu2026
from privregret.core import store
from privregret.full_information import RandomPrefixSoftmax
from privregret.instances import StochasticLosses

# three ways to add up the cost of an epoch
ONE, ALL, EXACT = "action by action", "potential", "exact"


def scaled_gaps(kind: str, losses: str, log_actions: float, scales: int) -> StochasticLosses:
    """Return gaps 1, 1/2, ...: "one gap", "doubling" (equally many actions) or "multi-scale"."""
    steps = np.arange(1 if kind == "one gap" else scales)
    if kind == "multi-scale":
        counts = log_actions * (1 - steps / (scales + 1))
    else:
        counts = max(0.0, log_actions - np.log(len(steps))) + 0 * steps
    bernoulli = losses == "Bernoulli"
    make = instances.bernoulli_losses if bernoulli else instances.deterministic_losses
    return make((0.0, *0.5**steps), log_counts=(0.0, *counts), name=kind)


@store.cached
def tallies(log_actions: float, scales: int, epsilon: float) -> pd.DataFrame:
    """Return the costs of epochs of 2, 4, 8, ... rounds on the multi-scale instance in each way,
    and as "printed" what wu2026 charges: an action of rank j and gap D > epsilon pays D n / j in
    each epoch of n < 2^r(j) rounds, with r(j) = ceil(log2(c2 ln K / (D epsilon)))."""
    problem, scale = scaled_gaps("multi-scale", "deterministic", log_actions, scales), 2 / epsilon
    order = np.argsort(problem.gaps)
    counts, gaps, n = np.array(problem.log_counts)[order], problem.gaps[order], 2.0 ** np.arange(40)
    c1, c2 = wu2026.COROLLARY_2["gumbel", 2.0]
    phi = np.logaddexp.reduce(counts - np.append(0.5, n)[:, None] * gaps / scale, axis=1)
    ranked = [wu2026.by_rank(counts, np.log(c1) - 2 * s * gaps * epsilon / c2) for s in n]
    expected = [exact.expected_gap(problem, int(s), "gumbel", scale)[0] for s in n]
    tally = pd.DataFrame({"log_actions": problem.log_actions, "n": n})
    tally[ONE] = [2 * s * float(gaps @ each) for s, each in zip(n, ranked, strict=True)]
    tally[ALL] = 4 * scale * -np.diff(phi)
    tally[EXACT] = [2 * s * gap for s, gap in zip(n, expected, strict=True)]
    # sums of 1/j over each group
    ranks, large = wu2026.by_rank(counts, 0 * counts), gaps > epsilon
    threshold = wu2026.C2["gumbel"] * problem.log_actions / (gaps[large] * epsilon)
    early = n[:, None] < 2.0 ** np.ceil(np.log2(threshold))
    return tally.assign(printed=n * (early @ (gaps * ranks)[large]))


@store.cached
def selection_errors(
    problem: StochasticLosses, lengths: Iterable[int], eta: float
) -> list[estimates.Estimate]:
    """Compute the expected gap of a softmax choice from each of these numbers of losses."""
    gaps = (exact.expected_gap(problem, int(m), "gumbel", 1 / eta) for m in lengths)
    return [estimates.Estimate(value, bound=error) for value, error in gaps]


def prefix_sum(problem: StochasticLosses, eta: float) -> tuple[float, float]:
    """Return the sum of F_m over all m >= 1 and a bound on its error, eta at most 1/8: by Lemma 4
    rounds 2 and 3 of the algorithm cost 2 F_1, and all later ones 4 (F_2 + F_3 + ...)."""
    regret = exact.expected_regret(RandomPrefixSoftmax(2 * eta), problem, [1, 3, 2**60])
    first, block = np.diff(regret.value)
    return float(first / 2 + block / 4), float(regret.error.sum())


def drift(eta: float, means: np.ndarray, lead: np.ndarray) -> float:
    """Compute the expected decrease of log Z in the next round / (eta V).

    Lemma 5's proof says that it is at least 1/4 in every state. Z is 1 + the sum of e^(-eta lead)
    over the worse actions; (K,) `lead` has losses so far minus those of the best action, (K,)
    `means` mean losses, both the best action first. The next losses are independent Bernoulli
    losses; all are listed. The result is infinite where V is below 1e-9.
    """
    losses = np.array(list(product((0.0, 1.0), repeat=len(means))))
    weights = np.prod(np.where(losses == 1, means, 1 - means), axis=1)
    after = np.logaddexp.reduce(-eta * (lead + losses - losses[:, :1]), axis=1)
    now = np.logaddexp.reduce(-eta * lead)
    v = float(np.exp(-eta * lead[1:] - now) @ (means[1:] - means[0]))
    return float((now - weights @ after) / (eta * v)) if v > 1e-9 else np.inf


def potential(log_bad: float, rounds: int, gap: float, eta: float) -> tuple[float, float]:
    """Compute (E log Z, E V) after `rounds` rounds if e^log_bad worse actions share one loss.

    Losses are Bernoulli of means (1 - gap) / 2, for the best action, and (1 + gap) / 2.
    """
    n = np.arange(rounds + 1)
    chances = np.convolve(
        binom.pmf(n, rounds, (1 + gap) / 2), binom.pmf(n, rounds, (1 - gap) / 2)[::-1]
    )
    log_sum = log_bad - eta * np.arange(-rounds, rounds + 1)
    log_z = np.logaddexp(0.0, log_sum)
    return float(chances @ log_z), float(gap * (chances @ np.exp(log_sum - log_z)))
