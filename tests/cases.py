"""Every algorithm of the project, with several parameters each: what `test_every_algorithm` runs
its contract on."""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from laws import tables
from naive import adversarial, azize2025, bandits, full_information

from privregret import exact
from privregret.adversarial import (
    EXP3,
    FTPL,
    HTINF,
    BatchedPrivate,
    EXP4Batched,
    EXP4Local,
    ExpertsFromBandit,
    LocallyPrivate,
    SparseSwitch,
)
from privregret.bandits import (
    DPIMED,
    DPKLUCB,
    DPSE,
    IMED,
    KLUCB,
    UCB1,
    AdaPKLUCB,
    AnytimeLazyUCB,
    HybridUCB,
    LazyDPTS,
)
from privregret.companion import MarginStop, PhasedFTNL, Votes, VotesOrLeader
from privregret.full_information import (
    FTNL,
    DecreasingHedge,
    EpochLeader,
    FollowTheLeader,
    NaiveFTNL,
    RandomPrefixSoftmax,
)
from privregret.instances import (
    AZIZE2025_2,
    DEPENDENT_COPIES,
    HU2021_3,
    TWO_ACTION_FIXED,
    Adversary,
    Advice,
    BernoulliBandit,
    ExpertProblem,
    bernoulli_losses,
    dependent,
    deterministic_losses,
    gap_adversary,
    packing,
)

INF = math.inf


class Case(NamedTuple):
    """An algorithm, a slow version of it, and where `play` and `run` are compared."""

    algorithm: object
    twin: Callable  # `play` of the slow version: (*tables, rng) -> actions
    problem: object
    rounds: tuple  # reported; the last is the horizon
    # of each method: detects means that differ by 0.14 deviations; 1500 by 0.18, 1000 by 0.22
    runs: int = 2500

    def __repr__(self):
        return f"{self.algorithm!r} on {self.problem.name}"


# Stochastic bandits

THREE = BernoulliBandit("three arms", (0.9, 0.5, 0.1))
TWO = BernoulliBandit("two arms", (0.6, 0.4))
FOUR = BernoulliBandit("four arms", (0.2, 0.45, 0.7, 0.56))
FIVE = AZIZE2025_2
CLOSE = BernoulliBandit("three close arms", (0.9, 0.76, 0.62))
EQUAL = BernoulliBandit("two best arms", (0.3, 0.8, 0.8))
GOOD = BernoulliBandit("two good arms", (0.85, 0.7, 0.15))
LOW = BernoulliBandit("three low arms", (0.3, 0.5, 0.1))
APART = BernoulliBandit("two arms apart", (0.7, 0.4))


def batched(rule, *parameters, **options):
    return azize2025.Batched(rule, *parameters, **options).play


BANDITS = [
    Case(AnytimeLazyUCB(0.05), bandits.AnytimeLazyUCB(0.05).play, THREE, (30, 300, 3000)),
    Case(AnytimeLazyUCB(0.5), bandits.AnytimeLazyUCB(0.5).play, FIVE, (10, 200, 4000)),
    Case(AnytimeLazyUCB(1.0), bandits.AnytimeLazyUCB(1.0).play, TWO, (20, 150, 1500), 1500),
    Case(AnytimeLazyUCB(8.0), bandits.AnytimeLazyUCB(8.0).play, EQUAL, (40, 400, 3000)),
    Case(AnytimeLazyUCB(1e9), bandits.AnytimeLazyUCB(1e9).play, LOW, (40, 400, 3000)),
    Case(DPSE(0.02, 0.9), bandits.DPSE(0.02, 0.9).play, THREE, (2000, 3500, 9000), 1500),
    Case(DPSE(1.0, 0.9), bandits.DPSE(1.0, 0.9).play, CLOSE, (1200, 2000, 6000), 1500),
    Case(DPSE(0.1, 0.9), bandits.DPSE(0.1, 0.9).play, FOUR, (500, 3000, 9000), 1500),
    Case(DPSE(100.0, 0.5), bandits.DPSE(100.0, 0.5).play, GOOD, (1000, 1501, 5000), 1500),
    Case(DPSE(20.0), bandits.DPSE(20.0).play, THREE, (2000, 3500, 6000), 1500),
    Case(HybridUCB(0.5), bandits.HybridUCB(0.5).play, THREE, (20, 150, 1000), 1500),
    Case(HybridUCB(16.0), bandits.HybridUCB(16.0).play, FIVE, (20, 150, 1500), 1500),
    Case(HybridUCB(1e9), bandits.HybridUCB(1e9).play, LOW, (20, 150, 1000), 1500),
    Case(
        HybridUCB(1.0, "rootfree"),
        bandits.HybridUCB(1.0, "rootfree").play,
        TWO,
        (20, 150, 1000),
        1500,
    ),
    Case(
        HybridUCB(16.0, "rootfree"),
        bandits.HybridUCB(16.0, "rootfree").play,
        THREE,
        (20, 150, 1000),
        1500,
    ),
    Case(
        HybridUCB(128.0, "rootfree"),
        bandits.HybridUCB(128.0, "rootfree").play,
        FIVE,
        (20, 150, 1000),
        1500,
    ),
    Case(
        HybridUCB(1.0, "scaled"), bandits.HybridUCB(1.0, "scaled").play, TWO, (20, 150, 1000), 1500
    ),
    Case(
        HybridUCB(16.0, "scaled"),
        bandits.HybridUCB(16.0, "scaled").play,
        THREE,
        (20, 150, 1000),
        1500,
    ),
    Case(
        HybridUCB(128.0, "scaled", math.e),
        bandits.HybridUCB(128.0, "scaled", math.e).play,
        FIVE,
        (20, 150, 1000),
        1500,
    ),
    Case(
        HybridUCB(64.0, log_base=10),
        bandits.HybridUCB(64.0, log_base=10).play,
        THREE,
        (20, 150, 400),
        1500,
    ),
    Case(UCB1(), bandits.UCB1().play, THREE, (5, 100, 1500)),
    Case(UCB1(), bandits.UCB1().play, FIVE, (8, 100, 1500)),
    Case(DPKLUCB(0.05), batched("klucb", 0.05), THREE, (30, 300, 3000)),
    Case(DPKLUCB(1.0), batched("klucb", 1.0), FIVE, (10, 200, 3000)),
    Case(DPKLUCB(20.0, 1.3, 2), batched("klucb", 20.0, 1.3, 2), TWO, (20, 150, 1500)),
    Case(
        DPKLUCB(8.0, 1.1, 3, "first"),
        batched("klucb", 8.0, 1.1, 3, "first"),
        THREE,
        (20, 150, 1000),
        1500,
    ),
    Case(DPKLUCB(0.7, power=1), batched("klucb", 0.7, power=1), APART, (20, 150, 1000), 1500),
    Case(DPIMED(0.05), batched("imed", 0.05), THREE, (30, 300, 3000)),
    Case(DPIMED(1.0), batched("imed", 1.0), FIVE, (10, 200, 3000)),
    Case(DPIMED(20.0, 1.1), batched("imed", 20.0, 1.1), TWO, (20, 150, 1500)),
    Case(
        DPIMED(8.0, 1.1, 2, "first"),
        batched("imed", 8.0, 1.1, 2, "first"),
        THREE,
        (20, 150, 1000),
        1500,
    ),
    Case(
        DPIMED(30.0, 1.5, power=2),
        batched("imed", 30.0, 1.5, power=2),
        APART,
        (20, 150, 1000),
        1500,
    ),
    Case(DPIMED(1.0, power=1), batched("imed", 1.0, power=1), TWO, (20, 150, 1500)),
    Case(AdaPKLUCB(0.1), azize2025.AdaPKLUCB(0.1).play, THREE, (30, 300, 3000)),
    Case(AdaPKLUCB(5.0), azize2025.AdaPKLUCB(5.0).play, FIVE, (10, 200, 3000)),
    Case(AdaPKLUCB(20.0, 1.5), azize2025.AdaPKLUCB(20.0, 1.5).play, TWO, (20, 150, 1500)),
    Case(LazyDPTS(0.05), azize2025.LazyDPTS(0.05).play, THREE, (30, 300, 2000), 1500),
    Case(LazyDPTS(1.0), azize2025.LazyDPTS(1.0).play, FIVE, (10, 200, 1500), 1500),
    Case(LazyDPTS(30.0), azize2025.LazyDPTS(30.0).play, TWO, (20, 150, 1500)),
    Case(
        LazyDPTS(4.0), azize2025.LazyDPTS(4.0).play, APART, (200, 2000, 12_000), 1500
    ),  # most rounds are skipped
    Case(LazyDPTS(1000.0), azize2025.LazyDPTS(1000.0).play, LOW, (100, 1000, 8000), 1500),
    Case(IMED(), azize2025.PerRound("imed").play, FIVE, (10, 100, 1500)),
    Case(KLUCB(), azize2025.PerRound("klucb").play, THREE, (10, 100, 800), 1500),
    Case(KLUCB(3.0), azize2025.PerRound("klucb", 3.0).play, TWO, (10, 100, 500), 1500),
    Case(KLUCB(0.5), azize2025.PerRound("klucb", 0.5).play, THREE, (10, 100, 500), 1500),
]

# Full information. Horizons are short, so that whole vectors of counts can be compared

ACTIONS = bernoulli_losses((0.2, 0.5, 0.9), (1, 2, 1), name="four actions")
LOSSES = [
    ACTIONS,
    deterministic_losses((0.0, 0.3, 1.0), (1, 1, 3)),
    TWO_ACTION_FIXED,
    dependent("antithetic", 0.3),
    dependent("copies", 0.3, 4),
    DEPENDENT_COPIES,
]


def epochs(noise, scale, *options, **more):
    """`scale` is a number, or a function of the number of actions."""

    def play(losses, rng):
        factor = scale(len(losses[0])) if callable(scale) else scale
        return full_information.Epochs(noise, factor, *options, **more).play(losses, rng)

    return play


def hedge(rate):
    return lambda losses, rng: full_information.hedge(losses, rate, rng)


EVERYWHERE = [
    (FTNL(2.0, "exponential"), epochs("exponential", 1.0)),
    (FTNL(1.0, bernoulli_resampling=True), epochs("laplace", 2.0, resampling=True)),
    (RandomPrefixSoftmax(2.0, cap=1.0), epochs("gumbel", 1.0, "random")),
    (EpochLeader(), full_information.Leader().play),
    (FollowTheLeader(), hedge(INF)),
    (DecreasingHedge(), hedge(2.0)),
]
ON_ONE = [
    (FTNL(0.02), epochs("laplace", 100.0)),
    (FTNL(1.0, "laplace", "hu2021"), epochs("laplace", 1.0)),
    (FTNL(30.0, "laplace", "wu2026"), epochs("laplace", 2 / 30)),
    (FTNL(0.02, "exponential", "wu2026"), epochs("exponential", 50.0)),
    (FTNL(30.0, "exponential", "wu2026", True), epochs("exponential", 1 / 30, resampling=True)),
    (FTNL(20.0, "gumbel"), epochs("gumbel", 0.1)),
    (FTNL(1.0, "gumbel", "wu2026", True), epochs("gumbel", 2.0, resampling=True)),
    (FTNL(1.0, "gumbel", "wu2026-proofs"), epochs("gumbel", 1.0)),
    (FTNL(0.5, "laplace", 3.7, True), epochs("laplace", 3.7 / 0.5, resampling=True)),
    (NaiveFTNL(2.0), epochs("laplace", lambda actions: actions / 2)),
    (NaiveFTNL(0.1), epochs("laplace", lambda actions: 10 * actions)),
    (NaiveFTNL(60.0), epochs("laplace", lambda actions: actions / 60)),
    (RandomPrefixSoftmax(0.02), epochs("gumbel", 100.0, "random")),
    (RandomPrefixSoftmax(0.2), epochs("gumbel", 10.0, "random")),
    (RandomPrefixSoftmax(100.0), epochs("gumbel", 8.0, "random")),  # the cap
    (RandomPrefixSoftmax(4.0, "half", INF), epochs("gumbel", 0.5, "half")),
    (
        RandomPrefixSoftmax(0.5, "full", bernoulli_resampling=True),
        epochs("gumbel", 8.0, "full", True),
    ),
    (EpochLeader(True), full_information.Leader(True).play),
    (DecreasingHedge(0.3), hedge(0.3)),
    (DecreasingHedge(20.0), hedge(20.0)),
    (PhasedFTNL(2.0), full_information.Phased("laplace", 1.0, math.e, True).play),
    (PhasedFTNL(0.5, "gumbel"), full_information.Phased("gumbel", 4.0, math.e, True).play),
    (
        PhasedFTNL(20.0, "gumbel", growth=3.0, random_phase=False),
        full_information.Phased("gumbel", 0.1, 3.0, False).play,
    ),
    (
        PhasedFTNL(1.0, "exponential", bernoulli_resampling=True, growth=1.3),
        full_information.Phased("exponential", 2.0, 1.3, True, True).play,
    ),
    (Votes(30.0), full_information.Votes(30.0).play),
    (Votes(2.0, 2.5), full_information.Votes(2.0, 2.5).play),
    (MarginStop(4.0), full_information.MarginStop(4.0).play),
    (MarginStop(0.1, 0.2, 0.0), full_information.MarginStop(0.1, 0.2, 0.0).play),
    (VotesOrLeader(0.5), full_information.VotesOrLeader(0.5).play),
]
LONGER = [  # what plays a uniform action for a while
    (Votes(0.5), full_information.Votes(0.5).play, (20, 90)),
    (Votes(8.0), full_information.Votes(8.0).play, (20, 60)),
    (MarginStop(20.0, 0.9, 0.3), full_information.MarginStop(20.0, 0.9, 0.3).play, (8, 40)),
    (MarginStop(200.0, 0.5, 1.0), full_information.MarginStop(200.0, 0.5, 1.0).play, (8, 40)),
    (VotesOrLeader(30.0), full_information.VotesOrLeader(30.0).play, (9, 60)),
    (VotesOrLeader(8.0), full_information.VotesOrLeader(8.0).play, (30, 150)),
]
FULL_INFORMATION = [Case(a, twin, losses, (5, 19)) for a, twin in EVERYWHERE for losses in LOSSES]
FULL_INFORMATION += [Case(a, twin, ACTIONS, (5, 19)) for a, twin in ON_ONE]
FULL_INFORMATION += [Case(a, twin, p, t) for a, twin, t in LONGER for p in (ACTIONS, LOSSES[1])]

# Adversarial bandits. Losses are multiples of 1/8, so that sums are exact in any order

TURN = Adversary("Bernoulli turn", [0, 150], [[0.25, 0.75, 0.5], [0.875, 0.25, 0.5]], True)
SIDES = Adversary("Bernoulli sides", [0, 60], [[0.25, 0.75], [0.75, 0.125]], True)
ROWS = np.array(
    [[[1, 0, 0], [0.25, 0.5, 0.25], [0, 0.5, 0.5]], [[0.5, 0.25, 0.25], [0, 1, 0], [0, 0, 1]]]
)
ADVISED = ExpertProblem(
    TURN, Advice("five experts", [0, 70], ROWS, [[0, 1, 2, 1, 0], [2, 2, 1, 0, 0]])
)

BASES = [
    (EXP3(0.3, 0.1), lambda k: adversarial.EXP3(k, 0.3, 0.1)),
    (
        EXP3(0.5, 0.3),
        lambda k: adversarial.EXP3(k, 0.5, 0.3),
    ),  # bolder ones make of a rounding error another run
    (EXP3(0.02, 0.5), lambda k: adversarial.EXP3(k, 0.02, 0.5)),
    (HTINF(math.sqrt(6)), lambda k: adversarial.HTINF(k, math.sqrt(6))),
    (HTINF(0.3), lambda k: adversarial.HTINF(k, 0.3)),
    (HTINF(30.0), lambda k: adversarial.HTINF(k, 30.0)),
    (FTPL(0.2, 20), lambda k: adversarial.FTPL(k, 0.2, 20, "corrected")),
    (FTPL(0.2, 3, "zero at cap"), lambda k: adversarial.FTPL(k, 0.2, 3, "zero at cap")),
    (FTPL(2.0, 20, "printed"), lambda k: adversarial.FTPL(k, 2.0, 20, "printed")),
]
BUDGETS = [(0.3, None, 4), (0.05, 7, 7), (30.0, None, 1)]  # epsilon, tau, and the tau that it makes
REPORTS = (40, 200, 400)


def conversion(oracle, tau=1, scale=0.0):
    return lambda losses, rng: adversarial.conversion(
        losses, oracle(len(losses[0])), tau, scale, rng
    )


def over_experts(oracle, tau, scale):
    return lambda losses, advice, rng: adversarial.conversion(
        losses, oracle(advice.experts), tau, scale, rng, dense(advice, len(losses))
    )


def dense(advice, rounds):
    """(T, N, K) every expert's distribution in every round."""
    segment = np.searchsorted(advice.starts, np.arange(rounds), side="right") - 1
    return advice.rows[segment[:, None], advice.group[segment]]


def sparse_switch(epsilon, rate):
    return lambda losses, rng: adversarial.sparse_switch(losses, epsilon, rate, rng)


def exp4(play, *parameters):
    return lambda losses, advice, rng: play(losses, dense(advice, len(losses)), *parameters, rng)


ADVERSARIAL = [Case(base, conversion(oracle), TURN, (40, 200, 300), 1000) for base, oracle in BASES]
ADVERSARIAL += [
    Case(
        BatchedPrivate(base, e, tau), conversion(oracle, size, 1 / (size * e)), TURN, REPORTS, 1000
    )
    for base, oracle in BASES
    for e, tau, size in BUDGETS
]
ADVERSARIAL += [
    Case(LocallyPrivate(base, e), conversion(oracle, 1, 1 / e), TURN, (40, 200, 300), 1000)
    for (base, oracle), e in zip(BASES[::3] + BASES[:1], (0.5, 20.0, 1.0, 0.01), strict=True)
]
ADVERSARIAL += [
    Case(SparseSwitch(*p), sparse_switch(*p), SIDES, (40, 200, 400), 1500)
    for p in ((2.0, 0.2), (0.1, 1.0), (50.0, 0.05))
]
EXPERTS = [
    Case(
        ExpertsFromBandit(BatchedPrivate(base, e)),
        over_experts(oracle, size, 1 / (size * e)),
        ADVISED,
        REPORTS,
        1000,
    )
    for (base, oracle), (e, size) in zip(
        BASES[::3] + BASES[3:4], ((0.4, 3), (0.05, 20), (30.0, 1), (0.2, 5)), strict=True
    )
]
EXPERTS += [
    Case(
        ExpertsFromBandit(BASES[1][0]),
        over_experts(BASES[1][1], 1, 0.0),
        ADVISED,
        (40, 200, 300),
        1000,
    )
]
EXPERTS += [
    Case(EXP4Local(*p), exp4(adversarial.exp4_local, *p), ADVISED, (40, 200, 300), 1000)
    for p in ((1.0, 0.1, 0.05), (0.05, 0.01, 0.05), (20.0, 2.0, 0.2))
]
EXPERTS += [
    Case(EXP4Batched(*p), exp4(adversarial.exp4_batched, *p), ADVISED, REPORTS, 1000)
    for p in ((1.0, 1e-3, 0.2, 0.3, 1), (0.5, 1e-2, 0.2, 0.3, 13), (0.1, 1e-3, 3.0, 0.9, 400))
]

CASES = BANDITS + FULL_INFORMATION + ADVERSARIAL + EXPERTS
FIRST = list({case.algorithm: case for case in reversed(CASES)}.values())[
    ::-1
]  # each algorithm once


# What epsilon does


class WithoutNoise(azize2025.Batched):
    def noise(self, rng):
        return 0.0


# algorithm with a huge epsilon, `play` of what it should then be, problem, rounds, runs of the
# latter
LIMITS = [
    (AnytimeLazyUCB(1e9), bandits.LazyUCBWithoutPrivacy().play, EQUAL, (20, 100, 500), 400),
    (HybridUCB(1e9), bandits.UCBWithoutPrivacy().play, EQUAL, (20, 100, 500), 400),
    (DPSE(1e9, 0.9), bandits.DPSE(1e9, 0.9).play, CLOSE, (1200, 2000, 5000), 200),
    (DPKLUCB(1e6), WithoutNoise("klucb", 500.0).play, EQUAL, (20, 100, 500), 400),
    (DPIMED(1e6), WithoutNoise("imed", 500.0).play, EQUAL, (20, 100, 500), 400),
    *(
        (FTNL(1e7, noise), EpochLeader().play, ACTIONS, (5, 19), 2500)
        for noise in ("laplace", "exponential", "gumbel")
    ),
    (
        FTNL(1e7, "gumbel", bernoulli_resampling=True),
        EpochLeader(True).play,
        TWO_ACTION_FIXED,
        (5, 19),
        2500,
    ),
    (NaiveFTNL(1e7), EpochLeader().play, ACTIONS, (5, 19), 2500),
    (RandomPrefixSoftmax(1e7, "full", INF), EpochLeader().play, ACTIONS, (5, 19), 2500),
    *((BatchedPrivate(base, 1e9), base.play, TURN, REPORTS, 1000) for base, _ in BASES),
    (LocallyPrivate(HTINF(1.0), 1e9), HTINF(1.0).play, TURN, REPORTS, 1000),
    (
        ExpertsFromBandit(BatchedPrivate(HTINF(1.0), 1e9)),
        ExpertsFromBandit(HTINF(1.0)).play,
        ADVISED,
        REPORTS,
        1000,
    ),
    (
        EXP4Local(1e9, 0.1, 0.05),
        exp4(adversarial.exp4_local, INF, 0.1, 0.05),
        ADVISED,
        (40, 200),
        300,
    ),
]

STEADY = Adversary("steady", [0], [[0.25, 0.75, 0.75, 0.75]])
ADVISED_STEADY = ExpertProblem(STEADY, Advice.of_arms([[0, 1, 2, 3, 1]], 4))


def local_exp4(epsilon):
    return EXP4Local(epsilon, 0.002 * epsilon, 0.05)


def batched_exp4(epsilon):
    return EXP4Batched(epsilon, 1e-2, 0.05, 0.2, 200)


# family, epsilons that rise, problem, horizon, runs: regret must fall from each to the next, beyond
# its error
FALLING = [
    (AnytimeLazyUCB, (0.02, 0.1, 0.5, 2.0, 16.0), HU2021_3, 2**16, 500),
    (
        DPSE,
        (0.002, 0.006, 0.02, 0.06),
        HU2021_3,
        2**18,
        500,
    ),  # from about 0.12 on, epochs do not depend on epsilon
    (HybridUCB, (1.0, 4.0, 16.0, 64.0, 256.0), HU2021_3, 2**13, 60),
    (lambda e: HybridUCB(e, "rootfree"), (1.0, 16.0, 256.0), HU2021_3, 2**13, 60),
    (lambda e: HybridUCB(e, "scaled"), (1.0, 16.0, 256.0), HU2021_3, 2**13, 60),
    (DPKLUCB, (0.02, 0.1, 0.5), HU2021_3, 2**14, 400),
    (DPIMED, (0.02, 0.1, 0.5), HU2021_3, 2**14, 400),
    (AdaPKLUCB, (0.05, 0.2, 1.0), HU2021_3, 2**16, 400),
    (LazyDPTS, (0.05, 0.2, 1.0, 10.0), HU2021_3, 2**14, 100),
    *(
        (partial(FTNL, noise=n), (0.02, 0.1, 0.5, 2.0), packing(10, 0.3), 2**13, 800)
        for n in ("laplace", "gumbel")
    ),
    (partial(FTNL, noise="exponential"), (0.02, 0.1, 0.5, 2.0), packing(10, 0.3), 2**13, 800),
    (NaiveFTNL, (0.1, 0.5, 2.0, 10.0), packing(10, 0.3), 2**13, 800),
    (RandomPrefixSoftmax, (0.02, 0.06, 0.2), packing(10, 0.3), 2**13, 800),
    (
        lambda e: BatchedPrivate(HTINF(math.sqrt(6)), e),
        (0.01, 0.1, 1.0),
        gap_adversary(4, 0.5),
        50_000,
        40,
    ),
    (lambda e: BatchedPrivate(EXP3(0.02, 0.05), e), (0.01, 0.1), STEADY, 20_000, 60),
    (lambda e: BatchedPrivate(FTPL(0.05, 50), e), (0.01, 0.1), STEADY, 20_000, 60),
    (
        lambda e: LocallyPrivate(HTINF(math.sqrt(1 + 2 / e**2)), e),
        (0.01, 0.1, 1.0),
        STEADY,
        20_000,
        60,
    ),
    (
        lambda e: ExpertsFromBandit(BatchedPrivate(HTINF(2.0), e)),
        (0.01, 0.1, 1.0),
        ADVISED_STEADY,
        20_000,
        60,
    ),
    (local_exp4, (0.02, 0.2, 2.0), ADVISED_STEADY, 20_000, 60),
    (batched_exp4, (0.05, 1.0), ADVISED_STEADY, 20_000, 60),
    (
        lambda e: SparseSwitch(e, 0.1),
        (0.05, 0.3, 2.0),
        Adversary("riser", [0], [[0.5, 0.0]]),
        4000,
        200,
    ),
]


def short_runs() -> dict:
    """Short runs of every algorithm, and exact values: the same whether kernels are compiled or
    not."""
    runs = {}
    for algorithm, _, problem, rounds, _ in FIRST:
        played = algorithm.play(*tables(problem, problem.table(101, np.random.default_rng(1))), 2)
        runs[repr(algorithm)] = [
            played.tolist(),
            algorithm.run(problem, np.unique(np.minimum(rounds, 900)), 3).tolist(),
        ]
    exactly = [
        exact.selection_probabilities(ACTIONS, 9, noise, scale).group.tolist()
        for noise in ("laplace", "exponential", "gumbel", "none")
        for scale in (0.7, 5.0, 100.0)
    ]
    return {"runs": runs, "exact": exactly}
