"""What runs cost as rounds, arms and runs grow: `growth.csv`, whose tables `README.md` has.

Processor time: median, smallest and largest repetition, without the first, which compiles.
Memory: growth of the peak of a separate process. Half of the arms are near the best, epsilon = 1.
"""

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
from notebooks import hardware

from privregret import simulate
from privregret.adversarial import tuning
from privregret.bandits import DPIMED, DPKLUCB, DPSE, UCB1, AdaPKLUCB, AnytimeLazyUCB, HybridUCB
from privregret.core import checks, files, store
from privregret.full_information import FTNL, RandomPrefixSoftmax
from privregret.instances import BernoulliBandit, gap_adversary, packing

EVENTS = [AnytimeLazyUCB(1.0), DPKLUCB(1.0), DPIMED(1.0), AdaPKLUCB(1.0), DPSE(1.0)]
EPOCHS = [FTNL(1.0), RandomPrefixSoftmax(1.0)]
STEPS = [
    HybridUCB(1.0, tree="rootfree"),
    UCB1(),
    tuning.batched_htinf(0.01),
]  # as many steps as rounds, or batches
ARMS, HORIZONS, LONG = [5, 100, 1000, 10_000, 100_000], [2**k for k in range(10, 61, 10)], 10**9
RUNS = {
    1: [100, 1000, 10**4, 10**5, 10**6],
    200: [100, 1000, 10**4, 10**5],
}  # points -> numbers of runs


def arms(count: int) -> BernoulliBandit:
    """Means from 0.1 to 0.9, evenly spaced."""
    return BernoulliBandit(f"{count} arms", tuple(np.linspace(0.1, 0.9, count)))


def timed(function, repeats):
    """Milliseconds: median, least and most."""
    times = []
    for seed in range(repeats + 1):
        begun = time.process_time()
        function(seed)
        times.append((time.process_time() - begun) * 1e3)
    return {"milliseconds": np.median(times[1:]), "least": min(times[1:]), "most": max(times[1:])}


def by_rounds(repeats):
    """One row for each algorithm and horizon: a run, the mean of many where it is short."""
    for algorithm in (*EVENTS, *EPOCHS, *STEPS):
        problem = next(
            p
            for p in (arms(5), packing(5, 0.1), gap_adversary(5, 0.1))
            if isinstance(p, algorithm.plays)
        )
        for horizon in (h for h in HORIZONS if algorithm not in STEPS or h <= 2**20):
            runs = max(10**5 // horizon, 1) if algorithm in STEPS else 1000

            def once(seed, algorithm=algorithm, problem=problem, horizon=horizon, runs=runs):
                algorithm.run(problem, [horizon], seed, runs)

            sizes = {"K": 5, "T": horizon, "runs": runs, "points": 1}
            yield {"axis": "rounds", "algorithm": algorithm.label} | sizes | timed(once, repeats)


def by_arms(repeats):
    """One row for each policy that goes by events and number of arms."""
    for count, policy in product(ARMS, EVENTS):
        problem, runs = arms(count), max(1000 // count, 1)

        def once(seed, policy=policy, problem=problem, runs=runs):
            policy.run(problem, [LONG], seed, runs)

        sizes = {"K": count, "T": LONG, "runs": runs, "points": 1}
        yield {"axis": "arms", "algorithm": policy.label} | sizes | timed(once, repeats)


@store.without()  # what is read from it takes no time
def summarised(kept, runs, points, repeats):
    """Time and memory of many runs, kept or summarised, in a process that does nothing else."""
    play = {"summary": simulate.regret_summary, "every run": simulate.regret_curves}[kept]
    play(AnytimeLazyUCB(1.0), arms(5), 2**22, 64, 1, points=points, workers=1)
    Path("/proc/self/clear_refs").write_text(
        "5"
    )  # the peak, compilation's, is forgotten; Linux alone can do it
    before = resident()["VmHWM"]

    def once(seed):
        play(AnytimeLazyUCB(1.0), arms(5), 2**22, runs, seed, points=points, workers=1)

    return timed(once, repeats) | {"megabytes": (resident()["VmHWM"] - before) / 1024}


def resident() -> dict:
    """What the system says of this process: VmHWM is the most memory that it had, in kilobytes."""
    lines = (line.split() for line in Path("/proc/self/status").read_text().splitlines())
    return {line[0][:-1]: int(line[1]) for line in lines if line[0].startswith("Vm")}


def by_runs(repeats):
    """One row for each number of runs of Lazy-UCB, with a summary kept or every run."""
    for points, counts in RUNS.items():
        for kept in ("summary", "every run"):
            for runs in counts:
                if kept == "every run" and runs * points > 10**7:
                    continue  # gigabytes
                with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
                    found = alone.submit(
                        summarised, kept, runs, points, 1 if runs * points >= 10**6 else repeats
                    ).result()
                yield {
                    "axis": "runs",
                    "algorithm": kept,
                    "K": 5,
                    "T": 2**22,
                    "runs": runs,
                    "points": points,
                } | found


def tables(table):
    """The two tables of `benchmarks/README.md`."""
    run = table.assign(microseconds=1000 * table.milliseconds / table.runs)
    text = ""
    for axis, by in (("rounds", "T"), ("arms", "K")):
        times = run[run.axis == axis].pivot(index="algorithm", columns=by, values="microseconds")
        powers = [f"2^{n.bit_length() - 1}" if n & (n - 1) == 0 else f"{n}" for n in times]
        text += f"\n| {' | '.join(['algorithm', *(f'{by} = {n}' for n in powers)])} |\n"
        text += f"|---|{'---:|' * len(powers)}\n"
        for label, row in times.iterrows():
            cells = ["" if pd.isna(v) else f"{v:.3g}" if v < 1000 else f"{v:.0f}" for v in row]
            text += f"| {' | '.join([label, *cells])} |\n"
    return text


def main():
    parser = argparse.ArgumentParser(
        description="Milliseconds of a run as rounds, arms and runs grow, epsilon = 1."
    )
    parser.add_argument(
        "--repeats", type=int, default=5, help="repetitions behind each median (default: 5)"
    )
    parser.add_argument("--tables", action="store_true", help="only print those of growth.csv")
    given, file = parser.parse_args(), Path(__file__).with_suffix(".csv")
    if given.tables:
        return print(tables(pd.read_csv(file)))
    repeats = checks.positive_int("repeats", given.repeats)
    table = pd.DataFrame([*by_rounds(repeats), *by_arms(repeats), *by_runs(repeats)]).assign(
        hardware=hardware()
    )
    text = table.to_csv(index=False, float_format="%.4g", lineterminator="\n")
    files.write(file, text.encode())
    print(text)
    print(tables(table))


if __name__ == "__main__":
    main()
