"""Measurements of `companion/errata` that need runs or enumeration."""

import math

import numpy as np

from privregret import estimates, exact, instances, simulate, store
from privregret.adversarial import EXP3, HTINF, BatchedPrivate, ExpertsFromBandit, tuning
from privregret.adversarial.batches import CHOICE, RESAMPLINGS, resamples
from privregret.bounds import asi2025
from privregret.divergence import d_epsilon
from privregret.estimates import Estimate
from privregret.instances import Advice
from privregret.privacy import adversarial

# Privacy ------------------------------------------------------------------------------------------


def loss_of_choice(noise: str, scale: float, actions: int, n: int) -> float:
    """Return the log-ratio of winning probabilities when n - 2 and n behind all others."""

    def winning(behind):
        others = np.log(actions - 1)
        return exact.selection_from_sums([behind, 0.0], [0.0, others], noise, scale)[0]

    return np.log(winning(n - 2.0) / winning(float(n)))


@store.kept
def plays_of_arm_2(runs: int, seed: int) -> tuple[Estimate, Estimate]:
    """Estimate how often round 10 plays arm 2: with all advice for arm 1, and with one change."""
    named = np.zeros((20, 3), int)
    changed = named.copy()
    changed[9] = 1
    losses = np.random.default_rng(seed).random((20, 2))
    learner = ExpertsFromBandit(BatchedPrivate(HTINF(6**0.5), 0.1))

    def fraction(names):
        advice = Advice.of_arms(names, 2, np.arange(20))
        return estimates.fraction([learner.play(losses, advice, s)[9] == 1 for s in range(runs)])

    return fraction(named), fraction(changed)


# Bounds -------------------------------------------------------------------------------------------


def excess_exponent(a: float, b: float, name: str) -> float:
    """Subtract the smallest exponent of T in Table 2 from the exponent of a bound."""
    exponents = asi2025.table_1_exponents(a, b)
    return exponents[name] - min(exponents.values())


def noise_term(mode: str, delta: float = 1e-6) -> float:
    """Noise term of Theorem 10's proof over 90 A, with gamma "printed" or "corrected"."""
    horizon, arms, experts = 10**8, 4, 16
    algorithm = tuning.batched_exp4(horizon, arms, experts, 1.0, delta, mode)
    logs = experts * math.log(1 / delta) * math.log(experts * horizon) ** 2
    variance = logs / (algorithm.gamma * algorithm.tau) ** 2
    leading = asi2025.theorem_10_leading(horizon, arms, experts, 1.0, delta)
    return algorithm.eta * horizon * arms**2 * variance / leading


# Adversarial bandits ------------------------------------------------------------------------------


@store.kept
def count_over_wanted(resampling: str, draws: int, seed: int) -> Estimate:
    """Divide the mean count of FTPL's resampling by 1 / q, q the probability of the leader.

    Two arms 3 / eta apart, cap 10^4.
    """
    choices, rng = np.zeros(2, CHOICE), np.random.default_rng(seed)
    choices["estimate"] = 0.0, 3.0
    kind = RESAMPLINGS.index(resampling)
    counts = [resamples(choices, 0, 1.0, 10**4, kind, rng) for _ in range(draws)]
    # of two Laplace variables, one exceeds the other by 3 with probability (1 + 3 / 2) e^-3 / 2
    return estimates.mean(counts) * (1 - 1.25 * math.exp(-3))


def regret_of_mixing(eta: float, gamma: float, batch: int, horizon: int, seed: int) -> Estimate:
    """Estimate the regret of batched EXP3 on the first instance of Lemma 11."""
    learner, problem = BatchedPrivate(EXP3(eta, gamma), 1.0, batch), instances.lemma_11_pair(0)[0]
    return estimates.mean(
        simulate.regret_curves(learner, problem, horizon, 8, seed, points=1).regret
    )


@store.kept
def many_looks(zeros: tuple, nodes: int) -> Estimate:
    """Compute P(arm 2 is played more than twice in rounds 2 to 5), epsilon = 1.

    Arm 2 loses 0 in the rounds `zeros`, else 1; arm 1 loses 1/2.
    """
    table = np.tile([0.5, 1.0], (5, 1))
    table[list(zeros), 1] = 0.0
    many = [(path & 15).bit_count() > 2 for path in range(32)]
    fine, coarse = (
        adversarial.batched_probabilities(EXP3(4.0, 0.1), table, 1.0, n)[many].sum()
        for n in (nodes, nodes - 2)
    )
    return Estimate(fine, bound=abs(fine - coarse))


# Bernoulli bandits --------------------------------------------------------------------------------


@store.kept
def excess_of_decisions(decisions: int, seed: int) -> np.ndarray:
    """Return the largest excess in (A) in runs of DP-IMED, for the two splits of decisions."""
    rng = np.random.default_rng(seed)
    return np.max([_excess_of_a_run(rng) for _ in range(decisions)], axis=0)


def _excess_of_a_run(
    rng, means=(0.75, 0.7, 0.7, 0.7), epsilon=0.25, delta=0.02, rounds=10**5
) -> np.ndarray:
    pulls, size = np.ones(4), np.ones(4, int)
    sums = rng.binomial(1, means) + rng.laplace(size=4) / epsilon
    level, worst = means[0] - delta, np.full(2, -np.inf)
    while pulls.sum() < rounds:
        private = np.clip(sums / pulls, 0, 1)
        index = pulls * [d_epsilon(x, private.max(), epsilon) for x in private] + np.log(pulls)
        i = index.argmin()
        if i != 0:
            excess = index[i] - pulls[0] * d_epsilon(private[0], level, epsilon) - np.log(pulls[0])
            below = [private[0] < level, private.max() < level]
            worst = np.maximum(worst, np.where(below, excess, -np.inf))
        size[i] *= 2
        sums[i] += rng.binomial(size[i], means[i]) + rng.laplace() / epsilon
        pulls[i] += size[i]
    return worst
