"""What compiled loops lend to the steps that are inlined into them."""

import sys

import numba
import numpy as np

from privregret.borrowed import borrowed


@numba.njit
def written(array, pair, rng):
    lent, (other, number) = borrowed(array), borrowed(pair)
    for i in range(len(lent)):
        lent[i] = other[i] + number + borrowed(rng).random()
    return lent.sum()


def test_a_borrowed_thing_is_the_thing_and_is_not_counted():
    array, other, rng = np.zeros(5), np.arange(5.0), np.random.default_rng(1)
    counts = [sys.getrefcount(thing) for thing in (array, other, rng)]
    for seed in range(100):
        rng.bit_generator.state = np.random.default_rng(seed).bit_generator.state
        wanted = other + 2 + np.random.default_rng(seed).random(5)
        assert written(array, (other, 2), rng) == wanted.sum()
        assert array.tolist() == wanted.tolist()
    assert [sys.getrefcount(thing) for thing in (array, other, rng)] == counts


def test_uncompiled_it_is_the_same_object():
    array = np.zeros(3)
    assert borrowed(array) is array and borrowed((array, 1))[0] is array
