"""Random streams with a stable identity: one for each block of runs of an algorithm on a problem.

A stream is known by the algorithm's id and its parameters that differ from their defaults, the
problem's law, the seed and the number of the block. How many runs share a block belongs to the
algorithm's class. The numbers of a run depend on the stream and on its place in the block only, not
on how many runs of the block are wanted. So no number moves with the number of workers, the order
of work, what else is in the call, a new default or a new name of a class.
"""

from typing import Any

import numpy as np

from privregret import identity


def key(algorithm: Any, problem: Any) -> tuple[int, ...]:
    """What tells the streams of an algorithm on a problem from others of the same seed: four 32-bit
    words.

    Examples
    --------
    >>> from privregret.bandits import DPSE
    >>> from privregret.instances import HU2021_2
    >>> key(DPSE(0.5), HU2021_2) == key(DPSE(epsilon=0.5, beta=None), HU2021_2)
    True
    """
    return identity.key(algorithm, problem.law)


def generator(key: tuple[int, ...], seed: int, block: int) -> np.random.Generator:
    """The stream of block 0, 1, 2, ...

    Examples
    --------
    >>> generator((1, 2, 3, 4), seed=5, block=0).integers(10)
    np.int64(3)
    """
    return np.random.Generator(
        np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(*key, block)))
    )
