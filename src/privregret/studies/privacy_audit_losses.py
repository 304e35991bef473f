"""What `companion/privacy-audit` measures: ledgers of runs, exact losses of small runs, and lower
bounds."""

import math
from collections.abc import Iterable

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from privregret import adversarial, bandits, full_information
from privregret.adversarial import BatchedPrivate, LocallyPrivate, SparseSwitch
from privregret.bandits import DPSE, HybridUCB, dp_se
from privregret.companion import (
    Game,
    MarginStop,
    PhasedFTNL,
    Votes,
    VotesOrLeader,
    epoch_plan,
)
from privregret.core import store
from privregret.full_information import FTNL, RandomPrefixSoftmax
from privregret.privacy import adversarial as composition
from privregret.privacy import audit, ledger, noisy_maxima
from privregret.studies import asi2025_privacy, hu2021_privacy
from privregret.studies.constants import stop_loss, unanimity_loss, votes_loss
from privregret.studies.privacy_audit import FAULTS, HybridChildren

# a loss of privacy, and the pair of data sets that shows it
Found = tuple[float, str]

# Settings -----------------------------------------------------------------------------------------

WEIGHTED = Votes, VotesOrLeader, MarginStop  # draw from weights that are no sums with noise
BOLD = adversarial.EXP3(8.0, 0.01)  # steps so long that its actions reveal what it sees


def families(epsilon: float) -> dict[str, list]:
    """All algorithms that are audited, by family."""
    return {
        "bandits": _bandits(epsilon),
        "full information": _full_information(epsilon),
        "adversarial": _adversarial(epsilon),
    }


def _bandits(epsilon):
    return [
        bandits.AnytimeLazyUCB(epsilon),
        HybridUCB(epsilon),
        HybridChildren(epsilon),
        HybridUCB(epsilon, "rootfree"),
        HybridUCB(epsilon, "scaled"),
        DPSE(epsilon, 1.0),
        bandits.AdaPKLUCB(epsilon),
        bandits.LazyDPTS(epsilon),
        bandits.DPKLUCB(epsilon),
        bandits.DPIMED(epsilon),
        bandits.UCB1(),
        bandits.KLUCB(),
        bandits.IMED(),
    ]


def _full_information(epsilon):
    return [
        FTNL(epsilon, "laplace", "hu2021"),
        FTNL(epsilon),
        FTNL(epsilon, bernoulli_resampling=True),
        FTNL(epsilon, "exponential", "wu2026"),
        FTNL(epsilon, "exponential", "wu2026", True),
        FTNL(epsilon, "exponential"),
        FTNL(epsilon, "exponential", bernoulli_resampling=True),
        FTNL(epsilon, "gumbel", "wu2026-proofs"),
        FTNL(epsilon, "gumbel"),
        FTNL(epsilon, "gumbel", bernoulli_resampling=True),
        full_information.NaiveFTNL(epsilon),
        RandomPrefixSoftmax(epsilon, cap=math.inf),
        RandomPrefixSoftmax(epsilon, cap=math.inf, bernoulli_resampling=True),
        RandomPrefixSoftmax(epsilon, "full", math.inf),
        RandomPrefixSoftmax(epsilon, "half", math.inf),
        PhasedFTNL(epsilon, "gumbel"),
        *(make(epsilon) for make in WEIGHTED),
        full_information.EpochLeader(),
        full_information.FollowTheLeader(),
        full_information.DecreasingHedge(),
    ]


def _adversarial(epsilon):
    bases = (BOLD, adversarial.HTINF(6.0), adversarial.FTPL(0.5, 8))
    return [
        *(BatchedPrivate(base, epsilon) for base in bases),
        *(LocallyPrivate(base, epsilon) for base in bases),
        adversarial.ExpertsFromBandit(BatchedPrivate(BOLD, epsilon)),
        adversarial.EXP4Local(epsilon, 8.0, 0.01),
        adversarial.EXP4Batched(min(epsilon, 1.0), 1e-6, 0.2, 0.3, 2),
        SparseSwitch(epsilon, 1.0),
        adversarial.EXP3(0.2, 0.1),
        adversarial.HTINF(6.0),
        adversarial.FTPL(0.5, 8),
    ]


def printed(losses: Iterable[float]) -> list[str]:
    """Losses for a table, in TeX; a dash where there is none."""
    words = {math.inf: r"$\infty$"}
    return ["--" if math.isnan(x) else words.get(x) or f"{x:.3f}" for x in losses]


# Measure: ledgers ---------------------------------------------------------------------------------


@store.cached
def added_up(algorithm, rounds: int, traces: int, seed: int) -> float:
    """The dearest round of a few runs on random tables, by the ledger, which follows sums with
    noise and nothing else; DP-SE and the sparse switch have tables, and two rounds, of their own.
    """
    if isinstance(algorithm, WEIGHTED):
        return math.nan
    noisy_maxima = isinstance(algorithm, (full_information.EpochAlgorithm, SparseSwitch))
    outcomes = noisy_maxima and not isinstance(algorithm, full_information.NaiveFTNL)
    dearest = 0.0
    for run in range(traces):
        rng, changed = np.random.default_rng([seed, run]), None
        table = rng.integers(2, size=(rounds, 2)).astype(float)
        if isinstance(algorithm, DPSE):
            first = 2 * math.ceil(dp_se.epoch_length(1, 2, algorithm.epsilon, algorithm.beta))
            changed, table = (0, first - 1), np.tile([0.6, 0.4], (first + 2, 1))
        elif isinstance(algorithm, SparseSwitch):
            changed, table = (0, 1), np.tile([1.0, 0.0], (80, 1))
        traced = ledger.traced(algorithm, table, rng)
        costs = ledger.costs(traced, "outcomes" if outcomes else "numbers", changed)
        dearest = max(dearest, costs.max())
    return dearest


def planted(epsilon: float, rounds: int, traces: int, seed: int) -> pd.DataFrame:
    """Ledgers of the correct and of the faulty code, a row per planted fault."""

    def measured(algorithm):
        if isinstance(algorithm, DPSE):
            return second_epoch(algorithm, seed)
        return added_up(algorithm, rounds, traces, seed)

    rows = []
    for fault, faulty in FAULTS.items():
        own = (epsilon, 1.0) if issubclass(faulty, DPSE) else (epsilon,)
        sound = faulty.__base__(*own)
        row = {"fault": fault, "algorithm": sound.label, "claimed": epsilon}
        row |= {"proved": sound.privacy.proved, "sound": measured(sound)}
        rows.append(row | {"faulty": measured(faulty(*own))})
    return pd.DataFrame(rows)


@store.cached
def second_epoch(algorithm: DPSE, seed: int) -> float:
    """As `added_up`, for DP-SE with three arms; the last one is dropped after the first epoch."""
    lengths = [
        math.ceil(dp_se.epoch_length(epoch, arms, algorithm.epsilon, algorithm.beta)) * arms
        for epoch, arms in ((1, 3), (2, 2))
    ]
    table = np.tile([0.95, 0.95, 0.0], (sum(lengths) + 4, 1))
    traced = ledger.traced(algorithm, table, np.random.default_rng(seed))
    return ledger.costs(traced, "numbers", (0, lengths[0])).max()


# Measure: exact losses ----------------------------------------------------------------------------


@store.cached
def quick_losses(epsilon: float) -> dict[str, Found]:
    """Label -> what closed forms, quadrature and recursion give: quick at every epsilon."""
    known, found = families(epsilon), {}
    for a in known["full information"]:
        if isinstance(a, RandomPrefixSoftmax) and a.prefix == "random":
            found[a.label] = noisy_maxima.sequence_loss(3, a.eta), "all pairs, 7 rounds"
        elif isinstance(a, PhasedFTNL):
            game = Game(5, "full")
            found[a.label] = game.privacy(epoch_plan(game, a)), "all pairs, 5 rounds"
        elif np.isfinite(a.privacy.printed) and not isinstance(a, WEIGHTED):
            found[a.label] = _of_a_maximum(a)
    for a, more in ((HybridUCB(epsilon), 0), (HybridUCB(epsilon, "scaled"), 1)):
        loss = hu2021_privacy.hybrid_loss(epsilon, more)
        found[a.label] = loss, "2nd reward 0 to 1, eight pull times"
    for a in known["adversarial"]:
        base = a.bandit if isinstance(a, adversarial.ExpertsFromBandit) else a
        if isinstance(base, BatchedPrivate):
            loss = asi2025_privacy.worst_batched_loss(base.base, base.scale, tau=base.tau)
            found[a.label] = loss, "one round's losses, corners"
    local = asi2025_privacy.worst_batched_loss(BOLD, 1 / epsilon)
    return found | {"Local EXP4": (local, "an expert for each arm")}


@store.cached
def weighted_losses(epsilon: float) -> dict[str, Found]:
    """Label -> exact loss of a draw from weights: of votes for epsilon at most 1."""
    first, hybrid, stop = (make(epsilon) for make in WEIGHTED)
    return {
        first.label: (votes_loss(first, 1000), "epoch 1, $K=1000$, one vote moved"),
        hybrid.label: (unanimity_loss(hybrid, 2), "test of unanimity, one vote moved"),
        stop.label: (stop_loss(stop, 4, 2), "all pairs, 4 rounds"),
    }


def _of_a_maximum(algorithm) -> Found:
    """Loss of a noisy maximum of two sums, after an epoch of 64 rounds (half a prefix: 33)."""
    n = 33 if getattr(algorithm, "prefix", "") == "half" else 64
    worst = noisy_maxima.epoch_loss(2, n, algorithm.noise, algorithm.noise_scale(2))
    (a, b), (c, d) = worst.before, worst.after
    return worst.value, f"sums {a}, {b} to {c}, {d}"


# Measure: lower bounds ----------------------------------------------------------------------------


def neighbours(algorithm) -> list[np.ndarray]:
    """Two tables of seven rounds that differ in the first one, where the algorithm is sensitive."""
    table, changed = np.zeros((7, 2)), np.zeros((7, 2))
    changed[0] = 1.0
    leaders = full_information.EveryRoundAlgorithm, full_information.EpochLeader
    if isinstance(algorithm, SparseSwitch):
        table[:, 0], changed[:, 0], changed[0, 1] = 1.0, 1.0, 1.0
    elif isinstance(algorithm, leaders):
        table[0], changed[0] = (0, 1), (1, 0)
    return [table, changed]


@store.cached
def searched(algorithm, runs: int, seed: int) -> Found:
    """A lower bound on the loss, by playing two neighbouring tables `runs` times each."""
    found = audit.searched_loss(algorithm.play, neighbours(algorithm), runs, seed)
    if not found.actions:
        return found.value, "1st round: nothing seen"
    arms = "".join(str(j + 1) for j in found.actions)
    return found.value, f"1st round; arms {arms} and {found.sequences - 1} more"


# Measure: the scores of Batched EXP4 --------------------------------------------------------------


def score_shift(epsilon: float, delta: float, experts: int) -> float:
    """How far a round moves each score, over the scale of the paper's noise."""
    return epsilon / (3 * math.sqrt(experts * math.log(1 / delta)))


@store.cached
def score_delta(epsilon: float, delta: float, experts: int) -> list[float]:
    """Limits (low, high) of delta(epsilon) of the scores, with the noise for (epsilon, delta)."""
    shift, grid = score_shift(epsilon, delta, experts), 2000
    further = epsilon + experts * shift / grid
    return [composition.composed_delta(e, shift, experts, grid) for e in (further, epsilon)]


@store.cached
def score_epsilon(epsilon: float, delta: float, experts: int) -> float:
    """The epsilon that the noise for (epsilon, delta) gives with that delta."""
    shift = score_shift(epsilon, delta, experts)

    def excess(e):
        return composition.composed_delta(e, shift, experts, 200) - delta

    return brentq(excess, 1e-6, experts, xtol=1e-4)
