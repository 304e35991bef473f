"""What `companion/privacy-audit` measures: ledgers of runs, exact losses of small runs, and lower
bounds."""

import math

import numpy as np

from privregret import adversarial, full_information
from privregret.adversarial import BatchedPrivate, SparseSwitch
from privregret.bandits import DPSE, HybridUCB, dp_se
from privregret.companion import Game, MarginStop, PhasedFTNL, Votes, VotesOrLeader, epoch_plan
from privregret.core import store
from privregret.full_information import EpochAlgorithm, RandomPrefixSoftmax
from privregret.privacy import adversarial as composition
from privregret.privacy import audit, ledger, noisy_maxima
from privregret.studies.asi2025_privacy import worst_batched_loss
from privregret.studies.constants import stop_loss, unanimity_loss, votes_loss
from privregret.studies.hu2021_privacy import hybrid_loss

# a loss of privacy, and the pair of data sets that shows it
Found = tuple[float, str]

WEIGHTED = Votes, VotesOrLeader, MarginStop  # draw from weights that are no sums with noise
BOLD = adversarial.EXP3(8.0, 0.01)  # steps so long that its actions reveal what it sees


@store.cached
def added_up(algorithm, rounds: int, traces: int, seed: int) -> float:
    """The dearest round of a few runs on random tables, by the ledger; nan where it does not apply.
    DP-SE and the sparse switch have tables, and two rounds, of their own."""
    if isinstance(algorithm, WEIGHTED):
        return math.nan
    noisy_maxima = isinstance(algorithm, (full_information.EpochAlgorithm, SparseSwitch))
    outcomes = noisy_maxima and not isinstance(algorithm, full_information.NaiveFTNL)
    dearest = 0.0
    for run in range(traces):
        rng, changed = np.random.default_rng([seed, run]), None
        table = rng.integers(2, size=(rounds, 2)).astype(float)
        if isinstance(algorithm, DPSE):
            # the last of three arms is dropped after the first epoch
            lengths = [
                math.ceil(dp_se.epoch_length(epoch, arms, algorithm.epsilon, algorithm.beta)) * arms
                for epoch, arms in ((1, 3), (2, 2))
            ]
            changed, table = (0, lengths[0]), np.tile([0.95, 0.95, 0.0], (sum(lengths) + 4, 1))
        elif isinstance(algorithm, SparseSwitch):
            changed, table = (0, 1), np.tile([1.0, 0.0], (80, 1))
        traced = ledger.traced(algorithm, table, rng)
        costs = ledger.costs(traced, "outcomes" if outcomes else "numbers", changed)
        dearest = max(dearest, costs.max())
    return dearest


@store.cached
def exact_loss(a) -> Found | None:
    """The exact loss of a small run, for votes at epsilon <= 1; None where there is none."""
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
            loss = hybrid_loss(a.epsilon, int(a.tree == "scaled"))
            return loss, "2nd reward 0 to 1, eight pull times"
        case adversarial.EXP4Local():
            local = worst_batched_loss(BOLD, 1 / a.epsilon)
            return local, "an expert for each arm"
        case BatchedPrivate() | adversarial.ExpertsFromBandit():
            base = getattr(a, "bandit", a)
            loss = worst_batched_loss(base.base, base.scale, tau=base.tau)
            return loss, "one round's losses, corners"
    return None


@store.cached
def searched(algorithm, runs: int, seed: int) -> Found:
    """A lower bound on the loss, by playing two tables of seven rounds `runs` times each; they
    differ in the first round, where the algorithm is sensitive."""
    table, changed = np.zeros((7, 2)), np.zeros((7, 2))
    changed[0] = 1.0
    leaders = full_information.EveryRoundAlgorithm, full_information.EpochLeader
    if isinstance(algorithm, SparseSwitch):
        table[:, 0], changed[:, 0], changed[0, 1] = 1.0, 1.0, 1.0
    elif isinstance(algorithm, leaders):
        table[0], changed[0] = (0, 1), (1, 0)
    found = audit.searched_loss(algorithm.play, [table, changed], runs, seed)
    if not found.actions:
        return found.value, "1st round: nothing seen"
    arms = "".join(str(j + 1) for j in found.actions)
    return found.value, f"1st round; arms {arms} and {found.sequences - 1} more"


def score_shift(epsilon: float, delta: float, experts: int) -> float:
    """How far a round moves each score, over the scale of the paper's noise."""
    return epsilon / (3 * math.sqrt(experts * math.log(1 / delta)))


@store.cached
def score_delta(epsilon: float, delta: float, experts: int) -> list[float]:
    """Limits (low, high) of delta(epsilon) of the scores, with the noise for (epsilon, delta)."""
    shift, grid = score_shift(epsilon, delta, experts), 2000
    further = epsilon + experts * shift / grid
    return [composition.composed_delta(e, shift, experts, grid) for e in (further, epsilon)]
