"""Make random streams with a stable identity, one per block of runs.

A stream is determined by the algorithm's id and its parameters that differ from their defaults, the
distribution of the problem, the seed and the number of the block. The class of the algorithm
determines how many runs share a block. They draw from its stream in turn, or side by side from
generators that are seeded from it. The numbers of a run depend only on the stream and on the run's
place in the block, not on how many runs of the block are made. So no number changes with the number
of workers, the order of work, the rest of the call, a new default or a new name of a class.
"""

import hashlib
from typing import Any

import numpy as np

from privregret.core import identity


def key(*things: Any) -> tuple[int, ...]:
    """Return four 32-bit words that identify the streams of some things together: of an algorithm
    on a problem, the algorithm and the distribution of the problem."""
    words = hashlib.sha256(identity.encode(("privregret streams 1", things))).digest()
    return tuple(int.from_bytes(words[i : i + 4], "little") for i in range(0, 16, 4))


def generator(key: tuple[int, ...], seed: int, block: int) -> np.random.Generator:
    """Return the stream of block 0, 1, 2, ..."""
    seeds = np.random.SeedSequence(seed, spawn_key=(*key, block))
    return np.random.Generator(np.random.PCG64(seeds))


def children(rng: np.random.Generator, count: int) -> list[np.random.Generator]:
    """Return generators seeded from a stream; fewer are the first of more."""
    seeds = rng.integers(2**63, size=(count, 4))
    return [np.random.Generator(np.random.PCG64(seed)) for seed in seeds]
