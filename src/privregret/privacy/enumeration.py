"""Compute exact distributions of small policies, and their privacy losses.

The inputs are those of azize2025, Appendix B. A policy is a list with one array per round:
`policy[t][a_1, .., a_t, r_1, .., r_t]` are the probabilities of the K arms in round t + 1 after
those actions and rewards (0 or 1). Inputs are reward functions of the actions so far: of none in a
*list*, of the last in a *table*, of all in a *tree* (an adaptive adversary). Neighbours differ in
one round.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
from scipy.stats import laplace

from privregret.core import checks
from privregret.divergence import kl

MODELS = ("list", "table", "tree")


def random_policy(arms: int, rounds: int, rng: np.random.Generator, spread: float = 1.0) -> list:
    """Return a policy with independent log-probabilities N(0, spread^2) for each history."""
    policy = []
    for t in range(rounds):
        weights = np.exp(spread * rng.standard_normal((arms,) * t + (2,) * t + (arms,)))
        policy.append(weights / weights.sum(axis=-1, keepdims=True))
    return policy


def stay_or_switch(rounds: int, epsilon: float) -> list:
    """Return a two-armed policy that keeps its arm if reward + noise exceeds 1/2.

    Otherwise it switches. The first arm is random, and the noise is Laplace(1 / epsilon). The
    policy is epsilon-DP, because each reward is used once. With epsilon infinite it is win-stay,
    lose-shift, which is not private.
    """
    finite = np.isfinite(epsilon)
    stay = [laplace.sf(0.5 - r, scale=1 / epsilon) if finite else float(r) for r in (0, 1)]
    policy: list[np.ndarray] = [np.full(2, 0.5)]
    for t in range(1, rounds):
        law = np.empty((2,) * (2 * t + 1))
        for history in product((0, 1), repeat=2 * t):
            last, reward = history[t - 1], history[-1]
            law[(*history, last)] = stay[reward]
            law[(*history, 1 - last)] = 1 - stay[reward]
        policy.append(law)
    return policy


def view_law(policy: list) -> np.ndarray:
    """Return the (2,) * T + (K,) * T probabilities of the actions given the rewards observed."""
    rounds, arms = len(policy), len(policy[0])
    law = np.ones((2,) * rounds + (arms,) * rounds)
    for t, step in enumerate(policy):
        step = step.transpose([*range(t, 2 * t), *range(t), 2 * t])  # rewards first
        later = (1,) * (rounds - t - 1)
        law *= step.reshape((2,) * t + (1, *later) + (arms,) * (t + 1) + later)
    return law


def reward_functions(model: str, arms: int, t: int) -> list:
    """Return the possible rewards of round t, each a (K,) * t array: one per t actions."""
    shapes = {"list": (), "table": (arms,), "tree": (arms,) * t}
    shape = shapes[checks.one_of(*MODELS)("model", model)]
    values = product((0, 1), repeat=int(np.prod(shape)))
    return [np.broadcast_to(np.reshape(value, shape), (arms,) * t) for value in values]


def distributions(policy: list, model: str) -> tuple[np.ndarray, np.ndarray]:
    """Return (inputs, K^T) probabilities of action sequences, and neighbouring inputs.

    The neighbours are (pairs, 2) ordered pairs. The last round's reward comes after the last
    action: it does not matter and is left out of the inputs.
    """
    rounds, arms = len(policy), len(policy[0])
    seen = view_law(policy)
    actions = np.array(list(product(range(arms), repeat=rounds))).T
    choices = [reward_functions(model, arms, t) for t in range(1, rounds)]
    every = np.array(list(product(*(range(len(c)) for c in choices))))
    rows = []
    for picks in every:
        read = [choices[t][pick][tuple(actions[: t + 1])] for t, pick in enumerate(picks)]
        rows.append(seen[(*read, np.zeros(actions.shape[1], int), *actions)])
    differ = (every[:, None] != every[None]).sum(axis=2)
    return np.array(rows), np.argwhere(differ == 1)


def policy_loss(policy: list, model: str) -> float:
    """Return the smallest epsilon for which the policy is epsilon-DP.

    Examples
    --------
    >>> round(policy_loss(stay_or_switch(3, epsilon=1.0), "table"), 4)
    0.8318
    """
    p, pairs = distributions(policy, model)
    a, b = p[pairs[:, 0]], p[pairs[:, 1]]
    possible = a > 0
    with np.errstate(divide="ignore"):
        return float(np.log(a[possible] / b[possible]).max())


def delta(policy: list, model: str, epsilon: float) -> float:
    """Return the smallest delta for (epsilon, delta)-DP; here the three models differ."""
    p, pairs = distributions(policy, model)
    return float(np.maximum(p[pairs[:, 0]] - np.exp(epsilon) * p[pairs[:, 1]], 0).sum(axis=1).max())


def double_change(policy: list, means: Sequence[float], n2: int, alpha: float) -> float:
    """Return left / right side of Lemma C.1's first inequality, for two arms.

    See azize2025. Arm 2 goes from mean mu to mu' by a coupling that the policy does not see, and on
    to mu'' by a change of measure. Left: the probability of at most n2 pulls of arm 2, at most (1 +
    alpha) n2 (mu' - mu) coupled rewards that differ, and a log-likelihood ratio of at most (1 +
    alpha) n2 kl(mu', mu''). Right: exp((1 + alpha) n2 (epsilon (mu' - mu) + kl(mu', mu''))) times
    the probability of at most n2 pulls under mu'', with the policy's exact epsilon.

    Parameters
    ----------
    means : (4,) floats
        mu < mu' < mean of arm 1 < mu'', in (0, 1).
    n2 : int
    alpha : float
        Above 0.
    """
    mu, middle, best, beyond = means
    rounds, seen, shift, change = len(policy), view_law(policy), middle - mu, kl(middle, beyond)
    # arm, its reward, the coupled reward
    pairs = np.array([(0, 1, 1), (0, 0, 0), (1, 1, 1), (1, 0, 1), (1, 0, 0)])
    picks = np.array(list(product(range(5), repeat=rounds)))
    arms, rewards, coupled = pairs[picks].transpose(2, 0, 1)
    chance = np.array([best, 1 - best, mu, shift, 1 - middle])[picks].prod(axis=1)
    chance *= seen[(*rewards.T, *arms.T)]
    logs = np.where(coupled, np.log(middle / beyond), np.log((1 - middle) / (1 - beyond)))
    event = (arms.sum(axis=1) <= n2) & ((arms * logs).sum(axis=1) <= (1 + alpha) * n2 * change)
    event &= (rewards != coupled).sum(axis=1) <= (1 + alpha) * n2 * shift
    arms, rewards = np.divmod(np.array(list(product(range(4), repeat=rounds))), 2)
    mean = np.where(arms, beyond, best)
    other = np.where(rewards, mean, 1 - mean).prod(axis=1) * seen[(*rewards.T, *arms.T)]
    factor = np.exp((1 + alpha) * n2 * (policy_loss(policy, "list") * shift + change))
    return float(chance[event].sum() / (factor * other[arms.sum(axis=1) <= n2].sum()))
