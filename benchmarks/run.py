"""Time the kernels: ns per round of those that play every round, us per run of those that go by events.

The repetitions of all cases are interleaved and medians are reported, of wall-clock and process time; where
the two differ, other programs had the cores. Compilation is not timed. Event kernels are timed as users call
them, `play` without drawing and checking its table of rewards, which favours it in the comparison.
"""

import argparse
import time

import numpy as np
import pandas as pd

from privregret import checks, exact
from privregret.bandits import DPSE, UCB1, AnytimeLazyUCB, HybridUCB
from privregret.full_information import FTNL, RandomPrefixSoftmax
from privregret.instances import HU2021_1, bernoulli_losses
from privregret.paths import BUILD

ROUNDS, MILLION, MILLION_MILLION = 2**22, 10**6, 10**12
HORIZONS = {ROUNDS: "2^22", MILLION: "10^6", MILLION_MILLION: "10^12"}
CALLS = 400  # runs of an event kernel in one repetition
LAZY, HYBRID, SE = "Anytime-Lazy-UCB", "Hybrid-UCB", "DP-SE"
FULL = [*(FTNL(0.1, noise) for noise in ("laplace", "exponential", "gumbel")), RandomPrefixSoftmax(0.1)]
LONG = 2**50  # rounds of the exact regrets
PROBLEMS = {  # ten groups of actions; two groups, few and many actions
    "exact, K = 10^6": bernoulli_losses(np.linspace(0.1, 0.9, 10), [1, *[111_111] * 9]),
    "exact, ln K = 3": bernoulli_losses((0.4, 0.6), log_counts=(0.0, 3.0)),
    "exact, ln K = 300": bernoulli_losses((0.4, 0.6), log_counts=(0.0, 300.0)),
}


def cases() -> dict:
    """(algorithm, method, horizon) -> what to time, how many units of work it is, and their unit of time."""
    rng = np.random.default_rng(1)
    means, rewards = HU2021_1.means, HU2021_1.rewards(ROUNDS, rng)
    lazy, hybrid, dp_se, ucb1 = AnytimeLazyUCB(1.0), HybridUCB(1.0), DPSE(1.0), UCB1()

    def play(a):
        return lambda: a._play(rewards, rng)

    def runs(a, horizon, calls):
        return lambda: [a.pull_counts(means, [horizon], rng) for _ in range(calls)]

    def regret(a, problem):
        return lambda: exact.expected_regret(a, problem, LONG)

    todo = {}
    for a in (hybrid, ucb1, lazy, dp_se):
        todo[a.label, "play", ROUNDS] = play(a), ROUNDS, "ns/round"
    for a in (hybrid, ucb1):
        todo[a.label, "pull_counts", ROUNDS] = runs(a, ROUNDS, 1), ROUNDS, "ns/round"
    for a in (lazy, dp_se):
        for horizon in HORIZONS:
            todo[a.label, "pull_counts", horizon] = runs(a, horizon, CALLS), CALLS, "us/run"
    for a in FULL:
        for name, problem in PROBLEMS.items():
            todo[a.label, name, LONG] = regret(a, problem), 1, "us/run"
    return todo


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
    frame = pd.DataFrame(rows, columns=["repeat", "algorithm", "method", "horizon", "unit", "wall", "cpu"])
    return frame[frame.repeat >= 0]


def bars(frame: pd.DataFrame) -> pd.DataFrame:
    """What must hold: medians over the repetitions, of ratios taken within one."""
    by = frame.set_index(["algorithm", "method", "horizon", "repeat"])[["wall", "cpu"]].sort_index()
    rows = []
    for algorithm, bar in ((LAZY, ">= 2000"), (SE, "")):
        ratio = by.loc[algorithm, "play", ROUNDS] * ROUNDS / 1e3 / by.loc[algorithm, "pull_counts", ROUNDS]
        rows.append((f"{algorithm}, T = 2^22: round by round over by events", *ratio.median(), bar))
    for algorithm, bar in ((LAZY, "<= 3"), (SE, "")):
        ratio = by.loc[algorithm, "pull_counts", MILLION_MILLION] / by.loc[algorithm, "pull_counts", MILLION]
        rows.append((f"{algorithm}, by events: T = 10^12 over T = 10^6", *ratio.median(), bar))
    per_round = by.loc[HYBRID, "pull_counts", ROUNDS].median()
    rows.append((f"{HYBRID}, pull_counts: ns per round", *per_round, "<= 60"))
    million, few, many = PROBLEMS
    for algorithm, bar in zip((a.label for a in FULL), ("<= 2", "<= 2", "<= 2", ""), strict=True):
        seconds = by.loc[algorithm, million, LONG].median() / 1e6
        rows.append((f"{algorithm}, exact regret at T = 2^50, K = 10^6: seconds", *seconds, bar))
        ratio = by.loc[algorithm, many, LONG] / by.loc[algorithm, few, LONG]
        rows.append((f"{algorithm}, exact regret: ln K = 300 over ln K = 3", *ratio.median(), bar))
    return pd.DataFrame(rows, columns=["what", "wall", "cpu", "bar"])


def main():
    parser = argparse.ArgumentParser(description="Time the kernels at K = 5, epsilon = 1.")
    parser.add_argument("--repeats", type=int, default=7, help="repetitions behind each median (default: 7)")
    frame = measure(checks.integer("repeats", parser.parse_args().repeats, 1))
    keys = ["algorithm", "method", "horizon", "unit"]
    table = frame.groupby(keys, sort=False)[["wall", "cpu"]].median().reset_index()
    BUILD.mkdir(exist_ok=True)
    table.to_csv(BUILD / "benchmarks.csv", index=False)
    table = table.replace({"horizon": HORIZONS | {LONG: "2^50"}})
    print(table.to_string(index=False, float_format="%.1f"), end="\n\n")
    print(bars(frame).to_string(index=False, float_format="%.2f"))


if __name__ == "__main__":
    main()
