"""Every algorithm of the project, with several parameters each: what `test_every_algorithm` runs
its contract on."""

import math
from collections.abc import Callable
from dataclasses import astuple
from functools import partial
from typing import NamedTuple

import lectures
import naive
import numpy as np
from laws import tables

from privregret import adversarial, bandits, exact, full_information, instances
from privregret.adversarial import EXP3, FTPL, HTINF, BatchedPrivate, ExpertsFromBandit
from privregret.bandits import DPIMED, DPKLUCB, DPSE, AdaPKLUCB, AnytimeLazyUCB, HybridUCB, LazyDPTS
from privregret.companion import MarginStop, PhasedFTNL, Votes, VotesOrLeader
from privregret.full_information import FTNL, EpochLeader, NaiveFTNL, RandomPrefixSoftmax
from privregret.instances import Adversary, Advice, BernoulliBandit, ExpertProblem

INF = math.inf


class Case(NamedTuple):
    """An algorithm, a slow version of it, and where `play` and `run` are compared."""

    algorithm: object
    twin: Callable  # `play` of the slow version: (*tables, rng) -> actions
    problem: object
    rounds: tuple  # reported; the last is the horizon
    # of each method, or what tells as much: detects means that differ by 0.14 deviations in nine of
    # ten runs; 1500 by 0.18, 1000 by 0.22
    runs: int = 2500

    def __repr__(self):
        return f"{self.algorithm!r} on {self.problem.name}"


THREE = BernoulliBandit("three arms", (0.9, 0.5, 0.1))
TWO = BernoulliBandit("two arms", (0.6, 0.4))
FOUR = BernoulliBandit("four arms", (0.2, 0.45, 0.7, 0.56))
FIVE = instances.AZIZE2025_2
CLOSE = BernoulliBandit("three close arms", (0.9, 0.76, 0.62))
EQUAL = BernoulliBandit("two best arms", (0.3, 0.8, 0.8))
GOOD = BernoulliBandit("two good arms", (0.85, 0.7, 0.15))
LOW = BernoulliBandit("three low arms", (0.3, 0.5, 0.1))
APART = BernoulliBandit("two arms apart", (0.7, 0.4))


def lazy_ucb(epsilon, **instead):
    return lectures.plays("hu2021/4-bandit-setting", "lazy_ucb", instead, epsilon=epsilon)


def hybrid_ucb(epsilon, tree="paper"):
    repair = {"paper": {}, "rootfree": {"root": False}, "scaled": {"more": 1}}[tree]
    return lectures.plays("hu2021/4-bandit-setting", "hybrid_ucb", epsilon=epsilon, **repair)


def dp_se(epsilon, beta=None):
    return lectures.plays("hu2021/6-experiments", "dp_se", epsilon=epsilon, beta=beta)


def lazy_dpts(epsilon):
    """Hu and Hegde 2022: Anytime-Lazy-UCB whose index is a sample."""

    def play(rewards, rng):
        def index(mean, n, t, epsilon):
            u = min(max(mean + 3 * math.log(t) / (epsilon * n), 0.0), 1.0)
            return rng.beta(u * n + 1, (1 - u) * n + 1)

        return lazy_ucb(epsilon, lazy_index=index)(rewards, rng)

    return play


def batched(rule, epsilon, alpha=2.0, n0=1, ties="random", power=0, **instead):
    """`play` of azize2025, Algorithm 1, with the rule of a class."""
    notebook = "azize2025/4-algorithms"
    index = lectures.namespace(notebook)[("klucb_index", "imed_index")[rule]]
    given = {"alpha": alpha, "n0": n0, "power": power, "first": ties == "first"}
    return lectures.plays(notebook, "in_batches", instead, index=index, epsilon=epsilon, **given)


TWINS = {
    AnytimeLazyUCB: lazy_ucb,
    HybridUCB: hybrid_ucb,
    DPSE: dp_se,
    LazyDPTS: lazy_dpts,
    AdaPKLUCB: naive.adap_klucb,
    DPKLUCB: partial(batched, DPKLUCB.rule),
    DPIMED: partial(batched, DPIMED.rule),
    bandits.UCB1: lambda: naive.per_round(naive.ucb1),
    bandits.KLUCB: lambda: naive.per_round(naive.kl_ucb),
    bandits.IMED: lambda: naive.per_round(naive.imed),
}


def bandit(algorithm, problem, rounds, runs=2500):
    # whose events are compared with rounds on one stream
    runs = (
        min(runs, 1000) if isinstance(algorithm, (AnytimeLazyUCB, DPSE, DPKLUCB, DPIMED)) else runs
    )
    return Case(algorithm, TWINS[type(algorithm)](*astuple(algorithm)), problem, rounds, runs)


SHORT = (20, 150, 1000)
BANDITS = [
    bandit(AnytimeLazyUCB(0.05), THREE, (30, 300, 3000)),
    bandit(AnytimeLazyUCB(0.5), FIVE, (10, 200, 4000)),
    bandit(AnytimeLazyUCB(1.0), TWO, (20, 150, 1500), 1500),
    bandit(AnytimeLazyUCB(8.0), EQUAL, (40, 400, 3000)),
    bandit(AnytimeLazyUCB(1e6), LOW, (40, 400, 3000)),
    bandit(DPSE(0.02, 0.9), THREE, (2000, 3500, 9000), 1500),
    bandit(DPSE(1.0, 0.9), CLOSE, (1200, 2000, 6000), 1500),
    bandit(DPSE(0.1, 0.9), FOUR, (500, 3000, 9000), 1500),
    bandit(DPSE(100.0, 0.5), GOOD, (1000, 1501, 5000), 1500),
    bandit(DPSE(20.0), THREE, (2000, 3500, 6000), 1500),
    bandit(HybridUCB(0.5), THREE, SHORT, 1500),
    bandit(HybridUCB(1e6), LOW, SHORT, 1500),
    bandit(HybridUCB(16.0, "rootfree"), THREE, SHORT, 1500),
    bandit(HybridUCB(16.0, "scaled"), THREE, SHORT, 1500),
    bandit(bandits.UCB1(), THREE, (4, 100, 1500)),
    bandit(bandits.UCB1(), FIVE, (6, 100, 1500)),
    bandit(DPKLUCB(0.05), THREE, (30, 300, 3000)),
    bandit(DPKLUCB(1.0), FIVE, (10, 200, 3000)),
    bandit(DPKLUCB(20.0, 1.3, 2), TWO, (20, 150, 1500)),
    bandit(DPKLUCB(8.0, 1.1, 3, "first"), THREE, SHORT, 1500),
    bandit(DPKLUCB(0.7, power=1), APART, SHORT, 1500),
    bandit(DPIMED(0.05), THREE, (30, 300, 3000)),
    bandit(DPIMED(1.0), FIVE, (10, 200, 3000)),
    bandit(DPIMED(20.0, 1.1), TWO, (20, 150, 1500)),
    bandit(DPIMED(8.0, 1.1, 2, "first"), THREE, SHORT, 1500),
    bandit(DPIMED(30.0, 1.5, power=2), APART, SHORT, 1500),
    bandit(AdaPKLUCB(0.1), THREE, (30, 300, 3000)),
    bandit(AdaPKLUCB(5.0), FIVE, (10, 200, 3000)),
    bandit(AdaPKLUCB(20.0, 1.5), TWO, (20, 150, 1500)),
    bandit(LazyDPTS(0.05), THREE, (30, 300, 2000)),
    bandit(LazyDPTS(1.0), FIVE, (10, 200, 1500)),
    bandit(LazyDPTS(30.0), TWO, (20, 150, 1500)),
    bandit(LazyDPTS(4.0), APART, (200, 1000, 4000)),
    bandit(LazyDPTS(1000.0), LOW, (100, 1000, 4000)),
    bandit(bandits.IMED(), FIVE, (10, 100, 1500)),
    bandit(bandits.KLUCB(), THREE, (10, 100, 800), 1500),
]

# Full information. Horizons are short, so that whole vectors of counts can be compared

ACTIONS = instances.bernoulli_losses((0.2, 0.5, 0.9), (1, 2, 1), name="four actions")
LOSSES = [
    ACTIONS,
    instances.deterministic_losses((0.0, 0.3, 1.0), (1, 1, 3)),
    instances.TWO_ACTION_FIXED,
    instances.dependent("antithetic", 0.3),
    instances.dependent("copies", 0.3, 4),
    instances.DEPENDENT_COPIES,
]


def epochs(noise, scale, **more):
    return lectures.plays("wu2026/3-bernoulli-resampling", "ftnl", noise=noise, scale=scale, **more)


FTNL_2021 = lectures.plays("hu2021/5-full-information", "ftnl", scale=1.0)


def prefixes(eta, **more):
    return lectures.plays("cesari2026/4-algorithm", "random_prefix_softmax", eta=eta, **more)


def phased(learner, scale):
    given = learner.growth, learner.random_phase, learner.bernoulli_resampling
    return learner, naive.in_epochs(naive.noisy_leader(learner.noise, scale), *given)


def ours(learner):
    """A learner of companion/constants, and its plain Python there."""
    name = learner.id.replace("-", "_")
    return learner, lectures.plays("companion/constants", name, **vars(learner))


EVERYWHERE = [
    (FTNL(2.0, "exponential"), epochs("exponential", 1.0)),
    (FTNL(1.0, bernoulli_resampling=True), epochs("laplace", 2.0, resampled=True)),
    (RandomPrefixSoftmax(2.0, cap=1.0), prefixes(1.0)),
    (EpochLeader(), naive.in_epochs(naive.smallest)),
    (full_information.FollowTheLeader(), naive.hedge(INF)),
    (full_information.DecreasingHedge(), naive.hedge(2.0)),
]
ON_ONE = [
    (FTNL(0.02), epochs("laplace", 100.0)),
    (FTNL(1.0, "laplace", "hu2021"), FTNL_2021),
    (FTNL(0.02, "exponential", "wu2026"), epochs("exponential", 50.0)),
    (FTNL(20.0, "gumbel"), epochs("gumbel", 0.1)),
    (FTNL(1.0, "gumbel", "wu2026", True), epochs("gumbel", 2.0, resampled=True)),
    (FTNL(1.0, "gumbel", "wu2026-proofs"), epochs("gumbel", 1.0)),
    (FTNL(0.5, "laplace", 3.7, True), epochs("laplace", 3.7 / 0.5, resampled=True)),
    (NaiveFTNL(2.0), epochs("laplace", 4 / 2)),
    (NaiveFTNL(0.1), epochs("laplace", 4 / 0.1)),
    (NaiveFTNL(60.0), epochs("laplace", 4 / 60)),
    (RandomPrefixSoftmax(100.0), prefixes(0.125)),  # the cap
    (RandomPrefixSoftmax(4.0, "half", INF), prefixes(2.0, prefix=lambda n, rng: n // 2 + 1)),
    (RandomPrefixSoftmax(0.5, "full", 0.125, True), epochs("gumbel", 8.0, resampled=True)),
    (EpochLeader(True), naive.in_epochs(naive.smallest, resampled=True)),
    (full_information.DecreasingHedge(0.3), naive.hedge(0.3)),
    (full_information.DecreasingHedge(20.0), naive.hedge(20.0)),
    phased(PhasedFTNL(2.0), 1.0),
    phased(PhasedFTNL(0.5, "gumbel"), 4.0),
    phased(PhasedFTNL(20.0, "gumbel", growth=3.0, random_phase=False), 0.1),
    phased(PhasedFTNL(1.0, "exponential", bernoulli_resampling=True, growth=1.3), 2.0),
    *map(ours, (Votes(30.0), Votes(2.0, 2.5), MarginStop(4.0), MarginStop(0.1, 0.2, 0.0))),
    ours(VotesOrLeader(0.5)),
]
LONGER = [  # what plays a uniform action for a while
    (*ours(Votes(0.5)), (20, 90)),
    (*ours(Votes(8.0)), (20, 60)),
    (*ours(MarginStop(20.0, 0.9, 0.3)), (8, 40)),
    (*ours(MarginStop(200.0, 0.5, 1.0)), (8, 40)),
    (*ours(VotesOrLeader(30.0)), (9, 60)),
    (*ours(VotesOrLeader(8.0)), (30, 150)),
]
ON_LOSSES = [  # each on half of them
    Case(a, twin, losses, (5, 19))
    for i, (a, twin) in enumerate(EVERYWHERE)
    for losses in LOSSES[i % 2 :: 2]
]
FULL_INFORMATION = ON_LOSSES + [Case(a, twin, ACTIONS, (5, 19)) for a, twin in ON_ONE]
FULL_INFORMATION += [Case(*one[:2], LOSSES[i % 2], one[2]) for i, one in enumerate(LONGER)]

# Adversarial bandits. Losses are multiples of 1/8, so that sums are exact in any order

TURN = Adversary("Bernoulli turn", [0, 150], [[0.25, 0.75, 0.5], [0.875, 0.25, 0.5]], True)
SIDES = Adversary("Bernoulli sides", [0, 60], [[0.25, 0.75], [0.75, 0.125]], True)
ROWS = np.array(
    [[[1, 0, 0], [0.25, 0.5, 0.25], [0, 0.5, 0.5]], [[0.5, 0.25, 0.25], [0, 1, 0], [0, 0, 1]]]
)
ADVISED = ExpertProblem(
    TURN, Advice("five experts", [0, 70], ROWS, [[0, 1, 2, 1, 0], [2, 2, 1, 0, 0]])
)

BATCHES = lectures.namespace("asi2025/3-private-adversarial-bandits")
OTHER_BASES = lectures.namespace("asi2025/E-conversions")
ADVICE = lectures.namespace("asi2025/4-expert-advice")


def plain(name, *parameters, **more):
    """A maker of a base in plain Python, for a number of arms and a generator."""
    return lambda arms, rng: (BATCHES | OTHER_BASES)[name](arms, rng, *parameters, **more)


AS_PRINTED = {"leads": max, "at_cap": 0}
BASES = [
    (EXP3(0.3, 0.1), plain("PlainEXP3", 0.3, 0.1)),
    # bolder ones make of a rounding error another run
    (EXP3(0.5, 0.3), plain("PlainEXP3", 0.5, 0.3)),
    (EXP3(0.02, 0.5), plain("PlainEXP3", 0.02, 0.5)),
    (HTINF(math.sqrt(6)), plain("PlainHTINF", math.sqrt(6))),
    (HTINF(0.3), plain("PlainHTINF", 0.3)),
    (HTINF(30.0), plain("PlainHTINF", 30.0)),
    (FTPL(0.2, 20), plain("PlainFTPL", 0.2, 20)),
    (FTPL(0.2, 3, "zero at cap"), plain("PlainFTPL", 0.2, 3, at_cap=0)),
    (FTPL(2.0, 20, "printed"), plain("PlainFTPL", 2.0, 20, **AS_PRINTED)),
]
# epsilon, tau, and the tau that it makes: each base has three parameters, one for each budget
BUDGETS = [(0.3, None, 4), (0.05, 7, 7), (30.0, None, 1)]
REPORTS = (40, 200, 400)


def in_batches(oracle, arms, tau, scale, rng):
    """A base in plain Python, in batches if it is private."""
    base = oracle(arms, rng)
    return BATCHES["InBatches"](base, rng, tau, scale) if scale else base


def conversion(oracle, tau=1, scale=0.0):
    def play(losses, rng):
        actions, bandit = [], in_batches(oracle, len(losses[0]), tau, scale, rng)
        for row in losses:
            actions.append(bandit.choose())
            bandit.observe(row[actions[-1]])
        return actions

    return play


def over_experts(oracle, tau, scale):
    def play(losses, advice, rng):
        bandit = in_batches(oracle, advice.experts, tau, scale, rng)
        return list(ADVICE["follow_experts"](losses, advice.dense(len(losses)), bandit, rng))

    return play


def exp4(name, **parameters):
    play = lectures.plays("asi2025/4-expert-advice", name, **parameters)
    return lambda losses, advice, rng: play(losses, advice.dense(len(losses)), rng)


EARLY, FEW = (40, 200, 300), (SIDES, REPORTS, 1500)
ADVERSARIAL = [Case(base, conversion(oracle), TURN, EARLY, 1000) for base, oracle in BASES]
ADVERSARIAL += [
    Case(BatchedPrivate(b, e, tau), conversion(oracle, n, 1 / (n * e)), TURN, REPORTS, 1000)
    for (b, oracle), (e, tau, n) in zip(BASES, 3 * BUDGETS, strict=True)
]
ADVERSARIAL += [
    Case(adversarial.LocallyPrivate(base, e), conversion(oracle, 1, 1 / e), TURN, EARLY, 1000)
    for (base, oracle), e in zip(BASES[::3] + BASES[:1], (0.5, 20.0, 1.0, 0.01), strict=True)
]
ADVERSARIAL += [
    Case(one, lectures.plays("asi2025/5-barriers", "sparse_switch", **vars(one)), *FEW)
    for one in map(adversarial.SparseSwitch, (2.0, 0.1, 50.0), (0.2, 1.0, 0.05))
]
PRIVATE = zip(BASES[::3] + BASES[3:4], ((0.4, 3), (0.05, 20), (30.0, 1), (0.2, 5)), strict=True)
ON_EXPERTS = [(BatchedPrivate(b, e), oracle, n, 1 / (n * e)) for (b, oracle), (e, n) in PRIVATE]
EXPERTS = [
    Case(ExpertsFromBandit(made), over_experts(*slow), ADVISED, REPORTS, 1000)
    for made, *slow in ON_EXPERTS
]
EXPERTS += [
    Case(ExpertsFromBandit(BASES[1][0]), over_experts(BASES[1][1], 1, 0.0), ADVISED, EARLY, 1000)
]
EXPERTS += [
    Case(one, exp4("local_exp4", **vars(one)), ADVISED, EARLY, 1000)
    for one in map(adversarial.EXP4Local, (1.0, 0.05, 20.0), (0.1, 0.01, 2.0), (0.05, 0.05, 0.2))
]
EXPERTS += [
    Case(one, exp4("batched_exp4", **vars(one)), ADVISED, REPORTS, 1000)
    for one in (
        adversarial.EXP4Batched(1.0, 1e-3, 0.2, 0.3, 1),
        adversarial.EXP4Batched(0.5, 1e-2, 0.2, 0.3, 13),
        adversarial.EXP4Batched(0.1, 1e-3, 3.0, 0.9, 400),
    )
]

CASES = BANDITS + FULL_INFORMATION + ADVERSARIAL + EXPERTS
# each algorithm once
FIRST = list({case.algorithm: case for case in reversed(CASES)}.values())[::-1]


def kind(algorithm):
    """Its class, and that of what it is made around."""
    inner = getattr(algorithm, "base", None) or getattr(algorithm, "bandit", None)
    return type(algorithm), inner and kind(inner)


# each class once
KINDS = list({kind(case.algorithm): case for case in reversed(CASES)}.values())[::-1]
# each class once, or once on each losses; and all bandits that skip rounds. What else skips rounds
# is compared on one stream, but for the draws of rewards, which are those of the first of its class
LAWS = [
    case
    for case in CASES
    if case in KINDS + ON_LOSSES or (case in BANDITS and type(case.algorithm).fast_run)
]


def short_runs() -> dict:
    """Short runs of every algorithm, and exact values: the same compiled or not."""
    runs = {}
    for algorithm, _, problem, rounds, _ in FIRST:
        played = algorithm.play(*tables(problem, problem.table(101, np.random.default_rng(1))), 2)
        ran = algorithm.run(problem, np.unique(np.minimum(rounds, 900)), 3)
        runs[repr(algorithm)] = [played.tolist(), ran.tolist()]
    exactly = [
        exact.selection_probabilities(ACTIONS, 9, noise, scale).group.tolist()
        for noise in ("laplace", "exponential", "gumbel", "none")
        for scale in (0.7, 5.0, 100.0)
    ]
    return {"runs": runs, "exact": exactly}
