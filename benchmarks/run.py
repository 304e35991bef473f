"""How fast the kernels are: ns per round of those that go round by round, us per run of those that go by events.

The repetitions of all cases are interleaved and medians are reported, of wall-clock and of process time; where the two
differ, other programs had the cores. Compilation is not timed. Event kernels are timed as users call them; round-by-round
kernels without the checks of the reward table, and without drawing it, which favours them in the comparison.
"""

import argparse
import time

import numpy as np
import pandas as pd

from privregret import checks
from privregret.bandits import DPSE, UCB1, AnytimeLazyUCB, HybridUCB
from privregret.instances import HU2021_1
from privregret.paths import BUILD

ROUNDS = 2**22
MILLION, MILLION_MILLION = 10**6, 10**12
HORIZONS = {ROUNDS: "2^22", MILLION: "10^6", MILLION_MILLION: "10^12"}
CALLS = 400  # runs of an event kernel in one repetition
LAZY, HYBRID, SE, UCB = (a.label for a in (AnytimeLazyUCB, HybridUCB(1.0), DPSE, UCB1))


def cases():
    """(algorithm, method, horizon) -> a function to time, and how many rounds or runs it is."""
    rng = np.random.default_rng(1)
    rewards = HU2021_1.rewards(ROUNDS, rng)
    lazy, hybrid, dp_se, ucb1 = AnytimeLazyUCB(1.0), HybridUCB(1.0), DPSE(1.0), UCB1()
    result = {}
    for a in (hybrid, ucb1, lazy, dp_se):
        result[a.label, "play", ROUNDS] = lambda a=a: a._play(rewards, rng), ROUNDS
    for a in (hybrid, ucb1):
        result[a.label, "pull_counts", ROUNDS] = lambda a=a: a.pull_counts(HU2021_1.means, [ROUNDS], rng), ROUNDS
    for a in (lazy, dp_se):
        for horizon in HORIZONS:

            def runs(a=a, horizon=horizon):
                for _ in range(CALLS):
                    a.pull_counts(HU2021_1.means, [horizon], rng)

            result[a.label, "pull_counts", horizon] = runs, CALLS
    return result


def measure(repeats: int) -> pd.DataFrame:
    """Seconds per round or run, one row for each case and repetition."""
    todo, rows = cases(), []
    for repeat in range(-1, repeats):  # the first time compiles
        for (algorithm, method, horizon), (function, units) in todo.items():
            wall, cpu = time.perf_counter(), time.process_time()
            function()
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            unit = "ns/round" if units == ROUNDS else "us/run"
            scale = (1e9 if units == ROUNDS else 1e6) / units
            rows.append((repeat, algorithm, method, horizon, unit, wall * scale, cpu * scale))
    frame = pd.DataFrame(rows, columns=["repeat", "algorithm", "method", "horizon", "unit", "wall", "cpu"])
    return frame[frame.repeat >= 0]


def bars(frame: pd.DataFrame) -> pd.DataFrame:
    """What must hold, with medians over the repetitions of ratios taken within one."""
    by = frame.set_index(["algorithm", "method", "horizon", "repeat"])[["wall", "cpu"]].sort_index()
    rows = []
    for algorithm, bar in ((LAZY, ">= 2000"), (SE, "")):
        ratio = by.loc[algorithm, "play", ROUNDS] * ROUNDS / 1e3 / by.loc[algorithm, "pull_counts", ROUNDS]
        rows.append((f"{algorithm}, T = 2^22: round by round over by events", *ratio.median(), bar))
    for algorithm, bar in ((LAZY, "<= 3"), (SE, "")):
        ratio = by.loc[algorithm, "pull_counts", MILLION_MILLION] / by.loc[algorithm, "pull_counts", MILLION]
        rows.append((f"{algorithm}, by events: T = 10^12 over T = 10^6", *ratio.median(), bar))
    rows.append((f"{HYBRID}, ns per round", *by.loc[HYBRID, "pull_counts", ROUNDS].median(), "<= 60"))
    return pd.DataFrame(rows, columns=["what", "wall", "cpu", "bar"])


def main():
    parser = argparse.ArgumentParser(description="Time the kernels at K = 5, epsilon = 1.")
    parser.add_argument("--repeats", type=int, default=7, help="repetitions behind each median (default: 7)")
    frame = measure(checks.integer("repeats", parser.parse_args().repeats, 1))
    keys = ["algorithm", "method", "horizon", "unit"]
    table = frame.groupby(keys, sort=False)[["wall", "cpu"]].median().reset_index()
    BUILD.mkdir(exist_ok=True)
    table.to_csv(BUILD / "benchmarks.csv", index=False)
    print(table.replace({"horizon": HORIZONS}).to_string(index=False, float_format="%.1f"))
    print()
    print(bars(frame).to_string(index=False, float_format="%.1f"))


if __name__ == "__main__":
    main()
