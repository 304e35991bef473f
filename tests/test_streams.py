"""Streams started in compiled code are numpy's own, draw by draw."""

import ctypes
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest

from privregret import streams
from privregret.algorithm import NOT_PRIVATE
from privregret.bandits import DPIMED, AnytimeLazyUCB, BanditAlgorithm
from privregret.instances import HU2021_2
from privregret.jit import jit
from privregret.simulate import regret_curves, rng_for
from privregret.streams import Streams

SEEDS = [0, 1, 2**31, 2**32, 2**63, 2**127 - 1, 2**128, 2**200 + 17]
KEYS = [(), (0,), (1, 2**32 - 1, 0, 5), tuple(range(9))]
RUNS = [0, 1, 12345, 2**32 - 3, 2**32, 2**40 + 3, 2**63 - 9]  # the first of eight
DRAWS = 1000


@jit
def draws(number, rng):
    """Of every kind that kernels make; an odd number of 32-bit ones is left for the last."""
    found = np.empty((number, 7))
    for i in range(number):
        found[i, 0] = rng.random()
        found[i, 1] = rng.standard_exponential()
        found[i, 2] = rng.binomial(50 + i, 0.3)
        found[i, 3] = rng.integers(0, 10)
        found[i, 4] = rng.beta(2.0, 0.5)
        found[i, 5] = rng.standard_normal()
        found[i, 6] = rng.binomial(5, 0.3)
    return found


@jit
def halves(number, rng):
    """Words of 32 bits, an odd number of which leaves one half behind."""
    found = np.empty(number, np.int64)
    for i in range(number):
        found[i] = rng.integers(0, 2**31)
    return found


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("key", KEYS, ids=len)
def test_the_draws_are_those_of_numpys_streams(seed, key):
    assert streams.usable()
    for first in RUNS:
        each = Streams(seed, key, first, 8)
        found = streams.run_each(draws, (DRAWS // 7,), each)
        assert (found == np.array([draws(DRAWS // 7, rng) for rng in each])).all()
        assert (streams.run_each(halves, (3,), each) == np.array([halves(3, rng) for rng in each])).all()


def test_streams_are_those_of_their_definition():
    sequences = [np.random.SeedSequence(5, spawn_key=(1, 2, run)) for run in (7, 8)]
    expected = [np.random.default_rng(s).integers(2**63, size=5).tolist() for s in sequences]
    assert [rng.integers(2**63, size=5).tolist() for rng in Streams(5, (1, 2), 7, 2)] == expected


def test_many_runs_of_one_stream_follow_each_other():
    rng = np.random.default_rng(3)
    expected = np.array([draws(20, rng) for _ in range(5)])
    assert (streams.run_on(draws, (20,), 5, np.random.default_rng(3)) == expected).all()


@pytest.mark.parametrize("fault", ["elsewhere", "swapped", "constants"])
def test_a_numpy_that_is_otherwise_is_noticed_and_gives_the_same_numbers(monkeypatch, fault):
    expected = regret_curves(DPIMED(0.5), HU2021_2, 1000, 20, 1, points=1)
    opened = streams._opened

    def swapped():
        rng, state, spare = opened()
        return rng, state[::-1].copy(), spare

    if fault == "elsewhere":  # the first member is no longer a pointer into the object
        monkeypatch.setattr(ctypes.c_uint64, "from_address", lambda address: ctypes.c_uint64(12))
    elif fault == "swapped":
        monkeypatch.setattr(streams, "_opened", swapped)
    else:
        monkeypatch.setattr(streams, "ENTER", (streams.ENTER[0], streams.ENTER[1] + 2))
    streams.usable.cache_clear()
    try:
        with pytest.warns(UserWarning, match="this numpy starts streams in another way"):
            assert not streams.usable()
        assert regret_curves(DPIMED(0.5), HU2021_2, 1000, 20, 1, points=1).equals(expected)
    finally:
        streams.usable.cache_clear()


@dataclass(frozen=True)
class Last(BanditAlgorithm):
    """In plain Python: no more than `_run`, or than `run`."""

    label, source, privacy = "last", "nowhere", NOT_PRIVATE

    def _play(self, rewards, rng):
        raise NotImplementedError

    def _run(self, means, rounds, rng):
        counts = np.zeros((len(rounds), len(means)), int)
        counts[:, 0] = np.minimum(rounds, 10 + rng.integers(50))
        counts[:, -1] = rounds - counts[:, 0]
        return counts


class LastOfAll(Last):
    def run(self, problem, rounds, rng):
        return self._run(problem.data, np.asarray(rounds), rng)


class Cautious(AnytimeLazyUCB):
    """Of an algorithm with a kernel, run in a way of its own."""

    def _run(self, means, rounds, rng):
        return super()._run(means[::-1], rounds, rng)[:, ::-1]


@pytest.mark.parametrize("algorithm", [Last(), LastOfAll(), Cautious(0.5)], ids=lambda a: type(a).__name__)
def test_algorithms_in_plain_python_run_on_the_same_streams(algorithm):
    frame = regret_curves(algorithm, HU2021_2, 500, 20, 3, points=1)
    runs = [algorithm.run(HU2021_2, [500], rng_for(algorithm, HU2021_2, 3, run)) for run in range(20)]
    assert (frame.regret.to_numpy() == HU2021_2.regret(np.array(runs), np.array([500]))[:, 0]).all()
    assert frame.regret.nunique() > 5
    if isinstance(algorithm, Cautious):
        plain = regret_curves(AnytimeLazyUCB(0.5), HU2021_2, 500, 20, 3, points=1)
        assert not (frame.regret == plain.regret).all()


def test_threads_that_ask_at_once_get_one_loop():
    streams._made.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        loops = set(pool.map(lambda _: streams._looped(halves), range(200)))
    assert len(loops) == 1
