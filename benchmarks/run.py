"""Time the kernels: ns per round of those that play every round, us per run of those that go by
events.

The repetitions of all cases are interleaved and medians are reported, of wall-clock and process
time; where the two differ, other programs had the cores. Compilation is not timed. Event kernels
are timed as users call them, `play` without drawing and checking its table of rewards, which
favours it in the comparison.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import tracemalloc
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from privregret import estimates, exact
from privregret.adversarial import EXP3, FTPL, HTINF, tuning
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
from privregret.core import checks, store
from privregret.core.loops import LANES
from privregret.exact.regret import expected_gaps
from privregret.full_information import FTNL, RandomPrefixSoftmax
from privregret.instances import (
    AZIZE2025_2,
    HU2021_1,
    Advice,
    bernoulli_losses,
    equal_gaps,
    gap_adversary,
    packing,
)
from privregret.press.notebook import BUILD
from privregret.studies import asi2025

ROUNDS, MILLION, TEN_MILLION, MILLION_MILLION = 2**22, 10**6, 10**7, 10**12
LONG = 2**50  # rounds of the exact regrets
LENGTHS = np.arange(1, 513)  # of samples from which Gumbel noise selects
PREFIXES = RandomPrefixSoftmax(1.0)
STEPS = 200_000  # of an adversarial run: many, since a call of lanes costs .7 ms at any length
HORIZONS = {
    ROUNDS: "2^22",
    MILLION: "10^6",
    TEN_MILLION: "10^7",
    MILLION_MILLION: "10^12",
    LONG: "2^50",
}
CALLS = 400  # runs of an event kernel in one repetition
LAZY, HYBRID, SE = "Anytime-Lazy-UCB", "Hybrid-UCB", "DP-SE"
FULL = [
    *(FTNL(0.1, noise) for noise in ("laplace", "exponential", "gumbel")),
    RandomPrefixSoftmax(0.1),
]
PROBLEMS = {  # ten groups of actions; two groups, few and many actions
    "exact, K = 10^6": bernoulli_losses(np.linspace(0.1, 0.9, 10), [1, *[111_111] * 9]),
    "exact, ln K = 3": bernoulli_losses((0.4, 0.6), log_counts=(0.0, 3.0)),
    "exact, ln K = 300": bernoulli_losses((0.4, 0.6), log_counts=(0.0, 300.0)),
}


def cases() -> dict:
    """(algorithm, method, horizon) -> what to time, how many units of work it is, and their unit of
    time."""
    rng = np.random.default_rng(1)
    rewards = HU2021_1.table(ROUNDS, rng)
    lazy, hybrid, dp_se, ucb1 = AnytimeLazyUCB(1.0), HybridUCB(1.0), DPSE(1.0), UCB1()

    long_rewards = np.tile(AZIZE2025_2.table(MILLION, rng), (TEN_MILLION // MILLION, 1))

    def play(a, rewards=rewards):
        return lambda: a.play_checked(rewards, rng)

    def runs(a, horizon, calls, problem=HU2021_1):
        return lambda: [a.run(problem, [horizon], rng) for _ in range(calls)]

    def regret(a, problem):
        return lambda: exact.expected_regret(a, problem, LONG)

    todo = {}
    for a in (hybrid, ucb1, lazy, dp_se):
        todo[a.label, "play", ROUNDS] = play(a), ROUNDS, "ns/round"
    for a in (hybrid, ucb1):
        todo[a.label, "run", ROUNDS] = runs(a, ROUNDS, 1), ROUNDS, "ns/round"
    for a in (lazy, dp_se):
        for horizon in (ROUNDS, MILLION, MILLION_MILLION):
            todo[a.label, "run", horizon] = runs(a, horizon, CALLS), CALLS, "us/run"
    for a in (DPKLUCB(1.0), DPIMED(1.0)):
        todo[a.label, "play", TEN_MILLION] = play(a, long_rewards), TEN_MILLION, "ns/round"
        for horizon in (TEN_MILLION, MILLION_MILLION):
            todo[a.label, "run", horizon] = runs(a, horizon, CALLS, AZIZE2025_2), CALLS, "us/run"
    for epsilon in (0.01, 1.0):
        function = runs(LazyDPTS(epsilon), MILLION, 1, AZIZE2025_2)
        todo[f"Lazy-DP-TS, epsilon {epsilon:g}", "run", MILLION] = function, MILLION, "ns/round"
    for a in FULL:
        for name, problem in PROBLEMS.items():
            todo[a.label, name, LONG] = regret(a, problem), 1, "us/run"
    return todo | exact_cases() | adversarial_cases(rng)


def exact_cases() -> dict:
    """As `cases`: many exact values, in one call or not, and a tiny gap."""
    pair, tiny = packing(10, 0.1), packing(10, 2.0**-20)
    todo = {
        ("Selection", "one call", LONG): lambda: expected_gaps(pair, LENGTHS, "gumbel", 20.0),
        ("Selection", "a call each", LONG): lambda: [
            exact.expected_gap(pair, int(n), "gumbel", 20.0) for n in LENGTHS
        ],
        (PREFIXES.label, "exact, gap 2^-20", LONG): lambda: exact.expected_regret(
            PREFIXES, tiny, 2**60
        ),
    }
    return {case: (function, 1, "us/run") for case, function in todo.items()}


def adversarial_cases(rng) -> dict:
    """As `cases`: private conversions at K = 10, epsilon = 0.1, and EXP4 with 1000 experts who all
    differ."""
    adversary, rounds = gap_adversary(10, 0.5), 10**5
    losses, advice = adversary.table(rounds), Advice.of_table(rng.dirichlet(np.ones(10), size=1000))
    todo = {}
    by_horizon = (make(MILLION, 10, 0.1) for make in (tuning.batched_exp3, tuning.batched_ftpl))
    for a in (tuning.batched_htinf(0.1), *by_horizon):
        todo[a.label, "run", MILLION] = lambda a=a: a.run(adversary, [MILLION], rng), 1, "us/run"
    for a in (
        tuning.local_exp4(rounds, 10, 1000, 0.5),
        tuning.batched_exp4(rounds, 10, 1000, 0.5, 1e-6),
    ):
        todo[a.label, "play", rounds] = lambda a=a: a.play(losses, advice, rng), 1, "us/run"
    ten = partial(FTPL(0.02, 200).run, gap_adversary(10, 0.5), [STEPS], rng)
    todo["FTPL, K = 10", "run", STEPS] = ten, STEPS, "ns/round"
    for a, arms in product((HTINF(1.0), EXP3(0.01, 0.01)), (4, 16)):
        problem, case = gap_adversary(arms, 0.5), f"{a.label}, K = {arms}"
        for method, runs in (("alone", None), ("lanes", LANES)):
            function = partial(a.run, problem, [STEPS], rng, runs)
            todo[case, method, STEPS] = function, STEPS * (runs or 1), "ns/round"
    return todo


@store.disabled()  # what is read from it takes no time
def measure(repeats: int) -> pd.DataFrame:
    """Time per round or run, one row for each case and repetition."""
    todo, rows = cases(), []
    for repeat in range(-1, repeats):  # the first time compiles, and is dropped
        for case, (function, units, unit) in todo.items():
            wall, cpu = time.perf_counter(), time.process_time()
            function()
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            scale = (1e9 if unit == "ns/round" else 1e6) / units
            rows.append((repeat, *case, unit, wall * scale, cpu * scale))
    frame = pd.DataFrame(
        rows, columns=["repeat", "algorithm", "method", "horizon", "unit", "wall", "cpu"]
    )
    return frame[frame.repeat >= 0]


def bars(frame: pd.DataFrame) -> pd.DataFrame:
    """What must hold: medians over the repetitions, of ratios taken within one."""
    by = frame.set_index(["algorithm", "method", "horizon", "repeat"])[["wall", "cpu"]].sort_index()
    rows = []
    for algorithm, bar in ((LAZY, ">= 2000"), (SE, "")):
        ratio = by.loc[algorithm, "play", ROUNDS] * ROUNDS / 1e3 / by.loc[algorithm, "run", ROUNDS]
        rows.append((f"{algorithm}, T = 2^22: round by round over by events", *ratio.median(), bar))
    for algorithm, bar in ((LAZY, "<= 3"), (SE, "")):
        ratio = by.loc[algorithm, "run", MILLION_MILLION] / by.loc[algorithm, "run", MILLION]
        rows.append((f"{algorithm}, by events: T = 10^12 over T = 10^6", *ratio.median(), bar))
    for algorithm in (DPKLUCB.label, DPIMED.label):
        ratio = (
            by.loc[algorithm, "play", TEN_MILLION]
            * TEN_MILLION
            / 1e3
            / by.loc[algorithm, "run", TEN_MILLION]
        )
        rows.append(
            (f"{algorithm}, T = 10^7: round by round over by events", *ratio.median(), ">= 1000")
        )
    per_round = by.loc[HYBRID, "run", ROUNDS].median()
    rows.append((f"{HYBRID}, run: ns per round", *per_round, "<= 60"))
    million, few, many = PROBLEMS
    for algorithm, bar in zip((a.label for a in FULL), ("<= 2", "<= 2", "<= 2", ""), strict=True):
        seconds = by.loc[algorithm, million, LONG].median() / 1e6
        rows.append((f"{algorithm}, exact regret at T = 2^50, K = 10^6: seconds", *seconds, bar))
        ratio = by.loc[algorithm, many, LONG] / by.loc[algorithm, few, LONG]
        rows.append((f"{algorithm}, exact regret: ln K = 300 over ln K = 3", *ratio.median(), bar))
    ratio = by.loc["Selection", "a call each", LONG] / by.loc["Selection", "one call", LONG]
    rows.append(("512 selection probabilities: a call each over one call", *ratio.median(), ">= 2"))
    seconds = by.loc[PREFIXES.label, "exact, gap 2^-20", LONG].median() / 1e6
    rows.append((f"{PREFIXES.label}, exact regret at gap 2^-20: seconds", *seconds, "<= 5"))
    for algorithm in ("Batched HTINF", "Batched EXP3", "Batched FTPL (printed)"):
        run = by.loc[algorithm, "run", MILLION].median() / 1e3
        rows.append((f"{algorithm}, ms a run, K = 10, T = 10^6", *run, "<= 200"))
    for algorithm, arms in product(("HTINF", "EXP3"), (4, 16)):
        case = f"{algorithm}, K = {arms}"
        ratio = by.loc[case, "alone", STEPS] / by.loc[case, "lanes", STEPS]
        rows.append((f"{case}: a run alone over one of 32 in lanes", *ratio.median(), ">= 2"))
    step = by.loc["HTINF, K = 4", "lanes", STEPS].median()
    rows.append(("HTINF, K = 4, in lanes: ns per step", *step, "<= 50"))
    error = error_with_noise()
    what = "Batched HTINF, K = 4: standard error with the noise as control variates over without"
    rows.append((what, error, error, "<= 0.6"))
    rounds = by.loc["FTPL, K = 10", "run", STEPS].median()
    rows.append(("FTPL, K = 10, cap 200: ns per round", *rounds, "<= 450"))
    for algorithm in ("Local EXP4", "Batched EXP4"):
        run = by.loc[algorithm, "play", 10**5].median() / 1e6
        rows.append((f"{algorithm}, s a run, N = 1000, T = 10^5, by rounds", *run, "<= 10"))
    table = pd.DataFrame(rows, columns=["what", "wall", "cpu", "bar"])
    return table.assign(met=[_met(row.cpu, row.bar) for row in table.itertuples()])


def error_with_noise() -> float:
    """Standard error of mean regret with control variates over that of the plain mean, 256 runs."""
    algorithm, problem, horizon, runs = (
        tuning.batched_htinf(0.25),
        gap_adversary(4, 0.125),
        2**17,
        256,
    )
    plain = estimates.mean(
        problem.regret(algorithm.run(problem, [horizon], 1, runs), [horizon])[:, 0]
    )
    return asi2025.regret_by_noise(algorithm, problem, horizon, runs, seed=1).se / plain.se


def _met(value, bar):
    if not bar:
        return ""
    sign, limit = bar.split()
    held = value <= float(limit) if sign == "<=" else value >= float(limit)
    return "yes" if held else "no"


BY_EVENTS = [
    AnytimeLazyUCB(0.64),
    DPSE(0.64),
    AdaPKLUCB(0.64),
    DPKLUCB(0.64, n0=13),
    DPIMED(0.64, n0=13),
]
BY_ROUNDS = [LazyDPTS(0.64), HybridUCB(0.64, tree="rootfree"), UCB1(), KLUCB(), IMED()]


def costs(repeats: int) -> pd.DataFrame:
    """A run of each algorithm for stochastic bandits: processor time, and peak memory with few and
    many arms.

    Memory is what an uncompiled run allocates at its peak, in a process of its own: compiled code
    allocates the same arrays, but nothing counts them.
    """
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    memory = json.loads(
        subprocess.check_output([sys.executable, __file__, "--memory"], env=environment)
    )
    rows = []
    for algorithm in BY_EVENTS + BY_ROUNDS:
        horizon, calls = (10**8, 100) if algorithm in BY_EVENTS else (10**5, 5)
        times = []
        for _ in range(repeats + 1):  # the first time compiles
            begun = time.process_time()
            algorithm.run(HU2021_1, [horizon], 1, calls)
            times.append((time.process_time() - begun) * 1e3 / calls)
        rows.append((algorithm.label, horizon, np.median(times[1:]), *memory[algorithm.label]))
    return pd.DataFrame(rows, columns=["algorithm", "T", "ms/run", "kB, K = 5", "kB, K = 50"])


def peaks() -> dict:
    """label -> peak kilobytes of a run of 1000 rounds on 5 and on 50 arms, without compiling."""
    found = {}
    for algorithm in BY_EVENTS + BY_ROUNDS:
        for problem in (equal_gaps(5, 0.1), equal_gaps(50, 0.1)):
            rng = np.random.default_rng(1)
            algorithm.run(problem, [1000], rng)  # what is kept for later runs is not a run's
            tracemalloc.start()
            algorithm.run(problem, [1000], rng)
            found.setdefault(algorithm.label, []).append(tracemalloc.get_traced_memory()[1] / 1e3)
            tracemalloc.stop()
    return found


def main():
    parser = argparse.ArgumentParser(description="Time the kernels at K = 5, epsilon = 1.")
    parser.add_argument(
        "--repeats", type=int, default=7, help="repetitions behind each median (default: 7)"
    )
    parser.add_argument(
        "--costs", action="store_true", help="only time and memory of the bandits' runs"
    )
    parser.add_argument("--memory", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    repeats = checks.positive_int("repeats", given.repeats)
    if given.memory:
        return print(json.dumps(peaks()))
    if given.costs:
        return print(costs(repeats).to_string(index=False, float_format="%.3g"))
    frame = measure(repeats)
    keys = ["algorithm", "method", "horizon", "unit"]
    table = frame.groupby(keys, sort=False)[["wall", "cpu"]].median().reset_index()
    BUILD.mkdir(exist_ok=True)
    table.to_csv(BUILD / "benchmarks.csv", index=False)
    print(
        table.replace({"horizon": HORIZONS}).to_string(index=False, float_format="%.1f"), end="\n\n"
    )
    print(bars(frame).to_string(index=False, float_format="%.2f"))


if __name__ == "__main__":
    main()
