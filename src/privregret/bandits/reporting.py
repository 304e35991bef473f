"""Report pull counts at the checkpoints from kernels that go from event to event."""

from privregret.core.jit import jit


@jit
def report(counts, checkpoints, reported, pulls, j, end):
    """Fill `counts` for the checkpoints in a stretch of rounds that pull arm `j` only.

    Call it before `pulls` is updated. It is as fast as the loop written out in a kernel.

    Parameters
    ----------
    counts : (H, K) int64 array
        Filled row by row: pulls of each arm in rounds 1..checkpoints[h].
    checkpoints : (H,) int64 array
        Increasing rounds.
    reported : int
        Number of rows filled so far; none of the other checkpoints lies before the stretch.
    pulls : (K,) int64 array
        Pulls of each arm before the stretch.
    j : int
        The arm that is pulled.
    end : int
        Last round of the stretch.

    Returns
    -------
    int
        Number of rows filled now.
    """
    while reported < len(checkpoints) and checkpoints[reported] <= end:
        left = checkpoints[reported]
        for i in range(len(pulls)):  # faster than pulls.sum()
            counts[reported, i] = pulls[i]
            left -= pulls[i]
        counts[reported, j] += left
        reported += 1
    return reported
