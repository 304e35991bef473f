"""Compare the cost of a run with its floor: drawing only the noise and the other random numbers
that it draws.

A few runs of each algorithm are played uncompiled, with a generator that notes what is drawn;
compiled code then draws the same again and does nothing else. Processor time, medians over
interleaved repetitions and on one thread, in microseconds a run: the floor, the runs in one call
and from one stream, the regrets of many runs at one point, and both at 200 points.
"""

import argparse
import time

import numpy as np
import pandas as pd

from privregret import simulate
from privregret.adversarial import tuning
from privregret.bandits import DPIMED, DPKLUCB, DPSE, AdaPKLUCB, AnytimeLazyUCB, LazyDPTS
from privregret.core import checks, loops, noise, store
from privregret.core.jit import jit
from privregret.full_information import FTNL, RandomPrefixSoftmax
from privregret.instances import HU2021_1, gap_adversary, packing
from privregret.privacy import trace

EPSILON, LONG, NOTED = 0.64, 2**22, 8
EVENTS = [
    AnytimeLazyUCB(EPSILON),
    DPKLUCB(EPSILON),
    DPIMED(EPSILON),
    AdaPKLUCB(EPSILON),
    DPSE(EPSILON),
]
EPOCHS = [FTNL(EPSILON), RandomPrefixSoftmax(EPSILON)]
BATCHES = [tuning.batched_htinf(0.1), tuning.batched_exp3(10**5, 10, 0.1)]
CASES = [  # algorithm, problem, horizon, runs
    *((a, HU2021_1, LONG, 20_000) for a in EVENTS),
    *((a, packing(10, 0.1), LONG, 20_000) for a in EPOCHS),
    *((a, gap_adversary(10, 0.5), 10**5, 100) for a in BATCHES),
    (LazyDPTS(EPSILON), HU2021_1, 10**4, 500),
]
TIGHT = [DPKLUCB.label, DPIMED.label, AdaPKLUCB.label]  # 2.5 times the floor; others 3 times
KINDS = ["random", "standard_exponential", "binomial", "laplace", "standard_normal"]


@jit
def drawn_again(kinds, first, second, rng):
    total = 0.0
    for i in range(len(kinds)):
        if kinds[i] == 0:
            total += rng.random()
        elif kinds[i] == 1:
            total += rng.standard_exponential()
        elif kinds[i] == 2:
            total += rng.binomial(np.int64(first[i]), second[i])
        elif kinds[i] == 3:
            total += noise.laplace(second[i], rng)
        else:
            total += rng.standard_normal()
    return total


_draw, _laplace = trace.python(noise.draw), trace.python(noise.laplace)


class _Noting:
    """Generator that records which random numbers are drawn: (kind, parameters...)."""

    def __init__(self, rng):
        self.numpys, self.noted = np.random.default_rng(rng), []

    def __getattr__(self, name):
        def draw(*given):
            self.noted.append((name, *given))
            return getattr(self.numpys, name)(*given)

        return draw

    def noise(self, kind, scale):
        """Draw for uncompiled kernels; Laplace noise counts as one number."""
        if kind != noise.LAPLACE:
            return _draw(kind, scale, self)
        self.noted.append(("laplace", 0.0, scale))
        return _laplace(scale, self.numpys)  # a call of a compiled function takes ten times as long


def random_numbers(algorithm, problem, horizon: int, runs: int, rng) -> list[tuple]:
    """Return the random numbers that runs draw, in order, as (kind, parameters...).

    Kinds are the methods of a Generator, with Laplace noise of `noise.laplace` as one. The runs are
    played uncompiled.
    """
    noting = _Noting(rng)
    kernel = type(algorithm).events or loops.rounds(algorithm.templates, algorithm.steps)
    given = (
        algorithm.data_of(problem),
        np.array([horizon]),
        algorithm.settings(horizon, *problem.sizes),
        noting,
    )
    with trace.uncompiled(kernel, *trace.code(algorithm), values=False):
        for _ in range(runs):
            trace.python(kernel)(*given)
    return noting.noted


def check_noted(algorithm, problem, noted, horizon):
    """Raise AssertionError unless the numbers noted leave a generator where the runs leave it."""
    played, again = np.random.default_rng(1), np.random.default_rng(1)
    kernel = type(algorithm).events or loops.rounds(algorithm.templates, algorithm.steps)
    settings = algorithm.settings(horizon, *problem.sizes)
    loops.many(kernel)(algorithm.data_of(problem), np.array([horizon]), settings, NOTED, played)
    drawn_again(*noted, again)
    assert played.random() == again.random(), algorithm.label


def draws(algorithm, problem, horizon):
    """What `NOTED` runs draw, as three arrays."""
    noted = random_numbers(algorithm, problem, horizon, NOTED, 1)
    kinds, first, second = zip(
        *((KINDS.index(kind), *given, *[0] * (2 - len(given))) for kind, *given in noted),
        strict=True,
    )
    return np.array(kinds), np.array(first, float), np.array(second, float)


@store.without()  # what is read from it takes no time
def measure(repeats: int) -> pd.DataFrame:
    """A row for each algorithm: medians."""
    todo, rng = {}, np.random.default_rng(1)
    for algorithm, problem, horizon, runs in CASES:
        noted, at = draws(algorithm, problem, horizon), simulate.checkpoints(horizon, 200)
        check_noted(algorithm, problem, noted, horizon)

        def block(rounds, runs, a=algorithm, p=problem):
            return lambda: a.run(p, rounds, rng, runs), runs

        def curves(points, runs, a=algorithm, p=problem, horizon=horizon):
            return lambda: simulate.regret_curves(
                a, p, horizon, runs, 1, points=points, workers=1
            ), runs

        times = max(runs // 10, 1)
        todo[algorithm.label] = {
            "floor": (
                lambda n=noted, times=times: [drawn_again(*n, rng) for _ in range(times)],
                times * NOTED,
            ),
            "block": block([horizon], runs),
            "curves": curves(1, runs),
            "block, 200": block(at, runs),
            "curves, 200": curves(200, runs),
        }
    found = {}
    for _ in range(-1, repeats):  # the first time compiles
        for label, what in todo.items():
            for name, (function, runs) in what.items():
                begun = time.process_time()
                function()
                found.setdefault(label, {}).setdefault(name, []).append(
                    (time.process_time() - begun) * 1e6 / runs
                )
    table = pd.DataFrame(
        {label: {name: np.median(t[1:]) for name, t in row.items()} for label, row in found.items()}
    ).T
    table["curves / floor"] = table.curves / table.floor
    table["bar"] = [2.5 if label in TIGHT else 3.0 for label in table.index]
    table["curves / block, 200"] = table["curves, 200"] / table["block, 200"]
    table["bar, 200"] = 2.0
    return table.rename_axis("algorithm").reset_index()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="Compare runs with the random numbers that they draw."
    )
    parser.add_argument(
        "--repeats", type=int, default=5, help="repetitions behind each median (default: 5)"
    )
    table = measure(checks.positive_int("repeats", parser.parse_args().repeats))
    print(table.to_string(index=False, float_format="%.3g"))
