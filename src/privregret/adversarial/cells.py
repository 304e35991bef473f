"""Cut rounds into cells in which neither losses nor advice change.

Within a cell only the number of plays of each arm matters. On a table a cell is a round. Counting
is written out in each kernel: as a shared function it costs a quarter of a kernel's time.
"""

import numpy as np

from privregret.core.jit import jit

FOREVER = np.iinfo(np.int64).max


@jit
def next_segments(loss_starts, advice_starts, segment, advised, t):
    """Return the segments of losses and advice in round t, and where either one ends.

    Parameters
    ----------
    loss_starts : (S,) int64 array
        First rounds of the segments of losses.
    advice_starts : (A,) int64 array
        First rounds of the segments of advice.
    segment : int
        Segment of losses from which the search starts.
    advised : int
        Segment of advice from which the search starts.
    t : int
        Round, from 0.
    """
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
    """Draw an index with probabilities p from one uniform number."""
    u, found = rng.random(), 0
    for i in range(
        len(p) - 1
    ):  # the loop runs to the end, because a processor cannot predict an early exit
        u -= p[i]
        found += u >= 0
    return found
