"""Measure what Dask costs: processor time of a cluster on this machine and of two threads for the
same runs.

All of the cluster counts: the client, the scheduler (in this process, too) and a worker with two
threads. The time that they take when idle, for as long as the work took, is
printed as well: it depends on how busy the machine is. The worker has the usual allocator, as one
that `dask worker --no-nanny` starts; `--nanny` keeps the setting of Dask's nannies.
"""

import argparse
import time
from statistics import median

import dask
import distributed

from privregret import simulate
from privregret.bandits import DPIMED, DPSE, UCB1, AnytimeLazyUCB
from privregret.core import store
from privregret.instances import HU2021_1

GRID = {
    DPSE(1.0): 40_000,
    AnytimeLazyUCB(1.0): 16_000,
    DPIMED(1.0): 12_000,
    UCB1(): 300,
}  # runs of each: about a second of work
SHARES, REPEATS = (2, 24), 3  # multiples of these runs, as users of a cluster have them


@store.without()  # what is read from it takes no time
def play(share, workers):
    for algorithm, runs in GRID.items():
        simulate.regret_summary(
            algorithm, HU2021_1, 10**5, int(share * runs), seed=1, workers=workers
        )


def main():
    parser = argparse.ArgumentParser(description="Compare a Dask cluster with two threads.")
    parser.add_argument("--nanny", action="store_true", help="keep MALLOC_TRIM_THRESHOLD_")
    if not parser.parse_args().nanny:
        dask.config.set({"distributed.nanny.pre-spawn-environ": {}})
    local = distributed.LocalCluster(
        1, threads_per_worker=2, host="127.0.0.1", dashboard_address=None
    )
    with local, distributed.Client(local) as client:

        def clocks():
            return time.process_time() + sum(
                client.run(time.process_time).values()
            ), time.monotonic()

        def cost(work, *args):
            """Processor seconds of all, and seconds on the wall."""
            before = clocks()
            work(*args)
            return [after - earlier for after, earlier in zip(clocks(), before, strict=True)]

        def compared(share):
            alone = time.process_time()
            play(share, workers=2)  # as many as on the cluster: two at once slow each other down
            alone = time.process_time() - alone
            with simulate.cluster(local.scheduler_address):
                busy, seconds = cost(play, share, -1)
            idle, slept = cost(time.sleep, 1)
            return alone, busy, busy / alone - 1, idle / slept * seconds / alone

        compared(0.01)  # the first time compiles
        for share in SHARES:
            rows = [compared(share) for _ in range(REPEATS)]
            alone, busy, over, idle = map(median, zip(*rows, strict=True))
            print(
                f"alone {alone:.2f} s, on Dask {busy:.2f} s: {over:.1%} more, of which {idle:.1%} "
                "idle",
                flush=True,
            )


if __name__ == "__main__":
    main()
