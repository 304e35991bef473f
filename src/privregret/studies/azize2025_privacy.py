"""Compute privacy losses exactly: of small policies, and of decisions of DP-KLUCB and DP-IMED.

A *policy* (azize2025, Appendix B) is a list with one array per round: `policy[t][a_1, .., a_t, r_1,
.., r_t]` are the probabilities of the K arms in round t + 1 after those actions and rewards (0 or
1). Inputs are reward functions of the actions so far: of none in a *list*, of the last in a
*table*, of all in a *tree* (an adaptive adversary). Neighbours differ in one round.

*Decisions* are followed on the smallest instance on which one follows another: two arms, batches of
1, 2, 4, ... pulls and five rounds. The actions are 1, 2, d, d, d', and the decisions d and d' use
three noisy sums. A larger sum of an arm never makes another arm win, so what is decided at the ends
of the cells of a grid gives limits on all probabilities, and on the loss.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
from scipy.stats import laplace

from privregret.bandits.dp_klucb import IMED, GeometricBatches
from privregret.core import store
from privregret.core.jit import jit
from privregret.divergence import d_epsilon, d_epsilon_inverse, kl

MODELS = ("list", "table", "tree")
TIE = 1e-12  # indices closer than this are equal, so that rounding does not decide

# Policies


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
    stay = laplace.sf([0.5, -0.5], scale=max(1 / epsilon, 1e-300))
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
    values = product((0, 1), repeat=int(np.prod(shapes[model])))
    return [np.broadcast_to(np.reshape(value, shapes[model]), (arms,) * t) for value in values]


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
    the probability of at most n2 pulls under mu'', with the policy's exact epsilon. The four means
    in (0, 1) are mu < mu' < mean of arm 1 < mu''; alpha is above 0.
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


# Decisions of DP-KLUCB and DP-IMED


@jit
def _first_wins(mean_0, pulls_0, mean_1, pulls_1, t, epsilon, rule):
    """Return the probability that arm 0 is pulled in round t; 1/2 for equal indices."""
    x = min(max(mean_0, 0.0), 1.0)
    y = min(max(mean_1, 0.0), 1.0)
    if rule == IMED:
        top = max(x, y)
        gain = pulls_1 * d_epsilon(y, top, epsilon) + np.log(pulls_1)
        gain -= pulls_0 * d_epsilon(x, top, epsilon) + np.log(pulls_0)
    else:
        index_0 = d_epsilon_inverse(x, np.log(t) / pulls_0, epsilon)
        gain = index_0 - d_epsilon_inverse(y, np.log(t) / pulls_1, epsilon)
    if abs(gain) <= TIE:
        return 0.5
    return 1.0 if gain > 0 else 0.0


@jit
def _stays(d, own, other, more, epsilon, rule):
    """Return the probability that arm d, with sum `own`, is pulled again after a sum `more`."""
    mean = (own + more) / 3
    if d == 0:
        return _first_wins(mean, 3, other, 1, 5, epsilon, rule)
    return 1 - _first_wins(other, 1, mean, 3, 5, epsilon, rule)


@jit
def _stays_above(level, d, own, other, edges, epsilon, rule):
    """Return from which edge on `_stays` reaches a level; len(edges) if from none."""
    low, high = 0, len(edges)
    while low < high:
        middle = (low + high) // 2
        if _stays(d, own, other, edges[middle], epsilon, rule) >= level:
            high = middle
        else:
            low = middle + 1
    return low


@jit
def _batches_law(edges, mass, fine, above, epsilon, rule):
    """Return limits of P[d, d'] given the first two rewards and the sum of the next two, in six
    axes, lower limits first."""
    law = np.zeros((2, 2, 2, 3, 2, 2))
    cells = len(edges) - 1
    stay = np.zeros((2, 3))
    for i in range(cells):
        for j in range(cells):
            least = _first_wins(edges[i], 1, edges[j + 1], 1, 3, epsilon, rule)
            most = _first_wins(edges[i + 1], 1, edges[j], 1, 3, epsilon, rule)
            for d in range(2):
                chance = (least, most) if d == 0 else (1 - most, 1 - least)
                if chance[1] == 0:
                    continue
                a, b = (i, j) if d == 0 else (j, i)
                stay[:] = 0
                for n, end in np.ndindex(2, 2):
                    own, other = (edges[a], edges[b + 1]) if end == 0 else (edges[a + 1], edges[b])
                    from_ = _stays_above((n + 1) / 2, d, own, other, fine, epsilon, rule)
                    # a cell counts from its upper end
                    first = from_ - 1 if end == 1 and 0 < from_ < len(fine) else from_
                    for s in range(3):
                        stay[end, s] += above[s, first] / 2
                for end, r, q, s in np.ndindex(2, 2, 2, 3):
                    p = mass[r, i] * mass[q, j] * chance[end]
                    law[end, r, q, s, d, d] += p * stay[end, s]
                    law[end, r, q, s, d, 1 - d] += p * (1 - stay[1 - end, s])
    return law


@store.cached
def batches_law(algorithm: GeometricBatches, cells: int = 400) -> np.ndarray:
    """Return limits of the probabilities of the decisions (d, d') for the 16 reward lists.

    The algorithm is DPKLUCB or DPIMED with alpha = 2 and n0 = 1. The shape is (2, 2, 2, 2, 2, 2,
    2): lower and upper limits, rewards of rounds 1 to 4, then d and d'. The limits approach each
    other as 1 / cells; time grows as cells^2.
    """
    if (algorithm.alpha, algorithm.n0, algorithm.ties, algorithm.power) != (2, 1, "random", 0):
        raise ValueError(
            f"algorithm must have alpha = 2, n0 = 1, random ties and no power, got {algorithm!r}"
        )
    epsilon = algorithm.epsilon
    edges, fine = (
        np.concatenate([[-np.inf], np.linspace(-9 / epsilon, 2 + 9 / epsilon, n - 1), [np.inf]])
        for n in (cells, 16 * cells)
    )
    coarse, above = (
        laplace.sf(x, loc=np.arange(3)[:, None], scale=1 / epsilon) for x in (edges, fine)
    )
    # where no edge is reached
    above = np.pad(above, ((0, 0), (0, 1)))
    law = _batches_law(edges, -np.diff(coarse), fine, above, epsilon, algorithm.rule)
    rows = [law[:, r, q, s + u] for r, q, s, u in product((0, 1), repeat=4)]
    return np.stack(rows, axis=1).reshape((2,) * 7)


def batches_loss(algorithm: GeometricBatches, cells: int = 400) -> tuple[float, float]:
    """Return limits of the largest log-ratio over lists that differ in one reward."""
    low, high = batches_law(algorithm, cells)
    worst = np.zeros(2)
    with np.errstate(divide="ignore"):
        for t in range(4):
            for end, p, q in ((0, low, np.flip(high, t)), (1, high, np.flip(low, t))):
                worst[end] = max(worst[end], np.log(p[p > 0] / q[p > 0]).max())
    return float(worst[0]), float(worst[1])
