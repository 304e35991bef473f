"""Time a run of each policy that goes by events as arms and rounds grow: what doubles with K, or with ln T.

Milliseconds of process time, medians over the repetitions; half the arms are near the best. Compilation is not timed.
"""

import argparse
import time

import numpy as np
import pandas as pd

from privregret import checks
from privregret.bandits import DPIMED, DPKLUCB, DPSE, AdaPKLUCB, AnytimeLazyUCB
from privregret.instances import BernoulliBandit

POLICIES = [AnytimeLazyUCB(1.0), DPKLUCB(1.0), DPIMED(1.0), AdaPKLUCB(1.0), DPSE(1.0)]
ARMS = [5, 100, 1000, 10_000, 100_000]
HORIZONS = [10**6, 10**9, 10**12]


def growth(repeats: int) -> pd.DataFrame:
    """Columns: algorithm, K, and T = 10^6, 10^9, 10^12."""
    rows = []
    for arms in ARMS:
        problem = BernoulliBandit(f"{arms} arms", tuple(np.linspace(0.1, 0.9, arms)))
        for policy in POLICIES:
            row = {"algorithm": policy.label, "K": arms}
            for horizon in HORIZONS:
                times = []
                for seed in range(repeats + 1):  # the first time compiles
                    begun = time.process_time()
                    policy.run(problem, [horizon], seed)
                    times.append((time.process_time() - begun) * 1e3)
                row[f"T = 10^{round(np.log10(horizon))}"] = np.median(times[1:])
            rows.append(row)
    return pd.DataFrame(rows)


def main():
    parser = argparse.ArgumentParser(description="Milliseconds of a run as arms and rounds grow, epsilon = 1.")
    parser.add_argument("--repeats", type=int, default=5, help="repetitions behind each median (default: 5)")
    repeats = checks.integer("repeats", parser.parse_args().repeats, 1)
    print(growth(repeats).sort_values("algorithm", kind="stable").to_string(index=False, float_format="%.3g"))


if __name__ == "__main__":
    main()
