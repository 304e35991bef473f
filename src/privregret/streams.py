"""Random streams of many runs: numpy's own, but started inside compiled code.

A run's stream is what `SeedSequence(seed, spawn_key=(*key, run))` makes of a PCG64. To make it in Python takes longer
than many a run. So numpy mixes the seed and the key, and only the run's number is mixed in here, by the algorithms that
numpy documents and promises to keep. Where a PCG64 has its state is tried out once in a process: if it were elsewhere,
or the numbers were others, runs would go one by one through numpy's own streams.
"""

import ctypes
import warnings
from dataclasses import dataclass
from functools import cache
from threading import Lock
from types import FunctionType

import numpy as np

from privregret.jit import jit

POOL = 4  # 32-bit words in which SeedSequence mixes what it is given
ENTER = 0x43B0D7E5, 0x931E8875  # the constants by which a word is hashed on its way into the pool: first and ratio,
LEAVE = 0x8B51F9DD, 0x58F38DED  # and on its way out
MIX_OLD, MIX_NEW = np.uint64(0xCA01F9DD), np.uint64(0x4973F715)
STEP_HIGH, STEP_LOW = np.uint64(0x2360ED051FC65DA4), np.uint64(0x4385DF649FCCF645)  # PCG64's multiplier, in halves
LOW, HALF, WORD, ONE, LAST = (np.uint64(n) for n in (0xFFFFFFFF, 16, 32, 1, 63))
LOCK = Lock()


@dataclass(frozen=True)
class Streams:
    """The streams of some runs; iterating gives them as numpy's generators.

    Parameters
    ----------
    seed : int
        At least 0, of any size.
    key : tuple of int
        Words below 2^32 that tell these streams from others of the same seed.
    first, runs : int
        They are for the runs first..first + runs - 1, all below 2^63.
    """

    seed: int
    key: tuple[int, ...]
    first: int
    runs: int

    def __iter__(self):
        for run in range(self.first, self.first + self.runs):
            yield np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(*self.key, run)))


def run_each(kernel, given: tuple, streams: Streams) -> np.ndarray:
    """`kernel(*given, rng)` once from each stream: (runs, ...); of a kernel that returns several, the second."""
    rng, state, spare = _opened()
    return _looped(kernel)((*given, rng), streams.first, streams.runs, *_before(streams), state, spare)


def run_on(kernel, given: tuple, runs: int, rng) -> np.ndarray:
    """`kernel(*given, rng)` so many times from one stream, as `run_each` otherwise."""
    none = np.empty(0, np.uint64)
    return _looped(kernel)((*given, rng), 0, runs, none, none, none, np.empty(0, np.uint32))


@cache
def usable() -> bool:
    """Whether `run_each` gives numpy's numbers here; tried out once."""
    try:
        for tried in (Streams(0, (1,), 0, 1), Streams(2**70 + 3, (1, 2**32 - 1), 2**32 - 1, 2)):
            for run, numpys in enumerate(tried, tried.first):
                rng, state, spare = _opened()
                rng.integers(2**32, dtype=np.uint32)  # leaves half a word behind, which must go
                _start(run, *_before(tried), state, spare)
                if rng.bit_generator.state != numpys.bit_generator.state:
                    raise LookupError
    except LookupError:
        warnings.warn("this numpy starts streams in another way: many short runs will take longer", stacklevel=2)
        return False
    return True


def _opened():
    """A generator, its PCG64's state and increment as four 64-bit words, and what it keeps of its last word."""
    bits = np.random.PCG64(0)
    begin, end = id(bits), id(bits) + type(bits).__basicsize__
    address = bits.ctypes.state_address
    where = ctypes.c_uint64.from_address(address).value  # the first member points to the words
    if not (begin < address <= end - 16 and begin < where <= end - 32):
        raise LookupError
    state = np.frombuffer((ctypes.c_uint64 * 4).from_address(where), np.uint64)
    spare = np.frombuffer((ctypes.c_uint32 * 2).from_address(address + 8), np.uint32)
    return np.random.Generator(bits), state, spare


def _before(streams):
    """The pool with all but the run's number in it, and the constants with which the latter is hashed."""
    pool = np.random.SeedSequence(streams.seed, spawn_key=streams.key).pool.astype(np.uint64)
    words = max(POOL, -(-streams.seed.bit_length() // 32)) + len(streams.key)  # each was hashed for each of the pool's
    return pool, _constants(*ENTER, POOL * words, 2 * POOL + 1)


def _constants(first: int, ratio: int, skipped: int, number: int) -> np.ndarray:
    """Constants of a hash, modulo 2^32, from a later one on."""
    return np.array([first * pow(ratio, skipped + i, 2**32) % 2**32 for i in range(number)], np.uint64)


LEAVING = _constants(*LEAVE, 0, 2 * POOL + 1)


@jit
def _hash(word, constants, i):
    word = ((word ^ constants[i]) * constants[i + 1]) & LOW
    return word ^ (word >> HALF)


@jit
def _mix(old, new):
    word = (MIX_OLD * old - MIX_NEW * new) & LOW
    return word ^ (word >> HALF)


@jit
def _upper(x, y):
    """Upper half of the product of two 64-bit words."""
    low, middle = (x & LOW) * (y & LOW), (x >> WORD) * (y & LOW)
    middle += low >> WORD
    other = (x & LOW) * (y >> WORD) + (middle & LOW)
    return (x >> WORD) * (y >> WORD) + (middle >> WORD) + (other >> WORD)


@jit
def _start(run, pool, constants, state, spare):
    """Bring a PCG64 to where the stream of a run begins."""
    number = np.uint64(run)
    state[:] = 0
    for i in range(POOL):
        word = _mix(pool[i], _hash(number & LOW, constants, i))
        if number > LOW:
            word = _mix(word, _hash(number >> WORD, constants, POOL + i))
        shift = WORD * np.uint64(i % 2)
        state[i // 2] |= _hash(word, LEAVING, i) << shift
        state[POOL // 2 + i // 2] |= _hash(word, LEAVING, POOL + i) << shift
    # now the first two words are the 128 bits added to the state, the others the sequence's number, upper halves first
    high, low = state[0], state[1]
    odd_high, odd_low = (state[2] << ONE) | (state[3] >> LAST), (state[3] << ONE) | ONE
    low += odd_low
    high += odd_high + (ONE if low < odd_low else np.uint64(0))
    high = _upper(low, STEP_LOW) + high * STEP_LOW + low * STEP_HIGH
    low *= STEP_LOW
    low += odd_low
    high += odd_high + (ONE if low < odd_low else np.uint64(0))
    state[0], state[1], state[2], state[3] = low, high, odd_low, odd_high
    spare[:] = 0


def _loop(given, first, runs, pool, constants, state, spare):
    """What `_looped` compiles, for one kernel each."""
    result = None
    for run in range(runs):
        if len(pool) > 0:
            _start(first + run, pool, constants, state, spare)
        played = kernel(*given)  # noqa: F821
        if isinstance(played, tuple):
            one = played[1]
        else:
            one = played
        if run == 0:
            result = np.empty((runs, *one.shape), one.dtype)
        result[run] = one
    return result


def _looped(kernel):
    """The compiled loop over runs of a kernel; made once, whatever threads ask for it."""
    with LOCK:
        return _made(kernel)


@cache
def _made(kernel):
    """A loop of its own for a kernel.

    One template, a function of its own for each kernel: given to a loop as an argument, or in a closure, a kernel would
    keep it from being cached on disk.
    """
    name = f"runs_of_{kernel.__module__}.{kernel.__name__}".replace(".", "_")
    loop = FunctionType(_loop.__code__, globals() | {"kernel": kernel}, name)
    loop.__module__, loop.__qualname__ = kernel.__module__, name
    return jit(loop)
