"""What `companion/privacy-audit` measures, and the faults that it plants in steps of algorithms.

Where a fault is in the noise, a sound step is given a faulty source of it, which the ledger can
follow; such an algorithm cannot be played.
"""

import math

import numpy as np
from numba.extending import is_jitted

from privregret import adversarial, full_information
from privregret.adversarial import BatchedPrivate, SparseSwitch
from privregret.bandits import DPSE, AnytimeLazyUCB, HybridUCB, dp_se
from privregret.companion import Game, MarginStop, PhasedFTNL, Votes, VotesOrLeader, epoch_plan
from privregret.core import store
from privregret.core.algorithm import EPSILON_DP
from privregret.core.jit import jit
from privregret.full_information import FTNL, EpochAlgorithm, RandomPrefixSoftmax
from privregret.privacy import adversarial as composition
from privregret.privacy import audit, ledger, noisy_maxima
from privregret.studies.asi2025_privacy import worst_batched_loss
from privregret.studies.constants import stop_loss, unanimity_loss, votes_loss
from privregret.studies.hu2021 import hybrid_loss

WEIGHTED = Votes, VotesOrLeader, MarginStop  # draw from weights that are no sums with noise
BOLD = adversarial.EXP3(8.0, 0.01)  # steps so long that its actions reveal what it sees


@store.cached
def added_up(algorithm, rounds: int, traces: int, seed: int) -> float:
    """The dearest round of a few runs on random tables, by the ledger; nan where it does not apply.
    DP-SE and the sparse switch have tables, and two rounds, of their own."""
    if isinstance(algorithm, WEIGHTED):
        return math.nan
    noisy_maxima = isinstance(algorithm, (EpochAlgorithm, SparseSwitch))
    outcomes = noisy_maxima and not isinstance(algorithm, full_information.NaiveFTNL)
    dearest = 0.0
    for run in range(traces):
        rng, changed = np.random.default_rng([seed, run]), None
        table = rng.integers(2, size=(rounds, 2)).astype(float)
        if isinstance(algorithm, DPSE):
            # the last of three arms is dropped after the first epoch
            own = algorithm.epsilon, algorithm.beta
            one, two = (k * math.ceil(dp_se.epoch_length(4 - k, k, *own)) for k in (3, 2))
            changed, table = (0, one), np.tile([0.95, 0.95, 0.0], (one + two + 4, 1))
        elif isinstance(algorithm, SparseSwitch):
            changed, table = (0, 1), np.tile([1.0, 0.0], (80, 1))
        traced = ledger.traced(algorithm, table, rng)
        costs = ledger.costs(traced, "outcomes" if outcomes else "numbers", changed)
        dearest = max(dearest, costs.max())
    return dearest


@store.cached
def exact_loss(a) -> tuple[float, str] | None:
    """The exact loss of a small run, for votes at epsilon <= 1, and the data sets that show it."""
    match a:
        case Votes():
            return votes_loss(a, 1000), "epoch 1, $K=1000$, one vote moved"
        case VotesOrLeader():
            return unanimity_loss(a, 2), "test of unanimity, one vote moved"
        case MarginStop():
            return stop_loss(a, 4, 2), "all pairs, 4 rounds"
        case RandomPrefixSoftmax(prefix="random"):
            return noisy_maxima.sequence_loss(3, a.eta), "all pairs, 7 rounds"
        case PhasedFTNL():
            game = Game(5, "full")
            return game.privacy(epoch_plan(game, a)), "all pairs, 5 rounds"
        case EpochAlgorithm() if np.isfinite(a.privacy.printed):
            # an epoch of 64 rounds; half a prefix has 33
            n = 33 if getattr(a, "prefix", "") == "half" else 64
            worst = noisy_maxima.epoch_loss(2, n, a.noise, a.noise_scale(2))
            (first, second), (moved, other) = worst.before, worst.after
            return worst.value, f"sums {first}, {second} to {moved}, {other}"
        case HybridUCB(tree="paper" | "scaled") if type(a) is HybridUCB:
            return hybrid_loss(a.epsilon, a.tree == "scaled"), "2nd reward 0 to 1, eight pull times"
        case adversarial.EXP4Local():
            return worst_batched_loss(BOLD, 1 / a.epsilon), "an expert for each arm"
        case BatchedPrivate() | adversarial.ExpertsFromBandit():
            base = getattr(a, "bandit", a)
            loss = worst_batched_loss(base.base, base.scale, tau=base.tau)
            return loss, "one round's losses, corners"
    return None


@store.cached
def searched(algorithm, runs: int, seed: int) -> tuple[float, str]:
    """A lower bound on the loss, by playing two tables of seven rounds `runs` times each; they
    differ in the first round, where the algorithm is sensitive."""
    table, changed = np.zeros((7, 2)), np.zeros((7, 2))
    changed[0] = 1.0
    leaders = full_information.EveryRoundAlgorithm, full_information.EpochLeader
    if isinstance(algorithm, SparseSwitch):
        table[:, 0], changed[:, 0], changed[0, 1] = 1.0, 1.0, 1.0
    elif isinstance(algorithm, leaders):
        table[0], changed[0] = (0, 1), (1, 0)
    event = audit.searched_loss(algorithm.play, [table, changed], runs, seed)
    if not event.actions:
        return event.value, "1st round: nothing seen"
    arms = "".join(str(j + 1) for j in event.actions)
    return event.value, f"1st round; arms {arms} and {event.sequences - 1} more"


def printed_gamma(horizon: int, arms: int, experts: int, epsilon: float, delta: float) -> float:
    """The mixing probability of asi2025, Theorem 10, with its real tau, for every delta below 1;
    `tuning.batched_exp4` has those for which the proof shows privacy."""
    spread, log = experts * math.log(1 / delta), math.log(experts * horizon)
    logs, rounds = log * math.log(experts), horizon ** (1 / 3)
    eta = spread ** (1 / 6) * logs ** (1 / 3) / (rounds * math.sqrt(arms) * epsilon ** (1 / 3))
    tau = spread ** (1 / 3) * rounds * (log / epsilon) ** (2 / 3) / math.log(experts) ** (1 / 3)
    per_batch = arms * log / (epsilon * tau)
    return max(
        (eta * experts) ** (1 / 3) * per_batch ** (2 / 3), 12 * eta * spread**0.5 * per_batch
    )


def delta_of_scores(
    epsilon: float, delta: float, gamma: float, named: tuple[int, ...], grid: int
) -> tuple[float, float]:
    """Limits of delta(epsilon) of an arm of the first batch of batched EXP4 and the batch's scores.

    `named` experts name each arm, and the losses of one round change from 0 to 1. An arm is played
    with probability Q, equal on both sides. Then the scores of those who named it move by
    1 / (Q tau), `composed_delta` rounds up, and delta is the mean over the arms. The noise is that
    of asi2025, Algorithm 2, for (epsilon, delta).
    """
    arms, experts, low, high = len(named), sum(named), 0.0, 0.0
    noise = 3 * arms * math.sqrt(experts * math.log(1 / delta)) / (gamma * epsilon)  # times tau
    for count in named:
        q = (1 - gamma) * count / experts + gamma / arms
        shift = 1 / (q * noise)
        rounded = epsilon + count * shift / grid
        low += q * composition.composed_delta(rounded, shift, count, grid)
        high += q * composition.composed_delta(epsilon, shift, count, grid)
    return low, high


Lazy = AnytimeLazyUCB.Settings
lazy, hybrid, elimination = (kind.steps.observe for kind in (AnytimeLazyUCB, HybridUCB, DPSE))
epochs = FTNL.steps.choose


class OneNoise:
    """A source that gives its first noise again and again, or 0 if there is no other source."""

    def __init__(self, rng=None):
        self.rng, self.first = rng, None if rng else 0.0

    def noise(self, kind, scale):
        self.first = self.rng.noise(kind, scale) if self.first is None else self.first
        return self.first


@jit
def _children(arms, state, settings, t, j, reward, rng):
    # in a full tree, the noise of the left half, and what the new node joins
    nodes = arms[j]["nodes"]
    nodes[0] = nodes[1] if arms[j]["position"] + 1 == 1 << arms[j]["depth"] else 0.0
    hybrid(arms, state, settings, t, j, reward, rng)


@jit
def _dropped_epsilon(arms, state, settings, t, j, reward, rng):
    lazy(arms, state, Lazy(1.0), t, j, reward, rng)


@jit
def _twice(arms, state, settings, t, j, reward, rng):
    total = arms[j]["total"] + reward
    lazy(arms, state, settings, t, j, reward, rng)
    if arms[j]["filled"] == 0 and arms[j]["size"] > 1:
        arms[j]["total"] = total


@jit
def _reused(actions, epoch, selector, t, rng):
    sums = [actions[i]["loss"] for i in range(len(actions))]
    leader = epochs(actions, epoch, selector, t, rng)
    for i in range(len(actions)):
        if t > 2:
            actions[i]["loss"] = sums[i]
    return leader


def _forgotten(arms, state, settings, t, j, reward, rng):
    # before this reward
    odd = arms[j]["pulls"] > 0 and arms[j]["position"] % 2 == 0
    hybrid(arms, state, settings, t, j, reward, OneNoise() if odd else rng)


def _shared(arms, state, settings, t, j, reward, rng):
    elimination(arms, state, settings, t, j, reward, OneNoise(rng))


def _skipped(arms, state, settings, t, j, reward, rng):
    elimination(arms, state, settings, t, j, reward, rng if state["epoch"] == 1 else OneNoise())


class HybridChildren(HybridUCB):
    """Hybrid-UCB that releases the root's two children and not the root: epsilon-DP."""

    id = "hybrid-ucb-children"
    label = "Hybrid-UCB (children)"
    steps = HybridUCB.steps._replace(observe=_children)
    privacy = EPSILON_DP


def _planted(base, **faulty):
    name, steps = "".join(step.__name__ for step in faulty.values()), base.steps
    # both steps are compiled, or none
    if not all(map(is_jitted, faulty.values())):
        steps = steps._replace(choose=steps.choose.py_func)
    return type(name, (base,), {"id": name, "steps": steps._replace(**faulty)})


FAULTS = {  # the sound algorithm is the base of each
    # one noise for all arms cancels in every comparison
    "noise shared by arms": _planted(DPSE, observe=_shared),
    # noise of scale 1, whatever epsilon is
    "epsilon dropped": _planted(AnytimeLazyUCB, observe=_dropped_epsilon),
    # no noise after the first epoch
    "noise skipped after an elimination": _planted(DPSE, observe=_skipped),
    # the leaves of a tree have no noise
    "a forgotten tree level": _planted(HybridUCB, observe=_forgotten),
    # losses stay in the sums of later epochs, except the losses of the first round
    "a reused epoch": _planted(FTNL, choose=_reused),
    # the rewards of an array, except the first, are in the sum of the next array as well
    "an array released twice": _planted(AnytimeLazyUCB, observe=_twice),
}
