"""Cells: stretches of rounds in which neither losses nor advice change: only how often each arm is
played counts.

On a table a cell is a round. (Counting itself stands in each kernel: shared, it costs a quarter of
the time of one.)
"""

import numpy as np

from privregret.jit import jit

FOREVER = np.iinfo(np.int64).max


@jit
def next_segments(loss_starts, advice_starts, segment, advised, t):
    """Segments of losses and of advice in round t, searched from earlier ones on, and where either
    one ends."""
    while segment + 1 < len(loss_starts) and loss_starts[segment + 1] <= t:
        segment += 1
    while advised + 1 < len(advice_starts) and advice_starts[advised + 1] <= t:
        advised += 1
    change = FOREVER
    if segment + 1 < len(loss_starts):
        change = loss_starts[segment + 1]
    if advised + 1 < len(advice_starts):
        change = min(change, advice_starts[advised + 1])
    return segment, advised, change


@jit
def draw(p, rng):
    """An index with probabilities p, from one uniform number."""
    u, found = rng.random(), 0
    for i in range(len(p) - 1):  # to the end: where it would stop is what no processor guesses
        u -= p[i]
        found += u >= 0
    return found
